"""The association test: do labels agree with gold labels more than chance, given how often each label was used?

Under the null hypothesis every assignment of the labels is equally likely. The numbers of instances with each gold
label and with each label (the margins) are fixed. Rook numbers count the n! assignments by agreements alone, in whole
numbers of any length; other statistics need all confusion tables with these margins, each with its number of
assignments. Nothing here enumerates assignments; `shuffled` draws them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from operator import mul
from typing import Any, Literal

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import ExactP
from sigjax.records import Alternative, Hint, InputError, Interval, Settings
from sigjax.records.display import SciPyNames
from sigjax.records.options import check, option, same, takes, values
from sigjax.report.words import ALTERNATIVES, METHODS, count, format_p, format_p_interval
from sigjax.resample.draws import row_keys, words
from sigjax.resample.tally import extreme
from sigjax.studies.study import StudyResult, signature_line
from sigjax.testing.p_values import clopper_pearson, montecarlo_p

TABLE_BYTES = 2**28
"""Memory of all enumerated tables; arrays derived from them take a few times as much."""

_FEW_BITS = 36
"""Up to 2^36 assignments, float64 rounding cannot change their whole number."""
_STEP_COST = 5_000
"""Products of digits that take as long as one step of Python."""


def agreements_p(
    gold_counts: Sequence[int], label_counts: Sequence[int], observed: int, alternative: Alternative
) -> ExactP:
    r"""Probability of at least, or at most, the observed number of agreements, in whole numbers throughout.

    With the rook numbers $R_j$ (`rook_numbers`), the number of the n! assignments with at least k agreements is
    $\sum_{j \ge k} (-1)^{j-k} \binom{j-1}{k-1} R_j (n-j)!$ (inclusion and exclusion). Two-sided: twice the smaller of
    the two probabilities, at most 1. Reference: Kaplansky and Riordan (1946), "The problem of the rooks and its
    applications"; Riordan (1958), chapter 7.

    Args:
        gold_counts: `[label]`: instances with each gold label.
        label_counts: `[label]`: instances given each label, in the same order.
        observed: how many agree.
        alternative: which numbers are extreme; ties count.

    Example:
        >>> agreements_p([1, 1, 1, 1], [1, 1, 1, 1], 2, "greater").p_value * 24
        7.0
    """
    size = sum(gold_counts)
    every = math.factorial(size)
    start = _start(size, observed, alternative)
    rooks = rook_numbers(gold_counts, label_counts, start)
    tails = []
    if alternative != "less":
        tails.append(_at_least(observed, rooks, start, size))
    if alternative != "greater":
        tails.append(every - _at_least(observed + 1, rooks, start, size))
    count = min(len(tails) * min(tails), every)
    p_value = count / every
    # A difference of large logarithms is better only below the range of doubles.
    log10_p = math.log10(p_value) if p_value > 1e-300 else math.log10(count) - math.log10(every)
    return ExactP(p_value, log10_p)


def rook_numbers(gold_counts: Sequence[int], label_counts: Sequence[int], start: int) -> list[int]:
    r"""Rook numbers R_start, R_start+1, ...: ways to choose j instances and give each a label that agrees.

    The coefficients of $\prod_c \sum_j \binom{r_c}{j} \binom{l_c}{j} j! x^j$, with the margins r and l of label c.
    Terms that can no longer reach `start` are dropped on the way.

    Example:
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


def agreement_cost(
    gold_counts: Sequence[int], label_counts: Sequence[int], observed: int, alternative: Alternative
) -> int:
    """Rough number of products of two 30-bit digits in `agreements_p`, which makes some 1e10 per second.

    Example:
        >>> small, large = ([50, 50], [50, 50], 60), ([500, 500], [500, 500], 600)
        >>> agreement_cost(*small, "greater") < agreement_cost(*large, "greater")
        True
    """
    size = sum(gold_counts)
    digits = math.log2(size + 1) / 30.0
    cost = (size * digits) ** 2  # the factorial of the size
    for gold, label, least, most in _factors(gold_counts, label_counts, _start(size, observed, alternative)):
        width, agreeing = most - least + 1, min(gold, label)
        terms = min(agreeing + 1, width)
        cost += width * (_STEP_COST + terms * (1.0 + agreeing * digits) * (1.0 + most * digits))
    return int(cost)


