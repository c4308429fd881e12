"""lighteval: details_{task}_{time}.parquet, with one row per document and its metrics (needs pyarrow)."""

from collections.abc import Iterator
from typing import Any

from sigjax.files.opening import read_bytes
from sigjax.readers.formats import Format, looks_like
from sigjax.readers.json_files import Item, item_at
from sigjax.readers.logs.driver import Result, Row, Scores, Unusable, log_reader
from sigjax.readers.options import Options, listing, show
from sigjax.readers.tables.parquet import is_flat, parquet_columns, refuse_repeats, refusing_damage
from sigjax.records import InputError

_DOC, _METRIC = ("doc", "__doc__"), ("metric", "__metric__")
_PART = ()
"""Stands for a metric that is a list or an object, which is not decoded."""


def _results(file: str, options: Options) -> Iterator[Result]:
    del options
    docs, metrics = _columns(file, read_bytes(file))
    places = [f"{file}, row {i}" for i in range(1, len(docs) + 1)]
    docs = [item_at(where, doc).fields for doc, where in zip(docs, places, strict=True)]
    ids = [str(doc.get("id") or "") for doc in docs]
    if not all(ids) or len(set(ids)) < len(ids):
        ids = [str(i) for i in range(1, len(docs) + 1)]
    yield Result(
        file,
        [
            Row(_scores(item_at(where, metric)), id, labels=doc, content=doc.get("query"))
            for doc, metric, where, id in zip(docs, metrics, places, ids, strict=True)
        ],
    )


def _scores(metrics: Item) -> Scores:
    """The metrics of a document; those that it lacks are null."""
    found: dict[str, float | Unusable] = {}
    for name, value in metrics.fields.items():
        if isinstance(value, int | float):
            found[name] = metrics.number(name)
        elif value is not None:
            found[name] = Unusable(
                f"{metrics.place(name)}: expected a number for each document, got a part of a metric of the corpus"
            )
    return found


def _columns(file: str, data: bytes) -> tuple[list[Any], list[Any]]:
    """The documents and the metrics, as objects `[row]` of the fields with one value; other metrics are `_PART`."""
    parts: list[str] = []
    names: list[str] = []

    def choose(schema: Any) -> list[str]:
        names[:] = [next((name for name in each if name in schema.names), "") for each in (_DOC, _METRIC)]
        if not all(names):
            raise InputError(
                f"{file}: expected the columns doc and metric of lighteval's details; columns: {listing(schema.names)}"
            )
        fields = [(name, field) for name in names for field in _fields(file, name, schema.field(name).type)]
        parts[:] = [field.name for name, field in fields if name == names[1] and not is_flat(field.type)]
        return [f"{name}.{field.name}" for name, field in fields if is_flat(field.type)]

    with refusing_damage(file):
        table = parquet_columns(file, data, choose)
        lacking = [name for name in names if name not in table.column_names]
        if lacking:
            raise InputError(f"{file}, column {show(lacking[0])}: holds no values of single documents")
        docs, metrics = (table.column(name).to_pylist() for name in names)
    return docs, [dict.fromkeys(parts, _PART) | metric if metric is not None else None for metric in metrics]


def _fields(file: str, name: str, kind: Any) -> list[Any]:
    """The fields of a column of objects."""
    from pyarrow import types  # pyright: ignore[reportMissingImports]

    if not types.is_struct(kind):
        raise InputError(f"{file}, column {show(name)}: expected an object in each row, got {show(str(kind))}")
    refuse_repeats(file, [field.name for field in kind])
    return [kind.field(i) for i in range(kind.num_fields)]


LIGHTEVAL = Format(
    "lighteval",
    "details of lighteval, parquet",
    "systems",
    log_reader(_results, content="query"),
    looks_like(rb"^PAR1"),
    folder="details_*.parquet",
    names="details_.*",
)
