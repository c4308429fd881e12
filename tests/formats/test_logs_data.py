"""Logs of evaluations on real files, through the command line. Their folder is in the variable SIGJAX_DATA."""

import csv
import gzip
import json

import pytest
from logs import alpaca_eval, swebench, swebench_boards, swebench_results

from sigjax import InputError, read


def scores(found):
    return {system["name"]: system["score"] for system in found["systems"]}


def table(path):
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


def test_inspect_logs_are_joined_on_their_intersection(data, compared):
    qwen, sonnet = (data / "format_fixtures" / "inspect" / f"data_arc_{name}.json" for name in ("qwen", "sonnet"))
    with pytest.raises(InputError, match="'ollama/qwen2.5:0.5b' lacks 2 of 5 .first: '4'.; use missing=.drop."):
        read(qwen, sonnet)
    found = compared(qwen, sonnet, "--missing", "drop", "-m", "choice")
    assert "dropped 2 of 5 instances that some system lacks" in found["notes"][0]
    results = json.loads(qwen.read_text())["results"]["scores"]
    assert scores(found) == {
        "anthropic/claude-sonnet-4-0": 1.0,
        "ollama/qwen2.5:0.5b": pytest.approx(results[0]["metrics"]["accuracy"]["value"], rel=1e-12),
    }
    # Two of three samples differ, both for the better: all 4 swaps of them are counted.
    assert found["pairs"][0]["p_value"] == 0.5


def twice(tmp_path, path, change=lambda text: text):
    """A real log as that of two models, A and B."""
    copies = [tmp_path / system / path.name for system in "AB"]
    for copy in copies:
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(change(path.read_text()))
    return [f"{system}={copy}" for system, copy in zip("AB", copies, strict=True)]


@pytest.mark.parametrize("name", ["arc_qwen", "arc_sonnet", "pubmedqa_gpt4o_mini"])
def test_inspect_logs_have_the_accuracy_that_they_tell(data, compared, tmp_path, name):
    log = data / "format_fixtures" / "inspect" / f"data_{name}.json"
    (told,) = json.loads(log.read_text())["results"]["scores"]
    found = compared(*twice(tmp_path, log))
    accuracy = told["metrics"]["accuracy"]["value"]
    assert scores(found) == pytest.approx({"A": accuracy, "B": accuracy}, rel=1e-12)
    assert found["pairs"][0]["p_value"] == 1.0


def test_helm_runs_have_the_means_of_their_stats(data, compared, tmp_path):
    for run_folder in sorted((data / "format_fixtures" / "helm").iterdir()):
        told = {
            (stat["name"]["name"], stat["name"]["split"]): stat["mean"]
            for stat in json.loads((run_folder / "stats.json").read_text())
            if "perturbation" not in stat["name"] and stat["count"]
        }
        files = twice(tmp_path, run_folder / "per_instance_stats.json")
        for (name, split), mean in told.items():
            if name in ("exact_match", "quasi_exact_match", "num_prompt_tokens", "rouge_l", "logprob"):
                found = compared(*files, "-m", name, "--filter", split)
                assert scores(found) == pytest.approx({"A": mean, "B": mean}, rel=1e-12), (run_folder.name, name)


def test_lm_eval_samples_and_their_results(data, compared, tmp_path):
    folder = data / "format_fixtures" / "lm_eval"
    (samples,) = folder.glob("samples_*.jsonl")
    (results,) = folder.glob("results_*.json")
    paths = twice(tmp_path, samples)
    (tmp_path / "B" / results.name).write_text(results.read_text())
    found = compared(*paths)
    told = json.loads(results.read_text())["results"]["math_perturbed_full"]["exact_match,none"]
    assert scores(found) == {"A": told, "B": told}
    assert not any("mean of" in note for note in found["notes"])
    (tmp_path / "B" / results.name).write_text(
        results.read_text().replace('"exact_match,none": 0.0,', '"exact_match,none": 0.5,')
    )
    note, _ = compared(tmp_path / "A", tmp_path / "B", "--metric", "exact_match")["notes"]
    assert "the mean of exact_match is 0, but 0.5 in " in note


def test_alpaca_annotations_have_the_published_win_rates(data, compared, tmp_path):
    """Annotations with the real preferences, each in an order of its own."""
    folder = data / "alpaca_eval2"
    published = {row["model"]: row for row in table(folder / "published.tsv")}
    models = ["FuseChat-Gemma-2-9B-Instruct", "wizardlm-13b"]
    rows = table(folder / "preferences.tsv.gz")
    paths = []
    for model, order in zip(models, (1, -1), strict=True):
        entries = json.loads(alpaca_eval([float(row[model]) for row in rows], model=model))
        for entry, row in zip(entries, rows, strict=True):
            entry |= {"dataset": row["dataset"], "instruction": row["instruction_sha1_12"]}
        paths.append(tmp_path / model / "weighted_alpaca_eval_gpt4_turbo" / "annotations.json")
        paths[-1].parent.mkdir(parents=True)
        paths[-1].write_text(json.dumps(entries[::order]))
    found = compared(*paths, "--strata", "dataset")
    for model in models:
        assert abs(100 * scores(found)[model] - float(published[model]["win_rate"])) < 1e-6


@pytest.mark.parametrize("kind", ["reports", "boards", "results"])
def test_swebench_reports_have_the_published_resolved_rates(data, compared, tmp_path, kind):
    rows = table(data / "swebench_bashonly" / "resolved.tsv.gz")
    published = {
        row["system"]: float(row["published_resolved_pct"])
        for row in table(data / "swebench_bashonly" / "published.tsv")
    }
    different = {
        "mini-v1.0.0_claude-sonnet-4-20250514",
        "mini-v0.0.0-claude-3-7-sonnet-20250219",
        "mini-v0.0.0-Llama-4-Maverick-17B-Instruct",
    }
    outcomes = {system: [int(row[system]) for row in rows] for system in published if system not in different}
    ids = [row["instance_id"] for row in rows]
    if kind == "boards":
        found = json.loads(swebench_boards({"bash-only": list(outcomes.items())}))
        for result in found["leaderboards"][0]["results"]:
            result["per_instance_details"] = dict(zip(ids, result["per_instance_details"].values(), strict=True))
        paths = [tmp_path / "leaderboards.json"]
        paths[0].write_text(json.dumps(found))
    else:
        paths = [tmp_path / f"{system}.json" for system in outcomes]
        for path, values in zip(paths, outcomes.values(), strict=True):
            resolved = [id for id, value in zip(ids, values, strict=True) if value]
            report_of_all = swebench([], completed_ids=ids, submitted_ids=ids, resolved_ids=resolved)
            path.write_text(report_of_all if kind == "reports" else swebench_results([], resolved=resolved))
    if kind == "results":
        (tmp_path / "all.txt").write_text("\n".join(sorted(ids)))
        paths = [tmp_path / "all.txt", "-i", *paths]
    means = scores(compared(*paths, "--cluster", "repository", "--baseline", next(iter(outcomes))))
    assert {system: round(100 * mean, 2) for system, mean in means.items()} == {s: published[s] for s in outcomes}
