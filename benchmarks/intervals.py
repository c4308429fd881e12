"""How often intervals hold what they are about, for `calibration.py`: those of sigjax, and BCa of SciPy."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple, get_args

import numpy as np
from nulls import TARGETS, Target
from scipy import stats
from sizes import GROUP, make_case

import sigjax
from sigjax.checkpoint import NO_STAGE
from sigjax.inference.answer import answer
from sigjax.inference.outcome import Case
from sigjax.records import Interval, IntervalKind

LEVEL = 0.95
RESAMPLES = 1999
OF_SIGJAX = tuple(kind for kind in get_args(IntervalKind) if kind != "none")
OF_SCIPY = "BCa of SciPy"
_BATCH = 50
"""Resamples that SciPy draws at a time, so that they stay near the cache."""
_ROUNDING = 1e-9
_STEPS = 1e-6
"""What the steps may change in which reals are held: they depend on all systems of a comparison."""
_SEED = 2027


class Held(NamedTuple):
    """How the intervals of some data sets lie about the truth."""

    trials: int
    below: int
    """Intervals that end below the truth."""
    above: int
    """Intervals that begin above it."""
    none: int
    """Data sets without an interval."""

    @property
    def covered(self) -> int:
        """Intervals that hold the truth."""
        return self.trials - self.below - self.above - self.none

    def plus(self, other: Held | None) -> Held:
        """Both together."""
        return self if other is None else Held(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def coverage_of(name: str, size: int, groups: range) -> dict[str, Held]:
    """How the intervals of each kind do on some groups of data sets of `size` units each.

    Raises:
        AssertionError: intervals of a group are not those of `sigjax.compare`.
    """
    target, found = TARGETS[name], {}
    for group in groups:
        rng = np.random.default_rng((_SEED, list(TARGETS).index(name), size, group))
        inputs, seed = target.draw(rng, GROUP, size), int(rng.integers(2**62))
        case = make_case(target.metric, inputs, None, seed)
        case = case._replace(settings=replace(case.settings, tests=(), resamples=RESAMPLES, level=LEVEL))
        ends = {kind: _of_sigjax(case, kind, paired=inputs.shape[1] == 2) for kind in OF_SIGJAX}
        if group == 0:
            for kind in OF_SIGJAX:
                _require_that_of_compare(ends[kind][0], target, inputs, kind, seed)
        ends[OF_SCIPY] = _of_scipy(target, inputs, rng)
        for kind, each in ends.items():
            found[kind] = _held(each, target.truth).plus(found.get(kind))
    return found


def _of_sigjax(case: Case, kind: IntervalKind, *, paired: bool) -> np.ndarray:
    """Intervals `[data set, 2]`, NaN where there is none."""
    settings = replace(case.settings, interval=kind)
    answers = answer(case._replace(settings=settings), "numpy", progress=False, stage=NO_STAGE)
    return np.array([each.interval or (np.nan, np.nan) for each in (answers.pairs if paired else answers.systems)])


def _require_that_of_compare(
    ends: np.ndarray, target: Target, inputs: np.ndarray, kind: IntervalKind, seed: int
) -> None:
    """The first interval of a group must be that of the front door.

    Raises:
        AssertionError: it is another one.
    """
    paired = inputs.shape[1] == 2
    systems = inputs[0] if paired else inputs[:2, 0]
    report = sigjax.compare(
        sigjax.Evaluation.from_arrays(dict(zip("ab", systems, strict=True)), metric=target.metric),
        test="bootstrap",
        method="montecarlo",
        resamples=RESAMPLES,
        seed=seed,
        level=LEVEL,
        interval=kind,
        device="numpy",
        progress=False,
    )
    (system,) = (each for each in report.systems if each.name == "a")  # in the order of the scores
    found = (report.comparisons[0] if paired else system).interval or Interval(np.nan, np.nan)
    if not np.allclose(found, ends, rtol=_STEPS, atol=0.0, equal_nan=True):
        raise AssertionError(f"{target.name}: the {kind} interval is {ends}, but {found} by sigjax.compare")


def _of_scipy(target: Target, inputs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Intervals `[data set, 2]` of `scipy.stats.bootstrap(method="BCa")`, NaN where there is none."""
    columns = tuple(
        np.ascontiguousarray(inputs[:, system, :, place], np.float64)
        for system in range(inputs.shape[1])
        for place in range(inputs.shape[3])
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            columns,
            target.statistic,
            paired=len(columns) > 1,
            vectorized=True,
            method="BCa",
            n_resamples=RESAMPLES,
            batch=_BATCH,
            confidence_level=LEVEL,
            axis=-1,
            rng=rng,
        )
    return np.stack(found.confidence_interval, axis=-1)


def _held(ends: np.ndarray, truth: float) -> Held:
    """Ends `[data set, 2]` against the truth, which an end may be but for rounding."""
    low, high = ends.T
    rounding = _ROUNDING * abs(truth)
    below, above = int((high < truth - rounding).sum()), int((low > truth + rounding).sum())
    return Held(len(ends), below, above, int(np.isnan(low).sum()))
