"""Tables of pairwise battles: win rates against 1/2, by the sign test and by enumeration."""

import gzip
import itertools
import json
import re

import mutations
import numpy as np
import pytest
from scipy.stats import binomtest

from sigjax import InputError, compare, read

SIDES = (("A", "B"), ("B", "A"), ("A", "C"), ("C", "B"), ("D", "C"))
WORDS = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}


def battles(*, seed=0, number=120):
    """(user, one, other, what the first gets) of each battle; A and B never meet D."""
    rng = np.random.default_rng(seed)
    pairs = [SIDES[i] for i in rng.integers(0, len(SIDES), number)]
    results = rng.choice([1.0, 0.5, 0.0], number, p=[0.55, 0.2, 0.25])
    return [(f"u{i // 2}", *pair, result) for i, (pair, result) in enumerate(zip(pairs, results.tolist(), strict=True))]


def rows(found):
    return [{"user": user, "model_a": a, "model_b": b, "winner": WORDS[value]} for user, a, b, value in found]


def written(records, mark=","):
    lines = [records[0], *(each.values() for each in records)]
    return "".join(mark.join(map(str, line)) + "\n" for line in lines)


def report(path, **options):
    return compare(read(path, **options), device="numpy", progress=False)


def gains(found, one, other):
    """What one system gets in each battle with the other, and its user."""
    return [
        (value if a == one else 1 - value, user)
        for user, a, b, value in found
        if (a, b) in ((one, other), (other, one))
    ]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text(written(rows(battles())))
    return path


def test_each_pair_is_the_sign_test_of_its_untied_battles(table):
    found = report(table)
    assert sorted("".join(sorted((one.a, one.b))) for one in found) == ["AB", "AC", "BC", "CD"]
    for one in found:
        own = np.array([value for value, _ in gains(battles(), one.a, one.b)])
        wins, losses = int((own == 1).sum()), int((own == 0).sum())
        assert one.p_value == pytest.approx(binomtest(wins, wins + losses).pvalue, rel=5e-10)
        assert one.score_a == pytest.approx(own.mean(), rel=1e-14)
        assert one.delta == pytest.approx(2 * own.mean() - 1, rel=1e-13)
        assert one.standard_error == pytest.approx(2 * own.std(ddof=1) / len(own) ** 0.5, rel=1e-12)
    for system in found.systems:
        others = {name for pair in SIDES for name in pair} - {system.name}
        own = [value for other in others for value, _ in gains(battles(), system.name, other)]
        assert system.score == pytest.approx(np.mean(own), rel=1e-14)
    (missed,) = (note for note in found.notes if note.startswith("warning: not compared"))
    assert missed.endswith("in common: D - B, D - A")
    raw = np.sort([one.p_value for one in found])
    holm = np.minimum(np.maximum.accumulate(raw * [4, 3, 2, 1]), 1)
    np.testing.assert_allclose(np.sort([one.p_adjusted for one in found]), holm, rtol=1e-9)


