"""Logs of agents and evaluation harnesses: what they hold comes out, whatever the file is called."""

import gzip
import json
import os
import re

import logs
import numpy as np
import pytest
from logs import swebench_ids, swebench_results
from mutations import values as numbers

import sigjax
from sigjax import InputError, compare, read
from sigjax.formats import FORMATS, read_data

pytestmark = pytest.mark.usefixtures("here")


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


@pytest.mark.parametrize("number", range(5))
def test_terminal_bench_has_its_own_accuracy(data, number):
    files = sorted((data / "terminal_bench").glob(f"*/run{number + 1}/results.json.gz"))
    expected = [json.loads(gzip.decompress(file.read_bytes()))["accuracy"] for file in files]
    assert list(means(read(*files)).values()) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", logs.TEXTS)
def test_two_logs_of_one_system_are_named_by_their_files(write, name):
    file, make = logs.TEXTS[name]
    systems = read(*(write(f"{day}/{file}", make(A)) for day in ("monday", "tuesday"))).systems
    assert [system.partition("/")[0] for system in systems] == ["monday", "tuesday"]


def test_a_model_run_twice_is_named_with_its_task_and_both_files(write, tmp_path):
    """The commonest thing in a folder of logs: it was called by the folder's name."""
    for day, model in enumerate(["openai/gpt-4o-mini", "lab/b", "openai/gpt-4o-mini"]):
        log = logs.inspect([1, 0, 1, day % 2], model=model, task="swe_mini")
        write(f"logs_dup/2026-01-0{day + 1}_swe.eval", logs.inspect_zip(log))
    first, last = (os.path.join(str(tmp_path), "logs_dup", f"2026-01-0{day}_swe.eval") for day in (1, 3))
    said = f"two logs of 'openai/gpt-4o-mini' on 'swe_mini': {first} and {last}; leave one out"
    with pytest.raises(InputError, match=re.escape(said)):
        read(tmp_path / "logs_dup")
    # Given one by one, their names tell them apart.
    files = sorted((tmp_path / "logs_dup").iterdir())
    assert read(*files).systems == tuple(file.stem for file in files)
    with pytest.raises(InputError, match=re.escape(said)):
        read(tmp_path / "logs_dup", f"other={files[1]}")
    for day in (1, 2):
        write(f"x/samples_arc_2026-01-0{day}T00-00-00.1.jsonl", logs.lm_eval(A))
    other = write("y/samples_arc_2026-01-01T00-00-00.1.jsonl", logs.lm_eval(B))
    with pytest.raises(InputError, match=r"two logs of 'x' on 'arc': .*01T00.*jsonl and .*02T00.*jsonl; leave one out"):
        read(tmp_path / "x", other.parent)


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
    assert "1 of 4 simulations have no reward" in " ".join(read(a, lacking, missing="drop").notes)
    with pytest.raises(InputError, match="e.json: holds no scores of single instances"):
        read(a, write("e.json", logs.tau2([])))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (logs.promptfoo(B, provider="q", vars={"word": "other"}), "has another variables or assertions than of 'p'"),
        (logs.promptfoo(B, provider="q", success="yes"), "field 'success': expected a number, got the text 'yes'"),
        (logs.promptfoo(B, provider={}), "no field 'label'|no field 'id'|expected"),
        (logs.promptfoo(B, testIdx=None), "field 'testIdx': expected a number, got null"),
        ('{"results": {"version": 2, "table": {}}}', "field 'results': no field 'results'; "),
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


@pytest.mark.parametrize(
    ("name", "expected"), [("lm-eval", {"x", "y"}), ("helm", {"x", "y"}), ("eee", {"org/a", "org/b"})]
)
def test_folders_stand_for_the_file_in_them(write, tmp_path, name, expected):
    file, make = logs.TEXTS[name]
    write(f"x/{file}", make(A))
    write(f"y/{file}", make(B, model="org/b") if name == "eee" else make(B))
    assert set(read(tmp_path / "x", tmp_path / "y").systems) == expected
    assert set(read(f"P={tmp_path / 'x'}", tmp_path / "y", reader=name).systems) == {"P", max(expected)}
    other = file.replace("_arc_", "_gsm8k_") if name == "lm-eval" else f"more_{file}"
    write(f"y/{other}", make(B))
    if name == "lm-eval":
        with pytest.raises(
            InputError, match="task .gsm8k' has no results of 'x'; missing=.drop. leaves such tasks out"
        ):
            read(tmp_path / "x", tmp_path / "y")
        (tmp_path / "y" / other).unlink()
    elif name != "helm":
        with pytest.raises(InputError, match=rf"y: expected one file .* got 2 files .*{other[:30]}"):
            read(tmp_path / "x", tmp_path / "y")
    (tmp_path / "z").mkdir()
    with pytest.raises(InputError, match=r"z: expected one file .* got none"):
        read(tmp_path / "x", tmp_path / "z")


