"""Damaged checkpoints and reports to extend are refused in one line, or give the report of a fresh run."""

import json
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from mutations import mutate

from sigjax import Evaluation, InputError, compare
from sigjax.cli import _run
from sigjax.run.shards import read_shard

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


@pytest.fixture
def shards(tmp_path, monkeypatch, capsys):
    """The files of the two shards of a run."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"i{i},{','.join(map(str, CHANCE.integers(0, 9, 3)))}\n" for i in range(20))
    (tmp_path / "t.csv").write_text("id,A,B,C\n" + rows)
    options = (
        "--test permutation --test bootstrap --interval percentile --method montecarlo --resamples 300 --device numpy"
    )
    for index in (1, 2):
        assert _run(f"compare t.csv {options} --shard {index}/2 -o {index}.npz -q".split(), debug=True) == 0
    assert _run(["merge", "1.npz", "2.npz", "-o", "whole.json", "-q"], debug=True) == 0
    assert _run(f"compare t.csv {options} -o one.json -q".split(), debug=True) == 0
    assert (tmp_path / "whole.json").read_bytes() == (tmp_path / "one.json").read_bytes()
    return tmp_path


COUNTS, VALUES, SCORES = ("mean", "permutation", "from 0"), ("mean", "bootstrap"), ("mean", "scores")
CRAFTED = {
    "counts of 10^9": (COUNTS, lambda tally: {"counts": tally.arrays["counts"] + 10**9}),
    "counts below 0": (COUNTS, lambda tally: {"counts": tally.arrays["counts"] - 300}),
    "fewer counts": (COUNTS, lambda tally: {"counts": tally.arrays["counts"][:2]}),
    "more counts": (COUNTS, lambda tally: {"counts": np.append(tally.arrays["counts"], 1)}),
    "counts that are reals": (COUNTS, lambda tally: {"counts": tally.arrays["counts"] * 1.0}),
    "no counts": (COUNTS, lambda tally: {}),
    "fewer replicates": (VALUES, lambda tally: {"values": tally.arrays["values"][:, :-1]}),
    "fewer rows": (VALUES, lambda tally: {"values": tally.arrays["values"][:-1]}),
    "NaN": (VALUES, lambda tally: {"values": tally.arrays["values"] * np.nan}),
    "fewer scores": (SCORES, lambda tally: {"scores": tally.arrays["scores"][:1]}),
    "something else": (SCORES, lambda tally: {"scores": tally.arrays["scores"], "more": np.ones(3)}),
}


def merged(capsys):
    """The line that refuses to merge the shards."""
    assert _run(["merge", "1.npz", "2.npz", "-o", "new.json", "-q"], debug=False) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", CRAFTED)
def test_counts_that_no_run_makes_are_not_merged(shards, capsys, name, both):
    """The checksums of these files are right."""
    key, change = CRAFTED[name]
    for path in [shards / "1.npz", shards / "2.npz"][: 1 + both]:
        shard = read_shard(path)
        matching = next(each for each in shard.tallies if each[: len(key)] == key)
        tally = replace(shard.tallies[matching], arrays=change(shard.tallies[matching]))
        with open(path, "wb") as file:
            replace(shard, tallies=shard.tallies | {matching: tally}).write(file)
    assert merged(capsys).startswith("sigjax: error: ")
    assert not (shards / "new.json").exists()


@pytest.mark.parametrize("change", [{"start": 1}, {"done": 10**9}, {"done": -1}, {"start": "0"}, {"done": 149.0}])
def test_ranges_that_no_run_makes_are_not_merged(shards, capsys, change):
    shard = read_shard(shards / "1.npz")
    tally = replace(shard.tallies[COUNTS], **change)
    with open(shards / "1.npz", "wb") as file:
        replace(shard, tallies=shard.tallies | {COUNTS: tally}).write(file)
    assert merged(capsys)


ODD = (None, 7, -1.5, True, "x", [], {}, [7], ["x"], {"x": "y"}, {"x": 7}, eval("[" * 80 + "]" * 80))  # noqa: S307


@pytest.mark.slow
def test_origins_and_runs_of_any_kind_are_refused_or_merged(shards, capsys):
    shard = read_shard(shards / "1.npz")
    other = read_shard(shards / "2.npz")
    changed = [{"origin": value} for value in ({}, {"files": []}, {"files": ["t.csv"]})]
    for value in ODD:
        changed += [{"origin": {**shard.origin, key: value}} for key in shard.origin]
        inputs = shard.origin["inputs"]
        changed += [{"origin": {**shard.origin, "inputs": {**inputs, key: value}}} for key in inputs]
        changed += [{"identity": {**shard.identity, key: value}} for key in shard.identity]
    changed += [{"identity": {k: v for k, v in shard.identity.items() if k != key}} for key in shard.identity]
    refused = 0
    for change in changed:
        for path, own in (("1.npz", shard), ("2.npz", other)):
            with open(path, "wb") as file:
                replace(own, **change).write(file)
        code = _run(["merge", "1.npz", "2.npz", "-o", "new.json", "-q"], debug=False)
        err = capsys.readouterr().err
        assert (code, err.count("\n")) in ((2, 1), (0, 0)), (change, err)
        assert len(err) < 920
        if code == 0 and "origin" in change:  # a seed that no run had cannot be told from one that it had
            pairs = [json.loads((shards / name).read_text())["pairs"] for name in ("new.json", "one.json")]
            assert pairs[0] == pairs[1], change
        refused += code == 2
    assert refused > 0.8 * len(changed)
