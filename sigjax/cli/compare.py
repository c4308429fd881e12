"""The command that compares, and the one that saves statistics to be compared."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from sigjax.cli.flags import flags
from sigjax.cli.output import Files, Inputs, Output, Written, caption, say_written
from sigjax.comparison.options import CompareOptions
from sigjax.readers import Evaluation
from sigjax.records.display import visible
from sigjax.records.options import option, required, same, values
from sigjax.run.shards import joined


@dataclass(frozen=True, kw_only=True)
class Processes:
    """One report by several processes, on one or many machines; recognized without options under srun and mpirun."""

    coordinator: str | None = option(
        None, "HOST:PORT of process 0, to share the resamples among processes.", group="Several machines", rare=True
    )
    num_processes: int | None = option(
        None, "Number of processes; each runs the same command.", group="Several machines", rare=True
    )
    process_id: int | None = option(
        None, "Which process this is, from 0; process 0 writes the report.", group="Several machines", rare=True
    )


@dataclass(frozen=True, kw_only=True)
class Saved:
    """Where statistics are saved."""

    output: Path = required("The file to write.", group="Main options")
    quiet: bool = same(Written, "quiet")


@flags(Inputs, CompareOptions, Output, Processes)
def compare(paths: Files, inputs: Inputs, options: CompareOptions, output: Output, processes: Processes) -> None:
    """Compare systems on a test set: who beats whom by more than chance.

    The files are one table (wide: one row per instance, one column per system; long: columns `system`, an instance id,
    and one or more numbers); or one file per system; or gold files, and after -i one file per system. All may be packed
    (.gz). Folders of logs may hold several tasks: then the report has a section for each, and a suite score, the mean
    of the task means. `sigjax help formats` lists the formats, which are recognized automatically.
    """
    # Before the data are read: one process that cannot read them ends the run.
    with joined(processes.coordinator, processes.num_processes, processes.process_id) as share:
        first = share.index == 0
        inputs.check(paths, output, options, here=first)
        if not first:
            inputs, options = replace(inputs, progress=False), replace(options, progress=False)
        run(inputs.evaluations(paths, tasks=True), options, output, first=first)


def run(evaluations: Sequence[Evaluation], options: CompareOptions, output: Output, *, first: bool = True) -> None:
    """Compare; the first process shows the progress and writes the report."""
    from sigjax.comparison import compare  # `--help` does not need it

    with _log_to_stderr() if first else nullcontext():
        report = compare.compare(evaluations, **values(options))
    if first:
        output.write(report)


class _Log(logging.Handler):
    """Shows what is logged, one line on stderr each."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one line."""
        print(visible(record.getMessage()), file=sys.stderr)


@contextmanager
def _log_to_stderr() -> Iterator[None]:
    """Show what a run logs, such as the checkpoint that it goes on from."""
    log, handler = logging.getLogger("sigjax"), _Log()
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)


@flags(Inputs, Saved)
def extract(paths: Files, inputs: Inputs, saved: Saved) -> None:
    """Save the statistics of files once (.npz), for every later command.

    `sigjax compare EVAL.npz` then takes all metrics that are in the file.
    """
    inputs.check(paths, saved)
    from sigjax.readers.saved import save_evaluations

    evaluations = inputs.evaluations(paths, single=True)
    save_evaluations(str(saved.output), evaluations)
    say_written(lambda: map(caption, evaluations), [saved.output], quiet=saved.quiet)
