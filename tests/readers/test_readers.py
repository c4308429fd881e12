"""Reading tables, numbers by line or id, and runs: the forms that are taken, round trips, and what is refused."""

import csv
import gzip
import io
import json
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import arrays, values

from sigjax import Evaluation, InputError, compare, read
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
        ("t.csv", WIDE.replace("\n", "\r")),
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
    options = {"id_column": "id", "ignore": ["note"]} if content.startswith("note") else {}
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
        ("model,A,B", "x,0,1 y,1,0", {"id_column": "model"}, ("A", "B"), ("x", "y")),
        ("row,A,B", "1,0,1 2,1,0 3,1,0", {"id_column": "row"}, ("A", "B"), ("1", "2", "3")),
        ("row,A,B", "1,0,1 2,1,0 3,1,0", {"ignore": ["row"]}, ("A", "B"), ("1", "2", "3")),
        ("row,A,B", "1,0,1 2,1,0 3,1,0", {"only": ["row", "B"]}, ("row", "B"), ("1", "2", "3")),
        ("id,A,note,B", "p,0,text,1 q,1,text,0", {"only": ["B", "A"]}, ("B", "A"), ("p", "q")),
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
    chosen = read(renamed, metric="fscore", counts=counts, only=["B", "A"])
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


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("id,A,B\nx,1,2\ny,3,2\nz,,4\n", {"lower_is_better": True}),
        ("id,A,B\nx,-1.5,-2\ny,0,-2.5\nz,,-4\n", {"metric": "mean"}),
        ("system,id,wer\nA,x,1\nA,y,2\nB,x,2\nB,y,3\nB,z,1\n", {}),
        (
            "id,system,numerator,denominator\nx,A,1,5\ny,A,2,5\nx,B,2,5\ny,B,0,5\nz,B,1,5\n",
            {"metric": "ratio", "lower_is_better": True},
        ),
    ],
)
def test_missing_results_are_not_0_where_0_is_the_best_score(write, content, options):
    path = write("t.csv", content)
    with pytest.raises(InputError, match=r"missing=.zero. can give the best score.* 'A' lacks 1 of 3.*the worst score"):
        read(path, missing="zero", **options)
    with pytest.raises(InputError, match=r"use missing=.drop. if they were not run; if a system failed on them, write"):
        read(path, **options)
    assert read(path, missing="drop", **options).num_instances == 2
    if options == {"lower_is_better": True}:
        assert read(path, missing="zero", higher_is_better=True).stats[0, :, 0].tolist() == [1, 3, 0]


def test_the_note_of_what_is_dropped_counts_by_sets(write):
    for seed in range(20):
        there = np.random.default_rng(seed).random((4, 30)) < 0.6
        lacking = {name: set(np.flatnonzero(~own).tolist()) for name, own in zip("ABCD", there, strict=True)}
        left = set(range(30)).difference(*lacking.values())
        rows = [",".join([f"i{k}", *("1" if own[k] else "" for own in there)]) for k in range(30)]
        dropped = read(write("t.csv", "\n".join(["id,A,B,C,D", *rows])), missing="drop")
        assert dropped.ids == tuple(f"i{k}" for k in sorted(left))
        (note,) = (note for note in dropped.notes if note.startswith("warning: dropped"))
        assert note.startswith(f"warning: dropped {30 - len(left)} of 30 instances ")
        said = re.findall(r"'(\w)' lacks (\d+) \((\d+) that no other lacks\)", note)
        alone = {
            name: own.difference(*(other for rival, other in lacking.items() if rival != name))
            for name, own in lacking.items()
        }
        assert len(said) == 3  # those that lack most alone
        assert (
            said
            == sorted(
                ((name, str(len(own)), str(len(alone[name]))) for name, own in lacking.items()),
                key=lambda each: (-int(each[2]), -int(each[1])),
            )[:3]
        )


@pytest.mark.parametrize("counts", [(3, 2), (2, 3), (2, 2, 3)])
def test_files_without_ids_have_as_many_lines(write, counts):
    files = [write(f"{k}.scores", "1\n" * count) for k, count in enumerate(counts)]
    with pytest.raises(InputError, match="without ids they are joined by position, so expected as many"):
        read(*files, missing="drop")


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
    assert read(tmp_path / "e.npz", only=["A", "B"]).systems == ("A", "B")


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
    evaluation = read(path, only=None if kind == "npz" else systems)  # such numbers could be anything
    assert (evaluation.systems, evaluation.ids) == (tuple(systems), tuple(ids))
    np.testing.assert_array_equal(evaluation.stats[:, :, 0], np.array(numbers))
    assert evaluation.stats.dtype == np.int64


