"""The unpaired permutation test: which of all units were the first system's? Without sampling, or by random choices."""

import math

import numpy as np

from sigjax.exact.choices import chosen_sums, find_choices
from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import Criterion
from sigjax.exact.samples import sample_law
from sigjax.resample.bits import row_keys
from sigjax.resample.plans import chosen
from sigjax.testing.p_values import Outcome, montecarlo_p
from sigjax.testing.problem import Case, NotExact, check_finite

_BLOCK = 2**23
"""Units of resamples held at a time; no result depends on it."""


def two_sample_test(case: Case, first: int) -> Outcome:
    """The permutation test of two systems on different units, exact if it can be, else Monte Carlo.

    `case` is of both systems on the units of both, those of the first system before the others; a system has nothing on
    the units of the other.

    Raises:
        NotExact: an exact test was asked for, and there is none.
        NotFinite: the metric gave NaN or infinity.
    """
    units = case.units.values.sum(axis=0)
    exact = NotEligible("as asked") if case.settings.method == "montecarlo" else _exact(case, units, first)
    if isinstance(exact, Outcome):
        return exact
    if case.settings.method == "exact":
        raise NotExact((0, 1), exact.reason)
    return _montecarlo(case, units, first, exact.reason)


def _deltas(case: Case, sums: np.ndarray) -> np.ndarray:
    """Differences of scores `[row]` where the first system has the sums `[row, stat]`."""
    both = case.units.totals.sum(axis=0)
    with np.errstate(all="ignore"):
        found = case.scores(sums) - case.scores(both - sums)
    check_finite(found[None], [(0, 1)])
    return found


def _criterion(case: Case) -> Criterion:
    return Criterion(*case.question.observed([(0, 1)]), case.settings.alternative)


def _exact(case: Case, units: np.ndarray, first: int) -> Outcome | NotEligible:
    """The exact test of units `[unit, stat]`: by the law of one statistic, else by all choices of units."""
    varying = np.flatnonzero((units != units[0]).any(axis=0))
    if not varying.size:
        return Outcome(1.0, 0.0, "exact", "no unit differs", None, 0.0)
    law = NotEligible("") if varying.size > 1 else sample_law(units[:, varying[0]], first)
    if not isinstance(law, NotEligible):
        sums = np.tile(first * units[0].astype(np.float64), (len(law.sums), 1))
        sums[:, varying[0]] = law.sums
        found = law.tail(_criterion(case).met(_deltas(case, sums)[None])[0])
        if found is None:
            return NotEligible("the p-value is too small for sums of probabilities")
        reason = f"one statistic differs ({case.metric.stat_names[varying[0]]})"
        return Outcome(found.p_value, found.log10_p, "exact", reason, None, found.error_bound)
    plan = find_choices(first, len(units), units.shape[1], "units")
    if isinstance(plan, NotEligible):
        return law if law.reason else plan
    if plan.num_bytes > case.settings.memory * 2**30:
        return NotEligible(f"an exact test takes more than {case.settings.memory:,.3g} GiB")
    deltas = _deltas(case, chosen_sums(units, first).astype(np.float64))
    p_value = int(_criterion(case).met(deltas[None]).sum()) / plan.number
    return Outcome(p_value, math.log10(p_value), "exact", f"all {plan.number:,} choices of units", None, 0.0)


def _montecarlo(case: Case, units: np.ndarray, first: int, reason: str) -> Outcome:
    """The test by random choices of units."""
    resamples, exceed = case.settings.fixed_resamples, 0
    numbers, criterion, step = units.T.astype(np.float64), _criterion(case), max(1, _BLOCK // len(units))
    for start in range(0, resamples, step):
        rows = row_keys(case.settings.seed, np.arange(start, min(start + step, resamples)))
        sums = (numbers @ chosen(rows, first, len(units)).astype(np.float64)).T  # whole numbers: exact in any order
        exceed += int(criterion.met(_deltas(case, sums)[None]).sum())
    p_value = float(montecarlo_p(exceed, resamples))
    return Outcome(p_value, math.log10(p_value), "montecarlo", reason, exceed)
