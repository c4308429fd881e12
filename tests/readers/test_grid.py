"""Files with titles, notes, two lines of header, merged cells, other marks and other numbers -> the same table."""

import json
import re
import shlex

import numpy as np
import pytest

import sigjax
from sigjax import InputError, read
from sigjax.cli import _run

NAMES = ("otter", "heron")
IDS = [f"case {letter}" for letter in "klmnop"]
NUMBERS = {"otter": [0.25, 1.5, 0.75, 2.0, 0.5, 1.0], "heron": [0.5, 1.0, 0.25, 1.75, 0.125, 3.0]}
ROWS = [["topic", *NAMES], *([id, *(NUMBERS[name][i] for name in NAMES)] for i, id in enumerate(IDS))]


def rows(between=",", cells=ROWS, end=""):
    return "".join(between.join(map(str, row)) + f"{end}\n" for row in cells)


def same(evaluation, *notes):
    """The table of `ROWS`, with these notes."""
    assert (evaluation.systems, evaluation.ids) == (NAMES, tuple(IDS))
    assert evaluation.stats[:, :, 0].tolist() == [NUMBERS[name] for name in NAMES]
    for note in notes:
        assert any(note in each for each in evaluation.notes), evaluation.notes
    if not notes:
        assert not any("taken for" in each or "joined:" in each for each in evaluation.notes)


SHAPES = {
    "title.csv": ("Second study,,\n" + rows(), ["line 1: taken for a title: 'Second study'"]),
    "bare title.csv": ("Second study, dev\n" + rows(), ["line 1: taken for a title"]),
    "two titles.csv": ("Second study\n\nrun on: Monday,,\n,,\n" + rows(), ["line 1: ta", "line 3: taken for a title"]),
    "value.csv": ("Date:,2026-01-02,\n" + rows(), ["line 1: taken for a title: 'Date: 2026-01-02'"]),
    "title.tsv": ("Second study\n" + rows("\t"), ["line 1: taken for a title"]),
    "title": ("Second study\n" + rows("\t"), ["line 1: taken for a title"]),
    "title.semicolons.csv": ("Second study, dev\n" + rows(";").replace(".", ","), ["line 1: taken for a title"]),
    "sep.csv": ("sep=;\n" + rows(";"), []),
    "quoted sep.csv": ('"sep=|"\n' + rows("|"), []),
    "sep": ("sep=;\n" + rows(";"), []),
    "last.csv": (rows(end=","), []),
    "last of rows.csv": (rows().replace("\ncase", ",\ncase").replace("otter,heron,", "otter,heron") + "", []),
    "last of the header.csv": (rows().replace("heron", "heron,"), []),
    "two last.tsv": (rows("\t", end="\t\t"), []),
    "between.csv": (rows().replace("otter", "otter,").replace(",0", ",,0").replace(",", ",", 1), None),
    "first.csv": ("," + rows().replace("\n", "\n,").removesuffix(","), []),
    "pipe.csv": (rows("|"), []),
    "pipe": (rows("|"), []),
    "note.csv": (rows() + "\nmeasured twice by hand\n", ["line 9: taken for a note below the table: 'measured twice"]),
    "marked.csv": (rows() + "* measured twice, by hand\n", ["line 8: taken for a note below the table"]),
    "notes.csv": (rows() + ",,\nSource: a study,,\nNote: by hand,,\n", ["line 9: taken", "line 10: taken for a note"]),
    "markdown.md": (
        "| topic | **otter** | heron |\n|:--|--:|:-:|\n"
        + "".join(f"| {' | '.join(map(str, row))} |\n" for row in ROWS[1:]),
        [],
    ),
    "markdown.txt": (
        "## Second study\n\ntopic | otter | heron\n--|--|--\n" + rows(" | ", ROWS[1:]) + "\nby hand\n",
        ["line 1: not part of the table: '## Second study', and 1 more line"],
    ),
    "latex.tex": (
        "\\begin{table} % the second study\n\\begin{tabular}{l@{ }rr}\n\\toprule\n"
        "topic & \\textbf{otter} & \\emph{heron} \\\\\n\\midrule\\hline\n"
        + rows(" & ", ROWS[1:], " \\\\[1ex]")
        + "\\bottomrule\n\\end{tabular}\n\\end{table}\n",
        [],
    ),
    "latex": (
        "\\begin{tabular}{lrr}topic & otter & heron \\\\ \\cmidrule(l){2-3}\n"
        + "".join(f"{row[0]} & ${row[1]}$ & \\textbf{{\\emph{{{row[2]}}}}} \\\\\n" for row in ROWS[1:])
        + "\\end{tabular}",
        [],
    ),
    "wide.csv": (rows().encode("utf-16"), []),
    "wide be.txt": (b"\xfe\xff" + rows("\t").encode("utf-16-be"), []),
    "r.csv": (rows().replace("topic,", "", 1), []),
    "r.tsv": (rows("\t").replace("topic\t", "", 1), []),
    "index.csv": (rows().replace("topic", "").replace("\n", "\ntopic,,\n", 1), []),
}
del SHAPES["between.csv"]


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_table_in_other_shapes(write, name):
    content, notes = SHAPES[name]
    path = write(name, content)
    same(read(path), *notes)
    diagnosis = sigjax.doctor(path)
    assert diagnosis.systems == NAMES