@pytest.fixture
def by_system(tmp_path):
    def write_files(**contents):
        for name, content in contents.items():
            (tmp_path / name).write_text(content)
        return [tmp_path / name for name in contents]

    return write_files


def scores(evaluation):
    return evaluation.metric.score(evaluation.stats.sum(axis=1).astype(float)).tolist()


def test_one_number_a_line_is_a_mean(by_system):
    evaluation = read(*by_system(A="1\n0.5\n-2e-1\n", B="0\n0\n1\n"))
    assert (evaluation.systems, evaluation.ids, evaluation.metric.name) == (("A", "B"), None, "mean")
    assert scores(evaluation) == [1.3 / 3, 1 / 3]
    assert read(*by_system(A="1\n2\n9\n", B="0\n0\n1\n"), metric="median").stats[:, :, 0].tolist() == [
        [1, 2, 9],
        [0, 0, 1],
    ]


def test_two_and_four_numbers_are_ratios_of_sums(by_system):
    evaluation = read(*by_system(A="1 2\n3 5\n", B="0\t2\n4\t6\n"))
    assert (evaluation.metric.name, scores(evaluation)) == ("ratio", [4 / 7, 4 / 8])
    evaluation = read(*by_system(A="1 2 1 3\n3 5 3 4\n", B="0 2 0 1\n4 6 4 9\n"))
    recall, precision = Fraction(4, 7), Fraction(4, 7)
    assert evaluation.metric.name == "fscore-ratios"
    recall_b, precision_b = Fraction(4, 8), Fraction(4, 10)
    expected = [2 * r * p / (r + p) for r, p in ((recall, precision), (recall_b, precision_b))]
    assert scores(evaluation) == pytest.approx([float(each) for each in expected], rel=1e-15)


def test_numbers_of_two_systems_on_a_line_are_those_of_a_and_then_of_b(write):
    """F1 by the correct and the incorrect ones of each."""
    numbers = np.random.default_rng(0).integers(0, 9, (12, 4))
    lines = [", ".join(map(str, row)) for row in numbers.tolist()]
    evaluation = read(write("t", "\n".join(lines)), reader="paired-perm")
    (tp, wrong), (tp_b, wrong_b) = numbers.sum(axis=0).reshape(2, 2).tolist()
    assert scores(evaluation) == pytest.approx([2 * tp / (2 * tp + wrong), 2 * tp_b / (2 * tp_b + wrong_b)], rel=1e-15)


BAD = [
    ({"A": "1\nx\n", "B": "1\n2\n"}, {}, r"A, line 2: expected a number, got 'x'"),
    ({"A": "1\n2\n", "B": "1\nnan\n"}, {}, r"B, line 2: expected a finite number, got 'nan'"),
    ({"A": "1\n2\n", "B": "1\n1e400\n"}, {}, r"B, line 2: expected a finite number, got '1e400'"),
    ({"A": "1\n2\n", "B": "1\n\n"}, {}, r"B, line 2: expected 1 number\(s\) as on line 1, got 0"),
    ({"A": "1\n2\n", "B": "1\n"}, {}, r"B: has 1 instances, but .*A has 2; without ids"),
    ({"A": "1\n2\n", "B": "1 2\n2 3\n"}, {}, r"B: has 2 numbers per line, but .*A has 1"),
    ({"A": "1 2 3\n", "B": "1 2 3\n"}, {}, r"metric 'mean' takes 1 numbers per line and system, got 3"),
    ({"A": "1 -2\n", "B": "1 2\n"}, {}, r"system 'A': denominator must not be below 0, got -2 at instance 1"),
    ({"A": "1,2,3\n"}, {"reader": "paired-perm"}, r"A, line 1: expected 2 numbers .* or 4"),
    ({"A": "1,2\n3\n"}, {"reader": "paired-perm"}, r"A, line 2: expected 2 number"),
    ({"A": "1,2\n"}, {"reader": "paired-perm", "metric": "fscore"}, r"'fscore' takes 3 numbers per line and"),
]


@pytest.mark.parametrize(("files", "options", "message"), BAD)
def test_bad_lines_get_one_clear_error(by_system, files, options, message):
    with pytest.raises(InputError, match=message) as caught:
        read(*by_system(**files), **options)
    assert "\n" not in str(caught.value)


