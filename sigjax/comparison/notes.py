"""Notes: what readers of the numbers should know, one sentence each.

Standard errors as if there were no clusters, which show what the clusters cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.metrics import origins
from sigjax.records import Comparisons, Design, Evaluation, Metric, Note, Settings
from sigjax.resample.units import make_units, units_of_instances
from sigjax.run.host import gib, memory_for
from sigjax.testing.intervals import INTERVALS, Names
from sigjax.testing.jackknife import degrees_of_freedom, delta_method_errors, two_way_errors
from sigjax.testing.problem import Problem, SumsProblem, in_common
from sigjax.testing.uncertainty import Spread

_NAMED = 10
"""Pairs that a note names; the report has all."""
_TASKS = 4
"""Tasks that a note names."""
_FEW_UNITS = 30
_FEW_DEGREES = 10.0


def together(notes: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """The notes of metrics by name, where what begins with the names of several metrics is said once of them all.

    Example:
        >>> few = {name: Note("few", about=name) for name in ("x: acc", "y: acc")}
        >>> together([(name, [note, "odd"]) for name, note in few.items()])
        ('x: acc, y: acc: few', 'odd')
    """
    of_whom: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for name, of_metric in notes:
        for note in of_metric:
            about = [name] if isinstance(note, Note) and note.about == name else []
            alone = Note(note.text, code=note.code, values=note.values) if isinstance(note, Note) and about else note
            of_whom.setdefault(str(alone), []).extend(about)
            first.setdefault(str(alone), alone)
    shown = {text: [*names[:_TASKS], f"{len(names) - _TASKS} more"] for text, names in of_whom.items()}
    return tuple(
        Note.after(", ".join(shown[text] if len(names) > _TASKS else names), first[text]) if names else first[text]
        for text, names in of_whom.items()
    )


def stops(metric: str, found: Comparisons) -> list[str]:
    """For a test that stops by itself, a note on where pairs stopped, and one on those that are not settled."""
    found = found.at(found.column("resamples").where_present)
    numbers, counts = np.unique(found.column("resamples").values, return_counts=True)
    ends = list(zip(numbers.tolist(), counts.tolist(), strict=True))
    notes = []
    if len(ends) > 1:
        where = ", ".join(f"{number:,} at {resamples:,}" for resamples, number in ends)
        notes.append(Note(f"resamples at which sampled pairs stopped: {where}", about=metric))
    waiting = found.at(np.flatnonzero(~found.column("settled").mapped(bool)))
    if len(waiting):
        names = [f"{one.a} - {one.b}" for one in waiting[:_NAMED]]
        names += [f"and {len(waiting) - _NAMED:,} more"] if len(waiting) > _NAMED else []
        notes.append(Note(f"not settled at {ends[-1][0]:,} resamples: {', '.join(names)}", about=metric))
    return notes


def identical_systems(evaluation: Evaluation) -> list[str]:
    """A note for each group of systems with the same statistics on every instance."""
    groups: dict[bytes, list[str]] = {}
    held = evaluation.stats if evaluation.present is None else np.dstack([evaluation.stats, evaluation.present])
    for name, own in zip(evaluation.systems, held, strict=True):
        groups.setdefault(own.tobytes(), []).append(name)
    return [
        f"identical on every instance ({evaluation.metric.name}): {', '.join(names)}"
        for names in groups.values()
        if len(names) > 1
    ]


def common_instances(evaluation: Evaluation, pairs: Comparisons) -> list[str]:
    """Notes on how many instances pairs have in common, where systems lack some, and on those that have none."""
    if evaluation.present is None:
        return []
    position = {name: place for place, name in enumerate(evaluation.systems)}
    a, b = (pairs.column(name).mapped(position.__getitem__) for name in "ab")
    common = in_common(evaluation.present)
    counts = common[a, b]
    few, many, fewest = int(counts.min()), int(counts.max()), pairs[int(counts.argmin())]
    of_all = f"of {evaluation.num_instances:,} instances ({evaluation.metric.name})"
    named = f"{few:,} ({fewest.a} - {fewest.b}) to {many:,}"
    notes = [f"pairs have {named} {of_all} in common; score_a, score_b and delta are of those"]
    if few == many:
        notes = [f"all pairs have {few:,} {of_all} in common"]
    return notes + _apart(evaluation, common, pairs[0].settings.baseline)


def _apart(evaluation: Evaluation, common: np.ndarray, baseline: str | None) -> list[str]:
    """A note on pairs that have no instance in common `[system, system]`, and so no comparison."""
    apart = np.argwhere(np.triu(common == 0, 1)).tolist()
    names = [(evaluation.systems[i], evaluation.systems[j]) for i, j in apart]
    names = [pair for pair in names if baseline is None or baseline in pair]
    if not names:
        return []
    shown = [f"{a} - {b}" for a, b in names[:_NAMED]] + [f"and {len(names) - _NAMED:,} more"] * (len(names) > _NAMED)
    return [f"warning: not compared, since they have no instance in common: {', '.join(shown)}"]


def lone_units(evaluation: Evaluation) -> list[str]:
    """A note on strata with one unit, which every draw within strata takes as it is."""
    if evaluation.strata is None:
        return []
    unit, strata = units_of_instances(evaluation)
    alone = (np.bincount(strata) == 1)[strata[unit]]
    names = list(dict.fromkeys(label for label, single in zip(evaluation.strata, alone, strict=True) if single))
    if not names:
        return []
    which, verb = f"stratum {names[0]!r}", "has one unit: it never varies"
    if len(names) > 1:
        which, verb = f"{which} and {len(names) - 1} more", "have one unit each: they never vary"
    return [f"{which} {verb} in the bootstrap, so standard errors and intervals are too small"]


def without_bootstrap_ranks(num_systems: int, settings: Settings) -> str:
    """A note on replicates that would take too much memory to look at all of them together."""
    needed = memory_for(gib((num_systems, settings.fixed_resamples)))
    return (
        f"no bootstrap ranks: they need all {settings.fixed_resamples:,} replicates of "
        f"{num_systems:,} systems; give --memory {needed:g} (GiB) or more, or fewer resamples"
    )


class Precision(NamedTuple):
    """How precise the scores and deltas of a part of an evaluation are."""

    kinds: Names
    """Of the intervals."""
    num_units: int
    degrees: float
    """Degrees of freedom of intervals by t."""
    systems: list[Spread]
    pairs: list[Spread]


def precision_of(case: Problem, kinds: Names, systems: list[Spread], pairs: list[Spread]) -> Precision:
    """The precision of a case, whose intervals are of these kinds."""
    by_t = kinds.pairs == "wide-t" and isinstance(case, SumsProblem)
    degrees = degrees_of_freedom(case.units.sizes, case.units.strata) if by_t else math.inf
    return Precision(kinds, len(case.units.strata), degrees, systems, pairs)


def interval_notes(metric: str, settings: Settings, parts: Sequence[Precision]) -> list[str]:
    """Notes on the intervals of one metric, from the parts of its evaluation."""
    parts = [one for one in parts if (one.systems + one.pairs)[0].standard_error is not None]
    return [
        *_kinds(metric, settings, parts),
        *_few_units([one for one in parts if one.kinds.pairs == "wide-t"]),
        *_alike([one for one in parts if one.kinds.pairs in ("wide-t", "two-way")]),
        *_missing(settings, parts),
    ]


def _kinds(metric: str, settings: Settings, parts: Sequence[Precision]) -> list[str]:
    """Of which kind intervals are where the option does not say it, and whether they hold together."""
    if not parts:
        return []
    asked, notes = settings.interval, []
    if any(one.kinds.systems == "wilson" for one in parts):
        notes.append(Note("intervals of scores are Wilson's, those of deltas Tango's (score intervals)", about=metric))
    if found := [one.degrees for one in parts if one.degrees < math.inf]:
        low, high = (f"{each:,.0f}" if each >= 100 else f"{each:.3g}" for each in (min(found), max(found)))
        degrees = f"{low if low == high else f'{low} to {high}'} degree{'' if high == '1' else 's'} of freedom"
        by_t = f"intervals are Student's t by the jackknife, {degrees}; corrected for skewness, those of deltas only "
        notes.append(Note(f"{by_t}outwards", about=metric))
    if asked == "auto" and any(one.kinds.pairs == "percentile" for one in parts):
        notes.append(Note("intervals are percentile intervals of the bootstrap", about=metric))
    return [*notes, *filter(None, [INTERVALS[asked].note])]


def _few_units(parts: Sequence[Precision]) -> list[str]:
    """Where intervals of the default kind are known to miss the truth too often, or to be long."""
    notes = []
    units = min((one.num_units for one in parts), default=math.inf)
    if units <= _FEW_UNITS:
        notes.append(
            f"{units} units are few: where the numbers, or the differences of two systems, are strongly skewed "
            "(lognormal), 95% intervals miss the truth in 10% with 10 units and 7 to 8% with 30"
        )
    unequal = [one for one in parts if 0.0 < one.degrees < min(_FEW_DEGREES, (one.num_units - 1) / 2)]
    if unequal:
        worst = min(unequal, key=lambda one: one.degrees)
        notes.append(
            f"units are so unequal in size that {worst.num_units} say as much as {worst.degrees + 1.0:.2g} equal ones: "
            "intervals are long, to hold in the worst case"
        )
    return notes


def _alike(parts: Sequence[Precision]) -> list[str]:
    """How many systems and pairs have an interval by t of no length."""
    whom = _counted(parts, lambda each: each.interval is not None and each.standard_error == 0.0)
    if not whom:
        return []
    return [f"intervals of no length for {whom}: all units are alike, which says nothing of other units"]


def _missing(settings: Settings, parts: Sequence[Precision]) -> list[str]:
    """How many systems and pairs have no interval, and why."""
    whom = _counted(parts, lambda each: each.interval is None and each.standard_error is not None)
    if not whom:
        return []
    why = INTERVALS[settings.interval].missing
    return [f"no interval of this kind for {whom}: {why}; --interval percentile has one"]


def _counted(parts: Sequence[Precision], holds: Callable[[Spread], bool]) -> str:
    """Of how many systems and pairs something holds, in words."""
    counts = [sum(sum(map(holds, own)) for own in spreads) for spreads in zip(*(one[3:] for one in parts), strict=True)]
    return " and ".join(
        f"{number:,} {noun}{'' if number == 1 else 's'}"
        for number, noun in zip(counts, ("system", "pair"), strict=False)
        if number
    )


def unclustered_errors(evaluation: Evaluation, members: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors `[system]` and `[pair]` as if instances were independent; NaN where they are not finite.

    Instances are the units then, or ids with all their runs; where the design draws runs within units (nested), the
    variance between the runs of an id is added, and where runs are trained models both errors are two-way errors.

    Example:
        >>> from sigjax import Evaluation
        >>> values = {"A": [1, 1, 0, 0], "B": [0, 0, 0, 1]}
        >>> clustered = Evaluation.from_arrays(values, clusters=["x", "x", "y", "y"])
        >>> unclustered_errors(clustered, np.array([[0, 1]]), "together")[0].round(6)
        array([0.25    , 0.216506])
    """
    if (nearer := origins(evaluation)) is not None:
        return _errors(nearer.scores, members, design)[0], _errors(nearer.deltas, members, design)[1]
    return _errors(evaluation, members, design)


