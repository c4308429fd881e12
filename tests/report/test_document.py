"""One document of every result, and what every output makes of it."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
from html import unescape

import numpy as np
import pytest
from docutils.core import publish_doctree
from docutils.nodes import system_message, table
from test_renderings import Page

import sigjax
from sigjax import studies
from sigjax.report.document import Document, to_github, to_latex, to_markup, to_text
from sigjax.report.markup import MARKDOWN, RST, escape_rst
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.report.text import WHOLE

RNG = np.random.default_rng(4)
DATA = {name: (RNG.random(60) < p).astype(int).tolist() for name, p in (("A_1", 0.9), ("B*", 0.6), ("C|d", 0.5))}
ONE = {name: DATA[name] for name in ("A_1", "B*")}
HOW = {"progress": False}
READ = {"read": {"metric": "accuracy"}}
SLICES = {"read": {"metric": "accuracy", "strata": ["x", "y"] * 30}}


def board():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        with open(path, "w", encoding="utf-8") as file:
            csv.writer(file).writerows(
                [["id", *DATA], *([f"q{i}", *row] for i, row in enumerate(zip(*DATA.values(), strict=True)))]
            )
        about = {"title": "A | board", "source": "https://x.org/a_b", "licence": "MIT", "files": [path]}
        return studies.board({**about, "metric": "accuracy", "systems": [*DATA]}, **HOW)


EVERY = {
    "audit": lambda: studies.audit(ONE, repetitions=20, resamples=99, **READ, **HOW),
    "classical": lambda: studies.classical_tests(ONE, **READ, **HOW),
    "equivalence": lambda: studies.equivalence(DATA, margin=0.1, **READ, **HOW),
    "flips": lambda: studies.flips(ONE, **READ, **HOW),
    "gains": lambda: studies.gains(DATA, resamples=99, **READ, **HOW),
    "items": lambda: studies.items(DATA, resamples=99, **READ, **HOW),
    "monitor": lambda: studies.monitor(DATA, **READ, **HOW),
    "one-sample": lambda: studies.one_sample(DATA, against=0.5, **READ, **HOW),
    "one system": lambda: studies.one_sample({"A_1": DATA["A_1"]}, against=0.5, **READ, **HOW),
    "power": lambda: studies.power(ONE, instances=[40, 80], repetitions=20, resamples=99, **READ, **HOW),
    "rank": lambda: studies.rank(DATA, **READ, **HOW),
    "stopping": lambda: studies.stopping(DATA, orders=20, **READ, **HOW),
    "unpaired": lambda: studies.unpaired(DATA, overlap=True, **READ, **HOW),
    "diff": lambda: sigjax.diff(*[sigjax.compare(each, resamples=99, **READ, **HOW) for each in (DATA, DATA)]),
    "board": lambda: board(),
    "compare": lambda: sigjax.compare(DATA, resamples=99, **READ, **HOW),
}


@pytest.fixture(scope="module", params=EVERY)
def result(request):
    return EVERY[request.param]()


def words(text):
    """Letters and digits alone: what all outputs say alike."""
    return re.sub(r"[^A-Za-z0-9.]+", "", text)


def test_every_result_begins_with_its_verdict_in_every_output(result, tmp_path):
    report = isinstance(result, sigjax.Report)
    verdict = words(str(result).split("\n")[2] if report else result.headline)[:40]
    assert len(verdict) > 20
    texts = [str(result), result.to_text(), result.to_markdown(), result.to_rst(), result.to_github()]
    for text in texts:
        assert verdict in words(text[:600]), text[:600]
    assert verdict in words(result.to_latex())
    assert verdict in words(unescape(re.sub("<[^>]+>", " ", result.to_html())))
    for name in ("markdown", "rst", "github", "csv", "html", "latex"):
        write = getattr(result, f"to_{name}")
        path = tmp_path / f"results.{name}"
        assert write(path) == str(path) or write(path) == path
        assert path.read_text().startswith(write()[:20])


def test_restructured_text_is_read_without_a_warning(result):
    tree = publish_doctree(result.to_rst(), settings_overrides={"report_level": 1, "warning_stream": io.StringIO()})
    assert not [*tree.findall(system_message)]
    tables = [*tree.findall(table)]
    text = result.to_markdown()
    assert len(tables) == len(re.findall(r"^\| :?--", text, re.MULTILINE))
    for name in ONE:
        if name in str(result):
            assert name in tree.astext()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX")
def test_latex_of_every_result_is_set_without_an_error(result, tmp_path):
    head = "\\documentclass[twocolumn]{article}\\usepackage{booktabs}\\usepackage{longtable}\\begin{document}\n"
    (tmp_path / "paper.tex").write_text(f"{head}{result.to_latex()}\\end{{document}}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-800:]


def test_rows_of_csv_are_those_of_the_data_frame(result):
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    frame = result.to_dataframe(columns="all")
    assert len(rows) == len(frame) > 0
    assert [*rows[0]] == [*frame.columns]
    for name in ("delta", "p_value", "power", "score"):
        if name in frame:
            np.testing.assert_array_equal([float(row[name] or "nan") for row in rows], frame[name].astype(float))


def test_a_page_is_well_formed(result):
    page = Page(result.to_html())
    assert page.tags.count("h1") == 1
    assert "table" in page.tags or "table" not in result.to_rst()


def test_json_has_a_schema_of_its_own(result):
    assert json.loads(result.to_json())["schema"].startswith("sigjax")


OUTPUTS = ("text", "markdown", "rst", "html", "github", "latex", "json", "csv")


def test_all_results_are_of_one_kind_and_have_every_output_with_a_path(result, tmp_path):
    """A text in a file is whole, as wide as its tables, whatever the terminal."""
    assert isinstance(result, Result)
    assert result.headline == result.document().verdict
    for name in OUTPUTS:
        path = tmp_path / f"result.{name}"
        write = getattr(result, f"to_{name}")
        assert write(path) == str(path)
        made = path.read_text(encoding="utf-8")
        if name == "text":
            assert made == result.to_text(width=WHOLE, whole=True)
            assert len(made) >= len(str(result)) - 300
        elif name != "latex":  # its label is the name of the file
            assert made == write()


def test_what_people_typed_is_no_markup():
    names = ["- a", "1. b", "`c`", "d_", "*e*", "|f|", "::", ".. g", "(h) i", "A. j", "=====", "+", "x:: y"]
    made = Document(
        "T", "about", "Verdict *x*.", [*names, Table.of({"name": names, "n": ["-1"] * len(names)}, names=(0,))]
    )
    tree = publish_doctree(
        to_markup(made, RST), settings_overrides={"report_level": 1, "warning_stream": io.StringIO()}
    )
    assert not [*tree.findall(system_message)]
    shown = tree.astext()
    for name in names:
        assert shown.count(name) >= 2, name
        assert publish_doctree(escape_rst(name)).astext() == name
    assert "\\*x\\*" in to_markup(made, MARKDOWN)


def test_the_parts_of_a_document_go_where_outputs_have_them():
    rows = {"name": [f"s{i}" for i in range(30)], "n": ["1"] * 30}
    made = Document(
        "T", "on 3", "V.", ["first", "", Table.of(rows, names=(0,))], ["later", "Heading:", Table.of(rows, names=(0,))]
    )
    github = to_github(made)
    assert github.startswith("> [!NOTE]\n> **V.**\n\nfirst\n\n| name | n |")
    first, folded = github.split("<details>")
    assert ("s9 " in first, "s10" in first, "s29" in folded) == (True, False, True)
    assert "later" in folded
    latex = to_latex(made, "out/t.tex")
    assert r"\caption{on 3.}\label{tab:t}" in latex
    assert r"\caption{Heading.}\label{tab:t-2}" in latex
    assert "% later" in latex
    assert to_text(made).split("\n")[:3] == ["V.", "first", ""]
    assert to_text(made, color=True).startswith("\x1b[1mV.\x1b[0m")
