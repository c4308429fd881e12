"""Names that drive terminals, spreadsheets or markup are harmless in every output, and exact in JSON."""

import csv
import io
import json
import re
import string
import unicodedata
from itertools import combinations

import numpy as np
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from reports import NOTE, SIGNATURE, make_report, read_back
from test_renderings import Page

from sigjax import Evaluation, Report, audit, classical_tests, compare, equivalence, power
from sigjax.cli import _run, main
from sigjax.cli.options import OUTPUTS
from sigjax.records import Settings
from sigjax.records.display import visible
from sigjax.report import markup
from sigjax.report.html import to_html
from sigjax.report.latex import to_latex
from sigjax.report.markup import to_markdown
from sigjax.report.sections import ScoreCell
from sigjax.report.text import to_text

HOSTILE = {
    "escape": "\x1b[31mred\x1b]0;title\x07",
    "nul": "a\0b",
    "C1": "\x9b31m \x85next",
    "delete": "a\x7fb\x08\x08",
    "overridden": "safe\u202egpj.exe",
    "isolated": "\u2066a\u2069\u200f\u061c",
    "invisible": "a\u200b\ufeff\u2060\u00ad",
    "tagged": "a\U000e0041\U000e0042",
    "lines": "a\nb\r\nc\u2028d\x0be",
    "no text": "\ud800 \udcff",
    "private": "\ue000",
    "tab": "\t=1+1",
    "carriage return": "\r=1+1",
    "formula": '=HYPERLINK("http://x","y")',
    "plus": "+1",
    "minus": "-2+3",
    "at": "@SUM(1)",
    "after a space": "  =1",
    "wide": "\uff1d1+1",
    "quoted": "'=1",
    "backslash": r"a\x1b\n\\",
    "markup": "[red]a[/red] [link=x]",
    "HTML": "<b onclick='x'>\"&amp;</b>",
    "LaTeX": r"\input{/etc/passwd} % $x$",
    "Markdown": "[a](x) `b` | c <!--",
}
HARMLESS = (
    "😀👨\u200d👩\u200d👧 👍🏽",
    "می\u200cخواهم",
    "क्\u200dष",
    "数\u3000学",
    "a\xa0b",
    "naïve Ünïcode",
    "עברית",
    "a-b=c+d@e",
)
NAMES = (*HOSTILE.values(), *HARMLESS)
FORMULA = re.compile(r"\s*[=+\-@\t\r＝＋－＠]")


HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def raw(text):
    """The characters that must not be in an output, by Unicode's categories."""
    return {c for c in set(text) if unicodedata.category(c) in HIDDEN} - set("\n\u200c\u200d")


def report(names=NAMES):
    """With the names in notes and in the signature, too."""
    notes, signature = (NOTE, " ".join(names)), f"{SIGNATURE}|baseline:{''.join(names)}"
    return make_report(names, step=1e-3, notes=notes, signature=signature)


FORMATS = {"to_text": to_text, "to_json": Report.to_json, "to_markdown": to_markdown}
FORMATS |= {"to_latex": to_latex, "to_csv": Report.to_csv, "to_html": to_html}
ALL = FORMATS | {"notebook": Report._repr_html_}


@pytest.mark.parametrize("format", ALL)
@pytest.mark.parametrize("several", [True, False])
def test_no_format_lets_a_control_character_through(format, several):
    for names in [NAMES] if several else zip(NAMES, NAMES[::-1], strict=True):
        if len(set(names)) > 1:
            assert raw(ALL[format](report(names))) == set()


@settings(max_examples=40)
@given(st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=3, unique=True))
def test_no_text_at_all_gets_a_control_character_through(names):
    for format in FORMATS.values():
        assert raw(format(report(names))) == set()
    assert [one["name"] for one in json.loads(report(names).to_json())["systems"]] == names
    rows = list(csv.DictReader(io.StringIO(report(names).to_csv())))
    assert [(read_back(row["a"]), read_back(row["b"])) for row in rows] == list(combinations(names, 2))
    assert not any(FORMULA.match(row[name]) for row in rows for name in ("a", "b", "better"))


def test_every_character_is_itself_or_escaped():
    everything = "".join(map(chr, (*range(0x20000), *range(0xE0000, 0xE1000), 0x10FFFF)))
    shown = (c for c in everything if unicodedata.category(c) not in HIDDEN or c in "\u200c\u200d")
    assert re.sub(r"\\(u.{4}|U.{8}|x..|[tnr])", "", visible(everything)) == "".join(shown)
    assert visible("\x1b\u202e\U000e0041\n") == r"\x1b\u202e\U000e0041\n"


def test_json_has_the_exact_names():
    assert tuple(one["name"] for one in json.loads(report().to_json())["systems"]) == NAMES


