"""HTML: a fragment without scripts for notebooks, and a web page that loads nothing from other servers.

The web page has sortable tables with search, heat maps and forest plots: `page.js` draws the pairs from compact JSON in
the page. Without scripts, the page shows the same tables as notebooks. Both have a light and a dark style.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

import sigjax.report.words as words
from sigjax.records import Comparison, ReportRecord
from sigjax.records.display import escape_html as escape
from sigjax.records.display import visible, visible_json
from sigjax.report.sections import (
    MAX_GRID,
    MAX_NUMBERS,
    SIGNS,
    PairFamily,
    Section,
    Table,
    blocks,
    mark,
    named_headlines,
    paper_table,
    thresholds,
)


def to_fragment(report: ReportRecord) -> str:
    """Return a part of a page: the systems, and the grid of pairs, shaded by p. A tooltip shows a cell's numbers."""
    # The class is doubled in CSS rules, so that they override the rules of Jupyter and nbconvert.
    parts = ['<div class="sigjax">', f"<style>\n{_data('notebook.css')}</style>"]
    parts += [line for note in filter(words.is_warning, report.notes) for line in paragraph(note)]
    sections = list(blocks(report))
    if len(sections) > 1:
        parts += paper_lines(report, sections)
    for section in sections:
        parts += systems_lines(section)
        for family in section.families:
            pairs = pairs_lines(family) if family.layout != "baseline" else []
            pairs += paragraph(family.method, "small method")
            parts += folded("All pairs" if family.only is None else "Details", pairs)
    for note in report.notes:
        parts += [] if words.is_warning(note) else paragraph(f"Note: {note}", "small")
    parts += [f'<p class="small"><code>{escape(report.signature)}</code></p>', "</div>"]
    return "\n".join(parts) + "\n"


def paragraph(text: str | None, style: str = "") -> list[str]:
    """Return a paragraph of the CSS class `style`; no lines if there is no text."""
    mark = f' class="{style}"' if style else ""
    return [] if text is None else [f"<p{mark}>{_sentence(text)}</p>"]


