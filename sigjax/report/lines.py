"""What texts of studies are made of: lines of tables and of JSON, methods and units in words."""

from typing import Any

from sigjax.report.text import middle_cut
from sigjax.report.visible import visible, visible_json
from sigjax.report.words import METHODS, count

_NAME = 32
"""Columns for a name."""


def json_lines(schema: str, fields: dict[str, Any]) -> str:
    """One line a field, or an item of one that is a list of records; intervals are [low, high]."""
    lines = []
    for key, value in {"schema": schema, **fields}.items():
        if isinstance(value, tuple | list) and value and isinstance(value[0], dict):
            items = ",\n".join(f"    {visible_json(item)}" for item in value)
            lines.append(f'  "{key}": [\n{items}\n  ]')
        else:
            lines.append(f'  "{key}": {visible_json(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def in_methods(methods: dict[str, int]) -> str:
    """The method, with numbers where there are several."""
    if len(methods) == 1:
        return METHODS.get(name := next(iter(methods)), name)
    return ", ".join(f"{METHODS[name]} {number:,}" for name, number in sorted(methods.items()))


def in_units(num_instances: int, num_units: int) -> str:
    """How many instances, and clusters where there are some."""
    text = count(num_instances, "instance")
    return text if num_units == num_instances else f"{text} in {count(num_units, 'cluster')}"


def table_lines(header: list[str], rows: list[list[str]], *, names: int) -> list[str]:
    """Lines of a table: so many columns of names, then numbers to the right."""
    cells = [[middle_cut(visible(cell), _NAME) if i < names else cell for i, cell in enumerate(row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    head, *lines = (
        "  ".join(
            cell.ljust(width) if i < names else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (header, *cells)
    )
    return [head, "─" * sum(widths, 2 * (len(widths) - 1)), *lines]


def paragraphs(*lines: str) -> str:
    """Lines, each with its end; names in them do not break a line."""
    return "\n".join(map(visible, lines)) + "\n"
