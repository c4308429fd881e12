"""Few human labels and a judge on all instances (`ppi`): do intervals hold the truth, and tests keep their level?

    python benchmarks/calibration/judges.py [--quick] [--output FILE.json]

Two systems, of which a random part of the instances is labelled. Beside `ppi` are the mean of the labels alone and that
of the judge alone, with default intervals, and permutation tests by delta and studentized. Nothing is timed. Exits with
1 when intervals of `ppi` miss more often than 7.5%, with 50 labels or more, or when a test of exchangeable systems
rejects more often than 5%, beyond binomial error.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from rates import GROUP, RESAMPLES, make_problem
from scipy.special import ndtr, ndtri
from shared import Share, begin, cells_table, cores, finish, require_at_most, share_of

from sigjax.comparison.analysis import run_tests
from sigjax.records import Settings
from sigjax.records.settings import Statistic
from sigjax.run.context import Context
from sigjax.testing.intervals import jackknife_intervals
from sigjax.testing.problem import SumsProblem

ALPHA, ALLOWED, ENOUGH = 0.05, 0.075, 50
SIZES = ((20, 200), (50, 500), (100, 1000), (200, 1000), (500, 1000))
"""Labels, and instances."""
GROUPS, QUICK_GROUPS = 100, 4
_SEED = 2041
Draw = Callable[[np.random.Generator, tuple[int, int, int]], tuple[np.ndarray, np.ndarray]]


class World(NamedTuple):
    """Two systems and a judge."""

    draw: Draw
    """The shape [set, system, instance] -> human labels and scores of the judge."""
    truths: tuple[float, float]
    exchangeable: bool = False


def _answers(rng: np.random.Generator, shape: tuple[int, int, int], truths: tuple[float, float]) -> np.ndarray:
    """Right or wrong; what is hard for one system is hard for the other."""
    hard = 0.7 * rng.standard_normal((shape[0], 1, shape[2]))
    levels = np.hypot(1.0, 0.7) * ndtri(np.array(truths))[:, None]
    return (rng.random(shape) < ndtr(levels + hard)).astype(float)


def flipped(truths: tuple[float, float], wrong: tuple[float, float], right: tuple[float, float]) -> Draw:
    """A judge that takes a share of the wrong answers of each system for right, and of the right ones for wrong."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
        human = _answers(rng, shape, truths)
        chances = np.where(human == 1.0, 1.0 - np.array(right)[:, None], np.array(wrong)[:, None])
        return human, (rng.random(shape) < chances).astype(float)

    return draw


