"""Missing results, pair by pair: each pair as if its two systems were alone, and nothing approximated silently."""

import json
from pathlib import Path

import numpy as np
import pytest

from sigjax import Evaluation, InputError, Report, compare, read
from sigjax.__main__ import main
from sigjax.comparison.analysis import analyse
from sigjax.records import FIELDS, SystemScore
from sigjax.records.results import Column
from sigjax.records.settings import adjust
from sigjax.run.context import Context
from sigjax.testing.tests import FACTS

SAME = ("score_a", "score_b", "delta", "better", "p_value", "log10_p", "p_interval", "method", "exceed", "error_bound")
SAME += ("standard_error", "standard_error_unclustered")
LABELS = {"clusters": {f"i{i}": f"c{i // 3}" for i in range(90)}, "strata": {f"i{i}": f"s{i // 45}" for i in range(90)}}


def numbers(kind: str, *, seed: int = 0) -> dict[str, dict[str, object]]:
    """Five systems on ninety instances: A and B have all, C and D lack the same, E lacks others."""
    rng = np.random.default_rng(seed)
    lost = rng.random(90) < 0.3
    lacks = {"A": np.zeros(90, bool), "B": np.zeros(90, bool), "C": lost, "D": lost, "E": rng.random(90) < 0.6}
    draw = {
        "right": lambda k: int(rng.random() < 0.5 + 0.06 * k),
        "whole": lambda k: int(rng.integers(0, 9 + 2 * k)),
        "decimal": lambda k: round(rng.normal(0.2 * k), 2),
        "counts": lambda k: [(tp := int(rng.integers(0, 3 + k))), tp + int(rng.integers(0, 4)), 9],
    }[kind]
    return {name: {f"i{i}": draw(k) for i in range(90) if not own[i]} for k, (name, own) in enumerate(lacks.items())}


def both(data, pair=None, *, metric, missing, labels=(), **options):
    chosen = data if pair is None else {name: data[name] for name in pair}
    more = {name: LABELS[name] for name in labels}
    evaluation = Evaluation.from_arrays(chosen, metric=metric, missing=missing, **more)
    return compare(evaluation, device="numpy", progress=False, **{"resamples": 999} | options)


@pytest.mark.parametrize(
    ("kind", "metric", "labels", "options"),
    [
        ("right", "accuracy", (), {}),
        ("right", "accuracy", (), {"correction": "none"}),
        ("decimal", "median", (), {"resamples": 200, "correction": "by"}),
        ("right", "accuracy", ("strata",), {"test": ["permutation", "bootstrap"], "method": "montecarlo"}),
        ("whole", "mean", ("clusters",), {"correction": "bh"}),
        ("whole", "mean", (), {"method": "montecarlo", "alternative": "greater", "correction": "none"}),
        ("decimal", "mean", ("clusters", "strata"), {"test": ["permutation", "bootstrap"], "interval": "percentile"}),
        ("decimal", "median", (), {"test": ["permutation", "bootstrap"], "resamples": 200}),
        ("counts", "fscore", (), {"interval": "bca", "test": "bootstrap"}),
        ("counts", "fscore", (), {"baseline": "C", "method": "exact", "budget": 600.0}),
        ("counts", "precision", ("clusters",), {"interval": "studentized", "method": "montecarlo"}),
    ],
)
def test_each_pair_is_that_of_its_two_systems_alone(kind, metric, labels, options):
    data = numbers(kind)
    report = both(data, metric=metric, missing="pairwise", labels=labels, **options)
    baseline, tests = options.get("baseline"), report.settings.tests
    assert len(report) == len(tests) * (4 if baseline else 10)
    for one in report:
        pair = {"baseline": one.b} if baseline else {}
        alone = both(data, (one.a, one.b), metric=metric, missing="drop", labels=labels, **options | pair)
        (expected,) = (each for each in alone if each.test == one.test)
        fields = (*SAME, "interval", "interval_kind") if one.joint_pairs == 1 else SAME  # the others hold together
        for field in fields:
            assert getattr(one, field) == getattr(expected, field), (one.a, one.b, field)
    for test in tests:
        own = [one for one in report if one.test == test]
        adjusted = adjust(np.array([one.p_value for one in own]), report.settings.correction)
        np.testing.assert_array_equal([one.p_adjusted for one in own], adjusted)


