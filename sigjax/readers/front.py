"""The front door: files or a data frame -> `Evaluation`, whatever the format."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from sigjax.files.opening import keeping_pipes
from sigjax.readers.evaluation import Evaluation
from sigjax.readers.options import Options
from sigjax.readers.reading import Path, Score, format_of, read_frame, read_sources, sources_of
from sigjax.readers.registry import FORMATS
from sigjax.readers.tables.tables import NPZ, saved_names
from sigjax.records import InputError, Missing, Unit

READERS = tuple(FORMATS)


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
        return Evaluation.of(read_frame(paths[0], metric, options))
    (evaluation,) = read_sources(sources_of(paths, input), reader, [metric], options)
    return Evaluation.of(evaluation)


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
    sources = sources_of(paths, input)
    names: Sequence[str | None] = metrics
    if not metrics and len(sources.files) == 1 and not sources.systems:
        names = saved_names(sources.files[0]) if format_of(sources, reader, None) is NPZ else ()
    return [Evaluation.of(each) for each in read_sources(sources, reader, names or [None], Options(**options))]
