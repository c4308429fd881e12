"""Data frames and Parquet files: the same rules as for tables in files, whichever library holds them."""

import contextlib
import gzip
import io
import sys
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigjax import InputError, compare, permutation_test, read

pytest.importorskip("narwhals")
LIBRARIES = ("pandas", "polars", "pyarrow")
LONG = {
    "system": ["A", "A", "B", "B"],
    "id": ["x", "y", "y", "x"],
    "doc": ["d1", "d2", "d2", "d1"],
    "tp": [1, 0, 1, 2],
    "predicted": [2, 0, 1, 2],
    "gold": [3, 1, 1, 3],
    "note": [[1], None, [], [2]],
}


def make(library, columns):
    """A data frame of a library."""
    module = pytest.importorskip(library)
    return (module.table if library == "pyarrow" else module.DataFrame)(columns)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"id": ["x", "y"], "A": [1.0, float("inf")], "B": [0, 1]}, {}, "row 2, column 'A': expected a finite number"),
        ({"id": ["x", "y"], "A": [0, 2**53 + 1], "B": [0, 1]}, {}, r"row 2, column 'A': whole numbers beyond 2\*\*53"),
        ({"id": ["x", "y"], "A": ["p", "q"], "B": [0, 1]}, {}, "row 1, column 'A': expected a number, got 'p'; a col"),
        (
            {"id": ["x", "x"], "A": [1, 0], "B": [0, 1]},
            {},
            "row 2: instance 'x' of system 'A' is also on row 1; ids must be unique",
        ),
        ({"id": ["x", None], "A": [1, 0], "B": [0, 1]}, {}, "row 2, column 'id': expected a name, got an empty cell"),
        ({"n": [1, 2, 3], "A": [1, 0, 1], "B": [0, 1, 1]}, {}, "column 'n' looks like ids"),
        ({"A": [1, 0]}, {}, "at least two systems, got 1"),
        ({"A": [], "B": []}, {}, "data frame: has no rows"),
        ({"A": [1, 0], "B": [0, 1]}, {"cluster": "doc"}, "cluster: no column and no file 'doc'"),
        ({"A": [1, 0], "B": [0, 1]}, {"reader": "csv"}, "reader means nothing for the data frame"),
        ({"A": [1, 0], "B": [0, 1]}, {"filter": "x"}, "filter means nothing for the data frame"),
        (LONG, {"metric": "fscore", "id_column": "doc", "only": ["A", "C"]}, "no system 'C'"),
        (LONG, {"metric": "mean"}, "metric 'mean' needs value"),
        ({"system": ["A", "A"], "id": ["x", "x"], "v": [1, 2]}, {}, "at least two systems, got 1"),
    ],
)
def test_frames_that_cannot_be_used(library, columns, options, message):
    with pytest.raises(InputError, match=message):
        read(make(library, columns), **options)


def test_particular_columns_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "A": pandas.Series([1, None, 3], dtype="Int64"),
            "B": pandas.Series([True, None, False], dtype="boolean"),
            "C": pandas.Categorical(["1", None, "2.5"]),
            "D": pandas.Series([Decimal("0.1"), None, 2], dtype=object),
            "E": np.array([0.5, np.nan, 2], np.float32),
            "F": pandas.Series(["1", None, "1e3"], dtype="string"),
        }
    ).set_index(pandas.Index(["x", "y", "z"], name="item"))
    evaluation = read(frame, missing="drop")
    assert evaluation.ids == ("x", "z")
    assert evaluation.stats[:, :, 0].tolist() == [[1, 3], [1, 0], [1, 2.5], [0.1, 2], [0.5, 2], [1, 1000]]
    unnamed = pandas.DataFrame([[1, 0], [0, 1]], index=["x", "y"])
    assert (read(unnamed).systems, read(unnamed).ids) == (("0", "1"), ("x", "y"))
    assert read(pandas.concat([unnamed, unnamed])).ids == ("1", "2", "3", "4")
    assert list(frame.columns) == list("ABCDEF")
    with pytest.raises(InputError, match="two columns are named 'A'"):
        read(pandas.DataFrame([[1, 0]], columns=["A", "A"]))
    with pytest.raises(InputError, match="column 'id': holds half a character"):
        read(pandas.DataFrame({"id": ["\ud800"], "A": [1], "B": [2]}, dtype=object))


