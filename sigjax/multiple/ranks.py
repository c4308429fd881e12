"""Ranks of systems: ranks from the decisions on all pairs, and intervals of ranks on bootstrap resamples.

The decisions give letters, clusters, ranks and the top group. The systems are sorted, best first. The decisions need
not be transitive.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from sigjax.run.context import Run, fits, gib, in_threads
from sigjax.testing.problem import Problem
from sigjax.testing.replicates import Pieces, kept_replicates

_CACHED = 2**18
"""Most replicates per block of comparisons."""


def bootstrap_ranks(
    problem: Problem, run: Run, drawn: np.ndarray | None, pieces: Callable[[Run], Pieces]
) -> list[tuple[int, int]] | None:
    """The interval of the rank of each system; None if the replicates do not fit into memory.

    `drawn` are the bootstrap scores `[system, resample]`, if they are available; they are overwritten. Else `pieces`
    draws them, for a part of a run, piece by piece.
    """
    settings, hypotheses = problem.settings, problem.hypotheses
    tally = run.checkpoint.tally(ranks=len(hypotheses.scores))
    if tally is not None:
        ranks = tally.arrays["ranks"]
    else:
        shape = (len(hypotheses.scores), run.resamples)
        if not fits(gib(shape), settings):
            return None
        values = kept_replicates(pieces, shape[0], run) if drawn is None else drawn
        if run.checkpoint.is_part:
            return None
        values *= 1.0 if problem.metric.higher_is_better else -1.0
        ranks = rank_quantiles(values, np.array(hypotheses.tolerances), settings.confidence_level)
        run.checkpoint.finish(0, run.resamples, ranks=ranks)
    return [(low, high) for low, high in ranks.tolist()]


def rank_quantiles(values: np.ndarray, rounding: np.ndarray, level: float) -> np.ndarray:
    r"""Percentile intervals `[system, 2]` of the rank, from replicates `[system, resample]`; larger is better.

    On each resample a system has a best rank, 1 + the number of better systems, and a worst rank, the number of systems
    that are not worse; they differ for ties. The low end is the quantile (1 - level) / 2 of the best ranks, the high
    end the quantile (1 + level) / 2 of the worst ranks. Between two ranks, the quantile is the outer rank. `rounding`
    `[system]` is the rounding error of scores.

    >>> rank_quantiles(np.array([[3.0, 3.0], [2.0, 4.0], [1.0, 1.0]]), np.zeros(3), 0.95)
    array([[1, 2],
           [1, 2],
           [3, 3]])
    """
    levels = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    width = max(1, _CACHED // len(values))

    def of_system(system: int) -> tuple[int, int]:
        tolerance = 2.0 * (rounding + rounding[system])[:, None]
        best, worst = np.empty((2, values.shape[1]), np.int64)
        for start in range(0, values.shape[1], width):
            some = slice(start, start + width)
            ahead = values[:, some] - values[system, some]
            best[some] = 1 + np.count_nonzero(ahead > tolerance, axis=0)
            worst[some] = np.count_nonzero(ahead >= -tolerance, axis=0)
        return (int(np.quantile(best, levels[0], method="lower")), int(np.quantile(worst, levels[1], method="higher")))

    return np.array(in_threads(of_system, range(len(values))))


LETTERS = string.ascii_letters
_LETTERED = 100
"""Most systems that get letters: more letters are unreadable, and cliques of very many systems take long to find."""


DECIDED = ("rank_interval", "letters", "rank_cluster", "in_top_group")
"""The fields of `SystemScore` that follow from the decisions on pairs."""


def significance_ranks(better: np.ndarray, worse: np.ndarray, count: int) -> dict[str, Sequence[Any]]:
    """Ranks, letters and clusters of each system `[system]`, best first, by the fields `DECIDED`.

    `better` and `worse` are the indices `[pair]` of the systems of all pairs that differ significantly.
    """
    beats = np.zeros((count, count), bool)
    beats[better, worse] = True
    letters = compact_letters(beats | beats.T) if count <= _LETTERED else None
    of_systems = rank_intervals(beats), letters or [None] * count, significance_clusters(beats), top_group(beats)
    return dict(zip(DECIDED, of_systems, strict=True))


def compact_letters(differs: np.ndarray) -> tuple[str, ...] | None:
    r"""Compact letter display: two systems share a letter if and only if they do not differ significantly.

    Each letter stands for a clique: a group in which no two systems differ. Every pair that does not differ is in some
    clique. A clique starts from the best system with a pair that is in no clique yet, and from its worst such partner,
    and grows in the order of the systems. In the end, cliques that cover no pair alone are removed. If two systems
    differ exactly when their scores are far enough apart, the number of letters is minimal; in general it may be
    larger. `differs` is `[system, system]`, symmetric. Letters `[system]` are in alphabetic order, a to z and then A to
    Z; None if these 52 do not suffice.

    Reference: Piepho (2004), "An algorithm for a letter-based representation of all-pairwise comparisons"; Gramm et al.
    (2007), "Algorithms for compact letter displays", with this method of clique growing.

    >>> compact_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ('a', 'ab', 'b')
    """
    cliques = letter_groups(differs)
    if len(cliques) > len(LETTERS):
        return None
    letters = [""] * len(differs)
    for letter, clique in zip(LETTERS, cliques, strict=False):
        for system in clique:
            letters[system] += letter
    return tuple(letters)


def letter_groups(differs: np.ndarray) -> list[list[int]]:
    """The indices of the systems with each letter, see `compact_letters`; better systems first."""
    alike = ~differs.astype(bool) | np.eye(len(differs), dtype=bool)
    missing, cliques = np.triu(alike), list[list[int]]()
    for best in range(len(alike)):
        while missing[best].any():
            # A system and itself count as a last pair, so that a system alone in a clique differs from all others.
            worst = int(np.flatnonzero(missing[best])[-1])
            members, candidates = {best, worst}, alike[best] & alike[worst]
            candidates[[best, worst]] = False
            while candidates.any():
                member = int(candidates.argmax())
                members.add(member)
                candidates &= alike[member]
                candidates[member] = False
            cliques.append(sorted(members))
            missing[np.ix_(cliques[-1], cliques[-1])] = False
    return sorted(_needed(cliques))


def _needed(cliques: list[list[int]]) -> list[list[int]]:
    """The cliques that are needed: a clique is removed, smallest first, if other cliques contain all its pairs."""
    held = Counter(pair for clique in cliques for pair in combinations_with_replacement(clique, 2))
    kept = []
    for clique in sorted(cliques, key=len):
        pairs = list(combinations_with_replacement(clique, 2))
        if all(held[pair] > 1 for pair in pairs):
            held.subtract(pairs)
        else:
            kept.append(clique)
    return kept


def significance_clusters(beats: np.ndarray) -> tuple[int, ...]:
    """Clusters `[system]` from 1: every system is significantly better than all systems of later clusters.

    This is the largest possible number of clusters, as in the rankings of the Conference on Machine Translation (WMT).
    `beats` `[system, system]`: whether the first of two systems is significantly better.

    >>> significance_clusters(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool))
    (1, 1, 2)
    """
    not_beaten = np.triu(~beats.astype(bool))
    last = np.maximum.accumulate(len(beats) - 1 - not_beaten[:, ::-1].argmax(axis=1))
    return tuple(np.cumsum([1, *(last[:-1] < np.arange(1, len(beats)))]).tolist())


def rank_intervals(beats: np.ndarray) -> tuple[tuple[int, int], ...]:
    r"""Intervals `[system]` of the rank, which is 1 + the number of systems that are truly better.

    $[1 + \#\{\text{significantly better}\},\; n - \#\{\text{significantly worse}\}]$. An interval can miss only if some
    decision is wrong. So all intervals hold simultaneously if no decision is wrong. This has at least the probability
    `level`, if the tests keep their level and the correction bounds the familywise error (including significant
    differences in the wrong direction). Quantiles of bootstrap ranks are too narrow if systems are nearly equal.
    `beats` is the argument of `significance_clusters`. Reference: Mogstad, Romano, Shaikh and Wilhelm (2024),
    "Inference for ranks with applications to mobility across neighbourhoods and academic achievement across countries",
    section 3.

    >>> rank_intervals(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool))
    ((1, 2), (1, 3), (2, 3))
    """
    low, high = 1 + beats.sum(axis=0), len(beats) - beats.sum(axis=1)
    return tuple(zip(low.tolist(), high.tolist(), strict=True))


def top_group(beats: np.ndarray) -> tuple[bool, ...]:
    """Whether each system `[system]` may be the best: no system is significantly better, its rank interval begins at 1.

    A truly best system is left out only by a wrong decision, so if no decision is wrong, the group contains all truly
    best systems (see `rank_intervals`). The group is empty only if each system is significantly worse than some other
    system, which can happen only with pairs on different instances. `beats` is the argument of `significance_clusters`.

    >>> top_group(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool))
    (True, True, False)
    """
    return tuple(np.logical_not(beats.any(axis=0)).tolist())