def _sentence(text: str) -> str:
    """Return a sentence as HTML, with the commands of sigjax in it as code.

    >>> print(_sentence("see `sigjax help discoveries`; `a` < `b`"))
    see <code>sigjax help discoveries</code>; `a` &lt; `b`
    """
    return words.COMMAND.sub(r"<code>\1</code>", escape(text))


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Return HTML of `lines` that appear on a click on the title."""
    return [f"<details>\n<summary>{escape(title)}</summary>", *lines, "</details>"]


def systems_lines(section: Section) -> list[str]:
    """Return the headlines and their basis (each sentence once), the table of systems, and details after a click."""
    parts = [part for headline in section.headlines for part in paragraph(headline, "conclusion")]
    for family in section.families:
        test = f"{family.test} test: " if len(section.families) > 1 else ""
        parts += paragraph(family.warning and test + family.warning, "warning")
    for basis in dict.fromkeys([family.basis for family in section.families if family.only is None]):
        parts += paragraph(basis, "small basis")
    table, caption = section.table, section.caption
    parts.append(table_html(table.without(table.details), caption, "systems"))
    name = table.names[0]
    others = [column for column in range(len(table.header)) if column != name and column not in table.details]
    more = [table_html(table.without(others), caption, "details"), *paragraph(section.key, "small")]
    return [*parts, *folded(f"More columns: {', '.join([table.header[i] for i in sorted(table.details)])}", more)]


def pairs_lines(family: PairFamily) -> list[str]:
    """Return the table or the grid of the pairs, and the meaning of its shades."""
    shaded = family.layout == "grid" and len(family.systems) > MAX_NUMBERS
    caption = family.heading if shaded or family.only else f"{family.heading}; {family.star}"
    if family.layout != "grid":
        return [table_html(family.table, caption, "pairs")]
    limits = enumerate(thresholds(family.settings))
    keys = [f'<span class="key p{shade}">&nbsp;</span>p &lt; {limit:g} &ensp;' for shade, limit in limits]
    keys += [" &ensp; ".join(SIGNS)] if shaded else []
    parts = [_grid(family, caption, shaded=shaded), f'<p class="legend">{"".join(keys)}</p>']
    if len(family.systems) > MAX_GRID:
        parts += paragraph(words.left_out("grid", MAX_GRID, len(family.systems), every_pair="to_json() gives"))
    return parts


def paper_lines(report: ReportRecord, sections: Sequence[Section]) -> list[str]:
    """Return the headlines, the table for a paper, and the meaning of the marks in this table."""
    said = named_headlines(sections[:MAX_HEADLINES])
    paper = paper_table(report, sections)
    parts = [part for line in said for part in paragraph(line, "conclusion")]
    return [*parts, table_html(paper, paper.title, "paper"), *paragraph(paper.note, "small")]


def _scrolling(style: str, caption: str, head: str, rows: list[str]) -> str:
    """Return a table of the CSS class `style` that can be scrolled, also with the keyboard."""
    label, body = escape(caption), "\n".join(f"<tr>{row}</tr>" for row in rows)
    head = f"<thead><tr>{head}</tr></thead>\n" if head else ""
    titled = f"<caption>{label}</caption>\n" if label else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label or "table"}">\n<table class="{style}">\n'
        f"{titled}{head}<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def table_html(table: Table, caption: str, style: str) -> str:
    """Return a table of the CSS class `style`. The cells of the first column of names are row headers."""

    def cell(column: int, content: Any) -> str:
        if column in table.scores:
            marks = f"<sup>{content.marks}</sup>" if content.marks else ""
            return f"<td>{f'<b>{content.text}</b>' if content.best else content.text}{marks}</td>"
        tag = 'th class="name" scope="row"' if column in table.names[:1] else "td"
        tag = 'td class="name"' if column in table.names[1:] else tag
        return f"<{tag}>{escape(content)}</{tag[:2]}>"

    if max((len(row[i]) for row in table.rows for i in table.names), default=0) > LONG_NAME:
        style += " long"
    names = [' class="name"' * (column in table.names) for column in range(len(table.header))]
    head = [f'<th{name} scope="col">{escape(text)}</th>' for name, text in zip(names, table.header, strict=True)]
    rows = ["".join(cell(column, content) for column, content in enumerate(row)) for row in table.rows]
    return _scrolling(style, caption, "".join(head) if any(table.header) else "", rows)


def _grid(family: PairFamily, caption: str, *, shaded: bool) -> str:
    size = min(len(family.systems), MAX_GRID)
    numbers = (f'<th scope="col">{number}</th>' for number in range(family.first_column + 1, size + 1))
    rows = []
    for rank, (system, line) in enumerate(zip(family.systems, family.grid(size), strict=False), 1):
        cells = "".join(_cell(one, family.delta_spec, shaded=shaded) for one in line)
        rows.append(f'<th class="name" scope="row">{rank} {escape(system.name)}</th>{cells}')
    return _scrolling("grid", caption, f'<th class="name" scope="col">{family.p_title}</th>{"".join(numbers)}', rows)


def _cell(comparison: Comparison | None, spec: str, *, shaded: bool) -> str:
    if comparison is None:
        return "<td></td>"
    shade = mark(comparison)
    style, sign = ("", shade) if isinstance(shade, str) else (f' class="p{shade}"', "")
    adjusted = words.format_adjusted_p(comparison)
    heading = words.interval_heading(comparison.settings, [comparison.joint_pairs])
    tooltip = f"{comparison.a} - {comparison.b}: delta {words.format_number(comparison.delta, spec)}, {heading} "
    tooltip += f"{words.format_interval(comparison.interval, spec)}, p = {words.format_raw_p(comparison)}"
    tooltip += "" if comparison.settings.correction == "none" else f", adjusted p = {adjusted}"
    return f'<td{style} title="{escape(tooltip)}">{sign if shaded else adjusted}</td>'


MAX_DRAWN = 200
"""A heat map has at most this many systems, because more cells make browsers slow."""
MAX_HEADLINES = 5
"""At most this many metrics have headlines at the top of the page. Each metric also has a headline in its section."""
LONG_NAME = 48
"""If a name in a table has more letters than this, it is broken into lines, even if there is room."""
MAX_NAME = 24
"""Names beside a heat map are cut to this number of letters."""
_SIGNS = {"·": "-", "?": "?", "=": "="}


def to_html(report: ReportRecord) -> str:
    """Return the report as a whole page for browsers, light or dark as in the browser's settings."""
    sections = list(blocks(report))
    data = [_family_data(family, one.table) for one in sections for family in one.families]
    systems = {system.name for section in sections for system in section.systems}
    size = f"{words.count(len(systems), 'system')} on {words.size_text(report.num_instances, report.runs)}"
    metrics = words.first_of([section.title for section in sections], 3)
    parts = [f'<p class="warning" role="note">{_sentence(note)}</p>' for note in filter(words.is_warning, report.notes)]
    if len(sections) > 1:
        links = [f'<a href="#m{i}">{escape(section.title)}</a>' for i, section in enumerate(sections)]
        parts += ['<nav aria-label="Metrics">', *links, "</nav>", "</header>\n<main>"]
        parts += ['<section id="all">', *paper_lines(report, sections), "</section>"]
    else:
        parts.append("</header>\n<main>")
    numbers = itertools.count()
    for number, section in enumerate(sections):
        parts += _section(section, number, numbers, titled=len(sections) > 1)
    return _page(metrics, size, [*parts, *_reproduce(report)], data)


