"""`compare` takes a data frame, a dict of arrays or a path, as `read` and `Evaluation.from_...` do."""

import copy
import pickle
from dataclasses import replace
from functools import partial

import pytest

import sigjax
from sigjax import Evaluation, InputError
from sigjax.cli import _run

pandas = pytest.importorskip("pandas")
A, B, C = [1, 1, 1, 0, 1, 1], [1, 0, 0, 0, 1, 0], [0, 0, 1, 0, 1, 1]
IDS = [f"q{i}" for i in range(6)]
ROWS = [(name, i, x) for name, numbers in (("A", A), ("B", B), ("C", C)) for i, x in zip(IDS, numbers, strict=True)]
LONG = pandas.DataFrame(ROWS, columns=["model", "question", "correct"]).assign(seconds=0.5)[
    ["question", "seconds", "model", "correct"]
]
NAMED = {"system_column": "model", "id_column": "question", "score_column": "correct"}
EXPECTED = sigjax.compare(Evaluation.from_arrays({"A": A, "B": B, "C": C}, ids=IDS, metric="accuracy"), device="numpy")


def of_table(data, **options):
    """The report of a table without its first note, which says what was taken from which column."""
    report = sigjax.compare(data, read={"metric": "accuracy", **options}, device="numpy")
    assert report.notes[0].startswith("read from the table: ")
    return replace(report, notes=report.notes[1:])


def test_a_long_frame_with_other_names(tmp_path):
    assert of_table(LONG, **NAMED) == EXPECTED
    LONG.to_csv(path := tmp_path / "long.csv", index=False)
    assert of_table(path, **NAMED) == EXPECTED
    assert of_table(str(path), **NAMED) == EXPECTED


def test_a_wide_frame_and_a_dict_of_arrays():
    wide = LONG.pivot_table(index="question", columns="model", values="correct")
    assert of_table(wide) == EXPECTED
    by_id = {name: dict(zip(IDS, numbers, strict=True)) for name, numbers in (("A", A), ("B", B), ("C", C))}
    assert sigjax.compare(by_id, read={"metric": "accuracy"}, device="numpy") == EXPECTED
    arrays = sigjax.compare({"A": A, "B": B, "C": C}, read={"metric": "accuracy"}, device="numpy")
    assert list(arrays) == list(EXPECTED)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (LONG, {"system_column": "modle"}, "system_column: no column 'modle'; did you mean 'model'"),
        (LONG, NAMED | {"metric": "fscore"}, "score_column is for a metric of one number; metric 'fscore' takes tp"),
        (LONG, NAMED | {"counts": {"value": "seconds"}}, "score_column is for a metric of one number"),
        (LONG[["question", "correct"]], {"score_column": "correct"}, "score_column is for long tables"),
        ({"A": A, "B": B}, {"id_column": "question"}, "id_column means nothing for arrays, which Evaluation"),
        (LONG, NAMED | {"filter": "strict"}, "filter means nothing for the data frame; leave it out"),
        (
            Evaluation.from_arrays({"A": A, "B": B}),
            {"metric": "mean"},
            "metric means nothing for an Evaluation, which is read",
        ),
        (3, {}, "data must be .* a data frame, or the path of a table, got int"),
        ([3], {}, "expected an Evaluation"),
    ],
)
def test_what_does_not_belong_together_is_refused(data, options, message):
    with pytest.raises(InputError, match=message):
        sigjax.compare(data, read=options)


