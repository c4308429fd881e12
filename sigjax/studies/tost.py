"""Two one-sided tests (TOST): each pair against a difference of minus the margin, and of the margin."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.closed import closed_spreads, tango_tail
from sigjax.bootstrap.intervals import Basic, quantile_levels, quantiles, standard_errors
from sigjax.bootstrap.jackknife import degrees_of_freedom, influences, pair_skewness, skewed_tail
from sigjax.bootstrap.registry import interval_kinds
from sigjax.bootstrap.sampled import SharedDraws, all_replicates
from sigjax.comparison.metric_kinds import kind_of
from sigjax.records import InputError, Interval, Settings, Variant
from sigjax.resample.tally import extreme, null_replicates
from sigjax.testing.p_values import montecarlo_p
from sigjax.testing.problem import Case, Pair, SampleCase
from sigjax.testing.runner import Runner


class Tested(NamedTuple):
    """The two tests of one pair."""

    p_lower: float
    """Against delta <= -margin."""
    p_upper: float
    """Against delta >= margin."""
    interval: Interval
    standard_error: float
    exceed: tuple[int, int] | None = None
    """Resamples behind both p-values, if any were drawn."""


def interval_level(settings: Settings) -> float:
    """The level 1 - 2 alpha of the intervals that agree with both tests at alpha."""
    return round(2.0 * settings.level - 1.0, 12)


def closed_tests(case: Case, margin: float) -> tuple[str, list[Tested]]:
    """The tests of all pairs without resamples, and their name.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: no stratum has two units.
    """
    _, spreads = closed_spreads(case._replace(settings=replace(case.settings, level=interval_level(case.settings))))
    errors = np.array([each.standard_error or 0.0 for each in spreads])
    skewed, tests = pair_skewness(influences(case.centred), case.question.members, errors).tolist(), []
    for pair, (_, interval), error, g in zip(case.question.pairs, spreads, errors.tolist(), skewed, strict=True):
        if interval is None:
            raise InputError("equivalence needs a stratum of at least two units; leave the strata out")
        tests.append(Tested(*_closed_tails(case, pair, error, g, margin), interval, error))
    return interval_kinds(case).pairs or "", tests


def _closed_tails(case: Case, pair: Pair, error: float, skewness: float, margin: float) -> tuple[float, float]:
    """p-values of the tests whose intervals `closed_spreads` gives: Tango's for answers right or wrong, else t.

    A standard error of 0 means that all units differ alike, which says nothing of other units: p is 1.
    """
    delta = case.question.delta(pair)
    if interval_kinds(case).pairs == "tango":
        a, b = case.units.values[list(pair), :, 0]
        only_a, only_b = int((a > b).sum()), int((b > a).sum())
        return tango_tail(only_a, only_b, len(a), -margin), tango_tail(only_b, only_a, len(a), -margin)
    if error == 0.0:
        return 1.0, 1.0
    degrees = degrees_of_freedom(case.units.sizes, case.units.strata)
    of_delta = delta, error, skewness
    return (
        skewed_tail(*of_delta, -margin, degrees, "greater", nearer=False),
        skewed_tail(*of_delta, margin, degrees, "less", nearer=False),
    )


def bootstrap_tests(case: Case | SampleCase, margin: float, runner: Runner) -> tuple[str, list[Tested]]:
    """The bootstrap tests of all pairs, and their name.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    settings, kind, tests = case.settings, kind_of(case), []
    shape = len(case.question.scores), settings.fixed_resamples
    with kind.sized(runner, 0, draws=True).run("bootstrap") as run:
        replicates = all_replicates(partial(kind.replicates, draws=SharedDraws([])), shape, run)
    of_pairs = (part.tolist() for part in case.question.observed(case.question.members))
    for (a, b), delta, tolerance in zip(case.question.pairs, *of_pairs, strict=True):
        deltas = replicates[a] - replicates[b]
        exceed = margin_exceed(deltas, delta, margin, tolerance, settings.variant)
        lower, upper = (float(montecarlo_p(count, settings.fixed_resamples)) for count in exceed)
        interval = dual_interval(deltas, delta, interval_level(settings), settings.variant)
        tests.append(Tested(lower, upper, interval, float(standard_errors(deltas[None])[0]), exceed))
    return "bootstrap", tests


def margin_exceed(
    replicates: np.ndarray, delta: float, margin: float, tolerance: float, variant: Variant
) -> tuple[int, int]:
    r"""Count resamples at least as extreme as delta under delta = -margin, and under delta = margin.

    The null distribution of the bootstrap test, that of $\delta^* - \delta$ (`shift`) or $\delta - \delta^*$ (`flip`),
    is moved to each margin: the counts are of $\delta^* - \delta - m \ge \delta$ and $\delta^* - \delta + m \le
    \delta$, or with `flip` of $\delta^* \le -m$ and $\delta^* \ge m$. Ties count.

    Args:
        replicates: `[resample]` bootstrap scores of system a minus those of system b on the same resamples.
        delta: the observed score_a - score_b.
        margin: above 0, on the scale of delta.
        tolerance: differences smaller than this are ties.
        variant: shift or flip.

    Example:
        >>> margin_exceed(np.array([-0.4, -0.1, 0.1, 0.3]), 0.0, 0.3, 1e-12, "shift")
        (1, 1)
        >>> margin_exceed(np.array([-0.4, -0.1, 0.1, 0.3]), 0.1, 0.2, 1e-12, "shift")
        (0, 2)
    """
    null, slack = null_replicates(replicates, np.float64(delta), variant), np.float64(tolerance)
    above = extreme(null, np.float64(delta + margin), slack, "greater")
    below = extreme(null, np.float64(delta - margin), slack, "less")
    return int(np.count_nonzero(above)), int(np.count_nonzero(below))


def dual_interval(replicates: np.ndarray, delta: float, level: float, variant: Variant) -> Interval:
    """The interval that lies within the margins if and only if both tests reject at (1 - level) / 2.

    It is the basic interval (Davison and Hinkley 1997, section 5.2) for `shift`, and the percentile one for `flip`.

    Example:
        >>> dual_interval(np.arange(101.0), 40.0, 0.5, "flip"), dual_interval(np.arange(101.0), 40.0, 0.5, "shift")
        (Interval(low=25.0, high=75.0), Interval(low=5.0, high=55.0))
    """
    (low,), (high,) = (ends.tolist() for ends in quantiles(replicates[None].copy(), quantile_levels(level)))
    percentile = Interval(low, high)
    return percentile if variant == "flip" else Basic.turned(percentile, delta)
