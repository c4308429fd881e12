"""Texts: outputs with references, by line or by id; answers to questions as in SQuAD; and scores of segments.

**Scores of segments** (comet-score --to_json, .seg.score of mt-metrics-eval) are joined by position.

**Answers.** Gold answers are a file of SQuAD (1.1 or 2.0), or a JSON object of id -> answers. Predictions are a JSON
object of id -> answer. Exact match and F1 are computed as by the scripts of SQuAD: answers are compared in lower case,
without ASCII punctuation and articles (a, an, the); among several gold answers, the best match counts. If some question
has no answer, the rules of version 2.0 are used, else of version 1.1. The articles of SQuAD can be clusters.
References: Rajpurkar et al. (2016), "SQuAD: 100,000+ questions for machine comprehension of text"; Rajpurkar, Jia and
Liang (2018), "Know what you don't know".

**Transcripts** have ids, as in Kaldi's `text` (`ID WORD ...`) and sclite's `trn` (`WORD ... (ID)`), or times, as in
stm. An utterance without words is an empty transcript. For the metric `wer-sclite`, words are read as by sclite. For
other metrics, all words count (also `(optional)` words, `<unk>` and `[noise]` of sclite), case matters, and
alternatives `{a / b}` of trn raise an error. If all ids contain - or _, the text before the first - or _ is the
speaker.

**Recognition.** Ids look like words of plain texts. So files are transcripts only if the gold file is named
`NAME.trn`, or if two conditions hold. Each system has more than half of the ids of the gold file, and no other ids. The
gold file is named `text`, or the ids are long and similar: of the same length, or of the same pattern of letters,
digits and marks. Files that nearly satisfy this (such as ten or more lines with numbers as ids) raise an error; the
message names both readers.

**Times.** An stm file of sclite has the reference segments with their times; a ctm file has the words of a system with
their times. As in sclite, a word belongs to the first segment of its channel that ends after the middle of the word; if
no segment does, to the last segment. Case is ignored, also in names of files and channels. If a reference segment is
marked IGNORE_TIME_SEGMENT_IN_SCORING, it is left out with its words. If a ctm file has no word of a channel, its
results on this channel are missing.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from operator import itemgetter
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from sigjax.formats.declarations import head_lines
from sigjax.formats.labels import ById
from sigjax.formats.logs import InstanceLog, Log, SystemLog
from sigjax.metrics import METRICS, TEXT_METRICS
from sigjax.metrics.edits import SCLITE, tokens_of
from sigjax.metrics.texts import check_lengths, evaluation_from_texts
from sigjax.readers.join import Reading, Sheet, Sources, file_labels, join_sheets, option_labels
from sigjax.readers.json_files import JsonObject, load_item, text, type_of
from sigjax.readers.options import Options, name_systems, quote, select_systems
from sigjax.readers.predictions import answer_words, score_answer
from sigjax.readers.table import is_missing, parse_number
from sigjax.records import EvaluationRecord, Hint, InputError, Line
from sigjax.run.files import naming, read_head, read_segments, read_text


def read_texts(sources: Sources, options: Options) -> Reading:
    """Read texts, for metrics of texts; clusters and strata come from files with one label per line."""
    first = sources.files[0]
    chosen = select_systems(first, tuple(sources.systems), options)
    files = [*sources.files, *(sources.systems[name] for name in chosen)]
    texts = [read_segments(file) for file in files]
    for file, segments in zip(files, texts, strict=True):
        if len(segments) != len(texts[0]):
            raise InputError(
                f"{file}: has {len(segments)} lines, but {first} has {len(texts[0])}; expected one segment per line, "
                "in the same order"
            )
    gold, outputs = texts[: len(sources.files)], texts[len(sources.files) :]
    known = partial(file_labels, first, known=(), num_instances=len(gold[0]))
    labels: dict[str, Any] = {**option_labels(options, known)}

    def evaluate(options: Options) -> EvaluationRecord:
        metric = _metric_name(options)
        check_lengths(metric, dict(zip(files, texts, strict=True)), unit_name="line")
        systems = dict(zip(chosen, outputs, strict=True))
        return evaluation_from_texts(systems, gold, metric=metric, progress=options.progress, **labels)

    return evaluate


def _metric_name(options: Options) -> str:
    """Return the name of the metric; the option may be a name or a metric record of sigjax."""
    metric = options.metric
    name = metric if isinstance(metric, str) else getattr(metric, "name", "")
    if name == metric or (name in TEXT_METRICS and metric == METRICS[name]):
        return name
    raise InputError(f"a format of texts takes no metric of your own; it gives {', '.join(TEXT_METRICS)}")


_COMET = "COMET"
_MISSING = "None"


def _comet(file: str, _: Options) -> list[SystemLog]:
    """Read comet-score --to_json: a JSON object that maps each system's file to its segments.

    A segment has src, mt, ref and the score.
    """
    found = load_item(file)
    if not found.fields:
        raise InputError(f'{file}: expected an object such as {{"system.txt": [{{"{_COMET}": 0.8}}]}}')
    names = name_systems(list(found.fields))[0]
    systems = {
        name: [_segment(segment) for segment in found.items(field, f"system {quote(name)}, segment")]
        for name, field in zip(names, found.fields, strict=True)
    }
    return _of_one_length(file, systems)


def _segment(segment: JsonObject) -> InstanceLog:
    fields = segment.fields
    if isinstance(fields.get(_COMET), bool):
        raise InputError(f"{segment.field(_COMET)}: expected a number, got true or false")
    return InstanceLog({_COMET: segment.number(_COMET)}, content=(fields.get("src"), fields.get("ref")))


_SEGMENT = "Segment "
_ROUNDED = 1.5e-4
"""Tolerance for the published mean. Scores have four digits, but the mean was computed before they were rounded."""


def _comet_text(file: str, _: Options) -> Iterator[SystemLog]:
    """Read what comet-score prints. Each segment has a line `FILE <tab> Segment I <tab> score: X`.

    A line without a segment has the mean of a system.
    """
    rows, means = dict[str, list[InstanceLog]](), dict[str, float]()
    for line, content in enumerate(read_text(file).split("\n"), start=1):
        system, *fields = content.rstrip().split("\t")
        if not fields or not fields[-1].startswith(("score: ", "variance: ")):
            continue  # other output
        of_mean = len(fields) == 1
        segment, number = fields[:2] if not of_mean else (_SEGMENT, fields[0])
        if not (segment.startswith(_SEGMENT) and number.startswith("score: ")):
            raise InputError(f"{Line(file, line)}: expected FILE, Segment I and score: X, got {quote(content)}")
        with naming(f"{Line(file, line)}"):
            score = parse_number(number[7:], hint="expected a score", missing="score the segment again")
            if of_mean:
                means[system] = score
            else:
                rows.setdefault(system, []).append(InstanceLog({_COMET: score}, text(segment.removeprefix(_SEGMENT))))
    for name, system in zip(name_systems(list(rows))[0], rows, strict=True) if rows else ():
        yield SystemLog(file, rows[system], name, published=partial(_comet_mean, file, means.get(system)))


def _comet_mean(file: str, published: float | None, _: str, mean: float) -> tuple[list[str], bool]:
    """Return a list of warnings, and False (lower values are not better).

    There is a warning if the printed mean (`published`) differs from `mean`, the mean of the segments: lines may be
    missing.
    """
    if published is None or abs(mean - published) <= _ROUNDED:
        return [], False
    return [
        f"warning: {file}: the mean of the segments is {mean:.4f}, but {published:.4f} is printed; is it whole?"
    ], False


def _segment_scores(file: str, _: Options) -> list[SystemLog]:
    """Read .seg.score of mt-metrics-eval: lines `SYSTEM SCORE`; the lines of a system are in the order of segments."""
    rows: dict[str, list[InstanceLog]] = {}
    for line, content in enumerate(read_text(file).rstrip().split("\n"), start=1):
        fields = content.split()
        if len(fields) != 2:
            raise InputError(f"{Line(file, line)}: expected SYSTEM SCORE, got {quote(content)}")
        system, score = fields
        with naming(f"{Line(file, line)}"):
            hint = f"write {_MISSING} where it is missing"
            scores = {} if is_missing(score) else {"score": parse_number(score, hint=hint, missing=hint)}
        rows.setdefault(system, []).append(InstanceLog(scores))
    return _of_one_length(file, rows, f", {_MISSING} where there is none")


def _of_one_length(file: str, systems: Mapping[str, Sequence[InstanceLog]], hint: str = "") -> list[SystemLog]:
    (first, expected), *others = systems.items()
    for system, rows in others:
        if len(rows) != len(expected):
            raise InputError(
                f"{file}: system {quote(system)} has {len(rows)} scores, {quote(first)} has {len(expected)}; expected "
                f"one for each segment{hint}"
            )
    return [SystemLog(file, rows, system) for system, rows in systems.items()]


COMET = Log(results=_comet, content="source or reference")
COMET_TEXT = Log(results=_comet_text, main=_COMET)
SEGMENT_SCORES = Log(results=_segment_scores)


_HAS_NONE = "is_impossible"


def _string(at: JsonObject, name: str) -> str:
    """Return the value of a field that must be a string (perhaps empty); raise an error for other values."""
    value = at.value(name)
    if not isinstance(value, str):
        raise InputError(f"{at.field(name)}: expected a text, got {type_of(value)}")
    return value


def _read_gold(file: str) -> tuple[dict[str, list[str]], dict[str, str], bool]:
    """Return three things: gold answers by question id, articles by question id, and whether version 2.0 is used.

    Articles are empty, except in files of SQuAD. By the rules of version 2.0, questions may have no answer.
    """
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


def _squad(loaded: JsonObject) -> Iterator[tuple[str, list[str], str]]:
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


def _plain(loaded: JsonObject) -> Iterator[tuple[str, list[str], str]]:
    for id, given in loaded.fields.items():
        with naming(loaded.where):
            text(id)
        answers = [given] if isinstance(given, str) else given
        if not isinstance(answers, list) or not all(isinstance(each, str) for each in answers):
            raise InputError(f"{loaded.field(id)}: expected an answer or a list of answers, as text")
        yield id, answers, ""


def _answers(file: str) -> dict[str, str]:
    """Return a system's answers by question id. The value null in the file means that the answer is missing."""
    loaded = load_item(file)
    return {id: _string(loaded, id) for id, value in loaded.fields.items() if value is not None}


