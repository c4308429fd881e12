"""The paired permutation test (approximate randomization): under the null hypothesis, outputs of a unit may be swapped.

Exact where one statistic differs between the systems and the work fits the budget, else Monte Carlo, all pairs on the
same swaps. References: Yeh (2000), section 3; Zmigrod, Vieira and Cotterell (2022).
"""

import math

import numpy as np

from sigjax.exact.charfun import grid_cost, grid_length
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice
from sigjax.exact.null import exact_p
from sigjax.inference.outcome import NotExact, NotFinite, Outcome, Pair, Question
from sigjax.inference.pvalues import montecarlo_p
from sigjax.records import Alternative, Method, Metric
from sigjax.resample.engine import Problem, Run, count_swaps
from sigjax.resample.plans import draws_from_strata
from sigjax.resample.project import distinct_columns
from sigjax.resample.tally import Pairs, extreme, scores
from sigjax.units import Units

EXACT_BUDGET = 2**22
"""Terms of the characteristic function, per pair, that method="auto" computes rather than sample: about 0.2 s."""
EXACT_LIMIT = 2**30
"""Terms, per pair, up to which method="exact" goes: about a minute."""
GRID_LIMIT = 2**24
"""Values of the sum, per pair, up to which method="exact" goes: about a gigabyte."""


def plan_exact(units: Units, metric: Metric, pair: Pair, method: Method) -> Lattice | NotEligible:
    """The lattice of a pair if it is to be tested exactly, else why not.

    Raises:
        NotExact: method is "exact" and the pair is not eligible, or takes too long.
    """
    if method == "montecarlo":
        return NotEligible("as asked")
    a, b = pair
    plan = pair_lattice(units.values[a], units.values[b], metric.stat_names)
    if not units.exact and isinstance(plan, Lattice) and plan.stat >= 0:
        plan = NotEligible("the statistics are reals, held rounded; exact tests take whole numbers or decimals")
    if isinstance(plan, Lattice):
        cost, budget = grid_cost(plan), EXACT_BUDGET if method == "auto" else EXACT_LIMIT
        if cost > budget or grid_length(plan) > GRID_LIMIT:
            plan = NotEligible(f"an exact test takes {cost:,} terms, over the budget of {budget:,}")
    if method == "exact" and isinstance(plan, NotEligible):
        raise NotExact(pair, plan.reason)
    return plan


def exact_outcome(
    units: Units, metric: Metric, question: Question, pair: Pair, lattice: Lattice, alternative: Alternative
) -> Outcome:
    """The exact test of one pair."""
    totals_a, totals_b = (units.values[system].sum(axis=0) for system in pair)
    delta, tolerance = np.float64(question.delta(pair)), np.float64(question.tolerance(pair))

    def is_extreme(values: np.ndarray) -> np.ndarray:
        # Swaps keep the sum of both systems; the statistic that varies is shared out as (sum +- scale S) / 2.
        sums = np.broadcast_to(totals_a, (2, len(values), len(totals_a))).copy()
        both = totals_a[lattice.stat] + totals_b[lattice.stat]
        sums[0, :, lattice.stat] = (both + lattice.scale * values) // 2
        sums[1, :, lattice.stat] = (both - lattice.scale * values) // 2
        with np.errstate(all="ignore"):
            of_a, of_b = scores(metric.score, sums.astype(np.float64), units.divisors)
        if not np.isfinite(of_a - of_b).all():
            raise NotFinite(pair)
        return extreme(of_a - of_b, delta, tolerance, alternative)

    if lattice.stat < 0:
        return Outcome(1.0, 0.0, "exact", "the systems are identical", exceed=None)
    p_value, log10_p = exact_p(lattice, is_extreme)
    reason = f"one statistic differs ({metric.stat_names[lattice.stat]})"
    return Outcome(p_value, log10_p, "exact", reason, exceed=None)


def montecarlo_outcomes(
    units: Units,
    metric: Metric,
    question: Question,
    pairs: dict[Pair, NotEligible],
    alternative: Alternative,
    run: Run,
) -> dict[Pair, Outcome]:
    """The Monte Carlo test of several pairs (each with why it is not exact) on the same swaps."""
    # Swaps see differences only: measured from the first system, columns that all systems share vanish.
    columns = distinct_columns(units.values - units.values[:1])
    a, b = np.array(list(pairs)).T
    packed = Pairs(
        left=columns.places[a],
        right=columns.places[b],
        totals_a=units.totals[a],
        totals_b=units.totals[b],
        delta=np.array([question.delta(pair) for pair in pairs]),
        tolerance=np.array([question.tolerance(pair) for pair in pairs]),
    )
    problem = Problem(draws_from_strata(units.strata), columns, units.divisors)
    exceed, finite = count_swaps(problem, packed, run, score=metric.score, alternative=alternative)
    if not finite.all():
        raise NotFinite(list(pairs)[int(np.argmin(finite))])
    p_values = np.asarray(montecarlo_p(exceed, run.resamples))
    return {
        pair: Outcome(float(p), math.log10(p), "montecarlo", why.reason, int(count))
        for p, count, (pair, why) in zip(p_values, exceed, pairs.items(), strict=True)
    }
