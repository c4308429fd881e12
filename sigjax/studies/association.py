"""The association test: do labels agree with gold labels more often than by chance?

Under the null hypothesis, all n! assignments of the n given labels to the n instances are equally likely. (Equal labels
count as different here.) So how often each gold label and each label was used (the margins) is fixed. An agreement is
an instance whose label equals its gold label. The number of assignments with at least k agreements is computed from
rook numbers, without listing assignments. The rook number $R_j$ is the number of ways to choose j instances and to give
each of them one of the labels that equal its gold label. All these numbers are exact integers. Fisher's exact test
gives the same p-value for two labels, and is used if the integers would take too long. `shuffled` draws random
assignments for the Monte Carlo test.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from operator import mul
from typing import Any, Literal

import numpy as np

from sigjax.comparison.options import BootstrapOptions
from sigjax.exact.choices import sample_distribution
from sigjax.exact.digits import PValue
from sigjax.exact.lattice import NotEligible
from sigjax.records import Alternative, Hint, InputError, Interval, Settings
from sigjax.records.display import SciPyNames
from sigjax.records.options import check, same, takes, values
from sigjax.report.document import Document
from sigjax.report.report import Result
from sigjax.report.words import ALTERNATIVES, METHODS, count, format_p, format_p_interval, p_is
from sigjax.resample.draws import row_keys, words
from sigjax.run.costs import DIGIT_PRODUCT, ROOK_COEFFICIENT, SHUFFLED_LABEL, Cost
from sigjax.studies.study import signature_line
from sigjax.testing.problem import montecarlo_p
from sigjax.testing.special import clopper_pearson


def agreements_p(
    gold_counts: Sequence[int], label_counts: Sequence[int], observed: int, alternative: Alternative
) -> PValue:
    r"""Return the exact p-value: the probability of at least ("greater") or at most ("less") `observed` agreements.

    `gold_counts` `[label]` are the numbers of instances with each gold label; `label_counts` `[label]` are the numbers
    of instances with each label under test, in the same order of labels.

    With the rook numbers $R_j$ (`rook_numbers`), $\sum_{j \ge k} (-1)^{j-k} \binom{j-1}{k-1} R_j (n-j)!$ of the n!
    assignments have at least k agreements (inclusion and exclusion). Two-sided: twice the smaller of the two
    probabilities, at most 1.

    Reference: Kaplansky and Riordan (1946), "The problem of the rooks and its applications"; Riordan (1958), chapter 7.

    >>> agreements_p([1, 1, 1, 1], [1, 1, 1, 1], 2, "greater")[0] * 24
    7.0
    """
    size = sum(gold_counts)
    every = math.factorial(size)
    start = max(observed, 1)
    rooks = rook_numbers(gold_counts, label_counts, start)
    tails = []
    if alternative != "less":
        tails.append(_at_least(observed, rooks, start, size))
    if alternative != "greater":
        tails.append(every - _at_least(observed + 1, rooks, start, size))
    count = min(len(tails) * min(tails), every)
    p_value = count / every
    # The difference of two large logarithms loses digits, so it is used only if p is below the range of doubles.
    log10_p = math.log10(p_value) if p_value > 1e-300 else math.log10(count) - math.log10(every)
    return p_value, log10_p, 0.0


def rook_numbers(gold_counts: Sequence[int], label_counts: Sequence[int], start: int) -> list[int]:
    r"""Return the rook numbers $R_j$ for j from `start` on.

    $R_j$ is the number of ways to choose j instances and give each its gold label. The rook numbers are the
    coefficients of $\prod_c \sum_j \binom{r_c}{j} \binom{l_c}{j} j! x^j$, where label c is the gold label of $r_c$
    instances and is used $l_c$ times. Terms that do not contribute to an $R_j$ with j >= `start` are dropped early.

    >>> rook_numbers([2, 1], [1, 2], 0)  # (1 + 2x) (1 + 2x)
    [1, 4, 4]
    """
    product, lowest = [1], 0
    for gold, label, least, most in _factors(gold_counts, label_counts, start):
        highest, top = lowest + len(product) - 1, min(gold, label)
        bottom = max(least - highest, 0)
        factor = [math.comb(gold, bottom) * math.perm(label, bottom)]
        for j in range(bottom, top):
            factor.append(factor[-1] * (gold - j) * (label - j) // (j + 1))
        after = []
        for j in range(least, most + 1):
            first, last = max(lowest, j - top), min(highest, j - bottom)
            terms = reversed(product[first - lowest : last - lowest + 1])
            after.append(sum(map(mul, terms, factor[j - last - bottom : j - first - bottom + 1])))
        product, lowest = after, least
    return product[max(start - lowest, 0) :]


def agreement_cost(gold_counts: Sequence[int], label_counts: Sequence[int], observed: int) -> Cost:
    """Estimate the cost of `agreements_p` for these arguments.

    `agreements_p` multiplies long integers. The cost comes from the number of products of their 30-bit digits, and from
    the number of coefficients of polynomials.

    >>> agreement_cost([500, 500], [500, 500], 600).seconds > agreement_cost([50, 50], [50, 50], 60).seconds
    True
    """
    size = sum(gold_counts)
    digits = math.log2(size + 1) / 30.0
    products, coefficients = (size * digits) ** 2, 0  # the factorial of the size
    for gold, label, least, most in _factors(gold_counts, label_counts, max(observed, 1)):
        width, agreeing = most - least + 1, min(gold, label)
        terms = min(agreeing + 1, width)
        coefficients += width
        products += width * terms * (1.0 + agreeing * digits) * (1.0 + most * digits)
    return DIGIT_PRODUCT * products + ROOK_COEFFICIENT * coefficients


def shuffled(labels: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return random permutations `[row, instance]` of label codes `[instance]`, one for each key in `rows`.

    The keys come from `row_keys`. For each instance, a random 64-bit number is drawn, and the code of the label becomes
    its low bits. Sorting these numbers shuffles the codes. Numbers with the same random bits are too rare to matter.
    """
    size, bits = len(labels), np.uint64(int(labels.max()).bit_length())
    random = np.asarray(words(rows, 2 * size), np.uint64)
    keys = random[:, :size] << np.uint64(32) | random[:, size:]
    keys = keys >> bits << bits | labels.astype(np.uint64)
    keys.sort(axis=1)
    return (keys & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)


