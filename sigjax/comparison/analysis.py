"""From evaluations to the tables of a report: subsets of instances -> tests of all pairs -> adjustment -> ranks.

Two tables pass through the steps: a table of pairs and a table of systems. The tests make the first columns, and every
step adds columns. The columns `tests.FACTS` are only for notes; a report does not have them.

**Missing results, pair by pair.** A pair is tested on the instances for which both systems have results, and a system
is scored on all instances for which it has results. Pairs and systems with the same instances form a subset, which is
an evaluation like any other. Its pairs are tested together; the resamples depend only on the instances. An evaluation
without missing results is its only subset.

**Families.** A family has the hypotheses whose p-values are adjusted together; each test has its own families. If the
setting `family` is "report", the pairs of all metrics are one family. The correction then bounds the errors in all
results of a test, for all metrics of the report together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sigjax.comparison.checks import check_units, named_errors
from sigjax.exact.lattice import NotEligible
from sigjax.metrics import shifted
from sigjax.multiple.decisions import (
    DECIDED,
    adjusted_pairs,
    bootstrap_ranks,
    count_until_decided,
    known_bounds,
    maxt,
    most_resamples,
    significance_ranks,
)
from sigjax.records import (
    CORRECTIONS,
    Column,
    Columns,
    Comparisons,
    Design,
    EvaluationRecord,
    Hint,
    InputError,
    Metric,
    Settings,
    Test,
)
from sigjax.resample.units import make_units, units_of_instances
from sigjax.run.context import Context, Run
from sigjax.run.costs import Cost
from sigjax.testing.bootstrap import BootstrapPlan, draw_all
from sigjax.testing.delta_method import delta_method_errors, delta_method_influences, sample_factors
from sigjax.testing.intervals import bootstraps, joint_pairs
from sigjax.testing.problem import (
    Problem,
    SumsProblem,
    completed,
    draw_cost,
    exact_budget,
    montecarlo_p,
    pairs_of,
    sampled_columns,
)
from sigjax.testing.tests import (
    Tested,
    bootstrap_plan,
    drawn_bootstrap,
    draws_jointly,
    exact_bootstrap,
    exact_permutation,
    needs_draws,
    open_rows,
    problem_of,
    replicates,
    result_tables,
    sized_context,
    spreads_of,
    swap_counter,
    with_closed_intervals,
)
from sigjax.testing.tilted import importance_sampled
from sigjax.testing.two_way import two_way_errors
from sigjax.testing.uncertainty import Pieces


@dataclass(frozen=True, eq=False)
class Subset:
    """Pairs and systems of an evaluation that have the same instances.

    Attributes:
        whole: the evaluation.
        systems: indices of the systems of the subset in the evaluation.
        members: `[pair, 2]` indices into `systems`; if there is no pair, the first system is paired with itself.
        pairs: `[pair]` indices into all pairs of the evaluation.
        scored: indices into `systems` of the systems that have results for exactly these instances.
        settings: the settings of the report, with the subset's share of the budget (in seconds).
        instances: a bit mask of the instances, packed into bytes; None for all instances.
        number: the index of the subset.
    """

    whole: EvaluationRecord
    systems: list[int]
    members: np.ndarray
    pairs: np.ndarray
    scored: list[int]
    settings: Settings
    instances: bytes | None = None
    number: int = 0

    @property
    def evaluation(self) -> EvaluationRecord:
        """The evaluation of these systems on these instances; it is made anew on each access."""
        if self.instances is None:
            return self.whole
        bits = np.unpackbits(np.frombuffer(self.instances, np.uint8), count=self.whole.num_instances)
        return _on(self.whole, self.systems, np.flatnonzero(bits))


def analyse(
    evaluations: Sequence[EvaluationRecord], settings: Settings, context: Context, *, of_suite: bool = False
) -> tuple[Comparisons, Columns]:
    """Test the pairs of all evaluations, or of the tasks of a suite, adjust their p-values and rank the systems.

    Return the table of pairs, metric by metric and test by test, in the order of the data; and the table of systems,
    metric by metric, best first, with the fields of `SystemScore`.
    """
    systems, adjusted = analyse_pairs(evaluations, settings, context, of_suite=of_suite)
    ranked = [
        _ranked(evaluation, of_metric, pairs[settings.tests[0]], settings)
        for evaluation, of_metric, pairs in zip(evaluations, systems, adjusted, strict=True)
    ]
    return Comparisons.joined([each for pairs in adjusted for each in pairs.values()]), Columns.joined(ranked)


def analyse_pairs(
    evaluations: Sequence[EvaluationRecord], settings: Settings, context: Context, *, of_suite: bool = False
) -> tuple[list[Columns], list[dict[Test, Comparisons]]]:
    """Test the pairs of all evaluations and adjust their p-values, without ranks.

    Return two lists with an item per metric: its table of systems, and a dict from each test to its table of pairs.
    """
    subsets, problems = list[list[Subset]](), list[Problem | None]()
    for evaluation in evaluations:
        with named_errors([evaluation], settings):
            subsets.append(complete_subsets(evaluation, settings))
            is_whole, members = evaluation.present is None, subsets[-1][0].members
            problems.append(problem_of(evaluation, settings, members) if is_whole else None)
    plans: list[BootstrapPlan | NotEligible | None] = [None] * len(problems)
    drawn: dict[str, np.ndarray] = {}
    if len(problems) > 1 and not of_suite:  # tasks have different instances
        plans = [bootstrap_plan(problem) if problem and bootstraps(problem) else None for problem in problems]
        drawn = _drawn_together(problems, plans, settings, context)
    tested: list[list[Tested]] = []
    num_pairs = [sum(len(subset.pairs) for subset in of_metric) for of_metric in subsets]
    of_report = settings.family == "report"
    for number, (evaluation, problem) in enumerate(zip(evaluations, problems, strict=True)):
        labelled = replace(context, label=f"({number + 1} of {len(problems)})") if len(problems) > 1 else context
        tested.append([])
        for subset in subsets[number]:
            others = None
            if settings.resamples == "auto":
                others = bounds_of_others(*(tested, subsets) if of_report else (tested[-1:], [subsets[number]]))
            scores = drawn.pop(evaluation.metric.name, None)
            family = sum(num_pairs) if of_report else num_pairs[number]
            tested[-1].append(_test(subset, problem, settings, labelled, scores, others, family, plans[number]))
    together = [_together(*each, settings) for each in zip(evaluations, subsets, tested, strict=True)]
    adjusted = _adjust(evaluations, problems, [pairs for pairs, _ in together], settings, context)
    return [systems for _, systems in together], adjusted


def complete_subsets(evaluation: EvaluationRecord, settings: Settings) -> list[Subset]:
    """Divide an evaluation into subsets of pairs and systems that have the same instances.

    The subsets with pairs come first, in the order of the pairs.

    >>> from sigjax import Evaluation
    >>> numbers = {"A": {"x": 1, "y": 0}, "B": {"x": 0, "y": 1}, "C": {"y": 1}}
    >>> for subset in complete_subsets(Evaluation.from_arrays(numbers, missing="pairwise"), Settings()):
    ...     print(subset.evaluation.ids, subset.evaluation.systems, subset.members.tolist(), subset.scored)
    ('x', 'y') ('A', 'B') [[0, 1]] [0, 1]
    ('y',) ('A', 'B', 'C') [[0, 2], [1, 2]] [2]
    """
    members = pairs_of(evaluation, settings)
    if evaluation.present is None:
        every = list(range(len(evaluation.systems)))
        return [Subset(evaluation, every, members, np.arange(len(members)), every, settings)]
    if not len(members):
        whom = "no two systems have" if settings.baseline is None else f"no system and {settings.baseline!r} have"
        raise InputError(f"{whom} an instance in common; there is nothing to compare")
    present = np.packbits(evaluation.present, axis=1)
    pairs: dict[bytes, list[int]] = {}
    for pair, (a, b) in enumerate(members.tolist()):
        pairs.setdefault((present[a] & present[b]).tobytes(), []).append(pair)
    scored: dict[bytes, list[int]] = {}
    for system, bits in enumerate(present):
        scored.setdefault(bits.tobytes(), []).append(system)
    subsets = []
    for number, instances in enumerate(dict.fromkeys((*pairs, *scored))):
        rows, complete = np.array(pairs.get(instances, ()), np.int64), scored.get(instances, [])
        systems = sorted({*members[rows].ravel().tolist(), *complete})
        at = np.searchsorted(systems, members[rows]).astype(np.int32) if len(rows) else np.zeros((1, 2), np.int32)
        indices, weight = np.searchsorted(systems, complete).tolist(), len(rows) / len(members)
        limited = replace(settings, budget=exact_budget(settings) * weight) if weight < 1.0 else settings
        limited = limited if weight else replace(settings, test=())  # a subset without pairs tests nothing
        subsets.append(Subset(evaluation, systems, at, rows, indices, limited, instances, number))
    return subsets


def common(evaluation: EvaluationRecord, a: str, b: str) -> EvaluationRecord:
    """The evaluation of two systems on the instances for which both have results."""
    systems = [evaluation.systems.index(name) for name in (a, b)]
    present = np.ones((1, evaluation.num_instances)) if evaluation.present is None else evaluation.present[systems]
    return _on(evaluation, systems, np.flatnonzero(present.all(axis=0)))


def _on(evaluation: EvaluationRecord, systems: list[int], instances: np.ndarray) -> EvaluationRecord:
    """The evaluation of some systems on the instances at these indices, for which all of them have results."""
    labels = {
        name: tuple(values[i] for i in instances.tolist())
        for name in ("ids", "clusters", "strata", "runs")
        if (values := getattr(evaluation, name)) is not None
    }
    stats, names = evaluation.stats[np.ix_(systems, instances.tolist())], tuple(evaluation.systems[k] for k in systems)
    return replace(evaluation, systems=names, stats=stats, present=None, notes=(), **labels)


def _drawn_together(
    problems: Sequence[Problem | None],
    plans: Sequence[BootstrapPlan | NotEligible | None],
    settings: Settings,
    context: Context,
) -> dict[str, np.ndarray]:
    """Draw bootstrap scores of several metrics together; return a dict from metric to scores `[system, resample]`.

    It contains the metrics of sums that need bootstrap draws (see `draws_jointly`), if there are at least two.
    """
    each = [problem for problem, plan in zip(problems, plans, strict=True) if problem and draws_jointly(problem, plan)]
    shared = [problem for problem in each if isinstance(problem, SumsProblem)]
    if len(shared) < 2:
        return {}
    context = context.sized(sum(map(draw_cost, shared), start=Cost()))
    with context.run("bootstrap", settings.fixed_resamples, settings.seed) as run:
        return draw_all(shared, run)


def bounds_of_others(tested: Sequence[Sequence[Tested]], subsets: Sequence[Sequence[Subset]]) -> np.ndarray:
    """Bounds on the permutation p-values of a family's pairs outside the subset that is tested next, `[other, 2]`.

    A family is a set of pairs whose p-values are adjusted together. `tested` has the results of the subsets that are
    already tested, by metric, and `subsets` has all subsets, by metric. The p-values of later subsets have the bounds 0
    and 1.
    """
    before = [pairs for of_metric in tested for pairs, _ in of_metric]
    every = [subset for of_metric in subsets for subset in of_metric]
    to_come = sum(len(subset.pairs) for subset in every[len(before) + 1 :])
    known = [known_bounds(pairs["permutation"]) for pairs in before if pairs]
    return np.concatenate([*known, np.tile([0.0, 1.0], (to_come, 1))])


def _test(
    subset: Subset,
    problem: Problem | None,
    settings: Settings,
    context: Context,
    drawn: np.ndarray | None,
    others: np.ndarray | None,
    family: int,
    plan: BootstrapPlan | NotEligible | None,
) -> Tested:
    """Run the tests of a subset; raise `InputError` if the checkpoint belongs to another run.

    If the subset is the whole evaluation, `problem` holds its data and pairs for the tests; else it is None, and is
    made here. `settings` are the settings of the report. `family` is the number of pairs whose p-values are adjusted
    together. `drawn`, `others` and `plan` are as in `run_tests`.
    """
    evaluation, is_whole = subset.evaluation, problem is not None
    with named_errors([evaluation], subset.settings):
        problem = problem or problem_of(evaluation, subset.settings, subset.members)
        scores, hypotheses = np.array(problem.observed_scores), problem.hypotheses
        joint = joint_pairs(settings, len(subset.pairs), family)
        context = context.at(evaluation.metric.name)
        if not is_whole:
            context = context.at(f"instances {subset.number + 1}")
        if context.file is not None:
            by_name = sorted(range(len(scores)), key=evaluation.systems.__getitem__)
            context.checkpoint("scores").check_scores(scores[by_name])
        if "bootstrap" in subset.settings.tests:
            num_units = len(problem.units.strata)
            check_units(num_units, "the bootstrap test", f"; use {Hint('test', 'permutation')}")
        pairs, systems = run_tests(problem, context, drawn, others, joint, plan)
    of_systems, of_pairs = np.full(len(scores), np.nan), np.full(len(hypotheses.members), np.nan)
    has_errors = systems.column("standard_error").where_present[0]
    if isinstance(problem, SumsProblem) and evaluation.clusters is not None and has_errors:
        of_systems, of_pairs = unclustered_errors(evaluation, hypotheses.members, settings.design)
    systems = systems.with_columns(
        {
            "standard_error_unclustered": Column.unless_nan(of_systems),
            # Sort by shifted scores, because unshifted scores may be too large to tell apart. Scores of different
            # subsets have different shifts, so unshifted scores are used for them.
            "order": Column(np.array(hypotheses.scores) if is_whole else scores),
        }
    ).at(subset.scored)
    columns = {
        "standard_error_unclustered": Column.unless_nan(of_pairs),
        "settings": Column.constant(settings, len(of_pairs)),
    }
    return {test: of_test.with_columns(columns) for test, of_test in pairs.items()}, systems


def run_tests(
    problem: Problem,
    context: Context,
    drawn: np.ndarray | None = None,
    others: np.ndarray | None = None,
    joint: int = 1,
    plan: BootstrapPlan | NotEligible | None = None,
) -> Tested:
    """Run the requested tests; return a dict from each test to its table of pairs, and the table of systems.

    `problem` holds the data, the pairs and the settings. `plan` is the plan of the bootstrap without sampling, if it is
    already made. `drawn` are bootstrap scores `[system, resample]`, if they were drawn together with other metrics.
    `others` `[other, 2]` are bounds on the p-values of the other pairs in the family (the pairs whose p-values are
    adjusted together). `joint` is the number of deltas whose intervals are simultaneous.
    """
    settings, pairs = problem.settings, dict[Test, Comparisons]()
    if "permutation" in settings.tests:
        pairs["permutation"] = exact_permutation(problem, context)
    tested, spreads = exact_bootstrap(problem, context, plan)
    num_swapped, is_drawn = len(open_rows(pairs.get("permutation"))), needs_draws(problem, tested, spreads)
    context = sized_context(problem, context, num_swapped, draws=is_drawn and drawn is None)
    pieces = partial(replicates, problem) if drawn is None else lambda run: iter([(run.start, drawn)])
    if num_swapped:
        pairs["permutation"] = _by_swaps(problem, pairs["permutation"], context, others)
    tested, spreads, kept = drawn_bootstrap(problem, tested, spreads, pieces, context, joint)
    if tested is not None:
        pairs["bootstrap"] = tested
    spreads = with_closed_intervals(problem, spreads, context, joint)
    ranks = _ranks(problem, context, pieces, kept) if settings.leaderboard else None
    if isinstance(problem, SumsProblem) and problem.shifted:  # large numbers: each system has its own shift
        alone, offsets = spreads_of(problem.shifted.alone, context.at("alone")), np.array(problem.shifted.shifts)
        of_scores = slice(0, len(offsets))
        spreads[of_scores] = alone[of_scores] + np.stack([np.zeros(len(offsets)), offsets, offsets], axis=1)
    is_random = num_swapped > 0 or is_drawn or ranks is not None
    return result_tables(problem, pairs, spreads, ranks, joint, is_random=is_random)


def _by_swaps(problem: Problem, pairs: Comparisons, context: Context, others: np.ndarray | None) -> Comparisons:
    """Complete the permutation test: pairs without a p-value so far are tested by random swaps."""
    settings, compiles = problem.settings, problem.metric if isinstance(problem, SumsProblem) else None

    def swapped(rows: np.ndarray, reasons: Column) -> Columns:
        p_values = pairs.column("p_value").known_values()
        with context.run("permutation", most_resamples(settings), settings.seed, compiles=compiles) as run:
            count = swap_counter(problem, rows, run)
            if settings.resamples == "auto":
                return count_until_decided(count, reasons, p_values, settings, others)
            exceed = count(np.arange(len(rows)), 0, settings.resamples)
        p_values = np.asarray(montecarlo_p(exceed, settings.resamples))
        sampled = sampled_columns(exceed, p_values, settings.resamples, reasons)
        return importance_sampled(problem, sampled, rows, context)

    return completed(pairs, swapped)


def _ranks(
    problem: Problem, context: Context, pieces: Callable[[Run], Pieces], replicates: np.ndarray | None
) -> list[tuple[int, int]] | None:
    """Return for each system the interval (low, high) of its ranks on bootstrap resamples.

    None if there is one unit, or too little memory. `replicates` are the bootstrap scores `[system, resample]` if they
    are already available; else they come from the function `pieces`.
    """
    if len(problem.units.strata) == 1:
        return None
    settings, context = problem.settings, sized_context(problem, context, draws=True)
    with context.run("leaderboard", settings.fixed_resamples, settings.seed) as run:
        return bootstrap_ranks(problem, run, replicates, pieces)


def rests_on_draws(pairs: Comparisons, systems: Columns, settings: Settings) -> bool:
    """Whether any number in the results depends on random resamples."""
    drawn = [any(table.column("draws").distinct()) for table in (pairs, systems)]
    return CORRECTIONS[settings.correction].is_resampled or any(drawn)


def _together(
    evaluation: EvaluationRecord, subsets: Sequence[Subset], tested: Sequence[Tested], settings: Settings
) -> Tested:
    """Join the results of an evaluation's subsets: a dict from test to table of pairs, and the table of systems."""
    if len(tested) == 1:
        return tested[0]
    tables, pairs = [pairs for pairs, _ in tested if pairs], dict[Test, Comparisons]()
    order = np.argsort(np.concatenate([subset.pairs for subset in subsets]))
    for test in settings.tests:
        pairs[test] = Comparisons.joined([table[test] for table in tables]).at(order)
    systems, index = Columns.joined([each for _, each in tested]), {k: i for i, k in enumerate(evaluation.systems)}
    return pairs, systems.at(np.argsort(systems.column("name").mapped(index.__getitem__)))


