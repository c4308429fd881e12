"""The front door: against SciPy, on clusters and strata, and what it refuses."""

import ast
import json
import math
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import get_args

import jsonschema
import numpy as np
import pytest
import scipy.stats
from oracles import montecarlo_error, random_counts

import sigjax
from sigjax import Evaluation, InputError, Report, bootstrap_test, compare, permutation_test
from sigjax.comparison.compare import signature_of
from sigjax.comparison.options import CompareOptions
from sigjax.metrics import METRICS, check_score, resolve_metric
from sigjax.records import Settings
from sigjax.records.options import options_of, types_of
from sigjax.run.costs import Cost

RNG = np.random.default_rng(7)
A = RNG.normal(0.3, 1.0, 60).round(3)
B = RNG.normal(0.0, 1.0, 60).round(3)


def ratio(sums):
    return sums[..., 0] / sums[..., 1]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_permutation_test_of_scipy(alternative):
    """Both Monte Carlo, so five standard errors of the difference apart at most."""
    resamples = 20_000
    expected = scipy.stats.permutation_test(
        (A, B),
        lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        alternative=alternative,
        rng=np.random.default_rng(1),
    )
    ours = permutation_test(A, B, method="montecarlo", resamples=resamples, alternative=alternative)
    assert ours.delta == pytest.approx(expected.statistic, rel=1e-12)
    assert abs(ours.p_value - expected.pvalue) < 5 * math.sqrt(2) * montecarlo_error(expected.pvalue, resamples)


