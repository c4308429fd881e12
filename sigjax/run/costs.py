"""The cost of work, estimated before the work is done: the record `Cost`, and the only table of measured constants.

Plans, budgets, warnings of long work, and the choice between NumPy and JAX are based on sums of these constants.
Seconds are nominal: the time of NumPy on one slow core of 2025. They are the same on every machine, so that the same
data are tested by the same algorithm everywhere. Each text below names a piece of work; the constant is its cost. A sum
is the sum of a statistic's differences between two systems, after random swaps; a grid has the values that one or two
such sums can take. A frequency is an argument of the characteristic function of a sum; a tilt is a change of measure
that makes small p-values accurate (see `exact`). `python benchmarks/costs.py` measures the constants again, and prints
them beside the table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a piece of work: nominal seconds, and the bytes of memory that it needs at the same time.

    >>> LISTED_SUM * 2**10 + Cost(1e-3)
    Cost(seconds=0.00101536, num_bytes=40960.0)
    """

    seconds: float = 0.0
    num_bytes: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """The cost of two pieces of work, one after the other. Their memory adds up, because both results are kept."""
        return Cost(self.seconds + other.seconds, self.num_bytes + other.num_bytes)

    def __mul__(self, times: float) -> Cost:
        """The cost of the same work, done `times` times."""
        return Cost(self.seconds * times, self.num_bytes * times)

    __rmul__ = __mul__

    @property
    def gib(self) -> str:
        """The memory in GiB as a text, rounded to three significant digits."""
        return gib_of(self.num_bytes)


