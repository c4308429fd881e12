"""Where JAX can be called, and how it is set up for the calls of sigjax: its settings belong to the user."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np

from sigjax.records import InputError

_process = {"forked": False}


def _after_fork() -> None:
    """Note whether the parent had started JAX: its threads are missing here, and calls would wait for them forever."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    # JAX has no public function that tells; should this name go, JAX counts as started.
    _process["forked"] |= bridge is not None and bool(getattr(bridge, "_backends", True))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def reason_against() -> str | None:
    """Why JAX cannot be called here, and what to do; None where it can."""
    if _process["forked"]:
        return "this process was forked after JAX had started; start processes by spawn"
    from jax import core, device_put

    if isinstance(device_put(np.zeros(())), core.Tracer):
        return "the call is inside a function that JAX traces, as jax.jit does; call sigjax outside of it"
    return None


def check_callable() -> None:
    """Refuse to call JAX where it cannot be called.

    Raises:
        InputError: with the reason.
    """
    if reason := reason_against():
        raise InputError(f"JAX cannot be used: {reason}")


@contextmanager
def jax_scope() -> Iterator[None]:
    """While it lasts, JAX computes in float64 on this thread, compiles, and takes arrays of NumPy, whatever is set."""
    import jax

    with (
        jax.enable_x64(True),  # noqa: FBT003
        jax.disable_jit(False),  # noqa: FBT003
        jax.debug_nans(False),  # noqa: FBT003
        jax.numpy_rank_promotion("allow"),
        jax.transfer_guard("allow"),
    ):
        yield


def host_scope() -> AbstractContextManager[None]:
    """The same for a metric written with `jax.numpy` that is called on the host, where JAX is loaded."""
    return jax_scope() if "jax" in sys.modules else nullcontext()
