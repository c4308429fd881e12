"""AlpacaEval: annotations.json, the preferences of an annotator between a model and a reference for each instruction.

The score is the preference - 1, the probability that the model is better than the reference; its mean is the win rate.
"""

import re
from collections.abc import Sequence

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Sources
from sigjax.readers.json_files import Object, as_list, as_object, member, number, parse_json, text
from sigjax.readers.logs.scores import choose, name_by_model, score_columns
from sigjax.readers.options import Options, listing
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

_START = re.compile(rb"\s*\[\s*\{")
_DECIMALS = 15
"""1.9816872352 - 1 is 0.98168723520000009 in doubles; rounded here it is the decimal that it stands for."""
Entry = tuple[str, Object]
"""Where an annotation is, and what it holds."""


def _read(sources: Sources, options: Options) -> Evaluation:
    read = {file: _entries(file, options) for file in sources.systems.values()}
    references = {_field(entry, "generator_1") for entries in read.values() for entry in entries}
    if len(references) > 1:
        raise InputError(
            f"{next(iter(read))}: the models are compared with different references: {listing(sorted(references))}; "
            "expected preferences over the same one"
        )
    sheets = [sheet for file, entries in read.items() for sheet in _sheets(file, entries, options)]
    sheets = name_by_model(sheets, sources)
    return join_sheets(sheets, options, scores=True)(options)


def _entries(file: str, options: Options) -> list[Entry]:
    """The annotations of a file by one annotator."""
    values = as_list(parse_json(file, decode_text(file, read_bytes(file))), file)
    entries = [
        (f"{file}, entry {i}", as_object(value, f"{file}, entry {i}")) for i, value in enumerate(values, start=1)
    ]
    by = [text(entry.get("annotator", "unknown"), f"{where}, field 'annotator'") for where, entry in entries]
    if not entries:
        raise InputError(f"{file}: the list is empty; expected annotations")
    chosen = choose(file, list(dict.fromkeys(by)), options.filter, "annotator")
    return [entry for entry, annotator in zip(entries, by, strict=True) if annotator == chosen]


def _sheets(file: str, entries: Sequence[Entry], options: Options) -> list[Sheet]:
    """A sheet for each model of a file."""
    by_model: dict[str, list[Entry]] = {}
    for entry in entries:
        by_model.setdefault(_field(entry, "generator_2"), []).append(entry)
    sheets = []
    for model, own in by_model.items():
        datasets = [_field(entry, "dataset") if "dataset" in entry[1] else "all" for entry in own]
        ids = [f"{dataset}: {_field(entry, 'instruction')}" for dataset, entry in zip(datasets, own, strict=True)]
        numbers = score_columns(file, [_win(entry) for entry in own], options)
        sheets.append(Sheet(model, file, numbers, {"dataset": datasets}, ids))
    return sheets


def _win(entry: Entry) -> dict[str, float]:
    """The score of an annotation; none where the annotator gave no preference."""
    where, found = entry
    preference = member(found, "preference", where)
    if preference is None:
        return {}
    value = number(preference, f"{where}, field 'preference'")
    if not 1 <= value <= 2:
        raise InputError(f"{where}, field 'preference': expected a number from 1 to 2, or null, got {value:g}")
    return {"win_rate": round(value - 1, _DECIMALS)}


def _field(entry: Entry, name: str) -> str:
    where, found = entry
    return text(member(found, name, where), f"{where}, field {name!r}")


def _looks(name: str, head: bytes) -> bool:
    fields = (b'"instruction"', b'"generator_', b'"output_')
    return _START.match(head) is not None and sum(field in head for field in fields) >= 2


ALPACA_EVAL = Format(
    "alpaca-eval",
    "annotations.json of AlpacaEval",
    "systems",
    _read,
    _looks,
    options=frozenset({"filter"}),
    folder="annotations.json",
)
