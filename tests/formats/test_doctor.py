"""`sigjax doctor`: it reads as `compare` does, its command runs as it is, and no file makes it fail."""

import json
import random
import re
import shlex
from importlib.util import find_spec

import logs
import mutations
import numpy as np
import pandas
import pytest
from cyclopts import App

from sigjax import Evaluation, InputError, compare, doctor, read
from sigjax.cli import _run
from sigjax.cli.options import Inputs, flags
from sigjax.formats import FORMATS
from sigjax.formats.doctor import Diagnosis, shell_command
from sigjax.metrics import TEXT_METRICS
from sigjax.readers.options import ReadOptions

WIDE = "id\tA\tB\nx\t1\t0\ny\t1\t1\nz\t{}\t1\n"
LONG = "system\tid\tdoc\ttp\tpredicted\tgold\n" + "".join(
    f"{name}\tq{i}\td{i // 2}\t{int(i < k)}\t1\t2\n" for name, k in (("A", 3), ("B", 2)) for i in range(4)
)
NEEDS = {
    "parquet": ["narwhals", "pyarrow"],
    "lighteval": ["pyarrow"],
    "excel": ["python_calamine", "openpyxl"],
    "trec-run": ["pytrec_eval"],
    "ranx-json": ["pytrec_eval"],
    "texts": ["sacrebleu", "rouge_score"],
}
GAMES = ("pong", "qbert", "boxing")
BY_ORDER = "none: instances are joined by their order"
FILES = {
    "wide.tsv": WIDE.format(1),
    "holes.tsv": WIDE.format(""),
    "twice.tsv": WIDE.format(1).replace("z", "y"),
    "long.tsv": LONG,
    "gold.txt": "pos\nneg\npos\nneg\n",
    "a.txt": "pos\npos\npos\nneg\n",
    "b.txt": "neg\npos\npos\nneg\n",
    "same.txt": "neg\npos\npos\nneg\n",
    "ref.txt": "The cat sat.\nA dog ran home.\n",
    "one.txt": "The cat sits.\nA dog ran.\n",
    "two words.txt": "A cat sat.\nDogs ran home.\n",
    "nohead.csv": "1,0\n0,1\n1,1\n",
    "cut.json": '{"a": [1,2\n',
    "empty.txt": "",
    "half.tsv": "id\tA\tB\nx\t1\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "noise.dat").write_bytes(bytes(range(128, 256)))
    (tmp_path / "inside").mkdir()
    return tmp_path


def diagnosis(capsys, *arguments):
    code = _run(["doctor", *arguments, "--format", "json"], debug=False)
    out, err = capsys.readouterr()
    assert err == ""
    return code, json.loads(out)


@pytest.mark.parametrize(
    ("given", "command", "expected"),
    [
        (["wide.tsv"], "wide.tsv -m accuracy", {"instances": 3, "ids": "the column 'id'", "format": "tsv"}),
        (["holes.tsv"], "holes.tsv --missing drop -m accuracy", {"instances": 2, "systems": ["A", "B"]}),
        (["long.tsv"], "long.tsv -m fscore", {"fields": {"doc": 2}, "metrics": ["fscore", "precision", "recall"]}),
        (["long.tsv", "--cluster", "doc"], "long.tsv --cluster doc -m fscore", {"instances": 4}),
        (["gold.txt", "-i", "a.txt", "b.txt"], "gold.txt -i a.txt b.txt -m accuracy", {"format": "labels"}),
        (["gold.txt", "-i", "a.txt", "b.txt", "-m", "kappa"], "gold.txt -i a.txt b.txt -m kappa", {}),
        (["gold.txt", "a.txt", "b.txt"], "gold.txt -i a.txt b.txt -m accuracy", {"gold": ["gold.txt"]}),
        (["gold.txt", "-i", "b.txt", "same.txt"], "gold.txt -i b.txt same.txt -m accuracy", {"alike": [["b", "same"]]}),
        (["ref.txt", "-i", "one.txt", "two words.txt"], "ref.txt -i one.txt 'two words.txt' -m bleu", {"instances": 2}),
        (["nohead.csv", "--reader", "paired-perm"], "nohead.csv --reader paired-perm -m accuracy", {"ids": BY_ORDER}),
    ],
)
def test_its_command_compares_the_files(capsys, folder, given, command, expected):
    code, said = diagnosis(capsys, *given)
    assert (code, said["refusal"], said["command"]) == (0, None, f"sigjax compare {command}")
    assert {name: said[name] for name in expected} == expected
    assert _run([*shlex.split(said["command"])[1:], "--device", "numpy", "-o", "out.json"], debug=False) == 0
    report = json.loads((folder / "out.json").read_text())
    assert sorted(system["name"] for system in report["systems"]) == said["systems"]
    assert {system["metric"] for system in report["systems"]} == {said["metrics"][0]}


def test_what_is_missing_is_what_compare_refuses(capsys, folder):
    _, said = diagnosis(capsys, "holes.tsv")
    assert _run(["compare", "holes.tsv"], debug=False) == 2
    assert capsys.readouterr().err == f"sigjax: error: {said['missing']}\n"
    assert said["notes"][1].startswith("warning: dropped 1 of 3 instances that some system lacks: ")


@pytest.mark.parametrize(
    "given",
    [
        "twice.tsv",
        "nohead.csv",
        "half.tsv",
        "empty.txt",
        "noise.dat",
        "cut.json",
        "gold.txt",
        "wide.tsv -i a.txt",
        "gold.txt -i wide.tsv a.txt",
        "wide.tsv -m acc",
        "gold.txt -i a.txt b.txt -m bleuu",
        "wide.tsv --reader conll",
        "wide.tsv --id-column none",
        "no.tsv",
        "inside",
        ". ..",
        "",
    ],
)
def test_what_compare_refuses_is_refused_alike(capsys, folder, given):
    code, said = diagnosis(capsys, *given.split())
    assert (code, said["command"]) == (2, None)
    assert _run(["compare", *given.split()], debug=False) == 2
    assert capsys.readouterr().err == f"sigjax: error: {said['refusal']}\n"


def agrees(evaluation, command, out):
    """What doctor prints runs as it is, and its report has the scores of the evaluation in Python."""
    assert command[:2] == ["sigjax", "compare"]
    fast = ["--device", "numpy", "--resamples", "99", "--test", "permutation", "--interval", "none"]
    assert _run([*command[1:], *fast, "-o", str(out)], debug=False) == 0
    scores = {row.name: row.score for row in compare(evaluation, resamples=99, interval="none").systems}
    systems = json.loads(out.read_text())["systems"]
    first = [each for each in systems if each["metric"] == systems[0]["metric"]]
    assert {each["name"]: each["score"] for each in first} == pytest.approx(scores)


@pytest.mark.parametrize("reader", FORMATS)
def test_no_file_of_any_format_makes_it_fail(tmp_path, reader):
    """Sound files are read as `read` reads them, with its usual metric; of damaged ones it is said what is wrong."""
    if not all(map(find_spec, NEEDS.get(reader, ()))):
        pytest.skip("needs a library")
    chance = random.Random(reader)
    for sample in mutations.SAMPLES[reader]():
        files = {name: tmp_path / name for name in sample.files}
        gold = [path for name, path in files.items() if name not in sample.systems]
        systems = [files[name] for name in sample.systems]
        given = {name: value for name, value in sample.options.items() if name != "metric"}
        metric = sample.options.get("metric")
        for name, content in sample.files.items():
            files[name].write_bytes(content)
        said = doctor(*gold, input=systems, reader=reader, metric=metric, **given)
        try:
            sound = read(*gold, input=systems, reader=reader, **sample.options)
        except InputError as error:
            assert said.missing or said.refusal == str(error)  # noqa: PT017
        else:
            assert (said.refusal, said.format, said.instances) == (None, reader, sound.num_instances)
            usual = sound
            if metric is None:
                usual = read(*gold, input=systems, reader=reader, **sample.options, metric=said.metrics[0])
                assert np.array_equal(usual.stats, sound.stats)
            if len(sound.systems) > 1 and sound.num_instances > 1:
                agrees(usual, shlex.split(said.command or ""), tmp_path / "out.json")
        for path in (files[chance.choice(list(files))] for _ in range(4)):
            path.write_bytes(mutations.mutate(path.read_bytes(), chance))
            assert isinstance(doctor(*gold, input=systems, **given), Diagnosis)


def test_python_takes_what_compare_takes(tmp_path, capsys):
    numbers = {"A": [1, 1, 0, 1, 1, 0], "B": [0, 1, 0, 1, 0, 0]}
    frame = pandas.DataFrame({"id": list("uvwxyz"), "doc": list("aabbcc"), **numbers})
    table = tmp_path / "table.csv"
    frame.to_csv(table, index=False)
    of_files = doctor(table)
    assert _run(["doctor", str(table)], debug=True) == 0
    as_command = str(of_files).replace('cluster="doc"', "--cluster doc").replace("cluster, such", "--cluster, such")
    assert as_command.split() == capsys.readouterr().out.split()
    assert of_files.command == f"sigjax compare {table} -m accuracy"
    assert doctor([str(table)]) == of_files
    of_frame = doctor(frame)
    assert (of_frame.instances, of_frame.ids, of_frame.fields) == (6, "the column 'id'", {"doc": 3})
    assert of_frame.metrics == of_files.metrics
    assert of_frame.command == "sigjax.compare(sigjax.read(data, metric='accuracy'))"
    assert repr(of_frame) == str(of_frame) == f"{of_frame}"
    assert "Next:\nsigjax.compare(sigjax.read(data, metric=&#x27;accuracy&#x27;))" in of_frame._repr_html_()
    assert (
        doctor(frame, metric="mean", cluster="doc").command
        == "sigjax.compare(sigjax.read(data, metric='mean', cluster='doc'))"
    )
    of_dict = doctor(numbers)
    assert (of_dict.instances, of_dict.ids, of_dict.command) == (6, BY_ORDER, of_frame.command)
    evaluation = Evaluation.from_arrays(numbers, metric="accuracy")
    for data in (evaluation, [evaluation]):
        assert (doctor(data).metrics, doctor(data).command) == (("accuracy",), "sigjax.compare(data)")
    assert doctor(evaluation, metric="mean").refusal == (
        "evaluations are read already, by 'accuracy'; leave out metric"
    )
    frame.loc[2, "B"] = None
    holes = doctor(frame)
    assert holes.command == "sigjax.compare(sigjax.read(data, missing='drop', metric='accuracy'))"
    assert holes.missing.endswith(
        'use missing="drop" or missing="zero" (drop if they were not run, zero if a system failed on them)'
    )


def test_python_says_what_is_wrong_and_raises_nothing(tmp_path):
    files = {name: tmp_path / name for name in ("ref.txt", "a.txt", "b.txt")}
    for name, path in files.items():
        path.write_text(FILES[{"a.txt": "one.txt", "b.txt": "ref.txt"}.get(name, name)])
    refused = doctor(*files.values())
    assert refused.command is None or refused.command.startswith("sigjax compare")
    for data in (3, "nowhere.csv", {"A": ["x"], "B": ["y"]}, [1, 2], {}, [], pandas.DataFrame()):
        diagnosis = doctor(data)
        assert diagnosis.command is None
        assert "\n" not in diagnosis.refusal
    with pytest.raises(TypeError, match="did you mean 'metric'"):
        doctor(files["a.txt"], metrik="bleu")


def test_runs_are_no_instances():
    frame = pandas.DataFrame({"id": list("xxyyz"), "run": [1, 2, 1, 2, 1], "A": [1, 0, 1, 1, 0], "B": [0, 0, 1, 0, 1]})
    diagnosis = doctor(frame, runs="run")
    assert (diagnosis.instances, diagnosis.runs, diagnosis.fields) == (3, (1, 2), {})
    assert "instances  3 with 1 to 2 runs" in str(diagnosis)
    assert diagnosis.command == "sigjax.compare(sigjax.read(data, runs='run', metric='accuracy'))"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("id,system,x1,x2,y9\n1,A,1,2,3\n2,A,2,1,0\n1,B,3,2,1\n2,B,0,1,1\n", "which of 'x1', 'x2', 'y9'? say so"),
        ("model_a,model_b,wins,losses,ties\nx,y,4,3,1\ny,z,2,2,0\n", "count battles of two systems"),
    ],
)
def test_no_column_is_taken_for_the_score_where_none_is_meant(write, table, said):
    diagnosis = doctor(write("t.csv", table))
    assert said in diagnosis.refusal
    assert diagnosis.command is None
    with pytest.raises(InputError, match=re.escape(said)):
        read(write("t.csv", table))


