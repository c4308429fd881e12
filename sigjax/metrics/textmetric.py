"""Metrics of texts: the record of such a metric, and BLEU, chrF and chrF++ from the counts of sacrebleu.

A `TextMetric` has a metric, which turns counts into a score, and a function `start`, which returns the function that
counts texts. `edits` and `rouge` have other metrics of texts.

References: Papineni, Roukos, Ward and Zhu (2002), "BLEU: a method for automatic evaluation of machine translation"; the
smoothing is method 3 of Chen and Cherry (2014), "A systematic comparison of smoothing techniques for sentence-level
BLEU". Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"; Popović (2017), "chrF++: words
helping character n-grams". Details: Post (2018), "A call for clarity in reporting BLEU scores".
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sigjax.metrics.ratios import PERCENT, stack_counts
from sigjax.records import Array, InputError, Metric
from sigjax.run import costs
from sigjax.run.costs import Cost
from sigjax.version import install_command

Texts = Sequence[Sequence[str]]
"""Texts, as `texts[reference][segment]` or `texts[system][segment]`."""
CountTexts = Callable[[Texts, Texts], np.ndarray]
"""A function that maps references `[reference][segment]` and outputs `[system][segment]` to counts `[system, segment,
input]`, the inputs of the metric."""


@dataclass(frozen=True)
class Recipe:
    """The name and options of a metric of texts. The counts of a text depend only on the text and these options."""

    metric: str
    tokenize: str | None = None
    """The tokenizer; None for the default tokenizer of the metric."""
    lowercase: bool = False
    """Whether case is ignored."""
    punctuation: bool = True
    """Whether punctuation counts."""

    @property
    def case(self) -> str:
        """The word for case in signatures: "lc" if case is ignored, else "mixed"."""
        return "lc" if self.lowercase else "mixed"


def _no_notes(*_: object) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class TextMetric:
    """A metric of texts.

    Attributes:
        metric: the metric that turns the counts into a score.
        start: a function that maps a recipe to the function that counts texts, which is called for each block of
            segments.
        signature: a function that maps a recipe and the number of references to a text with all options and versions on
            which the counts depend.
        cost: the time to count one character of text, from the table in `run.costs`.
        block: number of segments that are counted at a time; the step of the progress bar.
        whole: whether the inputs of the metric are whole numbers (int64); else they are float64.
        longest: limit for the number of characters of a text. Counting a segment of this length takes at most about a
        minute (TER of shuffled words: ten minutes) and 1 GB (measured).
        extra: the name EXTRA in `pip install "sigjax[EXTRA]"`, which installs the library that counts; "" if none is
            needed.
        notes: a function that maps a recipe, references and the outputs of each system to notes on texts for which the
            metric may be wrong.
    """

    metric: Metric
    start: Callable[[Recipe], CountTexts]
    signature: Callable[[Recipe, int], str]
    cost: Cost
    block: int = 128
    whole: bool = True
    longest: int = 2_000_000
    extra: str = ""
    notes: Callable[[Recipe, Texts, Mapping[str, Sequence[str]]], tuple[str, ...]] = _no_notes

    @property
    def dtype(self) -> type:
        """The NumPy type of the metric's inputs."""
        return np.int64 if self.whole else np.float64


_ORDERS = range(1, 5)
BLEU_STATS = ("sys_len", "ref_len", *(f"correct{n}" for n in _ORDERS), *(f"total{n}" for n in _ORDERS))
_LOWEST = -708
"""Largest rounded exponent for which `decay` returns 0, because some devices flush denormal numbers to 0."""
_POWERS = np.array([*(math.exp(-n) for n in range(-_LOWEST)), 0.0])
"""The powers e^0, e^-1, ..., e^-707, and then 0 in place of the power for the exponent `_LOWEST`."""
PRINTED = {"bleu": "BLEU", "chrf": "chrF2", "chrf++": "chrF2++", "ter": "TER"}
"""Dict from a metric's name to the name that sacrebleu prints with its score."""
_TOKENIZED = 100
"""Smallest number of segments that end in " ." for which texts look tokenized. sacrebleu has the same limit for its
warning."""


