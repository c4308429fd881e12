"""Several processes, on one or many machines (`jax.distributed`), that divide the resamples of a run among them.

All processes run the same comparison, each its shard of the resamples. They exchange only sums of whole numbers, which
are the same for every division, so the report is that of a single process. The command line joins them for a program
that does nothing else. If another process is lost, JAX aborts this one and writes pages about it; here one line
replaces them.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigjax.records import Array, Hint, InputError
from sigjax.run.backend import compiled, imported_jax, jax_scope, sharding

_EXCHANGED = 2**22
"""Numbers exchanged at a time."""


class ProcessLost(RuntimeError):
    """Another process of the run ended too early, or cannot be reached."""


@dataclass(frozen=True)
class Shard:
    """Which of several processes this is, and what it exchanges with the others; by default there are none."""

    index: int = 0
    count: int = 1

    def of(self, resamples: range) -> range:
        """The resamples of this process; the numbers of any two processes differ by at most one.

        Example:
            >>> [Shard(index, 3).of(range(10, 20)) for index in range(3)]
            [range(10, 13), range(13, 16), range(16, 20)]
        """
        size = len(resamples)
        return resamples[size * self.index // self.count : size * (self.index + 1) // self.count]

    def total(self, numbers: np.ndarray) -> np.ndarray:
        """The sum over all processes of int64 arrays of the same shape.

        One CPU device of each process takes part, whatever the resamples run on: processes may have different devices,
        and GPUs would wait without end for a process that is lost.

        Raises:
            ProcessLost: another process has ended.
        """
        if self.count == 1:
            return numbers
        jax = imported_jax()
        first = {device.process_index: device for device in reversed(jax.devices("cpu"))}
        devices = tuple(first[index] for index in range(self.count))
        try:
            with jax_scope():
                here = jax.device_put(numbers[None], devices[self.index])
                shape = (self.count, *numbers.shape)
                whole = jax.make_array_from_single_device_arrays(shape, sharding(devices, split=True), [here])
            return np.asarray(compiled(_itself, devices=devices, summed=True)(whole).addressable_data(0))[0]
        except RuntimeError as error:
            raise ProcessLost(lost_message(self)) from error

    def complete(self, values: np.ndarray) -> None:
        """Fill in the other processes' shards of `values` `[row, resample]` (float64).

        Raises:
            ProcessLost: another process has ended.
        """
        if self.count == 1:
            return
        shard = self.of(range(values.shape[1]))
        width = max(1, _EXCHANGED // len(values))
        for start in range(0, values.shape[1], width):
            piece = values[:, start : start + width].copy()
            piece[:, : max(0, shard.start - start)] = 0.0
            piece[:, max(0, shard.stop - start) :] = 0.0
            # All bits of a number come from one process and are 0 in the others.
            values[:, start : start + width] = self.total(piece.view(np.int64)).view(np.float64)

    def broadcast(self, data: bytes) -> bytes:
        """The bytes of process 0, in every process.

        Raises:
            ProcessLost: another process has ended.
        """
        if self.count == 1:
            return data
        (length,) = self.total(np.array([len(data) if self.index == 0 else 0])).tolist()
        words = np.zeros((1, -(-length // 8)), np.int64)
        if self.index == 0:
            words[0].view(np.uint8)[:length] = np.frombuffer(data, np.uint8)
        for start in range(0, words.shape[1], _EXCHANGED):
            words[:, start : start + _EXCHANGED] = self.total(words[:, start : start + _EXCHANGED])
        return words[0].view(np.uint8)[:length].tobytes()

    def check_equal(self, described: dict[str, bytes]) -> None:
        """Refuse to go on if another process does something else: name -> description of what is done.

        Raises:
            InputError: this process, or another, differs from process 0.
            ProcessLost: another process has ended.
        """
        if self.count == 1:
            return
        hashes = [hashlib.blake2b(each, digest_size=8).digest() for each in described.values()]
        known = np.zeros((self.count, len(described)), np.int64)
        known[self.index] = np.frombuffer(b"".join(hashes), np.int64)
        known = self.total(known)
        for name, of_each in zip(described, known.T, strict=True):
            others = np.flatnonzero(of_each != of_each[0])
            if others.size:
                raise InputError(
                    f"process {others[0]} of {self.count} has {name} than process 0; "
                    "give all of them the same files and options"
                )


def current_shard() -> Shard:
    """The shard of this process if `jax.distributed.initialize` was called; else all of the work."""
    jax = sys.modules.get("jax")
    if jax is None or not jax.distributed.is_initialized():
        return Shard()
    return Shard(jax.process_index(), jax.process_count())


def lost_message(shard: Shard) -> str:
    """The message for a lost process."""
    other = f"process {1 - shard.index}" if shard.count == 2 else "another process"
    return (
        f"{other} of {shard.count} was lost: it ended before the report was done, or it cannot be reached "
        f"(this is process {shard.index}); see what it said, and start all of them again"
    )


def _itself(numbers: Array) -> Array:
    return numbers


_HEARTBEAT_SECONDS = 30
"""A process silent for this long is lost."""
_START_SECONDS = 300
"""How long processes wait for each other at the start."""
_GRACE_SECONDS = 1.0
"""How long a failed process stays, so that others with the same error report it, and not that this one was lost."""
_SIZES = {"SLURM_STEP_NODELIST": "SLURM_NTASKS", "OMPI_MCA_orte_hnp_uri": "OMPI_COMM_WORLD_SIZE"}
"""Variables by which JAX recognises SLURM's srun and Open MPI's mpirun, and those with the number of processes."""
_WRITTEN_BY_JAX = b"distributed service detected fatal errors"
"""Part of what JAX writes before it aborts."""


@contextmanager
def joined(coordinator: str | None, num_processes: int | None, process_id: int | None) -> Generator[Shard, None, None]:
    """Join the other processes of a run for a while: those given, or else those that srun or mpirun started.

    If there are others, only Python can write to stdout and stderr from here on, and the program must end by `end`.

    Raises:
        InputError: there is no such run, or it cannot start.
        ProcessLost: another process ended too early.
    """
    address = _checked(coordinator, num_processes, process_id)
    if address[1] == 1 if address else not launched(os.environ):
        yield Shard()
        return
    guard = _AbortGuard(f"not all processes of the run have come within {_START_SECONDS} seconds; start all of them")
    _guards.append(guard)
    _initialize(address)
    jax = imported_jax()
    # JAX treats SIGTERM as mere notice, and Python would act on Ctrl-C only after waiting for the others.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    shard = current_shard()
    guard.message = lost_message(shard)
    try:
        shard.total(np.zeros(1, np.int64))  # connect while all are here: later some may read files for minutes
        yield shard
    except ProcessLost:
        guard.lock.acquire()  # now the caller reports it
        raise
    jax.distributed.shutdown()


def end(code: int) -> None:
    """End the program with an exit code; after a failure, without JAX's wait for other processes."""
    if code and _guards:
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(_GRACE_SECONDS)
        os._exit(code)
    sys.exit(code)


