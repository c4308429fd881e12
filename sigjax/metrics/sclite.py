"""Words of transcripts with alternatives, aligned as sclite of NIST's SCTK does.

`{ um / uh }` is one of its alternatives, `{ uh / @ }` may be nothing, and so may `(uh)`, as with sclite -D. Case, a
mark * at the end of a word, and tags (`word;tag`) do not count. Reference: SCTK (https://github.com/usnistgov/SCTK),
`net_dp.c` and `word.c`.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import product
from math import inf
from typing import Literal, NamedTuple

SCLITE = "wer-sclite"
"""The metric of these errors."""
_NOTHING, _OPTIONAL, _WORD, _SUBSTITUTION = 1, 2000, 3000, 4000
"""Thousandths of what sclite adds for a word left out or put in (@, optional or other), and for another word."""

Step = tuple[Literal["correct", "substitution", "deletion", "insertion"], int]
"""What became of a word, and the slot of the reference where it is; insertions follow theirs."""


class Words(NamedTuple):
    """A graph of words, in an order in which each comes after those before it; word 0 is the start."""

    words: list[str]
    costs: list[int]
    """Of leaving the word out, or putting it in."""
    before: list[list[int]]
    """The words that may come before each; sclite prefers the first."""
    slots: list[int]
    """The place of each in the text, from 1, where alternatives have one place together."""
    last: list[int]
    """The words that may be the last."""


def tokens_of(text: str) -> Iterator[str]:
    """Words, and `{`, `/` and `}` of alternatives; a brace that is not closed ends with the text."""
    depth = 0
    for token in re.findall(r"[{}]|[^\s{}]+", text):
        if token == "{" or (token == "}" and depth):
            depth += 1 if token == "{" else -1
            yield token
        elif token != "}":
            yield from filter(None, re.split("(/)", token)) if depth else [token]
    yield from "}" * depth


def words_of(text: str) -> Words:
    """The words of a text in lower case.

    Example:
        >>> found = words_of("a { B C / @ } (d)")
        >>> found.words, found.before, found.slots
        (['', 'a', 'b', 'c', '@', 'd'], [[], [0], [1], [2], [1], [3, 4]], [0, 1, 2, 2, 2, 3])
    """
    found = Words([""], [0], [[]], [0], [])
    last, slot = [0], 1
    open_braces: list[tuple[list[int], list[int]]] = []  # what comes before the alternatives, the ends of those so far
    for token in tokens_of(text.lower()):
        if token == "{":
            open_braces.append((last, []))
            continue
        if open_braces and token in ("/", "}"):
            start, ends = open_braces[-1]
            ends += [] if last is start else last  # as for sclite, an empty alternative is none
            last = start
            if token == "/":
                continue
            open_braces.pop()
            last = ends or start
        else:
            word, cost = _word(token)
            found.words.append(word)
            found.costs.append(cost)
            found.before.append(last)
            found.slots.append(slot)
            last = [len(found.words) - 1]
        slot += not open_braces
    return found._replace(last=last)


def _word(token: str) -> tuple[str, int]:
    """A word without tag and mark, and the cost of leaving it out."""
    word = re.split(r"(?<!\\);", token)[0].replace(r"\;", ";")
    word = word[:-1] if word.endswith("*") and len(word) > 1 else word
    if word.startswith("(") and word.endswith(")"):
        return word[1:-1], _OPTIONAL
    return word, _NOTHING if word == "@" else _WORD


def align(reference: Words, output: Words) -> list[Step]:
    """The alignment that costs least, from the start; where several do, the one that sclite takes.

    Words that are optional are correct where they are left out, or put in.

    Example:
        >>> [kind for kind, slot in align(words_of("a { b c / @ } d"), words_of("A d e"))]
        ['correct', 'correct', 'insertion']
    """
    table = _table(reference, output)
    steps = list[Step]()
    a, b = min(product(reference.last, output.last), key=lambda cell: table[cell[0]][cell[1]])
    while a or b:
        both, left_out, put_in = _ways(reference, output, table, a, b)
        slot = reference.slots[a]
        if both[0] <= left_out[0] and both[0] <= put_in[0]:
            steps.append(("correct" if reference.words[a] == output.words[b] else "substitution", slot))
            _, a, b = both
        elif left_out[0] < put_in[0]:
            if (cost := reference.costs[a]) != _NOTHING:
                steps.append(("correct" if cost == _OPTIONAL else "deletion", slot))
            _, a, b = left_out
        else:
            if (cost := output.costs[b]) != _NOTHING:
                steps.append(("correct" if cost == _OPTIONAL else "insertion", slot))
            _, a, b = put_in
    return steps[::-1]


def _table(reference: Words, output: Words) -> list[Sequence[int]]:
    """The least costs up to each word of both."""
    first = [0]
    for cost, before in zip(output.costs[1:], output.before[1:], strict=True):
        first.append(min(first[p] for p in before) + cost)
    table: list[Sequence[int]] = [first]
    columns = list(zip(output.words, output.costs, [p[0] if len(p) == 1 else p for p in output.before], strict=True))
    for word, cost, rows in zip(reference.words[1:], reference.costs[1:], reference.before[1:], strict=True):
        above = table[rows[0]] if len(rows) == 1 else list(map(min, *(table[row] for row in rows)))
        own = None if cost == _NOTHING else word  # sclite aligns no @ with @
        row = [above[0] + cost]
        for (other, other_cost, before), over in zip(columns[1:], above[1:], strict=True):
            if isinstance(before, int):
                both, put_in = above[before], row[before] + other_cost
            else:
                both, put_in = min(above[p] for p in before), min(row[p] for p in before) + other_cost
            both += 0 if own == other else _SUBSTITUTION
            row.append(min(both, over + cost, put_in))
        table.append(array("q", row))  # a fifth of the memory of a list
    return table


_Way = tuple[float, int, int]
"""The cost of a step, and the words before it."""


def _ways(reference: Words, output: Words, table: Sequence[Sequence[int]], a: int, b: int) -> tuple[_Way, _Way, _Way]:
    """The ways to two words: both aligned, that of the reference left out, that of the output put in."""

    def best(rows: list[int], columns: list[int], cost: int) -> _Way:
        ways = ((table[row][column] + cost, row, column) for row, column in product(rows, columns))
        return min(ways, key=lambda way: way[0], default=(inf, a, b))

    same = reference.words[a] == output.words[b] and reference.costs[a] != _NOTHING
    return (
        best(reference.before[a], output.before[b], 0 if same else _SUBSTITUTION),
        best(reference.before[a], [b], reference.costs[a]),
        best([a], output.before[b], output.costs[b]),
    )
