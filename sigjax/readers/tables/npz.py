"""NumPy archives, always without pickle: one array per system, or what `Evaluation.save` writes.

An array is `[instance]` or `[instance, input]`; the names `ids`, `clusters` and `strata` are kept for labels
`[instance]`.
"""

import io
import math
import zipfile
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from sigjax.files.opening import ZIP_MAGIC, growth_limit, naming, read_bytes
from sigjax.metrics import evaluation_from_arrays
from sigjax.readers.columns import asked_labels, file_labels
from sigjax.readers.formats import NO_ENDING, Format, Reading, Sources, looks_like
from sigjax.readers.options import Options, select_systems, show, suggest
from sigjax.readers.tables.refused import check_systems
from sigjax.readers.tables.saved import is_saved, read_saved, saved_metrics
from sigjax.records import Evaluation, InputError

NPY_MAGIC = b"\x93NUMPY"
RESERVED = ("ids", "clusters", "strata")


def read_npz(file: str, arrays: Mapping[str, np.ndarray], options: Options) -> Evaluation:
    """The evaluation of the arrays of an .npz archive."""
    if options.counts:
        raise InputError(f"{file}: --counts is for long tables; the columns of an .npz array are the inputs in order")
    return read_saved(file, arrays, options) if is_saved(arrays) else _read_arrays(file, arrays, options)


def load_npz(file: str, data: bytes) -> dict[str, np.ndarray]:
    """All arrays of an archive, none of them pickled."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            _check_sizes(archive.zip, growth_limit(len(data)))
            names = list(archive.files)
            arrays = {name: archive[name] for name in names}
    except InputError as error:
        raise InputError(f"{file}: {error.neutral}") from None
    except Exception as error:  # NumPy and zipfile raise a dozen kinds for damaged files
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{file}: not readable as .npz without pickle: {reason}") from None
    if len(arrays) < len(names):
        raise InputError(f"{file}: two arrays are named {show(max(names, key=names.count))}; rename one")
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise InputError(f"{file}: {show(name)} is not an array; expected one array per system")
    return arrays


def _check_sizes(archive: zipfile.ZipFile, limit: int) -> None:
    """Refuse an archive whose members claim to be larger than any data, before room is made for them."""
    members = archive.infolist()
    if sum(member.file_size for member in members) > limit:
        raise InputError(f"the arrays unpack to more than {limit} bytes: this is no data")
    for member in members:
        with archive.open(member) as opened:
            if opened.read(len(NPY_MAGIC)) != NPY_MAGIC:
                continue
            opened.seek(0)
            version = np.lib.format.read_magic(opened)
            read_header = np.lib.format.read_array_header_2_0
            if version == (1, 0):
                read_header = np.lib.format.read_array_header_1_0
            shape, _, dtype = read_header(opened)
            if math.prod(shape) * dtype.itemsize > member.file_size:
                raise InputError(f"array {show(member.filename)} claims the shape {shape}, but the data end before")


def _read_arrays(file: str, arrays: Mapping[str, np.ndarray], options: Options) -> Evaluation:
    for name in (*options.ignore, *([options.id] if options.id else [])):
        if name not in arrays:
            raise InputError(f"{file}: no array {show(name)}; {suggest(name, arrays, 'arrays')}")
    others = {*RESERVED, options.id, options.cluster, options.strata, *options.ignore}
    names = select_systems(file, [name for name in arrays if name not in others], options)
    num_instances = len(np.atleast_1d(arrays[names[0]])) if names else 0

    def asked(name: str, option: str) -> Any:
        if name in arrays:
            return _array_labels(file, arrays, name)
        return file_labels(file, name, option, known=arrays, num_instances=num_instances)

    labels: dict[str, Any] = {"ids": _array_labels(file, arrays, options.id or "ids")} | asked_labels(options, asked)
    labels |= {field: _array_labels(file, arrays, field) for field in RESERVED if field not in labels}
    with naming(file):
        evaluation = evaluation_from_arrays({name: arrays[name] for name in names}, metric=options.metric, **labels)
    if options.systems is None:
        check_systems(evaluation, file)
    return evaluation


def _array_labels(file: str, arrays: Mapping[str, np.ndarray], name: str) -> tuple[str, ...] | None:
    if name not in arrays:
        return None
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise InputError(f"{file}: array {show(name)}: expected labels [instance] of text or whole numbers")
    if array.dtype.kind == "U" and not _is_text(array):
        raise InputError(f"{file}: array {show(name)}: a label holds what is no character; repair it")
    labels = tuple(str(label) for label in array)
    empty = [i for i, label in enumerate(labels) if not label.strip()]
    if empty:
        raise InputError(f"{file}: array {show(name)}: label {empty[0] + 1} is empty; fill it in")
    return labels


def _is_text(array: np.ndarray) -> bool:
    """Whether text has no half of a character and nothing beyond U+10FFFF, with which Python cannot work."""
    codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    return not np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF)))


def _read_npz(sources: Sources, _: Options) -> Reading:
    (file,) = sources.files
    return partial(read_npz, file, load_npz(file, read_bytes(file)))


def saved_names(file: str) -> tuple[str, ...]:
    """Names of the metrics of a file of saved statistics; none for other archives."""
    arrays = load_npz(file, read_bytes(file))
    return saved_metrics(file, arrays) if is_saved(arrays) else ()


NPZ = Format(
    "npz",
    "NumPy arrays, or what `sigjax extract` saves",
    "file",
    _read_npz,
    looks_like(b"^" + ZIP_MAGIC, ending=".npz"),
    names=rf"{NO_ENDING}|.*\.npz",
)
