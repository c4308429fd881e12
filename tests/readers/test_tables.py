"""Tables as people have them: one per system, as JSON, with semicolons, blanks or decimal commas, against NumPy."""

import gzip
import io
import json
import re
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from mutations import spreadsheet

import sigjax
from sigjax import Evaluation, InputError, read

IDS = [f"q{i}" for i in range(20)]
CHANCE = np.random.default_rng(16)
SCORES = {"big": CHANCE.integers(0, 8, 20) / 8, "small": CHANCE.integers(0, 8, 20) / 8}
TOPICS = [f"t{i // 4}" for i in range(20)]


def records(name, holes=()):
    """The rows of a system, in an order of its own."""
    rows = [
        {"id": id, "topic": topic, "score": None if id in holes else float(score)}
        for id, topic, score in zip(IDS, TOPICS, SCORES[name], strict=True)
    ]
    return rows if name == "big" else rows[::-1]


def delimited(between, missing=""):
    def encode(rows):
        cells = [list(rows[0]), *([missing if cell is None else cell for cell in row.values()] for row in rows)]
        return "".join(between.join(map(str, row)) + "\n" for row in cells).encode()

    return encode


def parquet(rows):
    buffer = io.BytesIO()
    table = pytest.importorskip("pyarrow").Table.from_pylist(rows)
    pytest.importorskip("pyarrow.parquet").write_table(table, buffer)
    return buffer.getvalue()


KINDS = {
    "csv": delimited(","),
    "tsv": delimited("\t"),
    "txt": delimited(" ", "NA"),
    "semicolons.csv": lambda rows: delimited(";", "-")(rows).replace(b".", b","),
    "jsonl": lambda rows: "".join(json.dumps({**row, "raw": {"x": [1]}}) + "\n" for row in rows).encode(),
    "json": lambda rows: json.dumps(rows, indent=1).encode(),
    "parquet": parquet,
}


def given(write, kind, *, packed=False, holes=()):
    ending = ".gz" if packed else ""
    contents = {name: KINDS[kind](records(name, holes if name == "big" else ())) for name in SCORES}
    return [write(f"{n}.{kind}{ending}", gzip.compress(own) if packed else own) for n, own in contents.items()]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_one_table_per_system(write, kind, packed):
    files = given(write, kind, packed=packed)
    expected = Evaluation.from_arrays(dict(zip(("a", "b"), SCORES.values(), strict=True)), ids=IDS, clusters=TOPICS)
    for evaluation in (read(*files, cluster="topic"), read(input=dict(zip("ab", files, strict=True)), cluster="topic")):
        assert (evaluation.ids, evaluation.clusters) == (expected.ids, expected.clusters)
        np.testing.assert_array_equal(evaluation.stats, expected.stats)
        one, two = (sigjax.compare(each, resamples=999, device="numpy")[0] for each in (evaluation, expected))
        assert (one.delta, one.p_value) == (two.delta, two.p_value)
        assert evaluation.notes[0].startswith(
            "read from the table: systems are the files; instance ids from column 'id'"
        )
    assert [name.partition(".")[0] for name in read(*files).systems] == ["big", "small"]