def bleu_score(sums: Array) -> Array:
    r"""BLEU, $100\,\min(1, e^{1 - r/s})\,(p_1 p_2 p_3 p_4)^{1/4}$ with $p_n = correct_n / total_n$.

    s is the length of the system's output, and r the length of the references. The k-th order without a match has $p_n
    = 1 / (2^k total_n)$ (sacrebleu's smoothing "exp"). The score equals sacrebleu's, but is computed without
    logarithms. The product of the four precisions is one quotient of two products, and two square roots give their
    geometric mean. A product of four counts up to 2**53 stays far below the largest double.

    Sums `[..., stat]`, whole numbers with stat as in `BLEU_STATS`, give scores `[...]` in [0, 100]; 0 if nothing
    matches, or if the output has no n-gram of some order.

    >>> round(float(bleu_score(np.array([9.0, 10.0, 8.0, 6.0, 4.0, 2.0, 9.0, 8.0, 7.0, 6.0]))), 6)
    53.41736
    """
    xp = sums.__array_namespace__()
    correct = [sums[..., i] for i in range(2, 6)]
    # The factor 1.0 makes floats, because products of whole numbers would overflow.
    totals = 1.0 * sums[..., 6] * sums[..., 7] * sums[..., 8] * sums[..., 9]
    defined = (totals > 0) & (correct[0] + correct[1] + correct[2] + correct[3] > 0)
    matches, smoothed = 1.0, 1.0
    for count in correct:
        none = count == 0
        smoothed = xp.where(none, 0.5 * smoothed, smoothed)
        matches = matches * xp.where(none, smoothed, count)
    mean_precision = xp.sqrt(xp.sqrt(matches / xp.where(defined, totals, 1.0)))
    # If the output has no words, its length counts as 1 here; the score is 0 anyway, since there are no n-grams.
    brevity = decay(xp.minimum(0.0, 1.0 - sums[..., 1] / xp.maximum(sums[..., 0], 1.0)))
    return xp.where(defined, 100.0 * brevity * mean_precision, 0.0)


