"""A run that was killed goes on and gives the same report."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from dataclasses import fields, replace

import numpy as np
import pytest
from runs import COUNTS, FSCORE, OTHERS, RUNS, report

from sigjax import Evaluation, InputError, compare
from sigjax.cli import _run
from sigjax.records.metric import data_hash
from sigjax.run import shards
from sigjax.run.shards import Shard, ShardFile, kept_in

pytestmark = pytest.mark.slow


@pytest.fixture
def eager(monkeypatch):
    """Every state is written."""
    monkeypatch.setattr(shards, "_SECONDS", 0.0)
    monkeypatch.setattr(shards, "_FRACTION", 1e9)


@pytest.fixture(scope="module")
def expected():
    return {name: report(name) for name in RUNS}


def stopped_after(monkeypatch, saves):
    """The run ends when it has written so many states: what remains is what a kill leaves."""
    write, left = ShardFile._write, [saves]

    def count(self):
        write(self)
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(ShardFile, "_write", count)
    return lambda: monkeypatch.setattr(ShardFile, "_write", write)


def header(path):
    with np.load(path, allow_pickle=False) as archive:
        return json.loads(archive["header"].tobytes())


def done(path):
    return {tuple(stage["name"]): stage["done"] for stage in header(path)["tallies"]}


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("name", "devices"),
    [(name, ("numpy", "cpu")) for name in RUNS]
    + [(name, ("cpu", "numpy")) for name in ("counts alone", "until decided")],
    ids=lambda each: each if isinstance(each, str) else "-".join(each),
)
def test_a_run_that_was_stopped_gives_the_same_report(name, devices, tmp_path, monkeypatch, expected):
    """Stopped again and again, each time later, with one device and the other in turn."""
    path = tmp_path / "run.ckpt"
    reached, stops = [], 0
    for saves in (3, 5, 9):
        undo = stopped_after(monkeypatch, saves)
        try:
            found = report(name, checkpoint=path, device=devices[stops % 2])
        except KeyboardInterrupt:
            stops += 1
            reached.append(sum(done(path).values()))
        else:
            assert found == expected[name]
            break
        finally:
            undo()
    assert stops > 0
    assert reached == sorted(set(reached))
    assert report(name, checkpoint=path, device=devices[stops % 2]) == expected[name]


@pytest.mark.usefixtures("eager")
def test_what_is_done_is_not_done_again(tmp_path, monkeypatch, expected):
    path, name = tmp_path / "run.ckpt", "both tests of two metrics"
    undo = stopped_after(monkeypatch, 7)
    with pytest.raises(KeyboardInterrupt):
        report(name, checkpoint=path)
    undo()
    before = done(path)
    seen = []
    save = ShardFile.save

    def watch(self, name, state, *, finished):
        seen.append((name, state.done))
        save(self, name, state, finished=finished)

    monkeypatch.setattr(ShardFile, "save", watch)
    assert report(name, checkpoint=path) == expected[name]
    for stage, reached in before.items():
        assert all(now >= reached for other, now in seen if other == stage)
        assert reached < 30_001 or stage not in {other for other, _ in seen}
    assert set(done(path).values()) == {0, 30_001}
    seen.clear()
    assert report(name, checkpoint=path) == expected[name]
    assert not seen


KILLED = """
import os, random, signal, sys
import numpy as np
from sigjax.run import shards
from sigjax.cli import main
shards._SECONDS, shards._FRACTION = 0.0, 1e9
if sys.argv[1] == "in the middle of a write":
    chosen, save, replace = random.Random(int(sys.argv[2])), np.savez, os.replace
    writes = chosen.randrange(3, 12)
    def stop_within(file, **arrays):
        global writes
        writes -= 1
        if writes == 0 and chosen.random() < 0.7:
            save(file, **arrays)
            file.truncate(int(chosen.random() * file.tell()))
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        save(file, **arrays)
    def stop_before(old, new):
        if writes == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(old, new)
    np.savez, os.replace = stop_within, stop_before