def blocks_page(title: str, size: str, first: Sequence[str | Table], details: Sequence[str | Table]) -> str:
    """Return a page of sentences and tables. `first` begins with the answer; `details` appear on a click.

    `title` and `size` (of the data) stand at the top of the page.
    """
    answer, *others = _of_blocks(first)
    parts = ["</header>\n<main>\n<section>", answer.replace("small", "conclusion", 1), *others]
    return _page(title, size, [*parts, *folded("Details", _of_blocks(details)), "</section>"], [])


def _of_blocks(parts: Sequence[str | Table]) -> list[str]:
    """Return sentences and tables as HTML. A heading before a table becomes the caption of the table."""
    lines: list[str] = []
    for before, part in zip(["", *parts], parts, strict=False):
        if isinstance(part, Table):
            heading = before if isinstance(before, str) and before.endswith(":") else ""
            lines.append(table_html(part, heading.removesuffix(":"), "paper"))
        elif not part.endswith(":"):
            lines += paragraph(part, "small")
    return lines


def _page(title: str, size: str, parts: Sequence[str], data: Sequence[Any]) -> str:
    """Return a whole page. `parts` are the HTML after the title, up to the end of `main`; the script draws `data`."""
    style, script = _data("page.css"), _data("page.js")
    # The policy lists the hashes of our style and script, so that nothing else runs or loads, whatever names contain.
    policy = f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}"
    head = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; base-uri 'none'; form-action 'none'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">',
        f"<title>{escape(f'{title}: {size}')}</title>\n<style>{style}</style>\n</head>\n<body>",
        f"<header>\n<h1>{escape(title)} <small>{escape(size)}</small></h1>",
    ]
    ends = "</main>", f'<script type="application/json" id="data">{_json(data)}</script>', f"<script>{script}</script>"
    return "\n".join([*head, *parts, *ends, "</body>\n</html>\n"])


