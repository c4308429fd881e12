"""What a table is read as has evidence, or is asked: never another reading, and no proposal that leads to one."""

import itertools

import numpy as np
import pytest
from scipy.stats import binomtest, rankdata
from tables import counts, proposals

import sigjax
from sigjax import InputError, read
from sigjax.cli import _run
from sigjax.readers.evidence import made_of_others
from sigjax.readers.lexicon import Lexicon, is_measure, lexicon, may_be_system, speaks_against, using

pytestmark = pytest.mark.usefixtures("here")
NAMES = [f"{word}.wav" for word in ("ash", "bay", "elm", "fir", "hop", "ivy", "oak", "yew")]
LOW = [0.11, 0.2, 0.32, 0.41, 0.5, 0.63, 0.71, 0.8]
HIGH = [round(value + 0.02, 2) for value in LOW]


def csv(columns):
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def given(write):
    """Write tables, by name; gives the names."""

    def write_all(**tables):
        return [write(name, csv(own)).name for name, own in tables.items()]

    return write_all


def asked(*files, **options):
    """What a refusal says, as the command line shows it."""
    with pytest.raises(InputError) as caught:
        read(*files, **options)
    return caught.value.flags


# Row numbers are no ids where words join the rows.


@pytest.mark.parametrize("index", ["", "Unnamed: 0", "index", "#", "step", "order", "rank", "epoch"])
@pytest.mark.parametrize("name", ["filename", "url", "passage", "patient", "question"])
def test_words_that_systems_share_join_rows_before_row_numbers(given, index, name):
    """By position p would be 0.93; the sign test of 8 equal differences is exact."""
    count = range(len(NAMES))
    one = {index: count, name: NAMES, "score": LOW}
    two = {index: count, name: NAMES[::-1], "score": HIGH[::-1]}
    files = given(**{"a.csv": one, "b.csv": two})
    pair = sigjax.compare(read(*files), progress=False).comparisons[0]
    assert pair.p_value == pytest.approx(binomtest(0, len(NAMES)).pvalue, rel=1e-12)
    long = {key: [*one[key], *two[key]] for key in (name, "score")} | {"model": ["A"] * 8 + ["B"] * 8}
    (table,) = given(**{"long.csv": {index: range(16), **long}})
    assert sigjax.compare(read(table), progress=False).comparisons[0].p_value == pair.p_value


def test_files_without_a_word_in_common_are_not_joined_by_position(given):
    files = given(
        **{
            "a.csv": {"": range(8), "clip": NAMES, "score": LOW},
            "b.csv": {"": range(8), "clip": [f"x{k}" for k in range(8)], "score": HIGH},
        }
    )
    assert "column 'clip' tells the rows of each system apart, but systems have no value of it in common" in asked(
        *files
    )
    assert any("joined by row number" in note for note in read(*files, ignore=["clip"]).notes)


# Directions.


@pytest.mark.parametrize("name", ["wer", "RMSE", "loss", "latency_ms", "perplexity", "error", "val_loss", "cost_usd"])
def test_the_name_of_a_score_says_which_is_better(given, name, capsys):
    files = given(**{"good.csv": {"id": NAMES, name: LOW}, "bad.csv": {"id": NAMES, name: HIGH}})
    for options in ({}, {"score_column": name}):
        evaluation = read(*files, **options)
        assert not evaluation.metric.higher_is_better
        assert sigjax.compare(evaluation, progress=False).comparisons[0].better == "good"
    assert _run(["compare", *files], debug=False) == 0
    assert "; lower is better\n" in capsys.readouterr().out
    assert read(*files, higher_is_better=True).metric.higher_is_better
    with pytest.raises(InputError, match="lower_is_better and higher_is_better: give one"):
        read(*files, higher_is_better=True, lower_is_better=True)
    with pytest.raises(InputError, match="lower_is_better and higher_is_better: give one"):
        read(*files, higher_is_better=False, lower_is_better=False)
    with pytest.raises(InputError, match="^lower_is_better means nothing for an Evaluation"):
        sigjax.read(evaluation, lower_is_better=False)


