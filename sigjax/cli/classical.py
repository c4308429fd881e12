"""Commands that run other tests than those of `sigjax compare`: classical ones, and of labels."""

from __future__ import annotations

from functools import partial

from sigjax.association.association import AgreementOptions, association_test
from sigjax.association.show import association_json, association_text
from sigjax.classical.classical import ClassicalOptions, classical_tests
from sigjax.cli.flags import flags
from sigjax.cli.inputs import Files, Inputs
from sigjax.cli.output import Results, check_outputs, text_options
from sigjax.readers.tagging.labels import read_labels
from sigjax.records import InputError
from sigjax.records.options import values


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
