"""Class labels in order or by id: scores by their definitions through the command line, and what is refused."""

import json
import random

import numpy as np
import pytest
from annotated import CLASSES, CLASSIFIED

from sigjax import InputError, read
from sigjax.metrics import CLASS_METRICS

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def labels(write):
    """The gold file and those of the systems."""
    files = [write(f"{name}.pred", "\n".join(found) + "\n") for name, found in CLASSIFIED.items()]
    return write("gold.txt", "\n".join(CLASSES) + "\n"), files


@pytest.fixture
def instances(write):
    """TiMBL's files of the systems, by what stands between fields."""

    def make(between):
        files = []
        for name, found in CLASSIFIED.items():
            lines = [between.join(("f", "=", g, p)) for g, p in zip(CLASSES, found, strict=True)]
            files.append(write(f"{name}.out", "\n".join(lines) + "\n"))
        return files

    return make


def macro(gold, predicted):
    """Macro F1 over the classes of gold and predicted."""
    values = []
    for k in {*gold, *predicted}:
        tp = sum(g == p == k for g, p in zip(gold, predicted, strict=True))
        values.append(2 * tp / (gold.count(k) + predicted.count(k)))
    return sum(values) / len(values)


def kappa(gold, predicted):
    n = len(gold)
    agreed = sum(g == p for g, p in zip(gold, predicted, strict=True)) / n
    chance = sum(gold.count(k) * predicted.count(k) for k in {*gold}) / n**2
    return (agreed - chance) / (1 - chance)


def mcc(gold, predicted):
    """The correlation of the two sets of indicators of classes, centred, over all cells."""
    classes = sorted({*gold, *predicted})
    x, y = (np.array([[label == k for k in classes] for label in each], float) for each in (gold, predicted))
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    return (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())


def accuracy(gold, predicted):
    return sum(g == p for g, p in zip(gold, predicted, strict=True)) / len(gold)


EXPECTED = {"accuracy": accuracy, "macro-fscore": macro, "kappa": kappa, "mcc": mcc, "fscore": accuracy}


@pytest.fixture
def scores(compared):
    """Scores by (system, metric), of files through the command line."""

    def run(*arguments):
        return {(each["name"], each["metric"]): each["score"] for each in compared(*arguments)["systems"]}

    return run


def expected():
    return {
        (name, metric): pytest.approx(score(CLASSES, found), abs=1e-14)
        for name, found in CLASSIFIED.items()
        for metric, score in EXPECTED.items()
    }


def test_labels_through_the_command_line(scores, labels):
    gold, files = labels
    assert scores(gold, "-i", *files, "-m", *EXPECTED) == expected()
    assert {metric for _, metric in scores(gold, "-i", *files)} == {"accuracy"}


@pytest.mark.parametrize("between", [",", " ", "\t", " \t "])
def test_timbl_through_the_command_line(scores, instances, between):
    files = instances(between)
    assert scores(*files, "-m", *EXPECTED) == expected()


@pytest.mark.parametrize("name", ["gold predicted", "gold a"])
def test_names_of_columns_are_no_instance_of_timbl(write, name):
    """Labels of the first line that occur below are labels; two that no other line has are names."""
    rows = ["x y a a", "x y b a", "x y a b"]
    (gold, predicted), files = name.split(), []
    for system in "AB":
        files.append(write(f"{system}.out", "\n".join([f"f1 f2 {gold} {predicted}", *rows, ""])))
    if predicted == "a":
        assert read(*files, reader="timbl").num_instances == 4
        return
    with pytest.raises(InputError, match=r"A\.out, line 1: seems to hold names of columns.*'gold', 'predicted'"):
        read(*files, reader="timbl")


@pytest.mark.parametrize("metric", [*EXPECTED, *CLASS_METRICS, "f2", "precision"])
def test_scores_do_not_depend_on_other_systems(labels, metric):
    """But for the classes that only another system predicts, which are never counted."""
    gold, files = labels
    scores = []
    for systems in (files, [files[0], "gold.txt"]):
        evaluation = read(gold, input=systems, metric=metric)
        scores.append(float(evaluation.metric.score(evaluation.stats[0].sum(axis=0) * 1.0)))
    assert scores[0] == pytest.approx(scores[1], abs=1e-15)


