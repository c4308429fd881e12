"""Unpaired tests, and tests against a number, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial

from sigjax.records import Settings
from sigjax.report.pairs import Table
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
from sigjax.studies.text import NAME, WIDTH, adjusted_p, joined_lines, results_json
from sigjax.studies.unpaired import Unpaired
from sigjax.version import __version__

_MOST_NOTES = 6
_TESTS = {
    "binomial": "binomial: exact, for answers right or wrong; two-sided, scores at least as far from the number",
    "sign-flip": "sign-flip: permutation test against a system with the number on every instance ({}); takes "
    "differences from it as symmetric about 0 where the system is no better and no worse",
    "t": "t: by the jackknife, corrected for skewness, as the interval of the score; approximate for few units",
}
_UNPAIRED = (
    "unpaired: what is hard for both systems is not taken out; sigjax compare, on the same instances, has more power; "
    "a small p says that the systems' results differ, with unequal n perhaps by their spread"
)


def unpaired_text(results: Sequence[Unpaired]) -> str:
    """The pairs, and what the tests are."""
    first = results[0]
    settings = first.settings
    spec = number_spec([number for one in results for number in (one.score_a, one.score_b, one.delta)])
    systems = {name: own for one in results for name, own in _systems(one).items()}
    scores = [(name, f"{units:,}", format_number(score, spec)) for name, (units, score) in systems.items()]
    header = ("a", "b", "delta", f"{percent(settings.level)} interval")
    rows = [
        (one.a, one.b, format(one.delta, f"+{spec}"), format_interval(one.interval, f"+{spec}"))
        + (*_p_values(one, len(results)), _rank_sum(one))
        for one in results
    ]
    lines = [
        *_notes(results, warnings=True),
        f"{first.metric}, systems on different instances: unpaired tests, {ALTERNATIVES[settings.alternative]}",
        "",
        *table_lines(Table(("system", "n", "score"), scores, names=(0,)), NAME),
        "",
        *table_lines(Table((*header, *_p_names(results), "rank-sum p"), rows, names=(0, 1)), NAME),
        "",
        *_wrapped(f"p: permutation of instances between the systems ({_methods(results)})"),
        f"rank-sum: Wilcoxon-Mann-Whitney ({_ranked(results)})",
        *_wrapped(_UNPAIRED),
        *_notes(results),
        _signature("unpaired", first.metric, settings, results),
    ]
    return joined_lines(lines)


def one_sample_text(results: Sequence[OneSample]) -> str:
    """The systems, and what the tests are."""
    first = results[0]
    settings = first.settings
    spec = number_spec([number for one in results for number in (one.score, one.against, one.delta)])
    tests = {one.test: [each for each in results if each.test == one.test] for one in results}
    header = ("system", "n", "score", f"{percent(settings.level)} interval", "delta")
    rows = [
        (one.system, f"{one.units:,}", format_number(one.score, spec), format_interval(one.interval, spec))
        + (format(one.delta, f"+{spec}"), *_p_values(one, len(results)), one.test)
        for one in results
    ]
    lines = [
        *_notes(results, warnings=True),
        f"{first.metric} against {first.against:g}, {ALTERNATIVES[settings.alternative]}",
        "",
        *table_lines(Table((*header, *_p_names(results), "test"), rows, names=(0,)), NAME),
        "",
        *(line for test in tests for line in _wrapped(_TESTS[test].format(_methods(tests[test])))),
        f"{first.against:g} is taken for certain: it has no error of its own",
        *_notes(results),
        _signature("one-sample", first.metric, settings, results) + f"|against:{first.against!r}",
    ]
    return joined_lines(lines)


unpaired_json = partial(results_json, "unpaired", "pairs")
one_sample_json = partial(results_json, "one-sample", "systems")


def _p_names(results: Sequence[Unpaired] | Sequence[OneSample]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(("p", adjusted_p(results))))


def _p_values(one: Unpaired | OneSample, count: int) -> tuple[str, ...]:
    alpha = one.settings.alpha
    p = format_p(one.p_value, log10_p=one.log10_p, threshold=alpha)
    return (p,) if count == 1 else (p, format_p(one.p_adjusted, threshold=alpha))


def _rank_sum(one: Unpaired) -> str:
    if one.rank_sum is None:
        return format_number(None, "")
    return format_p(one.rank_sum.p_value, threshold=one.settings.alpha)


def _systems(one: Unpaired) -> dict[str, tuple[int, float]]:
    return {one.a: (one.units_a, one.score_a), one.b: (one.units_b, one.score_b)}


def _methods(results: Sequence[Unpaired] | Sequence[OneSample]) -> str:
    """How p was computed, and the largest sampling error."""
    text = ", ".join(METHODS.get(method, method) for method in dict.fromkeys(one.method for one in results))
    drawn = [(one.p_value, one.p_interval) for one in results if one.exceed is not None and one.p_interval]
    if not drawn:
        return text
    widest = max(max(ends.high - p, p - ends.low) for p, ends in drawn)
    return f"{text}, with a {percent(results[0].settings.level)} interval of p ±{format_p(widest)}"


def _ranked(results: Sequence[Unpaired]) -> str:
    """How the p-values of ranks were computed."""
    ways = dict.fromkeys(one.rank_sum.assumes.rsplit("; ", 1)[1] for one in results if one.rank_sum is not None)
    return ", ".join(ways) or "of one number per instance only"


def _notes(results: Sequence[Unpaired] | Sequence[OneSample], *, warnings: bool = False) -> list[str]:
    notes = list(dict.fromkeys(note for one in results for note in one.notes if is_warning(note) == warnings))
    if more := len(notes[_MOST_NOTES:]):
        notes[_MOST_NOTES:] = [f"{'warning: ' if warnings else ''}{more} more like these; --format json has them all"]
    return [line for note in notes for line in _wrapped(note if warnings else f"note: {note}")]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _signature(test: str, metric: str, settings: Settings, results: Sequence[Unpaired] | Sequence[OneSample]) -> str:
    drawn = any(one.exceed is not None for one in results)
    resamples = f"|n:{settings.resamples}|seed:{settings.seed}" if drawn else ""
    return (
        f"test:{test}|metric:{metric}|alt:{settings.alternative}{resamples}|ties:ge|correction:{settings.correction}"
        f"|level:{settings.level:g}|sigjax:{__version__}"
    )
