"""Gains: how large is a gain that is significant? All pairs of systems, gain against 1 - p."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from sigjax.comparison.options import ReadingOptions, evaluations_of
from sigjax.readers.options import check_groups, system_groups
from sigjax.records import InputError, Settings, Test
from sigjax.records.options import check, option, takes
from sigjax.report.plots import LOOKS, draw_points, limit_gains, set_words
from sigjax.report.words import count, format_number, metric_title, number_spec, percent
from sigjax.run.context import with_progress
from sigjax.studies.study import PANEL, Study, grouped, in_units, table_text
from sigjax.studies.thresholds import (
    WIDE,
    Among,
    Gained,
    PairColumns,
    PairsOptions,
    Threshold,
    ThresholdDifference,
    check_pairs,
    compared_pairs,
    difference_of,
    explained,
    few_pairs,
    interval_text,
    made_of,
    make_threshold,
    note_lines,
    system_draws,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Path = str | os.PathLike[str]
_LOOKS = {None: (*LOOKS[0], "pair"), True: (*LOOKS[0], "same group"), False: (*LOOKS[1], "different groups")}
"""By whether both systems have the same group."""


@dataclass(frozen=True, kw_only=True)
class GainsOptions(PairsOptions, ReadingOptions):
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
        p_value: the p-value.
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
            0.25, moved to the middle of the range by the normal distribution, $g z_{0.05} / z_p$.
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
    """Gain against 1 - p for all pairs of systems, and the gains that are needed near p = 0.05.

    Attributes:
        systems: all systems, in the order of the data.
        groups: the group of each; None without groups.
        pairs: metric by metric and test by test.
        thresholds: metric by metric and test by test, by the range and by the normal distribution.
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

    def _lines(self) -> list[str]:
        """The thresholds of each metric and test."""
        lines = [f"gains of {count(len(self.systems), 'system')}: {in_units(self)}", *explained(self)]
        header = ("pairs", "all", "used", "effective", "threshold", f"{percent(self.settings.level)} interval")
        for one in self.thresholds:
            spec = number_spec(number for each in one.thresholds for number in (each.gain, each.low, each.high))
            rows = [
                (each.among, f"{each.num_all:,}", f"{each.num_pairs:,}", f"{int(each.effective_pairs):,}")
                + (format_number(each.gain, spec), interval_text(each.low, each.high, spec))
                for each in one.thresholds
            ]
            lines += ["", f"{metric_title(one.metric)}, {one.test} test: {made_of(one.by, self.p_range)}", ""]
            lines += table_text(header, rows, (0,))
            if (between := one.difference) is not None:
                verdict = "the thresholds differ" if between.differ else "not shown to differ"
                interval = interval_text(between.low, between.high, f"+{spec}")
                lines += ["", f"different groups - same group: {between.difference:+{spec}}, {interval}: {verdict}"]
        return [*lines, *note_lines(self)]

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """One panel per metric and test."""
        return ((PANEL, partial(self._draw, fits)) for fits in grouped(self.thresholds, "metric", "test"))

    def _draw(self, fits: list[GainThresholds], axes: Axes) -> None:
        """1 - p against gain, with the thresholds: dashed from the range of p, dotted by the normal distribution."""
        (low, high), metric, test = self.p_range, fits[0].metric, fits[0].test
        pairs = [pair for pair in self.pairs if (pair.metric, pair.test) == (metric, test)]
        axes.axhspan(1.0 - high, 1.0 - low, color="0.85", linewidth=0, zorder=0, label=f"p from {low:g} to {high:g}")
        draw_points(axes, {look: _columns(pairs, {same}) for same, look in _LOOKS.items()})
        limit_gains(axes, *_columns(pairs, {*_LOOKS}), WIDE[0])
        groups, title = (None,) if self.groups is None else (True, False), []
        for fit, style, name in zip(
            fits, ("--", ":"), ("threshold", "threshold by the normal distribution"), strict=True
        ):
            thresholds = fit.thresholds[-len(groups) :]
            for same, each in zip(groups, thresholds, strict=True):
                color, _, among = _LOOKS[same]
                label = name if same is None else f"{name}, {among}"
                if each.gain is not None:
                    axes.axvline(each.gain, color=color, linewidth=1.2, linestyle=style, label=label)
                if each.low is not None and each.high is not None:
                    axes.axvspan(each.low, each.high, color=color, alpha=0.12, linewidth=0, zorder=0)
            gains = ["none" if each.gain is None else f"{each.gain:.3g}" for each in thresholds]
            title.append(f"{name}: {' and '.join(gains)}")
        number = f"{count(len(pairs), 'pair')} of {count(len(self.systems), 'system')}"
        words = "\n".join([f"{metric_title(metric)}, {test} test, {number}", *title])
        set_words(axes, words, "gain of the better system", f"1 − p, {self.alternative}")


