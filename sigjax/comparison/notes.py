"""Notes: facts that readers of the numbers should know, one sentence each.

A rule is a function that makes notes from a metric's evaluation, the settings and the finished tables; it contains the
words of its notes. `NOTES` and `NOTES_OF_RESULTS` list the rules in the order in which reports show the notes. Notes on
judges (models that score answers) use the labelled instances of the metric `ppi`. They treat units (instances, or
clusters of them) as random draws, each with the labels of all systems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations

import numpy as np

from sigjax.comparison.analysis import complete_subsets, run_variances
from sigjax.comparison.chosen import best_of_many
from sigjax.metrics import METRICS
from sigjax.multiple.decisions import most_resamples
from sigjax.multiple.discoveries import real_differences, wins
from sigjax.records import (
    CORRECTIONS,
    DESIGNS,
    Columns,
    Comparisons,
    EvaluationRecord,
    Metric,
    Note,
    Settings,
    Test,
)
from sigjax.records.metric import is_pooled
from sigjax.records.settings import adjust
from sigjax.report.words import IDENTICAL, count, first_of, percent, real_sentence
from sigjax.resample.units import units_of_instances
from sigjax.run.context import gib, memory_for
from sigjax.testing.intervals import INTERVALS
from sigjax.testing.problem import exact_budget, in_common
from sigjax.testing.special import scipy_special, t_quantile, t_tail
from sigjax.testing.tilted import least_cost

_NAMED = 10
"""A note names at most this many pairs; the report has all pairs."""
_TASKS = 4
"""A note names at most this many tasks."""
_ROUNDING, _LOOKED_AT = 2.0**-20, 1000
"""`_ROUNDING`: differences between two systems count as rounding if none is larger than this fraction of the systems'
largest statistic (in absolute value). `_LOOKED_AT`: at most this many pairs are checked for such differences."""
_MODELS = 0.001
"""Limit for the p-value of the F test in `_varies_by_run`. Below it, a note warns that the runs seem to be trained
models."""
_FEW_LABELS = 20
"""Smallest number of human labels of a system for which intervals of the metric `ppi` keep their level in simulations
(benchmarks/README.md)."""
_FEW_UNITS, _FEW_DIFFERENCES = 30, 5
_FEW_DEGREES = 10.0
_FEW_TASKS = 3
"""Smallest number of tasks in a suite for which a note counts the tasks on which a system is better."""


Rule = Callable[[EvaluationRecord, Settings, Mapping[Test, Comparisons], Columns], Iterable[str]]
"""Type of a function that returns notes. It takes an evaluation by a metric, the settings, a dict from each test to its
table of pairs, and the table of systems.

In the table of systems, the best system comes first. All tables have the columns `tests.FACTS`. A rule may ignore the
last arguments (`*_`)."""


def notes_of(
    evaluations: Sequence[EvaluationRecord],
    pairs: Comparisons,
    systems: Columns,
    settings: Settings,
    *,
    of_suite: bool,
) -> tuple[str, ...]:
    """Return the notes of a report without repetition.

    `pairs` and `systems` are the finished tables. If several tasks of a suite have the same note, it appears once, with
    the names of the tasks.
    """
    groups, named, notes = pairs.groups(), systems.column("metric"), list[tuple[str, list[str]]]()
    for number, evaluation in enumerate(evaluations):
        name = evaluation.metric.name
        by_test: dict[Test, Comparisons] = {test: groups[name, test] for test in settings.tests}
        own = systems.at(named.mapped(name.__eq__))
        of_data, of_results = (
            [note for rule in rules for note in rule(evaluation, settings, by_test, own)]
            for rules in (NOTES, NOTES_OF_RESULTS)
        )
        of_report = [] if number else _reach(evaluations, settings, groups, of_suite=of_suite)
        notes.append((name, [*of_data, *of_report, *of_results]))
    of_families = [*_discoveries(settings, groups)]
    if of_suite:
        of_families += _wins(evaluations, settings, groups)
    notes.append(("", of_families))
    if of_suite:
        return merged(notes)
    return tuple(dict.fromkeys(note for _, of_metric in notes for note in of_metric))


def _units_of(pairs: Mapping[Test, Comparisons], systems: Columns) -> list[int]:
    """The different numbers of units in the tables of pairs and systems; there are several if results are missing."""
    tables: list[Columns] = [next(iter(pairs.values())), systems]
    return [units for table in tables for (units,) in table.distinct("units")]


def merged(notes: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the notes of several metrics without repetition; `notes` has the name and the notes of each metric.

    Notes that differ only in the name of the metric become one note with all names.

    >>> few = {name: Note("few", about=name) for name in ("x: acc", "y: acc")}
    >>> merged([(name, [note, "odd"]) for name, note in few.items()])
    ('x: acc, y: acc: few', 'odd')
    """
    of_whom: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for name, of_metric in notes:
        for note in of_metric:
            about = [name] if name and isinstance(note, Note) and note.about == name else []
            alone = Note(note.text, code=note.code, values=note.values) if isinstance(note, Note) and about else note
            of_whom.setdefault(str(alone), []).extend(about)
            first.setdefault(str(alone), alone)
    merged_notes = []
    for text, names in of_whom.items():
        few = [*names[:_TASKS], f"{len(names) - _TASKS} more"] if len(names) > _TASKS else names
        merged_notes.append(Note.after(", ".join(few), first[text]) if names else first[text])
    return tuple(merged_notes)


