"""The commands of `sigjax study`: arguments -> the calls of `sigjax.studies`."""

from __future__ import annotations

from cyclopts import App

from sigjax.cli.flags import flags
from sigjax.cli.inputs import Files, Inputs
from sigjax.cli.output import Figure, Results, write_study
from sigjax.records.options import values
from sigjax.studies.calibration import CalibrationOptions
from sigjax.studies.calibration import calibration as run_calibration

study = App(name="study", help="Experiments with many comparisons of systems on these files.")


@study.command
@flags(Inputs, CalibrationOptions, Results, Figure)
def calibration(paths: Files, inputs: Inputs, asked: CalibrationOptions, results: Results, figure: Figure) -> None:
    """How often is the winner of a test on a small test set the better system on all data, by p?

    Test sets are drawn from the data with replacement, and all pairs are tested on each.
    """
    inputs.check(paths, results, figure)
    write_study(run_calibration(inputs.evaluations(paths), **values(asked)), results, figure)
