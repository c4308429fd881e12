"""The study `rl` compares agents by their runs on fixed games, as the package rliable does.

It computes aggregate scores, probabilities of improvement, and performance profiles.
"""

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
from sigjax.studies.tost import EquivalenceOptions
from sigjax.studies.trials import ALL, study_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TAUS = 101
_TILE = 2**21
"""A statistic is computed from at most this many bootstrap counts at a time, to limit memory."""


@dataclass(frozen=True, kw_only=True)
class RLOptions:
    """The options of `rl`."""

    read: Mapping[str, Any] | None = same(CompareOptions, "read")
    resamples: int = same(EquivalenceOptions, "resamples", 20_000)
    confidence_level: float = same(Settings, "confidence_level", doc="That of the intervals and bands.")
    seed: int = same(Settings, "seed")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True)
class Aggregate:
    """One aggregate score of a system over all games.

    Attributes:
        system: name of the system.
        metric: "median" (of the mean scores per game), "iqm", "mean" or "optimality-gap".
        score: the aggregate score.
        interval: percentile interval of the stratified bootstrap.
        num_scores: number of scores that are aggregated: all runs on all games.
    """

    system: str
    metric: str
    score: float
    interval: Interval
    num_scores: int


@dataclass(frozen=True)
class Improvement:
    """The probability that a run of system a beats a run of system b on the same game.

    Attributes:
        a: the first system.
        b: the second system.
        probability: P(a > b) + P(a = b) / 2, averaged over games.
        interval: percentile interval of the stratified bootstrap, which draws the runs of a and b independently.
    """

    a: str
    b: str
    probability: float
    interval: Interval


@dataclass(frozen=True)
class Profile:
    """Performance profile of a system: the fraction of runs whose score is above each threshold.

    Attributes:
        system: name of the system.
        fractions: one fraction for each of `RL.thresholds`.
        bands: intervals of the fractions, pointwise (not simultaneous).
    """

    system: str
    fractions: tuple[float, ...]
    bands: tuple[Interval, ...]


@dataclass(frozen=True, repr=False)
class RL(Result):
    """Result of `rl`: systems compared by their runs on fixed games.

    Attributes:
        aggregates: four aggregates for each system.
        improvements: one entry per pair of systems.
        thresholds: score thresholds of the profiles.
        profiles: one profile per system.
        num_games: number of games.
        num_scores: number of scores per system.
        confidence_level: confidence level of the intervals and bands.
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
        """The document has the system with the highest IQM, the table of aggregates, and the table of pairs."""
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
        """Yield the height and the drawing function of each panel: first the profiles, then the improvements."""
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
    r"""Aggregate the runs of agents on fixed games, as rliable does.

    Let $x_{g,r}$ be the score of run r on game g. Each system gets four aggregates: the median over games of the mean
    score, the interquartile mean (IQM) of all scores, the mean, and the optimality gap, which is the mean of $\max(1 -
    x, 0)$. Each system also gets a performance profile: the fraction of scores above each threshold $\tau$. Each pair
    gets the probability of improvement $\frac{1}{G} \sum_g P(X_g > Y_g)$ over G games; ties count half. Intervals are
    percentile intervals of a bootstrap that draws runs within each game.

    Args:
        data: what `compare` takes, with one stratum per game: `read={"strata": "game", "runs": "run"}`.
        options: the fields of `RLOptions`, as keyword arguments.

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
    if not evaluation.metric.higher_is_better:
        raise InputError("rl takes scores of which higher ones are better; change the sign of scores that count errors")
    if evaluation.strata is None or evaluation.runs is not None or evaluation.clusters is not None:
        names = f"{Hint('strata', 'GAME')} and {Hint('runs', 'RUN')}"
        raise InputError(f"rl takes runs within games: name the columns of both with {names}")
    unit, strata = units_of_instances(evaluation)
    scores = evaluation.stats[:, np.argsort(unit), 0].astype(np.float64)
    low, high = np.quantile(scores, (0.025, 0.9)).tolist()
    thresholds = np.linspace(low, high, _TAUS)  # quantiles, because a few games may have scores far above all others
    ends = np.array([0.5 - options.confidence_level / 2, 0.5 + options.confidence_level / 2])

    def summarized(statistic: Callable[..., np.ndarray], *streams: np.ndarray) -> list[tuple[float, Interval]]:
        """Return the values of a statistic on the data, each with its bootstrap interval.

        Each of `streams` is an independent set of bootstrap resamples: counts `[resample, unit]`. `statistic` takes the
        counts of all streams, and returns its values, `[resample]` or `[resample, value]`.
        """
        observed = np.ravel(statistic(*(np.ones((1, len(strata)), np.int32) for _ in streams)))
        step = max(1, _TILE // len(strata))
        parts = [statistic(*(s[i : i + step] for s in streams)) for i in range(0, options.resamples, step)]
        limits = np.quantile(np.concatenate(parts).reshape(options.resamples, -1), ends, axis=0).T
        return [(value, Interval(*pair)) for value, pair in zip(observed.tolist(), limits.tolist(), strict=True)]

    # The runs of two systems are not paired, so the second system of a pair has independent draws.
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
        # Counts are whole numbers, exact in single precision; fractions need double precision.
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
    """Return a dict from the name of each aggregate to a function that computes it for resamples.

    The function maps bootstrap counts `[resample, unit]` to the aggregate `[resample]` of the scores `values` `[unit]`.
    A unit is a run on a game, and `strata` `[unit]` are the games.
    """
    starts, sizes = np.flatnonzero(np.diff(strata, prepend=-1)), np.bincount(strata)
    gaps = np.maximum(1.0 - values, 0.0)
    return {
        "median": lambda counts: np.median(np.add.reduceat(counts * values, starts, axis=1) / sizes, axis=1),
        "iqm": lambda counts: iqm(values, counts),
        "mean": lambda counts: counts @ values / len(values),
        "optimality-gap": lambda counts: counts @ gaps / len(values),
    }


def _improved(scores: np.ndarray, strata: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function from the bootstrap counts `[resample, unit]` of two systems, a and b, to P(a > b) `[resample]`.

    Ties count half. `scores` `[2, unit]` are the scores of a and b; a unit is a run on a game, and `strata` `[unit]`
    are the games.
    """
    games: Sequence[np.ndarray] = np.split(np.arange(len(strata)), np.flatnonzero(np.diff(strata)) + 1)
    ahead = [(np.sign(scores[0][g][:, None] - scores[1][g]) + 1.0) / 2.0 / len(g) ** 2 for g in games]

    def probability(of_a: np.ndarray, of_b: np.ndarray) -> np.ndarray:
        each = (((of_a[:, g] @ m) * of_b[:, g]).sum(axis=1) for g, m in zip(games, ahead, strict=True))
        return sum(each) / len(games)  # pyright: ignore[reportReturnType]

    return probability
