"""Continuing a run: from a checkpoint, or from an earlier report with fewer resamples.

More resamples extend the list of those already drawn, so the counts of a permutation test continue from those of the
report. Standard errors, intervals and bootstrap tests need all replicates, which a report does not hold: these are
drawn again, and exact p-values are computed again. Either way the new report equals that of a fresh run.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sigjax.files.opening import read_bytes
from sigjax.records import InputError
from sigjax.run.checkpoint import (
    NO_STAGE,
    SCHEMA,
    Checkpoint,
    Identity,
    Name,
    Stage,
    State,
    difference,
    pack,
    unpack,
)
from sigjax.run.share import Share, current_share
from sigjax.version import __version__

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
    name, report = _read(earlier)
    try:
        return _states(name, report, identity, pairs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: not a report in JSON as this version of sigjax writes it; compare anew") from None


def _read(earlier: Any) -> tuple[str, dict[str, Any]]:
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
