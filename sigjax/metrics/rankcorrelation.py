"""Spearman's and Kendall's correlations of ranks. All sums are whole numbers, and exact: ties are ties."""

from dataclasses import replace

import numpy as np

from sigjax.metrics.ranks import sums_before, whole_sums_rounding
from sigjax.records import SampleMetric


def spearman(prediction: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Spearman's correlation: Pearson's of the ranks, where equal values have the mean of their ranks.

    $\sum_i w_i p_i g_i / \sqrt{\sum_i w_i p_i^2 \sum_i w_i g_i^2}$, where $p_i = N_{<}(i) + N_{\le}(i) - n$ is twice
    the deviation of a rank from the mean rank among the $n = \sum_i w_i$ drawn. Reference: Spearman (1904), "The proof
    and measurement of association between two things".

    Args:
        prediction: `[instance]`.
        gold: `[instance]`.
        weights: `[..., instance]` how often each instance is drawn.

    Returns:
        Numbers `[...]` in [-1, 1], as `scipy.stats.spearmanr` gives them; NaN where all drawn values of a column are
        equal.

    Example:
        >>> float(spearman(np.array([1.0, 2.0, 9.0, 7.0]), np.array([1.0, 5.0, 6.0, 8.0]), np.ones(4)))
        0.8
    """
    p, g = (_doubled_ranks(column, weights) for column in (prediction, gold))
    together, of_p, of_g = ((weights * left * right).sum(axis=-1) for left, right in ((p, g), (p, p), (g, g)))
    return together / np.sqrt(of_p * of_g)


def kendall(prediction: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Kendall's tau-b: concordant less discordant pairs of instances, over the geometric mean of the untied ones.

    $(C - D) / \sqrt{(n_0 - n_p)(n_0 - n_g)}$ of $n_0 = n (n - 1) / 2$ pairs, of which $n_p$ and $n_g$ are tied by
    prediction and by gold. Inversions are counted bit by bit of the ranks of gold, in $n \log n$ steps. Reference:
    Kendall (1945), "The treatment of ties in ranking problems".

    Args:
        prediction: `[instance]`.
        gold: `[instance]`.
        weights: `[..., instance]` how often each instance is drawn.

    Returns:
        Numbers `[...]` in [-1, 1], as `scipy.stats.kendalltau` gives them; NaN where all drawn values of a column are
        equal.

    Example:
        >>> float(kendall(np.array([1.0, 2.0, 3.0, 3.0]), np.array([1.0, 5.0, 6.0, 6.0]), np.ones(4)))
        1.0
    """
    whole = weights.astype(np.int64)
    p, g = (np.unique(column, return_inverse=True)[1] for column in (prediction, gold))
    both = p * len(g) + g
    squares = whole.sum(axis=-1) ** 2
    # Twice the pairs that are not tied: by prediction, by gold, and by both.
    by_p, by_g, by_both = (squares - (_of_groups(codes, whole) ** 2).sum(axis=-1) for codes in (p, g, both))
    order = np.argsort(both)
    difference = by_p + by_g - by_both - 4 * _inversions(g[order], np.take(whole, order, axis=-1))
    return difference / np.sqrt(by_p * 1.0 * by_g)


def _doubled_ranks(column: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Twice the deviations of the ranks from their mean among those drawn: whole numbers `[..., instance]`."""
    codes = np.unique(column, return_inverse=True)[1]
    up_to = sums_before(_of_groups(codes, weights))
    return np.take(up_to[..., :-1] + up_to[..., 1:] - up_to[..., -1:], codes, axis=-1)


def _of_groups(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How many of those drawn have each of the codes `[instance]`: `[..., code]`, for codes that are there."""
    order = np.argsort(codes)
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return np.add.reduceat(np.take(weights, order, axis=-1), starts, axis=-1)


def _inversions(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How many pairs of those drawn have the larger of two codes `[instance]` (0, 1, ...) first: `[...]` int64.

    Two codes differ first in some bit: among all that agree in the bits before it, those with 1 that stand before one
    with 0.
    """
    total = np.zeros(weights.shape[:-1], np.int64)
    for bit in range(int(codes.max()).bit_length()):
        group = codes >> (bit + 1)
        order = np.argsort(group, stable=True)
        is_one = (codes[order] >> bit & 1) == 1
        ones, zeros = order[is_one], order[~is_one]
        ones_before = np.cumsum(is_one)[~is_one]
        of_lower_groups = np.searchsorted(group[ones], group[zeros])
        drawn = sums_before(np.take(weights, ones, axis=-1))
        first = np.take(drawn, ones_before, axis=-1) - np.take(drawn, of_lower_groups, axis=-1)
        total += (np.take(weights, zeros, axis=-1) * first).sum(axis=-1)
    return total


SPEARMAN = SampleMetric(
    "spearman",
    spearman,
    ("prediction", "gold"),
    weighted=True,
    vectorized=True,
    shared_inputs=("gold",),
    standardize=("rank", "rank"),
    rounding=whole_sums_rounding,
)
KENDALL = replace(SPEARMAN, name="kendall", function=kendall)
