"""Classical tests against SciPy, statsmodels, enumeration, the example of Yeh (2000); degenerate data; the command."""

import itertools
import json
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportions_ztest

import sigjax
from sigjax import Evaluation, InputError, classical_tests
from sigjax.cli import _run
from sigjax.studies.tests import (
    InapplicableTest,
    binomial_z,
    chi_square,
    dependence,
    mcnemar,
    paired_t,
    sign_test,
    two_sample_t,
    wald_z,
    wilcoxon,
)

ALTERNATIVES = ("two-sided", "greater", "less")
TINY = 1e-300


def differences(size, seed, spread=1000, shift=100):
    return np.random.default_rng(seed).integers(-spread, spread, size) + shift


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", [2, 5, 40, 700])
def test_t_tests_are_those_of_scipy(size, alternative):
    a, b = differences(size, 1), differences(size, 2, shift=0)
    for ours, theirs in (
        (paired_t(a - b, alternative), scipy.stats.ttest_rel(a, b, alternative=alternative)),
        (two_sample_t(a, b, alternative), scipy.stats.ttest_ind(a, b, alternative=alternative)),
    ):
        assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12, abs=TINY)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wald_is_the_z_of_the_mean(alternative):
    d = differences(30, 3)
    z = d.mean() / scipy.stats.sem(d)
    tail = {"two-sided": 2 * scipy.stats.norm.sf(abs(z)), "greater": scipy.stats.norm.sf(z)}
    result = wald_z(d, alternative)
    assert result.statistic == pytest.approx(z, rel=1e-13)
    assert result.p_value == pytest.approx(tail.get(alternative, scipy.stats.norm.cdf(z)), rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("above", "below"), [(0, 1), (3, 0), (5, 5), (12, 4), (4, 12), (900, 100), (0, 0)])
def test_sign_test_is_the_binomial_test(above, below, alternative):
    d = np.repeat([7, -2, 0], [above, below, 3])
    expected = scipy.stats.binomtest(above, above + below, 0.5, alternative=alternative).pvalue if above + below else 1
    result = sign_test(d, alternative)
    assert result.statistic == above
    assert result.p_value == pytest.approx(expected, rel=1e-11, abs=TINY)
    assert ("3 zeros are left out") in result.assumes


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", [1, 2, 7, 30, 50])
def test_wilcoxon_without_ties_is_exact_as_in_scipy(size, alternative):
    rng = np.random.default_rng(size)
    d = (rng.permutation(size) + 1) * rng.choice([-1, 1], size, p=[0.3, 0.7])
    theirs = scipy.stats.wilcoxon(d, alternative=alternative, method="exact")
    result = wilcoxon(d, alternative)
    assert result.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
    assert result.statistic == d[d > 0].sum()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("d", [[1, 1, -1, 2, 0, 3], [5, -5, 5, 5], [-3, -3, 1, 0, 0, 2, 7, 7, -7, 4]])
def test_wilcoxon_with_ties_and_zeros_is_the_enumeration_of_signs(d, alternative):
    kept = [each for each in d if each]
    ranks = [Fraction(int(2 * rank), 2) for rank in scipy.stats.rankdata(np.abs(kept))]
    sums = [
        sum((rank for rank, sign in zip(ranks, signs, strict=True) if sign), Fraction())
        for signs in itertools.product((0, 1), repeat=len(kept))
    ]
    observed = sum((rank for rank, each in zip(ranks, kept, strict=True) if each > 0), Fraction())
    greater, less = (
        Fraction(sum(hits), len(sums)) for hits in ([s >= observed for s in sums], [s <= observed for s in sums])
    )
    expected = {"greater": greater, "less": less, "two-sided": min(Fraction(1), 2 * min(greater, less))}
    result = wilcoxon(np.array(d), alternative)
    assert (result.statistic, result.p_value) == (float(observed), float(expected[alternative]))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wilcoxon_of_many_is_the_normal_approximation_of_scipy(alternative):
    d = differences(2000, 5, spread=50, shift=1)
    theirs = scipy.stats.wilcoxon(d, alternative=alternative, method="asymptotic", correction=False)
    result = wilcoxon(d, alternative)
    assert result.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    assert "normal approximation" in result.assumes


def test_wilcoxon_keeps_small_tails():
    """scipy#26026: the exact p was 0 where it is about 8e-17. All plus: p = 2 / 2^n."""
    assert wilcoxon(np.arange(1, 101), "two-sided").p_value == 2.0**-99
    assert sign_test(np.arange(1, 901), "greater").p_value == pytest.approx(2.0**-900, rel=1e-10, abs=TINY)


@pytest.mark.parametrize(("above", "below"), [(9, 1), (1, 9), (28, 6), (5, 4), (400, 300)])
def test_mcnemar_is_that_of_statsmodels(above, below):
    exact, mid, plain, corrected = mcnemar(above, below, "two-sided")
    table = [[3, above], [below, 11]]
    assert exact.p_value == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, rel=1e-11)
    for ours, correction in ((plain, False), (corrected, True)):
        theirs = statsmodels_mcnemar(table, exact=False, correction=correction)
        assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-11)
    point = scipy.stats.binom.pmf(above, above + below, 0.5)
    assert mid.p_value == pytest.approx(exact.p_value - point, rel=1e-9)


