"""Sums in one order: that of Python's floats, added up as the docstring says, for all widths and layouts of memory."""

import math

import numpy as np
import pytest

from sigjax import Evaluation, InputError, compare
from sigjax.resample.units import fixed_point, total, variance

WIDTHS = [*range(1, 70), 1000, 1023, 1024, 1025, 8193, 32768, 32769, 100_000]


def in_order(numbers):
    """What `total` promises, in Python's floats."""
    while len(numbers) > 32:
        step = math.ceil(len(numbers) / 32)
        rows = [numbers[start : start + step] for start in range(0, len(numbers), step)]
        added = rows[0]
        for row in rows[1:]:
            added = [one + other for one, other in zip(added, row, strict=False)] + added[len(row) :]
        numbers = added
    found = numbers[0]
    for number in numbers[1:]:
        found += number
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_numbers_are_added_up_in_one_order(width):
    """Along the last axis, whichever axis is last in memory, and of every other number."""
    values = np.random.default_rng(width).standard_normal((3, width)) * 10.0 ** np.arange(3)[:, None]
    expected = [in_order(row) for row in values.tolist()]
    apart = np.zeros((3, 2 * width))
    apart[:, ::2] = values
    for layout in (values, np.asfortranarray(values), apart[:, ::2]):
        assert total(layout).tolist() == expected
    assert float(total(values[0])) == expected[0]


def test_rounding_grows_slowly():
    """Against exact sums: of a million numbers of one sign a few units in the last place."""
    values = np.random.default_rng(0).random(1_000_001)
    exact = math.fsum(values)
    assert abs(float(total(values)) - exact) <= 8 * math.ulp(exact)
    mean = exact / len(values)
    expected = math.fsum((values - mean) ** 2) / (len(values) - 1)
    assert abs(float(variance(values)) - expected) <= 16 * math.ulp(expected)


@pytest.mark.parametrize("large", [1e140, 9e139, 1.5, 1.0])
@pytest.mark.parametrize("small", [5e-324, 1e-310, 1e-200])
def test_numbers_below_any_step_are_refused_without_a_warning(large, small):
    """A sum of numbers next to 0, counted in steps, is 0 in doubles; pytest makes an error of every warning."""
    arrays = {"A": [large, 0.0, large], "B": [small, 0.0, 0.0]}
    with pytest.raises(InputError, match="the numbers of system 'B' are too small beside the largest numbers"):
        compare(Evaluation.from_arrays(arrays), device="numpy")
    units = fixed_point(np.array([[large, 0.0], [small, large]]), 2**40)
    assert units.values[1].tolist() == [0, units.values[0, 0]]
