"""How functions of whole columns are called: compiled or not, the same everywhere, and refused with what to do."""

import itertools
import json

import numpy as np
import pytest
import scipy.stats
from oracles import extreme
from samples import ORACLES, area, make, make_columns, numbers, run

from sigjax import Evaluation, InputError, SampleMetric, compare, permutation_test
from sigjax.cli import _run
from sigjax.resample import gathered
from sigjax.resample.draws import draws_from_strata, row_keys, swap
from sigjax.testing import permutation as sample


@pytest.fixture
def compiling(monkeypatch):
    """However small the work, it is compiled."""
    monkeypatch.setattr(sample, "_SMALL_WORK_SECONDS", 0.0)


@pytest.mark.parametrize("name", ORACLES)
def test_compiled_and_called_agree(name, monkeypatch):
    evaluation = make(name, num_instances=50)
    by_numpy = numbers(run(evaluation, test=["permutation", "bootstrap"]))
    monkeypatch.setattr(sample, "_SMALL_WORK_SECONDS", 0.0)
    compiled = numbers(run(evaluation, test=["permutation", "bootstrap"]))
    assert compiled[0] == by_numpy[0]
    np.testing.assert_allclose(compiled[1], by_numpy[1], rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("compiling")
def test_tile_size_changes_no_count(monkeypatch):
    """Only the last digits of scores, where a compiler adds up in another order."""
    evaluation = make("correlation", num_instances=50)
    expected = numbers(run(evaluation, test=["permutation", "bootstrap"]))
    monkeypatch.setattr(gathered, "_TILE_ELEMENTS", 3000)
    found = numbers(run(evaluation, test=["permutation", "bootstrap"]))
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_what_jax_cannot_trace_is_called(compiling):
    """NumPy's own functions, with a warning that tells what would be faster."""
    iqr = SampleMetric("iqr", lambda x: np.subtract(*np.quantile(x, [0.75, 0.25])), ("value",))
    evaluation = Evaluation.from_arrays(make_columns("median", np.random.default_rng(0), 2, 30), metric=iqr)
    with pytest.warns(RuntimeWarning, match="JAX cannot compile the metric 'iqr'"):
        (c,) = run(evaluation, resamples=300, interval="none")
    masks = swap(row_keys(12345, np.arange(300)), draws_from_strata(np.zeros(30, int)), np.dtype(bool))[:, :30]
    sides = [np.where(masks, *pair) for pair in itertools.permutations(evaluation.stats[:, :, 0])]
    delta = np.subtract(*(scipy.stats.iqr(side, axis=1) for side in sides))
    assert c.exceed == extreme(delta, c.delta, "two-sided").sum()


def test_long_sorts_are_left_to_numpy():
    def by_operators(x):
        return x.__array_namespace__().sort(x)[3]

    def by_jax(x):
        import jax.numpy as jnp

        return jnp.sort(x)[3]

    assert gathered.sorts_long(by_operators, 1, 1000)
    assert not gathered.sorts_long(by_operators, 1, 20)
    assert not gathered.sorts_long(by_jax, 1, 1000)
    assert not gathered.sorts_long(lambda x: x.max(), 1, 1000)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (
            SampleMetric("bad", lambda x: x.missing, ("value",)),
            "'bad' failed on float64 arrays .*AttributeError",
        ),
        (SampleMetric("bad", lambda x: x, ("value",)), r"one real number, got float64 of shape \(4,\)"),
        (SampleMetric("bad", lambda x: 1j, ("value",)), "one real number, got complex128"),
        (SampleMetric("bad", lambda x, w: x.sum(), ("value",), weighted=True), "metric 'bad' gives 10 .* but 13 for"),
        (SampleMetric("bad", lambda x: x.sum() * np.nan, ("value",)), "'bad' is not a finite number for 'a'"),
        (SampleMetric("bad", lambda x, y: 0.0, ("value", "other")), "takes 2 number"),
    ],
)
def test_functions_that_are_refused(metric, message):
    with pytest.raises(InputError, match=message):
        permutation_test([1, 2, 3, 4], [4, 3, 2, 2], metric=metric)


def test_an_undefined_resample_is_refused_with_what_to_do():
    def make(left, right):
        return Evaluation.from_arrays({"left": left, "right": right}, metric="correlation")

    evaluation = make([[1, 2], [2, 2], [3, 4]], [[1, 2], [1, 2], [3, 4]])
    with pytest.raises(InputError, match=r"not a finite number for 'left' .*leave the bootstrap out \(interval none\)"):
        compare(evaluation, resamples=1000)
    constant = make([[0, 1], [0, 2], [1, 3], [1, 5]], [[1, 1], [1, 2], [0, 3], [0, 5]])
    with pytest.raises(InputError, match="not a finite number for 'left' and 'right'"):
        compare(constant, interval="none")
    assert compare(evaluation, interval="none").comparisons[0].p_value == 0.25


@pytest.mark.parametrize(
    ("labels", "message"), [([0, 1, 2], "label must be 0 or 1, got 2 at instance 3"), ([1, 1, 1], "of both labels")]
)
def test_labels_are_checked(labels, message):
    with pytest.raises(InputError, match=f"system 'a': .*{message}"):
        Evaluation.from_arrays({"a": np.column_stack([[1, 2, 3], labels])} | {"b": np.ones((3, 2))}, metric="auc")


def test_tables(tmp_path):
    rng = np.random.default_rng(0)
    wide, long, out = tmp_path / "wide.tsv", tmp_path / "long.tsv", tmp_path / "out.json"
    a, b = rng.integers(0, 9, (2, 25))
    wide.write_text("id\tA\tB\n" + "".join(f"q{i}\t{x}\t{y}\n" for i, (x, y) in enumerate(zip(a, b, strict=True))))
    rows = [f"{name}\tq{i}\t{x}\t{i % 2}\n" for name, values in (("A", a), ("B", b)) for i, x in enumerate(values)]
    long.write_text("system\tid\tscore\tlabel\n" + "".join(rows))
    options = ["--resamples", "500", "--format", "json", "-o", str(out)]
    assert _run(["compare", str(wide), "-m", "median", "variance", *options], debug=True) == 0
    scores = {(s["name"], s["metric"]): s["score"] for s in json.loads(out.read_text())["systems"]}
    assert scores["A", "median"] == np.median(a)
    assert scores["B", "variance"] == pytest.approx(np.var(b, ddof=1))
    assert _run(["compare", str(long), "-m", "auc", *options], debug=True) == 0
    scores = {s["name"]: s["score"] for s in json.loads(out.read_text())["systems"]}
    assert scores["A"] == area(a, np.arange(25) % 2)
