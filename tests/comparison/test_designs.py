"""Repeated runs: what crossed designs exchange and nested designs draw, against enumeration and closed forms."""

import itertools
import math
from fractions import Fraction
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import extreme, f1, montecarlo_error, random_counts
from scipy.stats import binom, chisquare, hypergeom
from scipy.stats import permutation_test as scipy_test
from test_laws import REGISTRY, make_arrays

from sigjax import Evaluation, InputError, SampleMetric, compare
from sigjax.resample.draws import draws_from_strata, row_keys
from sigjax.resample.projection import (
    ByteColumns,
    Floats,
    crossed,
    crossed_projection,
    nested_draws,
    nested_projection,
    outputs_left,
)

pytestmark = pytest.mark.slow

TESTS = ["permutation", "bootstrap"]
NUM_ROWS = 20_000


def repeated(arrays, sizes, **options):
    """An evaluation whose instances were run so many times each."""
    ids = np.repeat(np.arange(len(sizes)), sizes)
    runs = np.concatenate([np.arange(size) for size in sizes])
    return Evaluation.from_arrays(arrays, ids=ids.tolist(), runs=runs.tolist(), **options)


def mean(sums):
    return sums[..., 0] / sums[..., -1]


def all_sets(sizes):
    """For every way to choose as many outputs as the first system has: masks [pattern, output] of both systems."""
    of_units = []
    for size in sizes:
        sets = itertools.combinations(range(2 * size), size)
        of_units.append([np.isin(np.arange(2 * size), each) for each in sets])
    for masks in itertools.product(*of_units):
        yield (
            np.concatenate([mask[:size] for mask, size in zip(masks, sizes, strict=True)]),
            np.concatenate([mask[size:] for mask, size in zip(masks, sizes, strict=True)]),
        )


def enumerate_crossed(a, b, sizes, score, alternative):
    """The p-value over all C(2R, R)^N ways to exchange outputs `[output, stat]` within units."""
    both = a.sum(axis=0) + b.sum(axis=0)
    of_a = np.array([first @ a + second @ b for first, second in all_sets(sizes)])
    delta = score(of_a * 1.0) - score((both - of_a) * 1.0)
    observed = float(score(a.sum(axis=0) * 1.0) - score(b.sum(axis=0) * 1.0))
    return float(extreme(delta, observed, alternative).mean())


def draw(sizes, rows=NUM_ROWS, seed=11):
    """Masks [row, unit, place] of the outputs that go, and that come."""
    goes, comes = crossed(row_keys(seed, np.arange(rows)), outputs_left(np.array(sizes), len(sizes)))
    return goes.transpose(1, 2, 0), comes.transpose(1, 2, 0)


@pytest.mark.parametrize("sizes", [[3], [2, 1], [1, 1, 1]])
def test_every_set_of_outputs_is_equally_likely(sizes):
    goes, comes = draw(sizes)
    codes = np.concatenate([goes, comes], axis=2).reshape(NUM_ROWS, -1) @ (1 << np.arange(2 * goes[0].size))
    cells = math.prod(math.comb(2 * size, size) for size in sizes)
    seen = np.unique(codes, return_counts=True)[1]
    assert len(seen) == cells
    assert chisquare(seen).pvalue > 1e-4


@pytest.mark.parametrize("sizes", [[3] * 9, [3, 1, 2, 5, 1], [1] * 7])
def test_every_resample_is_a_permutation_of_the_outputs(sizes):
    """D12: with three runs or more, others use some outputs twice and leave others out."""
    count = sum(sizes)
    one_hot = np.eye(2 * count, dtype=int)
    a, b = one_hot[:, :count], one_hot[:, count:]
    projection = crossed_projection(np.concatenate([a, b]), np.array(sizes), compiled=False)
    sums = projection.sums(row_keys(5, np.arange(300)))
    away, here = sums[: 2 * count], sums[projection.matrix.num_columns :][2 * count : 4 * count]
    of_a = a.sum(axis=1)[:, None] - away + here
    of_b = b.sum(axis=1)[:, None] + away - here
    assert set(np.unique(of_a)) == {0.0, 1.0}
    np.testing.assert_array_equal(of_a + of_b, 1.0)
    unit = np.tile(np.repeat(np.arange(len(sizes)), sizes), 2)
    for each, size in enumerate(sizes):
        assert (of_a[unit == each].sum(axis=0) == size).all()


