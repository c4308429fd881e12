"""The front door: Evaluation -> Report. It checks what is asked and puts the leaderboards of the metrics together."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sigjax.comparison.assemble import leaderboards
from sigjax.comparison.metric_kinds import pairs_of
from sigjax.comparison.validate import check_evaluations, check_together
from sigjax.comparison.workload import WORTH_A_LINE, workload
from sigjax.records import Comparisons, Device, Evaluation, Settings
from sigjax.records.options import check, option, values
from sigjax.records.signatures import takes
from sigjax.report import Report
from sigjax.run.backend import host_scope
from sigjax.run.checkpoint import data_hash, identity_of
from sigjax.run.resume import stages_of
from sigjax.testing.runner import Runner
from sigjax.testing.stopping import LOOKS
from sigjax.version import __version__

Path = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Settings):
    """All options of `compare`: the settings, and what changes how the work is done but never the numbers."""

    device: Device = option("auto", "Where to compute; changes the time, never the numbers.", group="Running")
    progress: bool = option(
        True,
        "Draw a progress bar.",
        'When stderr is a terminal; also log a warning ("sigjax") of what may take more than a minute, with time and '
        "memory.",
        group="Running",
    )
    checkpoint: Path | None = option(
        None,
        "Keep the progress in this file; the same command goes on from there.",
        "Written every few seconds and when a test is done (of several processes, by the first). The same call, after "
        "the run was killed, goes on from there and gives the same report, on any device and in any number of "
        "processes. The file stays; that of other data or settings is refused.",
        group="Running",
    )
    extend: Report | Path | None = option(
        None,
        "Go on from this JSON report of fewer resamples; --resamples is the new total.",
        "An earlier `Report`, or its JSON file, of the same data and settings but for fewer resamples. The report is "
        "that of a new run; permutation tests go on from the counts of the earlier one, while the bootstrap, whose "
        "replicates it does not hold, draws all again.",
        group="Running",
    )


@takes(CompareOptions)
def compare(evaluation: Evaluation | Sequence[Evaluation], options: CompareOptions) -> Report:
    """Test which systems differ by more than chance: all pairs, or each system against a baseline.

    In a program of several processes that have called `jax.distributed.initialize`, all of them must make the same
    call: they share the resamples, and each returns the whole report.

    Args:
        evaluation: the statistics of the systems (`sigjax.read`, `Evaluation.from_arrays`), or several evaluations of
            the same systems on the same instances, one per metric.
        options: see `CompareOptions` and `Settings`.

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
    check(options)
    settings = Settings(**values(options, Settings))
    if settings.design == "models" and settings.interval == "auto":
        settings = replace(settings, interval="two-way")  # the default of this design
    check_together(settings)
    check_evaluations(evaluations, settings)
    if evaluations[0].unit == "response":
        settings = replace(settings, interval="none")
    load = workload(evaluations, settings)
    load.check(settings)
    if options.progress and load.seconds > WORTH_A_LINE:
        logging.getLogger("sigjax").warning("%s", load)
    data = data_hash(evaluations)
    identity = identity_of(evaluations, settings, data)
    names = evaluations[0].systems
    pairs = (
        [] if options.extend is None else [(names[a], names[b]) for a, b in pairs_of(evaluations[0], settings).tolist()]
    )
    stages = stages_of(options.checkpoint, options.extend, identity, pairs)
    with host_scope():
        boards = leaderboards(evaluations, Runner(settings, options.device, options.progress, stages))
    return Report(
        systems=tuple(system for board in boards for system in board.systems),
        comparisons=Comparisons.joined([part for board in boards for part in board.comparisons]),
        settings=settings,
        num_instances=evaluations[0].num_instances,
        num_units=boards[0].num_units,
        lower_is_better=tuple(each.metric.name for each in evaluations if not each.metric.higher_is_better),
        notes=tuple(dict.fromkeys(note for board in boards for note in board.notes)),
        signature=_signature(evaluations, settings, boards[0].num_units),
        data=data,
        again=lambda **changes: compare(evaluations, **values(settings, **changes)),
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
        "memory": None if settings.memory == Settings.memory else settings.memory,
        "sigjax": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items() if value is not None)
