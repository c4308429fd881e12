"""How often do intervals of few units miss the truth, and how long are they, by t and corrected for skewness?

    python benchmarks/calibration/skewed.py [--quick] [--output FILE.json]

Scores, and deltas whose differences are symmetric, skewed or mostly 0. Nothing is timed. Exits with 1 when an interval
is more than 1.5 times as long as that of t, when one of a delta is shorter, or when those of normal scores, or
of deltas with symmetric differences, miss the truth more often than 6%, beyond binomial error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr
from shared import begin, cells_table, finish, require_at_most, share_of

from sigjax.testing.jackknife import degrees_of_freedom
from sigjax.testing.skewed_t import skewed_ends, skewness
from sigjax.testing.special import t_quantile

LEVEL, LONGEST, ALLOWED = 0.95, 1.5, 0.06
TRIALS, QUICK_TRIALS = 10_000, 500
What = Literal["score", "delta"]
UNITS: dict[What, tuple[int, ...]] = {
    "score": (2, 3, 5, 7, 9, 12, 15, 20, 30, 50, 100, 200),
    "delta": (8, 10, 15, 20, 30, 50, 100, 300, 1000),
}
KINDS: dict[What, tuple[str, ...]] = {"score": ("t", "unbounded", "auto"), "delta": ("t", "as a score", "auto")}
"""Without skewness; with Hall's cubic, without its bounds for a score; the default."""
SHOWN: dict[What, tuple[int, ...]] = {"score": (3, 5, 9, 15, 30, 100), "delta": (8, 10, 15, 30, 50, 100, 1000)}
"""Numbers of units in the tables; the JSON file has all."""
_SEED = 2030
_NUMBERS = 2**22
"""Units of samples that are held at a time."""
Shape = tuple[int, int]
Draw = Callable[[np.random.Generator, Shape], np.ndarray]
System = tuple[np.ndarray, np.ndarray | float]
"""Numerators and denominators `[trial, unit]` of a score that is a ratio of sums."""


class World(NamedTuple):
    """A population of units with a score, or of pairs of them with a delta."""

    draw: Callable[[np.random.Generator, Shape], Sequence[System]]
    """One system, or two whose scores are subtracted."""
    truth: float
    what: What = "score"
    symmetric: bool = False
    sizes: Callable[[int], np.ndarray] = np.ones
    """The sizes of so many units, which say how many degrees of freedom there are."""


def _mean(draw: Draw, truth: float = 0.0) -> World:
    return World(lambda rng, shape: [(draw(rng, shape), 1.0)], truth)


def _differences(draw: Draw, truth: float = 0.0, *, symmetric: bool = False) -> World:
    """The differences of two systems, whose mean is the delta."""
    return World(lambda rng, shape: [(draw(rng, shape), 1.0)], truth, "delta", symmetric)


def _documents(rng: np.random.Generator, shape: Shape, gold: np.ndarray, ease: np.ndarray) -> System:
    """F1 of documents of 1 to 20 gold items, of which 80% are found on average, with 15% spurious ones."""
    tp = rng.binomial(gold, ease)
    return 2.0 * tp, tp + rng.binomial(gold, 0.15) + gold.astype(float)


def _f1(rng: np.random.Generator, shape: Shape, systems: int) -> list[System]:
    """Documents that are as hard for each system."""
    gold, ease = np.floor(21.0 ** rng.random(shape)).astype(int), rng.beta(6.0, 1.5, shape)
    return [_documents(rng, shape, gold, ease) for _ in range(systems)]


def _four_grams(rng: np.random.Generator, shape: Shape) -> list[System]:
    """Matches of segments with 5 to 60 four-grams, as in BLEU."""
    length, ease = rng.integers(5, 61, shape), rng.beta(2.0, 3.0, shape)
    return [(rng.binomial(length, ease), length.astype(float)) for _ in range(2)]


def _cluster_sizes(units: int) -> np.ndarray:
    """From 1 to 200 instances, uniform by their logarithm."""
    return np.floor(201.0 ** ((np.arange(units) + 0.5) / units))


def _clusters(rng: np.random.Generator, shape: Shape) -> list[System]:
    """Right answers in clusters, of which larger ones are harder, with a part of its own for each system."""
    sizes = np.broadcast_to(_cluster_sizes(shape[1]), shape)
    ease = 2.0 - 0.35 * np.log(sizes)
    chances = [ndtr(ease + rng.standard_normal(shape)) for _ in range(2)]
    return [(rng.binomial(sizes.astype(int), chance), sizes) for chance in chances]


