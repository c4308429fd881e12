"""Joining several processes to one run, for a program that does nothing else: the command line.

If another process is lost, JAX aborts this one and writes pages about it; here one line replaces them.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import numpy as np

from sigjax.records import InputError
from sigjax.run.share import ALONE, ProcessLost, Share, lost_message

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
def joined(coordinator: str | None, num_processes: int | None, process_id: int | None) -> Iterator[Share]:
    """Join the other processes of a run for a while: those given, or else those that srun or mpirun started.

    If there are others, only Python can write to stdout and stderr from here on, and the program must end by `end`.

    Raises:
        InputError: there is no such run, or it cannot start.
        ProcessLost: another process ended too early.
    """
    address = _checked(coordinator, num_processes, process_id)
    if address[1] == 1 if address else not launched(os.environ):
        yield ALONE
        return
    _tellers.append(
        teller := _Teller(f"not all processes of the run have come within {_START_SECONDS} seconds; start all of them")
    )
    _initialize(address)
    import jax

    # JAX treats SIGTERM as mere notice, and Python would act on Ctrl-C only after waiting for the others.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    share = Share(jax.process_index(), jax.process_count())
    teller.message = lost_message(share)
    try:
        share.total(np.zeros(1, np.int64))  # connect while all are here: later some may read files for minutes
        yield share
    except ProcessLost:
        teller.lock.acquire()  # now the caller reports it
        raise
    jax.distributed.shutdown()


def end(code: int) -> None:
    """End the program with an exit code; after a failure, without JAX's wait for other processes."""
    if code and _tellers:
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
        raise InputError("--coordinator, --num-processes and --process-id belong together; give all three or none")
    if not re.fullmatch(r".+:[0-9]{1,5}", coordinator) or not 0 < int(coordinator.rpartition(":")[2]) < 2**16:
        raise InputError(f"--coordinator must be HOST:PORT of process 0, such as node1:12345, got {coordinator!r}")
    if num_processes < 1 or not 0 <= process_id < num_processes:
        raise InputError(
            f"--process-id must be from 0 to --num-processes - 1, got process {process_id} of {num_processes}"
        )
    return coordinator, num_processes, process_id


def _initialize(address: tuple[str, int, int] | None) -> None:
    import jax

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
            f"the processes cannot be joined ({str(error).splitlines()[0]}); give a --coordinator HOST:PORT whose host "
            "is that of process 0 and whose port is free"
        ) from error


_tellers: list[_Teller] = []
"""At most one; kept to the end, since the abort handler calls it."""


class _Teller:
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
