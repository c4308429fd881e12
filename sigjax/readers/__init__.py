"""Readers: files -> `Evaluation`, one file format a file; `read` finds out which.

What belongs here: opening files, understanding one format, joining systems by instance, and refusing what cannot be
used with one line that names the place. A format is a `Format` record in `registry.FORMATS`. A table becomes a `Table`
(columns of text with line numbers, or of numbers where it is a data frame or a Parquet file), which is then read as
wide (a column a system) or long (a row a system and instance); any other format becomes one `Sheet` a system (columns
of numbers and labels), which `sheets.join_sheets` joins by id or position. Statistics are left to `sigjax.metrics`;
nothing here resamples, tests or prints.
"""

from sigjax.readers.evaluation import Evaluation as Evaluation
from sigjax.readers.formats import Format as Format
from sigjax.readers.formats import Takes as Takes
from sigjax.readers.front import READERS as READERS
from sigjax.readers.front import read as read
from sigjax.readers.front import read_metrics as read_metrics
from sigjax.readers.mappings import evaluation_from_mappings as evaluation_from_mappings
from sigjax.readers.registry import FORMATS as FORMATS
from sigjax.readers.saved import save_evaluations as save_evaluations

__all__ = [
    "FORMATS",
    "READERS",
    "Evaluation",
    "Format",
    "Takes",
    "evaluation_from_mappings",
    "read",
    "read_metrics",
    "save_evaluations",
]
