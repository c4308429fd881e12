"""`read`: files, a data frame or arrays become an `Evaluation`; files are read once for all metrics.

The option `reader` names the format. Without it, the format is recognized from the metric, and from the name and the
first bytes of the first file.
"""

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from filecmp import cmp
from itertools import chain, product
from pathlib import PurePath
from typing import Any, cast

import sigjax.formats.declarations as table
from sigjax.metrics import is_number_text, unknown_metric
from sigjax.metrics.suites import of_tasks, suite_of
from sigjax.readers.evaluation import Evaluation
from sigjax.readers.join import Sources, directed, select
from sigjax.readers.options import (
    Options,
    ReadOptions,
    check_directions,
    check_meant,
    check_options,
    given_name,
    listed_metrics,
    listing,
    name_systems,
    quote,
    reading,
    select_systems,
)
from sigjax.readers.table import DataTable, is_missing, is_text
from sigjax.records import EvaluationRecord, Hint, InputError, Missing
from sigjax.records.metric import AnyMetric, in_suite
from sigjax.records.options import StrPath, check, options_of, takes, values
from sigjax.run.context import progress_bar
from sigjax.run.files import folder_refusal, is_spreadsheet, keeping_pipes, read_head, read_text

_PLAIN = frozenset({"labels", "texts"})
"""Names of formats of plain lines, which almost any file could have."""
_TABLE = (
    f"looks like a table, which is read alone, with all systems in it; with {Hint('i')}, texts are one per line, and "
    f"labels one per line or with an id ({Hint('reader', 'id-labels')}; {Hint('reader', 'labels')} and "
    f"{Hint('reader', 'texts')} take lines as they are; {Hint('reader')} names any other format)"
)


def choose_formats(
    files: Sequence[str], outputs: Sequence[str], *, reader: str | None, metrics: Sequence[object]
) -> list[table.Format]:
    """Return the format for each metric; `reader` names the format, or is None.

    On the command line, `files` are before -i, and `outputs` (the files of systems) are after -i.
    """
    if reader is not None:
        return [_named(reader, files, outputs, metric) for metric in metrics]
    first = (*files, *outputs)[0]
    name, head = read_head(first)
    if curve := next((kind for kind, looks in table.CURVES.items() if looks(name, head)), None):
        from sigjax.formats.curves import refuse_curve

        refuse_curve(first, curve)
    if len(files) > 1 and not outputs and table.FORMATS["mt-metrics-eval"].fits(*read_head(first)):
        raise InputError(
            f"{files[1]}: a .seg.score file has all systems in it; compare one at a time, or several annotators in one "
            f"table with the columns system, id, annotator and score ({Hint('runs', 'COLUMN')})"
        )
    formats = likely_formats(files, outputs, (name, head))
    if not formats:
        raise _unknown(files or outputs, outputs, formats_taking(files, outputs))
    likely = formats[0]

    def chosen(metric: object) -> table.Format:
        serving = next((each for each in formats if each.serves(metric)), None)
        if serving is None:
            raise InputError(
                f"{first}: {_not_served(likely, metric)}; another format is named with {Hint('reader', 'NAME')}"
            )
        if metric is None and serving.name == "texts":
            names = ", ".join(each.name for each in formats_taking(files, outputs))
            raise InputError(
                f"{first}: lines of text could be many things; say what to compare them by, such as "
                f"{Hint('m', 'bleu')}, or name the format with {Hint('reader')} ({names})"
            )
        return serving

    formats = list(map(chosen, metrics))
    for format, metric in zip(formats, metrics, strict=True):
        format.check_metric(metric)
    for file in outputs if any(each.name in _PLAIN for each in formats) else ():
        # Otherwise the ids and separators of a table would be scored. Pipes are not checked, because they can be read
        # only once.
        if os.path.isfile(file) and table.looks_tabular(*read_head(file)):
            raise InputError(f"{file}: {_TABLE}")
    return formats


