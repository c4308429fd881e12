"""Every Eval Ever: write `uncertainty` into records of results, from a report of sigjax.

    python -m sigjax.integrations.every_eval_ever report.json record.json [record.json ...]

A record holds the results of one model (its `model_info.id` or `.name`). If the report has the evaluation and metric of
a result, the result gets `score_details.uncertainty`: standard error, confidence interval with its level, methods, and
number of instances. Records with other scores than the report are refused.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sigjax.records import InputError, SystemScore

_SAME = 1e-6
"""Two scores count as the same if their relative difference is at most this, because scores are rounded."""


def uncertainty_of(system: SystemScore, settings: Any, instances: int) -> dict[str, Any]:
    """Return the JSON object `uncertainty` for the score of a system on this number of instances."""
    made: dict[str, Any] = {"num_samples": instances}
    if system.standard_error is not None:
        made["standard_error"] = {"value": system.standard_error, "method": "analytic"}
    if system.interval is not None:
        made["confidence_interval"] = {
            "lower": system.interval.low,
            "upper": system.interval.high,
            "confidence_level": settings.confidence_level,
            "method": f"sigjax: {system.interval_kind}",
        }
        if system.interval_kind in ("percentile", "basic", "bca", "studentized"):
            made["num_bootstrap_samples"] = settings.fixed_resamples
    return made


def with_uncertainty(record: dict[str, Any], report: Any, *, source: str = "record") -> int:
    """Add the uncertainty to the results of a record that are also in the report; return the number of these results.

    `source` is the name of the record in messages.

    Raises:
        InputError: the report does not have the model, or none of its evaluations, or a score in the record is
            different.
    """
    about = record.get("model_info", {})
    names = [about[key] for key in ("id", "name") if isinstance(about.get(key), str)]
    mine = [one for one in report.systems if one.name in (*names, *(name.rpartition("/")[2] for name in names))]
    if not mine:
        raise InputError(
            f"{source}: the report has no system {' or '.join(map(repr, names)) or 'of its model_info'}; it has "
            f"{', '.join(dict.fromkeys(one.name for one in report.systems))}"
        )
    added = 0
    for result in record.get("evaluation_results", []):
        evaluation = str(result.get("evaluation_name"))
        of_name = [one for one in mine if evaluation in (one.metric, *one.metric.split(": "))]
        chosen = mine if len(mine) == 1 else of_name
        if len(chosen) != 1:
            continue
        system, details = chosen[0], result["score_details"]
        if not math.isclose(details["score"], system.score, rel_tol=_SAME):
            raise InputError(
                f"{source}: the score of {evaluation!r} is {details['score']:g}, but {system.score:g} in the report; "
                "make both of the same results"
            )
        details["uncertainty"] = uncertainty_of(system, report.settings, report.num_instances)
        added += 1
    if not added:
        metrics = ", ".join(dict.fromkeys(one.metric for one in report.systems))
        raise InputError(f"{source}: no evaluation_name is a metric of the report ({metrics})")
    return added


def main(arguments: Sequence[str]) -> int:
    """Write the uncertainty into the records, and print how many results have it."""
    from sigjax.report.report import Report

    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        report = Report.from_json(arguments[0])
        for path in map(Path, arguments[1:]):
            record = json.loads(path.read_text(encoding="utf-8"))
            added = with_uncertainty(record, report, source=str(path))
            path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"{path}: uncertainty of {added} result{'s' * (added > 1)}")
    except (InputError, OSError, json.JSONDecodeError) as error:
        print(f"sigjax: error: {getattr(error, 'flags', error)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