@pytest.mark.parametrize(("option", "value", "higher"), [("lower", True, False), ("higher", False, False)])
@pytest.mark.parametrize("turned", [False, True])
def test_each_option_of_the_direction_says_both(given, option, value, higher, turned):
    files = given(**{"a.csv": {"id": NAMES, "accuracy": LOW}, "b.csv": {"id": NAMES, "accuracy": HIGH}})
    said = {f"{option}_is_better": value is not turned}
    assert read(*files, **said).metric.higher_is_better is (higher is not turned)
    numbers = {"A": [0.5, 1.0], "B": [0.25, 0.0]}
    assert sigjax.read(numbers, **said).metric.higher_is_better is (higher is not turned)


@pytest.mark.parametrize("name", ["time_sec", "distance", "query_time", "train_cost", "Tiempo", "edit_distance"])
def test_a_cost_that_is_no_metric_is_asked_about(given, name):
    files = given(**{"a.csv": {"id": NAMES, name: LOW}, "b.csv": {"id": NAMES, name: HIGH}})
    said = asked(*files)
    assert (
        f"column {name!r}: are lower or higher scores better? give --lower-is-better (2 systems: 'a', 'b'; 8 " in said
    )
    assert [[*way] for way in proposals(said)] == [["lower_is_better"], ["higher_is_better"]]
    assert not read(*files, lower_is_better=True).metric.higher_is_better


def test_scores_without_a_direction_are_higher_and_the_caption_says_so(given, capsys):
    files = given(**{"a.csv": {"id": NAMES, "grade": LOW}, "b.csv": {"id": NAMES, "grade": HIGH}})
    assert _run(["compare", *files], debug=False) == 0
    assert "mean on 8 instances, 2 systems; higher is better\n" in capsys.readouterr().out


# Wide tables.

A, B = [0.4, 0.5, 0.9, 0.3, 0.72, 0.61], [0.31, 0.62, 0.7, 0.4, 0.66, 0.5]


@pytest.mark.parametrize(
    ("columns", "against", "way"),
    [
        ({"A": A, "B": B, "MEAN": np.add(A, B) / 2}, "'MEAN' named like what is made of others", ["A", "B"]),
        ({"A": A, "B": B, "zz": np.add(A, B) / 2}, "'zz' is the mean of 'A' and 'B'", ["A", "B"]),
        ({"A": A, "B": B, "diff": np.subtract(A, B)}, "'diff' named like what is made of others", ["A", "B"]),
        ({"A": A, "B": B, "zz": np.subtract(A, B)}, "'zz' is the difference of 'A' and 'B'", None),
        ({"A": A, "B": B, "zz": np.subtract(B, A)}, "'zz' is the difference of 'A' and 'B'", None),
        ({"A": A, "B": B, "zz": np.abs(np.subtract(A, B))}, "'zz' is the difference of 'A' and 'B'", None),
        ({"A": A, "wrong_rate": np.subtract(1, A)}, "", None),
        ({"A": A, "zz": np.subtract(1, A)}, "'zz' and 'A' have the same sum in all rows", None),
        ({"A": A, "zz": np.multiply(1.5, A)}, "'zz' is 1.5 times 'A'", None),
        ({"A": A, "A_std": np.divide(A, 9), "B": B, "B_std": np.divide(B, 8)}, "'A_std', 'B_std' named", ["A", "B"]),
        ({"A_mean": A, "A_std": B, "B_mean": B, "B_std": A}, "named like what is made of", ["A_mean", "B_mean"]),
        ({"A": A, "B": B, "A_rank": [1, 2, 1, 2, 1, 1], "B_rank": [2, 1, 2, 1, 2, 2]}, "_rank'", ["A", "B"]),
        ({"acc_A": A, "acc_B": B, "roc_auc_A": B, "roc_auc_B": A}, "named like metrics", ["acc_A", "acc_B"]),
        ({"passed": [1, 0, 1, 1, 0, 1], "style_score": A}, "named like scores", None),
        ({"success": [1, 0, 1, 1, 0, 1], "cost_usd": A}, "seem to hold metrics", None),
        ({"sen": A, "spe": B, "mcc": A}, "seem to hold metrics", None),
        ({"OVRL": A, "SIG": B}, "seem to hold metrics", None),
        ({"r": np.multiply(101.5, A), "t": np.multiply(3, B)}, "no number of", None),
        ({"A": [1, 0, 0, 0, 0, 0], "zz": [0, 1, 1, 1, 1, 1]}, "'zz' and 'A' have the same sum in all rows", None),
        (
            {"A": [1, 1, 0, 0, 1, 0], "B": [0, 0, 0, 1, 0, 1], "zz": [0.5, 0.5, 0, 0.5, 0.5, 0.5]},
            "has others (0.5)",
            None,
        ),
        ({"A": [1, 0, 0, 1, 0, 0], "B": [1, 1, 1, 1, 1, 1], "zz": [0, -1, -1, 0, -1, -1]}, "has others (-1)", None),
    ],
)
def test_columns_that_are_hardly_systems_are_asked_about(given, columns, against, way):
    columns = {name: np.asarray(own).tolist() for name, own in columns.items()}
    (table,) = given(**{"t.csv": {"id": [f"q{i}" for i in range(6)], **columns}})
    said = asked(table)
    assert against in said
    made = proposals(said)
    assert made[:1] == ([{"systems": way}] if way else [])
    for each in made:
        assert read(table, **each).systems == tuple(each["systems"])
    assert read(table, systems=[*columns]).systems == tuple(columns)  # never doubted
    assert read(table, systems=[*columns], only=[*columns][:2]).systems == tuple(columns)[:2]