def _factors(gold_counts: Sequence[int], label_counts: Sequence[int], start: int) -> Iterator[tuple[int, ...]]:
    """Yield four numbers for each factor of the rook polynomial, whose coefficients are the rook numbers.

    Each factor belongs to one label. The numbers are: the gold count and the label count of this label, and the lowest
    and the highest power of x that are kept after this factor. Nothing is yielded if `start` agreements are impossible.
    """
    counts = [pair for pair in zip(gold_counts, label_counts, strict=True) if min(pair) > 0]
    reachable = sum(map(min, counts))
    if start > reachable:
        return
    most = 0
    for gold, label in counts:
        most += min(gold, label)
        yield gold, label, max(0, start - (reachable - most)), most


def _at_least(k: int, rooks: Sequence[int], start: int, size: int) -> int:
    """Return the number of assignments of labels to `size` instances that have at least `k` agreements.

    `rooks` are the rook numbers $R_j$ for j from `start` on (see `rook_numbers`). If `k` is above 0, `start` must be at
    most `k`.
    """
    if k <= 0:
        return math.factorial(size)
    last = start + len(rooks) - 1
    count = 0
    # As in Horner's scheme, each step multiplies by a small number instead of computing (size - j)! anew.
    for j in range(k, last + 1):
        signed = math.comb(j - 1, k - 1) * rooks[j - start]
        count = count * (size - j + 1) + (signed if (j - k) % 2 == 0 else -signed)
    return count * math.factorial(size - last)