def test_csv_is_harmless_in_spreadsheets_and_its_names_can_be_read_back():
    rows = list(csv.DictReader(io.StringIO(report().to_csv())))
    assert [(read_back(row["a"]), read_back(row["b"])) for row in rows] == list(combinations(NAMES, 2))
    assert not any(FORMULA.match(row[name]) for row in rows for name in ("a", "b", "metric", "better", "reason"))
    assert [float(row["log10_p"]) for row in rows] == [one.log10_p for one in report()]
    assert {row["log10_p"][0] for row in rows} == {"-"}  # numbers stay numbers


def test_markup_shows_names_and_does_nothing_with_them():
    shown = [visible(name).strip() for name in NAMES]
    markdown = Page(MarkdownIt("commonmark").enable("table").render(to_markdown(report())))
    page = Page(report()._repr_html_())
    for cells, last in ((markdown.cells, "std. error"), (page.cells, "adjusted p")):
        columns = cells.index(last) + 1
        assert [cell.strip() for cell in cells[columns + 1 :: columns]][: len(NAMES)] == shown
    assert not {"a", "b", "script"} & {*markdown.tags, *page.tags} - {"b"}
    assert all(not line.lstrip().startswith(r"\input") for line in to_latex(report()).splitlines())
    assert "[red]a[/red] [link=x]" in to_text(report())


def cells_of_html(text):
    return Page(text).cells


def cells_of_markdown(text):
    return cells_of_html(MarkdownIt("commonmark").enable("table").render(text))


def cells_of_rst(text):
    tree = publish_doctree(text, settings_overrides={"report_level": 1, "warning_stream": io.StringIO()})
    return [entry.astext() for entry in tree.findall(nodes.entry)]


def cells_of_csv(text):
    return [visible(read_back(cell)) for row in csv.reader(io.StringIO(text)) for cell in row]


CELLS = {
    "json": lambda text: [visible(one["name"]) for one in json.loads(text)["systems"]],
    "csv": cells_of_csv,
    "systems-csv": cells_of_csv,
    "html": cells_of_html,
    "markdown": cells_of_markdown,
    "github": cells_of_markdown,
    "rst": cells_of_rst,
}
"""The cells of all tables of an output, by a parser of its language."""
MARKS = {
    "text": "",
    "latex": "&%$#_{}~^\\",
    "appendix": "&%$#_{}~^\\",
    "methods": "&%$#_{}~^\\",
    "bibtex": "&%$#_{}~^\\",
}
"""Outputs without a parser here: the characters that mean something in their language."""


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_shows_what_people_typed(output, tmp_path):
    names = [name for name in NAMES if visible(name).isascii()]
    names += [f"x{mark}y" for mark in string.punctuation] + [f"{mark}y{mark}" for mark in string.punctuation]
    assert (output in CELLS) != (output in MARKS), f"a new output: add a parser of {output} to CELLS, or its MARKS"
    make_report(names, step=1e-3, settings=Settings(baseline=names[0])).to_json(tmp_path / "a.json")
    with pytest.raises(SystemExit) as done:
        main(["show", str(tmp_path / "a.json"), "--format", output, "-o", str(tmp_path / "out")])
    assert done.value.code == 0
    text = (tmp_path / "out").read_text(encoding="utf-8")
    if output in CELLS:
        cells = [" ".join(cell.split()) for cell in CELLS[output](text)]
        lost = {name for name in names if " ".join(visible(name).split()) not in cells}
    else:
        lost = {mark for mark in MARKS[output] for name in (f"x{mark}y", f"{mark}y{mark}") if name in text}
    assert not lost


DIALECTS = [name for name, output in OUTPUTS.items() if output.dialect]


@pytest.mark.parametrize("output", DIALECTS)
def test_a_markup_escapes_the_marks_that_it_writes(output):
    """This needs no parser: marks around a score, and between cells, are not written for a name that holds them."""
    dialect = getattr(markup, OUTPUTS[output].dialect)
    written = dialect.score(ScoreCell("1", "2", best=True)) + dialect.table(["a"], [True], [["b"]]).split("a")[0]
    marks = set(written) & set(r"*_`#<>[]{}|^~$@\\")
    assert marks
    for mark in marks:
        typed = f"{mark}x{mark}"
        assert dialect.escape(typed) != typed, f"escape of {output} leaves {mark} as it is"


def test_colour_is_ours_alone():
    colored = to_text(report(), color=True)
    assert raw(re.sub(r"\x1b\[[\d;]*m", "", colored)) == set()
    assert "31mred" not in re.findall(r"\x1b(\S+)", colored)