def gib_of(num_bytes: float) -> str:
    """The number of bytes in GiB, as a text rounded to three significant digits.

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
"""Multiplying a statistic of a unit by its weight on a resample."""
SCORED_STATISTIC = Cost(6e-9)
"""Computing a score from the sums of a resample: the cost per statistic."""
CHOSEN_UNIT = Cost(1e-8)
"""Choosing one unit at random, if the systems were tested on different units."""
CALL, CALLED_NUMBER, CALLED_NUMBER_TOGETHER = Cost(2e-5), Cost(2e-8), Cost(1.5e-8)
"""Calling a metric's function. `CALL`: one call, for one resample. `CALLED_NUMBER`: each number that such a call
processes. `CALLED_NUMBER_TOGETHER`: each number, if one call processes many resamples."""
TILTED_VECTOR, TILTED_NUMBER = Cost(5e-6), Cost(3e-9)
"""Importance sampling, per pair and statistic. `TILTED_VECTOR`: a vector of random numbers. `TILTED_NUMBER`: each
number of the vector (one per unit)."""
SAMPLED_PAIR = Cost(3e-9)
"""All work for one resample of one pair."""

# Exact tests of a single pair.
LINE, LINE_VALUE = Cost(4e-5), Cost(2e-7, 150.0)
"""A test from characteristic functions, if one sum of differences varies over swaps. `LINE`: fixed cost of the test.
`LINE_VALUE`: each possible value of the sum."""
PLANE, PLANE_POINT = Cost(2.5e-3), Cost(6e-8, 40.0)
"""A test from characteristic functions, if two sums of differences vary over swaps. `PLANE`: fixed cost of the test.
`PLANE_POINT`: each point of the grid (a pair of values of the two sums)."""
TERM, TERM_OF_MANY = Cost(1e-9), Cost(4e-11)
"""Computing a characteristic function. `TERM`: each distinct unit at each frequency (argument of the function).
`TERM_OF_MANY`: the same if there are many units. It costs less, because the characteristic function of many units is
mostly near 0."""
LISTED, LISTED_SUM = Cost(3e-4), Cost(1.5e-8, 40.0)
"""A test that lists the possible sums over each half of the units. `LISTED`: fixed cost of the test. `LISTED_SUM`: each
sum, which is sorted and looked up."""
EXTREME, EXTREME_SWAP = Cost(2e-4), Cost(1e-6)
"""A test that lists the extreme swaps, if there are few. `EXTREME`: fixed cost of the test. `EXTREME_SWAP`: each
extreme swap, and also each unit on which the systems differ."""
EXTREME_HELD = Cost(0.0, 40.0)
"""A test that lists the extreme swaps: the memory for each extreme swap."""
BOUNDS, BOUNDS_VALUE = Cost(3e-3), Cost(4e-7, 250.0)
"""A test that computes bounds on p instead of p. `BOUNDS`: fixed cost of the test. `BOUNDS_VALUE`: each possible value
of the sum."""
SIGNS, SIGNS_STATISTIC = Cost(5e-4), Cost(1e-7, 100.0)
"""A test that lists all assignments of signs to the differences. `SIGNS`: fixed cost of the test. `SIGNS_STATISTIC`:
each statistic of each assignment."""
DYNAMIC_PROGRAM, DYNAMIC_STEP, DYNAMIC_POINT = Cost(1e-3), Cost(1.5e-9), Cost(0.0, 60.0)
TREE, TREE_STEP, TREE_POINT = Cost(1e-3), Cost(1e-8), Cost(0.0, 320.0)
"""Algorithms 3 (`DYNAMIC_...`) and 4 (`TREE...`) of Zmigrod et al. (2022), "Exact paired-permutation testing for
structured test statistics". For each algorithm: its fixed cost, the cost of a step, and the memory for a possible value
of the sum."""
LISTED_DELTA = Cost(1e-7)
"""Listing all possible values of the sum: each value, which is scored and sorted."""
SIGN_TEST = Cost(1e-6)
"""A binomial tail probability, which is the p-value of a pair whose differences all have the same size."""

# Exact tests of all pairs of a board together.
BOARD_LINE, BOARD_PLANE = Cost(3e-5), Cost(3e-4)
"""A board is a set of pairs that are tested together. `BOARD_LINE`: each pair with one sum that varies over swaps.
`BOARD_PLANE`: each pair with two such sums."""
BOARD_UNIT = Cost(1e-8)
"""Counting the units of a pair on a board that have the same difference: each unit."""
BOARD_ROW, BOARD_POINT = Cost(2.5e-6), Cost(8e-8)
"""A pair with two varying sums on a board (a set of pairs that are tested together). `BOARD_ROW`: each value of the
first sum. `BOARD_POINT`: each point of the grid (a pair of values of the two sums), if the score is not monotone."""
SHARED_GRID, SHARED_GRID_PAIR, SHARED_WAVE = Cost(5e-3), Cost(5e-4), Cost(3e-8)
"""Pairs with two varying sums that share a grid of values of these sums. `SHARED_GRID`: the grid. `SHARED_GRID_PAIR`:
each pair on the grid. `SHARED_WAVE`: each distinct unit, and each pair, at each frequency (argument of the
characteristic function) under each tilt (change of measure)."""
OWN_GRID, OWN_POINT, OWN_TERM, OWN_TERM_OF_MANY = Cost(4e-3), Cost(5e-8), Cost(2e-9), Cost(8e-11)
"""A pair with two varying sums and a grid of its own. `OWN_GRID`: fixed cost of the pair. `OWN_POINT`: each point of
the grid (a pair of values of the two sums). `OWN_TERM`: each distinct unit at each frequency (argument of the
characteristic function). `OWN_TERM_OF_MANY`: the same if there are many units."""
OWN_LINE = Cost(1e-3)
"""A pair with one varying sum and a grid of its own (the values of this sum)."""
LONG_GRID_PAIR, LONG_WAVE = Cost(1e-2), Cost(4e-7)
"""Computation in long doubles (extended precision). `LONG_GRID_PAIR`: each pair on a shared grid of values of two sums.
`LONG_WAVE`: each distinct unit, and each pair, at each frequency (argument of the characteristic function)."""

# Exact tests of runs.
CHOICE, CHOICE_HELD, CHOICE_STATISTIC_HELD = Cost(1e-7), Cost(0.0, 80.0), Cost(0.0, 40.0)
"""Choosing which whole runs belong to the first system. `CHOICE`: time to list and score a choice, per statistic.
`CHOICE_HELD`: memory per choice. `CHOICE_STATISTIC_HELD`: memory per choice and statistic."""
GRID_TERM, GRID_STEP = Cost(5e-10), Cost(4e-6)
"""Exchanges of outputs, whose sums are counted on a grid. `GRID_TERM`: each number that is added. `GRID_STEP`: each
addition of arrays."""
SORTED_SUM, SORTED_SUM_HELD, SORTED_STATISTIC_HELD = Cost(1.5e-7), Cost(0.0, 80.0), Cost(0.0, 16.0)
"""Exchanges of outputs, whose possible sums are kept in a sorted list. `SORTED_SUM`: time per sum. `SORTED_SUM_HELD`:
memory per sum. `SORTED_STATISTIC_HELD`: memory per sum and statistic."""
COUNTED_OUTPUT = Cost(4e-5)
"""Counting the sums that exchanges within a unit can give: each output of the unit."""

# Exact bootstrap distributions.
DRAWS, DRAWS_VALUE = Cost(1e-3), Cost(4e-7)
"""The exact distribution of a bootstrap sum. `DRAWS`: fixed cost. `DRAWS_VALUE`: each possible value of the sum."""

# Whole comparisons, for the warning of long work.
COMPARED_PAIR = Cost(1e-5)
"""Making the columns of a pair in the tables, and its text: each pair and test."""
PAIR_HELD, OTHER_TEST_HELD = Cost(0.0, 250.0), Cost(0.0, 200.0)
SAMPLED_HELD, DRAWN_HELD = Cost(0.0, 100.0), Cost(0.0, 250.0)
"""Memory per pair while its columns are made. `PAIR_HELD`: for the first test. `OTHER_TEST_HELD`: for each further
test. `SAMPLED_HELD`: for a p-value from resamples. `DRAWN_HELD`: for an interval from resamples."""
RIGHT_OR_WRONG_PAIR, RIGHT_OR_WRONG_PRODUCT = Cost(6e-7), Cost(1e-11)
"""Tests of right-or-wrong answers. `RIGHT_OR_WRONG_PAIR`: each pair. `RIGHT_OR_WRONG_PRODUCT`: each multiplication in
the matrix product that counts differing answers."""
PLANNED_PROBLEM, SIMPLE_PROBLEM = Cost(1.5e-3), Cost(7e-5)
"""Planning and carrying out one exact test. `PLANNED_PROBLEM`: in general. `SIMPLE_PROBLEM`: if systems differ in a
single statistic of whole numbers."""
JACKKNIFED_INSTANCE = Cost(4e-9)
"""Computing a jackknife interval: each instance of each pair."""
MAXT_PAIR = Cost(1.5e-8)
"""The correction maxT: each resample of each pair."""

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
"""The test of how often labels agree with gold labels, in Python's integers. `DIGIT_PRODUCT`: a product of two 30-bit
digits. `ROOK_COEFFICIENT`: fixed cost of a rook number (the number of ways to choose j instances and give each its gold
label)."""
