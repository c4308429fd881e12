"""Tests for systems (such as classifiers) on many data sets, and for results of cross-validation.

**Three systems or more on data sets** (the instances): Friedman's test with the correction of Iman and Davenport, mean
ranks, and all pairs by Nemenyi's test and by Wilcoxon's test with Holm's correction. The data sets are a sample of
possible data sets. Reference: Demšar (2006), "Statistical comparisons of classifiers over multiple data sets".

**Folds.** The training sets of folds overlap. So the results of folds depend on each other, and a plain t test rejects
far too often. The corrected resampled t test takes $(1/k + n_2/n_1) s^2$ as the variance of the mean of k results,
where $s^2$ is the sample variance of the results. Each result comes from training on $n_1$ instances and testing on
$n_2$. Reference: Nadeau and Bengio (2003), "Inference for the generalization error". For 5 repetitions of 2 folds there
is also the F test of Alpaydin (1999), "Combined 5 x 2 cv F test".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sigjax.metrics import shifted
from sigjax.metrics.ratios import mean_score
from sigjax.records import EvaluationRecord, Hint, InputError
from sigjax.records.settings import adjust
from sigjax.report.document import Document
from sigjax.report.plots import diagram_size, draw_diagram
from sigjax.report.report import Result
from sigjax.report.words import DASH, LOWER, count, format_number, format_p, metric_title, number_spec, p_is
from sigjax.studies.study import StudyRows, plot_panels, signature_line, table_of
from sigjax.studies.tests import doubled_ranks, wilcoxon
from sigjax.testing.uncertainty import standard_errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BETWEEN = " | "
"""The separator between the repetition and the fold in the label of a run."""
_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
"""Relative tolerance: scores that differ by less than this are equal up to rounding."""


def scores_by_data_set(evaluation: EvaluationRecord) -> tuple[list[str], np.ndarray]:
    """Return two things: the names of the data sets, and the mean scores `[data set, system]` over folds or runs."""
    metric = evaluation.metric
    if metric.name == "auc":
        raise InputError(f"DeLong's test is of two systems; name them with {Hint('only', 'A', 'B')}")
    if metric.score is not mean_score:
        raise InputError(
            f"tests over data sets take one score per system and data set, and {metric.name} is no mean of such; give "
            f"the scores in a table ({Hint('score_column')})"
        )
    ids = evaluation.ids or tuple(str(i + 1) for i in range(evaluation.num_instances))
    names = list(dict.fromkeys(ids))
    rows = {name: [i for i, own in enumerate(ids) if own == name] for name in names}
    stats = np.stack([evaluation.stats[:, own].sum(axis=1).astype(float) for own in rows.values()])
    return names, stats[..., 0] / stats[..., 1]


def _measured(evaluation: EvaluationRecord) -> EvaluationRecord:
    """Return the evaluation; large scores are shifted to near 0, so that their differences keep their digits."""
    return evaluation if (shift := shifted(evaluation)) is None else shift.deltas


@dataclass(frozen=True)
class RankPair:
    """Two systems compared over data sets.

    Attributes:
        a: name of the system with the better mean rank.
        b: name of the other system.
        rank_difference: mean rank of b - mean rank of a.
        nemenyi_p: p-value of Nemenyi's test; the test itself adjusts for all pairs.
        wilcoxon_p: p-value of Wilcoxon's signed-rank test of the differences, not adjusted.
        p_adjusted: wilcoxon_p, adjusted by Holm for all pairs.
    """

    a: str
    b: str
    rank_difference: float
    nemenyi_p: float
    wilcoxon_p: float
    p_adjusted: float


@dataclass(frozen=True, repr=False)
class RankTests(Result):
    """Three or more systems compared over data sets. Iterating over the result gives the pairs.

    Attributes:
        metric: name of the metric.
        systems: names, the best mean rank first.
        mean_ranks: mean rank of each system; 1 means the best system on every data set.
        scores: mean score of each system over data sets.
        data_sets: number of data sets.
        friedman: Friedman's chi-square, corrected for ties.
        friedman_p: p-value of `friedman`, with systems - 1 degrees of freedom.
        iman_davenport: the F statistic of Iman and Davenport, which is less conservative.
        iman_davenport_p: p-value of `iman_davenport`. If all data sets rank the systems alike, F is infinite, and this
            is the exact p.
        critical_difference: two mean ranks differ significantly by Nemenyi's test if they are at least this far apart.
        confidence_level: 1 - alpha, where alpha is the level of the tests.
        pairs: all pairs.
        signature: one line that states the test, the metric and the level.
        lower_is_better: whether lower scores are better.
    """

    rows = "pairs"

    metric: str
    systems: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    scores: tuple[float, ...]
    data_sets: int
    friedman: float
    friedman_p: float
    iman_davenport: float
    iman_davenport_p: float
    critical_difference: float
    confidence_level: float
    pairs: tuple[RankPair, ...]
    signature: str
    lower_is_better: bool

    def __iter__(self) -> Iterator[RankPair]:
        """Go through the pairs."""
        return iter(self.pairs)

    @property
    def _schema(self) -> str:
        return "rank-tests"

    def document(self) -> Document:
        """The document has the verdict whether systems differ, and the tables of systems and of pairs."""
        alpha, spec = 1.0 - self.confidence_level, number_spec(self.scores)
        differ = "differ" if self.iman_davenport_p < alpha else "do not differ significantly"
        systems = [
            (name, f"{rank:.3f}", format_number(score, spec))
            for name, rank, score in zip(self.systems, self.mean_ranks, self.scores, strict=True)
        ]
        pairs = [
            (pair.a, pair.b, f"{pair.rank_difference:.3f}", *(format_p(p, threshold=alpha) for p in own))
            for pair in self.pairs
            for own in [(pair.nemenyi_p, pair.wilcoxon_p, pair.p_adjusted)]
        ]
        size = f"{metric_title(self.metric)} of {len(self.systems)} systems on {count(self.data_sets, 'data set')}"
        p = format_p(self.iman_davenport_p)
        verdict = f"{size}: they {differ} ({p_is(p)}){LOWER * self.lower_is_better}"
        blocks = [
            f"Friedman chi-square {self.friedman:.4g}, {p_is(format_p(self.friedman_p))}; Iman-Davenport F "
            f"{self.iman_davenport:.4g}, {p_is(format_p(self.iman_davenport_p))}",
            "",
            table_of(("system", "mean rank", "mean score"), systems, (0,)),
            "",
            table_of(("a", "b", "ranks apart", "p (Nemenyi)", "p (Wilcoxon)", "p (Holm)"), pairs, (0, 1)),
            "",
            f"Nemenyi: mean ranks differ at {alpha:.3g} where they are {self.critical_difference:.3f} apart; adjusted "
            "for all pairs",
            "Wilcoxon: signed ranks of the differences on data sets; Holm adjusts it for all pairs",
            "data sets are taken as a random sample of those that systems may meet",
            self.signature,
        ]
        return Document("Data sets", size, verdict, blocks)

    plot = plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        key = f"systems on one bar do not differ by Nemenyi's test: less than {self.critical_difference:.2f} apart"
        title = f"mean ranks on {count(self.data_sets, 'data set')}; 1 is the best"
        yield diagram_size(*self._named())[1], lambda axes: draw_diagram(axes, *self._named(), title, key)

    @property
    def _width(self) -> float:
        return diagram_size(*self._named())[0]

    def _named(self) -> tuple[tuple[str, ...], tuple[float, ...], list[list[int]]]:
        """Return three things for the critical-difference diagram: the names of the systems, their mean ranks, groups.

        A group contains the positions of systems that do not differ significantly.
        """
        ends = [
            int(np.searchsorted(self.mean_ranks, each + self.critical_difference, "right")) for each in self.mean_ranks
        ]
        groups = [list(range(i, end)) for i, end in enumerate(ends) if end - i > 1 and end not in ends[:i]]
        return self.systems, self.mean_ranks, groups


def rank_tests(evaluation: EvaluationRecord, *, confidence_level: float = 0.95) -> RankTests:
    r"""Test three or more systems on data sets by their ranks: Friedman, Iman-Davenport, Nemenyi and Wilcoxon tests.

    Let $R_j$ be the mean rank of system j, for k systems on N data sets. Friedman's statistic is $\chi_F^2 = \frac{12
    N}{k (k + 1)} (\sum_j R_j^2 - k (k + 1)^2 / 4)$, divided by a correction for ties. Iman and Davenport's statistic is
    $F = (N - 1) \chi_F^2 / (N (k - 1) - \chi_F^2)$ with k - 1 and (k - 1)(N - 1) degrees of freedom. If all data sets
    rank the systems alike, F is infinite, and p is exact: $m^{1 - N}$, where m is the number of distinct orders of the
    ranks. Nemenyi's test compares $|R_i - R_j| \sqrt{6 N / (k (k + 1))}$ with the studentized range divided by $\sqrt
    2$.

    Reference: Demšar (2006); Iman and Davenport (1980), "Approximations of the critical region of the Friedman
    statistic"; Nemenyi (1963), "Distribution-free multiple comparisons".

    >>> from sigjax.metrics import evaluation_from_arrays
    >>> scores = {"A": [9, 8, 9, 7, 9], "B": [7, 7, 8, 6, 7], "C": [5, 6, 5, 5, 6]}
    >>> result = rank_tests(evaluation_from_arrays(scores, metric="mean"))
    >>> result.systems, round(result.friedman, 6), round(result.friedman_p, 6)
    (('A', 'B', 'C'), 10.0, 0.006738)
    """
    from scipy.stats import chi2, f, studentized_range

    names, scores = scores_by_data_set(evaluation)
    number, systems = scores.shape
    if systems < 3 or number < 2:
        raise InputError(f"rank tests take three systems or more on two data sets or more, got {systems} on {number}")
    near = scores_by_data_set(_measured(evaluation))[1] * (1.0 if evaluation.metric.higher_is_better else -1.0)
    ranks = np.array([doubled_ranks(-row, _ROUNDING * float(np.abs(row).max())) for row in near]) / 2.0
    means = ranks.mean(axis=0)
    ties = sum(float((own**3 - own).sum()) for row in ranks for own in [np.unique(row, return_counts=True)[1]])
    spread = 12.0 * number / (systems * (systems + 1)) * float(((means - (systems + 1) / 2.0) ** 2).sum())
    untied = 1.0 - ties / (number * (systems**3 - systems))
    friedman = spread / untied if untied > 0.0 else 0.0
    degrees = systems - 1, number - 1
    if friedman > 0.0 and (ranks == ranks[0]).all():
        iman, iman_p = math.inf, _alike_p(ranks[0], number)
    else:
        iman = degrees[1] * friedman / (number * degrees[0] - friedman)
        iman_p = float(f.sf(iman, degrees[0], degrees[0] * degrees[1]))
    scale = math.sqrt(6.0 * number / (systems * (systems + 1)))
    order = sorted(range(systems), key=lambda j: (means[j], j))
    pairs = list(combinations(order, 2))
    tests = [_signed_ranks(near[:, i], near[:, j]) for i, j in pairs]
    adjusted = adjust(np.array(tests), "holm").tolist()
    apart = [float(means[j] - means[i]) for i, j in pairs]
    nemenyi = [float(studentized_range.sf(each * scale * math.sqrt(2.0), systems, np.inf)) for each in apart]
    critical = float(studentized_range.ppf(confidence_level, systems, np.inf)) / math.sqrt(2.0) / scale
    named = evaluation.systems
    return RankTests(
        metric=evaluation.metric.name,
        systems=tuple(named[j] for j in order),
        mean_ranks=tuple(float(means[j]) for j in order),
        scores=tuple(float(scores[:, j].mean()) for j in order),
        data_sets=number,
        friedman=friedman,
        friedman_p=float(chi2.sf(friedman, systems - 1)),
        iman_davenport=iman,
        iman_davenport_p=iman_p,
        critical_difference=critical,
        confidence_level=confidence_level,
        pairs=tuple(
            RankPair(named[i], named[j], own, nemenyi_p, wilcoxon_p, p)
            for (i, j), own, nemenyi_p, wilcoxon_p, p in zip(pairs, apart, nemenyi, tests, adjusted, strict=True)
        ),
        lower_is_better=not evaluation.metric.higher_is_better,
        signature=signature_line(test="friedman", metric=evaluation.metric.name, level=f"{confidence_level:g}"),
    )


def _alike_p(ranks: np.ndarray, number: int) -> float:
    """Return the probability that all `number` data sets have the same ranking by chance.

    `ranks` `[system]` is this ranking; ties are allowed.
    """
    ties = np.unique(ranks, return_counts=True)[1]
    return math.exp((1 - number) * (math.lgamma(len(ranks) + 1) - sum(math.lgamma(own + 1) for own in ties)))


def _signed_ranks(a: np.ndarray, b: np.ndarray) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test for scores `[data set]` of two systems.

    Differences within the rounding error count as 0.
    """
    rounding = _ROUNDING * float(np.abs([a, b]).max())
    return wilcoxon(_differences(a, b, rounding), "two-sided", rounding=rounding).p_value


