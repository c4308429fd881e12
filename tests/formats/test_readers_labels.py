"""Class labels, one a line, and TiMBL's files: scores through the command line, and what is refused."""

import numpy as np
import pytest
from annotated import CLASSES, CLASSIFIED

from sigjax import InputError, read
from sigjax.metrics import CLASS_METRICS

pytestmark = pytest.mark.usefixtures("here")


def test_names_of_columns_are_no_instance(write):
    files = [write(f"{name}.csv", f"id,gold,pred\n1,a,a\n2,b,{name}\n") for name in "ab"]
    with pytest.raises(InputError, match="a.csv, line 1: seems to hold names of columns.* 'gold', 'pred'"):
        read(*files, reader="timbl")
    without = [write(f"{name}.out", f"1,a,c\n2,b,{name}\n3,c,c\n") for name in "ab"]
    assert read(*without).stats.shape[:2] == (2, 3)


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


@pytest.mark.parametrize("metric", [*EXPECTED, *CLASS_METRICS, "f2", "precision"])
def test_scores_do_not_depend_on_other_systems(labels, metric):
    """But for the classes that only another system predicts, which are never counted."""
    gold, files = labels
    scores = []
    for systems in (files, [files[0], "gold.txt"]):
        evaluation = read(gold, input=systems, metric=metric)
        scores.append(float(evaluation.metric.score(evaluation.stats[0].sum(axis=0) * 1.0)))
    assert scores[0] == pytest.approx(scores[1], abs=1e-15)


def test_saved_statistics_come_back(labels, tmp_path):
    gold, files = labels
    for metric in CLASS_METRICS:
        evaluation = read(gold, input=files, metric=metric)
        evaluation.save(tmp_path / "e.npz")
        loaded = read(tmp_path / "e.npz")
        assert loaded.metric.score is evaluation.metric.score
        np.testing.assert_array_equal(loaded.stats, evaluation.stats)


def test_numeric_labels_and_labels_of_several_words(write):
    gold = write("gold", "0\n1\n1\n")
    evaluation = read(gold, input=[write("a", "0\n1\n0\n"), write("b", "0\r\n1\r\n1\r\n")])
    assert evaluation.stats[:, :, 0].tolist() == [[1, 1, 0], [1, 1, 1]]
    gold = write("gold", "not so\nso\n")
    evaluation = read(gold, input=[write("a", "not so\nnot so"), write("b", "so\n so ")], reader="labels", metric="mcc")
    assert evaluation.metric.stat_names[1:3] == ("predicted:not so", "predicted:so")
    numeric = write("a", "f 0 1\nf 1 1\n"), write("b", "f 0 0\nf 1 1\n")
    assert read(*numeric, reader="timbl").stats[:, :, 0].tolist() == [[0, 1], [1, 1]]


def test_labels_that_are_no_classes(write):
    numbers = "\n".join(map(str, range(20_000)))
    with pytest.raises(InputError, match=r"a: 20000 classes are too many for the metric 'mcc' on 20000 instances"):
        read(write("gold", numbers), input=[write("a", numbers), write("b", numbers)], metric="mcc")
