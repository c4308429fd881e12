"""Integrations: sigjax inside pytest, Inspect, lm-evaluation-harness, promptfoo, PyTerrier and Every Eval Ever.

Each file serves one of these tools. The tool imports it, or you run `python -m sigjax.integrations.NAME`; sigjax itself
never imports it. The page `integrations` of the manual explains how to use each file. A file imports the tool's package
only within functions, unless the package itself imports the file. The command line writes reports, in a separate
process, so that JAX does not disturb the tool.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

VARIABLE = "SIGJAX_REPORT"
"""The environment variable that holds the file name of the report. The ending of the name decides the format."""


def report_path() -> Path | None:
    """Return the path of the report from the environment variable; None if the variable is not set."""
    return Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def write_report(files: Sequence[str | Path], report: Path, *options: str) -> str:
    """Compare files as `sigjax compare` does, and write the report; return the output of the command."""
    command = [sys.executable, "-m", "sigjax", "compare", *map(str, files), *options, "-o", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return done.stderr.strip()
