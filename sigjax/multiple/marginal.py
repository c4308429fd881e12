"""The exact law under swaps of the statistic of each pair, where it can be had: what `minp` judges resamples by."""

from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.plan import Plan
from sigjax.exact.signs import law_seconds, sign_law
from sigjax.permutation.exact import exact_budget, pair_deltas, plan_exact
from sigjax.resample.tally import statistic
from sigjax.testing.outcome import Case, NotFinite, Pair

RESOLUTION = 1e-9
"""Tails of laws closer than this are ties: far below what any number of resamples resolves, and above rounding."""


class Marginal(NamedTuple):
    """The law of the statistic of a pair, which is large where delta is extreme."""

    values: np.ndarray
    """[value] ascending."""
    tails: np.ndarray
    """[value]: the probability of a statistic at least as large."""

    def p_values(self, statistics: np.ndarray, rounding: float) -> np.ndarray:
        """The p-values `[...]` of statistics `[...]`; those within `rounding` of each other are ties.

        Example:
            >>> Marginal(np.array([0.0, 1.0]), np.array([1.0, 0.25])).p_values(np.array([1.0, 0.0]), 1e-12)
            array([0.25, 1.  ])
        """
        place = np.searchsorted(self.values, statistics - rounding, side="left")
        return self.tails[np.minimum(place, len(self.tails) - 1)]


def marginal_laws(case: Case) -> dict[Pair, Marginal]:
    """The laws of the pairs that are tested exactly and have few enough values, as far as the budget goes.

    The budget is that of the exact tests; the cheapest laws come first.
    """
    plans = {
        pair: plan for pair, plan in plan_exact(case, case.question.pairs).items() if not isinstance(plan, NotEligible)
    }
    seconds = {pair: law_seconds(plan.lattice) for pair, plan in plans.items() if plan.way != "bracket"}
    found, left = {}, exact_budget(case.settings)
    for pair in sorted(seconds, key=lambda pair: seconds[pair]):
        left -= seconds[pair]
        if left < 0.0:
            break
        if (law := _marginal(case, pair, plans[pair])) is not None:
            found[pair] = law
    return found


def _marginal(case: Case, pair: Pair, plan: Plan) -> Marginal | None:
    """The law of a pair; None where its score is undefined for some sum, which a test need not meet."""
    law = sign_law(plan.lattice)
    try:
        (deltas,) = pair_deltas(case, [pair], {pair: plan})(np.zeros(1, np.int64), law.values[None])
    except NotFinite:
        return None
    statistics = statistic(deltas, case.settings.alternative)
    order = np.argsort(statistics)
    return Marginal(statistics[order], np.cumsum(law.chances[order][::-1])[::-1])
