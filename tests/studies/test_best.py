"""Monitor(goal="best"): evidence against systems by enumeration and by definition, drops, simulated levels, outputs."""

import json
import math
import pickle
import re
from itertools import permutations, product

import numpy as np
import pytest
from scipy import integrate, stats

import sigjax
from sigjax import InputError, Monitor
from sigjax.cli import _run
from sigjax.studies.best import evidence_against
from sigjax.studies.eprocess import log_e_values, one_sided_log_e

EFFECTS = 4.0 / 2.0 ** np.arange(5)
THREE = np.array([[0, 1], [0, 2], [1, 2]])


def of_side(differences, effects, binary):
    """E that the first is better, by definition: a weighted mean over effects, and half of Jeffreys' coins."""
    gains, weights, sizes = [], [], []
    for effect in effects:
        gain, sizes = 1.0, []
        for d in differences:
            sizes += [d * d] * bool(d)
            theta = effect / math.sqrt(sum(sizes) / len(sizes)) if sizes else 0.0
            gain *= math.exp(theta * d) / math.cosh(theta * d)
        gains.append(gain / math.sqrt(effect))
        weights.append(1 / math.sqrt(effect))
    e = sum(gains) / sum(weights)
    if not binary:
        return e
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    coins = integrate.quad(
        lambda p: (2 * p) ** wins * (2 - 2 * p) ** losses * 2 * stats.beta.pdf(p, 0.5, 0.5), 0.5, 1, epsabs=1e-12
    )[0]
    return (e + coins) / 2