AGREEMENT_BUDGET, AGREEMENT_LIMIT = 3.5, 55.0
"""Nominal seconds. With method="auto", the test is exact up to `AGREEMENT_BUDGET` or the time of sampling; with
method="exact", it raises an error above `AGREEMENT_LIMIT`."""
_BLOCK_ENTRIES = 2**20
"""Resamples are drawn in blocks of about this many random words, to limit memory. No result depends on this number."""
_MEANS: dict[Alternative, str] = {
    "greater": "p: the probability that the same labels in random order agree at least as often",
    "less": "p: the probability that the same labels in random order agree at most as often",
    "two-sided": "p: twice the smaller probability that the same labels in random order agree at least, or at most, as "
    "often",
}


@dataclass(frozen=True, repr=False)
class Association(SciPyNames, Result):
    """Result of `association_test`. `p_interval`, `exceed` and `resamples` are None if p is exact."""

    statistic: float
    p_value: float
    log10_p: float
    """log10 of the p-value; accurate also if `p_value` is below the smallest double."""
    p_interval: Interval | None
    """Clopper-Pearson interval, at level 0.95, for the p-value that infinitely many resamples would give."""
    method: Literal["exact", "montecarlo"]
    reason: str
    """Why this method was used."""
    exceed: int | None
    """Number of resamples at least as extreme as observed. For a two-sided test, only the smaller tail is counted."""
    resamples: int | None
    num_instances: int
    settings: AssociationOptions = field(compare=False)

    @property
    def signature(self) -> str:
        """One line that reproduces the numbers."""
        return signature_line(
            test="association",
            statistic="agreements",
            alt=self.settings.alternative,
            method=self.method,
            n=self.resamples,
            seed=self.settings.seed if self.resamples else None,
            ties="ge",
            instances=self.num_instances,
        )

    def document(self) -> Document:
        """The document has the number of agreements, p, and the meaning of p."""
        size, agreements, alternative = self.num_instances, int(self.statistic), self.settings.alternative
        first = f"{agreements:,} of {count(size, 'label')} agree with the gold labels ({agreements / size:.1%})"
        drawn = f", {count(self.resamples, 'resample')}" if self.resamples else ""
        p = format_p(self.p_value, log10_p=self.log10_p)
        lines = [f"{ALTERNATIVES[alternative]}, {METHODS[self.method]}{drawn} ({self.reason})"]
        if self.p_interval is not None:
            lines.append(f"95% interval for the p of infinitely many resamples: {format_p_interval(self.p_interval)}")
        lines += [_MEANS[alternative], self.signature]
        return Document("Association", count(size, "label"), f"{first}; {p_is(p)}", lines)

    def _fields(self) -> dict[str, Any]:
        fields = super()._fields()
        settings = {"settings": fields.pop("settings")}
        return settings | fields | {"signature": self.signature}


@dataclass(frozen=True, kw_only=True)
class AssociationOptions:
    """The options of `association_test`."""

    alternative: Alternative = same(
        Settings,
        "alternative",
        "greater",
        doc='"greater": statistic* >= statistic; "less": statistic* <= statistic; or "two-sided".',
        more="Two-sided is twice the smaller of these two p-values, at most 1, as in `scipy.stats.permutation_test`.",
    )
    method: Literal["auto", "exact", "montecarlo"] = same(
        Settings,
        "method",
        doc="Exact (no sampling), Monte Carlo, or auto: exact if that takes a few seconds, or no longer than sampling.",
        more='An exact test takes up to a minute; with "auto", no longer than sampling or a few seconds.',
    )
    resamples: int = same(
        BootstrapOptions, "resamples", more="Then p = (exceed + 1) / (resamples + 1), two-sided twice that."
    )
    seed: int = same(Settings, "seed", doc="The same seed gives the same result everywhere.")


