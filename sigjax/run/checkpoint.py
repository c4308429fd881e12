"""The states of a run: in a file, from which a killed run continues, or of an earlier report with fewer resamples.

What determines a report is its fingerprint: the data, the settings and the version. Random words depend on the seed
and the resample alone. So the state of a test of one metric, kept under a key, is the number of resamples done and
their results, and the rest is the same as without a break. The file is an .npz archive without pickle: a JSON header
and the arrays of every state. It is replaced atomically.

More resamples extend the list of those already drawn, so the counts of a permutation test continue from those of a
report. Standard errors, intervals and bootstrap tests need all replicates, which a report does not hold: these are
drawn again, and exact p-values are computed again. Either way the new report equals that of a fresh run.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import IO, Any, cast

import numpy as np

from sigjax.records import EvaluationRecord, InputError, Settings
from sigjax.run.files import read_bytes, remove_leftovers, replacing
from sigjax.run.shards import Shard
from sigjax.version import __version__

_LOG = logging.getLogger("sigjax")
SCHEMA = "sigjax/1"
"""Of reports in JSON."""
DEFAULTS: Mapping[str, Any] = MappingProxyType(json.loads(json.dumps(asdict(Settings()))))
"""Of the settings, as JSON has them: what a run had that is older than a setting."""
Key = tuple[str, ...]
"""Of a state: the metric, the test, and what it consists of."""
Identity = dict[str, Any]
"""Values as JSON has them: `sigjax` (the version), the settings, `systems`, `metrics`, `instances`, `data` (a hash)."""
_SCHEMA = "sigjax-checkpoint/1"
_SECONDS = 5.0
"""Least time between two writes."""
_FRACTION = 0.1
"""Of the time, that writing may take."""
_SAME_SCORE = 1e-9
"""Relative difference above which two scores are of different metrics; rounding is far below."""


def data_hash(evaluations: Sequence[EvaluationRecord]) -> str:
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


def identity_of(evaluations: Sequence[EvaluationRecord], settings: Settings) -> Identity:
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
    there, here = ({**DEFAULTS, **each} for each in (there, here))
    for name in dict.fromkeys((*here, *there)):
        old: Any = there.get(name)
        new: Any = here.get(name)
        if old == new:
            continue
        if name == "data":
            return "the data (numbers, ids, clusters, strata, or the order of the systems) are others"
        if type(old) is type(new) is list:
            only = [*_only_in(old, new, "there"), *_only_in(new, old, "here")]
            return f"{name} differ: {' and '.join(only) or 'their order'}"
        return f"{name} is {old} there and {new} here"
    return None


def _only_in(values: list[Any], others: list[Any], where: str) -> Iterator[str]:
    """The first values that the others lack, in words, if there are any."""
    known = set(others)
    if more := [value for value in values if value not in known]:
        rest = f" and {len(more) - 3:,} more" if len(more) > 3 else ""
        yield f"{', '.join(map(repr, more[:3]))}{rest} only {where}"


@dataclass(frozen=True, slots=True)
class State:
    """The progress of a test."""

    done: int
    """Resamples before this one are done."""
    arrays: dict[str, np.ndarray]


class CheckpointFile:
    """The states of a run: those given, those in the file, and those reached since.

    Args:
        path: the file, created if it does not exist; None to write nothing.
        identity: the fingerprint of the run; a file with another one is refused.
        states: states known from elsewhere.
        is_kept: whether any process of the run keeps states; by default, whether there is a file.

    Raises:
        InputError: the file cannot be read or written, is no checkpoint, or belongs to other data or settings.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        identity: Identity,
        states: Mapping[Key, State],
        *,
        is_kept: bool | None = None,
    ) -> None:
        self.states, self.is_kept = dict(states), path is not None if is_kept is None else is_kept
        self._path, self._identity = path, identity
        self._due = time.monotonic() + _SECONDS
        if path is None:
            return
        remove_leftovers(path)
        if os.path.lexists(path):
            earlier = _load(path, identity)
            self.states |= earlier
            if kept := _in_words(earlier):
                _LOG.info("sigjax: goes on from %s: %s", path, kept)
            return
        try:
            self._write()
        except OSError as error:
            raise InputError(f"{path}: no checkpoint can be written ({error.strerror}); give another file") from None

    def save(self, key: Key, state: State, *, finished: bool) -> None:
        """Note a state, and write all if it is the last or the last write was long enough ago."""
        if self._path is None or not (finished or time.monotonic() >= self._due):
            return
        self.states[key] = state
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
        self._due = now + max(_SECONDS, (now - started) / _FRACTION)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state under one key, and those under all longer keys."""

    file: CheckpointFile
    key: Key = ()

    @property
    def is_kept(self) -> bool:
        """Whether any process keeps states."""
        return self.file.is_kept

    def at(self, name: str) -> Checkpoint:
        """The checkpoint under this key and a name."""
        return replace(self, key=(*self.key, name))

    def state(self) -> State | None:
        """The state under this key, if any."""
        return self.file.states.get(self.key)

    def save(self, done: int, **arrays: np.ndarray) -> None:
        """Keep the progress, if a write is due."""
        self.file.save(self.key, State(done, arrays), finished=False)

    def finish(self, done: int, **arrays: np.ndarray) -> None:
        """Keep the result."""
        self.file.save(self.key, State(done, arrays), finished=True)

    def check_scores(self, scores: np.ndarray) -> None:
        """Refuse scores `[system]` that differ from the earlier run's: another metric has the same name."""
        state = self.state()
        if state is None:
            self.finish(0, scores=scores)
        elif not np.allclose(state.arrays["scores"], scores, rtol=_SAME_SCORE, atol=0.0):
            raise InputError(
                f"metric {self.key[0]!r} gives other scores than in the run that is to go on; give the same metric, "
                "or start anew"
            )


