"""Parts that all formats share: numbers, columns, tables, JSON, ids, and sheets that are joined to an `Evaluation`.

The reader of a format parses its files once and returns a function of the metric: it makes one `Sheet` per system,
which `join` joins by id or position and checks. Numbers are parsed by `table`, JSON by `json_files`; tables
(`layouts`) are a `DataTable` before they are sheets. Statistics are left to `sigjax.metrics`.
"""

from sigjax.readers.evaluation import Evaluation as Evaluation
from sigjax.readers.join import Sheet as Sheet
from sigjax.readers.join import Sources as Sources
from sigjax.readers.join import join_sheets as join_sheets
from sigjax.readers.join import read_lines as read_lines
from sigjax.readers.options import Options as Options
