"""Input that cannot be used: every file and option gets one clear line, never another kind of error."""

import gzip
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigjax import Evaluation, InputError, read
from sigjax.formats import FORMATS

WIDE = "id,A,B\nx,1,0\ny,1,1\n"
LONG = "system,id,tp,predicted,gold\nA,x,1,1,1\nB,x,1,1,1\n"
JSON = '{"id": "x", "A": 1, "B": 2}\n'

BAD = [
    # files
    ("t.csv", "", {}, r"t.csv: is empty; expected results"),
    ("t.csv", '""', {}, r"line 1: expected the names of the columns, got an empty line"),
    ("t.csv", gzip.compress(WIDE.encode() * 9, mtime=0)[:-9], {}, r"ends too early.*cut off"),
    ("t.csv", b"\x1f\x8b" + b"junk" * 9, {}, r"damaged gzip data"),
    ("t.csv", WIDE.encode("utf-16")[:-1], {}, r"damaged UTF-16 text.*save it as UTF-8"),
    ("t.csv", "id,A,B\nx,1,1\nJosé,1,1".encode("latin-1"), {}, r"t.csv, line 3: expected UTF-8 text, got byte 0xe9"),
    ("t.csv", "id,A,B\nx,1,\0\n", {}, r"line 2: expected text, got a NUL byte"),
    ("t.csv", bytes(range(256)), {}, r"UTF-8|NUL"),
    ("t.xlsx", "of some kind", {}, r"unknown format; known: .*tsv, csv.*; .*reader"),
    ("t.json", '[{"id": 1, "A": 2}]', {}, r"t.json: a comparison needs at least two systems, got 1"),
    # tables
    ("t.csv", "id,A,B\n", {}, r"a header but no rows"),
    ("t.csv", "id,A,B\nx,1,0\ny,1\n", {}, r"t.csv, line 3: expected 3 fields as in the header, got 2"),
    ("t.csv", "1,0\n0,1\n", {}, r"line 1: expected the names of the columns, got numbers"),
    ("t.csv", "id,A,A\nx,1,0\n", {}, r"line 1: columns 2 and 3 are both named 'A'"),
    ("t.csv", "id,A,\nx,1,0\n", {}, r"line 1: column 3 has no name"),
    ("t.tsv", WIDE, {}, r"line 1: found one column, 'id,A,B'; expected tabs .*reader=.csv."),
    ("t.csv", 'id,A,B\nx,"1,0\ny,1,1\n', {}, r"line 2: not readable as csv.*quotes"),
    ("t.csv", "system,id,value\nA,x,1\n", {}, r"t.csv: a comparison needs at least two systems, got 1"),
    ("t.csv", "q1,1,0\nq2,1,1\n", {}, r"line 1: the systems would be named '1', '0'; is this a row without a header"),
    ("t.csv", ",q1,q2,q3,q4\nA,1,0,1,1\nB,1,1,0,1\n", {}, r"'q1', 'q2', 'q3', ... are numbered like instances"),
    ("t.csv", "system,q1,q2,q3,q4\nA,1,0,1,1\nB,1,1,0,1\n", {}, r"in a table of 2 rows; .*exchange rows and columns"),
    ("t.csv", "model,id,score\nA,x,1\nB,y,0\n", {}, r"column 'model' seems to hold the systems, one"),
    # numbers
    ("t.csv", "id,A,B\nx,50%,1\n", {}, r"line 2, column 'A': .* got '50%'; it is a percentage; leave out all % signs"),
    ("t.tsv", "id\tA\tB\nx\t0,5\t1\n", {}, r"got '0,5'; it has a decimal comma; write decimal points, 0.5"),
    ("t.csv", "id,A,B\nx,n/a,1\n", {}, r"'A' lacks 1 of 1 \(first: 'x', line 2\); use missing=.drop. or"),
    (
        "t.csv",
        "id,A,B\nx,1,0\ny,1,oops\n",
        {},
        r"t.csv, line 3, column 'B': expected a number, got 'oops'; .*ignore=..NA",
    ),
    ("t.csv", f"id,A,B\nx,1,{'a' * 99}\n", {}, r"got 'a{37}\.\.\.'"),
    ("t.csv", "id,A,B\nx,1,1_000\n", {}, r"line 2, column 'B': expected a number, got '1_000'"),
    ("t.csv", "id,A,B\nx,1,-Infinity\n", {}, r"expected a finite number, got '-Infinity'"),
    ("t.csv", f"id,A,B\nx,1,{'9' * 5000}\n", {}, r"expected a finite number"),
    ("t.csv", "id,A,B\nx,1,9007199254740993\n", {}, r"column 'B': whole numbers beyond 2\*\*53 .* rescale"),
    ("t.csv", LONG.replace("A,x,1", "A,x,q"), {"metric": "fscore"}, r"line 2, column 'tp': .*with counts"),
    ("t.csv", LONG.replace("A,x,1", "A,x,5"), {"metric": "fscore"}, r"t.csv: system 'A': tp must lie between"),
    ("t.csv", WIDE, {"only": ["A", "id"]}, r"line 2, column 'id': expected a number, got 'x'"),
    ("t.csv", "id,A,B\nx,1,2\n", {"metric": "accuracy"}, r"t.csv: system 'B': accuracy takes 0 or 1"),
    # ids
    (
        "t.csv",
        "id,A,B\nx,1,0\ny,1,0\nx,1,1\n",
        {},
        r"line 4: instance 'x' of system 'A' is also on line 2; ids must be unique in each run \(column 'id'; see id",
    ),
    (
        "t.csv",
        'id,A,B\n"x\nw",1,0\ny,1,0\n"x\nw",1,1\n',
        {},
        r"line 5: instance 'x\\nw' of system 'A' is also on line 2",
    ),
    ("t.csv", "id,A,B\nx,1,0\n ,1,0\n", {}, r"line 3, column 'id': expected a name, got an empty cell"),
    (
        "t.csv",
        "n,A,B\n1,1,0\n2,1,0\n3,1,0\n",
        {},
        r"column 'n' looks like ids.*ignore=.'n'.*id_column='n' \(2 systems: 'A', 'B'; 3 rows joined by 'n'\)",
    ),
    ("t.csv", "C,A,B\n5,1,0\n.5,1,0\nq,1,0\n", {}, r"line 4, column 'C': expected a number as in most .*repair it"),
    (
        "t.csv",
        LONG + "A,x,1,1,1\n",
        {"metric": "fscore"},
        r"line 4: instance 'x' of system 'A' is also on line 2; .*runs",
    ),
    (
        "t.csv",
        "system,id,run,value\nA,x,1,1\nA,x,1,2\nB,x,1,1\n",
        {"runs": "run"},
        r"line 3: instance 'x' \(run '1'\) of system 'A' is also on line 2; ids must be unique in each run",
    ),
    ("t.csv", LONG + ",y,1,1,1\n", {"metric": "fscore"}, r"line 4, column 'system': expected a name"),
    # missing instances
    (
        "t.csv",
        "id,A,B\nx,1,\ny,,0\n",
        {},
        r"'A' lacks 1 of 2 \(first: 'y', line 3\), 'B' lacks 1 of 2 \(first: 'x', line 2\)",
    ),
    ("t.csv", "id,A,B\nx,1,\ny,,0\n", {"missing": "drop"}, r"no instance is left that all systems have"),
    (
        "t.csv",
        LONG + "A,y,1,1,1\n",
        {"metric": "fscore"},
        r"'B' lacks 1 of 2 \(first: 'y'\); use missing=.drop. or mis",
    ),
    ("t.csv", LONG + "A,y,1,1,\n", {"metric": "fscore", "missing": "zero"}, r"no system has instance 'y', so its gold"),
    ("t.csv", WIDE, {"missing": "keep"}, r"missing must be one of error, drop, zero, pairwise, got 'keep'"),
    # options
    ("t.csv", WIDE, {"metric": "blue"}, r"unknown metric 'blue'; did you mean .*'bleu'\? `sigjax help metrics`"),
    ("t.csv", WIDE, {"metric": 7}, r"metric must be a name"),
    ("t.csv", WIDE, {"reader": "xls"}, r"reader: no format 'xls'; expected one of .*npz, "),
    (
        "t.csv",
        WIDE,
        {"metric": "fscore"},
        r"takes 3 numbers .*long table with the columns: system, id, tp, predicted, gold",
    ),
    ("t.csv", "id,A,B\nx,1,0\nx,1,1\n", {"metric": "fscore"}, r"takes 3 numbers per instance"),  # whatever its ids
    (
        "t.csv",
        "model,id,v,w\nA,x,1,1\nA,y,2,1\nB,x,1,2\nB,y,1,2\n",
        {},
        r"'model' seems to hold the systems; which .* holds the scores, 'v', 'w'\? give system_column='model'",
    ),
    ("t.csv", WIDE, {"counts": {"value": "A"}}, r"counts is for long tables"),
    ("t.csv", WIDE, {"counts": ["value"]}, r"counts must be a mapping such as"),
    ("t.csv", WIDE, {"only": "AB"}, r"only must be a list of names, got 'AB'"),
    ("t.csv", WIDE, {"ignore": "A"}, r"ignore must be a list of names"),
    ("t.csv", WIDE, {"only": ["A", "Bb"]}, r"no system 'Bb'; did you mean 'B'\?"),
    ("t.csv", WIDE, {"ignore": ["zzz"]}, r"ignore: no column 'zzz'; columns: 'id', 'A', 'B'"),
    ("t.csv", WIDE, {"id_column": "Id"}, r"id_column: no column 'Id'; did you mean 'id'\?"),
    ("t.csv", WIDE, {"cluster": "doc"}, r"t.csv: cluster: no column and no file 'doc'"),
    ("t.csv", "id,A,B,d\nx,1,0,\n", {"cluster": "d"}, r"line 2, column 'd': expected a name, got an empty cell"),
    ("t.csv", LONG, {"metric": "fscore", "counts": {"TP": "tp"}}, r"takes tp, predicted, gold, not 'TP'"),
    ("t.csv", LONG, {"metric": "fscore", "counts": {"tp": "t"}}, r"counts: no column of numbers 't'"),
    ("t.csv", LONG, {}, r"metric 'mean' needs value: which of 'tp', .*\? say so with score_column=.NAME."),
    ("t.csv", "system,value\nA,1\nB,1\n", {}, r"no column is left for the instance ids"),
    (
        "t.csv",
        "system,id,value,d\nA,x,1,p\nB,x,1,q\n",
        {"cluster": "d"},
        r"line 3: 'd' of instance 'x' is 'q', but 'p' elsewhere; cluster takes one label per instance",
    ),
    # jsonl
    ("t.jsonl", JSON + "{", {}, r"t.jsonl, line 2, character 2: not readable as JSON"),
    ("t.jsonl", JSON + "[1, 2]", {}, r"line 2: expected an object, got a list"),
    ("t.jsonl", '{"id": "x", "A": 1, "A": 2}', {}, r"line 1: field 'A' occurs twice"),
    ("t.jsonl", '{"id": "x", "A": 1, "B": [2]}', {}, r"line 1, column 'B': expected a number, got '\(list\)'; .* ign"),
    ("t.jsonl", '{"id": "\\ud800", "A": 1, "B": 2}', {}, r"field 'id': holds half a character"),
    ("t.jsonl", "[" * 100_000, {}, r"line 1: nested too deeply|not readable as JSON"),
    ("t.jsonl", '{"id": "x", "A": 1, "": 2}', {}, r"column '' looks like ids"),
    ("t.jsonl", "{}\n{}", {}, r"the objects have no fields"),
    ("t.jsonl", JSON + '{"id": "y", "A": 1}', {}, r"'B' lacks 1 of 2 \(first: 'y', line 2\)"),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), BAD)
