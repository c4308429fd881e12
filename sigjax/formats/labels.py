"""Classification: gold and predicted labels, one per line or by id; the output of TiMBL; and term lists.

**Ids.** A file with ids has an id and a label per line, or is a JSON object of id -> label. Columns are separated by
tabs, commas, semicolons or blanks. The first line may name the columns. Then there may be more than two columns: the id
and the label are found by their names, and other columns of the gold file can be clusters or strata.

**TiMBL** writes one instance per line: features, the gold label and the predicted label. **Term lists** are in the
format of `art.py -r` of CLiPS, and are compared as sets. An instance is a term of any list; each system has 0 or 1 for
it. So tests swap terms one by one for any `unit`. With unit="response", the report also says that the terms are not a
random sample.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sigjax.formats.conll import check_same, head_tokens, split_blanks
from sigjax.readers.join import Reading, Sheet, Sources, join_sheets, read_lines
from sigjax.readers.json_files import item_at, parse_json, text
from sigjax.readers.lexicon import is_id_name
from sigjax.readers.options import Options, listing, quote
from sigjax.readers.plain import csv_records, unquote
from sigjax.readers.predictions import Predicted, evaluate_predictions
from sigjax.readers.table import is_text
from sigjax.records import EvaluationRecord, Hint, InputError, Line
from sigjax.run.files import naming, read_head, read_text

_BLANK, _NUMBER = re.compile(r"[ \t]"), re.compile(r"[-+.\d]*")


def evaluate_labels(
    gold: Sequence[str],
    systems: Mapping[str, tuple[str, Sequence[str | None]]],
    options: Options,
    *,
    ids: Sequence[str] | None = None,
    fields: Mapping[str, Sequence[str]] | None = None,
) -> EvaluationRecord:
    """Evaluate the predicted labels of systems.

    `systems` is a dict from a name to (file, predicted labels `[instance]`); a missing predicted label is None. `gold`
    (the gold labels) and `ids` are `[instance]`. `fields` is a dict from the name of a field, which clusters or strata
    can use, to its labels `[instance]`.
    """
    found = [Predicted(Sheet(name, file, {}, fields or {}, ids), gold, own) for name, (file, own) in systems.items()]
    return evaluate_predictions(found, options)


def read_label_files(sources: Sources, _: Options) -> Reading:
    """Read gold labels and the labels of each system, joined by position."""
    file = sources.gold()
    gold = read_labels(file)
    systems = {name: (own, read_labels(own)) for name, own in sources.systems.items()}
    for own, labels in systems.values():
        if len(labels) != len(gold):
            raise InputError(f"{own}: has {len(labels)} labels, but {file} has {len(gold)}; expected one per instance")
    return partial(evaluate_labels, gold, systems)


def read_labels(file: str) -> list[str]:
    """Return the labels of a file, one per line, without blanks around them."""
    labels = [line.strip() for line in read_text(file).rstrip("\n").split("\n")]
    if not all(labels):
        raise InputError(f"{Line(file, labels.index('') + 1)}: expected a label, got an empty line")
    return labels


def parse_instances(file: str, text: str) -> tuple[list[str], list[str], list[str]]:
    r"""Parse TiMBL output. Return features, gold labels and predicted labels, `[instance]` each.

    The features include the gold label. Fields are separated by blanks if there are blanks, else by commas.

    >>> parse_instances("t", "+,a,P,Q\n-,a,P,P\n")
    (['+ a P', '- a P'], ['P', 'P'], ['Q', 'P'])
    """
    lines = text.strip("\n").split("\n")
    commas = "," in lines[0] and not _BLANK.search(lines[0].strip())
    split = _split_commas if commas else split_blanks
    width = len(split(lines[0]))
    if width < 2:
        raise InputError(f"{file}, line 1: expected features, the gold label and the predicted one, got one field")
    features: list[str] = []
    gold: list[str] = []
    predicted: list[str] = []
    for line, content in enumerate(lines, start=1):
        row = split(content)
        if len(row) != width:
            raise InputError(f"{Line(file, line)}: expected {width} fields as on line 1, got {len(row)}")
        if not (row[-1] and row[-2]):
            raise InputError(f"{Line(file, line)}: expected a gold label and a predicted one as the last two fields")
        predicted.append(row.pop())
        gold.append(row[-1])
        features.append(" ".join(row))
    return features, gold, predicted


def _split_commas(line: str) -> list[str]:
    return [field.strip() for field in line.split(",")] if " " in line else line.split(",")


def read_timbl(sources: Sources, _: Options) -> Reading:
    """Read files that each have the gold labels and the labels of one system."""
    files = sources.systems
    parsed = {name: parse_instances(file, read_text(file)) for name, file in files.items()}
    instances = {name: (files[name], range(1, len(own) + 1), own) for name, (own, _, _) in parsed.items()}
    first = next(iter(files))
    for own in instances.values():
        check_same("instance", own, instances[first])
    gold = parsed[first][1]
    _check_header(files[first], gold, [predicted for _, _, predicted in parsed.values()])
    return partial(evaluate_labels, gold, {name: (files[name], own) for name, (_, _, own) in parsed.items()})


def _check_header(file: str, gold: Sequence[str], predicted: Sequence[Sequence[str]]) -> None:
    """Raise an error if the first line seems to name columns, because it would count as an instance.

    It seems so if it has two labels that no other line has.
    """
    guesses = {labels[0] for labels in predicted}
    others = {label for labels in (gold, *predicted) for label in labels[1:]}
    names = {gold[0], *guesses}
    if others and len(names) == 2 and gold[0] not in guesses and not names & others:
        raise InputError(
            f"{file}, line 1: seems to hold names of columns, since no other line has the labels "
            f"{listing(sorted(names))}; leave it out"
        )


def looks_like_timbl(_: str, head: bytes) -> bool:
    """Whether all lines have the same number of fields (3 or more), and the last two fields are words.

    On some line, these two fields must be equal.
    """
    tokens = head_tokens(head.replace(b",", b" ") if b" " not in head.partition(b"\n")[0] else head)
    if tokens is None or len(tokens.sentences) > 1 or tokens.num_columns < 3:
        return False
    gold, predicted = tokens.next_to_last, tokens.tags
    if any(map(_NUMBER.fullmatch, (*gold, *predicted))) or len(gold) < 2:
        return False
    return any(map(str.__eq__, gold, predicted))


def read_terms(sources: Sources, options: Options) -> Reading:
    """Read term lists: which terms the gold list and each system have."""
    files = sources.chosen(options)
    lines = map(read_lines, (sources.gold(), *files.values()))
    lists = [[term for line in own if (term := line.strip())] for own in lines]
    notes = tuple(
        f"{name}: {count} of {len(own)} lines repeat a term, which counts once"
        for name, own in zip(("the gold list", *files), lists, strict=True)
        if (count := len(own) - len(set(own)))
    )
    terms = list(dict.fromkeys(term for own in lists for term in own))
    right, *returned = (np.array([term in own for term in terms], float) for own in map(frozenset, lists))
    sheets = [
        Sheet(name, file, {"tp": own * right, "predicted": own, "gold": right}, ids=terms)
        for (name, file), own in zip(files.items(), returned, strict=True)
    ]
    return join_sheets(sheets, options, notes=notes)


_PREDICTED = "prediction predictions predicted predicted_label pred_label pred preds y_pred guess".split()
_GOLD = "gold gold_label gold_labels true_label y_true truth".split()
_EITHER = "label labels class target category tag sentiment stance answer y".split()
_LABELS = frozenset((*_PREDICTED, *_GOLD, *_EITHER))
_SCORES = frozenset("score scores value f1 acc accuracy correct probability confidence".split())
"""Names of columns whose numbers are scores, not labels."""
_MARK = re.compile(r"[\t,; ]")
_WHOLE = re.compile(r"[-+]?\d+")
_DIGIT = re.compile(r"\d")
_PAIR = r'"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+|true|false|null)\s*'
_OBJECT = re.compile(rf"\s*\{{\s*{_PAIR},\s*{_PAIR}(?:[,}}]|\Z)")
"""Pattern of the beginning of a JSON object of id -> label."""


@dataclass(frozen=True, slots=True)
class ById:
    """The labels (or words) in a file, by the id of the instance."""

    file: str
    values: Mapping[str, str]
    """Dict from an id to its label (or words), in the order of the file."""
    lines: Mapping[str, int]
    """Dict from an id to its line number; empty for JSON."""
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Dict from the name of another column to its texts `[row]`."""

    def where(self, id: str) -> str:
        """Return the file and line of an id, for messages."""
        return f"{Line(self.file, self.lines[id])}" if id in self.lines else self.file

    def check_known(self, gold: "ById") -> None:
        """Raise an error for ids that the gold file does not have."""
        if stray := [id for id in self.values if id not in gold.values]:
            more = f" (and {len(stray) - 1} others)" if len(stray) > 1 else ""
            raise InputError(
                f"{self.where(stray[0])}: id {quote(stray[0])} is not in {gold.file}, which begins with "
                f"{quote(next(iter(gold.values)))}; leave it out{more}"
            )


