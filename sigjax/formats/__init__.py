"""Formats of files, and the way in: `read` recognizes the format of files and gives an `Evaluation`.

Read `declarations` first (all formats, and how the one of a file is recognized), then `reading` (the way in). Each
other file is a family of formats, which is imported when it is read: it parses what a file says and gives `Sheet`s,
which `readers.join` joins and checks. `doctor` says how files are understood.
"""

from sigjax.formats.declarations import FORMATS as FORMATS
from sigjax.formats.declarations import Format as Format
from sigjax.formats.declarations import lines_like as lines_like
from sigjax.formats.declarations import looks_like as looks_like
from sigjax.formats.reading import read as read
from sigjax.formats.reading import read_data as read_data
