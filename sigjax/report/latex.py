r"""LaTeX (packages booktabs and longtable): the table of a paper, and what goes into its appendix.

A table takes one column of a two-column class where it fits, else both; names too long for that are broken into lines,
and columns too many stand in several blocks below each other. A long one is a `longtable`. Widths are those of Computer
Modern at 10 pt, the largest `\small` of the usual classes, and columns those of the narrowest one (ACL). Labels begin
with the name of the file, so that a paper may take several reports.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from sigjax.records import ReportRecord
from sigjax.records.display import visible
from sigjax.report.sections import Section, Table, blocks, named_headlines, pairs_table, paper_table
from sigjax.report.words import DASH, count, is_warning

MARKS = {"†": r"\dagger", "‡": r"\ddagger"}
COLUMN, PAGE, GAP = 216.0, 450.0, 8.0
"""Points of one column, of two (each a little less than they have), and between the columns of a table."""
MAX_LINES = 45
"""Lines that fit on a page under a caption; longer tables are broken between pages."""
MAX_PAIRS = 300
"""Pairs that an appendix lists: those of 25 systems by one test."""
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


def to_latex(report: ReportRecord, path: str | os.PathLike[str] | None = None) -> str:
    """The table of a paper, systems by metrics; `path` is the file that it is for, by which it is labelled."""
    sections = list(blocks(report))
    paper = paper_table(report, sections)
    comments = [family.warning for section in sections for family in section.families if family.warning]
    comments += [note for note in report.notes if is_warning(note)]
    caption = " ".join([f"{paper.title}.", *named_headlines(sections), paper.note])
    body = set_table(paper, caption, [], _label(path))
    return _document(body, [*comments, report.signature])


def to_appendix(report: ReportRecord, path: str | os.PathLike[str] | None = None) -> str:
    """For each metric its systems with intervals, and all pairs; `path` is as for `to_latex`."""
    parts, sections = [], list(blocks(report))
    for section, label in zip(sections, _labels(sections, _label(path)), strict=True):
        parts.append(set_table(section.table, section.caption, [section.key], label))
        if section.families:
            parts.append(_pairs(section, label))
    return _document("\n".join(parts), [*(f"note: {note}" for note in report.notes), report.signature])


def _document(body: str, comments: Sequence[str]) -> str:
    packages = r"\usepackage{booktabs}" + r" \usepackage{longtable}" * ("{longtable}" in body)
    return "\n".join([f"% needs {packages}", body, *(f"% {visible(each)}" for each in comments)]) + "\n"


def _label(path: str | os.PathLike[str] | None) -> str:
    """The label of a file's table, from its name.

    >>> _label("out/mt.tex"), _label("mt 2.appendix.tex"), _label(None)
    ('tab:mt', 'tab:mt-2', 'tab:results')
    """
    name = "" if path is None else re.sub(r"(\.appendix)?\.\w+$", "", PurePath(path).name)
    return f"tab:{re.sub('[^A-Za-z0-9.]+', '-', name).strip('-') or 'results'}"


def _labels(sections: Sequence[Section], first: str) -> list[str]:
    """A label for each metric: its name after that of the report, with a number where that is nothing or taken."""
    names = [re.sub(r"[^a-z0-9]+", "-", section.metric.lower()).strip("-") for section in sections]
    return [f"{first}-{name if name and names.index(name) == i else f'{name}{i + 1}'}" for i, name in enumerate(names)]


def _pairs(section: Section, label: str) -> str:
    families = section.families
    notes = [f"{section.title}, {'; '.join(each for family in families for each in (family.basis, family.method))}"]
    notes += [each for family in families for each in (family.conclusion, family.warning) if each]
    pairs = sum(len(family.comparisons) for family in families)
    if pairs > MAX_PAIRS:
        notes.append(f"The {count(pairs, 'pair')} are left out here; --format csv or json gives them all.")
        return "\n".join(f"% {visible(sentence)}" for sentence in notes)
    table = pairs_table(families, families[0].settings)
    drop = {"method", *["test"] * (len(families) == 1)}
    table = table.without([i for i, name in enumerate(table.header) if name in drop])
    return set_table(table, f"{section.title}: {count(pairs, 'pair')}", [families[0].star, *notes], f"{label}-pairs")


def _head(table: Table, column: int) -> tuple[str, float]:
    """A header as LaTeX, and its width in points."""
    text = escape_latex(table.header[column]).replace("↓", r"$\downarrow$")
    source = rf"\multicolumn{{2}}{{c}}{{{text}}}" if column in table.scores else text
    return source, width(visible(table.header[column]))


def _cell(table: Table, column: int, cell: Any) -> tuple[str, float]:
    """A cell as LaTeX, and its width in points: columns of names come first, but for the rank, which is set like them.

    Marks of a score are raised; bold is wider.
    """
    if column in table.names:
        return escape_latex(cell), width(cell)
    if column not in table.scores:
        return _mathematics(cell), width(re.sub("-|–", "+", cell)) + (18.0 if "e" in cell else 0.0)
    text, marks = cell.text.replace("-", "$-$"), MARKS.get(cell.marks) or rf"\mathrm{{{cell.marks}}}"
    return (
        (rf"\textbf{{{text}}}" if cell.best else text) + (f" & $^{{{marks}}}$" if cell.marks else " & "),
        1.16 * width(cell.text) + 0.8 * width(cell.marks),
    )


def _mathematics(cell: str) -> str:
    r"""A cell that sigjax wrote: signs, powers of ten and stars become mathematics.

    >>> print(_mathematics("[-0.01, 0.02]"), _mathematics("3.1e-12*"), _mathematics("2–4"))
    [$-0.01$, 0.02] $3.1\times10^{-12}{}^{*}$ 2--4
    """
    return re.sub(r"([<>+-]{0,2})(\d+(?:\.\d+)?)(?:e([+-]?\d+))?(\*?)", _number, cell).replace(DASH, "--")


def _number(match: re.Match[str]) -> str:
    relation, digits, exponent, star = match.groups()
    power = "" if exponent is None else rf"\times10^{{{int(exponent)}}}"
    if relation or power:
        return f"${relation}{digits}{power}{'{}^{*}' if star else ''}$"
    return f"{digits}$^{{*}}$" if star else digits


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    escaped = "".join(ESCAPES.get(character, character) for character in visible(text))
    escaped = re.sub(r"-(?=-)", "-{}", escaped)  # two hyphens would become a dash
    return re.sub(r"^(?=[\[*])", "{}", escaped)  # the end of the row above would take these as its option


def width(text: str) -> float:
    """Points that a text takes, rather too many than too few."""
    return sum(WIDTHS.get(character, WIDEST) for character in text)


def set_table(table: Table, title: str, notes: Sequence[str | None], label: str) -> str:
    """The table, in blocks below each other where it has too many columns for a page, all of which begin with names."""
    first, columns = max(table.names) + 1, range(len(table.header))
    cells = [[_head(table, i) for i in columns], *([_cell(table, i, row[i]) for i in columns] for row in table.rows)]
    widths = [max(width for _, width in column) for column in zip(*cells, strict=True)]
    room, limit = _room(widths, table.names, is_long=len(table.rows) > MAX_LINES)
    broken = {i: room[i] for i in table.names if room[i] < widths[i]}
    widths = [room[i] if i in room else width for i, width in enumerate(widths)]
    rows = [[text for text, _ in row] for row in cells]
    for row, raw in zip(rows[1:], table.rows, strict=True):
        for i in broken:
            row[i] = rf"\raggedright\hangindent=1em\relax {_breakable(raw[i])}"
    # Marks have their own column, so that digits stand under each other.
    spec = ["l" if i in table.names else "r@{}l" if i in table.scores else "r" for i in columns]
    for i, points in broken.items():
        spec[i] = f"p{{{points:.0f}pt}}"
    made: list[Block] = []
    for part in _columns_by_block(widths, first):
        body = [rf"{' & '.join([row[i] for i in part])} \\" for row in rows]
        made.append(("".join([spec[i] for i in part]), body))
    note = " ".join(_prose(f"{each.removesuffix('.')}.") for each in notes if each)
    caption = rf"\caption{{{_prose(title.removesuffix('.'))}.}}\label{{{label}}}"
    lines = sum(max([_lines(row[i], room) for i, room in broken.items()], default=1) for row in table.rows)
    if lines * len(made) > MAX_LINES:
        return _long(made, caption, note)
    return _float(made, caption, note, "table" if limit == COLUMN else "table*")


def _room(widths: list[float], names: Sequence[int], *, is_long: bool) -> tuple[dict[int, float], float]:
    """Points for each column of names, and the columns of text for the table: one if names then take two lines."""
    others = sum(widths) - sum(widths[i] for i in names) + GAP * (len(widths) - 1)
    least = sum(min(widths[i], max(MIN_NAME, 0.6 * widths[i])) for i in names)
    limit = COLUMN if not is_long and COLUMN - others >= least else PAGE
    room, left = dict[int, float](), limit - others
    for i in sorted(names, key=widths.__getitem__):  # the shortest first: what they leave is for the others
        room[i] = min(widths[i], max(MIN_NAME, left / (len(names) - len(room))))
        left -= room[i]
    return room, limit


def _columns_by_block(widths: list[float], first: int) -> list[list[int]]:
    """The columns of each block: the `first` ones, and as many of the others as fit."""
    parts = [list(range(first))]
    for column in range(first, len(widths)):
        used = sum(widths[i] + GAP for i in parts[-1]) + widths[column]
        if used > PAGE + 0.1 and len(parts[-1]) > first:
            parts.append(list(range(first)))
        parts[-1].append(column)
    return parts


def _breakable(name: str) -> str:
    return r"\allowbreak{}".join(map(escape_latex, _pieces(name)))


def _pieces(name: str) -> list[str]:
    """A name may be broken after punctuation, and within words of more than 12 characters."""
    return re.findall(r"[^-_/.:]{1,12}[-_/.:]?|[-_/.:]", visible(name))


def _lines(name: str, room: float) -> int:
    """How many lines a broken name takes; all but the first are indented.

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
    words = [escape_latex(word) if len(word) <= LONG_WORD else _breakable(word) for word in text.split(" ")]
    return re.sub(r"\bp \\textless{} ([\d.e-]+\d)", r"$p<\1$", " ".join(words)).replace("{}* ", "$^{*}$ ")


