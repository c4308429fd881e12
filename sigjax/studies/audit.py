"""Audit: do the tests keep their level on the user's own data?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

import numpy as np

from sigjax.classical.applicable import kind_of_data
from sigjax.comparison.validate import as_plain, check_evaluations, check_settings
from sigjax.records import DEFAULT_SEED, Alternative, Device, Evaluation, InputError, Settings, Test
from sigjax.studies.normal_power import check_resamples
from sigjax.studies.pilot import Maker, Pilot, dealt, make_pilot, select, select_pair, split, swapped
from sigjax.studies.records import Audit, AuditedTest, ErrorRate, Null
from sigjax.studies.trials import check_count, of_strata, run_classical, run_trials, share_interval
from sigjax.studies.uniformity import uniformity
from sigjax.version import __version__

ALPHAS = (0.01, 0.05, 0.10)
_LEVEL = 0.95
"""Of intervals of error rates."""
_MOST_REPETITIONS = 100_000


def audit(
    evaluation: Evaluation | Sequence[Evaluation],
    *,
    systems: Sequence[str] | None = None,
    test: Test | Sequence[Test] = ("permutation", "bootstrap"),
    null: Null | Sequence[Null] = "swaps",
    classical: bool = False,
    repetitions: int = 1000,
    resamples: int = 1999,
    seed: int = DEFAULT_SEED,
    alternative: Alternative = "two-sided",
    device: Device = "auto",
    progress: bool = True,
) -> Audit:
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
        systems: names of two of the systems; may be left out where there are only two. For splits alone, of one or
            more, all when left out.
        test: "permutation", "bootstrap", or both. The permutation test is exact where that takes seconds in all.
        null: "swaps", "splits" (of each system), or both.
        classical: whether to audit the classical tests, too, of those in `classical_tests` all that the pairs allow.
        repetitions: number of pairs made, each way.
        resamples: number of Monte Carlo resamples of each test; 1999 lets p attain 1%, 5% and 10%.
        seed: a whole number from 0; the same seed gives the same audit on every device.
        alternative: see `compare`.
        device: see `compare`.
        progress: see `compare`.

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
    tests: tuple[Test, ...] = (test,) if isinstance(test, str) else tuple(test)
    nulls: tuple[Null, ...] = (null,) if isinstance(null, str) else tuple(null)
    repetitions, resamples, seed = map(as_plain, (repetitions, resamples, seed))
    settings = Settings(tests, "auto", resamples, seed, alternative, interval="none")
    if resamples == "auto":
        raise InputError("resamples must be a number in a study")
    check_settings(settings, device)
    check_count("repetitions", repetitions, 1, _MOST_REPETITIONS)
    check_resamples(resamples, min(ALPHAS))
    if not nulls or len(set(nulls)) < len(nulls) or not set(nulls) <= set(get_args(Null)):
        raise InputError(f"null must name one or more of {', '.join(get_args(Null))}, each once, got {nulls!r}")
    check_evaluations(evaluations, settings)
    chosen = [(select_pair if "swaps" in nulls else select)(each, systems) for each in evaluations]
    asked = _Asked(nulls, repetitions, settings, device, classical=classical, progress=progress)
    audited = tuple(one for each in chosen for one in _of_metric(each, asked))
    num_units = len(make_pilot(chosen[0]).units.strata)
    named = (*tests, "classical") if classical else tests
    more = "" if nulls == ("swaps",) else f"|null:{'+'.join(nulls)}"
    signature = (
        f"study:audit|metric:{'+'.join(each.metric.name for each in chosen)}|test:{'+'.join(named)}{more}"
        f"|repetitions:{repetitions}|n:{resamples}|seed:{seed}|alt:{alternative}|ties:ge|units:{num_units}"
        f"{of_strata(evaluations[0])}|sigjax:{__version__}"
    )
    return Audit(chosen[0].systems, audited, repetitions, chosen[0].num_instances, num_units, settings, signature)


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
