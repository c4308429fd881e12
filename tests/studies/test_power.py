"""Power against closed forms, and what the study says of its pilot."""

import json

import logs
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.power import normal_power as known_normal_power

import sigjax
from sigjax import Evaluation, InputError
from sigjax.cli import _run
from sigjax.comparison.analysis import run_variances
from sigjax.resample import draws as bits
from sigjax.studies import trials
from sigjax.studies.formulas import detectable_effect, instances_needed, normal_power, simulated_effect
from sigjax.studies.trials import allotted


def pilot(size=300, effect=0.25, seed=0, **labels):
    """Differences with just this mean, and standard deviation 1 (ddof = 0)."""
    differences = stats.norm.ppf((np.arange(size) + 0.5) / size)
    differences = effect + differences / differences.std()
    base = np.random.default_rng(seed).normal(size=size)
    return Evaluation.from_arrays({"A": base + differences, "B": base}, **labels)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.slow
def test_power_is_that_of_the_paired_t_test(alternative):
    known = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}[alternative]
    study = sigjax.power(
        pilot(), instances=[40, 80, 160], test=["permutation", "bootstrap"], repetitions=500, alternative=alternative
    )
    assert [(at.test, at.instances) for at in study.points] == [
        (test, size) for test in ("permutation", "bootstrap") for size in (40, 80, 160)
    ]
    for at in study.points:
        exact = TTestPower().power(0.25, at.instances, 0.05, alternative=known)
        error = np.sqrt(exact * (1 - exact) / 500)
        # Both tests are near the t test, the bootstrap from above.
        assert abs(at.power - exact) < 4 * error + 0.015 + 0.6 / at.instances
        assert at.normal_power == pytest.approx(exact, abs=1.0 / at.instances + 0.003)
        assert at.standard_error == pytest.approx(1 / np.sqrt(at.instances), rel=0.02)
        assert at.simulated_error == pytest.approx(1 / np.sqrt(at.instances), rel=4 / np.sqrt(1000))
        assert at.simulated_detectable == pytest.approx(at.detectable, rel=0.1)


def test_results_do_not_depend_on_how_many_repetitions_are_made_at_a_time(monkeypatch):
    """Large test sets are tested one repetition at a time."""
    how = {"instances": [20], "repetitions": 6, "test": ["permutation", "bootstrap"], "resamples": 200}
    points = sigjax.power(pilot(40), **how, device="numpy").points
    monkeypatch.setattr(trials, "_GROUP_VALUES", 2 * 20)
    assert sigjax.power(pilot(40), **how, device="numpy").points == points


@pytest.mark.parametrize(
    ("alternative", "known"), [("two-sided", "two-sided"), ("greater", "larger"), ("less", "smaller")]
)
@pytest.mark.parametrize("effect", [-0.3, 0.0, 0.1])
def test_normal_power_is_that_of_statsmodels(alternative, known, effect):
    found = normal_power(effect, 1 / np.sqrt(50), 0.05, alternative)
    assert found == pytest.approx(known_normal_power(effect, 50, 0.05, alternative=known))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_simulated_effect_is_the_normal_one_for_normal_errors(alternative):
    errors = stats.norm.ppf((np.arange(10**6) + 0.5) / 10**6)
    assert simulated_effect(errors, 0.05, 0.8, alternative) == pytest.approx(
        detectable_effect(1.0, 0.05, 0.8, alternative), abs=1e-4
    )


@pytest.mark.slow
def test_adjusted_for_many_pairs_power_is_that_of_bonferroni():
    alone, among = (sigjax.power(pilot(), instances=[100], resamples=9999, pairs=pairs).points[0] for pairs in (1, 10))
    assert among.normal_power == pytest.approx(normal_power(0.25, among.standard_error, 0.005, "two-sided"))
    assert among.detectable == pytest.approx(detectable_effect(alone.standard_error, 0.005, 0.8, "two-sided"))
    error = np.sqrt(TTestPower().power(0.25, 100, 0.005) * 0.5 / 500)
    assert abs(among.power - TTestPower().power(0.25, 100, 0.005)) < 4 * error + 0.02
    assert alone.standard_error == among.standard_error
    assert "|pairs:10|" in sigjax.power(pilot(), instances=[9], repetitions=2, pairs=10).signature


