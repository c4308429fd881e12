"""All pairs of systems by all metrics and tests, each pair with its winner first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from sigjax.comparison.compare import compare
from sigjax.comparison.metric_kinds import make_case
from sigjax.comparison.options import CompareOptions
from sigjax.comparison.validate import check_evaluations, check_together, named_errors
from sigjax.records import Alternative, Design, Device, Evaluation, InputError, Method, Settings, Test, Variant
from sigjax.records.options import option, same, values
from sigjax.report import Report
from sigjax.studies.pilot import select
from sigjax.studies.thresholds import FEWEST, WIDE, Gained, Law, Points, moved_gains
from sigjax.testing.runner import Runner

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
