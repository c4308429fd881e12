"""What formats with a gold file and a file a system have in common."""

import re
from pathlib import PurePath

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Sources
from sigjax.readers.options import Options, select_systems, show
from sigjax.records import InputError

_GOLD_NAME = re.compile(r"(?:^|[^a-z])(?:gold|golds|refs?|references?|truth|qrels)(?:[^a-z]|$)")


def gold_note(sources: Sources) -> str:
    """Which files were taken for the gold standard: their order alone tells, so a report must say it.

    Example:
        >>> gold_note(Sources(("a.txt",), {"ref": "in/ref.txt", "b": "b.txt"}))
        "gold standard: a.txt, although 'ref.txt' of the systems is named like one: gold files stand before -i"
    """
    gold, systems = ([PurePath(file).name for file in files] for files in (sources.files, sources.systems.values()))
    note = f"gold standard: {', '.join(gold)}"
    if not any(_GOLD_NAME.search(name.lower()) for name in gold):
        for name in systems:
            if _GOLD_NAME.search(name.lower()):
                return f"{note}, although {show(name)} of the systems is named like one: gold files stand before -i"
    return note


def read_lines(file: str, *, at_least: int = 0) -> list[str]:
    """The lines of a file of text; of empty ones at its end, only those that `at_least` so many lines need."""
    lines = decode_text(file, read_bytes(file)).removesuffix("\n").split("\n")
    while len(lines) > at_least and not lines[-1]:
        lines.pop()
    return lines


def matching_lines(file: str, *, gold: str, count: int) -> list[str]:
    """The lines of a system's file, which has as many as the gold file."""
    lines = read_lines(file, at_least=count)
    if len(lines) != count:
        raise InputError(
            f"{file}: has {len(lines)} lines, but {gold} has {count}; expected a line for each of its lines"
        )
    return lines


def gold_file(sources: Sources) -> str:
    """The only gold file."""
    if len(sources.files) != 1:
        raise InputError(f"{sources.files[1]}: is a second gold file; expected one, and the systems after -i")
    return sources.files[0]


def chosen_files(sources: Sources, options: Options) -> dict[str, str]:
    """Name of each system that is asked for -> its file: others are not read."""
    names = select_systems(next(iter(sources.systems.values())), list(sources.systems), options.systems)
    return {name: sources.systems[name] for name in names}
