"""promptfoo: write a report after an evaluation of several providers or prompts, with the extension hook `afterAll`.

    python -m sigjax.integrations.promptfoo

prints the line for `extensions:` of promptfooconfig.yaml. The variable SIGJAX_REPORT names the report file (sigjax.html
if the variable is not set).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FOLDER = str(Path(__file__).resolve().parent)
if _FOLDER in sys.path:  # promptfoo adds this folder, whose files have the names of other packages
    sys.path.remove(_FOLDER)

from sigjax.integrations import report_path, write_report  # noqa: E402


def extension_hook(hook_name: str, context: Mapping[str, Any]) -> None:
    """Compare the results that promptfoo gives to the hook `afterAll`. Do nothing for other hooks."""
    if hook_name != "afterAll" or not context.get("results"):
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "promptfoo.json"
        file.write_text(json.dumps({"results": {"version": 3, "results": context["results"]}}), encoding="utf-8")
        print(write_report([file], report_path() or Path("sigjax.html")), file=sys.stderr)


if __name__ == "__main__":
    print(f"extensions:\n  - file://{Path(__file__).resolve()}:extension_hook")
