"""Where people work: sigjax inside pytest, Inspect, lm-evaluation-harness, promptfoo, PyTerrier and Every Eval Ever.

Each file is one place, and is imported by that place or by `python -m sigjax.integrations.NAME`; nothing of sigjax
imports it. The page `integrations` of the manual says how each is used. A file imports the package of its place only
within functions, unless that package imports the file. Reports are written by the command line, in a process of its
own, so that nothing of a harness meets JAX.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

VARIABLE = "SIGJAX_REPORT"
"""The environment variable that names the report of a run: its ending is the format."""


def report_path() -> Path | None:
    """The report that the environment asks for; None if it asks for none."""
    return Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def write_report(files: Sequence[str | Path], report: Path, *options: str) -> str:
    """Compare files as `sigjax compare` does, and write the report; what the command says, one line for bad input."""
    command = [sys.executable, "-m", "sigjax", "compare", *map(str, files), *options, "-o", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return done.stderr.strip()
