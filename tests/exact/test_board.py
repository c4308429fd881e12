"""All pairs of a board at once: against whole numbers, SciPy, pairs by themselves, and JAX; and correct rounding."""

import math
from collections import Counter
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from sigjax import Evaluation, compare, permutation_test
from sigjax.exact import board_tests, edges, tails
from sigjax.exact.board import make_board
from sigjax.exact.digits import reference_p, round_outwards, round_p_values
from sigjax.exact.lattice import Lattice
from sigjax.resample.extreme import Extreme
from sigjax.testing import permutation

pytestmark = pytest.mark.slow

ALTERNATIVES = ("two-sided", "greater", "less")
OPTIONS = {"method": "exact", "interval": "none", "correction": "none", "progress": False}


def ten_digits(p: Fraction) -> tuple[float, float]:
    """P and its decimal logarithm, correctly rounded."""
    short = Context(prec=10, Emin=-(10**6))
    with localcontext(Context(prec=500, Emin=-(10**6))):
        number = Decimal(p.numerator) / Decimal(p.denominator)
        return float(short.plus(number)), float(short.plus(number.log10())) + 0.0


def whole_p(differences: np.ndarray, alternative: str, *, mid_p: bool) -> Fraction:
    """The p-value of differences of one statistic, by counting sign vectors in whole numbers."""
    return law_p(differences[:, None], lambda sums: sums[:, 0], alternative, mid_p=mid_p)


def law_p(differences: np.ndarray, delta, alternative: str, *, mid_p: bool) -> Fraction:
    """The p-value of differences `[unit, stat]`: whole numbers of sign vectors for each sum; close deltas are ties."""
    differences = differences[differences.any(axis=1)]
    counts = {(0,) * differences.shape[1]: 1}
    for row in differences.tolist():
        more: dict[tuple[int, ...], int] = {}
        for sums, count in counts.items():
            for sign in (1, -1):
                moved = tuple(s + sign * d for s, d in zip(sums, row, strict=True))
                more[moved] = more.get(moved, 0) + count
        counts = more
    size = {"two-sided": abs, "greater": lambda value: value, "less": lambda value: -value}[alternative]
    sizes = size(delta(np.array(list(counts)))) - size(delta(differences.sum(axis=0)[None]))[0]
    times = np.where(sizes > 1e-11, 2, np.where(sizes > -1e-11, 1 if mid_p else 2, 0)).tolist()
    return Fraction(sum(map(math.prod, zip(times, counts.values(), strict=True))), 2 ** (len(differences) + 1))


def values_of(rng: np.random.Generator, systems: int, units: int, most: int) -> np.ndarray:
    """Values `[system, unit]`, some systems close to each other, some far away, two the same."""
    values = rng.binomial(most, rng.uniform(0.3, 0.9, (systems, 1)), (systems, units))
    changed = rng.random(units) < 0.7
    values[1] = np.where(changed, values[0], rng.binomial(most, 0.5, units))
    values[2] = values[0]
    return values


@pytest.mark.parametrize("number", range(8))
def test_one_statistic_is_whole_numbers(number):
    """From p = 1 to 1e-100, each digit."""
    rng = np.random.default_rng(number)
    units, most = int(rng.integers(60, 350)), int(rng.integers(2, 9))
    values = values_of(rng, 6, units, most)
    alternative, mid_p = ALTERNATIVES[number % 3], number % 2 == 1
    data = Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(values)}, metric="mean")
    for one in compare(data, alternative=alternative, mid_p=mid_p, **OPTIONS):
        differences = values[int(one.a[1:])] - values[int(one.b[1:])]
        if np.count_nonzero(differences) > 50:
            expected = whole_p(differences, alternative, mid_p=mid_p)
            assert (one.p_value, one.log10_p) == ten_digits(expected)
            assert one.error_bound <= 5e-10


def counts_of(rng: np.random.Generator, systems: int, units: int) -> np.ndarray:
    """Counts (tp, predicted, gold) `[system, unit, stat]`."""
    gold = rng.integers(1, 5, units)
    right = rng.binomial(gold, rng.uniform(0.5, 0.8, (systems, 1)))
    return np.stack([right, right + rng.binomial(2, 0.3, right.shape), np.broadcast_to(gold, right.shape)], axis=2)


def is_right(one, expected: Fraction, num_signs: int) -> bool:
    """Whether p is the ten digits expected, or, of few coins, the whole number of outcomes."""
    if num_signs <= 50 and expected * 2 ** (num_signs + 1) < 2**38:
        return one.p_value == float(expected) and one.error_bound == 0.0
    return (one.p_value, one.log10_p) == ten_digits(expected)


