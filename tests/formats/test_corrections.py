"""Edits of grammar correction: M2 files, and what errant_compare prints with -v, by ERRANT's own rules; refusals."""

import random
import re
from itertools import product

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
    with pytest.raises(InputError, match="g: .*filter.*: no annotator '7'; annotators: '0', '1'"):
        read("g", input=files, filter="7")
    with pytest.raises(InputError, match="no annotator 'first'; annotators: '0', '1'"):
        read("g", input=files, filter="first")
    with pytest.raises(InputError, match="g, line 5: annotator 1 has no edit of this sentence, not even noop"):
        read(write("g", TWO.replace(edit(1, 2, "y", annotator=1) + "\n", "")), input=files, filter="1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a b\nc d\n", "a, line 1: expected 'S WORDS', got 'a b'; errant_parallel writes M2 from texts"),
        ("S a b\nA 0 1|||R\n", r"a, line 2: expected an edit, 'A 1 2\|\|\|TYPE.* got 'A 0 1\|\|\|R'"),
        ("S a b\nA x 1|||R|||x|||REQUIRED|||-NONE-|||0\n", "a, line 2: expected an edit"),
        ("S a b\n\nS c  d\n", "a, line 3: sentence 'c  d', but 'c d' on line 4 of .*g"),
        ("S a b\n", "a: has 1 sentences, but .*g has 2; expected the same"),
        (m2(("a b",), ("c d", NOOP, edit(0, 1, "x", annotator=1))), "a, line 3: the annotators '0', '1' differ"),
    ],
)
def test_edits_that_cannot_be_used(write, content, message):
    gold = m2(("a b", edit(0, 1, "x")), ("c d", NOOP))
    with pytest.raises(InputError, match=message):
        read(write("g", gold), input=[write("a", content), write("b", gold)])


def f_score(tp, fp, fn):
    """`computeFScore` of errant_compare."""
    p, r = (tp / (tp + fp) if fp else 1.0), (tp / (tp + fn) if fn else 1.0)
    return round(1.25 * p * r / (0.25 * p + r) if p + r else 0.0, 4)


def verbose(hypotheses, references, *, original=True):
    """What is printed for edits [sentence][annotator], and the counts of each sentence, as by `evaluate_edits`."""
    out, best = [], []
    for i, (hyps, refs) in enumerate(zip(hypotheses, references, strict=True)):
        out += ["-" * 40, f"Original sentence {i}: a b {i}"] * original
        done, found = [sum(own) for own in zip(*best, strict=True)] or [0, 0, 0], []
        for (h, hyp), (r, ref) in product(enumerate(hyps), enumerate(refs)):
            counts = len(hyp & ref), len(hyp - ref), len(ref - hyp)
            total = [old + new for old, new in zip(done, counts, strict=True)]
            found.append(((f_score(*total), counts[0], -counts[1], -counts[2]), counts, h, r))
            out += ["-" * 40, f"SENTENCE {i} - HYP {h} - REF {r}", f"HYPOTHESIS EDITS : {sorted(hyp)}"]
            out += [f"Local TP/FP/FN   : {' '.join(map(str, counts))}", "Local P/R/F0.5  : 0.0 0.0 0.0"]
            out += [f"Global TP/FP/FN  : {' '.join(map(str, total))}", "Global P/R/F0.5  : 0.0 0.0 0.0"]
        _, counts, h, r = max(found, key=lambda own: own[0])
        best.append(counts)
        out += [
            "-" * 40,
            f"^^ HYP {h}, REF {r} chosen for sentence {i}",
            "Local results:",
            "   Category   TP   FP   FN",
        ]
        out += ["     R:NOUN    1    2    3"]
    tp, fp, fn = map(sum, zip(*best, strict=True))
    out += ["", f"{' Span-Based Correction ':=^46}", "TP\tFP\tFN\tPrec\tRec\tF0.5"]
    out += [f"{tp}\t{fp}\t{fn}\t0.5\t0.5\t{f_score(tp, fp, fn)}", "=" * 46, ""]
    return "\n".join(out) + "\n", best


def edits(seed, annotators, number=30):
    chance = random.Random(seed)
    return [[set(chance.sample("uvwxyz", chance.randint(0, 4))) for _ in range(annotators)] for _ in range(number)]


@pytest.mark.parametrize("annotators", [1, 2, 3])
def test_counts_are_those_of_the_annotators_that_were_chosen(write, annotators):
    references = [*edits(0, annotators, 29), *edits(1, 1, 1)]
    printed, counts = zip(*(verbose(edits(name, 1), references) for name in "ab"), strict=True)
    found = read(*(write(name, text) for name, text in zip("ab", printed, strict=True)))
    assert found.stats.tolist() == [[[tp, tp + fp, tp + fn] for tp, fp, fn in own] for own in counts]
    assert [round(score, 4) for score in found.metric.score(found.stats.sum(axis=1)).tolist()] == [
        f_score(*map(sum, zip(*own, strict=True))) for own in counts
    ]
    assert found.metric.name == "f0.5"
    assert any("errant_compare chose" in note for note in found.notes) == (annotators > 1)


GOOD, _ = verbose(edits("a", 1, 3), edits(0, 2, 3))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            GOOD[GOOD.index("\n=") :],
            "b: has no counts of single sentences; expected what errant_compare prints with -v",
        ),
        (GOOD[: GOOD.index("\n=")], "b: does not end with the summary of errant_compare; is it cut off?"),
        (GOOD[GOOD.index("Local P") :], "b, line 1?[0-9]: the counts of this choice are not above"),
        (re.sub(r"\n(\d+)\t", r"\n9\t", GOOD), "b: its sentences have . TP, . FP and . FN, but its summary has 9 TP"),
        (GOOD.replace("sentence 1: a", "sentence 1: c"), "b: instance '1' of 'b' has another sentence than of 'a'"),
    ],
)
def test_output_that_cannot_be_used(write, content, message):
    with pytest.raises(InputError, match=message):
        read(write("a", GOOD), write("b", content))
