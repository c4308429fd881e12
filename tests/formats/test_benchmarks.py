"""Logs of benchmarks, each against a count of its own; and files of one run in training, which are refused."""

import json
import subprocess
import sys
from math import comb

import logs
import mutations
import numpy as np
import pytest
from mutations import values as numbers

import sigjax
from sigjax import InputError, compare, read
from sigjax.formats.declarations import CURVES, HARNESSES, LOGS_BEGIN, all_formats, logs_hold
from sigjax.formats.reading import read_data

pytestmark = pytest.mark.usefixtures("here")

MAKE = {name: each.make for name, each in logs.SAMPLES.items()}


def means(evaluation):
    return {name: float(np.nanmean(own[:, 0])) for name, own in zip(evaluation.systems, evaluation.stats, strict=True)}


@pytest.mark.parametrize("name", HARNESSES)
def test_the_file_of_a_harness_is_whole(name):
    format, about = all_formats()[name], logs.SAMPLES[name]
    content = about.make([1, 0, 1, 1])
    head = content if isinstance(content, bytes) else content.encode()
    assert format.name == name
    assert logs_hold(name)[0]
    for other in (content, *(make([1, 0, 1, 1], **about.other) for make in about.more)):
        file = "log.eval" if other[:2] == b"PK" else about.file
        assert name in all_formats((file, other if isinstance(other, bytes) else other.encode()))
    assert all(each.startswith(LOGS_BEGIN) for each in format.begins)
    assert [each.name for each in all_formats().values() if each.fits(about.file.lower(), head)][0] == name
    fitting = [each for each in HARNESSES if all_formats()[each].fits(about.file.lower(), head)]
    assert fitting == [name]  # whatever their order
    if format.folder and "/" not in format.folder:
        assert "*" in format.folder or about.file in format.folder


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('[{"id": "x", "A": 1, "B": 0}, {"id": "y", "A": 1, "B": 1}]', set()),
        (None, {"bigcodebench", "evalplus", "inspect"}),
    ],
)
def test_the_file_of_a_harness_is_imported_where_a_file_may_be_its_log(write, content, expected):
    path = write("a.json", content or MAKE["bigcodebench"]([1, 0]))
    write("b.json", MAKE["bigcodebench"]([0, 0]))
    given = [str(path)] if content else [str(path), "b.json"]
    code = "import sys, sigjax; sigjax.read(*sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *given], check=True, capture_output=True, text=True)
    found = {name.removeprefix("sigjax.formats.harness.") for name in done.stdout.split() if ".harness." in name}
    assert found == expected


def test_bigcodebench_counts_statuses_and_has_samples(write):
    a, b = (write(f"{k}_eval_results.json", MAKE["bigcodebench"](v)) for k, v in (("a", [1, 1, 0]), ("b", [0, 1, 0])))
    assert means(read(a, b)) == {"a_eval_results": 2 / 3, "b_eval_results": 1 / 3}
    several = write("c.json", MAKE["bigcodebench"]([[1, 0, 0], [1, 1, 0], [0, 0, 0]]))
    both = write("d.json", MAKE["bigcodebench"]([[0, 0, 0]] * 3))
    expected = np.mean([1 - comb(3 - c, 2) / comb(3, 2) for c in (1, 2, 0)])
    assert compare(read(several, both, metric="pass@2")).systems[0].score == pytest.approx(expected)
    late = write("e.json", MAKE["bigcodebench"]([1, 1, 0], status="timeout"))
    assert means(read(a, late))["e"] == 0
    with pytest.raises(InputError, match="field 'status': expected one of pass, fail, timeout, got 'maybe'"):
        read(a, write("f.json", MAKE["bigcodebench"]([1, 1, 0], status="maybe")), reader="bigcodebench")


