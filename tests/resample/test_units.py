"""Units: exact fixed point, clusters summed, strata sorted."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from sigjax import Evaluation, InputError, compare, permutation_test
from sigjax.metrics import MEAN
from sigjax.resample.units import check_steps, fixed_point, make_units, observed_scores


@settings(max_examples=60, deadline=None)
@given(st.lists(st.decimals(-999, 999, places=4), min_size=2, max_size=40))
def test_decimals_become_whole_numbers(values):
    numbers = np.array([float(v) for v in values])
    units = make_units(Evaluation.from_arrays({"a": numbers, "b": numbers[::-1]}))
    divisor = 1 if units.divisors is None else units.divisors[0]
    total = int(units.values[0, :, 0].sum())
    assert total * 10**4 == int(sum(values) * 10**4) * divisor


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False), min_size=2, max_size=40))
def test_reals_are_rounded_within_the_stated_error(numbers):
    evaluation = Evaluation.from_arrays({"a": np.array(numbers), "b": np.abs(numbers)})
    units = make_units(evaluation)
    scores, tolerances = observed_scores(units, MEAN)
    error = np.abs(scores - evaluation.stats[:, :, 0].mean(axis=1))
    assert (error <= tolerances + 1e-300).all()


@pytest.mark.parametrize(("number", "limit"), [(4.5, 64), (-4.5, 64), (1026.5, 2**14), (2.0**20 + 0.5, 2**24)])
def test_the_stated_error_is_that_of_numbers_that_are_all_rounded_to_one_side(number, limit):
    found = fixed_point(np.full((1, 10), number), limit)
    missed = abs(float(found.values.sum()) / found.divisor - 10 * number)
    assert missed == 5.0
    assert found.error[0] == pytest.approx(missed / abs(10 * number), rel=1e-12)


def test_the_tolerance_of_a_small_system_holds_its_rounding_to_one_side():
    """All its numbers are half a step above a whole number of steps, which the large numbers of another one make."""
    large = np.random.default_rng(0).uniform(1e5, 2e5, 60)
    divisors = make_units(Evaluation.from_arrays({"a": large, "b": large / 1e5})).divisors
    assert divisors is not None
    divisor = divisors[0]
    small = (2.0 * np.arange(60) + 2**25 + 0.5) / divisor
    evaluation = Evaluation.from_arrays({"a": large, "b": small})
    units = make_units(evaluation)
    assert units.divisors is not None
    assert units.divisors[0] == divisor
    scores, tolerances = observed_scores(units, MEAN)
    missed = abs(Fraction(float(scores[1])) - sum(map(Fraction, small.tolist())) / 60)
    assert 0.4 / divisor < missed <= tolerances[1]


@pytest.mark.parametrize("large", [1e5, 1e7, 1e8])
def test_small_numbers_of_one_system_make_no_ties_beside_large_ones_of_another(large):
    """All swaps of 14 reals, added up as fractions."""
    rng = np.random.default_rng(5)
    b = np.exp(rng.normal(3, 0.6, 14))
    a = b * np.exp(rng.normal(0.05, 0.2, 14))
    a[0] = large * np.pi
    sums = [Fraction(0)]
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        d = Fraction(x) - Fraction(y)
        sums = [each + swapped for each in sums for swapped in (d, -d)]
    expected = sum(each >= sums[0] for each in sums) / len(sums)
    assert permutation_test(a, b, alternative="greater", method="exact").p_value == expected


@pytest.mark.parametrize("design", ["together", "crossed", "nested", "models"])
@pytest.mark.parametrize(("units", "runs"), [(2, 3), (5, 2), (3, 12)])
def test_no_resample_adds_up_to_more_than_doubles_hold(units, runs, design):
    """The most that a resample can take, in Python's whole numbers: one unit, or one output of it, every time."""
    numbers = np.random.default_rng(units).normal(size=(2, units * runs))
    numbers[:, 0] = 1000 * np.pi  # nearly all of the sum
    ids = np.repeat(np.arange(units), runs).tolist()
    evaluation = Evaluation.from_arrays(dict(zip("ab", numbers, strict=True)), ids=ids, runs=[*range(runs)] * units)
    made = make_units(evaluation, design)
    if design == "nested":
        largest = units * runs * int(np.abs(made.outputs.values).max())
    else:
        largest = max(units * int(np.abs(made.values).max()), int(np.abs(made.values).sum(axis=1).max()))
    assert not made.exact
    assert 2**45 < largest < 2**53


