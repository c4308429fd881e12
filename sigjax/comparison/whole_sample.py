"""The tests of metrics that are no functions of sums: every resample is computed anew.

The permutation test swaps the columns of two systems, standardized where the metric says so; the bootstrap draws
instances for all systems at once. Where few units differ, all swaps are tried. Reference: Efron and Tibshirani (1993),
chapters 6 and 15.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.closed import draws_intervals
from sigjax.bootstrap.intervals import Spread
from sigjax.bootstrap.sampled import sampled_bootstrap
from sigjax.comparison.run_tests import Answers
from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import Asked, outcomes_p
from sigjax.exact.signs import MOST_SIGNS
from sigjax.metrics import pair_rounding, what_is_exchanged
from sigjax.permutation.exact import over_budget
from sigjax.permutation.montecarlo import add_up, counted_outcomes
from sigjax.records import Device, Repeated, Test
from sigjax.resample.engine import Run
from sigjax.resample.gathered import (
    Function,
    outcome_scores,
    swap_scores,
)
from sigjax.resample.tally import extreme
from sigjax.run.backend import NUMPY, choose_backend
from sigjax.run.checkpoint import Stage
from sigjax.run.host import WORTH_A_BAR, progress_bar
from sigjax.run.share import current_share
from sigjax.testing.problem import NotExact, NotFinite, Pair, SampleCase
from sigjax.testing.result import Outcome, Outcomes, completed
from sigjax.testing.stopping import Count, most_resamples
from sigjax.testing.whole_sample import advancing, call_seconds, drawn_pieces, function_of

NOT_SUMS = "the metric is not a function of sums"


def answer_sample(case: SampleCase, device: Device, *, progress: bool, stage: Stage) -> Answers:
    """Run the tests that the settings ask for; the device must be there, but the CPU does the work.

    Raises:
        NotExact: an exact method was asked for and cannot be had.
        NotFinite: the metric gave NaN or infinity.
        InputError: there is no such device.
    """
    choose_backend(device, numpy_seconds=0.0)
    settings, question, resamples = case.settings, case.question, case.settings.fixed_resamples
    work = _plan(case)
    shown, share = progress and work.seconds > WORTH_A_BAR, current_share()
    outcomes: dict[Test, Outcomes] = {}
    if "permutation" in settings.tests:
        with progress_bar("permutation", most_resamples(settings), shown=shown) as advance:
            run = Run(
                most_resamples(settings), settings.seed, NUMPY, advance, stage=stage.part("permutation"), share=share
            )

            def swapped(places: np.ndarray, reasons: Repeated, exact: np.ndarray) -> Outcomes:
                return counted_outcomes(_counter(case, work, places, run), reasons, exact, case)

            found = work.sampled | _exact_outcomes(case, work)
            each = np.arange(len(question.members))
            permuted = completed([found[pair] for pair in question.pairs], each, swapped)
        exchanged = what_is_exchanged(case.metric)
        ways = tuple((method, reason + exchanged) for method, reason in permuted.way.values)
        outcomes["permutation"] = permuted._replace(way=permuted.way._replace(values=ways))
    systems, pairs = [Spread()] * len(question.scores), [Spread()] * len(question.members)
    if work.drawn is not None:
        tested = np.arange(len(question.members) if "bootstrap" in settings.tests else 0)
        spreads = draws_intervals(case.metric, settings)
        with progress_bar("bootstrap", resamples, shown=shown) as advance:
            run = Run(resamples, settings.seed, NUMPY, advance, stage=stage.part("bootstrap"), share=share)
            pieces = partial(drawn_pieces, case, work.function)
            sampled, *told = sampled_bootstrap(case, run, pieces, tested, work.drawn.reason, spreads=spreads)
        systems, pairs = told if spreads else (systems, pairs)
        outcomes["bootstrap"] = sampled
    return Answers({test: outcomes[test] for test in settings.tests}, systems, pairs)


class _Work(NamedTuple):
    """What is to be done."""

    function: Function
    coins: dict[Pair, np.ndarray]
    """Of the pairs to be tested without sampling, the units that differ."""
    sampled: dict[Pair, NotEligible]
    """Of the others, why they are sampled."""
    drawn: NotEligible | None
    """Why there are bootstrap resamples; None where there are none."""
    seconds: float
    """Nominal."""


def _plan(case: SampleCase) -> _Work:
    """Which pairs are tested without sampling, and how the function is called.

    Raises:
        NotExact: an exact method was asked for, and cannot be had.
    """
    settings, permuted = case.settings, "permutation" in case.settings.tests
    coins = {pair: _differing(case, pair) for pair in case.question.pairs if permuted}
    sampled = {pair: why for pair, each in coins.items() if (why := _why_sampled(case, pair, len(each)))}
    drawn = _why_drawn(case)
    calls = sum(2.0 * settings.fixed_resamples if pair in sampled else 2.0 ** len(coins[pair]) for pair in coins)
    calls += 0.0 if drawn is None else float(settings.fixed_resamples * len(case.units.columns))
    function = function_of(case, calls)
    a_call = call_seconds(case, together=function.compiled or function.vectorized)
    costs = {pair: 2.0 ** len(each) * a_call for pair, each in coins.items() if pair not in sampled}
    sampled |= over_budget(costs, settings)
    coins = {pair: each for pair, each in coins.items() if pair not in sampled}
    return _Work(function, coins, sampled, drawn, calls * a_call)


def _differing(case: SampleCase, pair: Pair) -> np.ndarray:
    """The units on which two systems differ."""
    a, b = case.units.columns[list(pair)]
    return np.unique(case.units.unit[(a != b).any(axis=0)])


def _why_sampled(case: SampleCase, pair: Pair, num_coins: int) -> NotEligible | None:
    method = case.settings.method
    if method == "montecarlo":
        return NotEligible("as asked")
    if num_coins <= MOST_SIGNS and method in ("auto", "exact"):
        return None
    reason = NOT_SUMS if method in ("dp", "tree") else f"{NOT_SUMS}, and more than {MOST_SIGNS} units differ"
    if method != "auto":
        raise NotExact(pair, reason)
    return NotEligible(reason)


def _why_drawn(case: SampleCase) -> NotEligible | None:
    settings, tested = case.settings, "bootstrap" in case.settings.tests
    if len(case.units.strata) == 1 or not (tested or draws_intervals(case.metric, settings)):
        return None
    if tested and settings.method == "exact":
        raise NotExact(None, NOT_SUMS)
    return NotEligible("as asked" if settings.method == "montecarlo" else NOT_SUMS)


def _exact_outcomes(case: SampleCase, work: _Work) -> dict[Pair, Outcome]:
    """The tests of pairs of which few units differ, from all swaps of these."""
    outcomes = {}
    for pair, coins in work.coins.items():
        if not coins.size:
            outcomes[pair] = Outcome(1.0, 0.0, "exact", "the systems are identical", None, 0.0)
            continue
        pieces = [scores for _, scores in outcome_scores(work.function, case.units, pair, coins)]
        a, b = np.concatenate(pieces, axis=1)
        _check_finite(a - b, pair)
        # The observed delta as the same program computes it: it is as extreme as itself.
        observed, tolerance = a[:1] - b[:1], np.array([_tolerance(case, pair)])
        asked = Asked(observed[:, None], tolerance[:, None], case.settings.alternative, case.settings.mid_p)
        found = outcomes_p((a - b)[None], asked, coins.size)
        first, second = case.units.columns[list(pair)]
        names = np.array(case.metric.inputs)[(first != second).any(axis=1)]
        reason = f"few units differ ({', '.join(names)})"
        outcomes[pair] = Outcome(found.p_value, found.log10_p, "exact", reason, None, found.error_bound)
    return outcomes


def _counter(case: SampleCase, work: _Work, tested: np.ndarray, run: Run) -> Count:
    """What counts the swaps at least as extreme as observed, for some of the pairs at these places."""
    sampled = [case.question.pair(place) for place in tested]
    tolerances = {pair: _tolerance(case, pair) for pair in sampled}

    def count(places: np.ndarray, start: int, end: int) -> np.ndarray:
        pairs = [sampled[place] for place in places]
        delta = np.array([case.question.delta(pair) for pair in pairs])[:, None]
        tolerance = np.array([tolerances[pair] for pair in pairs])[:, None]

        def pieces(part: Run) -> Iterator[tuple[int, np.ndarray]]:
            mine = range(part.start, part.resamples)
            scored = swap_scores(work.function, case.units, pairs, run.seed, range(start, end), mine)
            for begin, scores in advancing(scored, part):
                found = scores[:, 0] - scores[:, 1]
                for pair, of_pair in zip(pairs, found, strict=True):
                    _check_finite(of_pair, pair)
                yield begin, extreme(found, delta, tolerance, case.settings.alternative).sum(axis=1)

        return add_up(pieces, len(pairs), start, end, run)

    return count


def _tolerance(case: SampleCase, pair: Pair) -> float:
    """Deltas of two systems closer than this, with any instances exchanged, are ties: four scores were rounded."""
    return 4.0 * pair_rounding(case.metric, *case.units.columns[list(pair)])


def _check_finite(deltas: np.ndarray, pair: Pair) -> None:
    if not np.isfinite(deltas).all():
        raise NotFinite(pair)
