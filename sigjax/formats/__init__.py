"""File formats: `read` recognizes the format of files and returns an `Evaluation`.

Read `declarations` first (all formats, and how they are recognized), then `reading` (the entry point). Each other file
has a family of formats, and is imported only if the data have one of these formats. It parses the data to `Sheet`s,
which `readers.join` joins and checks. `doctor` says how files are understood.
"""

from sigjax.formats.declarations import FORMATS as FORMATS
from sigjax.formats.declarations import Format as Format
from sigjax.formats.declarations import lines_like as lines_like
from sigjax.formats.declarations import looks_like as looks_like
from sigjax.formats.reading import read as read
from sigjax.formats.reading import read_data as read_data
