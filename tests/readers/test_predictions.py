"""Gold labels and predictions in Python: the scores of scikit-learn, and the same comparison as of numbers."""

import numpy as np
import pytest

from sigjax import Evaluation, InputError, compare

sklearn = pytest.importorskip("sklearn.metrics")

SKLEARN = {
    "accuracy": sklearn.accuracy_score,
    "macro-fscore": lambda gold, own: sklearn.f1_score(gold, own, average="macro", zero_division=0),
    "macro-precision": lambda gold, own: sklearn.precision_score(gold, own, average="macro", zero_division=0),
    "macro-recall": lambda gold, own: sklearn.recall_score(gold, own, average="macro", zero_division=0),
    "mcc": sklearn.matthews_corrcoef,
    "kappa": sklearn.cohen_kappa_score,
    "auc": sklearn.roc_auc_score,
    "correlation": lambda gold, own: np.corrcoef(gold, own)[0, 1],
}


def _scores(evaluation):
    return {row.name: row.score for row in compare(evaluation, resamples=99).systems}


@pytest.mark.parametrize("metric", ["accuracy", "macro-fscore", "macro-precision", "macro-recall", "mcc", "kappa"])
@pytest.mark.parametrize("kind", [str, int, float, bool, np.int64])
def test_class_labels(metric, kind):
    rng = np.random.default_rng(7)
    gold = rng.integers(0, 2 if kind is bool else 4, 1000)
    labels = (lambda codes: [f"class {c}" for c in codes]) if kind is str else (lambda codes: list(map(kind, codes)))
    systems = {f"s{i}": np.where(rng.random(1000) < 0.2 * i, rng.permutation(gold), gold) for i in (1, 2, 3)}
    made = Evaluation.from_predictions(
        labels(gold), {name: labels(own) for name, own in systems.items()}, metric=metric
    )
    expected = {name: SKLEARN[metric](gold, own) for name, own in systems.items()}
    assert _scores(made) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", ["auc", "correlation"])
def test_scores_of_instances(metric):
    rng = np.random.default_rng(8)
    gold = rng.integers(0, 2, 500)
    systems = {f"s{i}": gold + rng.normal(0, i, 500) for i in (1, 2)}
    expected = {name: SKLEARN[metric](gold, own) for name, own in systems.items()}
    assert _scores(Evaluation.from_predictions(gold, systems, metric=metric)) == pytest.approx(expected, rel=1e-12)


def test_same_p_as_of_right_and_wrong():
    rng = np.random.default_rng(9)
    gold = rng.integers(0, 3, 400)
    systems = {
        name: np.where(rng.random(400) < share, (gold + 1) % 3, gold) for name, share in (("a", 0.2), ("b", 0.3))
    }
    options = {"ids": [f"q{i // 2}" for i in range(400)], "runs": [str(i % 2) for i in range(400)]}
    right = Evaluation.from_arrays({name: own == gold for name, own in systems.items()}, metric="accuracy", **options)
    made = Evaluation.from_predictions(gold, systems, **options)
    assert [pair.p_value for pair in compare(made).comparisons] == [pair.p_value for pair in compare(right).comparisons]


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"gold": list("abca"), "A": list("abcb"), "B": list("aaab")}, dtype="category")
    made = Evaluation.from_predictions(frame["gold"], {"A": frame["A"], "B": frame["B"]})
    assert made.stats[:, :, 0].tolist() == [[1, 1, 1, 0], [1, 0, 0, 0]]
    with pytest.raises(InputError, match="have different indexes"):
        Evaluation.from_predictions(frame["gold"], {"A": frame["A"], "B": frame["B"][::-1]})


@pytest.mark.parametrize(
    ("gold", "systems", "options", "message"),
    [
        (["a", "b"], {"A": ["a", "b"], "B": ["a"]}, {}, r"'B': expected one label or number for each .* shape \(1,\)"),
        (["a", "b"], {"A": ["a", "b"], "B": ["a", None]}, {}, "'B': has no label at instance 2"),
        ([1.0, float("nan")], {"A": [1, 0], "B": [1, 1]}, {}, "'gold': has no label at instance 2"),
        (["1", "0"], {"A": ["1", "0"], "B": [1, 0]}, {}, "'B': none of its labels is a gold label; its first is 1"),
        ([0, 1], {"A": [0, 1], "B": [0.2, 0.7]}, {}, "classes rather than scores"),
        (["a", "b"], {"A": ["a", "b"]}, {}, "at least two systems|two or more"),
        (["a", "b"], {"A": ["a", "b"], "B": ["a", "b"]}, {"metric": "bleu"}, "from_predictions takes accuracy, macro"),
        (["a", "b"], {"A": ["a", "b"], "B": ["a", "b"]}, {"metric": "auc"}, "number"),
        ([0, 1], {"A": [0.1, 0.2], "B": [0.1, float("nan")]}, {"metric": "auc"}, "nan|NaN"),
        (["a", "b"], ["a", "b"], {}, "expected predictions by system"),
    ],
)
def test_refused(gold, systems, options, message):
    with pytest.raises(InputError, match=message):
        Evaluation.from_predictions(gold, systems, **options)
