"""Markdown, LaTeX and HTML: names are shown as they are, in every format."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations

import pytest
from markdown_it import MarkdownIt
from reports import SIGNATURE, STRANGE, make_report

from sigjax import Evaluation, Report, compare
from sigjax.metrics import MEAN
from sigjax.report import to_html, to_latex, to_markdown, to_text
from sigjax.report.markup import Dialect, render

FORMATS = (to_text, Report.to_json, to_markdown, to_latex, Report.to_csv, to_html)


VOID = ("meta", "link")


class Page(HTMLParser):
    """Collects the text of cells and titles, and fails on tags that do not match."""

    def __init__(self, source):
        super().__init__()
        self.cells, self.titles, self.tags, self._open = [], [], [], []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self._open.append(tag)
        self.tags.append(tag)
        self.titles += [value for key, value in attrs if key == "title"]
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_markdown_shows_strange_names_as_they_are():
    source = to_markdown(make_report(STRANGE))
    page = Page(MarkdownIt("commonmark").enable("table").render(source))
    assert page.cells[4:24:3] == page.cells[30:65:5] == list(STRANGE)
    assert "script" not in page.tags
    pairs = [(page.cells[i], page.cells[i + 1]) for i in range(72, len(page.cells), 8)]
    assert pairs == list(combinations(STRANGE, 2))


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a_b & c%", r"a\_b \& c\%"),
        ("<script>", r"\textless{}script\textgreater{}"),
        ("x--y", "x-{}-y"),
        (r"$z$ #~^\{}", r"\$z\$ \#\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}"),
        ("[bold]", "{}[bold]"),
        ("naïve 数学", "naïve 数学"),
    ],
)
def test_latex_escapes_names(name, escaped):
    assert f"1 & {escaped} & 0.9000" in to_latex(make_report([name, "other"]))


NOTEBOOK, WHOLE = Report._repr_html_, to_html


@pytest.mark.parametrize(("format_", "scripts"), [(NOTEBOOK, 0), (WHOLE, 2)])
def test_html_is_well_formed_and_escapes(format_, scripts):
    page = Page(format_(make_report([*STRANGE, 'quote" onclick="x'])))
    assert page.tags.count("script") == scripts
    assert page.cells[6:46:5] == [*STRANGE, 'quote" onclick="x']
    assert len(page.titles) == 28
    assert page.titles[0].startswith(
        "[bold]red[/bold] - a_b & c%: delta +0.0100, 95% interval [-0.0060, +0.0263], p = "
    )


@pytest.mark.parametrize("format_", [NOTEBOOK, WHOLE])
def test_names_of_metrics_are_escaped_in_the_table_of_all(format_):
    metrics = [replace(MEAN, name=name) for name in ("<b>&amp;", "x<sub>2</sub>")]
    data = [Evaluation.from_arrays({"A": [1, 0, 1], "B": [0, 0, 1]}, metric=metric) for metric in metrics]
    cells = Page(format_(compare(data, interval="none"))).cells
    assert cells[:3] == ["system", "<b>&amp;", "x<sub>2</sub>"]


def test_another_markup_language_is_one_dialect():
    """Typst: what it says of escapes, tables and headings is enough for a whole report."""
    typst = Dialect(
        escape=lambda text: re.sub(r"([\\#*_`$<>@\[\]])", r"\\\1", text),
        heading="= {}".format,
        score=lambda score: (
            (f"*{score.text}*" if score.best else score.text) + f"#super[{score.marks}]" * bool(score.marks)
        ),
        table=lambda head, names, rows: "\n".join(
            [
                f"#table(columns: {len(head)}, align: ({', '.join('left' if each else 'right' for each in names)}),",
                *("  " + ", ".join(f"[{cell}]" for cell in cells) + "," for cells in (head, *rows)),
                ")",
            ]
        ),
        code="`{}`".format,
    )
    report = make_report(["A_1", "B#2", "C"])
    source = render(report, typst)
    assert source.count("#table(") == 3  # of the paper, of systems and of pairs
    assert [name in source for name in (r"[A\_1]", r"[B\#2]", f"`{SIGNATURE}`")] == [True] * 3
    for one in report:
        assert f"{one.delta:+.4f}" in source
