"""Files as they are given, or a data frame -> `Evaluation`, whatever the format."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from sigjax.files.opening import files_inside
from sigjax.readers.detect import choose_format
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.naming import given_name, name_systems
from sigjax.readers.options import Options, Path, check_options, listing, show
from sigjax.readers.registry import FORMATS
from sigjax.readers.tables.frames import FRAME, PARQUET, frame_table
from sigjax.readers.tables.tables import read_table
from sigjax.records import Evaluation, InputError
from sigjax.records.metric import AnyMetric

_GOLD_NAME = re.compile(r"(?:^|[^a-z])(?:gold|golds|refs?|references?|truth|qrels)(?:[^a-z]|$)")


def read_frame(frame: Any, metric: AnyMetric | None, options: Options) -> Evaluation:
    """The evaluation of a data frame; the options have no metric yet."""
    options = replace(options, metric="mean" if metric is None else metric)
    check_options(options)
    _check_particular(FRAME, PARQUET, options)
    return _turned(read_table(frame_table(frame), options)(options), options)


def read_sources(
    sources: Sources, reader: str | None, metrics: Sequence[AnyMetric | None], options: Options
) -> list[Evaluation]:
    """The evaluation of each metric; files are read once for all metrics of one format.

    The options have no metric yet.
    """
    for metric in metrics:
        check_options(options if metric is None else replace(options, metric=metric))
    formats = [format_of(sources, reader, metric) for metric in metrics]
    readings = {each.name: _reading(each, sources, options) for each in {each.name: each for each in formats}.values()}
    evaluations = []
    for each, metric in zip(formats, metrics, strict=True):
        first = each.metrics[0] if each.metrics else "mean"
        # The tokenizer is BLEU's: beside it, other metrics leave it alone.
        tokenize = options.tokenize if metric == "bleu" or "bleu" not in metrics else None
        with_metric = replace(options, metric=first if metric is None else metric, tokenize=tokenize)
        evaluations.append(_turned(readings[each.name](with_metric), options))
    return evaluations


def _reading(found: Format, sources: Sources, options: Options) -> Reading:
    """The files, read as one format."""
    _check_particular(f"format {found.name}", found, options)
    if found.takes == "systems":
        if not sources.systems:
            sources = Sources((), *name_systems(sources.files))
        sources = replace(sources, systems={name: _file_of(path, found) for name, path in sources.systems.items()})
    reading = found.read(sources, options)
    if found.takes != "gold":
        return reading

    def with_note(options: Options) -> Evaluation:
        evaluation = reading(options)
        return replace(evaluation, notes=(*evaluation.notes, gold_note(sources)))

    return with_note


def gold_note(sources: Sources) -> str:
    """Which files were taken for the gold standard: only their order tells, so a report must say it.

    Example:
        >>> gold_note(Sources(("a.txt",), {"ref": "in/ref.txt", "b": "b.txt"}))
        "gold standard: a.txt, although 'ref.txt' of the systems is named like one: gold files stand before -i"
    """
    gold, systems = ([PurePath(file).name for file in files] for files in (sources.files, sources.systems.values()))
    note = f"gold standard: {', '.join(gold)}"
    if not any(_GOLD_NAME.search(name.lower()) for name in gold):
        for name in systems:
            if _GOLD_NAME.search(name.lower()):
                return f"{note}, although {show(name)} of the systems is named like one: gold files stand before -i"
    return note


def _turned(evaluation: Evaluation, options: Options) -> Evaluation:
    """The evaluation with the direction of its metric as asked for."""
    if not options.lower_is_better:
        return evaluation
    return replace(evaluation, metric=replace(evaluation.metric, higher_is_better=False))


def sources_of(paths: Sequence[Path], input: Sequence[Path] | Mapping[str, Path]) -> Sources:
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


def format_of(sources: Sources, reader: str | None, metric: object) -> Format:
    """The format of the files."""
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
