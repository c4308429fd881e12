"""Tables that would be read as something else without a word: refused alike by every door, or warned of."""

import itertools
import json
import random

import numpy as np
import pytest

import sigjax
from sigjax import Evaluation, InputError, compare, read
from sigjax.cli import _run

ROWS = 20
IDS = [f"q{i}" for i in range(ROWS)]
LETTERS = random.Random(26).choices("ABCD", k=20)
FOLDS = [i % 5 for i in range(ROWS)]
BY_GOLD = "predictions are scored with --gold COLUMN (or a file) and --prediction COLUMN"
pytestmark = pytest.mark.usefixtures("here")


def classes(seed, number=5):
    return random.Random(seed).choices(range(number), k=ROWS)


def bits(seed):
    return classes(seed, 2)


def reals(seed):
    return [number / 1000 for number in classes(seed, 1000)]


def csv(columns):
    return "\n".join(",".join(map(str, row)) for row in [list(columns), *zip(*columns.values(), strict=True)]) + "\n"


def objects(columns):
    return json.dumps([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])


def encoded(name, columns):
    return objects(columns) if name.endswith(".json") else csv(columns)


@pytest.fixture
def given(write):
    """Write tables, by name; gives the names."""

    def write_all(**tables):
        return [write(name, encoded(name, own)).name for name, own in tables.items()]

    return write_all


@pytest.fixture
def refused(capsys):
    """What `compare`, `doctor` and `read` say of files, which must be the same, on one line."""

    def refusal(*files, **options):
        flags = [word for name, value in options.items() for word in (f"--{name}", *flat(value))]
        assert _run(["compare", *files, *flags], debug=False) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        said = err.removeprefix("sigjax: error: ").removesuffix("\n")
        assert _run(["doctor", *files, *flags, "--format", "json"], debug=False) == 2
        diagnosis = json.loads(capsys.readouterr().out)
        assert (diagnosis["refusal"], diagnosis["command"]) == (said, None)
        with pytest.raises(InputError) as caught:
            read(*files, **options)
        assert caught.value.flags == said
        return said

    return refusal


def flat(value):
    return [value] if isinstance(value, str) else value


def of_frame(columns, **options):
    return read(pytest.importorskip("pandas").DataFrame(columns), **options)


def wide(said, columns):
    """The refusal of a wide table is that of the same data frame."""
    with pytest.raises(InputError) as caught:
        of_frame(columns)
    assert caught.value.flags.replace("data frame", "t.csv").replace("row ", "line ") == said


# Gold labels as the scores of one file per system.

PREDICTED = {name: random.Random(name).choices([*"ABCD", ""], k=ROWS) for name in "ab"}
MMLU = {"question_id": range(70, 70 + ROWS), "question": IDS, "answer": LETTERS, "category": ["law"] * ROWS}


@pytest.mark.parametrize("name", ["answer_index", "answerIndex", "label_idx", "gold", "Gold_Label", "target", "label"])
def test_gold_labels_are_no_scores(given, refused, name):
    ending = "json" if name == "answer_index" else "csv"
    numbers = [*map("ABCD".index, LETTERS)]
    files = {f"{x}.{ending}": MMLU | {name: numbers, "pred": own} for x, own in PREDICTED.items()}
    said = refused(*given(**files))
    assert said == (
        f"a.{ending}: column {name!r} looks like gold labels, not like scores; expected scores of each system (1 for "
        f"right and 0 for wrong, or errors); {BY_GOLD}; give --score-column {name!r} if it holds scores"
    )
    assert read(*files, score_column=name).stats[:, :, 0].tolist() == [numbers, numbers]


