"""Ratings of translations: scores of other tools, MQM and Appraise, by recounts, joined by document; refusals."""

import collections
import csv
import io
import json
import random
import statistics

import pytest

from sigjax import InputError, compare, read

pytestmark = pytest.mark.usefixtures("here")


SCORES = "A\t0.5\nA\t-2\nA\t1.25\nB\t0.25\nB\t-1\nB\t1\n"


def comet(**systems):
    """As comet-score writes it."""
    return {
        f"out/{name}.txt": [
            {"src": f"s{i}", "mt": f"{name}{i}", "ref": f"r{i}", "COMET": score} for i, score in enumerate(scores)
        ]
        for name, scores in systems.items()
    }


# mt-metrics-eval


def test_segment_scores_by_position(write):
    found = read(write("en-de.human.seg.score", SCORES))
    assert (found.systems, found.ids, found.metric.name) == (("A", "B"), None, "mean")
    assert found.stats[:, :, 0].tolist() == [[0.5, -2, 1.25], [0.25, -1, 1]]
    assert read(write("blanks.seg.score", SCORES.replace("\t", "  "))).stats.tolist() == found.stats.tolist()
    assert read(write("named", SCORES), reader="mt-metrics-eval", metric="score").metric.name == "score"


def test_files_of_several_annotators_are_refused_by_what_they_are(write):
    paths = [str(write(f"en-de.mqm-{k}.seg.score", SCORES)) for k in (1, 2)]
    with pytest.raises(InputError, match=r"mqm-2.seg.score: a .seg.score file has all systems in it; .*runs="):
        read(*paths)


# COMET


def test_comet_scores_are_averaged(write, compared):
    path = write("scores.json", json.dumps(comet(A=[0.5, 0.75, 1], B=[0.25, 0.5, 0.75]), indent=4))
    found = read(path)
    assert (found.systems, found.ids) == (("A", "B"), None)
    assert [system.score for system in compare(found, resamples=50).systems] == [0.75, 0.5]
    report = compared(path, "-m", "COMET")
    assert {(s["name"], s["metric"], s["score"]) for s in report["systems"]} == {
        ("A", "COMET", 0.75),
        ("B", "COMET", 0.5),
    }


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


SPANS = '[{"start_i":8,"end_i":11,"severity":"minor","error_type":null}]'


def export(seed=0, systems="ABC", *, pair=("eng", "jpn"), spans=True):
    """Rows in any order: two annotators of some segments, checks, tutorials, fillers, and ratings given again."""
    chance, rows = random.Random(seed), []

    def rate(annotator, system, item, document, kind="TGT"):
        start = 1.7e9 + chance.randrange(10**6)
        error_spans = [chance.choice((SPANS, "[]"))] if spans else []
        fields = (annotator, system, item, kind, *pair, chance.randint(0, 100), document, False, *error_spans)
        rows.append((*fields, start, start + 1.5))

    for system in systems:
        rate("u1", f"{pair[0]}-tutorial1", 1000, f"{pair[0]}-tutorial1")
        for item in range(1, 25):
            document = f"doc{item // 5}"
            for annotator in chance.sample(["u1", "u2", "u3"], chance.randint(1, 2)):
                for _ in range(chance.choice((1, 1, 2))):
                    rate(annotator, system, item, document)
            if item % 3 == 0:
                rate("u1", system, item, f"{document}#bad", "BAD")
                rate("u1", system, item, f"{document}#incomplete")
                rate("u2", system, item, f"{document}#duplicate")
    chance.shuffle(rows)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def recounted_ratings(text):
    """System -> (document, item) -> the mean of each annotator's last rating, as `load_data` of WMT24 has it."""
    last = {}
    for row in sorted(csv.reader(io.StringIO(text)), key=lambda row: float(row[-1])):
        if row[3] == "TGT" and "tutorial" not in row[1] and "#" not in row[7]:
            last[row[1], row[7], row[2], row[0]] = float(row[6])
    scores = collections.defaultdict(lambda: collections.defaultdict(list))
    for (system, document, item, _), score in last.items():
        scores[system][document, item].append(score)
    return {name: {f"{d}: {i}": statistics.mean(own) for (d, i), own in all.items()} for name, all in scores.items()}