def test_identical_systems_have_no_power():
    values = np.arange(20.0)
    (at,) = sigjax.power(Evaluation.from_arrays({"A": values, "B": values}), instances=[30], repetitions=20).points
    assert (at.power, at.normal_power, at.detectable, at.simulated_detectable) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(("alternative", "size"), [("two-sided", 5), ("greater", 4)])
def test_no_difference_is_detectable_where_no_p_value_is_small_enough(alternative, size):
    least = scipy_least_p(size, alternative), scipy_least_p(size + 1, alternative)
    assert least[0] > 0.05 >= least[1]
    study = sigjax.power(
        pilot(effect=9.0), instances=[size, size + 1], test=["permutation", "bootstrap"], repetitions=20,
        alternative=alternative,
    )  # fmt: skip
    few, enough, *bootstrap = study.points
    assert (few.power, few.detectable, few.simulated_detectable) == (0.0, None, None)
    assert enough.power == 1.0
    assert None not in (enough.detectable, enough.simulated_detectable, *(at.detectable for at in bootstrap))
    assert f"with {size} units no permutation test has p <= 0.05" in str(study)
    assert json.loads(study.to_json())["points"][0]["detectable"] is None


def scipy_least_p(size, alternative):
    """Of the permutation test of differences that are all positive."""
    result = stats.permutation_test(
        (np.arange(1.0, size + 1), np.zeros(size)), lambda x, y: np.mean(x - y), permutation_type="samples",
        alternative=alternative,
    )  # fmt: skip
    return result.pvalue


def test_bad_input():
    for wrong, message in (
        ({"instances": []}, "one or more whole numbers from 2"),
        ({"instances": [10, 10]}, "one or more whole numbers from 2"),
        ({"instances": [1]}, "instances must be one or more whole numbers from 2"),
        ({"instances": [10], "target": 0.01}, "target must be a number between 0.05 and 1"),
        ({"instances": [10], "repetitions": 1}, "repetitions must be"),
        ({"instances": [10], "confidence_level": 2.0}, "level must be"),
        ({"instances": [10], "confidence_level": 0.999, "resamples": 998}, "resamples must be at least 999"),
    ):
        with pytest.raises(InputError, match=message):
            sigjax.power(pilot(20), **wrong)


@pytest.mark.slow
def test_frame_and_axes_of_the_caller():
    pandas, matplotlib = pytest.importorskip("pandas"), pytest.importorskip("matplotlib.figure")
    study = sigjax.power(pilot(), instances=[20, 40], repetitions=20, resamples=99)
    frame = study.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["instances"].tolist() == [20, 40]
    assert frame["interval_low"].tolist() == [at.interval.low for at in study.points]
    figure = matplotlib.Figure()
    axes = figure.subplots(1, 2)
    assert study.plot(axes) is axes  # notebooks show the figure of the axes already
    assert axes[0].lines
    with pytest.raises(InputError, match="ax must be 2 axes of matplotlib, one per panel, got 1"):
        study.plot(axes[0])
    with pytest.raises(InputError, match="title: is for one panel, and these are 2"):
        study.plot(axes, title="mine")
    whole = study.plot(figsize=(7.0, 4.0), title="mine")
    assert whole.get_size_inches().tolist() == [7.0, 4.0]
    assert whole.get_suptitle() == "mine"


def test_the_detectable_effect_has_the_power_asked_for():
    for alternative in ("two-sided", "greater"):
        effect = detectable_effect(0.7, 0.01, 0.9, alternative)
        assert normal_power(effect, 0.7, 0.01, alternative) == pytest.approx(0.9, abs=1e-6)


