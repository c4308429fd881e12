"""Audit: do the tests keep their level on the user's own data?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sigjax.classical.applicable import kind_of_data
from sigjax.comparison.validate import check_evaluations, check_together
from sigjax.records import Device, Evaluation, InputError, Settings, Test
from sigjax.records.options import check, option, same, takes, values
from sigjax.studies.normal_power import check_resamples
from sigjax.studies.pilot import Maker, Pilot, dealt, make_pilot, select, select_pair, split, swapped
from sigjax.studies.records import Audit, AuditedTest, ErrorRate, Null
from sigjax.studies.trials import StudyOptions, of_strata, run_classical, run_trials, share_interval
from sigjax.studies.uniformity import uniformity
from sigjax.version import __version__

ALPHAS = (0.01, 0.05, 0.10)
_LEVEL = 0.95
"""Of intervals of error rates."""


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
    r"""Measure the type-I error of tests on the user's own data, by pairs for which the null hypothesis is true.

    *Swaps.* A repetition swaps the outputs of each unit of two systems or not, each with probability 1/2, and tests the
    two mixtures (A/A). So neither is better, whatever the systems are, while the metric, the sizes of the units, how
    often outputs differ, and how alike they are, are those of the data.

    *Splits.* A repetition deals the units of one system at random, within strata, into two halves, and pairs these at
    random: two samples of one population, which have nothing to do with each other. So tests that take systems for
    independent keep their level here, but not under swaps, where two systems met the same units. The halves have
    different gold data: where the metric has them as statistics, tests of one statistic that differs do not apply.

    The error at a level $\alpha$ is the share of repetitions with $p \le
    \alpha$: of a valid test it is at most $\alpha$, up to the binomial error that its interval shows.

    Args:
        evaluation: the statistics of the systems, or several evaluations of the same systems, one a metric.
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
    evaluations = [evaluation] if isinstance(evaluation, Evaluation) else list(evaluation)
    check(options)
    nulls: tuple[Null, ...] = (options.null,) if isinstance(options.null, str) else tuple(options.null)
    settings = Settings(interval="none", **values(options, Settings))
    check_together(settings)
    check_resamples(settings.fixed_resamples, min(ALPHAS))
    check_evaluations(evaluations, settings)
    chosen = [(select_pair if "swaps" in nulls else select)(each, options.systems) for each in evaluations]
    asked = _Asked(
        nulls,
        options.repetitions,
        settings,
        options.device,
        classical=options.classical,
        progress=options.progress,
    )
    audited = tuple(one for each in chosen for one in _of_metric(each, asked))
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


class _Asked(NamedTuple):
    nulls: tuple[Null, ...]
    repetitions: int
    settings: Settings
    device: Device
    classical: bool
    progress: bool


class _Made(NamedTuple):
    """One way to make pairs."""

    null: Null
    system: str | None
    pilot: Pilot
    make: Maker
    strata: np.ndarray
    """[unit] of the pairs."""


def _of_metric(evaluation: Evaluation, asked: _Asked) -> Iterator[AuditedTest]:
    """All nulls and tests by one metric."""
    settings, count, progress = asked.settings, asked.repetitions, asked.progress
    kind = kind_of_data(evaluation)
    for made in _ways(make_pilot(evaluation), evaluation.systems, asked):
        parts = made.pilot, made.make, made.strata, count
        trials = run_trials(*parts, settings, asked.device, progress=progress)
        for test in settings.tests:
            yield _audited(made, test, trials.p_values[test], trials.methods[test])
        if asked.classical:
            found = run_classical(*parts, settings.alternative, kind, progress=progress)
            for name, p_values in found.items():
                yield _audited(made, name, p_values, {"classical": count})


def _ways(pilot: Pilot, systems: Sequence[str], asked: _Asked) -> Iterator[_Made]:
    """The ways asked for; splits system by system."""
    strata, seed = pilot.units.strata, asked.settings.seed
    if "swaps" in asked.nulls:
        yield _Made("swaps", None, pilot, swapped(pilot, seed), strata)
    if "splits" in asked.nulls:
        pairs = dealt(strata)[1]
        if len(pairs) < 2:
            raise InputError(
                f"random splits need units for two pairs or more, four within a stratum or two in each of two, got "
                f"{len(strata)} units; use swaps"
            )
        for place, name in enumerate(systems):
            alone = pilot._replace(names=(name, name))
            yield _Made("splits", name, alone, split(alone, place, seed), pairs)


def _audited(made: _Made, test: str, p_values: np.ndarray, methods: dict[str, int]) -> AuditedTest:
    count = len(p_values)
    rejected = [int(np.count_nonzero(p_values <= alpha)) for alpha in ALPHAS]
    errors = tuple(
        ErrorRate(alpha, each, each / count, share_interval(each, count, _LEVEL))
        for alpha, each in zip(ALPHAS, rejected, strict=True)
    )
    found = uniformity(p_values)
    return AuditedTest(
        made.pilot.metric.name,
        test,
        methods,
        errors,
        found.excess,
        found.excess_p,
        found.deficit,
        tuple(p_values.tolist()),
        made.null,
        made.system,
    )
