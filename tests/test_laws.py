"""Laws that every metric and every test obeys, over a registry: a new metric adds one line here and is tested."""

import itertools
from contextlib import suppress
from typing import get_args

import jax
import numpy as np
import pytest
import scipy.stats
from oracles import extreme, f1, montecarlo_error, random_counts, table_deltas
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from samples import exchanged

from sigjax import Evaluation, InputError, Metric, SampleMetric, compare
from sigjax.metrics import METRICS, class_metric
from sigjax.records.settings import Alternative, Test

pytestmark = pytest.mark.slow


def product(sums):
    """A user's metric: not linear, three varying statistics."""
    return sums[..., 0] * sums[..., 1] / (1.0 + sums[..., 2])


def weighted(sums):
    """A user's metric that a compiler computes with fused operations, so that its last digits differ from NumPy's."""
    return (0.3 * sums[..., 0] + 0.7 * sums[..., 1]) / 11.0


def counts(rng, num_systems, num_instances):
    return random_counts(rng, num_systems, num_instances)


def bits(rng, num_systems, num_instances):
    return {f"s{k}": rng.integers(0, 2, num_instances) for k in range(num_systems)}


def reals(rng, num_systems, num_instances):
    return {f"s{k}": rng.normal(k / 9, 1.0, num_instances) for k in range(num_systems)}


def bleu_counts(rng, num_systems, num_instances):
    return {f"s{k}": bleu_table(rng, num_instances, 0.9 - 0.1 * k) for k in range(num_systems)}


def bleu_table(rng, num_instances, share):
    """Segments of up to 12 words; n-grams match only where shorter ones do."""
    sys_len, ref_len = rng.integers(1, 13, (2, num_instances))
    totals = [np.maximum(sys_len - n, 0) for n in range(4)]
    correct = [rng.binomial(totals[0], share)]
    for total in totals[1:]:
        correct.append(rng.binomial(np.minimum(correct[-1], total), share))
    return np.column_stack([sys_len, ref_len, *correct, *totals])


def chrf_counts(num_orders):
    def make_systems(rng, num_systems, num_instances):
        return {f"s{k}": chrf_table(rng, num_instances, num_orders, 0.9 - 0.1 * k) for k in range(num_systems)}

    return make_systems


def chrf_table(rng, num_instances, num_orders, share):
    hyp_len, ref_len = rng.integers(1, 13, (2, num_instances))
    columns = []
    for order in range(num_orders):
        hyp, ref = np.maximum(hyp_len - order, 0), np.maximum(ref_len - order, 0)
        columns += [hyp, ref, rng.binomial(np.minimum(hyp, ref), share)]
    return np.column_stack(columns)


def edit_table(rng, ref, share):
    hyp = rng.integers(0, 9, ref.shape)
    return np.dstack([rng.binomial(np.minimum(hyp, ref), share), hyp, ref]).reshape(len(ref), 36)


def error_counts(rng, num_systems, num_instances):
    length = rng.integers(0, 13, num_instances)
    return {f"s{k}": np.column_stack([rng.binomial(length + 2, 0.2 + 0.1 * k), length]) for k in range(num_systems)}


def with_gold(rng, num_systems, num_instances):
    gold = rng.integers(0, 9, num_instances)
    return {f"s{k}": np.column_stack([gold + rng.normal(0, k + 5, num_instances), gold]) for k in range(num_systems)}


def with_labels(rng, num_systems, num_instances):
    label = np.arange(num_instances) % 2
    return {
        f"s{k}": np.column_stack([label + rng.integers(0, k + 4, num_instances), label]) for k in range(num_systems)
    }


def with_probabilities(rng, num_systems, num_instances):
    label = np.arange(num_instances) % 2
    share = [rng.random(num_instances) * (0.9 - k / 9) for k in range(num_systems)]
    return {f"s{k}": np.column_stack([abs(1 - label - own), label]) for k, own in enumerate(share)}


