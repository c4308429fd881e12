"""The pages of `sigjax help TOPIC`: text files of this folder.

A page is plain text for users, of at most 80 lines (but for tables of records) and 80 columns: a title, which is its
entry in the list of topics, headings in capitals, examples that run as doctests. To add a page, write a file and name
it in `TOPICS`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from textwrap import fill

from sigjax.records import CORRECTIONS

TOPICS = (
    "python",
    "formats",
    "metrics",
    "output",
    "choosing",
    "exact",
    "intervals",
    "corrections",
    "designs",
    "studies",
    "reporting",
    "conventions",
    "glossary",
    "reproducibility",
    "distributed",
    "gpu",
    "development",
)
"""In the order in which one would read them."""
_HEADING = re.compile("^##? (.*)$", re.M)
_TABLE = re.compile(r"^\{(.*)\}$", re.M)


def page(topic: str, *, bold: bool = False) -> str:
    """The text of a page, with bold headings for terminals; a line in braces stands for a table of records.

    Example:
        >>> print(page("gpu").splitlines()[0])
        CPU, GPU and NumPy: where the work runs.
    """
    text = _TABLE.sub(lambda line: "\n".join(_table(line[1])), _source(topic))
    return _HEADING.sub("\033[1m\\1\033[0m" if bold else "\\1", text)


def _source(topic: str) -> str:
    """The file of a page."""
    return files("sigjax.guide").joinpath(f"{topic}.md").read_text("utf-8").rstrip("\n")


def _table(name: str) -> Iterable[str]:
    """The lines of a table: of intervals, columns of metrics, formats, or the corrections that bound an error rate."""
    if name == "intervals":
        from sigjax.testing.intervals import INTERVALS

        return _entries(((each.name, each.about) for each in INTERVALS.values() if each.about), 15)
    if name == "columns":
        from sigjax.metrics import METRICS, TEXT_METRICS

        return _grouped((name, metric.inputs) for name, metric in METRICS.items() if name not in TEXT_METRICS)
    if name == "formats":
        from sigjax.formats.table import all_formats

        formats = all_formats().values()
        others = [f"{each.name}: {each.title} (of {each.package})" for each in formats if each.package]
        return [*_grouped((each.name, each.metrics) for each in formats if each.metrics), *others]
    return _entries(((each.name, each.about) for each in CORRECTIONS.values() if str(each.bounds) == name), 13)


def _entries(entries: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Names in a column of this width, and what there is to say of each."""
    for name, about in entries:
        yield fill(about, 80, initial_indent=f"{name:<{width}}", subsequent_indent=width * " ")


def _grouped(entries: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """A line for each list: the names that have it, and the list."""
    groups: dict[str, list[str]] = {}
    for name, items in entries:
        groups.setdefault(", ".join(items), []).append(name)
    for items, names in groups.items():
        yield fill(f"{', '.join(names)}: {items}", 80, subsequent_indent="    ", break_on_hyphens=False)


def contents() -> str:
    """The list of topics."""
    lines = [f"  {topic:<15}  {_source(topic).splitlines()[0].removeprefix('# ')}" for topic in TOPICS]
    return "\n".join(
        ["sigjax help TOPIC explains", "", *lines, "", "sigjax COMMAND --help lists options, --help-all all of them."]
    )