@pytest.mark.parametrize(
    "setting", [[0.01, 0.1, 1, 10, 100, 1000], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [60, 50, 40, 30, 20, 10]]
)
@pytest.mark.parametrize("name", ["n", "threshold", "zz"])
def test_settings_in_equal_steps_are_no_system(given, setting, name):
    """Sizes of training sets stood beside the scores of two systems, and were the worst of three."""
    (table,) = given(**{"t.csv": {name: setting, "A": A, "B": B}})
    said = asked(table)
    assert f"column {name!r} looks like ids or a property" in said
    for way in proposals(said):
        assert read(table, **way).systems == ("A", "B")
    assert {*proposals(said)[1]} == {"id_column"}


@pytest.mark.parametrize("ties", ["average", "min"])
def test_ranks_are_asked_about_and_lower_ones_are_better(given, ties):
    own = np.round(np.stack([A, B, np.add(A, B) / 2, [0.4, 0.62, 0.9, 0.2, 0.7, 0.5]]), 3)
    columns = dict(zip("wxyz", rankdata(own, method=ties, axis=0).tolist(), strict=True))
    (table,) = given(**{"t.csv": {"task": [f"t{k}" for k in range(6)], **columns}})
    (way,) = proposals(said := asked(table))
    assert "they hold the ranks of each other, the best of which is 1" in said
    evaluation = read(table, **way)
    assert (evaluation.systems, evaluation.metric.higher_is_better) == (("w", "x", "y", "z"), False)
    alike = {name: [1] * 6 for name in "wxyz"}
    assert read(*given(**{"a.csv": {"task": [f"t{k}" for k in range(6)], **alike}})).systems == ("w", "x", "y", "z")


def test_columns_that_an_id_is_made_of_are_no_systems(given):
    columns = {"fold": [0, 1] * 3, "task": ["x", "x", "y", "y", "z", "z"], "A": A, "B": B}
    (table,) = given(**{"t.csv": columns})
    assert read(table, id_column="task,fold").systems == ("A", "B")
    roles = dict(sigjax.doctor(table, id_column="task,fold").reading.roles())
    assert (roles["folds"].columns, roles["tasks"].columns) == (("fold",), ("task",))
    assert ["fold", "A", "B"] not in [way.get("systems") for way in proposals(asked(table))]


def test_systems_that_are_told_are_columns(given):
    (table,) = given(**{"t.csv": {"id": NAMES, "A": LOW, "B": HIGH}})
    assert "systems: no column 'C'; " in str(asked(table, systems=["A", "C"])).replace("--", "")
    assert "--systems names a column for each system, and --score-column is for" in asked(
        table, systems=["A", "B"], score_column="A"
    )


# Long tables.


def test_metrics_in_a_column_are_asked_about_one_by_one(given):
    rows = [*itertools.product(["en", "de", "fr"], ["x", "y"], ["bleu", "chrf"])]
    columns = {name: list(own) for name, own in zip(("pair", "system", "metric"), zip(*rows, strict=True), strict=True)}
    (table,) = given(**{"t.csv": columns | {"score": [30 + k for k in range(len(rows))]}})
    made = proposals(asked(table))
    assert made == [{"where": f"metric == '{name}'"} for name in ("bleu", "chrf")]
    assert [read(table, **way).stats[:, :, 0].tolist() for way in made] == [
        [[30, 34, 38], [32, 36, 40]],
        [[31, 35, 39], [33, 37, 41]],
    ]


