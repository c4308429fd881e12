"""Exact distributions of sums after random exchanges: of outputs within units, and of units between two samples.

**Outputs exchanged within units.** Two systems were run R times each, so they have 2 R outputs for a unit. Under the
null hypothesis, every set of R of these outputs is equally likely to be the outputs of the first system.
`exchange_distribution` computes the distribution of the sum of a random set for each unit, output by output, and
convolves these distributions unit by unit. All terms are positive, so small probabilities are as precise as large ones.
The sums of several statistics are coded as one integer, with one digit per statistic. `chosen_sums` lists every choice
of R runs of a single unit. For such a list, sums may have any size and number of statistics, and the score may be any
function of them.

**Two samples of units.** Under the null hypothesis, every set of units of the right size is equally likely to be the
first sample. The distribution of the sum of this sample is built unit by unit on a grid with two axes: the number of
chosen units, and their sum. If there are only two values, the distribution is hypergeometric, as in Fisher's exact
test.

References: Pitman (1937), "Significance tests which may be applied to samples from any populations"; Streitberg and
Roehmel (1986), "Exact distributions for permutation and rank tests" (the shift algorithm).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sigjax.exact.digits import PValue
from sigjax.exact.lattice import NotEligible
from sigjax.run import costs
from sigjax.run.costs import Cost

_MOST_CHOICES = 1_000_000
"""Largest number of choices that are listed: enough for 11 runs per system."""
_LARGEST_KEY = 2**62
_MOST_OF_UNIT = 2**14
"""Limit for the exact test: all choices of half of a unit's outputs (of both systems) may give at most this many
different sums."""


class Choices(NamedTuple):
    """The number of ways to choose some things from a larger number of things, and the cost of listing them."""

    number: int
    cost: Cost


def find_choices(size: int, of: int, num_stats: int, what: str = "runs") -> Choices | NotEligible:
    """Return the number of choices of `size` out of `of` things, and the cost of listing them.

    If there are more than `_MOST_CHOICES` choices, returns `NotEligible` with the reason. `what` is the noun for the
    things in this reason.

    >>> find_choices(4, 8, 1).number, find_choices(11, 22, 1).number
    (70, 705432)
    >>> find_choices(12, 24, 1)
    NotEligible(reason='there are more than 1,000,000 choices of 12 of 24 runs')
    """
    number = math.comb(of, size)
    if number > _MOST_CHOICES:
        return NotEligible(f"there are more than {_MOST_CHOICES:,} choices of {size} of {of} {what}")
    return Choices(number, number * (num_stats * (costs.CHOICE + costs.CHOICE_STATISTIC_HELD) + costs.CHOICE_HELD))


def chosen_sums(runs: np.ndarray, size: int) -> np.ndarray:
    """Return the sum `[choice, stat]` of every choice of `size` rows of `runs` `[run, stat]`, the runs of both systems.

    >>> chosen_sums(np.array([[1], [2], [10], [20]]), 2).ravel()
    array([ 3, 11, 12, 21, 22, 30])
    """
    sums, none = {0: np.zeros((1, runs.shape[1]), runs.dtype)}, np.zeros((0, runs.shape[1]), runs.dtype)
    for index, run in enumerate(runs):
        # Keep only partial choices that can be completed with the remaining runs.
        least, most = max(0, size - (len(runs) - index - 1)), min(size, index + 1)
        sums = {
            chosen: np.concatenate([sums.get(chosen, none), sums.get(chosen - 1, none) + run])
            for chosen in range(least, most + 1)
        }
    return sums[size]


_EPSILON = float(np.finfo(np.float64).eps)


class Patterns(NamedTuple):
    """The statistics of two systems' outputs, coded for `exchange_distribution`, which exchanges outputs within units.

    A statistic of an output is coded as a number of steps: by how many steps (of size `step`) it exceeds the smallest
    value of this statistic in the unit.
    """

    pooled: np.ndarray
    """`[output, axis]` int64: the statistics in `varying` of both systems' outputs, unit by unit, as numbers of steps
    above the smallest value in the unit."""
    sizes: np.ndarray
    """`[unit]`: number of outputs per system in this unit."""
    varying: np.ndarray
    """`[axis]`: indices of the statistics that vary within units. Exchanges change only the sums of these
    statistics."""
    step: np.ndarray
    """`[axis]` int64: size of a step: the greatest common divisor of all differences between values of a statistic in
    the same unit."""
    low: np.ndarray
    """`[unit, axis]` int64: smallest sum, in steps (see `pooled`), over all choices of half of the unit's outputs."""
    lowest: np.ndarray
    """`[axis]` int64: smallest possible sum of the first system over all units, as a sum of the statistics (not in
    steps)."""
    reach: np.ndarray
    """`[axis]` int64: the largest possible sum of the first system over all units minus the smallest (`lowest`), in
    steps."""
    on_grid: bool
    """How `exchange_distribution` keeps probabilities: for all integers up to the largest sum (True), or only for a
    list of the possible sums (False)."""
    cost: Cost


