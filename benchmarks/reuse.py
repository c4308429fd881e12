"""Time all pairs of systems on the same resamples against resamples of its own for each pair.

    python benchmarks/reuse.py [--quick] [--paper] [--output FILE.json] [--figure FILE.png] [--device cpu|gpu]

--paper takes up to 150 systems, 2,034 instances and 10^6 resamples, as Berg-Kirkpatrick et al. (2012). Of many pairs
with resamples of their own, some are timed for all. Exits with 1 when p-values differ; never because of a time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from checks import Check, require
from timing import Row, machine, markdown_table, options, print_verdicts, save, timed, verdict
from workloads import f1_workload

import sigjax
from sigjax.records import Device, Test

TESTS: tuple[Test, ...] = ("permutation", "bootstrap")
_MOST_PAIRS = 20
"""Pairs that are timed one by one."""
_LEAST_GAIN = 10.0
_COLORS = {"permutation": "#0072b2", "bootstrap": "#d55e00"}


class Sizes(NamedTuple):
    """How large."""

    systems: tuple[int, ...]
    instances: int
    resamples: int


DEFAULT = Sizes(systems=(2, 5, 10, 25, 50), instances=2000, resamples=20_000)
PAPER = Sizes(systems=(2, 5, 10, 25, 50, 100, 150), instances=2034, resamples=10**6)
QUICK = Sizes(systems=(2, 5), instances=500, resamples=1000)


class Gain(NamedTuple):
    """All pairs of so many systems, in both ways."""

    test: Test
    systems: int
    reused: float
    """Seconds on the same resamples."""
    redrawn: float
    """Seconds on resamples of their own."""

    @property
    def times(self) -> float:
        """How many times faster the same resamples are."""
        return self.redrawn / self.reused


def measure(test: Test, systems: int, sizes: Sizes, device: Device) -> Gain:
    """Times of both ways, once p-values agree."""
    evaluation = f1_workload(systems, instances=sizes.instances).evaluation
    call = partial(_warm, test=test, resamples=sizes.resamples, device=device)
    reused, report = call(evaluation)
    names = dict(zip(evaluation.systems, evaluation.stats, strict=True))
    chosen = list(islice(combinations(names, 2), _MOST_PAIRS))
    alone = [sigjax.Evaluation.from_arrays({a: names[a], b: names[b]}, metric="fscore") for a, b in chosen]
    each = [call(pair, seed=number) for number, pair in enumerate(alone)]
    p_values = {(one.a, one.b): one.p_value for one in report}
    for pair, (_, (one,)) in zip(chosen, each, strict=True):
        p = p_values[pair]
        error = math.sqrt(2.0 * max(p * (1.0 - p), 1.0 / sizes.resamples) / sizes.resamples)
        require([Check(f"{test}, {systems} systems, {' and '.join(pair)}: p", one.p_value, p, error)])
    return Gain(test, systems, reused, sum(seconds for seconds, _ in each) * len(report) / len(chosen))


def _warm(
    evaluation: sigjax.Evaluation, *, test: Test, resamples: int, device: Device, seed: int = 12345
) -> tuple[float, sigjax.Report]:
    """Seconds of a second call, as the first one compiles, and its report."""
    how = {"method": "montecarlo", "interval": "none", "correction": "none", "progress": False, "device": device}
    call = partial(sigjax.compare, evaluation, test=test, resamples=resamples, seed=seed, **how)
    call()
    return timed(call)


def draw(gains: Sequence[Gain], sizes: Sizes, path: Path) -> None:
    """Seconds against systems, and how many times faster the same resamples are."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.8), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2)
    for test in TESTS:
        some, color = [gain for gain in gains if gain.test == test], _COLORS[test]
        systems = [gain.systems for gain in some]
        left.plot(systems, [gain.redrawn for gain in some], "o--", color=color, label=f"{test}, redrawn for each pair")
        left.plot(systems, [gain.reused for gain in some], "s-", color=color, label=f"{test}, reused")
        right.plot(systems, [gain.times for gain in some], "s-", color=color, label=test)
    left.set_ylabel(f"seconds for all pairs, {sizes.resamples:,} resamples")
    right.set_ylabel("times faster with the same resamples")
    for panel in (left, right):
        panel.set_xlabel(f"systems, {sizes.instances:,} instances")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xticks(sizes.systems, map(str, sizes.systems))
        panel.minorticks_off()
        panel.grid(visible=True, color="0.9")
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def main() -> None:
    """Measure, print, save and draw."""
    figure = {"type": Path, "help": "draw the times into this file"}
    given = options(__doc__, figure=figure, paper={"action": "store_true", "help": "the size of the paper"})
    sizes, on = QUICK if given.quick else PAPER if given.paper else DEFAULT, machine(given.device)
    print(json.dumps(on, indent=2))
    gains, lines = [], []
    for test in TESTS:
        for systems in sizes.systems:
            gains.append(gain := measure(test, systems, sizes, given.device))
            pairs = f"{systems * (systems - 1) // 2:,}"
            lines.append((test, f"{systems}", pairs, f"{gain.reused:.3g}", f"{gain.redrawn:.3g}", f"{gain.times:.3g}"))
    print(f"\nF1, {sizes.instances:,} instances, {sizes.resamples:,} resamples\n")
    print(markdown_table(("test", "systems", "pairs", "reused s", "redrawn s", "times faster"), lines))
    last = [gain for gain in gains if gain.systems == sizes.systems[-1]]
    what = f"all pairs of {sizes.systems[-1]} systems: times faster on the same resamples"
    verdicts = [verdict(f"{gain.test}, {what}", gain.times, at_least=_LEAST_GAIN) for gain in last]
    print_verdicts(verdicts)
    ways = [(gain, name, getattr(gain, name)) for gain in gains for name in ("reused", "redrawn")]
    rows = [Row(gain.test, f"{gain.systems} systems", name, sizes.resamples, (each,)) for gain, name, each in ways]
    save(given.output, on, rows, sizes=sizes._asdict(), aims=verdicts)
    if given.figure:
        draw(gains, sizes, given.figure)


if __name__ == "__main__":
    main()
