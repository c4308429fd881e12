"""Do tests keep their level where there is nothing to find, and do intervals hold what they are about?

    python benchmarks/calibration.py [--quick] [--output FILE.json] [--figure FILE.png]

Nothing is timed. Exits with 1 when a permutation test does not reject as often as it must, beyond binomial error.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from calibration_figure import draw
from calibration_tables import SEPARATOR, coverages_table, sizes_table, summary_table
from intervals import LEVEL, Held, coverage_of
from intervals import RESAMPLES as INTERVAL_RESAMPLES
from nulls import KINDS, TARGETS
from scipy import stats
from sizes import GROUP, KEPT, LEVELS, RESAMPLES, Counts, sizes_of
from timing import cores, machine

from sigjax.testing.p_values import clopper_pearson

FULL = ({30: 100, 100: 100, 1000: 100}, {30: 100, 100: 100, 1000: 50})
"""Units -> groups of data sets: for tests, and for intervals."""
QUICK = ({30: 2, 100: 1}, {30: 2, 100: 1})
FALSE_ALARMS = 0.001
"""Probability that the script fails though every test is right, at most."""
_PIECE = 20
"""Groups that a process takes at a time."""


class Size(NamedTuple):
    """How often a test rejects at a level."""

    kind: str
    units: int
    test: str
    level: float
    trials: int
    rejected: int
    share: float
    interval: tuple[float, float]
    """Clopper-Pearson, 95%."""
    attainable: float | None
    """The largest size that the test can have on these data, where it is known."""


class Coverage(NamedTuple):
    """How often an interval holds the truth, or those of all pairs do together."""

    target: str
    truths: tuple[float, ...]
    units: int
    kind: str
    trials: int
    covered: int
    below: int
    above: int
    none: int
    share: float
    interval: tuple[float, float]
    """Clopper-Pearson, 95%."""


Part = tuple[str, str, int, range]
"""What is measured (size or coverage), of what, with how many units, on which groups."""


def main() -> None:
    """Measure, check, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few data sets: does it run?")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    parser.add_argument("--figure", type=Path, help="draw sizes and coverages into this file")
    chosen = parser.parse_args()
    print(json.dumps(on := machine("cpu"), indent=2))
    sizes, coverages = measured(*(QUICK if chosen.quick else FULL))
    show(sizes, coverages)
    if chosen.output:
        record = {"schema": "sigjax-benchmark/1", "machine": on, "levels": LEVELS, "resamples": RESAMPLES}
        record |= {"interval_level": LEVEL, "interval_resamples": INTERVAL_RESAMPLES, "group": GROUP}
        record |= {"sizes": [each._asdict() for each in sizes], "coverages": [each._asdict() for each in coverages]}
        chosen.output.write_text(as_json(record))
    if chosen.figure:
        draw(sizes, coverages, chosen.figure)
    print(checked(sizes))


def as_json(record: Mapping[str, Any]) -> str:
    """The record as JSON, a line an entry of its lists."""
    parts = []
    for key, value in record.items():
        lines = ",\n  ".join(map(json.dumps, value)) if isinstance(value, list) else ""
        parts.append(f"{json.dumps(key)}: " + (f"[\n  {lines}\n]" if lines else json.dumps(value)))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def show(sizes: Sequence[Size], coverages: Sequence[Coverage]) -> None:
    """Print all tables."""
    units = SEPARATOR.join(f"{size:,}" for size in dict.fromkeys(each.units for each in sizes))
    print(f"\nrejections at 5%, %, for {units} units\n\n{summary_table(sizes, 0.05)}")
    for kind in KINDS:
        print(f"\n{kind}: rejections, % (95% interval)\n\n{sizes_table([each for each in sizes if each.kind == kind])}")
    alone = [each for each in coverages if len(each.truths) == 1]
    print(f"\n{LEVEL:.0%} intervals that hold the truth, % (95% interval)\n\n{coverages_table(alone)}")
    together = coverages_table([each for each in coverages if len(each.truths) > 1])
    print(f"\n{LEVEL:.0%} intervals of all pairs that hold the truths together, % (95% interval)\n\n{together}\n")