ONE = "id,score\nx,1\ny,0\n"


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({"a.csv": "x,1\ny,0\n", "b.csv": "x,0\ny,0\n"}, {}, "a.csv, line 1: the columns would be named 'x', '1'; is"),
        ({"a.csv": ONE, "b.csv": "score\n1\n0\n"}, {}, "b.csv: has no instance ids, but a.csv has"),
        ({"a.csv": "score\n1\n\n", "b.csv": "score\n1\n\n0\n"}, {}, "b.csv: has blank lines, and no ids; write NaN"),
        ({"a.csv": "score\n1\n", "b.csv": "score\n1\n0\n"}, {}, "b.csv: has 2 instances, but a.csv has 1; without"),
        ({"a.csv": ONE, "b.csv": ONE.replace("y", "x")}, {}, "b.csv, line 3: instance 'x' .* is also on line 2"),
        ({"a.csv": ONE, "b.csv": ONE.replace("y", "z")}, {}, "'a' lacks 1 of 3 .*'b' lacks 1 of 3 .* use missing"),
        ({"a.csv": ONE, "b.csv": ONE.replace("y,0", "y,q")}, {}, "b.csv, line 3, column 'score': expected a number"),
        ({"a.csv": ONE, "b.csv": ONE.replace(",", ";")}, {"cluster": "d"}, "cluster: no column and no file 'd'"),
        ({"a.csv": ONE, "b.csv": ONE.replace(",", "\t")}, {}, "b.csv, line 1: found one column"),
        ({"a.csv": "id,v,w\nx,1,2\n", "b.csv": "id,v,w\nx,1,2\n"}, {}, "which of 'v', 'w'"),
        ({"a.json": '[{"id": 1, "v": 2}]', "b.json": '{"id": 1}'}, {}, "b.json: expected a list, got an object"),
        (
            {"a.json": '[{"id": 1, "v": 2}]', "b.json": '[{"id": 1, "v": 2}'},
            {},
            "b.json, line 1, .*not readable as JSON",
        ),
        ({"a.json": '[{"id": 1, "v": 2}]', "b.json": "[3]"}, {}, "b.json, entry 1: expected an object, got the text"),
        (
            {"a.txt": "Yes it is.\nNo, never.\n", "b.txt": "Yes.\nNo.\n"},
            {},
            "a.txt: unknown format of files with one system",
        ),
        ({"t.csv": "id;A;B\nx;1,500;2\n"}, {}, r"t.csv, line 2, column 'A': is '1,500' 1.500 or 1500\? give t"),
        ({"t.csv": "id;A;B\nx;1.500,5;2\n"}, {}, "t.csv, line 2, column 'A': expected a number, got '1.500,5'"),
        (
            {"t.json": '[{"A": 1, "B": 2, "C": [1]}, {"A": 1, "B": 2, "C": 3}]'},
            {},
            "entry 1, field 'C': .*got a list or",
        ),
        (
            {"t.txt": "id A B\nx 1 0\ny 1\n"},
            {"reader": "spaces"},
            "t.txt, line 3: expected 3 fields as in the header, got 2",
        ),
        (
            {"t.csv": "run,id,A,B\nr1,x,1,0\nr2,x,1,0\n"},
            {},
            "column 'run' seems to hold the systems; which column holds the",
        ),
        (
            {"t.csv": "model,team,id,v\nA,p,x,1\nB,p,x,1\nA,q,y,1\nB,q,y,1\n"},
            {},
            "which column holds the systems, 'model', 'team'",
        ),
    ],
)
@pytest.mark.usefixtures("here")
def test_tables_that_cannot_be_used(write, files, options, message):
    for name, content in files.items():
        write(name, content)
    with pytest.raises(InputError, match=message) as caught:
        read(*files, **options)
    assert "\n" not in str(caught.value)


SMALL = "id,A,B\nx,1,0.5\ny,0,1\nz,1,1\n"


def test_one_decimal_comma_says_what_all_others_are(write):
    """1,234 may be a thousand or one; beside 0,5 it is one, and NumPy reads it so with points."""
    rows = ["1,234;0,5", "2,345;0,25", "-1,5;3"]
    table = write("t.csv", "\n".join(["id;A;B", *(f"q{k};{row}" for k, row in enumerate(rows))]))
    expected = np.loadtxt([row.replace(",", ".") for row in rows], delimiter=";").T
    assert read(table).stats[..., 0].tolist() == expected.tolist()


@pytest.mark.parametrize("between", [",", "\t", ";", " "])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: "# made by a program\n# in two lines, or more\n" + text,
        lambda text: "# made by a program\n\n#" + text,
        lambda text: text.replace("\ny", "\n# the second half of it all\n#\ny"),
        lambda text: text + "# the end of it all\n",
        lambda text: text.replace("x", '"x"') + "# it is the end of it all\n",
    ],
)
@pytest.mark.parametrize("name", ["t", "t.csv"])
def test_comments_of_tables_are_left_out(write, name, between, change):
    path = write(name if between in ",;" else "t", change(SMALL.replace(",", between)))
    found = read(path)
    assert (found.systems, found.ids) == (("A", "B"), ("x", "y", "z"))
    assert found.stats[:, :, 0].tolist() == [[1, 0, 1], [0.5, 1, 1]]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
@pytest.mark.parametrize("quoted", [False, True])
def test_ids_that_begin_with_a_number_sign_are_ids(write, name, quoted):
    between = "," if name == "t.csv" else "\t"
    lines = ["#,A,B", "#1,1,0", "# 2,0,1", "3,1,1"]
    text = "\n".join(f'"{line}"'.replace(",", '","') if quoted else line for line in lines).replace(",", between) + "\n"
    found = read(write(name, text))
    assert (found.systems, found.ids) == (("A", "B"), ("#1", "# 2", "3"))
    cut = text.replace(f"{between}1\n" if not quoted else f'{between}"1"\n', "\n", 1)
    with pytest.raises(InputError, match="line 3: expected 3 fields as in the header, got 2"):
        read(write(name, cut))


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize(("name", "row"), [("t.csv", ",,"), ("t.csv", " , ,"), ("t.tsv", "\t\t"), ("t.csv", ";;")])
@pytest.mark.parametrize("count", [1, 3000])
def test_empty_rows_at_the_end_are_left_out(write, quoted, name, row, count):
    """As spreadsheets write them where cells were cleared; elsewhere they are refused by line."""
    text = SMALL.replace(",", row.strip()[0] if row.strip() else "\t")
    text = text.replace("x", '"x"') if quoted else text
    found = read(write(name, text + f"{row}\n" * count))
    assert found.ids == ("x", "y", "z")
    assert found.stats[:, :, 0].tolist() == [[1, 0, 1], [0.5, 1, 1]]
    with pytest.raises(InputError, match="line 3, column 'id': expected a name, got an empty cell"):
        read(write(name, text.replace("\ny", f"\n{row}\ny")))


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


