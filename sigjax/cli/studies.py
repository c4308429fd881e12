"""The commands of all studies: arguments -> the calls of `sigjax.studies`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cyclopts import App

from sigjax.cli.app import FLAGS
from sigjax.cli.flags import flags
from sigjax.cli.output import Figure, Files, Inputs, Results, check_outputs, text_options, write_study, write_text
from sigjax.formats.labels import read_labels
from sigjax.readers import Evaluation
from sigjax.readers.options import Options, name_systems, select_systems
from sigjax.readers.saved import save_evaluations, save_table
from sigjax.records import InputError
from sigjax.records.options import option, required, values
from sigjax.studies.association import AgreementOptions, association_json, association_test, association_text
from sigjax.studies.audit import AuditOptions
from sigjax.studies.audit import audit as run_audit
from sigjax.studies.calibration import CalibrationOptions
from sigjax.studies.calibration import calibration as run_calibration
from sigjax.studies.classical import ClassicalOptions, classical_tests
from sigjax.studies.domain import DomainOptions
from sigjax.studies.domain import domain as run_domain
from sigjax.studies.equivalence import EquivalencePairsOptions, equivalence_json, equivalence_text
from sigjax.studies.equivalence import equivalence as run_equivalence
from sigjax.studies.gains import GainsOptions
from sigjax.studies.gains import gains as run_gains
from sigjax.studies.power import PowerOptions
from sigjax.studies.power import power as run_power
from sigjax.studies.samples import (
    OneSampleOptions,
    UnpairedOptions,
    one_sample_json,
    one_sample_text,
    unpaired_json,
    unpaired_text,
)
from sigjax.studies.samples import (
    one_sample as run_one_sample,
)
from sigjax.studies.samples import (
    unpaired as run_unpaired,
)
from sigjax.studies.size import SizeOptions
from sigjax.studies.size import size as run_size
from sigjax.studies.synthetic import SyntheticOptions
from sigjax.studies.synthetic import synthetic as run_synthetic

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
        given = _one_metric(inputs.evaluations(paths))
    else:
        files = name_systems([str(path) for path in paths])[0] if paths else {}
        given = {name: _one_metric(inputs.evaluations([Path(file)])) for name, file in files.items()}
    write_study(run_domain(given, **values(asked)), results, figure)


def _one_metric(evaluations: Sequence[Evaluation], what: str = "study") -> Evaluation:
    if len(evaluations) > 1:
        raise InputError(f"this {what} takes one metric, got {len(evaluations)}; name one (--metric)")
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
class SyntheticOutput:
    """Where synthetic systems are written."""

    output: Path = required("The file to write: .npz, or a table (.tsv, .csv).", group="Main options")
    families: Path | None = option(
        None, "Write each mixture and its system to this file, for `study gains --groups`.", group="Output"
    )


@study.command
@flags(Inputs, SyntheticOptions, SyntheticOutput)
def synthetic(paths: Files, inputs: Inputs, asked: SyntheticOptions, made: SyntheticOutput) -> None:
    """Write synthetic systems: correlated mixtures of the systems in the files, or data by the papers' generators.

    Every command takes what this writes, such as `sigjax study gains made.npz --groups families.tsv`.
    """
    inputs.check(paths, made)
    evaluation = run_synthetic(_one_metric(inputs.evaluations(paths)) if paths else None, **values(asked))
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


@flags(Inputs, OneSampleOptions, Results)
def one_sample(paths: Files, inputs: Inputs, asked: OneSampleOptions, results: Results) -> None:
    """Test each system against a number: is its accuracy above 0.5, its mean rating not 3, its win rate not 1/2?

    One system is enough. Exact binomial test of answers right or wrong, sign flips of other means, else t.
    """
    inputs.check(paths, results)
    apart = inputs.missing == "error" and _one_by_one(inputs, paths)
    found = run_one_sample(apart or _one_metric(inputs.evaluations(paths, single=True), "test"), **values(asked))
    results.write(partial(one_sample_text, found), partial(one_sample_json, found))


@flags(Inputs, UnpairedOptions, Results, files="One file per system, or one table of all; their instances may differ.")
def unpaired(paths: Files, inputs: Inputs, asked: UnpairedOptions, results: Results) -> None:
    """Compare systems that were tested on different instances: unpaired permutation and rank-sum tests.

    Where systems have the same instances, `sigjax compare` has more power.
    """
    inputs.check(paths, results)
    found = run_unpaired(_samples(inputs, paths), **values(asked))
    results.write(partial(unpaired_text, found), partial(unpaired_json, found))


def _samples(inputs: Inputs, paths: Files) -> Evaluation | dict[str, Evaluation]:
    """The systems of one table, or of gold files and systems; of one file each, read one by one."""
    if found := _one_by_one(inputs, paths):
        return found
    missing = "pairwise" if inputs.missing == "error" else inputs.missing
    return _one_metric(replace(inputs, missing=missing).evaluations(paths, single=True), "test")


def _one_by_one(inputs: Inputs, paths: Files) -> dict[str, Evaluation]:
    """The systems of several files, one each, whose instances may differ; nothing where there are gold files."""
    files = [*paths, *inputs.input]
    if len(files) < 2 or (paths and inputs.input):
        return {}
    named = name_systems([str(file) for file in files])[0]
    names = select_systems(str(files[0]), list(named), Options(systems=inputs.systems))
    found = {}
    for name in names:
        file, own = Path(named[name]), replace(inputs, input=(), systems=None)
        saved = file.suffix.lower() == ".npz"  # it says which systems it holds; other files are named after theirs
        read = own if saved else replace(own, input=[file])
        found[name] = _one_metric(read.evaluations([file] if saved else [], single=True), "test")
    return found


@flags(Inputs, ClassicalOptions, Results)
def show_tests(paths: Files, inputs: Inputs, asked: ClassicalOptions, results: Results) -> None:
    """Show the classical tests of two systems beside the permutation test and the bootstrap, and what each assumes.

    Of more than two systems, take two with --systems A B.
    """
    inputs.check(paths, results)
    options = values(asked, progress=True)
    tests = [classical_tests(each, **options) for each in inputs.evaluations(paths)]
    from sigjax.studies.classical import to_json, to_text  # rich takes longer to import than most tests to run

    shown = text_options(to_file=bool(results.output))
    results.write(lambda: "\n".join(to_text(each, **shown) for each in tests), partial(to_json, tests))


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
