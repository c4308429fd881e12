"""Tables in other shapes, and as spreadsheets: each gives the evaluation of the same numbers in the usual shape."""

import itertools
import json
import shlex
import sys

import numpy as np
import pytest
from mutations import spreadsheet

import sigjax
from sigjax import InputError, doctor, read

pytestmark = pytest.mark.usefixtures("here")
TASKS, CASES = ["x"] * 30 + ["y"] * 30, [*range(30)] * 2
CHANCE = np.random.default_rng(30)
NUMBERS = {name: CHANCE.integers(0, 9, 60) / 8 for name in ("big", "small", "tiny")}
LENGTHS = CHANCE.integers(1, 99, 60)


def csv(columns):
    return "\n".join(",".join(map(str, row)) for row in [list(columns), *zip(*columns.values(), strict=True)]) + "\n"


def rows_of(name, task=None):
    return [i for i in range(60) if task in (None, TASKS[i])] if name else []


def same(evaluation, rows=range(60), systems=NUMBERS):
    """The numbers of the systems on these rows, whatever the order."""
    expected = sorted(zip(*(NUMBERS[name][list(rows)].tolist() for name in systems), strict=True))
    assert sorted(evaluation.systems) == sorted(systems)
    columns = [evaluation.stats[evaluation.systems.index(name), :, 0].tolist() for name in systems]
    assert sorted(zip(*columns, strict=True)) == expected


def three_doors(compared, files, **options):
    """The evaluation, which the command line, `doctor` and Python read alike."""
    evaluation = read(*files, **options)
    flags = []
    for name, value in options.items():
        flags += [
            f"--{name.replace('_', '-')}",
            *([] if value is True else [value] if isinstance(value, str) else value),
        ]
    report = compared(*files, *flags)
    scores = {row.name: row.score for row in sigjax.compare(evaluation, resamples=99).systems}
    assert {each["name"]: each["score"] for each in report["systems"]} == pytest.approx(scores)
    diagnosis = doctor(*files, **options)
    assert (diagnosis.refusal, sorted(diagnosis.systems)) == (None, sorted(evaluation.systems))
    assert diagnosis.command is not None
    printed = compared(*shlex.split(diagnosis.command)[2:])
    assert {each["name"]: each["score"] for each in printed["systems"]} == pytest.approx(scores)
    return evaluation


def test_ids_of_several_columns(write, compared):
    write("t.csv", csv({"task": TASKS, "case": CASES, **NUMBERS}))
    with pytest.raises(InputError, match="give id_column='task,case'|id_column.*task,case"):
        read("t.csv")
    same(evaluation := three_doors(compared, ["t.csv"], id_column="task,case"))
    assert evaluation.ids[31] == "y | 1"
    long = {"system": [n for n in NUMBERS for _ in TASKS], "task": TASKS * 3, "case": CASES * 3}
    write("long.csv", csv(long | {"score": [x for own in NUMBERS.values() for x in own]}))
    same(read("long.csv", id_column="task,case"))
    frame = pytest.importorskip("pandas").DataFrame({"task": TASKS, "case": CASES, **NUMBERS})
    same(sigjax.Evaluation.from_dataframe(frame, id_column="task, case"))
    with pytest.raises(InputError, match="id_column: no column 'kase'; did you mean 'case'"):
        read("t.csv", id_column="task,kase")


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("task == 'x'", lambda i: TASKS[i] == "x"),
        ("task != 'x' and length > 50", lambda i: TASKS[i] != "x" and LENGTHS[i] > 50),
        ("not (task in ['x', 'z'] or length <= 20.5)", lambda i: not (TASKS[i] in "xz" or LENGTHS[i] <= 20.5)),
        ("length >= 10 or `task` not in ('x',)", lambda i: LENGTHS[i] >= 10 or TASKS[i] != "x"),
        ("small == 0.5 or big == 0.5", lambda i: 0.5 in (NUMBERS["small"][i], NUMBERS["big"][i])),
    ],
)
def test_some_rows(write, compared, condition, met):
    write("t.csv", csv({"id": range(60), "task": TASKS, "length": LENGTHS, **NUMBERS}))
    rows = [i for i in range(60) if met(i)]
    evaluation = three_doors(compared, ["t.csv"], where=condition, ignore=["length", "task"])
    same(evaluation, rows)
    assert f"rows where {condition}: {len(rows)} of 60" in evaluation.notes


