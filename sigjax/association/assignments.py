"""Null distributions of two labelings of the same instances: every assignment of the labels equally likely.

The numbers of instances with each gold label and with each label (the margins) are fixed. Rook numbers count the n!
assignments by agreements alone, in whole numbers of any length; other statistics need all confusion tables with these
margins, each with its number of assignments. Nothing here enumerates assignments; `shuffled` draws them.
"""

import math
from collections.abc import Iterator, Sequence
from operator import mul

import numpy as np

from sigjax.exact.null import ExactP
from sigjax.records import Alternative
from sigjax.resample.bits import words

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
    for gold, label, least, most in _stages(gold_counts, label_counts, start):
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
    for gold, label, least, most in _stages(gold_counts, label_counts, _start(size, observed, alternative)):
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
    random = words(rows, 2 * size).astype(np.uint64)
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


def _stages(gold_counts: Sequence[int], label_counts: Sequence[int], start: int) -> Iterator[tuple[int, ...]]:
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
