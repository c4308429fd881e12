"""Numbers that a double would change, NumPy archives: one clear line each, and never an unpickled object."""

import io
import json
import pickle
import zipfile
from decimal import Decimal
from fractions import Fraction

import logs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import arrays
from mutations import arrays as pack

from sigjax import Evaluation, InputError, read
from sigjax.readers.table import parse_number, parse_numbers


def pack_header(stats=None, **changes):
    metric = {"name": "mean", "stat_names": ["value", "count"], "higher_is_better": True, "notes": []}
    header = {"schema": "sigjax-evaluation/1", "systems": ["A", "B"], "ids": ["x", "y"], "metrics": [metric]}
    encoded = np.frombuffer(json.dumps(header | changes).encode(), dtype=np.uint8)
    return pack(header=encoded, stats_0=np.ones((2, 2, 2)) if stats is None else stats)


def named(name):
    return [{"name": name, "stat_names": ["s"], "higher_is_better": True, "notes": []}]


AB = {"A": np.arange(2), "B": np.arange(2)}
BAD_NPZ = [
    (b"", {}, r"t.npz: not readable as .npz without pickle"),
    (b"junk" * 9, {}, r"not readable as .npz"),
    (b"PK\x03\x04" + b"junk" * 9, {}, r"not readable as .npz"),
    (pack(**AB)[:-30], {}, r"not readable as .npz"),
    (pack(), {}, r"at least two systems, got 0"),
    (pack(A=AB["A"]), {}, r"t.npz: a comparison needs at least two systems, got 1"),
    (pack(**AB, C=np.array([{}], dtype=object)), {}, r"t.npz: not readable as .npz without pickle: Object arrays"),
    (pack(A=AB["A"], B=np.arange(3)), {}, r"t.npz: systems have different instances"),
    (pack(A=np.array(1), B=np.array(2)), {}, r"system 'A': one number, 1, is a mean"),
    (pack(A=[1.0, np.nan], B=AB["B"]), {}, r"t.npz: system 'A': nan at instance 2"),
    (pack(A=["p", "q"], B=AB["B"]), {}, r"system 'A': expected numbers"),
    (pack(A=np.array([2**60, 1]), B=AB["B"]), {}, r"t.npz: system 'A': whole numbers must stay within 2\*\*53"),
    (pack(A=AB["A"], B=np.array([-(2**53) - 1, 1])), {}, r"t.npz: system 'B': whole numbers must stay within 2\*\*53"),
    (pack(A=np.array([2**64 - 1], np.uint64), B=AB["B"]), {}, r"system 'A': whole numbers must stay within 2\*\*53"),
    (pack_header(stats=np.full((2, 2, 2), 2**60)), {}, r"t.npz: system 'A': whole numbers must stay within 2\*\*53"),
    (pack(**AB, ids=["x", "x"]), {}, r"t.npz: instance id 'x' occurs more than once"),
    (pack(**AB, ids=["x", " "]), {}, r"array 'ids': label 2 is empty"),
    (pack(**AB, ids=["x"]), {}, r"ids: expected one label for each of the 2 instances, got 1"),
    (pack(**AB, clusters=[0.5, 1.0]), {}, r"array 'clusters': expected labels \[instance\] of text or whole"),
    (pack(**AB), {"metric": "fscore"}, r"t.npz: metric 'fscore' takes 3 number"),
    (pack(**AB), {"counts": {"tp": "A"}}, r"counts is for long tables"),
    (pack(**AB), {"ignore": ["C"]}, r"no array 'C'; arrays: 'A', 'B'"),
    (pack(**AB), {"only": ["A", "C"]}, r"no system 'C'"),
    (pack(**AB), {"cluster": "doc"}, r"cluster: no column and no file 'doc'"),
    (pack_header(schema="other/1"), {}, r"array 'header': expected JSON of the schema 'sigjax-evaluation/1'"),
    (pack(header=np.arange(3), stats_0=np.ones((2, 2, 2))), {}, r"array 'header': expected JSON"),
    (pack_header(ids="xy"), {}, r"field 'ids': is not as sigjax saves it"),
    (pack_header(clusters=[1, 2]), {}, r"field 'clusters': is not as sigjax"),
    (pack_header(metrics=named("blue")), {}, r"field 'metrics': unknown metric 'blue'"),
    (pack_header(metrics=[]), {}, r"field 'metrics': is not as sigjax"),
    (pack_header(ids=["x", "x"]), {}, r"t.npz: instance id 'x' occurs more than once"),
    (
        pack_header(ids=["x"]),
        {},
        r"statistics of 'mean': expected the shape \(2, 1, 2\) of the header, got \(2, 2, 2\)",
    ),
    (pack_header(metrics=named("mean") * 2), {}, r"array 'stats_1' is missing"),
    (pack_header(systems=["A", "A"]), {}, r"field 'systems': is not as sigjax"),
    (pack_header(clusters=["d"]), {}, r"clusters: expected one label for each"),
    (pack_header(stats=np.full((2, 2, 2), np.inf)), {}, r"t.npz: system 'A': inf at instance 1"),
    (pack_header(stats=np.full((2, 2, 2), "q")), {}, r"expected numbers"),
    (pack_header(), {"id_column": "x"}, r"id_column is for tables"),
    (pack_header(), {"ignore": ["C"]}, r"ignore: no system 'C'"),
    (pack_header(), {"strata": "doc"}, r"strata: no column and no file 'doc'"),
]


