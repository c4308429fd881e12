"""Formats of files, and the way in: `read` recognizes the format of files and gives an `Evaluation`.

Read `reading` first (the way in; all formats, and how the one of a file is recognized). Each other file is a family of
formats: it parses what a file says and gives `Sheet`s, which `readers.join` joins and checks. `doctor` says how files
are understood.
"""

from sigjax.formats.doctor import Diagnosis as Diagnosis
from sigjax.formats.doctor import diagnose as diagnose
from sigjax.formats.reading import FORMATS as FORMATS
from sigjax.formats.reading import READERS as READERS
from sigjax.formats.reading import check_one_task as check_one_task
from sigjax.formats.reading import read as read
from sigjax.formats.reading import read_metrics as read_metrics
