"""Exponential tilting: coins weighted so that the mean of the sum lies where a small probability comes from.

Under the tilt theta, P_theta(S = s) = exp(theta.s) P(S = s) / M(theta), with M(theta) = E exp(theta.S) the product of
cosh(theta.v) over coins. So P(S = s) = exp(log M(theta) - theta.s) P_theta(S = s), and if the mean of S under P_theta
is near s, the last factor is of ordinary size. Reference: Daniels (1954), "Saddlepoint approximations in statistics".
"""

import math

import numpy as np

_MOST_TILT = 18.0
"""Tilts beyond this make the smallest coin certain in float64."""
_CLOSE = 1e-6
"""A mean this close to the wanted one, in standard deviations, will do."""
_MOST_STEPS = 200
_GAIN = 1e-3
"""A step that gains less than this in the exponent ends the search: any tilt is valid, only some are better."""
_PULLS = np.geomspace(0.05, 4.0, 24)
"""Where to look for the best u, around that of a normal distribution."""


def log_moment(steps: np.ndarray, multiplicity: np.ndarray) -> np.ndarray:
    """Log E exp(theta.S) `[...]`, from theta.v `[..., row]`."""
    size = np.abs(steps)
    # log cosh: the large form loses its digits for small arguments, where there may be a million of them.
    small = np.log1p(2.0 * np.sinh(0.5 * np.minimum(size, 1.0)) ** 2)
    large = size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)
    return (multiplicity * np.where(size < 1.0, small, large)).sum(axis=-1)


def line_tilts(steps: np.ndarray, multiplicity: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The theta >= 0 `[pair]` at which the mean of S, the sum of c_v v tanh(theta v), is `mean`, by Newton's method.

    That mean is concave in theta, so the steps never pass the solution. By Jensen's inequality it is at most reach
    tanh(theta (sum of c_v v^2) / reach), which tells where to start.

    Args:
        steps: `[pair, row]` positive; rows that are padding have multiplicity 0.
        multiplicity: `[pair, row]`.
        mean: `[pair]`, from 0 to the largest value of S.
    """
    smallest = np.where(multiplicity > 0, steps, np.inf).min(axis=1)
    weight = multiplicity * steps.astype(np.float64)
    reach, squares = weight.sum(axis=1), (weight * steps).sum(axis=1)
    with np.errstate(divide="ignore"):  # a mean at the end of the range
        theta = np.minimum(np.arctanh(np.minimum(mean / reach, 1.0)) * reach / squares, _MOST_TILT / smallest)
    for _ in range(_MOST_STEPS):
        leaning = np.tanh(theta[:, None] * steps)
        short = mean - (weight * leaning).sum(axis=1)
        variance = (weight * steps * (1.0 - leaning * leaning)).sum(axis=1)
        if np.all(short <= _CLOSE * np.sqrt(variance)):
            break
        theta = np.minimum(theta + np.maximum(short, 0.0) / np.maximum(variance, 1e-300), _MOST_TILT / smallest)
    return theta


def plane_tilt(rows: np.ndarray, multiplicity: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The theta `[axis]` at which the mean of S is near `mean`, by Newton's method on theta.mean - log M(theta).

    The maximum of that concave function is the rate at which P(S = mean) falls. On the edge of what S can reach it lies
    at infinity; the search then stops where nothing more is to be gained.
    """

    def rate(theta: np.ndarray) -> float:
        return float(theta @ mean - log_moment(rows @ theta, multiplicity))

    theta = np.zeros(rows.shape[1])
    reached = 0.0
    for _ in range(100):
        leaning = np.tanh(rows @ theta)
        gradient = mean - (multiplicity * leaning) @ rows
        curvature = spread(rows, multiplicity, theta)
        curvature += 1e-9 * np.trace(curvature) * np.eye(len(theta)) + 1e-300 * np.eye(len(theta))
        step = np.linalg.solve(curvature, gradient)
        # No coin leans further by more than one in a step, where the quadratic model would mean little.
        step /= max(1.0, float(np.abs(rows @ step).max()))
        while (now := rate(theta + step)) < reached:
            step *= 0.5
            if not np.abs(step).max() > 0.0:
                return theta
        theta, gain, reached = theta + step, now - reached, now
        if gain < _GAIN:
            break
    return theta


def spread(rows: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Covariance `[axis, axis]` of S under the tilt."""
    decay = np.exp(-2.0 * np.abs(rows @ theta))
    return (rows * (multiplicity * 4.0 * decay / (1.0 + decay) ** 2)[:, None]).T @ rows


def windows(rows: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray, exponent: float) -> np.ndarray:
    """How far S may lie below and above its tilted mean on each axis, `[axis, side]`, but for exp(-exponent) a side.

    Chernoff's bound, P(S >= m + x) <= M(theta + u) / M(theta) exp(-u (m + x)) for every u > 0, solved for x at the best
    of some u.
    """
    base, lean = log_moment(rows @ theta, multiplicity), rows @ theta
    leaning, variance = (multiplicity * np.tanh(lean)) @ rows, np.diag(spread(rows, multiplicity, theta))
    widths = np.empty((rows.shape[1], 2))
    for axis, step in enumerate(rows.T):
        scale = math.sqrt(2.0 * exponent / max(variance[axis], 1e-300))
        for side, sign in enumerate((-1.0, 1.0)):
            pull = sign * scale * _PULLS
            moment = log_moment(lean + pull[:, None] * step, multiplicity)
            widths[axis, side] = ((moment - base + exponent) / np.abs(pull) - sign * leaning[axis]).min()
    return widths
