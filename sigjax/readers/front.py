"""The front door: files -> `Evaluation`, whatever the format."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sigjax.readers.detect import choose_format
from sigjax.readers.files import files_inside, keeping_pipes
from sigjax.readers.formats import Format, Sources
from sigjax.readers.frames import FRAME, PARQUET, frame_table
from sigjax.readers.goldfiles import gold_note
from sigjax.readers.naming import given_name, name_systems
from sigjax.readers.options import Options, check_options, listing
from sigjax.readers.registry import FORMATS
from sigjax.readers.tables import NPZ, read_table, saved_names
from sigjax.records import Array, Evaluation, InputError, Metric, Missing, SampleMetric, Unit

READERS = tuple(FORMATS)
Path = str | os.PathLike[str]
Score = str | Metric | SampleMetric | Callable[[Array], Array] | None


@keeping_pipes()
def read(
    *paths: Any,
    input: Sequence[Path] | Mapping[str, Path] = (),
    metric: Score = None,
    counts: Mapping[str, str] | None = None,
    reader: str | None = None,
    id: str | None = None,
    systems: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    runs: str | None = None,
    cluster: str | None = None,
    strata: str | None = None,
    unit: Unit = "instance",
    missing: Missing = "error",
    lower_is_better: bool = False,
    filter: str | None = None,
    swap: Sequence[str] = (),
    one_based: bool = False,
    tokenize: str | None = None,
    lowercase: bool = False,
    cache: bool = True,
    progress: bool = False,
) -> Evaluation:
    r"""Read the results of systems: a table, a file a system, or gold files and a file a system.

    The format is found from names and content (`sigjax.readers.READERS` lists all); any file may be packed with gzip.

    A table (tsv, csv, jsonl, parquet) with a column named `system` is long (a row a system and instance); any other is
    wide (a row an instance, a column a system). An .npz file holds one array a system, or what `Evaluation.save` wrote;
    its metric stays.

    Args:
        paths: one table; or a file a system; or, where `input` is given, the gold files (references, annotations). A
            data frame of pandas, polars or pyarrow (extra `dataframe`) is a table, too.
        input: the outputs of the systems, a file each, named after their files; or name of each system -> file.
        metric: a name, a `Metric`, a `SampleMetric`, or a function of sums `[..., stat] -> [...]`; what the format
            gives first when left out.
        counts: input of the metric -> column of numbers, such as `{"tp": "las_correct"}`; for a function, its
            statistics in order.
        reader: the format; found from name and content when left out.
        id: the column of instance ids.
        systems: the systems to compare, in this order; all of them when left out.
        ignore: columns to leave out.
        runs: the column that tells apart trials (epochs, seeds) of the same instance; they are resampled together.
        cluster: a column or field, or else a file with one label a line; instances of one cluster are resampled
            together.
        strata: as `cluster`; the bootstrap draws within each stratum.
        unit: "response" for an instance a response (a span, link, bracket or term that some system gave, or of the gold
            standard) instead of one a sentence. Swapping then moves single responses from one system to the other, as
            in Yeh (2000). Scores are the same. The test takes responses for independent, while those of one sentence
            often depend on each other: then sentences, the default, are the safer unit.
        missing: what to do with instances that some system lacks: refuse them ("error"), leave them out for all
            ("drop") or count them as 0 ("zero"; a gold size is copied from a system that has the instance).
        lower_is_better: take the lower of two scores for the better, whatever the metric says.
        filter: which of several kinds of results to take, where files hold them (a filter of lm-evaluation-harness, a
            split of HELM, an annotator of AlpacaEval, a board of SWE-bench).
        swap: systems whose alignments are target-source.
        one_based: alignments count words from 1.
        tokenize: the tokenizer of BLEU, one of sacrebleu's, such as "zh" or "ja-mecab".
        lowercase: whether metrics of texts ignore case.
        cache: whether to keep statistics of texts in the user's cache folder, and use those there.
        progress: whether to draw a progress bar when stderr is a terminal and extraction takes long.

    Raises:
        InputError: a file or an option cannot be used; the message names the place and what to do.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> table = pathlib.Path(folder.name, "table.csv")
        >>> _ = table.write_text("id,A,B\nx,1,0\ny,1,1\n")
        >>> evaluation = read(table, metric="accuracy")
        >>> evaluation.systems, evaluation.ids
        (('A', 'B'), ('x', 'y'))
        >>> folder.cleanup()
    """
    options = Options(
        counts=counts,
        id=id,
        systems=systems,
        ignore=ignore,
        runs=runs,
        cluster=cluster,
        strata=strata,
        unit=unit,
        missing=missing,
        lower_is_better=lower_is_better,
        filter=filter,
        swap=swap,
        one_based=one_based,
        tokenize=tokenize,
        lowercase=lowercase,
        cache=cache,
        progress=progress,
    )
    if len(paths) == 1 and not isinstance(paths[0], str | os.PathLike | bytes):
        if input or reader is not None:
            raise InputError("a data frame is a table with all systems; leave out input and reader")
        return _read_frame(paths[0], metric, options)
    return _read(_sources(paths, input), reader, metric, options)


@keeping_pipes()
def read_metrics(
    *paths: Path, input: Sequence[Path] = (), metrics: Sequence[str] = (), reader: str | None = None, **options: Any
) -> list[Evaluation]:
    """Read the same files once for each metric; without metrics, for all that a file of saved statistics holds.

    Args:
        paths: as in `read`.
        input: as in `read`.
        metrics: names.
        reader: as in `read`.
        options: the other options of `read`.

    Raises:
        InputError: as `read`.
    """
    sources = _sources(paths, input)
    names: Sequence[str | None] = metrics
    if not metrics and len(sources.files) == 1 and not sources.systems:
        names = saved_names(sources.files[0]) if _format(sources, reader, None) is NPZ else ()
    shared = Options(**options)
    # The tokenizer is BLEU's: beside it, other metrics leave it alone.
    others = replace(shared, tokenize=None) if "bleu" in names else shared
    return [_read(sources, reader, name, shared if name == "bleu" else others) for name in names or [None]]


def _read_frame(frame: Any, metric: Score, options: Options) -> Evaluation:
    """The evaluation of a data frame; the options have no metric yet."""
    options = replace(options, metric="mean" if metric is None else metric)
    check_options(options)
    _check_particular(FRAME, PARQUET, options)
    return _turned(read_table(frame_table(frame), options), options)


def _read(sources: Sources, reader: str | None, metric: Score, options: Options) -> Evaluation:
    """The evaluation of files as they are given, which may stand for systems; the options have no metric yet."""
    check_options(options if metric is None else replace(options, metric=metric))
    found = _format(sources, reader, metric)
    _check_particular(f"format {found.name}", found, options)
    first = found.metrics[0] if found.metrics else "mean"
    options = replace(options, metric=first if metric is None else metric)
    if found.takes == "systems":
        if not sources.systems:
            sources = Sources((), *name_systems(sources.files))
        sources = replace(sources, systems={name: _file_of(path, found) for name, path in sources.systems.items()})
    evaluation = found.read(sources, options)
    if found.takes == "gold":
        evaluation = replace(evaluation, notes=(*evaluation.notes, gold_note(sources)))
    return _turned(evaluation, options)


def _turned(evaluation: Evaluation, options: Options) -> Evaluation:
    """The evaluation with the direction of its metric as asked for."""
    if not options.lower_is_better:
        return evaluation
    return replace(evaluation, metric=replace(evaluation.metric, higher_is_better=False))


def _sources(paths: Sequence[Path], input: Sequence[Path] | Mapping[str, Path]) -> Sources:
    """The files as they are given."""
    if isinstance(input, str | os.PathLike):
        raise InputError(f"input: expected a list of files, got the path {os.fsdecode(input)!r}; write it as a list")
    files = tuple(os.fsdecode(path) for path in paths)
    if isinstance(input, Mapping):
        outputs = {str(name): os.fsdecode(path) for name, path in input.items()}
        sources = Sources(files, outputs, frozenset(outputs))
    else:
        sources = Sources(files, *name_systems([os.fsdecode(path) for path in input]))
    if not (sources.files or sources.systems):
        raise InputError("no file is given; expected a table, a file a system, or gold files and the systems' files")
    return sources


def _format(sources: Sources, reader: str | None, metric: object) -> Format:
    files = sources.files if sources.systems else tuple(path for _, path in map(given_name, sources.files))
    return choose_format(files, tuple(sources.systems.values()), reader=reader, metric=metric)


def _file_of(path: str, found: Format) -> str:
    """The file of a system that is given by its folder."""
    if not found.folder or not os.path.isdir(path):
        return path
    inside = files_inside(path, found.folder)
    if len(inside) == 1:
        return inside[0]
    names = [os.path.basename(file) for file in inside]
    holds = f"{len(inside)} files {found.folder} ({listing(names)}); give one of them" if inside else "none"
    raise InputError(f"{path}: expected one file {found.folder} in this folder, got {holds}")


def _check_particular(what: str, found: Format, options: Options) -> None:
    """Refuse options that mean nothing for a format."""
    for name in ("filter", "swap", "one_based", "runs", "tokenize", "lowercase"):
        if getattr(options, name) and name not in found.options:
            raise InputError(f"--{name.replace('_', '-')} means nothing for the {what}; leave it out")
    if options.unit == "response" and "unit" not in found.options:
        takers = ", ".join(name for name, each in FORMATS.items() if "unit" in each.options)
        raise InputError(f"--unit response needs single responses, as the formats {takers} have; the {what} has none")
