"""What reports say of p-values that cannot be small: of one unit, and of sampled pairs beside exact ones."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import STATSMODELS, adjusted_p

from sigjax import Evaluation, compare
from sigjax.comparison.notes import out_of_reach, too_few_units
from sigjax.records import Column, Comparisons, Settings
from sigjax.testing.problem import exact_columns, sampled_columns


def run(evaluation, **options):
    return compare(evaluation, device="numpy", resamples=1000, progress=False, **options)


@pytest.mark.parametrize("options", [{}, {"alternative": "greater"}, {"method": "exact", "mid_p": True}])
@pytest.mark.parametrize("systems", ["AB", "ABC"])
def test_one_unit_can_show_nothing(systems, options):
    data = {name: [k, 2 * k] for k, name in enumerate(systems)}
    one, clustered = (
        run(Evaluation.from_arrays(own, clusters=labels), **options)
        for own, labels in (({name: own[:1] for name, own in data.items()}, None), (data, ["x", "x"]))
    )
    assert "One instance is not enough for a test: swapped or not" in str(one)
    assert "One unit (all instances are one cluster) is not enough for a test" in str(clustered)
    for report in (one, clustered):
        assert all(one.p_value >= 0.25 for one in report)
        assert "probability" not in str(report)


@settings(max_examples=40)
@given(
    st.sampled_from(sorted(STATSMODELS)),
    st.lists(st.sampled_from([1e-9, 0.001, 0.004, 0.02, 0.03, 0.2, 1.0]), max_size=5),
    st.integers(1, 3),
    st.integers(2, 60),
)
def test_the_resamples_named_are_the_fewest_with_which_a_decision_is_possible(correction, exact, sampled, drawn):
    """By statsmodels, with no extreme resample: one fewer is not enough, and without a note those drawn are."""
    known = exact_columns([(p, np.log10(p), 0.0) for p in exact], Column.constant("", len(exact)))
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


@pytest.mark.parametrize("options", [{}, {"alternative": "greater"}, {"mid_p": True}])
def test_no_p_value_is_below_what_a_note_calls_the_least(options):
    for units in range(2, 9):
        evaluation = Evaluation.from_arrays({"A": [1] * units, "B": [0] * units})
        report = run(evaluation, method="exact", interval="none", test="permutation", **options)
        (one,), said = report, re.findall(r"p is at least ([\d.]+)", "\n".join(report.notes))
        assert all(one.p_value >= max(float(least), 0.05) for least in said)
        assert said or options.get("mid_p") or one.p_value < 0.05


@pytest.mark.slow
def test_a_budget_that_is_enough_for_importance_sampling_is_named():
    """Below it the floor stays, and the note; with it p is known beyond the resamples, and nothing is said."""
    rng = np.random.default_rng(0)
    shares = np.linspace(0.3, 0.8, 12)[:, None, None]
    data = {f"system {k}": rng.binomial(9, share, (200, 4)) for k, share in enumerate(shares)}

    def ratio(sums):
        return sums[..., 0] * sums[..., 2] / (1.0 + sums[..., 1] * sums[..., 3] ** 0.5)

    def with_budget(budget):
        evaluation = Evaluation.from_arrays(data, metric=ratio)
        return run(evaluation, test="permutation", interval="none", budget=budget)

    (note,) = [str(note) for note in with_budget(1e-3).notes if "cannot become significant" in str(note)]
    seconds = int(re.search(r"use --resamples 1320, or --budget (\d+) \(importance sampling\)$", note)[1])
    report = with_budget(seconds)
    assert not any("cannot become significant" in str(note) for note in report.notes)
    assert any(one.method == "tilted" for one in report)
