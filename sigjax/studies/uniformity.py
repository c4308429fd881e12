"""Are p-values too small? One-sided distances of Kolmogorov, for p-values that may take few values only."""

from typing import NamedTuple

import numpy as np


class Uniformity(NamedTuple):
    """How far the distribution F of p-values is from uniform, on either side."""

    excess: float
    """The largest F(v) - v, or 0: more small p-values than a valid test gives."""
    excess_p: float
    """Upper bound on the probability of such an excess, if the test is valid."""
    deficit: float
    """The largest v - F(v), or 0: fewer small p-values than levels allow."""


def uniformity(p_values: np.ndarray) -> Uniformity:
    r"""Distances between the share F(v) of p-values `[trial]` that are at most v, and v, at the values attained.

    A valid test has $P(p \le v) \le v$ for all v. An exact permutation test attains equality at each value that its p
    can have, and nowhere between, so that distances are taken at attained values only, where few values leave no gap.
    Sampling smears these values, and then p that can have few values has a deficit. An excess is never due to that: its
    probability is at most the one for uniform p-values, here exact by the formula of Smirnov (Conover 1972 on why
    discrete distributions have less). Of n uniform p-values either distance is about $0.63 / \sqrt n$.

    Example:
        >>> uniformity(np.array([0.25, 0.5, 0.75, 1.0]))[::2]
        (0.0, 0.0)
        >>> uniformity(np.array([0.01, 0.02, 0.03, 0.04])).excess
        0.96
    """
    from scipy.special import smirnov

    values, counts = np.unique(p_values, return_counts=True)
    apart = np.cumsum(counts) / len(p_values) - values
    excess, deficit = max(0.0, float(apart.max())), max(0.0, float(-apart.min()))
    return Uniformity(excess, float(smirnov(len(p_values), excess)), deficit)