@pytest.mark.parametrize("other", ["model_id", "model_name", "provider"])
def test_another_name_of_the_same_systems_is_no_question(given, other):
    (table,) = given(
        **{
            "t.csv": {
                "item": [*"pqrs"] * 2,
                "model": ["Otter"] * 4 + ["Heron"] * 4,
                other: ["lab/o-1"] * 4 + ["lab/h-2"] * 4,
                "correct": [1, 0, 1, 1, 0, 0, 1, 0],
            }
        }
    )
    assert read(table).systems == ("Otter", "Heron")
    assert read(table, ignore=[other]).stats.tolist() == read(table).stats.tolist()


@pytest.mark.parametrize(
    "name", ["agent", "algo", "codec", "pipeline", "Methode", "Tested_Model", "classifier", "config", "Algoritmo"]
)
def test_names_of_systems_in_several_languages(given, name):
    columns = {name: ["x"] * 8 + ["y"] * 8, "clip": NAMES * 2, "score": [*LOW, *HIGH]}
    assert read(*given(**{"t.csv": columns})).systems == ("x", "y")
    assert may_be_system(name)


def test_one_system_on_two_tasks_is_no_comparison(given):
    files = {
        f"{task}.csv": {"agent": ["DrQ"] * 8, "task": [task] * 8, "seed": range(8), "reward": own}
        for task, own in (("walk", LOW), ("run", HIGH))
    }
    said = asked(*given(**files))
    assert "column 'agent' is 'DrQ' in all files, so that these are results of one system ('task' differs)" in said
    assert not proposals(said)


@pytest.mark.parametrize("step", ["Step", "global_step", "iteration", "frame"])
def test_steps_of_a_run_are_no_instances(given, step):
    files = given(**{f"{x}.csv": {step: range(0, 800, 100), "Value": own} for x, own in (("a", LOW), ("b", HIGH))})
    assert f"column {step!r} counts the steps of one run" in asked(*files)
    assert any("steps of one run depend on each other" in note for note in read(*files, id_column=step).notes)


@pytest.mark.parametrize("name", ["model", "system"])
def test_one_row_per_system_is_no_comparison(given, name):
    (table,) = given(**{"t.csv": {name: [*"abc"], "score": [41.4, 37.5, 30.2], "lower": [37.5, 35.1, 28]}})
    assert "one row per system: a test takes the results" in asked(table, system_column=name, score_column="score")


@pytest.mark.parametrize("name", ["model", "codec", "Methode", "classifier"])
@pytest.mark.parametrize("mean", ["Average", None])
def test_a_row_for_each_system_is_turned(given, name, mean):
    """Data sets in columns are no systems, whatever stands beside them."""
    own = {"cedar": [8.1, 9.3, 7.7], "lotus": [2.2, 3.1, 2.9], "poppy": [5.0, 6.2, 5.5]}
    means = {mean: [round(sum(row) / 3, 6) for row in zip(*own.values(), strict=True)]} if mean else {}
    (table,) = given(**{"t.csv": {name: ["otter", "heron", "lynx"], **means, "License": ["Open", "MIT", "GPL"], **own}})
    said = asked(table)
    (way,) = proposals(said)
    assert way == {"transpose": True, **({"ignore": [mean]} if mean else {})}
    assert "(3 systems: 'otter', 'heron', 'lynx'; 3 rows" in said
    evaluation = read(table, **way)
    assert (evaluation.systems, evaluation.ids) == (("otter", "heron", "lynx"), tuple(own))
    assert evaluation.stats[:, :, 0].T.tolist() == [*own.values()]
    if not mean:
        assert read(table, id_column=name).systems == tuple(own)  # told


def test_a_leaderboard_of_one_metric_is_turned_and_has_its_direction(given):
    """Systems are rows that a column names, so that they may be called like metrics; one lacks a result."""
    columns = {
        "model": ["lab/otter", "lab/heron-acc", "lab/lynx"],
        "Avg. WER": [3.1, 4.2, 3.9],
        "RTFx": [524.8, 280, -1],
        "Model size (B)": [2, 0.6, 1],
        "AMI WER": [4.1, 5.0, 4.7],
        "Ted WER": [2.2, 3.1, 2.9],
        "Earnings WER": [3.0, 4.5, 4.1],
    }
    (table,) = given(**{"t.csv": columns})
    (way,) = proposals(asked(table))
    assert way == {"transpose": True, "ignore": ["Avg. WER", "RTFx", "Model size (B)"]}
    evaluation = read(table, **way)
    assert (evaluation.systems, evaluation.metric.higher_is_better) == (tuple(columns["model"]), False)
    assert read(table, **way, higher_is_better=True).metric.higher_is_better
    assert sigjax.doctor(table).options["ignore"] == way["ignore"]  # what was tried, and no part of it
    (lacking,) = given(**{"l.csv": columns | {"Ted WER": [2.2, 3.1, ""]}})
    assert "give --transpose --ignore 'Avg. WER' 'RTFx' 'Model size (B)' (more is asked then)" in asked(lacking)


