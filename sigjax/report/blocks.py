"""A report as the parts that people read: a section per metric, and in it a family of pairs per test.

Every format for people draws these parts, and adds no words or numbers of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from sigjax.records import Comparisons, Settings, SystemScore
from sigjax.report.numbers import (
    format_interval,
    format_mcs_p,
    format_number,
    format_ranks,
    number_spec,
    percent,
)
from sigjax.report.pairs import Family, Table
from sigjax.report.words import caption, heading, method_line, unsettled

if TYPE_CHECKING:
    from sigjax.report.report import Report

MAX_LETTERS = 8
"""Letters of one system; nobody reads more."""
FAMILYWISE = ("holm", "hochberg", "bonferroni", "maxt", "minp")


class Section(NamedTuple):
    """One metric.

    Attributes:
        metric: its name.
        caption: the metric, and what it was computed on.
        systems: from best to worst.
        table: of the systems.
        key: what the columns mean that not all tables have; None where there are none.
        families: the pairs, test by test.
    """

    metric: str
    caption: str
    systems: tuple[SystemScore, ...]
    table: Table
    key: str | None
    families: tuple[Family, ...]


def blocks(report: Report) -> Iterator[Section]:
    """The sections of a report, in the order of its systems.

    Tables of pairs are made when a format asks for them: no format draws the grid of thousands of systems.
    """
    for metric in dict.fromkeys(system.metric for system in report.systems):
        lower_is_better = metric in report.lower_is_better
        systems = tuple(system for system in report.systems if system.metric == metric)
        yield Section(
            metric,
            caption(metric, report.num_instances, report.num_units, lower_is_better=lower_is_better),
            systems,
            _systems_table(systems, report.settings),
            _key(systems, report.settings),
            tuple(_families(systems, report.comparisons.where("metric", metric), report)),
        )


def _families(systems: tuple[SystemScore, ...], pairs: Comparisons, report: Report) -> Iterator[Family]:
    adjusted = pairs if report.settings.family == "metric" else report.comparisons
    for test in pairs.column("test").present():
        of_test = pairs.where("test", test)
        title = heading(of_test, len(adjusted.where("test", test)), report.settings)
        yield Family(of_test, systems, report.settings, title, method_line(of_test), unsettled(of_test))


def _has_ranks(systems: tuple[SystemScore, ...]) -> bool:
    """Whether intervals of ranks are shown: for two systems the pair says it all."""
    return len(systems) > 2 and all(system.rank_interval is not None for system in systems)


def _has_letters(systems: tuple[SystemScore, ...]) -> bool:
    letters = [system.letters for system in systems]
    return _has_ranks(systems) and all(each is not None and len(each) <= MAX_LETTERS for each in letters)


def _has_unclustered(systems: tuple[SystemScore, ...]) -> bool:
    return any(system.standard_error_unclustered is not None for system in systems)


def _has_bootstrap_ranks(systems: tuple[SystemScore, ...]) -> bool:
    return all(system.bootstrap_ranks is not None for system in systems)


def _systems_table(systems: tuple[SystemScore, ...], settings: Settings) -> Table:
    """Systems from best to worst: rank, name, score, standard error (also without the clusters), interval, ranks."""
    errors = [one.standard_error_unclustered for one in systems]
    values = [v for one in systems for v in (one.score, one.standard_error, *(one.interval or ()))]
    spec = number_spec([*values, *errors])
    columns = {
        "#": [str(rank) for rank in range(1, len(systems) + 1)],
        "system": [one.name for one in systems],
        "score": [format_number(one.score, spec) for one in systems],
        "std. error": [format_number(one.standard_error, spec) for one in systems],
    }
    if _has_unclustered(systems):
        columns["unclustered"] = [format_number(error, spec) for error in errors]
    columns[f"{percent(settings.level)} interval"] = [format_interval(one.interval, spec) for one in systems]
    if _has_ranks(systems):
        columns["ranks"] = [format_ranks(one.rank_interval) for one in systems]
    if _has_letters(systems):
        columns["letters"] = [one.letters or "" for one in systems]
    if _has_bootstrap_ranks(systems):
        columns["boot. ranks"] = [format_ranks(one.bootstrap_ranks) for one in systems]
        columns["MCS p"] = [format_mcs_p(one.mcs_p) for one in systems]
    return Table(tuple(columns), list(zip(*columns.values(), strict=True)), names=(1,))


def _key(systems: tuple[SystemScore, ...], settings: Settings) -> str | None:
    parts = [_key_of_ranks(systems, settings)] if _has_ranks(systems) else []
    if _has_unclustered(systems):
        of_clusters = "for new clusters and runs" if settings.design == "models" else "of clusters"
        parts.append(f"Std. error: {of_clusters}; unclustered: if instances were independent.")
    parts += [_key_of_bootstrap_ranks(settings)] if _has_bootstrap_ranks(systems) else []
    return " ".join(parts) or None


def _key_of_ranks(systems: tuple[SystemScore, ...], settings: Settings) -> str:
    adjusted = "" if settings.correction == "none" else "adjusted "
    by = f"by the {settings.tests[0]} test at {adjusted}p < {settings.alpha:g}"
    joint = f" (joint {percent(settings.level)} confidence)" if settings.correction in FAMILYWISE else ""
    ranks = f"Ranks are the positions that all significant differences allow{joint}"
    letters = "; systems that share a letter do not differ significantly" if _has_letters(systems) else ""
    return f"{ranks}, {by}{letters}."


def _key_of_bootstrap_ranks(settings: Settings) -> str:
    level = percent(settings.level)
    return (
        f"Boot. ranks: the middle {level} of a system's ranks on bootstrap resamples. MCS p: systems with at least "
        f"{settings.alpha:g} are the model confidence set, which contains the best system with {level} confidence."
    )
