"""How a problem is tested, step by step, for metrics of sums and for metrics of whole columns.

Pairs are tested without sampling if possible (`exact_permutation`, `exact_bootstrap`). The other pairs are sampled:
`swap_counter` counts swaps, `replicates` and `drawn_bootstrap` draw bootstrap scores. This module chooses the code for
metrics of sums or for metrics of whole columns. **Spreads** are an array `[target, 3]` with a row for each score,
followed by a row for each delta. A row has the standard error and both ends of the interval; NaN if there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.records import Column, Columns, Comparisons, EvaluationRecord, SampleMetric, Settings, Test
from sigjax.records.settings import IntervalName
from sigjax.run.context import Context, Run
from sigjax.run.costs import Cost
from sigjax.testing import columns, permutation
from sigjax.testing.bootstrap import (
    BootstrapPlan,
    exact_bootstrap_tests,
    linear_intervals,
    plan_bootstrap,
    replicate_pieces,
    sampled_bootstrap,
)
from sigjax.testing.columns import NOT_SUMS, ColumnsProblem
from sigjax.testing.intervals import INTERVALS, bootstraps, closed_intervals, draws_intervals, interval_names
from sigjax.testing.jackknife import degrees_of_freedom
from sigjax.testing.problem import (
    ExceedCounter,
    NotExact,
    Problem,
    SumsProblem,
    completed,
    draw_cost,
    exact_budget,
    exact_columns,
    montecarlo_p,
    pairs_of,
    sampled_columns,
    swap_cost,
)
from sigjax.testing.uncertainty import Pieces

Tested = tuple[dict[Test, Comparisons], Columns]
"""The results of one subset, or of one evaluation: a dict from each test to its table of pairs (empty without pairs),
and the table of systems."""
FACTS = ("units", "degrees", "draws")
"""Extra columns of the tables of pairs and systems. `units`: the number of units. `degrees`: the degrees of freedom of
t intervals (infinite for other intervals). `draws`: whether any number of the row depends on random resamples."""


def problem_of(evaluation: EvaluationRecord, settings: Settings, members: np.ndarray | None = None) -> Problem:
    """Make the problem of an evaluation, from its units and its observed scores.

    The pairs are `members` `[pair, 2]` (positions of systems), by default all pairs that the settings ask for.
    """
    members = pairs_of(evaluation, settings) if members is None else members
    kind = ColumnsProblem if isinstance(evaluation.metric, SampleMetric) else SumsProblem
    return kind.of_evaluation(evaluation, settings, members)


def exact_permutation(problem: Problem, context: Context) -> Comparisons:
    """Return the table of the exact tests of all pairs.

    A pair without an exact test has no p-value, and the column of reasons explains why.
    """
    if isinstance(problem, ColumnsProblem):
        return _tested(problem, "permutation", columns.exact_permutation(problem, context))
    assert isinstance(problem, SumsProblem)
    return _tested(problem, "permutation", permutation.exact_permutation(problem, context))


def _tested(problem: Problem, test: Test, columns: Columns) -> Comparisons:
    """Return the problem's table of pairs, extended by the result columns of a test and by its name."""
    return problem.pairs.with_columns(columns).with_columns({"test": Column.constant(test, len(columns))})


def swap_counter(problem: Problem, rows: np.ndarray, run: Run) -> ExceedCounter:
    """Return a function that counts extreme swaps for the pairs at the positions `rows` of the table of pairs.

    A swap is extreme if its delta (or studentized delta z) is at least as extreme as observed.
    """
    if isinstance(problem, ColumnsProblem):
        return columns.swap_counter(problem, rows, run)
    assert isinstance(problem, SumsProblem)
    return permutation.swap_counter(problem, rows, run)


def replicates(problem: Problem, run: Run) -> Pieces:
    """Yield the bootstrap scores of all systems, piece by piece, as (first resample, scores `[system, resample]`)."""
    if isinstance(problem, ColumnsProblem):
        return columns.replicates(problem, run)
    assert isinstance(problem, SumsProblem)
    return replicate_pieces(problem, run)


def sized_context(problem: Problem, context: Context, num_swapped: int = 0, *, draws: bool) -> Context:
    """Return the context with a backend that suits the amount of work.

    The work is swaps of `num_swapped` pairs and, if `draws` is true, the bootstrap. Metrics that are not
    functions of sums are computed on the host.
    """
    if isinstance(problem, ColumnsProblem):
        return context.sized(problem.plan.cost, on_host=True)
    assert isinstance(problem, SumsProblem)
    cost = swap_cost(problem, num_swapped) if num_swapped else Cost()
    return context.sized(cost + (draw_cost(problem) if draws else Cost()))