def measured(for_tests: Mapping[int, int], for_intervals: Mapping[int, int]) -> tuple[list[Size], list[Coverage]]:
    """All sizes and coverages, on all cores: one thread a process, since products of matrices would take all."""
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    parts = [*_parts("size", KINDS, for_tests), *_parts("coverage", TARGETS, for_intervals)]
    tests: dict[tuple[str, int, str], Counts] = {}
    intervals: dict[tuple[str, int, str], Held] = {}
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        for (what, name, units, _), found in zip(parts, pool.map(_of_part, parts), strict=True):
            together = tests if what == "size" else intervals
            for each, counts in found.items():
                together[name, units, each] = counts.plus(together.get((name, units, each)))
    sizes = [size for key, counts in tests.items() for size in _sizes(key, counts)]
    return sizes, [_coverage(key, held) for key, held in intervals.items()]


def _parts(what: str, names: Mapping[str, object], groups: Mapping[int, int]) -> Iterator[Part]:
    for name, (units, number) in product(names, groups.items()):
        for start in range(0, number, _PIECE):
            yield what, name, units, range(start, min(start + _PIECE, number))


def _of_part(part: Part) -> Mapping[str, Any]:
    what, name, units, groups = part
    return (sizes_of if what == "size" else coverage_of)(name, units, groups)


def _sizes(key: tuple[str, int, str], counts: Counts) -> Iterator[Size]:
    for level, rejected, attainable in zip(LEVELS, counts.rejected.tolist(), counts.attainable.tolist(), strict=True):
        known = None if np.isnan(attainable) else attainable / counts.trials
        yield Size(*key, level, counts.trials, rejected, *_share(rejected, counts.trials), known)


def _coverage(key: tuple[str, int, str], held: Held) -> Coverage:
    name, units, kind = key
    head = (name, TARGETS[name].truths, units, kind)
    return Coverage(*head, held.trials, held.covered, *held[1:], *_share(held.covered, held.trials))


def _share(successes: int, trials: int) -> tuple[float, tuple[float, float]]:
    low, high = clopper_pearson(np.array([successes]), trials, 0.95)
    return successes / trials, (float(low[0]), float(high[0]))


class Expected(NamedTuple):
    """A share that theory knows."""

    what: str
    trials: int
    found: int
    share: float

    def tail(self) -> float:
        """The chance of a number as far from what is expected, on the same side."""
        law = stats.binom(self.trials, self.share)
        return float(min(law.cdf(self.found), law.sf(self.found - 1)))


def checked(sizes: Sequence[Size]) -> str:
    """Check that permutation tests reject as often as they can; says how close it was.

    Given the deltas that swaps may give, the attainable sizes are the probabilities of rejections. Far from the mean
    the tails of the sum of such events are at most the binomial ones of their mean probability (Hoeffding 1956). The
    probability of a false alarm is shared out over all tails.

    Raises:
        AssertionError: one of them does not.
    """
    every = list(_expected_rejections(sizes))
    smallest = FALSE_ALARMS / (2 * len(every))
    for each in every:
        if each.tail() < smallest:
            raise AssertionError(
                f"{each.what}: {each.found / each.trials:.3%}, expected {each.share:.3%}; the chance of that is "
                f"{each.tail():.2g}, below {smallest:.2g}"
            )
    least = min(each.tail() for each in every)
    return (
        f"{len(every)} shares of permutation tests agree with theory: the smallest of "
        f"{2 * len(every)} tails is {least:.2g}, and {smallest:.2g} would have been refused"
    )


def _expected_rejections(sizes: Sequence[Size]) -> Iterator[Expected]:
    for each in sizes:
        if each.test in KEPT:
            assert each.attainable is not None
            what = f"{each.test}, {each.kind}, {each.units} units, at {each.level:.0%}"
            yield Expected(what, each.trials, each.rejected, min(each.attainable, each.level))


if __name__ == "__main__":
    main()
