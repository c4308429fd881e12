"""Error rates: the edits that turn an output into its reference, per token of the reference; lower is better.

WER (words between blanks) and CER (characters) count insertions, deletions and substitutions (Levenshtein 1966); TER
also counts shifts of several words, as sacrebleu does: Snover, Dorr, Schwartz, Micciulla and Makhoul (2006), "A study
of translation edit rate with targeted human annotation". `wer-sclite` is NIST's: errors of the alignment in which a
substitution costs 4 and another error 3, which may be more than the fewest, for each word of the alternatives taken.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sigjax.metrics.ratios import RATES, refuse_where
from sigjax.metrics.sacrebleu import sacrebleu_signature, start_sacrebleu
from sigjax.metrics.sclite import SCLITE, Words, align, words_of
from sigjax.metrics.textmetric import Count, Recipe, TextMetric, Texts, num_words
from sigjax.records import Array, Metric


def error_rate_score(sums: Array) -> Array:
    r"""WER or CER, $errors / ref\_len$.

    Sums `[..., stat]` with stat = (errors, ref_len) give scores `[...]` from 0, and above 1 where outputs are much too
    long. Without any reference 1, or 0 where there is no output either.

    Example:
        >>> float(error_rate_score(np.array([5.0, 40.0])))
        0.125
    """
    return _rate(sums, 1.0)


def ter_score(sums: Array) -> Array:
    r"""TER, $100\,edits / ref\_len$, in percent; otherwise as `error_rate_score`.

    Both statistics are times the number of references: whole numbers.

    Example:
        >>> float(ter_score(np.array([5.0, 40.0])))
        12.5
    """
    return _rate(sums, 100.0)


def _rate(sums: Array, scale: float) -> Array:
    """The quotient comes last, so that a compiler can fuse nothing with the difference of two scores."""
    xp = sums.__array_namespace__()
    empty = sums[..., 1] == 0
    errors = xp.where(empty, xp.minimum(sums[..., 0], 1.0), sums[..., 0])
    return (scale * errors) / xp.where(empty, 1.0, sums[..., 1])


def edit_distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many insertions, deletions and substitutions turn one sequence of tokens into another.

    A column of the table is kept in the bits of two Python integers, so that a token costs a dozen operations.
    References: Myers (1999), "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming"; Hyyrö (2003), "A bit-vector algorithm for computing Levenshtein and Damerau edit distances".

    Example:
        >>> edit_distance("kitten", "sitting"), edit_distance(["a", "cat"], ["the", "black", "cat"])
        (3, 2)
    """
    if not one:
        return len(other)
    places: dict[Hashable, int] = {}
    for i, token in enumerate(one):
        places[token] = places.get(token, 0) | 1 << i
    top, every = len(one) - 1, (1 << len(one)) - 1
    # Bit i: whether the table grows (shrinks) by one from row i to row i + 1 of the column.
    grows, shrinks, distance = every, 0, len(one)
    for token in other:
        match = places.get(token, 0)
        same = (((match & grows) + grows) ^ grows) | match | shrinks  # along the diagonal
        right_grows = (shrinks | ~(same | grows)) & every
        right_shrinks = same & grows
        distance += (right_grows >> top) - (right_shrinks >> top)
        right_grows = right_grows << 1 | 1
        grows = (right_shrinks << 1 | ~(same | right_grows)) & every
        shrinks = same & right_grows & every
    return distance


Errors = Callable[[Any, Any], tuple[int, int]]
"""Tokens of a reference and of an output -> (errors, length)."""


def _fewest(reference: Sequence[str], output: Sequence[str]) -> tuple[int, int]:
    return edit_distance(reference, output), len(reference)


def _of_sclite(reference: Words, output: Words) -> tuple[int, int]:
    kinds = [kind for kind, _ in align(reference, output)]
    return len(kinds) - kinds.count("correct"), len(kinds) - kinds.count("insertion")


def _start(split: Callable[[str], Any], errors: Errors, recipe: Recipe) -> Count:
    def tokens(text: str) -> Any:
        return split(text.lower() if recipe.lowercase else text)

    def count(references: Texts, systems: Texts) -> np.ndarray:
        gold = [[tokens(text) for text in texts] for texts in zip(*references, strict=True)]
        return np.array(
            [[least(tokens(text), own) for text, own in zip(texts, gold, strict=True)] for texts in systems]
        )

    def least(output: Any, references: Sequence[Any]) -> tuple[int, int]:
        """(errors, length) of the reference with the fewest errors for its length, the first of several."""
        counts = [errors(reference, output) for reference in references]
        return min(counts, key=lambda count: count[0] / count[1] if count[1] else np.inf if count[0] else 0.0)

    return count


def _signature(unit: str, recipe: Recipe, num_references: int) -> str:
    return f"nrefs:{num_references}|case:{recipe.case}|unit:{unit}"


def _sclite_signature(recipe: Recipe, num_references: int) -> str:
    del recipe  # case never counts
    return f"nrefs:{num_references}|case:lc|unit:words|costs:sub 4, del 3, ins 3, optional 2"


def _stack_edits(edits: np.ndarray, ref_len: np.ndarray) -> np.ndarray:
    """`[instance]` edits and lengths of references -> `[instance, stat]`."""
    for name, column in (("the number of edits", edits), ("ref_len", ref_len)):
        refuse_where(column < 0, f"{name} must not be below 0", column)
    return np.stack([edits, ref_len], axis=-1)


def _metric(name: str, score: Callable[[Array], Array], edits: str) -> Metric:
    stats, more = (edits, "ref_len"), {"shared_inputs": ("ref_len",), "portable": True, "bounds": RATES}
    return Metric(name, score, stats, _stack_edits, stats, higher_is_better=False, **more)


def _of_tokens(name: str, split: Callable[[str], Sequence[str]], unit: str, **work: Any) -> TextMetric:
    metric = _metric(name, error_rate_score, "errors")
    return TextMetric(metric, partial(_start, split, _fewest), partial(_signature, unit), quadratic=True, **work)


ERROR_RATES = (
    TextMetric(
        _metric("ter", ter_score, "edits"),
        start_sacrebleu,
        sacrebleu_signature,
        seconds=130e-6,
        block=4,
        tokens=num_words,
        most=4e6,
        quadratic=True,
        extra="mt",
    ),
    _of_tokens("wer", str.split, "words", seconds=0.07e-6, tokens=num_words, most=1e10),
    _of_tokens("cer", str.strip, "characters", seconds=0.5e-6, most=4e10),
    TextMetric(
        _metric(SCLITE, error_rate_score, "errors"),
        partial(_start, words_of, _of_sclite),
        _sclite_signature,
        seconds=3e-6,
        tokens=num_words,
        most=1e8,
        quadratic=True,
        aligned=True,
    ),
)
