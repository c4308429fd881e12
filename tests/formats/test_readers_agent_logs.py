"""Logs of agents, prompts and embeddings: terminal-bench, tau-bench, tau2-bench, promptfoo, DeepEval, MTEB."""

import gzip
import json

import logs
import numpy as np
import pytest

from sigjax import compare
from sigjax.formats import read
from sigjax.records import InputError

A, B = [1, 0, 1, 1], [0, 0, 1, 0]


def means(evaluation):
    return {name: float(own[:, 0].mean()) for name, own in zip(evaluation.systems, evaluation.stats, strict=True)}


def test_runs_of_terminal_bench_in_a_folder_are_runs_of_one_system(write, tmp_path):
    for system, runs in {"a": [A, [1, 1, 0, 1]], "b": [B, B]}.items():
        for number, values in enumerate(runs):
            write(f"results/{system}/run{number}/results.json", logs.terminal_bench(values))
    evaluation = read(tmp_path / "results")
    assert (evaluation.systems, evaluation.metric.name) == (("a", "b"), "resolved")
    assert evaluation.ids == tuple(f"task{i}" for i in (0, 1, 2, 3) * 2)
    assert means(evaluation) == {"a": 0.75, "b": 0.25}
    # Swaps of four tasks, each with its two trials: of the 16 sums of ±2, ±1, ±1 and ±2 six are ±4 or ±6.
    assert compare(evaluation, device="numpy")["a", "b"].p_value == 6 / 16
    both = read(tmp_path / "results" / "a", tmp_path / "results" / "b")
    assert both.stats.tolist() == evaluation.stats.tolist()


def test_attempts_of_terminal_bench_are_runs_and_those_without_an_outcome_failed(write):
    a = write("a.json", logs.terminal_bench([[1, None], [0, 1]]))
    b = write("b.json", logs.terminal_bench([[0, 0], [1, 0]]))
    evaluation = read(a, b)
    assert (evaluation.ids, evaluation.runs) == (("task0", "task0", "task1", "task1"), ("1", "2", "1", "2"))
    assert means(evaluation) == {"a": 0.5, "b": 0.25}
    assert evaluation.notes[0].endswith(
        "a.json: 1 of 4 trials have no outcome (is_resolved null); they count as not resolved"
    )
    wrong = read(a, write("c.json", logs.terminal_bench([[0, 0], [1, 0]], accuracy=0.5)))
    assert any(note.endswith("c.json: the mean of resolved is 0.25, but its accuracy is 0.5") for note in wrong.notes)


@pytest.mark.parametrize("number", range(5))
def test_terminal_bench_has_its_own_accuracy(data, number):
    files = sorted((data / "terminal_bench").glob(f"*/run{number + 1}/results.json.gz"))
    expected = [json.loads(gzip.decompress(file.read_bytes()))["accuracy"] for file in files]
    assert list(means(read(*files)).values()) == pytest.approx(expected, rel=1e-14)


def test_runs_of_terminal_bench_have_the_mean_of_their_accuracies(data):
    published = [0.4, 0.4125, 0.4375, 0.4, 0.4125], [0.1375, 0.1125, 0.15, 0.1625, 0.075]
    evaluation = read(data / "terminal_bench")
    assert list(means(evaluation).values()) == pytest.approx([np.mean(own) for own in published], rel=1e-14)
    assert evaluation.num_instances == 400


@pytest.mark.parametrize("make", [logs.tau, logs.tau2])
def test_trials_of_tau_bench_are_runs(write, make):
    evaluation = read(write("a.json", make([[1, 0], [1, 1]])), f"B={write('b.json', make([[0, 0], [1, 0]]))}")
    assert evaluation.runs == ("0", "1", "0", "1")
    assert list(means(evaluation).values()) == [0.75, 0.25]
    assert evaluation.metric.name == "reward"


def test_tau2_names_its_agents_and_refuses_other_domains(write):
    a, b = (
        write("a.json", logs.tau2([1, 0.5])),
        write("b.json", logs.tau2([0, 1], model="claude", user="v", index=True)),
    )
    evaluation = read(a, b)
    assert means(evaluation) == {"gpt": 0.75, "claude": 0.5}
    assert means(read(a, b, metric="success")) == {"gpt": 0.5, "claude": 0.5}
    assert "the systems differ in the simulated user: 'u', 'v'" in evaluation.notes
    with pytest.raises(
        InputError, match=r"differ in the domain: 'airline', 'retail'; compare agents on the same tasks"
    ):
        read(a, write("c.json", logs.tau2([1, 1], domain="retail")))
    lacking = write("d.json", logs.tau2([None, 1], model="claude"))
    with pytest.raises(InputError, match="'claude' lacks 1 of 2"):
        read(a, lacking)
    assert "1 of 2 simulations have no reward" in " ".join(read(a, lacking, missing="drop").notes)
    with pytest.raises(InputError, match="field 'simulations': is empty; expected trials"):
        read(a, write("e.json", logs.tau2([])))


