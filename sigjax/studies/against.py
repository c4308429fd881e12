"""The tests of one system against a number: binomial, sign flips, or t."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from sigjax.bootstrap.closed import right_or_wrong
from sigjax.bootstrap.intervals import Spread
from sigjax.bootstrap.jackknife import degrees_of_freedom, influences, skewed_tail, skewness
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions
from sigjax.comparison.validate import check_units
from sigjax.metrics.ratios import ACCURACY, mean_score
from sigjax.records import Device, Evaluation, InputError, Interval
from sigjax.records.options import values
from sigjax.report.words import format_p, is_warning
from sigjax.studies.samples import are_answers
from sigjax.testing.problem import Case
from sigjax.testing.tails import log_upper

OneSampleTest = Literal["binomial", "sign-flip", "t"]
_ROUNDING = Fraction(1, 10**15)
"""Of a number such as 1/3, written as a double: 4 and 6 of 15 are as far from it."""


class Found(NamedTuple):
    """What a test says."""

    test: OneSampleTest
    method: str
    log_p: float
    p_value: float
    p_interval: Interval | None = None
    exceed: int | None = None
    notes: tuple[str, ...] = ()


def takes_answers(samples: Iterable[Evaluation], against: float) -> bool:
    """Whether 0 and 1 are answers right or wrong, and not ratings that happen to be these."""
    samples = list(samples)
    if samples[0].metric.name == ACCURACY.name and not 0 < against < 1:
        raise InputError(f"--against must be above 0 and below 1 for answers right or wrong, got {float(against):g}")
    return are_answers(samples) and 0 < against < 1


def against_number(
    sample: Evaluation, case: Case, spread: Spread, against: float, device: Device, *, answers: bool
) -> Found:
    """The test of one system, whose units are those of `case`."""
    number = Fraction(repr(against))  # the decimal that was written: 14 of 20 is 0.7
    if answers and right_or_wrong(case):
        return _binomial(case, number)
    if case.metric.score is not mean_score or (against != 0.5 and _are_shares(sample, answers=answers)):
        return _by_t(case, spread, against)
    found = _sign_flip(sample, number, case, device)
    notes = (*found.notes, *_doubts(sample, case, spread, against, found.p_value))
    return found._replace(notes=notes)


def distance(case: Case, against: float) -> float:
    """The score of the only system minus a number."""
    if case.alone is None:
        return case.question.scores[0] - against
    (score,), (offset,) = case.alone.case.question.scores, case.alone.offsets
    return score + float(Fraction(repr(offset)) - Fraction(repr(against)))  # decimals, as they were written


def _are_shares(sample: Evaluation, *, answers: bool) -> bool:
    """Whether each unit has some of so many answers right."""
    numbers = sample.stats[0]
    if not answers and (numbers[:, 1] == 1).all():
        return False
    return numbers.dtype.kind == "i" and bool(((numbers[:, 0] >= 0) & (numbers[:, 0] <= numbers[:, 1])).all())


def _binomial(case: Case, number: Fraction) -> Found:
    answers = case.units.values[0, :, 0]
    right, count, odds = int(answers.sum()), len(answers), float(number / (1 - number))
    middle, slack = count * number, count * _ROUNDING
    distance = abs(right - middle)
    if case.settings.alternative == "greater":
        log_p = log_upper(right, count, odds)
    elif case.settings.alternative == "less":
        log_p = log_upper(count - right, count, 1.0 / odds)
    elif distance <= slack:
        log_p = 0.0
    else:
        above, below = math.ceil(middle + distance - slack), math.floor(middle - distance + slack)
        tails = log_upper(above, count, odds), log_upper(count - below, count, 1.0 / odds)
        log_p = min(0.0, float(np.logaddexp(*tails)))
    return Found("binomial", "exact", log_p, math.exp(log_p))


def _sign_flip(sample: Evaluation, number: Fraction, case: Case, device: Device) -> Found:
    """The permutation test against a system that has the number on every instance."""
    counts, place = np.unique(sample.stats[0, :, 1], return_inverse=True)
    sums = np.array([float(number * Fraction(count)) for count in counts.tolist()])[place]
    constant = np.stack([sums, sample.stats[0, :, 1]], axis=1)
    names = *sample.systems, f"{float(number):g} of --against"
    both = replace(sample, systems=names, stats=np.stack([sample.stats[0], constant]), notes=())
    asked = values(case.settings, CompareOptions, test="permutation", interval="none", correction="none", baseline=None)
    (one,) = report = compare(both, device=device, **asked)
    notes = tuple(note for note in report.notes if is_warning(note))
    log_p = one.log10_p * math.log(10.0)
    return Found("sign-flip", one.method, log_p, one.p_value, one.p_interval, one.exceed, notes)


def _doubts(sample: Evaluation, case: Case, spread: Spread, against: float, p_value: float) -> tuple[str, ...]:
    """What speaks against sign flips: t, which needs no symmetry, decides otherwise; or a number of another scale."""
    (name,), notes, alpha = sample.systems, (), case.settings.alpha
    if are_answers([sample]) and not 0 <= against <= 1:
        notes = (f"warning: all numbers of {name!r} are 0 or 1: is {against:g} on this scale?",)
    if spread.standard_error:
        by_t = _by_t(case, spread, against).p_value
        if (p_value < alpha) != (by_t < alpha):
            flips, other = (format_p(p, threshold=alpha) for p in (p_value, by_t))
            notes += (
                f"warning: {name!r}: p is {flips} by sign flips, which take differences from {against:g} as symmetric, "
                f"but {other} by t corrected for skewness, as the interval",
            )
    return notes


def _by_t(case: Case, spread: Spread, against: float) -> Found:
    """The t test whose intervals are those of the score."""
    check_units(len(case.units.strata), f"a test of {case.metric.name} against a number")
    degrees, error = degrees_of_freedom(case.units.sizes, case.units.strata), spread.standard_error or 0.0
    if degrees == 0.0:
        raise InputError("a test against a number needs a stratum of at least two units; leave the strata out")
    if error == 0.0:
        return Found("t", "t", 0.0, 1.0, notes=("a test by t of units that are all alike shows nothing: p is 1",))
    moves = influences(case if case.alone is None else case.alone.case)[0]
    skewed, side = float(skewness(moves, np.array(error))), case.settings.alternative
    p_value = skewed_tail(distance(case, against), error, skewed, 0.0, degrees, side, nearer=True)
    return Found("t", "t", math.log(p_value) if p_value > 0.0 else -math.inf, p_value)
