"""Division with the convention for empty denominators, shared by the metrics that are ratios."""

from sigjax.records import Array


def divide(numerator: Array, denominator: Array) -> Array:
    """`numerator / denominator`, and 0 where the denominator is 0 (nothing predicted, nothing to find).

    Shapes `[...]` and `[...]` give `[...]`.

    Example:
        >>> import numpy as np
        >>> divide(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
        array([0.25, 0.  ])
    """
    xp = numerator.__array_namespace__()
    empty = denominator == 0
    return xp.where(empty, 0.0, numerator / xp.where(empty, 1.0, denominator))