def ratios(many):
    """Pairs of a part and its whole."""

    def make_systems(rng, num_systems, num_instances):
        tables = [[part_and_whole(rng, num_instances, k) for _ in range(many)] for k in range(num_systems)]
        return {f"s{k}": np.hstack(each) for k, each in enumerate(tables)}

    return make_systems


def part_and_whole(rng, num_instances, k):
    whole = rng.integers(1, 9, num_instances)
    return np.column_stack([rng.binomial(whole, 0.8 - 0.1 * k), whole])


def with_judge(rng, num_systems, num_instances):
    """Labels of about half the instances, the first ones among them, and scores of a judge."""
    labelled = (rng.random(num_instances) < 0.4) | (np.arange(num_instances) < 4)
    gold = [rng.integers(0, 5 - k % 3, num_instances) for k in range(num_systems)]
    judge = [own + rng.integers(0, 4, num_instances) for own in gold]
    return {f"s{k}": np.column_stack([np.where(labelled, gold[k], np.nan), judge[k]]) for k in range(num_systems)}


def few_labels(table):
    """PPI++ from the statistics of `ppi`, as its paper writes it."""
    labelled = table[:, 0] == 1
    human, judge = table[labelled, 2], table[:, 3] + table[:, 4]
    weight = np.cov(human, judge[labelled], ddof=0)[0, 1] / (
        judge.var(ddof=1) * (1 + labelled.sum() / (~labelled).sum())
    )
    return human.mean() + weight * (judge[~labelled].mean() - judge[labelled].mean())


def harmonic(one, other):
    return 2.0 / (1.0 / one + 1.0 / other)


def confusions(name):
    def make_systems(rng, num_systems, num_instances):
        gold = rng.integers(0, 3, num_instances)
        return {
            f"s{k}": confusion_table(name, gold, rng.integers(0, 3, num_instances), rng) for k in range(num_systems)
        }

    return make_systems


def confusion_table(name, gold, other, rng):
    """What the metric counts for three classes; half the predictions are right."""
    found = np.where(rng.random(len(gold)) < 0.5, gold, other)
    hits = [(found == gold) & (gold == k) for k in range(3)] if name not in ("mcc", "kappa") else [found == gold]
    predicted = [] if name == "balanced-accuracy" else [found == k for k in range(3)]
    return np.column_stack([*hits, *predicted, *(gold == k for k in range(3))]).astype(int)


def macro_f1(sums):
    return np.mean([f1(sums[k::3]) for k in range(3) if sums[3 + k] + sums[6 + k] > 0])


def macro_precision(sums):
    """A class that nobody predicted counts as 0, as in scikit-learn."""
    return np.mean([sums[k] / sums[3 + k] if sums[3 + k] else 0.0 for k in range(3) if sums[3 + k] + sums[6 + k] > 0])


def macro_recall(sums):
    return np.mean([sums[k] / sums[6 + k] if sums[6 + k] else 0.0 for k in range(3) if sums[3 + k] + sums[6 + k] > 0])


def chance_corrected(kappa):
    """Cohen's kappa or Matthews correlation from shares, as their papers write them."""

    def score(sums):
        share = sums / sums[4:].sum()
        chance = share[1:4] @ share[4:]
        spread = 1 - chance if kappa else ((1 - share[1:4] @ share[1:4]) * (1 - share[4:] @ share[4:])) ** 0.5
        return 0.0 if spread < 1e-12 else (share[0] - chance) / spread

    return of_sums(score)


def links(rng, num_systems, num_instances):
    """Counts of sure matches, possible matches, links and sure links; the last are those of the gold alignment."""
    sure = rng.integers(0, 6, num_instances)
    return {f"s{k}": link_table(rng, sure, 0.9 - 0.1 * k) for k in range(num_systems)}


def link_table(rng, sure, share):
    sure_matched = rng.binomial(sure, share)
    possible_matched = sure_matched + rng.integers(0, 4, len(sure))
    return np.column_stack([sure_matched, possible_matched, possible_matched + rng.integers(0, 3, len(sure)), sure])


