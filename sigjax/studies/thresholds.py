"""Thresholds of gains: how large are the gains of pairs whose p is near 0.05, and how sure is that?

Pairs share systems, so they are no independent sample. The interval of a threshold is that of new systems: systems are
drawn with replacement, and a pair of two different systems counts as often as both are drawn, $m_a m_b$ times (the
bootstrap of a U-statistic; Bickel and Freedman 1981). The p-values stay those of the pairs.

Thresholds by the size of the test set, and the laws that they follow, fitted on the log scale.

All pairs of systems by all metrics and tests, each pair with its winner first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from sigjax.comparison.analysis import make_case
from sigjax.comparison.checks import check_evaluations, check_together, named_errors
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions
from sigjax.records import Alternative, Design, Device, Evaluation, InputError, Method, Settings, Test, Variant
from sigjax.records.options import option, same, values
from sigjax.report import Report
from sigjax.resample.draws import Draws, drawn_units, row_keys
from sigjax.studies.trials import select
from sigjax.testing.problem import Runner

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
        high: upper end; None as for `low`, and where effective pairs are fewer than `Law.least_pairs`.
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


class Points(NamedTuple):
    """The pairs that a threshold is made of, by ascending gain."""

    members: np.ndarray
    """[pair, 2] positions of systems."""
    gains: np.ndarray
    """[pair]"""


def system_draws(seed: int, num_systems: int, count: int) -> np.ndarray:
    """How often each system is drawn, `[draw, system]`: as many draws with replacement as there are systems."""
    draws = Draws(np.zeros(num_systems, np.int32), np.full(num_systems, num_systems, np.uint64))
    drawn = drawn_units(row_keys(seed, _FIRST_ROW + np.arange(count)), draws)
    rows = np.arange(count)[:, None] * num_systems
    return np.bincount((rows + drawn).ravel(), minlength=count * num_systems).reshape(count, num_systems)


def on_draws(points: Points, draws: np.ndarray, quantile: float, gain: float) -> tuple[np.ndarray, np.ndarray]:
    """The quantile of the gains, and the share of those up to `gain`, on each draw of systems `[draw, system]`.

    Each is `[draw]`; NaN where no pair was drawn.
    """
    (a, b), upto = points.members.T, int(np.searchsorted(points.gains, gain, side="right"))
    quantiles, shares, step = np.empty(len(draws)), np.empty(len(draws)), max(1, _PART // len(a))
    for start in range(0, len(draws), step):
        part = slice(start, start + step)
        weights = draws[part, a] * draws[part, b]
        total = weights.sum(axis=1)
        quantiles[part] = weighted_quantiles(points.gains, weights, quantile)
        shares[part] = weights[:, :upto].sum(axis=1) / np.where(total > 0, total, np.nan)
    return quantiles, shares


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, quantile: float) -> np.ndarray:
    """The quantile of ascending values `[value]`, each counted as often as its weight `[row, value]` says: `[row]`.

    It lies between two values in order, as in `numpy.quantile`; NaN in rows without weight.

    Example:
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


class Law(NamedTuple):
    """Which quantile is the threshold, and the level of its interval."""

    quantile: float
    level: float

    @property
    def least_pairs(self) -> int:
        r"""The number of pairs from which one of them is likely to be above the true quantile.

        Of n independent pairs none is above it with probability $q^n$. Unless that is at most half of what the interval
        may miss, no interval made of the gains has an upper end that is high enough, and the interval is left open.

        Example:
            >>> Law(0.95, 0.95).least_pairs
            72
        """
        return math.ceil(math.log((1.0 - self.level) / 2.0) / math.log(self.quantile))


def make_threshold(
    among: Among, points: Points, draws: np.ndarray, num_all: int, law: Law
) -> tuple[Threshold, np.ndarray]:
    """The threshold of some pairs, and what it is on each draw of systems, `[draw]`."""
    num_pairs = len(points.gains)
    if not num_pairs:
        return Threshold(among, None, None, None, 0, 0.0, 0, num_all), np.full(len(draws), np.nan)
    gain = float(weighted_quantiles(points.gains, np.ones((1, num_pairs), int), law.quantile)[0])
    drawn, shares = on_draws(points, draws, law.quantile, gain)
    effective = effective_pairs(points.gains <= gain, shares)
    low, high = ends_of(drawn, law.level)
    high = high if effective >= law.least_pairs else None
    return Threshold(among, gain, low, high, num_pairs, effective, len(np.unique(points.members)), num_all), drawn


