"""Small logs of each format, as their programs write them: values `[instance]` -> the content of a file."""

import io
import json
import zipfile
from importlib import import_module

from sigjax.formats.table import HARNESSES


def lm_eval(values, *, metric="acc", filters=("none",), **fields):
    lines = [
        {"doc_id": i, "doc": {"question": f"q{i}", "topic": f"t{i // 2}"}, "target": "A", "resps": [["A"]]}
        | {"filtered_resps": ["A"], "filter": filter, "metrics": [metric], "doc_hash": f"h{i}", metric: value}
        | fields
        for filter in filters
        for i, value in enumerate(values)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def inspect(values, *, model="lab/a", scorer="choice", task="arc", reductions=(), **fields):
    """Values are one a sample, or a list of one an epoch."""
    samples = [
        {
            "id": i,
            "epoch": epoch,
            "input": "?",
            "scores": {scorer: {"value": value}},
            "metadata": {"topic": f"t{i // 2}"},
        }
        for i, value in enumerate(values)
        for epoch, value in enumerate(value if isinstance(value, list) else [value], start=1)
    ]
    about = {"task": task, "model": model}
    log = {"version": 2, "status": "success", "eval": about, "samples": samples, "reductions": list(reductions)}
    return json.dumps(log | fields, indent=2)


def inspect_zip(content, *, change=lambda members: members):
    """The same log as .eval."""
    log = json.loads(content)
    members = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in log.pop("samples")}
    members |= {"reductions.json": log.pop("reductions"), "header.json": log, "_journal/start.json": "not read"}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in change(members).items():
            archive.writestr(name, member if isinstance(member, str | bytes) else json.dumps(member))
    return packed.getvalue()


def helm(values, *, metric="exact_match", split="test", perturbations=(None,), trials=(0,)):
    return json.dumps(
        [
            {"instance_id": f"id{i}", "train_trial_index": trial}
            | ({"perturbation": {"name": perturbation}} if perturbation else {})
            | {"stats": [{"name": {"name": metric, "split": split}, "count": 2, "sum": 2 * value, "mean": value}]}
            for i, value in enumerate(values)
            for perturbation in perturbations
            for trial in trials
        ],
        indent=2,
    )


