"""File formats: `read` recognizes the format of files and returns an `Evaluation`.

Read `declarations` first (all formats, and how they are recognized), then `reading` (the entry point). Each other file
is a family of formats, which is imported when a file of it is read. It parses files to `Sheet`s; `readers.join` joins
and checks these. `doctor` says how files are understood.
"""

from sigjax.formats.declarations import FORMATS as FORMATS
from sigjax.formats.declarations import Format as Format
from sigjax.formats.declarations import lines_like as lines_like
from sigjax.formats.declarations import looks_like as looks_like
from sigjax.formats.reading import read as read
from sigjax.formats.reading import read_data as read_data
