"""Metrics of the trials of an instance against all subsets of its runs, published values, and fractions."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb

import logs
import numpy as np
import pytest
from scipy import stats

import sigjax
from sigjax import Evaluation, InputError, Metric, compare, diff, one_sample
from sigjax.cli import _run
from sigjax.metrics import trial_metric
from sigjax.metrics.ratios import TrialShares
from sigjax.studies import equivalence, slices

# Successes in 4 trials of each task of tau-bench airline by GPT-4o, counted in the trajectories that the authors
# published beside their table (sierra-research/tau-bench, historical_trajectories/gpt-4o-airline.json).
GPT4O_AIRLINE = [int(c) for c in "01100111000142021140430040220122003443413241222144"]
PUBLISHED = {
    # Of the README of tau-bench, TC (gpt-4o): airline, whose counts are those above, and retail.
    "airline, gpt-4o": ((14, 12, 10, 4, 10), "42.0 27.3 22.0 20.0"),
    "retail, gpt-4o": ((22, 18, 9, 22, 44), "60.4 49.1 43.0 38.3"),
    # Submissions to tau2-bench, 4 trials of each task: pull requests 404 (Qwen3.5-4B) and 133 (gpt-oss-120b).
    "retail, qwen": ((1, 3, 19, 33, 58), "81.58 68.13 58.11 50.88"),
    "airline, gpt-oss": ((18, 5, 7, 7, 13), "46.0 35.3 29.5 26.0"),
    "retail, gpt-oss": ((24, 18, 13, 18, 41), "57.5 45.8 39.9 36.0"),
    "telecom, gpt-oss": ((19, 20, 16, 23, 36), "58.1 44.0 36.6 31.6"),
}
"""Tasks with 0 to 4 successes, and pass^1 to pass^4 in %; no other counts of so many tasks give all four values."""
NAMES = ("pass@1", "pass@2", "pass@3", "pass^1", "pass^2", "pass^3", "flip-rate")


def by_subsets(name, runs):
    """The share of all subsets of the runs that pass, by listing them."""
    size = 2 if name == "flip-rate" else int(name[5:])
    holds = any if "@" in name else all if "^" in name else lambda pair: pair[0] != pair[1]
    subsets = list(combinations(runs, size))
    return Fraction(sum(map(holds, subsets)), len(subsets))


def of_runs(runs_of, metric, **labels):
    """The evaluation of systems, each with a list of runs `[instance]`, which all systems have as many of."""
    first = next(iter(runs_of.values()))
    ids = [f"q{i}" for i, own in enumerate(first) for _ in own]
    runs = [r for own in first for r in range(len(own))]
    flat = {name: [value for own in lists for value in own] for name, lists in runs_of.items()}
    return Evaluation.from_arrays(flat, metric=metric, ids=ids, runs=runs, **labels)


def random_runs(seed, sizes, systems="AB"):
    rng = np.random.default_rng(seed)
    ease = rng.random(len(sizes))
    return {
        name: [(rng.random(n) < ease[i] * (0.6 + 0.4 * k)).astype(int).tolist() for i, n in enumerate(sizes)]
        for k, name in enumerate(systems)
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_share_is_that_of_all_subsets(name):
    metric = trial_metric(name)
    assert metric is not None
    extract = metric.extract
    assert isinstance(extract, TrialShares)
    for n in range(extract.k, 8):
        for runs in product((0, 1), repeat=n):
            assert extract.share(sum(runs), n) == by_subsets(name, runs)


def test_scores_are_those_published_for_tau_bench(write):
    assert [GPT4O_AIRLINE.count(c) for c in range(5)] == [*PUBLISHED["airline, gpt-4o"][0]]
    for counts, published in PUBLISHED.values():
        passed = np.repeat(range(5), counts).tolist()
        trials = [[1.0] * c + [0.0] * (4 - c) for c in passed]
        files = [write("agent.json", logs.tau(trials)), write("none.json", logs.tau([[0.0] * 4] * len(trials)))]
        for k, value in enumerate(published.split(), 1):
            agent, none = compare(sigjax.read(*files, metric=f"pass^{k}")).systems
            assert f"{100 * agent.score:.{len(value) - 3}f}" == value
            assert none.score == 0.0


@pytest.mark.parametrize("sizes", [[4] * 9, [3, 4, 5, 3, 7, 4, 3, 6, 5]])
@pytest.mark.parametrize("name", NAMES)
def test_scores_and_p_are_those_of_fractions(name, sizes):
    data = random_runs(5, sizes)
    shares = {system: [by_subsets(name, runs) for runs in own] for system, own in data.items()}
    (pair,) = report = compare(of_runs(data, name))
    scores = {each.name: each.score for each in report.systems}
    assert scores == {system: float(sum(own) / len(own)) for system, own in shares.items()}
    differences = [a - b for a, b in zip(shares["A"], shares["B"], strict=True)]
    observed = abs(sum(differences))
    swaps = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert pair.method == "exact"
    assert pair.p_value == pytest.approx(sum(each >= observed for each in swaps) / len(swaps), rel=1e-12)


def test_the_unit_is_the_instance_and_ties_are_whole_numbers():
    evaluation = of_runs(random_runs(1, [4, 5, 6]), "pass^2")
    assert evaluation.stats.dtype == np.int64
    assert "3 instances" in compare(evaluation).signature
    weights = evaluation.stats[0, :, 1]
    assert len({int(weights[np.array(evaluation.ids) == name].sum()) for name in ("q0", "q1", "q2")}) == 1


def test_laws_of_the_metrics():
    data = random_runs(2, [5] * 30)
    of = {name: {each.name: each.score for each in compare(of_runs(data, name)).systems} for name in NAMES}
    accuracy = {each.name: each.score for each in compare(of_runs(data, "accuracy")).systems}
    for system in "AB":
        assert of["pass@1"][system] == of["pass^1"][system] == pytest.approx(accuracy[system], abs=1e-15)
        assert of["flip-rate"][system] == pytest.approx(of["pass@2"][system] - of["pass^2"][system], abs=1e-15)
    (flips,) = compare(of_runs(data, "flip-rate"))
    assert flips.better == min("AB", key=of["flip-rate"].__getitem__)
    one, other = (compare(of_runs(data, name)).comparisons[0] for name in ("pass^1", "accuracy"))
    assert one.p_value == pytest.approx(other.p_value, rel=1e-12)
    assert one.interval == pytest.approx(other.interval, rel=1e-9)


def test_many_runs_are_reals_that_tie():
    data = random_runs(3, [90] * 8)
    (pair,) = compare(of_runs(data, "pass@45"))
    expected = np.mean([1 - comb(90 - sum(own), 45) / comb(90, 45) for own in data["A"]])
    assert pair.score_a == pytest.approx(expected, rel=1e-12)
    same = of_runs({"A": data["A"], "B": data["A"][::-1]}, "pass@45")
    assert compare(same)[0].p_value == 1.0


def test_clusters_suites_and_other_metrics_come_along(tmp_path):
    data = random_runs(4, [3] * 12)
    labels = [f"c{i // 6}" for i in range(36)]
    assert "6 clusters" in compare(of_runs(data, "pass^2", clusters=labels)).signature
    both = compare([of_runs(data, "pass^2"), of_runs(data, "accuracy")], correction="maxt", resamples=999)
    assert [each.metric for each in both] == ["pass^2", "accuracy"]
    suite = compare({"one": [of_runs(data, "pass^2")], "two": [of_runs(random_runs(5, [3] * 7), "pass^2")]})
    alone = [compare(of_runs(each, "pass^2"))[0].delta for each in (data, random_runs(5, [3] * 7))]
    assert next(each for each in suite if "suite" in each.metric).delta == pytest.approx(np.mean(alone), abs=1e-12)
    of_runs(data, "pass^2").save(path := tmp_path / "saved.npz")
    assert compare(sigjax.read(path)).comparisons[0].p_value == compare(of_runs(data, "pass^2"))[0].p_value


def test_tables_and_logs_of_several_scores(write):
    cells = ((s, i, t, int((i + t * len(s)) % 3 == 0)) for s, i, t in product(("a", "bb"), range(5), range(3)))
    rows = "".join(f"{s},q{i},{t},{right}\n" for s, i, t, right in cells)
    table = sigjax.read(write("t.csv", "system,id,trial,score\n" + rows), metric="pass@2", runs="trial")
    assert (table.metric.name, table.runs is not None, table.num_instances) == ("pass@2", True, 15)
    plus = [write(f"{name}.json", logs.evalplus(values)) for name, values in {"p": [1, 0], "q": [1, 1]}.items()]
    assert [each.score for each in compare(sigjax.read(*plus, metric="pass@1")).systems] == [1.0, 0.5]
    tau2 = [
        write(f"{name}.json", logs.tau2(values, model=name))
        for name, values in {"x": [[1, 0.5], [1, 1]], "y": [[0, 1], [1, 1]]}.items()
    ]
    assert sorted(each.score for each in compare(sigjax.read(*tau2, metric="pass^2")).systems) == [0.5, 0.5]


def every_number(runs_of, **labels):
    """What `compare`, one-sample, equivalence, slices with their interaction, and `diff --margin` say."""
    data = of_runs(runs_of, "pass@1", **labels)
    (pair,) = report = compare(data, device="numpy")
    worse = {"A": runs_of["B"], "B": runs_of["A"]}
    (same,) = equivalence(data, margin=0.5)
    numbers = [pair.interval, pair.standard_error, same.p_lower, same.p_upper, same.interval]
    numbers += [number for one in report.systems for number in (one.interval, one.standard_error)]
    numbers += [(one.p_value, *one.interval) for one in one_sample(data, against=0.3)]
    numbers += [one.limits for one in diff(data, of_runs(worse, "pass@1", **labels), margin=0.4).changes]
    if not labels:
        kinds = [f"kind {i // 13}" for i, own in enumerate(runs_of["A"]) for _ in own]
        found = slices(of_runs(runs_of, "pass@1", strata=kinds), permutations=199)
        numbers += [(one.p_value, *one.interval) for one in found.slices]
        numbers += [(one.statistic, one.p_value) for one in found.interactions]
    return np.hstack([np.ravel(each) for each in numbers]).astype(float)


@pytest.mark.parametrize("times", [5, 25])
@pytest.mark.slow
def test_an_instance_counts_once_however_many_runs_it_has(times):
    """Degrees of freedom counted its runs: with 100 of one task and 4 of 29, t had 1.09 of them and not 29."""
    data = random_runs(11, [4] * 30)
    more = {name: [*own[:-1], own[-1] * times] for name, own in data.items()}
    np.testing.assert_allclose(every_number(more), every_number(data), rtol=1e-9)
    groups = [f"c{i // 3}" for i, own in enumerate(data["A"]) for _ in own]
    of_more = [f"c{i // 3}" for i, own in enumerate(more["A"]) for _ in own]
    np.testing.assert_allclose(every_number(more, clusters=of_more), every_number(data, clusters=groups), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_intervals_are_t_of_one_number_for_each_instance(name):
    """SciPy's on the differences of shares; where these are skewed, the end on that side is farther."""
    for sizes in ([4] * 29 + [20], [3, 4, 9, 12] * 5):
        data = random_runs(7, sizes)
        shares = {system: [float(by_subsets(name, runs)) for runs in own] for system, own in data.items()}
        (pair,) = report = compare(of_runs(data, name), device="numpy")
        differences = np.subtract(shares["A"], shares["B"])
        expected = stats.ttest_1samp(differences, 0.0).confidence_interval()
        assert pair.standard_error == pytest.approx(stats.sem(differences), rel=1e-9)
        low, high = pair.interval  # pyright: ignore
        assert min(abs(low - expected.low), abs(high - expected.high)) < 1e-9
        assert low < expected.low + 1e-9
        assert high > expected.high - 1e-9
        assert any(f" {len(sizes) - 1} degrees of freedom" in note for note in report.notes)


