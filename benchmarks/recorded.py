"""Which programs a call of sigjax would run on a GPU, recorded without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import jax
import numpy as np

from sigjax.exact import tails
from sigjax.resample import engine
from sigjax.resample.projection import FusedDraws, FusedSwap
from sigjax.run import context
from sigjax.run.backend import Backend, jax_scope, program
from sigjax.testing import bootstrap, summaries


class Program(NamedTuple):
    """What is compiled."""

    kernel: Callable[..., Any]
    static: tuple[tuple[str, Any], ...]
    shapes: tuple[Any, ...]
    """Of the arguments."""
    split: bool
    """Tiles are split among devices."""
    rows: int
    """Resamples of a call; 1 where it has none."""
    steps: int
    """How often loops run that say so only when they run."""


def programs(call: Callable[[], object]) -> dict[str, list[Program]]:
    """The programs of each kernel, by its name: the call is made, and every program gives random numbers.

    What sigjax makes of them may fail, after the programs that it needed.
    """
    found: dict[str, list[Program]] = {}

    def record(kernel: Any, static: Any = (), platform: Any = None, devices: Any = (), **_: Any) -> Any:
        def run(*arguments: Any) -> Any:
            options = dict(static)
            name = getattr(options.get("kernel", kernel), "__name__", "")
            rows = 1
            if "rows_per_tile" in options:
                rows = np.count_nonzero(arguments[0] < arguments[1].resamples) * options["rows_per_tile"]
            shapes = jax.tree.map(lambda each: jax.ShapeDtypeStruct(np.shape(each), np.asarray(each).dtype), arguments)
            found.setdefault(name, []).append(Program(kernel, static, shapes, bool(devices), rows, _steps(arguments)))
            with jax_scope():
                results = jax.eval_shape(program(kernel, static, ()), *arguments)
            return jax.tree.map(_made_up, results)

        return run

    with _on_gpu(record):
        try:
            call()
        except Exception:
            if not found:
                raise
    return found


@contextmanager
def _on_gpu(record: Callable[..., Any]) -> Iterator[None]:
    """Choose a GPU, and record what is compiled for it."""
    gpu = Backend("gpu", tuple(jax.local_devices(backend="cpu"))[:1])
    with ExitStack() as stack:
        for module in (engine, summaries, tails):
            stack.enter_context(patch.object(module, "compiled", record))
        for module in (bootstrap, summaries):
            stack.enter_context(patch.object(module, "room", lambda _: 1.0))
        stack.enter_context(patch.object(engine, "on_all_devices", lambda devices, data: data))
        stack.enter_context(patch.object(context, "choose_backend", lambda *_, **__: gpu))
        yield


def _made_up(result: Any) -> np.ndarray:
    if result.dtype == bool:
        return np.ones(result.shape, bool)
    return np.random.default_rng(0).random(result.shape).astype(result.dtype)


def _steps(arguments: Any) -> int:
    """The steps of a fused projection."""
    data = next((each.data for each in arguments if isinstance(each, engine.Task)), ())
    projection = getattr(data[0], "projection", None) if data else None
    return int(projection.num_steps) if isinstance(projection, FusedDraws | FusedSwap) else 1
