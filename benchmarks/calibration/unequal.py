"""Do permutation tests keep their level where two systems are equally good, but not exchangeable?

    python benchmarks/calibration/unequal.py [--quick] [--output FILE.json]

Tests by delta, by the studentized delta, and by the bootstrap, on systems of equal scores that err in other ways: few
items that are right against many, short outputs against long ones, errors in bursts. Beside them are exchangeable
systems, and systems of which one is better. Nothing is timed. Exits with 1 when a permutation test of exchangeable
systems rejects more often than 5%, beyond binomial error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from populations import KINDS, cluster_codes
from rates import GROUP, RESAMPLES, make_problem
from scipy.special import ndtr, ndtri
from shared import Share, begin, cells_table, cores, finish, require_at_most, share_of

from sigjax.comparison.analysis import run_tests
from sigjax.metrics import METRICS
from sigjax.records import Settings
from sigjax.run.context import Context

ALPHA = 0.05
SIZES = {10: 100, 20: 100, 50: 100, 200: 100, 1000: 50, 2000: 25}
"""Units -> groups of data sets."""
QUICK = {10: 3, 50: 2}
BY: dict[str, dict[str, Any]] = {
    "delta": {"test": "permutation"},
    "studentized": {"test": "permutation", "statistic": "studentized"},
    "bootstrap": {"test": "bootstrap"},
}
EXCHANGEABLE, EQUAL, BETTER = "exchangeable", "equally good", "one is better"
_SEED, _LARGE = 2033, 2**17
Draw = Callable[[np.random.Generator, int, int], np.ndarray]


class World(NamedTuple):
    """A population of pairs of systems; inputs as in `populations.Kind`."""

    metric: str
    what: str
    draw: Draw
    sizes: Sequence[int] = tuple(SIZES)
    clusters: Callable[[int], np.ndarray] | None = None


def _found(rng: np.random.Generator, number: np.ndarray, recalls: Sequence[float], shared: np.ndarray) -> np.ndarray:
    """How many of a number of items `[set, 1, unit]` each system finds; what is hard for one is hard for the other."""
    levels = np.array([ndtri(recall) for recall in recalls])[:, None] * np.hypot(1.0, 0.6)
    return rng.binomial(number, ndtr(levels + 0.6 * shared))


def f1_of(recalls: Sequence[float], alarms: Sequence[float], *, misses: bool = False, bursts: bool = False) -> Draw:
    """1 + Poisson(3) gold items and Poisson false alarms.

    With `misses`, the first system finds all items of a unit or none; with `bursts`, the second one has all its false
    alarms in a tenth of the units.
    """

    def draw(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
        gold = 1 + rng.poisson(3.0, (sets, 1, size))
        tp = _found(rng, gold, recalls, rng.standard_normal((sets, 1, size)))
        rates = np.broadcast_to(np.array(alarms)[:, None], tp.shape).copy()
        if misses:
            tp[:, 0] = gold[:, 0] * (rng.random((sets, size)) < recalls[0])
        if bursts:
            rates[:, 1] *= 10.0 * (rng.random((sets, size)) < 0.1)
        return np.stack([tp, tp + rng.poisson(rates), gold + 0 * tp], axis=-1)

    return draw


def _clustered_f1(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """The same in clusters that have false alarms of the second system, and hard items, in common."""
    codes = cluster_codes(size)
    gold, hard = 1 + rng.poisson(3.0, (sets, 1, len(codes))), rng.standard_normal((sets, 1, size))[:, :, codes]
    tp = _found(rng, gold, PRECISE[0], hard)
    rates = np.broadcast_to(np.array(PRECISE[1])[:, None], tp.shape).copy()
    rates[:, 1] *= rng.standard_exponential((sets, size))[:, codes]
    return np.stack([tp, tp + rng.poisson(rates), gold + 0 * tp], axis=-1)


def _aer(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """Few links, and many: 5 + Poisson(10) sure ones; AER is 0.325 of 50% found and 0.2 wrong, and of 95% and 13.4."""
    sure = 5 + rng.poisson(10.0, (sets, 1, size))
    matched = _found(rng, sure, (0.5, 0.95), rng.standard_normal((sets, 1, size)))
    possible = matched + rng.poisson(1.0, matched.shape)
    links = possible + rng.poisson(np.array([[0.2], [13.447]]), matched.shape)
    return np.stack([matched, possible, links, sure + 0 * matched], axis=-1)


def _wer(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """One error in ten words everywhere, or nine out of ten segments with one in 18, and the others with one in two."""
    words = 3 + rng.poisson(15.0, (sets, 1, size))
    rates = np.stack([np.full((sets, size), 0.1), np.where(rng.random((sets, size)) < 0.1, 0.55, 0.05)], axis=1)
    return np.stack([rng.poisson(rates * words), words + np.zeros(rates.shape, np.int64)], axis=-1)


def _matches(rng: np.random.Generator, lengths: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """N-grams that match `[set, system, unit, order]`, of those that can `lengths`, with chances `[system, order]`."""
    matched = [lengths[..., 0]]
    for order in range(chances.shape[1]):
        matched.append(rng.binomial(np.minimum(matched[-1], lengths[..., order]), chances[:, order, None]))
    return np.stack(matched[1:], axis=-1)


def texts_of(metric: str, orders: int, shorter: float, chance: float, steeper: float) -> Draw:
    """Outputs whose n-grams match with 0.75, and later orders of them with its root; those of one system are shorter.

    Chances of the other one are multiplied by `chance`.
    """

    def draw(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
        gold = np.maximum(4, np.rint(rng.normal(25.0, 12.0, (sets, 1, size)))).astype(np.int64)
        words = np.maximum(1, rng.poisson(np.concatenate([shorter * gold, 1.0 * gold], axis=1)))
        lengths, references = (np.maximum(0, each[..., None] - np.arange(orders)) for each in (words, gold))
        chances = 0.75 ** (1.0 / np.r_[1.0, np.full(orders - 1, steeper)]) * np.array([[1.0], [chance]])
        matched = _matches(rng, np.minimum(lengths, references), np.minimum(chances, 1.0))
        references = references + 0 * matched
        if metric == "bleu":
            return np.concatenate([words[..., None], references[..., :1], matched, lengths], axis=-1)
        return np.stack([lengths, references, matched], axis=-1).reshape(*words.shape, -1)

    return draw


def equalised(metric: str, orders: int, shorter: float, steeper: float) -> Draw:
    """The same where the second system's matches are as likely as makes both scores equal, in a large sample."""
    low, high, score = 0.5, 1.2, METRICS[metric].score
    assert score is not None
    for _ in range(16):
        middle = 0.5 * (low + high)
        inputs = texts_of(metric, orders, shorter, middle, steeper)(np.random.default_rng(_SEED), 1, _LARGE)[0]
        of_a, of_b = score(inputs.sum(axis=1).astype(float))
        low, high = (middle, high) if of_b < of_a else (low, middle)
    return texts_of(metric, orders, shorter, 0.5 * (low + high), steeper)