def effective_pairs(upto: np.ndarray, shares: np.ndarray) -> float:
    r"""How many independent pairs would say as much: $s (1 - s) / v$, and not more than there are.

    Args:
        upto: `[pair]` whether a gain is at most the threshold; s is their share.
        shares: `[draw]` this share on draws of systems; v is its variance.

    Example:
        >>> effective_pairs(np.arange(100) < 95, np.array([0.93, 0.95, 0.97]))
        100.0
        >>> round(effective_pairs(np.arange(100) < 95, np.array([0.85, 0.95, 1.0])), 1)
        12.2
    """
    share, defined = float(upto.mean()), shares[~np.isnan(shares)]
    variance = float(np.var(defined)) if len(defined) else 0.0
    most = float(len(upto))
    return most if share * (1.0 - share) >= most * variance else share * (1.0 - share) / variance


def difference_of(
    same: Threshold, different: Threshold, drawn: tuple[np.ndarray, np.ndarray], law: Law
) -> ThresholdDifference | None:
    """How two thresholds differ, from the thresholds `[draw]` of both on the same draws; None where one is missing."""
    if same.gain is None or different.gain is None:
        return None
    low, high = ends_of(drawn[1] - drawn[0], law.level)
    low, high = low if same.high is not None else None, high if different.high is not None else None
    differ = (low is not None and low > 0.0) or (high is not None and high < 0.0)
    return ThresholdDifference(different.gain - same.gain, low, high, differ)


def moved_gains(gains: np.ndarray, p_values: np.ndarray, p: float, sides: int) -> np.ndarray:
    r"""The gains that pairs would need for this p by the normal law, `[pair]`: $g z_p / z_{p'}$ for a gain g with p'.

    This is $z_p$ standard errors of delta. Two-sided, $z$ is that of half of p.

    Example:
        >>> moved_gains(np.array([2.326348]), np.array([0.01]), 0.05, 1).round(3)
        array([1.645])
    """
    z = np.array([-_NORMAL.inv_cdf(each / sides) for each in p_values.tolist()])
    return gains * -_NORMAL.inv_cdf(p / sides) / z


def few_pairs(numbers: Sequence[float], law: Law) -> list[str]:
    """What a reader should know of thresholds made of such numbers of effective pairs."""
    notes = []
    if 0 in numbers:
        notes.append("no threshold where no pair has a p in the range: widen it (--p-range), or take more systems")
    if any(0 < number < law.least_pairs for number in numbers):
        notes.append(
            f"a threshold of fewer than {law.least_pairs} effective pairs tends to be too low, and its interval has no "
            "upper end"
        )
    return notes


@dataclass(frozen=True)
class ThresholdAt:
    """A threshold at one size of the test set; see `Threshold` in `sigjax.studies.thresholds`.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        by: "range" or "normal", as in `gains`.
        order: which order of the instances, from 0; initial segments have one.
        size: number of instances (or clusters).
        threshold: the quantile of the gains; None where no pair is in the range.
        low: lower end of its interval for other systems like these; None as there.
        high: upper end; None as there.
        num_pairs: number of pairs behind it.
        effective_pairs: how many independent pairs would say as much.
    """

    metric: str
    test: Test
    by: Gained
    order: int
    size: int
    threshold: float | None
    low: float | None
    high: float | None
    num_pairs: int
    effective_pairs: float


@dataclass(frozen=True)
class Fitted:
    """A number from thresholds.

    Attributes:
        value: the number.
        error: its standard error: the standard deviation over the draws of systems (ddof = 1).
        low: lower end of its interval for other systems like these on the same instances; None where fewer than half of
            the draws give the number, and for an exponent where a threshold behind it has no upper end.
        high: upper end; None as for `low`, and always where a threshold behind it has no upper end.
    """

    value: float
    error: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SizeLaw:
    r"""How thresholds t fall with the size n.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        by: "range" or "normal", as in `gains`.
        constant: c of the law $t = c / \sqrt n$, the geometric mean of $t \sqrt n$.
        misfit: root mean square of $\log t - \log(c / \sqrt n)$, about the relative error of this law.
        exponent: e of the law $t = c' n^e$, by least squares of log t on log n; None with one size.
        free_constant: c' of that law; None with one size.
        gain: the gain that is to be significant; None where no system is better than another.
        needed: the size at which the threshold is this gain by the first law, $(c / gain)^2$; None without gain.
    """

    metric: str
    test: Test
    by: Gained
    constant: Fitted
    misfit: float
    exponent: Fitted | None
    free_constant: float | None
    gain: float | None
    needed: Fitted | None


class Drawn(NamedTuple):
    """A threshold, and what it is on each draw of systems."""

    point: ThresholdAt
    drawn: np.ndarray
    """[draw]"""