@pytest.mark.parametrize("kind", ["mean", "decimals", "offset", "clusters", "strata"])
@pytest.mark.parametrize("number", range(3))
def test_random_boards_of_one_statistic_are_whole_numbers(kind, number):
    """Few units and many, ties, identical systems, large offsets."""
    rng = np.random.default_rng([number, len(kind)])
    for units in (1, 5, 30, 80, 150):
        values, groups, options = values_of(rng, 4, units, 1 + number * 3), np.arange(units), {}
        if kind == "clusters" and units > 4:
            groups = np.arange(units) // 3
            options["clusters"] = groups.tolist()
        if kind == "strata":
            options["strata"] = rng.integers(0, 3, units).tolist()
        given = {"decimals": np.round(values * 0.1 + 0.3, 1), "offset": values + 10**9}.get(kind, values)
        sums = np.stack([np.bincount(groups, each).astype(int) for each in values])
        asked = {"alternative": ALTERNATIVES[number], "mid_p": units % 2 == 0}
        systems = {f"s{i}": each for i, each in enumerate(given)}
        for one in compare(Evaluation.from_arrays(systems, metric="mean", **options), **asked, **OPTIONS):
            differences = sums[int(one.a[1:])] - sums[int(one.b[1:])]
            num_signs = np.count_nonzero(differences)
            if num_signs:
                assert is_right(one, whole_p(differences, **asked), num_signs)
            else:
                assert (one.p_value, one.log10_p) == (1.0, 0.0)


RATIOS = {"precision": (1, (0, 1, 0)), "fscore": (2, (0, 1, 1)), "f2": (5, (0, 1, 4)), "recall": (1, (0, 0, 1))}


@pytest.mark.parametrize("metric", RATIOS)
@pytest.mark.parametrize("number", range(3))
def test_random_boards_of_two_statistics_are_whole_numbers(metric, number):
    rng, (times, weights) = np.random.default_rng([number, len(metric)]), RATIOS[metric]
    used = np.array([True, weights[1] > 0, weights[2] > 0])
    for units in (8, 30, 70):
        counts = counts_of(rng, 3, units)
        asked = {"alternative": ALTERNATIVES[number], "mid_p": units == 30}
        data = Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(counts)}, metric=metric)
        for one in compare(data, **asked, **OPTIONS):
            a, b = (counts[int(name[1:])] * used for name in (one.a, one.b))
            both = (a + b).sum(axis=0)

            def delta(sums, both=both):
                of_a, of_b = ((both + sign * sums) / 2 for sign in (1, -1))
                return times * (of_a[:, 0] / (of_a @ weights) - of_b[:, 0] / (of_b @ weights))

            assert is_right(one, law_p(a - b, delta, **asked), int((a != b).any(axis=1).sum()))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long doubles are doubles here")
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", ["values", "fscore"])
def test_errors_are_below_their_bounds(monkeypatch, kind, alternative):
    """Against long doubles; and the bounds are so small that one pair in a hundred is left open."""
    rng, asked, whole = np.random.default_rng(4), [], permutation.board_p_values
    made = values_of(rng, 9, 900, 7) if kind == "values" else counts_of(rng, 9, 900)
    monkeypatch.setattr(permutation, "board_p_values", lambda *a, **k: asked.append(a) or whole(*a, **k))
    monkeypatch.setattr(tails, "grid_is_faster", lambda *_: True)
    systems = {f"s{i}": each for i, each in enumerate(made)}
    data = Evaluation.from_arrays(systems, metric="mean" if kind == "values" else "fscore")
    compare(data, alternative=alternative, **OPTIONS)
    board, delta_of, criterion, _ = asked[0]
    of_axes = board_tests.line_tails if board.axes == 1 else board_tests.plane_tails
    short, long = (
        board_tests._p_values_by(of_axes, board, delta_of, criterion, None, real) for real in (float, np.longdouble)
    )
    assert len(board) >= 35
    assert (np.abs(short.log_p - long.log_p) <= short.error + long.error).all()
    assert np.quantile(short.error, 0.9) < 5e-12
    assert np.quantile(long.error, 0.9) < 1e-13


def scored_by_pairs(monkeypatch, data, **options):
    """The same pairs one by one."""
    with monkeypatch.context() as patch:
        patch.setattr(permutation, "_FEWEST_PAIRS", 10**9)
        return numbers(compare(data, **options, **OPTIONS))


def numbers(report):
    return [(one.p_value, one.log10_p, one.error_bound, one.method, one.reason) for one in report]


