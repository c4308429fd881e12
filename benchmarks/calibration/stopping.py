"""Does a monitor keep its level whenever one looks, what power does it lose, and do its intervals hold at all times?

    python benchmarks/calibration/stopping.py [--quick] [--output FILE.json]

Streams of differences, looked at after each of 500 units. Nothing is timed. Exits with 1 where exchangeable systems are
settled, findings are false, or intervals miss in more than 5%, beyond binomial error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from scipy.stats import binom
from shared import Share, begin, cells_table, finish, markdown_table, require_at_most, share_of

from sigjax import Monitor
from sigjax.studies.eprocess import bernstein, log_e_values

ALPHA, UNITS = 0.05, 500
STREAMS, QUICK_STREAMS, CHUNK = 100_000, 2_000, 1_000
EFFECTS = 4.0 / math.sqrt(UNITS) * 2.0 ** np.arange(6)
SHIFTS = (0.0875, 0.125, 0.16, 0.19)
"""Mean differences in standard deviations, which the test at the end finds with a power of about 50, 80, 95 and 99%."""
_SEED = 2032

Shape = tuple[int, int]


def _signs(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return rng.choice([-1.0, 1.0], shape)


NULLS: dict[str, Callable[[np.random.Generator, Shape], np.ndarray]] = {
    "answers, 30% differ": lambda rng, shape: _signs(rng, shape) * (rng.random(shape) < 0.3),
    "answers, 3% differ": lambda rng, shape: _signs(rng, shape) * (rng.random(shape) < 0.03),
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "Cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "sizes that grow": lambda rng, shape: rng.standard_normal(shape) * 1.02 ** np.arange(shape[0])[:, None],
    "unequal clusters": lambda rng, shape: rng.standard_normal(shape) * np.sqrt(rng.integers(1, 200, shape)),
    "equal means, skewed": lambda rng, shape: rng.standard_exponential(shape) - 1.0,
}
"""Differences of systems `[unit, stream]` that are exchangeable; but for the last."""


def main() -> None:
    """Print and save the tables."""
    chosen = begin(__doc__)
    streams = QUICK_STREAMS if chosen.quick else STREAMS
    level = [share for name in NULLS for share in of_null(name, streams)]
    print("\nequal systems that are settled, %\n\n" + table(level))
    power = [share for shift in SHIFTS for share in of_shift(shift, max(CHUNK, streams // 10))]
    print("\ndifferences found, and units needed, %\n\n" + table(power))
    boards = [*of_boards(streams // 100)]
    print("\nboards of 12 systems, 3 kinds of 4 equal ones: false findings, %\n\n" + table(boards))
    misses = [*of_intervals(streams // 10)]
    print("\nconfidence sequences that ever miss, % of streams, and widths beside that of 1.96 standard errors\n")
    print(markdown_table(["scores", "misses", "width at 100", "at 500"], [each[1] for each in misses]))
    finish(
        chosen,
        alpha=ALPHA,
        units=UNITS,
        level=[each._asdict() for each in level],
        power=[each._asdict() for each in power],
        boards=[each._asdict() for each in boards],
        intervals=[each[0]._asdict() | {"cells": each[1][2:]} for each in misses],
    )
    monitors = [each for each in level if each.by == "monitor" and each.world != list(NULLS)[-1]]
    held = [*monitors, *(each for each in boards if each.what != "power"), *(each for each, _ in misses)]
    require_at_most(ALPHA, held)


def table(found: list[Share]) -> str:
    """One line per world, one column per way."""
    return cells_table({(each.world, f"{each.what}, {each.by}", 0): f"{100.0 * each.share:.2f}" for each in found})


def of_null(name: str, streams: int) -> Iterator[Share]:
    """How often equal systems are ever settled; and how often a t-like test finds them different at some time."""
    settled, peeked = 0, 0
    binary = name.startswith("answers")
    for chunk in range(streams // CHUNK):
        rng = np.random.default_rng((_SEED, list(NULLS).index(name), chunk))
        differences = NULLS[name](rng, (UNITS, CHUNK))
        settled += _ever(differences, binary)
        peeked += int((_z(differences)[19:] > 1.96).any(axis=0).sum())
    yield share_of(name, UNITS, "settled", "monitor", settled, streams)
    yield share_of(name, UNITS, "p < 0.05", "z after each unit from 20", peeked, streams)


def _ever(differences: np.ndarray, binary: bool) -> int:  # noqa: FBT001
    return int((log_e_values(differences, EFFECTS, binary=binary)[0] >= -math.log(ALPHA)).any(axis=0).sum())


def _z(differences: np.ndarray) -> np.ndarray:
    """The sum over its standard deviation under swaps, after each unit."""
    deviation = np.sqrt(np.maximum(np.cumsum(differences**2, axis=0), 1e-300))
    return np.abs(np.cumsum(differences, axis=0)) / deviation


def of_shift(shift: float, streams: int) -> Iterator[Share]:
    """Power of the test at the end and of the monitor, and units until it stops, of answers and normal numbers."""
    for name in ("normal", "answers, 30% differ"):
        binary, found = name != "normal", np.zeros(2, np.int64)
        units = 0
        for chunk in range(streams // CHUNK):
            rng = np.random.default_rng((_SEED + 1, round(1e4 * shift), int(binary), chunk))
            if binary:  # the standard deviation is that of 30% that differ
                wins = 0.5 + 0.5 * shift / math.sqrt(0.3)
                draws = rng.random((UNITS, CHUNK))
                differences = (draws < 0.3 * wins).astype(float) - (draws > 1.0 - 0.3 * (1.0 - wins))
                m, w = np.abs(differences).sum(axis=0), (differences > 0).sum(axis=0)
                p = 2.0 * binom.sf(np.maximum(w, m - w) - 1, m, 0.5)
                found[0] += (p <= ALPHA).sum()
            else:
                differences = rng.standard_normal((UNITS, CHUNK)) + shift
                found[0] += (_z(differences)[-1] > 1.96).sum()
            above = log_e_values(differences, EFFECTS, binary=binary)[0] >= -math.log(ALPHA)
            found[1] += above.any(axis=0).sum()
            units += int(np.where(above.any(axis=0), above.argmax(axis=0) + 1, UNITS).sum())
        world = f"{name}, {shift:g}"
        yield share_of(world, UNITS, "found", "test at the end", int(found[0]), streams)
        yield share_of(world, UNITS, "found", "monitor", int(found[1]), streams)
        yield Share(world, UNITS, "units", "monitor", streams * UNITS, units, units / (streams * UNITS), None)


def of_boards(boards: int) -> Iterator[Share]:
    """False findings among all pairs of 12 systems; what e-BH bounds is the mean share among what is settled."""
    kinds, size = np.repeat([0.4, 0.5, 0.65], 4), 300
    names, pairs = [str(i) for i in range(12)], list(combinations(range(12), 2))
    false = {(str(a), str(b)) for a, b in pairs if kinds[a] == kinds[b]}
    for correction in ("ebh", "holm"):
        any_false, shares, found, at_end = 0, 0.0, 0, np.zeros(2)
        for board in range(boards):
            rng = np.random.default_rng((_SEED + 2, board))
            hard = rng.normal(0.0, 0.2, size)
            monitor = Monitor(names, binary=True, largest=size, correction=correction)
            settled = monitor.update((rng.random((12, size)) < kinds[:, None] + hard).astype(float))
            wrong = len(false.intersection(settled))
            any_false, found = any_false + bool(wrong), found + len(settled) - wrong
            shares += wrong / max(len(settled), 1)
            now = [(one.a, one.b) for one in monitor.pairs if one.finding]
            also = len(false.intersection(now))
            at_end += [also / max(len(now), 1), len(now) - also]
        if correction == "ebh":
            yield Share(
                "boards", size, "false discovery rate", correction, boards, round(shares), shares / boards, None
            )
        else:
            yield share_of("boards", size, "any false finding", correction, any_false, boards)
        trials = boards * (len(pairs) - len(false))
        yield Share("boards", size, "power", correction, trials, found, found / trials, None)
        if correction == "ebh":
            rate, number = at_end.tolist()
            by = "closed e-BH at the end"
            yield Share("boards", size, "false discovery rate", by, boards, round(rate), rate / boards, None)
            yield Share("boards", size, "power", by, trials, int(number), number / trials, None)


def of_intervals(streams: int) -> Iterator[tuple[Share, list[str]]]:
    """How often a sequence misses the mean at any unit, and its width beside that of the usual interval then."""
    worlds: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], float]] = {
        "answers, equal": (lambda rng: (rng.random(streams) < 0.15) * 1.0 - (rng.random(streams) < 0.15), 0.0),
        "answers, +0.1": (lambda rng: (rng.random(streams) < 0.3) * 1.0 - (rng.random(streams) < 0.2), 0.1),
        "answers, rare": (lambda rng: (rng.random(streams) < 0.02) * 1.0, 0.02),
        "within 0.1": (lambda rng: rng.uniform(-0.1, 0.14, streams), 0.02),
        "skewed": (lambda rng: rng.beta(0.2, 1.8, streams) - 0.1, 0.0),
        "-1 or 1": (lambda rng: rng.choice([-1.0, 1.0], streams), 0.0),
    }
    log_level = math.log(2.0 / ALPHA)
    for index, (name, (draw, truth)) in enumerate(worlds.items()):
        rng, state = np.random.default_rng((_SEED + 3, index)), np.zeros((5, streams))
        missed, widths, square = np.zeros(streams, bool), [], 0.0
        for unit in range(UNITS):
            differences = draw(rng)
            square += float(((differences - truth) ** 2).mean())
            state = bernstein(state, np.full(streams, unit), differences[None] / 2.0 + 0.5, log_level)
            weight, weighted, penalty = state[2:]
            centre, radius = weighted / weight, (log_level + penalty) / weight
            missed |= np.abs(2.0 * centre - 1.0 - truth) > 2.0 * radius
            if unit + 1 in (100, UNITS):
                usual = 1.96 * math.sqrt(square / (unit + 1)) / math.sqrt(unit + 1)
                widths.append(f"{float(np.mean(np.minimum(2.0 * radius, 1.0))) / usual:.2f}")
        found = share_of(name, UNITS, "misses", "sequence", int(missed.sum()), streams)
        yield found, [name, f"{100.0 * found.share:.2f}", *widths]


if __name__ == "__main__":
    main()
