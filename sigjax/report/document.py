"""`Document`: the content of a result for all outputs (headline, sentences, tables), and functions that write it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sigjax.records import ReportRecord
from sigjax.records.display import visible
from sigjax.records.options import StrPath
from sigjax.report.html import blocks_page
from sigjax.report.latex import document_latex
from sigjax.report.markup import MARKDOWN, Dialect, escape_markdown, render_table
from sigjax.report.sections import ScoreCell, Table, blocks, named_headlines, pairs_table, paper_table
from sigjax.report.text import BOLD, WHOLE, Page, draw_table, rendered, width_of_names
from sigjax.report.words import is_warning
from sigjax.version import __version__

_NAME, _WIDTH, _LEAST_NAME = 32, 80, 26
"""In characters: `_NAME` is the largest width of a name, `_WIDTH` is the width of lines of text in files, and
`_LEAST_NAME` is the smallest width for names in files."""
_SHORT_TABLE = 10
"""A GitHub comment shows at most this many rows of a table."""

Block = str | Table
"""A sentence, a table, or "" for a gap in a text. A sentence that ends with a colon is the heading of the next part."""


@dataclass(frozen=True)
class Document:
    """The content of a result."""

    title: str
    """The kind of result, such as "Power"."""
    about: str
    """The data of the result, such as "F1 on 200 instances"."""
    verdict: str
    """The answer in one sentence."""
    blocks: Sequence[Block]
    """The parts that are always shown."""
    details: Sequence[Block] = ()
    """The parts that web pages and comments show only on a click."""
    alert: str = "NOTE"
    """The kind of GitHub alert that shows the verdict, such as "NOTE" or "CAUTION"; it determines the colour."""
    holds_texts: bool = False
    """Whether tables contain whole texts (such as notes) as names. Files do not break these texts into short lines."""

    @property
    def parts(self) -> list[Block]:
        """All parts below the verdict, without gaps."""
        return [part for part in chain(self.blocks, self.details) if part != ""]


def document_of(report: ReportRecord) -> Document:
    """Return the document of a report: the results of the tests and the systems; as details, all pairs and methods."""
    sections = list(blocks(report))
    about, *others = dict.fromkeys(section.caption for section in sections)
    verdict, *said = named_headlines(sections)
    first: list[Block] = [*said, *filter(is_warning, report.notes)]
    if len(sections) > 1:
        paper = paper_table(report, sections)
        first += [paper, paper.note]
    details: list[Block] = []
    for section in sections:
        warnings = [family.warning for family in section.families if family.warning]
        bases = [f"{family.basis}." for family in section.families if family.only is None]
        into = first if len(sections) == 1 else details
        into += [*warnings, *bases, f"{section.caption}:", section.table, *([section.key] if section.key else [])]
        listed = [family for family in section.families if family.not_listed() is None]
        if listed:
            details += [f"{section.title}, all pairs:", pairs_table(listed, report.settings)]
        for family in section.families:
            sentences = (f"{family.heading}; {family.method}.", family.not_listed())
            details += [sentence for sentence in sentences if sentence]
    details += [f"Note: {note}" for note in report.notes if not is_warning(note)]
    return Document("Comparison", "; ".join([about, *others]), verdict, first, [*details, report.signature])


def to_text(document: Document, *, width: int | None = None, color: bool = False) -> str:
    """Return the document as text in lines of `width` characters; by default, this is the width of the terminal.

    If there is no terminal, lines of tables have any width.
    """

    def draw(page: Page) -> None:
        page.sentence(document.verdict, style=BOLD)
        parts = [*document.blocks, *document.details]
        for before, part in zip(["", *parts], parts, strict=False):
            if isinstance(part, Table):
                table = _plain(part)
                if page.lines and not page.lines[-1][0]:
                    page.lines.pop()  # a table begins and ends with a blank line
                room = _NAME if page.room < WHOLE else max(_LEAST_NAME, min(_NAME, width_of_names(_WIDTH, table)))
                draw_table(page, table, most=WHOLE if document.holds_texts else room)
            elif _is_signature(part):
                page.add(visible(part))  # a single line, so that it can be copied
            elif part or page.lines[-1][0]:
                if part.endswith(":") and isinstance(before, str) and page.lines[-1][0]:
                    page.add()
                page.sentence(part)

    return rendered(draw, width, color=color, sentences=_WIDTH)


def _plain(table: Table) -> Table:
    """Return the table with each score as a text that is followed by the marks of the score."""
    rows = [[cell.text + cell.marks if isinstance(cell, ScoreCell) else cell for cell in row] for row in table.rows]
    return replace(table, rows=list(map(tuple, rows)), scores=()) if table.scores else table


def to_markup(document: Document, dialect: Dialect) -> str:
    """Return the document in a markup language."""
    verdict = dialect.score(ScoreCell(dialect.escape(document.verdict), best=True))
    parts = [verdict, *_in(document.parts, dialect)]
    return "\n\n".join(parts) + "\n"


def to_github(document: Document) -> str:
    """Return a comment for a pull request: verdict, first rows of the main tables, and details, shown on a click."""
    first = [part for part in document.blocks if part != ""]
    short = [replace(part, rows=part.rows[:_SHORT_TABLE]) if isinstance(part, Table) else part for part in first]
    whole = [] if short == first else ["All rows:", *first]
    details = [*whole, *(part for part in document.details if part != "")]
    folded = ["<details><summary>Details</summary>", *_in(details, MARKDOWN), "</details>"] if details else []
    verdict = f"> [!{document.alert}]\n> **{escape_markdown(document.verdict)}**"
    return "\n\n".join([verdict, *_in(short, MARKDOWN), *folded]) + "\n"


def to_html(document: Document) -> str:
    """Return a web page that loads nothing from other servers. Its details are shown on a click."""
    first = [document.verdict, *(part for part in document.blocks if part != "")]
    return blocks_page(document.title, document.about, first, [part for part in document.details if part != ""])


def to_latex(document: Document, path: StrPath | None = None) -> str:
    """Return the tables of the document, with captions; all other parts become comments, for the text of the paper."""
    return document_latex(document.about or document.title, document.verdict, document.parts, path)


def _is_signature(part: str) -> bool:
    return f"|sigjax:{__version__}" in part


def _in(parts: Sequence[Block], dialect: Dialect) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Table):
            yield render_table(part, dialect)
        else:
            yield dialect.code(visible(part)) if _is_signature(part) else dialect.sentence(part)
