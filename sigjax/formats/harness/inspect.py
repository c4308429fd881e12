# logs hold: "eval" or .eval
"""Inspect (inspect_ai): a log as JSON, or as .eval, a zip archive.

Only the needed members of an archive are unpacked, into memory, up to a size limit. Each sample has one value per
scorer; epochs are runs. If the log reduces epochs by another rule than the mean (pass@k, majority), the reduced values
are the scores.
"""

import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import InstanceLog, Log, SystemLog
from sigjax.readers.json_files import JsonObject, Object, item_at, number, parse_json
from sigjax.readers.options import Options, quote
from sigjax.readers.table import parse_number
from sigjax.records import Hint, InputError
from sigjax.run.files import ZIP_MAGIC, decode_text, growth_limit, read_bytes

_BEGIN = re.compile(rb'\s*\{\s*("version"\s*:\s*\d+\s*,\s*)?"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')
FORMAT = harness(
    __name__,
    "logs of Inspect (inspect_ai)",
    lambda name, head: (name.endswith(".eval") and head.startswith(ZIP_MAGIC)) or bool(_BEGIN.match(head)),
    b"{",
    ZIP_MAGIC,
    folder="*.eval|*.json",
    tasks=True,
)
_ZSTANDARD = 93
"""Number of the compression method Zstandard in zip archives."""
_WHOLE = ("header.json", "reductions.json")
_MEMBER = re.compile(r"samples/.*\.json", re.DOTALL)
_READ = ("id", "epoch", "scores", "metadata")
"""The fields of a sample that are kept; messages and events are dropped, because they can be long."""
_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_REMEDY = f"name another score with {Hint('metric', 'NAME')}"


def _results(file: str, _: Options) -> Iterator[SystemLog]:
    log = _load_log(file, read_bytes(file))
    about, status = log.item("eval"), log.get("status")
    samples = log.items("samples", "sample", [])
    reductions = list(log.items("reductions", "reduction", []))
    rules = dict.fromkeys(str(reduction.get("reducer") or "mean") for reduction in reductions)
    others = " and ".join(rule for rule in rules if rule != "mean")
    if reductions and (others or not log.get("samples")):
        rows = _reduced_rows(reductions, several=len(rules) > 1)
    elif log.get("samples"):
        rows = (InstanceLog(_scores(one), one.text("id"), one.text("epoch", 1), one.get("metadata")) for one in samples)
    else:
        raise InputError(f"{file}: holds no samples, only their aggregate; expected a log written with its samples")
    notes = () if status == "success" else (f"{file}: the run has the status {status}",)
    notes += (f"took the values reduced over epochs by {others}",) if others else ()
    facts = {"reduction over epochs": others or "mean"}
    yield SystemLog(file, rows, about.name("model?"), notes, facts, about.name("task?"))


def _reduced_rows(reductions: Sequence[JsonObject], *, several: bool) -> list[InstanceLog]:
    """Make one row per sample, with the values that the log reduced over epochs.

    If `several`, the log has several rules of reduction, and the scores of a scorer are named SCORER/RULE.
    """
    scores: dict[str, dict[str, float | InputError]] = {}
    for reduction in reductions:
        scorer = reduction.text("scorer")
        name = f"{scorer}/{reduction.get('reducer') or 'mean'}" if several else scorer
        for sample in reduction.items("samples", "sample"):
            own = scores.setdefault(sample.text("sample_id"), {})
            own |= _scores(JsonObject(sample.at, {"scores": {name: sample.fields}}))
    return [InstanceLog(own, id) for id, own in scores.items()]


def _scores(sample: JsonObject) -> dict[str, float | InputError]:
    """Return the value of each scorer as a number, by the rules of Inspect.

    If a value is an object, each of its keys gets a number, named SCORER/KEY. Values that mean no score are left out.

    >>> _scores(JsonObject("log", {"scores": {"a": {"value": "C"}, "b": {"value": {"tone": 3, "fact": None}}}}))
    {'a': 1.0, 'b/tone': 3.0}
    """
    found: dict[str, float | InputError] = {}
    scores = sample.item("scores", {})
    for scorer in scores.fields:
        value = scores.item(scorer).get("value")
        for key, part in value.items() if isinstance(value, dict) else ((None, value),):
            try:
                as_number = _value(part)
            except InputError as error:
                as_number = InputError(f"{sample.where}, score {quote(scorer)}: ", error.message)
            if as_number is not None:
                found[scorer if key is None else f"{scorer}/{key}"] = as_number
    return found