@pytest.mark.parametrize(
    "condition",
    [
        "__import__('os').system('x')",
        "task = 'x'",
        "task == big",
        "f(task)",
        "[x for x in task]",
        "1 == 1",
        "task > 'a'",
        "",
    ],
)
def test_conditions_are_not_executed(write, condition):
    write("t.csv", csv({"id": range(60), "task": TASKS, **NUMBERS}))
    with pytest.raises(
        InputError, match="t.csv: where: .* is not understood( near .*)?; expected comparisons of columns"
    ):
        read("t.csv", where=condition)
    with pytest.raises(InputError, match="where: no column 'tusk'; did you mean 'task'"):
        read("t.csv", where="tusk == 'x'")
    with pytest.raises(InputError, match="where: no row meets task == 'z'"):
        read("t.csv", where="task == 'z'")
    with pytest.raises(InputError, match="where: no row meets task == 'z' or .* or ") as caught:
        read("t.csv", where="task == 'z'" + " or task == 'z'" * 50)
    assert len(str(caught.value)) <= 900


def test_numbers_that_no_double_holds_are_refused_in_conditions(write):
    """Ids of 19 digits that differ are one double."""
    write("t.csv", "id,big,A,B\nx,1234567890123456789,1,0\ny,1234567890123456790,0,1\nz,3,1,1\n")
    for number in ("1234567890123456789", "[3, 1234567890123456789]", "-" + "9" * 400):
        with pytest.raises(
            InputError, match=r"where: whole numbers beyond 2\*\*53 are not exact, .*write it in quotes"
        ):
            read("t.csv", where=f"big {'in' if '[' in number else '=='} {number}", only=["A", "B"])
    assert read("t.csv", where="big == '1234567890123456789' or big < 1e3", only=["A", "B"]).ids == ("x", "z")


def test_any_name_of_a_column_is_taken_for_itself(write):
    names = "__quoted_0", "quoted0", "quoted_0", "a b"
    write("t.csv", f"id,{','.join(names)},A,B\nx,1,2,3,4,1,0\ny,1,2,3,5,0,1\n")
    for value, name in enumerate(names[:3], start=1):
        assert read("t.csv", where=f"`a b` == 4 and {name} == {value}", only=["A", "B"]).ids == ("x",)
    with pytest.raises(InputError, match="where: no column '__quoted_5'"):
        read("t.csv", where="__quoted_5 == 1")


def test_systems_in_rows(write, compared):
    rows = {"model": [*NUMBERS], **{f"q{i}": [own[i] for own in NUMBERS.values()] for i in range(60)}}
    write("t.csv", csv(rows))
    with pytest.raises(InputError, match="transpose"):
        read("t.csv")
    same(three_doors(compared, ["t.csv"], transpose=True))
    write("twice.csv", csv(rows | {"model": ["big", "big", "tiny"]}))
    with pytest.raises(InputError, match="two rows are named 'big'"):
        read("twice.csv", transpose=True)


def test_runs_in_columns(write, compared):
    systems = [name for name in NUMBERS for _ in range(20)]
    columns = {"system": systems, "id": [*range(20)] * 3}
    columns |= {f"run{k}": [own[20 * k + i] for own in NUMBERS.values() for i in range(20)] for k in range(3)}
    write("t.csv", csv(columns))
    evaluation = three_doors(compared, ["t.csv"], melt=["run0", "run1", "run2"])
    same(evaluation)
    assert (sorted({*evaluation.runs}), len({*evaluation.ids})) == (["run0", "run1", "run2"], 20)
    with pytest.raises(InputError, match="melt: no column 'run9'"):
        read("t.csv", melt=["run0", "run9"])


