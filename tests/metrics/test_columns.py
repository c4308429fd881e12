"""Metrics that are not sums: how they are called, what systems exchange by them, and ties in rational arithmetic."""

import itertools
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from oracles import enumerate_tables, extreme, montecarlo_error
from rational import SCORES, permutation_p
from samples import ORACLES, area, make, make_columns, numbers, run

from sigjax import Evaluation, InputError, SampleMetric, bootstrap_test, compare, permutation_test
from sigjax.cli import _run
from sigjax.metrics.columns import CORRELATION, auc, average_precision, standardized
from sigjax.resample import gathered
from sigjax.resample.draws import draws_from_strata, row_keys, swap
from sigjax.run.costs import Cost
from sigjax.testing import columns as sample


@pytest.fixture
def compiling(monkeypatch):
    """However small the work, it is compiled."""
    monkeypatch.setattr(sample, "COMPILING_METRIC", Cost())


@pytest.mark.parametrize("name", ORACLES)
def test_compiled_and_called_agree(name, monkeypatch):
    evaluation = make(name, num_instances=50)
    by_numpy = numbers(run(evaluation, test=["permutation", "bootstrap"]))
    monkeypatch.setattr(sample, "COMPILING_METRIC", Cost())
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
        (SampleMetric("bad", lambda x: x.missing, ("value",)), "'bad' failed on float64 arrays .*AttributeError"),
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


def pearson(x, y):
    return scipy.stats.pearsonr(x, y).statistic


def tables(num_instances, *, labels=False):
    """Gold values, and a system that is much closer to them than another."""
    gold, a, b = np.random.default_rng(2).normal(size=(3, num_instances)).round(3)
    shared = (gold > 0) * 1.0 if labels else gold
    return [np.column_stack([column, shared]) for column in (0.2 * gold + a, 1.5 * gold + b)]


def changed(table, change):
    return np.column_stack([change(table[:, 0]), table[:, 1]])


SCALES = {"offset": lambda x: x + 10.0, "scale": lambda x: 100.0 * x, "both": lambda x: 0.001 * x - 6.0}
ORDERS = SCALES | {"monotone": lambda x: np.exp(x) ** 3}


@pytest.mark.parametrize("num_instances", [12, 60])
@pytest.mark.parametrize("change", SCALES)
def test_correlation_ignores_the_scale_of_a_system(change, num_instances):
    """For 40 instances, p was 1e-4 as it is, 0.054 with 10 more for one system, and 0.001 for 100 times as much."""
    a, b = tables(num_instances)
    plain = permutation_test(a, b, metric="correlation", resamples=4000)
    moved = permutation_test(a, changed(b, SCALES[change]), metric="correlation", resamples=4000)
    assert moved.delta == pytest.approx(plain.delta, rel=1e-12)
    assert moved.p_value == plain.p_value < (0.01 if num_instances > 12 else 1.0)


@pytest.mark.parametrize("num_instances", [12, 60])
@pytest.mark.parametrize("change", ORDERS)
@pytest.mark.parametrize("metric", ["auc", "spearman", "kendall"])
def test_ranks_ignore_the_scale_of_a_system(metric, change, num_instances):
    a, b = tables(num_instances, labels=metric == "auc")
    plain = permutation_test(a, b, metric=metric, resamples=2000)
    moved = permutation_test(a, changed(b, ORDERS[change]), metric=metric, resamples=2000)
    assert (moved.delta, moved.p_value) == (plain.delta, plain.p_value)
    assert plain.p_value < (0.01 if num_instances > 12 else 1.0)


