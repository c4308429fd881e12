"""Which classical tests the data of two systems allow, and what these say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.classical.tests import (
    MCNEMAR,
    PAIRED_T,
    SIGN,
    WALD,
    WILCOXON,
    ClassicalTest,
    LeftOut,
    mcnemar,
    paired_t,
    sign_test,
    wald_z,
    wilcoxon,
)
from sigjax.classical.unpaired import (
    BINOMIAL_Z,
    CHI_SQUARE,
    TWO_SAMPLE_T,
    Dependence,
    binomial_z,
    chi_square,
    dependence,
    two_sample_t,
)
from sigjax.records import Alternative, Evaluation, Metric, SampleMetric
from sigjax.units.units import Units, make_units

CLUSTER_T = "paired t over clusters"
PAIRED = (PAIRED_T, WALD, SIGN, WILCOXON, *MCNEMAR)
UNPAIRED = (TWO_SAMPLE_T, BINOMIAL_Z, CHI_SQUARE)
_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)

Found = ClassicalTest | LeftOut


def all_tests(evaluation: Evaluation, alternative: Alternative) -> tuple[list[Found], int, Dependence]:
    """All classical tests or why not, the number of units that they see, and how the systems depend on each other."""
    metric = evaluation.metric
    if isinstance(metric, SampleMetric):
        reason = f"{metric.name} is computed from all instances at once, not from sums"
        return _without((*PAIRED, *UNPAIRED), reason), evaluation.num_instances, Dependence(None, None)
    units = _with_content(make_units(evaluation))
    found = tests_of_units(units, metric, alternative, kind_of_data(evaluation))
    return found, units.values.shape[1], _dependence(units, metric)


class Kind(NamedTuple):
    """What the units alone do not tell of the data."""

    clustered: bool
    proportions: bool
    """Whether the two statistics are whole numbers, how many items are right and how many there are."""


def kind_of_data(evaluation: Evaluation) -> Kind:
    """What tests ask of the data beside the units."""
    stats, proportions = evaluation.stats, False
    if stats.dtype.kind == "i" and stats.shape[2] == 2:
        proportions = bool((0 <= stats[..., 0]).all() and (stats[..., 0] <= stats[..., 1]).all())
    return Kind(evaluation.clusters is not None, proportions)


def tests_of_units(units: Units, metric: Metric, alternative: Alternative, kind: Kind) -> list[Found]:
    """All classical tests of two systems on their units, or why not."""
    units = _with_content(units)
    differing = _differing(units, metric)
    found: list[Found] = _paired(differing, alternative)
    if kind.clustered:
        found.append(_over_clusters(units, metric, alternative))
    if isinstance(differing, _Differing):
        found.append(two_sample_t(differing.values[0], differing.values[1], alternative))
    else:
        found.append(LeftOut(TWO_SAMPLE_T, differing))
    found.append(_binomial(units, metric, alternative, kind))
    found.append(_chi_square(units, metric, alternative))
    if np.array_equal(*units.values):
        found = [replace(each, p_value=1.0) if isinstance(each, ClassicalTest) else each for each in found]
    return found


def _with_content(units: Units) -> Units:
    """The units on which a system or the gold has anything; all, where there is none."""
    something = units.values.any(axis=(0, 2))
    kept = something | ~something.any()
    return replace(units, values=units.values[:, kept], strata=units.strata[kept])


class _Differing(NamedTuple):
    """The statistic by which two systems differ, turned so that more of it is a higher score."""

    values: np.ndarray
    """[system, unit] int64, in steps of the fixed point."""
    binary: bool
    """Whether every value is 0 or 1."""
    rounding: int
    """Steps by which two differences may differ though they are the same real number; 0 for decimals."""


def _without(names: Sequence[str], reason: str) -> list[Found]:
    return [LeftOut(name, reason) for name in names]


def _differing(units: Units, metric: Metric) -> _Differing | str:
    """The one statistic that differs, or why there is none."""
    a, b = units.values
    places = np.flatnonzero((a != b).any(axis=0))
    if places.size > 1:
        names = ", ".join(metric.stat_names[place] for place in places[:4]) + (", ..." if places.size > 4 else "")
        return f"{metric.name} is no mean of units: {places.size} statistics differ ({names})"
    place = int(places[0]) if places.size else 0
    values = units.values[:, :, place]
    ends = np.stack([units.totals[0]] * 2)
    ends[:, place] = np.maximum(a, b)[:, place].sum(), np.minimum(a, b)[:, place].sum()
    with np.errstate(all="ignore"):
        high, low = metric.score(units.unscaled(ends))
    if places.size and not abs(high - low) > 0:
        return f"{metric.name} does not change with the statistic that differs ({metric.stat_names[place]})"
    step = 1.0 if units.divisors is None else float(units.divisors[place])
    binary = bool(((values == 0) | (values == step)).all())
    # A value is rounded by half a step, a difference by one.
    return _Differing(-values if high < low else values, binary, 0 if units.exact else 2)


def _paired(differing: _Differing | str, alternative: Alternative) -> list[Found]:
    if isinstance(differing, str):
        return _without(PAIRED, differing)
    d, rounding = differing.values[0] - differing.values[1], differing.rounding
    d = np.where(2 * abs(d) <= rounding, 0, d)
    found: list[Found] = [
        paired_t(d, alternative, rounding=rounding),
        wald_z(d, alternative, rounding=rounding),
        sign_test(d, alternative),
        wilcoxon(d, alternative, rounding=rounding),
    ]
    if not differing.binary:
        return [*found, *_without(MCNEMAR, "it takes 0 or 1 a unit")]
    return [*found, *mcnemar(int((d > 0).sum()), int((d < 0).sum()), alternative)]


def _over_clusters(units: Units, metric: Metric, alternative: Alternative) -> Found:
    """Paired t over the scores of clusters, each by itself."""
    with np.errstate(all="ignore"):
        scores = np.asarray(metric.score(units.unscaled(units.values.astype(np.float64))), np.float64)
    if not np.isfinite(scores).all():
        return LeftOut(CLUSTER_T, f"{metric.name} is not a finite number on every cluster by itself")
    assumes = "as paired t; clusters (folds) scored one by one"
    rounding = _ROUNDING * float(np.abs(scores).max())
    return paired_t(scores[0] - scores[1], alternative, name=CLUSTER_T, assumes=assumes, rounding=rounding)


def _binomial(units: Units, metric: Metric, alternative: Alternative, kind: Kind) -> Found:
    """The binomial test where the score is a proportion of whole numbers."""
    if kind.proportions:
        parts, wholes = totals = units.unscaled(units.totals).T
        if 0 in wholes or np.array_equal(metric.score(totals.T), parts / wholes):
            (k1, k2), (n1, n2) = totals.astype(int).tolist()
            return binomial_z((k1, k2), (n1, n2), alternative)
    return LeftOut(BINOMIAL_Z, f"{metric.name} is no proportion of items that are right or wrong")


def _chi_square(units: Units, metric: Metric, alternative: Alternative) -> Found:
    """The chi-square test where it is known what the systems found."""
    if not {"tp", "predicted"} <= set(metric.stat_names):
        return LeftOut(CHI_SQUARE, f"{metric.name} has no statistics tp and predicted")
    totals = units.unscaled(units.totals)
    relevant, predicted = (totals[:, metric.stat_names.index(name)] for name in ("tp", "predicted"))
    if (np.concatenate([relevant, predicted]) % 1 != 0).any():
        return LeftOut(CHI_SQUARE, "tp and predicted are no counts")
    (r1, r2), (s1, s2) = relevant.astype(int).tolist(), (predicted - relevant).astype(int).tolist()
    return chi_square((r1, r2), (s1, s2), alternative)


def _dependence(units: Units, metric: Metric) -> Dependence:
    """How two systems depend on each other, from their scores without each unit."""
    without = units.totals[:, None] - units.values
    with np.errstate(all="ignore"):
        a, b = np.asarray(metric.score(units.unscaled(without)), np.float64)
    finite = bool(np.isfinite(a).all() and np.isfinite(b).all())
    return dependence(a, b) if finite else Dependence(None, None)
