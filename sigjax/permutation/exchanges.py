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

from sigjax.exact.choices import Choices, Patterns, chosen_sums, find_choices, find_patterns, sum_law
from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import Criterion, chances_p
from sigjax.permutation.exact import SMALLEST_DP, over_budget
from sigjax.testing.p_values import Outcome
from sigjax.testing.problem import Case, NotExact, Pair, check_finite
from sigjax.units.units import Outputs, whole_runs

Plan = Patterns | Choices | NotEligible
Finder = Callable[[Case, Pair], Plan]
_Found = TypeVar("_Found", Plan, Outcome | NotEligible)


def exchanged_tests(case: Case) -> list[Outcome | NotEligible]:
    """The exact test of each pair of design crossed or models, or why there is none.

    Raises:
        NotExact: an exact method was asked for, and some pair is not eligible or all take too long.
        NotFinite: the metric gave NaN or infinity.
    """
    settings, find = case.settings, _find_patterns if case.settings.design == "crossed" else _find_choices

    def allowed(pair: Pair, found: _Found) -> _Found:
        if isinstance(found, NotEligible) and settings.method not in ("auto", "montecarlo"):
            raise NotExact(pair, found.reason)
        return found

    plans = {pair: allowed(pair, _plan(case, pair, find)) for pair in case.question.pairs}
    costs = {pair: plan.seconds for pair, plan in plans.items() if not isinstance(plan, NotEligible)}
    plans |= over_budget(costs, settings)
    return [
        plan if isinstance(plan, NotEligible) else allowed(pair, _test(case, pair, plan))
        for pair, plan in plans.items()
    ]


def _plan(case: Case, pair: Pair, find: Finder) -> Plan:
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


def _find_patterns(case: Case, pair: Pair) -> Patterns | NotEligible:
    values, sizes = _outputs(case, pair)
    return find_patterns(values[0], values[1], sizes)


def _find_choices(case: Case, pair: Pair) -> Choices | NotEligible:
    values, sizes = _outputs(case, pair)
    return find_choices(int(sizes[0]), 2 * int(sizes[0]), values.shape[2])


def _outputs(case: Case, pair: Pair) -> Outputs:
    """The outputs of two systems."""
    outputs = case.units.outputs
    assert outputs is not None
    return outputs._replace(values=outputs.values[list(pair)])


def exchanged_law(case: Case, pair: Pair, seconds: float) -> tuple[np.ndarray, np.ndarray] | None:
    """All deltas that exchanges can give, and their chances, each `[value]`; None if it takes longer (nominal).

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    plan = _plan(case, pair, _find_patterns if case.settings.design == "crossed" else _find_choices)
    if isinstance(plan, NotEligible) or plan.seconds > seconds:
        return None
    return (np.zeros(1), np.ones(1)) if _nothing_varies(plan) else _law(case, pair, plan)[:2]


def _nothing_varies(plan: Patterns | Choices) -> bool:
    return isinstance(plan, Patterns) and not plan.varying.size


def _test(case: Case, pair: Pair, plan: Patterns | Choices) -> Outcome | NotEligible:
    if _nothing_varies(plan):
        return Outcome(1.0, 0.0, "exact", "no output varies within a unit", None, 0.0)
    settings = case.settings
    asked = Criterion(*case.question.observed([pair]), settings.alternative, settings.mid_p)
    found = chances_p(*_law(case, pair, plan), asked)
    if isinstance(plan, Choices):
        reason = f"all {plan.number:,} exchanges of whole runs"
    elif found.p_value < SMALLEST_DP:
        return NotEligible("the p-value is too small for sums of probabilities")
    else:
        names = ", ".join(case.metric.stat_names[stat] for stat in plan.varying)
        reason = f"all exchanges of outputs ({names})"
    return Outcome(found.p_value, found.log10_p, "exact", reason, None, found.error_bound)


def _law(case: Case, pair: Pair, plan: Patterns | Choices) -> tuple[np.ndarray, np.ndarray, float]:
    """Deltas and their chances, each `[value]`, and a bound on the relative error of a chance.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    both = case.units.totals[pair[0]] + case.units.totals[pair[1]]
    if isinstance(plan, Choices):
        both_runs = np.concatenate(whole_runs(_outputs(case, pair)).values)
        of_a = chosen_sums(both_runs, len(both_runs) // 2).astype(np.float64)
        chances, error = np.full(plan.number, 1.0 / plan.number), 0.0
    else:
        sums, chances, error = sum_law(plan)
        # Of the statistics that do not vary within units, both systems have the same, whatever is exchanged.
        of_a = np.tile(both / 2.0, (len(sums), 1))
        of_a[:, plan.varying] = sums
    first, second = case.scores(np.stack([of_a, both - of_a]))
    with np.errstate(all="ignore"):
        deltas = first - second
    check_finite(deltas[None], [pair])
    return deltas, chances, error
