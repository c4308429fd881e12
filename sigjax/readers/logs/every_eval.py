"""Every Eval Ever: one line for each instance of an evaluation, by the instance schema of that project."""

from collections import Counter
from collections.abc import Sequence

from sigjax.files.opening import decode_text, naming, read_bytes
from sigjax.readers.formats import Format, Sources
from sigjax.readers.json_files import Object, as_object, member, number, parse_json_lines, plain_labels, text
from sigjax.readers.logs.scores import check_same_content, name_by_model, score_columns
from sigjax.readers.options import Options, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

_UNREAD = frozenset("input output messages answer_attribution".split())
Line = tuple[str, Object]
"""Where a line is, and what it holds."""


def _read(sources: Sources, options: Options) -> Evaluation:
    read = [each for file in sources.systems.values() for each in _read_file(file, options)]
    sheets = name_by_model([sheet for sheet, _ in read], sources)
    check_same_content(sheets, [hashes for _, hashes in read], "content (sample_hash)")
    return join_sheets(sheets, options, scores=True)(options)


def _read_file(file: str, options: Options) -> list[tuple[Sheet, list[str | None]]]:
    """A sheet, and the hashes of its samples, for each model in a file."""
    by_model: dict[str, list[Line]] = {}
    for where, line in parse_json_lines(file, decode_text(file, read_bytes(file)), unread=_UNREAD):
        by_model.setdefault(_name(line, "model_id", where), []).append((where, line))
    return [_sheet(model, file, lines, options) for model, lines in by_model.items()]


def _sheet(model: str, file: str, lines: Sequence[Line], options: Options) -> tuple[Sheet, list[str | None]]:
    rows: dict[str, dict[str, float]] = {}
    firsts: dict[str, Object] = {}
    for (where, line), column in zip(lines, _columns(lines), strict=True):
        sample = _name(line, "sample_id", where)
        firsts.setdefault(sample, line)
        row = rows.setdefault(sample, {})
        if column in row:
            raise InputError(f"{where}: evaluation {show(column)} of sample {show(sample)} is on another line too")
        row[column] = _score(line, where)
    with naming(file):
        labels = plain_labels([line.get("metadata") for line in firsts.values()], (options.cluster, options.strata))
    hashes = [line.get("sample_hash") for line in firsts.values()]
    hashes = [text(each, f"{file}, field 'sample_hash'") if each is not None else None for each in hashes]
    numbers = score_columns(file, list(rows.values()), options)
    return Sheet(model, file, numbers, labels, list(rows)), hashes


def _columns(lines: Sequence[Line]) -> list[str]:
    """The score that each line gives: its evaluation, or its result where an evaluation has several."""
    names = [_name(line, "evaluation_name", where) for where, line in lines]
    results = [line.get("evaluation_result_id") for _, line in lines]
    pairs = {(name, result) for name, result in zip(names, results, strict=True) if isinstance(result, str)}
    counts = Counter(name for name, _ in pairs)
    return [
        result if counts[name] > 1 and isinstance(result, str) else name
        for name, result in zip(names, results, strict=True)
    ]


def _score(line: Object, where: str) -> float:
    evaluation = as_object(member(line, "evaluation", where), f"{where}, field 'evaluation'")
    name = "is_correct" if evaluation.get("score") is None else "score"
    return number(member(evaluation, name, where), f"{where}, field {name!r}")


def _name(line: Object, field: str, where: str) -> str:
    return text(member(line, field, where), f"{where}, field {field!r}")


def _looks(name: str, head: bytes) -> bool:
    fields = (b'"schema_version"', b'"model_id"', b'"evaluation_name"', b'"sample_id"')
    return head.lstrip().startswith(b"{") and all(field in head.partition(b"\n")[0] for field in fields)


EVERY_EVAL = Format("eee", "instances of Every Eval Ever", "systems", _read, _looks, folder="*_samples.jsonl")
