"""The front door: Evaluation -> Report. It checks what is asked and puts the leaderboards of the metrics together."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, replace

from sigjax.comparison.assemble import leaderboards
from sigjax.comparison.kinds import pairs_of
from sigjax.comparison.validate import as_plain, check_evaluations, check_settings
from sigjax.comparison.workload import WORTH_A_LINE, workload
from sigjax.records import (
    DEFAULT_LEVEL,
    DEFAULT_MEMORY,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Alternative,
    Comparisons,
    Correction,
    Design,
    Device,
    Evaluation,
    Family,
    IntervalKind,
    Method,
    Resamples,
    Settings,
    Test,
    Variant,
)
from sigjax.report import Report
from sigjax.run.backend import host_scope
from sigjax.run.fingerprint import data_hash, identity_of
from sigjax.run.resume import stages_of
from sigjax.testing.runner import Runner
from sigjax.testing.stopping import LOOKS
from sigjax.version import __version__


def compare(
    evaluation: Evaluation | Sequence[Evaluation],
    *,
    test: Test | Sequence[Test] = "permutation",
    method: Method = "auto",
    resamples: Resamples = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    alternative: Alternative = "two-sided",
    baseline: str | None = None,
    correction: Correction = "holm",
    family: Family = "metric",
    leaderboard: bool = False,
    level: float = DEFAULT_LEVEL,
    interval: IntervalKind = "auto",
    variant: Variant = "shift",
    mid_p: bool = False,
    budget: float | None = None,
    memory: float = DEFAULT_MEMORY,
    design: Design = "together",
    device: Device = "auto",
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    extend: Report | str | os.PathLike[str] | None = None,
) -> Report:
    """Test which systems differ by more than chance: all pairs, or each system against a baseline.

    In a program of several processes that have called `jax.distributed.initialize`, all of them must make the same
    call: they share the resamples, and each returns the whole report.

    Args:
        evaluation: the statistics of the systems (`sigjax.read`, `Evaluation.from_arrays`), or several evaluations of
            the same systems on the same instances, one a metric.
        test: "permutation", "bootstrap", or both.
        method: "exact" (without sampling), "montecarlo", or "auto": exact where that is possible within `budget` and
            `memory`. "dp" and "tree" are exact too, by Algorithms 3 and 4 of Zmigrod et al. (2022): slower, for
            comparison. The bootstrap is exact where the score is linear in one statistic, as means are, and p is not 0.
        resamples: number of Monte Carlo resamples, or "auto": permutation tests look after 8,192 resamples, then after
            twice as many each time up to 1,048,576, and leave out the pairs that are settled. `settled` says that the
            decision at the level, after the correction, is that of endless resamples; the probability that any in a
            family is not is at most 0.001. So it does for a number, and `resamples_needed` how many would do. With
            "auto" p stays valid, but is no longer (exceed + 1) / (resamples + 1): at the cap it is 0.5% larger, and
            before the cap an upper bound of what it would be there. The bootstrap takes 100,000.
        seed: a whole number from 0; the same seed gives the same report on every device.
        alternative: "two-sided": |delta*| >= |delta|; "greater": delta* >= delta; "less": delta* <= delta, where delta
            is the score of the first system of a pair (in the order of the data) minus that of the second.
        baseline: compare each system (a) with this one (b) instead of all pairs.
        correction: how p-values are adjusted for the number of pairs, within the `family` and test. "holm", "hochberg"
            (smaller; for tests that do not depend negatively) and "bonferroni" bound the probability of any false
            finding, "bh" and "by" the share of false findings. "maxt" (Westfall and Young) bounds the former too, with
            more power where pairs depend on each other: all pairs of a Monte Carlo permutation test are judged by the
            largest standardised delta on each resample, also those whose own p-value is exact. "minp" judges by the
            smallest p-value on each resample, for pairs or metrics whose deltas have laws of different shapes: by the
            exact p-value where the pair is tested exactly, else by the rank among the resamples, for which m pairs need
            many (100 m or more).
        family: what is adjusted over: "metric", the pairs of each metric by itself, or "report", the pairs of all
            metrics together, so that the correction's guarantee is for every statement of the report (of each test).
        leaderboard: also say on bootstrap resamples where each system stands: an interval of its rank, and whether it
            is in the model confidence set of systems that may be the best. Draws the replicates of all systems, which
            must fit into half the `memory`.
        level: confidence level of all intervals, between 0 and 1.
        interval: kind of the intervals. "auto", without resamples: of answers right or wrong, one per unit, Wilson's
            score interval of a score and Tango's of a delta; of other metrics of sums Student's t by the jackknife for
            a delta, and the same corrected for skewness for a score (see `bootstrap.closed`; standard errors are the
            jackknife's); bootstrap percentile intervals of a `SampleMetric` and for design "nested"; `interval_kind`
            says which. "simultaneous": the same at a level at which all intervals of deltas hold together, and those of
            scores, from as many normal draws as `resamples` (of a `SampleMetric` and for design "nested", delta +- c s
            with the quantile c of max |delta* - delta| / s at the level). By the bootstrap, with its standard errors:
            "percentile", the quantiles q of the replicates; "basic", 2 delta - q, the same turned around; "bca", the
            quantiles at levels corrected for bias and skewness (better for few or skewed units; a jackknife of one more
            score a unit); "studentized", delta - t s with the quantiles t of (delta* - delta) / s*, where the standard
            errors s are those of the delta method (for metrics of sums; needs a smooth score and all replicates in
            memory); "inversion", the shifts of delta that the swap test rejects on neither side at (1 - level) / 2,
            from deltas over random sets of units (for metrics of sums that do not depend on their scale, or are
            proportional to it; scores keep percentile intervals). "two-way", delta +- t s, where s holds the variance
            of instances and that of runs and t has Satterthwaite's degrees of freedom (for design "models", whose
            default it is, and no other; see `bootstrap.two_way`). "none", as always where instances are responses.
        variant: null distribution of the bootstrap test: "shift", delta* - delta, or "flip", delta - delta*, for which
            a one-sided p is the share of resamples on which delta has the other sign, or is 0.
        mid_p: count ties half in exact permutation tests (method "exact", "dp" or "tree"): less conservative where many
            differences are equal, but no longer certain to keep the level. Where no unit differs p stays 1, whatever
            differs inside units.
        budget: seconds that the exact tests of an evaluation may take, in all, by an estimate that does not depend on
            the machine; 10 for method "auto", which samples the pairs beyond it, and 600 for the exact methods, which
            refuse.
        memory: GiB that the exact test of one pair may take, and bootstrap replicates half of it: of more of them a
            summary is kept, and intervals and standard errors are near those of all (within a sixth of the standard
            error that a limit has from sampling). Pairs whose results would take more (some 250 to 800 bytes each) are
            refused before anything is computed.
        design: what becomes of repeated runs. "together": a unit (an instance, or a cluster) is swapped and drawn with
            all its runs; of trained models this says what holds for just these models. "crossed": the permutation test
            exchanges outputs within units, see `resample.within`: of the 2 R outputs that two systems have, any R are
            as likely to be the first's. It is for runs that vary anew on each unit (samples of a decoder), not for
            trained models. "nested": the bootstrap draws units, and then runs within each, the same for all systems;
            permutation tests swap whole units, whatever runs have in common.
            "models": runs are trained models, good or bad on all instances at once. The permutation test exchanges
            whole runs: of the 2 R runs that two systems have, any R are as likely to be the first's, whatever the
            instances. It asks whether the two training procedures differ as judged on these instances, exactly for up
            to 11 runs of each system, and cannot reject at 0.05 (two-sided) below 4. Intervals are "two-way": for new
            runs on new instances. Every instance needs every run. No bootstrap test, "maxt", "minp" or leaderboard.
        device: "auto", "numpy", "cpu" or "gpu"; changes the time, never the numbers.
        progress: whether to draw a progress bar when stderr is a terminal, and to log a warning ("sigjax") of what
            may take more than a minute, with time and memory.
        checkpoint: a file that keeps how far the run is, written every few seconds and when a test is done (of several
            processes, by the first). The same call, after the run was killed, goes on from there and gives the same
            report, on any device and in any number of processes. The file stays; that of other data or settings is
            refused.
        extend: an earlier `Report`, or its JSON file, of the same data and settings but for fewer resamples:
            `resamples` is the new total. The report is that of a run anew; permutation tests go on from the counts of
            the earlier one, while the bootstrap, whose replicates it does not hold, draws all again.

    Returns:
        A `Report`: iterate over its `Comparison` records, print it, or use its `to_...` methods.

    Raises:
        InputError: an option or the data cannot be used; the message says which and what to do.

    Example:
        >>> from sigjax import Evaluation
        >>> scores = {"A": [1, 1, 1, 1, 1, 1, 0, 1], "B": [0, 1, 0, 0, 0, 0, 0, 0]}
        >>> report = compare(Evaluation.from_arrays(scores, metric="accuracy"))
        >>> [(c.a, c.b, c.delta, round(c.p_value, 6), c.method) for c in report]
        [('A', 'B', 0.75, 0.03125, 'exact')]
    """
    evaluations = [evaluation] if isinstance(evaluation, Evaluation) else list(evaluation)
    tests: tuple[Test, ...] = (test,) if isinstance(test, str) else tuple(test)
    resamples, seed, level, budget, memory = map(as_plain, (resamples, seed, level, budget, memory))
    settings = Settings(
        tests=tests,
        method=method,
        resamples=resamples,
        seed=seed,
        alternative=alternative,
        baseline=baseline,
        correction=correction,
        family=family,
        leaderboard=leaderboard,
        level=level,
        interval=interval,
        variant=variant,
        mid_p=mid_p,
        budget=budget,
        memory=memory,
        design=design,
    )
    if design == "models" and interval == "auto":
        settings = replace(settings, interval="two-way")  # the default of this design
    check_settings(settings, device)
    check_evaluations(evaluations, settings)
    if evaluations[0].unit == "response":
        settings = replace(settings, interval="none")
    load = workload(evaluations, settings)
    load.check(settings)
    if progress and load.seconds > WORTH_A_LINE:
        logging.getLogger("sigjax").warning("%s", load)
    data = data_hash(evaluations)
    identity = identity_of(evaluations, settings, data)
    names = evaluations[0].systems
    pairs = [] if extend is None else [(names[a], names[b]) for a, b in pairs_of(evaluations[0], settings).tolist()]
    stages = stages_of(checkpoint, extend, identity, pairs)
    with host_scope():
        boards = leaderboards(evaluations, Runner(settings, device, progress, stages))
    options = asdict(settings)
    options["test"] = options.pop("tests")
    return Report(
        systems=tuple(system for board in boards for system in board.systems),
        comparisons=Comparisons.joined([board.comparisons for board in boards]),
        settings=settings,
        num_instances=evaluations[0].num_instances,
        num_units=boards[0].num_units,
        lower_is_better=tuple(each.metric.name for each in evaluations if not each.metric.higher_is_better),
        notes=tuple(dict.fromkeys(note for board in boards for note in board.notes)),
        signature=_signature(evaluations, settings, boards[0].num_units),
        data=data,
        again=lambda **changes: compare(evaluations, **(options | changes)),
    )


def _signature(evaluations: Sequence[Evaluation], settings: Settings, num_units: int) -> str:
    """One line from which the numbers can be made again, in the manner of sacrebleu."""
    first = evaluations[0]
    unit = first.unit if first.clusters is None and first.runs is None else "cluster" if first.clusters else "id"
    parts = {
        "metric": "+".join(each.metric.name for each in evaluations),
        "test": "+".join(settings.tests),
        "method": settings.method,
        "n": settings.resamples,
        "cap": LOOKS[-1] if settings.resamples == "auto" else None,
        "seed": settings.seed,
        "alt": settings.alternative,
        "null": settings.variant if "bootstrap" in settings.tests else None,
        "ties": "mid" if settings.mid_p else "ge",
        "systems": len(evaluations[0].systems),
        "units": f"{num_units} {unit}s",
        "strata": None if evaluations[0].strata is None else len(set(evaluations[0].strata)),
        "baseline": settings.baseline,
        "correction": settings.correction,
        "family": None if settings.family == "metric" else settings.family,
        "leaderboard": "mcs" if settings.leaderboard else None,
        "interval": settings.interval,
        "level": settings.level,
        "design": None if settings.design == "together" else settings.design,
        "budget": settings.budget,
        "memory": None if settings.memory == DEFAULT_MEMORY else settings.memory,
        "sigjax": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items() if value is not None)
