"""All pairs of systems, each with its winner first, and thresholds of gains: how large are those with p near 0.05?

Pairs share systems, so they are not an independent sample. The interval of a threshold is that of new systems: systems
are drawn with replacement, and a pair of two different systems counts as often as both are drawn, $m_a m_b$ times (the
bootstrap of a U-statistic; Bickel and Freedman 1981). The p-values stay those of the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from textwrap import wrap
from typing import Any, Literal

import numpy as np

from sigjax.comparison.checks import check_evaluations, check_together, named_errors
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions
from sigjax.records import (
    Alternative,
    Column,
    Design,
    Device,
    EvaluationRecord,
    InputError,
    Method,
    Settings,
    Test,
    Variant,
)
from sigjax.records.options import option, same, values
from sigjax.report import Report
from sigjax.report.words import DASH, percent
from sigjax.resample.draws import Draws, row_keys
from sigjax.studies.study import WIDTH
from sigjax.studies.trials import select
from sigjax.testing.problem import problem_of

_FIRST_ROW = 2**41 + 2**40
"""Draw r of the systems has the random words of resample 2^41 + 2^40 + r, which neither tests nor trials reach."""
_PART = 2**22
"""Weights in memory at a time."""

WIDE = (0.001, 0.25)
"""Lowest and highest p of pairs whose gains are moved."""
FEWEST = 9
"""Resamples at least as extreme behind a sampled p that moves a gain; with fewer, p says little of how large it is."""
_NORMAL = NormalDist()

Among = Literal["all", "same group", "different groups"]
Gained = Literal["range", "normal"]
"""Which gains a threshold is made of: those of pairs in the range of p, or of more pairs, moved to it."""


@dataclass(frozen=True)
class Threshold:
    """The gain that most pairs with p near 0.05 do not exceed.

    Attributes:
        among: the pairs: "all", those of the "same group", or those of "different groups".
        gain: the quantile of the gains of the pairs in the range of p; None where no pair is there.
        low: lower end of its interval for other systems like these; None where fewer than half of the draws of systems
            have a pair in the range.
        high: upper end; None as for `low`, and where effective pairs are fewer than `PairsOptions.least_pairs`.
        num_pairs: number of pairs that it is made of.
        effective_pairs: how many independent pairs would say as much; fewer, since pairs share systems.
        num_systems: number of systems in these pairs.
        num_all: number of pairs at any p.
    """

    among: Among
    gain: float | None
    low: float | None
    high: float | None
    num_pairs: int
    effective_pairs: float
    num_systems: int
    num_all: int


@dataclass(frozen=True)
class ThresholdDifference:
    """By how much the threshold of pairs of different groups is above that of pairs of the same group.

    Attributes:
        difference: threshold of different groups minus threshold of the same group.
        low: lower end of its interval, from the same draws of systems; None where that of a threshold that it depends
            on is None.
        high: upper end, in the same way.
        differ: whether the interval leaves out 0.
    """

    difference: float
    low: float | None
    high: float | None
    differ: bool


def system_draws(seed: int, num_systems: int, count: int) -> np.ndarray:
    """How often each system is drawn, `[draw, system]`: as many draws with replacement as there are systems."""
    draws = Draws(np.zeros(num_systems, np.int32), np.full(num_systems, num_systems, np.uint64))
    drawn = draws.drawn(row_keys(seed, _FIRST_ROW + np.arange(count)))
    rows = np.arange(count)[:, None] * num_systems
    return np.bincount((rows + drawn).ravel(), minlength=count * num_systems).reshape(count, num_systems)


def _on_draws(
    members: np.ndarray, gains: np.ndarray, draws: np.ndarray, quantile: float, gain: float
) -> tuple[np.ndarray, np.ndarray]:
    """The quantile of the gains, and the share of those up to `gain`, on each draw of systems `[draw, system]`.

    Each is `[draw]`; NaN where no pair was drawn.
    """
    (a, b), upto = members.T, int(np.searchsorted(gains, gain, side="right"))
    quantiles, shares, step = np.empty(len(draws)), np.empty(len(draws)), max(1, _PART // len(a))
    for start in range(0, len(draws), step):
        part = slice(start, start + step)
        weights = draws[part, a] * draws[part, b]
        total = weights.sum(axis=1)
        quantiles[part] = weighted_quantiles(gains, weights, quantile)
        shares[part] = weights[:, :upto].sum(axis=1) / np.where(total > 0, total, np.nan)
    return quantiles, shares


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, quantile: float) -> np.ndarray:
    """The quantile of ascending values `[value]`, each counted as often as its weight `[row, value]` says: `[row]`.

    It lies between two values in order, as in `numpy.quantile`; NaN in rows without weight.

    >>> weighted_quantiles(np.array([1.0, 2.0, 4.0]), np.array([[1, 1, 1], [2, 0, 1], [0, 0, 0]]), 0.75)
    array([3. , 2.5, nan])
    """
    cumulative = np.cumsum(weights, axis=1)
    rank = quantile * (cumulative[:, -1] - 1.0)
    low, high = (
        values[np.minimum((cumulative <= each[:, None]).sum(axis=1), len(values) - 1)]
        for each in (np.floor(rank), np.ceil(rank))
    )
    return np.where(rank < 0.0, np.nan, low + (rank - np.floor(rank)) * (high - low))


def ends_of(drawn: np.ndarray, level: float) -> tuple[float | None, float | None]:
    """The percentile interval of a number on draws `[draw]`; no ends where more than half of them are NaN."""
    defined = drawn[~np.isnan(drawn)]
    if 2 * len(defined) < len(drawn):
        return None, None
    low, high = np.quantile(defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return low, high


def make_threshold(
    among: Among, members: np.ndarray, gains: np.ndarray, draws: np.ndarray, num_all: int, options: PairsOptions
) -> tuple[Threshold, np.ndarray]:
    """The threshold of some pairs, and what it is on each draw of systems, `[draw]`.

    `members` are `[pair, 2]`, `gains` `[pair]`, ascending, of `num_all` pairs at any p; `draws` are `[draw, system]`.
    """
    num_pairs = len(gains)
    if not num_pairs:
        return Threshold(among, None, None, None, 0, 0.0, 0, num_all), np.full(len(draws), np.nan)
    gain = float(weighted_quantiles(gains, np.ones((1, num_pairs), int), options.quantile)[0])
    drawn, shares = _on_draws(members, gains, draws, options.quantile, gain)
    effective = effective_pairs(gains <= gain, shares)
    low, high = ends_of(drawn, options.confidence_level)
    high = high if effective >= options.least_pairs else None
    return Threshold(among, gain, low, high, num_pairs, effective, len(np.unique(members)), num_all), drawn


def effective_pairs(upto: np.ndarray, drawn: np.ndarray) -> float:
    r"""How many independent pairs would say as much: $s (1 - s) / v$, and not more than there are.

    `upto` `[pair]`: whether a gain is at most the threshold; s is their share, and v the variance of this share on
    draws of systems, `drawn` `[draw]`.

    >>> effective_pairs(np.arange(100) < 95, np.array([0.93, 0.95, 0.97]))
    100.0
    >>> round(effective_pairs(np.arange(100) < 95, np.array([0.85, 0.95, 1.0])), 1)
    12.2
    """
    share, defined = float(upto.mean()), drawn[~np.isnan(drawn)]
    variance = float(np.var(defined)) if len(defined) else 0.0
    most = float(len(upto))
    return most if share * (1.0 - share) >= most * variance else share * (1.0 - share) / variance


def difference_of(
    same: Threshold, different: Threshold, drawn: tuple[np.ndarray, np.ndarray], level: float
) -> ThresholdDifference | None:
    """How two thresholds differ, from the thresholds `[draw]` of both on the same draws; None where one is missing."""
    if same.gain is None or different.gain is None:
        return None
    low, high = ends_of(drawn[1] - drawn[0], level)
    low, high = low if same.high is not None else None, high if different.high is not None else None
    differ = (low is not None and low > 0.0) or (high is not None and high < 0.0)
    return ThresholdDifference(different.gain - same.gain, low, high, differ)


def few_pairs(numbers: Sequence[float], least_pairs: int) -> list[str]:
    """What a reader should know of thresholds made of such numbers of effective pairs."""
    notes = []
    if 0 in numbers:
        notes.append("no threshold where no pair has a p in the range: widen it (--p-range), or take more systems")
    if any(0 < number < least_pairs for number in numbers):
        notes.append(
            f"a threshold of fewer than {least_pairs} effective pairs tends to be too low, and its interval has no "
            "upper end"
        )
    return notes


Side = Literal["one-sided", "two-sided"]
SIDES: dict[Side, Alternative] = {"one-sided": "greater", "two-sided": "two-sided"}
"""Of tests of the better system of a pair."""


@dataclass(frozen=True, kw_only=True)
class TestedOptions:
    """How studies test all pairs."""

    test: Test | Sequence[Test] = same(Settings, "test", "bootstrap")
    resamples: int = same(Settings, "resamples", doc="Number of Monte Carlo resamples.", more="")
    seed: int = same(Settings, "seed")
    p_range: Sequence[float] = option((0.04, 0.06), "Lowest and highest p of the pairs in question.", above=0, below=1)
    alternative: Side = option("one-sided", "One-sided p-values are those of the better system of each pair.")
    variant: Variant = same(Settings, "variant")
    method: Method = same(Settings, "method")
    mid_p: bool = same(Settings, "mid_p")
    design: Design = same(Settings, "design")
    budget: float | None = same(Settings, "budget")
    memory: float = same(Settings, "memory")
    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True, kw_only=True)
class PairsOptions(TestedOptions):
    """The options of studies of thresholds."""

    p_range: Sequence[float] = same(
        TestedOptions, "p_range", doc="Lowest and highest p of the pairs that a threshold is made of."
    )
    quantile: float = option(0.95, "The threshold is this quantile of their gains.", above=0, below=1)
    confidence_level: float = same(Settings, "confidence_level", doc="Level of the intervals of thresholds.")
    draws: int = option(
        2_000, "Number of resamples of systems behind these intervals.", group="Intervals", least=2, most=100_000
    )

    @property
    def least_pairs(self) -> int:
        r"""The number of pairs from which one of them is likely to be above the true quantile.

        Of n independent pairs none is above it with probability $q^n$. Unless that is at most half of what the interval
        may miss, no interval made of the gains has an upper end that is high enough, and the interval is left open.

        >>> PairsOptions().least_pairs
        72
        """
        return math.ceil(math.log((1.0 - self.confidence_level) / 2.0) / math.log(self.quantile))

    @property
    def signature(self) -> str:
        """What a signature says of thresholds."""
        low, high = self.p_range
        return f"p:{low:g}-{high:g}|quantile:{self.quantile:g}|draws:{self.draws}|level:{self.confidence_level:g}"


def check_range(p_range: Sequence[float]) -> None:
    """Refuse what is not the lowest and the highest p of a range."""
    if len(p_range) != 2 or not p_range[0] < p_range[1]:
        raise InputError(f"p_range must be the lowest and the highest p, such as 0.04 0.06, got {p_range!r}")


def in_ranges(p_values: np.ndarray, p_range: Sequence[float]) -> Iterator[tuple[float, float, np.ndarray]]:
    """A range of p, then those of Table 1 of Berg-Kirkpatrick et al. (2012) with what is below and above.

    Each with its ends and which p-values it holds. Both ends belong to the first; the others hold each p once.

    >>> for low, high, inside in list(in_ranges(np.array([0.0, 0.00125, 0.04]), (0.04, 0.06)))[:3]:
    ...     print(low, high, inside)
    0.04 0.06 [False False  True]
    0.0 0.00125 [ True  True False]
    0.00125 0.0025 [False False False]
    """
    low, high = p_range
    yield low, high, (p_values >= low) & (p_values <= high)
    for low, high in pairwise((0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 1.0)):
        yield low, high, (p_values > low if low else p_values >= low) & (p_values <= high)


def check_pairs(evaluations: Sequence[EvaluationRecord], options: TestedOptions) -> Settings:
    """The settings of the tests; each option by itself has been checked."""
    check_range(options.p_range)
    more = {"alternative": SIDES[options.alternative], "interval": "none", "correction": "none"}
    settings = Settings(**values(options, Settings, **more))
    check_together(settings)
    check_evaluations(evaluations, settings)
    return settings


@dataclass(frozen=True, slots=True)
class PairColumns:
    """All pairs by one metric and test, by position of the systems in the data.

    `members` `[pair, 2]` are winner and loser; `exceed` are resamples at least as extreme, none where p is exact.
    """

    metric: str
    test: Test
    members: np.ndarray
    gains: np.ndarray
    p_values: np.ndarray
    methods: list[str]
    exceed: Column

    def gains_near(
        self, by: Gained, p_range: Sequence[float], alternative: Side, among: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The pairs that a threshold is made of, of some pairs `[pair]` bool: their members, and ascending gains."""
        (low, high), fewest = (p_range, 1) if by == "range" else (WIDE, FEWEST)
        known = ~self.exceed.where_present | (self.exceed.values >= fewest)
        chosen = np.flatnonzero((self.p_values >= low) & (self.p_values <= high) & known & among)
        gains = self.gains[chosen]
        if by == "normal":
            # As many standard errors of delta as the middle of the range has by the normal distribution: g z_p / z_p'.
            sides = 1 if alternative == "one-sided" else 2
            z = np.array([-_NORMAL.inv_cdf(p / sides) for p in self.p_values[chosen].tolist()])
            gains = gains * -_NORMAL.inv_cdf((p_range[0] + p_range[1]) / 2.0 / sides) / z
        order = np.argsort(gains, kind="stable")
        return self.members[chosen[order]], gains[order]


