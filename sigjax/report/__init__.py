"""A finished `Report` becomes text, JSON, Markdown, LaTeX, CSV, HTML, a data frame or a figure.

For people, `sections` divides a report into a section per metric, with a family of pairs for each test. It makes the
tables and sentences. `words` formats names and numbers. All tables are `Table` records. Other modules only escape text,
lay it out, and draw: `text`, `markup` (Markdown, or a `Dialect` of another language), `latex`, `html` (notebooks and
whole pages) and `plots` (kinds of figures, laid out by `panels`). `methods` writes for papers. For programs, `data`
writes every number without rounding (JSON, CSV, data frames), and reads JSON back. This package computes no statistics.
Packages that are slow to import are imported only for their format.
"""

from sigjax.report.report import Report as Report
