"""The doors of the studies: each takes what `compare` takes, and the same data give the same result by every door."""

import ast
import inspect
import json
import pathlib
import pickle
from dataclasses import replace

import numpy as np
import pandas
import pytest

import sigjax
from sigjax import Evaluation, InputError, studies
from sigjax.metrics import METRICS
from sigjax.readers.options import ReadOptions
from sigjax.records.options import options_of
from sigjax.studies import STUDIES

RNG = np.random.default_rng(3)
NUMBERS = {name: (RNG.random(40) < share).astype(int).tolist() for name, share in (("A", 0.8), ("B", 0.6), ("C", 0.4))}
TRIALS = {"repetitions": 20, "resamples": 99, "progress": False}
PAIR = {name: NUMBERS[name] for name in "AB"}
GENRES = ["news"] * 20 + ["web"] * 20
DOORS = {
    "classical": (PAIR, {"resamples": 99}),
    "power": (PAIR, {"instances": [20], **TRIALS}),
    "monitor": (NUMBERS, {"progress": False}),
    "equivalence": (NUMBERS, {"margin": 0.2}),
    "audit": (PAIR, TRIALS),
    "one-sample": (NUMBERS, {"against": 0.5}),
    "unpaired": (NUMBERS, {"overlap": True, "progress": False}),
    "flips": (PAIR, {"progress": False}),
    "items": (NUMBERS, {"resamples": 99, "progress": False}),
    "rank": (NUMBERS, {"progress": False}),
    "rl": (NUMBERS, {"resamples": 99, "progress": False}),
    "gains": (NUMBERS, {"resamples": 99, "sizes": [20], "progress": False}),
    "slices": (NUMBERS, {"progress": False}),
    "stopping": (NUMBERS, {"orders": 5, "progress": False}),
}
"""Each study that takes data, with data of so many systems and options that are quick."""
LABELS = {"rl": GENRES, "slices": GENRES}
"""The strata that a study needs."""


def doors(name, path):
    """The data of a study by each way to give them, with the options of that way."""
    numbers, labels = DOORS[name][0], LABELS.get(name)
    ids = [f"q{i}" for i in range(40)]
    frame = pandas.DataFrame({"id": ids, **numbers} | ({} if labels is None else {"genre": labels}))
    frame.to_csv(path, index=False)
    reading = {"metric": "accuracy"} | ({} if labels is None else {"strata": "genre"})
    evaluation = Evaluation.from_arrays(numbers, metric="accuracy", ids=ids, strata=labels)
    yield "evaluation", evaluation, {}
    yield "frame", frame, reading
    yield "path", path, reading
    yield "str", str(path), reading
    if labels is None and name not in ("flips", "items"):  # these name instances: arrays have no ids
        yield "dict", numbers, {"metric": "accuracy"}


def content(result):
    """What a result says, without the notes on how files were read."""
    held = json.loads(result.to_json())

    def without_notes(value):
        if isinstance(value, dict):
            left_out = ("notes", "signature", "state", "checksum")  # the checksum is of these, too
            return {key: without_notes(each) for key, each in value.items() if key not in left_out}
        return [without_notes(each) for each in value] if isinstance(value, list) else value

    return without_notes(held)


@pytest.mark.parametrize("name", DOORS)
def test_the_same_data_give_the_same_result_by_every_door(name, tmp_path):
    study = getattr(studies, STUDIES[name].functions[0])
    contents = {}
    for door, data, reading in doors(name, tmp_path / "table.csv"):
        contents[door] = content(study(data, **DOORS[name][1], read=reading))
    first = contents.pop("evaluation")
    assert len(contents) >= 3
    for door, other in contents.items():
        assert other == first, door


def test_every_study_of_data_has_a_door():
    others = {"association", "battles", "board", "diff", "verify"}  # labels, battles, a TOML file and reports
    assert {*DOORS} == {*STUDIES} - others
    for name in DOORS:
        parameters = inspect.signature(getattr(studies, STUDIES[name].functions[0])).parameters
        assert {"read", "progress"} <= {*parameters}, name
        assert not options_of(ReadOptions).keys() - {"progress"} & {*parameters}, name


