"""A device whose memory is too small: tiles are halved, with the same numbers; the last resort is one line.

Errors are JAX's own: they come from an allocation that no machine can make.
"""

import jax
import numpy as np
import pytest
from oracles import random_counts

from sigjax import Evaluation, InputError, compare
from sigjax.cli import _run
from sigjax.resample import engine

COUNTS = Evaluation.from_arrays(random_counts(np.random.default_rng(5), 4, 300), metric="fscore")
SAMPLED = {"method": "montecarlo", "test": ["permutation", "bootstrap"], "resamples": 5000, "interval": "percentile"}


@pytest.fixture
def limit(monkeypatch):
    """Let programs fail by a rule on rows per tile and number of calls; gives the rows of the tiles that succeeded."""
    compiled, rows = engine.compiled, []

    def set_rule(fails):
        def limited(kernel, static=(), platform=None, devices=(), *, summed=False):
            program, size = compiled(kernel, static, platform, devices, summed=summed), dict(static)["rows_per_tile"]

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
    table.write_text("id\tA\tB\n" + "".join(f"q{i}\t{i % 3}\t{i % 2}\n" for i in range(30)))
    assert _run(["compare", str(table), "--method", "montecarlo", "--device", "cpu"], debug=False) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"sigjax: error: {message}")
    assert err.endswith("give --device cpu, or --device numpy\n")
    assert err.count("\n") == 1


def test_other_errors_of_a_device_are_raised_at_once(monkeypatch):
    calls = []

    def failing(*_, **__):
        def run(*_):
            calls.append(1)
            raise RuntimeError("INTERNAL: no such kernel")

        return run

    monkeypatch.setattr(engine, "compiled", failing)
    with pytest.raises(RuntimeError, match="INTERNAL"):
        compare(COUNTS, device="cpu", **SAMPLED)
    assert len(calls) <= 4
