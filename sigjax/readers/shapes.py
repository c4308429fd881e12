"""Tables in other shapes, made those that are read: some of their rows, files put together, rows and columns turned.

`--where` keeps some rows. `--id-column A,B` makes one id of several columns. `--transpose` exchanges rows and columns,
and `--melt` makes a row of each run that stands in a column of its own. Files that hold the same systems, one file for
each data set or game, are one table.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.evidence import FILE, find_ids, tells_apart, unused
from sigjax.readers.lexicon import is_data_set, is_fold, is_trial, lexicon, may_be_system, metrics_in
from sigjax.readers.options import Options, check_named, listing, quote
from sigjax.readers.table import DataColumn, DataTable, as_float
from sigjax.records import Hint, InputError

_BETWEEN = " | "
"""What stands between the parts of an id."""
_RUN, _SCORE, _DATA = "run", "score", "data set"
"""Columns that are made."""


def shaped(table: DataTable, options: Options) -> tuple[DataTable, Options, tuple[str, ...]]:
    """A table in the shape that is read, the options for it, and notes on what was done."""
    notes: list[str] = [*table.notes]
    if settings := _of_settings(table, options):
        table, options, note = settings
        notes.append(note)
    table = _joined(table, "system_column", options.system_column)
    if options.transpose:
        table, options, left_out = _transposed(table, options)
        notes.append(f"rows and columns are exchanged: rows are the systems{left_out}")
    if options.where is not None:
        kept = rows_where(table, options.where)
        notes.append(f"rows where {options.where}: {np.count_nonzero(kept):,} of {len(kept):,}")
        table = _rows(table, np.flatnonzero(kept))
    if options.melt is not None:
        table = _melted(table, options.melt)
        notes.append(f"runs are the columns {listing(options.melt, 4)}")
        options = replace(options, runs=options.runs or _RUN, score_column=options.score_column or _SCORE)
    if options.folds:
        table, options = _of_folds(table, options)
    for name in ("id_column", "runs"):
        table = _joined(table, name, getattr(options, name))
    return table, options, tuple(notes)


_SPLIT = re.compile(r"split(\d+)_test_(.+)")
_SETTING = re.compile(r"param_(.+)")


def _of_settings(table: DataTable, options: Options) -> tuple[DataTable, Options, str] | None:
    """A table of scikit-learn's `cv_results_` as one row per setting and fold; None for other tables.

    Systems are the settings, with the parameters that differ; columns are the scores, by the metrics' names.
    """
    found = [match for name in table.columns if (match := _SPLIT.fullmatch(name))]
    folds, metrics = (list(dict.fromkeys(match[k] for match in found)) for k in (1, 2))
    if len(folds) < 2 or len(found) != len(folds) * len(metrics) or options.melt:
        return None
    parameters = {match[1]: table.columns[name] for name in table.columns if (match := _SETTING.fullmatch(name))}
    told = options.system_column
    if told is not None:
        check_named(table.file, "system_column", [told], table.columns)
        names = [*table.columns[told]]
    elif parameters:
        differing = {name: own for name, own in parameters.items() if len({*own}) > 1} or parameters
        rows = zip(*differing.values(), strict=True)
        names = [", ".join(f"{name}={cell}" for name, cell in zip(differing, row, strict=True)) for row in rows]
    else:
        names = [f"setting {row + 1}" for row in range(len(table.lines))]
    if repeated := next((name for i, name in enumerate(names) if name in names[:i]), None):
        how = f"name them by a column with {Hint('system_column', 'NAME')}"
        raise InputError(f"{table.file}: two rows are the setting {quote(repeated)}; {how}")
    count = len(names)
    columns = {
        "system": DataColumn(names * len(folds)),
        "fold": DataColumn([fold for fold in folds for _ in range(count)]),
    }
    for metric in metrics:
        columns[metric] = DataColumn([cell for fold in folds for cell in table.columns[f"split{fold}_test_{metric}"]])
    made = replace(table, columns=columns, lines=[*table.lines] * len(folds), index=())
    kept = [name for name in options.ignore if name not in table.columns]
    note = f"{count} settings of cv_results_ are the systems; scores are those of {len(folds)} folds"
    return made, replace(options, system_column="system", id_column=options.id_column or "fold", ignore=kept), note


def _rows(table: DataTable, rows: np.ndarray) -> DataTable:
    """Some rows of a table."""
    chosen = rows.tolist()
    columns = {
        name: DataColumn([column[row] for row in chosen], nested=column.nested)
        for name, column in table.columns.items()
    }
    return replace(table, columns=columns, lines=[table.lines[row] for row in chosen])


def _of_folds(table: DataTable, options: Options) -> tuple[DataTable, Options]:
    """A table of folds: runs are its columns named fold and repeat, ids its column of data sets, if it has one."""
    fold = next(filter(is_fold, table.columns), None)
    if fold is None or options.runs is not None:
        return table, options
    repeats = [name for name in table.columns if is_trial(name) and name != options.system_column]
    repeats = [name for name in repeats if _crosses(table.names[name], table.names[fold])]
    labels = [*repeats[:1], fold]
    cells = map(_BETWEEN.join, zip(*(table.names[name] for name in labels), strict=True))
    columns = {name: own for name, own in table.columns.items() if name not in labels}
    table = replace(table, columns={**columns, ",".join(labels): DataColumn([*cells])})
    kept = [name for name in options.ignore if name not in labels]
    options = replace(options, runs=",".join(labels), ignore=kept)
    if not {*(options.id_column or fold).split(",")} <= {*labels}:
        return table, options
    data = next(filter(is_data_set, table.columns), _DATA)
    if data not in table.columns:
        table = replace(table, columns={**table.columns, data: DataColumn([_DATA] * len(table.lines))})
    return table, replace(options, id_column=data)


def _crosses(repeats: np.ndarray, folds: np.ndarray) -> bool:
    """Whether each repeat has several folds: a seed for each fold is none."""
    of_repeat: dict[str, set[str]] = {}
    for repeat, fold in zip(repeats.tolist(), folds.tolist(), strict=True):
        of_repeat.setdefault(repeat, set()).add(fold)
    return min(map(len, of_repeat.values())) > 1


def _joined(table: DataTable, option: str, given: str | None) -> DataTable:
    """The table with a column for an id or a run of several columns, named as the option says."""
    names = (given or "").split(",")
    if given is None or len(names) < 2 or given in table.columns:
        return table
    names = [name if name in table.columns else name.strip() for name in names]
    check_named(table.file, option, names, table.columns)
    cells = zip(*(table.names[name] for name in names), strict=True)
    return replace(table, columns={**table.columns, given: DataColumn([*map(_BETWEEN.join, cells)])})


def _transposed(table: DataTable, options: Options) -> tuple[DataTable, Options, str]:
    """The table with its rows as columns; the options without the columns that were left out, and what these are."""
    words = [name for name in table.columns if table.columns[name].is_words() and name not in options.ignore]
    usual = [name for name in words if may_be_system(name)]
    named = options.system_column or next(iter([*usual, *words]), None)
    if named is None:
        raise InputError(f"{table.file}: {Hint('transpose')}: no column holds the names of the systems")
    parts = {named, *named.split(",")} if options.system_column else {named}
    left_out = [name for name in table.columns if name in options.ignore or (name in words and name not in parts)]
    instances = [name for name in table.columns if name not in {*parts, *left_out}]
    systems = table.names[named].tolist()
    if repeated := next((name for i, name in enumerate(systems) if name in systems[:i]), None):
        first, second = [row for row, name in enumerate(systems) if name == repeated][:2]
        rows = f"({table.row_word}s {table.lines[first]} and {table.lines[second]})"
        said = f"two rows are named {quote(repeated)} {rows}; {_repeated_names_advice(table, named)}"
        raise InputError(f"{table.file}: {Hint('transpose')}: {said}")
    cells = [list(table.columns[name]) for name in instances]
    columns = {"id": DataColumn(instances)}
    columns |= {name: DataColumn([column[row] for column in cells]) for row, name in enumerate(systems)}
    about = f" (left out: {listing(left_out, 4)})" if left_out else ""
    metrics = {metric for name in instances for metric in metrics_in(name)} if all(map(metrics_in, instances)) else ()
    if options.systems is None and (options.system_column or named in usual):
        chosen = [name for name in systems if name not in options.ignore]
        options = replace(options, systems=chosen)  # whatever they are called
    if len(metrics) == 1 and not options.higher_is_better and lexicon().direction(*metrics) == "lower":
        options = replace(options, lower_is_better=True)
    options = replace(options, ignore=[name for name in options.ignore if name not in left_out], system_column=None)
    return DataTable(table.file, columns, range(1, len(instances) + 1), "row"), options, about


def _repeated_names_advice(table: DataTable, named: str) -> str:
    """What to do about rows of the same name: another column may tell them apart."""
    others = [name for name in table.columns if name != named and not table.columns[name].nested]
    for name in sorted(others, key=lambda name: not table.columns[name].is_words()):
        column = table.columns[name]
        is_fraction = not column.is_words() and any(as_float(cell) % 1 > 0 for cell in column)
        if not is_fraction and len({*zip(table.columns[named], column, strict=True)}) == len(table.lines):
            return f"give {Hint('system_column', quote(f'{named},{name}'))}, which tells them apart, or rename one"
    return f"rename one, or take some rows ({Hint('where')})"


def _melted(table: DataTable, names: Sequence[str]) -> DataTable:
    check_named(table.file, "melt", names, table.columns)
    count, runs = len(table.lines), len(names)
    columns = {name: DataColumn([*own] * runs) for name, own in table.columns.items() if name not in names}
    columns[_RUN] = DataColumn([name for name in names for _ in range(count)])
    columns[_SCORE] = DataColumn([cell for name in names for cell in table.columns[name]])
    return replace(table, columns=columns, lines=[*table.lines] * runs, index=())


_COMPARED: Mapping[type, Callable[[Any, Any], Any]] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge},
}


def rows_where(table: DataTable, condition: str) -> np.ndarray:
    """Which rows of a table meet a condition, `[row]` bool.

    Comparisons of columns with numbers, texts in quotes, true and false, or lists of them, joined by `and`, `or` and
    `not`. Names that are no words stand between backquotes. Nothing is executed. A cell that is no number meets no
    comparison with one.

    >>> columns = {"task": DataColumn(["x", "y", "x"]), "n": DataColumn(["1", "2", "10"])}
    >>> table = DataTable("t.csv", columns, [2, 3, 4])
    >>> rows_where(table, "task == 'x' and n > 5").tolist(), rows_where(table, "`n` in [1, 2]").tolist()
    ([False, False, True], [True, True, False])
    """
    quoted: list[str] = []
    stem = "quoted"
    while stem in condition:
        stem += "_"

    def named(match: re.Match[str]) -> str:
        quoted.append(match[1])
        return f"{stem}{len(quoted) - 1}"

    def met(node: ast.AST) -> np.ndarray:
        match node:
            case ast.BoolOp():
                both = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
                return both.reduce([met(part) for part in node.values])
            case ast.UnaryOp(ast.Not()):
                return ~met(node.operand)
            case ast.Compare(ast.Name() | ast.Attribute() | ast.Subscript(), [how], [right]):
                name = ast.unparse(node.left)
                for index in reversed(range(len(quoted))):  # the 10th before the first
                    name = name.replace(f"{stem}{index}", quoted[index])
                check_named(table.file, "where", [name], table.columns)
                return _cells_that_satisfy(table.columns[name], how, ast.literal_eval(right))
        raise ValueError

    try:
        kept = met(ast.parse(re.sub(r"`([^`]*)`", named, condition), mode="eval").body)
    except InputError:
        raise
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError):
        raise InputError(
            f"{table.file}: {Hint('where')}: {quote(condition)} is not understood; expected comparisons of columns "
            "with numbers and texts in quotes, such as \"task == 'x' and length > 5\": ==, !=, <, <=, >, >=, in, and, "
            "or, not"
        ) from None
    if not kept.any():
        raise InputError(f"{table.file}: {Hint('where')}: no row meets {condition}")
    return kept


def _cells_that_satisfy(cells: DataColumn, how: ast.cmpop, value: Any) -> np.ndarray:
    """Which cells `[row]` compare so with a value; other comparisons are a `ValueError` or `KeyError`."""
    if isinstance(how, ast.In | ast.NotIn) and isinstance(value, list | tuple | set):
        found = np.zeros(len(cells), bool)
        for each in value:
            found |= _cells_that_satisfy(cells, ast.Eq(), each)
        return ~found if isinstance(how, ast.NotIn) else found
    compare = _COMPARED[type(how)]
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise InputError(
            f"{Hint('where')}: whole numbers beyond 2**53 are not exact, got {quote(str(value))}; write it in quotes, "
            "or compare with a rounded number such as 1e20"
        )
    if isinstance(value, bool | int | float):
        numbers = np.array([as_float(cell) for cell in cells])
        return np.asarray(compare(numbers, float(value)))
    if isinstance(value, str) and isinstance(how, ast.Eq | ast.NotEq):
        return np.array([compare(cell.strip(), value) for cell in cells], bool)
    raise ValueError  # texts have no order that numbers among them would have, too


def paths_of(options: Options) -> list[str]:
    """The columns that options name by a path below fields, such as `parsed.score`."""
    names = [*(options.id_column or "").split(","), options.system_column, options.score_column, options.runs]
    names += [options.cluster, options.strata, options.gold, *(options.prediction or ()), *(options.melt or ())]
    names += [*(options.counts or {}).values(), *re.findall(r"`([^`]*)`", options.where or "")]
    names += re.findall(r"[A-Za-z_][\w.\[\]]*", options.where or "")
    return [name.strip() for name in dict.fromkeys(names) if name and re.search(r"[.\[]", name)]


def together(tables: Mapping[str, DataTable], options: Options) -> tuple[DataTable, Options, tuple[str, ...]] | None:
    """One table of several that hold the same systems in a column; None if each table is one of a system.

    Ids are those of the tables, with the file before them where ids repeat.
    """
    system = options.system_column or _common_systems(list(tables.values()), options)
    if system is None or not all(system in table.columns for table in tables.values()):
        return None
    names = list(dict.fromkeys(name for table in tables.values() for name in table.columns))
    columns: dict[str, list[str]] = {name: [] for name in names}
    of_file: list[str] = []
    for label, table in tables.items():
        of_file += [label] * len(table.lines)
        for name, cells in columns.items():
            cells += table.columns[name] if name in table.columns else [""] * len(table.lines)
    nested = {name for table in tables.values() for name in table.columns if table.columns[name].nested}
    made = {name: DataColumn(cells, nested=name in nested) for name, cells in columns.items()}
    made.setdefault(FILE, DataColumn(of_file))
    first, notes = next(iter(tables.values())), tuple(note for table in tables.values() for note in table.notes)
    file = f"{first.file} and {len(tables) - 1} more"
    table = DataTable(file, made, range(1, len(of_file) + 1), "row", notes=notes)
    options = replace(options, system_column=system)
    if options.id_column is None:
        free = [name for name in unused(first, options, [system]) if not first.columns[name].nested]
        own = find_ids(table, options, [], free, system)
        unique = own is not None and tells_apart(table, own, options, system)
        options = replace(options, id_column=own if unique else ",".join(filter(None, (FILE, own))))
        table = _joined(table, "id_column", options.id_column)
    return table, options, (f"{len(tables)} files are one table: systems are from column {quote(system)}",)


def _common_systems(tables: Sequence[DataTable], options: Options) -> str | None:
    """The column that holds the same systems in all tables, by its name."""
    for name in unused(tables[0], options, [options.id_column, options.score_column]):
        if may_be_system(name) and all(name in table.columns and table.columns[name].is_words() for table in tables):
            common = set.intersection(*({*table.columns[name]} for table in tables))
            if len(common) > 1:
                return name
    return None


def record_paths(value: Any) -> list[str]:
    """Where lists of objects stand in a JSON value, those with most objects first.

    >>> record_paths({"version": 1, "results": [{"task": "x", "samples": [{"id": 1}, {"id": 2}]}]})
    ['results[*].samples', 'results']
    """

    def below(value: Any, path: str) -> list[str]:
        if isinstance(value, dict):
            return [each for name, own in value.items() for each in below(own, f"{path}.{name}")]
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            return [path, *below(value[0], f"{path}[*]")]
        return []

    paths = [path.removeprefix(".") for path in below(value, "")]
    return sorted(filter(None, paths), key=lambda path: -len(records_at(value, path)))


def records_question(paths: Sequence[str]) -> str:
    """What to do about a JSON file with lists of objects at some paths."""
    also = f" (lists of objects also stand at {listing(paths[1:], 3)})" if paths[1:] else ""
    return f"unknown format of JSON; is it a table at {Hint('records', quote(paths[0]))}?{also}"


def at_path(value: Any, path: str) -> Any:
    """What stands at a path such as `parsed.score` or `scores[0].value`; None if nothing does.

    >>> at_path({"parsed": {"scores": [1, 2]}}, "parsed.scores[1]")
    2
    """
    for part in re.findall(r"[^.\[\]]+", path):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return None
    return value


def records_at(value: Any, path: str) -> list[Any]:
    """The records at a path such as `results[*].samples[*]`, with the plain fields of what holds them.

    >>> records_at({"results": [{"task": "x", "samples": [{"id": 1}, {"id": 2}]}]}, "results[*].samples[*]")
    [{'task': 'x', 'id': 1}, {'task': 'x', 'id': 2}]
    """
    found: list[tuple[Any, dict[str, Any]]] = [(value, {})]
    for step in re.findall(r"[^.\[\]]+|\[\*\]", path):
        following: list[tuple[Any, dict[str, Any]]] = []
        for own, held in found:
            if step in ("*", "[*]"):
                each = own if isinstance(own, list) else list(own.values()) if isinstance(own, dict) else []
                following += [(one, held) for one in each]
            elif isinstance(own, dict) and step in own:
                plain = {name: one for name, one in own.items() if not isinstance(one, list | dict)}
                following.append((own[step], held | plain))
        found = following
    found = [(one, held) for own, held in found for one in (own if isinstance(own, list) else [own])]
    return [held | own if isinstance(own, dict) else own for own, held in found]
