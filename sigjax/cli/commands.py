"""The commands: arguments -> the calls of the Python interface."""

from __future__ import annotations

from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from sigjax.cli.options import Inputs, Many, Processes, Questions, Whole
from sigjax.cli.output import check_outputs
from sigjax.cli.studies import Figures, Results, Trials
from sigjax.cli.tests import TestQuestions
from sigjax.metrics import CLASS_METRICS, METRICS
from sigjax.readers import FORMATS, Format, Takes, read, save_evaluations
from sigjax.records import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED, Correction, Device, Variant
from sigjax.run.processes import joined
from sigjax.studies.audit import audit as run_audit
from sigjax.studies.equivalence import equivalence as run_equivalence
from sigjax.studies.power import power as run_power
from sigjax.studies.records import Claim, EquivalenceMethod, Null
from sigjax.studies.text import equivalence_json, equivalence_text
from sigjax.version import __version__

TAKES: dict[Takes, str] = {
    "file": "sigjax compare FILE: all systems in one file",
    "systems": "sigjax compare FILE FILE ...: a file a system",
    "gold": "sigjax compare GOLD [GOLD ...] -i FILE FILE ...: a file a system, after the gold files",
}

app = App(
    name="sigjax",
    help="Significance tests for comparing systems on a test set. `--debug` after any command shows tracebacks.",
    version=__version__,
    help_format="markdown",
    result_action="return_value",
)


@app.command
def compare(
    *paths: Path,
    inputs: Inputs | None = None,
    questions: Questions | None = None,
    processes: Processes | None = None,
) -> None:
    """Compare systems on a test set: who beats whom by more than chance.

    The files are one table (wide: a row an instance, a column a system; long: columns `system`, an instance id, and one
    or more numbers); or a file a system; or gold files, and after -i a file a system. All may be packed (.gz).
    `sigjax info` lists the formats, which are found by themselves.

    Parameters
    ----------
    paths
        A table, a file a system, or the gold files.
    """
    given, asked, others = inputs or Inputs(), questions or Questions(), processes or Processes()
    # Before the data are read: one process that cannot read them ends the run.
    with joined(others.coordinator, others.num_processes, others.process_id) as share:
        asked.check(given.reads(paths), here=share.index == 0)
        evaluations = given.evaluations(paths, progress=share.index == 0)
        asked.answer(evaluations, quiet=share.index > 0)


@app.command(name="tests")
def show_tests(*paths: Path, inputs: Inputs | None = None, asked: TestQuestions | None = None) -> None:
    """Show the classical tests of two systems beside the permutation test and the bootstrap, and what each assumes.

    Of more than two systems, take two with --systems A B.

    Parameters
    ----------
    paths
        As for compare.
    """
    given, asked = inputs or Inputs(), asked or TestQuestions()
    check_outputs(given.reads(paths), {"--output": asked.output})
    asked.answer(given.evaluations(paths, progress=True))


@app.command
def extract(
    *paths: Path, output: Annotated[Path, Parameter(name=["--output", "-o"])], inputs: Inputs | None = None
) -> None:
    """Save the statistics of files once (.npz), for every later command.

    `sigjax compare EVAL.npz` then takes all metrics that are in the file.

    Parameters
    ----------
    paths
        As for compare.
    output
        The file to write.
    """
    given = inputs or Inputs()
    check_outputs(given.reads(paths), {"--output": output})
    save_evaluations(str(output), given.evaluations(paths, progress=True))


@app.command
def audit(
    *paths: Path,
    null: Annotated[list[Null] | None, Many] = None,
    classical: Annotated[bool, Parameter(negative="")] = False,
    inputs: Inputs | None = None,
    trials: Trials | None = None,
    results: Results | None = None,
    figures: Figures | None = None,
) -> None:
    """Do the tests keep their level on these data? They test pairs that are made so that neither is better.

    Each repetition swaps the outputs of random units of two systems (`--systems A B`) and tests the mixtures, by both
    tests and 1000 times if not told otherwise.

    Parameters
    ----------
    paths
        As for compare.
    null
        How pairs are made: swaps, or splits of the units of each system into random halves, which are independent.
    classical
        Audit the classical tests, too, as far as the data allow them.
    """
    given, results, figures = inputs or Inputs(), results or Results(), figures or Figures()
    check_outputs(given.reads(paths), {"--output": results.output, "--figure": figures.figure})
    evaluations, options = given.evaluations(paths, progress=True), (trials or Trials()).options()
    study = run_audit(evaluations, null=null or "swaps", classical=classical, **options)
    results.write(study.__str__, study.to_json)
    figures.write(study)


