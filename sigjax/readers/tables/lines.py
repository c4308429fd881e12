"""Lines of numbers: one line an instance, without header or ids.

`numbers`: a file a system, one number a line, or the two or four of smartschat/art. `paired-perm`: both systems in one
file, as rycolab/paired-perm-test writes it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePath

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.metrics import METRICS
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.numerals import parse_number, parse_numbers
from sigjax.readers.options import Options, chosen_metric
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

_BY_WIDTH = {1: "mean", 2: "ratio", 4: "fscore-ratios"}
"""What numbers of a line mean, when no metric is asked for, by how many there are."""
_PAIRED = {2: "mean", 4: "fscore-errors"}
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_LINE = re.compile(rf"\s*{_NUMBER}([ \t]+{_NUMBER})*\s*")
_BETWEEN = re.compile(r"\s*[,\t]\s*")


def read_numbers(sources: Sources, options: Options) -> Reading:
    """Files with as many numbers on each line."""
    del options
    tables = {file: _numbers(file, None) for file in sources.systems.values()}
    return partial(_evaluate_numbers, sources.systems, tables)


def _evaluate_numbers(systems: Mapping[str, str], tables: Mapping[str, np.ndarray], options: Options) -> Evaluation:
    (first, table), *others = tables.items()
    for file, other in others:
        if other.shape[1] != table.shape[1]:
            raise InputError(f"{file}: has {other.shape[1]} numbers a line, but {first} has {table.shape[1]}")
    width = table.shape[1]
    usual = _BY_WIDTH.get(width) if options.metric == "mean" else None
    metric = METRICS[usual] if usual else chosen_metric(options)
    if len(metric.inputs) != width:
        raise InputError(f"{first}: metric {metric.name!r} takes {len(metric.inputs)} numbers a line, got {width}")
    sheets = [
        Sheet(name, file, dict(zip(metric.inputs, tables[file].T, strict=True))) for name, file in systems.items()
    ]
    options = replace(options, metric=metric)
    return join_sheets(sheets, options)(options)


def read_paired(sources: Sources, options: Options) -> Reading:
    """One file with the numbers of the systems A and B."""
    del options
    (file,) = sources.files
    return partial(_evaluate_paired, file, _numbers(file, _BETWEEN))


def _evaluate_paired(file: str, table: np.ndarray, options: Options) -> Evaluation:
    if table.shape[1] not in _PAIRED:
        raise InputError(
            f"{file}, line 1: expected 2 numbers (correct of A and of B) or 4 (correct and incorrect of A, then of B), "
            f"got {table.shape[1]}"
        )
    default = _PAIRED[table.shape[1]]
    metric = METRICS[default] if options.metric == "mean" else chosen_metric(options)
    columns = np.split(table, 2, axis=1)
    sheets = [
        Sheet(name, file, dict(zip(metric.inputs, own.T, strict=True)))
        for name, own in zip("AB", columns, strict=True)
        if own.shape[1] == len(metric.inputs)
    ]
    if not sheets:
        raise InputError(f"{file}: metric {metric.name!r} takes {len(metric.inputs)} numbers a system; use {default}")
    options = replace(options, metric=metric)
    return join_sheets(sheets, options)(options)


def _numbers(file: str, between: re.Pattern[str] | None) -> np.ndarray:
    """Numbers `[line, number]`, as many on each line."""
    lines = decode_text(file, read_bytes(file)).removesuffix("\n").split("\n")
    rows = [line.split() if between is None else between.split(line.strip()) for line in lines]
    width = len(rows[0])
    wrong = next((i for i, row in enumerate(rows) if len(row) != width or not row), None)
    if wrong is not None:
        raise InputError(
            f"{file}, line {wrong + 1}: expected {width or 'a'} number(s) as on line 1, got {len(rows[wrong])}"
        )
    fields = [field for row in rows for field in row]
    values = parse_numbers(fields)
    if values is None:
        values = np.array([_number(file, i // width + 1, field) for i, field in enumerate(fields)])
    return values.reshape(len(rows), width)


def _number(file: str, line: int, field: str) -> float:
    try:
        return parse_number(field)
    except InputError as error:
        raise InputError(f"{file}, line {line}: {error}") from None


def _looks_numbers(name: str, head: bytes) -> bool:
    return _LINE.fullmatch(_first_line(head)) is not None and PurePath(name).suffix not in (".csv", ".tsv", ".json")


def _looks_paired(name: str, head: bytes) -> bool:
    """Never: a table that lost its header looks the same."""
    del name, head
    return False


def _first_line(head: bytes) -> str:
    return head.partition(b"\n")[0].decode("utf-8", "replace")


NUMBERS = Format(
    "numbers", "one number an instance a line, or the 2 or 4 of smartschat/art", "systems", read_numbers, _looks_numbers
)
PAIRED = Format(
    "paired-perm", "numbers of the systems A and B on each line (paired-perm-test)", "file", read_paired, _looks_paired
)
