"""Readers: files -> `Evaluation`, one file per family of formats; `read` recognizes the format.

What belongs here: opening files, understanding one format, joining systems by instance, and refusing what cannot be
used with one line that names the place. Statistics are left to `sigjax.metrics`; nothing here resamples, tests or
prints. Read first `reading` (the way in), `formats` (what a format is) and `detect` (all formats, and how the one of a
file is recognized).
A reader parses its files once and returns a function of the metric: it makes one `Sheet` per system, which
`join.join_sheets` joins by id or position and checks; `columns` says which numbers and labels are taken from sheets.
Numbers are parsed by `table`, JSON by `json_files`; tables are a `Table` before they are sheets.
"""

from sigjax.readers.detect import FORMATS as FORMATS
from sigjax.readers.doctor import Diagnosis as Diagnosis
from sigjax.readers.doctor import diagnose as diagnose
from sigjax.readers.evaluation import Evaluation as Evaluation
from sigjax.readers.formats import Format as Format
from sigjax.readers.formats import Takes as Takes
from sigjax.readers.reading import READERS as READERS
from sigjax.readers.reading import check_one_task as check_one_task
from sigjax.readers.reading import read as read
from sigjax.readers.reading import read_metrics as read_metrics
from sigjax.readers.tables.saved import save_evaluations as save_evaluations
from sigjax.readers.tables.saved import save_table as save_table
