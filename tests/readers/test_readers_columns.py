"""Which columns of a table are ids, systems or neither: never silently a system, never silently no system."""

import io

import numpy as np
import pytest

from sigjax import InputError, read

ROWS = 12
RNG = np.random.default_rng(16)
SCORES = {"A": [1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1], "B": [0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0]}
SHUFFLED = [7, 3, 11, 0, 5, 9, 1, 10, 2, 8, 6, 4]
LENGTHS = [12, 31, 8, 19, 22, 12, 40, 8, 27, 15, 33, 19]
TEXTS = [f"text {i}" for i in range(ROWS)]
ASKED = (
    "column {!r} looks like ids or a property of the instances, not like a system: it .*; "
    r"give ignore=.{!r}.( systems=.*)? \(2 systems: 'A', 'B'; \d+ rows joined by row number\)"
)


def csv(columns):
    return "\n".join(",".join(map(str, row)) for row in [list(columns), *zip(*columns.values(), strict=True)]) + "\n"


def frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def outcomes(write, columns, **options):
    """What a file and a frame of the same columns are read as, which must be the same."""
    (one, two) = (read(source, **options) for source in (write("t.csv", csv(columns)), frame(columns)))
    assert (one.systems, one.ids, one.notes) == (two.systems, two.ids, two.notes)
    np.testing.assert_array_equal(one.stats, two.stats)
    return one