def read_answers(sources: Sources, options: Options) -> Reading:
    """Read answers, and compute exact match and F1 of each system on each question."""
    questions, articles, version_2 = _read_gold(sources.gold())
    ids = list(questions)
    words = {id: list(map(answer_words, answers)) for id, answers in questions.items()}
    if version_2:  # a gold answer without words counts only if all are without words
        words = {id: list(filter(None, answers)) or [[]] for id, answers in words.items()}
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
        given = {id: answer_words(answer) for id, answer in answers.items()}
        none = np.nan, np.nan
        scores = [score_answer(given[id], words[id], may_be_none=version_2) if id in given else none for id in ids]
        exact, f1 = np.array(scores).T
        sheets.append(Sheet(name, file, {"exact_match": exact, "f1": f1}, labels, ids))
    return join_sheets(sheets, options, scores=True, notes=tuple(notes))


_ALTERNATIVES = re.compile(r"\{[^{}/]*/[^{}]*\}")
_SPEAKER = re.compile(r"[^_-]+(?=[_-])")
_ID = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")
_PART = re.compile(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]+")
_NUMBER_OR_DATE = re.compile(
    r"[A-Za-z]?\d+(?:[.-]\d+)?[A-Za-z]{0,2}|\d{1,4}[-.]\d\d?[-.]\d{1,4}(?:T.*)?|v?\d+(?:\.\d+)+"
)
"""Pattern of numbers, dates and versions in texts, which cannot be ids: 3, Q3, 3rd, 1990s, 2-1, 2026-01-31, v1.2.3."""
_LEAST_ID, _LEAST_PARTS, _LEAST_NUMBERS = 8, 3, 10
"""Limits for ids. A text counts as an id, and not as an ordinary word, if it has at least `_LEAST_ID` characters and at
least `_LEAST_PARTS` parts. (A part is a stretch of letters, of digits, or of marks.) If all lines begin with numbers,
the numbers may be ids instead of a numbered list, but only if all files have the same numbers, on at least
`_LEAST_NUMBERS` lines."""


