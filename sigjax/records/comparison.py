"""One pair of systems by one test, and one system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from sigjax.records.brief import Brief, SciPyNames
from sigjax.records.domains import Count, Letters, Log10, Number, Probabilities, Probability, Size
from sigjax.records.options import InputError
from sigjax.records.settings import Interval, IntervalName, Settings, Test


@dataclass(frozen=True, repr=False)
class Comparison(SciPyNames, Brief):
    """One pair of systems, one metric, one test.

    Attributes:
        a: name of the first system.
        b: name of the second; the baseline, where one was given.
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        score_a: score of a.
        score_b: score of b.
        delta: score_a - score_b.
        better: the system with the better score (lower, where lower is better); None when the scores are equal.
        p_value: p-value of this pair alone.
        log10_p: log10 of the p-value; accurate also where `p_value` is below the smallest double.
        p_interval: Clopper-Pearson interval, at the report's level, for the p-value of infinitely many resamples; for
            resamples="auto" the bounds by which the test stopped, which hold for all its pairs together with
            probability 0.999. For an exact test by bracket, the certain bracket, whose upper end is `p_value`. Else
            None.
        p_adjusted: p-value adjusted over the `family`; for the corrections "maxt" and "minp" at least
            1 / (resamples + 1), also where `p_value` is exact.
        log10_p_adjusted: log10 of the adjusted p-value, as `log10_p`.
        error_bound: bound on the relative error of an exact p-value. None for Monte Carlo.
        method: "exact", "dp" or "tree" (exact too), or "montecarlo".
        reason: why this method was taken.
        exceed: number of resamples at least as extreme as the observed delta; None when the p-value is exact.
        resamples: number of resamples behind the p-value, for "auto" where the pair stopped; None when it is exact.
        standard_error: standard error of delta: by the jackknife for the intervals "auto" and "simultaneous" (of a
            mean, the standard deviation with ddof = 1, divided by the root of the number of units), that of the
            interval for "two-way", else, and for a `SampleMetric` and design "nested", by the bootstrap (ddof = 1;
            without sampling, the limit of infinitely many resamples). None with one unit or interval="none".
        interval: interval of delta at the report's level, of the kind in the settings; for "simultaneous" those of all
            pairs of the metric hold together. None as above, for "auto" and "simultaneous" where no stratum has two
            units, for "bca" where all replicates lie on one side of delta, for "studentized" where many have no
            variance, and for "inversion" where units or resamples are too few.
        settings: the settings of the report.
        settled: whether the decision at the level, after the correction, is that of infinitely many resamples; the
            probability that any settled decision of a test is not is at most 0.001, over the pairs that are adjusted
            together. None for "minp", and where the decision depends on no resamples (all p-values are exact, and the
            correction is not "maxt").
        resamples_needed: the smallest of 1, 2, 3 and 5 times a power of ten that should settle the decision, if the
            share of extreme resamples stays as it is; None where it is settled, or 1,000,000,000 would not do.
        standard_error_unclustered: standard error of delta if instances (ids with all their runs, where there are some)
            were independent, by the delta method, with the same design; it shows what clusters change. None without
            clusters, for a `SampleMetric`, and where there is no standard error.
        interval_kind: the kind of the interval: the one asked for, and for "auto" and "simultaneous" "tango" (answers
            right or wrong), "wide-t" or "percentile"; see `compare`. None where there is no interval.
    """

    a: str
    b: str
    metric: str
    test: Test
    score_a: float
    score_b: float
    delta: float
    better: str | None
    p_value: Probability
    log10_p: Log10
    p_interval: Probabilities | None
    p_adjusted: Probability
    log10_p_adjusted: Log10
    error_bound: Size | None
    method: Literal["exact", "dp", "tree", "montecarlo"]
    reason: str
    exceed: Count | None
    resamples: Number | None
    standard_error: Size | None
    interval: Interval | None
    settings: Settings
    settled: bool | None = None
    resamples_needed: Number | None = None
    standard_error_unclustered: Size | None = None
    interval_kind: IntervalName | None = None

    @property
    def statistic(self) -> float:
        """`delta`, under the name of SciPy's results."""
        return self.delta

    def turned(self) -> Comparison:
        """The same comparison seen from b: delta is score_b - score_a, and so is its interval.

        Raises:
            InputError: the test is one-sided, so that its p-values say nothing of the other direction.
        """
        if self.settings.alternative != "two-sided":
            raise InputError(
                f"the one-sided test ({self.settings.alternative}) is of {self.a!r} minus {self.b!r}: ask for them in "
                "this order, or compare with the other alternative"
            )
        turned = self.interval and Interval(0.0 - self.interval.high, 0.0 - self.interval.low)
        scores = {"score_a": self.score_b, "score_b": self.score_a, "delta": 0.0 - self.delta}
        return replace(self, a=self.b, b=self.a, interval=turned, **scores)

    def brief(self) -> dict[str, Any]:
        """The pair, what was tested, and the result."""
        names = ["a", "b", "metric", "test", "delta", "interval", "p_value", "p_adjusted", "method"]
        if self.log10_p < -300:
            names[6:8] = ["log10_p", "log10_p_adjusted"]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Measured:
    """What a metric of a report was measured on, where the data name a task.

    Attributes:
        metric: its name in the report.
        title: what was measured, as the log of a program names it: "TASK: SCORE"; for a suite how it is made.
        instances: number of instances.
        units: number of what is resampled.
    """

    metric: str
    title: str
    instances: Number
    units: Number


