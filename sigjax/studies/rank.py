"""Leaderboards of any size: all pairs of systems with right or wrong answers are tested, and none is kept.

A pair is two whole numbers: the instances that one of both has right (m), and the difference of their right answers
(k). p is that of the sign test, which is the permutation test of such answers, without sampling. Tiles of systems are
multiplied as they come: the first pass counts how many pairs have each (m, k), which gives the distinct p-values, their
corrections and the least k that is significant for each m; the second one judges the pairs, and counts the decisions of
each system. So memory holds answers and counts, however many pairs there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sigjax.comparison.options import ReadingOptions
from sigjax.metrics import canonical
from sigjax.metrics.ratios import mean_score
from sigjax.records import InputError, Interval, Settings
from sigjax.records.options import check, same, takes
from sigjax.records.settings import CORRECTIONS, PValueCorrection, adjust
from sigjax.report.sections import Table
from sigjax.report.words import count, format_interval, format_ranks, number_spec, percent
from sigjax.run.context import gib
from sigjax.studies.equivalence import EquivalencePairsOptions
from sigjax.studies.study import Block, StudyResult, more_in_json, study_signature
from sigjax.studies.trials import by_one_metric
from sigjax.testing.jackknife import wilson_interval
from sigjax.testing.p_values import sign_ps

_TILE = 1024
"""Systems that are multiplied with as many others at a time."""
_MOST_CELLS = 2**28
"""Counts of (m, k): 2 GiB."""
_MOST_INSTANCES = 2**24
"""Whole numbers that float32 holds."""
_SHOWN = 50


@dataclass(frozen=True, kw_only=True)
class RankOptions(ReadingOptions):
    """The options of `rank`."""

    correction: PValueCorrection = same(EquivalencePairsOptions, "correction", doc="How p is adjusted for all pairs.")
    confidence_level: float = same(Settings, "confidence_level")


@dataclass(frozen=True, slots=True)
class Place:
    """A system on a leaderboard.

    Attributes:
        score: its share of right answers.
        interval: Wilson's score interval of the share; None with one instance, as in `compare`.
        rank_interval: 1 + the number of systems that are significantly better, to the last rank but for those that are
            significantly worse.
        cluster: its cluster, from 1: each system is significantly better than all of later clusters.
        in_top_group: whether it may be the best: no system is significantly better.
        better: number of systems that it is significantly better than.
        worse: number of systems that are significantly better.
        not_significant: number of the others.
        delta: its score minus that of the next system; None for the last one.
        p_value: of the exact test against the next system.
        p_adjusted: the same, adjusted for all pairs of the board.
    """

    system: str
    score: float
    interval: Interval | None
    rank_interval: tuple[int, int]
    cluster: int
    in_top_group: bool
    better: int
    worse: int
    not_significant: int
    delta: float | None
    p_value: float | None
    p_adjusted: float | None


@dataclass(frozen=True, repr=False)
class Ranking(StudyResult):
    """All pairs of a board, decided.

    Attributes:
        systems: best first; those with one score in the order of the data.
        threshold: the largest p-value, unadjusted, that is significant; None where none is.
        correction: how p is adjusted for all pairs.
        confidence_level: that of intervals; decisions are made at 1 minus it.
    """

    rows = "systems"

    systems: tuple[Place, ...]
    metric: str
    num_instances: int
    num_pairs: int
    num_significant: int
    threshold: float | None
    correction: PValueCorrection
    confidence_level: float
    signature: str

    def _lines(self) -> list[Block]:
        alpha, shown = 1.0 - self.confidence_level, self.systems[:_SHOWN]
        spec = number_spec([each.score for each in self.systems])
        top = sum(each.in_top_group for each in self.systems)
        may = "one system may be the best" if top == 1 else f"{top:,} systems may be the best (group: best)"
        title = CORRECTIONS[self.correction].title
        lines: list[Block] = [
            f"{self.metric} on {count(self.num_instances, 'instance')}, {count(len(self.systems), 'system')}: {may}",
            f"{self.num_significant:,} of {count(self.num_pairs, 'pair')} differ significantly: exact",
            f"permutation test, two-sided, p adjusted by {title} over all pairs, at {alpha:.3g}",
            "",
        ]
        columns = {
            "rank": [format_ranks(each.rank_interval) for each in shown],
            "system": [each.system for each in shown],
            "score": [f"{each.score:{spec}}" for each in shown],
            f"{percent(self.confidence_level)} interval": [format_interval(each.interval, spec) for each in shown],
            "beats": [f"{each.better:,}" for each in shown],
            "not significant": [f"{each.not_significant:,}" for each in shown],
            "beaten, by": [f"{each.worse:,}" for each in shown],
            "adj. p, to next": ["" if each.p_adjusted is None else f"{each.p_adjusted:.3g}" for each in shown],
            "group": ["best" if each.in_top_group else str(each.cluster) for each in shown],
        }
        table = Table.of(columns, names=(1,), optional=("not significant",))
        lines += [table, *more_in_json(len(self.systems) - len(shown), "system")]
        return [*lines, "", "one pair: sigjax compare, with the same files and --only A B", self.signature]


@takes(RankOptions)
def rank(data: Any, options: RankOptions) -> Ranking:
    r"""Rank many systems by right or wrong answers: all pairs are tested exactly, corrected, and none is kept.

    With m instances on which two systems differ, of which the better one has (m + k) / 2 right, the permutation test
    has $p = \min(1, 2 P(X \ge (m + k) / 2))$, X binomial(m, 1/2). Decisions, ranks and adjusted p-values are those of
    `compare`, which keeps all pairs: to some thousand systems it says more of each.

    Args:
        data: what `compare` takes, of a metric whose scores are 0 or 1, such as accuracy. A dict of arrays of bool is
            kept as bytes.
        options: see `RankOptions`.

    Raises:
        InputError: an answer that is neither 0 nor 1; clusters, strata, runs or instances that some system lacks; fewer
            than two systems; more than `2**28` possible (m, k).

    Reference: Holm (1979) and others, as `sigjax help corrections` names them; ranks by Mogstad et al. (2024).

    Example:
        >>> answers = np.arange(40) < np.array([[38], [37], [12]])
        >>> board = rank({"A": answers[0], "B": answers[1], "C": answers[2]})
        >>> [(each.system, each.rank_interval, each.better) for each in board.systems]
        [('A', (1, 2), 1), ('B', (1, 2), 1), ('C', (3, 3), 0)]
    """
    check(options)
    names, answers, metric = _answers(data, options)
    right = np.count_nonzero(answers, axis=1)
    order = np.argsort(-right, kind="stable")
    right = right[order].astype(np.int32)
    better, worse, clusters, to_next, threshold = _decided(answers[order], right, options)
    intervals: list[Interval | None] = [None] * len(names)
    if answers.shape[1] > 1:
        ends = wilson_interval(right.astype(np.float64), answers.shape[1], options.confidence_level)
        intervals = [Interval(*own) for own in np.transpose(ends).tolist()]
    scores, number, rest = (right / answers.shape[1]).tolist(), len(names), len(names) - 1
    ordered, to_next = [names[at] for at in order.tolist()], [*to_next, (None, None, None)]
    rows = zip(ordered, scores, intervals, better, worse, clusters, to_next, strict=True)
    systems = tuple(
        Place(name, score, own, (1 + lost, number - won), group, not lost, won, lost, rest - won - lost, *to)
        for name, score, own, won, lost, group, to in rows
    )
    return Ranking(
        systems=systems,
        metric=metric,
        num_instances=answers.shape[1],
        num_pairs=number * (number - 1) // 2,
        num_significant=sum(better),
        threshold=threshold,
        correction=options.correction,
        confidence_level=options.confidence_level,
        signature=study_signature("rank", options, metric=metric, systems=number, instances=answers.shape[1]),
    )


def _answers(data: Any, options: RankOptions) -> tuple[list[str], np.ndarray, str]:
    """The systems, their answers `[system, instance]` (uint8), and the metric."""
    arrays = cast("Mapping[Any, Any]", data if isinstance(data, Mapping) else {})
    if arrays and all(isinstance(each, np.ndarray) and each.dtype == bool for each in arrays.values()):
        if len({each.shape for each in arrays.values()}) > 1:
            raise InputError("systems have different numbers of answers; expected one per instance")
        names, metric = list(map(str, arrays)), canonical(str(options.metric or "accuracy"))
        if metric not in ("accuracy", "mean"):
            raise InputError(
                f"rank takes answers right (True) or wrong (False), by accuracy, got the metric {metric!r}"
            )
        answers = np.stack([np.asarray(each) for each in arrays.values()]).view(np.uint8)
    else:
        evaluation = by_one_metric(data, options)
        for name in ("clusters", "strata", "runs", "present"):
            if getattr(evaluation, name) is not None:
                raise InputError(f"rank takes one answer per system and instance, without {name}; see compare")
        names, metric, values = list(evaluation.systems), evaluation.metric.name, evaluation.stats
        is_share = getattr(evaluation.metric, "score", None) is mean_score and (values[..., 1:] == 1).all()
        if not (is_share and ((values[..., 0] == 0) | (values[..., 0] == 1)).all()):
            raise InputError(f"rank takes answers right (1) or wrong (0), and {metric} is no share of them")
        answers = values[..., 0].astype(np.uint8)
    if len(names) < 2 or answers.ndim != 2 or not answers.shape[1]:
        raise InputError(f"rank takes two systems or more and one instance or more, got {answers.shape}")
    if answers.shape[1] >= _MOST_INSTANCES:
        raise InputError(f"rank takes fewer than {_MOST_INSTANCES:,} instances, got {answers.shape[1]:,}")
    return names, answers, metric


_Tile = tuple[slice, slice, np.ndarray, np.ndarray, np.ndarray | None]


def _tiles(answers: np.ndarray, right: np.ndarray) -> Iterator[_Tile]:
    """Pairs of systems tile by tile: both slices, m and k `[first, second]`, and which count where not all do."""
    parts = [slice(start, start + _TILE) for start in range(0, len(right), _TILE)]
    for i, first in enumerate(parts):
        left = answers[first].astype(np.float32)
        for second in parts[i:]:
            both = (left @ answers[second].T.astype(np.float32)).astype(np.int32)
            ones = right[first][:, None], right[second][None, :]
            above = np.triu(np.ones(both.shape, bool), 1) if first == second else None
            yield first, second, ones[0] + ones[1] - 2 * both, ones[0] - ones[1], above


def _pairs_of_cells(tiles: Iterable[_Tile], num_instances: int, width: int) -> np.ndarray:
    """How many pairs have each m and k, `[m * width + k // 2]`; more than `2**31` of 66,000 systems may have the same.

    m and k are both even, or both odd.
    """
    counts = np.zeros((num_instances + 1) * width, np.int64)
    for _, _, m, k, above in tiles:
        cells = m * width + k // 2
        np.add.at(counts, cells.ravel() if above is None else cells[above], 1)
    return counts


def _decided(answers: np.ndarray, right: np.ndarray, options: RankOptions) -> tuple[Any, ...]:
    """The tests of all pairs in two passes: counts of each (m, k), and the decisions.

    Of answers `[system, instance]` with so many right `[system]`, best system first: for each system the number of
    those that it is better than, of those that are better, its cluster from 1, and (but for the last) delta to the next
    one, p and adjusted p; and the largest p that is significant.
    """
    number, num_instances = answers.shape
    width = int(right[0] - right[-1]) // 2 + 1
    if (num_instances + 1) * width > _MOST_CELLS:
        needs = f"{gib((num_instances + 1, width)):,.1f} GiB"
        raise InputError(f"rank would take {needs} for the counts of so many instances; split them")
    counts = _pairs_of_cells(_tiles(answers, right), num_instances, width)
    cells = np.flatnonzero(counts)
    m, k = cells // width, 2 * (cells % width) + cells // width % 2
    p = sign_ps((m + k) // 2, (m - k) // 2, "two-sided")[0]
    adjusted = adjust(p, options.correction, counts[cells])
    significant = adjusted < Settings(confidence_level=options.confidence_level).alpha
    least = np.full(num_instances + 1, num_instances + 1, np.int32)
    np.minimum.at(least, m[significant], k[significant].astype(np.int32))
    better, worse, last = np.zeros(number, np.int64), np.zeros(number, np.int64), np.arange(number)
    for first, second, differ, ahead, above in _tiles(answers, right):
        wins = ahead >= least[differ]
        if above is not None:
            wins &= above
        better[first] += wins.sum(axis=1)
        worse[second] += wins.sum(axis=0)
        open_pairs = ~wins if above is None else above & ~wins
        until = wins.shape[1] - 1 - open_pairs[:, ::-1].argmax(axis=1)
        some = open_pairs.any(axis=1)
        last[first] = np.where(some, np.maximum(last[first], second.start + until), last[first])
    begins = np.maximum.accumulate(last)[:-1] < np.arange(1, number)
    chunks = [slice(start, start + _TILE) for start in range(0, number - 1, _TILE)]
    pairs = (np.count_nonzero(answers[:-1][at] != answers[1:][at], axis=1) for at in chunks)
    next_m, next_k = np.concatenate(list(pairs)), -np.diff(right)
    at = np.searchsorted(cells, next_m * width + next_k // 2)
    to_next = zip((next_k / num_instances).tolist(), p[at].tolist(), adjusted[at].tolist(), strict=True)
    threshold = float(p[significant].max()) if significant.any() else None
    return better.tolist(), worse.tolist(), np.cumsum([1, *begins]).tolist(), list(to_next), threshold
