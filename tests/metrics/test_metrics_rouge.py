"""ROUGE of texts against rouge-score, and against counting by hand."""

import gzip
import sys
from collections import Counter

import numpy as np
import pytest

from sigjax import Evaluation, InputError, compare

NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
STEMMED = tuple(f"{name}(stem=true)" for name in NAMES)
OUTPUTS = {
    "A": ["The cats sat on the mat.", "", "dogs barked: loudly,\n\nat nights", "猫坐"],
    "B": ["a cat sat on a mat", "what?", "at night\nthe dogs bark", "猫"],
}
GOLD = ["the cat sat on the mat", "what is it?", "dogs bark loudly\nat night", "猫坐在垫子上"]
OTHER = ["cats sit on mats", "", "at night dogs bark", "x"]


@pytest.fixture(scope="module")
def scorer():
    return pytest.importorskip("rouge_score.rouge_scorer").RougeScorer


def f1_by_hand(output, reference, n):
    """Of the n-grams of texts that hold words of a-z and blanks only."""
    one, other = (Counter(zip(*(text.split()[i:] for i in range(n)), strict=False)) for text in (output, reference))
    return 2 * (one & other).total() / max(one.total() + other.total(), 1)


@pytest.mark.parametrize("references", [[GOLD], [GOLD, OTHER]], ids=["one", "two"])
@pytest.mark.parametrize("metric", NAMES + STEMMED)
def test_scores_are_those_of_rouge_score(scorer, metric, references):
    evaluation = Evaluation.from_texts(OUTPUTS, references, metric=metric)
    name = metric.removesuffix("(stem=true)")
    oracle = scorer([name], use_stemmer=name != metric)
    for system, stats in zip(evaluation.systems, evaluation.stats, strict=True):
        targets = zip(*references, strict=True)
        expected = [
            max(oracle.score(target, text)[name].fmeasure for target in own)
            for text, own in zip(OUTPUTS[system], targets, strict=True)
        ]
        assert stats[:, 0].tolist() == expected
    report = compare(evaluation, resamples=100)
    assert report.systems[0].score == pytest.approx(evaluation.stats[:, :, 0].mean(axis=1).max(), rel=1e-14)
    assert evaluation.notes[0].startswith(
        f"{metric}: nrefs:{len(references)}|case:lc|tok:a-z0-9|stem:{'no' if name == metric else 'porter'}|"
    )
    assert "mean:f1|rouge-score:0." in evaluation.notes[0]


@pytest.mark.parametrize("stems", ["", "(stem=true)"])
def test_sentences_of_one_line_end_in_the_marks_of_summarizers(scorer, stems):
    gold = ["the cat sits<n>dogs bark at night<n>", "one sentence"]
    outputs = {"A": ["the dogs barked <q> at night a cat sat", "a sentence"], "B": ["dogs bark<n>the cat", "one"]}
    evaluation = Evaluation.from_texts(outputs, gold, metric=f"rougeLsum{stems}")
    oracle = scorer(["rougeLsum"], use_stemmer=bool(stems))
    for texts, stats in zip(outputs.values(), evaluation.stats, strict=True):
        broken = [[text.replace("<n>", "\n").replace("<q>", "\n") for text in each] for each in (gold, texts)]
        assert stats[:, 0].tolist() == [oracle.score(*pair)["rougeLsum"].fmeasure for pair in zip(*broken, strict=True)]
    assert len(evaluation.notes) == 1
    (_, note) = Evaluation.from_texts(outputs, gold, metric=f"rougeL{stems}").notes
    assert note == "<n> and <q> count as words n and q; rougeLsum takes them as ends of sentences"
    plain = {name: [text.replace("<q>", " ").replace("<n>", " ") for text in texts] for name, texts in outputs.items()}
    (_, note) = Evaluation.from_texts(plain, ["the cat", "one sentence"], metric=f"rougeLsum{stems}").notes
    same = f"rougeLsum{stems} is rougeL{stems}"
    assert note == f"{same} here: no text has <n>, <q> or a line break between sentences"


@pytest.mark.usefixtures("scorer")
@pytest.mark.parametrize(
    ("metric", "score"),
    [("rouge1(stem=true)", 47.37941), ("rouge2(stem=true)", 24.49886), ("rougeL(stem=true)", 39.30485)],
)
@pytest.mark.slow
def test_published_figures_of_summaries_are_repeated(data, metric, score):
    texts = []
    for name in ("ours", "reference"):
        with gzip.open(data / "xsum_simcls" / f"test.xsum.{name}.gz", "rt", encoding="utf-8") as file:
            texts.append(file.read().splitlines())
    evaluation = Evaluation.from_texts({"A": texts[0], "B": [""] * len(texts[0])}, texts[1], metric=metric, cache=False)
    assert 100 * evaluation.stats[0, :, 0].mean() == pytest.approx(score, abs=5e-6)


@pytest.mark.usefixtures("scorer")
@pytest.mark.parametrize(("metric", "n"), [("rouge1", 1), ("rouge2", 2)])
def test_scores_are_those_of_counting(metric, n):
    rng = np.random.default_rng(0)
    gold, first, second = ([" ".join(rng.choice(list("abcd"), rng.integers(0, 9))) for _ in range(60)] for _ in "123")
    evaluation = Evaluation.from_texts({"A": first, "B": second}, gold, metric=metric)
    for texts, stats in zip((first, second), evaluation.stats, strict=True):
        expected = [f1_by_hand(text, own, n) for text, own in zip(texts, gold, strict=True)]
        np.testing.assert_allclose(stats[:, 0], expected, rtol=1e-14)


def test_rouge_score_is_missing(monkeypatch):
    for module in ("rouge_score", "rouge_score.rouge_scorer"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"rouge1 of texts needs rouge-score; run: .*install rouge-score"):
        Evaluation.from_texts(OUTPUTS, GOLD, metric="rouge1")