def test_a_column_that_all_systems_have_alike_is_no_score(given, refused):
    """Joined by id: the second file has the rows in another order."""
    difficulty = classes(1, 4)
    one = {"id": IDS, "hops": difficulty, "text": [f"a{i}" for i in IDS]}
    two = {name: own[::-1] for name, own in one.items()} | {"text": [f"b{i}" for i in IDS]}
    said = refused(*given(**{"a.csv": one, "b.csv": two}))
    assert said.startswith("a.csv: column 'hops' is the same for all systems, as gold labels are, and scores are not; ")
    assert said.endswith("; give --score-column 'hops' if it holds scores")
    long = {name: [*own, *two[name]] for name, own in one.items()} | {"system": ["A"] * ROWS + ["B"] * ROWS}
    said = refused(*given(**{"long.csv": long}))
    assert said.startswith("long.csv: column 'hops' is the same for all systems")
    with pytest.raises(InputError, match="data frame: column 'hops' is the same for all systems"):
        of_frame(long)
    changed = two | {"hops": [*two["hops"][:-1], 9]}
    assert read(*given(**{"a.csv": one, "b.csv": changed})).stats[:, 0, 0].tolist() == [difficulty[0], 9]


# Predictions as the scores of one file per system.


@pytest.mark.parametrize(
    ("id", "name"),
    [("PassengerId", "Survived"), ("PassengerId", "Transported"), ("id", "Exited"), ("Id", "toxic"), ("ID", "Y/N")],
)
def test_submissions_are_no_scores(given, refused, id, name):
    files = {f"{x}.csv": {id: range(892, 892 + ROWS), name: bits(x)} for x in ("one", "two")}
    said = refused(*given(**files))
    assert said == (
        f"one.csv: column {name!r} may hold scores or predictions: give --score-column {name!r} if it holds scores (1 "
        "for right and 0 for wrong), or --gold FILE, of ids and labels, if it holds predictions"
    )
    assert read(*files, score_column=name).stats[:, :, 0].tolist() == [bits("one"), bits("two")]


@pytest.mark.parametrize(
    ("name", "numbers", "said"),
    [
        ("SalePrice", lambda x: classes(x, 10**6), "may hold scores or pred"),
        ("prediction", reals, "looks like predictions, not like scores"),
        ("y_pred", classes, "looks like predictions"),
        ("Predicted", bits, "looks like predictions"),
        ("predicted_label", classes, "looks like predictions"),
        ("pred", classes, "looks like predictions"),
        ("target", reals, "looks like gold labels"),
        ("Label", classes, "looks like gold labels"),
    ],
)
def test_predictions_are_no_scores(given, refused, name, numbers, said):
    files = {f"{x}.csv": {"id": range(ROWS), name: numbers(x)} for x in "ab"}
    assert refused(*given(**files)).startswith(f"a.csv: column {name!r} {said}")
    assert read(*files, score_column=name).systems == ("a", "b")


def test_the_command_of_the_refusals_compares_labels(given, compared):
    """Against accuracy counted here, for both ways to write a submission."""
    gold, one, two = classes(1, 2), classes(2, 2), classes(3, 2)
    files = {"GOLD": gold, "A": one, "B": two}
    given(**{name: {"PassengerId": range(ROWS), "Survived": own} for name, own in files.items()})
    report = compared("GOLD", "-i", "A", "B", "--reader", "id-labels", "-m", "accuracy")
    right = {name: np.mean(np.array(own) == gold) for name, own in (("A", one), ("B", two))}
    assert {each["name"]: each["score"] for each in report["systems"]} == pytest.approx(right)


# Gold labels and predictions as systems.

PAIRS = [
    *(("y_true", "y_pred"), ("yTrue", "yPred"), ("y", "y_hat"), ("actual", "predicted"), ("Actual", "Forecast")),
    *(("gold", "pred"), ("GOLD", "PREDICTION"), ("gold_label", "predicted_label"), ("target", "output")),
    *(("Expected", "Calculated"), ("expected_output", "actual_output"), ("ground_truth", "generated")),
    *(("reference", "hypothesis"), ("label", "prediction"), ("answer", "guess"), ("truth", "pred_bert")),
]


