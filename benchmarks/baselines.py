"""The tests that are timed: by sigjax, by hand in NumPy, with SciPy and with sacrebleu.

By hand and SciPy take one pair of systems. A `Pair` is in the form that suits them best: only the columns that the
score needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats

import sigjax
from sigjax.records import Device

Score = Callable[[np.ndarray], np.ndarray]

_SWAP_BLOCK = 1000
_BOOTSTRAP_BLOCK = 100
"""Fewer resamples than for swaps: counts take more memory, and blocks that fit the cache are faster (measured)."""
_ROUNDING = 1e-12
_LABELS = {"bleu": "BLEU", "chrf": "chrF2"}
"""Names of metrics in results of sacrebleu."""


class Pair(NamedTuple):
    """Two systems on the same instances."""

    a: np.ndarray
    """[instance, column] whole numbers."""
    b: np.ndarray
    """[instance, column]."""
    score: Score
    """Sums `[..., column]` -> `[...]`."""

    @property
    def delta(self) -> float:
        """The observed score of a minus that of b."""
        return float(self.score(self.a.sum(axis=0)) - self.score(self.b.sum(axis=0)))


class Spread(NamedTuple):
    """What the bootstrap says of delta."""

    standard_error: float
    low: float
    high: float
    p_value: float
    """Two-sided, of the bootstrap test: how often the replicates are as far from delta as delta is from 0."""


def numpy_swap(pair: Pair, *, resamples: int, seed: int = 1) -> float:
    """Two-sided p-value: a product of random signs with the differences, 1,000 resamples at a time."""
    rng = np.random.default_rng(seed)
    middle = (pair.a + pair.b).sum(axis=0) / 2
    half = ((pair.a - pair.b) / 2).astype(np.float32)
    threshold = abs(pair.delta) - _ROUNDING
    exceed = 0
    for start in range(0, resamples, _SWAP_BLOCK):
        size = (min(_SWAP_BLOCK, resamples - start), len(half))
        signs = rng.integers(0, 2, size, dtype=np.int8) * 2 - 1
        shift = (signs.astype(np.float32) @ half).astype(np.float64)
        delta = pair.score(middle + shift) - pair.score(middle - shift)
        exceed += np.count_nonzero(np.abs(delta) >= threshold)
    return (exceed + 1) / (resamples + 1)


def numpy_bootstrap(pair: Pair, *, resamples: int, seed: int = 1) -> Spread:
    """Standard error, 95% percentile interval, p: a product of counts (`bincount`) with the columns of both systems."""
    rng = np.random.default_rng(seed)
    num_instances, num_columns = pair.a.shape
    columns = np.concatenate([pair.a, pair.b], axis=1).astype(np.float32)
    blocks = []
    for start in range(0, resamples, _BOOTSTRAP_BLOCK):
        num_rows = min(_BOOTSTRAP_BLOCK, resamples - start)
        drawn = rng.integers(0, num_instances, (num_rows, num_instances))
        drawn += np.arange(num_rows)[:, None] * num_instances
        counts = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        sums = (counts.astype(np.float32) @ columns).astype(np.float64)
        blocks.append(pair.score(sums[:, :num_columns]) - pair.score(sums[:, num_columns:]))
    replicates = np.concatenate(blocks)
    low, high = np.quantile(replicates, [0.025, 0.975])
    return Spread(float(np.std(replicates, ddof=1)), float(low), float(high), _p_value(replicates, pair.delta))


def scipy_swap(pair: Pair, *, resamples: int, batch: int, seed: int = 1) -> float:
    """Two-sided p-value of `scipy.stats.permutation_test(permutation_type="samples", vectorized=True)`.

    The statistic is |delta| and the alternative "greater": SciPy's own two-sided p-value is twice the smaller one-sided
    one, another convention than ours.
    """

    def size_of_delta(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return abs(pair.score(a.sum(axis=axis)) - pair.score(b.sum(axis=axis)))

    result = stats.permutation_test(
        (pair.a.T.astype(np.float64), pair.b.T.astype(np.float64)),
        size_of_delta,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=batch,
        alternative="greater",
        axis=-1,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def scipy_bootstrap(pair: Pair, *, resamples: int, batch: int, seed: int = 1) -> Spread:
    """Standard error, interval and p of `scipy.stats.bootstrap(paired=True, vectorized=True, method="percentile")`."""
    num_columns = pair.a.shape[1]

    def delta(*columns: np.ndarray, axis: int) -> np.ndarray:
        sums = np.stack([column.sum(axis=axis) for column in columns], axis=-1)
        return pair.score(sums[..., :num_columns]) - pair.score(sums[..., num_columns:])

    result = stats.bootstrap(
        (*pair.a.T.astype(np.float64), *pair.b.T.astype(np.float64)),
        delta,
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        batch=batch,
        method="percentile",
        confidence_level=0.95,
        axis=-1,
        rng=np.random.default_rng(seed),
    )
    low, high = (float(end) for end in result.confidence_interval)
    return Spread(float(result.standard_error), low, high, _p_value(result.bootstrap_distribution, pair.delta))


class PairedTest(NamedTuple):
    """The paired test of sacrebleu, of the first system against each other one, with all metrics."""

    test: Any
    num_pairs: int

    def p_values(self) -> dict[str, list[float]]:
        """Metric -> a p-value for each system but the first; runs the test."""
        _, found = self.test()
        return {name: [each.p_value for each in found[label][1:]] for name, label in _LABELS.items()}


def sacrebleu_test(counts: Mapping[str, np.ndarray], kind: Literal["ar", "bs"], *, resamples: int) -> PairedTest:
    """`sacrebleu.significance.PairedTest`, in one process, from counts `[system, segment, stat]` of bleu and chrf.

    sacrebleu makes the counts of each system anew in each test. Here it is handed them, so that extraction costs
    nothing: what stands for the texts of a system is its number.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.significance import PairedTest as SacrebleuTest

    metrics = {"bleu": BLEU(references=[["one"]]), "chrf": CHRF(references=[["one"]])}
    for name, metric in metrics.items():
        lists = counts[name].tolist()
        metric._extract_corpus_statistics = lambda numbers, references, lists=lists: lists[numbers[0]]
    num_systems, num_segments, _ = counts["bleu"].shape
    systems = [(str(number), [number] * num_segments) for number in range(num_systems)]
    return PairedTest(SacrebleuTest(systems, metrics, None, kind, resamples, n_jobs=1), num_systems - 1)


def _p_value(replicates: np.ndarray, delta: float) -> float:
    extreme = np.abs(replicates - delta) >= abs(delta) - _ROUNDING
    return float((np.count_nonzero(extreme) + 1) / (len(replicates) + 1))


Evaluations = sigjax.Evaluation | Sequence[sigjax.Evaluation]
"""Of one metric, or of several."""


def swap(evaluation: Evaluations, *, resamples: int, device: Device, baseline: str | None = None) -> sigjax.Report:
    """The permutation test, without the bootstrap intervals that a report has by default."""
    return sigjax.compare(
        evaluation,
        method="montecarlo",
        interval="none",
        baseline=baseline,
        resamples=resamples,
        device=device,
        progress=False,
    )


def bootstrap(evaluation: Evaluations, *, resamples: int, device: Device, baseline: str | None = None) -> sigjax.Report:
    """The bootstrap test, with standard errors and intervals."""
    return sigjax.compare(
        evaluation,
        test="bootstrap",
        method="montecarlo",
        baseline=baseline,
        resamples=resamples,
        device=device,
        progress=False,
    )


TESTS: dict[str, Callable[..., sigjax.Report]] = {"swap": swap, "bootstrap": bootstrap}