def test_runs_of_an_instance_are_one_unit():
    import sigjax

    runs = {"ids": list("xxyyzz"), "runs": [0, 1] * 3}
    values = {"A": [1, 0, 1, 1, 0, 0], "B": [0, 0, 1, 0, 0, 0]}
    evaluation = sigjax.Evaluation.from_arrays(values, **runs)
    by_cluster = sigjax.Evaluation.from_arrays(values, clusters=runs["ids"])
    (one,), (other,) = sigjax.compare(evaluation), sigjax.compare(by_cluster)
    assert (one.p_value, one.delta, one.standard_error) == (other.p_value, other.delta, other.standard_error)
    with pytest.raises(InputError, match="run '0' of instance 'x' occurs more than once"):
        sigjax.Evaluation.from_arrays(values, ids=runs["ids"], runs=[0, 0, 0, 1, 0, 1])
    with pytest.raises(InputError, match="without ids"):
        sigjax.Evaluation.from_arrays(values, runs=runs["runs"])
    np.testing.assert_array_equal(evaluation.stats, by_cluster.stats)


NUMBERS = {"A": {"x": 0.5, "y": 1, "z": 0}, "B": {"z": 0.25, "x": 1, "y": 0}}


def test_numbers_by_id_are_joined():
    evaluation = Evaluation.from_arrays(
        NUMBERS, clusters={"x": 1, "z": 1, "y": 2}, strata={"x": "s", "y": "s", "z": "s", "unused": "t"}
    )
    assert (evaluation.systems, evaluation.ids) == (("A", "B"), ("x", "y", "z"))
    assert evaluation.stats[:, :, 0].tolist() == [[0.5, 1, 0], [1, 0, 0.25]]
    assert (evaluation.clusters, evaluation.strata) == (("1", "2", "1"), ("s", "s", "s"))
    positions = Evaluation.from_arrays({"A": [0.5, 1, 0], "B": [1, 0, 0.25]}, ids="xyz")
    assert Evaluation.from_arrays(NUMBERS).stats.tolist() == positions.stats.tolist()


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"A": {"x": 1}, "B": [1]}, {}, "system 'B': expected numbers by id"),
        ({"A": {"x": 1}}, {}, "at least two systems, got 1"),
        ({"A": {}, "B": {}}, {}, "no instances"),
        ({"A": {"x": 1, "y": float("nan")}, "B": {"x": 1}}, {"missing": "drop"}, "system 'A': nan at .*id 'y'"),
        ({"A": {"x": 1, "y": None}, "B": {"x": 1}}, {}, "expected numbers, got NoneType .id 'y'"),
        ({"A": {"x": "1"}, "B": {"x": 1}}, {}, "system 'A': expected numbers, got text .id 'x'"),
        ({"A": {"x": 2**60}, "B": {"x": 1}}, {}, r"within 2\*\*53"),
        ({"A": {"x": [1, 2], "y": [1]}, "B": {"x": 1}}, {}, "system 'A': rows have different lengths"),
        ({"A": {"x": [1, 2]}, "B": {"x": 1}}, {}, "systems have different numbers of numbers"),
        ({"A": {"x": 1, 1: 1}, "B": {"1": 1}}, {"missing": "zero"}, "instance id '1' occurs more than once"),
        (NUMBERS, {"ids": "xyz"}, "ids and runs are for arrays"),
        (NUMBERS, {"clusters": "aab"}, "clusters: expected id -> label"),
        (NUMBERS, {"strata": {"x": 1, "y": 2}}, "strata: instance 'z' has no label"),
        *(
            (NUMBERS, {"clusters": {"x": 1, "y": none, "z": 2}}, "clusters: instance 'y' has no label")
            for none in (None, "", float("nan"), np.float64("nan"))
        ),
        (NUMBERS, {"missing": "keep"}, "missing must be one of error, drop, zero"),
        ({"A": [1], "B": [1]}, {"missing": "drop"}, "missing is for numbers by id"),
    ],
)
def test_numbers_by_id_that_cannot_be_used(systems, options, message):
    with pytest.raises(InputError, match=message):
        Evaluation.from_arrays(systems, **options)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8", "bool", "float8_e4m3fn"])
def test_arrays_of_jax(dtype):
    import jax.numpy as jnp

    a, b = jnp.array([1, 0, 1, 1]).astype(dtype), jnp.array([0, 0, 1, 1]).astype(dtype)
    evaluation = Evaluation.from_arrays({"A": a, "B": b}, metric="accuracy")
    assert evaluation.stats[:, :, 0].tolist() == [[1, 0, 1, 1], [0, 0, 1, 1]]
    by_id = Evaluation.from_arrays({"A": dict(zip("wxyz", a, strict=True)), "B": dict(zip("wxyz", b, strict=True))})
    assert by_id.stats[:, :, 0].tolist() == [[1, 0, 1, 1], [0, 0, 1, 1]]