def test_scores_by_name_are_their_means_and_can_be_saved(write, tmp_path):
    """Also those that are named like a metric."""
    paths = [
        write(f"{k}.jsonl", logs.lm_eval(v, metric="f1", metrics=["f1", "em"], em=1)) for k, v in (("a", A), ("b", B))
    ]
    with pytest.raises(
        InputError, match=r"a.jsonl: metric 'mean' needs value: which of 'f1', 'em'.* metric=.NAME. for its mean"
    ):
        read(*paths)
    evaluation = read(*paths, metric="f1")
    assert (evaluation.metric.name, numbers(evaluation)) == ("f1", {"a": A, "b": B})
    evaluation.save(tmp_path / "saved.npz")
    saved = read(tmp_path / "saved.npz")
    assert saved.metric.name == "f1"
    np.testing.assert_array_equal(saved.metric.score(saved.stats.sum(axis=1)), [0.75, 0.25])
    with pytest.raises(InputError, match="no score or metric 'e'; did you mean 'em'"):
        read(*paths, metric="e")
    with pytest.raises(InputError, match="b.jsonl: holds the numbers 'acc', but .*a.jsonl holds 'f1'"):
        read(write("a.jsonl", logs.lm_eval(A, metric="f1")), write("b.jsonl", logs.lm_eval(B)))


@pytest.mark.parametrize(
    ("about", "higher"),
    [({}, True), ({"arc": {}}, True), ({"arc": {"f1": False}}, True), ({"arc": {"acc": True}}, True)]
    + [({"arc": {"acc": False}}, False), ({"piqa": {"acc": False}}, True)],
)
def test_lower_is_better_only_where_the_results_of_lm_eval_say_so(write, about, higher):
    name, _ = logs.TEXTS["lm-eval"]
    paths = [write(f"{k}/{name}", logs.lm_eval(v)) for k, v in (("a", A), ("b", B))]
    for k, published in (("a", 0.75), ("b", 0.25)):
        results = {"results": {"arc": {"acc,none": published}}, "higher_is_better": about}
        write(f"{k}/results_{name[12:-6]}.json", json.dumps(results))
    assert read(*paths).metric.higher_is_better is higher


def test_lm_eval_results_beside_the_samples_are_a_check(write):
    name, _ = logs.TEXTS["lm-eval"]
    paths = [write(f"{k}/{name}", logs.lm_eval(v)) for k, v in (("a", A), ("b", B))]
    for k, published in (("a", 0.75), ("b", 0.5)):
        results = {"results": {"arc": {"acc,none": published}}, "higher_is_better": {"arc": {"acc": False}}}
        write(f"{k}/results_{name[12:-6]}.json", json.dumps(results))
        assert read(*paths).metric.higher_is_better is False
    (note,) = read(*paths).notes
    assert note.endswith(f"b/{name}: the mean of acc is 0.25, but 0.5 in {paths[1].parent}/results_{name[12:-6]}.json")
    write(f"b/results_{name[12:-6]}.json", "{")
    assert "not checked against the published results: " in read(*paths).notes[0]


DATES = {"x": "2026-01-01T00-00-00.1", "y": "2026-01-02T00-00-00.1"}


def lm_eval_folders(write, tasks):
    """What lm-eval writes for two models: {model: files in the order of their names}."""
    return {
        model: [
            write(f"{model}/results_{date}.json", json.dumps({"results": {}, "n-samples": {}}, indent=1)),
            *(write(f"{model}/samples_{task}_{date}.jsonl", logs.lm_eval(own)) for task in tasks),
        ]
        for (model, date), own in zip(DATES.items(), (A, B), strict=True)
    }