def test_labels_that_are_no_classes(write):
    numbers = "\n".join(map(str, range(20_000)))
    with pytest.raises(InputError, match=r"a: 20000 classes are too many for the metric 'mcc'"):
        read(write("gold", numbers), input=[write("a", numbers), write("b", numbers)], metric="mcc")


IDS = [f"q{i}" for i in range(1, len(CLASSES) + 1)]
LAYOUTS = {
    "tabs": ("{}\t{}", None),
    "commas": ("{},{}", None),
    "semicolons": ("{};{}", None),
    "blanks": ("{} {}", None),
    "quotes": ('"{}","{}"', '"id","label"'),
    "named": ("{}\t{}", "example_id\tanswer"),
    "turned": ("{1},{0}", "label,id"),
    "scores": ("{},{},0.5", "id,prediction,score"),
}


def submission(write, name, labels, layout, *, shuffled=True):
    """A file of ids and labels, in an order of its own."""
    row, names = LAYOUTS[layout]
    rows = [row.format(id, label) for id, label in zip(IDS, labels, strict=True)]
    if shuffled:
        random.Random(name).shuffle(rows)
    return write(name, "\n".join([*([names] if names else []), *rows, ""]))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_labels_are_joined_by_id(write, layout):
    gold = submission(write, "gold.txt", CLASSES, "turned" if layout == "scores" else layout, shuffled=False)
    files = [submission(write, f"{name}.txt", own, layout) for name, own in CLASSIFIED.items()]
    for metric, score in EXPECTED.items():
        found = read(gold, input=files, metric=metric)
        assert found.ids == tuple(IDS)
        scores = found.metric.score(found.stats.sum(axis=1))
        assert scores.tolist() == pytest.approx([score(CLASSES, own) for own in CLASSIFIED.values()])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"1": "yes", "9": "no"}', "a: id '9' is not in .*g, .*; leave it out"),
        ('{"x1": "yes"}', "a: id 'x1' is not in .*g, which begins with '1'"),
        ('{"1": "yes", "1": "no"}', "a: field '1' occurs twice in an object"),
        ('{"1": ["yes"], "2": "no"}', "a, field '1': expected a text or a whole number, got a list"),
        ('{"1": 0.5, "2": "no"}', "a, field '1': expected a text or a whole number, got the number 0.5"),
        ('{"1": "", "2": "no"}', "a, field '1': expected a name, got an empty text"),
        ('{"": "yes", "2": "no"}', "a: expected a name, got an empty text"),
        ('{"1": "yes", "2": "n', "a, line 1, character .*: not readable as JSON"),
        ("{}", "a: has no labels; expected an object of id -> label"),
        ('{"1": null}', "a: has no labels"),
        ('{"1": "Yes", "2": "No"}', r"a: none of its labels \('Yes', 'No'\) is among those of .*g"),
    ],
)
def test_objects_that_cannot_be_used(write, content, message):
    gold = write("g", '{"1": "yes", "2": "no", "3": "yes", "4": "no"}')
    with pytest.raises(InputError, match=message):
        read(gold, input=[write("a", content), write("b", '{"1": "no", "2": "no", "3": "no", "4": "no"}')])


def test_a_damaged_object_of_gold_labels(write):
    files = [write("a", '{"1": "no", "2": "yes"}'), write("b", '{"1": "no", "2": "no"}')]
    for content, message in (
        ('{"1": "A", "2": "B"', "g, line 1, character .*: not readable as JSON"),
        ('{"1": "A", "2": null}', "g, field '2': expected a text or a whole number, got null"),
    ):
        with pytest.raises(InputError, match=message):
            read(write("g", content), input=files)


def test_answers_and_other_objects_are_not_taken_for_labels(write):
    gold = write("gold.json", '{"q1": "Denver Broncos", "q2": "Paris", "q3": "in 1999"}')
    files = [write(f"{name}.json", '{"q3": "1999", "q1": "Broncos", "q2": "Paris"}') for name in "ab"]
    with pytest.raises(InputError, match="are these labels, or answers to questions.*id-labels.*squad"):
        read(gold, input=files)
    assert read(gold, input=files, reader="squad", metric="f1").stats[0, 0, 0] == pytest.approx(2 / 3)
    for other in ('{"accuracy": 0.5, "f1": 0.4}', '{"id": "q1", "label": "A"}', '{"id": "q1", "label": "A"}\n' * 2):
        with pytest.raises(InputError, match="looks like a table|lines of text could be many|unknown format"):
            read(write("o.json", other), input=[write(f"{name}.json", other) for name in "cd"])
    many = json.dumps({f"q{i}": ["not entailment", "entailment"][i % 2] for i in range(9)})
    named = [write(name, many) for name in "gcd"]
    assert read(named[0], input=named[1:]).stats[:, :, 0].tolist() == [[1] * 9] * 2


