"""Retrieval: relevance judgments (qrels) and one run per system, scored by trec_eval; and measures per topic.

Judgments and runs are TREC files, or JSON as in ranx. Measures may be written as in papers, such as nDCG@10.

Measures per topic have one file per system. `trec_eval -q` writes lines of measure, topic and value; `ir_measures
--by_query` writes lines of topic, measure and value; pytrec_eval returns a dict of topic -> measure -> value, which
users save as JSON.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from sigjax.formats.declarations import FORMATS, head_lines, lines_like
from sigjax.formats.logs import InstanceLog, Log, SystemLog
from sigjax.readers.join import MOST_SYSTEMS, Reading, Sheet, Sources, join_sheets
from sigjax.readers.json_files import item_at, number, parse_json, text
from sigjax.readers.options import Options, quote
from sigjax.readers.table import parse_number
from sigjax.records import EvaluationRecord, Hint, InputError, Line, Note
from sigjax.run.files import naming, read_text
from sigjax.version import install_command

Judgments = Mapping[str, Mapping[str, float]]
"""Dict from a topic to a dict from a document to its relevance (judgments) or score (run)."""
_LEVEL = r"(?:\(rel=([1-9][0-9]{0,2})\))?"
_NAME = re.compile(rf"([a-z]+(?:_[a-z]+)?){_LEVEL}(?:[@_]([1-9][0-9]{{0,5}}))?{_LEVEL}")
_RANK = {"rr": "recip_rank", "mrr": "recip_rank"}
_WHOLE = {own: own for own in ("map", "ndcg", "recip_rank", "bpref")} | {"ap": "map", "rprec": "Rprec"} | _RANK
_CUT = {own: own for own in ("map_cut", "ndcg_cut", "recall", "success")} | _RANK
_CUT |= {"ap": "map_cut", "map": "map_cut", "ndcg": "ndcg_cut", "p": "P", "precision": "P", "r": "recall"}
_TITLES = {
    **{"map": "MAP", "map_cut": "MAP", "ndcg": "nDCG", "ndcg_cut": "nDCG", "recip_rank": "MRR", "Rprec": "R-precision"},
    **{"bpref": "bpref", "P": "P", "recall": "R", "success": "Success"},
}


@dataclass(frozen=True)
class RankingMeasure:
    """A measure of ranking quality."""

    name: str
    """Name of the measure in trec_eval, without the cutoff, such as "map" or "ndcg_cut"."""
    cutoff: int | None = None
    """Number of top documents that count; None if all documents count."""
    relevance: int = 1
    """A document is relevant if its judgment is at least this number."""

    @property
    def title(self) -> str:
        """The usual name in papers.

        >>> [parse_measure(name).title for name in ("ap", "ndcg_cut_10", "rr@10", "recall@100(rel=2)")]
        ['MAP', 'nDCG@10', 'MRR@10', 'R@100 (rel=2)']
        """
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{_TITLES[self.name]}{cutoff}{f' (rel={self.relevance})' * (self.relevance > 1)}"

    @property
    def command(self) -> str:
        """The command of trec_eval that computes this measure.

        The reciprocal rank of trec_eval has no cutoff. Instead, the option -M of the command limits the number of
        documents.
        """
        cut = self.cutoff and (f" -M {self.cutoff}" if self.name == "recip_rank" else f".{self.cutoff}")
        return f"trec_eval -m {self.name}{cut or ''}{f' -l {self.relevance}' * (self.relevance > 1)}"


@lru_cache
def parse_measure(name: str) -> RankingMeasure | None:
    """Return the measure with this name, in upper or lower case; None if there is no such measure.

    >>> parse_measure("nDCG@10") == parse_measure("ndcg_cut_10")
    True
    >>> parse_measure("AP(rel=2)")
    RankingMeasure(name='map', cutoff=None, relevance=2)
    >>> parse_measure("recall@1000(rel=2)") == parse_measure("R(rel=2)@1000")
    True
    """
    match = _NAME.fullmatch(name.lower())
    if match is None:
        return None
    written, level, cutoff, later = match.groups()
    base = (_CUT if cutoff else _WHOLE).get(written)
    if base is None or (level and later) or ((level or later) and base.startswith("ndcg")):
        return None
    return RankingMeasure(base, int(cutoff) if cutoff else None, int(level or later or 1))


def topic_scorer(measure: RankingMeasure, judged: Judgments) -> Callable[[Judgments], dict[str, float]]:
    """Return a function: run -> value of the measure for each topic that is in both the run and the judgments.

    As in trec_eval, documents are ranked by score in single precision, then by name, both in descending order.
    Documents with a judgment below 0 count as not judged.
    """
    try:
        import pytrec_eval
    except ImportError:
        command = install_command("pytrec-eval-terrier")
        raise InputError(f"measures of runs need pytrec-eval-terrier; run: {command}") from None
    # Judgments below 0 crash pytrec_eval. For all measures here, they mean the same as no judgment.
    known = {
        topic: {document: int(value) for document, value in documents.items() if value >= 0}
        for topic, documents in judged.items()
    }
    reciprocal = measure.name == "recip_rank"
    cutoff = None if reciprocal else measure.cutoff
    name = measure.name if cutoff is None else f"{measure.name}.{cutoff}"
    evaluator = pytrec_eval.RelevanceEvaluator(known, {name}, relevance_level=measure.relevance)
    # pytrec_eval has no cutoff for the reciprocal rank: a value below 1 / cutoff means a rank beyond the cutoff.
    lowest = 1 / measure.cutoff if reciprocal and measure.cutoff else 0.0

    def score(run: Judgments) -> dict[str, float]:
        values = {topic: float(next(iter(found.values()))) for topic, found in evaluator.evaluate(run).items()}
        return {topic: value if value >= lowest else 0.0 for topic, value in values.items()}

    return score


class _TopicFile(NamedTuple):
    """The fields of a file with a number for each topic and document, and which numbers are allowed."""

    layout: str
    field: str
    largest: float
    whole: bool


# Numbers are limited, because the time of pytrec_eval grows with the square of the largest judgment, and its scores are
# float32.
_QRELS = _TopicFile("topic iteration document relevance", "relevance", 1000, whole=True)
_RUN = _TopicFile("topic Q0 document rank score tag", "score", 3e38, whole=False)


def read_runs(sources: Sources, options: Options) -> Reading:
    """Read judgments and runs; as with `trec_eval -c`, a topic that is missing in a run counts as 0."""
    qrels = sources.gold()
    judged = _read_numbers(qrels, _QRELS)
    runs = {system: (file, _read_numbers(file, _RUN)) for system, file in sources.chosen(options).items()}
    for file, run in runs.values():
        if judged.keys().isdisjoint(run):
            topic = quote(next(iter(judged)))
            raise InputError(f"{file}: has none of the topics of {qrels}, such as {topic}; do they belong together?")
    return partial(_evaluate, judged, runs)


def _evaluate(judged: Judgments, runs: Mapping[str, tuple[str, Judgments]], options: Options) -> EvaluationRecord:
    name = options.metric
    measure = parse_measure(name) if isinstance(name, str) else None
    if measure is None or not isinstance(name, str):
        raise InputError(
            f"runs are scored by a measure's name, such as {', '.join(FORMATS['trec-run'].metrics)}; give one with "
            f"{Hint('metric')}"
        )
    score = topic_scorer(measure, judged)
    topics = tuple(judged)
    absent = np.nan if options.missing in ("drop", "pairwise") else 0.0
    sheets, notes, lacking = [], list[str]([Note(measure.command, about=name, code="trec_eval")]), list[str]()
    for system, (file, run) in runs.items():
        values = dict.fromkeys(run, 0.0) | score(run)
        column = np.array([values.get(topic, absent) for topic in topics])
        sheets.append(Sheet(system, file, {name: column}, {"topic": topics}, topics))
        if absent == 0.0 and (count := sum(topic not in run for topic in topics)):
            lacking.append(f"{quote(system)} lacks {count} of {len(topics)}")
        if all(documents.keys().isdisjoint(run.get(topic, ())) for topic, documents in judged.items()):
            notes.append(f"warning: no document of {quote(system)} is judged: is it a run on other documents?")
    if lacking:
        more = f" and {len(lacking) - MOST_SYSTEMS} more systems lack some" if len(lacking) > MOST_SYSTEMS else ""
        warning = "" if options.missing == "zero" else "warning: "
        said = f"topics that a run lacks count 0, as with trec_eval -c: {', '.join(lacking[:MOST_SYSTEMS])}{more}"
        notes.append(warning + said)
    return join_sheets(sheets, options, scores=True, notes=tuple(notes))(options)


def _read_numbers(file: str, expected: _TopicFile) -> Judgments:
    """Read the number for each topic and document from a TREC file or a JSON object."""
    content = read_text(file)
    found = (_parse_json if content.lstrip().startswith("{") else _parse_lines)(file, content, expected)
    if not found:
        raise InputError(f"{file}: has no topics; expected some")
    return found


def _parse_lines(file: str, content: str, expected: _TopicFile) -> Judgments:
    found: dict[str, dict[str, float]] = {}
    names = expected.layout.split()
    num_fields, index = len(names), names.index(expected.field)
    for line, row in enumerate(content.split("\n"), start=1):
        fields = row.split()
        if len(fields) != num_fields:
            if not fields:
                continue
            raise InputError(
                f"{Line(file, line)}: expected {num_fields} fields ({expected.layout}), got {len(fields)}: {quote(row)}"
            )
        topic, document = fields[0], fields[2]
        documents = found.setdefault(topic, {})
        if document in documents:
            raise InputError(
                f"{Line(file, line)}: document {quote(document)} occurs twice for topic {quote(topic)}; leave one out"
            )
        try:
            documents[document] = _checked(parse_number(fields[index]), expected)
        except InputError as error:
            raise InputError(f"{Line(file, line)}, {expected.field}: ", error.message) from None
    return found


def _parse_json(file: str, content: str, expected: _TopicFile) -> Judgments:
    found: dict[str, dict[str, float]] = {}
    topics = item_at(file, parse_json(file, content))
    for topic in topics.fields:
        own, found[topic] = topics.item(topic), {}
        with naming(own.where):
            text(topic)
        for document, value in own.fields.items():
            try:
                if "\0" in topic + text(document):
                    raise InputError("a name holds a NUL character, which no C library takes; repair it")
                if isinstance(value, bool):
                    raise InputError("expected a number, got true or false")
                found[topic][document] = _checked(number(value), expected)
            except InputError as error:
                raise InputError(f"{own.field(document)}, {expected.field}: ", error.message) from None
    return found


def _checked(value: float, expected: _TopicFile) -> float:
    if abs(value) > expected.largest or (expected.whole and not value.is_integer()):
        number = f"{'a whole number' if expected.whole else 'a number'} up to {expected.largest:g}"
        raise InputError(f"expected {number}, got {value:.15g}")
    return value


_EVAL_LINE = rb"(?:[A-Za-z0-9][\w.]* +|runid|num_q|num_ret|map)\t\S+\t\S+\s*"
_MEASURED_JSON = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
_MEASURED_LINE = re.compile(r"\S+\t\S+\t[-+.0-9eE]+\s*")
_MEASURED_NAME = re.compile(r'[{,]\s*"([^"\\]+)"\s*:\s*[-0-9]')
_NOT_MEANS = re.compile(r"runid|relstring|num_\w+|gm_\w+")
"""Pattern of measures of trec_eval that are not means over topics: texts, counts, and geometric means."""
_ALL = "all"
"""The name that trec_eval gives to the mean over all topics."""


def _trec_eval(file: str, _: Options) -> Iterator[SystemLog]:
    """Read the measures of single topics; leave out the means over all topics."""
    content = read_text(file)
    parse = _measured_json if content.lstrip().startswith("{") else _measured_lines
    scores: dict[str, dict[str, float]] = {}
    for where, topic, measure, value in parse(file, content):
        if topic == _ALL or _NOT_MEANS.fullmatch(measure):
            continue
        own = scores.setdefault(topic, {})
        if measure in own:
            raise InputError(f"{where}: occurs twice for topic {quote(topic)}; leave one out")
        with naming(where):
            own[measure] = value()
    if not scores:
        raise InputError(f"{file}: has no values of single topics; run trec_eval with -q")
    yield SystemLog(file, [InstanceLog(own, topic, labels={"topic": topic}) for topic, own in scores.items()])


_Measured = Iterator[tuple[str, str, str, Callable[[], float]]]
"""Iterator over (place for messages, topic, measure, function that returns the value or raises an error)."""


def _measured_json(file: str, content: str) -> _Measured:
    topics = item_at(file, parse_json(file, content))
    for topic in topics.fields:
        own = topics.item(topic)
        yield from ((own.field(name), topic, name, partial(number, value)) for name, value in own.fields.items())


def _measured_lines(file: str, content: str) -> _Measured:
    """Parse lines that each have one measure of one topic."""
    lines = content.split("\n")
    topic_first = _topic_first(lines)
    for line, row in enumerate(lines, start=1):
        fields = [field.strip() for field in row.split("\t")]
        fields = fields if len(fields) == 3 else row.split()
        if not any(fields):
            continue
        if len(fields) != 3 or not all(fields):
            expected = "measure, topic and value with tabs between"
            raise InputError(f"{Line(file, line)}: expected {expected}, got {quote(row)}")
        topic, measure = fields[:2] if topic_first else fields[1::-1]
        yield f"{Line(file, line)}, {quote(measure)}", topic, measure, partial(parse_number, fields[2])


def _topic_first(lines: Sequence[str]) -> bool:
    """Whether lines come from ir_measures: a measure is the second field, and not the first field."""
    lines = [line for line in lines if line.strip()]
    if not all(map(_MEASURED_LINE.fullmatch, lines)):
        return False
    first, second = ({line.split("\t")[i] for line in lines} for i in (0, 1))
    return any(map(parse_measure, second)) and not any(map(parse_measure, first))


def looks_measured(name: str, head: bytes) -> bool:
    """Whether lines, or the inner fields of nested JSON objects, are measures of topics."""
    if lines_like(_EVAL_LINE)(name, head):
        return True
    if _MEASURED_JSON.match(head):
        return any(map(parse_measure, _MEASURED_NAME.findall(head.decode("utf-8", "replace"))))
    return _topic_first([line.decode("utf-8", "replace") for line in head_lines(head)])


def _spelled(options: Options, measures: Sequence[str]) -> Options:
    """Return the options with the measure spelled as in the files: ndcg@10 becomes ndcg_cut_10."""
    meant = parse_measure(options.metric) if isinstance(options.metric, str) else None
    if meant is None or options.metric in measures:
        return options
    return replace(options, metric=next((each for each in measures if parse_measure(each) == meant), options.metric))


TREC_EVAL = Log(results=_trec_eval, adapt=_spelled)