@pytest.mark.parametrize("tasks", [["arc"], ["arc", "hellaswag"]])
def test_lm_eval_folders_with_their_results(write, tasks):
    """Several tasks of a folder are those of one system."""
    folders = lm_eval_folders(write, tasks)
    (expected,) = {
        str(each.systems) + str(numbers(each)) for each in read_data([own[1] for own in folders.values()], tasks=True)
    }
    found = read_data([os.path.dirname(own[0]) for own in folders.values()], tasks=True)
    assert str(found[-1].systems) + str(numbers(found[-1])) == expected
    assert len(found) == (1 if len(tasks) == 1 else 3)  # and the suite


def test_lm_eval_results_and_samples_given_together_are_refused(write):
    """As a pattern for all files of folders gives them."""
    folders = lm_eval_folders(write, ["arc", "hellaswag"])
    for files in ([own[0] for own in folders.values()], [file for own in folders.values() for file in own]):
        said = sigjax.doctor(*files).refusal
        assert "holds the means of lm-evaluation-harness, not the scores of instances; give its folder" in said
        with pytest.raises(InputError, match="if lm_eval ran with --log_samples"):
            read(*files)
    with pytest.raises(InputError, match="x/results.*json, line 1.*: not readable as JSON"):
        read(*folders["x"][::-1])
    table = write("results_2026-01-03T00-00-00.1.json", '[{"id": 1, "A": 1, "B": 0}, {"id": 2, "A": 1, "B": 0}]')
    assert read(table).systems == ("A", "B")


def test_lm_eval_samples_of_different_tasks_are_never_compared_silently(write):
    folders = lm_eval_folders(write, ["arc", "hellaswag"])
    mixed = [folders["x"][1], folders["y"][2]]
    assert "the systems differ in the task: 'arc', 'hellaswag'" in read(*mixed).notes
    mixed[1].write_text(logs.lm_eval(B).replace('"h', '"other'))
    with pytest.raises(InputError, match="has another document .doc_hash, or doc. than of"):
        read(*folders["x"][1:], *mixed[1:])
    for file, question in zip(mixed, "qr", strict=True):
        file.write_text(re.sub('"doc_hash": "[^"]*", ', "", logs.lm_eval(A)).replace('"q', f'"{question}'))
    with pytest.raises(InputError, match="has another document .doc_hash, or doc. than of"):
        read(*mixed)


@pytest.mark.parametrize("value", [[1.5, 3], {"x": 1}, "text"])
def test_parts_of_corpus_metrics_are_refused_when_they_are_asked_for(write, value):
    both = {"metrics": ["acc", "ppl"], "ppl": value}
    paths = [write(f"{k}.jsonl", logs.lm_eval(v, **both)) for k, v in (("a", A), ("b", B))]
    assert numbers(read(*paths)) == {"a": A, "b": B}
    with pytest.raises(InputError, match=r"a.jsonl, line 1, field 'ppl': holds parts of a metric of the whole corpus"):
        read(*paths, metric="ppl")
    with pytest.raises(InputError, match=r"a.jsonl, line 1, field 'acc': holds parts"):
        read(write("a.jsonl", logs.lm_eval([value])), paths[1])


@pytest.mark.parametrize("zipped", [False, True])
def test_inspect_values(write, zipped):
    """By the rules of Inspect's value_to_float: letters, words, truth, numerals."""
    found = ["C", "I", "P", "N", True, False, 0.25, 3, "0.5", "yes", "No", "true", "i", " c "]
    expected = [1, 0, 0.5, 0, 1, 0, 0.25, 3, 0.5, 1, 0, 1, 0, 1]
    texts = [logs.inspect(found), logs.inspect(["C"] * len(found), model="lab/b")]
    paths = [
        write(f"{k}.eval", logs.inspect_zip(text)) if zipped else write(f"{k}.json", text)
        for k, text in zip("ab", texts, strict=True)
    ]
    assert numbers(read(*paths)) == {"lab/a": expected, "lab/b": [1] * len(found)}
    assert numbers(read(*paths, cluster="topic"))["lab/a"] == expected
    assert read(*paths, cluster="topic").clusters[:3] == ("t0", "t0", "t1")


