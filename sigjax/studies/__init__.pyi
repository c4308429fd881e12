"""Signatures for type checkers, written by `python tests/stubs.py --write`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

from sigjax.records.metric import Metric, SampleMetric
from sigjax.studies.agents import RL
from sigjax.studies.association import Association
from sigjax.studies.boards import BoardOfRecord
from sigjax.studies.bradley_terry import Battles
from sigjax.studies.changes import Diff, Verification
from sigjax.studies.classical import ClassicalTests
from sigjax.studies.datasets import FoldTest, RankTests
from sigjax.studies.error_rates import Audit
from sigjax.studies.independent_samples import Unpaired
from sigjax.studies.item_analysis import Items
from sigjax.studies.power_analysis import PlannedPower, Power
from sigjax.studies.ranking import Ranking
from sigjax.studies.replays import Stopping
from sigjax.studies.sequential import Monitor
from sigjax.studies.significant_gains import Gains
from sigjax.studies.single_samples import OneSample
from sigjax.studies.study import StudyRows
from sigjax.studies.subsets import Flips, Slices
from sigjax.studies.tost import Equivalence

def rl(
    data: Any,
    *,
    resamples: int = 20000,
    seed: int = 12345,
    read: Mapping[str, Any] | None = None,
    confidence_level: float = 0.95,
    progress: bool = True,
) -> RL: ...
def association_test(
    gold: Iterable[object],
    labels: Iterable[object],
    *,
    resamples: int = 100000,
    seed: int = 12345,
    alternative: Literal["two-sided", "greater", "less"] = "greater",
    method: Literal["auto", "exact", "montecarlo"] = "auto",
) -> Association: ...
def board(
    config: Any, *, device: Literal["auto", "numpy", "cpu", "gpu"] = "auto", progress: bool = True
) -> BoardOfRecord: ...
def battles(
    data: Any,
    *,
    ties: Literal["davidson", "half"] = "davidson",
    correction: Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"] = "holm",
    resamples: int = 20000,
    seed: int = 12345,
    cluster: str | None = None,
    only: Sequence[str] | None = None,
    where: str | None = None,
    missing: Literal["error", "drop"] = "error",
    confidence_level: float = 0.95,
) -> Battles: ...
def diff(
    old: Any,
    new: Any,
    *,
    margin: float | None = None,
    confidence_level: float = 0.95,
    metric: Sequence[str] = (),
    flips: int = 3,
    only: Sequence[str] | None = None,
) -> Diff: ...
def verify(
    report: Any,
    data: Any,
    *,
    read: Mapping[str, Any] | None = None,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Verification: ...
def classical_tests(
    *data: Any,
    design: Literal["together", "folds"] = "together",
    folds: int | None = None,
    resamples: int | Literal["auto"] = 100000,
    seed: int = 12345,
    read: Mapping[str, Any] | None = None,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    method: Literal["auto", "exact", "montecarlo"] = "auto",
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> ClassicalTests | RankTests | StudyRows[FoldTest]: ...
def audit(
    data: Any,
    *,
    test: Literal["permutation", "bootstrap"] | Sequence[Literal["permutation", "bootstrap"]] = (
        "permutation",
        "bootstrap",
    ),
    resamples: int = 1999,
    seed: int = 12345,
    read: Mapping[str, Any] | None = None,
    repetitions: int = 1000,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Audit: ...
def unpaired(
    data: Any,
    *,
    resamples: int = 100000,
    seed: int = 12345,
    correction: Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"] = "holm",
    overlap: bool = False,
    baseline: str | None = None,
    read: Mapping[str, Any] | None = None,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    method: Literal["auto", "exact", "montecarlo"] = "auto",
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> StudyRows[Unpaired]: ...
def items(
    data: Any,
    *,
    show: Sequence[str] = (),
    correction: Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"] = "bh",
    resamples: int = 100000,
    seed: int = 12345,
    read: Mapping[str, Any] | None = None,
    target: float = 0.8,
    confidence_level: float = 0.95,
    progress: bool = True,
) -> Items: ...
def planned_power(
    *,
    disagree: float | None = None,
    accuracy: float | None = None,
    instances: Sequence[int] | None = None,
    detect: float | None = None,
    confidence_level: float = 0.95,
    pairs: int = 1,
    target: float = 0.8,
) -> PlannedPower: ...
def power(
    data: Any,
    *,
    test: Literal["permutation", "bootstrap"] | Sequence[Literal["permutation", "bootstrap"]] = "permutation",
    resamples: int = 1999,
    seed: int = 12345,
    instances: Sequence[int] | None = None,
    detect: float | None = None,
    read: Mapping[str, Any] | None = None,
    repetitions: int = 500,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    confidence_level: float = 0.95,
    pairs: int = 1,
    target: float = 0.8,
    instance_cost: float = 0.0,
    run_cost: float = 1.0,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Power: ...
def rank(
    data: Any,
    *,
    correction: Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"] = "holm",
    read: Mapping[str, Any] | None = None,
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Ranking: ...
def stopping(
    data: Any,
    *,
    confidence_level: float = 0.95,
    correction: Literal["ebh", "holm", "none"] = "ebh",
    goal: Literal["pairs", "best"] = "pairs",
    keep: int = 1,
    baseline: str | None = None,
    orders: int = 100,
    cost: float | None = None,
    seed: int = 12345,
    read: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> Stopping: ...
def monitor(
    data: Any,
    *,
    confidence_level: float = 0.95,
    correction: Literal["ebh", "holm", "none"] = "ebh",
    goal: Literal["pairs", "best"] = "pairs",
    keep: int = 1,
    baseline: str | None = None,
    largest: int | None = None,
    bounds: Sequence[float] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> Monitor: ...
def gains(
    data: Any,
    *,
    sizes: Sequence[int] | None = None,
    other: Any | PathLike[str] | None = None,
    test: Literal["permutation", "bootstrap"] | Sequence[Literal["permutation", "bootstrap"]] = "bootstrap",
    resamples: int = 100000,
    seed: int = 12345,
    read: Mapping[str, Any] | None = None,
    p_range: Sequence[float] = (0.04, 0.06),
    quantile: float = 0.95,
    alternative: Literal["one-sided", "two-sided"] = "one-sided",
    variant: Literal["shift", "flip"] = "shift",
    method: Literal["auto", "exact", "montecarlo", "dp", "tree"] = "auto",
    design: Literal["together", "crossed", "nested", "models"] = "together",
    budget: float | None = None,
    memory: float = 1.0,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Gains: ...
def one_sample(
    data: Any,
    *,
    resamples: int = 100000,
    seed: int = 12345,
    correction: Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"] = "holm",
    against: float | None = None,
    best: bool = False,
    read: Mapping[str, Any] | None = None,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    method: Literal["auto", "exact", "montecarlo"] = "auto",
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> StudyRows[OneSample]: ...
def flips(
    data: Any,
    *,
    most: int = 100,
    show: Sequence[str] = (),
    resamples: int = 100000,
    seed: int = 12345,
    read: Mapping[str, Any] | None = None,
    method: Literal["auto", "exact", "montecarlo", "dp", "tree"] = "auto",
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Flips: ...
def slices(
    data: Any,
    *,
    by: str | None = None,
    baseline: str | None = None,
    correction: Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"] = "holm",
    resamples: int = 100000,
    seed: int = 12345,
    read: Mapping[str, Any] | None = None,
    least: int = 10,
    permutations: int = 9999,
    method: Literal["auto", "exact", "montecarlo", "dp", "tree"] = "auto",
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Slices: ...
def equivalence(
    data: Any,
    *,
    margin: float,
    resamples: int = 100000,
    seed: int = 12345,
    baseline: str | None = None,
    correction: Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"] = "holm",
    read: Mapping[str, Any] | None = None,
    claim: Literal["equivalence", "non-inferiority"] = "equivalence",
    method: Literal["auto", "bootstrap"] = "auto",
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> StudyRows[Equivalence]: ...
def equivalence_test(
    a: Any,
    b: Any,
    *,
    margin: float,
    resamples: int = 100000,
    seed: int = 12345,
    metric: str | Metric | SampleMetric | Callable[[Any], Any] = "mean",
    claim: Literal["equivalence", "non-inferiority"] = "equivalence",
    method: Literal["auto", "bootstrap"] = "auto",
    confidence_level: float = 0.95,
    device: Literal["auto", "numpy", "cpu", "gpu"] = "auto",
    progress: bool = True,
) -> Equivalence: ...

@dataclass(frozen=True, slots=True)
class StudySpec:
    name: str
    title: str
    more: str
    module: str
    functions: tuple[str, ...]
    result: str
    options: str
    takes: Literal["evaluations", "systems", "samples", "growing", "labels", "reports", "battles", "config"] = ...
    files: str = ...
    alone: bool = ...
    constructed: bool = ...
    research: bool = ...
    @property
    def public(self) -> tuple[str, ...]: ...
    @property
    def path(self) -> str: ...
    @property
    def figure(self) -> bool: ...
    def load(self, name: str) -> Any: ...

STUDIES: dict[str, StudySpec] = ...

def elsewhere(name: str) -> str: ...