def test_bad_input_gets_one_clear_line(tmp_path, here, name, content, options, message):
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError, match=message) as caught:
        read(name, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("name", "message"), [("nix.csv", "no such file"), (".", "is a folder"), ("a\0b", "cannot be")]
)
def test_paths_that_cannot_be_read(name, message):
    with pytest.raises(InputError, match=message):
        read(name)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (b"a\n", "groups.txt: expected 2 lines.*got 1"),
        (b"a\n\n", "groups.txt, line 2: expected a label"),
        (b"", "is emp"),
    ],
)
@pytest.mark.parametrize("saved", [False, True])
def test_bad_label_files(tmp_path, labels, message, saved):
    (tmp_path / "groups.txt").write_bytes(labels)
    if saved:
        Evaluation.from_arrays({"A": [1, 0], "B": [0, 1]}).save(tmp_path / "t.npz")
    else:
        (tmp_path / "t.csv").write_text(WIDE)
    with pytest.raises(InputError, match=message):
        read(tmp_path / ("t.npz" if saved else "t.csv"), cluster=str(tmp_path / "groups.txt"))


@pytest.mark.slow
def test_tables_that_are_almost_all_holes_do_not_exhaust_the_memory(write):
    rows = range(20_000)
    with pytest.raises(InputError, match="systems by instances: 20000 by 20000"):
        read(write("t.csv", "system,id,value\n" + "".join(f"s{i},i{i},1\n" for i in rows)), missing="zero")
    with pytest.raises(InputError, match="lines by different fields: 20000 by 20001"):
        read(write("t.jsonl", "".join(f'{{"id": {i}, "s{i}": 1}}\n' for i in rows)))