def some(make_systems, *columns):
    """Those systems with some of their columns."""

    def make_columns(*size):
        return {name: table[:, columns] for name, table in make_systems(*size).items()}

    return make_columns


def of_sums(score):
    """The score of a table `[instance, stat]` by that of its sums."""
    return lambda table: float(score(table.sum(axis=0) * 1.0))


def scored_by(metric):
    """sacrebleu's score of sums `[stat]`."""
    return of_sums(lambda sums: metric._compute_score_from_stats(sums.tolist()).score)


def ranked(table):
    """The area under the ROC curve from the sum of ranks."""
    ranks, positive = scipy.stats.rankdata(table[:, 0]), table[:, 1] == 1
    count = positive.sum()
    return (ranks[positive].sum() - count * (count + 1) / 2) / (count * (len(table) - count))


def precisions(table):
    """The mean over the positive instances of the precision at their scores."""
    score, positive = table[:, 0], table[:, 1] == 1
    above = score >= score[positive][:, None]
    return np.mean(above[:, positive].sum(axis=1) / above.sum(axis=1))


def spread(x):
    """A user's function of columns, not of sums."""
    return x.max() - x.min()


# name -> (metric, what makes the arrays, the score of a table [instance, stat], by somebody else's formula)
REGISTRY = {
    "mean": ("mean", reals, of_sums(lambda sums: sums[0] / sums[1])),
    "accuracy": ("accuracy", bits, of_sums(lambda sums: sums[0] / sums[1])),
    "precision": ("precision", counts, of_sums(lambda sums: sums[0] / max(sums[1], 1e-300))),
    "recall": ("recall", counts, of_sums(lambda sums: sums[0] / max(sums[1], 1e-300))),
    "fscore": ("fscore", counts, of_sums(f1)),
    "ratio": ("ratio", ratios(1), of_sums(lambda sums: sums[0] / sums[1])),
    "fscore-ratios": ("fscore-ratios", ratios(2), of_sums(lambda sums: harmonic(sums[0] / sums[1], sums[2] / sums[3]))),
    "ppi": ("ppi", with_judge, few_labels),
    "fscore-errors": ("fscore-errors", ratios(1), of_sums(lambda sums: harmonic(1.0, sums[0] / (sums[0] + sums[1])))),
    "bleu": ("bleu", bleu_counts, scored_by(BLEU())),
    "chrf": ("chrf", chrf_counts(6), scored_by(CHRF())),
    "chrf++": ("chrf++", chrf_counts(8), scored_by(CHRF(word_order=2))),
    "ter": ("ter", error_counts, scored_by(TER())),
    "wer": ("wer", error_counts, of_sums(lambda sums: sums[0] / sums[1])),
    "cer": ("cer", error_counts, of_sums(lambda sums: sums[0] / sums[1])),
    "wer-sclite": ("wer-sclite", error_counts, of_sums(lambda sums: sums[0] / sums[1])),
    "aer": ("aer", links, of_sums(lambda sums: 1 - sums[0] / max(sums[1] + sums[2], 1e-300))),
    "alignment-precision": ("alignment-precision", some(links, 1, 2), of_sums(lambda s: s[0] / max(s[1], 1e-300))),
    "alignment-recall": ("alignment-recall", some(links, 0, 3), of_sums(lambda s: s[0] / max(s[1], 1e-300))),
    "median": ("median", reals, np.median),
    "iqm": ("iqm", reals, lambda table: scipy.stats.trim_mean(table[:, 0], 0.25)),
    "optimality-gap": ("optimality-gap", reals, of_sums(lambda sums: sums[0] / sums[1])),
    "variance": ("variance", reals, lambda table: np.var(table[:, 0], ddof=1)),
    "correlation": ("correlation", with_gold, lambda table: np.corrcoef(table.T)[0, 1]),
    "spearman": ("spearman", with_gold, lambda table: scipy.stats.spearmanr(*table.T).statistic),
    "kendall": ("kendall", with_gold, lambda table: scipy.stats.kendalltau(*table.T).statistic),
    "auc": ("auc", with_labels, ranked),
    "average-precision": ("average-precision", with_labels, precisions),
    "micro-fscore": ("micro-fscore", bits, of_sums(lambda sums: sums[0] / sums[1])),
    "mae": ("mae", with_gold, of_sums(lambda sums: sums[0] / sums[1])),
    "mse": ("mse", with_gold, of_sums(lambda sums: sums[0] / sums[1])),
    "rmse": ("rmse", with_gold, of_sums(lambda sums: (sums[0] / sums[1]) ** 0.5)),
    "r2": ("r2", with_gold, of_sums(lambda sums: 1 - sums[0] / (sums[1] - sums[2] ** 2 / sums[3]))),
    "brier": ("brier", with_probabilities, of_sums(lambda sums: sums[0] / sums[1])),
    "log-loss": ("log-loss", with_probabilities, of_sums(lambda sums: sums[0] / sums[1])),
    "macro-fscore": (class_metric("macro-fscore", "abc"), confusions("macro-fscore"), of_sums(macro_f1)),
    "macro-precision": (
        class_metric("macro-precision", "abc"),
        confusions("macro-precision"),
        of_sums(macro_precision),
    ),
    "macro-recall": (class_metric("macro-recall", "abc"), confusions("macro-recall"), of_sums(macro_recall)),
    "balanced-accuracy": (
        class_metric("balanced-accuracy", "abc"),
        confusions("balanced-accuracy"),
        of_sums(lambda sums: np.mean([c / g for c, g in sums.reshape(2, 3).T if g])),
    ),
    "weighted-fscore": (
        class_metric("weighted-fscore", "abc"),
        confusions("macro-fscore"),
        of_sums(
            lambda sums: np.average(
                [2 * c / (p + g) if p + g else 0.0 for c, p, g in sums.reshape(3, 3).T], weights=sums[6:]
            )
        ),
    ),
    "mcc": (class_metric("mcc", "abc"), confusions("mcc"), chance_corrected(kappa=False)),
    "kappa": (class_metric("kappa", "abc"), confusions("kappa"), chance_corrected(kappa=True)),
    "function": (product, counts, of_sums(product)),
    "fused function": (weighted, counts, of_sums(weighted)),
    "function of columns": (SampleMetric("spread", spread, ("value",)), reals, np.ptp),
}
TESTS = get_args(Test)


