"""Where to run: NumPy, or the devices of one JAX platform. The choice changes the time, never a result.

This is the only module that calls JAX's compiler, keeps compiled programs, and sets up JAX for sigjax. JAX has sigjax's
settings only during these calls; the user's settings are not changed. The module also lists the devices, explains why
there is no GPU, and detects that a GPU has too little memory.
"""

from __future__ import annotations

import hashlib
import os
import platform as host
import re
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sigjax.records import Array, Device, Hint, InputError
from sigjax.run import costs
from sigjax.run.costs import Cost
from sigjax.run.files import cache_folder
from sigjax.version import install_command, installed_version

_CARDS = ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg")
"""Device files of NVIDIA GPUs, on a machine, in a container, or in Windows (WSL2). At least one exists if there is a
GPU."""
UNUSABLE = (RuntimeError, AssertionError)
"""Errors that JAX raises if a device is missing; it is an AssertionError if JAX_PLATFORMS names no device that
exists."""
Kernel = Callable[..., Array | tuple[Array, ...]]
"""A kernel is a function of arrays that returns an array or several arrays; constants are passed by keyword. It is
written once for NumPy and JAX, because it uses the array namespace of its arguments."""


def why_no_gpu() -> str:
    """A text that explains why JAX finds no GPU, and what to do."""
    if host.system() != "Linux":
        return f"JAX has no CUDA packages for {host.system()}, only for Linux, and on Windows within WSL2"
    if not any(map(os.path.exists, _CARDS)):
        return "this machine shows no NVIDIA GPU; a container sees those alone that it was started with"
    if not any(installed_version(f"jax-cuda{cuda}-plugin") for cuda in (12, 13)):
        return f"JAX's CUDA packages are not installed; run: {install_command('jax[cuda12]')}"
    try:
        error = f"there is {imported_jax().local_devices(backend='cuda')[0]}"
    except UNUSABLE as failure:
        error = " ".join(str(failure).split())
    return f"JAX says: {error}; `sigjax help gpu` says what it needs"


def devices() -> dict[str, str]:
    """Return a dict of texts: `devices` (values of `--device`), `auto` (its choice), `gpu` (used, or why it is not)."""
    try:
        jax = imported_jax()
        found = jax.local_devices()
    except (ImportError, *UNUSABLE) as error:
        no_jax, why = f"numpy; JAX cannot be used ({first_line(error)})", "JAX cannot be imported"
        why = why if isinstance(error, ImportError) else why_no_gpu()
        return {"devices": no_jax, "auto": "NumPy", "gpu": f"not used: {why}"}
    cpus: list[Any] = []
    with suppress(*UNUSABLE):  # CPU devices are missing if JAX_PLATFORMS=cuda
        cpus = jax.local_devices(backend="cpu")
    gpus = [device for device in found if device.platform == "gpu"]
    every = [*found, *(device for device in cpus if device not in found)]
    names = ", ".join(f"{device.platform}:{device.id}" for device in found)
    return {
        "devices": ", ".join(["numpy", *(f"{each.platform}:{each.id} ({each.device_kind})" for each in every)]),
        "auto": f"NumPy for work of about a second, else JAX on {names}",
        "gpu": "used by auto" if gpus else f"not used: {why_no_gpu()}",
    }


def first_line(error: BaseException) -> str:
    """The first line of JAX's message about a missing device; if it is empty, a text of sigjax."""
    named = f"JAX_PLATFORMS is {os.environ.get('JAX_PLATFORMS')!r}, and this machine has none of these"
    return str(error).partition("\n")[0] or named


def out_of_memory(error: RuntimeError) -> bool:
    """Whether a device ran out of memory. JAX raises the same class for all errors of devices."""
    raised = "jax" in sys.modules and isinstance(error, imported_jax().errors.JaxRuntimeError)
    return raised and "RESOURCE_EXHAUSTED" in str(error)


