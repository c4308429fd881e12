"""Ties of metrics of whole columns: p-values are those of rational arithmetic, whatever the offset, scale or r = 0."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from oracles import montecarlo_error
from rational import SCORES, permutation_p

from sigjax import Evaluation, InputError, SampleMetric, bootstrap_test, compare, permutation_test

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
