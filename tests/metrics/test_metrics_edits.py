"""WER, CER and TER against a recursion by hand, sacrebleu, and each other."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from sigjax import Evaluation, compare
from sigjax.metrics.edits import edit_distance

OUTPUTS = {
    "A": ["The cat sat", "", "on the mat today", "  a  b "],
    "B": ["the cat sat down", "oh", "mat the on", "a b"],
}
GOLD = ["the cat sat", "", "on the mat", "a b c"]
OTHER = ["The big cat sat", "oh no", "mat", "b"]


def recursive(one, other):
    """The definition, letter by letter."""

    @lru_cache(None)
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(
            distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (one[i - 1] != other[j - 1])
        )

    return distance(len(one), len(other))


def errors_of(metric, systems=OUTPUTS, references=GOLD, **options):
    evaluation = Evaluation.from_texts(systems, references, metric=metric, **options)
    return dict(zip(evaluation.systems, evaluation.stats.tolist(), strict=True))


@given(one=st.text("abc", max_size=9), other=st.text("abcd", max_size=9))
def test_edit_distance_is_the_recursion(one, other):
    assert edit_distance(one, other) == recursive(one, other)
    assert edit_distance(list(one), tuple(other)) == recursive(one, other)


@given(one=st.lists(st.integers(0, 3), max_size=90), other=st.lists(st.integers(0, 3), max_size=90))
def test_edit_distance_of_sequences_longer_than_a_machine_word(one, other):
    assert edit_distance(one, other) == recursive(tuple(one), tuple(other))


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize(("metric", "split"), [("wer", str.split), ("cer", str.strip)])
def test_errors_are_those_of_the_recursion(metric, split, lowercase):
    def tokens(text):
        return tuple(split(text.lower() if lowercase else text))

    for system, counts in errors_of(metric, lowercase=lowercase).items():
        pairs = zip(OUTPUTS[system], GOLD, strict=True)
        expected = [[recursive(tokens(text), tokens(gold)), len(tokens(gold))] for text, gold in pairs]
        assert counts == expected


def test_of_several_references_the_one_with_the_fewest_errors_for_its_length():
    """By hand: of segment 1 of A, 1 of 3 words against 2 of 4; of segment 3 of B, 2 of 3 against 2 of 1."""
    found = errors_of("wer", references=[GOLD, OTHER])
    assert found == {"A": [[1, 4], [0, 0], [1, 3], [1, 3]], "B": [[1, 3], [1, 2], [2, 3], [1, 3]]}


@pytest.mark.parametrize("num_references", [1, 2, 3])
def test_ter_keeps_whole_numbers_and_the_score_of_sacrebleu(num_references):
    """With several references their mean length is a fraction, which no exact test could take."""
    references = [GOLD, OTHER, ["The cat", "", "x y z", "c"]][:num_references]
    evaluation = Evaluation.from_texts(OUTPUTS, references, metric="ter")
    assert evaluation.stats.dtype == np.int64
    expected = {name: TER().corpus_score(texts, references).score for name, texts in OUTPUTS.items()}
    report = compare(evaluation, resamples=100)
    assert {system.name: system.score for system in report.systems} == pytest.approx(expected, rel=1e-14)
    assert report.comparisons[0].method == "exact"
    assert evaluation.notes[0].startswith(f"ter: TER|nrefs:{num_references}|case:lc|tok:tercom|")
