"""Numbers that a double would change in silence are refused by every reader, with their place."""

from decimal import Decimal
from fractions import Fraction

import logs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import arrays

from sigjax import Evaluation, InputError, read
from sigjax.readers.table import parse_number, parse_numbers

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
    "mt-metrics-eval": ({"t.seg.score": "A 1\nA 2\nB 1\nB {}\n"}, "t.seg.score, line 4, column 'SCORE': "),
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
    assert Evaluation.from_arrays({"A": [1e300, 0.5], "B": [1, 0]}).stats[0, 0, 0] == 1e300


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
