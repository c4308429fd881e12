"""Ranks by battles of two (`sigjax battles`): do all ranks, and all joint intervals, hold together?

    python benchmarks/calibration/battles.py [--quick] [--output FILE.json]

Battles with ties, drawn from Davidson's model; and battles of users with tastes of their own, which depend on each
other, with and without `cluster`. Truths of the latter are the scores that describe infinitely many battles best.
Nothing is timed. Exits with 1 when ranks, or joint intervals, miss more often than 7%, where users are independent or
clusters, beyond binomial error.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from shared import Share, begin, cells_table, cores, finish, require_at_most, share_of

from sigjax.studies import battles
from sigjax.studies.bradley_terry import Battles

ALLOWED, NU, RESAMPLES = 0.07, 0.6, 5_000
TRIALS, QUICK_TRIALS = 1_000, 40
_SEED, _NODES = 2042, 40


class World(NamedTuple):
    """Systems and battles."""

    scores: tuple[float, ...]
    battles: int
    users: int = 0
    """0: battles are independent."""
    taste: float = 0.0
    """Standard deviation of what a user likes more or less about a system."""


def spread(number: int, width: float) -> tuple[float, ...]:
    """So many scores, evenly apart."""
    return tuple(np.linspace(width / 2, -width / 2, number).tolist())


WORLDS = {
    "5 equal systems": World((0.0,) * 5, 500),
    "5 systems": World(spread(5, 1.0), 500),
    "20 equal systems": World((0.0,) * 20, 4_000),
    "20 systems": World(spread(20, 2.0), 4_000),
    "20 systems, few battles": World(spread(20, 2.0), 1_000),
    "20 systems in pairs": World(tuple(np.repeat(spread(10, 2.0), 2).tolist()), 4_000),
    "5 systems, 50 users": World(spread(5, 1.0), 2_000, users=50, taste=1.0),
    "20 systems, 200 users": World(spread(20, 2.0), 4_000, users=200, taste=1.0),
}


def truths(world: World) -> np.ndarray:
    """The scores, with a mean of 0, that describe infinitely many battles best."""
    scores = np.array(world.scores)
    if not world.taste:
        return scores - scores.mean()
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    columns: dict[str, list[object]] = {name: [] for name in ("model_a", "model_b", "wins", "ties", "losses")}
    for i, j in combinations(range(len(scores)), 2):
        apart = scores[i] - scores[j] + world.taste * np.sqrt(2.0) * nodes
        chances = np.stack([np.exp(apart / 2), np.full(_NODES, NU), np.exp(-apart / 2)])
        shares = (chances / chances.sum(axis=0)) @ weights / weights.sum()
        row = f"s{i}", f"s{j}", *np.rint(1e9 * shares).astype(int).tolist()
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    found = {each.system: each.score for each in battles(columns, resamples=100).systems}
    return np.array([found[f"s{k}"] for k in range(len(scores))])


def drawn(world: World, rng: np.random.Generator) -> dict[str, list[str]]:
    """A table of battles."""
    scores, number = np.array(world.scores), world.battles
    user = rng.integers(0, max(world.users, 1), number)
    tastes = world.taste * rng.standard_normal((max(world.users, 1), len(scores)))
    a = rng.integers(0, len(scores), number)
    b = (a + rng.integers(1, len(scores), number)) % len(scores)
    apart = scores[a] - scores[b] + tastes[user, a] - tastes[user, b]
    draw = rng.random(number) * (np.exp(apart / 2) + NU + np.exp(-apart / 2))
    winner = np.select([draw < np.exp(apart / 2), draw < np.exp(apart / 2) + NU], ["model_a", "tie"], "model_b")
    columns = {"model_a": [f"s{k}" for k in a], "model_b": [f"s{k}" for k in b]}
    return columns | {"winner": winner.tolist(), "user": [f"u{k}" for k in user]}


def held(study: Battles, truth: np.ndarray) -> dict[str, bool]:
    """Whether all ranks, all joint intervals, and the interval of the first system's score hold."""
    of_system = {f"s{k}": value for k, value in enumerate(truth.tolist())}
    better = {name: sum(other > value + 1e-9 for other in of_system.values()) for name, value in of_system.items()}
    first = next(each for each in study.systems if each.system == "s0")
    deltas = (each.interval.low <= of_system[each.a] - of_system[each.b] <= each.interval.high for each in study.pairs)
    return {
        "ranks": all(low <= 1 + better[name] <= high for name, (low, high) in _ranks(study)),
        "joint intervals": all(deltas),
        "interval of a score": first.interval.low <= of_system["s0"] <= first.interval.high,
    }


def _ranks(study: Battles) -> list[tuple[str, tuple[int, int]]]:
    return [(each.system, each.rank_interval) for each in study.systems]


def measured(name: str, trials: int) -> tuple[list[Share], dict[str, object]]:
    """How often ranks and intervals miss in a world, and how wide ranks are."""
    world, truth = WORLDS[name], truths(WORLDS[name])
    ways = ("user", None) if world.users else (None,)
    missed: dict[tuple[str, str | None], int] = {}
    width = 0.0
    for trial in range(trials):
        data = drawn(world, np.random.default_rng((_SEED, list(WORLDS).index(name), trial)))
        for way in ways:
            study = battles(data, cluster=way, resamples=RESAMPLES, seed=trial)
            for what, holds in held(study, truth).items():
                missed[what, way] = missed.get((what, way), 0) + (not holds)
            if way == ways[0]:
                width += float(np.mean([high - low + 1 for _, (low, high) in _ranks(study)]))
    named = {way: "battles" if way is None else "clusters" for way in ways}
    shares = [share_of(name, world.battles, what, named[way], count, trials) for (what, way), count in missed.items()]
    print(name, *(f"{each.what} by {each.by} {100 * each.share:.1f}" for each in shares), flush=True)
    return shares, {"world": name, "ranks": width / trials}


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    trials = QUICK_TRIALS if chosen.quick else TRIALS
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        results = list(pool.map(measured, WORLDS, [trials] * len(WORLDS)))
    found, widths = [each for shares, _ in results for each in shares], [each for _, each in results]
    print("\nmissed, %, units being clusters / battles where there are users\n")
    print(cells_table({(each.world, each.what, each.by): f"{100.0 * each.share:.1f}" for each in found}))
    print(cells_table({(str(each["world"]), "ranks of a system", ""): f"{each['ranks']:.1f}" for each in widths}))
    finish(chosen, resamples=RESAMPLES, shares=[each._asdict() for each in found], widths=widths)
    right = [each for each in found if each.by == "clusters" or not WORLDS[each.world].users]
    require_at_most(ALLOWED, right)


if __name__ == "__main__":
    main()
