"""JSON of the schema `sigjax/1`: every number as it is, one line a system and one line a pair."""

import json
from collections.abc import Iterable
from typing import Any

from sigjax.identity import SCHEMA
from sigjax.records import Comparison, Report, SystemScore


def to_json(report: Report) -> str:
    """The report as JSON; numbers are not rounded, what is missing is null, NaN cannot occur."""
    parts = {
        "schema": _dump(SCHEMA),
        "settings": _dump(report.settings_dict()),
        "signature": _dump(report.signature),
        "notes": _dump(report.notes),
        "systems": _lines(_system(system) for system in report.systems),
        "pairs": _lines(_pair(comparison) for comparison in report),
    }
    body = ",\n".join(f'  "{key}": {value}' for key, value in parts.items())
    return f"{{\n{body}\n}}\n"


def _system(system: SystemScore) -> dict[str, Any]:
    return {key: getattr(system, key) for key in SYSTEM_KEYS}


SYSTEM_KEYS = (
    *("name", "metric", "score", "standard_error", "standard_error_unclustered", "interval"),
    *("rank_interval", "letters", "cluster"),
    *("bootstrap_ranks", "mcs_p", "in_confidence_set"),
)
PAIR_KEYS = (
    *("a", "b", "metric", "test", "delta", "p_value", "log10_p", "p_interval", "p_adjusted"),
    *("log10_p_adjusted", "error_bound"),
    *("method", "reason", "resamples", "exceed", "settled", "resamples_needed"),
    *("standard_error", "standard_error_unclustered", "interval"),
)


def _pair(comparison: Comparison) -> dict[str, Any]:
    return {key: getattr(comparison, key) for key in PAIR_KEYS}


def _lines(values: Iterable[dict[str, Any]]) -> str:
    rows = ",\n".join(f"    {_dump(value)}" for value in values)
    return f"[\n{rows}\n  ]" if rows else "[]"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