def test_mcnemar_one_sided():
    for above, below in ((9, 1), (3, 8), (4, 4)):
        law = scipy.stats.binom(above + below, 0.5)
        exact, mid, plain, corrected = mcnemar(above, below, "greater")
        assert exact.p_value == pytest.approx(law.sf(above - 1), rel=1e-12)
        assert mid.p_value == pytest.approx(law.sf(above - 1) - 0.5 * law.pmf(above), rel=1e-12)
        assert isinstance(plain, InapplicableTest)
        assert isinstance(corrected, InapplicableTest)
        assert [t.p_value for t in mcnemar(below, above, "less")[:2]] == [exact.p_value, mid.p_value]


@pytest.mark.parametrize("equal", [0, 1, 5, 1000])
def test_mcnemar_without_a_difference_gives_one(equal):
    """A division by b + c = 0, and a correction that makes p < 1 of b = c."""
    exact, mid, *chi_squares = (test.p_value for test in mcnemar(equal, equal, "two-sided"))
    assert [exact, *chi_squares] == [1.0] * 3
    assert mid == pytest.approx(1.0 - 0.5 * scipy.stats.binom.pmf(equal, 2 * equal, 0.5) if equal else 1.0)
    assert mcnemar(0, 0, "greater")[1].p_value == 1.0


@pytest.mark.parametrize(("above", "below"), [(0, 1), (1, 1), (2, 3), (3, 3), (2, 6)])
def test_mid_p_counts_half_of_what_is_as_extreme(above, below):
    sizes = np.abs(2 * np.arange(above + below + 1) - above - below)
    chances = scipy.stats.binom.pmf(np.arange(above + below + 1), above + below, 0.5)
    size = abs(above - below)
    expected = chances[sizes > size].sum() + 0.5 * chances[sizes == size].sum()
    assert mcnemar(above, below, "two-sided")[1].p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("successes", "trials"), [((47, 25), (103, 103)), ((47, 25), (95, 39)), ((0, 3), (9, 9))])
def test_binomial_z_is_that_of_statsmodels(successes, trials, alternative):
    names = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}
    z, p = proportions_ztest(successes, trials, alternative=names[alternative])
    result = binomial_z(successes, trials, alternative)
    assert (result.statistic, result.p_value) == pytest.approx((z, p), rel=1e-12)


@pytest.mark.parametrize("table", [[[47, 48], [25, 14]], [[1, 2], [3, 4]], [[0, 5], [2, 5]]])
def test_chi_square_is_that_of_scipy(table):
    theirs = scipy.stats.chi2_contingency(table, correction=False)
    relevant, spurious = zip(*table, strict=True)
    result = chi_square(relevant, spurious, "two-sided")
    assert (result.statistic, result.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)


def test_tables_that_scipy_refuses():
    assert chi_square((3, 4), (0, 0), "two-sided").p_value == 1.0
    assert chi_square((0, 0), (3, 4), "two-sided").p_value == 1.0
    assert isinstance(chi_square((0, 1), (0, 2), "two-sided"), InapplicableTest)
    assert binomial_z((5, 9), (5, 9), "two-sided").p_value == 1.0
    assert isinstance(binomial_z((0, 1), (0, 2), "two-sided"), InapplicableTest)


def test_no_difference_gives_one_and_no_deviation_none():
    zeros = np.zeros(6, int)
    for alternative in ALTERNATIVES:
        for test in (paired_t, wald_z, sign_test, wilcoxon):
            assert test(zeros, alternative).p_value == 1.0
    for test in (paired_t, wald_z):
        assert test(zeros + 3, "two-sided").reason == "all differences are equal: their standard deviation is 0"
        assert "one" in test(zeros[:1], "two-sided").reason
    assert isinstance(two_sample_t(zeros + 1, zeros, "two-sided"), InapplicableTest)
    assert isinstance(two_sample_t(zeros[:1], zeros[:1], "two-sided"), InapplicableTest)


@pytest.mark.parametrize(("correlation", "factor"), [(0.38, 1.27), (0.5, 1.41), (0.8, 2.24)])
def test_the_table_of_yeh_on_what_independence_costs(correlation, factor):
    """Section 2.1: standard deviations of equal size and the correlations of his table."""
    x, y = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0])
    found, cost = dependence(x, correlation * x + math.sqrt(1 - correlation**2) * y)
    assert found == pytest.approx(correlation, rel=1e-12)
    assert cost == pytest.approx(factor, abs=0.005)


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
    return classical_tests(*yeh(), read={"metric": metric}, **options)


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


@pytest.mark.slow
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
@pytest.mark.slow
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
    result = classical_tests(a, a, read={"metric": metric}, alternative=alternative, resamples=200)
    assert result.tests
    assert {test.p_value for test in (*result, *result.comparisons, *result.second)} == {1.0}
    assert result.factor is None


