"""CSV for programs and spreadsheets: one row a pair, metric and test, numbers as they are."""

import csv
import io
from collections.abc import Iterator

from sigjax.records import Report
from sigjax.report.sections import flat_columns, pairs_unclustered

_BLOCK = 2**12
"""Pairs that are written together."""


def to_csv(report: Report) -> str:
    """The comparisons as CSV; what is missing is an empty field, names are kept as they are."""
    return "".join(csv_pieces(report))


def csv_pieces(report: Report) -> Iterator[str]:
    """The same in pieces, so that a large report can be written without holding its text."""
    unclustered = pairs_unclustered(report.comparisons)
    for start, block in enumerate(report.comparisons.blocks(_BLOCK)):
        columns = flat_columns(block, unclustered=unclustered)
        writer = csv.writer(stream := io.StringIO(), lineterminator="\n")
        if start == 0:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        yield stream.getvalue()