def confusion_counts(gold: np.ndarray, labels: np.ndarray, num_labels: int) -> np.ndarray:
    """Tables `[row, gold label, label]` (float64) of gold codes `[instance]` and label codes `[row, instance]`."""
    cells = (np.arange(len(labels))[:, None] * num_labels + gold) * num_labels + labels
    counts = np.bincount(cells.ravel(), minlength=len(labels) * num_labels**2)
    return counts.reshape(-1, num_labels, num_labels).astype(np.float64)


def confusion_tables(gold_counts: np.ndarray, label_counts: np.ndarray, *, most: int) -> np.ndarray | None:
    """All confusion tables `[table, gold label, label]` with these margins, in the smallest integer type.

    None if there are more than `most` tables or `TABLE_BYTES`. Tables are built cell by cell. Every choice that leaves
    room for the rest of its row can be completed, so partial tables are never more than the tables, and the work stops
    as soon as there are too many.

    Args:
        gold_counts: `[gold label]` int64, row sums.
        label_counts: `[label]` int64, column sums, of the same total.
        most: a number of tables.

    Example:
        >>> tables = confusion_tables(np.array([1, 1]), np.array([1, 1]), most=2)
        >>> tables.tolist()
        [[[0, 1], [1, 0]], [[1, 0], [0, 1]]]
        >>> confusion_tables(np.array([1, 1]), np.array([1, 1]), most=1) is None
        True
    """
    tables = np.zeros((1, len(gold_counts), len(label_counts)), np.min_scalar_type(gold_counts.sum()))
    most = min(most, TABLE_BYTES // tables.nbytes)
    if most == 0:
        return None
    left = label_counts.astype(np.int64)[None]
    for row in np.flatnonzero(gold_counts):
        need = np.full(len(tables), gold_counts[row], np.int64)
        for column in np.flatnonzero(label_counts):
            low = np.maximum(need - left[:, column + 1 :].sum(axis=1), 0)
            choices = np.minimum(need, left[:, column]) - low + 1
            total = int(choices.sum())
            if total > most:
                return None
            if total > len(tables):
                parent = np.repeat(np.arange(len(tables)), choices)
                tables, left, need, low = tables[parent], left[parent], need[parent], low[parent]
                low += np.arange(total) - np.repeat(np.cumsum(choices) - choices, choices)
            tables[:, row, column] = low
            left[:, column] -= low
            need -= low
    return tables


def log_assignments(tables: np.ndarray) -> np.ndarray:
    r"""Logarithm of the number of assignments of the labels behind each table, `[table]`.

    That is $\prod_g r_g! / \prod_{g,l} t_{gl}!$: within a gold label only the numbers matter. Equal labels are not
    distinguished; there are $n! / \prod_l c_l!$ assignments in all.

    Example:
        >>> np.exp(log_assignments(np.array([[[2, 1], [0, 1]]]))).round(12)
        array([3.])
    """
    log_factorial = np.array([math.lgamma(k + 1.0) for k in range(int(tables.sum(axis=2).max()) + 1)])
    logs = np.zeros(len(tables))
    for row in np.moveaxis(tables, 1, 0):  # one row at a time: logarithms take far more memory than counts
        logs += log_factorial[row.sum(axis=1)] - log_factorial[row].sum(axis=1)
    return logs


def shuffled(labels: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Label codes `[instance]` in random orders `[row, instance]`, for the rows of `row_keys`.

    Each code ends a 64-bit key of random bits, and the keys are sorted. Ties are too rare to matter.
    """
    size, bits = len(labels), np.uint64(int(labels.max()).bit_length())
    random = np.asarray(words(rows, 2 * size), np.uint64)
    keys = random[:, :size] << np.uint64(32) | random[:, size:]
    keys = keys >> bits << bits | labels.astype(np.uint64)
    keys.sort(axis=1)
    return (keys & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)


def tables_p(log_counts: np.ndarray, tails: np.ndarray) -> ExactP:
    """Probability of the tables in a tail; for two tails, twice that of the less likely one, at most 1.

    Args:
        log_counts: `[table]` logarithms of the numbers of assignments.
        tails: `[tail, table]` bool, the tables of one or two tails.

    Example:
        >>> tables_p(np.log([1.0, 4.0, 1.0]), np.array([[False, True, True]])).p_value * 6
        5.0
    """
    log_every = _log_sum(log_counts)
    log_tail = min(_log_sum(log_counts[tail]) for tail in tails) - log_every
    if log_every <= _FEW_BITS * math.log(2.0):
        every = round(math.exp(log_every))
        p_value = min(len(tails) * round(math.exp(log_tail) * every), every) / every
        return ExactP(p_value, math.log10(p_value))
    log_p = min(math.log(len(tails)) + log_tail, 0.0)
    return ExactP(math.exp(log_p), log_p / math.log(10.0))


def _start(size: int, observed: int, alternative: Alternative) -> int:
    """The least k > 0 for which assignments with at least k agreements are counted; beyond `size` for none."""
    if alternative == "greater":
        return observed or size + 1  # 0 or more is certain
    return observed + 1 if alternative == "less" else max(observed, 1)


def _factors(gold_counts: Sequence[int], label_counts: Sequence[int], start: int) -> Iterator[tuple[int, ...]]:
    """Factors (gold count, label count) of the rook polynomial, with the (least, most) coefficient to keep after each.

    No factors if `start` agreements cannot be reached.
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
    """Number of the `size`! assignments with at least k agreements, given the rook numbers from `start` <= k on."""
    if k <= 0:
        return math.factorial(size)
    last = start + len(rooks) - 1
    count = 0
    # The factorials (size - j)! are built as in Horner's scheme: each step multiplies by a small number.
    for j in range(k, last + 1):
        signed = math.comb(j - 1, k - 1) * rooks[j - start]
        count = count * (size - j + 1) + (signed if (j - k) % 2 == 0 else -signed)
    return count * math.factorial(size - last)


def _log_sum(logs: np.ndarray) -> float:
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))