def _identical_systems(evaluation: EvaluationRecord, *_: object) -> list[str]:
    """Notes that name each group of systems with the same statistics on every instance."""
    groups: dict[bytes, list[str]] = {}
    held = evaluation.stats if evaluation.present is None else np.dstack([evaluation.stats, evaluation.present])
    for name, statistics in zip(evaluation.systems, held, strict=True):
        groups.setdefault(statistics.tobytes(), []).append(name)
    return [
        f"{IDENTICAL} ({evaluation.metric.name}): {', '.join(names)}" for names in groups.values() if len(names) > 1
    ]


def _rounding(
    evaluation: EvaluationRecord, settings: Settings, pairs: Mapping[Test, Comparisons], *_: object
) -> list[str]:
    """A note that names the pairs whose results differ only by rounding on every instance."""
    names = []
    if evaluation.stats.dtype.kind == "f" and evaluation.present is None:
        index = {name: i for i, name in enumerate(evaluation.systems)}
        for one in pairs[settings.tests[0]].at(slice(_LOOKED_AT)):
            a, b = (evaluation.stats[index[name]] for name in (one.a, one.b))
            if 0.0 < np.abs(a - b).max() <= _ROUNDING * max(np.abs(a).max(), np.abs(b).max()):
                names.append(f"{one.a} - {one.b}")
    text = (
        "warning: systems differ only by rounding (32-bit numbers, or sums in another order), by less than a millionth "
        "on every instance; round the scores first"
    )
    return [f"{text}: {first_of(names, _NAMED)}"] if names else []


def _common_instances(
    evaluation: EvaluationRecord, settings: Settings, pairs: Mapping[Test, Comparisons], *_: object
) -> list[str]:
    """Notes if results are missing: how many instances pairs have in common, and which pairs have none in common."""
    if evaluation.present is None:
        return []
    of_test, index = pairs[settings.tests[0]], {name: i for i, name in enumerate(evaluation.systems)}
    a, b = (of_test.column(name).mapped(index.__getitem__) for name in "ab")
    common = in_common(evaluation.present)
    counts = common[a, b]
    few, many, fewest = int(counts.min()), int(counts.max()), of_test[int(counts.argmin())]
    what = "instances" if evaluation.runs is None else "runs of instances"
    of_all = f"of {evaluation.num_instances:,} {what} ({evaluation.metric.name})"
    named = f"{few:,} ({fewest.a} - {fewest.b}) to {many:,}"
    notes = [f"pairs have {named} {of_all} in common; score_a, score_b and delta are of those"]
    if few == many:
        notes = [f"all pairs have {few:,} {of_all} in common"]
    return notes + _apart(evaluation, common, settings.baseline)


def _apart(evaluation: EvaluationRecord, common: np.ndarray, baseline: str | None) -> list[str]:
    """A note on the pairs that are not compared, because they have no instance in common.

    `common` `[system, system]` are the numbers of common instances. If there is a `baseline`, only its pairs are named.
    """
    apart = np.argwhere(np.triu(common == 0, 1)).tolist()
    names = [(evaluation.systems[i], evaluation.systems[j]) for i, j in apart]
    names = [pair for pair in names if baseline is None or baseline in pair]
    if not names:
        return []
    shown = first_of([f"{a} - {b}" for a, b in names], _NAMED)
    return [f"warning: not compared, since they have no instance in common: {shown}"]


def _judges(evaluation: EvaluationRecord, settings: Settings, *_: object) -> Iterator[str]:
    """Yield a note on how well the judge of the metric `ppi` agrees with people, and warnings.

    A warning says that a system has few labels, or that the judge favours some systems.
    """
    metric = evaluation.metric.name
    if metric != "ppi" or evaluation.metric.stat_names != METRICS["ppi"].stat_names:
        return
    if estimates := agreement(evaluation, settings.confidence_level):
        what = ", ".join(f"{name} {value:.3f} [{low:.3f}, {high:.3f}]" for name, value, low, high in estimates)
        labels = int(evaluation.stats[..., 0].sum())
        over = f"over {labels:,} labels of all systems"
        what = f"{what} (with {settings.confidence_level:.0%} intervals, {over})"
        text = f"agreement of the judge with people: {what}"
        yield Note(text, about=metric, code="labels", values={"labels": labels})
    fewest = int(evaluation.stats[..., 0].sum(axis=1).min())
    if fewest < _FEW_LABELS:
        yield (
            f"warning: {metric}: {count(fewest, 'label')} of a system are few for the interval of its score, "
            f"which may be too short; take {_FEW_LABELS} or more"
        )
    errors = list(error_differences(evaluation))
    adjusted = adjust(np.array([p for *_, p in errors]), "holm").tolist() if errors else ()
    differ = sorted((p, k) for k, p in enumerate(adjusted) if p < settings.alpha)
    if differ:
        named = [f"{errors[k][2]:+.3g} for {errors[k][0]} - {errors[k][1]} (adjusted p {p:.2g})" for p, k in differ]
        yield (
            f"warning: {metric}: the judge errs differently on these systems, so comparing its scores alone is "
            f"biased, on its scale by: {first_of(named, _NAMED)}; {metric} corrects for it (t test of the judge "
            "beside the line of its scores on the labels, Holm)"
        )