def find_patterns(a: np.ndarray, b: np.ndarray, sizes: np.ndarray) -> Patterns | NotEligible:
    """Prepare the exact test that exchanges the outputs of systems `a` and `b` within units.

    `a` and `b` are the statistics `[output, stat]` (int64) of their outputs; the outputs of a unit are adjacent.
    `sizes` `[unit]` is the number of outputs per system in each unit. Returns `NotEligible` if the sums are too large
    to be coded as integers, or if the choices of half of a unit's outputs may give more than `_MOST_OF_UNIT` different
    sums.

    In the example, a single unit has the outputs 3 and 1 of `a`, and 5 and 1 of `b`. They equal 1 + 2 `pooled`, because
    the size of a step is 2. The sum of two outputs lies between `lowest` = 2 and 2 + 3 * 2 = 8, so `reach` is 3 steps.

    >>> patterns = find_patterns(np.array([[3], [1]]), np.array([[5], [1]]), np.array([2]))
    >>> patterns.pooled.ravel(), patterns.step, patterns.lowest, patterns.reach
    (array([1, 0, 2, 0]), array([2]), array([2]), array([3]))
    """
    unit = np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(np.concatenate([unit, unit]), kind="stable")
    both, starts = np.concatenate([a, b])[order], 2 * (np.cumsum(sizes) - sizes)
    smallest = np.minimum.reduceat(both, starts)
    pooled = both - np.repeat(smallest, 2 * sizes, axis=0)
    varying = np.flatnonzero(pooled.any(axis=0))
    step = np.gcd.reduce(pooled[:, varying], axis=0)
    pooled = pooled[:, varying] // step
    low, high = _ends(pooled, sizes)
    lowest = low.sum(axis=0) * step + (smallest[:, varying] * sizes[:, None]).sum(axis=0)
    reach = (high - low).sum(axis=0)
    points = math.prod(int(each) + 1 for each in reach)
    if points * (2 * int(sizes.max()) + 1) ** 2 >= _LARGEST_KEY:
        return NotEligible("the differences of the outputs are too large for an exact test")
    choices = np.array([min(math.comb(2 * size, size), 2 * _MOST_OF_UNIT) for size in sizes.tolist()])
    num_sums = np.minimum(np.prod(high - low + 1.0, axis=1), choices)
    if num_sums.max() > _MOST_OF_UNIT:
        return NotEligible("outputs of a unit have too many different sums for an exact test")
    on_grid = (costs.GRID_STEP + costs.GRID_TERM * points) * float(num_sums.sum())
    with np.errstate(over="ignore"):
        most = 2.0 * float(np.prod(num_sums))
    sorted_ = costs.SORTED_SUM * most
    held = points if on_grid.seconds <= sorted_.seconds else most
    cost = _cost_to_count(pooled, sizes, num_sums) + min(on_grid, sorted_, key=lambda each: each.seconds)
    cost += held * (costs.SORTED_STATISTIC_HELD * a.shape[1] + costs.SORTED_SUM_HELD)
    return Patterns(pooled, sizes, varying, step, low, lowest, reach, held == points, cost)


def _cost_to_count(pooled: np.ndarray, sizes: np.ndarray, num_sums: np.ndarray) -> Cost:
    """Return the cost, added up over units, of finding the distinct sums of all choices of half of a unit's outputs.

    `pooled` and `sizes` are as in `Patterns`. `num_sums` `[unit]` are bounds on the numbers of distinct sums of each
    unit. Units with equal outputs are computed only once.
    """
    values, cost = math.prod(int(each) + 1 for each in pooled.max(axis=0)), Cost()
    for size in np.unique(sizes).tolist():
        kinds = min(int((sizes == size).sum()), math.comb(values + 2 * size - 1, 2 * size))
        states = min(float(num_sums[sizes == size].max()) * (size + 1), 2.0 ** min(2 * size, 1000))
        cost += 2.0 * size * kinds * (costs.COUNTED_OUTPUT + costs.SORTED_SUM * states)
    return cost