def make_arrays(name, *, num_systems=3, num_instances=40, seed=0):
    return REGISTRY[name][1](np.random.default_rng(seed), num_systems, num_instances)


def make(name, **options):
    return Evaluation.from_arrays(make_arrays(name, **options), metric=REGISTRY[name][0])


def run(evaluation, **options):
    return compare(evaluation, **({"resamples": 2000, "device": "numpy", "test": TESTS} | options))


def by_pair(report):
    return {(c.a, c.b, c.test): c for c in report}


@pytest.mark.parametrize("name", [name for name in REGISTRY if isinstance(make(name).metric, Metric)])
def test_scores_are_within_the_bounds_of_the_metric(name):
    """Of all instances, of single ones, and of some."""
    evaluation, rng = make(name), np.random.default_rng(3)
    low, high = evaluation.metric.bounds
    for size in (1, 2, 5, 40):
        chosen = rng.integers(0, 40, (200, size))
        scores = evaluation.metric.score(evaluation.stats[:, chosen].sum(axis=2).astype(float))
        scores = scores[~np.isnan(scores)]  # without a label there is no score
        assert low <= scores.min() <= scores.max() <= high


@pytest.mark.parametrize("name", REGISTRY)
def test_scores_are_those_of_the_data(name):
    evaluation = make(name)
    expected = [REGISTRY[name][2](table) for table in evaluation.stats]
    scores = {system.name: system.score for system in run(evaluation).systems}
    np.testing.assert_allclose([scores[system] for system in evaluation.systems], expected, rtol=1e-12)


