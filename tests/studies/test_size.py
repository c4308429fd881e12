"""Thresholds by the size of the test set: against exact power laws, least squares of NumPy, and separate studies."""

import math

import numpy as np
import pytest

import sigjax
from sigjax import Evaluation, InputError
from sigjax.resample import draws as bits
from sigjax.studies import size
from sigjax.studies.size import ThresholdAt, fit_power, fit_root, fit_sizes


def normal(systems=16, instances=800, step=0.05, **labels):
    """Normal systems: differences have the standard deviation sqrt(2)."""
    values = np.random.default_rng(0).normal(size=(systems, instances)) + step * np.arange(systems)[:, None]
    return Evaluation.from_arrays({f"s{k}": each for k, each in enumerate(values)}, **labels)


def test_laws_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    sizes, thresholds = np.array([50.0, 100, 200, 400]), rng.uniform(0.1, 1.0, (20, 4))
    thresholds[0, 1] = np.nan
    slopes, constants = fit_power(sizes, thresholds)
    roots = fit_root(sizes, thresholds)
    for row, slope, constant, root in zip(thresholds, slopes, constants, roots, strict=True):
        some = ~np.isnan(row)
        known = np.polyfit(np.log(sizes[some]), np.log(row[some]), 1)
        assert (slope, math.log(constant)) == pytest.approx(tuple(known))
        assert math.log(root) == pytest.approx(np.mean(np.log(row[some]) + 0.5 * np.log(sizes[some])))
    nothing = np.array([[np.nan] * 4, [0.5, *[np.nan] * 3]])
    assert np.isnan(fit_power(sizes, nothing)[0]).all()
    assert np.isnan(fit_root(sizes, nothing)).tolist() == [True, False]


@pytest.mark.parametrize("pairs", [100, 10])
def test_a_law_that_holds_is_found_with_its_size(pairs):
    """Thresholds 3 / sqrt(n): gain 0.1 needs n = 900; on draws c is 2 or 4, so n is 400 or 1,600."""
    drawn = np.where(np.arange(200) % 2, 2.0, 4.0)
    high = 4.0 if pairs == 100 else None
    series = [
        (
            ThresholdAt("m", "bootstrap", "range", 0, n, 3 / math.sqrt(n), 0.0, high and high / n**0.5, pairs, pairs),
            drawn / math.sqrt(n),
        )
        for n in (100, 400, 1600)
    ]
    fit = fit_sizes(series, 0.1, 0.95)
    assert fit is not None
    assert fit.exponent is not None
    assert fit.needed is not None
    assert fit.constant.value == pytest.approx(3.0)
    assert fit.constant.error == pytest.approx(np.std(drawn, ddof=1))
    assert (fit.constant.low, fit.constant.high) == (pytest.approx(2.0), high and pytest.approx(4.0))
    assert fit.misfit == pytest.approx(0.0, abs=1e-12)
    assert (fit.exponent.value, fit.free_constant) == (pytest.approx(-0.5), pytest.approx(3.0))
    assert fit.exponent.error == pytest.approx(0.0, abs=1e-9)
    assert (fit.needed.value, fit.needed.low) == (pytest.approx(900.0), pytest.approx(400.0))
    assert fit.needed.high == (pytest.approx(1600.0) if high else None)
    assert fit_sizes([], 0.1, 0.95) is None


def test_thresholds_of_normal_means_fall_with_the_root_of_the_size():
    study = size(normal(), sizes=[50, 100, 200, 400, 800], resamples=4_000, device="numpy", draws=200)
    by_normal = [at.threshold for at in study.points if at.by == "normal"]
    # The 95th percentile of estimated standard errors is a little above the true one, most on few instances.
    known = [1.645 * math.sqrt(2 / n) for n in (50, 100, 200, 400, 800)]
    assert by_normal == pytest.approx(known, rel=0.25)
    assert by_normal[-1] == pytest.approx(known[-1], rel=0.12)
    fit = study.fits[-1]
    assert fit.exponent is not None
    assert fit.constant.value == pytest.approx(1.645 * math.sqrt(2), rel=0.2)
    assert fit.exponent.value == pytest.approx(-0.5, abs=0.08)


def test_random_words_of_studies_are_those_of_no_test_and_of_no_other_study(monkeypatch):
    """Each has room for 2^38 resamples, trials, draws or orders; 2^42 is the last that the cipher tells apart."""
    rows, rows_of = [], bits.rows_of
    monkeypatch.setattr(bits, "rows_of", lambda key, resamples: (rows.append(resamples), rows_of(key, resamples))[1])
    data = Evaluation.from_arrays({name: np.random.default_rng(k).normal(size=40) for k, name in enumerate("ABC")})
    two = {"only": ["A", "B"], "repetitions": 3, "resamples": 99}
    sigjax.power(data, instances=[20], **two)
    sigjax.studies.audit(data, **two)
    sigjax.studies.audit(data, null="splits", **two)
    drawn = {int(each.min()) for each in rows}
    sigjax.studies.size(data, resamples=99, sizes=[20, 40], subsets="random", orders=2, p_range=(0.001, 0.999))
    drawn |= {int(each.min()) for each in rows}
    assert len(drawn) == 3
    assert (np.diff([0, *sorted(drawn), 2**42]) >= 2**38).all()


def test_default_sizes_and_gain():
    evaluation = Evaluation.from_arrays({name: np.arange(330) % k for k, name in ((5, "a"), (7, "b"), (7, "c"))})
    study = size(evaluation, resamples=500, device="numpy", draws=20, p_range=[0.0001, 0.9])
    assert sorted({at.size for at in study.points}) == [20, 41, 82, 165, 330]
    scores = sorted({one.score for one in sigjax.compare(evaluation, device="numpy", resamples=99).systems})
    assert [fit.gain for fit in study.fits] == pytest.approx([scores[-1] - scores[-2]] * len(study.fits))
    assert study.fits
    given = size(evaluation, resamples=500, device="numpy", draws=20, gain=0.25)
    assert {fit.gain for fit in given.fits} <= {0.25}


def test_refusals():
    with pytest.raises(InputError, match="sizes must be at most the 50 units of the data, got 60"):
        size(normal(4, 50), sizes=[60])
    with pytest.raises(InputError, match="gain must be a number above 0, got 0"):
        size(normal(4, 50), gain=0)
    with pytest.raises(InputError, match="p_range must be the lowest"):
        size(normal(4, 50), p_range=[0.1])