Statistic = Callable[[np.ndarray], Any]
"""Confusion counts `[..., gold label, label]` (float64) -> real numbers `[...]`."""

AGREEMENT_BUDGET, AGREEMENT_LIMIT = 2**35, 2**39
"""Products of digits up to which method="auto" counts agreements (a few seconds), and "exact" does (a minute)."""
TABLE_BUDGET, TABLE_LIMIT = 1_000_000, 10_000_000
"""Confusion tables up to which method="auto" enumerates them (a second), and "exact" does (ten)."""

_agreements = partial(np.trace, axis1=-2, axis2=-1)
_MOST_LABELS = 1000  # of a confusion table: 8 MB each
_BLOCK_ENTRIES = 2**20
"""Words or counts held at a time; no result depends on it."""
_ROUNDING = 2.0**-40
"""Values of a function that differ by less, relative to its largest value, are ties."""
_WRONG = "the statistic must turn confusion counts [..., gold label, label] into real numbers [...], table by table"


_MEANS: dict[Alternative, list[str]] = {
    "greater": ["p: the probability that the same labels in random order agree at least as often"],
    "less": ["p: the probability that the same labels in random order agree at most as often"],
    "two-sided": [
        "p: twice the smaller probability that the same labels in random order agree",
        "at least, or at most, as often",
    ],
}


