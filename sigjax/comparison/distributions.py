"""How the delta of a pair varies under the null hypothesis and on bootstrap resamples: laws of a report, on request.

A law is exact where that is quick; else it is of the first resamples that the report's seed gives, as many as NumPy
draws in about a second. So a comparison takes no longer, and the p-value of as many resamples counts the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from sigjax.bootstrap.exact import plan_bootstrap
from sigjax.bootstrap.sampled import SharedDraws
from sigjax.comparison.metric_kinds import make_case
from sigjax.comparison.parts import common
from sigjax.comparison.validate import named_errors
from sigjax.exact.bootstrap import law
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice
from sigjax.exact.null import Criterion
from sigjax.exact.plan import Plan
from sigjax.exact.signs import few_units, law_seconds, sign_law
from sigjax.metrics import pair_rounding
from sigjax.permutation.exact import pair_deltas
from sigjax.permutation.exchanges import exchanged_law
from sigjax.permutation.montecarlo import swap_problem
from sigjax.permutation.whole_sample import plan_sample, sample_replicates
from sigjax.records import Distribution, Evaluation, Settings, Test, bin_edges
from sigjax.resample.engine import Run
from sigjax.resample.gathered import outcome_scores, swap_scores
from sigjax.resample.sampling import deltas_of, swapped_sums
from sigjax.resample.tally import null_replicates
from sigjax.run.backend import NUMPY
from sigjax.testing.problem import Case, Question, SampleCase, alike, check_finite, scores_at
from sigjax.testing.runner import Runner, draw_seconds, swap_seconds

MOST_RESAMPLES, _FEWEST, _OF_SAMPLES = 2**13, 2**10, 2**10
"""Resamples of a law; of a metric that is not a function of sums the last number."""
_SECONDS = 1.0
"""Nominal seconds of NumPy per law."""
_EXACT_SECONDS = 0.1
"""Nominal seconds of an exact null: a million values."""
_FEW_COINS = 13
"""Units whose swaps are all tried for a metric that is not a function of sums."""
AnyCase = TypeVar("AnyCase", Case, SampleCase)


class Law(NamedTuple):
    """The delta of a pair: values and their chances."""

    deltas: np.ndarray
    """[value]"""
    chances: np.ndarray
    """[value]; 1 for each resample."""
    resamples: int | None
    """None for an exact law."""


class Laws:
    """The laws of the pairs of a report: `laws(metric, a, b, test)`.

    Bootstrap scores of all systems are drawn once, and kept for the metric that was asked for last.
    """

    def __init__(self, evaluations: Sequence[Evaluation], settings: Settings) -> None:
        self._evaluations = {each.metric.name: each for each in evaluations}
        self._settings = replace(settings, resamples=settings.fixed_resamples)
        self._case = lru_cache(1)(lambda metric: make_case(self._evaluations[metric], self._settings))
        self._scores = lru_cache(1)(lambda metric: _bootstrap_scores(self._case(metric)))

    def __call__(self, metric: str, a: str, b: str, test: Test) -> Distribution | None:
        """The law of one pair, in bins; None where there is none (no bootstrap of one unit, or of trained models).

        Raises:
            InputError: the metric gave NaN or infinity on a resample.
        """
        evaluation = self._evaluations[metric]
        if evaluation.present is not None:
            settings = replace(self._settings, baseline=None)
            return Laws([common(evaluation, a, b)], settings)(metric, a, b, test)
        members = [evaluation.systems.index(name) for name in (a, b)]
        case = _of_pair(self._case(metric), members)
        no_sample = len(case.units.strata) == 1 or evaluation.unit == "response" or self._settings.design == "models"
        if test == "bootstrap" and no_sample:
            return None
        with named_errors([evaluation], Runner(self._settings, "numpy")):
            if test == "permutation":
                found = _null(case)
            elif (found := _exact_bootstrap(case)) is None:
                of_a, of_b = self._scores(metric)[members] if isinstance(case, Case) else _bootstrap_scores(case)
                found = _drawn(of_a - of_b)
            check_finite(found.deltas[None], [(members[0], members[1])])
        edges, shares, extreme = (tuple(each.tolist()) for each in _binned(case, found, test))
        return Distribution(a, b, metric, test, case.question.delta((0, 1)), edges, shares, extreme, found.resamples)


def _of_pair(case: Case | SampleCase, pair: list[int]) -> Case | SampleCase:
    """The case of two systems alone, on the same units and with the same draws."""
    question = Question(
        np.array([[0, 1]], np.int32),
        tuple(case.question.scores[system] for system in pair),
        tuple(case.question.tolerances[system] for system in pair),
    )
    if isinstance(case, SampleCase):
        units = replace(case.units, columns=case.units.columns[pair])
        return case._replace(units=units, question=question)
    units, outputs = case.units, case.units.outputs
    outputs = outputs and outputs._replace(values=outputs.values[pair])
    errors = units.relative_error[pair]
    units = replace(units, values=units.values[pair], relative_error=errors, outputs=outputs)
    return case._replace(units=units, question=question)


def _binned(case: Case | SampleCase, found: Law, test: Test) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges, shares, and those that are extreme."""
    settings, (delta, tolerance) = case.settings, case.question.observed([(0, 1)])
    if isinstance(case, SampleCase) and test == "permutation":
        tolerance = np.array([4.0 * pair_rounding(case.metric, *case.units.columns)])
    nulls = found.deltas if test == "permutation" else null_replicates(found.deltas, delta, settings.variant)
    asked = Criterion(delta, tolerance, settings.alternative)
    weights = found.chances * asked.met(nulls[None])[0]
    if settings.mid_p and test == "permutation" and found.resamples is None:
        weights *= np.where(asked.tied(nulls[None])[0], 0.5, 1.0)
    middle, far = 0.0 if test == "permutation" else float(delta[0]), abs(float(delta[0]))
    edges = bin_edges(found.deltas, found.chances, middle - far, middle + far)
    sums = (np.histogram(found.deltas, edges, weights=each)[0] for each in (found.chances, weights))
    # A law by an FFT may have rounding noise below 0.
    shares, extreme = (np.maximum(each, 0.0) / (found.resamples or 1) for each in sums)
    return edges, shares, extreme