def test_studies_show_names_and_keep_them_in_json():
    def metric(sums):
        return sums[..., 0]

    metric.__name__, names = "\x1b\u202em", (HOSTILE["escape"], HOSTILE["overridden"])
    chance = np.random.default_rng(3)
    evaluation = Evaluation.from_arrays({name: chance.integers(0, 2, 30) for name in names}, metric=metric)
    options = {"device": "numpy", "resamples": 99}
    found = [
        equivalence(evaluation, margin=0.1, **options),
        classical_tests(evaluation, progress=False, **options),
        audit(evaluation, repetitions=2, **options),
        power(evaluation, instances=[20], repetitions=2, **options),
        compare(evaluation, method="montecarlo", test=["permutation", "bootstrap"], **options),
    ]
    texts = [str(each) for each in found] + [each.to_json() for each in found]
    assert [raw(text) for text in texts] == [set()] * len(texts)
    assert all(r"\x1b" in text or r"\u001b" in text for text in texts)


BAD = {
    "a file": ["compare", "no\x1b[31m\u202e\x9b.tsv"],
    "a name": ["compare", "{t}", "--baseline", "\x1b[31mZ\x07\u202e"],
    "a system": ["compare", "{t}", "--only", "\x9b\u202e"],
    "a column": ["compare", "{t}", "--cluster", "\u202e\x1b"],
    "a cell": ["compare", "{bad}"],
    "an option": ["compare", "{t}", "--\x1b[31m\u202e", "x"],
    "a command": ["\x1b[31m\u202ecompare"],
    "a choice": ["compare", "{t}", "--test", "\x1b[31m\u202e"],
    "an output": ["compare", "{t}", "-o", "none/\x1b\u202e"],
    "a byte that is no text": ["compare", "a\udcff.tsv"],
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
def test_errors_show_what_was_typed_and_read(tmp_path, capsys, arguments):
    files = {"t": tmp_path / "t.tsv", "bad": tmp_path / "bad.tsv"}
    files["t"].write_text("id\tA\tB\nx\t1\t0\ny\t0\t1\n")
    files["bad"].write_text("id\tA\x1b[31m\tB\u202e\nx\t1\t\x07\u202e\x9b\n", encoding="utf-8")
    assert _run([each.format(**files) for each in arguments], debug=False) == 2
    out, err = capsys.readouterr()
    assert (out, raw(err), err.count("\n")) == ("", set(), 1)
    assert re.search(r"\\x1b|\\u202e|\\udcff", err)


def test_tracebacks_show_what_was_typed(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "no\x1b[31m\u202e.tsv", "--debug"])
    err = capsys.readouterr().err
    assert (raw(err), r"no\x1b[31m\u202e.tsv: no such file" in err, "Traceback" in err) == (set(), True, True)


def cells(page):
    return Page(page).cells


def narrow(encoding):
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
@pytest.mark.parametrize("format", [each.removeprefix("to_") for each in FORMATS])
def test_standard_output_of_any_encoding_gets_the_report(tmp_path, monkeypatch, format, encoding):
    names = ["naïve–…", "数😀", "ok"]
    table, whole = tmp_path / "t.tsv", tmp_path / "results"
    table.write_text("\t".join(("id", *names)) + "\n" + "1\t1\t0\t1\n2\t1\t0\t0\n3\t0\t0\t1\n", encoding="utf-8")
    command = ["compare", str(table), "--device", "numpy", "--resamples", "99", "--format", format]
    assert _run([*command, "-o", str(whole)], debug=False) == 0
    monkeypatch.setattr("sys.stdout", stream := narrow(encoding))
    assert _run([*command, "--verbose"], debug=False) == 0
    is_text = format in ("text", "markdown")
    written = stream.buffer.getvalue().decode(encoding if is_text else "utf-8")
    expected = whole.read_text(encoding="utf-8")
    assert written.count("\n") == expected.count("\n")
    if encoding == "utf-8" or not is_text:
        assert written == expected
    else:
        assert r"\u6570\U0001f600" in written
    if format == "text" and encoding == "ascii":
        assert max(map(len, written.splitlines()[:-2])) <= 140  # a line of names is longer for its escapes
        assert "-----" in written


def test_a_closed_standard_output_is_refused_before_the_work(tmp_path, monkeypatch, capsys):
    table = tmp_path / "t.tsv"
    table.write_text("id\tA\tB\nx\t1\t0\ny\t0\t1\n")
    monkeypatch.setattr("sys.stdout", None)
    assert _run(["compare", str(table), "-o", str(tmp_path / "out"), "-q"], debug=False) == 0
    assert (tmp_path / "out").read_text().startswith("warning: permutation test: 2 units are too few")
    assert str(compare(Evaluation.from_arrays({"A": [1, 0], "B": [0, 1]}))) != ""
    monkeypatch.setattr("sigjax.cli.options.read_data", None)
    monkeypatch.setattr("sigjax.cli.info.read", None)
    for command in (["compare", str(table)], ["demo"], ["classical", str(table)], ["research", "audit", str(table)]):
        assert _run(command, debug=False) == 2
        assert capsys.readouterr().err == "sigjax: error: standard output is closed; give --output FILE\n"
