"""Reading tables: the forms that are taken, round trips through every format, and what is refused."""

import csv
import gzip
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import arrays, values

from sigjax import Evaluation, InputError, read
from sigjax.metrics import METRICS
from sigjax.metrics.ratios import FSCORE

WIDE = "id,A,B\nx,1,0\ny,1,1\nz,0,1\n"
LONG = (
    "system\tid\tdoc\ttp\tpredicted\tgold\nA\tx\td1\t1\t2\t3\nA\ty\td1\t0\t0\t1\nB\ty\td1\t1\t1\t1\nB\tx\td1\t2\t2\t3\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", WIDE),
        ("t.tsv", WIDE.replace(",", "\t")),
        ("t.txt", WIDE),
        ("t", WIDE.replace(",", "\t")),
        ("t.csv", WIDE.replace("\n", "\r\n")),
        ("t.csv", "\ufeff" + WIDE),
        ("t.csv", WIDE.rstrip("\n")),
        ("t.csv", WIDE + "\n\n"),
        ("t.csv", WIDE.replace("1", "true").replace("0", "FALSE")),
        ("t.csv", WIDE.replace(",", " , ").replace("x ", "x").replace("y ", "y").replace("z ", "z")),
        ("t.csv", '"id","A","B"\n"x","1","0"\n"y","1.0","1e0"\n"z","0","1"\n'),
        ("t.tsv", '"id"\t"A"\t"B"\n"x"\t1\t0\n"y"\t1\t1\n"z"\t0\t1\n'),
        ("t.jsonl", '{"id": "x", "A": 1, "B": 0}\n{"B": 1, "A": true, "id": "y"}\n\n{"id": "z", "A": false, "B": "1"}'),
        ("t.csv", "system,id,value\nA,x,1\nA,y,1\nA,z,0\nB,z,1\nB,y,1\nB,x,0\n"),
        ("t.csv", "note,System,id,v\nf,A,x,1\nf,A,y,1\nf,A,z,0\nf,B,z,1\nf,B,y,1\nf,B,x,0\n"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_same_table_in_many_spellings(write, name, content, packed):
    data = gzip.compress(content.encode()) if packed else content
    options = {"id": "id", "ignore": ["note"]} if content.startswith("note") else {}
    for file in (name, f"{name}.gz"):
        evaluation = read(write(file, data), metric="accuracy", **options)
        assert values(evaluation) == {"A": [1, 1, 0], "B": [0, 1, 1]}
        assert evaluation.ids == ("x", "y", "z")
        assert evaluation.stats.dtype == np.int64


@pytest.mark.parametrize(
    ("header", "rows", "options", "systems", "ids"),
    [
        ("Sent_ID,A,B", "1,0,1 2,1,0 3,1,0", {}, ("A", "B"), ("1", "2", "3")),
        (",A,B", "7,0,1 8,1,0", {}, ("A", "B"), ("7", "8")),
        ("row,A,B", "a,0,1 b,1,0", {}, ("A", "B"), ("a", "b")),
        ("A,B", "1,0 0,1", {}, ("A", "B"), ("1", "2")),
        ("Unnamed: 0,A,B", "4,0,1 7,1,0", {}, ("A", "B"), ("4", "7")),
        ("index,A,B", "4,0,1 7,1,0", {}, ("A", "B"), ("4", "7")),
        ("model,A,B", "x,0,1 y,1,0", {"id": "model"}, ("A", "B"), ("x", "y")),
        ("row,A,B", "1,0,1 2,1,0 3,1,0", {"id": "row"}, ("A", "B"), ("1", "2", "3")),
        ("row,A,B", "1,0,1 2,1,0 3,1,0", {"ignore": ["row"]}, ("A", "B"), ("1", "2", "3")),
        ("row,A,B", "1,0,1 2,1,0 3,1,0", {"systems": ["row", "B"]}, ("row", "B"), ("1", "2", "3")),
        ("id,A,note,B", "p,0,text,1 q,1,text,0", {"systems": ["B", "A"]}, ("B", "A"), ("p", "q")),
        ("repo,id,A,B", "r,p,0,1 r,q,1,0", {"cluster": "repo"}, ("A", "B"), ("p", "q")),
    ],
)
def test_which_columns_are_ids_and_systems(write, header, rows, options, systems, ids):
    evaluation = read(write("t.csv", "\n".join([header, *rows.split()])), **options)
    assert (evaluation.systems, evaluation.ids) == (systems, ids)


@pytest.mark.parametrize("header", ["Model,q1,q2", "model,question,score", "systems,q1,q2"])
def test_a_row_a_system_is_refused(write, header):
    with pytest.raises(InputError, match="seems to hold the systems, one per row; expected one row per instance"):
        read(write("t.csv", f"{header}\nx,1,0\ny,2,1\n"))


def test_long_table_joins_by_id_and_takes_named_columns(write):
    expected = [[[1, 2, 3], [0, 0, 1]], [[2, 2, 3], [1, 1, 1]]]
    evaluation = read(write("t.tsv", LONG), metric="fscore", cluster="doc", strata="gold")
    assert evaluation.stats.tolist() == expected
    assert (evaluation.clusters, evaluation.strata) == (("d1", "d1"), ("3", "1"))
    renamed = write("r.tsv", LONG.replace("tp\tpredicted\tgold", "c\ts\tg"))
    counts = {"gold": "g", "tp": "c", "predicted": "s"}
    assert read(renamed, metric=FSCORE, counts=counts).stats.tolist() == expected
    chosen = read(renamed, metric="fscore", counts=counts, systems=["B", "A"])
    assert chosen.systems == ("B", "A")
    assert chosen.stats.tolist() == expected[::-1]


HOLES = "id,A,B\nx,1,\ny,1,1\nz,,1\n"


@pytest.mark.parametrize(
    "content",
    [
        HOLES,
        "system,id,value\nA,x,1\nA,y,1\nB,z,1\nB,y,1\n",
        "system,id,value\nA,x,1\nA,y,1\nA,z,\nB,z,1\nB,y,1\nB,x,\n",
    ],
)
def test_missing_results(write, content):
    path = write("t.csv", content)
    with pytest.raises(InputError, match=r"t.csv: systems have different instances: 'A' lacks 1 of 3 \(first: 'z'.*mi"):
        read(path)
    dropped = read(path, missing="drop")
    assert (values(dropped), dropped.ids) == ({"A": [1], "B": [1]}, ("y",))
    lacks = "'A' lacks 1 (1 that no other lacks), 'B' lacks 1 (1 that no other lacks)"
    assert [note.partition("; ")[0] for note in dropped.notes[1:]] == [
        f"warning: dropped 2 of 3 instances that some system lacks: {lacks}"
    ]
    filled = read(path, missing="zero")
    by_id = dict(zip(filled.ids, filled.stats[:, :, 0].T.tolist(), strict=True))
    assert by_id == {"x": [1, 0], "y": [1, 1], "z": [0, 1]}
    assert np.all(filled.stats[:, :, 1] == 1)


def test_a_missing_gold_size_is_copied(write):
    path = write("t.tsv", LONG.replace("B\tx\td1\t2\t2\t3\n", ""))
    evaluation = read(path, metric="fscore", missing="zero")
    assert evaluation.stats[1].tolist() == [[0, 0, 3], [1, 1, 1]]
    assert evaluation.notes[1:] == ("counted 1 missing result as 0: 'B' lacks 1 of 2 (first: 'x')",)
    third = path.read_text() + "C\tx\td1\t0\t0\t4\nC\ty\td1\t0\t0\t1\n"
    with pytest.raises(InputError, match="gold of instance 'x' is 3 for one system and 4 for another"):
        read(write("u.tsv", third), metric="fscore", missing="zero")


def test_npz_arrays(write, tmp_path):
    counts = np.array([[1, 2, 3], [0, 1, 1]])
    np.savez(tmp_path / "t.npz", B=counts, A=counts, ids=["x", "y"], clusters=[5, 5], other=[1, 2], seg=["p", "q"])
    evaluation = read(tmp_path / "t.npz", metric="fscore", ignore=["other"], strata="seg")
    assert (evaluation.systems, evaluation.ids) == (("B", "A"), ("x", "y"))
    assert (evaluation.clusters, evaluation.strata) == (("5", "5"), ("p", "q"))
    assert evaluation.stats[1].tolist() == counts.tolist()


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_a_saved_evaluation_comes_back(tmp_path, metric):
    numbers = np.repeat([[1], [0], [0]], len(METRICS[metric].inputs), axis=1)
    saved = Evaluation.from_arrays(
        {"B": numbers, "A": numbers[::-1]}, metric=metric, ids="xyz", clusters="ddd", strata=[1, 2, 2]
    )
    saved.save(tmp_path / "e.npz")
    (tmp_path / "e.npz.gz").write_bytes(gzip.compress((tmp_path / "e.npz").read_bytes()))
    for name in ("e.npz", "e.npz.gz"):
        loaded = read(tmp_path / name)
        assert loaded.metric is saved.metric
        assert loaded.stats.dtype == saved.stats.dtype
        np.testing.assert_array_equal(loaded.stats, saved.stats)
        for field in ("systems", "ids", "clusters", "strata", "notes"):
            assert getattr(loaded, field) == getattr(saved, field)
    assert read(tmp_path / "e.npz", systems=["A", "B"]).systems == ("A", "B")


NAMES = st.text(alphabet="abXY019 _-.,;\"'üß漢", min_size=1, max_size=8).map(str.strip).filter(bool)
TABLES = st.tuples(
    st.lists(NAMES, min_size=2, max_size=4, unique=True), st.lists(NAMES, min_size=1, max_size=5, unique=True)
).flatmap(
    lambda names: st.tuples(
        st.just(names[0]),
        st.just(names[1]),
        st.lists(
            st.lists(st.integers(-(2**53) + 1, 2**53 - 1), min_size=len(names[1]), max_size=len(names[1])),
            min_size=len(names[0]),
            max_size=len(names[0]),
        ),
    )
)


def encode(kind, systems, ids, numbers):
    """The bytes of a wide table."""
    rows = [dict(zip(systems, row, strict=True)) for row in zip(*numbers, strict=True)]
    if kind == "npz":
        return arrays(**dict(zip(systems, map(np.array, numbers), strict=True)), ids=np.array(ids))
    if kind == "jsonl":
        return "\n".join(json.dumps({"id": i} | row) for i, row in zip(ids, rows, strict=True)).encode()
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if kind == "tsv" else ",")
    writer.writerows([["id", *systems], *([i, *row.values()] for i, row in zip(ids, rows, strict=True))])
    return text.getvalue().encode()


@pytest.mark.parametrize("kind", ["npz", "jsonl", "tsv", "csv"])
@given(table=TABLES, packed=st.booleans(), named=st.booleans())
def test_round_trip(tmp_path_factory, kind, table, packed, named):
    systems, ids, numbers = table
    data = encode(kind, systems, ids, numbers)
    path = tmp_path_factory.getbasetemp() / (f"t.{kind}" if named else "unnamed")
    path.write_bytes(gzip.compress(data) if packed else data)
    evaluation = read(path, systems=None if kind == "npz" else systems)  # such numbers could be anything
    assert (evaluation.systems, evaluation.ids) == (tuple(systems), tuple(ids))
    np.testing.assert_array_equal(evaluation.stats[:, :, 0], np.array(numbers))
    assert evaluation.stats.dtype == np.int64
