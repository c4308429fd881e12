"""Which format files are of: by the option, else by how many there are, the metric, the name and the first bytes."""

import os
from collections.abc import Sequence
from difflib import get_close_matches

from sigjax.files.opening import decode_text, files_inside, read_bytes, read_head
from sigjax.readers.formats import Format, Takes
from sigjax.readers.naming import given_name
from sigjax.readers.options import show
from sigjax.readers.registry import FORMATS
from sigjax.readers.tables.delimited import looks_tabular
from sigjax.records import InputError

_PLAIN = frozenset({"labels", "texts"})
"""Formats of whole lines, which almost any file could be."""
_TABLE = (
    "looks like a table, which is read alone, with all systems in it; labels and texts with -i are one a line "
    "(--reader labels and --reader texts take lines as they are, and other formats are named with --reader, too)"
)


def choose_format(files: Sequence[str], outputs: Sequence[str], *, reader: str | None, metric: object) -> Format:
    """The format of `files`, which stand before the `outputs` of systems where these are given.

    Raises:
        InputError: the reader is unknown, takes other files, or no format is recognised.
    """
    if reader is not None:
        return _named(reader, files, outputs, metric)
    taken = _taken(files, outputs)
    fitting = [each for each in FORMATS.values() if each.takes in taken]
    _, first = given_name((*files, *outputs)[0])
    name, head = read_head(first)
    if os.path.isdir(first):
        looking = [each for each in fitting if each.folder and files_inside(first, each.folder)]
    else:
        looking = [each for each in fitting if each.looks(name, head)]
    serving = [each for each in looking if each.serves(metric)]
    if serving and (serving[0] is looking[0] or not looking[0].certain):
        _check_plain(serving[0], outputs)
        if metric is None and serving[0].name == "texts":
            raise InputError(
                f"{first}: lines of text could be many things; say what to compare them by, such as -m bleu, or "
                f"name the format with --reader ({', '.join(each.name for each in fitting)})"
            )
        return serving[0]
    if looking:
        raise InputError(f"{first}: {_not_served(looking[0], metric)}; another format is named with --reader NAME")
    if not head.strip():
        decode_text(first, read_bytes(first))  # says what is wrong with an empty file or a folder
    if outputs and looks_tabular(name, head):
        raise InputError(f"{first}: {_TABLE}")
    known = ", ".join(each.name for each in fitting)
    raise InputError(f"{first}: unknown format; known: {known}; say which with --reader NAME")


def _taken(files: Sequence[str], outputs: Sequence[str]) -> tuple[Takes, ...]:
    if outputs:
        return ("gold",) if files else ("systems",)
    return ("file", "systems") if len(files) == 1 else ("systems",)


def _check_plain(found: Format, outputs: Sequence[str]) -> None:
    """Refuse tables beside gold labels or texts: their ids and marks would be scored."""
    for file in outputs if found.name in _PLAIN else ():
        # What comes through a pipe can be read only once.
        if os.path.isfile(file) and looks_tabular(*read_head(file)):
            raise InputError(f"{file}: {_TABLE}")


def _named(reader: str, files: Sequence[str], outputs: Sequence[str], metric: object) -> Format:
    if reader not in FORMATS:
        close = get_close_matches(reader, FORMATS)
        known = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(FORMATS)}"
        raise InputError(f"reader: no format {show(reader)}; {known}")
    found = FORMATS[reader]
    if found.takes == "gold" and not (outputs and files):
        raise InputError(f"reader {reader!r} takes gold files and then the systems: GOLD -i SYSTEM SYSTEM ...")
    if found.takes == "file" and (outputs or len(files) != 1):
        raise InputError(f"reader {reader!r} takes one file with all systems, without -i")
    if found.takes == "systems" and outputs and files:
        raise InputError(f"reader {reader!r} takes no gold file; give a file a system")
    if not found.serves(metric):
        raise InputError(_not_served(found, metric))
    return found


def _not_served(found: Format, metric: object) -> str:
    return f"the format {found.name} has no metric {show(str(metric))}; it gives {', '.join(found.metrics)}"
