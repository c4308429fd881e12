"""Clusters and strata: a column of the table, or a file with one label a line."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from sigjax.readers.files import decode_text, read_bytes
from sigjax.readers.options import show, suggest
from sigjax.readers.table import Table, label_column, place
from sigjax.records import InputError


def table_labels(
    table: Table, name: str | None, *, option: str, instances: Sequence[int], num_instances: int
) -> tuple[str, ...] | None:
    """Labels `[instance]` for `--cluster` or `--strata`; `instances` `[row]` gives the instance of each row."""
    if name is None:
        return None
    if name not in table.columns:
        return file_labels(table.file, name, option=option, known=table.columns, num_instances=num_instances)
    found: dict[int, str] = {}
    for row, (i, label) in enumerate(zip(instances, label_column(table, name), strict=True)):
        if found.setdefault(i, label) != label:
            raise InputError(
                f"{place(table, row, name)}: {show(label)}, but the same instance has {show(found[i])} in another row; "
                f"{option} takes one label an instance"
            )
    return tuple(found[i] for i in range(num_instances))


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