@pytest.mark.parametrize(("content", "options", "message"), BAD_NPZ)
def test_bad_npz_gets_one_clear_line(write, content, options, message):
    with pytest.raises(InputError, match=message) as caught:
        read(write("t.npz", content), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", [0x110000, 0xFFFFFFFF, 0xD800])
def test_labels_that_are_no_text_are_refused(tmp_path, order, code):
    ids = np.array([[ord("a"), code], [ord("b"), 0x10FFFF]], f"{order}u4").view(f"{order}U2")[:, 0]
    (tmp_path / "t.npz").write_bytes(pack(**AB, ids=ids))
    with pytest.raises(InputError, match="array 'ids': a label holds what is no character; repair it"):
        read(tmp_path / "t.npz")
    (tmp_path / "t.npz").write_bytes(pack(**AB, ids=ids[1:].repeat(2).astype("U3") + np.array(["", "x"])))
    assert read(tmp_path / "t.npz").ids == ("b\U0010ffff", "b\U0010ffffx")


class Trap:
    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


@pytest.mark.parametrize("member", ["A.npy", "A"])
def test_nothing_is_unpickled(tmp_path, member):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr(member, pickle.dumps(Trap()))
    with pytest.raises(InputError, match="not an array|without pickle"):
        read(tmp_path / "t.npz")
    (tmp_path / "t.npz").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="without pickle"):
        read(tmp_path / "t.npz")


def test_repeated_arrays_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        for name in ("A", "A.npy", "B.npy"):
            archive.writestr(name, zipfile.ZipFile(io.BytesIO(pack(**AB))).read("A.npy"))
    with pytest.raises(InputError, match="two arrays are named 'A'"):
        read(tmp_path / "t.npz")


