"""Audit: do the tests keep their level on the user's own data?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sigjax.comparison.checks import check_evaluations, check_together
from sigjax.comparison.options import list_evaluations
from sigjax.records import Evaluation, InputError, Settings, Test
from sigjax.records.options import check, option, same, takes, values
from sigjax.studies.classical import kind_of_data
from sigjax.studies.formulas import SHARE_LEVEL, check_resamples, share_interval, uniformity
from sigjax.studies.records import Audit, AuditedTest, ErrorRate, Null
from sigjax.studies.trials import (
    Maker,
    Pilot,
    StudyOptions,
    dealt,
    make_pilot,
    of_strata,
    run_classical,
    run_trials,
    select,
    select_pair,
    split,
    swapped,
)
from sigjax.version import __version__

ALPHAS = (0.01, 0.05, 0.10)


@dataclass(frozen=True, kw_only=True)
class AuditOptions(StudyOptions):
    """The options of `audit`."""

    test: Test | Sequence[Test] = same(StudyOptions, "test", ("permutation", "bootstrap"))
    null: Null | Sequence[Null] = option(
        "swaps", "How pairs are made: swaps, splits (of the units of each system into random halves), or both."
    )
    classical: bool = option(
        False, "Audit the classical tests, too.", "Of those in `classical_tests`, all that the pairs allow."
    )


@takes(AuditOptions)
def audit(evaluation: Evaluation | Sequence[Evaluation], options: AuditOptions) -> Audit:
    r"""Measure the type-I error of tests on the user's own data, with pairs for which the null hypothesis is true.

    *Swaps.* Each repetition swaps the outputs of two systems on each unit with probability 1/2, and tests the two
    mixtures (A/A). Neither is better, whatever the systems are; the metric, the sizes of the units, how often outputs
    differ and how alike they are stay those of the data.

    *Splits.* Each repetition deals the units of one system at random, within strata, into two halves, and pairs these
    at random: two independent samples of one population. Tests that assume independent systems keep their level here,
    but not under swaps, where both systems saw the same units. The halves have different gold data: tests of one
    statistic that differs do not apply to metrics that have gold statistics.

    The error at a level $\alpha$ is the share of repetitions with $p \le \alpha$. For a valid test it is at most
    $\alpha$, up to the binomial error that its interval shows.

    Args:
        evaluation: the statistics of the systems, or several evaluations of the same systems, one per metric.
        options: see `AuditOptions`.

    Raises:
        InputError: an option or the data cannot be used, a metric that is no function of sums, a single unit, or too
            few for splits.

    Reference: Yeh (2000), section 3; Conover (1972) on the distance of Kolmogorov for discrete distributions.

    Example:
        >>> from sigjax import Evaluation
        >>> evaluation = Evaluation.from_arrays({"A": [1, 1, 0, 1, 1, 0], "B": [0, 1, 1, 0, 0, 1]}, metric="accuracy")
        >>> audit(evaluation, test="permutation", repetitions=200).tests[0].errors[1].rate
        0.0
    """
    evaluations = list_evaluations(evaluation)
    check(options)
    nulls: tuple[Null, ...] = (options.null,) if isinstance(options.null, str) else tuple(options.null)
    settings = Settings(interval="none", **values(options, Settings))
    check_together(settings)
    check_resamples(settings.fixed_resamples, min(ALPHAS))
    check_evaluations(evaluations, settings)
    chosen = [(select_pair if "swaps" in nulls else select)(each, options.systems) for each in evaluations]
    audited = tuple(one for each in chosen for one in _of_metric(each, nulls, settings, options))
    num_units = len(make_pilot(chosen[0]).units.strata)
    named = (*settings.tests, "classical") if options.classical else settings.tests
    more = "" if nulls == ("swaps",) else f"|null:{'+'.join(nulls)}"
    signature = (
        f"study:audit|metric:{'+'.join(each.metric.name for each in chosen)}|test:{'+'.join(named)}{more}"
        f"|repetitions:{options.repetitions}|n:{settings.resamples}|seed:{settings.seed}|alt:{settings.alternative}"
        f"|ties:ge|units:{num_units}{of_strata(evaluations[0])}|sigjax:{__version__}"
    )
    return Audit(
        chosen[0].systems, audited, options.repetitions, chosen[0].num_instances, num_units, settings, signature
    )


class _Way(NamedTuple):
    """One way to make pairs."""

    null: Null
    system: str | None
    pilot: Pilot
    make: Maker
    strata: np.ndarray
    """[unit] of the pairs."""


def _of_metric(
    evaluation: Evaluation, nulls: tuple[Null, ...], settings: Settings, options: AuditOptions
) -> Iterator[AuditedTest]:
    count, progress, kind = options.repetitions, options.progress, kind_of_data(evaluation)
    for way in _ways(evaluation, nulls, settings.seed, unpaired=options.classical):
        parts = way.pilot, way.make, way.strata, count
        trials = run_trials(*parts, settings, options.device, progress=progress)
        for test in settings.tests:
            yield _audited(way, test, trials.p_values[test], trials.methods[test])
        if options.classical:
            p_values = run_classical(*parts, settings.alternative, kind, progress=progress)
            for name, of_test in p_values.items():
                yield _audited(way, name, of_test, {"classical": count})


def _ways(evaluation: Evaluation, nulls: tuple[Null, ...], seed: int, *, unpaired: bool) -> Iterator[_Way]:
    """Swaps, for tests some of which may be `unpaired`, and splits of each system."""
    if "swaps" in nulls:
        pilot = make_pilot(evaluation, alone=unpaired)
        yield _Way("swaps", None, pilot, swapped(pilot, seed), pilot.units.strata)
    pilot = make_pilot(evaluation, alone=True)
    strata, systems = pilot.units.strata, evaluation.systems
    if "splits" in nulls:
        pairs = dealt(strata)[1]
        if len(pairs) < 2:
            raise InputError(
                f"random splits need units for two pairs or more, four within a stratum or two in each of two, got "
                f"{len(strata)} units; use swaps"
            )
        for index, name in enumerate(systems):
            alone = pilot._replace(names=(name, name))
            yield _Way("splits", name, alone, split(alone, index, seed), pairs)


def _audited(way: _Way, test: str, p_values: np.ndarray, methods: dict[str, int]) -> AuditedTest:
    count, metric, errors = len(p_values), way.pilot.metric.name, []
    for alpha in ALPHAS:
        rejected = int(np.count_nonzero(p_values <= alpha))
        errors.append(ErrorRate(alpha, rejected, rejected / count, share_interval(rejected, count, SHARE_LEVEL)))
    excess, excess_p, deficit = uniformity(p_values)
    shown = tuple(p_values.tolist())
    return AuditedTest(metric, test, methods, tuple(errors), excess, excess_p, deficit, shown, way.null, way.system)
