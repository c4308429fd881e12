"""Same seed, same counts, whatever the tile size, the backend and the number of devices; and the counts are right."""

import sys
from functools import partial

import numpy as np
import pytest
from oracles import extreme, f1, random_counts, swapped_deltas

from sigjax import Evaluation, InputError, Metric, compare
from sigjax.metrics.ratios import FSCORE
from sigjax.resample import engine
from sigjax.resample import engine as sampling
from sigjax.resample.draws import bootstrap, draws_from_strata, row_keys, swap
from sigjax.resample.projection import ByteColumns, ColumnIndices, Floats, draws_projection
from sigjax.run import backend
from sigjax.run.backend import NUMPY, choose_backend
from sigjax.run.context import Run
from sigjax.run.costs import Cost
from sigjax.testing import permutation as permutation

pytestmark = pytest.mark.slow

RESAMPLES = 3000  # not a multiple of any tile


@pytest.fixture(scope="module")
def evaluation():
    return Evaluation.from_arrays(random_counts(np.random.default_rng(1), 5, 70), metric="fscore")


def run(evaluation, **options):
    options = {"method": "montecarlo", "resamples": RESAMPLES, "test": ["permutation", "bootstrap"]} | options
    return compare(evaluation, **options)


def test_counts_are_those_of_the_masks(evaluation):
    """Exchange the rows that the masks mark and count."""
    mask = swap(row_keys(12345, np.arange(RESAMPLES)), draws_from_strata(np.zeros(70, int)), np.dtype(np.float64))
    for c in run(evaluation, test="permutation", interval="none", device="numpy"):
        a, b = (evaluation.stats[evaluation.systems.index(name)] for name in (c.a, c.b))
        delta = swapped_deltas(mask[:, :70], a, b, f1)
        assert c.exceed == extreme(delta, c.delta, "two-sided").sum()


@pytest.mark.parametrize(("factor", "kind"), [(1, ByteColumns), (1000, Floats)])
def test_counts_of_many_columns_are_those_of_the_masks(factor, kind, monkeypatch):
    """On JAX, by products of either type."""
    kinds, chosen = set(), permutation.swap_projection

    def choose(*columns, **_):
        found = chosen(*columns, compiled=True, most_bytes=1)  # also where it is not faster
        kinds.add(type(found.matrix))
        return found

    monkeypatch.setattr(permutation, "swap_projection", choose)
    counts = random_counts(np.random.default_rng(2), 16, 70)
    many = Evaluation.from_arrays({name: factor * table for name, table in counts.items()}, metric="fscore")
    mask = swap(row_keys(12345, np.arange(RESAMPLES)), draws_from_strata(np.zeros(70, int)), np.dtype(np.float64))
    for c in run(many, test="permutation", interval="none", device="cpu"):
        a, b = (many.stats[many.systems.index(name)] for name in (c.a, c.b))
        assert c.exceed == extreme(swapped_deltas(mask[:, :70], a, b, f1), c.delta, "two-sided").sum()
    assert kinds == {kind}


@pytest.mark.parametrize("device", ["numpy", "cpu"])
def test_a_score_that_is_not_finite_on_one_resample_is_refused(device, monkeypatch):
    """On few of 3,000, in tiles of which others have none."""
    monkeypatch.setattr(engine, "_TILE_ELEMENTS", {"numpy": 2**12, "cpu": 2**12})
    mask = swap(row_keys(12345, np.arange(RESAMPLES)), draws_from_strata(np.zeros(70, int)), np.dtype(np.int64))
    ones = mask[:, :70].sum(axis=1)
    rare = int(ones[np.isin(ones, np.flatnonzero(np.bincount(ones) == 1))][0])
    metric = Metric("broken", lambda s: 1.0 / (s[..., 0] - rare), ("x",), lambda x: x[:, None], ("x",))
    data = Evaluation.from_arrays({"a": np.zeros(70, int), "b": np.ones(70, int)}, metric=metric)
    with pytest.raises(InputError, match="metric 'broken' is not a finite number for 'a' and 'b'"):
        run(data, test="permutation", interval="none", device=device)