def likely_formats(
    files: Sequence[str], outputs: Sequence[str], head_of_first: tuple[str, bytes] | None = None
) -> list[table.Format]:
    """Return the formats that the first file looks like, specific formats before general formats; perhaps none.

    `files` are the files before -i, and `outputs` the files of systems after -i. `head_of_first` is what `read_head`
    found in the first file, if the file has been read. If the file can have only one format, return only this format,
    whatever the metric.
    """
    first = (*files, *outputs)[0]
    name, head = head_of_first or read_head(first)
    alone = len(files) == 1 and not outputs

    def is_likely(format: table.Format) -> bool:
        if name.endswith(table.DOCUMENTS) and not format.certain:
            return False
        if os.path.isdir(first):
            return bool(format.inside(first))
        scored = alone or not format.parts or _is_scored(name, head)
        return scored and format.fits(name, head) and format.confirmed(files, outputs)

    looking = filter(is_likely, formats_taking(files, outputs, None if os.path.isdir(first) else (name, head)))
    likely = next(looking, None)
    if likely is None:
        return []
    return [likely] if likely.certain else [likely, *looking]


def _is_scored(name: str, head: bytes) -> bool:
    """Whether a file may be a table with the scores of one system.

    It may be if its name or its first bytes are those of a table. Otherwise, its first lines (except line 1, which may
    be a header) must end in a number or in a missing result.
    """
    named = name.endswith((".csv", ".tsv", ".json", ".jsonl", ".parquet", ".md", ".tex"))
    if named or head.startswith((b"PAR1", b"[", b"{")) or is_spreadsheet(name, head):
        return True
    last = [
        re.split(rb"[\t,;| ]", line.strip(b"\r |"))[-1].decode("utf-8", "replace")
        for line in table.head_lines(head)[1:]
    ]
    return bool(last) and all(is_missing(cell) or not is_text(cell) for cell in last)


def formats_taking(
    files: Sequence[str], outputs: Sequence[str], first: tuple[str, bytes] | None = None
) -> list[table.Format]:
    """Return the formats that may fit the files, in the order in which they are tried.

    `files` are before -i (gold files, or data without -i), and `outputs` are after -i (files of systems). If `first`
    (name and first bytes of the first file) is given, leave out formats that this file cannot have.
    """
    if outputs:
        taken: tuple[table.Takes, ...] = ("gold",) if files else ("systems",)
    else:
        taken = ("file", "systems") if len(files) == 1 else ("systems",)
    known = table.all_formats(first).values()
    return [each for each in known if each.takes in taken or (each.parts and "systems" in taken)]


def _unknown(files: Sequence[str], outputs: Sequence[str], fitting: Sequence[table.Format]) -> InputError:
    first = files[0]
    name, head = read_head(first)
    if not head.strip():
        read_text(first)  # raises the error for an empty file or a folder
    if outputs and table.looks_tabular(name, head):
        return InputError(f"{first}: {_TABLE}")
    if _MEANS.fullmatch(PurePath(name).name) and b'"results"' in head:
        return InputError(
            f"{first}: holds the means of lm-evaluation-harness, not the scores of instances; give its folder, which "
            "has samples_*.jsonl, too, if lm_eval ran with --log_samples"
        )
    if len(files) > 1 and not outputs and not os.path.isdir(first):
        gold, systems = split_gold(files)
        formats = likely_formats([gold], systems) if systems else []
        if formats:
            more, metrics = ["..."] * (len(systems) > 2), formats[0].metrics[:1]
            more += ["-m", *metrics] if metrics else []
            command = Hint("sigjax compare", *map(shlex.quote, [gold, "-i", *systems[:2]]), *more)
            return InputError(
                f"{first}: unknown format of files with one system each; are these gold files first "
                f"({formats[0].title})? write {command} (other formats: {Hint('reader', 'NAME')})"
            )
    if document := next((file for file in files if file.lower().endswith(table.DOCUMENTS)), None):
        return InputError(f"{document}: holds neither results, nor gold labels or texts, by its name; leave it out")
    if not outputs and head.lstrip().startswith(b"{") and not name.endswith(".jsonl"):
        from sigjax.readers.json_files import parse_json, record_paths, records_question

        with suppress(InputError):  # the file may not be JSON
            if paths := record_paths(parse_json(first, read_text(first))):
                return InputError(f"{first}: {records_question(paths)}")
    known = ", ".join(each.name for each in fitting)
    return InputError(f"{first}: unknown format; known: {known}; say which with {Hint('reader', 'NAME')}")


