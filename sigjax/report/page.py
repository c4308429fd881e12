"""A web page of its own: tables that sort and search, heat maps, forest plots; it loads nothing from anywhere.

`data/page.js` draws the pairs from compact JSON in the page; without scripts the tables of notebooks stand there.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Container, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sigjax.records import Comparison, Distribution
from sigjax.records.visible import escape_html as escape
from sigjax.records.visible import visible, visible_json
from sigjax.report.blocks import Section, blocks
from sigjax.report.html import (
    method_lines,
    pairs_lines,
    paper_lines,
    paragraph,
    systems_lines,
    table_html,
)
from sigjax.report.names import short_names
from sigjax.report.pairs import MAX_NUMBERS, Family, Table, mark, thresholds
from sigjax.report.paper import paper_table
from sigjax.report.words import (
    METHODS,
    count,
    first_of,
    format_adjusted_p,
    format_number,
    format_p,
    format_raw_p,
    is_warning,
    left_out,
    percent,
)

if TYPE_CHECKING:
    from sigjax.report.report import Report

MAX_DRAWN = 200
"""Systems in a heat map; browsers get slow with more cells."""
MAX_NAME = 24
"""Letters of the names beside a heat map."""
_SIGNS = {"·": "-", "?": "?", "=": "="}


def to_html(report: Report) -> str:
    """The report as a whole page for browsers, light or dark as they are set."""
    sections = list(blocks(report))
    style, script = (files("sigjax").joinpath("data", name).read_text("ascii") for name in ("page.css", "page.js"))
    data = [
        _family_data(family, section.table, report.distributions) for section in sections for family in section.families
    ]
    title = f"{first_of([section.metric for section in sections], 3)}: {_size(report, sections)}"
    # The policy names our style and script by their hashes: nothing else runs or is loaded, whatever names hold.
    policy = f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}"
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; base-uri 'none'; form-action 'none'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>",
        f"{_header(report, sections)}\n<main>",
    ]
    if len(sections) > 1:
        parts += ['<section id="all">\n<h2>All metrics</h2>', *paper_lines(paper_table(report, sections)), "</section>"]
    before = 0
    for number, section in enumerate(sections):
        parts += _section(section, number, before, titled=len(sections) > 1)
        before += len(section.families)
    parts += [*_reproduce(report), "</main>", f'<script type="application/json" id="data">{_json(data)}</script>']
    return "\n".join([*parts, f"<script>{script}</script>", "</body>\n</html>\n"])


def _size(report: Report, sections: list[Section]) -> str:
    names = {system.name for section in sections for system in section.systems}
    return f"{count(len(names), 'system')} on {count(report.num_instances, 'instance')}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    """JSON in ASCII that ends no element of HTML."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _header(report: Report, sections: list[Section]) -> str:
    """What the page is about, what must be read first, and links to its metrics."""
    parts = ['<header>\n<p class="kicker">Significance report</p>']
    parts += [
        f"<h1>{escape(first_of([section.metric for section in sections], 3))}</h1>",
        *paragraph(_size(report, sections)),
    ]
    parts += [f'<p class="warning" role="note">{escape(note)}</p>' for note in filter(is_warning, report.notes)]
    if len(sections) > 1:
        links = (f'<a href="#m{i}">{escape(section.metric)}</a>' for i, section in enumerate(sections))
        parts += ['<nav aria-label="Metrics">', *links, "</nav>"]
    return "\n".join([*parts, "</header>"])


def _section(section: Section, number: int, before: int, *, titled: bool) -> list[str]:
    """One metric; `before` families stand on the page already."""
    parts = [f'<section id="m{number}" aria-label="{escape(section.metric)}">']
    parts += [f"<h2>{escape(section.metric)}</h2>"] if titled else []
    parts += systems_lines(section)
    for at, family in enumerate(section.families, before):
        parts += [f'<section class="family" data-family="{at}">', f"<h3>{escape(family.heading)}</h3>"]
        parts += method_lines(family)
        if family.kind == "grid" and len(family.systems) > MAX_DRAWN:
            parts += paragraph(left_out("page", MAX_DRAWN, len(family.systems), every_pair="to_json() gives"))
        if family.kind == "pair":
            parts.append(table_html(family.table, "Difference", "pairs"))
        else:
            parts += ["<noscript>", *pairs_lines(family), "</noscript>"]
        parts.append("</section>")
    return [*parts, "</section>"]


