"""The exact p-value of a pair: the probability of all sums whose difference of scores is as extreme as observed.

The score is evaluated on every value that the sum can take, so any metric will do: it need not be linear or even
monotone in the sum. Exchanging the systems turns S into -S and delta into -delta, so half of the values are enough.
"""

import math
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.bracket import Bracket
from sigjax.exact.charfun import DEVIATIONS, EPSILON
from sigjax.exact.lattice import Lattice, plane_axes
from sigjax.exact.masses import Mass, join_lines, line_values, upper_mass
from sigjax.exact.signs import sign_sums
from sigjax.records import Alternative
from sigjax.resample.tally import extreme

Delta = Callable[..., np.ndarray]
"""Values of S on each axis, of shapes [pair, ...] that broadcast -> differences of scores [pair, ...]."""
SetMass = Callable[[np.ndarray, np.ndarray], Mass]
"""(values hit [pair, value], values whose mirror image is hit [pair, value]) -> their mass."""

_MOST_COINS = 50
"""With so few coins a p-value times 2^coins is a whole number that a double can hold."""


class Criterion(NamedTuple):
    """What counts as extreme, for each pair."""

    delta: np.ndarray
    """[pair]: the observed difference."""
    tolerance: np.ndarray
    """[pair]: differences closer than this are ties."""
    alternative: Alternative
    mid_p: bool = False
    """Count ties half."""

    def met(self, delta: np.ndarray) -> np.ndarray:
        """Whether differences `[pair, value]` are extreme."""
        return extreme(delta, self.delta[:, None], self.tolerance[:, None], self.alternative)

    def tied(self, delta: np.ndarray) -> np.ndarray:
        """Whether extreme differences `[pair, value]` are no more extreme than observed."""
        observed, tolerance = self.delta[:, None], self.tolerance[:, None]
        if self.alternative == "greater":
            return delta <= observed + tolerance
        if self.alternative == "less":
            return delta >= observed - tolerance
        return abs(delta) <= abs(observed) + tolerance


class ExactP(NamedTuple):
    """An exact p-value."""

    p_value: float
    log10_p: float
    """Right also where `p_value` is below the smallest double."""
    error_bound: float = 0.0
    """Bound on the relative error; 0 where the p-value is a whole number of 2^coins outcomes."""
    bracket: tuple[float, float] | None = None
    """Certain bounds on the p-value, where it is not known more closely; `p_value` is the upper one."""


def line_ps(
    lattices: Sequence[Lattice], delta: Delta, criterion: Criterion, platform: str | None = None
) -> list[ExactP]:
    """Exact p-values of pairs with one axis, together on a common grid.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> lattice = pair_lattice(np.array([[1], [1], [1]]), np.array([[0], [0], [0]]), ("value",))
        >>> criterion = Criterion(np.array([3.0]), np.array([1e-9]), "greater")
        >>> line_ps([lattice], lambda values: values, criterion)[0].p_value
        0.125
    """
    lines = join_lines(lattices, platform)
    observed = np.array([abs(int(lattice.observed[0])) for lattice in lattices])
    farthest = np.minimum(lines.reach, observed + 2 * np.ceil(DEVIATIONS * lines.deviation / 2).astype(np.int64))
    values = line_values(lines, farthest)
    valid = np.ones(values.shape, bool)
    valid[:, 1:] = values[:, 1:] > values[:, :-1]

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        above, other = upper_mass(lines, hit), (hit != mirrored).any(axis=1)
        below = upper_mass(lines, mirrored & other[:, None]) if other.any() else above
        below = Mass(*(np.where(other, *both) for both in zip(below, above, strict=True)))
        return Mass(np.logaddexp(above.log_p, below.log_p), np.logaddexp(above.log_error, below.log_error))

    return _settle(mass, sets_of(delta(values), criterion, valid=valid, mirrored=valid & (values > 0)), lines.coins)


