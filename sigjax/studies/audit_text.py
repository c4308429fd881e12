"""The audit as text: one table a way to make pairs, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigjax.report.lines import in_methods, in_units, paragraphs, table_lines
from sigjax.report.numbers import format_p, percent
from sigjax.report.words import count

if TYPE_CHECKING:
    from sigjax.studies.records import Audit, AuditedTest, ErrorRate

TOO_OFTEN = "finds differences where there are none more often than it should"
NULLS = {
    "swaps": "by random swaps of the outputs of {}: neither is better, and they are as alike as the systems are",
    "splits": "of random halves of the units of {}: neither is better, and they are independent",
}


def audit_text(audit: Audit) -> str:
    """Type-I errors as tables, and what they say."""
    names = " and ".join(audit.systems)
    lines = [f"audit of {names}: {in_units(audit.num_instances, audit.num_units)}"]
    for null, system in dict.fromkeys((one.null, one.system) for one in audit.tests):
        tests = [one for one in audit.tests if (one.null, one.system) == (null, system)]
        of = names if system is None else system
        lines += [
            "",
            f"{count(audit.repetitions, 'pair')} {NULLS[null].format(of)}",
            "how many were found different, with 95% intervals:",
            "",
            *_table(tests),
            "",
            *_verdicts(tests),
        ]
    return paragraphs(
        *lines,
        "",
        "excess: the most by which the share of p-values up to v is above v "
        f"(uniform p-values: about {0.6267 / audit.repetitions**0.5:.3f}), and its p",
        audit.signature,
    )


def _table(tests: list[AuditedTest]) -> list[str]:
    header = ["metric", "test", "method", *(f"p <= {rate.alpha:g}" for rate in tests[0].errors), "excess", "p"]
    rows = [
        [one.metric, one.test, in_methods(one.methods), *(_rate(rate) for rate in one.errors)]
        + [f"{one.excess:.3f}", format_p(one.excess_p)]
        for one in tests
    ]
    return table_lines(header, rows, names=3)


def _rate(rate: ErrorRate) -> str:
    low, high = (100.0 * end for end in rate.interval)
    return f"{100.0 * rate.rate:.1f}% [{low:.1f}, {high:.1f}]"


def _verdicts(tests: list[AuditedTest]) -> list[str]:
    """What errors say, a line for all tests of which they say the same."""
    found: dict[str, list[str]] = {}
    several = len({one.metric for one in tests}) > 1
    for one in tests:
        found.setdefault(_verdict(one), []).append(f"{one.metric}, {one.test}" if several else one.test)
    return [f"{verdict}: {('; ' if several else ', ').join(names)}" for verdict, names in found.items()]


def _verdict(one: AuditedTest) -> str:
    above = [percent(rate.alpha) for rate in one.errors if rate.interval.low > rate.alpha]
    below = [percent(rate.alpha) for rate in one.errors if rate.interval.high < rate.alpha]
    if above:
        return f"{TOO_OFTEN} at {', '.join(above)}"
    text = "exceeds none of these levels by more than chance"
    text += f", conservative at {', '.join(below)}" if below else ""
    return text + ("; elsewhere p-values are too small" if one.excess_p < 0.01 else "")
