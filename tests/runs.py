"""A registry of runs, for the laws that all of them obey; and runs that differ from one of them by one thing."""

import hashlib

import numpy as np
from oracles import random_counts

from sigjax import Evaluation, SampleMetric, compare

RNG = np.random.default_rng(8)
COUNTS = random_counts(RNG, 4, 60)
FSCORE = Evaluation.from_arrays(COUNTS, metric="fscore")
TWO = [FSCORE, Evaluation.from_arrays(COUNTS, metric="precision")]
REALS = {name: RNG.normal(shift, 1.0, 40).round(3) for name, shift in (("A", 0.0), ("B", 0.4), ("C", 0.1))}
CLUSTERS = [f"c{i % 25}" for i in range(40)]


def spread(x):
    return x.max() - x.min()


def weighted_mean(x, weights):
    return (x * weights).sum() / weights.sum()


REPEATED = Evaluation.from_arrays(
    COUNTS, metric="fscore", ids=[i // 4 for i in range(60)], runs=[i % 4 for i in range(60)]
)
GROUPED = Evaluation.from_arrays(
    COUNTS, metric="fscore", clusters=[f"c{i // 2}" for i in range(60)], strata=[i // 20 for i in range(60)]
)

RUNS = {
    "both tests of two metrics": (
        TWO,
        {"test": ["permutation", "bootstrap"], "resamples": 30_001, "interval": "percentile"},
    ),
    "counts alone": (FSCORE, {"test": "bootstrap", "resamples": 170_001, "memory": 1e-3, "interval": "none"}),
    "studentized intervals": (TWO, {"resamples": 30_001, "interval": "studentized"}),
    "until decided": (FSCORE, {"resamples": "auto", "interval": "none"}),
    "outputs exchanged within units": (REPEATED, {"resamples": 30_001, "design": "crossed", "interval": "none"}),
    "runs drawn within units": (REPEATED, {"test": "bootstrap", "resamples": 30_001, "design": "nested"}),
    "clusters and strata, by maxT": (GROUPED, {"resamples": 30_001, "correction": "maxt", "interval": "basic"}),
    "metrics together, by maxT": (
        TWO,
        {"resamples": 30_001, "correction": "maxt", "family": "report", "leaderboard": True, "interval": "none"},
    ),
    "a function of samples": (
        Evaluation.from_arrays(REALS, metric=SampleMetric("spread", spread, ("x",)), clusters=CLUSTERS),
        {"test": ["permutation", "bootstrap"], "resamples": 30_001},
    ),
    "a function of samples, compiled": (
        Evaluation.from_arrays(REALS, metric=SampleMetric("mean", weighted_mean, ("x",), weighted=True)),
        {"test": ["permutation", "bootstrap"], "resamples": 50_001, "interval": "bca"},
    ),
}


def report(name, **changes):
    """The JSON of a run."""
    evaluation, options = RUNS[name]
    return compare(evaluation, **({"method": "montecarlo", "device": "numpy"} | options | changes)).to_json()


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


OTHERS = {
    "seed is 12345 there and 1 here": (FSCORE, {"seed": 1}),
    "resamples is 500 there and 501 here": (FSCORE, {"resamples": 501}),
    "tests differ: 'bootstrap' only here": (FSCORE, {"test": ["permutation", "bootstrap"]}),
    "level is 0.95 there and 0.9 here": (FSCORE, {"confidence_level": 0.9}),
    "baseline is None there and s1 here": (FSCORE, {"baseline": "s1"}),
    "metrics differ: 'precision' only here": (TWO, {}),
    "instances is 60 there and 59 here": (
        Evaluation.from_arrays({name: rows[1:] for name, rows in COUNTS.items()}, metric="fscore"),
        {},
    ),
    "systems differ: 's3' only there": (
        Evaluation.from_arrays({name: rows for name, rows in COUNTS.items() if name != "s3"}, metric="fscore"),
        {},
    ),
    "the data (numbers, ids": (
        Evaluation.from_arrays({name: rows[::-1] for name, rows in COUNTS.items()}, metric="fscore"),
        {},
    ),
    "the data (numbers, ids, clusters": (
        Evaluation.from_arrays(COUNTS, metric="fscore", clusters=[i // 2 for i in range(60)]),
        {},
    ),
    "or the order of the systems": (Evaluation.from_arrays(dict(reversed(COUNTS.items())), metric="fscore"), {}),
}
