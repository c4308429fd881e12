"""HIPE tables: published counts of the campaign, and what differs between gold and systems."""

import csv
import json

import pytest
from annotated import HIPE, HIPE_GOLD

from sigjax import read
from sigjax.cli import _run

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("match", ["strict", "fuzzy"])
def test_published_counts(capsys, data, match):
    """The campaign's own table: true positives, false positives and false negatives."""
    folder = data / "hipe_fr_coarse"
    regime = f"NE-COARSE-LIT-micro-{match}-TIME-ALL-LED-ALL"
    with (folder / "published_hipe2022.tsv").open(newline="") as lines:
        published = {
            row["System"]: [int(row[name]) for name in ("TP", "FP", "FN")]
            for row in csv.DictReader(lines, delimiter="\t")
            if (row["Evaluation"], row["Label"]) == (regime, "ALL")
        }
    names = "neurbsl_bundle3_hipe2020_fr_1", "team4_bundle4_hipe2020_fr_1"
    gold, files = folder / "raw" / "gold.tsv.gz", [folder / "raw" / f"{name}.tsv.gz" for name in names]
    arguments = ["compare", gold, "-i", *files, "-m", "fscore", "precision", "recall", "--match", match]
    quick = ["--interval", "none", "--test", "permutation", "--resamples", "1000", "--format", "json"]
    assert _run([*map(str, arguments), "--cluster", "document", *quick], debug=False) == 0
    scores = {(each["name"], each["metric"]): each["score"] for each in json.loads(capsys.readouterr().out)["systems"]}
    evaluation = read(gold, input=files, cluster="document", match=match)
    assert evaluation.stats.shape == (2, 1462, 3)
    assert len(set(evaluation.clusters)) == 43
    for name, stats in zip(names, evaluation.stats, strict=True):
        tp, fp, fn = published[name]
        assert stats.sum(axis=0).tolist() == [tp, tp + fp, tp + fn]
        assert scores[name, "precision"] == tp / (tp + fp)
        assert scores[name, "recall"] == tp / (tp + fn)
        assert scores[name, "fscore"] == 2 * tp / (2 * tp + fp + fn)
    expected = {"strict": [[1256, 464, 344], [1051, 451, 549]], "fuzzy": [[1438, 282, 162], [1237, 265, 363]]}
    assert [published[name] for name in names] == expected[match]


def test_columns_comments_and_case_may_differ(write):
    evaluation = read(
        write("gold.tsv", HIPE_GOLD), input=[write("a.tsv", HIPE), write("b.tsv", HIPE_GOLD)], cluster="document"
    )
    assert evaluation.clusters == ("one", "one", "two")
    assert evaluation.stats.tolist() == [[[0, 1, 1], [0, 0, 0], [1, 1, 1]], [[1, 1, 1], [0, 0, 0], [1, 1, 1]]]
    accuracy = read("gold.tsv", input=["a.tsv", "b.tsv"], metric="accuracy")
    assert accuracy.stats.tolist() == [[[0, 2], [2, 2], [2, 2]], [[2, 2]] * 3]


def test_another_column(write):
    other = HIPE_GOLD.replace("loc.adm", "loc.nat")
    evaluation = read(
        write("gold.tsv", HIPE_GOLD), input=[write("a", other), write("b", HIPE_GOLD)], filter="NE-FINE-LIT"
    )
    assert evaluation.stats.sum(axis=1).tolist() == [[1, 2, 2], [2, 2, 2]]


def test_entities_go_over_sentences_but_not_over_documents(write):
    table = "TOKEN\tNE-COARSE-LIT\tMISC\n# x:document_id = 1\na\tB-x\tEndOfSentence\nb\tI-x\t_\n"
    table += "# x:document_id = 2\nc\tI-x\t_\n"
    cut = table.replace("b\tI-x", "b\tB-x")
    evaluation = read(write("gold", table), input=[write("a", table), write("b", cut)])
    assert evaluation.stats.tolist() == [[[1, 1, 1], [0, 0, 0], [1, 1, 1]], [[0, 1, 1], [0, 1, 0], [1, 1, 1]]]


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t.rstrip()])
def test_ways_to_write_a_file(write, change):
    evaluation = read(write("gold.tsv", change(HIPE_GOLD)), input=[write("a.tsv", change(HIPE)), "gold.tsv"])
    assert evaluation.stats.sum(axis=1).tolist() == [[1, 2, 2], [2, 2, 2]]
