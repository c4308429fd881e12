r"""LaTeX (packages booktabs and longtable): the table for a paper, and the tables for its appendix.

A table is as wide as one text column of a two-column class if it fits, else as wide as both. If names are still too
long, they are broken into lines. If a table has too many columns, its columns are divided into several blocks below
each other. A long table is a `longtable`. Tables are set in `\small`, which the usual classes print at 10 pt or
smaller. So the widths of texts are those in Computer Modern at 10 pt. The widths of text columns are those of the
narrowest class (ACL). Labels begin with the name of the file, so that a paper may use several reports.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from unicodedata import combining, normalize

from sigjax.records import ReportRecord
from sigjax.records.display import visible
from sigjax.report.sections import Section, Table, blocks, named_headlines, pairs_table, paper_table
from sigjax.report.tex import BOLD, declared, escape_latex, fonts, width
from sigjax.report.words import COMMAND, DASH, count, is_warning

MARKS = {"†": r"\dagger", "‡": r"\ddagger"}
COLUMN, PAGE, GAP = 216.0, 450.0, 8.0
"""In points: `COLUMN` and `PAGE` are the widths of one and of two text columns (a little below the real widths), and
`GAP` is the gap between the columns of a table."""
MAX_LINES = 45
"""A table with more lines than this below its caption is broken between pages."""
MAX_PAIRS = 300
"""An appendix has at most this many pairs of a metric. 25 systems with one test have 300 pairs."""
MIN_NAME, LONG_WORD = 80.0, 25
_INDENT, _PIECE = 10.0, 12
"""`_INDENT`: indent of all lines of a broken name except the first, in points. `_PIECE`: a part of a name with at most
this many letters is not broken."""
LONGTABLE = r"""% longtable needs one column: the class goes back to two after it
\makeatletter\newif\ifsigjaxtwo\if@twocolumn\sigjaxtwotrue\onecolumn\fi\makeatother"""


def to_latex(
    report: ReportRecord,
    path: str | os.PathLike[str] | None = None,
    *,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    """Return the table for a paper, with systems as rows and metrics as columns.

    `path` is the file of the table. If `label` is not given, it is made from the name of this file. `caption` is LaTeX
    code. LaTeX comments give the results of the tests, for the text of the paper.
    """
    sections = list(blocks(report))
    paper = paper_table(report, sections)
    comments = named_headlines(sections)
    comments += [family.warning for section in sections for family in section.families if family.warning]
    comments += [note for note in report.notes if is_warning(note)]
    caption = _caption(f"{paper.title}. {paper.note}") if caption is None else caption
    body = set_table(paper, caption, [], label or _label(path))
    return _document(report, body, [*comments, report.signature])


def to_appendix(report: ReportRecord, path: str | os.PathLike[str] | None = None, *, label: str | None = None) -> str:
    """Return tables for each metric: its systems with intervals, and all pairs.

    All labels begin with `label`, or if it is not given, with a label that is made from the name of the file `path`.
    """
    parts, sections = [], list(blocks(report))
    for section, name in zip(sections, _labels(sections, label or _label(path)), strict=True):
        table, pairs = section.table, sum(len(family.comparisons) for family in section.families)
        if "adjusted p" in table.header and pairs <= MAX_PAIRS:  # the table of pairs shows p before the adjustment
            table = table.without([i for i, title in enumerate(table.header) if title == "p"])
        parts.append(set_table(table, _caption(section.caption), [section.key], name))
        if section.families:
            parts.append(_pairs(section, name))
    return _document(report, "\n".join(parts), [*(f"note: {note}" for note in report.notes), report.signature])


def document_latex(
    title: str, verdict: str, parts: Sequence[str | Table], path: str | os.PathLike[str] | None = None
) -> str:
    """Return the tables of a document; the caption of a table is the heading before it, or else the title.

    `parts` are the sentences and tables of the document. Sentences become comments.
    """
    tables, comments = list[str](), [verdict]
    for before, part in zip(["", *parts], parts, strict=False):
        if not isinstance(part, Table):
            comments.append(part)
            continue
        heading = before if isinstance(before, str) and before.endswith(":") else ""
        label = f"{_label(path)}{f'-{len(tables) + 1}' if tables else ''}"
        tables.append(set_table(part, _caption(heading.removesuffix(":") or title), [], label))
    names = [row[i] for part in parts if isinstance(part, Table) for row in part.rows for i in part.names]
    return _whole("\n".join(tables), list(dict.fromkeys(names)), comments)


def _document(report: ReportRecord, body: str, comments: Sequence[str]) -> str:
    return _whole(body, named_in(report), comments)


def _whole(body: str, names: Sequence[str], comments: Sequence[str]) -> str:
    packages = r"\usepackage{booktabs}" + r" \usepackage{longtable}" * ("{longtable}" in body) + fonts(body)
    lines = [f"% needs {packages}", *declared(body, names), body]
    return "\n".join([*lines, *(f"% {visible(each)}" for each in comments)]) + "\n"


def named_in(report: ReportRecord) -> list[str]:
    """Return the names of the systems and metrics of a report."""
    return list(dict.fromkeys([*(one.name for one in report.systems), *(one.metric for one in report.systems)]))


def _label(path: str | os.PathLike[str] | None) -> str:
    """Return the label of the table in a file, made from the name of the file.

    >>> _label("out/mt.tex"), _label("mt 2.appendix.tex"), _label(None)
    ('tab:mt', 'tab:mt-2', 'tab:results')
    """
    name = "" if path is None else re.sub(r"(\.appendix)?\.\w+$", "", PurePath(path).name)
    return f"tab:{re.sub('[^A-Za-z0-9.]+', '-', name).strip('-') or 'results'}"


def _labels(sections: Sequence[Section], first: str) -> list[str]:
    """Return a label for each metric: the label of the report (`first`), and the name of the metric.

    A number is added if the name has no letters or digits, or if another metric already has the label.
    """
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
    return set_table(table, _caption(f"{section.title}: {count(pairs, 'pair')}"), notes, f"{label}-pairs")


def _head(table: Table, column: int) -> tuple[str, float]:
    """Return the header of a column as LaTeX, and its width in points.

    A header that comes from sigjax and has a comma is broken into two lines.
    """
    text = visible(table.header[column])
    if column in table.scores:
        beside = GAP / 2 if column == len(table.header) - 1 else 0.0  # others use the gap to the next column
        return rf"\multicolumn{{2}}{{c}}{{{escape_latex(text)}}}", width(text) + beside
    lines = text.split(", ")
    lines = [f"{line}," for line in lines[:-1]] + lines[-1:]
    head = r"\\".join(map(escape_latex, lines))
    return rf"\shortstack[r]{{{head}}}" if len(lines) > 1 else head, max(map(width, lines))


def _cell(table: Table, column: int, cell: Any) -> tuple[str, float]:
    """Return a cell as LaTeX, and its width in points.

    Names are escaped. Scores have two columns in LaTeX: the marks of a score are superscripts in a separate column.
    Bold text is wider.
    """
    if column in table.names:
        return escape_latex(cell), width(cell)
    if column not in table.scores:
        return _mathematics(cell), width(re.sub("-|–", "+", cell)) + (18.0 if "e" in cell else 0.0)
    text, marks = cell.text.replace("-", "$-$"), MARKS.get(cell.marks) or rf"\mathrm{{{cell.marks}}}"
    return (
        (rf"\textbf{{{text}}}" if cell.best else text) + (f" & $^{{{marks}}}$" if cell.marks else " & "),
        (BOLD if cell.best else 1.0) * width(cell.text),
    )


def _mathematics(cell: str) -> str:
    r"""Return a cell with text from sigjax (not from the data) as LaTeX: signs, powers of ten and stars become math.

    >>> print(_mathematics("[-0.01, 0.02]"), _mathematics("3.1e-12*"), _mathematics("2–4"))
    [$-0.01$, 0.02] $3.1\times10^{-12}{}^{*}$ 2--4
    """
    cell = re.sub(r"[%&#_]", r"\\\g<0>", cell)
    return re.sub(r"([<>+-]{0,2})(\d+(?:\.\d+)?)(?:e([+-]?\d+))?(\*?)", _number, cell).replace(DASH, "--")


def _number(match: re.Match[str]) -> str:
    relation, digits, exponent, star = match.groups()
    power = "" if exponent is None else rf"\times10^{{{int(exponent)}}}"
    if relation or power:
        return f"${relation}{digits}{power}{'{}^{*}' if star else ''}$"
    return f"{digits}$^{{*}}$" if star else digits


def _caption(title: str) -> str:
    """Return a title as the text of a caption."""
    return f"{_prose(title.removesuffix('.'))}."


def set_table(table: Table, caption: str, notes: Sequence[str | None], label: str) -> str:
    """Return the table as LaTeX.

    If it has too many columns for a page, it is divided into blocks below each other. Each block begins with the names.
    `notes` are sentences below the table.
    """
    columns = range(len(table.header))
    after = min(table.names, default=-1) + 1  # a rank may stand before the names
    first = next((i for i in columns[after:] if i not in table.names), len(columns))
    cells = [[_head(table, i) for i in columns], *([_cell(table, i, row[i]) for i in columns] for row in table.rows)]
    widths = [max(width for _, width in column) for column in zip(*cells, strict=True)]
    for i in table.scores:
        digits = max((width for _, width in [row[i] for row in cells[1:]]), default=0.0)
        marks = max((0.8 * width(row[i].marks) for row in table.rows), default=0.0)
        widths[i] = max(cells[0][i][1], digits + marks)
    room, limit = _room(widths, table.names, is_long=len(table.rows) > MAX_LINES)
    broken = {i: room[i] for i in table.names if room[i] < widths[i]}
    widths = [room[i] if i in room else width for i, width in enumerate(widths)]
    rows = [[text for text, _ in row] for row in cells]
    for row, raw in zip(rows, [tuple(map(visible, table.header)), *table.rows], strict=True):
        for i in broken:
            row[i] = rf"\raggedright\hangindent=1em\relax {_breakable(raw[i])}"
    # The marks of scores have a separate column, so that digits are aligned.
    spec = ["l" if i in table.names else "r@{}l" if i in table.scores else "r" for i in columns]
    for i, points in broken.items():
        spec[i] = f"p{{{points:.0f}pt}}"
    made: list[Tabular] = []
    for part in _columns_by_block(widths, first):
        end = r"\tabularnewline" if part[-1] in broken else r"\\"  # \raggedright has a \\ of its own
        body = [f"{' & '.join([row[i] for i in part])} {end}" for row in rows]
        made.append(("".join([spec[i] for i in part]), body))
    note = " ".join(_prose(f"{each.removesuffix('.')}.") for each in notes if each)
    caption = rf"\caption{{{caption}}}\label{{{label}}}"
    lines = sum(max([_lines(row[i], room) for i, room in broken.items()], default=1) for row in table.rows)
    if lines * len(made) > MAX_LINES:
        return _long(made, caption, note)
    return _float(made, caption, note, "table" if limit == COLUMN else "table*")


def _room(widths: list[float], names: Sequence[int], *, is_long: bool) -> tuple[dict[int, float], float]:
    """Return in points: the width of each column of `names`, and the width of the table (one or two text columns).

    `widths` are the widths of all columns without line breaks. The table is as wide as one text column if it is not a
    `longtable` (`is_long`), and if each name then fits into about two lines.
    """
    others = sum(widths) - sum(widths[i] for i in names) + GAP * (len(widths) - 1)
    least = sum(min(widths[i], max(MIN_NAME, 0.6 * widths[i])) for i in names)
    limit = COLUMN if not is_long and COLUMN - others >= least else PAGE
    room, left = dict[int, float](), limit - others
    for i in sorted(names, key=widths.__getitem__):  # the narrowest first; the rest share the remaining room
        room[i] = min(widths[i], max(MIN_NAME, left / (len(names) - len(room))))
        left -= room[i]
    return room, limit


def _columns_by_block(widths: list[float], first: int) -> list[list[int]]:
    """Divide columns of these `widths` (in points) into blocks that fit on a page; return the columns of each block.

    The first columns (their number is `first`) are repeated in each block. The other columns follow in order, in each
    block as many as fit.
    """
    parts = [list(range(first))]
    for column in range(first, len(widths)):
        used = sum(widths[i] + GAP for i in parts[-1]) + widths[column]
        if used > PAGE + 0.1 and len(parts[-1]) > first:
            parts.append(list(range(first)))
        parts[-1].append(column)
    return parts


def _breakable(name: str) -> str:
    return " ".join(r"\allowbreak{}".join(map(escape_latex, _pieces(word))) for word in name.split(" "))


def _pieces(name: str) -> list[str]:
    """Return the parts between which a name may be broken: after punctuation, and in words that are long or wide.

    >>> _pieces("team-model.v2"), _pieces("ABCDEFGHIJKLMN")
    (['team-', 'model.', 'v2'], ['ABCDEFGHIJ', 'KLMN'])
    """
    pieces: list[str] = []
    for word in re.findall(r"[^-_/.:]+[-_/.:]?|[-_/.:]", normalize("NFC", visible(name))):
        start, points = len(pieces), 0.0
        for character in word:
            points += width(character)
            fits = len(pieces) > start and (character in "-_/.:" or len(pieces[-1]) < _PIECE)
            if combining(character) or (fits and points <= MIN_NAME - _INDENT):
                pieces[-1:] = [f"{pieces[-1] if pieces[start:] else ''}{character}"]
            else:
                pieces.append(character)
                points = width(character)
    return pieces


def _lines(name: str, room: float) -> int:
    """Return the number of lines of a name that is broken to fit into `room` points.

    All lines except the first are indented.

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
    r"""Return a sentence as LaTeX, with the commands of sigjax in it as code.

    >>> print(_prose('p < 0.05 in "best"; see `sigjax help discoveries`'))
    $p<0.05$ in ``best''; see \texttt{sigjax help discoveries}
    """
    texts = [" ".join(map(_word, part.split(" "))) for part in COMMAND.split(text)]
    texts[0::2] = [re.sub(r'"([^"]*)"', r"``\1''", part) for part in texts[0::2]]
    texts[1::2] = [rf"\texttt{{{command}}}" for command in texts[1::2]]
    return re.sub(r"\bp \\textless{} ([\d.e-]+\d)", r"$p<\1$", "".join(texts)).replace("{}* ", "$^{*}$ ")


