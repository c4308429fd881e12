"""Distributions of a report: against enumeration, and against the p-values of the same resamples."""

import json
from itertools import product

import numpy as np
import pytest

from sigjax import Evaluation, InputError, Report, compare

RNG = np.random.default_rng(15)
RIGHT = {"A": [1, 1, 1, 0, 1, 1, 1], "B": [0, 1, 0, 0, 1, 0, 1]}
REAL = {name: RNG.normal(shift, 1.0, 40) for name, shift in (("A", 0.3), ("B", 0.0), ("C", 0.1))}
GOLD = RNG.integers(1, 6, 60)
COUNTS = {
    name: np.stack([RNG.integers(0, np.minimum(guessed, GOLD) + 1), guessed, GOLD], axis=1)
    for name, guessed in ((name, RNG.integers(0, 6, 60)) for name in "AB")
}
RUNS = Evaluation.from_arrays(
    {name: RNG.integers(0, 5, 60) for name in "AB"}, ids=[str(i // 3) for i in range(60)], runs=[*"xyz"] * 20
)
FEW = {name: RNG.integers(0, 9, 8) for name in "AB"}
SAMPLED = {
    "mean": (REAL, {}),
    "fscore": (COUNTS, {"read": {"metric": "fscore"}}),
    "median": (REAL, {"read": {"metric": "median"}, "resamples": 700}),
    "greater": (REAL, {"alternative": "greater", "variant": "flip"}),
    "crossed": (RUNS, {"test": "permutation", "design": "crossed"}),
    "models": (RUNS, {"test": "permutation", "design": "models"}),
    "nested": (RUNS, {"design": "nested"}),
}
"""Reports whose p-values come from resamples."""


def both(data, **options):
    return compare(data, **{"test": ["permutation", "bootstrap"], **options})


@pytest.mark.parametrize("name", SAMPLED)
def test_tails_hold_the_resamples_that_the_test_counts(name):
    data, options = SAMPLED[name]
    report = both(data, method="montecarlo", **{"resamples": 3000, **options})
    for one in report:
        found = report.distribution(one.a, one.b, test=one.test)
        assert found.resamples == one.resamples
        assert sum(found.shares) == pytest.approx(1.0, abs=1e-12)
        assert sum(found.extreme) * one.resamples == pytest.approx(one.exceed, abs=1e-6)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("data", "metric"), [(RIGHT, "accuracy"), (COUNTS, "fscore")], ids=["accuracy", "fscore"])
def test_tails_of_exact_laws_are_the_p_values(data, metric, alternative):
    report = compare(data, read={"metric": metric}, alternative=alternative, method="exact")
    found = report.distribution("A", "B")
    assert found.resamples is None
    assert sum(found.extreme) == pytest.approx(report[0].p_value, abs=5e-9)
    if metric == "accuracy":
        (one,) = compare(data, read={"metric": metric}, alternative=alternative, test="bootstrap")
        assert sum(report.distribution("A", "B", test="bootstrap").extreme) == pytest.approx(one.p_value, abs=5e-9)


@pytest.mark.parametrize(
    ("data", "options"),
    [(RUNS, {"design": "crossed"}), (RUNS, {"design": "models"}), (FEW, {"read": {"metric": "median"}})],
    ids=["crossed", "models", "median"],
)
def test_all_exchanges_are_listed_where_they_are_few(data, options):
    report = compare(data, **options)
    found = report.distribution("A", "B")
    assert (report[0].method, found.resamples) == ("exact", None)
    assert sum(found.extreme) == pytest.approx(report[0].p_value, abs=5e-9)


@pytest.mark.parametrize(
    ("values", "method"), [(RNG.integers(0, 2000, (2, 300)), "exact"), (RNG.random((2, 60)), "montecarlo")]
)
def test_exchanges_are_drawn_where_they_cannot_be_listed_or_are_too_many(values, method):
    """An exact test may take seconds, a figure may not."""
    labels = {"ids": [str(i // 3) for i in range(values.shape[1])], "runs": [*"xyz"] * (values.shape[1] // 3)}
    data = Evaluation.from_arrays(dict(zip("AB", values, strict=True)), **labels)
    report = compare(data, design="crossed", resamples=999, interval="none")
    found = report.distribution("A", "B")
    assert (report[0].method, found.resamples) == (method, 999)
    assert sum(found.extreme) == pytest.approx(report[0].p_value, abs=0.06)


def test_mid_p_counts_ties_half():
    report = compare(RIGHT, read={"metric": "accuracy"}, method="exact", mid_p=True)
    assert sum(report.distribution("A", "B").extreme) == pytest.approx(report[0].p_value, abs=5e-9)


def test_exact_laws_are_those_of_enumeration():
    report = compare(RIGHT, read={"metric": "accuracy"})
    differences = np.subtract(*RIGHT.values())
    swapped = np.array([np.dot(signs, differences) for signs in product([1, -1], repeat=7)]) / 7
    drawn = np.array([differences[list(draw)].sum() for draw in product(range(7), repeat=7)]) / 7
    for test, deltas in (("permutation", swapped), ("bootstrap", drawn)):
        found = report.distribution("A", "B", test=test)
        values = (np.array(found.edges)[1:] + found.edges[:-1]) / 2
        assert found.observed == pytest.approx(3 / 7)
        for value, share in zip(values, found.shares, strict=True):
            assert share == pytest.approx(np.mean(np.isclose(deltas, value)), abs=2e-9), (test, value)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_a_turned_distribution_is_the_mirror_image(alternative, test):
    rng = np.random.default_rng(0)
    data = Evaluation.from_arrays({"A": rng.exponential(1.0, 20), "B": rng.exponential(0.7, 20)})
    report = compare(data, alternative=alternative, test=[test], resamples=500, interval="none")
    there = report.distribution("A", "B", test=test)
    turned = there.turned()
    assert turned.turned() == there
    assert (turned.a, turned.b, turned.observed) == ("B", "A", -there.observed)

    def bins(one, sign):
        ends = sorted(sign * edge for edge in one.edges)
        order = slice(None, None, sign)
        return list(zip(ends[:-1], ends[1:], one.shares[order], one.extreme[order], strict=True))

    assert bins(there, -1) == bins(turned, 1)
    assert alternative == "two-sided" or turned.extreme != there.extreme


def test_identical_systems_have_one_bin():
    found = compare({"A": [1.0, 2.0, 3.0], "B": [1.0, 2.0, 3.0]}).distribution("A", "B")
    assert (found.edges, found.shares, found.extreme) == ((-0.5, 0.5), (1.0,), (1.0,))


def test_a_report_without_its_data_has_none():
    text = both(REAL).to_json()
    with pytest.raises(InputError, match="no data to compute a permutation distribution from; compare the files again"):
        Report.from_json(text).distribution("A", "B")


def test_distributions_that_older_reports_hold_are_not_read():
    report = both(REAL)
    older = {**json.loads(report.to_json()), "distributions": [{"a": "A", "b": "B"}]}
    del older["checksum"]
    assert Report.from_json(json.dumps(older)) == report


def test_what_is_not_there_is_refused():
    with pytest.raises(InputError, match="no system 'D'; did you mean"):
        compare(REAL).distribution("A", "D")
    many = compare({f"s{i:02}": [i % 2, 1, i % 3, 0] for i in range(14)}, interval="none")
    with pytest.raises(InputError, match=r"no system 'zz'; did you mean ('s\d\d' or ){11}'s11'\?$"):
        many.distribution("s00", "zz")
    with pytest.raises(InputError, match="are not compared in this report"):
        compare(REAL, baseline="A").distribution("B", "C")
    with pytest.raises(InputError, match="no bootstrap of a single unit"):
        compare({"A": [1], "B": [0]}).distribution("A", "B", test="bootstrap")
