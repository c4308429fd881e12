"""SWE-bench's repository of experiments: results.json after a list of all ids; what lists all instances by itself."""

import json
import re

import logs
import pytest
from logs import swebench_ids as ids
from logs import swebench_results as results

from sigjax import InputError, compare, read
from sigjax.formats.agents import SWEBENCH_RESULTS

A, B = [1, 0, 1, None], [0, 0, 1, "no log"]
pytestmark = pytest.mark.usefixtures("here")


def outcomes(evaluation):
    return {
        name: dict(zip(evaluation.ids, own[:, 0].tolist(), strict=True))
        for name, own in zip(evaluation.systems, evaluation.stats, strict=True)
    }


@pytest.fixture
def experiments(write):
    """Folders of two systems, as `evaluation/SPLIT` has them."""
    for name, values in (("a", A), ("b", B)):
        write(f"{name}/results/results.json", results(values))
    return [f"{name}/results/results.json" for name in "ab"]


def test_what_is_not_listed_is_not_resolved(write, experiments):
    expected = {
        name: {id: float(own == 1) for id, own in zip(ids(4).split(), values, strict=True)}
        for name, values in (("a", A), ("b", B))
    }
    evaluation = read(write("all.txt", ids(4)), input=experiments, cluster="repository")
    assert outcomes(evaluation) == expected
    assert evaluation.clusters == ("org__repo0",) * 2 + ("org__repo1",) * 2
    assert "a/results/results.json: 1 of 4 instances have no prediction or no log" in " ".join(evaluation.notes)
    assert evaluation.metric.name == "resolved"
    assert outcomes(read("all.txt", input=["a", "b"])) == expected
    predictions = [{"model_patch": "", "instance_id": id} for id in ids(4).split()]
    for content in ("\n".join(map(json.dumps, predictions)), json.dumps(predictions), json.dumps(ids(4).split())):
        assert outcomes(read(write("all", content), input=experiments)) == expected
    (pair,) = compare(read("all.txt", input=experiments, metric="accuracy"), device="numpy", interval="none")
    assert (pair.score_a, pair.score_b, pair.p_value) == (0.5, 0.25, 1)


def test_without_a_list_of_all_the_answer_to_type_is_said(write, experiments):
    with pytest.raises(InputError, match=re.escape('sigjax.read("ALL", input=["a/results/results.json", ...])')):
        read(*experiments)
    with pytest.raises(InputError, match="lists 'org__repo1-2', which .*all.txt does not have"):
        read(write("all.txt", ids(2)), input=experiments)
    with pytest.raises(InputError, match="entry 2: expected an id, or an object with instance_id, got the"):
        read(write("all.json", '["a__b-1", 3]'), input=experiments)
    assert not SWEBENCH_RESULTS.confirmed(["all.txt"], [str(write("hyp.txt", "a__b-1\n"))])


def test_results_of_the_first_harness_list_all_predictions(write):
    for name, values in (("a", A), ("b", B)):
        listed = json.loads(results(values))
        generated = [id for id in ids(4).split() if id not in listed["no_generation"]]
        write(f"{name}.json", json.dumps(listed | {"generated": generated, "applied": []}))
    evaluation = read("a.json", "b.json")
    assert list(outcomes(evaluation)["a"].values()) == [1, 0, 1, 0]
    assert evaluation.num_instances == 4


def test_details_of_instances(write):
    for name, values in (("a", [1, 0]), ("b", [1, 1])):
        board = json.loads(logs.swebench_boards({"x": [(name, values)]}))["leaderboards"][0]["results"][0]
        write(f"{name}/per_instance_details.json", json.dumps(board["per_instance_details"]))
    files = [f"{name}/per_instance_details.json" for name in "ab"]
    assert outcomes(read(*files)) == {
        "a": {"org__repo-0": 1, "org__repo-1": 0},
        "b": {"org__repo-0": 1, "org__repo-1": 1},
    }
    assert read(*files, metric="cost").stats[:, 1, 0].tolist() == [0.5, 0.5]
