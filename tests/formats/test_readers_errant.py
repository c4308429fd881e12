"""What errant_compare prints with -v: the counts of the annotators that it chose, by its own rules; refusals."""

import random
import re
from itertools import product

import pytest

from sigjax import InputError, read

pytestmark = pytest.mark.usefixtures("here")


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
    printed, counts = zip(*(verbose(edits(name, 1), edits(0, annotators)) for name in "ab"), strict=True)
    found = read(*(write(name, text) for name, text in zip("ab", printed, strict=True)))
    assert found.stats.tolist() == [[[tp, tp + fp, tp + fn] for tp, fp, fn in own] for own in counts]
    assert [round(score, 4) for score in found.metric.score(found.stats.sum(axis=1)).tolist()] == [
        f_score(*map(sum, zip(*own, strict=True))) for own in counts
    ]
    assert found.metric.name == "f0.5"
    assert any("errant_compare chose" in note for note in found.notes) == (annotators > 1)


def test_earlier_versions_print_no_sentences(write):
    texts = [verbose(edits(name, 1), edits(0, 2), original=False)[0] for name in "ab"]
    assert read(*(write(name, text) for name, text in zip("ab", texts, strict=True))).num_instances == 30


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
