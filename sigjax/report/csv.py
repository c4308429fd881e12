"""CSV for programs and spreadsheets: one row a pair, metric and test, numbers as they are."""

import csv
import io

from sigjax.records import Report
from sigjax.report.sections import flat_pairs


def to_csv(report: Report) -> str:
    """The comparisons as CSV; what is missing is an empty field, names are kept as they are."""
    rows = flat_pairs(report)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
