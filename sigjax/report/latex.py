r"""LaTeX tables (package booktabs), ready to paste."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigjax.records import Comparison
from sigjax.report.numbers import DASH, alpha, format_adjusted_p, is_significant
from sigjax.report.rows import Table, baseline_table, grid_table, pairs_table, systems_table
from sigjax.report.sections import Family, Section, sections
from sigjax.report.visible import visible
from sigjax.report.words import caption, heading, key, method_line, unsettled

if TYPE_CHECKING:
    from sigjax.report.report import Report

MAX_GRID = 12
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


def to_latex(report: Report) -> str:
    """The report as LaTeX: systems with score and interval, then the grid of p-values for up to 12 systems."""
    blocks = [r"% needs \usepackage{booktabs}"]
    for section in sections(report):
        facts = [caption(section, report), key(section, report.settings)]
        title = escape(". ".join(fact.rstrip(".") for fact in facts if fact))
        blocks.append(_float(systems_table(section, report.settings), title))
        blocks += [_family(section, family, report) for family in section.families]
    blocks += [f"% note: {visible(note)}" for note in report.notes]
    blocks.append(f"% {visible(report.signature)}")
    return "\n".join(blocks) + "\n"


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    Example:
        >>> print(escape("a_b & 5%"))
        a\_b \& 5\%
    """
    escaped = "".join(ESCAPES.get(character, character) for character in visible(text))
    escaped = re.sub(r"-(?=-)", "-{}", escaped)  # two hyphens would become a dash
    return re.sub(r"^(?=[\[*])", "{}", escaped)  # the end of the row above would take these as its option


def _family(section: Section, family: Family, report: Report) -> str:
    settings = report.settings
    if len(family.comparisons) == 1:
        table = pairs_table(section._replace(families=(family,)), settings)
    elif settings.baseline is not None:
        table = baseline_table(section, family, baseline=settings.baseline)
    elif len(section.systems) <= MAX_GRID:
        table = grid_table(section, family, cell=_grid_cell)
    else:
        return (
            f"% {len(family.comparisons)} pairs of {visible(section.metric)} left out: use --format csv for all of them"
        )
    facts = f"{section.metric}, {heading(family, settings)}; * p < {alpha(settings):g}; {method_line(family)}"
    if warning := unsettled(family):
        facts += f". {warning.removesuffix('.')}"
    return _float(table, escape(facts))


def _grid_cell(comparison: Comparison) -> str:
    """Short enough for twelve columns."""
    if comparison.p_adjusted < 0.001:
        return "<0.001*" if is_significant(comparison) else "<0.001"
    return format_adjusted_p(comparison)


def _float(table: Table, title: str) -> str:
    columns = "".join("l" if column in table.names else "r" for column in range(len(table.header)))
    lines = [" & ".join(escape(cell) for cell in table.header) + r" \\"]
    for row in table.rows:
        cells = (escape(cell) if column in table.names else _number(cell) for column, cell in enumerate(row))
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering",
            rf"\caption{{{title}.}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _number(cell: str) -> str:
    r"""A cell that we wrote: signs, powers of ten and stars become mathematics.

    Example:
        >>> print(_number("[-0.01, 0.02]"), _number("3.1e-12*"), _number("2–4"))
        [$-0.01$, 0.02] $3.1\times10^{-12}{}^{*}$ 2--4
    """
    return re.sub(r"([<>+-]*)(\d+(?:\.\d+)?)(?:e([+-]?\d+))?(\*?)", _mathematics, cell).replace(DASH, "--")


def _mathematics(found: re.Match[str]) -> str:
    relation, digits, exponent, star = found.groups()
    power = "" if exponent is None else rf"\times10^{{{int(exponent)}}}"
    if relation or power:
        return f"${relation}{digits}{power}{'{}^{*}' if star else ''}$"
    return f"{digits}$^{{*}}$" if star else digits
