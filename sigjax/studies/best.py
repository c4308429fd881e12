r"""Sequential search for the best systems: which may still be among the best, and which need no more results?

**The rule.** Let $E_{jk}$ be the one-sided evidence (an e-process, see `eprocess`) that rival j is better than system
k. System k is a best system if, on every unit on which it differs from a rival, this rival is ahead with a probability
of at most 1/2, given the size of their difference and all earlier units. Then the expectation of each $E_{jk}$ is at
most 1 at any stopping time. The same holds for $E_k$, the mean of $E_{jk}$ over all rivals j. System k is dropped, and
needs no more results, as soon as $E_k \ge 1 / \alpha$. By Ville (1939), the probability that a given best system is
ever dropped is at most $\alpha$, however many systems there are and however they depend on each other.

**The best `keep` systems.** If `keep` systems count as best, up to keep - 1 rivals may be better than one of them. Then
$E_k$ is the mean of only the (systems - keep) smallest values $E_{jk}$. At least (systems - keep) rivals are not
better. So $E_k$ is at most the mean of $E_{jk}$ over these rivals, whose expectation is at most 1.

**Means.** For right-or-wrong answers of independently drawn instances, all nonzero differences have the same size. So
the system with the highest true mean is a best system. For other scores it may not be: its rival may be slightly ahead
on most instances and far behind on a few. Then the system with the highest mean may be dropped with a probability above
$\alpha$.

Evidence from a dropped rival stays as it was when the rival was dropped. Reference: Arnold et al. (2026), "Sequential
model confidence sets", arXiv 2404.18678.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import sigjax.report.words as words
from sigjax.report.document import Block
from sigjax.report.sections import Table
from sigjax.studies.study import more_in_json

Goal = Literal["pairs", "best"]
CAUTION = "If few large differences decide the mean, the system with the best mean may be dropped more often."
_SHOWN = 50
"""The text shows at most this many systems."""


def evidence_against(sides: np.ndarray, members: np.ndarray, number: int, keep: int) -> np.ndarray:
    """Return the logarithms of $E_k$ `[..., system]`; $E_k$ is the evidence that system k is not among the best.

    It is computed from the evidence of all pairs of systems. `members` `[pair, 2]` are the two systems of each pair.
    `sides` `[side, ..., pair]` are the logarithms of the evidence that the first system of the pair is better (side 0),
    and that the second system is better (side 1). `number` is the number of systems, and `keep` the number of systems
    that count as best.

    >>> members = np.array([[0, 1], [0, 2], [1, 2]])
    >>> sides = np.log([[4.0, 9.0, 2.0], [0.5, 0.1, 0.6]])  # the first system is better than both others
    >>> np.exp(evidence_against(sides, members, 3, keep=1)).round(2)
    array([0.3, 2.3, 5.5])
    >>> np.exp(evidence_against(sides, members, 3, keep=2)).round(2)
    array([0.1, 0.6, 2. ])
    """
    first, second = members.T
    of_rivals = np.full((*sides.shape[1:-1], number, number), -np.inf)
    of_rivals[..., second, first], of_rivals[..., first, second] = sides
    smallest = np.sort(of_rivals, axis=-1)[..., 1 : 1 + number - keep]  # index 0 is a system against itself: E = 0
    log_e = np.logaddexp.reduce(smallest, axis=-1) - math.log(number - keep)
    return np.where((smallest == 0.0).all(axis=-1), 0.0, log_e)  # without rounding, E is 1 if E of all rivals is 1


@dataclass(frozen=True, slots=True)
class SystemStanding:
    """Whether a system may still be among the best.

    Attributes:
        delta: mean score minus the mean score of the first system in the list, on the units that have results of both
            systems. The first system has the least evidence against it.
        log10_e: base-10 logarithm of $E_k$, the evidence that the system is not among the best; it no longer changes
            after the system is dropped.
        p_value: p for the hypothesis that the system is among the best: 1 / the largest $E_k$ so far, at most 1. It is
            valid however often you look.
        dropped_at: the number of units after which the system was dropped; None if it may still be among the best.
    """

    system: str
    delta: float
    log10_e: float
    p_value: float
    dropped_at: int | None


def standings_of(
    systems: Sequence[str],
    members: np.ndarray,
    means: np.ndarray,
    log_e: np.ndarray,
    largest: np.ndarray,
    dropped_at: np.ndarray,
) -> tuple[SystemStanding, ...]:
    """Return the standing of each system: first systems that may be among the best, then dropped systems.

    Systems that may be among the best are sorted by the evidence against them, the least first. The most recently
    dropped system comes first among the dropped systems. `members` `[pair, 2]` are the positions of the two systems of
    each pair. `means` `[pair]` is the mean score of the first system, minus the mean score of the second system. $E_k$
    is the evidence that system k is not among the best. `log_e` and `largest` `[system]` are the logarithms of the
    present $E_k$, and of the largest $E_k$ so far. `dropped_at` `[system]` is 0 for systems that were not dropped.
    """
    deltas = np.zeros((len(systems), len(systems)))
    deltas[tuple(members.T)], deltas[tuple(members.T[::-1])] = means, -means
    order: list[int] = np.lexsort([log_e, -np.where(dropped_at > 0, dropped_at, math.inf)]).tolist()
    return tuple(
        SystemStanding(
            system=systems[k],
            delta=float(deltas[k, order[0]]),
            log10_e=float(log_e[k]) / math.log(10.0),
            p_value=math.exp(-max(float(largest[k]), 0.0)),
            dropped_at=int(dropped_at[k]) or None,
        )
        for k in order
    )


def best_words(
    standings: Sequence[SystemStanding], keep: int, alpha: float, unit: str, *, going_on: bool, binary: bool
) -> tuple[str, list[Block], list[Block]]:
    """Return three things for the text: the verdict, the lines that explain the verdict, and the table of systems.

    `keep` is the number of systems that count as best. `going_on`: whether more results are needed. `binary`: whether
    the scores are 0 or 1.
    """
    left = [each.system for each in standings if each.dropped_at is None]
    gone = [each.system for each in standings if each.dropped_at]
    what = "the best" if keep == 1 else f"among the best {keep}"
    said = f"{len(left):,} of {words.count(len(standings), 'system')} may be {what}"
    if len(left) <= keep:
        said = f"{words.first_of(left, 4)} {'is' if len(left) == 1 else 'are'} {what}"
    lines: list[Block] = [f"May stop: {words.first_of(gone, 8)}"] if gone else []
    if keep < len(left) <= 8:
        lines.append(f"{'Left' if going_on else 'Not told apart'}: {words.first_of(left, 8)}")
    rate = f"with probability at most {alpha:.3g}, however often you look"
    lines.append(f"A system that is {what} is dropped {rate}.")
    lines.append(f'p of "{what}": a small p speaks against the system; a p of 1 does not show that it is {what}.')
    if not binary:
        lines.append(f'"Best": among units with one size of difference, ahead at least as often as behind. {CAUTION}')
    lines.append(f"The order of the {unit}s must be random: shuffle what is sorted.")
    shown = standings[:_SHOWN]
    spec, at = words.number_spec([each.delta for each in shown]), f"dropped at{' cluster' * (unit == 'cluster')}"
    columns = {
        "system": [each.system for each in shown],
        "delta to the first": [f"{each.delta:+{spec}}" for each in shown],
        f'p of "{what}"': [words.format_p(each.p_value, threshold=alpha) for each in shown],
        at: [f"{each.dropped_at:,}" if each.dropped_at else "left" for each in shown],
    }
    return said, lines, ["", Table.of(columns, names=(0,)), *more_in_json(len(standings) - len(shown), "system")]