def failures(share, total, first=0):
    """A score file of which so many entries are correct, the last ones."""
    wrong = round(total * (1 - share))
    lines = [{"accuracy": share, "correct_count": total - wrong, "total_count": total}]
    lines += [{"id": first + i, "model_name": "m", "valid": False, "error_type": "x"} for i in range(wrong)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_files_of_failures_give_the_accuracies_that_they_say(write):
    a, b = write("model_a.json", failures(0.15, 20)), write("model_b.json", failures(0.9, 20, first=3))
    evaluation = read(a, b)
    assert (means(evaluation), evaluation.num_instances) == ({"model_a": 0.15, "model_b": 0.9}, 20)
    # 15 instances on which only model_a fails: all of the 2 ** 15 signs but two are less extreme.
    assert compare(evaluation, device="numpy")["model_a", "model_b"].p_value == 2 / 2**15
    assert "files list failures only: 3 of 20 instances are in none, and passed by all" in evaluation.notes
    perfect = write("perfect.json", failures(1, 20))
    assert means(read(perfect, a)) == {"perfect": 1, "model_a": 0.15}
    twice = write("twice.json", failures(0.9, 20) + failures(0.9, 20).splitlines()[1] + "\n")  # as its checker may
    assert means(read(twice, a))["twice"] == 0.9


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (failures(0.9, 18), "b.json: is of 18 instances, but .*a.json of 20; .* give those of the same test set"),
        (failures(0.9, 20).rpartition("{")[0], "line 1: 18 of 20 are correct, but 1 failures are listed; expected 2"),
        (failures(0.9, 20).replace("false", "true", 1), "line 2, field 'valid': expected false"),
        (failures(0.5, 20, first=100), "is of 20 instances, but all files together list 27"),
        (failures(0.9, 20).replace('"total_count": 20', '"total_count": 1e400'), "finite|2.*53"),
    ],
)
def test_files_of_failures_that_do_not_belong_together_are_refused(write, content, message):
    a, b = write("a.json", failures(0.15, 20)), write("b.json", content)
    with pytest.raises(InputError, match=message):
        read(a, b)


def test_categories_of_bfcl_are_tasks(write, tmp_path):
    for model, shares in {"x": (0.5, 0.75), "y": (0.25, 0.5)}.items():
        for group, category, share in zip(
            ("non_live", "agentic/memory/kv"), ("simple", "memory_kv"), shares, strict=True
        ):
            write(f"score/{model}/{group}/BFCL_v4_{category}_score.json", failures(share, 8))
    report = compare(read_data(tmp_path / "score", metrics=(), tasks=True), device="numpy")
    scores = {(each.metric, each.name): each.score for each in report.systems}
    assert scores["simple: valid", "x"] == 0.5
    assert scores["memory_kv: valid", "y"] == 0.5


def test_nnunet_has_classes_and_their_mean(write):
    a, b = (
        write(f"{k}/summary.json", MAKE["nnunet"](v, folder=f"/{k}")) for k, v in (("a", [1, 0.5]), ("b", [0.5, 0.5]))
    )
    assert read(a, b).ids == ("case_0.nii.gz", "case_1.nii.gz")
    assert numbers(read(a, b)) == {"a": [0.75, 0.375], "b": [0.375, 0.375]}
    assert numbers(read(a, b, metric="Dice/2")) == {"a": [0.5, 0.25], "b": [0.25, 0.25]}
    assert read(a, b, metric="FP/1").metric.higher_is_better is False
    absent = write("c/summary.json", MAKE["nnunet"]([None, 0.5]))  # NaN: neither segmentation has the class
    assert numbers(read(a, absent))["c"] == [0, 0.375]
    with pytest.raises(InputError, match="'c' lacks 1 of 2"):
        read(a, absent, metric="Dice/1")
    means_of = {"foreground_mean": {"Dice": 0.9}}
    noted = write("d/summary.json", MAKE["nnunet"]([1, 0.5], **means_of))
    assert any("the mean of Dice over cases is 0.5625; that of classes is 0.9" in note for note in read(a, noted).notes)