def fit_law(series: Sequence[Drawn], gain: float | None, level: float) -> SizeLaw | None:
    """The laws of some thresholds; None where there is none."""
    used = [each for each in series if each.point.threshold]
    if not used:
        return None
    first, sizes = used[0].point, np.array([each.point.size for each in used], float)
    observed = np.array([[each.point.threshold for each in used]], float)
    drawn = np.stack([each.drawn for each in used], axis=1)
    bounded = all(each.point.high is not None for each in used)

    def fitted(value: np.ndarray, on_draws: np.ndarray, *, slope: bool = False) -> Fitted:
        low, high = ends_of(on_draws, level)
        low = low if bounded or not slope else None
        defined = on_draws[np.isfinite(on_draws)]
        error = float(np.std(defined, ddof=1)) if len(defined) > 1 else math.nan
        return Fitted(float(value[0]), error, low, high if bounded else None)

    constant, constants = root_law(sizes, observed), root_law(sizes, drawn)
    several = len(set(sizes.tolist())) > 1
    exponent, exponents = (power_law(sizes, each) if several else None for each in (observed, drawn))
    return SizeLaw(
        metric=first.metric,
        test=first.test,
        by=first.by,
        constant=fitted(constant, constants),
        misfit=float(np.sqrt(np.mean(np.log(observed * np.sqrt(sizes) / constant) ** 2))),
        exponent=None if exponent is None or exponents is None else fitted(exponent[0], exponents[0], slope=True),
        free_constant=None if exponent is None else float(exponent[1][0]),
        gain=gain,
        needed=None if gain is None else fitted((constant / gain) ** 2, (constants / gain) ** 2),
    )


