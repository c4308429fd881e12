"""Gains: how large is a gain that is significant? All pairs of systems, gain against confidence."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from sigjax.comparison.options import list_evaluations
from sigjax.readers.options import check_groups, system_groups
from sigjax.records import Evaluation, InputError, Settings, Test
from sigjax.records.options import check, option, takes
from sigjax.studies.records import Study
from sigjax.studies.thresholds import (
    Among,
    Gained,
    PairColumns,
    PairsOptions,
    Threshold,
    ThresholdDifference,
    check_pairs,
    compared_pairs,
    difference_of,
    few_pairs,
    make_threshold,
    system_draws,
)

Path = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class GainsOptions(PairsOptions):
    """The options of `gains`."""

    groups: Path | Mapping[str, str] | None = option(
        None,
        "Groups of systems: a file with one system and its group per line (tab; comma in .csv).",
        "Or system -> group. Pairs of the same group then have a threshold of their own.",
        group="Main options",
    )


@dataclass(frozen=True)
class PairGain:
    """One pair of systems by one metric and test.

    Attributes:
        winner: the system with the better score; of equal systems the first in the data.
        loser: the other one.
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        gain: |score of the winner - score of the loser|, on the scale of the metric.
        p_value: the p-value; the confidence is 1 - p.
        method: "exact", "dp" or "tree" (exact too), or "montecarlo".
        same_group: whether both systems have the same group; None without groups.
    """

    winner: str
    loser: str
    metric: str
    test: Test
    gain: float
    p_value: float
    method: str
    same_group: bool | None


@dataclass(frozen=True)
class GainThresholds:
    """The thresholds of one metric and test.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        by: "range": from the gains of pairs with p in the range; "normal": from those of all pairs with p from 0.001 to
            0.25, moved to the middle of the range by the normal law, $g z_{0.05} / z_p$.
        thresholds: of all pairs; with groups also of pairs of the same group, and of different groups.
        difference: of the last two; None where there are none.
    """

    metric: str
    test: Test
    by: Gained
    thresholds: tuple[Threshold, ...]
    difference: ThresholdDifference | None


@dataclass(frozen=True, repr=False)
class Gains(Study):
    """Gain against confidence for all pairs of systems, and the gains that are needed near p = 0.05.

    Attributes:
        systems: all systems, in the order of the data.
        groups: the group of each; None without groups.
        pairs: metric by metric and test by test.
        thresholds: metric by metric and test by test, by the range and by the normal law.
        p_range: lowest and highest p of the pairs that a threshold is made of.
        quantile: the threshold is this quantile of their gains.
        draws: number of draws of systems behind the intervals.
        num_instances: number of instances.
        num_units: number of units (instances, or clusters where there are some).
        alternative: "one-sided" (in favour of the winner) or "two-sided".
        notes: what a reader of the numbers should know.
        settings: of the tests.
        signature: one line that reproduces the numbers.
    """

    rows = "pairs"

    systems: tuple[str, ...]
    groups: tuple[str, ...] | None
    pairs: tuple[PairGain, ...]
    thresholds: tuple[GainThresholds, ...]
    p_range: tuple[float, float]
    quantile: float
    draws: int
    num_instances: int
    num_units: int
    alternative: str
    notes: tuple[str, ...]
    settings: Settings
    signature: str


@takes(GainsOptions)
def gains(evaluation: Evaluation | Sequence[Evaluation], options: GainsOptions) -> Gains:
    r"""Relate the gain of one system over another to its p-value, for all pairs of systems on the same resamples.

    The threshold is the 95th percentile of the gains of the pairs with p from 0.04 to 0.06: a larger gain is almost
    always significant on data like these. If scores are means of n normal values, gains near one-sided p = 0.05 are
    1.645 standard errors of delta (two-sided: 1.960). By the normal law, gains of pairs with p from 0.001 to 0.25 are
    moved to the middle of the range of p. A sampled p-value counts where one resample or more is at least as extreme,
    and moves gains where nine are; others are only known to be small.

    The interval of a threshold is for other systems like these on the same instances: systems are drawn with
    replacement, and pairs of different systems count as often as both are drawn. Pairs share systems and are worth
    fewer independent ones (`effective_pairs`); where these are fewer than 72, the largest of them may well lie below
    the true quantile, and the interval has no upper end. In simulations such intervals of 95% hold the threshold of
    infinitely many systems in 84 to 100% of cases (`benchmarks/calibration/thresholds.py`), those that take pairs for
    independent in 5 to 72%.

    Args:
        evaluation: the statistics of the systems, or several evaluations of the same systems, one per metric.
        options: see `GainsOptions`.

    Raises:
        InputError: an option or the data cannot be used, or systems without group.

    Reference: Berg-Kirkpatrick, Burkett and Klein (2012), "An empirical investigation of statistical significance in
    NLP", section 3.

    Example:
        >>> from sigjax import Evaluation
        >>> scores = {"A": [3, 4, 5, 3, 5, 4], "B": [2, 4, 4, 3, 3, 4], "C": [3, 4, 4, 3, 5, 3]}
        >>> study = gains(Evaluation.from_arrays(scores), test="permutation", p_range=[0.1, 0.3])
        >>> [(one.winner, one.loser, round(one.gain, 3), one.p_value) for one in study.pairs]
        [('A', 'C', 0.333, 0.25), ('A', 'B', 0.667, 0.125), ('C', 'B', 0.333, 0.375)]
        >>> round(study.thresholds[0].thresholds[0].gain, 3)
        0.65
    """
    evaluations = list_evaluations(evaluation)
    check(options)
    settings = check_pairs(evaluations, options)
    systems = evaluations[0].systems
    groups = _groups(options.groups, systems)
    tested = compared_pairs(evaluations, settings, options)
    draws = system_draws(settings.seed, len(systems), options.draws)
    thresholds = tuple(_thresholds(one, by, groups, draws, options) for one in tested.parts for by in get_args(Gained))
    numbers = [each.effective_pairs for one in thresholds for each in one.thresholds]
    parts = options.signature + ("" if groups is None else f"|groups:{len(set(groups))}")
    return Gains(
        systems=systems,
        groups=groups,
        pairs=tuple(pair for one in tested.parts for pair in _pairs(one, systems, groups)),
        thresholds=thresholds,
        p_range=(options.p_range[0], options.p_range[1]),
        quantile=options.quantile,
        draws=options.draws,
        num_instances=evaluations[0].num_instances,
        num_units=tested.num_units,
        alternative=options.alternative,
        notes=(*tested.notes, *few_pairs(numbers, options.law)),
        settings=settings,
        signature=f"study:gains|{parts}|{tested.signature}",
    )


def _groups(given: Path | Mapping[str, str] | None, systems: Sequence[str]) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        groups = given
        check_groups("groups", groups, systems)
    else:
        groups = system_groups(os.fsdecode(given), systems)
    if len(set(groups.values())) == 1:
        raise InputError(f"groups: all systems have the group {groups[systems[0]]!r}; expected two groups or more")
    return tuple(groups[name] for name in systems)


def _is_same(one: PairColumns, groups: tuple[str, ...]) -> np.ndarray:
    """Whether both systems of each pair have the same group, `[pair]`."""
    codes = np.unique(groups, return_inverse=True)[1]
    return codes[one.members[:, 0]] == codes[one.members[:, 1]]


def _thresholds(
    one: PairColumns, by: Gained, groups: tuple[str, ...] | None, draws: np.ndarray, options: GainsOptions
) -> GainThresholds:
    """The thresholds of one metric and test, and whether those of groups differ."""
    kinds: dict[Among, np.ndarray] = {"all": np.ones(len(one.gains), bool)}
    if groups is not None:
        same = _is_same(one, groups)
        kinds |= {"same group": same, "different groups": ~same}
    law = options.law
    found = []
    for among, chosen in kinds.items():
        points = one.points(by, options.p_range, options.alternative, chosen)
        found.append(make_threshold(among, points, draws, int(chosen.sum()), law))
    thresholds, drawn = zip(*found, strict=True)
    between = None if groups is None else difference_of(thresholds[1], thresholds[2], (drawn[1], drawn[2]), law)
    return GainThresholds(one.metric, one.test, by, thresholds, between)


def _pairs(one: PairColumns, systems: tuple[str, ...], groups: tuple[str, ...] | None) -> list[PairGain]:
    same = [None] * len(one.gains) if groups is None else _is_same(one, groups).tolist()
    columns = zip(one.members.tolist(), one.gains.tolist(), one.p_values.tolist(), one.methods, same, strict=True)
    return [
        PairGain(systems[winner], systems[loser], one.metric, one.test, gain, p_value, method, is_same)
        for (winner, loser), gain, p_value, method, is_same in columns
    ]
