"""Audit: do the tests keep their level on the user's own data?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigjax.checks import as_plain, check_evaluations, check_settings
from sigjax.inference.power import check_resamples
from sigjax.inference.uniformity import uniformity
from sigjax.records import DEFAULT_SEED, Alternative, Device, Evaluation, InputError, Settings, Test
from sigjax.studies.records import Audit, AuditedTest, ErrorRate
from sigjax.studies.trials import check_count, make_pilot, of_strata, run_trials, select_pair, share_interval, swapped
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
    repetitions: int = 1000,
    resamples: int = 1999,
    seed: int = DEFAULT_SEED,
    alternative: Alternative = "two-sided",
    device: Device = "auto",
    progress: bool = True,
) -> Audit:
    r"""Measure the type-I error of tests on the user's own data, by pairs for which the null hypothesis is true.

    A repetition swaps the outputs of each unit of two systems or not, each with probability 1/2, and tests the two
    mixtures (A/A). So neither is better, whatever the systems are, while the metric, the sizes of the units and how
    often outputs differ are those of the data. The error at a level $\alpha$ is the share of repetitions with $p \le
    \alpha$: of a valid test it is at most $\alpha$, up to the binomial error that its interval shows.

    Args:
        evaluation: the statistics of the systems, or several evaluations of the same systems, one a metric.
        systems: names of two of the systems; may be left out where there are only two.
        test: "permutation", "bootstrap", or both. The permutation test is exact where that takes seconds in all.
        repetitions: number of pairs made.
        resamples: number of Monte Carlo resamples of each test; 1999 lets p attain 1%, 5% and 10%.
        seed: a whole number from 0; the same seed gives the same audit on every device.
        alternative: see `compare`.
        device: see `compare`.
        progress: see `compare`.

    Raises:
        InputError: an option or the data cannot be used, a metric that is no function of sums, or a single unit.

    Reference: Yeh (2000), section 3; Conover (1972) on the distance of Kolmogorov for discrete distributions.

    Example:
        >>> evaluation = Evaluation.from_arrays({"A": [1, 1, 0, 1, 1, 0], "B": [0, 1, 1, 0, 0, 1]}, metric="accuracy")
        >>> audit(evaluation, test="permutation", repetitions=200).tests[0].errors[1].rate
        0.0
    """
    evaluations = [evaluation] if isinstance(evaluation, Evaluation) else list(evaluation)
    tests: tuple[Test, ...] = (test,) if isinstance(test, str) else tuple(test)
    repetitions, resamples, seed = map(as_plain, (repetitions, resamples, seed))
    settings = Settings(tests, "auto", resamples, seed, alternative, interval="none")
    if resamples == "auto":
        raise InputError("resamples must be a number in a study")
    check_settings(settings, device)
    check_count("repetitions", repetitions, 1, _MOST_REPETITIONS)
    check_resamples(resamples, min(ALPHAS))
    check_evaluations(evaluations, settings)
    audited: list[AuditedTest] = []
    pilots = [make_pilot(select_pair(each, systems)) for each in evaluations]
    for pilot in pilots:
        strata = pilot.units.strata
        trials = run_trials(pilot, swapped(pilot, seed), strata, repetitions, settings, device, progress=progress)
        for name in tests:
            audited.append(_audited(pilot.metric.name, name, trials.p_values[name], trials.methods[name]))
    names, num_units = pilots[0].names, len(pilots[0].units.strata)
    num_instances = evaluations[0].num_instances
    signature = (
        f"study:audit|metric:{'+'.join(pilot.metric.name for pilot in pilots)}|test:{'+'.join(tests)}"
        f"|repetitions:{repetitions}|n:{resamples}|seed:{seed}|alt:{alternative}|ties:ge|units:{num_units}"
        f"{of_strata(evaluations[0])}|sigjax:{__version__}"
    )
    return Audit(names, tuple(audited), repetitions, num_instances, num_units, settings, signature)


def _audited(metric: str, test: Test, p_values: np.ndarray, methods: dict[str, int]) -> AuditedTest:
    count = len(p_values)
    rejected = [int(np.count_nonzero(p_values <= alpha)) for alpha in ALPHAS]
    errors = tuple(
        ErrorRate(alpha, each, each / count, share_interval(each, count, _LEVEL))
        for alpha, each in zip(ALPHAS, rejected, strict=True)
    )
    found = uniformity(p_values)
    return AuditedTest(
        metric, test, methods, errors, found.excess, found.excess_p, found.deficit, tuple(p_values.tolist())
    )
