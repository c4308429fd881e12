"""Texts: outputs with references, one segment per line; answers to questions as in SQuAD; and scores of segments.

Scores of segments are those of comet-score --to_json, and the .seg.score files of mt-metrics-eval, all systems in one
file. Segments are known by their position, so every system needs a score for each.

Gold answers are a file of SQuAD (1.1 or 2.0), or an object of id -> answers; predictions are an object of id -> answer.
Exact match and F1 are those of SQuAD's scripts: answers are compared in lower case, without punctuation (of ASCII) and
articles (a, an, the); of several gold answers the best one counts. Where some question has no answer, the script of
version 2.0 counts, else that of 1.1. Articles of SQuAD are clusters. References: Rajpurkar et al. (2016), "SQuAD:
100,000+ questions for machine comprehension of text"; Rajpurkar, Jia and Liang (2018), "Know what you don't know".
"""

import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from sigjax.formats.logs import Log, Row, SystemLog
from sigjax.metrics import METRICS, TEXT_METRICS
from sigjax.metrics.texts import check_lengths, evaluation_from_texts
from sigjax.readers.join import join_sheets
from sigjax.readers.json_files import Item, load_item, text, type_of
from sigjax.readers.options import Options, name_systems, quote, select_systems
from sigjax.readers.sheets import Reading, Sheet, Sources, file_labels, option_labels
from sigjax.readers.table import DataColumn, DataTable, number_column
from sigjax.records import EvaluationRecord, InputError, Line
from sigjax.run.files import naming, read_segments, read_text


def read_texts(sources: Sources, options: Options) -> Reading:
    """Texts by a metric of texts; clusters and strata come from files with one label per line."""
    first = sources.files[0]
    chosen = select_systems(first, tuple(sources.systems), options)
    before = [*sources.files, *options.parameters.get("source", ())[-1:]]
    files = [*before, *(sources.systems[name] for name in chosen)]
    texts = _texts(files)
    gold, outputs = texts[: len(sources.files)], texts[len(before) :]
    source = texts[len(gold)] if len(before) > len(gold) else None
    labels = option_labels(options, partial(file_labels, first, known=(), num_instances=len(gold[0])))

    def evaluate(options: Options) -> EvaluationRecord:
        metric = metric_name(options)
        by_file = {sources.systems[name]: own for name, own in zip(chosen, outputs, strict=True)}
        check_lengths(metric, dict(zip(sources.files, gold, strict=True)), by_file, unit_name="line")
        evaluation = count_texts(dict(zip(chosen, outputs, strict=True)), gold, options, source=source, **labels)
        return replace(evaluation, notes=(*evaluation.notes, *_marks(files, texts)))

    return evaluate


def _texts(files: Sequence[str]) -> list[list[str]]:
    """The segments of each file; all files must have the same number."""
    texts = [read_segments(file) for file in files]
    for file, segments in zip(files, texts, strict=True):
        if len(segments) != len(texts[0]):
            raise InputError(
                f"{file}: has {len(segments)} lines, but {files[0]} has {len(texts[0])}; expected one segment per "
                "line, in the same order"
            )
    return texts


