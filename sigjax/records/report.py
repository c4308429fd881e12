"""What a comparison says; the methods of a report are doors to its renderings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sigjax.records.options import Device, InputError, Interval, Library, Settings, Test

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Comparison:
    """One pair of systems, one metric, one test.

    Attributes:
        a: name of the first system of the pair.
        b: name of the second; the baseline, where one was given.
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        score_a: score of a.
        score_b: score of b.
        delta: score_a - score_b.
        better: the system with the better score (lower, where lower is better); None when the scores are equal.
        p_value: the p-value of the pair by itself.
        log10_p: log10 of the p-value; right also where `p_value` is below the smallest double.
        p_interval: Clopper-Pearson interval, at the report's level, for the p-value that resamples -> infinity would
            give; for resamples="auto" the bounds by which the test stopped, which hold for all its pairs together with
            probability 0.999. For an exact test by bracket, the bracket that the p-value certainly lies in, `p_value`
            being its upper end. Else None.
        p_adjusted: the p-value adjusted for all pairs of the same metric and test, or for those of all metrics where
            the settings say so (family "report"); for the corrections "maxt" and "minp" at least
            1 / (resamples + 1), also where `p_value` is exact.
        log10_p_adjusted: log10 of the adjusted p-value; right also where `p_adjusted` is below the smallest double.
        error_bound: bound on the relative error: an exact p-value is right up to this fraction of itself. None for
            Monte Carlo.
        method: "exact", "dp" or "tree" (exact too), or "montecarlo".
        reason: why this method was taken.
        exceed: number of resamples at least as extreme as the observed delta; None when the p-value is exact.
        resamples: number of resamples behind the p-value, for "auto" where the pair stopped; None when it is exact.
        standard_error: bootstrap standard error of delta (ddof = 1; without sampling, the value for resamples ->
            infinity); None when there is one unit or interval="none".
        interval: interval of delta at the report's level, of the kind that the settings name: by the bootstrap, or for
            "inversion" the shifts that the swap test does not reject. None as above, for "bca" where all replicates lie
            on one side of delta, for "studentized" where many have no variance, and for "inversion" where the units or
            resamples are too few. For "simultaneous" the intervals of all pairs of the metric hold together.
        settings: the settings of the report.
        settled: whether the decision at the level, after the correction, is that of endless resamples; the probability
            that any settled decision of a test is not is at most 0.001, in the pairs that are adjusted together. None
            where no resamples have a part in it (all their p-values are exact, and the correction is not "maxt"), and
            for "minp", whose counts do not tell.
        resamples_needed: the least of 1, 2, 3 and 5 times a power of ten that should settle the decision, if the share
            of extreme resamples stays as it is; None where it is settled, or 1,000,000,000 would not do.
        standard_error_unclustered: the standard error of delta if instances (ids with all their runs, where there are
            some) were independent, by the delta method, and with the same design; `standard_error`, of the bootstrap of
            clusters, is the one to use, and this shows what clusters change. None where there are no clusters, for a
            `SampleMetric`, and where there is no standard error.
    """

    a: str
    b: str
    metric: str
    test: Test
    score_a: float
    score_b: float
    delta: float
    better: str | None
    p_value: float
    log10_p: float
    p_interval: Interval | None
    p_adjusted: float
    log10_p_adjusted: float
    error_bound: float | None
    method: Literal["exact", "dp", "tree", "montecarlo"]
    reason: str
    exceed: int | None
    resamples: int | None
    standard_error: float | None
    interval: Interval | None
    settings: Settings
    settled: bool | None = None
    resamples_needed: int | None = None
    standard_error_unclustered: float | None = None


@dataclass(frozen=True)
class SystemScore:
    """The score of one system by one metric.

    Attributes:
        name: name of the system.
        metric: name of the metric.
        score: the score on all instances.
        standard_error: bootstrap standard error of the score, as in `Comparison`.
        interval: bootstrap interval of the score at the report's level; None as above. For "inversion" the percentile
            interval; for "simultaneous" those of all systems hold together.
        rank_interval: first and last rank that the decisions on all pairs allow: 1 + the number of systems that are
            significantly better, and the number of systems without those significantly worse. All intervals hold
            together at the report's level where the correction bounds the familywise error. This and the following are
            those of the first test asked for, and None with a baseline or a one-sided alternative.
        letters: the system's letters: two systems share one if and only if they do not differ significantly. None
            also for more than 100 systems, and where 52 letters do not suffice.
        cluster: the cluster of the system, from 1: every system is significantly better than all of later clusters.
        bootstrap_ranks: percentile interval, at the report's level, of the system's rank among all systems on a
            bootstrap resample. Systems that tie there have the best of their ranks for the low end and the worst for
            the high end. How stable a rank is; too narrow as an interval of the true rank where systems are nearly
            equal, for which see `rank_interval`. This and the following only for leaderboard=True, else None; None also
            where there is one unit, or too little memory for all replicates.
        mcs_p: p-value of the model confidence set: of the hypothesis that this system and all that were not left out
            before it are equally good (Hansen, Lunde and Nason 2011, T_max). 1 for the last.
        in_confidence_set: whether `mcs_p` is at least 1 - level: the set of these systems holds the best with a
            probability of at least the level.
        standard_error_unclustered: that of the score if instances were independent, as in `Comparison`.
    """

    name: str
    metric: str
    score: float
    standard_error: float | None
    interval: Interval | None
    rank_interval: tuple[int, int] | None = None
    letters: str | None = None
    cluster: int | None = None
    bootstrap_ranks: tuple[int, int] | None = None
    mcs_p: float | None = None
    in_confidence_set: bool | None = None
    standard_error_unclustered: float | None = None


@dataclass(frozen=True)
class Report:
    """Scores, comparisons and the settings that reproduce them. Iterating gives the comparisons.

    Attributes:
        systems: scores, metric by metric, from best to worst.
        comparisons: pairs, metric by metric and test by test, in the order of the data: a stands before b there.
        settings: what determines the report, given the data.
        num_instances: number of instances.
        num_units: number of what is resampled: instances, or clusters where there are some.
        lower_is_better: the metrics of this report whose lower scores are better.
        notes: what a reader of the numbers should know (identical systems, instances dropped).
        signature: one line that reproduces the numbers: metric, test, resamples, seed, conventions, version.
        data: hash of the evaluations; the same for the same numbers, names and labels in the same order.
        again: compares the evaluations of this report again, with some options changed; None when the report was
            pickled and read back, since the evaluations are left behind.
    """

    systems: tuple[SystemScore, ...]
    comparisons: tuple[Comparison, ...]
    settings: Settings
    num_instances: int
    num_units: int
    lower_is_better: tuple[str, ...]
    notes: tuple[str, ...]
    signature: str
    data: str
    again: Callable[..., Report] | None = field(default=None, repr=False, compare=False)

    def __iter__(self) -> Iterator[Comparison]:
        """Go through the comparisons."""
        return iter(self.comparisons)

    def __len__(self) -> int:
        """Count the comparisons."""
        return len(self.comparisons)

    def __str__(self) -> str:
        """Return the report as text for a terminal."""
        from sigjax.report import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the data, so that pickles are small and need no user's function."""
        return self.__dict__ | {"again": None}

    def extend(
        self,
        resamples: int,
        *,
        device: Device = "auto",
        progress: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Report:
        """The report of the same comparison with more resamples, as a run anew would give it, in less time.

        Args:
            resamples: the new total, larger than before. Permutation tests add what is missing; the bootstrap draws
                all resamples again.
            device: see `compare`.
            progress: see `compare`.
            checkpoint: see `compare`.

        Raises:
            InputError: there are as many resamples already, or the report was pickled and has no evaluations.
        """
        if self.again is None:
            raise InputError("this report has no data any more; use sigjax.compare(evaluation, ..., extend=report)")
        return self.again(resamples=resamples, device=device, progress=progress, checkpoint=checkpoint, extend=self)

    def settings_dict(self) -> dict[str, Any]:
        """The settings, and what they were used on, as plain values."""
        more = {"instances": self.num_instances, "units": self.num_units, "data": self.data}
        return asdict(self.settings) | more

    def to_json(self) -> str:
        """The report as JSON of the schema `sigjax/1`."""
        from sigjax.report import to_json

        return to_json(self)

    def to_html(self) -> str:
        """The report as one HTML fragment without scripts."""
        from sigjax.report import to_html

        return to_html(self)

    def to_latex(self) -> str:
        """The report as LaTeX tables (package booktabs)."""
        from sigjax.report import to_latex

        return to_latex(self)

    def to_markdown(self) -> str:
        """The report as Markdown tables."""
        from sigjax.report import to_markdown

        return to_markdown(self)

    def to_csv(self) -> str:
        """The comparisons as CSV, one row a pair, metric and test."""
        from sigjax.report import to_csv

        return to_csv(self)

    def to_dataframe(self, library: Library | None = None) -> Any:
        """The comparisons as a data frame, one row a pair, metric and test.

        Args:
            library: "pandas", "polars" or "pyarrow" (the last two with narwhals, extra `dataframe`); the first of them
                that is installed when left out.

        Raises:
            InputError: no such library is installed.
        """
        from sigjax.report import to_dataframe

        return to_dataframe(self, library)

    def plot(self) -> Figure:
        """Scores with their intervals, and the grid of pairs, as a matplotlib figure (extra `plot`)."""
        from sigjax.report import to_figure

        return to_figure(self)