def test_clusters_are_summed():
    evaluation = Evaluation.from_arrays(
        {"a": [1, 2, 3, 4], "b": [0, 0, 0, 1]}, clusters=["y", "x", "y", "z"], strata=["s", "r", "s", "r"]
    )
    units = make_units(evaluation)
    assert units.strata.tolist() == [0, 1, 1]
    assert units.values[:, :, 0].tolist() == [[4, 2, 4], [0, 0, 1]]
    assert units.values[0, :, 1].tolist() == [2, 1, 1]


@pytest.mark.parametrize("count", [8, 64, 512])
def test_differences_of_few_steps_are_refused_however_many_there_are(count):
    """Whole numbers whose sums pass 2^53 are rounded to steps: beside few of them a difference is no longer one."""
    numbers = 2**52 + np.random.default_rng(0).integers(0, 2**40, count)
    for steps, fits in ((2**10, False), (2**15, False), (2**18, True)):
        step = 1.0 / make_units(Evaluation.from_arrays({"a": numbers, "b": numbers})).divisors[0]
        assert step > 1.0
        evaluation = Evaluation.from_arrays({"a": numbers + steps * int(step), "b": numbers})
        units = make_units(evaluation)
        assert units.divisors[0] == 1.0 / step
        if fits:
            check_steps(evaluation, units)
            continue
        with pytest.raises(InputError, match="differ by too little beside the numbers"):
            check_steps(evaluation, units)


@pytest.mark.parametrize("clustered", [False, True])
def test_units_keep_their_strata_in_any_order(clustered):
    rng = np.random.default_rng(0)
    strata = rng.choice(list("zxy"), 60)
    clusters = np.array([f"{name}{k % 7 if clustered else k}" for k, name in enumerate(strata)])
    numbers = rng.normal(size=60)
    units = make_units(Evaluation.from_arrays({"A": numbers, "B": 0 * numbers}, strata=strata, clusters=clusters))
    values = units.unscaled(units.values[0].astype(float))[:, 0]
    for code, name in enumerate(dict.fromkeys(strata.tolist())):
        expected = [numbers[clusters == each].sum() for each in np.unique(clusters[strata == name])]
        np.testing.assert_allclose(sorted(values[units.strata == code]), sorted(expected), rtol=1e-9)


def test_the_standard_error_of_strata_in_any_order_has_its_closed_form():
    """Strata have other means, and their units come mixed."""
    rng = np.random.default_rng(0)
    strata = rng.choice(list("zxy"), 60)
    a, b = rng.normal(size=(2, 60)) + 5.0 * (strata == "x") * np.array([[1.0], [0.0]])
    (one,) = compare(Evaluation.from_arrays({"A": a, "B": b}, strata=strata), progress=False)
    parts = [(a - b)[strata == name] for name in "xyz"]
    assert one.standard_error == pytest.approx(sum(len(own) * own.var(ddof=1) for own in parts) ** 0.5 / 60, rel=1e-9)


def test_a_cluster_lies_in_one_stratum():
    evaluation = Evaluation.from_arrays({"a": [1, 2], "b": [0, 0]}, clusters=["x", "x"], strata=["r", "s"])
    with pytest.raises(InputError, match="cluster 'x' lies in two strata"):
        make_units(evaluation)


@pytest.mark.parametrize("size", [0.05, 5.0, 1e3])
def test_a_system_of_small_numbers_changes_nothing_between_others(size):
    rng = np.random.default_rng(1)
    a = 1e4 + rng.normal(0, 1e-3, 30)
    b = a - 4e-4 + rng.normal(0, 1e-3, 30)
    two, three = {"A": a, "B": b}, {"A": a, "B": b, "C": size * (rng.random(30) + 0.5)}
    (alone,) = compare(two, correction="none")
    beside = compare(three, correction="none")["A", "B"]
    # Beside C there is no near origin: a and b are held in steps of 2e-9.
    assert beside.p_value == pytest.approx(alone.p_value, rel=0.01)  # the bracket of p is up to 1% wide
    for name in ("delta", "standard_error"):
        assert getattr(beside, name) == pytest.approx(getattr(alone, name), rel=1e-5)
    assert beside.interval == pytest.approx(alone.interval, rel=1e-5)
    normal = 2 * norm.sf(abs(np.sum(a - b)) / np.sqrt(np.sum((a - b) ** 2)))
    assert alone.p_value == pytest.approx(normal, rel=0.2)
