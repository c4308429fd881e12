"""More resamples for an earlier report: what it has counted stands, and the rest is counted on top of it.

More resamples extend the list of those already drawn, so the counts of a permutation test go on from those of the
report. Standard errors, intervals and bootstrap tests need all replicates, which a report does not hold: they are
drawn again, and exact p-values computed again. Either way the new report is that of a fresh run with as many resamples.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from sigjax.files.opening import read_bytes
from sigjax.records import InputError
from sigjax.run.checkpoint import Name, State
from sigjax.run.fingerprint import SCHEMA, Identity, difference


class Writes(Protocol):
    """A report."""

    def to_json(self) -> str:
        """The report as JSON."""
        ...


Earlier = Writes | str | os.PathLike[str]
"""A report, or its JSON file."""


def earlier_states(earlier: Earlier, identity: Identity, pairs: Sequence[tuple[str, str]]) -> dict[Name, State]:
    """What is known of a run from a report of the same data and settings, but for fewer resamples.

    `pairs` are the names of the systems of each pair, in the order of the run.

    Raises:
        InputError: the file is no report in JSON, or a report of other data or settings, or one that was changed by
            hand, or there is nothing to add.
    """
    name, report = _read(earlier)
    try:
        return _states(name, report, identity, pairs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: not a report in JSON as this version of sigjax writes it; compare anew") from None


def _read(earlier: Earlier) -> tuple[str, dict[str, Any]]:
    """What to call the report, and what its JSON holds."""
    if not isinstance(earlier, str | os.PathLike):
        return "the earlier report", json.loads(earlier.to_json())
    content = read_bytes(earlier)
    try:
        return str(earlier), json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{earlier}: not JSON; give a report that --format json has written") from None


def _states(
    name: str, report: dict[str, Any], identity: Identity, pairs: Sequence[tuple[str, str]]
) -> dict[Name, State]:
    if report["schema"] != SCHEMA:
        raise ValueError(report["schema"])
    there = _identity(report)
    old, new = there["resamples"], identity["resamples"]
    found = difference(there | {"resamples": new}, identity)
    if found:
        raise InputError(f"{name}: a report of another run: {found}; give the same, or compare anew")
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
    """How many resamples were as extreme, for the pairs that were sampled: those of a run, and not changed since."""
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
    """Whether a run of so many resamples writes these numbers of a pair."""
    exceed = row["exceed"]
    if type(exceed) is not int or not 0 <= exceed <= resamples:
        return False
    same = row["method"] == "montecarlo" and row["resamples"] == resamples
    return same and math.isclose(row["p_value"], (exceed + 1) / (resamples + 1), rel_tol=1e-12)


def _identity(report: dict[str, Any]) -> Identity:
    """What the report is of."""
    systems, version = report["systems"], report["signature"].rpartition("|sigjax:")[2]
    found = {"sigjax": version} | {name: value for name, value in report["settings"].items() if name != "units"}
    found["systems"] = sorted({each["name"] for each in systems})
    found["metrics"] = list(dict.fromkeys(each["metric"] for each in systems))
    return found
