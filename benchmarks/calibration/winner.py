"""Does the interval of the best of many scores hold its true score, though it was chosen for being the largest?

    python benchmarks/calibration/winner.py [--quick] [--output FILE.json]

Boards of normal scores with known errors, and of right or wrong answers: the interval of the best system alone
(Wilson's, of answers), that of the zoom correction (`sigjax one-sample --best`; of answers Clopper and Pearson's), and
simultaneous ones. Nothing is timed. Exits with 1 where the zoom
interval misses in more than 5%, beyond binomial error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from shared import begin, finish, markdown_table, require_at_most, share_of

from sigjax.records.settings import bonferroni_level
from sigjax.testing.intervals import wilson_interval
from sigjax.testing.special import clopper_pearson
from sigjax.testing.winner import winner_levels, winner_radii

LEVEL, DRAWS = 0.95, 4000
FEW_ANSWERS = 30
"""With fewer right or wrong answers of the best, the command takes Bonferroni's level."""
BOARDS, QUICK_BOARDS = {"scores": 2000, "answers": 500}, 20
_SEED = 2048


class World(NamedTuple):
    """True scores in standard errors, how errors correlate, and their sizes."""

    scores: list[float]
    correlation: float = 0.0
    sizes: list[float] | None = None


WORLDS = {
    "30 equal": World([0.0] * 30),
    "30 equal, correlation 0.7": World([0.0] * 30, 0.7),
    "30 equal, one with 5 times the error": World([0.0] * 30, 0.0, [5.0] + [1.0] * 29),
    "30, each 1/3 above the next": World([k / 3.0 for k in range(30)]),
    "3 of 30 are 6 ahead": World([6.0] * 3 + [0.0] * 27),
    "1 of 30 is 8 ahead": World([8.0] + [0.0] * 29),
    "1 of 30 is 16 ahead": World([16.0] + [0.0] * 29),
    "the same, correlation 0.7": World([16.0] + [0.0] * 29, 0.7),
}
ANSWERS = {"30 equal": 0.0, "the best 25 points ahead of 29": 0.25}
"""Right or wrong answers of 30 systems to 300 questions, 60% right on average: how far the first is ahead."""


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    lines, found = list[list[str]](), []
    for number, name in enumerate([*WORLDS, *(f"answers, {each}" for each in ANSWERS)]):
        rng, boards = np.random.default_rng((_SEED, number)), BOARDS["scores" if name in WORLDS else "answers"]
        boards = QUICK_BOARDS if chosen.quick else boards
        measured = (
            of_scores(WORLDS[name], boards, rng)
            if name in WORLDS
            else of_answers(ANSWERS[name.removeprefix("answers, ")], boards, rng)
        )
        alone, zoomed, joint = measured[0].tolist()
        found.append(share_of(name, boards, "misses", "zoom", zoomed, boards))
        shown = [f"{100.0 * each / boards:.1f}" for each in (alone, zoomed, joint)]
        lines.append([name, *shown, *(f"{each:.2f}" for each in (measured[1] / boards).tolist())])
    header = ("", "alone misses, %", "zoom", "simultaneous", "length of zoom", "of simultaneous")
    print(f"\nlengths are in those of the interval alone\n\n{markdown_table(header, lines)}")
    finish(chosen, level=LEVEL, misses=[each._asdict() for each in found])
    require_at_most(1.0 - LEVEL, found)


def of_scores(world: World, boards: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """How often the best score misses by each interval; sums of lengths of the last two, in that of the first."""
    truth, rho = np.array(world.scores), world.correlation
    sizes = np.ones(len(truth)) if world.sizes is None else np.array(world.sizes)

    def errors(count: int) -> np.ndarray:
        shared, own = rng.standard_normal(count), rng.standard_normal((len(truth), count))
        return math.sqrt(rho) * shared + math.sqrt(1.0 - rho) * own

    known, missed, widths, alone = np.abs(errors(DRAWS)), np.zeros(3, int), np.zeros(2), 1.959964
    joint = float(np.quantile(known.max(axis=0), LEVEL, method="higher"))
    for error in errors(boards).T:
        scores = truth + sizes * error
        best = int(scores.argmax())
        below, above = winner_radii(scores, sizes, known, LEVEL)
        off = float(error[best])
        missed += [abs(off) > alone, not -above <= off <= below, abs(off) > joint]
        widths += [(below + above) / (2.0 * alone), joint / alone]
    return missed, widths


def of_answers(ahead: float, boards: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same of answers to questions of different difficulty."""
    missed, widths, size, systems = np.zeros(3, int), np.zeros(2), 300, 30
    for board in range(boards):
        easy = rng.normal(0.4, 1.2, size)
        chance = np.tile(ndtr(easy), (systems, 1))
        chance[0] = np.minimum(chance[0] + ahead, 1.0)
        right = rng.random((systems, size)) < chance
        truth = np.full(systems, float(ndtr(0.4 / math.hypot(1.0, 1.2))))
        truth[0] = _truth(ahead)
        scores = right.mean(axis=1)
        influence = (right - scores[:, None]) / math.sqrt(size * (size - 1.0))
        best, ends = int(scores.argmax()), []
        lower, upper = winner_levels(scores, influence, LEVEL, DRAWS, board)
        count, joint = np.array(int(right[best].sum())), LEVEL ** (1.0 / systems)
        if min(count, size - count) < FEW_ANSWERS:
            lower = upper = bonferroni_level(LEVEL, systems)
        for interval, low, high in (
            (wilson_interval, LEVEL, LEVEL),
            (clopper_pearson, lower, upper),
            (clopper_pearson, joint, joint),
        ):
            ends.append((float(interval(count, size, low)[0]), float(interval(count, size, high)[1])))
        missed += [not low <= truth[best] <= high for low, high in ends]
        lengths = np.subtract(*np.array(ends).T[::-1])
        widths += lengths[1:] / lengths[0]
    return missed, widths


def _truth(ahead: float) -> float:
    """The mean chance of the first system over all questions."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    return float(np.minimum(ndtr(0.4 + 1.2 * nodes) + ahead, 1.0) @ weights / weights.sum())


if __name__ == "__main__":
    main()
