"""Formats: a finished `Report` becomes text, JSON, Markdown, LaTeX, CSV, HTML, a data frame or a figure.

For people, `blocks` cuts a report into sections by metric and families of pairs by test (`pairs`), with their tables
and sentences, in the names and numbers of `words`, and `paper` puts all metrics side by side; `text`, `markdown`,
`latex` (set by `typeset`), `html` (notebooks), `page` (a whole web page) and `figure` only escape and draw.
For programs, `programs` (JSON) and `tables` (CSV and data frames) write every number as it is, and `reading` reads JSON
back. Nothing here computes a statistic, and nothing heavy is imported before its format is asked for.
"""

from sigjax.report.latex import to_latex as to_latex
from sigjax.report.markdown import to_markdown as to_markdown
from sigjax.report.methods import to_methods as to_methods
from sigjax.report.methods import to_sentences as to_sentences
from sigjax.report.page import to_html as to_html
from sigjax.report.programs import json_pieces as json_pieces
from sigjax.report.report import Report as Report
from sigjax.report.report import to_text as to_text
from sigjax.report.tables import csv_pieces as csv_pieces
from sigjax.report.tables import to_dataframe as to_dataframe