@dataclass(frozen=True, repr=False)
class SystemScore(Brief):
    """The score of one system by one metric.

    Attributes:
        name: name of the system.
        metric: name of the metric.
        score: the score on all instances.
        standard_error: standard error of the score, as in `Comparison`.
        interval: interval of the score, as in `Comparison`; for "inversion" the percentile interval; for
            "simultaneous" those of all systems hold together.
        rank_interval: first and last rank compatible with the decisions on all pairs: 1 + the number of systems that
            are significantly better, and the number of systems that are not significantly worse. By permutation tests
            and a correction that bounds the familywise error, all hold together at the report's level. This, `letters`,
            `cluster` and `in_top_group` are by the first test, and None with a baseline or a one-sided alternative.
        letters: two systems share a letter if and only if they do not differ significantly. None also for more than 100
            systems, and where 52 letters do not suffice.
        cluster: the cluster of the system, from 1: every system is significantly better than all of later clusters.
        in_top_group: whether no system is significantly better, so that this one may be the best. By such tests and
            corrections the group holds every truly best system with a probability of at least the level.
        bootstrap_ranks: percentile interval, at the report's level, of the system's rank among all systems on a
            bootstrap resample (in ties, the best rank for the low end and the worst for the high end). It shows how
            stable a rank is; as an interval of the true rank of nearly equal systems it is too narrow, see
            `rank_interval`. None without leaderboard=True, with one unit, and with too little memory for replicates.
        standard_error_unclustered: that of the score if instances were independent, as in `Comparison`.
        interval_kind: as in `Comparison`: "wilson" (answers right or wrong), "skew-t" or "percentile".
    """

    name: str
    metric: str
    score: float
    standard_error: Size | None
    interval: Interval | None
    rank_interval: tuple[Number, Number] | None = None
    letters: Letters | None = None
    cluster: Number | None = None
    in_top_group: bool | None = None
    bootstrap_ranks: tuple[Number, Number] | None = None
    standard_error_unclustered: Size | None = None
    interval_kind: IntervalName | None = None

    def brief(self) -> dict[str, Any]:
        """The score and its precision, and the ranks where there are some."""
        names = ("name", "metric", "score", "standard_error", "interval")
        ranks = ("rank_interval", "letters", "cluster", "in_top_group")
        shown = {name: getattr(self, name) for name in (*names, *ranks)}
        return {name: value for name, value in shown.items() if name in names or value is not None}
