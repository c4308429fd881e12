"""The association test against enumeration of all permutations, closed forms and SciPy."""

import itertools
import json
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import extreme, montecarlo_error
from scipy.stats import binom, binomtest, fisher_exact, permutation_test

from sigjax import InputError
from sigjax.cli import _run
from sigjax.run.costs import Cost
from sigjax.studies import association
from sigjax.studies.association import agreements_p, association_test

ALTERNATIVES = ("greater", "less", "two-sided")
CONTENTS = ["Polish", "Premium", "Russian", "Budget"]
EXPERT = ["Polish", "Premium", "Budget", "Russian"]

agreements = partial(np.trace, axis1=-2, axis2=-1)


def divide(a, b):
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=np.asarray(b) != 0)


def kappa(counts):
    size = counts.sum(axis=(-2, -1))
    agree = counts.trace(axis1=-2, axis2=-1) / size
    chance = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1) / size**2
    return divide(agree - chance, 1 - chance)


def enumerated_p(gold, labels, statistic, alternative):
    """The p-value over all n! permutations of the labels; the first of them is the data."""
    names = sorted({*gold, *labels})
    gold_is, label_is = (np.eye(len(names))[[names.index(label) for label in side]] for side in (gold, labels))
    orders = np.array(list(itertools.permutations(range(len(gold)))))
    values = statistic(np.einsum("ig,pil->pgl", gold_is, label_is[orders]))
    sides = ("greater", "less") if alternative == "two-sided" else (alternative,)
    return min(1.0, len(sides) * min(float(extreme(values, values[0], side, 1e-10).mean()) for side in sides))


def random_labels(seed, size, num_labels, skill):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, num_labels, size)
    return gold, np.where(rng.random(size) < skill, gold, rng.integers(0, num_labels, size))


def test_glasses():
    """The example of the slides on approximate randomization, "Exact randomization test"."""
    result = association_test(CONTENTS, EXPERT)
    assert result.p_value == float(Fraction(7, 24))
    assert result.log10_p == pytest.approx(math.log10(7 / 24), rel=1e-15)
    assert (result.statistic, result.method, result.num_instances) == (2.0, "exact", 4)
    assert (result.p_interval, result.exceed, result.resamples) == (None, None, None)
    assert result.reason == "agreements are counted as rooks"


