"""Transcripts with times: sclite's stm (segments of the reference) and ctm (the words of a system), put together.

A word belongs to the first segment of its channel that ends after the middle of the word, and to the last one if none
does, as for sclite. Case does not count, in names of files and channels, either. A segment of which the reference says
IGNORE_TIME_SEGMENT_IN_SCORING is left out with its words. A channel of which a ctm has no word is missing there.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sigjax.files.opening import head_lines, read_head, read_text
from sigjax.metrics.sclite import SCLITE
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, show
from sigjax.readers.texts.transcripts import Utterances, evaluate, numbered_lines
from sigjax.records import InputError

_TIME = rb"(?:\d+(?:\.\d+)?|\.\d+)"
_STM = re.compile(rb"(?:\S+\s+){3}(%s)\s+(%s)(?:\s.*)?" % (_TIME, _TIME))
_CTM = re.compile(rb"(?:\S+\s+){2}(?:(?:%s\s+){2}|\*\s+\*\s+(?=<ALT))\S+(?:\s+[\d.]+)?(?:\s.*)?" % _TIME, re.I)
_STM_LINE, _CTM_LINE = "FILE CHANNEL SPEAKER BEGIN END WORD ...", "FILE CHANNEL BEGIN DURATION WORD"
_IGNORED = "ignore_time_segment_in_scoring"
Channel = tuple[str, str]
"""File and channel, in lower case."""


class _Segment(NamedTuple):
    id: str
    """File, channel, speaker and begin, as the file has them."""
    channel: Channel
    speaker: str
    begin: float
    end: float
    label: str
    words: str
    line: int


class _Word(NamedTuple):
    """A word, or alternatives."""

    text: str
    begin: float
    middle: float


def _read(sources: Sources, options: Options) -> Reading:
    segments = _read_stm(sources.gold())
    gold = _utterances(sources.gold(), segments)
    systems = {name: _read_ctm(file, sources.gold(), segments) for name, file in sources.chosen(options).items()}
    return partial(evaluate, gold, systems)


def _read_stm(file: str) -> dict[Channel, list[_Segment]]:
    """The segments of each channel in the order of time."""
    segments, lines = dict[Channel, list[_Segment]](), dict[str, int]()
    for number, line in numbered_lines(read_text(file), ";;"):
        name, channel, speaker, begin, end, words = [*line.split(None, 5), "", "", "", "", ""][:6]
        where = f"{file}, line {number}"
        first, last = _times(where, line, _STM_LINE, (begin, end))
        id = f"{name} {channel} {speaker} {begin}"
        if id in lines:
            raise InputError(f"{where}: segment {show(id)} is also on line {lines[id]}; leave one of them out")
        lines[id] = number
        label, *rest = words.split() if words.startswith("<") else ["", *words.split()]
        key, label = (name.lower(), channel.lower()), label.strip("<>").lower()
        own = _Segment(id, key, speaker.lower(), first, last, label, " ".join(rest), number)
        segments.setdefault(key, []).append(own)
    return {key: sorted(own, key=lambda segment: segment.begin) for key, own in segments.items()}


def _times(where: str, line: str, expected: str, written: tuple[str, str]) -> tuple[float, float]:
    if not all(re.fullmatch(_TIME.decode(), each, re.ASCII) for each in written):
        raise InputError(f"{where}: expected {expected}, with times in seconds, got {show(line)}")
    return float(written[0]), float(written[1])


def _utterances(file: str, segments: Mapping[Channel, Sequence[_Segment]]) -> Utterances:
    """The segments to score, in the order of the file."""
    every = sorted((own for each in segments.values() for own in each), key=lambda segment: segment.line)
    scored = [each for each in every if _IGNORED not in each.words.lower()]
    fields = {
        "speaker": [each.speaker for each in scored],
        "file": [each.channel[0] for each in scored],
        "channel": [" ".join(each.channel) for each in scored],
        "label": [each.label for each in scored],
    }
    words = {each.id: each.words for each in scored}
    return Utterances(file, words, {each.id: each.line for each in scored}, fields)


def _read_ctm(file: str, gold: str, segments: Mapping[Channel, Sequence[_Segment]]) -> Utterances:
    """The words of a system in the segments of the reference."""
    found = dict[str, str]()
    for channel, words in _channels(file, gold, segments).items():
        words.sort(key=lambda word: word.begin)
        k = 0
        for segment in segments[channel]:
            start = k
            while k < len(words) and (segment is segments[channel][-1] or words[k].middle < segment.end):
                k += 1
            found[segment.id] = " ".join(word.text for word in words[start:k])
    return Utterances(file, found, {})


def _channels(file: str, gold: str, segments: Mapping[Channel, Sequence[_Segment]]) -> dict[Channel, list[_Word]]:
    """The words of each channel; lines from <ALT_BEGIN> to <ALT_END> are alternatives, with <ALT> between them."""
    channels = dict[Channel, list[_Word]]()
    alternatives: list[list[_Word]] | None = None
    where = file
    for number, line in numbered_lines(read_text(file), ";"):
        where = f"{file}, line {number}"
        name, channel, begin, duration, word = [*line.split(), "", "", "", "", ""][:5]
        key, mark = (name.lower(), channel.lower()), word.upper()
        if key not in segments:
            raise InputError(f"{where}: {gold} has no segment of {show(f'{name} {channel}')}; leave its words out")
        own = channels.setdefault(key, [])
        if mark == "<ALT_BEGIN>" and alternatives is None:
            alternatives = [[]]
        elif mark == "<ALT>" and alternatives:
            alternatives.append([])
        elif mark == "<ALT_END>" and alternatives and any(alternatives):
            inside = [each for part in alternatives for each in part]
            text = " / ".join(" ".join(each.text for each in part) or "@" for part in alternatives)
            own.append(_Word(f"{{ {text} }}", inside[0].begin, max(each.middle for each in inside)))
            alternatives = None
        elif mark.startswith("<ALT") or any(each in word for each in ("{}/" if alternatives else "{}")):
            expected = "a word, or alternatives from <ALT_BEGIN> to <ALT_END>"
            raise InputError(f"{where}: expected {expected}, got {show(word)}")
        else:
            first, length = _times(where, line, _CTM_LINE, (begin, duration if word else ""))
            (alternatives[-1] if alternatives else own).append(_Word(word, first, first + length / 2))
    if alternatives is not None:
        raise InputError(f"{where}: ends within alternatives; expected <ALT_END>")
    return channels


def _looks(name: str, head: bytes) -> bool:
    lines = [_STM.fullmatch(line.strip()) for line in head_lines(head) if not line.startswith(b";;")]
    return name.endswith(".stm") or (bool(lines) and all(each and float(each[1]) <= float(each[2]) for each in lines))


def _confirmed(files: Sequence[str], outputs: Sequence[str]) -> bool:
    """Whether the systems have words with times, where the name of the gold file does not say so."""
    if files[0].lower().removesuffix(".gz").endswith(".stm"):
        return True
    heads = [head_lines(read_head(file)[1]) for file in outputs]
    lines = [[_CTM.fullmatch(line.strip()) for line in each if not line.startswith(b";")] for each in heads]
    return all(own and all(own) for own in lines)


STM = Format(
    "stm",
    "transcripts with times, as sclite's stm, and ctm of the systems",
    "gold",
    _read,
    _looks,
    (SCLITE,),
    confirmed=_confirmed,
)
