"""A report cut into the parts that people read: by metric, then by test."""

from collections.abc import Iterable
from typing import NamedTuple

from sigjax.records import Comparison, Interval, Report, SystemScore, Test

MAX_LETTERS = 8
"""Letters of one system that are still read."""


class Family(NamedTuple):
    """The pairs of one metric and one test: what p-values are adjusted over, or those of all metrics are."""

    test: Test
    comparisons: tuple[Comparison, ...]
    adjusted_over: int
    """Number of pairs, in all metrics where the settings say so."""


class Section(NamedTuple):
    """One metric: its systems from best to worst, and its pairs test by test."""

    metric: str
    lower_is_better: bool
    systems: tuple[SystemScore, ...]
    families: tuple[Family, ...]


def sections(report: Report) -> tuple[Section, ...]:
    """The sections of a report, in the order of its systems."""
    return tuple(
        Section(
            metric,
            metric in report.lower_is_better,
            tuple(system for system in report.systems if system.metric == metric),
            _families(tuple(comparison for comparison in report if comparison.metric == metric), report),
        )
        for metric in dict.fromkeys(system.metric for system in report.systems)
    )


def _families(comparisons: tuple[Comparison, ...], report: Report) -> tuple[Family, ...]:
    tests: dict[Test, None] = dict.fromkeys(comparison.test for comparison in comparisons)
    adjusted_over = comparisons if report.settings.family == "metric" else report.comparisons
    return tuple(
        Family(
            test,
            tuple(one for one in comparisons if one.test == test),
            sum(one.test == test for one in adjusted_over),
        )
        for test in tests
    )


def has_ranks(section: Section) -> bool:
    """Whether intervals of ranks are shown: of two systems the pair says all."""
    return len(section.systems) > 2 and all(system.rank_interval is not None for system in section.systems)


def has_letters(section: Section) -> bool:
    """Whether letters are shown: not where they are too many to read."""
    return has_ranks(section) and all(
        system.letters is not None and len(system.letters) <= MAX_LETTERS for system in section.systems
    )


def has_unclustered(systems: Iterable[SystemScore | Comparison]) -> bool:
    """Whether there are standard errors without the clusters to show."""
    return any(one.standard_error_unclustered is not None for one in systems)


def has_positions(section: Section) -> bool:
    """Whether bootstrap resamples say where systems stand."""
    return all(system.bootstrap_ranks is not None for system in section.systems)


class ToBaseline(NamedTuple):
    """A comparison seen from the baseline: `delta` is the system's score minus the baseline's."""

    system: str
    delta: float
    interval: Interval | None
    comparison: Comparison


def to_baseline(comparison: Comparison, baseline: str) -> ToBaseline:
    """Turn a comparison round where the baseline comes first."""
    interval = comparison.interval
    if comparison.b == baseline:
        return ToBaseline(comparison.a, comparison.delta, interval, comparison)
    turned = None if interval is None else Interval(-interval.high, -interval.low)
    return ToBaseline(comparison.b, -comparison.delta, turned, comparison)


def flat_pairs(report: Report) -> list[dict[str, str | float | int | None]]:
    """All comparisons as plain columns."""
    rows = [flat_pair(comparison) for comparison in report]
    if not has_unclustered(report):
        for row in rows:
            del row["standard_error_unclustered"]
    return rows


def flat_pair(comparison: Comparison) -> dict[str, str | float | int | None]:
    """One comparison as plain columns, unrounded; intervals become `_low` and `_high`."""
    low, high = comparison.interval or (None, None)
    p_low, p_high = comparison.p_interval or (None, None)
    return {
        "a": comparison.a,
        "b": comparison.b,
        "metric": comparison.metric,
        "test": comparison.test,
        "score_a": comparison.score_a,
        "score_b": comparison.score_b,
        "delta": comparison.delta,
        "better": comparison.better,
        "p_value": comparison.p_value,
        "log10_p": comparison.log10_p,
        "p_interval_low": p_low,
        "p_interval_high": p_high,
        "p_adjusted": comparison.p_adjusted,
        "log10_p_adjusted": comparison.log10_p_adjusted,
        "error_bound": comparison.error_bound,
        "method": comparison.method,
        "reason": comparison.reason,
        "resamples": comparison.resamples,
        "exceed": comparison.exceed,
        "settled": comparison.settled,
        "resamples_needed": comparison.resamples_needed,
        "standard_error": comparison.standard_error,
        "standard_error_unclustered": comparison.standard_error_unclustered,
        "interval_low": low,
        "interval_high": high,
    }
