"""Power without a pilot: against sums over all outcomes, simulated test sets, and the normal approximation."""

import json
import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest, nct, norm, t

import sigjax
from sigjax import InputError, studies
from sigjax.cli import _run
from sigjax.guide import markdown


def power_of(instances, disagree, difference, level):
    """Of every number of instances that decide, and of every number of wins."""
    power = 0.0
    for decided in range(instances + 1):
        wins = np.arange(decided + 1)
        p = np.minimum(1.0, 2.0 * binom.sf(np.maximum(wins, decided - wins) - 1, decided, 0.5))
        chances = binom.pmf(wins, decided, (1.0 + difference / disagree) / 2.0)
        power += binom.pmf(decided, instances, disagree) * chances[p <= level].sum()
    return power


@pytest.mark.parametrize("disagree", [0.05, 0.3, 1.0])
@pytest.mark.parametrize(("pairs", "target"), [(1, 0.8), (10, 0.5)])
def test_the_detectable_difference_has_the_target_power(disagree, pairs, target):
    sizes = [20, 60, 250]
    found = studies.planned_power(disagree=disagree, instances=sizes, pairs=pairs, target=target)
    assert [at.instances for at in found.points] == sizes
    for at in found.points:
        level = 0.05 / pairs
        if at.detectable is None:
            assert power_of(at.instances, disagree, disagree, level) < target
            continue
        assert power_of(at.instances, disagree, at.detectable, level) == pytest.approx(target, abs=1e-9)
        assert 0.0 < at.detectable <= disagree
    known = [at.detectable for at in found.points if at.detectable]
    assert known == sorted(known, reverse=True)


def test_simulated_test_sets_are_significant_as_often():
    """Outputs of two systems, tested by `permutation_test`."""
    (at,) = studies.planned_power(disagree=0.4, instances=[80]).points
    rng, number = np.random.default_rng(3), 400
    wins, losses = (0.4 + at.detectable) / 2, (0.4 - at.detectable) / 2
    rejected = 0
    for _ in range(number):
        kinds = rng.choice(3, 80, p=[wins, losses, 1 - wins - losses])
        test = sigjax.permutation_test(kinds == 0, kinds == 1, metric="accuracy")
        rejected += test.p_value <= 0.05
    assert abs(rejected / number - 0.8) < 4 * (0.8 * 0.2 / number) ** 0.5


@pytest.mark.slow
def test_large_test_sets_follow_the_normal_approximation():
    for size in (10**5, 10**7):
        (at,) = studies.planned_power(disagree=0.2, instances=[size]).points
        expected = (norm.isf(0.025) + norm.isf(0.2)) * (0.2 / size) ** 0.5
        assert at.detectable == pytest.approx(expected, rel=1e-2)


def test_accuracy_bounds_the_difference():
    """The other system alone is right on (d - delta) / 2 of the instances: at most where the better one is wrong."""
    free, bounded = (
        studies.planned_power(disagree=0.3, accuracy=accuracy, instances=[10**4]).points[0].detectable
        for accuracy in (None, 0.95)
    )
    assert free < 0.02
    assert bounded == pytest.approx(0.3 - 2 * 0.05, abs=1e-9)
    with pytest.raises(InputError, match=r"right on 0.1 of the instances at most disagree on at most 0.2 of them"):
        studies.planned_power(accuracy=0.1, disagree=0.3, instances=[9])
    with pytest.raises(InputError, match=r"give disagree, .* \(independent systems: 0.42, others less\)"):
        studies.planned_power(accuracy=0.7, instances=[9])
    with pytest.raises(InputError, match="give disagree"):
        studies.planned_power(instances=[9])
    with pytest.raises(InputError, match="target must be a number between"):
        studies.planned_power(disagree=0.2, instances=[9], target=0.01)


def test_a_difference_that_accuracy_excludes_is_not_found():
    """The better system alone is right on (d + delta) / 2 of the instances: at most its accuracy."""
    sizes = [200, 1000, 10_000]
    found = [at.detectable for at in studies.planned_power(accuracy=0.3, disagree=0.56, instances=sizes).points]
    free = [at.detectable for at in studies.planned_power(disagree=0.56, instances=sizes).points]
    assert [(0.56 + difference) / 2 > 0.3 for difference in free] == [True, True, False]
    assert found == [None, None, pytest.approx(free[2], rel=1e-9)]
    assert "–: none that is possible" in str(studies.planned_power(accuracy=0.3, disagree=0.56, instances=[200]))


