r"""The table of a paper: systems by metrics, the best score of each metric bold, and marks for what is significant.

Tables in LaTeX that fit a two-column class: how wide columns are, and how tables are set.

A table takes one column where it fits, else both; names too long for that are broken into lines, and metrics too many
are spread over several tables. A long one is a `longtable`. Widths are those of Computer Modern at 10 pt, the largest
`\small` of the usual classes, and columns those of the narrowest one (ACL).
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Literal, NamedTuple

from sigjax.records import ReportRecord, Settings
from sigjax.records.display import visible
from sigjax.report.sections import MAX_LETTERS, MAX_NAMED, Section, Table, decided
from sigjax.report.words import count, format_number, number_spec

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


def paper_table(report: ReportRecord, sections: Sequence[Section]) -> Paper:
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


COLUMN, PAGE, GAP = 216.0, 450.0, 8.0
"""Points of one column, of two (each a little less than they have), and between the columns of a table."""
MAX_LINES = 45
"""Lines that fit on a page under a caption; longer tables are broken between pages."""
MIN_NAME, LONG_WORD = 80.0, 25
_INDENT = 10.0
"""Points by which the further lines of a broken name are indented."""
ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
WIDTHS = {
    **dict.fromkeys("ijl.,:;!|'[] ", 2.8),
    **dict.fromkeys("frst()-/I", 4.0),
    **dict.fromkeys("0123456789acegovyz*?_", 5.3),
    **dict.fromkeys("bdhknpquxJS", 5.6),
    **dict.fromkeys("wABCDEFGHKLNOPQRTUVXYZ&%+=<>", 7.9),
    "m": 8.4,
}
"""Points of a character; others are taken for the widest."""
WIDEST = 10.3
LONGTABLE = r"""% longtable needs one column: the class goes back to two after it
\makeatletter\newif\ifsigjaxtwo\if@twocolumn\sigjaxtwotrue\onecolumn\fi\makeatother"""


class Cell(NamedTuple):
    """A cell as LaTeX, and its width in points."""

    source: str
    width: float


class Grid(NamedTuple):
    """A table to set: rows of cells under a head; the first `names` columns are aligned left, the last may break."""

    head: list[Cell]
    rows: list[list[Cell]]
    names: int
    raw: list[str]
    """The names, in which lines may be broken."""
    numbers: str = "r"
    """The alignment of the other columns; marks have their own, so that digits stand under each other."""


def escape_latex(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    Example:
        >>> print(escape_latex("a_b & 5%"))
        a\_b \& 5\%
    """
    escaped = "".join(ESCAPES.get(character, character) for character in visible(text))
    escaped = re.sub(r"-(?=-)", "-{}", escaped)  # two hyphens would become a dash
    return re.sub(r"^(?=[\[*])", "{}", escaped)  # the end of the row above would take these as its option


def width(text: str) -> float:
    """Points that a text takes, rather too many than too few.

    Example:
        >>> round(width("0.9121"), 1)
        29.3
    """
    return sum(WIDTHS.get(character, WIDEST) for character in text)


def tables(grid: Grid, title: str, notes: Sequence[str | None], label: str) -> list[str]:
    """The table, or several with the same names where it has too many columns for a page."""
    widths = [max(cell.width for cell in column) for column in zip(grid.head, *grid.rows, strict=True)]
    room, limit = _room(widths, grid.names)
    broken = room < widths[grid.names - 1]
    widths[grid.names - 1] = room
    parts = _parts(widths, grid.names)
    note = " ".join(_prose(f"{each.removesuffix('.')}.") for each in notes if each)
    made = []
    for number, columns in enumerate(parts, 1):
        rows = [[row[column].source for column in columns] for row in (grid.head, *grid.rows)]
        if broken:
            for row, name in zip(rows[1:], grid.raw, strict=True):
                row[grid.names - 1] = rf"\raggedright\hangindent=1em {_breakable(name)}"
        of = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        caption = rf"\caption{{{_prose(title + of)}.}}\label{{{label}{f'-{number}' if number > 1 else ''}}}"
        spec = ["r"] * (grid.names - 1) + ["l"] + [grid.numbers] * (len(columns) - grid.names)
        if broken:
            spec[grid.names - 1] = f"p{{{room:.0f}pt}}"
        lines = sum(_lines(name, room) for name in grid.raw) if broken else len(grid.rows)
        set_table = _long if lines > MAX_LINES else _float
        made.append(set_table("".join(spec), [" & ".join(row) + r" \\" for row in rows], caption, note, limit))
    return made


