"""Few human labels and a judge (`ppi`): against ppi_py's formulas and numbers, NumPy, SciPy and statsmodels."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests

from sigjax import Evaluation, InputError, compare, read
from sigjax.comparison.notes import agreement, error_differences
from sigjax.metrics import METRICS
from sigjax.metrics.judges import ppi_lambda

PPI = METRICS["ppi"]


def sample(seed, labels=60, instances=300, slope=0.6, noise=0.2, mean=0.6):
    """Human labels, NaN where there is none, and scores of a judge."""
    rng = np.random.default_rng(seed)
    human = (rng.random(instances) < mean).astype(float)
    judge = 0.2 + slope * human + rng.normal(0.0, noise, instances)
    human[rng.permutation(instances)[labels:]] = np.nan
    return human, judge


def by_definition(human, judge, weight=None):
    """The estimate and its weight as section 6 of PPI++ writes them."""
    labelled = ~np.isnan(human)
    y, f, rest = human[labelled], judge[labelled], judge[~labelled]
    if weight is None:
        covariance = np.cov(y, f, ddof=0)[0, 1]
        weight = covariance / (np.var(judge, ddof=1) * (1.0 + len(y) / len(rest)))
    return y.mean() + weight * (rest.mean() - f.mean()), weight


@pytest.mark.parametrize(
    ("data", "weight", "score"),
    [  # of ppi_py 0.2.3: `ppi_mean_pointestimate` and `_calc_lam_glm`
        ({"seed": 11}, 0.7077726628573042, 0.6891112741956797),
        ({"seed": 12, "labels": 30, "noise": 0.5}, 0.13200843049432623, 0.554049359052372),
        (
            {"seed": 13, "labels": 150, "instances": 200, "slope": 0.9},
            0.22406355290680746,
            0.5750091174112846,
        ),
        ({"seed": 14, "slope": 0.3, "mean": 0.2}, 0.6458362675428027, 0.21196092233680924),
    ],
)
def test_score_and_weight_are_those_of_ppi_py(data, weight, score):
    sums = PPI.extract(*sample(**data)).sum(axis=0)
    assert float(ppi_lambda(sums)) == pytest.approx(weight, rel=1e-10)
    assert float(PPI.score(sums)) == pytest.approx(score, rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_score_is_the_definition_on_any_scale(seed):
    """The weight is not cut off at 0 and 1: the judge may have another scale, or err the wrong way round."""
    human, judge = sample(seed, labels=20 + 30 * seed, slope=0.8 - 0.3 * seed)
    for scale in (1.0, 0.02, -7.0):
        score, weight = by_definition(human, scale * judge + 3.0)
        sums = PPI.extract(human, scale * judge + 3.0).sum(axis=0)
        assert float(ppi_lambda(sums)) == pytest.approx(weight, rel=1e-9)
        assert float(PPI.score(sums)) == pytest.approx(score, rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_score_is_that_of_ppi_py_with_the_same_weight(seed):
    package = pytest.importorskip("ppi_py")
    human, judge = sample(seed, labels=20 + 30 * seed, slope=0.8 - 0.3 * seed)
    labelled = ~np.isnan(human)
    weight = by_definition(human, judge)[1]
    theirs = package.ppi_mean_pointestimate(human[labelled], judge[labelled], judge[~labelled], lam=weight)
    assert float(PPI.score(PPI.extract(human, judge).sum(axis=0))) == pytest.approx(float(theirs[0]), rel=1e-12)


def test_without_unlabelled_instances_or_with_a_constant_judge_it_is_the_mean_of_the_labels():
    human, judge = sample(1, labels=300)
    assert float(PPI.score(PPI.extract(human, judge).sum(axis=0))) == pytest.approx(human.mean(), rel=1e-14)
    human, judge = sample(2)
    score = float(PPI.score(PPI.extract(human, np.full(300, 0.5)).sum(axis=0)))
    assert score == pytest.approx(np.nanmean(human), rel=1e-14)


def test_standard_errors_are_near_those_of_ppi_py():
    """sqrt(var(lambda f_u) / N + var(y - lambda f_l) / n), as `ppi_mean_ci` has it; the jackknife is within 3%."""
    systems = {name: np.column_stack(sample(k, labels=400, instances=3000)) for k, name in enumerate("AB")}
    report = compare(Evaluation.from_arrays(systems, metric="ppi"), resamples=100)
    for each in report.systems:
        human, judge = systems[each.name].T
        labelled = ~np.isnan(human)
        weight = by_definition(human, judge)[1]
        parts = weight * judge[~labelled], human[labelled] - weight * judge[labelled]
        assert each.standard_error == pytest.approx(np.sqrt(sum(np.var(part) / len(part) for part in parts)), rel=0.03)


def test_permutation_p_is_that_of_all_swaps_of_labels_and_scores_together():
    a, b = (np.column_stack(sample(seed, labels=6, instances=11)) for seed in (3, 4))
    masks = (np.arange(2**11)[:, None] >> np.arange(11)) % 2 == 1

    def delta(mask):
        tables = np.where(mask[:, None], b, a), np.where(mask[:, None], a, b)
        scores = [by_definition(*table.T)[0] for table in tables]
        return scores[0] - scores[1]

    usable = [mask for mask in masks if 1 < np.isfinite(np.where(mask, b[:, 0], a[:, 0])).sum() < 11]
    assert len(usable) == len(masks)  # the labelled instances are so few that no swap leaves a system without
    observed = delta(masks[0])
    expected = np.mean([abs(delta(mask)) >= abs(observed) * (1.0 - 1e-9) for mask in masks])
    report = compare(Evaluation.from_arrays({"A": a, "B": b}, metric="ppi"), interval="none")
    assert report[0].delta == pytest.approx(observed, rel=1e-10)
    assert report[0].p_value == pytest.approx(expected, abs=0.005 if report[0].method != "exact" else 1e-12)


def test_agreement_of_labels_is_that_of_statsmodels():
    rng = np.random.default_rng(7)
    human = rng.integers(0, 2, 500).astype(float)
    judge = np.where(rng.random(500) < 0.85, human, 1.0 - human)
    table = np.column_stack([human, judge])
    halves = {"A": table.copy(), "B": table.copy()}
    halves["A"][250:, 0] = halves["B"][:250, 0] = np.nan
    evaluation = Evaluation.from_arrays(halves, metric="ppi")
    (_, accuracy, *of_accuracy), (_, kappa, *of_kappa) = agreement(evaluation, 0.95)
    assert accuracy == np.mean(human == judge)
    assert of_accuracy == pytest.approx(
        [accuracy - (reach := 1.9647 * np.sqrt(accuracy * (1 - accuracy) / 499)), accuracy + reach], abs=1e-4
    )
    theirs = cohens_kappa(np.histogram2d(human, judge, bins=2)[0])
    assert kappa == pytest.approx(theirs.kappa, rel=1e-12)
    assert of_kappa == pytest.approx([theirs.kappa_low, theirs.kappa_upp], abs=0.002)


def test_agreement_of_scores_is_that_of_scipy():
    rng = np.random.default_rng(8)
    tables = {name: np.column_stack([y := rng.normal(1e3, 1.0, 400), y + rng.normal(0.0, 0.8, 400)]) for name in "AB"}
    tables["B"][::2, 0] = np.nan
    human, judge = np.concatenate([tables["A"], tables["B"][1::2]]).T
    ((name, value, low, high),) = agreement(Evaluation.from_arrays(tables, metric="ppi"), 0.95)
    theirs = stats.pearsonr(human, judge)
    assert (name, value) == ("Pearson's r", pytest.approx(theirs.statistic, rel=1e-10))
    assert (low, high) == pytest.approx(tuple(theirs.confidence_interval(0.95)), abs=0.01)


def by_least_squares(tables, groups):
    """The judge on the label and the system, by statsmodels, on instances that both systems have labels of."""
    sm = pytest.importorskip("statsmodels.api")
    both = np.isfinite(tables[0][:, 0]) & np.isfinite(tables[1][:, 0])
    human, judge = (np.concatenate([table[both, column] for table in tables]) for column in (0, 1))
    first = np.repeat([1.0, 0.0], both.sum())
    names = np.tile(groups[both], 2)
    fit = sm.OLS(judge, np.column_stack([first, human, np.ones_like(first)])).fit(
        cov_type="cluster", cov_kwds={"groups": names, "use_correction": False}
    )
    count = len(set(names))
    return fit.params[0], 2.0 * stats.t.sf(abs(fit.tvalues[0]) * np.sqrt((count - 1) / count), count - 1)


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.slow
def test_errors_of_the_judge_are_those_of_least_squares(size):
    """Also where the systems are labelled on different instances; clusters of one are the same as none."""
    tables = {name: np.column_stack(sample(k, labels=200, noise=0.3)) for k, name in enumerate("ABC")}
    tables["C"][:, 1] += 0.4
    groups = np.arange(300) // size
    for labels in (None, groups.tolist())[size > 1 :]:
        evaluation = Evaluation.from_arrays(tables, metric="ppi", clusters=labels)
        for a, b, mean, p in error_differences(evaluation):
            assert (mean, p) == pytest.approx(by_least_squares([tables[a], tables[b]], groups), rel=1e-8)
    pairs = {f"{a} - {b}": p for a, b, _, p in error_differences(evaluation)}  # pyright: ignore[reportPossiblyUnboundVariable]
    rejected = multipletests(list(pairs.values()), method="holm")[0]
    (warning,) = (note for note in compare(evaluation, resamples=100).notes if "errs differently" in note)  # pyright: ignore[reportPossiblyUnboundVariable]
    assert warning.startswith("warning: ppi: the judge errs differently")
    assert {pair for pair in pairs if pair in warning} == {p for p, r in zip(pairs, rejected, strict=True) if r}
    assert 0 < rejected.sum() < 3


@pytest.mark.parametrize("line", [(1.0, 0.0), (10.0, 3.0), (-0.01, 5.0)])
def test_a_judge_on_another_scale_is_not_biased(line):
    """A perfect judge in other units was said to err differently, by +1.69: errors were judge - human."""
    tables = {}
    for k, name in enumerate("AB"):
        human = np.random.default_rng(k).normal(0.6 * k, 1.0, 300)
        tables[name] = np.column_stack([human, line[0] * human + line[1]])
        tables[name][60:, 0] = np.nan
    evaluation = Evaluation.from_arrays(tables, metric="ppi")
    assert [p for *_, p in error_differences(evaluation)] == [1.0]
    assert not [note for note in compare(evaluation, resamples=100).notes if "errs differently" in note]
    for k, table in enumerate(tables.values()):
        table[:, 1] += np.random.default_rng(9 + k).normal(0.0, 0.3 * abs(line[0]), 300)
    ((*_, p),) = error_differences(Evaluation.from_arrays(tables, metric="ppi"))
    assert p > 0.1


def exact_score(human, judge):
    """The estimate of few labels by rational arithmetic."""
    labelled = [k for k, y in enumerate(human) if not np.isnan(y)]
    f, y = [Fraction(x) for x in judge], [Fraction(human[k]) for k in labelled]
    own, rest = [f[k] for k in labelled], [f[k] for k in range(len(f)) if np.isnan(human[k])]
    mean = [sum(x) / len(x) for x in (y, own, rest, f)]
    covariance = sum((a - mean[0]) * (b - mean[1]) for a, b in zip(y, own, strict=True)) / len(y)
    variance = sum((x - mean[3]) ** 2 for x in f) / (len(f) - 1)
    weight = covariance / (variance * (1 + Fraction(len(own), len(rest))))
    return float(mean[0] + weight * (mean[2] - mean[1]))


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, -1e9, 2.0**40])
def test_a_large_offset_of_the_judge_loses_no_digits(offset):
    """Squares lost them in silence: of an offset of 1e8, p was .046 for .0025. Judges are eighths, which keep all."""
    tables = {}
    for k, name in enumerate("AB"):
        human, judge = sample(k, labels=60, noise=0.4, mean=0.5 + 0.2 * k)
        tables[name] = np.column_stack([human, np.rint(8.0 * judge) / 8.0])
    options = {"method": "montecarlo", "resamples": 500}
    expected = compare(Evaluation.from_arrays(tables, metric="ppi"), **options)
    for table in tables.values():
        table[:, 1] += offset
    report = compare(Evaluation.from_arrays(tables, metric="ppi"), **options)
    for each in report.systems:
        assert each.score == pytest.approx(exact_score(*tables[each.name].T), rel=1e-12)
    for name in ("p_value", "delta", "standard_error", "interval"):
        assert getattr(report[0], name) == pytest.approx(getattr(expected[0], name), rel=1e-9)


def test_tables_with_empty_cells_are_read(tmp_path):
    tables = {name: np.column_stack(sample(k)) for k, name in enumerate("AB")}
    rows = [
        f"{name}\tq{i}\t{'' if np.isnan(y) else y}\t{f}"
        for name, table in tables.items()
        for i, (y, f) in enumerate(table)
    ]
    path = tmp_path / "judged.tsv"
    path.write_text("\n".join(["system\tid\trating\tgpt", *rows]) + "\n")
    evaluation = read(path, metric="ppi", counts={"human": "rating", "judge": "gpt"})
    np.testing.assert_array_equal(evaluation.stats, Evaluation.from_arrays(tables, metric="ppi").stats)
    evaluation.save(saved := tmp_path / "judged.npz")
    assert compare(saved, resamples=200)[0].delta == compare(evaluation, resamples=200)[0].delta


def test_an_instance_without_a_judge_is_missing(tmp_path):
    path = tmp_path / "judged.tsv"
    lines = ["A\tx\t1\t0.5", "A\ty\t0\t0.4", "A\tz\t\t0.4", "B\tx\t1\t0.5", "B\ty\t1\t0.3", "B\tz\t\t"]
    path.write_text("\n".join(["system\tid\thuman\tjudge", *lines]) + "\n")
    with pytest.raises(InputError, match="'B' lacks 1"):
        read(path, metric="ppi")
    assert read(path, metric="ppi", missing="drop").num_instances == 2
    filled = read(path, metric="ppi", missing="zero").stats[1, 2]
    assert filled.tolist() == [0, 1, 0, 0, 0, 0, 0]  # not labelled, and 0 by the judge


def test_what_cannot_be_used_is_refused():
    with pytest.raises(InputError, match="at least two"):
        Evaluation.from_arrays({"A": [[np.nan, 0.5], [1.0, 0.5]], "B": [[1.0, 0.5], [1.0, 0.5]]}, metric="ppi")
    for wrong in ([[1.0, np.nan], [1.0, 0.5]], [[np.inf, 1.0], [1.0, 0.5]]):
        with pytest.raises(InputError, match="instance 1"):
            Evaluation.from_arrays({"A": wrong, "B": [[1.0, 0.5], [1.0, 0.5]]}, metric="ppi")
    with pytest.raises(InputError, match="nan at instance 1"):
        Evaluation.from_arrays({"A": [np.nan, 1.0], "B": [1.0, 1.0]}, metric="mean")


def test_whole_and_rounded_statistics_together_are_not_taken_for_rounding():
    """Counts of labels are exact, squares of the judge's scores are rounded: only the latter are coarse."""
    rng = np.random.default_rng(1)
    tables = {name: [rng.integers(1, 9, 50) + 0.1 * rng.random(50), rng.integers(5, 9, 50)] for name in "AB"}
    arrays = {name: np.column_stack(each) for name, each in tables.items()}
    report = compare(Evaluation.from_arrays(arrays, metric="ratio"), resamples=100)
    scores = {name: table[0].sum() / table[1].sum() for name, table in tables.items()}
    assert {each.name: each.score for each in report.systems} == pytest.approx(scores, rel=1e-12)


