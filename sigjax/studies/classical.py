"""Classical tests of two systems beside the permutation test and the bootstrap test, if the data allow them.

`datasets` has the tests of three or more systems on several data sets, and of the folds of cross-validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions
from sigjax.formats.reading import is_array
from sigjax.metrics import METRICS, evaluation_from_arrays, shifted, shifted_by
from sigjax.readers.options import metric_of_arrays, reading
from sigjax.records import (
    Alternative,
    Comparison,
    EvaluationRecord,
    Hint,
    InputError,
    Metric,
    Resamples,
    SampleMetric,
    Test,
)
from sigjax.records.options import check, option, same, takes, values
from sigjax.report import Report
from sigjax.report.data import PAIR_KEYS
from sigjax.report.document import Block, Document
from sigjax.report.report import Result
from sigjax.resample.units import Units, make_units
from sigjax.run.context import with_progress
from sigjax.studies.datasets import FoldTest, RankTests, fold_tests, rank_tests
from sigjax.studies.study import StudyOptions, StudyRows, caption, table_of
from sigjax.studies.tests import (
    BINOMIAL_Z,
    CHI_SQUARE,
    CLUSTER_T,
    DELONG,
    ONE_UNIT,
    PAIRED,
    TWO_SAMPLE_T,
    UNPAIRED,
    ClassicalTest,
    InapplicableTest,
    binomial_z,
    chi_square,
    delong,
    dependence,
    paired_t,
    paired_tests,
    two_sample_t,
)
from sigjax.studies.trials import ALL, study_data

_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)

TestOrReason = ClassicalTest | InapplicableTest


def all_tests(
    evaluation: EvaluationRecord, alternative: Alternative
) -> tuple[list[TestOrReason], int, tuple[float | None, float | None]]:
    """Run all classical tests; return the tests, the number of units, and the dependence of the systems.

    An `InapplicableTest` has the reason why a test does not apply. Units without anything to score are not counted. The
    dependence consists of `correlation` and `factor` of `ClassicalTests`.
    """
    metric = evaluation.metric
    if isinstance(metric, SampleMetric):
        reason = f"{metric.name} is computed from all instances at once, not from sums"
        left_out: list[TestOrReason] = [InapplicableTest(name, reason) for name in (*PAIRED, *UNPAIRED)]
        if metric is METRICS["auc"]:
            by_clusters = evaluation.clusters is not None or evaluation.runs is not None
            of_auc = delong(evaluation.stats[..., 0], evaluation.stats[0, :, 1], alternative)
            left_out.append(InapplicableTest(DELONG, "it takes independent instances") if by_clusters else of_auc)
        return left_out, evaluation.num_instances, (None, None)
    shift = shifted(evaluation)
    units = alone = _with_content(make_units(evaluation if shift is None else shift.deltas))
    values, binary = _differing(units, metric)
    values_alone, proportions = values, _is_proportion(evaluation)
    if shift is not None:  # unpaired tests need all units shifted by the same number
        alone = make_units(shifted_by(evaluation, float(shift.shifts[0])))
        values_alone, binary, proportions = _differing(alone, metric)[0], False, False
    results: list[TestOrReason] = [InapplicableTest(name, values) for name in PAIRED] if isinstance(values, str) else []
    if not isinstance(values, str):  # each value is rounded by up to half a step, so a difference by up to one step
        d, rounding = values[0] - values[1], 0 if units.exact else 2
        results = paired_tests(np.where(2 * abs(d) <= rounding, 0, d), alternative, binary=binary, rounding=rounding)
    if evaluation.clusters is not None:
        results.append(_over_clusters(units, metric, alternative))
    if isinstance(values_alone, str):
        results.append(InapplicableTest(TWO_SAMPLE_T, values_alone))
    else:
        results.append(two_sample_t(values_alone[0], values_alone[1], alternative))
    results.append(_binomial(units, metric, alternative, proportions=proportions))
    results.append(_chi_square(units, metric, alternative))
    if np.array_equal(*units.values):
        results = [replace(each, p_value=1.0) if isinstance(each, ClassicalTest) else each for each in results]
    return results, units.values.shape[1], _dependence(alone, metric)


def _is_proportion(evaluation: EvaluationRecord) -> bool:
    """Whether the evaluation has two statistics that can be the number of right items and the number of all items."""
    stats = evaluation.stats
    if stats.dtype.kind != "i" or stats.shape[2] != 2:
        return False
    return bool((0 <= stats[..., 0]).all() and (stats[..., 0] <= stats[..., 1]).all())


def _with_content(units: Units) -> Units:
    """Drop the units whose statistics are all 0; if this would drop all units, keep all of them."""
    content = units.values.any(axis=(0, 2))
    kept = content | ~content.any()
    return replace(units, values=units.values[:, kept], strata=units.strata[kept])


def _differing(units: Units, metric: Metric) -> tuple[np.ndarray | str, bool]:
    """Return two things: the only statistic on which the two systems differ, and whether all its values are 0 or 1.

    The statistic is `[system, unit]` int64 (fixed point). Its sign is chosen so that larger values mean a higher score.
    If there is no such statistic, the result has a text with the reason instead of the statistic.
    """
    a, b = units.values
    stats = np.flatnonzero((a != b).any(axis=0))
    if stats.size > 1:
        names = ", ".join(metric.stat_names[stat] for stat in stats[:4]) + (", ..." if stats.size > 4 else "")
        return f"{metric.name} is not a mean over units: {stats.size} statistics differ ({names})", False
    stat = int(stats[0]) if stats.size else 0
    values = units.values[:, :, stat]
    ends = np.stack([units.totals[0]] * 2)
    ends[:, stat] = np.maximum(a, b)[:, stat].sum(), np.minimum(a, b)[:, stat].sum()
    with np.errstate(all="ignore"):
        high, low = metric.score(units.unscaled(ends))
    if stats.size and not abs(high - low) > 0:
        return f"{metric.name} does not change with the statistic that differs ({metric.stat_names[stat]})", False
    step = 1.0 if units.divisors is None else float(units.divisors[stat])
    return -values if high < low else values, bool(((values == 0) | (values == step)).all())


def _over_clusters(units: Units, metric: Metric, alternative: Alternative) -> TestOrReason:
    """Return the paired t test on the scores of the clusters, where each cluster is scored alone."""
    with np.errstate(all="ignore"):
        scores = np.asarray(metric.score(units.unscaled(units.values.astype(np.float64))), np.float64)
    if not np.isfinite(scores).all():
        return InapplicableTest(CLUSTER_T, f"{metric.name} is not a finite number on every cluster by itself")
    assumes = "as paired t; clusters (folds) scored one by one"
    rounding = _ROUNDING * float(np.abs(scores).max())
    return paired_t(scores[0] - scores[1], alternative, name=CLUSTER_T, assumes=assumes, rounding=rounding)


def _binomial(units: Units, metric: Metric, alternative: Alternative, *, proportions: bool) -> TestOrReason:
    """Return the z test of two proportions, if the score is a proportion of counts; else the reason why not.

    `proportions`: whether the statistics can be the number of right items and the number of all items.
    """
    if proportions:
        parts, wholes = totals = units.unscaled(units.totals).T
        if 0 in wholes or np.array_equal(metric.score(totals.T), parts / wholes):
            (k1, k2), (n1, n2) = totals.astype(int).tolist()
            return binomial_z((k1, k2), (n1, n2), alternative)
    return InapplicableTest(BINOMIAL_Z, f"{metric.name} is not a proportion of items that are right or wrong")


def _chi_square(units: Units, metric: Metric, alternative: Alternative) -> TestOrReason:
    """Return the chi-square test of precision, if the metric has counts of predicted and of right items.

    Else return the reason why the test does not apply.
    """
    if not {"tp", "predicted"} <= set(metric.stat_names):
        return InapplicableTest(CHI_SQUARE, f"{metric.name} has no statistics tp and predicted")
    totals = units.unscaled(units.totals)
    relevant, predicted = (totals[:, metric.stat_names.index(name)] for name in ("tp", "predicted"))
    if (np.concatenate([relevant, predicted]) % 1 != 0).any():
        return InapplicableTest(CHI_SQUARE, "tp and predicted are not counts")
    (r1, r2), (s1, s2) = relevant.astype(int).tolist(), (predicted - relevant).astype(int).tolist()
    return chi_square((r1, r2), (s1, s2), alternative)


def _dependence(units: Units, metric: Metric) -> tuple[float | None, float | None]:
    """Return two things: the correlation of the two systems, and a factor for the standard deviation of delta.

    The standard deviation grows by this factor if the correlation is ignored. Both come from leave-one-out scores
    (jackknife); see `correlation` and `factor` of `ClassicalTests`. Both are None if such a score is not finite.
    """
    without = units.totals[:, None] - units.values
    with np.errstate(all="ignore"):
        a, b = np.asarray(metric.score(units.unscaled(without)), np.float64)
    finite = bool(np.isfinite(a).all() and np.isfinite(b).all())
    return dependence(a, b) if finite else (None, None)


NO_SAMPLE = "responses are not a random sample of instances"


@dataclass(frozen=True, repr=False)
class ClassicalTests(Result):
    """All tests of two systems by one metric. Iterating over the result gives the classical tests.

    Attributes:
        a: name of the first system.
        b: name of the second system.
        metric: name of the metric.
        score_a: score of a.
        score_b: score of b.
        delta: score_a - score_b.
        alternative: which deltas are extreme.
        num_units: number of units (instances or clusters) in the classical tests; units without anything to score are
            left out.
        correlation: r12, the correlation (-1 to 1) between the contributions of each unit to the two scores; for means,
            between the results. None if a system does not vary.
        factor: s_d-ind / s_d, the factor by which the standard deviation of delta grows if the systems are assumed to
            be independent. None if delta does not vary.
        tests: the classical tests that apply.
        left_out: the classical tests that do not apply, with the reason.
        comparisons: the permutation test and the bootstrap test.
        second: the Monte Carlo tests among `comparisons`, run again with the next seed.
        notes: what a reader of the numbers should know.
        signature: one line that reproduces the comparisons.
        lower_is_better: whether lower scores are better. delta and "greater" still refer to the plain scores.
    """

    rows = "tests"

    a: str
    b: str
    metric: str
    score_a: float
    score_b: float
    delta: float
    alternative: Alternative
    num_units: int
    correlation: float | None
    factor: float | None
    tests: tuple[ClassicalTest, ...]
    left_out: tuple[InapplicableTest, ...]
    comparisons: tuple[Comparison, ...]
    second: tuple[Comparison, ...]
    notes: tuple[str, ...]
    signature: str
    lower_is_better: bool

    def __iter__(self) -> Iterator[ClassicalTest]:
        """Go through the classical tests."""
        return iter(self.tests)

    def __getitem__(self, name: str) -> ClassicalTest:
        """The classical test with this name.

        Raises:
            KeyError: no test has this name, or it was left out.
        """
        return {test.name: test for test in self.tests}[name]

    def brief(self) -> dict[str, Any]:
        """Return the names of the pair, delta and the p-value of each test, for short displays."""
        names = ("a", "b", "metric", "delta", "num_units")
        p_values = {one.test: one.p_value for one in self.comparisons} | {test.name: test.p_value for test in self}
        return {name: getattr(self, name) for name in names} | {"p_values": p_values}

    @property
    def _schema(self) -> str:
        return "tests"

    def _fields(self) -> dict[str, Any]:
        of_tests = {name: _compared(getattr(self, name)) for name in ("comparisons", "second")}
        return {"results": [asdict(replace(self, comparisons=(), second=())) | of_tests]}

    def document(self) -> Document:
        """The document has the verdict, scores, tables of tests, cost of assuming independence, and omitted tests."""
        spec = words.number_spec([self.score_a, self.score_b])
        scores = [(name, words.format_number(score, spec)) for name, score in self._scores()]
        size = f"{caption(self)}: {words.count(self.num_units, 'unit')}"
        blocks: list[Block] = [
            size,
            "",
            table_of(("system", "score"), scores, (0,)),
            "",
            f"delta {words.format_number(self.delta, f'+{spec}')}, {words.ALTERNATIVES[self.alternative]}",
            "",
            *_tables(self),
            "",
            _dependence_line(self),
            *_left_out(self),
            *(f"note: {note}" for note in self.notes),
            self.signature,
        ]
        return Document("Classical tests", size, self._verdict(), blocks)

    def _scores(self) -> tuple[tuple[str, float], tuple[str, float]]:
        return (self.a, self.score_a), (self.b, self.score_b)

    def _verdict(self) -> str:
        """Say whether the paired tests agree at the 5% level, and which system is ahead."""
        paired = [one.p_value for one in self.comparisons] + [test.p_value for test in self if test.paired]
        rejecting = sum(p < 0.05 for p in paired)
        ends = [words.format_p(p, threshold=0.05).short for p in (min(paired), max(paired))]
        p_values = words.p_is(ends[0]) if ends[0] == ends[1] else f"p from {ends[0]} to {ends[1]}"
        if rejecting in (0, len(paired)):
            found = "a significant difference" if rejecting else "no significant difference"
            said = f"All {words.count(len(paired), 'paired test')} agree: {found} ({p_values})"
        else:
            verb = "finds" if rejecting == 1 else "find"
            number = f"{rejecting:,} of {words.count(len(paired), 'paired test')}"
            said = f"{number} {verb} a significant difference ({p_values})"
        if self.delta == 0.0:
            return f"{said}. {self.a} and {self.b} have the same score."
        ahead, behind = (self.a, self.b) if (self.delta > 0.0) != self.lower_is_better else (self.b, self.a)
        by = words.format_number(abs(self.delta), words.number_spec([self.score_a, self.score_b]))
        return f"{said}. {ahead} is ahead of {behind} by {by}."


@dataclass(frozen=True, kw_only=True)
class ClassicalOptions(StudyOptions):
    """The options of `classical_tests`."""

    alternative: Alternative = same(
        CompareOptions, "alternative", more="For the first system, a. Chi-square tests are two-sided only."
    )
    method: Literal["auto", "exact", "montecarlo"] = same(
        CompareOptions, "method", doc="For resampling tests: exact (no sampling), Monte Carlo, or auto."
    )
    design: Literal["together", "folds"] = option(
        "together",
        "Folds: the results are those of cross-validation.",
        "Instances are then data sets, and runs their folds, or `REPEAT,FOLD`; columns named data, repeat and fold are "
        "found. Without runs instances are folds.",
        group="Main options",
    )
    folds: int | None = option(
        None, "Number of folds of each repetition; default: as many as there are labels.", group="Main options", least=2
    )
    confidence_level: float = same(CompareOptions, "confidence_level")
    resamples: Resamples = same(CompareOptions, "resamples")
    seed: int = same(CompareOptions, "seed", more="Tests that draw are run again with the next seed, as a check.")


@takes(ClassicalOptions)
@with_progress
def classical_tests(*data: Any, options: ClassicalOptions) -> ClassicalTests | RankTests | StudyRows[FoldTest]:
    r"""Classical tests of two systems beside the permutation test and the bootstrap test; for more systems, rank tests.

    **Paired tests** (paired t, Wald z, sign, Wilcoxon, McNemar) take the differences $d_i$ of units on the only
    statistic on which the systems differ. Means, accuracy and recall have such a statistic. Precision, F1 and BLEU have
    no such statistic. Then these tests are left out, with the reason.

    **Tests of independent systems** (two-sample t, binomial z, chi-square) are here to show what this assumption costs:
    it multiplies the standard deviation of delta by the factor $s_{d-ind} / s_d = \sqrt{s_1^2 + s_2^2} / s_d$.

    For identical systems every p is 1. Tests that draw resamples run again with `seed + 1`. For a paired t test over k
    folds, give k numbers per system. Or give the folds as clusters: each cluster is also scored alone, and a paired t
    test compares these scores.

    **More tests.** With three or more systems, instances are taken as data sets: Friedman's test and its post-hoc tests
    (`RankTests`). With design="folds", results are taken from cross-validation: each pair and data set has the
    corrected resampled t test and, for 5 repetitions of 2 folds, Alpaydin's F test (`FoldTest`). The metric "auc" has
    DeLong's test.

    Args:
        data: systems as `compare` takes them (an `Evaluation`, a data frame, a path, ...); or two arrays, a and b,
            `[instance]` or `[instance, input]`, of the same instances in the same order.
        options: the fields of `ClassicalOptions`, as keyword arguments.

    Raises:
        InputError: there are fewer than two systems, reading options are given with an `Evaluation`, or `compare`
            refuses the data.

    Reference: Yeh (2000), "More accurate tests for the statistical significance of result differences".

    Example:
        >>> a, b = [1, 1, 1, 1, 1, 1, 0, 1], [0, 1, 0, 0, 0, 0, 0, 0]
        >>> result = classical_tests(a, b, read={"metric": "accuracy"})
        >>> result["sign (exact)"].p_value, result.comparisons[0].p_value
        (0.03125, 0.03125)
        >>> round(result["two-sample t"].statistic * result.factor, 6) == round(result["paired t"].statistic, 6)
        True
    """
    check(options)
    evaluation = _systems(data, options)
    if options.design == "folds" or len(evaluation.systems) > 2:
        _refuse_ignored(evaluation, options)
    if options.folds is not None and options.design != "folds":
        raise InputError(f"{Hint('folds')} is for design folds; give both, or neither")
    if options.design == "folds":
        return fold_tests(evaluation, folds=options.folds, confidence_level=options.confidence_level)
    if len(evaluation.systems) > 2:
        return rank_tests(evaluation, confidence_level=options.confidence_level)
    num_units = evaluation.num_units

    def run(tests: Sequence[Test], **changes: Any) -> Report:
        return compare(evaluation, interval="none", **values(options, CompareOptions, read=None, test=tests, **changes))

    no_bootstrap = ONE_UNIT if num_units == 1 else NO_SAMPLE if evaluation.unit == "response" else None
    report = run(("permutation",) if no_bootstrap else ("permutation", "bootstrap"))
    drawn: list[Test] = [each.test for each in report if each.method == "montecarlo"]
    second = tuple(run(drawn, seed=(options.seed + 1) % 2**64)) if drawn else ()
    results, kept, related = all_tests(evaluation, options.alternative)
    if no_bootstrap:
        results.append(InapplicableTest("bootstrap", no_bootstrap))
    without_content = f"{num_units - kept:,} of {num_units:,} units have nothing to score"
    notes = (f"{without_content}: the classical tests leave them out",) if kept < num_units else ()
    one = report.comparisons[0]
    return ClassicalTests(
        *(one.a, one.b, one.metric, one.score_a, one.score_b, one.delta, options.alternative, kept, *related),
        tests=tuple(each for each in results if isinstance(each, ClassicalTest)),
        left_out=tuple(each for each in results if isinstance(each, InapplicableTest)),
        comparisons=tuple(report),
        second=second,
        notes=(*report.notes, *notes),
        signature=report.signature,
        lower_is_better=not evaluation.metric.higher_is_better,
    )


def _refuse_ignored(evaluation: EvaluationRecord, options: ClassicalOptions) -> None:
    """Raise an error for options that fold tests and rank tests would ignore.

    Both kinds of tests are two-sided and draw no resamples.
    """
    tests = "tests of folds" if options.design == "folds" else "tests of three systems or more, by ranks,"
    plain = ClassicalOptions()
    for name in ("alternative", "method", "resamples", "seed"):
        if (given := getattr(options, name)) != getattr(plain, name):
            raise InputError(f"{tests} are two-sided and draw nothing; leave out {Hint(name, str(given))}")
    for name, labels in (("cluster", evaluation.clusters), ("strata", evaluation.strata)):
        if labels is not None:
            raise InputError(f"{tests} take each data set by itself; leave out {Hint(name)}")


def _systems(systems: Sequence[Any], options: ClassicalOptions) -> EvaluationRecord:
    if len(systems) == 2 and all(map(is_array, systems)):
        metric = metric_of_arrays(reading(options.read))
        return evaluation_from_arrays(dict(zip("ab", systems, strict=True)), metric=metric)
    if len(systems) != 1 or is_array(systems[0]):
        raise InputError(f"expected what compare takes, of two systems, or two arrays a and b; got {len(systems)}")
    folds = options.design == "folds"
    evaluation, *others = study_data(systems[0], options.read, ALL, folds=folds, progress=options.progress)
    if others:
        raise InputError(f"classical tests take one metric, got {1 + len(others)}; name one ({Hint('metric', 'NAME')})")
    if len(evaluation.systems) < 2:
        raise InputError(f"expected two systems or more, got {len(evaluation.systems)}")
    evaluation.check_complete()
    return evaluation


ASSUMES = {"permutation": "outputs for a unit may be swapped", "bootstrap": "units are a random sample, and many"}
GROUPS = {True: "paired tests", False: "tests of independent systems"}
TableRow = tuple[str, str, str, str]
_LEAST = 24
"""Smallest width of the column of assumptions, in characters."""


@dataclass(frozen=True, repr=False)
class ByMetrics(Result):
    """The classical tests by several metrics, one after another."""

    results: tuple[ClassicalTests, ...]

    def document(self) -> Document:
        """The document has the tests of all metrics."""
        first, *others = (each.document() for each in self.results)
        blocks = [part for other in others for part in ("", other.verdict, *other.blocks)]
        return replace(first, about=", ".join(each.metric for each in self.results), blocks=[*first.blocks, *blocks])

    def _rows(self) -> list[dict[str, Any]]:
        return [{"metric": each.metric} | row for each in self.results for row in each._rows()]

    @property
    def _schema(self) -> str:
        return "tests"

    def _fields(self) -> dict[str, Any]:
        return {"results": [fields for each in self.results for fields in each._fields()["results"]]}


def _compared(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    return [{key: getattr(one, key) for key in PAIR_KEYS} | {"seed": one.settings.seed} for one in comparisons]


def _tables(result: ClassicalTests) -> list[Block]:
    """Return a heading and a table for each group of tests, with one row per test."""
    groups = {"resampling": _resampled(result)}
    groups |= {title: [_row(test) for test in result if test.paired == paired] for paired, title in GROUPS.items()}
    header = ("test", "statistic", "p", "assumes (besides independent units)")
    blocks: list[Block] = []
    for title, rows in groups.items():
        blocks += [f"{title}:", table_of(header, rows, (0, 3), (3,))] if rows else []
    return blocks


def _resampled(result: ClassicalTests) -> list[TableRow]:
    """Return the table rows of the resampling tests.

    If a test was run again with the next seed, the second run has the row below the first run.
    """
    spec = words.number_spec([result.delta])
    rows: list[TableRow] = []
    for first in result.comparisons:
        for one in (first, *(other for other in result.second if other.test == first.test)):
            seed = f", seed {one.settings.seed}" if one.method == "montecarlo" else ""
            name = f"{one.test} ({words.METHODS[one.method]}{seed})"
            rows.append((name, words.format_number(one.delta, f"+{spec}"), words.format_raw_p(one), ASSUMES[one.test]))
    return rows


def _row(test: ClassicalTest) -> TableRow:
    rank_or_count = (2.0 * test.statistic).is_integer()
    statistic = f"{test.statistic:z,.10g}" if rank_or_count else f"{test.statistic:z.4g}"
    return test.name, statistic, words.format_p(test.p_value, digits=3, threshold=0.05), test.assumes


def _dependence_line(result: ClassicalTests) -> str:
    """Return a sentence on the correlation of the systems, and on the cost of ignoring this correlation."""
    if result.correlation is None:
        return "r12 (correlation of the systems): none"
    text = f"r12 (correlation of the systems) = {result.correlation:z.2f}"
    if result.factor is None:
        return f"{text}; delta does not vary"
    cost = "assuming independent systems multiplies the standard deviation of delta by this factor"
    return f"{text}; s_d-ind / s_d = {result.factor:.2f}: {cost}"


def _left_out(result: ClassicalTests) -> list[str]:
    """Return one line for each reason, with the tests that were left out for this reason."""
    reasons: dict[str, list[str]] = {}
    for each in result.left_out:
        reasons.setdefault(each.reason, []).append(each.name)
    return [f"left out: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
