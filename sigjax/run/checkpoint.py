"""The state of a run in a file, from which a killed run continues, and the fingerprint that tells runs apart.

The fingerprint is what determines a report: the data, the settings and the version. Runs with the same one can be
joined. Random words depend on the seed and the resample alone. So the state of a stage (one test of one metric) is the
number of resamples done and their results, and the rest is the same as without a break. The file is an .npz archive
without pickle: a JSON header and the arrays of every stage begun. It is replaced atomically.

Continuing a run: from a checkpoint, or from an earlier report with fewer resamples.

More resamples extend the list of those already drawn, so the counts of a permutation test continue from those of the
report. Standard errors, intervals and bootstrap tests need all replicates, which a report does not hold: these are
drawn again, and exact p-values are computed again. Either way the new report equals that of a fresh run.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import IO, Any, NamedTuple

import numpy as np

from sigjax.records import Evaluation, InputError, Settings
from sigjax.run.files import read_bytes, remove_leftovers, replacing
from sigjax.run.shards import Share, current_share
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


_REFUSED = b"refused: "


def stages_of(
    checkpoint: str | os.PathLike[str] | None,
    extend: Any,
    identify: Callable[[], Identity],
    pairs: Sequence[tuple[str, str]],
) -> Stage:
    """All stages of a run, with the states known so far; `pairs` are the names of the systems of each pair.

    Where several processes share the work, process 0 reads and writes the checkpoint for all of them.

    Raises:
        InputError: the checkpoint or the report cannot be used, or another process does something else.
    """
    share = current_share()
    if checkpoint is None and extend is None and share.count == 1:
        return NO_STAGE
    identity = identify()
    known = {} if extend is None else earlier_states(extend, identity, pairs)
    if share.count > 1:
        _check_alike(share, identity, known, kept=checkpoint is not None)
    if checkpoint is None:
        return Stage(Checkpoint(None, identity, known)) if known else NO_STAGE
    return Stage(
        Checkpoint(checkpoint, identity, known) if share.count == 1 else _shared(share, checkpoint, identity, known)
    )


def kept_in(path: str | os.PathLike[str]) -> str:
    """What a checkpoint keeps, in words: the resamples of each test; nothing where it is none or has just begun."""
    try:
        with open(path, "rb") as file:
            states = unpack(file)[1]
    except Exception:  # the run itself says what is wrong with the file
        return ""
    done = {name: state.done for name, state in states.items() if state.done}
    named = {" ".join(part for part in name if not part.startswith("from ")): count for name, count in done.items()}
    return ", ".join(f"{name} {count:,} resamples" for name, count in named.items())


def _shared(share: Share, path: str | os.PathLike[str], identity: Identity, known: Mapping[Name, State]) -> Checkpoint:
    """The checkpoint of process 0, and in the other processes its states, without the file."""
    mine, data = Checkpoint(None, identity, known, kept=True), b""
    if share.index == 0:
        try:
            mine = Checkpoint(path, identity, known)
            pack(file := io.BytesIO(), identity, mine.states)
            data = file.getvalue()
        except InputError as error:
            data = _REFUSED + error.neutral.encode()
    data = share.first(data)
    if data.startswith(_REFUSED):
        raise InputError(data.removeprefix(_REFUSED).decode())
    if share.index > 0:
        mine.states |= unpack(io.BytesIO(data))[1]
    return mine


def _check_alike(share: Share, identity: Identity, known: Mapping[Name, State], *, kept: bool) -> None:
    """Refuse differences between the processes that share the work.

    Raises:
        InputError: another process has other data or options.
    """
    options = {name: value for name, value in identity.items() if name not in ("sigjax", "data")}
    states = [(name, state.done, [array.tolist() for array in state.arrays.values()]) for name, state in known.items()]
    share.check_alike(
        {
            "another version of sigjax": __version__.encode(),
            "other data": identity["data"].encode(),
            "other options": repr((options, kept)).encode(),
            "another report to extend": repr(sorted(states)).encode(),
        }
    )


def earlier_states(earlier: Any, identity: Identity, pairs: Sequence[tuple[str, str]]) -> dict[Name, State]:
    """The states of a run, from a report on the same data and settings with fewer resamples.

    `earlier` is a report, or its JSON file; `pairs` are the names of the systems of each pair, in the order of the run.

    Raises:
        InputError: the file is not a report in JSON, has other data or settings, or was edited; or there is nothing
            to add.
    """
    name, report = _read_checkpoint(earlier)
    try:
        return _states(name, report, identity, pairs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: not a report in JSON as this version of sigjax writes it; compare anew") from None


def _read_checkpoint(earlier: Any) -> tuple[str, dict[str, Any]]:
    """The report's name in messages, and its JSON."""
    if not isinstance(earlier, str | os.PathLike):
        if not hasattr(earlier, "to_json"):
            raise InputError(f"extend must be a Report or the path of its JSON file, got {earlier!r}")
        return "the earlier report", json.loads(earlier.to_json())
    return str(earlier), parse_report(str(earlier), read_bytes(earlier))


def parse_report(name: str, content: str | bytes) -> dict[str, Any]:
    """The JSON of a report; `name` is that of the file, for messages.

    Raises:
        InputError: it is not JSON, or JSON of something else.
    """
    try:
        report = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{name}: not JSON; give a report that was written as JSON") from None
    schema = report.get("schema") if isinstance(report, dict) else None
    if schema != SCHEMA:
        of = "no schema" if schema is None else f"the schema {schema!r}"
        raise InputError(f"{name}: has {of}, expected {SCHEMA!r}: the JSON of `sigjax compare`")
    return report


def _states(
    name: str, report: dict[str, Any], identity: Identity, pairs: Sequence[tuple[str, str]]
) -> dict[Name, State]:
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
    states: dict[Name, State] = {}
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
        if not _fits(row, resamples):
            raise InputError(
                f"{name}: method, exceed, resamples and p_value of {row['a']!r} and {row['b']!r} are not those of "
                f"{resamples} resamples, so the report was changed; compare anew"
            )
    return np.array([row["exceed"] for row in sampled], np.int64)


def _fits(row: dict[str, Any], resamples: int) -> bool:
    """Whether a run with this many resamples writes these numbers."""
    exceed = row["exceed"]
    if type(exceed) is not int or not 0 <= exceed <= resamples:
        return False
    same = row["method"] == "montecarlo" and row["resamples"] == resamples
    return same and row["p_value"] == (exceed + 1) / (resamples + 1)


def _identity(report: dict[str, Any]) -> Identity:
    """The fingerprint of the report's run."""
    systems, version = report["systems"], report["signature"].rpartition("|sigjax:")[2]
    identity = {"sigjax": version} | {name: value for name, value in report["settings"].items() if name != "units"}
    identity["systems"] = sorted({each["name"] for each in systems})
    identity["metrics"] = list(dict.fromkeys(each["metric"] for each in systems))
    return identity
