"""What `comet-score --to_json` writes: file of each system -> segments with src, mt, ref and the score COMET."""

from typing import Any

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.json_files import number, parse_json
from sigjax.readers.naming import name_systems
from sigjax.readers.options import Options, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import InputError

_SCORE = "COMET"
_SHARED = ("src", "ref")
"""What a segment has in common for all systems."""


def read_comet(sources: Sources, options: Options) -> Reading:
    """The evaluation of the scores of segments by their mean."""
    (file,) = sources.files
    found = _parse(file, decode_text(file, read_bytes(file)))
    names, _ = name_systems(list(found))
    systems = dict(zip(names, found.values(), strict=True))
    sheets = [_sheet(file, name, segments) for name, segments in systems.items()]
    _check_segments(file, systems)
    return join_sheets(sheets, options, scores=True)


def _parse(file: str, text: str) -> dict[str, Any]:
    found = parse_json(file, text)
    if not isinstance(found, dict) or not found:
        raise InputError(f'{file}: expected an object such as {{"system.txt": [{{"{_SCORE}": 0.8}}]}}')
    return found


def _sheet(file: str, system: str, segments: Any) -> Sheet:
    if not isinstance(segments, list) or not segments:
        raise InputError(f"{file}: system {show(system)}: expected a list of segments with {_SCORE}")
    scores = [_score(f"{file}: system {show(system)}, segment {i}", each) for i, each in enumerate(segments, start=1)]
    return Sheet(system, file, {_SCORE: np.array(scores)})


def _score(where: str, segment: Any) -> float:
    if not isinstance(segment, dict) or _SCORE not in segment:
        raise InputError(f"{where}: expected an object with the score {_SCORE}")
    score = segment[_SCORE]
    if isinstance(score, bool):
        raise InputError(f"{where}: expected a number as {_SCORE}, got true or false")
    return number(score, where)


def _check_segments(file: str, systems: dict[str, Any]) -> None:
    """Refuse systems that were scored on other segments than the first."""
    (first, expected), *others = systems.items()
    for name, segments in others:
        if len(segments) != len(expected):
            raise InputError(f"{file}: system {show(name)} has {len(segments)} segments, {show(first)} {len(expected)}")
        for i, (one, other) in enumerate(zip(expected, segments, strict=True), start=1):
            differing = [field for field in _SHARED if one.get(field) != other.get(field)]
            if differing:
                raise InputError(
                    f"{file}: {differing[0]} of segment {i} differs between the systems {show(first)} and "
                    f"{show(name)}; expected scores of the same segments"
                )


def _looks(name: str, head: bytes) -> bool:
    return name.endswith(".json") and f'"{_SCORE}"'.encode() in head


COMET = Format("comet", "JSON of comet-score --to_json", "file", read_comet, _looks)
