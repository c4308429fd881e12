"""The permutation test that exchanges whole runs, without sampling.

A run is a trained model: good or bad on all instances at once. Where two training procedures do not differ, of the 2 R
models that they made every R are as likely to be the first one's, whatever the instances are and however a model's
results on them depend on each other. So the test is that of two samples of R, the results of a model being one of their
members. Reference: Pitman (1937), "Significance tests which may be applied to samples from any populations".
"""

from __future__ import annotations

import numpy as np

from sigjax.exact.choices import Choices, find_choices, half_sums
from sigjax.exact.lattice import NotEligible
from sigjax.permutation.crossed import exchanged_outcomes, exchanged_p
from sigjax.testing.outcome import Case, Outcome, Pair
from sigjax.units.outputs import whole_runs


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
        found = exchanged_p(case, pair, of_a, np.full(plan.number, 1.0 / plan.number), 0.0)
        reason = f"all {plan.number:,} exchanges of whole runs"
        return Outcome(found.p_value, found.log10_p, "exact", reason, None, found.error_bound)

    return exchanged_outcomes(case, lambda case, pair: plan, outcome)
