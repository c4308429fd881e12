"""Two processes on one machine give the report of one, byte by byte; where one is lost, the other says so."""

import os
import pathlib
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest
from oracles import random_counts
from runs import report
from test_checkpoint import done

from sigjax.cli import _run
from sigjax.run.shards import Shard, current_shard

SECONDS = 60
"""A lost process is noticed within so long."""
BOTH = ("--test", "permutation", "bootstrap", "--method", "montecarlo")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start(arguments, *, devices=1, **environment):
    """A process of its own, with so many CPU devices."""
    settings = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": str(devices)} | environment
    command = [sys.executable, "-m", "sigjax", "compare", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=os.environ | settings, stdout=pipe, stderr=pipe, text=True)


def start_two(*arguments, others=None):
    """Processes 0 and 1 of a run, the latter with other arguments where these are given."""
    told = ("--coordinator", f"127.0.0.1:{free_port()}", "--num-processes", 2, "--process-id")
    return [
        start([*((others or arguments) if index else arguments), *told, index], devices=index + 1) for index in (0, 1)
    ]


def ends(process):
    """(exit code, stdout, stderr) of a process."""
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, err


def of_one(*arguments):
    code, out, err = ends(start(arguments))
    assert (code, err) == (0, "")
    return out


def write(path, arrays):
    """Long tables of counts."""
    rows = [
        f"{name}\t{i}\t{tp}\t{predicted}\t{gold}"
        for name, counts in arrays.items()
        for i, (tp, predicted, gold) in enumerate(np.asarray(counts).tolist())
    ]
    path.write_text("system\tid\ttp\tpredicted\tgold\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Five systems."""
    arrays = random_counts(np.random.default_rng(1), 5, 70)
    return write(tmp_path_factory.mktemp("processes") / "five.tsv", arrays)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        (*BOTH, "--resamples", 3001, "--device", "cpu"),
        (*BOTH, "--resamples", 140_001, "--device", "numpy", "--memory", 0.001, "--interval", "none"),
        ("--method", "montecarlo", "--resamples", 40_001, "--interval", "simultaneous"),
        ("--resamples", "auto", "--method", "montecarlo", "--interval", "none"),
        ("--resamples", 2001, "--correction", "maxt", "--interval", "none", "--leaderboard", "--device", "numpy"),
        ("--resamples", 2001, "--correction", "maxt", "--family", "report", "--interval", "none", "--device", "numpy"),
    ],
    ids=["cpu", "counts", "simultaneous", "stopping", "maxt", "family"],
)
def test_two_processes_give_the_report_of_one(table, options):
    """Five systems; the processes have another number of devices each, and parts of different sizes."""
    arguments = (table, "-m", "fscore", "--format", "json", *options)
    both = start_two(*arguments)
    assert [ends(process) for process in both] == [(0, of_one(*arguments), ""), (0, "", "")]


def test_one_pair_as_srun_starts_it(tmp_path):
    """Without options: what SLURM tells each process suffices. Process 0 writes to the file."""
    table = write(tmp_path / "two.tsv", random_counts(np.random.default_rng(2), 2, 40))
    arguments = (table, "-m", "fscore", *BOTH, "--resamples", 2000, "--format", "json", "-q")
    slurm = {"SLURM_JOB_ID": "7", "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": "2"}
    slurm |= {"JAX_COORDINATOR_PORT": str(free_port())}
    both = [
        start(
            [*arguments, "-o", tmp_path / f"{index}.json"], **slurm, SLURM_PROCID=str(index), SLURM_LOCALID=str(index)
        )
        for index in (0, 1)
    ]
    assert [ends(process) for process in both] == [(0, "", "")] * 2
    assert (tmp_path / "0.json").read_text(encoding="utf-8") == of_one(*arguments)
    assert not (tmp_path / "1.json").exists()


def test_a_metric_that_is_no_sum_and_what_is_not_finite(table):
    """A Python program that has called `jax.distributed.initialize` shares out by itself; all processes report."""
    code = (
        "import sys, jax, numpy as np, sigjax\n"
        "from sigjax import Evaluation, SampleMetric, compare, InputError\n"
        "rng = np.random.default_rng(0)\n"
        "gold = rng.normal(size=30)\n"
        "arrays = {name: np.stack([gold, gold + rng.normal(size=30)], axis=1) for name in 'AB'}\n"
        "def run():\n"
        "    metric = SampleMetric('corr', lambda gold, x: np.corrcoef(gold, x)[0, 1], ('gold', 'x'))\n"
        "    evaluation = Evaluation.from_arrays(arrays, metric=metric)\n"
        "    return compare(evaluation, test=['permutation', 'bootstrap'], resamples=501, progress=False).to_json()\n"
        "alone = run()\n"
        "options = dict(cluster_detection_method='deactivate', coordinator_bind_address=sys.argv[1])\n"
        "jax.distributed.initialize(sys.argv[1], 2, int(sys.argv[2]), **options)\n"
        "assert run() == alone\n"
        # A score that is not finite on resample 266 only: process 1 meets it, and both name the system.
        "values = {'A': np.r_[1.0, np.zeros(9)], 'B': np.ones(10)}\n"
        "few = Evaluation.from_arrays(values, metric=lambda sums: sums[..., 0] / (sums[..., 0] - 4.0))\n"
        "try:\n"
        "    compare(few, test='bootstrap', method='montecarlo', resamples=300)\n"
        "except InputError as error:\n"
        "    assert \"not a finite number for 'A'\" in str(error), error\n"
        "else:\n"
        "    raise AssertionError\n"
        "jax.distributed.shutdown()\n"
    )
    address = f"127.0.0.1:{free_port()}"
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "1"}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, address, index], env=environment, stderr=subprocess.PIPE, text=True
        )
        for index in "01"
    ]
    for process in both:
        _, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, err


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_lost_process_is_told_within_a_minute(table, victim):
    """Killed while both compute, which would take hours; the one that is left says so in one line."""
    both = start_two(table, "-m", "fscore", *BOTH, "--resamples", 10**11, "--device", "numpy")
    assert "about" in both[0].stderr.readline()  # process 0 says how long it will take, and both begin
    both[victim].send_signal(signal.SIGKILL)
    code, out, err = ends(both[1 - victim])
    both[victim].communicate()
    assert (code, out) == (1, "")
    (error,) = err.splitlines()
    assert error.startswith(f"sigjax: error: process {victim} of 2 was lost")


