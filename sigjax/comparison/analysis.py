"""From evaluations to the finished drafts of a report: subsets -> tests of all pairs -> adjustment -> ranks.

**Missing results, pair by pair.** A pair is tested on the instances that both systems have, and a system is scored on
those that it has. What is on the same instances is one subset, an evaluation like any other: its pairs are tested
together, with the resamples that these instances have in every comparison. An evaluation without missing results is its
own and only subset.

**Families.** A family holds the hypotheses whose p-values are adjusted together; each test has its own. The pairs of
all metrics are one family where the settings say "report": then the correction bounds the errors of all statements of a
test together, which is what a table of several metrics is read for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigjax.comparison.checks import check_units, named_errors
from sigjax.exact.lattice import NotEligible
from sigjax.metrics import origins
from sigjax.multiple.adjustment import adjusted_pairs, count_until_decided, known_bounds, maxt, most_resamples
from sigjax.multiple.ranks import bootstrap_ranks, significance_ranks
from sigjax.records import (
    CORRECTIONS,
    Column,
    Comparisons,
    Design,
    EvaluationRecord,
    Hint,
    InputError,
    Metric,
    Settings,
    SystemScore,
    Test,
)
from sigjax.resample.units import make_units, units_of_instances
from sigjax.run.context import Context, Run
from sigjax.testing.bootstrap import Sampled, bootstrap_outcomes, draw_all, linear_intervals, sampled_bootstrap
from sigjax.testing.hypotheses import NotExact
from sigjax.testing.intervals import INTERVALS, Names, draws_intervals, interval_names, joint_pairs
from sigjax.testing.jackknife import (
    degrees_of_freedom,
    delta_method_errors,
    sample_factors,
    two_way_errors,
    two_way_influences,
)
from sigjax.testing.p_values import completed, exact_columns, montecarlo_p, sampled_columns
from sigjax.testing.permutation import exact_budget
from sigjax.testing.problem import Problem, SumsProblem, pairs_of, problem_of
from sigjax.testing.uncertainty import Pieces, ScoresAndDeltas, Uncertainties, Uncertainty


@dataclass(frozen=True, eq=False)
class Subset:
    """The pairs and systems of an evaluation that are on the same instances, a bit each; None where these are all.

    `members` `[pair, 2]` are indices among its `systems` (the first with itself where there is no pair), and `pairs`
    `[pair]` indices among all pairs. The `scored` ones of its systems have no other instances. The settings have the
    budget of the subset.
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
        """Its systems on its instances, made anew each time."""
        if self.instances is None:
            return self.whole
        bits = np.unpackbits(np.frombuffer(self.instances, np.uint8), count=self.whole.num_instances)
        return _on(self.whole, self.systems, np.flatnonzero(bits))


@dataclass(frozen=True, slots=True, eq=False)
class SubsetResults:
    """Named results of the tests of one subset of the instances, without its statistics.

    `pairs` `[pair]` are the indices of the pairs of the evaluation, `pairs_by` each test's columns of them and `deltas`
    how their deltas vary. `order_scores` give the order of the systems, which scores on their own scale may be too
    large to show. `degrees` are the degrees of freedom of intervals by t, and `lone` the strata with one unit. `draws`:
    numbers rest on random resamples. There is no `problem` where the subset is not the whole evaluation.
    """

    pairs: np.ndarray
    pairs_by: dict[Test, Comparisons]
    systems: list[SystemScore]
    order_scores: list[float]
    deltas: Uncertainties
    intervals: Names
    num_units: int
    degrees: float
    lone: list[str]
    draws: bool
    is_ranked: bool
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class Draft:
    """All that a report says of one metric, before its notes, which are made of the drafts.

    `pairs` are the comparisons by each test, adjusted; systems come best first. `report` has the drafts of all metrics
    of the report, which may be tasks of a suite (`of_suite`).
    """

    evaluation: EvaluationRecord
    settings: Settings
    pairs: Mapping[Test, Comparisons]
    systems: tuple[SystemScore, ...]
    num_units: int
    subsets: Sequence[SubsetResults]
    report: Sequence[Draft] = ()
    of_suite: bool = False

    @property
    def metric(self) -> str:
        """Its name."""
        return self.evaluation.metric.name

    @property
    def draws(self) -> bool:
        """Whether any number rests on random resamples."""
        return CORRECTIONS[self.settings.correction].is_resampled or any(subset.draws for subset in self.subsets)


