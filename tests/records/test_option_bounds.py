"""Numbers outside the bounds of an option are refused: every option of every function, in Python and by its command."""

import math
from types import UnionType
from typing import Union, get_args, get_origin

import numpy as np
import pytest

import sigjax
from sigjax import Evaluation, InputError
from sigjax.cli import _run
from sigjax.cli.options import HIDDEN
from sigjax.comparison.options import BootstrapOptions, CompareOptions, PermutationOptions
from sigjax.records.options import check, options_of, types_of
from sigjax.studies import STUDIES

RECORDS = {
    "compare": CompareOptions,
    "permutation_test": PermutationOptions,
    "bootstrap_test": BootstrapOptions,
    "planned_power": STUDIES["power"].load("PlannedPowerOptions"),
    **{name: study.load(study.options) for name, study in STUDIES.items()},
}
REQUIRED = {"margin": 0.1}


def members(annotation):
    """The types in a type: of a union, and of what a sequence holds."""
    inside = get_args(annotation)
    return [annotation] if not inside else [each for argument in inside for each in members(argument)]


def kinds(annotation):
    """(whether a list is taken, the type of its numbers or of a number)."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    return [(part not in (int, float), kind) for part in parts for kind in (int, float) if kind in members(part)]


def outside(about, kind):
    """Numbers just outside the bounds, NaN, infinities, and a truth value."""
    bounds = about.bounds(kind)
    if kind is int:
        return [bounds["least"] - 1, bounds["most"] + 1, 2.5, True]
    ends = [bounds[name] for name in ("above", "below") if name in bounds]
    ends += [np.nextafter(bounds[name], way) for name, way in (("least", -1), ("most", 2)) if name in bounds]
    return [*map(float, ends), math.nan, math.inf, -math.inf, True]


def inside(about, kind):
    """Numbers just within the bounds, but for sizes that are huge."""
    bounds = about.bounds(kind)
    ends = [bounds[name] for name in ("least", "most") if name in bounds]
    ends += [float(np.nextafter(bounds[name], way)) for name, way in (("above", 2), ("below", -1)) if name in bounds]
    return ends or [0.0, -1e300, 1e300, 3]


NUMBERS = [
    (where, name, several, kind)
    for where, record in RECORDS.items()
    for name in options_of(record)
    for several, kind in kinds(types_of(record)[name])
]


def made(record, **given):
    needed = {name: value for name, value in REQUIRED.items() if name in options_of(record)}
    return record(**needed | given)


@pytest.mark.parametrize(("where", "name", "several", "kind"), NUMBERS, ids=lambda one: str(one))
def test_bounds_are_those_of_the_declaration(where, name, several, kind):
    record, about = RECORDS[where], options_of(RECORDS[where])[name].metadata["option"]
    for value in inside(about, kind):
        check(made(record, **{name: [value] if several else value}))
    for value in outside(about, kind):
        with pytest.raises(InputError, match=f"{name} must be .*number.*, got "):
            check(made(record, **{name: [value] if several else value}))


SCORES = {"A": [1, 1, 0, 1, 0, 1], "B": [1, 0, 0, 1, 0, 0]}
LABELS = {"A": list("xyxyxx"), "B": list("xyyyxx")}
BATTLES = {"model_a": list("AABBAB"), "model_b": list("BBAABA"), "winner": ["model_a", "model_b", "tie"] * 2}
CALLS = {name: study for name, study in STUDIES.items() if study.takes in ("evaluations", "systems", "samples")}
CALLS["compare"] = None
DOORS = [
    (where, name, several, kind) for where, name, several, kind in NUMBERS if where in CALLS and name not in HIDDEN
]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = zip(*SCORES.values(), strict=True)
    (tmp_path / "t.csv").write_text("A,B\n" + "".join(f"{a},{b}\n" for a, b in rows))
    return "t.csv"


@pytest.mark.parametrize(("where", "name", "several", "kind"), DOORS, ids=lambda one: str(one))
def test_the_message_is_one_in_python_and_on_the_command_line(where, name, several, kind, table, capsys):
    record = RECORDS[where]
    about = options_of(record)[name].metadata["option"]
    function = sigjax.compare if where == "compare" else CALLS[where].load(CALLS[where].functions[0])
    values = [value for value in outside(about, kind) if type(value) is kind]
    needed = {name: value for name, value in REQUIRED.items() if name in options_of(record)}
    prefix = ["research"] if where != "compare" and CALLS[where].research else []
    for value in values:
        given = needed | {name: [value] if several else value}
        with pytest.raises(InputError) as refused:
            function(Evaluation.from_arrays(SCORES, metric="accuracy"), **given)
        flags = [f"--{option}={part[0] if isinstance(part, list) else part}".replace("_", "-", option.count("_"))
                 for option, part in given.items()]  # fmt: skip
        assert _run([*prefix, where, table, "-m", "accuracy", *flags], debug=False) == 2
        told = capsys.readouterr().err
        assert refused.value.flags in " ".join(told.split()), flags
        assert f"--{name.replace('_', '-')} must be " in refused.value.flags
        assert str(refused.value) == refused.value.flags.replace(f"--{name.replace('_', '-')}", name)


def test_folds_are_two_at_least():
    """One fold has no other to train on: its t test would divide by 0."""
    for folds in (0, 1):
        with pytest.raises(InputError, match=r"folds must be a whole number from 2 to .*, got"):
            sigjax.classical_tests(SCORES, design="folds", folds=folds)
