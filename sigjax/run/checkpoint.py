"""The state of a run in a file, from which a killed run continues.

Random words depend on the seed and the resample alone. So the state of a stage (one test of one metric) is the number
of resamples done and their results, and the rest is the same as without a break. The file is an .npz archive without
pickle: a JSON header and the arrays of every stage begun. It is replaced atomically.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

import numpy as np

from sigjax.files.writing import replacing
from sigjax.records import InputError
from sigjax.run.fingerprint import Identity, difference

_SCHEMA = "sigjax-checkpoint/1"
_SECONDS = 5.0
"""Least time between two writes."""
_SHARE = 0.1
"""Fraction of the time that writing may take."""
_SAME_SCORE = 1e-9
"""Relative difference above which two scores are of different metrics; rounding is far below."""

Name = tuple[str, ...]


class State(NamedTuple):
    """The progress of a stage."""

    done: int
    """Resamples before this one are done."""
    arrays: dict[str, np.ndarray]


class Checkpoint:
    """The states of all stages of a run: those given, those in the file, and those reached since.

    Args:
        path: the file, created if it does not exist; None to write nothing.
        identity: the fingerprint of the run; a file with another one is refused.
        states: states known from elsewhere.
        kept: whether any process of the run keeps states; by default, whether there is a file.

    Raises:
        InputError: the file cannot be read or written, is no checkpoint, or belongs to other data or settings.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        identity: Identity,
        states: Mapping[Name, State],
        *,
        kept: bool | None = None,
    ) -> None:
        self.states, self.kept = dict(states), path is not None if kept is None else kept
        self._path, self._identity = path, identity
        self._due = time.monotonic() + _SECONDS
        if path is None:
            return
        if os.path.lexists(path):
            self.states |= _load(path, identity)
            return
        try:
            self._write()
        except OSError as error:
            raise InputError(f"{path}: no checkpoint can be written ({error.strerror}); give another file") from None

    def save(self, name: Name, state: State, *, finished: bool) -> None:
        """Note a state, and write all if the stage is finished or the last write was long enough ago."""
        if self._path is None or not (finished or time.monotonic() >= self._due):
            return
        self.states[name] = state
        try:
            self._write()
        except OSError as error:
            message = f"{self._path}: the checkpoint cannot be written ({error.strerror}); the run goes on without"
            warnings.warn(message, RuntimeWarning, stacklevel=2)

    def _write(self) -> None:
        started = time.monotonic()
        with replacing(self._path or "", alone=True) as file:
            pack(file, self._identity, self.states)
            file.flush()
            os.fsync(file.fileno())
        now = time.monotonic()
        self._due = now + max(_SECONDS, (now - started) / _SHARE)


class Stage(NamedTuple):
    """One stage of a run, or a group of stages."""

    checkpoint: Checkpoint
    name: Name = ()

    @property
    def kept(self) -> bool:
        """Whether any process keeps states."""
        return self.checkpoint.kept

    def part(self, name: str) -> Stage:
        """A stage within this one."""
        return self._replace(name=(*self.name, name))

    def state(self) -> State | None:
        """The progress of this stage, if any."""
        return self.checkpoint.states.get(self.name)

    def save(self, done: int, **arrays: np.ndarray) -> None:
        """Keep the progress of this stage, if a write is due."""
        self.checkpoint.save(self.name, State(done, arrays), finished=False)

    def finish(self, done: int, **arrays: np.ndarray) -> None:
        """Keep the result of this stage."""
        self.checkpoint.save(self.name, State(done, arrays), finished=True)

    def check_scores(self, scores: np.ndarray) -> None:
        """Refuse scores `[system]` that differ from the earlier run's: another metric has the same name."""
        state = self.state()
        if state is None:
            self.finish(0, scores=scores)
        elif not np.allclose(state.arrays["scores"], scores, rtol=_SAME_SCORE, atol=0.0):
            raise InputError(
                f"metric {self.name[0]!r} gives other scores than in the run that is to go on; give the same metric, "
                "or start anew"
            )


NO_STAGE = Stage(Checkpoint(None, {}, {}))
"""Keeps nothing."""


def pack(file: IO[bytes], identity: Identity, states: Mapping[Name, State]) -> None:
    """Write a checkpoint."""
    np.savez(file, **_packed(identity, states))  # pyright: ignore[reportArgumentType]


def unpack(file: IO[bytes]) -> tuple[dict[str, Any], dict[Name, State]]:
    """The header and states written by `pack`; a damaged file may raise any error."""
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
        # NumPy misses damage that shortens an array, and returns bytes where no array begins.
        if archive.zip.testzip() is not None or not all(isinstance(each, np.ndarray) for each in arrays.values()):
            raise ValueError("damaged")
        header = json.loads(arrays["header"].tobytes())
        return {**header, "run": {**header["run"]}}, {
            tuple(stage["name"]): State(stage["done"], {name: arrays[f"{index}.{name}"] for name in stage["arrays"]})
            for index, stage in enumerate(header["stages"])
        }


def _packed(identity: Identity, states: Mapping[Name, State]) -> dict[str, np.ndarray]:
    stages = [{"name": name, "done": state.done, "arrays": [*state.arrays]} for name, state in states.items()]
    header = json.dumps({"schema": _SCHEMA, "run": identity, "stages": stages})
    arrays = {
        f"{index}.{name}": array for index, state in enumerate(states.values()) for name, array in state.arrays.items()
    }
    return {"header": np.frombuffer(header.encode(), np.uint8)} | arrays


def _load(path: str | os.PathLike[str], identity: Identity) -> dict[Name, State]:
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise InputError(f"{path}: is a device or a named pipe; expected a file for the checkpoint")
    header, stages = _read(path)
    if header.get("schema") != _SCHEMA:
        raise InputError(f"{path}: is no checkpoint as this version of sigjax writes it; give another file")
    differs = difference(header["run"], identity)
    if differs:
        raise InputError(f"{path}: the checkpoint is of another run: {differs}; give the same, or another file")
    return stages


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[Name, State]]:
    try:
        with open(path, "rb") as file:
            return unpack(file)
    except OSError as error:
        raise InputError(f"{path}: the checkpoint cannot be read ({error.strerror}); give another file") from None
    except Exception:  # NumPy and zipfile raise a dozen kinds for damaged files
        raise InputError(
            f"{path}: is no checkpoint, or a damaged one; give another file, or delete this one to start anew"
        ) from None
