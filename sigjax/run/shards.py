"""Shards: files with the results of some or all resamples of a run. They allow work to be resumed, extended or divided.

The random numbers of a resample depend only on the seed and the index of the resample. So a run can be divided into
shards: shard K of N has the K-th range of the resamples of each test. Shards can be made on any machine and in any
order. The results of one test in a shard are called a tally: counts of extreme resamples, or replicates (scores on
resamples). A merge adds up the counts and joins the replicates of all shards. The report is the same as the report of a
single process. A checkpoint is an unfinished shard. An extended report begins with the counts of the earlier report.
Standard errors, intervals and bootstrap tests need all replicates, which a report does not hold, so they are drawn
again.

The fingerprint of a run (its identity) contains everything that determines its report: the data, the settings and the
version. A shard with another fingerprint is refused. The file is an .npz archive without pickle: a JSON header and the
arrays of all tallies. A new version replaces the file completely or not at all.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shlex
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import IO, Any, cast

import numpy as np

from sigjax.records import EvaluationRecord, Hint, InputError, Settings
from sigjax.records.display import visible_json
from sigjax.records.metric import data_hash
from sigjax.run.files import naming, read_arrays, read_bytes, remove_leftovers, replacing
from sigjax.version import __version__

_LOG = logging.getLogger("sigjax")
SCHEMA = "sigjax/1"
"""The name of the JSON schema of reports."""
BOARD_SCHEMA = "sigjax-board/1"
"""The name of the JSON schema of a board of record (a documented leaderboard), whose file contains a report."""
DEFAULTS: Mapping[str, Any] = MappingProxyType(json.loads(json.dumps(asdict(Settings()))))
"""Default settings, as in JSON. If a run was made before a setting existed, the setting has its default value."""
CHECKSUM = "checksum"
"""The key in a JSON report for the checksum of all other keys; older reports do not have it."""
Key = tuple[str, ...]
"""The key of a tally (the results of one test in a shard): the metric, the test, and what the tally contains."""
Identity = dict[str, Any]
"""The fingerprint as JSON values: `sigjax` (version), settings, `systems`, `metrics`, `instances`, `data` (a hash)."""
_SCHEMA = "sigjax-shard/1"
_SECONDS = 5.0
"""There are at least this many seconds between two writes of a shard's file."""
_FRACTION = 0.1
"""Writing a shard's file may take at most this share of the time of a run."""
_MOST_RESAMPLES = np.iinfo(np.int64).max
"""Largest number of resamples in a tally (the results of one test), if the run itself decides when to stop."""
_SAME_SCORE = 1e-9
"""Relative tolerance for two scores of a system by the same metric. Rounding errors are far smaller; scores that differ
by more come from different metrics."""


def identity_of(evaluations: Sequence[EvaluationRecord], settings: Settings) -> Identity:
    """The fingerprint of a run: everything that determines its report."""
    first = evaluations[0]
    identity = {"sigjax": __version__} | asdict(settings)
    identity |= {"systems": sorted(first.systems), "metrics": [each.metric.name for each in evaluations]}
    identity |= {"instances": first.size.instances, "data": data_hash(evaluations)}
    return json.loads(json.dumps(identity))


