"""What a comparison will take: roughly how long, and how much memory for its pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from sigjax.bootstrap.registry import draws_intervals, in_closed_form
from sigjax.permutation.exact import exact_budget
from sigjax.records import CORRECTIONS, Evaluation, InputError, Settings
from sigjax.run.host import gib
from sigjax.testing.problem import num_problems, ones_of
from sigjax.testing.stopping import LOOKS

_WORTH_A_LINE = 60.0
"""Seconds of work from which a warning is logged."""
_PAIR, _ANOTHER_TEST, _SAMPLED, _DRAWN = 250, 200, 100, 250
"""Bytes per pair while columns are made: for the pair, another test, a sampled p-value, a drawn interval."""
_SMALL = 2.0**-8
"""GiB of columns that are always allowed."""
_RECORD = 1e-5
"""Seconds per pair, for columns and text; this and what follows were measured on a slow machine with two cores."""
_PROBLEM = 1.5e-3
"""Seconds per problem that is planned and computed exactly."""
_LINE, _LAW = 5e-5, 1e-3
"""Nominal seconds, as budgets count them: the simplest exact test, and the law of a bootstrap."""
_RESAMPLE = 3e-9
"""Seconds per pair and resample."""
_INFLUENCE = 4e-9
"""Seconds per pair and instance, for an interval by the jackknife."""
_TOGETHER = 1.5e-8
"""Seconds per pair and resample of maxt or minp."""
_MOST_SYSTEMS, _MOST_INSTANCES = 20_000, 4_096
"""Problems are counted up to these sizes, which takes seconds."""


class Workload(NamedTuple):
    """What a comparison will take."""

    systems: int
    pairs: int
    """Of all metrics."""
    seconds: float
    """Roughly, on two cores."""
    columns: float
    """GiB of the columns of all pairs."""
    replicates: float
    """GiB of bootstrap replicates that are kept."""

    def __str__(self) -> str:
        """Name time and memory.

        Example:
            >>> print(Workload(5000, 12_497_500, 200.0, 2.91, 0.5))
            12,497,500 pairs of 5,000 systems: about 3 min and 3.4 GiB
        """
        number, unit = (self.seconds / 3600.0, "h") if self.seconds > 7200.0 else (self.seconds / 60.0, "min")
        memory = self.columns + self.replicates
        return f"{self.pairs:,} pairs of {self.systems:,} systems: about {number:.0f} {unit} and {memory:.1f} GiB"


def check_workload(evaluations: Sequence[Evaluation], settings: Settings, *, warns: bool) -> None:
    """Refuse more pairs than the memory holds; log a warning of work that takes long, if asked.

    Raises:
        InputError: with what to do.
    """
    load = workload(evaluations, settings)
    if load.columns > max(settings.memory, _SMALL):
        needed = math.ceil(100.0 * load.columns) / 100.0
        raise InputError(
            f"{load.pairs:,} pairs of {load.systems:,} systems take about {needed:g} GiB, more than the memory of "
            f"{settings.memory:g} GiB; compare with one system (--baseline), compare fewer (--systems), or give "
            f"--memory {needed:g}"
        )
    if warns and load.seconds > _WORTH_A_LINE:
        import logging

        logging.getLogger("sigjax").warning("%s", load)


def workload(evaluations: Sequence[Evaluation], settings: Settings) -> Workload:
    """Estimate what a comparison will take; no array with one entry per pair is made."""
    count = len(evaluations[0].systems)
    pairs = count * (count - 1) // 2 if settings.baseline is None else count - 1
    parts = [_part(each, pairs, settings) for each in evaluations]
    draws = any(part.draws for part in parts)
    return Workload(
        count,
        pairs * len(evaluations),
        sum(_seconds(part, pairs, settings) for part in parts),
        sum(_bytes(part, settings) * pairs for part in parts) / 2**30,
        min(gib((count, settings.fixed_resamples)), 0.5 * settings.memory) if draws else 0.0,
    )


class _Part(NamedTuple):
    """The work for one metric, as far as it is known beforehand."""

    problems: int
    """Number of problems that are planned, and mostly computed, exactly."""
    swaps: bool
    """Whether many p-values come from swaps."""
    draws: bool
    """Whether intervals come from draws."""
    moved: int
    """Number of instances whose influences give the intervals; 0 where intervals are of another kind."""


def _part(evaluation: Evaluation, pairs: int, settings: Settings) -> _Part:
    drawn, swapped = draws_intervals(evaluation.metric, settings), "permutation" in settings.tests
    drawn |= "bootstrap" in settings.tests
    moved = evaluation.stats.shape[1] if in_closed_form(evaluation.metric, settings) else 0
    if settings.method == "montecarlo":
        return _Part(0, swapped, drawn, moved)
    budget, problems, line = exact_budget(settings), pairs, _LAW
    (count, instances), whole = evaluation.stats.shape[:2], evaluation.clusters is None and evaluation.runs is None
    countable = whole and settings.baseline is None and count <= _MOST_SYSTEMS and instances <= _MOST_INSTANCES
    if countable and pairs * _LAW > budget:
        ones = ones_of(evaluation.stats)
        problems, line = (pairs, _LAW) if ones is None else (num_problems(ones), _LINE)
    return _Part(problems, swapped and problems * line > budget, drawn and problems * _LAW > budget, moved)


def _bytes(part: _Part, settings: Settings) -> int:
    """Bytes per pair while columns are made."""
    return (
        _PAIR
        + _ANOTHER_TEST * (len(settings.tests) - 1)
        + _SAMPLED * part.swaps
        + _DRAWN * (part.draws or part.moved > 0)
    )


def _seconds(part: _Part, pairs: int, settings: Settings) -> float:
    """Nominal seconds of one metric."""
    resamples = settings.fixed_resamples
    swaps = 2 * LOOKS[0] if settings.resamples == "auto" else resamples
    seconds = _RECORD * pairs * len(settings.tests) + _PROBLEM * part.problems
    seconds += _INFLUENCE * pairs * part.moved
    seconds += _RESAMPLE * pairs * (part.swaps * swaps + part.draws * resamples)
    return seconds + (_TOGETHER * pairs * resamples if CORRECTIONS[settings.correction].is_resampled else 0.0)
