"""Battles: against published scores, statsmodels, choix, brute force, and the studentized range."""

import itertools
import json

import numpy as np
import pandas
import pytest
import statsmodels.api as sm
from scipy import optimize, stats

from sigjax import InputError, studies
from sigjax.cli import _run
from sigjax.multiple.decisions import rank_intervals
from sigjax.records.options import options_of
from sigjax.studies.bradley_terry import BattlesOptions

CLUBS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
GAMES = (  # wins of the row against the column: Agresti (2002), "Categorical data analysis", table 10.10
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)


def counted(wins, names):
    pairs = list(itertools.combinations(range(len(names)), 2))
    return {
        "model_a": [names[i] for i, _ in pairs],
        "model_b": [names[j] for _, j in pairs],
        "wins": [wins[i][j] for i, j in pairs],
        "losses": [wins[j][i] for i, j in pairs],
    }


def simulated(seed, number=600, strengths=(0.8, 0.3, 0.0, -0.2, -0.9), nu=0.6, users=40):
    """Battles as rows: sides, winner and user; users have tastes, so that their battles depend on each other."""
    rng = np.random.default_rng(seed)
    scores, count = np.array(strengths), len(strengths)
    tastes = 0.8 * rng.standard_normal((users, count))
    user, a = rng.integers(0, users, number), rng.integers(0, count, number)
    b = (a + rng.integers(1, count, number)) % count
    apart = scores[a] - scores[b] + tastes[user, a] - tastes[user, b]
    draw = rng.random(number) * (np.exp(apart / 2) + np.exp(-apart / 2) + nu)
    winner = np.select([draw < np.exp(apart / 2), draw < np.exp(apart / 2) + nu], ["model_a", "tie"], "model_b")
    names = np.array([f"s{k}" for k in range(count)])
    return {"model_a": names[a], "model_b": names[b], "winner": winner, "user": np.array([f"u{k}" for k in user])}


def of(study, name="score"):
    return {each.system: getattr(each, name) for each in study.systems}


def design(data, names):
    signs = np.zeros((len(data["model_a"]), len(names)))
    for row, (a, b) in enumerate(zip(data["model_a"], data["model_b"], strict=True)):
        signs[row, names.index(a)], signs[row, names.index(b)] = 1.0, -1.0
    return signs


RESULT = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}


def test_scores_are_those_published_for_baseball():
    """The model of R's BradleyTerry2, Turner and Firth (2012), whose vignette has these scores (and Baltimore 0)."""
    published = (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0)
    scores = of(studies.battles(counted(GAMES, CLUBS)))
    assert [scores[club] - scores["Baltimore"] for club in CLUBS] == pytest.approx(published, abs=6e-5)


@pytest.mark.parametrize("clustered", [False, True])
def test_scores_and_sandwich_are_those_of_a_logistic_regression(clustered):
    """With ties as half wins: statsmodels' GLM, robust to heteroscedasticity (HC0), or by clusters."""
    data = simulated(1)
    names = [f"s{k}" for k in range(5)]
    study = studies.battles(data, ties="half", cluster="user" if clustered else None)
    signs, y = design(data, names), np.array([RESULT[each] for each in data["winner"]])
    model = sm.GLM(y, signs[:, 1:], family=sm.families.Binomial())
    groups = np.unique(data["user"], return_inverse=True)[1]
    fit = model.fit(cov_type="HC0", tol=1e-12)
    units = len(y)
    if clustered:
        fit = model.fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}, tol=1e-12)
        units = groups.max() + 1
    assert study.num_units == units
    scores = of(study)
    assert [scores[name] - scores["s0"] for name in names[1:]] == pytest.approx(fit.params, rel=1e-8)
    factor = np.sqrt(units / (units - 1))
    errors = {frozenset((each.a, each.b)): each for each in study.pairs}
    for k, name in enumerate(names[1:]):
        pair = errors[frozenset(("s0", name))]
        assert pair.standard_error == pytest.approx(fit.bse[k] * factor, rel=1e-7)
        expected = 2 * stats.t.sf(abs(fit.params[k] / fit.bse[k]) / factor, units - 1)
        assert pair.p_value == pytest.approx(expected, rel=1e-6)
    centre = np.eye(5) - 0.2
    whole = np.zeros((5, 5))
    whole[1:, 1:] = fit.cov_params()
    own = np.sqrt(np.diag(centre @ whole @ centre)) * factor
    assert [of(study, "standard_error")[name] for name in names] == pytest.approx(own, rel=1e-7)


