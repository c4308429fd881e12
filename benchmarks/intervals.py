"""How often intervals hold what they are about, for `calibration.py`: those of sigjax, and BCa of SciPy."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from nulls import TARGETS, Statistic, Target
from scipy import stats
from sizes import GROUP, make_case

import sigjax
from sigjax.comparison.analysis import kind_of, run_tests
from sigjax.records import IntervalKind
from sigjax.run.context import Context

LEVEL = 0.95
RESAMPLES = 1999
OF_SYSTEM: tuple[IntervalKind, ...] = ("auto", "percentile", "basic", "bca", "studentized")
OF_PAIRS: tuple[IntervalKind, ...] = ("auto", "percentile", "simultaneous")
"""Kinds for the score of a system or the delta of two, and for the deltas of all pairs together."""
OF_SCIPY = "BCa of SciPy"
_BATCH = 50
"""Resamples that SciPy draws at a time, so that they stay near the cache."""
_ROUNDING = 1e-9
_STEPS = 1e-5
"""What the steps may change in which reals are held: they depend on all systems of a comparison."""
_SEED = 2027


class Held(NamedTuple):
    """How the intervals of some data sets lie about the truths."""

    trials: int
    below: int
    """Data sets of which an interval ends below its truth."""
    above: int
    """Others, of which an interval begins above it."""
    none: int
    """Data sets without an interval."""

    @property
    def covered(self) -> int:
        """Data sets whose intervals all hold their truths."""
        return self.trials - self.below - self.above - self.none

    def plus(self, other: Held | None) -> Held:
        """Both together."""
        return self if other is None else Held(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def coverage_of(name: str, size: int, groups: range) -> dict[str, Held]:
    """How the intervals of each kind that there is do on some groups of data sets of `size` units each.

    Raises:
        AssertionError: intervals of a group are not those of `sigjax.compare`.
    """
    target, found = TARGETS[name], {}
    for group in groups:
        rng = np.random.default_rng((_SEED, list(TARGETS).index(name), size, group))
        inputs, seed = target.draw(rng, GROUP, size), int(rng.integers(2**62))
        ends: dict[str, np.ndarray] = {}
        for kind in _kinds(inputs.shape[1]):
            ends[kind] = _of_sigjax(target, inputs, kind, seed)
            if group == 0:
                _require_those_of_compare(ends[kind][0], target, inputs, kind, seed)
        if target.statistic is not None:
            ends[OF_SCIPY] = _of_scipy(inputs, target.statistic, rng)
        for kind, each in ends.items():
            found[kind] = _held(each, np.array(target.truths)).plus(found.get(kind))
    return found


def _kinds(num_systems: int) -> tuple[IntervalKind, ...]:
    return OF_PAIRS if num_systems > 2 else OF_SYSTEM


def _of_sigjax(target: Target, inputs: np.ndarray, kind: IntervalKind, seed: int) -> np.ndarray:
    """Intervals `[data set, interval, 2]`, NaN where there is none: data sets are one comparison, or one each."""
    together = inputs.shape[1] > 2
    cases = [make_case(target.metric, each, None, seed) for each in (inputs[:, None] if together else [inputs])]
    found = []
    for case in cases:
        if together:
            pairs = tuple(combinations(range(inputs.shape[1]), 2))
            case = case._replace(question=case.question._replace(members=np.array(pairs, np.int32)))
        settings = replace(case.settings, test=(), resamples=RESAMPLES, level=LEVEL, interval=kind)
        answers = run_tests(kind_of(case._replace(settings=settings)), Context("numpy"))
        found += answers.systems if inputs.shape[1] == 1 else answers.pairs
    return np.array([each.interval or (np.nan, np.nan) for each in found]).reshape(len(inputs), -1, 2)


def _require_those_of_compare(
    ends: np.ndarray, target: Target, inputs: np.ndarray, kind: IntervalKind, seed: int
) -> None:
    """The first intervals `[interval, 2]` of a group must be those of the front door.

    Raises:
        AssertionError: they are others.
    """
    paired = inputs.shape[1] > 1
    systems = inputs[0] if paired else inputs[:2, 0]
    names = "abcde"[: len(systems)]
    report = sigjax.compare(
        sigjax.Evaluation.from_arrays(dict(zip(names, systems, strict=True)), metric=target.metric),
        test="bootstrap",
        method="montecarlo",
        resamples=RESAMPLES,
        seed=seed,
        level=LEVEL,
        interval=kind,
        device="numpy",
        progress=False,
    )
    of_pairs = {(each.a, each.b): each.interval for each in report.comparisons}
    of_systems = {each.name: each.interval for each in report.systems}
    theirs = [of_pairs[pair] for pair in combinations(names, 2)] if paired else [of_systems["a"]]
    found = np.array([each or (np.nan, np.nan) for each in theirs])
    if not np.allclose(found, ends, rtol=_STEPS, atol=0.0, equal_nan=True):
        raise AssertionError(f"{target.name}: {kind} intervals are {ends}, but {found} by sigjax.compare")


def _of_scipy(inputs: np.ndarray, statistic: Statistic, rng: np.random.Generator) -> np.ndarray:
    """Intervals `[data set, 1, 2]` of `scipy.stats.bootstrap(method="BCa")`, NaN where there is none."""
    columns = tuple(
        np.ascontiguousarray(inputs[:, system, :, place], np.float64)
        for system in range(inputs.shape[1])
        for place in range(inputs.shape[3])
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            columns,
            statistic,
            paired=len(columns) > 1,
            vectorized=True,
            method="BCa",
            n_resamples=RESAMPLES,
            batch=_BATCH,
            confidence_level=LEVEL,
            axis=-1,
            rng=rng,
        )
    return np.stack(found.confidence_interval, axis=-1)[:, None]


def _held(ends: np.ndarray, truths: np.ndarray) -> Held:
    """Ends `[data set, interval, 2]` against the truths `[interval]`, which an end may be but for rounding."""
    rounding = _ROUNDING * abs(truths)
    none = np.isnan(ends).any(axis=(1, 2))
    below = (ends[..., 1] < truths - rounding).any(axis=1) & ~none
    above = (ends[..., 0] > truths + rounding).any(axis=1) & ~none & ~below
    return Held(len(ends), int(below.sum()), int(above.sum()), int(none.sum()))
