"""Items: against all orders, SciPy, analysis of variance by statsmodels, pingouin's numbers, and planted faults."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

import sigjax
from sigjax import Evaluation, InputError
from sigjax.cli import _run
from sigjax.metrics import MEAN
from sigjax.studies import items
from sigjax.studies.item_analysis import mis_keyed_p


def answers(systems, number, seed=1, broken=0, slope=1.5, **labels):
    """Right and wrong answers by the Rasch model with a slope; of the first instances the key is wrong."""
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=systems), rng.normal(size=number)
    right = rng.random((systems, number)) < 1.0 / (1.0 + np.exp(slope * (difficulty - ability[:, None])))
    right[:, :broken] ^= True
    return right.astype(int)


def evaluation(values, **labels):
    return Evaluation.from_arrays({f"s{k}": own for k, own in enumerate(values)}, metric="accuracy", **labels)


def audit(values, *, metric="accuracy", labels=None, **options):
    data = Evaluation.from_arrays({f"s{k}": own for k, own in enumerate(values)}, metric=metric, **(labels or {}))
    return items(data, progress=False, **options)


@pytest.mark.parametrize("values", [answers(6, 12, 3), np.random.default_rng(2).integers(0, 4, (6, 9))])
def test_p_is_the_share_of_all_orders(values):
    """Of the definition: 6! orders of each instance's scores, ties included."""
    result = audit(values, metric="mean", correction="none")
    assert result.orders is None
    for i, one in enumerate(result.items):
        own, rest = values[:, i], values.sum(axis=1) - values[:, i]
        if len(set(own.tolist())) == 1 or len(set(rest.tolist())) == 1:
            assert (one.correlation, one.p_value, one.p_adjusted) == (None, None, None)
            continue
        assert one.correlation == pytest.approx(stats.pearsonr(own, rest)[0])
        sums = [np.dot(order, rest) for order in itertools.permutations(own.tolist())]
        assert one.p_value == pytest.approx(np.mean(np.array(sums) <= np.dot(own, rest)), rel=1e-12)


def test_p_of_answers_is_the_permutation_test_of_scipy():
    """Two samples of the rest scores: of the systems that are right and wrong."""
    values = answers(9, 20, 5)
    result = audit(values, correction="none")
    for i, one in enumerate(result.items):
        own, rest = values[:, i].astype(bool), values.sum(axis=1) - values[:, i]
        if min(own.sum(), 9 - own.sum()) > 1:
            samples = rest[own], rest[~own]
            how = {"alternative": "less", "n_resamples": np.inf}
            known = stats.permutation_test(samples, lambda x, y: x.mean() - y.mean(), **how)
            assert one.p_value == pytest.approx(known.pvalue, rel=1e-9)


def test_sampled_p_are_near_those_of_all_orders_and_depend_on_the_seed_alone():
    values, totals = answers(18, 40, 6).astype(float), answers(18, 40, 6).sum(axis=1).astype(float)
    exact, drawn = mis_keyed_p(values, totals, 99, 1)
    assert not drawn
    wide = np.repeat(values, 2, axis=0)  # 36 systems: too many orders
    sampled, drawn = mis_keyed_p(wide, wide.sum(axis=1), 20_000, 1)
    again, _ = mis_keyed_p(wide, wide.sum(axis=1), 20_000, 1)
    other, _ = mis_keyed_p(wide, wide.sum(axis=1), 20_000, 2)
    assert drawn
    assert np.array_equal(sampled, again)
    assert not np.array_equal(sampled, other)
    assert np.abs(sampled - other).max() < 5 * math.sqrt(0.5 / 20_000)
    for i in range(40):
        own, rest = wide[:, i] == 1, wide.sum(axis=1) - wide[:, i]
        if 0 < own.sum() < 36:  # by the normal approximation of the rank-sum test, which is near
            known = stats.mannwhitneyu(rest[own], rest[~own], alternative="less").pvalue
            assert sampled[i] == pytest.approx(known, abs=0.08)