@pytest.mark.parametrize("unscored", [None, float("nan"), "NaN"])
def test_inspect_unscored_samples_are_missing(write, unscored):
    a = write("a.json", logs.inspect(["C", unscored, "I", "C"]))
    b = write("b.json", logs.inspect(B, model="lab/b"))
    with pytest.raises(InputError, match=r"'lab/a' lacks 1 of 4 \(first: '1'\); use missing=.drop."):
        read(a, b)
    assert numbers(read(a, b, missing="drop")) == {"lab/a": [1, 0, 1], "lab/b": [0, 1, 0]}
    assert numbers(read(a, b, missing="zero")) == {"lab/a": [1, 0, 0, 1], "lab/b": B}


def test_inspect_parts_of_a_value(write):
    found = [{"tone": 3, "fact": "C", "why": "because"}, {"tone": 4, "fact": "I", "why": "so"}]
    paths = [write(f"{k}.json", logs.inspect(found, model=k, scorer="judge")) for k in "ab"]
    assert numbers(read(*paths, metric="judge/tone")) == {"a": [3, 4], "b": [3, 4]}
    assert numbers(read(*paths, metric="judge/fact")) == {"a": [1, 0], "b": [1, 0]}
    with pytest.raises(
        InputError, match=r"a.json, sample 1, score 'judge': expected a number, got 'because'; write C, I, P, N, yes"
    ):
        read(*paths, metric="judge/why")
    with pytest.raises(InputError, match="needs value: which of 'judge/tone', 'judge/fact'"):
        read(*paths)


def reduced(values, reducer):
    scores = [{"sample_id": i, "value": value} for i, value in enumerate(values)]
    return {"scorer": "choice", "reducer": reducer, "samples": scores}


def test_inspect_reductions_other_than_the_mean_are_taken(write):
    epochs = [["C", "I"], ["I", "I"]]

    def log(name, *reductions, **fields):
        return write(f"{name}.json", logs.inspect(epochs, model=name, reductions=reductions, **fields))

    mean = [log(k, reduced([0.5, 0], "mean")) for k in "ab"]
    assert read(*mean).runs == ("1", "2", "1", "2")
    top = [log(k, reduced([1.0, 0], "pass_at_2")) for k in "ab"]
    assert numbers(read(*top)) == {"a": [1, 0], "b": [1, 0]}
    assert read(*top).notes == ("took the values reduced over epochs by pass_at_2",)
    both = [log(k, reduced([1.0, 0], "max"), reduced([0.5, 0], "mean")) for k in "ab"]
    assert numbers(read(*both, metric="choice/mean")) == {"a": [0.5, 0], "b": [0.5, 0]}
    bare = [log(k, reduced([0.5, 0], None), samples=None) for k in "ab"]
    assert numbers(read(*bare)) == {"a": [0.5, 0], "b": [0.5, 0]}
    with pytest.raises(InputError, match="differ in the reduction over epochs: 'mean', 'max'; score them"):
        read(log("a"), log("b", reduced([1.0, 0], "max")))


def test_helm_splits_perturbations_and_trials(write):
    def pair(**fields):
        return [write(f"{k}/per_instance_stats.json", logs.helm(v, **fields)) for k, v in (("x", A), ("y", B))]

    perturbed = read(*pair(perturbations=(None, "typos")), cluster="instance")
    assert perturbed.ids[:2] == ("id0", "id0/typos")
    assert perturbed.clusters[:3] == ("id0", "id0", "id1")
    assert "--cluster instance" in perturbed.notes[0]
    assert read(*pair(trials=(0, 1))).runs == ("0", "1") * 4
    assert read(*pair(), strata="split").strata == ("test",) * 4
    mixed = pair()
    for path in mixed:
        entries = json.loads(path.read_text()) + json.loads(logs.helm([1], split="valid").replace("id0", "id9"))
        path.write_text(json.dumps(entries))
    assert read(*mixed, filter="test").ids == ("id0", "id1", "id2", "id3")
    assert read(*mixed, filter="valid", strata="split").ids == ("id9",)
    with pytest.raises(InputError, match="no split 'train'; splits: 'test', 'valid'"):
        read(*mixed, filter="train")
    with pytest.raises(InputError, match="holds results of the splits 'test', 'valid'; say which with filter=.NAME."):
        read(*mixed)
    assert read(*mixed, strata="split").strata == ("test",) * 4 + ("valid",)