@pytest.mark.parametrize("name", REGISTRY)
def test_permutation_p_is_that_of_all_masks(name):
    """Exact: equal. Monte Carlo: within four and a half standard errors, for 3 pairs x 35 metrics x 3 alternatives."""
    evaluation, score = make(name, num_instances=10, seed=3), REGISTRY[name][2]
    tables = {each: exchanged(name, table) for each, table in zip(evaluation.systems, evaluation.stats, strict=True)}
    resamples = 40_000 if isinstance(evaluation.metric, Metric) else 10_000
    deltas = {(a, b): table_deltas(tables[a], tables[b], score) for a, b in itertools.combinations(tables, 2)}
    for method, alternative in itertools.product(("auto", "montecarlo"), get_args(Alternative)):
        options = {"alternative": alternative, "resamples": resamples, "interval": "none"}
        for c in run(evaluation, method=method, test="permutation", **options):
            found = deltas[c.a, c.b] if (c.a, c.b) in deltas else -deltas[c.b, c.a]
            expected = extreme(found, float(score(tables[c.a]) - score(tables[c.b])), alternative).mean()
            if c.method == "exact":
                assert c.p_value == pytest.approx(expected, rel=1e-12)
            else:
                assert abs(c.p_value - expected) < 4.5 * montecarlo_error(expected, resamples)
                assert c.p_interval.low <= c.exceed / resamples <= c.p_interval.high