Split = Callable[[str], tuple[str, str] | None]
"""Function: line -> (id, words); None if the line has no id."""


def _split_kaldi(line: str) -> tuple[str, str] | None:
    id, *words = line.split()
    return id, " ".join(words)


def _split_trn(line: str) -> tuple[str, str] | None:
    words, bracket, end = line.strip().rpartition("(")
    id = end.removesuffix(")")
    if not bracket or id == end or ")" in id or id.split() != [id]:
        return None
    return id, " ".join(words.split())


def _numbered_lines(text: str, comment: str = "\n") -> Iterator[tuple[int, str]]:
    """Yield (line number, line) for nonblank lines; lines that begin with `comment` are skipped."""
    lines = enumerate(text.split("\n"), start=1)
    return ((number, line) for number, line in lines if line.strip() and not line.startswith(comment))


def _read_file(split: Split, file: str) -> ById:
    words, lines = dict[str, str](), dict[str, int]()
    for number, line in _numbered_lines(read_text(file), ";;" if split is _split_trn else "\n"):
        found = split(line)
        if found is None:
            raise InputError(f"{Line(file, number)}: expected words and then (ID), got {quote(line)}")
        id, own = found
        if id in lines:
            raise InputError(
                f"{Line(file, number)}: utterance {quote(id)} is also on line {lines[id]}; leave one of them out"
            )
        words[id], lines[id] = own, number
    speakers = [found[0] for id in words if (found := _SPEAKER.match(id))]
    return ById(file, words, lines, {"speaker": speakers} if len(speakers) == len(words) else {})


