"""The signature of a report."""

from collections.abc import Sequence

from sigjax.metrics.suites import is_part
from sigjax.records import Evaluation, Settings
from sigjax.testing.stopping import LOOKS
from sigjax.version import __version__


def signature_of(evaluations: Sequence[Evaluation], settings: Settings, num_units: int) -> str:
    """One line from which the numbers can be made again, in the manner of sacrebleu."""
    first = evaluations[0]
    unit = first.unit if first.clusters is None and first.runs is None else "cluster" if first.clusters else "id"
    tasks = sum(each.weights is None for each in evaluations) if is_part(first) else None
    named = evaluations if tasks is None else [each for each in evaluations if each.weights is not None]
    parts = {
        "metric": "+".join(each.metric.name for each in named) or None,
        "tasks": tasks,
        "test": "+".join(settings.tests),
        "method": settings.method,
        "n": settings.resamples,
        "cap": LOOKS[-1] if settings.resamples == "auto" else None,
        "seed": settings.seed,
        "alt": settings.alternative,
        "null": settings.variant if "bootstrap" in settings.tests else None,
        "ties": "mid" if settings.mid_p else "ge",
        "systems": len(evaluations[0].systems),
        "units": f"{num_units} {unit}s",
        "strata": None if evaluations[0].strata is None else len(set(evaluations[0].strata)),
        "missing": "pairwise" if any(each.present is not None for each in evaluations) else None,
        "baseline": settings.baseline,
        "correction": settings.correction,
        "family": None if settings.family == "metric" else settings.family,
        "leaderboard": "ranks" if settings.leaderboard else None,
        "interval": settings.interval,
        "level": settings.level,
        "design": None if settings.design == "together" else settings.design,
        "budget": settings.budget,
        "memory": None if settings.memory == Settings.memory else settings.memory,
        "sigjax": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items() if value is not None)
