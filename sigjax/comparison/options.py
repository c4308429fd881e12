"""The options of `compare`, `permutation_test` and `bootstrap_test`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sigjax.readers.options import ReadOptions
from sigjax.records import Hint, Settings
from sigjax.records.metric import AnyMetric
from sigjax.records.options import StrPath, option, same
from sigjax.records.settings import Alternative, Device, IntervalKind, Method, Resamples, Statistic, Variant

if TYPE_CHECKING:
    from sigjax.report import Report
else:
    Report = Any  # `sigjax compare --help` needs the options, but not the module that makes reports


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Settings):
    """All options of `compare`: the settings, how to read the data, and how to run the work."""

    read: Mapping[str, Any] | None = option(
        None,
        "Options of `sigjax.read` by name, for data that are not read yet, such as `{'id_column': 'N'}`.",
        "`compare(data, read=options)` is `compare(sigjax.read(data, **options))`.",
        group="Input",
        of=ReadOptions,
    )
    device: Device = option("auto", "Where to compute; changes the time, never the numbers.", group="Running")
    progress: bool = same(
        ReadOptions,
        "progress",
        more='In a terminal (stderr) or a notebook; also log a warning ("sigjax") of what may take more than a minute, '
        "with time and memory.",
    )
    checkpoint: StrPath | None = option(
        None,
        "Keep the progress in this file; the same command goes on from there.",
        "Written every few seconds and when a test is done. The same call, after the run was killed, goes on from "
        "there and gives the same report, on any device. The file stays; that of other data or settings is refused.",
        group="Running",
    )
    extend: Report | StrPath | None = option(
        None,
        f"Go on from this JSON report of fewer resamples; {Hint('resamples')} is the new total.",
        "An earlier `Report`, or its JSON file, of the same data and settings but for fewer resamples. The report is "
        "that of a new run; permutation tests go on from the counts of the earlier one, while the bootstrap, whose "
        "replicates it does not hold, draws all again.",
        group="Running",
        rare=True,
    )
    executor: Any = option(
        None,
        "Where shards of the resamples are made: anything with `submit`, as `concurrent.futures.Executor` has it.",
        "Such as `ProcessPoolExecutor(mp_context=get_context('spawn'))`, `Client(...).get_executor()` of dask, "
        "`MPIPoolExecutor` of mpi4py, `AutoExecutor` of submitit. What is submitted can be pickled, if the metric can. "
        "The report is that of one process, byte for byte. See `sigjax help distributed`.",
        group="Running",
    )
    shards: int | None = option(
        None,
        "How many shards an executor makes; default: one per core of this machine.",
        "More than there are workers even out their speed; each computes the exact tests for itself.",
        group="Running",
        least=1,
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a test or a study runs: these options change no number."""

    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True, kw_only=True)
class PermutationOptions(RunOptions):
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
    statistic: Statistic = same(CompareOptions, "statistic")
    mid_p: bool = same(CompareOptions, "mid_p")
    budget: float | None = same(CompareOptions, "budget")
    memory: float = same(CompareOptions, "memory")


@dataclass(frozen=True, kw_only=True)
class BootstrapOptions(RunOptions):
    """The options of `bootstrap_test`."""

    metric: AnyMetric = same(PermutationOptions, "metric")
    method: Literal["auto", "exact", "montecarlo"] = same(
        CompareOptions, "method", doc="Exact (no sampling), Monte Carlo, or auto: exact where that is fast."
    )
    alternative: Alternative = same(CompareOptions, "alternative")
    resamples: int = same(CompareOptions, "resamples", doc="Number of Monte Carlo resamples.", more="")
    confidence_level: float = same(CompareOptions, "confidence_level")
    interval: IntervalKind = same(CompareOptions, "interval", "percentile")
    variant: Variant = same(CompareOptions, "variant")
    seed: int = same(CompareOptions, "seed")
