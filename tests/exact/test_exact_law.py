"""Whole laws of random-sign sums: against counts of all signs, and the binomial law."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from sigjax.exact import null as signs
from sigjax.exact.lattice import pair_lattice
from sigjax.exact.null import sign_law


def counted(differences):
    """How many of the 2^n signs give each sum, in whole numbers."""
    sums = Counter({(0,) * differences.shape[1]: 1})
    for row in differences.tolist():
        after = Counter()
        for value, count in sums.items():
            for sign in (1, -1):
                after[tuple(v + sign * d for v, d in zip(value, row, strict=True))] += count
        sums = after
    return sums


@pytest.mark.parametrize("most_signs", [20, 0], ids=["signs", "grid"])
@pytest.mark.parametrize(("num_units", "axes"), [(1, 1), (4, 1), (30, 1), (3, 2), (9, 2), (40, 2)])
def test_laws_are_those_of_all_signs(num_units, axes, most_signs, monkeypatch):
    monkeypatch.setattr(signs, "MOST_SIGNS", most_signs)
    differences = np.random.default_rng(num_units).integers(-3, 4, (num_units, axes))
    lattice = pair_lattice(differences, np.zeros_like(differences), ("x", "y")[:axes])
    (sums, shares), chances = sign_law(lattice), Counter()
    for value, chance in zip((sums @ lattice.basis).tolist(), shares.tolist(), strict=True):
        chances[tuple(value)] += chance
    for value, count in counted(differences).items():
        assert chances.pop(value, 0.0) == pytest.approx(count / 2.0**num_units, abs=1e-14)
    assert sum(chances.values()) < 1e-14


def test_a_window_holds_all_that_counts():
    ones = np.ones((20_000, 1), int)
    sums, chances = sign_law(pair_lattice(ones, np.zeros_like(ones), ("x",)))
    heads = (sums[:, 0] + 20_000) // 2
    assert len(heads) < 3_000
    np.testing.assert_allclose(chances, binom.pmf(heads, 20_000, 0.5), rtol=0, atol=1e-14)
    assert chances.sum() == pytest.approx(1.0, abs=1e-11)