def _value(value: object) -> float | None:
    """Convert a grade (C, I, ...), a word or a numeral to a number; None if the sample has no score."""
    word = value.strip().lower() if isinstance(value, str) else ""
    if value is None or word.strip("+-") == "nan" or (isinstance(value, float) and math.isnan(value)):
        return None
    if word in _WORDS:
        return _WORDS[word]
    if isinstance(value, list | dict):
        raise InputError(f"expected one value, got several in one; {_REMEDY}")
    if isinstance(value, str):
        return parse_number(word, hint=f"write C, I, P, N, yes or no, or {_REMEDY}", missing=_REMEDY)
    return number(value)


def _load_log(file: str, data: bytes) -> JsonObject:
    """Load the log as one object, from JSON or from an archive."""
    if not data.startswith(ZIP_MAGIC):
        return item_at(file, parse_json(file, decode_text(file, data)))
    parts: Object = {}
    samples: list[Object] = []
    for name, content in read_members(file, data, lambda name: name in _WHOLE or bool(_MEMBER.fullmatch(name))):
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
    reductions = parts.get("reductions.json", header.get("reductions"))
    return JsonObject(file, {**header, "samples": samples, "reductions": reductions})


def read_members(file: str, data: bytes, choose: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of each member of a zip archive for whose name `choose` returns true.

    If several members have the same name, only the last one is used.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {each.filename: each for each in archive.infolist()}
            chosen = [member for name, member in members.items() if choose(name)]
            limit = growth_limit(len(data))
            if sum(member.file_size for member in chosen) > limit:
                raise InputError(f"{file}: {len(data)} bytes unpack to more than {limit}: this is not a log")
            # A member cannot unpack to more than its declared size: zipfile stops there, and the checksum is wrong.
            for member in chosen:
                yield member.filename, _unpacked(archive, member)
    except InputError:
        raise
    except NotImplementedError:
        raise InputError(
            f"{file}: is packed by a method that this Python cannot read (install zstandard, or take Python "
            "3.14); or write the log as .json, with inspect log convert"
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{file}: damaged or locked zip archive ({error}); write the log again, as .json") from None


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Unpack a member of an archive. It may be packed by Zstandard, which zipfile can read only since Python 3.14."""
    try:
        return archive.read(member)
    except NotImplementedError:
        if member.compress_type != _ZSTANDARD:
            raise
    raw = copy(member)
    raw.compress_type, raw.file_size, raw.CRC = zipfile.ZIP_STORED, member.compress_size, None  # pyright: ignore
    content = _zstandard(archive.read(raw), member.file_size)
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {member.filename!r}")
    return content


def _zstandard(packed: bytes, size: int) -> bytes:
    """Unpack at most `size` bytes of Zstandard data, with the package zstandard (Inspect needs it) or pyarrow."""
    try:
        from zstandard import ZstdDecompressor, ZstdError  # pyright: ignore
    except ImportError:
        try:
            from pyarrow import decompress  # pyright: ignore
        except ImportError:
            raise NotImplementedError from None
        return decompress(packed, decompressed_size=size, codec="zstd", asbytes=True)
    try:
        return ZstdDecompressor().stream_reader(packed, read_across_frames=True).read(size)
    except ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from None


LOG = Log(results=_results, must_agree={"reduction over epochs": "score them with one rule"})


def sample(
    values: Sequence[Any],
    *,
    model: str = "lab/a",
    scorer: str = "choice",
    task: str = "arc",
    reductions: Sequence[Any] = (),
    **fields: Any,
) -> str:
    """Make a log. `values` has for each sample one value, or a list of values, one per epoch."""
    samples = [
        {
            "id": i,
            "epoch": epoch,
            "input": "?",
            "scores": {scorer: {"value": value}},
            "metadata": {"topic": f"t{i // 2}"},
        }
        for i, value in enumerate(values)
        for epoch, value in enumerate(value if isinstance(value, list) else [value], start=1)
    ]
    about = {"task": task, "model": model}
    log = {"version": 2, "status": "success", "eval": about, "samples": samples, "reductions": list(reductions)}
    return json.dumps(log | fields, indent=2)


def packed(content: str, *, change: Callable[[dict[str, Any]], dict[str, Any]] = lambda members: members) -> bytes:
    """Pack a log in JSON as .eval; the function `change` may change the members of the archive."""
    log = json.loads(content)
    members = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in log.pop("samples")}
    members |= {"reductions.json": log.pop("reductions"), "header.json": log, "_journal/start.json": "not read"}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in change(members).items():
            archive.writestr(name, member if isinstance(member, str | bytes) else json.dumps(member))
    return packed.getvalue()


SAMPLE = ExampleLogs(
    file="log.json",
    make=sample,
    records=("samples",),
    cluster="topic",
    other={"model": "b"},
    more=(lambda values, **fields: packed(sample(values, **fields)),),
)