def test_ties_are_davidsons_model_as_a_log_linear_one():
    """Fienberg and Larntz (1976): Poisson counts of wins, ties and losses, with a parameter for each pair."""
    data = simulated(2)
    table = pandas.DataFrame(data)
    names = [f"s{k}" for k in range(5)]
    turned = table.model_a > table.model_b
    table["first"] = table.model_a.where(~turned, table.model_b)
    table["second"] = table.model_b.where(~turned, table.model_a)
    value = table.winner.map(RESULT)
    table["value"] = value.where(~turned, 1 - value)
    rows, counts = [], []
    for p, (i, j) in enumerate(itertools.combinations(range(5), 2)):
        some = table[(table["first"] == names[i]) & (table["second"] == names[j])]
        for value, tie in ((1.0, 0), (0.5, 1), (0.0, 0)):
            row = np.zeros(10 + 5 + 1)
            row[p], row[10 + i], row[10 + j], row[15] = 1, value - 0.5, 0.5 - value, tie
            rows.append(np.delete(row, 10))
            counts.append((some["value"] == value).sum())
    fit = sm.GLM(counts, np.array(rows), family=sm.families.Poisson()).fit(tol=1e-13, maxiter=200)
    study = studies.battles(table[["model_a", "model_b", "winner"]])
    scores = of(study)
    assert [scores[name] - scores["s0"] for name in names[1:]] == pytest.approx(fit.params[10:14], rel=1e-7)
    assert np.log(study.tie_parameter) == pytest.approx(fit.params[14], rel=1e-7)
    assert sum(scores.values()) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("clustered", [False, True])
def test_the_sandwich_with_ties_is_that_of_numerical_derivatives(clustered):
    data, names = simulated(3, users=25), [f"s{k}" for k in range(5)]
    signs, values = design(data, names), np.array([RESULT[each] for each in data["winner"]])
    study = studies.battles(data, cluster="user" if clustered else None)

    def logs(parameters):
        """Log-likelihood of each battle, of the differences to the first system and log nu."""
        apart = signs[:, 1:] @ parameters[:-1]
        weights = np.stack([np.exp(apart / 2), np.full(len(apart), np.exp(parameters[-1])), np.exp(-apart / 2)])
        return np.log(weights[(2 - 2 * values).astype(int), np.arange(len(apart))] / weights.sum(axis=0))

    best, eye = (
        np.append([of(study)[name] - of(study)["s0"] for name in names[1:]], np.log(study.tie_parameter)),
        np.eye(5),
    )
    gradients = np.stack([(logs(best + 1e-5 * one) - logs(best - 1e-5 * one)) / 2e-5 for one in eye], axis=1)
    assert gradients.sum(axis=0) == pytest.approx(np.zeros(5), abs=1e-6)

    def slope(parameters):
        return np.array([(logs(parameters + 1e-4 * one) - logs(parameters - 1e-4 * one)).sum() / 2e-4 for one in eye])

    information = -np.stack([(slope(best + 1e-4 * one) - slope(best - 1e-4 * one)) / 2e-4 for one in eye])
    unit = np.unique(data["user"], return_inverse=True)[1] if clustered else np.arange(len(values))
    sums = np.stack([np.bincount(unit, column) for column in gradients.T], axis=1)
    inverse = np.linalg.inv(information)
    covariance = inverse @ (sums.T @ sums) @ inverse * len(sums) / (len(sums) - 1)
    pairs = {frozenset((each.a, each.b)): each.standard_error for each in study.pairs}
    errors = [pairs[frozenset(("s0", name))] for name in names[1:]]
    assert errors == pytest.approx(np.sqrt(np.diag(covariance))[:-1], rel=1e-4)


