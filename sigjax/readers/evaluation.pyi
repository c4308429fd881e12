"""Signatures for type checkers, written by `python tests/stubs.py --write`."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

from sigjax.records import EvaluationRecord, Missing
from sigjax.records.metric import AnyMetric, Metric, SampleMetric
from sigjax.records.options import explained

@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(EvaluationRecord):
    @classmethod
    @explained
    def from_arrays(
        cls,
        arrays: Mapping[str, Any],
        *,
        metric: AnyMetric = "mean",
        ids: Sequence[object] | None = None,
        clusters: Any = None,
        strata: Any = None,
        runs: Sequence[object] | None = None,
        missing: Missing = "error",
    ) -> Evaluation: ...
    @classmethod
    @explained
    def from_predictions(
        cls,
        gold: Any,
        predictions: Any,
        *,
        metric: str = "accuracy",
        ids: Sequence[object] | None = None,
        clusters: Sequence[object] | None = None,
        strata: Sequence[object] | None = None,
        runs: Sequence[object] | None = None,
    ) -> Evaluation: ...
    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
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
    @classmethod
    @explained
    def from_texts(
        cls,
        systems: Mapping[str, Sequence[str]],
        references: Sequence[str] | Sequence[Sequence[str]],
        *,
        metric: str = "bleu",
        ids: Sequence[object] | None = None,
        clusters: Sequence[object] | None = None,
        strata: Sequence[object] | None = None,
        cache: bool = True,
        progress: bool = True,
    ) -> Evaluation: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
