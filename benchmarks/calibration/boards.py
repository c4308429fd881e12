"""Of boards of five systems: does the top group hold every best one, do rank intervals and simultaneous deltas hold?

    python benchmarks/calibration/boards.py [--quick] [--output FILE.json]

Nothing is timed. Exits with 1 when, in a world in which equal systems are exchangeable, the top group or the rank
intervals by permutation tests miss more often than 5%, beyond binomial error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from rates import GROUP, RESAMPLES, make_problem, with_pairs
from scipy.special import ndtr, ndtri
from shared import Share, begin, cells_table, finish, require_at_most, share_of

import sigjax
from sigjax.comparison.analysis import run_tests, spreads_of
from sigjax.multiple.decisions import rank_intervals, top_group
from sigjax.records import Correction, Settings, Test
from sigjax.records.settings import adjust
from sigjax.run.context import Context
from sigjax.testing.intervals import jackknife_intervals, joint_level, normal_maxima
from sigjax.testing.jackknife import influences, map_pairs
from sigjax.testing.problem import SumsProblem
from sigjax.testing.skewed_t import skewed_ends, skewness
from sigjax.testing.special import t_quantile

LEVEL = 0.95
GROUPS, QUICK_GROUPS = 100, 1
UNITS = (8, 10, 30, 100)
EXACT_UNITS = 10
"""Up to so many units reals are tested exactly, as by default; beyond they are sampled."""
SIZE, LARGEST = 5, 200
"""Instances of a cluster, where all have as many; the most, where the logarithm of their number is uniform."""
_SHARED, _OWN = 1.2, 0.7
"""Standard deviations on the normal scale of a chance: what is hard for all systems, and a cluster for one of them."""
_SEED = 2031
_PAIRS = np.array(list(combinations(range(5), 2)), np.int32)


class World(NamedTuple):
    """A population of five systems."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    """(random numbers, units) -> values of `GROUP` data sets `[data set, system, instance, 1]`."""
    truths: tuple[float, ...]
    clusters: Callable[[int], np.ndarray] | None = None
    """Units -> the cluster of each instance `[instance]`."""
    exchangeable: bool = True
    """Whether equally good systems are: else permutation tests test more than equal scores."""


def _normal(truths: tuple[float, ...], spreads: tuple[float, ...] = (1.0,) * 5) -> World:
    """What all systems share, and each system's own with its standard deviation."""
    shift, spread = np.array(truths)[:, None, None], np.array(spreads)[:, None, None]

    def draw(rng: np.random.Generator, size: int) -> np.ndarray:
        shared, own = rng.standard_normal((GROUP, 1, size, 1)), rng.standard_normal((GROUP, 5, size, 1))
        return shared + spread * own + shift

    return World(draw, truths)


def _answers(chances: tuple[float, ...], clusters: Callable[[int], np.ndarray] | None = None) -> World:
    """Right or wrong with these chances."""
    deviation = np.sqrt(1.0 + _SHARED**2 + (_OWN**2 if clusters else 0.0))

    def draw(rng: np.random.Generator, size: int) -> np.ndarray:
        codes = clusters(size) if clusters else np.arange(size)
        latent = _SHARED * rng.standard_normal((GROUP, 1, len(codes))) + ndtri(np.array(chances))[:, None] * deviation
        if clusters:
            latent = latent + _OWN * rng.standard_normal((GROUP, 5, size))[:, :, codes]
        return (rng.random(latent.shape) < ndtr(latent)).astype(np.int64)[..., None]

    return World(draw, chances, clusters)


def _equal_clusters(size: int) -> np.ndarray:
    return np.repeat(np.arange(size), SIZE)


def _unequal_clusters(size: int) -> np.ndarray:
    return np.repeat(np.arange(size), np.floor((LARGEST + 1.0) ** ((np.arange(size) + 0.5) / size)).astype(int))


def _skewed(rng: np.random.Generator, size: int) -> np.ndarray:
    """A system, and four that are the same minus lognormal numbers plus their mean."""
    minus = np.exp(0.5) - np.exp(rng.standard_normal((GROUP, 5, size, 1)))
    minus[:, 0] = 0.0
    return rng.standard_normal((GROUP, 1, size, 1)) + minus


