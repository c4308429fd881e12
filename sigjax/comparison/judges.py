"""How far a judge can be trusted: its agreement with people, and whether it errs alike on all systems.

Both are computed on the labelled instances of `ppi`; what is drawn at random are units (instances or clusters of them),
with the labels of all systems on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from sigjax.comparison.analysis import Draft
from sigjax.metrics import METRICS
from sigjax.records import EvaluationRecord, Note
from sigjax.records.settings import adjust
from sigjax.report.words import first_of
from sigjax.resample.units import units_of_instances
from sigjax.testing.p_values import t_quantile, t_tail

_NAMED = 10
"""Pairs that a note names."""


def judge_notes(draft: Draft) -> Iterator[str]:
    """How well the judge of `ppi` agrees with people; a warning where it errs differently on some systems."""
    evaluation, settings = draft.evaluation, draft.settings
    if evaluation.metric.stat_names != METRICS["ppi"].stat_names:
        return  # a metric of the same name
    if estimates := agreement(evaluation, settings.level):
        what = ", ".join(f"{name} {value:.3f} [{low:.3f}, {high:.3f}]" for name, value, low, high in estimates)
        about = (
            f"with {settings.level:.0%} intervals, over {int(evaluation.stats[..., 0].sum()):,} labels of all systems"
        )
        yield Note(f"agreement of the judge with people: {what} ({about})", about=draft.metric)
    errors = list(error_differences(evaluation))
    adjusted = adjust(np.array([p for *_, p in errors]), "holm").tolist() if errors else ()
    differ = sorted((p, k) for k, p in enumerate(adjusted) if p < settings.alpha)
    if differ:
        named = [f"{errors[k][2]:+.3g} for {errors[k][0]} - {errors[k][1]} (adjusted p {p:.2g})" for p, k in differ]
        yield (
            f"warning: {draft.metric}: the judge errs differently on these systems, so comparing its scores alone is "
            f"biased, by: {first_of(named, _NAMED)}; {draft.metric} corrects for it (t test of judge - human, Holm)"
        )


def agreement(evaluation: EvaluationRecord, level: float) -> list[tuple[str, float, float, float]]:
    """The agreement of judge and people over all labels: (name, value, low, high); none where it is undefined.

    Of labels 0 and 1 accuracy and Cohen's kappa, else Pearson's r. Intervals are t by the delete-one jackknife of the
    labelled units, and end at -1 or 0, and 1. Reference: Efron and Tibshirani (1993), "An introduction to the
    bootstrap", chapter 11.

    >>> from sigjax import Evaluation
    >>> labels = {"A": [[1, 1], [0, 0], [1, 0], [0, 0]], "B": [[1, 1], [1, 1], [0, 0], [0, 1]]}
    >>> [(name, value) for name, value, *_ in agreement(Evaluation.from_arrays(labels, metric="ppi"), 0.95)]
    [('accuracy', 0.75), ('kappa', 0.5)]
    """
    labelled, human, judge, unit = _labels(evaluation)
    is_label = bool(np.isin([human[labelled], judge[labelled]], (0, 1)).all())
    if not is_label:  # sums of squares cancel less
        human, judge = (np.where(labelled, each - each[labelled].mean(), 0.0) for each in (human, judge))
    terms = labelled, human, judge, human * judge, human**2, judge**2
    sums = np.stack([np.bincount(unit, each.sum(axis=0)) for each in terms])
    sums = sums[:, sums[0] > 0]
    number, total = sums.shape[1], sums.sum(axis=1, keepdims=True)
    estimates = []
    for name, values in _measures(np.concatenate([total, total - sums], axis=1), is_label=is_label).items():
        if number >= 3 and np.isfinite(values).all():
            error = np.sqrt((number - 1) / number * np.square(values[1:] - values[1:].mean()).sum())
            value, reach = float(values[0]), t_quantile(level, number - 1.0) * float(error)
            least = 0.0 if name == "accuracy" else -1.0
            estimates.append((name, value, max(value - reach, least), min(value + reach, 1.0)))
    return estimates


@np.errstate(all="ignore")
def _measures(sums: np.ndarray, *, is_label: bool) -> dict[str, np.ndarray]:
    """Measures of agreement `[row]` of sums `[6, row]`: labels, human, judge, their product and squares."""
    number, human, judge, product, of_human, of_judge = sums
    if is_label:
        accuracy = 1.0 - (human + judge - 2.0 * product) / number
        chance = human / number * (judge / number) + (1.0 - human / number) * (1.0 - judge / number)
        return {"accuracy": accuracy, "kappa": (accuracy - chance) / (1.0 - chance)}
    squares = (of_human - human**2 / number) * (of_judge - judge**2 / number)
    return {"Pearson's r": (product - human * judge / number) / np.sqrt(squares)}


def error_differences(evaluation: EvaluationRecord) -> Iterator[tuple[str, str, float, float]]:
    """Of pairs of systems with common labels, (a, b, mean difference, p) of the judge's error, judge - human.

    On instances that are labelled for both; p is two-sided, of the paired t test, or of its form for clusters (residual
    sums of the clusters, with as many degrees of freedom as there are clusters less one); 1 where all is rounding.

    >>> from sigjax import Evaluation
    >>> labels = {"A": [[1, 0.5], [0, 0.2], [1, 0.9]], "B": [[1, 1], [1, 1], [0, 0.1]]}
    >>> [(a, b, apart, p)] = error_differences(Evaluation.from_arrays(labels, metric="ppi"))
    >>> a, b, round(apart, 4), round(p, 4)
    ('A', 'B', -0.1667, 0.4975)
    """
    labelled, human, judge, unit = _labels(evaluation)
    rounding = 1e-12 * np.maximum(np.abs(human), np.abs(judge)).max(axis=1)
    for a, b in combinations(range(len(labelled)), 2):
        both = labelled[a] & labelled[b]
        counts = np.bincount(unit, both)
        if (number := np.count_nonzero(counts)) < 3:
            continue
        apart = np.where(both, judge[a] - human[a] - judge[b] + human[b], 0.0)
        mean = float(apart.sum() / counts.sum())
        residual = np.bincount(unit, apart) - mean * counts
        error = float(np.sqrt(number / (number - 1) * np.square(residual).sum()) / counts.sum())
        least = float(max(rounding[a], rounding[b]))
        p = t_tail(mean / max(error, least), number - 1.0, "two-sided") if max(error, abs(mean)) > least else 1.0
        yield evaluation.systems[a], evaluation.systems[b], mean, p


def _labels(evaluation: EvaluationRecord) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which instances are labelled, labels and the judge's scores, 0 elsewhere, `[system, instance]`; and the units."""
    labelled, human, judge = np.moveaxis(evaluation.stats, -1, 0)[[0, 2, 3]].astype(float)
    return labelled > 0, human, judge, units_of_instances(replace(evaluation, present=None))[0]
