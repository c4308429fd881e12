"""Gold labels and predictions: which columns hold them, and how they become the inputs of a metric.

Labels are classes, numbers, scores of class 1, or texts, depending on the metric. A table has one column of predictions
per system, or a single column of predictions and a column of systems. Or there is one table per system. The gold labels
are in a column of each table, or in a file with ids. In Python, they are given as arrays.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import sigjax.readers.lexicon as lexicon
import sigjax.readers.roles as roles
from sigjax.metrics import (
    ANSWERS,
    CLASS_METRICS,
    METRICS,
    TEXT_METRICS,
    canonical,
    class_metric,
    class_numbers,
    evaluation_from_arrays,
    parameterized,
    trial_metric,
    unknown_metric,
)
from sigjax.metrics.ratios import fbeta
from sigjax.metrics.registry import as_numbers, check_mapping, refuse_other_indexes
from sigjax.readers.evidence import (
    Evidence,
    Role,
    TableReading,
    chosen_ids,
    distinguishes_rows,
    find_ids,
    ids_from,
    role,
    unused,
)
from sigjax.readers.join import Reading, Sheet, join_sheets
from sigjax.readers.options import Options, check_named, chosen_metric, listing, quote, unclear
from sigjax.readers.table import TRUTH, DataColumn, DataTable, LazyColumns, is_missing, is_text, parse_number
from sigjax.records import EvaluationRecord, Hint, InputError
from sigjax.run.files import naming

_MOST_COUNTS = 2**27
"""Largest number of counts (systems times instances times inputs) that fit into the memory of a small machine."""
_PREDICTED = ("prediction", "score", "probability")
"""A metric of numbers scores predictions if its first input has one of these names."""
OF_NUMBERS = tuple(name for name, each in METRICS.items() if each.inputs[:1] and each.inputs[0] in _PREDICTED)
_CLASS_1 = tuple(map(str.split, ("1 0", "1 -1", "true false", "yes no", "positive negative", "pos neg")))
"""Pairs of labels of two classes. The first label of each pair is class 1, for precision and recall."""
_WHOLE = re.compile(r"[-+]?\d{1,99}(\.0*)?")
_MANY_CLASSES = 50
"""Limit for the number of distinct labels: this number, or half the number of instances if that is larger. Up to the
limit, the labels may be classes."""
_is_probability = re.compile(r".*(prob|probas?|probabilit(y|ies)|probs|logits?|confidence|scores?)", re.I).fullmatch


@dataclass(frozen=True, eq=False)
class Predicted:
    """The predictions of a system: gold and predicted labels, and a sheet that has no numbers yet."""

    sheet: Sheet
    gold: Sequence[str]
    """`[row]` gold labels."""
    labels: Sequence[str | None]
    """`[row]` predicted labels; None if a prediction is missing."""
    positive: str | None = None
    """The gold label of class 1; None if the user did not name it."""


def evaluate_predictions(
    systems: Sequence[Predicted], options: Options, *, notes: Sequence[str] = ()
) -> EvaluationRecord:
    """Evaluate the predictions of each system by a metric of classes, numbers or texts.

    `notes` are the first notes of the evaluation.
    """
    made, columns, more = _scored(systems, options)
    sheets: list[Sheet] = []
    for own, numbers in zip(systems, columns, strict=True):
        absent = np.array([label is None for label in own.labels])
        known = {each: np.where(absent, np.nan, column) for each, column in numbers.items()}
        sheets.append(replace(own.sheet, numbers=known))
    options = replace(options, metric=made)
    return join_sheets(sheets, options, scores=made in ANSWERS, notes=(*notes, *more))(options)


def _scored(systems: Sequence[Predicted], options: Options) -> tuple[Any, "_Columns", tuple[str, ...]]:
    """Score the predictions by the requested metric; return the metric, its inputs for each system, and notes."""
    if isinstance(options.metric, str):
        options = replace(options, metric=canonical(options.metric))
    name = options.metric if isinstance(options.metric, str) else chosen_metric(options).name
    if name == "f1" and _are_classes(systems):
        name, options = "fscore", replace(options, metric="fscore")
    if name in ANSWERS or parameterized(name)[1] in TEXT_METRICS:
        return options.metric, *_text_columns(systems, name, options)
    if name in OF_NUMBERS:
        return options.metric, [_number_columns(own, METRICS[name].inputs) for own in systems], ()
    return _class_columns(systems, name, options)


def _are_classes(systems: Sequence[Predicted]) -> bool:
    """Whether the gold labels are classes, and not answers to questions.

    They are classes if all gold and predicted labels are single words. They are also classes if the distinct gold
    labels are at most half as many as the instances, and at least half of the predicted labels are gold labels.
    """
    gold = {label for own in systems for label in own.gold}
    if not any(len(label.split()) > 1 for own in systems for label in (*own.gold, *own.labels) if label):
        return True
    predicted = [label for own in systems for label in own.labels if label is not None]
    return 2 * len(gold) <= len(systems[0].gold) and 2 * sum(label in gold for label in predicted) >= len(predicted)


_Columns = list[dict[str, np.ndarray]]
"""For each system, a dict from an input of the metric to its numbers `[row]`."""


def _class_columns(systems: Sequence[Predicted], name: str, options: Options) -> tuple[Any, _Columns, tuple[str, ...]]:
    _check_classes(systems, name)
    same = all(own.gold is systems[0].gold for own in systems)
    known = dict.fromkeys(label for own in (systems[:1] if same else systems) for label in own.gold)
    others = {label for own in systems for label in own.labels if label is not None and label not in known}
    spell = _speller((*known, *others))
    codes: dict[str, int] = {}
    for label in (*known, *sorted(others)):
        codes.setdefault(spell(label), len(codes))
    classes = dict(sorted(codes.items()))
    metric = class_metric(name, list(classes)) if name in CLASS_METRICS else chosen_metric(options)
    inputs = dict.fromkeys((*metric.inputs, *(options.counts or {}).values()))
    if len(systems) * len(systems[0].gold) * len(inputs) > _MOST_COUNTS:
        many = f"{len(classes)} classes are too many for the metric {metric.name!r}"
        raise InputError(f"{systems[0].sheet.file}: {many}; use accuracy, or check that the labels are classes")
    code_of = {label: codes[spell(label)] for label in (*known, *others)}
    truth = np.array([code_of[label] for label in systems[0].gold])
    columns: _Columns = []
    notes: list[str] = []
    found, of_one = None, {*inputs} == {"tp", "predicted", "gold"}
    if of_one:
        positive = None if systems[0].positive is None else spell(systems[0].positive)
        found = positive if positive in classes else _class_to_find(classes)
    spelled = dict.fromkeys(map(spell, known))
    for own in systems:
        truth = truth if same else np.array([code_of[label] for label in own.gold])
        labels = [code_of[right if label is None else label] for label, right in zip(own.labels, own.gold, strict=True)]
        strays = Counter(label for label in own.labels if label is not None and spell(label) not in spelled)
        if strays:
            some = f"{strays.total()} of {len(labels)} predictions are no gold label: {listing(strays, 3)}"
            notes.append(f"{own.sheet.system}: {some}")
        columns.append(_counts(inputs, truth, np.array(labels), classes, found))
    title = metric.title or name
    if found is not None:
        rest = [label for label in spelled if label != found]
        about = f"{title} is that of the class {quote(found)}"
        several = f"warning: {about}; all others count as one: {listing(rest)}"
        notes.append(several if len(rest) > 1 else about)
    elif of_one:
        notes.append(
            f"warning: {title} of classes such as {listing(list(classes), 3)} is the accuracy; say which is class 1 "
            "(option gold: COLUMN=LABEL), or take macro-fscore"
        )
    return metric, columns, tuple(notes)


def _is_word(label: str) -> bool:
    """Whether a label is a word and not a number. "true" and "false" are words."""
    return is_text(label) or label.lower() in TRUTH


def _whole_number_text(label: str) -> str:
    """Write an integer in the shortest way; keep other labels.

    >>> _whole_number_text("1.0"), _whole_number_text("01"), _whole_number_text("cat")
    ('1', '1', 'cat')
    """
    return str(int(label.partition(".")[0])) if _WHOLE.fullmatch(label) else label


def _speller(labels: Collection[str]) -> Callable[[str], str]:
    """Return a function that unifies labels. If all labels are integers, 1.0 and +1 are the same class as 1."""
    return _whole_number_text if all(map(_WHOLE.fullmatch, labels)) else str


def _class_to_find(classes: Mapping[str, int]) -> str | None:
    """Return the label of class 1 (the class that precision, recall and F1 are about); None if it is not known.

    It is known if all labels belong to a usual pair, such as yes and no, and the first label of the pair occurs.
    `classes` maps labels to numbers.
    """
    lower = {label.lower(): label for label in classes}
    pairs = (pair for pair in _CLASS_1 if lower.keys() <= {*pair} and pair[0] in lower)
    return next((lower[one] for one, _ in pairs), None)


def _counts(
    inputs: Iterable[str], truth: np.ndarray, predicted: np.ndarray, classes: Mapping[str, int], found: str | None
) -> dict[str, np.ndarray]:
    """Return a dict from an input of the metric to its numbers `[row]`; inputs that labels do not give are left out.

    `truth` and `predicted` are class numbers `[row]`, and `classes` maps each label to its number. If `found` (the
    label of class 1) is given, the dict has three masks of rows. "gold" and "predicted" say where this label is the
    gold label and the prediction, and "tp" says where it is both.
    """
    if found is not None:
        is_gold_one, is_found = truth == classes[found], predicted == classes[found]
        return {"tp": is_gold_one & is_found, "predicted": is_found, "gold": is_gold_one}
    columns = {each: class_numbers(each, truth, predicted, classes) for each in inputs}
    return {each: column for each, column in columns.items() if column is not None}


def _number_columns(own: Predicted, inputs: Sequence[str]) -> dict[str, np.ndarray]:
    name, gold = inputs
    spell = _speller({*own.gold, *([] if own.positive is None else [own.positive])})
    truth = [*map(spell, own.gold)]
    positive = None if own.positive is None else spell(own.positive)
    if gold == "label" and (one := positive or _class_to_find(dict.fromkeys(truth, 0))) is not None:
        if len(others := sorted({*truth} - {one})) > 1:
            raise InputError(
                f"{own.sheet.file}: gold labels beside {quote(one)} are {listing(others, 3)}; expected two classes: "
                f"leave out rows with {Hint('where')}"
            )
        truth = ["1" if label == one else "0" for label in truth]
    elif gold == "label" and all(map(_is_word, truth)):
        raise InputError(
            f"{own.sheet.file}: which of the gold labels is class 1, {listing(sorted({*truth}), 3)}? say so with "
            f"{Hint('gold', quote(f'COLUMN={truth[0]}'))}"
        )

    def numbers(labels: Sequence[str], what: str) -> np.ndarray:
        def number(row: int, cell: str) -> float:
            with naming(f"{own.sheet.line(row)}, {what} of {quote(own.sheet.system)}"):
                return parse_number(cell)

        return DataColumn(labels).numbers(number)

    return {name: numbers([label or "" for label in own.labels], "prediction"), gold: numbers(truth, "gold number")}


def _text_columns(systems: Sequence[Predicted], name: str, options: Options) -> tuple[_Columns, tuple[str, ...]]:
    if name in ANSWERS:
        bare = sorted({label for own in systems for label in own.gold if not answer_words(label)})
        if len(bare) > 1:
            raise InputError(
                f"{systems[0].sheet.file}: {name} takes punctuation and articles for nothing, so the gold labels "
                f"{listing(bare, 3)} would be the same answer; use accuracy"
            )
        scores = [
            [
                score_answer(answer_words(label or ""), [answer_words(gold)], may_be_none=False)
                for label, gold in zip(own.labels, own.gold, strict=True)
            ]
            for own in systems
        ]
        return [dict(zip(ANSWERS, np.array(own).T, strict=True)) for own in scores], ()
    gold = {label for own in systems for label in own.gold}
    are_classes = not _too_many_labels(gold, len(systems[0].gold)) and not any(" " in label for label in gold)
    if are_classes or not any(map(_is_word, gold)):
        what = f"{len(gold)} classes; use accuracy" if are_classes else f"numbers; use {_FOR_NUMBERS}"
        raise InputError(f"{systems[0].sheet.file}: the metric {name!r} is of texts, and gold labels are {what}")
    from sigjax.metrics.texts import evaluation_from_texts

    columns: _Columns = []
    notes: tuple[str, ...] = ()
    for own in systems:
        texts = {own.sheet.system: [label or "" for label in own.labels]}
        counted = evaluation_from_texts(texts, list(own.gold), metric=name, progress=options.progress)
        columns.append(dict(zip(counted.metric.inputs, counted.stats[0].T.astype(float), strict=False)))
        notes = counted.notes
    return columns, notes


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str) -> list[str]:
    """Return the words of an answer, without case, punctuation and articles, as SQuAD compares them.

    >>> answer_words("The  U.S. Navy's — an A-1")
    ['us', 'navys', '—', 'a1']
    """
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def score_answer(words: Sequence[str], gold: Sequence[Sequence[str]], *, may_be_none: bool) -> tuple[float, float]:
    """Return the exact match and the F1 of an answer; each is its largest value over the gold answers.

    All answers are lists of words. If `may_be_none` is true, an empty list means "no answer", as in SQuAD 2.0: F1 is 1
    if the gold answer is also empty. If it is false, as in SQuAD 1.1, the exact match of two empty lists is 1, but F1
    is 0.

    >>> score_answer(["us", "navy"], [["navy"], ["us", "army"]], may_be_none=False)
    (0.0, 0.6666666666666666)
    """
    exact = max(float(words == own) for own in gold)
    return exact, max(_overlap(words, own, may_be_none=may_be_none) for own in gold)


def _overlap(words: Sequence[str], gold: Sequence[str], *, may_be_none: bool) -> float:
    if may_be_none and not (words and gold):
        return float(words == gold)
    common = (Counter(words) & Counter(gold)).total()
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def with_gold(tables: Sequence[DataTable], gold: DataTable, options: Options) -> tuple[list[DataTable], Options]:
    """Add the gold labels of a file (by id) to each table; return the tables and the options.

    The added column has the name of the file. The returned options name the column of ids if it has the same name in
    all tables and in the file. If no column of the tables is named like predictions, a column with the same name as the
    gold labels in the file holds the predictions; the returned options name it.
    """
    every = [gold, *tables]
    left_out = [*filter(lexicon.is_gold, gold.columns), *filter(lexicon.is_predicted, tables[0].columns)]
    free = [
        [name for name in table.columns if not table.columns[name].nested and name not in (*options.ignore, *left_out)]
        for table in every
    ]
    known, _ = chosen_ids(every, free, replace(options, runs=None), None)
    for table, ids in zip(every, known, strict=True):
        sure = ids is not None and (
            options.id_column or lexicon.is_id_name(ids) or distinguishes_rows(table, ids, options)
        )
        if not sure:
            raise unclear(table.file, "instance ids", "id_column", table.columns)
        check_named(table.file, "id_column", [ids], table.columns)
    keys = [str(ids) for ids in known]
    column = _label_column(gold, keys[0], options)
    labels = dict(zip(gold.names[keys[0]], gold.columns[column], strict=True))
    if len(labels) < len(gold.lines):
        raise InputError(f"{gold.file}: column {quote(keys[0])} has an id twice; expected one row per instance")
    made, left = list[DataTable](), dict(labels)
    for table, own in zip(tables, keys[1:], strict=True):
        names = table.names[own]
        for row, key in enumerate(names):
            if key not in labels:
                raise InputError(
                    f"{table.file}, {table.row_word} {table.lines[row]}: {quote(key)} is no id of {gold.file}, such as "
                    f"{quote(next(iter(labels)))}; leave it out, or give {Hint('id_column', 'NAME')}"
                )
            left.pop(key, None)
        column_of = DataColumn([labels[key] for key in names])
        made.append(replace(table, columns={**table.columns, str(options.gold): column_of}))
    if left and options.missing != "drop":
        raise InputError(
            f"{gold.file}: has {len(left)} of {len(labels)} instances that no system has, such as "
            f"{quote(next(iter(left)))}; give {Hint('missing', 'drop')} to leave them out"
        )
    if options.id_column is None and len({*keys}) == 1:
        options = replace(options, id_column=keys[0])
    predicted = [name for name in tables[0].columns if lexicon.is_predicted(name) and name != keys[0]]
    if options.prediction is None and not predicted and all(column in table.columns for table in tables):
        options = replace(options, prediction=[column])
    return made, options


def _label_column(gold: DataTable, ids: str, options: Options) -> str:
    """Find the column of gold labels in a gold file: the only column, or the only column named like gold labels."""
    free = [name for name in gold.columns if name != ids and name not in options.ignore]
    free = [name for name in free if not lexicon.is_numbering(name)] or free
    others = [name for name in free if not (lexicon.is_fold(name) or lexicon.is_sure_id(name))]
    sure = [name for name in free if lexicon.is_only_gold(name) or lexicon.is_rated_gold(name)]
    for chosen in (free, sure, [*filter(lexicon.is_gold, free)], others):
        if len(chosen) == 1:
            return chosen[0]
    raise InputError(
        f"{gold.file}: which column holds the gold labels, {listing(free)}? leave out the others, or call it y_true"
    )


def _ids(table: DataTable, options: Options, system: str | None = None, taken: Iterable[str] = ()) -> str | None:
    if options.id_column is not None:
        return options.id_column
    free = [name for name in unused(table, options, [system, *taken]) if not table.columns[name].nested]
    return find_ids(table, options, [], free, system)


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """The columns of gold labels and predictions in a table."""

    gold: str
    predictions: tuple[str, ...]
    system: str | None
    """The column of systems; None if each system has a column or a table of its own."""
    ids: str | None
    positive: str | None = None
    """The gold label of class 1; None if the user did not name it."""
    evidence: Evidence = "named"


def label_columns(table: DataTable, options: Options, *, alone: bool = True) -> LabelColumns | None:
    """Find the columns of gold labels and predictions by options, names or values; None if the table has none.

    `alone` says whether the table holds all systems.
    """
    asked = options.gold is not None or options.prediction is not None
    positive = None
    if options.gold is not None and options.gold not in table.columns and "=" in options.gold:
        column, _, positive = options.gold.partition("=")
        options = replace(options, gold=column)
        if column in table.columns and positive not in table.columns[column]:
            labels = listing(sorted({*table.columns[column]}), 3)
            raise InputError(f"{table.file}: {Hint('gold')}: no label {quote(positive)} in {quote(column)}: {labels}")
    check_named(table.file, "gold", [options.gold], table.columns, "column and no file")
    check_named(table.file, "prediction", options.prediction or [], table.columns)
    free = [name for name in unused(table, options, [options.id_column]) if not table.columns[name].nested]
    guesses = [n for n in free if lexicon.is_predicted(n) and n != options.gold and not lexicon.is_only_gold(n)]
    gold = options.gold or _gold_column(free, guesses, asked=asked)
    if gold is None and not asked:  # words cannot be scores
        named, *more = [*filter(lexicon.is_gold, free)] or [None]
        if named and not more and table.columns[named].is_words():
            gold = named if any(name != named and _has_classes(table, name, named) for name in free) else None
    if gold is None:
        if asked:
            raise unclear(table.file, "gold labels", "gold", free)
        return None
    if gold in (options.prediction or ()):
        raise InputError(f"{table.file}: column {quote(gold)} is the gold labels; leave it out of {Hint('prediction')}")
    others = [name for name in free if name not in (gold, options.system_column)]
    system = options.system_column or (_system_column(table, others) if alone else None)
    if not asked and (options.score_column or options.counts or _holds_numbers(table, others)):
        return None
    ids = _ids(table, options, system, (gold, *guesses, *(options.prediction or ())))
    predictions = options.prediction or [name for name in guesses if name not in (gold, ids, system)]
    if not predictions:
        rest = [name for name in others if name not in (ids, system) and not lexicon.is_property(name)]
        sure = [name for name in rest if _has_classes(table, name, gold)] if table.columns[gold].is_words() else []
        if not sure and roles.has_classes(table, gold):
            labels = _labels_of(table, gold)
            inside = [name for name in rest if _labels_of(table, name) <= labels]
            others = [name for name in rest if name not in inside]
            sure = [] if any(_may_be_labels(table, name) for name in others) else inside
            # If all labels are 0 and 1, the other columns may be scores (1 for right). They are predictions only if the
            # user says so.
            unasked = system is None and alone and len(inside) == len(rest) and bool(labels - {"0", "1"})
            sure = sure if asked or unasked else []
        predictions = sure or (rest if asked else [])
    one = system is not None or not alone
    if len(predictions) > 1 and not options.prediction and (one or any(map(_is_probability, predictions))):
        raise unclear(table.file, "predictions", "prediction", predictions)
    if asked and not predictions:
        raise InputError(f"{table.file}: no column of predictions beside {quote(gold)}; columns: {listing(free)}")
    fewest = 2 - options.single if alone and system is None and not asked else 1
    if len(predictions) < fewest:
        return None
    evidence = "told" if asked else "named" if lexicon.is_gold(gold) else "shaped"
    return LabelColumns(gold, tuple(predictions), system, ids, positive, evidence)


def _labels_of(table: DataTable, name: str) -> set[str]:
    """Return the distinct labels in a column, without missing ones. Integers are unified: 1.0 and +1 become 1."""
    return {_whole_number_text(cell.strip()) for cell in {*table.columns[name]} if not is_missing(cell)}


def _may_be_labels(table: DataTable, name: str) -> bool:
    """Whether a column has only words or integers, and at most `MOST_CLASSES` (of `roles`) distinct values.

    Such a column may hold labels that are spelled differently from the gold labels.
    """
    return len(_labels_of(table, name)) <= roles.MOST_CLASSES and all(
        _WHOLE.fullmatch(label) or _is_word(label) for label in _labels_of(table, name)
    )


def _has_classes(table: DataTable, name: str, gold: str) -> bool:
    """Whether at least half of the cells in a column are gold labels, ignoring case.

    Other cells may be a system's errors.
    """
    classes = {_whole_number_text(label.strip().lower()) for label in {*table.columns[gold]}}
    given = [_whole_number_text(cell.strip().lower()) for cell in table.columns[name] if not is_missing(cell)]
    return bool(given) and 2 * sum(cell in classes for cell in given) >= len(given)


def _gold_column(free: Sequence[str], guesses: Sequence[str], *, asked: bool) -> str | None:
    named = [name for name in free if lexicon.is_gold(name) and name not in guesses]
    sure = asked or any(map(lexicon.is_only_gold, named)) or (guesses and all(map(lexicon.is_only_predicted, guesses)))
    return named[0] if len(named) == 1 and sure else None


def _system_column(table: DataTable, free: Sequence[str]) -> str | None:
    found = [name for name in free if lexicon.may_be_system(name) and not lexicon.is_predicted(name)]
    found = [name for name in found if table.columns[name].is_words() or lexicon.is_system(name)]
    found = [name for name in found if 1 < len({*table.columns[name]}) < len(table.lines)]
    return found[0] if len(found) == 1 else None


def _holds_numbers(table: DataTable, names: Sequence[str]) -> bool:
    """Whether a column among `names` holds scores, or the table has all inputs of a metric.

    For example, the table has columns named tp, predicted and gold.
    """
    scores = (
        name for name in names if lexicon.is_score(name) and not (lexicon.is_predicted(name) or lexicon.is_gold(name))
    )
    counts = (each.inputs for name, each in METRICS.items() if len(each.inputs) > 1 and name not in OF_NUMBERS)
    return any({*own} <= {*table.columns} for own in counts) or any(table.columns[name].is_numeric() for name in scores)


def read_labelled(tables: Mapping[str, tuple[DataTable, LabelColumns]], options: Options) -> Reading:
    """Read tables with gold labels and predictions: one table per system, or one table with all systems.

    `tables` maps the system to its table. A table with all systems has the name "".
    """
    systems: list[Predicted] = []
    for label, (table, own) in tables.items():
        gold = [cell.strip() for cell in table.columns[own.gold]]
        ids = table.names[own.ids] if own.ids else (None if label else table.row_numbers())
        if own.system is not None and own.ids is None:
            raise unclear(table.file, "instance ids", "id_column", table.columns)
        rows = [(label, own.predictions[0], None)] if label else [(name, name, None) for name in own.predictions]
        if own.system is not None:
            names = table.names[own.system]
            of_system = {name: np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())}
            rows = [(name, own.predictions[0], indices) for name, indices in of_system.items()]
        systems += [_predicted(*row, table, own, gold, ids, options.runs) for row in rows]
    _check_gold(systems)
    first, columns = next(iter(tables.values()))
    taken = [columns.gold, *columns.predictions, columns.system, columns.ids]
    gold = Role((columns.gold,), columns.evidence, f"from {quote(columns.gold)}")
    given = Role(columns.predictions, columns.evidence, f"from {listing(columns.predictions, roles.SHOWN)}")
    named = [columns.ids] if columns.ids else []
    reading = TableReading(
        layout="predictions",
        system=role([columns.system], options.system_column, named=True) if columns.system else Role(),
        id=role(named, options.id_column, named=lexicon.is_id_name(columns.ids), phrase=ids_from(columns.ids)),
        others=(("gold labels", gold), ("predictions", given)),
        ignored=tuple(unused(first, options, taken)),
        options="gold, prediction, id_column, ignore",
    )
    systems = [replace(own, sheet=replace(own.sheet, reading=reading)) for own in systems]

    def evaluate(options: Options) -> EvaluationRecord:
        if options.metric == "mean":
            _check_usual(systems)
            options = replace(options, metric="accuracy")
        return evaluate_predictions(systems, options, notes=(reading.note(),))

    return evaluate


def _predicted(
    name: str,
    column: str,
    rows: np.ndarray | None,
    table: DataTable,
    columns: LabelColumns,
    gold: list[str],
    ids: np.ndarray | None,
    runs_column: str | None,
) -> Predicted:
    """Return the predictions of the system `name`, from the cells of `column` in the given `rows` of a table.

    If `rows` is None, all rows are used. `columns` are the roles of the table's columns. `gold` and `ids` are the gold
    labels and ids of all rows, and `runs_column` is the column of runs (None: no runs).
    """
    cells, lines, taken = table.columns[column], np.array(table.lines), (columns.gold, *columns.predictions)
    labels = LazyColumns((each for each in table.columns if each not in taken), table.names.__getitem__)
    runs = None if runs_column is None else table.names[runs_column]
    if rows is not None:
        labels = LazyColumns(labels, lambda each: table.names[each][rows])
        gold, lines = [gold[row] for row in rows], lines[rows]
        cells = [cells[row] for row in rows.tolist()]
        ids, runs = (None if each is None else each[rows] for each in (ids, runs))
    known = {*gold}
    for row, label in enumerate(gold):
        if not label:
            raise InputError(f"{table.file}, {table.row_word} {lines[row]}: has no gold label; fill it in")
    stripped = (cell.strip() for cell in cells)
    given = [None if not cell or (is_missing(cell) and cell not in known) else cell for cell in stripped]
    lines = lines if table.row_word == "line" else None
    sheet = Sheet(name, table.file, {}, labels, ids, runs, lines, columns.ids)
    return Predicted(sheet, gold, given, columns.positive)


def _check_gold(systems: Sequence[Predicted]) -> None:
    """Refuse the data if the gold label of an instance differs between systems."""
    first, *others = systems
    if all(own.gold is first.gold for own in others):
        return
    known: dict[Any, str] = {}
    for own in systems:
        ids = range(len(own.gold)) if own.sheet.ids is None else own.sheet.ids
        for row, (key, label) in enumerate(zip(ids, own.gold, strict=True)):
            if known.setdefault(key, label) != label:
                raise InputError(
                    f"{own.sheet.line(row)}: the gold label of {quote(own.sheet.system)} is {quote(label)}, but "
                    f"elsewhere {quote(known[key])} for the same instance; expected the same for all systems"
                )


def _scores_predictions(name: str) -> bool:
    """Whether a metric can score predictions.

    This is also true for metrics of several runs, such as pass@k, because they can count right predictions.
    """
    base = parameterized(name)[1]
    return name in FROM_PREDICTIONS or base in FROM_PREDICTIONS or bool(fbeta(base) or trial_metric(base))


def _check_classes(systems: Sequence[Predicted], name: str) -> None:
    """Raise an error if a metric of classes cannot score the data.

    There are four reasons: gold labels, or predictions of integer classes, are numbers with decimals; no prediction of
    a system is a gold label; the metric `name` does not score predictions; or it has a parameter.
    """
    file, gold = systems[0].sheet.file, {label for own in systems for label in own.gold}
    if (name in METRICS or fbeta(name)) and not _scores_predictions(name):
        raise InputError(f"{file}: the metric {name!r} does not score predictions; {', '.join(FROM_PREDICTIONS)} do")
    if given := parameterized(name)[2]:
        raise InputError(f"{file}: metric {name!r}: {next(iter(given))} means nothing for classes; leave it out")
    if not any(map(_is_word, gold)) and not all(map(_WHOLE.fullmatch, gold)):
        raise InputError(f"{file}: gold labels are numbers, and {name!r} is of classes; {_SAY} {_FOR_NUMBERS}")
    whole = {label for label in gold if _WHOLE.fullmatch(label)}
    numbers = {_whole_number_text(label) for label in whole} if whole == gold else gold
    for own in systems:
        labels = {label for label in own.labels if label is not None}
        reals = bool(whole) and not all(_WHOLE.fullmatch(label) or _is_word(label) for label in labels)
        if labels and (reals or not any(label in gold or _whole_number_text(label) in numbers for label in labels)):
            raise InputError(
                f"{own.sheet.file}: none of the predictions of {quote(own.sheet.system)} "
                f"({listing(sorted(labels), 3)}) is a gold label ({listing(sorted(gold), 3)}); expected the same "
                f"labels; {_SAY} {_FOR_SCORES if reals else 'exact_match, f1, bleu, ... if they are texts'}"
            )


_SAY = f"say how predictions are scored: {Hint('metric')}"
_FOR_NUMBERS = "mae, rmse, r2, correlation, spearman, ..."
_FOR_SCORES = "auc, average-precision, brier, log-loss for those of class 1"


def _too_many_labels(labels: Collection[str], count: int) -> bool:
    """Whether `labels` (the distinct labels of `count` instances) are too many to be classes."""
    return len(labels) > max(_MANY_CLASSES, count // 2)


def _check_usual(systems: Sequence[Predicted]) -> None:
    """Raise an error for the default metric, accuracy, if there are too many distinct gold labels to be classes."""
    gold = {label for own in systems for label in own.gold}
    if _too_many_labels(gold, len(systems[0].gold)):
        texts = "exact_match, f1, wer, bleu, chrf, rougeL, ..., or accuracy if they are classes"
        what, how = (f"{len(gold)} texts", texts) if any(map(_is_word, gold)) else ("numbers", _FOR_NUMBERS)
        raise InputError(f"{systems[0].sheet.file}: gold labels are {what}; {_SAY} {how}")


_OF_CLASSES = ("accuracy", "micro-fscore", "precision", "recall", "fscore", *CLASS_METRICS)
FROM_PREDICTIONS = (*_OF_CLASSES, *OF_NUMBERS, *ANSWERS, *TEXT_METRICS)


def evaluation_from_predictions(gold: Any, predictions: Any, *, metric: str, **labels: Any) -> EvaluationRecord:
    """Check the arrays and build the evaluation; see `Evaluation.from_predictions`."""
    if hasattr(type(predictions), "columns"):  # a data frame
        names = getattr(predictions, "column_names", predictions.columns)
        predictions = {str(name): predictions[name] for name in names}
    check_mapping(predictions, "predictions by system, such as {'A': ['cat', 'dog'], 'B': ['cat', 'cat']}")
    if not isinstance(metric, str):
        got = "a list: call it once for each" if isinstance(metric, list | tuple) else type(metric).__name__
        raise InputError(f"from_predictions takes the name of a metric, got {got}")
    metric = canonical(metric)
    if not _scores_predictions(metric):
        close = unknown_metric(metric, FROM_PREDICTIONS)
        raise InputError(
            f"from_predictions takes {', '.join(FROM_PREDICTIONS)}; got the metric {metric!r}{close and f'; {close}'}"
        )
    if not predictions:
        raise InputError("there are no predictions; expected those of one system or more")
    refuse_other_indexes({"gold": gold, **predictions})
    truth = np.asarray(gold)
    predicted = {name: np.asarray(own) for name, own in predictions.items()}
    for name, own in (("gold", truth), *predicted.items()):
        if own.shape != (truth.size,):
            raise InputError(f"{name!r}: expected one label or number for each instance of gold, got shape {own.shape}")
    base = parameterized(metric)[1]
    if base in TEXT_METRICS:
        from sigjax.metrics.texts import evaluation_from_texts

        named = {name: labels[name] for name in ("ids", "clusters", "strata")}
        texts = {name: own.tolist() for name, own in predicted.items()}
        if labels["runs"] is not None:
            raise InputError(f"runs are not for metrics of texts such as {metric}; leave them out")
        return evaluation_from_texts(texts, truth.tolist(), metric=metric, progress=False, **named)
    if metric in OF_NUMBERS:
        right = as_numbers("gold", gold)
        arrays = {name: np.hstack([as_numbers(str(name), own), right]) for name, own in predictions.items()}
        return evaluation_from_arrays(arrays, metric=metric, **labels)
    if len({own.dtype.kind == "b" for own in (truth, *predicted.values())}) > 1:  # True is 1
        truth, *others = (own.astype(int) if own.dtype.kind == "b" else own for own in (truth, *predicted.values()))
        predicted = dict(zip(predicted, others, strict=True))
    right = _label_texts("gold", truth)
    systems = [
        Predicted(Sheet(name, "predictions", {}), right, _label_texts(name, own)) for name, own in predicted.items()
    ]
    made, columns, notes = _scored(systems, Options(metric=metric))
    mean = replace(METRICS["mean"], name=made, inputs=(made,))
    found = mean if made in ANSWERS else chosen_metric(Options(metric=made))
    arrays = {
        own.sheet.system: np.stack([column[each] for each in found.inputs], axis=-1)
        for own, column in zip(systems, columns, strict=True)
    }
    return evaluation_from_arrays(arrays, metric=found, notes=notes, **labels)


def _label_texts(name: str, labels: np.ndarray) -> list[str]:
    """Return labels `[instance]` as text; missing labels are refused."""
    for i, label in enumerate(given := labels.tolist()):
        if label is None or label != label:
            raise InputError(f"{name!r}: has no label at instance {i + 1}; expected one for every instance")
    return list(map(str, given))