def _read(split: Split, sources: Sources, options: Options) -> Reading:
    gold = _read_file(split, sources.gold())
    systems = {name: _read_file(split, file) for name, file in sources.chosen(options).items()}
    for own in systems.values():
        own.check_known(gold)
    return partial(_evaluate, gold, systems, alternatives=split is _split_trn)


read_kaldi, read_trn = partial(_read, _split_kaldi), partial(_read, _split_trn)


def _check_words(metric: str, side: ById) -> None:
    """Raise an error for alternatives, such as { um / uh }, if the metric does not allow them.

    For wer-sclite, which allows them, raise an error if an opening or closing brace has no partner.
    """
    for id, words in side.values.items():
        if metric != SCLITE and (several := _ALTERNATIVES.search(words)):
            raise InputError(
                f"{side.where(id)}: alternatives such as {quote(several[0])} are for {Hint('m', SCLITE)}; keep one of "
                f"them for {metric}"
            )
        closed = [token for token in tokens_of(words) if token in ("{", "}")]
        if metric == SCLITE and closed != re.findall("[{}]", words):
            raise InputError(f"{side.where(id)}: expected alternatives as {{ a / b }}, got {quote(words)}")


def _evaluate(
    gold: ById, systems: Mapping[str, ById], options: Options, *, alternatives: bool = True
) -> EvaluationRecord:
    """Count errors as for plain texts, in the order of the gold file.

    `systems` maps each system to its texts by id. With --missing zero, missing texts count as empty. If `alternatives`,
    check the alternatives in the texts.
    """
    metric, ids = _metric_name(options), list(gold.values)
    for own in (gold, *systems.values()) if alternatives else ():
        _check_words(metric, own)
    texts = {name: [own.values.get(id, "") for id in ids] for name, own in systems.items()}
    references = list(gold.values.values())
    by_file = {gold.file: references} | {own.file: texts[name] for name, own in systems.items()}
    check_lengths(metric, by_file, unit_name="utterance")
    counted = evaluation_from_texts(texts, references, metric=metric, progress=options.progress)
    sheets, notes = [], list(counted.notes)
    for stats, (name, own) in zip(counted.stats, systems.items(), strict=True):
        absent = np.array([id not in own.values for id in ids])
        if options.missing == "zero" and absent.any():
            notes.append(f"{name}: {np.count_nonzero(absent)} of {len(ids)} utterances are missing, and count as empty")
            absent[:] = False
        columns = zip(counted.metric.inputs, stats.T.astype(float), strict=False)  # a column of ones may follow
        numbers = {each: np.where(absent, np.nan, own) for each, own in columns}
        sheets.append(Sheet(name, own.file, numbers, gold.fields, ids))
    return join_sheets(sheets, options, notes=tuple(notes))(options)


