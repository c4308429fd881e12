"""NumPy archives that cannot be used: one clear line each, and never an unpickled object."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from mutations import arrays as pack

from sigjax import InputError, read


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
    (pack(A=np.array(1), B=np.array(2)), {}, r"got 0 axes"),
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
    (pack(**AB), {"systems": ["A", "C"]}, r"no system 'C'"),
    (pack(**AB), {"cluster": "doc"}, r"cluster: no column and no file 'doc'"),
    (pack_header(schema="other/1"), {}, r"array 'header': expected JSON of the schema 'sigjax-evaluation/1'"),
    (pack(header=np.arange(3), stats_0=np.ones((2, 2, 2))), {}, r"array 'header': expected JSON"),
    (pack_header(ids="xy"), {}, r"field 'ids': expected a list of texts"),
    (pack_header(clusters=[1, 2]), {}, r"field 'clusters': expected a list of texts"),
    (pack_header(metrics=named("blue")), {}, r"field 'metrics': unknown metric 'blue'"),
    (pack_header(metrics=[]), {}, r"field 'metrics': expected name, stat_names"),
    (pack_header(ids=["x", "x"]), {}, r"t.npz: instance id 'x' occurs more than once"),
    (
        pack_header(ids=["x"]),
        {},
        r"statistics of 'mean': expected the shape \(2, 1, 2\) of the header, got \(2, 2, 2\)",
    ),
    (pack_header(metrics=named("mean") * 2), {}, r"array 'stats_1' is missing"),
    (pack_header(systems=["A", "A"]), {}, r"field 'systems': a name occurs twice"),
    (pack_header(clusters=["d"]), {}, r"clusters: expected one label for each"),
    (pack_header(stats=np.full((2, 2, 2), np.inf)), {}, r"t.npz: system 'A': inf at instance 1"),
    (pack_header(stats=np.full((2, 2, 2), "q")), {}, r"expected numbers"),
    (pack_header(), {"id": "x"}, r"id is for tables"),
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


@pytest.mark.parametrize("shape", [(10**15,), (10**9, 10**9), (0x7FFFFFFF, 1)])
def test_arrays_that_claim_too_much_are_refused_before_room_is_made(write, monkeypatch, shape):
    monkeypatch.setattr(np.lib.format, "read_array", None)  # not called any more
    with pytest.raises(InputError, match=r"t.npz: array 'A.npy' claims the shape .* the data end before"):
        read(write("t.npz", bomb(shape, size=80)))


def test_archives_that_unpack_to_too_much_are_refused(tmp_path, monkeypatch):
    (tmp_path / "t.npz").write_bytes(bomb((2**17,), size=2**20))
    assert read(tmp_path / "t.npz").num_instances == 2**17
    monkeypatch.setattr("sigjax.run.files._LARGEST_PACKED", 2**20)
    with pytest.raises(InputError, match="t.npz: the arrays unpack to more than 1048576 bytes"):
        read(tmp_path / "t.npz")
