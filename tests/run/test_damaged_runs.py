"""Damaged checkpoints and reports to extend are refused in one line, or give the report of a fresh run."""

import random
import re

import numpy as np
import pytest
from mutations import mutate

from sigjax import Evaluation, InputError, compare

CHANCE = np.random.default_rng(1)
EVALUATION = Evaluation.from_arrays(
    {name: CHANCE.integers(0, 9, (12, 3)) + [0, 9, 9] for name in "ABC"}, metric="fscore"
)
OPTIONS = {"method": "montecarlo", "device": "numpy", "resamples": 300, "interval": "none"}
KINDS = {"checkpoint": {"test": ["permutation", "bootstrap"], "interval": "percentile"}, "extend": {}}


def report(kind, path):
    return compare(EVALUATION, **OPTIONS | KINDS[kind], **({} if path is None else {kind: path})).to_json()


@pytest.fixture(params=KINDS)
def kept(request, tmp_path):
    """Which file, its path, its content, and the report that goes on from it."""
    kind, path = request.param, tmp_path / "kept"
    fresh = report(kind, None)
    if kind == "extend":
        path.write_text(compare(EVALUATION, **OPTIONS | {"resamples": 200}).to_json())
    assert report(kind, path) == fresh
    return kind, path, path.read_bytes(), fresh


def answer(kind, path, data):
    """The report, or None where the file is refused."""
    path.write_bytes(data)
    try:
        return report(kind, path)
    except InputError as error:
        message = str(error)
    assert re.fullmatch(r"[^\n]*(kept: |gives other scores)[^\n]*", message)
    return None


def test_mutated_files_change_no_number(kept):
    kind, path, content, fresh = kept
    chance = random.Random(5)
    answers = [answer(kind, path, mutate(content, chance)) for _ in range(200)]
    assert set(answers) == {None, fresh}


@pytest.mark.parametrize("kept", ["checkpoint"], indirect=True)
def test_damage_that_numpy_does_not_see(kept):
    """An entry without content, whose checksum is right, and arrays that claim to be shorter than they are."""
    kind, path, content, _ = kept
    entries = [i for i in range(len(content)) if content.startswith(b"PK\x01\x02", i)]
    shapes = [i for i in range(len(content)) if content.startswith(b"'shape': (3,", i)]
    emptied = [content[: i + 16] + bytes(12) + content[i + 28 :] for i in entries]
    shorter = [content[:i] + b"'shape': (2," + content[i + 12 :] for i in shapes]
    assert (len(emptied) > 3, len(shorter) > 2) == (True, True)
    assert {answer(kind, path, data) for data in emptied + shorter} == {None}


def test_long_arrays_that_claim_to_be_shorter(tmp_path):
    """zipfile compares the checksum where it reads to the end, and it reads 4,096 bytes at a time."""
    answers = {f"s{k:02}": CHANCE.integers(0, 2, 12) for k in range(40)}
    evaluation, path = Evaluation.from_arrays(answers, metric="accuracy"), tmp_path / "kept"
    compare(evaluation, **OPTIONS, checkpoint=path)
    content = path.read_bytes()
    shorter = content.replace(b"'shape': (780,)", b"'shape': (280,)")
    assert shorter != content
    path.write_bytes(shorter)
    with pytest.raises(InputError, match="kept: is no checkpoint, or a damaged one"):
        compare(evaluation, **OPTIONS, checkpoint=path)


@pytest.mark.parametrize("kept", ["extend"], indirect=True)
@pytest.mark.parametrize("change", ["200.0", "true", "null", '"200"', "1e999", "-200", "2" * 5000])
def test_resamples_that_are_no_number(kept, change):
    kind, path, content, _ = kept
    changed = content.replace(b'"resamples": 200, "seed"', b'"resamples": %s, "seed"' % change.encode())
    assert changed != content
    assert answer(kind, path, changed) is None


@pytest.mark.parametrize("kept", ["extend"], indirect=True)
@pytest.mark.parametrize("change", ["null", '"high"', "[1]", "NaN", "1e999", "{}"])
def test_scores_that_are_no_number(kept, change):
    kind, path, content, _ = kept
    before, after = content.split(b'"score": ', 1)
    assert answer(kind, path, before + b'"score": ' + change.encode() + after[after.index(b",") :]) is None
