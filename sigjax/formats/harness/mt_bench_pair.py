# logs hold: "question_id"
"""MT-Bench (FastChat's llm_judge): JUDGE_pair.jsonl, a judge's choices between the answers of two models.

Each choice is read as a battle of the two models: a win, a loss or a tie. Each question and turn was judged twice, with
the two answers in both orders. As in `show_result.py`, a model wins if both judgments say so; else it is a tie.
`show_result.py` leaves out judgments that could not be read ("error"); here `--missing drop` does the same.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.readers.json_files import JsonObject, load_lines
from sigjax.readers.layouts import read_tables
from sigjax.readers.options import Options, quote
from sigjax.readers.table import DataColumn, DataTable
from sigjax.records import InputError

FORMAT = harness(
    __name__,
    "battles of MT-Bench, JUDGE_pair.jsonl",
    looks_like(rb'\A\s*\{\s*"question_id"\s*:\s*[^,{}]{1,99},\s*"model_1"\s*:', rb'"(g1_)?winner"\s*:'),
    takes="file",
    reader=f"{__name__}:READ",
    options=frozenset({"where"}),
)
_LONG = frozenset("g1_user_prompt g1_judgment g2_user_prompt g2_judgment".split())
_SIDES = ("model_1", "model_2")
_COLUMNS = ("question_id", "turn", *_SIDES, "winner")
_WINNERS = (*_SIDES, "tie", "error")


def _winner(line: JsonObject) -> str:
    judged = ["winner"] if "winner" in line.fields else ["g1_winner", "g2_winner"]
    for name in judged:
        if line.text(name) not in _WINNERS:
            raise InputError(f"{line.field(name)}: expected one of {', '.join(_WINNERS)}, got {quote(line.text(name))}")
    winners = {line.text(name) for name in judged}
    if "error" in winners:
        return ""
    return winners.pop() if len(winners) == 1 else "tie"


def _parse(file: str, _: Options, *, alone: bool) -> DataTable:
    lines = list(load_lines(file, unread=_LONG))
    rows = [[line.text("question_id"), line.text("turn", 1), *map(line.text, _SIDES), _winner(line)] for line in lines]
    columns = {name: DataColumn([row[k] for row in rows]) for k, name in enumerate(_COLUMNS)}
    return DataTable(file, columns, [line.at[2] for line in lines if isinstance(line.at, tuple)])


READ = partial(read_tables, _parse)


def sample(values: Sequence[Any], **fields: Any) -> str:
    """Make a log. `values` has one value per question: 1 if model a wins, .5 for a tie, 0 if model b wins."""
    lines = [
        {"question_id": 81 + i, "model_1": "a", "model_2": "b"}
        | {f"g{k}_winner": _SIDES[int(value < 0.5)] if value != 0.5 else "tie" for k in (1, 2)}
        | {"judge": ["gpt-4", "pair-v2"], "g1_user_prompt": "?", "g1_judgment": "[[A]]", "turn": 1, "tstamp": 1.5}
        | fields
        for i, value in enumerate(values)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


SAMPLE = ExampleLogs(file="gpt-4_pair.jsonl", make=sample, alone=True)