def test_runs_beside_pipelines_are_asked_about(given):
    rows = [*itertools.product(["tadgan", "arima"], [f"s{k}" for k in range(6)])]
    columns = {name: list(own) for name, own in zip(("pipeline", "signal"), zip(*rows, strict=True), strict=True)}
    columns |= {"run_id": [f"r{k // 3}" for k in range(12)], "f1": [*A, *B]}
    said = asked(*given(**{"t.csv": columns}))
    assert "which column holds the systems, 'pipeline', 'run_id'? give --system-column 'pipeline' (2 systems: " in said


@pytest.mark.parametrize("option", [{}, {"score_column": "auc"}])
def test_scores_of_a_property_like_column_of_systems(given, option):
    """A column of scores that is told was asked for once more."""
    columns = {
        "Tool": ["x"] * 6 + ["y"] * 6,
        "task": [f"t{k}" for k in range(6)] * 2,
        "auc": [*A, *B],
        "sec": [1.5] * 12,
    }
    (table,) = given(**{"t.csv": columns})
    if option:
        assert read(table, **option).systems == ("x", "y")
    else:
        assert proposals(asked(table))[0] == {"system_column": "Tool", "score_column": "auc"}


def test_scores_of_files_are_proposed(given):
    own = {"acc_mean": A, "acc_standard_deviation": B, "time_sec": B}
    files = given(**{f"{x}.csv": {"dataset": [f"d{k}" for k in range(6)], **own} for x in "pq"})
    said = asked(*files)
    assert "needs value: which of 'acc_mean', " in said
    assert proposals(said) == [{"score_column": "acc_mean"}]
    assert "prediction" not in str(sigjax.doctor(*files).reading)


def test_a_row_of_metrics_for_each_system_is_no_comparison(given):
    rows = {
        "model": ["otter", "heron", "lynx"],
        "score": [41.4, 37.5, 30.2],
        "lower": [37.5, 35.1, 28],
        "upper": [45, 40, 33],
    }
    said = asked(*given(**{"t.csv": rows}))
    assert "a test takes results on several instances, and not their mean" in said
    assert not proposals(said)


def test_both_directions_are_named_where_more_is_asked_then(given):
    columns = {"algo": ["x", "x", "y", "y"] * 2, "file": ["v1"] * 4 + ["v2"] * 4, "time": [1, 2, 3, 5, 4, 6, 7, 9]}
    said = asked(*given(**{"t.csv": columns}))
    assert said.endswith("? give --lower-is-better or --higher-is-better (more is asked then)")


def test_repeated_rows_are_runs_where_they_are_told_to_be(given):
    columns = {"system": ["A", "A", "B", "B"] * 2, "file": ["v1"] * 4 + ["v2"] * 4, "score": [1, 2, 3, 5, 4, 6, 7, 9]}
    (table,) = given(**{"t.csv": columns})
    assert proposals(asked(table)) == [{"runs": "rows"}]
    evaluation = read(table, runs="rows")
    assert (evaluation.ids, evaluation.runs) == (("v1", "v1", "v2", "v2"), ("1", "2", "1", "2"))
    assert evaluation.stats[:, :, 0].tolist() == [[1, 2, 4, 6], [3, 5, 7, 9]]
    fewer = {name: own[:-1] for name, own in columns.items()}
    assert "'v2' of system 'B' has 1 rows, and others have 2" in asked(*given(**{"f.csv": fewer}), runs="rows")


def test_files_of_failures_alone_compare_nothing(write):
    for name, ids in (("a", (1, 2, 3)), ("b", (3, 4))):
        write(f"{name}.jsonl", "".join(f'{{"id": {i}, "valid": false}}\n' for i in ids))
    for missing in ("error", "zero"):
        said = asked("a.jsonl", "b.jsonl", score_column="valid", missing=missing)
        assert "all results are 0, and systems have different instances, as if files list failures alone" in said


