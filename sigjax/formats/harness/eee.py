# logs hold: "evaluation_name"
"""Every Eval Ever: the project's instance schema, with one line per instance and evaluation."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import InstanceLog, Log, SystemLog, grouped
from sigjax.readers.json_files import JsonObject, load_lines
from sigjax.readers.options import Options, quote
from sigjax.records import InputError

FORMAT = harness(
    __name__,
    "instances of Every Eval Ever",
    looks_like(rb'\A(?=.*"schema_version")(?=.*"model_id")(?=.*"evaluation_name")(?=.*"sample_id")'),
    folder="*_samples.jsonl",
)
_UNREAD = frozenset("input output messages answer_attribution".split())


def _results(file: str, _: Options) -> Iterator[SystemLog]:
    for model, lines in grouped(load_lines(file, unread=_UNREAD), lambda line: line.text("model_id")).items():
        yield SystemLog(file, _rows(lines), model)


def _rows(lines: Sequence[JsonObject]) -> list[InstanceLog]:
    """Make one row per sample (instance), with the scores on all lines of this sample."""
    scores: dict[str, dict[str, float]] = {}
    rows: dict[str, InstanceLog] = {}
    for line, name in zip(lines, _evaluations(lines), strict=True):
        sample = line.text("sample_id")
        own = scores.setdefault(sample, {})
        if name in own:
            raise InputError(f"{line.where}: evaluation {quote(name)} of sample {quote(sample)} is on another line too")
        evaluation = line.item("evaluation")
        own[name] = evaluation.number("is_correct" if evaluation.get("score") is None else "score")
        rows.setdefault(sample, InstanceLog(own, sample, labels=line.get("metadata"), content=line.get("sample_hash")))
    return list(rows.values())


def _evaluations(lines: Sequence[JsonObject]) -> list[str]:
    """Return the name of the score on each line.

    The score has the name of the evaluation; if the evaluation has several results, it has the name of the result.
    """
    pairs = [(line.text("evaluation_name"), line.get("evaluation_result_id")) for line in lines]
    counts = Counter(name for name, _ in {pair for pair in pairs if isinstance(pair[1], str)})
    return [result if counts[name] > 1 and isinstance(result, str) else name for name, result in pairs]


LOG = Log(results=_results, content="content (sample_hash)")


def sample(values: Sequence[Any], *, model: str = "org/a", evaluation: str = "bench", **fields: Any) -> str:
    """Make a log. `values` has one value per instance."""
    lines = [
        {"schema_version": "0.3.0", "evaluation_id": f"x/{model}/1", "model_id": model, "evaluation_name": evaluation}
        | {"sample_id": f"s{i}", "sample_hash": f"h{i}", "input": {"raw": "?"}, "metadata": {"subject": f"t{i // 2}"}}
        | {"evaluation": {"score": value, "is_correct": value == 1}}
        | fields
        for i, value in enumerate(values)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


SAMPLE = ExampleLogs(file="x_samples.jsonl", make=sample, cluster="subject", other={"model": "b"})
