"""How the tests of a report run: backend, progress bar, states and processes are set up here, for every run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sigjax.records import Device, Metric, Settings
from sigjax.resample.engine import Run
from sigjax.run.backend import NUMPY, Backend, choose_backend, has_started, is_traceable, reason_against
from sigjax.run.checkpoint import NO_STAGE, Stage
from sigjax.run.host import WORTH_A_BAR, progress_bar
from sigjax.run.share import current_share
from sigjax.testing.problem import Case

_FEW_COLUMNS = 6
"""Up to this many columns are added up as masks are drawn."""


class NotTraceable(ValueError):
    """The metric cannot run on the device that was asked for, because JAX cannot compile it."""


class Runner(NamedTuple):
    """What the runs of a report, or of one of its metrics, have in common."""

    settings: Settings
    device: Device
    progress: bool = False
    """Whether progress bars may be drawn."""
    stage: Stage = NO_STAGE
    """Where states are kept."""
    backend: Backend = NUMPY
    seconds: float = 0.0
    """About how long NumPy takes."""
    which: str = ""
    """Which metric of how many, for the bar."""

    def part(self, name: str) -> Runner:
        """The runs of one metric."""
        return self._replace(stage=self.stage.part(name))

    def sized(self, seconds: float, *, on_host: bool = False) -> Runner:
        """The same on the backend for so much work; `on_host` on NumPy, though the device must be there.

        Raises:
            InputError: there is no such device.
        """
        backend = choose_backend(self.device, numpy_seconds=0.0 if on_host else seconds)
        return self._replace(backend=NUMPY if on_host else backend, seconds=seconds)

    def gpu(self) -> str | None:
        """The platform for what only a GPU does faster than NumPy; None without one, or where JAX has not started.

        Raises:
            InputError: a GPU was asked for, and there is none.
        """
        if self.device == "gpu" or (self.device == "auto" and has_started() and not reason_against()):
            platform = choose_backend(self.device, numpy_seconds=math.inf).platform
            return platform if platform == "gpu" else None
        return None

    @contextmanager
    def run(self, name: str, resamples: int | None = None, *, compiles: Metric | None = None) -> Iterator[Run]:
        """The run of one stage, with a progress bar of this name; by default of the fixed number of resamples.

        Args:
            name: name of the stage.
            resamples: how many.
            compiles: the metric whose score the device has to compile.

        Raises:
            NotTraceable: the device was asked for by name, and cannot run the metric.
        """
        total = self.settings.fixed_resamples if resamples is None else resamples
        label = " ".join(filter(None, (*self.stage.name, self.which, name)))
        shown = self.progress and self.seconds > WORTH_A_BAR
        with progress_bar(label, total, shown=shown, compiles=bool(self.backend.devices)) as advance:
            backend = self.backend if compiles is None else self._traceable(compiles)
            stage = self.stage.part(name)
            yield Run(total, self.settings.seed, backend, advance, stage=stage, share=current_share())

    def _traceable(self, metric: Metric) -> Backend:
        """The backend, or NumPy where the device is ours to choose and JAX cannot compile the metric."""
        if not self.backend.devices or is_traceable(metric.score, (2, len(metric.stat_names))):
            return self.backend
        if self.device != "auto":
            raise NotTraceable
        warnings.warn(
            f"JAX cannot compile the metric {metric.name!r}; running on NumPy. Array operators alone would be faster",
            RuntimeWarning,
            stacklevel=2,
        )
        return NUMPY


def swap_seconds(case: Case, num_pairs: int) -> float:
    """About how long NumPy takes to swap so many pairs."""
    units, design = case.units, case.settings.design
    num_systems, num_units, num_stats = units.values.shape
    # Where outputs or runs are exchanged, those of both systems are chosen one by one, which takes about as long as
    # counting draws.
    one_by_one = design in ("crossed", "models")
    width = 2 * _num_outputs(case) // (num_units if design == "models" else 1) if one_by_one else num_units
    return numpy_seconds(
        resamples=case.settings.fixed_resamples,
        units=width,
        columns=num_systems * num_stats,
        scored=num_pairs * num_stats,
        counted=one_by_one,
    )


def draw_seconds(case: Case, *, counted: bool = True) -> float:
    """About how long NumPy takes to draw all systems: to count the draws of units, or just to choose units."""
    num_systems, num_units, num_stats = case.units.values.shape
    width = num_units + (_num_outputs(case) if case.settings.design == "nested" else 0)
    columns = num_systems * num_stats
    return numpy_seconds(
        resamples=case.settings.fixed_resamples, units=width, columns=columns, scored=columns, counted=counted
    )


def _num_outputs(case: Case) -> int:
    return 0 if case.units.outputs is None else int(case.units.outputs.sizes.sum())


def numpy_seconds(*, resamples: int, units: int, columns: int, scored: int, counted: bool) -> float:
    """About how long NumPy takes, from the cost of its parts (measured, see benchmarks/README.md).

    `columns` of statistics are multiplied with weights of `units`, `scored` statistics a resample enter scores, and
    `counted` tells bootstrap counts from swap masks.
    """
    weights = 7e-9 if counted else 0.8e-9
    if columns <= _FEW_COLUMNS and not counted:
        weights = 0.3e-9
    return resamples * (0.15e-6 + units * (weights + 0.02e-9 * columns) + 6e-9 * scored)
