"""Notes on p-values that cannot be small enough: for a decision, or beside those of other pairs."""

import math
from collections.abc import Sequence

import numpy as np

from sigjax.permutation.exact import exact_budget
from sigjax.records import CORRECTIONS, Comparisons, Settings, Test
from sigjax.records.corrections import adjust
from sigjax.testing.p_values import Outcomes
from sigjax.testing.stopping import most_resamples

Wanting = tuple[float, float] | None
"""Nominal seconds and GiB with which sampled tests would be exact; None where nothing makes them so."""


def out_of_reach(
    outcomes: dict[Test, Outcomes], of_what: str, settings: Settings, wanting: Sequence[Wanting] = (None,)
) -> list[str]:
    """A note for each test whose Monte Carlo p-values cannot become significant, however small, in one family.

    `wanting` is what would make the permutation tests of the family exact.
    """
    notes: list[str] = []
    if CORRECTIONS[settings.correction].is_resampled:
        return notes  # an adjusted p-value is as small as a p-value, however many pairs there are
    for test, of_test in outcomes.items():
        if not of_test.is_sampled.any():
            continue
        drawn = most_resamples(settings) if test == "permutation" else settings.fixed_resamples
        needed = _needed(of_test, drawn, settings)
        if drawn < needed:
            sampled = int(of_test.is_sampled.sum())
            of_all = "" if sampled == len(of_test.p_value) else f" of {len(of_test.p_value):,}"
            exact = _made_exact(wanting, settings) if test == "permutation" else ""
            use = f"{exact}, which makes all exact, or --resamples {needed}" if exact else f"--resamples {needed}"
            notes.append(
                f"warning: {sampled:,}{of_all} {of_what} cannot become significant at {settings.alpha:.3g} in the "
                f"{test} test with {drawn:,} resamples; use {use}"
            )
    return notes


def _needed(outcomes: Outcomes, drawn: int, settings: Settings) -> int:
    """The number of resamples, no fewer than `drawn`, with which the least sampled p-value is significant."""
    while True:
        least = 1.0 / (drawn + 1)
        p_values = np.where(outcomes.is_sampled, least, outcomes.p_value)
        times = adjust(p_values, settings.correction)[outcomes.is_sampled].min() / least
        # m / (K + 1) < alpha from K = floor(m / alpha) on, but for rounding.
        needed = math.floor(times / settings.alpha * (1.0 + 1e-12))
        if needed <= drawn:
            return drawn
        drawn = needed  # a smaller least p-value, which fewer exact ones are below


def too_few_units(num_units: int, num_hypotheses: int, settings: Settings) -> list[str]:
    """A note where permutation tests of so many units cannot become significant, however far apart systems are.

    The least p-value is that of one swap in all 2^N, and of its mirror image where the test is two-sided.

    Example:
        >>> print(*too_few_units(6, 3, Settings()))
        warning: permutation test: 6 units are too few for a decision at 0.05: p is at least 0.0312,
        adjusted at least 0.0938
        >>> too_few_units(7, 3, Settings())
        []
    """
    swaps = "permutation" in settings.tests and settings.design not in ("crossed", "models")
    if not swaps or settings.mid_p or num_units == 1:
        return []
    return _too_few(f"{num_units} units", 2.0**-num_units, num_hypotheses, settings)


def too_few_runs(num_runs: int, num_hypotheses: int, settings: Settings) -> list[str]:
    """The same of runs that are exchanged whole, so many of each system.

    Example:
        >>> too_few_runs(3, 1, Settings(design="models"))
        ['warning: permutation test: 3 runs of each system are too few for a decision at 0.05: p is at least 0.1']
        >>> too_few_runs(4, 1, Settings(design="models"))
        []
    """
    least = (0.5 if settings.mid_p else 1.0) / math.comb(2 * num_runs, num_runs)
    return _too_few(f"{num_runs} runs of each system", least, num_hypotheses, settings)


def _too_few(what: str, least: float, num_hypotheses: int, settings: Settings) -> list[str]:
    """A note where the chance `least` of one exchange, and of its mirror image, is too large for a decision."""
    least *= 2 if settings.alternative == "two-sided" else 1
    joint = CORRECTIONS[settings.correction].is_resampled
    of_all = least if joint else adjust(np.full(num_hypotheses, least), settings.correction).min()
    if of_all < settings.alpha:
        return []
    adjusted = f", adjusted at least {of_all:.3g}" if of_all > least else ""
    few = f"{what} are too few for a decision at {settings.alpha:.3g}"
    return [f"warning: permutation test: {few}: p is at least {least:.3g}{adjusted}"]


def mixed_floors(found: Comparisons, wanting: Sequence[Wanting], settings: Settings) -> list[str]:
    """A note where p-values of sampled pairs end at a floor that exact ones are below, and what makes all exact.

    Args:
        found: all permutation tests of a metric.
        wanting: what would make the sampled tests exact.
        settings: of the report.
    """
    p, log10_p, exceed = found.columns("p_value", "log10_p", "exceed")
    lowest, exact = p[exceed == 0], log10_p[exceed < 0]
    if not (len(lowest) and len(exact) and exact.min() < math.log10(lowest.min())):
        return []
    least = 10.0 ** (exact.min() % 1.0), math.floor(exact.min())
    what = f"p of {len(lowest):,} sampled pair{'' if len(lowest) == 1 else 's'} is the least there can be"
    note = f"{found.column('metric').values[0]}: {what}, {lowest.min():.2g}"
    note += f", beside exact p down to {least[0]:.1f}e{least[1]}"
    options = _made_exact(wanting, settings)
    return [f"{note}; {options} makes all exact" if options else note]


def _made_exact(wanting: Sequence[Wanting], settings: Settings) -> str:
    """The options with which all tests are exact; "" where none do."""
    if not all(wanting):
        return ""
    seconds, gib = np.max([each or (0.0, 0.0) for each in wanting], axis=0).tolist()
    asked = ("memory", gib, settings.memory), ("budget", 1.05 * seconds, exact_budget(settings))
    return " ".join(f"--{name} {_upward(need):g}" for name, need, given in asked if need > given)


def _upward(number: float) -> float:
    """The least number of two digits that is no smaller.

    Example:
        >>> _upward(12.1), _upward(0.0123)
        (13.0, 0.013)
    """
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return float(f"{math.ceil(number / unit * (1.0 - 1e-12)) * unit:.6g}")