def _named(reader: str, files: Sequence[str], outputs: Sequence[str], metric: object) -> table.Format:
    named, _ = table.named_format(reader)
    reader = named.name
    if named.takes == "gold" and not (outputs and files):
        raise InputError(f"reader {reader!r} takes gold files, and the files of the systems with {Hint('i')}")
    if named.takes == "file" and not named.parts and (outputs or len(files) != 1):
        raise InputError(f"reader {reader!r} takes one file with all systems, without {Hint('i')}")
    if named.takes != "gold" and outputs and files:
        raise InputError(f"reader {reader!r} takes no gold file; give one file per system")
    if not named.serves(metric):
        raise InputError(_not_served(named, metric))
    named.check_metric(metric)
    return named


def _not_served(format: table.Format, metric: object) -> str:
    close = unknown_metric(str(metric), format.metrics)
    question = f" ({close})" if close else ""
    return (
        f"the format {format.name} has no metric {quote(str(metric))}{question}; it gives {', '.join(format.metrics)}"
    )


_MEANS = re.compile(r"results_\d{4}-\d\d-\d\dt[\d.:-]+\.json")
_GOLD_NAME = re.compile(r"(?:^|[^a-z])(?:gold|golds|ref[a-d]?|refs|references?|truth|qrels)(?:[^a-z]|$)")
_NO_SYSTEM = re.compile(r"(source|src|input|published|scores)([^a-z].*)?")


def split_gold(files: Sequence[str]) -> tuple[str, list[str]]:
    """Guess which file is the gold file (by its name, else the first), and which files belong to systems.

    Documents, and files named like source texts or published scores, are left out.

    >>> split_gold(["wmt/A.txt", "wmt/B.txt", "wmt/README.md", "wmt/refA.txt", "wmt/source.txt"])
    ('wmt/refA.txt', ['wmt/A.txt', 'wmt/B.txt'])
    """
    names = {file: PurePath(file.lower().removesuffix(".gz")) for file in files}
    files = [file for file in files if names[file].suffix not in table.DOCUMENTS] or files
    gold = next((file for file in files if _GOLD_NAME.search(names[file].name)), files[0])
    return gold, [file for file in files if file != gold and not _NO_SYSTEM.fullmatch(names[file].stem)]


@takes(ReadOptions)
def read(*data: Any, options: ReadOptions) -> Evaluation:
    r"""Read the results of systems: a table; one file per system; gold files and one file per system; or arrays.

    The format is recognized from names and content; `sigjax help formats` lists all formats. Any file may be packed
    with gzip.

    A table is tsv, csv, jsonl, json, parquet, or has blanks between columns. With a column of systems (named `system`,
    `model`, `run`, ...), it is a long table: one row per system and instance. Otherwise it is a wide table: one row per
    instance, one column per system. Or there is one table per system, with ids and scores. A note says what was taken
    from which column. An .npz file holds one array per system, or what `Evaluation.save` wrote, with its metric.

    `compare` and all studies read their data with this function; they pass on the options in `read={...}`.

    Args:
        data: one table; or one file per system; or, if `input` is given, the gold files (references, annotations).
            Several paths may be a list. A data frame of pandas, polars or pyarrow (extra `dataframe`) is a table, too.
            A dict has one path, or one array, per system. For an `Evaluation`, `only` selects some systems.
        options: the fields of `ReadOptions`, as keyword arguments.

    Returns:
        An `Evaluation`; for a list of metrics, a list of evaluations, which `compare` takes.

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
        >>> read({"A": [1, 1], "B": [0, 1]}, metric="accuracy").stats[:, :, 0].tolist()
        [[1, 1], [0, 1]]
        >>> folder.cleanup()
    """
    evaluations = read_data(data[0] if len(data) == 1 else data, options)
    made = [each if isinstance(each, Evaluation) else Evaluation(**vars(each)) for each in evaluations]
    return cast("Evaluation", made) if len(made) > 1 or isinstance(options.metric, list | tuple) else made[0]


