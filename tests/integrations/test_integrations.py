"""Where people work: pytest in a process of its own, the steps of the action in bash, files of promptfoo and Every Eval
Ever, and Inspect, lm-evaluation-harness and PyTerrier themselves, where they are installed."""

import json
import os
import random
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from scipy import stats
from toys import NUMBER, harness_model, is_right, write_task

import sigjax
from sigjax.formats.harness import promptfoo as format_of_promptfoo
from sigjax.integrations import every_eval_ever, promptfoo, pyterrier
from sigjax.integrations.pytest_plugin import NoRegression

ROOT = Path(__file__).parents[2]
MODELS = ("good", "bad")


def run(*command, cwd, **environment):
    found = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""} | environment
    return subprocess.run(command, cwd=cwd, env=found, capture_output=True, text=True)


TEST = """
import json

def test_answers(no_regression):
    right = json.load(open("right.json"))
    found = no_regression({f"q{i}": each for i, each in enumerate(right)}, margin=0.05, strict=STRICT)
    assert found is None or found.score_a == sum(right) / len(right)
"""


def run_plugin(folder, right, *options, strict=False):
    (folder / "test_it.py").write_text(TEST.replace("STRICT", str(strict)))
    (folder / "right.json").write_text(json.dumps(right))
    plugin = ("-p", "no:sigjax", "-p", "sigjax.integrations.pytest_plugin", "-p", "no:cacheprovider")
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins take seconds to load
    return run(sys.executable, "-m", "pytest", "-q", *plugin, *options, cwd=folder, **alone)


@pytest.mark.slow
def test_the_plugin_of_pytest_fails_where_scores_are_worse_than_the_stored_ones(tmp_path):
    old = [1] * 160 + [0] * 40
    missing = run_plugin(tmp_path, old)
    assert missing.returncode == 1
    assert "no stored scores; run pytest --sigjax-update" in missing.stdout
    assert run_plugin(tmp_path, old, "--sigjax-update").returncode == 0
    assert (tmp_path / "sigjax_scores" / "test_answers.json").exists()
    assert run_plugin(tmp_path, old, strict=True).returncode == 0
    worse = run_plugin(tmp_path, [1] * 110 + [0] * 90)
    assert worse.returncode == 1
    assert "test_answers: worse than the stored scores: 0.8 -> 0.55 on 200 instances" in worse.stdout
    unsure = [*old[:4], *[0] * 12, *old[16:190], *[1] * 10]
    assert run_plugin(tmp_path, unsure).returncode == 0
    strict = run_plugin(tmp_path, unsure, strict=True)
    assert strict.returncode == 1
    assert "not shown to be within the margin" in strict.stdout
    others = run_plugin(tmp_path, old[:-1])
    assert "other instances than the new scores (1, such as 'q199')" in others.stdout


def test_the_plugin_of_pytest_takes_scores_of_which_lower_ones_are_better(tmp_path):
    """Errors in 40 of 200 answers became 10 or 90; a gain is positive, and scores are shown as they are."""
    old, fewer, more = ([1] * errors + [0] * (200 - errors) for errors in (40, 10, 90))
    NoRegression(tmp_path, "errors", update=True)(old, margin=0.05, lower_is_better=True)
    check = NoRegression(tmp_path, "errors", update=False)
    assert check(fewer, margin=0.05, lower_is_better=True, strict=True).delta == pytest.approx(0.15)
    assert check(more, margin=0.05, strict=True).delta == pytest.approx(0.25)
    with pytest.raises(pytest.fail.Exception, match=r"errors: worse than .*: 0\.2 -> 0\.45 on 200 .*; gain -0\.25,"):
        check(more, margin=0.05, lower_is_better=True)
    with pytest.raises(pytest.fail.Exception, match=r"errors: worse than .*: 0\.2 -> 0\.05 on 200 .*; gain -0\.15,"):
        check(fewer, margin=0.05)