def test_intervals_without_ties_are_those_of_binomial_win_rates(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text(written(rows([("u", "A", "B", 1.0)] * 8)))
    found = report(path)
    low, high = binomtest(8, 8).proportion_ci(method="wilson")
    assert list(found.systems[0].interval) == pytest.approx([low, high], rel=1e-12)
    assert list(found[0].interval) == pytest.approx([2 * low - 1, 2 * high - 1], rel=1e-9)


@pytest.mark.slow
def test_clusters_are_swapped_whole(tmp_path):
    few = battles(number=60, seed=3)
    path = tmp_path / "battles.csv"
    path.write_text(written(rows(few)))
    for one in report(path, cluster="user"):
        sums: dict[str, float] = {}
        for value, user in gains(few, one.a, one.b):
            sums[user] = sums.get(user, 0.0) + 2 * value - 1
        signs = np.array(list(itertools.product((-1, 1), repeat=len(sums))))
        extreme = np.abs(signs @ list(sums.values())) >= abs(sum(sums.values()))
        assert one.p_value == pytest.approx(extreme.mean(), rel=1e-12)


def split(records):
    winners = [each["winner"] for each in records]
    return [
        {name: each[name] for name in ("user", "model_a", "model_b")}
        | {f"winner_{kind}": int(kind == winner) for kind in ("model_a", "model_b", "tie")}
        for each, winner in zip(records, winners, strict=True)
    ]


def named(records):
    """The same with the names of the winners, and other names of columns and ties."""
    sides = {"system_1": "model_a", "system_2": "model_b"}
    return [
        {side: f"m{each[name]}" for side, name in sides.items()}
        | {"Winner": "Tie (bothbad)" if each["winner"] == "tie" else f"m{each[each['winner']]}"}
        for each in records
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.tsv", lambda records: written(records, "\t")),
        ("b.csv", lambda records: written(split(records))),
        ("b.csv", lambda records: written(named(records))),
        ("b.json", json.dumps),
        ("b.jsonl", lambda records: "".join(json.dumps(each | {"turns": [1]}) + "\n" for each in records)),
        ("b.csv.gz", written),
    ],
)
def test_all_tables_hold_battles(table, tmp_path, name, content):
    path = tmp_path / name
    text = content(rows(battles())).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert read(path).stats.tolist() == read(table).stats.tolist()


def test_battles_of_some_systems_and_those_without_a_winner(table, tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text(table.read_text() + "u,A,B,\nu,A,A,tie\nu,D,A,\n")
    with pytest.raises(InputError, match=r"holes.csv, line 122, column 'winner': has no winner; use missing=\"drop\""):
        read(path)
    found = read(path, missing="drop")
    assert found.stats.tolist() == read(table).stats.tolist()
    assert {"left out battles without a winner: 2", "left out battles of a system against itself: 1"} <= {*found.notes}
    two = read(table, only=["C", "D"])
    assert two.present is None
    assert compare(two, device="numpy")["C", "D"].p_value == report(table)["C", "D"].p_value
    assert len(report(table)) == 4
    assert {one.a for one in compare(read(table), baseline="C", device="numpy")} == {"A", "B", "D"}


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        (
            "u,A,B,C",
            {},
            "line 122, column 'winner': expected model_a, model_b, tie, or the name of one of the two, got 'C'",
        ),
        (
            "u,B,A,A",
            {},
            "or the name of one of the two, got 'A', which is a side and the name of the other",
        ),
        ("u,A,,tie", {}, "line 122, column 'model_b': expected a name, got an empty cell"),
        ("u,A,B,tie", {"runs": "user"}, "--runs means nothing for battles"),
        ("u,A,B,tie", {"only": ["A", "D"]}, "'A' has no battle to take; leave it out"),
        ("u,A,B,tie", {"metric": "fscore"}, "metric 'fscore' needs"),
        ("u,A,B,tie", {"cluster": "users"}, "no column and no file 'users'"),
    ],
)
def test_refusals(table, line, options, message):
    table.write_text(table.read_text() + line + "\n")
    with pytest.raises(InputError, match=re.escape(message).replace("\\-\\-runs", ".*runs")):
        read(table, **options)


def test_marks_of_three_columns_must_agree(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(written(split(rows(battles()))) + "u,A,B,1,0,1\n")
    with pytest.raises(InputError, match="line 122, column 'winner_model_a': expected 1 in one of"):
        read(path)


def test_damaged_battles_are_read_or_refused_in_one_line(tmp_path):
    rest = "v,B,A,tie\nv,B,C,model_b\nw,C,A,\nw,A,A,tie (bothbad)\n"
    content = f"user,model_a,model_b,winner\nu,A,B,model_a\n{rest}"
    samples = [mutations.of_text(t=content, options={"missing": "drop", "cluster": "user"})]
    ends = {mutations.attempt("csv", samples, tmp_path, f"battles {i}") for i in range(300)}
    assert ends == {"read", "refused"}


def test_scores_named_like_sides_are_no_battles(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("id,model_a,model_b,winner\nx,1,0,model_a\ny,0,1,model_b\nz,1,1,tie\n")
    assert read(path).metric.name == "mean"
    assert read(path).systems == ("model_a", "model_b")
