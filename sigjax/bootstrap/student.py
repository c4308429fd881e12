"""Student's t distribution with any number of degrees of freedom, whole or not."""

import numpy as np


def t_quantile(level: float, degrees: float) -> float:
    """The t that a variable exceeds in size with the probability 1 - level.

    Example:
        >>> round(t_quantile(0.95, 9.0), 4), round(t_quantile(0.95, 2.5), 4)
        (2.2622, 3.5747)
    """
    from scipy.special import betaincinv

    share = float(betaincinv(degrees / 2.0, 0.5, 1.0 - level))
    return float(np.sqrt(degrees * (1.0 / share - 1.0)))


def t_tail(t: float, degrees: float) -> float:
    """The probability of a value of at least t.

    Example:
        >>> round(t_tail(2.2622, 9.0), 4), t_tail(0.0, 9.0)
        (0.025, 0.5)
    """
    from scipy.special import betainc

    half = 0.5 * float(betainc(degrees / 2.0, 0.5, degrees / (degrees + t * t)))
    return half if t >= 0.0 else 1.0 - half
