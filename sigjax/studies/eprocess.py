r"""E-processes (evidence that may be looked at after every unit) and confidence sequences.

**The test.** Under the null hypothesis of swaps, the sign of the difference $d_i$ between two systems on unit i (an
instance, or the sum over a cluster) is a fair coin, given $|d_i|$ and all earlier units. So $\prod_i \exp(\theta_i d_i)
/ \cosh(\theta_i d_i)$ is a martingale with mean 1, for any $\theta_i$ that depends only on the sizes $|d_1|, \dots,
|d_i|$ and on earlier signs (de la Pena 1999, Howard et al. 2020). The evidence E is a weighted mean of several such
products, so it is a martingale with mean 1, too. Therefore E ever reaches $1 / \alpha$ with probability at most
$\alpha$, however often one looks (Ville 1939).

**The grid.** The products have $\theta_i = \pm c_k / r_i$, where the $c_k$ are fixed numbers, and $r_i$ is the root
mean square of the nonzero differences up to unit i. So $r_i$ depends only on the sizes of differences, and the scale of
the scores cancels in $\theta_i d_i$. If effects are small, the best number c for the $c_k$ is about the mean difference
divided by $r_i$. No c far above 4 is needed: if one system always wins by the same difference, c = 4 multiplies the
product by 1.999 for each unit, and no c by more than 2. No c far below $3 / \sqrt N$ is needed, because it is about the
smallest effect that N units can detect. So the grid is $c_k = 2^k \cdot 4 / \sqrt N$ for k = 0, 1, ..., up to the first
value of at least 4, where N is the largest number of instances. The weights of the products are proportional to
$c_k^{-1/2}$. Some $c_k$ is within a factor of $\sqrt 2$ of the best c, which costs at most about a sixth of $\log E$.

**Right-or-wrong answers.** Then E is the mean of the E above and of Jeffreys' mixture over all biased coins, $2^m B(w +
1/2, l + 1/2) / B(1/2, 1/2)$, for w wins and l losses among the m = w + l units that differ. This mixture grows faster
if few units differ.

**The interval** needs another assumption than the test. All differences have the same mean, given all earlier units (as
for independent draws of instances), and the bounds of the scores are known in advance. The interval is the empirical
Bernstein confidence sequence of Waudby-Smith and Ramdas (2024, theorem 2), which holds at all times simultaneously.

**One side.** Let $d_i$ be the score of a minus the score of b. The evidence that b is better than a uses only the
products with negative $\theta_i$, and only the coins that favour b, with weights that again add up to 1. Its mean is at
most 1 if, for each unit, the sign favours b with a probability of at most 1/2, given the size $|d_i|$ and all earlier
units.
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.testing.special import scipy_special


def _log_cosh(x: np.ndarray) -> np.ndarray:
    size = np.abs(x)
    return size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)


def running(before: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return cumulative sums `[unit, ...]` of `more`, which continue the sums `before` of earlier units.

    Units are added one by one, so the result has the same bits however the units are split into calls.
    """
    return np.cumsum(np.concatenate([before[None], more]), axis=0)[1:]


