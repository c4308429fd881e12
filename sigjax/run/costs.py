"""The cost of work, estimated before the work is done: the record `Cost`, and the only table of measured constants.

Plans, budgets, warnings of long work and the choice of a backend add these constants up. Seconds are nominal: the time
of NumPy on one slow core of 2025. They are the same on every machine, so that the same data take the same algorithm
everywhere. Each constant below is the cost of the piece of work that its text names. A frequency is an argument of a
characteristic function; a tilt is a change of measure that makes small p-values accurate (see `exact`). `python
benchmarks/costs.py` measures the constants again, and prints them beside the table.
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
"""Drawing the weight of a unit on a resample. `MASKED_UNIT`: a swap mask. `MASKED_UNIT_OF_FEW_COLUMNS`: a swap mask,
if few columns are added up while it is drawn. `COUNTED_UNIT`: a bootstrap count."""
WEIGHTED_NUMBER = Cost(0.02e-9)
"""A statistic of a unit, multiplied by the weights of a resample."""
SCORED_STATISTIC = Cost(6e-9)
"""A statistic of a resample, in the computation of the score."""
CHOSEN_UNIT = Cost(1e-8)
"""A unit in a random choice, for systems on different units."""
CALL, CALLED_NUMBER, CALLED_NUMBER_TOGETHER = Cost(2e-5), Cost(2e-8), Cost(1.5e-8)
"""A metric's function. `CALL`: a call for one resample. `CALLED_NUMBER`: each number that such a call processes.
`CALLED_NUMBER_TOGETHER`: each number, if one call processes many resamples."""
TILTED_VECTOR, TILTED_NUMBER = Cost(5e-6), Cost(3e-9)
"""Importance sampling, per statistic. `TILTED_VECTOR`: a vector of random numbers. `TILTED_NUMBER`: a unit of it."""
SAMPLED_PAIR = Cost(3e-9)
"""A resample of a pair, with all work."""

# Exact tests of a single pair.
LINE, LINE_VALUE = Cost(4e-5), Cost(2e-7, 150.0)
"""A test with one varying sum, by characteristic functions. `LINE`: fixed cost of the test. `LINE_VALUE`: each possible
value of the sum."""
PLANE, PLANE_POINT = Cost(2.5e-3), Cost(6e-8, 40.0)
"""A test with two varying sums, by characteristic functions. `PLANE`: fixed cost of the test. `PLANE_POINT`: each point
of the grid of sums."""
TERM, TERM_OF_MANY = Cost(1e-9), Cost(4e-11)
"""`TERM`: a distinct unit at a frequency. `TERM_OF_MANY`: a distinct unit at a frequency if there are many units. It
costs less, because their characteristic function is mostly near 0."""
LISTED, LISTED_SUM = Cost(3e-4), Cost(1.5e-8, 40.0)
"""A test by lists of the sums over each half of the units. `LISTED`: fixed cost of the test. `LISTED_SUM`: each sum,
sorted and looked up."""
EXTREME, EXTREME_SWAP = Cost(2e-4), Cost(1e-6)
"""A test that lists the extreme swaps, if they are few. `EXTREME`: fixed cost. `EXTREME_SWAP`: each swap or unit."""
EXTREME_HELD = Cost(0.0, 40.0)
"""Memory for an extreme swap."""
BOUNDS, BOUNDS_VALUE = Cost(3e-3), Cost(4e-7, 250.0)
"""A test that bounds p. `BOUNDS`: fixed cost of the test. `BOUNDS_VALUE`: each possible value of the sum."""
SIGNS, SIGNS_STATISTIC = Cost(5e-4), Cost(1e-7, 100.0)
"""A test that lists all assignments of signs to the differences. `SIGNS`: fixed cost of the test. `SIGNS_STATISTIC`:
each statistic of an assignment."""
DYNAMIC_PROGRAM, DYNAMIC_STEP, DYNAMIC_POINT = Cost(1e-3), Cost(1.5e-9), Cost(0.0, 60.0)
TREE, TREE_STEP, TREE_POINT = Cost(1e-3), Cost(1e-8), Cost(0.0, 320.0)
"""Algorithms 3 (`DYNAMIC_...`) and 4 (`TREE...`) of Zmigrod et al. For each: fixed cost, cost of a step, and memory for
a possible value of the sum."""
LISTED_DELTA = Cost(1e-7)
"""If all possible values of the sum are listed: each value, scored and sorted."""
SIGN_TEST = Cost(1e-6)
"""A binomial tail, for a problem whose differences all have the same size."""

# Exact tests of all pairs of a board together.
BOARD_LINE, BOARD_PLANE = Cost(3e-5), Cost(3e-4)
"""`BOARD_LINE`: a pair with one varying sum. `BOARD_PLANE`: a pair with two varying sums."""
BOARD_UNIT = Cost(1e-8)
"""A unit of a pair, if units are counted."""
BOARD_ROW, BOARD_POINT = Cost(2.5e-6), Cost(8e-8)
"""A pair with two varying sums. `BOARD_ROW`: each value of the first sum. `BOARD_POINT`: each point of the grid of both
sums, if the score is not monotone."""
SHARED_GRID, SHARED_GRID_PAIR, SHARED_WAVE = Cost(5e-3), Cost(5e-4), Cost(3e-8)
"""Pairs with two varying sums that share a grid. `SHARED_GRID`: the grid. `SHARED_GRID_PAIR`: a pair on the grid.
`SHARED_WAVE`: a distinct unit, or a pair, at a frequency of a tilt."""
OWN_GRID, OWN_POINT, OWN_TERM, OWN_TERM_OF_MANY = Cost(4e-3), Cost(5e-8), Cost(2e-9), Cost(8e-11)
"""A pair with a grid for itself. `OWN_GRID`: fixed cost of the pair. `OWN_POINT`: a point of the grid. `OWN_TERM`: a
distinct unit at a frequency. `OWN_TERM_OF_MANY`: a distinct unit at a frequency, if there are many units."""
OWN_LINE = Cost(1e-3)
"""A pair with one varying sum and a grid for itself."""
LONG_GRID_PAIR, LONG_WAVE = Cost(1e-2), Cost(4e-7)
"""Computed in long doubles. `LONG_GRID_PAIR`: a pair on a shared grid. `LONG_WAVE`: a distinct unit, or a pair, at a
frequency."""

# Exact tests of runs.
CHOICE, CHOICE_HELD, CHOICE_STATISTIC_HELD = Cost(1e-7), Cost(0.0, 80.0), Cost(0.0, 40.0)
"""A choice of whole runs. `CHOICE`: time to list and score it, per statistic. `CHOICE_HELD`: memory per choice.
`CHOICE_STATISTIC_HELD`: memory per statistic of a choice."""
GRID_TERM, GRID_STEP = Cost(5e-10), Cost(4e-6)
"""Exchanges of outputs on a grid. `GRID_TERM`: a term. `GRID_STEP`: an addition of arrays."""
SORTED_SUM, SORTED_SUM_HELD, SORTED_STATISTIC_HELD = Cost(1.5e-7), Cost(0.0, 80.0), Cost(0.0, 16.0)
"""A sorted list of sums. `SORTED_SUM`: time per sum. `SORTED_SUM_HELD`: memory per sum. `SORTED_STATISTIC_HELD`: memory
per statistic of a system."""
COUNTED_OUTPUT = Cost(4e-5)
"""An output of a unit whose sums are counted."""

# Exact bootstrap distributions.
DRAWS, DRAWS_VALUE = Cost(1e-3), Cost(4e-7)
"""The exact distribution of a bootstrap sum. `DRAWS`: fixed cost. `DRAWS_VALUE`: each possible value of the sum."""

# Whole comparisons, for the warning of long work.
COMPARED_PAIR = Cost(1e-5)
"""The columns of a pair in the tables, and its text, for each test."""
PAIR_HELD, OTHER_TEST_HELD = Cost(0.0, 250.0), Cost(0.0, 200.0)
SAMPLED_HELD, DRAWN_HELD = Cost(0.0, 100.0), Cost(0.0, 250.0)
"""Memory per pair while its columns are made. `PAIR_HELD`: for the first test. `OTHER_TEST_HELD`: for each further
test. `SAMPLED_HELD`: for a sampled p-value. `DRAWN_HELD`: for a drawn interval."""
RIGHT_OR_WRONG_PAIR, RIGHT_OR_WRONG_PRODUCT = Cost(6e-7), Cost(1e-11)
"""Right-or-wrong answers. `RIGHT_OR_WRONG_PAIR`: a pair. `RIGHT_OR_WRONG_PRODUCT`: a multiplication in the matrix
product that counts differing answers."""
PLANNED_PROBLEM, SIMPLE_PROBLEM = Cost(1.5e-3), Cost(7e-5)
"""A problem that is planned and computed exactly. `PLANNED_PROBLEM`: in general. `SIMPLE_PROBLEM`: if systems differ in
a single statistic of whole numbers."""
JACKKNIFED_INSTANCE = Cost(4e-9)
"""An instance of a pair, for a jackknife interval."""
MAXT_PAIR = Cost(1.5e-8)
"""A resample of a pair, for maxT."""

# Counting texts, for each character. Measured on German news.
BLEU, CHRF, CHRF_PLUS_PLUS, TER = Cost(0.45e-6), Cost(1.1e-6), Cost(1.2e-6), Cost(130e-6)
WER, CER, WER_SCLITE = Cost(0.07e-6), Cost(0.5e-6), Cost(3e-6)
ROUGE_N, ROUGE_L = Cost(0.2e-6), Cost(1.6e-6)

# JAX: NumPy is used unless it would take longer than this.
LOADING_JAX, COMPILING, COMPILING_KEPT = Cost(0.5), Cost(1.0), Cost(0.4)
"""`LOADING_JAX`: importing JAX. `COMPILING`: compiling the kernels of a comparison. `COMPILING_KEPT`: loading these
kernels from JAX's compilation cache."""
COMPILING_METRIC = Cost(2.0)
"""Compiling a metric's function, with the kernel that calls it."""

# The test of association.
DIGIT_PRODUCT, ROOK_COEFFICIENT = Cost(1e-10), Cost(5e-7)
"""`DIGIT_PRODUCT`: a product of two 30-bit digits of Python's integers. `ROOK_COEFFICIENT`: fixed cost of a coefficient
of the rook polynomial."""
