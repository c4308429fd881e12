"""Phrase structure: what evalb puts out, and trees themselves, against a second way of counting."""

import random

import numpy as np
import pytest
from annotated import TREES, TREES_ONE, TREES_TWO, evalb

from sigjax.formats import read
from sigjax.formats.phrases import NOTE, parse_tree
from sigjax.records import InputError

# (matched, gold, test) of the valid sentences of the sample that comes with evalb, whose summary says 87.76 and 90.53.
SAMPLE = [
    (4, 4, 4), (3, 4, 4), (4, 4, 4), (3, 4, 4), (3, 4, 4), (2, 4, 3), (1, 4, 1), (0, 4, 0), (4, 4, 5), (4, 4, 8), None,
    None, None, None, (4, 4, 4), None, None, (4, 4, 4), (4, 4, 4), None, (4, 4, 4), (34, 34, 34), (4, 4, 4), (4, 4, 4),
]  # fmt: skip


def scores(evaluation):
    return evaluation.metric.score(evaluation.stats.sum(axis=1) * 1.0)


def test_the_sample_of_evalb(write):
    files = [write("one.txt", evalb(SAMPLE)), write("two.txt", evalb(SAMPLE).replace("\n", "\r\n"))]
    for metric, expected in (("recall", 87.76), ("precision", 90.53), ("fscore", 2 * 86 / (95 + 98) * 100)):
        evaluation = read(*files, metric=metric)
        assert evaluation.stats.shape[1] == 17
        np.testing.assert_allclose(100 * scores(evaluation), expected, atol=0.005)
    assert evaluation.ids is not None
    assert evaluation.ids[10] == "15"
    assert evaluation.notes[1] == (
        "two: left out 7 sentences with a Stat. other than 0, as evalb does: '11', '12', '13', '14', '16', '17', '20'"
    )


def test_a_sentence_that_one_parser_failed_on(write):
    one, two = write("one", evalb([(3, 4, 4), (2, 5, 3)])), write("two", evalb([(4, 4, 4), None]))
    with pytest.raises(InputError, match=r"'two' lacks 1 of 2 \(first: '2'\); use missing=.drop. or missing=.zero."):
        read(one, two)
    assert read(one, two, missing="drop").stats.tolist() == [[[3, 4, 4]], [[4, 4, 4]]]
    assert read(one, two, missing="zero").stats.tolist() == [[[3, 4, 4], [2, 3, 5]], [[4, 4, 4], [0, 0, 5]]]


def test_messages_of_evalb_among_the_rows_are_skipped(write):
    text = evalb([(3, 4, 4), None]).replace("   2  ", "2 : Length unmatch (4|5)\n   2  ")
    assert read(write("one", text), write("two", text)).stats.shape[1] == 1


def test_no_valid_sentence_is_refused(write):
    one = write("one", evalb([None]))
    with pytest.raises(InputError, match="no instances"):
        read(one, write("two", evalb([None])))


@pytest.fixture
def trees(write):
    gold, one, two = (
        write(name, "\n".join(lines) + "\n")
        for name, lines in (("gold", TREES), ("one", TREES_ONE), ("two", TREES_TWO))
    )
    return gold, [one, two]


def test_brackets_by_hand(trees):
    gold, systems = trees
    evaluation = read(gold, input=systems, missing="zero")
    # Gold: S NP VP NP, S VP ADVP, NP NP NP; a second S over the same words is one too many.
    assert evaluation.stats.tolist() == [[[3, 4, 4], [3, 3, 3], [0, 0, 3]], [[2, 5, 4], [2, 4, 3], [1, 2, 3]]]
    assert evaluation.notes[0] == NOTE
    with pytest.raises(InputError, match=r"'one' lacks 1 of 3 \(first: 3\)"):
        read(gold, input=systems)


def test_the_sample_trees_of_evalb(write):
    """Pairs of the sample that comes with evalb; the numbers are its (matched, gold, test)."""
    gold = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"
    pairs = {
        "(S (A (P this)) (B (Q is) (C (R a) (T test))))": (3, 4, 4),
        "(S (C (P this)) (B (Q is) (A (R a) (U test))))": (3, 4, 4),
        "(S (A (P this)) (B (Q is) (R a) (A (T test))))": (3, 4, 4),
        "(S (A (P this) (Q is)) (A (R a) (T test)))": (2, 4, 3),
        "(S (P this) (Q is) (R a) (T test))": (1, 4, 1),
        "(P this) (Q is) (R a) (T test)": (0, 4, 0),
        "(S (A (P this)) (B (Q is) (A (A (R a) (T test)))))": (4, 4, 5),
        "(S (A (P this)) (B (Q is) (A (A (A (A (A (R a) (T test))))))))": (4, 4, 8),
        "(TOP (S (A (P this)) (B (Q is) (A (R a) (T test)))))": (4, 4, 4),
        "(S (A-SBJ-1 (P this)) (B-WHATEVER (Q is) (A (R a) (T test))) (-NONE- *))": (4, 4, 4),
    }
    system = write("system", "\n".join(pairs))
    evaluation = read(write("gold", "\n".join([gold] * len(pairs))), input={"a": system, "b": system})
    assert evaluation.stats[0].tolist() == [[matched, test, size] for matched, size, test in pairs.values()]


def naive_brackets(node, place=0):
    """Brackets of a nested tuple (label, child, ...) whose words are text, by recursion; and where it ends."""
    label, *children = node
    if [type(child) for child in children] == [str]:
        return [], place + 1
    found, end = [], place
    for child in children:
        inner, end = naive_brackets(child, end)
        found += inner
    return found if label == "TOP" else [*found, (label, place, end)], end


def random_tree(chooser, words):
    """A tree over some words, with unary nodes that repeat a label."""
    if len(words) == 1 and chooser.random() < 0.6:
        return (chooser.choice("XY"), words[0])
    label = chooser.choice(["A", "B", "TOP"])
    if len(words) == 1 or chooser.random() < 0.2:
        return (label, random_tree(chooser, words))
    cut = chooser.randrange(1, len(words))
    return (label, random_tree(chooser, words[:cut]), random_tree(chooser, words[cut:]))


def written(node):
    return "(" + " ".join(each if isinstance(each, str) else written(each) for each in node) + ")"


def naive_matches(one, other):
    """Brackets of one that find one of other, each of which is taken once."""
    rest, matched = list(other), 0
    for bracket in one:
        if bracket in rest:
            rest.remove(bracket)
            matched += 1
    return matched


def test_random_trees_by_a_second_way(write):
    chooser = random.Random(0)
    pairs = []
    for size in chooser.choices(range(1, 9), k=200):
        words = [f"w{i}" for i in range(size)]
        pairs.append([random_tree(chooser, words) for _ in range(2)])
    gold, system = (write(name, "\n".join(written(pair[k]) for pair in pairs)) for k, name in enumerate(("g", "s")))
    stats = read(gold, input={"gold": gold, "system": system}, reader="trees").stats
    for (tp, predicted, size), pair in zip(stats[1], pairs, strict=True):
        right, own = (naive_brackets(tree)[0] for tree in pair)
        assert (tp, predicted, size) == (naive_matches(right, own), len(own), len(right))
    assert (stats[0] == stats[0, :, :1]).all()


def test_deep_trees_need_no_deep_stack(write):
    words, brackets = parse_tree("(A " * 200_000 + "x" + ")" * 200_000)
    assert (words, brackets.total()) == (["x"], 199_999)