def test_bootstrap_of_scipy():
    """Standard errors and percentile ends within Monte Carlo error: that of an SE is SE / sqrt(2K), that of a
    2.5 % quantile of a nearly normal law is 2.67 SE / sqrt(K)."""
    resamples = 20_000
    expected = scipy.stats.bootstrap(
        (A, B),
        lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    ours = bootstrap_test(A, B, resamples=resamples)
    error = expected.standard_error
    assert abs(ours.standard_error - error) < 5 * math.sqrt(2) * error / math.sqrt(2 * resamples)
    ends = np.array(ours.interval) - np.array(expected.confidence_interval)
    assert np.abs(ends).max() < 5 * math.sqrt(2) * 2.67 * error / math.sqrt(resamples)


def test_bootstrap_standard_error_of_a_mean_has_a_closed_form():
    resamples = 50_000
    ours = bootstrap_test(A, B, resamples=resamples).standard_error
    exact = (A - B).std(ddof=0) / math.sqrt(len(A))
    assert abs(ours - exact) < 5 * exact / math.sqrt(2 * resamples)


def test_clusters_are_resampled_whole():
    """One value a cluster is the same as the clusters' sums: equal p, equal interval."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 12))
    clusters = np.repeat(["x", "y", "z", "u"], 3)
    clustered = compare(
        Evaluation.from_arrays({"a": a, "b": b}, clusters=clusters.tolist()), test=["permutation", "bootstrap"]
    )
    sums = [np.column_stack([v.reshape(4, 3).sum(axis=1), np.full(4, 3)]) for v in (a, b)]
    summed = compare(
        Evaluation.from_arrays({"a": sums[0], "b": sums[1]}, metric=ratio), test=["permutation", "bootstrap"]
    )
    assert clustered.num_units == 4
    for one, other in zip(clustered, summed, strict=True):
        assert one.p_value == other.p_value
        assert one.interval == other.interval


def test_strata_keep_their_share_in_the_bootstrap():
    """All the variance is between the strata, so none is left within."""
    a, b = np.repeat([0, 10, 20], 5), np.zeros(15, int)
    strata = [str(value) for value in a]
    free = compare(Evaluation.from_arrays({"a": a, "b": b}), test="bootstrap", resamples=1000)
    kept = compare(Evaluation.from_arrays({"a": a, "b": b}, strata=strata), test="bootstrap", resamples=1000)
    assert free.comparisons[0].standard_error > 1
    assert kept.comparisons[0].standard_error == 0.0
    assert kept.comparisons[0].interval == (10.0, 10.0)


def test_corrections_are_made_within_metric_and_test():
    arrays = random_counts(np.random.default_rng(1), 3, 30)
    report = compare(
        Evaluation.from_arrays(arrays, metric="fscore"),
        test=["permutation", "bootstrap"],
        correction="bonferroni",
        resamples=500,
    )
    for c in report:
        assert c.p_adjusted == min(1.0, 3 * c.p_value)


@pytest.mark.parametrize("device", ["numpy", "cpu"])
def test_a_score_that_is_not_finite_on_a_resample_is_refused(device):
    a, b = [[1, 1], [1, 0], [2, 0]], [[1, 0], [1, 1], [1, 0]]
    evaluation = Evaluation.from_arrays({"a": a, "b": b}, metric=ratio)
    for options in ({"test": "bootstrap"}, {"test": "permutation", "interval": "none"}):
        with pytest.raises(InputError, match="not a finite number"):
            compare(evaluation, device=device, method="auto", resamples=2000, **options)


BAD_SCORES = {
    "first axis": lambda sums: sums[0] / sums[1],
    "all axes": lambda sums: sums.sum(),
    "no reduction": lambda sums: sums,
    "a number": lambda sums: 1.0,
    "mixes systems": lambda sums: sums[..., 0] - sums[..., 0].mean(),
    "changes the sums": lambda sums: np.divide(sums[..., 0], sums[..., 1], out=sums[..., 0]),
}


@pytest.mark.parametrize("score", BAD_SCORES.values(), ids=BAD_SCORES)
def test_a_score_must_work_on_the_last_axis(score):
    for num_systems in (2, 3):
        arrays = {name: np.random.default_rng(i).random((4, 2)) for i, name in enumerate("abc"[:num_systems])}
        with pytest.raises(InputError, match=r"must turn sums|failed on an array of sums"):
            compare(Evaluation.from_arrays(arrays, metric=score))


def test_scores_may_round_alone_as_they_do_not_together():
    """Powers of one number and of an array differ in the last bit: 8 of 100 such data sets were refused."""

    def powers(sums):
        return (sums[..., 0] / sums[..., 1]) ** 1.7 - sums[..., 0] ** 0.37

    def rounds(sums):
        return sums[..., 0] / sums[..., 1] * (1.0 + 2e-16 * (sums.ndim > 1))

    for seed in range(100):
        sums = np.random.default_rng(seed).integers(1, 2000, (3, 2)).astype(float)
        for score in (powers, rounds):
            check_score(resolve_metric(score, num_inputs=2), sums)
    with pytest.raises(InputError, match="must turn sums"):
        check_score(resolve_metric(lambda sums: sums[..., 0] * (1.0 + 1e-7 * (sums.ndim > 1)), num_inputs=2), sums)  # pyright: ignore[reportPossiblyUnboundVariable]


def test_a_score_is_checked_in_little_memory_for_many_systems():
    check_score(replace(METRICS["mean"], name="judge"), np.broadcast_to(1.0, (2**40, 2)))
    odds = resolve_metric(lambda sums: sums[..., 0] / sums[..., 1], num_inputs=2)
    sums = np.random.default_rng(1).integers(1, 9, (3000, 2)).astype(float)
    tracemalloc.start()
    check_score(odds, sums)
    assert tracemalloc.get_traced_memory()[1] < 20 * sums.nbytes
    tracemalloc.stop()


def host_only(sums):
    return np.log(sums[..., 0]) / np.log(sums[..., 1] + 2)


def test_a_metric_that_jax_cannot_compile_runs_on_numpy(monkeypatch):
    """By itself when the device is ours to choose, with a warning; refused when a device was named."""
    evaluation = Evaluation.from_arrays(
        {name: np.random.default_rng(i).random((30, 2)) + 1 for i, name in enumerate("ab")}, metric=host_only
    )
    expected = compare(evaluation, device="numpy", resamples=500)
    for name in ("LOADING_JAX", "COMPILING", "COMPILING_KEPT"):
        monkeypatch.setattr(f"sigjax.run.costs.{name}", Cost())
    with pytest.warns(RuntimeWarning, match="JAX cannot compile the metric 'host_only'"):
        assert compare(evaluation, resamples=500).to_json() == expected.to_json()
    with pytest.raises(InputError, match="'host_only' cannot be compiled for device 'cpu'"):
        compare(evaluation, device="cpu", resamples=500)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rounding_does_not_break_ties_of_a_score_that_cancels(seed):
    """The score is a small difference of large terms; every swap that ties exactly must count."""

    def score(sums):
        return (0.1 * sums[..., 0] + 0.7 * sums[..., 1]) - 0.8 * sums[..., 2]

    rng = np.random.default_rng(seed)
    a, b = (np.repeat(rng.integers(1, 10**6, (12, 1)), 3, axis=1) + rng.integers(0, 2, (12, 3)) for _ in range(2))
    exact = (10 * np.array([0.1, 0.7, -0.8])).round().astype(int)

    def whole(sums):
        return (sums * exact).sum(axis=-1)

    ours = permutation_test(a, b, metric=score, method="montecarlo", resamples=5000)
    twin = permutation_test(a, b, metric=whole, method="montecarlo", resamples=5000)
    assert ours.exceed == twin.exceed


EVALUATION = Evaluation.from_arrays({"a": [1, 2, 3], "b": [1, 2, 4]})
BAD_OPTIONS = {
    "test": ({"test": "anova"}, "test must be one or more of permutation, bootstrap, each once, got"),
    "no test": ({"test": []}, "test must be one or more"),
    "twice": ({"test": ["bootstrap", "bootstrap"]}, "each once"),
    "method": ({"method": "magic"}, "method must be one of"),
    "alternative": ({"alternative": "two_sided"}, "alternative must be one of two-sided, greater, less"),
    "correction": ({"correction": "fdr"}, "correction must be one of"),
    "interval": ({"interval": "wide"}, "interval must be one of"),
    "device": ({"device": "tpu"}, "device must be one of"),
    "no resamples": ({"resamples": 0}, "resamples must be a whole number from 2"),
    "half a resample": ({"resamples": 100.5}, "resamples must be a whole number"),
    "true": ({"resamples": True}, "resamples must be a whole number"),
    "negative seed": ({"seed": -1}, "seed must be a whole number from 0"),
    "huge seed": ({"seed": 2**64}, "seed must be a whole number"),
    "no seed": ({"seed": None}, "seed must be a whole number"),
    "level": ({"confidence_level": 1.0}, "level must be a number between 0 and 1, such as 0.95"),
    "percent": ({"confidence_level": 95}, "level must be a number between 0 and 1, such as 0.95"),
    "baseline": ({"baseline": "c"}, "baseline: no system 'c'; systems: 'a', 'b'"),
    "dp bootstrap": ({"method": "dp", "test": "bootstrap"}, "method dp belongs to the permutation test"),
    "variant": ({"variant": "turn"}, "variant must be one of shift, flip"),
    "mid-p": ({"mid_p": True}, "mid-p belongs to exact permutation tests"),
    "mid-p of bootstrap": ({"mid_p": True, "method": "exact", "test": "bootstrap"}, "mid-p belongs to exact"),
    "memory": ({"memory": 0}, "memory must be a number above 0, got 0"),
}


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        compare(EVALUATION, **options)


def test_evaluations_must_belong_together():
    longer = Evaluation.from_arrays({"a": [1, 1, 1, 0], "b": [1, 0, 0, 1]}, metric="accuracy")
    with pytest.raises(InputError, match="differ in their systems, instances"):
        compare([EVALUATION, longer])
    other = replace(EVALUATION.metric, name="other")
    for name, labels in (("ids", "xyz"), ("clusters", "xxy"), ("strata", "xxy"), ("runs", "123")):
        with pytest.raises(InputError, match="differ in their systems, instances"):
            compare([EVALUATION, replace(EVALUATION, metric=other, **{name: tuple(labels)})])
    with pytest.raises(InputError, match="two evaluations have the metric 'mean'"):
        compare([EVALUATION, EVALUATION])
    with pytest.raises(InputError, match="no evaluation"):
        compare([])


OUTLIERS = {
    "one huge system": {"A": [0.1] * 8, "B": [0.2] * 8, "C": [1e16] * 8},
    "one huge value": {"A": [0.1 / 3] * 9, "B": [0.2 / 3] * 9, "C": [1e12] + [1 / 3] * 8},
    "too small for doubles": {"A": [5e-324] * 8, "B": [0] * 8},
}


@pytest.mark.parametrize("arrays", OUTLIERS.values(), ids=OUTLIERS)
def test_numbers_that_one_grid_cannot_hold_are_refused(arrays):
    """Another system must not round a pair's difference away without a word."""
    with pytest.raises(InputError, match="'A' are too small beside the largest numbers for exact sums"):
        compare(Evaluation.from_arrays(arrays))


def test_reals_that_are_rounded_are_not_called_exact():
    """Two of them: for one, there are counts of few units and brackets."""
    a, b = (np.tile(each, (15, 1)) for each in ([[1 / 3, 2 / 3], [1.0, 1 / 9]], [[1 / 7, 0.0], [1.0, 1.0]]))
    assert permutation_test(a, b, metric=lambda sums: sums[..., 0] / sums[..., 1], resamples=100).method == "montecarlo"
    for method in ("exact", "dp"):
        with pytest.raises(InputError, match="reals, held rounded"):
            permutation_test(a, b, metric=lambda sums: sums[..., 0] / sums[..., 1], method=method)


@pytest.mark.parametrize("num_instances", [1, 2, 4])
@pytest.mark.parametrize("device", ["numpy", "cpu"])
def test_a_metric_written_with_jax_numpy_is_computed_in_double_precision(device, num_instances):
    """In float32 the observed score would differ from the resampled ones, and ties would be lost."""
    jnp = pytest.importorskip("jax.numpy")

    def root(sums):
        return jnp.sqrt(sums[..., 0]) / sums[..., 1]

    def same(sums):
        return sums[..., 0] ** 0.5 / sums[..., 1]

    rng = np.random.default_rng(num_instances)
    a, b = rng.integers(1, 50, (2, num_instances, 2))
    options = {"method": "montecarlo", "resamples": 2000, "device": device}
    ours, twin = (permutation_test(a, b, metric=metric, **options) for metric in (root, same))
    assert ours.exceed == twin.exceed
    assert num_instances > 1 or ours.p_value == 1.0


def test_what_is_no_evaluation_is_refused():
    with pytest.raises(InputError, match="table.tsv: no such file"):
        compare("table.tsv")
    with pytest.raises(InputError, match="expected an Evaluation"):
        compare([1, 2])
    with pytest.raises(InputError, match="numbers by system, .*got list"):
        Evaluation.from_arrays([[1, 0], [1, 1]])


def others(record, name):
    """Values of an option of `Settings` that are in its domain and not the one that it has."""
    value, kind = getattr(record, name), types_of(Settings)[name]
    parts = [kind, *(part for part in get_args(kind) if not isinstance(part, str))]
    words = [word for part in parts for word in get_args(part) if isinstance(word, str)]
    numbers = {bool: [not value], int: [7, 8], float: [0.5, 0.25, 0.1 + 0.2], str: ["A", "B"]}
    plain = [each for part in parts for each in numbers.get(part, ())]
    return [each for each in (*words, *plain) if each != value]


def test_a_setting_has_no_name_that_means_something_else_in_signatures():
    """One would hide the other, and different settings would have one signature."""

    @dataclass(frozen=True, kw_only=True)
    class Others(Settings):
        ties: str = "half"

    with pytest.raises(ValueError, match="cannot be called 'ties'"):
        signature_of([Evaluation.from_arrays({"A": [1], "B": [0]})], Others(), 1)


GIVEN_AS = {"tests": "test"}


@pytest.mark.parametrize("name", [each.name for each in fields(Settings)])
def test_every_setting_changes_the_signature_and_fits_the_schema(name):
    """All values apart, and every report read back; a setting that is added is among the fields."""
    evaluation = Evaluation.from_arrays({"A": [1, 0, 1, 1], "B": [0, 0, 1, 0]}, metric="accuracy")
    report = compare(evaluation, device="numpy", test=("permutation", "bootstrap"), resamples=50)
    changed = [("bootstrap",), ("permutation",)] if name == "tests" else others(report.settings, name)
    assert changed
    settings = [
        report.settings,
        *(replace(report.settings, **{GIVEN_AS.get(name, name): v}) for v in changed),
    ]
    signatures = [signature_of([evaluation], each, 4) for each in settings]
    assert signature_of([evaluation], report.settings, 4, draws=False) == report.signature
    assert len({*signatures}) == len(settings)
    for each, signature in zip(settings, signatures, strict=True):
        again = replace(report, settings=each, signature=signature)
        jsonschema.Draft202012Validator(Report.json_schema()).validate(json.loads(again.to_json()))


@pytest.mark.slow
def test_every_setting_is_used():
    """What is declared and read nowhere would change the signature and no number."""
    paths = [path for path in Path(sigjax.__file__).parent.rglob("*.py") if path.name != "signature.py"]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths if path.parent.name != "records"]
    read = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {each.name for each in fields(Settings)} <= read


