"""Numbers given by id, and arrays of other libraries than NumPy."""

import pytest

from sigjax import Evaluation, InputError

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
        (
            {"A": {"x": 1, "y": float("nan")}, "B": {"x": 1}},
            {"missing": "drop"},
            "system 'A', instance 'y': expec",
        ),
        ({"A": {"x": 1, "y": None}, "B": {"x": 1}}, {}, "instance 'y': expected a finite number, got 'None'"),
        ({"A": {"x": "1"}, "B": {"x": 1}}, {}, "system 'A', instance 'x': expected a finite number, got '1'"),
        ({"A": {"x": 2**60}, "B": {"x": 1}}, {}, r"within 2\*\*53"),
        ({"A": {"x": [1, 2], "y": [1]}, "B": {"x": 1}}, {}, "system 'A': instances have different numbers"),
        ({"A": {"x": [1, 2]}, "B": {"x": 1}}, {}, "systems have different numbers of numbers"),
        ({"A": {"x": 1, 1: 1}, "B": {"1": 1}}, {"missing": "zero"}, "instance id '1' occurs more than once"),
        (NUMBERS, {"ids": "xyz"}, "ids and runs are for arrays"),
        (NUMBERS, {"clusters": "aab"}, "clusters: expected id -> label"),
        (NUMBERS, {"strata": {"x": 1, "y": 2}}, "strata: instance 'z' has no label"),
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
