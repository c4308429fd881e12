"""Reference files and a file a system: lines, detection, options, and the published scores through the CLI."""

import csv
import sys

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from sigjax import Evaluation, InputError, read
from sigjax.metrics import METRICS

GOLD = ["The cat sat on the mat.", "", "It rained all day .", "猫坐在垫子上。"]
A = ["The cat sat on a mat.", "Oh", "It rained.", "猫在垫子上。"]
B = ["the CAT sat on the mat.", "", "Rain all day .", "猫"]


@pytest.fixture
def files(write):
    return [write(name, "\n".join(texts) + "\n") for name, texts in (("ref.txt", GOLD), ("A.txt", A), ("B.txt", B))]


def read_files(files, **options):
    return read(files[0], input=files[1:], **({"metric": "bleu"} | options))


def scores(evaluation):
    return dict(zip(evaluation.systems, evaluation.metric.score(evaluation.stats.sum(axis=1) * 1.0), strict=True))


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter", "wer", "cer", METRICS["chrf"]])
def test_files_are_the_texts(files, metric):
    name = metric if isinstance(metric, str) else metric.name
    found = read_files(files, metric=metric)
    expected = Evaluation.from_texts({"A": A, "B": B}, GOLD, metric=name)
    assert (found.systems, found.ids, found.notes[:-1]) == (("A", "B"), None, expected.notes)
    assert found.stats.tolist() == expected.stats.tolist()
    assert found.metric is METRICS[name]


def test_a_byte_order_mark_is_scored_as_sacrebleu_does(write, files):
    marked = write("A.txt", files[1].read_text().encode("utf-8-sig"))
    found = read_files([files[0], marked, files[2]], metric="chrf")
    assert scores(found)["A"] == pytest.approx(CHRF().corpus_score(["\ufeff" + A[0], *A[1:]], [GOLD]).score, abs=1e-9)


def test_several_references_and_labels(write, files):
    other = write("other.txt", "\n".join(reversed(GOLD)) + "\n")
    docs = write("de.docs", "news d1\nnews d1\nsocial d2\nsocial d2\n")
    strata = write("domains.txt", "n\nn\ns\ns\n")
    found = read(files[0], other, input=files[1:], metric="chrf", cluster=str(docs), strata=str(strata))
    expected = CHRF().corpus_score(A, [GOLD, GOLD[::-1]]).score
    assert scores(found)["A"] == pytest.approx(expected, abs=1e-9)
    assert found.clusters == ("news d1", "news d1", "social d2", "social d2")
    assert found.strata == ("n", "n", "s", "s")
    assert "nrefs:2" in found.notes[0]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", ["13a", "zh", "intl", "char", "none"])
def test_tokenizers_are_those_of_sacrebleu(files, tokenize, lowercase):
    found = read_files(files, metric=f"bleu(tokenize={tokenize}, lowercase={str(lowercase).lower()})")
    oracle = BLEU(tokenize=tokenize, lowercase=lowercase)
    expected = {name: oracle.corpus_score(texts, [GOLD]).score for name, texts in (("A", A), ("B", B))}
    assert scores(found) == pytest.approx(expected, abs=1e-9)
    assert found.notes[:-1] == (f"{found.metric.name}: BLEU|{oracle.get_signature()}",)
    assert found.metric.name == f"bleu(tokenize={tokenize}{', lowercase=true' * lowercase})"


def test_tokenizers_that_need_something(files, monkeypatch):
    """Where MeCab is not installed, sacrebleu says over several lines what to do."""
    monkeypatch.setitem(sys.modules, "MeCab", None)
    with pytest.raises(InputError, match=r"'ja-mecab' cannot be used: .*them like so\. pip install sacrebleu\[ja\]$"):
        read_files(files, metric="bleu(tokenize=ja-mecab)")


# The command line


@pytest.mark.slow
def test_wmt23_scores_are_those_published(compared, data):
    folder = data / "wmt23_ende"
    with open(folder / "published_scores.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    published = {
        (row["system"], row["metric"].removesuffix("-refA")): float(row["score"])
        for row in rows
        if row["metric"] in ("bleu-refA", "chrf-refA")
    }
    systems = sorted((folder / "systems").iterdir())
    report = compared(folder / "refA.txt.gz", "-i", *systems, "-m", "bleu", "chrf", "--baseline", "AIRC")
    found = {(system["name"], system["metric"]): system["score"] for system in report["systems"]}
    assert len(found) == 24
    assert found == pytest.approx(published, abs=1e-9)


@pytest.mark.parametrize("metric", [None, "bleu", "accuracy", "fscore"])
@pytest.mark.parametrize(
    ("ending", "rows"),
    [
        ("csv", ["id,score", "1,1", "2,0"]),
        ("csv", ["id,text", '1,"Well, yes."', "2,No."]),
        ("txt", ["yes,1", "yes,2"]),
        ("tsv", ["1\tyes", "2\tno thanks"]),
        ("jsonl", ['{"id": 1, "text": "Yes."}', '{"id": 2, "text": "No."}']),
        ("json", ['[{"id": 1, "text": "Yes."},', '{"id": 2, "text": "No."}]']),
    ],
)
def test_tables_are_no_texts(write, ending, rows, metric):
    """Their ids, names and marks would be scored, and their rows joined by position."""
    files = [write(f"{name}.{ending}", "\n".join([*rows, ""])) for name in ("gold", "a", "b")]
    with pytest.raises(InputError, match=r"gold\.\w+: looks like a table, which is read alone"):
        read_files(files, metric=metric)
    assert read_files(files, reader="texts").stats.shape[1] == len(rows)
    gold = write("gold.txt", "One.\nTwo.\n" if metric == "bleu" else "yes\nno\n")
    with pytest.raises(InputError, match=r"[/\\]a\.\w+: looks like a table, which is read alone"):
        read_files([gold, *files[1:]], metric="accuracy" if metric == "fscore" else metric)


def test_only_line_feeds_end_a_line(write):
    """Other separators stand within segments, as in the files of WMT; and the last segment of B is empty."""
    texts = {"ref": "a\u2028b c\nd\x85e\rf\ng\n", "A": "a b c\nd e f\ng\n", "B": "a b\nd f\n\n"}
    files = [write(f"{name}.txt", text) for name, text in texts.items()]
    assert read_files(files, metric="wer").stats.tolist() == [[[0, 3], [0, 3], [0, 1]], [[1, 3], [1, 3], [1, 1]]]
