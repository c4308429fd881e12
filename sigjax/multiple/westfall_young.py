r"""Westfall-Young step-down maxT: p-values of all pairs adjusted together, from the same swaps.

The statistic of a pair is $t = |\delta| / s$ (with its sign in one-sided tests), where s is the standard deviation that
delta has under swaps, to first order:

$$s^2 = \sum_i \big(\mathrm{score}(M + D_i / 2) - \mathrm{score}(M - D_i / 2)\big)^2, \quad D_i = s_{a,i} - s_{b,i},
\quad M = (T_a + T_b) / 2$$

A swap of unit i changes the sign of $D_i$ and leaves M alone, so s is the same on every resample; for means this is
exact. Dividing by it lets a pair of alike systems, whose delta varies little, count as much as a pair of unlike ones.

With the pairs in descending order of t, $e_j$ is the number of K resamples on which $\max_{k \ge j} t^*_k \ge t_j$, and
the adjusted p-value is $\max_{i \le j} (e_i + 1) / (K + 1)$.

*What it bounds.* A resample swaps the same units of every pair. Take the pairs whose null hypotheses are true: if
swapping any unit, of all of them together, leaves the joint law of their differences as it is (symmetry about 0), the
familywise error is at most alpha, for every K and whatever holds of the other pairs, because a maximum over more pairs
is never smaller (Romano and Wolf 2005). For one pair that is just its null hypothesis. For several it asks for more,
and where it does not hold, the error is alpha but for what vanishes with the number of units: on the resamples the
deltas have the covariances that they have.

*Several metrics.* The statistics have no unit, so metrics of any scale go together. Units, strata and seed are the same
for all metrics of a report, and so are the swaps. Sums then come from the device, and scores from NumPy.

References: Westfall and Young (1993), "Resampling-based multiple testing", algorithm 4.1; Romano and Wolf (2005),
"Exact and approximate stepdown methods for multiple hypothesis testing".

Westfall-Young step-down minP: p-values of all pairs adjusted together, each pair by its own law under swaps.

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

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import law_seconds, sign_law
from sigjax.records import InputError
from sigjax.resample.engine import Problem, Run, count_swaps, deltas_of, pieces_of, swapped_sums
from sigjax.resample.tally import Ladder, Pairs, statistic
from sigjax.resample.units import norms
from sigjax.run.host import fits, gib, memory_for
from sigjax.testing.exact import Plan, exact_budget, pair_deltas, plan_exact
from sigjax.testing.permutation import add_up, swap_problem
from sigjax.testing.problem import Case, NotFinite, Pair, check_finite

_ROUNDING = 1e-12
"""Statistics of two pairs that differ by less than this part of themselves are ties: the scales are rounded, too. For
few units the rounding of deltas is more than that; for many, a tie with another pair is no resample's."""
_CACHED = 2**20
"""Numbers of units that are scored together."""


class StepDown(NamedTuple):
    """What a step-down procedure counts over a family; every field `[pair]`, metric by metric."""

    exceed: np.ndarray
    """int64: on how many resamples the most extreme of this pair and all less extreme ones reaches this pair."""
    order: np.ndarray
    """Positions of the pairs, the least extreme one first."""

    def adjusted(self, p_values: np.ndarray) -> np.ndarray:
        """The largest of the p-values `[pair]` of the steps down to each pair, `[pair]`.

        Example:
            >>> StepDown(np.array([0, 1, 4]), np.array([2, 0, 1])).adjusted(np.array([0.1, 0.2, 0.5]))
            array([0.2, 0.2, 0.5])
        """
        found = np.empty(len(p_values))
        found[self.order] = np.maximum.accumulate(p_values[self.order][::-1])[::-1]
        return found


def maxt(case: Case, run: Run) -> StepDown:
    """What step-down maxT counts over the pairs of one metric, all on the device.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: a delta that single units do not change.
    """
    question, alternative = case.question, case.settings.alternative
    problem, packed = swap_problem(case, slice(None), run)
    steps = standardised(case)
    order, limit = in_order(steps)
    left, right, totals_a, totals_b = (part[order] for part in packed[:4])
    ladder = Ladder(left, right, totals_a, totals_b, steps.scale[order], limit)

    def pieces(part: Run) -> Iterator[tuple[int, np.ndarray]]:
        found = count_swaps(problem, ladder, part, score=case.metric.score, alternative=alternative)
        for begin, exceed, finite in found:
            check_finite(finite, question.members[order])
            yield begin, exceed

    return step_down(add_up(pieces, len(order), 0, run.resamples, run), order)


class Steps(NamedTuple):
    """What makes the statistic of each pair; every field `[pair]` float64."""

    observed: np.ndarray
    """The observed statistic."""
    scale: np.ndarray
    """1 / standard deviation of delta under swaps, or 0 where there is none."""
    rounding: np.ndarray
    """Rounding error of a statistic."""


def standardised(case: Case, metric: int = 0) -> Steps:
    """The statistics of all pairs of a metric, whose position among several is `metric`.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: a delta that single units do not change.
    """
    question, deviations = case.question, _deviations(case, metric)
    with np.errstate(divide="ignore"):
        scale = np.where(deviations > 0.0, 1.0 / deviations, 0.0)
    return Steps(statistic(question.deltas, case.settings.alternative) * scale, scale, question.rounding * scale)


