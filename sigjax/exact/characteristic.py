r"""Characteristic functions of all pairs of a board, at the frequencies at which they are not negligible.

S is the sum of the difference rows v of a pair with random signs; c_v units have the row v (see `distributions`). K =
(S + sum of the rows) / 2 is a sum over rows of v times Binomial(c_v, pi_v), where pi_v is the probability of the sign
+. Its characteristic function is the product over rows of $(e^{ix} (\cos x + i \tanh(\theta v) \sin x))^{c_v}$. Here w
is the frequency, x the half angle w.v / 2, and $\theta$ the tilt. Log modulus and angle are sums over rows. So they are
two matrix products: the counts of the pairs times tables of the board. The half angles x are integer multiples of a
small angle. They are added as integers, so no digits are lost.

**Errors** are worst cases, in multiples of the unit roundoff u (`unit`). Elementary functions of NumPy, and of XLA on
CPU and GPU, are assumed to have errors of at most 4 units in the last place (8 u), as their manuals promise. A sum of n
terms of one sign, in any order, has a relative error below n u / (1 - n u) (Higham 2002, section 4.2). Integers are
exact.

**Few frequencies matter.** Frequencies at which the characteristic function is negligible are left out. On a grid of
nine standard deviations, some 30 frequencies per axis remain, however many units there are. The selection uses a bound:
because $\log(1 - y) \le -y$ for every y < 1, the modulus is at most $\exp(-\sum c_v \pi_v (1 - \pi_v) (1 - \cos w v))$.
Pairs are tested in groups. If c_v is replaced by the smallest count of the row v in any pair of a group, the bound
holds for all pairs of the group.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.distributions import MOST_HALF_LOGIT, centred_modulo, line_frequencies, sum_exponents

NEGLIGIBLE, LONG_NEGLIGIBLE = 36.0, 40.0
"""Limits for leaving out a frequency: the characteristic functions of all pairs are below exp(-`NEGLIGIBLE`) = 2e-16 at
this frequency or, for long doubles, below exp(-`LONG_NEGLIGIBLE`) = 4e-18."""
PI = np.longdouble("3.14159265358979323846264338327950288")
Real = type[np.floating[Any]]
"""Type of the numbers: float64, or long double. Long doubles are used on the host, for pairs whose last digit is
uncertain with float64."""


def unit(real: Any) -> float:
    """Return the unit roundoff of the type `real`: the largest relative error of one rounding."""
    return 0.5 * float(np.finfo(real).eps)


def pi(real: Any) -> Any:
    """Return the number pi in the type `real`."""
    return PI if real == np.longdouble else math.pi


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The frequencies of a grid at which the characteristic functions of the pairs are not negligible."""

    lengths: tuple[int, ...]
    """Number of grid points on each axis."""
    number: np.ndarray
    """`[axis, frequency]` int64: the frequency as a number of periods per length of the axis. On the last axis, this
    number is from 0 to half of the length."""
    left_out: float
    """Bound on the error from the frequencies that are left out: the sum of the moduli of the characteristic function
    at these frequencies, divided by the number of all frequencies."""

    @property
    def half_turn(self) -> int:
        """The number L of equal parts of a half turn, chosen so that all half angles are integer multiples of pi / L.

        A half angle is w.v / 2, where w is a frequency and v the difference of two systems on a unit.
        """
        return math.lcm(*self.lengths)

    @property
    def weights(self) -> np.ndarray:
        """`[frequency]`: 2 if the frequency also stands for its opposite (which is not in the list), else 1."""
        return np.where(2 * self.number[-1] % self.lengths[-1] == 0, 1.0, 2.0)

    @property
    def phase_steps(self) -> np.ndarray:
        """`[axis, frequency]`: the change of the angle w.k from one grid point k to the next, for each frequency w.

        The changes are integers, in the unit pi / `half_turn`.
        """
        return 2 * self.half_turn // np.array(self.lengths)[:, None] * self.number

    def __len__(self) -> int:
        """The number of frequencies that are not negligible."""
        return self.number.shape[1]