@takes(AssociationOptions)
def association_test(gold: Iterable[object], labels: Iterable[object], options: AssociationOptions) -> Association:
    """Randomization test of labels against gold labels: would the same labels in random order do as well?

    Under the null hypothesis, labels are independent of gold labels: all n! assignments of the given labels to the
    instances are equally likely. p is the probability of at least as many agreements as observed. Any statistic that
    increases with the number of agreements, such as Cohen's kappa, has the same p.

    Args:
        gold: `[instance]` gold labels, all text or all numbers. Labels agree if they are equal; they are not
            normalized.
        labels: `[instance]` the labels to test, for the same instances in the same order.
        options: the fields of `AssociationOptions`, as keyword arguments.

    Raises:
        InputError: labels are missing, of mixed types or of unequal number; an option is outside its domain; or there
            is no exact test for method="exact".

    Reference: Noreen (1989), "Computer intensive methods for testing hypotheses"; for two labels, Fisher's exact test.

    Example:
        >>> contents = ["Polish", "Premium", "Russian", "Budget"]
        >>> expert = ["Polish", "Premium", "Budget", "Russian"]
        >>> association_test(contents, expert).p_value * 24
        7.0
    """
    check(options)
    settings, codes = Settings(**values(options, Settings)), _codes(gold, labels)
    counts = np.array([np.bincount(side, minlength=int(codes.max()) + 1) for side in codes])
    observed, about = int((codes[0] == codes[1]).sum()), (codes.shape[1], options)
    test = _exact(counts, observed, settings)
    if not isinstance(test, NotEligible):
        (p_value, log10_p, *_), reason = test
        return Association(float(observed), p_value, log10_p, None, "exact", reason, None, None, *about)
    if settings.method == "exact":
        raise InputError(f"no exact test: {test.reason}; use {Hint('method', 'auto')}")
    p_value, interval, exceed = _montecarlo(counts, observed, settings)
    drawn = interval, "montecarlo", test.reason, exceed, settings.fixed_resamples
    return Association(float(observed), p_value, math.log10(p_value), *drawn, *about)


def _codes(gold: Iterable[object], labels: Iterable[object]) -> np.ndarray:
    """Return integer codes `[side, instance]` of the gold labels (side 0) and of the labels (side 1).

    A code is the position of the label in the sorted list of all labels.
    """
    sides: dict[str, list[Any]] = {}
    for name, given in (("gold", gold), ("labels", labels)):
        if isinstance(given, (str, bytes, Mapping, Set)) or not isinstance(given, Iterable):
            raise InputError(f"{name} must be a sequence of labels, one per instance, got a {type(given).__name__}")
        sides[name] = [label.item() if isinstance(label, np.generic) else label for label in given]
        for position, label in enumerate(sides[name]):
            first, problem = (sides["gold"] or [label])[0], ""
            # label - label is 0 for every number but infinity and NaN.
            if not (isinstance(label, str) or (isinstance(label, (int, float)) and label - label == 0)):
                problem = "expected text or a finite number; leave out instances without a label"
            elif isinstance(label, str) != isinstance(first, str):
                problem = f"but gold[0] is {first!r}; expected all text or all numbers"
            if problem:
                raise InputError(f"{name}[{position}] is {' '.join(repr(label).split())[:60]}; {problem}")
    counts = [len(side) for side in sides.values()]
    if counts[0] != counts[1] or not counts[0]:
        raise InputError(f"expected a gold label and a label for each instance, got {counts[0]} and {counts[1]}")
    codes = {label: code for code, label in enumerate(sorted({*sides["gold"], *sides["labels"]}))}
    return np.array([[codes[label] for label in side] for side in sides.values()])


def _exact(counts: np.ndarray, observed: int, settings: Settings) -> tuple[PValue, str] | NotEligible:
    """Return the exact p-value and how it is computed; or `NotEligible` with the reason why there is no exact p.

    `observed` is the number of agreements. `counts` `[side, label]` are the numbers of instances with each gold label
    (side 0) and each label (side 1).
    """
    if settings.method == "montecarlo":
        return NotEligible("as asked")
    gold_counts, label_counts = counts.tolist()
    arguments = gold_counts, label_counts, observed, settings.alternative
    if np.count_nonzero(counts, axis=1).min() == 1:
        return (1.0, 0.0, 0.0), "one label alone: agreements do not depend on the order"
    seconds = agreement_cost(*arguments[:3]).seconds
    sampling = (SHUFFLED_LABEL * (sum(gold_counts) * settings.fixed_resamples)).seconds
    limit = AGREEMENT_LIMIT if settings.method == "exact" else max(AGREEMENT_BUDGET, min(sampling, AGREEMENT_LIMIT))
    if seconds > AGREEMENT_BUDGET and counts.shape == (2, 2) and counts.all():
        return fisher_p(*arguments), "two labels: Fisher's exact test"
    if seconds <= limit:
        return agreements_p(*arguments), "agreements are counted as rooks"
    return NotEligible("counting agreements would take too long")