def _ids(split: Split, text: str) -> list[str]:
    """Return the id on each line; "" if a line has no id."""
    return [(split(line) or ("", ""))[0] for _, line in _numbered_lines(text)]


def _pattern(id: str) -> str:
    """Return the pattern of an id: letters in a row become one "a", digits in a row become one "0", and marks stay."""
    return "".join("a" if run[0].isalpha() else "0" if run[0].isdigit() else run for run in _PART.findall(id))


def _may_be(ids: Sequence[str]) -> bool:
    """Whether words may be ids: all have digits, and none is a number, a date or a version."""
    with_digits = all(_ID.fullmatch(id) and re.search("[0-9]", id) for id in ids)
    return bool(ids) and with_digits and not any(_NUMBER_OR_DATE.fullmatch(id) for id in ids)


def _must_be(ids: Sequence[str]) -> bool:
    """Whether words that may be ids must be ids: all are long, and have the same pattern or the same length."""
    long = all(len(id) >= _LEAST_ID and len(_PART.findall(id)) >= _LEAST_PARTS for id in ids)
    return long and (len(set(map(_pattern, ids))) == 1 or len(set(map(len, ids))) == 1)


def _head(head: bytes) -> str:
    return b"\n".join(head_lines(head)).decode("utf-8", "replace").replace("\r", "")


def looks_like_kaldi(_: str, head: bytes) -> bool:
    """Whether all lines begin with ids (or all with numbers), and some line has several words after the id.

    If no line has several words after the id, the file holds labels by id instead of texts.
    """
    lines = [line.split() for _, line in _numbered_lines(_head(head))]
    ids, several_words = [line[0] for line in lines], any(len(line) > 2 for line in lines)
    return several_words and b"\t" not in head and (_may_be(ids) or "".join(ids).isdecimal())


def looks_like_trn(name: str, head: bytes) -> bool:
    """Whether the name of the file ends in .trn, or its lines end with (ID)."""
    return name.endswith(".trn") or _may_be(_ids(_split_trn, _head(head)))


def _are_transcripts(reader: str, split: Split, files: Sequence[str], outputs: Sequence[str]) -> bool:
    """Whether files are transcripts with ids, by the rules under "Recognition" at the top of this module.

    `split` divides a line into id and words, as in the format `reader`. Raise an error if the files nearly satisfy
    these rules.
    """
    first, *others = files
    name = first.lower().removesuffix(".gz")
    if name.endswith(".trn"):
        return reader == "trn"
    gold, *found = [_ids_of(split, file) for file in (first, *others, *outputs)]
    if len(gold) < 2:
        return False
    once = len(set(gold)) == len(gold)
    same = once and all(set(own) == set(gold) for own in found)
    numbers = "".join(gold).isdecimal()
    may_be = same and len(gold) >= _LEAST_NUMBERS if numbers else _may_be(gold)
    certain = may_be and (_must_be(gold) or PurePath(name).name == "text")
    if certain and once and all(2 * len(own) > len(gold) and set(own) <= set(gold) for own in found):
        return True  # missing lines are reported when systems are joined
    if certain or ((may_be or not numbers) and all(2 * len(set(gold).intersection(own)) >= len(gold) for own in found)):
        where = "begin" if reader == "kaldi" else "end"
        differ = "" if same else ", but not all files have the same ones once"
        raise InputError(
            f"{first}: are these transcripts with ids? lines {where} with words such as {quote(gold[0])}{differ}; "
            f"say {Hint('reader', reader)} to join them by id, or {Hint('reader', 'texts')} to score lines as they are"
        )
    return False