main(sys.argv[3:])
"""


@pytest.mark.parametrize("moment", ["at any time", "in the middle of a write"])
def test_a_killed_command_goes_on(moment, tmp_path):
    table, path, output = (str(tmp_path / name) for name in ("table.tsv", "run.ckpt", "out.json"))
    with open(table, "w", encoding="utf-8") as file:
        file.write("system\tid\ttp\tpredicted\tgold\n")
        for name, rows in COUNTS.items():
            file.writelines(f"{name}\t{i}\t{tp}\t{sys_}\t{gold}\n" for i, (tp, sys_, gold) in enumerate(rows))
    command = [
        *("compare", table, "-m", "fscore", "precision", "--test", "permutation", "bootstrap", "--device", "numpy"),
        *("--method", "montecarlo", "--resamples", "120000", "--format", "json"),
    ]
    plain = str(tmp_path / "plain.json")
    assert _run([*command, "-o", plain], debug=True) == 0

    chosen, kills = random.Random(7), 0
    while True:
        arguments = [sys.executable, "-c", KILLED, moment, str(kills)]
        with subprocess.Popen([*arguments, *command, "--checkpoint", path, "-o", output]) as process:
            if moment == "at any time" and kills < 5:
                wait_for_a_write(path, process)  # before it, nothing would be gained
                time.sleep(chosen.uniform(0.0, 0.04))
                process.kill()
            code = process.wait()
        if code == 0:
            break
        assert code == -signal.SIGKILL
        kills += 1
        assert header(path)["schema"] == "sigjax-shard/1"  # it can be read
        left = [name for name in os.listdir(tmp_path) if "ckpt" in name and name != "run.ckpt"]
        assert len(left) <= kills
        assert all(re.fullmatch(r"\.run\.ckpt\.[0-9a-f]{8}\.tmp", name) for name in left)
    assert kills > 2
    with open(plain, "rb") as one, open(output, "rb") as other:
        assert one.read() == other.read()


def wait_for_a_write(path, process):
    """Wait until the file has changed, or the process has ended."""
    before = os.stat(path).st_mtime_ns if os.path.exists(path) else None
    while process.poll() is None:
        if os.path.exists(path) and os.stat(path).st_mtime_ns != before:
            return
        time.sleep(0.005)


@pytest.mark.parametrize("message", OTHERS)
def test_other_data_and_settings_are_refused(message, tmp_path):
    path = tmp_path / "run.ckpt"
    compare(FSCORE, resamples=500, checkpoint=path)
    before = path.read_bytes()
    evaluation, options = OTHERS[message]
    with pytest.raises(InputError) as caught:
        compare(evaluation, **({"resamples": 500} | options), checkpoint=path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert path.read_bytes() == before


PLAIN = Evaluation.from_arrays({"A": [1, 0, 1, 0], "B": [0, 0, 1, 1]}, metric="accuracy")
OF_THE_DATA = {
    "systems": ("A", "C"),
    "stats": PLAIN.stats[:, ::-1],
    "ids": tuple("wxyz"),
    "clusters": tuple("xxyy"),
    "strata": tuple("xxyy"),
    "runs": tuple("1234"),
    "metric": replace(PLAIN.metric, name="other"),
    "present": np.array([[True, True, True, True], [True, True, True, False]]),
    "unit": "response",
}


def test_all_that_the_data_say_is_in_their_hash():
    changed = [replace(PLAIN, **{name: value}) for name, value in OF_THE_DATA.items()]
    hashes = {data_hash([each]) for each in (PLAIN, *changed, replace(changed[7], present=changed[7].present[::-1]))}
    assert len(hashes) == len(OF_THE_DATA) + 2
    others = {each.name for each in fields(PLAIN)} - OF_THE_DATA.keys()
    assert others == {"notes", "title", "weights"}


@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "text", "another archive", "renamed"])
def test_a_damaged_file_is_refused_and_left_alone(damage, tmp_path):
    path = tmp_path / "run.ckpt"
    compare(FSCORE, resamples=500, checkpoint=path)
    content = bytearray(path.read_bytes())
    if damage == "another archive":
        with open(path, "wb") as file:
            np.savez(file, x=np.arange(3))
    else:
        renamed = content.replace(b"0.scores", b"0.scorez")  # no checksum covers the name of an array
        content[len(content) // 2] ^= 1
        path.write_bytes(
            {"empty": b"", "short": content[:-7], "flipped": content, "text": b"id\tA\tB\n", "renamed": renamed}[damage]
        )
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"run\.ckpt: is no checkpoint"):
        compare(FSCORE, resamples=500, checkpoint=path)
    assert path.read_bytes() == before


def test_a_packed_file_is_refused_before_it_grows(tmp_path):
    """A checkpoint is not packed: 260 kB that say they are 256 MB take no memory."""
    path = tmp_path / "run.ckpt"
    compare(FSCORE, resamples=500, checkpoint=path)
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays, x=np.zeros(2**28, np.uint8))
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    with pytest.raises(InputError, match=r"run\.ckpt: is no checkpoint, or a damaged one"):
        compare(FSCORE, resamples=500, checkpoint=path)
    assert kept_in(path) == ""
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


@pytest.mark.usefixtures("eager")
def test_a_full_disk_does_not_end_the_run(tmp_path, monkeypatch, expected):
    name, path = "both tests of two metrics", tmp_path / "run.ckpt"
    ShardFile(Shard({}), path)

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    path.unlink()
    writes = iter([np.savez])
    monkeypatch.setattr(np, "savez", lambda *args, **arrays: next(writes, fail)(*args, **arrays))
    with pytest.warns(RuntimeWarning, match=r"run\.ckpt: the checkpoint cannot be written \(No space left on device\)"):
        assert report(name, checkpoint=path) == expected[name]


SHARED = """
import sys
from sigjax.run import shards
from sigjax.cli import main
shards._SECONDS, shards._FRACTION = 0.0, 1e9
main(sys.argv[1:])
"""


def test_processes_that_run_the_same_may_share_a_checkpoint(tmp_path):
    """Each writes a file of its own and renames it: the last one wins, and none writes into another's."""
    table, path = tmp_path / "table.tsv", tmp_path / "run.ckpt"
    rows = [f"i{i}\t{i * 7 % 11 / 3}\t{i * 5 % 13 / 7}\n" for i in range(200)]
    table.write_text("id\tA\tB\n" + "".join(rows))
    command = ["compare", str(table), "--device", "numpy", "--method", "montecarlo", "--resamples", "200000"]
    outputs = [tmp_path / f"{k}.json" for k in range(6)]
    arguments = [sys.executable, "-c", SHARED, *command, "--checkpoint", str(path), "-o"]
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(subprocess.Popen([*arguments, str(output)], stderr=subprocess.PIPE, text=True))
            for output in outputs
        ]
        said = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 6
    assert not any("cannot be written" in each for each in said), said
    assert len({output.read_bytes() for output in outputs}) == 1
    assert header(path)["schema"] == "sigjax-shard/1"
    assert set(done(path).values()) - {0} == {200_000}
    assert [name for name in os.listdir(tmp_path) if name.endswith(".tmp")] == []
