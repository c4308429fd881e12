"""Boards of answers right or wrong: exact p-values of all pairs from one product, against integers and SciPy."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from sigjax import Evaluation, compare
from sigjax.comparison.checks import work
from sigjax.records import Settings
from sigjax.run.context import Context
from sigjax.testing.permutation import exact_tests, sign_ps
from sigjax.testing.problem import SumsProblem, pairs_of


def expected(ahead, behind, alternative, mid_p):
    """p as a fraction, by listing."""
    m = ahead + behind
    if m == 0:
        return Fraction(1)
    observed = ahead - behind
    of = {
        "two-sided": (lambda k: abs(2 * k - m) - abs(observed)),
        "greater": (lambda k: 2 * k - m - observed),
        "less": (lambda k: observed - (2 * k - m)),
    }[alternative]
    twice = sum(comb(m, k) * ((of(k) >= 0) + (of(k) > 0 if mid_p else of(k) >= 0)) for k in range(m + 1))
    return Fraction(twice, 2 ** (m + 1))


def log10(fraction):
    with localcontext() as context:
        context.prec = 40
        return (Decimal(fraction.numerator) / Decimal(fraction.denominator)).log10()


SMALL = [(b, c) for b in range(13) for c in range(13)]
LARGE = [
    (25, 25),
    (26, 25),
    (50, 1),
    (0, 51),
    (300, 291),
    (150, 151),
    (100, 0),
    (700, 300),
    (990, 10),
    (1200, 0),
    (2, 1500),
]


@pytest.mark.parametrize("mid_p", [False, True])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_fractions(alternative, mid_p):
    """Up to 50 differences p is rounded once; beyond, errors stay below their bounds, down to 1e-450."""
    pairs = [*SMALL, *LARGE, *((c, b) for b, c in LARGE)]
    found = sign_ps(*np.array(pairs).T, alternative, mid_p=mid_p)
    for (b, c), p, log10_p, bound in zip(pairs, *(each.tolist() for each in found), strict=True):
        exact = expected(b, c, alternative, mid_p)
        if b + c <= 50:
            assert (p, bound) == (float(exact), 0.0)
        elif exact > Fraction(1, 10**300):
            assert abs(Fraction(p) / exact - 1) <= bound < 1e-12
        apart = float(abs(Decimal(log10_p) - log10(exact)))
        assert apart <= max(bound, 3e-16) + 3e-16 * abs(log10_p)
        assert bound < 2e-12


def test_many_answers():
    """Many differences, near to half of them and far from it, by integers."""
    m, k = 2**16, np.array([2**15, 2**15 + 1, 2**15 + 200, 2**15 + 2000])
    _, found, bounds = sign_ps(k, m - k, "greater")
    with localcontext() as context:
        context.prec = 40
        term, above, at = comb(m, int(k[-1])), 0, int(k[-1])
        tail, step = 0, term
        while step > tail >> 100 or not tail:  # what is beyond is below 1e-30 of it
            tail, step, at = tail + step, step * (m - at) // (at + 1), at + 1
        above = (Decimal(tail) / Decimal(2**m)).log10()
    assert abs(Decimal(found[-1]) - above) < bounds[-1] < 1e-11
    near = [binomtest(int(each), m, alternative="greater").pvalue for each in k[:3]]
    np.testing.assert_allclose(10 ** found[:3], near, rtol=1e-10)


def board(systems, instances, seed=0):
    rng = np.random.default_rng(seed)
    harder, right = rng.normal(0.0, 0.2, instances), np.linspace(0.2, 0.95, systems)
    answers = {f"s{i}": (rng.random(instances) < right[i] + harder).astype(int) for i in range(systems)}
    return Evaluation.from_arrays(answers, metric="accuracy")


@pytest.mark.parametrize("options", [{}, {"alternative": "greater"}, {"alternative": "less"}, {"mid_p": True}])
@pytest.mark.parametrize("instances", [12, 40, 2000])
def test_the_general_exact_test_gives_the_same(instances, options):
    """The characteristic function gives these p-values, with the same words."""
    evaluation, settings = board(12, instances), Settings(method="exact", **options)
    problem = SumsProblem.of_evaluation(evaluation, settings, pairs_of(evaluation, settings))
    found = compare(evaluation, interval="none", method="exact", progress=False, **options)
    old = exact_tests(problem, problem.hypotheses.pairs, Context("numpy"))
    for one, *other in zip(found, *map(old.values, ("p_value", "log10_p", "reason", "method")), strict=True):
        assert one.p_value == pytest.approx(other[0], rel=1e-11)
        assert one.log10_p == pytest.approx(other[1], rel=1e-11, abs=1e-12)
        assert [one.reason, one.method] == other[2:]


def test_scores_that_fall():
    """Where the score falls with the statistic, one-sided tests turn around, as in the general test."""
    evaluation = board(6, 300)
    metric = replace(evaluation.metric, score=lambda sums: 1.0 - sums[..., 0] / sums[..., 1])
    turned = replace(evaluation, metric=metric)
    for alternative, other in (("greater", "less"), ("less", "greater")):
        found = compare(turned, alternative=alternative, interval="none", progress=False)
        right = compare(evaluation, alternative=other, interval="none", progress=False)
        assert [one.p_value for one in found] == [one.p_value for one in right]
        assert [one.delta > 0 for one in found] == [one.delta < 0 for one in right]


def test_a_pair_alone_is_as_on_a_board():
    """The same p to the last bit."""
    evaluation = board(5, 500)
    every = compare(evaluation, interval="none", progress=False)
    two = {name: evaluation.stats[int(name[1:]), :, 0] for name in ("s1", "s3")}
    alone = compare(Evaluation.from_arrays(two, metric="accuracy"), interval="none", progress=False)
    (same,) = [one for one in every if (one.a, one.b) == ("s1", "s3")]
    assert (alone[0].p_value, alone[0].log10_p) == (same.p_value, same.log10_p)


def test_a_small_budget_samples():
    """The budget is kept, as by other exact tests."""
    assert {one.method for one in compare(board(4, 100), budget=1e-9, resamples=99, progress=False)} == {"montecarlo"}


def test_standard_errors_are_those_of_differences():
    """From counts, as by NumPy from all differences; 0 only where all units differ alike."""
    evaluation = board(8, 700, seed=3)
    stats = evaluation.stats.copy()
    stats[0, :, 0], stats[1, :, 0] = 0, 1
    found, answers = compare(replace(evaluation, stats=stats), progress=False), stats[..., 0].astype(float)
    for one in found:
        apart = answers[int(one.a[1:])] - answers[int(one.b[1:])]
        assert one.standard_error == pytest.approx(apart.std(ddof=1) / 700**0.5, rel=1e-13, abs=0.0)
    assert found["s0", "s1"].standard_error == 0.0
    for one in found.systems:
        assert one.standard_error == pytest.approx(answers[int(one.name[1:])].std(ddof=1) / 700**0.5, rel=1e-13)


def test_announced_work_is_that_of_one_product():
    """A board that is counted is announced without swaps: seconds and bytes per pair, not milliseconds."""
    evaluation, pairs = board(300, 200), 300 * 299 // 2
    cost, draws = work(evaluation, pairs, Settings())
    assert cost.seconds < 1e-5 * pairs
    assert (cost.num_bytes, draws) == (250 * pairs, False)
    assert work(evaluation, pairs, Settings(method="montecarlo"))[0].seconds > 10 * cost.seconds


def clustered(count, clusters):
    """Answers right or wrong, in clusters of three; and the law of each difference of sums by plain convolution."""
    rng = np.random.default_rng(3)
    answers = rng.integers(0, 2, (count, 3 * clusters))
    names = [str(i // 3) for i in range(3 * clusters)]
    values = {f"s{k}": row.tolist() for k, row in enumerate(answers)}
    return Evaluation.from_arrays(values, metric="accuracy", clusters=names), answers.reshape(count, clusters, 3).sum(2)


def swapped(differences):
    """The two-sided p of the sum of differences under random signs, by adding one unit after another (integers)."""
    law = {0: 1}
    for d in differences.tolist():
        following = {}
        for total, ways in law.items():
            for value in (total + d, total - d):
                following[value] = following.get(value, 0) + ways
        law = following
    observed = abs(int(differences.sum()))
    return Fraction(sum(ways for total, ways in law.items() if abs(total) >= observed), 2 ** len(differences))


def test_clustered_boards_past_the_budget_are_exact_where_sampling_costs_more(monkeypatch):
    monkeypatch.setattr("sigjax.testing.problem.AUTO_BUDGET", 1e-9)
    evaluation, sums = clustered(8, 40)
    report = compare(evaluation, device="numpy")
    for one in report:
        a, b = (sums[int(name[1:])] for name in (one.a, one.b))
        assert one.method == "exact"
        assert one.p_value == pytest.approx(float(swapped(a - b)), rel=1e-10)
    # Few resamples cost less, and a limit that is given holds.
    for options in ({"resamples": 1000}, {"resamples": 1000, "budget": 1e-9}, {"budget": 1e-9}):
        assert {one.method for one in compare(evaluation, device="numpy", **options)} == {"montecarlo"}


def test_announced_work_of_clustered_boards_counts_exact_tests():
    evaluation, _ = clustered(300, 40)
    seconds = work(evaluation, 300 * 299 // 2, Settings())[0].seconds
    assert seconds == pytest.approx(300 * 299 // 2 * (7e-5 + 1e-5), rel=0.2)


@pytest.mark.parametrize(("alternative", "ahead", "behind"), [("two-sided", 1000, 1000), ("greater", 0, 5000)])
def test_a_certain_p_of_many_units_has_no_error_but_rounding(alternative, ahead, behind):
    p_value, log10_p, error = (each[0] for each in sign_ps(np.array([ahead]), np.array([behind]), alternative))
    assert (p_value, log10_p) == (1.0, 0.0)
    assert error <= np.finfo(float).eps