def test_the_entry_points_name_what_there_is():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    points = re.findall(r'^\[project\.entry-points\.(\w+)\]\nsigjax = "([\w.]+):?(\w*)"$', text, re.MULTILINE)
    assert [group for group, *_ in points] == ["pytest11", "inspect_ai"]
    assert hasattr(import_module(points[0][1]), "no_regression")
    with pytest.raises((ImportError, ModuleNotFoundError)) if not installed("inspect_ai") else nothing():
        assert getattr(import_module(points[1][1]), points[1][2])


def installed(name):
    try:
        import_module(name)
    except ImportError:
        return False
    return True


class nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


@pytest.fixture
def reports(tmp_path):
    rng = np.random.default_rng(1)
    old = {name: (rng.random(300) < 0.8).astype(int).tolist() for name in ("a", "b")}
    worse = old | {"b": (rng.random(300) < 0.5).astype(int).tolist()}
    for name, data in (("old", old), ("same", old), ("worse", worse)):
        sigjax.compare(data, read={"metric": "accuracy"}, progress=False).to_json(tmp_path / f"{name}.json")
    return tmp_path


@pytest.mark.parametrize(
    ("new", "margin", "more", "code", "verdict"),
    [
        ("same", "0.05", {}, 0, "no worse"),
        ("worse", "0.05", {}, 3, "worse"),
        ("worse", "0.3", {}, 4, "cannot tell"),
        ("worse", "0.3", {"CANNOT_TELL": "pass"}, 0, "cannot tell"),
        ("absent", "0.3", {}, 2, None),
    ],
)
def test_the_action_runs_diff_and_tells_its_verdict(reports, new, margin, more, code, verdict):
    """The script of its step, in bash, with the variables of GitHub."""
    action = (ROOT / ".github" / "actions" / "diff" / "action.yml").read_text(encoding="utf-8")
    script = re.search(r"\n      run: \|\n((?:        .*\n)+)", action)[1]
    (reports / "step.sh").write_text(re.sub("(?m)^        ", "", script))
    (reports / "bin").mkdir()
    (reports / "bin" / "python").symlink_to(sys.executable)
    given = {"OLD": "old.json", "NEW": f"{new}.json", "MARGIN": margin, "OPTIONS": "", "CANNOT_TELL": "fail"} | more
    given |= {"GITHUB_OUTPUT": "output.txt", "GITHUB_STEP_SUMMARY": "summary.md"}
    python = f"python() {{ '{sys.executable}' \"$@\"; }}; export -f python; bash -eo pipefail step.sh"
    done = run("bash", "-c", python, cwd=reports, **given)
    assert done.returncode == code, done.stderr
    if verdict is not None:
        assert (reports / "output.txt").read_text() == f"verdict={verdict}\n"
        alert = {"no worse": "TIP", "worse": "CAUTION", "cannot tell": "WARNING"}[verdict]
        assert (reports / "summary.md").read_text().startswith(f"> [!{alert}]")


def test_the_action_is_yaml_of_a_composite_action():
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / ".github" / "actions" / "diff" / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    assert all({"shell", "run"} <= step.keys() for step in action["runs"]["steps"])
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(action["runs"])))
    assert used == set(action["inputs"])
    assert all(each.get("required") or "default" in each for each in action["inputs"].values())