LABELLED = {
    "metrics": {},
    "clusters": {"clusters": [f"d{i // 4}" for i in range(40)]},
    "strata": {"strata": ["news"] * 16 + ["web"] * 24},
    "runs": {"ids": [f"q{i // 2}" for i in range(40)], "runs": [str(i % 2) for i in range(40)]},
}
"""What data may have, and a study whose author forgets it would ignore in silence."""


@pytest.mark.parametrize("what", LABELLED)
@pytest.mark.parametrize("name", DOORS)
def test_nothing_that_data_have_is_ignored_in_silence(name, what):
    """A second metric and labels of instances change the result, or they are refused in one line."""
    study, (numbers, options) = getattr(studies, STUDIES[name].functions[0]), DOORS[name]
    usual = {"metric": "accuracy", "ids": [f"q{i}" for i in range(40)], "strata": LABELS.get(name)}
    plain = Evaluation.from_arrays(numbers, **usual)
    other = Evaluation.from_arrays(numbers, **usual | LABELLED[what])
    data = [plain, Evaluation.from_arrays(numbers, **usual | {"metric": "mean"})] if what == "metrics" else other
    known = content(study(plain, **options))
    try:
        found = content(study(data, **options))
    except InputError as refused:
        found = str(refused)
    assert found != known


SIDELESS = {"power", "equivalence", "audit", "one-sample", "unpaired", "stopping"}
"""Studies that name no system as better: their numbers are the same whether higher or lower scores are better."""


@pytest.mark.parametrize("name", DOORS)
def test_the_direction_of_the_metric_is_not_ignored(name):
    numbers, options = DOORS[name]
    labels = {"ids": [f"q{i}" for i in range(40)], "strata": LABELS.get(name)}
    higher = Evaluation.from_arrays(numbers, metric="accuracy", **labels)
    lower = replace(higher, metric=replace(higher.metric, higher_is_better=False))
    study = getattr(studies, STUDIES[name].functions[0])
    known = content(study(higher, **options))
    try:
        found = content(study(lower, **options))
    except InputError as refused:
        found = str(refused)
    assert (found == known) == (name in SIDELESS)


def test_studies_read_by_the_one_door_that_refuses_what_they_ignore():
    for path in pathlib.Path(studies.__file__).parent.glob("*.py"):
        names = [each.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for each in _named(node)]
        assert "read_data" not in names or path.name == "trials.py", path.name


def _named(node):
    """The names that a statement imports."""
    return node.names if isinstance(node, ast.ImportFrom | ast.Import) else []


def test_a_system_with_two_metrics_is_refused_where_one_is_taken():
    """The second one was left out in silence."""
    frames = {name: pandas.DataFrame({"id": range(40), "score": NUMBERS[name]}) for name in "AB"}
    with pytest.raises(InputError, match="takes one metric, got 2"):
        sigjax.one_sample(frames, read={"metric": ["accuracy", "mean"]})


@pytest.mark.parametrize("option", sorted(options_of(ReadOptions).keys() - {"progress"}))
def test_an_option_of_reading_is_refused_where_nothing_is_read(option):
    said = f"write sigjax.read(..., {option}='x') or read={{'{option}': 'x'}}"
    for function in (sigjax.compare, *(getattr(studies, STUDIES[name].functions[0]) for name in DOORS)):
        with pytest.raises(TypeError) as refused:
            function(NUMBERS, **{option: "x"})
        assert str(refused.value).endswith(said)


