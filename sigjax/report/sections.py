"""A report cut into the parts that people read: by metric, then by test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sigjax.records import FIELDS, Comparison, Comparisons, Interval, SystemScore, Test

if TYPE_CHECKING:
    from sigjax.report.report import Report

MAX_LETTERS = 8
"""Letters of one system that are still read."""


class Family(NamedTuple):
    """The pairs of one metric and one test: what p-values are adjusted over, or those of all metrics are."""

    test: Test
    comparisons: Comparisons
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
            _families(report.comparisons.where("metric", metric), report),
        )
        for metric in dict.fromkeys(system.metric for system in report.systems)
    )


def _families(comparisons: Comparisons, report: Report) -> tuple[Family, ...]:
    everything = comparisons if report.settings.family == "metric" else report.comparisons
    adjusted_over = {test: len(everything.where("test", test)) for test in comparisons.column("test").present()}
    return tuple(Family(test, comparisons.where("test", test), number) for test, number in adjusted_over.items())


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


FLAT = (
    *("a", "b", "metric", "test", "score_a", "score_b", "delta", "better", "p_value", "log10_p", "p_interval"),
    *("p_adjusted", "log10_p_adjusted", "error_bound", "method", "reason", "resamples", "exceed"),
    *("settled", "resamples_needed"),
    *("standard_error", "standard_error_unclustered", "interval", "interval_kind"),
)
"""The fields of a comparison that tables for programs have, in order."""


def pairs_unclustered(comparisons: Comparisons) -> bool:
    """`has_unclustered` for all pairs."""
    return not bool(np.isnan(comparisons.column("standard_error_unclustered")).all())


def flat_columns(comparisons: Comparisons, *, unclustered: bool) -> dict[str, list[Any]]:
    """The columns of a table for programs, unrounded; intervals become `_low` and `_high`, None is what is missing.

    `unclustered` is whether there is a column of standard errors without the clusters.
    """
    columns: dict[str, list[Any]] = {}
    for name in FLAT:
        if FIELDS[name] == "interval":
            ends = [each or (None, None) for each in comparisons.values(name)]
            columns |= {f"{name}_low": [low for low, _ in ends], f"{name}_high": [high for _, high in ends]}
        elif unclustered or name != "standard_error_unclustered":
            columns[name] = comparisons.values(name)
    return columns
