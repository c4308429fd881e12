"""The commands of systems one by one: unpaired tests, and tests against a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sigjax.cli.flags import flags
from sigjax.cli.inputs import Files, Inputs
from sigjax.cli.output import Results
from sigjax.readers import Evaluation
from sigjax.readers.names import name_systems
from sigjax.readers.options import Options, select_systems
from sigjax.records import InputError
from sigjax.records.options import values
from sigjax.studies.one_sample import OneSampleOptions
from sigjax.studies.one_sample import one_sample as run_one_sample
from sigjax.studies.samples_show import one_sample_json, one_sample_text, unpaired_json, unpaired_text
from sigjax.studies.unpaired import UnpairedOptions
from sigjax.studies.unpaired import unpaired as run_unpaired


@flags(Inputs, OneSampleOptions, Results)
def one_sample(paths: Files, inputs: Inputs, asked: OneSampleOptions, results: Results) -> None:
    """Test each system against a number: is its accuracy above 0.5, its mean rating not 3, its win rate not 1/2?

    One system is enough. Exact binomial test of answers right or wrong, sign flips of other means, else t.
    """
    inputs.check(paths, results)
    apart = inputs.missing == "error" and _one_by_one(inputs, paths)
    found = run_one_sample(apart or _one_metric(inputs.evaluations(paths, single=True)), **values(asked))
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
    return _one_metric(replace(inputs, missing=missing).evaluations(paths, single=True))


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
        found[name] = _one_metric(read.evaluations([file] if saved else [], single=True))
    return found


def _one_metric(evaluations: Sequence[Evaluation]) -> Evaluation:
    if len(evaluations) > 1:
        raise InputError(f"this test takes one metric, got {len(evaluations)}; name one (--metric)")
    return evaluations[0]
