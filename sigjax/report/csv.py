"""CSV for programs and spreadsheets: one row a pair, metric and test, numbers as they are."""

import csv
import io

from sigjax.records import Report
from sigjax.report.sections import FLAT_COLUMNS, flat_pair


def to_csv(report: Report) -> str:
    """The comparisons as CSV; what is missing is an empty field, names are kept as they are."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, FLAT_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat_pair(comparison) for comparison in report)
    return stream.getvalue()
