"""How often each test rejects where there is nothing to find, and intervals hold what they are about, for `level.py`.

Data sets are tested in groups, which share their resamples: each group has a seed of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple, get_args

import numpy as np
from populations import KINDS, TARGETS, Kind, Statistic, Target
from scipy import stats

import sigjax
from sigjax.comparison.analysis import run_tests, spreads_of
from sigjax.records import Alternative, IntervalKind, Metric, Settings, Test, Variant
from sigjax.resample.draws import rows_of, seed_key
from sigjax.resample.extreme import Extreme
from sigjax.resample.tally import swapped_deltas
from sigjax.resample.units import make_units
from sigjax.run.backend import NUMPY
from sigjax.run.context import Context, Run
from sigjax.studies.classical import all_tests
from sigjax.studies.tests import ClassicalTest, mcnemar, paired_t
from sigjax.testing.permutation import swap_problem
from sigjax.testing.problem import SumsProblem

LEVELS = (0.01, 0.05, 0.10)
RESAMPLES = 999
"""So that (exceed + 1) / (resamples + 1) can be each of the levels."""
GROUP = 20
"""Data sets on the same resamples. If all had the same null distribution, 1 / RESAMPLES of the variance would be common
to them, and that of a share of rejections 2% above the binomial one."""
SAMPLED, EXACT, BOOTSTRAP = "permutation, sampled", "permutation, exact", "bootstrap"
MID_P, ONE_SIDED, IGNORED = "permutation, exact mid-p", ", one-sided", ", clusters ignored"
KEPT = (SAMPLED, SAMPLED + ONE_SIDED, EXACT)
"""Tests that reject as often as they can, by theory."""
_FEW = 40
"""Units up to which reals are tested exactly: beyond, the exact test takes tenths of a second."""
_ENOUGH = 1e9
"""Nominal seconds."""
_ROUNDING = 1e-9
_SEED = 2026


class Counts(NamedTuple):
    """What a test said of some data sets."""

    trials: int
    rejected: np.ndarray
    """[level] int64."""
    attainable: np.ndarray
    """[level] float64: the sum, over data sets, of the largest sizes that the test can have; NaN where unknown."""

    def plus(self, other: Counts | None) -> Counts:
        """Both together."""
        if other is None:
            return self
        return Counts(self.trials + other.trials, self.rejected + other.rejected, self.attainable + other.attainable)


def sizes_of(name: str, size: int, groups: range) -> dict[str, Counts]:
    """What each test says of some groups of data sets of a kind, of `size` units each."""
    kind, found = KINDS[name], {}
    for group in groups:
        place = list(KINDS).index(name)
        rng = np.random.default_rng((_SEED, place, size, group))
        inputs, seed = kind.draw(rng, GROUP, size), int(rng.integers(2**62))
        for test, counts in _of_group(kind, inputs, size, seed):
            found[test] = counts.plus(found.get(test))
    return found


def _of_group(kind: Kind, inputs: np.ndarray, size: int, seed: int) -> Iterator[tuple[str, Counts]]:
    """The tests of a group by its units; where these are clusters, some once more as if instances were units."""
    labels = None if kind.clusters is None else kind.clusters(size).tolist()
    problem = make_problem(kind.metric, inputs, labels, seed)
    yield from _resampling_tests(problem)
    yield from _exact_tests(problem)
    yield from _classical_tests(kind.metric, inputs, labels)
    if labels is not None:
        for test, p_values in _on_instances(kind.metric, inputs, seed):
            yield test + IGNORED, _counts(p_values)


def _resampling_tests(problem: SumsProblem) -> Iterator[tuple[str, Counts]]:
    sided: dict[str, Alternative] = {SAMPLED: "two-sided", SAMPLED + ONE_SIDED: "greater"}
    for name, alternative in sided.items():
        yield name, _counts(_p_values(problem, "permutation", alternative), _attainable_by_swaps(problem, alternative))
    yield BOOTSTRAP, _counts(_p_values(problem, "bootstrap", "two-sided"))
    for variant in get_args(Variant):
        yield f"{BOOTSTRAP} {variant}{ONE_SIDED}", _counts(_p_values(problem, "bootstrap", "greater", variant))


def _classical_tests(metric: str, inputs: np.ndarray, clusters: list[int] | None) -> Iterator[tuple[str, Counts]]:
    """The tests of `sigjax.classical_tests`, those that the data allow."""
    found: dict[str, list[float]] = {}
    for pair in inputs:
        evaluation = sigjax.Evaluation.from_arrays(dict(zip("ab", pair, strict=True)), metric=metric, clusters=clusters)
        for test in all_tests(evaluation, "two-sided")[0]:
            if isinstance(test, ClassicalTest):
                found.setdefault(test.name, []).append(test.p_value)
    for name, p_values in found.items():
        yield name, _counts(np.array(p_values))


def _on_instances(metric: str, inputs: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """The p-values `[data set]` of some tests of 0/1 data that know nothing of clusters."""
    problem = make_problem(metric, inputs, None, seed)
    yield SAMPLED, _p_values(problem, "permutation", "two-sided")
    yield BOOTSTRAP, _p_values(problem, "bootstrap", "two-sided")
    apart = inputs[:, 0, :, 0] - inputs[:, 1, :, 0]
    ways = (lambda d: paired_t(d, "two-sided"), lambda d: mcnemar(*_ahead(d), "two-sided")[1])
    for test in ways:
        found = [each for each in map(test, apart) if isinstance(each, ClassicalTest)]
        yield found[0].name, np.array([each.p_value for each in found])


def _ahead(differences: np.ndarray) -> tuple[int, int]:
    return int((differences > 0).sum()), int((differences < 0).sum())


def _counts(p_values: np.ndarray, attainable: np.ndarray | None = None) -> Counts:
    rejected = (p_values[:, None] <= np.array(LEVELS) * (1.0 + _ROUNDING)).sum(axis=0)
    return Counts(len(p_values), rejected, np.full(len(LEVELS), np.nan) if attainable is None else attainable)


def make_problem(metric: str, inputs: np.ndarray, clusters: list[int] | None, seed: int) -> SumsProblem:
    """The data sets as systems 0 and 1, 2 and 3, ... of one comparison."""
    systems = {str(place): each for place, each in enumerate(inputs.reshape(-1, *inputs.shape[2:]))}
    evaluation = sigjax.Evaluation.from_arrays(systems, metric=metric, clusters=clusters)
    assert isinstance(evaluation.metric, Metric)
    units = make_units(evaluation)
    pairs = np.arange(len(systems) // 2 * 2, dtype=np.int32).reshape(-1, 2)
    settings = Settings(method="montecarlo", resamples=RESAMPLES, seed=seed, interval="none")
    return SumsProblem.of(units, evaluation.metric, pairs, settings)


def with_pairs(problem: SumsProblem, members: np.ndarray) -> SumsProblem:
    """The same problem for other pairs `[pair, 2]`."""
    return replace(problem, hypotheses=replace(problem.hypotheses, members=members))


def _p_values(problem: SumsProblem, test: Test, alternative: Alternative, variant: Variant = "shift") -> np.ndarray:
    """The p-values `[data set]` that sigjax gives by resampling."""
    settings = replace(problem.settings, test=test, alternative=alternative, variant=variant)
    return run_tests(replace(problem, settings=settings), Context("numpy"))[0][test].column("p_value").values


def _attainable_by_swaps(problem: SumsProblem, alternative: Alternative) -> np.ndarray:
    """The largest sizes `[level]` of the sampled test, added up over data sets.

    The observed delta and those of the resamples may be exchanged under the null hypothesis: given all of them, the
    test rejects as often as the observed one falls on one of those that no more than the share `level` reach.
    """
    swaps, pairs = swap_problem(problem, slice(None), Run(RESAMPLES, problem.settings.seed, NUMPY))
    rows = rows_of(seed_key(problem.settings.seed), np.arange(RESAMPLES))
    deltas = swapped_deltas(swaps.projection.sums(rows), pairs, swaps.divisors, problem.metric.score)
    pool = np.concatenate([pairs.delta[:, None], deltas], axis=1)
    pool = np.sort(abs(pool) if alternative == "two-sided" else pool, axis=1)
    shares = []
    for level in LEVELS:
        first_beyond = pool[:, -1 - round(level * (RESAMPLES + 1)), None]
        shares.append(~Extreme(pool, pairs.tolerance[:, None], "greater").met(first_beyond))
    return np.array([each.mean(axis=1).sum() for each in shares])


def _exact_tests(problem: SumsProblem) -> Iterator[tuple[str, Counts]]:
    """The exact test, where there is one that is quick, and its mid-p, where one statistic differs."""
    if not problem.units.exact and len(problem.units.strata) > _FEW:
        return
    for name, mid_p in ((EXACT, False), (MID_P, True)):
        settings = replace(problem.settings, test="permutation", method="auto", budget=_ENOUGH, mid_p=mid_p)
        found = run_tests(replace(problem, settings=settings), Context("numpy"))[0]["permutation"]
        if found.column("method").distinct() != ("exact",):
            return
        yield name, _counts(found.column("p_value").values, None if mid_p else _attainable_exactly(problem))
        if len(_apart(problem)[1]) > 1:
            return


def _apart(problem: SumsProblem) -> tuple[np.ndarray, np.ndarray]:
    """Differences of each data set `[data set, unit, stat]`, and the statistics that differ in any."""
    apart = problem.units.values[::2] - problem.units.values[1::2]
    return apart, np.flatnonzero(apart.any(axis=(0, 1)))


def _attainable_exactly(problem: SumsProblem) -> np.ndarray:
    """The largest sizes `[level]` of the exact test, added up over data sets; not by the code of sigjax.

    Where one statistic of whole numbers differs, delta grows with the sum of +d and -d, whose law is the inverse
    Fourier transform of a product of cosines. Of two statistics, the sizes are taken from 999 swaps, and those of reals
    from their continuity.
    """
    apart, differing = _apart(problem)
    if not problem.units.exact:
        return np.array(LEVELS) * len(apart)
    if len(differing) > 1:
        return _attainable_by_swaps(problem, "two-sided")
    return sum((_largest_sizes(each) for each in abs(apart[:, :, differing].reshape(len(apart), -1))), np.zeros(1))


def _largest_sizes(sizes: np.ndarray) -> np.ndarray:
    """The largest sizes `[level]` of the test of the sum of +d and -d, from the sizes of d `[unit]`."""
    values, times = np.unique(sizes, return_counts=True)
    length = 2 * int(sizes.sum()) + 2
    angles = 2.0 * np.pi * np.arange(length // 2 + 1) / length
    law = np.fft.irfft(np.prod(np.cos(np.outer(values, angles)) ** times[:, None], axis=0), length)
    tails = 2.0 * np.cumsum(law[1 : length // 2][::-1])  # P(|S| >= s), from the largest s down to 1
    return np.array([tails[tails <= level + _ROUNDING].max(initial=0.0) for level in LEVELS])


LEVEL = 0.95
INTERVAL_RESAMPLES = 1999
OF_SYSTEM: tuple[IntervalKind, ...] = ("auto", "percentile", "basic", "bca", "studentized")
OF_PAIRS: tuple[IntervalKind, ...] = ("auto", "percentile", "simultaneous")
"""Kinds for the score of a system or the delta of two, and for the deltas of all pairs together."""
OF_SCIPY = "BCa of SciPy"
_BATCH = 50
"""Resamples that SciPy draws at a time, so that they stay near the cache."""
_STEPS = 1e-5
"""What the steps may change in which reals are held: they depend on all systems of a comparison."""
_INTERVAL_SEED = 2027


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
        rng = np.random.default_rng((_INTERVAL_SEED, list(TARGETS).index(name), size, group))
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
    problems = [make_problem(target.metric, each, None, seed) for each in (inputs[:, None] if together else [inputs])]
    found = []
    for problem in problems:
        if together:
            pairs = tuple(combinations(range(inputs.shape[1]), 2))
            problem = with_pairs(problem, np.array(pairs, np.int32))
        settings = replace(
            problem.settings, test=(), resamples=INTERVAL_RESAMPLES, confidence_level=LEVEL, interval=kind
        )
        spreads = spreads_of(replace(problem, settings=settings), Context("numpy"))
        num_systems = len(problem.units.values)
        found.append(spreads[:num_systems, 1:] if inputs.shape[1] == 1 else spreads[num_systems:, 1:])
    return np.concatenate(found).reshape(len(inputs), -1, 2)


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
        resamples=INTERVAL_RESAMPLES,
        seed=seed,
        confidence_level=LEVEL,
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
            n_resamples=INTERVAL_RESAMPLES,
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