@dataclass(frozen=True, repr=False)
class Association(SciPyNames, StudyResult):
    """Result of `association_test`. `p_interval`, `exceed` and `resamples` are None if p is exact."""

    statistic: float
    p_value: float
    log10_p: float
    """log10 of the p-value; right also where `p_value` is below the smallest double."""
    p_interval: Interval | None
    """Clopper-Pearson interval, at level 0.95, for the p-value of infinitely many resamples."""
    method: Literal["exact", "montecarlo"]
    reason: str
    """Why this method was used."""
    exceed: int | None
    """Number of resamples at least as extreme; two-sided, in the smaller tail."""
    resamples: int | None
    num_instances: int
    statistic_name: str
    settings: AgreementOptions = field(compare=False)

    @property
    def signature(self) -> str:
        """One line that reproduces the numbers."""
        return signature_line(
            test="association",
            statistic=self.statistic_name,
            alt=self.settings.alternative,
            method=self.method,
            n=self.resamples,
            seed=self.settings.seed if self.resamples else None,
            ties="ge",
            instances=self.num_instances,
        )

    def brief(self) -> dict[str, Any]:
        """The numbers."""
        return {name: value for name, value in super().brief().items() if name != "statistic_name"}

    def _lines(self) -> list[str]:
        """The agreements, p, and what p means."""
        size, agreements, alternative = self.num_instances, int(self.statistic), self.settings.alternative
        first = f"{agreements:,} of {count(size, 'label')} agree with the gold labels ({agreements / size:.1%})"
        means = _MEANS[alternative]
        if self.statistic_name != "agreements":
            first = f"{self.statistic_name} of {count(size, 'label')} and gold labels: {self.statistic:.6g}"
            means = [line.replace("agree at", f"have {self.statistic_name} at") for line in means]
        drawn = f", {count(self.resamples, 'resample')}" if self.resamples else ""
        p = format_p(self.p_value, log10_p=self.log10_p)
        lines = [first, f"p = {p}, {ALTERNATIVES[alternative]}, {METHODS[self.method]}{drawn} ({self.reason})"]
        if self.p_interval is not None:
            lines.append(f"95% interval for the p of infinitely many resamples: {format_p_interval(self.p_interval)}")
        return [*lines, *means, self.signature]

    def _fields(self) -> dict[str, Any]:
        fields = super()._fields()
        settings = {"settings": fields.pop("settings")}
        del fields["statistic_name"]
        return settings | fields | {"signature": self.signature}


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """The options of `association_test` for agreements."""

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
        doc="Exact (no sampling), Monte Carlo, or auto: exact if that takes a few seconds at most.",
        more="An exact test takes up to a minute, and as many as 10,000,000 confusion tables for a function; with "
        '"auto", a few seconds (1,000,000 tables) at most.',
    )
    resamples: int = same(
        Settings, "resamples", more="Then p = (exceed + 1) / (resamples + 1), two-sided twice that.",
        doc="Number of Monte Carlo resamples.",
    )  # fmt: skip
    seed: int = same(Settings, "seed", doc="The same seed gives the same result everywhere.")


@dataclass(frozen=True, kw_only=True)
class AssociationOptions(AgreementOptions):
    """All options of `association_test`."""

    statistic: Literal["agreements"] | Statistic = option(
        "agreements",
        '"agreements", the number of instances with equal labels, or a function of the confusion counts.',
        "The function is `[..., gold label, label] -> [...]`; both axes have the labels of both sides, sorted.",
    )


