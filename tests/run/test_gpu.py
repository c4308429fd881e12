"""A GPU gives the report that NumPy gives. Runs where JAX finds one (JAX_PLATFORMS=cuda,cpu pytest -m gpu)."""

import numpy as np
import pytest
from oracles import random_counts

from sigjax import Evaluation, InputError, compare
from sigjax.run.backend import choose_backend
from sigjax.run.costs import Cost

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _gpu():
    try:
        choose_backend("gpu", Cost(1.0))
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


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_scores_of_texts(metric):
    """Scored in kernels; some outputs are shorter than their references."""
    rng = np.random.default_rng(8)
    words, gold = rng.integers(4, 30, (4, 300)), rng.integers(4, 30, 300)
    matches = np.minimum(words, gold)
    if metric == "bleu":
        shrinking = [np.maximum(0, matches - n * rng.integers(1, 5, words.shape)) for n in range(1, 5)]
        counts = [words, np.broadcast_to(gold, words.shape), *shrinking, *(words - n for n in range(4))]
    else:
        orders = [(words - n // 2, gold - n // 2, np.maximum(0, matches - 3 - n)) for n in range(6)]
        counts = [np.broadcast_to(each, words.shape) for order in orders for each in order]
    arrays = dict(zip("abcd", np.stack(counts, axis=-1), strict=True))
    same_on_both(Evaluation.from_arrays(arrays, metric=metric))


@pytest.mark.parametrize(
    "options",
    [
        {"test": "permutation", "correction": "maxt"},
        *({"interval": interval} for interval in ("bca", "studentized", "simultaneous")),
        {"leaderboard": True},
    ],
    ids=str,
)
def test_what_resamples_are_used_for(options):
    same_on_both(Evaluation.from_arrays(random_counts(np.random.default_rng(9), 4, 300), metric="fscore"), **options)


def same_on_both(evaluation, **options):
    options = {"test": ["permutation", "bootstrap"], "method": "montecarlo", "resamples": 20_000} | options
    reports = [compare(evaluation, device=device, **options).to_json() for device in ("numpy", "gpu")]
    assert reports[0] == reports[1]
