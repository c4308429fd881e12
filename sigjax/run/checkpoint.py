"""The state of a run in a file, so that a run that was killed goes on from there.

Random words depend on the seed and the resample alone. So the state of a stage (one test of one metric) is how many
resamples are done and what was made of them, and what is made of the rest is the same as without a break. The file is
an .npz archive without pickle: a JSON header, and the arrays of every stage begun. It appears whole or not at all.
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
"""Between two states, at least."""
_SHARE = 0.1
"""Part of the time that writing may take."""
_SAME_SCORE = 1e-9
"""Relative difference of two scores from which they are not those of one metric: rounding is far below."""

Name = tuple[str, ...]


class State(NamedTuple):
    """What a stage has reached."""

    done: int
    """Resamples before this one are done."""
    arrays: dict[str, np.ndarray]


class Checkpoint:
    """The states of all stages of a run: those given, those found in the file, and those reached since.

    Args:
        path: the file, made when it does not exist; None to write nothing.
        identity: what the run is of; a file of another one is refused.
        states: what is known from elsewhere.
        kept: whether states are kept, by this process or by another one of the run; by default where there is a file.

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
        """Take note of a state, and write all if the stage is finished or the last time is long enough ago."""
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
        """What this stage has reached."""
        return self.checkpoint.states.get(self.name)

    def save(self, done: int, **arrays: np.ndarray) -> None:
        """Keep what this stage has reached, when it is time to."""
        self.checkpoint.save(self.name, State(done, arrays), finished=False)

    def finish(self, done: int, **arrays: np.ndarray) -> None:
        """Keep what this stage has come to."""
        self.checkpoint.save(self.name, State(done, arrays), finished=True)

    def check_scores(self, scores: np.ndarray) -> None:
        """Refuse scores `[system]` that are not those of the earlier run: a metric of the same name is another one."""
        state = self.state()
        if state is None:
            self.finish(0, scores=scores)
        elif not np.allclose(state.arrays["scores"], scores, rtol=_SAME_SCORE, atol=0.0):
            raise InputError(
                f"metric {self.name[0]!r} gives other scores than in the run that is to go on; give the same metric, "
                "or start anew"
            )


NO_STAGE = Stage(Checkpoint(None, {}, {}))
"""Where nothing is kept."""


def pack(file: IO[bytes], identity: Identity, states: Mapping[Name, State]) -> None:
    """Write what a checkpoint holds."""
    np.savez(file, **_packed(identity, states))  # pyright: ignore[reportArgumentType]


def unpack(file: IO[bytes]) -> tuple[dict[str, Any], dict[Name, State]]:
    """The header and the states that `pack` has written; any error where the file is damaged."""
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
        # NumPy does not see damage that makes an array shorter, and gives bytes where no array begins.
        if archive.zip.testzip() is not None or not all(isinstance(each, np.ndarray) for each in arrays.values()):
            raise ValueError("damaged")
        header = json.loads(arrays["header"].tobytes())
        return {**header, "run": {**header["run"]}}, {
            tuple(stage["name"]): State(stage["done"], {name: arrays[f"{place}.{name}"] for name in stage["arrays"]})
            for place, stage in enumerate(header["stages"])
        }


def _packed(identity: Identity, states: Mapping[Name, State]) -> dict[str, np.ndarray]:
    stages = [{"name": name, "done": state.done, "arrays": [*state.arrays]} for name, state in states.items()]
    header = json.dumps({"schema": _SCHEMA, "run": identity, "stages": stages})
    arrays = {
        f"{place}.{name}": array for place, state in enumerate(states.values()) for name, array in state.arrays.items()
    }
    return {"header": np.frombuffer(header.encode(), np.uint8)} | arrays


def _load(path: str | os.PathLike[str], identity: Identity) -> dict[Name, State]:
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise InputError(f"{path}: is a device or a named pipe; expected a file for the checkpoint")
    header, stages = _read(path)
    if header.get("schema") != _SCHEMA:
        raise InputError(f"{path}: is no checkpoint as this version of sigjax writes it; give another file")
    found = difference(header["run"], identity)
    if found:
        raise InputError(f"{path}: the checkpoint is of another run: {found}; give the same, or another file")
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