def test_a_metric_says_that_instances_count_alike():
    """So does one of your own: its interval has the degrees of freedom of instances."""
    data = random_runs(7, [4] * 29 + [100])
    ours = of_runs(data, "pass@1")
    own = Metric("own", lambda sums: sums[..., 0] / sums[..., 1], ("share", "w"), ours.metric.extract, (), weight="w")
    pairs = [compare(replace(ours, metric=metric), device="numpy")[0] for metric in (own, replace(own, weight=""))]
    (expected,) = compare(ours, device="numpy")
    assert pairs[0].interval == pytest.approx(expected.interval, rel=1e-9)
    assert pairs[1].interval != pytest.approx(expected.interval, rel=1e-2)
    with pytest.raises(InputError, match=r"metric 'own': weight 'x' is no statistic; expected one of share, w, or ''"):
        replace(own, weight="x")


@pytest.mark.slow
@pytest.mark.parametrize("most", [20, 100])
def test_intervals_hold_with_unequal_numbers_of_runs(most):
    """Tasks of random difficulty, one with many runs: 95% intervals miss delta in no more than 7 of 100 data sets."""
    rng, missed, lengths = np.random.default_rng(5), 0, []
    runs = np.array([4] * 29 + [most])
    for _ in range(150):
        ease = rng.random(30)
        gain = np.clip(ease + 0.3 * rng.random(30), 0, 1)
        data = {
            name: [(rng.random(n) < p).astype(int).tolist() for n, p in zip(runs, chances, strict=True)]
            for name, chances in (("A", gain), ("B", ease))
        }
        (pair,) = compare(of_runs(data, "pass@1"), device="numpy", method="montecarlo", resamples=99)
        low, high = pair.interval  # pyright: ignore
        missed += not low <= 0.15 - 0.3**2 / 6.0 <= high  # what is cut off at 1 is E[max(e + g - 1, 0)] = 0.3^2 / 6
        lengths.append(high - low)
    assert missed <= 0.05 * 150 + 3.0 * np.sqrt(0.05 * 0.95 * 150)
    assert np.median(lengths) < 0.4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "pass^4"}, "pass.4 needs 4 runs of every instance, and 'q1' has 3"),
        ({"metric": "flip-rate", "first": [[1], [0, 1]]}, "flip-rate needs 2 runs of every instance, and 'q0' has 1"),
        ({"first": [[1, 0.5], [0, 1]]}, "pass.2 takes 0 or 1 for each run, got 0.5 at instance 2"),
        ({"metric": "pass^0"}, "unknown metric 'pass.0'"),
    ],
)
def test_refused(change, message):
    first = change.get("first", [[1, 0, 1, 1], [0, 1, 0]])
    with pytest.raises(InputError, match=message):
        of_runs({"A": first, "B": first}, change.get("metric", "pass^2"))


