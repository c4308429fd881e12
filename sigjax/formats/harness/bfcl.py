# logs hold: "correct_count"
"""Berkeley Function Calling Leaderboard: the score file of a category, which lists only failures.

The first line of BFCL_v4_CATEGORY_score.json has the number of all entries and of the correct entries. If all files are
for the same test set, an entry that a file does not list is correct. A file may list a failure twice.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import InstanceLog, Log, SystemLog
from sigjax.readers.json_files import load_lines
from sigjax.readers.options import Options
from sigjax.records import InputError

_GROUPS = ("non_live", "live", "multi_turn", "agentic", "agentic/memory/*", "format_sensitivity")
FORMAT = harness(
    __name__,
    "score files of BFCL (gorilla)",
    looks_like(rb'\A\s*\{\s*"accuracy"\s*:[^,{}]{1,40},\s*"correct_count"\s*:\s*\d+\s*,\s*"total_count"\s*:\s*\d'),
    folder="|".join(f"{each}BFCL_*_score.json" for each in ("", *(f"{group}/" for group in _GROUPS))),
    tasks=True,
)
_LONG = frozenset("prompt model_result model_result_raw model_result_decoded possible_answer inference_log".split())
_NAME = re.compile(r"BFCL_v\d+_(\w+)_score\.json(?:\.gz)?")
_VALID = "valid"


def _results(file: str, _: Options) -> Iterator[SystemLog]:
    first, *failures = load_lines(file, unread=_LONG)
    total, correct = (int(first.number(name)) for name in ("total_count", "correct_count"))
    rows = dict[str, InstanceLog]()
    for failure in failures:
        if failure.number(_VALID):
            raise InputError(f"{failure.field(_VALID)}: expected false, as only failures are listed")
        rows[failure.text("id")] = InstanceLog({_VALID: 0.0}, failure.text("id"))
    if correct + len(rows) != total:
        raise InputError(
            f"{first.where}: {correct} of {total} are correct, but {len(rows)} failures are listed; expected "
            f"{total - correct}: is the file cut off?"
        )
    named = _NAME.fullmatch(PurePath(file).name)
    yield SystemLog(file, list(rows.values()), task=named[1] if named else "", unlisted=(total, {_VALID: 1.0}))


LOG = Log(results=_results, main=_VALID)


def sample(values: Sequence[Any], **fields: Any) -> str:
    """Make a log. `values` says for each entry whether it is correct."""
    failures = [
        {"id": f"simple_{i}", "model_name": "m", "test_category": "simple", "valid": False, "error": ["no"]}
        | {"error_type": "value_error", "prompt": {"question": "?"}}
        | fields
        for i, value in enumerate(values)
        if not value
    ]
    count = len(values) - len(failures)
    first = {"accuracy": count / len(values), "correct_count": count, "total_count": len(values)}
    return "".join(json.dumps(line) + "\n" for line in [first, *failures])


SAMPLE = ExampleLogs(file="BFCL_v3_simple_score.json", make=sample, header=1, lacking="refused")
