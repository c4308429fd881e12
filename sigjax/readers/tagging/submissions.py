"""Submissions to classification tasks: an id and a label per line, or a JSON object of id -> label, joined by id.

Tabs, commas, semicolons or blanks stand between the columns; the first line may name them. With names there may be more
than two: the id and the label are known by their names, and other columns of the gold file may be clusters or strata.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sigjax.files.opening import naming, read_head, read_text
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.json_files import item_at, parse_json, text
from sigjax.readers.numerals import is_text
from sigjax.readers.options import Options, listing, show
from sigjax.readers.tables.text import csv_records, unquote
from sigjax.readers.tables.vocabulary import is_id_name
from sigjax.readers.tagging.labels import LABEL_METRICS, evaluate_labels
from sigjax.records import InputError

_PREDICTED = "prediction predictions predicted predicted_label pred_label pred preds y_pred guess".split()
_GOLD = "gold gold_label gold_labels true_label y_true truth".split()
_EITHER = "label labels class target category tag sentiment stance answer y".split()
_LABELS = frozenset((*_PREDICTED, *_GOLD, *_EITHER))
_SCORES = frozenset("score scores value f1 acc accuracy correct probability confidence".split())
"""Names of numbers that are not labels."""
_MARK = re.compile(r"[\t,; ]")
_WHOLE = re.compile(r"[-+]?\d+")
_DIGIT = re.compile(r"\d")
_PAIR = r'"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+|true|false|null)\s*'
_OBJECT = re.compile(rf"\s*\{{\s*{_PAIR},\s*{_PAIR}(?:[,}}]|\Z)")
"""The beginning of an object of names and labels."""


class _Labels(NamedTuple):
    file: str
    labels: Mapping[str, str]
    """id -> label, in the order of the file."""
    lines: Mapping[str, int]
    """id -> line; empty for an object."""
    fields: Mapping[str, Sequence[str]]
    """name -> [row] the other columns; empty where the file has no names."""


def _split(file: str, content: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not blank; where blanks separate, a label may have several words."""
    first = content.lstrip("\n").partition("\n")[0].strip()
    marks = _MARK.findall(first)
    named = file.lower().removesuffix(".gz").endswith(".csv")
    mark = next((each for each in "\t,;" if each in marks and (named or each == "\t")), next(iter(marks), " "))
    if mark in ",;":
        for line, fields in csv_records(file, content.rstrip("\n"), mark):
            yield line, [field.strip() for field in fields]
        return
    for line, row in enumerate(content.split("\n"), start=1):
        if row.strip():
            fields = row.split("\t") if mark == "\t" else row.split(None, 1)
            yield line, [unquote(field.strip()) for field in fields]


def _column(names: Sequence[str], known: Sequence[str], taken: int) -> int | None:
    """The first known name among those of columns that are not taken."""
    by_name = {name.lower(): j for j, name in reversed(list(enumerate(names))) if j != taken}
    return next((by_name[name] for name in known if name in by_name), None)