def _split(file: str, content: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each nonblank line.

    If blanks separate the fields, everything after the id is one label, which may have several words.
    """
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
    """Return the position of the column whose name comes first in `known`; None if no column has such a name.

    The column at position `taken` does not count.
    """
    by_name = {name.lower(): j for j, name in reversed(list(enumerate(names))) if j != taken}
    return next((by_name[name] for name in known if name in by_name), None)


def _has_names(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: it has names for an id and for a label.

    If there are two columns, one of these names may be enough. But then no other row may have the name of the label
    column as its label.
    """
    names = rows[0]
    ids = [j for j, name in enumerate(names) if is_id_name(name)]
    label = _column(names, (*_GOLD, *_PREDICTED, *_EITHER), taken=-1)
    if len(names) == 2:
        named = 0 in ids or (label == 1 and not _DIGIT.search(names[0])) or (ids == [1] and label == 0)
        own = 1 if label != 0 else 0
        return named and all(row[own] != names[own] for row in rows[1:] if len(row) > own)
    return bool(ids) and label is not None


def _roles(file: str, names: Sequence[str], *, gold: bool) -> tuple[int, int]:
    """Return two positions: of the column with the id, and of the column with the label.

    `gold` says whether the file holds gold labels, and not predictions.
    """
    id = next((j for j, name in enumerate(names) if is_id_name(name)), 0)
    if len(names) == 2:
        return id, 1 - id
    label = _column(names, (*_GOLD, *_EITHER, *_PREDICTED) if gold else (*_PREDICTED, *_EITHER, *_GOLD), taken=id)
    if label is None:
        raise InputError(f"{file}, line 1: which of {listing(names)} is the label? name that column 'label'")
    return id, label


def _read_labels(file: str, *, gold: bool) -> ById:
    content = read_text(file)
    if content.lstrip().startswith("{"):
        return _of_object(file, content, gold=gold)
    found, title = _parse(file, content, gold=gold)
    first, *others = found.values
    alone = found.values[first] not in (found.values[id] for id in others)
    if title is None and others and alone and not _DIGIT.search(first) and all(map(_DIGIT.search, others)):
        raise InputError(
            f"{found.where(first)}: is {quote(first)}, {quote(found.values[first])} an instance? it seems to name "
            "columns: call them id and label, or leave the line out"
        )
    return found


def _parse(file: str, content: str, *, gold: bool) -> tuple[ById, str | None]:
    """Return the labels by id, and the name of the label column (None if the file does not name its columns).

    `gold` says whether the file holds gold labels, and not predictions.
    """
    lines, rows = zip(*_split(file, content), strict=True)
    width, named = len(rows[0]), _has_names(rows)
    if width != 2 and not named:
        got = "one field" if width == 1 else f"{width} fields without names"
        raise InputError(f"{Line(file, lines[0])}: expected an id and a label, got {got}")
    id, label = _roles(file, rows[0], gold=gold) if named else (0, 1)
    found, at = dict[str, str](), dict[str, int]()
    for line, row in list(zip(lines, rows, strict=True))[named:]:
        if len(row) != width:
            raise InputError(f"{Line(file, line)}: expected {width} fields as on line {lines[0]}, got {len(row)}")
        if not (row[id] and row[label]):
            raise InputError(f"{Line(file, line)}: expected an id and a label, got an empty one")
        if row[id] in at:
            raise InputError(f"{Line(file, line)}: id {quote(row[id])} is also on line {at[row[id]]}; leave one out")
        found[row[id]], at[row[id]] = row[label], line
    if not found:
        raise InputError(f"{file}: has names of columns but no rows; expected one per instance")
    others = {rows[0][j]: [row[j] for row in rows[1:]] for j in range(width) if j not in (id, label)}
    return ById(file, found, at, others), rows[0][label] if named else None


def _of_object(file: str, content: str, *, gold: bool) -> ById:
    """Return the labels in a JSON object; null in a system's file (not `gold`) means that the label is missing."""
    found, labels = item_at(file, parse_json(file, content)), dict[str, str]()
    for id, value in found.fields.items():
        with naming(file):
            text(id)
        if value is not None or gold:
            labels[id] = str(value).lower() if isinstance(value, bool) else found.text(id).strip()
    if not labels:
        raise InputError(f"{file}: has no labels; expected an object of id -> label")
    return ById(file, labels, {})


def read_id_labels(sources: Sources, options: Options) -> Reading:
    """Read gold labels and the labels of each system, joined by id."""
    gold = _read_labels(sources.gold(), gold=True)
    systems = {name: _read_labels(file, gold=False) for name, file in sources.chosen(options).items()}
    known = dict.fromkeys(gold.values.values())
    for own in systems.values():
        own.check_known(gold)
        used = dict.fromkeys(own.values.values())
        if known.keys().isdisjoint(used):
            raise InputError(
                f"{own.file}: none of its labels ({listing(used, 3)}) is among those of {gold.file} "
                f"({listing(known, 3)}); expected the same spelling"
            )
    return partial(
        evaluate_labels,
        list(gold.values.values()),
        {name: (own.file, [own.values.get(id) for id in gold.values]) for name, own in systems.items()},
        ids=list(gold.values),
        fields=gold.fields,
    )


def looks_like_id_labels(name: str, head: bytes) -> bool:
    """Whether the file may have labels by id: lines of distinct ids with labels, or a JSON object.

    If blanks separate ids and labels, all labels must be single words, and some label must repeat. In other lines, one
    of these two conditions is enough.
    """
    content = (head[: head.rfind(b"\n") + 1] or head).decode("utf-8", "replace").replace("\r\n", "\n")
    if not content.strip() or content.lstrip().startswith(("{", "[", "(", "#")):
        return _OBJECT.match(content) is not None and re.search(r"\}\s*\{", content) is None
    try:
        found, title = _parse(name, content, gold=True)
    except InputError:
        return False
    labels = list(found.values.values())
    whole = all(map(_WHOLE.fullmatch, labels))
    if not whole and not any(map(is_text, labels)):
        return False
    # A column of whole numbers without a label's name, or a column with a name such as score, may be a system. Then its
    # numbers are results, not labels.
    if title is not None and (title.lower() not in _LABELS if whole else title.lower() in _SCORES):
        return False
    several_words = any(" " in each for each in labels)
    repeated = len(set(labels)) < len(labels)
    blanks = _MARK.search(content.lstrip("\n").partition("\n")[0].replace(" ", "")) is None
    return repeated and not several_words if blanks else repeated or not several_words


def are_id_labels(files: Sequence[str], _: Sequence[str]) -> bool:
    """Whether the first file has labels by id, not answers to questions or fields.

    A JSON object has no labels if a key is named like ids, or if some value is neither a text, an integer nor null. In
    other objects, all text labels must have at most two characters, or at most half of them may be distinct. Else an
    error is raised, because they may be answers. Files that are not JSON objects pass.
    """
    file = files[0]
    if not read_head(file)[1].lstrip().startswith(b"{"):
        return True
    try:
        loaded = item_at(file, parse_json(file, read_text(file))).fields
    except InputError:  # the reader reports what is wrong
        return True
    if any(map(is_id_name, loaded)) or not all(isinstance(each, str | int | None) for each in loaded.values()):
        return False
    labels = [each.strip() for each in loaded.values() if isinstance(each, str)]
    if all(len(each) <= 2 for each in labels) or 2 * len(set(labels)) <= len(labels):
        return True
    raise InputError(
        f"{file}: are these labels, or answers to questions? say {Hint('reader', 'id-labels')} to compare "
        f"labels, or {Hint('reader', 'squad')} for exact_match and f1"
    )
