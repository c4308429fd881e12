"""A report as the parts that people read: a section per metric, in it a family of pairs per test, and their sentences.

Every format for people draws these parts, and adds no words or numbers of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sigjax.multiple.decision import MOST_RESAMPLES
from sigjax.records import CORRECTIONS, Comparison, Comparisons, Repeated, Settings, SystemScore
from sigjax.report.pairs import Family, Table
from sigjax.report.peers import peers_of
from sigjax.report.sentences import board_sentence, listed, lone_sentence, pair_sentence
from sigjax.report.words import (
    ALTERNATIVES,
    METHODS,
    count,
    format_interval,
    format_number,
    format_ranks,
    number_spec,
    percent,
)

if TYPE_CHECKING:
    from sigjax.report.report import Report

MAX_LETTERS = 8
"""Letters of one system; nobody reads more."""
OPTIONAL = ("unclustered", "std. error", "letters", "ranks", "boot. ranks")  # left out in this order
DESIGNS = {
    ("permutation", "crossed"): ", outputs exchanged within units",
    ("bootstrap", "nested"): ", runs drawn within units",
    ("permutation", "models"): ", whole runs exchanged",
}


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
    settings, groups, together = report.settings, report.comparisons.groups(), Counter[str]()
    if settings.family == "report":
        for (_, test), pairs in groups.items():
            together[test] += len(pairs)
    for metric in dict.fromkeys([system.metric for system in report.systems]):
        systems = tuple([system for system in report.systems if system.metric == metric])
        families = [
            _family(metric, test, pairs, together[test], systems, report)
            for (name, test), pairs in groups.items()
            if name == metric
        ]
        table, key = _systems_table(systems, settings)
        yield Section(metric, _caption(metric, report), systems, table, key, tuple(families))


def _caption(metric: str, report: Report) -> str:
    """The metric, and what it was computed on."""
    measured = next((one for one in report.measured if one.metric == metric), None)
    instances, units = report.num_instances, report.num_units
    if measured is None:
        text = f"{metric}: {count(instances, 'instance')}"
    else:
        instances, units = measured.instances, measured.units
        text = f"{measured.title}, {count(instances, 'instance')}"
    if units != instances:
        text += f", resampled as {count(units, 'cluster')}"
    return f"{text}; lower is better" if metric in report.lower_is_better else text


def _family(
    metric: str, test: str, pairs: Comparisons, together: int, systems: tuple[SystemScore, ...], report: Report
) -> Family:
    """The pairs of a metric and test, adjusted over so many pairs, or over these alone if there are more."""
    settings, lower_is_better = report.settings, metric in report.lower_is_better
    method, resamples, settled, needed = pairs.columns("method", "resamples", "settled", "resamples_needed")
    only = pairs[0] if len(resamples) == 1 else None
    alone = lone_sentence(report.num_units, report.num_instances, settings)
    said = pair_sentence(only) if only else board_sentence(pairs, systems, settings, lower_is_better=lower_is_better)
    return Family(
        pairs,
        systems,
        settings,
        _heading(test, resamples, max(together, len(resamples)), settings),
        _method_line(method, resamples, only),
        _unsettled(settled, needed, settings),
        only,
        alone or said,
        peers_of(report, metric, test),
    )


def _systems_table(systems: tuple[SystemScore, ...], settings: Settings) -> tuple[Table, str | None]:
    """Systems from best to worst; and what the columns mean that not all tables have, None where there are none."""
    errors = [one.standard_error_unclustered for one in systems]
    values = [v for one in systems for v in (one.score, one.standard_error, *(one.interval or ()))]
    spec = number_spec([*values, *errors])
    is_clustered = any(error is not None for error in errors)
    is_ranked = len(systems) > 2 and all(one.rank_interval is not None for one in systems)  # a pair speaks for itself
    has_letters = is_ranked and all(one.letters is not None and len(one.letters) <= MAX_LETTERS for one in systems)
    is_resampled = all(one.bootstrap_ranks is not None for one in systems)
    columns = {
        "#": [str(rank) for rank in range(1, len(systems) + 1)],
        "system": [one.name for one in systems],
        "score": [format_number(one.score, spec) for one in systems],
        "std. error": [format_number(one.standard_error, spec) for one in systems],
    }
    if is_clustered:
        columns["unclustered"] = [format_number(error, spec) for error in errors]
    columns[f"{percent(settings.level)} interval"] = [format_interval(one.interval, spec) for one in systems]
    if is_ranked:
        columns["ranks"] = [format_ranks(one.rank_interval) for one in systems]
    if has_letters:
        columns["letters"] = [one.letters or "" for one in systems]
    if is_resampled:
        columns["boot. ranks"] = [format_ranks(one.bootstrap_ranks) for one in systems]
    key = [_key_of_ranks(systems, settings, has_letters=has_letters)] if is_ranked else []
    key += [_key_of_errors(settings)] if is_clustered else []
    key += [_key_of_bootstrap_ranks(settings)] if is_resampled else []
    rows, optional = list(zip(*columns.values(), strict=True)), tuple(name for name in OPTIONAL if name in columns)
    return Table(tuple(columns), rows, names=(1,), optional=optional), " ".join(key) or None


def _key_of_ranks(systems: tuple[SystemScore, ...], settings: Settings, *, has_letters: bool) -> str:
    """What ranks, letters and the top group are, and the confidence, where test and correction bound false findings."""
    adjusted, level = "" if settings.correction == "none" else "adjusted ", percent(settings.level)
    by = f"by the {settings.tests[0]} test at {adjusted}p < {settings.alpha:g}"
    familywise = CORRECTIONS[settings.correction].bounds == "familywise"
    sure = familywise and settings.tests[0] == "permutation" and not settings.mid_p
    ranks = f"Ranks are the positions that all significant differences allow{f' (joint {level} confidence)' * sure}"
    letters = "; systems that share a letter do not differ significantly" if has_letters else ""
    text = f"{ranks}, {by}{letters}."
    if top := [one.name for one in systems if one.in_top_group]:
        text += f" Top group (no system is significantly better): {listed(top)}"
        text += f"; it holds every best system with {level} confidence." if sure else "."
    return text


def _key_of_errors(settings: Settings) -> str:
    of_clusters = "for new clusters and runs" if settings.design == "models" else "of clusters"
    return f"Std. error: {of_clusters}; unclustered: if instances were independent."


def _key_of_bootstrap_ranks(settings: Settings) -> str:
    return f"Boot. ranks: the middle {percent(settings.level)} of a system's ranks on bootstrap resamples."


def _heading(test: str, resamples: np.ndarray, adjusted_over: int, settings: Settings) -> str:
    """The test, its alternative, and over how many pairs p was adjusted; `resamples` `[pair]` is -1 for exact tests."""
    text = f"{test} test, {ALTERNATIVES[settings.alternative]}{', mid-p' if settings.mid_p else ''}"
    text += DESIGNS.get((test, settings.design), "")
    if settings.alternative != "two-sided" and settings.baseline is None:
        text += ": first system minus second, in the order of the data"
    if adjusted_over == 1:
        return text
    pairs = count(adjusted_over, "pair") + (" of all metrics" if adjusted_over > len(resamples) else "")
    if settings.correction == "none":
        return f"{text}; p not adjusted for {pairs}"
    text += f"; p adjusted by {CORRECTIONS[settings.correction].title} over {pairs}"
    if CORRECTIONS[settings.correction].is_resampled and (resamples < 0).any():
        text += f" on {count(settings.fixed_resamples, 'resample')}"  # the method line names none for exact p-values
    return text


def _method_line(methods: Repeated, resamples: np.ndarray, only: Comparison | None) -> str:
    """How the p-values of a family were computed."""
    drawn = resamples[resamples >= 0]
    numbers = [count(drawn.max(), "resample")] if drawn.size else []
    if numbers and drawn.min() < drawn.max():
        numbers = [f"{drawn.min():,} to {numbers[0]}"]
    if only is not None:
        return f"method: {', '.join([METHODS[only.method], *numbers])} ({only.reason})"
    exact, parts = [method for method in methods.present() if method != "montecarlo"], []
    if exact:
        parts.append(f"{METHODS[exact[0]]} ({count(len(resamples) - len(drawn), 'pair')})")
    if len(drawn):
        parts.append(f"Monte Carlo ({', '.join([count(len(drawn), 'pair'), *numbers])})")
    return "method: " + ", ".join(parts)


def _unsettled(settled: Repeated, needed: np.ndarray, settings: Settings) -> str | None:
    """A warning where infinitely many resamples could decide otherwise, and how many would do; else None."""
    needed = needed[settled.mapped(lambda each: each is False)]
    if not len(needed):
        return None
    if len(settled.codes) == 1:
        text = f"The decision at {settings.alpha:g} is not settled: more resamples could change it"
    else:
        text = f"{count(len(needed), 'pair')} {'is' if len(needed) == 1 else 'are'} not settled at {settings.alpha:g}"
        text += ": more resamples could change the decision"
    return f"{text}; {_enough(needed)}."


def _enough(needed: np.ndarray) -> str:
    """How many resamples would settle these decisions; -1 is more than `MOST_RESAMPLES`."""
    numbers = needed[needed >= 0]
    others, them = len(needed) - len(numbers), "it" if len(needed) == 1 else "them"
    if not len(numbers):
        return f"even {MOST_RESAMPLES:,} would hardly settle {them}"
    text = f"about {numbers.max():,} would settle "
    if not others:
        return text + them
    return f"{text}{len(numbers):,} of them, and even {MOST_RESAMPLES:,} hardly the other{'s' if others > 1 else ''}"