@pytest.mark.parametrize("name", REGISTRY)
def test_exchanging_the_systems_turns_delta_and_keeps_p(name):
    arrays, metric = make_arrays(name), REGISTRY[name][0]
    turned = Evaluation.from_arrays(dict(reversed(arrays.items())), metric=metric)
    straight = Evaluation.from_arrays(arrays, metric=metric)
    first, second = by_pair(run(straight)), by_pair(run(turned))
    for (a, b, test), c in first.items():
        other = second[b, a, test]
        assert other.delta == -c.delta
        assert other.p_value == c.p_value
        assert other.interval == pytest.approx((-c.interval.high, -c.interval.low), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("name", REGISTRY)
def test_one_sided_tests_are_turned_by_exchange(name, test):
    arrays, metric = make_arrays(name, num_systems=2), REGISTRY[name][0]
    evaluation = Evaluation.from_arrays(arrays, metric=metric)
    turned = Evaluation.from_arrays(dict(reversed(arrays.items())), metric=metric)
    (greater,) = run(evaluation, test=test, alternative="greater")
    (less,) = run(turned, test=test, alternative="less")
    assert greater.p_value == less.p_value


@pytest.mark.parametrize("method", ["auto", "montecarlo"])
@pytest.mark.parametrize("alternative", get_args(Alternative))
@pytest.mark.parametrize("name", REGISTRY)
def test_identical_systems_give_one(name, alternative, method):
    metric, arrays, _ = REGISTRY[name]
    (values,) = arrays(np.random.default_rng(5), 1, 30).values()
    report = run(
        Evaluation.from_arrays({"a": values, "b": values}, metric=metric), alternative=alternative, method=method
    )
    assert [c.p_value for c in report] == [1.0, 1.0]
    one = report.comparisons[0]
    assert one.interval.low == -one.interval.high
    assert (one.interval.high == 0.0) is (one.interval_kind != "tango")
    assert any("identical" in note for note in report.notes)


@pytest.mark.parametrize("name", REGISTRY)
def test_monte_carlo_p_is_between_its_bounds(name):
    for c in run(make(name, seed=9), method="montecarlo", resamples=50):
        assert 1 / 51 <= c.p_value <= 1.0
        assert c.p_value == (c.exceed + 1) / 51
        assert c.p_value <= c.p_adjusted <= 1.0


@pytest.mark.parametrize("name", REGISTRY)
def test_numpy_and_jax_give_the_same_report(name):
    evaluation = make(name, num_systems=4, num_instances=33)
    assert run(evaluation, device="numpy").to_json() == run(evaluation, device="cpu").to_json()


@pytest.mark.parametrize("name", [name for name in REGISTRY if getattr(make(name).metric, "portable", False)])
def test_portable_scores_round_alike_in_numpy_and_jax(name):
    evaluation, rng = make(name, num_systems=3, num_instances=33), np.random.default_rng(8)
    sums = rng.multinomial(33, np.full(33, 1 / 33), 1_000) @ evaluation.stats.astype(np.float64)
    with jax.enable_x64(True), np.errstate(all="ignore"):
        np.testing.assert_array_equal(jax.jit(evaluation.metric.score)(sums), evaluation.metric.score(sums))


@pytest.mark.parametrize("name", REGISTRY)
def test_inputs_are_not_modified(name):
    metric, arrays, _ = REGISTRY[name]
    given = arrays(np.random.default_rng(2), 2, 20)
    kept = {system: values.copy() for system, values in given.items()}
    run(Evaluation.from_arrays(given, metric=metric))
    for system in given:
        np.testing.assert_array_equal(given[system], kept[system])


@pytest.mark.parametrize("name", REGISTRY)
def test_order_of_instances_is_irrelevant_to_exact_tests(name):
    arrays, metric = make_arrays(name, num_systems=2), REGISTRY[name][0]
    evaluation = Evaluation.from_arrays(arrays, metric=metric)
    order = np.random.default_rng(0).permutation(evaluation.num_instances)
    shuffled = Evaluation.from_arrays({k: v[order] for k, v in arrays.items()}, metric=metric)
    (first,), (second,) = run(evaluation, test="permutation"), run(shuffled, test="permutation")
    assert first.delta == pytest.approx(second.delta, abs=1e-15)
    if first.method == "exact":
        assert first.p_value == second.p_value


def test_adding_a_constant_changes_nothing():
    rng = np.random.default_rng(4)
    values = rng.integers(0, 9, (2, 25))
    (first,), (second,) = (
        run(Evaluation.from_arrays({"a": values[0] + c, "b": values[1] + c}), test="permutation") for c in (0, 1000)
    )
    assert first.p_value == second.p_value
    assert first.exceed == second.exceed


@pytest.mark.parametrize("large", [9e139, 1e150, 1e155, 1e200, 1e308, -1e308, 5e-324])
@pytest.mark.parametrize("name", sorted(METRICS))
def test_numbers_beyond_the_range_are_refused_in_one_way(name, large):
    """They gave OverflowError, NaN and warnings, which are errors here."""
    inputs = max(1, len(METRICS[name].inputs))
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 2, 12) * large / 4.0
    for whole in (True, False):
        tables = {}
        for system in "AB":
            table = rng.uniform(0.1, 1.0, (12, inputs)) * (large if whole else 1.0)
            table[0, 0] = large
            tables[system] = np.column_stack([table[:, :1], gold, table[:, 2:]])[:, :inputs] if inputs > 1 else table
        if abs(large) > 1e140:
            with pytest.raises(InputError, match=r"numbers up to 1e\+140 are taken; rescale them"):
                Evaluation.from_arrays(tables, metric=name)
            continue
        with suppress(InputError):  # what is no count, no label, or too small beside the others
            report = compare(Evaluation.from_arrays(tables, metric=name), resamples=30)
            assert np.isfinite([report[0].delta, report[0].p_value, *(report[0].interval or ())]).all()


@pytest.mark.parametrize("name", ["variance", "mse", "rmse", "r2", "ppi"])
def test_numbers_whose_squares_are_0_are_refused(name):
    """p was 1, whatever the numbers."""
    rng = np.random.default_rng(1)
    inputs = max(1, len(METRICS[name].inputs))
    tables = {system: rng.normal(size=(12, inputs)) * 1e-170 for system in "AB"}
    with pytest.raises(InputError, match="whose square is too small for a double; numbers from 1e-140 are taken"):
        Evaluation.from_arrays(tables, metric=name)
