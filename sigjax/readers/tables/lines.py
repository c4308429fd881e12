"""Lines of numbers: one line per instance, without header or ids.

`numbers`: one file per system, one number per line, or the two or four of smartschat/art. `paired-perm`: both systems
in one file, as rycolab/paired-perm-test writes it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from sigjax.files.opening import naming, read_text
from sigjax.metrics import METRICS
from sigjax.readers.formats import Format, Reading, Sheet, Sources, looks_like
from sigjax.readers.join import join_sheets
from sigjax.readers.numerals import parse_number, parse_numbers
from sigjax.readers.options import Options, chosen_metric
from sigjax.records import Evaluation, InputError

_BY_WIDTH = {2: "ratio", 4: "fscore-ratios"}
"""How many numbers a line has -> their metric by default, where it is not the mean."""
_PAIRED = {2: "fscore-errors"}
_NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
_LINE = re.compile(rf"\s*{_NUMBER}([ \t]+{_NUMBER})*\s*")


def read_numbers(sources: Sources, _: Options) -> Reading:
    """One file per system, with as many numbers on each line."""
    tables = {name: (file, _numbers(file, str.split)) for name, file in sources.systems.items()}
    return partial(_evaluate, tables, _BY_WIDTH)


def read_paired(sources: Sources, _: Options) -> Reading:
    """One file with the numbers of the systems A and B."""
    (file,) = sources.files
    table = _numbers(file, _between_marks)
    if table.shape[1] not in (2, 4):
        raise InputError(
            f"{file}, line 1: expected 2 numbers (correct of A and of B) or 4 (correct and incorrect of A, then of B), "
            f"got {table.shape[1]}"
        )
    a, b = np.split(table, 2, axis=1)
    return partial(_evaluate, {"A": (file, a), "B": (file, b)}, _PAIRED)


def _evaluate(tables: Mapping[str, tuple[str, np.ndarray]], usual: Mapping[int, str], options: Options) -> Evaluation:
    """The evaluation of numbers `[line, number]` of each system, by default as `usual` says for so many."""
    (first, table), *others = tables.values()
    width = table.shape[1]
    for file, other in others:
        if other.shape[1] != width:
            raise InputError(f"{file}: has {other.shape[1]} numbers per line, but {first} has {width}")
    metric = METRICS[usual[width]] if options.metric == "mean" and width in usual else chosen_metric(options)
    if len(metric.inputs) != width:
        raise InputError(
            f"{first}: metric {metric.name!r} takes {len(metric.inputs)} numbers per line and system, got {width}"
        )
    options = replace(options, metric=metric)
    sheets = [Sheet(name, file, dict(zip(metric.inputs, own.T, strict=True))) for name, (file, own) in tables.items()]
    return join_sheets(sheets, options)(options)


def _between_marks(line: str) -> list[str]:
    """What stands between commas, or else between tabs, which may be several."""
    parts = [list(filter(None, map(str.strip, part.split("\t")))) for part in line.split(",")]
    return [field for part in parts for field in part or [""]]


def _numbers(file: str, fields_of: Callable[[str], list[str]]) -> np.ndarray:
    """Numbers `[line, number]`, as many on each line."""
    lines = read_text(file).removesuffix("\n").split("\n")
    rows = list(map(fields_of, lines))
    width = len(rows[0])
    for line, row in enumerate(rows, start=1):
        if len(row) != width or not row:
            raise InputError(f"{file}, line {line}: expected {width or 'a'} number(s) as on line 1, got {len(row)}")
    fields = [field for row in rows for field in row]
    values = parse_numbers(fields)
    if values is None:
        for i, field in enumerate(fields):
            with naming(f"{file}, line {i // width + 1}"):
                parse_number(field)
        values = np.array([parse_number(field) for field in fields])
    return values.reshape(len(rows), width)


def _looks_numbers(name: str, head: bytes) -> bool:
    first = head.partition(b"\n")[0].decode("utf-8", "replace")
    return _LINE.fullmatch(first) is not None


NUMBERS = Format(
    "numbers",
    "one number per line, or the 2 or 4 of smartschat/art",
    "systems",
    read_numbers,
    _looks_numbers,
    names=r"(?!.*\.(csv|tsv|json)$).*",
)
PAIRED = Format(
    "paired-perm",
    "numbers of the systems A and B on each line (paired-perm-test)",
    "file",
    read_paired,
    looks_like(),  # a table that lost its header looks the same
)
