"""The fields of a report, for all code that uses reports; `sigjax.report.Report` adds the output formats as methods.

A report can also compute how the delta of two systems varies over swaps or resamples (`Distribution`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, overload

from sigjax.records.comparison import Comparison, Comparisons, Number, Size, SystemScore
from sigjax.records.display import OtherNames, ShortRepr
from sigjax.records.metric import EvaluationRecord
from sigjax.records.options import InputError
from sigjax.records.settings import Settings, Test
from sigjax.version import versions


@dataclass(frozen=True)
class Measured:
    """What a metric of a report was measured on, if the data name a task.

    Attributes:
        metric: its name in the report.
        title: what was measured, with the names in the program's log: "TASK: SCORE"; for a suite, how it is computed.
        instances: number of instances.
        units: number of resampled units.
        runs: the fewest and the most runs of an instance; None without runs.
    """

    metric: str
    title: str
    instances: Number
    units: Number
    runs: tuple[Number, Number] | None = None

    @property
    def in_suite(self) -> bool:
        """Whether this is a suite or one of its tasks, not a metric of a single task."""
        return self.title == self.metric or self.title.startswith(f"{self.metric}, mean of ")


@dataclass(frozen=True)
class Headline:
    """The result of the tests for a metric or task, in a sentence that follows from the other fields of a report.

    Attributes:
        metric: its name in the report.
        text: which system is best, which are not significantly worse, and how many are; of two systems whether they
            differ significantly, and by how much. A metric has several headlines, one per test, if the tests differ in
            their result.
    """

    metric: str
    text: str


@dataclass(frozen=True, repr=False)
class Distribution(ShortRepr):
    """The delta of two systems under the null hypothesis of the permutation test, or on bootstrap resamples.

    Attributes:
        a: name of the first system.
        b: name of the second.
        metric: name of the metric.
        test: "permutation": score_a - score_b after swaps of units, so around 0; "bootstrap": on bootstrap resamples,
            so around `observed`.
        observed: score_a - score_b on the data.
        edges: ends of the bins, one more than there are bins, all of the same width. A value on an edge belongs to the
            bin above.
        shares: probability of each bin; together 1 (but for 1e-9 at either end of an exact distribution).
        extreme: the probability, in each bin, of values at least as extreme as observed (by the test and its
            alternative): the shaded part of a histogram. Their sum is the p-value for an exact distribution, and exceed
            / resamples for resamples.
        resamples: how many were drawn, the first ones of the report's seed; None for an exact distribution.
    """

    a: str
    b: str
    metric: str
    test: Test
    observed: float
    edges: tuple[float, ...]
    shares: tuple[Size, ...]
    extreme: tuple[Size, ...]
    resamples: Number | None

    def turned(self) -> Distribution:
        """The distribution for b minus a."""
        edges, shares, extreme = (tuple(reversed(values)) for values in (self.edges, self.shares, self.extreme))
        turned = {"edges": tuple(0.0 - edge for edge in edges), "shares": shares, "extreme": extreme}
        return replace(self, a=self.b, b=self.a, observed=0.0 - self.observed, **turned)


_OF_PAIR = 'report["A", "B"].{} for the pair of systems A and B'
"""The fields that a comparison has, but a report does not."""


@dataclass(frozen=True, repr=False)
class ReportRecord(OtherNames):
    """Scores, comparisons and the settings that reproduce them; `sigjax.Report` explains the fields."""

    _elsewhere = {
        **{name: _OF_PAIR.format(name) for name in ("pvalue", "p_value", "p_adjusted", "delta", "statistic", "better")},
        **dict.fromkeys(("interval", "confidence_interval", "ci"), _OF_PAIR.format("interval")),
        **dict.fromkeys(
            ("pvalues", "p_values", "pairs"), "report.to_dataframe(), or go through it: for pair in report"
        ),
        **dict.fromkeys(("summary", "describe"), "print(report)"),
        **{"scores": "report.systems", "significant": _OF_PAIR.format("p_adjusted < 0.05")},
    }

    systems: tuple[SystemScore, ...]
    comparisons: Comparisons
    settings: Settings
    num_instances: int
    num_units: int
    lower_is_better: tuple[str, ...]
    notes: tuple[str, ...]
    signature: str
    data: str
    measured: tuple[Measured, ...] = ()
    runs: tuple[int, int] | None = None
    again: Callable[..., Any] | None = field(default=None, compare=False)
    versions: Mapping[str, str | None] = field(default_factory=versions, compare=False)
    compute_distribution: Callable[[str, str, str, Test], Distribution | None] | None = field(
        default=None, compare=False
    )
    evaluations: tuple[EvaluationRecord, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Accept any sequence of records as comparisons."""
        if not isinstance(self.comparisons, Comparisons):
            object.__setattr__(self, "comparisons", Comparisons.of(self.comparisons))

    def __iter__(self) -> Iterator[Comparison]:
        """Go through the comparisons."""
        return iter(self.comparisons)

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> Comparisons: ...
    @overload
    def __getitem__(self, index: tuple[str, ...]) -> Comparison: ...
    def __getitem__(self, index: int | tuple[str, ...] | slice) -> Comparison | Comparisons:
        """The comparison at an index, or of two systems, or the comparisons of a slice; see `Report`.

        Raises:
            InputError: a name that is not in the report, or several comparisons of the two systems.
        """
        return self.comparisons[index]

    def __len__(self) -> int:
        """Count the comparisons."""
        return len(self.comparisons)

    def __getstate__(self) -> dict[str, Any]:
        """All fields except the data, so that pickles are small and need no functions of the user."""
        return self.__dict__ | {"again": None, "compute_distribution": None, "evaluations": ()}

    def settings_dict(self) -> dict[str, Any]:
        """The settings, and the data that they were used on, as plain values; with runs if there are any."""
        more = {"instances": self.num_instances, "units": self.num_units, "data": self.data}
        return asdict(self.settings) | more | ({"runs": self.runs} if self.runs else {})

    def distribution(self, a: str, b: str, *, metric: str | None = None, test: Test = "permutation") -> Distribution:
        """How the delta of two systems varies: under the null hypothesis, or (`test="bootstrap"`) on resamples.

        It is computed from the data: exactly if that is quick, else from the first resamples of the seed (at most
        8,192, about a second).

        Args:
            a: the first system.
            b: the second.
            metric: the metric; needed if the report has several metrics.
            test: "permutation" or "bootstrap", whether the report has this test or not.

        Raises:
            InputError: the report does not have the pair, or was pickled or read from JSON and has no data, or there
                is none (no bootstrap of one unit, of trained models and of responses, no swaps of a studentized delta).

        Example:
            >>> from sigjax import compare
            >>> report = compare({"A": [1, 1, 1], "B": [0, 0, 0]}, read={"metric": "accuracy"})
            >>> found = report.distribution("A", "B")
            >>> [round(share, 6) for share in found.shares], round(sum(found.extreme), 6), report[0].p_value
            ([0.125, 0.375, 0.375, 0.125], 0.25, 0.25)
        """
        narrower = (self.settings.tests[0],) if metric is None else (metric, self.settings.tests[0])
        metric = self.comparisons[(a, b, *narrower)].metric
        if self.compute_distribution is None:
            raise InputError(f"this report has no data to compute a {test} distribution from; compare the files again")
        distribution = self.compute_distribution(metric, a, b, test)
        if distribution is None:
            raise InputError(
                "there is no bootstrap of a single unit, of trained models and of responses"
                if test == "bootstrap"
                else "the distribution of a studentized delta is not kept; use statistic delta"
            )
        return distribution
