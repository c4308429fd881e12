"""Probabilities of a random-sign sum from its characteristic function, by one inverse FFT.

With K = (S + reach) / 2 the sum becomes K = sum of v times Binomial(c_v, pi_v), whose characteristic function is the
product over rows of (1 - pi_v + pi_v e^{iwv})^{c_v}. For fair coins pi = 1/2. Small tail probabilities are found by
exponential tilting: coins with pi_v = 1 / (1 + exp(-2 theta v)), theta chosen so that the mean of S is at the edge of
the tail, make every probability there of ordinary size; the change of measure is undone with logarithms. Method: the
exact test of Zmigrod, Vieira and Cotterell (2022), without their recursion over sentences; tilting as in saddlepoint
theory (Daniels 1954), but with no approximation.
"""

import math
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import Lattice

_DEVIATIONS = 9.0
"""Half-width of the window in standard deviations of S."""
_MOST_TILT = 18.0
"""Tilts beyond this would make the smallest coin certain in float64."""


class Tail(NamedTuple):
    """Tilted probabilities P_theta(S = edge), P_theta(S = edge + 2), ... and what undoes the tilt."""

    edge: int
    theta: float
    log_scale: float
    """log of M(theta) exp(-theta edge): P(S = s) = exp(log_scale - theta (s - edge)) P_theta(S = s)."""
    probabilities: np.ndarray
    """[s]: from the edge upwards in steps of 2."""


def window(lattice: Lattice) -> int:
    """Half-width of the window around a mean of S, in values of S.

    By Hoeffding's inequality the mass outside is at most 2 exp(-c^2 / 2) with c = 9 standard deviations, 6e-18, under
    any tilt, since each term keeps the range [-v, v].
    """
    deviation = math.sqrt(float((lattice.steps.astype(np.float64) ** 2 * lattice.multiplicity).sum()))
    return min(2 * lattice.reach, 2 * math.ceil(_DEVIATIONS * deviation / 2) + 2)


def grid_cost(lattice: Lattice) -> int:
    """Terms of the characteristic function to evaluate: rows times frequencies."""
    return len(lattice.steps) * grid_length(lattice) // 2


def upper_tail(lattice: Lattice, edge: int) -> Tail:
    """Probabilities of S = edge, edge + 2, ..., up to the end of the window; `edge` >= 0 has the parity of S."""
    theta = _tilt(lattice, edge)
    length = grid_length(lattice)
    odds = 1.0 / (1.0 + np.exp(-2.0 * theta * lattice.steps))
    log_size = np.zeros(length // 2 + 1)
    angle = np.zeros(length // 2 + 1)
    frequency = np.arange(length // 2 + 1)
    for step, count, chance in zip(lattice.steps.tolist(), lattice.multiplicity.tolist(), odds.tolist(), strict=True):
        # The turn is reduced as a whole number first: large frequencies lose no digits.
        turn = frequency * (step % length) % length * (2.0 * math.pi / length)
        with np.errstate(divide="ignore"):
            log_size += 0.5 * count * np.log1p(-4.0 * chance * (1.0 - chance) * np.sin(0.5 * turn) ** 2)
        angle += count * np.arctan2(chance * np.sin(turn), 1.0 - chance + chance * np.cos(turn))
    first = (edge + lattice.reach) // 2
    angle -= frequency * (first % length) % length * (2.0 * math.pi / length)
    # irfft carries the other sign in its exponent; the probabilities are real, so the conjugate serves.
    spectrum = np.exp(log_size) * (np.cos(angle) - 1j * np.sin(angle))
    probabilities = np.fft.irfft(spectrum, length)[: (min(edge + window(lattice), lattice.reach) - edge) // 2 + 1]
    return Tail(edge, theta, _log_moment(lattice, theta) - theta * edge, probabilities)


def grid_length(lattice: Lattice) -> int:
    """Length of the FFT: a power of two that holds the whole window, in steps of 2 of S."""
    values = min(lattice.reach, window(lattice)) + 1
    return 2 ** max(1, (values - 1).bit_length())


def _tilt(lattice: Lattice, edge: int) -> float:
    """The theta >= 0 at which the mean of S, the sum of c_v v tanh(theta v), is at the edge (by bisection)."""
    low, high = 0.0, _MOST_TILT / float(lattice.steps[0])
    if edge <= 0:
        return 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        mean = float((lattice.multiplicity * lattice.steps * np.tanh(middle * lattice.steps)).sum())
        low, high = (middle, high) if mean < edge else (low, middle)
    return 0.5 * (low + high)


def _log_moment(lattice: Lattice, theta: float) -> float:
    """The logarithm of E exp(theta S), the sum of c_v log cosh(theta v)."""
    size = theta * lattice.steps
    return float((lattice.multiplicity * (size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0))).sum())
