"""Runs of agents on games that are fixed, as rliable sees them: aggregates, probabilities of improvement, profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sigjax.comparison.options import CompareOptions
from sigjax.metrics.columns import iqm
from sigjax.metrics.ratios import MEAN
from sigjax.records import EvaluationRecord, Hint, InputError, Interval, Settings
from sigjax.records.options import check, same, takes
from sigjax.report.document import Block, Document
from sigjax.report.panels import GREY, LOOKS, PALETTE, label_rows, plain, row_height, set_words
from sigjax.report.report import Result
from sigjax.report.words import count, format_interval, number_spec, percent
from sigjax.resample.draws import bootstrap, draws_from_strata, row_keys
from sigjax.resample.units import units_of_instances
from sigjax.studies.study import PANEL, plot_panels, study_signature, table_of
from sigjax.studies.trials import ALL, study_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TAUS = 101
_TILE = 2**21
"""Counts that are drawn at a time."""


@dataclass(frozen=True, kw_only=True)
class RLOptions:
    """The options of `rl`."""

    read: Mapping[str, Any] | None = same(CompareOptions, "read")
    resamples: int = same(Settings, "resamples", 20_000, doc="Number of bootstrap resamples.")
    confidence_level: float = same(Settings, "confidence_level", doc="That of the intervals and bands.")
    seed: int = same(Settings, "seed")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True)
class Aggregate:
    """The scores of a system on all games in one number.

    Attributes:
        system: its name.
        metric: "median" (of the mean scores of games), "iqm", "mean" or "optimality-gap".
        score: the number.
        interval: percentile interval of the stratified bootstrap.
        num_scores: number of scores, of all runs on all games.
    """

    system: str
    metric: str
    score: float
    interval: Interval
    num_scores: int


@dataclass(frozen=True)
class Improvement:
    """How likely a run of one system beats one of another on a game.

    Attributes:
        a: the first system.
        b: the other.
        probability: that a run of a is above one of b, ties half, averaged over games.
        interval: percentile interval of the stratified bootstrap, which draws the runs of a and of b by themselves.
    """

    a: str
    b: str
    probability: float
    interval: Interval


@dataclass(frozen=True)
class Profile:
    """The fraction of runs whose score is above each threshold.

    Attributes:
        system: its name.
        fractions: one per threshold.
        bands: their intervals, for each threshold alone.
    """

    system: str
    fractions: tuple[float, ...]
    bands: tuple[Interval, ...]


@dataclass(frozen=True, repr=False)
class RL(Result):
    """Runs of systems on games that are fixed.

    Attributes:
        aggregates: system by system.
        improvements: pair by pair.
        thresholds: those of the profiles.
        profiles: system by system.
        num_games: number of games.
        num_scores: number of scores of a system.
        confidence_level: that of intervals and bands.
        signature: one line that reproduces the numbers.
    """

    rows = "aggregates"

    aggregates: tuple[Aggregate, ...]
    improvements: tuple[Improvement, ...]
    thresholds: tuple[float, ...]
    profiles: tuple[Profile, ...]
    num_games: int
    num_scores: int
    confidence_level: float
    signature: str

    def document(self) -> Document:
        """Who leads, a table of aggregates, and one of pairs."""
        level = percent(self.confidence_level)
        spec = number_spec([each.score for each in self.aggregates])
        rows = [(a.system, a.metric, f"{a.score:{spec}}", format_interval(a.interval, spec)) for a in self.aggregates]
        scores = f"{count(self.num_scores, 'score')} per system on {count(self.num_games, 'task')}"
        lines: list[Block] = [f"{scores}, which are fixed", ""]
        lines.append(table_of(("system", "metric", "score", f"{level} interval"), rows, (0,)))
        pairs = [(p.a, p.b, f"{p.probability:.3f}", format_interval(p.interval, ".3f")) for p in self.improvements]
        if pairs:
            lines += ["", "probability of improvement: a run of a is above one of b, ties half; mean over tasks", ""]
            lines.append(table_of(("a", "b", "P(a > b)", f"{level} interval"), pairs, (0, 1)))
        lines += [
            "median: of the means of tasks. Intervals: stratified bootstrap, runs drawn within tasks; too short for "
            "few runs (sigjax help designs). p: sigjax compare -m iqm, with the same options",
            self.signature,
        ]
        by_iqm = [each for each in self.aggregates if each.metric == "iqm"]
        first = max(by_iqm, key=lambda each: each.score)
        verdict = f"{first.system} has the highest IQM: {first.score:{spec}} {format_interval(first.interval, spec)}"
        return Document("Reliable comparison of runs", scores, verdict, lines)

    plot = plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """The profiles, and the probabilities of improvement."""
        yield PANEL, self._draw_profiles
        if self.improvements:
            yield max(PANEL, row_height(len(self.improvements)) * len(self.improvements)), self._draw_improvements

    def _draw_profiles(self, axes: Axes) -> None:
        for k, profile in enumerate(self.profiles):
            color = PALETTE[k % len(PALETTE)]
            style = "-" if k < len(PALETTE) else "--"
            axes.plot(self.thresholds, profile.fractions, style, color=color, linewidth=1, label=plain(profile.system))
            axes.fill_between(self.thresholds, *np.array(profile.bands).T, color=color, alpha=0.2, linewidth=0)
        axes.set_ylim(0.0, 1.02)
        set_words(axes, "performance profiles", "threshold", "fraction of runs above")

    def _draw_improvements(self, axes: Axes) -> None:
        color, marker = LOOKS[0]
        rows = range(len(self.improvements))
        axes.plot([p.probability for p in self.improvements], rows, marker, color=color, markersize=3.5)
        axes.hlines(rows, *np.array([p.interval for p in self.improvements]).T, color=color, linewidth=1.2)
        axes.axvline(0.5, color=GREY, linewidth=0.6, linestyle="--")
        label_rows(axes, [f"{p.a} > {p.b}" for p in self.improvements])
        set_words(axes, "probability of improvement", "P(a > b)")


@takes(RLOptions)
def rl(data: Any, options: RLOptions) -> RL:
    r"""Aggregate the runs of agents on games that are fixed, as rliable does.

    Of the scores $x_{g,r}$ of a system: the median of the means of games, the interquartile mean of all scores, their
    mean, and the optimality gap, the mean of $\max(1 - x, 0)$. Of each pair the probability of improvement
    $\frac{1}{G} \sum_g P(X_g > Y_g)$, ties half; and of each system its performance profile, the fraction of scores
    above $\tau$. Intervals are percentile intervals of the bootstrap that draws runs within each game.

    Args:
        data: what `compare` takes, with one stratum per game: `read={"strata": "game", "runs": "run"}`.
        options: see `RLOptions`.

    Raises:
        InputError: the data are not runs within strata, or an option cannot be used.

    Reference: Agarwal et al. (2021), "Deep reinforcement learning at the edge of the statistical precipice".

    Example:
        >>> from sigjax import Evaluation
        >>> scores = {"A": [1, 2, 3, 7, 8, 9], "B": [2, 0, 1, 9, 5, 4]}
        >>> games, runs = ["pong"] * 3 + ["qbert"] * 3, [1, 2, 3] * 2
        >>> study = rl(Evaluation.from_arrays(scores, ids=games, strata=games, runs=runs), resamples=100)
        >>> round(study.improvements[0].probability, 4), study.aggregates[1].metric, study.aggregates[1].score
        (0.75, 'iqm', 5.0)
    """
    check(options)
    (evaluation, *others) = study_data(data, options.read, ALL, progress=options.progress)
    if others or evaluation.metric.stat_names != MEAN.stat_names:
        raise InputError(f"rl takes one score per run, and aggregates them itself; leave {Hint('metric')} out")
    if evaluation.strata is None or evaluation.runs is not None or evaluation.clusters is not None:
        names = f"{Hint('strata', 'GAME')} and {Hint('runs', 'RUN')}"
        raise InputError(f"rl takes runs within games: name the columns of both with {names}")
    unit, strata = units_of_instances(evaluation)
    scores = evaluation.stats[:, np.argsort(unit), 0].astype(np.float64)
    low, high = np.quantile(scores, (0.025, 0.9)).tolist()
    thresholds = np.linspace(low, high, _TAUS)  # a few games have scores far above all others
    ends = np.array([0.5 - options.confidence_level / 2, 0.5 + options.confidence_level / 2])

    def summarized(statistic: Callable[..., np.ndarray], *streams: np.ndarray) -> list[tuple[float, Interval]]:
        """The statistic `[row] or [row, value]` of the scores, with intervals."""
        observed = np.ravel(statistic(*(np.ones((1, len(strata)), np.int32) for _ in streams)))
        step = max(1, _TILE // len(strata))
        parts = [statistic(*(s[i : i + step] for s in streams)) for i in range(0, options.resamples, step)]
        limits = np.quantile(np.concatenate(parts).reshape(options.resamples, -1), ends, axis=0).T
        return [(value, Interval(*pair)) for value, pair in zip(observed.tolist(), limits.tolist(), strict=True)]

    # Runs of two systems are not paired: those of the second one have draws of their own.
    draws = draws_from_strata(strata)
    first, second = (
        np.asarray(bootstrap(row_keys(seed, np.arange(options.resamples)), draws, np.int32))[:, : len(strata)]
        for seed in (options.seed, (options.seed + 1) % 2**64)
    )
    aggregates, profiles = [], []
    for name, values in zip(evaluation.systems, scores, strict=True):
        for metric, statistic in _statistics(values, strata).items():
            aggregates.append(Aggregate(name, metric, *summarized(statistic, first)[0], len(strata)))
        above = (values[:, None] > thresholds).astype(np.float32)
        # Whole numbers in single precision, but their fractions in double.
        curve = summarized(
            lambda counts, above=above: (counts.astype(np.float32) @ above).astype(np.float64) / len(strata), first
        )
        profiles.append(Profile(name, *map(tuple, zip(*curve, strict=True))))
    improvements = [
        Improvement(
            evaluation.systems[a],
            evaluation.systems[b],
            *summarized(_improved(scores[[a, b]], strata), first, second)[0],
        )
        for a, b in combinations(range(len(scores)), 2)
    ]
    return RL(
        aggregates=tuple(aggregates),
        improvements=tuple(improvements),
        thresholds=tuple(thresholds.tolist()),
        profiles=tuple(profiles),
        num_games=int(strata[-1]) + 1,
        num_scores=len(strata),
        confidence_level=options.confidence_level,
        signature=_signature(evaluation, options, strata),
    )


def _signature(evaluation: EvaluationRecord, options: RLOptions, strata: np.ndarray) -> str:
    numbers = {"systems": len(evaluation.systems), "scores": len(strata), "strata": int(strata[-1]) + 1}
    return study_signature("rl", options, metric=evaluation.metric.name, **numbers)


def _statistics(values: np.ndarray, strata: np.ndarray) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """The aggregates of scores `[unit]` by name, as functions of counts `[row, unit]`."""
    starts, sizes = np.flatnonzero(np.diff(strata, prepend=-1)), np.bincount(strata)
    gaps = np.maximum(1.0 - values, 0.0)
    return {
        "median": lambda counts: np.median(np.add.reduceat(counts * values, starts, axis=1) / sizes, axis=1),
        "iqm": lambda counts: iqm(values, counts),
        "mean": lambda counts: counts @ values / len(values),
        "optimality-gap": lambda counts: counts @ gaps / len(values),
    }


def _improved(scores: np.ndarray, strata: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The probability of improvement of two systems `[system, unit]` by the counts `[row, unit]` of both."""
    games: Sequence[np.ndarray] = np.split(np.arange(len(strata)), np.flatnonzero(np.diff(strata)) + 1)
    ahead = [(np.sign(scores[0][g][:, None] - scores[1][g]) + 1.0) / 2.0 / len(g) ** 2 for g in games]

    def probability(of_a: np.ndarray, of_b: np.ndarray) -> np.ndarray:
        each = (((of_a[:, g] @ m) * of_b[:, g]).sum(axis=1) for g, m in zip(games, ahead, strict=True))
        return sum(each) / len(games)  # pyright: ignore[reportReturnType]

    return probability