def read_quietly(path, data, **options):
    """Whether the file was taken; any error but an `InputError` of one line gets out."""
    path.write_bytes(data)
    try:
        return read(path, **options) is not None
    except InputError as refusal:
        message = str(refusal)
    assert re.fullmatch(r"[^\n]+", message)
    return False


@pytest.mark.parametrize("reader", [*FORMATS, None])
@settings(max_examples=50)
@given(data=st.binary(max_size=80) | st.text(alphabet='ab1,.\t\n"{}:[]-e system', max_size=80).map(str.encode))
def test_any_bytes_are_taken_or_refused(tmp_path_factory, reader, data):
    read_quietly(tmp_path_factory.getbasetemp() / "bytes", data, reader=reader)


@given(changes=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_gzip_data_are_taken_or_refused(tmp_path_factory, changes):
    data = bytearray(gzip.compress(WIDE.encode(), mtime=0))
    for position, value in changes:
        data[position % len(data)] = value
    read_quietly(tmp_path_factory.getbasetemp() / "damaged", bytes(data))


@pytest.mark.slow
def test_very_many_columns_are_refused_in_one_line(tmp_path):
    names = [f"n{i}" for i in range(30_000)]
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + ",".join("1" * len(names)) + "\n")
    with pytest.raises(InputError, match="has 30000 columns of systems, expected at most 10000: one row per inst"):
        read(tmp_path / "t.csv")
    with pytest.raises(InputError, match="id_column: no column 'nn'"):
        read(tmp_path / "t.csv", id_column="nn")
    assert read(tmp_path / "t.csv", only=["n5", "n29999"]).stats.shape == (2, 1, 2)
