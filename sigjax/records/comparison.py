"""What is said of one pair by one test, and of one system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sigjax.records.settings import Interval, Settings, Test


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
        standard_error: standard error of delta: for the intervals "auto" and "simultaneous" by the jackknife (of a
            mean, the standard deviation with ddof = 1, divided by the root of the number of units), for "two-way" that
            of the interval, else by the bootstrap (ddof = 1; without sampling, the value for resamples -> infinity), as
            always for a `SampleMetric` and for design "nested". None when there is one unit or interval="none".
        interval: interval of delta at the report's level, of the kind that the settings name. None as above, for "auto"
            and "simultaneous" where no stratum has two units, for "bca" where all replicates lie on one side of delta,
            for "studentized" where many have no variance, and for "inversion" where the units or resamples are too few.
            For "simultaneous" the intervals of all pairs of the metric hold together.
        settings: the settings of the report.
        settled: whether the decision at the level, after the correction, is that of infinite resamples; the probability
            that any settled decision of a test is not is at most 0.001, in the pairs that are adjusted together. None
            where no resamples have a part in it (all their p-values are exact, and the correction is not "maxt"), and
            for "minp", whose counts do not tell.
        resamples_needed: the least of 1, 2, 3 and 5 times a power of ten that should settle the decision, if the share
            of extreme resamples stays as it is; None where it is settled, or 1,000,000,000 would not do.
        standard_error_unclustered: the standard error of delta if instances (ids with all their runs, where there are
            some) were independent, by the delta method, and with the same design; `standard_error`, of clusters,
            is the one to use, and this shows what clusters change. None where there are no clusters, for a
            `SampleMetric`, and where there is no standard error.
        interval_kind: which kind the interval is of: that asked for, and for "auto" and "simultaneous" "tango" (answers
            right or wrong), "t" or "percentile"; see `compare`. None where there is no interval.
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
    interval_kind: str | None = None


@dataclass(frozen=True)
class SystemScore:
    """The score of one system by one metric.

    Attributes:
        name: name of the system.
        metric: name of the metric.
        score: the score on all instances.
        standard_error: standard error of the score, as in `Comparison`.
        interval: interval of the score at the report's level, as in `Comparison`; None as above. For "inversion" the
            percentile interval; for "simultaneous" those of all systems hold together.
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
        interval_kind: as in `Comparison`: "wilson" (answers right or wrong), "skew-t" or "percentile".
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
    interval_kind: str | None = None