def analyse(
    evaluations: Sequence[EvaluationRecord], settings: Settings, context: Context, *, of_suite: bool = False
) -> list[Draft]:
    """Test the pairs of all evaluations, or of the tasks of a suite, adjust their p-values and rank the systems."""
    tested, adjusted = analyse_pairs(evaluations, settings, context, of_suite=of_suite)
    return [_draft(*of_metric, settings) for of_metric in zip(evaluations, tested, adjusted, strict=True)]


def analyse_pairs(
    evaluations: Sequence[EvaluationRecord], settings: Settings, context: Context, *, of_suite: bool = False
) -> tuple[list[list[SubsetResults]], list[dict[Test, Comparisons]]]:
    """Test the pairs of all evaluations and adjust their p-values: by subset, and all of each test together."""
    subsets, problems = list[list[Subset]](), list[Problem | None]()
    for evaluation in evaluations:
        with named_errors([evaluation], settings):
            subsets.append(complete_subsets(evaluation, settings))
            is_whole, members = evaluation.present is None, subsets[-1][0].members
            problems.append(problem_of(evaluation, settings, members) if is_whole else None)
    # Tasks have other instances.
    drawn = {} if of_suite or len(problems) == 1 else _drawn_together(problems, settings, context)
    tested: list[list[SubsetResults]] = []
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
            joint = joint_pairs(settings, len(subset.pairs), sum(num_pairs) if of_report else num_pairs[number])
            tested[-1].append(_test(subset, problem, settings, labelled, scores, others, joint))
    return tested, _adjust(evaluations, tested, settings, context)


