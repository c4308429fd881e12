"""The commands: arguments -> the calls of the Python interface."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

from cyclopts import App, Group

from sigjax.association.association import AgreementOptions, association_test
from sigjax.association.show import association_json, association_text
from sigjax.classical.classical import ClassicalOptions, classical_tests
from sigjax.cli.doctor import doctor
from sigjax.cli.flags import flags
from sigjax.cli.guide import Examples, show_help, write_examples
from sigjax.cli.help import FLAGS
from sigjax.cli.info import info
from sigjax.cli.inputs import Files, Inputs
from sigjax.cli.output import Figure, Output, Results, check_outputs, text_options, write_study
from sigjax.cli.reports import diff, show, verify
from sigjax.cli.samples import one_sample, unpaired
from sigjax.cli.studies import study
from sigjax.comparison.compare import CompareOptions
from sigjax.comparison.compare import compare as run_compare
from sigjax.readers import Evaluation, read, save_evaluations
from sigjax.readers.tagging.labels import read_labels
from sigjax.records import InputError
from sigjax.records.options import option, required, values
from sigjax.records.visible import visible
from sigjax.run.processes import joined
from sigjax.run.resume import kept_in
from sigjax.studies.audit import AuditOptions
from sigjax.studies.audit import audit as run_audit
from sigjax.studies.equivalence import EquivalencePairsOptions
from sigjax.studies.equivalence import equivalence as run_equivalence
from sigjax.studies.power import PowerOptions
from sigjax.studies.power import power as run_power
from sigjax.studies.text import equivalence_json, equivalence_text
from sigjax.version import __version__

FIRST, SETUP = Group("Start here", sort_key=1), Group("Options", sort_key=3)

app = App(
    name="sigjax",
    help="Significance tests for comparing systems on a test set. `sigjax help` lists the pages of the manual. "
    "`--debug` after any command shows tracebacks.",
    version=__version__,
    help_format="markdown",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
    help_flags=FLAGS,
    group_commands=Group("Commands", sort_key=2),
)
app["--help"].group = app["--version"].group = SETUP
app.command(study)
app.register_install_completion_command(
    help="Have TAB complete commands, options and their values (bash, zsh, fish), from the next shell on.", group=SETUP
)
app.command(doctor, group=FIRST)
app.command(show_help, name="help", group=FIRST)
app.command(info)
app.command(show)
app.command(verify)
app.command(diff)
app.command(one_sample, name="one-sample")
app.command(unpaired)


@dataclass(frozen=True, kw_only=True)
class Processes:
    """One report by several processes, on one or many machines; recognized without options under srun and mpirun."""

    coordinator: str | None = option(
        None, "HOST:PORT of process 0, to share the resamples among processes.", group="Running", rare=True
    )
    num_processes: int | None = option(
        None, "Number of processes; each runs the same command.", group="Running", rare=True
    )
    process_id: int | None = option(
        None, "Which process this is, from 0; process 0 writes the report.", group="Running", rare=True
    )


@dataclass(frozen=True, kw_only=True)
class Saved:
    """Where statistics are saved."""

    output: Path = field(metadata=required("The file to write.", group="Main options"))


@app.command(group=FIRST)
@flags(Inputs, CompareOptions, Output, Processes)
def compare(paths: Files, inputs: Inputs, asked: CompareOptions, output: Output, processes: Processes) -> None:
    """Compare systems on a test set: who beats whom by more than chance.

    The files are one table (wide: one row per instance, one column per system; long: columns `system`, an instance id,
    and one or more numbers); or one file per system; or gold files, and after -i one file per system. All may be packed
    (.gz). Folders of logs may hold several tasks: then the report has a section for each, and a suite score, the mean
    of the task means. `sigjax info` lists the formats, which are recognized automatically.
    """
    # Before the data are read: one process that cannot read them ends the run.
    with joined(processes.coordinator, processes.num_processes, processes.process_id) as share:
        first = share.index == 0
        inputs.check(paths, output, asked, here=first)
        _compare(inputs.evaluations(paths, progress=first, tasks=True), asked, output, first=first)


def _compare(evaluations: Sequence[Evaluation], asked: CompareOptions, output: Output, *, first: bool = True) -> None:
    """Compare; the first process shows the progress and writes the report."""
    if first and asked.checkpoint is not None and (kept := kept_in(asked.checkpoint)):
        print(f"sigjax: goes on from {visible(str(asked.checkpoint))}: {visible(kept)}", file=sys.stderr)
    report = run_compare(evaluations, **values(asked, progress=first))
    if first:
        output.write(report)


@app.command(name="tests")
@flags(Inputs, ClassicalOptions, Results)
def show_tests(paths: Files, inputs: Inputs, asked: ClassicalOptions, results: Results) -> None:
    """Show the classical tests of two systems beside the permutation test and the bootstrap, and what each assumes.

    Of more than two systems, take two with --systems A B.
    """
    inputs.check(paths, results)
    options = values(asked, progress=True)
    tests = [classical_tests(each, **options) for each in inputs.evaluations(paths)]
    from sigjax.classical.text import to_json, to_text  # rich takes longer to import than most tests to run

    shown = text_options(to_file=bool(results.output))
    results.write(lambda: "\n".join(to_text(each, **shown) for each in tests), partial(to_json, tests))


@app.command
@flags(Inputs, Saved)
def extract(paths: Files, inputs: Inputs, saved: Saved) -> None:
    """Save the statistics of files once (.npz), for every later command.

    `sigjax compare EVAL.npz` then takes all metrics that are in the file.
    """
    inputs.check(paths, saved)
    save_evaluations(str(saved.output), inputs.evaluations(paths))


@app.command
@flags(Inputs, AuditOptions, Results, Figure)
def audit(paths: Files, inputs: Inputs, asked: AuditOptions, results: Results, figure: Figure) -> None:
    """Do the tests keep their level on these data? They test pairs that are made so that neither is better.

    Each repetition swaps the outputs of random units of two systems (`--systems A B`) and tests the mixtures.
    """
    inputs.check(paths, results, figure)
    write_study(run_audit(inputs.evaluations(paths), **values(asked)), results, figure)


@app.command
@flags(Inputs, PowerOptions, Results, Figure)
def power(paths: Files, inputs: Inputs, asked: PowerOptions, results: Results, figure: Figure) -> None:
    """How likely is a test to find the difference of these two systems with more or fewer instances?

    Each repetition draws instances from the data with replacement and tests them.
    """
    inputs.check(paths, results, figure)
    write_study(run_power(inputs.evaluations(paths), **values(asked)), results, figure)


@app.command
@flags(Inputs, EquivalencePairsOptions, Results)
def equivalence(paths: Files, inputs: Inputs, asked: EquivalencePairsOptions, results: Results) -> None:
    """Are systems alike up to a margin, or one not worse than the other by it? Two one-sided tests (TOST)."""
    inputs.check(paths, results)
    pairs = run_equivalence(inputs.evaluations(paths), **values(asked))
    results.write(partial(equivalence_text, pairs), partial(equivalence_json, pairs))


@app.command
@flags(AgreementOptions, Results, files="LABELS GOLD: two files with one label per line, in the same order.")
def association(paths: Files, asked: AgreementOptions, results: Results) -> None:
    """Do labels agree with gold labels more than chance, given how often each label was used?

    p is over all orders of the labels, each equally likely.
    """
    if len(paths) != 2:
        raise InputError(f"expected two files, LABELS and GOLD, with one label per line, got {len(paths)}")
    check_outputs(paths, results)
    labels, gold = (read_labels(str(path)) for path in paths)
    if len(labels) != len(gold):
        raise InputError(
            f"{paths[0]}: has {len(labels)} labels, but {paths[1]} has {len(gold)}; expected one per instance"
        )
    result = association_test(gold, labels, **values(asked))
    results.write(partial(association_text, result, asked), partial(association_json, result, asked))


@app.command(group=FIRST)
@flags(CompareOptions, Output, Examples)
def demo(asked: CompareOptions, output: Output, examples: Examples) -> None:
    """Compare five named-entity taggers on a bundled example, or write files to try sigjax on (--write FOLDER)."""
    if examples.write is not None:
        if (asked, output) != (CompareOptions(), Output()):
            raise InputError("--write FOLDER writes files and compares nothing; leave the other options out")
        write_examples(examples.write)
    else:
        Inputs().check([], output, asked)
        with as_file(files("sigjax") / "data" / "demo.tsv") as path:
            evaluation = read(path, metric="fscore")
        _compare([evaluation], asked, output)
