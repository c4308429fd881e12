"""Error rates: the edits that turn an output into its reference, per token of the reference; lower is better.

WER (words between blanks) and CER (characters) count insertions, deletions and substitutions (Levenshtein 1966);
`wer(punctuation=false)` leaves out what Unicode calls punctuation (categories P), as jiwer's `RemovePunctuation`. TER
also counts shifts of several words, as sacrebleu does: Snover, Dorr, Schwartz, Micciulla and Makhoul (2006), "A study
of translation edit rate with targeted human annotation".

`wer-sclite` is the WER of NIST's sclite (SCTK). It counts the errors of the alignment with the least cost: a
substitution costs 4, another error 3. So the number of errors may be larger than the edit distance. Transcripts may
have alternatives; the length of a reference counts the words of the chosen alternatives. `{ um / uh }` stands for one
of its alternatives; `{ uh / @ }` and `(uh)` may be empty, as with sclite -D. Case, a mark * at the end of a word, and
tags (`word;tag`) are ignored. Reference: SCTK (https://github.com/usnistgov/SCTK), `net_dp.c` and `word.c`.
"""

import re
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import inf
from typing import Any, Literal
from unicodedata import category

import numpy as np

from sigjax.metrics.ratios import RATES, monotone, stack_nonnegative
from sigjax.metrics.textmetric import CountTexts, Recipe, TextMetric, Texts, sacrebleu_signature, start_sacrebleu
from sigjax.records import Array, Metric
from sigjax.run import costs

SCLITE = "wer-sclite"
"""The name of the metric that counts errors as sclite does."""
_NOTHING, _OPTIONAL, _WORD, _SUBSTITUTION = 1, 2000, 3000, 4000
"""Costs of sclite, in thousandths. `_NOTHING`: delete or insert the word @, which stands for no word. `_OPTIONAL`:
delete or insert an optional word. `_WORD`: delete or insert any other word. `_SUBSTITUTION`: replace a word."""

EditOperation = Literal["correct", "substitution", "deletion", "insertion"]
"""What a step of an alignment does with a word of the reference or of the output."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text as a graph, in topological order; word 0 is an empty word that stands for the start."""

    words: list[str]
    costs: list[int]
    """The cost of deleting or inserting each word."""
    before: list[list[int]]
    """For each word, the indices of the words that may stand directly before it. If their costs are equal, sclite takes
    the first in this list."""
    last: list[int]
    """The indices of the words with which the text may end."""


def tokens_of(text: str) -> Iterator[str]:
    """Yield the words of a text, and the characters `{`, `/` and `}` of alternatives.

    If braces are open at the end, close them.
    """
    depth = 0
    for token in re.findall(r"[{}]|[^\s{}]+", text):
        if token == "{" or (token == "}" and depth):
            depth += 1 if token == "{" else -1
            yield token
        elif token != "}":
            yield from filter(None, re.split("(/)", token)) if depth else [token]
    yield from "}" * depth


def words_of(text: str) -> Words:
    """Return the graph of the words of a text, in lower case.

    >>> graph = words_of("a { B C / @ } (d)")
    >>> graph.words, graph.before
    (['', 'a', 'b', 'c', '@', 'd'], [[], [0], [1], [2], [1], [3, 4]])
    """
    words, costs, befores, last = [""], [0], list[list[int]]([[]]), [0]
    open_braces: list[tuple[list[int], list[int]]] = []  # words before alternatives; ends of alternatives so far
    for token in tokens_of(text.lower()):
        if token == "{":
            open_braces.append((last, []))
            continue
        if open_braces and token in ("/", "}"):
            start, ends = open_braces[-1]
            ends += [] if last is start else last  # like sclite, ignore an empty alternative
            last = start
            if token == "/":
                continue
            open_braces.pop()
            last = ends or start
        else:
            word, cost = _word(token)
            words.append(word)
            costs.append(cost)
            befores.append(last)
            last = [len(words) - 1]
    return Words(words, costs, befores, last)


def _word(token: str) -> tuple[str, int]:
    """Return the word without its tag and its mark *, and the cost of deleting or inserting it."""
    word = re.split(r"(?<!\\);", token)[0].replace(r"\;", ";")
    word = word[:-1] if word.endswith("*") and len(word) > 1 else word
    if word.startswith("(") and word.endswith(")"):
        return word[1:-1], _OPTIONAL
    return word, _NOTHING if word == "@" else _WORD