def _has_names(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: an id and a label are called so, and no other row has that label."""
    names = rows[0]
    ids = [j for j, name in enumerate(names) if is_id_name(name)]
    label = _column(names, (*_GOLD, *_PREDICTED, *_EITHER), taken=-1)
    if len(names) == 2:
        named = 0 in ids or (label == 1 and not _DIGIT.search(names[0])) or (ids == [1] and label == 0)
        own = 1 if label != 0 else 0
        return named and all(row[own] != names[own] for row in rows[1:] if len(row) > own)
    return bool(ids) and label is not None


def _roles(file: str, names: Sequence[str], *, gold: bool) -> tuple[int, int]:
    """The columns of the id and of the label."""
    id = next((j for j, name in enumerate(names) if is_id_name(name)), 0)
    if len(names) == 2:
        return id, 1 - id
    label = _column(names, (*_GOLD, *_EITHER, *_PREDICTED) if gold else (*_PREDICTED, *_EITHER, *_GOLD), taken=id)
    if label is None:
        raise InputError(f"{file}, line 1: which of {listing(names)} is the label? name that column 'label'")
    return id, label


def _read_labels(file: str, *, gold: bool) -> _Labels:
    content = read_text(file)
    if content.lstrip().startswith("{"):
        return _of_object(file, content, gold=gold)
    lines, rows = zip(*_split(file, content), strict=True)
    width, named = len(rows[0]), _has_names(rows)
    if width != 2 and not named:
        got = "one field" if width == 1 else f"{width} fields without names"
        raise InputError(f"{file}, line {lines[0]}: expected an id and a label, got {got}")
    id, label = _roles(file, rows[0], gold=gold) if named else (0, 1)
    found, at = dict[str, str](), dict[str, int]()
    for line, row in list(zip(lines, rows, strict=True))[named:]:
        if len(row) != width:
            raise InputError(f"{file}, line {line}: expected {width} fields as on line {lines[0]}, got {len(row)}")
        if not (row[id] and row[label]):
            raise InputError(f"{file}, line {line}: expected an id and a label, got an empty one")
        if row[id] in at:
            raise InputError(f"{file}, line {line}: id {show(row[id])} is also on line {at[row[id]]}; leave one out")
        found[row[id]], at[row[id]] = row[label], line
    if not found:
        raise InputError(f"{file}: has names of columns but no rows; expected one per instance")
    if not named:
        _check_first(file, lines[0], found)
    others = [j for j in range(width) if j not in (id, label)]
    return _Labels(file, found, at, {rows[0][j]: [row[j] for row in rows[1:]] for j in others})


def _of_object(file: str, content: str, *, gold: bool) -> _Labels:
    """The labels of an object; null is none given."""
    found, labels = item_at(file, parse_json(file, content)), dict[str, str]()
    for id, value in found.fields.items():
        with naming(file):
            text(id)
        if value is not None or gold:
            labels[id] = str(value).lower() if isinstance(value, bool) else found.text(id).strip()
    if not labels:
        raise InputError(f"{file}: has no labels; expected an object of id -> label")
    return _Labels(file, labels, {}, {})


def _check_first(file: str, line: int, labels: Mapping[str, str]) -> None:
    """Refuse a first line that seems to name columns in words of its own: it would count as an instance."""
    first, *others = labels
    alone = labels[first] not in (labels[id] for id in others)
    if others and alone and not _DIGIT.search(first) and all(map(_DIGIT.search, others)):
        raise InputError(
            f"{file}, line {line}: is {show(first)}, {show(labels[first])} an instance? it seems to name columns: "
            "call them id and label, or leave the line out"
        )


def _read(sources: Sources, options: Options) -> Reading:
    gold = _read_labels(sources.gold(), gold=True)
    systems = {name: _read_labels(file, gold=False) for name, file in sources.chosen(options).items()}
    notes = tuple(note for name, own in systems.items() if (note := _checked(name, own, gold)))
    return partial(
        evaluate_labels,
        list(gold.labels.values()),
        {name: (own.file, [own.labels.get(id) for id in gold.labels]) for name, own in systems.items()},
        ids=list(gold.labels),
        fields=gold.fields,
        notes=notes,
    )


def _checked(name: str, own: _Labels, gold: _Labels) -> str:
    """Refuse ids that are not in the gold file, and labels that are all unknown; a note where some are."""
    stray = [id for id in own.labels if id not in gold.labels]
    if len(stray) == len(own.labels):
        raise InputError(
            f"{own.file}: has none of the ids of {gold.file}, such as {show(next(iter(gold.labels)))}; "
            f"its first is {show(stray[0])}; do they belong together?"
        )
    if stray:
        place = f"{own.file}, line {own.lines[stray[0]]}" if own.lines else own.file
        raise InputError(
            f"{place}: id {show(stray[0])} is not in {gold.file}; leave it out"
            + (f" (and {len(stray) - 1} others)" if len(stray) > 1 else "")
        )
    known, used = set(gold.labels.values()), Counter(own.labels.values())
    unknown = [label for label in used if label not in known]
    if len(unknown) == len(used):
        raise InputError(
            f"{own.file}: none of its labels ({listing(unknown, 3)}) is among those of {gold.file} "
            f"({listing(dict.fromkeys(gold.labels.values()), 3)}); expected the same spelling"
        )
    number = sum(used[label] for label in unknown)
    return f"{name}: {number} of {used.total()} labels never occur in the gold file: {listing(unknown, 3)}" * bool(
        unknown
    )


def _looks(name: str, head: bytes) -> bool:
    """Whether lines are ids, all different, and labels, which are single words or some of them the same."""
    content = (head[: head.rfind(b"\n") + 1] or head).decode("utf-8", "replace").replace("\r\n", "\n")
    if not content.strip() or content.lstrip().startswith(("{", "[", "(", "#")):
        return _OBJECT.match(content) is not None and re.search(r"\}\s*\{", content) is None
    try:
        rows = [row for _, row in _split(name, content)]
        named = _has_names(rows)
        id, label = _roles(name, rows[0], gold=True) if named else (0, 1)
    except InputError:
        return False
    width, given = len(rows[0]), rows[named:]
    if {len(row) for row in rows} != {width} or not given or (width != 2 and not named):
        return False
    ids, labels = ([row[j] for row in given] for j in (id, label))
    if len(set(ids)) < len(ids) or not all(map(str.strip, (*ids, *labels))):
        return False
    whole = all(map(_WHOLE.fullmatch, labels))
    if not whole and not any(map(is_text, labels)):
        return False
    # A column of another name may be a system: numbers are then results.
    if named and (rows[0][label].lower() not in _LABELS if whole else rows[0][label].lower() in _SCORES):
        return False
    several_words = any(" " in each for each in labels)
    repeated = len(set(labels)) < len(labels)
    blanks = _MARK.search(content.lstrip("\n").partition("\n")[0].replace(" ", "")) is None
    return repeated and not several_words if blanks else repeated or not several_words


def _confirmed(files: Sequence[str], _: Sequence[str]) -> bool:
    """Whether an object is one of labels: none of its names is that of a field, and labels are short or few."""
    file = files[0]
    if not read_head(file)[1].lstrip().startswith(b"{"):
        return True
    try:
        loaded = item_at(file, parse_json(file, read_text(file))).fields
    except InputError:  # reading says what is wrong
        return True
    if any(map(is_id_name, loaded)) or not all(isinstance(each, str | int | None) for each in loaded.values()):
        return False
    labels = [each.strip() for each in loaded.values() if isinstance(each, str)]
    if all(len(each) <= 2 for each in labels) or 2 * len(set(labels)) <= len(labels):
        return True
    raise InputError(
        f"{file}: are these labels, or answers to questions? say --reader id-labels to compare labels, or --reader "
        "squad for exact_match and f1"
    )


ID_LABELS = Format(
    "id-labels",
    "ids and class labels, one per line or as a JSON object",
    "gold",
    _read,
    _looks,
    LABEL_METRICS,
    certain=False,
    confirmed=_confirmed,
)