def refuse_several_tasks(evaluations: Sequence[EvaluationRecord]) -> None:
    """Raise an error if evaluations are of several tasks."""
    tasks = [each.title or "" for each in evaluations if in_suite(each.metric.name, each.title)]
    if tasks:
        raise InputError(
            f"the files are of several tasks ({listing(tasks[1:])}); only compare takes several at once: "
            f"give the files of one, or {Hint('metric', 'NAME')} that only one has"
        )


def read_data(
    data: Any,
    options: ReadOptions | Mapping[str, Any] | None = None,
    *,
    metrics: Sequence[AnyMetric | None] | None = None,
    tasks: bool = False,
    single: bool = False,
    folds: bool = False,
    sliced: bool = False,
    missing: Missing = "error",
    progress: bool = True,
) -> list[EvaluationRecord]:
    """Read data of any kind (paths, a data frame, a dict of arrays, evaluations): one evaluation per metric.

    `options` are the options of `read`. The other arguments are for callers:

    - `metrics`: the metrics to read, if the data are not read yet; an empty list means all metrics in a file of saved
      statistics.
    - `tasks`: several tasks are allowed. `single`: a single system is allowed.
    - `folds`: rows are results of cross-validation, with columns named fold and repeat.
    - `sliced`: leave out tasks that do not have the field named by `strata`.
    - `missing`: what to do about missing results in files and frames, if `options.missing` is "error" (the default).
    - `progress`: whether to show progress.
    """
    if not options and isinstance(data, list) and all(isinstance(each, EvaluationRecord) for each in data):
        return data
    with keeping_pipes():
        options = reading(options)
        options = replace(options, progress=options.progress and progress)
        more = {"single": single, "folds": folds, "sliced": sliced}
        more |= {"missing": missing if options.missing == "error" else options.missing}
        own = Options(**values(options, Options, **more))
        check(own)
        by = listed_metrics(options.metric) if metrics is None else list(metrics)
        if are_paths(data):
            return _evaluate_files(data, options, own, by, tasks=tasks)
        if isinstance(data, Mapping):
            if given := _tasks(data):
                return suite_of({name: _with_only(own, options) for name, own in given.items()})
            check_meant(options, "arrays, which Evaluation.from_arrays takes with ids and clusters", _ARRAY_OPTIONS)
            own = replace(own, missing=options.missing)  # the caller's default is only for files and frames
            return [_evaluate_arrays(data, replace(own, metric="mean" if each is None else each)) for each in by]
        if isinstance(data, EvaluationRecord | Sequence):
            return _with_only(list_evaluations(data), options)
        if not hasattr(type(data), "columns"):  # data frames have columns
            raise InputError(
                "data must be an Evaluation, a dict of one array per system, a data frame, or the path of a table, "
                f"got {type(data).__name__}"
            )
        from sigjax.readers.frames import read_frame

        return [read_frame(data, each, options, **more) for each in by]


def _evaluate_files(
    data: Any, given: ReadOptions, options: Options, by: Sequence[AnyMetric | None], *, tasks: bool
) -> list[EvaluationRecord]:
    """Return the evaluations of files by each metric in `by`.

    If `by` is empty, and the file has saved statistics, return the evaluations by all metrics in it. `tasks` says
    whether several tasks are allowed.
    """
    files: Any = [data] if isinstance(data, _PATH) else data
    input = given.input
    if isinstance(data, Mapping):
        if input:
            raise InputError(f"{Hint('input')} names the files of systems, as these do; leave one of them out")
        files, input = (), data
    sources = sources_of(files, input)
    reader = reader_for(sources, given.reader, options.records)
    if not by and len(sources.files) == 1 and not sources.systems:
        from sigjax.readers.saved import saved_names

        by = saved_names(sources.files[0]) if formats_of(sources, reader, [None]) == [table.FORMATS["npz"]] else ()
    evaluations = _evaluations(sources, reader, by or [None], options)
    if not tasks:
        refuse_several_tasks(evaluations)
    return evaluations


