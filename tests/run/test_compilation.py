"""Few programs: data of similar size share them, and JAX's cache on disk is used where the user has set one."""

import json
import os
import subprocess
import sys
from functools import partial

import jax
import numpy as np
import pytest

from sigjax import Evaluation, compare, permutation_test
from sigjax.resample import engine
from sigjax.run import backend
from sigjax.run.backend import compiled

TESTS = ["permutation", "bootstrap"]


@pytest.fixture
def programs():
    """Names of what JAX compiles, in a list that grows."""
    names = []

    def note(event, seconds, **details):
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(details.get("fun_name"))

    jax.monitoring.register_event_duration_secs_listener(note)
    yield names
    jax.monitoring.unregister_event_duration_listener(note)


def make(metric, num_systems, num_instances):
    """Differences need the same binary digits whatever the size: otherwise sums of few columns are other programs."""
    rng = np.random.default_rng(num_instances)
    gold = np.full(num_instances, 9)
    arrays = {}
    for system in range(num_systems):
        tp = rng.integers(0, gold + 1)
        tp[:2] = (0, 9) if system else (9, 0)
        arrays[f"s{system}"] = np.stack([tp, gold + tp % 3, gold], axis=-1)
    return Evaluation.from_arrays(arrays, metric=metric)


def run(metric, num_systems, num_instances, **options):
    options = {"method": "montecarlo", "resamples": 3000, "device": "cpu", "test": TESTS} | options
    if isinstance(metric, list):
        return compare([make(each, num_systems, num_instances) for each in metric], **options)
    return compare(make(metric, num_systems, num_instances), **options)


CODE = """
import collections, json, pathlib
import jax, numpy as np
from sigjax import Evaluation, compare, permutation_test

events = collections.Counter()
jax.monitoring.register_event_listener(lambda event, **details: events.update([event]))
before = dict(jax.config.values)
values = np.random.default_rng(0).integers(0, 2, (2, 70))
report = compare(Evaluation.from_arrays(dict(zip("ab", values)), metric="accuracy"), test=["permutation", "bootstrap"],
                 method="montecarlo", resamples=2000, device="cpu")
assert dict(jax.config.values) == before
found = [events["/jax/compilation_cache/cache_" + each] for each in ("misses", "hits")]
print(json.dumps([found, [c.exceed for c in report]]))
"""


def in_own_process(folder, **variables):
    """What a process does that keeps all its files, but for those of the variables, in a folder."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("JAX_COMPILATION", "JAX_PERSIST"))}
    places = dict.fromkeys(["HOME", "XDG_CACHE_HOME", "TMPDIR", "SIGJAX_CACHE_DIR"], str(folder))
    done = subprocess.run(
        [sys.executable, "-B", "-c", CODE],
        env=kept | places | variables,
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def angle(sums):
    return sums.__array_namespace__().arctan(sums[..., 0] / sums[..., 1])


def test_functions_of_a_user_are_compiled_to_what_they_are():
    """XLA of JAX 0.10.2 compiles arctan to other numbers where it is told to prefer wide vectors."""
    sums = np.random.default_rng(0).random((1000, 33, 2))
    found = compiled(angle, (), "cpu")(sums)
    assert np.allclose(found, np.arctan(sums[..., 0] / sums[..., 1]), rtol=1e-14)


@pytest.mark.parametrize(("metric", "wide"), [("mean", True), (angle, False), (partial(angle), False)])
@pytest.mark.slow
def test_wide_vectors_are_for_scores_that_round_alike(metric, wide, monkeypatch):
    asked = []

    def watched(*given, wide_vectors, **options):
        asked.append(wide_vectors)
        return compiled(*given, wide_vectors=wide_vectors, **options)

    monkeypatch.setattr(engine, "compiled", watched)
    stats = np.random.default_rng(0).random((2, 40) if metric == "mean" else (2, 40, 2))
    permutation_test(*stats, metric=metric, method="montecarlo", resamples=200, device="cpu")
    assert asked == [wide]


def test_a_metric_of_a_user_counts_alike_on_all_devices():
    a = np.random.default_rng(0).random((400, 2))
    b = np.stack([a[:, 0] + np.random.default_rng(1).normal(0, 0.3, 400), a[:, 1]], axis=1)
    sampled = partial(permutation_test, a, b, metric=angle, method="montecarlo", resamples=2000)
    assert 0 < sampled(device="numpy").exceed == sampled(device="cpu").exceed


@pytest.mark.parametrize("num_systems", [2, 12])
def test_another_number_of_resamples_compiles_nothing(num_systems, programs):
    run("fscore", num_systems, 90, resamples=50_000)
    assert programs
    programs.clear()
    for resamples in (2, 999, 3001, 49_999):
        run("fscore", num_systems, 90, resamples=resamples)
    assert programs == []


@pytest.mark.slow
def test_the_compilation_cache_of_the_user_is_used(tmp_path):
    """The first process writes both programs, the second reads them and counts the same."""
    cache, home = tmp_path / "cache", tmp_path / "home"
    home.mkdir()
    variables = {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    found, counts = in_own_process(home, **variables)
    assert found == [2, 0]
    entries = sorted(cache.glob("*-cache"))
    assert len(entries) == 2
    assert in_own_process(home, **variables) == [[0, 2], counts]
    assert sorted(cache.glob("*-cache")) == entries


@pytest.mark.skipif(jax.__version_info__ < (0, 10, 2), reason="JAX writes lines on stderr where it reads them")
@pytest.mark.slow
def test_commands_keep_their_programs(tmp_path):
    (tmp_path / "t.tsv").write_text("id\tA\tB\n" + "".join(f"q{i}\t{i % 7}\t{i % 5}\n" for i in range(60)))
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("JAX_COMPILATION", "JAX_PERSIST"))}
    command = [sys.executable, "-m", "sigjax", "compare", str(tmp_path / "t.tsv"), "--method", "montecarlo"]
    runs = []
    for _ in range(2):
        done = subprocess.run(
            [*command, "--resamples", "2000", "--device", "cpu"],
            env=kept | {"SIGJAX_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append((done.stdout, done.stderr, [file.name for file in tmp_path.glob("programs/*/*-cache")]))
    assert runs[0] == runs[1]
    assert runs[0][1] == ""
    assert len(runs[0][2]) == 1


@pytest.mark.parametrize("most", [100, 99, 60, 10])
def test_programs_that_are_kept_are_bounded(most, tmp_path, monkeypatch):
    folder = tmp_path / "programs" / "elsewhere"
    folder.mkdir(parents=True)
    for age in range(10):
        (folder / f"{age}-cache").write_bytes(bytes(10))
        os.utime(folder / f"{age}-cache", (1e9 - age,) * 2)
    monkeypatch.setattr(backend, "_MOST_KEPT", most)
    monkeypatch.setattr(backend, "_SILENT", [0])
    monkeypatch.setenv("SIGJAX_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1")
    backend.keep_programs()
    left = 10 if most == 100 else most // 2 // 10
    assert sorted(file.name for file in folder.iterdir()) == [f"{age}-cache" for age in range(left)]
    assert os.environ["JAX_COMPILATION_CACHE_DIR"].startswith(str(tmp_path / "programs"))
