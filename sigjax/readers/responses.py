"""Responses as instances: the spans, links and brackets that systems gave, instead of the sentences that hold them.

An instance is a distinct response of any system, or an item of the gold standard that none gave. Between two systems
only responses of exactly one of them differ, so that swapping instances moves these from one system to the other, and
leaves what both or neither gave where it is. Sums, and so scores, are those of sentences. What a response counts for
must not depend on other responses: a bracket that a tree has twice is one response that counts twice. Reference: Yeh
(2000), "More accurate tests for the statistical significance of result differences", section 3.3.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

Response = TypeVar("Response", bound=tuple[Any, ...] | int)
NOTE = (
    "instances are responses: p takes them for independent of each other, also within a sentence; they are no sample, "
    "so there are no standard errors and no intervals"
)


def all_responses(sides: Iterable[Iterable[Response]]) -> list[Response]:
    """The distinct responses of all sides, in order.

    Example:
        >>> all_responses([Counter({3: 1, 1: 2}), [2, 1]])
        [1, 2, 3]
    """
    return sorted(set().union(*sides))


def times_given(responses: Sequence[Response], own: Counter[Response]) -> np.ndarray:
    """How often a side gave each response, `[response]`.

    Example:
        >>> times_given([1, 2, 3], Counter([3, 1, 1]))
        array([2., 0., 1.])
    """
    return np.array([own[response] for response in responses], dtype=np.float64)


def matches(own: np.ndarray, gold: np.ndarray) -> dict[str, np.ndarray]:
    """The counts tp, predicted and gold `[response]`, of how often a system and the gold standard have each."""
    return {"tp": np.minimum(own, gold), "predicted": own, "gold": gold}