@pytest.mark.parametrize(("gold", "predicted"), PAIRS)
def test_gold_labels_and_predictions_are_no_systems(given, refused, gold, predicted):
    for ids, numbers in (({"id": IDS}, bits), ({}, reals)):
        columns = ids | {gold: numbers(1), predicted: numbers(2)}
        said = refused(*given(**{"t.csv": columns}))
        both = "expected_output" == gold
        look = "gold labels" if both else "gold labels and predictions"
        assert said.startswith(f"t.csv: columns {gold!r}, {predicted!r} look like {look}, not like ")
        one = "" if both else " (of one system, sigjax one-sample)"
        assert said.endswith(f"; {BY_GOLD}{one}; name them with --systems if they are systems")
        wide(said, columns)
        assert read("t.csv", only=[gold, predicted]).stats[:, :, 0].tolist() == [numbers(1), numbers(2)]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"gold": bits(1), "A": bits(2), "B": bits(3)}, "column 'gold' looks like gold labels, not like a system"),
        ({"A": classes(2), "Target": classes(1), "B": classes(3)}, "column 'Target' looks like gold labels"),
        ({"actual": reals(1), "arima": reals(2), "prophet": reals(3)}, "column 'actual' looks like gold labels"),
        (
            {"outcome": bits(1), "A": reals(2), "B": reals(3)},
            "column 'outcome' looks like gold labels, not like a system",
        ),
        ({"Survived": bits(1), "A": bits(2), "B": bits(3)}, "column 'Survived' looks like gold labels"),
        ({"ground_truth": bits(1), "A": reals(2), "B": reals(3)}, "column 'ground_truth' looks like gold labels"),
        (
            {"pred_bert": bits(1), "pred_gpt": bits(2)},
            "columns 'pred_bert', 'pred_gpt' look like predictions, not like sc",
        ),
    ],
)
def test_gold_labels_among_systems_are_no_system(given, refused, columns, said):
    columns = {"id": IDS, **columns}
    wide(found := refused(*given(**{"t.csv": columns})), columns)
    assert found.startswith(f"t.csv: {said}")


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"y_true": bits(1), "y_pred": bits(2)}, "systems 'y_true', 'y_pred' look like gold labels and predictions"),
        ({"gold": bits(1), "A": bits(2)}, "system 'gold' looks like gold labels, not like a system"),
        (
            {"faithfulness": reals(1), "answer_relevancy": reals(2)},
            "systems 'faithfulness', 'answer_relevancy' seem to h",
        ),
    ],
)
def test_arrays_are_refused_alike(write, refused, arrays, said):
    by_id = {name: dict(zip(IDS, own, strict=True)) for name, own in arrays.items()}
    for given in (arrays, {name: np.array(own) for name, own in arrays.items()}, by_id):
        for door in (sigjax.compare, Evaluation.from_arrays):
            with pytest.raises(InputError) as caught:
                door(given)
            assert str(caught.value).startswith(said)
            assert str(caught.value).endswith("; rename them if they are systems")
    np.savez(write("t.npz", b""), **{name: np.array(own) for name, own in arrays.items()})
    assert refused("t.npz").startswith(f"t.npz: {said}")
    assert read("t.npz", only=[*arrays]).systems == tuple(arrays)


# Metrics as systems.


@pytest.mark.parametrize(
    "names",
    [
        ("faithfulness", "answer_relevancy"),
        ("Faithfulness", "Answer Relevancy", "context_precision", "factual_correctness(mode=f1)", "latency"),
        ("rouge1_fmeasure", "rougeL_f", "bertscore_f1"),
        ("val_accuracy", "val_loss"),
        ("precision@5", "nDCG@10", "MAP"),
    ],
)
def test_metrics_are_no_systems(given, refused, names):
    columns = {"user_input": [f"What is {i}?" for i in IDS], "response": IDS}
    columns |= {name: reals(name) for name in names}
    said = refused(*given(**{"t.csv": columns}))
    assert said == (
        f"t.csv: columns {', '.join(map(repr, names))} seem to hold metrics; expected one column per system, of one "
        "metric: give one such file per system and --score-column NAME, or name them with --systems if they are systems"
    )
    wide(said, columns)
    assert read("t.csv", only=[*names]).systems == names
    given(**{"u.csv": columns})
    assert read("t.csv", "u.csv", score_column=names[0]).systems == ("t", "u")


# Files of games or data sets, each with all systems.

AGENTS = ["DQN", "IQN", "Rainbow", "C51"]