@pytest.mark.parametrize("spans", [True, False])
def test_ratings_that_count_are_averaged(write, spans):
    text = export(spans=spans)
    found, expected = read(write("wave.csv", text), cluster="document"), recounted_ratings(text)
    assert (found.metric.name, found.metric.higher_is_better, set(found.systems)) == ("score", True, set("ABC"))
    assert len(set(found.clusters)) == 5
    for system, own in zip(found.systems, found.stats[:, :, 0], strict=True):
        assert dict(zip(found.ids, own.tolist(), strict=True)) == pytest.approx(expected[system])
    notes = " ".join(found.notes)
    assert "left out 24 ratings of an attention check" in notes
    assert "left out 48 ratings of a filler" in notes
    assert "left out 3 ratings of a tutorial" in notes
    assert "were given again by the same annotator: the last one counts" in notes
    assert "have several annotators: took the mean" in notes
    assert "batches" not in notes
    report = compare(found, device="numpy", resamples=100, interval="none")
    assert [each.score for each in report.systems] == pytest.approx(
        [statistics.mean(expected[each.name].values()) for each in report.systems]
    )


def rating(annotator, system, item, score, document):
    return f"{annotator},wmt.{system},{item},TGT,eng,deu,{score},{document}#{system},False,[],1,2\n"


def test_items_numbered_in_batches_are_joined_by_their_place_in_the_document(write):
    batches = {"A": (1, 8), "B": (97, 90), "C": (12, 30)}
    rows = [
        rating(f"u{system}", system, first + i, 10 * i + k, document)
        for k, (system, starts) in enumerate(batches.items())
        for document, first in zip(("x", "y"), starts, strict=True)
        for i in range(5)
    ]
    found = read(write("t", "".join(rows)))
    assert found.ids == tuple(f"{document}: {i}" for document in "xy" for i in range(1, 6))
    assert found.stats[:, :, 0].tolist() == [[10 * i + k for _ in "xy" for i in range(5)] for k in range(3)]
    assert "joined by their place in the document" in found.notes[0]
    found = read(write("t", "".join(rows[:-1])))
    assert found.num_instances == 5
    assert "left out 1 documents that some annotator rated in part" in found.notes[0]


@pytest.mark.parametrize(("step", "are_batches"), [(0, False), (1, False), (2, True), (5, True)])
def test_items_are_numbered_in_batches_if_systems_share_less_than_two_thirds(write, step, are_batches):
    """Two systems with four consecutive items each, of two documents."""
    rows = [
        rating(f"u{system}", system, first + k * step + i, 10 * i, document)
        for k, system in enumerate("AB")
        for document, first in (("x", 1), ("y", 90))
        for i in range(4)
    ]
    found = read(write("t", "".join(rows)), missing="drop")
    assert any("joined by their place in the document" in note for note in found.notes) == are_batches
    assert found.num_instances == 2 * (4 if are_batches else 4 - step)


def test_numbers_of_items_may_have_any_number_of_digits(write):
    """Python makes no number of more than 4,300: such names are no numbers in a batch."""
    rows = [
        rating(f"u{system}", system, f"{k}{'0' * 5000}{i}", i, document)
        for k, system in enumerate("AB", start=1)
        for document in "xy"
        for i in range(3)
    ]
    with pytest.raises(InputError, match="systems have different instances"):
        read(write("t", "".join(rows)))


RATING = "u,A,1,TGT,eng,deu,50,d,False,[],1,2\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (RATING + "u,A,1,TGT,eng\n", "t, line 2: expected 9 fields, or 11 to 14 with documents, got 5"),
        (RATING + RATING.replace(",A,", ",,"), "t, line 2: expected an annotator, a system, an item and its document"),
        (RATING + RATING.replace(",50,", ",good,"), "t, line 2: expected a number, got 'good'"),
        (
            RATING.replace("TGT", "BAD"),
            r"t: holds no ratings of translations that count \(left out 1 ratings of an attention check",
        ),
        (RATING + '"', "t, line 2: not readable as csv"),
    ],
)
def test_exports_that_cannot_be_used(write, content, message):
    with pytest.raises(InputError, match=message):
        read(write("t", content), reader="appraise")