@pytest.mark.parametrize("seed", [1, 2])
def test_reliability_is_that_of_the_analysis_of_variance(seed):
    values = answers(8, 15, seed)
    rows = [(k, i, values[k, i]) for k in range(8) for i in range(15)]
    table = pd.DataFrame(rows, columns=["system", "item", "y"])
    squares = anova_lm(ols("y ~ C(system) + C(item)", table).fit())
    squares = squares["sum_sq"] / squares["df"]
    of_system, of_item, rest = squares["C(system)"], squares["C(item)"], squares["Residual"]
    result = audit(values)
    assert result.alpha_coefficient == pytest.approx(1.0 - rest / of_system)
    assert result.generalizability == pytest.approx(result.alpha_coefficient)
    systems, in_items = (of_system - rest) / 15, (of_item - rest) / 8
    assert result.dependability == pytest.approx(systems / (systems + (in_items + rest) / 15))
    p, totals = values.mean(axis=0), values.sum(axis=1)
    kr20 = 15 / 14 * (1.0 - (p * (1.0 - p)).sum() / totals.var())
    assert result.alpha_coefficient == pytest.approx(kr20)
    assert sum(one.share for one in result.items) == pytest.approx(1.0)


def test_shares_are_covariances_and_an_instance_that_all_solve_or_fail_has_none():
    values = np.hstack([answers(8, 15, 1), np.ones((8, 1), int), np.zeros((8, 1), int)])
    shares, totals = [one.share for one in audit(values).items], values.sum(axis=1)
    known = [np.cov(own, totals)[0, 1] / totals.var(ddof=1) for own in values.T]
    assert shares == pytest.approx(known, rel=1e-12)
    assert shares[15:] == [0.0, 0.0]


def test_alpha_and_its_interval_are_those_of_pingouin():
    """pingouin 0.5.5: cronbach_alpha(data) = (0.9169499757163673, [0.831, 0.971])."""
    rng = np.random.default_rng(7)
    result = audit((rng.random((12, 30)) < rng.random(12)[:, None]).astype(int))
    assert result.alpha_coefficient == pytest.approx(0.9169499757163673)
    assert [round(end, 3) for end in result.interval] == [0.831, 0.971]
    assert "KR-20" in str(result)


def test_clusters_count_once_in_reliability_and_resolution():
    values = answers(8, 40, 3)
    twice = np.repeat(values, 2, axis=1)
    alone, double = audit(values), audit(twice, labels={"clusters": [f"c{i // 2}" for i in range(80)]})
    assert double.generalizability == pytest.approx(alone.generalizability)
    assert double.alpha_coefficient > double.generalizability
    ratings = audit(2 * values, metric="mean")  # as clusters, no answers right or wrong
    assert [one.needed for one in double.neighbours] == [one.needed for one in ratings.neighbours]
    assert double.interval == pytest.approx(alone.interval)
    assert double.detectable == pytest.approx(alone.detectable)
    assert "clusters needed" in str(double)


def test_runs_of_an_instance_are_one_item():
    values = answers(8, 30, 4)
    ids = [f"q{i}" for i in range(30)]
    labels = {"ids": [*ids, *ids], "runs": ["1"] * 30 + ["2"] * 30}
    both = audit(np.concatenate([values, values], axis=1), labels=labels)
    alone = audit(values, labels={"ids": ids})
    for name in ("correlation", "p_value", "score", "moves", "share"):
        assert [getattr(a, name) for a in both.items] == pytest.approx([getattr(b, name) for b in alone.items])
    assert both.scores == pytest.approx(alone.scores)
    assert both.generalizability == pytest.approx(alone.generalizability)
    assert both.solved_by_all == alone.solved_by_all


def test_resolution_is_that_of_power():
    values = answers(5, 200, 8)
    result = audit(values)
    assert [round(score, 9) for score in result.scores] == sorted(values.mean(axis=1).round(9).tolist(), reverse=True)
    for pair in result.neighbours:
        a, b = (values[int(name[1:])] for name in (pair.a, pair.b))
        assert pair.delta == pytest.approx(a.mean() - b.mean())
        assert pair.standard_error == pytest.approx((a - b).std(ddof=1) / math.sqrt(200))
        assert pair.detectable == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * pair.standard_error)
        if pair.delta:
            data = {pair.a: a.tolist(), pair.b: b.tolist()}
            planned = sigjax.power(data, read={"metric": "mean"}, instances=[200], repetitions=2, progress=False)
            assert planned.points[0].detectable == pytest.approx(pair.detectable, rel=0.01)
            assert pair.q == pytest.approx(200 / pair.needed)
        else:
            assert (pair.needed, pair.q) == (None, 0.0)
    middle = np.median([pair.standard_error for pair in result.neighbours])
    adjusted = (stats.norm.ppf(1 - 0.025 / 10) + stats.norm.ppf(0.8)) * middle
    assert result.detectable_of_all == pytest.approx(adjusted)