def test_metrics_of_texts_are_not_of_numbers(write):
    """ROUGE is one number per instance, too; a long table may have a column of that name."""
    wide = write("wide.csv", "id,A,B\nx,1,0\ny,0,1\n")
    battles = write("battles.csv", "model_a,model_b,winner\nx,y,model_a\ny,z,model_b\n")
    for file in (wide, battles):
        for metric in ("rouge1", "rougeL(stem=true)"):
            with pytest.raises(InputError, match="is of texts, and this is a table of numbers"):
                read(file, metric=metric)
        assert not {"rouge1", "rougeL"} & {*doctor(file).metrics}
    long = write("long.csv", "system,id,rouge1\nA,x,0.5\nB,x,0.25\nA,y,0.5\nB,y,0.75\n")
    assert read(long, metric="rouge1").stats[..., 0].tolist() == [[0.5, 0.5], [0.25, 0.75]]


AGENTS = [
    (a, f"t{t}", f"d{t % 4}", k, (t * k + len(a)) % 2) for a in ("gpt", "claude") for t in range(12) for k in range(5)
]
RUNS = [(a, g, s, 0.5 + len(g) / 50 + (s * len(a) % 7) / 9) for a in ("dqn", "sarsa") for g in GAMES for s in range(5)]
FOLDS = [(a, f, 0.8 + (f * len(a) % 7) / 90) for a in ("svm", "forest") for f in range(10)]