@pytest.mark.parametrize("options", [{}, {"interval": "percentile"}, {"test": "bootstrap"}])
def test_each_system_is_scored_on_what_it_has(options):
    data = numbers("counts")
    for system in both(data, metric="fscore", missing="pairwise", **options).systems:
        own = data[system.name]
        other = {id: [0, 1, 9] for id in own}
        alone = both({"x": own, "y": other}, metric="fscore", missing="error", **options)
        (expected,) = (each for each in alone.systems if each.name == "x")
        for field in ("score", "standard_error", "interval", "interval_kind"):
            assert getattr(system, field) == getattr(expected, field), (system.name, field)


def test_distributions_are_those_of_the_two_systems_alone():
    data = numbers("counts")
    report = both(data, metric="fscore", missing="pairwise", test=["permutation", "bootstrap"])
    alone = both(data, ("C", "E"), metric="fscore", missing="drop", test=["permutation", "bootstrap"])
    for test in ("permutation", "bootstrap"):
        assert report.distribution("C", "E", test=test) == alone.distribution("C", "E", test=test)


def test_the_family_is_all_pairs_also_where_tests_stop_by_themselves():
    data = numbers("counts")
    stopped = both(data, metric="fscore", missing="pairwise", resamples="auto", method="montecarlo")
    exact = both(data, metric="fscore", missing="pairwise", method="exact", budget=600.0)
    for one, true in zip(stopped, exact, strict=True):
        assert not one.decided or (one.p_adjusted < 0.05) == (true.p_adjusted < 0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correction": "maxt"}, "correction maxt needs all pairs on the same instances.*use holm"),
        ({"interval": "simultaneous"}, "interval simultaneous .*use auto"),
        ({"leaderboard": True}, "the leaderboard needs .*leave it out"),
        ({"extend": "report.json"}, "an extended report .*compare anew"),
    ],
)
def test_what_needs_all_pairs_on_the_same_instances_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        both(numbers("right"), metric="accuracy", missing="pairwise", **options)


def test_designs_are_refused():
    rows = [(s, f"i{i}", r, (i + r) % 2) for s in "AB" for i in range(6) for r in range(2) if (s, i) != ("A", 3)]
    frame = pytest.importorskip("pandas").DataFrame(rows, columns=["system", "id", "run", "value"])
    evaluation = Evaluation.from_dataframe(frame, runs="run", missing="pairwise")
    assert (
        compare(evaluation, device="numpy")["A", "B"]
        == compare(Evaluation.from_dataframe(frame, runs="run", missing="drop"), device="numpy")["A", "B"]
    )
    for design in ("crossed", "nested"):
        with pytest.raises(InputError, match=f"design {design} needs all pairs"):
            compare(evaluation, design=design, test=["permutation", "bootstrap"])


def test_pairs_without_a_common_instance_are_left_out_and_named():
    data = {"A": {"x": 1, "y": 0}, "B": {"x": 0, "y": 1, "z": 1}, "C": {"z": 1}}
    report = both(data, metric="mean", missing="pairwise")
    assert [(one.a, one.b) for one in report] == [("A", "B"), ("B", "C")]
    assert "warning: not compared, since they have no instance in common: A - C" in report.notes
    assert "not compared" in report.to_text()
    with pytest.raises(InputError, match="no two systems have an instance in common"):
        both({"A": {"x": 1}, "B": {"y": 1}}, metric="mean", missing="pairwise")


@pytest.mark.parametrize("content", ["id,A,B,C\nx,1,0,\n", "id,C,A,B\nx,,1,0\ny,NaN,1,1\n", "id,A,C\nx,1,\ny,0,\n"])
def test_a_system_without_any_instance_is_named(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=r"t\.csv: system 'C' has no instance; leave it out"):
        read(path, missing="pairwise")
    if "B" in content:
        assert read(path, missing="pairwise", only=["A", "B"]).systems == ("A", "B")


def table(tmp_path, data) -> str:
    path = tmp_path / "scores.tsv"
    ids = [f"i{i}" for i in range(90)]
    rows = [[id, *(str(own.get(id, "")) for own in data.values())] for id in ids]
    path.write_text("\n".join("\t".join(row) for row in [["id", *data], *rows]) + "\n")
    return str(path)