def align(reference: Words, output: Words) -> list[EditOperation]:
    """Return the steps of the alignment with the least cost, in the order of the text.

    If several alignments have the least cost, take the alignment that sclite takes. If an optional word is deleted or
    inserted, the step counts as correct.

    >>> align(words_of("a { b c / @ } d"), words_of("A d e"))
    ['correct', 'correct', 'insertion']
    """
    table = _table(reference, output)
    kinds = list[EditOperation]()
    a, b = min(product(reference.last, output.last), key=lambda cell: table[cell[0]][cell[1]])
    while a or b:
        both, left_out, put_in = _predecessors(reference, output, table, a, b)
        if both[0] <= left_out[0] and both[0] <= put_in[0]:
            kinds.append("correct" if reference.words[a] == output.words[b] else "substitution")
            _, a, b = both
        elif left_out[0] < put_in[0]:
            if (cost := reference.costs[a]) != _NOTHING:
                kinds.append("correct" if cost == _OPTIONAL else "deletion")
            _, a, b = left_out
        else:
            if (cost := output.costs[b]) != _NOTHING:
                kinds.append("correct" if cost == _OPTIONAL else "insertion")
            _, a, b = put_in
    return kinds[::-1]


def _table(reference: Words, output: Words) -> list[Sequence[int]]:
    """Return the least costs `[reference word][output word]` of aligning both texts up to and including these words."""
    first = [0]
    for cost, before in zip(output.costs[1:], output.before[1:], strict=True):
        first.append(min(first[p] for p in before) + cost)
    table: list[Sequence[int]] = [first]
    columns = list(zip(output.words, output.costs, [p[0] if len(p) == 1 else p for p in output.before], strict=True))
    for word, cost, rows in zip(reference.words[1:], reference.costs[1:], reference.before[1:], strict=True):
        above = table[rows[0]] if len(rows) == 1 else list(map(min, *(table[row] for row in rows)))
        spoken = None if cost == _NOTHING else word  # sclite does not align @ with @
        row = [above[0] + cost]
        for (other, other_cost, before), over in zip(columns[1:], above[1:], strict=True):
            if isinstance(before, int):
                both, put_in = above[before], row[before] + other_cost
            else:
                both, put_in = min(above[p] for p in before), min(row[p] for p in before) + other_cost
            both += 0 if spoken == other else _SUBSTITUTION
            row.append(min(both, over + cost, put_in))
        table.append(array("q", row))  # an array takes a fifth of the memory of a list
    return table


_Move = tuple[float, int, int]
"""(cost, reference word, output word): the total cost of the best alignment that ends with a step, and the indices of
the words before this step."""


def _predecessors(
    reference: Words, output: Words, table: Sequence[Sequence[int]], a: int, b: int
) -> tuple[_Move, _Move, _Move]:
    """Return three steps that may lead to the words `a` and `b`.

    The steps align both words, delete word `a` of the reference, or insert word `b` of the output.
    """

    def best(rows: list[int], columns: list[int], cost: int) -> _Move:
        moves = ((table[row][column] + cost, row, column) for row, column in product(rows, columns))
        return min(moves, key=lambda move: move[0], default=(inf, a, b))

    same = reference.words[a] == output.words[b] and reference.costs[a] != _NOTHING
    return (
        best(reference.before[a], output.before[b], 0 if same else _SUBSTITUTION),
        best(reference.before[a], [b], reference.costs[a]),
        best([a], output.before[b], output.costs[b]),
    )


@monotone
def error_rate_score(sums: Array) -> Array:
    r"""WER or CER, $errors / ref\_len$.

    Sums `[..., stat]` with stat = (errors, ref_len) give scores `[...]` from 0; above 1 if outputs are much too long.
    If the references are empty, the score is 0 for empty outputs and 1 for other outputs.

    >>> float(error_rate_score(np.array([5.0, 40.0])))
    0.125
    """
    return _rate(sums, 1.0)


@monotone
def ter_score(sums: Array) -> Array:
    r"""TER, $100\,edits / ref\_len$, in percent.

    Sums `[..., stat]` with stat = (edits, ref_len) give scores `[...]` from 0. Both statistics are multiplied by the
    number of references, so that they are whole numbers. If the references are empty, the score is 0 for empty outputs
    and 100 for other outputs.

    >>> float(ter_score(np.array([5.0, 40.0])))
    12.5
    """
    return _rate(sums, 100.0)


def _rate(sums: Array, scale: float) -> Array:
    """Return the error rate multiplied by `scale`.

    The division comes last, so that a compiler cannot fuse the product with a later difference. This would change the
    last digit on some devices.
    """
    xp = sums.__array_namespace__()
    empty = sums[..., 1] == 0
    errors = xp.where(empty, xp.minimum(sums[..., 0], 1.0), sums[..., 0])
    return (scale * errors) / xp.where(empty, 1.0, sums[..., 1])


