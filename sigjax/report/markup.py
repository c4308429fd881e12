"""Markdown (GitHub's dialect): tables that are ready to paste.

LaTeX (packages booktabs and longtable): the table of a paper, and details for its appendix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sigjax.records import Comparison, ReportRecord
from sigjax.records.display import visible
from sigjax.report.sections import Family, Section, Table, blocks, grid_table, pairs_table, peer_lines
from sigjax.report.typeset import Cell, Grid, Paper, Score, escape_latex, paper_table, tables, width
from sigjax.report.words import DASH, format_adjusted_p, is_significant


def to_markdown(report: ReportRecord) -> str:
    """The report as Markdown: the table of the paper, then the systems of each metric, and every pair."""
    sections = list(blocks(report))
    parts = _paper(paper_table(report, sections))
    parts += [part for section in sections for part in _markdown_section(section, report)]
    parts += [escape_markdown(f"Note: {note}") for note in report.notes]
    parts.append(f"    {visible(report.signature)}")  # a code block: shown as it is
    return "\n\n".join(parts) + "\n"


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is, in a table cell too.

    Example:
        >>> print(escape_markdown("a_b | [c]"))
        a\_b \| \[c\]
    """
    return re.sub(r"([\\`*_\[\]<>|&~$#])", r"\\\1", visible(text))


def _paper(paper: Paper) -> list[str]:
    """The table of the paper, and what its marks mean."""
    rows = [[escape_markdown(name), *map(_score, row)] for name, row in zip(paper.systems, paper.scores, strict=True)]
    if paper.keys:
        rows = [[key, *row] for key, row in zip(paper.keys, rows, strict=True)]
    head = [*([""] if paper.keys else []), "system", *map(escape_markdown, paper.metrics)]
    rule = [*[":--"] * (len(head) - len(paper.metrics)), *["--:"] * len(paper.metrics)]
    return [f"### {paper.title}", _lines(head, rule, *rows), escape_markdown(paper.note)]


def _score(score: Score) -> str:
    text = f"**{score.text}**" if score.best else score.text
    return f"{text}<sup>{score.marks}</sup>" if score.marks else text


def _markdown_section(section: Section, report: ReportRecord) -> list[str]:
    parts = [f"### {escape_markdown(section.caption)}", markdown_table(section.table)]
    parts += [escape_markdown(section.key)] if section.key else []
    listed = [family for family in section.families if family.not_listed() is None]
    if listed:
        parts.append(markdown_table(pairs_table(listed, report.settings)))
    for family in section.families:
        facts = f"{family.heading}; {family.star}; {family.method}."
        sentences = (facts, family.conclusion, family.not_listed(), family.warning, *peer_lines(family))
        parts += [escape_markdown(sentence) for sentence in sentences if sentence]
    return parts


def markdown_table(table: Table) -> str:
    """A table; its names are escaped."""
    rule = (":--" if column in table.names else "--:" for column in range(len(table.header)))
    rows = ([escape_markdown(cell) if i in table.names else cell for i, cell in enumerate(row)] for row in table.rows)
    return _lines(table.header, rule, *rows)


def _lines(*rows: Iterable[str]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


MARKS = {"†": r"\dagger", "‡": r"\ddagger"}


def to_latex(report: ReportRecord) -> str:
    """The report as LaTeX: the table of the paper, then per metric intervals and p-values (a grid up to 8 systems)."""
    sections = list(blocks(report))
    parts = [r"% needs \usepackage{booktabs}, and \usepackage{longtable} for more than 45 lines"]
    paper = paper_table(report, sections)
    parts += tables(_paper_grid(paper), paper.title, [paper.note], "tab:systems")
    for section, label in zip(sections, _labels(sections), strict=True):
        parts += tables(_grid(section.table), section.caption, [section.key], label)
        for family in section.families:
            parts += _family(family, section, f"{label}-{family.comparisons[0].test}")
    parts += [f"% note: {visible(note)}" for note in report.notes]
    parts.append(f"% {visible(report.signature)}")
    return "\n".join(parts) + "\n"


def _labels(sections: Sequence[Section]) -> list[str]:
    """A label for each metric: its name, with a number where that is nothing or taken."""
    names = [re.sub(r"[^a-z0-9]+", "-", section.metric.lower()).strip("-") for section in sections]
    return [f"tab:{name}" if name and names.index(name) == i else f"tab:{name}{i + 1}" for i, name in enumerate(names)]


def _family(family: Family, section: Section, label: str) -> list[str]:
    if family.not_listed():
        sentences = (f"{section.metric}, {family.heading}", family.not_listed(), family.conclusion, family.warning)
        return [f"% {visible(sentence)}" for sentence in sentences if sentence]
    table = grid_table(family, _short_p) if family.kind == "grid" else family.table
    notes = [f"{family.star}; {family.method}", family.conclusion, family.warning, *peer_lines(family)]
    return tables(_grid(table), f"{section.metric}, {family.heading}", notes, label)


def _short_p(comparison: Comparison) -> str:
    """A cell short enough for eight columns."""
    if comparison.p_adjusted < 0.001:
        return "<0.001*" if is_significant(comparison) else "<0.001"
    return format_adjusted_p(comparison)


def _paper_grid(paper: Paper) -> Grid:
    head, names = [_name("system"), *map(_metric, paper.metrics)], [[_name(name)] for name in paper.systems]
    if paper.keys:
        head, names = [_name(""), *head], [[_name(key), *row] for key, row in zip(paper.keys, names, strict=True)]
    rows = [[*row, *map(_latex_score, scores)] for row, scores in zip(names, paper.scores, strict=True)]
    return Grid(head, rows, len(names[0]), list(paper.systems), "r@{}l")


def _metric(name: str) -> Cell:
    text = escape_latex(name).replace("↓", r"$\downarrow$")
    return Cell(rf"\multicolumn{{2}}{{c}}{{{text}}}", width(name))


def _latex_score(score: Score) -> Cell:
    """A score with its marks raised; bold is wider."""
    text, marks = score.text.replace("-", "$-$"), MARKS.get(score.marks) or rf"\mathrm{{{score.marks}}}"
    return Cell(
        (rf"\textbf{{{text}}}" if score.best else text) + (f" & $^{{{marks}}}$" if score.marks else " & "),
        1.16 * width(score.text) + 0.8 * width(score.marks),
    )


def _name(text: str) -> Cell:
    return Cell(escape_latex(text), width(visible(text)))


def _grid(table: Table) -> Grid:
    """A table of `blocks`: its columns of names come first but for the rank, which is set like them."""
    names = max(table.names) + 1
    rows = [
        [
            _name(cell)
            if i in table.names
            else Cell(_mathematics(cell), width(re.sub("-|–", "+", cell)) + (18.0 if "e" in cell else 0.0))
            for i, cell in enumerate(row)
        ]
        for row in table.rows
    ]
    return Grid([_name(cell) for cell in table.header], rows, names, [row[names - 1] for row in table.rows])


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
