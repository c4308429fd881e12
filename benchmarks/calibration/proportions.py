"""How often do intervals of few right or wrong answers miss the truth? Without simulation: all tables are enumerated.

    python benchmarks/calibration/proportions.py [--quick] [--output FILE.json]

Nothing is timed. Every number of right answers, and every table of two systems, is given to `sigjax.compare`; the
chances of those whose intervals miss are added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import binom, multinomial
from shared import begin, finish, markdown_table

import sigjax

SIZES = (10, 20, 30)
CHANCES = (0.8, 0.85, 0.9, 0.95, 0.98, 1.0)
"""Of a right answer."""
OVERLAPS = (0.0, 0.5, 0.9)
"""What part of the possible overlap of two systems there is beyond that of independent ones."""
KINDS = ("percentile", "auto")


def main() -> None:
    """Print and save the tables."""
    chosen = begin(__doc__)
    sizes = SIZES[:1] if chosen.quick else SIZES
    found = [row for size in sizes for row in rows(size)]
    for target in ("score", "delta"):
        lines = []
        of_target = [row for row in found if row["target"] == target]
        for chance in dict.fromkeys(row["chance"] for row in of_target):
            cells = [row for row in of_target if row["chance"] == chance]
            misses = (" / ".join(f"{100 * row[kind]:.1f}" for row in cells) for kind in KINDS)
            lines.append([chance, *misses])
        print(f"\n{target}: misses in %, n = {' / '.join(map(str, sizes))}\n")
        print(markdown_table(["right", *KINDS], lines))
    finish(chosen, proportions=found)


def rows(size: int) -> Iterator[dict[str, Any]]:
    """What intervals miss with so many instances: of scores for each chance, and the most of deltas over overlaps."""
    ends = {kind: intervals(size, kind) for kind in KINDS}
    for chance in CHANCES:
        law = binom.pmf(np.arange(size + 1), size, chance)
        missed = {kind: float(law[misses(of_scores, chance)].sum()) for kind, (of_scores, _) in ends.items()}
        yield {"target": "score", "size": size, "chance": f"{chance:.0%}"} | missed
    tables = np.array([(b, c, size - b - c) for b in range(size + 1) for c in range(size + 1 - b)])
    for right in CHANCES:
        for other in (each for each in CHANCES if each <= right):
            missed: dict[str, float] = dict.fromkeys(KINDS, 0.0)
            for overlap in OVERLAPS:
                both = right * other + overlap * (other - right * other)
                law = multinomial.pmf(tables, size, [right - both, other - both, 1.0 - right - other + 2.0 * both])
                for kind, (_, of_deltas) in ends.items():
                    missed[kind] = max(missed[kind], float(law[misses(of_deltas, right - other)].sum()))
            yield {"target": "delta", "size": size, "chance": f"{right:.0%} and {other:.0%}"} | missed


def intervals(size: int, kind: Any) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the intervals of the scores of 0 to `size` right answers, and of the deltas of all tables."""
    of_scores, of_deltas = [], []
    for only_a in range(size + 1):
        for only_b in range(size + 1 - only_a):
            rest = [0] * (size - only_a - only_b)
            answers = {"A": [1] * only_a + [0] * only_b + rest, "B": [0] * only_a + [1] * only_b + rest}
            evaluation = sigjax.Evaluation.from_arrays(answers, metric="accuracy")
            report = sigjax.compare(evaluation, interval=kind, device="numpy", progress=False)
            of_deltas.append(report.comparisons[0].interval)
            if only_b == 0:
                of_scores.append(next(system.interval for system in report.systems if system.name == "A"))
    return np.array(of_scores), np.array(of_deltas)


def misses(ends: np.ndarray, truth: float) -> np.ndarray:
    """Whether each interval misses the truth, by more than rounding."""
    return (ends[:, 0] > truth + 1e-9) | (ends[:, 1] < truth - 1e-9)


if __name__ == "__main__":
    main()