@pytest.mark.parametrize("binary", [True, False])
def test_evidence_of_a_side_is_its_definition_and_both_sides_have_the_mean_of_two_sided_evidence(binary):
    rng = np.random.default_rng(1)
    differences = rng.integers(-1, 2, 12).astype(float) if binary else rng.normal(0.2, 1.0, 12)
    found = np.exp(one_sided_log_e(differences[:, None], EFFECTS, binary=binary)[0][..., 0])
    expected = [
        [of_side(sign * differences[: t + 1], EFFECTS, binary) for t in range(len(differences))] for sign in (1, -1)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    both = np.exp(log_e_values(differences[:, None], EFFECTS, binary=binary)[0][:, 0])
    np.testing.assert_allclose(found.mean(axis=0), both, rtol=1e-12)


@pytest.mark.parametrize("keep", [1, 2])
@pytest.mark.parametrize("name", ["answers", "ratings"])
def test_over_all_swaps_the_mean_of_the_evidence_against_equal_systems_is_at_most_one(name, keep):
    """Exactly one where one system is looked for; and 1 / alpha is ever reached by at most alpha of the swaps."""
    outputs = {
        "answers": [(1, 0, 0), (1, 1, 0), (0, 1, 0), (1, 0, 1)],
        "ratings": [(3, 1, 2), (5, 5, 4), (2, 1, 1), (0, 4, 2)],
    }
    orders = [[*permutations(unit)] for unit in outputs[name]]
    boards = np.array([*product(*orders)], float)  # [board, unit, system]
    differences = np.stack([boards[..., a] - boards[..., b] for a, b in THREE], axis=-1)
    swaps = np.moveaxis(differences, 0, 1).reshape(len(orders), -1)
    sides = one_sided_log_e(swaps, EFFECTS, binary=name == "answers")[0].reshape(2, len(orders), len(boards), 3)
    e = np.exp(evidence_against(sides, THREE, 3, keep))
    if keep == 1:
        np.testing.assert_allclose(e.mean(axis=1), 1.0, rtol=1e-12)
    else:
        assert (e.mean(axis=1) <= 1.0 + 1e-12).all()
    for alpha in (0.5, 0.2, 0.1):
        assert ((e >= 1 / alpha).any(axis=0).mean(axis=0) <= alpha).all()


def directly(scores, alpha, keep, effects, binary):
    """When each system is dropped, unit by unit from the definitions; None if it is left."""
    number, length = scores.shape
    dropped, last = [None] * number, {}
    for t in range(length):
        left = [k for k in range(number) if dropped[k] is None]
        if len(left) <= keep:
            break
        for k in left:
            for j in left:
                if j != k:
                    last[j, k] = math.log(of_side(scores[j, : t + 1] - scores[k, : t + 1], effects, binary))
        against = {}
        for k in left:
            rivals = sorted(math.exp(last[j, k]) for j in range(number) if j != k)[: number - keep]
            against[k] = sum(rivals) / (number - keep)
        for k in sorted(left, key=lambda k: -against[k])[: len(left) - keep]:
            if against[k] >= 1 / alpha:
                dropped[k] = t + 1
    return dropped


@pytest.mark.parametrize("keep", [1, 2])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.slow
def test_systems_are_dropped_as_the_definition_says_however_units_are_dealt_out(binary, keep):
    rng = np.random.default_rng(3)
    chances = np.array([0.9, 0.8, 0.4, 0.3])[:, None]
    scores = (rng.random((4, 60)) < chances).astype(float) if binary else rng.normal(2 * chances, 1.0, (4, 60))
    effects = 4.0 * 2.0 ** (np.arange(math.ceil(math.log2(60) / 2) + 1) - math.log2(60) / 2)
    expected = directly(scores, 0.1, keep, effects, binary)
    assert len(set(expected)) > 2  # something happens
    made = {"alpha": 0.1, "largest": 60, "goal": "best", "keep": keep, "binary": binary}
    for step in (1, 7, 60):
        monitor = Monitor("abcd", **made)
        for start in range(0, 60, step):
            monitor.update(scores[:, start : start + step])
        by_name = {each.system: each.dropped_at for each in monitor.standings}
        assert [by_name[name] for name in "abcd"] == expected
    lower = Monitor("abcd", **made | {"binary": False}, higher_is_better=False)
    lower.update(-scores)
    assert {each.system: each.dropped_at for each in lower.standings}.keys() == by_name.keys()
    if not binary:
        assert [{each.system: each.dropped_at for each in lower.standings}[name] for name in "abcd"] == expected


def test_only_systems_that_are_left_are_needed_and_the_state_goes_on_from_a_file():
    rng = np.random.default_rng(4)
    scores = dict(
        zip("abcde", (rng.random((5, 400)) < np.array([0.9, 0.6, 0.5, 0.4, 0.3])[:, None]).astype(int), strict=True)
    )
    whole = Monitor("abcde", goal="best", binary=True, largest=400)
    monitor = Monitor("abcde", goal="best", binary=True, largest=400)
    used = 0
    for i in range(400):
        if monitor.stop:
            break
        used += len(monitor.needed)
        monitor.update({name: scores[name][i] for name in monitor.needed})
        monitor = pickle.loads(pickle.dumps(monitor))
    whole.update(scores)
    assert monitor.standings == whole.standings
    assert (monitor.stop, monitor.exit_code) == (True, 0)
    assert used < 0.4 * 2000
    assert [each.system for each in monitor.standings if each.dropped_at is None] == ["a"]
    assert monitor.headline.endswith("a is the best.")
    kept = json.loads(monitor.to_json())
    assert [each["system"] for each in kept["standings"]] == [each.system for each in monitor.standings]
    assert list(monitor.to_dataframe(columns="all").columns)[:2] == ["system", "delta"]


def test_equal_systems_are_left_at_the_largest_number():
    answers = np.random.default_rng(5).integers(0, 2, 300)
    monitor = Monitor("abc", goal="best", binary=True, largest=300)
    monitor.update(np.stack([answers] * 3))
    assert (monitor.stop, monitor.needed) == (True, ())
    assert [each.dropped_at for each in monitor.standings] == [None] * 3
    assert monitor.headline.startswith("Stop after 300 instances of at most 300: 3 of 3 systems may be the best")


WORLDS = {
    "answers": lambda rng, hard: (rng.random((6, 120)) < hard).astype(float),
    "reals": lambda rng, hard: hard + rng.normal(size=(6, 120)),
    "clusters": lambda rng, hard: (rng.random((6, 120)) < hard) * 3.0 + rng.integers(0, 2, (6, 120)),
    "ties": lambda rng, hard: np.where(hard < 0.8, 1.0, rng.integers(0, 2, (6, 120))),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORLDS)
def test_a_best_system_is_rarely_dropped(kind):
    """Of 300 boards of six equal systems the first is dropped in at most 5 %; bound of Monte Carlo error 1e-4."""
    rng, dropped, boards = np.random.default_rng(6), 0, 300
    for _ in range(boards):
        hard = rng.random(120)
        scores = WORLDS[kind](rng, hard)
        monitor = Monitor("abcdef", goal="best", binary=kind in ("answers", "ties"), largest=120)
        monitor.update(scores)
        dropped += any(each.dropped_at for each in monitor.standings if each.system == "a")
    assert dropped <= stats.binom.isf(1e-4, boards, 0.05)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"goal": "best", "baseline": "a"}, "baseline"),
        ({"goal": "best", "correction": "holm"}, "correction"),
        ({"keep": 2}, "goal best"),
        ({"goal": "best", "keep": 3}, "1 to 2"),
    ],
)
def test_options_that_mean_nothing_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        Monitor("abc", **given)


