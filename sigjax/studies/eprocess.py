r"""E-processes: evidence that may be looked at after every unit, and confidence sequences beside it.

**The test.** Under the null hypothesis of swaps, the sign of a difference $d_i$ of two systems on a unit (an instance,
or the sum over a cluster) is a fair coin, given its size and all that came before. So for any $\theta_i$ made of sizes
and earlier signs alone, $\prod_i \exp(\theta_i d_i) / \cosh(\theta_i d_i)$ is a martingale with mean 1 (de la Pena
1999, Howard et al. 2020), and so is E, the mean of several. E ever reaches $1 / \alpha$ with probability at most
$\alpha$ (Ville 1939), whenever one looks and stops.

**The grid.** $\theta_i = \pm c_k / r_i$, where $r_i$ is the root mean square of the nonzero differences up to unit i:
of sizes alone, so units of measurement do not matter. The best $c$, about the mean difference in these units, is hardly
above 4 (one system always wins), and $3 / \sqrt N$ is what N units can detect: $c_k = 2^k \cdot 4 / \sqrt N$, for the
largest number N of instances, up to the first of at least 4, weighted as $c_k^{-1/2}$. One is within a factor of
$\sqrt 2$ of the best, which costs a sixth of $\log E$. For answers right or wrong, half of E is Jeffreys' mixture of
all coins, $2^m B(w + 1/2, l + 1/2) / B(1/2, 1/2)$, w wins and l losses in m units that differ: better where few do.

**The interval** assumes something else than the test: differences have one mean, given all that came before (as
independent draws of instances have), and scores have bounds that are known beforehand. It is the empirical Bernstein
confidence sequence of Waudby-Smith and Ramdas (2024, theorem 2), which holds at all times at once.

**One side.** That b is better than a is told by the half of the mixture with negative effects, or with coins that fall
for b. It has mean 1 at most, too, where the sign for b has a probability of at most 1/2, given its size and all that
came before.
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.testing.special import scipy_special


def _log_cosh(x: np.ndarray) -> np.ndarray:
    size = np.abs(x)
    return size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)


def running(before: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Sums `[unit, ...]` after each unit, added one by one: the same bits however units are dealt out."""
    return np.cumsum(np.concatenate([before[None], more]), axis=0)[1:]


def beta_mixture(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """The logarithm of Jeffreys' mixture of coins over a fair one.

    >>> round(math.exp(beta_mixture(2, 1)), 12)
    0.5
    """
    betaln = scipy_special().betaln
    return (wins + losses) * math.log(2.0) + betaln(wins + 0.5, losses + 0.5) - betaln(0.5, 0.5)


def log_e_values(
    differences: np.ndarray, effects: np.ndarray, before: np.ndarray | None = None, *, binary: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of E after each unit `[unit, pair]`, for differences `[unit, pair]`; and the state for later units.

    That is `[3 + effect, pair]`: numbers of nonzero differences, sums of squares, of the scaled ones, of log cosh.

    >>> log_e_values(np.array([[1.0], [1.0], [-1.0]]), np.array([4.0]))[0].round(4).ravel()
    array([ 0.    ,  0.6925, -6.6144])
    """
    differ, scaled, spread, after = _sums(differences, effects, before)
    return mixture(differ, scaled, spread, effects, binary=binary), after


def one_sided_log_e(
    differences: np.ndarray, effects: np.ndarray, before: np.ndarray | None = None, *, binary: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """One-sided log e-values `[side, unit, pair]`: the first system has larger scores; the second system has.

    >>> one_sided_log_e(np.array([[1.0], [1.0], [-1.0]]), np.array([4.0]))[0].round(4)[..., 0]
    array([[  0.6928,   1.3856,  -5.9216],
           [ -7.3072, -14.6144, -13.9216]])
    """
    differ, scaled, spread, after = _sums(differences, effects, before)
    return sides(differ, scaled, spread, effects, binary=binary), after


def _sums(
    differences: np.ndarray, effects: np.ndarray, before: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of nonzero differences, sums of the scaled ones and of log cosh after each unit; and all at the end."""
    before = np.zeros((3 + len(effects), differences.shape[1])) if before is None else before
    differ, square = running(before[0], differences != 0), running(before[1], differences**2)
    each = differences / np.sqrt(np.where(square > 0, square / np.maximum(differ, 1.0), 1.0))
    scaled = running(before[2], each)
    spread = running(before[3:], _log_cosh(each[:, None] * effects[:, None]))
    return differ, scaled, spread, np.concatenate([[differ[-1], square[-1], scaled[-1]], spread[-1]])


def mixture(
    differ: np.ndarray, scaled: np.ndarray, spread: np.ndarray, effects: np.ndarray, *, binary: bool
) -> np.ndarray:
    """The logarithm of E `[..., pair]` from its sums; `spread` is `[..., effect, pair]`."""
    of_effects = effects[:, None]
    terms = _log_cosh(scaled[..., None, :] * of_effects) - spread - np.log(of_effects) / 2.0
    log_e = np.logaddexp.reduce(terms, axis=-2) - math.log(np.sum(effects**-0.5))
    if binary:
        log_e = np.logaddexp(log_e, beta_mixture((differ + scaled) / 2.0, (differ - scaled) / 2.0)) - math.log(2.0)
    return np.where(differ == 0, 0.0, log_e)  # without differences, E is 1: no rounding


def sides(
    differ: np.ndarray, scaled: np.ndarray, spread: np.ndarray, effects: np.ndarray, *, binary: bool
) -> np.ndarray:
    """The logarithm of E of each side `[side, ..., pair]` from the sums of `mixture`."""
    of_effects, total = effects[:, None], math.log(np.sum(effects**-0.5))
    signed = np.stack([scaled, -scaled])
    terms = signed[..., None, :] * of_effects - spread - np.log(of_effects) / 2.0
    log_e = np.logaddexp.reduce(terms, axis=-2) - total
    if binary:
        wins, losses = (differ + signed) / 2.0, (differ - signed) / 2.0
        with np.errstate(divide="ignore"):
            half = math.log(2.0) + np.log(scipy_special().betainc(losses + 0.5, wins + 0.5, 0.5))
        log_e = np.logaddexp(log_e, beta_mixture(wins, losses) + half) - math.log(2.0)
    return np.where(differ == 0, 0.0, log_e)


def bernstein(before: np.ndarray, units: np.ndarray, values: np.ndarray, log_level: float) -> np.ndarray:
    """The state `[5, pair]` of confidence sequences, for `values` `[unit, pair]` in [0, 1] after `units` `[pair]`.

    Sums of values and squared residuals; and of the theorem's lambda, lambda times values, and penalties.
    """
    number = units + np.arange(1, len(values) + 1)[:, None]
    total = running(before[0], values)
    mean = (0.5 + total) / (number + 1)
    square = running(before[1], (values - mean) ** 2)
    earlier = np.concatenate([((0.5 + before[0]) / (units + 1))[None], mean[:-1]])
    variance = (0.25 + np.concatenate([before[1:2], square[:-1]])) / number
    bet = np.minimum(np.sqrt(2.0 * log_level / (variance * number * np.log1p(number))), 0.5)
    penalty = (values - earlier) ** 2 * (-np.log1p(-bet) - bet)
    sums = (running(start, more)[-1] for start, more in zip(before[2:], (bet, bet * values, penalty), strict=True))
    return np.stack([total[-1], square[-1], *sums])
