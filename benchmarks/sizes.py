"""How often each test rejects where there is nothing to find, for `calibration.py`.

Data sets are tested in groups, which share their resamples: each group has a seed of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, get_args

import numpy as np
from nulls import KINDS, Kind

import sigjax
from sigjax.comparison.analysis import kind_of, run_tests
from sigjax.records import Alternative, Metric, Settings, Test, Variant
from sigjax.resample.draws import rows_of, seed_key
from sigjax.resample.tally import extreme, swapped_deltas
from sigjax.resample.units import make_units
from sigjax.run.backend import NUMPY
from sigjax.run.context import Context, Run
from sigjax.studies.classical import all_tests
from sigjax.studies.tests import ClassicalTest, mcnemar, paired_t
from sigjax.testing.permutation import swap_problem
from sigjax.testing.problem import Case

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
    case = make_case(kind.metric, inputs, labels, seed)
    yield from _resampling_tests(case)
    yield from _exact_tests(case)
    yield from _classical_tests(kind.metric, inputs, labels)
    if labels is not None:
        for test, p_values in _on_instances(kind.metric, inputs, seed):
            yield test + IGNORED, _counts(p_values)


def _resampling_tests(case: Case) -> Iterator[tuple[str, Counts]]:
    sided: dict[str, Alternative] = {SAMPLED: "two-sided", SAMPLED + ONE_SIDED: "greater"}
    for name, alternative in sided.items():
        yield name, _counts(_p_values(case, "permutation", alternative), _attainable_by_swaps(case, alternative))
    yield BOOTSTRAP, _counts(_p_values(case, "bootstrap", "two-sided"))
    for variant in get_args(Variant):
        yield f"{BOOTSTRAP} {variant}{ONE_SIDED}", _counts(_p_values(case, "bootstrap", "greater", variant))


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
    case = make_case(metric, inputs, None, seed)
    yield SAMPLED, _p_values(case, "permutation", "two-sided")
    yield BOOTSTRAP, _p_values(case, "bootstrap", "two-sided")
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


def make_case(metric: str, inputs: np.ndarray, clusters: list[int] | None, seed: int) -> Case:
    """The data sets as systems 0 and 1, 2 and 3, ... of one comparison."""
    systems = {str(place): each for place, each in enumerate(inputs.reshape(-1, *inputs.shape[2:]))}
    evaluation = sigjax.Evaluation.from_arrays(systems, metric=metric, clusters=clusters)
    assert isinstance(evaluation.metric, Metric)
    units = make_units(evaluation)
    pairs = np.arange(len(systems) // 2 * 2, dtype=np.int32).reshape(-1, 2)
    settings = Settings(method="montecarlo", resamples=RESAMPLES, seed=seed, interval="none")
    return Case.of(units, evaluation.metric, pairs, settings)


def _p_values(case: Case, test: Test, alternative: Alternative, variant: Variant = "shift") -> np.ndarray:
    """The p-values `[data set]` that sigjax gives by resampling."""
    settings = replace(case.settings, test=test, alternative=alternative, variant=variant)
    return run_tests(kind_of(case._replace(settings=settings)), Context("numpy")).outcomes[test].p_value


def _attainable_by_swaps(case: Case, alternative: Alternative) -> np.ndarray:
    """The largest sizes `[level]` of the sampled test, added up over data sets.

    The observed delta and those of the resamples may be exchanged under the null hypothesis: given all of them, the
    test rejects as often as the observed one falls on one of those that no more than the share `level` reach.
    """
    problem, pairs = swap_problem(case, slice(None), Run(RESAMPLES, case.settings.seed, NUMPY))
    rows = rows_of(seed_key(case.settings.seed), np.arange(RESAMPLES))
    deltas = swapped_deltas(problem.projection.sums(rows), pairs, problem.divisors, case.metric.score)
    pool = np.concatenate([pairs.delta[:, None], deltas], axis=1)
    pool = np.sort(abs(pool) if alternative == "two-sided" else pool, axis=1)
    shares = []
    for level in LEVELS:
        first_beyond = pool[:, -1 - round(level * (RESAMPLES + 1)), None]
        shares.append(~extreme(first_beyond, pool, pairs.tolerance[:, None], "greater"))
    return np.array([each.mean(axis=1).sum() for each in shares])


def _exact_tests(case: Case) -> Iterator[tuple[str, Counts]]:
    """The exact test, where there is one that is quick, and its mid-p, where one statistic differs."""
    if not case.units.exact and len(case.units.strata) > _FEW:
        return
    for name, mid_p in ((EXACT, False), (MID_P, True)):
        settings = replace(case.settings, test="permutation", method="auto", budget=_ENOUGH, mid_p=mid_p)
        answered = run_tests(kind_of(case._replace(settings=settings)), Context("numpy"))
        found = answered.outcomes["permutation"]
        if any(method != "exact" for method in found.method.values):
            return
        yield name, _counts(found.p_value, None if mid_p else _attainable_exactly(case))
        if len(_apart(case)[1]) > 1:
            return


def _apart(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Differences of each data set `[data set, unit, stat]`, and the statistics that differ in any."""
    apart = case.units.values[::2] - case.units.values[1::2]
    return apart, np.flatnonzero(apart.any(axis=(0, 1)))


def _attainable_exactly(case: Case) -> np.ndarray:
    """The largest sizes `[level]` of the exact test, added up over data sets; not by the code of sigjax.

    Where one statistic of whole numbers differs, delta grows with the sum of +d and -d, whose law is the inverse
    Fourier transform of a product of cosines. Of two statistics, the sizes are taken from 999 swaps, and those of reals
    from their continuity.
    """
    apart, differing = _apart(case)
    if not case.units.exact:
        return np.array(LEVELS) * len(apart)
    if len(differing) > 1:
        return _attainable_by_swaps(case, "two-sided")
    return sum((_largest_sizes(each) for each in abs(apart[:, :, differing].reshape(len(apart), -1))), np.zeros(1))


def _largest_sizes(sizes: np.ndarray) -> np.ndarray:
    """The largest sizes `[level]` of the test of the sum of +d and -d, from the sizes of d `[unit]`."""
    values, times = np.unique(sizes, return_counts=True)
    length = 2 * int(sizes.sum()) + 2
    angles = 2.0 * np.pi * np.arange(length // 2 + 1) / length
    law = np.fft.irfft(np.prod(np.cos(np.outer(values, angles)) ** times[:, None], axis=0), length)
    tails = 2.0 * np.cumsum(law[1 : length // 2][::-1])  # P(|S| >= s), from the largest s down to 1
    return np.array([tails[tails <= level + _ROUNDING].max(initial=0.0) for level in LEVELS])
