"""What is counted of texts, and how: the words that the metrics of texts share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Texts = Sequence[Sequence[str]]
"""[reference or system][segment]."""
Count = Callable[[Texts, Texts], np.ndarray]
"""References `[reference][segment]` and outputs `[system][segment]` -> `[system, segment, input of the metric]`."""


@dataclass(frozen=True)
class Recipe:
    """What a person asked for: the statistics of a text depend on nothing else."""

    metric: str
    tokenize: str | None = None
    """The tokenizer, where the metric lets one choose it; None for its default."""
    lowercase: bool = False
    """Whether case is ignored."""

    @property
    def case(self) -> str:
        """How signatures say it."""
        return "lc" if self.lowercase else "mixed"


@dataclass(frozen=True)
class Extraction:
    """How the inputs of one metric are made of texts.

    Attributes:
        start: recipe -> the function that counts, made once and then called for one block of segments after another.
        signature: recipe and number of references -> everything that the numbers depend on, for people and the cache.
        seconds: measured once for each character of a text, on a slow core, on German news.
        block: segments at a time: the step of the progress bar.
        whole: whether the numbers are whole (int64), else float64.
        tokens: how many tokens a text has, of those that the time for a segment depends on; at most its characters.
        most: how many tokens an output and its reference may have together, or, where quadratic, one times the other:
            measured so that a segment takes at most about a minute (TER of shuffled words: ten) and 1 GB.
        quadratic: whether time or memory grow with that product.
    """

    start: Callable[[Recipe], Count]
    signature: Callable[[Recipe, int], str]
    seconds: float
    block: int = 128
    whole: bool = True
    tokens: Callable[[str], int] = len
    most: float = 4e6
    quadratic: bool = False

    @property
    def dtype(self) -> type:
        """Of the numbers."""
        return np.int64 if self.whole else np.float64


def num_words(text: str) -> int:
    """How many words between blanks a text has."""
    return len(text.split())
