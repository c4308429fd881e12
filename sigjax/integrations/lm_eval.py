"""lm-evaluation-harness: evaluate models side by side, step by step, until the comparison is decided.

    python -m sigjax.integrations.lm_eval TASK small=hf,pretrained=ORG/A large=hf,pretrained=ORG/B
        --metric acc --goal best --step 25

`evaluate` does the same for model objects. In each step, all models that are still needed answer the same next
questions, with `simple_evaluate(samples=...)`. The order of the questions is random.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sigjax.studies.sequential import Monitor


def evaluate(
    models: Mapping[str, Any], task: str, metric: str, number: int, *, step: int = 25, seed: int = 1, **options: Any
) -> Iterator[Monitor]:
    """Evaluate models (LM objects of lm_eval) on a task; yield the monitor after each step, until it stops.

    Args:
        models: a dict from the name of each model to the model.
        task: the name of the task in lm_eval.
        metric: the metric in the logged samples of the task, such as acc or exact_match.
        number: the number of questions of the task.
        step: questions per step.
        seed: the seed for the order of the questions.
        options: options of `Monitor`, such as goal="best", correction="holm" or binary=False (if left out, answers are
            right or wrong); and "simple_evaluate": further arguments for this function of lm_eval.
    """
    from lm_eval import simple_evaluate  # pyright: ignore

    from sigjax.studies.sequential import Monitor

    order, more = random.Random(seed).sample(range(number), number), options.pop("simple_evaluate", {})
    monitor = Monitor([*models], **{"binary": True, "largest": number, **options})
    for start in range(0, number, step):
        some, scores = order[start : start + step], {}
        for name in monitor.needed:
            run = simple_evaluate(models[name], tasks=[task], samples={task: sorted(some)}, **more)
            logged = {each["doc_id"]: each for each in run["samples"][task]}
            scores[name] = [logged[i][metric] for i in some]
        monitor.update(scores, ids=some)
        yield monitor
        if monitor.stop:
            return


def main(arguments: Sequence[str]) -> int:
    """Evaluate the models of the command line; print each step, and the monitor at the end."""
    parser = argparse.ArgumentParser(
        "python -m sigjax.integrations.lm_eval", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("task", help="one task of lm_eval")
    parser.add_argument("models", nargs="+", help="NAME=TYPE or NAME=TYPE,arg=value,... as --model and --model_args")
    parser.add_argument("--metric", default="acc", help="metric of the logged samples (acc)")
    parser.add_argument("--step", type=int, default=25, help="questions per step (25)")
    parser.add_argument("--goal", choices=("pairs", "best"), default="pairs", help="settle pairs, or find the best")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the questions")
    parser.add_argument("--include-path", help="a folder of tasks of your own")
    given = parser.parse_args(arguments)
    if wrong := [each for each in given.models if "=" not in each.partition(",")[0]]:
        parser.error(f"expected NAME=TYPE,arg=value,..., got {wrong[0]!r}")
    from lm_eval.api.registry import get_model  # pyright: ignore[reportMissingImports]
    from lm_eval.tasks import TaskManager  # pyright: ignore[reportMissingImports]

    manager = TaskManager(include_path=given.include_path)
    (task,) = manager.load_task_or_group(given.task).values()
    models = {}
    for each in given.models:
        name, _, kind = each.partition("=")
        kind, _, values = kind.partition(",")
        models[name] = get_model(kind).create_from_arg_string(values)
    how = {"task_manager": manager, "bootstrap_iters": 0}
    steps = evaluate(
        models, given.task, given.metric, len(task.eval_docs), step=given.step, seed=given.seed, goal=given.goal,
        simple_evaluate=how,
    )  # fmt: skip
    monitor = None
    for monitor in steps:
        print(f"sigjax: {monitor.headline}", file=sys.stderr)
    print(monitor)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
