"""Notes on intervals: of which kind they are, where some are missing, and where even the best kind may not hold."""

from collections.abc import Callable

from sigjax.bootstrap.closed import effective_degrees, interval_kinds
from sigjax.bootstrap.intervals import Spread
from sigjax.comparison.run_tests import Answers
from sigjax.testing.outcome import Case, SampleCase

_NO_INTERVAL = {
    "auto": "no stratum has two units",
    "bca": "all resamples lie on one side of what was observed",
    "studentized": "too many resamples have a standard error of 0",
    "inversion": "there are too few units or resamples for the level",
    "simultaneous": "no stratum has two units",
}
"""Why there is no interval of a kind; the other kinds always have one."""
_FEW_UNITS = 30
_FEW_DEGREES = 10.0


def interval_notes(case: Case | SampleCase, answers: Answers) -> list[str]:
    """Notes on the intervals of one metric."""
    if answers.pairs[0].standard_error is None:
        return []
    return [*_kinds(case), *_too_few(case), *_alike(case, answers), *_missing(case, answers)]


def _kinds(case: Case | SampleCase) -> list[str]:
    """Of which kind intervals are where the option does not say it, and whether they hold together."""
    kinds, asked, metric = interval_kinds(case), case.settings.interval, case.metric.name
    notes = []
    if kinds.systems == "wilson":
        notes.append(f"{metric}: intervals of scores are Wilson's, those of deltas Tango's (score intervals)")
    if kinds.pairs == "t" and isinstance(case, Case):
        found = effective_degrees(case)
        degrees = f"{found:.3g} degree{'' if found == 1.0 else 's'} of freedom"
        notes.append(
            f"{metric}: intervals are Student's t by the jackknife, {degrees}; those of scores corrected for skewness"
        )
    if asked == "auto" and kinds.pairs == "percentile":
        notes.append(f"{metric}: intervals are percentile intervals of the bootstrap")
    if asked == "inversion":
        notes.append("intervals of scores are percentile intervals: inversion is of a test, and a score has none")
    if asked == "two-way":
        notes.append("p is for new runs on these instances; standard errors and intervals are for new runs on new ones")
    if asked == "simultaneous":
        notes.append("intervals hold together: those of all scores of a metric, and those of the deltas of all pairs")
    return notes


def _too_few(case: Case | SampleCase) -> list[str]:
    """Where intervals of the default kind are known to miss the truth too often, or to be long."""
    if interval_kinds(case).pairs != "t" or not isinstance(case, Case):
        return []
    units, degrees = len(case.units.strata), effective_degrees(case)
    notes = []
    if units < _FEW_UNITS:
        notes.append(
            f"{units} units are few: of strongly skewed numbers (lognormal), 95% intervals of scores miss the truth in "
            "10% with 10 units and 8% with 30, those of deltas in 5%"
        )
    if 0.0 < degrees < min(_FEW_DEGREES, (units - 1) / 2):
        notes.append(
            f"units are so unequal in size that {units} say as much as {degrees + 1.0:.2g} equal ones: intervals are "
            "long, to hold in the worst case"
        )
    return notes


def _alike(case: Case | SampleCase, answers: Answers) -> list[str]:
    """How many systems and pairs have an interval by t of no length."""
    if interval_kinds(case).pairs not in ("t", "two-way"):
        return []
    whom = _counted(answers, lambda each: each.interval is not None and each.standard_error == 0.0)
    if not whom:
        return []
    return [f"intervals of no length for {whom}: all units are alike, which says nothing of other units"]


def _missing(case: Case | SampleCase, answers: Answers) -> list[str]:
    """How many systems and pairs have no interval, and why."""
    whom = _counted(answers, lambda each: each.interval is None and each.standard_error is not None)
    if not whom:
        return []
    why = _NO_INTERVAL[case.settings.interval]
    return [f"no interval of this kind for {whom}: {why}; --interval percentile has one"]


def _counted(answers: Answers, holds: Callable[[Spread], bool]) -> str:
    """Of how many systems and pairs something holds, in words."""
    counts = [sum(map(holds, spreads)) for spreads in (answers.systems, answers.pairs)]
    return " and ".join(
        f"{number:,} {noun}{'' if number == 1 else 's'}"
        for number, noun in zip(counts, ("system", "pair"), strict=True)
        if number
    )
