"""The table of a paper: systems by metrics, the best score of each metric bold, and marks for what is significant."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from sigjax.records import Settings
from sigjax.report.blocks import MAX_LETTERS, Section
from sigjax.report.pairs import MAX_NAMED, Table
from sigjax.report.sentences import decided
from sigjax.report.words import count, format_number, number_spec

if TYPE_CHECKING:
    from sigjax.report.report import Report

DAGGER, DOUBLE_DAGGER = "†", "‡"
Kind = Literal["none", "baseline", "pair", "named", "letters", "best"]
MEANINGS: dict[Kind, str] = {
    "baseline": f"{DAGGER} significantly better, {DOUBLE_DAGGER} significantly worse than {{baseline}}",
    "pair": f"{DAGGER} significantly better than the other system",
    "named": "superscripts name the systems that are significantly worse",
    "letters": "systems that share a superscript do not differ significantly",
    "best": f"{DAGGER} significantly worse than the best",
}


class Score(NamedTuple):
    """One cell: a score, its marks, and whether it is the best of its metric."""

    text: str
    marks: str = ""
    best: bool = False


class Paper(NamedTuple):
    """A table of systems by metrics.

    Attributes:
        title: what was measured on what.
        metrics: their names, with an arrow where lower is better.
        systems: their names, from best to worst by the first metric.
        keys: the letter by which marks name each system; empty where they name none.
        scores: `[system][metric]`.
        note: what bold and the marks mean, and by which test.
    """

    title: str
    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    keys: tuple[str, ...]
    scores: list[tuple[Score, ...]]
    note: str


def paper_table(report: Report, sections: Sequence[Section]) -> Paper:
    """The table of all sections of a report, with marks by its first test."""
    names = tuple([system.name for system in sections[0].systems])
    kind = _kind(sections, report.settings)
    keys = tuple(string.ascii_lowercase[: len(names)]) if kind == "named" else ()
    columns = [_scores(section, kind, dict(zip(names, keys, strict=False))) for section in sections]
    return Paper(
        f"{count(len(names), 'system')} on {count(report.num_instances, 'instance')}",
        tuple([f"{each.metric} ↓" if each.metric in report.lower_is_better else each.metric for each in sections]),
        names,
        keys,
        [tuple([column.get(name, Score("")) for column in columns]) for name in names],
        _note(kind, sections, report.settings),
    )


def tasks_table(sections: Sequence[Section], most: int) -> Table:
    """The scores of all sections: one row per task, one column per system, for the first systems by the first section.

    The name of the score is left out where all tasks have the same.
    """
    names = [system.name for system in sections[0].systems[:most]]
    tasks = [section.metric for section in sections]
    if len({task.rpartition(": ")[2] for task in tasks}) == 1:
        tasks = [task.rpartition(": ")[0] for task in tasks]
    rows = []
    for section, task in zip(sections, tasks, strict=True):
        scores = _texts(section)
        rows.append((task, *(scores.get(name, "") for name in names)))
    return Table(("task", *[str(number) for number in range(1, len(names) + 1)]), rows, names=(0,))


def _texts(section: Section) -> dict[str, str]:
    """The scores of a section by system, as text."""
    spec = number_spec([system.score for system in section.systems])
    return {one.name: format_number(one.score, spec) for one in section.systems}


def _kind(sections: Sequence[Section], settings: Settings) -> Kind:
    """Which marks the scores get."""
    if not all(section.families for section in sections):
        return "none"
    systems = [system for section in sections for system in section.systems]
    if settings.baseline is not None:
        return "baseline"
    if len(sections[0].systems) <= MAX_NAMED:
        return "pair" if len(sections[0].systems) == 2 else "named"
    return "letters" if all(0 < len(one.letters or "") <= MAX_LETTERS for one in systems) else "best"


def _scores(section: Section, kind: Kind, keys: dict[str, str]) -> dict[str, Score]:
    """The cells of one metric by system."""
    marks = _marks(section, kind, keys) if section.families else {}
    texts, best = _texts(section), section.systems[0].score
    return {one.name: Score(texts[one.name], marks.get(one.name, ""), one.score == best) for one in section.systems}


def _marks(section: Section, kind: Kind, keys: dict[str, str]) -> dict[str, str]:
    """The marks of each system that has any."""
    family = section.families[0]
    if kind == "letters":
        return {one.name: one.letters or "" for one in section.systems}
    marks: dict[str, str] = {}
    for better, worse in decided(family.comparisons, family.settings):
        if kind == "named":
            marks[better] = "".join(sorted(marks.get(better, "") + keys[worse]))
        elif kind == "pair" or worse == family.settings.baseline:
            marks[better] = DAGGER
        elif kind == "baseline":
            marks[worse] = DOUBLE_DAGGER
        elif better == section.systems[0].name:
            marks[worse] = DAGGER
    return marks


def _note(kind: Kind, sections: Sequence[Section], settings: Settings) -> str:
    if kind == "none":
        return "Best in bold."
    meaning = MEANINGS[kind].format(baseline=settings.baseline)
    tests = list(dict.fromkeys(section.families[0].heading for section in sections))
    by = "; ".join(tests) if len(tests) == 1 else f"{settings.tests[0]} test"
    return f"Best in bold; {meaning} (p < {settings.alpha:g}, {by})."
