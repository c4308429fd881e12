"""Markdown tables (GitHub's dialect): the systems, then every pair."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigjax.report.numbers import alpha
from sigjax.report.rows import Table, pairs_table, systems_table
from sigjax.report.sections import Section, sections
from sigjax.report.visible import visible
from sigjax.report.words import caption, conclusion, heading, key, method_line, too_many_listed, unsettled

if TYPE_CHECKING:
    from sigjax.report.report import Report


def to_markdown(report: Report) -> str:
    """The report as Markdown."""
    blocks = [block for section in sections(report) for block in _section(section, report)]
    blocks += [f"Note: {escape(note)}" for note in report.notes]
    blocks.append(f"    {visible(report.signature)}")  # a code block: shown as it is
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is, in a table cell too.

    Example:
        >>> print(escape("a_b | [c]"))
        a\_b \| \[c\]
    """
    return re.sub(r"([\\`*_\[\]<>|&~$#])", r"\\\1", visible(text))


def _section(section: Section, report: Report) -> list[str]:
    blocks = [f"### {escape(caption(section, report))}", _table(systems_table(section, report.settings))]
    if meaning := key(section, report.settings):
        blocks.append(escape(meaning))
    if not section.families:
        return blocks
    blocks.append(_table(pairs_table(section, report.settings)))
    for family in section.families:
        facts = [heading(family, report.settings), f"* p < {alpha(report.settings):g}", method_line(family)]
        blocks.append(escape("; ".join(facts)) + ".")
        if len(family.comparisons) == 1:
            blocks.append(escape(conclusion(family.comparisons[0])))
        if left_out := too_many_listed(section, family):
            blocks.append(escape(left_out))
        if warning := unsettled(family):
            blocks.append(escape(warning))
    return blocks


def _table(table: Table) -> str:
    rule = (":--" if column in table.names else "--:" for column in range(len(table.header)))
    rows = ([escape(cell) if i in table.names else cell for i, cell in enumerate(row)] for row in table.rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (table.header, rule, *rows))