def _null(case: Case | SampleCase) -> Law:
    """Deltas over swaps, or exchanges of outputs or runs."""
    if isinstance(case, SampleCase):
        return _null_of_columns(case)
    if (found := _exact_null(case)) is not None:
        return Law(*found, None)
    case = _affordable(case, swap_seconds(case, 1))
    run = _run(case)
    problem, packed = swap_problem(case, np.array([0]), run)
    return _drawn(deltas_of(swapped_sums(problem, run), packed, 0, problem.divisors, case.metric.score))


def _exact_null(case: Case) -> tuple[np.ndarray, np.ndarray] | None:
    """All deltas and their chances; None where they are too many, or not to be listed."""
    units, settings = case.units, case.settings
    if settings.method == "montecarlo":
        return None
    if settings.design in ("crossed", "models"):
        return exchanged_law(case, (0, 1), _EXACT_SECONDS)
    a, b = units.values
    for lattice in (pair_lattice(a, b, case.metric.stat_names), few_units(a, b)):
        if isinstance(lattice, Lattice) and law_seconds(lattice) <= _EXACT_SECONDS:
            values, chances = sign_law(lattice)
            plans = {(0, 1): Plan("line", lattice, 0.0, 0.0)}
            return pair_deltas(case, [(0, 1)], plans)(*values.T[:, None])[0], chances
    return None


def _null_of_columns(case: SampleCase) -> Law:
    case = _with(case, min(_OF_SAMPLES, case.settings.fixed_resamples))
    plan, run = plan_sample(case, draws=False), _run(case)
    coins = plan.coins.get((0, 1))
    if coins is not None and 0 < len(coins) <= _FEW_COINS:
        pieces = outcome_scores(plan.function, case.units, (0, 1), coins)
        half = np.concatenate([scores[0] - scores[1] for _, scores in pieces])
        return Law(np.append(half, -half), np.full(2 * len(half), 0.5 / len(half)), None)
    every = range(run.resamples)
    pieces = swap_scores(plan.function, case.units, [(0, 1)], run.seed, every, every)
    return _drawn(np.concatenate([scores[0, 0] - scores[0, 1] for _, scores in pieces]))


def _exact_bootstrap(case: Case | SampleCase) -> Law | None:
    """Deltas on bootstrap resamples, without drawing any."""
    if isinstance(case, SampleCase) or case.settings.method == "montecarlo":
        return None
    plan = plan_bootstrap(case, alike(case), _SECONDS)
    if isinstance(plan, NotEligible):
        return None
    of_sum = law(plan.pairs[0, 1])
    values = of_sum.first + of_sum.step * np.arange(len(of_sum.probabilities), dtype=np.float64)
    *scores, origin = scores_at(case, plan.score.stat, np.append(values, 0.0))
    return Law(np.array(scores) - origin, of_sum.probabilities, None)


def _bootstrap_scores(case: Case | SampleCase) -> np.ndarray:
    """Scores `[system, resample]` on the first bootstrap resamples."""
    if isinstance(case, SampleCase):
        case = _with(case, min(_OF_SAMPLES, case.settings.fixed_resamples))
        pieces = sample_replicates(case, _run(case))
    else:
        case = _affordable(case, draw_seconds(case))
        pieces = SharedDraws([]).pieces(case, _run(case))
    return np.concatenate([scores for _, scores in pieces], axis=1)


def _affordable(case: Case, seconds: float) -> Case:
    """The case of as many resamples as fit the time, where those of its settings take so many seconds."""
    resamples, a_resample = MOST_RESAMPLES, seconds / case.settings.fixed_resamples
    while resamples > _FEWEST and resamples * a_resample > _SECONDS:
        resamples //= 2
    return _with(case, min(resamples, case.settings.fixed_resamples))


def _with(case: AnyCase, resamples: int) -> AnyCase:
    return case._replace(settings=replace(case.settings, resamples=resamples))


def _run(case: Case | SampleCase) -> Run:
    return Run(case.settings.fixed_resamples, case.settings.seed, NUMPY)


def _drawn(deltas: np.ndarray) -> Law:
    return Law(deltas, np.ones(len(deltas)), len(deltas))