@pytest.mark.parametrize("most_bytes", [0, 4])
@pytest.mark.parametrize("sizes", [[1] * 5, [4] * 70, [3, 1, 2, 9] * 3])
@pytest.mark.parametrize("factor", [1, 10**7])
def test_sums_are_whole_numbers_on_numpy_and_jax(sizes, factor, most_bytes):
    """By floats and by bytes, those of the same masks and draws in Python's whole numbers."""
    rng = np.random.default_rng(3)
    columns, sizes = factor * rng.integers(-9, 9, (5, sum(sizes))), np.array(sizes)
    rows, draws = row_keys(2, np.arange(1000, 1100)), draws_from_strata(np.arange(len(sizes)) // 2)
    left = outputs_left(sizes, len(sizes))
    masks = [mask.transpose(1, 2, 0)[:, left.T > 0].astype(int) for mask in crossed(rows, left)]
    drawn = nested_draws(draws, sizes, len(sizes)).drawn(rows)
    counts = np.stack([(drawn == output).sum(axis=1) for output in range(sizes.sum())], axis=1)
    for make, weights in (
        (partial(crossed_projection, columns, sizes), masks),
        (partial(nested_projection, columns, draws, sizes), [counts]),
    ):
        expected = [(columns.astype(object) @ each.T.astype(object)).tolist() for each in weights]
        on_numpy, on_jax = make(compiled=False), make(compiled=True, most_bytes=most_bytes)
        assert isinstance(on_jax.matrix, ByteColumns if most_bytes else Floats)
        with jax.enable_x64(True):
            found = jax.jit(lambda rows, way: way.sums(rows))(jnp.asarray(rows), jax.tree.map(jnp.asarray, on_jax))
        for sums in (on_numpy.sums(rows), np.asarray(found)):
            assert [each[:5].tolist() for each in np.split(sums, len(weights))] == expected


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("sizes", [[2, 2, 2, 2], [3, 3], [3, 1, 2, 1]])
@pytest.mark.parametrize(("metric", "score"), [("fscore", f1), ("mean", mean), (mean, mean)])
def test_crossed_p_is_that_of_all_patterns(sizes, metric, score, alternative):
    arrays = random_counts(np.random.default_rng(sum(sizes)), 3, sum(sizes))
    if metric == "mean":
        arrays = {name: table[:, 0] for name, table in arrays.items()}
    evaluation = repeated(arrays, sizes, metric=metric)
    resamples = 40_000
    options = {"alternative": alternative, "resamples": resamples, "interval": "none", "device": "numpy"}
    exact, sampled = (compare(evaluation, design="crossed", method=m, **options) for m in ("exact", "montecarlo"))
    for one, other in zip(exact, sampled, strict=True):
        a, b = (evaluation.stats[evaluation.systems.index(name)] for name in (one.a, one.b))
        expected = enumerate_crossed(a, b, sizes, score, alternative)
        assert one.p_value == pytest.approx(expected, rel=1e-12)
        assert one.log10_p == pytest.approx(math.log10(expected), abs=1e-12)
        assert abs(other.p_value - expected) < 4.5 * montecarlo_error(expected, resamples)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_one_instance_is_the_test_of_two_samples(alternative):
    """Outputs of one instance are two independent samples, and SciPy exchanges them."""
    a, b = np.array([3.25, 1.0, 4.5, 1.5, 5.75]), np.array([2.5, 0.5, 1.25, 3.25, 0.75])
    options = {"design": "crossed", "method": "exact", "alternative": alternative, "interval": "none"}
    (found,) = compare(repeated({"A": a, "B": b}, [5]), **options)
    other = scipy_test(
        (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), alternative=alternative, n_resamples=np.inf,
        permutation_type="independent", vectorized=True,
    )  # fmt: skip
    assert found.p_value == pytest.approx(other.pvalue, rel=1e-12)


@pytest.mark.parametrize("gap", [0.02, 0.3, 0.8])
def test_right_and_wrong_answers_are_the_exact_test_of_stratified_tables(gap):
    """Right answers of the first system are hypergeometric in each instance: the exact Mantel-Haenszel test."""
    rng, num_runs = np.random.default_rng(2), 5
    chance = rng.uniform(0.02, 0.98 - gap, (80, 1))
    a, b = (rng.random((80, num_runs)) < chance + shift for shift in (gap, 0.0))
    law = np.ones(1)
    for right in (a + 0).sum(axis=1) + b.sum(axis=1):
        law = np.convolve(law, hypergeom(2 * num_runs, int(right), num_runs).pmf(np.arange(num_runs + 1)))
    arrays = {"A": a.ravel() * 1, "B": b.ravel() * 1}
    evaluation = repeated(arrays, [num_runs] * 80, metric="accuracy")
    (found,) = compare(evaluation, design="crossed", alternative="greater", interval="none")
    assert (found.method, found.reason) == ("exact", "all exchanges of outputs (value)")
    assert found.p_value == pytest.approx(law[a.sum() :].sum(), rel=1e-10)
    assert found.error_bound < 1e-12
    (half,) = compare(evaluation, design="crossed", alternative="greater", method="exact", mid_p=True, interval="none")
    assert half.p_value == pytest.approx(law[a.sum() :].sum() - 0.5 * law[a.sum()], rel=1e-10)


def test_the_null_has_the_variance_of_draws_without_replacement():
    r"""R of 2 R without replacement: a sum has the variance $R^2 / (2 R - 1)$ times that of the 2 R outputs."""
    rng = np.random.default_rng(8)
    sizes = np.array([3, 5, 1, 2, 4, 3, 3])
    unit = np.repeat(np.arange(len(sizes)), sizes)
    a, b = rng.integers(0, 50, (2, sizes.sum())) + 7 * unit
    projection = crossed_projection(np.stack([a, b]), sizes, compiled=False)
    sums = projection.sums(row_keys(0, np.arange(NUM_ROWS)))
    shift = sums[0] - sums[projection.matrix.num_columns + 1]
    delta = (a.sum() - b.sum() - 2 * shift) / sizes.sum()
    pooled = [np.concatenate([a[unit == each], b[unit == each]]) for each in range(len(sizes))]
    variance = sum(4 * size**2 / (2 * size - 1) * np.var(each) for size, each in zip(sizes, pooled, strict=True))
    variance /= sizes.sum() ** 2
    assert abs(delta.mean()) < 5 * math.sqrt(variance / NUM_ROWS)
    assert delta.var() == pytest.approx(variance, rel=5 * math.sqrt(2 / NUM_ROWS))


@pytest.mark.parametrize("seed", range(3))
def test_the_error_bound_of_many_exchanges_holds(seed):
    """All 6^200 choices of two of the four outputs of each instance, counted by whole numbers."""
    rng = np.random.default_rng(seed)
    a, b = ((rng.random((200, 2)) < share).astype(int) for share in (0.55, 0.47))
    counts = [1]
    for outputs in np.concatenate([a, b], axis=1).tolist():
        more = np.bincount([sum(chosen) for chosen in itertools.combinations(outputs, 2)], minlength=3).tolist()
        counts = [
            sum(more[k] * counts[total - k] for k in range(3) if 0 <= total - k < len(counts))
            for total in range(len(counts) + 2)
        ]
    both, apart = int(a.sum() + b.sum()), abs(int(a.sum() - b.sum()))
    expected = Fraction(sum(n for total, n in enumerate(counts) if abs(2 * total - both) >= apart), 6**200)
    numbers = {"A": a.ravel(), "B": b.ravel()}
    labels = {"ids": [i for i in range(200) for _ in "12"], "runs": ["1", "2"] * 200}
    evaluation = Evaluation.from_arrays(numbers, metric="accuracy", **labels)
    (one,) = compare(evaluation, design="crossed", method="exact", interval="none", test="permutation")
    assert abs(Fraction(one.p_value) / expected - 1) <= one.error_bound < 1e-11


def test_one_run_is_a_swap():
    """The law is that of the swap test; outputs that go are those that come."""
    goes, comes = draw([1] * 4)
    np.testing.assert_array_equal(goes, comes)
    arrays = {"A": [3, 1, 4, 1, 5, 9], "B": [2, 6, 5, 3, 5, 8]}
    evaluation = repeated(arrays, [1] * 6)
    options = {"design": "crossed", "resamples": 40_000}
    (swapped,), (exact,) = (compare(evaluation, **each, method="exact") for each in ({}, options))
    assert exact.p_value == pytest.approx(swapped.p_value, rel=1e-12)
    (sampled,) = compare(evaluation, **options, method="montecarlo")
    assert abs(sampled.p_value - exact.p_value) < 4.5 * montecarlo_error(exact.p_value, 40_000)


NESTED = {"no strata": [0] * 6, "strata": [0, 0, 0, 1, 1, 1]}


@pytest.mark.parametrize("name", NESTED)
def test_nested_draws_have_the_closed_form_variance(name):
    """Between means of instances, and within instances over R; strata are drawn from on their own."""
    rng, num_runs = np.random.default_rng(4), 4
    strata = np.array(NESTED[name])
    values = rng.integers(0, 20, (2, 6, 1)) + rng.integers(0, 9, (2, 6, num_runs))
    arrays = {"A": values[0].ravel(), "B": values[1].ravel()}
    labels = np.repeat(strata, num_runs).astype(str).tolist() if strata.any() else None
    evaluation = repeated(arrays, [num_runs] * 6, strata=labels)
    resamples = 40_000
    report = compare(evaluation, design="nested", resamples=resamples, test=TESTS, device="numpy")
    errors = {system.name: system.standard_error for system in report.systems}
    errors["A - B"] = report.comparisons[0].standard_error
    for name, table in zip(("A", "B", "A - B"), (*values, values[0] - values[1]), strict=True):
        variance = 0.0
        for stratum in np.unique(strata):
            rows = table[strata == stratum]
            share = len(rows) / 6
            variance += share**2 * (np.var(rows.mean(axis=1)) + np.var(rows, axis=1).mean() / num_runs) / len(rows)
        assert errors[name] ** 2 == pytest.approx(variance, rel=5 * math.sqrt(2 / resamples))
    assert {c.method for c in report if c.test == "bootstrap"} == {"montecarlo"}


def test_nested_draws_of_few_outputs_have_their_law():
    """Two instances of two outputs and one: all draws, one by one."""
    sizes, values = np.array([2, 1]), np.array([1, 10, 100])
    projection = nested_projection(values[None], draws_from_strata(np.zeros(2, int)), sizes, compiled=False)
    sums = projection.sums(row_keys(3, np.arange(NUM_ROWS)))[0].astype(int)
    of_draw = {2: 1 / 8, 11: 1 / 4, 20: 1 / 8, 100: 1 / 2}
    law: dict[int, float] = {}
    for (one, p), (other, q) in itertools.product(of_draw.items(), repeat=2):
        law[one + other] = law.get(one + other, 0.0) + p * q
    found, seen = np.unique(sums, return_counts=True)
    assert found.tolist() == sorted(law)
    assert chisquare(seen, [law[each] * NUM_ROWS for each in found.tolist()]).pvalue > 1e-4


def test_clusters_exchange_and_draw_the_outputs_of_a_run_together():
    """A cluster with its runs is an instance that has the sums of its instances."""
    rng = np.random.default_rng(6)
    values = rng.integers(0, 9, (2, 5, 2, 3))  # system, cluster, instance, run
    place = np.moveaxis(np.indices(values.shape[1:]), 0, -1).reshape(-1, 3).tolist()
    order = rng.permutation(len(place))
    one = Evaluation.from_arrays(
        {name: table.ravel()[order] for name, table in zip("AB", values, strict=True)},
        metric=lambda sums: sums[..., 0] / 6.0,
        ids=[str(place[i][:2]) for i in order],
        clusters=[place[i][0] for i in order],
        runs=[place[i][2] for i in order],
    )
    clusters = list(dict.fromkeys(one.clusters))
    runs = list(dict.fromkeys(one.runs))
    summed = values.sum(axis=2)[:, [int(each) for each in clusters]][:, :, [int(each) for each in runs]]
    other = repeated(
        {name: table.ravel() for name, table in zip("AB", summed, strict=True)}, [3] * 5,
        metric=lambda sums: sums[..., 0] / 6.0,
    )  # fmt: skip
    for design in ("crossed", "nested"):
        (p, s), (q, t) = (
            compare(each, design=design, resamples=3000, test=TESTS, method="montecarlo") for each in (one, other)
        )
        assert (p.exceed, s.exceed, s.standard_error) == (q.exceed, t.exceed, t.standard_error)


@pytest.mark.parametrize(
    ("name", "design"),
    [("fscore", "crossed"), ("mean", "crossed"), ("bleu", "crossed"), ("fscore", "nested"), ("function", "nested")],
)
def test_designs_obey_the_laws(name, design):
    metric, sizes = REGISTRY[name][0], [3, 2, 4] * 5
    arrays = make_arrays(name, num_systems=3, num_instances=sum(sizes))
    options = {"design": design, "resamples": 2001, "test": TESTS, "method": "montecarlo"}
    evaluation = repeated(arrays, sizes, metric=metric)
    report = compare(evaluation, device="numpy", **options)
    assert compare(evaluation, device="cpu", **options).to_json() == report.to_json()
    assert all(c.p_value == (c.exceed + 1) / 2002 for c in report)
    # The order of the systems.
    turned = compare(repeated(dict(reversed(arrays.items())), sizes, metric=metric), device="numpy", **options)
    found = {(c.b, c.a, c.test): c for c in turned}
    for c in report:
        other = found[c.a, c.b, c.test]
        assert (other.p_value, other.delta) == (c.p_value, -c.delta)
    # Identical systems.
    same = repeated({"A": arrays["s0"], "B": arrays["s0"]}, sizes, metric=metric)
    report = compare(same, device="numpy", **options)
    assert [c.p_value for c in report] == [1.0, 1.0]
    assert report.comparisons[0].interval == (0.0, 0.0)


ONCE = Evaluation.from_arrays({"A": [1, 0, 1], "B": [0, 1, 1]})
TWICE = repeated({"A": [1, 0, 1, 0], "B": [0, 1, 1, 0]}, [2, 2])
RANGE = repeated({"A": [1, 0, 1, 0], "B": [0, 1, 1, 0]}, [2, 2], metric=SampleMetric("range", np.ptp, ("x",)))
MANY = repeated(dict(zip("AB", np.random.default_rng(0).integers(0, 10**6, (2, 24)), strict=True)), [12, 12])
MIXED = Evaluation.from_arrays(
    {"A": [1, 2, 3], "B": [2, 1, 0]}, ids=["x", "x", "y"], runs=[1, 2, 1], clusters=["c", "c", "c"]
)


@pytest.mark.parametrize(
    ("evaluation", "options", "message"),
    [
        (ONCE, {"design": "crossed"}, "design crossed needs repeated runs, and every instance was run once"),
        (ONCE, {"design": "nested"}, "design nested needs repeated runs"),
        (TWICE, {"design": "within"}, "design must be one of together, crossed, nested, models, got 'within'"),
        (TWICE, {"design": "crossed", "test": "bootstrap"}, "design crossed belongs to the permutation test"),
        (TWICE, {"design": "nested", "interval": "none"}, "design nested belongs to the bootstrap"),
        (TWICE, {"design": "nested", "interval": "bca"}, "interval bca takes whole instances"),
        (TWICE, {"design": "nested", "interval": "studentized"}, "interval studentized takes whole instances"),
        (TWICE, {"design": "crossed", "correction": "maxt"}, "maxt swaps whole instances; use holm"),
        (TWICE, {"design": "crossed", "method": "dp"}, "'A' and 'B': dp swaps whole units, and design crossed"),
        (MANY, {"design": "crossed", "method": "exact"}, "too many different sums for an exact test"),
        (TWICE, {"design": "crossed", "method": "exact", "memory": 1e-9}, "GiB, more than 1e-09; use method auto"),
        (TWICE, {"design": "crossed", "method": "exact", "budget": 1e-9}, "over the budget of 1e-09 s"),
        (TWICE, {"design": "nested", "method": "exact", "test": "bootstrap"}, "no exact bootstrap test: outputs are"),
        (RANGE, {"design": "crossed"}, "design crossed needs a metric of sums, and 'range' is none"),
        (MIXED, {"design": "crossed"}, "cluster 'c': its instances have different runs"),
    ],
)
def test_designs_that_cannot_be_had(evaluation, options, message):
    with pytest.raises(InputError, match=message):
        compare(evaluation, **options)


def test_many_runs_of_one_instance():
    """More sets than a double can count."""
    a, b = np.arange(550) % 9 == 0, np.arange(550) % 12 == 0
    evaluation = repeated({"A": a * 1, "B": b * 1}, [550])
    (found,) = compare(evaluation, design="crossed", method="exact", alternative="greater", interval="none")
    expected = hypergeom(1100, int(a.sum() + b.sum()), 550).sf(a.sum() - 1)
    assert (found.method, found.p_value) == ("exact", pytest.approx(expected, rel=1e-9))


def rejections(make, design, *, trials=200, seed=0):
    """How many of so many tests without a difference have p <= 0.05."""
    rng = np.random.default_rng(seed)
    count = 0
    for trial in range(trials):
        a, b = make(rng)
        evaluation = repeated({"A": a.ravel(), "B": b.ravel()}, [a.shape[1]] * len(a))
        report = compare(
            evaluation, design=design, method="montecarlo", resamples=199, seed=trial, interval="none", device="numpy"
        )
        count += report.comparisons[0].p_value <= 0.05
    return count


def own_runs(rng):
    """Instances differ, and every output varies by itself, more on some instances than on others."""
    scale = rng.gamma(1.0, 2.0, (12, 1))
    return rng.normal(0, 3, (12, 1)) + scale * rng.standard_t(3, (2, 12, 3)).round(3)


def shared_runs(rng):
    """What a run has in common (a prompt, a seed) is the same of both systems."""
    return rng.normal(0, 3, (12, 3)) + rng.normal(0, 1, (2, 12, 3)).round(3)


def test_crossed_keeps_its_level():
    """Exactly where outputs vary by themselves, and more than that where runs are shared; see the last test."""
    low, high = binom.ppf([1e-4, 1 - 1e-4], 200, 0.05)
    assert low <= rejections(own_runs, "crossed") <= high
    assert rejections(shared_runs, "crossed") <= high


def test_identical_systems_whose_outputs_vary_have_p_1_in_two_sided_tests_only():
    """Both have the outputs 1, 0, 0: of 20 exchanges, 16 give the first system at least one of the two successes."""
    evaluation = repeated({"A": [1, 0, 0], "B": [1, 0, 0]}, [3], metric="accuracy")
    found = [compare(evaluation, design="crossed", alternative=each) for each in ("two-sided", "greater", "less")]
    assert [report.comparisons[0].p_value for report in found] == pytest.approx([1.0, 0.8, 0.8], rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_units_with_equal_sums_have_p_1_whatever_differs_inside_them(alternative):
    values = {"A": [1, 0, 0, 1, 1, 1], "B": [0, 1, 1, 0, 1, 1]}
    clustered = Evaluation.from_arrays(values, metric="accuracy", clusters=list("xxyyzz"))
    for evaluation in (clustered, repeated(values, [2, 2, 2], metric="accuracy")):
        for mid_p in (False, True):
            (found,) = compare(evaluation, method="exact", alternative=alternative, mid_p=mid_p)
            assert (found.p_value, found.reason) == (1.0, "no unit differs")
        assert not any("identical" in note for note in compare(evaluation).notes)


@pytest.mark.parametrize("design", ["crossed", "nested"])
def test_a_cluster_does_not_cut_through_the_runs_of_an_instance(design):
    arrays = {"A": [1, 0, 1, 1], "B": [0, 0, 1, 0]}
    evaluation = Evaluation.from_arrays(
        arrays, metric="accuracy", ids=[1, 1, 2, 2], runs=["x", "y", "x", "y"], clusters=["x", "y", "x", "y"]
    )
    with pytest.raises(InputError, match="runs of instance '1' lie in the clusters 'x' and 'y'"):
        compare(evaluation, design=design)
    assert compare(evaluation).num_units == 2


@pytest.mark.parametrize("budget", [1e-2, 3e-3])
def test_exact_p_values_stand_beside_their_pairs_where_others_are_sampled(budget):
    """Some pairs are over the budget, and they are not the first ones."""
    rng = np.random.default_rng(0)
    answers = rng.integers(0, 2, (2, 8, 3))
    values = {"A": (rng.integers(0, 1000, (8, 3)) / 1000).ravel(), "B": answers[0].ravel(), "C": answers[1].ravel()}
    ids, runs = np.indices((8, 3)).reshape(2, -1).tolist()
    evaluation = Evaluation.from_arrays(values, ids=ids, runs=runs)
    options = {"design": "crossed", "device": "numpy", "interval": "none"}
    some, every = compare(evaluation, budget=budget, **options), compare(evaluation, method="exact", **options)
    assert {one.method for one in some} == {"exact", "montecarlo"}
    for one, exact in zip(some, every, strict=True):
        assert one.p_value == pytest.approx(exact.p_value, abs=0.0 if one.method == "exact" else 0.02)