def bomb(shape, *, size=0):
    """An archive of one array that claims a shape, and has `size` bytes."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("A.npy", "B.npy"):
            archive.writestr(name, header.getvalue() + bytes(size))
    return buffer.getvalue()


@pytest.mark.parametrize("shape", [(10**15,), (10**9, 10**9), (10**6, 1)])
def test_arrays_that_claim_more_than_there_is_are_refused(write, shape):
    with pytest.raises(InputError, match=r"t.npz: not readable as .npz without pickle: "):
        read(write("t.npz", bomb(shape, size=80)))


def test_archives_that_unpack_to_too_much_are_refused(tmp_path, monkeypatch):
    (tmp_path / "t.npz").write_bytes(bomb((2**17,), size=2**20))
    assert read(tmp_path / "t.npz").num_instances == 2**17
    monkeypatch.setattr("sigjax.run.files._LARGEST_PACKED", 2**20)
    with pytest.raises(InputError, match="t.npz: the arrays unpack to more than 1048576 bytes"):
        read(tmp_path / "t.npz")


SPELT = {
    "1_000": "expected a number, got",
    "9007199254740993": r"whole numbers beyond 2\*\*53",
    "9007199254740993.0": r"whole numbers beyond 2\*\*53",
    "-9007199254740993": r"whole numbers beyond 2\*\*53",
    "1e-400": "too small for a double; write 0",
    "0." + "0" * 400 + "7": "too small for a double; write 0",
}


def inspect(cell):
    return logs.inspect([0.25, 0.5]).replace("0.25", cell)


EVAL = "map\t7\t{}\nmap\t8\t0.5\n"
FILES = {
    "csv": ({"t.csv": "id,A,B\nx,1,0\ny,{},1\n"}, "t.csv, line 3, column 'A': "),
    "tsv": ({"t.tsv": "system\tid\tvalue\nA\tx\t{}\nB\tx\t0\n"}, "t.tsv, line 2, column 'value': "),
    "numbers": ({"a": "1\n{}\n", "b": "1\n0\n"}, "a, line 2: "),
    "paired-perm": ({"t": "1,2\n{},1\n"}, "t, line 2: "),
    "mt-metrics-eval": ({"t.seg.score": "A 1\nA 2\nB 1\nB {}\n"}, "t.seg.score, line 4: "),
    "trec-eval": ({"a": EVAL, "b": EVAL.format(0.5)}, "a, line 1, 'map': "),
    "inspect": ({"a.json": '"{}"', "b.json": "1"}, "a.json, sample 0|a.json, sample 1"),
}
JSON = {
    "jsonl": ({"t.jsonl": '{"id": "x", "A": @, "B": 1}\n'}, "t.jsonl, line 1, column 'A': "),
    "comet": ({"t.json": '{"a": [{"COMET": @}], "b": [{"COMET": 0}]}'}, "t.json, system 'a', segment 1"),
    "eee": ({"a": logs.every_eval([0.25]).replace("0.25", "@"), "b": logs.every_eval([1], model="b")}, "a, line 1"),
    "lm-eval": ({"a": logs.lm_eval([0.25]).replace("0.25", "@"), "b": logs.lm_eval([1])}, "a, line 1, field 'acc'"),
    "helm": ({"a": logs.helm([0.25]).replace('"sum": 0.5', '"sum": @'), "b": logs.helm([1])}, "a, entry 1, stat"),
}


@pytest.mark.parametrize(
    ("reader", "spelling"),
    [(reader, spelling) for reader in FILES for spelling in SPELT]
    + [(reader, spelling) for reader in (*JSON, "inspect number") for spelling in SPELT if "_" not in spelling],
)
def test_what_a_double_does_not_hold_is_refused(tmp_path, here, reader, spelling):
    if reader in FILES:
        files, place = FILES[reader]
        files = {name: content.replace("{}", spelling) for name, content in files.items()}
        if reader == "inspect":
            files = {name: inspect(cell) for name, cell in files.items()}
    elif reader == "inspect number":
        reader, place = "inspect", "a.json, sample"
        files = {"a.json": inspect(spelling), "b.json": inspect("1")}
    else:
        files, place = JSON[reader]
        files = {name: content.replace("@", spelling) for name, content in files.items()}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=SPELT[spelling]) as caught:
        read(*files, reader=reader)
    assert any(str(caught.value).startswith(each) for each in place.split("|"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spelling", ["9007199254740992", "-9007199254740992", "9007199254740992.0"])
def test_2_to_the_53_is_exact_and_taken(write, spelling):
    expected = [int(float(spelling)), 1]
    for name, content in (
        ("t.csv", f"id,A,B\nx,{spelling},0\ny,1,1\n"),
        ("t.jsonl", f'{{"id": "x", "A": {spelling}, "B": 0}}\n{{"id": "y", "A": 1, "B": 1}}\n'),
        ("t.json", f'[{{"id": "x", "A": {spelling}, "B": 0}}, {{"id": "y", "A": 1, "B": 1}}]'),
    ):
        assert read(write(name, content)).stats[0, :, 0].tolist() == expected


def test_judgments_and_runs_are_read_alike(tmp_path, write):
    pytest.importorskip("pytrec_eval")
    (tmp_path / "qrels").write_text("7 0 d1 1\n7 0 d2 0\n")
    (tmp_path / "b").write_text("7 Q0 d1 1 2.5 x\n")
    for spelling in SPELT:
        with pytest.raises(InputError, match=f"a, line 1, score: .*{SPELT[spelling]}"):
            read(tmp_path / "qrels", input=[write("a", f"7 Q0 d1 1 {spelling} x\n"), tmp_path / "b"], metric="ap")


def test_arrays_and_mappings_keep_whole_numbers_beside_others():
    large, beside = 2**53 + 1, 0.5
    for systems in (
        {"A": [large, beside], "B": [1, 0]},
        {"A": {"x": large, "y": beside}, "B": {"x": 1, "y": 0}},
        {"A": np.array([large, 1]), "B": [1, 0]},
    ):
        with pytest.raises(InputError, match=r"system 'A': whole numbers must stay within 2\*\*53"):
            Evaluation.from_arrays(systems)
    assert Evaluation.from_arrays({"A": [1e140, 0.5], "B": [1, 0]}).stats[0, 0, 0] == 1e140


@pytest.mark.skipif(np.finfo(np.longdouble).tiny > np.longdouble("1e-400"), reason="long doubles are doubles here")
def test_long_doubles_that_are_too_small(write):
    tiny = np.array(["1e-400", "1"], np.longdouble)
    with pytest.raises(InputError, match="system 'A': a number is too small for a double"):
        Evaluation.from_arrays({"A": tiny, "B": [1, 0]})
    with pytest.raises(InputError, match=r"t.npz: system 'A': a number is too small for a double"):
        read(write("t.npz", arrays(A=tiny, B=[1, 0])))


@given(
    st.from_regex(r"[+-]?([0-9]{1,20}(\.[0-9]{0,5})?|\.[0-9]{1,5})([eE][+-]?[0-9]{1,3})?", fullmatch=True)
    | st.floats().map(repr)
    | st.integers(-(2**54), 2**54).map(str)
    | st.text(alphabet="0123456789eE+-._ ", max_size=8)
)
def test_numerals_are_what_decimals_say(text):
    """Against the decimal module: a number is taken as the nearest double, 0 only where it is 0."""
    try:
        value = parse_number(text)
    except InputError:
        assert parse_numbers([text]) is None or Decimal(text) == 2**53
        return
    exact = Fraction(Decimal(text.strip()))
    assert value == float(exact)
    assert (value == 0) == (exact == 0)
    assert "_" not in text
    if text.strip("+- ").isdecimal():
        assert value == exact
    bulk = parse_numbers([text, "1"])
    assert bulk is None or bulk.tolist() == [value, 1.0]


def test_ids_may_be_whole_numbers_beyond_doubles(write):
    ids = np.array([1234567890123456789, -1234567890123456788])
    assert read(write("t.npz", pack(**AB, ids=ids))).ids == tuple(map(str, ids.tolist()))


def test_names_of_arrays_are_no_paths(tmp_path):
    (tmp_path / "in").mkdir()
    with zipfile.ZipFile(tmp_path / "in" / "t.npz", "w") as archive:
        for name in ("../A.npy", "/etc/B.npy"):
            archive.writestr(name, zipfile.ZipFile(io.BytesIO(pack(**AB))).read("A.npy"))
    assert read(tmp_path / "in" / "t.npz").systems == ("../A", "/etc/B")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["in", "t.npz"]