def test_without_any_label_there_is_no_score(tmp_path):
    """Pairs, clusters and resamples that have none are refused, and not given a number."""
    tables = {name: np.column_stack(sample(k, labels=6, instances=40)) for k, name in enumerate("AB")}
    assert np.isnan(PPI.score(PPI.extract(*tables["A"].T)[np.isnan(tables["A"][:, 0])].sum(axis=0)))
    with pytest.raises(InputError, match="finite"):
        compare(Evaluation.from_arrays(tables, metric="ppi"), test="bootstrap", interval="percentile", resamples=2000)
    for table in tables.values():
        table[:, 0] = np.where(np.arange(40) < 6, 1.0, np.nan)
    clusters = np.arange(40) // 6
    with pytest.raises(InputError, match="finite"):
        compare(Evaluation.from_arrays(tables, metric="ppi", clusters=clusters.tolist()), resamples=100)


def test_a_judge_that_errs_alike_up_to_rounding_has_p_1_in_the_family_of_holm():
    """3.1 - 3 and 0.1 - 0 differ by rounding alone; as does a system from itself."""
    human = np.tile([3.0, 2.0], 10)
    tables = {"A": [human, human + 0.1], "B": [human - 2.0, human - 2.0 + 0.1], "C": [0.0 * human, 0.0 * human + 0.1]}
    arrays = {name: np.column_stack(each) for name, each in tables.items()} | {"D": np.column_stack(tables["A"])}
    assert not np.array_equal(arrays["A"][:, 1] - human, arrays["C"][:, 1])
    pairs = list(error_differences(Evaluation.from_arrays(arrays, metric="ppi")))
    assert [(a + b, p) for a, b, _, p in pairs] == [(pair, 1.0) for pair in ("AB", "AC", "AD", "BC", "BD", "CD")]