def difference(there: Identity, here: Identity, where: tuple[str, str] = ("there", "here")) -> str | None:
    """A text with the first difference between two fingerprints of runs, `there` and `here`; None if they are equal.

    `where` has the words for the two runs in the text.

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
            only = [*_only_in(old, new, where[0]), *_only_in(new, old, where[1])]
            return f"{name} differ: {' and '.join(only) or 'their order'}"
        return f"{name} is {old} {where[0]} and {new} {where[1]}"
    return None


def _only_in(values: list[Any], others: list[Any], where: str) -> Iterator[str]:
    """Yield a text with the first of the `values` that are not among `others`; yield nothing if there are none.

    `where` is the word for the run that has the `values`.
    """
    known = set(others)
    if more := [value for value in values if value not in known]:
        rest = f" and {len(more) - 3:,} more" if len(more) > 3 else ""
        yield f"{', '.join(map(repr, more[:3]))}{rest} only {where}"


_KEPT = {
    "counts": (np.int64, 1),
    "exceed": (np.int64, 1),
    "values": (np.float64, 2),
    "spreads": (np.float64, 2),
    "ranks": (np.int64, 2),
    "scores": (np.float64, 1),
}
"""A dict from the name of an array in a tally (the results of one test in a shard) to the type and the number of axes
that the array must have."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Results of one test on a range of resamples, from `start` to `done`.

    `arrays` contains one of these: `counts` `[pair]` of extreme resamples, which a merge adds up; or replicates
    `values` `[row, resample]`, which a merge joins; or final results.
    """

    start: int
    done: int
    """The index of the first resample after the range."""
    arrays: dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` of `count` (counted from 1) of a run: the results (tallies) of its resamples.

    `identity` is the fingerprint of the run. `origin` is JSON that the command line needs to make the shard again.
    """

    identity: Identity
    index: int = 1
    count: int = 1
    tallies: dict[Key, Tally] = field(default_factory=dict[Key, Tally])
    is_finished: bool = False
    origin: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def of(self, resamples: range) -> range:
        """This shard's part of a range of resamples; the sizes of two parts differ by at most one.

        >>> [Shard({}, index, 3).of(range(10, 20)) for index in (1, 2, 3)]
        [range(10, 13), range(13, 16), range(16, 20)]
        """
        size = len(resamples)
        return resamples[size * (self.index - 1) // self.count : size * self.index // self.count]

    def write(self, file: IO[bytes]) -> None:
        """Write the shard to a file, from which `read_shard` reads it."""
        tallies, arrays = list[dict[str, Any]](), dict[str, np.ndarray]()
        for index, (key, tally) in enumerate(self.tallies.items()):
            tallies.append({"name": key, "start": tally.start, "done": tally.done, "arrays": [*tally.arrays]})
            arrays |= {f"{index}.{name}": array for name, array in tally.arrays.items()}
        about = {"shard": [self.index, self.count], "is_finished": self.is_finished, "origin": self.origin}
        header = json.dumps({"schema": _SCHEMA, "run": self.identity, **about, "tallies": tallies})
        np.savez(file, header=np.frombuffer(header.encode(), np.uint8), **arrays)  # pyright: ignore[reportArgumentType]


def read_shard(path: str | os.PathLike[str], noun: str = "shard") -> Shard:
    """Read a shard from a file; `noun` is the word for the file in messages."""
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise InputError(f"{path}: is a device or a named pipe; expected a file for the {noun}")
    try:
        with open(path, "rb") as file:
            return _unpacked(file)
    except OSError as error:
        raise InputError(f"{path}: the {noun} cannot be read ({error.strerror}); give another file") from None
    except Exception:  # for damaged files, NumPy and zipfile raise about twelve kinds of exceptions
        raise InputError(
            f"{path}: is no {noun}, or a damaged one; give another file, or delete this one to start anew"
        ) from None


def _unpacked(file: IO[bytes]) -> Shard:
    """Return the shard in a file. A damaged file, or a file of another kind, may raise any error."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    arrays = read_arrays(file, size)  # shards are not compressed; a compressed file could grow without limit
    header = json.loads(arrays["header"].tobytes())
    if header["schema"] != _SCHEMA:
        raise ValueError("another schema")
    identity, origin, (index, count) = {**header["run"]}, {**header["origin"]}, header["shard"]
    resamples, tallies = identity["resamples"], dict[Key, Tally]()
    for place, named in enumerate(header["tallies"]):
        own = {name: arrays[f"{place}.{name}"] for name in named["arrays"]}
        tally = tallies[tuple(named["name"])] = Tally(named["start"], named["done"], own)
        _check_tally(tally, _MOST_RESAMPLES if resamples == "auto" else resamples)
    lists: list[list[Any]] = [value for value in identity.values() if isinstance(value, list)]
    if not (_are_counts([index, count], count) and 0 < index and isinstance(header["is_finished"], bool)):
        raise ValueError("no shard")
    if not all(isinstance(each, str) for value in lists for each in value):
        raise ValueError("no run")
    return Shard(identity, index, count, tallies, header["is_finished"], origin)


def _are_counts(values: Sequence[Any], resamples: int) -> bool:
    """Whether all values are whole numbers from 0 to `resamples`."""
    return all(type(value) is int and 0 <= value <= resamples for value in values)


def _check_tally(tally: Tally, resamples: int) -> None:
    """Raise `ValueError` if no run with this number of resamples can have the results `tally`."""
    if not (_are_counts([tally.start, tally.done], resamples) and tally.start <= tally.done):
        raise ValueError("no range of resamples")
    drawn = tally.done - tally.start
    for name, array in tally.arrays.items():
        kind, axes = _KEPT[name]
        if array.dtype != kind or array.ndim != axes:
            raise ValueError("no array of this kind")
        if name in ("counts", "exceed") and not _are_counts(array.tolist(), drawn):
            raise ValueError("no counts")
        if name == "values" and not (array.shape[1] == drawn and np.isfinite(array).all()):
            raise ValueError("no replicates")


class ShardFile:
    """A shard in progress: the results so far (tallies), with results from its file and from an earlier report.

    The file `path` is created if it does not exist; a file of another shard is refused. `noun` is the word for the file
    in messages. `earlier` are the tallies of the first resamples, from a report that is extended. Without a file,
    tallies are kept only if `keeps` is true.
    """

    def __init__(
        self,
        shard: Shard,
        path: str | os.PathLike[str] | None = None,
        noun: str = "checkpoint",
        *,
        earlier: Mapping[Key, Tally] | None = None,
        keeps: bool = False,
    ) -> None:
        self.shard, self.earlier, self.is_kept = shard, earlier or {}, keeps or path is not None
        self._path, self._noun = path, noun
        self._due = time.monotonic() + _SECONDS
        if path is None:
            return
        if os.path.lexists(path):
            remove_leftovers(path)
            there = read_shard(path, noun)
            old, new = (each.identity | {"shard": f"{each.index}/{each.count}"} for each in (there, shard))
            if differs := difference(old, new):
                raise InputError(f"{path}: the {noun} is of another run: {differs}; give the same, or another file")
            self.shard = replace(shard, tallies=there.tallies)
            if kept := _in_words(there.tallies):
                _LOG.info("sigjax: goes on from %s: %s", path, kept)
            return
        try:
            self._write()
        except OSError as error:
            raise InputError(f"{path}: no {noun} can be written ({error.strerror}); give another file") from None
        remove_leftovers(path)

    def save(self, key: Key, tally: Tally, *, finished: bool) -> None:
        """Keep the results `tally` under the `key`, and write the file, if they are `finished` or a write is due.

        Otherwise, or if this object keeps no results, do nothing.
        """
        if not self.is_kept or not (finished or (self._path is not None and time.monotonic() >= self._due)):
            return
        self.shard.tallies[key] = tally
        self._try_to_write()

    def finish(self) -> Shard:
        """Mark the shard as finished, write its file, and return it."""
        self.shard = replace(self.shard, is_finished=True)
        self._try_to_write()
        return self.shard

    def _try_to_write(self) -> None:
        if self._path is None:
            return
        try:
            self._write()
        except OSError as error:
            message = f"{self._path}: the {self._noun} cannot be written ({error.strerror}); the run goes on without"
            warnings.warn(message, RuntimeWarning, stacklevel=3)

    def _write(self) -> None:
        started = time.monotonic()
        with replacing(self._path or "") as file:
            self.shard.write(file)
            file.flush()
            os.fsync(file.fileno())
        now = time.monotonic()
        self._due = now + max(_SECONDS, (now - started) / _FRACTION)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Access to the results (tallies) in a `ShardFile` whose keys begin with `key`."""

    file: ShardFile
    key: Key = ()

    @property
    def is_kept(self) -> bool:
        """Whether results are kept, in a file or for a merge."""
        return self.file.is_kept

    @property
    def is_part(self) -> bool:
        """Whether this process draws only a part (shard) of the resamples, so that it has no final results."""
        return self.file.shard.count > 1

    def at(self, name: str) -> Checkpoint:
        """The checkpoint whose key is the key of this checkpoint, followed by `name`."""
        return replace(self, key=(*self.key, name))

    def tally(self, **rows: int) -> Tally | None:
        """The results kept under the key of this checkpoint; None if there are none, or an array is missing.

        `rows` has the number of rows of each array; other numbers raise `InputError`.
        """
        tally = self.file.shard.tallies.get(self.key, self.file.earlier.get(self.key))
        if tally is None or not rows.keys() <= tally.arrays.keys():
            return None
        return self._of_this_run(tally, rows)

    def _of_this_run(self, tally: Tally, rows: Mapping[str, int], resamples: range | None = None) -> Tally:
        """Return the tally if it is of this run, else raise `InputError`.

        Its arrays must have the numbers of rows in `rows`. If `resamples` are given, the range of the tally must begin
        with the first of these resamples, and must not end after the last.
        """
        fits = {name: array.shape[0] for name, array in tally.arrays.items() if name in rows} == {**rows}
        if resamples is not None:
            fits = fits and tally.start == resamples.start and tally.done <= resamples.stop
        if not fits:
            raise InputError(
                f"what is kept of {' '.join(self.key)} is not of this run: other pairs or resamples; start anew"
            )
        return tally

    def begin(self, resamples: range, **empty: np.ndarray) -> tuple[Tally, int]:
        """Return the results so far for this shard's part of the resamples, and the index at which the part ends.

        If there are no results yet, the new tally has the arrays `empty`.
        """
        shard, earlier = self.file.shard, self.file.earlier.get(self.key)
        own = shard.of(resamples if earlier is None else range(earlier.done, resamples.stop))
        if self.key in shard.tallies:
            start = earlier.start if earlier is not None and shard.index == 1 else own.start
            rows = {name: array.shape[0] for name, array in empty.items()}
            return self._of_this_run(shard.tallies[self.key], rows, range(start, own.stop)), own.stop
        if earlier is not None and shard.index == 1:
            return earlier, own.stop
        return Tally(own.start, own.start, empty), own.stop

    def save(self, start: int, done: int, **arrays: np.ndarray) -> None:
        """If a write is due, keep the results so far (`arrays` of resamples `start` to `done`), and write the file."""
        self.file.save(self.key, Tally(start, done, arrays), finished=False)

    def finish(self, start: int, done: int, **arrays: np.ndarray) -> None:
        """Keep the final results (`arrays` of resamples `start` to `done`), and write the file."""
        self.file.save(self.key, Tally(start, done, arrays), finished=True)

    def check_scores(self, scores: np.ndarray) -> None:
        """Raise `InputError` if the scores `[system]` differ from the scores of the earlier run.

        If they differ, the earlier run had another metric with the same name.
        """
        tally = self.tally(scores=len(scores))
        if tally is None:
            self.finish(0, 0, scores=scores)
        elif not np.allclose(tally.arrays["scores"], scores, rtol=_SAME_SCORE, atol=0.0):
            raise InputError(
                f"metric {self.key[0]!r} gives other scores than in the run that is to go on; give the same metric, "
                "or start anew"
            )


NO_CHECKPOINT = Checkpoint(ShardFile(Shard({})))
"""A checkpoint that keeps no results."""


def check_count(settings: Settings, count: int) -> None:
    """Raise `InputError` if a run with these settings cannot be divided into `count` shards."""
    if count == 1:
        return
    if settings.resamples == "auto":
        raise InputError(
            f"{Hint('resamples', 'auto')} looks at all results before it goes on, which shards cannot; give a number"
        )
    if count > settings.resamples:
        raise InputError(
            f"expected 1 to {settings.resamples:,} shards of {settings.resamples:,} resamples, got {count:,}"
        )


def merge_shards(shards: Sequence[tuple[str, Shard]]) -> Shard:
    """Merge the shards of a run, given in any order, into one. Each shard comes with its name for messages."""
    first_name, first = shards[0]
    named: dict[int, tuple[str, Shard]] = {}
    for name, shard in shards:
        old, new = (each.identity | {"the number of shards": each.count} for each in (first, shard))
        if differs := difference(old, new, (f"in {first_name}", f"in {name}")):
            raise InputError(f"{name}: is of another run than {first_name}: {differs}; merge shards of one run")
        if not shard.is_finished:
            raise InputError(f"{name}: shard {shard.index} is not finished; {_again(shard, name, shard.index)}")
        other, double = named.setdefault(shard.index, (name, shard))
        if double is not shard:
            if _comparable_tallies(double) != _comparable_tallies(shard):
                raise InputError(f"{name}: is shard {shard.index}, as {other} is, with other numbers; make both again")
            _LOG.info("sigjax: %s: is shard %d once more, as %s; counted once", name, shard.index, other)
    if missing := [index for index in range(1, first.count + 1) if index not in named]:
        which = ", ".join(map(str, missing[:3])) + (f" and {len(missing) - 3:,} more" if len(missing) > 3 else "")
        raise InputError(f"of {first.count} shards are missing: {which}; {_again(first, first_name, missing[0])}")
    ordered = [named[index][1].tallies for index in range(1, first.count + 1)]
    merged = {key: _added([tallies[key] for tallies in ordered if key in tallies], first_name) for key in ordered[0]}
    return Shard(first.identity, tallies=merged, is_finished=True, origin=first.origin)


def _comparable_tallies(shard: Shard) -> list[tuple[object, ...]]:
    """All results of a shard, in a form that can be compared: equal shards have equal lists."""
    return [
        (key, tally.start, tally.done, *(array.tobytes() for array in tally.arrays.values()))
        for key, tally in shard.tallies.items()
    ]


def _added(tallies: Sequence[Tally], name: str) -> Tally:
    """Merge the results of consecutive ranges of resamples; `name` is the file name for messages."""
    first, last = tallies[0], tallies[-1]
    if any(one.done != other.start for one, other in zip(tallies, tallies[1:], strict=False)):
        raise InputError(f"{name}: the shards do not follow each other; give all of them the same {Hint('extend')}")
    if any([len(array) for array in each.arrays.values()] != [*map(len, first.arrays.values())] for each in tallies):
        raise InputError(f"{name}: the shards do not hold the same pairs; make all of them again")
    arrays = dict(first.arrays)
    if "counts" in arrays:
        arrays["counts"] = sum((each.arrays["counts"] for each in tallies[1:]), first.arrays["counts"])
    if "values" in arrays:
        arrays["values"] = np.concatenate([each.arrays["values"] for each in tallies], axis=1)
    return Tally(first.start, last.done, arrays)


def _again(shard: Shard, name: str, index: int) -> str:
    """A text with the command that makes shard `index`, derived from another `shard` of the run and its file `name`."""
    if "command" not in shard.origin:
        return f"make shard {index}"
    folder, file = os.path.split(name)
    pieces = ["", *re.split(r"([0-9]+)", file)]  # if the last number in the name is the shard's index, replace it
    is_named = pieces[-2].lstrip("0") == str(shard.index)
    pieces[-2] = f"{index:0{len(pieces[-2])}}"
    path = os.path.join(folder, "".join(pieces) if is_named else f"shard-{index}.npz")
    return f"make shard {index}: {shard.origin['command']} --shard {index}/{shard.count} -o {shlex.quote(path)}"


def kept_in(path: str | os.PathLike[str]) -> str:
    """A text with the number of resamples of each test in a file; empty if it is not a shard, or has no results."""
    try:
        return _in_words(read_shard(path).tallies)
    except InputError:  # the run itself explains what is wrong with the file
        return ""


def _in_words(tallies: Mapping[Key, Tally]) -> str:
    """A text with the number of resamples of each test."""
    done = {key: tally.done - tally.start for key, tally in tallies.items() if tally.done > tally.start}
    named = {" ".join(name for name in key if not name.startswith("from ")): count for key, count in done.items()}
    return ", ".join(f"{name} {count:,} resamples" for name, count in named.items())


def tallies_of_report(earlier: Any, identity: Identity, pairs: Sequence[tuple[str, str]]) -> dict[Key, Tally]:
    """The first results of a run, from an earlier report with the same data and settings but fewer resamples.

    `earlier` is the report, or the path of its JSON file. `identity` is the fingerprint of the run, and `pairs` are the
    two system names of each pair, in the order of the run.
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
        tallies = _tallies(name, report, identity, pairs)
        with naming(name):
            check_unchanged(report)
        return tallies
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: not a report in JSON as this version of sigjax writes it; compare anew") from None


def parse_report(name: str, content: str | bytes) -> dict[str, Any]:
    """Parse the JSON of a report; `name` is the file name for messages."""
    try:
        report: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{name}: not JSON; give a report that was written as JSON") from None
    schema = report.get("schema") if hasattr(report, "get") else None
    if schema == BOARD_SCHEMA and isinstance(report.get("report"), dict):
        return report["report"]  # the comparison of a board of record
    if schema != SCHEMA:
        of = "no schema" if schema is None else f"the schema {schema!r}"
        raise InputError(f"{name}: has {of}, expected {SCHEMA!r}: the JSON of `sigjax compare`")
    return report


class Checksum:
    """Computes a checksum of JSON values, piece by piece: the first 16 hexadecimal digits of a SHA-256 hash.

    The checksum does not depend on line breaks and indentation.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def begin(self, key: str) -> None:
        """Add a key; the pieces of its value follow."""
        self._digest.update(f"\n{visible_json(key)}\n".encode())

    def add(self, piece: str) -> None:
        """Add a piece of JSON.

        Line breaks and indentation are left out; strings in JSON never contain a line break.
        """
        joined = piece.replace(",\n    ", ", ")
        if "\n" in joined:
            joined = joined.replace("\n    ", "").replace("\n  ", "")
        self._digest.update(joined.encode())

    @property
    def value(self) -> str:
        """The 16 hexadecimal digits."""
        return self._digest.hexdigest()[:16]


def checksum_of(fields: Mapping[str, Any]) -> str:
    """The checksum of a JSON object, without the key that holds a checksum.

    Raises:
        ValueError: a number that JSON cannot hold.
        RecursionError: values that are nested too deeply.
    """
    checksum = Checksum()
    for key, value in fields.items():
        if key != CHECKSUM:
            checksum.begin(key)
            checksum.add(visible_json(value))
    return checksum.value


def check_unchanged(report: Mapping[str, Any]) -> None:
    """Raise `InputError` if a JSON report with a checksum was changed after it was written."""
    if CHECKSUM not in report:
        return
    try:
        unchanged = checksum_of(report) == report[CHECKSUM]
    except (ValueError, RecursionError):  # NaN, for example
        unchanged = False
    if not unchanged:
        raise InputError(
            f"a number or a word has changed since the report was written, by its {CHECKSUM!r}; compare anew, or leave "
            f"out {CHECKSUM!r} if you changed it on purpose"
        )


def _tallies(
    name: str, report: dict[str, Any], identity: Identity, pairs: Sequence[tuple[str, str]]
) -> dict[Key, Tally]:
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
    tallies: dict[Key, Tally] = {}
    for metric in identity["metrics"]:
        if "permutation" in identity["tests"]:
            rows = [row for row in report["pairs"] if row["metric"] == metric and row["test"] == "permutation"]
            counts = _counts(name, rows, pairs, old)
            tallies[metric, "permutation", "from 0"] = Tally(0, old, {"counts": counts})
        scores = {each["name"]: each["score"] for each in report["systems"] if each["metric"] == metric}
        tallies[metric, "scores"] = Tally(0, 0, {"scores": np.array([scores[one] for one in there["systems"]], float)})
    return tallies


def _counts(name: str, rows: list[dict[str, Any]], pairs: Sequence[tuple[str, str]], resamples: int) -> np.ndarray:
    """The counts of extreme resamples of the sampled pairs, `[pair]`, checked against their p-values.

    `rows` are the rows of the report `name`, one per pair, and `pairs` are the pairs of the run.
    """
    if [(row["a"], row["b"]) for row in rows] != list(pairs):
        raise InputError(f"{name}: the pairs are not those of the run, or not in its order; compare anew")
    sampled = [row for row in rows if row["method"] == "montecarlo" or row["exceed"] is not None]
    for row in sampled:
        exceed = row["exceed"]
        counted = _are_counts([exceed], resamples)
        least = (exceed + 1) / (resamples + 1) if counted else 0.0
        sound = row["p_value"] < least and exceed == 0 if row["method"] == "tilted" else row["p_value"] == least
        if not (counted and sound and row["resamples"] == resamples and row["method"] in ("montecarlo", "tilted")):
            raise InputError(
                f"{name}: method, exceed, resamples and p_value of {row['a']!r} and {row['b']!r} are not those of "
                f"{resamples} resamples, so the report was changed; compare anew"
            )
    return np.array([row["exceed"] for row in sampled], np.int64)


def _identity(report: dict[str, Any]) -> Identity:
    """The fingerprint of the run from which a report was made."""
    systems, version = report["systems"], report["signature"].rpartition("|sigjax:")[2]
    settings = {name: value for name, value in report["settings"].items() if name not in ("units", "runs")}
    identity = {"sigjax": version} | settings
    identity["systems"] = sorted({each["name"] for each in systems})
    identity["metrics"] = list(dict.fromkeys(each["metric"] for each in systems))
    return identity