def _differences(a: np.ndarray, b: np.ndarray, rounding: float) -> np.ndarray:
    """Return the differences a - b, where differences up to `rounding` are set to 0."""
    return np.where(np.abs(a - b) <= rounding, 0.0, a - b)


@dataclass(frozen=True)
class FoldTest:
    """Two systems compared by cross-validation on one data set.

    Attributes:
        data_set: name of the data set; empty if there is only one data set.
        a: name of the first system.
        b: name of the second system.
        score_a: mean score of a over folds.
        score_b: mean score of b over folds.
        delta: score_a - score_b.
        results: number of results of each system: folds times repetitions.
        folds: number of folds of each repetition.
        statistic: the corrected resampled t, with results - 1 degrees of freedom. None if all folds differ by the same
            number: then t is not defined.
        p_value: two-sided p-value of t.
        f_statistic: the F statistic of the 5x2cv test, with 10 and 5 degrees of freedom; None for other designs.
        f_p_value: p-value of F.
        interval: confidence interval of delta, from the corrected t.
    """

    data_set: str
    a: str
    b: str
    score_a: float
    score_b: float
    delta: float
    results: int
    folds: int
    statistic: float | None
    p_value: float | None
    f_statistic: float | None
    f_p_value: float | None
    interval: tuple[float, float] | None


