"""The kinds of intervals: each kind is declared here, once, with the code that makes it.

From these records follow the refusals of options, the notes and the methods paragraph of a report, and the help page.

To add a kind from bootstrap replicates, add its name to `records.settings.IntervalKind`, a subclass of `Percentile`
(example: `Basic`), its record, and the BibTeX entry that it cites in `data/references.bib`.

**The rule** for `auto`, and for `simultaneous`, which takes the same intervals at a joint level:

- Answers that are right or wrong, one per unit, without strata: Wilson's score interval of a score, Tango's of a delta.
- Other metrics of sums: t of the jackknife with a correction for skewness, which moves ends of deltas only outwards.
- Metrics that are not sums, and runs drawn within units (design nested): the bootstrap, `percentile` for `auto`.
- Runs that are trained models (design models): `two-way`, as `compare` has it.

**Simultaneous or not.** A row with "[-0.07, -0.01], adjusted p 1" contradicts itself. So if the correction bounds the
family-wise error, `auto` and `two-way` give the m deltas that are adjusted together a joint level. In closed form it is
Bonferroni's level, 1 - alpha / m each; from replicates it follows from the largest deviation (`JointDeltas`). An
interval at Bonferroni's level excludes 0 if the test that belongs to it gives p < alpha / m, and then Bonferroni, Holm
and Hochberg all reject. It contradicts adjusted p only if this test differs from the test that was run, or if a sampled
p cannot be that small; a note names such pairs. Intervals of `simultaneous` are narrower by 3% and need draws. They
contradict Holm's decisions for several times as many pairs, because the quantile of the maximum is below Bonferroni's.
With other corrections, and with kinds that the user chose, each interval is for its pair alone. Intervals of scores are
simultaneous only for `simultaneous`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from sigjax.records import CORRECTIONS, DESIGNS, Metric, SampleMetric, Settings
from sigjax.records.settings import DesignMethod, IntervalName
from sigjax.testing.closed import jackknife_intervals, right_or_wrong
from sigjax.testing.problem import Problem, SumsProblem
from sigjax.testing.replicates import Bca, Simultaneous, Studentized
from sigjax.testing.two_way import two_way_intervals
from sigjax.testing.uncertainty import Basic, Percentile


@dataclass(frozen=True, slots=True)
class IntervalMethod:
    """One kind of intervals.

    Attributes:
        name: the user's name for it; for the kinds that `auto` chooses among, the name in reports.
        words: for the methods paragraph, with its citations.
        about: for the help page; empty if users cannot choose this kind.
        needs: of metrics that are not sums, and in design nested, replicates replace the jackknife.
        closed: a function without resamples, given how many deltas are simultaneous: standard error and ends of the
            interval of each score, then of each delta, `[target, 3]`.
        fits_correction: intervals of deltas are simultaneous if the correction bounds the family-wise error.
        of_sums: only for metrics of sums.
        whole: needs whole instances, so that runs cannot be drawn within instances (design nested).
        samples: needs resamples even if the distribution of all resamples is known.
        missing: why a score or a delta may have no such interval.
        note: a sentence about it for every report.
    """

    name: str
    words: str = ""
    about: str = ""
    needs: Literal["replicates", "jackknife", "runs", "nothing"] = "replicates"
    of_replicates: type[Percentile] = Percentile
    closed: Callable[[SumsProblem, int], np.ndarray] | None = None
    fits_correction: bool = False
    of_sums: bool = False
    whole: bool = False
    samples: bool = False
    missing: str = ""
    note: str = ""

    def reason_against(self, design: DesignMethod) -> str | None:
        """Why it does not fit a design; None if it does."""
        if self.whole and design.draws == "outputs":
            return f"interval {self.name} takes whole instances; use percentile with design {design.name}"
        if design.draws is None and self.needs not in ("runs", "nothing"):
            return f"interval {self.name} is not for trained models; use two-way with design {design.name}"
        if design.draws is not None and self.needs == "runs":
            return f"interval {self.name} is for runs that are trained models; use it with design models"
        return None


_ONE_UNIT = "no stratum has two units"
INTERVALS: dict[str, IntervalMethod] = {
    each.name: each
    for each in (
        IntervalMethod(
            "auto",
            about="The default, see below. Needs no resamples, and holds for few units and for clusters of unequal "
            "size. Intervals of deltas are simultaneous if p is adjusted.",
            needs="jackknife",
            closed=jackknife_intervals,
            fits_correction=True,
            missing=_ONE_UNIT,
        ),
        IntervalMethod(
            "simultaneous",
            r"simultaneous bootstrap intervals~\cite{hothorn2008}",
            "The same, but simultaneous for all deltas of a metric, and for all its scores: by draws, or "
            "Bonferroni's for few units.",
            "jackknife",
            Simultaneous,
            jackknife_intervals,
            missing=_ONE_UNIT,
            note="intervals are simultaneous: for all scores of a metric, and for the deltas of all pairs",
        ),
        IntervalMethod(
            "percentile",
            r"bootstrap percentile intervals~\cite{efron1993}",
            "Quantiles of bootstrap replicates: too narrow for few units and unequal clusters, and [1, 1] where "
            "all answers are right.",
        ),
        IntervalMethod(
            "basic",
            r"basic bootstrap intervals~\cite{davison1997}",
            "The same, reflected at the observed value: poor for proportions near 0 or 1.",
            of_replicates=Basic,
        ),
        IntervalMethod(
            "bca",
            r"BCa bootstrap intervals~\cite{efron1987}",
            "Quantiles at levels corrected for bias and skewness: too narrow for few units with heavy tails.",
            of_replicates=Bca,
            whole=True,
            missing="all resamples lie on one side of what was observed",
        ),
        IntervalMethod(
            "studentized",
            r"studentized bootstrap intervals~\cite{davison1997}",
            "By the delta-method standard error of every resample: nearest to its level for means of skewed numbers; "
            "smooth metrics of sums.",
            of_replicates=Studentized,
            of_sums=True,
            whole=True,
            samples=True,
            missing="too many resamples have a standard error of 0",
        ),
        IntervalMethod(
            "two-way",
            r"$t$ with the variances of instances and of runs and Satterthwaite's degrees of freedom"
            r"~\cite{satterthwaite1946}",
            "delta +/- t s, s from the variance of runs and of instances: for trained models (--design models), and "
            "no other design.",
            "runs",
            closed=two_way_intervals,
            fits_correction=True,
            note="p is for new runs on these instances; standard errors and intervals are for new runs on new ones",
        ),
        IntervalMethod("none", about="No intervals.", needs="nothing"),
        IntervalMethod("wilson", r"Wilson's score interval~\cite{wilson1927}", needs="jackknife"),
        IntervalMethod("tango", r"Tango's score interval~\cite{tango1998}", needs="jackknife"),
        IntervalMethod(
            "hall-t",
            r"Student's $t$ with the jackknife's standard error~\cite{efron1993}, corrected for "
            r"skewness (Hall's correction~\cite{hall1992}, with bounds)",
            needs="jackknife",
        ),
        IntervalMethod(
            "conservative-t",
            r"Student's $t$ with the jackknife's standard error~\cite{efron1993}, lengthened on the side "
            r"of the long tail (a modification of Hall's correction~\cite{hall1992})",
            needs="jackknife",
        ),
    )
}


class IntervalNames(NamedTuple):
    """The kinds of the intervals of all scores and of all deltas, as reports name them; None without intervals."""

    systems: IntervalName | None
    pairs: IntervalName | None


def in_closed_form(metric: Metric | SampleMetric, settings: Settings) -> bool:
    """Whether standard errors and intervals come from the jackknife, without resamples."""
    of_sums = isinstance(metric, Metric) and DESIGNS[settings.design].draws == "units"
    return of_sums and INTERVALS[settings.interval].needs == "jackknife"


def draws_intervals(metric: Metric | SampleMetric, settings: Settings) -> bool:
    """Whether standard errors and intervals need bootstrap resamples, or the exact bootstrap distribution."""
    return INTERVALS[settings.interval].needs != "nothing" and not in_closed_form(metric, settings)


def bootstraps(problem: Problem) -> bool:
    """Whether the bootstrap is used: for the test, or for intervals and standard errors.

    It needs more than one unit.
    """
    settings = problem.settings
    needed = "bootstrap" in settings.tests or draws_intervals(problem.metric, settings)
    return needed and INTERVALS[settings.interval].needs != "runs" and len(problem.units.strata) > 1


def closed_intervals(problem: Problem, joint_pairs: int = 1) -> np.ndarray | None:
    """Standard error and ends of the interval of each score, then of each delta, `[target, 3]`.

    None if they need resamples. Intervals of `joint_pairs` deltas, including deltas of other problems, are
    simultaneous.
    """
    interval = INTERVALS[problem.settings.interval]
    if interval.closed is None or not isinstance(problem, SumsProblem) or len(problem.units.strata) == 1:
        return None
    needed = interval.needs == "runs" or in_closed_form(problem.metric, problem.settings)
    return interval.closed(problem, joint_pairs) if needed else None


def joint_pairs(settings: Settings, num_pairs: int, family_size: int) -> int:
    """How many deltas have simultaneous intervals at the level; 1 if each interval is for its pair alone.

    `num_pairs` is the number of pairs of the metric, `family_size` the number of pairs adjusted together.
    """
    if settings.interval == "simultaneous":
        return num_pairs
    fits = INTERVALS[settings.interval].fits_correction and CORRECTIONS[settings.correction].bounds == "familywise"
    return family_size if fits else 1


def interval_names(problem: Problem, joint: int = 1) -> IntervalNames:
    """The kinds of a problem's intervals, by the rule at the top of this file; `joint` deltas are simultaneous."""
    name = problem.settings.interval
    if name == "none":
        return IntervalNames(None, None)
    if isinstance(problem, SumsProblem) and in_closed_form(problem.metric, problem.settings):
        return (
            IntervalNames("wilson", "tango") if right_or_wrong(problem) else IntervalNames("hall-t", "conservative-t")
        )
    drawn = "percentile" if name == "auto" else name
    return IntervalNames(drawn, "simultaneous" if name == "auto" and joint > 1 else drawn)
