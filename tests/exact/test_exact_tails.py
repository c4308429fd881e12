"""Exact tests of 200 tables, from p = 1 to 1e-300, against how many sign vectors are extreme, in whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import log10_quotient

from sigjax import permutation_test

ALTERNATIVES = ("two-sided", "greater", "less")
BANDS = ((-3.0, 0.0), (-30.0, -3.0), (-100.0, -30.0), (-200.0, -100.0), (-300.0, -200.0))
"""Of log10 p: every table is made for a band, and asserted to lie in it."""
METRICS = {"accuracy": "accuracy", "counts": "mean", "weights": "mean", "precision": "precision", "fscore": "fscore"}
"""Kind of table -> metric."""
MEAN = [[1, 0], [0, 0], [0, 1]]
FRACTIONS = {"accuracy": MEAN, "mean": MEAN, "precision": [[1, 1], [0, 1], [0, 0]], "fscore": [[2, 1], [0, 1], [0, 1]]}
"""Metric -> `[stat, (numerator, denominator)]`, for statistics (value, 0, 1) or (tp, false positives, gold)."""
LONGEST = 2 * 10**7
"""Bits of the whole number that holds all counts of a table with two statistics, about."""


@pytest.mark.parametrize(
    "number", [pytest.param(each, marks=[pytest.mark.slow] * (each not in (0, 1, 5))) for each in range(8)]
)  # all alternatives are among those that are not slow
@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("kind", METRICS)
def test_log10_p_by_whole_numbers(kind, band, number):
    """Ten digits of log10 p, correctly rounded, and p within the bound on its error."""
    rng = np.random.default_rng([*kind.encode(), *(round(-end) for end in band), number])
    metric, alternative, mid_p = METRICS[kind], ALTERNATIVES[number % 3], number in (3, 4, 5)
    better, worse = random_table(rng, kind, band)
    wrong_way = band == BANDS[0] and number in (1, 2)  # p near 1
    a, b = (better, worse) if (alternative == "less") == wrong_way else (worse, better)
    expected = whole_number_log10_p(a, b, metric, alternative, mid_p=mid_p)
    assert band[0] <= expected <= band[1]
    inputs = [shown(stats, metric) for stats in (a, b)]
    found = permutation_test(*inputs, metric=metric, method="exact", alternative=alternative, mid_p=mid_p)
    if found.error_bound:
        assert found.log10_p == float(f"{expected:.9e}")
    assert found.log10_p == pytest.approx(expected, rel=5e-10, abs=0)
    assert found.error_bound <= 5e-10
    rounding = 4 * np.finfo(float).eps * (1 + abs(expected) * math.log(10))  # of the power itself
    assert found.p_value == pytest.approx(10**expected, rel=found.error_bound * (1 + 1e-5) + rounding)


def ten_digits(number: float) -> float:
    """What exact tests report; of at most 50 coins, fewer than 2^38 outcomes are not rounded."""
    return float(f"{number:.9e}")


@pytest.mark.parametrize("units", [45, 300, 3000])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("digits", [6, 15])
def test_a_system_that_is_ahead_nearly_everywhere(units, alternative, digits):
    """Among all signs the extreme ones are those whose minus signs add up to no more: all sets of small units tried."""
    rng = np.random.default_rng(units)
    wins = rng.uniform(0.5, 9.0, units).round(digits)
    wins[:11] = rng.uniform(0.01, 0.2, 11).round(digits)
    deltas = np.where(np.arange(units) < 3, -wins, wins)
    small = [Fraction(each) if digits > 6 else Fraction(f"{each:.6f}") for each in wins[:11].tolist()]
    sums = [Fraction(0)]
    for each in small:
        sums += [one + each for one in sums]
    assert sum(small[:3]) < 0.5  # so that no other unit is among them
    extreme = sum(one <= sum(small[:3]) for one in sums)
    found = permutation_test(deltas, np.zeros(units), alternative=alternative)
    assert (found.method, found.reason) == ("exact", "few swaps are as extreme (value)")
    if alternative == "less":
        assert found.p_value == ten_digits(1 - sum(one < sum(small[:3]) for one in sums) / 2**units)
        return
    expected = ((alternative == "two-sided") + math.log2(extreme) - units) * math.log10(2)
    assert found.log10_p == pytest.approx(expected if units <= 50 else ten_digits(expected), rel=1e-14)


@pytest.mark.parametrize("units", [12, 30, 45, 48, 50])
@pytest.mark.parametrize("method", ["exact", "dp", "tree"])
def test_an_error_bound_of_0_means_that_p_is_exact(units, method):
    """Sums of all signs are counted by whole numbers."""
    for seed in range(8):
        deltas = np.random.default_rng([units, seed]).integers(-9, 10 + 2 * (seed % 2), units)
        ways = {0: 1}
        for each in deltas.tolist():
            added = dict.fromkeys([total + sign * each for total in ways for sign in (1, -1)], 0)
            for total, count in ways.items():
                added[total + each] += count
                added[total - each] += count
            ways = added
        extreme = sum(count for total, count in ways.items() if abs(total) >= abs(int(deltas.sum())))
        expected = Fraction(extreme, 2**units)
        found = permutation_test(deltas, np.zeros(units, int), method=method)
        assert abs(Fraction(found.p_value) / expected - 1) <= found.error_bound < 1e-3


@pytest.mark.parametrize("units", [45, 60])
def test_a_system_that_is_ahead_everywhere(units):
    """No swaps are more extreme: mid-p halves the ties, and a test of the other side has p = 1."""
    wins = np.random.default_rng(units).uniform(0.5, 9.0, units).round(6)
    for alternative, ties in (("two-sided", 2), ("greater", 1)):
        options = {"method": "exact", "alternative": alternative, "mid_p": True}
        found = permutation_test(wins, np.zeros(units), **options)
        assert (found.method, found.reason) == ("exact", "few swaps are as extreme (value)")
        expected = (math.log2(ties / 2) - units) * math.log10(2)
        assert found.log10_p == pytest.approx(expected if units <= 50 else ten_digits(expected), rel=1e-14)
    assert permutation_test(wins, np.zeros(units), alternative="less").p_value == 1.0


def shown(stats: np.ndarray, metric: str) -> np.ndarray:
    """What sigjax takes: values, or counts (tp, predicted, gold)."""
    return stats[:, :1] if FRACTIONS[metric] is MEAN else stats @ [[1, 1, 0], [0, 1, 0], [0, 0, 1]]


def random_table(rng: np.random.Generator, kind: str, band: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[instance, stat]` of a better and a worse system.

    Chernoff's bound of p is drawn from the band; p itself is less, by a factor of about ten.
    """
    low, high = band
    rate = math.log(10) * rng.uniform(-0.95 * high - 0.05 * low, -0.97 * low - 0.03 * high - 1.0)
    fewest = max(8.0, 1.03 * rate / math.log(2))  # with all in one direction, p = 2^-n
    size = round(math.exp(rng.uniform(math.log(fewest), math.log(1050))))
    one, other = random_counts(rng, size) if kind in ("precision", "fscore") else random_values(rng, kind, size)
    top, bottom = (one + other).sum(axis=0) @ FRACTIONS[METRICS[kind]]
    influence = (one - other) @ FRACTIONS[METRICS[kind]] @ [bottom, -top]
    better = (influence > 0) == random_wins(rng, np.abs(influence) / np.abs(influence).max(), rate)
    return np.where(better[:, None], one, other), np.where(better[:, None], other, one)