@pytest.mark.parametrize("name", sorted(options_of(CompareOptions).keys() - options_of(Settings).keys()))
def test_other_options_of_compare_change_no_number(name, tmp_path):
    """What is no setting says how the work is done: neither the signature nor a number depends on it."""
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(0), 3, 30), metric="fscore")
    options = {"method": "montecarlo", "resamples": 300}
    plain = compare(evaluation, **options)
    earlier = compare(evaluation, **options | {"resamples": 100})
    given = {
        "read": {"only": list(evaluation.systems)},
        "device": "numpy",
        "progress": False,
        "checkpoint": tmp_path / "run",
        "extend": earlier,
        "executor": ThreadPoolExecutor(2),
        "shards": 2,
    }
    options |= {"shards": 2} if name == "executor" else {"executor": ThreadPoolExecutor(2)} if name == "shards" else {}
    assert compare(evaluation, **options, **{name: given[name]}) == plain


def test_exact_permutation_test_of_scipy():
    a, b = [3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]
    expected = scipy.stats.permutation_test(
        (a, b), lambda x, y: np.mean(x) - np.mean(y), permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert permutation_test(a, b).p_value == expected.pvalue


def test_a_large_value_in_another_system_changes_no_decision():
    rng = np.random.default_rng(0)
    a = rng.gamma(2.0, 10.0, 5000)
    arrays = {"A": a, "B": 0.999 * a}
    options = {"test": "permutation", "resamples": 500, "method": "montecarlo", "interval": "none"}
    (alone,) = compare(Evaluation.from_arrays(arrays), **options)
    third = a.copy()
    third[0] = 1e6
    first, *_ = compare(Evaluation.from_arrays(arrays | {"C": third}), **options)
    assert first.delta == pytest.approx(alone.delta, rel=1e-6)
    assert first.exceed == alone.exceed == 0


@pytest.mark.parametrize("tests", [("bootstrap", "permutation"), ("permutation", "bootstrap")])
@pytest.mark.parametrize("metric", ["mean", "median"])
def test_pairs_are_in_the_order_of_the_tests(tests, metric):
    report = compare(Evaluation.from_arrays({"A": A, "B": B, "C": A + B}, metric=metric), test=tests, resamples=99)
    assert [pair.test for pair in report] == [tests[0]] * 3 + [tests[1]] * 3


def test_results_that_differ_by_rounding_alone_are_a_warning():
    single = np.random.default_rng(0).random(40).astype(np.float32)
    for values in (
        {"A": [0.3, 0.5, 0.7] * 15, "B": [0.1 + 0.2, 0.5, 0.7] * 15, "C": [1, 0, 0.5] * 15},
        {"A": single.astype(float), "B": [float(str(each)) for each in single], "C": np.arange(40) / 40},
    ):
        (note,) = (note for note in compare(values, device="numpy").notes if "by less than a millionth" in note)
        assert note.startswith("warning: ")
        assert note.endswith("round the scores first: A - B")
    assert not any("millionth" in note for note in compare({"A": [1e-9, 0.5, 0.25], "B": [0.0, 0.0, 0.25]}).notes)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_scores_that_are_equal_but_for_rounding_have_no_better_one(test):
    """0.1 + 0.1 + 0.1 and 0.3 are different doubles, and the same number."""

    def cost(sums):
        return sums[..., 0] * 0.1 + sums[..., 1] * 0.3

    dimes, others = [[1, 0], [1, 0], [1, 0]], [[0, 1], [0, 0], [0, 0]]
    data = Evaluation.from_arrays({"A": dimes, "B": others}, metric=cost)
    (one,) = report = compare(data, test=test, resamples=200, method="montecarlo", interval="none")
    assert one.score_a != one.score_b
    assert (one.delta, one.better, one.p_value) == (0.0, None, 1.0)
    assert "have the same score" in str(report)