def test_designs_that_take_runs_one_by_one_are_refused():
    for design in ("crossed", "nested", "models"):
        with pytest.raises(InputError, match=f"design {design} takes runs one by one, and pass.2 all runs"):
            compare(of_runs(random_runs(6, [3] * 6), "pass^2"), design=design)
    missing = {"A": {"x": 1, "y": 0}, "B": {"x": 1, "z": 1}}
    with pytest.raises(InputError, match="missing pairwise takes runs one by one"):
        compare(Evaluation.from_arrays(missing, metric="pass@1", missing="pairwise"))


def test_several_metrics_of_the_logs_of_one_task_are_no_tasks(tmp_path, capsys):
    chance = np.random.default_rng(3)
    files = [tmp_path / f"{name}.json" for name in "abc"]
    for file, rate in zip(files, (0.8, 0.5, 0.3), strict=True):
        values = (chance.random((30, 6)) < rate).astype(int).tolist()
        file.write_text(logs.inspect(values, model=f"lab/{file.stem}"))
    metrics = ["pass@1", "pass^5", "flip-rate"]
    assert _run(["compare", *map(str, files), "-m", *metrics], debug=True) == 0
    lines = capsys.readouterr().out.splitlines()
    (header,) = (line for line in lines if line.startswith("system"))
    assert "arc: pass@1, pass^5 and flip-rate (lower is better) on 30 instances with 6 runs, 3 systems" in lines
    assert all(metric in header for metric in metrics)
    assert (header.count("interval"), header.count("adjusted p")) == (3, 3)
    assert not any("task" in line for line in lines)
    (row,) = (line for line in lines if line.startswith("lab/c"))
    assert (row.count("["), row.count("*") >= 2) == (3, True)
    alone = ["compare", *map(str, files), "-m", "pass@1"]
    assert _run(alone, debug=True) == 0
    assert any("arc: pass@1 on 30 instances" in line for line in capsys.readouterr().out.splitlines())