def _ends(pooled: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each unit's smallest and largest sum over all choices of half of its outputs: two arrays `[unit, axis]`.

    `pooled` and `sizes` are as in `Patterns`; the sums are in steps.
    """
    low, high = (np.zeros((len(sizes), pooled.shape[1]), np.int64) for _ in range(2))
    of_output = np.repeat(sizes, 2 * sizes)
    for size in np.unique(sizes).tolist():
        units = sizes == size
        # If no output varies, there are no columns. Then reshape could not infer the number of units from -1.
        shape = int(units.sum()), 2 * size, pooled.shape[1]
        alike = np.sort(pooled[of_output == size].reshape(shape), axis=1)
        low[units], high[units] = alike[:, :size].sum(axis=1), alike[:, size:].sum(axis=1)
    return low, high


def exchange_distribution(patterns: Patterns) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the possible sums of the first system and their probabilities under the null hypothesis.

    Returns three results: the sums `[value, axis]` (int64) of the statistics that vary within units
    (`Patterns.varying`), their probabilities `[value]`, and a bound on the relative error of a probability.

    >>> patterns = find_patterns(np.array([[3], [1]]), np.array([[5], [1]]), np.array([2]))
    >>> sums, chances, _ = exchange_distribution(patterns)
    >>> sums.ravel(), (6 * chances).round(12)
    (array([2, 4, 6, 8]), array([1., 2., 2., 1.]))
    """
    strides = np.concatenate([[1], np.cumprod(patterns.reach + 1)]).astype(np.int64)
    keys = patterns.pooled @ strides[:-1]
    known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
    join = _convolve_on_grid if patterns.on_grid else _convolve_lists
    values, chances, error = np.zeros(1, np.int64), np.ones(1), 0.0
    start = 0
    for size, low in zip(patterns.sizes.tolist(), (patterns.low @ strides[:-1]).tolist(), strict=True):
        of_unit = np.sort(keys[start : start + 2 * size])
        start += 2 * size
        if of_unit.tobytes() not in known:
            known[of_unit.tobytes()] = _unit_sums(of_unit)
        shifts, shift_chances = known[of_unit.tobytes()]
        values, chances = join(values, chances, shifts - low, shift_chances)
        error += (len(shift_chances) + 2.0) * _EPSILON
    attained = np.flatnonzero(chances)
    steps = values[attained, None] // strides[:-1] % (patterns.reach + 1)
    return patterns.lowest + steps * patterns.step, chances[attained], error


def _unit_sums(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct sums of randomly chosen integers, ascending, and their probabilities.

    Half of the integers `keys` (an even number of them) are chosen, without replacement.
    """
    size, radix = len(keys) // 2, len(keys) + 1
    sums, counts = np.zeros(1, np.int64), np.ones(1)
    for key in (keys * radix + 1).tolist():  # the last digit counts the chosen outputs
        sums, inverse = np.unique(np.concatenate([sums, sums + key]), return_inverse=True)
        counts = np.bincount(inverse, np.concatenate([counts, counts])) / 2.0  # halved, or many outputs would overflow
        kept = sums % radix <= size
        sums, counts = sums[kept], counts[kept]
    chosen = sums % radix == size
    return sums[chosen] // radix, counts[chosen] / counts[chosen].sum()


def _convolve_on_grid(
    values: np.ndarray, chances: np.ndarray, shifts: np.ndarray, shift_chances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distribution of the sum of two independent random integers: its values and their probabilities.

    The first integer has the values 0, 1, ... (`values`) with the probabilities `chances`. The second integer has the
    values `shifts` with the probabilities `shift_chances`. The values of the sum are 0, 1, ... up to the largest sum.
    """
    joined = np.zeros(len(values) + int(shifts[-1]))
    for shift, chance in zip(shifts.tolist(), shift_chances.tolist(), strict=True):
        joined[shift : shift + len(values)] += chance * chances
    return np.arange(len(joined)), joined


def _convolve_lists(
    values: np.ndarray, chances: np.ndarray, shifts: np.ndarray, shift_chances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distribution of the sum of two independent random integers: possible values and probabilities.

    The first integer has the `values` with the probabilities `chances`, the second integer the values `shifts` with the
    probabilities `shift_chances`.
    """
    sums, inverse = np.unique((values[:, None] + shifts).ravel(), return_inverse=True)
    return sums, np.bincount(inverse, (chances[:, None] * shift_chances).ravel())


_MOST_TERMS = 5e8
"""Largest number of additions in the shift algorithm, which take a second or two."""
_MOST_NUMBERS = 2**24
"""Largest number of numbers in the grid of the shift algorithm."""
_UNDERFLOW = math.log(1e-280)
"""Limit for log probabilities of the shift algorithm: below it, they may be inaccurate because of underflow."""
_CHOICE_BITS = 50
"""Limit for the number of equally likely samples, as a power of 2: a double holds every number of samples below 2^50
exactly."""


class SampleDistribution(NamedTuple):
    """The distribution of the sum of a random sample (without replacement) from a list of integers."""

    sums: np.ndarray
    """`[value]` int64: the possible sums of a random sample."""
    log_chances: np.ndarray
    """`[value]`: the logarithm of the probability of each sum in `sums`."""
    choices: int | None
    """Number of possible samples, which are equally likely; None if there are more than 2^50."""
    error: float
    """Bound on the relative error of each probability whose logarithm is in `log_chances`."""
    least: float
    """Limit for log probabilities: below it, they may be inaccurate because of underflow."""

    def tail(self, hit: np.ndarray) -> PValue | None:
        """Return the probability that the sum is one of the marked values, as a `PValue` (p, log10 p, error bound).

        `hit` `[value]` marks at least one value. Returns None if the log probability is below `least`, because it may
        then be inaccurate.

        >>> sums = sample_distribution(np.array([1, 2, 3, 5]), 2)
        >>> sums.tail(sums.sums >= 6)[0]
        0.5
        """
        log_p = _log_sum(self.log_chances[hit])
        if log_p < self.least:
            return None
        if log_p > math.log(0.5):  # 1 - p is smaller, so it is more accurate
            log_p = math.log1p(-math.exp(_log_sum(self.log_chances[~hit]))) if not hit.all() else 0.0
        if self.choices is not None:
            p_value = round(math.exp(log_p) * self.choices) / self.choices
            return p_value, math.log10(p_value), 0.0
        return math.exp(log_p), log_p / math.log(10.0) + 0.0, self.error


def sample_distribution(values: np.ndarray, size: int) -> SampleDistribution | NotEligible:
    """Compute the distribution of the sum of `size` integers that are chosen at random from `values` `[unit]`.

    The choice is without replacement. `size` is at least 1 and less than the number of units. Returns `NotEligible` if
    the shift algorithm would need more than `_MOST_NUMBERS` numbers or `_MOST_TERMS` additions.

    >>> sums = sample_distribution(np.array([1, 1, 2, 4]), 2)
    >>> sums.sums, (6 * np.exp(sums.log_chances)).round(12)
    (array([2, 3, 5, 6]), array([1., 2., 2., 1.]))
    """
    lowest, units, small = int(values.min()), len(values), min(size, len(values) - size)
    scale = int(np.gcd.reduce(values - lowest)) or 1
    steps = np.sort((values - lowest) // scale)
    if steps[-1] <= 1:
        sums, logs = _hypergeometric(int(steps.sum()), units, small)
        # Errors: logarithms of ratios of probabilities are added up, starting from the likeliest value.
        error, least = _EPSILON * (4.0 * units + float(np.abs(logs).max())), -math.inf
    else:
        numbers = (small + 1.0) * float(steps[-small:].sum() + 1)
        if numbers > _MOST_NUMBERS or numbers * units > _MOST_TERMS:
            return NotEligible("the sums have too many values for an exact test")
        sums, logs = _shift_algorithm(steps, small)
        error, least = _EPSILON * (4.0 * units + 4.0), _UNDERFLOW
    sums = sums * scale + small * lowest
    if small < size:  # the wanted sum is the total minus the sum of the other units
        sums = int(values.sum()) - sums
    log_choices = math.lgamma(units + 1) - math.lgamma(size + 1) - math.lgamma(units - size + 1)
    choices = math.comb(units, size) if log_choices < _CHOICE_BITS * math.log(2.0) else None
    return SampleDistribution(sums, logs, choices, error, least)


def _hypergeometric(ones: int, units: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the possible numbers of ones in a random choice of `size` units, and their log probabilities.

    `ones` of the `units` units have the value 1; all other units have the value 0.
    """
    sums = np.arange(max(0, size - (units - ones)), min(ones, size) + 1)
    k = sums[:-1].astype(np.float64)
    ratios = np.log((ones - k) * (size - k)) - np.log((k + 1.0) * (units - ones - size + k + 1.0))
    top = int(np.count_nonzero(ratios > 0.0))
    logs = np.concatenate([-np.cumsum(ratios[:top][::-1])[::-1], [0.0], np.cumsum(ratios[top:])])
    return sums, logs - _log_sum(logs)


def _shift_algorithm(steps: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the possible sums of a random choice of `size` of the integers `steps`, and their log probabilities.

    The sums are ascending. `steps` are nonnegative and ascending.
    """
    share, width = size / len(steps), int(steps[-size:].sum()) + 1
    grid = np.zeros((size + 1, width))
    grid[0, 0], reach = 1.0, 1
    for step in steps.tolist():  # choose each unit with probability `share`, then condition on `size` units
        reach = min(reach + step, width)
        here = grid[:, :reach]
        moved = share * here[:-1, : reach - step]
        here *= 1.0 - share
        here[1:, step:] += moved
    chances = grid[size] / grid[size].sum()
    sums = np.flatnonzero(chances)
    return sums, np.log(chances[sums])


def _log_sum(logs: np.ndarray) -> float:
    """Return the logarithm of the sum of exp(logs)."""
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))