def _room(widths: list[float], names: int) -> tuple[float, float]:
    """Points for the names, and the columns of text for the table: one if names then take two lines at most."""
    name, others = widths[names - 1], sum(widths) - widths[names - 1] + GAP * (len(widths) - 1)
    if COLUMN - others >= min(name, max(MIN_NAME, 0.6 * name)):
        return min(name, COLUMN - others), COLUMN
    return min(name, max(MIN_NAME, PAGE - others)), PAGE


def _parts(widths: list[float], names: int) -> list[list[int]]:
    """The columns of each table: the names, and as many of the others as fit."""
    first = sum(widths[:names]) + GAP * (names - 1)
    parts, used = [list(range(names))], first
    for column in range(names, len(widths)):
        if used + GAP + widths[column] > PAGE and len(parts[-1]) > names:
            parts.append(list(range(names)))
            used = first
        parts[-1].append(column)
        used += GAP + widths[column]
    return parts


def _breakable(name: str) -> str:
    """A name that may be broken after punctuation, and within words of more than 12 characters."""
    return r"\allowbreak{}".join(map(escape_latex, _pieces(name)))


def _pieces(name: str) -> list[str]:
    return re.findall(r"[^-_/.:]{1,12}[-_/.:]?|[-_/.:]", visible(name))


def _lines(name: str, room: float) -> int:
    """How many lines a broken name takes; all but the first are indented.

    Example:
        >>> _lines("team10_bundle1_run1", 80.0), _lines("team10", 80.0)
        (2, 1)
    """
    lines, left = 1, room
    for piece in map(width, _pieces(name)):
        if piece > left and left < room:
            lines, left = lines + 1, room - _INDENT
        left -= piece
    return lines


def _prose(text: str) -> str:
    """A sentence whose long words may be broken."""
    return " ".join([escape_latex(word) if len(word) <= LONG_WORD else _breakable(word) for word in text.split(" ")])


def _float(spec: str, rows: list[str], caption: str, note: str, limit: float) -> str:
    environment = "table" if limit == COLUMN else "table*"
    lines = [
        rf"\begin{{{environment}}}[t]",
        r"\centering\small\setlength{\tabcolsep}{4pt}",
        rf"{caption}\par\smallskip",
        rf"\begin{{tabular}}{{@{{}}{spec}@{{}}}}",
        r"\toprule",
        *_head(rows[0]),
        *rows[1:],
        r"\bottomrule",
        r"\end{tabular}",
        rf"\par\smallskip{{\footnotesize\raggedright {note}\par}}" if note else "",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(filter(None, lines))


def _long(spec: str, rows: list[str], caption: str, note: str, limit: float) -> str:
    head = [r"\toprule", *_head(rows[0])]
    lines = [
        LONGTABLE,
        r"\begingroup\small\setlength{\tabcolsep}{4pt}",
        rf"\begin{{longtable}}{{@{{}}{spec}@{{}}}}",
        rf"{caption}\\",
        *head,
        r"\endfirsthead",
        *head,
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *rows[1:],
        r"\end{longtable}",
        rf"\noindent{{\footnotesize\raggedright {note}\par}}" if note else "",
        r"\endgroup",
        r"\ifsigjaxtwo\twocolumn\fi",
    ]
    return "\n".join(filter(None, lines))


def _head(row: str) -> list[str]:
    return [row, r"\midrule"] if row.strip(r" &\{}") else []