def test_every_eval_has_models_evaluations_and_results(write):
    both = write("both.jsonl", logs.every_eval(A) + logs.every_eval(B, model="org/b"))
    assert numbers(read(both, reader="eee")) == {"org/a": A, "org/b": B}
    assert read(both, cluster="subject").clusters == ("t0", "t0", "t1", "t1")
    several = [
        write(f"{k}.jsonl", logs.every_eval(v, model=k) + logs.every_eval(A, model=k, evaluation="other"))
        for k, v in (("a", A), ("b", B))
    ]
    assert numbers(read(*several, metric="bench")) == {"a": A, "b": B}
    results = [
        write(
            f"{k}.jsonl", "".join(logs.every_eval(v, model=k, evaluation_result_id=r) for r in ("bench.em", "bench.f1"))
        )
        for k, v in (("a", A), ("b", B))
    ]
    assert numbers(read(*results, metric="bench.f1")) == {"a": A, "b": B}
    alone = [
        write(f"{k}.jsonl", logs.every_eval(v, model=k, evaluation_result_id="r")) for k, v in (("a", A), ("b", B))
    ]
    assert read(*alone, metric="bench").metric.name == "bench"
    unscored = write("c.jsonl", logs.every_eval(B, model="c").replace('"score": 0', '"score": null'))
    assert numbers(read(alone[0], unscored))["c"] == B
    with pytest.raises(InputError, match=r"d.jsonl: instance 's0' of 'd' has another content \(sample_hash\)"):
        read(alone[0], write("d.jsonl", logs.every_eval(B, model="d").replace('"h0"', '"g"')))
    with pytest.raises(InputError, match="line 5: evaluation 'bench' of sample 's0' is on another line too"):
        read(alone[0], write("e.jsonl", 2 * logs.every_eval(B, model="e")))


def test_swebench_boards(write):
    systems = [("a", A), ("b", B), ("none", None)]
    path = write("leaderboards.json", logs.swebench_boards({"bash-only": systems, "old": [("c", None)]}))
    assert numbers(read(path)) == {"a": A, "b": B}
    assert numbers(read(path, metric="cost"))["a"] == [0, 0.5, 1, 1.5]
    two = {"bash-only": systems, "lite": [("p", A), ("p", B)]}
    path = write("leaderboards.json", logs.swebench_boards(two))
    with pytest.raises(InputError, match="holds results of the boards 'bash-only', 'lite'"):
        read(path)
    assert numbers(read(path, filter="lite")) == {"2025_p_0": A, "2025_p_1": B}
    with pytest.raises(InputError, match="no board holds the results of single instances"):
        read(write("leaderboards.json", logs.swebench_boards({"old": [("c", None)]})))


@pytest.mark.parametrize("names", [("doc", "metric"), ("__doc__", "__metric__")])
def test_lighteval_details(write, tmp_path, names):
    pyarrow = pytest.importorskip("pyarrow")
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    paths = []
    for model, found in (("a", A), ("b", B)):
        docs = [{"id": str(i), "query": f"q{i}", "topic": f"t{i // 2}"} for i in range(len(found))]
        columns = [docs, [{"acc": value, "em": None} for value in found]]
        folder = tmp_path / "details" / model / "2026-01-21T03-44-18.458309"
        folder.mkdir(parents=True)
        paths.append(folder / "details_arc_2026-01-21T03-44-18.458309.parquet")
        write_table(pyarrow.table(dict(zip(names, columns, strict=True))), paths[-1])
    assert numbers(read(*paths)) == {"a": A, "b": B}
    assert numbers(read(*[path.parent for path in paths])).popitem()[1] == B
    assert read(*paths, cluster="topic").clusters == ("t0", "t0", "t1", "t1")
    write_table(pyarrow.table({"x": [1]}), paths[1])
    with pytest.raises(InputError, match="expected the columns doc and metric of lighteval's details, .*: 'x'"):
        read(*paths)
    paths[1].write_bytes(paths[0].read_bytes()[:-20])
    with pytest.raises(InputError, match="is Parquet, but cannot be read"):
        read(*paths)