def test_promptfoo_gets_a_report_when_all_is_done(tmp_path, monkeypatch, capfd):
    """On results of the format that `promptfoo eval -o` writes, which the hook afterAll has as well."""
    monkeypatch.setenv("SIGJAX_REPORT", str(tmp_path / "report.md"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    results = [
        {"promptIdx": column, "testIdx": i, "success": is_right(name, i), "score": float(is_right(name, i))}
        | {"provider": {"id": name, "label": ""}, "prompt": {"raw": "{{q}}", "label": "{{q}}"}, "vars": {"q": str(i)}}
        | {"testCase": {"vars": {"q": str(i)}}, "failureReason": 0, "namedScores": {}}
        for column, name in enumerate(MODELS)
        for i in range(NUMBER)
    ]
    promptfoo.extension_hook("beforeAll", {"suite": {}})
    assert not (tmp_path / "report.md").exists()
    promptfoo.extension_hook("afterAll", {"suite": {}, "results": results})
    text = (tmp_path / "report.md").read_text()
    assert "Best: good" in text or "good is better" in text or "good" in text.partition("bad")[0]
    assert "report.md" in capfd.readouterr().err
    assert format_of_promptfoo.FORMAT.name == "promptfoo"


def test_pyterrier_gets_a_statistic_and_a_p():
    a, b = np.random.default_rng(2).random((2, 12))
    statistic, p_value = pyterrier.permutation(a, b)
    known = stats.permutation_test((a - b,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert statistic == pytest.approx((a - b).mean())
    assert p_value == pytest.approx(known.pvalue, rel=0.01)
    assert pyterrier.permutation_with(alternative="greater")(a, b)[1] != p_value


def record(name, score, evaluation="accuracy"):
    result = {"evaluation_name": evaluation, "metric_config": {"lower_is_better": False}}
    results = [result | {"score_details": {"score": score}}]
    return {"model_info": {"name": name, "id": f"org/{name}"}, "evaluation_results": results}


UNCERTAINTY = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "standard_error": {
            "type": "object",
            "required": ["value"],
            "properties": {"value": {"type": "number"}, "method": {"type": "string"}},
        },
        "confidence_interval": {
            "type": "object",
            "required": ["lower", "upper"],
            "properties": {
                "lower": {"type": "number"},
                "upper": {"type": "number"},
                "confidence_level": {"type": "number", "minimum": 0, "maximum": 1},
                "method": {"type": "string"},
            },
        },
        "standard_deviation": {"type": "number"},
        "num_samples": {"type": "integer"},
        "num_bootstrap_samples": {"type": "integer"},
    },
}
"""As version 0.2.1 of their schema has it."""


def test_every_eval_ever_gets_the_uncertainty_of_its_scores(reports, capsys):
    report = sigjax.Report.from_json(reports / "old.json")
    files = [reports / f"{one.name}.record.json" for one in report.systems]
    for one, file in zip(report.systems, files, strict=True):
        file.write_text(json.dumps(record(one.name, one.score)))
    assert every_eval_ever.main([str(reports / "old.json"), *map(str, files)]) == 0
    assert capsys.readouterr().out.count("uncertainty of 1 result\n") == 2
    for one, file in zip(report.systems, files, strict=True):
        made = json.loads(file.read_text())["evaluation_results"][0]["score_details"]["uncertainty"]
        jsonschema.validate(made, UNCERTAINTY)
        assert made["standard_error"]["value"] == pytest.approx(np.sqrt(one.score * (1 - one.score) / 299))
        wilson = stats.binomtest(round(300 * one.score), 300).proportion_ci(method="wilson")
        interval = made["confidence_interval"]
        assert (interval["lower"], interval["upper"]) == pytest.approx((wilson.low, wilson.high))
        assert (interval["confidence_level"], interval["method"]) == (0.95, "sigjax: wilson")
        assert made["num_samples"] == 300


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (record("c", 0.8), "the report has no system 'org/c' or 'c'; it has"),
        (record("a", 0.1), "the score of 'accuracy' is 0.1, but"),
    ],
)
def test_records_of_other_results_are_refused(reports, made, message, capsys):
    (reports / "record.json").write_text(json.dumps(made))
    assert every_eval_ever.main([str(reports / "old.json"), str(reports / "record.json")]) == 2
    assert message in capsys.readouterr().err
    assert "uncertainty" not in (reports / "record.json").read_text()


