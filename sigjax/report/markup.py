"""Markdown (GitHub's dialect) and LaTeX (package booktabs): tables that are ready to paste."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigjax.records import Comparison
from sigjax.report.blocks import Section, blocks
from sigjax.report.pairs import Family, Table, grid_table, pairs_table
from sigjax.report.words import DASH, format_adjusted_p, is_significant, visible

if TYPE_CHECKING:
    from sigjax.report.report import Report

MAX_LATEX_GRID = 12
"""Systems whose grid fits on a page."""
ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def to_markdown(report: Report) -> str:
    """The report as Markdown: the systems, then every pair."""
    parts = [part for section in blocks(report) for part in _markdown_section(section, report)]
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


def _markdown_section(section: Section, report: Report) -> list[str]:
    parts = [f"### {escape_markdown(section.caption)}", _markdown_table(section.table)]
    parts += [escape_markdown(section.key)] if section.key else []
    if section.families:
        parts.append(_markdown_table(pairs_table(section.families, report.settings)))
    for family in section.families:
        facts = f"{family.heading}; {family.star}; {family.method}."
        sentences = (facts, family.conclusion, family.not_listed(), family.warning)
        parts += [escape_markdown(sentence) for sentence in sentences if sentence]
    return parts


def _markdown_table(table: Table) -> str:
    rule = (":--" if column in table.names else "--:" for column in range(len(table.header)))
    rows = ([escape_markdown(cell) if i in table.names else cell for i, cell in enumerate(row)] for row in table.rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (table.header, rule, *rows))


def to_latex(report: Report) -> str:
    """The report as LaTeX: systems with score and interval, then the grid of p-values for up to 12 systems."""
    parts = [r"% needs \usepackage{booktabs}"]
    for section in blocks(report):
        facts = (section.caption, section.key)
        parts.append(_float(section.table, ". ".join(fact.rstrip(".") for fact in facts if fact)))
        parts += [_latex_family(family, section.metric) for family in section.families]
    parts += [f"% note: {visible(note)}" for note in report.notes]
    parts.append(f"% {visible(report.signature)}")
    return "\n".join(parts) + "\n"


def escape_latex(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    Example:
        >>> print(escape_latex("a_b & 5%"))
        a\_b \& 5\%
    """
    escaped = "".join(ESCAPES.get(character, character) for character in visible(text))
    escaped = re.sub(r"-(?=-)", "-{}", escaped)  # two hyphens would become a dash
    return re.sub(r"^(?=[\[*])", "{}", escaped)  # the end of the row above would take these as its option


def _latex_family(family: Family, metric: str) -> str:
    if family.kind == "pair":
        table = pairs_table([family], family.settings)
    elif family.kind == "baseline":
        table = family.table
    elif len(family.systems) <= MAX_LATEX_GRID:
        table = grid_table(family, _short_p)
    else:
        return f"% {len(family.comparisons)} pairs of {visible(metric)} left out: use --format csv for all of them"
    title = f"{metric}, {family.heading}; {family.star}; {family.method}"
    return _float(table, f"{title}. {family.warning.removesuffix('.')}" if family.warning else title)


def _short_p(comparison: Comparison) -> str:
    """A cell short enough for twelve columns."""
    if comparison.p_adjusted < 0.001:
        return "<0.001*" if is_significant(comparison) else "<0.001"
    return format_adjusted_p(comparison)


def _float(table: Table, title: str) -> str:
    columns = "".join("l" if column in table.names else "r" for column in range(len(table.header)))
    rows = (
        [escape_latex(cell) if i in table.names else _mathematics(cell) for i, cell in enumerate(row)]
        for row in table.rows
    )
    head, *body = (" & ".join(cells) + r" \\" for cells in (map(escape_latex, table.header), *rows))
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering",
            rf"\caption{{{escape_latex(title)}.}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _mathematics(cell: str) -> str:
    r"""A cell that sigjax wrote: signs, powers of ten and stars become mathematics.

    Example:
        >>> print(_mathematics("[-0.01, 0.02]"), _mathematics("3.1e-12*"), _mathematics("2–4"))
        [$-0.01$, 0.02] $3.1\times10^{-12}{}^{*}$ 2--4
    """
    return re.sub(r"([<>+-]*)(\d+(?:\.\d+)?)(?:e([+-]?\d+))?(\*?)", _number, cell).replace(DASH, "--")


def _number(match: re.Match[str]) -> str:
    relation, digits, exponent, star = match.groups()
    power = "" if exponent is None else rf"\times10^{{{int(exponent)}}}"
    if relation or power:
        return f"${relation}{digits}{power}{'{}^{*}' if star else ''}$"
    return f"{digits}$^{{*}}$" if star else digits
