"""Logs of Inspect (inspect_ai): .json, or .eval, which is a zip archive of the same parts.

Each sample holds one value per scorer; the epochs of a sample are its runs. Where the log was reduced by another rule
than the mean (pass@k, a majority), the reduced values are the scores. Of an archive, only the members that are needed
are unpacked, into memory and within bounds.
"""

import io
import math
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from sigjax.files.opening import ZIP_MAGIC, decode_text, growth_limit, read_bytes
from sigjax.readers.formats import Format
from sigjax.readers.json_files import Item, Object, as_object, item_at, number, parse_json, text
from sigjax.readers.logs.driver import Result, Row, Unusable, log_reader
from sigjax.readers.numerals import is_text, parse_number
from sigjax.readers.options import Options, show
from sigjax.records import InputError

_START = re.compile(rb'\s*\{\s*("version"\s*:\s*\d+\s*,\s*)?"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')
_WHOLE = ("header.json", "reductions.json")
_SAMPLE = re.compile(r"samples/.*\.json", re.DOTALL)
_READ = ("id", "epoch", "scores", "metadata")
"""The fields of a sample that are kept; the others, its messages and events, can be long."""
_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_REMEDY = "name another score with --metric NAME"
_MOST_MEMBERS = 1_000_000
_ENCRYPTED = 0x1


def _results(file: str, _: Options) -> Iterator[Result]:
    log = _load_log(file, read_bytes(file))
    about, status = log.item("eval"), log.get("status")
    samples = log.items("samples", "sample", [])
    reductions = list(log.items("reductions", "reduction", []))
    rules = dict.fromkeys(str(reduction.get("reducer") or "mean") for reduction in reductions)
    others = " and ".join(rule for rule in rules if rule != "mean")
    if reductions and (others or not log.get("samples")):
        rows = _reduced_rows(reductions, several=len(rules) > 1)
    elif log.get("samples"):
        rows = (Row(_scores(each), each.text("id"), each.text("epoch", 1), each.get("metadata")) for each in samples)
    else:
        raise InputError(f"{file}: holds no samples, only their aggregate; expected a log written with its samples")
    notes = () if status == "success" else (f"{file}: the run has the status {status}",)
    notes += (f"took the values reduced over epochs by {others}",) if others else ()
    task = about.get("task")
    task = task if isinstance(task, str) else ""
    facts = {"task": task, "reduction over epochs": others or "mean"}
    yield Result(file, rows, about.text("model") if about.get("model") else "", notes, facts, task=task)


def _reduced_rows(reductions: Sequence[Item], *, several: bool) -> list[Row]:
    """One row per sample, of values that the log reduced; a scorer reduced by several rules has a score for each."""
    scores: dict[str, dict[str, float | Unusable]] = {}
    for reduction in reductions:
        scorer = reduction.text("scorer")
        name = f"{scorer}/{reduction.get('reducer') or 'mean'}" if several else scorer
        for sample in reduction.items("samples", "sample"):
            own = scores.setdefault(sample.text("sample_id"), {})
            own |= _scores(Item(sample.at, {"scores": {name: sample.fields}}))
    return [Row(own, id) for id, own in scores.items()]


def _scores(sample: Item) -> dict[str, float | Unusable]:
    """Name of each scorer, or SCORER/KEY where its value has parts -> the value as a number, by Inspect's own rules.

    Unscored values are left out.

    Example:
        >>> _scores(Item("log", {"scores": {"a": {"value": "C"}, "b": {"value": {"tone": 3, "fact": None}}}}))
        {'a': 1.0, 'b/tone': 3.0}
    """
    found: dict[str, float | Unusable] = {}
    for scorer, score in sample.item("scores", {}).fields.items():
        try:
            text(scorer)
            value = as_object(score).get("value")
            for key, part in value.items() if isinstance(value, dict) else ((None, value),):
                as_number = _value(part, sample, scorer)
                if as_number is not None:
                    found[scorer if key is None else f"{scorer}/{key}"] = as_number
        except InputError as error:
            raise InputError(f"{_place(sample, scorer)}: {error.neutral}") from None
    return found