@pytest.mark.parametrize(
    "name",
    [
        "Agent",
        "alg_name",
        "Algorithm",
        "classifier_name",
        "classifier",
        "framework",
        "model",
        "Method",
        "learner",
        "strategy",
    ],
)
@pytest.mark.parametrize("rows", ["one", "several"])
def test_files_of_games_are_one_table(given, refused, name, rows):
    times = 5 if rows == "several" else 1
    columns = {name: AGENTS * times, "Iteration": [i // 4 for i in range(4 * times)]}
    games = {f"{x}.csv": columns | {"Value": reals(x)[: 4 * times]} for x in ("pong", "breakout")}
    files = given(**games)
    if rows == "several":
        said = (
            "pong.csv and 1 more, row 2: instance 'pong' of system 'DQN' is also on row 1; ids must be unique in each "
        )
        assert refused(*files) == f"{said}run (column 'file'; see --id-column, and --runs for trials)"
        assert len({*(read(*files, where="Iteration == 4").ids or ())}) == 2
        assert len({*(read(*files, runs="Iteration").runs or ())}) == 5
        return
    evaluation = read(*files)
    assert (evaluation.systems, evaluation.ids) == (tuple(AGENTS), ("pong", "breakout"))
    assert evaluation.stats[:, :, 0].T.tolist() == [own["Value"] for own in games.values()]
    assert read(*files, ignore=[name]).systems == ("pong", "breakout")


def test_agents_of_one_table_are_its_systems(given):
    columns = {"Agent": AGENTS * 5, "game": [f"g{i // 4}" for i in range(ROWS)], "Value": reals(1)}
    assert read(*given(**{"t.csv": columns})).systems == of_frame(columns).systems == tuple(AGENTS)
    properties = {"id": IDS, "framework": AGENTS * 5, "A": bits(1), "B": bits(2)}
    assert read(*given(**{"t.csv": properties})).systems == of_frame(properties).systems == ("A", "B")


def test_a_column_of_systems_holds_them_in_all_files(given):
    files = {f"{x}.csv": {"id": IDS, "who": ["A"] * 10 + ["B"] * 10, "score": bits(x)} for x in "ab"}
    files["b.csv"]["who"] = ["B"] * 10 + ["A"] * 10
    evaluation = read(*given(**files), system_column="who")
    assert (evaluation.systems, evaluation.ids) == (("A", "B"), tuple(IDS))
    assert evaluation.stats[0, :, 0].tolist() == [*files["a.csv"]["score"][:10], *files["b.csv"]["score"][10:]]
    assert read(*files).systems == ("a", "b")


# Rows that sum up the others.


@pytest.mark.parametrize(
    ("name", "what", "digits"),
    [
        *(("mean", "mean", 17), ("Average", "mean", 2), ("AVG", "mean", 3), ("overall", "mean", 4), ("all", "mean", 2)),
        *(("Total", "sum", 17), ("total:", "sum", 2), ("macro avg", "mean", 2)),
    ],
)
def test_a_row_of_means_or_sums_is_no_instance(given, refused, name, what, digits):
    for numbers in (bits, reals):
        one, two = ([*own, round(float(getattr(np, what)(own)), digits)] for own in (numbers(1), numbers(2)))
        ids = [*IDS, name]
        said = refused(*given(**{"t.csv": {"id": ids, "A": one, "B": two}}))
        assert (
            said
            == f"t.csv, line 22: {name!r} is the {what} of the other rows, and would count as an instance; delete it; "
            f'or give --where "id != {name!r}"'
        )
        wide(said.replace("line 22", "line 21"), {"id": ids, "A": one, "B": two})
        said = refused(*given(**{"a.csv": {"id": ids, "score": one}, "b.csv": {"id": ids, "score": two}}))
        assert said.startswith(f"a.csv, line 22: {name!r} is the {what} of the other rows")
        long = {"model": ["A"] * 21 + ["B"] * 21, "id": ids * 2, "score": [*one, *two]}
        assert refused(*given(**{"l.csv": long})).startswith(f"l.csv, line 22: {name!r} is the {what} of")
        with pytest.raises(InputError, match=f"'{name}' is the {what} of the other rows"):
            Evaluation.from_arrays({"A": dict(zip(ids, one, strict=True)), "B": dict(zip(ids, two, strict=True))})


def test_a_row_that_is_the_mean_of_one_system_alone_is_an_instance(write):
    rows = ["x,1,5", "average,2,9", "y,3,4", "z,2,6"]
    assert read(write("t.csv", "\n".join(["id,A,B", *rows]))).ids == ("x", "average", "y", "z")
    with pytest.raises(InputError, match="is the mean of the other rows"):
        read(write("t.csv", "\n".join(["id,A,B", rows[0], "average,2,5", *rows[2:]])))


def test_a_last_row_that_is_only_named_so_is_refused(given, refused):
    """The overall accuracy weighs unequal tasks, say; a word elsewhere may be called so, too."""
    table = {"task": [*IDS, "overall"], "A": [*reals(1), 0.9], "B": [*reals(2), 0.2]}
    said = (
        "t.csv, line 22: 'overall' is the last row, and is named like the mean or the sum of the others; delete it, or "
        "rename it if it is an instance"
    )
    assert refused(*given(**{"t.csv": table})) == said
    wide(said.replace("line 22", "line 21"), table)
    for words in (["total", *IDS], [*IDS, "meaning"], [*IDS[:10], "mean", *IDS[10:]]):
        evaluation = read(*given(**{"t.csv": {"word": words, "A": [*bits(1), 1], "B": [*bits(2), 0]}}))
        assert (evaluation.num_instances, len(evaluation.notes)) == (21, 1)
    only = {"word": ["mean", "total", "average", "sum"], "A": [1, 0, 1, 0], "B": [0, 1, 1, 0]}
    assert read(*given(**{"t.csv": only})).num_instances == 4


# Words for right and wrong.


@pytest.mark.parametrize(
    ("yes", "no"), [("correct", "wrong"), ("Pass", "FAIL"), ("right", "wrong"), ("passed", "failed")]
)
def test_words_for_right_and_wrong_are_numbers(given, yes, no):
    words = [[yes if bit else no for bit in bits(x)] for x in "ab"]
    note = f"{yes.lower()!r} is read as 1 and {no.lower()!r} as 0"
    table = {"id": IDS, "A": words[0], "B": words[1]}
    long = {"model": ["A"] * 20 + ["B"] * 20, "id": IDS * 2, "verdict": [*words[0], *words[1]]}
    several = {f"{x}.csv": {"id": IDS, "verdict": own} for x, own in zip("ab", words, strict=True)}
    for files in ({"t.csv": table}, {"t.csv": {"A": words[0], "B": words[1]}}, {"l.csv": long}, several):
        evaluation = read(*given(**files), metric="accuracy")
        assert evaluation.stats[:, :, 0].tolist() == [bits("a"), bits("b")]
        assert note in evaluation.notes
    beside = table | {"A": bits("a"), "B": bits("b"), "reviewed": words[0]}
    assert read(*given(**{"t.csv": beside})).systems == ("A", "B")


def test_words_that_may_be_answers_are_refused(given, refused):
    for words in (("yes", "no"), ("correct", "wrong", "abstained")):
        table = {"id": IDS, "A": [words[i % len(words)] for i in range(20)], "B": [words[0]] * 20}
        said = f"t.csv, line 2, column 'A': expected a number, got {words[0]!r}; write 1 for right and 0 for wrong"
        assert refused(*given(**{"t.csv": table})) == said


# Folds.

FOLD = (
    "warning: column {!r}: folds share training data, so that results on them depend on each other, p-values are too "
    "small and intervals too short; compare on a separate test set, or on several data sets; `sigjax classical "
    "--design folds` has a test of folds"
)


@pytest.mark.parametrize("name", ["fold", "Fold", "cv_fold", "fold_id"])
def test_folds_are_warned_of(capsys, given, compared, name):
    """On top of the report, whatever the fold is taken for."""
    ids, own = {"id": IDS}, {name: FOLDS, "A": reals(1), "B": reals(2)}
    text = own | {name: [f"Fold{k}" for k in FOLDS]}
    systems = {"only": ["A", "B"]}
    for columns, options in ((ids | own, systems), (ids | text, {}), (ids | own, {"cluster": name, **systems})):
        assert FOLD.format(name) in read(*given(**{"t.csv": columns}), **options).notes
        assert FOLD.format(name) in of_frame(columns, **options).notes
    long = {"model": ["A", "B"] * 10, name: [i // 2 for i in range(ROWS)], "acc": reals(3)}
    path = given(**{"t.csv": long})[0]
    assert FOLD.format(name) in compared(path)["notes"]
    assert _run(["doctor", path, "--format", "json"], debug=False) == 0
    assert FOLD.format(name) in json.loads(capsys.readouterr().out)["notes"]
    assert _run(["compare", path], debug=False) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.index("folds share training data") < out.index("difference")
    files = {f"{x}.csv": {name: range(10), "acc": reals(x)[:10]} for x in "ab"}
    assert FOLD.format(name) in read(*given(**files)).notes
    ids = {name: range(10), "A": reals(1)[:10], "B": reals(2)[:10]}
    assert FOLD.format(name) in read(*given(**{"t.csv": ids}), id_column=name).notes


def test_folds_of_several_data_sets_are_no_units(given):
    """The data sets are, and the p-value is that of their means."""
    rng = np.random.default_rng(0)
    rows = list(itertools.product(("SVM", "kNN"), [f"d{k}" for k in range(12)], range(5)))
    long = dict(zip(("model", "dataset", "fold"), map(list, zip(*rows, strict=True)), strict=True))
    long["acc"] = rng.random(len(rows)).round(3).tolist()
    for options in ({"runs": "fold", "id_column": "dataset"}, {"cluster": "dataset", "id_column": "dataset,fold"}):
        for evaluation in (read(*given(**{"t.csv": long}), **options), of_frame(long, **options)):
            assert not any("folds share" in note for note in evaluation.notes)
            means = np.array(long["acc"]).reshape(2, 12, 5).mean(axis=2)
            expected = compare(dict(zip(("SVM", "kNN"), means, strict=True)), interval="none")[0].p_value
            assert compare(evaluation, interval="none")[0].p_value == pytest.approx(expected, rel=1e-9)
    assert FOLD.format("fold") in of_frame(long, id_column="dataset,fold").notes
    wide = {"dataset": [f"d{k}" for k in range(12) for _ in range(5)], "fold": [*range(5)] * 12}
    wide |= {name: np.array(long["acc"]).reshape(2, 60)[k].tolist() for k, name in enumerate(("SVM", "kNN"))}
    assert not any("folds share" in note for note in of_frame(wide, id_column="dataset", runs="fold").notes)
    within = wide | {"fold": [k // 12 for k in range(60)], "dataset": [f"doc{k // 3}" for k in range(60)]}
    assert FOLD.format("fold") in of_frame(within, cluster="dataset").notes  # each document is in one fold
    split = within | {"fold": [k // 10 for k in range(60)]}
    assert FOLD.format("fold") in of_frame(split, cluster="dataset").notes  # a few are in two


# Ids of two columns.


# Judges.


@pytest.mark.parametrize("metric", ["fscore", "precision"])
def test_a_row_of_the_sums_of_counts_is_no_instance(given, refused, metric):
    counts = {
        "tp": [*classes(1), sum(classes(1))],
        "predicted": [9] * ROWS + [9 * ROWS],
        "gold": [8] * ROWS + [8 * ROWS],
    }
    files = {f"{x}.csv": {"id": [*IDS, "total"], **counts} for x in "ab"}
    assert "'total' is the sum of the other rows" in refused(*given(**files), metric=metric)


def annotations(model, annotators):
    rows = [
        {"dataset": "koala", "instruction": f"say {i}", "generator_1": "gpt4", "generator_2": model, "output_2": "x"}
        | {"preference": 1 + number}
        | ({} if annotator is None else {"annotator": annotator})
        for annotator in annotators
        for i, number in enumerate(reals(f"{model}{annotator}"))
    ]
    return json.dumps(rows)


def test_different_judges_are_not_compared(write, refused):
    write("a.json", annotations("a", ["weighted_gpt4"]))
    write("b.json", annotations("b", ["claude"]))
    assert refused("a.json", "b.json") == (
        "a.json: the systems differ in the annotator: 'weighted_gpt4', 'claude'; compare models by preferences of the "
        "same one; annotate all outputs with it"
    )
    write("b.json", annotations("b", ["claude", "weighted_gpt4"]))
    assert "say which with --filter NAME" in refused("a.json", "b.json")
    assert "no annotator 'claude'" in refused("a.json", "b.json", filter="claude")
    assert read("a.json", "b.json", filter="weighted_gpt4").systems == ("a", "b")


# Public files whose predictions passed for systems.


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"actual_risk_score": reals(1), "rf_predicted": reals(2), "xgb_predicted": reals(3)}, "'rf_predicted', 'xgb_"),
        ({"": range(ROWS), "customer_id": IDS, "prediction": bits(1), "probability": reals(2)}, "'prediction', 'proba"),
    ],
)
def test_predictions_beside_others_are_no_systems(given, refused, columns, said):
    found = refused(*given(**{"t.csv": columns}))
    assert found.startswith(f"t.csv: columns {said}")
    assert "look like predictions, not like scores" in found


@pytest.mark.parametrize(("names", "is_melted"), [(["run1"], False), (["run1", "run2"], True), (["run1", "b"], False)])
def test_only_several_columns_of_trials_are_proposed_as_trials(given, refused, names, is_melted):
    columns = {"system": ["A", "B"] * 10, "id": [i // 2 for i in range(ROWS)], "numerator": reals(1)}
    message = refused(*given(**{"t.csv": columns | {name: reals(k) for k, name in enumerate(names)}}), metric="ratio")
    assert "metric 'ratio' needs denominator" in message
    assert ("if they are trials" in message) == is_melted


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize(("label", "lower"), [("wer", True), ("loss", True), ("em", False), ("quality", False)])
def test_a_column_that_names_one_metric_says_which_scores_are_better(tmp_path, wide, label, lower):
    numbers = {"A": [0.1, 0.2, 0.3, 0.1], "B": [0.5, 0.6, 0.5, 0.7]}
    if wide:
        lines = [
            "id,metric,A,B",
            *(f"q{i},{label},{a},{b}" for i, (a, b) in enumerate(zip(*numbers.values(), strict=True))),
        ]
    else:
        rows = [(i, name, x) for name, own in numbers.items() for i, x in enumerate(own)]
        lines = ["id,system,metric,value", *(f"q{i},{name},{label},{x}" for i, name, x in rows)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    assert sigjax.read(path).metric.higher_is_better is not lower
    if not wide:
        path.write_text("\n".join([*lines, *(line.replace(label, "other") for line in lines[1:])]))
        assert sigjax.read(path, where=f"metric == '{label}'").metric.higher_is_better is not lower
    assert sigjax.read(path, where=f"metric == '{label}'", higher_is_better=True).metric.higher_is_better


def test_a_long_table_of_ranks_asks_which_are_better(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,system,rank\n" + "".join(f"{i},{name},{i % 2 + 1}\n" for i in range(4) for name in "AB"))
    with pytest.raises(InputError, match="column 'rank': are lower or higher scores better"):
        sigjax.read(path)
    assert not sigjax.read(path, lower_is_better=True).metric.higher_is_better


@pytest.mark.parametrize("name", ["y", "Y", "answer", "reference", "ref"])
def test_labels_of_two_classes_beside_predictions_are_no_system(write, name):
    rows = [f"q{i},{i % 3 // 2},{i % 2},{(i % 5) // 3}" for i in range(40)]
    path = write("t.csv", "\n".join([f"id,A,B,{name}", *rows]) + "\n")
    with pytest.raises(InputError, match=f"column '{name}' looks like gold labels, not like a system; .*gold='{name}'"):
        sigjax.read(path)
    assert sigjax.read(path, systems=["A", "B", name]).systems == ("A", "B", name)
    letters = write("u.csv", "\n".join(["id,x,y,z", *rows]) + "\n")
    assert sigjax.read(letters).systems == ("x", "y", "z")


@pytest.mark.parametrize(
    "names", [["A_seed1", "A_seed2", "B_seed1", "B_seed2"], ["svm run 1", "svm run 2", "mlp run 1"]]
)
def test_runs_of_systems_in_columns_are_no_systems(write, names):
    rows = [",".join([f"q{i}", *(str((i * k + k) % 7 / 7) for k in range(2, 2 + len(names)))]) for i in range(30)]
    path = write("t.csv", "\n".join([",".join(["id", *names]), *rows]) + "\n")
    with pytest.raises(InputError, match="are named like runs of systems, and would be compared like systems"):
        sigjax.read(path)
    assert sigjax.read(path, systems=names).systems == tuple(names)
