"""How often do intervals of scores of few units miss the truth, and how long are they, by t and with Hall's cubic?

    python benchmarks/calibration_skewed.py [--quick] [--output FILE.json]

Nothing is timed. Exits with 1 when an interval is more than 1.5 times as long as that of Student's t, or when those of
normal numbers miss the truth more often than 6%, beyond binomial error.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from calibration import as_json
from scipy.stats import binom
from timing import machine, markdown_table

from sigjax.bootstrap.jackknife import skewed_interval
from sigjax.testing.tails import t_quantile

LEVEL, LONGEST, ALLOWED = 0.95, 1.5, 0.06
TRIALS, QUICK_TRIALS = 10_000, 500
UNITS = (2, 3, 5, 7, 9, 12, 15, 20, 30, 50, 100, 200)
KINDS = ("t", "unbounded", "auto")
"""Without skewness, with Hall's cubic, and with its bounds."""
SHOWN = (3, 5, 9, 15, 30, 100)
"""Numbers of units in the tables; the JSON file has all."""
FALSE_ALARMS = 0.001
"""Probability that the script fails though normal numbers are missed in 6%, at most."""
_SEED = 2030


class World(NamedTuple):
    """A population of units, whose score is a mean, or a ratio of sums."""

    draw: Callable[[np.random.Generator, tuple[int, int]], tuple[np.ndarray, np.ndarray | float]]
    """Numerators and denominators `[trial, unit]`."""
    truth: float


def _mean(draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray], truth: float) -> World:
    return World(lambda rng, shape: (draw(rng, shape), 1.0), truth)