def test_several_files_say_what_was_skipped_in_each(write):
    files = [
        write(f"{name}.csv", f"Study of {name}\n" + rows(cells=[["topic", "score"], *zip(IDS, own, strict=True)]))
        for name, own in NUMBERS.items()
    ]
    same(read(*files), "otter.csv, line 1: taken for a title: 'Study of otter'", "heron.csv, line 1: taken for a title")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("topic,,\n" + rows(cells=ROWS[1:]), "line 1: column 2 has no name"),
        ("topic,,\na,cat,dog\nb,cat,cat\n", "line 1: column 2 has no name"),
        (rows() + "case q\n", "line 8: expected 3 fields as in the header, got 1"),
        (rows() + "case q,1\n", "line 8: expected 3 fields"),
        (rows() + "* by hand\ncase q,1,1\n", "line 8: expected 3 fields"),
        (rows().replace("\n", "\nunit,ms,ms\n", 1), "line 2: expected numbers as in the rows below, got 'ms', 'ms'"),
        ("| a | b |\n|---|---|\n| 1 | 0 |\n\n| a | b |\n|---|---|\n", "found 2 .lines 1 and 5"),
    ],
)
def test_what_is_no_table_is_refused(write, content, message):
    with pytest.raises(InputError, match=message):
        read(write("t.csv" if "|--" not in content else "t.md", content))


def test_a_last_row_without_results_is_an_instance(write):
    """Only a note stands apart, or is marked."""
    with pytest.raises(InputError, match=r"'otter' lacks 1 of 7 \(first: 'case q', line 8\)"):
        read(write("t.csv", rows() + "case q,,\n"))


@pytest.mark.parametrize(
    ("cells", "command"),
    [
        ("\\multicolumn{2}{c}{0.5}", "multicolumn"),
        ("0.5 \\cite{x}", "cite"),
        ("$0.5^\\dagger$", "dagger"),
    ],
)
def test_latex_that_is_more_than_text_is_refused(write, cells, command):
    path = write("t.tex", f"\\begin{{tabular}}{{ll}}\nid & a & b \\\\\nx & 1 & {cells} \\\\\n\\end{{tabular}}\n")
    with pytest.raises(InputError, match=rf"t.tex, line 3: '\\\\{command}' is not understood.*as CSV"):
        read(path)


def test_names_in_two_lines_are_joined_as_pandas_writes_them(write, tmp_path):
    pandas = pytest.importorskip("pandas")
    columns = pandas.MultiIndex.from_product([NAMES, ["easy", "hard"]])
    values = np.random.default_rng(1).integers(0, 90, (6, 4)) / 8
    for index in (None, "topic"):
        frame = pandas.DataFrame(values, index=pandas.Index(IDS, name=index), columns=columns)
        frame.to_csv(tmp_path / "t.csv")
        frame.to_excel(tmp_path / "t.xlsx")
        for name in ("t.csv", "t.xlsx"):
            found = read(tmp_path / name)
            assert found.systems == ("otter_easy", "otter_hard", "heron_easy", "heron_hard")
            assert found.ids == tuple(IDS)
            assert found.stats[:, :, 0].T.tolist() == values.tolist()
            assert re.search(
                r"(line|row)s 1 and 2: names in two (line|row)s are joined: .*'otter_easy'", found.notes[0]
            )


