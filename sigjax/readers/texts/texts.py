"""Texts: reference files, then one file per system, with one segment per line in the same order."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from sigjax.files.opening import read_segments
from sigjax.metrics import METRICS, TEXT_METRICS, evaluation_from_texts
from sigjax.metrics.texts import check_lengths
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, select_systems
from sigjax.readers.sources import file_labels
from sigjax.readers.tables.delimited import looks_tabular
from sigjax.records import Evaluation, InputError


def read_texts(sources: Sources, options: Options) -> Reading:
    """Texts by a metric of texts; clusters and strata come from files with one label per line."""
    first = sources.files[0]
    chosen = select_systems(first, tuple(sources.systems), options.systems)
    files = [*sources.files, *(sources.systems[name] for name in chosen)]
    texts = _texts(files)
    gold, outputs = texts[: len(sources.files)], texts[len(sources.files) :]
    clusters, strata = (
        file_labels(first, name, option=option, known=(), num_instances=len(gold[0])) if name else None
        for name, option in ((options.cluster, "--cluster"), (options.strata, "--strata"))
    )

    def evaluate(options: Options) -> Evaluation:
        metric = _metric_name(options)
        by_file = {sources.systems[name]: own for name, own in zip(chosen, outputs, strict=True)}
        check_lengths(metric, dict(zip(sources.files, gold, strict=True)), by_file, place="line")
        evaluation = evaluation_from_texts(
            dict(zip(chosen, outputs, strict=True)),
            gold,
            metric=metric,
            tokenize=options.tokenize,
            lowercase=options.lowercase,
            clusters=clusters,
            strata=strata,
            cache=options.cache,
            progress=options.progress,
        )
        return replace(evaluation, notes=(*evaluation.notes, *_marks(files, texts)))

    return evaluate


def _texts(files: Sequence[str]) -> list[list[str]]:
    """The segments of each file; all files must have the same number."""
    texts = [read_segments(file) for file in files]
    for file, segments in zip(files, texts, strict=True):
        if len(segments) != len(texts[0]):
            raise InputError(
                f"{file}: has {len(segments)} lines, but {files[0]} has {len(texts[0])}; expected one segment per "
                "line, in the same order"
            )
    return texts


def _marks(files: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Notes on files that start with a byte order mark, which lowers scores a little, published ones as well."""
    return tuple(
        f"{PurePath(file).name} starts with a byte order mark, which is scored as a character, as sacrebleu does"
        for file, segments in zip(files, texts, strict=True)
        if segments[0].startswith("\ufeff")
    )


def _metric_name(options: Options) -> str:
    """The name of the metric, given by name or as one of our records."""
    for name in TEXT_METRICS:
        if options.metric in (name, METRICS[name]):
            return name
    raise InputError(f"the format texts takes no metric of your own; it gives {', '.join(TEXT_METRICS)}")


def _looks(name: str, head: bytes) -> bool:
    """Any text but tables; reading says whatever else is wrong with it."""
    return b"\0" not in head and not looks_tabular(name, head)


TEXTS = Format(
    "texts",
    "references and outputs, one segment per line",
    "gold",
    read_texts,
    _looks,
    metrics=tuple(TEXT_METRICS),
    options=frozenset({"tokenize", "lowercase"}),
)