def _lognormal(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return np.exp(rng.standard_normal(shape))


def _beta(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return rng.beta(5.0, 0.5, shape)


def _signs(less: float, more: float) -> Draw:
    """Differences of -1, 0 and 1."""
    return lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], shape, p=[less, 1.0 - less - more, more])


def _ratings(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return 1.0 + rng.choice(5, shape, p=RATINGS)


RATINGS = np.array([0.02, 0.03, 0.1, 0.25, 0.6])
"""Chances of the ratings 1 to 5."""
_MEAN_RATING, _MEAN_LOGNORMAL = float(RATINGS @ np.arange(1.0, 6.0)), math.exp(0.5)
WORLDS = {
    "normal": _mean(lambda rng, shape: rng.standard_normal(shape)),
    "beta(8, 2)": _mean(lambda rng, shape: rng.beta(8.0, 2.0, shape), 0.8),
    "beta(5, 1/2)": _mean(_beta, 10.0 / 11.0),
    "shares of 10, 90%": _mean(lambda rng, shape: rng.binomial(10, 0.9, shape) / 10.0, 0.9),
    "shares of 10, 97%": _mean(lambda rng, shape: rng.binomial(10, 0.97, shape) / 10.0, 0.97),
    "ratings": _mean(_ratings, _MEAN_RATING),
    "F1 of documents": World(lambda rng, shape: _f1(rng, shape, 1), 2.0 * 0.8 / (1.0 + 0.8 + 0.15)),
    "exponential": _mean(lambda rng, shape: rng.standard_exponential(shape), 1.0),
    "lognormal": _mean(_lognormal, _MEAN_LOGNORMAL),
    "normal, delta": _differences(lambda rng, shape: rng.standard_normal(shape), symmetric=True),
    "Laplace": _differences(lambda rng, shape: rng.laplace(size=shape), symmetric=True),
    "t, 3 degrees": _differences(lambda rng, shape: rng.standard_t(3.0, shape), symmetric=True),
    "lognormal - lognormal": _differences(
        lambda rng, shape: _lognormal(rng, shape) - _lognormal(rng, shape), symmetric=True
    ),
    "beta - beta": _differences(lambda rng, shape: _beta(rng, shape) - _beta(rng, shape), symmetric=True),
    "ratings - ratings": _differences(lambda rng, shape: _ratings(rng, shape) - _ratings(rng, shape), symmetric=True),
    "20% differ, -1 or 1": _differences(_signs(0.1, 0.1), symmetric=True),
    "6% differ, -1 or 1": _differences(_signs(0.03, 0.03), symmetric=True),
    "20% differ, mostly 1": _differences(_signs(0.05, 0.15), 0.1),
    "10% differ, mostly 1": _differences(_signs(0.02, 0.08), 0.06),
    "ratings, other systems": _differences(
        lambda rng, shape: _ratings(rng, shape) - 1.0 - rng.binomial(4, 0.5, shape), _MEAN_RATING - 3.0
    ),
    "F1, two systems": World(lambda rng, shape: _f1(rng, shape, 2), 0.0, "delta", symmetric=True),
    "4-grams, two systems": World(_four_grams, 0.0, "delta", symmetric=True),
    "clusters of 1 to 200": World(_clusters, 0.0, "delta", symmetric=True, sizes=_cluster_sizes),
    "exponential, delta": _differences(lambda rng, shape: rng.standard_exponential(shape), 1.0),
    "lognormal x 1.5 - lognormal": _differences(
        lambda rng, shape: 1.5 * _lognormal(rng, shape) - _lognormal(rng, shape), 0.5 * _MEAN_LOGNORMAL
    ),
    "normal - lognormal": _differences(
        lambda rng, shape: rng.standard_normal(shape) - _lognormal(rng, shape), -_MEAN_LOGNORMAL
    ),
    "lognormal, delta": _differences(_lognormal, _MEAN_LOGNORMAL),
}


class Held(NamedTuple):
    """How often intervals of a kind miss the truth, and how long they are."""

    world: str
    units: int
    by: str
    """One of `KINDS`."""
    trials: int
    above: int
    """Intervals that lie above the truth."""
    below: int
    median: float | None
    """Median length, in median lengths by t; None where most data sets do not vary."""
    long: float | None
    """95% quantile of the length, in the same."""


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    trials = QUICK_TRIALS if chosen.quick else TRIALS
    held = [
        each for name, world in WORLDS.items() for units in UNITS[world.what] for each in measured(name, units, trials)
    ]
    for what, kinds in KINDS.items():
        title = f"{what}s, {' / '.join(kinds)}"
        print(f"\n{title}: misses, %\n\n{table(held, what, _misses)}")
        print(f"\n{title}: 95% quantiles of lengths, in median lengths by t\n\n{table(held, what, _long)}")
    finish(chosen, level=LEVEL, held=[each._asdict() for each in held])
    own = [each for each in held if each.by == "auto" and (each.world == "normal" or WORLDS[each.world].symmetric)]
    missed = (share_of(each.world, each.units, "misses", each.by, each.above + each.below, each.trials) for each in own)
    require_at_most(ALLOWED, missed)


def measured(name: str, units: int, trials: int) -> list[Held]:
    """The intervals of all kinds of samples of so many units."""
    rng, world = np.random.default_rng((_SEED, list(WORLDS).index(name), units)), WORLDS[name]
    step = max(1, _NUMBERS // units)
    parts = [(min(step, trials - start), units) for start in range(0, trials, step)]
    observed, errors, skewed = np.concatenate([statistics(world.draw(rng, shape)) for shape in parts], axis=1)
    quantile = t_quantile(LEVEL, degrees_of_freedom(world.sizes(units), np.zeros(units, int)))
    by_t = quantile * np.ones_like(skewed), -quantile * np.ones_like(skewed)
    auto = skewed_ends(skewed, quantile, nearer=world.what == "score")
    other = skewed_ends(skewed, quantile, nearer=True) if world.what == "delta" else halls_ends(skewed, quantile)
    lengths = (auto[0] - auto[1]) / (2.0 * quantile)
    if lengths.max() > LONGEST * (1.0 + 1e-9) or (world.what == "delta" and lengths.min() < 1.0 - 1e-9):
        raise AssertionError(f"{name}, {units} units: intervals are {lengths.min():.3g} to {lengths.max():.3g} of t's")
    usual = 2.0 * quantile * float(np.median(errors))
    return [
        _held(name, units, by, observed - errors * np.stack(ends), usual)
        for by, ends in zip(KINDS[world.what], (by_t, other, auto), strict=True)
    ]


def statistics(systems: Sequence[System]) -> np.ndarray:
    """Scores, or deltas, their jackknife standard errors and skewnesses, `[3, trial]`."""
    parts = list(map(_moves, systems))
    observed, moves = parts[0] if len(parts) == 1 else (a - b for a, b in zip(*parts, strict=True))
    moves[np.abs(moves).max(1) < 1e-12] = 0.0  # rounding
    errors = np.sqrt(np.square(moves).sum(1))
    return np.stack([observed, errors, skewness(moves, errors)])


def _moves(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Scores `[trial]`, and the influences of units `[trial, unit]`."""
    numerators, denominators = np.broadcast_arrays(*map(np.asarray, system))
    top, bottom = numerators.sum(1, keepdims=True), denominators.sum(1, keepdims=True)
    size = numerators.shape[1]
    moves = np.sqrt((size - 1.0) / size) * (top / bottom - (top - numerators) / (bottom - denominators))
    return (top / bottom)[:, 0], moves


def halls_ends(skewed: np.ndarray, quantile: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Hall's interval without bounds, in standard errors below the score, each `[trial]`."""
    g = np.where(np.abs(skewed) < 1e-6, 1e-6, skewed)
    low, high = ((np.cbrt(1.0 + g * (t - g / 6.0)) - 1.0) * 3.0 / g for t in (quantile, -quantile))
    return low, high


def _held(name: str, units: int, by: str, ends: np.ndarray, usual: float) -> Held:
    truth, lengths = WORLDS[name].truth, ends[1] - ends[0]
    above, below = (int(each.sum()) for each in (ends[0] > truth + 1e-12, ends[1] < truth - 1e-12))
    median, long = (np.quantile(lengths, (0.5, 0.95)) / usual).tolist() if usual else (None, None)
    return Held(name, units, by, ends.shape[1], above, below, median, long)


def _misses(one: Held) -> str:
    return f"{100.0 * (one.above + one.below) / one.trials:.1f}"


def _long(one: Held) -> str:
    return "-" if one.long is None else f"{one.long:.2f}"


def table(held: Sequence[Held], what: What, text: Callable[[Held], str]) -> str:
    """One line per world, one column per number of units; in each cell the kinds in turn."""
    shown = [each for each in held if WORLDS[each.world].what == what and each.units in SHOWN[what]]
    return cells_table(
        {(each.world.removesuffix(", delta"), f"n = {each.units}", each.by): text(each) for each in shown}
    )


if __name__ == "__main__":
    main()