def wavy(sums):
    """A score that is monotone in nothing."""
    xp = sums.__array_namespace__()
    return xp.sin(0.02 * sums[..., 0]) + 0.001 * sums[..., 1]


@pytest.mark.parametrize("metric", ["fscore", "precision", "recall", "f2", wavy])
@pytest.mark.parametrize("options", [{}, {"alternative": "greater"}, {"alternative": "less", "mid_p": True}])
def test_two_statistics_are_pairs_by_themselves(monkeypatch, metric, options):
    counts = counts_of(np.random.default_rng(5), 6, 200)
    counts = counts if isinstance(metric, str) else counts[..., :2]
    data = Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(counts)}, metric=metric)
    assert numbers(compare(data, **options, **OPTIONS)) == scored_by_pairs(monkeypatch, data, **options)


@pytest.mark.parametrize("clusters", [None, 70])
def test_clusters_and_strata_are_pairs_by_themselves(monkeypatch, clusters):
    rng = np.random.default_rng(8)
    values = values_of(rng, 5, 280, 6)
    groups = {} if clusters is None else {"clusters": rng.integers(0, clusters, 280).tolist()}
    strata = rng.integers(0, 3, 280).tolist() if clusters is None else None
    systems = {f"s{i}": each for i, each in enumerate(values)}
    data = Evaluation.from_arrays(systems, metric="mean", strata=strata, **groups)
    assert numbers(compare(data, **OPTIONS)) == scored_by_pairs(monkeypatch, data)


@pytest.mark.parametrize("kind", ["values", "fscore", "wavy"])
def test_jax_gives_the_same_bytes(monkeypatch, kind):
    """By products and inverse FFTs of JAX in float64, without its global setting."""
    rng, called = np.random.default_rng(11), []
    made = values_of(rng, 5, 150, 7) if kind == "values" else counts_of(rng, 5, 900 if kind == "fscore" else 150)
    metric = {"values": "mean", "fscore": "fscore", "wavy": wavy}[kind]
    made = made[..., :2] if kind == "wavy" else made
    compiled = tails.compiled
    monkeypatch.setattr(tails, "compiled", lambda kernel, *rest: called.append(kernel) or compiled(kernel, *rest))
    data = Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(made)}, metric=metric)
    found = [compare(data, device=device, **OPTIONS) for device in ("numpy", "cpu")]
    assert numbers(found[0]) == numbers(found[1])
    assert called
    import jax

    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize("metric", ["fscore", "precision", "wer"])
@pytest.mark.parametrize("units", [40, 300, 3000])
def test_edges_between_lines_are_those_searched_for(monkeypatch, metric, units):
    """At all places, also where S cannot be, and at those of ties."""
    rng, seen = np.random.default_rng(units), []
    counts = counts_of(rng, 6, units)
    counts[1] = counts[0]
    counts[1, : max(units // 30, 2)] = counts[2, : max(units // 30, 2)]
    if metric == "wer":  # errors and words, which differ as of two tokenizers
        counts = np.stack([counts[..., 1], counts[..., 2] + rng.integers(0, 2, counts.shape[:2])], axis=-1)
    find, between = edges.find_edges, edges._edges_between

    def both(*args, strict):
        found = []
        for searched in (10**9, 0):
            monkeypatch.setattr(edges, "_MOST_SEARCHED", searched)
            found.append(find(*args, strict=strict))
        window, delta_of, *_ = args
        # What S cannot reach has no probability.
        every = np.arange(len(found[0]))
        first, low = window.axis_values(every)
        with monkeypatch.context() as patch:
            patch.setattr(edges, "_MARGIN", 0.0)
            reached = [window.unclipped(every, first, low + 2 * each) for each in found]
        assert ((found[0] == found[1]) | ~reached[0] & ~reached[1]).all()
        return found[1]

    def open_ones(*args):
        seen.append(between(*args)[1].mean())
        return between(*args)

    monkeypatch.setattr(edges, "_edges_between", open_ones)
    monkeypatch.setattr(tails, "find_edges", both)
    monkeypatch.setattr(tails, "grid_is_faster", lambda *_: True)
    data = Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(counts)}, metric=metric)
    for alternative in ("two-sided", "less"):
        compare(data, alternative=alternative, mid_p=True, **OPTIONS)
    assert seen
    if units == 3000:
        assert np.median(seen) < 0.1


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_wider_windows_settle_tiny_p(monkeypatch, seed):
    """Where edges are curved, weights beyond the usual window are large; p is that of all points of the plane."""
    rng, called = np.random.default_rng(seed), []
    tp = rng.binomial(3, np.array([0.48, 0.78])[:, None], (2, 1000))
    counts = np.stack([tp, tp + rng.binomial(2, 0.35, tp.shape), np.full(tp.shape, 3)], axis=-1)
    data = Evaluation.from_arrays(dict(zip("ab", counts, strict=True)), metric="fscore")
    by_board = board_tests._p_values_by
    monkeypatch.setattr(board_tests, "_p_values_by", lambda *args: called.append(args[0]) or by_board(*args))
    found = compare(data, **OPTIONS)
    assert [getattr(each, "keywords", {}).get("deviations") for each in called] == [None, tails.WIDE]
    monkeypatch.setattr(tails, "grid_is_faster", lambda *_: False)
    assert numbers(compare(data, **OPTIONS)) == numbers(found)
    assert found.comparisons[0].p_value < 1e-90