def test_braintrust_joins_by_input(write):
    make = MAKE["braintrust"]
    a, b = write("a.jsonl", make([1, 0.5])), write("b.jsonl", make([0, 0.25]).replace('"e', '"other'))
    assert numbers(read(a, b)) == {"a": [1, 0.5], "b": [0, 0.25]}
    events = json.loads(make([1, 0.5], as_list=True, is_root=True, span_parents=None))
    part = events[0] | {"id": "part", "is_root": False, "span_parents": ["e0"], "scores": {"Factuality": 0}}
    assert numbers(read(write("c.json", json.dumps({"events": [*events, part]})), b))["c"] == [1, 0.5]
    trials = write("d.jsonl", make([[1, 0], [0.5, 1]]))
    assert means(read(trials, write("e.jsonl", make([[0, 0], [1, 1]])))) == {"d": 0.625, "e": 0.5}
    unscored = write("f.jsonl", make([1, 0.5]).replace('{"Factuality": 1}', "null"))
    with pytest.raises(InputError, match="'f' lacks 1 of 2"):
        read(a, unscored)
    assert any("1 of 4 events have no score" in note for note in read(a, unscored, missing="drop").notes)


def test_turns_of_mt_bench_are_resampled_with_their_question(write):
    make = MAKE["mt-bench"]
    both = make([[8, 6], [10, 5.5], [9, -1]]) + make([[7, 7], [9, 6], [8, 3]], model="b")
    with pytest.raises(InputError, match="'a' lacks 1 of 6"):
        read(write("gpt-4_single.jsonl", both))
    evaluation = read("gpt-4_single.jsonl", missing="drop")
    # The mean of all ratings that could be read, as show_result.py has it, where both models have them.
    assert means(evaluation) == pytest.approx({"a": (8 + 6 + 10 + 5.5 + 9) / 5, "b": (7 + 7 + 9 + 6 + 8) / 5})
    assert len(set(evaluation.ids or ())) == 3
    assert means(read("gpt-4_single.jsonl", filter="1")) == {"a": 9, "b": 8}
    with pytest.raises(InputError, match="differ in the judge: 'gpt-4', 'other'; compare models by the ratings"):
        read(write("one.jsonl", make([8])), write("two.jsonl", make([7], model="b", judge="other")))


