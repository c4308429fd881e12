r"""Westfall-Young step-down minP: p-values of all pairs adjusted together, each pair by its own law under swaps.

The statistic of a pair on a resample is its p-value there. So pairs count alike whatever the laws of their deltas are:
no standard deviation is needed, and a pair with a skewed or coarse law is not over- or underrated, as by `maxt` it may
be. With the pairs in ascending order of p, $e_j$ is the number of K resamples on which $\min_{k \ge j} p^*_k \le p_j$,
and the adjusted p-value is $\max_{i \le j} (e_i + 1) / (K + 1)$.

*Exact laws.* Where a pair is tested exactly and its law has few enough values (see `exact_laws`), the p-values of the
resamples and of the data are those of the law. Then chance only decides which resamples are drawn, and adjusted
p-values are those of complete enumeration up to the error of a share of K.

*Other pairs.* The p-value is a rank: the share, of the K + 1 deltas of the pair (those of the resamples and the
observed one), that is at least as extreme, ties included. For m such pairs with continuous laws no adjusted p-value is
much below m / (K + 1), so K must be large. Where laws are coarse, two pairs may attain the same p-value, and which of
the two shares is the smaller is mere chance, but decides whether all that ties with p_j is counted. So what cannot be
told from a tie is one: where the first share of a pair above p_j is within `_ERRORS` standard errors of it, its
resamples count too. Adjusted p-values then come near those of complete enumeration from above as K grows.

What it bounds, and under which conditions, is as for `maxt`: the K + 1 values of every pair, and so their p-values, are
exchangeable under the null hypotheses, and to count more resamples only makes adjusted p-values larger.

With ranks the counts are no sum of independent hits, so no binomial interval says what infinitely many resamples would
decide. Ranks and scores are NumPy's, from the sums of all resamples, so that they are alike on every device.

References: Westfall and Young (1993), "Resampling-based multiple testing", algorithm 2.8; Ge, Dudoit and Speed (2003),
"Resampling-based multiple testing for microarray data analysis", section 3.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.plan import Plan
from sigjax.exact.signs import law_seconds, sign_law
from sigjax.multiple.maxt import StepDown, Swapped, num_columns, step_down, swapped
from sigjax.permutation.exact import exact_budget, pair_deltas, plan_exact
from sigjax.records import InputError
from sigjax.resample.engine import Run
from sigjax.resample.sampling import pieces_of
from sigjax.resample.tally import statistic
from sigjax.run.host import fits, gib, memory_for
from sigjax.testing.problem import Case, NotFinite, Pair

RESOLUTION = 1e-9
"""Tails of laws closer than this are ties: far below what any number of resamples resolves, and above rounding."""
_ERRORS = 5.0
"""Standard errors of a share: that of a tie is this much larger than the other in 1 of 5,000 cases, if independent."""


class ExactLaw(NamedTuple):
    """The law of the statistic of a pair, which is large where delta is extreme."""

    values: np.ndarray
    """[value] ascending."""
    tails: np.ndarray
    """[value]: the probability of a statistic at least as large."""

    def p_values(self, statistics: np.ndarray, rounding: float) -> np.ndarray:
        """The p-values `[...]` of statistics `[...]`; those within `rounding` of each other are ties.

        Example:
            >>> ExactLaw(np.array([0.0, 1.0]), np.array([1.0, 0.25])).p_values(np.array([1.0, 0.0]), 1e-12)
            array([0.25, 1.  ])
        """
        place = np.searchsorted(self.values, statistics - rounding, side="left")
        return self.tails[np.minimum(place, len(self.tails) - 1)]


def minp(cases: Sequence[Case], run: Run) -> StepDown:
    """What step-down minP counts over the pairs of one or several metrics.

    Raises:
        NotFinite: a metric gave NaN or infinity.
        InputError: the memory is too small for the sums of all resamples.
    """
    _check_memory(cases, run)
    together = swapped(cases, run)
    if state := run.stage.state():
        return step_down(state.arrays["exceed"], state.arrays["order"])
    laws = {(metric, pair): law for metric, case in enumerate(cases) for pair, law in exact_laws(case).items()}
    sums = _all_sums(together, run)

    def ranked(hypothesis: int) -> _Ranked:
        metric, place = together.places[hypothesis]
        return _ranked(together, sums, hypothesis, laws.get((metric, cases[metric].question.pair(place))))

    observed = np.array([ranked(hypothesis).observed for hypothesis in range(len(together.places))])
    order = np.argsort(-observed, kind="stable")
    smallest, exceed = np.full(run.resamples, np.inf), np.zeros(len(order), np.int64)
    for rank, hypothesis in enumerate(order.tolist()):
        np.minimum(smallest, ranked(hypothesis).least, out=smallest)
        exceed[rank] = np.count_nonzero(smallest <= observed[hypothesis] + RESOLUTION)
    run.stage.finish(run.resamples, exceed=exceed, order=order)
    return step_down(exceed, order)


class _Ranked(NamedTuple):
    """One hypothesis, by p-values."""

    observed: float
    least: np.ndarray
    """[resample]: the p-value there, or from which observed p-value on a tie with it is possible."""


def _ranked(together: Swapped, sums: Sequence[np.ndarray], hypothesis: int, law: ExactLaw | None) -> _Ranked:
    metric, place = together.places[hypothesis]
    pairs, alternative = together.pairs[metric], together.cases[metric].settings.alternative
    observed, rounding = statistic(pairs.delta[place], alternative), float(pairs.tolerance[place])
    every = np.concatenate([[observed], together.statistics(sums, hypothesis)])
    if law is not None:
        p_values = law.p_values(every, rounding)
        return _Ranked(float(p_values[0]), p_values[1:])
    at_least, least = ranks(every, rounding)
    return _Ranked(float(at_least[0]) / len(every), least[1:] / len(every))


def ranks(values: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """How many of the values `[value]` are at least as large as each, and from which such number on a tie is possible.

    The first counts the value itself and ties up to `rounding`. The second is this less `_ERRORS` standard errors, but
    at least half of a resample more than the number of larger values.

    Example:
        >>> ranks(np.array([0.5, 0.1, 0.9, 0.5]), 1e-12)
        (array([3, 4, 1, 3]), array([1.5, 4. , 0.5, 1.5]))
    """
    order, size = np.argsort(values), len(values)
    ascending, at_least, larger = values[order], np.empty(size, np.int64), np.empty(size, np.int64)
    at_least[order] = size - np.searchsorted(ascending, ascending - rounding, side="left")
    larger[order] = size - np.searchsorted(ascending, ascending + rounding, side="right")
    error = np.sqrt(at_least * (1.0 - at_least / size))
    return at_least, np.maximum(larger + 0.5, at_least - _ERRORS * error)


def _all_sums(together: Swapped, run: Run) -> list[np.ndarray]:
    """Sums `[column, resample]` of each metric on all resamples, of which each process makes a part."""
    found = [
        np.empty((1 + max(int(pairs.left.max()), int(pairs.right.max())), run.resamples)) for pairs in together.pairs
    ]
    for piece in pieces_of(run.part(range(run.resamples)), num_columns(together.cases)):
        for values, sums in zip(found, together.sums(piece), strict=True):
            values[:, piece.start : piece.resamples] = sums[: len(values)]
    for values in found:
        run.share.complete(values)
    return found


def _check_memory(cases: Sequence[Case], run: Run) -> None:
    """Refuse what cannot be held: ranks need all resamples of a pair at once."""
    needed = gib((num_columns(cases), run.resamples))
    if not fits(needed, cases[0].settings):
        raise InputError(
            f"correction minp ranks all {run.resamples:,} resamples of each pair; give --memory "
            f"{memory_for(needed):g} (GiB) or more, fewer resamples, or --correction maxt"
        )


def exact_laws(case: Case) -> dict[Pair, ExactLaw]:
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
        if (law := _exact_law(case, pair, plans[pair])) is not None:
            found[pair] = law
    return found


def _exact_law(case: Case, pair: Pair, plan: Plan) -> ExactLaw | None:
    """The law of a pair; None where its score is undefined for some sum, which a test need not meet."""
    sums, chances = sign_law(plan.lattice)
    try:
        (deltas,) = pair_deltas(case, [pair], {pair: plan})(*sums.T[:, None])
    except NotFinite:
        return None
    statistics = statistic(deltas, case.settings.alternative)
    order = np.argsort(statistics)
    return ExactLaw(statistics[order], np.cumsum(chances[order][::-1])[::-1])