@takes(AssociationOptions)
def association_test(gold: Iterable[object], labels: Iterable[object], options: AssociationOptions) -> Association:
    """Randomization test of labels against gold labels: would the same labels in random order do as well?

    Under the null hypothesis labels are independent of gold labels: all n! assignments of the given labels to the
    instances are equally likely. p is the probability of a statistic at least as extreme as observed, ties included.

    Args:
        gold: `[instance]` gold labels, all text or all numbers; compared as they are.
        labels: `[instance]` the labels to test, for the same instances in the same order.
        options: see `AssociationOptions`.

    Raises:
        InputError: labels that are missing, of mixed types or of unequal number; an option outside its domain; a
            function that does not give finite real numbers; no exact test for method="exact".

    Reference: Noreen (1989), "Computer intensive methods for testing hypotheses"; for two labels, Fisher's exact test.

    Example:
        >>> contents = ["Polish", "Premium", "Russian", "Budget"]
        >>> expert = ["Polish", "Premium", "Budget", "Russian"]
        >>> association_test(contents, expert).p_value * 24
        7.0
    """
    check(options)
    settings = Settings(**values(options, Settings))
    statistic, codes = options.statistic, _codes(gold, labels)
    counts = np.array([np.bincount(side, minlength=int(codes.max()) + 1) for side in codes])
    function, observed = _observed(codes, statistic)
    name = statistic if isinstance(statistic, str) else getattr(statistic, "__name__", "statistic")
    about = codes.shape[1], name, AgreementOptions(**values(options, AgreementOptions))
    test = _exact(counts, function, observed, settings)
    if not isinstance(test, NotEligible):
        (p_value, log10_p, *_), reason = test
        return Association(observed, p_value, log10_p, None, "exact", reason, None, None, *about)
    if settings.method == "exact":
        raise InputError(f"no exact test: {test.reason}; use {Hint('method', 'auto')}")
    p_value, interval, exceed = _montecarlo(counts, function, observed, settings)
    drawn = interval, "montecarlo", test.reason, exceed, settings.fixed_resamples
    return Association(observed, p_value, math.log10(p_value), *drawn, *about)


def _codes(gold: Iterable[object], labels: Iterable[object]) -> np.ndarray:
    """Codes `[side, instance]` of the labels: positions among all labels, sorted."""
    sides: dict[str, list[Any]] = {}
    for name, given in (("gold", gold), ("labels", labels)):
        if isinstance(given, (str, bytes, Mapping, Set)) or not isinstance(given, Iterable):
            raise InputError(f"{name} must be a sequence of labels, one per instance, got a {type(given).__name__}")
        sides[name] = [label.item() if isinstance(label, np.generic) else label for label in given]
        for position, label in enumerate(sides[name]):
            first, problem = (sides["gold"] or [label])[0], ""
            # Infinity and NaN are the numbers that do not give 0 here.
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


def _observed(codes: np.ndarray, statistic: str | Statistic) -> tuple[Statistic, float]:
    """The statistic as a function of confusion counts, and its value."""
    if statistic == "agreements":
        return _agreements, float(np.count_nonzero(codes[0] == codes[1]))
    num_labels = int(codes.max()) + 1
    if not callable(statistic) or num_labels > _MOST_LABELS:
        expected = f'"agreements", or a function of confusion counts where there are at most {_MOST_LABELS} labels'
        raise InputError(f"statistic must be {expected}; got {statistic!r} for {num_labels} labels")
    table = confusion_counts(codes[0], codes[1:], num_labels)
    together = _evaluate(statistic, np.tile(table, (2, 3, 1, 1)))  # only the last two axes may matter
    (observed,) = _evaluate(statistic, table)
    if (abs(together - observed) > _ROUNDING * abs(observed)).any():
        raise InputError(_WRONG)
    return statistic, float(observed)


def _evaluate(function: Statistic, tables: np.ndarray) -> np.ndarray:
    """Finite values `[...]` (float64) of a user's function of tables `[..., gold label, label]`."""
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(tables))
    except Exception as error:  # a user's function may fail in any way
        raise InputError(f"{_WRONG}; it failed ({type(error).__name__}: {' '.join(str(error).split())})") from error
    if values.shape != tables.shape[:-2] or values.dtype.kind not in "biuf":
        raise InputError(_WRONG)
    if not np.isfinite(values).all():
        raise InputError("the statistic is not finite on an assignment of the labels; return a number also for x / 0")
    return values.astype(np.float64)