def _errors(evaluation: Evaluation, members: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """The same of numbers that are not large."""
    metric, pairs = evaluation.metric, [(a, b) for a, b in members.tolist()]
    assert isinstance(metric, Metric)
    if design == "models":
        alone = make_units(replace(evaluation, clusters=None), design)
        of_systems, of_pairs = (
            np.array([one.standard_error for one in found]) for found in two_way_errors(alone, metric.score, pairs)
        )
    else:
        of_systems, of_pairs = delta_method_errors(*_independent(evaluation), metric.score, pairs)
    if design == "nested":
        within = delta_method_errors(*_within(evaluation), metric.score, pairs)
        of_systems, of_pairs = np.hypot(of_systems, within[0]), np.hypot(of_pairs, within[1])
    of_systems[~np.isfinite(of_systems)], of_pairs[~np.isfinite(of_pairs)] = np.nan, np.nan
    return of_systems, of_pairs


def _independent(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, unit, stat]` and strata `[unit]` without the clusters, units of a stratum together."""
    unit, strata = units_of_instances(replace(evaluation, clusters=None))
    stats = evaluation.stats
    values = np.zeros((stats.shape[0], len(strata), stats.shape[2]))
    np.add.at(values.swapaxes(0, 1), unit, stats.swapaxes(0, 1))
    return values, strata


def _within(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, output, stat]`, and the id `[output]` of each as its stratum, outputs of an id together."""
    unit, _ = units_of_instances(replace(evaluation, clusters=None, strata=None))
    order = np.argsort(unit, kind="stable")
    return evaluation.stats[:, order].astype(np.float64), unit[order]
