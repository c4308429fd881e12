"""Programs of other people: whatever is set in JAX, reports are the same; where JAX cannot be called, they are told."""

import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import random_counts

import sigjax
from sigjax import Evaluation, InputError, SampleMetric, compare

SET = {
    "jax_transfer_guard": ("disallow", None),
    "jax_numpy_rank_promotion": ("raise", "allow"),
    "jax_disable_jit": (True, False),
    "jax_debug_nans": (True, False),
}
"""What a program may have set, and JAX's default."""
COUNTS = Evaluation.from_arrays(random_counts(np.random.default_rng(3), 3, 40), metric="fscore")
REALS = {name: np.random.default_rng(k).random(40).tolist() for k, name in enumerate("AB")}
REPEATED = Evaluation.from_arrays(REALS, ids=[i // 4 for i in range(40)], runs=[i % 4 for i in range(40)])
SAMPLED = {"method": "montecarlo", "interval": "none", "resamples": 20_000}


def spread(x):
    return x.max() - x.min()


SPREAD = SampleMetric("spread", spread, ("x",))


def root_of_sum(sums):
    return jnp.sqrt(sums[..., 0])


CALLS = {
    "sums": (COUNTS, SAMPLED),
    "outputs within units": (REPEATED, SAMPLED | {"test": "bootstrap", "design": "nested"}),
    "columns": (Evaluation.from_arrays(REALS, metric=SPREAD), SAMPLED | {"resamples": 200_000}),
    "written with jax.numpy": (Evaluation.from_arrays(REALS, metric=root_of_sum), SAMPLED),
}


@pytest.mark.parametrize("name", CALLS)
def test_reports_do_not_depend_on_what_is_set_in_jax(name):
    evaluation, options = CALLS[name]
    expected = compare(evaluation, **options, device="cpu").to_json()
    for setting, (value, default) in SET.items():
        jax.config.update(setting, value)
        try:
            assert compare(evaluation, **options, device="cpu").to_json() == expected, setting
        finally:
            jax.config.update(setting, default)


def test_numbers_that_jax_traces_are_refused():
    """The message names the system and says what to do."""
    calls = [
        lambda x: sigjax.permutation_test(x, x + 1).p_value,
        lambda x: sigjax.bootstrap_test([1, 2, 3], x).p_value,
        lambda x: Evaluation.from_arrays({"A": list(x), "B": [1, 2, 3]}).stats.sum(),
    ]
    for call in calls:
        for traced in (jax.jit(call), jax.grad(call)):
            with pytest.raises(InputError, match=r"^system '[AaBb]': cannot be read as numbers .* outside of"):
                traced(jnp.ones(3))


@pytest.mark.parametrize(("name", "device"), [("sums", "cpu"), ("columns", "numpy")])
def test_a_call_in_a_function_that_jax_traces_is_refused(name, device):
    """With numbers that are known: JAX would trace the kernels, too."""
    evaluation, options = CALLS[name]

    def call(x):
        compare(evaluation, **options, device=device)
        return x

    with pytest.raises(InputError, match="cannot be used.* JAX traces, as jax.jit does; call sigjax outside of it"):
        jax.jit(call)(1.0)


def test_on_numpy_a_call_in_a_function_that_jax_traces_is_computed():
    found = []

    def call(x):
        found.append(compare(COUNTS, **SAMPLED, device="numpy").to_json())
        return x

    jax.jit(call)(1.0)
    assert found == [compare(COUNTS, **SAMPLED, device="numpy").to_json()]


FORK = """
import json, os, signal, sys, warnings
import jax
from test_callers import CALLS
from sigjax import InputError, compare

def in_child(name, device, **changes):
    evaluation, options = CALLS[name]
    read, write = os.pipe()
    if os.fork() == 0:
        signal.alarm(600)  # a call that hangs ends the process; others end on a busy machine, too
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                report = compare(evaluation, **(options | changes), device=device)
                found = [each.exceed for each in report]
            except InputError as error:
                found = str(error)
        os.write(write, json.dumps([found, [str(each.message) for each in seen]]).encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        return json.loads(file.read() or '["no answer"]')

warnings.simplefilter("ignore")  # JAX warns of every fork
answers = [in_child("sums", "cpu")]  # JAX has been loaded, and not started
jax.numpy.ones(3).block_until_ready()
answers += [in_child("sums", "cpu"), in_child("columns", "numpy"), in_child("sums", "auto", resamples=8_000_000)]
print(json.dumps(answers))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.slow
def test_a_child_that_was_forked_after_jax_had_started_is_refused():
    """Its calls would wait forever. Device auto runs on NumPy, and any device does where JAX had not started."""
    path = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", FORK]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    fresh, sums, columns, (counts, warned) = json.loads(done.stdout)
    why = "this process was forked after JAX had started; start processes by spawn"
    assert fresh == [[each.exceed for each in compare(COUNTS, **SAMPLED)], []]
    assert sums == [f"device 'cpu' cannot be used ({why}); `sigjax info` lists what is there", []]
    assert columns == [f"JAX cannot be used: {why}", []]
    assert warned == [f"JAX has no usable backend ({why}); running on NumPy"]
    assert len(counts) == 3
