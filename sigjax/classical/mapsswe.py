"""MAPSSWE, the test of word error rates that NIST's evaluations of speech recognition report."""

from collections.abc import Iterator, Sequence

import numpy as np

from sigjax.classical.tests import ClassicalTest, LeftOut, wald_z
from sigjax.metrics.sclite import align, words_of
from sigjax.records import Alternative

MAPSSWE = "MAPSSWE"
_BOUNDARY = 2
"""Words that both systems have right, one after the other, between two segments."""


def mapsswe(
    references: Sequence[str], a: Sequence[str], b: Sequence[str], alternative: Alternative
) -> ClassicalTest | LeftOut:
    r"""Matched-pairs sentence-segment word error test of two systems on transcripts `[utterance]`.

    sclite's alignments of both systems cut each utterance where both have two words running right; a segment is what
    lies between and has an error. With $d_i$ the errors of a minus those of b in segment i of n,
    $z = \bar d / (s_d / \sqrt n)$ by the normal distribution; $s_d$ has ddof = 1. As `sc_stats -t mapsswe` of SCTK; but
    words of two systems that take different alternatives of a reference stay in step here.

    The permutation test takes the errors and lengths of whole utterances, or of clusters such as speakers, and swaps
    them; so it needs no normal distribution and no independence within them, and tests the difference of the rates.
    MAPSSWE takes segments of one utterance, and all utterances of a speaker, for independent; it gains power where this
    is so. It compares errors, not rates, and the segments depend on the pair: with a third system they are others.

    References: Gillick and Cox (1989), "Some statistical issues in the comparison of speech recognition algorithms";
    Pallett, Fisher and Fiscus (1990), "Tools for the analysis of benchmark speech recognition tests".

    Example:
        >>> gold, a, b = ["a b c d e f"] * 3, ["a x c d e f", "a b c d e f", "a"], ["a b c d x f", "a b", "a b"]
        >>> test = mapsswe(gold, a, b, "two-sided")
        >>> round(test.statistic, 4), test.assumes
        (-0.6348, 'segments are independent, and many; 4 segments')
    """
    pairs = [pair for texts in zip(references, a, b, strict=True) for pair in segments(*texts)]
    if len(pairs) < 2:
        return LeftOut(MAPSSWE, f"it takes two segments with errors or more, got {len(pairs)}")
    differences = np.array([first - second for first, second in pairs])
    assumes = f"segments are independent, and many; {len(pairs):,} segments"
    return wald_z(differences, alternative, name=MAPSSWE, assumes=assumes)


def segments(reference: str, a: str, b: str) -> Iterator[tuple[int, int]]:
    """The errors of both systems in each segment of an utterance.

    Example:
        >>> list(segments("a b c d e f g", "a x c d e f", "a b c d y f g"))
        [(1, 0), (1, 1)]
    """
    gold = words_of(reference)
    size = 2 * max(gold.slots) + 2  # in each slot of the reference the words, then what is put in after them
    right, errors = np.zeros((2, size), int), np.zeros((2, size), int)
    for system, output in enumerate((a, b)):
        for kind, slot in align(gold, words_of(output)):
            (right if kind == "correct" else errors)[system, 2 * slot + (kind == "insertion")] += 1
    running, sums = 0, (0, 0)
    for wrong, both_right in zip(errors.T.tolist(), right.min(axis=0).tolist(), strict=True):
        if any(wrong):
            running, sums = 0, (sums[0] + wrong[0], sums[1] + wrong[1])
            continue
        running += both_right
        if running >= _BOUNDARY and any(sums):
            yield sums
            sums = 0, 0
    if any(sums):
        yield sums
