"""Clusters and strata from a file with one label per line."""

from collections.abc import Iterable
from pathlib import Path

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.options import show, suggest
from sigjax.records import InputError


def file_labels(file: str, name: str, *, option: str, known: Iterable[str], num_instances: int) -> tuple[str, ...]:
    """Labels `[instance]` from a file with one label per line, in the order of the instances."""
    try:
        is_file = Path(name).exists() and not Path(name).is_dir()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise InputError(f"{file}: {option}: no column and no file {show(name)}; {suggest(name, known, 'columns')}")
    labels = decode_text(name, read_bytes(name)).removesuffix("\n").split("\n")
    if len(labels) != num_instances:
        raise InputError(f"{name}: expected {num_instances} lines, one label per instance, got {len(labels)}")
    for line, label in enumerate(labels, start=1):
        if not label.strip():
            raise InputError(f"{name}, line {line}: expected a label, got an empty line; fill it in")
    return tuple(labels)
