"""Of boards of 3, 10 and 25 systems: do intervals of all deltas hold together, and do they contradict adjusted p?

    python benchmarks/calibration/joint.py [--quick] [--output FILE.json]

Intervals of `auto` for each pair alone, at Bonferroni's level, and at that of `simultaneous`, beside p of permutation
tests adjusted by Holm (of right or wrong answers exact, else sampled). A pair is contradicted if its interval excludes
0 while the adjusted p is not below 0.05. Nothing is timed. Exits with 1 when, at Bonferroni's level, intervals of
answers right or wrong miss some delta in more than 5% of boards, or contradict more pairs than at the simultaneous one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from rates import make_problem, with_pairs
from scipy.special import ndtr
from shared import begin, finish, markdown_table, require_at_most, share_of

from sigjax.comparison.analysis import run_tests
from sigjax.records import Settings
from sigjax.records.settings import adjust
from sigjax.run.context import Context
from sigjax.testing.intervals import jackknife_intervals
from sigjax.testing.problem import SumsProblem

LEVEL, ALPHA = 0.95, 0.05
SYSTEMS, UNITS = (3, 10, 25), (10, 30, 100, 500)
BOARDS, QUICK_BOARDS = {3: 300, 10: 120, 25: 40}, 4
RESAMPLES = {3: 2**12, 10: 2**13, 25: 2**15}
"""So that a sampled p can be significant: 300 pairs / 32,769 is below 0.05."""
_FEW = 10
"""Units up to which reals and F1 are tested exactly."""
_SEED = 2032
BY = ("alone", "bonferroni", "simultaneous")


class World(NamedTuple):
    """A population of systems."""

    metric: str
    draw: Callable[[np.random.Generator, np.ndarray, int], np.ndarray]
    """(random numbers, shift of each system, units) -> inputs `[system, unit, input]`."""
    truths: Callable[[np.ndarray], np.ndarray]
    """Shifts -> scores of endless data."""


def _answers(rng: np.random.Generator, shifts: np.ndarray, size: int) -> np.ndarray:
    """Right or wrong: the chance is Phi(0.8 + 1.2 normal + shift)."""
    chance = ndtr(0.8 + 1.2 * rng.standard_normal((1, size, 1)) + shifts[:, None, None])
    return (rng.random(chance.shape) < chance).astype(np.int64)


def _lognormal(rng: np.random.Generator, shifts: np.ndarray, size: int) -> np.ndarray:
    """exp(0.8 shared + 0.6 own + shift) of standard normal numbers."""
    shared, own = rng.standard_normal((1, size, 1)), rng.standard_normal((len(shifts), size, 1))
    return np.exp(0.8 * shared + 0.6 * own + shifts[:, None, None])


def _f1(rng: np.random.Generator, shifts: np.ndarray, size: int) -> np.ndarray:
    """tp, predicted and gold: 1 + Poisson(3) gold items, found with Phi(0.9 + shift); false alarms are Poisson(0.6)."""
    gold = 1 + rng.poisson(3.0, (1, size)) + np.zeros((len(shifts), size), np.int64)
    tp = rng.binomial(gold, ndtr(0.9 + shifts)[:, None])
    return np.stack([tp, tp + rng.poisson(0.6, gold.shape), gold], axis=-1)


def _f1_truths(shifts: np.ndarray) -> np.ndarray:
    found = 4.0 * ndtr(0.9 + shifts)
    return 2.0 * found / (found + 0.6 + 4.0)


WORLDS = {
    "0/1": World("accuracy", _answers, lambda shifts: ndtr((0.8 + shifts) / math.hypot(1.0, 1.2))),
    "F1": World("fscore", _f1, _f1_truths),
    "lognormal means": World("mean", _lognormal, lambda shifts: math.exp(0.5) * np.exp(shifts)),
}
SPREADS = {"equal": 0.0, "apart": 0.6}
"""Shift of the best system; those of the others go down evenly to 0."""


class Row(NamedTuple):
    """What intervals of one kind do on the boards of a world."""

    world: str
    systems: int
    units: int
    by: str
    boards: int
    missed: int
    """Boards with some delta outside its interval."""
    pairs: int
    contradicted: int
    """Pairs whose interval excludes 0 though p adjusted by Holm is not below 0.05."""
    boards_contradicted: int
    significant: int
    """Pairs whose adjusted p is below 0.05."""
    undecided: int
    """Of these, those whose interval holds 0."""
    width: float
    """Mean length, in that of the interval for each pair alone."""


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    rows: list[Row] = []
    for systems in SYSTEMS:
        boards = QUICK_BOARDS if chosen.quick else BOARDS[systems]
        for name in WORLDS:
            for spread in SPREADS:
                for units in UNITS:
                    rows += measured(name, spread, systems, units, boards)
        print(f"\n{systems} systems\n\n{table([row for row in rows if row.systems == systems])}", flush=True)
    finish(chosen, level=LEVEL, resamples=RESAMPLES, boards=[row._asdict() for row in rows])
    joint = [row for row in rows if row.by == "bonferroni" and row.world.startswith("0/1")]
    missed = (share_of(row.world, row.units, "misses", row.by, row.missed, row.boards) for row in joint)
    require_at_most(1.0 - LEVEL, missed)
    if sum(row.contradicted for row in rows if row.by == "bonferroni") > sum(
        row.contradicted for row in rows if row.by == "simultaneous"
    ):
        raise AssertionError("Bonferroni's level contradicts more pairs than the simultaneous one")


def measured(name: str, spread: str, systems: int, units: int, boards: int) -> list[Row]:
    """The rows of a world, one per kind of interval."""
    world, shifts = WORLDS[name], np.linspace(SPREADS[spread], 0.0, systems)
    members = np.array(list(combinations(range(systems), 2)), np.int32)
    true = np.subtract(*world.truths(shifts)[members.T])
    sums, lengths = {by: np.zeros(6, int) for by in BY}, {by: 0.0 for by in BY}
    for board in range(boards):
        rng = np.random.default_rng((_SEED, list(WORLDS).index(name), systems, units, board, len(spread)))
        problem = with_pairs(make_problem(world.metric, world.draw(rng, shifts, units)[:, None], None, board), members)
        significant = adjust(_p_values(problem, units, RESAMPLES[systems]), "holm") < ALPHA
        alone = None
        for by, (low, high) in _intervals(problem).items():
            excludes, length = (low > 0.0) | (high < 0.0), high - low
            alone = length if alone is None else alone
            wrong = excludes & ~significant
            missed = ((low > true + 1e-12) | (true - 1e-12 > high)).any()
            hidden = (significant & ~excludes).sum()
            sums[by] += [missed, len(true), wrong.sum(), wrong.any(), significant.sum(), hidden]
            lengths[by] += float(length.mean() / alone.mean()) if alone.any() else 1.0
    rows = []
    for by in BY:
        missed, pairs, contradicted, boards_contradicted, significant, undecided = sums[by].tolist()
        counts = missed, pairs, contradicted, boards_contradicted, significant, undecided
        rows.append(Row(f"{name}, {spread}", systems, units, by, boards, *counts, lengths[by] / boards))
    return rows


def _p_values(problem: SumsProblem, units: int, resamples: int) -> np.ndarray:
    """P-values of all pairs by permutation."""
    exact = problem.metric.name == "accuracy" or units <= _FEW
    settings = replace(
        problem.settings, test="permutation", interval="none", resamples=resamples,
        method="auto" if exact else "montecarlo", budget=1e9 if exact else None,
    )  # fmt: skip
    return run_tests(replace(problem, settings=settings), Context("numpy"))[0]["permutation"].arrays("p_value")[0]


def _intervals(problem: SumsProblem) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Low and high ends `[pair]` by each kind."""
    found, settings = {}, Settings(seed=problem.settings.seed, confidence_level=LEVEL, resamples=10_000)
    num_pairs = len(problem.hypotheses.members)
    for by, joint in zip(BY, (1, num_pairs, 1), strict=True):
        kind: Any = "simultaneous" if by == "simultaneous" else "auto"
        spreads = jackknife_intervals(replace(problem, settings=replace(settings, interval=kind)), joint)
        found[by] = tuple(spreads[-num_pairs:, 1:].T)
    return found


def table(rows: list[Row]) -> str:
    """One line per world and number of units: shares for each kind in turn."""
    lines = []
    for world, units in dict.fromkeys((row.world, row.units) for row in rows):
        of_kinds = [row for row in rows if (row.world, row.units) == (world, units)]
        lines.append([
            world, f"{units}",
            *(" / ".join(f"{100.0 * getattr(row, name) / getattr(row, of):.3g}" for row in of_kinds)
              for name, of in (("missed", "boards"), ("contradicted", "pairs"), ("boards_contradicted", "boards"),
                               ("undecided", "pairs"))),
            " / ".join(f"{row.width:.2f}" for row in of_kinds[1:]),
            f"{100.0 * of_kinds[0].significant / of_kinds[0].pairs:.3g}",
        ])  # fmt: skip
    header = ("", "units", "boards missed, %", "pairs contradicted, %", "boards with one, %", "p < 0.05 and 0 in, %")
    return markdown_table([*header, "length", "p < 0.05, %"], lines)


if __name__ == "__main__":
    main()
