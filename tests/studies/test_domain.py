"""Domains against shares counted one by one, and intervals of shares of pairs against the sum they are defined by."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import sigjax
from sigjax import Evaluation, InputError
from sigjax.cli import _run
from sigjax.studies import domain
from sigjax.studies.formulas import _effective_interval, paired_proportion

NAMES = [f"s{i}" for i in range(8)]


def answers(size, seed, best=0.75, **labels):
    """Answers of systems, right (1) or wrong (0)."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0.0, 0.2, size)
    skills = np.linspace(1.35 - best, best, len(NAMES))
    right = {name: (rng.random(size) < skill + ease).astype(int) for name, skill in zip(NAMES, skills, strict=True)}
    return Evaluation.from_arrays(right, metric="accuracy", **labels)


NEWS, MAIL, CODE = answers(150, 1), answers(200, 2), answers(90, 3, best=0.62)


@pytest.mark.parametrize("alternative", ["one-sided", "two-sided"])
@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_shares_are_those_counted_one_by_one(test, alternative):
    sets = {"news": NEWS, "mail": MAIL, "code": CODE}
    study = domain(sets, test=test, alternative=alternative, resamples=2000, p_range=(0.05, 0.3))
    assert study.test_sets == {"news": 150, "mail": 200, "code": 90}
    means = {name: dict(zip(NAMES, each.stats[:, :, 0].mean(axis=1), strict=True)) for name, each in sets.items()}
    counted = {}
    for a, b in itertools.combinations(NAMES, 2):
        winner, loser = (a, b) if means["news"][a] > means["news"][b] else (b, a)
        if means["news"][a] != means["news"][b]:
            pair = Evaluation.from_arrays(
                dict(zip((winner, loser), NEWS.stats[[NAMES.index(winner), NAMES.index(loser)], :, 0], strict=True)),
                metric="accuracy",
            )
            side = "greater" if alternative == "one-sided" else "two-sided"
            (one,) = sigjax.compare(pair, test=test, alternative=side, resamples=2000, interval="none")
            counted[winner, loser] = one.p_value
    for one in study.ranges:
        asked = (one.low, one.high) == (0.05, 0.3)  # both ends belong to it
        inside = [pair for pair, p in counted.items() if one.low < p <= one.high or (asked and p == one.low)]
        wins = sum(means[one.other][winner] > means[one.other][loser] for winner, loser in inside)
        assert (one.pairs, one.right) == (len(inside), wins)
    assert study.ranges[0].pairs > 3
    assert sum(one.pairs for one in study.ranges[1:9]) == len(counted)
    own = {(one.winner, one.loser): one.p_value for one in study.pairs if one.test_set == "news"}
    assert counted.items() <= own.items()


def test_strata_are_test_sets():
    both = {name: np.concatenate([NEWS.stats[i, :, 0], MAIL.stats[i, :, 0]]) for i, name in enumerate(NAMES)}
    strata, clusters = ["news"] * 150 + ["mail"] * 200, [f"c{i // 3}" for i in range(350)]
    one = Evaluation.from_arrays(both, metric="accuracy", strata=strata)
    assert domain(one).to_json() == domain({"news": NEWS, "mail": MAIL}).to_json()
    clustered = domain(Evaluation.from_arrays(both, metric="accuracy", strata=strata, clusters=clusters), resamples=999)
    news = answers(150, 1, clusters=clusters[:150])
    mail = answers(200, 2, clusters=clusters[150:])
    assert clustered.to_json() == domain({"news": news, "mail": mail}, resamples=999).to_json()