def decay(x: Array) -> Array:
    r"""$e^x$ for $x \le 0$, with a relative error below $2^{-51}$ (measured); the same to the last bit on every device.

    Let n be the whole number nearest to x, and $f = x - n$. Then $e^x = e^n e^f$. A table has $e^n$, and $e^f = 1 + f /
    (c - f / 2)$, where $c = z \coth z = 1 + z^2 / (3 + z^2 / (5 + z^2 / (7 + \dots)))$, $z = f / 2$ (Gauss's continued
    fraction of the hyperbolic tangent). The exponential functions of libraries and devices differ in the last bit.
    Also, compilers may fuse a product and a sum, which saves one rounding. Here no product is added to a number, so
    compilers can fuse nothing.

    Float64 numbers `[...]` from -infinity to 0 give `[...]` in [0, 1]. The result is 0 for -707.5 and for smaller
    numbers.

    >>> decay(np.array([0.0, -1.0, -800.0]))
    array([1.        , 0.36787944, 0.        ])
    """
    xp = x.__array_namespace__()
    whole = xp.rint(xp.maximum(x, float(_LOWEST)))
    rest = xp.maximum(x - whole, -0.5)
    half = 0.5 * rest
    square = half * half
    fraction = 13.0 + half  # the last term hardly matters, but a compiler could fuse 13 + square
    for odd in (11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
        fraction = odd + square / fraction
    table = xp.asarray(_POWERS)
    return table[(-whole).astype(xp.int32)] * (1.0 + rest / (fraction - half))


def chrf_score(sums: Array) -> Array:
    r"""chrF2 or chrF2++, $100 \cdot 5 P R / (4 P + R)$, the F-score in which recall is twice as important as precision.

    P is the mean of $match_n / hyp_n$ over the orders n, and R the mean of $match_n / ref_n$. If the output or the
    references have no n-gram of an order, the order does not count (sacrebleu's effective order).

    Sums `[..., stat]`, whole numbers with stat = (hyp, ref, match) of each order, give scores `[...]` in [0, 100]; 0 if
    nothing matches.

    >>> counts = [[10 - n, 12 - n, 8 - n] for n in range(6)]
    >>> round(float(chrf_score(np.array(counts, float).ravel())), 6)
    58.975413
    """
    xp = sums.__array_namespace__()
    precision = recall = orders = 0.0
    # Each order has its own quotient. A common denominator would need only one division, but more roundings.
    for first in range(0, sums.shape[-1], 3):
        hyp, ref, match = (sums[..., first + i] for i in range(3))
        # Counts are whole numbers. If a count is 0, the order has no match, so the divisor 1 gives 0.
        precision = precision + match / xp.maximum(hyp, 1.0)
        recall = recall + match / xp.maximum(ref, 1.0)
        orders = orders + xp.minimum(xp.minimum(hyp, ref), 1.0)
    weighted = (4.0 * precision + recall) * orders
    return 500.0 * precision * recall / xp.where(weighted > 0, weighted, 1.0)


def _chrf(name: str, word_order: int) -> Metric:
    orders = [f"char{n}" for n in range(1, 7)] + [f"word{n}" for n in range(1, word_order + 1)]
    stats = tuple(f"{kind}_{order}" for order in orders for kind in ("hyp", "ref", "match"))
    limits = [(first + 2, first + i) for first in range(0, len(stats), 3) for i in (0, 1)]
    extract = partial(stack_counts, stats, limits)
    metric = Metric(name, chrf_score, stats, extract, stats, shared_inputs=stats[1::3], portable=True, bounds=PERCENT)
    return replace(metric, title=PRINTED[name])


def sacrebleu_metric(recipe: Recipe, num_references: int) -> Any:
    """Return the object of sacrebleu for a metric; BLEU for a metric that only shares the tokenizers of BLEU."""
    name, tokenize, command = recipe.metric, recipe.tokenize, install_command("sacrebleu>=2.5,<3")
    try:
        import sacrebleu
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
        from sacrebleu.metrics.ter import TER
    except ImportError:
        raise InputError(f"the metric {name} of texts needs sacrebleu; run: {command}") from None
    # The statistics come from private methods of sacrebleu, which have not changed since version 2.0.
    if not (2, 5) <= tuple(int(part) for part in sacrebleu.__version__.split(".")[:2]) < (3, 0):
        raise InputError(f"sacrebleu {sacrebleu.__version__} is not supported (2.5 to 2.x are); run: {command}")
    references = [[""]] * num_references
    if name == "ter":  # TER ignores case anyway
        return TER(references=references)
    if name in ("chrf", "chrf++"):
        return CHRF(word_order=2 if name == "chrf++" else 0, lowercase=recipe.lowercase, references=references)
    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise InputError(f"tokenize: sacrebleu has no tokenizer {tokenize!r}; it has {', '.join(BLEU.TOKENIZERS)}")
    try:
        # `force` turns off warnings and does not change the score.
        return BLEU(force=True, lowercase=recipe.lowercase, tokenize=tokenize, references=references)
    except Exception as error:  # the libraries or models of a tokenizer are missing
        raise InputError(f"tokenize: {tokenize!r} cannot be used: {' '.join(str(error).split())}") from None


def start_sacrebleu(recipe: Recipe) -> CountTexts:
    """Return the function that counts texts for a metric of sacrebleu."""
    metric = sacrebleu_metric(recipe, 1)

    def count(references: Texts, systems: Texts) -> np.ndarray:
        # The n-grams of a block's references are computed once for all systems, and then dropped.
        metric._ref_cache = metric._cache_references(references)
        stats = np.array([metric._extract_corpus_statistics(texts, None) for texts in systems])
        # TER divides by the mean length of the references. If both statistics are multiplied by the number of
        # references, they are whole.
        return np.rint(stats * len(references)).astype(np.int64) if recipe.metric == "ter" else stats

    return count


def sacrebleu_signature(recipe: Recipe, num_references: int) -> str:
    """Return the text that sacrebleu prints before a score: the metric's name in sacrebleu, and the signature."""
    return f"{PRINTED[recipe.metric]}|{sacrebleu_metric(recipe, num_references).get_signature()}"


def _look_tokenized(recipe: Recipe, _: Texts, systems: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return notes on systems whose texts look tokenized.

    BLEU of tokenized texts differs, unless BLEU splits texts only at blanks.
    """
    counts = {name: sum(text.endswith(" .") for text in texts) for name, texts in systems.items()}
    return tuple(
        f"system {name!r} looks tokenized: {count} segments end in ' .'; BLEU is of detokenized texts"
        for name, count in counts.items()
        if count >= _TOKENIZED and recipe.tokenize != "none"
    )


def _several_references(recipe: Recipe, references: Texts, _: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a note that the order of several references matters; nothing if all references are equal."""
    if all(list(texts) == list(references[0]) for texts in references):
        return ()
    return (
        f"{recipe.metric} depends on the order of the references, as in sacrebleu: of those that score a segment alike "
        "(0, say) it counts the first",
    )


_BLEU_LIMITS = [(6, 0), *((n + 1, n + 5) for n in _ORDERS)]
BLEU = Metric(
    "bleu",
    bleu_score,
    BLEU_STATS,
    partial(stack_counts, BLEU_STATS, _BLEU_LIMITS),
    BLEU_STATS,
    shared_inputs=("ref_len",),
    portable=True,
    bounds=PERCENT,
    title=PRINTED["bleu"],
)
CHRF, CHRF_PLUS_PLUS = _chrf("chrf", 0), _chrf("chrf++", 2)
_of_sacrebleu = partial(TextMetric, start=start_sacrebleu, signature=sacrebleu_signature, extra="mt")
SACREBLEU = (
    _of_sacrebleu(BLEU, cost=costs.BLEU, notes=_look_tokenized),
    _of_sacrebleu(CHRF, cost=costs.CHRF, notes=_several_references),
    _of_sacrebleu(CHRF_PLUS_PLUS, cost=costs.CHRF_PLUS_PLUS, notes=_several_references),
)