def fisher_p(
    gold_counts: Sequence[int], label_counts: Sequence[int], observed: int, alternative: Alternative
) -> PValue:
    """Return the p-value of Fisher's exact test: `agreements_p` for two labels, from the hypergeometric distribution.

    >>> fisher_p([3, 1], [2, 2], 3, "greater")[0]
    0.5
    """
    known = sample_distribution(np.repeat([0, 1], gold_counts), label_counts[1])
    assert not isinstance(known, NotEligible)  # for zeros and ones the distribution is always exact
    tails = _tails(2 * known.sums + gold_counts[0] - label_counts[1], observed, alternative)
    smaller = min((p for tail in tails if (p := known.tail(tail)) is not None), key=lambda p: p[1])
    return min(len(tails) * smaller[0], 1.0), min(smaller[1] + math.log10(len(tails)), 0.0), 0.0


def _montecarlo(counts: np.ndarray, observed: int, settings: Settings) -> tuple[float, Interval, int]:
    """Return three things: the Monte Carlo p-value, its interval, and the number of extreme resamples.

    `counts` `[side, label]` are the numbers of instances with each gold label and each label, and `observed` is the
    number of agreements. For a two-sided test, only the tail with fewer extreme resamples is used, and its p-value and
    interval are doubled.

    The doubled interval keeps its level. It lies too low only if the interval of one of the two tails lies too low. For
    each tail, this has half of the interval's error probability, so both tails together have at most the whole. It lies
    too high only if one tail is clearly smaller than the other. Then the interval of the smaller tail is the doubled
    one, and the larger tail does not matter.
    """
    exceeds = _tails(_random_agreements(counts, settings), observed, settings.alternative).sum(axis=1)
    exceed, resamples = exceeds.min(keepdims=True), settings.fixed_resamples
    ends = np.concatenate(clopper_pearson(exceed, resamples, settings.confidence_level)).tolist()
    p_value, *interval = (min(len(exceeds) * p, 1.0) for p in (float(montecarlo_p(int(exceed[0]), resamples)), *ends))
    return p_value, Interval(*interval), int(exceed[0])


def _random_agreements(counts: np.ndarray, settings: Settings) -> np.ndarray:
    """Return the number of agreements on each resample, `[resample]`, if labels are assigned to instances at random.

    `counts` `[side, label]` are the numbers of instances with each gold label (first row) and with each other label
    (second row). They are enough, because the order of the instances does not matter.
    """
    gold, labels = (np.repeat(np.arange(counts.shape[1]), of_side) for of_side in counts)
    agreements, step = np.empty(settings.fixed_resamples), max(1, _BLOCK_ENTRIES // (4 * len(gold)))
    for start in range(0, len(agreements), step):
        keys = row_keys(settings.seed, np.arange(start, min(start + step, len(agreements))))
        agreements[start : start + step] = (shuffled(labels, keys) == gold).sum(axis=1)
    return agreements


def _tails(agreements: np.ndarray, observed: int, alternative: Alternative) -> np.ndarray:
    """Return masks `[tail, ...]`: which numbers of agreements `[...]` lie in each tail of the alternative.

    The tail of "greater" is >= observed, and the tail of "less" is <= observed. "two-sided" has both, in this order.
    """
    sides = {"greater": agreements >= observed, "less": agreements <= observed}
    return np.array([*sides.values()] if alternative == "two-sided" else [sides[alternative]])
