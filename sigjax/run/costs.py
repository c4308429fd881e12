"""The cost of work, known before it is done: one kind of cost, and the only table of measured constants.

Plans, budgets, warnings of long work and the choice of a backend add these up. Seconds are nominal: NumPy's on one slow
core of 2025, the same on every machine, so that the same data take the same algorithm everywhere.
`python benchmarks/costs.py` measures the constants again, beside the table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """Nominal seconds, and bytes of memory held at a time.

    >>> LISTED_SUM * 2**10 + Cost(1e-3)
    Cost(seconds=0.00101536, num_bytes=40960.0)
    """

    seconds: float = 0.0
    num_bytes: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """The cost of both, one after the other; memory of both is held."""
        return Cost(self.seconds + other.seconds, self.num_bytes + other.num_bytes)

    def __mul__(self, times: float) -> Cost:
        """The cost of the same work, done `times` times."""
        return Cost(self.seconds * times, self.num_bytes * times)

    __rmul__ = __mul__

    @property
    def gib(self) -> str:
        """The memory in GiB, with three digits."""
        return gib_of(self.num_bytes)


def gib_of(num_bytes: float) -> str:
    """Bytes in GiB, with three digits.

    >>> gib_of(2**31)
    '2'
    """
    return f"{num_bytes / 2**30:,.3g}"


# Sampling by NumPy.
RESAMPLE = Cost(0.15e-6)
MASKED_UNIT, MASKED_UNIT_OF_FEW_COLUMNS, COUNTED_UNIT = Cost(0.8e-9), Cost(0.3e-9), Cost(7e-9)
"""A unit of a resample: its swap mask, its swap mask if few columns are added up at once, its bootstrap count."""
WEIGHTED_NUMBER = Cost(0.02e-9)
"""A statistic of a unit, in the product with the weights of a resample."""
SCORED_STATISTIC = Cost(6e-9)
"""A statistic of a resample, as the score takes it."""
CHOSEN_UNIT = Cost(1e-8)
"""A unit in a random choice, for systems on different units."""
CALL, CALLED_NUMBER, CALLED_NUMBER_TOGETHER = Cost(2e-5), Cost(2e-8), Cost(1.5e-8)
"""A call of a metric's function; a number it gets, with one call per resample or with one call for many resamples."""
TILTED_VECTOR, TILTED_NUMBER = Cost(5e-6), Cost(3e-9)
"""Importance sampling, per statistic: a vector of swaps, and a unit of a vector."""
SAMPLED_PAIR = Cost(3e-9)
"""A resample of a pair, everything included."""

# Exact tests of a single pair.
LINE, LINE_VALUE = Cost(4e-5), Cost(2e-7, 150.0)
"""One axis, by waves: the test, and a possible value of its sum."""
PLANE, PLANE_POINT = Cost(2.5e-3), Cost(6e-8, 40.0)
"""Two axes, by waves: the test, and a point of their grid."""
TERM, TERM_OF_MANY = Cost(1e-9), Cost(4e-11)
"""A row at a frequency. With many units the characteristic function vanishes at most frequencies."""
LISTED, LISTED_SUM = Cost(3e-4), Cost(1.5e-8, 40.0)
"""A sum over one half of the units, sorted and looked up."""
EXTREME, EXTREME_SWAP = Cost(2e-4), Cost(1e-6)
"""Enumeration of the extreme swaps, if they are few: the test, and a swap or a unit."""
EXTREME_HELD = Cost(0.0, 40.0)
"""Memory for an extreme swap."""
BOUNDS, BOUNDS_VALUE = Cost(3e-3), Cost(4e-7, 250.0)
"""Bounds of p: the test, and a possible value of its sum."""
SIGNS, SIGNS_STATISTIC = Cost(5e-4), Cost(1e-7, 100.0)
"""All assignments of signs to the differences: the test, and a statistic of an assignment."""
DYNAMIC_PROGRAM, DYNAMIC_STEP, DYNAMIC_POINT = Cost(1e-3), Cost(1.5e-9), Cost(0.0, 60.0)
TREE, TREE_STEP, TREE_POINT = Cost(1e-3), Cost(1e-8), Cost(0.0, 320.0)
"""Algorithms 3 and 4 of Zmigrod et al.: the test, a step, and a possible value of the sum."""
LISTED_DELTA = Cost(1e-7)
"""A possible value of the sum, scored and sorted, if all values are listed."""
SIGN_TEST = Cost(1e-6)
"""A problem whose differences all have the same size: a binomial tail."""