def _adjust(
    evaluations: Sequence[EvaluationRecord],
    problems: Sequence[Problem | None],
    tables: Sequence[dict[Test, Comparisons]],
    settings: Settings,
    context: Context,
) -> list[dict[Test, Comparisons]]:
    """Return for each evaluation a dict from each test to its table of pairs, with adjusted p-values.

    P-values are adjusted within families: all pairs of a metric, or of all metrics. `tables` has the same dicts before
    the adjustment. `problems` hold the data of the evaluations, because the correction maxt needs resamples of them.
    """
    adjusted: list[dict[Test, Comparisons]] = [{} for _ in tables]
    apart = settings.family == "metric" or len(tables) == 1
    for family in [[number] for number in range(len(tables))] if apart else [list(range(len(tables)))]:
        steps = None
        if CORRECTIONS[settings.correction].is_resampled:
            of_sums = [problem for number in family if isinstance(problem := problems[number], SumsProblem)]
            at = context if settings.family == "report" else context.at(evaluations[family[0]].metric.name)
            with named_errors([evaluations[number] for number in family], settings):
                steps = maxt(of_sums, at)
        for test in settings.tests:
            pairs = adjusted_pairs(Comparisons.joined([tables[number][test] for number in family]), settings, steps)
            if len(family) == 1:
                adjusted[family[0]][test] = pairs
                continue
            start = 0
            for number in family:
                end = start + len(tables[number][test])
                adjusted[number][test], start = pairs.at(slice(start, end)), end
    return adjusted