EQUAL, TWO_BEST = (0.8,) * 5, (0.9, 0.9, 0.85, 0.8, 0.7)
WORLDS = {
    "normal, equal": _normal((0.0,) * 5),
    "normal, equal, deviations 0.3 to 3": _normal((0.0,) * 5, (0.3, 0.6, 1.0, 2.0, 3.0)),
    "normal, two best": _normal((0.4, 0.4, 0.3, 0.1, 0.0)),
    "0/1, equal": _answers(EQUAL),
    "0/1, two best": _answers(TWO_BEST),
    "clusters of 5, 0/1, equal": _answers(EQUAL, _equal_clusters),
    "clusters of 5, 0/1, two best": _answers(TWO_BEST, _equal_clusters),
    "clusters of 1 to 200, 0/1, equal": _answers(EQUAL, _unequal_clusters),
    "clusters of 1 to 200, 0/1, two best": _answers(TWO_BEST, _unequal_clusters),
    "equal means, skewed differences": World(_skewed, (0.0,) * 5, exchangeable=False),
}
CROWDS = ((5, 10), (10, 10), (10, 30), (20, 20), (25, 30), (25, 100), (25, 10), (60, 30))
"""Systems, all equal, and units of normal numbers: simultaneous intervals by draws and as they are."""
CROWD_TRIALS = {5: 5000, 10: 3000, 20: 1500, 25: 1000, 60: 300}
TESTS: tuple[tuple[Test, Correction], ...] = (
    ("permutation", "holm"),
    ("permutation", "hochberg"),
    ("bootstrap", "holm"),
)


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    groups = QUICK_GROUPS if chosen.quick else GROUPS
    found = [miss for name in WORLDS for units in UNITS for miss in measured(name, units, groups)]
    print(f"\nmisses, %, for n = {' / '.join(map(str, UNITS))} units\n\n{table(found)}")
    crowds = [miss for crowd in CROWDS for miss in crowded(*crowd, groups=groups)]
    print(f"\nsome delta of normal numbers is missed, %\n\n{table(crowds)}")
    finish(chosen, level=LEVEL, resamples=RESAMPLES, misses=[each._asdict() for each in found + crowds])
    valid = [each for each in found if each.by == "permutation, holm" and WORLDS[each.world].exchangeable]
    require_at_most(1.0 - LEVEL, valid)


def measured(name: str, units: int, groups: int) -> Iterator[Share]:
    """The shares of all events in a world with so many units."""
    world, events = WORLDS[name], {}
    for group in range(groups):
        rng = np.random.default_rng((_SEED, list(WORLDS).index(name), units, group))
        values, seed = world.draw(rng, units), int(rng.integers(2**62))
        for event, missed in _of_group(world, values, units, seed):
            events.setdefault(event, []).append(missed)
    for (what, by), missed in events.items():
        yield share_of(name, units, what, by, int(np.sum(missed)), int(np.size(missed)))


def crowded(num_systems: int, units: int, *, groups: int) -> Iterator[Share]:
    """How often some simultaneous interval of equal systems misses 0: at the level by draws, and as it is."""
    members = np.array(list(combinations(range(num_systems), 2)), np.int32)
    trials, missed = CROWD_TRIALS[num_systems] * groups // GROUPS, np.zeros(2, int)
    for trial in range(trials):
        rng = np.random.default_rng((_SEED, num_systems, units, trial))
        problem = make_problem("mean", rng.standard_normal((num_systems, 1, units, 1)), None, trial)
        settings = replace(problem.settings, interval="simultaneous", confidence_level=LEVEL)
        problem = replace(with_pairs(problem, members), settings=settings)
        errors, *own = jackknife_intervals(problem)[num_systems:].T
        moves = influences(problem)
        level = joint_level(normal_maxima(moves, members, RESAMPLES, trial), LEVEL)
        ends = skewed_ends(map_pairs(skewness, moves, members, errors), t_quantile(level, units - 1.0), nearer=False)
        low, high = (problem.hypotheses.deltas - errors * end for end in ends)
        held = ((own[0] <= 0.0) & (own[1] >= 0.0)).all()
        missed += np.array([((low > 0.0) | (high < 0.0)).any(), not held])
    for by, number in zip(("draws", "simultaneous"), missed.tolist(), strict=True):
        yield share_of(f"normal, {num_systems} equal systems", units, "deltas", by, number, trials)


