"""`classical_tests` and `sigjax tests`: which tests are there, degenerate data, the worked example of Yeh (2000)."""

import itertools
import json
from math import comb

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportions_ztest

import sigjax
from sigjax import Evaluation, InputError, classical_tests
from sigjax.cli import _run

# Yeh (2000), section 3.3: relations found by both, by method I only and by method II only.
CORRECT, SPURIOUS, GOLD = (19, 28, 6), (5, 43, 9), 103
FIRST, SECOND = (1, 1, 0), (1, 0, 1)


def yeh():
    """Statistics tp, predicted, gold of both methods on all terms: of interest, found or both."""
    missed = GOLD - sum(CORRECT)
    sizes = (*CORRECT, missed, *SPURIOUS)
    interest = np.repeat([1, 1, 1, 1, 0, 0, 0], sizes)
    return [
        np.stack([found * interest, found, interest], axis=-1)
        for found in (np.repeat([*who, 0, *who], sizes) for who in (FIRST, SECOND))
    ]


def exact_level(score, *, two_sided):
    """P(score of I - score of II at least as large as observed), from the two binomials, in whole numbers."""

    def delta(correct, spurious):
        first = (CORRECT[0] + correct, SPURIOUS[0] + spurious)
        second = (sum(CORRECT) - correct, sum(SPURIOUS) - spurious)
        return score(*first) - score(*second)

    ours, theirs = sum(CORRECT[1:]), sum(SPURIOUS[1:])
    observed = delta(CORRECT[1], SPURIOUS[1])
    hits = 0
    for correct, spurious in itertools.product(range(ours + 1), range(theirs + 1)):
        value = delta(correct, spurious)
        extreme = abs(value) >= abs(observed) - 1e-12 if two_sided else value >= observed - 1e-12
        hits += comb(ours, correct) * comb(theirs, spurious) * extreme
    return hits / 2 ** (ours + theirs)


SCORES = {
    "recall": lambda correct, spurious: correct / GOLD,
    "precision": lambda correct, spurious: -correct / (correct + spurious),  # II is ahead
    "fscore": lambda correct, spurious: 2 * correct / (correct + spurious + GOLD),
}


def run(metric, **options):
    return classical_tests(*yeh(), metric=metric, **options)


def test_yeh_recall():
    """Correlation 0.35; the sign test is the randomization test; independence costs."""
    result = run("recall")
    assert result.num_units == 103
    assert result.correlation == pytest.approx(0.35, abs=0.005)
    both = np.stack([np.repeat([*who, 0], (*CORRECT, 50)) for who in (FIRST, SECOND)])
    assert result.correlation == pytest.approx(np.corrcoef(both)[0, 1], rel=1e-12)
    assert result.comparisons[0].p_value == pytest.approx(exact_level(SCORES["recall"], two_sided=True), rel=1e-12)
    for name in ("sign (exact)", "McNemar (exact)", "Wilcoxon signed rank"):
        assert result[name].p_value == pytest.approx(result.comparisons[0].p_value, rel=1e-12)
    paired, unpaired = result["paired t"], result["two-sample t"]
    assert paired.statistic == pytest.approx(scipy.stats.ttest_rel(*both).statistic, rel=1e-12)
    assert unpaired.statistic == pytest.approx(scipy.stats.ttest_ind(*both).statistic, rel=1e-12)
    assert paired.statistic / unpaired.statistic == pytest.approx(result.factor, rel=1e-10)
    assert unpaired.p_value > 10 * paired.p_value


def test_yeh_precision():
    """Chi-square 2.38 and 10 to 20 %, where the two-sided randomization test says just under 4 %."""
    result = run("precision")
    assert result["chi-square (relevant, spurious)"].statistic == pytest.approx(2.38, abs=0.005)
    assert 0.1 < result["chi-square (relevant, spurious)"].p_value < 0.2
    assert result["binomial z"].p_value == pytest.approx(result["chi-square (relevant, spurious)"].p_value, rel=1e-12)
    assert 0.0395 < result.comparisons[0].p_value < 0.04
    assert {each.name for each in result.left_out} >= {"paired t", "sign (exact)", "Wilcoxon signed rank"}
    assert result.left_out[0].reason == "precision is not a mean over units: 2 statistics differ (tp, predicted)"


@pytest.mark.parametrize(
    ("metric", "printed", "errors"), [("recall", 96, (0, 1)), ("fscore", 14794, (5, 6)), ("precision", 25770, (33, 34))]
)
def test_yeh_levels_beside_his_printed_counts(metric, printed, errors):
    """His recall count is what 1,048,576 shuffles give; those of F and precision are not.

    They lie 5.7 and 33.5 binomial standard errors from the exact level. A one-sided 2.5 % of precision also does not go
    with his own two-sided "less than 4 %": the null is symmetric, and exactly it is 2.0 % and 4.0 %.
    """
    exact, shuffles = exact_level(SCORES[metric], two_sided=False), 2**20
    towards = "less" if metric == "precision" else "greater"
    assert run(metric, alternative=towards).comparisons[0].p_value == pytest.approx(exact, rel=1e-9)
    distance = abs(printed - shuffles * exact) / np.sqrt(shuffles * exact * (1 - exact))
    assert errors[0] < distance < errors[1]
    assert exact < 0.05


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("metric", ["mean", "accuracy", "fscore", "recall", "precision", "ratio"])
def test_identical_systems_give_one_everywhere(metric, alternative):
    columns = {"mean": 1, "accuracy": 1, "ratio": 2}.get(metric, 3)
    a = np.tile([[1, 1, 1], [0, 1, 1], [1, 1, 2]], (4, 1))[:, :columns]
    a = a % 2 if metric == "accuracy" else a
    result = classical_tests(a, a, metric=metric, alternative=alternative, resamples=200)
    assert result.tests
    assert {test.p_value for test in (*result, *result.comparisons, *result.second)} == {1.0}
    assert result.factor is None


