"""HIPE tables: published counts of the campaign, and what differs between gold and systems."""

import csv

import pytest
from annotated import HIPE, HIPE_GOLD

from sigjax import InputError, read

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("match", ["strict", "fuzzy"])
def test_published_counts(compared, data, match):
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
    metrics = ("fscore", "precision", "recall")
    report = compared(gold, "-i", *files, "-m", *metrics, "--match", match, "--cluster", "document")
    scores = {(each["name"], each["metric"]): each["score"] for each in report["systems"]}
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


@pytest.mark.parametrize("pads", ["\t", "\t\t\t", " ", "\t \t"])
def test_comments_and_empty_lines_may_be_padded(write, pads):
    """As a program writes them that fills every row of a table."""
    padded = "".join(
        f"{line}{pads}\n" if not line or line.startswith("# ") else f"{line}\n"
        for line in HIPE_GOLD.removesuffix("\n").split("\n")
    )
    files = {"a": write("a.tsv", padded), "b": write("b.tsv", HIPE_GOLD)}
    for gold in files.values():
        evaluation = read(gold, input=files, cluster="document")
        assert evaluation.clusters == ("one", "one", "two")
        assert evaluation.stats.tolist() == [[[1, 1, 1], [0, 0, 0], [1, 1, 1]]] * 2


def table(words, tags):
    return "\n".join(["TOKEN\tNE-COARSE-LIT", *map("\t".join, zip(words, tags, strict=True)), ""])


WORDS = "de la ville de Rome de la gare de la ville".split()
TAGS = ["O", "O", "O", "O", "B-loc", "O", "O", "O", "O", "B-loc", "I-loc"]


@pytest.mark.parametrize(
    ("lacking", "note"),
    [
        ([2], "put back 1 of 11 tokens, which its file lacks, as O"),
        ([0, 5], "warning: a: put back 2 of 11 tokens"),
        ([4, 5, 6, 7], "put back 4 of 11"),  # "de la" stands in the gap, too, but belongs to what follows
        ([0, 1, 2, 3, 7], "put back 5 of 11"),
        ([9, 10], "put back 2 of 11"),
    ],
)
def test_tokens_that_a_file_lacks_are_put_back(write, lacking, note):
    """Scores are those of a file that has them, tagged O."""
    kept = [i for i in range(len(WORDS)) if i not in lacking]
    cut = write("a.tsv", table([WORDS[i] for i in kept], [TAGS[i] for i in kept]))
    full = write("full.tsv", table(WORDS, ["O" if i in lacking else tag for i, tag in enumerate(TAGS)]))
    gold = write("gold.tsv", table(WORDS, TAGS))
    for metric in ("fscore", "accuracy"):
        evaluation = read(gold, input={"a": cut, "b": full}, metric=metric, tolerant=True)
        assert evaluation.stats[0].tolist() == evaluation.stats[1].tolist()
        assert any(note in each for each in evaluation.notes)
    with pytest.raises(InputError, match="tolerant puts back tokens that a file lacks"):
        read(gold, input={"a": cut, "b": full})


def test_other_spellings_are_taken_by_position(write):
    """As the scorer of the campaign does."""
    gold, changed = table(WORDS, TAGS), table([word.upper() for word in WORDS], TAGS)
    files = {"a": write("a.tsv", changed), "b": write("b.tsv", gold)}
    evaluation = read(write("gold.tsv", gold), input=files, tolerant=True)
    assert evaluation.stats[0].tolist() == evaluation.stats[1].tolist()
    assert "a: tokens written otherwise than in the gold file: 11" in evaluation.notes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ville", "Rome", "ville", "gare"], "a.tsv, line 4: token 'ville' is not among the next gold tokens"),
        ([*WORDS, "!"], "a.tsv: has 12 tokens, but .*gold.tsv has 11"),
        (["x"], "a.tsv, line 2: token 'x' is not among the next gold tokens"),
    ],
)
def test_other_texts_are_refused(write, words, message):
    gold = write("gold.tsv", table(WORDS, TAGS))
    with pytest.raises(InputError, match=message):
        read(gold, input={"a": write("a.tsv", table(words, ["O"] * len(words))), "b": gold}, tolerant=True)


def test_other_texts_of_the_same_length_are_refused(write):
    words = [f"w{i}" for i in range(21)]
    files = [write(name, table([f"{name}{word}" for word in words], ["O"] * 21)) for name in "abc"]
    with pytest.raises(InputError, match="token 'bw0', but 'aw0' on line 2 of .*a;"):
        read(files[0], input=files[1:], tolerant=True)