def find_frequencies(
    rows: np.ndarray, weight: np.ndarray, lengths: tuple[int, ...], negligible: float = NEGLIGIBLE
) -> Frequencies:
    """Find the frequencies of a grid at which a characteristic function of a pair is not negligible.

    `lengths` are the numbers of grid points on the axes. `rows` `[row, axis]` are the difference rows v. `weight`
    `[row]` is a lower bound on c_v pi_v (1 - pi_v) for every pair; c_v is the number of units with the row, and pi_v
    the probability of the sign +. A frequency is kept if the bound on the modulus of the characteristic function (see
    the module's text) is above exp(-negligible).
    """
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
    """The half angles x = w.v / 2 of difference rows v at frequencies w, with their sines and cosines.

    A difference row is the difference of two systems on a unit, one number per axis. The arrays are `[row, frequency]`.
    In the table from `all_angles`, they are `[angle]`: the element with index j is for the angle pi j /
    `Frequencies.half_turn`.
    """

    half_angles: np.ndarray
    """The half angles as integers (stored as floats), in the unit pi / `Frequencies.half_turn`."""
    sine: np.ndarray
    cosine: np.ndarray
    error: float
    """Bound on the relative errors of `sine` and `cosine`, in multiples of the unit roundoff."""


def find_angles(rows: np.ndarray, frequencies: Frequencies, real: Real, known: Angles | None = None) -> Angles:
    """Compute the half angles of difference rows at frequencies, or look them up in the table `known`.

    `known` is a table from `all_angles`, or None.
    """
    half_turn = frequencies.half_turn
    steps = enumerate(frequencies.phase_steps)
    turns = np.sum([rows[:, axis, None] * (each // 2) for axis, each in steps], axis=0) % half_turn
    if known is None:
        return _angles_at(turns, half_turn, real, real)
    return Angles(known.half_angles[turns], known.sine[turns], known.cosine[turns], known.error)


def all_angles(rows: np.ndarray, frequencies: Frequencies, real: Real, *, precise: bool = False) -> Angles | None:
    """Make a table of all possible half angles, with their sines and cosines; None if it is too large.

    The index of an angle in the table is the angle in the unit pi / `frequencies.half_turn`. The table is too large if
    it has at least as many angles as rows times frequencies, because then it saves no work. If `precise`, sines and
    cosines are computed with long doubles and rounded once.
    """
    half_turn = frequencies.half_turn
    if half_turn >= len(rows) * len(frequencies):
        return None
    return _angles_at(np.arange(half_turn), half_turn, np.longdouble if precise else real, real)


def _angles_at(turns: np.ndarray, half_turn: int, by: Real, real: Real) -> Angles:
    half_angles = centred_modulo(turns.astype(np.float64), half_turn)
    if by == np.longdouble:
        quarters = 2 * np.abs(half_angles).astype(np.int64)
        sine, cosine = _sines(quarters, half_turn) * np.sign(half_angles), _sines(half_turn - quarters, half_turn)
    else:
        part = pi(by) / half_turn
        sine, cosine = np.sin(half_angles * part), np.sin((0.5 * half_turn - np.abs(half_angles)) * part)
    error = ROUNDED_ERROR if unit(by) < unit(real) / 64.0 else _LONG_SINE_ERROR if by == np.longdouble else _SINE_ERROR
    return Angles(half_angles.astype(real), sine.astype(real), cosine.astype(real), error)


_FINE_ANGLES = 512
"""Number of fine angles in a table. (`_sines` splits each angle into a coarse angle and a fine angle.)"""


def _sines(number: np.ndarray, quarter_turn: int) -> np.ndarray:
    """Return the sines of `number` / `quarter_turn` quarter turns, as long doubles; no angle is above a quarter turn.

    An angle is the sum of a coarse angle and a fine angle, whose sines and cosines are looked up in two tables. The
    addition theorem gives the sine of the sum. Both terms of the theorem are positive, so nothing cancels.
    """
    coarse, fine = np.divmod(number, _FINE_ANGLES)
    part = PI / (2 * quarter_turn)
    few, many = np.arange(_FINE_ANGLES) * part, np.arange(quarter_turn // _FINE_ANGLES + 1) * _FINE_ANGLES * part
    return np.sin(many)[coarse] * np.cos(few)[fine] + np.cos(many)[coarse] * np.sin(few)[fine]


ROUNDED_ERROR = 2.0
"""Bound on the relative error of a number that is computed with more digits and rounded once, in multiples of the unit
roundoff."""
_SINE_ERROR, _LONG_SINE_ERROR, _FUNCTION_ERROR = 11.0, 26.0, 48.0
"""Bounds on relative errors, in multiples of the unit roundoff. `_SINE_ERROR` is for sine and cosine of x, where x is a
rounded multiple of pi. `_LONG_SINE_ERROR` is for sines from the tables of `_sines`. `_FUNCTION_ERROR` is for the
characteristic function, without the errors of the tables from which it is computed.

The cosine and the sine of an angle y are computed from t = tan(y / 2), as (1 - t^2) / (1 + t^2) and 2 t / (1 + t^2). A
relative error e of t changes y by e sin y."""


class CharacteristicTables(NamedTuple):
    """What one unit adds to the log modulus and the angle of a pair's characteristic function, for each difference row.

    A difference row is the difference of two systems on a unit, one number per axis. The tables are for one tilt (a
    change of the signs' probabilities). The number of units of each pair with each row, `[pair, row]`, times a table
    gives the log modulus of each pair, or the part of its angle that is due to the tilt.
    """

    logs: np.ndarray
    """`[row, frequency]`: the log modulus of the characteristic function of one unit on which the systems' difference
    is this row."""
    angles: np.ndarray
    """`[row, frequency]`: the angle of the characteristic function of one unit on which the systems' difference is this
    row, but only the part that is due to the tilt. Without a tilt, the table is empty: `[row, 0]`."""
    half_angles: np.ndarray
    """`[row, frequency]`: the field `half_angles` of `Angles`, which gives the other part of the angle."""
    error: np.floating[Any]
    """Bound on the relative error if `logs` are added up over rows."""
    angles_error: np.floating[Any]
    """Bound on the relative error if `angles` are added up over rows."""


def characteristic_tables(rows: np.ndarray, theta: np.ndarray, found: Angles) -> CharacteristicTables:
    """Compute the tables for `rows` under a tilt `theta` `[axis]`, from the half angles `found`.

    Errors, where u is the unit roundoff: the relative error of 1 / cosh(theta.v)^2 is 20 u + 2 |theta.v| u, and the
    relative error of tanh(theta.v) is 9 u. The squared modulus is 1 - y with y = (sin x / cosh(theta.v))^2. For y up to
    1/2, log(1 - y) has at most twice the relative error of y, plus 8 u. For larger y, 1 - y is computed as a sum of
    squares. An arctangent has at most the relative error of its argument.
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
    errors = (real.type(unit(real) * (len(rows) + each)) for each in (logs_error, angles_error))
    return CharacteristicTables(logs, angles, found.half_angles, *errors)


_SHORT_SCALE = 2.0**24


def log_moments(half_logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log cosh of `half_logits` `[row]` as a sum of two arrays: numbers with few bits, and small remainders.

    Sums of many numbers with few bits are exact.
    """
    size = np.abs(half_logits.astype(np.longdouble))
    small = np.log1p(2.0 * np.sinh(0.5 * np.minimum(size, 1.0)) ** 2)
    found = np.where(size < 1.0, small, size + (np.log1p(np.exp(-2.0 * size)) - np.log(size.dtype.type(2.0))))
    short = np.rint(found * _SHORT_SCALE) / _SHORT_SCALE
    return short.astype(half_logits.dtype), (found - short).astype(half_logits.dtype)


def characteristic_functions(
    xp: Any, counts: Any, shift: Any, tables: CharacteristicTables, half_turn: int
) -> tuple[Any, Any, Any, Any]:
    """Compute the characteristic functions of pairs of systems.

    Returns four arrays `[pair, frequency]`: the real part, the imaginary part, the modulus, and a bound on the relative
    error.

    `counts` `[pair, row]` are the numbers of units on which the pair's difference is this row (one number per axis).
    `shift` `[pair, frequency]` is subtracted from the angle of the characteristic function. It has the unit pi /
    `half_turn`, in which the half angles are integers. `tables` are from `characteristic_tables`.
    `xp` is NumPy or `jax.numpy`.
    """
    exponent = counts @ tables.logs
    turns = counts @ tables.half_angles - shift
    turns = turns - 2.0 * half_turn * xp.round(turns / (2.0 * half_turn))
    angle = turns * (pi(counts.dtype) / half_turn)
    size, roundoff = xp.exp(exponent), unit(counts.dtype)
    # The exponent is limited in the error bound, because exp(-800) is 0 in float64.
    error = roundoff * _FUNCTION_ERROR + tables.error * xp.minimum(abs(exponent), 800.0)
    if tables.angles.shape[1]:
        angle = angle + counts @ tables.angles
        error = error + tables.angles_error * (counts @ abs(tables.angles))
    tangent = xp.tan(0.5 * angle)
    square = tangent * tangent
    shared = size / (1.0 + square)
    return shared * (1.0 - square), shared * (2.0 * tangent), size, error
