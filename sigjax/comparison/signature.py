"""The signature of a report."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sigjax.metrics.suites import is_part
from sigjax.records import Evaluation, Settings
from sigjax.testing.stopping import LOOKS
from sigjax.version import __version__

_SHORT = {"tests": "test", "resamples": "n", "alternative": "alt", "variant": "null", "mid_p": "ties"}
_ALWAYS = {"method", "resamples", "seed", "alternative", "correction", "interval", "level"}
"""Settings that are written where they have their defaults, too."""
_BEFORE_DATA = ("test", "method", "n", "cap", "seed", "alt", "null", "ties")
_AFTER_DATA = ("baseline", "correction", "family", "leaderboard", "interval", "level", "design")


def signature_of(evaluations: Sequence[Evaluation], settings: Settings, num_units: int) -> str:
    """One line from which the numbers can be made again, in the manner of sacrebleu."""
    first, chosen = evaluations[0], _written(settings)
    unit = first.unit if first.clusters is None and first.runs is None else "cluster" if first.clusters else "id"
    tasks = sum(each.weights is None for each in evaluations) if is_part(first) else None
    named = evaluations if tasks is None else [each for each in evaluations if each.weights is not None]
    parts = {
        "metric": "+".join(each.metric.name for each in named) or None,
        "tasks": tasks,
        **{name: chosen.pop(name) for name in _BEFORE_DATA},
        "systems": len(first.systems),
        "units": f"{num_units} {unit}s",
        "strata": None if first.strata is None else len(set(first.strata)),
        "missing": "pairwise" if any(each.present is not None for each in evaluations) else None,
        **{name: chosen.pop(name) for name in _AFTER_DATA},
        **chosen,
        "sigjax": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items() if value is not None)


def _written(settings: Settings) -> dict[str, Any]:
    """Every setting, by its name in signatures; None for what is left out, as most defaults are."""
    values = {each.name: (getattr(settings, each.name), each.default) for each in fields(Settings)}
    written = {
        _SHORT.get(name, name): None if value == default and name not in _ALWAYS else value
        for name, (value, default) in values.items()
    }
    return written | {
        "test": "+".join(settings.tests),
        "cap": LOOKS[-1] if settings.resamples == "auto" else None,
        "null": settings.variant if "bootstrap" in settings.tests else None,
        "ties": "mid" if settings.mid_p else "ge",
        "leaderboard": "ranks" if settings.leaderboard else None,
    }