_ARRAY_OPTIONS = frozenset(("metric", "missing", "only", "lower_is_better", "higher_is_better"))
"""Options of `read` that have a meaning for arrays."""


def _evaluate_arrays(arrays: Mapping[Any, Any], options: Options) -> EvaluationRecord:
    """Make an evaluation from a mapping that has one array for each system."""
    check_directions(options)
    if options.only is not None:
        names = {str(name): name for name in arrays}
        arrays = {name: arrays[names[name]] for name in select_systems("the arrays", list(names), options)}
    return directed(Evaluation.from_arrays(arrays, metric=options.metric, missing=options.missing), options)


def _with_only(evaluations: Sequence[EvaluationRecord], options: ReadOptions) -> list[EvaluationRecord]:
    """Select the systems that the option `only` names from evaluations."""
    check_meant(options, "an Evaluation, which is read already", ("only",))
    return [each if options.only is None else select(each, options.only) for each in evaluations]


_PATH = str | os.PathLike | bytes


def are_paths(data: Any) -> bool:
    """Whether `data` are a path, a dict of paths, or a list with at least one path.

    A list that also has other things raises an error later.
    """
    if isinstance(data, _PATH):
        return True
    if isinstance(data, Mapping):
        return bool(data) and all(map(_is_path, data.values()))
    is_none = isinstance(data, tuple) and not data  # no files: all may be given by `input`
    return is_none or (isinstance(data, Sequence) and any(map(_is_path, data)))


def _is_path(data: Any) -> bool:
    """Whether `data` is a path. A text that is a number counts as a path only if there is such a file."""
    is_number = isinstance(data, str) and is_number_text(data) and not os.path.exists(data)
    return isinstance(data, _PATH) and not is_number


def is_array(data: Any) -> bool:
    """Whether `data` are the numbers of one system, such as an array or a list."""
    others = isinstance(data, EvaluationRecord | Mapping | str | os.PathLike) or hasattr(type(data), "columns")
    is_list = isinstance(data, list | tuple)
    return not others and not (is_list and any(isinstance(each, EvaluationRecord | str | os.PathLike) for each in data))


def _tasks(data: Mapping[Any, Any]) -> dict[str, list[EvaluationRecord]]:
    """If the data are a dict of evaluations, return a dict from each task to its evaluations; else an empty dict."""
    tasks = {str(name): [own] if isinstance(own, EvaluationRecord) else own for name, own in data.items()}
    lists = all(isinstance(of_task, list | tuple) and of_task for of_task in tasks.values())
    are_read = lists and all(isinstance(each, EvaluationRecord) for of_task in tasks.values() for each in of_task)
    return tasks if are_read else {}


def list_evaluations(given: Any) -> list[EvaluationRecord]:
    """Return one or several evaluations as a list; raise an error for anything else."""
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


def read_rows(path: str | os.PathLike[str], options: Options) -> DataTable:
    """Parse a file to a table without interpreting its columns; raise an error if its format is not one of tables."""
    sources = sources_of([path], ())  # pyright: ignore[reportArgumentType]
    (format,) = formats_of(sources, reader_for(sources, None, options.records), [None])
    parse = format.parser
    if parse is None:
        raise InputError(f"{sources.files[0]}: is of the format {format.name}, and no table of rows and columns")
    return parse(sources.files[0], options, alone=True)


