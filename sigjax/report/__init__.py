"""A finished `Report` becomes text, JSON, Markdown, LaTeX, CSV, HTML, a data frame or a figure.

For people, `sections` cuts a report by metric and families of pairs by test, with their tables and sentences, in the
names and numbers of `words`. All tables are one record, `Table`; `text`, `markup` (Markdown, or a `Dialect` of another
language), `latex`, `html` (notebooks and whole pages) and `plots` (kinds of figures, set by `panels`) only escape, set
and draw; `methods` writes for papers. For programs, `data` writes every number as it is (JSON, CSV, data frames), and
reads JSON back. Nothing here computes a statistic, and nothing heavy is imported before its format is asked for.
"""

from sigjax.report.report import Report as Report
