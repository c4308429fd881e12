"""Combine reports of the same systems by different metrics into one report, so that a paper needs one table.

Each metric keeps its own tests and its own adjustment, as in a report of several metrics (`family="metric"`).
"""

import re
from collections.abc import Sequence
from dataclasses import fields
from itertools import chain
from typing import Any

from sigjax.readers.options import listing, quote
from sigjax.records import Comparisons, Hint, InputError, ReportRecord, Settings

_FREE = ("seed", "resamples", "budget", "memory")
"""Settings that may differ between the reports, because they only change how precisely the same p-value is computed."""


def together(reports: Sequence[tuple[str, ReportRecord]]) -> dict[str, Any]:
    """Return the fields of one report with the metrics of several reports. Messages use the name of each report.

    Raises:
        InputError: the reports have different systems, instances, units or settings, or two reports have the same
            metric.
    """
    (first_name, first), *others = reports
    metrics = dict.fromkeys((each.metric for each in first.systems), first_name)
    for name, report in others:
        _refuse_other(first_name, first, name, report)
        for metric in dict.fromkeys(each.metric for each in report.systems):
            if metric in metrics:
                raise InputError(
                    f"{name}: has {metric}, and so has {metrics[metric]}; expected reports of different metrics"
                )
            metrics[metric] = name
    every = [report for _, report in reports]
    return {
        "systems": tuple(chain.from_iterable(report.systems for report in every)),
        "comparisons": Comparisons.of(list(chain.from_iterable(every))),
        "settings": first.settings,
        "num_instances": first.num_instances,
        "num_units": first.num_units,
        "lower_is_better": tuple(chain.from_iterable(report.lower_is_better for report in every)),
        "notes": tuple(dict.fromkeys(chain.from_iterable(report.notes for report in every))),
        "signature": "; ".join(report.signature for report in every),
        "data": "; ".join(report.data for report in every),
        "measured": tuple(dict.fromkeys(chain.from_iterable(report.measured for report in every))),
        "runs": first.runs,
        "versions": first.versions,
    }


def _refuse_other(first_name: str, first: ReportRecord, name: str, report: ReportRecord) -> None:
    """Raise an error if two reports cannot share a table, because their systems, test sets or settings differ.

    `first_name` and `name` are the names of the two reports, for the message.
    """
    known, own = ({each.name for each in one.systems} for one in (first, report))
    if known != own:
        lacks, more = sorted(known - own), sorted(own - known)
        said = [f"lacks {listing(lacks)}"] * bool(lacks) + [f"has {listing(more)} besides"] * bool(more)
        raise InputError(
            f"{name}: {' and '.join(said)}, compared with {first_name}; expected reports of the same systems "
            f"({Hint('only')} of `sigjax compare` chooses them)"
        )
    for what, here, there in (
        ("instances", first.num_instances, report.num_instances),
        ("units", first.num_units, report.num_units),
        ("runs", first.runs, report.runs),
    ):
        if here != there:
            raise InputError(
                f"{name}: has {there or 'no'} {what}, and {first_name} has {here or 'no'}; expected reports of the "
                "same test set, with the same clusters and runs"
            )
    if first.settings.family == "report" or report.settings.family == "report":
        raise InputError(
            f"{name}: p-values are adjusted over all metrics of a report (family), which several reports cannot be; "
            "compare all metrics in one command"
        )
    here, there = (_plain(one.settings) | {"strata": _strata(one)} for one in (first, report))
    for key in here:
        if here[key] != there[key]:
            raise InputError(
                f"{name}: {key} is {quote(there[key])}, and in {first_name} {quote(here[key])}; expected reports of "
                "the same test and settings: compare again with the same options"
            )

    if first.settings.alternative != "two-sided":
        _refuse_other_sides(first_name, first, name, report)
    known, own = (
        dict.fromkeys(str(key) for one in each.evaluations for key in one.ids or ()) for each in (first, report)
    )
    if known and own and known.keys() != own.keys():
        other = next(key for key in (*own, *known) if (key in own) != (key in known))
        raise InputError(
            f"{name}: its instances have other ids than those of {first_name}: only one of them has {quote(other)}; "
            "expected reports of the same instances, with the same ids"
        )


def _refuse_other_sides(first_name: str, first: ReportRecord, name: str, report: ReportRecord) -> None:
    """Raise an error for one-sided tests of the opposite direction: B minus A, if the first report has A minus B."""
    known = {(pair.a, pair.b) for pair in first.comparisons}
    for pair in report.comparisons:
        if (pair.a, pair.b) not in known:
            raise InputError(
                f"{name}: its one-sided tests are of {quote(pair.a)} minus {quote(pair.b)}, and those of {first_name} "
                f"of {quote(pair.b)} minus {quote(pair.a)}; expected the systems in the same order ({Hint('only')} of "
                "`sigjax compare` orders them)"
            )


def _plain(settings: Settings) -> dict[str, str]:
    """Return the settings that must be the same in all reports, as a dict from names to texts."""
    kept = {each.name: getattr(settings, each.name) for each in fields(settings) if each.name not in _FREE}
    return {key: ", ".join(value) if isinstance(value, tuple) else str(value) for key, value in kept.items()}


def _strata(report: ReportRecord) -> str:
    """Return a text with the number of strata that standard errors and intervals use."""
    found = re.search(r"\|strata:(\d+)\|", report.signature)
    return "None" if found is None else found[1]