EVALUATION = "data must be an Evaluation, a dict .*, got NoneType"
WRONG = {
    "compare nothing": (lambda: sigjax.compare(None), "data must be an Evaluation, a dict .*, got NoneType"),
    "compare numbers": (lambda: sigjax.compare([1, 2]), "expected an Evaluation, .*, or a list of them, got int"),
    "read a number": (lambda: sigjax.read(3), "data must be an Evaluation, .*, or the path of a table, got int"),
    "read a path and a number": (lambda: sigjax.read("a", 3), "expected the paths of files, got int"),
    "arrays": (lambda: Evaluation.from_arrays(None), "expected numbers by system, .*, got NoneType"),
    "an array": (lambda: Evaluation.from_arrays({"A": None, "B": [1]}), "system 'A': expected numbers, got NoneType"),
    "a gap": (lambda: sigjax.permutation_test([1, None], [1, 0]), "system 'a': expected numbers, got NoneType"),
    "large": (
        lambda: sigjax.permutation_test([2**70, 1], [1, 0]),
        "system 'a': expected numbers, got whole numbers beyond",
    ),
    "texts": (lambda: sigjax.permutation_test("a", "b"), "system 'a': expected numbers, got text"),
    "a mean": (lambda: sigjax.compare({"SVM": 0.93}), "system 'SVM': one number, 0.93, is a mean; give the result on"),
    "means": (lambda: sigjax.compare({"SVM": "0.93", "kNN": "0.9"}), "system 'SVM': one number, 0.93, is a mean; give"),
    "a scalar": (lambda: sigjax.permutation_test(0.9, 0.8), "system 'a': one number, 0.9, is a mean; give the result"),
    "metrics": (
        lambda: sigjax.compare({"SVM": {"accuracy": 0.9, "f1": 0.88}, "kNN": {"accuracy": 0.8, "f1": 0.85}}),
        "instances are named like metrics, 'accuracy', 'f1': a score of each metric is no result on an instance",
    ),
    "lengths": (
        lambda: sigjax.compare({"A": A, "B": B[:3]}),
        "systems have different instances: 'A' has 6 instances, 'B' has 3; give both in the same order on",
    ),
    "words": (lambda: sigjax.compare({"A": ["x", "y"], "B": ["x", "x"]}), ".*got text; predicted labels are scored by"),
    "words of all": (
        lambda: sigjax.compare(pandas.DataFrame({"A": ["x", "y", "x"], "B": ["x", "x", "y"]})),
        "data frame: columns 'A', 'B' hold words, and no scores; .*; if they are labels, give gold ones, too",
    ),
    "percentages": (
        lambda: sigjax.compare(pandas.DataFrame({"A": ["93.1%", "90.2%"], "B": ["92.0%", "91.5%"]})),
        "data frame, row 1, column 'A': expected a number, got '93.1%'; it is a percentage; leave out all % signs",
    ),
    "a series of gold labels": (
        lambda: sigjax.compare(LONG, read={"gold": LONG["correct"]}),
        "gold must be a name, got a Series; labels in an array are for Evaluation.from_predictions",
    ),
    "a list of clusters": (
        lambda: sigjax.compare(LONG, read={"cluster": ["a", "b"]}),
        r"cluster must be a name, got a list; labels in an array are for Evaluation.from_arrays\(..., clusters=",
    ),
    "no metric": (
        lambda: sigjax.compare(LONG, read={"metric": [], **NAMED}),
        "metric: the list is empty; name one metric",
    ),
    "audit": (lambda: sigjax.audit(None), EVALUATION),
    "power": (lambda: sigjax.power(None, instances=[9]), EVALUATION),
    "equivalence": (lambda: sigjax.equivalence(None, margin=1), EVALUATION),
    "gains": (lambda: sigjax.studies.gains(None), EVALUATION),
    "a report": (lambda: sigjax.Report.from_json(None), "expected the path of a report, or its JSON, got NoneType"),
    "a test": (lambda: sigjax.compare({"A": [1], "B": [2]}, test=3), "test must be one or more of permutation"),
    "a name": (lambda: sigjax.compare({"A": [1], "B": [2]}, baseline=3), "baseline must be a name, got 3"),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_things_of_another_type_are_refused_in_one_line(call, message):
    with pytest.raises(InputError, match=f"^{message}") as refused:
        call()
    assert "\n" not in str(refused.value)


OTHER_NAMES = {
    "alpha": (0.01, "use confidence_level=0.99"),
    "ci": (0.9, "use confidence_level"),
    "random_state": (0, "use seed"),
    "n_resamples": (99, "use resamples"),
    "n_permutations": (99, "use resamples"),
    "clusters": ("doc", r"data are read with it: write sigjax.read\(..., cluster='doc'\) or read={'cluster': 'doc'}"),
    "y_true": ("doc", r"data are read with it: write sigjax.read\(..., gold='doc'\) or read={'gold': 'doc'}"),
    "groups": (["x"] * 60, r"data are read with it: write sigjax.read\(..., cluster=...\) or read={'cluster': ...}"),
    "p_adjust": ("holm", "use correction"),
}


@pytest.mark.parametrize(("name", "value", "said"), [(name, *own) for name, own in OTHER_NAMES.items()])
def test_options_by_the_names_of_other_programs_are_refused_with_ours(name, value, said):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'; {said}$"):
        sigjax.compare({"A": A, "B": B}, **{name: value})


def test_calls_in_the_manner_of_others_are_refused_with_ours():
    with pytest.raises(TypeError, match=r"too many positional .*; for two arrays: sigjax.permutation_test\(a, b\)"):
        sigjax.compare(A, B)
    for build in (Evaluation.from_arrays, partial(Evaluation.from_predictions, A)):
        with pytest.raises(TypeError, match="'cluster'; did you mean 'clusters'"):
            build({"A": A, "B": B}, cluster=A)
    hints = {"pvalue": "pvalue", "p_value": "p_value", "ci": "interval", "significant": "p_adjusted < 0.05"}
    for name, said in hints.items():
        with pytest.raises(AttributeError, match=rf"'{name}'; write report\[.A., .B.\].{said} for the pair"):
            getattr(EXPECTED, name)
    with pytest.raises(AttributeError, match=r"no attribute 'summary'; write print\(report\)"):
        EXPECTED.summary()  # pyright: ignore[reportAttributeAccessIssue]
    for name, said in {"confidence_interval": "interval", "significant": "p_adjusted < 0.05"}.items():
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; write {said}$"):
            getattr(EXPECTED[0], name)
    assert not hasattr(EXPECTED, "zzz")
    assert pickle.loads(pickle.dumps(EXPECTED)) == copy.copy(EXPECTED) == EXPECTED


def test_a_list_of_metrics_is_several(tmp_path, capsys):
    """In `compare`, `read` and studies of several: what the command line makes of -m a b."""
    frame = pandas.DataFrame({"y_true": [*"aabbab"] * 6, "pred_A": [*"aabbaa"] * 6, "pred_B": [*"abbaab"] * 6})
    frame.to_csv(path := tmp_path / "t.csv", index=False)
    names = ["accuracy", "macro-fscore"]
    expected = [sigjax.read(path, metric=name) for name in names]
    assert _run(["compare", str(path), "-m", *names, "-o", str(tmp_path / "r.json")], debug=True) == 0
    capsys.readouterr()
    typed = sigjax.Report.from_json(tmp_path / "r.json")
    for metric in (names, ("accuracy", "f1_macro")):
        for data in (frame, path, str(path)):
            report = sigjax.compare(data, read={"metric": metric})
            assert [one.metric.name for one in report.evaluations] == names
            assert [(each.metric, each.p_value) for each in report] == [(each.metric, each.p_value) for each in typed]
        made = sigjax.read(path, metric=metric)
        assert [each.stats.tolist() for each in made] == [each.stats.tolist() for each in expected]  # pyright: ignore
    assert [each.metric for each in sigjax.equivalence(frame, read={"metric": names}, margin=0.2)] == names
    power = sigjax.power(frame, read={"metric": ["accuracy", "fscore"]}, instances=[36], repetitions=5)
    assert list(dict.fromkeys(point.metric for point in power.points)) == ["accuracy", "fscore"]
    arrays = sigjax.compare({"A": A, "B": B}, read={"metric": ["accuracy", "mean"]})
    assert [one.metric.name for one in arrays.evaluations] == ["accuracy", "mean"]
    report = sigjax.compare(frame, read={"metric": names})
    assert sigjax.verify(report, frame, read={"metric": names}).same_data
    for one_alone in (sigjax.classical_tests, sigjax.studies.flips, sigjax.studies.rank, sigjax.one_sample):
        with pytest.raises(InputError, match="one metric|several are for"):
            one_alone(frame, read={"metric": names}, **({"against": 0.5} if one_alone is sigjax.one_sample else {}))
    with pytest.raises(InputError, match="give each metric once"):
        sigjax.compare(frame, read={"metric": ["accuracy", "accuracy_score"]})


def test_studies_take_what_compare_takes(tmp_path):
    pandas = pytest.importorskip("pandas")
    arrays = {"A": [1, 1, 1, 0, 1, 1] * 6, "B": [0, 1, 0, 0, 1, 0] * 6}
    frame = pandas.DataFrame({"id": [f"q{i}" for i in range(36)]} | arrays)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name in arrays:
        frame[["id", name]].to_csv(tmp_path / f"{name}.csv", index=False)
    paths = {name: tmp_path / f"{name}.csv" for name in arrays}
    evaluation = Evaluation.from_arrays(arrays, metric="accuracy")
    power = {"instances": [36], "repetitions": 20}

    def numbers(data, **read):
        return (
            sigjax.compare(data, read=read)[0].p_value,
            sigjax.power(data, **power, read=read).points[0].rejected,
            sigjax.equivalence(data, margin=0.1, read=read)[0].p_value,
            sigjax.audit(data, repetitions=5, read=read).repetitions,
            sigjax.classical_tests(data, read=read).delta,
        )

    expected = numbers(evaluation)
    for data in (frame, arrays, tmp_path / "t.csv", str(tmp_path / "t.csv"), paths, [*paths.values()]):
        assert numbers(data, metric="accuracy") == expected
    three = frame.assign(C=frame["A"])
    assert sigjax.power(three, read={"metric": "accuracy", "only": ["A", "B"]}, **power).signature == (
        sigjax.power(evaluation, **power).signature
    )
    with pytest.raises(
        TypeError, match=r"power\(\) got an .* 'metrc'; data are read with it: .*read={'metric': 'accuracy'}"
    ):
        sigjax.power(frame, metrc="accuracy", **power)
    with pytest.raises(TypeError, match=r"equivalence\(\) got an .* 'zzz'; it takes .*margin"):
        sigjax.equivalence(frame, margin=0.1, zzz=1)