def test_variance_ignores_the_mean_of_a_system():
    a, b = np.random.default_rng(0).normal(0.0, [[1.0], [1.6]], (2, 60)).round(2)
    plain, moved = (permutation_test(a, b + shift, metric="variance", resamples=2000) for shift in (0.0, 1e12 // 7))
    assert moved.p_value == pytest.approx(plain.p_value, abs=0.02)  # the numbers themselves are rounded there
    assert permutation_test(a, b + 50.0, metric="variance", resamples=2000).p_value == plain.p_value < 0.05


@pytest.mark.parametrize("standardize", ["zscore", "rank", "center"])
def test_own_metrics_may_declare_it(standardize):
    own = SampleMetric("own", lambda p, g: np.corrcoef(p, g)[0, 1], ("p", "g"), standardize=(standardize, "none"))
    ways = {"zscore": scipy.stats.zscore, "rank": scipy.stats.rankdata, "center": lambda x: x - x.mean()}
    a, b = (table[:9] for table in tables(9))
    if standardize == "rank":  # of which the score depends
        with pytest.raises(InputError, match=r"'own' gives .* but .* once they are standardized \(rank, none\)"):
            permutation_test(a, b, metric=own)
        return
    expected = enumerate_tables(
        *(changed(table, ways[standardize]) for table in (a, b)), lambda table: pearson(*table.T), "two-sided"
    )
    assert permutation_test(a, b, metric=own).p_value == expected


@pytest.mark.parametrize("standardize", ["zscore", ("zscore",), ("zscore", "log")])
def test_unknown_ways_are_refused(standardize):
    own = SampleMetric("own", pearson, ("p", "g"), standardize=standardize)
    with pytest.raises(InputError, match="standardize must be one of none, center, zscore, rank for each of p, g"):
        permutation_test(*tables(9), metric=own)


@pytest.mark.parametrize(("scale", "offset"), [(3.0, 1.0), (0.1, 0.7), (1e-9, 0.0), (7.0, 1e12), (0.1, -1e12)])
def test_equal_numbers_stay_equal(scale, offset):
    """However they are written as decimals."""
    base = np.array([0, 1, 1, 3, 7.0])
    other = [float(f"{scale * value + offset:.14g}") for value in base]
    columns = np.array([[base], [other]])
    one, two = standardized(SampleMetric("own", np.ptp, ("x",), standardize=("zscore",)), columns)[:, 0]
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, scipy.stats.zscore(base), rtol=1e-15)


def test_numbers_beyond_the_range_are_refused():
    huge = np.array([[-1.7e308, 1.7e308, 1.7e308], [1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match=r"numbers up to 1e\+140 are taken; rescale"):
        permutation_test(*huge, metric="variance")


def test_vectorized_functions_are_checked():
    def of_one(x, weights):
        return (weights * x).sum() / weights.sum()

    own = SampleMetric("own", of_one, ("x",), weighted=True, vectorized=True)
    with pytest.raises(InputError, match=r"'own' must turn weights \[..., instance\] into scores"):
        permutation_test([1.0, 2.0, 3.0], [5.0, 1.0, 2.0], metric=own)
    of_many = SampleMetric(
        "many", lambda x, w: (w * x).sum(axis=-1) / w.sum(axis=-1), ("x",), weighted=True, vectorized=True
    )
    arrays = dict(zip("ABC", np.random.default_rng(0).integers(0, 9, (3, 40)), strict=True))
    found, expected = (
        run(Evaluation.from_arrays(arrays, metric=metric), test=["permutation", "bootstrap"])
        for metric in (of_many, "mean")
    )
    assert numbers(found)[0] == numbers(expected)[0]


def test_the_reference_is_scipy_for_thousands_of_instances():
    gold, a, b = np.random.default_rng(3).normal(size=(3, 4000)).round(2)
    systems = {"A": np.column_stack([gold + a, gold]), "B": np.column_stack([100.0 * (gold + 2.0 * b), gold])}
    for name, oracle in (("spearman", scipy.stats.spearmanr), ("kendall", scipy.stats.kendalltau)):
        report = compare(Evaluation.from_arrays(systems, metric=name), resamples=50, interval="none")
        for system in report.systems:
            assert system.score == pytest.approx(oracle(*systems[system.name].T).statistic, rel=1e-13)
    assert CORRELATION.standardize == ("zscore", "zscore")


STEPS = ("1", "0.25", "0.1", "0.03", "7")
OFFSETS = ("0", "0", "0.3", "1000000000000", "-1000000000000")


def random_column(rng, size):
    """Decimals as text, with ties: few values, sometimes one, on a scale of their own."""
    values = rng.integers(0, rng.integers(1, 7), size)
    step, offset = (Decimal(str(rng.choice(each))) for each in (STEPS, OFFSETS))
    return [str(offset + step * int(value)) for value in values]


def random_table(rng, name):
    """Columns `[system][input][instance]` of decimals: unlike, of one scale, or multiples of each other."""
    size = int(rng.integers(2, 8))
    first, second = random_column(rng, size), random_column(rng, size)
    kind = rng.integers(4)
    if kind == 0:
        second = [str(Decimal(3) * Decimal(value) + 5) for value in first]
        rng.shuffle(second)
    elif kind == 1:
        second = first[::-1]
    if name in ("median", "variance"):
        return [[first], [second]]
    shared = random_column(rng, size)
    if name == "auc":
        shared = ["0", "1", *(str(label) for label in rng.integers(0, 2, size - 2))]
    elif rng.integers(3) == 0:  # r is 0 for what is symmetric
        shared = [str(abs(2 * i - size + 1)) for i in range(size)]
        first = [str(i) for i in range(size)]
    return [[first, shared], [second, shared]]


def check(name, seed):
    """One table; whether p is defined."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, name)
    options = {"alternative": str(rng.choice(["two-sided", "greater", "less"])), "mid_p": bool(rng.integers(2))}
    expected = permutation_p(name, *as_numbers(Fraction, table), **options)
    assert p_value(name, table, **options) == expected, (name, seed, options, table)
    return expected is not None


def p_value(metric, table, **options):
    """The p-value of sigjax; None where it is refused as undefined."""
    arrays = {system: np.array(columns).T for system, columns in zip("ab", as_numbers(float, table), strict=True)}
    evaluation = Evaluation.from_arrays(arrays, metric=metric)
    try:
        return compare(evaluation, method="exact", interval="none", **options).comparisons[0].p_value
    except InputError as error:
        if "not a finite number" in str(error):
            return None
        raise


def as_numbers(kind, table):
    return [[[kind(value) for value in column] for column in columns] for columns in table]


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.slow
def test_p_values_are_those_of_rational_arithmetic(name):
    """With r = 0, constants, ties, and offsets of 1e12 in one system or both."""
    assert sum(check(name, seed) for seed in range(60)) > 15


@pytest.mark.parametrize("name", ["median", "variance", "spearman", "auc"])
def test_sampled_p_values_have_the_same_ties(name):
    for seed in range(30):
        table = random_table(np.random.default_rng(seed), name)
        expected = permutation_p(name, *as_numbers(Fraction, table), "two-sided")
        if expected is not None:
            arrays = [np.array(columns).T for columns in as_numbers(float, table)]
            sampled = permutation_test(*arrays, metric=name, method="montecarlo", resamples=4000).p_value
            assert abs(sampled - expected) < 4.5 * montecarlo_error(expected, 4000), (name, seed)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("values", [(0.1, 0.3), (1, 2), (0.1, 1e12)])
def test_constants_have_equal_variances(values, alternative):
    """0.67 for 0.1 and 0.3, when rounding of the variance of mixed values was taken for a difference."""
    columns = [[value] * 9 for value in values]
    result = permutation_test(*columns, metric="variance", alternative=alternative)
    assert (result.delta, result.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("offset", [0, 10**12, 10**15])
def test_medians_of_whole_numbers_are_never_rounded(offset):
    """0.594 for an offset of 1e13, when other medians counted as ties."""
    a, b = ([offset + i for i in numbers] for numbers in ((5, 6, 7, 8, 9), (1, 2, 3, 4, 5)))
    assert permutation_test(a, b, metric="median", alternative="greater").p_value == 1 / 32
    tested = bootstrap_test(a, b, metric="median", resamples=500)
    assert tested.exceed == bootstrap_test(range(5, 10), range(1, 6), metric="median", resamples=500).exceed


def naive_correlation(x, y):
    """As a person may write it: every step is rounded."""
    return ((x - x.mean()) * (y - y.mean())).mean() / (x.std() * y.std())


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_ties_of_own_functions_scale_with_the_data(alternative):
    """r = 0 of one or both systems, which says nothing of the rounding of other scores."""
    own = SampleMetric("own", naive_correlation, ("x", "y"), shared_inputs=("y",), standardize=("zscore", "none"))
    for seed in range(60):
        rng, gold = np.random.default_rng(seed), ["-1", "0", "0", "0", "1"]
        table = [[["0", "1", "2", "1", "0"], gold], [[*map(str, rng.permutation([0, 1, 2, 1])), "0"], gold]]
        expected = permutation_p("correlation", *as_numbers(Fraction, table), alternative)
        assert p_value(own, table, alternative=alternative) == expected, table


@pytest.mark.parametrize(("alternative", "p"), [("two-sided", 2 / 2**10), ("greater", 1.0), ("less", 1 / 2**10)])
def test_own_scores_that_should_be_zero_are_not_refused(alternative, p):
    """NumPy's variance of eleven times 0.3 is 3e-33. Ten of the eleven differ below, once they are centred."""
    plain = SampleMetric("plain", np.var, ("x",))
    same = permutation_test([0.1] * 11, [0.3] * 11, metric=plain, alternative=alternative)
    assert (abs(same.delta) < 1e-30, same.p_value) == (True, 1.0)
    own = replace(plain, standardize=("center",))
    assert permutation_test([0.1] * 11, [0.1, 0.3] * 5 + [0.2], metric=own, alternative=alternative).p_value == p


def test_functions_of_the_order_are_refused():
    first = SampleMetric("first", lambda x: x[0], ("x",))
    with pytest.raises(InputError, match="metric 'first' differs by .* two orders of the same instances"):
        permutation_test([1.0, 2.0, 3.0], [5.0, 1.0, 2.0], metric=first)


def test_equal_but_for_scale():
    """They are identical for the metric."""
    values, gold = np.random.default_rng(1).normal(size=(2, 30)).round(4)
    a, b = (np.column_stack([column, gold]) for column in (values, (3.0 * values + 1.0).round(4)))
    result = permutation_test(a, b, metric="correlation")
    assert (result.p_value, result.exceed) == (1.0, None)
    assert result.reason == "the systems are identical; z-scores within each system are exchanged"


def test_own_rounding_is_taken():
    coarse = SampleMetric("coarse", lambda x: x.mean(), ("x",), rounding=lambda x: 0.3)
    a, b = [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]
    assert permutation_test(a, b, metric=coarse).p_value == 0.375  # 2.5, 2 and 1.5 are within four times 0.3
    assert permutation_test(a, b, metric=replace(coarse, rounding=None)).p_value == 0.125


@pytest.mark.parametrize("score", [auc, average_precision])
def test_what_no_positive_instance_was_drawn_for_has_no_score(score):
    """It is not 0, the worst."""
    prediction, label = np.array([0.1, 0.4, 0.8]), np.array([0.0, 1.0, 0.0])
    weights = np.array([[1, 1, 1], [2, 0, 1], [0, 3, 0], [0, 1, 2]])
    with np.errstate(all="ignore"):
        assert np.isnan(score(prediction, label, weights)[1])
        assert np.isfinite(score(prediction, label, weights)[[0, 3]]).all()
