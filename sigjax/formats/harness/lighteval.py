# logs hold: PAR1
"""lighteval: the details of a task as Parquet; each row has the objects doc and metric."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import InstanceLog, Log, SystemLog
from sigjax.readers.frames import parquet_table, refusing_damage
from sigjax.readers.json_files import item_at
from sigjax.readers.options import Options, listing, quote
from sigjax.records import InputError
from sigjax.run.files import read_bytes

FORMAT = harness(
    __name__,
    "details of lighteval, parquet",
    looks_like(rb"^PAR1"),
    b"PAR1",
    folder="details_*.parquet",
    tasks=True,
    names="details_.*",
)
_DETAILS = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.parquet(\.gz)?")

_DOC, _METRIC = ("doc", "__doc__"), ("metric", "__metric__")


def _results(file: str, _: Options) -> Iterator[SystemLog]:
    with refusing_damage(file):
        docs, metrics = _details(file, read_bytes(file))
    rows = list[InstanceLog]()
    for i, (doc, metric) in enumerate(zip(docs, metrics, strict=True), start=1):
        doc, scores = item_at((file, "row", i), doc).fields, item_at((file, "row", i), metric).numbers()
        rows.append(InstanceLog(scores, str(doc.get("id") or ""), labels=doc, content=doc.get("query")))
    if len({row.id for row in rows if row.id}) < len(rows):
        rows = [replace(row, id=str(i)) for i, row in enumerate(rows, start=1)]
    named = _DETAILS.fullmatch(PurePath(file).name)
    yield SystemLog(file, rows, task=named["task"] if named else "")


def _details(file: str, data: bytes) -> list[list[Any]]:
    """Return two columns `[row]` of objects: doc and metric.

    Fields of these objects that are lists are left out, because they belong to metrics of the whole corpus.
    """
    from pyarrow import types  # pyright: ignore[reportMissingImports]

    names: list[str] = []

    def choose(schema: Any) -> list[str]:
        names[:] = [next((name for name in each if name in schema.names), "") for each in (_DOC, _METRIC)]
        if not all(names) or not all(types.is_struct(schema.field(name).type) for name in names):
            raise InputError(
                f"{file}: expected the columns doc and metric of lighteval's details, with an object in each row; "
                f"columns: {listing(schema.names)}"
            )
        fields = [(name, field) for name in names for field in schema.field(name).type]
        return [f"{name}.{field.name}" for name, field in fields if not types.is_nested(field.type)]

    table = parquet_table(file, data, choose)
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise InputError(f"{file}, column {quote(lacking[0])}: holds no values of single documents")
    return [table.column(name).to_pylist() for name in names]


LOG = Log(results=_results, content="query")


def sample(values: Sequence[Any], *, model: str = "a") -> bytes:
    """Make a log. `values` has one value per document."""
    import pyarrow  # pyright: ignore[reportMissingImports]
    from pyarrow.parquet import write_table  # pyright: ignore[reportMissingImports]

    docs = [{"id": f"{i}", "query": f"q{i}", "topic": f"t{i // 2}", "choices": ["a", "b"]} for i in range(len(values))]
    metrics = [{"acc": value, "parts": [1.0]} for value in values]
    columns = {"__doc__": docs, "__metric__": metrics, "__model__": [model] * len(values)}
    packed = io.BytesIO()
    write_table(pyarrow.table(columns), packed, compression="zstd")
    return packed.getvalue()


SAMPLE = ExampleLogs(file="details_arc_2026-01-21T03-44-18.parquet", make=sample, cluster="topic", other={"model": "b"})