def test_one_name_above_all_columns_is_no_part_of_their_names(write):
    assert read(write("t.csv", ",Score,Score\n" + rows())).systems == NAMES
    assert read(write("u.csv", ",Score,\n" + rows())).systems == NAMES


@pytest.fixture
def sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")

    def make(cells, *, merged=(), others=(), name="t.xlsx", title="results"):
        book = openpyxl.Workbook()
        book.worksheets[0].title = title
        for row in cells:
            book.worksheets[0].append(row)
        for each in merged:
            book.worksheets[0].merge_cells(each)
        for other in others:
            book.create_sheet(other).append(["a", "b"])
        book.save(tmp_path / name)
        return tmp_path / name

    return make


def test_sheets_with_titles_notes_and_merged_cells(sheet):
    same(read(sheet([["Second study"], [], *ROWS])), "row 1: taken for a title: 'Second study'")
    same(read(sheet([["Second study"], *ROWS], merged=["A1:C1"])), "row 1: taken for a title")
    same(read(sheet([[], [], *([None, *row] for row in ROWS)])))
    same(read(sheet([*ROWS, [], ["measured twice"]])), "row 9: taken for a note below the table: 'measured twice'")
    above = [["topic", "otter", None, "heron", None], [None, "a", "b", "a", "b"]]
    twice = [[row[0], *row[1:], *row[1:]] for row in ROWS[1:]]
    joined = read(sheet([*above, *twice], merged=["A1:A2", "B1:C1", "D1:E1"]))
    assert joined.systems == ("otter_a", "otter_b", "heron_a", "heron_b")
    first = {"otter": "otter", "heron": "heron"}
    long = [[first.pop(name, None), id, NUMBERS[name][i]] for name in NAMES for i, id in enumerate(IDS)]
    found = read(sheet([["model", "case", "score"], *long], merged=["A2:A7", "A8:A13"]))
    same(found, "merged cells have the text of their first one in every row")
    with pytest.raises(InputError, match=r"row 5, column 'topic': expected a name, got an empty cell"):
        read(sheet([["Second study"], [], ROWS[0], ROWS[1], [None, 1, 0]]))


@pytest.mark.parametrize("title", ["results", "Sheet 1 (2)", "a=b"])
def test_the_proposed_sheet_is_read(sheet, title):
    path = sheet(ROWS, others=["more"], title=title)
    with pytest.raises(InputError, match="which sheet, .*'more'") as caught:
        read(path)
    (hint,) = (hint for hint in caught.value.hints if hint.option == "reader")
    same(read(path, reader=hint.values[0]))


GERMAN = "key;otter;heron\na;987;1.012\nb;1.234;1.301\nc;890;954\nd;1.105;1.180\n"
WHOLE = [[987, 1234, 890, 1105], [1012, 1301, 954, 1180]]


def proposals(error):
    """The values of the options on the spelling of numbers that a refusal names."""
    return [{hint.option: hint.values[0].strip("'")} for hint in error.hints if hint.option in ("decimal", "thousands")]


@pytest.mark.parametrize("between", [";", ",", "\t"])
def test_thousands_are_asked_about(write, between):
    path = write("t.tsv" if between == "\t" else "t.csv", GERMAN.replace(";", between))
    with pytest.raises(InputError, match=r"line 3, column 'otter': is '1.234' 1.234 or 1234\? give") as caught:
        read(path)
    first, second = proposals(caught.value)
    assert read(path, **first).stats[:, :, 0].tolist() == WHOLE
    assert read(path, **second).stats[0, :, 0].tolist() == [987, 1.234, 890, 1.105]


@pytest.mark.parametrize("between", [";", ",", "\t"])
def test_commas_are_asked_about(write, between):
    english = "\n".join(between.join(f'"{cell.replace(".", ",")}"' for cell in line.split(";"))
                        for line in GERMAN.splitlines())  # fmt: skip
    path = write("t.tsv" if between == "\t" else "t.csv", english)
    with pytest.raises(InputError, match=r"line 3, column 'otter': .*is .*1234.*\? give") as caught:
        read(path)
    first, second = proposals(caught.value)
    assert read(path, **first).stats[:, :, 0].tolist() == WHOLE
    assert read(path, **second).stats[0, :, 0].tolist() == [987, 1.234, 890, 1.105]


