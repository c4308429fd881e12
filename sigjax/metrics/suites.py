r"""Suites: several tasks are scored together, by the mean of the task means.

With $n_t$ instances of task t of T tasks, and the score $x_{ti}$ of instance i of task t, the suite score is linear:
$\sum_t \sum_i x_{ti} / (T n_t)$. Tasks are strata: every resample draws within each task. So the variance of the suite
score is $\sum_t s_t^2 / (n_t T^2)$, where $s_t^2$ is the variance of the scores within task t.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import lcm

import numpy as np

from sigjax.metrics.ratios import MEAN, mean_score, shifted
from sigjax.records import Array, EvaluationRecord, InputError, Note, Score

SUITE = "suite"
_LARGEST_WEIGHTED = 2**40
"""Limit for weighted scores. If the scores are whole numbers, their weights are scaled to whole numbers, because exact
tests need whole numbers. But weights stay fractions if a weighted score could reach this limit."""


def suite_of(tasks: Mapping[str, Sequence[EvaluationRecord]]) -> list[EvaluationRecord]:
    """Return the evaluations of one report on several tasks: first of the suites, then of each task.

    A suite scores all tasks together, by the mean of the task means. Each metric that all tasks have gets a suite
    evaluation, named "suite: METRIC". If no metric is in all tasks, there is one suite of the first metric of each
    task. The evaluations of the tasks are named "TASK: METRIC", where METRIC is the name under
    which the log stores the score.
    """
    firsts = [evaluations[0] for evaluations in tasks.values()]
    if len(tasks) < 2:
        raise InputError(f"a suite needs at least two tasks, got {len(tasks)}; compare one task by itself")
    for task, first in zip(tasks, firsts, strict=True):
        if first.systems != firsts[0].systems:
            raise InputError(
                f"task {task!r} has the systems {', '.join(first.systems)}, but task {next(iter(tasks))!r} has "
                f"{', '.join(firsts[0].systems)}; expected the same in the same order"
            )
    by_name = [{_score_name(each): each for each in evaluations} for evaluations in tasks.values()]
    common = [name for name in by_name[0] if all(name in of_task for of_task in by_name)]
    suites = {f"{SUITE}: {name}": [of_task[name] for of_task in by_name] for name in common} or {SUITE: firsts}
    reasons = {name: _reason_against(list(tasks), evaluations) for name, evaluations in suites.items()}
    pooled = [_pooled(name, list(tasks), suites[name]) for name, reason in reasons.items() if reason is None]
    titled = [_titled(task, each) for task, evaluations in tasks.items() for each in evaluations]
    titled[0] = replace(titled[0], notes=(*filter(None, reasons.values()), *titled[0].notes))
    return [*pooled, *titled]


def of_tasks(tasks: Mapping[str, Sequence[EvaluationRecord]], metrics: Sequence[str]) -> list[EvaluationRecord]:
    """Make a suite of the tasks that have any of the metrics; for a single such task, return its evaluations.

    A note names the tasks that are left out. `tasks` maps each task to its evaluations.
    """
    having = {task: evaluations for task, evaluations in tasks.items() if evaluations}
    evaluations = suite_of(having) if len(having) > 1 else [each for only in having.values() for each in only]
    without = [task for task in tasks if task not in having]
    if not without:
        return evaluations
    note = f"left out task{'s' * (len(without) > 1)} {', '.join(without)}: no {' or '.join(metrics)}"
    return [replace(evaluations[0], notes=(note, *evaluations[0].notes)), *evaluations[1:]]


def instance_scores(evaluation: EvaluationRecord) -> np.ndarray | None:
    """Return the scores `[system, instance]` of single instances; None if the score of a system is not their mean."""
    evaluation.check_complete()
    metric = evaluation.metric
    if metric.score is None:
        return None
    stats = evaluation.stats.astype(np.float64)
    with np.errstate(all="ignore"):
        scores = np.asarray(metric.score(stats.sum(axis=1)), np.float64)
        values = np.asarray(metric.score(stats), np.float64)
    return values if np.allclose(values.mean(axis=1), scores, rtol=1e-12, atol=0.0) else None


def _score_name(evaluation: EvaluationRecord) -> str:
    """Return the name under which the log stores the score of this evaluation, without the name of the task."""
    return evaluation.metric.name if evaluation.title is None else evaluation.title.rpartition(": ")[2]


def _titled(task: str, evaluation: EvaluationRecord) -> EvaluationRecord:
    title = f"{task}: {_score_name(evaluation)}"
    notes = tuple(Note.after(title, note) for note in evaluation.notes)
    return replace(evaluation, metric=replace(evaluation.metric, name=title), title=title, notes=notes)


def _reason_against(tasks: Sequence[str], evaluations: Sequence[EvaluationRecord]) -> str | None:
    """Say why these tasks cannot have a suite score; None if they can have one."""
    for task, each in zip(tasks, evaluations, strict=True):
        if instance_scores(each) is None or each.unit == "response":
            return f"no suite score: {each.metric.name} of {task} is no mean over instances"
    if len({each.metric.higher_is_better for each in evaluations}) > 1:
        return "no suite score: higher is better in some tasks and lower in others"
    large = [task for task, each in zip(tasks, evaluations, strict=True) if shifted(each) is not None]
    if large and len({each.num_instances for each in evaluations}) > 1:
        return (
            f"no suite score: weights of tasks of unequal sizes would round the numbers of {large[0]}, which are large "
            "beside their differences; subtract from them what all systems share"
        )
    return None


def _pooled(name: str, tasks: Sequence[str], evaluations: Sequence[EvaluationRecord]) -> EvaluationRecord:
    """Make one evaluation of all instances of all tasks, with tasks as strata."""
    ids, clusters, strata, runs = (_labels(name, tasks, evaluations) for name in ("ids", "clusters", "strata", "runs"))
    sizes = np.concatenate([np.full(each.num_instances, each.num_instances) for each in evaluations])
    task = np.repeat(np.arange(len(evaluations)), [each.num_instances for each in evaluations])
    scores = np.concatenate([values for each in evaluations if (values := instance_scores(each)) is not None], axis=1)
    are_equal = all(_has_equal_units(each) for each in evaluations)
    stats, score, stat_names = (_weighted if are_equal else _task_statistics)(scores, sizes, task)
    higher = evaluations[0].metric.higher_is_better
    portable = score is mean_score
    metric = replace(MEAN, name=name, score=score, stat_names=stat_names, higher_is_better=higher, portable=portable)
    title = f"{name}, mean of {len(evaluations)} tasks"
    labels = {"clusters": clusters, "strata": strata, "runs": runs}
    return replace(
        evaluations[0], stats=stats, ids=ids, metric=metric, notes=(), title=title, weights=1.0 / sizes, **labels
    )


def _labels(label: str, tasks: Sequence[str], evaluations: Sequence[EvaluationRecord]) -> tuple[str, ...] | None:
    """Return one label for each instance of all tasks: the ids, clusters, strata or runs, as `label` says.

    A label begins with the name of its task, except the labels of runs. Return None if no task has such labels.
    """
    if label != "strata" and all(getattr(each, label) is None for each in evaluations):
        return None
    labels: list[str] = []
    for task, each in zip(tasks, evaluations, strict=True):
        numbers = tuple(str(number) for number in range(1, each.num_instances + 1))
        alone = {"ids": numbers, "clusters": (each.runs and each.ids) or numbers, "runs": ("1",) * len(numbers)}
        given = getattr(each, label) or alone.get(label)
        if label == "runs":
            labels += given or ()
        else:
            labels += [task] * len(numbers) if given is None else [f"{task}: {name}" for name in given]
    return tuple(labels)


def _has_equal_units(evaluation: EvaluationRecord) -> bool:
    """Whether all units (clusters or instances) have equally many instances, so that every draw has the same number."""
    units = evaluation.unit_labels
    return units is None or len(set(Counter(units).values())) == 1


def _weighted(scores: np.ndarray, sizes: np.ndarray, task: np.ndarray) -> tuple[np.ndarray, Score, tuple[str, ...]]:
    """Make statistics of a weighted mean of all instances: the weighted score, and the weight.

    `scores` are `[system, instance]`; `task` `[instance]` is the number of each instance's task, and `sizes`
    `[instance]` the number of instances of this task. Return the statistics `[system, instance, stat]`, the score
    function, and the names of the statistics. The weight is proportional to 1 / n, where n is the number of instances
    of the task.

    These statistics are for tasks whose units have equally many instances. Resamples draw within each task, so the sum
    of the weights is then the same in every resample. Only the weighted score varies, so exact tests are possible.
    """
    multiple = lcm(*np.unique(sizes).tolist())
    whole = (
        bool((scores == np.rint(scores)).all()) and multiple * max(1.0, float(np.abs(scores).max())) < _LARGEST_WEIGHTED
    )
    weights = multiple // sizes if whole else len(sizes) / (len(np.unique(task)) * sizes)
    stats = np.stack(np.broadcast_arrays(scores * weights, weights * 1.0), axis=-1)
    return stats.astype(np.int64) if whole else stats, mean_score, ("value", "count")


def _task_statistics(
    scores: np.ndarray, sizes: np.ndarray, task: np.ndarray
) -> tuple[np.ndarray, Score, tuple[str, ...]]:
    """Make statistics of a mean of task means: a value and a count for each task.

    `scores` are `[system, instance]`; `task` `[instance]` is the number of each instance's task. Return the statistics
    `[system, instance, stat]`, the score function, and the names of the statistics. They are used if draws of clusters
    may change the number of instances of a task.
    """
    count = int(task[-1]) + 1
    stats = np.zeros((*scores.shape, 2 * count))
    instance = np.arange(len(sizes))
    stats[:, instance, 2 * task], stats[:, instance, 2 * task + 1] = scores, 1.0
    whole = bool((stats == np.rint(stats)).all())
    names = tuple(f"{name}{number}" for number in range(1, count + 1) for name in ("value", "count"))
    return stats.astype(np.int64) if whole else stats, mean_of_means, names


def mean_of_means(sums: Array) -> Array:
    """The mean of the task means; the sums `[..., stat]` are, for each task, the sum and the number of values.

    >>> float(mean_of_means(np.array([3.0, 4.0, 1.0, 2.0])))
    0.625
    """
    means = sums[..., ::2] / sums[..., 1::2]
    return means.sum(axis=-1) / means.shape[-1]