def agreement(evaluation: EvaluationRecord, level: float) -> list[tuple[str, float, float, float]]:
    """Measures of agreement between judge and people over all labels, as tuples (name, value, low end, high end).

    For labels 0 and 1, the measures are accuracy and Cohen's kappa; for other labels, Pearson's r. Undefined measures
    are left out. `level` is the confidence level of the intervals. The intervals are from Student's t distribution,
    with the standard error of the delete-one jackknife over the labelled units, and are cut at the smallest and the
    largest possible value. Reference: Efron and Tibshirani (1993), "An introduction to the bootstrap", chapter 11.

    >>> from sigjax import Evaluation
    >>> labels = {"A": [[1, 1], [0, 0], [1, 0], [0, 0]], "B": [[1, 1], [1, 1], [0, 0], [0, 1]]}
    >>> [(name, value) for name, value, *_ in agreement(Evaluation.from_arrays(labels, metric="ppi"), 0.95)]
    [('accuracy', 0.75), ('kappa', 0.5)]
    """
    labelled, human, judge, unit = _labels(evaluation)
    is_label = bool(np.isin([human[labelled], judge[labelled]], (0, 1)).all())
    if not is_label:  # centred numbers: sums of squares cancel less
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
    """Return a dict from the name of each measure of agreement to its values `[row]`.

    `sums` `[6, row]` are the number of labels, and the sums of the human labels, of the judge's scores, of the products
    of both, of the squared labels, and of the squared scores. `is_label` is true if all labels and scores are 0 or 1.
    """
    number, human, judge, product, of_human, of_judge = sums
    if is_label:
        accuracy = 1.0 - (human + judge - 2.0 * product) / number
        chance = human / number * (judge / number) + (1.0 - human / number) * (1.0 - judge / number)
        return {"accuracy": accuracy, "kappa": (accuracy - chance) / (1.0 - chance)}
    squares = (of_human - human**2 / number) * (of_judge - judge**2 / number)
    return {"Pearson's r": (product - human * judge / number) / np.sqrt(squares)}


def error_differences(evaluation: EvaluationRecord) -> Iterator[tuple[str, str, float, float]]:
    r"""Yield how much the judge favours one system, for each pair with common labels: (a, b, mean difference, p).

    On instances that are labelled for both systems, the model of the judge's score is $f = \alpha_s + \beta y +
    \epsilon$, for a human label y and system s: the judge may use another scale than people do. The mean difference is
    $\alpha_a - \alpha_b$ by least squares. p is two-sided, from Student's t distribution with a cluster-robust standard
    error (if there are no clusters, each instance is one). The degrees of freedom are the number of clusters minus 1. p
    is 1 if the differences are only rounding.

    >>> from sigjax import Evaluation
    >>> labels = {"A": [[1, 8], [0, 2], [1, 9]], "B": [[1, 9], [1, 8], [0, 1]]}
    >>> [(a, b, apart, p)] = error_differences(Evaluation.from_arrays(labels, metric="ppi"))
    >>> a, b, round(apart, 4), round(p, 4)
    ('A', 'B', 0.3333, 0.6667)
    """
    labelled, human, judge, unit = _labels(evaluation)
    rounding = 1e-12 * np.maximum(np.abs(human), np.abs(judge)).max(axis=1)
    for a, b in combinations(range(len(labelled)), 2):
        both = labelled[a] & labelled[b]
        of_unit = unit[both]
        if (number := len(np.unique(of_unit))) < 3:
            continue
        y, f = human[[a, b]][:, both], judge[[a, b]][:, both]
        near = y - y.mean(axis=1, keepdims=True)
        square = float((near * near).sum())
        slope = float((near * f).sum()) / square if square > 0.0 else 1.0
        (left, right), (gap, _) = f - slope * y, y.mean(axis=1) - y.mean(axis=1)[::-1]
        mean = float((left - right).mean())
        centred = np.stack([left - left.mean(), right - right.mean()])
        of_slope = (near * centred).sum(axis=0) * (gap * len(of_unit) / square if square > 0.0 else 0.0)
        residual = np.bincount(of_unit, centred[0] - centred[1] - of_slope)
        error = float(np.sqrt(number / (number - 1) * np.square(residual).sum()) / len(of_unit))
        least = float(max(rounding[a], rounding[b])) * max(1.0, abs(slope))
        p = t_tail(mean / max(error, least), number - 1.0, "two-sided") if max(error, abs(mean)) > least else 1.0
        yield evaluation.systems[a], evaluation.systems[b], mean, p


