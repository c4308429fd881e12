"""Small logs of each format, as their programs write them: values `[instance]` -> the content of a file."""

import json
from importlib import import_module

from sigjax.formats.declarations import HARNESSES
from sigjax.formats.harness.inspect import packed


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


def mteb(value, *, task="STS", **subsets):
    """A task of one subset, or of several."""
    return SAMPLES["mteb"].make([value], task=task, **subsets)


SAMPLES = {name: import_module(f"sigjax.formats.harness.{name.replace('-', '_')}").SAMPLE for name in HARNESSES}
"""What the file of each harness says of its logs."""
TEXTS = {name: (each.file, each.make) for name, each in SAMPLES.items() if not (each.alone or name == "mteb")}
"""Format -> (name of its files, values -> content)."""

_NAMED = "alpaca-eval deepeval eee evalplus helm inspect lm-eval promptfoo swebench tau-bench terminal-bench".split()
alpaca_eval, deepeval, every_eval, evalplus, helm, inspect, lm_eval, promptfoo, swebench, tau, terminal_bench = (
    SAMPLES[name].make for name in _NAMED
)
tau2, inspect_zip = SAMPLES["tau-bench"].more[0], packed