@pytest.mark.parametrize(
    ("columns", "rows", "command", "others"),
    [
        (
            "model task_id domain trial success",
            AGENTS,
            "compare t.csv --runs trial -m accuracy",
            ["compare t.csv --runs trial --cluster domain -m accuracy"],
        ),
        (
            "agent game seed return",
            RUNS,
            "compare t.csv --runs seed -m mean",
            ["rl t.csv --runs seed --strata game", "compare t.csv --runs seed --strata game -m iqm"],
        ),
        ("method fold accuracy", FOLDS, "compare t.csv -m mean", ["classical t.csv --design folds"]),
    ],
    ids=["agents", "games", "folds"],
)
def test_what_it_asks_for_stands_in_a_command_and_runs_are_no_clusters(
    tmp_path, monkeypatch, capsys, columns, rows, command, others
):
    monkeypatch.chdir(tmp_path)
    pandas.DataFrame(rows, columns=columns.split()).to_csv("t.csv", index=False)
    said = doctor("t.csv")
    assert said.command == f"sigjax {command}"
    assert list(said.others.values()) == [f"sigjax {other}" for other in others]
    assert str(said).endswith(f"Next:\n{said.command}\n" + "\n".join(f"# {a}:\n{b}" for a, b in said.others.items()))
    assert not {"trial", "seed", "fold"} & {*said.fields}
    for words in (said.command, *said.others.values()):
        assert _run(shlex.split(words)[1:], debug=True) == 0
    capsys.readouterr()