def _documents(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """F1 of documents of 1 to 20 gold items, of which 80% are found on average, with 15% spurious ones."""
    gold = np.floor(21.0 ** rng.random(shape)).astype(int)
    tp = rng.binomial(gold, rng.beta(6.0, 1.5, shape))
    return 2.0 * tp, tp + rng.binomial(gold, 0.15) + gold.astype(float)


RATINGS = np.array([0.02, 0.03, 0.1, 0.25, 0.6])
"""Chances of the ratings 1 to 5."""
WORLDS = {
    "normal": _mean(lambda rng, shape: rng.standard_normal(shape), 0.0),
    "beta(8, 2)": _mean(lambda rng, shape: rng.beta(8.0, 2.0, shape), 0.8),
    "beta(5, 1/2)": _mean(lambda rng, shape: rng.beta(5.0, 0.5, shape), 10.0 / 11.0),
    "shares of 10, 90%": _mean(lambda rng, shape: rng.binomial(10, 0.9, shape) / 10.0, 0.9),
    "shares of 10, 97%": _mean(lambda rng, shape: rng.binomial(10, 0.97, shape) / 10.0, 0.97),
    "ratings": _mean(lambda rng, shape: 1.0 + rng.choice(5, shape, p=RATINGS), float(RATINGS @ np.arange(1.0, 6.0))),
    "F1 of documents": World(_documents, 2.0 * 0.8 / (1.0 + 0.8 + 0.15)),
    "exponential": _mean(lambda rng, shape: rng.standard_exponential(shape), 1.0),
    "lognormal": _mean(lambda rng, shape: np.exp(rng.standard_normal(shape)), float(np.exp(0.5))),
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few data sets: does it run?")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    chosen = parser.parse_args()
    print(json.dumps(on := machine("cpu"), indent=2))
    trials = QUICK_TRIALS if chosen.quick else TRIALS
    held = [each for name in WORLDS for units in UNITS for each in measured(name, units, trials)]
    kinds = " / ".join(KINDS)
    print(f"\n{kinds}: misses, %\n\n{table(held, lambda one: f'{100.0 * (one.above + one.below) / one.trials:.1f}')}")
    print(
        f"\n{kinds}: 95% quantiles of lengths, in median lengths by t\n\n{table(held, lambda one: f'{one.long:.2f}')}"
    )
    if chosen.output:
        record: dict[str, Any] = {"schema": "sigjax-benchmark/1", "machine": on, "level": LEVEL}
        chosen.output.write_text(as_json(record | {"held": [each._asdict() for each in held]}))
    check(held)


def measured(name: str, units: int, trials: int) -> list[Held]:
    """The intervals of all kinds of samples of so many units."""
    rng, world = np.random.default_rng((_SEED, list(WORLDS).index(name), units)), WORLDS[name]
    scores, errors, skewed = statistics(*world.draw(rng, (trials, units)))
    half = t_quantile(LEVEL, units - 1.0) * errors
    by_t = np.stack([scores - half, scores + half], axis=1)
    samples = zip(scores.tolist(), errors.tolist(), skewed.tolist(), strict=True)
    auto = np.array([skewed_interval(*one, LEVEL, units - 1.0) for one in samples])
    lengths, usual = np.diff(auto, axis=1)[:, 0], 2.0 * half
    if (lengths > LONGEST * usual * (1.0 + 1e-9)).any():
        raise AssertionError(f"{name}, {units} units: an interval is {(lengths / usual).max():.3g} times that of t")
    unbounded = scores[:, None] - errors[:, None] * halls_ends(skewed, units)
    each = zip(KINDS, (by_t, unbounded, auto), strict=True)
    return [_held(name, units, by, ends, float(np.median(usual))) for by, ends in each]


def statistics(numerators: np.ndarray, denominators: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, jackknife standard errors and skewnesses `[trial]`, of numerators and denominators `[trial, unit]`."""
    denominators = np.broadcast_to(denominators, numerators.shape)
    top, bottom = numerators.sum(1, keepdims=True), denominators.sum(1, keepdims=True)
    size = numerators.shape[1]
    moves = np.sqrt((size - 1.0) / size) * (top / bottom - (top - numerators) / (bottom - denominators))
    moves[np.abs(moves).max(1) < 1e-12] = 0.0  # rounding
    errors = np.sqrt(np.square(moves).sum(1))
    return (top / bottom)[:, 0], errors, (moves**3).sum(1) / np.where(errors > 0.0, errors, 1.0) ** 3


def halls_ends(skewed: np.ndarray, units: int) -> np.ndarray:
    """Ends `[trial, 2]` of Hall's interval without bounds, in standard errors below the score."""
    g = np.where(np.abs(skewed) < 1e-6, 1e-6, skewed)[:, None]
    t = t_quantile(LEVEL, units - 1.0) * np.array([1.0, -1.0])
    return (np.cbrt(1.0 + g * (t - g / 6.0)) - 1.0) * 3.0 / g


def _held(name: str, units: int, by: str, ends: np.ndarray, usual: float) -> Held:
    truth, lengths = WORLDS[name].truth, ends[:, 1] - ends[:, 0]
    above, below = (int(each.sum()) for each in (ends[:, 0] > truth + 1e-12, ends[:, 1] < truth - 1e-12))
    median, long = (np.quantile(lengths, (0.5, 0.95)) / usual).tolist() if usual else (None, None)
    return Held(name, units, by, len(ends), above, below, median, long)


def table(held: Sequence[Held], text: Callable[[Held], str]) -> str:
    """One line per world, one column per number of units; in each cell the kinds in turn."""
    cells = {(each.world, each.units, each.by): text(each) for each in held if each.units in SHOWN}
    lines = [[name, *(" / ".join(cells[name, units, by] for by in KINDS) for units in SHOWN)] for name in WORLDS]
    return markdown_table(["", *(f"n = {units}" for units in SHOWN)], lines)


def check(held: Sequence[Held]) -> None:
    """Check that intervals of normal numbers miss the truth in no more than 6%.

    Raises:
        AssertionError: they do not.
    """
    normal = [each for each in held if (each.world, each.by) == ("normal", "auto")]
    for each in normal:
        if (tail := binom.sf(each.above + each.below - 1, each.trials, ALLOWED)) < FALSE_ALARMS / len(normal):
            raise AssertionError(f"{each}: the chance of that is {tail:.2g}")
    print(f"\nno interval is longer than {LONGEST} times that of t; of normal numbers at most {ALLOWED:.0%} miss")


if __name__ == "__main__":
    main()