def bootstrap_plan(problem: Problem) -> BootstrapPlan | NotEligible:
    """Return the plan of the exact bootstrap (without sampling), or the reason why this is impossible."""
    if problem.settings.method == "montecarlo":
        return NotEligible("as asked")
    if not isinstance(problem, SumsProblem):
        return NotEligible(NOT_SUMS)
    return plan_bootstrap(problem, problem.equivalent_pairs, exact_budget(problem.settings))


def draws_jointly(problem: Problem, plan: BootstrapPlan | NotEligible | None) -> bool:
    """Whether the bootstrap must draw resamples, and can share them with other metrics in one computation.

    `plan` is the result of `bootstrap_plan`, or None if the bootstrap is not used.
    """
    of_scores = isinstance(problem, SumsProblem) and not INTERVALS[problem.settings.interval].samples
    return of_scores and isinstance(plan, NotEligible)


def exact_bootstrap(
    problem: Problem, context: Context, plan: BootstrapPlan | NotEligible | None = None
) -> tuple[Comparisons | None, np.ndarray | None]:
    """The bootstrap without sampling. Return the table of its test, and the spreads (standard errors and intervals).

    The table is None if the bootstrap test is not requested. A pair that must be sampled has no p-value, and the column
    of reasons explains why. The spreads `[target, 3]` have a row (standard error, low end, high end) for each score,
    then for each delta. They are None if they need draws, or if they are not requested. `plan` is the result of
    `bootstrap_plan`; without it, it is computed here.
    """
    settings, interval = problem.settings, INTERVALS[problem.settings.interval]
    if not bootstraps(problem):
        return None, None
    must, is_test = settings.method == "exact", "bootstrap" in settings.tests
    with context.progress_bar("exact bootstrap"):
        plan = bootstrap_plan(problem) if plan is None else plan
        if isinstance(plan, NotEligible):
            if must and is_test:
                raise NotExact(None, plan.reason)
            if not is_test:
                return None, None
            count = len(problem.hypotheses.members)
            untested = exact_columns(np.full((count, 3), np.nan), Column.constant(plan.reason, count))
            return _tested(problem, "bootstrap", untested), None
        assert isinstance(problem, SumsProblem)
        tested, spreads = None, None
        if is_test:
            tested = _tested(problem, "bootstrap", exact_bootstrap_tests(problem, plan))
            if must and (rows := open_rows(tested)).size:
                raise NotExact(problem.hypotheses.pair(rows[0]), tested.column("reason").value(rows[0]))
        if draws_intervals(problem.metric, settings) and not interval.samples:
            spreads = linear_intervals(problem, plan)
        return tested, spreads


def open_rows(pairs: Comparisons | None) -> np.ndarray:
    """The positions of pairs without a p-value; no positions if there is no table `pairs`."""
    return np.zeros(0, int) if pairs is None else np.flatnonzero(~pairs.column("p_value").where_present)


def needs_draws(problem: Problem, tested: Comparisons | None, spreads: np.ndarray | None) -> bool:
    """Whether bootstrap resamples must be drawn, to complete the results of `exact_bootstrap`.

    `tested` is the table of the bootstrap test, and `spreads` are the standard errors and intervals, as returned by
    `exact_bootstrap`.
    """
    return len(open_rows(tested)) > 0 or _spreads_need_draws(problem, spreads)


def _spreads_need_draws(problem: Problem, spreads: np.ndarray | None) -> bool:
    return spreads is None and bootstraps(problem) and draws_intervals(problem.metric, problem.settings)