STOPPED = """
import os, sys
from runs import RUNS
from sigjax import compare
from sigjax.run import checkpoint, context
from runs import report
import jax
name, path, address, index, writes = sys.argv[1:]
checkpoint._SECONDS, checkpoint._FRACTION, context._FIRST_ROUND = 0.0, 1e9, 1000
write, left = checkpoint.CheckpointFile._write, [int(writes)]
def count(self):
    write(self)
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)
checkpoint.CheckpointFile._write = count
options = dict(cluster_detection_method="deactivate", coordinator_bind_address=address)
jax.distributed.initialize(address, 2, int(index), **options)
with open(f"{path}.{index}", "w") as file:
    file.write(report(name, checkpoint=path))
os._exit(0)
"""


def start_stopped(name, path, writes):
    """The exit codes of two processes of a run that ends when so many states are written."""
    address = f"127.0.0.1:{free_port()}"
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(pathlib.Path(__file__).parents[1])}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", STOPPED, name, path, address, index, str(writes)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for index in "01"
    ]
    return [process.wait(timeout=SECONDS) for process in both]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["both tests of two metrics", "counts alone", "a function of samples"])
def test_a_run_of_two_processes_that_was_stopped_goes_on_in_two_or_in_one(name, tmp_path):
    """Process 0 writes for both; what it has written does not depend on how many share the work."""
    path, expected = tmp_path / "run.ckpt", report(name)
    first, second = start_stopped(name, path, 4)
    assert first == 9
    assert second != 0
    assert any(done(path).values())
    kept = path.read_bytes()
    assert report(name, checkpoint=path) == expected
    path.write_bytes(kept)
    assert start_stopped(name, path, 10**6) == [0, 0]
    assert [(tmp_path / f"run.ckpt.{index}").read_text(encoding="utf-8") for index in (0, 1)] == [expected] * 2


def test_other_options_are_refused_by_both(table):
    arguments = (table, "-m", "fscore", "--resamples", 2000)
    both = start_two(*arguments, others=(*arguments, "--seed", 1))
    for code, out, err in map(ends, both):
        assert (code, out) == (2, "")
        assert err == (
            "sigjax: error: process 1 of 2 has other options than process 0; give all of them the same files and "
            "options\n"
        )


def test_one_that_cannot_read_its_data_ends_the_run(table):
    both = start_two(table, "-m", "fscore", others=("nothing.tsv",))
    (code, out, err), (other_code, _, other_err) = map(ends, both)
    assert (other_code, code, out) == (2, 1, "")
    assert "nothing.tsv" in other_err
    assert "process 1 of 2 was lost" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--coordinator", "a:1"), "give all three or none"),
        (("--num-processes", "2", "--process-id", "0"), "give all three or none"),
        (("--coordinator", "a", "--num-processes", "2", "--process-id", "0"), "must be HOST:PORT"),
        (("--coordinator", "a:65536", "--num-processes", "2", "--process-id", "0"), "must be HOST:PORT"),
        (("--coordinator", "a:0", "--num-processes", "2", "--process-id", "0"), "must be HOST:PORT"),
        (("--coordinator", "a:1", "--num-processes", "2", "--process-id", "2"), "got process 2 of 2"),
        (("--coordinator", "a:1", "--num-processes", "0", "--process-id", "0"), "got process 0 of 0"),
    ],
)
def test_options_that_are_no_run(table, options, message, capsys):
    assert _run(["compare", str(table), *options], debug=False) == 2
    assert message in capsys.readouterr().err


def test_one_process_is_a_run_of_its_own(table, capsys):
    options = ["compare", str(table), "-m", "fscore", "--resamples", "100"]
    assert _run([*options, "--coordinator", "a:1", "--num-processes", "1", "--process-id", "0"], debug=False) == 0
    assert capsys.readouterr().out.startswith("F1 on 70 instances, 5 systems\n")
    assert current_shard() == Shard()


def test_shards_are_all_of_the_work_once():
    for count in (1, 2, 3, 7):
        parts = [Shard(index, count).of(range(5, 105)) for index in range(count)]
        assert [each for part in parts for each in part] == list(range(5, 105))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
