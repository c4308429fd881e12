"""Retrieval: judgments (qrels) and one run per system -> a measure of each topic.

Judgments and runs are TREC files, or JSON as ranx takes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sigjax.files.opening import naming, read_text
from sigjax.readers.formats import Format, Reading, Sheet, Sources, lines_like, looks_like
from sigjax.readers.join import join_sheets
from sigjax.readers.json_files import item_at, number, parse_json, text
from sigjax.readers.numerals import parse_number
from sigjax.readers.options import Options, show
from sigjax.readers.retrieval.measures import EXAMPLES, Judgments, parse_measure, topic_scorer
from sigjax.records import Evaluation, InputError

_QRELS_LINE = rb"\s*\S+\s+\S+\s+\S+\s+-?[0-9]+\s*"
# A run in the place of the judgments is refused where it is read.
_RUN_LINE = rb"\s*\S+\s+Q0\s+\S+\s+\S+\s+[-+.0-9eE]+\s+\S+\s*"
_JSON_START = rb'^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:\s*[-0-9]|\})'


@dataclass(frozen=True)
class _Kind:
    """A kind of file with a number for each topic and document."""

    title: str
    layout: str
    """The fields of a line."""
    index: int
    """The field that is the number."""
    largest: float
    """The largest absolute value of a number."""
    whole: bool

    @property
    def field(self) -> str:
        return self.layout.split()[self.index]


# The library's time grows with the square of the largest judgment; its scores are in single precision.
_QRELS = _Kind("a judgment", "topic iteration document relevance", 3, 1000, whole=True)
_RUN = _Kind("a run", "topic Q0 document rank score tag", 4, 3e38, whole=False)


def read_runs(sources: Sources, options: Options) -> Reading:
    """Judgments and runs -> a measure of each topic; topics that a run lacks count 0, as with `trec_eval -c`."""
    qrels = sources.gold()
    judged = _read_numbers(qrels, _QRELS)
    runs = {system: (file, _read_numbers(file, _RUN)) for system, file in sources.chosen(options).items()}
    for file, run in runs.values():
        if judged.keys().isdisjoint(run):
            topic = show(next(iter(judged)))
            raise InputError(f"{file}: has none of the topics of {qrels}, such as {topic}; do they belong together?")
    return partial(_evaluate, judged, runs)


def _evaluate(judged: Judgments, runs: Mapping[str, tuple[str, Judgments]], options: Options) -> Evaluation:
    name = options.metric
    measure = parse_measure(name) if isinstance(name, str) else None
    if measure is None or not isinstance(name, str):
        raise InputError(f"runs are scored by a measure's name, such as {', '.join(EXAMPLES)}; give one with --metric")
    score = topic_scorer(measure, judged)
    topics = tuple(judged)
    absent = np.nan if options.missing in ("drop", "pairwise") else 0.0
    sheets, notes = [], []
    for system, (file, run) in runs.items():
        values = dict.fromkeys(run, 0.0) | score(run)
        column = np.array([values.get(topic, absent) for topic in topics])
        sheets.append(Sheet(system, file, {name: column}, {"topic": topics}, topics))
        lacking = sum(topic not in run for topic in topics)
        if lacking and absent == 0.0:
            notes.append(
                f"system {system!r} lacks {lacking} of {len(topics)} topics; they count 0, as with trec_eval -c"
            )
    return join_sheets(sheets, options, scores=True, notes=tuple(notes))(options)


def _read_numbers(file: str, kind: _Kind) -> Judgments:
    """The number of each topic and document, from a TREC file or a JSON object."""
    content = read_text(file)
    found = (_parse_json if content.lstrip().startswith("{") else _parse_lines)(file, content, kind)
    if not found:
        raise InputError(f"{file}: has no topics; expected {kind.title} of some")
    return found


def _parse_lines(file: str, content: str, kind: _Kind) -> Judgments:
    found: dict[str, dict[str, float]] = {}
    num_fields, index = len(kind.layout.split()), kind.index
    for line, row in enumerate(content.split("\n"), start=1):
        fields = row.split()
        if len(fields) != num_fields:
            if not fields:
                continue
            raise InputError(
                f"{file}, line {line}: expected {num_fields} fields ({kind.layout}), got {len(fields)}: {show(row)}"
            )
        topic, document = fields[0], fields[2]
        documents = found.setdefault(topic, {})
        if document in documents:
            raise InputError(
                f"{file}, line {line}: document {show(document)} occurs twice for topic {show(topic)}; leave one out"
            )
        try:
            documents[document] = _checked(parse_number(fields[index]), kind)
        except InputError as error:
            raise InputError(f"{file}, line {line}, {kind.field}: {error.neutral}") from None
    return found


def _parse_json(file: str, content: str, kind: _Kind) -> Judgments:
    found: dict[str, dict[str, float]] = {}
    for topic, documents in item_at(file, parse_json(file, content)).fields.items():
        where = f"{file}, topic {show(topic)}"
        own = item_at(where, documents).fields
        _check_names(own, where)
        found[topic] = {document: _json_number(value, where, document, kind) for document, value in own.items()}
    _check_names(found, file)
    return found


def _json_number(value: object, where: str, document: str, kind: _Kind) -> float:
    try:
        if isinstance(value, bool):
            raise InputError("expected a number, got true or false")
        return _checked(number(value), kind)
    except InputError as error:
        raise InputError(f"{where}, document {show(document)}, {kind.field}: {error.neutral}") from None


def _check_names(names: Iterable[str], where: str) -> None:
    """Refuse names that a C library cannot take."""
    for name in names:
        if "\0" in name:
            raise InputError(f"{where}: the name {show(name)} holds a NUL character; repair it")
        with naming(where):
            text(name)


def _checked(value: float, kind: _Kind) -> float:
    if abs(value) > kind.largest or (kind.whole and not value.is_integer()):
        expected = f"{'a whole number' if kind.whole else 'a number'} up to {kind.largest:g}"
        raise InputError(f"expected {expected}, got {value:.15g}")
    return value


TREC_RUN = Format(
    "trec-run",
    "judgments (qrels) and runs of TREC",
    "gold",
    read_runs,
    lines_like(_QRELS_LINE, _RUN_LINE),
    EXAMPLES,
    offers=lambda name: parse_measure(name) is not None,
)
RANX_JSON = replace(
    TREC_RUN, name="ranx-json", title="judgments and runs as JSON (ranx)", looks=looks_like(_JSON_START)
)
