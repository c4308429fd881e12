"""The commands of all studies, made from their records in `sigjax.studies`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cyclopts import App

from sigjax.cli import FLAGS
from sigjax.cli.options import Command, Figure, Figures, Files, Inputs, Results, check_outputs, flags, write_figure
from sigjax.formats.labels import read_labels
from sigjax.readers.options import Options, name_systems, select_systems
from sigjax.records import EvaluationRecord, Hint, InputError
from sigjax.records.options import given_as, options_of, values
from sigjax.report.words import count
from sigjax.run.context import progress_bar
from sigjax.studies import STUDIES, StudySpec


def _single(evaluations: Sequence[EvaluationRecord]) -> EvaluationRecord:
    if len(evaluations) > 1:
        raise InputError(f"this test takes one metric, got {len(evaluations)}; name one (--metric)")
    return evaluations[0]


def _systems(inputs: Inputs, paths: Files) -> EvaluationRecord | dict[str, EvaluationRecord]:
    """Read the systems, for a study that can also use a single system."""
    alone = inputs.missing == "error" and _by_file(inputs, paths)
    return alone or _single(inputs.evaluations(paths, single=True))


def _samples(inputs: Inputs, paths: Files) -> EvaluationRecord | dict[str, EvaluationRecord]:
    """Read the systems, for a study whose systems may have different instances.

    They are in one table, in gold files and system files, or in one file per system. In the last case, each file is
    read separately, because their instances may differ.
    """
    return _by_file(inputs, paths) or _single(_growing(inputs, paths, single=True))


def _growing(inputs: Inputs, paths: Files, *, single: bool = False) -> list[EvaluationRecord]:
    """Read results that are still growing: some systems may have more instances than other systems.

    `single`: whether one system is enough.
    """
    if not single:
        STUDIES["monitor"].load("refuse_zero")(inputs.missing)
    missing = "pairwise" if inputs.missing == "error" else inputs.missing
    return replace(inputs, missing=missing).evaluations(paths, single=single)


def _by_file(inputs: Inputs, paths: Files) -> dict[str, EvaluationRecord]:
    """Read each of several files separately, because their instances may differ.

    Return a dict from each system to its evaluation. It is empty if there is only one file, or if there are gold files,
    which must be read together with the files of the systems.
    """
    files = [*paths, *inputs.input]
    if len(files) < 2 or (paths and inputs.input):
        return {}
    named = name_systems([str(file) for file in files])[0]
    evaluations = {}
    for name in select_systems(str(files[0]), list(named), Options(only=inputs.only)):
        file, alone = Path(named[name]), replace(inputs, input=(), only=None)
        saved = file.suffix.lower() == ".npz"  # names its systems; other files are one system, named after the file
        reading = alone if saved else replace(alone, input=[file])
        evaluations[name] = _single(reading.evaluations([file] if saved else [], single=True))
    return evaluations


_READING: dict[str, Callable[[Inputs, Files], Any]] = {
    "evaluations": lambda inputs, paths: inputs.evaluations(paths),
    "systems": _systems,
    "samples": _samples,
    "growing": _growing,
}


def _drawn(result: Any, figure: Figure) -> list[Path]:
    if figure.figure is not None:
        write_figure(result.plot(), figure.figure)
    return [figure.figure] if figure.figure else []


def _tests(paths: Files, inputs: Inputs, options: Any, results: Results, figure: Figure) -> None:
    inputs.check(paths, results, figure)
    load = STUDIES["classical"].load
    test = load("classical_tests")
    given = inputs.evaluations(paths, folds=options.design == "folds")
    tests = [test(evaluation, **values(options)) for evaluation in given]
    if not isinstance(tests[0], load("ClassicalTests")):
        _single(tests)
        if figure.figure is not None and not hasattr(tests[0], "plot"):
            raise InputError("tests of folds have no figure; leave --figure out")
        results.write(tests[0], _drawn(tests[0], figure))
        return
    if figure.figure is not None:
        raise InputError("tests of two systems have no figure; leave --figure out, or give three systems or more")
    results.write(tests[0] if len(tests) == 1 else load("ByMetrics")(tuple(tests)))


def _association(paths: Files, options: Any, results: Results) -> None:
    if len(paths) != 2:
        raise InputError(f"expected two files, LABELS and GOLD, with one label per line, got {len(paths)}")
    check_outputs(paths, results)
    labels, gold = (read_labels(str(path)) for path in paths)
    if len(labels) != len(gold):
        raise InputError(
            f"{paths[0]}: has {len(labels)} labels, but {paths[1]} has {len(gold)}; expected one per instance"
        )
    result = STUDIES["association"].load("association_test")(gold, labels, **values(options))
    results.write(result)


def _battles(paths: Files, options: Any, results: Results, figure: Figure) -> None:
    if len(paths) != 1:
        raise InputError(f"expected one table of battles, got {count(len(paths), 'file')}")
    check_outputs(paths, results, figure)
    with progress_bar("battles", visible=not results.quiet):
        result = STUDIES["battles"].load("battles")(str(paths[0]), **values(options))
    results.write(result, _drawn(result, figure))


def _board(paths: Files, options: Any, results: Results, figures: Figures) -> None:
    if len(paths) != 1:
        raise InputError(f"expected one file, BOARD.toml, got {count(len(paths), 'file')}")
    load = STUDIES["board"].load
    check_outputs(load("config_files")(paths[0]), results, figures)
    made = load("board")(paths[0], **values(options))
    with progress_bar("board", visible=not results.quiet):
        for path in figures.figure:
            write_figure(made.plot(figures.kind(path)), path)
    results.write(made, [*figures.figure])


def _drawing(study: StudySpec) -> Callable[[Files, Inputs, Any, Results, Figure], int]:
    """Return the function of a command that reads files, runs the study, writes the result, and draws its figure."""

    def draw(paths: Files, inputs: Inputs, options: Any, results: Results, figure: Figure) -> int:
        named = "strata"
        if (by := getattr(options, "by", None)) is not None:
            if inputs.strata is not None:
                raise InputError("slices are strata: give --by or --strata, not both")
            inputs, named = replace(inputs, strata=by), "by"
        inputs.check(paths, options, results, figure)
        shown: Sequence[str] = getattr(options, "show", ())
        how = values(options) | ({"show": ()} if shown else {})
        with progress_bar(study.name, visible=not results.quiet), given_as("strata", named):
            read = partial(Inputs.evaluations, sliced=True) if named == "by" else _READING[study.takes]
            result = study.load(study.functions[0])(read(inputs, paths), **how)
        if shown:
            with given_as("strata", "show"):
                texts = {field: _single(replace(inputs, strata=field).evaluations(paths)) for field in shown}
            result = result.with_texts(texts)
        with progress_bar(study.name, visible=not results.quiet):
            figures = _drawn(result, figure)
        results.write(result, figures)
        return result.exit_code

    return draw


_HARMLESS = ("seed", "device", "progress")
"""Names of options that do not change the power without files, because this power is computed exactly."""
_SUPPOSED = (("metric", ("accuracy",)), ("test", ("permutation",)))


def _planned(paths: Files, inputs: Inputs, planned: Any, options: Any, results: Results, figure: Figure) -> None:
    """Compute power for right-or-wrong answers from the planned numbers in `planned`, without files, and write it."""
    if paths or inputs.input:
        raise InputError("--disagree and --accuracy are for no files: power measures the disagreement in files")
    known = (*options_of(STUDIES["power"].load("PlannedPowerOptions")), *_HARMLESS)
    for record in (inputs, options):
        for name, about in options_of(type(record)).items():
            value = getattr(record, name)
            value = tuple(value) if isinstance(value, list) else value
            if name not in known and value != about.default and (name, value) not in _SUPPOSED:
                raise InputError(
                    f"{Hint(name)}: is for power with files; without files power is that of the exact two-sided "
                    "permutation test of accuracies on independent instances; leave it out, or give results of a pilot"
                )
    if figure.figure is not None:
        raise InputError("the power without a pilot has no figure; leave --figure out")
    check_outputs(paths, results)
    load = STUDIES["power"].load
    results.write(load("planned_power")(**values(planned), **values(options, load("PlannedPowerOptions"))))


def _power(paths: Files, inputs: Inputs, options: Any, planned: Any, results: Results, figure: Figure) -> int | None:
    if planned.disagree is not None or planned.accuracy is not None:
        return _planned(paths, inputs, planned, options, results, figure)
    return _drawing(STUDIES["power"])(paths, inputs, options, results, figure)


_COMMANDS: dict[str, tuple[Callable[..., int | None], tuple[type, ...], tuple[type | str, ...]]] = {
    "classical": (_tests, (Inputs,), (Results, Figure)),
    "association": (_association, (), (Results,)),
    "battles": (_battles, (), (Results, Figure)),
    "board": (_board, (), (Results, Figures)),
    "power": (_power, (Inputs,), ("PlannedOptions", Results, Figure)),
}
"""For some studies, a tuple (function of the command, records of options before the options of the study, records of
options after them). These commands read or write in their own way. A record from the study's own file is listed by its
name, because the file is imported only when the command is called."""


def command(name: str) -> Command:
    """Make the command of a study, with its flags."""
    study = STUDIES[name]

    draw = _drawing(study)

    def write(paths: Files, inputs: Inputs, options: Any, results: Results) -> int:
        return draw(paths, inputs, options, results, Figure())

    usual = (draw, (Inputs,), (Results, Figure)) if study.figure else (write, (Inputs,), (Results,))
    run, before, after = _COMMANDS.get(name, usual)
    run.__name__, run.__doc__ = name, f"{study.title}\n\n{study.more}"
    records = [study.load(each) if isinstance(each, str) else each for each in after]
    return flags(*before, study.load(study.options), *records, **({"files": study.files} if study.files else {}))(run)


_ABOUT = "Audits of tests, experiments with many comparisons, and agreement of labels."
research = App(name="research", help=_ABOUT, help_flags=FLAGS)
for each in STUDIES:
    if STUDIES[each].research:
        research.command(command(each), name=each)


def __getattr__(name: str) -> Command:
    """Make the command of the study `name`, which other modules find as an attribute of this module."""
    if name not in STUDIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return command(name)