def test_choices_of_mt_bench_are_battles(write):
    lines = [
        {
            "question_id": q,
            "model_1": "x",
            "model_2": "y",
            "g1_winner": one,
            "g2_winner": two,
            "judge": ["g", "p"],
            "turn": 1,
        }
        for q, (one, two) in enumerate(
            [("model_1", "model_1"), ("model_1", "model_2"), ("tie", "tie"), ("model_2",) * 2]
        )
    ]
    path = write("gpt-4_pair.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    # A win, a judgment that changes with the order, a tie and a loss.
    assert numbers(read(path)) == {"x": [1, 0.5, 0.5, 0], "y": [0, 0.5, 0.5, 1]}
    assert sigjax.doctor(path).command == f"sigjax compare {path} -m win_rate"
    assert means(read(path, metric="win_rate")) == {"x": 0.5, "y": 0.5}
    assert "x" in str(sigjax.studies.battles(path))
    path.write_text(path.read_text() + json.dumps(lines[0] | {"g1_winner": "error"}) + "\n")
    with pytest.raises(InputError, match="line 5.*has no winner; use .*missing"):
        read(path)
    assert read(path, missing="drop").num_instances == 4


def test_segments_of_comet_score_are_joined_by_number(write):
    text = mutations.comet_text
    a, b = write("a.txt", "Seed set to 12\n" + text("out/a.txt", [1, 0.5, 0])), write("b.txt", text("b", [0, 0.5, 1]))
    assert numbers(read(a, b)) == {"a": [1, 0.5, 0], "b": [0, 0.5, 1]}
    lines = text("b", [0, 0.5, 1]).splitlines(keepends=True)
    assert numbers(read(a, write("c.txt", "".join([*lines[2::-1], lines[3]]))))["b"] == [0, 0.5, 1]
    cut = write("d.txt", "".join([lines[0], *lines[2:]]).replace("b\t", "d\t"))
    with pytest.raises(InputError, match="'d' lacks 1 of 3"):
        read(a, cut)
    short = write("f.txt", text("f", [0, 0.5, 1]).replace("f\tSegment 2\tscore: 1.0000\n", ""))
    said = read(short, write("g.txt", text("g", [0, 1]))).notes
    assert any("the mean of the segments is 0.2500, but 0.5000 is printed; is it whole?" in note for note in said)
    with pytest.raises(InputError, match="d.txt, line 1: expected a number, got 'x'"):
        read(a, write("d.txt", "b\tSegment 0\tscore: x\n"))


@pytest.fixture
def suites(write):
    """Two models on two tasks, of which one has sections: a folder for each model."""
    rng, folders = np.random.default_rng(1), []
    for model in "ab":
        for task, doc in (("gsm8k", lambda i: {"section": f"s{i // 5}"}), ("arc", lambda i: {"topic": f"t{i // 4}"})):
            lines = logs.lm_eval(rng.integers(0, 2, 20).tolist(), metric="em").splitlines()
            made = [json.dumps(json.loads(line) | {"doc": doc(i)}) + "\n" for i, line in enumerate(lines)]
            path = write(f"{model}/samples_{task}_2026-01-01T00-00-00.1.jsonl", "".join(made))
        folders.append(path.parent)
    return folders


@pytest.mark.parametrize("option", ["cluster", "strata"])
def test_a_field_of_one_task_is_named_with_it(suites, option):
    def labels(said):
        return [
            getattr(each, {"cluster": "clusters"}.get(option, option))
            for each in read_data(suites, {option: said}, metrics=(), tasks=True)
        ]

    sections, topics = tuple(f"s{i // 5}" for i in range(20)), tuple(f"t{i // 4}" for i in range(20))
    suite, *tasks = labels("gsm8k=section")
    assert sorted(tasks, key=str) == sorted([sections, None], key=str)
    assert {f"gsm8k: {name}" for name in sections} < {*suite}
    assert {*labels("gsm8k=section,arc=topic")[1:]} == {sections, topics}
    with pytest.raises(InputError, match=rf"{option}: no task 'gsm'; did you mean 'gsm8k'"):
        labels("gsm=section")
    with pytest.raises(
        InputError,
        match=rf"no field 'section' in 'arc'; {option}='gsm8k=section' is for that task alone; fields of .*topic",
    ):
        labels("section")


def test_clusters_of_one_task_are_those_of_the_task_alone(suites):
    report = compare(read_data(suites, {"cluster": "gsm8k=section"}, metrics=(), tasks=True))
    (alone,) = [each for each in report if each.metric == "gsm8k: em"]
    files = [next(folder.glob("samples_gsm8k*")) for folder in suites]
    (expected,) = compare(read(*files, metric="em", cluster="section"))
    assert (alone.delta, alone.p_value, alone.interval) == (expected.delta, expected.p_value, expected.interval)
    assert compare(read(*files, metric="em", cluster="gsm8k=section"))[0].p_value == expected.p_value  # one task


EVALUATIONS = mutations.arrays(
    timesteps=np.array([100, 200]), results=np.array([[1.0, 2.0], [3.0, 5.0]]), ep_lengths=np.array([[9, 9], [9, 9]])
)
CURVE_FILES = {
    "events.out.tfevents.1700000000.host.1.0": (b"\x18\0\0\0", "event file of TensorBoard"),
    "run_A.csv": ("Wall time,Step,Value\n1700000055.7,0,10.5\n1700000062.8,1000,11.25\n", r"last Value \(11.25\)"),
    "run.json": ("[[1700000055.7, 0, 10.5], [1700000062.8, 1000, 11.25]]", "a scalar of TensorBoard"),
    "chart.csv": (
        '"Step","one - loss","one - loss__MIN","one - loss__MAX"\n"1","2.5","2.5","2.5"\n', "a chart of Weights"
    ),
    "history.csv": (",_step,loss,_runtime,_timestamp\n0,0,1.5,2,17\n1,1,1.25,4,18\n", "history of a run of Weights"),
    "0.monitor.csv": ('#{"t_start": 1.5, "env_id": "X-v1"}\nr,l,t\n80.0,9,1.5\n60.0,9,2.5\n', r"mean r \(70\)"),
    "evaluations.npz": (EVALUATIONS, r"2 times evaluated by 2 episodes; .*mean of the last evaluation \(4\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CURVE_FILES)
def test_a_file_of_one_run_is_refused_with_its_number(write, name):
    content, message = CURVE_FILES[name]
    path = write(name, content)
    for paths in ([path], [path, write(f"other/{name}", content)]):
        with pytest.raises(InputError, match=f"(?=.*{message}).*one number per run.*sigjax unpaired") as caught:
            read(*paths)
        assert len(str(caught.value)) < 500


def test_every_kind_of_curve_is_tried():
    heads = {
        name: content if isinstance(content, bytes) else content.encode() for name, (content, _) in CURVE_FILES.items()
    }
    found = {kind for kind, looks in CURVES.items() for name, head in heads.items() if looks(name, head)}
    assert found == {*CURVES}


def test_tables_of_runs_are_no_curves(write):
    """What the refusal proposes; and a table of runs that Weights & Biases gives, one row each."""
    write("runs.csv", "system,run,score\nA,a1,3.5\nA,a2,4.5\nB,b1,1.5\nB,b2,1.25\n")
    (pair,) = sigjax.unpaired("runs.csv")
    assert (pair.a, pair.b, pair.delta) == ("A", "B", 4 - 1.375)
    runs = b"Name,_step,_runtime,_timestamp,acc\nx,9,2,17,0.5\ny,9,3,18,0.75\n"
    assert [kind for kind, looks in CURVES.items() if looks("wandb.csv", runs)] == []


def test_a_folder_of_logs_of_inspect_as_json(write, tmp_path):
    for model, values in {"lab/a": [1, 0, 1], "lab/b": [0, 0, 1]}.items():
        write(f"logs/2026-01-01_{model[4:]}.json", logs.inspect(values, model=model))
    write("logs/logs.json", json.dumps({"log.eval": {"status": "success"}}))  # the listing beside them
    assert numbers(read(tmp_path / "logs")) == {"lab/a": [1, 0, 1], "lab/b": [0, 0, 1]}
    write("logs/c.eval", logs.inspect_zip(logs.inspect([1, 1, 1], model="lab/c")))
    assert read(tmp_path / "logs").systems == ("lab/a", "lab/b", "lab/c")


def test_records_have_names_for_their_files(write):
    for name, values in {"x": (1, 0, 1), "y": (0, 0, 1)}.items():
        write(f"{name}.json", json.dumps({"results": [{"id": f"q{i}", "ok": value} for i, value in enumerate(values)]}))
    assert numbers(read("X=x.json", "Y=y.json", records="results")) == {"X": [1, 0, 1], "Y": [0, 0, 1]}


def test_simulations_of_tau2_that_failed_for_the_infrastructure_have_no_result(write, tmp_path):
    """In the folders of runs, as tau2 writes them; `results.json` there may as well be of another program."""
    runs = {"gpt": [[1, 0], [1, 1]], "claude": [[0, 0], [1, 0]]}
    for model, values in runs.items():
        write(f"simulations/{model}/results.json", logs.tau2(values, model=model, index=True))
    assert means(read(tmp_path / "simulations")) == {"gpt": 0.75, "claude": 0.25}
    failed = json.loads(logs.tau2(runs["claude"], model="claude"))
    failed["simulations"][0] |= {"termination_reason": "infrastructure_error"}
    write("simulations/claude/results.json", json.dumps(failed))
    with pytest.raises(InputError, match="'claude' lacks 1 of 4"):
        read(tmp_path / "simulations")
    write("simulations/claude/results.json", logs.terminal_bench([1, 0]))
    with pytest.raises(InputError, match="claude: expected one file results.json in this folder, got none"):
        read(tmp_path / "simulations" / "gpt", tmp_path / "simulations" / "claude")
