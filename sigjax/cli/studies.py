"""The commands of `sigjax study`, and three more: arguments -> the calls of `sigjax.studies`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cyclopts import App

from sigjax.cli.flags import flags
from sigjax.cli.help import FLAGS
from sigjax.cli.inputs import Files, Inputs
from sigjax.cli.output import Figure, Results, write_study, write_text
from sigjax.readers import Evaluation, save_evaluations, save_table
from sigjax.readers.names import name_systems
from sigjax.records import InputError
from sigjax.records.options import option, required, values
from sigjax.studies.audit import AuditOptions
from sigjax.studies.audit import audit as run_audit
from sigjax.studies.calibration import CalibrationOptions
from sigjax.studies.calibration import calibration as run_calibration
from sigjax.studies.domain import DomainOptions
from sigjax.studies.domain import domain as run_domain
from sigjax.studies.equivalence import EquivalencePairsOptions
from sigjax.studies.equivalence import equivalence as run_equivalence
from sigjax.studies.gains import GainsOptions
from sigjax.studies.gains import gains as run_gains
from sigjax.studies.power import PowerOptions
from sigjax.studies.power import power as run_power
from sigjax.studies.size import SizeOptions
from sigjax.studies.size import size as run_size
from sigjax.studies.synthetic import SyntheticOptions
from sigjax.studies.synthetic import synthetic as run_synthetic
from sigjax.studies.text import equivalence_json, equivalence_text

study = App(name="study", help="Experiments with many comparisons of systems on these files.", help_flags=FLAGS)


@study.command
@flags(Inputs, CalibrationOptions, Results, Figure)
def calibration(paths: Files, inputs: Inputs, asked: CalibrationOptions, results: Results, figure: Figure) -> None:
    """How often is the winner of a test on a small test set the better system on all data, by p?

    Test sets are drawn from the data with replacement, and all pairs are tested on each.
    """
    inputs.check(paths, results, figure)
    write_study(run_calibration(inputs.evaluations(paths), **values(asked)), results, figure)


@study.command
@flags(Inputs, DomainOptions, Results, Figure, files="One file per test set, with all systems each (or NAME=FILE).")
def domain(paths: Files, inputs: Inputs, asked: DomainOptions, results: Results, figure: Figure) -> None:
    """Do the winners of tests on one test set win on others, by p? The first test set is the one that is tested.

    The files are tables or saved evaluations (`sigjax extract`) of the same systems. With --strata, the files are those
    of one test set, as for `sigjax compare`, and each stratum is a test set.
    """
    inputs.check(paths, results, figure)
    if inputs.strata is not None:
        given = _one_metric(inputs, paths)
    else:
        files = name_systems([str(path) for path in paths])[0] if paths else {}
        given = {name: _one_metric(inputs, [Path(file)]) for name, file in files.items()}
    write_study(run_domain(given, **values(asked)), results, figure)


def _one_metric(inputs: Inputs, paths: Files) -> Evaluation:
    evaluations = inputs.evaluations(paths)
    if len(evaluations) > 1:
        raise InputError(f"this study takes one metric, got {len(evaluations)}; name one (--metric)")
    return evaluations[0]


@study.command
@flags(Inputs, GainsOptions, Results, Figure)
def gains(paths: Files, inputs: Inputs, asked: GainsOptions, results: Results, figure: Figure) -> None:
    """How large is a gain that is significant on these files? Gain against confidence, for all pairs of systems.

    The threshold is the gain that 95% of the pairs with p from 0.04 to 0.06 do not exceed.
    """
    inputs.check(paths, asked, results, figure)
    write_study(run_gains(inputs.evaluations(paths), **values(asked)), results, figure)


@dataclass(frozen=True, kw_only=True)
class Made:
    """Where synthetic systems are written."""

    output: Path = required("The file to write: .npz, or a table (.tsv, .csv).", group="Main options")
    families: Path | None = option(
        None, "Write each mixture and its system to this file, for `study gains --groups`.", group="Output"
    )


@study.command
@flags(Inputs, SyntheticOptions, Made)
def synthetic(paths: Files, inputs: Inputs, asked: SyntheticOptions, made: Made) -> None:
    """Write synthetic systems: correlated mixtures of the systems in the files, or data by the papers' generators.

    Every command takes what this writes, such as `sigjax study gains made.npz --groups families.tsv`.
    """
    inputs.check(paths, made)
    evaluation = run_synthetic(_one_metric(inputs, paths) if paths else None, **values(asked))
    if made.output.suffix.lower() in (".tsv", ".csv"):
        save_table(str(made.output), evaluation)
    else:
        save_evaluations(str(made.output), [evaluation])
    if made.families is not None:
        lines = (f"{name}\t{name.rpartition('~')[0] or name}\n" for name in evaluation.systems)
        write_text("".join(["system\tgroup\n", *lines]), "text", made.families)


@study.command
@flags(Inputs, SizeOptions, Results, Figure)
def size(paths: Files, inputs: Inputs, asked: SizeOptions, results: Results, figure: Figure) -> None:
    """How does the gain that is needed fall with the size of the test set, and how many instances does a gain need?"""
    inputs.check(paths, results, figure)
    write_study(run_size(inputs.evaluations(paths), **values(asked)), results, figure)


@flags(Inputs, AuditOptions, Results, Figure)
def audit(paths: Files, inputs: Inputs, asked: AuditOptions, results: Results, figure: Figure) -> None:
    """Do the tests keep their level on these data? They test pairs that are made so that neither is better.

    Each repetition swaps the outputs of random units of two systems (`--systems A B`) and tests the mixtures.
    """
    inputs.check(paths, results, figure)
    write_study(run_audit(inputs.evaluations(paths), **values(asked)), results, figure)


@flags(Inputs, PowerOptions, Results, Figure)
def power(paths: Files, inputs: Inputs, asked: PowerOptions, results: Results, figure: Figure) -> None:
    """How likely is a test to find the difference of these two systems with more or fewer instances?

    Each repetition draws instances from the data with replacement and tests them.
    """
    inputs.check(paths, results, figure)
    write_study(run_power(inputs.evaluations(paths), **values(asked)), results, figure)


@flags(Inputs, EquivalencePairsOptions, Results)
def equivalence(paths: Files, inputs: Inputs, asked: EquivalencePairsOptions, results: Results) -> None:
    """Are systems alike up to a margin, or one not worse than the other by it? Two one-sided tests (TOST)."""
    inputs.check(paths, results)
    pairs = run_equivalence(inputs.evaluations(paths), **values(asked))
    results.write(partial(equivalence_text, pairs), partial(equivalence_json, pairs))