def random_values(rng: np.random.Generator, kind: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Statistics (value, 0, 1): answers, counts, or counts whose differences have a common factor."""
    value, more = np.zeros(size, int), np.ones(size, int)
    if kind != "accuracy":
        value, more = rng.integers(0, 5, size), rng.integers(1, rng.integers(2, 20), size)
    if kind == "weights":
        more *= rng.integers(2, 50)
    one, other = (np.column_stack([each, 0 * each, 0 * each + 1]) for each in (value + more, value))
    return one, other


def random_counts(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Statistics (tp, false positives, gold); where instances are many, few differ in their false positives."""
    fewer, more = rng.integers(1, 5, size), rng.integers(1, rng.integers(2, 4), size)
    false = rng.integers(0, 3, size)
    other_false = false.copy()
    many = min(size, LONGEST // int(size * more.sum()))
    other_false[:many] = rng.integers(0, 3, many)
    gold = fewer + more + rng.integers(0, 3, size)
    return np.column_stack([fewer + more, false, gold]), np.column_stack([fewer, other_false, gold])


def random_wins(rng: np.random.Generator, sizes: np.ndarray, rate: float) -> np.ndarray:
    """Which of the random signs of `sizes` are positive, at random, so that Chernoff's bound of p is exp(-rate)."""
    theta = np.geomspace(1e-3, 50.0, 400)
    mean = np.tanh(np.outer(theta, sizes)) @ sizes
    rates = theta * mean - np.log(np.cosh(np.outer(theta, sizes))).sum(axis=1)
    wins, order = np.empty(len(sizes), bool), rng.permutation(len(sizes))
    wins[order] = 2 * np.cumsum(sizes[order]) <= sizes.sum() + np.interp(rate, rates, mean)
    return wins


def whole_number_log10_p(a: np.ndarray, b: np.ndarray, metric: str, alternative: str, *, mid_p: bool) -> float:
    """Base-10 logarithm of p, in whole numbers up to one quotient."""
    values, counts = random_sign_sums(a - b)
    both = (a + b).sum(axis=0)
    top, bottom = delta((both + values) // 2, (both - values) // 2, metric)
    observed_top, observed_bottom = delta(a.sum(axis=0), b.sum(axis=0), metric)
    left, right = top * observed_bottom, observed_top * bottom
    beyond = {"two-sided": np.abs(left) - np.abs(right), "greater": left - right, "less": right - left}[alternative]
    halves = np.select([beyond > 0, beyond == 0], [2, 1 if mid_p else 2], 0).tolist()
    extreme = sum(count * each for count, each in zip(counts, halves, strict=True) if each)
    return log10_quotient(extreme, 2 * 2 ** len(a))


def delta(sums_a: np.ndarray, sums_b: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Numerator and denominator of a difference of scores, from sums `[..., stat]`."""
    (top_a, bottom_a), (top_b, bottom_b) = (np.moveaxis(sums @ FRACTIONS[metric], -1, 0) for sums in (sums_a, sums_b))
    return top_a * bottom_b - top_b * bottom_a, bottom_a * bottom_b


def random_sign_sums(differences: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Values `[value, stat]` of the sum of +-differences `[instance, stat]`, and how many of the 2^n signs give each.

    The counts are the coefficients of a product of n polynomials of two terms, with a variable for each statistic. One
    whole number holds them all, with room for 2^n each, so that a product takes two shifts (Kronecker's substitution).
    """
    unit = np.maximum(np.gcd.reduce(differences), 1)
    steps = differences // unit
    steps = steps[np.lexsort(np.abs(steps[:, :2]).T)]  # the number stays short for longer
    reach = np.abs(steps).sum(axis=0)
    width = len(steps) // 8 + 1
    shifts = 8 * width * np.cumprod([1, *(reach[:-1] + 1)])
    product = 1
    for plus, minus in zip(np.maximum(steps, 0) @ shifts, np.maximum(-steps, 0) @ shifts, strict=True):
        product = (product << int(plus)) + (product << int(minus))
    digits = product.to_bytes(width * int(np.prod(reach + 1)), "little")
    counts = [int.from_bytes(digits[start : start + width], "little") for start in range(0, len(digits), width)]
    places = np.stack(np.unravel_index(np.arange(len(counts)), tuple(reach + 1), order="F"), axis=-1)
    return (2 * places - reach) * unit, counts


@pytest.mark.parametrize("next_size", [0.5, 1.5])
@pytest.mark.slow
def test_just_as_many_extreme_swaps_as_are_listed(next_size):
    """2^16 sets of 16 small units of size 1/16, and those with a 17th of another size; all others are larger."""
    units = 60
    large = np.random.default_rng(1).uniform(10.0, 60.0, units - 17).round(6)
    wins = np.r_[np.full(16, 0.0625), next_size, large]
    swapped = np.r_[np.full(16, -1.0), np.ones(units - 16)]
    extreme = 2**16 + sum(math.comb(16, k) for k in range(17) if 0.0625 * k + next_size <= 1.0)
    found = permutation_test(wins * swapped, np.zeros(units), resamples=1000)
    if extreme > 2**16:
        assert found.method == "tilted"  # too many to list
        assert found.p_value == pytest.approx(2 * extreme / 2**units, rel=0.2)
    else:
        assert found.reason == "few swaps are as extreme (value)"
        assert found.log10_p == ten_digits((1 + 16 - units) * math.log10(2))


@pytest.mark.parametrize("units", [100, 800])
def test_p_near_1_is_the_rest_of_the_other_side(units):
    """With ties counted half, p of one side is 1 less that of the other: so log p near 1 is minus that one."""
    rng = np.random.default_rng(units)
    gold = rng.integers(1, 6, units)
    right = rng.binomial(gold, [[0.4], [0.8]])
    a, b = (np.stack([each, each + rng.poisson(0.7, units), gold], axis=1) for each in right)
    below, above = (
        permutation_test(a, b, metric="fscore", method="exact", alternative=side, mid_p=True)
        for side in ("less", "greater")
    )
    assert 0.0 < below.p_value < 1e-5
    assert -above.log10_p * math.log(10) == pytest.approx(below.p_value, rel=1e-9, abs=0)