LONG_RUNS = "system,id,epoch,value\n" + "".join(
    f"{system},{id},{epoch},{(3 * i + j * j + k) % 7}\n"
    for k, system in enumerate("AB")
    for j, epoch in enumerate("12")
    for i, id in enumerate("wxyz")
)
WIDE_RUNS = "epoch,id,A,B\n" + "".join(
    f"{epoch},{id},{(3 * i + j * j) % 7},{(3 * i + j * j + 1) % 7}\n"
    for j, epoch in enumerate("12")
    for i, id in enumerate("wxyz")
)


@pytest.mark.parametrize("content", [LONG_RUNS, WIDE_RUNS])
def test_runs_of_an_instance_are_kept_together(tmp_path, write, content):
    evaluation = read(write("t.csv", content), runs="epoch", id_column="id")
    assert (evaluation.ids, evaluation.runs) == (tuple("wxyzwxyz"), tuple("11112222"))
    assert evaluation.stats[0, :, 0].tolist() == [0, 3, 6, 2, 1, 4, 0, 3]
    report = compare(evaluation)
    assert (report.num_instances, report.num_units) == (4, 4)
    evaluation.save(tmp_path / "e.npz")
    again = read(tmp_path / "e.npz")
    assert (again.ids, again.runs) == (evaluation.ids, evaluation.runs)
    np.testing.assert_array_equal(again.stats, evaluation.stats)
    assert compare(again).comparisons == report.comparisons


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (LONG_RUNS, {}, "line 6: instance 'w' of system 'A' is also on line 2"),
        (LONG_RUNS, {"runs": "trial"}, "runs: no column 'trial'"),
        (
            LONG_RUNS + "A,w,2,1\n",
            {"runs": "epoch"},
            "line 18: instance 'w' \\(run '2'\\) of system 'A' is also on line 6",
        ),
        (LONG_RUNS + "A,v,2,1\n", {"runs": "epoch"}, r"'B' lacks 1 of 9 \(first: 'v' \(run '2'\)\)"),
        (LONG_RUNS + "A,v,,1\n", {"runs": "epoch"}, "line 18, column 'epoch': expected a name, got an empty cell"),
        (
            WIDE_RUNS + "2,w,1,1\n",
            {"runs": "epoch", "id_column": "id"},
            "line 10: instance 'w' \\(run '2'\\) of system 'A' is also on line 6",
        ),
        ("epoch,A,B\n1,1,1\n2,1,1\n", {"runs": "epoch"}, "runs: which runs are of the same instance"),
    ],
)
def test_runs_that_cannot_be_used(write, content, options, message):
    with pytest.raises(InputError, match=message):
        read(write("t.csv", content), **options)


def test_counts_by_id_and_missing_results():
    counts = {"A": {1: (1, 2, 3), 2: (0, 1, 1)}, "B": {2: np.array([1, 1, 1])}}
    with pytest.raises(InputError, match="'B' lacks 1 of 2 .first: '1'"):
        Evaluation.from_arrays(counts, metric="fscore")
    assert Evaluation.from_arrays(counts, metric="fscore", missing="drop").stats.tolist() == [[[0, 1, 1]], [[1, 1, 1]]]
    filled = Evaluation.from_arrays(counts, metric="fscore", missing="zero")
    assert filled.stats[1].tolist() == [[0, 0, 3], [1, 1, 1]]
    assert filled.notes == ("counted 1 missing result as 0: 'B' lacks 1 of 2 (first: '1')",)
    assert Evaluation.from_arrays({"A": {"x": 1}, "B": {}}, missing="zero").stats[:, 0, 0].tolist() == [1, 0]


def test_instances_that_only_other_systems_have_are_left_out(write):
    content = "system,id,value\nA,x,1\nB,x,0\nC,w,1\nA,y,1\nB,y,0\nC,y,0\n"
    labels = write("labels.txt", "1\n2\n3\n")
    evaluation = read(write("t.csv", content), only=["A", "B"], cluster=str(labels))
    assert (evaluation.ids, evaluation.clusters) == (("x", "y"), ("1", "3"))


def test_systems_without_a_common_instance_are_told_from_those_that_lack_some(write):
    """By sets of ids: whether any instance is of two systems."""

    def files(*of_systems):
        return [
            write(f"{k}.csv", "id,score\n" + "".join(f"{id},1\n" for id in own)) for k, own in enumerate(of_systems)
        ]

    for apart in (["abc", "xyz"], ["ab", "cde", "xyz"]):
        with pytest.raises(InputError, match="different instances: .*; no two share any: name the column they share"):
            read(*files(*apart))
    for other in (["abc", "cyz"], ["abc", "xyz", "az"]):
        with pytest.raises(InputError, match=r"different instances: .*; use missing=\"drop\""):
            read(*files(*other))
