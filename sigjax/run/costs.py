"""The cost of work, estimated before the work is done: the record `Cost`, and the only table of measured constants.

Plans, budgets, warnings of long work, and the choice between NumPy and JAX are based on sums of these constants.
Seconds are nominal: the time of NumPy on one slow core of 2025. They are the same on every machine, so that the same
data are tested by the same algorithm everywhere. The text below each constant names the work that has this cost. A sum
of differences adds up the differences of two systems in one statistic, with the signs that a random swap gives them. A
grid has the values that one or two such sums can take. A frequency is an argument of the characteristic function of a
sum; a tilt is a change of measure that makes small p-values accurate (see `exact`). `python benchmarks/costs.py`
measures the constants again, and prints them beside the table.
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
"""Cost of one resample, apart from the costs of its units and of its scores."""
MASKED_UNIT, MASKED_UNIT_OF_FEW_COLUMNS, COUNTED_UNIT = Cost(0.8e-9), Cost(0.3e-9), Cost(7e-9)
"""Cost of drawing the weight of one unit on one resample. `MASKED_UNIT`: a swap mask. `MASKED_UNIT_OF_FEW_COLUMNS`: a
swap mask, if few columns (statistics of systems) are added up while it is drawn. `COUNTED_UNIT`: a bootstrap count (how
often the unit is drawn)."""
WEIGHTED_NUMBER = Cost(0.02e-9)
"""Cost of multiplying one statistic of one unit by the unit's weight on one resample."""
SCORED_STATISTIC = Cost(6e-9)
"""Cost, per statistic, of computing one score from the sums of the statistics on one resample."""
CHOSEN_UNIT = Cost(1e-8)
"""Cost, per unit and resample, of choosing the units of one system at random from the units of both systems. This test
is for systems that were tested on different units."""
CALL, CALLED_NUMBER, CALLED_NUMBER_TOGETHER = Cost(2e-5), Cost(2e-8), Cost(1.5e-8)
"""Cost of calling a metric's function on a resample. `CALL`: fixed cost of a call for one resample. `CALLED_NUMBER`:
each number that such a call processes. `CALLED_NUMBER_TOGETHER`: each number, if one call processes many resamples."""
TILTED_VECTOR, TILTED_NUMBER = Cost(5e-6), Cost(3e-9)
"""Cost, per pair and statistic, of a small p-value by importance sampling. `TILTED_VECTOR`: fixed cost of each vector
of random numbers. `TILTED_NUMBER`: each number of each vector (one per unit)."""
SAMPLED_PAIR = Cost(3e-9)
"""Cost of testing one pair on one resample, with all work that this needs."""

# Exact tests of a single pair.
LINE, LINE_VALUE = Cost(4e-5), Cost(2e-7, 150.0)
"""Cost of an exact test by characteristic functions, if the systems differ in only one statistic. `LINE`: fixed cost of
the test. `LINE_VALUE`: each possible value of the sum of differences under swaps."""
PLANE, PLANE_POINT = Cost(2.5e-3), Cost(6e-8, 40.0)
"""Cost of an exact test by characteristic functions, if the systems differ in two statistics. `PLANE`: fixed cost of
the test. `PLANE_POINT`: each point of the grid (a value of each of the two sums of differences under swaps)."""
TERM, TERM_OF_MANY = Cost(1e-9), Cost(4e-11)
"""Cost of computing the characteristic function of a sum of differences under swaps. `TERM`: each distinct difference
at each frequency (argument of the function). `TERM_OF_MANY`: the same if there are many units. It costs less, because
the characteristic function of many units is mostly near 0."""
LISTED, LISTED_SUM = Cost(3e-4), Cost(1.5e-8, 40.0)
"""Cost of an exact test that splits the units that differ into two halves, and lists the possible sums of differences
over each half. `LISTED`: fixed cost of the test. `LISTED_SUM`: each listed sum, which is sorted and looked up."""
EXTREME, EXTREME_SWAP = Cost(2e-4), Cost(1e-6)
"""Cost of an exact test that lists the extreme swaps, if there are few. `EXTREME`: fixed cost of the test.
`EXTREME_SWAP`: each extreme swap, and also each unit on which the systems differ."""
EXTREME_HELD = Cost(0.0, 40.0)
"""Cost in memory of an exact test that lists the extreme swaps, per extreme swap."""
BOUNDS, BOUNDS_VALUE = Cost(3e-3), Cost(4e-7, 250.0)
"""Cost of a test that computes bounds on p instead of p, from rounded differences. `BOUNDS`: fixed cost of the test.
`BOUNDS_VALUE`: each possible value of the sum of the rounded differences."""
SIGNS, SIGNS_STATISTIC = Cost(5e-4), Cost(1e-7, 100.0)
"""Cost of an exact test that lists the ways to give each difference a sign, + or -. `SIGNS`: fixed cost of the test.
`SIGNS_STATISTIC`: each listed way, per statistic."""
DYNAMIC_PROGRAM, DYNAMIC_STEP, DYNAMIC_POINT = Cost(1e-3), Cost(1.5e-9), Cost(0.0, 60.0)
TREE, TREE_STEP, TREE_POINT = Cost(1e-3), Cost(1e-8), Cost(0.0, 320.0)
"""Cost of exact tests by algorithms 3 (`DYNAMIC_...`) and 4 (`TREE...`) of Zmigrod et al. (2022), "Exact
paired-permutation testing for structured test statistics". For each algorithm: its fixed cost, the cost of a step, and
the memory for each possible value of the sum of differences."""
LISTED_DELTA = Cost(1e-7)
"""Cost, per possible value, of listing all values that a sum of differences can take under swaps. Each value is scored
and sorted."""
SIGN_TEST = Cost(1e-6)
"""Cost of one sign test (a binomial tail probability), for pairs whose differences all have the same size."""

