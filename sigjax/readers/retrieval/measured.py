"""Measures of topics, as programs give them, one file per system.

`trec_eval -q` writes lines of measure, topic and value, `ir_measures --by_query` those of topic, measure and value;
pytrec_eval returns an object of topic -> measure -> value, which people keep as JSON.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sigjax.files.opening import head_lines, naming, read_text
from sigjax.readers.formats import Format, lines_like
from sigjax.readers.json_files import item_at, parse_json
from sigjax.readers.logs.driver import Result, Row, log_reader
from sigjax.readers.numerals import parse_number
from sigjax.readers.options import Options, show
from sigjax.readers.retrieval.measures import parse_measure
from sigjax.records import InputError

_EVAL_LINE = rb"(?:[A-Za-z0-9][\w.]* +|runid|num_q|num_ret|map)\t\S+\t\S+\s*"
_JSON_START = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
_MEASURED_LINE = re.compile(r"\S+\t\S+\t[-+.0-9eE]+\s*")
_MEASURED_NAME = re.compile(r'[{,]\s*"([^"\\]+)"\s*:\s*[-0-9]')
_NOT_MEANS = re.compile(r"runid|relstring|num_\w+|gm_\w+")
"""Rows of trec_eval that hold text, counts that are added up, or geometric means."""
_ALL = "all"
"""The topic of the means of trec_eval."""


def _trec_eval(file: str, _: Options) -> Iterator[Result]:
    """Measures of topics, without those of all topics together."""
    content = read_text(file)
    found = _parse_json(file, content) if content.lstrip().startswith("{") else _parse_lines(file, content)
    scores = {
        topic: {measure: value for measure, value in own.items() if not _NOT_MEANS.fullmatch(measure)}
        for topic, own in found.items()
        if topic != _ALL
    }
    if not any(scores.values()):
        raise InputError(f"{file}: has no values of single topics; run trec_eval with -q")
    yield Result(file, [Row(own, topic, labels={"topic": topic}) for topic, own in scores.items()])


def _parse_json(file: str, content: str) -> dict[str, dict[str, float]]:
    topics = item_at(file, parse_json(file, content))
    return {
        topic: {name: own.number(name) for name in own.fields}
        for topic in topics.fields
        for own in [topics.item(topic)]
    }


def _parse_lines(file: str, text: str) -> dict[str, dict[str, float]]:
    """One line per measure and topic."""
    scores: dict[str, dict[str, float]] = {}
    lines = text.split("\n")
    topic_first = _topic_first(lines)
    for line, content in enumerate(lines, start=1):
        if not content.strip():
            continue
        where = f"{file}, line {line}"
        measure, topic, value = _eval_fields(where, content)
        if topic_first:
            measure, topic = topic, measure
        if topic == _ALL or _NOT_MEANS.fullmatch(measure):
            continue
        own = scores.setdefault(topic, {})
        if measure in own:
            raise InputError(f"{where}: {show(measure)} of topic {show(topic)} occurs twice; leave one out")
        with naming(f"{where}, {show(measure)}"):
            own[measure] = parse_number(value)
    return scores


def _topic_first(lines: Sequence[str]) -> bool:
    """Whether lines are those of ir_measures: the second field is a measure, and the first is none."""
    lines = [line for line in lines if line.strip()]
    if not all(map(_MEASURED_LINE.fullmatch, lines)):
        return False
    first, second = ({line.split("\t")[i] for line in lines} for i in (0, 1))
    return any(map(parse_measure, second)) and not any(map(parse_measure, first))


def _looks_measured(name: str, head: bytes) -> bool:
    if lines_like(_EVAL_LINE)(name, head):
        return True
    if _JSON_START.match(head):
        return any(map(parse_measure, _MEASURED_NAME.findall(head.decode("utf-8", "replace"))))
    return _topic_first([line.decode("utf-8", "replace") for line in head_lines(head)])


def _eval_fields(where: str, content: str) -> Sequence[str]:
    fields = [field.strip() for field in content.split("\t")]
    if len(fields) != 3:
        fields = content.split()
    if len(fields) != 3 or not all(fields):
        raise InputError(f"{where}: expected measure, topic and value with tabs between, got {show(content)}")
    return fields


def _spelled(options: Options, measures: Sequence[str]) -> Options:
    """The options with the files' spelling of the measure: ndcg@10 is ndcg_cut_10."""
    meant = parse_measure(options.metric) if isinstance(options.metric, str) else None
    if meant is None or options.metric in measures:
        return options
    return replace(options, metric=next((each for each in measures if parse_measure(each) == meant), options.metric))


TREC_EVAL = Format(
    "trec-eval",
    "per-topic output of trec_eval -q, ir_measures or pytrec_eval",
    "systems",
    log_reader(_trec_eval, adapt=_spelled),
    _looks_measured,
)