@pytest.mark.filterwarnings("ignore")
def test_inspect_finds_the_hooks_and_a_run_ends_with_a_report(tmp_path, monkeypatch):
    inspect_ai = pytest.importorskip("inspect_ai")
    parts = ("dataset", "model", "scorer", "solver")
    dataset, model, scorer, solver = (import_module(f"inspect_ai.{name}") for name in parts)
    assert import_module("sigjax.integrations.inspect_hooks").SigjaxHooks
    monkeypatch.setenv("SIGJAX_REPORT", str(tmp_path / "report.md"))

    @solver.solver
    def answers():
        async def solve(state, generate):
            name = str(state.model).partition("/")[2]
            text = str(state.sample_id) if is_right(name, state.sample_id) else "no"
            state.output = model.ModelOutput.from_content(str(state.model), text)
            return state

        return solve

    samples = [dataset.Sample(id=i, input=f"{i}?", target=str(i)) for i in range(1, NUMBER + 1)]
    task = inspect_ai.Task(name="toy", dataset=samples, solver=answers(), scorer=scorer.match(location="exact"))
    models = [f"mockllm/{name}" for name in MODELS]
    logs = inspect_ai.eval(task, model=models, log_dir=str(tmp_path / "logs"), display="none")
    assert [log.status for log in logs] == ["success", "success"]
    text = (tmp_path / "report.md").read_text()
    assert "good" in text
    assert "bad" in text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("goal", ["pairs", "best"])
def test_the_harness_stops_as_soon_as_it_is_decided(tmp_path, monkeypatch, capsys, goal):
    write_task(tmp_path, monkeypatch)
    pytest.importorskip("lm_eval")
    asked = {}
    monkeypatch.setattr(import_module("lm_eval.api.registry"), "get_model", lambda _: harness_model(asked))
    module = import_module("sigjax.integrations.lm_eval")
    models = [f"{name}=toy,name={name}" for name in MODELS]
    options = ["--metric", "exact_match", "--goal", goal, "--include-path", str(tmp_path)]
    assert module.main(["toy", *models, *options]) == 0
    said = capsys.readouterr()
    assert "good" in said.out
    assert said.err.count("sigjax: ") >= 1
    assert 0 < len(asked["good"]) < NUMBER
    assert sorted(asked["good"]) == sorted(asked["bad"])
    wanted = random.Random(1).sample(range(NUMBER), NUMBER)[: len(asked["good"])]
    monitor = sigjax.Monitor(MODELS, binary=True, largest=NUMBER, goal=goal)
    monitor.update({name: [is_right(name, i) for i in wanted] for name in MODELS})
    assert str(monitor).strip() == said.out.strip()


@pytest.mark.filterwarnings("ignore")
def test_pyterrier_takes_the_test_of_an_experiment():
    pt = pytest.importorskip("pyterrier")
    pandas = import_module("pandas")
    rng, queries = np.random.default_rng(3), [str(i) for i in range(40)]
    topics = pandas.DataFrame({"qid": queries, "query": queries})
    qrels = pandas.DataFrame({"qid": queries, "docno": "d", "label": 1})
    runs = []
    for share in (0.5, 0.9):
        ranks = np.where(rng.random(40) < share, 0, 1)
        rows = [
            {"qid": q, "docno": d, "score": -float(abs(r - n)), "rank": abs(r - n)}
            for q, r in zip(queries, ranks, strict=True)
            for n, d in enumerate(["d", "e"])
        ]
        runs.append(pt.Transformer.from_df(pandas.DataFrame(rows)))
    made = pt.Experiment(runs, topics, qrels, ["recip_rank"], baseline=0, test=pyterrier.permutation)
    each = pt.Experiment(runs, topics, qrels, ["recip_rank"], perquery=True)
    values = [own.sort_values("qid")["value"].to_numpy() for _, own in each.groupby("name", sort=False)]
    assert made["recip_rank p-value"][1] == pytest.approx(sigjax.permutation_test(*values).p_value)
