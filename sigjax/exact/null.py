"""The exact p-value of a pair: the probability of all sums whose difference of scores is as extreme as observed.

The score is evaluated on every value that the sum can take, so any metric will do: it need not be linear or even
monotone in the sum. Exchanging the systems turns S into -S and delta into -delta, so half of the values are enough.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from sigjax.exact.bracket import Bracket
from sigjax.exact.charfun import EPSILON
from sigjax.exact.lattice import Lattice, plane_axes
from sigjax.exact.signs import sign_sums
from sigjax.records import Alternative
from sigjax.resample.tally import extreme

Delta = Callable[..., np.ndarray]
"""Values of S on each axis, of shapes [pair, ...] that broadcast -> differences of scores [pair, ...]."""
SetMass = Callable[[np.ndarray, np.ndarray], "Mass"]
"""(values hit [pair, value], values whose mirror image is hit [pair, value]) -> their mass."""

_MOST_COINS = 50
"""With so few coins a p-value times 2^coins is a whole number that a double can hold."""


class Mass(NamedTuple):
    """Natural logarithms of a probability (-inf for an empty set) and of a bound on its error."""

    log_p: Any
    """[pair], or a number for one pair."""
    log_error: Any


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

    return settle(mass, sets_of(delta(*values.T[:, None]), criterion, mirrored=values[:, 0] > 0), [lattice.coins])[0]


def chances_p(delta: np.ndarray, chances: np.ndarray, error: float, criterion: Criterion) -> ExactP:
    """Exact p-value of one pair from all differences of scores `[value]` and their probabilities `[value]`.

    `error` is a bound on the relative error of a probability.
    """

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        with np.errstate(divide="ignore"):
            log_p = np.log((chances * hit).sum(axis=1))
        return Mass(log_p, log_p + math.log(error + EPSILON))

    return settle(mass, sets_of(delta[None], criterion, mirrored=False), [_MOST_COINS + 1])[0]


def signs_p(lattice: Lattice, delta: Delta, criterion: Criterion) -> ExactP:
    """Exact p-value from all sign vectors of few units."""
    return outcomes_p(delta(*sign_sums(lattice).T[:, None]), criterion, lattice.coins)


def outcomes_p(delta: np.ndarray, criterion: Criterion, coins: int) -> ExactP:
    """Exact p-value from the differences of scores `[1, outcome]` of all sign vectors whose first sign is +."""

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        with np.errstate(divide="ignore"):
            log_p = np.log((hit.sum(axis=1) + mirrored.sum(axis=1)) / 2.0**coins)
        return Mass(log_p, np.full(1, -np.inf))

    return settle(mass, sets_of(delta, criterion), [coins])[0]


def bracketed_p(bracket: Bracket, coins: int | None) -> ExactP:
    """The upper end of a bracket; `coins` if both ends were counted in whole outcomes."""
    width = -math.expm1(bracket.log_low - bracket.log_high)
    if width == 0.0 and coins is not None:
        return _rounded(bracket.log_high, 0.0, coins)
    ends = (math.exp(bracket.log_low), math.exp(bracket.log_high))
    return ExactP(ends[1], bracket.log_high / math.log(10.0) + 0.0, width + 0.0, ends)


Kind = Literal["extreme", "rest", "ties"]
Sets = dict[Kind, tuple[np.ndarray, np.ndarray]]
"""Which values `[pair, value]` are extreme, which are not, and for mid-p which tie; and whose mirror images are."""


def sets_of(delta: np.ndarray, criterion: Criterion, *, valid: Any = True, mirrored: Any = True) -> Sets:
    """The sets of differences of scores `[pair, value]`; valid values are `mirrored` that are not their own mirror."""
    met = criterion.met(delta)
    image = met if criterion.alternative == "two-sided" else criterion.met(-delta)
    sets: Sets = {"extreme": (met & valid, image & mirrored), "rest": (~met & valid, ~image & mirrored)}
    if criterion.mid_p:
        hit, mirror = sets["extreme"]
        sets["ties"] = hit & criterion.tied(delta), mirror & criterion.tied(-delta)
    return sets


def settle(mass: SetMass, sets: Sets, coins: Sequence[int] | np.ndarray) -> list[ExactP]:
    """P-values of pairs on a common grid; `mass` gives the mass of (values hit, values whose mirror image is)."""

    def masses(kind: Kind, wanted: np.ndarray) -> Mass:
        hit, image = sets[kind]
        return mass(hit, image) if wanted.all() else mass(hit & wanted[:, None], image & wanted[:, None])

    return settle_together(masses, coins, mid_p="ties" in sets)


def settle_together(
    masses: Callable[[Kind, np.ndarray], Mass],
    coins: Sequence[int] | np.ndarray,
    *,
    mid_p: bool,
) -> list[ExactP]:
    """P-values of pairs; `masses` gives the mass of a set of each pair that is wanted `[pair]`."""
    everyone = np.ones(len(coins), bool)
    log_p, log_error = masses("extreme", everyone)
    if (likely := log_p > math.log(0.5)).any():
        # Close to 1 the complement is the small number, and has more digits.
        rest = masses("rest", likely)
        with np.errstate(divide="ignore"):  # pairs that are not likely
            log_p = np.where(likely, np.log1p(-np.exp(np.minimum(rest.log_p, 0.0))), log_p)
        log_error = np.where(likely, rest.log_error, log_error)
    if mid_p:
        ties = masses("ties", everyone)
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
