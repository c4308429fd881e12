"""The commands of `sigjax study`: arguments -> the calls of `sigjax.studies`."""

from __future__ import annotations

from cyclopts import App

study = App(name="study", help="Experiments with many comparisons of systems on these files.")
