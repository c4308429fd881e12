"""The kinds of intervals: what each takes, whom it is for, and which kind each score and each delta gets.

A kind made from bootstrap replicates is a subclass of `Percentile` in a file of its own. To add one, write that class,
and add a line to `KINDS` and its name to `records.settings.IntervalKind`.

**The rule** of `auto`, and of `simultaneous`, which are the same intervals at a level at which all of them hold
together:

- Answers that are right or wrong, one per unit, without strata: Wilson's score interval of a score, Tango's of a delta.
- Other metrics of sums: t of the jackknife with a correction for skewness, which moves ends of deltas only outwards.
- Metrics of whole columns, and runs drawn within units (design nested): the bootstrap, `percentile` for `auto`.
- Runs that are trained models (design models): `two-way`, as `compare` has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from sigjax.records import IntervalKind, Metric, SampleMetric, Settings
from sigjax.records.settings import IntervalName
from sigjax.testing.hypotheses import PairedProblem, SumsData
from sigjax.testing.jackknife import closed_spreads, right_or_wrong, two_way_spreads
from sigjax.testing.replicates import Bca, Simultaneous, Studentized
from sigjax.testing.uncertainty import Basic, Percentile, Spread

_WHOLE = ("together", "crossed")
"""Designs whose intervals take units with all their runs."""


class Kind(NamedTuple):
    """One kind of intervals."""

    needs: Literal["replicates", "jackknife", "runs", "nothing"]
    """What intervals are made from; metrics of whole columns, and design nested, have replicates in place of the
    jackknife."""
    of_replicates: type[Percentile] = Percentile
    """How replicates give intervals, where they do."""
    closed: Callable[[SumsData], tuple[list[Spread], list[Spread]]] | None = None
    """Intervals of all scores and all deltas without resamples."""
    of_sums: bool = False
    """Whether it is only for metrics of sums."""
    whole: bool = False
    """Whether it takes whole instances, so that runs cannot be drawn within (design nested)."""
    samples: bool = False
    """Whether it needs resamples also where the bootstrap has an exact law."""
    missing: str = ""
    """Why a score or a delta may have no such interval."""
    note: str = ""
    """What every report says of it."""


_ONE_UNIT = "no stratum has two units"
KINDS: dict[IntervalKind, Kind] = {
    "auto": Kind("jackknife", closed=closed_spreads, missing=_ONE_UNIT),
    "percentile": Kind("replicates"),
    "basic": Kind("replicates", Basic),
    "bca": Kind("replicates", Bca, whole=True, missing="all resamples lie on one side of what was observed"),
    "studentized": Kind(
        "replicates",
        Studentized,
        of_sums=True,
        whole=True,
        samples=True,
        missing="too many resamples have a standard error of 0",
    ),
    "simultaneous": Kind(
        "jackknife",
        Simultaneous,
        closed=closed_spreads,
        missing=_ONE_UNIT,
        note="intervals hold together: those of all scores of a metric, and those of the deltas of all pairs",
    ),
    "two-way": Kind(
        "runs",
        closed=two_way_spreads,
        note="p is for new runs on these instances; standard errors and intervals are for new runs on new ones",
    ),
    "none": Kind("nothing"),
}


class Names(NamedTuple):
    """The kinds of the intervals of all scores and of all deltas, as reports name them; None where there are none."""

    systems: IntervalName | None
    pairs: IntervalName | None


def in_closed_form(metric: Metric | SampleMetric, settings: Settings) -> bool:
    """Whether standard errors and intervals are those of the jackknife, without resamples."""
    jackknife = KINDS[settings.interval].needs == "jackknife"
    return jackknife and isinstance(metric, Metric) and settings.design in _WHOLE


def draws_intervals(metric: Metric | SampleMetric, settings: Settings) -> bool:
    """Whether standard errors and intervals take bootstrap resamples, or their exact law."""
    return KINDS[settings.interval].needs != "nothing" and not in_closed_form(metric, settings)


def interval_kinds(case: PairedProblem) -> Names:
    """The kinds of the intervals of a case, by the rule at the top of this file."""
    kind = case.settings.interval
    if kind == "none":
        return Names(None, None)
    if isinstance(case, SumsData) and in_closed_form(case.metric, case.settings):
        return Names("wilson", "tango") if right_or_wrong(case) else Names("skew-t", "wide-t")
    drawn = "percentile" if kind == "auto" else kind
    return Names(drawn, drawn)
