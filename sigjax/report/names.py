"""Names in few columns: cut, but never so that two of them look alike; and their numbers above columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sigjax.records.visible import shared_length, visible


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Names in `width` columns, all different where the names are: whole, cut, without what all share, or numbered.

    Numbers are those of the rows, from 1.

    Example:
        >>> short_names(["crf", "transformer-big-seed-3"], 12)
        ['crf', 'transf…eed-3']
        >>> short_names(["transformer-1-best", "transformer-2-best"], 10)
        ['…1-best', '…2-best']
        >>> short_names(["my-model-1-large", "my-model-2-large", "other"], 9)
        ['my-…rge#1', 'my-…rge#2', 'other#3']
    """
    shown = [visible(name) for name in names]
    shared = shared_length(shown)
    bare = [f"…{name[shared:]}" for name in shown] if shared > 1 else shown
    for written in (shown, bare):
        cut = [middle_cut(name, width) for name in written]
        if len(set(cut)) == len(cut):
            return cut
    numbers = [f"#{number}" for number in range(1, len(shown) + 1)]
    return [f"{middle_cut(name, max(1, width - len(end)))}{end}" for name, end in zip(shown, numbers, strict=True)]


def middle_cut(text: str, width: int) -> str:
    """Text cut in the middle to `width` columns, so that a common beginning does not hide which system it is.

    Example:
        >>> middle_cut("transformer-big-seed-3", 12)
        'transf…eed-3'
    """
    from rich.cells import cell_len, set_cell_size  # rich takes long to import

    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    end = text[-tail:] if tail else ""
    while cell_len(end) > tail:
        end = end[1:]
    return f"{set_cell_size(text, width - 1 - cell_len(end)).rstrip()}…{end}"


def column_numbers(first: int, last: int) -> list[list[str]]:
    """The numbers of the columns written downwards: units below, and the other digits above those of whole tens."""
    numbers = range(first, last + 1)
    above = [
        [str(number // power % 10) if number % 10 == 0 and number >= power else " " for number in numbers]
        for power in (1000, 100, 10)
        if last >= power
    ]
    return [*above, [str(number % 10) for number in numbers]]


def filled(parts: Iterable[str], width: int, *, gap: str) -> list[str]:
    """Parts in lines of this width; no part is broken."""
    from rich.cells import cell_len  # rich takes long to import

    lines: list[str] = []
    for part in parts:
        if lines and cell_len(lines[-1] + gap + part) <= width:
            lines[-1] += gap + part
        else:
            lines.append(part)
    return lines