@pytest.mark.parametrize(
    "word",
    [
        *("model", "agent", "alg_name", "algo", "classifier", "classifier_name", "framework", "method", "strategy"),
        "approach",
    ],
)
def test_a_file_for_each_data_set(write, compared, word):
    """Files that hold the same systems are one table."""
    for task in "xy":
        rows = [i for i in range(60) if TASKS[i] == task]
        long = {word: [name for name in NUMBERS for _ in rows], "id": [CASES[i] for _ in NUMBERS for i in rows]}
        write(f"{task}.csv", csv(long | {"score": [own[i] for own in NUMBERS.values() for i in rows]}))
    evaluation = three_doors(compared, ["x.csv", "y.csv"])
    same(evaluation)
    assert len({*evaluation.ids}) == 60
    assert f"2 files are one table: systems are from column {word!r}" in evaluation.notes
    assert read("x.csv", "y.csv", strata="file").strata.count("y") == 30


def test_records_and_paths(write, compared):
    records = [
        {"case": CASES[i], "model": name, "parsed": {"scores": [float(own[i])]}, "meta": {"task": TASKS[i]}}
        for i in range(60)
        for name, own in NUMBERS.items()
    ]
    options = {"score_column": "parsed.scores[0]", "id_column": "meta.task,case"}
    write("t.json", json.dumps(records))
    write("t.jsonl", "".join(json.dumps(each) + "\n" for each in records))
    for file in ("t.json", "t.jsonl"):
        same(three_doors(compared, [file], **options))
        same(read(file, where="meta.task == 'x'", **options), range(30))
    held = [{"task": task, "samples": [each for each in records if each["meta"]["task"] == task]} for task in "xy"]
    write("held.json", json.dumps({"version": 1, "results": held}))
    options["id_column"] = "task,case"
    same(three_doors(compared, ["held.json"], records="results[*].samples", **options))
    with pytest.raises(InputError, match="records: nothing stands at 'result.samples'; did you mean 'results'"):
        read("held.json", records="result.samples")


@pytest.mark.parametrize("others", [*itertools.product([[1], {"k": 1}, None], repeat=2)])
def test_a_field_of_lists_and_objects_is_left_out(write, others):
    """It may be a list in one record, an object in another and absent in a third."""
    rows = [{"id": f"q{i}", "A": 1, "B": i % 2} for i in range(3)]
    rows[0]["more"] = [2]
    for row, value in zip(rows[1:], others, strict=True):
        row.update({} if value is None else {"more": value})
    evaluation = read(write("t.jsonl", "".join(json.dumps(each) + "\n" for each in rows)))
    assert (evaluation.systems, evaluation.stats[..., 0].tolist()) == (("A", "B"), [[1, 1, 1], [0, 1, 0]])


def test_spreadsheets(write, compared):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    table = {"id": [f"q{i}" for i in range(60)], **NUMBERS}
    write("t.xlsx", spreadsheet(Sheet1=table, Sheet2={}))
    same(evaluation := three_doors(compared, ["t.xlsx"]))
    assert evaluation.ids[:2] == ("q0", "q1")
    write("two.xlsx", spreadsheet(first=table, second={"id": [1, 2], "A": [1, 0], "B": [None, 1]}))
    with pytest.raises(InputError, match="which sheet, 'first', 'second'"):
        read("two.xlsx")
    assert read("two.xlsx", reader="excel(sheet=second)", missing="zero").stats[:, :, 0].tolist() == [[1, 0], [0, 1]]
    for name, own in NUMBERS.items():
        write(f"{name}.xlsx", spreadsheet(a={"id": [*range(60)], "score": own}))
    same(three_doors(compared, [f"{name}.xlsx" for name in NUMBERS]))


def test_a_spreadsheet_without_its_library(write, monkeypatch):
    pytest.importorskip("openpyxl")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    write("t.xlsx", spreadsheet(a={"id": [1], "A": [1], "B": [1]}))
    with pytest.raises(InputError, match="which python-calamine reads; run: .* python-calamine; or save it as CSV"):
        read("t.xlsx")