def _columns(pairs: Sequence[PairGain], same_group: Set[bool | None]) -> tuple[np.ndarray, np.ndarray]:
    """Gains and p-values `[pair]` of those of the same group, of different ones, or both."""
    chosen = [pair for pair in pairs if pair.same_group in same_group]
    return np.array([pair.gain for pair in chosen]), np.array([pair.p_value for pair in chosen])


@takes(GainsOptions)
@with_progress
def gains(data: Any, options: GainsOptions) -> Gains:
    r"""Relate the gain of one system over another to its p-value, for all pairs of systems on the same resamples.

    The threshold is the 95th percentile of the gains of the pairs with p from 0.04 to 0.06: a larger gain is almost
    always significant on data like these. If scores are means of n normal values, gains near one-sided p = 0.05 are
    1.645 standard errors of delta (two-sided: 1.960). By the normal distribution, gains of pairs with p from 0.001 to
    0.25 are moved to the middle of the range of p. A sampled p-value counts where one resample or more is at least as
    extreme, and moves gains where nine are; others are only known to be small.

    The interval of a threshold is for other systems like these on the same instances: systems are drawn with
    replacement, and pairs of different systems count as often as both are drawn. Pairs share systems and are worth
    fewer independent ones (`effective_pairs`); where these are fewer than 72, the largest of them may well lie below
    the true quantile, and the interval has no upper end. In simulations such intervals of 95% hold the threshold of
    infinitely many systems in 84 to 100% of cases (`benchmarks/calibration/thresholds.py`), those that take pairs for
    independent in 5 to 72%.

    Args:
        data: what `compare` takes: an `Evaluation` or several (one per metric), a dict of arrays, a data frame, a path.
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
    evaluations = evaluations_of(data, options)
    check(options)
    settings = check_pairs(evaluations, options)
    systems = evaluations[0].systems
    groups = _groups(options.groups, systems)
    columns, signature, num_units = compared_pairs(evaluations, settings, options)
    draws = system_draws(settings.seed, len(systems), options.draws)
    thresholds = tuple(_thresholds(tested, by, groups, draws, options) for tested in columns for by in get_args(Gained))
    notes = dict.fromkeys(note for each in evaluations for note in each.notes)
    numbers = [each.effective_pairs for one in thresholds for each in one.thresholds]
    parts = options.signature + ("" if groups is None else f"|groups:{len(set(groups))}")
    return Gains(
        systems=systems,
        groups=groups,
        pairs=tuple(pair for tested in columns for pair in _pairs(tested, systems, groups)),
        thresholds=thresholds,
        p_range=(options.p_range[0], options.p_range[1]),
        quantile=options.quantile,
        draws=options.draws,
        num_instances=evaluations[0].num_instances,
        num_units=num_units,
        alternative=options.alternative,
        notes=(*notes, *few_pairs(numbers, options.least_pairs)),
        settings=settings,
        signature=f"study:gains|{parts}|{signature}",
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


def _is_same(pairs: PairColumns, groups: tuple[str, ...]) -> np.ndarray:
    """Whether both systems of each pair have the same group, `[pair]`."""
    codes = np.unique(groups, return_inverse=True)[1]
    return codes[pairs.members[:, 0]] == codes[pairs.members[:, 1]]


def _thresholds(
    pairs: PairColumns, by: Gained, groups: tuple[str, ...] | None, draws: np.ndarray, options: GainsOptions
) -> GainThresholds:
    """The thresholds of one metric and test, and whether those of groups differ."""
    among_pairs: dict[Among, np.ndarray] = {"all": np.ones(len(pairs.gains), bool)}
    if groups is not None:
        same = _is_same(pairs, groups)
        among_pairs |= {"same group": same, "different groups": ~same}
    made = []
    for among, chosen in among_pairs.items():
        near = pairs.gains_near(by, options.p_range, options.alternative, chosen)
        made.append(make_threshold(among, *near, draws, int(chosen.sum()), options))
    thresholds, drawn = zip(*made, strict=True)
    between = None
    if groups is not None:
        between = difference_of(thresholds[1], thresholds[2], (drawn[1], drawn[2]), options.confidence_level)
    return GainThresholds(pairs.metric, pairs.test, by, thresholds, between)


def _pairs(pairs: PairColumns, systems: tuple[str, ...], groups: tuple[str, ...] | None) -> list[PairGain]:
    same = [None] * len(pairs.gains) if groups is None else _is_same(pairs, groups).tolist()
    columns = zip(
        pairs.members.tolist(), pairs.gains.tolist(), pairs.p_values.tolist(), pairs.methods, same, strict=True
    )
    return [
        PairGain(systems[winner], systems[loser], pairs.metric, pairs.test, gain, p_value, method, is_same)
        for (winner, loser), gain, p_value, method, is_same in columns
    ]
