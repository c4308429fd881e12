"""The front doors: evaluations -> `Report`, and in the manner of SciPy two arrays -> the comparison of one pair."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sigjax.comparison.assemble import Leaderboard
from sigjax.comparison.compat import peer_tests
from sigjax.comparison.data import evaluations_of
from sigjax.comparison.distributions import Laws
from sigjax.comparison.families import comparisons_of, leaderboards
from sigjax.comparison.metric_kinds import pairs_of
from sigjax.comparison.notes import together
from sigjax.comparison.options import BootstrapOptions, CompareOptions, DataOptions, PermutationOptions
from sigjax.comparison.parts import check_parts
from sigjax.comparison.signature import signature_of
from sigjax.comparison.validate import baseline_of, check_evaluations, check_together
from sigjax.comparison.workload import check_workload
from sigjax.metrics import evaluation_from_arrays
from sigjax.metrics.suites import is_part
from sigjax.records import Comparison, Comparisons, Evaluation, Measured, Settings
from sigjax.records.metric import AnyMetric
from sigjax.records.options import check, values
from sigjax.records.signatures import takes
from sigjax.report import Report
from sigjax.run.backend import host_scope
from sigjax.run.checkpoint import data_hash, identity_of
from sigjax.run.resume import stages_of
from sigjax.testing.runner import Runner

Path = str | os.PathLike[str]


@takes(DataOptions)
def compare(data: Any, options: DataOptions) -> Report:
    """Test which systems differ by more than chance: all pairs, or each system against a baseline.

    In a program of several processes that have called `jax.distributed.initialize`, all of them must make the same
    call: they share the resamples, and each returns the whole report.

    Args:
        data: a table as a data frame or the path of a file (see `sigjax.read`); a dict of one array per system; an
            `Evaluation`; or several of the same systems on the same instances, one per metric. Of several tasks, a
            dict of one `Evaluation` (or several) per task, or the path of a folder of logs: the report has a section
            for each task, and first a suite score, the mean of the task means (see `metrics.suites`).
        options: see `DataOptions`.

    Returns:
        A `Report`: iterate over its `Comparison` records, print it, or use its `to_...` methods.

    Raises:
        InputError: an option or the data cannot be used; the message says which and what to do.

    Example:
        >>> scores = {"A": [1, 1, 1, 1, 1, 1, 0, 1], "B": [0, 1, 0, 0, 0, 0, 0, 0]}
        >>> report = compare(scores, metric="accuracy")
        >>> [(c.a, c.b, c.delta, round(c.p_value, 6), c.method) for c in report]
        [('A', 'B', 0.75, 0.03125, 'exact')]
    """
    check(options)
    return _compared(evaluations_of(data, options), options)


def _settled(evaluations: Sequence[Evaluation], options: CompareOptions) -> Settings:
    """The settings for some evaluations, by options that are in their domains.

    Raises:
        InputError: options and evaluations do not fit together, or need more memory than there is.
    """
    settings = Settings(**values(options, Settings))
    if settings.design == "models" and settings.interval == "auto":
        settings = replace(settings, interval="two-way")  # the default of this design
    check_together(settings)
    check_evaluations(evaluations, settings)
    check_parts(evaluations, settings, extends=options.extend is not None, peers=bool(options.compat))
    if settings.baseline is not None:
        settings = replace(settings, baseline=baseline_of(evaluations[0].systems, settings))
    if evaluations[0].unit == "response":
        settings = replace(settings, interval="none")
    check_workload(evaluations, settings, warns=options.progress)
    return settings


def _runner(evaluations: Sequence[Evaluation], settings: Settings, options: CompareOptions) -> Runner:
    """How to run, from where an earlier run stopped."""
    names, pairs = evaluations[0].systems, ()
    if options.extend is not None:
        pairs = [(names[a], names[b]) for a, b in pairs_of(evaluations[0], settings)]
    stages = stages_of(options.checkpoint, options.extend, partial(identity_of, evaluations, settings), pairs)
    return Runner(settings, options.device, options.progress, stages)


def _compared(evaluations: Sequence[Evaluation], options: CompareOptions) -> Report:
    """`compare` of evaluations."""
    settings = _settled(evaluations, options)
    with host_scope():
        boards = leaderboards(evaluations, _runner(evaluations, settings, options))
        peers = (options.compat,) if isinstance(options.compat, str) else options.compat or ()
        compat = peer_tests(evaluations, Runner(settings, options.device, options.progress), peers)
    return Report(
        systems=tuple(system for board in boards for system in board.systems),
        comparisons=Comparisons.joined([part for board in boards for part in board.comparisons]),
        settings=settings,
        num_instances=evaluations[0].num_instances,
        num_units=boards[0].num_units,
        lower_is_better=tuple(each.metric.name for each in evaluations if not each.metric.higher_is_better),
        notes=_notes(evaluations, boards),
        signature=signature_of(evaluations, settings, boards[0].num_units),
        data=data_hash(evaluations),
        measured=_measured(evaluations, boards),
        compat=compat,
        again=lambda **changes: compare(evaluations, **values(settings, compat=options.compat, **changes)),
        laws=Laws(evaluations, settings),
    )


def _notes(evaluations: Sequence[Evaluation], boards: Sequence[Leaderboard]) -> tuple[str, ...]:
    if not is_part(evaluations[0]):
        return tuple(dict.fromkeys(note for board in boards for note in board.notes))
    return together([(each.metric.name, board.notes) for each, board in zip(evaluations, boards, strict=True)])


def _measured(evaluations: Sequence[Evaluation], boards: Sequence[Leaderboard]) -> tuple[Measured, ...]:
    both = [(each, board.num_units) for each, board in zip(evaluations, boards, strict=True)]
    return tuple([Measured(one.metric.name, one.title, one.num_instances, units) for one, units in both if one.title])


@takes(PermutationOptions)
def permutation_test(a: Any, b: Any, options: PermutationOptions) -> Comparison:
    r"""Paired permutation test (approximate or exact randomization) of two systems.

    Under the null hypothesis the two outputs of an instance may be swapped; p is the probability, over all swaps, of a
    delta at least as extreme as observed, ties included. Equivalent to `scipy.stats.permutation_test(...,
    permutation_type="samples")` for a difference of scores, but exact where few units or two statistics differ.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        options: see `PermutationOptions`.

    Returns:
        The `Comparison` of systems "a" and "b", without intervals and standard errors.

    Raises:
        InputError: see `compare`.

    Reference: Yeh (2000), "More accurate tests for the statistical significance of result differences"; Zmigrod et al.
    (2022), "Exact paired-permutation testing for structured test statistics".

    Example:
        >>> permutation_test([3, 2, 4, 5], [1, 1, 1, 1], alternative="greater").p_value
        0.0625
    """
    return _of_pair(a, b, interval="none", **values(options))


@takes(BootstrapOptions)
def bootstrap_test(a: Any, b: Any, options: BootstrapOptions) -> Comparison:
    r"""Paired bootstrap test of two systems, with the standard error and an interval of delta.

    Instances are drawn with replacement, the same for both systems; the null distribution is $\delta^* - \delta$:
    two-sided $|\delta^* - \delta| \ge |\delta|$, greater $\delta^* - \delta \ge \delta$, less $\delta^* - \delta \le
    \delta$.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        options: see `BootstrapOptions`.

    Returns:
        The `Comparison` of systems "a" and "b".

    Raises:
        InputError: see `compare`; also for a single instance.

    Reference: Berg-Kirkpatrick et al. (2012), "An empirical investigation of statistical significance in NLP".

    Example:
        >>> result = bootstrap_test([3, 2, 4, 5], [1, 1, 1, 1])
        >>> result.delta, result.interval
        (2.5, Interval(low=1.5, high=3.5))
    """
    return _of_pair(a, b, test="bootstrap", **values(options))


def _of_pair(a: Any, b: Any, *, metric: AnyMetric, **given: Any) -> Comparison:
    evaluation = evaluation_from_arrays({"a": a, "b": b}, metric=metric)
    options = CompareOptions(progress=False, **given)
    check(options)
    settings = _settled([evaluation], options)
    with host_scope():
        return comparisons_of(evaluation, _runner([evaluation], settings, options))[0]
