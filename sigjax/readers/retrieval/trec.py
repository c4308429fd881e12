"""Retrieval: relevance judgments (qrels) and a run a system, as TREC files or as JSON -> a measure of each topic."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sigjax.files.opening import decode_text, head_lines, read_bytes
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.numerals import parse_number
from sigjax.readers.options import Options, show
from sigjax.readers.retrieval.measures import EXAMPLES, Measure, parse_measure, topic_scorer
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

_Numbers = dict[str, dict[str, float]]
"""The number of each topic and document."""
_QRELS_LINE = re.compile(rb"\s*\S+\s+\S+\s+\S+\s+-?[0-9]+\s*")
_RUN_LINE = re.compile(rb"\s*\S+\s+Q0\s+\S+\s+\S+\s+[-+.0-9eE]+\s+\S+\s*")
_JSON_START = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:\s*[-0-9]|\})')


@dataclass(frozen=True)
class _Kind:
    """A kind of file with a number for each topic and document."""

    title: str
    layout: str
    """The fields of a line."""
    number: int
    """Which field is the number."""
    largest: float
    """The largest absolute value of a number."""
    whole: bool

    @property
    def num_fields(self) -> int:
        return len(self.layout.split())


# The library's time grows with the square of the largest judgment; its scores are in single precision.
_QRELS = _Kind("a judgment", "topic iteration document relevance", 3, 1000, whole=True)
_RUN = _Kind("a run", "topic Q0 document rank score tag", 4, 3e38, whole=False)


def read_runs(sources: Sources, options: Options) -> Reading:
    """The evaluation of runs by a measure of each topic; topics that a run lacks count 0, as with `trec_eval -c`."""
    if len(sources.files) != 1:
        raise InputError(
            f"{sources.files[1]}: expected one file of judgments before -i, got {len(sources.files)} files"
        )
    qrels = sources.files[0]
    judged = _read_numbers(qrels, _QRELS)
    runs = {system: (file, _read_numbers(file, _RUN)) for system, file in sources.systems.items()}
    for file, run in runs.values():
        if judged.keys().isdisjoint(run):
            raise InputError(
                f"{file}: has none of the topics of {qrels}, such as {show(next(iter(judged)))}; do they "
                "belong together?"
            )
    return partial(_evaluate, judged, runs)


def _evaluate(judged: _Numbers, runs: Mapping[str, tuple[str, _Numbers]], options: Options) -> Evaluation:
    name, measure = _chosen_measure(options)
    score = topic_scorer(measure, judged)
    topics = tuple(judged)
    sheets, notes = [], []
    for system, (file, run) in runs.items():
        lacking = sum(topic not in run for topic in topics)
        found = dict.fromkeys(run, 0.0) | score(run)
        absent = np.nan if options.missing == "drop" else 0.0
        values = np.array([found.get(topic, absent) for topic in topics])
        sheets.append(Sheet(system, file, {name: values}, {"topic": topics}, topics))
        if lacking and options.missing != "drop" and (options.systems is None or system in options.systems):
            notes.append(
                f"system {system!r} lacks {lacking} of {len(topics)} topics; they count 0, as with trec_eval -c"
            )
    return join_sheets(sheets, options, scores=True, notes=tuple(notes))(options)


def _chosen_measure(options: Options) -> tuple[str, Measure]:
    measure = parse_measure(options.metric) if isinstance(options.metric, str) else None
    if measure is None or not isinstance(options.metric, str):
        raise InputError(f"runs are scored by a measure's name, such as {', '.join(EXAMPLES)}; give one with --metric")
    return options.metric, measure


def _read_numbers(file: str, kind: _Kind) -> _Numbers:
    """The number of each topic and document, from a TREC file or a JSON object."""
    text = decode_text(file, read_bytes(file))
    found = _parse_json(file, text, kind) if text.lstrip().startswith("{") else _parse_lines(file, text, kind)
    if not found:
        raise InputError(f"{file}: has no topics; expected {kind.title} of some")
    return found


def _parse_lines(file: str, text: str, kind: _Kind) -> _Numbers:
    found: _Numbers = {}
    num_fields, number = kind.num_fields, kind.number
    for line, content in enumerate(text.split("\n"), start=1):
        fields = content.split()
        if len(fields) != num_fields:
            if not fields:
                continue
            raise InputError(
                f"{file}, line {line}: expected {num_fields} fields ({kind.layout}), got {len(fields)}: {show(content)}"
            )
        topic, document = fields[0], fields[2]
        documents = found.get(topic)
        if documents is None:
            documents = found[topic] = {}
        if document in documents:
            raise InputError(
                f"{file}, line {line}: document {show(document)} occurs twice for topic {show(topic)}; leave one out"
            )
        documents[document] = _number(f"{file}, line {line}", fields[number], kind)
    return found


def _number(where: str, text: str, kind: _Kind) -> float:
    try:
        value = parse_number(text)
    except InputError as error:
        raise InputError(f"{where}, {kind.layout.split()[kind.number]}: {error}") from None
    if abs(value) > kind.largest or (kind.whole and not value.is_integer()):
        expected = f"{'a whole number' if kind.whole else 'a number'} up to {kind.largest:g}"
        raise InputError(f"{where}: expected {expected} as the {kind.layout.split()[kind.number]}, got {show(text)}")
    return value


def _parse_json(file: str, text: str, kind: _Kind) -> _Numbers:
    try:
        # Objects as tuples, so that repeated names are seen; numbers as they are spelt, to be read as in lines.
        pairs = json.loads(text, object_pairs_hook=tuple, parse_int=_Spelt, parse_float=_Spelt, parse_constant=_Spelt)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file}, line {error.lineno}: not readable as JSON: {error.msg}; the file may be cut off"
        ) from None
    except RecursionError:
        raise InputError(f'{file}: nested too deeply; expected {{"topic": {{"document": 1}}}}') from None
    found: _Numbers = {}
    for topic, documents in _unique(file, pairs):
        where = f"{file}, topic {show(topic)}"
        found[topic] = {
            document: _number(f"{where}, document {show(document)}", _spelt(where, document, value), kind)
            for document, value in _unique(where, documents)
        }
    return found


class _Spelt(str):
    """A number of JSON in its spelling, which a text is not."""


def _unique(where: str, pairs: object) -> tuple[tuple[str, object], ...]:
    """The fields of an object with names that are different and that a C library can take."""
    if not isinstance(pairs, tuple):
        raise InputError(f'{where}: expected an object as in {{"topic": {{"document": 1}}}}, got {_title(pairs)}')
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise InputError(f"{where}: {show(name)} occurs twice; expected each name once")
        seen.add(name)
        if not name.strip() or "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError(f"{where}: {show(name)} is no name; expected text")
    return pairs


def _spelt(where: str, document: str, value: object) -> str:
    if not isinstance(value, _Spelt):
        raise InputError(f"{where}, document {show(document)}: expected a number, got {_title(value)}")
    return value


def _title(value: object) -> str:
    """What a value of JSON is; it may be nested too deeply to be shown."""
    if isinstance(value, tuple | list):
        return "an object" if isinstance(value, tuple) else "a list"
    return show(str(value))


def _looks_qrels(name: str, head: bytes) -> bool:
    """Whether these are judgments, or a run in their place, which is refused where it is read."""
    lines = head_lines(head)
    return bool(lines) and any(all(map(kind.fullmatch, lines)) for kind in (_QRELS_LINE, _RUN_LINE))


def _looks_json(name: str, head: bytes) -> bool:
    return _JSON_START.match(head) is not None


def _offers(name: str) -> bool:
    return parse_measure(name) is not None


TREC_RUN = Format(
    "trec-run", "judgments (qrels) and runs of TREC", "gold", read_runs, _looks_qrels, EXAMPLES, offers=_offers
)
RANX_JSON = replace(TREC_RUN, name="ranx-json", title="judgments and runs as JSON (ranx)", looks=_looks_json)