def complete_subsets(evaluation: EvaluationRecord, settings: Settings) -> list[Subset]:
    """The subsets of an evaluation, those with pairs first, in the order of the pairs.

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
        limited = limited if weight else replace(settings, test=())  # one without pairs tests nothing
        subsets.append(Subset(evaluation, systems, at, rows, indices, limited, instances, number))
    return subsets


def common(evaluation: EvaluationRecord, a: str, b: str) -> EvaluationRecord:
    """The evaluation of two systems on the instances that both have."""
    systems = [evaluation.systems.index(name) for name in (a, b)]
    present = np.ones((1, evaluation.num_instances)) if evaluation.present is None else evaluation.present[systems]
    return _on(evaluation, systems, np.flatnonzero(present.all(axis=0)))


def _on(evaluation: EvaluationRecord, systems: list[int], instances: np.ndarray) -> EvaluationRecord:
    """The evaluation of some systems on the instances at some indices, which they all have."""
    labels = {
        name: tuple(values[i] for i in instances.tolist())
        for name in ("ids", "clusters", "strata", "runs")
        if (values := getattr(evaluation, name)) is not None
    }
    stats, names = evaluation.stats[np.ix_(systems, instances.tolist())], tuple(evaluation.systems[k] for k in systems)
    return replace(evaluation, systems=names, stats=stats, present=None, notes=(), **labels)


def _drawn_together(problems: Sequence[Problem | None], settings: Settings, context: Context) -> dict[str, np.ndarray]:
    """Bootstrap scores of the metrics of these problems, drawn together where that can be."""
    shared = [problem for problem in problems if isinstance(problem, SumsProblem) and problem.draws_jointly]
    if len(shared) < 2:
        return {}
    context = context.sized(sum(problem.draw_seconds() for problem in shared))
    with context.run("bootstrap", settings.fixed_resamples, settings.seed) as run:
        return draw_all(shared, run)


def bounds_of_others(tested: Sequence[Sequence[SubsetResults]], subsets: Sequence[Sequence[Subset]]) -> np.ndarray:
    """Bounds `[other, 2]` of the permutation p-values of the other pairs of a family, some subsets of which are tested.

    The next subset is the one that is tested now; nothing is known of those after it.
    """
    before = [results for of_metric in tested for results in of_metric]
    every = [subset for of_metric in subsets for subset in of_metric]
    to_come = sum(len(subset.pairs) for subset in every[len(before) + 1 :])
    known = [known_bounds(results.pairs_by["permutation"]) for results in before if results.pairs_by]
    return np.concatenate([*known, np.tile([0.0, 1.0], (to_come, 1))])


def _test(
    subset: Subset,
    problem: Problem | None,
    settings: Settings,
    context: Context,
    drawn: np.ndarray | None,
    others: np.ndarray | None,
    joint: int,
) -> SubsetResults:
    """The tests of a subset, refused where they are not those of the run that is to go on.

    `problem` is that of a subset that is the whole evaluation, `drawn` are its bootstrap scores, if any, and `joint` is
    the number of deltas whose intervals hold together.
    """
    evaluation = subset.evaluation
    with named_errors([evaluation], subset.settings):
        whole, problem = problem, problem or problem_of(evaluation, subset.settings, subset.members)
        scores, num_units = np.array(problem.observed_scores), len(problem.units.strata)
        context = context.at(evaluation.metric.name)
        if whole is None:
            context = context.at(f"instances {subset.number + 1}")
        by_name = sorted(range(len(scores)), key=evaluation.systems.__getitem__)
        context.checkpoint.at("scores").check_scores(scores[by_name])
        if "bootstrap" in subset.settings.tests:
            check_units(num_units, "the bootstrap test", f"; use {Hint('test', 'permutation')}")
        results = run_tests(problem, context, drawn, others, joint)
    hypotheses = problem.hypotheses
    of_systems, of_pairs = np.full(len(scores), np.nan), np.full(len(hypotheses.members), np.nan)
    is_of_sums = isinstance(problem, SumsProblem)
    if is_of_sums and evaluation.clusters is not None and results.systems[0].standard_error is not None:
        of_systems, of_pairs = unclustered_errors(evaluation, hypotheses.members, settings.design)
    systems = [
        SystemScore(
            name=evaluation.systems[system],
            metric=evaluation.metric.name,
            score=float(scores[system]),
            standard_error=(uncertainty := results.systems[system]).standard_error,
            interval=uncertainty.interval,
            bootstrap_ranks=None if results.ranks is None else results.ranks[system],
            standard_error_unclustered=None if math.isnan(of_systems[system]) else float(of_systems[system]),
            interval_kind=results.intervals.systems if uncertainty.interval else None,
        )
        for system in subset.scored
    ]
    draws = settings.interval != "none" or "bootstrap" in settings.tests
    degrees = math.inf
    if is_of_sums and results.intervals.pairs == "wide-t":
        degrees = degrees_of_freedom(problem.units.sizes, problem.units.strata)
    # Subsets have origins of their own.
    order_scores = scores if whole is None else hypotheses.scores
    return SubsetResults(
        pairs=subset.pairs,
        systems=systems,
        order_scores=[order_scores[system] for system in subset.scored],
        deltas=results.pairs[: len(subset.pairs)],
        intervals=results.intervals,
        num_units=num_units,
        degrees=degrees,
        lone=lone_strata(evaluation) if draws and num_units > 1 else [],
        draws=results.draws,
        is_ranked=results.ranks is not None or num_units == 1,
        problem=whole,
        pairs_by=_with_names(evaluation, problem, scores, results, of_pairs, settings, joint),
    )


def _with_names(
    evaluation: EvaluationRecord,
    problem: Problem,
    scores: np.ndarray,
    results: ProblemResults,
    unclustered: np.ndarray,
    settings: Settings,
    joint: int,
) -> dict[Test, Comparisons]:
    """The columns of each test with those that are the same for all; `settings` are those of the report."""
    if not results.pairs_by:
        return {}
    names, spread, members = evaluation.systems, results.pairs, problem.hypotheses.members
    deltas, rounding = problem.hypotheses.observed(members)
    deltas = np.where(np.abs(deltas) <= rounding, 0.0, deltas)
    (a, b), count, interval = members.T, len(members), Column.unless_nan(spread.ends)
    columns = {
        "a": Column(a, None, names),
        "b": Column(b, None, names),
        "metric": Column.constant(evaluation.metric.name, count),
        "score_a": Column(scores[a]),
        "score_b": Column(scores[b]),
        "delta": Column(deltas),
        "better": Column(np.where((deltas > 0) == evaluation.metric.higher_is_better, a, b), deltas != 0, names),
        "standard_error": Column.unless_nan(spread.errors),
        "standard_error_unclustered": Column.unless_nan(unclustered),
        "interval": interval,
        "interval_kind": Column(np.zeros(count, np.int8), interval.present, (results.intervals.pairs,)),
        "joint_pairs": Column(np.full(count, joint), interval.present),
        "settings": Column.constant(settings, count),
    }
    return {
        test: pairs.with_columns({**columns, "test": Column.constant(test, count)})
        for test, pairs in results.pairs_by.items()
    }


def lone_strata(evaluation: EvaluationRecord) -> list[str]:
    """The strata with one unit, which every draw within strata takes as it is."""
    if evaluation.strata is None:
        return []
    unit, strata = units_of_instances(evaluation)
    alone = (np.bincount(strata) == 1)[strata[unit]]
    return list(dict.fromkeys(label for label, single in zip(evaluation.strata, alone, strict=True) if single))


@dataclass(frozen=True, slots=True)
class ProblemResults:
    """Results of the tests of one problem.

    `pairs_by` has each test's columns of the pairs; `systems` and `pairs` are how scores and deltas vary. `ranks` are
    intervals on bootstrap resamples, where these are asked for and fit into memory. `draws`: numbers rest on random
    resamples.
    """

    pairs_by: dict[Test, Comparisons]
    systems: Sequence[Uncertainty]
    pairs: Uncertainties
    intervals: Names
    ranks: list[tuple[int, int]] | None
    draws: bool


def run_tests(
    problem: Problem,
    context: Context,
    drawn: np.ndarray | None = None,
    others: np.ndarray | None = None,
    joint: int = 1,
) -> ProblemResults:
    """Run the tests that the settings ask for.

    `drawn` are bootstrap scores `[system, resample]`, where they have been drawn with those of other metrics, and
    `others` `[other, 2]` bounds of the p-values of other metrics that are adjusted together with these. Intervals of
    `joint` deltas, those of other problems included, hold together.
    """
    settings = problem.settings
    pairs_by: dict[Test, Comparisons] = {}
    num_swapped = 0
    if "permutation" in settings.tests:
        pairs_by["permutation"] = problem.exact_permutation(context)
        num_swapped = int((~pairs_by["permutation"].column("p_value").where_present).sum())
    systems: Sequence[Uncertainty] = Uncertainties.none(len(problem.hypotheses.scores))
    pairs = Uncertainties.none(len(problem.hypotheses.members))
    why_sampled, tested = None, None
    if problem.bootstraps and INTERVALS[settings.interval].needs != "runs":
        with context.progress_bar("exact bootstrap"):
            why_sampled, tested, uncertainty = _without_sampling(problem)
        systems, pairs = uncertainty or (systems, pairs)
    context = problem.sized(context, num_swapped, draws=why_sampled is not None and drawn is None)
    pieces = problem.replicates if drawn is None else lambda run: iter([(run.start, drawn)])
    if num_swapped:

        def swapped(rows: np.ndarray, known: Comparisons) -> Comparisons:
            reasons, p_values = known.column("reason").at(rows), known.column("p_value").known_values()
            with context.run("permutation", most_resamples(settings), settings.seed, compiles=problem.compiles) as run:
                count = problem.swap_counter(rows, run)
                if settings.resamples == "auto":
                    return count_until_decided(count, reasons, p_values, settings, others)
                exceed = count(np.arange(len(rows)), 0, settings.resamples)
            p_values = np.asarray(montecarlo_p(exceed, settings.resamples))
            return problem.beyond_floor(sampled_columns(exceed, p_values, settings.resamples, reasons), rows, context)

        pairs_by["permutation"] = completed(pairs_by["permutation"], swapped)
    sampled = None
    if why_sampled is not None:
        rows = np.arange(len(pairs) if "bootstrap" in settings.tests else 0)
        if tested is not None:
            rows = np.flatnonzero(~tested.column("p_value").where_present)
        intervals = draws_intervals(problem.metric, settings) and systems[0] == Uncertainty()
        with context.run("bootstrap", settings.fixed_resamples, settings.seed) as run:
            sampled = sampled_bootstrap(
                problem, run, pieces, rows, why_sampled.reason, uncertain=intervals, joint_pairs=joint
            )
        systems, pairs = sampled.systems or systems, sampled.pairs or pairs
    if not context.checkpoint.is_part:
        with context.progress_bar("intervals"):
            systems, pairs = problem.closed_intervals(joint) or (systems, pairs)
    if "bootstrap" in settings.tests:
        if sampled is not None:
            tested = sampled.tested if tested is None else completed(tested, lambda *_: sampled.tested)
        assert tested is not None
        pairs_by["bootstrap"] = tested
    ranks = _ranks(problem, context, pieces, sampled) if settings.leaderboard else None
    if problem.unshifted and problem.recentred:
        alone = run_tests(problem.unshifted, context.at("alone")).systems
        systems = [each.moved(offset) for each, offset in zip(alone, problem.recentred.offsets, strict=True)]
    draws = num_swapped > 0 or why_sampled is not None or ranks is not None
    return ProblemResults(pairs_by, systems, pairs, interval_names(problem, joint), ranks, draws)


def _without_sampling(
    problem: Problem,
) -> tuple[NotEligible | None, Comparisons | None, ScoresAndDeltas | None]:
    """The bootstrap without sampling: why the rest of it samples, its test, and how scores and deltas vary."""
    settings, interval = problem.settings, INTERVALS[problem.settings.interval]
    if settings.method == "montecarlo":
        return NotEligible("as asked"), None, None
    plan, must = problem.bootstrap_plan, settings.method == "exact" and "bootstrap" in settings.tests
    if isinstance(plan, NotEligible):
        if must:
            raise NotExact(None, plan.reason)
        return plan, None, None
    assert isinstance(problem, SumsProblem)
    why_sampled, tested = None, None
    if "bootstrap" in settings.tests:
        results = bootstrap_outcomes(problem, plan)
        tested = exact_columns(results).at(plan.which)
        for pair, result in zip(plan.pairs, results, strict=True):
            if isinstance(result, NotEligible):
                if must:
                    raise NotExact(pair, result.reason)
                why_sampled = why_sampled or result
    if interval.samples:
        return why_sampled or NotEligible(f"{settings.interval} intervals need resamples"), tested, None
    drawn = draws_intervals(problem.metric, settings)
    return why_sampled, tested, linear_intervals(problem, plan) if drawn else None


def _ranks(
    problem: Problem, context: Context, pieces: Callable[[Run], Pieces], sampled: Sampled | None
) -> list[tuple[int, int]] | None:
    """Intervals of the ranks of systems on bootstrap resamples; None with one unit, or too little memory."""
    if len(problem.units.strata) == 1:
        return None
    drawn = None if sampled is None else sampled.replicates
    settings, context = problem.settings, problem.sized(context, 0, draws=True)
    with context.run("leaderboard", settings.fixed_resamples, settings.seed) as run:
        return bootstrap_ranks(problem, run, drawn, pieces)


def _adjust(
    evaluations: Sequence[EvaluationRecord],
    tested: Sequence[Sequence[SubsetResults]],
    settings: Settings,
    context: Context,
) -> list[dict[Test, Comparisons]]:
    """The comparisons of each evaluation by each test, in the order of its pairs, adjusted within their families."""
    tables = [_in_order(of_metric, settings) for of_metric in tested]
    apart = settings.family == "metric" or len(tables) == 1
    for family in [[number] for number in range(len(tables))] if apart else [list(range(len(tables)))]:
        steps = None
        if CORRECTIONS[settings.correction].is_resampled:
            problems = [results.problem for number in family for results in tested[number]]
            of_sums = [problem for problem in problems if isinstance(problem, SumsProblem)]
            at = context if settings.family == "report" else context.at(evaluations[family[0]].metric.name)
            with named_errors([evaluations[number] for number in family], settings):
                steps = maxt(of_sums, at)
        for test in settings.tests:
            pairs = adjusted_pairs(Comparisons.joined([tables[number][test] for number in family]), settings, steps)
            if len(family) == 1:
                tables[family[0]][test] = pairs
                continue
            start = 0
            for number in family:
                end = start + len(tables[number][test])
                tables[number][test], start = pairs.at(slice(start, end)), end
    return tables


def _in_order(tested: Sequence[SubsetResults], settings: Settings) -> dict[Test, Comparisons]:
    """The columns of the pairs of an evaluation by each test, in the order of the tests and of the pairs."""
    tables = [subset.pairs_by for subset in tested if subset.pairs_by]
    if len(tables) == 1:
        return {test: tables[0][test] for test in settings.tests}
    order = np.argsort(np.concatenate([subset.pairs for subset in tested]))
    return {test: Comparisons.joined([table[test] for table in tables]).at(order) for test in settings.tests}


def _draft(
    evaluation: EvaluationRecord,
    tested: Sequence[SubsetResults],
    pairs_by: Mapping[Test, Comparisons],
    settings: Settings,
) -> Draft:
    """The finished draft of one metric: the systems best first, with what decisions on all pairs say of them."""
    num_units = tested[0].num_units
    if evaluation.present is not None:
        num_units = len(units_of_instances(replace(evaluation, present=None))[1])
    sign = -1.0 if evaluation.metric.higher_is_better else 1.0
    scored = {
        system.name: (sign * score, system)
        for subset in tested
        for system, score in zip(subset.systems, subset.order_scores, strict=True)
    }  # ties stay in the order of the data
    systems = [scored[name][1] for name in sorted(evaluation.systems, key=lambda name: scored[name][0])]
    if settings.baseline is None and settings.alternative == "two-sided":
        ranks = {system.name: index for index, system in enumerate(systems)}
        a, b, delta, p_adjusted = pairs_by[settings.tests[0]].columns("a", "b", "delta", "p_adjusted")
        differs = (p_adjusted.values < settings.alpha) & (delta.values != 0)
        first, second = a.mapped(ranks.__getitem__)[differs], b.mapped(ranks.__getitem__)[differs]
        a_wins = sign * delta.values[differs] < 0
        decided = significance_ranks(np.where(a_wins, first, second), np.where(a_wins, second, first), len(systems))
        systems = [replace(each, **{name: of[i] for name, of in decided.items()}) for i, each in enumerate(systems)]
    return Draft(evaluation, settings, pairs_by, tuple(systems), num_units, tested)


def unclustered_errors(
    evaluation: EvaluationRecord, members: np.ndarray, design: Design
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors `[system]` and `[pair]` as if instances were independent; NaN where they are not finite.

    Instances are the units then, or ids with all their runs, with the divisor n - 1 (ddof = 1), as for clusters; where
    the design draws runs within units (nested), the variance between the runs of an id is added, and both are those of
    the bootstrap (ddof = 0), and where runs are trained models both errors are two-way errors.

    >>> from sigjax import Evaluation
    >>> values = {"A": [1, 1, 0, 0], "B": [0, 0, 0, 1]}
    >>> clustered = Evaluation.from_arrays(values, clusters=["x", "x", "y", "y"])
    >>> unclustered_errors(clustered, np.array([[0, 1]]), "together")[0].round(6)
    array([0.288675, 0.25    ])
    """
    if (nearer := origins(evaluation)) is not None:
        return _errors(nearer.scores, members, design)[0], _errors(nearer.deltas, members, design)[1]
    return _errors(evaluation, members, design)