def drawn_bootstrap(
    problem: Problem,
    tested: Comparisons | None,
    spreads: np.ndarray | None,
    pieces: Callable[[Run], Pieces],
    context: Context,
    joint: int = 1,
) -> tuple[Comparisons | None, np.ndarray | None, np.ndarray | None]:
    """Complete the results `tested` and `spreads` of `exact_bootstrap` by sampling.

    Pairs without a p-value are tested on resamples. Missing spreads (standard errors and intervals) are computed from
    the replicates, which `pieces` draws; `joint` is the number of deltas whose intervals are simultaneous. Return the
    table of the test, the spreads, and the scores `[system, resample]`; the scores are None unless all were drawn and
    kept.
    """
    if not needs_draws(problem, tested, spreads):
        return tested, spreads, None
    settings, uncertain = problem.settings, _spreads_need_draws(problem, spreads)
    with context.run("bootstrap", settings.fixed_resamples, settings.seed) as run:
        exceed, found, replicates = sampled_bootstrap(
            problem, run, pieces, open_rows(tested), uncertain=uncertain, joint_pairs=joint
        )

    def sampled(_: np.ndarray, reasons: Column) -> Columns:
        p_values = np.asarray(montecarlo_p(exceed, settings.fixed_resamples))
        return sampled_columns(exceed, p_values, settings.fixed_resamples, reasons)

    return tested and completed(tested, sampled), spreads if found is None else found, replicates


def with_closed_intervals(problem: Problem, spreads: np.ndarray | None, context: Context, joint: int = 1) -> np.ndarray:
    """Return standard errors and intervals in closed form if the settings ask for them, else `spreads`.

    The result is `[target, 3]`, with a row (standard error, low end, high end) for each score, then for each delta. If
    there are no intervals, all numbers are NaN. `joint` is the number of deltas whose intervals are simultaneous.
    """
    if not context.is_part:
        with context.progress_bar("intervals"):
            closed = closed_intervals(problem, joint)
        spreads = spreads if closed is None else closed
    num_targets = len(problem.hypotheses.scores) + len(problem.hypotheses.members)
    return np.full((num_targets, 3), np.nan) if spreads is None else spreads


def spreads_of(problem: Problem, context: Context) -> np.ndarray:
    """Return the standard errors and intervals of a problem whose settings request no test, `[target, 3]`.

    There is a row (standard error, low end, high end) for each score, then for each delta; NaN if there is none.
    """
    tested, spreads = exact_bootstrap(problem, context)
    context = sized_context(problem, context, draws=needs_draws(problem, tested, spreads))
    _, spreads, _ = drawn_bootstrap(problem, tested, spreads, partial(replicates, problem), context)
    return with_closed_intervals(problem, spreads, context)


def result_tables(
    problem: Problem,
    pairs: Mapping[Test, Comparisons],
    spreads: np.ndarray,
    ranks: Sequence[tuple[int, int]] | None,
    joint: int,
    *,
    is_random: bool,
) -> Tested:
    """Return two things: the table of pairs of each test, and the table of systems.

    The tables `pairs` are extended by the columns that all tests share (standard error, interval, `FACTS` ...).
    `spreads` `[target, 3]` are standard errors and ends of intervals, `ranks` the ranks of the systems on bootstrap
    resamples (None if there are none), and `joint` the number of deltas whose intervals are simultaneous. `is_random`
    is true if any number depends on random resamples.
    """
    kinds, degrees = interval_names(problem, joint), math.inf
    if isinstance(problem, SumsProblem) and kinds.pairs == "conservative-t":
        degrees = degrees_of_freedom(problem.units.sizes, problem.units.strata)
    facts = dict(zip(FACTS, (len(problem.units.strata), degrees, is_random), strict=True))

    def of_rows(spreads: np.ndarray, kind: IntervalName | None) -> dict[str, Column]:
        interval = Column.unless_nan(spreads[:, 1:])
        return {
            "standard_error": Column.unless_nan(spreads[:, 0]),
            "interval": interval,
            "interval_kind": Column(np.zeros(len(spreads), np.int8), interval.present, (kind,)),
            **{name: Column.constant(value, len(spreads)) for name, value in facts.items()},
        }

    num_systems = len(problem.hypotheses.scores)
    of_pairs = of_rows(spreads[num_systems:], kinds.pairs)
    of_pairs["joint_pairs"] = Column(np.full(len(spreads) - num_systems, joint), of_pairs["interval"].present)
    systems = {
        "name": Column(np.arange(num_systems), None, problem.hypotheses.systems),
        "metric": Column.constant(problem.metric.name, num_systems),
        "score": Column(np.array(problem.observed_scores)),
        "bootstrap_ranks": Column.of(ranks or [None] * num_systems),
    }
    tables: dict[Test, Comparisons] = {test: each.with_columns(of_pairs) for test, each in pairs.items()}
    return tables, Columns({**of_rows(spreads[:num_systems], kinds.systems), **systems})