def _labels(evaluation: EvaluationRecord) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return four arrays: a mask of labelled instances, the labels, the judge's scores, and each instance's unit.

    The first three arrays are `[system, instance]`, the units are `[instance]`. Scores and labels are 0 for instances
    without a label.
    """
    labelled, human, judge = np.moveaxis(evaluation.stats, -1, 0)[[0, 2, 3]].astype(float)
    return labelled > 0, human, judge, units_of_instances(replace(evaluation, present=None))[0]


def _repeated_runs(evaluation: EvaluationRecord, settings: Settings, *_: object) -> list[str]:
    """A note on what p generalizes to, if instances have several runs.

    It is a warning if the runs seem to be trained models.
    """
    if evaluation.runs is None or settings.design == "models" or len(set(evaluation.runs)) < 2:
        return []
    instances = f"p and intervals are for new instances ({len(set(evaluation.ids or ())):,} here), with runs as samples"
    remedy = "if the runs are trained models (seeds, fine-tunings), p is too small: add --design models"
    named = any(getattr(note, "code", "") == "models" for note in evaluation.notes)
    if named or _varies_by_run(evaluation) < _MODELS:
        why = "" if named else "some runs are better than others on all instances, as trained models are; "
        return [Note(f"warning: {why}{remedy}; now {instances}", code="trained")]
    return [f"{remedy}; now {instances}"]


def _varies_by_run(evaluation: EvaluationRecord) -> float:
    """The p-value of an F test of the null hypothesis that runs have equal means over all instances.

    The test uses the first statistic. The result is 1 if some run of an instance is missing, so that there is no test.
    """
    runs, instance = (np.unique(labels or (), return_inverse=True)[1] for labels in (evaluation.runs, evaluation.ids))
    shape = instance.max() + 1, runs.max() + 1
    if shape[0] < 2 or evaluation.num_instances != shape[0] * shape[1] or evaluation.present is not None:
        return 1.0
    values = np.empty((len(evaluation.systems), *shape))
    values[:, instance, runs] = evaluation.stats[..., 0]
    values -= values.mean(axis=2, keepdims=True)
    of_runs = values.mean(axis=1, keepdims=True)
    degrees = len(values) * (shape[1] - 1), len(values) * (shape[1] - 1) * (shape[0] - 1)
    residual = float(((values - of_runs) ** 2).sum()) / degrees[1]
    ratio = shape[0] * float((of_runs**2).sum()) / degrees[0] / residual if residual else 0.0
    return float(scipy_special().fdtrc(*degrees, ratio))


def _exchangeable(evaluation: EvaluationRecord, settings: Settings, *_: object) -> list[str]:
    """A note on the assumption of exchangeable outputs, if the score is not a mean of one number per unit."""
    swaps = "permutation" in settings.tests and DESIGNS[settings.design].exchanges != "runs"
    if not swaps or settings.statistic != "delta" or _is_mean(evaluation):
        return []
    is_studentized = (
        isinstance(evaluation.metric, Metric)
        and evaluation.strata is None
        and DESIGNS[settings.design].exchanges == "units"
        and not CORRECTIONS[settings.correction].is_resampled
    )
    action = "add --statistic studentized" if is_studentized else "go by the intervals"
    text = (
        "the permutation test assumes that systems of equal score can exchange their outputs; if they err in different "
        f"ways (one precise, one with high recall), {action}: see sigjax help p-values"
    )
    return [Note(text, about=evaluation.metric.name, code="exchangeable")]


def _is_mean(evaluation: EvaluationRecord) -> bool:
    """Whether systems differ in at most one statistic; the permutation test is then a test of a mean of differences.

    The score rises, or falls, with the sum of this statistic. Swaps do not change the total of both systems' sums.
    """
    if not isinstance(evaluation.metric, Metric):
        return False
    shape = evaluation.stats.shape[:2]
    held = (np.ones(shape, bool) if evaluation.present is None else evaluation.present)[..., None]
    shared = np.where(held, evaluation.stats, -np.inf).max(axis=0)
    return int((held & (evaluation.stats != shared)).any(axis=(0, 1)).sum()) <= 1


def _noise(evaluation: EvaluationRecord, settings: Settings, *_: object) -> list[str]:
    """A note if runs are samples: the shares of runs and of instances in the variance of scores and deltas."""
    found = run_variances(evaluation) if settings.design != "models" else None
    if found is None:
        return []
    shares = f"{found.runs_in_score:.0%} of the variance of a score, and {found.runs_in_delta:.0%} of the variance of a"
    note = f"{shares} delta, come from the runs, the rest from the choice of instances; ICC(1) = {found.icc:.2f}"
    return [Note(note, about=evaluation.metric.name, code="noise", values=asdict(found))]


def _no_precision(
    evaluation: EvaluationRecord, settings: Settings, pairs: Mapping[Test, Comparisons], systems: Columns
) -> list[str]:
    """A note that there are no standard errors and intervals, because there is only one unit."""
    del settings
    if min(_units_of(pairs, systems)) > 1:
        return []
    where = "one unit" if evaluation.present is None else "where there is one unit, p can show nothing"
    return [f"{where}: no standard errors and no intervals"]


def _lone_units(evaluation: EvaluationRecord, settings: Settings, *_: object) -> list[str]:
    """A note that names the strata with only one unit, because they make standard errors and intervals too small."""
    if evaluation.strata is None or (settings.interval == "none" and "bootstrap" not in settings.tests):
        return []
    names = next(filter(None, (_lone(subset.evaluation) for subset in complete_subsets(evaluation, settings))), [])
    if not names:
        return []
    which, verb = f"stratum {names[0]!r}", "has one unit: it never varies"
    if len(names) > 1:
        which, verb = f"{which} and {len(names) - 1} more", "have one unit each: they never vary"
    return [f"{which} {verb} in the bootstrap, so standard errors and intervals are too small"]


def _lone(evaluation: EvaluationRecord) -> list[str]:
    """The names of the strata with only one unit; an empty list if the whole evaluation has only one unit.

    If units are drawn within strata, such a stratum is the same in every resample.
    """
    unit, strata = units_of_instances(evaluation)
    alone = (np.bincount(strata) == 1)[strata[unit]] & (len(strata) > 1)
    labels = evaluation.strata or ()
    return list(dict.fromkeys(label for label, single in zip(labels, alone, strict=True) if single))


def _without_bootstrap_ranks(
    evaluation: EvaluationRecord, settings: Settings, pairs: Mapping[Test, Comparisons], systems: Columns
) -> list[str]:
    """A note that bootstrap ranks are missing, because the replicates of all systems do not fit into memory.

    The list is empty if they fit, if such ranks are not requested, or if there is only one unit.
    """
    num_systems, is_known = len(evaluation.systems), systems.column("bootstrap_ranks").distinct()
    if not settings.leaderboard or is_known or max(_units_of(pairs, systems)) == 1:
        return []
    needed = memory_for(gib((num_systems, settings.fixed_resamples)))
    return [
        f"no bootstrap ranks: they need all {settings.fixed_resamples:,} replicates of "
        f"{num_systems:,} systems; give --memory {needed:g} (GiB) or more, or fewer resamples"
    ]


def _reach(
    evaluations: Sequence[EvaluationRecord],
    settings: Settings,
    groups: Mapping[tuple[str, Test], Comparisons],
    *,
    of_suite: bool,
) -> list[str]:
    """Warnings if significance is impossible, because there are too few resamples, units or runs.

    The notes are about the whole report, and appear once. `groups` is a dict from (metric, test) to the table of pairs.
    `of_suite` is true if the evaluations are tasks of a suite.
    """
    notes, families = list[str](), [list(evaluations)]
    if settings.family != "report":
        families = [[evaluation] for evaluation in evaluations]
    of_what = "pairs of all metrics" if len(families[0]) > 1 else "pairs"
    for family in families:
        joined: dict[Test, Comparisons] = {}
        for test in settings.tests:
            joined[test] = Comparisons.joined([groups[each.metric.name, test] for each in family])
        if not any(table.has_method("montecarlo").any() for table in joined.values()):
            continue
        seconds = [_tilted_budget(each, settings, groups.get((each.metric.name, "permutation"))) for each in family]
        budget = None if None in seconds else max(each for each in seconds if each is not None)
        if budget is not None and budget <= exact_budget(settings):
            pairs, budget = joined["permutation"], None
            if not (pairs.has_method("montecarlo") & (pairs.column("exceed").values == 0)).any():
                joined.pop("permutation")  # no sampled p-value is at its smallest possible value
        notes += out_of_reach(joined, of_what, settings, budget)
    of_family = [[groups[each.metric.name, settings.tests[0]] for each in family] for family in families]
    num_hypotheses = sum(map(len, of_family[0]))
    for family, tables in list(zip(families, of_family, strict=True))[: None if of_suite else 1]:
        fewest = min(units for pairs in tables for (units,) in pairs.distinct("units"))
        named = f"warning: {family[0].metric.name}: " if of_suite and len(families) > 1 else "warning: "
        notes += [note.replace("warning: ", named) for note in too_few_units(fewest, num_hypotheses, settings)]
    if settings.design == "models":
        num_runs = len(set(evaluations[0].runs or ()))  # runs are exchanged as a whole
        least = (0.5 if settings.mid_p else 1.0) / math.comb(2 * num_runs, num_runs)
        notes += _too_few(f"{num_runs} runs of each system", least, num_hypotheses, settings)
    return notes


def _tilted_budget(evaluation: EvaluationRecord, settings: Settings, pairs: Comparisons | None) -> float | None:
    """The budget, in seconds, with which importance sampling can measure p below 1 / (resamples + 1).

    None if importance sampling does not apply.
    """
    plain = settings.method != "auto" or settings.statistic != "delta" or DESIGNS[settings.design].exchanges != "units"
    if plain or pairs is None or not isinstance(evaluation.metric, Metric):
        return None
    sampled = int((pairs.has_method("montecarlo") | pairs.has_method("tilted")).sum())
    return least_cost(sampled, evaluation.num_units, evaluation.stats.shape[2]).seconds


def out_of_reach(
    family: Mapping[Test, Comparisons], of_what: str, settings: Settings, budget: float | None = None
) -> list[str]:
    """Warnings for tests whose Monte Carlo p-values cannot be significant, because there are too few resamples.

    `family` has, for each test, the table of the pairs whose p-values are adjusted together; `of_what` is the noun for
    them. `budget` is the number of seconds with which importance sampling can measure smaller permutation p-values;
    None if it does not apply.
    """
    notes: list[str] = []
    if CORRECTIONS[settings.correction].is_resampled:
        return notes  # the adjusted p-value can be as small as the p-value, however many pairs there are
    for test, pairs in family.items():
        p_values, is_sampled = pairs.column("p_value"), pairs.has_method("montecarlo")
        if not is_sampled.any():
            continue
        drawn = most_resamples(settings) if test == "permutation" else settings.fixed_resamples
        needed = _needed(p_values.values, is_sampled, drawn, settings)
        if drawn < needed:
            sampled = int(is_sampled.sum())
            of_all = "" if sampled == len(pairs) else f" of {len(pairs):,}"
            swaps = budget is not None and test == "permutation"
            tilted = f", or --budget {math.ceil(budget or 0.0)} (importance sampling)" if swaps else ""
            notes.append(
                f"warning: {sampled:,}{of_all} {of_what} cannot become significant at {settings.alpha:.3g} in the "
                f"{test} test with {drawn:,} resamples; use --resamples {needed}{tilted}"
            )
    return notes


def _needed(p_values: np.ndarray, is_sampled: np.ndarray, drawn: int, settings: Settings) -> int:
    """The number of resamples, at least `drawn`, with which the smallest possible sampled p-value is significant.

    `p_values` are the p-values that are adjusted together, and `is_sampled` marks those that come from resamples.
    """
    while True:
        least = 1.0 / (drawn + 1)
        least_p = np.where(is_sampled, least, p_values)
        times = adjust(least_p, settings.correction)[is_sampled].min() / least
        # m / (K + 1) < alpha holds from K = floor(m / alpha) on, except for rounding.
        needed = math.floor(times / settings.alpha * (1.0 + 1e-12))
        if needed <= drawn:
            return drawn
        drawn = needed  # check again: if the least sampled p-value is smaller, fewer exact p-values are below it


def too_few_units(num_units: int, num_hypotheses: int, settings: Settings) -> list[str]:
    """A warning if the p-value of a permutation test with this many units cannot be significant; else an empty list.

    With N units, there are 2^N swaps. The smallest p-value counts one of them; a two-sided test also counts its mirror
    image. `num_hypotheses` is the number of p-values that are adjusted together.

    >>> print(*too_few_units(6, 3, Settings()))
    warning: permutation test: 6 units are too few for a decision at 0.05: p is at least 0.0312,
    adjusted at least 0.0938
    >>> too_few_units(7, 3, Settings())
    []
    """
    swaps = "permutation" in settings.tests and DESIGNS[settings.design].exchanges == "units"
    if not swaps or not settings.has_valid_p or num_units == 1:
        return []
    return _too_few(f"{num_units} units", 2.0**-num_units, num_hypotheses, settings)


def _too_few(what: str, least: float, num_hypotheses: int, settings: Settings) -> list[str]:
    """A warning if even the smallest possible p-value of the permutation test is not significant; else an empty list.

    `least` is the smallest possible one-sided p-value. If the test is two-sided, p is twice as large, because the
    mirror image of an exchange is equally extreme. `what` names the number of units or runs, and `num_hypotheses` is
    the number of p-values that are adjusted together.
    """
    least *= 2 if settings.alternative == "two-sided" else 1
    if least * num_hypotheses < settings.alpha:  # the correction multiplies equal p-values by at most this factor
        return []
    joint = CORRECTIONS[settings.correction].is_resampled
    of_all = least if joint else adjust(np.full(num_hypotheses, least), settings.correction).min()
    if of_all < settings.alpha:
        return []
    adjusted = f", adjusted at least {of_all:.3g}" if of_all > least else ""
    few = f"{what} are too few for a decision at {settings.alpha:.3g}"
    return [f"warning: permutation test: {few}: p is at least {least:.3g}{adjusted}"]


def _stops(
    evaluation: EvaluationRecord, settings: Settings, pairs: Mapping[Test, Comparisons], *_: object
) -> list[str]:
    """Notes if tests stop by themselves: the numbers of resamples at which pairs stopped, and the undecided pairs."""
    if settings.resamples != "auto":
        return []
    metric, tested = evaluation.metric.name, pairs["permutation"]
    sampled = tested.at(tested.column("resamples").where_present)
    numbers, counts = np.unique(sampled.column("resamples").values, return_counts=True)
    ends = list(zip(numbers.tolist(), counts.tolist(), strict=True))
    notes = []
    if len(ends) > 1:
        where = ", ".join(f"{number:,} at {resamples:,}" for resamples, number in ends)
        notes.append(Note(f"resamples at which sampled pairs stopped: {where}", about=metric))
    waiting = sampled.at(np.flatnonzero(~sampled.column("decided").mapped(bool)))
    if len(waiting):
        notes.append(Note(f"undecided at {ends[-1][0]:,} resamples: {_first_pairs(waiting)}", about=metric))
    return notes


def _first_pairs(pairs: Comparisons) -> str:
    """A text with the names of the first pairs, and the number of the other pairs."""
    names = [f"{one.a} - {one.b}" for one in pairs[:_NAMED]]
    return ", ".join(names + [f"and {len(pairs) - _NAMED:,} more"] * (len(pairs) > _NAMED))


def _intervals(
    evaluation: EvaluationRecord, settings: Settings, pairs: Mapping[Test, Comparisons], systems: Columns
) -> list[str]:
    """Notes on intervals: their kind, which are missing, and which are known to miss the true value too often."""
    names = ("standard_error", "interval", "interval_kind", "units", "degrees")
    tables: list[Columns] = [pairs[settings.tests[0]], systems]
    shown = (Columns({name: table.column(name) for name in names}) for table in tables)
    of_pairs, of_systems = (table.at(table.column("standard_error").where_present) for table in shown)
    by_t = _units_by_t(of_pairs, of_systems)
    known = sorted({degrees for _, degrees in by_t})
    are_any = len(of_pairs) + len(of_systems) > 0
    return [
        *(_methods(evaluation.metric.name, settings.interval, of_pairs, of_systems, known) if are_any else ()),
        *(_few_units(by_t) if by_t else ()),
        *_zero_length(of_pairs, of_systems),
        *_missing(settings, of_pairs, of_systems),
    ]


def _units_by_t(*tables: Columns) -> list[tuple[int, float]]:
    """Return the different tuples (number of units, degrees of freedom) of t intervals in these tables, ascending."""
    rows = (row for table in tables for row in table.distinct("units", "degrees"))
    return sorted({(units, degrees) for units, degrees in rows if degrees < math.inf})


def _best_of_many(evaluation: EvaluationRecord, settings: Settings, *_: object) -> Iterable[str]:
    """The note on the best system (see `best_of_many`), unless there are only two systems.

    For two systems, the interval of delta is more informative.
    """
    return best_of_many(evaluation, settings) if len(evaluation.systems) > 2 else ()


def _few_differences(
    evaluation: EvaluationRecord, settings: Settings, pairs: Mapping[Test, Comparisons], systems: Columns
) -> list[str]:
    """A warning with the pairs that differ on so few units that default intervals miss the true value too often."""
    names, count = list[str](), max(_units_of(pairs, systems))
    if evaluation.present is not None or not _units_by_t(systems) or count > _FEW_UNITS:
        return []
    unit, _ = units_of_instances(evaluation)
    sums = np.zeros((len(evaluation.systems), count, evaluation.stats.shape[2]))
    np.add.at(sums, np.s_[:, unit], evaluation.stats)  # pyright: ignore[reportArgumentType]
    index = {name: i for i, name in enumerate(evaluation.systems)}
    for one in pairs[settings.tests[0]]:
        differing = int((sums[index[one.a]] != sums[index[one.b]]).any(axis=-1).sum())
        if 0 < differing < _FEW_DIFFERENCES:
            names.append(f"{one.a} - {one.b}")
    if not names:
        return []
    few = f"fewer than five of the {count} units differ for {first_of(names, _NAMED)}"
    remedy = "there 95% intervals can miss the truth in up to 40% of test sets, so go by p"
    return [f"warning: {evaluation.metric.name}: {few}; {remedy}"]


def _contradictions(
    evaluation: EvaluationRecord, settings: Settings, pairs: Mapping[Test, Comparisons], *_: object
) -> list[str]:
    """Notes that name pairs whose interval excludes 0 on the tested side, although adjusted p is not significant."""
    notes = list[str]()
    for test, of_test in pairs.items():
        ends, joint, p_value, p_adjusted = of_test.arrays("interval", "joint_pairs", "p_value", "p_adjusted")
        above = (ends[:, 0] > 0.0) & (settings.alternative != "less")
        below = (ends[:, 1] < 0.0) & (settings.alternative != "greater")
        # an interval that is not simultaneous may exclude 0 although the adjusted p-value is not significant
        agrees = (joint > 1) | (p_adjusted == p_value)
        rows = np.flatnonzero((above | below) & agrees & (p_adjusted >= settings.alpha))
        if not rows.size:
            continue
        by = f" by the {test} test" if len(pairs) > 1 else ""
        adjusted = "adjusted p" if len(of_test) > 1 and settings.correction != "none" else "p"
        names = _first_pairs(of_test.at(rows))
        what = f"interval without 0, but {adjusted}{by} not below {settings.alpha:.3g}: {names}"
        notes.append(Note(f"{what}; both are approximations, so go by p", about=evaluation.metric.name))
    return notes


def _methods(metric: str, interval: str, pairs: Columns, systems: Columns, known: Sequence[float]) -> list[str]:
    """Notes on the kind of the intervals, if the option `interval` does not name it, and whether they are simultaneous.

    `known` are the degrees of freedom of t intervals, ascending.
    """
    notes = []
    of_systems, of_pairs = (table.column("interval_kind").distinct() for table in (systems, pairs))
    if "wilson" in of_systems or "tango" in of_pairs:
        notes.append(Note("intervals of scores are Wilson's, those of deltas Tango's (score intervals)", about=metric))
    if known:
        low, high = (f"{end:,.0f}" if end >= 100 else f"{end:.3g}" for end in (known[0], known[-1]))
        degrees = f"{low if low == high else f'{low} to {high}'} degree{'' if high == '1' else 's'} of freedom"
        by_t = f"intervals: jackknife standard error, t with {degrees}, corrected for skewness (for deltas, the"
        notes.append(Note(f"{by_t} correction only widens them)", about=metric))
    if interval == "auto" and "percentile" in of_systems:
        apart = "; those of deltas are simultaneous" if "simultaneous" in of_pairs else ""
        notes.append(Note(f"intervals are percentile intervals of the bootstrap{apart}", about=metric))
    return [*notes, *filter(None, [INTERVALS[interval].note])]


def _few_units(by_t: Sequence[tuple[int, float]]) -> list[str]:
    """Notes if there are so few units that default intervals miss the true value too often, or are wide.

    `by_t` has, for t intervals, each different number of units with its degrees of freedom.
    """
    notes = []
    units = min(by_t)[0]
    if units <= _FEW_UNITS:
        notes.append(
            f"{units} units are few: where the numbers, or the differences of two systems, are strongly skewed "
            "(lognormal), 95% intervals miss the truth in 10% with 10 units and 7 to 8% with 30"
        )
    unequal = [(degrees, units) for units, degrees in by_t if 0.0 < degrees < min(_FEW_DEGREES, (units - 1) / 2)]
    if unequal:
        degrees, units = min(unequal)
        notes.append(
            f"a few units hold most of the data: {units} units count like {degrees + 1.0:.2g} equal ones, so intervals "
            "are wide"
        )
    return notes


def _zero_length(pairs: Columns, systems: Columns) -> list[str]:
    """A note on how many systems and pairs have an interval of zero width."""
    whom = _counted(pairs, systems, lambda errors, ends: (ends[:, 0] == ends[:, 1]) & (errors == 0.0))
    if not whom:
        return []
    return [f"intervals of width zero for {whom}: all units are alike here; this does not mean that they always are"]


def _missing(settings: Settings, pairs: Columns, systems: Columns) -> list[str]:
    """A note on how many systems and pairs have no interval, and why."""
    whom = _counted(pairs, systems, lambda errors, ends: np.isnan(ends[:, 0]) & ~np.isnan(errors))
    if not whom:
        return []
    why = INTERVALS[settings.interval].missing
    return [f"no interval of this kind for {whom}: {why}; --interval percentile has one"]


def _counted(pairs: Columns, systems: Columns, holds: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> str:
    """A text with the numbers of systems and of pairs whose standard error and interval satisfy `holds`."""
    tables = {"system": systems, "pair": pairs}
    counts = {noun: int(holds(*table.arrays("standard_error", "interval")).sum()) for noun, table in tables.items()}
    return " and ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for noun, n in counts.items() if n)


def _discoveries(settings: Settings, groups: Mapping[tuple[str, Test], Comparisons]) -> Iterator[str]:
    """Yield a note with the lower bounds on real differences, for each family of the permutation test.

    A family is a set of pairs whose p-values are adjusted together. There is no note on a family with fewer than two
    significant differences. If the correction bounds the familywise error, there is also none if the lower bound on the
    real differences among all pairs equals the number of significant differences.
    """
    if sum(len(pairs) for (_, test), pairs in groups.items() if test == "permutation") < 2:
        return
    familywise = CORRECTIONS[settings.correction].bounds == "familywise"
    for found in real_differences(groups, settings):
        if found.significant < 2 or (familywise and found.real_of_all == found.significant):
            continue
        values = {name: value for name, value in vars(found).items() if name != "metric"}
        about = "" if settings.family == "report" else found.metric or ""
        yield Note(real_sentence(found, settings.confidence_level), about=about, code="discoveries", values=values)


def _wins(
    evaluations: Sequence[EvaluationRecord], settings: Settings, groups: Mapping[tuple[str, Test], Comparisons]
) -> Iterator[str]:
    """Yield notes with lower bounds on the number of tasks of a suite on which one system is truly better.

    There are such notes for two systems, or for a comparison with a baseline.
    """
    if "permutation" not in settings.tests or not settings.has_valid_p or settings.alternative != "two-sided":
        return
    score = evaluations[0].metric.name.rpartition(": ")[2]
    tasks = [
        each
        for each in evaluations
        if each.metric.name.rpartition(": ")[2] == score and not is_pooled(each.metric.name, each.title)
    ]
    pairs = groups[evaluations[0].metric.name, "permutation"]
    if len(tasks) < _FEW_TASKS or (settings.baseline is None and len(pairs) > 1):
        return
    of_tasks = [groups[each.metric.name, "permutation"] for each in tasks]
    p_values = np.stack([each.column("p_value").values for each in of_tasks], axis=1)
    leads = np.array(
        [[0 if one.better is None else 1 if one.better == one.a else -1 for one in each] for each in of_tasks]
    ).T
    found_of = wins(p_values, leads, settings.alpha)
    for a, b, found in zip(pairs.values("a"), pairs.values("b"), found_of, strict=True):
        if said := found.sentence(a, b, "tasks"):
            sure = f"{percent(settings.confidence_level)} confidence (closed testing; see `sigjax help discoveries`)"
            yield Note(f"{said}, with {sure}", code="wins", values={"tasks": len(tasks), **found._asdict()})


NOTES: tuple[Rule, ...] = (
    lambda evaluation, *_: evaluation.notes,  # notes on changes that were made while reading the data
    _common_instances,
    _identical_systems,
    _rounding,
    _judges,
    _repeated_runs,
    _exchangeable,
    _noise,
    _no_precision,
    _lone_units,
    _without_bootstrap_ranks,
)
"""The rules on the tested data, in the order of the notes; `_reach` comes after them."""
NOTES_OF_RESULTS: tuple[Rule, ...] = (_stops, _intervals, _few_differences, _contradictions, _best_of_many)
"""The rules on the results of the tests, in the order of the notes."""