@pytest.mark.parametrize(
    ("cells", "options", "values"),
    [
        (["1.234,5", "12", "0,25"], {"decimal": ",", "thousands": "."}, [1234.5, 12, 0.25]),
        (["1.234,5", "12", "0,25"], {"thousands": "."}, [1234.5, 12, 0.25]),
        (["1,234.5", "12", "0.25"], {"thousands": ","}, [1234.5, 12, 0.25]),
        (["1'234.5", "12", "-0.25"], {"thousands": "'"}, [1234.5, 12, -0.25]),
        (["1 234", "12", "2e3"], {"thousands": " "}, [1234, 12, 2000]),
        (["1,5", "12", "2,5e1"], {"decimal": ","}, [1.5, 12, 25]),
        (["1.234", "100", "0.5"], {}, [1.234, 100, 0.5]),
        (["87.125", "100", "66.667"], {}, [87.125, 100, 66.667]),
        (["123.333", "250", "987.667"], {}, [123.333, 250, 987.667]),
        (["1.234", "1.301", "1.105"], {}, [1.234, 1.301, 1.105]),
    ],
)
@pytest.mark.parametrize("kind", ["tsv", "csv", "json", "frame"])
def test_numbers_as_options_spell_them(write, cells, options, values, kind):
    table = [{"case": id, "otter": cell, "heron": cell} for id, cell in zip("abc", cells, strict=True)]
    if kind == "frame":
        source = pytest.importorskip("pandas").DataFrame(table)
    elif kind == "json":
        source = write("t.json", json.dumps(table))
    else:
        mark = "\t" if kind == "tsv" else ","
        source = write(
            f"t.{kind}", rows(mark, [list(table[0]), *([f'"{each}"' for each in row.values()] for row in table)])
        )
    assert read(source, **options).stats[:, :, 0].tolist() == [values, values]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ","}, r"line 2, column 'otter': expected a number as decimal=',' spells it, got '0.25'"),
        ({"thousands": "."}, r"column 'otter': expected a number as .*, got '0.25'"),
        ({"decimal": ",", "thousands": ","}, "decimal and thousands are both ','"),
        ({"decimal": ";"}, r"decimal must be one of ., ,"),
    ],
)
def test_numbers_that_are_spelled_otherwise_are_refused(write, options, message):
    with pytest.raises(InputError, match=message):
        read(write("t.csv", rows()), **options)


def test_numbers_of_sheets_and_json_are_what_they_are(sheet, write):
    """Only texts are spelled in some way."""
    path = sheet([["topic", *NAMES], ["a", 987, 1.5], ["b", 1.234, "1,5"], ["c", 2, 2]])
    assert read(path, decimal=",").stats[:, :, 0].tolist() == [[987, 1.234, 2], [1.5, 1.5, 2]]
    table = [{"id": "a", "otter": 987, "heron": 1.5}, {"id": "b", "otter": 1.234, "heron": "1,5"}]
    found = read(write("t.json", json.dumps(table)), decimal=",")
    assert found.stats[:, :, 0].tolist() == [[987, 1.234], [1.5, 1.5]]
    with pytest.raises(InputError, match=r"row 3, column 'otter': is '1.234' 1.234 or 1234"):
        read(sheet([["topic", *NAMES], ["a", "987", 1], ["b", "1.234", 0], ["c", "890", 1]]))


@pytest.mark.parametrize("cell", ["0.735 ± 0.020", "0.735 (0.02)", "0.735+-0.02", "$0.735 \\pm 0.02$", "73.5% ± 2.0%"])
def test_a_mean_and_its_deviation_are_no_result(write, cell):
    with pytest.raises(InputError, match="it is a mean with its deviation or error; give the result of each instance"):
        read(write("t.csv", rows().replace("0.25,", f"{cell},")))


