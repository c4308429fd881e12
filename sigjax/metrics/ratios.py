"""Ratios of two sums: the mean, accuracy and ratio; and functions that all metrics of counts share.

A mean is a sum of values over a sum of ones. So the mean stays right if clusters of different sizes are resampled.

This module also has precision, recall and F1 from counts, and the error rate, precision and recall of word alignments.

**Counts** are first added over instances (micro average); if the denominator is 0, the score is 0. The counts are tp
(correct items), predicted (items of the system) and gold (items of the reference). All systems have the same gold
counts. So two systems differ in only one count for recall, and in two counts for precision and F1. All three can be
tested without sampling. Reference for their tests: Yeh (2000), "More accurate tests for the statistical significance of
result differences".

**Alignments.** A are the links of a system, S the sure links of the gold alignment, and P its possible links; S is a
part of P. The inputs are |A∩S| (sure_matched), |A∩P| (possible_matched), |A| (predicted) and |S| (sure). The error rate
needs only the sum of sure_matched and possible_matched. So two systems differ in two counts for the error rate, and in
one count for recall. Reference: Och and Ney (2003), "A systematic comparison of various statistical alignment models".

**Large numbers** are shifted to near 0 before anything is rounded. For example, time stamps in microseconds differ only
in their last digits. A double has 16 digits, so a large score has a large rounding error. This error may be larger than
the difference of two scores. A mean can be shifted: replace the value $x_i$ of instance i by $x_i - o_i c_i$, where
$c_i$ is its count and $o_i$ its shift. If all systems share the counts and the shifts, no difference of two scores
changes, on any resample. If all $o_i$ are equal to o, each score decreases by o.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from sigjax.records import Array, EvaluationRecord, Hint, InputError, Metric


def divide(numerator: Array, denominator: Array) -> Array:
    """`numerator / denominator` `[...]`, and 0 if the denominator is 0 (for example, if no item is predicted).

    >>> divide(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    xp = numerator.__array_namespace__()
    empty = denominator == 0
    return xp.where(empty, 0.0, numerator / xp.where(empty, 1.0, denominator))


_MONOTONE: set[Callable[..., Array]] = set()


def monotone(score: Callable[..., Array]) -> Callable[..., Array]:
    """Declare that a score is a ratio of two weighted sums of statistics, or a mean; exact tests rely on it.

    If no statistic is negative, the score is monotone in each statistic while the other statistics are fixed. Also,
    swaps do not change the total of both systems. Then, for any t >= 0, the sums of a system for which the difference
    of scores is below t form a convex set.
    """
    _MONOTONE.add(score)
    return score


def is_monotone(score: Callable[..., Array]) -> bool:
    """Whether a score function was declared with `monotone`.

    >>> is_monotone(ratio_score), is_monotone(lambda sums: sums[..., 0] ** 2)
    (True, False)
    """
    return score in _MONOTONE


@monotone
def ratio_score(sums: Array) -> Array:
    r"""Ratio of sums, $\sum_i n_i / \sum_i d_i$, such as precision and recall; 0 if the denominator is 0.

    Sums `[..., stat]` with stat = (numerator, denominator) give scores `[...]`.

    >>> float(ratio_score(np.array([3.0, 4.0])))
    0.75
    """
    return divide(sums[..., 0], sums[..., 1])


@monotone
def mean_score(sums: Array) -> Array:
    r"""Mean, $\sum_i x_i / n$ of n instances; equal to `ratio_score`.

    If a metric has this score function, other modules treat it as a mean, for example for intervals of proportions.
    """
    return ratio_score(sums)


def refuse_where(wrong: np.ndarray, rule: str, column: np.ndarray, advice: str = "") -> None:
    """Raise an error if any entry of `wrong` `[instance]` is true.

    The message has the `rule` that is broken, the first wrong number of `column`, and `advice`.

    >>> refuse_where(np.array([False, True]), "label must be 0 or 1", np.array([1, 2]))
    Traceback (most recent call last):
        ...
    sigjax.InputError: label must be 0 or 1, got 2 at instance 2
    """
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(f"{rule}, got {column[i]:g} at instance {i + 1}{advice}")


def stack_counts(names: Sequence[str], limits: Sequence[tuple[int, int]], *columns: np.ndarray) -> np.ndarray:
    """Stack columns `[instance]` of counts to `[instance, stat]`; raise an error if a number cannot be a count.

    `limits` are tuples (part, whole) of indices of columns. A part must not exceed its whole.

    >>> stack_counts(("correct", "total"), [(0, 1)], np.array([1, 0]), np.array([2, 3]))
    array([[1, 2],
           [0, 3]])
    """
    for name, column in zip(names, columns, strict=True):
        refuse_where((column < 0) | (column != np.rint(column)), f"{name} must be a whole number from 0", column)
    for part, whole in limits:
        wrong = np.flatnonzero(columns[part] > columns[whole])
        if wrong.size:
            i = wrong[0]
            raise InputError(
                f"{names[part]} must not be above {names[whole]}, got {columns[part][i]:g} and {columns[whole][i]:g} "
                f"at instance {i + 1}; the columns are {', '.join(names)}"
            )
    return np.stack(columns, axis=-1)


def stack_nonnegative(names: Sequence[str], checked: Sequence[int], *columns: np.ndarray) -> np.ndarray:
    """Stack columns `[instance]` to `[instance, stat]`; raise an error if a `checked` column has a negative number."""
    for i in checked:
        refuse_where(columns[i] < 0, f"{names[i]} must not be below 0", columns[i])
    return np.stack(columns, axis=-1)


def _with_ones(value: np.ndarray) -> np.ndarray:
    stats = np.ones((*value.shape, 2), value.dtype)
    stats[..., 0] = value
    return stats


def _short_of_one(value: np.ndarray) -> np.ndarray:
    return _with_ones(np.maximum(1.0 - value, 0.0))


def _right_or_wrong(value: np.ndarray) -> np.ndarray:
    advice = "; use the metric mean for other numbers"
    refuse_where((value != 0) & (value != 1), "accuracy takes 0 or 1 for each instance", value, advice)
    return _with_ones(value)


SHARES, PERCENT, RATES = (0.0, 1.0), (0.0, 100.0), (0.0, math.inf)
"""The lowest and the highest possible score: `SHARES` for shares, `PERCENT` for percentages, `RATES` for rates."""
_TWO, _TOKENS = ("numerator", "denominator"), ("correct", "tokens")
RATIO = Metric("ratio", ratio_score, _TWO, partial(stack_nonnegative, _TWO, (1,)), _TWO, portable=True)
"""The ratio of two sums. A negative denominator raises an error, since a ratio jumps if its denominator passes 0."""
MEAN = Metric("mean", mean_score, ("value", "count"), _with_ones, ("value",), portable=True)
ACCURACY = replace(MEAN, name="accuracy", extract=_right_or_wrong, bounds=SHARES)
TOKEN_ACCURACY = replace(
    ACCURACY, extract=partial(stack_counts, _TOKENS, [(0, 1)]), inputs=_TOKENS, shared_inputs=("tokens",)
)
"""Accuracy of tokens; the instances are sentences."""
OPTIMALITY_GAP = replace(
    MEAN,
    name="optimality-gap",
    extract=_short_of_one,
    higher_is_better=False,
    bounds=(0.0, math.inf),
    title="optimality gap",
)
r"""The mean shortfall of scores below 1, $\frac{1}{n} \sum_i \max(1 - x_i, 0)$; lower is better (Agarwal et al. 2021).

Example:
    >>> OPTIMALITY_GAP.extract(np.array([0.25, 3.0]))[:, 0]
    array([0.75, 0.  ])"""
RATIOS = (MEAN, ACCURACY, RATIO, OPTIMALITY_GAP)
_TRIALS = re.compile(r"pass([@^])([1-9]\d*)|flip-rate")
LARGEST_WHOLE = 2**53
"""Doubles hold every whole number up to this number."""


@dataclass(frozen=True)
class TrialShares:
    """The `extract` function of pass@k, pass^k and the flip rate, for instances with several runs.

    A run is 1 if it passes, else 0. The share of an instance is the share of its subsets of k runs in which any run
    passes (`kind` "@"), all runs pass ("^"), or runs differ ("").
    """

    name: str
    kind: str
    k: int

    def __call__(self, value: np.ndarray) -> np.ndarray:
        """Check that the values `[run]` are 0 or 1, and return statistics `[run, stat]`; see `of_runs`."""
        advice = "; use mean for other numbers (logs give those of systems whose runs differ: take the same runs)"
        refuse_where((value != 0) & (value != 1), f"{self.name} takes 0 or 1 for each run", value, advice)
        return _with_ones(value)

    def share(self, right: int, runs: int) -> Fraction:
        """Return the share of an instance of which `right` of `runs` runs are right.

        This is the share of its subsets of k runs in which any run passes, all runs pass, or runs differ (see `kind`).

        >>> [str(trial_metric(name).extract.share(3, 5)) for name in ("pass@2", "pass^2", "flip-rate")]
        ['9/10', '3/10', '3/5']
        """
        every, none, all_right = (math.comb(number, self.k) for number in (runs, runs - right, right))
        return Fraction({"@": every - none, "^": all_right, "": every - none - all_right}[self.kind], every)

    def of_runs(self, right: np.ndarray, labels: Sequence[str]) -> np.ndarray:
        """Return statistics `[system, run, stat]` of answers (0 or 1) `[system, run]`.

        `labels` `[run]` name the instance of each run.

        The share of an instance, and its weight of 1, are divided equally among its runs. All shares and weights are
        multiplied by one factor that makes them whole numbers, so that equal scores tie. If this factor is too large
        for doubles, they are not multiplied, and the statistics are fractions.
        """
        names, instance, runs = np.unique(np.array(labels), return_inverse=True, return_counts=True)
        if (short := np.flatnonzero(runs < self.k)).size:
            count = int(runs[short[0]])
            raise InputError(
                f"{self.name} needs {self.k} runs of every instance, and {str(names[short[0]])!r} has {count}; take a "
                f"smaller k, or name the column that tells runs apart ({Hint('runs')})"
            )
        passed = np.stack([np.bincount(instance, row, len(runs)) for row in right]).astype(np.int64)[:, instance]
        parts = {n: [self.share(c, n) / n for c in range(n + 1)] for n in np.unique(runs).tolist()}
        scale = math.lcm(*(part.denominator for n, own in parts.items() for part in (*own, Fraction(1, n))))
        scale = scale if scale * len(runs) <= LARGEST_WHOLE else 1
        stats = np.empty((*right.shape, 2))
        for n, own in parts.items():
            rows = runs[instance] == n
            stats[:, rows, 0] = np.array([float(part * scale) for part in own])[passed[:, rows]]
            stats[:, rows, 1] = scale / n
        return stats


def trial_metric(name: str) -> Metric | None:
    r"""The metric for a name such as pass@1, pass^4 or flip-rate, about the trials (runs) of an instance; else None.

    Suppose c of n runs pass. $pass@k = 1 - \binom{n - c}{k} / \binom{n}{k}$ is the chance that any of k different runs
    passes (Chen et al. 2021). $pass^k = \binom{c}{k} / \binom{n}{k}$ is the chance that all k pass (Yao et al. 2024).
    The flip rate $2 c (n - c) / (n (n - 1)) = pass@2 - pass^2$ is the chance that two runs disagree. All three are
    unbiased for new runs. The score is the mean over instances; the runs of an instance are resampled together.

    >>> trial_metric("pass^4").extract.share(5, 8), trial_metric("pass^0")
    (Fraction(1, 14), None)
    """
    if not (match := _TRIALS.fullmatch(name)):
        return None
    extract = TrialShares(name, match[1] or "", int(match[2] or 2))
    names = {"stat_names": ("value", "weight"), "weight": "weight"}
    return replace(MEAN, name=name, extract=extract, **names, bounds=SHARES, higher_is_better=name != "flip-rate")


FBETA = re.compile(r"f\d+(\.\d+)?")
"""Pattern of the names of F-beta, such as f2 and f0.5."""
_LINKS = ("sure_matched", "possible_matched", "predicted", "sure")


@monotone
def f1_score(sums: Array) -> Array:
    r"""F1, the harmonic mean of precision and recall, $2\,tp / (predicted + gold)$.

    Sums `[..., stat]` with stat = (tp, predicted, gold) give scores `[...]` in [0, 1]; 0 if no item is predicted and
    the reference has no item.

    >>> float(f1_score(np.array([30.0, 40.0, 80.0])))
    0.5
    """
    return divide(2.0 * sums[..., 0], sums[..., 1] + sums[..., 2])


@lru_cache
def fbeta(name: str) -> Metric | None:
    r"""The metric F-beta for a name such as f2 or f0.5: $(1 + b^2)\,tp / (predicted + b^2 gold)$; None for other names.

    Recall is b times as important as precision (van Rijsbergen 1979).

    >>> float(fbeta("f2").score(np.array([30.0, 40.0, 80.0])))
    0.4166666666666667
    """
    if not FBETA.fullmatch(name):
        return None
    square = float(name[1:]) ** 2
    if square == 1.0:
        return FSCORE

    @monotone
    def score(sums: Array) -> Array:
        return divide((1.0 + square) * sums[..., 0], sums[..., 1] + square * sums[..., 2])

    return replace(FSCORE, name=name, score=score, portable=False, title=name.upper())


def fscore_ratios_score(sums: Array) -> Array:
    r"""F1 of a recall and a precision that count different things (coreference): $2 p r / (p + r)$.

    Sums `[..., stat]` with stat = (recall numerator and denominator, precision numerator and denominator) give scores
    `[...]` in [0, 1]. The score is 0 if recall or precision is 0, or if its denominator is 0.

    >>> float(fscore_ratios_score(np.array([1.0, 2.0, 1.0, 4.0]))) == 2 * 0.5 * 0.25 / 0.75
    True
    """
    recall, precision = divide(sums[..., 0], sums[..., 1]), divide(sums[..., 2], sums[..., 3])
    return divide(2.0 * recall * precision, recall + precision)


@monotone
def fscore_errors_score(sums: Array) -> Array:
    r"""F1 from correct items and errors, $2\,tp / (2\,tp + incorrect)$: section 2 of Zmigrod et al. (2022).

    Sums `[..., stat]` with stat = (tp, incorrect) give scores `[...]` in [0, 1]; 0 if both sums are 0. `incorrect`
    counts false positives and false negatives.

    >>> float(fscore_errors_score(np.array([3.0, 2.0])))
    0.75
    """
    return divide(2.0 * sums[..., 0], 2.0 * sums[..., 0] + sums[..., 1])


@monotone
def aer_score(sums: Array) -> Array:
    r"""Alignment error rate, $1 - (|A \cap S| + |A \cap P|) / (|A| + |S|)$; lower is better.

    Sums `[..., stat]` with stat = (matched, predicted, sure), where matched counts sure matches twice, give scores
    `[...]` in [0, 1]; 1 if no link is predicted and the gold alignment has no sure link.

    >>> float(aer_score(np.array([30.0, 20.0, 20.0])))
    0.25
    """
    return 1.0 - divide(sums[..., 0], sums[..., 1] + sums[..., 2])


def stack_matches(kept: slice, tp: np.ndarray, predicted: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Check tp, predicted and gold `[instance]`; return the columns in the slice `kept` as `[instance, stat]`."""
    for name, limit in (("predicted", predicted), ("gold", gold)):
        wrong = np.flatnonzero((tp < 0) | (tp > limit))
        if wrong.size:
            i = wrong[0]
            raise InputError(
                f"tp must lie between 0 and {name}, got tp = {tp[i]:g} and {name} = {limit[i]:g} at instance {i + 1}; "
                "check which columns are tp, predicted and gold"
            )
    return np.stack([tp, predicted, gold], axis=-1)[:, kept]


def aer_extract(*columns: np.ndarray) -> np.ndarray:
    """Return statistics `[instance, stat]` with stat = (matched, predicted, sure).

    `columns` are four counts `[instance]`: sure_matched, possible_matched, predicted and sure. `matched` is the sum of
    sure_matched and possible_matched.
    """
    sure_matched, possible_matched, predicted, sure = stack_counts(_LINKS, [(0, 1), (1, 2), (0, 3)], *columns).T
    return np.stack([sure_matched + possible_matched, predicted, sure], axis=-1)


def _of_matches(name: str, score: Callable[[Array], Array], kept: slice, title: str = "") -> Metric:
    inputs = ("tp", "predicted", "gold")
    extract = partial(stack_matches, kept)
    made = Metric(name, score, inputs[kept], extract, inputs, shared_inputs=("gold",), portable=True, bounds=SHARES)
    return replace(made, title=title)


FSCORE = _of_matches("fscore", f1_score, slice(3), "F1")
PRECISION = _of_matches("precision", ratio_score, slice(2))
RECALL = _of_matches("recall", ratio_score, slice(0, 3, 2))

TREEBANKS = tuple(
    replace(FSCORE, name=title.lower(), title=title)
    for title in ("LAS", "UAS", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "CLAS", "MLAS", "BLEX")
)
"""F1 of the words of dependency trees. A word is correct (tp) if it matches a gold word and these are right:

- las: head and relation (without its subtype); uas: head;
- upos, xpos: universal or language-specific part of speech; ufeats: universal features; alltags: all three;
- lemmas: lemma (if the gold word has no lemma, any lemma is right).

If system and gold have the same words, these scores are accuracies. Other scores are for content words only. clas: head
and relation; mlas: also the tags, the features and the function words that depend on the word; blex: also the lemma.

Reference: Zeman et al. (2018), "CoNLL 2018 Shared Task: Multilingual Parsing
from Raw Text to Universal Dependencies"."""

_RATIOS = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
_ERRORS = ("tp", "incorrect")
FSCORE_RATIOS = Metric(
    "fscore-ratios", fscore_ratios_score, _RATIOS, partial(stack_nonnegative, _RATIOS, (1, 3)), _RATIOS, title="F1"
)
_stack_errors = partial(stack_nonnegative, _ERRORS, (0, 1))
FSCORE_ERRORS = Metric("fscore-errors", fscore_errors_score, _ERRORS, _stack_errors, _ERRORS, bounds=SHARES, title="F1")

_POSSIBLE, _SURE = _LINKS[1:3], _LINKS[::3]
_of_links = partial(Metric, shared_inputs=("sure",), portable=True, bounds=SHARES)
AER = _of_links(
    "aer", aer_score, ("matched", "predicted", "sure"), aer_extract, _LINKS, higher_is_better=False, title="AER"
)
ALIGNMENT_PRECISION = _of_links(
    "alignment-precision",
    ratio_score,
    _POSSIBLE,
    partial(stack_counts, _POSSIBLE, [(0, 1)]),
    _POSSIBLE,
    shared_inputs=(),
    title="precision",
)
r"""Precision of word alignments, $|A \cap P| / |A|$: the share of the system's links A that are possible links P."""
ALIGNMENT_RECALL = _of_links(
    "alignment-recall", ratio_score, _SURE, partial(stack_counts, _SURE, [(0, 1)]), _SURE, title="recall"
)
r"""Recall of word alignments, $|A \cap S| / |S|$: the share of the sure gold links S that are links A of the system."""
MATCHES = (
    *(PRECISION, RECALL, FSCORE, FSCORE_RATIOS, FSCORE_ERRORS, *TREEBANKS),
    *(AER, ALIGNMENT_PRECISION, ALIGNMENT_RECALL),
)


_SMALL_SUM, _SUM_HIDING_TIES = 2.0**22, 2.0**42
"""Limits on the sums of whole numbers. Below `_SMALL_SUM`, rounding errors are far below 1, so the numbers do not count
as large. From `_SUM_HIDING_TIES` on, rounding errors may hide ties, so the numbers count as large."""
_LARGE = 2.0**16
"""Limit for the size of numbers, as a multiple of the differences between systems or instances. Numbers above it are
shifted to near 0."""
_ROUNDING = 2.0**-51
"""If real numbers vary by less than this fraction of their size, their variation counts as rounding."""
_LARGEST_DECIMAL = 2.0**51
"""Largest multiple for which decimals are computed as whole multiples of the unit of their last digit (such as 0.01).
Above it, two neighbouring decimals may be the same double."""
_MOST_DECIMALS, _FEW = 15, 16
_ANY = (-math.inf, math.inf)
"""The bounds (lowest and highest score) of a metric without limits. Only numbers of such metrics are shifted to near
0."""


class Shifted(NamedTuple):
    """An evaluation with large numbers, shifted to near 0 in three ways, so that no digits are lost."""

    deltas: EvaluationRecord
    """The evaluation with one number per instance subtracted, the same for all systems. So differences of scores stay
    the same."""
    spreads: EvaluationRecord
    """The evaluation `deltas`, with another constant (times the count of each instance) subtracted for each system. The
    differences of two systems vary over the instances as before."""
    scores: EvaluationRecord
    """The evaluation with one constant per system (`shifts`, times the count of each instance) subtracted. The score of
    the system decreases by this constant."""
    shifts: np.ndarray
    """`[system]` float64: the constant that is subtracted for each system in `scores`."""
    means: np.ndarray
    """`[system]` float64: the scores without any shift; for whole numbers and decimals they are rounded only once."""


def shifted(evaluation: EvaluationRecord) -> Shifted | None:
    """Shift large numbers of an evaluation to near 0. Return None if they are not large, or if its score is not a mean.

    >>> from sigjax.metrics import evaluation_from_arrays
    >>> evaluation = evaluation_from_arrays({"A": [10**15 + 3, 10**15 + 1], "B": [10**15, 10**15]}, metric="mean")
    >>> found = shifted(evaluation)
    >>> found.deltas.stats[..., 0].tolist(), found.scores.stats[..., 0].tolist(), found.shifts.tolist()
    ([[3, 1], [0, 0]], [[1, -1], [0, 0]], [1000000000000002.0, 1000000000000000.0])
    """
    metric = evaluation.metric
    if metric.score is None or metric.score not in (mean_score, ratio_score) or metric.bounds != _ANY:
        return None
    stats = evaluation.stats
    if stats.dtype.kind == "i" and float(np.abs(stats[..., 0]).max()) * stats.shape[1] < _SMALL_SUM:
        return None
    if (stats[..., 1] <= 0).any():
        return None
    numbers = _numbers_of(evaluation)
    if not _are_large(numbers):
        return None
    values, counts, _ = numbers
    centres = _centres(values, counts)
    shared = _instance_shifts(evaluation, values, counts)
    shared = centres[:1] * counts if shared is None else shared
    shifts, scores = centres[:, 0] / numbers.scale, _subtracted(evaluation, numbers, centres * counts)
    if values.dtype.kind == "i" == counts.dtype.kind:
        sums = ((sum(top.tolist()), sum(bottom.tolist())) for top, bottom in zip(values, counts, strict=True))
        means = np.array([float(Fraction(top, bottom * numbers.scale)) for top, bottom in sums])
    else:
        means = shifts + metric.score(scores.stats.sum(axis=1))
    left = values - shared
    spreads = _subtracted(evaluation, numbers, shared + _centres(left, counts) * counts)
    return Shifted(_subtracted(evaluation, numbers, shared), spreads, scores, shifts, means)


def _instance_shifts(evaluation: EvaluationRecord, values: np.ndarray, counts: np.ndarray) -> np.ndarray | None:
    """Return one shift per instance, `[instance]`: a median of the systems' values, to be subtracted for all systems.

    All runs of an instance get the same shift. `values` and `counts` `[system, instance]` are the numerators and the
    denominators of the mean. Return None if the systems differ in their counts, or if there are runs with counts other
    than 1.
    """
    if (counts != (counts[:1] if evaluation.runs is None else 1)).any():
        return None
    place = (len(values) - 1) // 2
    middle = np.partition(values, place, axis=0)[place]
    if evaluation.runs is None:
        return middle
    # All runs of an instance get the same shift, since some designs exchange single outputs, or whole runs.
    _, first, which = np.unique(np.array(evaluation.ids), return_index=True, return_inverse=True)
    return middle[first][which]


def shared_shift(evaluations: Sequence[EvaluationRecord]) -> float:
    """Return one shift for all numbers of several evaluations; 0 if no evaluation has large numbers.

    The metric is the same for all evaluations, and is a mean.

    The shift is near the numbers of an evaluation with large numbers. If an evaluation has whole numbers, the shift is
    whole, too, so that no subtraction rounds.
    """
    found = (shifted(each) for each in evaluations)
    near = next((float(each.shifts[0]) for each in found if each is not None), 0.0)
    numbers = map(_numbers_of, evaluations if near else ())
    coarsest = min((each.scale for each in numbers if each.values.dtype.kind == "i"), default=None)
    return near if coarsest is None else round(near * coarsest) / coarsest


def shifted_by(evaluation: EvaluationRecord, shift: float) -> EvaluationRecord:
    """Subtract `shift` (from `shifted` or `shared_shift`) from every number of an evaluation whose metric is a mean."""
    numbers = _numbers_of(evaluation)
    step = np.rint(shift * numbers.scale).astype(np.int64) if numbers.values.dtype.kind == "i" else shift
    return _subtracted(evaluation, numbers, step * numbers.counts)


class _Numbers(NamedTuple):
    """The values and the counts of a mean, both `[system, instance]`.

    The mean is the sum of the values divided by the sum of the counts.
    """

    values: np.ndarray
    """The values: int64 multiples of 1 / `scale` if all values are whole numbers or decimals; else float64."""
    counts: np.ndarray
    """The counts: int64 if all counts are whole numbers, else float64."""
    scale: int


def _numbers_of(evaluation: EvaluationRecord) -> _Numbers:
    values, counts = np.moveaxis(evaluation.stats, -1, 0)
    if (counts == np.rint(counts)).all():
        counts = counts.astype(np.int64)
    if values.dtype.kind == "i":
        return _Numbers(values, counts, 1)
    largest = float(np.abs(values).max())
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10**decimals
        if largest * scale > _LARGEST_DECIMAL:
            break
        # The first few instances rule out most scales.
        if all(np.array_equal(np.rint(some * scale) / scale, some) for some in (values[:, :_FEW], values)):
            return _Numbers(np.rint(values * scale).astype(np.int64), counts, scale)
    return _Numbers(values, counts, 1)


def _centres(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return a number near the mean of each system, `[system, 1]`; 0 if its product with a count might be rounded.

    `values` and `counts` are `[system, instance]`.
    """
    if counts.dtype.kind != "i":
        return np.zeros((len(values), 1))
    if values.dtype.kind == "i":
        means = values.astype(np.float64).sum(axis=1, keepdims=True) / counts.sum(axis=1, keepdims=True)
        return np.rint(means).astype(np.int64)
    if (counts != 1).any():
        return np.zeros((len(values), 1))
    place = (values.shape[1] - 1) // 2
    return np.partition(values, place, axis=1)[:, place : place + 1]


def _subtracted(evaluation: EvaluationRecord, numbers: _Numbers, shift: np.ndarray) -> EvaluationRecord:
    """Return the evaluation with `shift` `[..., instance]` subtracted from its values.

    `numbers` are the numbers of the evaluation. Its values and the shift are in units of 1 / `numbers.scale`.
    """
    left = numbers.values - shift
    stats = evaluation.stats.copy()
    stats[..., 0] = left if numbers.scale == 1 else left / numbers.scale
    return replace(evaluation, stats=stats)


def _are_large(numbers: _Numbers) -> bool:
    """Whether rounding of scores may hide differences between systems, or between the instances of a system."""
    values, counts, scale = numbers
    if whole := values.dtype.kind == "i":
        sums = np.abs(values).sum(axis=1, dtype=np.float64).max()
        if sums < _SMALL_SUM or (scale == 1 and sums >= _SUM_HIDING_TIES):
            return bool(sums >= _SMALL_SUM)
    else:  # scaled, so that squares stay within the range of a double
        values = np.ldexp(values, -math.frexp(float(np.abs(values).max()))[1])
    least, sizes = 0.0 if whole else _ROUNDING, _norms(values)
    apart = _norms(values - _centres(values, counts) * counts)
    return bool(_is_small(apart, sizes, least).any()) or _any_close_pair(values, least)


def _any_close_pair(values: np.ndarray, least: float) -> bool:
    """Whether the differences of any two systems are small, or vary little, compared with the `values` of the systems.

    `values` are `[system, instance]`. Variation up to `least` times the size of the values is ignored, because it may
    be rounding.
    """
    values = np.stack(list({row.tobytes(): row for row in values}.values()))
    sizes = _norms(values)
    near = (values - np.partition(values, len(values) // 2, axis=0)[len(values) // 2]).astype(np.float64)
    near -= near.mean(axis=1, keepdims=True)
    # One matrix product gives all distances between systems. Its rounding errors are far below the limit for
    # candidates.
    squares = near @ near.T
    lengths = np.diag(squares)
    candidates = lengths[:, None] + lengths - 2.0 * squares < (2.0 / _LARGE * np.maximum(sizes[:, None], sizes)) ** 2
    for a, b in np.argwhere(np.triu(candidates, 1)).tolist():
        between = (values[a : a + 1] - values[b]).astype(np.float64)
        both = np.concatenate([between, between - between.mean()])
        if _is_small(_norms(both), max(sizes[a], sizes[b]), np.array([0.0, least])).any():
            return True
    return False


def _norms(rows: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rows.astype(np.float64), axis=1)


def _is_small(apart: np.ndarray, size: np.ndarray | float, least: np.ndarray | float) -> np.ndarray:
    return (apart > least * size) & (apart * _LARGE < size)
