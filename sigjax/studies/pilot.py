"""Trials: systems made at random from the units of an evaluation.

The units of a trial are drawn from those of the evaluation, or their outputs are swapped, or they are dealt into two
halves. Trials take their random numbers from resamples that no test reaches, so trials and tests share none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sigjax.comparison.validate import check_units
from sigjax.metrics import check_score, less, origins
from sigjax.records import Evaluation, InputError, Metric
from sigjax.resample.bits import row_keys, words
from sigjax.resample.plans import Draws, drawn_units, swap
from sigjax.units.units import Units, make_units, observed_scores

_FIRST_ROW = 2**41
"""Trial r has the random words of resample 2^41 + r; tests have fewer resamples."""

Maker = Callable[[np.ndarray], np.ndarray]
"""Trials `[trial]` (int64) -> statistics `[trial, system, unit, stat]` (int64), in the fixed point of the units."""


class Pilot(NamedTuple):
    """Systems on the units from which trials are made."""

    names: tuple[str, ...]
    metric: Metric
    units: Units


def select_pair(evaluation: Evaluation, systems: Sequence[str] | None) -> Evaluation:
    """The evaluation of two systems, which need no names if there are only two.

    Raises:
        InputError: not two systems, or an unknown name.
    """
    names = evaluation.systems if systems is None else tuple(systems)
    if len(names) != 2:
        raise InputError(
            f"a study takes two systems, got {len(names)} ({', '.join(names[:12])}); name two of them (--systems)"
        )
    return select(evaluation, names)


def select(evaluation: Evaluation, systems: Sequence[str] | None) -> Evaluation:
    """The evaluation of some systems, or of all.

    Raises:
        InputError: no name, an unknown name, or a name twice.
    """
    names = evaluation.systems if systems is None else tuple(systems)
    if not names or len(set(names)) < len(names):
        raise InputError(f"name one or more different systems (systems), got {', '.join(names) or 'none'}")
    for name in names:
        if name not in evaluation.systems:
            raise InputError(f"{name!r} is not a system; expected some of {', '.join(evaluation.systems[:12])}")
    rows = [evaluation.systems.index(name) for name in names]
    return replace(evaluation, systems=names, stats=evaluation.stats[rows])


def on_instances(evaluation: Evaluation, chosen: np.ndarray | slice, **changes: Any) -> Evaluation:
    """The evaluation on some instances (positions), with some changes."""
    index = np.arange(evaluation.num_instances)[chosen]
    labels = {
        name: tuple(own[i] for i in index.tolist())
        for name in ("ids", "clusters", "strata", "runs")
        if (own := getattr(evaluation, name)) is not None
    }
    return replace(evaluation, **({"stats": evaluation.stats[:, index]} | labels | changes))


def make_pilot(evaluation: Evaluation, *, alone: bool = False) -> Pilot:
    """The units of an evaluation: in pairs, or with the instances of a system in any order (`alone`).

    Raises:
        InputError: a metric that is no function of sums or does not work on the data, or a single unit.
    """
    metric = evaluation.metric
    if not isinstance(metric, Metric):
        raise InputError(f"a study takes metrics of sums, but {metric.name!r} is computed from all instances at once")
    if (nearer := origins(evaluation)) is not None:
        evaluation = less(evaluation, float(nearer.offsets[0])) if alone else nearer.deltas
    units = make_units(evaluation)
    check_units(len(units.strata), "a study")
    check_score(metric, units.unscaled(units.totals))
    return Pilot(evaluation.systems, metric, units)


def winners(pilot: Pilot) -> np.ndarray:
    """1 where the first system of a pair has the higher score on all units, -1 where the second has, else 0: `[pair]`.

    Pairs are all pairs, in the order of the data. Scores that differ by no more than rounding are equal.
    """
    scores, errors = observed_scores(pilot.units, pilot.metric)
    a, b = np.triu_indices(len(scores), 1)
    deltas = scores[a] - scores[b]
    return np.where(np.abs(deltas) <= 2.0 * (errors[a] + errors[b]), 0.0, np.sign(deltas))


def swapped(pilot: Pilot, seed: int) -> Maker:
    """Trials in which the outputs of each unit are swapped with probability 1/2: neither system is better."""
    values = pilot.units.values.swapaxes(0, 1)
    draws = Draws(np.zeros(len(values), np.int32), np.zeros(len(values), np.uint64))

    def make(trials: np.ndarray) -> np.ndarray:
        masks = swap(row_keys(seed, _FIRST_ROW + trials), draws, np.bool_)[:, : len(values)]
        return np.where(masks[:, :, None, None], values[:, ::-1], values).swapaxes(1, 2)

    return make


def dealt(strata: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices `[half, pair]` of two halves of units, and the strata `[pair]`; an odd unit is left out.

    The strata of the units, `[unit]`, are ascending; so are those of the pairs, from 0.

    Example:
        >>> dealt(np.array([0, 0, 0, 0, 0, 1, 1]))
        (array([[0, 1, 5],
               [2, 3, 6]]), array([0, 0, 1]))
    """
    half = np.bincount(strata)[strata] // 2
    index = np.arange(len(strata)) - np.searchsorted(strata, strata)
    first = np.flatnonzero(index < half)
    return np.stack([first, first + half[first]]), np.unique(strata[first], return_inverse=True)[1]


def split(pilot: Pilot, system: int, seed: int) -> Maker:
    """Trials of two random halves of the units of one system, paired at random within strata."""
    strata, values = pilot.units.strata.astype(np.uint64), pilot.units.values[system]
    halves, _ = dealt(pilot.units.strata)

    def make(trials: np.ndarray) -> np.ndarray:
        random = words(row_keys(seed, _FIRST_ROW + trials), len(values) + len(values) % 2)[:, : len(values)]
        order = np.argsort(strata << np.uint64(32) | random, axis=1, kind="stable")
        return values[order[:, halves]]

    return make


def drawn(pilot: Pilot, seed: int, strata: np.ndarray) -> Maker:
    """Trials of units drawn with replacement from the strata `[unit]`, which are ascending."""
    own = pilot.units.strata
    start = np.searchsorted(own, strata)
    draws = Draws(start.astype(np.int32), (np.searchsorted(own, strata, side="right") - start).astype(np.uint64))

    def make(trials: np.ndarray) -> np.ndarray:
        chosen = drawn_units(row_keys(seed, _FIRST_ROW + trials), draws)
        return pilot.units.values[:, chosen].swapaxes(0, 1)

    return make


def allotted(strata: np.ndarray, size: int) -> np.ndarray:
    """The strata of `size` units, in proportion to those of `strata` `[unit]` (ascending): `[size]`, ascending.

    Units that rounding down leaves over go to the strata with the largest remainders (Hamilton).

    Example:
        >>> allotted(np.array([0, 0, 0, 1]), 6)
        array([0, 0, 0, 0, 0, 1])
    """
    whole, rest = np.divmod(np.bincount(strata) * size, len(strata))
    whole[np.argsort(-rest, kind="stable")[: size - whole.sum()]] += 1
    return np.repeat(np.arange(len(whole)), whole)