def corrected_t(differences: np.ndarray, folds: int, rounding: float = 0.0) -> tuple[float, float, float] | None:
    r"""The corrected resampled t test. Return t, its two-sided p-value, and the standard error of delta.

    Let k be the number of `differences` `[result]`, $\bar d$ and $s^2$ their mean and sample variance, and m the number
    of `folds` of each repetition. Then $t = \bar d / \sqrt{(1/k + 1/(m - 1)) s^2}$ with k - 1 degrees of freedom. The
    term 1/(m - 1) is the size of a test set over the size of its training set. If all differences are 0, p is 1. If all
    differences are the same (within `rounding`), but not 0, then t is not defined, and the result is None.

    >>> t, p, error = corrected_t(np.array([1.0, 2.0, 3.0, 2.0, 2.0]), 5)
    >>> round(t, 4), round(p, 4)
    (4.2164, 0.0135)
    """
    from scipy.special import stdtr

    k, mean = len(differences), float(differences.mean())
    if not differences.any():
        return 0.0, 1.0, 0.0
    if np.ptp(differences) <= rounding:
        return None
    error = math.sqrt(1.0 / k + 1.0 / (folds - 1)) * float(standard_errors(differences[None])[0])
    t = mean / error
    return t, 2.0 * float(stdtr(k - 1, -abs(t))), error


