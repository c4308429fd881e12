"""Morpheme segmentation: the shared task's figures, common subsequences, and what is refused."""

import gzip
import json

import numpy as np
import pytest
from annotated import SEGMENTED, SEGMENTS, SEGMENTS_TWO
from hypothesis import given
from hypothesis import strategies as st

from sigjax.formats import read
from sigjax.formats.spans import common_length


@pytest.fixture
def files(write):
    return write("gold.tsv", SEGMENTED), {
        "one": write("1.predictions", SEGMENTS),
        "two": write("2.predictions", SEGMENTS_TWO),
    }


def test_counts_of_morphemes(files):
    gold, systems = files
    evaluation = read(gold, input=systems, strata="category")
    assert evaluation.ids is None
    assert evaluation.strata == ("110", "100", "100", "000")
    assert evaluation.stats.tolist() == [
        [[1, 2, 3], [2, 2, 2], [0, 1, 2], [0, 3, 1]],
        [[3, 3, 3], [0, 1, 2], [2, 3, 2], [1, 1, 1]],
    ]
    exact = read(gold, input=systems, metric="accuracy")
    assert exact.stats[..., 0].tolist() == [[0, 1, 0, 0], [1, 0, 0, 1]]


@pytest.mark.parametrize(
    "change", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n"), lambda text: text + "\n\n"]
)
def test_spellings_of_the_same_file(files, write, change):
    gold, systems = files
    changed = {name: write(name, change(path.read_text())) for name, path in systems.items()}
    stats = read(write("gold", change(SEGMENTED)), input=changed).stats
    np.testing.assert_array_equal(stats, read(gold, input=systems).stats)


def test_a_gold_file_without_categories(files, write):
    gold, systems = files
    plain = write("plain", "".join(line.rpartition("\t")[0] + "\n" for line in SEGMENTED.splitlines()))
    np.testing.assert_array_equal(read(plain, input=systems).stats, read(gold, input=systems).stats)


def naive_length(one, other):
    """By the definition: of all subsequences of one, the longest that is one of the other."""
    best = 0
    for mask in range(1 << len(one)):
        rest = iter(other)
        chosen = [item for i, item in enumerate(one) if mask >> i & 1]
        if all(item in rest for item in chosen):
            best = max(best, len(chosen))
    return best


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abcd"), max_size=12))
def test_common_subsequences_by_enumeration(one, other):
    assert common_length(one, other) == naive_length(one, other)


def test_a_few_words_that_differ_are_noted(write):
    words = [f"word{i}" for i in range(200)]
    gold, other = (write(name, "".join(f"{w}\t{w} @@s\n" for w in words)) for name in ("g", "other"))
    spoilt = write("spoilt", gold.read_text().replace("word7\t", "#NAME?\t"))
    evaluation = read(gold, input=[other, spoilt])
    example = "(line 8: '#NAME?', not 'word7')"
    assert evaluation.notes[:-1] == (f"spoilt: 1 of 200 lines have another word than the gold file {example}",)


def test_published_scores_by_the_command_line(data, compared):
    folder = data / "sigmorphon22_seg_eng"
    systems = [f"{name}={folder}/raw_{name}.eng.word.test.predictions.gz" for name in ("DeepSPIN-3", "CLUZH")]
    files, metrics = (folder / "eng.word.test.gold.tsv.gz", "-i", *systems), ("fscore", "precision", "recall")
    report = compared(*files, "--strata", "category", "-m", *metrics)
    scores = {(each["name"], each["metric"]): each["score"] for each in report["systems"]}
    published = json.loads((folder / "published_eng.json").read_text())
    for each in published:
        if each["system"] in ("DeepSPIN-3", "CLUZH"):
            for metric, name in (("fscore", "f_measure"), ("precision", "precision"), ("recall", "recall")):
                assert 100 * scores.pop((each["system"], metric)) == pytest.approx(each[name], abs=1e-9)
    assert not scores


def test_every_word_is_counted_as_in_the_derived_table(data):
    folder = data / "sigmorphon22_seg_eng"
    systems = [f"{name}={folder}/raw_{name}.eng.word.test.predictions.gz" for name in ("DeepSPIN-3", "CLUZH")]
    found = read(folder / "eng.word.test.gold.tsv.gz", input=systems, strata="category")
    with gzip.open(folder / "per_word_stats.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        header, *rows = [line.rstrip("\n").split("\t") for line in lines]
    assert found.strata == tuple(row[1] for row in rows)
    for stats, name in zip(found.stats, found.systems, strict=True):
        cells = [row[header.index(name)].split(",") for row in rows]
        expected = [[int(tp), int(predicted), int(row[2])] for (tp, predicted, _), row in zip(cells, rows, strict=True)]
        np.testing.assert_array_equal(stats, expected)
