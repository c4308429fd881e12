"""The readers on real tables: published numbers come out. The folder is in the environment variable SIGJAX_DATA."""

import csv
import json
from contextlib import nullcontext, suppress

import numpy as np
import pandas
import pytest

import sigjax
from sigjax import InputError, read
from sigjax.readers.options import ReadOptions
from sigjax.records.options import options_of


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


VALUES = {
    "input": ["b.txt"],
    "metric": "median",
    "counts": {"value": "A"},
    "id_column": "A",
    "system_column": "A",
    "score_column": "A",
    "gold": "A",
    "prediction": ["A"],
    "where": "A == 1",
    "transpose": True,
    "melt": ["A", "B"],
    "decimal": ",",
    "thousands": "'",
    "systems": ["B", "A"],
    "only": ["B", "A"],
    "ignore": ["C"],
    "runs": "C",
    "cluster": "C",
    "strata": "C",
    "missing": "drop",
    "lower_is_better": True,
    "higher_is_better": False,
    "lexicon": "none.toml",
    "unit": "response",
    "filter": "strict",
    "records": "rows[*]",
    "reader": "npz",
}
"""A value of each option of `read` that is not its default."""
COLUMNS = {"id": ["x", "y", "z", "u"], "A": [1.5, 0, 1, 1], "B": [0, 0.5, 1, 1], "C": [1, 1, 0, 0.5]}


def kinds_of_data(folder):
    """Data of every kind, with the options that they need, and what may leave them as they are."""
    numbers = {name: COLUMNS[name] for name in "ABC"}
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    (folder / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in (COLUMNS, *(r.values() for r in rows))))
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, text in (("gold", "The cat.\nA dog.\n"), ("a", "The cat.\nDog.\n"), ("b", "Cat.\nA dog.\n")):
        (folder / f"{name}.txt").write_text(text)
    texts = {"input": [folder / "a.txt", folder / "b.txt"], "metric": "bleu"}
    by_id = {name: dict(zip(COLUMNS["id"], values, strict=True)) for name, values in numbers.items()}
    written = {"missing", "thousands"}  # nothing is missing, and no number has thousands
    return {
        "arrays": (numbers, {}, set()),
        "arrays by id": (by_id, {}, {"missing"}),
        "an evaluation": (sigjax.Evaluation.from_arrays(numbers), {}, set()),
        "a frame": (pandas.DataFrame(COLUMNS), {}, written | {"decimal"}),
        "a table": (folder / "t.csv", {}, written),
        "JSON": (folder / "t.jsonl", {}, written | {"decimal"}),
        "texts": (folder / "gold.txt", texts, {"missing"}),
    }


@pytest.mark.parametrize("name", VALUES)
def test_no_option_of_read_is_ignored_in_silence(tmp_path, name):
    """It changes what is read, or it is refused, for data of every kind."""
    assert set(VALUES) == set(options_of(ReadOptions)) - {"progress"}
    for kind, (data, needed, may_be_the_same) in kinds_of_data(tmp_path).items():
        if name in needed or name in may_be_the_same:
            continue
        before = as_read(sigjax.read(data, **needed))
        with suppress(InputError):
            assert as_read(sigjax.read(data, **needed, **{name: VALUES[name]})) != before, kind


def as_read(evaluation):
    return {
        **{name: str(value) for name, value in vars(evaluation).items() if name not in ("stats", "metric")},
        "stats": evaluation.stats.tolist(),
        "metric": (evaluation.metric.name, evaluation.metric.higher_is_better),
    }


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.parametrize(
    ("options", "better"),
    [
        ({}, "A"),
        ({"higher_is_better": False}, "B"),
        ({"lower_is_better": True}, "B"),
        ({"lower_is_better": True, "higher_is_better": False}, "B"),
        ({"lower_is_better": False}, "A"),
        ({"higher_is_better": True}, "A"),
    ],
)
def test_false_says_the_other_direction(by_id, options, better):
    data = {"A": [1, 1, 1, 1], "B": [0, 0, 1, 1]}
    data = {name: dict(enumerate(values)) for name, values in data.items()} if by_id else data
    assert sigjax.compare(data, read=options, progress=False)[0].better == better
    refused = pytest.raises(InputError, match="(higher|lower)_is_better means nothing for an Evaluation")
    with refused if options else nullcontext():
        sigjax.compare(sigjax.read(data), read=options, progress=False)


@pytest.mark.parametrize("said", [True, False])
def test_two_directions_are_refused(said):
    with pytest.raises(InputError, match="lower_is_better and higher_is_better: give one of them"):
        sigjax.read({"A": [1, 0], "B": [0, 1]}, lower_is_better=said, higher_is_better=said)