def sources_of(paths: Sequence[StrPath], input: Sequence[StrPath] | Mapping[str, StrPath]) -> Sources:
    """Collect the given files: `paths` are the files before -i, and `input` the files of systems after -i."""
    if isinstance(input, str | os.PathLike):
        raise InputError(f"input: expected a list of files, got the path {os.fsdecode(input)!r}; write it as a list")
    for path in paths:
        if not isinstance(path, str | os.PathLike | bytes):
            raise InputError(f"expected the paths of files, got {type(path).__name__}; a data frame is given alone")
    files = _system_folders(tuple(os.fsdecode(path) for path in paths))
    if isinstance(input, Mapping):
        outputs = {str(name): os.fsdecode(path) for name, path in input.items()}
        sources = Sources(files, outputs, frozenset(outputs))
    else:
        sources = Sources(files, *name_systems([os.fsdecode(path) for path in input])) if input else Sources(files, {})
    if not (sources.files or sources.systems):
        raise InputError("no file is given; expected a table, one file per system, or gold files and systems")
    return sources


def _system_folders(files: tuple[str, ...]) -> tuple[str, ...]:
    """If the only file is a folder with one folder per system, return these folders; else return the files as given."""
    if len(files) != 1 or not os.path.isdir(files[0]):
        return files
    formats = table.all_formats().values()

    def holds(folder: str) -> bool:
        return os.path.isdir(folder) and any(each.inside(folder) for each in formats)

    if holds(files[0]):
        return files
    folders = [os.path.join(files[0], name) for name in sorted(os.listdir(files[0]))]
    return tuple(filter(holds, folders)) or files


def formats_of(sources: Sources, reader: str | None, metrics: Sequence[object]) -> list[table.Format]:
    """Return the format of the files for each metric."""
    return choose_formats(*files_of(sources), reader=reader, metrics=metrics)


def files_of(sources: Sources) -> tuple[Sequence[str], Sequence[str]]:
    """Return two lists: the files before -i, and the files after it."""
    return [given_name(file)[1] for file in sources.files], tuple(sources.systems.values())


def _files_of(path: str, format: table.Format) -> tuple[str, ...]:
    """Return the files of a system, which is given by a file or by a folder.

    From a folder, take the only file of this format, or one file per task if the format allows several tasks.
    """
    if not format.folder or not os.path.isdir(path):
        return (path,)
    inside = format.inside(path)
    if len(inside) == 1 or (inside and format.tasks):
        return tuple(inside)
    names = [os.path.basename(file) for file in inside]
    holds = f"{len(inside)} files {format.folder} ({listing(names)}); give one of them" if inside else "none"
    raise InputError(f"{path}: expected one file {format.folder} in this folder, got {holds}")


def _evaluations(
    sources: Sources, reader: str | None, metrics: Sequence[AnyMetric | None], options: Options
) -> list[EvaluationRecord]:
    """Return the evaluations by all metrics; files are read once for all metrics of one format.

    `options` have no metric yet.
    """
    for metric in metrics:
        check_options(options if metric is None else replace(options, metric=metric))
    with progress_bar("read", visible=options.progress):
        formats = formats_of(sources, reader, metrics)
        options = replace(options, parameters={} if reader is None else table.named_format(reader)[1])
        different = {each.name: each for each in formats}
        readings = {name: read_as(each, sources, options) for name, each in different.items()}
        tasks: dict[str, list[EvaluationRecord]] = {}
        for each, metric in zip(formats, metrics, strict=True):
            first = each.metrics[0] if each.metrics else "mean"
            with_metric = replace(options, metric=first if metric is None else metric)
            for task, evaluation in readings[each.name](with_metric).items():
                tasks.setdefault(task, []).extend([] if evaluation is None else [directed(evaluation, options)])
        if len(tasks) == 1:
            return tasks.popitem()[1]
        return of_tasks(tasks, [str(metric) for metric in metrics])


def reader_for(sources: Sources, reader: str | None, records: str | None) -> str | None:
    """Return the name of the format that the user chose by the option `reader`, or None.

    If the user gave only the option `records`, return "json" if the first file begins like JSON and its name does not
    end in .jsonl.
    """
    if records is None or reader is not None:
        return reader
    name, head = read_head(next(chain(*files_of(sources))))
    return "json" if head.lstrip().startswith((b"{", b"[")) and not name.endswith(".jsonl") else None


