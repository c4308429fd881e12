"""Studies as text and JSON: audit, power, equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from sigjax.report.lines import in_methods, in_units, json_lines, paragraphs, table_lines
from sigjax.report.numbers import MISSING, format_interval, format_number, format_p, number_spec, percent
from sigjax.report.words import count
from sigjax.version import __version__

if TYPE_CHECKING:
    from sigjax.studies.records import Equivalence, Power, PowerAt


def power_text(power: Power) -> str:
    """Power and detectable differences as a table a metric and test."""
    a, b = power.systems
    noun = "instances" if power.num_units == power.num_instances else "clusters"
    lines = [
        f"power for {a} - {b}: pilot of {in_units(power.num_instances, power.num_units)}",
        f"share of {count(power.repetitions, 'sample')} with p <= {power.settings.alpha:g}, and its 95% interval",
    ]
    for pilot in power.pilots:
        spec = number_spec([pilot.delta, pilot.standard_error])
        lines += ["", f"{pilot.metric}: delta {pilot.delta:+{spec}}, standard error {pilot.standard_error:{spec}}"]
        for test in power.settings.tests:
            points = [at for at in power.points if (at.metric, at.test) == (pilot.metric, test)]
            header = [
                noun,
                "power",
                "interval",
                "normal",
                "standard error",
                "simulated",
                "detectable",
                "simulated",
                "method",
            ]
            lines += ["", f"{test} test, {power.settings.alternative}", ""]
            lines += table_lines(header, [_power_row(at, spec) for at in points], names=0)
    lines += [
        "",
        f"detectable: the difference found with power {percent(power.target)}, by the normal approximation and by",
        "simulated deltas; both take the spread for known: with few units a test needs a little more",
        *_none_found(power),
        "the power is for a difference that is just the pilot's, and is no better known than that is",
        power.signature,
    ]
    return paragraphs(*lines)


def _none_found(power: Power) -> list[str]:
    """What dashes mean, where there are some."""
    few = sorted({at.instances for at in power.points if at.detectable is None})
    if not few:
        return []
    sizes = ", ".join(f"{size:,}" for size in few)
    return [
        f"{MISSING}: with {sizes} units no permutation test has p <= {power.settings.alpha:g}, whatever the difference"
    ]


def _power_row(at: PowerAt, spec: str) -> list[str]:
    errors = (at.standard_error, at.simulated_error, at.detectable, at.simulated_detectable)
    shares = [f"{at.power:.3f}", format_interval(at.interval, ".3f"), f"{at.normal_power:.3f}"]
    return [f"{at.instances:,}", *shares, *(format_number(error, spec) for error in errors), in_methods(at.methods)]


_ALIKE = "interval of no length: all units differ alike, which says nothing of other units; p is 1"
_TESTS = {"t": "t by the jackknife", "tango": "Tango's score tests", "bootstrap": "bootstrap"}


def equivalence_text(found: Sequence[Equivalence]) -> str:
    """Claims and whether they are shown."""
    first = found[0]
    spec = number_spec([number for one in found for number in (one.score_a, one.score_b, one.delta, one.margin)])
    inside = f"|delta| < {first.margin:g}"
    claim = inside if first.claim == "equivalence" else f"a is not worse than b by {first.margin:g}"
    header = ["a", "b", "metric", "delta", f"{percent(first.interval_level)} interval"]
    rows = [
        [one.a, one.b, one.metric, format(one.delta, f"+{spec}"), format_interval(one.interval, f"+{spec}")]
        + [format_p(one.p_lower), format_p(one.p_upper), format_p(one.p_adjusted), "yes" if one.holds else "not shown"]
        for one in found
    ]
    adjusted = "p" if len(found) == 1 else f"p ({first.settings.correction})"
    methods, settings = list(dict.fromkeys(one.method for one in found)), first.settings
    drawn = f"|n:{settings.resamples}|seed:{settings.seed}|null:{settings.variant}|ties:ge"
    drawn = drawn if "bootstrap" in methods else ""
    return paragraphs(
        f"{first.claim} test ({', '.join(_TESTS[each] for each in methods)}): {claim}",
        "",
        *table_lines([*header, "p (lower)", "p (upper)", adjusted, "holds"], rows, names=3),
        "",
        f"holds: p < {first.settings.alpha:g}; not shown does not mean that there is a difference",
        *([_ALIKE] if any(one.method == "t" and one.standard_error == 0.0 for one in found) else []),
        f"study:equivalence|metric:{'+'.join(dict.fromkeys(one.metric for one in found))}|claim:{first.claim}"
        f"|margin:{first.margin!r}|method:{'+'.join(methods)}{drawn}|correction:{first.settings.correction}"
        f"|level:{first.settings.level:g}|sigjax:{__version__}",
    )


def equivalence_json(found: Sequence[Equivalence]) -> str:
    """The pairs, and once the settings."""
    pairs = [{key: value for key, value in asdict(one).items() if key != "settings"} for one in found]
    return json_lines("sigjax-equivalence/1", {"settings": asdict(found[0].settings), "pairs": pairs})
