"""Unpaired tests, and tests against a number, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from sigjax.records import Settings
from sigjax.report.pairs import Table
from sigjax.report.programs import json_lines
from sigjax.report.text import table_lines
from sigjax.report.words import (
    ALTERNATIVES,
    METHODS,
    format_interval,
    format_number,
    format_p,
    is_warning,
    number_spec,
    percent,
)
from sigjax.studies.one_sample import OneSample
from sigjax.studies.text import NAME, joined_lines
from sigjax.studies.unpaired import Unpaired
from sigjax.version import __version__

_TESTS = {
    "binomial": "binomial: exact, for answers right or wrong; two-sided, scores at least as far from the number",
    "sign-flip": "sign-flip: permutation test against a system with the number on every instance; takes differences\n"
    "from it as symmetric about 0 where the system is no better and no worse",
    "t": "t: by the jackknife, corrected for skewness, as the interval of the score; approximate for few units",
}


def unpaired_text(results: Sequence[Unpaired]) -> str:
    """The pairs, and what the tests are."""
    first = results[0]
    settings = first.settings
    spec = number_spec([number for one in results for number in (one.score_a, one.score_b, one.delta)])
    header = ("a", "b", "n (a)", "n (b)", "score (a)", "score (b)", "delta", f"{percent(settings.level)} interval")
    rows = [
        (one.a, one.b, f"{one.units_a:,}", f"{one.units_b:,}")
        + (format_number(one.score_a, spec), format_number(one.score_b, spec), format(one.delta, f"+{spec}"))
        + (format_interval(one.interval, f"+{spec}"), *_p_values(one, len(results)), _rank_sum(one))
        for one in results
    ]
    lines = [
        *_warnings(results),
        f"{first.metric}, systems on different instances: unpaired tests, {ALTERNATIVES[settings.alternative]}",
        "",
        *table_lines(Table((*header, *_p_names(settings, len(results)), "rank-sum p"), rows, names=(0, 1)), NAME),
        "",
        f"p: permutation of instances between the systems ({_methods(one.method for one in results)}); "
        "rank-sum: Wilcoxon-Mann-Whitney",
        "unpaired: what is hard for both systems is not taken out; sigjax compare, on the same instances, has more",
        "power; a small p says that the systems' results differ, with unequal n perhaps by their spread",
        *_notes(results),
        _signature("unpaired", first.metric, settings, results),
    ]
    return joined_lines(lines)


def one_sample_text(results: Sequence[OneSample]) -> str:
    """The systems, and what the tests are."""
    first = results[0]
    settings = first.settings
    spec = number_spec([number for one in results for number in (one.score, one.against, one.delta)])
    header = ("system", "n", "score", f"{percent(settings.level)} interval", "delta")
    rows = [
        (one.system, f"{one.units:,}", format_number(one.score, spec), format_interval(one.interval, spec))
        + (format(one.delta, f"+{spec}"), *_p_values(one, len(results)), one.test)
        for one in results
    ]
    lines = [
        *_warnings(results),
        f"{first.metric} against {first.against:g}, {ALTERNATIVES[settings.alternative]}",
        "",
        *table_lines(Table((*header, *_p_names(settings, len(results)), "test"), rows, names=(0,)), NAME),
        "",
        *"\n".join(_TESTS[test] for test in dict.fromkeys(one.test for one in results)).split("\n"),
        f"{first.against:g} is taken for certain: it has no error of its own",
        *_notes(results),
        _signature("one-sample", first.metric, settings, results) + f"|against:{first.against!r}",
    ]
    return joined_lines(lines)


def unpaired_json(results: Sequence[Unpaired]) -> str:
    """The pairs, and once the settings."""
    return _json("unpaired", "pairs", results)


def one_sample_json(results: Sequence[OneSample]) -> str:
    """The systems, and once the settings."""
    return _json("one-sample", "systems", results)


def _json(kind: str, name: str, results: Sequence[Unpaired] | Sequence[OneSample]) -> str:
    rows = [{key: value for key, value in asdict(one).items() if key != "settings"} for one in results]
    return json_lines(f"sigjax-{kind}/1", {"settings": asdict(results[0].settings), name: rows})


def _p_names(settings: Settings, count: int) -> tuple[str, ...]:
    return ("p",) if count == 1 else ("p", f"p ({settings.correction})")


def _p_values(one: Unpaired | OneSample, count: int) -> tuple[str, ...]:
    p = format_p(one.p_value, log10_p=one.log10_p)
    return (p,) if count == 1 else (p, format_p(one.p_adjusted))


def _rank_sum(one: Unpaired) -> str:
    return format_number(None, "") if one.rank_sum is None else format_p(one.rank_sum.p_value)


def _methods(methods: Iterable[str]) -> str:
    return ", ".join(METHODS[method] for method in dict.fromkeys(methods))


def _notes(results: Sequence[Unpaired] | Sequence[OneSample]) -> list[str]:
    notes = dict.fromkeys(note for one in results for note in one.notes)
    return [f"note: {note}" for note in notes if not is_warning(note)]


def _warnings(results: Sequence[Unpaired] | Sequence[OneSample]) -> list[str]:
    return list(dict.fromkeys(note for one in results for note in one.notes if is_warning(note)))


def _signature(test: str, metric: str, settings: Settings, results: Sequence[Unpaired] | Sequence[OneSample]) -> str:
    drawn = any(one.exceed is not None for one in results)
    resamples = f"|n:{settings.resamples}|seed:{settings.seed}" if drawn else ""
    return (
        f"test:{test}|metric:{metric}|alt:{settings.alternative}{resamples}|ties:ge|correction:{settings.correction}"
        f"|level:{settings.level:g}|sigjax:{__version__}"
    )
