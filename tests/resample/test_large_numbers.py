"""Numbers that are large beside their differences: against fractions, and against the same numbers less what is shared.

A mean moves with its numbers, so that nothing but the scores themselves may change.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import sigjax
from sigjax import Evaluation, InputError, compare
from sigjax.resample.units import make_units

OFFSETS = [10**power for power in range(3, 16)]
ENDS = {"interval", "p_interval"}


def exact_p(differences, alternative="two-sided"):
    """The permutation p-value of sums of whole numbers of any length, by enumeration."""
    observed, hits = sum(differences), 0
    for signs in itertools.product((1, -1), repeat=len(differences)):
        value = sum(sign * each for sign, each in zip(signs, differences, strict=True))
        hits += {"two-sided": abs(value) >= abs(observed), "greater": value >= observed}[alternative]
    return Fraction(hits, 2 ** len(differences))


def jackknife_error(values, clusters):
    """The standard error of a mean without one cluster at a time, the others standing for all."""
    sums, sizes = {}, {}
    for cluster, value in zip(clusters, values, strict=True):
        sums[cluster], sizes[cluster] = sums.get(cluster, 0) + value, sizes.get(cluster, 0) + 1
    total, count = sum(sums.values()), sum(sizes.values())
    moves = [total / count - (total - sums[each]) / Fraction(count - sizes[each]) for each in sums]
    return math.sqrt(Fraction(len(sums) - 1, len(sums)) * sum(move**2 for move in moves))


def fractions(numbers):
    return [Fraction(number) for number in numbers]


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(
    "kind", ["steps", "quarters", *(pytest.param(each, marks=pytest.mark.slow) for each in ("constant", "negative"))]
)
def test_few_numbers_by_fractions(offset, kind):
    rng = np.random.default_rng(offset % 1009)
    base = {"steps": offset + np.arange(12) * (offset // 7), "negative": np.full(12, -offset)}.get(kind)
    base = np.full(12, offset) if base is None else base
    a, b = ((base + rng.integers(0, 7, 12)).tolist() for _ in range(2))
    if kind == "quarters":
        a, b = (
            [each + part / 4 for each, part in zip(base.tolist(), rng.integers(0, 9, 12), strict=True)] for _ in "ab"
        )
    for clusters in (None, list("aaaabbbccdef")):
        labels = clusters or list(range(12))
        report = compare(Evaluation.from_arrays({"A": a, "B": b}, clusters=clusters))
        (one,), d = report, [x - y for x, y in zip(fractions(a), fractions(b), strict=True)]
        units = [
            sum(each for each, own in zip(d, labels, strict=True) if own == label) for label in dict.fromkeys(labels)
        ]
        assert one.delta == pytest.approx(float(sum(d) / 12), rel=1e-9, abs=1e-12)
        assert one.p_value == pytest.approx(float(exact_p(units)), rel=1e-12)
        assert one.standard_error == pytest.approx(jackknife_error(d, labels), rel=1e-7)
        for system, numbers in (("A", fractions(a)), ("B", fractions(b))):
            (own,) = (each for each in report.systems if each.name == system)
            assert own.score == pytest.approx(float(sum(numbers) / 12), rel=1e-15)
            assert own.standard_error == pytest.approx(jackknife_error(numbers, labels), rel=1e-7)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("count", [5, 1000, 100_000])
def test_many_numbers_as_without_the_offset(offset, count):
    """The example of the sums: exact p down to 1e-35 and below."""
    small = {"A": np.arange(count) % 7, "B": np.arange(count) % 5}
    expected, found = (compare({name: own + moved for name, own in small.items()}) for moved in (0, offset))
    same_pairs(expected, found)
    same_systems(expected, found, offset)


def near(value, least):
    return None if value is None else pytest.approx(value, rel=1e-7, abs=least)


def same_pairs(expected, found):
    for one, other in zip(expected, found, strict=True):
        for name in ("a", "b", "better", "method", "exceed", "reason"):
            assert getattr(one, name) == getattr(other, name)
        for name in ("delta", "p_value", "log10_p", "p_adjusted", "standard_error", "standard_error_unclustered"):
            assert getattr(other, name) == near(getattr(one, name), 1e-14), name
        for name in ENDS:
            # The level at which intervals hold together is that of normal draws, of other systems for other origins.
            least = 0.1 * one.standard_error if one.settings.interval == "simultaneous" else 1e-9
            assert getattr(other, name) == near(getattr(one, name), least), name


def same_systems(expected, found, offset):
    assert [each.name for each in found.systems] == [each.name for each in expected.systems]
    for one, other in zip(expected.systems, found.systems, strict=True):
        assert other.score == pytest.approx(one.score + offset, rel=4e-16)
        assert other.standard_error == near(one.standard_error, 0.0)
        assert (other.rank_interval, other.letters) == (one.rank_interval, one.letters)
        if one.interval:
            ends = [end + offset for end in one.interval]
            assert list(other.interval) == pytest.approx(ends, rel=1e-15, abs=1e-7)


def layouts():
    rng = np.random.default_rng(3)
    lab = np.sort(rng.integers(0, 12, 30))
    ids, runs = [f"i{i}" for i in range(10)] * 3, [r for r in range(3) for _ in range(10)]
    return {
        "plain": {},
        "clusters": {"clusters": [f"c{i}" for i in lab]},
        "strata": {"strata": [f"s{i % 2}" for i in range(30)]},
        "clusters in strata": {"clusters": [f"c{i}" for i in lab], "strata": [f"s{i % 2}" for i in lab]},
        "runs": {"ids": ids, "runs": runs},
    }


WAYS = [
    *(("plain", {"interval": kind}) for kind in ("percentile", "basic", "bca", "studentized")),
    *(("clusters", {"interval": kind}) for kind in ("auto", "percentile", "bca", "studentized")),
    *((layout, {"interval": "simultaneous", "resamples": 100_000})
      for layout in ("plain", "strata", "clusters in strata")),
    *(("plain", {"test": "bootstrap", "alternative": side}) for side in ("two-sided", "greater")),
    *(("plain", {"method": "montecarlo", "device": device, "test": ("permutation", "bootstrap")})
      for device in ("numpy", "cpu")),
    *((layout, {"correction": "maxt"}) for layout in ("plain", "clusters")),
    *(("runs", {"design": design}) for design in ("together", "crossed", "nested", "models")),
    ("plain", {"leaderboard": True}),
    ("strata", {"mid_p": True, "method": "exact"}),
    ("plain", {"resamples": "auto", "method": "montecarlo"}),
]  # fmt: skip


@pytest.mark.parametrize(("layout", "options"), WAYS, ids=lambda each: str(each))
@pytest.mark.parametrize(
    "offset", ["constant", *(pytest.param(each, marks=pytest.mark.slow) for each in ("by instance", "decimal"))]
)
def test_every_way_gives_what_it_gives_without_the_offset(layout, options, offset):
    """Three systems: all designs, tests, intervals, corrections and devices."""
    rng, labels = np.random.default_rng(8), layouts()[layout]
    small = {name: rng.integers(0, 9, 30) + shift for name, shift in (("A", 0), ("B", 1), ("C", 1))}
    many, scale = 10**14 + 3, 1
    moved = np.full(30, many)
    if offset == "by instance":
        moved = np.tile(rng.integers(10**12, 10**14, 10), 3)
    if offset == "decimal":
        moved, scale = np.full(30, 10**14 + 7), 1000
    options = {"seed": 2, "resamples": 999} | options

    def report(numbers):
        return compare(Evaluation.from_arrays(numbers, **labels), **options)

    expected = report({name: own if scale == 1 else own / scale for name, own in small.items()})
    found = report({name: own + moved if scale == 1 else (own + moved) / scale for name, own in small.items()})
    same_pairs(expected, found)
    if offset == "constant":
        same_systems(expected, found, many)
        without_scores = [
            [note for note in each.notes if "interval of its score is" not in note] for each in (expected, found)
        ]
        assert without_scores[0] == without_scores[1]


def share(sums):
    return sums[..., 0] / sums[..., 1]


def total(sums):
    return sums[..., 0]


@pytest.mark.parametrize("offset", [10**12, 10**13, 10**15])
def test_what_rounding_takes_from_other_metrics_is_refused(offset):
    a, b = ([[offset + i % step] for i in range(60)] for step in (7, 5))
    with pytest.raises(InputError, match="'A' and 'B' differ by too little beside the numbers"):
        compare({"A": a, "B": b}, read={"metric": total})
    counts = [[[each, each + 3, offset + 9] for (each,) in own] for own in (a, b)]
    with pytest.raises(InputError, match="'A' and 'B' differ by too little beside the numbers"):
        compare(dict(zip("AB", counts, strict=True)), read={"metric": "f1"})


def test_what_other_metrics_do_not_lose_is_kept():
    """A statistic that does not matter, systems that are alike, and scores that agree whatever the counts."""
    a = [[10**12 + i, 1] for i in range(20)]
    assert compare({"A": a, "B": a}, read={"metric": total})[0].p_value == 1.0
    (one,) = compare(
        {"A": [[5, 10**12 + i] for i in range(20)], "B": [[4 + i % 2, 10**12] for i in range(20)]},
        read={"metric": total},
    )
    assert one.delta == 10.0
    (one,) = compare({"A": [[10**9 + i] * 2 for i in range(20)], "B": [[10**9] * 2] * 20}, read={"metric": share})
    assert (one.delta, one.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("offset", [10**6, 10**10, 10**13, 10**15])
def test_studies(offset):
    rng = np.random.default_rng(4)
    a, b, c = (rng.integers(0, 9, size) for size in (14, 14, 9))
    one, other = (sigjax.one_sample(a + moved, against=3 + moved)[0] for moved in (0, offset))
    assert (other.test, other.method, other.p_value) == (one.test, one.method, one.p_value)
    assert (other.delta, other.standard_error) == pytest.approx((one.delta, one.standard_error), rel=1e-9)
    one, other = (sigjax.unpaired({"A": a + moved, "B": c + moved})[0] for moved in (0, offset))
    assert (other.p_value, other.rank_sum.p_value) == (one.p_value, one.rank_sum.p_value)
    assert (other.delta, *other.interval) == pytest.approx((one.delta, *one.interval), rel=1e-9)
    assert other.standard_error == pytest.approx(one.standard_error, rel=1e-9)
    assert other.score_a == pytest.approx(one.score_a + offset, rel=4e-16)
    for method in ("auto", "bootstrap"):
        pairs = [sigjax.equivalence_test(a + moved, b + moved, margin=4.0, method=method) for moved in (0, offset)]
        one, other = ((each.delta, *each.interval, each.p_value, each.standard_error) for each in pairs)
        assert other == pytest.approx(one, rel=1e-9)
    one, other = (sigjax.classical_tests(a + moved, b + moved) for moved in (0, offset))
    assert [each.name for each in other] == [each.name for each in one]
    values = [[(each.statistic, each.p_value) for each in tests] for tests in (one, other)]
    assert np.array(values[1]) == pytest.approx(np.array(values[0]), rel=1e-9)
    assert (other.correlation, other.factor) == pytest.approx((one.correlation, one.factor), rel=1e-9)
    pilots = [Evaluation.from_arrays({"A": a + moved, "B": b + moved}) for moved in (0, offset)]
    one, other = (sigjax.power(each, instances=[10, 40], repetitions=50, resamples=199) for each in pilots)
    assert [each.power for each in other.points] == [each.power for each in one.points]


def test_the_examples_of_reals():
    a, b = [1e15 + 0.5, 1e15 + 0.25, 3.0], [1e15, 1e15, 1.0]
    (one,) = compare({"A": a, "B": b})
    assert (one.delta, one.p_value) == (pytest.approx(2.75 / 3), 0.25)
    (one,) = compare({"A": [1_700_000_000.000_001 + i for i in range(6)], "B": [1_700_000_000.0 + i for i in range(6)]})
    assert one.delta == pytest.approx(1e-6, rel=1e-9)
    assert one.p_value == 2 / 2**6


def test_time_stamps():
    """Microseconds."""
    start = [1_700_000_000_000_000 + 86_400_000_000 * day for day in range(5)]
    late = [each + more for each, more in zip(start, (3, 5, 2, 4, 4), strict=True)]
    (one,) = compare({"A": late, "B": start})
    assert (one.delta, one.p_value) == (pytest.approx(3.6, rel=1e-12), 0.0625)


@pytest.mark.parametrize("offset", [10**8, 10**12, 10**15])
def test_ratios_of_shared_sizes(offset):
    rng = np.random.default_rng(1)
    sizes, small = rng.integers(1, 4, 14), rng.integers(0, 9, (2, 14))
    reports = [
        compare(
            {name: np.column_stack([own + each * sizes, sizes]) for name, own in zip("AB", small, strict=True)},
            read={"metric": "ratio"},
        )
        for each in (0, offset)
    ]
    same_pairs(*reports)
    same_systems(*reports, offset)


def test_far_systems_are_refused_or_right():
    small = {"A": [i % 7 for i in range(1000)], "B": [i % 5 for i in range(1000)]}
    large = {name: [10**12 + each for each in own] for name, own in small.items()}
    with pytest.raises(InputError, match="compare these two apart"):
        compare(large | {"C": [0] * 1000})
    (one,) = compare({"A": large["A"], "B": small["B"]})
    assert one.standard_error == pytest.approx(compare(small)[0].standard_error, rel=1e-9)


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("count", [30, 2000])
@pytest.mark.slow
def test_reals_as_without_the_offset(offset, count):
    """What is left of reals once the offset has been added, by fractions, and by the same reals less the offset."""
    numbers = np.random.default_rng(7).normal([[0.1], [0.0]], 1.0, (2, count)) + offset
    small = {
        name: [float(each - Fraction(offset)) for each in fractions(own)]
        for name, own in zip("AB", numbers, strict=True)
    }
    differences = [a - b for a, b in zip(*map(fractions, numbers), strict=True)]
    for options in ({}, {"method": "montecarlo"}, {"test": "bootstrap", "interval": "percentile"}):
        options = {"resamples": 2000, "device": "numpy"} | options
        expected, found = compare(small, **options), compare(dict(zip("AB", numbers, strict=True)), **options)
        same_pairs(expected, found)
        assert found[0].p_value == expected[0].p_value
        assert found[0].delta == pytest.approx(float(sum(differences) / count), rel=1e-12)


@pytest.mark.parametrize("count", [64, 1024])
def test_reals_that_differ_by_few_steps_are_refused_however_many_there_are(count):
    """Steps are those of fixed point, to which reals are rounded: a difference of 2^14 of them has lost digits."""
    rng = np.random.default_rng(0)
    numbers, signs = rng.uniform(1.0, 2.0, count), rng.choice([-1.0, 1.0], count)
    ones = np.ones(count)

    def root(sums):
        return (sums[..., 0] / sums[..., 1]) ** 0.5

    def evaluation(apart):
        systems = {"A": numbers + apart * signs, "B": numbers}
        return Evaluation.from_arrays({k: np.stack([v, ones], 1) for k, v in systems.items()}, metric=root)

    step = 1.0 / make_units(evaluation(1e-3)).divisors[0]
    compare(evaluation(2.0**19 * step), interval="none", progress=False)
    with pytest.raises(InputError, match="differ by too little"):
        compare(evaluation(2.0**14 * step), interval="none", progress=False)


@pytest.mark.parametrize("count", [20, 60, 200])
@pytest.mark.parametrize("divisor", [3, 7, 11])
def test_sums_of_fractions_tie_where_they_are_equal_as_real_numbers(count, divisor):
    """Each fraction is rounded, so that sums that are equal differ by many roundings."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        whole = {name: rng.integers(0, 5, count) for name in "AB"}
        reals = {name: numbers / divisor for name, numbers in whole.items()}
        sampled = {"resamples": 999, "method": "montecarlo", "device": "numpy", "seed": seed}
        for options in (sampled, *[{"method": "exact"}][: count == 20]):
            (expected,), (found,) = (compare(each, interval="none", **options) for each in (whole, reals))
            assert found.p_value == pytest.approx(expected.p_value, rel=1e-12)
