r"""Characteristic functions of all pairs of a board at the frequencies that count.

With K = (S + sum of the rows) / 2, a sum of v times Binomial(c_v, pi_v), the function is the product over rows of
$(e^{ix} (\cos x + i \tanh(\theta v) \sin x))^{c_v}$, x half the angle w.v. Modulus and angle are sums over rows: two
products of the counts of the pairs with tables of the board. The angles x are whole parts of a turn, and are added as
whole numbers, so no digits are lost.

**Errors** are worst cases, in multiples of the unit roundoff u (`unit`). Elementary functions of NumPy, and of XLA on
CPU and GPU, are taken to err by at most 4 units in the last place, 8 u, as their manuals promise. A sum of n terms of
one sign, in any order, has a relative error below n u / (1 - n u) (Higham 2002, section 4.2). Whole numbers are exact.

Where it is small, the function is left out: on a grid of nine standard deviations that leaves some 30 frequencies an
axis, whatever the number of units. By $\log(1 - x) \le -x$, its modulus is at most $\exp(-\sum c_v \pi_v (1 - \pi_v)
(1 - \cos w v))$; with the least counts that any pair of a group has, this serves all of them.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.distributions import MOST_LEAN, centred, line_frequencies, sum_exponents

NEGLIGIBLE, LONG_NEGLIGIBLE = 36.0, 40.0
"""Frequencies where the modulus is below exp(-36) = 2e-16 for all pairs are left out, with long doubles exp(-40)."""
PI = np.longdouble("3.14159265358979323846264338327950288")
Real = type[np.floating[Any]]
"""float64; on the host also long doubles, which many machines have, for what float64 leaves open."""


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
    """Of the grid, in steps of K, for each axis."""
    number: np.ndarray
    """[axis, frequency] int64: waves over the length of the axis; on the last axis from 0 to half of the length."""
    left_out: float
    """Bound on the mean modulus of what is left out, over all frequencies."""

    @property
    def whole(self) -> int:
        """Parts of a half turn, of which all half angles are whole numbers."""
        return math.lcm(*self.lengths)

    @property
    def both(self) -> np.ndarray:
        """[frequency]: 2 where it stands for its mirror image, too."""
        return np.where(2 * self.number[-1] % self.lengths[-1] == 0, 1.0, 2.0)

    @property
    def shifts(self) -> np.ndarray:
        """[axis, frequency]: parts of a half turn for a step of K."""
        return 2 * self.whole // np.array(self.lengths)[:, None] * self.number

    def __len__(self) -> int:
        """How many there are."""
        return self.number.shape[1]


def find_frequencies(
    rows: np.ndarray, weight: np.ndarray, lengths: tuple[int, ...], negligible: float = NEGLIGIBLE
) -> Frequencies:
    """The frequencies that count where each pair has at least this `weight` `[row]`, the chances pi (1 - pi) c."""
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
    """The half angles; `known` are those of `all_angles`, where these are fewer."""
    whole = frequencies.whole
    turns = np.sum([rows[:, axis, None] * (each // 2) for axis, each in enumerate(frequencies.shifts)], axis=0) % whole
    if known is None:
        return _angles_at(turns, whole, real, real)
    return Angles(known.phases[turns], known.sine[turns], known.cosine[turns], known.error)


def all_angles(rows: np.ndarray, frequencies: Frequencies, real: Real, *, precise: bool = False) -> Angles | None:
    """All angles that rows can have on the grid, in order; None where rows and frequencies are fewer.

    Those that are `precise` come from long doubles, rounded once.
    """
    whole = frequencies.whole
    if whole >= len(rows) * len(frequencies):
        return None
    return _angles_at(np.arange(whole), whole, np.longdouble if precise else real, real)


def _angles_at(turns: np.ndarray, whole: int, by: Real, real: Real) -> Angles:
    phases = centred(turns.astype(np.float64), whole)
    if by == np.longdouble:
        quarters = 2 * np.abs(phases).astype(np.int64)
        sine, cosine = _sines(quarters, whole) * np.sign(phases), _sines(whole - quarters, whole)
    else:
        part = pi(by) / whole
        sine, cosine = np.sin(phases * part), np.sin((0.5 * whole - np.abs(phases)) * part)
    error = ROUNDED if unit(by) < unit(real) / 64.0 else _OF_LONG_SINE if by == np.longdouble else _OF_SINE
    return Angles(phases.astype(real), sine.astype(real), cosine.astype(real), error)


_FINE = 512
"""Angles of the finer of two tables."""


def _sines(number: np.ndarray, whole: int) -> np.ndarray:
    """Sines of so many quarters of a turn over `whole`, up to one, as long doubles: sums of what two tables have.

    Nothing cancels: all parts are positive.
    """
    coarse, fine = np.divmod(number, _FINE)
    part = PI / (2 * whole)
    few, many = np.arange(_FINE) * part, np.arange(whole // _FINE + 1) * _FINE * part
    return np.sin(many)[coarse] * np.cos(few)[fine] + np.cos(many)[coarse] * np.sin(few)[fine]


ROUNDED = 2.0
"""Bound, in units of roundoff, on the relative error of what longer numbers give, rounded once."""
_OF_SINE, _OF_LONG_SINE, _OF_FUNCTION = 11.0, 26.0, 48.0
"""Bounds, in units of roundoff, on relative errors of sine and cosine of x, a rounded multiple of pi (the second from
two such), and on that of the function where tables are exact.

