"""What `trec_eval -q` puts out, a file a system: a line a measure and topic, and the same for all topics together."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sigjax.files.opening import decode_text, head_lines, read_bytes
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.numerals import parse_number
from sigjax.readers.options import Options, show
from sigjax.readers.retrieval.measures import parse_measure
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import InputError

_NO_MEAN = re.compile(r"runid|relstring|num_\w+|gm_\w+")
"""Rows that are no numbers, counts that are added up, and geometric means."""
_ALL = "all"
_LINE = re.compile(rb"(?:[A-Za-z0-9][\w.]* +|runid|num_q|num_ret|map)\t\S+\t\S+\s*")


def read_trec_eval(sources: Sources, options: Options) -> Reading:
    """The evaluation of the outputs of trec_eval; `Options.metric` names a measure, in its spelling or another."""
    sheets = [parse_trec_eval(system, file) for system, file in sources.systems.items()]
    evaluate = join_sheets(sheets, options, scores=True)
    return lambda options: evaluate(_named(options, list(sheets[0].numbers)))


def parse_trec_eval(system: str, file: str) -> Sheet:
    """A file as a sheet with a column a measure and a row a topic."""
    values: dict[str, dict[str, float]] = {}
    topics: dict[str, int] = {}
    for line, content in enumerate(decode_text(file, read_bytes(file)).split("\n"), start=1):
        if not content.strip():
            continue
        measure, topic, text = _fields(f"{file}, line {line}", content)
        if topic == _ALL or _NO_MEAN.fullmatch(measure):
            continue
        column = values.setdefault(measure, {})
        if topic in column:
            raise InputError(f"{file}, line {line}: {show(measure)} of topic {show(topic)} occurs twice; leave one out")
        column[topic] = _value(f"{file}, line {line}", measure, text)
        topics.setdefault(topic, len(topics))
    if not topics:
        raise InputError(f"{file}: has no values of single topics; run trec_eval with -q")
    numbers = {measure: np.array([column.get(topic, np.nan) for topic in topics]) for measure, column in values.items()}
    return Sheet(system, file, numbers, {"topic": tuple(topics)}, tuple(topics))


def _fields(where: str, content: str) -> Sequence[str]:
    fields = [field.strip() for field in content.split("\t")]
    if len(fields) != 3:
        fields = content.split()
    if len(fields) != 3 or not all(fields):
        raise InputError(f"{where}: expected measure, topic and value with tabs between, got {show(content)}")
    return fields


def _value(where: str, measure: str, text: str) -> float:
    try:
        return parse_number(text)
    except InputError as error:
        raise InputError(f"{where}, {show(measure)}: {error}") from None


def _named(options: Options, measures: Sequence[str]) -> Options:
    """The options with the files' spelling of the measure: ndcg@10 is ndcg_cut_10."""
    meant = parse_measure(options.metric) if isinstance(options.metric, str) else None
    if meant is None or options.metric in measures:
        return options
    return replace(options, metric=next((each for each in measures if parse_measure(each) == meant), options.metric))


def _looks(name: str, head: bytes) -> bool:
    lines = head_lines(head)
    return bool(lines) and all(_LINE.fullmatch(line) for line in lines)


TREC_EVAL = Format("trec-eval", "per-topic output of trec_eval -q", "systems", read_trec_eval, _looks)
