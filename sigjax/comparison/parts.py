"""Missing results, pair by pair: the parts of an evaluation in which every system has every instance.

A pair is tested on the instances that both systems have, and a system is scored on those that it has. What is on the
same instances is one part, an evaluation like any other: its pairs are tested together, with the resamples that these
instances have in every comparison. An evaluation without missing results is its own and only part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigjax.comparison.metric_kinds import pairs_of
from sigjax.metrics.suites import is_part
from sigjax.permutation.exact import exact_budget
from sigjax.records import CORRECTIONS, Evaluation, InputError, Settings


@dataclass(frozen=True, eq=False)
class Part:
    """The pairs and systems that are on the same instances."""

    whole: Evaluation
    systems: list[int]
    """Positions of its systems, all of which have the instances."""
    members: np.ndarray
    """[pair, 2] positions among its systems; where there is no pair, that of the first system with itself."""
    pairs: np.ndarray
    """[pair] the position of each among all pairs."""
    scored: list[int]
    """Positions among its systems of those that have no other instances."""
    settings: Settings
    """With its share of the budget."""
    share: float = 1.0
    """Of all pairs."""
    instances: bytes = b""
    """Which instances, a bit each."""
    number: int | None = None
    """None where it is the whole evaluation."""

    @property
    def evaluation(self) -> Evaluation:
        """Its systems on its instances, made anew each time."""
        if self.number is None:
            return self.whole
        bits = np.unpackbits(np.frombuffer(self.instances, np.uint8), count=self.whole.num_instances)
        return _on(self.whole, self.systems, np.flatnonzero(bits))


def common(evaluation: Evaluation, a: str, b: str) -> Evaluation:
    """The evaluation of two systems on the instances that both have."""
    systems = [evaluation.systems.index(name) for name in (a, b)]
    present = np.ones((1, evaluation.num_instances)) if evaluation.present is None else evaluation.present[systems]
    return _on(evaluation, systems, np.flatnonzero(present.all(axis=0)))


def _on(evaluation: Evaluation, systems: list[int], places: np.ndarray) -> Evaluation:
    """The evaluation of some systems on the instances at some positions, which they all have."""
    labels = {
        name: tuple(own[i] for i in places.tolist())
        for name in ("ids", "clusters", "strata", "runs")
        if (own := getattr(evaluation, name)) is not None
    }
    stats, names = (
        evaluation.stats[np.ix_(systems, places.tolist())],
        tuple(evaluation.systems[system] for system in systems),
    )
    return replace(evaluation, systems=names, stats=stats, present=None, notes=(), **labels)


def parts_of(evaluation: Evaluation, settings: Settings) -> list[Part]:
    """The parts of an evaluation, those with pairs first, in the order of the pairs.

    Raises:
        InputError: no two systems have an instance in common.

    Example:
        >>> from sigjax import Evaluation
        >>> numbers = {"A": {"x": 1, "y": 0}, "B": {"x": 0, "y": 1}, "C": {"y": 1}}
        >>> for part in parts_of(Evaluation.from_arrays(numbers, missing="pairwise"), Settings()):
        ...     print(part.evaluation.ids, part.evaluation.systems, part.members.tolist(), part.scored)
        ('x', 'y') ('A', 'B') [[0, 1]] [0, 1]
        ('y',) ('A', 'B', 'C') [[0, 2], [1, 2]] [2]
    """
    members = pairs_of(evaluation, settings)
    if evaluation.present is None:
        every = list(range(len(evaluation.systems)))
        return [Part(evaluation, every, members, np.arange(len(members)), every, settings)]
    if not len(members):
        whom = "no two systems have" if settings.baseline is None else f"no system and {settings.baseline!r} have"
        raise InputError(f"{whom} an instance in common; there is nothing to compare")
    present = np.packbits(evaluation.present, axis=1)
    pairs: dict[bytes, list[int]] = {}
    for pair, (a, b) in enumerate(members.tolist()):
        pairs.setdefault((present[a] & present[b]).tobytes(), []).append(pair)
    scored: dict[bytes, list[int]] = {}
    for system, own in enumerate(present):
        scored.setdefault(own.tobytes(), []).append(system)
    parts = []
    for number, instances in enumerate(dict.fromkeys((*pairs, *scored))):
        rows, own = np.array(pairs.get(instances, ()), np.int64), scored.get(instances, [])
        systems = sorted({*members[rows].ravel().tolist(), *own})
        at = np.searchsorted(systems, members[rows]).astype(np.int32) if len(rows) else np.zeros((1, 2), np.int32)
        places, share = np.searchsorted(systems, own).tolist(), len(rows) / len(members)
        parts.append(Part(evaluation, systems, at, rows, places, _settings(settings, share), share, instances, number))
    return parts


def _settings(settings: Settings, share: float) -> Settings:
    """The settings of a part with this share of the pairs; one without pairs tests nothing."""
    if not share:
        return replace(settings, test=())
    return replace(settings, budget=exact_budget(settings) * share) if share < 1.0 else settings


def check_parts(evaluations: Sequence[Evaluation], settings: Settings, *, extends: bool, peers: bool) -> None:
    """Refuse what needs all pairs on the same instances.

    Raises:
        InputError: naming the option, and what to use instead.
    """
    if all(each.present is None for each in evaluations):
        return
    for refused, instead in (
        (CORRECTIONS[settings.correction].is_resampled and f"correction {settings.correction}", "use holm"),
        (settings.interval == "simultaneous" and "interval simultaneous", "use auto"),
        (settings.leaderboard and "the leaderboard", "leave it out"),
        (settings.design != "together" and f"design {settings.design}", "use together"),
        (extends and "an extended report", "compare anew"),
        (peers and "compat", "leave it out"),
        (is_part(evaluations[0]) and "a suite of tasks", "read one task"),
    ):
        if refused:
            raise InputError(
                f"{refused} needs all pairs on the same instances, and with missing pairwise each has its own; "
                f"{instead}, or use missing drop or zero"
            )
