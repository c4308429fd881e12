"""Where to run: NumPy, or the devices of one JAX platform. It changes the time, never a result.

This is the one place that calls JAX's compiler, keeps its programs, and sets up JAX for sigjax: outside of the calls
made here, JAX's settings belong to the user.
"""

from __future__ import annotations

import os
import platform as machine
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array, Device, InputError

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


_SMALL_WORK_SECONDS, _LOADING_SECONDS = 1.0, 0.5
"""Work that NumPy finishes sooner is not worth compiling, and where JAX is not loaded yet, loading it (measured)."""


_OPTIONS: dict[str | None, dict[str, Any]] = {"cpu": {"xla_cpu_prefer_vector_width": 512}}
"""Wide vectors, where the processor has them, make the fused kernels up to twice as fast (measured)."""


_FEW_COLUMNS = 6
"""So many are added up as masks are drawn."""


class Backend(NamedTuple):
    """NumPy (no devices) or the devices of one JAX platform."""

    platform: str
    """numpy, cpu or gpu."""
    devices: tuple[Any, ...] = ()


NUMPY = Backend("numpy")


def jitted(function: Callable[..., Any], platform: str | None = None) -> Callable[..., Any]:
    """The function as JAX compiles it, once for each set of shapes. Nothing else in sigjax calls `jax.jit`."""
    import jax

    return jax.jit(function, compiler_options=_OPTIONS.get(platform))


@lru_cache(maxsize=64)
def compiled(
    kernel: Callable[..., Any], static: tuple[tuple[str, Any], ...] = (), platform: str | None = None
) -> Callable[..., Any]:
    """A kernel `(*arrays, **static) -> arrays`, compiled for its static arguments; it computes in float64 and int64.

    It runs on JAX's default device, which is of the `platform` where one is named. The same kernel and static arguments
    give the same program.

    Example:
        >>> np.asarray(compiled(lambda x, power: x**power, (("power", 3),))(np.arange(3.0)))
        array([0., 1., 8.])
    """
    program = jitted(partial(kernel, **dict(static)), platform)

    def call(*arrays: Array) -> Any:
        check_callable()
        with jax_scope():
            return program(*arrays)

    return call


def is_traceable(function: Callable[..., Any], *shapes: tuple[int, ...]) -> bool:
    """Whether JAX can compile a function of float64 arrays of these shapes."""
    import jax

    try:
        with jax_scope():
            jax.eval_shape(function, *(jax.ShapeDtypeStruct(shape, np.float64) for shape in shapes))
    except Exception:  # a user's function may fail in any way
        return False
    return True


def choose_backend(device: Device, *, numpy_seconds: float) -> Backend:
    """The backend for a request; `numpy_seconds` is what the work would take in NumPy.

    Raises:
        InputError: the requested platform is not there.
    """
    worth = _SMALL_WORK_SECONDS + (0.0 if "jax" in sys.modules else _LOADING_SECONDS)
    if device == "numpy" or (device == "auto" and numpy_seconds < worth):
        return NUMPY
    try:
        if reason := reason_against():
            raise RuntimeError(reason)
        import jax

        if device == "auto":
            platform = "cpu" if jax.default_backend() == "cpu" else "gpu"
            return Backend(platform, tuple(jax.local_devices()))
        return Backend(device, tuple(jax.local_devices(backend=device)))
    except (ImportError, RuntimeError) as error:
        if device != "auto":
            reason = str(error).splitlines()[0]
            raise InputError(
                f"device {device!r} cannot be used ({reason}); `sigjax info` lists what is there"
            ) from None
        warnings.warn(f"JAX has no usable backend ({error}); running on NumPy", RuntimeWarning, stacklevel=2)
        return NUMPY


def multiplies_bytes(backend: Backend) -> bool:
    """Whether products of bytes are faster than those of float32.

    So they are in XLA under Linux on x86 (0.55 to 0.7 of the time, measured). Where XLA is built without kernels for
    them it takes four times as long.
    """
    return backend.platform == "cpu" and sys.platform == "linux" and machine.machine() == "x86_64"


def numpy_seconds(*, resamples: int, units: int, columns: int, scored: int, counted: bool) -> float:
    """About how long NumPy takes, from the cost of its parts (measured, see benchmarks/README.md).

    `columns` of statistics are multiplied with weights of `units`, `scored` statistics a resample enter scores, and
    `counted` tells bootstrap counts from swap masks.
    """
    weights = 7e-9 if counted else 0.8e-9
    if columns <= _FEW_COLUMNS and not counted:
        weights = 0.3e-9
    return resamples * (0.15e-6 + units * (weights + 0.02e-9 * columns) + 6e-9 * scored)