def test_moves_are_counted_by_leaving_out():
    values = answers(7, 15, 9)
    result = audit(values)

    def signs(totals):
        return np.sign(totals[:, None] - totals)[np.triu_indices(7, 1)]

    for i, one in enumerate(result.items):
        assert one.moves == (signs(values.sum(axis=1)) != signs(np.delete(values, i, 1).sum(axis=1))).sum()


def test_instances_that_separate_nothing_are_named():
    values = answers(6, 20, 2)
    values[:, 3], values[:, 5] = 1, 0
    labels = {"ids": [f"q{i}" for i in range(20)]}
    result = audit(values, labels=labels)
    assert "q3" in result.solved_by_all
    assert "q5" in result.solved_by_none
    assert result.items[3].p_value is None
    assert "No system solves" in str(result)


def test_pairs_whose_instances_all_differ_alike_have_no_detectable_difference():
    values = np.zeros((4, 12), int)
    values[0] = 1
    result = audit(values)
    assert [one.detectable for one in result.neighbours] == [None] * 3
    assert (result.detectable, result.detectable_of_all) == (None, None)
    assert "needs a true difference" not in result.headline
    assert str(result)


def test_lower_is_better_changes_the_order_alone():
    values = np.random.default_rng(3).integers(0, 9, (6, 20))
    up, down = audit(values, metric="mean"), audit(values, metric=replace(MEAN, higher_is_better=False))
    assert up.systems != down.systems
    assert [one.p_value for one in up.items] == [one.p_value for one in down.items]
    assert [one.delta for one in down.neighbours] == pytest.approx([one.delta for one in up.neighbours][::-1])


def test_equal_systems_have_no_reliability():
    result = audit(np.tile(answers(1, 20, 1), (4, 1)))
    assert (result.generalizability, result.interval) == (None, None)
    assert "no meaning" in str(result)
    assert json.loads(result.to_json())["generalizability"] is None


@pytest.mark.parametrize(
    ("values", "metric", "message"),
    [
        (answers(2, 20), "accuracy", "items needs 3 systems or more, got 2"),
        (answers(4, 2), "accuracy", "three instances or more"),
        (np.ones((4, 20, 3), int), "fscore", "'fscore' is another metric"),
    ],
)
def test_what_has_no_items_is_refused(values, metric, message):
    with pytest.raises(InputError, match=message):
        audit(values, metric=metric)


def test_few_systems_are_noted():
    assert any("never significant (it takes 16 systems)" in note for note in audit(answers(8, 500, 1)).notes)
    assert not any("never significant" in note for note in audit(answers(30, 100, 1)).notes)
    few = audit(answers(30, 100, 1), resamples=99)
    assert any("give --resamples" in note for note in few.notes)


def test_systems_that_are_in_the_data_twice_are_noted():
    """With copies, p is that of more systems than there are."""
    values = answers(7, 40, 2, broken=1)
    alone, copied = audit(values), audit(np.repeat(values, [2, 1, 1, 1, 3, 1, 1], axis=0))
    assert not any("identical" in note for note in alone.notes)
    (note,) = (note for note in copied.notes if "identical" in note)
    assert note.startswith("identical on every instance: s0 = s1, s5 = s6 = s7. Each counts as a system of its own")
    assert max(one.p_value for one in alone.items if one.p_value) > 0
    assert copied.items[0].p_value < alone.items[0].p_value


def test_planted_keys_are_found():
    """Of 60 systems: the five wrong keys, and nothing else."""
    result = audit(answers(60, 200, 4, broken=5), resamples=20_000)
    found = {one.id for one in result.mis_keyed}
    assert found == {f"number {i}" for i in range(1, 6)}
    assert str(result).startswith("5 of 200 instances look mis-keyed")
    first = audit(answers(20, 200, 4, broken=5), resamples=2_000).suspects[:5]
    assert len({one.id for one in first} & found) >= 3


def test_an_instance_whose_p_is_large_after_2000_orders_needs_no_more():
    values = answers(40, 30, 3, broken=3).astype(float)
    totals = values.sum(axis=1)
    short, long = (mis_keyed_p(values, totals, number, 5)[0] for number in (2_000, 20_000))
    done = short > 0.1
    assert done.any()
    assert not done.all()
    assert np.array_equal(short[done], long[done])
    assert np.allclose(long[~done] * 20_001, (long[~done] * 20_001).round())
    assert (long[~done] < short[~done] + 0.03).all()