def _of_group(
    world: World, values: np.ndarray, units: int, seed: int
) -> Iterator[tuple[tuple[str, str], Sequence[bool]]]:
    """Which events happen in each data set of a group, which share their resamples."""
    metric = "accuracy" if values.dtype.kind == "i" else "mean"
    clusters = world.clusters(units).tolist() if world.clusters else None
    problem = make_problem(metric, values, clusters, seed)
    exact = metric == "accuracy" or units <= EXACT_UNITS
    scores, p_values = np.array(problem.hypotheses.scores).reshape(-1, 5), {}
    for test, correction in TESTS:
        if test not in p_values:
            p_values[test] = _p_values(problem, test, exact=exact)
        boards = [_beats(*each, correction) for each in zip(scores, p_values[test], strict=True)]
        yield ("top group", f"{test}, {correction}"), [_leaves_out(beats, world.truths) for beats in boards]
        yield ("ranks", f"{test}, {correction}"), [_misranks(beats, world.truths) for beats in boards]
    if exact:
        _require_those_of_compare(problem, _beats(scores[0], p_values["permutation"][0], "holm"), values[0], clusters)
    true = np.subtract(*np.array(world.truths)[_PAIRS.T])
    ends = np.array([_simultaneous(make_problem(metric, each[:, None], clusters, seed)) for each in values])
    held = (ends[:, :, 0] <= true + 1e-12) & (true - 1e-12 <= ends[:, :, 1])
    yield ("deltas", "simultaneous"), (~held.all(axis=1)).tolist()


def _p_values(problem: SumsProblem, test: Test, *, exact: bool) -> np.ndarray:
    """P-values of all pairs of each data set, `[data set, pair]`."""
    first = 5 * np.arange(len(problem.hypotheses.scores) // 5, dtype=np.int32)
    members = (first[:, None, None] + _PAIRS).reshape(-1, 2)
    method = "auto" if exact and test == "permutation" else "montecarlo"
    settings = replace(problem.settings, test=test, method=method, budget=None if method == "montecarlo" else 1e9)
    problem = replace(with_pairs(problem, members), settings=settings)
    return run_tests(problem, Context("numpy"))[0][test].column("p_value").values.reshape(len(first), -1)


def _beats(scores: np.ndarray, p_values: np.ndarray, correction: Correction) -> np.ndarray:
    """Whether the first of two systems is significantly better, `[system, system]`."""
    beats, significant = np.zeros((5, 5), bool), adjust(p_values, correction) < Settings(confidence_level=LEVEL).alpha
    for a, b in _PAIRS[significant].tolist():
        beats[a, b], beats[b, a] = scores[a] > scores[b], scores[b] > scores[a]
    return beats


def _leaves_out(beats: np.ndarray, truths: Sequence[float]) -> bool:
    """Whether a best system is not in the top group."""
    return any(truth == max(truths) and not held for truth, held in zip(truths, top_group(beats), strict=True))


def _misranks(beats: np.ndarray, truths: Sequence[float]) -> bool:
    """Whether a true rank is outside its interval; systems that are equally good may have any of their ranks."""
    true = np.array(truths)
    best, worst = 1 + (true > true[:, None]).sum(axis=1), (true >= true[:, None]).sum(axis=1)
    low, high = np.array(rank_intervals(beats)).T
    return bool(((low > best) | (high < worst)).any())


def _simultaneous(problem: SumsProblem) -> np.ndarray:
    """Simultaneous intervals of the deltas of five systems, `[pair, 2]`; NaN where there is none."""
    settings = replace(problem.settings, test=(), method="auto", interval="simultaneous", confidence_level=LEVEL)
    problem = replace(with_pairs(problem, _PAIRS), settings=settings)
    return spreads_of(problem, Context("numpy"))[len(problem.hypotheses.scores) :, 1:]


def _require_those_of_compare(
    problem: SumsProblem, beats: np.ndarray, values: np.ndarray, clusters: list[int] | None
) -> None:
    """The top group of a data set must be that of the front door.

    Raises:
        AssertionError: it is another.
    """
    data = sigjax.Evaluation.from_arrays(
        dict(zip("abcde", values, strict=True)), metric=problem.metric.name, clusters=clusters
    )
    report = sigjax.compare(data, method="exact", interval="none", device="numpy", progress=False)
    theirs = {one.name for one in report.systems if one.in_top_group}
    if theirs != {name for name, held in zip("abcde", top_group(beats), strict=True) if held}:
        raise AssertionError(f"the top group is {theirs} by sigjax.compare, and another here")


def table(found: Sequence[Share]) -> str:
    """One line per world, one column per event; in each cell the numbers of units in turn."""
    return cells_table({(e.world, f"{e.what}, {e.by}", e.units): f"{100.0 * e.share:.1f}" for e in found})


if __name__ == "__main__":
    main()