def _word(word: str) -> str:
    return escape_latex(word) if len(word) <= LONG_WORD else _breakable(word)


Tabular = tuple[str, list[str]]
"""A table in LaTeX: the alignment of its columns, and its rows, the header first."""


def _float(made: Sequence[Tabular], caption: str, note: str, kind: str) -> str:
    lines = [rf"\begin{{{kind}}}[t]", r"\centering\small\setlength{\tabcolsep}{4pt}", rf"{caption}\par\smallskip"]
    for number, (spec, rows) in enumerate(made):
        lines += [r"\par\medskip" if number else "", rf"\begin{{tabular}}{{@{{}}{spec}@{{}}}}", r"\toprule", rows[0]]
        lines += [r"\midrule", *rows[1:], r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip{{\footnotesize\raggedright {note}\par}}" if note else "", rf"\end{{{kind}}}"]
    return "\n".join(filter(None, lines))


def _long(made: Sequence[Tabular], caption: str, note: str) -> str:
    lines = [LONGTABLE, r"\begingroup\small\setlength{\tabcolsep}{4pt}"]
    for number, (spec, rows) in enumerate(made):
        head = [r"\toprule", rows[0], r"\midrule"]
        lines += [r"\addtocounter{table}{-1}" if number else "", rf"\begin{{longtable}}{{@{{}}{spec}@{{}}}}"]
        lines += ["" if number else rf"{caption}\\", *head, r"\endfirsthead", *head, r"\endhead"]
        lines += [r"\bottomrule", r"\endfoot", *rows[1:], r"\end{longtable}"]
    lines.append(rf"\noindent{{\footnotesize\raggedright {note}\par}}" if note else "")
    return "\n".join(filter(None, [*lines, r"\endgroup", r"\ifsigjaxtwo\twocolumn\fi"]))
