"""Which classical tests the data of two systems allow, and what these say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.classical import tests as paired
from sigjax.classical import unpaired
from sigjax.classical.mapsswe import MAPSSWE, mapsswe
from sigjax.classical.tests import ClassicalTest, LeftOut
from sigjax.classical.unpaired import Dependence
from sigjax.metrics import less, origins
from sigjax.metrics.sclite import SCLITE
from sigjax.records import Alternative, Evaluation, Metric, SampleMetric
from sigjax.units.units import Units, make_units

CLUSTER_T = "paired t over clusters"
PAIRED = (paired.PAIRED_T, paired.WALD, paired.SIGN, paired.WILCOXON, *paired.MCNEMAR)
UNPAIRED = (unpaired.TWO_SAMPLE_T, unpaired.BINOMIAL_Z, unpaired.CHI_SQUARE)
_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)

TestOrReason = ClassicalTest | LeftOut


def all_tests(evaluation: Evaluation, alternative: Alternative) -> tuple[list[TestOrReason], int, Dependence]:
    """All classical tests or why they do not apply, the number of units with content, and how the systems depend."""
    metric = evaluation.metric
    if isinstance(metric, SampleMetric):
        reason = f"{metric.name} is computed from all instances at once, not from sums"
        return _without((*PAIRED, *UNPAIRED), reason), evaluation.num_instances, Dependence(None, None)
    if (nearer := origins(evaluation)) is None:
        units, alone = _with_content(make_units(evaluation)), None
    else:
        units, alone = make_units(nearer.deltas), make_units(less(evaluation, float(nearer.offsets[0])))
    results = tests_of_units(units, metric, alternative, kind_of_data(evaluation), alone)
    if metric.name == SCLITE:
        results.append(_mapsswe(evaluation, alternative))
    return results, units.values.shape[1], _dependence(alone or units, metric)


class Kind(NamedTuple):
    """What the units alone do not show."""

    clustered: bool
    proportions: bool
    """Whether the two statistics are the number of right items and the number of all items."""


def kind_of_data(evaluation: Evaluation) -> Kind:
    """Whether there are clusters, and proportions."""
    stats, proportions = evaluation.stats, False
    if stats.dtype.kind == "i" and stats.shape[2] == 2:
        proportions = bool((0 <= stats[..., 0]).all() and (stats[..., 0] <= stats[..., 1]).all())
    return Kind(evaluation.clusters is not None, proportions)


def tests_of_units(
    units: Units, metric: Metric, alternative: Alternative, kind: Kind, alone: Units | None
) -> list[TestOrReason]:
    """All classical tests of two systems on their units, or why they do not apply.

    Where numbers are large, each unit is measured from a number of its own, which systems share: then `alone` are the
    units for tests that take no pairs, measured from one number.
    """
    units = _with_content(units)
    differing = together = _differing(units, metric)
    if alone is not None and not isinstance(differing, str):
        differing, together = differing._replace(binary=False), _differing(alone, metric)
        kind = kind._replace(proportions=False)
    results = _paired(differing, alternative)
    if kind.clustered:
        results.append(_over_clusters(units, metric, alternative))
    if isinstance(together, str):
        results.append(LeftOut(unpaired.TWO_SAMPLE_T, together))
    else:
        results.append(unpaired.two_sample_t(together.values[0], together.values[1], alternative))
    results += [_binomial(units, metric, alternative, kind), _chi_square(units, metric, alternative)]
    if np.array_equal(*units.values):
        return [replace(each, p_value=1.0) if isinstance(each, ClassicalTest) else each for each in results]
    return results


def _with_content(units: Units) -> Units:
    """The units on which a system or the gold has anything; all units if there are none."""
    content = units.values.any(axis=(0, 2))
    kept = content | ~content.any()
    return replace(units, values=units.values[:, kept], strata=units.strata[kept])


class _Differing(NamedTuple):
    """The statistic by which two systems differ, with the sign by which more of it is a higher score."""

    values: np.ndarray
    """[system, unit] int64, in steps of the fixed point."""
    binary: bool
    """Whether every value is 0 or 1."""
    rounding: int
    """Steps by which two equal differences may differ after rounding to the fixed point; 0 for decimals."""


def _without(names: Sequence[str], reason: str) -> list[TestOrReason]:
    return [LeftOut(name, reason) for name in names]


def _differing(units: Units, metric: Metric) -> _Differing | str:
    """The one statistic that differs, or why there is not one."""
    a, b = units.values
    stats = np.flatnonzero((a != b).any(axis=0))
    if stats.size > 1:
        names = ", ".join(metric.stat_names[stat] for stat in stats[:4]) + (", ..." if stats.size > 4 else "")
        return f"{metric.name} is not a mean over units: {stats.size} statistics differ ({names})"
    stat = int(stats[0]) if stats.size else 0
    values = units.values[:, :, stat]
    ends = np.stack([units.totals[0]] * 2)
    ends[:, stat] = np.maximum(a, b)[:, stat].sum(), np.minimum(a, b)[:, stat].sum()
    with np.errstate(all="ignore"):
        high, low = metric.score(units.unscaled(ends))
    if stats.size and not abs(high - low) > 0:
        return f"{metric.name} does not change with the statistic that differs ({metric.stat_names[stat]})"
    step = 1.0 if units.divisors is None else float(units.divisors[stat])
    binary = bool(((values == 0) | (values == step)).all())
    # A value is rounded by half a step, a difference by one.
    return _Differing(-values if high < low else values, binary, 0 if units.exact else 2)


def _paired(differing: _Differing | str, alternative: Alternative) -> list[TestOrReason]:
    if isinstance(differing, str):
        return _without(PAIRED, differing)
    d, rounding = differing.values[0] - differing.values[1], differing.rounding
    d = np.where(2 * abs(d) <= rounding, 0, d)
    tests = [
        paired.paired_t(d, alternative, rounding=rounding),
        paired.wald_z(d, alternative, rounding=rounding),
        paired.sign_test(d, alternative),
        paired.wilcoxon(d, alternative, rounding=rounding),
    ]
    if not differing.binary:
        return [*tests, *_without(paired.MCNEMAR, "it takes one 0 or 1 per unit")]
    return [*tests, *paired.mcnemar(int((d > 0).sum()), int((d < 0).sum()), alternative)]


def _mapsswe(evaluation: Evaluation, alternative: Alternative) -> TestOrReason:
    texts = evaluation.transcripts
    if texts is None or len(texts.references) != evaluation.num_instances:
        return LeftOut(
            MAPSSWE, "it aligns transcripts with one reference, and this is statistics, or several references"
        )
    a, b = (texts.outputs[name] for name in evaluation.systems)
    return mapsswe(texts.references, a, b, alternative)


def _over_clusters(units: Units, metric: Metric, alternative: Alternative) -> TestOrReason:
    """Paired t over the scores of clusters, each by itself."""
    with np.errstate(all="ignore"):
        scores = np.asarray(metric.score(units.unscaled(units.values.astype(np.float64))), np.float64)
    if not np.isfinite(scores).all():
        return LeftOut(CLUSTER_T, f"{metric.name} is not a finite number on every cluster by itself")
    assumes = "as paired t; clusters (folds) scored one by one"
    rounding = _ROUNDING * float(np.abs(scores).max())
    return paired.paired_t(scores[0] - scores[1], alternative, name=CLUSTER_T, assumes=assumes, rounding=rounding)


def _binomial(units: Units, metric: Metric, alternative: Alternative, kind: Kind) -> TestOrReason:
    """The binomial test if the score is a proportion of counts."""
    if kind.proportions:
        parts, wholes = totals = units.unscaled(units.totals).T
        if 0 in wholes or np.array_equal(metric.score(totals.T), parts / wholes):
            (k1, k2), (n1, n2) = totals.astype(int).tolist()
            return unpaired.binomial_z((k1, k2), (n1, n2), alternative)
    return LeftOut(unpaired.BINOMIAL_Z, f"{metric.name} is not a proportion of items that are right or wrong")


def _chi_square(units: Units, metric: Metric, alternative: Alternative) -> TestOrReason:
    """The chi-square test if the statistics say how many items a system predicted, and how many of them are right."""
    if not {"tp", "predicted"} <= set(metric.stat_names):
        return LeftOut(unpaired.CHI_SQUARE, f"{metric.name} has no statistics tp and predicted")
    totals = units.unscaled(units.totals)
    relevant, predicted = (totals[:, metric.stat_names.index(name)] for name in ("tp", "predicted"))
    if (np.concatenate([relevant, predicted]) % 1 != 0).any():
        return LeftOut(unpaired.CHI_SQUARE, "tp and predicted are not counts")
    (r1, r2), (s1, s2) = relevant.astype(int).tolist(), (predicted - relevant).astype(int).tolist()
    return unpaired.chi_square((r1, r2), (s1, s2), alternative)


def _dependence(units: Units, metric: Metric) -> Dependence:
    """How two systems depend on each other, by their scores without one unit at a time."""
    without = units.totals[:, None] - units.values
    with np.errstate(all="ignore"):
        a, b = np.asarray(metric.score(units.unscaled(without)), np.float64)
    finite = bool(np.isfinite(a).all() and np.isfinite(b).all())
    return unpaired.dependence(a, b) if finite else Dependence(None, None)
