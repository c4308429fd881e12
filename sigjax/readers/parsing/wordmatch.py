"""Which word of a system stands for which word of the gold standard, when both may divide the text differently.

The rule is that which the CoNLL 2018 shared task describes. Words are matched when they cover the same characters of
the text without blanks. Multiword tokens of either side that overlap make a stretch of text; the words that lie within
it are matched by a longest common subsequence of their forms in lower case, and words that stick out of it not at all.
"""

from collections.abc import Sequence

import numpy as np

from sigjax.readers.parsing.treebank import Treebank
from sigjax.records import InputError

UNMATCHED = -2
"""Other than `treebank.ROOT`, so that no head is right by being unknown."""
_LARGEST_TABLE = 2**22
"""Words of the gold standard times words of the system in one stretch; longer ones are no multiword tokens."""


def match_words(gold: Treebank, system: Treebank) -> np.ndarray:
    """The gold word `[system word]` of each, or `UNMATCHED`; both have the same text."""
    found = np.full(len(system.starts), UNMATCHED)
    stretches = _stretches(gold, system)
    plain_gold, plain_system = (np.flatnonzero(~_touching(side, stretches)) for side in (gold, system))
    length = len(gold.text) + 1
    keys = [side.starts[i] * length + side.ends[i] for side, i in ((gold, plain_gold), (system, plain_system))]
    _, at_gold, at_system = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    found[plain_system[at_system]] = plain_gold[at_gold]
    for start, end in stretches.tolist():
        own, other = _within(gold, start, end), _within(system, start, end)
        if len(own) * len(other) > _LARGEST_TABLE:
            line = system.lines[other[0]]
            raise InputError(f"{system.file}, line {line}: {len(other)} words in multiword tokens that overlap")
        for i, j in common_subsequence([gold.forms[i].lower() for i in own], [system.forms[j].lower() for j in other]):
            found[other[j]] = own[i]
    return found


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Places of a longest common subsequence: of several, the one that leaves out early items of `one` first.

    Example:
        >>> common_subsequence(["in", "dem", "a"], ["dem", "in", "a"])
        [(1, 0), (2, 2)]
    """
    rest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            equal = one[i] == other[j]
            rest[i][j] = rest[i + 1][j + 1] + 1 if equal else max(rest[i + 1][j], rest[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif rest[i][j] == rest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _stretches(gold: Treebank, system: Treebank) -> np.ndarray:
    """Start and end `[stretch, 2]` of the multiword tokens of both, joined where they overlap."""
    sides = [np.stack([side.starts, side.ends], axis=-1)[side.multiword] for side in (gold, system)]
    spans = np.unique(np.concatenate(sides), axis=0)
    if not len(spans):
        return spans
    reach = np.maximum.accumulate(spans[:, 1])
    fresh = np.append(True, spans[1:, 0] >= reach[:-1])
    last = np.append(np.flatnonzero(fresh)[1:] - 1, len(spans) - 1)
    return np.stack([spans[fresh, 0], reach[last]], axis=-1)


def _touching(side: Treebank, stretches: np.ndarray) -> np.ndarray:
    """Which words `[word]` share a character with a stretch."""
    before = np.searchsorted(stretches[:, 0], side.ends)
    return np.append(0, stretches[:, 1])[before] > side.starts


def _within(side: Treebank, start: int, end: int) -> range:
    """The words that lie in a stretch of text."""
    return range(int(np.searchsorted(side.starts, start)), int(np.searchsorted(side.ends, end, side="right")))
