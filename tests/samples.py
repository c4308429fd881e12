"""Metrics that are no functions of sums, with somebody else's functions for them, and data to try methods on."""

import numpy as np
import scipy.stats

from sigjax import Evaluation, SampleMetric, compare
from sigjax.metrics.columns import AUC, AVERAGE_PRECISION, CORRELATION, IQM, KENDALL, MEDIAN, SPEARMAN, VARIANCE

RANGE = SampleMetric("range", lambda x: x.max() - x.min(), ("value",))


def area(score, label):
    """How many pairs of a positive and a negative instance are in order."""
    apart = score[label == 1][:, None] - score[label == 0]
    return (np.mean(apart > 0) + np.mean(apart >= 0)) / 2


def precisions(score, label):
    """The mean over the positive instances of the precision at their scores."""
    above = score >= score[label == 1][:, None]
    return np.mean(above[:, label == 1].sum(axis=1) / above.sum(axis=1))


# name -> (metric, the same by somebody else, of columns)
ORACLES = {
    "median": (MEDIAN, np.median),
    "iqm": (IQM, lambda x: scipy.stats.trim_mean(x, 0.25)),
    "variance": (VARIANCE, lambda x: np.var(x, ddof=1)),
    "correlation": (CORRELATION, lambda p, g: np.corrcoef(p, g)[0, 1]),
    "spearman": (SPEARMAN, lambda p, g: scipy.stats.spearmanr(p, g).statistic),
    "kendall": (KENDALL, lambda p, g: scipy.stats.kendalltau(p, g).statistic),
    "auc": (AUC, area),
    "average-precision": (AVERAGE_PRECISION, precisions),
    "range": (RANGE, np.ptp),
}


STANDARD = {
    "variance": lambda x: x - np.mean(x),
    "correlation": scipy.stats.zscore,
    **dict.fromkeys(("spearman", "kendall", "auc", "average-precision"), scipy.stats.rankdata),
}


def exchanged(name, table):
    """What systems exchange of a table `[instance, input]`: its first column is put on a common scale."""
    first, *others = np.asarray(table, float).T
    return np.column_stack([STANDARD.get(name, np.asarray)(first), *others])


def make_columns(name, rng, num_systems, num_instances):
    """Arrays `[instance, input]` of some systems, with ties among the values."""
    values = rng.integers(0, 12, (num_systems, num_instances)) / 4
    if len(ORACLES[name][0].inputs) == 1:
        return {f"s{k}": column for k, column in enumerate(values)}
    shared = np.arange(num_instances) % 2 if name in ("auc", "average-precision") else rng.normal(size=num_instances)
    return {f"s{k}": np.column_stack([column + shared, shared]) for k, column in enumerate(values)}


def make(name, *, num_systems=3, num_instances=30, seed=0, **labels):
    columns = make_columns(name, np.random.default_rng(seed), num_systems, num_instances)
    return Evaluation.from_arrays(columns, metric=ORACLES[name][0], **labels)


def run(evaluation, **options):
    return compare(evaluation, **({"resamples": 1500, "method": "montecarlo"} | options))


def numbers(report):
    """What does not hang on the last digit."""
    spreads = [(c.standard_error, *(c.interval or ())) for c in report]
    return [(c.a, c.b, c.test, c.exceed, c.p_value) for c in report], np.array(spreads, float)


def with_covariance(covariance, num_units, seed, metric="mean"):
    """Systems whose values have this covariance (ddof = 1), and means of their own."""
    size = len(covariance)
    values = np.random.default_rng(seed).normal(size=(size, num_units))
    values -= values.mean(axis=1, keepdims=True)
    values = np.linalg.solve(np.linalg.cholesky(np.cov(values)), values)
    values = np.linalg.cholesky(covariance) @ values + np.arange(size)[:, None]
    return Evaluation.from_arrays({f"s{k}": row for k, row in enumerate(values)}, metric=metric)
