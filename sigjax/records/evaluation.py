"""The statistics of several systems on the same instances; `sigjax.Evaluation` adds the ways in and out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigjax.records.metric import Metric, SampleMetric
from sigjax.records.settings import Unit


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The statistics of several systems on the same instances, for one metric.

    `sigjax.Evaluation` says what the fields hold.
    """

    systems: tuple[str, ...]
    stats: np.ndarray
    ids: tuple[str, ...] | None
    metric: Metric | SampleMetric
    clusters: tuple[str, ...] | None = None
    strata: tuple[str, ...] | None = None
    runs: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    unit: Unit = "instance"

    @property
    def num_instances(self) -> int:
        """The number of instances."""
        return self.stats.shape[1]
