"""Inspect: hooks that write a report on every run of several models. Inspect finds the hooks through its entry points.

Set SIGJAX_REPORT=report.html (or .md, .txt, .json, .tex, .csv). When a run ends, the hooks compare the models on each
task with at least two models, and write the report. If there are several tasks, each has its own file
(report.TASK.html). Without the variable, the hooks are off.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sigjax.integrations import report_path, write_report


def write_reports(logs: Iterable[Any], path: Path) -> dict[Path, str]:
    """Compare the models on each task of Inspect's logs; return a dict from report file to the command's output."""
    from inspect_ai.log import read_eval_log, write_eval_log  # pyright: ignore[reportMissingImports]

    tasks: dict[str, dict[str, str]] = {}
    for log in logs:
        if log.status == "success" and log.location:
            tasks.setdefault(log.eval.task, {})[log.eval.model] = log.location
    tasks = {task: of_model for task, of_model in tasks.items() if len(of_model) > 1}
    said = {}
    for task, of_model in tasks.items():
        named = re.sub(r"[^A-Za-z0-9_-]+", "-", task)
        file = path if len(tasks) == 1 else path.with_suffix(f".{named}{path.suffix}")
        with tempfile.TemporaryDirectory() as folder:  # logs may be packed in a way that only newer Pythons read
            files = [Path(folder) / f"{number}.json" for number in range(len(of_model))]
            for location, copy in zip(of_model.values(), files, strict=True):
                write_eval_log(read_eval_log(location), str(copy), format="json")
            said[file] = write_report(files, file)
    return said


def __getattr__(name: str) -> Any:
    """Make the hooks only when Inspect loads the entry point, so that this file can be imported without Inspect."""
    if name != "SigjaxHooks":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from inspect_ai.hooks import Hooks, RunEnd, hooks  # pyright: ignore[reportMissingImports]

    @hooks(name="sigjax", description="Significance tests of the models of a run (sigjax)")
    class SigjaxHooks(Hooks):
        """Compare the models of a run when it ends."""

        def enabled(self) -> bool:
            """Whether the environment names a report."""
            return report_path() is not None

        async def on_run_end(self, data: RunEnd) -> None:
            """Write the reports, and print their headlines."""
            if (path := report_path()) is not None:
                for said in write_reports(data.logs, path).values():
                    print(f"\n{said}")

    globals()[name] = SigjaxHooks
    return SigjaxHooks