PRECISE = (0.50, 0.90), (0.10, 3.38)
"""Recalls and false alarms with an F1 of 4 / 6.1 for both: 0.656."""
_FEW = (20, 50, 200)
WORLDS = {
    "F1, exchangeable": World("fscore", EXCHANGEABLE, KINDS["F1"].draw),
    "BLEU, exchangeable": World("bleu", EXCHANGEABLE, KINDS["BLEU"].draw),
    "F1, precise and high recall": World("fscore", EQUAL, f1_of(*PRECISE)),
    "F1, precise misses whole units": World("fscore", EQUAL, f1_of(*PRECISE, misses=True)),
    "F1, false alarms in bursts": World("fscore", EQUAL, f1_of(*PRECISE, bursts=True)),
    "F1, clusters": World("fscore", EQUAL, _clustered_f1, clusters=cluster_codes),
    "AER, few links and many": World("aer", EQUAL, _aer),
    "BLEU, short and whole": World("bleu", EQUAL, equalised("bleu", 4, 0.85, 3.0)),
    "chrF, short and whole": World("chrf", EQUAL, equalised("chrf", 6, 0.75, 5.0)),
    "WER, errors in bursts": World("wer", EQUAL, _wer),
    "F1, 4 more of 100 found": World("fscore", BETTER, f1_of((0.74, 0.70), (0.6, 0.6)), _FEW),
    "F1, high recall is better": World("fscore", BETTER, f1_of((0.50, 0.93), (0.10, 3.2)), _FEW),
    "F1, precise is better": World("fscore", BETTER, f1_of((0.54, 0.90), (0.08, 3.5)), _FEW),
}


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    sizes = QUICK if chosen.quick else SIZES
    parts = [(name, size, sizes[size]) for name, world in WORLDS.items() for size in world.sizes if size in sizes]
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        found = [each for of_part in pool.map(measured, *zip(*parts, strict=True)) for each in of_part]
    for what in (EXCHANGEABLE, EQUAL, BETTER):
        print(f"\n{what}: rejections at 5%, %\n\n{table([each for each in found if each.what == what])}")
    finish(chosen, alpha=ALPHA, resamples=RESAMPLES, group=GROUP, shares=[each._asdict() for each in found])
    swapped = [each for each in found if each.what == EXCHANGEABLE and each.by != "bootstrap"]
    require_at_most(ALPHA, swapped)


def measured(name: str, size: int, groups: int) -> list[Share]:
    """How often each test rejects in a world, of so many groups of data sets."""
    world, rejected = WORLDS[name], dict.fromkeys(BY, 0)
    for group in range(groups):
        rng = np.random.default_rng((_SEED, list(WORLDS).index(name), size, group))
        inputs, seed = world.draw(rng, GROUP, size), int(rng.integers(2**62))
        labels = None if world.clusters is None else world.clusters(size).tolist()
        case = make_problem(world.metric, inputs, labels, seed)
        for by, options in BY.items():
            settings = Settings(method="montecarlo", resamples=RESAMPLES, seed=seed, interval="none", **options)
            tested = run_tests(replace(case, settings=settings), Context("numpy"))[0][settings.tests[0]]
            rejected[by] += int((tested.column("p_value").values <= ALPHA * (1.0 + 1e-9)).sum())
    print(name, size, *(f"{by} {100.0 * rejected[by] / GROUP / groups:.1f}" for by in BY), flush=True)
    return [share_of(name, size, world.what, by, rejected[by], GROUP * groups) for by in BY]


def table(found: Sequence[Share]) -> str:
    """A row per world, a column per number of units: rejections by each test, in %."""
    return cells_table({(each.world, f"n = {each.units}", each.by): f"{100.0 * each.share:.1f}" for each in found})


if __name__ == "__main__":
    main()
