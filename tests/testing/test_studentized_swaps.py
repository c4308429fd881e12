"""The studentized permutation test, against all swaps one by one, with standard errors unit by unit."""

import itertools

import numpy as np
import pytest
from oracles import f1, random_counts
from test_laws import make, make_arrays

from sigjax import Evaluation, InputError, Metric, Report, compare, permutation_test
from sigjax.resample.draws import draws_from_strata, row_keys, swap

RESAMPLES = 2000
SAMPLED = {"method": "montecarlo", "resamples": RESAMPLES, "interval": "none", "statistic": "studentized"}


def gradient(score, sums):
    """Of a score at sums `[..., stat]`, by five points."""
    found = np.zeros(sums.shape)
    for j in range(sums.shape[-1]):
        step = np.zeros(sums.shape)
        step[..., j] = h = 1e-3 * np.maximum(np.abs(sums[..., j]), 1.0)
        points = [score(sums + k * step) for k in (-2, -1, 1, 2)]
        found[..., j] = (points[0] - 8 * points[1] + 8 * points[2] - points[3]) / (12 * h)
    return found


def z_of(a, b, score):
    """Delta over the root of the sum of squared influences, unit by unit, of tables `[..., instance, stat]`."""
    sums_a, sums_b = a.sum(axis=-2) * 1.0, b.sum(axis=-2) * 1.0
    of_a, of_b = gradient(score, sums_a), gradient(score, sums_b)
    influences = (a * of_a[..., None, :] - b * of_b[..., None, :]).sum(axis=-1)
    square = ((influences - influences.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    delta = score(sums_a) - score(sums_b)
    varies = square > 1e-12 * (influences**2).sum(axis=-1) + 1e-20
    return np.where(varies, delta / np.sqrt(np.where(varies, square, 1.0)), np.sign(delta) * 1e30)


def z_of_masks(masks, a, b, score):
    """Z of each mask `[resample, instance]`."""
    swapped = masks[:, :, None] == 1
    return z_of(np.where(swapped, b, a), np.where(swapped, a, b), score)


def extreme(z, observed, alternative):
    close = 1e-6 * abs(observed) + 1e-12
    return {
        "two-sided": np.abs(z) >= abs(observed) - close,
        "greater": z >= observed - close,
        "less": z <= observed + close,
    }[alternative]


SCORES = {
    "fscore": f1,
    "ratio": lambda sums: sums[..., 0] / sums[..., 1],
    "aer": lambda sums: 1 - sums[..., 0] / (sums[..., 1] + sums[..., 2]),
}


def masks_of(n):
    return swap(row_keys(12345, np.arange(RESAMPLES)), draws_from_strata(np.zeros(n, int)), np.dtype(np.float64))[:, :n]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize("n", [2, 5, 8])
def test_counts_are_those_of_z_of_the_masks(metric, alternative, n):
    evaluation = make(metric, num_systems=2, num_instances=n, seed=n)
    a, b = evaluation.stats
    observed, z = z_of(a, b, SCORES[metric]), z_of_masks(masks_of(n), a, b, SCORES[metric])
    (one,) = compare(evaluation, **SAMPLED, alternative=alternative, device="numpy")
    assert one.exceed == extreme(z, observed, alternative).sum()
    assert one.p_value == (one.exceed + 1) / (RESAMPLES + 1)


def grows(sums):
    """A score that grows with the number of instances, so that influences do not add up to 0, as those of ratios do."""
    return sums[..., 0] ** 0.5 + 0.05 * sums[..., 1]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [5, 8])
def test_influences_are_those_from_their_mean(n, alternative):
    a, b = np.random.default_rng(n).integers(1, 9, (2, n, 2))
    observed, z = z_of(a, b, grows), z_of_masks(masks_of(n), a, b, grows)
    evaluation = Evaluation.from_arrays({"A": a, "B": b}, metric=grows)
    (one,) = compare(evaluation, **SAMPLED, alternative=alternative, device="numpy")
    assert one.exceed == extreme(z, observed, alternative).sum()


@pytest.mark.parametrize("metric", ["fscore", "ratio"])
def test_p_is_that_of_all_swaps(metric):
    a, b = make_arrays(metric, num_systems=2, num_instances=9).values()
    masks = np.array(list(itertools.product([0, 1], repeat=9)))
    z = z_of_masks(masks, a, b, SCORES[metric])
    p = extreme(z, z[0], "two-sided").mean()
    result = permutation_test(a, b, metric=metric, statistic="studentized", resamples=20_000)
    assert result.method == "montecarlo"
    assert abs(result.p_value - p) < 4 * np.sqrt(p * (1 - p) / 20_000) + 1e-4


def test_the_level_holds_over_all_swaps_of_the_data():
    """Where results are exchangeable: of all swaps of some data, at most alpha have p <= alpha."""
    a, b = random_counts(np.random.default_rng(3), 2, 8).values()
    z = z_of_masks(np.array(list(itertools.product([0, 1], repeat=8))), a, b, f1)
    p_values = np.array([extreme(z, each, "two-sided").mean() for each in z])
    assert all((p_values <= alpha + 1e-12).mean() <= alpha + 1e-12 for alpha in (0.02, 0.05, 0.1, 0.25, 0.5))


def test_clusters_are_units():
    rng = np.random.default_rng(5)
    tables, clusters = np.stack(list(random_counts(rng, 2, 30).values())), np.arange(30) // 3
    named = {"A": tables[0], "B": tables[1]}
    a, b = (table.reshape(10, 3, 3).sum(axis=1) for table in tables)
    evaluation = Evaluation.from_arrays(named, metric="fscore", clusters=list(map(str, clusters)))
    (one,) = compare(evaluation, **SAMPLED, device="numpy")
    assert one.exceed == extreme(z_of_masks(masks_of(10), a, b, f1), z_of(a, b, f1), "two-sided").sum()


def test_of_a_linear_score_p_is_that_of_delta():
    """Z grows with delta: by a score that sigjax does not know for a mean, so that it computes z."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 6, (2, 25, 1))
    linear = Metric("sum", lambda sums: sums[..., 0] * 0.04, ("x",), lambda x: x[:, None], ("x",))
    evaluation = Evaluation.from_arrays({"A": a, "B": b}, metric=linear)
    studentized, plain = (compare(evaluation, **{**SAMPLED, "statistic": each})[0] for each in ("studentized", "delta"))
    assert studentized.exceed == plain.exceed


@pytest.mark.parametrize("method", ["auto", "montecarlo", "exact"])
def test_of_means_the_test_is_that_of_delta(method):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 40))
    results = [
        permutation_test(a, b, method=method, statistic=each, resamples=999) for each in ("delta", "studentized")
    ]
    assert results[0].p_value == results[1].p_value
    assert results[0].method == results[1].method


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size"),
    [
        *(("fscore", 4), ("fscore", 60), ("bleu", 4), ("bleu", 60), ("fscore-ratios", 4), ("chrf", 4), ("wer", 60)),
        *(("aer", 4), ("macro-fscore", 60), ("mcc", 4), ("function", 60)),
    ],
)
def test_counts_do_not_depend_on_the_device(name, size):
    """Also of so small test sets that some scores are at the edge of their domain."""
    evaluation = make(name, num_instances=size)
    on_host, compiled = (compare(evaluation, **SAMPLED, device=device) for device in ("numpy", "cpu"))
    assert [one.exceed for one in on_host] == [one.exceed for one in compiled]


@pytest.mark.parametrize("name", ["fscore", "bleu", "chrf"])
def test_two_sided_p_does_not_depend_on_the_order_of_systems(name):
    arrays = make_arrays(name)
    reports = [
        compare(Evaluation.from_arrays(each, metric=name), **SAMPLED)
        for each in (arrays, dict(reversed(arrays.items())))
    ]
    assert sorted(one.p_value for one in reports[0]) == sorted(one.p_value for one in reports[1])


def test_identical_systems_and_perfect_ones():
    a = np.array([[2, 2, 2], [1, 1, 1], [3, 3, 3], [2, 2, 2], [2, 2, 2], [1, 1, 1]])
    none = a * [0, 1, 1]
    same = permutation_test(a, a, metric="fscore", statistic="studentized", resamples=999)
    assert same.p_value == 1
    apart = permutation_test(a, none, metric="fscore", statistic="studentized", resamples=9999)
    assert abs(apart.p_value - 2 / 2**6) < 0.01  # the standard error is 0 where all is right, and where nothing is
    for pair, alternative in (((a, none), "greater"), ((none, a), "less")):  # only the data themselves are as extreme
        one = permutation_test(*pair, metric="fscore", statistic="studentized", resamples=9999, alternative=alternative)
        assert abs(one.p_value - 1 / 2**6) < 0.006


def test_many_pairs_are_swapped_in_chunks(monkeypatch):
    from sigjax.testing import permutation

    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(1), 5, 70), metric="fscore")
    together = [one.exceed for one in compare(evaluation, **SAMPLED)]
    monkeypatch.setattr(permutation, "_PRODUCTS", 70 * 9 * 3)
    assert [one.exceed for one in compare(evaluation, **SAMPLED)] == together


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test": "bootstrap"}, "belongs to the permutation test"),
        ({"correction": "maxt"}, "use holm, or statistic delta"),
        ({"method": "exact"}, "a studentized statistic is sampled; use method auto"),
    ],
)
def test_what_is_refused(options, words):
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(1), 2, 9), metric="fscore")
    with pytest.raises(InputError, match=words):
        compare(evaluation, statistic="studentized", **options)


def test_strata_are_refused():
    evaluation = Evaluation.from_arrays(
        random_counts(np.random.default_rng(1), 2, 4), metric="fscore", strata=[*"xxyy"]
    )
    with pytest.raises(InputError, match="knows no strata"):
        compare(evaluation, statistic="studentized")


def test_reports_say_that_delta_was_studentized():
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(1), 2, 12), metric="fscore")
    report = compare(evaluation, statistic="studentized", resamples=500)
    assert "|statistic:studentized" in report.signature
    assert "permutation test, two-sided, studentized" in report.to_text()
    assert r"of the studentized difference~\cite{janssen1997,chung2013,konietschke2014}" in report.to_methods()
    again = Report.from_json(report.to_json())
    assert again.settings.statistic == "studentized"
    with pytest.raises(InputError, match="of a studentized delta is not kept"):
        report.distribution(*evaluation.systems)
