"""The commands of `sigjax study`: arguments -> the calls of `sigjax.studies`."""

from __future__ import annotations

from cyclopts import App

from sigjax.cli.flags import flags
from sigjax.cli.inputs import Files, Inputs
from sigjax.cli.output import Figure, Results, write_study
from sigjax.records.options import values
from sigjax.studies.gains import GainsOptions
from sigjax.studies.gains import gains as run_gains
from sigjax.studies.size import SizeOptions
from sigjax.studies.size import size as run_size

study = App(name="study", help="Experiments with many comparisons of systems on these files.")


@study.command
@flags(Inputs, GainsOptions, Results, Figure)
def gains(paths: Files, inputs: Inputs, asked: GainsOptions, results: Results, figure: Figure) -> None:
    """How large is a gain that is significant on these files? Gain against confidence, for all pairs of systems.

    The threshold is the gain that 95% of the pairs with p from 0.04 to 0.06 do not exceed.
    """
    inputs.check(paths, asked, results, figure)
    write_study(run_gains(inputs.evaluations(paths), **values(asked)), results, figure)


@study.command
@flags(Inputs, SizeOptions, Results, Figure)
def size(paths: Files, inputs: Inputs, asked: SizeOptions, results: Results, figure: Figure) -> None:
    """How does the gain that is needed fall with the size of the test set, and how many instances does a gain need?"""
    inputs.check(paths, results, figure)
    write_study(run_size(inputs.evaluations(paths), **values(asked)), results, figure)