def _scored(rng: np.random.Generator, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Ratings of 1 to 5 with a mean of 3, and a judge from 0 to 100 that is too kind to the second system by 8."""
    level = rng.standard_normal((shape[0], 1, shape[2])) + rng.standard_normal(shape)
    human = np.clip(np.rint(3.0 + 0.8 * level), 1.0, 5.0)
    kind = np.array([0.0, 8.0])[:, None]
    return human, np.clip(np.rint(50.0 + kind + 12.0 * level + 8.0 * rng.standard_normal(shape)), 0.0, 100.0)


_EQUAL, _BETTER = (0.7, 0.7), (0.75, 0.65)
WORLDS = {
    "labels, errs alike": World(flipped(_EQUAL, (0.15, 0.15), (0.1, 0.1)), _EQUAL, exchangeable=True),
    "labels, knows nothing": World(flipped(_EQUAL, (0.5, 0.5), (0.5, 0.5)), _EQUAL, exchangeable=True),
    "labels, kinder to one": World(flipped(_EQUAL, (0.05, 0.4), (0.1, 0.1)), _EQUAL),
    "labels, one is better": World(flipped(_BETTER, (0.15, 0.15), (0.1, 0.1)), _BETTER),
    "ratings, kinder to one": World(_scored, (3.0, 3.0)),
}
KINDS = ("ppi", "labels alone", "judge alone")


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    groups = QUICK_GROUPS if chosen.quick else GROUPS
    parts = [(name, size, groups) for name in WORLDS for size in SIZES]
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        results = list(pool.map(measured, *zip(*parts, strict=True)))
    found, lengths = [each for shares, _ in results for each in shares], [each for _, each in results]
    for what in ("score", "delta"):
        print(f"\nmissed by 95% intervals of the {what}, %, by {' / '.join(KINDS)}\n\n{table(found, what)}")
    print(f"\nrejections at 5%, %, of ppi by delta / studentized\n\n{table(found, 'test')}")
    print("\nlength of the interval of delta over that of labels alone\n")
    print(cells_table({(str(each["world"]), f"n = {each['labels']}", ""): f"{each['ratio']:.2f}" for each in lengths}))
    finish(chosen, alpha=ALPHA, resamples=RESAMPLES, shares=[each._asdict() for each in found], lengths=lengths)
    held = [each for each in found if each.by == "ppi" and each.units >= ENOUGH]
    require_at_most(ALLOWED, held)
    tests = [each for each in found if each.what == "test" and WORLDS[each.world].exchangeable]
    require_at_most(ALPHA, tests)


def measured(name: str, size: tuple[int, int], groups: int) -> tuple[list[Share], dict[str, object]]:
    """How often intervals miss and tests reject in a world, and how long intervals of `ppi` are."""
    world, (labels, instances) = WORLDS[name], size
    missed = {(what, kind): 0 for what in ("score", "delta") for kind in KINDS}
    rejected: dict[Statistic, int] = {"delta": 0, "studentized": 0}
    lengths = {kind: 0.0 for kind in KINDS}
    for group in range(groups):
        rng = np.random.default_rng((_SEED, list(WORLDS).index(name), labels, group))
        human, judge = world.draw(rng, (GROUP, 2, instances))
        human[..., labels:] = np.nan  # instances come in random order
        seed = int(rng.integers(2**62))
        tables = {
            "ppi": np.stack([human, judge], axis=-1),
            KINDS[1]: human[..., :labels, None],
            KINDS[2]: judge[..., None],
        }
        for kind, inputs in tables.items():
            problem = make_problem("ppi" if kind == "ppi" else "mean", inputs, None, seed)
            missed_here, length = intervals_of(problem, world)
            for what, count in missed_here.items():
                missed[what, kind] += count
            lengths[kind] += length
            for statistic in rejected if kind == "ppi" else ():
                settings = Settings(
                    method="montecarlo", resamples=RESAMPLES, seed=seed, interval="none", statistic=statistic
                )
                tested = run_tests(replace(problem, settings=settings), Context("numpy"))[0]["permutation"]
                rejected[statistic] += int((tested.column("p_value").values <= ALPHA * (1.0 + 1e-9)).sum())
    trials = GROUP * groups
    shares = [
        share_of(name, labels, what, kind, count, trials * (2 if what == "score" else 1))
        for (what, kind), count in missed.items()
    ]
    shares += [share_of(name, labels, "test", statistic, count, trials) for statistic, count in rejected.items()]
    print(name, size, *(f"{each.what} {each.by} {100 * each.share:.1f}" for each in shares), flush=True)
    ratio = lengths["ppi"] / lengths[KINDS[1]]
    return shares, {"world": name, "labels": labels, "instances": instances, "ratio": ratio}


def intervals_of(problem: SumsProblem, world: World) -> tuple[dict[str, int], float]:
    """How many default intervals of scores and deltas miss, and the mean length of those of deltas."""
    ends = jackknife_intervals(replace(problem, settings=Settings()))[:, 1:].tolist()
    scores, deltas = ends[: len(problem.hypotheses.scores)], ends[len(problem.hypotheses.scores) :]
    delta = world.truths[0] - world.truths[1]
    missed = {
        "score": sum(not low <= world.truths[k % 2] <= high for k, (low, high) in enumerate(scores)),
        "delta": sum(not low <= delta <= high for low, high in deltas),
    }
    return missed, float(np.mean([high - low for low, high in deltas]))


def table(found: list[Share], what: str) -> str:
    """A row per world, a column per number of labels: shares in %."""
    return cells_table(
        {(each.world, f"n = {each.units}", each.by): f"{100.0 * each.share:.1f}" for each in found if each.what == what}
    )


if __name__ == "__main__":
    main()