_by_numpy: dict[float, float] = {}
"""A dict from the cost of a piece of work, in nominal seconds (of NumPy on one slow core), to the total nominal seconds
that NumPy has spent on pieces with this cost."""
_MOST_SIZES = 4096
_WIDE_VECTORS = {"xla_cpu_prefer_vector_width": 512}
_SETTINGS: dict[str, Any] = {
    "enable_x64": True,
    "disable_jit": False,
    "debug_nans": False,
    "numpy_rank_promotion": "allow",
    "transfer_guard_host_to_device": "allow",
    "transfer_guard_device_to_device": "allow",
    "transfer_guard_device_to_host": "allow",
}
"""Settings of JAX on which compiled programs of sigjax rely."""
_SILENT = [0, 10, 2]
"""First version of JAX that prints no messages when it loads its compilation cache."""
_MOST_KEPT = 2**28
"""Commands keep at most this many bytes of compiled programs on disk, which is enough for a few thousand programs."""
_AXIS = "device"
"""The name, for JAX, of the array axis that is split among devices."""

_process = {"forked": False}


def imported_jax() -> Any:
    """The module `jax`, imported here because the import takes long; Any, because its types are incomplete."""
    import jax

    return jax


@dataclass(frozen=True, slots=True)
class Backend:
    """What computes: NumPy (then there are no devices), or the devices of one JAX platform."""

    platform: str
    """numpy, cpu or gpu."""
    devices: tuple[Any, ...] = ()


NUMPY = Backend("numpy")


def has_started() -> bool:
    """Whether JAX has started in this process, or in the parent of a forked process; True if this is unknown."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    # JAX has no public function for this.
    return bridge is not None and bool(getattr(bridge, "_backends", True))


def _after_fork() -> None:
    """Remember, in a forked process, whether its parent had started JAX.

    JAX's threads do not exist in the forked process, so calls would wait for them forever.
    """
    _process["forked"] |= has_started()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def reason_against() -> str | None:
    """The reason why JAX cannot be called in this process, and what to do; None if JAX can be called."""
    if _process["forked"]:
        return "this process was forked after JAX had started; start processes by spawn"
    jax = imported_jax()
    if isinstance(jax.device_put(np.zeros(())), jax.core.Tracer):
        return "the call is inside a function that JAX traces, as jax.jit does; call sigjax outside of it"
    return None


def keep_programs() -> None:
    """Let JAX keep compiled programs on disk for later commands on this processor, unless the user set a cache.

    If the cache exceeds `_MOST_KEPT` bytes, delete its oldest programs until at most half of this size is left.
    """
    cache, version = cache_folder(), re.findall(r"\d+", installed_version("jax") or "")[:3]
    if cache is None or "JAX_COMPILATION_CACHE_DIR" in os.environ or list(map(int, version)) < _SILENT:
        return
    processor = host.processor()
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        processor = next((line for line in lines if line.startswith(("flags", "Features"))), processor)
    folder = cache / "programs" / hashlib.sha256(processor.encode()).hexdigest()[:8]
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = sorted((file.stat().st_mtime, file.stat().st_size, file) for file in cache.glob("programs/*/*-cache"))
        left = sum(size for _, size, _ in kept)
        if left > _MOST_KEPT:
            for _, size, file in kept:
                if left > _MOST_KEPT // 2:
                    file.unlink()
                    left -= size
        os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def has_kept_programs() -> bool:
    """Whether JAX's cache folder (set by a command or by the user) holds any program."""
    folder = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    if "jax" in sys.modules:
        folder = imported_jax().config.jax_compilation_cache_dir
    with suppress(OSError):
        return bool(folder) and any(name.endswith("-cache") for name in os.listdir(folder))
    return False


def check_callable() -> None:
    """Raise `InputError` if JAX cannot be called in this process."""
    if reason := reason_against():
        raise InputError(f"JAX cannot be used: {reason}")


