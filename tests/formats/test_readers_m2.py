"""Edits in the M2 format: counts as errant_compare prints them, one annotator or several that agree; refusals."""

import random

import pytest

from sigjax import InputError, read

pytestmark = pytest.mark.usefixtures("here")
END = "REQUIRED|||-NONE-|||"


def edit(start, end, correction, kind="R:NOUN", annotator=0):
    return f"A {start} {end}|||{kind}|||{correction}|||{END}{annotator}"


NOOP = edit(-1, -1, "-NONE-", "noop")


def m2(*sentences):
    """Blocks of a sentence and its edits."""
    return "\n\n".join("\n".join([f"S {words}", *edits]) for words, *edits in sentences) + "\n\n"


def errant(hypothesis, reference):
    """TP, FP and FN of each sentence: `process_edits` and `compareEdits` of errant_compare for one coder."""

    def edits_of(block):
        found = {}
        rows = [row[2:].split("|||") for row in block.split("\n")[1:]] or [["-1 -1", "noop", "-NONE-"]]
        for row in rows:
            if row[1] != "UNK":
                found.setdefault((*map(int, row[0].split()), row[2]), []).append(row[1])
        return found

    counts = []
    for one, other in zip(*(text.strip().split("\n\n") for text in (hypothesis, reference)), strict=True):
        hyp, ref = edits_of(one), edits_of(other)
        tp = fp = fn = 0
        for key, kinds in hyp.items():
            if kinds[0] != "noop":
                tp, fp = (tp + len(ref[key]), fp) if key in ref else (tp, fp + len(kinds))
        for key, kinds in ref.items():
            fn += len(kinds) if kinds[0] != "noop" and key not in hyp else 0
        counts.append((tp, fp, fn))
    return counts


def printed(counts):
    """Precision, recall and F0.5: `computeFScore` before rounding."""
    tp, fp, fn = map(sum, zip(*counts, strict=True))
    p, r = (tp / (tp + fp) if fp else 1.0), (tp / (tp + fn) if fn else 1.0)
    return p, r, 1.25 * p * r / (0.25 * p + r) if p + r else 0.0


def random_m2(seed, number=40):
    """Sentences that are alike in all files, and edits that often are; some stand twice, some are unknown."""
    chance = random.Random(seed)
    sentences = []
    for i in range(number):
        starts = sorted(chance.sample(range(5), chance.randint(0, 3)))
        kinds = chance.choices(("R:NOUN", "UNK"), (9, 1), k=3)
        own = [
            edit(j, j + j % 2, chance.choice(("x", "y z", "")), kind) for j, kind in zip(starts, kinds, strict=False)
        ]
        own += own[:1] * chance.choice((0, 0, 0, 1))
        sentences.append((f"a b c d e {i}", *(own or chance.choice(([], [NOOP])))))
    return m2(*sentences)


@pytest.mark.parametrize("seed", range(3))
def test_counts_and_scores_are_those_of_errant(write, seed):
    gold, systems = random_m2(seed), {name: random_m2(f"{name}{seed}") for name in "ab"}
    files = [write(name, content) for name, content in systems.items()]
    counts = [errant(content, gold) for content in systems.values()]
    found = read(write("g", gold), input=files)
    for k, metric in enumerate(("precision", "recall", "f0.5")):
        found = read(write("g", gold), input=files, metric=metric)
        scores = found.metric.score(found.stats.sum(axis=1))
        assert scores.tolist() == pytest.approx([printed(own)[k] for own in counts])
    assert found.stats.tolist() == [[[tp, tp + fp, tp + fn] for tp, fp, fn in own] for own in counts]
    assert read("g", input=files).metric.name == "f0.5"


def test_without_gold_edits_and_named(write):
    gold = write("gold.m2", m2(("a b",), ("c d",)))
    files = [write(name, m2(("a b", edit(0, 1, "x")), ("c d",)).replace("\n", "\r\n")) for name in ("a.m2", "b.m2")]
    assert read(gold, input=files).stats.tolist() == [[[0, 1, 0], [0, 0, 0]]] * 2


TWO = m2(("a b", edit(0, 1, "x"), edit(0, 1, "x", annotator=1)), ("c d", NOOP, edit(1, 2, "y", annotator=1)), ("e",))


def test_several_annotators(write):
    files = [write(name, m2(("a b", edit(0, 1, "x")), ("c d", edit(1, 2, "y")), ("e",))) for name in "ab"]
    message = r"g, line 5: the annotators '0', '1' differ, and ERRANT's choice .* say which to take.*filter=0"
    with pytest.raises(InputError, match=message):
        read(write("g", TWO), input=files)
    assert read("g", input=files, filter="0").stats[0].tolist() == [[1, 1, 1], [0, 1, 0], [0, 0, 0]]
    assert read("g", input=files, filter="1").stats[0].tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 0]]
    agreeing = write("h", TWO.replace(NOOP, edit(1, 2, "y")))
    assert read(agreeing, input=files).stats.tolist() == read("g", input=files, filter="1").stats.tolist()
    with pytest.raises(InputError, match="g: .*filter.*: no annotator 7; annotators: '0', '1'"):
        read("g", input=files, filter="7")
    with pytest.raises(InputError, match="expected the number of an annotator, as M2 ends its lines, got 'first'"):
        read("g", input=files, filter="first")
    with pytest.raises(InputError, match="g, line 5: annotator 1 has no edit of this sentence, not even noop"):
        read(write("g", TWO.replace(edit(1, 2, "y", annotator=1) + "\n", "")), input=files, filter="1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a b\nc d\n", "a, line 1: expected 'S WORDS', got 'a b'; errant_parallel writes M2 from texts"),
        ("S a b\nA 0 1|||R\n", r"a, line 2: expected an edit, 'A 1 2\|\|\|TYPE.* got 'A 0 1\|\|\|R'"),
        ("S a b\nA x 1|||R|||x|||REQUIRED|||-NONE-|||0\n", "a, line 2: expected an edit"),
        ("S a b\n\nS c  d\n", "a, line 3: expected the sentence 'c d' of .*g, line 4, got 'c  d'"),
        ("S a b\n", "a: has 1 sentences, but .*g has 2; expected the same"),
        (m2(("a b",), ("c d", NOOP, edit(0, 1, "x", annotator=1))), "a, line 3: the annotators '0', '1' differ"),
    ],
)
def test_edits_that_cannot_be_used(write, content, message):
    gold = m2(("a b", edit(0, 1, "x")), ("c d", NOOP))
    with pytest.raises(InputError, match=message):
        read(write("g", gold), input=[write("a", content), write("b", gold)])