def _ranked(evaluation: EvaluationRecord, systems: Columns, pairs: Comparisons, settings: Settings) -> Columns:
    """Return the systems of one metric, best first, with ranks and letters from the decisions on all pairs.

    Systems with equal scores keep their order.
    """
    sign = -1.0 if evaluation.metric.higher_is_better else 1.0
    systems = systems.at(np.argsort(sign * systems.column("order").values, kind="stable"))
    decided: dict[str, Sequence[Any]] = dict.fromkeys(DECIDED, [None] * len(systems))
    if settings.baseline is None and settings.alternative == "two-sided":
        ranks = {name: index for index, name in enumerate(systems.values("name"))}
        a, b, delta, p_adjusted = pairs.columns("a", "b", "delta", "p_adjusted")
        differs = (p_adjusted.values < settings.alpha) & (delta.values != 0)
        first, second = a.mapped(ranks.__getitem__)[differs], b.mapped(ranks.__getitem__)[differs]
        a_wins = sign * delta.values[differs] < 0
        decided = significance_ranks(np.where(a_wins, first, second), np.where(a_wins, second, first), len(systems))
    return systems.with_columns({name: Column.of(values) for name, values in decided.items()})


def unclustered_errors(
    evaluation: EvaluationRecord, members: np.ndarray, design: Design
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors of scores `[system]` and deltas `[pair]` as if instances were independent; NaN if not finite.

    `members` `[pair, 2]` are the pairs. The units are then instances (ids with all their runs), with the divisor n - 1
    (ddof = 1), as for clusters. If the design draws runs within units (nested), the variance between the runs of an id
    is added; both variances have ddof = 0, as in the bootstrap. If the runs are trained models, the errors are two-way
    errors.

    >>> from sigjax import Evaluation
    >>> values = {"A": [1, 1, 0, 0], "B": [0, 0, 0, 1]}
    >>> clustered = Evaluation.from_arrays(values, clusters=["x", "x", "y", "y"])
    >>> unclustered_errors(clustered, np.array([[0, 1]]), "together")[0].round(6)
    array([0.288675, 0.25    ])
    """
    if (shift := shifted(evaluation)) is not None:
        return _errors(shift.scores, members, design)[0], _errors(shift.deltas, members, design)[1]
    return _errors(evaluation, members, design)


def _errors(evaluation: EvaluationRecord, members: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """The standard errors of `unclustered_errors`; large numbers have been shifted to near 0 before, if necessary."""
    metric, pairs = evaluation.metric, [(a, b) for a, b in members.tolist()]
    assert isinstance(metric, Metric)
    if design == "models":
        alone = make_units(replace(evaluation, clusters=None), design)
        of_systems, of_pairs = (found[:, 0] for found in two_way_errors(alone, metric.score, pairs))
    else:
        alone, ddof = _sums(replace(evaluation, clusters=None)), 0 if design == "nested" else 1
        of_systems, of_pairs = delta_method_errors(*alone, metric.score, pairs, ddof=ddof)
    if design == "nested":
        within = delta_method_errors(*_within(evaluation), metric.score, pairs)
        of_systems, of_pairs = np.hypot(of_systems, within[0]), np.hypot(of_pairs, within[1])
    of_systems[~np.isfinite(of_systems)], of_pairs[~np.isfinite(of_pairs)] = np.nan, np.nan
    return of_systems, of_pairs


def _sums(evaluation: EvaluationRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return the statistics `[system, unit, stat]` and the strata `[unit]`, with units sorted by stratum."""
    unit, strata = units_of_instances(evaluation)
    stats = evaluation.stats
    values = np.zeros((stats.shape[0], len(strata), stats.shape[2]))
    np.add.at(values.swapaxes(0, 1), unit, stats.swapaxes(0, 1))
    return values, strata


def _within(evaluation: EvaluationRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return statistics `[system, run, stat]` and strata `[run]`, both sorted by instance (id).

    Each row is one run of an instance. The runs of an instance form a stratum.
    """
    unit, _ = units_of_instances(replace(evaluation, clusters=None, strata=None))
    order = np.argsort(unit, kind="stable")
    return evaluation.stats[:, order].astype(np.float64), unit[order]


@dataclass(frozen=True)
class RunVariances:
    """The sources of the variance of scores, from a one-way analysis of variance of runs within instances.

    All fields are means over systems, or over pairs of systems. Runs of two systems are assumed independent.

    Attributes:
        instances: the variance of a score between instances, for a single run. The variance of runs is subtracted, so
            the result can be negative.
        runs: the variance of a score between runs of an instance; for a delta, it is twice as large.
        instances_of_delta: the variance of a delta between instances, as in `instances`.
        icc: the correlation of two runs of an instance (Shrout and Fleiss 1979).
        runs_in_score: the share of the runs in the variance of a score over all instances and runs.
        runs_in_delta: the share of the runs in the variance of a delta over all instances and runs.
    """

    instances: float
    runs: float
    instances_of_delta: float
    icc: float
    runs_in_score: float
    runs_in_delta: float


def run_variances(evaluation: EvaluationRecord) -> RunVariances | None:
    r"""Variance components of runs and instances, for a metric of sums; None if they are not defined.

    They are not defined if there are no repeated runs, or if all runs of each instance are equal. The analysis uses the
    influence of each run on the score, from the delta method (for a mean, the numbers themselves). $MS_B$ is the mean
    square between instances, and $MS_W$ the mean square of runs within instances. With $n_0$ runs of each instance (a
    little less than their mean number if the numbers differ), $\hat\sigma^2_{runs} = MS_W$, $\hat\sigma^2_{instances} =
    (MS_B - MS_W) / n_0$ and $ICC(1) = (MS_B - MS_W) / (MS_B + (n_0 - 1) MS_W)$.

    `runs_in_score` and `runs_in_delta` are shares of the variance that the delta method gives, with clusters if there
    are any. Without clusters and with equally many runs, the share is $MS_W / MS_B$. Shares are at most 1.

    The table of Shrout and Fleiss (1979), whose ICC(1) is .17:

    >>> from sigjax import Evaluation
    >>> rated = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> ids, runs = np.indices((6, 4)).reshape(2, -1).tolist()
    >>> ratings = Evaluation.from_arrays({"A": np.ravel(rated), "B": [0, 1] * 12}, ids=ids, runs=runs)
    >>> round(run_variances(replace(ratings, systems=("A",), stats=ratings.stats[:1])).icc, 2)
    0.17
    """
    metric = evaluation.metric
    if not isinstance(metric, Metric) or evaluation.runs is None or evaluation.present is not None:
        return None
    evaluation = evaluation if (shift := shifted(evaluation)) is None else shift.scores
    ids = replace(evaluation, clusters=None)
    sizes, (num_systems, count) = np.bincount(units_of_instances(ids)[0]), evaluation.stats.shape[:2]
    free = len(sizes) - len(set(evaluation.strata or ("",)))
    if free < 1 or count == len(sizes):
        return None

    def mean_squares(values: np.ndarray, strata: np.ndarray, weights: np.ndarray | float) -> tuple[float, float]:
        """Return two averages of a sum of squares: the mean over systems, and half the mean over pairs of systems.

        The sum adds up the squared influences of all rows on a score (or delta), each multiplied by the row's weight
        and by the square of `count`, the number of results of a system. The influence of a row is the change of the
        score that the row causes, to first order. `values` are `[system, row, stat]`, `strata` `[row]`, and `weights`
        `[row]` or one number.
        """
        moves, _ = delta_method_influences(values, strata, metric.score)
        own, apart = (float((np.square(each) * weights).sum()) for each in (moves, moves - moves.mean(axis=0)))
        return count**2 * own / num_systems, count**2 * apart / max(num_systems - 1, 1)

    with np.errstate(all="ignore"):
        runs = mean_squares(*_within(evaluation), 1.0)[0] / (count - len(sizes))
        between, of_delta = (square / free for square in mean_squares(*_sums(ids), 1.0 / sizes))
        values, strata = _sums(evaluation)
        whole, whole_of_delta = mean_squares(values, strata, sample_factors(strata))
    if not (math.isfinite(whole) and runs > 0.0):
        return None
    per_instance = (count - float((sizes**2).sum()) / count) / (len(sizes) - 1)
    return RunVariances(
        instances=(between - runs) / per_instance,
        runs=runs,
        instances_of_delta=2.0 * (of_delta - runs) / per_instance,
        icc=(between - runs) / (between + (per_instance - 1.0) * runs),
        runs_in_score=min(1.0, count * runs / whole) if whole else 1.0,
        runs_in_delta=min(1.0, count * runs / whole_of_delta) if whole_of_delta else 0.0,
    )