def test_read_takes_all_that_compare_takes(tmp_path):
    ids = [f"q{i}" for i in range(40)]
    frame = pandas.DataFrame({"id": ids, **NUMBERS, "genre": GENRES})
    frame.to_csv(table := tmp_path / "table.csv", index=False)
    files = {name: tmp_path / f"{name}.csv" for name in NUMBERS}
    for name, path in files.items():
        frame[["id", name, "genre"]].to_csv(path, index=False)
    by_id = {name: dict(zip(ids, own, strict=True)) for name, own in NUMBERS.items()}
    plain, labelled = {"metric": "accuracy"}, {"metric": "accuracy", "strata": "genre", "only": ["C", "A"]}
    kinds = ((NUMBERS, plain), (by_id, plain), (frame, labelled), (table, labelled), (files, labelled))
    for data, options in (*kinds, ([str(path) for path in files.values()], labelled)):
        evaluation = sigjax.read(data, **options)
        assert isinstance(evaluation, Evaluation)
        assert evaluation.systems == tuple(options.get("only", "ABC"))
        assert evaluation.stats[0, :, 0].tolist() == NUMBERS[evaluation.systems[0]]
        assert (evaluation.strata is None) == (options is plain)
        how = {"resamples": 99, "device": "numpy"}
        assert sigjax.compare(data, read=options, **how) == sigjax.compare(evaluation, **how)
    assert (
        sigjax.Evaluation.from_dataframe(frame, **labelled).stats.tolist()
        == sigjax.read(frame, **labelled).stats.tolist()
    )
    several = sigjax.read(NUMBERS, metric=["accuracy", "mean"])
    chosen = sigjax.read(several, only=["A", "C"])
    assert [each.metric.name for each in chosen] == ["accuracy", "mean"]  # pyright: ignore[reportGeneralTypeIssues]
    (alone,) = sigjax.read(NUMBERS, metric=["accuracy"])  # pyright: ignore[reportGeneralTypeIssues]
    assert alone.metric.name == "accuracy"
    (one,) = sigjax.compare(several[0], read={"only": ["C", "A"]})
    assert (one.a, one.b) == ("C", "A")
    lower = sigjax.read(NUMBERS, lower_is_better=True)
    assert not lower.metric.higher_is_better


@pytest.mark.parametrize(
    ("data", "what", "takes"),
    [
        (NUMBERS, "arrays", {"metric", "missing", "only", "lower_is_better", "higher_is_better"}),
        (Evaluation.from_arrays(NUMBERS), "an Evaluation", {"only"}),
        (
            pandas.DataFrame(NUMBERS),
            "the data frame",
            options_of(ReadOptions).keys() - {"filter", "input", "reader", "records", "unit"},
        ),
    ],
    ids=["arrays", "evaluation", "frame"],
)
def test_an_option_that_means_nothing_for_the_data_is_refused_in_one_sentence(data, what, takes):
    given = {
        "transpose": True,
        "lower_is_better": True,
        "higher_is_better": True,
        "unit": "response",
        "missing": "drop",
        "counts": {"tp": "A"},
    }
    given |= {"thousands": ",", "decimal": ","}
    given |= dict.fromkeys(("melt", "only", "systems", "ignore", "prediction", "input"), ["A", "B"])
    for option in options_of(ReadOptions).keys() - takes - {"progress"}:
        for call in (sigjax.read, lambda data, **read: sigjax.compare(data, read=read)):
            with pytest.raises(InputError) as refused:
                call(data, **{option: given.get(option, "A")})
            assert str(refused.value).startswith(f"{option} means nothing for {what}")


@pytest.mark.parametrize("name", DOORS)
def test_a_wrong_keyword_is_one_line_that_says_what_it_may_mean(name):
    with pytest.raises(TypeError) as refused:
        getattr(studies, STUDIES[name].functions[0])(NUMBERS, metrik="accuracy")
    assert str(refused.value).endswith("write sigjax.read(..., metric='accuracy') or read={'metric': 'accuracy'}")
    assert "\n" not in str(refused.value)


def test_systems_one_by_one_have_files_frames_and_numbers_of_their_own(tmp_path):
    numbers = {"old": [1, 0, 1, 1, 0, 1], "new": [0, 1, 0, 0]}
    paths, frames = {}, {}
    for name, own in numbers.items():
        frames[name] = pandas.DataFrame({"id": [f"{name}{i}" for i in range(len(own))], "score": own})
        paths[name] = tmp_path / f"{name}.csv"
        frames[name].to_csv(paths[name], index=False)
    (known,) = sigjax.unpaired(numbers, read={"metric": "accuracy"})
    for data in (list(paths.values()), paths, frames):
        (one,) = sigjax.unpaired(data, read={"metric": "accuracy"})
        assert (one.a, one.b, one.delta, one.p_value) == (known.a, known.b, known.delta, known.p_value)
    of_each = sigjax.one_sample(paths, against=0.5, read={"metric": "accuracy"})
    assert [(row.system, row.score) for row in of_each] == [("old", 4 / 6), ("new", 0.25)]
    (alone,) = sigjax.one_sample(paths, against=0.5, read={"metric": "accuracy", "only": ["new"]})
    assert alone.p_value == of_each[1].p_value
    with pytest.raises(InputError, match="cluster means nothing for arrays"):
        sigjax.unpaired(numbers, read={"metric": "accuracy", "cluster": "doc"})


