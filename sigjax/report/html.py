"""Tables and sentences as HTML, and the fragment of a report that notebooks show, light or dark, without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigjax.records import Comparison, Settings
from sigjax.records.visible import escape_html as escape
from sigjax.report.blocks import Section, blocks
from sigjax.report.pairs import MAX_GRID, MAX_NUMBERS, SIGNS, Family, Table, mark, thresholds
from sigjax.report.paper import Paper, Score, paper_table
from sigjax.report.peers import peer_lines
from sigjax.report.words import (
    format_adjusted_p,
    format_interval,
    format_number,
    format_raw_p,
    is_warning,
    left_out,
    percent,
)

if TYPE_CHECKING:
    from sigjax.report.report import Report

# The class stands twice, so that these rules are stronger than those of Jupyter and nbconvert; the background of what
# stays while scrolling is that of the notebook's theme.
STYLE = """<style>
.sigjax.sigjax .scroll { overflow: auto; max-height: 32em; margin: 0.3em 0 0.8em; }
.sigjax.sigjax table { margin: 0; border: 0; border-collapse: separate; border-spacing: 0; table-layout: auto;
  font-size: inherit; font-variant-numeric: tabular-nums; }
.sigjax.sigjax caption { caption-side: top; padding: 0.3em 0; text-align: left; color: inherit; font-weight: 600; }
.sigjax.sigjax :is(th, td) { padding: 0.15em 0.6em; border: 0; text-align: right; white-space: nowrap; }
.sigjax.sigjax th { background: var(--jp-layout-color0, var(--vscode-editor-background, Canvas)); color: inherit; }
.sigjax.sigjax thead th { position: sticky; top: 0; z-index: 2; box-shadow: inset 0 -1px rgba(128, 128, 128, 0.6); }
.sigjax.sigjax table tbody tr { background: none; }
.sigjax.sigjax tbody th { font-weight: normal; }
.sigjax.sigjax .name { text-align: left; }
.sigjax.sigjax .grid .name { position: sticky; left: 0; z-index: 1; max-width: 18em; overflow: hidden;
  text-overflow: ellipsis; }
