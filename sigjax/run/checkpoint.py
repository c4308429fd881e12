"""The state of a run in a file, from which a killed run continues, and the fingerprint that tells runs apart.

The fingerprint is what determines a report: the data, the settings and the version. Runs with the same one can be
joined. Random words depend on the seed and the resample alone. So the state of a stage (one test of one metric) is the
number of resamples done and their results, and the rest is the same as without a break. The file is an .npz archive
without pickle: a JSON header and the arrays of every stage begun. It is replaced atomically.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import IO, Any, NamedTuple

import numpy as np

from sigjax.files.writing import remove_leftovers, replacing
from sigjax.records import Evaluation, InputError, Settings
from sigjax.version import __version__

SCHEMA = "sigjax/1"
"""Of reports in JSON."""
_ADDED = {"family": "metric", "leaderboard": False}
"""Values, in earlier runs, of settings that were added later."""
Name = tuple[str, ...]
"""Of a stage: from the metric to its parts."""
Identity = dict[str, Any]
"""Values as JSON has them: `sigjax` (the version), the settings, `systems`, `metrics`, `instances`, `data` (a hash)."""
_SCHEMA = "sigjax-checkpoint/1"
_SECONDS = 5.0
"""Least time between two writes."""
_SHARE = 0.1
"""Fraction of the time that writing may take."""
_SAME_SCORE = 1e-9
"""Relative difference above which two scores are of different metrics; rounding is far below."""


def data_hash(evaluations: Sequence[Evaluation]) -> str:
    """The first 16 hexadecimal digits of a SHA-256 hash of evaluations, without notes and functions.

    Example:
        >>> from sigjax import Evaluation
        >>> data_hash([Evaluation.from_arrays({"A": [1, 0, 1], "B": [0, 0, 1]})])
        '7707a855038354e9'
    """
    digest = hashlib.sha256()
    for each in evaluations:
        labels = (each.metric.name, each.metric.stat_names, each.systems, each.ids, each.clusters, each.strata)
        labels += () if each.runs is None else (each.runs,)
        labels += () if each.unit == "instance" else (each.unit,)
        labels += () if each.present is None else (np.packbits(each.present).tobytes().hex(),)
        stats = np.ascontiguousarray(each.stats, each.stats.dtype.newbyteorder("<"))
        digest.update(json.dumps((*labels, stats.dtype.str, stats.shape)).encode())
        digest.update(stats.data)
    return digest.hexdigest()[:16]


def identity_of(evaluations: Sequence[Evaluation], settings: Settings) -> Identity:
    """The fingerprint of a run."""
    first = evaluations[0]
    identity = {"sigjax": __version__} | asdict(settings)
    identity |= {"systems": sorted(first.systems), "metrics": [each.metric.name for each in evaluations]}
    identity |= {"instances": first.num_instances, "data": data_hash(evaluations)}
    return json.loads(json.dumps(identity))


def difference(there: Identity, here: Identity) -> str | None:
    """The first difference between two runs, in words, or None.

    Example:
        >>> difference({"seed": 7, "data": "ab"}, {"seed": 8, "data": "cd"})
        'seed is 7 there and 8 here'
        >>> difference({"seed": 7, "data": "ab"}, {"seed": 7, "data": "cd"})
        'the data (numbers, ids, clusters, strata, or the order of the systems) are others'
    """
    # A setting newer than a report had its default there.
    there, here = (json.loads(json.dumps(asdict(Settings()))) | each for each in (there, here))
    for name in dict.fromkeys((*here, *there)):
        old, new = (run.get(name, _ADDED.get(name)) for run in (there, here))
        if old == new:
            continue
        if name == "data":
            return "the data (numbers, ids, clusters, strata, or the order of the systems) are others"
        if isinstance(old, list) and isinstance(new, list):
            only = [f"{', '.join(map(repr, more[:3]))} only {where}" for more, where in _apart(old, new) if more]
            return f"{name} differ: {' and '.join(only) or 'their order'}"
        return f"{name} is {old} there and {new} here"
    return None


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
        remove_leftovers(path)
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
        with replacing(self._path or "") as file:
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
    stages = [{"name": name, "done": state.done, "arrays": [*state.arrays]} for name, state in states.items()]
    header = json.dumps({"schema": _SCHEMA, "run": identity, "stages": stages})
    arrays = {
        f"{index}.{name}": array for index, state in enumerate(states.values()) for name, array in state.arrays.items()
    }
    np.savez(file, header=np.frombuffer(header.encode(), np.uint8), **arrays)  # pyright: ignore[reportArgumentType]


def unpack(file: IO[bytes]) -> tuple[dict[str, Any], dict[Name, State]]:
    """The header and states written by `pack`; a damaged file may raise any error."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        if sum(member.file_size for member in archive.zip.infolist()) > size:
            raise ValueError("packed")  # `pack` packs nothing, so that this would grow without limit
        arrays = {name: archive[name] for name in archive.files}
        # NumPy misses damage that shortens an array, and returns bytes where no array begins.
        if archive.zip.testzip() is not None or not all(isinstance(each, np.ndarray) for each in arrays.values()):
            raise ValueError("damaged")
        header = json.loads(arrays["header"].tobytes())
        return {**header, "run": {**header["run"]}}, {
            tuple(stage["name"]): State(stage["done"], {name: arrays[f"{index}.{name}"] for name in stage["arrays"]})
            for index, stage in enumerate(header["stages"])
        }


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


def _apart(old: list[Any], new: list[Any]) -> tuple[tuple[list[Any], str], tuple[list[Any], str]]:
    return ([each for each in old if each not in new], "there"), ([each for each in new if each not in old], "here")