@app.command
def power(
    *paths: Path,
    instances: Annotated[list[int], Many],
    level: float = DEFAULT_LEVEL,
    target: float = 0.8,
    inputs: Inputs | None = None,
    trials: Trials | None = None,
    results: Results | None = None,
    figures: Figures | None = None,
) -> None:
    """How likely is a test to find the difference of these two systems with more or fewer instances?

    Each repetition draws instances from the data with replacement and tests them, by the permutation test and 500 times
    if not told otherwise.

    Parameters
    ----------
    paths
        As for compare.
    instances
        Numbers of instances (of clusters, where there are some).
    level
        A difference is found where p is at most 1 - level.
    target
        The power that detectable differences are for.
    """
    given, results, figures = inputs or Inputs(), results or Results(), figures or Figures()
    check_outputs(given.reads(paths), {"--output": results.output, "--figure": figures.figure})
    evaluations, options = given.evaluations(paths, progress=True), (trials or Trials()).options()
    study = run_power(evaluations, instances=instances, level=level, target=target, **options)
    results.write(study.__str__, study.to_json)
    figures.write(study)


@app.command
def equivalence(
    *paths: Path,
    margin: float,
    claim: Claim = "equivalence",
    baseline: str | None = None,
    correction: Correction = "holm",
    method: EquivalenceMethod = "auto",
    resamples: Annotated[int, Whole] = DEFAULT_RESAMPLES,
    level: float = DEFAULT_LEVEL,
    variant: Variant = "shift",
    seed: Annotated[int, Whole] = DEFAULT_SEED,
    device: Device = "auto",
    inputs: Inputs | None = None,
    results: Results | None = None,
) -> None:
    """Are systems alike up to a margin, or one not worse than the other by it? Two one-sided tests (TOST).

    Parameters
    ----------
    paths
        As for compare.
    margin
        The largest difference that does not matter, on the scale of the metric.
    claim
        Equivalence, or non-inferiority: the first system of a pair is not worse than the second by the margin.
    baseline
        Compare each system with this one instead of all pairs.
    correction
        How p-values are adjusted for the number of pairs; not by maxt, which belongs to the permutation test.
    method
        Auto: Tango's score tests for answers right or wrong, t tests by the jackknife for other metrics of sums, and
        bootstrap tests for metrics of whole columns; or bootstrap tests for all, which with fewer than 30 units find
        equivalence too often.
    resamples
        Number of bootstrap resamples.
    level
        1 - alpha; intervals have the level 1 - 2 alpha.
    variant
        Null of the bootstrap tests: delta* - delta (shift) or delta - delta* (flip), moved to the margins.
    seed
        The same seed gives the same numbers on every device.
    device
        Changes the time, never the numbers.
    """
    given, results = inputs or Inputs(), results or Results()
    check_outputs(given.reads(paths), {"--output": results.output})
    found = run_equivalence(
        given.evaluations(paths, progress=True),
        margin=margin,
        claim=claim,
        baseline=baseline,
        correction=correction,
        method=method,
        resamples=resamples,
        level=level,
        variant=variant,
        seed=seed,
        device=device,
    )
    results.write(partial(equivalence_text, found), partial(equivalence_json, found))


@app.command
def demo(*, questions: Questions | None = None) -> None:
    """Compare five named-entity taggers on a bundled example."""
    asked = questions or Questions()
    asked.check([])
    with as_file(files("sigjax") / "data" / "demo.tsv") as path:
        evaluation = read(path, metric="fscore")
    asked.answer([evaluation])


@app.command
def info() -> None:
    """Show versions, devices, metrics and formats."""
    from sigjax.run.host import installed

    for name, value in installed().items():
        print(f"{name + ':':<12} {value}")
    named = (*METRICS, *CLASS_METRICS, "f2 and other F-beta", "the measures of trec_eval (ndcg@10, p@5, ...)")
    print(f"{'metrics:':<12} {', '.join(named)}")
    print("formats (--reader NAME), by the files they take:")
    for takes, what in TAKES.items():
        print(f"  {what}")
        for each in FORMATS.values():
            if each.takes == takes:
                print(f"    {each.name:<16} {each.title}{_served(each)}")


def _served(format: Format) -> str:
    return f" ({', '.join(format.metrics)})" if format.metrics else ""