# Exact tests of all pairs of a board together.
BOARD_LINE, BOARD_PLANE = Cost(3e-5), Cost(3e-4)
"""Cost, per pair, of exact tests of a board (a set of pairs that are tested together). `BOARD_LINE`: if the systems
differ in only one statistic. `BOARD_PLANE`: if they differ in two statistics."""
BOARD_UNIT = Cost(1e-8)
"""Cost, per pair and unit, of counting how often each distinct difference occurs in a pair of a board (a set of pairs
that are tested together)."""
BOARD_ROW, BOARD_POINT = Cost(2.5e-6), Cost(8e-8)
"""Cost of listing the possible sums of differences, for a pair on a board (a set of pairs that are tested together).
`BOARD_ROW`: each value of the first sum, if the systems differ in two statistics and the score is monotone.
`BOARD_POINT`: each point of the grid (a value of the sum for each statistic that differs), if the score is not
monotone."""
SHARED_GRID, SHARED_GRID_PAIR, SHARED_WAVE = Cost(5e-3), Cost(5e-4), Cost(3e-8)
"""Cost of exact tests of pairs that differ in two statistics, if all pairs share one grid of possible sums of
differences. `SHARED_GRID`: fixed cost of the grid. `SHARED_GRID_PAIR`: each pair. `SHARED_WAVE`: at each frequency
(argument of the characteristic functions), each pair, and each distinct difference under each tilt (change of
measure)."""
OWN_GRID, OWN_POINT, OWN_TERM, OWN_TERM_OF_MANY = Cost(4e-3), Cost(5e-8), Cost(2e-9), Cost(8e-11)
"""Cost of the exact test of one pair that differs in two statistics, on a grid of possible sums that no other pair
uses. `OWN_GRID`: fixed cost of the test. `OWN_POINT`: each point of the grid (a value of each of the two sums of
differences). `OWN_TERM`: each distinct difference at each frequency (argument of the characteristic function).
`OWN_TERM_OF_MANY`: the same if there are many units."""
OWN_LINE = Cost(1e-3)
"""Cost of the exact test of one pair that differs in only one statistic, if the pair is tested alone: the fixed
part."""
LONG_GRID_PAIR, LONG_WAVE = Cost(1e-2), Cost(4e-7)
"""Cost of exact tests in long doubles (extended precision), if all pairs share one grid of possible sums of
differences. `LONG_GRID_PAIR`: each pair. `LONG_WAVE`: at each frequency (argument of the characteristic functions),
each pair, and each distinct difference under each tilt (change of measure)."""