are_kaldi, are_trn = partial(_are_transcripts, "kaldi", _split_kaldi), partial(_are_transcripts, "trn", _split_trn)


def _ids_of(split: Split, file: str) -> list[str]:
    """Return the ids in a file; an empty list if the file cannot be read, because the reader then raises the error."""
    with suppress(InputError):
        return _ids(split, read_text(file))
    return []


_TIME = rb"(?:\d+(?:\.\d+)?|\.\d+)"
_STM = re.compile(rb"(?:\S+\s+){3}(%s)\s+(%s)(?:\s.*)?" % (_TIME, _TIME))
_CTM = re.compile(rb"(?:\S+\s+){2}(?:(?:%s\s+){2}|\*\s+\*\s+(?=<ALT))\S+(?:\s+[\d.]+)?(?:\s.*)?" % _TIME, re.I)
_STM_LINE, _CTM_LINE = "FILE CHANNEL SPEAKER BEGIN END WORD ...", "FILE CHANNEL BEGIN DURATION WORD"
_IGNORED = "ignore_time_segment_in_scoring"
Channel = tuple[str, str]
"""(file, channel), both in lower case."""


class _Segment(NamedTuple):
    id: str
    """The id of the segment: its file, channel, speaker and start, as they are written in the file."""
    channel: Channel
    speaker: str
    begin: float
    end: float
    label: str
    words: str
    line: int


_Word = tuple[float, float, str]
"""(start, middle, text) of a word or of a group of alternatives; the times are in seconds."""


def read_timed(sources: Sources, options: Options) -> Reading:
    """Read stm and ctm files: the words of each system in the segments of the reference."""
    segments = _read_stm(sources.gold())
    gold = _utterances(sources.gold(), segments)
    systems = {name: _read_ctm(file, sources.gold(), segments) for name, file in sources.chosen(options).items()}
    return partial(_evaluate, gold, systems)


def _read_stm(file: str) -> dict[Channel, list[_Segment]]:
    """Return the segments of each channel, in the order of time."""
    segments, lines = dict[Channel, list[_Segment]](), dict[str, int]()
    for number, line in _numbered_lines(read_text(file), ";;"):
        name, channel, speaker, begin, end, words = [*line.split(None, 5), "", "", "", "", ""][:6]
        where = f"{Line(file, number)}"
        first, last = _times(where, line, _STM_LINE, (begin, end))
        id = f"{name} {channel} {speaker} {begin}"
        if id in lines:
            raise InputError(f"{where}: segment {quote(id)} is also on line {lines[id]}; leave one of them out")
        lines[id] = number
        label, *rest = words.split() if words.startswith("<") else ["", *words.split()]
        key, label = (name.lower(), channel.lower()), label.strip("<>").lower()
        own = _Segment(id, key, speaker.lower(), first, last, label, " ".join(rest), number)
        segments.setdefault(key, []).append(own)
    return {key: sorted(own, key=lambda segment: segment.begin) for key, own in segments.items()}


def _times(where: str, line: str, expected: str, written: tuple[str, str]) -> tuple[float, float]:
    if not all(re.fullmatch(_TIME.decode(), each, re.ASCII) for each in written):
        raise InputError(f"{where}: expected {expected}, with times in seconds, got {quote(line)}")
    return float(written[0]), float(written[1])


