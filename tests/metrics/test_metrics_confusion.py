"""Macro averages, Matthews correlation and kappa from a confusion matrix in plain Python, and from scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigjax import Evaluation, InputError, read
from sigjax.metrics import CLASS_METRICS, METRICS, class_metric, known_metric

PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=30)
CLASSES = "abcd"


def score(name, pairs):
    """Our score of (gold, predicted) pairs, from the sums of the statistics."""
    metric = class_metric(name, CLASSES)
    right = {f"correct:{k}": sum(g == p == k for g, p in pairs) for k in CLASSES}
    predicted = {f"predicted:{k}": sum(p == k for _, p in pairs) for k in CLASSES}
    gold = {f"gold:{k}": sum(g == k for g, _ in pairs) for k in CLASSES}
    sums = right | predicted | gold | {"correct": sum(g == p for g, p in pairs)}
    return float(metric.score(np.array([sums[name] for name in metric.stat_names], float)))


def by_hand(name, pairs):
    """The definitions, from the matrix `[gold][predicted]`."""
    n = len(pairs)
    matrix = [[sum(pair == (g, p) for pair in pairs) for p in CLASSES] for g in CLASSES]
    row, column = [sum(each) for each in matrix], [sum(each) for each in zip(*matrix, strict=True)]
    if name in ("mcc", "kappa"):
        # Sums over all cells: covariances of the indicators of the classes.
        covariance = sum(matrix[k][k] / n - row[k] * column[k] / n**2 for k in range(4))
        if name == "kappa":
            chance = sum(r * c for r, c in zip(row, column, strict=True)) / n**2
            return covariance / (1 - chance) if chance < 1 else 0.0
        spread = math.prod(sum(x / n * (1 - x / n) for x in sizes) for sizes in (row, column))
        return covariance / math.sqrt(spread) if spread else 0.0
    values = []
    for k in range(4):
        if row[k] + column[k]:
            precision = matrix[k][k] / column[k] if column[k] else 0.0
            recall = matrix[k][k] / row[k] if row[k] else 0.0
            both = precision + recall
            f1 = 2 * precision * recall / both if both else 0.0
            values.append({"macro-fscore": f1, "macro-precision": precision, "macro-recall": recall}[name])
    return sum(values) / len(values)


@pytest.mark.parametrize("name", CLASS_METRICS)
@given(pairs=PAIRS)
def test_scores_are_those_of_the_confusion_matrix(name, pairs):
    assert score(name, pairs) == pytest.approx(by_hand(name, pairs), abs=1e-12)


@pytest.mark.parametrize("name", CLASS_METRICS)
@given(pairs=PAIRS)
def test_scores_are_those_of_scikit_learn(name, pairs):
    theirs = pytest.importorskip("sklearn.metrics")
    gold, predicted = zip(*pairs, strict=True)
    options = {"average": "macro", "zero_division": 0}
    if name in ("mcc", "kappa") and len({*gold, *predicted}) == 1:
        return  # a warning or no number there; 0 here
    expected = {
        "macro-fscore": lambda: theirs.f1_score(gold, predicted, **options),
        "macro-precision": lambda: theirs.precision_score(gold, predicted, **options),
        "macro-recall": lambda: theirs.recall_score(gold, predicted, **options),
        "mcc": lambda: theirs.matthews_corrcoef(gold, predicted),
        "kappa": lambda: theirs.cohen_kappa_score(gold, predicted),
    }[name]()
    assert score(name, pairs) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["mcc", "kappa"])
def test_one_class_is_zero(name):
    assert score(name, [("a", "a")] * 5) == 0.0
    assert score(name, [("a", "b")] * 5) == 0.0
    assert score(name, [("a", "a"), ("b", "b")]) == 1.0
    assert score(name, [("a", "b"), ("b", "a")]) == -1.0


@pytest.mark.parametrize("name", CLASS_METRICS)
def test_a_saved_evaluation_comes_back(tmp_path, name):
    metric = class_metric(name, ["gold:x", "y"])
    numbers = np.ones((3, len(metric.stat_names)))
    Evaluation.from_arrays({"A": numbers, "B": numbers}, metric=metric).save(tmp_path / "e.npz")
    loaded = read(tmp_path / "e.npz")
    assert loaded.metric.score is metric.score
    assert (loaded.metric.name, loaded.metric.stat_names) == (name, metric.stat_names)
    assert loaded.metric.shared_inputs == ("gold:gold:x", "gold:y")


def test_other_statistics_are_no_class_metric():
    assert known_metric("mcc") is None
    assert known_metric("mcc", ("correct", "gold:a", "predicted:a")) is None
    assert known_metric("mcc", ("correct",)) is None
    assert known_metric("macro-fscore", class_metric("mcc", "ab").stat_names) is None
    assert not {*CLASS_METRICS} & {*METRICS}


def test_impossible_counts_are_refused():
    counts = np.array([[1, 0, 1, 0, 0, 1]])
    with pytest.raises(InputError, match=r"correct:a must not be above gold:a, got 1 and 0"):
        Evaluation.from_arrays({"A": counts, "B": counts}, metric=class_metric("macro-fscore", "ab"))
