"""Real outputs of real systems, against published numbers and SciPy. Skipped unless SIGJAX_DATA names the folder."""

import itertools
import json

import numpy as np
import pytest
from oracles import montecarlo_error
from scipy.stats import binom, binomtest

from sigjax import compare, permutation_test, read
from sigjax.cli import _run

pytestmark = pytest.mark.slow

LAS = {"tp": "las_correct", "predicted": "sys_words", "gold": "gold_words"}
ENTITIES = {"tp": "tp", "predicted": "n_sys", "gold": "n_gold"}


def test_swebench_by_the_command_line_is_the_sign_test(data, tmp_path):
    """All 300 pairs exact, each p equal to `binomtest`."""
    table, output = data / "swebench_bashonly" / "resolved.tsv.gz", tmp_path / "out.json"
    assert _run(["compare", str(table), "-m", "accuracy", "--format", "json", "-o", str(output)], debug=True) == 0
    evaluation = read(table, metric="accuracy")
    solved = dict(zip(evaluation.systems, evaluation.stats[:, :, 0], strict=True))
    pairs = json.loads(output.read_text())["pairs"]
    assert len(pairs) == 300
    for pair in pairs:
        wins = int((solved[pair["a"]] > solved[pair["b"]]).sum())
        losses = int((solved[pair["a"]] < solved[pair["b"]]).sum())
        assert pair["method"] == "exact"
        assert pair["p_value"] == pytest.approx(binomtest(wins, wins + losses).pvalue, rel=5e-10)


@pytest.fixture(scope="module")
def parsers(data):
    return read(data / "conll18_en_ewt" / "per_sentence_stats.tsv.gz", metric="fscore", counts=LAS)


def test_conll18_all_pairs(parsers):
    """Scores of SOURCE.md; permutation and bootstrap give the same decision where the p-value is far from the level."""
    report = compare(parsers, test=["permutation", "bootstrap"], resamples=20_000, progress=False)
    scores = {system.name: 100 * system.score for system in report.systems}
    published = {"HIT-SCIR-18": 84.57, "UDPipe-Future": 82.51, "LATTICE-18": 84.02, "Stanford-18": 83.87}
    published["conll18-baseline"] = 77.56
    for name, score in published.items():
        assert scores[name] == pytest.approx(score, abs=0.005)
    assert len(report) == 600
    by_test = {test: {(c.a, c.b): c for c in report if c.test == test} for test in ("permutation", "bootstrap")}
    for pair, c in by_test["permutation"].items():
        other = by_test["bootstrap"][pair]
        assert (c.p_value < 0.02) <= (other.p_value < 0.05)
        assert (other.interval.low < other.delta < other.interval.high) or other.standard_error == 0


@pytest.mark.parametrize(
    ("folder", "counts", "num_pairs"), [("conll18_en_ewt", LAS, 120), ("hipe_fr_coarse", ENTITIES, 120)]
)
def test_all_pairs_are_exact_and_within_montecarlo_error(data, folder, counts, num_pairs):
    """Each number of extreme resamples is one that the exact p-value makes likely, by its binomial distribution."""
    file, resamples = data / folder / "per_sentence_stats.tsv.gz", 100_000
    evaluation = read(file, metric="fscore", counts=counts)
    evaluation = read(file, metric="fscore", counts=counts, only=evaluation.systems[:16])
    exact = list(compare(evaluation, interval="none", progress=False))
    assert [c.method for c in exact] == ["exact"] * num_pairs
    assert max(c.error_bound for c in exact) < 1e-9
    sampled = list(compare(evaluation, method="montecarlo", resamples=resamples, interval="none", progress=False))
    assert [(c.a, c.b) for c in sampled] == [(c.a, c.b) for c in exact]
    exceed, p_values = np.array([c.exceed for c in sampled]), np.array([c.p_value for c in exact])
    tails = 2 * np.minimum(binom.cdf(exceed, resamples, p_values), binom.sf(exceed - 1, resamples, p_values))
    assert tails.min() * num_pairs > 1e-3  # Bonferroni


def test_conll18_identical_tags_give_one(data):
    """Eleven parsers took the same tagger's output: p is 1 by every test."""
    evaluation = read(
        data / "conll18_en_ewt" / "per_sentence_stats.tsv.gz", metric="fscore", counts=LAS | {"tp": "upos_correct"}
    )
    groups: dict[bytes, list[str]] = {}
    for name, stats in zip(evaluation.systems, evaluation.stats, strict=True):
        groups.setdefault(stats.tobytes(), []).append(name)
    names = max(groups.values(), key=len)
    assert len(names) == 11
    for method in ("auto", "montecarlo"):
        report = compare(
            read(
                data / "conll18_en_ewt" / "per_sentence_stats.tsv.gz",
                metric="fscore",
                counts=LAS | {"tp": "upos_correct"},
                only=names,
            ),
            test=["permutation", "bootstrap"],
            method=method,
            resamples=2000,
        )
        assert len(report) == 2 * 55
        assert {c.p_value for c in report} == {1.0}
        assert {c.p_adjusted for c in report} == {1.0}


def yeh(data):
    """The counts of the 86 terms that exactly one system returns: tp, predicted, gold of each system."""
    folder = data / "art_yeh2000"
    gold, first, second = (
        set((folder / f"yeh.{name}").read_text().split("\n")) - {""} for name in ("gold", "s1", "s2")
    )
    terms = sorted(gold | first | second)
    return {
        name: np.array([[t in found and t in gold, t in found, t in gold] for t in terms], int)
        for name, found in (("s1", first), ("s2", second))
    }


# SOURCE.md: exact values by rational arithmetic over the two binomials.
EXACT = {
    "fscore": {"greater": 0.0147756858, "two-sided": 0.0295513715},
    "precision": {"greater": 0.980005711, "two-sided": 0.0399885791},
    "recall": {"greater": 9.75627918e-05, "two-sided": 0.000195125584},
}


@pytest.mark.parametrize(("metric", "alternative"), list(itertools.product(EXACT, ["greater", "two-sided"])))
def test_yeh(data, metric, alternative):
    expected, resamples = EXACT[metric][alternative], 400_000
    arrays = yeh(data)
    sampled = permutation_test(
        arrays["s1"], arrays["s2"], metric=metric, alternative=alternative, method="montecarlo", resamples=resamples
    )
    assert abs(sampled.p_value - expected) < 4.5 * montecarlo_error(expected, resamples)
    if metric == "recall":
        exact = permutation_test(arrays["s1"], arrays["s2"], metric=metric, alternative=alternative)
        assert exact.method == "exact"
        assert exact.p_value == pytest.approx(expected, rel=1e-8)