def test_scores_are_those_of_choix():
    choix = pytest.importorskip("choix")
    games = [(i, j) for i, row in enumerate(GAMES) for j, wins in enumerate(row) for _ in range(wins)]
    theirs = choix.opt_pairwise(7, games, alpha=0.0, method="Newton-CG", tol=1e-10)
    scores = of(studies.battles(counted(GAMES, CLUBS)))
    assert [scores[club] for club in CLUBS] == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_scores_without_ties_are_those_of_evalica():
    evalica = pytest.importorskip("evalica")
    rows = [(a, b) for i, a in enumerate(CLUBS) for j, b in enumerate(CLUBS) for _ in range(GAMES[i][j])]
    result = evalica.bradley_terry(
        [a for a, _ in rows], [b for _, b in rows], [evalica.Winner.X] * len(rows), tolerance=1e-12
    )
    theirs = np.log(np.array([result.scores[club] for club in CLUBS]))
    scores = of(studies.battles(counted(GAMES, CLUBS)))
    assert [scores[club] for club in CLUBS] == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_counts_are_their_battles_and_sides_do_not_matter(tmp_path, capsys):
    data = pandas.DataFrame(simulated(4))
    wins = data.assign(
        **{name: (data.winner == side) * 1 for name, side in zip(("wins", "ties", "losses"), RESULT, strict=True)}
    )
    grouped = wins.groupby(["model_a", "model_b"], as_index=False)[["wins", "ties", "losses"]].sum()
    turned = data.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    turned["winner"] = data.winner.map({"model_a": "model_b", "model_b": "model_a", "tie": "tie (bothbad)"})
    path = tmp_path / "battles.csv"
    data.to_csv(path, index=False)
    expected = studies.battles(path)
    for other in (grouped, turned, data.to_dict("list")):
        study = studies.battles(other)
        assert of(study) == pytest.approx(of(expected), abs=1e-9)
        assert of(study, "standard_error") == pytest.approx(of(expected, "standard_error"), rel=1e-9)
        for name in ("rank_interval", "battles", "wins", "ties"):
            assert of(study, name) == of(expected, name)
    assert sum(of(expected, "battles").values()) == 2 * expected.num_battles == 1200
    assert sum(of(expected, "wins").values()) + expected.num_ties == 600
    assert (
        _run(["battles", str(path), "-o", str(tmp_path / "b.json"), "--figure", str(tmp_path / "b.png")], debug=True)
        == 0
    )
    held = json.loads((tmp_path / "b.json").read_text())
    assert held["systems"][0]["score"] == expected.systems[0].score
    assert len(held["pairs"]) == 10
    assert (tmp_path / "b.png").stat().st_size > 10_000
    assert "is the best" in capsys.readouterr().err
    assert max(map(len, str(expected).splitlines()[:-1])) <= 80


def test_the_table_of_many_systems_with_long_names_fits_a_terminal():
    rng = np.random.default_rng(8)
    names = np.array([f"claude-3-5-sonnet-2024{k:04}-thinking" for k in range(120)])
    a = rng.integers(0, 120, 60_000)
    b = (a + rng.integers(1, 120, len(a))) % 120
    winner = np.where(rng.random(len(a)) < 1 / (1 + np.exp((a - b) / 30)), "model_a", "model_b")
    study = studies.battles({"model_a": names[a], "model_b": names[b], "winner": winner}, resamples=500)
    lines = str(study).splitlines()
    assert max(map(len, lines[:-1])) <= 80
    assert "70 more systems: -o FILE.json has all of them." in str(study)


def test_joint_intervals_of_equal_systems_have_the_length_of_the_studentized_range():
    names = [f"s{k}" for k in range(6)]
    wins = [[50 * (i != j) for j in range(6)] for i in range(6)]
    study = studies.battles(counted(wins, names))
    critical = stats.studentized_range.ppf(0.95, 6, np.inf) / np.sqrt(2)
    for pair in study.pairs:
        assert pair.delta == pytest.approx(0.0, abs=1e-10)
        assert (pair.interval.high - pair.delta) / pair.standard_error == pytest.approx(critical, rel=0.01)
    assert {each.rank_interval for each in study.systems} == {(1, 6)}


def test_ranks_are_those_of_all_orders_that_no_interval_excludes():
    for seed in range(4):
        study = studies.battles(simulated(seed, number=400))
        names = [each.system for each in study.systems]
        above = {(pair.a, pair.b) for pair in study.pairs if pair.interval.low > 0}
        orders = [
            order for order in itertools.permutations(names) if all(order.index(a) < order.index(b) for a, b in above)
        ]
        for each in study.systems:
            places = [order.index(each.system) + 1 for order in orders]
            assert each.rank_interval == (min(places), max(places))
        beats = np.array([[(a, b) in above for b in names] for a in names])
        assert rank_intervals(beats) == tuple(each.rank_interval for each in study.systems)


def test_p_values_are_adjusted_over_all_pairs():
    from statsmodels.stats.multitest import multipletests

    study = studies.battles(simulated(6), correction="holm")
    expected = multipletests([pair.p_value for pair in study.pairs], method="holm")[1]
    assert [pair.p_adjusted for pair in study.pairs] == pytest.approx(expected, rel=1e-12)


