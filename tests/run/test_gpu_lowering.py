"""Kernels lower for CUDA on a machine that has none, and what they are lowered to is what is meant."""

import contextlib
import re
from importlib import import_module

import jax
import numpy as np
import pytest
from oracles import random_counts

from sigjax import Evaluation, compare
from sigjax.exact import tails
from sigjax.resample import engine
from sigjax.run import context
from sigjax.run.backend import Backend, jax_scope, program
from sigjax.testing import bootstrap, summaries

ranks = import_module("sigjax.studies.ranking")


@pytest.fixture
def lowered(monkeypatch):
    """StableHLO for CUDA, by kernel; no program runs, each gives zeros."""
    texts = {}

    def record(kernel, static=(), platform=None, devices=(), **_):
        def run(*arguments):
            with jax_scope():
                traced = jax.jit(program(kernel, static, devices)).trace(*arguments)
                name = dict(static).get("kernel", kernel).__name__
                texts[name] = traced.lower(lowering_platforms=("cuda",)).as_text()
            return jax.tree.map(lambda out: np.ones(out.shape, out.dtype), traced.out_info)

        return run

    gpu = Backend("gpu", tuple(jax.local_devices(backend="cpu"))[:1])
    monkeypatch.setattr(context, "choose_backend", lambda *_, **__: gpu)
    for module in (engine, ranks):
        monkeypatch.setattr(module, "on_all_devices", lambda devices, data: data)
    for module in (engine, summaries, ranks, tails):
        monkeypatch.setattr(module, "compiled", record)
    return texts


def lower(lowered, test, num_systems, *, factor=1, ids=None, runs=None, **options):
    counts = random_counts(np.random.default_rng(4), num_systems, 700)
    counts = {name: factor * each for name, each in counts.items()}
    evaluation = Evaluation.from_arrays(counts, metric="fscore", ids=ids, runs=runs)
    interval = {"interval": "none"} if test == "permutation" else {"interval": "percentile"}
    options = {"method": "montecarlo", "resamples": 2**15, "device": "gpu", "test": test} | interval | options
    compare(evaluation, **options)
    return lowered["_swap_tile" if test == "permutation" else "_scores_tile"]


def products(text):
    """Types of the operands of matrix products."""
    return set(re.findall(r"stablehlo.dot_general .*?: \(tensor<[\dx]*x(\w+)>", text))


def scatters(text):
    """Types of what is scattered into."""
    return set(re.findall(r'"stablehlo.scatter"\(.*?\}\) : \(tensor<[\dx]*x(\w+)>', text, re.DOTALL))


@pytest.mark.parametrize(("factor", "correction"), [(1, "holm"), (10**6, "maxt")])
def test_swaps_of_many_systems_multiply_bytes(lowered, factor, correction):
    text = lower(lowered, "permutation", 12, factor=factor, correction=correction)
    assert products(text) == {"i8"}
    assert not scatters(text)


@pytest.mark.parametrize("factor", [1, 10**6])
def test_draws_of_many_systems_multiply_bytes_and_add_whole_words(lowered, factor):
    text = lower(lowered, "bootstrap", 12, factor=factor)
    assert products(text) == {"i8"}
    assert scatters(text) == {"ui32"}


@pytest.mark.parametrize("factor", [1, 10**6])
@pytest.mark.parametrize(("design", "test"), [("crossed", "permutation"), ("nested", "bootstrap")])
def test_designs_of_repeated_runs_multiply_bytes(lowered, design, test, factor):
    ids, runs = (np.arange(700) // 5).tolist(), (np.arange(700) % 5).tolist()
    text = lower(lowered, test, 4, factor=factor, design=design, ids=ids, runs=runs)
    assert products(text) == {"i8"}
    assert scatters(text) == (set() if design == "crossed" else {"ui32"})


@pytest.mark.slow
def test_replicates_are_summarised_where_they_are(lowered, monkeypatch):
    """Order statistics are counted, not sorted; a square and a sum are never in one program."""
    for module in (summaries, bootstrap):
        monkeypatch.setattr(module, "room", lambda _: 1.0)
    lower(lowered, "bootstrap", 3, interval="bca")
    ids, runs = (np.arange(700) // 5).tolist(), (np.arange(700) % 5).tolist()
    lower(lowered, "bootstrap", 3, interval="simultaneous", design="nested", ids=ids, runs=runs)
    names = {"filled", "joined", "placed", "totals", "squares", "row_totals", "doubled_mid_ranks", "order_statistics"}
    assert names | {"largest_deviations", "count_extreme"} <= lowered.keys()
    assert not any("stablehlo.sort" in lowered[name] or scatters(lowered[name]) for name in names)
    assert not re.search(r"stablehlo.multiply .*xf64>", lowered["row_totals"])
    assert "while" in lowered["order_statistics"]


@pytest.mark.slow
def test_exact_boards_are_products_and_waves_in_float64(lowered):
    """Nothing is scattered or sorted; only a score without an order needs an inverse FFT."""
    options = {"method": "exact", "device": "gpu", "interval": "none", "progress": False}
    counts = random_counts(np.random.default_rng(4), 6, 900)
    values = {name: each[:, 0] for name, each in counts.items()}
    few = {name: each[:150, :2] for name, each in counts.items()}

    def wavy(sums):
        return 0.001 * sums[..., 1] - (0.02 * sums[..., 0]) ** 2

    for metric, data in (("mean", values), ("fscore", counts), (wavy, few)):
        with contextlib.suppress(ValueError):  # results of ones
            compare(Evaluation.from_arrays(data, metric=metric), **options)
    assert {"_line_kernel", "_plane_kernel", "_grid_kernel"} <= lowered.keys()
    for name in ("_line_kernel", "_plane_kernel", "_grid_kernel"):
        assert products(lowered[name]) == {"f64"}
        assert not scatters(lowered[name])
        assert "stablehlo.sort" not in lowered[name]
        assert ("stablehlo.fft" in lowered[name]) == (name == "_grid_kernel")


def test_boards_of_answers_multiply_bytes_and_decide_in_the_kernel(lowered):
    answers = (np.arange(100) < [[90], [50], [50], [10]]).astype(np.uint8)
    gpu = Backend("gpu", tuple(jax.local_devices(backend="cpu"))[:1])
    tiles = ranks._Tiles(answers, answers.sum(axis=1, dtype=np.int32), gpu)
    tiles.counts(100, 41)
    assert products(lowered["_counts_of_tiles"]) == {"i8"}
    assert scatters(lowered["_counts_of_tiles"]) == {"i64"}
    ((_, decisions),) = tiles.wins(np.zeros(101, np.int32))
    assert products(lowered["_wins_of_tiles"]) == {"i8"}
    assert [each.ndim for each in decisions] == [1] * 3  # nothing of single pairs comes back


def test_numbers_of_more_than_four_bytes_are_multiplied_in_float64(lowered):
    assert products(lower(lowered, "permutation", 12, factor=10**11)) == {"f64"}