def test_the_command_needs_no_files(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["power", "--accuracy", "0.7", "--disagree", "0.2", "--instances", "5", "400"]
    assert _run([*words, "-o", "p.json", "-o", "p.csv", "-q"], debug=True) == 0
    found = studies.planned_power(accuracy=0.7, disagree=0.2, instances=[5, 400])
    assert json.loads((tmp_path / "p.json").read_text())["points"][1]["detectable"] == found.points[1].detectable
    assert (tmp_path / "p.csv").read_text() == found.to_csv()
    assert _run(words, debug=True) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("With 400 instances you would find a true difference of 0.0644 in 80% of cases.")
    assert found.headline.startswith("With 400 instances")
    for more, said in ((["t.csv"], "are for no files"), (["--figure", "f.png"], "no figure")):
        assert _run(["power", *more, *words[1:]], debug=False) == 2
        assert said in capsys.readouterr().err
    for more in (
        "--test bootstrap",
        "--alternative less",
        "--cluster doc",
        "-m bleu",
        "--only A B",
        "--instance-cost 3",
    ):
        assert _run([*words, *more.split()], debug=False) == 2, more
        assert "is for power with files" in capsys.readouterr().err
    assert _run([*words, "-i", "a.txt", "b.txt"], debug=False) == 2
    assert "are for no files" in capsys.readouterr().err
    for more in (
        "--seed 3",
        "-m accuracy",
        "--test permutation",
        "--device numpy",
        "--pairs 3 --target 0.9 --confidence-level 0.9",
    ):
        assert _run([*words, *more.split(), "-q"], debug=True) == 0, more
    none = studies.planned_power(disagree=0.2, instances=[5])
    assert "With 5 instances you would find no difference in 80% of cases." in none.headline


@pytest.mark.parametrize(("disagree", "detect", "pairs"), [(0.3, 0.2, 1), (0.05, 0.04, 1), (0.9, 0.3, 10)])
def test_the_instances_that_are_needed_have_the_target_power_and_one_fewer_has_less(disagree, detect, pairs):
    found = studies.planned_power(disagree=disagree, detect=detect, pairs=pairs)
    assert power_of(found.needed, disagree, detect, 0.05 / pairs) >= 0.8
    assert power_of(found.needed - 1, disagree, detect, 0.05 / pairs) < 0.8
    (at,) = found.points
    assert (at.instances, at.detectable <= detect) == (found.needed, True)
    assert (
        found.headline == f"You need {found.needed} instances to find a true difference of {detect:g} in 80% of cases."
    )


@pytest.mark.slow
def test_small_differences_need_what_the_normal_approximation_says():
    for disagree, detect in ((0.1, 0.01), (0.2, 0.002)):
        normal = (norm.isf(0.025) + norm.isf(0.2)) ** 2 * disagree / detect**2
        assert studies.planned_power(disagree=disagree, detect=detect).needed == pytest.approx(normal, rel=0.03)


@pytest.mark.slow
def test_a_difference_that_is_impossible_or_too_small_is_refused():
    with pytest.raises(InputError, match="detect: systems that disagree so differ by 0 to 0.2, got 0.3"):
        studies.planned_power(disagree=0.2, detect=0.3)
    with pytest.raises(InputError, match="needs more than 5,000,000 instances"):
        studies.planned_power(disagree=0.2, detect=1e-6)


def test_without_sizes_there_is_a_table_of_usual_ones(capsys):
    assert _run(["power", "--accuracy", "0.7", "--disagree", "0.2"], debug=True) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines() if re.match(r" *[0-9,]+ +0\.", line)] == [
        "100", "200", "500", "1,000", "2,000", "5,000", "10,000"
    ]  # fmt: skip
    assert _run(["power", "--disagree", "0.2", "--detect", "0.03"], debug=True) == 0
    assert capsys.readouterr().out.startswith("You need 1,800 instances to find a true difference of 0.03 in 80%")


ROOT = Path(sigjax.__file__).parents[1]


