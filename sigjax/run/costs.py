"""The cost of work, estimated before the work is done: the record `Cost`, and the only table of measured constants.

Plans, budgets, warnings of long work and the choice of a backend add these constants up. Seconds are nominal: the time
of NumPy on one slow core of 2025. They are the same on every machine, so that the same data take the same algorithm
everywhere. Each text below names the piece of work whose cost the constant is. A frequency is an argument of a
characteristic function; a tilt is a change of measure that makes small p-values accurate (see `exact`). `python
benchmarks/costs.py` measures the constants again, beside the table.
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
        """The cost of both pieces of work, one after the other. Their memory adds up, because both are held."""
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
"""A unit of a resample: its swap mask; its swap mask if few columns are added up at once; its bootstrap count."""
WEIGHTED_NUMBER = Cost(0.02e-9)
"""A statistic of a unit, multiplied by the weights of a resample."""
SCORED_STATISTIC = Cost(6e-9)
"""A statistic of a resample, in the computation of the score."""
CHOSEN_UNIT = Cost(1e-8)
"""A unit in a random choice, for systems on different units."""
CALL, CALLED_NUMBER, CALLED_NUMBER_TOGETHER = Cost(2e-5), Cost(2e-8), Cost(1.5e-8)
"""A call of a metric's function; a number in a call for one resample; a number in a call for many resamples."""
TILTED_VECTOR, TILTED_NUMBER = Cost(5e-6), Cost(3e-9)
"""Importance sampling, for each statistic: a vector of swaps, and a unit of a vector."""
SAMPLED_PAIR = Cost(3e-9)
"""A resample of a pair, with all of the work."""

# Exact tests of a single pair.
LINE, LINE_VALUE = Cost(4e-5), Cost(2e-7, 150.0)
"""A test with one varying sum, by characteristic functions: the test itself, and each possible value of the sum."""
PLANE, PLANE_POINT = Cost(2.5e-3), Cost(6e-8, 40.0)
"""A test with two varying sums, by characteristic functions: the test itself, and each point of the grid of sums."""
TERM, TERM_OF_MANY = Cost(1e-9), Cost(4e-11)
"""A distinct unit at a frequency; the same for many units: their characteristic function is mostly near 0."""
LISTED, LISTED_SUM = Cost(3e-4), Cost(1.5e-8, 40.0)
"""Lists of the sums over each half of the units: the test itself, and each sum, sorted and looked up."""
EXTREME, EXTREME_SWAP = Cost(2e-4), Cost(1e-6)
"""Enumeration of the extreme swaps, if they are few: the test itself, and each swap or unit."""
EXTREME_HELD = Cost(0.0, 40.0)
"""Memory for an extreme swap."""
BOUNDS, BOUNDS_VALUE = Cost(3e-3), Cost(4e-7, 250.0)
"""Bounds of p: the test itself, and each possible value of its sum."""
SIGNS, SIGNS_STATISTIC = Cost(5e-4), Cost(1e-7, 100.0)
"""All assignments of signs to the differences: the test itself, and each statistic of an assignment."""
DYNAMIC_PROGRAM, DYNAMIC_STEP, DYNAMIC_POINT = Cost(1e-3), Cost(1.5e-9), Cost(0.0, 60.0)
TREE, TREE_STEP, TREE_POINT = Cost(1e-3), Cost(1e-8), Cost(0.0, 320.0)
"""Algorithms 3 and 4 of Zmigrod et al.: the test itself, each step, and each possible value of the sum."""
LISTED_DELTA = Cost(1e-7)
"""A possible value of the sum, scored and sorted, if all values are listed."""
SIGN_TEST = Cost(1e-6)
"""A binomial tail, for a problem whose differences all have the same size."""

# Exact tests of all pairs of a board together.
BOARD_LINE, BOARD_PLANE = Cost(3e-5), Cost(3e-4)
"""A pair with one varying sum, and a pair with two varying sums."""
BOARD_UNIT = Cost(1e-8)
"""A unit of a pair, if units are counted."""
BOARD_ROW, BOARD_POINT = Cost(2.5e-6), Cost(8e-8)
"""A value of the first of two varying sums; a point of the grid, if the score is not monotone."""
SHARED_GRID, SHARED_GRID_PAIR, SHARED_WAVE = Cost(5e-3), Cost(5e-4), Cost(3e-8)
"""A grid shared by pairs with two varying sums; a pair on it; a distinct unit or a pair at a frequency of a tilt."""
OWN_GRID, OWN_POINT, OWN_TERM, OWN_TERM_OF_MANY = Cost(4e-3), Cost(5e-8), Cost(2e-9), Cost(8e-11)
"""A pair with its own grid; a point of the grid; a distinct unit at a frequency, for few and for many units."""
OWN_LINE = Cost(1e-3)
"""A pair with one varying sum and its own grid."""
LONG_GRID_PAIR, LONG_WAVE = Cost(1e-2), Cost(4e-7)
"""In long doubles: a pair on a shared grid, and a distinct unit or a pair at a frequency."""

# Exact tests of runs.
CHOICE, CHOICE_HELD, CHOICE_STATISTIC_HELD = Cost(1e-7), Cost(0.0, 80.0), Cost(0.0, 40.0)
"""Time to list and score a choice of whole runs, per statistic; memory per choice, and per statistic of a choice."""
GRID_TERM, GRID_STEP = Cost(5e-10), Cost(4e-6)
"""Exchanges of outputs on a grid: a term, and an addition of arrays."""
SORTED_SUM, SORTED_SUM_HELD, SORTED_STATISTIC_HELD = Cost(1.5e-7), Cost(0.0, 80.0), Cost(0.0, 16.0)
"""A sum in a list that is sorted; memory per sum; memory per statistic of a system."""
COUNTED_OUTPUT = Cost(4e-5)
"""An output of a unit whose sums are counted."""

# Exact bootstrap distributions.
DRAWS, DRAWS_VALUE = Cost(1e-3), Cost(4e-7)
"""The distribution itself, and each of its possible values."""

# Whole comparisons, for the warning of long work.
COMPARED_PAIR = Cost(1e-5)
"""The columns and the text of a pair, for each test."""
PAIR_HELD, OTHER_TEST_HELD = Cost(0.0, 250.0), Cost(0.0, 200.0)
SAMPLED_HELD, DRAWN_HELD = Cost(0.0, 100.0), Cost(0.0, 250.0)
"""Memory while columns are made: for a pair; for each further test; for a sampled p-value; for a drawn interval."""
RIGHT_OR_WRONG_PAIR, RIGHT_OR_WRONG_PRODUCT = Cost(6e-7), Cost(1e-11)
"""Right-or-wrong answers: a pair, and a multiplication in the matrix product that counts differing answers."""
PLANNED_PROBLEM, SIMPLE_PROBLEM = Cost(1.5e-3), Cost(7e-5)
"""A problem that is planned and computed exactly; such a problem if it has only one statistic of whole numbers."""
JACKKNIFED_INSTANCE = Cost(4e-9)
"""An instance of a pair, for a jackknife interval."""
MAXT_PAIR = Cost(1.5e-8)
"""A resample of a pair, for maxT."""