SHEETS = {  # the first members as Excel, openpyxl, XlsxWriter and LibreOffice write them
    "t.xlsx": zipped({"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<workbook/>"}),
    "t.xlsm": zipped({"docProps/app.xml": "<Properties/>", "xl/workbook.xml": "<workbook/>"}),
    "t": zipped({"xl/worksheets/sheet1.xml": "<worksheet/>"}),
    "t.ods": zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}),
    "t.xls": bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512),
    "t.csv": zipped({"_rels/.rels": "<Relationships/>"}),
}


@pytest.mark.parametrize("name", SHEETS)
def test_spreadsheets_that_cannot_be_read_are_refused_with_what_to_do(write, name):
    path, table = write(name, SHEETS[name]), write("a.csv", SMALL)
    for given in ((path,), (table, path), (path, table)):
        with pytest.raises(InputError, match=r"t[.a-z]*: is a spreadsheet \(Excel, LibreOffice\).* save it as CSV"):
            read(*given)
    assert "is a spreadsheet (Excel" in (sigjax.doctor(path).refusal or "")


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30,) * 2)
from sigjax import InputError, read
try:
    print(read(sys.argv[1]).stats[:, :, 0].tolist())
except InputError as refusal:
    print(refusal)
"""
FAR = {
    "value": (
        "XFD1048576",
        "5",
        r"t\.xlsx: .*\(xl/worksheets/sheet1\.xml\): 1048576 by 16384, of which only 10 .*far away",
    ),
    "style": ("XFD1048576", None, r"\[\[1, 0\], \[0, 1\]\]"),
    "column": ("XFD3", "note", r"t\.xlsx, row 1: column 16384 has no name"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory")
@pytest.mark.parametrize("name", FAR)
def test_a_cell_far_away_does_not_exhaust_the_memory(tmp_path, name):
    """calamine would hold 17 billion cells for the first, and ends the process."""
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    address, value, expected = FAR[name]
    book = openpyxl.Workbook()
    for row in (["id", "A", "B"], ["x", 1, 0], ["y", 0, 1]):
        book.worksheets[0].append(row)
    book.worksheets[0][address].value = value
    book.worksheets[0][address].font = openpyxl.styles.Font(bold=True)
    book.save(tmp_path / "t.xlsx")
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "t.xlsx"], capture_output=True, text=True, check=True
    )
    assert re.search(expected, run.stdout)
    assert run.stdout.count("\n") == 1


def test_the_dimension_of_a_binary_sheet_is_looked_at(write):
    pytest.importorskip("python_calamine")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "xl/worksheets/sheet1.bin", b"\x81\x01\x00\x94\x01\x10" + struct.pack("<4I", 0, 10**6, 0, 10**4)
        )
    with pytest.raises(InputError, match=r"sheet1\.bin\): 1000001 by 10001, of which only \d .*save it as CSV"):
        read(write("t.xlsb", content.getvalue()))


@pytest.mark.parametrize("name", ["header", "comment", "quoted comment", "comment of many fields"])
def test_long_headers_and_comments(write, name):
    """The reader of CSV in Python takes 131,072 characters of a field."""
    long = "x" * 200_000
    before = {
        "comment": f"# {long}\n",
        "quoted comment": f'# "{long}"\n',
        "comment of many fields": f"# {long},{long}\n",
    }
    last = long if name == "header" else "B"
    evaluation = read(write("t.csv", f"{before.get(name, '')}id,A,{last}\nx,1,0\ny,0,1\n"))
    assert (evaluation.systems, evaluation.ids) == (("A", last), ("x", "y"))


def test_a_long_field_in_quotes_is_refused_in_one_line(write):
    with pytest.raises(InputError, match=r"t\.csv, line 1: .*131072.*; check the quotes, or write JSON lines"):
        read(write("t.csv", f'id,A,"B{"x" * 200_000}"\nx,1,0\ny,0,1\n'))


def test_a_library_that_panics_is_refused(write, monkeypatch):
    """Panics of Rust are no kind of Exception."""
    pytest.importorskip("openpyxl")
    calamine = pytest.importorskip("python_calamine")
    panic = type("PanicException", (BaseException,), {})

    class Workbook:
        def from_filelike(self):
            raise panic("index out of bounds:\nthe len is 3")

    monkeypatch.setattr(calamine, "CalamineWorkbook", Workbook)
    path = write("t.xlsx", spreadsheet(a={"id": [1], "A": [1], "B": [1]}))
    with pytest.raises(
        InputError, match=r"t\.xlsx: is a spreadsheet .*: index out of bounds: the len is 3; save it as CSV"
    ):
        read(path)
