"""The front door: files or a data frame -> `Evaluation`, whatever the format."""

import os
from collections.abc import Sequence
from typing import Any

from sigjax.files.opening import keeping_pipes
from sigjax.readers.evaluation import Evaluation
from sigjax.readers.options import FileOptions, Options, Path, ReadOptions
from sigjax.readers.reading import format_of, read_frame, read_sources, sources_of
from sigjax.readers.registry import FORMATS
from sigjax.readers.tables.tables import NPZ, saved_names
from sigjax.records import InputError
from sigjax.records.options import takes, values

READERS = tuple(FORMATS)


@takes(ReadOptions)
@keeping_pipes()
def read(*paths: Any, options: ReadOptions) -> Evaluation:
    r"""Read the results of systems: a table; one file per system; or gold files and one file per system.

    The format is recognized from names and content (`sigjax.readers.READERS` lists all). Any file may be packed with
    gzip.

    A table (tsv, csv, jsonl, parquet) with a column named `system` is long (one row per system and instance); any other
    is wide (one row per instance, one column per system). An .npz file holds one array per system, or what
    `Evaluation.save` wrote; its metric stays.

    Args:
        paths: one table; or one file per system; or, where `input` is given, the gold files (references, annotations).
            A data frame of pandas, polars or pyarrow (extra `dataframe`) is a table, too.
        options: see `ReadOptions`.

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
    given, metric, reader = Options(**values(options, FileOptions)), options.metric, options.reader
    if len(paths) == 1 and not isinstance(paths[0], str | os.PathLike | bytes):
        if options.input or reader is not None:
            raise InputError("a data frame is a table with all systems; leave out input and reader")
        return Evaluation.of(read_frame(paths[0], metric, given))
    (evaluation,) = read_sources(sources_of(paths, options.input), reader, [metric], given)
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