def test_logs_with_filters_get_filter_and_metric_in_one_command(tmp_path, capsys):
    paths = []
    for name, values in {"a": [1, 0, 1, 1], "b": [0, 0, 1, 0]}.items():
        lines = logs.lm_eval(values, metric="em", filters=("strict", "flexible"), f1=0.5)
        paths.append(str(tmp_path / f"{name}.jsonl"))
        (tmp_path / f"{name}.jsonl").write_text(lines.replace('"metrics": ["em"]', '"metrics": ["em", "f1"]'))
    said = doctor(*paths)
    assert said.refusal is None
    assert said.command == shlex.join(["sigjax", "compare", *paths, "--filter", "strict", "-m", "em"])
    assert _run(shlex.split(said.command)[1:], debug=True) == 0
    capsys.readouterr()


def test_labels_of_people_in_some_rows_name_ppi(tmp_path, monkeypatch, capsys):
    """One other column of numbers is the judge's."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    frame = pandas.DataFrame({"system": ["A"] * 300 + ["B"] * 300, "id": [*range(300)] * 2, "note": "x"})
    frame["human"] = np.where(rng.random(600) < 0.1, rng.integers(0, 2, 600), np.nan)
    frame["judge_score"] = rng.random(600)
    frame.to_csv("t.csv", index=False)
    said = doctor("t.csv")
    assert (said.command, said.metrics[0]) == ("sigjax compare t.csv -m ppi", "ppi")
    assert _run(["compare", "t.csv", "-m", "ppi"], debug=True) == 0
    capsys.readouterr()
    named = read("t.csv", metric="ppi", counts={"human": "human", "judge": "judge_score"})
    found = read("t.csv", metric="ppi")
    assert np.array_equal(named.stats, found.stats)
    assert "ppi: judge is column 'judge_score', the only one of numbers that is left" in found.notes
    frame.assign(other=1.5).to_csv("t.csv", index=False)
    with pytest.raises(InputError, match="needs judge: which of"):
        read("t.csv", metric="ppi")


def test_successes_of_agents_are_no_rouge(tmp_path):
    """Nor is what needs more than right and wrong named for them; of several metrics the command has all."""
    for name, values in {"a": [[1, 1], [0, 1]], "b": [[0, 0], [1, 0]]}.items():
        (tmp_path / f"{name}.json").write_text(logs.terminal_bench(values))
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    said = doctor(*paths)
    assert not {*TEXT_METRICS, "variance", "median", "iqm", "optimality-gap", "win_rate"} & {*said.metrics}
    for metric in ("rouge1", "ROUGE2", "wer", "bleu"):
        with pytest.raises(InputError, match="is of texts, and these are scores"):
            read(*paths, metric=metric)
    assert (doctor(*paths, metric=["accuracy", "mean"]).command or "").endswith("-m accuracy mean")


def test_a_column_named_like_a_metric_is_its_score(write):
    """In a long table and in a log, also in capitals, and where another program has that name for a metric of ours."""
    rows = [f"{name},{i},{i / 4},{i},{int(i > k)}" for k, name in enumerate("AB", 1) for i in range(4)]
    table = write("t.csv", "\n".join(["system,id,f1_macro,bleu,correct", *rows]) + "\n")
    for metric, column in {"f1_macro": 0.25, "F1_MACRO": 0.25, "bleu": 1, "BLEU": 1}.items():
        found = read(table, metric=metric)
        assert found.stats[0, :, 0].tolist() == [column * i for i in range(4)]
        assert found.metric.name == metric.lower()
    a, b = (write(f"{name}.jsonl", logs.lm_eval([1, 0, 1, k], metric="f1")) for k, name in enumerate("ab"))
    assert [read(a, b, metric=metric).metric.name for metric in ("f1", "F1")] == ["f1", "f1"]
    with pytest.raises(InputError, match=r"no score or metric 'macro-f1'; did you mean 'macro-fscore'\?$"):
        read(a, b, metric="macro-f1")


NAMES = ["-a", "--b", "c d", "it's", "$e", "f=g", "h"]
TYPED = {
    **dict.fromkeys(("only", "systems", "ignore", "melt", "prediction"), [NAMES, ["-x"], ["plain", "other"]]),
    **dict.fromkeys(("cluster", "strata", "runs", "id_column", "gold", "where"), NAMES),
    **dict.fromkeys(("lower_is_better", "higher_is_better", "transpose"), [True, False]),
    "metric": [["mean"], ["f_beta(2)", "-m"]],
    "input": [["a.txt", "b c.txt"]],
    "decimal": [","],
}


@pytest.mark.parametrize("option", TYPED)
def test_a_command_means_the_options_that_it_is_made_of(option):
    """A value that is False, or that begins with a hyphen, was lost or was taken as a file or an option."""

    @flags(Inputs, files="Files.")
    def probe(files, inputs):
        found.append((files, inputs))

    for value in TYPED[option]:
        found = []
        words = shlex.split(shell_command(["compare", "-t.csv"], {option: value}))
        program = App(result_action="return_value")
        program.default(probe)
        program(words[2:], exit_on_error=False, print_error=False)
        ((paths, inputs),) = found
        assert [str(path) for path in paths] == ["-t.csv"]
        plain = list(map(str, getattr(inputs, option))) if isinstance(value, list) else getattr(inputs, option)
        assert plain == value
        others = {"lower_is_better", "higher_is_better", option}
        usual = Inputs()
        for name in {*ReadOptions.__dataclass_fields__} - others:
            assert getattr(inputs, name) == getattr(usual, name), name
