"""Clusters and strata: a column of the table, or a file with one label a line."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.options import show, suggest
from sigjax.readers.table import Table, codes_of, label_column, place
from sigjax.records import InputError


def table_labels(
    table: Table, name: str | None, *, option: str, instances: np.ndarray, num_instances: int
) -> tuple[str, ...] | None:
    """Labels `[instance]` for `--cluster` or `--strata`; `instances` `[row]` gives the instance of each row."""
    if name is None:
        return None
    if name not in table.columns:
        return file_labels(table.file, name, option=option, known=table.columns, num_instances=num_instances)
    labels, codes = codes_of(label_column(table, name))
    first = np.zeros(num_instances, np.int64)
    first[instances[::-1]] = codes[::-1]
    wrong = np.flatnonzero(first[instances] != codes)
    if wrong.size:
        row = int(wrong[0])
        here, there = labels[codes[row]], labels[first[instances[row]]]
        raise InputError(
            f"{place(table, row, name)}: {show(here)}, but the same instance has {show(there)} in another row; "
            f"{option} takes one label an instance"
        )
    return tuple(labels[code] for code in first.tolist())


def instances_of(
    table: Table, id_column: str, runs: str | None
) -> tuple[tuple[str, ...], tuple[str, ...] | None, np.ndarray]:
    """Ids `[instance]`, runs `[instance]` where there is a column of them, and the instance of each row `[row]`."""
    ids, codes = codes_of(label_column(table, id_column))
    if runs is None:
        return tuple(ids), None, codes
    trials, trial_codes = codes_of(label_column(table, runs))
    pairs, codes = codes_of((codes * len(trials) + trial_codes).tolist())
    return (
        tuple(ids[pair // len(trials)] for pair in pairs),
        tuple(trials[pair % len(trials)] for pair in pairs),
        codes,
    )


def file_labels(file: str, name: str, *, option: str, known: Iterable[str], num_instances: int) -> tuple[str, ...]:
    """Labels `[instance]` from a file with one label a line, in the order of the instances."""
    if not _is_there(name):
        raise InputError(f"{file}: {option}: no column and no file {show(name)}; {suggest(name, known, 'columns')}")
    labels = decode_text(name, read_bytes(name)).removesuffix("\n").split("\n")
    if len(labels) != num_instances:
        raise InputError(f"{name}: expected {num_instances} lines, a label for each instance, got {len(labels)}")
    for line, label in enumerate(labels, start=1):
        if not label.strip():
            raise InputError(f"{name}, line {line}: expected a label, got an empty line; fill it in")
    return tuple(labels)


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists() and not Path(name).is_dir()
    except (OSError, ValueError):
        return False