WON = {
    "model_a": ["A", "A", "B", "B"],
    "model_b": ["B", "B", "C", "C"],
    "winner": ["model_a", "model_a", "model_b", "model_a"],
}


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (WON, {}, "A won all battles against the other systems"),
        (WON | {"winner": ["model_b", "model_b", "model_b", "model_a"]}, {}, "A lost all battles"),
        (
            {"model_a": "AACC", "model_b": "BBDD", "wins": [1, 0, 1, 0], "losses": [0, 1, 0, 1]},
            {},
            r"never met.*A, B \| C, D",
        ),
        ({"model_a": "AA", "model_b": "BB", "winner": ["model_a", "tie"]}, {}, 'give ties="half"'),
        ({"model_a": "AA", "model_b": "BB", "winner": ["tie", "tie"]}, {}, 'give ties="half"'),
        ({"model_a": "AA", "model_b": "BB", "wins": [1, 0.5], "losses": [1, 1]}, {}, "row 2.*expected whole numbers"),
        ({"model_a": "AA", "model_b": "BB", "winner": ["model_a", ""]}, {}, "row 2.*has no winner"),
        ({"model_a": "AA", "model_b": "BB", "wins": [1, ""], "losses": [1, 1]}, {}, "row 2.*expected whole numbers"),
        ({"model_a": "AA", "model_b": "BB", "winner": ["model_a", "Z"]}, {}, "row 2.*expected model_a"),
        ({"one": "AA", "model_b": "BB", "winner": ["model_a", "tie"]}, {}, "no table of battles"),
        (WON, {"cluster": "user"}, "no column 'user'"),
        (
            {"model_a": "AAB", "model_b": "BBA", "winner": ["model_a", "tie", "model_a"], "user": "xxx"},
            {"cluster": "user"},
            "1 cluster of 2 systems: too few",
        ),
        ({"model_a": "AA", "model_b": "BC", "wins": [1, 0], "losses": [1, 0]}, {}, "'C' has no battle to take"),
        (WON, {"only": ["A", "Z"]}, "no system 'Z'"),
        (WON | {"winner": ["tie"]}, {}, "columns of equal length"),
    ],
)
def test_what_cannot_be_scored_is_refused(data, options, message):
    given = {name: list(cells) for name, cells in data.items()}
    with pytest.raises(InputError, match=message):
        studies.battles(given, **options)


def test_finite_scores_exist_with_ties_where_an_upset_shows_it():
    """Davidson's model: one win of each, or wins in a circle, beside ties."""
    study = studies.battles({"model_a": "AAA", "model_b": "BBB", "winner": ["model_a", "tie", "model_b"]})
    assert of(study) == pytest.approx({"A": 0.0, "B": 0.0}, abs=1e-12)
    assert study.tie_parameter == pytest.approx(1.0)  # as many ties as wins of each
    circle = {"model_a": "ABCABC", "model_b": "BCABCA", "winner": ["model_a"] * 3 + ["tie"] * 3}
    assert of(studies.battles(circle)) == pytest.approx(dict.fromkeys("ABC", 0.0), abs=1e-12)