# Exact tests of all pairs of a board together.
BOARD_LINE, BOARD_PLANE = Cost(3e-5), Cost(3e-4)
"""A pair with one axis, and a pair with two axes."""
BOARD_UNIT = Cost(1e-8)
"""A unit of a pair, if units are counted."""
BOARD_ROW, BOARD_POINT = Cost(2.5e-6), Cost(8e-8)
"""A value on the first of two axes; a point of the grid, if the score is not monotone."""
SHARED_GRID, SHARED_GRID_PAIR, SHARED_WAVE = Cost(5e-3), Cost(5e-4), Cost(3e-8)
"""A grid shared by pairs with two axes, a pair on it, and a row or pair at a frequency of a tilt."""
OWN_GRID, OWN_POINT, OWN_TERM, OWN_TERM_OF_MANY = Cost(4e-3), Cost(5e-8), Cost(2e-9), Cost(8e-11)
"""A pair with its own grid, a point of the grid, and a row at a frequency, for few units and for many units."""
OWN_LINE = Cost(1e-3)
"""A pair with one axis and its own grid."""
LONG_GRID_PAIR, LONG_WAVE = Cost(1e-2), Cost(4e-7)
"""A pair on a shared grid, and a row or pair at a frequency, in long doubles."""

# Exact tests of runs.
CHOICE, CHOICE_HELD, CHOICE_STATISTIC_HELD = Cost(1e-7), Cost(0.0, 80.0), Cost(0.0, 40.0)
"""Time to list and score a choice of whole runs, per statistic; memory per choice, and per statistic of a choice."""
GRID_TERM, GRID_STEP = Cost(5e-10), Cost(4e-6)
"""Exchanges of outputs on a grid: a term, and an addition of arrays."""
SORTED_SUM, SORTED_SUM_HELD, SORTED_STATISTIC_HELD = Cost(1.5e-7), Cost(0.0, 80.0), Cost(0.0, 16.0)
"""A sum in a list to sort; memory per sum, and per statistic of a system."""
COUNTED_OUTPUT = Cost(4e-5)
"""An output of a unit whose sums are counted."""

# Exact bootstrap distributions.
DRAWS, DRAWS_VALUE = Cost(1e-3), Cost(4e-7)
"""The distribution, and a possible value."""

# Whole comparisons, for the warning of long work.
COMPARED_PAIR = Cost(1e-5)
"""A pair's columns and text, for each test."""
PAIR_HELD, OTHER_TEST_HELD = Cost(0.0, 250.0), Cost(0.0, 200.0)
SAMPLED_HELD, DRAWN_HELD = Cost(0.0, 100.0), Cost(0.0, 250.0)
"""Memory while columns are made: of a pair, another test, a sampled p-value, a drawn interval."""
RIGHT_OR_WRONG_PAIR, RIGHT_OR_WRONG_PRODUCT = Cost(6e-7), Cost(1e-11)
"""Right-or-wrong answers: a pair, and a multiplication in their product."""
PLANNED_PROBLEM, SIMPLE_PROBLEM = Cost(1.5e-3), Cost(7e-5)
"""A problem that is planned and computed exactly; the same with one statistic of whole numbers."""
JACKKNIFED_INSTANCE = Cost(4e-9)
"""A pair and instance, for a jackknife interval."""
MAXT_PAIR = Cost(1.5e-8)
"""A pair and resample of maxT."""
