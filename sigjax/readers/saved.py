"""NumPy archives without pickle: saved evaluations with a JSON header, or archives with one array per system.

The array of a system is `[instance]` or `[instance, input]`. Arrays named `ids`, `clusters` and `strata` hold labels
`[instance]`. A saved evaluation has the statistics of one or more metrics.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, get_args

import numpy as np

from sigjax.metrics import evaluation_from_arrays, known_metric, meant_among
from sigjax.readers.join import Reading, Sources, file_labels, option_labels, refuse_texts
from sigjax.readers.options import Options, check_named, listing, quote, select_systems
from sigjax.readers.roles import check_systems
from sigjax.records import EvaluationRecord, Hint, InputError, Metric, SampleMetric, Unit
from sigjax.records.metric import NoteData, facts_of, stack_inputs, with_facts
from sigjax.run.files import growth_limit, naming, read_arrays, read_bytes, refusing_unwritable, replacing

SCHEMA = "sigjax-evaluation/1"
_FRAME = ("ids", "clusters", "strata", "runs")
"""Names of the labels that are the same for all metrics of a file. Each is a list `[instance]`, or null."""


def save_evaluations(path: str, evaluations: Sequence[EvaluationRecord]) -> None:
    """Save the evaluations of several metrics in one file; they must have the same systems and instances."""
    first = evaluations[0]
    for other in evaluations:
        other.check_complete()
        _check_savable(other.metric)
        if any(getattr(other, field) != getattr(first, field) for field in ("systems", *_FRAME, "unit")):
            raise InputError(
                f"{path}: metrics {first.metric.name!r} and {other.metric.name!r} do not have the same systems, "
                "instances and labels; save them apart"
            )
    header = {"schema": SCHEMA, "systems": first.systems} | {field: getattr(first, field) for field in _FRAME}
    if first.unit != "instance":
        header["unit"] = first.unit
    header["metrics"] = [
        {
            "name": each.metric.name,
            "stat_names": each.metric.stat_names,
            "higher_is_better": each.metric.higher_is_better,
            "notes": each.notes,
            **({"facts": [asdict(fact) for fact in facts]} if (facts := facts_of(each.notes)) else {}),
            **({} if each.title is None else {"title": each.title}),
        }
        for each in evaluations
    ]
    arrays = {f"stats_{i}": each.stats for i, each in enumerate(evaluations)}
    encoded = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with refusing_unwritable(path), replacing(path) as file:
        np.savez_compressed(file, header=encoded, **arrays)  # pyright: ignore[reportArgumentType]


def join_evaluations(files: Sequence[str], parts: Sequence[Sequence[EvaluationRecord]]) -> list[EvaluationRecord]:
    """Join files that hold different instances of the same systems; return one evaluation per metric."""
    known: dict[tuple[str, str | None], int] = {}
    for number, (file, part) in enumerate(zip(files, parts, strict=True)):
        for what, here, there in zip(_JOINED_BY, _described(part), _described(parts[0]), strict=True):
            if here != there:
                raise InputError(f"{file}: has other {what} than {files[0]}; extract all files in the same way")
        ids, runs = part[0].ids or (), part[0].runs
        for key in zip(ids, runs or [None] * len(ids), strict=True):
            if (other := known.setdefault(key, number)) != number:
                raise InputError(f"{file}: instance {quote(key[0])} is in {files[other]}, too; give each file once")
    joined: list[EvaluationRecord] = []
    for same in zip(*parts, strict=True):
        labels = {name: tuple(label for each in same for label in getattr(each, name) or ()) or None for name in _FRAME}
        stats = np.concatenate([each.stats for each in same], axis=1)
        notes = tuple(dict.fromkeys(note for each in same for note in each.notes))
        joined.append(replace(same[0], stats=stats, notes=notes, **labels))
    return joined


_JOINED_BY = ("metrics", "systems, or these in another order,", "units", "kinds of labels")


def _described(part: Sequence[EvaluationRecord]) -> tuple[object, ...]:
    """Return what must be equal in files that are joined: metrics, systems, unit, and which kinds of labels are None.

    `part` holds the evaluations of one file. `_JOINED_BY` has the words for messages, in the same order.
    """
    metrics = [(each.metric.name, each.metric.stat_names, each.title) for each in part]
    return metrics, part[0].systems, part[0].unit, [getattr(part[0], name) is None for name in _FRAME]


def _is_saved(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether `save_evaluations` wrote these arrays."""
    return "header" in arrays and all(name == "header" or name.startswith("stats_") for name in arrays)


