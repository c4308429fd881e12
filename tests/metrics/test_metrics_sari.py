"""SARI of texts against the published examples of three programs, and against counting by hand."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from sigjax import Evaluation, InputError, read
from sigjax.cli import _run
from sigjax.metrics import METRICS

pytest.importorskip("sacrebleu")

KINDS = ("sari", "sari(as=evaluate)", "sari(as=authors)")
SOURCE = "About 95 species are currently accepted ."
GOLD = (
    "About 95 species are currently known .",
    "About 95 species are now accepted .",
    "95 species are now accepted .",
)
CATS = (
    "The cat perched on the mat.",
    "Cat on mat.",
    "The cat sat on the mat.",
    "The cat is on the mat.",
    "The cat sat.",
)
PUBLISHED = {  # the file of the authors, the metric card of evaluate and its issue 376, the readme of EASSE
    "sari(as=authors)": {"you now get in .": 26.82782411698074, "species are now agreed .": 58.89995423074248}
    | {"species are currently agreed .": 50.71608864657479},
    "sari(as=evaluate)": {"you now get in.": 26.953601953601954, "species are now agreed.": 61.709656084656075},
}


def scores(outputs, references, source, metric, **options):
    evaluation = Evaluation.from_texts(outputs, references, metric=metric, source=source, cache=False, **options)
    return evaluation.metric.score(evaluation.stats.sum(axis=1)).tolist()


@pytest.mark.parametrize(("metric", "output"), [(kind, output) for kind, own in PUBLISHED.items() for output in own])
def test_examples_of_sentences(metric, output):
    expected = PUBLISHED[metric][output]
    texts = {"A": [f"About 95 {output}"], "B": [SOURCE]}
    assert scores(texts, [[gold] for gold in GOLD], [SOURCE], metric)[0] == pytest.approx(expected, rel=1e-12)


def test_the_example_of_easse():
    source, output, *gold = zip((SOURCE, "About 95 you now get in.", *GOLD), CATS, strict=True)
    plain = [[text.replace(" .", ".") for text in texts] for texts in (source, output, *gold)]
    assert scores({"A": plain[1], "B": plain[0]}, plain[2:], plain[0], "sari")[0] == pytest.approx(33.17472563619544)


def by_hand(source, output, references):
    """For each order: match, hyp and ref of additions, of what is kept, of deletions; and the two sentence scores."""
    numbers, evaluate, authors = [], 0.0, 0.0
    for n in (1, 2, 3, 4):
        old, new, *gold = (
            [words[i : i + n] for i in range(len(words) - n + 1)]
            for words in (text.split() for text in (source, output, *references))
        )
        every = [gram for own in gold for gram in own]
        adds, wants = ({str(g) for g in one if g not in old} for one in (new, every))
        table = [  # of each n-gram of the source: how often there, in the output, in the references
            (old.count(gram) * len(gold), new.count(gram) * len(gold), every.count(gram))
            for k, gram in enumerate(old)
            if gram not in old[:k]
        ]
        kept, cut = [(min(s, o), r, s) for s, o, r in table if o], [(s - o, r, s) for s, o, r in table if s > o]
        keep, drop = sum(min(s, r) for s, _, r in table), sum(max(s - r, 0) for s, _, r in table)
        good = sum(min(count, r) for count, r, _ in kept)
        numbers += [len(adds & wants), len(adds), len(wants), good, sum(row[0] for row in kept), keep]
        numbers += [sum(min(c, max(s - r, 0)) for c, r, s in cut), sum(row[0] for row in cut), drop]
        shares = [sum(min(c, r) / c for c, r, _ in kept), len(kept)]
        deleted = [sum(max(c - r, 0) / c for c, r, _ in cut), len(cut)]
        recall = [sum(min(c, r) / min(s, r) for c, r, s in kept if r), sum(r > 0 for _, _, r in table)]
        sums = [[len(adds & wants), len(adds)], [len(adds & wants), len(wants)], shares]
        for kind, empty, found in (("evaluate", 1.0, [good, keep]), ("authors", 0.0, recall)):
            one, two, three, four, five = (part / whole if whole else empty for part, whole in (*sums, found, deleted))
            total = harmonic(one, two) + harmonic(three, four) + five
            evaluate, authors = (evaluate + total, authors) if kind == "evaluate" else (evaluate, authors + total)
    return numbers, evaluate / 0.12, authors / 0.12


def harmonic(one, other):
    return 2 / (1 / one + 1 / other) if one and other else 0.0


@pytest.mark.parametrize("num_references", [1, 3])
def test_counts_are_those_by_hand(num_references):
    rng = np.random.default_rng(num_references)

    def texts():
        return [" ".join(rng.choice(list("aabcdefg"), rng.integers(1, 11))) for _ in range(80)]

    source, gold = texts(), [texts() for _ in range(num_references)]
    outputs = {"A": texts(), "B": [*source[:40], *gold[0][40:]]}
    found = {name: Evaluation.from_texts(outputs, gold, metric=name, source=source, cache=False) for name in KINDS}
    for k, own in enumerate(outputs.values()):
        rows = [by_hand(*each[:2], each[2:]) for each in zip(source, own, *gold, strict=True)]
        counts, *means = (np.array(column) for column in zip(*rows, strict=True))
        assert found["sari"].stats[k].tolist() == counts.tolist()
        sums = counts.sum(axis=0).reshape(12, 3)
        f1 = [harmonic(match / hyp, match / ref) if match else 0.0 for match, hyp, ref in sums]
        score = found["sari"].metric.score(found["sari"].stats[k].sum(axis=0))
        assert score == pytest.approx(100 * np.mean(f1), rel=1e-12)
        for name, expected in zip(KINDS[1:], means, strict=True):
            np.testing.assert_allclose(found[name].stats[k, :, 0], expected, rtol=1e-12)


def run(capsys, *arguments):
    code = _run(list(arguments), debug=False)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"ref0": GOLD[:2], "ref1": GOLD[1:], "a": ["About 95 species, now!", "Ninety-five"], "b": [SOURCE, SOURCE]}
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "src.txt.gz").write_bytes(gzip.compress(f"{SOURCE}\n{SOURCE}\n".encode()))
    return "ref0.txt", "ref1.txt"


def test_files_have_their_source_beside_them(files, capsys):
    found = read(*files, input=["a.txt", "b.txt"], metric="sari", reader="texts(source=src.txt.gz)")
    assert found.stats.dtype == np.int64
    assert found.notes[0] == "sari: nrefs:2|case:lc|tok:13a|as:EASSE|del:f1|mean:no"
    command = ("compare", *files, "-i", "a.txt", "b.txt", "-m", "sari(tokenize=none)", "bleu(tokenize=none)")
    code, out, _ = run(capsys, *command, "--reader", "texts(source=src.txt.gz)", "--verbose")
    assert code == 0
    assert "nrefs:2|case:lc|tok:none|as:EASSE" in out
    assert "BLEU|nrefs:2|case:mixed|eff:no|tok:none" in out
    found.save("e.npz")
    assert read("e.npz").metric is METRICS["sari"]


def test_refusals(files, capsys, monkeypatch):
    code, _, err = run(capsys, "compare", *files, "-i", "a.txt", "b.txt", "-m", "sari")
    assert code == 2
    assert "sari compares outputs with their source, too; give it: --reader 'texts(source=FILE)'" in err
    Path("short.txt").write_text("one\n")
    with pytest.raises(InputError, match=r"^short.txt: has 1 lines, but ref0.txt has 2"):
        read(*files, input=["a.txt", "b.txt"], metric="sari", reader="texts(source=short.txt)")
    with pytest.raises(InputError, match=r"give it: reader=\"texts\(source=FILE\)\""):
        Evaluation.from_texts({"A": ["x"], "B": ["y"]}, ["x"], metric="sari")
    with pytest.raises(InputError, match=r"source: has 2 segment\(s\), the references have 1"):
        Evaluation.from_texts({"A": ["x"], "B": ["y"]}, ["x"], metric="sari", source=["x", "y"])
    with pytest.raises(InputError, match=r"source: expected a list of texts, one per segment, got str"):
        Evaluation.from_texts({"A": ["x"], "B": ["y"]}, ["x"], metric="sari", source="x")
    Path("t.csv").write_text("id,A,B\nx,1,0\n")
    with pytest.raises(InputError, match=r"the format csv takes no parameters, got 'source'"):
        read("t.csv", reader="csv(source=short.txt)")
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(InputError, match=r"sari of texts needs sacrebleu; run: .*install 'sacrebleu>=2.5,<3'"):
        Evaluation.from_texts({"A": ["x"], "B": ["y"]}, ["x"], metric="sari", source=["x"])


def test_the_source_counts_for_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIGJAX_CACHE_DIR", str(tmp_path / "cache"))
    outputs, stats = {"A": ["a b c"], "B": ["a"]}, []
    for source in (["a b"], ["a b c"], ["a b"]):
        stats.append(Evaluation.from_texts(outputs, ["b c"], metric="sari", source=source).stats.tolist())
    assert stats[0] == stats[2] != stats[1]
    assert len(list((tmp_path / "cache").iterdir())) == 4
