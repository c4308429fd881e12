r"""Intervals of delta by inversion of the paired permutation (swap) test: the shifts that it does not reject.

Let $d_i$ be the differences of N units, and test the shift $\theta$ by swaps of $d_i - \theta$. Where the units F are
swapped, the sum is at least the observed one if and only if the mean of d over F is at most $\theta$, or F is empty. So
both one-sided tests of all shifts at once need only the means of d over random F, each unit in it with probability 1/2:
"typical values" of the mean. With K resamples, of which E leave F empty, and ties that count as extreme,

$$p_{greater}(\theta) = \frac{\#\{k : m_k \le \theta\} + E + 1}{K + 1}, \quad
p_{less}(\theta) = \frac{\#\{k : m_k \ge \theta\} + E + 1}{K + 1}$$

and $\theta$ is in the interval if and only if both are above $\alpha / 2 = (1 - level) / 2$. This holds from the r-th
smallest to the r-th largest of the K - E means, ends included, with $r = \lfloor \alpha (K + 1) / 2 \rfloor - E$. There
is no interval where r is below 1: too few resamples, or, as $p \ge 2^{-N}$ of the empty set, too few units. All
$2^N - 1$ sets that are not empty, where they are no more than resamples, are the same with E = 0: the 1 in p is the
empty set.

For other metrics the mean over F is $score(\sum_F s_a) - score(\sum_F s_b)$, where scores do not depend on the scale of
sums (ratios, F1, BLEU, means with a count). The shift of a score that is proportional to it (a plain sum) is shared out
to the units evenly: $d_i - \theta / N$, so that scores over F are multiplied by $N / |F|$. Other scores are refused.

For means, such sums, and ratios whose denominators the systems share, the interval holds at the level for every N if
the differences less their shift are symmetric about 0, and 0 is in it if and only if neither one-sided permutation test
of the same resamples rejects at $\alpha / 2$. For other metrics both hold up to terms that vanish with N.

Reference: Hartigan (1969), "Using subsample values as typical values"; Tritchler (1984), "On inverting permutation
tests"; Garthwaite (1996), "Confidence intervals from randomization tests".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from sigjax.exact.null import MOST_SIGNS
from sigjax.records import InputError, Interval
from sigjax.resample.draws import draws_from_strata, row_keys, swap
from sigjax.resample.engine import Run, Scored, replicates
from sigjax.resample.projection import distinct_columns, swap_projection
from sigjax.resample.tally import Deltas, replicate_scores
from sigjax.run.backend import most_bytes
from sigjax.run.host import fits, gib
from sigjax.testing.bootstrap import rounds_alike, tell
from sigjax.testing.problem import Case
from sigjax.testing.replicates import Wanted
from sigjax.testing.uncertainty import (
    Percentile,
    Pieces,
    Spread,
    Targets,
    of_rank,
    standard_errors,
    targets_of,
    with_ends,
)

_SCALES = (0.25, 0.5, 2.0)
_HOMOGENEOUS = 2.0**-20
"""Relative error that is allowed on scaled sums."""
_LONGEST = 64
"""With this many units or more, no resample swaps none (probability below 1e-18)."""
_ROWS = 2**12
"""Sets that are made at a time."""

Score = Callable[[np.ndarray], np.ndarray]


def degree(case: Case) -> int:
    """0 if scores do not depend on the scale of the sums, 1 if they are proportional to it.

    Tried on a quarter, half and twice the sums of all systems, and on those of absolute values.

    Raises:
        InputError: they are neither.
    """
    units = case.units
    sums = np.stack([units.totals, np.abs(units.values).sum(axis=1, dtype=np.float64)])
    found, *scaled = (case.scores(scale * sums) for scale in (1.0, *_SCALES))
    usable = np.isfinite([found, *scaled]).all(axis=0)
    limit = _HOMOGENEOUS * np.abs(np.where(usable, found, 0.0)).max(axis=1, keepdims=True)
    for power in (0, 1):
        with np.errstate(all="ignore"):
            missed = [np.abs(each - scale**power * found) for scale, each in zip(_SCALES, scaled, strict=True)]
        if all((each <= limit)[usable].all() for each in missed):
            return power
    raise InputError(
        f"inversion needs a score that does not depend on the scale of its sums, or is proportional to it, and "
        f"{case.metric.name!r} is none; use interval bca"
    )


def rank_of_ends(alpha: float, resamples: int, num_empty: int) -> int:
    r"""$r = \lfloor \alpha (K + 1) / 2 \rfloor - E$, see the top of this file; below 1 there is no interval.

    Example:
        >>> rank_of_ends(0.05, 2**6 - 1, 0), rank_of_ends(0.05, 999, 2), rank_of_ends(0.05, 2**5 - 1, 0)
        (1, 23, 0)
    """
    return math.floor(Fraction(repr(alpha)) * (resamples + 1) / 2) - num_empty


def inverted_intervals(case: Case, run: Run, power: int) -> list[Interval | None]:
    """The interval of each pair; `power` is the `degree` of the metric.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    num_systems, num_units = len(case.question.scores), len(case.units.strata)
    every, pieces = 2**num_units - 1, partial(_of_all, case, power)
    enumerates = case.settings.method != "montecarlo" and num_units <= MOST_SIGNS and every <= run.resamples
    empty = np.zeros(0, np.int64)
    if enumerates and fits(gib((num_systems, every)), case.settings):
        run = run._replace(resamples=every)
    else:
        pieces, empty = partial(_of_swaps, case, power), _empty_resamples(num_units, run)
    rank = rank_of_ends(case.settings.alpha, run.resamples, len(empty))
    if rank < 1:
        return [None] * len(case.question.members)
    none = Deltas(np.zeros((0, 2), np.int32), np.zeros(0), np.zeros(0))
    by = _Ranked(case, targets_of(case.question, systems=False), rank, empty)
    by.level = 1.0 - 2.0 * (rank - 1) / (run.resamples - 1)  # a summary has quantiles: these are of the same rank
    told = tell(pieces, Wanted(none, "two-sided", "shift", by), run, case.settings)
    return [spread.interval for spread in told.spreads]


