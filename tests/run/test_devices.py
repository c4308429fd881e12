"""Which device is used, and why no GPU; two GPUs; a device whose memory is too small: tiles are halved."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from oracles import random_counts

import sigjax
from sigjax import Evaluation, InputError, compare
from sigjax.cli import _run
from sigjax.resample import engine
from sigjax.run import backend
from sigjax.run import backend as devices
from sigjax.run.backend import Backend
from sigjax.run.costs import Cost

FAILED = "Backend 'cuda' failed to initialize:\n no supported devices found for platform CUDA."
REASONS = {
    "JAX has no CUDA packages for Darwin, only for Linux": ("Darwin", True, "0.10.2"),
    "this machine shows no NVIDIA GPU; a container sees those": ("Linux", False, "0.10.2"),
    "JAX's CUDA packages are not installed; run: ": ("Linux", True, ""),
    "JAX says: Backend 'cuda' failed to initialize: no supported": ("Linux", True, "0.10.2"),
}


@pytest.mark.parametrize("message", REASONS)
def test_why_there_is_no_gpu(message, monkeypatch):
    def local_devices(backend=None):
        if backend == "cuda":
            raise RuntimeError(FAILED)
        return []

    system, card, version = REASONS[message]
    monkeypatch.setattr(backend.host, "system", lambda: system)
    monkeypatch.setattr(backend, "_CARDS", [os.devnull] if card else [])
    monkeypatch.setattr(backend, "installed_version", lambda package: version)
    monkeypatch.setattr(jax, "local_devices", local_devices)
    assert backend.why_no_gpu().startswith(message)
    assert "\n" not in backend.why_no_gpu()
    assert devices.devices()["gpu"] == f"not used: {backend.why_no_gpu()}"


@pytest.mark.parametrize("has_cpu", [True, False])
def test_gpus_are_used_by_auto(has_cpu, monkeypatch):
    def local_devices(backend=None):
        if backend == "cpu" and not has_cpu:
            raise RuntimeError("Unknown backend cpu")
        gpus = [SimpleNamespace(platform="gpu", id=number, device_kind="NVIDIA H100") for number in (0, 1)]
        return [SimpleNamespace(platform="cpu", id=0, device_kind="cpu")] if backend == "cpu" else gpus

    monkeypatch.setattr(jax, "local_devices", local_devices)
    assert devices.devices() == {
        "devices": "numpy, gpu:0 (NVIDIA H100), gpu:1 (NVIDIA H100)" + ", cpu:0 (cpu)" * has_cpu,
        "auto": "NumPy for work of about a second, else JAX on gpu:0, gpu:1",
        "gpu": "used by auto",
    }


@pytest.mark.parametrize("num_systems", [2, 16])
def test_two_gpus_share_the_work(num_systems, monkeypatch):
    """Two devices of the CPU stand in for them: all else is as on GPUs, kernels and tiles as well."""
    two, compiled, shares = jax.local_devices(backend="cpu")[:2], engine.compiled, []
    monkeypatch.setitem(engine._MOST_ROWS, "gpu", 256)
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(3), num_systems, 300), metric="fscore")
    options = {"method": "montecarlo", "test": ["permutation", "bootstrap"], "resamples": 3000}
    expected = compare(evaluation, device="numpy", **options)

    def watched(kernel, static=(), platform=None, devices=(), **options):
        program = compiled(kernel, static, platform, devices, **options)

        def run(first, task):
            outputs = program(first, task)
            rows = dict(static)["rows_per_tile"]
            for shard in outputs[0].addressable_shards:
                resamples = np.minimum(first[shard.index[0]] + rows, 3000) - first[shard.index[0]]
                shares.append((shard.device, resamples.clip(0).sum()))
            return outputs

        return run

    monkeypatch.setattr(engine, "compiled", watched)
    monkeypatch.setattr(jax, "local_devices", lambda backend=None: two)
    assert backend.choose_backend("gpu", Cost(0.0)) == Backend("gpu", tuple(two))
    assert compare(evaluation, device="gpu", **options) == expected
    done = [sum(rows for device, rows in shares if device == each) for each in two]
    assert sum(done) == 2 * 3000
    assert min(done) > max(done) / 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info"], "numpy; JAX cannot be used (JAX_PLATFORMS is 'cuda', and"),
        (["compare", "table.tsv", "--method", "montecarlo", "--device", "cpu"], "(JAX_PLATFORMS is 'cuda', and this"),
    ],
)
def test_platforms_that_are_not_there_are_named(arguments, message, tmp_path):
    """In a process of its own, since JAX reads the variable when it starts."""
    (tmp_path / "table.tsv").write_text("id\tA\tB\n" + "".join(f"q{i}\t{i % 3 // 2}\t{i % 2}\n" for i in range(30)))
    command = [sys.executable, "-c", "import sys; from sigjax.cli import main; main(sys.argv[1:])", *arguments]
    path = os.pathsep.join([str(Path(sigjax.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"JAX_PLATFORMS": "cuda", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert message in done.stdout + done.stderr


STARTED = """
import sys
from sigjax.run.backend import has_started
from sigjax.run.costs import Cost