@contextmanager
def jax_scope() -> Generator[None, None, None]:
    """A context manager: in it, JAX uses float64 on this thread, compiles functions, and accepts NumPy arrays.

    The user's settings of JAX do not matter until the context ends.
    """
    jax = imported_jax()
    with ExitStack() as stack:
        for name, value in _SETTINGS.items():
            # Set only settings that differ, since setting one takes longer than a call. A guard that the user did not
            # set is None.
            if getattr(jax.config, f"jax_{name}") not in (value, None):
                stack.enter_context(getattr(jax, name)(value))
        yield


@contextmanager
def host_scope() -> Generator[None, None, None]:
    """A context manager for functions on the host that may use `jax.numpy`: JAX uses float64, as in `jax_scope`.

    It has no effect if JAX is not loaded. If a device runs out of memory, raise `InputError` with a message that says
    what to do.
    """
    try:
        with jax_scope() if "jax" in sys.modules else nullcontext():
            yield
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        raise InputError(
            "the device has too little memory, even for a few resamples at a time; end other programs that hold it "
            f"(nvidia-smi lists them), or give {Hint('device', 'cpu')}, or {Hint('device', 'numpy')}"
        ) from error


def program(kernel: Kernel, static: tuple[tuple[str, Any], ...], devices: tuple[Any, ...]) -> Callable[..., Any]:
    """The function that `compiled` passes to JAX's compiler: the kernel with its constants, split among the devices."""
    function = partial(kernel, **dict(static))
    if not devices:
        return function
    split, whole = sharding(devices, split=True), sharding(devices, split=False)

    def on_all(first: Array, *others: Array) -> Any:
        specs = (split.spec, *(whole.spec for _ in others))
        # Replication is not checked, since all results are split among devices. Loops may start from constants, which
        # are equal on all devices.
        mapped = imported_jax().shard_map(
            function, mesh=split.mesh, in_specs=specs, out_specs=split.spec, check_vma=False
        )
        return mapped(first, *others)

    return on_all


def compiled(
    kernel: Kernel,
    static: tuple[tuple[str, Any], ...] = (),
    platform: str | None = None,
    devices: tuple[Any, ...] = (),
    *,
    wide_vectors: bool = False,
) -> Callable[..., Any]:
    """A kernel `(*arrays, **static) -> arrays`, compiled for its constants `static`; it computes in float64 and int64.

    Calls with the same arguments return the same program, which is compiled once for each combination of array shapes.
    Nothing else in sigjax calls `jax.jit`. The program runs on the first device of `platform`, by default on JAX's
    default device. If `devices` are given, it runs on all of them: its first argument and its results are split among
    the devices along their first axis, and every device gets a copy of the other arguments. `wide_vectors` makes fused
    kernels up to twice as fast on a CPU with vectors of 512 bits (measured). With it, XLA (of JAX 0.10.2) rounds arctan
    differently, so do not use it for functions that users wrote.

    Raises:
        InputError: JAX cannot be called here, see `reason_against`. Only this call checks it, not the compiled program.

    >>> np.asarray(compiled(lambda x, power: x**power, (("power", 3),))(np.arange(3.0)))
    array([0., 1., 8.])
    """
    check_callable()
    return _compiled(kernel, static, platform, devices, wide_vectors)


@lru_cache(maxsize=128)
def _compiled(
    kernel: Kernel,
    static: tuple[tuple[str, Any], ...],
    platform: str | None,
    devices: tuple[Any, ...],
    wide_vectors: bool,  # noqa: FBT001
) -> Callable[..., Any]:
    jax = imported_jax()
    home = jax.local_devices(backend=platform)[0] if platform and not devices else None
    wide = wide_vectors and (devices[0].platform if devices else platform) == "cpu"
    run = jax.jit(program(kernel, static, devices), compiler_options=_WIDE_VECTORS if wide else None)

    def call(*arrays: Array) -> Any:
        with jax_scope(), jax.default_device(home) if home else nullcontext():
            return run(*arrays)

    return call