FRAME = {"otter": NUMBERS["otter"], "heron": NUMBERS["heron"]}


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "table", "values"])
def test_json_of_pandas(tmp_path, orient, indexed):
    pandas = pytest.importorskip("pandas")
    frame = (
        pandas.DataFrame(FRAME, index=[f"q{i}" for i in range(6)])
        if indexed
        else pandas.DataFrame({"topic": IDS} | FRAME)
    )
    path = tmp_path / "t.json"
    frame.to_json(path, orient=orient)
    if orient == "values":
        with pytest.raises(InputError, match="rows without names; .*orient records"):
            read(path)
        return
    found = read(path)
    assert (found.systems, found.stats[:, :, 0].tolist()) == (NAMES, list(NUMBERS.values()))
    if orient != "records" or not indexed:
        assert found.ids == (tuple(frame.index) if indexed else tuple(IDS))


def test_the_orient_that_is_unclear_is_asked_about(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "t.json"
    frame = pandas.DataFrame(FRAME, index=IDS)
    for orient in ("columns", "index"):
        frame.to_json(path, orient=orient)
        with pytest.raises(InputError, match="columns or rows") as caught:
            read(path)
        ways = [hint.values[0] for hint in caught.value.hints if hint.option == "reader"]
        assert ways == ["json(orient=columns)", "json(orient=index)"]
        same(read(path, reader=f"json(orient={orient})"))


@pytest.mark.parametrize("orient", ["columns", "index"])
@pytest.mark.parametrize("note", [{"case k": "typed"}, dict.fromkeys(IDS, "typed")])
def test_texts_in_some_rows_are_enough_to_know_the_orient(write, orient, note):
    columns = {name: dict(zip(IDS, values, strict=True)) for name, values in NUMBERS.items()} | {"note": note}
    rows = {id: {name: own[id] for name, own in columns.items() if id in own} for id in IDS}
    same(read(write("t.json", json.dumps(columns if orient == "columns" else rows))))


def test_settings_of_scikit_learn_are_systems_and_splits_folds(tmp_path):
    pandas = pytest.importorskip("pandas")
    scores = {f"split{k}_test_score": own for k, own in enumerate(([0.5, 0.75], [0.625, 0.5], [0.25, 0.875]))}
    parameters = {"param_C": [1, 10], "param_kernel": ["rbf"] * 2}
    about = {"mean_fit_time": [1.5, 2.5], **parameters, "params": [{"C": 1}, {"C": 10}]}
    table = pandas.DataFrame({**about, **scores, "mean_test_score": [0.4583, 0.7083]})
    table.to_csv(tmp_path / "cv.csv")
    for source in (tmp_path / "cv.csv", table):
        found = read(source)
        assert (found.systems, found.ids) == (("C=1", "C=10"), ("0", "1", "2"))
        assert found.stats[:, :, 0].tolist() == [[0.5, 0.625, 0.25], [0.75, 0.5, 0.875]]
        assert "2 settings of cv_results_ are the systems; scores are those of 3 folds" in found.notes[0]
    two = table.rename(columns=lambda name: name.replace("test_score", "test_accuracy"))
    for k in range(3):
        two[f"split{k}_test_f1"] = [0.5 + k / 8, 0.25]
    assert read(two, metric="f1").stats[0, :, 0].tolist() == [0.5, 0.625, 0.75]
    with pytest.raises(InputError, match="which of 'accuracy', 'f1'"):
        read(two)
    from sigjax.studies.classical import classical_tests

    assert len(classical_tests(tmp_path / "cv.csv", design="folds")) == 1


BOARD = """name,size,Open,AMI,TED,Podcast
otter,big,yes,1.5,2.0,0.5
otter,tiny,yes,2.5,1.0,0.25
heron,big,no,0.5,2.5,1.25
"""


def test_rows_that_are_systems(write):
    path = write("t.csv", BOARD)
    with pytest.raises(InputError, match=r"two rows are named 'otter' \(lines 2 and 3\)") as caught:
        read(path, transpose=True)
    (hint,) = (hint for hint in caught.value.hints if hint.option == "system_column")
    found = read(path, transpose=True, system_column=hint.values[0].strip("'"))
    assert found.systems == ("otter | big", "otter | tiny", "heron | big")
    assert found.ids == ("AMI", "TED", "Podcast")
    assert "left out: 'Open'" in found.notes[0]
    left = read(path, transpose=True, system_column="name,size", ignore=["TED"])
    assert left.ids == ("AMI", "Podcast")
    assert read(path, transpose=True, system_column="name,size", ignore=["heron | big"]).systems == found.systems[:2]


def test_a_mean_among_exchanged_columns_can_be_left_out(write):
    path = write("t.csv", "name,Average,AMI,TED\notter,2.0,1.5,2.5\nheron,1.0,0.5,1.5\n")
    with pytest.raises(InputError, match="'Average' is the mean of the other rows") as caught:
        read(path, transpose=True)
    (hint,) = (hint for hint in caught.value.hints if hint.option == "where")
    for options in ({"where": hint.values[0].strip('"')}, {"ignore": ["Average"]}):
        assert read(path, transpose=True, **options).ids == ("AMI", "TED")


REPEATED = "algorithm;file;seconds\n" + "".join(
    f"{name};{file};{time}\n"
    for k, name in enumerate(("bubble", "quick"))
    for file in ("v1", "v2")
    for time in (3 + k, 4.5)
)


def test_rows_of_one_instance_are_its_runs(write):
    path = write("t.csv", REPEATED)
    with pytest.raises(
        InputError, match=r"instance 'v1' of system 'bubble' is also on line 2.*runs='?\"?rows"
    ) as caught:
        read(path, system_column="algorithm", lower_is_better=True)
    assert any(hint.option == "runs" and "rows" in str(hint.values) for hint in caught.value.hints)
    found = read(path, system_column="algorithm", lower_is_better=True, runs="rows")
    assert (found.ids, found.runs) == (("v1", "v1", "v2", "v2"), ("1", "2", "1", "2"))
    with pytest.raises(InputError, match="instance 'v2' of system 'bubble' has 2 rows, and others have 3"):
        read(write("u.csv", REPEATED + "bubble;v1;9\n"), system_column="algorithm", lower_is_better=True, runs="rows")
    files = [write(f"{name}.csv", "file,score\nv1,1\nv1,0\nv2,1\nv2,1\n") for name in "ab"]
    assert read(*files, runs="rows").runs == ("1", "2", "1", "2")
    wide = write("w.csv", "file,otter,heron\nv1,1,0\nv1,0,0\nv2,1,0.5\nv2,1,1\n")
    assert read(wide, runs="rows").runs == ("1", "2", "1", "2")


@pytest.mark.parametrize("name", ["Batch", "model_id", "Epoch"])
def test_systems_that_are_told_are_never_doubted(write, name):
    path = write("t.csv", f"size,Classic,{name}\n" + "".join(f"{n},{n / 8},{n / 16}\n" for n in (10, 100, 200)))
    assert read(path, id_column="size", only=["Classic", name]).systems == ("Classic", name)


def test_named_files_with_records(write, tmp_path, capsys):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_text(
            json.dumps({"results": [{"id": id, "score": n} for id, n in zip("pqr", [1, 0, 1], strict=True)]})
        )
    files = [f"{name}={tmp_path / name / 'x.json'}" for name in "ab"]
    assert read(*files, records="results").systems == ("a", "b")
    with pytest.raises(InputError, match=r"^\S*/c/x.json: no such file"):
        read(files[0], f"c={tmp_path}/c/x.json", records="results")


@pytest.mark.parametrize(
    ("name", "content", "reader"),
    [
        ("t.tsv", rows(" ").replace("case ", "case"), "spaces"),
        ("t.csv", rows(" ").replace("case ", "case"), "spaces"),
        ("t.tsv", rows(), "csv"),
        ("t.csv", rows("\t"), "tsv"),
        ("t.tsv", rows("|"), "csv"),
    ],
)
def test_the_proposed_reader_reads(write, name, content, reader):
    path = write(name, content)
    with pytest.raises(InputError, match="found one column") as caught:
        read(path)
    (hint,) = caught.value.hints
    assert hint.values == (reader,)
    assert read(path, reader=reader).systems == NAMES


def test_options_on_the_command_line(write, capsys):
    path = str(write("t.csv", GERMAN))
    assert _run(["compare", path], debug=False) == 2
    words = shlex.split(re.search(r"give (--thousands \S+)", capsys.readouterr().err)[1])
    assert _run(["compare", path, *words, "--format", "json"], debug=False) == 0
    assert [each["score"] for each in json.loads(capsys.readouterr().out)["systems"]] == [1111.75, 1054.0]
