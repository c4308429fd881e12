"""Tails of the laws that the classical tests use, right also where they are small."""

from sigjax.records import Alternative


def normal_tail(z: float, alternative: Alternative) -> float:
    """Probability of a normal number at least as extreme as z.

    Example:
        >>> round(normal_tail(1.96, "two-sided"), 4)
        0.05
    """
    from scipy.special import ndtr

    if alternative == "two-sided":
        return float(2.0 * ndtr(-abs(z)))
    return float(ndtr(-z if alternative == "greater" else z))


def t_tail(t: float, degrees: int, alternative: Alternative) -> float:
    """Probability of a number of the t distribution at least as extreme as t."""
    from scipy.special import stdtr

    if alternative == "two-sided":
        return float(2.0 * stdtr(degrees, -abs(t)))
    return float(stdtr(degrees, -t if alternative == "greater" else t))


def chi_square_tail(statistic: float) -> float:
    """Probability of a chi-square number of one degree of freedom at least as large."""
    from scipy.special import chdtrc

    return float(chdtrc(1, statistic))


def binomial_upper(successes: int, trials: int) -> float:
    """P(X >= successes) of a binomial X with probability 1/2."""
    from scipy.special import betainc

    if successes <= 0:
        return 1.0
    return float(betainc(successes, trials - successes + 1, 0.5)) if successes <= trials else 0.0
