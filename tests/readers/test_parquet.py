"""Parquet files that are damaged: one line each, and no end of the process."""

import io
import subprocess
import sys

import pytest

from sigjax import InputError, read

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("narwhals")


def packed(columns, **options):
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), buffer, compression="zstd", store_schema=False, **options)
    return buffer.getvalue()


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


@pytest.mark.slow
def test_a_damaged_footer_does_not_end_the_process(tmp_path):
    columns = {"__doc__": [{"id": "x", "query": "q"}] * 2, "__metric__": [{"acc": 1.0}, {"acc": 0.0}], "A": [1, 0]}
    (tmp_path / "details_a.parquet").write_bytes(packed(columns))
    assert run_apart(DAMAGE, tmp_path).split() == ["True", "True"]


def test_text_that_is_not_utf8_is_refused_by_its_column(tmp_path):
    latin = pyarrow.array(["José".encode("latin-1"), b"x"]).view(pyarrow.string())
    table = pyarrow.table({"id": latin, "A": [1, 0], "B": [0, 1]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="t.parquet, column 'id': expected UTF-8 text; repair it"):
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


WIDE = 10_001


@pytest.mark.slow
def test_a_table_of_too_many_columns_is_refused(tmp_path):
    """As CSV is; who names the systems, or their column, gets them."""
    path = tmp_path / "t.parquet"
    columns = {"id": ["x", "y"]} | {f"c{i}.{i % 7}": [i % 2, 1] for i in range(WIDE)}
    path.write_bytes(packed(columns))
    names = ["c3.3", "c4.4"]
    found = read(path, only=names)
    assert (found.systems, found.ids) == (tuple(names), ("x", "y"))
    assert found.stats[:, :, 0].tolist() == [[1, 1], [0, 1]]
    with pytest.raises(InputError, match=f"has {WIDE + 1} columns of systems, expected at most 10000: one row per"):
        read(path)
