"""Errors marked by raters: scores of segments by the rules of score_mqm.py, joined by document; refusals."""

import collections
import csv
import io
import random

import pytest

from sigjax import InputError, compare, read

pytestmark = pytest.mark.usefixtures("here")
HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
CATEGORIES = (
    "Accuracy/Mistranslation",
    "Fluency/Punctuation",
    "Non-translation!",
    "Other",
    "Fluency/Punctuation/Quote",
)
WEIGHTS = {"Major": 5, "Minor": 1, "Neutral": 0, "Major/Non-translation!": 25, "Minor/Fluency/Punctuation": 0.1}


def ratings(seed=0, systems="ABC"):
    """Rows of two raters per segment, in any order; where there is no error, a row says so."""
    chance, rows = random.Random(seed), []
    for system in systems:
        for i in range(24):
            for rater in chance.sample(["r1", "r2", "r3"], 2):
                number = chance.randint(0, 3)
                for _ in range(number):
                    kind = chance.choice(CATEGORIES), chance.choice(("Major", "Minor", "Minor", "Neutral"))
                    rows.append((system, f"doc{i // 4}", i % 4, i + 1, rater, 'a "quote', "b", *kind))
                if number == 0:
                    rows.append((system, f"doc{i // 4}", i % 4, i + 1, rater, "a", "b", "No-error", "no-error"))
    chance.shuffle(rows)
    return HEADER + "".join("\t".join(map(str, row)) + "\n" for row in rows)


def recounted(text):
    """System -> (document, number) -> score: each error by its most specific weight, raters averaged."""
    scores = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for row in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
        items = [row["severity"], *row["category"].split("/")]
        weight = 0
        while items:
            if "/".join(items) in WEIGHTS:
                weight = WEIGHTS["/".join(items)]
                break
            items = items[:-1]
        scores[row["system"]][row["doc"], row["doc_id"]][row["rater"]].append(weight)
    return {
        system: {key: sum(map(sum, raters.values())) / len(raters) for key, raters in segments.items()}
        for system, segments in scores.items()
    }


def test_scores_are_those_of_the_script(write):
    text = ratings()
    found, expected = read(write("mqm.tsv", text), cluster="document"), recounted(text)
    assert len(set(found.clusters)) == 6
    assert (found.metric.name, found.metric.higher_is_better, set(found.systems)) == ("mqm", False, set("ABC"))
    for system, own in zip(found.systems, found.stats[:, :, 0], strict=True):
        by_id = {f"{document}: {number}": score for (document, number), score in expected[system].items()}
        assert dict(zip(found.ids, own.tolist(), strict=True)) == pytest.approx(by_id)
    report = compare(found, device="numpy", resamples=100, interval="none")
    assert [each.score for each in report.systems] == pytest.approx(
        [sum(expected[each.name].values()) / 24 for each in report.systems]
    )


def test_other_spellings_and_columns(write):
    text = ratings(1)
    plain = read(write("a", text))
    small = (
        text.replace("Major", "major").replace("no-error", "No-Error").replace("Non-translation!", "non-translation")
    )
    assert read(write("b", small)).stats.tolist() == plain.stats.tolist()
    camel = text.replace("doc_id\tseg_id", "docSegId\tglobalSegId").replace("no-error", "HOTW-test")
    assert read(write("c", camel)).stats.tolist() == plain.stats.tolist()
    assert read(write("d", text.replace("doc\tdoc_id\t", "x\ty\t"))).num_instances == 24


def test_segments_that_a_system_lacks(write):
    lines = ratings(2, "AB").split("\n")
    text = "\n".join(line for line in lines if not line.startswith("A\tdoc0\t1\t"))
    with pytest.raises(InputError, match="'A' lacks 1 of 24"):
        read(write("t", text))
    assert read("t", missing="drop").num_instances == 23


ROW = "A\td\t0\t1\tr\ts\tt\tOther\tMajor\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER + ROW + ROW.replace("Major", "Critical"), "t, line 3: no weight for the severity 'Critical'"),
        (HEADER + ROW + "A\td\t0\n", "t, line 3: expected 9 fields as in the header, got 3"),
        (HEADER + ROW.replace("A\t", "\t"), "t, line 2: expected a system, a segment and a rater, got an empty field"),
        (HEADER.replace("doc_id\tseg_id", "x\ty") + ROW, "t, line 1: no column 'seg_id'; columns: 'system'"),
        (HEADER.replace("rater", "who") + ROW, "t, line 1: no column 'rater'"),
        (HEADER, "t: has a header but no rows"),
    ],
)
def test_ratings_that_cannot_be_used(write, content, message):
    with pytest.raises(InputError, match=message):
        read(write("t", content), reader="mqm")
