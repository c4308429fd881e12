"""What determines a report: the data, the settings and the version. Runs with the same fingerprint can be joined."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from sigjax.records import Evaluation, Settings
from sigjax.version import __version__

SCHEMA = "sigjax/1"
"""Of reports in JSON."""

ADDED = {"family": "metric", "leaderboard": False}
"""Values, in earlier runs, of settings that were added later."""

Identity = dict[str, Any]
"""Values as JSON has them: `sigjax` (the version), the settings, `systems`, `metrics`, `instances`, `data` (a hash)."""


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
        stats = np.ascontiguousarray(each.stats, each.stats.dtype.newbyteorder("<"))
        digest.update(json.dumps((*labels, stats.dtype.str, stats.shape)).encode())
        digest.update(stats.data)
    return digest.hexdigest()[:16]


def identity_of(evaluations: Sequence[Evaluation], settings: Settings, data: str) -> Identity:
    """The fingerprint of a run; `data` is the hash of the evaluations."""
    first = evaluations[0]
    identity = {"sigjax": __version__} | asdict(settings)
    identity |= {"systems": sorted(first.systems), "metrics": [each.metric.name for each in evaluations]}
    identity |= {"instances": first.num_instances, "data": data}
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
        old, new = (run.get(name, ADDED.get(name)) for run in (there, here))
        if old == new:
            continue
        if name == "data":
            return "the data (numbers, ids, clusters, strata, or the order of the systems) are others"
        if isinstance(old, list) and isinstance(new, list):
            only = [f"{', '.join(map(repr, more[:3]))} only {where}" for more, where in _apart(old, new) if more]
            return f"{name} differ: {' and '.join(only) or 'their order'}"
        return f"{name} is {old} there and {new} here"
    return None


def _apart(old: list[Any], new: list[Any]) -> tuple[tuple[list[Any], str], tuple[list[Any], str]]:
    return ([each for each in old if each not in new], "there"), ([each for each in new if each not in old], "here")
