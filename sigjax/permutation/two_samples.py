"""The unpaired permutation test: which of all units were the first system's? Without sampling, or by random choices."""

import math

import numpy as np

from sigjax.exact.choices import chosen_sums, find_choices
from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import Criterion
from sigjax.exact.samples import sample_law
from sigjax.resample.outputs import choice
from sigjax.resample.sampling import Problem, pieces_of, swapped_sums
from sigjax.testing.p_values import Outcome, montecarlo_p
from sigjax.testing.problem import Case, NotExact, check_finite
from sigjax.testing.runner import Runner

_SECONDS = 1e-8
"""That NumPy takes to choose or leave a unit (measured)."""


def two_sample_test(case: Case, first: int, runner: Runner) -> Outcome:
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
    return _montecarlo(case, units, first, runner, exact.reason)


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


def _montecarlo(case: Case, units: np.ndarray, first: int, runner: Runner, reason: str) -> Outcome:
    """The test by random choices of units.

    What is chosen is the smaller sample, from sorted units: neither the order of the systems nor that of their units
    changes the two-sided p.
    """
    resamples, criterion, fewer = case.settings.fixed_resamples, _criterion(case), min(first, len(units) - first)
    both, sorted_units = case.units.totals.sum(axis=0), units[np.lexsort(units.T)]
    problem = Problem(choice(fewer, sorted_units), None)
    with runner.sized(_SECONDS * resamples * len(units)).run("choices of units") as run:
        sums = (swapped_sums(problem, piece).T for piece in pieces_of(run, units.shape[1]))
        deltas = (_deltas(case, of_fewer if fewer == first else both - of_fewer) for of_fewer in sums)
        exceed = sum(int(criterion.met(of_piece[None]).sum()) for of_piece in deltas)
    p_value = float(montecarlo_p(exceed, resamples))
    return Outcome(p_value, math.log10(p_value), "montecarlo", reason, exceed)
