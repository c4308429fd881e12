r"""LaTeX (packages booktabs and longtable): the table of a paper, and details for its appendix.

A table takes one column of a two-column class where it fits, else both; names too long for that are broken into lines,
and metrics too many are spread over several tables. A long one is a `longtable`. Widths are those of Computer Modern at
10 pt, the largest `\small` of the usual classes, and columns those of the narrowest one (ACL).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sigjax.records import Comparison, ReportRecord
from sigjax.records.display import visible
from sigjax.report.sections import PairFamily, Section, Table, blocks, grid_table, paper_table, peer_lines
from sigjax.report.words import DASH, format_adjusted_p, is_significant

MARKS = {"†": r"\dagger", "‡": r"\ddagger"}
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


def to_latex(report: ReportRecord) -> str:
    """The report as LaTeX: the table of the paper, then per metric intervals and p-values (a grid up to 8 systems)."""
    sections = list(blocks(report))
    parts = [r"% needs \usepackage{booktabs}, and \usepackage{longtable} for more than 45 lines"]
    paper = paper_table(report, sections)
    parts += tables(paper, paper.title, [paper.note], "tab:systems")
    for section, label in zip(sections, _labels(sections), strict=True):
        parts += tables(section.table, section.caption, [section.key], label)
        for family in section.families:
            parts += _family(family, section, f"{label}-{family.test}")
    parts += [f"% note: {visible(note)}" for note in report.notes]
    parts.append(f"% {visible(report.signature)}")
    return "\n".join(parts) + "\n"


def _labels(sections: Sequence[Section]) -> list[str]:
    """A label for each metric: its name, with a number where that is nothing or taken."""
    names = [re.sub(r"[^a-z0-9]+", "-", section.metric.lower()).strip("-") for section in sections]
    return [f"tab:{name}" if name and names.index(name) == i else f"tab:{name}{i + 1}" for i, name in enumerate(names)]


def _family(family: PairFamily, section: Section, label: str) -> list[str]:
    if family.not_listed():
        sentences = (f"{section.metric}, {family.basis}", family.not_listed(), family.conclusion, family.warning)
        return [f"% {visible(sentence)}" for sentence in sentences if sentence]
    table = grid_table(family, _short_p) if family.layout == "grid" else family.table
    notes = [f"{family.basis}; {family.method}", family.conclusion, family.warning, *peer_lines(family)]
    return tables(table, f"{section.metric}, {family.heading}", notes, label)


def _short_p(comparison: Comparison) -> str:
    """A cell short enough for eight columns."""
    if comparison.p_adjusted < 0.001:
        return "<0.001*" if is_significant(comparison) else "<0.001"
    return format_adjusted_p(comparison)


def _head(table: Table, column: int) -> tuple[str, float]:
    """A header as LaTeX, and its width in points."""
    text = table.header[column]
    if column not in table.scores:
        return escape_latex(text), width(visible(text))
    source = escape_latex(text).replace("↓", r"$\downarrow$")
    return rf"\multicolumn{{2}}{{c}}{{{source}}}", width(text)


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

    Example:
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


def tables(table: Table, title: str, notes: Sequence[str | None], label: str) -> list[str]:
    """The table, or several with the same names where it has too many columns for a page."""
    names, columns = max(table.names) + 1, range(len(table.header))
    cells = [[_head(table, i) for i in columns], *([_cell(table, i, row[i]) for i in columns] for row in table.rows)]
    widths = [max(width for _, width in column) for column in zip(*cells, strict=True)]
    room, limit = _room(widths, names)
    broken, raw = room < widths[names - 1], [row[names - 1] for row in table.rows]
    widths[names - 1] = room
    parts = _columns_by_table(widths, names)
    note = " ".join(_prose(f"{each.removesuffix('.')}.") for each in notes if each)
    made = []
    for number, part in enumerate(parts, 1):
        rows = [[row[column][0] for column in part] for row in cells]
        if broken:
            for row, name in zip(rows[1:], raw, strict=True):
                row[names - 1] = rf"\raggedright\hangindent=1em {_breakable(name)}"
        of = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        caption = rf"\caption{{{_prose(title + of)}.}}\label{{{label}{f'-{number}' if number > 1 else ''}}}"
        # Marks have their own column, so that digits stand under each other.
        spec = ["r"] * (names - 1) + ["l"] + ["r@{}l" if column in table.scores else "r" for column in part[names:]]
        if broken:
            spec[names - 1] = f"p{{{room:.0f}pt}}"
        lines = sum(_lines(name, room) for name in raw) if broken else len(table.rows)
        set_table = _long if lines > MAX_LINES else _float
        made.append(set_table("".join(spec), [" & ".join(row) + r" \\" for row in rows], caption, note, limit))
    return made


def _room(widths: list[float], names: int) -> tuple[float, float]:
    """Points for the names, and the columns of text for the table: one if names then take two lines at most."""
    name, others = widths[names - 1], sum(widths) - widths[names - 1] + GAP * (len(widths) - 1)
    if COLUMN - others >= min(name, max(MIN_NAME, 0.6 * name)):
        return min(name, COLUMN - others), COLUMN
    return min(name, max(MIN_NAME, PAGE - others)), PAGE


def _columns_by_table(widths: list[float], names: int) -> list[list[int]]:
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
        *_head_lines(rows[0]),
        *rows[1:],
        r"\bottomrule",
        r"\end{tabular}",
        rf"\par\smallskip{{\footnotesize\raggedright {note}\par}}" if note else "",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(filter(None, lines))


def _long(spec: str, rows: list[str], caption: str, note: str, limit: float) -> str:
    head = [r"\toprule", *_head_lines(rows[0])]
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


def _head_lines(row: str) -> list[str]:
    return [row, r"\midrule"] if row.strip(r" &\{}") else []
