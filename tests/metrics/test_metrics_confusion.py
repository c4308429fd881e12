"""Macro averages, Matthews correlation and kappa from a confusion matrix in plain Python, and from scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigjax.metrics import CLASS_METRICS, class_metric

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
