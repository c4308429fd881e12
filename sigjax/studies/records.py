"""What every study can do: text, JSON, a data frame and a figure; other results have the first two.

The results of studies: frozen records, as in `sigjax.records`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sigjax.records import Interval, Settings, Test
from sigjax.records.display import Brief, SciPyNames, html_text
from sigjax.report.data import json_lines, rows_to_frame
from sigjax.run.files import text_or_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Result(Brief):
    """The base of results that have a text and JSON."""

    @property
    def _kind(self) -> str:
        """Names the text and the drawing of a study (in `studies.show`) and the schema: "audit" for an `Audit`."""
        return type(self).__name__.lower()

    def _repr_html_(self) -> str:
        """The same text for notebooks."""
        return html_text(str(self))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """All of it as JSON, of the schema `sigjax-KIND/1`, such as `sigjax-audit/1`.

        Args:
            path: as in all these methods: the file to write, whose path is then returned instead of the text.

        Raises:
            InputError: the file cannot be written.
        """
        return text_or_file(json_lines(f"sigjax-{self._kind}/1", asdict(self)), path)


@dataclass(frozen=True, repr=False)
class Study(Result):
    """The base of all results of studies, which have a `signature` besides: one line that reproduces the numbers.

    Attributes:
        rows: the field whose records are the rows of the data frame.
    """

    rows: ClassVar[str]

    def __str__(self) -> str:
        """Return the study as text for a terminal."""
        from sigjax.studies.show import SHOWN  # rich takes long to import

        return SHOWN[self._kind].text(self)

    def to_frame(self) -> Any:
        """The rows of the study as a data frame of pandas; intervals become `_low` and `_high`.

        Raises:
            InputError: pandas is not installed.
        """
        return rows_to_frame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [asdict(row) for row in getattr(self, self.rows)]

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Figure:
        """The study as a matplotlib figure (extra `plot`).

        Args:
            ax: the axes to draw into, as many as the study has panels (row by row); a new figure when left out.

        Raises:
            InputError: matplotlib is not installed, or another number of axes.
        """
        from sigjax.studies.show import plotted

        return plotted(self, ax)


Claim = Literal["equivalence", "non-inferiority"]
EquivalenceMethod = Literal["auto", "bootstrap"]
Null = Literal["swaps", "splits"]
"""How to make pairs of which neither is better: by swaps of the outputs of two systems, or splits of one system."""


@dataclass(frozen=True)
class ErrorRate:
    """The type-I error of a test at one level.

    Attributes:
        alpha: the level.
        rejected: number of repetitions with p <= alpha.
        rate: their share.
        interval: Clopper-Pearson interval (95%) of the rate for infinitely many repetitions.
    """

    alpha: float
    rejected: int
    rate: float
    interval: Interval


@dataclass(frozen=True, repr=False)
class AuditedTest(Brief):
    """One test by one metric, over all repetitions.

    Attributes:
        metric: name of the metric.
        test: "permutation", "bootstrap", or the name of a classical test.
        methods: number of repetitions by method ("exact", "montecarlo", "classical").
        errors: type-I error at 1%, 5% and 10%.
        excess: the largest amount by which the share of p-values up to one of them is above that p-value.
        excess_p: upper bound on the probability of such an excess, for a test that keeps all levels; see
            `sigjax.studies.formulas.uniformity`.
        deficit: the largest amount by which it is below.
        p_values: [repetition]; 1 where a classical test does not apply.
        null: how the pairs were made: "swaps" or "splits".
        system: for splits, the system whose units they are; else None.
    """

    metric: str
    test: str
    methods: dict[str, int]
    errors: tuple[ErrorRate, ...]
    excess: float
    excess_p: float
    deficit: float
    p_values: tuple[float, ...]
    null: Null = "swaps"
    system: str | None = None


@dataclass(frozen=True, repr=False)
class Audit(Study):
    """Type-I errors of tests on pairs of which neither system is better.

    Attributes:
        systems: the two systems whose outputs were swapped, and those whose units were split.
        tests: metric by metric, null by null and test by test.
        repetitions: number of pairs, for each null.
        num_instances: number of instances.
        num_units: number of units (instances, or clusters where there are some).
        settings: of the tests.
        signature: one line that reproduces the numbers.
    """

    systems: tuple[str, ...]
    tests: tuple[AuditedTest, ...]
    repetitions: int
    num_instances: int
    num_units: int
    settings: Settings
    signature: str

    def _rows(self) -> list[dict[str, Any]]:
        """One row per test and level."""
        return [
            {"metric": one.metric, "test": one.test, "null": one.null, "system": one.system} | asdict(error)
            for one in self.tests
            for error in one.errors
        ]


@dataclass(frozen=True)
class PilotDelta:
    """Delta in the pilot data.

    Attributes:
        metric: name of the metric.
        delta: score of the first system minus that of the second: the effect that the power is for.
        standard_error: bootstrap standard error of delta (ddof = 1).
    """

    metric: str
    delta: float
    standard_error: float


@dataclass(frozen=True)
class PowerAt:
    """Power of one test at one number of instances.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        instances: number of instances (of units, where there are clusters or runs).
        rejected: number of repetitions with p <= alpha.
        power: their share.
        interval: Clopper-Pearson interval (95%) of the power for infinitely many repetitions, given the pilot data.
        normal_power: power by the normal approximation, with `standard_error`.
        standard_error: the pilot's, times the root of pilot instances / instances.
        simulated_error: standard deviation (ddof = 1) of delta over the repetitions.
        detectable: smallest difference detected with the target power, by the normal approximation; None where units
            are so few that no permutation test has p <= alpha.
        simulated_detectable: the same from the repetitions' deltas; see `sigjax.studies.formulas.simulated_effect`.
        methods: number of repetitions by method ("exact", "montecarlo").
    """

    metric: str
    test: Test
    instances: int
    rejected: int
    power: float
    interval: Interval
    normal_power: float
    standard_error: float
    simulated_error: float
    detectable: float | None
    simulated_detectable: float | None
    methods: dict[str, int]


@dataclass(frozen=True, repr=False)
class Power(Study):
    """Power of tests at several numbers of instances.

    Attributes:
        systems: the two systems.
        pilots: metric by metric.
        points: metric by metric, test by test, by number of instances.
        target: the power that detectable differences are for.
        repetitions: number of samples drawn from the pilot for each number of instances.
        num_instances: number of instances of the pilot.
        num_units: number of its units (instances, or clusters where there are some).
        settings: of the tests.
        signature: one line that reproduces the numbers.
    """

    rows = "points"

    systems: tuple[str, str]
    pilots: tuple[PilotDelta, ...]
    points: tuple[PowerAt, ...]
    target: float
    repetitions: int
    num_instances: int
    num_units: int
    settings: Settings
    signature: str


@dataclass(frozen=True, repr=False)
class Equivalence(SciPyNames, Brief):
    """One pair of systems, one metric, one claim.

    Attributes:
        a: name of the first system.
        b: name of the second.
        metric: name of the metric.
        claim: "equivalence": |score_a - score_b| < margin for infinitely many instances; or "non-inferiority": a is
            not worse than b by the margin or more.
        margin: on the scale of the metric.
        score_a: score of a.
        score_b: score of b.
        delta: score_a - score_b.
        p_lower: p-value against delta <= -margin.
        p_upper: p-value against delta >= margin.
        p_value: of the claim: the larger of the two for equivalence; for non-inferiority p_lower, or p_upper where
            lower scores are better.
        p_interval: Clopper-Pearson interval, at the level, for the p-value of infinitely many resamples; None without
            resamples.
        p_adjusted: p_value adjusted for all pairs of the same metric.
        holds: whether the claim is shown: p_adjusted < 1 - level.
        interval: of delta, at the level 1 - 2 alpha where the level is 1 - alpha. Equivalence holds (before adjustment)
            if it lies within the margins, up to Monte Carlo error for bootstrap tests. One exception: if all units
            differ alike, the interval of t has no length, but p is 1.
        interval_level: the level of this interval.
        standard_error: of delta, by the jackknife; by the bootstrap (ddof = 1) for bootstrap tests.
        exceed: number of resamples behind p_value; None without resamples.
        method: the tests: "tango", "wide-t" or "bootstrap".
        settings: resamples, seed, level, variant and correction.
    """

    _first = ("a", "b", "metric", "claim", "margin", "delta", "interval", "p_value", "p_adjusted", "holds")

    a: str
    b: str
    metric: str
    claim: Claim
    margin: float
    score_a: float
    score_b: float
    delta: float
    p_lower: float
    p_upper: float
    p_value: float
    p_interval: Interval | None
    p_adjusted: float
    holds: bool
    interval: Interval
    interval_level: float
    standard_error: float
    exceed: int | None
    method: str
    settings: Settings