def test_the_command_and_its_replay(tmp_path, capsys):
    rng = np.random.default_rng(7)
    rows = (rng.random((200, 4)) < [0.95, 0.6, 0.5, 0.4]).astype(int)
    lines = ["id\tw\tx\ty\tz", *("\t".join(map(str, (f"q{i}", *row))) for i, row in enumerate(rows.tolist()))]
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    assert (
        _run(["monitor", str(tmp_path / "t.tsv"), "-m", "accuracy", "--goal", "best", "--largest", "500"], debug=False)
        == 0
    )
    assert "w is the best." in capsys.readouterr().out
    study = sigjax.studies.stopping(
        tmp_path / "t.tsv", read={"metric": "accuracy"}, goal="best", orders=10, progress=False
    )
    assert (study.found, study.kept, study.left) == (1, 1.0, 1.0)
    assert study.needed < 0.3
    assert re.search(r"^orders that keep the best system +100%\nsystems left +1$", str(study), re.MULTILINE)


def test_where_few_large_differences_decide_the_mean_it_is_said_that_the_best_mean_may_be_dropped():
    """A is .50 on all instances; B is .40 on most and 1.56 on few: best by the mean, not by signs."""
    rng = np.random.default_rng(8)
    scores = {"A": rng.normal(0.5, 0.02, 300).round(3), "B": np.where(rng.random(300) < 0.88, 0.4, 1.56)}
    study = sigjax.studies.stopping(sigjax.read(scores), goal="best", orders=20, progress=False)
    assert study.kept < 0.9
    assert "warning: it keeps the best system in" in str(study)
    monitor = Monitor("AB", goal="best", largest=300)
    monitor.update(scores)
    assert "the system with the best mean may be dropped more often" in " ".join(str(monitor).split())
    sure = Monitor("AB", goal="best", binary=True)
    sure.update([[1, 0], [0, 1]])
    assert "may be dropped more often" not in " ".join(str(sure).split())


def test_a_system_that_stopped_keeps_its_column_with_empty_cells(tmp_path):
    rows = [(f"q{i}", 1, 0, i % 2) for i in range(40)]
    head, kept = ["id", "a", "b", "c"], tmp_path / "k.json"

    def table(name, columns, rows):
        lines = ["\t".join(head[:1] + [head[k] for k in columns]), *("\t".join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    how = {"read": {"metric": "accuracy"}, "goal": "best", "largest": 100, "checkpoint": kept}
    first = sigjax.monitor(table("1.tsv", (1, 2, 3), rows), **how)
    assert first.needed == ()
    with pytest.raises(InputError, match="has other systems than these files; a system that stopped keeps its column"):
        sigjax.monitor(table("2.tsv", (1, 3), [(name, a, c) for name, a, _, c in rows]), **how)
    with pytest.raises(InputError, match="has other goal than is asked for"):
        sigjax.monitor(table("1.tsv", (1, 2, 3), rows), **how | {"goal": "pairs"})


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("goal", ["pairs", "best"])
def test_identical_systems_have_evidence_of_exactly_one(goal, binary):
    """All differences are 0, so that every product and every mean over rivals is 1."""
    answers = np.random.default_rng(1).integers(0, 2, 67).tolist()
    for number in (2, 4, 7):
        names = [f"s{k}" for k in range(number)]
        monitor = Monitor(names, binary=binary, largest=200, goal=goal)
        monitor.update(dict.fromkeys(names, answers))
        assert {pair.log10_e for pair in monitor.pairs} == {0.0}
        if goal == "best":
            assert {(each.log10_e, each.p_value) for each in monitor.standings} == {(0.0, 1.0)}


def test_the_signature_of_a_replay_names_a_correction_only_if_there_is_one():
    data = {"A": [1, 0, 1, 1, 0] * 6, "B": [0, 1, 1, 0, 0] * 6}
    how = {"read": {"metric": "accuracy"}, "orders": 3, "progress": False}
    best, pairs = (sigjax.studies.stopping(data, goal=goal, **how).signature for goal in ("best", "pairs"))
    assert "correction" not in best
    assert "|correction:ebh|" in pairs