def test_replicates_are_those_of_the_counts(evaluation):
    counts = bootstrap(row_keys(12345, np.arange(RESAMPLES)), draws_from_strata(np.zeros(70, int)), np.dtype(float))
    scores = f1(np.einsum("ri,kis->krs", counts[:, :70], evaluation.stats))
    for c in run(evaluation, test="bootstrap", interval="percentile", device="numpy"):
        delta = scores[evaluation.systems.index(c.a)] - scores[evaluation.systems.index(c.b)]
        assert c.exceed == extreme(delta - c.delta, c.delta, "two-sided").sum()
        assert c.standard_error == pytest.approx(delta.std(ddof=1), rel=1e-12)
        assert c.interval == pytest.approx(np.quantile(delta, [0.025, 0.975]), rel=1e-12)


def test_the_global_setting_of_jax_is_left_alone(evaluation):
    import jax

    before = jax.config.jax_enable_x64
    run(evaluation, device="cpu")
    assert jax.config.jax_enable_x64 is before is False


def test_small_work_runs_on_numpy():
    assert choose_backend("auto", Cost(0.01)) is NUMPY
    assert choose_backend("numpy", Cost(1e9)) is NUMPY
    assert choose_backend("auto", Cost(1e9)).platform == "cpu"


def test_small_work_that_comes_again_and_again_is_compiled(monkeypatch):
    monkeypatch.setattr(backend, "_by_numpy", {})
    monkeypatch.setattr(backend, "has_kept_programs", lambda: False)
    chosen = [choose_backend("auto", Cost(0.3)) for _ in range(6)]
    assert [each is NUMPY for each in chosen] == [True] * 3 + [False] * 3
    assert choose_backend("auto", Cost(0.29)) is NUMPY  # other work
    assert choose_backend("numpy", Cost(0.3)) is NUMPY
    for i in range(5000):
        choose_backend("auto", Cost(i * 1e-6))
    assert len(backend._by_numpy) <= 4096


def test_work_is_compiled_sooner_where_programs_are_kept(monkeypatch, tmp_path):
    import jax

    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    try:
        for name, expected in (("jit_on_all-0-atime", [True] * 3 + [False]), ("jit_on_all-0-cache", [True, False])):
            (tmp_path / name).touch()
            monkeypatch.setattr(backend, "_by_numpy", {})
            assert [choose_backend("auto", Cost(0.3)) is NUMPY for _ in expected] == expected
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_loading_jax_is_counted_where_it_is_not_loaded(monkeypatch):
    import jax

    monkeypatch.setattr(backend, "has_kept_programs", lambda: False)
    choose = partial(choose_backend, "auto", Cost(1.2))
    assert choose().platform == "cpu"
    monkeypatch.delitem(sys.modules, jax.__name__)
    assert choose() is NUMPY


def test_without_jax_numpy_is_used_and_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.warns(RuntimeWarning, match="running on NumPy"):
        assert choose_backend("auto", Cost(1e9)) is NUMPY


def test_progress_is_told(evaluation):
    done = []
    projection = draws_projection(np.zeros((4, 70), int), draws_from_strata(np.zeros(70, int)), compiled=False)
    run = Run(5000, 0, NUMPY, done.append)
    list(
        sampling.replicates(
            projection,
            [sampling.ScoreSpec(ColumnIndices.of(np.zeros((2, 3), int)), None, FSCORE.score, on_host=False)],
            run,
        )
    )
    assert done == sorted(done)
    assert done[-1] == 5000


def test_other_seeds_give_other_counts(evaluation):
    counts = [[c.exceed for c in run(evaluation, seed=seed)] for seed in (0, 1, 2**64 - 1)]
    assert counts[0] != counts[1] != counts[2] != counts[0]


def test_pairs_that_do_not_fill_their_last_block_count_as_they_do_alone():
    """231 pairs of nine statistics: a block has 227."""
    rng = np.random.default_rng(2)

    def metric(sums):
        return sums[..., :4].sum(axis=-1) / (1.0 + sums[..., 4:].sum(axis=-1))

    arrays = {f"s{k:02}": rng.integers(0, 4, (20, 9)) for k in range(22)}
    options = {"method": "montecarlo", "resamples": 99, "interval": "none", "device": "numpy", "progress": False}
    report = compare(Evaluation.from_arrays(arrays, metric=metric), **options)
    assert len(report) == 231
    for a, b in (("s00", "s01"), ("s19", "s21"), ("s20", "s21")):
        (alone,) = compare(Evaluation.from_arrays({name: arrays[name] for name in (a, b)}, metric=metric), **options)
        assert report[a, b].exceed == alone.exceed
