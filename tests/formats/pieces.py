"""Files as records, of which one can be left out or all shuffled, for `matrix.py`."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Records = tuple[list[Any], Callable[[list[Any]], str | bytes]]
"""The parts of a file that can be shuffled, and how they are a file again."""
Split = Callable[[Any], Records]


def lines(content: str, *, between: str = "\n", head: int = 0, tail: int = 0) -> Records:
    """Lines, or blocks of lines, after so many of a header and before so many at the end."""
    parts = content.removesuffix(between).split(between)
    first, own, last = parts[:head], parts[head : len(parts) - tail], parts[len(parts) - tail :]
    return own, lambda records: between.join([*first, *records, *last]) + between


def blocks(content: str) -> Records:
    return lines(content, between="\n\n")


def after_header(content: str) -> Records:
    header, _, rest = content.partition("\n")
    records, joined = blocks(rest)
    return records, lambda records: f"{header}\n{joined(records)}"


def inside(*path: str) -> Split:
    """The list at a place of a JSON file; of an object its fields."""

    def split(content: str) -> Records:
        whole = json.loads(content)
        holder = whole
        for name in path[:-1]:
            holder = holder[name]
        found = holder[path[-1]] if path else whole

        def joined(records: list[Any]) -> str:
            made = dict(records) if isinstance(found, dict) else records
            if not path:
                return json.dumps(made)
            holder[path[-1]] = made
            return json.dumps(whole)

        return (list(found.items()) if isinstance(found, dict) else list(found)), joined

    return split


def rows(content: bytes) -> Records:
    """The rows of a Parquet file."""
    from pyarrow.parquet import read_table, write_table

    table = read_table(io.BytesIO(content))

    def joined(records: list[Any]) -> bytes:
        buffer = io.BytesIO()
        write_table(table.take(records), buffer)
        return buffer.getvalue()

    return list(range(table.num_rows)), joined


@dataclass(frozen=True)
class Case:
    """Files of a format, of which the last is changed."""

    files: dict[str, str | bytes]
    split: Split | None = lines
    """None where each record holds all systems."""
    cluster: str = ""
    """A field of the format; empty where it has none."""
    lacking: int = 1
    """The record of the last file to leave out."""
    options: dict[str, Any] = field(default_factory=dict)