def in_order(steps: Steps) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the pairs, ascending by statistic, and in this order what a maximum must reach."""
    order = np.argsort(steps.observed, kind="stable")
    # A maximum may come from any pair so far, and is as uncertain as that one.
    rounding = np.maximum.accumulate(steps.rounding[order])
    observed = steps.observed[order]
    return order, observed - rounding - _ROUNDING * abs(observed)


def step_down(counts: np.ndarray, order: np.ndarray) -> StepDown:
    """Counts by pair, from counts in ascending order of the statistics.

    Example:
        >>> step_down(np.array([4, 0, 1]), np.array([2, 0, 1])).exceed
        array([0, 1, 4])
    """
    exceed = np.empty_like(counts)
    exceed[order] = counts
    return StepDown(exceed, order)


def _deviations(case: Case, metric: int) -> np.ndarray:
    """Standard deviations `[pair]` of delta under swaps, to first order; 0 where they are mere rounding."""
    question = case.question
    deviations = np.array([_deviation(case, pair) for pair in question.pairs])
    check_finite(deviations, question.members, metric)
    varies = deviations > question.rounding
    if (~varies & (np.abs(question.deltas) > question.rounding)).any():
        raise InputError(
            f"correction maxt needs a score that single instances change, and {case.metric.name!r} is none; use holm"
        )
    return np.where(varies, deviations, 0.0)


def _deviation(case: Case, pair: Pair) -> float:
    units, (a, b) = case.units, pair
    middle, num_units = (units.totals[a] + units.totals[b]) / 2.0, units.values.shape[1]
    width = max(1, _CACHED // units.values.shape[2])
    steps = np.empty(num_units)
    for start in range(0, num_units, width):
        part = slice(start, start + width)
        half = (units.values[a, part] - units.values[b, part]) / 2.0
        high, low = case.scores(np.stack([middle + half, middle - half]))
        with np.errstate(all="ignore"):
            steps[part] = high - low
    return float(norms(steps))


class Swapped(NamedTuple):
    """All pairs of several metrics, and what swaps them."""

    cases: Sequence[Case]
    problems: list[Problem]
    """[metric]"""
    pairs: list[Pairs]
    """[metric]"""
    places: list[tuple[int, int]]
    """[hypothesis] (metric, position of the pair), metric by metric."""

    def sums(self, run: Run) -> list[np.ndarray]:
        """Sums `[column, resample]` of each metric, on the same swaps."""
        *others, last = self.problems
        quiet = run._replace(advance=lambda done: None)
        return [*(swapped_sums(problem, quiet) for problem in others), swapped_sums(last, run)]

    def statistics(self, sums: Sequence[np.ndarray], hypothesis: int) -> np.ndarray:
        """The statistic of one hypothesis, `[resample]`: large where delta is extreme.

        Raises:
            NotFinite: the metric gave NaN or infinity.
        """
        metric, place = self.places[hypothesis]
        case, problem = self.cases[metric], self.problems[metric]
        deltas = deltas_of(sums[metric], self.pairs[metric], place, problem.divisors, case.metric.score)
        check_finite(deltas[None], [case.question.pair(place)], metric)
        return statistic(deltas, case.settings.alternative)


def num_columns(cases: Sequence[Case]) -> int:
    """The largest number of sums per resample, over all metrics."""
    return sum(len(case.units.values) * case.units.values.shape[2] for case in cases)


def swapped(cases: Sequence[Case], run: Run) -> Swapped:
    """All pairs of these metrics, to be swapped together."""
    found = [swap_problem(case, slice(None), run) for case in cases]
    places = [(metric, place) for metric, case in enumerate(cases) for place in range(len(case.question.members))]
    return Swapped(cases, [problem for problem, _ in found], [pairs for _, pairs in found], places)


def joint_maxt(cases: Sequence[Case], run: Run) -> StepDown:
    """What step-down maxT counts over the pairs of several metrics.

    Raises:
        NotFinite: a metric gave NaN or infinity.
        InputError: a delta that single units do not change.
    """
    together = swapped(cases, run)
    of_metrics = [standardised(case, metric) for metric, case in enumerate(cases)]
    steps = Steps(*map(np.concatenate, zip(*of_metrics, strict=True)))
    order, limit = in_order(steps)

    def pieces(part: Run) -> Iterator[tuple[int, np.ndarray]]:
        for piece in pieces_of(part, num_columns(cases)):
            sums, exceed = together.sums(piece), np.zeros(len(order), np.int64)
            largest = np.full(piece.resamples - piece.start, -np.inf)
            for rank, hypothesis in enumerate(order.tolist()):
                found = together.statistics(sums, hypothesis) * steps.scale[hypothesis]
                np.maximum(largest, found, out=largest)
                exceed[rank] = np.count_nonzero(largest >= limit[rank])
            yield piece.start, exceed

    return step_down(add_up(pieces, len(order), 0, run.resamples, run), order)


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
