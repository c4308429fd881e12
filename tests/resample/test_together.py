"""Several metrics are scored on the same draws, and each has the numbers that it has by itself."""

import numpy as np
import pytest
from oracles import random_counts

from sigjax import Evaluation, compare

RESAMPLES = 3001
COUNTS = random_counts(np.random.default_rng(5), 3, 80)
RNG = np.random.default_rng(6)
BLEU = {
    name: np.stack([n + RNG.integers(0, 9, 80) for n in (9, 10, 5, 4, 3, 2, 9, 8, 7, 6)], axis=1) for name in COUNTS
}
METRICS = [
    Evaluation.from_arrays(COUNTS, metric="fscore"),
    Evaluation.from_arrays({name: counts.sum(axis=1) for name, counts in COUNTS.items()}, metric="mean"),
    Evaluation.from_arrays(
        {name: np.minimum(counts, BLEU["s0"].min()) for name, counts in BLEU.items()}, metric="bleu"
    ),
    Evaluation.from_arrays(COUNTS, metric="precision"),
    Evaluation.from_arrays(COUNTS, metric=lambda sums: sums[..., 0] * sums[..., 1] / (1.0 + sums[..., 2])),
]


def numbers(report):
    return [(each.metric, each.score, each.standard_error, each.interval) for each in report.systems], [
        (each.metric, each.test, each.p_value, each.exceed, each.standard_error, each.interval) for each in report
    ]


@pytest.mark.parametrize(
    ("options", "device"),
    [
        *(({}, device) for device in ("numpy", "cpu")),
        *(({"method": "montecarlo"}, device) for device in ("numpy", "cpu")),
        ({"interval": "bca"}, "numpy"),
        ({"memory": 1e-4}, "cpu"),
    ],
    ids=str,
)
@pytest.mark.slow
def test_metrics_together_have_the_numbers_that_each_has_alone(device, options):
    options = {"test": ["permutation", "bootstrap"], "resamples": RESAMPLES, "device": device} | options
    options = {"interval": "percentile"} | options
    systems, pairs = numbers(compare(METRICS, **options))
    alone = [numbers(compare(each, **options)) for each in METRICS]
    assert systems == [row for rows, _ in alone for row in rows]
    assert pairs == [row for _, rows in alone for row in rows]