def _value(value: object, sample: Item, scorer: str) -> float | Unusable | None:
    """A value as a number; None where the sample was left unscored."""
    if isinstance(value, str):
        return _word(value.strip().lower(), sample, scorer)
    if isinstance(value, list | dict):
        return Unusable(f"{_place(sample, scorer)}: expected one value, got several in one; {_REMEDY}")
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return number(value)


def _word(word: str, sample: Item, scorer: str) -> float | Unusable | None:
    """A grade or a numeral as a number; None where it is NaN."""
    if word in _WORDS:
        return _WORDS[word]
    if word.strip("+-") == "nan":
        return None
    try:
        if is_text(word):
            raise InputError(f"expected C, I, P, N, yes, no or a number, got the text {show(word)}; {_REMEDY}")
        return parse_number(word, hint=_REMEDY, missing=_REMEDY)
    except InputError as error:
        return Unusable(f"{_place(sample, scorer)}: {error.neutral}")


def _place(sample: Item, scorer: str) -> str:
    return f"{sample.where}, score {show(scorer)}"


def _load_log(file: str, data: bytes) -> Item:
    """The log as one object, from JSON or from an archive."""
    if not data.startswith(ZIP_MAGIC):
        return item_at(file, parse_json(file, decode_text(file, data)))
    parts: Object = {}
    samples: list[Object] = []
    for name, content in read_members(file, data, lambda name: name in _WHOLE or bool(_SAMPLE.fullmatch(name))):
        where = f"{file}, {name}"
        part = parse_json(where, decode_text(where, content))
        if name in _WHOLE:
            parts[name] = part
        else:
            found = item_at(where, part).fields
            samples.append({field: found[field] for field in _READ if field in found})
    if "header.json" not in parts:
        raise InputError(f"{file}: holds no header.json: the run did not end, or this is not a log of Inspect")
    header = item_at(f"{file}, header.json", parts["header.json"]).fields
    return Item(
        file, {**header, "samples": samples, "reductions": parts.get("reductions.json", header.get("reductions"))}
    )


def read_members(file: str, data: bytes, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of each wanted member of a zip archive; of several with one name the last, which replaced them.

    Raises:
        InputError: the archive is damaged, or a member is encrypted, a link, named outside the archive, or unpacks to
            too much.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {each.filename: each for each in archive.infolist()}
            if len(members) > _MOST_MEMBERS:
                raise InputError(f"{file}: holds more than {_MOST_MEMBERS} members: this is not a log")
            for member in members.values():
                _check_member(file, member)
            chosen = [member for name, member in members.items() if wanted(name)]
            limit = growth_limit(len(data))
            if sum(member.file_size for member in chosen) > limit:
                raise InputError(f"{file}: {len(data)} bytes unpack to more than {limit}: this is not a log")
            # No member gives more than the size it declares: zipfile stops there, and its checksum is then wrong.
            for member in chosen:
                yield member.filename, archive.read(member)
    except NotImplementedError as error:
        raise InputError(
            f"{file}: packed in a way that this Python cannot unpack ({error}); write the log as .json"
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: damaged zip archive ({error}); copy the file again") from None


def _check_member(file: str, member: zipfile.ZipInfo) -> None:
    where = f"{file}, member {show(member.filename)}"
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"{where}: its name leads outside the archive; expected a log")
    if member.flag_bits & _ENCRYPTED:
        raise InputError(f"{where}: is encrypted; unpack it and give the log as it is")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise InputError(f"{where}: is a link; expected a file")


def _looks(name: str, head: bytes) -> bool:
    return (name.endswith(".eval") and head.startswith(ZIP_MAGIC)) or _START.match(head) is not None


INSPECT = Format(
    "inspect",
    "logs of Inspect (inspect_ai)",
    "systems",
    log_reader(_results, must_agree={"reduction over epochs": "score them with one rule"}),
    _looks,
    folder="*.eval",
    tasks=True,
    begins=(b"{", ZIP_MAGIC),
)
