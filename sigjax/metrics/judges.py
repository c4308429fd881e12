r"""The mean of human labels of few instances, sharpened by the scores of a judge on all instances (PPI++).

Let n instances be labelled and N not. With human labels y and scores f of the judge (a model, a metric, cheap raters),

    score = ybar + lambda (fbar_u - fbar_l)      lambda = cov_l(y, f) / (var(f) (1 + n / N))

where ybar is the mean human label, fbar_u and fbar_l are the judge's means on unlabelled and labelled instances, cov_l
is the covariance on the labelled instances (ddof = 0), and var(f) the variance on all instances (ddof = 1), as in the
package ppi_py. Suppose the labelled instances were chosen at random. Then the expected score is the mean human label of
all instances, up to terms of 1 / n, however bad the judge is. For a bad judge, lambda is near 0, and the score is near
ybar. Unlike ppi_py, sigjax does not limit lambda to [0, 1]. So the judge may use another scale than people, and the
score is smooth, as the jackknife requires.

References: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), "Prediction-powered inference"; Angelopoulos, Duchi
and Zrnic (2023), "PPI++: Efficient prediction-powered inference", section 6.
"""

import numpy as np

from sigjax.metrics.ratios import divide
from sigjax.records import Array, InputError, Metric

_FAR = 2.0**8
"""Limit for the absolute median of the judge scores, as a multiple of their mean distance from the median. From this
limit on, judge scores are shifted to near 0."""
_STATS = ("labelled", "unlabelled", "human", "judge_labelled", "judge_unlabelled", "product", "judge_square")


def ppi_lambda(sums: Array) -> Array:
    r"""The weight of the judge, $\mathrm{cov}_l(y, f) / (\mathrm{var}(f) (1 + n / N))$; 0 if the judge never varies.

    y are human labels and f the judge's scores; n instances are labelled, and N are not. $\mathrm{cov}_l$ is the
    covariance on the labelled instances, and $\mathrm{var}$ the variance on all instances. Sums `[..., stat]` give
    weights `[...]`. stat = (n, N, and the sums of y, of f if labelled, of f if not labelled, of y f, and of f^2).

    >>> stats = PPI.extract(np.array([1.0, 0.0, np.nan, np.nan]), np.array([1.0, 0.0, 1.0, 0.0]))
    >>> float(ppi_lambda(stats.sum(axis=0)))  # 1/4 divided by (1/3 multiplied by 2)
    0.375
    """
    n, others, human, judged, rest, product, square = (sums[..., k] for k in range(len(_STATS)))
    number = n + others
    covariance = divide(product - divide(human * judged, n), n)
    variance = divide(square - divide((judged + rest) * (judged + rest), number), number - 1.0)
    return divide(covariance * others, variance * number)


def ppi_score(sums: Array) -> Array:
    r"""Mean of human labels by prediction-powered inference, $\bar y + \lambda (\bar f_u - \bar f_l)$.

    $\bar y$ is the mean human label, $\lambda$ the weight of the judge (`ppi_lambda`), and $\bar f_u$ and $\bar f_l$
    are the judge's means on unlabelled and labelled instances. Sums `[..., stat]` as in `ppi_lambda` give scores
    `[...]`. If no instance is labelled, the score is NaN, which raises an error later.

    >>> stats = PPI.extract(np.array([1.0, 0.0, np.nan, np.nan]), np.array([1.0, 0.0, 1.0, 1.0]))
    >>> float(ppi_score(stats.sum(axis=0)))  # 1/2 + lambda/2, with lambda = 1/4 / (1/4 * 2)
    0.75
    """
    n, xp = sums[..., 0], sums.__array_namespace__()
    judge = divide(sums[..., 4], sums[..., 1]) - divide(sums[..., 3], n)
    return xp.where(n == 0, xp.nan, divide(sums[..., 2], n) + ppi_lambda(sums) * judge)


def _extract(human: np.ndarray, judge: np.ndarray) -> np.ndarray:
    labelled = ~np.isnan(human)
    if (count := np.count_nonzero(labelled)) < 2:
        raise InputError(
            f"ppi needs human labels of at least two instances, got {count}; expected a number in some cells"
        )
    y, f = (np.where(labelled, each, 0.0) for each in (human, judge))
    return np.stack([labelled, ~labelled, y, f, judge - f, y * judge, judge * judge], axis=-1)


def with_near_judges(tables: list[np.ndarray]) -> list[np.ndarray]:
    """Return the tables `[instance, 2]` of human labels and judge scores, with large judge scores shifted to near 0.

    One constant is subtracted from all judge scores of all systems, which changes no result. Otherwise the squares of
    large scores would lose the last digits, in which scores differ. The constant is itself a judge score, so that the
    subtraction rounds little or nothing.

    >>> with_near_judges([np.array([[1.0, 1e9], [0.0, 1e9 + 1.0]]), np.array([[1.0, 1e9 + 2.0], [0.0, 1e9]])])[1]
    array([[1., 2.],
           [0., 0.]])
    """
    judge = np.sort(np.concatenate([table[:, 1] for table in tables]))
    middle = judge[(len(judge) - 1) // 2]
    if abs(float(middle)) < _FAR * float(np.abs(judge - middle).mean()):
        return tables
    return [np.column_stack([table[:, 0], table[:, 1] - middle]) for table in tables]


PPI = Metric("ppi", ppi_score, _STATS, _extract, ("human", "judge"), optional_inputs=("human",), title="PPI++")