def test_lazy_frames_and_other_things_are_no_frames():
    for thing in (3, [1, 2], None):
        with pytest.raises(
            InputError, match="expected an Evaluation, .* numbers are given by system|data must be an Eva"
        ):
            read(thing)
    polars = pytest.importorskip("polars")
    with pytest.raises(InputError, match="got LazyFrame; collect it"):
        read(polars.DataFrame({"A": [1], "B": [2]}).lazy())


@given(
    numbers=st.lists(
        st.tuples(*[st.floats(-1e6, 1e6) | st.integers(-(2**53), 2**53) | st.booleans() | st.none()] * 2),
        min_size=1,
        max_size=6,
    )
)
def test_a_frame_is_read_as_the_same_file_would_be(tmp_path_factory, numbers):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(numbers, columns=["A", "B"], dtype=object)
    path = tmp_path_factory.getbasetemp() / "same.csv"
    frame.to_csv(path, index=False)
    of_frame, of_file = (outcome(source) for source in (frame, path))
    assert of_frame == of_file


def outcome(source):
    try:
        evaluation = read(source, missing="zero", only=["A", "B"])
    except InputError:
        return None
    return evaluation.stats.tolist(), evaluation.systems


def packed_parquet(frame, library):
    buffer = io.BytesIO()
    if library == "pyarrow":
        pytest.importorskip("pyarrow.parquet").write_table(frame, buffer)
    else:
        frame.write_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_parquet_tables(tmp_path, write, library):
    pytest.importorskip("pyarrow")
    data = packed_parquet(make(library, LONG), library)
    for name, content in (("t.parquet", data), ("t", data), ("t.parquet.gz", gzip.compress(data))):
        evaluation = read(write(name, content), metric="fscore", strata="doc")
        assert evaluation.stats.tolist() == [[[1, 2, 3], [0, 0, 1]], [[2, 2, 3], [1, 1, 1]]]
        assert evaluation.strata == ("d1", "d2")
    for place in range(0, len(data), 37):
        (tmp_path / "bad.parquet").write_bytes(data[:place] + b"\xff" + data[place + 1 :])
        with contextlib.suppress(InputError):
            read(tmp_path / "bad.parquet", metric="fscore")
    (tmp_path / "bad.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="bad.parquet: is Parquet, but cannot be read"):
        read(tmp_path / "bad.parquet")


def test_missing_libraries_say_what_to_install(monkeypatch, write):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="run: .* install pyarrow narwhals"):
        read(write("t", b"PAR1"))
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(InputError, match="run: .* install narwhals"):
        read(type("Frame", (), {"columns": ["A", "B"]})())


def test_series_with_different_indexes_are_refused():
    """By position, different instances would be compared."""
    pandas = pytest.importorskip("pandas")
    one, other = (pandas.Series([1, 0, 1], index=list(names)) for names in ("xyz", "xzy"))
    assert compare({"a": one, "b": 1 - one.to_numpy(), "c": one}, read={"metric": "accuracy"})
    for call in (lambda: compare({"a": one, "b": other}), lambda: permutation_test(one, other)):
        with pytest.raises(InputError, match="have different indexes: join them in one data frame"):
            call()


def test_no_option_without_names_is_proposed():
    """A column that may be ids, and no other: the message ended with a bare `--only`."""
    with pytest.raises(InputError, match=r"it numbers the rows; systems names the columns of systems$") as caught:
        compare(pytest.importorskip("pandas").DataFrame({"n_wins": [1, 2, 3]}))
    assert "--only" not in caught.value.flags
