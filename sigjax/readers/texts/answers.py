"""Answers to questions: gold answers as in SQuAD, and one JSON file of answers per system, joined by id.

Gold answers are a file of SQuAD (1.1 or 2.0), or an object of id -> answers; predictions are an object of id -> answer.
Articles of SQuAD are clusters. Where some question has no answer, the script of version 2.0 counts, else that of 1.1.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from sigjax.files.opening import naming, read_text
from sigjax.metrics.answers import answer_words, score_answer
from sigjax.readers.formats import Format, Reading, Sheet, Sources, looks_like
from sigjax.readers.join import join_sheets
from sigjax.readers.json_files import Item, item_at, kind_of, parse_json, text
from sigjax.readers.options import Options, show
from sigjax.records import InputError

_ARTICLES = (rb'"paragraphs"\s*:\s*\[', rb'"qas"\s*:')
_BY_ID = rb'(?s)^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*["\]]'
_HAS_NONE = "is_impossible"


class _Question(NamedTuple):
    answers: list[str]
    article: str
    answerable: bool


class _Gold(NamedTuple):
    file: str
    questions: Mapping[str, _Question]
    version_2: bool
    """Whether questions may have no answer."""


def _string(at: Item, name: str) -> str:
    """A text that may be empty."""
    value = at.value(name)
    if not isinstance(value, str):
        raise InputError(f"{at.place(name)}: expected a text, got {kind_of(value)}")
    return value


def _read_gold(file: str) -> _Gold:
    loaded = item_at(file, parse_json(file, read_text(file)))
    is_squad = isinstance(loaded.get("data"), list)
    questions = dict[str, _Question]()
    for id, question in _squad(loaded) if is_squad else _plain(loaded):
        if id in questions:
            raise InputError(f"{file}: question {show(id)} occurs twice; leave one out")
        questions[id] = question
    if not questions:
        raise InputError(f"{file}: has no questions; expected SQuAD's data, or an object of id -> answers")
    with_none = any(not each.answers for each in questions.values())
    stated = is_squad and str(loaded.get("version")).lstrip("v").startswith("2")
    return _Gold(file, questions, with_none or stated)


def _squad(loaded: Item) -> Iterator[tuple[str, _Question]]:
    for number, article in enumerate(loaded.items("data", "article"), start=1):
        title = article.text("title") if article.get("title") else f"article {number}"
        for paragraph in article.items("paragraphs", "paragraph"):
            for question in paragraph.items("qas", "question"):
                answers = [_string(each, "text") for each in question.items("answers", "answer")]
                if answers and question.get(_HAS_NONE) is True:
                    raise InputError(
                        f"{question.place('answers')}: expected none where {_HAS_NONE} is true; remove them"
                    )
                yield question.text("id"), _Question(answers, title, bool(answers))


def _plain(loaded: Item) -> Iterator[tuple[str, _Question]]:
    for id, given in loaded.fields.items():
        with naming(loaded.where):
            text(id)
        answers = [given] if isinstance(given, str) else given
        if not isinstance(answers, list) or not all(isinstance(each, str) for each in answers):
            raise InputError(f"{loaded.place(id)}: expected an answer or a list of answers, as text")
        yield id, _Question(answers, "", bool(answers))


def _read_answers(file: str) -> dict[str, str]:
    """The answer of a system to each question; null is none given."""
    loaded = item_at(file, parse_json(file, read_text(file)))
    return {id: _string(loaded, id) for id, value in loaded.fields.items() if value is not None}


def _read(sources: Sources, options: Options) -> Reading:
    gold = _read_gold(sources.gold())
    ids = list(gold.questions)
    words = {id: _gold_words(question.answers, version_2=gold.version_2) for id, question in gold.questions.items()}
    labels: dict[str, Any] = {}
    if any(each.article for each in gold.questions.values()):
        labels["article"] = [each.article for each in gold.questions.values()]
    if gold.version_2:
        labels["answerable"] = ["yes" if each.answerable else "no" for each in gold.questions.values()]
    version = "2.0, with questions that have no answer" if gold.version_2 else "1.1"
    sheets, notes = [], [f"answers are scored as by SQuAD's script of version {version}"]
    for name, file in sources.chosen(options).items():
        answers = _read_answers(file)
        if not any(id in answers for id in ids):
            raise InputError(f"{file}: answers none of the questions of {gold.file}, such as {show(ids[0])}")
        if stray := len(answers.keys() - gold.questions.keys()):
            notes.append(f"{name}: {stray} of {len(answers)} answers are to questions that the gold file does not have")
        scores = np.full((2, len(ids)), np.nan)
        for i, id in enumerate(ids):
            if id in answers:
                scores[:, i] = score_answer(answer_words(answers[id]), words[id], may_be_none=gold.version_2)
        sheets.append(Sheet(name, file, dict(zip(("exact_match", "f1"), scores, strict=True)), labels, ids))
    return join_sheets(sheets, options, scores=True, notes=tuple(notes))


def _gold_words(answers: list[str], *, version_2: bool) -> list[list[str]]:
    """The words of the gold answers; in version 2, answers without any do not count beside others."""
    words = [answer_words(each) for each in answers]
    return ([own for own in words if own] or [[]]) if version_2 else words


ANSWERS = Format(
    "squad",
    "answers to questions as JSON (SQuAD)",
    "gold",
    _read,
    lambda name, head: looks_like(*_ARTICLES)(name, head) or looks_like(_BY_ID)(name, head),
    ("exact_match", "f1"),
    begins=(b"{",),
)