# Exact tests of runs.
CHOICE, CHOICE_HELD, CHOICE_STATISTIC_HELD = Cost(1e-7), Cost(0.0, 80.0), Cost(0.0, 40.0)
"""Cost of listing all choices of the whole runs that belong to the first system. `CHOICE`: time to list and score a
choice, per statistic. `CHOICE_HELD`: memory per choice. `CHOICE_STATISTIC_HELD`: memory per choice and statistic."""
GRID_TERM, GRID_STEP = Cost(5e-10), Cost(4e-6)
"""Cost of counting the sums that exchanges of outputs can give, on a grid of all possible values. `GRID_TERM`: each
number that is added. `GRID_STEP`: each addition of arrays."""
SORTED_SUM, SORTED_SUM_HELD, SORTED_STATISTIC_HELD = Cost(1.5e-7), Cost(0.0, 80.0), Cost(0.0, 16.0)
"""Cost of computing all sums that exchanges of outputs can give. `SORTED_SUM`: time per sum, if the sums are kept in a
sorted list. `SORTED_SUM_HELD`: memory per sum in the list, or per point of a grid of sums. `SORTED_STATISTIC_HELD`:
further memory per sum or point, for each statistic."""
COUNTED_OUTPUT = Cost(4e-5)
"""Cost, per output of a unit, of counting the sums that exchanges within the unit can give. It does not depend on the
number of sums; `SORTED_SUM` is added for each sum."""

# Exact bootstrap distributions.
DRAWS, DRAWS_VALUE = Cost(1e-3), Cost(4e-7)
"""Cost of the exact distribution of one sum of a statistic over bootstrap draws. `DRAWS`: fixed cost. `DRAWS_VALUE`:
each possible value of the sum."""

# Whole comparisons, for the warning of long work.
COMPARED_PAIR = Cost(1e-5)
"""Cost, per pair and test, of making the pair's columns in the tables, and its text."""
PAIR_HELD, OTHER_TEST_HELD = Cost(0.0, 250.0), Cost(0.0, 200.0)
SAMPLED_HELD, DRAWN_HELD = Cost(0.0, 100.0), Cost(0.0, 250.0)
"""Cost in memory, per pair, of making the pair's columns in the tables. `PAIR_HELD`: for the first test.
`OTHER_TEST_HELD`: for each further test. `SAMPLED_HELD`: for a p-value from resamples. `DRAWN_HELD`: for an interval
from resamples."""
RIGHT_OR_WRONG_PAIR, RIGHT_OR_WRONG_PRODUCT = Cost(6e-7), Cost(1e-11)
"""Cost of tests of pairs with right-or-wrong answers. `RIGHT_OR_WRONG_PAIR`: each pair. `RIGHT_OR_WRONG_PRODUCT`: each
multiplication in the matrix product that counts, for all pairs, the instances with different answers."""
PLANNED_PROBLEM, SIMPLE_PROBLEM = Cost(1.5e-3), Cost(7e-5)
"""Cost of planning and carrying out one exact test. `PLANNED_PROBLEM`: in general. `SIMPLE_PROBLEM`: if the systems
differ in a single statistic of whole numbers."""
JACKKNIFED_INSTANCE = Cost(4e-9)
"""Cost, per pair and instance, of computing the jackknife interval of a pair's delta."""
MAXT_PAIR = Cost(1.5e-8)
"""Cost, per pair and resample, that the correction maxT adds."""

# Cost of counting texts, per character, measured on German news.
BLEU, CHRF, CHRF_PLUS_PLUS, TER = Cost(0.45e-6), Cost(1.1e-6), Cost(1.2e-6), Cost(130e-6)
WER, CER, WER_SCLITE = Cost(0.07e-6), Cost(0.5e-6), Cost(3e-6)
ROUGE_N, ROUGE_L = Cost(0.2e-6), Cost(1.6e-6)

# JAX: NumPy is used unless it would take longer than this.
LOADING_JAX, COMPILING, COMPILING_KEPT = Cost(0.5), Cost(1.0), Cost(0.4)
"""Cost of starting work with JAX. `LOADING_JAX`: importing JAX. `COMPILING`: compiling the kernels of a comparison.
`COMPILING_KEPT`: loading these kernels from JAX's compilation cache."""
COMPILING_METRIC = Cost(2.0)
"""Cost of compiling a metric's function, together with the kernel that calls it."""

# The test of association.
DIGIT_PRODUCT, ROOK_COEFFICIENT, SHUFFLED_LABEL = Cost(1e-10), Cost(5e-7), Cost(3e-8)
"""Cost of testing how often labels agree with gold labels, with Python's integers. `DIGIT_PRODUCT`: a product of two
30-bit digits. `ROOK_COEFFICIENT`: fixed cost of a rook number (the number of ways to choose j instances and give each
its gold label). `SHUFFLED_LABEL`: a label in a random order."""