@pytest.mark.slow
def test_power_without_an_effect_is_the_level():
    study = sigjax.power(pilot(effect=0.0), instances=[60], repetitions=2000)
    assert stats.binomtest(study.points[0].rejected, 2000, 0.05).pvalue > 1e-3


@pytest.mark.parametrize(("one", "other"), [("greater", "less"), ("two-sided", "two-sided")])
@pytest.mark.slow
def test_a_pilot_turned_upside_down_has_the_same_power(one, other):
    """Differences are skewed: what is detectable upwards is not what is detectable downwards."""
    gain = np.random.default_rng(4).exponential(size=60) - 0.6
    up, down = (
        sigjax.power(
            Evaluation.from_arrays({"A": sign * gain, "B": 0 * gain}),
            instances=[30],
            repetitions=200,
            resamples=199,
            alternative=alternative,
        ).points[0]
        for sign, alternative in ((1, one), (-1, other))
    )
    assert (up.power, up.detectable) == (down.power, down.detectable)
    assert up.simulated_detectable == pytest.approx(down.simulated_detectable, rel=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_simulated_effect_of_two_sided_tests_has_the_sign_of_the_pilot(sign):
    """Of 30 draws X, binomial, have a gain of 30: the errors are X - 2, of which 90% are within 2 and 35% up to -1."""
    chances = stats.binom.cdf([0, 1, 2, 3, 4], 30, 4 / 60)
    assert chances[3] - chances[0] < 0.88 < 0.92 < chances[4]
    assert chances[0] < 0.32 < 0.38 < chances[1]
    gains = Evaluation.from_arrays({"A": sign * 30 * np.repeat([1, 0], [4, 56]), "B": np.zeros(60, int)})
    study = sigjax.power(gains, instances=[30], repetitions=4000, resamples=99, confidence_level=0.9, target=0.65)
    assert study.points[0].simulated_detectable == 3.0


@pytest.mark.parametrize("pair", [("b", "c"), ("c", "b"), ("c", "a")])
def test_systems_may_be_chosen_when_reading_or_later(tmp_path, pair):
    """Resamples go by the order of the instances, which depends on the files that are given, not on who is compared."""
    rng = np.random.default_rng(4)
    files = [tmp_path / f"{name}.jsonl" for name in "abc"]
    for file, right in zip(files, rng.random((3, 80)) < np.array([[0.7], [0.55], [0.6]]), strict=True):
        lines = logs.lm_eval(right.astype(int).tolist()).splitlines(keepends=True)
        file.write_text("".join(rng.permutation(lines)))  # as harnesses that run in parallel write
    options = {"instances": [30, 60], "repetitions": 100, "device": "numpy", "progress": False}
    later = sigjax.power(sigjax.read(*files), read={"only": pair}, **options)
    at_once = sigjax.power(sigjax.read(*files, only=pair), **options)
    assert (at_once.points, at_once.pilots) == (later.points, later.pilots)
    assert 0.0 < at_once.points[0].power < 1.0


def runs_pilot(seed, num_instances=60, runs=4, taste=0.4, noise=0.8, effect=0.2):
    """Scores of two systems, the second with its own strengths on instances; numbers of runs are samples."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 1, (num_instances, 1))
    a, b = (
        ease + effect * k + rng.normal(0, taste, (num_instances, 1)) + rng.normal(0, noise, (num_instances, runs))
        for k in range(2)
    )
    ids, trials = np.indices(a.shape).reshape(2, -1)
    return Evaluation.from_arrays({"A": a.ravel(), "B": b.ravel()}, ids=ids, runs=trials)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_instances_needed_are_those_of_the_t_test(alternative, power):
    known = {"two-sided": "two-sided", "greater": "larger"}[alternative]
    for effect in (0.1, 0.3, 0.8):
        (found,) = instances_needed(np.ones(1), effect, 0.05, power, alternative)
        exact = TTestPower().solve_power(effect, power=power, alpha=0.05, alternative=known)
        assert abs(found - np.ceil(exact)) <= 1


def test_the_cheapest_mix_has_its_power_and_no_other_costs_less():
    pilot_data = runs_pilot(1)
    how = {"instances": [60], "repetitions": 2, "resamples": 99}
    study = sigjax.power(pilot_data, **how, detect=0.3, instance_cost=10, run_cost=0.5)
    best = next(mix for mix in study.mixes if mix.cheapest)
    found = run_variances(pilot_data)
    # By hand, over all numbers of runs, with the variance of a t test from the components of the pilot.
    variance = {r: found.instances_of_delta + 2 * found.runs / r for r in range(1, 9)}
    needed = {r: TTestPower().solve_power(0.3 / np.sqrt(v), power=0.8, alpha=0.05) for r, v in variance.items()}
    costs = {r: np.ceil(needed[r]) * (10 + 2 * 0.5 * r) for r in needed}
    assert best.cost == pytest.approx(min(costs.values()), rel=0.02)
    assert abs(best.runs - np.sqrt(10 * 2 * found.runs / (2 * 0.5 * found.instances_of_delta))) < 3  # Cochran's formula
    assert best.cost == best.instances * (10 + best.runs)
    assert [mix.runs for mix in study.mixes] == sorted({1, 2, 3, 4, 5, 8, best.runs})  # up to twice those of the pilot
    rng = np.random.default_rng(2)
    shape = (4000, best.instances)
    own = 0.3 + rng.normal(0, np.sqrt(found.instances_of_delta), shape)
    noise = rng.normal(0, np.sqrt(2 * found.runs / best.runs), shape)
    rejected = np.mean(stats.ttest_1samp(own + noise, 0.0, axis=1).pvalue <= 0.05)
    assert rejected == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 4000) + 0.01)
    assert f"{best.instances} instances with {best.runs} runs of each system, cost {best.cost:g}" in str(study)


def test_without_a_cost_of_instances_one_run_is_cheapest():
    study = sigjax.power(runs_pilot(3), instances=[60], repetitions=2, resamples=99)
    assert [mix.runs for mix in study.mixes if mix.cheapest] == [1]
    assert study.mixes[0].difference == abs(study.pilots[0].delta)
    assert json.loads(study.to_json())["mixes"][0]["cost"] == 2.0 * study.mixes[0].instances


@pytest.mark.slow
def test_a_variance_of_instances_below_0_is_taken_as_0_and_the_text_says_so():
    """Runs of an instance that are less alike than those of others: once right and once wrong, by turns."""
    a, b = np.tile([[1, 0], [0, 1]], (20, 1)), np.tile([[0, 0], [1, 0], [0, 1], [0, 0]], (10, 1))
    ids, runs = np.indices(a.shape).reshape(2, -1)
    data = Evaluation.from_arrays({"A": a.ravel(), "B": b.ravel()}, ids=ids, runs=runs, metric="accuracy")
    for given, below in ((data, True), (runs_pilot(1), False)):
        study = sigjax.power(given, instances=[40], repetitions=2, resamples=99, detect=0.3)
        assert (run_variances(given).instances_of_delta < 0) == below
        assert {mix.below_0 for mix in study.mixes} == {below}
        assert ("the variance of instances was estimated below 0, and is taken as 0" in str(study)) == below


@pytest.mark.parametrize(("alternative", "pairs"), [("two-sided", 1), ("greater", 1), ("two-sided", 10)])
def test_a_mean_needs_what_the_t_test_needs(alternative, pairs):
    """By the closed form of its pilot's variance, which test sets of this size confirm."""
    x = np.random.default_rng(5).normal(0.4, 1.0, 200)
    how = {"repetitions": 400, "resamples": 999, "alternative": alternative, "pairs": pairs}
    study = sigjax.power(Evaluation.from_arrays({"A": x, "B": 0 * x}), detect=0.4, **how)
    (needed,) = study.needed
    known = {"two-sided": "two-sided", "greater": "larger"}[alternative]
    exact = TTestPower().solve_power(0.4 / x.std(), power=0.8, alpha=0.05 / pairs, alternative=known)
    assert needed.instances == pytest.approx(exact, rel=0.03)
    (at,) = study.points
    assert at.instances == needed.instances
    assert 0.37 < at.detectable <= 0.4
    moved = sigjax.power(Evaluation.from_arrays({"A": x - x.mean() + 0.4, "B": 0 * x}), detect=0.4, **how)
    low, high = moved.points[0].interval  # here the pilot's difference is the one to detect
    assert low - 0.03 < 0.8 < high + 0.03
    assert study.headline == (
        f"You need {needed.instances} instances to find a true difference of 0.4 (mean) in 80% of cases "
        "(permutation test). The pilot has 200."
    )


@pytest.mark.parametrize("unit", [1.0, 2.0**-700, 2.0**400])
def test_what_is_needed_does_not_depend_on_the_unit_of_the_scores(unit):
    x = np.random.default_rng(5).integers(-9, 9, 40) / 4.0
    study = sigjax.power(Evaluation.from_arrays({"A": x * unit, "B": 0 * x}), detect=unit, repetitions=2, resamples=99)
    exact = TTestPower().solve_power(1.0 / x.std(), power=0.8, alpha=0.05, alternative="two-sided")
    assert abs(study.needed[0].instances - exact) <= 1
    with pytest.raises(InputError, match="detect: .* needs more than 1,000,000,000,000,000 instances"):
        sigjax.power(Evaluation.from_arrays({"A": x * unit, "B": 0 * x}), detect=unit * 1e-9, repetitions=2)


@pytest.mark.slow
def test_segments_that_find_a_third_of_a_point_of_bleu(tmp_path, monkeypatch, capsys):
    """Four times fewer for twice the difference; test sets of that size find it by the simulated deltas, too."""
    monkeypatch.chdir(tmp_path)
    _run(["demo", "--write", "."], debug=True)
    texts = ["mt/ref.txt", "-i", "mt/small.txt", "mt/base.txt", "mt/big.txt", "-m", "bleu", "--only", "base", "big"]
    capsys.readouterr()
    sizes = []
    for detect in ("0.3", "0.6"):
        assert _run(["power", *texts, "--detect", detect, "-q", "-o", "p.json"], debug=True) == 0
        found = json.loads((tmp_path / "p.json").read_text())
        sizes.append(found["needed"][0]["instances"])
    assert sizes[0] == pytest.approx(4 * sizes[1], rel=0.01)
    (at,) = found["points"]
    assert at["instances"] == sizes[1]
    assert at["simulated_detectable"] == pytest.approx(0.6, rel=0.1)


def test_without_numbers_and_a_difference_there_is_nothing_to_say():
    with pytest.raises(InputError, match="give instances, numbers of instances such as 100 400, or detect"):
        sigjax.power({"A": [1, 0, 1], "B": [0, 0, 1]})


def test_a_mix_is_for_repeated_runs():
    answers = {"A": [1, 0, 1, 1] * 5, "B": [0, 0, 1, 1] * 5}
    how = {"instances": [20], "repetitions": 2, "resamples": 99}
    assert sigjax.power(Evaluation.from_arrays(answers), **how).mixes == ()
    for given in ({"instance_cost": 2.0}, {"run_cost": 2.0}):
        with pytest.raises(InputError, match="are for the mix of instances and runs, which needs repeated runs"):
            sigjax.power(Evaluation.from_arrays(answers), **how, **given)


@pytest.mark.slow
def test_random_words_of_trials_are_those_of_no_test(monkeypatch):
    """Both have room for 2^38 resamples or trials; 2^42 is the last that the cipher tells apart."""
    rows, rows_of = [], bits.rows_of
    monkeypatch.setattr(bits, "rows_of", lambda key, resamples: (rows.append(resamples), rows_of(key, resamples))[1])
    data = Evaluation.from_arrays({name: np.random.default_rng(k).normal(size=40) for k, name in enumerate("AB")})
    sigjax.power(data, instances=[20], repetitions=3, resamples=99)
    sigjax.audit(data, repetitions=3, resamples=99)
    (first,) = {int(each.min()) for each in rows}
    assert 2**38 <= first <= 2**42 - 2**38


@pytest.mark.parametrize("seed", range(20))
def test_strata_of_a_trial_are_as_near_their_shares_as_whole_numbers_can_be(seed):
    """Hamilton's counts have the least sum of deviations from the shares, of all counts of that size."""
    rng = np.random.default_rng(seed)
    strata = np.repeat(np.arange(3), rng.integers(1, 12, 3))
    size = int(rng.integers(1, 15))
    shares = np.bincount(strata) * size / len(strata)
    found = np.bincount(allotted(strata, size), minlength=3)
    assert found.sum() == size
    every = [(i, j, size - i - j) for i in range(size + 1) for j in range(size + 1 - i)]
    least = min(np.abs(np.array(each) - shares).sum() for each in every)
    assert np.abs(found - shares).sum() == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize(("differ", "size"), [(5, 100), (0, 80), (10, 60)])
def test_no_difference_is_detectable_where_too_few_units_would_differ(differ, size):
    """As `planned_power` says of such a share, by the binomial distribution."""
    right = [1] * 100, [0] * differ + [1] * (100 - differ)
    study = sigjax.power(dict(zip("AB", right, strict=True)), instances=[size, 4000], repetitions=20)
    assert study.pilots[0].differ == differ / 100
    assert stats.binom.sf(5, size, differ / 100) < 0.8
    alone = sigjax.power(dict(zip("AB", right, strict=True)), instances=[size], repetitions=20)
    assert "would find a true difference of" not in str(alone)
    if differ:
        assert f"{study.points[0].detectable:.4f}" not in str(study)
        assert f"{study.points[1].detectable:.4f} (mean) in 80% of cases" in study.headline
        assert f"of {size} units too few would differ" in str(study)
        (planned,) = sigjax.studies.planned_power(disagree=differ / 100, instances=[size]).points
        assert planned.detectable is None
        said = "you would find no difference in 80% of cases: too few would differ (mean, permutation test)."
        assert said in alone.headline
        needed = sigjax.power(dict(zip("AB", right, strict=True)), detect=0.9, repetitions=2).needed[0].instances
        assert stats.binom.sf(5, needed, differ / 100) >= 0.8 > stats.binom.sf(5, needed - 1, differ / 100)
    else:
        assert "The pilot cannot tell: its difference is the same on every instance" in alone.headline


@pytest.mark.parametrize(("alone", "detect"), [(182, 0.05), (182, 0.3), (60, 0.1)])
def test_what_a_pilot_of_answers_that_differ_much_needs_is_what_the_exact_test_needs(alone, detect):
    """A smaller difference than that of the pilot varies more: disagreement - difference^2."""
    answers = {"A": [1] * alone + [0] * (300 - alone), "B": [0] * 300}
    study = sigjax.power(sigjax.read(answers, metric="accuracy"), detect=detect, repetitions=100, progress=False)
    exact = sigjax.studies.planned_power(disagree=alone / 300, detect=detect).needed
    assert study.needed[0].instances == exact


def test_differences_that_cannot_be_are_not_detected():
    answers = sigjax.read({"A": [1] * 30 + [0] * 70, "B": [0] * 100}, metric="accuracy")
    for detect in (5, 0.31):
        with pytest.raises(InputError, match=r"cannot be: expected at most 0.3 \(one system alone is right"):
            sigjax.power(answers, detect=detect, repetitions=100)
    labels = [i // 4 for i in range(40)]
    clustered = sigjax.Evaluation.from_arrays({"A": [1, 0] * 20, "B": [0, 0] * 20}, metric="accuracy", clusters=labels)
    with pytest.raises(InputError, match=r"5 cannot be: expected at most 1 \(scores from 0 to 1\)"):
        sigjax.power(clustered, detect=5, repetitions=100)
    with pytest.raises(InputError, match="disagree must be a number above 0 and at most 1, got 1.2"):
        sigjax.studies.planned_power(disagree=1.2, detect=0.1)
