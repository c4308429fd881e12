"""The recipes of the page stopping, run in the real Inspect and lm-evaluation-harness, where they are installed."""

import random
import re
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from toys import NUMBER, harness_model, is_right, write_task

from sigjax import Monitor

PAGE = Path(__file__).parents[2] / "sigjax" / "guide" / "stopping.md"
INSPECT, HARNESS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def run_inspect(names, monitor, folder):
    """The logs of models that Inspect evaluates side by side, with the recipe of the page."""
    inspect_ai = pytest.importorskip("inspect_ai")
    parts = ("dataset", "model", "scorer", "solver")
    dataset, model, scorer, solver = (import_module(f"inspect_ai.{name}") for name in parts)

    @solver.solver
    def answers(name):
        async def solve(state, generate):
            text = str(state.sample_id) if is_right(name, state.sample_id) else "no"
            state.output = model.ModelOutput.from_content("mockllm/model", text)
            return state

        return solve

    made, waiting = {}, {}
    exec(INSPECT, made)
    samples = [dataset.Sample(id=i, input=f"{i}?", target=str(i)) for i in range(1, NUMBER + 1)]
    tasks = [
        inspect_ai.Task(
            name=name,
            dataset=samples,
            solver=answers(name),
            scorer=scorer.match(location="exact"),
            early_stopping=made["Stopping"](name, monitor, waiting),
        )
        for name in names
    ]
    how = {"max_tasks": len(names), "max_samples": 4, "display": "none"}
    logs = inspect_ai.eval(tasks, model="mockllm/model", log_dir=str(folder), **how)
    assert [log.error for log in logs] == [None] * len(names)
    return logs


@pytest.mark.filterwarnings("ignore")
def test_inspect_drops_systems_that_are_not_the_best(tmp_path):
    names = ("good", "bad", "worse")
    monitor = Monitor(names, binary=True, largest=NUMBER, goal="best")
    logs = run_inspect(names, monitor, tmp_path)
    assert monitor.stop
    best, *others = monitor.standings
    assert (best.system, best.dropped_at) == ("good", None)
    assert all(0 < each.dropped_at < NUMBER for each in others)
    done = {log.eval.task: sum(bool(sample.scores) for sample in log.samples) for log in logs}
    assert all(each.dropped_at <= done[each.system] < NUMBER for each in others)
    again = Monitor(names, binary=True, largest=NUMBER, goal="best")
    for id in map(int, monitor._ids):
        again.update({name: [is_right(name, id)] for name in again.needed})
    assert again.standings == monitor.standings


@pytest.mark.filterwarnings("ignore")
def test_inspect_stops_scheduling_samples_once_all_pairs_are_settled(tmp_path):
    monitor = Monitor(["good", "bad"], binary=True, largest=NUMBER)
    logs = run_inspect(("good", "bad"), monitor, tmp_path)
    assert monitor.stop
    (pair,) = monitor.pairs
    assert pair.better == "good"
    assert 5 < pair.instances < 60
    done = {log.eval.task: {sample.id: sample for sample in log.samples if sample.scores} for log in logs}
    assert all(pair.instances <= len(own) < NUMBER for own in done.values())
    for log in logs:
        assert log.results.early_stopping.manager == "sigjax"
        assert len(log.results.early_stopping.early_stops) + len(done[log.eval.task]) == NUMBER
    used = list(map(int, monitor._ids))
    again = Monitor(["good", "bad"], binary=True, largest=NUMBER)
    again.update({name: [is_right(name, i) for i in used] for name in ("good", "bad")})
    assert again.pairs == monitor.pairs


@pytest.mark.filterwarnings("ignore")
def test_the_harness_is_asked_for_some_questions_at_a_time(tmp_path, monkeypatch):
    write_task(tmp_path, monkeypatch)
    lm_eval = pytest.importorskip("lm_eval")
    tasks, toy = import_module("lm_eval.tasks"), harness_model({})
    manager = tasks.TaskManager(include_path=str(tmp_path), include_defaults=False)
    evaluated = partial(lm_eval.simple_evaluate, task_manager=manager, bootstrap_iters=0)
    monkeypatch.setattr(lm_eval, "simple_evaluate", evaluated)
    made = {}
    exec(HARNESS, made)
    models = {name: toy(name) for name in ("good", "bad")}
    monitor = made["evaluate"](models, "toy", "exact_match", NUMBER)
    assert monitor.stop
    assert monitor.pairs[0].better == "good"
    questions = random.Random(1).sample(range(NUMBER), NUMBER)[: monitor.pairs[0].instances]
    assert len(questions) < NUMBER
    assert {name: sorted(model.questions) for name, model in models.items()} == dict.fromkeys(models, sorted(questions))
    again = Monitor([*models], binary=True, largest=NUMBER)
    again.update({name: [is_right(name, i) for i in questions] for name in models})
    assert again.pairs == monitor.pairs
