"""What reports say of p-values that cannot be small: of one unit, and of sampled pairs beside exact ones."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import STATSMODELS, adjusted_p

from sigjax import Evaluation, compare
from sigjax.comparison.notes import out_of_reach, too_few_units
from sigjax.exact.null import ExactP
from sigjax.records import Column, Comparisons, Settings
from sigjax.testing.p_values import exact_columns, sampled_columns
from sigjax.testing.problem import SumsProblem


def counts() -> dict[str, dict[str, list[int]]]:
    """A and B differ in one statistic, C from both in two, on 300 instances."""
    rng = np.random.default_rng(0)
    best = rng.integers(3, 7, 300)
    fewer, fewest = (np.maximum(best - (rng.random(300) < share), 0) for share in (0.45, 0.6))
    predicted = {"A": best * 0 + 7, "B": best * 0 + 7, "C": fewest + rng.integers(0, 5, 300)}
    right = {"A": best, "B": fewer, "C": fewest}
    return {
        name: {
            f"i{i}": [tp, own, 6]
            for i, (tp, own) in enumerate(zip(right[name].tolist(), predicted[name].tolist(), strict=True))
        }
        for name in "ABC"
    }


@pytest.fixture
def at_floor(monkeypatch):
    """Nothing is drawn by importance sampling, as where that is over the budget."""
    monkeypatch.setattr(SumsProblem, "beyond_floor", lambda self, sampled, rows, context: sampled)


@pytest.mark.parametrize("lacking", [0, 30])
@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"budget": 0.002}, ["budget"]),
        ({"memory": 1e-4}, ["memory"]),
        ({"memory": 1e-4, "budget": 0.002}, ["memory", "budget"]),
    ],
)
@pytest.mark.usefixtures("at_floor")
def test_the_named_option_makes_all_pairs_exact(given, named, lacking):
    data = counts()
    data["C"] = dict(list(data["C"].items())[lacking:])
    evaluation = Evaluation.from_arrays(data, metric="fscore", missing="pairwise")
    (note,) = (each for each in run(evaluation, **given).notes if "sampled pair" in each)
    said = (
        r"fscore: p of 1 sampled pair is the least there can be, 0\.001, beside exact p down to \d\.\de-\d+; (.*) makes"
    )
    options = {name: float(value) for name, value in re.findall(r"--(\w+) (\S+)", re.match(said, note)[1])}
    assert list(options) == named
    assert {one.method for one in run(evaluation, **given)} == {"exact", "montecarlo"}
    exact = run(evaluation, **given | options)
    assert {one.method for one in exact} == {"exact"}
    assert not [each for each in exact.notes if "sampled" in each]


def run(evaluation, **options):
    return compare(evaluation, device="numpy", resamples=1000, progress=False, **options)


@pytest.mark.usefixtures("at_floor")
def test_no_option_is_named_where_none_makes_all_exact():
    rng = np.random.default_rng(1)
    values = {"A": rng.normal(2.0, 1.0, 200), "B": rng.normal(1.0, 1.0, 200), "C": rng.normal(10.0, 1.0, 200)}
    table = {name: np.stack([own, np.ones(200)], 1) for name, own in values.items()}
    table["C"][:, 1] = rng.normal(2.0, 0.1, 200)  # two statistics differ, and are reals
    (note,) = (each for each in run(Evaluation.from_arrays(table, metric="ratio")).notes if "sampled" in each)
    assert re.search(r"beside exact p down to \d\.\de-\d+$", note)


@pytest.mark.parametrize("options", [{}, {"alternative": "greater"}, {"method": "exact", "mid_p": True}])
@pytest.mark.parametrize("systems", ["AB", "ABC"])
def test_one_unit_can_show_nothing(systems, options):
    data = {name: [k, 2 * k] for k, name in enumerate(systems)}
    one, clustered = (
        run(Evaluation.from_arrays(own, clusters=labels), **options)
        for own, labels in (({name: own[:1] for name, own in data.items()}, None), (data, ["x", "x"]))
    )
    assert "One instance can show nothing: swapped or not" in str(one)
    assert "One unit (all instances are one cluster) can show nothing" in str(clustered)
    for report in (one, clustered):
        assert all(one.p_value >= 0.25 for one in report)
        assert "probability" not in str(report)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(STATSMODELS)),
    st.lists(st.sampled_from([1e-9, 0.001, 0.004, 0.02, 0.03, 0.2, 1.0]), max_size=5),
    st.integers(1, 3),
    st.integers(2, 60),
)
def test_the_resamples_named_are_the_fewest_with_which_a_decision_is_possible(correction, exact, sampled, drawn):
    """By statsmodels, with no extreme resample: one fewer is not enough, and without a note those drawn are."""
    known = exact_columns([ExactP(p, np.log10(p)) for p in exact])
    least = np.full(sampled, 1 / (drawn + 1))
    drawn_ones = sampled_columns(np.zeros(sampled, int), least, drawn, Column.constant("", sampled))
    pairs = Comparisons.joined([known, drawn_ones])
    notes = out_of_reach({"permutation": pairs}, "pairs", Settings(correction=correction, resamples=drawn))

    def is_possible(resamples):
        p_values = exact + [1 / (resamples + 1)] * sampled
        return min(adjusted_p(p_values, correction)[-sampled:]) < 0.05 * (1 - 1e-12)

    named = [int(number) for note in notes for number in re.findall(r"use --resamples (\d+)$", note)]
    assert len(named) == len(notes) <= 1
    fewest = named[0] if named else drawn
    assert is_possible(fewest)
    assert not named or (fewest > drawn and not is_possible(fewest - 1))


@pytest.mark.parametrize("correction", STATSMODELS)
@pytest.mark.parametrize("units", range(5, 12))
def test_few_units_are_told_by_the_least_adjusted_p_value(correction, units):
    """Six pairs, all with the least p of so many units, by statsmodels."""
    least = adjusted_p([2.0 ** (1 - units)] * 6, correction)[0]
    notes = too_few_units(units, 6, Settings(correction=correction))
    assert bool(notes) == (least >= 0.05)
    assert all(f"adjusted at least {least:.3g}" in note for note in notes if least > 2.0 ** (1 - units))