def read_saved(file: str, arrays: Mapping[str, np.ndarray], options: Options) -> EvaluationRecord:
    """Return the evaluation for the requested metric, by default for the first metric in the file.

    `arrays` are the arrays of the archive, as `load_npz` loads them.
    """
    with naming(file):
        header = _header(arrays)
        place, saved, metric = _saved_metric(header, options)
        stats, notes = arrays[f"stats_{place}"], _notes(header["metrics"][place])
        _check_saved(header, stats, saved, options)
    check_named(file, "ignore", options.ignore, header["systems"], "system")
    names = [name for name in header["systems"] if name not in options.ignore]
    names = select_systems(file, names, options)
    labels = {field: header[field] for field in _FRAME}
    labels |= option_labels(options, partial(file_labels, file, known=(), num_instances=stats.shape[1]))
    by_system = dict(zip(header["systems"], stats, strict=True))
    with naming(file):
        evaluation = evaluation_from_arrays(
            {name: by_system[name] for name in names},
            metric=replace(metric, inputs=saved.stat_names, extract=stack_inputs) if metric is saved else metric,
            notes=notes,
            **labels,
        )
    title = header["metrics"][place].get("title") if metric is saved else None
    return replace(evaluation, metric=metric, unit=header["unit"], title=title if isinstance(title, str) else None)


def _notes(saved: dict[str, Any]) -> tuple[str, ...]:
    try:
        return with_facts(saved["notes"], [NoteData(**fact) for fact in saved.get("facts", [])])
    except (TypeError, ValueError, AttributeError):
        raise InputError("array 'header', field 'facts': expected what notes say, as sigjax saves it") from None


def _check_savable(metric: Metric | SampleMetric) -> None:
    known = known_metric(metric.name, metric.stat_names)
    alike = known.score is metric.score if isinstance(known, Metric) and isinstance(metric, Metric) else known == metric
    if known is None or not alike:
        raise InputError(f"metric {metric.name!r} is a function of yours and cannot be saved; save the arrays instead")


def _check_saved(header: dict[str, Any], stats: np.ndarray, metric: Metric | SampleMetric, options: Options) -> None:
    num_instances = stats.shape[1:2] if header["ids"] is None else (len(header["ids"]),)
    shape = (len(header["systems"]), *num_instances, len(metric.stat_names))
    if stats.shape != shape:
        raise InputError(f"statistics of {metric.name!r}: expected the shape {shape} of the header, got {stats.shape}")
    if options.id_column is not None:
        raise InputError(f"{Hint('id_column')} is for tables; a saved evaluation has its ids")


def _header(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    try:
        given = json.loads(arrays["header"].tobytes())
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or given.get("schema") != SCHEMA:
        raise InputError(f"array 'header': expected JSON of the schema {SCHEMA!r}")
    header: dict[str, Any] = {**dict.fromkeys((*_FRAME, "metrics", "systems")), "unit": "instance", **given}
    metrics, systems = header["metrics"], header["systems"]
    right = {
        "systems": _is_texts(systems) and len({*systems}) == len(systems),
        **{name: header[name] is None or _is_texts(header[name]) for name in _FRAME},
        "unit": header["unit"] in get_args(Unit),
        "metrics": isinstance(metrics, list) and bool(metrics) and all(map(_is_metric, metrics)),
    }
    if wrong := [name for name, each in right.items() if not each]:
        raise InputError(f"array 'header', field {wrong[0]!r}: is not as sigjax saves it; extract the file again")
    if lacking := [name for i in range(len(metrics)) if (name := f"stats_{i}") not in arrays]:
        raise InputError(f"array {lacking[0]!r} is missing; the header has {len(metrics)} metric(s)")
    return header


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_metric(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("higher_is_better"), bool)
        and _is_texts(value.get("stat_names"))
        and _is_texts(value.get("notes"))
    )


def _restored(saved: dict[str, Any]) -> Metric | SampleMetric:
    found = known_metric(saved["name"], saved["stat_names"])
    if found is None:
        raise InputError(f"array 'header', field 'metrics': unknown metric {saved['name']!r}; extract the file again")
    better = saved["higher_is_better"]
    return found if found.higher_is_better == better else replace(found, higher_is_better=better)