def _exact(
    counts: np.ndarray, function: Statistic, observed: float, settings: Settings
) -> tuple[ExactP, str] | NotEligible:
    """The exact p-value and the reason: cheap counting first, then tables, then expensive counting.

    `counts` `[side, label]` are the instances with each gold label, and with each label.
    """
    if settings.method == "montecarlo":
        return NotEligible("as asked")
    longest, most = (AGREEMENT_LIMIT, TABLE_LIMIT) if settings.method == "exact" else (AGREEMENT_BUDGET, TABLE_BUDGET)
    gold_counts, label_counts = counts.tolist()
    arguments = (gold_counts, label_counts, int(observed), settings.alternative)
    cost = agreement_cost(*arguments) if function is _agreements else math.inf
    tables = confusion_tables(*counts, most=most) if cost > AGREEMENT_BUDGET else None
    if tables is not None:
        blocks = (tables[block].astype(np.float64) for block in _blocks(len(tables), tables[0].size))
        tails = _tails(np.concatenate([_evaluate(function, block) for block in blocks]), observed, settings.alternative)
        have = "confusion table has" if len(tables) == 1 else "confusion tables have"
        return tables_p(log_assignments(tables), tails), f"{len(tables):,} {have} these margins"
    if cost <= longest:
        return agreements_p(*arguments), "agreements are counted as rooks"
    return NotEligible(f"counting would pass the budget of {most:,} confusion tables (or of memory for them)")


def _montecarlo(
    counts: np.ndarray, function: Statistic, observed: float, settings: Settings
) -> tuple[float, Interval, int]:
    """The Monte Carlo p-value and its interval, two-sided both doubled, and the resamples behind them.

    The doubled interval keeps its level. Either count may make it too low, each half as often as the interval of one
    proportion errs; it is too high only if one tail is clearly smaller, and then the other plays no part.
    """
    exceeds = _tails(_sample(counts, function, settings), observed, settings.alternative).sum(axis=1)
    exceed, resamples = exceeds.min(keepdims=True), settings.fixed_resamples
    ends = np.concatenate(clopper_pearson(exceed, resamples, settings.level)).tolist()
    p_value, *interval = (min(len(exceeds) * p, 1.0) for p in (float(montecarlo_p(int(exceed[0]), resamples)), *ends))
    return p_value, Interval(*interval), int(exceed[0])


def _sample(counts: np.ndarray, function: Statistic, settings: Settings) -> np.ndarray:
    """Statistics `[resample]` of random assignments. Instances are sorted: their order does not matter."""
    num_labels = counts.shape[1]
    gold, labels = (np.repeat(np.arange(num_labels), of_side) for of_side in counts)
    values = np.empty(settings.fixed_resamples)
    for block in _blocks(len(values), 4 * len(gold) + (function is not _agreements) * num_labels**2):
        drawn = shuffled(labels, row_keys(settings.seed, np.arange(block.start, block.stop)))
        if function is _agreements:
            values[block] = (drawn == gold).sum(axis=1)
        else:
            values[block] = _evaluate(function, confusion_counts(gold, drawn, num_labels))
    return values


def _blocks(count: int, entries: int) -> Iterator[slice]:
    """Slices of `count` items with `entries` numbers each."""
    step = max(1, _BLOCK_ENTRIES // entries)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _tails(values: np.ndarray, observed: float, alternative: Alternative) -> np.ndarray:
    """Whether values `[...]` lie in each tail `[tail, ...]` (as large as observed, as small, or both); ties count."""
    tolerance = np.float64(_ROUNDING * max(abs(observed), float(abs(values).max())))
    sides: tuple[Alternative, ...] = ("greater", "less") if alternative == "two-sided" else (alternative,)
    return np.array([extreme(values, np.float64(observed), tolerance, side) for side in sides])