def _marks(files: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Notes on files that start with a byte order mark, which lowers scores a little, published ones as well."""
    return tuple(
        f"{PurePath(file).name} starts with a byte order mark, which is scored as a character, as sacrebleu does"
        for file, segments in zip(files, texts, strict=True)
        if segments[0].startswith("\ufeff")
    )


def metric_name(options: Options) -> str:
    """The name of the metric, given by name or as one of our records."""
    metric = options.metric
    name = metric if isinstance(metric, str) else getattr(metric, "name", "")
    if name == metric or (name in TEXT_METRICS and metric == METRICS[name]):
        return name
    raise InputError(f"a format of texts takes no metric of your own; it gives {', '.join(TEXT_METRICS)}")


def count_texts(
    systems: Mapping[str, Sequence[str]], references: Sequence[Any], options: Options, **more: Any
) -> EvaluationRecord:
    """The evaluation of texts by the metric, and otherwise as the options say."""
    metric = metric_name(options)
    return evaluation_from_texts(systems, references, metric=metric, progress=options.progress, **more)


_COMET = "COMET"
_MISSING = "None"


def _comet(file: str, _: Options) -> list[SystemLog]:
    """comet-score: an object of file of each system -> segments with src, mt, ref and the score."""
    found = load_item(file)
    if not found.fields:
        raise InputError(f'{file}: expected an object such as {{"system.txt": [{{"{_COMET}": 0.8}}]}}')
    names = name_systems(list(found.fields))[0]
    systems = {
        name: [_segment(segment) for segment in found.items(field, f"system {quote(name)}, segment")]
        for name, field in zip(names, found.fields, strict=True)
    }
    _check_lengths(file, {name: len(rows) for name, rows in systems.items()})
    return [SystemLog(file, rows, name) for name, rows in systems.items()]


def _segment(segment: Item) -> Row:
    fields = segment.fields
    if isinstance(fields.get(_COMET), bool):
        raise InputError(f"{segment.field(_COMET)}: expected a number, got true or false")
    return Row({_COMET: segment.number(_COMET)}, content=(fields.get("src"), fields.get("ref")))


def read_segment_scores(sources: Sources, options: Options) -> Reading:
    """mt-metrics-eval: lines `SYSTEM SCORE`, those of each system in the order of the segments."""
    (file,) = sources.files
    lines: dict[str, list[int]] = {}
    cells: dict[str, list[str]] = {}
    for line, content in enumerate(read_text(file).rstrip().split("\n"), start=1):
        fields = content.split()
        if len(fields) != 2:
            raise InputError(f"{Line(file, line)}: expected SYSTEM SCORE, got {quote(content)}")
        system, score = fields
        lines.setdefault(system, []).append(line)
        cells.setdefault(system, []).append("" if score == _MISSING else score)
    hint = f"write {_MISSING} where it is missing"
    sheets = [
        Sheet(
            system,
            file,
            {"score": number_column(DataTable(file, {"SCORE": DataColumn(own)}, lines[system]), "SCORE", hint=hint)},
        )
        for system, own in cells.items()
    ]
    _check_lengths(file, {sheet.system: sheet.num_rows for sheet in sheets}, hint=f", {_MISSING} where there is none")
    return join_sheets(sheets, options, scores=True)


def _check_lengths(file: str, lengths: Mapping[str, int], hint: str = "") -> None:
    (first, expected), *others = lengths.items()
    for system, length in others:
        if length != expected:
            raise InputError(
                f"{file}: system {quote(system)} has {length} scores, {quote(first)} has {expected}; expected one for "
                f"each segment{hint}"
            )


COMET = Log(results=_comet, content="source or reference")


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str) -> list[str]:
    """The words of an answer that are compared.

    Example:
        >>> answer_words("The  U.S. Navy's \u2014 an A-1")
        ['us', 'navys', '\u2014', 'a1']
    """
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def score_answer(words: Sequence[str], gold: Sequence[Sequence[str]], *, may_be_none: bool) -> tuple[float, float]:
    """Exact match and F1 of an answer, each the best over the gold answers, all given as words.

    Args:
        words: those of the answer.
        gold: `[answer]` words.
        may_be_none: whether no words are an answer, as in version 2: right where the gold answer has none either. In
            version 1.1 such an answer matches, but has no F1.

    Example:
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


_HAS_NONE = "is_impossible"


def _string(at: Item, name: str) -> str:
    """A text that may be empty."""
    value = at.value(name)
    if not isinstance(value, str):
        raise InputError(f"{at.field(name)}: expected a text, got {type_of(value)}")
    return value


def _read_gold(file: str) -> tuple[dict[str, list[str]], dict[str, str], bool]:
    """The answers to each question, its article (SQuAD alone has any), and whether questions may have no answer."""
    loaded = load_item(file)
    is_squad = isinstance(loaded.get("data"), list)
    questions, articles = dict[str, list[str]](), dict[str, str]()
    for id, answers, article in _squad(loaded) if is_squad else _plain(loaded):
        if id in questions:
            raise InputError(f"{file}: question {quote(id)} occurs twice; leave one out")
        questions[id], articles[id] = answers, article
    if not questions:
        raise InputError(f"{file}: has no questions; expected SQuAD's data, or an object of id -> answers")
    stated = is_squad and str(loaded.get("version")).lstrip("v").startswith("2")
    return questions, articles, stated or not all(questions.values())


def _squad(loaded: Item) -> Iterator[tuple[str, list[str], str]]:
    for number, article in enumerate(loaded.items("data", "article"), start=1):
        title = article.text("title") if article.get("title") else f"article {number}"
        for paragraph in article.items("paragraphs", "paragraph"):
            for question in paragraph.items("qas", "question"):
                answers = [_string(each, "text") for each in question.items("answers", "answer")]
                if answers and question.get(_HAS_NONE) is True:
                    raise InputError(
                        f"{question.field('answers')}: expected none where {_HAS_NONE} is true; remove them"
                    )
                yield question.text("id"), answers, title


def _plain(loaded: Item) -> Iterator[tuple[str, list[str], str]]:
    for id, given in loaded.fields.items():
        with naming(loaded.where):
            text(id)
        answers = [given] if isinstance(given, str) else given
        if not isinstance(answers, list) or not all(isinstance(each, str) for each in answers):
            raise InputError(f"{loaded.field(id)}: expected an answer or a list of answers, as text")
        yield id, answers, ""


def _answers(file: str) -> dict[str, str]:
    """The answer of a system to each question; null is none given."""
    loaded = load_item(file)
    return {id: _string(loaded, id) for id, value in loaded.fields.items() if value is not None}


def read_answers(sources: Sources, options: Options) -> Reading:
    """Exact match and F1 of the answer of each system to each question."""
    questions, articles, version_2 = _read_gold(sources.gold())
    ids = list(questions)
    words = {id: _gold_words(answers, version_2=version_2) for id, answers in questions.items()}
    labels: dict[str, Any] = {}
    if any(articles.values()):
        labels["article"] = list(articles.values())
    if version_2:
        labels["answerable"] = ["yes" if answers else "no" for answers in questions.values()]
    version = "2.0, with questions that have no answer" if version_2 else "1.1"
    sheets, notes = [], [f"answers are scored as by SQuAD's script of version {version}"]
    for name, file in sources.chosen(options).items():
        answers = _answers(file)
        if not any(id in answers for id in ids):
            raise InputError(f"{file}: answers none of the questions of {sources.gold()}, such as {quote(ids[0])}")
        if stray := len(answers.keys() - questions.keys()):
            notes.append(f"{name}: {stray} of {len(answers)} answers are to questions that the gold file does not have")
        scores = np.full((2, len(ids)), np.nan)
        for i, id in enumerate(ids):
            if id in answers:
                scores[:, i] = score_answer(answer_words(answers[id]), words[id], may_be_none=version_2)
        sheets.append(Sheet(name, file, dict(zip(("exact_match", "f1"), scores, strict=True)), labels, ids))
    return join_sheets(sheets, options, scores=True, notes=tuple(notes))


def _gold_words(answers: list[str], *, version_2: bool) -> list[list[str]]:
    """The words of the gold answers; in version 2, answers without any do not count beside others."""
    words = [answer_words(each) for each in answers]
    return ([own for own in words if own] or [[]]) if version_2 else words
