"""Commands on reports that were written as JSON."""

from __future__ import annotations

from sigjax.cli.flags import flags
from sigjax.cli.inputs import Files
from sigjax.cli.output import Output, check_outputs
from sigjax.records import InputError
from sigjax.report.report import Report


@flags(Output, files="REPORT.json, as `sigjax compare -o REPORT.json` writes it.")
def show(paths: Files, output: Output) -> None:
    """Show a report again, or write it in other formats, from its JSON: nothing is computed."""
    if len(paths) != 1:
        raise InputError(f"expected one report, REPORT.json, got {len(paths)}")
    check_outputs(paths, output)
    output.write(Report.from_json(paths[0]))