@pytest.mark.parametrize(("labels", "warns"), [(19, True), (20, False)])
def test_few_labels_are_warned_of(labels, warns):
    rng = np.random.default_rng(0)
    judge = rng.random((2, 100))
    human = np.where(np.arange(100) < labels, (judge + rng.normal(0, 0.2, (2, 100)) > 0.5) * 1.0, np.nan)
    tables = {name: np.stack([human[k], judge[k]], axis=1) for k, name in enumerate("AB")}
    report = compare(Evaluation.from_arrays(tables, metric="ppi"), device="numpy", resamples=100)
    assert any("19 labels of a system are few" in str(note) for note in report.notes) == warns


def test_three_labelled_units_are_enough_for_an_agreement():
    """Of two no error is known; of three, that of accuracy is the t interval of right or wrong."""
    labels = {"A": [[1, 1], [0, 0], [1, 0], [np.nan, 1]], "B": [[1, 1], [0, 0], [1, 0], [np.nan, 0]]}
    found = {name: rest for name, *rest in agreement(Evaluation.from_arrays(labels, metric="ppi"), 0.5)}
    low, high = stats.ttest_1samp([1, 1, 0], 0).confidence_interval(0.5)
    assert found["accuracy"] == pytest.approx([2 / 3, low, high], rel=1e-9)
    two = {name: [*own[:2], *([np.nan, 0] for _ in own[2:])] for name, own in labels.items()}
    assert agreement(Evaluation.from_arrays(two, metric="ppi"), 0.5) == []