class _Ranked(Percentile):
    """Intervals between order statistics: the r-th value from either end, without some resamples."""

    def __init__(self, case: Case, targets: Targets, rank: int, without: np.ndarray) -> None:
        super().__init__(case, targets)
        self.rank, self.without = rank, without

    def spreads(self, rows: np.ndarray, places: slice) -> list[Spread]:
        """Standard deviations and intervals."""
        del places
        kept = np.delete(rows, self.without, axis=1) if self.without.size else rows
        errors, first = standard_errors(kept), self.rank - 1  # before the order is lost
        low = of_rank(kept, first, 0)
        return with_ends(errors, low, of_rank(kept, kept.shape[1] - 1 - first, first))


def _of_swaps(case: Case, power: int, run: Run) -> Pieces:
    """Scores of all systems over the units that each resample swaps, piece by piece; those over none are as observed.

    Where all replicates are kept, resamples that swap none are left out; in a summary, they lie inside the interval and
    cannot move its ends.
    """
    units = case.units
    values, divisors, score = _scored(case, power)
    columns, places = distinct_columns(values)
    draws, compiled = draws_from_strata(units.strata), bool(run.backend.devices)
    projection = swap_projection(columns, draws, compiled=compiled, most_bytes=most_bytes(run.backend))
    on_host = power > 0 or not rounds_alike(case)
    observed = np.array(case.question.scores)[:, None]
    metric = Scored(places, divisors, score, on_host)
    for start, (piece,) in replicates(projection, [metric], run):
        empty = _empty_resamples(len(units.strata), run._replace(start=start, resamples=start + piece.shape[1]))
        if empty.size:
            piece[:, empty - start] = observed
        yield start, piece


def _of_all(case: Case, power: int, run: Run) -> Iterator[tuple[int, np.ndarray]]:
    """Scores of all systems over all sets of units that are not empty, piece by piece: set k has the bits of k + 1."""
    values, divisors, score = _scored(case, power)
    columns, places = distinct_columns(values)
    matrix, num_units = columns.astype(np.float64), values.shape[1]
    for start in range(run.start, run.resamples, _ROWS):
        sets = 1 + np.arange(start, min(start + _ROWS, run.resamples))
        masks = (sets >> np.arange(num_units)[:, None] & 1).astype(np.float64)
        with np.errstate(all="ignore"):
            yield start, replicate_scores(matrix @ masks, places, divisors, score=score)
        run.advance(start + len(sets))


def _scored(case: Case, power: int) -> tuple[np.ndarray, np.ndarray | None, Score]:
    """Statistics `[system, unit, stat]`, divisors, and the score of sums over some units."""
    units, score = case.units, case.metric.score
    if power == 0:
        return units.values, units.divisors, score
    # One more statistic counts the units.
    num_units = units.values.shape[1]
    values = np.concatenate([units.values, np.ones_like(units.values[:, :, :1])], axis=2)
    divisors = None if units.divisors is None else np.append(units.divisors, 1.0)

    def per_unit(sums: np.ndarray) -> np.ndarray:
        return score(sums[..., :-1]) * (num_units / np.maximum(sums[..., -1], 1.0))

    return values, divisors, per_unit


def _empty_resamples(num_units: int, run: Run) -> np.ndarray:
    """The resamples of a run that swap no unit."""
    if num_units >= _LONGEST:
        return np.zeros(0, np.int64)
    draws = draws_from_strata(np.zeros(num_units, np.int64))
    found = []
    for start in range(run.start, run.resamples, _ROWS):
        rows = np.arange(start, min(start + _ROWS, run.resamples))
        some = swap(row_keys(run.seed, rows), draws, np.bool_)[:, :num_units].any(axis=1)
        found.append(rows[~some])
    return np.concatenate([np.zeros(0, np.int64), *found])