def test_rows_and_counts_of_two_statistics():
    values = np.array([[[1, 4, 7], [2, 0, 7]], [[3, 0, 7], [0, 2, 7]], [[1, 2, 7], [2, 2, 7]]])
    board = make_board(values, np.array([[0, 1], [1, 2]]))
    assert board is not None
    assert board.basis.tolist() == [[2, 0, 0], [0, 2, 0]] or board.basis.tolist() == [[1, 0, 0], [0, 2, 0]]
    for pair, (a, b) in enumerate(((0, 1), (1, 2))):
        counted = zip((board.rows @ board.basis).tolist(), board.counts[pair].tolist(), strict=True)
        held = Counter({tuple(row): count for row, count in counted if count})
        given = Counter()
        for row in (values[a] - values[b]).tolist():
            sign = next((1 if each > 0 else -1 for each in row if each), 0)
            given[tuple(sign * each for each in row)] += sign != 0
        assert held == given
        assert (board.observed[pair] @ board.basis).tolist() == (values[a] - values[b]).sum(axis=0).tolist()
    assert make_board(np.random.default_rng(1).integers(0, 9, (2, 4, 3)), np.array([[0, 1]])) is None


@pytest.mark.parametrize(("wins", "losses"), [(70, 40), (400, 20), (1000, 0), (3000, 1000)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_reference_path_is_a_binomial(wins, losses, alternative):
    """Ten digits of a sum of binomial coefficients."""
    n, one = wins + losses, np.ones((1, 1), np.int64)
    k = {"two-sided": max(wins, losses), "greater": wins, "less": losses}[alternative]
    tail = sum(math.comb(n, j) for j in range(k, n + 1)) * (1 + (alternative == "two-sided"))
    lattice = Lattice(one, np.array([n]), np.array([wins - losses]), one)
    criterion = Extreme(np.array([float(wins - losses)]), np.array([0.5]), alternative)
    about = float(binom.logsf(k - 1, n, 0.5)) + math.log(2) * (alternative == "two-sided")
    found = reference_p(lattice, np.asarray, criterion, about)
    assert found[:2] == ten_digits(Fraction(tail, 2**n))
    tested = permutation_test(
        np.r_[np.ones(wins), np.zeros(losses)],
        np.r_[np.zeros(wins), np.ones(losses)],
        metric="accuracy",
        alternative=alternative,
    )
    assert (tested.p_value, tested.log10_p) == found[:2]


def test_ties_between_decimals_are_settled():
    """P = 41 / 4096 lies halfway between two numbers of ten digits: whole outcomes decide."""
    large, small = 10**4 * np.ones(12, int), np.ones(60, int)
    differences = np.r_[large, small]
    lattice = Lattice(np.array([[1], [10**4]]), np.array([60, 12]), np.array([differences.sum()]), np.ones((1, 1), int))
    # At most two of the large ones negative, among 12: 1 + 12 + 66 of 4096.
    criterion = Extreme(np.array([8e4 - 100.0]), np.array([0.5]), "greater")
    found = reference_p(lattice, np.asarray, criterion, math.log(79 / 4096))
    assert found[0] == 0.01928710938 == float(Context(prec=10).plus(Decimal(79) / 4096))


def test_rounding_leaves_open_what_errors_do():
    p_value, *_ = round_p_values(np.log([0.12345678905, 0.12345678901]), np.full(2, 1e-12), np.array([99, 99]))
    assert np.isnan(p_value).tolist() == [True, False]
    assert p_value[1] == 0.123456789
    assert round_p_values(np.zeros(1), np.zeros(1), np.array([99]))[2] == 0.0
    few = round_p_values(np.log([3 / 2**20]), np.array([1e-13]), np.array([20]))
    assert (few[0, 0], few[2, 0]) == (3 / 2**20, 0.0)
    low, high = round_outwards(1 / 3, 2 / 3)
    assert (low, high) == (0.333333, 0.666667)