NO_CHECKPOINT = Checkpoint(CheckpointFile(None, {}, {}))
"""Keeps nothing."""


def pack(file: IO[bytes], identity: Identity, states: Mapping[Key, State]) -> None:
    """Write a checkpoint."""
    stages = [{"name": key, "done": state.done, "arrays": [*state.arrays]} for key, state in states.items()]
    header = json.dumps({"schema": _SCHEMA, "run": identity, "stages": stages})
    arrays = {
        f"{index}.{name}": array for index, state in enumerate(states.values()) for name, array in state.arrays.items()
    }
    np.savez(file, header=np.frombuffer(header.encode(), np.uint8), **arrays)  # pyright: ignore[reportArgumentType]


def unpack(file: IO[bytes]) -> tuple[dict[str, Any], dict[Key, State]]:
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


def _load(path: str | os.PathLike[str], identity: Identity) -> dict[Key, State]:
    """The states in the file of a run with this fingerprint."""
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise InputError(f"{path}: is a device or a named pipe; expected a file for the checkpoint")
    try:
        with open(path, "rb") as file:
            header, states = unpack(file)
    except OSError as error:
        raise InputError(f"{path}: the checkpoint cannot be read ({error.strerror}); give another file") from None
    except Exception:  # NumPy and zipfile raise a dozen kinds for damaged files
        raise InputError(
            f"{path}: is no checkpoint, or a damaged one; give another file, or delete this one to start anew"
        ) from None
    if header.get("schema") != _SCHEMA:
        raise InputError(f"{path}: is no checkpoint as this version of sigjax writes it; give another file")
    if differs := difference(header["run"], identity):
        raise InputError(f"{path}: the checkpoint is of another run: {differs}; give the same, or another file")
    return states


_REFUSED = b"refused: "


def open_checkpoint(
    path: str | os.PathLike[str] | None,
    extend: Any,
    identify: Callable[[], Identity],
    pairs: Sequence[tuple[str, str]],
    shard: Shard,
) -> Checkpoint:
    """The checkpoint of a run, with the states known so far; `pairs` are the names of the systems of each pair.

    Where several processes divide the work, process 0 reads and writes the checkpoint for all of them; the others have
    its states, without the file.

    Raises:
        InputError: the checkpoint or the report cannot be used, or another process has other data or options.
    """
    if path is None and extend is None and shard.count == 1:
        return NO_CHECKPOINT
    identity = identify()
    known = {} if extend is None else states_of_report(extend, identity, pairs)
    if shard.count == 1:
        return Checkpoint(CheckpointFile(path, identity, known))
    settings = {name: value for name, value in identity.items() if name not in ("sigjax", "data")}
    states = [(key, state.done, [array.tolist() for array in state.arrays.values()]) for key, state in known.items()]
    shard.check_equal(
        {
            "another version of sigjax": __version__.encode(),
            "other data": identity["data"].encode(),
            "other options": repr((settings, path is not None)).encode(),
            "another report to extend": repr(sorted(states)).encode(),
        }
    )
    file, data = CheckpointFile(None, identity, known, is_kept=path is not None), b""
    if path is None:
        return Checkpoint(file)
    if shard.index == 0:
        try:
            file = CheckpointFile(path, identity, known)
            pack(packed := io.BytesIO(), identity, file.states)
            data = packed.getvalue()
        except InputError as error:
            data = _REFUSED + error.neutral.encode()
    data = shard.broadcast(data)
    if data.startswith(_REFUSED):
        raise InputError(data.removeprefix(_REFUSED).decode())
    if shard.index > 0:
        file.states |= unpack(io.BytesIO(data))[1]
    return Checkpoint(file)