def every_eval(values, *, model="org/a", evaluation="bench", **fields):
    lines = [
        {"schema_version": "0.3.0", "evaluation_id": f"x/{model}/1", "model_id": model, "evaluation_name": evaluation}
        | {"sample_id": f"s{i}", "sample_hash": f"h{i}", "input": {"raw": "?"}, "metadata": {"subject": f"t{i // 2}"}}
        | {"evaluation": {"score": value, "is_correct": value == 1}}
        | fields
        for i, value in enumerate(values)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def alpaca_eval(values, *, model="a", reference="gpt4", datasets=("koala", "vicuna"), **fields):
    return json.dumps(
        [
            {"dataset": datasets[i % len(datasets)], "instruction": f"say {i}", "output_1": "x"}
            | {"generator_1": reference, "output_2": "y", "generator_2": model, "annotator": "judge"}
            | {"preference": None if value is None else value + 1}
            | fields
            for i, value in enumerate(values)
        ],
        indent=4,
    )


def swebench(values, **fields):
    ids = [f"org__repo{i // 2}-{i}" for i in range(len(values))]
    resolved = [id for id, value in zip(ids, values, strict=True) if value]
    report = {"total_instances": len(ids), "submitted_instances": len(ids), "completed_ids": ids, "incomplete_ids": []}
    return json.dumps(report | {"submitted_ids": ids, "resolved_ids": resolved} | fields, indent=4)


def swebench_ids(number):
    return "".join(f"org__repo{i // 2}-{i}\n" for i in range(number))


def swebench_results(values, **fields):
    """As the repository of experiments has it: None for an instance without a prediction; failures are not listed."""
    listed = {"no_generation": None, "no_logs": "no log", "resolved": 1}
    ids = swebench_ids(len(values)).split()
    lists = {name: [id for id, own in zip(ids, values, strict=True) if own == kind] for name, kind in listed.items()}
    return json.dumps(lists | fields, indent=4)


def swebench_boards(boards):
    """Board -> system -> values."""
    return json.dumps(
        {
            "leaderboards": [
                {
                    "name": board,
                    "results": [
                        {
                            "name": name,
                            "folder": f"2025_{name}_{k}",
                            "per_instance_details": values
                            and {
                                f"org__repo-{i}": {"resolved": bool(value), "cost": 0.5 * i, "api_calls": i}
                                for i, value in enumerate(values)
                            },
                        }
                        for k, (name, values) in enumerate(systems)
                    ],
                }
                for board, systems in boards.items()
            ]
        }
    )


def terminal_bench(values, **fields):
    """Values are one a task, or a list of one a trial; None for a trial without an outcome."""
    trials = [
        {"id": f"{i}-{k}", "trial_name": f"task{i}.{k}-of-1.run", "task_id": f"task{i}", "instruction": "Do it."}
        | {"is_resolved": None if value is None else bool(value), "failure_mode": "unset"}
        for i, value in enumerate(values)
        for k, value in enumerate(value if isinstance(value, list) else [value], start=1)
    ]
    resolved = [trial["task_id"] for trial in trials if trial["is_resolved"]]
    about = {"n_resolved": len(resolved), "resolved_ids": resolved, "accuracy": len(resolved) / len(trials)}
    return json.dumps({"id": "x", "results": trials} | about | fields, indent=1)


def tau(values, **fields):
    """Values are one a task, or a list of one a trial."""
    return json.dumps(
        [
            {"task_id": i, "reward": value, "info": {"task": {"user_id": "u"}}, "traj": [], "trial": trial} | fields
            for i, value in enumerate(values)
            for trial, value in enumerate(value if isinstance(value, list) else [value])
        ],
        indent=1,
    )


def tau2(values, *, model="gpt", domain="airline", index=False, user="u"):
    """The same of tau2; None where there is no reward. With `index`, the simulations have files of their own."""
    info = {"git_commit": "0", "num_trials": 1, "max_steps": 9, "user_info": {"implementation": "u", "llm": user}}
    info |= {"agent_info": {"implementation": "a", "llm": model}, "environment_info": {"domain_name": domain}}
    trials = [
        {"id": f"{i}-{trial}", "task_id": str(i), "trial": trial, "termination_reason": "user_stop"}
        | ({"reward": value} if index else {"reward_info": None if value is None else {"reward": value}})
        for i, value in enumerate(values)
        for trial, value in enumerate(value if isinstance(value, list) else [value])
    ]
    found = {"timestamp": "2026-01-01", "info": info, "tasks": []}
    return json.dumps(found | ({"simulation_index": trials} if index else {"simulations": trials}), indent=2)


def promptfoo(values, *, provider="p", prompts=("Say {{word}}",), **fields):
    """Values are one a test, or a list of one a repetition; -1 is an error of the provider."""
    repeats = [value if isinstance(value, list) else [value] for value in values]
    rounds = [(i, own[k]) for k in range(max(map(len, repeats))) for i, own in enumerate(repeats) if k < len(own)]
    results = [
        {"promptIdx": column, "testIdx": number, "vars": {"word": f"w{i}", "topic": f"t{i // 2}"}}
        | {"testCase": {"assert": [{"type": "contains", "value": f"w{i}"}]}, "prompt": {"raw": prompt, "label": prompt}}
        | {"provider": {"id": provider, "label": ""}, "success": value == 1, "score": 1 if value == 1 else 0.25}
        | {"failureReason": 2 if value < 0 else 1 - value, "namedScores": {"tone": 0.5 * max(value, 0)}}
        | fields
        for number, (i, value) in enumerate(rounds)
        for column, prompt in enumerate(prompts)
    ]
    found = {"version": 3, "timestamp": "2026-01-01", "prompts": [], "results": results, "stats": {}}
    return json.dumps({"evalId": "eval-x", "results": found, "config": {}}, indent=2)


def deepeval(values, *, wrapped=False, **fields):
    """Values are one a test case: whether it passed; None for a metric that failed to run."""
    cases = [
        {"name": f"test_case_{i}", "input": f"q{i}", "actualOutput": "x", "success": value == 1, "order": i}
        | {"metadata": {"topic": f"t{i // 2}"}}
        | {"metricsData": [{"name": "Faithfulness", "threshold": 0.5, "success": value == 1, "score": value}]}
        | fields
        for i, value in enumerate(values)
    ]
    run = {"testCases": cases, "conversationalTestCases": [], "metricsScores": [], "runDuration": 1.0}
    return json.dumps({"testRunData": run} if wrapped else run, indent=2)


def evalplus(values, *, old=False, hash="0", **fields):
    """Values are one a task: whether its only sample passes; as before version 0.2.2 if `old`."""
    tasks = {}
    for i, value in enumerate(values):
        status = ("success" if value else "failed") if old else ("pass" if value else "fail")
        new = {"task_id": f"H/{i}", "solution": "x", "base_status": status, "plus_status": status} | fields
        tasks[f"H/{i}"] = {"nfiles": 1, "base": [[status, [1]]], "plus": [[status, [1]]]} if old else [new]
    return json.dumps({"date": "2026-01-01", "hash": hash, "eval": tasks}, indent=2)


def mteb(value, *, task="STS", **subsets):
    """A task of one subset, or of several, and a validation split."""
    parts = [{"hf_subset": name, "main_score": own} for name, own in (subsets or {"default": value}).items()]
    scores = {"validation": [{"hf_subset": "default", "main_score": 0.0}], "test": parts}
    return json.dumps({"dataset_revision": "0", "mteb_version": "1.0", "scores": scores, "task_name": task}, indent=2)


SAMPLES = {name: import_module(f"sigjax.formats.harness.{name.replace('-', '_')}").SAMPLE for name in HARNESSES}
"""What the file of each harness says of its logs."""
TEXTS = {
    **{name: (each.file, each.make) for name, each in SAMPLES.items() if not each.alone},
    "lm-eval": ("samples_arc_2026-01-21T03-44-18.458309.jsonl", lm_eval),
    "inspect": ("log.json", inspect),
    "helm": ("per_instance_stats.json", helm),
    "eee": ("x_samples.jsonl", every_eval),
    "alpaca-eval": ("annotations.json", alpaca_eval),
    "swebench": ("report.json", swebench),
    "terminal-bench": ("results.json", terminal_bench),
    "tau-bench": ("results.json", tau),
    "promptfoo": ("output.json", promptfoo),
    "deepeval": ("run.json", deepeval),
    "evalplus": ("eval_results.json", evalplus),
}
"""Format -> (name of its files, values -> content)."""
