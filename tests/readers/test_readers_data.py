"""The readers on real tables: published numbers come out. The folder is in the environment variable SIGJAX_DATA."""

import csv

import numpy as np
import pytest

from sigjax import read


def scores(evaluation):
    totals = evaluation.stats.sum(axis=1, dtype=np.float64)
    return dict(zip(evaluation.systems, evaluation.metric.score(totals).tolist(), strict=True))


def published(path, name, number, delimiter="\t"):
    with path.open(newline="") as lines:
        return {row[name]: float(row[number]) for row in csv.DictReader(lines, delimiter=delimiter)}


def test_swebench_resolved_and_cost(data):
    folder = data / "swebench_bashonly"
    resolved = read(folder / "resolved.tsv.gz", metric="accuracy")
    assert resolved.stats.shape == (25, 500, 2)
    expected = published(folder / "published.tsv", "system", "published_resolved_pct")
    different = {name for name, score in scores(resolved).items() if round(100 * score, 2) != expected[name]}
    assert different == {
        "mini-v1.0.0_claude-sonnet-4-20250514",
        "mini-v0.0.0-claude-3-7-sonnet-20250219",
        "mini-v0.0.0-Llama-4-Maverick-17B-Instruct",
    }
    cost = read(folder / "cost_api_calls.tsv.gz", counts={"value": "cost"})
    assert cost.ids == resolved.ids
    assert scores(cost) == pytest.approx(published(folder / "published.tsv", "system", "instance_cost"))


def test_conll18_parsers(data):
    counts = {"tp": "las_correct", "predicted": "sys_words", "gold": "gold_words"}
    path = data / "conll18_en_ewt" / "per_sentence_stats.tsv.gz"
    evaluation = read(path, metric="fscore", counts=counts, cluster="doc_id")
    assert evaluation.stats.shape == (25, 2077, 3)
    assert evaluation.clusters is not None
    assert evaluation.ids[0].startswith(evaluation.clusters[0])
    las = scores(evaluation)
    assert round(100 * las["HIT-SCIR-18"], 2) == 84.57
    assert round(100 * las["UDPipe-Future"], 2) == 82.51


def test_hipe_entities(data):
    counts = {"predicted": "n_sys", "gold": "n_gold"}
    path = data / "hipe_fr_coarse" / "per_sentence_stats.tsv.gz"
    evaluation = read(path, metric="fscore", counts=counts, cluster="doc_id")
    assert evaluation.stats.shape == (32, 1462, 3)
    assert len(set(evaluation.clusters or ())) == 43
    (system,) = [name for name in evaluation.systems if "neurbsl" in name]
    tp, predicted, gold = evaluation.stats[evaluation.systems.index(system)].sum(axis=0)
    assert (tp, predicted - tp, gold - tp) == (1256, 464, 344)


def test_alpaca_preferences(data):
    folder = data / "alpaca_eval2"
    evaluation = read(folder / "preferences.tsv.gz", ignore=["instruction_sha1_12"], strata="dataset", missing="drop")
    assert evaluation.stats.shape == (52, 805, 2)
    assert len(set(evaluation.strata or ())) == 5
    expected = published(folder / "published.tsv", "model", "recomputed_win_rate")
    assert {name: 100 * score for name, score in scores(evaluation).items()} == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("table", "column"), [("map", "MAP"), ("P_5", "p@5"), ("ndcg_cut_10", "ndcg@10")])
def test_trec_covid_runs(data, table, column):
    folder = data / "trec_covid_r1"
    means = scores(read(folder / f"per_topic_{table}.tsv.gz"))
    expected = published(folder / "leaderboard.csv", "run", column, delimiter=",")
    assert len(means) == 143
    assert {name for name, mean in means.items() if abs(mean - expected[name]) > 6e-5} <= {"BERT"}
