"""A GPU gives the report that NumPy gives. Runs where JAX finds one (JAX_PLATFORMS=cuda,cpu pytest -m gpu)."""

import numpy as np
import pytest
from oracles import random_counts

from sigjax import Evaluation, InputError, compare
from sigjax.resample.backend import choose_backend

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _gpu():
    try:
        choose_backend("gpu", numpy_seconds=1.0)
    except InputError:
        pytest.skip("JAX finds no GPU here")


@pytest.mark.parametrize("metric", ["precision", "recall", "fscore"])
@pytest.mark.parametrize("num_instances", [1, 50, 3000])
def test_counts(metric, num_instances):
    arrays = random_counts(np.random.default_rng(num_instances), 6, num_instances + 1)
    same_on_both(Evaluation.from_arrays(arrays, metric=metric))


@pytest.mark.parametrize("decimals", [2, 6, 17])
def test_reals(decimals):
    """Two decimals fit float32, six need float64, seventeen are rounded to fixed point."""
    values = np.random.default_rng(decimals).normal(0.1, 1.0, (4, 500)).round(decimals)
    same_on_both(Evaluation.from_arrays(dict(zip("abcd", values, strict=True))))


def test_clusters_and_strata():
    arrays = random_counts(np.random.default_rng(0), 4, 200)
    labels = np.arange(200) // 5
    same_on_both(
        Evaluation.from_arrays(arrays, metric="fscore", clusters=labels.tolist(), strata=(labels // 8).tolist())
    )


@pytest.mark.parametrize("design", ["crossed", "nested"])
def test_repeated_runs(design):
    arrays = random_counts(np.random.default_rng(7), 4, 600)
    ids, runs = (np.arange(600) // 5).tolist(), (np.arange(600) % 5).tolist()
    same_on_both(Evaluation.from_arrays(arrays, metric="fscore", ids=ids, runs=runs), design=design)


def same_on_both(evaluation, **options):
    reports = [
        compare(
            evaluation,
            test=["permutation", "bootstrap"],
            method="montecarlo",
            resamples=20_000,
            device=device,
            **options,
        ).to_json()
        for device in ("numpy", "gpu")
    ]
    assert reports[0] == reports[1]
