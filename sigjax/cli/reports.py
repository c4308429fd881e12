"""Commands on reports that were written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sigjax.cli.options import Files, Inputs, Output, Results, check_outputs, flags, write_text
from sigjax.records import InputError
from sigjax.records.display import visible
from sigjax.records.options import option, values
from sigjax.report.data import report_fields
from sigjax.report.report import Report
from sigjax.report.together import together
from sigjax.studies.changes import DiffOptions, metrics_of
from sigjax.studies.changes import diff as run_diff
from sigjax.studies.changes import verify as run_verify
from sigjax.studies.study import StudyOptions

DIFFERENT = 3
"""The exit code of `verify` if something differs."""
CODES = {None: 0, "no worse": 0, "worse": 3, "cannot tell": 4}
"""Dict from the verdict of `diff` to its exit code; None means that no margin was given."""


@dataclass(frozen=True, kw_only=True)
class QuietOption:
    """The option `--quiet`, which turns off progress bars."""

    quiet: bool = option(False, "Draw no progress bars.", group="Output")


@flags(Output, files="REPORT.json ..., as `sigjax compare -o REPORT.json` writes it.")
def show(paths: Files, output: Output) -> None:
    """Show a report again, or write it in other formats, from its JSON: nothing is computed.

    Several reports of the same systems by different metrics become one report: for example, BLEU from texts and COMET
    from a table are then in one table.
    """
    if not paths:
        raise InputError("expected a report, REPORT.json, or several of the same systems, got none")
    check_outputs(paths, output)
    if len(paths) == 1:
        output.write(Report.from_json(paths[0]))
        return
    if any(format == "json" for format, _ in output.files()):
        raise InputError("several reports together are no JSON, which one comparison is; keep theirs")
    output.write(Report(**together([(str(path), Report.from_json(path)) for path in paths])))


@flags(
    Inputs,
    StudyOptions,
    QuietOption,
    files="REPORT.json, and then the files that it was made of, as for `sigjax compare`.",
)
def verify(paths: Files, inputs: Inputs, options: StudyOptions, _: QuietOption) -> int:
    """Check that a report was made from these files: compare again, and compare the numbers.

    Give the options that say how files are read; metrics and settings are taken from the report. The exit code is 0 if
    everything is the same, 3 if anything differs, and 2 if the files or the report cannot be read.
    """
    if not paths:
        raise InputError("expected REPORT.json, and then the files that it was made of")
    inputs.check(paths)
    report = Report(**report_fields(paths[0], unchanged=False))  # the next lines report what has changed
    metrics = inputs.metric or tuple(metrics_of(report))
    evaluations = replace(inputs, metric=metrics).evaluations(paths[1:], tasks=True)
    result = run_verify(report, evaluations, **values(options))
    write_text(visible(f"{paths[0]}: {result.text}"), "text", None)
    return 0 if result.same else DIFFERENT


@flags(DiffOptions, Results, files="OLD NEW: two reports in JSON, or two files of `sigjax extract` (.npz).")
def diff(paths: Files, options: DiffOptions, output: Results) -> int:
    """What changed between two reports, and with --margin: is any system worse by more than that?

    The exit code is 0 if no system is worse by the margin (or no margin is given), 3 if a system is worse, 4 if the
    data cannot tell, and 2 for bad input. Two inputs (reports, or .npz files of `sigjax extract`) with the same
    instances are judged by the paired test. If the instances differ, or if a report lacks the scores of instances
    (`--keep-scores`), the inputs are judged as if independent, with wider limits.
    """
    if len(paths) != 2:
        raise InputError(f"expected two reports, OLD.json and NEW.json, or two .npz files, got {len(paths)}")
    check_outputs(paths, output)
    result = run_diff(*paths, **values(options))
    output.write(result)
    return CODES[result.verdict]