def _utterances(file: str, segments: Mapping[Channel, Sequence[_Segment]]) -> ById:
    """Return the words of the segments that are scored, in the order of the file; ignored segments are left out.

    A segment is ignored if it is marked IGNORE_TIME_SEGMENT_IN_SCORING.
    """
    every = sorted((own for each in segments.values() for own in each), key=lambda segment: segment.line)
    scored = [each for each in every if _IGNORED not in each.words.lower()]
    fields = {
        "speaker": [each.speaker for each in scored],
        "file": [each.channel[0] for each in scored],
        "channel": [" ".join(each.channel) for each in scored],
        "label": [each.label for each in scored],
    }
    return ById(file, {each.id: each.words for each in scored}, {each.id: each.line for each in scored}, fields)


def _read_ctm(file: str, gold: str, segments: Mapping[Channel, Sequence[_Segment]]) -> ById:
    """Return the words of a system in each segment of the reference; `segments` are the segments of each channel."""
    found = dict[str, str]()
    for channel, words in _channels(file, gold, segments).items():
        words.sort(key=itemgetter(0))
        k = 0
        for segment in segments[channel]:
            start = k
            while k < len(words) and (segment is segments[channel][-1] or words[k][1] < segment.end):
                k += 1
            found[segment.id] = " ".join(word for _, _, word in words[start:k])
    return ById(file, found, {})


def _channels(file: str, gold: str, segments: Mapping[Channel, Sequence[_Segment]]) -> dict[Channel, list[_Word]]:
    """Return the words of each channel; lines from <ALT_BEGIN> to <ALT_END> are alternatives, separated by <ALT>.

    A word of a channel that is not in `segments` raises an error.
    """
    channels = dict[Channel, list[_Word]]()
    alternatives: list[list[_Word]] | None = None
    where = file
    for number, line in _numbered_lines(read_text(file), ";"):
        where = f"{Line(file, number)}"
        name, channel, begin, duration, word = [*line.split(), "", "", "", "", ""][:5]
        key, mark = (name.lower(), channel.lower()), word.upper()
        if key not in segments:
            raise InputError(f"{where}: {gold} has no segment of {quote(f'{name} {channel}')}; leave its words out")
        own = channels.setdefault(key, [])
        if mark == "<ALT_BEGIN>" and alternatives is None:
            alternatives = [[]]
        elif mark == "<ALT>" and alternatives:
            alternatives.append([])
        elif mark == "<ALT_END>" and alternatives and any(alternatives):
            begins, middles, _ = zip(*chain(*alternatives), strict=True)
            text = " / ".join(" ".join(word for _, _, word in words) or "@" for words in alternatives)
            own.append((begins[0], max(middles), f"{{ {text} }}"))
            alternatives = None
        elif mark.startswith("<ALT") or any(each in word for each in ("{}/" if alternatives else "{}")):
            expected = "a word, or alternatives from <ALT_BEGIN> to <ALT_END>"
            raise InputError(f"{where}: expected {expected}, got {quote(word)}")
        else:
            first, length = _times(where, line, _CTM_LINE, (begin, duration if word else ""))
            (alternatives[-1] if alternatives else own).append((first, first + length / 2, word))
    if alternatives is not None:
        raise InputError(f"{where}: ends within alternatives; expected <ALT_END>")
    return channels


def looks_timed(name: str, head: bytes) -> bool:
    """Whether the name ends in .stm, or all lines are segments with an end that is not before their start."""
    lines = [_STM.fullmatch(line.strip()) for line in head_lines(head) if not line.startswith(b";;")]
    return name.endswith(".stm") or (bool(lines) and all(each and float(each[1]) <= float(each[2]) for each in lines))


def are_timed(files: Sequence[str], outputs: Sequence[str]) -> bool:
    """Whether the name of the gold file ends in .stm, or every line of the systems' files is a word with its time."""
    if files[0].lower().removesuffix(".gz").endswith(".stm"):
        return True
    heads = [head_lines(read_head(file)[1]) for file in outputs]
    lines = [[_CTM.fullmatch(line.strip()) for line in each if not line.startswith(b";")] for each in heads]
    return all(own and all(own) for own in lines)
