"""A metric of texts: the metric of counts, and how the counts are made of texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigjax.records import Metric

Texts = Sequence[Sequence[str]]
"""[reference or system][segment]."""
Count = Callable[[Texts, Texts], np.ndarray]
"""References `[reference][segment]`, after the source where the metric takes it, and outputs `[system][segment]` ->
`[system, segment, input of the metric]`."""


@dataclass(frozen=True)
class Recipe:
    """A metric of texts by name, and its options: the statistics of a text depend on nothing else."""

    metric: str
    tokenize: str | None = None
    """The tokenizer; None for the metric's own."""
    lowercase: bool = False
    """Whether case is ignored."""

    @property
    def case(self) -> str:
        """As signatures write it."""
        return "lc" if self.lowercase else "mixed"


@dataclass(frozen=True)
class TextMetric:
    """A metric of texts.

    Attributes:
        metric: the metric of the counts.
        start: recipe -> the function that counts, made once and then called for one block of segments after another.
        signature: recipe and number of references -> everything that the counts depend on, for people and the cache.
        seconds: time per character of text, measured on a slow core with German news.
        block: segments at a time: the step of the progress bar.
        whole: whether the inputs of the metric are whole numbers (int64); else they are float64.
        tokens: how many tokens a text has, of the kind that time and memory depend on; at most its characters.
        most: how many tokens an output and its reference may have together or, where quadratic, one times the other:
            measured so that a segment takes at most about a minute (TER of shuffled words: ten) and 1 GB.
        quadratic: whether time or memory grow with that product.
        tokenized: whether one may choose the tokenizer.
        aligned: whether a test takes the alignment of texts, so that evaluations keep them.
        source: whether it takes the texts that the outputs are made from.
        extra: what installs the library that counts, `pip install "sigjax[EXTRA]"`; "" where none is needed.
        doubts: recipe, references and outputs by system -> notes on texts that the metric may be wrong for.
    """

    metric: Metric
    start: Callable[[Recipe], Count]
    signature: Callable[[Recipe, int], str]
    seconds: float
    block: int = 128
    whole: bool = True
    tokens: Callable[[str], int] = len
    most: float = 4e6
    quadratic: bool = False
    tokenized: bool = False
    aligned: bool = False
    source: bool = False
    extra: str = ""
    doubts: Callable[[Recipe, Texts, Mapping[str, Sequence[str]]], tuple[str, ...]] = lambda *_: ()

    @property
    def dtype(self) -> type:
        """Type of the inputs."""
        return np.int64 if self.whole else np.float64


def num_words(text: str) -> int:
    """Number of words between blanks."""
    return len(text.split())