def test_the_commands_say_what_is_missing(tmp_path, capsys):
    path, saved = table(tmp_path, numbers("right")), str(tmp_path / "report.json")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        return ended.value.code, capsys.readouterr()

    code, said = run("compare", path, "-m", "accuracy", "--missing", "drop")
    assert code == 0
    assert " ".join(said.out.split()).startswith("warning: dropped ")
    assert "that no other lacks)" in said.out
    assert "--missing pairwise tests each pair" in " ".join(said.out.split())
    code, said = run("compare", path, "-m", "accuracy", "--missing", "pairwise", "-o", saved)
    assert code == 0
    assert "|missing:pairwise|" in json.loads(Path(saved).read_text())["signature"]
    assert run("verify", saved, path, "--missing", "pairwise")[0] == 0
    assert run("verify", saved, path, "--missing", "drop")[0] == 3
    wanting = (["extract", "-o", str(tmp_path / "x.npz")], ["classical"])
    wanting += (
        ["research", "audit"],
        ["power", "--instances", "90"],
        ["equivalence", "--margin", "1"],
        ["research", "gains"],
    )
    for name, *more in wanting:
        command = [name, more[0], path, *more[1:]] if name == "research" else [name, path, *more]
        command += ["--only", "A", "E"]
        code, said = run(*command, "-m", "accuracy", "--missing", "pairwise")
        assert (code, said.err.count("\n")) == (2, 1), (command, said.err)
        assert "pairwise" in said.err, (command, said.err)


def test_without_missing_results_nothing_changes():
    data = {name: own for name, own in numbers("right").items() if name < "C"}
    with_option, without = (both(data, metric="accuracy", missing=missing) for missing in ("pairwise", "error"))
    assert with_option.to_json() == without.to_json()


def test_letters_and_ranks_follow_the_decisions_on_pairs():
    """C beats A where both have results, though A, which has easy instances more, has the higher score."""
    easy, hard = [f"e{i}" for i in range(60)], [f"h{i}" for i in range(30)]
    data = {
        "A": dict.fromkeys(easy, 1) | dict.fromkeys(hard, 0),
        "B": dict.fromkeys(hard, 0) | dict.fromkeys(easy[:10], 1),
        "C": dict.fromkeys(hard, 1) | dict.fromkeys(hard[:14], 0),
    }
    report = both(data, metric="accuracy", missing="pairwise")
    assert report["C", "A"].better == report["C", "B"].better == "C"
    assert report["C", "A"].score_b == 0
    assert report["A", "B"].delta == 0
    ranks = {each.name: (each.rank_interval, each.letters, each.in_top_group) for each in report.systems}
    assert [each.name for each in report.systems] == ["A", "C", "B"]
    assert ranks == {"A": ((2, 3), "a", False), "C": ((1, 1), "b", True), "B": ((2, 3), "a", False)}


def test_a_run_goes_on_from_its_checkpoint_and_is_read_back(tmp_path):
    options = {"metric": "fscore", "missing": "pairwise", "method": "montecarlo", "test": ["permutation", "bootstrap"]}
    whole = both(numbers("counts"), **options)
    path = tmp_path / "run"
    for _ in range(2):
        assert both(numbers("counts"), checkpoint=path, **options).to_json() == whole.to_json()
    assert both(numbers("counts", seed=1), **options).data != whole.data
    back = Report.from_json(whole.to_json())
    assert back == whole
    assert len({back[i].score_a for i in range(4)}) == 3  # of A with B, with C and D, with E


def test_an_interval_without_a_low_end_is_none():
    column = Column.unless_nan(np.array([[np.nan, 1.0], [0.0, np.nan], [0.0, 1.0]]))
    assert column.where_present.tolist() == [False, True, True]


@pytest.mark.parametrize("missing", ["pairwise", "drop"])
def test_all_results_are_in_two_tables_and_facts_for_notes_are_not_in_the_report(missing):
    """What a report holds of pairs and systems are the columns that the tests wrote, and no others."""
    evaluation = Evaluation.from_arrays(numbers("whole"), missing=missing)
    report = compare(
        evaluation, test=["permutation", "bootstrap"], interval="percentile", resamples=200, device="numpy"
    )
    pairs, systems = analyse([evaluation], report.settings, Context("numpy"))
    assert pairs.only(FIELDS) == report.comparisons
    assert tuple(systems.records(SystemScore)) == report.systems
    sizes = {units for table in (pairs, systems) for (units,) in table.distinct("units")}
    has = np.ones((5, evaluation.num_instances)) if evaluation.present is None else evaluation.present.astype(float)
    assert sizes == set((has @ has.T).astype(int).ravel().tolist())
    for name in FACTS:
        assert len(pairs.column(name).values) == len(report.comparisons)
        with pytest.raises(KeyError):
            report.comparisons.column(name)