# Gold labels.


@pytest.mark.parametrize("label", ["y_true", "label", "gold"])
@pytest.mark.parametrize("predicted", ["prediction", None])
@pytest.mark.parametrize("index", [True, False])
def test_gold_labels_in_a_file_are_those_that_are_named_so(given, label, predicted, index):
    """Neither row numbers nor a fold, though both files have them; predictions may be called like the labels."""
    gold, guess = [1, 0, 1, 1, 0, 1], {"svm": [1, 0, 1, 1, 0, 0], "mlp": [1, 1, 0, 1, 0, 0]}
    ids, number = [f"{x}.png" for x in "abcdef"], {"": range(6)} if index else {}
    files = {"gold.csv": {**number, "file": ids, "fold": [0, 1] * 3, label: gold}}
    for name, own in guess.items():
        rows = {"file": ids[::-1], "fold": [1, 0] * 3, predicted or label: own[::-1]}
        files[f"{name}.csv"] = {**number, **rows}
    given(**files)
    evaluation = read("svm.csv", "mlp.csv", gold="gold.csv")
    means = evaluation.stats[:, :, 0].sum(axis=1) / 6
    assert dict(zip(evaluation.systems, means.tolist(), strict=True)) == {
        name: pytest.approx(np.mean(np.equal(own, gold))) for name, own in guess.items()
    }


def test_seeds_of_folds_are_no_repetitions(given):
    """A seed for each fold, which differs between systems, made a run of each fold."""
    rows = [*itertools.product(["kc", "car"], ["x", "y"], range(5))]
    columns = {
        name: list(own) for name, own in zip(("task", "framework", "fold"), zip(*rows, strict=True), strict=True)
    }
    columns |= {"seed": range(1000, 1000 + len(rows)), "acc": [0.8 + (7 * k % 11) / 100 for k in range(len(rows))]}
    table = sigjax.classical_tests(*given(**{"t.csv": columns}), design="folds")
    assert {one.data_set for one in table} == {"kc", "car"}


# The lexicon.


def test_names_of_the_lexicon():
    words = [("WER", "lower"), ("f1@10", "higher"), ("acc_svm", "higher"), ("A", "unknown"), ("time_sec", "ask")]
    assert [(name, lexicon().direction(name)) for name, _ in words] == words
    assert not is_measure("mean")
    assert speaks_against("run__MIN") == "aggregate"


def test_a_lexicon_of_ones_own(given, write):
    write("mine.toml", '[metrics]\nlower = "defects"\nhigher = ["loss"]\n[system]\nwords = "contender"\n')
    columns = {"contender": ["x"] * 8 + ["y"] * 8, "clip": NAMES * 2, "defects": [*LOW, *HIGH]}
    (table,) = given(**{"t.csv": columns})
    evaluation = read(table, lexicon="mine.toml")
    assert (evaluation.systems, evaluation.metric.higher_is_better) == (("x", "y"), False)
    with using("mine.toml"):
        assert lexicon().direction("loss") == "higher"
    assert lexicon().direction("loss") == "lower"
    assert isinstance(lexicon(), Lexicon)
    for text, said in (
        ("[metrik]\nwords = 'x'", "no role 'metrik' in a lexicon; roles: "),
        ("[fold]\nlower = 'x'", "[fold] takes words, got 'lower'"),
        ("[fold]\nwords = 3", "[fold] words: expected names, as a text or a list of texts"),
        ("[fold\n", "is no TOML"),
    ):
        write("wrong.toml", text)
        assert said in asked(table, lexicon="wrong.toml")


# Tables made at random.


@pytest.mark.parametrize("start", range(0, 320, 80))
def test_tables_at_random_are_read_as_meant_or_asked_about(start):
    """20,000 of them: `python tests/readers/tables.py 20000`."""
    first, after, wrong = counts(80, 100_000 + start)
    assert not wrong
    assert sum(first.values()) == 80
    assert after["right"] > 30


@pytest.mark.parametrize("rows", [999, 1000, 1999, 2000, 5001])
def test_what_is_made_of_others_is_found_in_tables_of_any_length(rows):
    """Of long ones, some rows are looked at."""
    a, b = np.random.default_rng(rows).random((2, rows)).round(3)
    assert [*made_of_others({"A": a, "B": b, "zz": (a + b) / 2})] == ["zz"]
    assert [*made_of_others({"A": a, "B": b, "other": np.roll(a, 1)})] == []
