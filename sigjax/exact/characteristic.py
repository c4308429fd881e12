r"""Characteristic functions of all pairs of a board at the frequencies that count.

With K = (S + sum of the rows) / 2, a sum of v times Binomial(c_v, pi_v), the function is the product over rows of
$(e^{ix} (\cos x + i \tanh(\theta v) \sin x))^{c_v}$, x half the angle w.v. Modulus and angle are sums over rows: two
products of the counts of the pairs with tables of the board. The angles x are whole parts of a turn, and are added as
whole numbers, so no digits are lost.

**Errors** are worst cases, in multiples of the unit roundoff u (`unit`). Elementary functions of NumPy, and of XLA on
CPU and GPU, are taken to err by at most 4 units in the last place, 8 u, as their manuals promise. A sum of n terms of
one sign, in any order, has a relative error below n u / (1 - n u) (Higham 2002, section 4.2). Whole numbers are exact.

**Few frequencies count.** The function is left out at frequencies where it is small. On a grid of nine standard
deviations some 30 frequencies an axis remain, whatever the number of units. By $\log(1 - x) \le -x$, its modulus is at
most $\exp(-\sum c_v \pi_v (1 - \pi_v) (1 - \cos w v))$. With the least counts of any pair in a group, this bound holds
for all of its pairs.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.distributions import MOST_HALF_LOGIT, centred_modulo, line_frequencies, sum_exponents

NEGLIGIBLE, LONG_NEGLIGIBLE = 36.0, 40.0
"""Frequencies where the modulus is below exp(-36) = 2e-16 for all pairs are left out, with long doubles exp(-40)."""
PI = np.longdouble("3.14159265358979323846264338327950288")
Real = type[np.floating[Any]]
"""float64; on the host also long doubles, if the machine has them, for pairs that float64 leaves open."""


def unit(real: Any) -> float:
    """The relative error of a rounding."""
    return 0.5 * float(np.finfo(real).eps)


def pi(real: Any) -> Any:
    """The number pi with the digits of these numbers."""
    return PI if real == np.longdouble else math.pi


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The frequencies that count."""

    lengths: tuple[int, ...]
    """Lengths of the grid, in steps of K, for each axis."""
    number: np.ndarray
    """[axis, frequency] int64: periods over the length of the axis; on the last axis from 0 to half of the length."""
    left_out: float
    """Bound on the mean modulus over all frequencies, of those that are left out."""

    @property
    def whole(self) -> int:
        """How many parts a half turn has, so that all half angles are whole numbers of them."""
        return math.lcm(*self.lengths)

    @property
    def weights(self) -> np.ndarray:
        """[frequency]: 2 if it stands for its mirror image, too, else 1."""
        return np.where(2 * self.number[-1] % self.lengths[-1] == 0, 1.0, 2.0)

    @property
    def shifts(self) -> np.ndarray:
        """[axis, frequency]: the half angle of one step of K, in parts of a half turn."""
        return 2 * self.whole // np.array(self.lengths)[:, None] * self.number

    def __len__(self) -> int:
        """How many there are."""
        return self.number.shape[1]


