"""The association test as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict

from sigjax.association.association import AgreementOptions, Association
from sigjax.records import Alternative
from sigjax.report.programs import json_lines
from sigjax.report.words import ALTERNATIVES, METHODS, count, format_p, format_p_interval
from sigjax.version import __version__

_MEANS: dict[Alternative, str] = {
    "greater": "p: the probability that the same labels in random order agree at least as often",
    "less": "p: the probability that the same labels in random order agree at most as often",
    "two-sided": "p: twice the smaller probability that the same labels in random order agree\nat least, or at most, "
    "as often",
}


def association_text(result: Association, options: AgreementOptions) -> str:
    """The agreements, p, and what p means."""
    size, agreements = result.num_instances, int(result.statistic)
    drawn = f", {count(result.resamples, 'resample')}" if result.resamples else ""
    lines = [
        f"{agreements:,} of {count(size, 'label')} agree with the gold labels ({agreements / size:.1%})",
        f"p = {format_p(result.p_value, log10_p=result.log10_p)}, {ALTERNATIVES[options.alternative]}, "
        f"{METHODS[result.method]}{drawn} ({result.reason})",
    ]
    if result.p_interval is not None:
        lines.append(f"95% interval for the p of infinitely many resamples: {format_p_interval(result.p_interval)}")
    lines.append(_MEANS[options.alternative])
    return "\n".join([*lines, _signature(result, options), ""])


def association_json(result: Association, options: AgreementOptions) -> str:
    """All numbers, of the schema `sigjax-association/1`."""
    fields = {"settings": asdict(options), **asdict(result), "signature": _signature(result, options)}
    return json_lines("sigjax-association/1", fields)


def _signature(result: Association, options: AgreementOptions) -> str:
    drawn = f"|n:{result.resamples}|seed:{options.seed}" if result.resamples else ""
    return (
        f"test:association|statistic:agreements|alt:{options.alternative}|method:{result.method}{drawn}|ties:ge"
        f"|instances:{result.num_instances}|sigjax:{__version__}"
    )