def five_by_two(differences: np.ndarray, rounding: float = 0.0) -> tuple[float, float] | None:
    r"""Alpaydin's F statistic and its p-value, for differences `[repetition, fold]` of 5 repetitions of 2 folds.

    Let $d_{ij}$ be the difference on fold j of repetition i, and $\bar d_i$ the mean of both folds. $F = \sum_{ij}
    d_{ij}^2 / (2 \sum_i s_i^2)$ with $s_i^2 = (d_{i1} - \bar d_i)^2 + (d_{i2} - \bar d_i)^2$ has 10 and 5 degrees of
    freedom. If the two folds of each repetition have the same difference (within `rounding`), F is not defined, and the
    result is None. If all differences are 0, p is 1.

    >>> f, p = five_by_two(np.array([[1.0, 2.0], [2.0, 3.0], [1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]))
    >>> round(f, 4), round(p, 4)
    (4.6, 0.053)
    """
    from scipy.stats import f as f_distribution

    if not differences.any():
        return 0.0, 1.0
    if np.ptp(differences, axis=1).max() <= rounding:
        return None
    scaled = np.ldexp(differences, -math.frexp(float(np.abs(differences).max()))[1])  # so that squares do not overflow
    within = float(((scaled - scaled.mean(axis=1, keepdims=True)) ** 2).sum())
    statistic = float((scaled**2).sum()) / (2.0 * within)
    return statistic, float(f_distribution.sf(statistic, 10, 5))


