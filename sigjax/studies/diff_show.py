"""What changed, as text, Markdown and a comment for GitHub: the same sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sigjax.report.markdown import escape_markdown, markdown_table
from sigjax.report.pairs import Table
from sigjax.report.text import BOLD, Page, draw_table, rendered, say
from sigjax.report.words import DASH, count, first_of, format_interval, format_p, number_spec, percent

if TYPE_CHECKING:
    from sigjax.studies.diff_records import Change, ChangedDecision, Diff

_ALERTS = {"no worse": "TIP", "worse": "CAUTION", "cannot tell": "WARNING", None: "NOTE"}
"""Coloured quotations of GitHub."""
_FIRST = {"worse": 0, "cannot tell": 1, "no worse": 2, None: 3}
_MOST_NAMED = 5
_MOST_DECISIONS = 20
_SHORT = 10
"""Rows of the table that a comment shows."""
_INDEPENDENT = (
    "Reports do not hold how old and new results vary together, so these limits are those of independent results; on "
    "the same instances they are wider than need be. The paired test takes both evaluations (sigjax extract, then "
    "sigjax diff OLD.npz NEW.npz)."
)
_NO_LIMITS = {True: "all units differ alike, which says nothing of others", False: "a report without intervals"}
"""Why a change has no limits, by whether they are paired."""
Part = str | Table


def diff_text(diff: Diff, *, width: int | None = None, color: bool = False) -> str:
    """What changed, as text."""

    def draw(page: Page) -> None:
        say(page, verdict_sentence(diff), style=BOLD)
        parts = [*_scores(diff), *_details(diff)]
        for before, part in zip(["", *parts], parts, strict=False):
            if isinstance(part, Table):
                draw_table(page, part)
                continue
            if part.endswith(":") and isinstance(before, str):  # a heading; a table ends with a blank line already
                page.add()
            say(page, part)

    return rendered(draw, width, color=color)


def diff_markdown(diff: Diff) -> str:
    """What changed, as Markdown."""
    parts = [f"**{escape_markdown(verdict_sentence(diff))}**", *map(_in_markdown, [*_scores(diff), *_details(diff)])]
    return "\n\n".join(parts) + "\n"


def diff_github(diff: Diff) -> str:
    """A comment: the verdict, the first rows of the scores, and all else folded."""
    scores = _scores(diff)
    short = [part._replace(rows=part.rows[:_SHORT]) if isinstance(part, Table) else part for part in scores]
    whole = [] if short == scores else [f"All {count(len(diff.changes), 'score')}:", *scores]
    parts = [
        f"> [!{_ALERTS[diff.verdict]}]\n> **{escape_markdown(verdict_sentence(diff))}**",
        *map(_in_markdown, short),
        "<details><summary>Details</summary>",
        *map(_in_markdown, [*whole, *_details(diff)]),
        "</details>",
    ]
    return "\n\n".join(parts) + "\n"


def _in_markdown(part: Part) -> str:
    return markdown_table(part) if isinstance(part, Table) else escape_markdown(part)


def verdict_sentence(diff: Diff) -> str:
    """The verdict on all scores, or how much changed."""
    changes, sure = diff.changes, f"({percent(diff.level)} confidence)"
    if diff.same_data and diff.margin is not None:  # then none is removed
        return "No worse: all results are the same."
    if diff.same_data and not diff.decisions:
        return "Nothing changed: all results are the same."
    if diff.margin is None:
        changed = sum(one.change != 0.0 for one in changes)
        decisions = (
            f"; {len(diff.decisions):,} of {count(diff.num_decisions, 'decision')}" if diff.num_decisions else ""
        )
        return f"{changed:,} of {count(len(changes), 'score')} changed{decisions}."
    unsure = [one for one in changes if one.verdict == "cannot tell"]
    if worse := [one for one in changes if one.verdict == "worse"]:
        return f"Worse: {_named(diff, worse)} by more than {diff.margin:g} {sure}."
    if unsure:
        others = f"; the {len(changes) - len(unsure):,} others are not" if len(unsure) < len(changes) else ""
        return f"Cannot tell whether worse by {diff.margin:g}: {_named(diff, unsure)}{others} {sure}."
    if diff.removed:
        gone = first_of([name for name, _ in diff.removed], _MOST_NAMED)
        return f"Cannot tell: {gone} has no new score; all others are no worse."
    all_of = "the score is not" if len(changes) == 1 else f"none of {len(changes):,} scores is"
    return f"No worse: {all_of} worse by {diff.margin:g} {sure}."


def _named(diff: Diff, changes: Sequence[Change]) -> str:
    """The systems of some changes, with the metric where there are several."""
    several = len({one.metric for one in diff.changes}) > 1
    return first_of([f"{one.name} ({one.metric})" if several else one.name for one in changes], _MOST_NAMED)


def _scores(diff: Diff) -> list[Part]:
    """A table for each metric, under its name where there are several."""
    metrics, parts = list(dict.fromkeys(one.metric for one in diff.changes)), []
    for metric in metrics:
        lower = " (lower is better)" if metric in diff.lower_is_better else ""
        parts += [f"{metric}{lower}:"] if lower or len(metrics) > 1 else []
        parts.append(_table(diff, [one for one in diff.changes if one.metric == metric], -1.0 if lower else 1.0))
    return parts


def _table(diff: Diff, changes: Sequence[Change], sign: float) -> Table:
    """Scores before and after: with a margin the worst first, else in the old order."""
    if diff.margin is not None:
        changes = sorted(changes, key=lambda one: (_FIRST[one.verdict], sign * one.change))
    spec = number_spec([value for one in changes for value in (one.old, one.new, one.change)])
    columns = {
        "system": [one.name for one in changes],
        "old": [format(one.old, spec) for one in changes],
        "new": [format(one.new, spec) for one in changes],
        "change": [format(one.change, f"+{spec}") for one in changes],
    }
    if diff.margin is not None:
        columns["limits"] = [format_interval(one.limits, f"+{spec}") for one in changes]
        columns["verdict"] = [one.verdict or "" for one in changes]
    return Table(tuple(columns), list(zip(*columns.values(), strict=True)), (0,), optional=("old", "new"))


def _details(diff: Diff) -> list[Part]:
    """What the limits mean, and what else changed."""
    parts: list[Part] = []
    if diff.margin is not None and not diff.same_data:
        parts.append(_limits_sentence(diff))
        parts += [] if diff.paired else [_INDEPENDENT]
        parts += [f"{DASH}: {_NO_LIMITS[diff.paired]}."] if any(one.limits is None for one in diff.changes) else []
    for side, keys in (("old", diff.removed), ("new", diff.added)):
        if keys:
            named = first_of([f"{name} ({metric})" for name, metric in keys], _MOST_NAMED)
            parts.append(f"Only on the {side} side: {named}.")
    for what, changed in (("Settings", diff.settings), ("Versions", diff.versions)):
        if changed:
            values = (f"{name} {_value(old)} -> {_value(new)}" for name, (old, new) in changed.items())
            parts.append(f"{what} changed: {'; '.join(values)}.")
    return [*parts, *_decisions(diff)]


def _limits_sentence(diff: Diff) -> str:
    level = percent(diff.level)
    if len(diff.changes) == 1:
        return f"limits of new - old: {level} confidence each. Worse: both beyond the margin; no worse: both within it."
    return (
        f"limits of new - old: on the side of a loss each holds with {level} confidence, on the other side all hold "
        "together. No worse: the first lies within the margin; worse: the second lies beyond it."
    )


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "none" if value is None else str(value)


def _decisions(diff: Diff) -> list[Part]:
    """The pairs that are decided differently."""
    if not diff.num_decisions:
        return []
    if not diff.decisions:
        return [f"Decisions that changed: none of {count(diff.num_decisions, 'pair')}."]
    shown = diff.decisions[:_MOST_DECISIONS]
    columns = {"a": [one.a for one in shown], "b": [one.b for one in shown]}
    for name in ("metric", "test"):
        values = [getattr(one, name) for one in shown]
        if len(set(values)) > 1:
            columns[name] = values
    names = tuple(range(len(columns)))
    for when in ("old", "new"):
        columns[when] = [_winner(one, getattr(one, when)) for one in shown]
        columns[f"{when} p"] = [format_p(getattr(one, f"{when}_p")) for one in shown]
    left = len(diff.decisions) - len(shown)
    return [
        f"Decisions that changed, {len(diff.decisions):,} of {count(diff.num_decisions, 'pair')}:",
        Table(tuple(columns), list(zip(*columns.values(), strict=True)), names, optional=("old p", "new p")),
        "a: a is significantly better; b: b is; none: neither. p is adjusted."
        + (f" JSON has {left:,} more." if left else ""),
    ]


def _winner(one: ChangedDecision, name: str | None) -> str:
    return "none" if name is None else "a" if name == one.a else "b"