def test_promptfoo_holds_prompts_and_providers(write):
    one = write("a.json", logs.promptfoo(A, prompts=("Say {{word}}", "Do\nsay")))
    assert read(one).systems == ("p: Say {{word}}", "p: Do say")
    evaluation = read(one.with_name("a.json"), cluster="topic")
    assert evaluation.clusters == ("t0", "t0", "t1", "t1")
    two = [write(f"{name}.json", logs.promptfoo(own, provider=name)) for name, own in (("x", A), ("y", B))]
    assert means(read(*two)) == {"x": 0.75, "y": 0.25}
    assert means(read(*two, metric="score")) == {"x": (3 + 0.25) / 4, "y": (1 + 0.75) / 4}
    assert means(read(*two, metric="tone")) == {"x": 0.375, "y": 0.125}
    assert read(*two).metric.name == "success"


def test_repetitions_of_promptfoo_are_runs_and_errors_are_counted(write):
    evaluation = read(
        write("a.json", logs.promptfoo([[1, 0], [1, 1]])),
        write("b.json", logs.promptfoo([[0, -1], [1, 0]], provider="q")),
    )
    assert sorted(zip(evaluation.ids or (), evaluation.runs or (), strict=True)) == [
        ("0", "1"),
        ("0", "2"),
        ("1", "1"),
        ("1", "2"),
    ]
    assert means(evaluation) == {"p": 0.75, "q": 0.25}
    assert any(
        "b.json: 1 results are errors of the provider; they count as failed" in note for note in evaluation.notes
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (logs.promptfoo(B, provider="q", vars={"word": "other"}), "has another variables or assertions than of 'p'"),
        (logs.promptfoo(B, provider="q", success="yes"), "field 'success': expected a number, got the text 'yes'"),
        (logs.promptfoo(B, provider={}), "no field 'label'|no field 'id'|expected"),
        (logs.promptfoo(B, testIdx=None), "field 'testIdx': expected a number, got null"),
        ('{"results": {"version": 2, "table": {}}}', "expected results.results, as promptfoo writes them"),
    ],
)
def test_damaged_promptfoo(write, content, message):
    with pytest.raises(InputError, match=message):
        read(write("a.json", logs.promptfoo(A)), write("b.json", content), reader="promptfoo")


def test_deepeval_has_the_scores_of_its_metrics(write):
    a, b = (
        write("a.json", logs.deepeval([1, 0.25, 1, 1])),
        write("b.json", logs.deepeval([0.5, 0.25, 1, 0.25], wrapped=True)),
    )
    assert means(read(a, b)) == {"a": 0.75, "b": 0.25}
    assert means(read(a, b, metric="Faithfulness")) == {"a": 3.25 / 4, "b": 0.5}
    assert read(a, b, cluster="topic").clusters == ("t0", "t0", "t1", "t1")
    failed = write("c.json", logs.deepeval([None, 1, 1, 1]))
    with pytest.raises(InputError, match="'c' lacks 1 of 4"):
        read(a, failed, metric="Faithfulness")
    with pytest.raises(InputError, match="instance 'test_case_0' of 'd' has another input than of 'a'"):
        read(a, write("d.json", logs.deepeval(A, input="other")))


def test_tasks_of_mteb_are_instances(write, tmp_path):
    for model, scores in {"a": (0.5, 0.75), "b": (0.25, 0.5)}.items():
        write(f"{model}/rev/model_meta.json", json.dumps({"name": f"lab/{model}"}))
        for task, score in zip(("STS", "Arg"), scores, strict=True):
            write(f"{model}/rev/{task}.json", logs.mteb(score, task=task))
    write("a/rev/Two.json", logs.mteb(0, task="Two", en=0.5, de=1.0))
    write("b/rev/Two.json", logs.mteb(0, task="Two", en=0.5, de=0.5))
    evaluation = read(tmp_path)
    assert evaluation.systems == ("lab/a", "lab/b")
    assert dict(zip(evaluation.ids or (), evaluation.stats[0, :, 0], strict=True)) == {
        "Arg": 0.75,
        "STS": 0.5,
        "Two": 0.75,
    }
    files = [tmp_path / model / "rev" / "model_meta.json" for model in "ab"]
    assert (
        read(*files).stats.tolist() == read(tmp_path / "a", tmp_path / "b").stats.tolist() == evaluation.stats.tolist()
    )
    assert means(read(tmp_path, filter="validation")) == {"lab/a": 0, "lab/b": 0}
    write("b/rev/STS.json", logs.mteb(1).replace('"test"', '"dev"'))
    with pytest.raises(InputError, match="STS.json: holds results of the splits 'validation', 'dev'; say which"):
        read(tmp_path)
    (tmp_path / "b" / "rev" / "STS.json").unlink()
    with pytest.raises(InputError, match="'lab/b' lacks 1 of 3"):
        read(tmp_path)


def test_mteb_has_the_main_scores_of_its_files(data):
    evaluation = read(data / "mteb", missing="drop")
    assert evaluation.systems[1] == "intfloat/e5-base-v2"
    for name, own in zip(evaluation.systems, evaluation.stats, strict=True):
        (folder,) = (data / "mteb" / name.replace("/", "__")).iterdir()
        for task, score in zip(evaluation.ids or (), own[:, 0], strict=True):
            assert score == json.loads((folder / f"{task}.json").read_text())["scores"]["test"][0]["main_score"]
    assert evaluation.num_instances == 9
