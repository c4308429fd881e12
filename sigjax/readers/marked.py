"""Tables in texts: of Markdown, with pipes between columns, and of LaTeX, as `tabular` with & and two backslashes."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from sigjax.readers.grid import is_rule, table_of
from sigjax.readers.layouts import read_tables
from sigjax.readers.options import Options, quote
from sigjax.readers.table import DataTable, with_numbers
from sigjax.records import InputError, Line
from sigjax.run.files import read_text

_PIPE = re.compile(r"(?<!\\)\|")
_BOLD = ("**", "__", "*", "_", "`")


def _parse_markdown(file: str, options: Options, *, alone: bool) -> DataTable:
    """The only table of Markdown in a file; the text around it becomes notes."""
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
    """The cells of a line, without the pipes around them, and without marks of bold and slanted text."""
    parts = _PIPE.split(line.strip().removeprefix("|"))
    parts = parts if parts[-1].strip() or len(parts) < 2 else parts[:-1]
    cells = [cell.strip().replace("\\|", "|") for cell in parts]
    return [*map(_without_marks, cells)]


def _without_marks(cell: str) -> str:
    """A cell without the marks of bold and slanted text around it."""
    mark = next((mark for mark in _BOLD if cell.startswith(mark) and cell.endswith(mark)), "")
    return cell[len(mark) : -len(mark)] if mark and len(cell) > 2 * len(mark) else cell


def _with_rest(table: DataTable, lines: Sequence[str], start: int, end: int, options: Options) -> DataTable:
    """The table with a note on the lines of a file that are not part of it."""
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
"""Rules of LaTeX that are followed by a range of columns or a height."""
_STYLES = frozenset(
    "textbf textit texttt textsc textrm textsf emph underline mathbf mathrm mbox text num bf it tt sc em bfseries "
    "itshape small scriptsize footnotesize".split()
)


def _parse_latex(file: str, options: Options, *, alone: bool) -> DataTable:
    """The only `tabular` of a file."""
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
    """The index after a group in brackets, if one begins here."""
    if tokens[i : i + 1] != [marks[0]]:
        return i
    depth = 0
    for j in range(i, len(tokens)):
        depth += (tokens[j] == marks[0]) - (tokens[j] == marks[1])
        if depth == 0:
            return j + 1
    return len(tokens)


def _rows_of(file: str, tokens: Sequence[str], i: int, line: int) -> Iterator[tuple[int, list[str]]]:
    """The line and the cells of each row that is not empty."""
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
    """A part of a cell as text; a command that is more than a style is refused."""
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
