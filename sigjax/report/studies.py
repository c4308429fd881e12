"""Studies as text and JSON: audit, power, equivalence."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sigjax.report.numbers import MISSING, format_interval, format_number, format_p, number_spec, percent
from sigjax.report.text import middle_cut, printable
from sigjax.report.words import METHODS, count
from sigjax.studies.records import Audit, AuditedTest, Equivalence, ErrorRate, Power, PowerAt
from sigjax.version import __version__

_NAME = 24
"""Columns for a name."""


def audit_text(audit: Audit) -> str:
    """Type-I errors as a table, and what they say."""
    header = ["metric", "test", "method", *(f"p <= {rate.alpha:g}" for rate in audit.tests[0].errors)]
    rows = [
        [one.metric, one.test, _methods(one.methods), *(_rate(rate) for rate in one.errors)]
        + [f"{one.excess:.3f}", format_p(one.excess_p)]
        for one in audit.tests
    ]
    a, b = map(printable, audit.systems)
    return _paragraphs(
        f"audit of {a} and {b}: {_units(audit.num_instances, audit.num_units)}",
        f"{count(audit.repetitions, 'pair')} whose outputs were swapped at random, so that neither system is better",
        "how many were found different, with 95% intervals:",
        "",
        *_table([*header, "excess", "p"], rows, names=3),
        "",
        *(_verdict(one) for one in audit.tests),
        "excess: the most by which the share of p-values up to v is above v "
        f"(uniform p-values: about {0.6267 / audit.repetitions**0.5:.3f}), and its p",
        audit.signature,
    )


def _rate(rate: ErrorRate) -> str:
    low, high = (100.0 * end for end in rate.interval)
    return f"{100.0 * rate.rate:.1f}% [{low:.1f}, {high:.1f}]"


def _verdict(one: AuditedTest) -> str:
    """What a test's errors say, in a sentence."""
    above = [percent(rate.alpha) for rate in one.errors if rate.interval.low > rate.alpha]
    below = [percent(rate.alpha) for rate in one.errors if rate.interval.high < rate.alpha]
    name = f"{one.metric}, {one.test} test"
    if above:
        return f"{name}: finds differences where there are none more often than it should at {', '.join(above)}"
    text = f"{name}: exceeds none of these levels by more than chance" + (
        f", conservative at {', '.join(below)}" if below else ""
    )
    return text + ("; elsewhere p-values are too small" if one.excess_p < 0.01 else "")


def power_text(power: Power) -> str:
    """Power and detectable differences as a table a metric and test."""
    a, b = map(printable, power.systems)
    noun = "instances" if power.num_units == power.num_instances else "clusters"
    lines = [
        f"power for {a} - {b}: pilot of {_units(power.num_instances, power.num_units)}",
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
            lines += _table(header, [_power_row(at, spec) for at in points], names=0)
    lines += [
        "",
        f"detectable: the difference found with power {percent(power.target)}, by the normal approximation and by",
        "simulated deltas; both take the spread for known: with few units a test needs a little more",
        *_none_found(power),
        "the power is for a difference that is just the pilot's, and is no better known than that is",
        power.signature,
    ]
    return _paragraphs(*lines)


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
    return [f"{at.instances:,}", *shares, *(format_number(error, spec) for error in errors), _methods(at.methods)]


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
    return _paragraphs(
        f"{first.claim} test (bootstrap, {first.settings.variant}): {claim}",
        "",
        *_table([*header, "p (lower)", "p (upper)", adjusted, "holds"], rows, names=3),
        "",
        f"holds: p < {first.settings.alpha:g}; not shown does not mean that there is a difference",
        f"study:equivalence|metric:{'+'.join(dict.fromkeys(one.metric for one in found))}|claim:{first.claim}"
        f"|margin:{first.margin!r}|n:{first.settings.resamples}|seed:{first.settings.seed}|null:{first.settings.variant}|ties:ge|correction:{first.settings.correction}"
        f"|level:{first.settings.level:g}|sigjax:{__version__}",
    )


def audit_json(audit: Audit) -> str:
    """The audit, with all p-values."""
    return _json("sigjax-audit/1", asdict(audit))


def power_json(power: Power) -> str:
    """The power study."""
    return _json("sigjax-power/1", asdict(power))


def equivalence_json(found: Sequence[Equivalence]) -> str:
    """The pairs, and once the settings."""
    pairs = [{key: value for key, value in asdict(one).items() if key != "settings"} for one in found]
    return _json("sigjax-equivalence/1", {"settings": asdict(found[0].settings), "pairs": pairs})


def _json(schema: str, fields: dict[str, Any]) -> str:
    """One line a field, or an item of one that is a list of records; intervals are [low, high]."""
    lines = []
    for key, value in {"schema": schema, **fields}.items():
        if isinstance(value, tuple | list) and value and isinstance(value[0], dict):
            items = ",\n".join(f"    {_dump(item)}" for item in value)
            lines.append(f'  "{key}": [\n{items}\n  ]')
        else:
            lines.append(f'  "{key}": {_dump(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _methods(methods: dict[str, int]) -> str:
    """The method, with numbers where there are several."""
    if len(methods) == 1:
        return METHODS[next(iter(methods))]
    return ", ".join(f"{METHODS[name]} {number:,}" for name, number in sorted(methods.items()))


def _units(num_instances: int, num_units: int) -> str:
    text = count(num_instances, "instance")
    return text if num_units == num_instances else f"{text} in {count(num_units, 'cluster')}"


def _table(header: list[str], rows: list[list[str]], *, names: int) -> list[str]:
    """Lines of a table: so many columns of names, then numbers to the right."""
    cells = [[middle_cut(printable(cell), _NAME) if i < names else cell for i, cell in enumerate(row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    head, *lines = (
        "  ".join(
            cell.ljust(width) if i < names else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (header, *cells)
    )
    return [head, "─" * sum(widths, 2 * (len(widths) - 1)), *lines]


def _paragraphs(*lines: str) -> str:
    return "\n".join(lines) + "\n"