def full_p(
    lattice: Lattice,
    probabilities: np.ndarray,
    error: Callable[[float], float],
    delta: Delta,
    criterion: Criterion,
) -> ExactP:
    """Exact p-value from the probabilities of all that S can reach, P(S = 2k - reach), for one or two axes.

    `error` maps a sum of them to a bound on its absolute error.
    """
    reach = lattice.reach
    # Rounding gives some impossible values a probability, and a score need not be a number there.
    if lattice.axes == 1:
        values = np.arange(reach[0] % 2, reach[0] + 1, 2)[:, None]
    else:
        first, second, inside = plane_axes(lattice, reach)
        values = np.stack([each[at] for each, at in zip((first, second), np.nonzero(inside), strict=True)], axis=1)
    chances = probabilities[tuple((values + reach).T // 2)]
    values, chances = values[chances > 0.0], chances[None, chances > 0.0]

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        masses = (chances * hit).sum(axis=1) + (chances * mirrored).sum(axis=1)
        with np.errstate(divide="ignore"):
            return Mass(np.log(masses), np.log(np.array([error(float(each)) for each in masses])))

    return _settle(mass, sets_of(delta(*values.T[:, None]), criterion, mirrored=values[:, 0] > 0), [lattice.coins])[0]


def chances_p(delta: np.ndarray, chances: np.ndarray, error: float, criterion: Criterion) -> ExactP:
    """Exact p-value of one pair from all differences of scores `[value]` and their probabilities `[value]`.

    `error` is a bound on the relative error of a probability.
    """

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        with np.errstate(divide="ignore"):
            log_p = np.log((chances * hit).sum(axis=1))
        return Mass(log_p, log_p + math.log(error + EPSILON))

    return _settle(mass, sets_of(delta[None], criterion, mirrored=False), [_MOST_COINS + 1])[0]


def signs_p(lattice: Lattice, delta: Delta, criterion: Criterion) -> ExactP:
    """Exact p-value from all sign vectors of few units."""
    return outcomes_p(delta(*sign_sums(lattice).T[:, None]), criterion, lattice.coins)


def outcomes_p(delta: np.ndarray, criterion: Criterion, coins: int) -> ExactP:
    """Exact p-value from the differences of scores `[1, outcome]` of all sign vectors whose first sign is +."""

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        with np.errstate(divide="ignore"):
            log_p = np.log((hit.sum(axis=1) + mirrored.sum(axis=1)) / 2.0**coins)
        return Mass(log_p, np.full(1, -np.inf))

    return _settle(mass, sets_of(delta, criterion), [coins])[0]


def bracketed_p(bracket: Bracket, coins: int | None) -> ExactP:
    """The upper end of a bracket; `coins` if both ends were counted in whole outcomes."""
    width = -math.expm1(bracket.log_low - bracket.log_high)
    if width == 0.0 and coins is not None:
        return _rounded(bracket.log_high, 0.0, coins)
    ends = (math.exp(bracket.log_low), math.exp(bracket.log_high))
    return ExactP(ends[1], bracket.log_high / math.log(10.0) + 0.0, width + 0.0, ends)


Sets = list[np.ndarray]
"""[pair, value]: extreme values, those whose mirror images are, the rest of both, and for mid-p the ties of both."""


def sets_of(delta: np.ndarray, criterion: Criterion, *, valid: Any = True, mirrored: Any = True) -> Sets:
    """The sets of differences of scores `[pair, value]`; valid values are `mirrored` that are not their own mirror."""
    met = criterion.met(delta)
    image = met if criterion.alternative == "two-sided" else criterion.met(-delta)
    sets = [met & valid, image & mirrored, ~met & valid, ~image & mirrored]
    if criterion.mid_p:
        sets += [sets[0] & criterion.tied(delta), sets[1] & criterion.tied(-delta)]
    return sets


def _settle(mass: SetMass, sets: Sets, coins: Sequence[int] | np.ndarray) -> list[ExactP]:
    """P-values of pairs."""
    asking = settling(sets, coins)
    reply: Any = None  # begins
    while True:
        try:
            hit, image = asking.send(reply)
        except StopIteration as stop:
            return stop.value
        reply = mass(hit, image)


def settling(
    sets: Sets, coins: Sequence[int] | np.ndarray
) -> Generator[tuple[np.ndarray, np.ndarray], Mass, list[ExactP]]:
    """P-values of pairs, to whoever answers which masses the sets have that it yields, as `SetMass` does."""
    hit, image, missed, missed_image, *tied = sets
    log_p, log_error = yield hit, image
    if (likely := log_p > math.log(0.5)).any():
        # Close to 1 the complement is the small number, and has more digits.
        rest = yield missed & likely[:, None], missed_image & likely[:, None]
        with np.errstate(divide="ignore"):  # pairs that are not likely
            log_p = np.where(likely, np.log1p(-np.exp(np.minimum(rest.log_p, 0.0))), log_p)
        log_error = np.where(likely, rest.log_error, log_error)
    if tied:
        ties = yield tied[0], tied[1]
        log_p = log_p + np.log1p(-0.5 * np.exp(ties.log_p - log_p))
        log_error = np.logaddexp(log_error, ties.log_error)
    with np.errstate(invalid="ignore", over="ignore"):  # -inf where everything underflows, or nearly so
        error = np.exp(log_error - log_p)
    return [_rounded(*each) for each in zip(log_p.tolist(), error.tolist(), coins, strict=True)]


def _rounded(log_p: float, error: float, coins: int) -> ExactP:
    """The p-value; with few coins, rounded to a whole number of outcomes (or half of one, for mid-p)."""
    p_value = math.exp(log_p)
    outcomes = 2.0 ** (min(int(coins), _MOST_COINS) + 1) * p_value
    if coins <= _MOST_COINS and error * outcomes < 0.25:
        p_value = round(outcomes) / 2.0 ** (int(coins) + 1)
        return ExactP(p_value, math.log10(p_value), 0.0)
    return ExactP(p_value, log_p / math.log(10.0) + 0.0, error + EPSILON * (1.0 - log_p))
