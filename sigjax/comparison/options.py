"""The options of the front doors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sigjax.comparison.data import ReadingOptions
from sigjax.records import Settings
from sigjax.records.metric import AnyMetric
from sigjax.records.options import option, same
from sigjax.records.peers import Peer
from sigjax.records.settings import Alternative, Device, IntervalKind, Method, Resamples, Variant

if TYPE_CHECKING:
    from sigjax.report import Report
else:
    Report = Any  # `sigjax compare --help` needs the options, and not what makes reports

Path = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Settings):
    """All options of `compare`: the settings, and what changes how the work is done but never the numbers."""

    device: Device = option("auto", "Where to compute; changes the time, never the numbers.", group="Running")
    progress: bool = option(
        True,
        "Draw a progress bar.",
        'In a terminal (stderr) or a notebook; also log a warning ("sigjax") of what may take more than a minute, with '
        "time and memory.",
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
        rare=True,
    )
    compat: Peer | Sequence[Peer] | None = option(
        None,
        "Add what sacrebleu, scipy or ranx would say by their formulas on the same resamples.",
        "Beside the p-values, never instead of them; `Report.compat` has the numbers, and the text says how their "
        "p-value is made and where their decision is another one. See `comparison.compat`.",
    )


@dataclass(frozen=True, kw_only=True)
class DataOptions(CompareOptions, ReadingOptions):
    """All options of `compare`, and those by which it reads data."""


@dataclass(frozen=True, kw_only=True)
class PermutationOptions:
    """The options of `permutation_test`."""

    metric: AnyMetric = option(
        "mean",
        "A name, a `Metric`, a `SampleMetric`, or a function of sums `[..., stat] -> [...]`.",
        group="Main options",
    )
    method: Method = same(CompareOptions, "method")
    alternative: Alternative = same(CompareOptions, "alternative")
    resamples: Resamples = same(CompareOptions, "resamples")
    seed: int = same(CompareOptions, "seed")
    mid_p: bool = same(CompareOptions, "mid_p")
    budget: float | None = same(CompareOptions, "budget")
    memory: float = same(CompareOptions, "memory")
    device: Device = same(CompareOptions, "device")


@dataclass(frozen=True, kw_only=True)
class BootstrapOptions:
    """The options of `bootstrap_test`."""

    metric: AnyMetric = same(PermutationOptions, "metric")
    method: Literal["auto", "exact", "montecarlo"] = same(
        CompareOptions, "method", doc="Exact (no sampling), Monte Carlo, or auto: exact where that is fast."
    )
    alternative: Alternative = same(CompareOptions, "alternative")
    resamples: int = same(CompareOptions, "resamples", doc="Number of Monte Carlo resamples.", more="")
    level: float = same(CompareOptions, "level")
    interval: IntervalKind = same(CompareOptions, "interval", "percentile")
    variant: Variant = same(CompareOptions, "variant")
    seed: int = same(CompareOptions, "seed")
    device: Device = same(CompareOptions, "device")