def sharding(devices: tuple[Any, ...], *, split: bool) -> Any:
    """How arrays are placed on devices: split among the devices along the first axis, or copied to each device."""
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    return NamedSharding(Mesh(np.array(devices), (_AXIS,)), PartitionSpec(_AXIS) if split else PartitionSpec())


def on_all_devices(devices: tuple[Any, ...], data: Any) -> Any:
    """Copy arrays (or tuples of arrays) to each device, and return the copies."""
    jax = imported_jax()
    with jax_scope():
        return jax.device_put(data, sharding(devices, split=False))


def is_traceable(function: Callable[..., Any], *shapes: tuple[int, ...]) -> bool:
    """Whether JAX can compile a function of float64 arrays of these shapes."""
    jax = imported_jax()
    try:
        with jax_scope():
            jax.eval_shape(function, *(jax.ShapeDtypeStruct(shape, np.float64) for shape in shapes))
    except Exception:  # a user's function may fail in any way
        return False
    return True


def choose_backend(device: Device, cost: Cost) -> Backend:
    """The backend for the requested device that suits work of this cost; the cost is the time in NumPy.

    If small work is repeated, it is compiled as soon as NumPy has spent as much time on it as compiling takes. So the
    total time is at most twice the time of the better choice (the ski rental problem). If JAX has a cache of compiled
    programs on disk, the work is compiled sooner, because its program may be there.

    Raises:
        InputError: the requested device cannot be used here.
    """
    if device == "numpy":
        return NUMPY
    loading = 0.0 if "jax" in sys.modules else costs.LOADING_JAX.seconds
    compiling, kept = costs.COMPILING.seconds + loading, costs.COMPILING_KEPT.seconds + loading
    spent = _by_numpy.get(cost.seconds, 0.0) + cost.seconds
    if device == "auto" and (spent < kept or (spent < compiling and not has_kept_programs())):
        if len(_by_numpy) >= _MOST_SIZES:
            _by_numpy.clear()
        _by_numpy[cost.seconds] = spent
        return NUMPY
    try:
        reason = reason_against()
        if reason is None:
            jax = imported_jax()
            if device == "auto":
                platform = "cpu" if jax.default_backend() == "cpu" else "gpu"
                return Backend(platform, tuple(jax.local_devices()))
            return Backend(device, tuple(jax.local_devices(backend=device)))
    except UNUSABLE as error:
        reason = why_no_gpu() if device == "gpu" else first_line(error)
    except ImportError as error:
        reason = str(error)
    if device != "auto":
        raise InputError(f"device {device!r} cannot be used ({reason}); `sigjax info` lists what is there")
    warnings.warn(f"JAX has no usable backend ({reason}); running on NumPy", RuntimeWarning, stacklevel=2)
    return NUMPY


_FRACTION = 0.4
"""The share of a GPU's memory that replicates may take. It is below one half, because the memory holds two copies of
all replicates while new ones are added."""


def room(backend: Backend) -> float:
    """The memory in GiB for replicates that stay on the GPU; 0 for other devices, and for several GPUs."""
    if backend.platform != "gpu" or len(backend.devices) != 1:
        return 0.0
    stats: dict[str, int] = backend.devices[0].memory_stats() or {}
    return _FRACTION * stats.get("bytes_limit", 0) / 2**30


def most_bytes(backend: Backend, *, counts: bool = False) -> int:
    """Return the largest size, in bytes, of integers that are split into single bytes before a matrix product.

    Products of bytes are faster; if the result is 0, products use floats only. The integers are multiplied by byte-wide
    weights: swap masks or, if `counts` is true, bootstrap counts.

    Products of bytes and masks take 0.55 to 0.7 of the time of float32 in XLA under Linux on x86 (measured), and four
    times as long if XLA was built without kernels for such products. Tensor cores of GPUs multiply bytes about thirty
    times as fast as float32.
    """
    if backend.platform == "gpu":
        return 4
    return int(not counts and backend.platform == "cpu" and sys.platform == "linux" and host.machine() == "x86_64")
