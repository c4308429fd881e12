"""JSON of reports and studies. Every number is as it is, never rounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sigjax.records import Comparisons, Interval, Repeated
from sigjax.records.visible import visible_json
from sigjax.report.peers import peer_rows
from sigjax.run.checkpoint import SCHEMA

if TYPE_CHECKING:
    from sigjax.report.report import Report

_BLOCK = 2**12
"""Pairs that are written together."""
SYSTEM_KEYS = (
    *("name", "metric", "score", "standard_error", "standard_error_unclustered", "interval", "interval_kind"),
    *("rank_interval", "letters", "cluster", "in_top_group", "bootstrap_ranks"),
)
PAIR_KEYS = (
    *("a", "b", "metric", "test", "delta", "p_value", "log10_p", "p_interval", "p_adjusted"),
    *("log10_p_adjusted", "error_bound"),
    *("method", "reason", "resamples", "exceed", "settled", "resamples_needed"),
    *("standard_error", "standard_error_unclustered", "interval", "interval_kind"),
)
SCORE_KEYS = ("score_a", "score_b")
"""What pairs have beside, where each is on instances of its own (missing pairwise)."""


def json_pieces(report: Report) -> Iterator[str]:
    """The report as JSON of the schema `sigjax/1`; what is missing is null, NaN cannot occur.

    In pieces, so that a large report can be written without holding its text.
    """
    keys = PAIR_KEYS if _same_scores(report) else PAIR_KEYS + SCORE_KEYS
    systems = ({key: getattr(system, key) for key in SYSTEM_KEYS} for system in report.systems)
    parts: dict[str, Iterable[str]] = {
        "schema": [visible_json(SCHEMA)],
        "settings": [visible_json(report.settings_dict())],
        "signature": [visible_json(report.signature)],
        "versions": [visible_json(report.versions)],
        "notes": [visible_json(report.notes)],
        "lower_is_better": [visible_json(report.lower_is_better)],
        "systems": _lines(map(visible_json, systems)),
        "pairs": _lines(_pairs(block, keys) for block in report.comparisons.blocks(_BLOCK)),
    }
    for name in ("measured", "distributions"):
        if records := getattr(report, name):
            parts[name] = _lines(visible_json(asdict(each)) for each in records)
    if report.compat:
        parts["compat"] = _lines(map(visible_json, peer_rows(report)))
    before = "{\n"
    for key, pieces in parts.items():
        yield f'{before}  "{key}": '
        yield from pieces
        before = ",\n"
    yield "\n}\n"


def _lines(rows: Iterable[str]) -> Iterator[str]:
    """An array with one row per line, from rows or several rows joined."""
    before = "[\n    "
    for row in rows:
        yield before + row
        before = ",\n    "
    yield "[]" if before.startswith("[") else "\n  ]"


def _same_scores(report: Report) -> bool:
    """Whether the scores of pairs are those of the systems."""
    scores = {(system.metric, system.name): system.score for system in report.systems}
    return all(
        (own.column(name).mapped(lambda system, by=metric: scores[by, system]) == own.column(f"score_{name}")).all()
        for (metric, _), own in report.comparisons.groups().items()
        for name in "ab"
    )


def _pairs(block: Comparisons, keys: Sequence[str]) -> str:
    """One line per pair."""
    line = "{" + ", ".join(f'"{key}": %s' for key in keys) + "}"
    return ",\n    ".join(map(line.__mod__, zip(*(_texts(block, key) for key in keys), strict=True)))


def _texts(block: Comparisons, key: str) -> list[str]:
    """The values of a field as JSON."""
    column = block.column(key)
    if isinstance(column, Repeated):
        texts = [visible_json(value) for value in column.values]
        return [texts[code] for code in column.codes.tolist()]
    return [_number(value) for value in block.values(key)]


def _number(value: float | Interval | None) -> str:
    """A number, an interval or none, as `json` writes them but in a third of the time."""
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return f"[{_number(value[0])}, {_number(value[1])}]"
    return repr(value) if abs(value) < float("inf") else visible_json(value)


def json_lines(schema: str, fields: dict[str, Any]) -> str:
    """The JSON of a study: one line per field, or per record where a field is a list of records."""
    lines = []
    for key, value in {"schema": schema, **fields}.items():
        if isinstance(value, tuple | list) and value and isinstance(value[0], dict):
            items = ",\n".join(f"    {visible_json(item)}" for item in value)
            lines.append(f'  "{key}": [\n{items}\n  ]')
        else:
            lines.append(f'  "{key}": {visible_json(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"