def _data(name: str) -> str:
    return files("sigjax.report").joinpath(name).read_text("ascii")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    """Return the value as JSON in ASCII. Its characters are escaped so that they cannot end an HTML element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _section(section: Section, number: int, numbers: Iterator[int], *, titled: bool) -> list[str]:
    """Return the lines of one metric. `titled` says whether this section has a title.

    `number` is the number of the section. Each family of pairs gets the next of `numbers`, by which the script finds
    the data of the family.
    """
    parts = [f'<section id="m{number}" aria-label="{escape(section.title)}">']
    parts += [f"<h2>{escape(section.title)}</h2>"] if titled else []
    parts += systems_lines(section)
    for family in section.families:
        parts += [f'<section class="family" data-family="{next(numbers)}">', f"<h3>{escape(family.heading)}</h3>"]
        parts += paragraph(family.method, "small method")
        if family.layout == "grid" and len(family.systems) > MAX_DRAWN:
            parts += paragraph(words.left_out("page", MAX_DRAWN, len(family.systems), every_pair="to_json() gives"))
        if family.layout == "pair":
            parts.append(table_html(family.table, "Difference", "pairs"))
        else:
            parts += ["<noscript>", *pairs_lines(family), "</noscript>"]
        parts.append("</section>")
    return [*parts, "</section>"]


def _reproduce(report: ReportRecord) -> list[str]:
    notes = [f"<li>{_sentence(note)}</li>" for note in report.notes if not words.is_warning(note)]
    parts = ['<section id="reproduce">\n<h2>To reproduce</h2>']
    if notes:
        parts += ["<details open>\n<summary>Notes</summary>\n<ul>", *notes, "</ul>\n</details>"]
    values = report.settings_dict() | {"versions": report.versions}
    rows = [(name, visible_json(value)) for name, value in values.items()]
    table = table_html(Table(("setting", "value"), rows, names=(0, 1)), "Settings", "settings")
    signature = f"<p><code>{escape(report.signature)}</code></p>"
    parts += ["<details>\n<summary>Settings</summary>", table, "</details>"]
    return [*parts, "<details open>\n<summary>Signature</summary>", signature, "</details>\n</section>"]


def _family_data(family: PairFamily, systems: Table) -> dict[str, Any]:
    """Return the data of a family of pairs for the script.

    Texts are as shown to people. A column of pairs is one text, whose values are joined by spaces.
    """
    size = len(family.systems) if family.layout != "grid" else min(len(family.systems), MAX_DRAWN)
    shown, settings = family.systems[:size], family.settings
    rank = {system.name: i for i, system in enumerate(shown)}
    methods: dict[str, int] = {}
    rows = [
        (rank[one.a], rank[one.b], *_texts(one, family.delta_spec), methods.setdefault(_method(one), len(methods)))
        for one in (family.comparisons if size == len(family.systems) else family.among(size))
    ]
    keys = ("a", "b", "delta", "low", "high", "p", "adjusted", "marks", "method")
    columns = {key: " ".join(map(str, each)) for key, each in zip(keys, zip(*rows, strict=True), strict=True)}
    at = systems.header.index("score")
    names = list(map(visible, rank))
    return columns | {
        "systems": names,
        "short": words.short_names(names, MAX_NAME),
        "scores": [row[at] for row in systems.rows[:size]],
        "methods": list(methods),
        "kind": family.layout,
        "reference": rank[settings.baseline or (family.only.b if family.only else shown[0].name)],
        "decides": family.p_title,
        "turns": settings.alternative == "two-sided",
        "interval": words.interval_heading(settings, family.comparisons.values("joint_pairs")),
        "limits": [f"{limit:g}" for limit in thresholds(settings)],
        "numbers": size <= MAX_NUMBERS,
    }


def _texts(pair: Comparison, spec: str) -> tuple[str, ...]:
    (low, high), shade = pair.interval or (None, None), mark(pair)
    numbers = (words.format_number(value, spec) for value in (pair.delta, low, high))
    sign = _SIGNS[shade] if isinstance(shade, str) else str(shade)
    return (*numbers, words.format_raw_p(pair), words.format_adjusted_p(pair), sign)


def _method(pair: Comparison) -> str:
    drawn = "" if pair.resamples is None else f", {words.count(pair.resamples, 'resample')}"
    return words.METHODS[pair.method] + drawn
