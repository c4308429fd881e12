"""PyTerrier: tests of sigjax for the argument `test=` of `pt.Experiment(..., baseline=0)`.

PyTerrier gives the scores of two systems for each query, and expects a statistic and a p-value. PyTerrier's
`correction=` adjusts these p-values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def permutation(a: Any, b: Any) -> tuple[float, float]:
    """Return the mean difference and the p-value of the two-sided permutation test, with the defaults of sigjax.

    >>> permutation([0.5, 0.7, 0.9, 0.4], [0.4, 0.5, 0.6, 0.0])
    (0.25, 0.125)
    """
    return permutation_with()(a, b)


def permutation_with(**options: Any) -> Callable[[Any, Any], tuple[float, float]]:
    """Make a function like `permutation` with options of `sigjax.permutation_test`, such as alternative="greater".

    >>> permutation_with(alternative="greater")([0.5, 0.7, 0.9, 0.4], [0.4, 0.5, 0.6, 0.0])
    (0.25, 0.0625)
    """

    def test(a: Any, b: Any) -> tuple[float, float]:
        from sigjax.comparison.compare import permutation_test

        found = permutation_test(a, b, **{"progress": False, **options})
        return found.delta, found.p_value

    return test