def find_frequencies(
    rows: np.ndarray, weight: np.ndarray, lengths: tuple[int, ...], negligible: float = NEGLIGIBLE
) -> Frequencies:
    """The frequencies that count if each pair has at least this `weight` `[row]`, c pi (1 - pi)."""
    if len(lengths) == 1:
        number = line_frequencies(rows, weight, lengths[0], negligible)[None]
        return Frequencies(lengths, number, math.exp(-negligible))
    every = np.arange(-(lengths[0] // 2), lengths[0] - lengths[0] // 2), np.arange(lengths[1] // 2 + 1)
    exponent = sum_exponents(rows, weight, lengths, every)
    kept = np.nonzero(exponent < negligible)
    left = np.exp(-np.maximum(exponent, 0.0))
    left[kept] = 0.0
    number = np.stack([each[some] for each, some in zip(every, kept, strict=True)])
    return Frequencies(lengths, number, 2.0 * float(left.sum()) / math.prod(lengths))


class Angles(NamedTuple):
    """The half angles x of rows at frequencies, `[row, frequency]` each."""

    phases: np.ndarray
    """Whole numbers (float64): parts of a half turn."""
    sine: np.ndarray
    cosine: np.ndarray
    error: float
    """Bound on relative errors of sine and cosine, in units of roundoff."""


def find_angles(rows: np.ndarray, frequencies: Frequencies, real: Real, known: Angles | None = None) -> Angles:
    """The half angles; looked up in `known`, the result of `all_angles`, if it is given."""
    whole = frequencies.whole
    turns = np.sum([rows[:, axis, None] * (each // 2) for axis, each in enumerate(frequencies.shifts)], axis=0) % whole
    if known is None:
        return _angles_at(turns, whole, real, real)
    return Angles(known.phases[turns], known.sine[turns], known.cosine[turns], known.error)


def all_angles(rows: np.ndarray, frequencies: Frequencies, real: Real, *, precise: bool = False) -> Angles | None:
    """All angles that rows can have on the grid, in order; None if there are more angles than rows times frequencies.

    If `precise`, they are computed with long doubles and rounded once.
    """
    whole = frequencies.whole
    if whole >= len(rows) * len(frequencies):
        return None
    return _angles_at(np.arange(whole), whole, np.longdouble if precise else real, real)


def _angles_at(turns: np.ndarray, whole: int, by: Real, real: Real) -> Angles:
    phases = centred_modulo(turns.astype(np.float64), whole)
    if by == np.longdouble:
        quarters = 2 * np.abs(phases).astype(np.int64)
        sine, cosine = _sines(quarters, whole) * np.sign(phases), _sines(whole - quarters, whole)
    else:
        part = pi(by) / whole
        sine, cosine = np.sin(phases * part), np.sin((0.5 * whole - np.abs(phases)) * part)
    error = ROUNDED_ERROR if unit(by) < unit(real) / 64.0 else _LONG_SINE_ERROR if by == np.longdouble else _SINE_ERROR
    return Angles(phases.astype(real), sine.astype(real), cosine.astype(real), error)


_FINE_ANGLES = 512
"""Number of angles in the finer of two tables."""


def _sines(number: np.ndarray, whole: int) -> np.ndarray:
    """Sines of `number` / `whole` quarters of a turn (at most one), as long doubles, from two tables.

    Both terms of the addition theorem are positive, so nothing cancels.
    """
    coarse, fine = np.divmod(number, _FINE_ANGLES)
    part = PI / (2 * whole)
    few, many = np.arange(_FINE_ANGLES) * part, np.arange(whole // _FINE_ANGLES + 1) * _FINE_ANGLES * part
    return np.sin(many)[coarse] * np.cos(few)[fine] + np.cos(many)[coarse] * np.sin(few)[fine]


ROUNDED_ERROR = 2.0
"""Bound, in units of roundoff, on the relative error of a number computed in longer numbers and rounded once."""
_SINE_ERROR, _LONG_SINE_ERROR, _FUNCTION_ERROR = 11.0, 26.0, 48.0
"""Bounds, in units of roundoff, on relative errors of sine and cosine of x, a rounded multiple of pi (the second from
two such), and on that of the function where tables are exact.

The function has cosine and sine of an angle y by the tangent t of y / 2, as (1 - t^2) / (1 + t^2) and 2 t / (1 + t^2):
a relative error of t changes y by as much of sin y.
"""


class CharacteristicTables(NamedTuple):
    """The logarithms and angles of one tilt, to be multiplied with the counts of pairs."""

    logs: np.ndarray
    """[row, frequency]: log modulus."""
    angles: np.ndarray
    """[row, frequency]: what the tilt adds to the angle; [row, 0] without a tilt."""
    error: np.floating[Any]
    """Bound on the relative errors of sums over rows of `logs`."""
    angles_error: np.floating[Any]
    """Bound on the errors of `angles`, and of the angles to which they are added."""


def characteristic_tables(rows: np.ndarray, theta: np.ndarray, found: Angles) -> CharacteristicTables:
    """The tables under a tilt `[axis]`.

    1 / cosh^2 has a relative error of 20 u + 2 |theta.v| u in the numbers themselves, tanh one of 9 u. log(1 - y) up to
    y = 1/2 at most doubles that of y, and adds 8 u; beyond, 1 - y is a sum of squares. An angle is at most as sensitive
    as the ratio of which it is the arctangent.
    """
    real = found.sine.dtype
    half_logits = rows.astype(np.longdouble) @ theta.astype(np.longdouble)
    mean_signs: np.ndarray = np.tanh(half_logits).astype(real)
    rest: np.ndarray = (1.0 / np.cosh(np.minimum(np.abs(half_logits), MOST_HALF_LOGIT)) ** 2).astype(real)
    sine, cosine = found.sine, found.cosine
    sine_part = rest[:, None] * (sine * sine)
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(sine_part, 0.5))
        far = sine_part > 0.5
        at = np.nonzero(far)
        logs[far] = np.log(cosine[far] ** 2 + (mean_signs[at[0]] * sine[far]) ** 2)
    logs = np.maximum(0.5 * logs, -1e6)
    angles = np.arctan2(mean_signs[:, None] * sine, cosine) if half_logits.any() else np.zeros((len(rows), 0), real)
    complement_error, mean_error, sine_error = (
        20.0 + 2.0 * min(float(np.abs(half_logits).max()), MOST_HALF_LOGIT),
        9.0,
        found.error,
    )
    if unit(np.longdouble) < unit(real) / 64.0:
        complement_error = mean_error = ROUNDED_ERROR
    logs_error = 2.0 * max(complement_error + 2.0 * sine_error + 2.0, 2.0 * (mean_error + sine_error) + 4.0) + 8.0
    angles_error = mean_error + 2.0 * sine_error + 10.0
    return CharacteristicTables(
        logs, angles, *(real.type(unit(real) * (len(rows) + each)) for each in (logs_error, angles_error))
    )


_FEW_BITS = 2.0**24


def log_moments(half_logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log cosh(theta.v) `[row]`, split into numbers of few bits, whose sums are exact, and the remainder."""
    size = np.abs(half_logits.astype(np.longdouble))
    small = np.log1p(2.0 * np.sinh(0.5 * np.minimum(size, 1.0)) ** 2)
    found = np.where(size < 1.0, small, size + (np.log1p(np.exp(-2.0 * size)) - np.log(size.dtype.type(2.0))))
    short = np.rint(found * _FEW_BITS) / _FEW_BITS
    return short.astype(half_logits.dtype), (found - short).astype(half_logits.dtype)


def characteristic_functions(xp: Any, counts: Any, shift: Any, tables: Any, whole: int) -> tuple[Any, Any, Any, Any]:
    """The function `[pair, frequency]`: real part, imaginary part, modulus, and a bound on its relative error.

    `shift` `[pair, frequency]`, in whole parts of a half turn, is subtracted from the angle. `tables` are the logs, the
    bound on the errors of their sums, the angles, the bound on their errors, and the phases.
    """
    logs, logs_error, angles, angles_error, phases = tables
    exponent = counts @ logs
    turns = counts @ phases - shift
    turns = turns - 2.0 * whole * xp.round(turns / (2.0 * whole))
    angle = turns * (pi(counts.dtype) / whole)
    size, own = xp.exp(exponent), unit(counts.dtype)
    # Beyond, the function is 0.
    error = own * _FUNCTION_ERROR + logs_error * xp.minimum(abs(exponent), 800.0)
    if angles.shape[1]:
        angle = angle + counts @ angles
        error = error + angles_error * (counts @ abs(angles))
    tangent = xp.tan(0.5 * angle)
    square = tangent * tangent
    shared = size / (1.0 + square)
    return shared * (1.0 - square), shared * (2.0 * tangent), size, error
