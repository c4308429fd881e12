"""Studies as text, and results that have their settings in common as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from sigjax.records.visible import visible
from sigjax.report.pairs import Table
from sigjax.report.programs import json_lines
from sigjax.report.text import table_lines
from sigjax.report.words import DASH, METHODS, count, format_interval, format_number, format_p, number_spec, percent
from sigjax.version import __version__

if TYPE_CHECKING:
    from sigjax.studies.calibration import Calibration
    from sigjax.studies.gains import Gains
    from sigjax.studies.records import Audit, AuditedTest, Equivalence, ErrorRate, Power, PowerAt
    from sigjax.studies.size import Size

NAME = 32
"""Columns for a name."""
WIDTH = 80
"""Columns of a text."""
TOO_OFTEN = "too many false positives"
NULLS = {
    "swaps": "by random swaps of the outputs of {}: neither is better, and they are as similar as the systems are",
    "splits": "of random halves of the units of {}: neither is better, and they are independent",
}
_ALIKE = "the interval has no length: all units differ alike, which says nothing about other units; p is 1"
_TESTS = {
    "wide-t": "t by the jackknife, corrected for skewness",
    "tango": "Tango's score tests",
    "bootstrap": "bootstrap",
}


def joined_lines(lines: Sequence[str]) -> str:
    """Lines, each with its end; no character of a name breaks a line."""
    return "\n".join(map(visible, lines)) + "\n"


def _in_methods(methods: dict[str, int]) -> str:
    """The method, with numbers where there are several."""
    if len(methods) == 1:
        return METHODS.get(name := next(iter(methods)), name)
    return ", ".join(f"{METHODS[name]} {number:,}" for name, number in sorted(methods.items()))


def unit_of(study: Audit | Power | Gains | Size | Calibration) -> str:
    """What is resampled."""
    return "instance" if study.num_units == study.num_instances else "cluster"


def in_units(study: Audit | Power | Gains | Size) -> str:
    """How many instances, and clusters where there are some."""
    clusters = "" if unit_of(study) == "instance" else f" in {count(study.num_units, 'cluster')}"
    return count(study.num_instances, "instance") + clusters


def audit_text(audit: Audit) -> str:
    """Type-I errors as tables, one per way to make pairs, and what they say."""
    names = " and ".join(audit.systems)
    lines = [f"audit of {names}: {in_units(audit)}"]
    for null, system in dict.fromkeys((one.null, one.system) for one in audit.tests):
        tests = [one for one in audit.tests if (one.null, one.system) == (null, system)]
        of = names if system is None else system
        lines += [
            "",
            f"{count(audit.repetitions, 'pair')} {NULLS[null].format(of)}",
            "false-positive rate, with 95% intervals:",
            "",
            *table_lines(_error_table(tests), NAME),
            "",
            *_verdicts(tests),
        ]
    lines += [
        "",
        "excess: largest amount by which the share of p-values up to v exceeds v "
        f"(uniform p-values: about {0.6267 / audit.repetitions**0.5:.3f}), with its p",
        audit.signature,
    ]
    return joined_lines(lines)


def _error_table(tests: list[AuditedTest]) -> Table:
    header = ("metric", "test", "method", *(f"p <= {rate.alpha:g}" for rate in tests[0].errors), "excess", "p")
    rows = [
        (one.metric, one.test, _in_methods(one.methods), *map(_rate, one.errors))
        + (f"{one.excess:.3f}", format_p(one.excess_p))
        for one in tests
    ]
    return Table(header, rows, names=(0, 1, 2))


def _rate(rate: ErrorRate) -> str:
    low, high = (100.0 * end for end in rate.interval)
    return f"{100.0 * rate.rate:.1f}% [{low:.1f}, {high:.1f}]"


def _verdicts(tests: list[AuditedTest]) -> list[str]:
    """One line for all tests of which the errors say the same."""
    names: dict[str, list[str]] = {}
    several = len({one.metric for one in tests}) > 1
    for one in tests:
        names.setdefault(_verdict(one), []).append(f"{one.metric}, {one.test}" if several else one.test)
    return [f"{verdict}: {('; ' if several else ', ').join(tests)}" for verdict, tests in names.items()]


def _verdict(one: AuditedTest) -> str:
    above = [percent(rate.alpha) for rate in one.errors if rate.interval.low > rate.alpha]
    below = [percent(rate.alpha) for rate in one.errors if rate.interval.high < rate.alpha]
    if above:
        return f"{TOO_OFTEN} at {', '.join(above)}"
    text = "exceeds none of these levels significantly"
    text += f", conservative at {', '.join(below)}" if below else ""
    return text + ("; elsewhere p-values are too small" if one.excess_p < 0.01 else "")


def power_text(power: Power) -> str:
    """Power and detectable differences, one table per metric and test."""
    (a, b), noun = power.systems, f"{unit_of(power)}s"
    lines = [
        f"power for {a} - {b}: pilot of {in_units(power)}",
        f"share of {count(power.repetitions, 'sample')} with p <= {power.settings.alpha:g}, and its 95% interval",
    ]
    for pilot in power.pilots:
        spec = number_spec([pilot.delta, pilot.standard_error])
        lines += ["", f"{pilot.metric}: delta {pilot.delta:+{spec}}, standard error {pilot.standard_error:{spec}}"]
        for test in power.settings.tests:
            points = [at for at in power.points if (at.metric, at.test) == (pilot.metric, test)]
            header = (noun, "power", "interval", "normal", "standard error", "simulated", "detectable", "simulated")
            table = Table((*header, "method"), [_power_row(at, spec) for at in points])
            lines += ["", f"{test} test, {power.settings.alternative}", "", *table_lines(table, NAME)]
    lines += [
        "",
        f"detectable: the difference detected with power {percent(power.target)}, by the normal approximation and by",
        "simulated deltas; both take the spread as known: with few units a test needs a little more",
        *_none_found(power),
        "the power is for exactly the pilot's difference, and is no more certain than that difference",
        power.signature,
    ]
    return joined_lines(lines)


def _none_found(power: Power) -> list[str]:
    """What dashes mean, where there are some."""
    few = sorted({at.instances for at in power.points if at.detectable is None})
    if not few:
        return []
    sizes = ", ".join(f"{size:,}" for size in few)
    return [
        f"{DASH}: with {sizes} units no permutation test has p <= {power.settings.alpha:g}, whatever the difference"
    ]


def _power_row(at: PowerAt, spec: str) -> tuple[str, ...]:
    errors = (at.standard_error, at.simulated_error, at.detectable, at.simulated_detectable)
    shares = (f"{at.power:.3f}", format_interval(at.interval, ".3f"), f"{at.normal_power:.3f}")
    return f"{at.instances:,}", *shares, *(format_number(error, spec) for error in errors), _in_methods(at.methods)


def equivalence_text(results: Sequence[Equivalence]) -> str:
    """Claims and whether they are shown."""
    first, settings = results[0], results[0].settings
    spec = number_spec([number for one in results for number in (one.score_a, one.score_b, one.delta, one.margin)])
    inside = f"|delta| < {first.margin:g}"
    claim = inside if first.claim == "equivalence" else f"a is not worse than b by {first.margin:g}"
    interval = f"{percent(first.interval_level)} interval"
    header = ("a", "b", "metric", "delta", interval, "p (lower)", "p (upper)", adjusted_p(results), "holds")
    rows = [
        (one.a, one.b, one.metric, format(one.delta, f"+{spec}"), format_interval(one.interval, f"+{spec}"))
        + (format_p(one.p_lower), format_p(one.p_upper), format_p(one.p_adjusted), "yes" if one.holds else "not shown")
        for one in results
    ]
    methods = list(dict.fromkeys(one.method for one in results))
    drawn = f"|n:{settings.resamples}|seed:{settings.seed}|null:{settings.variant}|ties:ge"
    lines = [
        f"{first.claim} test ({', '.join(_TESTS[each] for each in methods)}): {claim}",
        "",
        *table_lines(Table(header, rows, names=(0, 1, 2)), NAME),
        "",
        f"holds: p < {settings.alpha:g}; not shown does not mean that there is a difference",
        *([_ALIKE] if any(one.method == "wide-t" and one.standard_error == 0.0 for one in results) else []),
        f"study:equivalence|metric:{'+'.join(dict.fromkeys(one.metric for one in results))}|claim:{first.claim}"
        f"|margin:{first.margin!r}|method:{'+'.join(methods)}{drawn if 'bootstrap' in methods else ''}"
        f"|correction:{settings.correction}|level:{settings.level:g}|sigjax:{__version__}",
    ]
    return joined_lines(lines)


def adjusted_p(results: Sequence[Any]) -> str:
    """The name of adjusted p-values, which are p where nothing is adjusted for."""
    return "p" if len(results) == 1 else f"p ({results[0].settings.correction})"


def results_json(kind: str, name: str, results: Sequence[Any]) -> str:
    """The settings once, and the results under a name."""
    rows = [{key: value for key, value in asdict(one).items() if key != "settings"} for one in results]
    for row in rows:
        if not math.isfinite(row.get("log10_p", 0.0)):
            row["log10_p"] = None
    return json_lines(f"sigjax-{kind}/1", {"settings": asdict(results[0].settings), name: rows})


equivalence_json = partial(results_json, "equivalence", "pairs")
