"""Signatures for type checkers, written by `python tests/stubs.py --write`."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from sigjax import studies as studies
from sigjax.formats.doctor import Diagnosis
from sigjax.multiple.discoveries import true_discoveries as true_discoveries
from sigjax.readers import Evaluation as Evaluation
from sigjax.records import Comparison as Comparison
from sigjax.records import InputError as InputError
from sigjax.records import Metric as Metric
from sigjax.records import SampleMetric as SampleMetric
from sigjax.report import Report as Report
from sigjax.studies import association_test as association_test
from sigjax.studies import audit as audit
from sigjax.studies import classical_tests as classical_tests
from sigjax.studies import diff as diff
from sigjax.studies import equivalence as equivalence
from sigjax.studies import equivalence_test as equivalence_test
from sigjax.studies import monitor as monitor
from sigjax.studies import one_sample as one_sample
from sigjax.studies import planned_power as planned_power
from sigjax.studies import power as power
from sigjax.studies import unpaired as unpaired
from sigjax.studies import verify as verify
from sigjax.studies.sequential import Monitor as Monitor
from sigjax.version import __version__ as __version__

def bootstrap_test(
    a: Any,
    b: Any,
    *,
    metric: str | Metric | SampleMetric | Callable[[Any], Any] = "mean",
    resamples: int = 100000,
    interval: Literal[
        "auto", "percentile", "basic", "bca", "studentized", "simultaneous", "two-way", "none"
    ] = "percentile",
    seed: int = 12345,
    method: Literal["auto", "exact", "montecarlo"] = "auto",
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    variant: Literal["shift", "flip"] = "shift",
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Comparison: ...
def compare(
    data: Any,
    *,
    test: Literal["permutation", "bootstrap"] | Sequence[Literal["permutation", "bootstrap"]] = "permutation",
    resamples: int | Literal["auto"] = 100000,
    seed: int = 12345,
    baseline: str | None = None,
    correction: Literal["holm", "hochberg", "bonferroni", "bh", "by", "none", "maxt"] = "holm",
    interval: Literal["auto", "percentile", "basic", "bca", "studentized", "simultaneous", "two-way", "none"] = "auto",
    read: Mapping[str, Any] | None = None,
    method: Literal["auto", "exact", "montecarlo", "dp", "tree"] = "auto",
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    statistic: Literal["delta", "studentized"] = "delta",
    variant: Literal["shift", "flip"] = "shift",
    mid_p: bool = False,
    budget: float | None = None,
    memory: float = 1.0,
    design: Literal["together", "crossed", "nested", "models"] = "together",
    family: Literal["metric", "report"] = "metric",
    leaderboard: bool = False,
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
    checkpoint: str | PathLike[str] | None = None,
    extend: Any | str | PathLike[str] | None = None,
    executor: Any = None,
    shards: int | None = None,
) -> Report: ...
def permutation_test(
    a: Any,
    b: Any,
    *,
    metric: str | Metric | SampleMetric | Callable[[Any], Any] = "mean",
    resamples: int | Literal["auto"] = 100000,
    seed: int = 12345,
    method: Literal["auto", "exact", "montecarlo", "dp", "tree"] = "auto",
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    statistic: Literal["delta", "studentized"] = "delta",
    mid_p: bool = False,
    budget: float | None = None,
    memory: float = 1.0,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Comparison: ...
def read(
    *data: Any,
    input: Sequence[str | PathLike[str]] | Mapping[str, str | PathLike[str]] = (),
    metric: str
    | Metric
    | SampleMetric
    | Callable[[Any], Any]
    | Sequence[str | Metric | SampleMetric | Callable[[Any], Any]]
    | None = None,
    counts: Mapping[str, str] | None = None,
    id_column: str | None = None,
    system_column: str | None = None,
    score_column: str | None = None,
    gold: str | None = None,
    prediction: Sequence[str] | None = None,
    where: str | None = None,
    transpose: bool = False,
    melt: Sequence[str] | None = None,
    decimal: Literal[".", ","] | None = None,
    thousands: Literal[",", ".", "'", " "] | None = None,
    systems: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    runs: str | None = None,
    cluster: str | None = None,
    strata: str | None = None,
    missing: Literal["error", "drop", "zero", "pairwise"] = "error",
    lower_is_better: bool | None = None,
    higher_is_better: bool | None = None,
    lexicon: str | None = None,
    unit: Literal["instance", "response"] = "instance",
    filter: str | None = None,
    records: str | None = None,
    reader: str | None = None,
    progress: bool = True,
) -> Evaluation: ...
def doctor(
    *data: Any,
    input: Sequence[str | PathLike[str]] | Mapping[str, str | PathLike[str]] = (),
    metric: str
    | Metric
    | SampleMetric
    | Callable[[Any], Any]
    | Sequence[str | Metric | SampleMetric | Callable[[Any], Any]]
    | None = None,
    counts: Mapping[str, str] | None = None,
    id_column: str | None = None,
    system_column: str | None = None,
    score_column: str | None = None,
    gold: str | None = None,
    prediction: Sequence[str] | None = None,
    where: str | None = None,
    transpose: bool = False,
    melt: Sequence[str] | None = None,
    decimal: Literal[".", ","] | None = None,
    thousands: Literal[",", ".", "'", " "] | None = None,
    systems: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    runs: str | None = None,
    cluster: str | None = None,
    strata: str | None = None,
    missing: Literal["error", "drop", "zero", "pairwise"] = "error",
    lower_is_better: bool | None = None,
    higher_is_better: bool | None = None,
    lexicon: str | None = None,
    unit: Literal["instance", "response"] = "instance",
    filter: str | None = None,
    records: str | None = None,
    reader: str | None = None,
    progress: bool = True,
) -> Diagnosis: ...