.sigjax.sigjax .grid thead .name { z-index: 3; }
.sigjax.sigjax .grid :is(td, thead th:not(.name)) { min-width: 2em; padding: 0.15em 0.3em; text-align: center; }
.sigjax.sigjax .grid td { border: 1px solid transparent; background-clip: padding-box; }
.sigjax.sigjax .small { font-size: 85%; opacity: 0.8; overflow-wrap: anywhere; }
.sigjax.sigjax .legend { font-size: 85%; }
.sigjax.sigjax .key { padding: 0 0.5em; margin-right: 0.4em; }
.sigjax.sigjax .p0 { background-color: rgba(60, 120, 216, 0.7); }
.sigjax.sigjax .p1 { background-color: rgba(60, 120, 216, 0.45); }
.sigjax.sigjax .p2 { background-color: rgba(60, 120, 216, 0.22); }
</style>"""


def to_fragment(report: Report) -> str:
    """A part of a page: systems, then the grid of pairs, shaded by p; each cell has its numbers as a tooltip."""
    parts = ['<div class="sigjax">', STYLE]
    parts += [line for note in filter(is_warning, report.notes) for line in paragraph(note)]
    sections = list(blocks(report))
    if len(sections) > 1:
        parts += paper_lines(paper_table(report, sections))
    for section in sections:
        parts += systems_lines(section)
        for family in section.families:
            parts += [*pairs_lines(family), *method_lines(family)]
    for note in report.notes:
        parts += [] if is_warning(note) else paragraph(f"Note: {note}", "small")
    parts += [f'<p class="small"><code>{escape(report.signature)}</code></p>', "</div>"]
    return "\n".join(parts) + "\n"


def paragraph(text: str | None, kind: str = "") -> list[str]:
    """A paragraph of this class; nothing where there is no text."""
    mark = f' class="{kind}"' if kind else ""
    return [] if text is None else [f"<p{mark}>{escape(text)}</p>"]


def systems_lines(section: Section) -> list[str]:
    """What the tests say, and what is not settled, each sentence once; the systems, and what their columns mean."""
    parts, tests = [], [family.heading.partition(",")[0] for family in section.families]
    for kind in ("conclusion", "warning"):
        by: dict[str | None, list[str]] = {}
        for test, family in zip(tests, section.families, strict=True):
            by.setdefault(getattr(family, kind), []).append(test)
        for text, those in by.items():
            names_test = len(tests) == 1 or any(
                family.only and family.conclusion == text for family in section.families
            )
            parts += paragraph(text if names_test or text is None else f"{' and '.join(those)}: {text}", kind)
    return [*parts, table_html(section.table, section.caption, "systems"), *paragraph(section.key, "small")]


def method_lines(family: Family) -> list[str]:
    """How p-values were computed, and what the tests of other programs say."""
    return [part for line in (family.method, *peer_lines(family)) for part in paragraph(line, "small method")]


def pairs_lines(family: Family) -> list[str]:
    """The table or the grid of the pairs, and what its shades mean."""
    shaded = family.kind == "grid" and len(family.systems) > MAX_NUMBERS
    caption = family.heading if shaded or family.kind == "pair" else f"{family.heading}; {family.star}"
    if family.kind != "grid":
        return [table_html(family.table, caption, "pairs")]
    parts = [_grid(family, caption, shaded=shaded), _legend(family.settings, shaded=shaded)]
    if len(family.systems) > MAX_GRID:
        parts += paragraph(left_out("grid", MAX_GRID, len(family.systems), every_pair="to_json() gives"))
    return parts


def paper_lines(paper: Paper) -> list[str]:
    """The table of all metrics, and what its marks mean."""
    keys = [f"{key} " for key in paper.keys] or [""] * len(paper.systems)
    head = ['<th class="name" scope="col">system</th>', *(f'<th scope="col">{escape(m)}</th>' for m in paper.metrics)]
    rows = [
        f'<th class="name" scope="row">{key}{escape(name)}</th>{"".join(map(_score, scores))}'
        for key, name, scores in zip(keys, paper.systems, paper.scores, strict=True)
    ]
    return [_scrolling("paper", paper.title, "".join(head), rows), *paragraph(paper.note, "small")]


def _score(score: Score) -> str:
    marks = f"<sup>{score.marks}</sup>" if score.marks else ""
    return f"<td>{f'<b>{score.text}</b>' if score.best else score.text}{marks}</td>"


def _scrolling(kind: str, caption: str, head: str, rows: list[str]) -> str:
    """A table of this class that scrolls, also by the keys."""
    label, body = escape(caption), "\n".join(f"<tr>{row}</tr>" for row in rows)
    head = f"<thead><tr>{head}</tr></thead>\n" if head else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">\n<table class="{kind}">\n'
        f"<caption>{label}</caption>\n{head}<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def table_html(table: Table, caption: str, kind: str) -> str:
    """A table; its first column of names has the headers of the rows."""

    def cell(column: int, text: str) -> str:
        tag = 'th class="name" scope="row"' if column == table.names[0] else "td"
        tag = 'td class="name"' if column in table.names[1:] else tag
        return f"<{tag}>{escape(text)}</{tag[:2]}>"

    names = (' class="name"' if column in table.names else "" for column in range(len(table.header)))
    head = (f'<th{name} scope="col">{escape(text)}</th>' for name, text in zip(names, table.header, strict=True))
    rows = ["".join(cell(column, text) for column, text in enumerate(row)) for row in table.rows]
    return _scrolling(kind, caption, "".join(head) if any(table.header) else "", rows)


def _grid(family: Family, caption: str, *, shaded: bool) -> str:
    size = min(len(family.systems), MAX_GRID)
    numbers = (f'<th scope="col">{number}</th>' for number in range(family.first_column + 1, size + 1))
    rows = []
    for rank, (system, line) in enumerate(zip(family.systems, family.grid(size), strict=False), 1):
        cells = "".join(_cell(one, family.delta_spec, shaded=shaded) for one in line)
        rows.append(f'<th class="name" scope="row">{rank} {escape(system.name)}</th>{cells}')
    return _scrolling("grid", caption, f'<th class="name" scope="col">adjusted p</th>{"".join(numbers)}', rows)


def _cell(comparison: Comparison | None, spec: str, *, shaded: bool) -> str:
    if comparison is None:
        return "<td></td>"
    shade = mark(comparison)
    style, sign = ("", shade) if isinstance(shade, str) else (f' class="p{shade}"', "")
    text = sign if shaded else format_adjusted_p(comparison)
    return f'<td{style} title="{escape(_tooltip(comparison, spec))}">{text}</td>'


def _tooltip(comparison: Comparison, spec: str) -> str:
    level = percent(comparison.settings.level)
    return (
        f"{comparison.a} - {comparison.b}: delta {format_number(comparison.delta, spec)}, "
        f"{level} interval {format_interval(comparison.interval, spec)}, "
        f"p = {format_raw_p(comparison)}, adjusted p = {format_adjusted_p(comparison)}"
    )


def _legend(settings: Settings, *, shaded: bool) -> str:
    keys = [
        f'<span class="key p{shade}">&nbsp;</span>p &lt; {limit:g} &ensp;'
        for shade, limit in enumerate(thresholds(settings))
    ]
    signs = " &ensp; ".join(SIGNS) if shaded else ""
    return f'<p class="legend">{"".join(keys)}{signs}</p>'