@pytest.mark.slow
def test_p_are_valid_at_every_level_though_some_stop_early():
    rng, found = np.random.default_rng(4), []
    for board in range(150):
        values = (rng.random((30, 40)) < 0.5).astype(float)
        found += [mis_keyed_p(values, values.sum(axis=1), 4_000, board)[0]]
    for level in (0.01, 0.05, 0.0995, 0.1, 0.11, 0.2, 0.5):
        shares = (np.array(found) <= level).mean(axis=1)
        assert shares.mean() <= level + 3.5 * shares.std() / math.sqrt(150)


@pytest.mark.slow
def test_adjusted_p_keep_their_level_if_all_answers_are_chance():
    """Of boards of independent coins, at most 5% have a significant instance."""
    rng, wrong = np.random.default_rng(11), dict.fromkeys(("holm", "bh"), 0)
    for _ in range(300):
        values = (rng.random((12, 40)) < rng.uniform(0.2, 0.8, 40)).astype(int)
        if audit(values, correction="bh").mis_keyed:  # else Holm, whose adjusted p are not smaller, finds none either
            wrong["bh"] += 1
            wrong["holm"] += bool(audit(values, correction="holm").mis_keyed)
    assert max(wrong.values()) <= stats.binom.ppf(0.999, 300, 0.05)


def test_the_command_writes_every_output(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    values = answers(12, 40, 3, broken=3)
    lines = ["id\tq\t" + "\t".join(f"s{k}" for k in range(12))]
    lines += [f"i{i}\ttext {i}\t" + "\t".join(map(str, values[:, i])) for i in range(40)]
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    wanted = ["items.json", "items.csv", "items.html", "items.md", "items.tex"]
    outputs = [word for name in wanted for word in ("-o", name)]
    systems = ["--systems", *(f"s{k}" for k in range(12))]
    assert (
        _run(["items", "t.tsv", "-m", "accuracy", *systems, "--show", "q", *outputs, "--figure", "f.png"], debug=True)
        == 0
    )
    assert all((tmp_path / name).stat().st_size > 500 for name in (*wanted, "f.png"))
    made = json.loads((tmp_path / "items.json").read_text())
    assert made["schema"] == "sigjax-items/1"
    assert "values" not in made
    assert (tmp_path / "items.csv").read_text().splitlines()[0].split(",") == [
        "id", "score", "correlation", "p_value", "p_adjusted", "share", "moves", "q",
    ]  # fmt: skip


def power_of_mcnemar(instances, differ, delta, alpha=0.05):
    """The power of the exact test, summed over all numbers of answers that differ, by SciPy."""
    decided = np.arange(instances + 1)
    total = 0.0
    for m, chance in zip(decided, stats.binom.pmf(decided, instances, differ), strict=True):
        wins = np.arange(m + 1)
        p = np.minimum(1.0, 2.0 * stats.binom.sf(np.maximum(wins, m - wins) - 1, m, 0.5))
        total += chance * stats.binom.pmf(wins, m, (1.0 + delta / differ) / 2.0)[p <= alpha].sum()
    return total


def test_the_instances_needed_for_answers_are_those_of_the_exact_test():
    """Of neighbours that are far apart, the normal approximation needs other numbers."""
    values = (np.random.default_rng(8).random((4, 60)) < np.array([[0.95], [0.75], [0.5], [0.2]])).astype(int)
    result, normal = audit(values, resamples=99), []
    for pair in result.neighbours:
        a, b = (values[int(name[1:])] for name in (pair.a, pair.b))
        differ = float((a != b).mean())
        assert power_of_mcnemar(pair.needed, differ, pair.delta) >= 0.8
        assert power_of_mcnemar(pair.needed - 1, differ, pair.delta) < 0.8
        assert pair.q == pytest.approx(60 / pair.needed)
        two = Evaluation.from_arrays({"a": a, "b": b}, metric="accuracy")
        how = {"detect": pair.delta, "instances": [60], "repetitions": 2, "resamples": 99, "progress": False}
        (found,) = sigjax.power(two, **how).needed
        assert found.instances == pair.needed
        z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
        normal.append(60 * (z * pair.standard_error / pair.delta) ** 2 + stats.norm.ppf(0.975) ** 2 / 2)
    assert [one.needed for one in result.neighbours] != np.ceil(normal).astype(int).tolist()
    clusters = audit(values, labels={"clusters": [i // 2 for i in range(60)]}, resamples=99)
    assert [one.needed for one in clusters.neighbours] != [one.needed for one in result.neighbours]
