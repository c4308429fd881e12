"""Inspect: a report on every run of several models, by hooks that Inspect finds through its entry points.

With SIGJAX_REPORT=report.html (or .md, .txt, .json, .tex, .csv), each task that a run has evaluated with two models or
more is compared when the run ends, and the report is written; of several tasks, each to a file of its own
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
    """Compare the models on each task of Inspect's logs: what the command says, by the report that it writes."""
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
        with tempfile.TemporaryDirectory() as folder:  # a log may be packed as only newer Pythons can read
            files = [Path(folder) / f"{number}.json" for number in range(len(of_model))]
            for location, copy in zip(of_model.values(), files, strict=True):
                write_eval_log(read_eval_log(location), str(copy), format="json")
            said[file] = write_report(files, file)
    return said


def __getattr__(name: str) -> Any:
    """The hooks, which are made when Inspect loads the entry point: no other import of this file needs Inspect."""
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
