"""The options of the front doors, and what `compare` takes for data -> evaluations."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sigjax.formats import read_metrics, refuse_several_tasks
from sigjax.metrics import is_number_text
from sigjax.metrics.suites import suite_of
from sigjax.readers import Evaluation
from sigjax.readers.frames import read_frame
from sigjax.readers.options import FileOptions, FrameOptions, Options, listed_metrics
from sigjax.records import EvaluationRecord, Hint, InputError, Missing, Settings
from sigjax.records.metric import AnyMetric
from sigjax.records.options import option, options_of, same, values
from sigjax.records.settings import Alternative, Device, IntervalKind, Method, Resamples, Statistic, Variant


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(FrameOptions):
    """The options by which `compare` reads data."""

    filter: str | None = same(FileOptions, "filter")
    progress: bool = same(FileOptions, "progress")


def evaluations_of(
    data: Any,
    options: ReadingOptions,
    *,
    metrics: Sequence[AnyMetric | None] = (),
    selects: bool = False,
    single: bool = False,
    folds: bool = False,
    sliced: bool = False,
    missing: Missing = "error",
) -> list[EvaluationRecord]:
    """The evaluations of an evaluation or a list or dict of them, a dict of arrays, a data frame, a path or paths.

    `metrics` are for what is not read yet, instead of those of the options. `selects`: the caller takes the systems of
    `only` out of evaluations that are read already. `single`: one system is enough. `folds`: rows of tables are folds
    of a cross-validation, which columns named fold and repeat tell apart. `sliced`: tasks that lack the field of
    `strata` are left out. `missing`: what is done with missing results in files and frames, unless the options say it.
    """
    taken, by = ("only",) if selects else (), metrics or listed_metrics(options.metric)
    chosen = values(options, ReadingOptions, single=single, folds=folds, sliced=sliced)
    chosen |= {"missing": missing if options.missing == "error" else options.missing}
    is_path = isinstance(data, str | os.PathLike)
    del chosen["metric"]
    if is_path and os.path.isdir(data):
        return list(read_metrics(data, metrics=[] if by == [None] else by, **chosen))
    if is_path or are_paths(data):
        files, systems = ((), data) if isinstance(data, Mapping) else ([data] if is_path else data, ())
        evaluations = read_metrics(*files, input=systems, metrics=by, **chosen)
        refuse_several_tasks(evaluations)
        return list(evaluations)
    if isinstance(data, Mapping):
        if tasks := _tasks(data):
            refuse_others(options, taken, "evaluations are read already; give it to sigjax.read")
            return suite_of(tasks)
        refuse_others(options, ("metric", "missing", *taken), "these are arrays; use Evaluation.from_arrays")
        return [Evaluation.from_arrays(data, metric=each or "mean", missing=options.missing) for each in by]
    if isinstance(data, EvaluationRecord | Sequence):
        refuse_others(options, taken, "evaluations are read already; give it to sigjax.read")
        return list_evaluations(data)
    if not hasattr(type(data), "columns"):  # as data frames have
        raise InputError(
            "data must be an Evaluation, a dict of one array per system, a data frame, or the path of a table, "
            f"got {type(data).__name__}"
        )
    refuse_others(options, tuple(options_of(FrameOptions)), "this is a data frame")
    how = Options(**chosen)
    return [Evaluation(**vars(read_frame(data, each, how))) for each in by]


def are_paths(data: Any) -> bool:
    """Whether there are some in a list or dict, and all are paths."""
    is_several = isinstance(data, Mapping | Sequence) and not isinstance(data, str)
    given = list(data.values() if isinstance(data, Mapping) else data) if is_several else []
    return bool(given) and all(isinstance(each, str | os.PathLike) and not _is_number(each) for each in given)


def _is_number(path: Any) -> bool:
    """Whether a text is a number, of which no file has the name."""
    return isinstance(path, str) and is_number_text(path) and not os.path.exists(path)


def is_array(data: Any) -> bool:
    """Whether these are the numbers of one system."""
    others = isinstance(data, EvaluationRecord | Mapping | str | os.PathLike) or hasattr(type(data), "columns")
    is_list = isinstance(data, list | tuple)
    return not others and not (is_list and any(isinstance(each, EvaluationRecord | str | os.PathLike) for each in data))


def _tasks(data: Mapping[Any, Any]) -> dict[str, list[EvaluationRecord]]:
    """The evaluations of each task; none where the data are something else."""
    tasks = {str(name): [own] if isinstance(own, EvaluationRecord) else own for name, own in data.items()}
    lists = all(isinstance(of_task, list | tuple) and of_task for of_task in tasks.values())
    are_read = lists and all(isinstance(each, EvaluationRecord) for of_task in tasks.values() for each in of_task)
    return tasks if are_read else {}


def list_evaluations(given: Any) -> list[EvaluationRecord]:
    """An evaluation, or several, as a list."""
    is_list = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    evaluations: list[Any] = list(given) if is_list else [given]
    if others := {type(each).__name__ for each in evaluations if not isinstance(each, EvaluationRecord)}:
        numbers = others <= {"int", "float", "bool"} or any(hasattr(each, "dtype") for each in evaluations)
        by_system = "; numbers are given by system: {'A': [1, 0], 'B': [1, 1]}" if numbers else ""
        raise InputError(
            "expected an Evaluation, as sigjax.read and Evaluation.from_arrays give it, or a list of them, got "
            f"{' and '.join(sorted(others))}{by_system}"
        )
    return evaluations


def refuse_others(options: ReadingOptions, taken: Sequence[str], why: str) -> None:
    """Refuse options for files that are not taken."""
    for name, field in options_of(ReadingOptions).items():
        if name not in (*taken, "progress") and getattr(options, name) != field.default:
            raise InputError(f"{name} is for {'files' if name == 'filter' else 'tables'}, and {why}")


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
        "Written every few seconds and when a test is done. The same call, after the run was killed, goes on from "
        "there and gives the same report, on any device. The file stays; that of other data or settings is refused.",
        group="Running",
    )
    extend: Report | Path | None = option(
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
    statistic: Statistic = same(CompareOptions, "statistic")
    mid_p: bool = same(CompareOptions, "mid_p")
    budget: float | None = same(CompareOptions, "budget")
    memory: float = same(CompareOptions, "memory")
    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True, kw_only=True)
class BootstrapOptions:
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
    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress")