@pytest.mark.slow
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
        np.stack([tp, errors_a], -1),
        np.stack([tp, errors_b], -1),
        read={"metric": "fscore-errors"},
        alternative="greater",
    )
    assert result.delta > 0
    assert result["sign (exact)"].p_value == 2.0**-7
    assert result["paired t"].statistic == pytest.approx(scipy.stats.ttest_rel(errors_b, errors_a).statistic)


def test_a_metric_without_sums_has_no_classical_test():
    result = classical_tests([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 2.0, 2.0], read={"metric": "median"}, resamples=200)
    assert (result.tests, result.correlation) == ((), None)
    assert len(result.comparisons) == 2


@pytest.mark.parametrize(
    ("arguments", "read", "message"),
    [
        (([1, 2],), {}, "two arrays"),
        ((Evaluation.from_arrays({"A": [1, 2], "B": [1, 0]}), [1, 2]), {}, "two arrays a and b; got 2"),
        ((Evaluation.from_arrays({"A": [1, 2], "B": [1, 0]}),), {"metric": "mean"}, "metric means nothing for an"),
        ((Evaluation.from_arrays(dict.fromkeys("ABC", [1])),), {}, "two data sets or more, got 3 on 1"),
    ],
)
def test_bad_input(arguments, read, message):
    with pytest.raises(InputError) as error:
        classical_tests(*arguments, read=read)
    assert message in str(error.value)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("id\tA\tB\tC\n" + "".join(f"q{i}\t{i % 2}\t{i % 3 % 2}\t{i % 2}\n" for i in range(40)))
    return path


def test_the_command(capsys, table, tmp_path):
    command = ["classical", str(table), "-m", "accuracy", "mean", "--only", "B", "A", "--resamples", "500"]
    assert _run([*command, "--format", "json"], debug=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "sigjax-tests/1"
    assert [(one["a"], one["b"]) for one in found["results"]] == [("B", "A")] * 2
    assert [one["metric"] for one in found["results"]] == ["accuracy", "mean"]
    evaluation = sigjax.read(table, metric="accuracy", only=["B", "A"])
    result = classical_tests(evaluation, resamples=500)
    assert found["results"][0] == json.loads(result.to_json())["results"][0]
    assert [test["p_value"] for test in found["results"][0]["tests"]] == [test.p_value for test in result]
    assert _run([*command, "-o", str(tmp_path / "out.txt")], debug=True) == 0
    text = (tmp_path / "out.txt").read_text()
    assert " ".join(text.split("\n\n")[0].split()).startswith(result.headline)
    for test in (*result, *result.left_out):
        assert test.name in result.to_text(width=160)
    assert "permutation (exact)" in text
    assert max(map(len, str(result).splitlines()[:-1])) <= 100


def test_rounded_reals_keep_their_ties():
    """scipy#7882: ranks decided by rounding. Thirds differ by the same amount, as real numbers."""
    a = np.array([1 / 3, 2 / 3, 1.0, 4 / 3, 2.0])
    b = np.array([0.0, 1 / 3, 2 / 3, 5 / 3, 4 / 3])
    result = classical_tests(a, b)
    assert len({abs(x) for x in (a - b)[:4]}) > 1
    assert result["Wilcoxon signed rank"].statistic == 2.5 * 3 + 5
    whole = classical_tests((3 * a).round(), (3 * b).round())
    for test in whole:
        assert result[test.name].p_value == pytest.approx(test.p_value, rel=1e-9)


def test_clusters_may_be_folds():
    """F1 has no paired t over instances, but over the F1 of each fold."""
    rng = np.random.default_rng(4)
    gold = rng.integers(1, 6, 60)
    arrays = {name: np.stack([rng.binomial(gold, q), gold + rng.integers(0, 3, 60), gold], -1) for name, q in
              (("A", 0.8), ("B", 0.7))}  # fmt: skip
    fold = np.arange(60) % 6
    evaluation = Evaluation.from_arrays(arrays, metric="fscore", clusters=[str(each) for each in fold])
    result = classical_tests(evaluation, resamples=200)
    sums = {name: np.array([x[fold == k].sum(axis=0) for k in range(6)]) for name, x in arrays.items()}
    f1 = [2 * x[:, 0] / (x[:, 1] + x[:, 2]) for x in sums.values()]
    assert result["paired t over clusters"].p_value == pytest.approx(scipy.stats.ttest_rel(*f1).pvalue, rel=1e-10)
    assert "paired t" in {each.name for each in result.left_out}


def test_units_without_content_are_counted():
    """Three documents of two sentences, of which the last has neither gold nor predicted items."""
    counts = {"A": [[1, 1, 1], [1, 2, 1], [0, 1, 1], [1, 1, 2], [0, 0, 0], [0, 0, 0]]}
    counts["B"] = [[0, 1, 1], [1, 1, 1], [1, 1, 1], [1, 2, 2], [0, 0, 0], [0, 0, 0]]
    for labels, said in (({}, "2 of 6 units have"), ({"clusters": list("aabbcc")}, "1 of 3 units have")):
        notes = classical_tests(Evaluation.from_arrays(counts, metric="precision", **labels)).notes
        assert any(note.startswith(f"{said} nothing to score") for note in notes), notes
