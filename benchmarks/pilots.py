"""How large a test set do published boards need? For people who have no results of their own yet.

    SIGJAX_DATA=FOLDER python benchmarks/pilots.py [--output FILE.json]

For each board it takes the pairs of systems that are at most three ranks apart, because such pairs are the ones that
people compare. The standard error of the difference of a pair, times the square root of the number of units, is the
standard deviation of the difference per unit. A true difference d is found with 80% power, two-sided at 5%, by
((z(0.975) + z(0.8)) * deviation / d)^2 units. The table has the median pair, and the pairs at 10% and at 90%.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

import sigjax

FACTOR = float(norm.ppf(0.975) + norm.ppf(0.8))
"""Standard errors that a true difference needs for 80% power."""
RANKS_APART = 3
PILOTS = (100, 200)
"""Units of pilots."""


class Board(NamedTuple):
    """What is read, and which difference people care about."""

    name: str
    unit: str
    differences: tuple[float, ...]
    read: Callable[[Path], sigjax.Evaluation]


def translations(metric: str) -> Callable[[Path], sigjax.Evaluation]:
    """WMT23, English to German."""
    return lambda folder: sigjax.read(
        folder / "wmt23_ende" / "refA.txt.gz",
        input=sorted((folder / "wmt23_ende" / "systems").iterdir()),
        metric=metric,
        progress=False,
    )


def counted(name: str, counts: dict[str, str], cluster: str | None = None) -> Callable[[Path], sigjax.Evaluation]:
    """A board of counts per sentence."""
    return lambda folder: sigjax.read(
        folder / name / "per_sentence_stats.tsv.gz", metric="fscore", counts=counts, cluster=cluster
    )


ENTITIES = {"tp": "tp", "predicted": "n_sys", "gold": "n_gold"}
ATTACHED = {"tp": "las_correct", "predicted": "sys_words", "gold": "gold_words"}
BOARDS = (
    Board("BLEU, WMT23 English-German", "segments", (0.3, 1.0, 3.0), translations("bleu")),
    Board("chrF, WMT23 English-German", "segments", (0.3, 1.0, 3.0), translations("chrf")),
    Board("F1 of entities, HIPE 2020 French", "sentences", (0.01, 0.02, 0.05), counted("hipe_fr_coarse", ENTITIES)),
    Board(
        "F1 of entities, HIPE 2020 French",
        "documents",
        (0.01, 0.02, 0.05),
        counted("hipe_fr_coarse", ENTITIES, "doc_id"),
    ),
    Board(
        "accuracy, SWE-bench Verified",
        "tasks",
        (0.01, 0.02, 0.05),
        lambda folder: sigjax.read(folder / "swebench_bashonly" / "resolved.tsv.gz", metric="accuracy"),
    ),
    Board("LAS, CoNLL 2018 English", "sentences", (0.003, 0.01, 0.03), counted("conll18_en_ewt", ATTACHED)),
)


def deviations(evaluation: sigjax.Evaluation) -> tuple[int, np.ndarray]:
    """The number of units, and the standard deviation per unit of the difference of each pair of near systems."""
    report = sigjax.compare(evaluation, resamples=999, method="montecarlo", progress=False)
    ranked = [system.name for system in sorted(report.systems, key=lambda system: -system.score)]
    place = {name: rank for rank, name in enumerate(ranked)}
    near = [each for each in report if 0 < abs(place[each.a] - place[each.b]) <= RANKS_APART]
    errors = np.array([each.standard_error for each in near if each.standard_error])
    units = len(set(evaluation.clusters)) if evaluation.clusters is not None else evaluation.stats.shape[1]
    return units, errors * np.sqrt(units)


def units_needed(deviation: float, difference: float) -> float:
    """Units with which a true difference is found with 80% power, two-sided at 5%."""
    return (FACTOR * deviation / difference) ** 2


def of_pilots(evaluation: sigjax.Evaluation, size: int, draws: int = 60) -> list[float]:
    """The number of units that a random pilot of two systems gives, over what all units give: 10, 50 and 90%."""
    stats, rng = evaluation.stats[3:5], np.random.default_rng(size)

    def variance(own: np.ndarray) -> float:
        pair = sigjax.Evaluation.from_arrays(dict(zip("AB", own, strict=True)), metric=evaluation.metric)
        report = sigjax.compare(pair, resamples=99, method="montecarlo", progress=False)
        return (report[0].standard_error or 0.0) ** 2 * own.shape[1]

    chosen = (rng.choice(stats.shape[1], size, replace=False) for _ in range(draws))
    ratios = [variance(stats[:, units]) / variance(stats) for units in chosen]
    return np.quantile(ratios, (0.1, 0.5, 0.9)).round(2).tolist()


def main() -> None:
    """Print the table, and save it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    output = parser.parse_args().output
    rows = []
    for board in BOARDS:
        evaluation = board.read(Path(os.environ["SIGJAX_DATA"]))
        units, found = deviations(evaluation)
        low, middle, high = (float(each) for each in np.quantile(found, (0.1, 0.5, 0.9)))
        rows.append({"board": board.name, "unit": board.unit, "units": units, "pairs": len(found)})
        rows[-1] |= {"deviation": [low, middle, high], "needed": {}}
        for difference in board.differences:
            rows[-1]["needed"][f"{difference:g}"] = [
                round(units_needed(each, difference)) for each in (low, middle, high)
            ]
        if board.unit in ("segments", "sentences"):
            rows[-1]["pilots"] = {str(size): of_pilots(evaluation, size) for size in PILOTS}
        print(rows[-1])
    if output:
        output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
