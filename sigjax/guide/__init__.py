"""The pages of `sigjax help TOPIC`: text files of this folder.

A page is plain text for users, of at most 80 lines and 80 columns: a title, which is its entry in the list of topics,
headings in capitals, examples that run as doctests. To add a page, write a file and name it in `TOPICS`.
"""

import re
from collections.abc import Iterable
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
    "conventions",
    "reproducibility",
    "distributed",
    "gpu",
    "development",
)
"""In the order in which one would read them."""


_HEADING = re.compile("^##? (.*)$", re.M)


def page(topic: str, *, bold: bool = False) -> str:
    """The text of a page, with bold headings for terminals.

    Example:
        >>> print(page("gpu").splitlines()[0])
        CPU, GPU and NumPy: where the work runs.
    """
    text = files("sigjax.guide").joinpath(f"{topic}.md").read_text("utf-8").rstrip("\n")
    if topic == "corrections":
        text = text.format_map({str(rate): _corrections(rate) for rate in ("familywise", "false discovery", None)})
    if topic == "intervals":
        from sigjax.testing.intervals import INTERVALS

        text = text.replace(
            "{intervals}", _entries(((each.name, each.about) for each in INTERVALS.values() if each.about), 15)
        )
    return _HEADING.sub("\033[1m\\1\033[0m" if bold else "\\1", text)


def _corrections(rate: str | None) -> str:
    """The corrections that bound an error rate, and when to take each."""
    return _entries(((each.name, each.about) for each in CORRECTIONS.values() if each.bounds == rate), 13)


def _entries(entries: Iterable[tuple[str, str]], width: int) -> str:
    """Names in a column of this width, and what there is to say of each."""
    return "\n".join(
        fill(about, 80, initial_indent=f"{name:<{width}}", subsequent_indent=width * " ") for name, about in entries
    )


def contents() -> str:
    """The list of topics."""
    lines = [f"  {topic:<15}  {page(topic).splitlines()[0]}" for topic in TOPICS]
    return "\n".join(
        ["sigjax help TOPIC explains", "", *lines, "", "sigjax COMMAND --help lists options, --help-all all of them."]
    )