def test_documents_of_lighteval_with_the_same_id_are_numbered(write):
    """Numbers of documents count from 1 if ids repeat, as in a task of several subsets."""
    pyarrow = pytest.importorskip("pyarrow")
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    paths = [write(f"{model}/details_arc_2026-01-21T03-44-18.parquet", "") for model in "ab"]
    for path, values in zip(paths, (A, B), strict=True):
        docs = [{"id": str(i % 2), "query": f"q{i}"} for i in range(len(values))]
        write_table(pyarrow.table({"__doc__": docs, "__metric__": [{"acc": value} for value in values]}), path)
    evaluation = read(*paths)
    assert evaluation.ids == ("1", "2", "3", "4")
    assert numbers(evaluation) == {"a": A, "b": B}


LISTED, OTHERS = [1, 0, 1, None], [0, 0, 1, "no log"]


def outcomes(evaluation):
    return {
        name: dict(zip(evaluation.ids, own[:, 0].tolist(), strict=True))
        for name, own in zip(evaluation.systems, evaluation.stats, strict=True)
    }


@pytest.fixture
def experiments(write):
    """Folders of two systems, as `evaluation/SPLIT` has them."""
    for name, values in (("a", LISTED), ("b", OTHERS)):
        write(f"{name}/results/results.json", swebench_results(values))
    return [f"{name}/results/results.json" for name in "ab"]


def test_what_is_not_listed_is_not_resolved(write, experiments):
    expected = {
        name: {id: float(own == 1) for id, own in zip(swebench_ids(4).split(), values, strict=True)}
        for name, values in (("a", LISTED), ("b", OTHERS))
    }
    evaluation = read(write("all.txt", swebench_ids(4)), input=experiments, cluster="repository")
    assert outcomes(evaluation) == expected
    assert evaluation.clusters == ("org__repo0",) * 2 + ("org__repo1",) * 2
    assert "2 of 8 instances have no prediction or no log" in " ".join(evaluation.notes)
    assert evaluation.metric.name == "resolved"
    assert outcomes(read("all.txt", input=["a", "b"])) == expected
    predictions = [{"model_patch": "", "instance_id": id} for id in swebench_ids(4).split()]
    for content in (
        "\n".join(map(json.dumps, predictions)),
        json.dumps(predictions),
        json.dumps(swebench_ids(4).split()),
    ):
        assert outcomes(read(write("all", content), input=experiments)) == expected
    (pair,) = compare(read("all.txt", input=experiments, metric="accuracy"), device="numpy", interval="none")
    assert (pair.score_a, pair.score_b, pair.p_value) == (0.5, 0.25, 1)


def test_without_a_list_of_all_the_answer_to_type_is_said(write, experiments):
    with pytest.raises(InputError, match=re.escape('sigjax.read("ALL", input=["a/results/results.json", ...])')):
        read(*experiments)
    with pytest.raises(InputError, match="lists 'org__repo1-2', which .*all.txt does not have"):
        read(write("all.txt", swebench_ids(2)), input=experiments)
    with pytest.raises(InputError, match="entry 2: expected an id, or an object with instance_id, got the"):
        read(write("all.json", '["a__b-1", 3]'), input=experiments)
    assert not FORMATS["swebench-results"].confirmed(["all.txt"], [str(write("hyp.txt", "a__b-1\n"))])


def test_results_of_the_first_harness_need_a_list_of_all(write):
    for name, values in (("a", LISTED), ("b", OTHERS)):
        write(f"{name}.json", json.dumps(json.loads(swebench_results(values)) | {"generated": [], "applied": []}))
    with pytest.raises(InputError, match="lists the instances that are resolved, but not the others; give a list"):
        read("a.json", "b.json")
    write("all.txt", swebench_ids(4))
    assert list(outcomes(read("all.txt", input=["a.json", "b.json"]))["a"].values()) == [1, 0, 1, 0]


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


def test_lm_eval_documents_must_be_the_same(write):
    a, b = write("a.jsonl", logs.lm_eval(A)), write("b.jsonl", logs.lm_eval(B).replace('"h2"', '"other"'))
    with pytest.raises(InputError, match=r"b.jsonl: instance '2' of 'b' has another document .* than of 'a'"):
        read(a, b)


def test_attempts_of_terminal_bench_are_runs_and_those_without_an_outcome_failed(write):
    a = write("a.json", logs.terminal_bench([[1, None], [0, 1]]))
    b = write("b.json", logs.terminal_bench([[0, 0], [1, 0]]))
    evaluation = read(a, b)
    assert (evaluation.ids, evaluation.runs) == (("task0", "task0", "task1", "task1"), ("1", "2", "1", "2"))
    assert means(evaluation) == {"a": 0.5, "b": 0.25}
    note = "1 of 8 trials have no outcome (is_resolved null); they count as not resolved (a: 1)"
    assert note in evaluation.notes