def _reproduce(report: Report) -> list[str]:
    """Notes, settings and the signature, folded."""
    notes = [f"<li>{escape(note)}</li>" for note in report.notes if not is_warning(note)]
    parts = ['<section id="reproduce">\n<h2>To reproduce</h2>']
    if notes:
        parts += ["<details open>\n<summary>Notes</summary>\n<ul>", *notes, "</ul>\n</details>"]
    values = report.settings_dict() | {"versions": report.versions}
    rows = [(name, visible_json(value)) for name, value in values.items()]
    table = table_html(Table(("setting", "value"), rows, names=(0, 1)), "Settings", "settings")
    signature = f"<p><code>{escape(report.signature)}</code></p>"
    parts += ["<details>\n<summary>Settings</summary>", table, "</details>"]
    return [*parts, "<details open>\n<summary>Signature</summary>", signature, "</details>\n</section>"]


def _family_data(family: Family, systems: Table, distributions: Sequence[Distribution]) -> dict[str, Any]:
    """What the script draws of a family: texts as people read them, columns of pairs joined by spaces."""
    size = len(family.systems) if family.kind != "grid" else min(len(family.systems), MAX_DRAWN)
    shown, settings = family.systems[:size], family.settings
    rank = {system.name: i for i, system in enumerate(shown)}
    methods: dict[str, int] = {}
    rows = [
        (rank[one.a], rank[one.b], *_texts(one, family.delta_spec), methods.setdefault(_method(one), len(methods)))
        for one in (family.comparisons if size == len(family.systems) else family.among(size))
    ]
    names = ("a", "b", "delta", "low", "high", "p", "adjusted", "marks", "method")
    columns = {name: " ".join(map(str, each)) for name, each in zip(names, zip(*rows, strict=True), strict=True)}
    at = systems.header.index("score")
    return columns | {
        "systems": [visible(system.name) for system in shown],
        "short": short_names(list(rank), MAX_NAME),
        "scores": [row[at] for row in systems.rows[:size]],
        "methods": list(methods),
        "kind": family.kind,
        "reference": rank[settings.baseline or (family.only.b if family.only else shown[0].name)],
        "turns": settings.alternative == "two-sided",
        "level": percent(settings.level),
        "limits": [f"{limit:g}" for limit in thresholds(settings)],
        "distributions": [_histogram(each, rank) for each in distributions if _belongs(each, family, rank)],
        "numbers": size <= MAX_NUMBERS,
    }


def _texts(one: Comparison, spec: str) -> tuple[str, ...]:
    low, high = one.interval or (None, None)
    shade = mark(one)
    numbers = (format_number(value, spec) for value in (one.delta, low, high))
    return *numbers, format_raw_p(one), format_adjusted_p(one), _SIGNS[shade] if isinstance(shade, str) else str(shade)


def _method(one: Comparison) -> str:
    drawn = "" if one.resamples is None else f", {count(one.resamples, 'resample')}"
    return METHODS[one.method] + drawn


def _belongs(one: Distribution, family: Family, rank: Container[str]) -> bool:
    """Whether a distribution is of a pair and the test of a family, or of a test that the report does not have."""
    pair = family.comparisons[0]
    is_ours = one.test == pair.test or one.test not in family.settings.tests
    return one.metric == pair.metric and is_ours and one.a in rank and one.b in rank


def _histogram(one: Distribution, rank: Mapping[str, int]) -> dict[str, Any]:
    of_what = "under the null hypothesis" if one.test == "permutation" else "on bootstrap resamples"
    how = "exact" if one.resamples is None else count(one.resamples, "resample")
    tail = sum(one.extreme)
    share = format_p(tail, digits=3) if tail else "0"
    shares, extreme = (" ".join(f"{share:.3g}" for share in each) for each in (one.shares, one.extreme))
    return {
        "a": rank[one.a],
        "b": rank[one.b],
        "low": one.edges[0],
        "high": one.edges[-1],
        "observed": one.observed,
        "shares": shares,
        "extreme": extreme,
        "caption": f"Delta {of_what}, {how}. Dashed: observed; solid: as extreme as that, {share} of all.",
    }
