"""What all formats share: numbers, columns, tables, JSON, ids, and sheets that are joined to an `Evaluation`.

The reader of a format parses its files once and makes a `Sheet` for each system. `join` checks the sheets, joins them
by id or position, and returns a function that evaluates them by a metric. `table` parses numbers, and `json_files`
JSON. A table is a `DataTable` (`layouts`) before it becomes sheets. `sigjax.metrics` computes the statistics.
"""

from sigjax.readers.evaluation import Evaluation as Evaluation
from sigjax.readers.join import Sheet as Sheet
from sigjax.readers.join import Sources as Sources
from sigjax.readers.join import join_sheets as join_sheets
from sigjax.readers.join import read_lines as read_lines
from sigjax.readers.options import Options as Options