def beta_mixture(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Return the log likelihood ratio of Jeffreys' mixture over biased coins to a fair coin, given wins and losses.

    >>> round(math.exp(beta_mixture(2, 1)), 12)
    0.5
    """
    betaln = scipy_special().betaln
    return (wins + losses) * math.log(2.0) + betaln(wins + 0.5, losses + 0.5) - betaln(0.5, 0.5)


def log_e_values(
    differences: np.ndarray, effects: np.ndarray, before: np.ndarray | None = None, *, binary: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return two arrays: the logarithm of E after each unit `[unit, pair]`, and the state after the last unit.

    E is the evidence that the two systems of a pair differ. `differences` are the $d_i$ `[unit, pair]`, and `effects`
    are the $c_k$ of the grid (see the module). `binary`: whether scores are right or wrong (1 or 0). To go on with
    later units, give the state as `before`. It is `[3 + effect, pair]`: the number of nonzero differences, the sum of
    their squares, the sum of scaled differences $d_i / r_i$, and the sums of $\log \cosh(c_k d_i / r_i)$ for each
    effect $c_k$. Here $r_i$ is the root mean square of the nonzero differences up to unit i.

    >>> log_e_values(np.array([[1.0], [1.0], [-1.0]]), np.array([4.0]))[0].round(4).ravel()
    array([ 0.    ,  0.6925, -6.6144])
    """
    differ, scaled, spread, after = _sums(differences, effects, before)
    return mixture(differ, scaled, spread, effects, binary=binary), after


def one_sided_log_e(
    differences: np.ndarray, effects: np.ndarray, before: np.ndarray | None = None, *, binary: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays: logarithms of the one-sided evidence `[side, unit, pair]`, and the state after the last unit.

    Side 0 is the evidence that the first system of a pair is better, and side 1 that the second system is better. The
    arguments and the state are the same as in `log_e_values`: `differences` are `[unit, pair]`, `effects` are the $c_k$
    of the grid (see the module), and `before` is the state after the earlier units.

    >>> one_sided_log_e(np.array([[1.0], [1.0], [-1.0]]), np.array([4.0]))[0].round(4)[..., 0]
    array([[  0.6928,   1.3856,  -5.9216],
           [ -7.3072, -14.6144, -13.9216]])
    """
    differ, scaled, spread, after = _sums(differences, effects, before)
    return sides(differ, scaled, spread, effects, binary=binary), after


def _sums(
    differences: np.ndarray, effects: np.ndarray, before: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""Return three sums after each unit, and the state for later units (see `log_e_values`).

    The sums are: the number of nonzero differences `[unit, pair]`, the sum of scaled differences $d_i / r_i$
    `[unit, pair]`, and the sums of $\log \cosh(c_k d_i / r_i)$ `[unit, effect, pair]`. $d_i$ are the `differences`
    `[unit, pair]`, $c_k$ are the `effects`, and $r_i$ is the root mean square of the nonzero differences up to unit i.
    """
    before = np.zeros((3 + len(effects), differences.shape[1])) if before is None else before
    differ, square = running(before[0], differences != 0), running(before[1], differences**2)
    each = differences / np.sqrt(np.where(square > 0, square / np.maximum(differ, 1.0), 1.0))
    scaled = running(before[2], each)
    spread = running(before[3:], _log_cosh(each[:, None] * effects[:, None]))
    return differ, scaled, spread, np.concatenate([[differ[-1], square[-1], scaled[-1]], spread[-1]])


def mixture(
    differ: np.ndarray, scaled: np.ndarray, spread: np.ndarray, effects: np.ndarray, *, binary: bool
) -> np.ndarray:
    r"""Return the logarithm of the evidence E `[..., pair]` from the sums of `_sums`.

    The sums are: `differ` (number of nonzero differences) and `scaled` (sum of scaled differences $d_i / r_i$), both
    `[..., pair]`, and `spread` (sums of $\log \cosh(c_k d_i / r_i)$) `[..., effect, pair]`. `effects` are the $c_k$ of
    the grid (see the module). `binary`: whether scores are right or wrong (1 or 0).
    """
    of_effects = effects[:, None]
    terms = _log_cosh(scaled[..., None, :] * of_effects) - spread - np.log(of_effects) / 2.0
    log_e = np.logaddexp.reduce(terms, axis=-2) - math.log(np.sum(effects**-0.5))
    if binary:
        log_e = np.logaddexp(log_e, beta_mixture((differ + scaled) / 2.0, (differ - scaled) / 2.0)) - math.log(2.0)
    return np.where(differ == 0, 0.0, log_e)  # without differences, E is exactly 1


def sides(
    differ: np.ndarray, scaled: np.ndarray, spread: np.ndarray, effects: np.ndarray, *, binary: bool
) -> np.ndarray:
    """Return the logarithm of the one-sided evidence `[side, ..., pair]` from the sums of `_sums`.

    Side 0 is the evidence that the first system of a pair is better, and side 1 that the second system is better. The
    arguments are the same as in `mixture`: numbers of nonzero differences (`differ`), sums of scaled differences
    (`scaled`), sums of log cosh (`spread`), and the $c_k$ of the grid (`effects`).
    """
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
    r"""Return the updated state `[5, pair]` of confidence sequences, after new `values` `[unit, pair]` in [0, 1].

    `before` is the state after the earlier units; `units` `[pair]` is the number of these units. `log_level` is $\log(2
    / \alpha)$ for the error probability $\alpha$ of one interval. The rows of the state are sums over units: of the
    values, the squared residuals, $\lambda$, $\lambda$ times the value, and the penalty. In theorem 2 of Waudby-Smith
    and Ramdas (2024), $\lambda$ is the bet on a unit, and the penalty is the part of the unit in the width of the
    interval.
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