def compared_pairs(
    evaluations: Sequence[EvaluationRecord], settings: Settings, options: TestedOptions
) -> tuple[list[PairColumns], str, int]:
    """Test all pairs by `compare`, metric by metric and test by test; the signature, and the number of units.

    Pairs of one metric share their resamples. One-sided tests are those for the winner, and `compare` tests the first
    system of a pair against the second. So systems are ordered by their scores, equal ones as in the data.
    """
    columns, reports = list[PairColumns](), list[Report]()
    for evaluation in evaluations:
        order = np.argsort(-scores_of(evaluation, settings), kind="stable")
        ordered = select(evaluation, [evaluation.systems[i] for i in order.tolist()])
        how = {"device": options.device, "progress": options.progress}
        reports.append(compare(ordered, **values(settings, **how)))
        columns += _columns(reports[-1], evaluation)
    rest = reports[0].signature.split("|", 1)[1].replace("|alt:greater|", "|alt:one-sided|")
    signature = f"metric:{'+'.join(each.metric.name for each in evaluations)}|{rest}"
    return columns, signature, reports[0].num_units


def scores_of(evaluation: EvaluationRecord, settings: Settings) -> np.ndarray:
    """The score of each system, `[system]`."""
    with named_errors([evaluation], settings):
        return np.array(problem_of(evaluation, settings).hypotheses.scores)


