"""Standard errors without the clusters, beside those with them: closed forms, statsmodels, the bootstrap, reports."""

import csv
import io
import json

import numpy as np
import pytest
import statsmodels.api as sm
from oracles import random_counts

from sigjax import Evaluation, Report, compare, read

KEY = "Std. error: of clusters; unclustered: if instances were independent"


def clustered(arrays, *, metric="mean", size=4, **labels):
    """Instances in clusters of a size, each of which shares what is common to it."""
    count = len(next(iter(arrays.values())))
    return Evaluation.from_arrays(arrays, metric=metric, clusters=[str(i // size) for i in range(count)], **labels)


def errors(report):
    """Unclustered standard errors by system and by pair."""
    of_pairs = {(one.a, one.b): one.standard_error_unclustered for one in report}
    return {one.name: one.standard_error_unclustered for one in report.systems} | of_pairs


def run(evaluation, **options):
    return compare(evaluation, **({"resamples": 500, "device": "numpy"} | options))


def test_means_as_statsmodels_has_them():
    """The robust errors HC1 (ddof = 1) of a regression on a constant; those by cluster, corrected alike, are larger."""
    rng = np.random.default_rng(0)
    arrays = {name: np.repeat(rng.normal(size=60), 4) + rng.normal(size=240) for name in "abc"}
    report = run(clustered(arrays), resamples=20_000)
    found = errors(report)
    for name, values in (*arrays.items(), *(((a, b), arrays[a] - arrays[b]) for a, b in ("ab", "ac", "bc"))):
        fitted = sm.OLS(values, np.ones(240))
        assert found[name] == pytest.approx(fitted.fit(cov_type="HC1").bse[0], rel=1e-9)
    by_cluster = {"groups": np.repeat(np.arange(60), 4), "use_correction": True}
    for one in report.systems:
        expected = sm.OLS(arrays[one.name], np.ones(240)).fit(cov_type="cluster", cov_kwds=by_cluster).bse[0]
        assert one.standard_error == pytest.approx(expected, rel=1e-9)
        assert one.standard_error > 1.3 * one.standard_error_unclustered


def linear_parts(table, metric):
    """What each instance moves a ratio of sums by, from its formula."""
    tp, predicted, gold = table.T.astype(float)
    top, bottom = {"precision": (tp, predicted), "recall": (tp, gold), "fscore": (2 * tp, predicted + gold)}[metric]
    return (top - top.sum() / bottom.sum() * bottom) / bottom.sum()


@pytest.mark.parametrize("metric", ["precision", "recall", "fscore"])
def test_ratios_by_their_own_formula(metric):
    tables = random_counts(np.random.default_rng(1), 3, 80)
    found = errors(run(clustered(tables, metric=metric), test=("permutation", "bootstrap")))
    parts = {name: linear_parts(table, metric) for name, table in tables.items()}
    parts |= {(a, b): parts[a] - parts[b] for a, b in (("s0", "s1"), ("s0", "s2"), ("s1", "s2"))}
    assert found.keys() == parts.keys()
    for name, moves in parts.items():
        assert found[name] == pytest.approx(np.sqrt((moves**2).sum() * len(moves) / (len(moves) - 1)), rel=1e-8)


def test_entities_in_documents(data):
    """Sentences of 43 documents: by their own formula, and the bootstrap of documents says more."""
    folder = data / "hipe_fr_coarse" / "raw"
    names = "neurbsl_bundle3_hipe2020_fr_1", "team4_bundle4_hipe2020_fr_1"
    files = {name: folder / f"{name}.tsv.gz" for name in names}
    evaluation = read(folder / "gold.tsv.gz", input=files, cluster="document")
    report = run(evaluation, resamples=5000)
    found = errors(report)
    parts = {name: linear_parts(table, "fscore") for name, table in zip(names, evaluation.stats, strict=True)}
    parts |= {names: parts[names[0]] - parts[names[1]]}
    for name, moves in parts.items():
        assert found[name] == pytest.approx(np.sqrt((moves**2).sum() * len(moves) / (len(moves) - 1)), rel=1e-8)
    assert all(one.standard_error > one.standard_error_unclustered for one in report.systems)


def test_nested_runs_add_the_variance_within():
    """As the bootstrap without clusters draws them: between ids, and within ids over the runs."""
    rng = np.random.default_rng(8)
    values = {name: rng.integers(0, 9, (20, 1)) + rng.integers(0, 9, (20, 3)) for name in "ab"}
    ids, runs = np.repeat(np.arange(20), 3).tolist(), [0, 1, 2] * 20
    flat = {name: each.ravel() for name, each in values.items()}
    evaluation = Evaluation.from_arrays(flat, ids=ids, runs=runs, clusters=[i // 5 for i in ids])
    found = errors(run(evaluation, design="nested"))
    for name, each in (*values.items(), (("a", "b"), values["a"] - values["b"])):
        variance = (np.var(each.mean(axis=1)) + np.var(each, axis=1).mean() / 3) / 20
        assert found[name] == pytest.approx(variance**0.5, rel=1e-9)
    alone = run(Evaluation.from_arrays(flat, ids=ids, runs=runs), design="nested", resamples=20_000)
    assert found["a", "b"] == pytest.approx(alone.comparisons[0].standard_error, rel=0.03)


@pytest.mark.parametrize("metric", ["fscore", "f2", "las"])
def test_the_bootstrap_of_instances_says_the_same(metric):
    tables = random_counts(np.random.default_rng(4), 2, 400)
    found = errors(run(clustered(tables, metric=metric)))
    alone = run(Evaluation.from_arrays(tables, metric=metric), resamples=20_000)
    for one in alone.systems:
        assert found[one.name] == pytest.approx(one.standard_error, rel=0.03)
    assert found["s0", "s1"] == pytest.approx(alone.comparisons[0].standard_error, rel=0.03)


def two_or_three(count) -> Report:
    rng = np.random.default_rng(7)
    return run(clustered({name: rng.normal(size=24) for name in "abc"[:count]}))


@pytest.mark.parametrize("count", [2, 3])
def test_reports_show_it_beside_the_other(count):
    report = two_or_three(count)
    best = report.systems[0]
    shown = f"{best.standard_error:.3f}", f"{best.standard_error_unclustered:.3f}"
    for text in (report.to_text(), report.to_html(), report.to_markdown(), report.to_latex(appendix=True)):
        assert text.rindex("std. error") < text.rindex("unclustered")
        assert text.index(shown[0]) < text.index(shown[1])
        assert KEY in " ".join(text.split())
    parsed = json.loads(report.to_json())
    assert [row["standard_error_unclustered"] for row in parsed["systems"]] == [
        one.standard_error_unclustered for one in report.systems
    ]
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    expected = [one.standard_error_unclustered for one in report]
    assert [row["standard_error_unclustered"] for row in parsed["pairs"]] == expected
    assert [float(row["standard_error_unclustered"]) for row in rows] == expected
    assert report.to_dataframe(columns="all")["standard_error_unclustered"].tolist() == expected


def test_runs_of_an_instance_stay_together():
    rng = np.random.default_rng(3)
    values = {name: rng.integers(0, 9, (20, 3)) for name in "ab"}
    ids, runs = np.repeat(np.arange(20), 3).tolist(), [0, 1, 2] * 20
    flat = {name: each.ravel() for name, each in values.items()}
    evaluation = Evaluation.from_arrays(flat, ids=ids, runs=runs, clusters=[i // 5 for i in ids])
    found = errors(run(evaluation))
    for name, each in values.items():
        assert found[name] == pytest.approx(np.std(each.mean(axis=1), ddof=1) / 20**0.5, rel=1e-9)
    assert set(errors(run(Evaluation.from_arrays(flat, ids=ids, runs=runs))).values()) == {None}