def edit_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The least number of insertions, deletions and substitutions that turn the tokens `first` into `second`.

    The bits of two Python integers hold a column of the table of distances, so that a token costs about twelve
    operations. References: Myers (1999), "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming"; Hyyrö (2003), "A bit-vector algorithm for computing Levenshtein and Damerau edit distances".

    >>> edit_distance("kitten", "sitting"), edit_distance(["a", "cat"], ["the", "black", "cat"])
    (3, 2)
    """
    if not first:
        return len(second)
    bits: dict[Hashable, int] = {}
    for i, token in enumerate(first):
        bits[token] = bits.get(token, 0) | 1 << i
    top, every = len(first) - 1, (1 << len(first)) - 1
    # Bit i of `grows` is 1 if the distance grows by 1 from row i to row i + 1 of the current column; bit i of `shrinks`
    # is 1 if the distance shrinks by 1.
    grows, shrinks, distance = every, 0, len(first)
    for token in second:
        match = bits.get(token, 0)
        same = (((match & grows) + grows) ^ grows) | match | shrinks  # bits: distance equals the diagonal neighbour
        right_grows = (shrinks | ~(same | grows)) & every
        right_shrinks = same & grows
        distance += (right_grows >> top) - (right_shrinks >> top)
        right_grows = right_grows << 1 | 1
        grows = (right_shrinks << 1 | ~(same | right_grows)) & every
        shrinks = same & right_grows & every
    return distance


Errors = Callable[[Any, Any], tuple[int, int]]
"""A function that maps the tokens of a reference and of an output to the number of errors and the reference's
length."""


def _fewest_errors(reference: Sequence[str], output: Sequence[str]) -> tuple[int, int]:
    return edit_distance(reference, output), len(reference)


def _of_sclite(reference: Words, output: Words) -> tuple[int, int]:
    kinds = align(reference, output)
    return len(kinds) - kinds.count("correct"), len(kinds) - kinds.count("insertion")


def _start_counting(split: Callable[[str], Any], errors: Errors, recipe: Recipe) -> CountTexts:
    def tokens(text: str) -> Any:
        kept = text if recipe.punctuation else "".join(letter for letter in text if category(letter)[0] != "P")
        return split(kept.lower() if recipe.lowercase else kept)

    def count(references: Texts, systems: Texts) -> np.ndarray:
        gold = [[tokens(text) for text in texts] for texts in zip(*references, strict=True)]
        return np.array(
            [
                [least(tokens(text), references) for text, references in zip(texts, gold, strict=True)]
                for texts in systems
            ]
        )

    def least(output: Any, references: Sequence[Any]) -> tuple[int, int]:
        """Return (errors, length) for the reference with the lowest error rate, the first in case of ties."""
        counts = [errors(reference, output) for reference in references]
        return min(counts, key=lambda count: count[0] / count[1] if count[1] else np.inf if count[0] else 0.0)

    return count


def _signature(unit: str, recipe: Recipe, num_references: int) -> str:
    return f"nrefs:{num_references}|case:{recipe.case}|unit:{unit}{'|punct:no' * (not recipe.punctuation)}"


def _sclite_signature(recipe: Recipe, num_references: int) -> str:
    del recipe  # TER always ignores case
    return f"nrefs:{num_references}|case:lc|unit:words|costs:sub 4, del 3, ins 3, optional 2"


def _metric(name: str, score: Callable[[Array], Array], edits: str, title: str) -> Metric:
    stats = edits, "ref_len"
    extract = partial(stack_nonnegative, ("the number of edits", "ref_len"), (0, 1))
    metric = Metric(name, score, stats, extract, stats, shared_inputs=stats[1:], portable=True, bounds=RATES)
    return replace(metric, higher_is_better=False, title=title)


def _of_tokens(name: str, split: Callable[[str], Sequence[str]], unit: str, **work: Any) -> TextMetric:
    metric = _metric(name, error_rate_score, "errors", name.upper())
    return TextMetric(metric, partial(_start_counting, split, _fewest_errors), partial(_signature, unit), **work)


ERROR_RATES = (
    TextMetric(
        _metric("ter", ter_score, "edits", "TER"),
        start_sacrebleu,
        sacrebleu_signature,
        cost=costs.TER,
        block=4,
        longest=12_000,
        extra="mt",
    ),
    _of_tokens("wer", str.split, "words", cost=costs.WER, longest=1_000_000),
    _of_tokens("cer", str.strip, "characters", cost=costs.CER, longest=200_000),
    TextMetric(
        _metric(SCLITE, error_rate_score, "errors", "WER (sclite)"),
        partial(_start_counting, words_of, _of_sclite),
        _sclite_signature,
        cost=costs.WER_SCLITE,
        longest=60_000,
    ),
)
