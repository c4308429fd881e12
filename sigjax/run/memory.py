"""The part of the memory that replicates may take."""

import math

from sigjax.records import Settings

_SHARE = 0.5


def gib(shape: tuple[int, int]) -> float:
    """GiB of replicates `shape` [row, resample].

    Example:
        >>> gib((2, 2**26))
        1.0
    """
    return math.prod(shape) * 8 / 2**30


def fits(needed: float, settings: Settings) -> bool:
    """Whether replicates of so many GiB may be kept."""
    return needed <= _SHARE * settings.memory


def memory_for(needed: float) -> float:
    """The least memory of the settings, in GiB to two decimals, for replicates of so many GiB.

    Example:
        >>> memory_for(0.123)
        0.25
    """
    return math.ceil(100.0 * needed / _SHARE) / 100.0