GOLD = "id\tdoc\ttext\tlabel\n1\td\ta b\tyes\n2\td\tb\tno\n3\te\tc\tyes\n4\tf\tc\tno\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 yes\n2\n", "a, line 2: expected 2 fields as on line 1, got 1"),
        ("yes\nno\n", "a, line 1: expected an id and a label, got one field"),
        ("1\tyes\tx\n", "a, line 1: expected an id and a label, got 3 fields without names"),
        ("id\tx\tlabel\n1\tyes\n", "a, line 2: expected 3 fields as on line 1, got 2"),
        ("1\tyes\n2\t\n", "a, line 2: expected an id and a label, got an empty one"),
        ("1 yes\n\n1 no\n", "a, line 3: id '1' is also on line 1; leave one out"),
        ("1 yes\n9 no\n8 no\n", r"a, line 2: id '9' is not in .*g, .*; leave it out \(and 1 others\)"),
        ("x1 yes\nx2 no\n", "a, line 1: id 'x1' is not in .*g, which begins with '1'; leave it out"),
        ("1 1.0\n2 0.0\n", r"a: none of its labels \('1.0', '0.0'\) is among those of .*g \('yes', 'no'\)"),
        ("which guessed\n1 yes\n2 no\n", "a, line 1: is 'which', 'guessed' an instance"),
        ("id\tlabel\n", "a: has names of columns but no rows"),
        ('1,"yes\n2,no\n', "a, line 1: not readable as csv"),
    ],
)
def test_submissions_that_cannot_be_used(write, content, message):
    gold, files = write("g", GOLD), [write("a", content), write("b", "2 yes\n1 no\n3 no\n4 no\n")]
    with pytest.raises(InputError, match=message):
        read(gold, input=files)


@pytest.mark.parametrize(
    "content",
    [
        "1\t0.5\n2\t0.7\n",
        "id,score\n1,1\n2,0\n",
        "id,A\n1,1\n2,0\n",
        "a few\nmore words\n",
        "yes,1\nyes,2\n",
        "id\tall of it\n",
    ],
)
def test_other_files_are_not_taken(write, content):
    files = [write(name, content) for name in "gab"]
    with pytest.raises(InputError, match="looks like a table|lines of text could be many things"):
        read(files[0], input=files[1:])


def test_missing_answers(write):
    gold, files = write("g", GOLD), [write("a", "1 yes\n3 yes\n4 yes\n"), write("b", "2 yes\n1 no\n4 no\n")]
    with pytest.raises(InputError, match=r"'a' lacks 1 of 4 \(first: '2'\), 'b' lacks 1 of 4 \(first: '3'\)"):
        read(gold, input=files)
    assert read(gold, input=files, missing="drop").stats[:, :, 0].tolist() == [[1, 0], [0, 1]]
    zero = read(gold, input=files, missing="zero", metric="macro-recall")
    assert zero.metric.score(zero.stats.sum(axis=1)).tolist() == [0.5, 0.25]
    assert read(gold, input=["a", write("c", "3 yes\n1 yes\n4 no\n")], missing="zero").num_instances == 4


def test_a_first_row_whose_label_comes_again_names_no_columns(write):
    """The second row is enough: an instance may be called id, and a class label."""
    first, others = "id label\na label\n", ("b other\nc x\n", "b x\nc x\n", "b other\nc other\n")
    gold, *systems = (write(f"{name}.txt", first + rows) for name, rows in zip("gab", others, strict=True))
    evaluation = read(gold, input=systems, reader="id-labels")
    assert evaluation.ids == ("id", "a", "b", "c")
    assert evaluation.stats[:, :, 0].tolist() == [[1, 1, 0, 1], [1, 1, 1, 0]]