The function has cosine and sine of an angle y by the tangent t of y / 2, as (1 - t^2) / (1 + t^2) and 2 t / (1 + t^2):
a relative error of t changes y by as much of sin y.
"""


class Waves(NamedTuple):
    """Tables of one tilt, for the products with the counts of pairs."""

    logs: np.ndarray
    """[row, frequency]: log modulus."""
    angles: np.ndarray
    """[row, frequency]: what the tilt adds to the angle; without one [row, 0]."""
    error: np.floating[Any]
    """Bound on the relative errors of sums over rows of `logs`."""
    of_angles: np.floating[Any]
    """The same of `angles`, and of what they are added to."""


def make_waves(rows: np.ndarray, theta: np.ndarray, found: Angles) -> Waves:
    """The tables under a tilt `[axis]`.

    1 / cosh^2 has a relative error of 20 u + 2 |theta.v| u in the numbers themselves, tanh one of 9 u. log(1 - y) up to
    y = 1/2 at most doubles that of y, and adds 8 u; beyond, 1 - y is a sum of squares. An angle is at most as sensitive
    as the ratio of which it is the arctangent.
    """
    real = found.sine.dtype
    leaning = rows.astype(np.longdouble) @ theta.astype(np.longdouble)
    lean: np.ndarray = np.tanh(leaning).astype(real)
    rest: np.ndarray = (1.0 / np.cosh(np.minimum(np.abs(leaning), MOST_LEAN)) ** 2).astype(real)
    sine, cosine = found.sine, found.cosine
    lost = rest[:, None] * (sine * sine)
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(lost, 0.5))
        far = lost > 0.5
        at = np.nonzero(far)
        logs[far] = np.log(cosine[far] ** 2 + (lean[at[0]] * sine[far]) ** 2)
    logs = np.maximum(0.5 * logs, -1e6)
    angles = np.arctan2(lean[:, None] * sine, cosine) if leaning.any() else np.zeros((len(rows), 0), real)
    of_rest, of_lean, of_sine = 20.0 + 2.0 * min(float(np.abs(leaning).max()), MOST_LEAN), 9.0, found.error
    if unit(np.longdouble) < unit(real) / 64.0:
        of_rest = of_lean = ROUNDED
    of_logs = 2.0 * max(of_rest + 2.0 * of_sine + 2.0, 2.0 * (of_lean + of_sine) + 4.0) + 8.0
    of_angles = of_lean + 2.0 * of_sine + 10.0
    return Waves(logs, angles, *(real.type(unit(real) * (len(rows) + each)) for each in (of_logs, of_angles)))


_FEW_BITS = 2.0**24


def log_moments(leaning: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log cosh(theta.v) `[row]`, as numbers of few bits, whose sums are exact, and what these leave."""
    size = np.abs(leaning.astype(np.longdouble))
    small = np.log1p(2.0 * np.sinh(0.5 * np.minimum(size, 1.0)) ** 2)
    found = np.where(size < 1.0, small, size + (np.log1p(np.exp(-2.0 * size)) - np.log(size.dtype.type(2.0))))
    short = np.rint(found * _FEW_BITS) / _FEW_BITS
    return short.astype(leaning.dtype), (found - short).astype(leaning.dtype)


def spectrum(xp: Any, counts: Any, shift: Any, tables: Any, whole: int) -> tuple[Any, Any, Any, Any]:
    """The function `[pair, frequency]`: real and imaginary part, modulus, and a bound on its error relative to that.

    `shift` `[pair, frequency]` are whole parts of a half turn that are taken off the angle. `tables` are logs and the
    bound on the errors of their sums, the same of angles, and phases.
    """
    logs, of_logs, angles, of_angles, phases = tables
    exponent = counts @ logs
    turns = counts @ phases - shift
    turns = turns - 2.0 * whole * xp.round(turns / (2.0 * whole))
    angle = turns * (pi(counts.dtype) / whole)
    size, own = xp.exp(exponent), unit(counts.dtype)
    # Beyond, the function is 0.
    error = own * _OF_FUNCTION + of_logs * xp.minimum(abs(exponent), 800.0)
    if angles.shape[1]:
        angle = angle + counts @ angles
        error = error + of_angles * (counts @ abs(angles))
    tangent = xp.tan(0.5 * angle)
    square = tangent * tangent
    shared = size / (1.0 + square)
    return shared * (1.0 - square), shared * (2.0 * tangent), size, error