@pytest.mark.parametrize("cells", [(3, 1, 1, 3), (8, 2, 5, 1), (40, 30, 20, 50), (5060, 4900, 4950, 5050)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("budget", [0.8, -1.0])
def test_two_labels_are_fishers_exact_test(monkeypatch, cells, alternative, budget):
    monkeypatch.setattr(association, "AGREEMENT_BUDGET", budget)
    gold, labels = (np.repeat(side, cells) for side in ([1, 1, 0, 0], [1, 0, 1, 0]))
    sides = ["greater", "less"] if alternative == "two-sided" else [alternative]
    tails = [fisher_exact(np.reshape(cells, (2, 2)), alternative=side).pvalue for side in sides]
    expected = min(1.0, len(sides) * min(tails))
    assert association_test(gold, labels, alternative=alternative).p_value == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("size", [1, 2, 5, 30, 200])
def test_all_labels_different(size):
    """No agreement: derangements. All agree: one in n!, for 200 far below the smallest double."""
    labels = list(range(size))
    derangements = sum((-1) ** k * (math.factorial(size) // math.factorial(k)) for k in range(size + 1))
    at_least_one = agreements_p([1] * size, [1] * size, 1, "greater")
    assert at_least_one[0] == float(1 - Fraction(derangements, math.factorial(size)))
    for alternative, ways in (("greater", 1), ("two-sided", min(2, math.factorial(size)))):
        expected = (math.log(ways) - math.lgamma(size + 1)) / math.log(10)
        assert association_test(labels, labels, alternative=alternative).log10_p == pytest.approx(expected, rel=1e-12)


def test_two_sided_is_that_of_scipy():
    gold, labels = random_labels(4, 7, 3, 0.3)
    for order in itertools.permutations(range(3)):
        given = np.array(order)[labels]
        reference = permutation_test(
            (given,), lambda x, axis: (x == gold).sum(axis=axis), permutation_type="pairings", n_resamples=np.inf
        )
        assert association_test(gold, given, alternative="two-sided").p_value == pytest.approx(
            reference.pvalue, rel=1e-12
        )


@pytest.mark.parametrize(
    ("gold", "labels", "message"),
    [
        ([], [], "a gold label and a label for each instance, got 0 and 0"),
        ([], ["a"], "got 0 and 1"),
        (["a", None], ["a", "b"], r"gold\[1\] is None; expected text or a finite number"),
        ([1.0, 2.0], [1.0, math.nan], r"labels\[1\] is nan; expected text"),
        (np.ma.masked_array([1, 2], [False, True]), [1, 2], r"gold\[1\] is masked"),
        (["1", 2], ["1", "2"], r"gold\[1\] is 2; but gold\[0\] is '1'; expected all text or all numbers"),
        (["1"], [1], r"labels\[0\] is 1; but gold\[0\] is '1'"),
        (np.zeros((2, 2, 2)), [0, 0], r"gold\[0\] is array\(\[\[0., 0.\], \[0., 0.\]\]\); expected text"),
        (["a"], "a", "labels must be a sequence of labels, one per instance, got a str"),
    ],
)
def test_labels_that_are_refused(gold, labels, message):
    with pytest.raises(InputError, match=message):
        association_test(gold, labels)


def label_files(tmp_path, labels=EXPERT, gold=CONTENTS):
    """Files of labels and gold labels."""
    paths = tmp_path / "expert.txt", tmp_path / "contents.txt"
    for path, side in zip(paths, (labels, gold), strict=True):
        path.write_text("\n".join(side) + "\n")
    return list(map(str, paths))


def run(capsys, *arguments):
    code = _run(["research", "association", *map(str, arguments)], debug=False)
    return code, *capsys.readouterr()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_command_takes_the_options_of_the_function(capsys, tmp_path, alternative):
    gold, labels = (list(map(str, side)) for side in random_labels(3, 60, 3, 0.2))
    chosen = {"alternative": alternative, "method": "montecarlo", "resamples": 300, "seed": 7}
    options = [part for name, value in chosen.items() for part in (f"--{name}", value)]
    known = association_test(gold, labels, **chosen)
    _, out, _ = run(capsys, *label_files(tmp_path, labels, gold), *options, "--format", "json")
    shown = json.loads(out)
    assert (shown["p_value"], shown["exceed"], shown["resamples"]) == (known.p_value, known.exceed, 300)
    assert shown["settings"] == chosen
    _, out, _ = run(capsys, *label_files(tmp_path, labels, gold), *options)
    assert "Monte Carlo, 300 resamples (as asked)\n95% interval for the p of infinitely many resamples: [" in out


def test_what_the_command_refuses(capsys, tmp_path):
    files = label_files(tmp_path, EXPERT[:3])
    assert "expert.txt: has 3 labels, but " in run(capsys, *files)[2]
    assert "expected two files, LABELS and GOLD, with one label per line, got 1" in run(capsys, files[0])[2]
    code, out, err = run(capsys, *label_files(tmp_path), "-o", files[0])
    assert (code, out) == (2, "")
    assert "is read and would be written over" in err


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abce")), min_size=1, max_size=7),
    st.sampled_from(ALTERNATIVES),
)
def test_exact_is_enumeration(pairs, alternative):
    """Also with repeated labels, labels that are never given, and labels that are never right. Kappa has the same p."""
    gold, labels = zip(*pairs, strict=True)
    found = association_test(gold, labels, alternative=alternative, method="exact").p_value
    for statistic in (agreements, kappa):
        assert found == pytest.approx(enumerated_p(gold, labels, statistic, alternative), rel=1e-12)


def test_work_beyond_the_budgets(monkeypatch):
    gold, labels = random_labels(0, 60, 5, 0.2)
    expected = association_test(gold, labels)
    monkeypatch.setattr(association, "AGREEMENT_BUDGET", 1e-9)
    monkeypatch.setattr(association, "SHUFFLED_LABEL", Cost())
    assert association_test(gold, labels, resamples=100).method == "montecarlo"
    assert association_test(gold, labels, method="exact") == expected
    monkeypatch.setattr(association, "AGREEMENT_LIMIT", 1e-9)
    with pytest.raises(InputError, match="no exact test: counting agreements .*; use method=.auto"):
        association_test(gold, labels, method="exact")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_montecarlo_agrees_with_exact(alternative):
    gold, labels = random_labels(1, 21, 3, 0.3)
    exact = association_test(gold, labels, method="exact", alternative=alternative)
    sampled = association_test(gold, labels, method="montecarlo", resamples=20_000, alternative=alternative)
    assert (sampled.method, sampled.reason, sampled.resamples) == ("montecarlo", "as asked", 20_000)
    sides = 2 if alternative == "two-sided" else 1
    assert sampled.p_value == sides * (sampled.exceed + 1) / 20_001
    assert sampled.log10_p == pytest.approx(math.log10(sampled.p_value))
    assert abs(sampled.p_value - exact.p_value) < 4.5 * sides * montecarlo_error(exact.p_value / sides, 20_000)
    reference = binomtest(sampled.exceed, 20_000).proportion_ci(0.95, method="exact")
    assert sampled.p_interval == pytest.approx((sides * reference.low, sides * reference.high), rel=1e-6)


@pytest.mark.parametrize("skill", [0.0, 0.1, 0.2, 0.3, 0.5])
def test_two_sided_intervals_keep_their_level(skill):
    """Also where the smaller tail is a toss-up."""
    test = partial(association_test, *random_labels(5, 24, 3, skill), alternative="two-sided")
    expected = test(method="exact").p_value
    intervals = [test(method="montecarlo", resamples=299, seed=seed).p_interval for seed in range(200)]
    missed = sum(not (interval and interval.low <= expected <= interval.high) for interval in intervals)
    assert missed <= binom.isf(1e-6, 200, 0.05)


@pytest.mark.slow
def test_seeds_and_blocks(monkeypatch):
    gold, labels = random_labels(2, 31, 3, 0.1)
    options = {"method": "montecarlo", "resamples": 3001, "alternative": "two-sided"}
    first = association_test(gold, labels, seed=0, **options)
    assert association_test(gold, labels, seed=0, **options) == first
    assert association_test(gold, labels, seed=1, **options).exceed != first.exceed
    order = np.random.default_rng(0).permutation(31)
    assert association_test(gold[order], labels[order], seed=0, **options) == first
    for entries in (1, 1000, 2**30):
        monkeypatch.setattr(association, "_BLOCK_ENTRIES", entries)
        assert association_test(gold, labels, seed=0, **options) == first


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", ["auto", "exact"])
def test_one_label_alone_is_exact_at_once(alternative, method):
    """Whatever the order, the same labels agree; so many labels would take hours to count."""
    gold, labels = ["x"] * 300_000, ["x", "y"] * 150_000
    for sides in ((gold, labels), (labels, gold)):
        result = association_test(*sides, alternative=alternative, method=method)
        assert (result.p_value, result.log10_p, result.method) == (1.0, 0.0, "exact")


def test_counting_is_chosen_where_sampling_takes_longer(monkeypatch):
    """The budget is the time of sampling if this is longer, up to the limit of an exact test."""
    gold, labels = random_labels(0, 60, 5, 0.2)
    monkeypatch.setattr(association, "AGREEMENT_BUDGET", 0.0)
    assert association_test(gold, labels, resamples=10**7).method == "exact"
    assert association_test(gold, labels, resamples=9).method == "montecarlo"
    monkeypatch.setattr(association, "AGREEMENT_LIMIT", 1e-9)
    monkeypatch.setattr(association, "SHUFFLED_LABEL", Cost(1.0))
    assert association_test(gold, labels, resamples=1_000).method == "montecarlo"
