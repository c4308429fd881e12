"""Tables as text: with tabs, commas, semicolons or blanks between columns; Markdown; LaTeX; and lines of numbers.

The format `numbers` is one file per system. Each line holds one number, or two or four numbers as in the files of
smartschat/art. The format `paired-perm` is one file with two systems, as rycolab/paired-perm-test writes it. A Markdown
table has pipes between columns. A LaTeX `tabular` has & between columns, and two backslashes between rows.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, repeat

import numpy as np

from sigjax.metrics import METRICS
from sigjax.readers.join import Reading, Sheet, Sources, join_sheets, refuse_texts
from sigjax.readers.layouts import read_tables
from sigjax.readers.options import Options, chosen_metric, quote
from sigjax.readers.table import DataTable, is_rule, is_text, parse_number, parse_numbers, table_of, with_numbers
from sigjax.records import EvaluationRecord, InputError, Line
from sigjax.run.files import naming, read_text

DELIMITERS = {"tsv": "\t", "csv": ","}
_MARKS = (",", ";", "|")
"""Possible delimiters of csv."""
_SEPARATOR = re.compile(r"\ufeff?\"?sep=(.)\"?[ ;,]*")
"""Pattern of a first line that names the delimiter, as Excel writes it."""
_HEAD_LINES = 50


def parse_delimited(
    file: str, text: str, *, dialect: str, alone: bool = True, options: Options | None = None
) -> DataTable:
    r"""Parse a table in the dialect "tsv", "csv" or "spaces".

    In csv, the delimiter may also be a semicolon (numbers may then have decimal commas) or |. In csv, a field in double
    quotes may hold commas and line breaks. In tsv, double quotes are removed only if they enclose a whole field,
    because texts may contain a quotation mark alone. Three kinds of lines are skipped: blank lines, comments (lines
    that begin with # and do not have the cells of a row), and the empty last rows that spreadsheets leave. `alone` says
    whether the file holds all systems. If it does, it must have more than one column.

    >>> parse_delimited("t.csv", "id,A\nx,1\n", dialect="csv").columns["A"].cells
    ['1']
    >>> parse_delimited("t.csv", "id;A\n\nx;0,5\n", dialect="csv").columns["A"].cells
    ['0.5']
    >>> parse_delimited("t.csv", "# made by x\nid,A\n# half\nx,1\n,\n", dialect="csv").lines
    [4]
    """
    kind = dialect
    if dialect == "spaces":
        text, dialect = _with_tabs(text), "tsv"
    lines = text.rstrip("\n").split("\n")
    told = _SEPARATOR.fullmatch(lines[0])
    if told and len(lines) > 1:
        lines[0], delimiter = "", told[1]
    else:
        delimiter = DELIMITERS[dialect] if dialect == "tsv" else _delimiter(lines)
    first = _first_row(lines)
    header = _header_at(lines, first, delimiter)
    lines[:header] = [""] * header
    quoted = dialect == "csv" and '"' in text
    records = csv_records(file, "\n".join(lines), delimiter) if quoted else _plain_records(lines, delimiter, header)
    table = table_of(file, records, kind=kind, alone=alone, gaps=not quoted)
    return with_numbers(table, options or Options(), commas=delimiter == ";")


def _first_row(lines: Sequence[str]) -> str:
    """Return the first line that is neither blank nor a comment."""
    return next((line for line in lines if line.strip(" ") and not line.startswith("#")), lines[0])


def _delimiter(lines: Sequence[str]) -> str:
    """Guess the delimiter of csv, with which all lines have the same number (above 1) of columns.

    If there is none, take a delimiter with which all lines after the first have the same number of columns, preferably
    one that the first line has. If there is none either, take a delimiter that the first line has, else the comma.

    >>> _delimiter(["id;A, tuned;B", "x;0,5;1"]), _delimiter(["A study, 2026", "id|A", "x|1", "y|0"])
    (';', '|')
    """
    given = [line for line in lines[:_HEAD_LINES] if line.strip(" ") and not line.startswith("#")]
    likely = next((mark for mark in _MARKS if given and mark in given[0]), ",")

    def common_width(mark: str, rows: Sequence[str]) -> int:
        """Return the number of columns in all rows; 1 if the rows differ, or if there are fewer than two rows."""
        widths = {_width(line, mark) for line in rows}
        return widths.pop() if len(widths) == 1 and len(rows) > 1 else 1

    alike = max(_MARKS, key=lambda mark: common_width(mark, given))
    if common_width(alike, given) > 1:
        return alike
    if common_width(likely, given[1:]) == 1:
        return next((mark for mark in _MARKS if common_width(mark, given[1:]) > 1), likely)
    return likely


def _header_at(lines: Sequence[str], first: str, delimiter: str) -> int:
    """Return the index of the header: the line `first`, or an earlier comment (#) with the same number of fields."""
    at = lines.index(first)
    *before, width = (_width(line, delimiter) for line in lines[: at + 1])
    return before.index(width) if width in before and not (width == 1 and is_text(first)) else at


def _width(line: str, delimiter: str) -> int:
    """Return the number of fields in a line. If a field is too long for the csv module, quotes are ignored."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return line.count(delimiter) + 1


def _plain_records(lines: Sequence[str], delimiter: str, start: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each nonblank line from `start` on. Every delimiter separates fields."""
    if any('"' in line or not line.strip(" ") for line in lines[start:]):
        return ((number, _plain_fields(line, delimiter)) for number, line in enumerate(lines, 1) if line.strip(" "))
    return zip(count(start + 1), map(str.split, lines[start:], repeat(delimiter)), strict=False)


def _plain_fields(line: str, delimiter: str) -> list[str]:
    return [*map(unquote, line.split(delimiter))] if '"' in line else line.split(delimiter)


def _with_tabs(text: str) -> str:
    """Replace the blanks between columns by tabs."""
    return "\n".join("\t".join(re.findall(r'"[^"]*"|\S+', row)) for row in text.split("\n"))


def csv_records(file: str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each nonblank record."""
    reader = csv.reader(io.StringIO(text), strict=True, delimiter=delimiter)
    line = 1
    try:
        for fields in reader:
            if len(fields) > 1 or any(map(str.strip, fields)):
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{Line(file, line)}: not readable as csv: {error}; check the quotes, or write JSON lines"
        ) from None


def unquote(field: str) -> str:
    """Remove the double quotes around a field if they enclose all of it."""
    inner = field[1:-1]
    if len(field) < 2 or not field.startswith('"') or not field.endswith('"') or '"' in inner.replace('""', ""):
        return field
    return inner.replace('""', '"')


def _parse_file(dialect: str, file: str, options: Options, *, alone: bool) -> DataTable:
    return parse_delimited(file, read_text(file), dialect=dialect, alone=alone, options=options)


read_tsv, read_csv, read_spaces = (
    partial(read_tables, partial(_parse_file, dialect)) for dialect in ("tsv", "csv", "spaces")
)

_BY_WIDTH = {2: "ratio", 4: "fscore-ratios"}
"""Dict from the number of columns in a system's file to the default metric. For other numbers of columns, it is the
mean."""
_PAIRED = {2: "fscore-errors"}


def read_numbers(sources: Sources, _: Options) -> Reading:
    """Read one file per system, with the same number of fields on each line."""
    tables = {name: (file, _numbers(file, str.split)) for name, file in sources.systems.items()}
    return partial(_evaluate, tables, _BY_WIDTH)


def read_paired(sources: Sources, _: Options) -> Reading:
    """Read one file with the numbers of two systems, A and B."""
    (file,) = sources.files
    table = _numbers(file, _between_marks)
    if table.shape[1] not in (2, 4):
        raise InputError(
            f"{file}, line 1: expected 2 numbers (correct of A and of B) or 4 (correct and incorrect of A, then of B), "
            f"got {table.shape[1]}"
        )
    a, b = np.split(table, 2, axis=1)
    return partial(_evaluate, {"A": (file, a), "B": (file, b)}, _PAIRED)


def _evaluate(
    tables: Mapping[str, tuple[str, np.ndarray]], usual: Mapping[int, str], options: Options
) -> EvaluationRecord:
    """Evaluate the numbers of all systems.

    Args:
        tables: system -> its file and its numbers `[line, number]`.
        usual: how many numbers a line holds -> the default metric.
        options: the options of reading.
    """
    (first, table), *others = tables.values()
    width = table.shape[1]
    for file, other in others:
        if other.shape[1] != width:
            raise InputError(f"{file}: has {other.shape[1]} numbers per line, but {first} has {width}")
    metric = METRICS[usual[width]] if options.metric == "mean" and width in usual else chosen_metric(options)
    refuse_texts(first, metric, {}, metric.inputs, what="these are numbers")
    takes = len(metric.inputs)
    if takes != width:
        raise InputError(f"{first}: metric {metric.name!r} takes {takes} numbers per line and system, got {width}")
    options = replace(options, metric=metric)
    sheets = [Sheet(name, file, dict(zip(metric.inputs, own.T, strict=True))) for name, (file, own) in tables.items()]
    return join_sheets(sheets, options)(options)


def _between_marks(line: str) -> list[str]:
    """Split a line at commas, and at one or more tabs."""
    parts = [list(filter(None, map(str.strip, part.split("\t")))) for part in line.split(",")]
    return [field for part in parts for field in part or [""]]


def _numbers(file: str, fields_of: Callable[[str], list[str]]) -> np.ndarray:
    """Read numbers `[line, number]` from a file; all lines must have the same number of fields.

    `fields_of` splits a line into its fields.
    """
    lines = read_text(file).removesuffix("\n").split("\n")
    rows = list(map(fields_of, lines))
    width = len(rows[0])
    for line, row in enumerate(rows, start=1):
        if len(row) != width or not row:
            raise InputError(f"{Line(file, line)}: expected {width or 'a'} number(s) as on line 1, got {len(row)}")
    fields = [field for row in rows for field in row]
    values = parse_numbers(fields)
    if values is None:
        values = np.empty(len(fields))
        for i, field in enumerate(fields):
            with naming(f"{Line(file, i // width + 1)}"):
                values[i] = parse_number(field)
    return values.reshape(len(rows), width)


_PIPE = re.compile(r"(?<!\\)\|")
_BOLD = ("**", "__", "*", "_", "`")


def _parse_markdown(file: str, options: Options, *, alone: bool) -> DataTable:
    """Parse the only Markdown table in a file; a note mentions the text around it."""
    lines = read_text(file).split("\n")
    rules = [i for i, line in enumerate(lines) if i and is_rule(line) and "|" in lines[i - 1]]
    if len(rules) != 1:
        found = f"found {len(rules)} (lines {rules[0]} and {rules[1]})" if rules else "found none"
        raise InputError(f"{file}: expected one table, with a line such as |---|---| below its header, {found}")
    header = rules[0] - 1
    end = next((i for i in range(header, len(lines)) if "|" not in lines[i]), len(lines))
    rows = ((i + 1, _cells_of(lines[i])) for i in range(header, end) if i != rules[0])
    table = table_of(file, rows, alone=alone, gaps=False)
    return _with_rest(table, lines, header, end, options)


def _cells_of(line: str) -> list[str]:
    """Return the cells of a line, without pipes, and without Markdown marks of bold or italic text."""
    parts = _PIPE.split(line.strip().removeprefix("|"))
    parts = parts if parts[-1].strip() or len(parts) < 2 else parts[:-1]
    cells = [cell.strip().replace("\\|", "|") for cell in parts]
    return [*map(_without_marks, cells)]


def _without_marks(cell: str) -> str:
    """Remove Markdown marks of bold or italic text around a cell."""
    mark = next((mark for mark in _BOLD if cell.startswith(mark) and cell.endswith(mark)), "")
    return cell[len(mark) : -len(mark)] if mark and len(cell) > 2 * len(mark) else cell


def _with_rest(table: DataTable, lines: Sequence[str], start: int, end: int, options: Options) -> DataTable:
    """Add a note about the lines of the file that are not part of the table.

    The table is in the lines with the indices `start` (included) to `end` (excluded).
    """
    rest = [i for i, line in enumerate(lines) if line.strip() and not start <= i < end]
    about = f"{Line(table.file, rest[0] + 1)}: not part of the table: {quote(lines[rest[0]].strip())}" if rest else ""
    more = f", and {len(rest) - 1} more lines" if len(rest) > 1 else ""
    notes = (*table.notes, about + more) if rest else table.notes
    return with_numbers(DataTable(**{**vars(table), "notes": notes}), options)


_BEGIN = re.compile(r"\\begin\{(tabular[*x]?|longtable|array)\}")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[{}&$~\[\](\n)]|[^\\{}&$~\[\](\n)]+|\\", re.DOTALL)
_RULES = frozenset("hline toprule midrule bottomrule endhead endfirsthead endfoot endlastfoot centering".split())
_LONG_RULES = frozenset("cline cmidrule addlinespace specialrule".split())
"""LaTeX rules that take arguments: a range of columns or a height."""
_STYLES = frozenset(
    "textbf textit texttt textsc textrm textsf emph underline mathbf mathrm mbox text num bf it tt sc em bfseries "
    "itshape small scriptsize footnotesize".split()
)


def _parse_latex(file: str, options: Options, *, alone: bool) -> DataTable:
    """Parse the only `tabular` in a file."""
    text = _COMMENT.sub("", read_text(file))
    found = [*_BEGIN.finditer(text)]
    if len(found) != 1:
        lines = " and ".join(str(text.count("\n", 0, each.start()) + 1) for each in found[:2])
        what = f"{len(found)} (lines {lines})" if found else "none"
        raise InputError(f"{file}: expected one table (tabular), found {what}")
    tokens = _TOKEN.findall(text[found[0].end() :])
    line = text.count("\n", 0, found[0].end()) + 1
    start = _end_of_group(tokens, 0, "[]")
    for _ in range(2 if found[0][1] in ("tabular*", "tabularx") else 1):
        start = _end_of_group(tokens, start, "{}")
    rows = _rows_of(file, tokens, start, line + tokens[:start].count("\n"))
    return with_numbers(table_of(file, rows, alone=alone, gaps=False), options)


def _end_of_group(tokens: Sequence[str], i: int, marks: str) -> int:
    """Return the index after the group in brackets that begins at token `i`, or `i` if no group begins there.

    `marks` holds the opening and the closing bracket.
    """
    if tokens[i : i + 1] != [marks[0]]:
        return i
    depth = 0
    for j in range(i, len(tokens)):
        depth += (tokens[j] == marks[0]) - (tokens[j] == marks[1])
        if depth == 0:
            return j + 1
    return len(tokens)


def _rows_of(file: str, tokens: Sequence[str], i: int, line: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each nonempty row of a `tabular`.

    `tokens` are the tokens of the file. The rows begin at the token with index `i`, on line `line` of the file.
    """
    cells, first = [""], line
    while i < len(tokens):
        token, i = tokens[i], i + 1
        name = token[1:]
        if token == "&":
            cells.append("")
        elif token in ("\\\\", "\\tabularnewline", "\\end"):
            if any(map(str.strip, cells)):
                yield first, [" ".join(cell.split()) for cell in cells]
            if name == "end":
                return
            cells, i = [""], _end_of_group(tokens, i, "[]")
        elif name in _RULES or name in _LONG_RULES:
            for marks in ("()", "[]", *["{}"] * 3) if name in _LONG_RULES else ("[]",):
                i = _end_of_group(tokens, i, marks)
        else:
            cells[-1] += _plain(file, line, token)
        line += token.count("\n")
        first = line if not any(map(str.strip, cells)) else first
    raise InputError(f"{Line(file, line)}: expected \\end after the rows of the table; is the file cut off?")


def _plain(file: str, line: int, token: str) -> str:
    """Return the plain text of a token. Commands are refused unless they are styles."""
    if token in ("{", "}", "$"):
        return ""
    if not token.startswith("\\"):
        return " " if token in ("~", "\n") else token
    name = token[1:]
    if name in _STYLES:
        return ""
    if name == "pm":
        return "±"
    if name not in tuple("&%$#_{} "):
        raise InputError(
            f"{Line(file, line)}: {quote(token)} is not understood; expected text and numbers, as in "
            "\\textbf{0.5}; write the table as CSV"
        )
    return name


read_markdown, read_latex = (partial(read_tables, parse) for parse in (_parse_markdown, _parse_latex))