@pytest.mark.parametrize(
    ("others", "ids"),
    [
        *(({name: SHUFFLED}, name) for name in ("id", "uid", "docid", "sid", "Sent_ID", "exampleId", "row", "line")),
        *(({name: SHUFFLED}, name) for name in ("example", "problem", "task", "num", "index", "Unnamed: 0", "topic")),
        ({"docid": [i // 3 for i in range(ROWS)]}, None),
        ({"length": LENGTHS}, None),
        ({"year": [2020] * ROWS}, None),
        ({"source": TEXTS, "gold": ["yes", "no"] * 6}, "source"),
        ({"length": LENGTHS, "source": TEXTS, "item": [f"i{i}" for i in SHUFFLED]}, "item"),
        ({"index": range(ROWS), "doc_id": [i // 3 for i in range(ROWS)], "qid": SHUFFLED}, "qid"),
        ({"text_id": ["x"] * ROWS, "no": SHUFFLED}, "no"),
    ],
)
def test_ids_and_properties_are_known_wherever_they_stand(write, others, ids):
    for columns in ({**SCORES, **others}, {"A": SCORES["A"], **others, "B": SCORES["B"]}):
        evaluation = outcomes(write, columns)
        assert evaluation.systems == ("A", "B")
        np.testing.assert_array_equal(evaluation.stats[:, :, 0], [*SCORES.values()])
        assert evaluation.ids == tuple(map(str, range(1, ROWS + 1) if ids is None else others[ids]))
        (note,) = evaluation.notes
        assert "systems 'A', 'B'" in note
        assert ("are the numbers of the rows" if ids is None else f"instance ids from column {ids!r}") in note
        assert all(f"{name!r}" in note.partition("not used")[2] for name in others if name != ids)
        assert note.endswith("(options: id_column, systems, ignore)")


@pytest.mark.parametrize(
    "numbers",
    [
        range(ROWS),
        range(5, ROWS + 5),
        [n + 500 for n in SHUFFLED],
        LENGTHS,
        [1, 2, 3, 2] * 3,
        [4] * ROWS,
        [2020] * ROWS,
    ],
)
def test_numbers_that_may_be_anything_are_asked_about(write, numbers):
    columns = {"A": SCORES["A"], "x": [*numbers], "B": SCORES["B"]}
    for source in (write("t.csv", csv(columns)), frame(columns)):
        with pytest.raises(InputError, match=ASKED.format("x", "x")) as caught:
            read(source)
        assert "\n" not in str(caught.value)
    assert outcomes(write, columns, ignore=["x"]).systems == ("A", "B")
    assert outcomes(write, columns, only=["A", "x", "B"]).systems == ("A", "x", "B")
    if len({*numbers}) == ROWS:
        assert outcomes(write, columns, id_column="x").ids == tuple(map(str, numbers))
    two = {**columns, "y": LENGTHS}  # two of them do not vouch for each other
    with pytest.raises(InputError, match="column '[xy]' looks like"):
        read(frame(two))


@pytest.mark.parametrize(
    "columns",
    [
        {"A": RNG.permutation(3000)[:ROWS], "B": RNG.permutation(3000)[:ROWS]},  # milliseconds
        {"A": np.sort(RNG.permutation(3000)[:ROWS]), "B": RNG.permutation(3000)[:ROWS]},
        {"A": [0, 100, 100] * 4, "B": 100 * RNG.random(ROWS), "C": [0] * ROWS},
        {"A": [1, 2, 5, 4] * 3, "B": [1, 2.5, 5, 4] * 3},  # ratings
        {"word": [*SCORES["A"]], "topic": [*SCORES["B"]], "sentence": [*SCORES["A"]]},
        {"id": SHUFFLED, "baseline": RNG.permutation(500)[:ROWS], "model": RNG.permutation(500)[:ROWS]},
    ],
)
def test_whole_numbers_that_are_scores_stay_systems(write, columns):
    columns = {name: np.asarray(column).tolist() for name, column in columns.items()}
    if "word" in columns:
        columns = {"name": TEXTS, **columns}
    evaluation = outcomes(write, columns)
    systems = [name for name in columns if name not in ("id", "name")]
    assert evaluation.systems == tuple(systems)
    np.testing.assert_array_equal(evaluation.stats[:, :, 0], [columns[name] for name in systems])


@pytest.mark.parametrize(
    ("columns", "against"),
    [
        (
            {
                "A": 100 + RNG.permutation(200)[:ROWS],
                "B": 90 + RNG.permutation(99)[:ROWS],
                "C": 900 + 70 * np.array(SHUFFLED),
            },
            "no number of 'C' .* is in the range of another column",
        ),
        ({"A": [0.5, 1] * 6, "B": [2, 4.5, 8] * 4}, "no number of 'A' .0.5 to 1. is in the range of another column"),
        (
            {"A": [2, 1, 4, 3] * 3, "B": [1, 2, 3, 4] * 3, "C": [3, 4, 1, 2] * 3},
            "'C' and 'A' have the same sum in all rows",
        ),
        ({"A": [0] * ROWS, "B": RNG.random(ROWS), "C": [1] * ROWS}, "'A' is 0 in all rows"),
    ],
)
def test_columns_that_share_no_scale_are_asked_about(write, columns, against):
    """As they may be metrics, ranks or constants; `systems` is never doubted."""
    columns = {name: np.asarray(column).tolist() for name, column in columns.items()}
    for source in (write("t.csv", csv(columns)), frame(columns)):
        with pytest.raises(InputError, match=f"which columns are systems, .*against it: {against}"):
            read(source)
    assert outcomes(write, columns, systems=[*columns]).systems == tuple(columns)


def test_ids_of_a_long_table_are_what_all_systems_have_alike(write):
    rows = [f"{system},{100 * k + (37 * i) % 50},{i + 5}" for k, system in enumerate("AB") for i in range(ROWS)]
    evaluation = read(write("t.csv", "\n".join(["system,ms,foo", *rows])))
    assert evaluation.ids == tuple(map(str, range(5, ROWS + 5)))
    assert evaluation.stats[:, :, 0].tolist() == [[100 * k + (37 * i) % 50 for i in range(ROWS)] for k in (0, 1)]


WORDS = ["NaN", "nan", "NA", "N/A", "None", "null", "-", "?", "", " ", "#N/A"]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "spaces", "frame", "parquet", "long"])
def test_what_stands_for_a_missing_result_is_missing_in_any_table(write, kind, word):
    if kind == "spaces" and not word.strip():
        pytest.skip("nothing is no field between blanks")
    text = {
        "csv": f"id,A,B\nx,1,0\ny,{word},1\nz,0,1\n",
        "long": f"model,id,v\nA,x,1\nA,y,{word}\nA,z,0\nB,x,0\nB,y,1\nB,z,1\n",
    }
    text |= {"tsv": text["csv"].replace(",", "\t"), "spaces": text["csv"].replace(",", " ")}
    cell = f'"{word}"' if word not in ("NaN", "null") else word
    text["jsonl"] = (
        f'{{"id": "x", "A": 1, "B": 0}}\n{{"id": "y", "A": {cell}, "B": 1}}\n{{"id": "z", "A": 0, "B": 1}}\n'
    )
    text["json"] = "[" + text["jsonl"].strip().replace("\n", ",\n") + "]"
    numbers = {"nan": float("nan"), "none": None, "null": None}.get(word.lower(), word)
    columns = {"id": ["x", "y", "z"], "A": [1, numbers, 0] if numbers != word else ["1", word, "0"], "B": [0, 1, 1]}
    if kind in text:
        source = write({"long": "t.csv", "spaces": "t.txt"}.get(kind, f"t.{kind}"), text[kind])
    elif kind == "frame":
        source = frame(columns)
    else:
        buffer = io.BytesIO()
        pytest.importorskip("pyarrow.parquet").write_table(pytest.importorskip("pyarrow").table(columns), buffer)
        source = write("t.parquet", buffer.getvalue())
    with pytest.raises(
        InputError, match="systems have different instances: 'A' lacks 1 of 3 .first: 'y'.*missing=.drop."
    ):
        read(source)
    dropped, zero = (read(source, missing=missing) for missing in ("drop", "zero"))
    assert (dropped.ids, dropped.stats[:, :, 0].tolist()) == (("x", "z"), [[1, 0], [0, 1]])
    assert zero.stats[:, :, 0].tolist() == [[1, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize("kind", ["frame", "parquet", "pyarrow"])
def test_an_index_of_pandas_is_no_system(tmp_path, kind):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")

    def made(index):
        indexed = frame(SCORES).set_index(index)
        if kind == "parquet":
            indexed.to_parquet(tmp_path / "t.parquet", engine="pyarrow")
            return read(tmp_path / "t.parquet")
        return read(indexed if kind == "frame" else pyarrow.Table.from_pandas(indexed))

    for name in ("foo", None, "id"):
        for labels in (SHUFFLED, TEXTS):
            evaluation = made(pandas.Index(labels, name=name))
            assert (evaluation.systems, evaluation.ids) == (("A", "B"), tuple(map(str, labels)))
    repeated = made(pandas.Index([*range(6)] * 2))  # of frames that were put together
    assert (repeated.systems, repeated.ids) == (("A", "B"), tuple(map(str, range(1, ROWS + 1))))
    assert made(pandas.RangeIndex(ROWS)).ids == repeated.ids


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2]])
def test_ids_are_the_words_that_most_rows_of_two_files_share(write, order):
    """One of three visits is common to both files, and all words are."""
    head = ("visit", "words", "score")
    rows = (
        [("u1", "x", "1"), ("u2", "y", "0"), ("u3", "z", "0")],
        [("u3", "z", "1"), ("u4", "y", "1"), ("u5", "x", "0")],
    )
    files = [
        write(f"{k}.csv", "".join(",".join(row[i] for i in order) + "\n" for row in [head, *own]))
        for k, own in enumerate(rows)
    ]
    evaluation = read(*files)
    assert evaluation.ids == ("x", "y", "z")
    assert evaluation.stats[:, :, 0].tolist() == [[1, 0, 0], [0, 1, 1]]


def test_the_same_word_in_all_rows_is_no_id(write):
    """Files whose first column has one word are joined by row number."""
    rows = [("en", "abcba"[i], i % 2) for i in range(5)]
    for head, own in (("lang,word,score", rows), ("lang,score", [row[::2] for row in rows])):
        lines = [",".join(map(str, row)) + "\n" for row in own]
        found = read(
            write("a.csv", "".join([f"{head}\n", *lines])), write("b.csv", "".join([f"{head}\n", *lines[1:], lines[0]]))
        )
        assert found.ids is None
        assert found.stats[:, :, 0].tolist() == [[0, 1, 0, 1, 0], [1, 0, 1, 0, 0]]
        assert "warning: joined by row number" in found.notes[0]
