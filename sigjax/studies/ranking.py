"""Leaderboards of any size: all pairs of systems with right-or-wrong answers are tested, but not stored.

A pair of systems is reduced to two integers: m, the number of instances that exactly one of them has right, and k, the
difference of their numbers of right answers. p is the p-value of the sign test, which is the exact permutation test for
such answers.

The systems are compared in tiles: a tile is a block of systems against a block of systems. It is computed by products
of bytes on a GPU, and by counting differing bits on a CPU. There are two passes. The first pass counts the pairs with
each (m, k). This gives the distinct p-values, their correction, and the smallest significant k for each m. The second
pass decides each pair and counts the decisions of each system. So memory holds only the answers and these counts,
however many pairs there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from sigjax.metrics import canonical
from sigjax.metrics.ratios import mean_score
from sigjax.multiple.discoveries import RealDifferences, least_true
from sigjax.readers.options import check_meant, reading
from sigjax.records import Array, InputError, Interval, Settings
from sigjax.records.options import check, same, takes
from sigjax.records.settings import CORRECTIONS, PValueCorrection, adjust
from sigjax.report.document import Block, Document
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.report.words import (
    LOWER,
    best_sentence,
    count,
    first_of,
    format_interval,
    format_p,
    format_ranks,
    number_spec,
    percent,
    real_sentence,
)
from sigjax.run.backend import Backend, Kernel, choose_backend, compiled, on_all_devices
from sigjax.run.context import ahead, gib, num_cores
from sigjax.run.costs import RIGHT_OR_WRONG_PRODUCT
from sigjax.run.loops import WORDS, differing, look_up, map_items, scan, slice_at
from sigjax.studies.study import StudyOptions, more_in_json, study_signature
from sigjax.studies.trials import LABELS, by_one_metric
from sigjax.testing.intervals import wilson_interval
from sigjax.testing.permutation import settled_signs, sign_ps

_TILE = {"numpy": 1024, "cpu": 1024, "gpu": 4096}
"""The number of systems on each side of a tile (a block of systems against a block of systems), for each platform."""
_MOST_CELLS = 2**28
"""At most this many counters of pairs are kept, one for each (m, k) as at the top of this file: m instances on which
the systems differ, and the first system has k more right answers. The counters take 2 GiB."""
_MOST_INSTANCES = 2**24
"""There must be fewer instances than this, so that float32 holds all counts of instances exactly."""
_SHOWN, _NAMED = 50, 5


@dataclass(frozen=True, kw_only=True)
class RankOptions(StudyOptions):
    """The options of `rank`."""

    correction: PValueCorrection = same(Settings, "correction")
    confidence_level: float = same(Settings, "confidence_level")


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system of the leaderboard.

    Attributes:
        score: share of ones: of right answers or, if lower scores are better, of errors.
        interval: Wilson's score interval of the share; None with only one instance, as in `compare`.
        rank_interval: lowest and highest possible rank: 1 + the number of significantly better systems, and the number
            of systems - the number of significantly worse systems.
        cluster: cluster number, from 1; each system is significantly better than all systems in later clusters.
        in_top_group: whether no system is significantly better, so that this system may be the best.
        better: number of systems that this system is significantly better than.
        worse: number of systems that are significantly better than this system.
        not_significant: number of systems without a significant difference to this system.
        delta: score minus the score of the next system; None for the last system.
        p_value: p-value of the exact test against the next system.
        p_adjusted: p_value adjusted for all pairs of the board.
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
class Ranking(Result):
    """Result of `rank`: the ranking, after tests of all pairs.

    Attributes:
        systems: the systems, the best first. Systems with equal scores are in the order of the data.
        lower_is_better: whether the lowest score is the best, because the metric counts errors.
        num_real: at least this number of the significant differences are real (the two systems truly differ), at
            `confidence_level` (closed testing).
        num_real_of_all: at least this number of all differences are real, at the same level.
        threshold: the largest unadjusted p-value that is significant; None if no pair is significant.
        correction: how p is adjusted for all pairs.
        confidence_level: confidence level of the intervals; differences are significant at 1 - confidence_level.
    """

    rows = "systems"

    systems: tuple[RankedSystem, ...]
    metric: str
    lower_is_better: bool
    num_instances: int
    num_pairs: int
    num_significant: int
    num_real: int
    num_real_of_all: int
    threshold: float | None
    correction: PValueCorrection
    confidence_level: float
    signature: str

    def document(self) -> Document:
        """The document has the verdict on the best systems, and a row for each system."""
        alpha, shown = 1.0 - self.confidence_level, self.systems[:_SHOWN]
        spec = number_spec([each.score for each in self.systems])
        title = CORRECTIONS[self.correction].title
        size = f"{self.metric} on {count(self.num_instances, 'instance')}, {count(len(self.systems), 'system')}"
        size += LOWER * self.lower_is_better
        lines: list[Block] = [
            size,
            f"{self.num_significant:,} of {count(self.num_pairs, 'pair')} differ significantly: exact permutation "
            f"test, two-sided, p adjusted by {title} over all pairs, at {alpha:.3g}",
            *self.real_sentence(),
            "",
        ]
        lines += [self.table(shown), *more_in_json(len(self.systems) - len(shown), "system")]
        lines += ["", "one pair: sigjax compare, with the same files and --only A B", self.signature]
        return Document("Ranks", size, self._verdict(spec), lines)

    def table(self, shown: Sequence[RankedSystem]) -> Table:
        """Return a table with a row for each of the systems `shown`."""
        alpha, spec = 1.0 - self.confidence_level, number_spec([each.score for each in self.systems])
        next_p = [each.p_adjusted for each in shown]
        columns = {
            "rank": [format_ranks(each.rank_interval) for each in shown],
            "system": [each.system for each in shown],
            "score": [f"{each.score:{spec}}" for each in shown],
            f"{percent(self.confidence_level)} interval": [format_interval(each.interval, spec) for each in shown],
            "beats": [f"{each.better:,}" for each in shown],
            "not significant": [f"{each.not_significant:,}" for each in shown],
            "beaten by": [f"{each.worse:,}" for each in shown],
            "p to next": ["" if p is None else format_p(p, threshold=round(alpha, 12)) for p in next_p],
            "group": ["best" if each.in_top_group else str(each.cluster) for each in shown],
        }
        return Table.of(columns, names=(1,), optional=("not significant",))

    def real_sentence(self) -> list[Block]:
        """Return a sentence with the lower bound on real differences (pairs of systems that truly differ).

        The list is empty if fewer than two pairs differ significantly.
        """
        if self.num_significant < 2:
            return []
        return [real_sentence(self.real_differences, self.confidence_level)]

    @property
    def real_differences(self) -> RealDifferences:
        """The lower bounds on real differences (pairs of systems that truly differ), as a record for boards."""
        numbers = self.num_significant, self.num_real, self.num_pairs, self.num_real_of_all
        return RealDifferences(self.metric, *numbers)

    def _verdict(self, spec: str) -> str:
        """Say which system is the best, and which are not significantly worse, in the same words as `compare`."""
        top = [each for each in self.systems if each.in_top_group]
        named = [f"{each.system} ({each.score:{spec}})" for each in top]
        if len(top) == len(self.systems):
            return f"No system is significantly better than another; the best score is that of {named[0]}."
        best = [each.score for each in top].count(top[0].score)
        worse = [f"{each.system} ({each.score:{spec}})" for each in self.systems if not each.in_top_group]
        beaten = top[0].better if best == 1 or top[0].better == len(worse) else None
        return best_sentence(first_of(named[:best], _NAMED), first_of(named[best:], _NAMED), worse, beaten=beaten)


@takes(RankOptions)
def rank(data: Any, options: RankOptions) -> Ranking:
    r"""Rank many systems by right-or-wrong answers: all pairs are tested exactly and corrected, but not stored.

    If two systems differ on m instances, and the better system is right on (m + k) / 2 of these, the permutation test
    has $p = \min(1, 2 P(X \ge (m + k) / 2))$, where X is binomial(m, 1/2). Decisions, ranks and adjusted p-values are
    the same as in `compare`. For up to a few thousand systems, `compare` reports more, because it stores all pairs.

    Args:
        data: what `compare` takes, with a metric whose scores are 0 or 1, such as accuracy. A dict of bool arrays takes
            the least memory: one byte per answer.
        options: the fields of `RankOptions`, as keyword arguments.

    Raises:
        InputError: an answer is neither 0 nor 1; there are clusters, strata, runs or missing results; there are fewer
            than two systems, or more than `2**28` possible pairs of numbers (m, k).

    Reference: Holm (1979) and the other papers in `sigjax help corrections`; for the ranks, Mogstad et al. (2024).

    Example:
        >>> answers = np.arange(40) < np.array([[38], [37], [12]])
        >>> board = rank({"A": answers[0], "B": answers[1], "C": answers[2]})
        >>> [(each.system, each.rank_interval, each.better) for each in board.systems]
        [('A', (1, 2), 1), ('B', (1, 2), 1), ('C', (3, 3), 0)]
    """
    check(options)
    names, answers, metric, lower = _answers(data, options)
    right = np.count_nonzero(answers, axis=1)
    order = np.argsort(-right, kind="stable")
    right = right[order].astype(np.int32)
    better, worse, clusters, to_next, real, threshold = _decided(answers[order], right, options)
    ones = answers.shape[1] - right if lower else right
    intervals: list[Interval | None] = [None] * len(names)
    if answers.shape[1] > 1:
        ends = wilson_interval(ones.astype(np.float64), answers.shape[1], options.confidence_level)
        intervals = [Interval(*own) for own in np.transpose(ends).tolist()]
    scores, number, rest = (ones / answers.shape[1]).tolist(), len(names), len(names) - 1
    ordered = [names[at] for at in order.tolist()]
    to_next = [*((-delta if lower else delta, *p) for delta, *p in to_next), (None, None, None)]
    rows = zip(ordered, scores, intervals, better, worse, clusters, to_next, strict=True)
    systems = tuple(
        RankedSystem(name, score, own, (1 + lost, number - won), group, not lost, won, lost, rest - won - lost, *to)
        for name, score, own, won, lost, group, to in rows
    )
    return Ranking(
        systems=systems,
        metric=metric,
        lower_is_better=lower,
        num_instances=answers.shape[1],
        num_pairs=number * (number - 1) // 2,
        num_significant=sum(better),
        num_real=real[0],
        num_real_of_all=real[1],
        threshold=threshold,
        correction=options.correction,
        confidence_level=options.confidence_level,
        signature=study_signature("rank", options, metric=metric, systems=number, instances=answers.shape[1]),
    )


def _answers(data: Any, options: RankOptions) -> tuple[list[str], np.ndarray, str, bool]:
    """Return the names of the systems, their answers, the name of the metric, and whether lower scores are better.

    The answers are `[system, instance]` uint8: 1 for right and 0 for wrong. If lower scores are better, 1 is an error
    in the data, and a right answer here is a 0 there.
    """
    lower, arrays = False, cast("Mapping[Any, Any]", data if isinstance(data, Mapping) else {})
    if arrays and all(isinstance(each, np.ndarray) and each.dtype == bool for each in arrays.values()):
        if len({each.shape for each in arrays.values()}) > 1:
            raise InputError("systems have different numbers of answers; expected one per instance")
        given = reading(options.read)
        check_meant(given, "arrays of answers", ("metric",))
        names, metric = list(map(str, arrays)), canonical(str(given.metric or "accuracy"))
        if metric not in ("accuracy", "mean"):
            raise InputError(
                f"rank takes answers right (True) or wrong (False), by accuracy, got the metric {metric!r}"
            )
        answers = np.stack([np.asarray(each) for each in arrays.values()]).view(np.uint8)
    else:
        evaluation = by_one_metric(data, options.read, LABELS, progress=options.progress)
        for name in ("clusters", "strata", "runs", "present"):
            if getattr(evaluation, name) is not None:
                raise InputError(f"rank takes one answer per system and instance, without {name}; see compare")
        names, metric, values = list(evaluation.systems), evaluation.metric.name, evaluation.stats
        is_share = getattr(evaluation.metric, "score", None) is mean_score and (values[..., 1:] == 1).all()
        if not (is_share and ((values[..., 0] == 0) | (values[..., 0] == 1)).all()):
            raise InputError(f"rank takes answers right (1) or wrong (0), and {metric} is no share of them")
        answers, lower = values[..., 0].astype(np.uint8), not evaluation.metric.higher_is_better
        answers = 1 - answers if lower else answers
    if len(names) < 2 or answers.ndim != 2 or not answers.shape[1]:
        raise InputError(f"rank takes two systems or more and one instance or more, got {answers.shape}")
    if answers.shape[1] >= _MOST_INSTANCES:
        raise InputError(f"rank takes fewer than {_MOST_INSTANCES:,} instances, got {answers.shape[1]:,}")
    return names, answers, metric, lower


class _Board(NamedTuple):
    """The systems of the leaderboard, the best first.

    For compiled programs, the arrays are padded with empty systems, so that all tiles (blocks of systems) have the same
    size.
    """

    answers: Array
    """`[system, instance]` int8, 1 for right and -1 for wrong; or bits `[system, word]` uint64 on a CPU."""
    right: Array
    """`[system]` int32: number of right answers."""
    number: Array
    """Scalar int32: number of systems; the empty systems that pad the arrays are not counted."""
    instances: Array
    """Scalar int32: number of instances."""


def _board(answers: np.ndarray, right: np.ndarray, backend: Backend) -> _Board:
    """Pack the answers `[system, instance]` for a backend: as bits on a CPU, else as bytes.

    On the other backends, matrix products of bytes are faster than counting bits. `right` `[system]` are the numbers of
    right answers.
    """
    number, instances = answers.shape
    lacking = -number % _TILE[backend.platform] if backend.devices else 0
    if backend.platform == "cpu":
        bits = np.packbits(answers, axis=1)
        packed = np.pad(bits, ((0, lacking), (0, -bits.shape[1] % (8 * WORDS)))).view(np.uint64)
    else:
        packed = np.pad(2 * answers.view(np.int8) - 1, ((0, lacking), (0, 0)))
    counts = np.pad(right, (0, lacking)), np.array(number, np.int32), np.array(instances, np.int32)
    return _Board(packed, *counts)


def _pair_of(board: _Board, at: Array, size: int) -> tuple[Array, Array, Array, Array]:
    """Return four arrays for a tile (a block of systems against a block of systems).

    The arrays are: m, the number of instances on which two systems differ; k, by how many right answers the first
    system is ahead; a mask of the real pairs; and the indices of the second systems. m, k and the mask are
    `[first, second]`; the indices are `[second]`. `at` contains the first index on each side of the tile, and `size` is
    its number of systems on each side. In a real pair, the first index is below the second index, and neither system is
    one of the empty systems that pad the arrays.
    """
    xp = board.right.__array_namespace__()
    first, second = (slice_at(board.answers, start, size) for start in at)
    ones = [slice_at(board.right, start, size) for start in at]
    places = [start + xp.arange(len(side), dtype=xp.int32) for start, side in zip(at, (first, second), strict=True)]
    at_first, at_second = places
    pairs = (at_first[:, None] < at_second) & (at_second < board.number)
    return differing(first, second, board.instances), ones[0][:, None] - ones[1][None, :], pairs, at_second


def _cells_of_tile(at: Array, board: _Board, *, size: int, width: int, most: int) -> Array:
    """Return the index of the counter for each pair of the tile `at`: m * width + k // 2, `[first * second]` int32.

    m is the number of instances on which two systems differ, and k is by how many right answers the first system is
    ahead. Entries that are not a real pair (see `_pair_of`) have the index `most`. k // 2 loses nothing, because m and
    k are both even or both odd.
    """
    m, k, pairs, _ = _pair_of(board, at, size)
    return board.right.__array_namespace__().where(pairs, m * width + k // 2, most).ravel()


def _counts_of_tiles(at: Array, board: _Board, *, size: int, width: int, most: int) -> Array:
    """Return the number of pairs in each counter, `[most]` int64, over the tiles `at` `[tile, 2]`.

    There is a counter for each (m, k): two systems differ on m instances, and the first system is ahead by k right
    answers. `_cells_of_tile` gives the index of the counter. This function runs in JAX.
    """
    xp = at.__array_namespace__()

    def add(counts: Any, of_tile: Array) -> tuple[Array, tuple[()]]:
        return counts.at[_cells_of_tile(of_tile, board, size=size, width=width, most=most)].add(1), ()

    return scan(add, xp.zeros(most + 1, xp.int64), at)[0][:most]


def _wins_of_tiles(at: Array, board: _Board, least: Array, *, size: int) -> tuple[Array, ...]:
    """Decide the pairs in the tiles `at` `[tile, 2]`; return three arrays `[tile, system]` int32.

    A pair is significant if k >= `least` `[m]`: the two systems differ on m instances, and the first system has k more
    right answers. The arrays contain: for each first system, how many second systems it is better than; for each second
    system, how many first systems are better than it; for each first system, the index of the last second system that
    it is not better than (-1 if it is better than all).
    """

    def of_tile(at: Array) -> tuple[Array, ...]:
        m, k, pairs, other = _pair_of(board, at, size)
        xp = m.__array_namespace__()
        wins = k >= look_up(least, m)
        won, lost = (xp.sum(wins & pairs, axis=axis, dtype=xp.int32) for axis in (1, 0))
        return won, lost, xp.max(xp.where(pairs & ~wins, other, -1), axis=1).astype(xp.int32)

    return map_items(of_tile, at)


def _pairs_of_cells(tiles: Iterable[np.ndarray], most: int) -> np.ndarray:
    """Return the number of pairs in each counter, `[most]`; `most` is the number of counters.

    Each array of `tiles` has the index of the counter for each pair of a tile. Entries with the index `most` are not
    real pairs. The counts are int64, because 66,000 systems have more than `2**31` pairs.
    """
    counts = np.zeros(most + 1, np.int64)
    for cells in tiles:
        np.add.at(counts, cells, 1)
    return counts[:most]


class _Tiles:
    """The tiles of a leaderboard (blocks of systems against blocks of systems), and their computation.

    A GPU computes all tiles in one call, each core of a CPU computes one tile at a time, and NumPy computes one tile
    after another.
    """

    def __init__(self, answers: np.ndarray, right: np.ndarray, backend: Backend) -> None:
        self.backend, self.size = backend, _TILE[backend.platform]
        self.board = _board(answers, right, backend)
        if backend.devices:
            self.board = on_all_devices(backend.devices[:1], self.board)
        starts = range(0, len(right), self.size)
        self.at = np.array([(i, j) for i in starts for j in starts if i <= j], np.int32)

    def counts(self, num_instances: int, width: int) -> np.ndarray:
        """Return the number of pairs with each (m, k): a flat int64 array, with the index m * width + k // 2.

        m is the number of instances on which two systems differ, and k is by how many right answers the first system is
        ahead. `num_instances` is the largest possible m, and `width` the number of possible values of k // 2. k // 2
        loses nothing, because m and k are both even or both odd.
        """
        static = {"size": self.size, "width": width, "most": (num_instances + 1) * width}
        if self.backend.platform == "gpu":
            return np.asarray(self._program(_counts_of_tiles, static)(self.at, self.board))
        program = self._program(_cells_of_tile, static)
        return _pairs_of_cells(self._ahead(lambda at: np.asarray(program(at, self.board)), self.at), static["most"])

    def wins(self, least: np.ndarray) -> Iterator[tuple[list[int], list[np.ndarray]]]:
        """Decide all pairs; yield two things for each tile: the first index on each side, and three arrays `[system]`.

        A pair that differs on m instances is significant if the first system has at least `least` `[m]` more right
        answers. `_wins_of_tiles` describes the three arrays: the numbers of wins and of losses, and the last pair
        without a win.
        """
        program = self._program(_wins_of_tiles, {"size": self.size})
        parts = self.at[None] if self.backend.platform == "gpu" else self.at[:, None]
        decided = self._ahead(lambda at: [np.asarray(each) for each in program(at, self.board, least)], parts)
        for part, results in zip(parts, decided, strict=True):
            for starts, *of_tile in zip(part.tolist(), *results, strict=True):
                yield starts, of_tile

    def _program(self, kernel: Kernel, static: dict[str, int]) -> Callable[..., Any]:
        if not self.backend.devices:
            return partial(kernel, **static)
        return compiled(kernel, tuple(static.items()), self.backend.platform, wide_vectors=True)

    def _ahead(self, function: Callable[[np.ndarray], Any], parts: np.ndarray) -> Iterator[Any]:
        return ahead(function, parts, num_cores() if self.backend.platform == "cpu" else 1)


def _decided(answers: np.ndarray, right: np.ndarray, options: RankOptions) -> tuple[Any, ...]:
    """Test all pairs in two passes: first count the pairs with each (m, k), then decide each pair.

    m is the number of instances on which two systems differ, and k is by how many right answers the first system is
    ahead. `answers` `[system, instance]` and `right` `[system]` (numbers of right answers) are sorted, best system
    first.

    Returns six things. Three are lists with a number for each system: how many systems it is better than, how many
    systems are better than it, and the number of its cluster (see `RankedSystem`). The fourth is a list for each system
    except the last: delta, p and adjusted p against the next system. The fifth is a list of two lower bounds: how many
    of the significant differences are real, and how many of all differences. The sixth is the largest significant p
    (None if no pair is significant).
    """
    number, num_instances = answers.shape
    width = int(right[0] - right[-1]) // 2 + 1
    if (num_instances + 1) * width > _MOST_CELLS:
        needs = f"{gib((num_instances + 1, width)):,.1f} GiB"
        raise InputError(f"rank would take {needs} for the counts of so many instances; split them")
    cost = RIGHT_OR_WRONG_PRODUCT * (number * number * num_instances)
    tiles = _Tiles(answers, right, choose_backend(options.device, cost))
    counts = tiles.counts(num_instances, width)
    cells = np.flatnonzero(counts)
    m, k = cells // width, 2 * (cells % width) + cells // width % 2
    p = sign_ps((m + k) // 2, (m - k) // 2, "two-sided")[0]
    adjusted = adjust(p, options.correction, counts[cells])
    alpha = Settings(confidence_level=options.confidence_level).alpha
    significant = adjusted < alpha
    least = np.full(num_instances + 1, num_instances + 1, np.int32)
    np.minimum.at(least, m[significant], k[significant].astype(np.int32))
    better, worse, last = np.zeros((3, len(tiles.board.right)), np.int64)
    last[:] = np.arange(len(last))
    for starts, (won, lost, until) in tiles.wins(least):
        first, second = (slice(start, start + tiles.size) for start in starts)
        better[first] += won
        worse[second] += lost
        last[first] = np.maximum(last[first], until)
    better, worse, last = better[:number], worse[:number], last[:number]
    begins = np.maximum.accumulate(last)[:-1] < np.arange(1, number)
    chunks = [slice(start, start + tiles.size) for start in range(0, number - 1, tiles.size)]
    pairs = (np.count_nonzero(answers[:-1][at] != answers[1:][at], axis=1) for at in chunks)
    next_m, next_k = np.concatenate(list(pairs)), -np.diff(right)
    at = np.searchsorted(cells, next_m * width + next_k // 2)
    shown = np.append(at, np.where(significant, p, 0.0).argmax())
    *p_next, largest = settled_signs((m + k)[shown] // 2, (m - k)[shown] // 2, "two-sided")[0].tolist()
    to_next = zip((next_k / num_instances).tolist(), p_next, adjusted[at].tolist(), strict=True)
    threshold = largest if significant.any() else None
    real = [least_true(p, chosen, alpha, counts[cells]) for chosen in (significant, np.ones(len(p), bool))]
    return better.tolist(), worse.tolist(), np.cumsum([1, *begins]).tolist(), list(to_next), real, threshold
