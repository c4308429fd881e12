"""Laws of runs: on which device, in which pieces and in how many turns the work is done changes no digit of a report.

The registry is `runs.RUNS`; what sampled on a kernel of its own belongs there. The pieces are small, so that every run
has many of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runs import RUNS, digest, report

from sigjax.resample import engine

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def expected():
    return {name: report(name) for name in RUNS}


@pytest.mark.parametrize("name", RUNS)
def test_a_compiled_run_is_that_of_numpy(name, expected):
    assert report(name, device="cpu") == expected[name]


COMPILED = ("both tests of two metrics", "outputs exchanged within units", "runs drawn within units")
"""Runs whose kernels are all that tiles are cut for; programs of other sizes take long to compile."""


@pytest.mark.parametrize(
    ("name", "platform"), [*((name, "numpy") for name in RUNS), *((name, "cpu") for name in COMPILED)]
)
def test_tiles_of_another_size_change_nothing(name, platform, expected, monkeypatch):
    monkeypatch.setitem(engine._TILE_ELEMENTS, platform, 2**13)
    monkeypatch.setattr(engine, "_TILES_PER_CALL", 3)
    assert report(name, device=platform) == expected[name]


def test_the_number_of_devices_changes_nothing(expected, tmp_path):
    """Eight in place of two, in a process of its own: the number of devices is fixed when JAX starts."""
    code = (
        "import jax, json\nfrom runs import RUNS, digest, report\nassert jax.local_device_count() == 8\n"
        "print(json.dumps({name: digest(report(name, device='cpu')) for name in RUNS}))"
    )
    environment = os.environ | {"JAX_NUM_CPU_DEVICES": "8", "JAX_PLATFORMS": "cpu"}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), environment.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {name: digest(each) for name, each in expected.items()}