def test_the_interval_is_that_of_pairs_that_share_systems():
    rng = np.random.default_rng(4)
    members = np.array(list(itertools.combinations(range(9), 2)))[rng.random(36) < 0.7] * 2
    right = rng.random(len(members)) < 0.7
    errors, systems = right - right.mean(), len(np.unique(members))
    variance = sum(
        errors[i] * errors[j]
        for i, j in itertools.product(range(len(members)), repeat=2)
        if set(members[i]) & set(members[j])
    ) / len(members) ** 2  # fmt: skip
    variance *= systems / (systems - 1)
    expected = _effective_interval(right.mean(), variance, len(members), systems // 2, 0.9)
    assert paired_proportion(right, members, 0.9) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sets", "options", "message"),
    [
        ({"news": NEWS}, {}, "domain needs two test sets or more, got 1: give one file per test set, or strata"),
        (NEWS, {}, "domain needs two test sets or more, got 0"),
        ({"news": NEWS, "mail": MAIL}, {"source": "x"}, "source 'x' is not a test set; expected one of news, mail"),
        (
            {"news": NEWS, "mail": Evaluation.from_arrays({"s0": [1], "z": [1]}, metric="accuracy")},
            {},
            "only one of them has the system 's1'; name the systems",
        ),
        ({"news": NEWS, "mail": Evaluation.from_arrays({"s0": [1], "z": [1]})}, {}, "has the metric 'mean'"),
        ({"news": NEWS, "mail": MAIL}, {"p_range": [0.5]}, "p_range must be the lowest and the highest p"),
        ({"news": NEWS, "mail": MAIL}, {"design": "nested"}, "design nested needs repeated runs"),
    ],
)
def test_what_is_refused(sets, options, message):
    with pytest.raises(InputError, match=message):
        domain(sets, **options)


def test_the_command_takes_one_file_per_test_set_or_strata(capsys, tmp_path, as_in_python):
    for name, each in (("news", NEWS), ("mail", MAIL)):
        each.save(tmp_path / f"{name}.npz")
    files = [str(tmp_path / "news.npz"), str(tmp_path / "mail.npz")]
    study = domain({"news": NEWS, "mail": MAIL})
    *texts, _ = as_in_python(["research", "domain", *files], study).splitlines()
    assert max(map(len, texts)) <= 80
    rows = np.concatenate([NEWS.stats[:, :, 0], MAIL.stats[:, :, 0]], axis=1).T.tolist()
    lines = [["id", *NAMES], *([i, *row] for i, row in enumerate(rows))]
    table, labels = tmp_path / "all.tsv", tmp_path / "labels.txt"
    table.write_text("\n".join("\t".join(map(str, line)) for line in lines))
    labels.write_text("news\n" * 150 + "mail\n" * 200)
    command = ["research", "domain", str(table), "-m", "accuracy", "--strata", str(labels), "--format", "json"]
    assert _run(command, debug=False) == 0
    assert json.loads(capsys.readouterr().out)["ranges"] == json.loads(study.to_json())["ranges"]
    assert _run(["research", "domain", str(table), "--strata", str(labels), "-m", "mean", "accuracy"], debug=False) == 2
    assert "this study takes one metric, got 2" in capsys.readouterr().err
    assert len(study.to_dataframe()) == 9


def test_lower_is_better():
    """The same shares by errors as by right answers."""
    wrong = {}
    for name, each in (("news", NEWS), ("mail", MAIL)):
        stats = each.stats * (-1, 1) + (1, 0)
        wrong[name] = replace(each, stats=stats, metric=replace(each.metric, higher_is_better=False))
    right = domain({"news": NEWS, "mail": MAIL}, test="permutation")
    assert domain(wrong, test="permutation").ranges == right.ranges


@pytest.mark.slow
def test_the_interval_covers_the_share_of_infinitely_many_systems():
    rng, held = np.random.default_rng(0), 0

    def drawn(size):
        own = rng.normal(size=size)
        elsewhere = 0.8 * own + 0.6 * rng.normal(size=size)
        a, b = np.triu_indices(size, 1)
        inside = (abs(own[a] - own[b]) > 0.5) & (abs(own[a] - own[b]) < 1.0)
        right = np.sign(own[a] - own[b]) == np.sign(elsewhere[a] - elsewhere[b])
        return right[inside], np.stack([a, b], axis=1)[inside]

    share = np.mean([drawn(300)[0].mean() for _ in range(50)])
    for _ in range(1000):
        low, high = paired_proportion(*drawn(25), 0.95)
        held += low <= share <= high
    assert 0.91 < held / 1000 < 0.98