def _columns(report: Report, evaluation: EvaluationRecord) -> list[PairColumns]:
    """The pairs of a report of one metric, test by test."""
    index = {name: position for position, name in enumerate(evaluation.systems)}
    higher, comparisons = evaluation.metric.higher_is_better, report.comparisons
    tests, columns = np.array(comparisons.values("test")), []
    for test in report.settings.tests:
        pairs = comparisons.at(tests == test)
        first, second = (pairs.column(name).mapped(index.__getitem__) for name in ("a", "b"))
        gains, p_values = pairs.arrays("delta", "p_value")
        turned = (gains > 0.0) & (not higher)
        members = np.stack([np.where(turned, second, first), np.where(turned, first, second)], axis=1)
        methods, exceed = pairs.values("method"), pairs.column("exceed")
        columns.append(PairColumns(evaluation.metric.name, test, members, gains, p_values, methods, exceed))
    return columns


def interval_text(low: float | None, high: float | None, spec: str) -> str:
    """An interval, also where one end is open.

    >>> interval_text(0.4, 0.6, ".2f"), interval_text(0.4, None, ".2f")
    ('[0.40, 0.60]', 'at least 0.40')
    """
    if low is not None and high is not None:
        return f"[{low:{spec}}, {high:{spec}}]"
    if low is not None:
        return f"at least {low:{spec}}"
    return DASH if high is None else f"at most {high:{spec}}"


def explained(study: Any) -> list[str]:
    """What a threshold and its interval are."""
    middle = sum(study.p_range) / 2
    return [
        f"threshold: {percent(study.quantile)} of pairs gain no more at {study.alternative} p = {middle:g}",
        "intervals: for other systems like these, on the same instances",
    ]


def made_of(by: Gained, p_range: tuple[float, float]) -> str:
    """Which gains a threshold is made of."""
    low, high = p_range
    if by == "range":
        return f"pairs with p from {low:g} to {high:g}"
    return f"p from {WIDE[0]:g} to {WIDE[1]:g}, gains moved to p = {(low + high) / 2:g}"


def note_lines(study: Any) -> list[str]:
    """The notes, and the signature."""
    return ["", *(line for note in study.notes for line in wrap(f"note: {note}", WIDTH)), study.signature]