def root_law(sizes: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    r"""The constant c of $t = c / \sqrt n$ by least squares of log t, `[row]`; thresholds `[row, size]` may be NaN.

    Example:
        >>> root_law(np.array([100.0, 400.0]), np.array([[0.3, 0.15], [np.nan, 0.2]])).round(6)
        array([3., 4.])
    """
    logs = np.log(np.where(thresholds > 0.0, thresholds, np.nan)) + 0.5 * np.log(sizes)
    return np.exp(_mean(logs))


def power_law(sizes: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""E and c of $t = c n^e$ by least squares of log t on log n, each `[row]`; NaN with fewer than two sizes.

    Example:
        >>> power_law(np.array([10.0, 20.0, 40.0]), np.array([[8.0, 4.0, 2.0]]))[0].round(6)
        array([-1.])
    """
    logs = np.log(np.where(thresholds > 0.0, thresholds, np.nan))
    at = np.where(np.isnan(logs), np.nan, np.log(sizes))
    middle, mean = _mean(at), _mean(logs)
    apart = at - middle[:, None]
    spread = np.nansum(apart**2, axis=1)
    slope = np.nansum(apart * (logs - mean[:, None]), axis=1) / np.where(spread > 0.0, spread, np.nan)
    return slope, np.exp(mean - slope * middle)


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean of each row without NaN, which is NaN where there is nothing else."""
    count = np.count_nonzero(~np.isnan(values), axis=1)
    return np.nansum(values, axis=1) / np.where(count > 0, count, np.nan)


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
    level: float = same(Settings, "level", doc="Level of the intervals of thresholds.")
    draws: int = option(
        2_000, "Number of draws of systems behind these intervals.", group="Intervals", least=2, most=100_000
    )

    @property
    def law(self) -> Law:
        """How thresholds are made."""
        return Law(self.quantile, self.level)

    @property
    def signature(self) -> str:
        """What a signature says of thresholds."""
        return f"p:{self.p_range[0]:g}-{self.p_range[1]:g}|quantile:{self.quantile:g}|draws:{self.draws}"


def check_range(p_range: Sequence[float]) -> None:
    """Refuse what is not the lowest and the highest p of a range.

    Raises:
        InputError: it is not.
    """
    if len(p_range) != 2 or not p_range[0] < p_range[1]:
        raise InputError(f"p_range must be the lowest and the highest p, such as 0.04 0.06, got {p_range!r}")


class Range(NamedTuple):
    """P-values from `low` to `high`, both included, or only `high`."""

    low: float
    high: float
    closed: bool

    def holds(self, p_values: np.ndarray) -> np.ndarray:
        """Which p-values are in the range."""
        above = p_values >= self.low if self.closed else p_values > self.low
        return above & (p_values <= self.high)


def table_ranges(p_range: Sequence[float]) -> list[Range]:
    """A range of p, then those of Table 1 of Berg-Kirkpatrick et al. (2012) with what is below and above.

    Both ends belong to the first; the others hold each p once.

    Example:
        >>> for low, high, closed in table_ranges((0.04, 0.06))[:3]:
        ...     print(low, high, closed)
        0.04 0.06 True
        0.0 0.00125 True
        0.00125 0.0025 False
    """
    table = pairwise((0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 1.0))
    return [Range(p_range[0], p_range[1], closed=True), *(Range(low, high, closed=low == 0.0) for low, high in table)]


def check_pairs(evaluations: Sequence[Evaluation], options: TestedOptions) -> Settings:
    """The settings of the tests; each option by itself has been checked.

    Raises:
        InputError: options or data cannot be used.
    """
    check_range(options.p_range)
    more = {"alternative": SIDES[options.alternative], "interval": "none", "correction": "none"}
    settings = Settings(**values(options, Settings, **more))
    check_together(settings)
    check_evaluations(evaluations, settings)
    return settings


class PairColumns(NamedTuple):
    """All pairs by one metric and test, by position of the systems in the data."""

    metric: str
    test: Test
    members: np.ndarray
    """[pair, 2] winner, loser"""
    gains: np.ndarray
    """[pair] what the winner is better by"""
    p_values: np.ndarray
    """[pair]"""
    methods: list[str]
    """[pair]"""
    exceed: np.ndarray
    """[pair] number of resamples at least as extreme, -1 where p is exact"""

    def points(self, by: Gained, p_range: Sequence[float], alternative: Side, among: np.ndarray) -> Points:
        """The gains that a threshold is made of, of some pairs, `[pair]` bool."""
        (low, high), fewest = (p_range, 1) if by == "range" else (WIDE, FEWEST)
        known = (self.exceed < 0) | (self.exceed >= fewest)
        chosen = np.flatnonzero((self.p_values >= low) & (self.p_values <= high) & known & among)
        gains = self.gains[chosen]
        if by == "normal":
            sides = 1 if alternative == "one-sided" else 2
            gains = moved_gains(gains, self.p_values[chosen], (p_range[0] + p_range[1]) / 2.0, sides)
        order = np.argsort(gains, kind="stable")
        return Points(self.members[chosen[order]], gains[order])


class Tested(NamedTuple):
    """The results of all tests."""

    parts: list[PairColumns]
    """Metric by metric, test by test."""
    num_units: int
    notes: tuple[str, ...]
    signature: str


def compared_pairs(evaluations: Sequence[Evaluation], settings: Settings, options: TestedOptions) -> Tested:
    """Test all pairs by `compare`: those of one metric share their resamples.

    One-sided tests are those for the winner, and `compare` tests the first system of a pair against the second. So
    systems are put in the order of their scores, equal ones in that of the data.
    """
    parts, reports = [], list[Report]()
    for evaluation in evaluations:
        order = np.argsort(-scores_of(evaluation, settings, options.device), kind="stable")
        ordered = select(evaluation, [evaluation.systems[i] for i in order.tolist()])
        how = {"device": options.device, "progress": options.progress}
        reports.append(compare(ordered, **values(settings, **how)))
        parts += _parts(reports[-1], evaluation)
    notes = dict.fromkeys(note for evaluation in evaluations for note in evaluation.notes)
    said = reports[0].signature.split("|", 1)[1].replace("|alt:greater|", "|alt:one-sided|")
    signature = f"metric:{'+'.join(each.metric.name for each in evaluations)}|{said}"
    return Tested(parts, reports[0].num_units, tuple(notes), signature)


def scores_of(evaluation: Evaluation, settings: Settings, device: Device) -> np.ndarray:
    """The score of each system, `[system]`.

    Raises:
        InputError: a score that is not finite.
    """
    with named_errors([evaluation], Runner(settings, device)):
        return np.array(make_case(evaluation, settings).question.scores)


def _parts(report: Report, evaluation: Evaluation) -> list[PairColumns]:
    """The pairs of a report of one metric, test by test."""
    index = {name: position for position, name in enumerate(evaluation.systems)}
    higher, comparisons = evaluation.metric.higher_is_better, report.comparisons
    count = len(comparisons) // len(report.settings.tests)
    parts = []
    for number, test in enumerate(report.settings.tests):
        own = comparisons[number * count : (number + 1) * count]
        first, second = (own.column(name).mapped(index.__getitem__) for name in ("a", "b"))
        gains = own.column("delta")
        turned = (gains > 0.0) & (not higher)
        members = np.stack([np.where(turned, second, first), np.where(turned, first, second)], axis=1)
        p_values, methods, exceed = own.column("p_value"), own.column("method").tolist(), own.column("exceed")
        parts.append(PairColumns(evaluation.metric.name, test, members, gains, p_values, methods, exceed))
    return parts
