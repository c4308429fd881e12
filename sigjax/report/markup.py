"""Markup languages: tables and sentences that you can paste. Each language is a `Dialect`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sigjax.records import ReportRecord
from sigjax.records.display import visible
from sigjax.report.sections import ScoreCell, Table, blocks, named_headlines, pairs_table, paper_table
from sigjax.report.words import COMMAND


@dataclass(frozen=True, slots=True)
class Dialect:
    """A markup language: the functions with which `render` writes a report.

    `escape` writes text from the data, such as names, also in tables. `number` writes a number in a table (perhaps with
    a star), and the header of its column. `heading` writes escaped text as a heading. `score` writes a score with its
    marks. `table` writes a table from three arguments: the header, whether each column contains names, and the rows.
    `code` writes a line without escapes, and `command` a command within a sentence.
    """

    escape: Callable[[str], str]
    number: Callable[[str], str]
    heading: Callable[[str], str]
    score: Callable[[ScoreCell], str]
    table: Callable[[Sequence[str], Sequence[bool], Sequence[Sequence[str]]], str]
    code: Callable[[str], str]
    command: Callable[[str], str]

    def sentence(self, text: str) -> str:
        r"""Return a sentence with escapes; commands of sigjax between backticks become code.

        >>> RST.sentence("see `sigjax help discoveries`; a*b")
        'see ``sigjax help discoveries``; a\\*b'
        """
        parts = COMMAND.split(text)
        return "".join(self.command(part) if i % 2 else self.escape(part) for i, part in enumerate(parts))


def render(report: ReportRecord, dialect: Dialect) -> str:
    """Return the report in a markup language: a section for each metric, with its pairs.

    If there are several metrics, the table for a paper comes first.
    """
    sections, escape = list(blocks(report)), dialect.sentence
    parts: list[str] = []
    if len(sections) > 1:
        paper = paper_table(report, sections)
        parts += [dialect.heading(paper.title), *map(escape, named_headlines(sections))]
        parts += [render_table(paper, dialect), escape(paper.note)]
    for section in sections:
        parts += [dialect.heading(escape(section.caption)), *map(escape, section.headlines)]
        parts += [escape(family.warning) for family in section.families if family.warning]
        parts += [escape(f"{family.basis}.") for family in section.families if family.only is None]
        parts.append(render_table(section.table, dialect))
        parts += [escape(section.key)] if section.key else []
        listed = [family for family in section.families if family.not_listed() is None]
        if listed:
            parts.append(render_table(pairs_table(listed, report.settings), dialect))
        for family in section.families:
            sentences = (f"{family.heading}; {family.method}.", family.not_listed())
            parts += [escape(sentence) for sentence in sentences if sentence]
    parts += [escape(f"Note: {note}") for note in report.notes]
    return "\n\n".join([*parts, dialect.code(visible(report.signature))]) + "\n"


def render_table(table: Table, dialect: Dialect) -> str:
    """Return a table in a markup language. Text from the data, such as names, is escaped."""
    columns, number = range(len(table.header)), dialect.number
    writers = [dialect.escape if i in table.names else dialect.score if i in table.scores else number for i in columns]
    head = [dialect.escape(text) if i in table.scores else number(text) for i, text in enumerate(table.header)]
    rows = [[write(cell) for write, cell in zip(writers, row, strict=True)] for row in table.rows]
    return dialect.table(head, [i in table.names for i in columns], rows)


def escape_markdown(text: str) -> str:
    """Escape the text so that Markdown shows it literally, also in a table cell."""
    return re.sub(r"([\\`*_\[\]<>|&~$#])", r"\\\1", visible(text))


def _markdown_score(score: ScoreCell) -> str:
    text = f"**{score.text}**" if score.best else score.text
    return f"{text}<sup>{score.marks}</sup>" if score.marks else text


def _markdown_table(head: Sequence[str], names: Sequence[bool], rows: Sequence[Sequence[str]]) -> str:
    rule = [":--" if is_name else "--:" for is_name in names]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


MARKDOWN = Dialect(
    escape_markdown, str, "### {}".format, _markdown_score, _markdown_table, "    {}".format, "`{}`".format
)
"""GitHub's Markdown."""
to_markdown = partial(render, dialect=MARKDOWN)


_RST_MARK = re.compile(r"^(?:[-+•](?= |$)|\(?(?:\d+|[A-Za-z]|[ivxlcdm]+)[.)](?= |$)|[^\w\s](?=[^\w\s])|::?|>>>)")
"""A line that begins with this pattern would start a list, a rule, a field or a code block."""


def escape_rst(text: str) -> str:
    """Escape the text so that reStructuredText shows it literally."""
    shown = visible(text)
    begins = "\\" if _RST_MARK.match(shown) and shown[0] not in "\\`*_|" else ""
    return begins + re.sub(r"([\\`*_|])", r"\\\1", shown)


def _rst_score(score: ScoreCell) -> str:
    text = f"**{score.text}**" if score.best else score.text
    return rf"{text}\ :sup:`{score.marks}`" if score.marks else text


def _rst_table(head: Sequence[str], names: Sequence[bool], rows: Sequence[Sequence[str]]) -> str:
    """Return a list table, because the cells of a list table can contain any text."""
    del names
    header = ["   :header-rows: 1"] if any(head) else []
    lines = [".. list-table::", *header, ""]
    for row in (head, *rows) if header else rows:
        cells = [f"{'   * -' if i == 0 else '     -'} {cell}".rstrip() for i, cell in enumerate(row)]
        lines += cells
    return "\n".join(lines)


RST = Dialect(escape_rst, escape_rst, "**{}**".format, _rst_score, _rst_table, "::\n\n    {}".format, "``{}``".format)
"""reStructuredText, as docutils and Sphinx read it."""