def test_columns_of_metrics(write, compared):
    """As ragas writes them: texts, and a column for each metric, one file per system."""
    for name, own in NUMBERS.items():
        columns = {"user_input": [f"What is {i}?" for i in range(60)], "response": [f"{name} {i}" for i in range(60)]}
        write(f"{name}.csv", csv(columns | {"faithfulness": own, "answer_relevancy": own[::-1]}))
    files = [f"{name}.csv" for name in NUMBERS]
    with pytest.raises(InputError, match="which of .*'faithfulness', 'answer_relevancy'.*score_column"):
        read(*files)
    for name in ("faithfulness", "answer_relevancy"):
        same(evaluation := read(*files, metric=name))
        assert evaluation.metric.name == name
    report = compared(*files, "-m", "faithfulness", "answer_relevancy")
    assert {each["metric"] for each in report["systems"]} == {"faithfulness", "answer_relevancy"}
    with pytest.raises(InputError, match="unknown metric 'faithfulnes'"):
        read(*files, metric="faithfulnes")


def test_columns_and_data(write, compared):
    """What `DataFrame.to_json(orient="split")`, MLflow's `log_table` and a `wandb.Table` write."""
    pandas = pytest.importorskip("pandas")
    made = {}
    for name, own in NUMBERS.items():
        frame = pandas.DataFrame({"inputs": [f"question {i}" for i in range(60)], "toxicity/v1/score": own})
        frame["faithful/v1/score"] = own / 2
        made[name] = write(f"{name}.json", frame.to_json(orient="split", index=False))
        cells = json.loads(frame.to_json(orient="split"))["data"]
        table = {"columns": [*frame.columns], "data": cells, "ncols": 3, "nrows": 60, "column_types": {"params": {}}}
        write(f"{name}.table.json", json.dumps({"_type": "table"} | table))
    files = [f"{name}.json" for name in NUMBERS]
    same(three_doors(compared, files, metric="toxicity/v1/score"))
    tables = [f"{name}.table.json" for name in NUMBERS]
    evaluation = read(*tables, metric="faithful/v1/score")
    assert evaluation.stats[:, :, 0].tolist() == [(own / 2).tolist() for own in NUMBERS.values()]
    for broken in ({"columns": ["id", "id"], "data": [[1, 2]]}, {"columns": ["id", "x"], "data": [[1, 2, 3]]}):
        write("broken.json", json.dumps(broken))
        with pytest.raises(InputError, match="broken.json: expected different names as columns"):
            read("broken.json", "big.json")


def _files_of_shapes():
    rows = {"model": [*NUMBERS], **{f"q{i}": [own[i] for own in NUMBERS.values()] for i in range(60)}}
    long = {"system": [n for n in NUMBERS for _ in CASES], "id": [*range(60)] * 3}
    scores = [x for own in NUMBERS.values() for x in own]
    trials = {"case": [*range(60)] * 3, "seed": [k for k in range(3) for _ in CASES]}
    records = [{"id": i, "model": name, "score": own[i]} for name, own in NUMBERS.items() for i in range(60)]
    return {
        "transpose": csv(rows),
        "melt": csv(long | {f"run{i}": scores for i in (1, 2, 3)}),
        "runs": csv(trials | {name: [*own] * 3 for name, own in NUMBERS.items()}),
        "id_column": csv({"task": TASKS, "case": CASES, **NUMBERS}),
        "records": json.dumps({"config": {"seed": 1}, "out": {"results": records}}),
    }


@pytest.mark.parametrize("option", ["transpose", "melt", "runs", "id_column", "records"])
def test_doctor_does_what_a_refusal_proposes(write, compared, option):
    """A refused table in another shape is read by the option that the refusal names; the command is as it runs."""
    name = "t.json" if option == "records" else "t.csv"
    write(name, _files_of_shapes()[option])
    with pytest.raises(InputError, match=f"{option}="[: -1 if option == "transpose" else None]):
        read(name)
    diagnosis = doctor(name)
    assert diagnosis.refusal is None
    assert f" --{option.replace('_', '-')} " in f"{diagnosis.command} "
    report = compared(*shlex.split(diagnosis.command)[2:])
    expected = {system: own.mean() for system, own in NUMBERS.items()}
    assert {each["name"]: each["score"] for each in report["systems"]} == pytest.approx(expected)


def test_a_field_of_objects_is_named(write):
    write("t.json", json.dumps([{"id": i, "model": m, "parsed": {"score": 1.0}} for i in range(9) for m in "ab"]))
    with pytest.raises(InputError, match='got .*object.*, or a field of it with score_column="parsed.FIELD"'):
        read("t.json")
    assert read("t.json", score_column="parsed.score").systems == ("a", "b")