def read_as(format: table.Format, sources: Sources, options: Options) -> table.ByTask:
    """Read the files as this format; return a function: options with one metric -> evaluations by task."""
    _check_format_options(format, options)
    if format.takes == "systems" or format.folder or (format.parts and (sources.systems or len(sources.files) > 1)):
        if not sources.systems:
            sources = Sources((), *name_systems(sources.files))
        inside = {name: _files_of(path, format) for name, path in sources.systems.items()}
        sources = replace(sources, systems={name: files[0] for name, files in inside.items()}, parts=inside)
    elif folders := [path for path in sources.systems.values() if os.path.isdir(path)]:
        raise folder_refusal(folders[0], f"{Hint('i')} ")
    reading = format.read(sources, options)
    notes = (gold_note(sources),) if format.takes == "gold" else _gold_among(sources)
    if format.package:
        notes += (f"read as {format.name} by the package {format.package}",)

    def evaluate(options: Options) -> dict[str, EvaluationRecord | None]:
        found = reading(options)
        by_task = {"": found} if isinstance(found, EvaluationRecord) else found
        return {task: record and replace(record, notes=(*record.notes, *notes)) for task, record in by_task.items()}

    return evaluate


_FORMAT_OPTIONS = frozenset(
    (
        *("filter", "runs", "system_column", "score_column", "gold", "prediction"),
        *("where", "transpose", "melt", "records", "systems"),
    )
)
"""Options of `read` that only some formats use."""
_COLUMN_OPTIONS = frozenset(("counts", "decimal", "id_column", "ignore", "lexicon", "thousands"))
"""Options of `read` that formats with gold files do not use, because their instances have no columns."""


def _check_format_options(format: table.Format, options: Options) -> None:
    """Raise an error for options that this format does not use."""
    unused = (_FORMAT_OPTIONS | _COLUMN_OPTIONS if format.takes == "gold" else _FORMAT_OPTIONS) - format.options
    check_meant(options, f"the format {format.name}", options_of(ReadOptions).keys() - unused)
    if options.unit == "response" and "unit" not in format.options:
        takers = ", ".join(name for name, each in table.all_formats().items() if "unit" in each.options)
        raise InputError(
            f"{Hint('unit', 'response')} needs spans, links, constituents or terms, as the formats {takers} have; the "
            f"format {format.name} has none"
        )


def gold_note(sources: Sources) -> str:
    """Return a note that names the gold files, because only their place before -i identifies them.

    If the files look wrong, the note is a warning.

    >>> gold_note(Sources(("a.txt",), {"ref": "in/ref.txt", "b": "b.txt"}))
    "warning: gold standard: a.txt, although 'ref.txt' of the systems is named like one: gold files stand before -i"
    """
    gold, systems = ([PurePath(file).name for file in files] for files in (sources.files, sources.systems.values()))
    note = f"gold standard: {', '.join(gold)}"
    for one, other in product(sources.files, sources.systems.values()):
        if os.path.isfile(one) and os.path.isfile(other) and cmp(one, other, shallow=False):
            same = "is" if os.path.samefile(one, other) else "is the same as"
            return f"warning: {note}, but {quote(PurePath(other).name)} of the systems {same} it: leave one of them out"
    named = [name for name in systems if _GOLD_NAME.search(name.lower())]
    if named and not any(_GOLD_NAME.search(name.lower()) for name in gold):
        turned = f"although {quote(named[0])} of the systems is named like one: gold files stand before -i"
        return f"warning: {note}, {turned}"
    return note


def _gold_among(sources: Sources) -> tuple[str, ...]:
    """Return a warning if a system's file is named like a gold standard, because perhaps the user forgot -i."""
    names = [PurePath(file).name for file in sources.systems.values()]
    found = [name for name in names if _GOLD_NAME.search(name.lower())]
    about = "is compared as a system; if it is the gold standard, it stands before -i"
    return (f"warning: {quote(found[0])} {about}",) if found else ()
