"""What all formats share: numbers, columns, tables, JSON, ids, and the sheets that are joined to an `Evaluation`.

A format (`format`) parses its files once and returns a function of the metric: it makes one `Sheet` per system, which
`join` joins by id or position and checks. Numbers are parsed by `table`, JSON by `json_files`; tables (`layouts`) are a
`Table` before they are sheets. Statistics are left to `sigjax.metrics`; nothing here resamples or tests.
"""

from sigjax.readers.evaluation import Evaluation as Evaluation
from sigjax.readers.format import Format as Format
from sigjax.readers.format import Takes as Takes
from sigjax.readers.saved import save_evaluations as save_evaluations
from sigjax.readers.saved import save_table as save_table
