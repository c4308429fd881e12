"""Permutation tests of repeated runs without sampling: outputs change places within units (crossed), or whole runs do.

A run of design "models" is a trained model: good or bad on all instances at once. Where two training procedures do not
differ, of the 2 R models that they made every R are as likely to be the first one's, whatever the instances are and
however a model's results on them depend on each other. So the test is that of two samples of R, the results of a model
being one of their members. Reference: Pitman (1937), "Significance tests which may be applied to samples from any
populations".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from sigjax.exact.choices import Choices, Patterns, find_choices, find_patterns, half_sums, sum_law
from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import Criterion, ExactP, chances_p
from sigjax.permutation.exact import SMALLEST_DP, over_budget
from sigjax.testing.p_values import Outcome
from sigjax.testing.problem import Case, NotExact, Pair, check_finite
from sigjax.units.units import whole_runs

_Plan = TypeVar("_Plan", Patterns, Choices)


def crossed_outcomes(case: Case) -> dict[Pair, Outcome | NotEligible]:
    """The exact test of each pair, or why there is none.

    Raises:
        NotExact: an exact method was asked for, and some pair is not eligible or all take too long.
        NotFinite: the metric gave NaN or infinity.
    """
    return _exchanged_outcomes(case, _find, _outcome)


def _exchanged_outcomes(
    case: Case,
    find: Callable[[Case, Pair], _Plan | NotEligible],
    outcome: Callable[[Case, Pair, _Plan], Outcome | NotEligible],
) -> dict[Pair, Outcome | NotEligible]:
    """The exact test of each pair whose plan fits the settings, or why there is none.

    Raises:
        NotExact: an exact method was asked for, and some pair is not eligible or all take too long.
        NotFinite: the metric gave NaN or infinity.
    """
    plans = {pair: _plan(case, pair, find) for pair in case.question.pairs}
    eligible = {pair: plan for pair, plan in plans.items() if not isinstance(plan, NotEligible)}
    found: dict[Pair, Outcome | NotEligible] = {
        pair: plan for pair, plan in plans.items() if isinstance(plan, NotEligible)
    }
    if case.settings.method == "auto" or not found:
        found |= over_budget({pair: plan.seconds for pair, plan in eligible.items()}, case.settings)
        found |= {pair: outcome(case, pair, plan) for pair, plan in eligible.items() if pair not in found}
    if case.settings.method not in ("auto", "montecarlo"):
        for pair, why in found.items():
            if isinstance(why, NotEligible):
                raise NotExact(pair, why.reason)
    return found


def _plan(case: Case, pair: Pair, find: Callable[[Case, Pair], _Plan | NotEligible]) -> _Plan | NotEligible:
    method, design = case.settings.method, case.settings.design
    if method == "montecarlo":
        return NotEligible("as asked")
    if method in ("dp", "tree"):
        return NotEligible(f"{method} swaps whole units, and design {design} does not")
    plan = find(case, pair)
    if not isinstance(plan, NotEligible) and plan.num_bytes > case.settings.memory * 2**30:
        needed = plan.num_bytes / 2**30
        return NotEligible(f"an exact test takes about {needed:,.3g} GiB, more than {case.settings.memory:,.3g}")
    return plan


def _find(case: Case, pair: Pair) -> Patterns | NotEligible:
    outputs = case.units.outputs
    assert outputs is not None
    return find_patterns(outputs.values[pair[0]], outputs.values[pair[1]], outputs.sizes)


def _outcome(case: Case, pair: Pair, plan: Patterns) -> Outcome | NotEligible:
    if not plan.varying.size:
        return Outcome(1.0, 0.0, "exact", "no output varies within a unit", None, 0.0)
    units, (sums, chances, error) = case.units, sum_law(plan)
    both = units.totals[pair[0]] + units.totals[pair[1]]
    # Of the statistics that do not vary within units, both systems have the same, whatever is exchanged.
    of_a = np.tile(both / 2.0, (len(sums), 1))
    of_a[:, plan.varying] = sums
    found = _exchanged_p(case, pair, of_a, chances, error)
    if found.p_value < SMALLEST_DP:
        return NotEligible("the p-value is too small for sums of probabilities")
    names = ", ".join(case.metric.stat_names[stat] for stat in plan.varying)
    reason = f"all exchanges of outputs ({names})"
    return Outcome(found.p_value, found.log10_p, "exact", reason, None, found.error_bound)


def _exchanged_p(case: Case, pair: Pair, of_a: np.ndarray, chances: np.ndarray, error: float) -> ExactP:
    """The exact p-value, where the first system gets the sums `of_a` `[value, stat]` with these `chances` `[value]`.

    `error` is a bound on the relative error of a chance.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    question, settings = case.question, case.settings
    both = case.units.totals[pair[0]] + case.units.totals[pair[1]]
    first, second = case.scores(np.stack([of_a, both - of_a]))
    with np.errstate(all="ignore"):
        deltas = first - second
    check_finite(deltas[None], [pair])
    asked = Criterion(*question.observed([pair]), settings.alternative, settings.mid_p)
    return chances_p(deltas, chances, error, asked)


def models_outcomes(case: Case) -> dict[Pair, Outcome | NotEligible]:
    """The exact test of each pair, or why there is none.

    Raises:
        NotExact: an exact method was asked for, and there are too many choices or all pairs take too long.
        NotFinite: the metric gave NaN or infinity.
    """
    assert case.units.outputs is not None
    runs = whole_runs(case.units.outputs).values
    plan = find_choices(runs.shape[1], runs.shape[2])

    def outcome(case: Case, pair: Pair, plan: Choices) -> Outcome:
        of_a = half_sums(np.concatenate([runs[pair[0]], runs[pair[1]]])).astype(np.float64)
        found = _exchanged_p(case, pair, of_a, np.full(plan.number, 1.0 / plan.number), 0.0)
        reason = f"all {plan.number:,} exchanges of whole runs"
        return Outcome(found.p_value, found.log10_p, "exact", reason, None, found.error_bound)

    return _exchanged_outcomes(case, lambda case, pair: plan, outcome)
