"""Score intervals of proportions and of their paired differences, against other programs, papers and enumeration."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, norm
from statsmodels.stats.proportion import proportion_confint

from sigjax.testing.jackknife import tango_interval, wilson_interval


def _tables(num_instances):
    """All numbers of instances that only one of two systems has right."""
    return np.array([(b, c) for b in range(num_instances + 1) for c in range(num_instances + 1 - b)]).T


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("trials", [1, 2, 20, 57_755])
def test_wilson_is_that_of_statsmodels(trials, level):
    successes = np.unique(np.linspace(0, trials, 5000).astype(int))
    low, high = wilson_interval(successes, trials, level)
    expected = proportion_confint(successes, trials, alpha=1.0 - level, method="wilson")
    np.testing.assert_allclose(low, expected[0], rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(high, expected[1], rtol=1e-10)
    assert low[0] == 0.0
    assert high[-1] == 1.0


def test_tango_is_that_of_papers():
    # Tango (1998), disinfection of soft contact lenses: 43, 0, 1 and 0 of 44 pairs, 90%.
    np.testing.assert_allclose(tango_interval(0, 1, 44, 0.9), (-0.096, 0.037), atol=5e-4)
    # Fagerland, Lydersen and Laake (2014), airway hyper-responsiveness: 1, 1, 7 and 12 of 21 children.
    np.testing.assert_allclose(tango_interval(1, 7, 21, 0.95), (-0.517, -0.026), atol=5e-4)


@pytest.mark.parametrize(("trials", "level"), [(10, 0.95), (20, 0.9), (23, 0.99)])
def test_the_ends_are_just_not_rejected_by_the_score_test_with_numerical_maximum_likelihood(trials, level):
    b, c = _tables(trials)
    for end in tango_interval(b, c, trials, level):
        inside = np.abs(end) < 1.0 - 1e-12
        for only_a, only_b, delta in zip(b[inside][::7], c[inside][::7], end[inside][::7], strict=True):
            least = max(0.0, -delta)

            def deviance(q, only_a=only_a, only_b=only_b, delta=delta):
                chances = np.array([q + delta, q, 1.0 - 2.0 * q - delta])
                counts = np.array([only_a, only_b, trials - only_a - only_b])
                return -np.sum(np.where(counts > 0, counts * np.log(np.maximum(chances, 1e-300)), 0.0))

            most = (1.0 - delta) / 2.0
            q = minimize_scalar(deviance, bounds=(least, most), method="bounded", options={"xatol": 1e-12}).x
            q = min((least, q, most), key=deviance)
            z = (only_a - only_b - trials * delta) / np.sqrt(trials * (2.0 * q + delta - delta**2))
            assert abs(z) == pytest.approx(norm.ppf((1.0 + level) / 2.0), rel=2e-5)


@pytest.mark.parametrize("trials", [20, 150])
def test_tango_excludes_0_where_mcnemar_rejects(trials):
    b, c = _tables(trials)
    low, high = tango_interval(b, c, trials, 0.95)
    rejects = (b - c) ** 2 > chi2.ppf(0.95, 1) * (b + c)
    np.testing.assert_array_equal((low > 0.0) | (high < 0.0), rejects)
    np.testing.assert_allclose(tango_interval(c, b, trials, 0.95), (-high, -low), atol=1e-15)
    assert (low >= -1.0).all()
    assert (high <= 1.0).all()
    assert (low < (b - c) / trials + 1e-15).all()