def launched(environment: Mapping[str, str]) -> bool:
    """Whether srun or mpirun started this process and others.

    Example:
        >>> launched({"SLURM_STEP_NODELIST": "node[1-2]", "SLURM_NTASKS": "2"}), launched({"SLURM_NTASKS": "2"})
        (True, False)
    """
    return any(name in environment and environment.get(size, "1") != "1" for name, size in _SIZES.items())


def _checked(coordinator: str | None, num_processes: int | None, process_id: int | None) -> tuple[str, int, int] | None:
    if coordinator is num_processes is process_id is None:
        return None
    if coordinator is None or num_processes is None or process_id is None:
        raise InputError(
            f"{Hint('coordinator')}, {Hint('num_processes')} and {Hint('process_id')} belong together; give all three "
            "or none"
        )
    if not re.fullmatch(r".+:[0-9]{1,5}", coordinator) or not 0 < int(coordinator.rpartition(":")[2]) < 2**16:
        raise InputError(
            f"{Hint('coordinator')} must be HOST:PORT of process 0, such as node1:12345, got {coordinator!r}"
        )
    if num_processes < 1 or not 0 <= process_id < num_processes:
        raise InputError(
            f"{Hint('process_id')} must be from 0 to {Hint('num_processes')} - 1, got process {process_id} of "
            f"{num_processes}"
        )
    return coordinator, num_processes, process_id


def _initialize(address: tuple[str, int, int] | None) -> None:
    jax = imported_jax()
    initialize = partial(
        jax.distributed.initialize,
        heartbeat_timeout_seconds=_HEARTBEAT_SECONDS,
        initialization_timeout=_START_SECONDS,
    )
    try:
        if address is None:
            initialize()
        else:
            # By default, process 0 could be reached through all networks of its machine.
            bound = os.environ.get("JAX_COORDINATOR_BIND_ADDRESS", address[0])
            initialize(*address, cluster_detection_method="deactivate", coordinator_bind_address=bound)
    except (RuntimeError, ValueError) as error:
        raise InputError(
            f"the processes cannot be joined ({str(error).splitlines()[0]}); give a {Hint('coordinator', 'HOST:PORT')} "
            "whose host is that of process 0 and whose port is free"
        ) from error


_guards: list[_AbortGuard] = []
"""At most one; kept to the end, since the abort handler calls it."""


class _AbortGuard:
    """Reserves stdout and stderr for Python, and reports an abort by JAX in one line."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.lock = threading.Lock()
        """Held by whoever reports the lost process, so that only one does."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._stderr = os.dup(2)
        sys.stdout = open(os.dup(1), "w", encoding=sys.stdout.encoding)
        sys.stderr = open(self._stderr, "w", encoding=sys.stderr.encoding, errors="backslashreplace", buffering=1)
        # Libraries write connection details to stdout, and many lines before they abort.
        self._log = tempfile.TemporaryFile()
        os.dup2(self._log.fileno(), 1)
        os.dup2(self._log.fileno(), 2)
        if os.name == "posix":
            # Python's own handlers come too late: abort ends the process when the C handler returns.
            self._handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(self._on_abort)
            ctypes.CDLL(None).signal(int(signal.SIGABRT), self._handler)

    def _on_abort(self, number: int) -> None:
        del number
        written = os.pread(self._log.fileno(), 2**20, 0)
        if _WRITTEN_BY_JAX not in written:
            os.write(self._stderr, written)  # another cause: the process ends as it would have
            return
        if self.lock.acquire(blocking=False):
            os.write(self._stderr, f"sigjax: error: {self.message}\n".encode())
        else:
            time.sleep(10.0)  # the other thread ends the process
        os._exit(1)