def test_what_published_boards_need_is_as_measured(data):
    """The table of `sigjax help size`; the board by F1 again, by the bootstrap in plain NumPy."""
    rows = json.loads((ROOT / "benchmarks" / "results" / "pilots.json").read_text(encoding="utf-8"))
    every, factor = list(rows), norm.ppf(0.975) + norm.ppf(0.8)
    shown = re.findall(r"\| ([\d.]+) \| ([\d,]+) (\w+) \(([\d,]+) to ([\d,]+)\) \|", markdown("size"))
    assert len(shown) == len(rows)
    for difference, middle, unit, low, high in shown:
        (row,) = (
            each
            for each in rows
            if each["unit"] == unit
            and [*map(round2, each["needed"].get(difference, [0]))]
            == [int(each.replace(",", "")) for each in (low, middle, high)]
        )
        for deviation, needed in zip(row["deviation"], row["needed"][difference], strict=True):
            assert needed == pytest.approx((factor * deviation / float(difference)) ** 2, rel=0.01)
        rows.remove(row)
    counts = {"tp": "tp", "predicted": "n_sys", "gold": "n_gold"}
    assert "0.5 to 1.7 times the right one in 8 of 10 pilots" in " ".join(markdown("size").split())
    pilots = [ratios for row in every for ratios in row.get("pilots", {}).values()]
    assert min(low for low, _, _ in pilots) == pytest.approx(0.5, abs=0.05)
    assert max(high for _, _, high in pilots) == pytest.approx(1.7, abs=0.05)
    file = data / "hipe_fr_coarse" / "per_sentence_stats.tsv.gz"
    evaluation = sigjax.read(
        file, metric="fscore", counts=counts, only=sigjax.read(file, metric="fscore", counts=counts).systems[3:5]
    )
    stats, rng = evaluation.stats, np.random.default_rng(0)
    draws = rng.multinomial(stats.shape[1], np.full(stats.shape[1], 1 / stats.shape[1]), size=2000)
    tp, predicted, gold = np.moveaxis(draws @ stats.astype(float), -1, 0)
    scores = 2 * tp / (predicted + gold)
    pair = sigjax.compare(evaluation, progress=False)[0]
    assert pair.standard_error == pytest.approx((scores[0] - scores[1]).std(ddof=1), rel=0.08)


def round2(number):
    """Two significant digits."""
    return int(float(f"{number:.2g}"))


def table_below(topic, head):
    """The cells of a table of a page, by rows."""
    text = markdown(topic).partition(head)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines()[2:]]


def number(cell):
    return float(cell.replace(",", ""))


@pytest.mark.parametrize("row", table_below("runs", "| runs of each system | smallest p | pairs | difference found |"))
def test_how_many_runs_are_needed(row):
    """The smallest p by counting splits; the difference by tests of all splits of simulated normal runs."""
    runs, smallest, pairs, difference = row
    runs, splits = int(runs), math.comb(2 * int(runs), int(runs))
    assert number(smallest) == pytest.approx(2 / splits, rel=0.06)
    if runs < 20:
        assert pairs == (f"{splits // 40:,}" if splits >= 40 else "none")  # 2 pairs / splits <= 0.05
    if splits < 40:
        assert difference == "none"
    elif runs <= 6:
        chosen = np.array([np.isin(range(2 * runs), each) for each in combinations(range(2 * runs), runs)], float)
        values = np.random.default_rng(0).normal(size=(2 * runs, 4000))
        values[:runs] += number(difference)
        sums = np.abs(2 * chosen @ values - values.sum(axis=0))
        power = ((sums >= sums[:1] - 1e-9).mean(axis=0) <= 0.05).mean()
        assert power == pytest.approx(0.8, abs=0.03)
    else:
        freedom = 2 * runs - 2
        power = nct.sf(t.ppf(0.975, freedom), freedom, number(difference) * math.sqrt(runs / 2))
        assert power == pytest.approx(0.8, abs=0.02)


def test_the_smallest_p_of_few_runs_is_that_of_sigjax():
    """All runs of one procedure are better than all of the other."""
    for runs in (3, 4, 5):
        rows = {"id": [], "run": [], "A": [], "B": []}
        for run in range(runs):
            rows["id"] += [*range(4)]
            rows["run"] += [run] * 4
            rows["A"] += [10 + run, 11, 12, 13 + run]
            rows["B"] += [run, 1, 2, 3]
        table = sigjax.Evaluation.from_arrays(
            {name: np.array(rows[name]) for name in "AB"}, ids=rows["id"], runs=rows["run"]
        )
        assert sigjax.compare(table, design="models", progress=False)[0].p_value == pytest.approx(
            2 / math.comb(2 * runs, runs)
        )


def test_how_many_instances_must_differ():
    text = markdown("runs").partition("p is at least 2 / 2^k.")[2].partition("\n\n")[0]
    shown = [(int(count), int(pairs)) for count, pairs in re.findall(r"(\d+)(?: are enough)? for (\d+) pair", text)]
    assert [count for count, _ in shown] == [6, 7, 8, 10, 15]
    for count, pairs in shown:
        exact = binomtest(0, count).pvalue
        assert pairs == int(0.05 / exact + 1e-9)
        instances = {"A": [1] * count + [1, 0], "B": [0] * count + [1, 0]}
        assert sigjax.compare(instances, read={"metric": "accuracy"}, progress=False)[0].p_value == pytest.approx(exact)
