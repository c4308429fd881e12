"""The checks of `compare`, and an estimate of the work.

To refuse input means to raise `InputError`, with a one-line message. Before the tests, `compare` refuses options that
contradict each other, evaluations that do not fit together, and more pairs than fit into memory. It logs a warning
about long work. During the tests, errors become messages that name the metric and the systems.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter

from sigjax.metrics.ratios import TrialShares
from sigjax.multiple.decisions import LOOKS
from sigjax.readers.options import suggest
from sigjax.records import CORRECTIONS, DESIGNS, Design, EvaluationRecord, Hint, InputError, SampleMetric, Settings
from sigjax.records.metric import in_suite
from sigjax.run import costs
from sigjax.run.context import NotTraceable, gib
from sigjax.run.costs import Cost
from sigjax.testing.intervals import INTERVALS, draws_intervals, in_closed_form
from sigjax.testing.problem import (
    NotExact,
    NotFinite,
    differing_stats,
    exact_budget,
    free_seconds,
    num_problems,
    ones_of,
)

_frame = attrgetter("systems", "num_instances", "ids", "clusters", "strata", "runs", "unit")
"""A function from an evaluation to the properties that must be equal in all evaluations of a comparison."""


def check_together(settings: Settings) -> None:
    """Refuse settings that contradict each other; each single setting has been checked before."""
    if settings.resamples == "auto" and "permutation" not in settings.tests:
        raise InputError("resamples auto belongs to the permutation test; give the bootstrap a number of resamples")
    if settings.method in ("dp", "tree") and "bootstrap" in settings.tests:
        raise InputError(f"method {settings.method} belongs to the permutation test; use exact, montecarlo or auto")
    if settings.mid_p and (settings.method in ("auto", "montecarlo") or settings.tests != ("permutation",)):
        raise InputError(
            "mid-p belongs to exact permutation tests; use method exact, dp or tree with it, and no other test"
        )
    if CORRECTIONS[settings.correction].is_resampled:
        _check_resampled(settings)
    if settings.statistic == "studentized":
        _check_studentized(settings)
    _check_design(settings)


def _check_design(settings: Settings) -> None:
    """Refuse a design that no test or interval uses, and tests and intervals that do not support the design."""
    interval, design = INTERVALS[settings.interval], DESIGNS[settings.design]
    if reason := design.reason_against(settings.tests, intervals=interval.needs != "nothing"):
        raise InputError(reason)
    if design.exchanges != "units" and CORRECTIONS[settings.correction].is_resampled:
        raise InputError(f"correction {settings.correction} swaps whole instances; use holm with design {design.name}")
    if design.draws is None and settings.leaderboard:
        raise InputError(f"the leaderboard draws instances, not runs; leave it out with design {design.name}")
    if reason := interval.reason_against(design):
        raise InputError(reason)


def _check_resampled(settings: Settings) -> None:
    """Refuse settings that do not fit a correction by resampling (maxt): all pairs need the same resamples."""
    name = f"correction {settings.correction}"
    if settings.tests != ("permutation",):
        raise InputError(f"{name} belongs to the permutation test; ask for no other test with it")
    if settings.method not in ("auto", "montecarlo"):
        raise InputError(f"{name} samples; use method auto or montecarlo with it, got {settings.method}")
    if settings.resamples == "auto":
        raise InputError(f"{name} needs all pairs on the same resamples; give a number of resamples, not auto")


def _check_studentized(settings: Settings) -> None:
    """Refuse a studentized statistic with other settings that do not fit it.

    It needs the permutation test, a correction other than maxt, and a design that swaps units.
    """
    if "permutation" not in settings.tests:
        raise InputError(
            "statistic studentized belongs to the permutation test; ask for it, or leave the statistic out"
        )
    if CORRECTIONS[settings.correction].is_resampled:
        raise InputError(f"correction {settings.correction} takes its own statistic; use holm, or statistic delta")
    if DESIGNS[settings.design].exchanges != "units":
        raise InputError(f"design {settings.design} does not swap units; use statistic delta, or another design")


def check_evaluations(evaluations: Sequence[EvaluationRecord], settings: Settings) -> None:
    """Refuse evaluations that do not fit together or do not fit the settings, and an unknown baseline."""
    if not evaluations:
        raise InputError("there is no evaluation to compare on")
    first, names = evaluations[0], [each.metric.name for each in evaluations]
    joint = settings.family == "report" and CORRECTIONS[settings.correction].is_resampled
    differ = any(_frame(other) != _frame(first) for other in evaluations[1:])
    if (joint or differ) and all(in_suite(each.metric.name, each.title) for each in evaluations):
        if joint:
            raise InputError(f"correction {settings.correction} needs the same instances; use holm, or family metric")
    elif differ:
        raise InputError(
            "the evaluations differ in their systems, instances, units, clusters or strata; compare them apart, or as "
            "tasks: compare({'TASK': evaluation, ...})"
        )
    if len(set(names)) < len(names):
        raise InputError(f"two evaluations have the metric {max(names, key=names.count)!r}; give each metric once")
    if first.unit == "response":
        _check_responses(first, settings)
    if settings.design != "together":
        _check_runs(first, settings.design)
    if DESIGNS[settings.design].exchanges == "runs":
        _check_models(first)
    if settings.statistic == "studentized" and first.strata is not None:
        raise InputError("statistic studentized knows no strata; leave them out, or use statistic delta")
    for each in evaluations:
        if isinstance(each.metric, SampleMetric):
            _check_sample(each.metric.name, settings)
        elif isinstance(each.metric.extract, TrialShares):
            of_pairs = "missing pairwise" if each.present is not None else ""
            if apart := of_pairs if settings.design == "together" else f"design {settings.design}":
                raise InputError(
                    f"{apart} takes runs one by one, and {each.metric.name} all runs of an instance together; use "
                    "design together, and missing drop or zero"
                )
    baseline_of(first.systems, settings)


def baseline_of(systems: Sequence[str], settings: Settings) -> str | None:
    """The name of the baseline system; "1" stands for the first system. Refuse an unknown name."""
    baseline = settings.baseline
    if baseline == "1" and baseline in systems[1:]:
        raise InputError(
            f"baseline '1' is the first system, {systems[0]!r}, and also the name of another; rename that one"
        )
    if baseline is None or baseline in systems:
        return baseline
    if baseline == "1":
        return systems[0]
    raise InputError(f"{Hint('baseline')}: no system {baseline!r}; {suggest(baseline, systems, 'systems')}")


def _check_sample(metric: str, settings: Settings) -> None:
    """Refuse settings that need a metric of sums; `metric` is the name of a metric of whole columns."""
    for option, needs_sums, instead in (
        ("correction", CORRECTIONS[settings.correction].is_resampled, "holm"),
        ("interval", INTERVALS[settings.interval].of_sums, "bca"),
        ("design", settings.design != "together", "together"),
        ("statistic", settings.statistic != "delta", "delta"),
    ):
        if needs_sums:
            value = getattr(settings, option)
            raise InputError(f"{option} {value} needs a metric of sums, and {metric!r} is none; use {instead}")


def _check_responses(evaluation: EvaluationRecord, settings: Settings) -> None:
    """Refuse the bootstrap, a leaderboard, and clusters, strata or runs, if the instances are responses.

    Responses are swapped one by one. They are not a sample, so they cannot be drawn.
    """
    for is_asked, what, instead in (
        ("bootstrap" in settings.tests, "the bootstrap", "use the permutation test"),
        (settings.leaderboard, "the leaderboard", "leave it out"),
    ):
        if is_asked:
            raise InputError(
                f"{what} draws instances, but these are responses, which are no sample of anything: {instead}, or read "
                "the files without unit response"
            )
    for labels in ("clusters", "strata", "runs"):
        if getattr(evaluation, labels) is not None:
            raise InputError(f"responses are swapped one by one; leave out {labels}, or read without unit response")


def _check_runs(evaluation: EvaluationRecord, design: Design) -> None:
    """Refuse an evaluation without runs, or with runs of one instance in several clusters."""
    if evaluation.runs is None:
        raise InputError(
            f"design {design} needs repeated runs, and every instance was run once; name their column "
            f"({Hint('runs')}), or give runs to from_arrays, or use design together"
        )
    clusters: dict[str, str] = {}
    for instance, cluster in zip(evaluation.ids or (), evaluation.clusters or (), strict=False):
        if clusters.setdefault(instance, cluster) != cluster:
            raise InputError(
                f"the runs of instance {instance!r} lie in the clusters {clusters[instance]!r} and {cluster!r}; design "
                f"{design} needs all runs of an instance in one cluster"
            )


def _check_models(evaluation: EvaluationRecord) -> None:
    """Refuse fewer than two runs, and missing results: each run (a trained model) needs a result on every instance."""
    ids, runs = evaluation.ids or (), evaluation.runs or ()
    labels = dict.fromkeys(runs)
    if len(labels) < 2:
        raise InputError(f"design models needs two runs or more, and there is only {', '.join(labels)!r}")
    wrong = next((instance for instance, number in Counter(ids).items() if number < len(labels)), None)
    if wrong is not None:
        present = {run for instance, run in zip(ids, runs, strict=True) if instance == wrong}
        lacking = next(run for run in labels if run not in present)
        raise InputError(
            f"instance {wrong!r} has no run {lacking!r}: design models exchanges whole runs, which need a result on "
            "every instance; leave that instance or that run out"
        )


def check_complete(evaluations: Sequence[EvaluationRecord], settings: Settings, *, extends: bool) -> None:
    """Refuse settings that need the same instances for all pairs, if each pair leaves out its own missing results.

    `extends` is true if an earlier report is to be extended.
    """
    first = evaluations[0]
    if all(each.present is None for each in evaluations):
        return
    for refused, instead in (
        (CORRECTIONS[settings.correction].is_resampled and f"correction {settings.correction}", "use holm"),
        (settings.interval == "simultaneous" and "interval simultaneous", "use auto"),
        (settings.leaderboard and "the leaderboard", "leave it out"),
        (settings.design != "together" and f"design {settings.design}", "use together"),
        (extends and "an extended report", "compare anew"),
        (in_suite(first.metric.name, first.title) and "a suite of tasks", "read one task"),
    ):
        if refused:
            raise InputError(
                f"{refused} needs all pairs on the same instances, and with missing pairwise each has its own; "
                f"{instead}, or use missing drop or zero"
            )


@contextmanager
def named_errors(evaluations: Sequence[EvaluationRecord], settings: Settings) -> Iterator[None]:
    """A context manager that turns errors of tests into messages that name the metric and the systems."""
    systems, metric = evaluations[0].systems, evaluations[0].metric
    try:
        yield
    except NotExact as error:
        which = "bootstrap test"
        if error.pair is not None:
            which = "test for {!r} and {!r}".format(*(systems[i] for i in error.pair))
        other = "exact or auto" if settings.method in ("dp", "tree") else "auto"
        raise InputError(f"no exact {which}: {error.reason}; use method {other}") from None
    except NotFinite as error:
        metric = evaluations[error.metric].metric
        names = " and ".join(repr(systems[i]) for i in error.systems)
        remedy = "have it return a number everywhere, also where a denominator is 0"
        if isinstance(metric, SampleMetric):
            leave = "leave the bootstrap out (interval none) or " if settings.tests else ""
            remedy = (
                f"where instances that are all alike are drawn, {leave}draw within strata, or else have it return a "
                "number there too"
            )
        raise InputError(
            f"metric {metric.name!r} is not a finite number for {names} on the data or on a resample of it; {remedy}"
        ) from None
    except NotTraceable as error:
        raise InputError(
            f"metric {metric.name!r} cannot be compiled for device {error.device!r}; write it with array operators "
            "and the functions of sums.__array_namespace__(), or use the device auto or numpy"
        ) from None


def check_units(num_units: int, what: str, remedy: str = "") -> None:
    """Raise `InputError` if there are fewer than two units; `what` is the test that needs them."""
    if num_units < 2:
        raise InputError(f"{what} needs at least two units (instances, or clusters of them), got one{remedy}")


_WORTH_A_LINE = 60.0
"""Limit for the estimated work in seconds: above it, a warning is logged. The seconds are nominal: the time on one slow
core (see `run.costs`)."""
_SMALL = 2.0**-8
"""Largest size in GiB of tables that are always allowed, however small the setting `memory` is."""
_SIMPLEST = costs.LINE + 50 * costs.LINE_VALUE
"""The cost of the exact test of a pair with right-or-wrong answers."""
_MOST_SYSTEMS, _MOST_INSTANCES = 20_000, 4_096
"""Largest numbers of systems and instances for which the estimate of the work counts how many different exact tests
the pairs need (see `num_problems`). Counting takes a few seconds."""


def check_workload(evaluations: Sequence[EvaluationRecord], settings: Settings, *, warns: bool) -> None:
    """Refuse more pairs than fit into memory; if `warns` is true, log a warning for long work.

    The function makes no array with an entry per pair.
    """
    count, cost, draws = len(evaluations[0].systems), Cost(), False
    pairs = count * (count - 1) // 2 if settings.baseline is None else count - 1
    for evaluation in evaluations:
        more, draws_more = work(evaluation, pairs, settings)
        cost, draws = cost + more, draws or draws_more
    columns = cost.num_bytes / 2**30
    replicates = min(gib((count, settings.fixed_resamples)), 0.5 * settings.memory) if draws else 0.0
    what = f"{pairs * len(evaluations):,} pairs of {count:,} systems"
    if columns > max(settings.memory, _SMALL):
        needed = math.ceil(100.0 * columns) / 100.0
        raise InputError(
            f"{what} take about {needed:g} GiB, more than the memory of {settings.memory:g} GiB; compare with one "
            f"system ({Hint('baseline')}), compare fewer ({Hint('only')}), or give {Hint('memory', f'{needed:g}')}"
        )
    if warns and cost.seconds > _WORTH_A_LINE:
        import logging

        number, unit = (cost.seconds / 3600.0, "h") if cost.seconds > 7200.0 else (cost.seconds / 60.0, "min")
        message = f"{what}: about {number:.0f} {unit} and {columns + replicates:.1f} GiB"
        logging.getLogger("sigjax").warning("%s", message)


def work(evaluation: EvaluationRecord, pairs: int, settings: Settings) -> tuple[Cost, bool]:
    """Return the approximate cost of testing this many `pairs` by one metric, and whether the bootstrap must sample.

    The cost includes the memory of the pairs' columns in the tables.
    """
    swaps, draws = "permutation" in settings.tests, draws_intervals(evaluation.metric, settings)
    draws |= "bootstrap" in settings.tests
    moved = evaluation.stats.shape[1] if in_closed_form(evaluation.metric, settings) else 0
    (count, instances), problems, signs = evaluation.stats.shape[:2], 0, False
    a_pair, a_problem = costs.COMPARED_PAIR, costs.PLANNED_PROBLEM
    if settings.method != "montecarlo":
        budget, problems, simplest = exact_budget(settings), pairs, costs.DRAWS
        whole = evaluation.clusters is None and evaluation.runs is None and settings.baseline is None
        many = (costs.DRAWS * pairs).seconds > budget
        ones = ones_of(evaluation.stats) if whole and many else None
        if ones is not None:
            signs, simplest = settings.method in ("auto", "exact") and settings.statistic == "delta", _SIMPLEST
            if draws and count <= _MOST_SYSTEMS and instances <= _MOST_INSTANCES:
                problems = num_problems(ones)
        simple = ones is None and not draws and many and len(differing_stats(evaluation.stats)) == 1
        simple = simple and bool((evaluation.stats % 1.0 == 0.0).all())
        a_problem = costs.SIMPLE_PROBLEM if simple else a_problem
        cheap = simple and a_problem.seconds <= free_seconds(settings)
        swaps = swaps and not (signs or cheap) and (simplest * problems).seconds > budget
        draws = draws and (costs.DRAWS * problems).seconds > budget
        if signs and not draws:  # one matrix product counts all pairs
            moved, problems = 0, 0
            a_pair = costs.RIGHT_OR_WRONG_PAIR + costs.RIGHT_OR_WRONG_PRODUCT * (2.0 * instances)
    resamples = settings.fixed_resamples
    swapped = 2 * LOOKS[0] if settings.resamples == "auto" else resamples
    cost = a_pair * (pairs * len(settings.tests)) + a_problem * problems + costs.JACKKNIFED_INSTANCE * (pairs * moved)
    cost += costs.SAMPLED_PAIR * (pairs * (swaps * swapped + draws * resamples))
    cost += costs.MAXT_PAIR * (pairs * resamples * CORRECTIONS[settings.correction].is_resampled)
    held = costs.PAIR_HELD + costs.OTHER_TEST_HELD * (len(settings.tests) - 1)
    held += costs.SAMPLED_HELD * swaps + costs.DRAWN_HELD * (draws or moved > 0)
    return cost + held * pairs, draws