@pytest.mark.parametrize("old", [False, True])
def test_evalplus_has_samples_and_two_scores(write, old):
    """Plus is passing both, base alone where there is no plus; as before version 0.2.2, and since."""
    base = [[1, 1], [1, 0], [0, 1]]
    plus = [[1, 0], [1, 1], [0, 0]]
    tasks = {}
    for i, (own, more) in enumerate(zip(base, plus, strict=True)):
        sets = {"base": own, "plus": more}
        tasks[f"H/{i}"] = [
            {"task_id": f"H/{i}", "base_status": "pass" if b else "fail", "plus_status": "pass" if p else "timeout"}
            for b, p in zip(own, more, strict=True)
        ]
        if old:
            tasks[f"H/{i}"] = {name: [["success" if x else "failed", []] for x in them] for name, them in sets.items()}
    content = json.dumps({"date": "x", "hash": "1", "eval": tasks})
    files = [write(f"{name}_eval_results.json", content) for name in "ab"]
    both = np.array(base) & np.array(plus)
    for metric, expected in (("base", base), ("plus", both), (None, both)):
        made = read(*files, metric=metric)
        assert made.stats[0, :, 0].tolist() == np.ravel(expected).tolist()
        assert made.metric.name == (metric or "plus")
        assert made.runs == ("1", "2") * 3
    if old:
        return
    alone = [write(f"{name}.json", content.replace("plus_status", "other")) for name in "ab"]
    assert read(*alone).stats[0, :, 0].tolist() == np.ravel(base).tolist()
    with pytest.raises(InputError, match="'H/0', sample 1, field 'base_status': expected one of pass, success, fail"):
        read(files[0], write("c.json", content.replace('"pass"', '"passed"')))


def test_runs_of_several_files_are_numbered_by_file_and_trial(write):
    """Files of a system are runs, each with its trials, from 1 on."""
    values = {"a/1": [[1, 0], [0, 1]], "a/2": [[1, 1], [0, 0]], "b/1": [[0, 0], [1, 1]], "b/2": [[1, 0], [1, 0]]}
    for name, own in values.items():
        write(f"results/{name}/results.json", logs.terminal_bench(own))
    folders = [write(f"results/{name}/note", "").parent for name in "ab"]
    evaluation = read(*folders)
    assert sorted(zip(evaluation.ids, evaluation.runs, strict=True)) == [
        (f"task{task}", f"{file}.{trial}") for task in range(2) for file in (1, 2) for trial in (1, 2)
    ]
    for name in values:  # a file with one result of each task has one trial
        write(f"results/{name}/results.json", logs.terminal_bench([1, 0]))
    assert sorted({*read(*folders).runs}) == ["1.1", "2.1"]


def test_systems_with_different_numbers_of_trials_have_the_mean_of_each_task(write):
    a, b = [[1, 0], [0, 1], [1, 1]], [[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 1, 0]]
    for name, trials in (("a", a), ("b", b)):
        write(f"results/{name}/run1/results.json", logs.terminal_bench(trials))
    evaluation = read(*(write(f"results/{name}/note", "").parent for name in "ab"))
    assert evaluation.runs is None
    found = dict(zip(evaluation.ids, evaluation.stats[:, :, 0].T.tolist(), strict=True))
    assert found == {f"task{i}": [np.mean(a[i]), np.mean(b[i])] for i in range(3)}
    assert any("different runs (epochs, trials): took the mean of each instance" in note for note in evaluation.notes)


def test_results_after_a_list_of_ids_need_an_option(write):
    """The format has no metrics that a command could name."""
    write("ids.txt", "\n".join(swebench_ids(5).split()))
    files = [write(name, swebench_results([1, 0, 1, 1, 0])) for name in ("a.json", "b.json")]
    message = (
        r"are these gold files first \(results.json of SWE-bench.*\)\? write sigjax.read\(\"ids.txt\", input=\[.*\]\)"
    )
    with pytest.raises(InputError, match=message):
        read("ids.txt", *files)