def _saved_metric(header: dict[str, Any], options: Options) -> tuple[int, Metric | SampleMetric, Metric | SampleMetric]:
    """Find the saved statistics from which the requested metric can be computed.

    Returns three things: the index of these statistics in the file, the metric for which they were saved, and the
    requested metric. The two metrics differ if the requested metric takes the statistics of another metric. `header` is
    the JSON header of the file.
    """
    names = [saved["name"] for saved in header["metrics"]]
    asked = options.metric if isinstance(options.metric, str) else getattr(options.metric, "name", None)
    asked = asked if asked is None else meant_among(asked, names)
    place = names.index(asked) if asked in names else 0
    saved = _restored(header["metrics"][place])
    if asked in ("mean", saved.name) or options.metric == saved:
        return place, saved, saved
    other = known_metric(options.metric) if isinstance(options.metric, str) else None
    if other is None or other.inputs != saved.stat_names:
        raise InputError(f"holds statistics of {listing(names)}; for another metric take the files they came from")
    return place, saved, other


RESERVED = ("ids", "clusters", "strata")


def _evaluate(file: str, arrays: Mapping[str, np.ndarray], options: Options) -> EvaluationRecord:
    """Evaluate the arrays of an .npz archive."""
    if options.counts:
        raise InputError(f"{file}: {Hint('counts')} is for long tables; columns of .npz arrays are the inputs in order")
    return read_saved(file, arrays, options) if _is_saved(arrays) else _read_arrays(file, arrays, options)


def load_npz(file: str, data: bytes) -> dict[str, np.ndarray]:
    """Load all arrays of an archive; pickled arrays are refused."""
    try:
        with naming(file):
            return read_arrays(io.BytesIO(data), growth_limit(len(data)))
    except InputError:
        raise
    except Exception as error:  # damaged files raise a dozen types of errors
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{file}: not readable as .npz without pickle: {reason}") from None


def _read_arrays(file: str, arrays: Mapping[str, np.ndarray], options: Options) -> EvaluationRecord:
    check_named(file, "ignore", options.ignore, arrays, "array")
    check_named(file, "id_column", [options.id_column], arrays, "array")
    others = {*RESERVED, options.id_column, options.cluster, options.strata, *options.ignore}
    names = select_systems(file, [name for name in arrays if name not in others], options)
    num_instances = len(np.atleast_1d(arrays[names[0]])) if names else 0

    def labels_of(name: str, option: Hint) -> Any:
        if name in arrays:
            return _array_labels(file, arrays, name)
        return file_labels(file, name, option, known=arrays, num_instances=num_instances)

    labels: dict[str, Any] = {"ids": _array_labels(file, arrays, options.id_column or "ids")}
    labels |= option_labels(options, labels_of)
    labels |= {field: _array_labels(file, arrays, field) for field in RESERVED if field not in labels}
    if isinstance(options.metric, str) and (known := known_metric(options.metric)):
        refuse_texts(file, known, {}, known.inputs, what="these are numbers")
    with naming(file):
        evaluation = evaluation_from_arrays({name: arrays[name] for name in names}, metric=options.metric, **labels)
        if options.only is None:
            check_systems(evaluation)
    return evaluation


def _array_labels(file: str, arrays: Mapping[str, np.ndarray], name: str) -> tuple[str, ...] | None:
    if name not in arrays:
        return None
    array = arrays[name]
    with naming(f"{file}: array {quote(name)}"):
        if array.ndim != 1 or array.dtype.kind not in "Uiu":
            raise InputError("expected labels [instance] of text or whole numbers")
        if array.dtype.kind == "U":
            codes = np.frombuffer(array.tobytes(), f"{array.dtype.byteorder}u4")
            if np.any((codes > 0x10FFFF) | (codes >> 11 == 0xD800 >> 11)):  # surrogates are not characters
                raise InputError("a label holds what is no character; repair it")
        labels = tuple(map(str, array.tolist()))
        if empty := [i for i, label in enumerate(labels, start=1) if not label.strip()]:
            raise InputError(f"label {empty[0]} is empty; fill it in")
    return labels


def read_npz(sources: Sources, _: Options) -> Reading:
    """Read an .npz archive."""
    (file,) = sources.files
    return partial(_evaluate, file, load_npz(file, read_bytes(file)))


def saved_names(file: str) -> tuple[str, ...]:
    """Return the names of the metrics in a saved evaluation; empty for other archives."""
    arrays = load_npz(file, read_bytes(file))
    if not _is_saved(arrays):
        return ()
    with naming(file):
        return tuple(metric["name"] for metric in _header(arrays)["metrics"])
