"""One self-contained HTML fragment for notebooks, light or dark, without scripts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from sigjax.records import Comparison, Settings
from sigjax.report.grid import MAX_GRID, first_column, has_equal_scores, pair_grid, shades
from sigjax.report.numbers import (
    alpha,
    format_adjusted_p,
    format_interval,
    format_number,
    format_raw_p,
    percent,
)
from sigjax.report.rows import Table, baseline_table, delta_spec, pair_table, systems_table
from sigjax.report.sections import Family, Section, sections
from sigjax.report.visible import visible
from sigjax.report.words import caption, conclusion, heading, key, method_line, too_many, unsettled

if TYPE_CHECKING:
    from sigjax.report.report import Report

MAX_NUMBERS = 12
"""Systems whose p-values still fit into the cells; beyond, a cell is a shade with a tooltip."""
BLUE = "rgba(60, 120, 216, {})"
OPACITIES = (0.7, 0.45, 0.22)
STYLE = """<style>
.sigjax table { border-collapse: collapse; margin: 0.3em 0 0.8em; font-variant-numeric: tabular-nums; }
.sigjax th, .sigjax td { padding: 0.15em 0.6em; border: 0; text-align: right; white-space: nowrap; }
.sigjax th { border-bottom: 1px solid rgba(128, 128, 128, 0.6); }
.sigjax tbody th { border-bottom: 0; font-weight: normal; }
.sigjax .name { text-align: left; }
.sigjax .grid td { min-width: 1em; padding: 0.15em 0.35em; text-align: center; border: 1px solid transparent; }
.sigjax .grid td[style] { background-clip: padding-box; }
.sigjax .small { font-size: 85%; opacity: 0.8; }
.sigjax .key { padding: 0 0.5em; margin-right: 0.4em; }
</style>"""


def to_html(report: Report) -> str:
    """The report as HTML: systems, then the grid of pairs, shaded by p, each cell with its numbers as a tooltip."""
    blocks = ['<div class="sigjax">', STYLE]
    for section in sections(report):
        blocks.append(f"<p><b>{escape(caption(section, report))}</b></p>")
        blocks.append(_table(systems_table(section, report.settings)))
        if meaning := key(section, report.settings):
            blocks.append(f'<p class="small">{escape(meaning)}</p>')
        for family in section.families:
            blocks += _family(section, family, report)
    blocks += [f"<p>Note: {escape(note)}</p>" for note in report.notes]
    blocks += [f'<p class="small"><code>{escape(report.signature)}</code></p>', "</div>"]
    return "\n".join(blocks) + "\n"


def escape(text: str) -> str:
    r"""Text that HTML shows as it is, in an attribute too.

    Example:
        >>> print(escape('<b> "\u202e"'))
        &lt;b&gt; &quot;\u202e&quot;
    """
    return html.escape(visible(text))


def _family(section: Section, family: Family, report: Report) -> list[str]:
    settings = report.settings
    shaded = settings.baseline is None and len(section.systems) > MAX_NUMBERS
    star = "" if shaded or len(family.comparisons) == 1 else f"; * p < {alpha(settings):g}"
    blocks = [f"<p>{escape(heading(family, settings) + star)}</p>"]
    if len(family.comparisons) == 1:
        blocks.append(_table(pair_table(family.comparisons[0])))
        blocks.append(f"<p>{escape(conclusion(family.comparisons[0]))}</p>")
    elif settings.baseline is not None:
        blocks.append(_table(baseline_table(section, family, baseline=settings.baseline)))
    else:
        blocks += [_grid(section, family), _legend(settings, shaded=shaded)]
        if len(section.systems) > MAX_GRID:
            blocks.append(f"<p>{escape(too_many(section, MAX_GRID, every_pair='to_json() gives'))}</p>")
    if warning := unsettled(family):
        blocks.append(f"<p>{escape(warning)}</p>")
    return [*blocks, f'<p class="small">{escape(method_line(family))}</p>']


def _table(table: Table) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        marks = (' class="name"' if column in table.names else "" for column in range(len(cells)))
        return "".join(f"<{tag}{mark}>{escape(cell)}</{tag}>" for mark, cell in zip(marks, cells, strict=True))

    head = f"<thead><tr>{row(table.header, 'th')}</tr></thead>\n" if any(table.header) else ""
    body = "\n".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    return f"<table>\n{head}<tbody>\n{body}\n</tbody>\n</table>"


def _grid(section: Section, family: Family) -> str:
    size = min(len(section.systems), MAX_GRID)
    spec = delta_spec(family.comparisons)
    first = first_column(family.comparisons[0].settings)
    numbers = "".join(f"<th>{number + 1}</th>" for number in range(first, size))
    lines = []
    for rank, (system, line) in enumerate(zip(section.systems, pair_grid(section, family, size), strict=False), 1):
        cells = "".join(_cell(one, spec, in_words=size <= MAX_NUMBERS) for one in line[first:size])
        lines.append(f'<tr><th class="name">{rank} {escape(system.name)}</th>{cells}</tr>')
    head = f'<thead><tr><th class="name">adjusted p</th>{numbers}</tr></thead>'
    return f'<table class="grid">\n{head}\n<tbody>\n' + "\n".join(lines) + "\n</tbody>\n</table>"


def _cell(comparison: Comparison | None, spec: str, *, in_words: bool) -> str:
    if comparison is None:
        return "<td></td>"
    shade = shades(comparison.settings).of(comparison)
    style = "" if shade is None else f' style="background-color: {_colour(shade)}"'
    undecided = "?" if comparison.settled is False else "·"
    symbol = "=" if has_equal_scores(comparison) else undecided if shade is None else ""
    text = format_adjusted_p(comparison) if in_words else symbol
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
        f'<span class="key" style="background-color: {_colour(shade)}">&nbsp;</span>p &lt; {limit:g} &ensp;'
        for shade, limit in enumerate(shades(settings).thresholds)
    ]
    signs = "· not significant &ensp; ? not settled &ensp; = equal scores" if shaded else ""
    return f'<p class="small">{"".join(keys)}{signs}</p>'


def _colour(shade: int) -> str:
    return BLUE.format(OPACITIES[shade])
