"""What sigjax is tested against: definitions carried out by brute force, in plain Python and NumPy, without JAX."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from statsmodels.stats.multitest import multipletests

Score = Callable[[np.ndarray], np.ndarray]
STATSMODELS = {"holm": "holm", "hochberg": "simes-hochberg", "bonferroni": "bonferroni", "bh": "fdr_bh", "by": "fdr_by"}
"""What statsmodels calls corrections."""


def adjusted_p(p_values: Sequence[float], correction: str) -> np.ndarray:
    """By statsmodels, which takes logarithms of 1 - p, also where p is 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(multipletests(p_values, method=STATSMODELS[correction])[1])


def extreme(delta: np.ndarray, observed: float, alternative: str, tolerance: float = 1e-12) -> np.ndarray:
    """Ties count; the tolerance is far above rounding and far below any difference in the tests."""
    return {
        "two-sided": np.abs(delta) >= abs(observed) - tolerance,
        "greater": delta >= observed - tolerance,
        "less": delta <= observed + tolerance,
    }[alternative]


def enumerate_swaps(a: np.ndarray, b: np.ndarray, score: Score, alternative: str, tolerance: float = 1e-12) -> float:
    """The permutation p-value over all 2^n swaps of statistics `[instance, stat]`."""
    masks = np.array(list(itertools.product([0, 1], repeat=len(a))))
    delta = swapped_deltas(masks, a, b, score)
    observed = float(score(a.sum(axis=0) * 1.0) - score(b.sum(axis=0) * 1.0))
    return float(extreme(delta, observed, alternative, tolerance).mean())


def swapped_deltas(masks: np.ndarray, a: np.ndarray, b: np.ndarray, score: Score) -> np.ndarray:
    """Delta of each mask `[resample, instance]`, by exchanging the rows that it marks."""
    swapped_a = np.where(masks[:, :, None] == 1, b, a).sum(axis=1) * 1.0
    swapped_b = np.where(masks[:, :, None] == 1, a, b).sum(axis=1) * 1.0
    return score(swapped_a) - score(swapped_b)


def random_sign_counts(sizes: list) -> dict:
    """How many of the 2^n sign vectors give each value of the sum of +-sizes, in whole numbers of any length.

    Sizes are numbers, or points (lists of numbers), whose sums are tuples.
    """
    points = [tuple(size) if isinstance(size, list) else (size,) for size in sizes]
    counts = {tuple(0 for _ in points[0]): 1}
    for point in points:
        after: dict[tuple[int, ...], int] = {}
        for value, count in counts.items():
            for sign in (1, -1):
                moved = tuple(v + sign * p for v, p in zip(value, point, strict=True))
                after[moved] = after.get(moved, 0) + count
        counts = after
    return counts if isinstance(sizes[0], list) else {value[0]: count for value, count in counts.items()}


def log10_quotient(part: int, whole: int) -> float:
    """Base-10 logarithm of a quotient of whole numbers of any length; near 1 from what is missing, for its digits."""
    if 2 * part > whole:
        return math.log1p(-((whole - part) / whole)) / math.log(10)
    share = part / whole
    return math.log10(share) if share > 1e-300 else math.log10(part) - math.log10(whole)


def montecarlo_error(p_value: float, resamples: int) -> float:
    """Standard error of a Monte Carlo p-value, and no less than one resample."""
    return max(math.sqrt(p_value * (1 - p_value) / resamples), 1 / resamples)


def f1(sums: np.ndarray) -> np.ndarray:
    """F1 from (tp, predicted, gold), 0 for nothing."""
    both = sums[..., 1] + sums[..., 2]
    return np.divide(2 * sums[..., 0], both, out=np.zeros_like(both, dtype=float), where=both > 0)


def random_counts(rng: np.random.Generator, num_systems: int, num_instances: int) -> dict[str, np.ndarray]:
    """Made-up counts (tp, predicted, gold) `[instance, 3]` of some systems on the same instances."""
    gold = rng.integers(0, 6, num_instances)
    tables = {}
    for system in range(num_systems):
        tp = rng.binomial(gold, rng.uniform(0.5, 0.9))
        tables[f"s{system}"] = np.column_stack([tp, tp + rng.integers(0, 3, num_instances), gold])
    return tables


def table_deltas(a: np.ndarray, b: np.ndarray, score: Score, masks: np.ndarray | None = None) -> np.ndarray:
    """The differences of swaps of tables `[instance, column]`, of all swaps or of masks; the score is of a whole table.

    In the list of all swaps, the other system's table stands as far from the end as this system's from the beginning.
    """
    every = masks is None
    if masks is None:
        masks = np.array(list(itertools.product([0, 1], repeat=len(a))))
    first = np.array([score(np.where(mask[:, None] == 1, b, a)) for mask in masks], float)
    if every:
        return first - first[::-1]
    return first - np.array([score(np.where(mask[:, None] == 1, a, b)) for mask in masks], float)


def enumerate_tables(
    a: np.ndarray, b: np.ndarray, score: Score, alternative: str, masks: np.ndarray | None = None
) -> float:
    """The permutation p-value over all swaps of tables, or over masks."""
    return float(extreme(table_deltas(a, b, score, masks), float(score(a) - score(b)), alternative).mean())