def _errors(evaluation: EvaluationRecord, members: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """The same of numbers that are not large."""
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
    """Statistics `[system, unit, stat]` and strata `[unit]`, units of a stratum together."""
    unit, strata = units_of_instances(evaluation)
    stats = evaluation.stats
    values = np.zeros((stats.shape[0], len(strata), stats.shape[2]))
    np.add.at(values.swapaxes(0, 1), unit, stats.swapaxes(0, 1))
    return values, strata


def _within(evaluation: EvaluationRecord) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, output, stat]`, and the id `[output]` of each as its stratum, outputs of an id together."""
    unit, _ = units_of_instances(replace(evaluation, clusters=None, strata=None))
    order = np.argsort(unit, kind="stable")
    return evaluation.stats[:, order].astype(np.float64), unit[order]


@dataclass(frozen=True)
class RunVariances:
    """Where the variance of scores comes from, by a one-way analysis of variance of runs within instances.

    All are means over systems, or over pairs of them, whose runs are taken to be independent: the variance of the
    `instances` in one run of a score (after that of the runs; it can be below 0), and in one of a delta, where `runs`,
    the variance of the runs of an instance, is twice as large; `icc`, the correlation of two runs of an instance
    (Shrout and Fleiss 1979); and shares of the runs in the variance of a score and of a delta, of all instances and
    runs.
    """

    instances: float
    runs: float
    instances_of_delta: float
    icc: float
    runs_in_score: float
    runs_in_delta: float


def run_variances(evaluation: EvaluationRecord) -> RunVariances | None:
    r"""Components of variance of a metric of sums; None without repeated runs, or where these are all alike.

    $MS_B$ is the mean square of instances and $MS_W$ that of runs within them, of the influence of each run on the
    score (of a mean, the numbers themselves). With $n_0$ runs of each instance (less where they differ),
    $\hat\sigma^2_{runs} = MS_W$, $\hat\sigma^2_{instances} = (MS_B - MS_W) / n_0$ and $ICC(1) = (MS_B - MS_W) /
    (MS_B + (n_0 - 1) MS_W)$. Shares are of the variance by the delta method, with clusters if there are some: without,
    and equally many runs, $MS_W / MS_B$, and at most 1.

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
    evaluation = evaluation if (nearer := origins(evaluation)) is None else nearer.scores
    ids = replace(evaluation, clusters=None)
    sizes, (num_systems, count) = np.bincount(units_of_instances(ids)[0]), evaluation.stats.shape[:2]
    free = len(sizes) - len(set(evaluation.strata or ("",)))
    if free < 1 or count == len(sizes):
        return None

    def mean_squares(values: np.ndarray, strata: np.ndarray, weights: np.ndarray | float) -> tuple[float, float]:
        """The weighted sum of squared influences, and half that of differences: means over systems, and pairs."""
        moves, _ = two_way_influences(values, strata, metric.score)
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