@pytest.mark.slow
def test_scores_are_refused_where_a_search_runs_to_infinity():
    """Small sets of battles with ties, by SciPy's BFGS on the likelihood of Davidson's model."""
    rng, refused, scored = np.random.default_rng(0), 0, 0
    for _ in range(80):
        number = rng.integers(4, 9)
        a = rng.integers(0, 3, number)
        b = (a + rng.integers(1, 3, number)) % 3
        result = rng.integers(0, 3, number)
        if len({*a, *b}) < 3 or not (result == 1).any():
            continue

        def cost(x, a=a, b=b, result=result):
            apart = np.append(0.0, x[:2])[a] - np.append(0.0, x[:2])[b]
            logs = np.stack([apart / 2, np.full(len(a), x[2]), -apart / 2])
            return (np.logaddexp.reduce(logs) - logs[result, np.arange(len(a))]).sum()

        best = optimize.minimize(cost, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
        names, sides = np.array(["A", "B", "C"]), np.array(["model_a", "tie", "model_b"])
        try:
            found = of(
                studies.battles({"model_a": names[a], "model_b": names[b], "winner": sides[result]}, resamples=100)
            )
        except InputError as error:
            if "standard errors" not in str(error):
                refused += 1
                assert np.abs(best).max() > 10.0
        else:
            scored += 1
            assert [found["B"] - found["A"], found["C"] - found["A"]] == pytest.approx(best[:2], abs=1e-4)
    assert refused > 10
    assert scored > 10


def test_battles_that_count_for_nothing_are_left_out_and_named():
    data = {name: list(cells) for name, cells in simulated(7).items()}
    more = {"model_a": ["s0", "s1"], "model_b": ["s0", "s2"], "winner": ["tie", ""], "user": ["u1", "u1"]}
    with_more = {name: cells + more[name] for name, cells in data.items()}
    study = studies.battles(with_more, missing="drop")
    assert of(study) == of(studies.battles(data))
    assert study.notes == ("left out battles without a winner: 1", "left out battles of a system against itself: 1")
    zeros = {"model_a": "AAB", "model_b": "BCC", "wins": [3, 0, 2], "losses": [2, 0, 2]}
    assert studies.battles({name: list(cells) for name, cells in zeros.items()}).num_battles == 9
    some = studies.battles(data, only=["s0", "s1", "s4"], where="user != 'u1'")
    kept = [row for row in zip(*data.values(), strict=True) if {*row[:2]} <= {"s0", "s1", "s4"} and row[3] != "u1"]
    assert some.num_battles == len(kept)


@pytest.mark.parametrize(("wins", "ties", "losses"), [(10**9, 31_622, 1), (10**7, 3_162, 1), (40, 7, 30)])
def test_two_systems_have_the_scores_and_the_errors_of_a_multinomial_sample(wins, ties, losses):
    """Closed form: log odds of wins and losses, their delta method, and nu = ties / sqrt(wins losses)."""
    data = {"model_a": ["A"], "model_b": ["B"], "wins": [wins], "losses": [losses], "ties": [ties]}
    study, number = studies.battles(data, resamples=100), wins + ties + losses
    assert study.pairs[0].delta == pytest.approx(np.log(wins / losses), rel=1e-12)
    assert study.tie_parameter == pytest.approx(ties / np.sqrt(wins * losses), rel=1e-10)
    expected = np.sqrt((1 / wins + 1 / losses) * number / (number - 1))
    assert study.pairs[0].standard_error == pytest.approx(expected, rel=1e-8)


def test_rows_of_no_battles_are_no_clusters():
    data = {"model_a": "AAAB", "model_b": "BBBA", "wins": [3, 1, 0, 2], "losses": [2, 2, 0, 4], "user": "xyzw"}
    given = {name: list(cells) for name, cells in data.items()}
    study, fewer = (studies.battles(each, cluster="user") for each in (given, pandas.DataFrame(given).drop(index=2)))
    assert study.num_units == 3
    assert study.pairs == fewer.pairs


def test_a_wrong_number_is_located_in_its_column():
    data = {"model_a": ["A", "A"], "model_b": ["B", "B"], "wins": [1, 1], "losses": [1, 1], "ties": [0, -1]}
    with pytest.raises(InputError, match="row 2, column 'ties': expected whole numbers"):
        studies.battles(data)


@pytest.mark.slow
def test_pairs_whose_interval_and_p_decide_differently_are_named():
    """Joint intervals are by the largest |t|, p by the correction: 67 of 3,000 pairs disagreed, and nothing said so."""
    seen = set()
    for seed, correction in itertools.product(range(12), ("holm", "none", "bonferroni")):
        data = simulated(seed, number=500, strengths=(0.4, 0.2, 0.1, 0.0, -0.1, -0.2))
        study = studies.battles(data, correction=correction)
        for within, words in (
            (True, "interval with 0, but adjusted p below 0.05: "),
            (False, "interval without 0, but "),
        ):
            expected = [
                f"{pair.a} - {pair.b}"
                for pair in study.pairs
                if (pair.interval.low <= 0.0 <= pair.interval.high) == within == (pair.p_adjusted < 0.05)
            ]
            notes = [note for note in study.notes if note.startswith(words)]
            assert len(notes) == bool(expected)
            assert all(name in notes[0] for name in expected[:5])
            seen |= {within} if expected else set()
    assert seen == {True, False}


OTHERS = {
    "cluster": "user",
    "ties": "half",
    "only": ["s0", "s1", "s2"],
    "where": "user != 'u1'",
    "missing": "drop",
    "correction": "none",
    "confidence_level": 0.5,
    "resamples": 200,
    "seed": 1,
}


def test_no_option_is_ignored_in_silence():
    """Each changes a number, or what is refused; an option that is added needs its value here."""
    assert OTHERS.keys() == options_of(BattlesOptions).keys()
    data = simulated(4, number=300)

    def numbers(given, **options):
        held = json.loads(studies.battles(given, **options).to_json())
        return {name: held[name] for name in held if name not in ("options", "signature", "notes")}

    plain = numbers(data)
    for name, value in (OTHERS | {"missing": "error"}).items():
        assert (numbers(data, **{name: value}) == plain) == (name == "missing"), name
    lacking = {**data, "winner": ["", *data["winner"][1:]]}
    with pytest.raises(InputError, match="missing"):
        numbers(lacking)
    assert numbers(lacking, missing="drop") != plain