def fold_tests(
    evaluation: EvaluationRecord, *, folds: int | None = None, confidence_level: float = 0.95
) -> StudyRows[FoldTest]:
    """Test all pairs of systems by cross-validation, separately on each data set.

    The instances of the evaluation are data sets, and its runs are folds, labelled by fold, or by repetition and fold.
    Without runs, the instances are the folds of one data set. `folds` is the number of folds of each repetition; by
    default, the number of distinct fold labels.

    >>> from sigjax.metrics import evaluation_from_arrays
    >>> scores = {"A": [0.9, 0.8, 0.9, 0.7, 0.8], "B": [0.7, 0.7, 0.8, 0.7, 0.7]}
    >>> (test,) = fold_tests(evaluation_from_arrays(scores, metric="mean"))
    >>> round(test.delta, 3), test.folds, round(test.p_value, 4)
    (0.1, 5, 0.1027)
    """
    from scipy.special import stdtrit

    if evaluation.metric.score is not mean_score:
        raise InputError(f"tests of folds take one number per fold, and {evaluation.metric.name} is no mean")
    values, near = (each.stats[..., 0] / each.stats[..., 1] for each in (evaluation, _measured(evaluation)))
    ids = evaluation.ids or ("",) * evaluation.num_instances
    labels = evaluation.runs
    if labels is None:
        labels, ids = tuple(map(str, range(evaluation.num_instances))), ("",) * evaluation.num_instances
    made, several = list[FoldTest](), len(set(ids)) > 1
    for name in dict.fromkeys(ids):
        rows = [i for i, own in enumerate(ids) if own == name]
        parts = [labels[i].rpartition(_BETWEEN) for i in rows]
        count_of = folds or len({fold for _, _, fold in parts})
        if len(rows) < 2 or count_of < 2:
            raise InputError(f"data set {name!r}: has {count(len(rows), 'fold')}; a test takes two or more")
        repeats = sorted({repeat for repeat, _, _ in parts})
        order = sorted(range(len(rows)), key=lambda k: (parts[k][0], parts[k][2]))
        is_five = count_of == 2 and len(repeats) == 5 and len(rows) == 10
        for a, b in combinations(range(len(evaluation.systems)), 2):
            rounding = _ROUNDING * float(np.abs(near[[a, b]][:, rows]).max())
            differences = _differences(near[a, rows], near[b, rows], rounding)
            delta, interval, t, p = float(differences.mean()), None, None, None
            if (of_folds := corrected_t(differences, count_of, rounding)) is not None:
                t, p, error = of_folds
                half = float(stdtrit(len(rows) - 1, (1 + confidence_level) / 2)) * error
                interval = delta - half, delta + half
            f, f_p = (is_five and five_by_two(differences[order].reshape(5, 2), rounding)) or (None, None)
            score_a, score_b = (float(values[system, rows].mean()) for system in (a, b))
            names = evaluation.systems[a], evaluation.systems[b]
            about = (*names, score_a, score_b, delta, len(rows), count_of)
            made.append(FoldTest(name * several, *about, t, p, f, f_p, interval))  # pyright: ignore[reportCallIssue]
    return StudyRows(made, "fold-tests", "tests", _fold_document)


def _fold_document(tests: Sequence[FoldTest]) -> Document:
    spec = number_spec([number for test in tests for number in (test.score_a, test.score_b, test.delta)])
    several, five = len({test.data_set for test in tests}) > 1, any(test.f_p_value is not None for test in tests)
    header = (*(["data set"] * several), "a", "b", "delta", "interval", "t", "p", *(["p (5x2cv F)"] * five))
    rows = [
        (
            *([test.data_set] * several),
            *(test.a, test.b, format(test.delta, f"+{spec}")),
            DASH if test.interval is None else f"[{test.interval[0]:+{spec}}, {test.interval[1]:+{spec}}]",
            DASH if test.statistic is None else f"{test.statistic:.4g}",
            *(DASH if p is None else format_p(p) for p in (test.p_value, *([test.f_p_value] * five))),
        )
        for test in tests
    ]
    first = tests[0]
    repeated = f", {first.results // first.folds} times" if first.results > first.folds else ""
    title = f"{first.folds}-fold cross-validation{repeated}: corrected resampled t test (Nadeau and Bengio), two-sided"
    significant = sum(test.p_value is not None and test.p_value < 0.05 for test in tests)
    verb = "has" if significant == 1 else "have"
    verdict = f"{significant:,} of {count(len(tests), 'difference')} {verb} p < 0.05, not adjusted."
    blocks = [
        title,
        "",
        table_of(header, rows, (0, 1, 2) if several else (0, 1)),
        "",
        "folds share training data, so that their results depend on each other: p of a plain t test of them, or of "
        "resampled folds, is too small. p is of each pair and data set alone, not adjusted",
        *(
            ["–: all folds differ by the same number, so that no t is defined"]
            if any(t.p_value is None for t in tests)
            else []
        ),
    ]
    return Document("Folds", title, verdict, blocks)
