"""Ratings exported by Appraise: which count, by a recount; segments whose items are numbered in batches; refusals."""

import collections
import csv
import io
import random
import statistics

import pytest

from sigjax import InputError, compare, read

pytestmark = pytest.mark.usefixtures("here")
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


def recounted(text):
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
    found, expected = read(write("wave.csv", text), cluster="document"), recounted(text)
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


def test_a_language_pair_and_segments_that_a_system_lacks(write):
    text = export() + export(1, pair=("ces", "ukr"))
    with pytest.raises(InputError, match="language pairs 'eng-jpn', 'ces-ukr'; say which with filter"):
        read(write("t", text))
    assert read("t", filter="ces-ukr").num_instances == 24
    lines = export().split("\n")
    write("t", "\n".join(line for line in lines if ",A,7,TGT" not in line))
    with pytest.raises(InputError, match=r"'A' lacks 1 of 24 \(first: 'doc1: 7'\)"):
        read("t")
    assert read("t", missing="drop").num_instances == 23


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


def test_ratings_without_documents(write):
    rows = [f"u,{system},{i},TGT,ces,ukr,{50 + i},1.5,2.5\n" for system in "AB" for i in (1, 2)]
    assert read(write("t", "".join(rows))).ids == ("1", "2")


ROW = "u,A,1,TGT,eng,deu,50,d,False,[],1,2\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ROW + "u,A,1,TGT,eng\n", "t, line 2: expected 9 fields, or 11 to 14 with documents, got 5"),
        (ROW + ROW.replace(",A,", ",,"), "t, line 2: expected an annotator, a system, an item and its document"),
        (ROW + ROW.replace(",50,", ",good,"), "t, line 2: expected a number, got 'good'"),
        (
            ROW.replace("TGT", "BAD"),
            r"t: holds no ratings of translations that count \(left out 1 ratings of an attention check",
        ),
        (ROW + '"', "t, line 2: not readable as csv"),
    ],
)
def test_ratings_that_cannot_be_used(write, content, message):
    with pytest.raises(InputError, match=message):
        read(write("t", content), reader="appraise")
