"""Parquet files that are damaged, or unpack to far more than they store: one line each, in little time and memory."""

import io
import pathlib
import subprocess
import sys

import pytest

from sigjax import InputError, read

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("narwhals")
LONG = "x" * 10**6


def packed(columns, **options):
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), buffer, compression="zstd", store_schema=False, **options)
    return buffer.getvalue()


def repeated(text, count):
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count, pyarrow.int32()), [text])


def details(count, query):
    ids = pyarrow.array([str(i) for i in range(count)])
    docs = pyarrow.StructArray.from_arrays([ids, query, pyarrow.array([["a"]] * count)], ["id", "query", "choices"])
    return packed({"__doc__": docs, "__metric__": [{"acc": i % 2, "parts": [1.0]} for i in range(count)]})


def run_apart(program, *arguments):
    """What a program prints in a process of its own, which must not be killed."""
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


DAMAGE = """
import pathlib, sys
from sigjax import InputError, read
good, bad = (pathlib.Path(sys.argv[1], f"details_{name}.parquet") for name in "ab")
data = good.read_bytes()
footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
outcomes = {"read": 0, "refused": 0}
for position in range(footer, len(data)):
    damaged = bytearray(data)
    damaged[position] ^= 1
    bad.write_bytes(damaged)
    for reader, files in (("lighteval", (good, bad)), ("parquet", (bad,))):
        try:
            read(*files, reader=reader, missing="drop")
            outcomes["read"] += 1
        except InputError as refusal:
            assert "\\n" not in str(refusal)
            outcomes["refused"] += 1
print(outcomes["read"] > 100, outcomes["refused"] > 100)
"""


def test_a_damaged_footer_does_not_end_the_process(tmp_path):
    columns = {"__doc__": [{"id": "x", "query": "q"}] * 2, "__metric__": [{"acc": 1.0}, {"acc": 0.0}], "A": [1, 0]}
    (tmp_path / "details_a.parquet").write_bytes(packed(columns))
    assert run_apart(DAMAGE, tmp_path).split() == ["True", "True"]


MEMORY = """
import pathlib, sys
from sigjax import InputError, read
try:
    read(*sys.argv[1:])
except InputError as refusal:
    print(refusal)
(peak,) = (line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1024)
"""
ROWS = 9000
HALVES = [0.0, 1.0] * (ROWS // 2)
BOMBS = {
    "text": lambda: packed({"id": repeated(LONG, ROWS), "A": HALVES, "B": HALVES}),
    "bytes": lambda: packed({"id": pyarrow.array([LONG.encode()] * 300, pyarrow.binary(len(LONG))), "A": [0.5] * 300}),
    "details": lambda: details(ROWS, repeated(LONG, ROWS)),
}


@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("kind", BOMBS)
def test_little_that_unpacks_to_gigabytes_is_refused(tmp_path, kind):
    paths = [tmp_path / f"{name}.parquet" for name in (("details_a", "details_b") if kind == "details" else "t")]
    for path in paths:
        path.write_bytes(BOMBS[kind]())
        assert path.stat().st_size < 50_000
    message, memory = run_apart(MEMORY, *paths).splitlines()
    assert message.endswith("bytes unpack to more than 268435456: this is no data; write it as csv if it is")
    assert int(memory) < 300


def test_text_that_is_not_utf8_is_refused_by_its_column(tmp_path):
    latin = pyarrow.array(["José".encode("latin-1"), b"x"]).view(pyarrow.string())
    table = pyarrow.table({"id": latin, "A": [1, 0], "B": [0, 1]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="t.parquet, column 'id': expected UTF-8 text; write the file again as UTF-8"):
        read(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="data frame, column 'id': expected UTF-8 text; repair it"):
        read(table)


def test_whole_numbers_in_decimals_stay_exact_or_are_refused(tmp_path):
    from decimal import Decimal

    for largest, refused in ((2**53, False), (2**53 + 1, True)):
        column = pyarrow.array([Decimal(largest), Decimal(0)], pyarrow.decimal128(20, 0))
        (tmp_path / "t.parquet").write_bytes(packed({"A": column, "B": [0, 1]}))
        if refused:
            with pytest.raises(InputError, match=r"row 1, column 'A': whole numbers beyond 2\*\*53 are not exact"):
                read(tmp_path / "t.parquet")
        else:
            assert read(tmp_path / "t.parquet").stats[0, :, 0].tolist() == [2**53, 0]


@pytest.mark.parametrize(("limit", "refused"), [(500_000, True), (700_000, False)])
def test_all_fields_of_an_object_count(write, monkeypatch, limit, refused):
    """Two of 300,000 letters each, which the file holds once."""
    texts = [repeated(letter * 300, 1000).dictionary_decode() for letter in "ab"]
    docs = pyarrow.StructArray.from_arrays([*texts, pyarrow.array([["a"]] * 1000)], ["id", "query", "choices"])
    content = packed({"__doc__": docs, "__metric__": [{"acc": 1}] * 1000})
    monkeypatch.setattr("sigjax.readers.frames.growth_limit", lambda size: limit)
    paths = [write(f"details_{name}.parquet", content) for name in "ab"]
    if refused:
        with pytest.raises(InputError, match="this is no data"):
            read(*paths)
    else:
        assert read(*paths).num_instances == 1000


WIDE = 10_001


def test_a_table_of_too_many_columns_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    """As CSV is; who names the systems, or their column, gets them."""
    path = tmp_path / "t.parquet"
    columns = {"id": ["x", "y"]} | {f"c{i}.{i % 7}": [i % 2, 1] for i in range(WIDE)}
    path.write_bytes(packed(columns))
    names = ["c3.3", "c4.4"]
    found = read(path, only=names)
    assert (found.systems, found.ids) == (tuple(names), ("x", "y"))
    assert found.stats[:, :, 0].tolist() == [[1, 1], [0, 1]]
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)
    with pytest.raises(InputError, match=f"has {WIDE + 1} columns of systems, expected at most 10000: one row per"):
        read(path)
