"""BLEU of a corpus, from the counts that sacrebleu makes of each segment.

References: Papineni, Roukos, Ward and Zhu (2002), "BLEU: a method for automatic evaluation of machine translation"; the
smoothing is method 3 of Chen and Cherry (2014), "A systematic comparison of smoothing techniques for sentence-level
BLEU"; Post (2018), "A call for clarity in reporting BLEU scores", for the details.
"""

import numpy as np

from sigjax.metrics.counts import stack_counts
from sigjax.metrics.exponential import decay
from sigjax.records import Array, Metric

_ORDERS = range(1, 5)
BLEU_STATS = ("sys_len", "ref_len", *(f"correct{n}" for n in _ORDERS), *(f"total{n}" for n in _ORDERS))


def bleu_score(sums: Array) -> Array:
    r"""BLEU, $100\,\min(1, e^{1 - r/s})\,(p_1 p_2 p_3 p_4)^{1/4}$ with $p_n = correct_n / total_n$.

    s is the length of the system's output and r that of the references. The k-th order without a match has
    $p_n = 1 / (2^k total_n)$ (sacrebleu's smoothing "exp"). Equal to sacrebleu's, without logarithms: the four
    precisions are one quotient of two products, and their geometric mean is two square roots. Products of four counts
    up to 2**53 are far from the largest double.

    Args:
        sums: `[..., stat]` whole numbers, stat as in `BLEU_STATS`.

    Returns:
        `[...]` in [0, 100]; 0 where nothing matches, and where no n-gram of some order was put out.

    Example:
        >>> round(float(bleu_score(np.array([9.0, 10.0, 8.0, 6.0, 4.0, 2.0, 9.0, 8.0, 7.0, 6.0]))), 6)
        53.41736
    """
    xp = sums.__array_namespace__()
    correct = [sums[..., i] for i in range(2, 6)]
    # Floats from the first factor on: products of whole numbers would overflow.
    totals = 1.0 * sums[..., 6] * sums[..., 7] * sums[..., 8] * sums[..., 9]
    defined = (totals > 0) & (correct[0] + correct[1] + correct[2] + correct[3] > 0)
    matches, smoothed = 1.0, 1.0
    for count in correct:
        none = count == 0
        smoothed = xp.where(none, 0.5 * smoothed, smoothed)
        matches = matches * xp.where(none, smoothed, count)
    mean_precision = xp.sqrt(xp.sqrt(matches / xp.where(defined, totals, 1.0)))
    # Whoever puts out no word puts out no n-gram: the 1 is for scores that are not defined anyway.
    brevity = decay(xp.minimum(0.0, 1.0 - sums[..., 1] / xp.maximum(sums[..., 0], 1.0)))
    return xp.where(defined, 100.0 * brevity * mean_precision, 0.0)


def bleu_extract(*columns: np.ndarray) -> np.ndarray:
    """The columns of `BLEU_STATS` -> `[instance, stat]`; impossible counts are refused."""
    return stack_counts(BLEU_STATS, columns, [(6, 0), *((n + 1, n + 5) for n in _ORDERS)])


BLEU = Metric("bleu", bleu_score, BLEU_STATS, bleu_extract, BLEU_STATS, shared_inputs=("ref_len",), portable=True)
