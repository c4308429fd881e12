"""Permutation tests: without sampling, and by Monte Carlo (approximate randomization).

**Paired**: under the null hypothesis, the two outputs of a unit may be swapped. Tests without sampling are planned
first, within a budget of time (`exact.plans`). By Monte Carlo, all pairs are tested on the same random swaps.
Reference: Yeh (2000), section 3.

**Studentized**: the same swaps, with z = delta / s.e. in place of delta (`resample.tally` has the algebra). Any
statistic keeps the level if results are exchangeable. But systems can be equally good and still differ in other ways
(for example, high precision and high recall). Then delta can have another variance over swaps than over test sets. In
contrast, z is about standard normal over both, so p is right if there are many units. For means over units with equally
many instances, z grows with delta. So p is the same as for delta, and every test of delta can be used, even without
sampling. References: Janssen (1997), "Studentized permutation tests for non-i.i.d. hypotheses and the generalized
Behrens-Fisher problem"; Chung and Romano (2013).

**Repeated runs**: outputs are exchanged within units (crossed), or whole runs are exchanged (models). In the design
"models", a run is a trained model, which is good or bad on all instances at once. If two training procedures do not
differ, any R of their 2 R models are equally likely to come from the first procedure. This holds for any instances, and
for any dependence between the results of a model. So this is a two-sample test with R models per sample. Reference:
Pitman (1937), "Significance tests which may be applied to samples from any populations".

**Unpaired**: the test reassigns the units to the two systems: in all possible ways if that is quick, else at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sigjax.exact.board import Board, eligible_pairs, make_board, pair_cost
from sigjax.exact.board_tests import NEARLY_ROUNDED, board_p_values
from sigjax.exact.choices import chosen_sums, exchange_distribution, find_choices, find_patterns, sample_distribution
from sigjax.exact.digits import MOST_EXACT_SIGNS, PValue, has_small_grid, nearest_p, reference_p, round_p_values
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice
from sigjax.exact.null import BOUNDS_WIDTH, MOST_LISTED_SIGNS, Delta, p_of_probabilities
from sigjax.exact.plans import NOT_KNOWN, SMALLEST_DP, Pair, Plan, Scoring, plan_pairs, planned_p
from sigjax.metrics.ratios import is_monotone
from sigjax.records import Alternative, Column, Columns
from sigjax.resample.draws import draws_from_strata
from sigjax.resample.engine import ScaledProjection, count_swaps, swapped_sums
from sigjax.resample.extreme import Extreme
from sigjax.resample.projection import Projection, choice, crossed_projection, distinct_columns, swap_projection
from sigjax.resample.tally import Pairs, StudentizedPairs, studentized_deltas
from sigjax.resample.units import Outputs, whole_runs
from sigjax.run.backend import most_bytes
from sigjax.run.context import Context, Run
from sigjax.run.costs import CHOSEN_UNIT, SIGN_TEST, Cost
from sigjax.testing.problem import (
    EquivalentPairs,
    ExceedCounter,
    NotExact,
    SumsProblem,
    check_finite,
    exact_budget,
    exact_columns,
    montecarlo_p,
    over_budget,
    sampled_columns,
)
from sigjax.testing.special import log_upper_half

STUDENTIZED = "a studentized statistic is sampled"


_FEW_TRIALS = 50
"""Largest number of differences for which the sign test computes numbers of outcomes exactly, in int64."""
_AS_ASKED = NotEligible("as asked")
_TOO_SMALL = "the p-value is too small for sums of probabilities"


def exact_permutation(problem: SumsProblem, context: Context) -> Columns:
    """The result columns of the exact tests of all pairs, with the reason if a pair has no exact test."""
    if problem.exchanges != "units":
        return exchanged_tests(problem, context)
    if problem.studentizes:
        if problem.settings.method not in ("auto", "montecarlo"):
            raise NotExact(problem.hypotheses.pair(0), STUDENTIZED)
        return _without_test(STUDENTIZED, len(problem.hypotheses.members))
    tested = sign_tests(problem, problem.equivalent_pairs)
    if tested is None:
        tested = exact_table(problem, problem.hypotheses.members[problem.equivalent_pairs.first], context)
    equivalent = problem.equivalent_pairs
    return tested if len(equivalent.first) == len(equivalent.which) else tested.at(equivalent.which)


def _without_test(reason: str, count: int) -> Columns:
    return exact_columns(np.full((count, 3), np.nan), Column.constant(reason, count))


def exact_table(problem: SumsProblem, pairs: np.ndarray, context: Context) -> Columns:
    """The result columns of the exact tests of some pairs `[pair, 2]`, with the reason if a pair has no exact test.

    Pairs whose differences take few values are tested together, as a board: they share their distinct differences, so
    that one matrix product tests all of them (see `exact.board`). Other pairs are tested one by one.
    """
    if problem.settings.method == "montecarlo":
        return _without_test(_AS_ASKED.reason, len(pairs))
    served = _board_of(problem, pairs)
    if served is None:
        return exact_tests(problem, _listed(pairs), context)
    board, which = served
    rest, cost = np.delete(np.arange(len(pairs)), which), _pair_cost(problem, board)
    if not len(rest) and (cost * len(which)).seconds <= exact_budget(problem.settings):
        plans, refused = dict[Pair, Plan | NotEligible](), np.zeros(len(which), bool)
    else:
        together = _listed(pairs[which])
        plans = plan_exact(problem, _listed(pairs[rest]), dict.fromkeys(together, cost))
        refused = np.array([pair in plans for pair in together], bool)
    own, unpaid = which[~refused], which[refused]
    if not len(own):
        return exact_tests(problem, _listed(pairs), context, plans)
    columns, open_ = _on_board(problem, board.subset(np.flatnonzero(~refused)), pairs[own], context)
    settings = replace(problem.settings, budget=math.inf)
    plans |= plan_exact(replace(problem, settings=settings), _listed(pairs[own[open_]]))
    order = np.concatenate([np.delete(own, open_), rest, unpaid, own[open_]])
    alone = exact_tests(problem, _listed(pairs[order[len(own) - len(open_) :]]), context, plans)
    return Columns.joined([columns, alone]).at(np.argsort(order, kind="stable"))


def _listed(pairs: np.ndarray) -> list[Pair]:
    return [(a, b) for a, b in pairs.tolist()]


_FEWEST_PAIRS = 3
"""Smallest number of pairs that are tested together, on a board."""
_MANY_PAIRS = 500
"""Smallest number of pairs that are tested together if there are few units. Fewer pairs are tested one by one, by
listing or counting all signs: 10 pairs with 18 units then take 7 instead of 27 ms."""


def _board_of(problem: SumsProblem, pairs: np.ndarray) -> tuple[Board, np.ndarray] | None:
    """Return the board of all pairs that are tested together, and the positions of these pairs; None if there are none.

    A board is a set of pairs that share their distinct differences, so that one matrix product tests all of them.
    """
    wanted = problem.settings.method in ("auto", "exact") and problem.units.exact
    few = len(pairs) < (_MANY_PAIRS if problem.units.values.shape[1] <= MOST_LISTED_SIGNS else _FEWEST_PAIRS)
    board = None if few or not wanted else make_board(problem.units.values, pairs)
    if board is None:
        return None
    served = eligible_pairs(board)
    if is_monotone(problem.metric.score):
        served &= _are_monotone(problem, pairs, board.counts @ np.abs(board.rows) @ np.abs(board.basis), board.axes)
    which = np.flatnonzero(served)
    return (board.subset(which), which) if len(which) >= _FEWEST_PAIRS else None


def _pair_cost(problem: SumsProblem, board: Board) -> Cost:
    return pair_cost(board, problem.units.values.shape[1], monotone=is_monotone(problem.metric.score))


def _on_board(problem: SumsProblem, board: Board, pairs: np.ndarray, context: Context) -> tuple[Columns, np.ndarray]:
    """Return the result columns of pairs with an accurate joint test, and the positions of all other pairs.

    `board` has the pairs that are tested together, which share their distinct differences.
    """

    def scored(some: np.ndarray) -> Delta:
        return pair_deltas(problem, pairs[some], board.basis[None])

    backend = context.sized(_pair_cost(problem, board) * len(pairs)).backend
    device = backend.platform if backend.platform == "gpu" or context.device == "cpu" else None
    criterion = _criterion(problem, pairs)
    p_values, found = board_p_values(board, scored, criterion, device, monotone=is_monotone(problem.metric.score))
    closed = ~np.isnan(p_values[0]) & (found.error < BOUNDS_WIDTH)
    names, open_ = problem.metric.stat_names, np.flatnonzero(~closed)
    stats = ", ".join(names[stat] for stat in np.flatnonzero(board.basis.any(axis=0)))
    words = f"{'one statistic differs' if board.axes == 1 else 'two statistics differ'} ({stats})"
    near = open_[found.error[open_] < NEARLY_ROUNDED]
    for row in near.tolist():
        a, b = pairs[row].tolist()
        lattice = pair_lattice(problem.units.values[a], problem.units.values[b], names)
        assert isinstance(lattice, Lattice)
        score, one = pair_deltas(problem, [(a, b)], lattice.basis[None]), _criterion(problem, [(a, b)])
        log_p, error = float(found.log_p[row]), float(found.error[row])
        enough = has_small_grid(lattice, log_p)
        p_values[:, row] = reference_p(lattice, score, one, log_p) if enough else nearest_p(log_p, error)
    closed[near] = True
    reasons = Column.constant(words, int(closed.sum()))
    return exact_columns(p_values[:, closed].T, reasons), np.flatnonzero(~closed)


def exact_tests(
    problem: SumsProblem,
    pairs: Sequence[Pair],
    context: Context,
    plans: Mapping[Pair, Plan | NotEligible] | None = None,
) -> Columns:
    """Carry out the exact tests of some pairs, and return the result columns.

    `plans` are the plans of the pairs; without them, they are made here. If the error bound of a p-value is too large,
    the pair gets no p-value, but a text that says so.
    """
    plans = plan_exact(problem, pairs) if plans is None else plans

    def test(pair: Pair) -> tuple[PValue, str]:
        plan = plans[pair]
        if isinstance(plan, NotEligible):
            return NOT_KNOWN, plan.reason
        return planned_p(plan, _scoring(problem, pair, plan), problem.metric.stat_names)

    methods = (plan.method if isinstance(plan := plans[pair], Plan) else "exact" for pair in pairs)
    return _one_by_one(problem, pairs, test, context).with_columns({"method": Column.of(methods)})


def _one_by_one(
    problem: SumsProblem, pairs: Sequence[Pair], test: Callable[[Pair], tuple[PValue, str]], context: Context
) -> Columns:
    """Call `test` for each pair, and return the result columns.

    `test` returns a p-value (NaN if there is no exact test), and a text that says why there is an exact test, or why
    not.
    """
    p_values, reasons = list[PValue](), list[str]()
    with context.progress_bar("exact tests", len(pairs)) as advance:
        for pair in pairs:
            p_value, reason = test(pair)
            p_values.append(p_value)
            reasons.append(reason)
            advance(len(reasons))
    for pair, p_value, reason in zip(pairs, p_values, reasons, strict=True):
        if math.isnan(p_value[0]):
            _require(problem, {pair: NotEligible(reason)})
    return exact_columns(p_values, Column.of(reasons))


def _scoring(problem: SumsProblem, pair: Pair, plan: Plan) -> Scoring:
    reach = plan.lattice.reach[None] @ np.abs(plan.lattice.basis)
    monotone = bool(_are_monotone(problem, np.array([pair]), reach, plan.lattice.axes)[0])
    return Scoring(pair_deltas(problem, [pair], plan.lattice.basis[None]), _criterion(problem, [pair]), monotone)


def _are_monotone(problem: SumsProblem, pairs: np.ndarray, reach: np.ndarray, axes: int) -> np.ndarray:
    """Whether the score of each pair is monotone in every sum that varies over swaps, `[pair]` bool.

    `axes` is the number of sums that vary: 1 or 2. If two sums vary, the result is true only if no statistic is
    negative, and if the sums that vary are positive after every swap. `reach` `[pair, stat]` bounds the absolute
    difference between the two systems' sums of each statistic, over all swaps.
    """
    if not is_monotone(problem.metric.score):
        return np.zeros(len(pairs), bool)
    if axes == 1:
        return np.ones(len(pairs), bool)
    lowest = problem.units.totals[pairs[:, 0]] + problem.units.totals[pairs[:, 1]] - reach
    return ((lowest > 0) | (reach == 0)).all(axis=1) & (problem.units.values.min() >= 0)


def sign_tests(problem: SumsProblem, pairs: EquivalentPairs) -> Columns | None:
    """Return the result columns of exact sign tests, if all differences have the same size (p is a binomial tail).

    A pair has m = b + c differences, of which b favour the first system, and c the second system. Over swaps, b has the
    binomial distribution of m fair coins, and the score is linear in b. Return None if systems differ in another way,
    if rounding might make or break ties, or if the method or the budget excludes this test.
    """
    settings, hypotheses = problem.settings, problem.hypotheses
    if pairs.counts is None or settings.method not in ("auto", "exact") or not problem.units.exact:
        return None
    in_time = (SIGN_TEST * len(pairs.counts)).seconds <= exact_budget(settings)
    if not in_time or 4.0 * max(hypotheses.tolerances) >= abs(pairs.slope):
        return None
    ahead, behind = pairs.counts.T[:: 1 if pairs.slope > 0.0 else -1]
    p_values = settled_signs(ahead, behind, settings.alternative, mid_p=settings.mid_p)
    words = ("no unit differs", f"one statistic differs ({pairs.stat_name})")
    return exact_columns(p_values.T, Column((ahead + behind > 0).astype(np.int8), None, words))


def settled_signs(
    ahead: np.ndarray, behind: np.ndarray, alternative: Alternative, *, mid_p: bool = False
) -> np.ndarray:
    """Return p-values of sign tests, their base-10 logarithms, and bounds on their errors, `[3, pair]`.

    `ahead` and `behind` `[pair]` are the numbers of positive and negative differences. If `mid_p` is true, outcomes
    exactly as extreme as the observed outcome count half. The p-values are correctly rounded.
    """
    p_values = np.array(sign_ps(ahead, behind, alternative, mid_p=mid_p))
    some = np.flatnonzero(p_values[2])
    if not len(some):
        return p_values
    log_p = p_values[1, some] * math.log(10.0)
    # These pairs have so many differences that p is not rounded to a whole number of outcomes.
    p_values[:, some] = round_p_values(log_p, p_values[2, some], np.full(len(some), MOST_EXACT_SIGNS + 1))
    known, is_open = dict[tuple[int, int], PValue](), np.isnan(p_values[0, some])
    for row, log in zip(some[is_open].tolist(), log_p[is_open].tolist(), strict=True):
        counts = int(ahead[row]), int(behind[row])
        if counts not in known:
            one, sums = np.ones((1, 1), np.int64), np.array([counts[0] - counts[1]])
            lattice = Lattice(one, np.array([sum(counts)]), sums, one)
            criterion = Extreme(sums.astype(float), np.full(1, 0.5), alternative, mid_p)
            known[counts] = reference_p(lattice, np.asarray, criterion, log)
        p_values[:, row] = known[counts]
    return p_values


def sign_ps(
    ahead: np.ndarray, behind: np.ndarray, alternative: Alternative, *, mid_p: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Exact sign tests: `ahead` and `behind` `[row]` are the numbers of positive and negative differences.

    Return three arrays `[row]`: p-values, their base-10 logarithms, and bounds on the relative errors of p (0 for up to
    50 differences). If there are no differences, p is 1. If `mid_p` is true, outcomes exactly as extreme as the
    observed outcome count half.

    >>> sign_ps(np.array([3, 2, 3, 0]), np.array([0, 2, 4, 0]), "two-sided")[0]
    array([0.25, 1.  , 1.  , 1.  ])
    """
    trials, two_sided = ahead + behind, alternative == "two-sided"
    extreme = np.maximum(ahead, behind) if two_sided else ahead if alternative == "greater" else behind
    few, outcomes = trials <= _FEW_TRIALS, _outcomes()

    def log_tail(n: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Return log p: p is the probability that at least k of n differences have the sign of these k.

        In a two-sided test, p is twice this probability, but at most 1. A one-sided p above 1/2 is computed as 1 minus
        the probability of the complement, which has more digits.
        """
        is_upper = 2 * k > n + two_sided
        log_upper = log_upper_half(n, np.where(is_upper, k, n - k + 1))
        return np.where(
            is_upper, log_upper + math.log(1 + two_sided), 0.0 if two_sided else np.log1p(-np.exp(log_upper))
        )

    def count(n: np.ndarray, k: np.ndarray) -> np.ndarray:
        return np.minimum(outcomes[n, k] << two_sided, outcomes[n, 0])

    p_value, log10_p, error = np.zeros((3, len(trials)))
    if not few.all():
        n, k = trials[~few], extreme[~few]
        log_p = log_tail(n, k)
        if mid_p:
            log_p = np.logaddexp(log_p, log_tail(n, k + 1)) - math.log(2.0)
        p_value[~few], log10_p[~few] = np.exp(log_p), log_p / math.log(10.0) + 0.0
        error[~few] = float(np.finfo(float).eps) * np.where(log_p < 0.0, 24.0 + 4.0 * np.sqrt(n) - 4.0 * log_p, 1.0)
    n, k = trials[few], extreme[few]
    counted = 2 * count(n, k)
    if mid_p:
        counted = np.where(n > 0, count(n, k) + count(n, k + 1), counted)
    p_value[few] = np.ldexp(counted.astype(np.float64), -1 - n)
    log10_p[few] = [math.log10(each) for each in p_value[few].tolist()]
    return p_value, log10_p, error


@lru_cache
def _outcomes() -> np.ndarray:
    """How many outcomes of n fair coins have k heads or more, `[n, k]` int64; 0 for k = n + 1."""
    found = np.zeros((_FEW_TRIALS + 1, _FEW_TRIALS + 2), np.int64)
    found[0, 0] = 1
    for n in range(1, _FEW_TRIALS + 1):
        found[n] = found[n - 1]
        found[n, 1:] += found[n - 1, :-1]
        found[n, 0] *= 2
    return found


def _require(problem: SumsProblem, results: Mapping[Pair, object]) -> None:
    """Raise `NotExact` for a pair without an exact test if the user chose an exact method.

    `results` has the plan of each pair's exact test, or the reason why there is none.
    """
    for pair, result in results.items():
        if isinstance(result, NotEligible) and problem.settings.method not in ("auto", "montecarlo"):
            raise NotExact(pair, result.reason)


def plan_exact(
    problem: SumsProblem, pairs: Sequence[Pair], besides: Mapping[Pair, Cost] | None = None
) -> dict[Pair, Plan | NotEligible]:
    """Return for each pair the plan of its exact test, or the reason why it has none.

    `besides` are further pairs whose costs are known. The budget must suffice for these pairs, too. The result contains
    such a pair only if its test exceeds the budget.
    """
    units, settings = problem.units, problem.settings
    if settings.method == "montecarlo":
        return dict.fromkeys(pairs, _AS_ASKED)
    names, num_bytes = problem.metric.stat_names, settings.memory * 2**30
    plans = plan_pairs(units.values, pairs, names, settings.method, rounded=not units.exact, num_bytes=num_bytes)
    _require(problem, plans)
    costs = {pair: plan.cost for pair, plan in plans.items() if isinstance(plan, Plan)}
    return plans | over_budget({**costs, **(besides or {})}, settings)


def _criterion(problem: SumsProblem, pairs: Sequence[Pair] | np.ndarray) -> Extreme:
    settings = problem.settings
    return Extreme(*problem.hypotheses.observed(pairs), settings.alternative, settings.mid_p).checked()


def pair_deltas(problem: SumsProblem, pairs: Sequence[Pair] | np.ndarray, bases: np.ndarray) -> Delta:
    """Return a function that computes the delta of each pair after a swap, from the signed sums S of the swap.

    A swap keeps the sum a* + b* of the statistics of both systems. Their difference a* - b* `[stat]` is S times a
    matrix, the basis. Its rows are axes: one or two directions in which the statistics can differ. S has one number per
    axis. `bases` are `[pair, axis, stat]`, or a single basis `[1, axis, stat]` for all pairs. The function takes one
    array `[pair, ...]` per axis, and returns deltas `[pair, ...]`. The function raises `NotFinite` if the metric is NaN
    or infinite.
    """
    systems = np.array(pairs).T
    half = 0.5 * (problem.units.totals[systems[0]] + problem.units.totals[systems[1]])
    basis = 0.5 * bases
    moved = [np.flatnonzero(of_stat.any(axis=0)) for of_stat in np.moveaxis(basis, 2, 0)]

    def delta(*axes: np.ndarray) -> np.ndarray:
        if not axes:  # identical systems
            return np.zeros((len(pairs), 1))
        # Each statistic becomes a contiguous array, since scores use statistics one by one.
        sums = np.empty((half.shape[1], 2, *np.broadcast_shapes(*(each.shape for each in axes))))
        of_pair = (slice(None), *(None,) * (axes[0].ndim - 1))
        for stat, (of_a, of_b) in enumerate(sums):
            of_a[...] = of_b[...] = half[:, stat][of_pair]
            for axis in moved[stat]:
                moves = axes[axis] * basis[:, axis, stat][of_pair]
                of_a += moves
                of_b -= moves
        of_a, of_b = problem.scores(np.moveaxis(sums, 0, -1))
        with np.errstate(all="ignore"):
            found = of_a - of_b
        check_finite(found, pairs)
        return found

    return delta


@dataclass(frozen=True, eq=False, slots=True)
class Exchange:
    """The plan of an exact test by all exchanges of outputs or runs."""

    cost: Cost
    words: str
    deltas: Callable[[], tuple[np.ndarray, np.ndarray, float]] | None
    """A function that returns three things: all deltas `[value]`, their probabilities `[value]`, and a bound on the
    relative error of a probability. None if no output varies within a unit."""
    least: float = 0.0
    """Limit for p: if p is below it, underflow may have changed p, and the pair has no exact p-value."""


def exchanged_tests(problem: SumsProblem, context: Context) -> Columns:
    """The result columns of the exact tests of all pairs, if single outputs or whole runs are exchanged."""
    pairs = problem.hypotheses.pairs
    plans = {pair: plan_exchange(problem, pair) for pair in pairs}
    _require(problem, plans)
    costs = {pair: plan.cost for pair, plan in plans.items() if isinstance(plan, Exchange)}
    plans |= over_budget(costs, problem.settings)
    return _one_by_one(problem, pairs, lambda pair: _exchanged(problem, pair, plans[pair]), context)


def exchanged_deltas(problem: SumsProblem, pair: Pair, seconds: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Return all deltas of a pair that exchanges of outputs or runs can give, and their probabilities, each `[value]`.

    Return None if there is no exact test, or if listing the deltas takes more than this many `seconds`.
    """
    plan = plan_exchange(problem, pair)
    if isinstance(plan, NotEligible) or plan.cost.seconds > seconds:
        return None
    return (np.zeros(1), np.ones(1)) if plan.deltas is None else plan.deltas()[:2]


def plan_exchange(problem: SumsProblem, pair: Pair) -> Exchange | NotEligible:
    """Plan the exact test of a pair whose outputs or runs are exchanged, or return the reason why there is none."""
    method, design, memory = problem.settings.method, problem.settings.design, problem.settings.memory
    if method == "montecarlo":
        return NotEligible("as asked")
    if method in ("dp", "tree"):
        return NotEligible(f"{method} swaps whole units, and design {design} does not")
    plan = (_plan_patterns if problem.exchanges == "outputs" else _plan_choices)(problem, pair)
    if isinstance(plan, Exchange) and plan.cost.num_bytes > memory * 2**30:
        return NotEligible(f"an exact test takes about {plan.cost.gib} GiB, more than {memory:,.3g}")
    return plan


def _exchanged(problem: SumsProblem, pair: Pair, plan: Exchange | NotEligible) -> tuple[PValue, str]:
    if isinstance(plan, NotEligible):
        return NOT_KNOWN, plan.reason
    p_value = (
        (1.0, 0.0, 0.0) if plan.deltas is None else p_of_probabilities(*plan.deltas(), _criterion(problem, [pair]))
    )
    if p_value[0] < plan.least:
        return NOT_KNOWN, _TOO_SMALL
    return p_value, plan.words


def _plan_patterns(problem: SumsProblem, pair: Pair) -> Exchange | NotEligible:
    """Plan the exact test by all exchanges of outputs within units."""
    outputs = _outputs(problem, pair)
    patterns = find_patterns(outputs.values[0], outputs.values[1], outputs.sizes)
    if isinstance(patterns, NotEligible):
        return patterns
    if not patterns.varying.size:
        return Exchange(patterns.cost, "no output varies within a unit", None)

    def deltas() -> tuple[np.ndarray, np.ndarray, float]:
        sums, chances, error = exchange_distribution(patterns)
        # Statistics that do not vary within units are equal for both systems in every exchange.
        of_a = np.tile(problem.units.totals[list(pair)].sum(axis=0) / 2.0, (len(sums), 1))
        of_a[:, patterns.varying] = sums
        return _deltas_of(problem, pair, of_a), chances, error

    names = ", ".join(problem.metric.stat_names[int(stat)] for stat in patterns.varying)
    return Exchange(patterns.cost, f"all exchanges of outputs ({names})", deltas, SMALLEST_DP)


def _plan_choices(problem: SumsProblem, pair: Pair) -> Exchange | NotEligible:
    """Plan the exact test by all exchanges of whole runs."""
    outputs = _outputs(problem, pair)
    num_runs = int(outputs.sizes[0])
    choices = find_choices(num_runs, 2 * num_runs, outputs.values.shape[2])
    if isinstance(choices, NotEligible):
        return choices

    def deltas() -> tuple[np.ndarray, np.ndarray, float]:
        of_both = np.concatenate(whole_runs(outputs).values)
        of_a = chosen_sums(of_both, len(of_both) // 2).astype(np.float64)
        return _deltas_of(problem, pair, of_a), np.full(choices.number, 1.0 / choices.number), 0.0

    return Exchange(choices.cost, f"all {choices.number:,} exchanges of whole runs", deltas)


def _outputs(problem: SumsProblem, pair: Pair) -> Outputs:
    """The outputs (results of single runs) of the two systems of a pair."""
    outputs = problem.units.outputs
    assert outputs is not None
    return replace(outputs, values=outputs.values[list(pair)])


def _deltas_of(problem: SumsProblem, pair: Pair, of_a: np.ndarray) -> np.ndarray:
    """The deltas of a pair `[value]` after exchanges that give the first system the sums `of_a` `[value, stat]`."""
    both = problem.units.totals[pair[0]] + problem.units.totals[pair[1]]
    first, second = problem.scores(np.stack([of_a, both - of_a]))
    with np.errstate(all="ignore"):
        deltas = first - second
    check_finite(deltas[None], [pair])
    return deltas


_FEW_PAIRS, _SIZE_FACTOR = 16, 8
"""Programs are compiled for a number of pairs. When the sampling of some pairs stops early, a smaller program is
compiled only after the number of remaining pairs has fallen by the factor `_SIZE_FACTOR`, and only if there were more
than `_FEW_PAIRS` pairs."""
_PRODUCTS, _LAST_PRODUCT = 2**24, 2.0**51
"""Studentized deltas are computed in blocks of pairs; a block has at most `_PRODUCTS` products of statistics. Their
sums stay below `_LAST_PRODUCT`, so that float64 is exact."""
_STEP_OF_SLOPES = 2.0**-11
"""Slopes for a standard error are central differences. Half their width is about this share of the sum of a statistic's
absolute values. This changes standard errors by 1e-6, and keeps the rounding error of a slope to 1e-12 of the slope."""
_ROUNDING_OF_Z = 2.0**-26
"""This share of the observed z (the studentized delta) is added to the tolerance within which values of z are ties. It
allows for rounding errors of the slopes on which z depends; they change z by far less."""


def swap_counter(problem: SumsProblem, tested: np.ndarray, run: Run) -> ExceedCounter:
    """Return a function that counts the swaps whose delta is at least as extreme as the observed delta.

    `tested` are the positions of pairs in the problem. The function takes indices into `tested`, the first resample and
    the end of the range of resamples, and returns counts `[pair]`.
    """
    metric, settings = problem.metric, problem.settings
    _, num_units, num_stats = problem.units.values.shape
    whole = None if problem.studentizes else swap_problem(problem, tested, run)
    at_once = max(1, len(tested) if whole else min(len(tested), _PRODUCTS // (num_units * num_stats**2)))

    def at_rows(rows: np.ndarray) -> tuple[ScaledProjection, Pairs | StudentizedPairs]:
        if whole is None:
            return studentized_problem(problem, tested[rows], run)
        return whole[0], Pairs(*(column[rows] for column in whole[1]))

    def count_some(indices: np.ndarray, start: int, end: int, run: Run) -> np.ndarray:
        (swaps, some), members = at_rows(_few_sizes(indices, at_once, run)), problem.hypotheses.members[tested[indices]]

        def pieces(subrun: Run) -> Iterator[tuple[int, np.ndarray]]:
            found = count_swaps(swaps, some, subrun, metric=metric, alternative=settings.alternative)
            for begin, exceed, finite in found:
                check_finite(finite[: len(indices)], members)
                yield begin, exceed[: len(indices)]

        return add_up(pieces, len(indices), start, end, run)

    def count(indices: np.ndarray, start: int, end: int) -> np.ndarray:
        chunks = [indices[first : first + at_once] for first in range(0, max(len(indices), 1), at_once)]
        later = (replace(run, checkpoint=run.checkpoint.at(f"chunk {index}")) for index in range(1, len(chunks)))
        return np.concatenate(
            [count_some(chunk, start, end, each) for chunk, each in zip(chunks, (run, *later), strict=True)]
        )

    return count


def studentized_problem(
    problem: SumsProblem, indices: np.ndarray, run: Run
) -> tuple[ScaledProjection, StudentizedPairs]:
    """Return the projection from swaps to sums, and the arrays that give the studentized delta of each pair.

    `indices` are the positions of the pairs in the problem.
    """
    units, hypotheses = problem.units, problem.hypotheses
    (a, b), values = hypotheses.members[indices].T, units.values
    largest = np.abs(values).max(axis=0).astype(np.float64)
    # Scale by powers of two, so that squares of sums, and all sums of products, stay below `_LAST_PRODUCT`.
    exponents = np.frexp(4.0 * np.square(largest).sum(axis=0) / _LAST_PRODUCT)[1]
    scale = 2.0 ** np.maximum(-(-exponents // 2), 0)
    first, second = (np.rint(values[systems] / scale).astype(np.int64) for systems in (a, b))
    both, apart = first + second, first - second
    products = (both[..., :, None] * apart[..., None, :]).reshape(*both.shape[:2], -1)
    columns, (of_systems, _) = distinct_columns(values - values[:1])
    more, (of_products, _) = distinct_columns(products)
    compiled, in_bytes = bool(run.backend.devices), most_bytes(run.backend)
    projection = swap_projection(
        np.concatenate([columns, more]), draws_from_strata(units.strata), compiled=compiled, most_bytes=in_bytes
    )
    sizes = np.abs(values).sum(axis=1)[[a, b]].sum(axis=0)
    count, tolerance = len(indices), hypotheses.rounding[indices]
    shape = (count, *both.shape[2:] * 2)
    packed = StudentizedPairs(
        left=of_systems[a],
        right=of_systems[b],
        totals_a=units.totals[a],
        totals_b=units.totals[b],
        delta=np.zeros(count),
        tolerance=np.zeros(count),
        rounding=tolerance,
        steps=2.0 ** np.frexp(_STEP_OF_SLOPES * np.maximum(sizes, 1.0))[1],
        lowest=np.tile(np.where((values < 0).any(axis=(0, 1)), -np.inf, 0.0), (count, 1)),
        product_scales=np.tile(scale, (count, 1)),
        columns=of_products + np.int32(len(columns)),
        crossed=products.sum(axis=1).reshape(shape).astype(np.float64),
        of_sums=np.einsum("puj,puk->pjk", both, both).astype(np.float64),
        of_differences=np.einsum("puj,puk->pjk", apart, apart).astype(np.float64),
        num_units=np.full(count, float(len(units.strata))),
    )
    with np.errstate(all="ignore"):
        nothing = np.zeros((len(columns) + len(more), 1))
        observed = np.asarray(studentized_deltas(nothing, packed, units.divisors, problem.metric.score))[:, 0]
        delta = np.abs(hypotheses.deltas[indices])
        rounded = np.where(delta > tolerance, np.abs(observed) * (tolerance / delta), np.abs(observed))
    packed = packed._replace(delta=observed, tolerance=rounded + _ROUNDING_OF_Z * np.abs(observed))
    return ScaledProjection(projection, units.divisors), packed


def swap_problem(problem: SumsProblem, indices: np.ndarray | slice, run: Run) -> tuple[ScaledProjection, Pairs]:
    """Return the projection from swaps to sums, and the arrays that give the delta of each pair after a swap.

    `indices` are the positions of the pairs in the problem.
    """
    units, hypotheses = problem.units, problem.hypotheses
    projection, of_first, of_second = _projection(problem, run)
    (a, b), delta = hypotheses.members[indices].T, hypotheses.deltas[indices]
    # The system with the higher score comes first, so that no p-value depends on the order of the data.
    turned = (delta < 0.0)[:, None]
    packed = Pairs(
        left=np.where(turned, of_second[a], of_first[a]),
        right=np.where(turned, of_first[b], of_second[b]),
        totals_a=units.totals[a],
        totals_b=units.totals[b],
        delta=delta,
        tolerance=hypotheses.rounding[indices],
    )
    return ScaledProjection(projection, units.divisors), packed


def _projection(problem: SumsProblem, run: Run) -> tuple[Projection, np.ndarray, np.ndarray]:
    """Return the projection from swaps to sums, and two arrays `[system, stat]` with indices of its columns.

    A column gives the sum of a statistic of a system over those units (or outputs) that a swap moves to the other
    system of the pair. Only differences between such sums are used. The first array has the columns of a system if it
    is the first system of a pair, and the second array if it is the second system. They are equal if whole units are
    swapped.
    """
    units, compiled, in_bytes = problem.units, bool(run.backend.devices), most_bytes(run.backend)
    if units.outputs is None or problem.exchanges == "units":
        # Only differences of systems matter. If the first system is subtracted, statistics that are equal for all
        # systems become 0.
        columns, (indices, _) = distinct_columns(units.values - units.values[:1])
        draws = draws_from_strata(units.strata)
        projection = swap_projection(columns, draws, compiled=compiled, most_bytes=in_bytes)
        return projection, indices, indices
    outputs = whole_runs(units.outputs) if problem.exchanges == "runs" else units.outputs
    values, sizes = outputs.values, outputs.sizes
    # Both systems give away equally many outputs of a unit. So one output of the unit may be subtracted from all its
    # outputs, and statistics that they share (gold sizes) become 0.
    first = (np.cumsum(sizes) - sizes)[outputs.unit]
    columns, (indices, _) = distinct_columns(values - values[:1, first])
    projection = crossed_projection(columns, sizes, compiled=compiled, most_bytes=in_bytes)
    return projection, indices, indices + projection.matrix.num_columns


def add_up(
    pieces: Callable[[Run], Iterator[tuple[int, np.ndarray]]], num_pairs: int, start: int, end: int, run: Run
) -> np.ndarray:
    """Return how many resamples of this shard between `start` and `end` are extreme, for each pair: counts `[pair]`.

    The counts begin with the counts in the checkpoint. For the resamples that are not yet counted, `pieces` yields the
    index of the first resample of each piece, and the counts `[pair]` of the piece.
    """
    checkpoint = run.checkpoint.at(f"from {start}")
    tally, stop = checkpoint.begin(range(start, end), counts=np.zeros(num_pairs, np.int64))
    counts = tally.arrays["counts"]
    if tally.done < stop:
        for first, piece in pieces(replace(run, start=tally.done, resamples=stop)):
            checkpoint.save(tally.start, first, counts=counts)
            counts = counts + piece
        checkpoint.finish(tally.start, stop, counts=counts)
    return counts


def _few_sizes(indices: np.ndarray, num_pairs: int, run: Run) -> np.ndarray:
    """Repeat positions of pairs until their number is one of a few sizes, so that few programs are compiled.

    `indices` are the positions. The sizes are `num_pairs`, this number divided by `_SIZE_FACTOR` once, and so on.
    Without devices, no program is compiled, and `indices` are returned.
    """
    size = num_pairs if run.backend.devices else len(indices)
    while size > _FEW_PAIRS and len(indices) <= size // _SIZE_FACTOR:
        size //= _SIZE_FACTOR
    return np.resize(indices, size)


def two_sample_test(problem: SumsProblem, first: int, context: Context) -> Columns:
    """The result columns of the permutation test of two systems on different units, exact if possible, else sampled.

    `problem` has the units of both systems: the first system was tested on the first `first` units. The values of a
    system are 0 on the units of the other system.
    """
    units, asked = problem.units.values.sum(axis=0), problem.settings.method == "montecarlo"
    p_value, reason = (NOT_KNOWN, _AS_ASKED.reason) if asked else _exact_unpaired(problem, units, first)
    if not math.isnan(p_value[0]):
        return exact_columns([p_value], Column.constant(reason, 1))
    if problem.settings.method == "exact":
        raise NotExact((0, 1), reason)
    return _montecarlo(problem, units, first, context, reason)


def _exact_unpaired(problem: SumsProblem, units: np.ndarray, first: int) -> tuple[PValue, str]:
    """Return the exact p-value of an unpaired test (NaN if there is none), and a text that explains it.

    `units` `[unit, stat]` are the statistics of all units, and `first` is the number of units of the first system. If
    only one statistic varies, p comes from the distribution of its sum. Otherwise p comes from all ways to choose the
    units of the first system.
    """
    varying = np.flatnonzero((units != units[0]).any(axis=0))
    if not varying.size:
        return (1.0, 0.0, 0.0), "no unit differs"
    of_sum = NotEligible("") if varying.size > 1 else sample_distribution(units[:, varying[0]], first)
    if not isinstance(of_sum, NotEligible):
        sums = np.tile(first * units[0].astype(np.float64), (len(of_sum.sums), 1))
        sums[:, varying[0]] = of_sum.sums
        found = of_sum.tail(_criterion(problem, [(0, 1)]).met(_deltas_of(problem, (0, 1), sums)[None])[0])
        if found is None:
            return NOT_KNOWN, _TOO_SMALL
        return found, f"one statistic differs ({problem.metric.stat_names[varying[0]]})"
    plan = find_choices(first, len(units), units.shape[1], "units")
    if isinstance(plan, NotEligible):
        return NOT_KNOWN, of_sum.reason or plan.reason
    if plan.cost.num_bytes > problem.settings.memory * 2**30:
        return NOT_KNOWN, f"an exact test takes more than {problem.settings.memory:,.3g} GiB"
    deltas = _deltas_of(problem, (0, 1), chosen_sums(units, first).astype(np.float64))
    p_value = int(_criterion(problem, [(0, 1)]).met(deltas[None]).sum()) / plan.number
    return (p_value, math.log10(p_value), 0.0), f"all {plan.number:,} choices of units"


def _montecarlo(problem: SumsProblem, units: np.ndarray, first: int, context: Context, reason: str) -> Columns:
    """The result columns of the unpaired test from random choices of units.

    The units of the smaller sample are chosen, from all units in sorted order, so that the two-sided p depends neither
    on the order of the systems nor on the order of the units.
    """
    resamples, fewer = problem.settings.fixed_resamples, min(first, len(units) - first)
    criterion = _criterion(problem, [(0, 1)])
    both, sorted_units = problem.units.totals.sum(axis=0), units[np.lexsort(units.T)]
    choices = ScaledProjection(choice(fewer, sorted_units), None)
    context = context.sized(CHOSEN_UNIT * (resamples * len(units)))
    with context.run("choices of units", resamples, problem.settings.seed) as run:
        sums = (swapped_sums(choices, piece).T for piece in run.blocks(units.shape[1]))
        deltas = (_deltas_of(problem, (0, 1), of_fewer if fewer == first else both - of_fewer) for of_fewer in sums)
        exceed = sum(int(criterion.met(of_piece[None]).sum()) for of_piece in deltas)
    counts = np.array([exceed])
    p_values = np.asarray(montecarlo_p(counts, resamples))
    return sampled_columns(counts, p_values, resamples, Column.constant(reason, 1))