def kept_in(path: str | os.PathLike[str]) -> str:
    """What a checkpoint keeps, in words: the resamples of each test; nothing where it is none or has just begun."""
    try:
        with open(path, "rb") as file:
            return _in_words(unpack(file)[1])
    except Exception:  # the run itself says what is wrong with the file
        return ""


def _in_words(states: Mapping[Key, State]) -> str:
    """The resamples of each test."""
    done = {key: state.done for key, state in states.items() if state.done}
    named = {" ".join(name for name in key if not name.startswith("from ")): count for key, count in done.items()}
    return ", ".join(f"{name} {count:,} resamples" for name, count in named.items())


def states_of_report(earlier: Any, identity: Identity, pairs: Sequence[tuple[str, str]]) -> dict[Key, State]:
    """The states of a run, from a report on the same data and settings with fewer resamples.

    `earlier` is a report, or its JSON file; `pairs` are the names of the systems of each pair, in the order of the run.

    Raises:
        InputError: the file is not a report in JSON, has other data or settings, or was edited; or there is nothing
            to add.
    """
    name = "the earlier report"
    if isinstance(earlier, str | os.PathLike):
        path = cast("str | os.PathLike[str]", earlier)
        name = str(path)
        report = parse_report(name, read_bytes(path))
    elif hasattr(earlier, "to_json"):
        report = json.loads(earlier.to_json())
    else:
        raise InputError(f"extend must be a Report or the path of its JSON file, got {earlier!r}")
    try:
        return _states(name, report, identity, pairs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: not a report in JSON as this version of sigjax writes it; compare anew") from None


def parse_report(name: str, content: str | bytes) -> dict[str, Any]:
    """The JSON of a report; `name` is that of the file, for messages.

    Raises:
        InputError: it is not JSON, or JSON of something else.
    """
    try:
        report: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{name}: not JSON; give a report that was written as JSON") from None
    schema = report.get("schema") if hasattr(report, "get") else None
    if schema != SCHEMA:
        of = "no schema" if schema is None else f"the schema {schema!r}"
        raise InputError(f"{name}: has {of}, expected {SCHEMA!r}: the JSON of `sigjax compare`")
    return report


def _states(
    name: str, report: dict[str, Any], identity: Identity, pairs: Sequence[tuple[str, str]]
) -> dict[Key, State]:
    there = _identity(report)
    old, new = there["resamples"], identity["resamples"]
    differs = difference(there | {"resamples": new}, identity)
    if differs:
        raise InputError(f"{name}: a report of another run: {differs}; give the same, or compare anew")
    if "auto" in (old, new):
        raise InputError(f"{name}: with resamples auto there is nothing to add; give a report of a number of resamples")
    if type(old) is not int:
        raise ValueError(old)
    if new <= old:
        raise InputError(f"{name}: has {old} resamples; resamples is the new total and must be larger, got {new}")
    states: dict[Key, State] = {}
    for metric in identity["metrics"]:
        if "permutation" in identity["tests"]:
            rows = [row for row in report["pairs"] if row["metric"] == metric and row["test"] == "permutation"]
            counts = _counts(name, rows, pairs, old)
            states[metric, "permutation", "from 0"] = State(old, {"counts": counts})
        scores = {each["name"]: each["score"] for each in report["systems"] if each["metric"] == metric}
        states[metric, "scores"] = State(0, {"scores": np.array([scores[each] for each in there["systems"]], float)})
    return states


def _counts(name: str, rows: list[dict[str, Any]], pairs: Sequence[tuple[str, str]], resamples: int) -> np.ndarray:
    """Counts of extreme resamples of the sampled pairs, checked against their p-values."""
    if [(row["a"], row["b"]) for row in rows] != list(pairs):
        raise InputError(f"{name}: the pairs are not those of the run, or not in its order; compare anew")
    sampled = [row for row in rows if row["method"] == "montecarlo" or row["exceed"] is not None]
    for row in sampled:
        exceed = row["exceed"]
        counted = type(exceed) is int and 0 <= exceed <= resamples
        drawn = row["method"] == "montecarlo" and row["resamples"] == resamples
        if not (counted and drawn and row["p_value"] == (exceed + 1) / (resamples + 1)):
            raise InputError(
                f"{name}: method, exceed, resamples and p_value of {row['a']!r} and {row['b']!r} are not those of "
                f"{resamples} resamples, so the report was changed; compare anew"
            )
    return np.array([row["exceed"] for row in sampled], np.int64)


def _identity(report: dict[str, Any]) -> Identity:
    """The fingerprint of the report's run."""
    systems, version = report["systems"], report["signature"].rpartition("|sigjax:")[2]
    identity = {"sigjax": version} | {name: value for name, value in report["settings"].items() if name != "units"}
    identity["systems"] = sorted({each["name"] for each in systems})
    identity["metrics"] = list(dict.fromkeys(each["metric"] for each in systems))
    return identity
