"""The door for arrays, and scores at their edges."""

from dataclasses import replace

import numpy as np
import pytest
from test_laws import REGISTRY

from sigjax import Evaluation, InputError, Metric
from sigjax.metrics import CLASS_METRICS, METRICS
from sigjax.metrics.ratios import f1_score, ratio_score


def test_f_score_against_precision_and_recall():
    sums = np.random.default_rng(0).integers(1, 50, (100, 3)).astype(float)
    sums[:, 1:] += sums[:, :1]
    precision, recall = ratio_score(sums[:, :2]), ratio_score(sums[:, ::2])
    np.testing.assert_allclose(f1_score(sums), 2 * precision * recall / (precision + recall), rtol=1e-14)


@pytest.mark.parametrize("metric", ["precision", "recall", "fscore"])
def test_nothing_predicted_and_nothing_to_find_is_zero(metric):
    sums = np.zeros((2, len(METRICS[metric].stat_names)))
    assert METRICS[metric].score(sums).tolist() == [0.0, 0.0]


def test_statistics_are_whole_numbers_where_they_can_be():
    assert Evaluation.from_arrays({"a": [1.0, 2.0], "b": [True, False]}).stats.dtype == np.int64
    assert Evaluation.from_arrays({"a": [1.5, 2.0], "b": [1, 0]}).stats.dtype == np.float64


def test_a_function_is_a_metric():
    def odds(sums):
        return sums[..., 0] / sums[..., 1]

    metric = Evaluation.from_arrays({"a": [[1, 2]], "b": [[3, 4]]}, metric=odds).metric
    assert isinstance(metric, Metric)
    assert (metric.name, metric.stat_names, metric.score) == ("odds", ("s0", "s1"), odds)


BAD = {
    "one system": ({"a": [1, 2]}, {}, "at least two systems, got 1"),
    "no system": ({}, {}, "at least two systems, got 0"),
    "lengths": ({"a": [1, 2], "b": [1]}, {}, "different instances: 'a' has 2 instance.* 'b' has 1"),
    "widths": ({"a": [[1, 2]], "b": [[1, 2, 3]]}, {}, "different instances"),
    "empty": ({"a": [], "b": []}, {}, "no instances"),
    "text": ({"a": ["x", "y"], "b": [1, 2]}, {}, "system 'a': expected numbers"),
    "objects": ({"a": [None, 1], "b": [1, 2]}, {}, "system 'a': expected numbers"),
    "complex": ({"a": [1j, 1], "b": [1, 2]}, {}, "system 'a': expected numbers"),
    "ragged": ({"a": [[1], [1, 2]], "b": [1, 2]}, {}, "system 'a': rows have different lengths"),
    "nan": ({"a": [1.0, 2.0], "b": [1.0, np.nan]}, {}, "system 'b': nan at instance 2"),
    "infinity": ({"a": [1.0, -np.inf], "b": [1.0, 2.0]}, {}, "system 'a': -inf at instance 2"),
    "axes": ({"a": [[[1]]], "b": [[[1]]]}, {}, "got 3 axes"),
    "scalar": ({"a": 1, "b": 2}, {}, "system 'a': one number, 1, is a mean; give the result on each instance"),
    "wrapped": ({"a": np.array([2**64 - 1, 0], np.uint64), "b": [1, 2]}, {}, "'a': whole numbers must stay within"),
    "ids": ({"a": [1, 2], "b": [1, 2]}, {"ids": ["x", "x"]}, "instance id 'x' occurs more than once"),
    "few ids": ({"a": [1, 2], "b": [1, 2]}, {"ids": ["x"]}, "ids: expected one label for each of the 2"),
    "few clusters": ({"a": [1, 2], "b": [1, 2]}, {"clusters": ["x"]}, "clusters: expected one label"),
    "no stratum": ({"a": [1, 2], "b": [1, 2]}, {"strata": ["x", ""]}, "strata: .* got '' at instance 2"),
    "no cluster": ({"a": [1, 2], "b": [1, 2]}, {"clusters": ["x", None]}, "clusters: .* got None at instance 2"),
    "masked": ({"a": np.ma.masked_less([1, 2], 2), "b": [1, 2]}, {}, "'a': some numbers are masked"),
    "same name": ({1: [1, 2], "1": [1, 2]}, {}, "two systems have the same name"),
    "unknown metric": ({"a": [1], "b": [2]}, {"metric": "bleau"}, "unknown metric 'bleau'; did you mean 'bleu'"),
    "no metric": ({"a": [1], "b": [2]}, {"metric": 3}, "metric must be a name"),
    "inputs": ({"a": [1], "b": [2]}, {"metric": "fscore"}, r"takes 3 number\(s\) per instance \(tp, predicted, gold\)"),
    "not 0/1": (
        {"a": [1, 2], "b": [0, 1]},
        {"metric": "accuracy"},
        "'a': accuracy takes 0 or 1 .* got 2 at instance 2",
    ),
    "tp": ({"a": [[3, 2, 4]], "b": [[1, 1, 1]]}, {"metric": "fscore"}, "'a': tp must lie between 0 and predicted"),
    "negative": ({"a": [[-1, 2, 4]], "b": [[1, 1, 1]]}, {"metric": "fscore"}, "and predicted, got tp = -1"),
    "gold": ({"a": [[3, 4, 2]], "b": [[1, 1, 1]]}, {"metric": "recall"}, "'a': tp must lie between 0 and gold"),
}


@pytest.mark.parametrize(("arrays", "options", "message"), BAD.values(), ids=BAD)
def test_bad_arrays(arrays, options, message):
    with pytest.raises(InputError, match=message) as caught:
        Evaluation.from_arrays(arrays, **options)
    assert "\n" not in str(caught.value)


def test_saving_a_metric_of_ones_own_is_refused(tmp_path):
    evaluation = Evaluation.from_arrays({"a": [1, 2], "b": [0, 1]}, metric=lambda sums: sums[..., 0])
    with pytest.raises(InputError, match="cannot be saved"):
        evaluation.save(tmp_path / "e.npz")


def test_the_registry_of_laws_holds_every_metric():
    """Or one that differs from it by its name and title alone."""
    held = [replace(metric, name="", title="") for name, metric in METRICS.items() if name in REGISTRY]
    lacking = [name for name, metric in METRICS.items() if replace(metric, name="", title="") not in held]
    lacking += [name for name in CLASS_METRICS if name not in REGISTRY]
    assert not lacking, "give each a formula that is not from here, in REGISTRY of test_laws.py"