def test_reals_that_are_equal_but_for_rounding_are_ties_of_the_sign_test():
    """Multiples of 0.1, written and added up; three units out of eight differ."""
    rng, apart = np.random.default_rng(0), 0
    for _ in range(30):
        steps = rng.integers(30, 90, 8)
        written, added = steps / 10, np.cumsum(np.full(90, 0.1))[steps - 1]
        written[0] += np.pi  # so that no decimals hold them
        added[0] = written[0]
        apart += (written != added).any()
        a, b = written.copy(), added.copy()
        a[:3] += 1.0
        result = classical_tests(a, b, alternative="greater", resamples=99)
        assert (result["sign (exact)"].statistic, result["sign (exact)"].p_value) == (3.0, 0.125)
        assert result["Wilcoxon signed rank"].p_value == 0.125
    assert apart > 20


def test_a_score_that_falls_with_its_statistic_turns_the_tests():
    """fscore-errors with equal tp: fewer errors, higher score."""
    tp, errors_a, errors_b = np.full(8, 3), np.arange(8), np.arange(8) + np.array([1, 2, 1, 3, 0, 1, 2, 1])
    result = classical_tests(
        np.stack([tp, errors_a], -1), np.stack([tp, errors_b], -1), metric="fscore-errors", alternative="greater"
    )
    assert result.delta > 0
    assert result["sign (exact)"].p_value == 2.0**-7
    assert result["paired t"].statistic == pytest.approx(scipy.stats.ttest_rel(errors_b, errors_a).statistic)


def test_a_metric_without_sums_has_no_classical_test():
    result = classical_tests([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 2.0, 2.0], metric="median", resamples=200)
    assert (result.tests, result.correlation) == ((), None)
    assert len(result.comparisons) == 2


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2],), {}, "two arrays"),
        ((Evaluation.from_arrays({"A": [1, 2], "B": [1, 0]}), [1, 2]), {}, "give nothing else beside it"),
        ((Evaluation.from_arrays({"A": [1, 2], "B": [1, 0]}),), {"metric": "mean"}, "give nothing else beside it"),
        ((Evaluation.from_arrays(dict.fromkeys("ABC", [1, 2])),), {}, "expected two systems, got 3 (A, B, C)"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises(InputError) as error:
        classical_tests(*arguments, **options)
    assert message in str(error.value)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("id\tA\tB\tC\n" + "".join(f"q{i}\t{i % 2}\t{i % 3 % 2}\t{i % 2}\n" for i in range(40)))
    return path


def test_the_command(capsys, table, tmp_path):
    command = ["tests", str(table), "-m", "accuracy", "mean", "--systems", "B", "A", "--resamples", "500"]
    assert _run([*command, "--format", "json"], debug=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "sigjax-tests/1"
    assert [(one["a"], one["b"]) for one in found["results"]] == [("B", "A")] * 2
    assert [one["metric"] for one in found["results"]] == ["accuracy", "mean"]
    evaluation = sigjax.read(table, metric="accuracy", systems=["B", "A"])
    result = classical_tests(evaluation, resamples=500)
    assert found["results"][0] == json.loads(result.to_json())["results"][0]
    assert [test["p_value"] for test in found["results"][0]["tests"]] == [test.p_value for test in result]
    assert _run([*command, "-o", str(tmp_path / "out.txt")], debug=True) == 0
    text = (tmp_path / "out.txt").read_text()
    assert text.startswith(str(result))
    for test in (*result, *result.left_out):
        assert test.name in text
    assert "permutation (exact)" in text
    assert max(map(len, str(result).splitlines()[:-1])) <= 100


def test_real_pairs_of_many_systems(data):
    """SWE-bench, 0 or 1 an instance: every test against SciPy or statsmodels."""
    whole = sigjax.read(data / "swebench_bashonly" / "resolved.tsv.gz", metric="accuracy")
    for a, b in [(0, 1), (0, 5), (3, 20)]:
        evaluation = sigjax.read(
            data / "swebench_bashonly" / "resolved.tsv.gz",
            metric="accuracy",
            systems=[whole.systems[a], whole.systems[b]],
        )
        result = classical_tests(evaluation, resamples=500)
        x, y = evaluation.stats[:, :, 0]
        above, below = int((x > y).sum()), int((x < y).sum())
        expected = {
            "paired t": scipy.stats.ttest_rel(x, y).pvalue,
            "sign (exact)": scipy.stats.binomtest(above, above + below).pvalue,
            "McNemar (chi-square)": mcnemar([[0, above], [below, 0]], exact=False, correction=False).pvalue,
            "two-sample t": scipy.stats.ttest_ind(x, y).pvalue,
            "binomial z": proportions_ztest([x.sum(), y.sum()], [len(x)] * 2)[1],
        }
        for name, p_value in expected.items():
            assert result[name].p_value == pytest.approx(p_value, rel=1e-10), name
        assert result.correlation == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-9)
        assert result.comparisons[0].p_value == pytest.approx(expected["sign (exact)"], rel=1e-10)