def test_a_system_that_lacks_results_is_refused_against_a_number_and_not_beside_others(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,A,B\n" + "".join(f"q{i},{i % 2},{'' if i == 3 else 1 - i % 3 // 2}\n" for i in range(8)))
    with pytest.raises(InputError, match="missing"):
        sigjax.one_sample(path, against=0.4, read={"metric": "accuracy"})
    assert [
        row.units for row in sigjax.one_sample(path, against=0.4, read={"metric": "accuracy", "missing": "pairwise"})
    ] == [8, 7]
    (pair,) = sigjax.unpaired(path, read={"metric": "accuracy"}, overlap=True)
    assert (pair.units_a, pair.units_b) == (8, 7)


def test_another_test_set_has_the_same_doors(tmp_path):
    other = {system: own[::-1][:30] for system, own in NUMBERS.items()}
    frame = pandas.DataFrame(other)
    frame.to_csv(tmp_path / "other.csv", index=False)
    how = {"read": {"metric": "accuracy"}, "resamples": 99, "progress": False}
    known = studies.gains(NUMBERS, other=other, **how)
    for given in (frame, tmp_path / "other.csv", str(tmp_path / "other.csv")):
        study = studies.gains(pandas.DataFrame(NUMBERS), other=given, **how)
        assert (study.points, study.pairs) == (known.points, known.pairs)


@pytest.mark.parametrize("name", DOORS)
def test_results_are_data_frames_of_the_usual_columns_or_of_all(name):
    numbers, options = DOORS[name]
    data = Evaluation.from_arrays(numbers, metric="accuracy", strata=LABELS.get(name))
    result = getattr(studies, STUDIES[name].functions[0])(data, **options)
    usual, every = result.to_dataframe(), result.to_dataframe(columns="all")
    assert isinstance(usual, pandas.DataFrame)
    assert 3 <= len(usual.columns) <= 11
    assert {*usual.columns} < {*every.columns} or len(every.columns) == 4
    assert len(usual) == len(every) > 0
    assert not any(column.endswith("interval") for column in every.columns)
    polars = pytest.importorskip("polars")
    assert isinstance(result.to_dataframe("polars"), polars.DataFrame)
    with pytest.raises(InputError, match="columns: expected usual or all, got 'some'"):
        result.to_dataframe(columns="some")


def test_a_report_is_verified_by_every_door(tmp_path):
    table = tmp_path / "table.csv"
    frame = pandas.DataFrame({"id": [f"q{i}" for i in range(40)], **NUMBERS})
    frame.to_csv(table, index=False)
    report = sigjax.compare(frame, read={"metric": "accuracy"})
    saved = report.to_json(tmp_path / "report.json")
    for data in (frame, table, str(table), report.evaluations):
        for given in (report, saved):
            verified = sigjax.verify(given, data)
            assert (verified.same, verified.same_data, verified.differences) == (True, True, ())
            assert str(verified) == "the same data, and the same numbers to the last bit\n"
    several = [*report.evaluations, Evaluation.from_arrays(NUMBERS, ids=[f"q{i}" for i in range(40)])]
    assert sigjax.verify(sigjax.compare(several), frame).same  # read by each metric of the report
    other = sigjax.verify(report, frame.assign(C=0))
    assert (other.same, other.same_data) == (False, False)
    assert other.text.startswith("other data: numbers differ")
    assert json.loads(other.to_json())["same"] is False
    edited = json.loads(report.to_json())
    edited["pairs"][0]["p_value"] = 0.5
    numbers = sigjax.verify(json.dumps(edited), frame)
    assert (numbers.same, numbers.same_data) == (False, True)
    assert numbers.text.startswith("the same data, but other numbers: p_value of 'A' and 'B'")
    with pytest.raises(
        TypeError, match=r"verify\(\) .* 'metrik'; data are read with it: .*read={'metric': 'accuracy'}"
    ):
        sigjax.verify(report, frame, metrik="accuracy")


@pytest.mark.parametrize(
    ("name", "said"),
    [("rl", "see sigjax.studies.rl"), ("classical", "see sigjax.studies.classical_tests"), ("Ranking", "studies.rank")],
)
def test_names_that_users_try_say_where_the_study_is(name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(sigjax, name)
    assert not hasattr(sigjax, "unknown")


def test_results_say_where_their_p_values_and_tables_are():
    scores = {"A": [1, 2, 3.5], "B": [1, 1, 4.0], "C": [5, 6, 7.0]}
    result = studies.classical_tests(Evaluation.from_arrays(scores))
    with pytest.raises(AttributeError, match="each row has nemenyi_p and wilcoxon_p and p_adjusted: see pairs"):
        _ = result.pvalue
    assert not hasattr(result, "other")
    assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize("systems", ["AB", "ABC"])
def test_classical_tests_say_the_direction_of_the_scores(systems):
    scores = {name: np.column_stack([np.arange(5.0) + k, np.arange(5.0)[::-1]]) for k, name in enumerate(systems)}
    metric = replace(METRICS["mean"], higher_is_better=False)
    lower = studies.classical_tests(Evaluation.from_arrays({n: x[:, 0] for n, x in scores.items()}, metric=metric))
    higher = studies.classical_tests(Evaluation.from_arrays({n: x[:, 0] for n, x in scores.items()}))
    assert (lower.lower_is_better, higher.lower_is_better) == (True, False)
    assert any("lower is better" in line for line in str(lower).splitlines()[:3])
    assert "lower is better" not in str(higher)


WIDE = {"claude-3-5-sonnet-20241022-thinking": 0.5, "gpt-4o-2024-08-06": 0.0, "C": 0.2}


def wide_results():
    rng = np.random.default_rng(5)
    numbers = {name: rng.normal(mean, 1.0, 200).round(3) for name, mean in WIDE.items()}
    two = {name: numbers[name] for name in list(numbers)[:2]}
    of, games = Evaluation.from_arrays, [i // 20 for i in range(200)]
    few = {"repetitions": 20, "resamples": 99}
    yield studies.power(of(two), instances=[100, 400], test=["permutation", "bootstrap"], **few)
    yield studies.equivalence(of(numbers), margin=0.5)
    yield studies.audit(of(two), **few)
    yield studies.rank({name: own > 0.0 for name, own in numbers.items()})
    yield studies.one_sample(of(numbers), against=0)
    yield studies.unpaired(numbers)
    yield studies.rl(of(two, ids=games, strata=games, runs=[i % 20 for i in range(200)]), resamples=99)
    yield studies.classical_tests(of(numbers))
    yield studies.classical_tests(of({name: own[:10] for name, own in numbers.items()}), design="folds")
    yield studies.monitor(of(numbers, ids=range(200)))
    yield studies.gains(of(numbers), resamples=99)
    yield studies.flips(of(two, ids=range(200)))
    yield studies.slices(of(two, ids=range(200), strata=games), by="strata")


@pytest.mark.slow
def test_text_fits_the_width_of_the_terminal_and_of_columns(monkeypatch):
    """Tables were up to 121 columns wide, sentences 100, and nothing but `compare` asked for the width."""
    monkeypatch.delenv("COLUMNS", raising=False)
    results = list(wide_results())
    whole = [str(each) for each in results]
    for width in (80, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        for result, text in zip(results, whole, strict=True):
            shown = str(result)
            assert shown == result.to_text(width=width)
            lines = [line for line in shown.splitlines() if "|" not in line]
            assert max(map(len, lines)) <= width, (type(result), max(lines, key=len))
            assert len(text) >= len(shown) - 300
        report = str(
            sigjax.compare(Evaluation.from_arrays({name: np.arange(9) % 4 + k for k, name in enumerate(WIDE)}))
        )
        assert max(map(len, report.splitlines())) <= width
    monkeypatch.delenv("COLUMNS")
    for result, text in zip(results, whole, strict=True):
        assert str(result) == text
    assert all("Left out" not in text for text in whole)
