"""BLEU and chrF of texts against sacrebleu: scores, extraction in several processes, and the door."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu
from corpora import GOLD, OUTPUTS, stats_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from sigjax import Evaluation, InputError
from sigjax.metrics import METRICS
from sigjax.metrics import texts as counts
from sigjax.metrics.textmetric import Recipe

ORACLES = {"bleu": BLEU, "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2), "ter": TER}
NAMES = list(ORACLES)
COUNTED = ("bleu", "chrf", "chrf++")
SPACED = ("wer", "cer", "wer-sclite")

words = st.lists(st.sampled_from(["a", "b", "the", "cat", "sat.", "(on)", "猫坐", "été", "&amp;", "-\n"]), max_size=9)
segment = st.one_of(words.map(" ".join), st.text(max_size=12), st.just(""))


@st.composite
def corpora(draw):
    """(texts [segment], references [reference][segment]); many n-grams match, some orders have none."""
    size, num_references = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    column = st.lists(segment, min_size=size, max_size=size)
    return draw(column), [draw(column) for _ in range(num_references)]


def here(name, references, systems, **options):
    return counts.extract_stats(
        Recipe(name), references, systems, **({"workers": 1, "advance": lambda done: None} | options)
    )


# Scores


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150, deadline=None)
@given(corpus=corpora())
@pytest.mark.slow
def test_scores_are_those_of_sacrebleu(name, corpus):
    outputs, references = corpus
    (stats,) = here(name, references, [outputs])
    assert stats.dtype == np.int64
    expected = ORACLES[name]().corpus_score(outputs, references).score
    assert METRICS[name].score(stats.sum(axis=0) * 1.0) == pytest.approx(expected, abs=1e-9)


@st.composite
def large_sums(draw, name):
    """Sums up to 2**53 with zeros in any order."""
    num_stats = len(METRICS[name].stat_names)
    count = st.one_of(st.just(0), st.integers(1, 20), st.integers(1, 2**53))
    sums = draw(st.lists(count, min_size=num_stats, max_size=num_stats))
    parts = (
        [(6, (0,)), *((n + 1, (n + 5,)) for n in range(1, 5))]
        if name == "bleu"
        else [(first + 2, (first, first + 1)) for first in range(0, num_stats, 3)]
    )
    for part, wholes in parts:
        sums[part] = min(sums[part], *(sums[whole] for whole in wholes))
    return sums


@pytest.mark.parametrize("name", COUNTED)
@settings(max_examples=300, deadline=None)
@given(draw=st.data())
@pytest.mark.slow
def test_any_sums_have_the_score_of_sacrebleu(name, draw):
    sums = draw.draw(large_sums(name))
    expected = ORACLES[name]()._compute_score_from_stats(list(sums)).score
    assert METRICS[name].score(np.array(sums, float)) == pytest.approx(expected, abs=1e-9)
    assert METRICS[name].score(np.array(sums)) == pytest.approx(expected, abs=1e-9)  # whole numbers do not overflow


def test_smoothing_halves_once_more_for_each_order_without_a_match():
    """Chen and Cherry (2014), method 3, by hand: precisions 3/4, 1/(2 * 3), 1/(4 * 2), 1/(8 * 1)."""
    sums = np.array([4, 4, 3, 0, 0, 0, 4, 3, 2, 1], float)
    assert METRICS["bleu"].score(sums) == pytest.approx(100 * (3 / 4 / 6 / 8 / 8) ** 0.25, rel=1e-14)


# Extraction


@pytest.mark.parametrize("name", [*NAMES, *SPACED])
@pytest.mark.slow
def test_workers_give_the_same_statistics(name, monkeypatch):
    """Three processes, and blocks that do not come out even."""
    rng = np.random.default_rng(1)
    references, systems = (
        [[" ".join(rng.choice(list("abcde"), rng.integers(0, 9))) for _ in range(500)] for _ in range(2)]
        for _ in range(2)
    )
    steps = []
    found = here(name, references, systems, workers=3, advance=steps.append)
    usual = counts.TEXT_METRICS[name]
    monkeypatch.setitem(counts.TEXT_METRICS, name, replace(usual, block=7))
    np.testing.assert_array_equal(found, here(name, references, systems))
    assert steps == sorted(steps)
    assert (len(steps), steps[-1]) == (3 * -(-167 // usual.block), 1000)  # 167 segments are the largest share of three


@pytest.mark.slow
def test_workers_do_not_run_the_script_of_the_user(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sigjax\n"
        "from sigjax.metrics import texts as counts\n"
        "counts.num_workers = lambda *data: 2\n"
        "print('once')\n"
        "evaluation = sigjax.Evaluation.from_texts({'A': ['x', 'y'], 'B': ['y', 'y']}, ['x', 'y'], cache=False)\n"
        "print(evaluation.stats[:, :, 2].tolist())\n"
    )
    (tmp_path / "random.py").write_text("raise RuntimeError('not the module that sacrebleu wants')\n")
    done = subprocess.run([sys.executable, "-P", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "once\n[[1, 1], [0, 1]]\n"


# The door


def test_the_signature_of_sacrebleu_is_noted():
    version = sacrebleu.__version__
    expected = {
        "bleu": f"bleu: BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}",
        "chrf": f"chrf: chrF2|nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{version}",
        "chrf++": f"chrf++: chrF2++|nrefs:2|case:mixed|eff:yes|nc:6|nw:2|space:no|version:{version}",
    }
    for metric, note in expected.items():
        assert Evaluation.from_texts(OUTPUTS, [GOLD, GOLD], metric=metric).notes == (note,)


def test_tokenized_texts_are_noted():
    outputs = {"A": ["He left ."] * 120, "B": ["He left."] * 120}
    (_, note) = Evaluation.from_texts(outputs, ["He left."] * 120).notes
    assert note.startswith("system 'A' looks tokenized: 120 segments end in ' .'")
    assert len(Evaluation.from_texts(outputs, ["He left."] * 120, metric="chrf").notes) == 1


BAD = {
    "lengths": (OUTPUTS | {"B": ["x"]}, GOLD, {}, r"'B' has 1 segment\(s\), the references have 4"),
    "turned": (OUTPUTS, [[text] for text in GOLD], {}, r"the references have 1; .*\[reference\]\[segment\]"),
    "references": (OUTPUTS, [GOLD, GOLD[:3]], {}, r"reference 2 has 3 segment\(s\), the references have 4"),
    "no references": (OUTPUTS, [], {}, "references: there are none"),
    "no segments": ({"A": [], "B": []}, [[]], {}, "no segments"),
    "one text": (OUTPUTS | {"B": "abcd"}, GOLD, {}, "system 'B': expected a list of texts.* got str"),
    "no list": (OUTPUTS | {"B": 7}, GOLD, {}, "system 'B': expected a list of texts.* got int"),
    "one reference text": (OUTPUTS, "abcd", {}, "references: expected a list .* got str"),
    "none": (OUTPUTS | {"B": ["x", None, "y", "z"]}, GOLD, {}, "'B': expected a text at segment 2, got None"),
    "bytes": (OUTPUTS | {"B": [b"x", "", "y", "z"]}, GOLD, {}, "'B': expected a text at segment 1, got b'x'"),
    "no reference": (OUTPUTS, [*GOLD[:3], None], {}, "reference 1: expected a text at segment 4, got None"),
    "mixed": (OUTPUTS, [GOLD, "abcd"], {}, "reference 2: expected a list of texts"),
    "list": (list(OUTPUTS.values()), GOLD, {}, "expected texts by system.* got list"),
    "one system": ({"A": GOLD}, GOLD, {}, "at least two systems, got 1"),
    "metric": (OUTPUTS, GOLD, {"metric": "accuracy"}, "'accuracy' does not take texts; bleu, chrf"),
    "ids": (OUTPUTS, GOLD, {"ids": ["x"]}, "ids: expected one label for each of the 4"),
}


@pytest.mark.parametrize(("systems", "references", "options", "message"), BAD.values(), ids=BAD)
def test_bad_texts(systems, references, options, message):
    with pytest.raises(InputError, match=message) as caught:
        Evaluation.from_texts(systems, references, **options)
    assert "\n" not in str(caught.value)


def test_sacrebleu_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(InputError, match=r"needs sacrebleu; run: .*install 'sacrebleu>=2.5,<3'"):
        stats_of()


@pytest.mark.parametrize("version", ["2.4.9", "3.0.0", "1.5.1"])
def test_other_versions_of_sacrebleu_are_refused(version, monkeypatch):
    monkeypatch.setattr(sacrebleu, "__version__", version)
    with pytest.raises(InputError, match=rf"sacrebleu {version} is not supported .* install 'sacrebleu>=2.5,<3'"):
        stats_of()


@pytest.mark.parametrize("name", ["chrf", "chrf++"])
def test_the_order_of_references_counts_and_is_noted(name):
    texts, one, other = ["xyz", "the cat sat"], ["abcd", "the cat sat"], ["quite another one", "the cat sat"]
    scores = [ORACLES[name]().corpus_score(texts, gold).score for gold in ([one, other], [other, one])]
    assert scores[0] > scores[1] + 40.0
    for score, gold in zip(scores, ([one, other], [other, one]), strict=True):
        evaluation = Evaluation.from_texts({"A": texts, "B": texts}, gold, metric=name)
        assert evaluation.metric.score(evaluation.stats[0].sum(axis=0)) == pytest.approx(score, rel=1e-12)
        assert evaluation.notes[1].startswith(f"{name} depends on the order of the references, as in sacrebleu")
    assert len(Evaluation.from_texts({"A": texts, "B": texts}, one, metric=name).notes) == 1


BAD_COUNTS = {
    "a part of nothing": (5, 7, "correct4 must not be above total4, got 7 and 6 at instance 2"),
    "unigrams of no word": (0, 8, "total1 must not be above sys_len, got 9 and 8 at instance 2"),
    "below zero": (1, -1, "ref_len must be a whole number from 0, got -1 at instance 2"),
    "a fraction": (0, 1.5, "sys_len must be a whole number from 0, got 1.5 at instance 2"),
}


@pytest.mark.parametrize(("column", "value", "message"), BAD_COUNTS.values(), ids=BAD_COUNTS)
def test_impossible_counts_are_refused(column, value, message):
    table = np.array([[9, 9, 9, 8, 7, 6, 9, 8, 7, 6]] * 3, float)
    table[1, column] = value
    with pytest.raises(InputError, match=f"system 'a': {message}"):
        Evaluation.from_arrays({"a": table, "b": table}, metric="bleu")


@pytest.mark.parametrize(("name", "orders"), [("chrf", 6), ("chrf++", 8)])
@pytest.mark.parametrize(("column", "whole"), [(0, "hyp"), (1, "ref")])
def test_no_order_matches_more_ngrams_than_there_are(name, orders, column, whole):
    """Each order has the columns hyp, ref and match."""
    table = np.array([[9, 9, 5] * orders] * 3, float)
    assert Evaluation.from_arrays({"a": table, "b": table}, metric=name).stats.shape == (2, 3, 3 * orders)
    for order, kind in ((0, "char1"), (orders - 1, "char6" if name == "chrf" else "word2")):
        wrong = table.copy()
        wrong[1, 3 * order + column] = 4
        message = f"match_{kind} must not be above {whole}_{kind}, got 5 and 4 at instance 2"
        with pytest.raises(InputError, match=f"system 'a': {message}"):
            Evaluation.from_arrays({"a": wrong, "b": table}, metric=name)


ONE_BLOCK = (
    "from sigjax.metrics import texts as counts; all = counts._blocks; counts._blocks = lambda *r: [next(all(*r))]"
)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sigjax.metrics.texts._SERVE", "import sys; sys.exit(1)"),
        ("sigjax.metrics.texts._SERVE", "print('nothing')"),
        ("sigjax.metrics.texts._SERVE", f"{ONE_BLOCK}; counts.serve()"),
        ("sys.executable", "/no/such/python"),
    ],
    ids=["all", "gibberish", "second block", "no start"],
)
def test_what_workers_fail_to_do_is_done_here(field, value, monkeypatch):
    outputs, references = [texts * 100 for texts in OUTPUTS.values()], [GOLD * 100]
    expected = here("bleu", references, outputs)
    monkeypatch.setattr(field, value)
    steps = []
    np.testing.assert_array_equal(here("bleu", references, outputs, workers=2, advance=steps.append), expected)
    assert steps[-1] == 800
