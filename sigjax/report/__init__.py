"""Formats: a finished `Report` becomes text, JSON, Markdown, LaTeX, CSV, HTML, a DataFrame or a figure.

One format a file. What they share comes first: `sections` (a report by metric and test), `numbers` (how a number is
written), `grid` (which pair stands where, how dark it is), `words` (sentences) and `rows` (tables of strings). Nothing
here computes a statistic, and nothing heavy is imported before the format that needs it is asked for.
"""

from sigjax.report.csv import csv_pieces as csv_pieces
from sigjax.report.csv import to_csv as to_csv
from sigjax.report.dataframe import to_dataframe as to_dataframe
from sigjax.report.figure import to_figure as to_figure
from sigjax.report.html import to_html as to_html
from sigjax.report.json import json_pieces as json_pieces
from sigjax.report.json import to_json as to_json
from sigjax.report.latex import to_latex as to_latex
from sigjax.report.markdown import to_markdown as to_markdown
from sigjax.report.report import Report as Report
from sigjax.report.report import to_text as to_text
