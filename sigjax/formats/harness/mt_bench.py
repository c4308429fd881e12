# logs hold: "question_id"
"""MT-Bench (FastChat's llm_judge): a judge's ratings of single answers, JUDGE_single.jsonl.

A file has one line per model, question and turn. The turns of a question are its runs, so that they are resampled
together; `--filter 1` takes only the first turn. A rating of -1 means that the judge's rating could not be read. As in
`show_result.py`, such a rating is left out of all means.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import InstanceLog, Log, SystemLog, choose, grouped
from sigjax.readers.json_files import JsonObject, load_lines
from sigjax.readers.options import Options

FORMAT = harness(
    __name__,
    "ratings of MT-Bench, JUDGE_single.jsonl",
    looks_like(rb'\A\s*\{\s*"question_id"\s*:\s*[^,{}]{1,99},\s*"model"\s*:', rb'"judge"\s*:\s*\['),
    options=frozenset({"filter"}),
    folder="*_single.jsonl",
)
_LONG = frozenset({"user_prompt", "judgment"})
_UNREADABLE = -1


def _results(file: str, options: Options) -> Iterator[SystemLog]:
    lines = list(load_lines(file, unread=_LONG))
    if options.filter is not None:
        turn = choose(file, map(_turn, lines), options.filter, "turn")
        lines = [line for line in lines if _turn(line) == turn]
    for model, own in grouped(lines, lambda line: line.text("model")).items():
        judges = ", ".join(sorted({line.texts("judge")[0] for line in own}))
        rows = [
            InstanceLog(_scores(line), line.text("question_id"), _turn(line), {"turn": _turn(line)}) for line in own
        ]
        lacking = sum(not row.scores for row in rows), len(rows), "ratings could not be read (-1); they are missing"
        yield SystemLog(file, rows, model, facts={"judge": judges}, lacking=lacking)


def _turn(line: JsonObject) -> str:
    return line.text("turn", 1)


def _scores(line: JsonObject) -> dict[str, float]:
    score = line.number("score")
    return {} if score == _UNREADABLE else {"score": score}


LOG = Log(results=_results, must_agree={"judge": "compare models by the ratings of the same one"})


def sample(values: Sequence[Any], *, model: str = "a", judge: str = "gpt-4", **fields: Any) -> str:
    """Make a log. `values` has for each question one value, or a list of values, one per turn."""
    lines = [
        {"question_id": 81 + i, "model": model, "judge": [judge, "single-v1"], "user_prompt": "Rate it."}
        | {"judgment": f"[[{value}]]", "score": value, "turn": turn, "tstamp": 1.5}
        | fields
        for i, values_of in enumerate(values)
        for turn, value in enumerate(values_of if isinstance(values_of, list) else [values_of], 1)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


SAMPLE = ExampleLogs(file="gpt-4_single.jsonl", make=sample, cluster="turn", other={"model": "b"})
