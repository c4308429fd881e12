"""Variance and Pearson's correlation: moments about a mean that is itself drawn, so that they are no sums.

Functions take columns `[instance]`, and weights `[..., instance]`: how often each instance is drawn. They give `[...]`.
"""

import numpy as np

from sigjax.records import Array, SampleMetric

_EPSILON = float(np.finfo(np.float64).eps)


def variance(value: Array, weights: Array) -> Array:
    r"""Sample variance, $\sum_i w_i (x_i - \bar x)^2 / (n - 1)$ with $n = \sum_i w_i$ (ddof = 1).

    As `numpy.var(ddof=1)` of the repeated instances; NaN for one instance.

    Example:
        >>> float(variance(np.array([1.0, 3.0, 9.0]), np.array([1.0, 1.0, 0.0])))
        2.0
    """
    centred = _centre(value, weights)
    return (weights * centred * centred).sum(axis=-1) / (weights.sum(axis=-1) - 1.0)


def correlation(prediction: Array, gold: Array, weights: Array) -> Array:
    r"""Pearson's correlation of predictions with gold values, $s_{pg} / \sqrt{s_{pp} s_{gg}}$.

    $s_{pg} = \sum_i w_i (p_i - \bar p)(g_i - \bar g)$. Reference: Pearson (1895), "Note on regression and inheritance
    in the case of two parents".

    Scores are in [-1, 1], as `scipy.stats.pearsonr`; NaN where all drawn values of a column are equal.

    Example:
        >>> float(correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 1.0]), np.ones(3)))
        0.0
    """
    p, g = _centre(prediction, weights), _centre(gold, weights)
    xp = weights.__array_namespace__()
    # Two roots: the product of two sums of squares may overflow or underflow.
    together, of_p, of_g = ((weights * left * right).sum(axis=-1) for left, right in ((p, g), (p, p), (g, g)))
    return together / xp.sqrt(of_p) / xp.sqrt(of_g)


def _centre(value: Array, weights: Array) -> Array:
    """Values minus the mean of those drawn; all 0 where those drawn are equal."""
    xp = weights.__array_namespace__()
    # Measured from a drawn value, equal values are exactly 0, and a mean far from 0 costs no digits.
    apart = value - xp.max(xp.where(weights > 0.0, value, -xp.inf), axis=-1, keepdims=True)
    return apart - (weights * apart).sum(axis=-1, keepdims=True) / weights.sum(axis=-1, keepdims=True)


def _variance_rounding(value: np.ndarray) -> float:
    """Sums over the instances, in any order, of squares up to that of the range."""
    return 2.0 * (len(value) + 8) * _EPSILON * float(np.ptp(value)) ** 2


def _correlation_rounding(prediction: np.ndarray, gold: np.ndarray) -> float:
    """Sums over the instances, in any order, of z-scores whose spread on a resample is at least a thousandth."""
    del gold
    return (len(prediction) + 1024) * _EPSILON


VARIANCE = SampleMetric(
    "variance",
    variance,
    ("value",),
    weighted=True,
    vectorized=True,
    higher_is_better=False,
    standardize=("center",),
    rounding=_variance_rounding,
)
CORRELATION = SampleMetric(
    "correlation",
    correlation,
    ("prediction", "gold"),
    weighted=True,
    vectorized=True,
    shared_inputs=("gold",),
    standardize=("zscore", "zscore"),
    rounding=_correlation_rounding,
)
MOMENTS = (VARIANCE, CORRELATION)