found = [has_started()]
import jax
found.append(has_started())
jax.devices()
print([*found, has_started()])
"""


def test_whether_jax_has_started_is_read_from_this_version_of_it():
    """JAX has no public function for it."""
    done = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, check=True)
    assert done.stdout == "[False, False, True]\n"


def test_without_jax_numpy_is_what_there_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    found = devices.devices()
    assert (found["auto"], found["gpu"]) == ("NumPy", "not used: JAX cannot be imported")
    assert found["devices"].startswith("numpy; JAX cannot be used (")


COUNTS = Evaluation.from_arrays(random_counts(np.random.default_rng(5), 4, 300), metric="fscore")
SAMPLED = {"method": "montecarlo", "test": ["permutation", "bootstrap"], "resamples": 5000, "interval": "percentile"}


@pytest.fixture
def limit(monkeypatch):
    """Let programs fail by a rule on rows per tile and number of calls; gives the rows of the tiles that succeeded."""
    compiled, rows = engine.compiled, []

    def set_rule(fails):
        def limited(kernel, static=(), platform=None, devices=(), **options):
            program, size = compiled(kernel, static, platform, devices, **options), dict(static)["rows_per_tile"]

            def run(*arrays):
                if fails(size, len(rows)):
                    jax.numpy.zeros(2**46, np.float32)
                rows.append(size)
                return program(*arrays)

            return run

        monkeypatch.setattr(engine, "compiled", limited)
        return rows

    return set_rule


@pytest.mark.parametrize(("largest", "resamples"), [(64, 5000), (1, 40)])
@pytest.mark.slow
def test_tiles_are_halved_until_they_fit(largest, resamples, limit):
    rows = limit(lambda size, _: size > largest)
    sampled = SAMPLED | {"resamples": resamples}
    assert compare(COUNTS, device="cpu", **sampled) == compare(COUNTS, device="numpy", **sampled)
    assert set(rows) == {largest}


def test_a_run_whose_memory_runs_out_goes_on_where_it_stopped(limit, monkeypatch):
    monkeypatch.setattr(engine, "_TILE_ELEMENTS", {"cpu": 2**11, "numpy": 2**11})  # many calls
    monkeypatch.setattr(engine, "_TILES_PER_CALL", 2)
    sampled = SAMPLED | {"test": "permutation", "interval": "none"}
    failed = []

    def fails(size, calls):
        if calls == 5 and not failed:
            failed.append(size)
        return size in failed

    rows = limit(fails)
    assert compare(COUNTS, device="cpu", **sampled) == compare(COUNTS, device="numpy", **sampled)
    assert rows[:6] == [2 * rows[5]] * 5 + [rows[5]]


def test_memory_for_no_tile_is_one_line(limit, tmp_path, capsys):
    limit(lambda size, _: True)
    message = "the device has too little memory, even for a few resamples at a time; end other programs that hold it"
    with pytest.raises(InputError, match=message):
        compare(COUNTS, device="cpu", **SAMPLED)
    table = tmp_path / "table.tsv"
    table.write_text("id\tA\tB\n" + "".join(f"q{i}\t{i % 3 // 2}\t{i % 2}\n" for i in range(30)))
    assert _run(["compare", str(table), "--method", "montecarlo", "--device", "cpu"], debug=False) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"sigjax: error: {message}")
    assert err.endswith("give --device cpu, or --device numpy\n")
    assert err.count("\n") == 1


MESSAGE = "RESOURCE_EXHAUSTED: of whoever wrote the metric, as JAX words it"


@pytest.mark.parametrize("error", [jax.errors.JaxRuntimeError("INTERNAL: no such kernel"), RuntimeError(MESSAGE)])
def test_other_errors_are_raised_at_once(error, monkeypatch):
    calls = []

    def failing(*_, **__):
        def run(*_):
            calls.append(1)
            raise error

        return run

    monkeypatch.setattr(engine, "compiled", failing)
    with pytest.raises(RuntimeError, match=str(error)):
        compare(COUNTS, device="cpu", **SAMPLED)
    assert len(calls) <= 4


NORMAL = dict(zip("ABC", np.random.default_rng(0).normal(size=(3, 70)).round(2), strict=True))
MEANS = Evaluation.from_arrays(NORMAL)
EVERYWHERE = {
    "adaptive": lambda **on: compare(COUNTS, resamples="auto", method="montecarlo", **on).to_json(),
    "studentized": lambda **on: compare(COUNTS, **(SAMPLED | {"interval": "studentized"}), **on).to_json(),
    "whole columns": lambda **on: compare(
        Evaluation.from_arrays(NORMAL, metric="variance"), test=["permutation", "bootstrap"], resamples=20_000, **on
    ).to_json(),
    "clusters": lambda **on: compare(replace(COUNTS, clusters=[i // 4 for i in range(300)]), **SAMPLED, **on).to_json(),
    "equivalence": lambda **on: sigjax.equivalence(MEANS, margin=0.4, method="bootstrap", resamples=3000, **on),
    "power": lambda **on: sigjax.power(
        MEANS,
        read={"only": ["A", "B"]},
        instances=[70],
        repetitions=15,
        resamples=99,
        test=["permutation", "bootstrap"],
        **on,
    ),
    "audit": lambda **on: sigjax.audit(MEANS, read={"only": ["A", "B"]}, repetitions=20, resamples=99, **on),
}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_results_are_the_same_on_every_device(name):
    assert EVERYWHERE[name](device="numpy") == EVERYWHERE[name](device="cpu")