Block = tuple[str, list[str]]
"""The alignment of the columns, and the rows, the head first."""


def _float(made: Sequence[Block], caption: str, note: str, kind: str) -> str:
    lines = [rf"\begin{{{kind}}}[t]", r"\centering\small\setlength{\tabcolsep}{4pt}", rf"{caption}\par\smallskip"]
    for number, (spec, rows) in enumerate(made):
        lines += [r"\par\medskip" if number else "", rf"\begin{{tabular}}{{@{{}}{spec}@{{}}}}", r"\toprule", rows[0]]
        lines += [r"\midrule", *rows[1:], r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip{{\footnotesize\raggedright {note}\par}}" if note else "", rf"\end{{{kind}}}"]
    return "\n".join(filter(None, lines))


def _long(made: Sequence[Block], caption: str, note: str) -> str:
    lines = [LONGTABLE, r"\begingroup\small\setlength{\tabcolsep}{4pt}"]
    for number, (spec, rows) in enumerate(made):
        head = [r"\toprule", rows[0], r"\midrule"]
        lines += [r"\addtocounter{table}{-1}" if number else "", rf"\begin{{longtable}}{{@{{}}{spec}@{{}}}}"]
        lines += ["" if number else rf"{caption}\\", *head, r"\endfirsthead", *head, r"\endhead"]
        lines += [r"\bottomrule", r"\endfoot", *rows[1:], r"\end{longtable}"]
    lines.append(rf"\noindent{{\footnotesize\raggedright {note}\par}}" if note else "")
    return "\n".join(filter(None, [*lines, r"\endgroup", r"\ifsigjaxtwo\twocolumn\fi"]))
