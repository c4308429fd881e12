"""Markdown, LaTeX and HTML: names are shown as they are, in every format."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations

import pytest
from markdown_it import MarkdownIt
from reports import NOTE, SIGNATURE, STRANGE, make_report, without_intervals

from sigjax import Evaluation, Report, compare
from sigjax.metrics import MEAN
from sigjax.records import Settings
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


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_has_its_last_line_ended(format_):
    assert format_(make_report(STRANGE)).endswith("\n")


@pytest.mark.parametrize("format_", [to_text, Report.to_json, to_markdown, to_latex, to_html])
def test_signature_and_notes_are_in(format_):
    assert SIGNATURE in format_(make_report(3))
    assert NOTE in format_(make_report(3))


def test_text_keeps_strange_names():
    text = to_text(make_report(STRANGE))
    for name in STRANGE:
        assert f"  {name}  " in text


def test_markdown_shows_strange_names_as_they_are():
    source = to_markdown(make_report(STRANGE))
    page = Page(MarkdownIt("commonmark").enable("table").render(source))
    assert page.cells[4:24:3] == page.cells[30:65:5] == list(STRANGE)
    assert "script" not in page.tags
    pairs = [(page.cells[i], page.cells[i + 1]) for i in range(72, len(page.cells), 8)]
    assert pairs == list(combinations(STRANGE, 2))


def test_markdown_of_one_pair_has_the_sentence():
    assert "A is better than B" in to_markdown(make_report(["A", "B"], p_of=lambda i, j: 0.01))


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


def test_grids_and_lists_of_pairs_are_there_for_eight_systems_and_not_for_nine():
    eight, nine = make_report(8), make_report(9)
    assert to_latex(eight).count(r"\begin{tabular}") == to_latex(eight).count(r"\bottomrule") == 3
    assert r"$<0.001{}^{*}$" in to_latex(eight)
    assert "| system-7 | system-8 | permutation |" in to_markdown(eight)
    assert to_latex(nine).count(r"\begin{tabular}") == 2
    assert "% The 36 pairs are left out here; --format csv or json gives them all." in to_latex(nine)
    assert "The 36 pairs are left out here; --format csv or json gives them all." in to_markdown(nine)
    assert "| system-8 | system-9 |" not in to_markdown(nine)


def test_latex_rows_have_as_many_cells_as_columns():
    for report in (make_report(2), make_report(7), make_report(4, settings=Settings(baseline="system-2"))):
        for columns, body in re.findall(
            r"\\begin{tabular}{(\w+)}(.*?)\\end{tabular}", to_latex(report), flags=re.DOTALL
        ):
            rows = [line for line in body.splitlines() if line.endswith(r"\\")]
            assert rows
            assert {row.count(" & ") + 1 for row in rows} == {len(columns)}


def test_latex_writes_powers_of_ten():
    assert r"$1\times10^{-12}$" in to_latex(make_report(2, p_of=lambda i, j: 1e-12))
    assert r"$3.16\times10^{-412}$" in to_latex(make_report(2, p_of=lambda i, j: 0.0))


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


@pytest.mark.parametrize("format_", [NOTEBOOK, WHOLE])
def test_html_of_many_systems_is_a_grid_of_shades_for_sixty(format_):
    source = format_(make_report(80))
    assert len(Page(source).titles) == 60 * 59 // 2
    assert "first 60 of 80 systems" in source
    assert 'class="p0"' in source


@pytest.mark.parametrize("format_", [NOTEBOOK, WHOLE])
def test_html_of_one_pair_and_of_a_baseline(format_):
    assert "A is better than B" in format_(make_report(["A", "B"], p_of=lambda i, j: 0.01))
    cells = Page(format_(make_report(["A", "B", "C"], settings=Settings(baseline="B")))).cells
    assert "baseline" in cells
    assert "-0.0100" in cells


@pytest.mark.parametrize("format_", [to_markdown, to_latex, to_html])
def test_missing_intervals_are_dashes(format_):
    assert re.search(r"0\.9000\D+(–|--)\D+(–|--)", format_(without_intervals(make_report(2))))


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
