"""Metrics, which are functions of sums or of all instances at once; and evaluations: statistics of systems."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from sigjax.records.display import ShortRepr
from sigjax.records.options import Hint, InputError
from sigjax.records.settings import Count, Score, Unit


@dataclass(frozen=True)
class Metric:
    """A number computed from sums of per-instance statistics.

    `score(sums [..., stat]) -> [...]` uses array operators, so that it works for NumPy and JAX arrays;
    `extract(*columns [instance]) -> [instance, stat]` computes the statistics of each instance from the columns of a
    file.

    Attributes:
        name: the name in reports.
        score: a function from sums of the statistics to the score, as above.
        stat_names: [stat] names of the statistics.
        extract: a function from columns to statistics, as above.
        inputs: names of the columns that `extract` takes, in order.
        higher_is_better: whether the larger of two scores is the better.
        shared_inputs: inputs that are the same for all systems (such as a gold size).
        optional_inputs: inputs that may be missing for some instances; `extract` then gets NaN.
        portable: whether `score` rounds in the same way in NumPy and on every device. It may have sums, differences and
            one quotient, but no product that a compiler may fuse with a sum, and no root, power or logarithm. If in
            doubt, leave it False: NumPy then computes bootstrap scores.
        bounds: the lowest and the highest possible score. Intervals from Student's t distribution are cut at these
            bounds.
        title: the name in papers, for the metrics of sigjax. Reports show your own metrics under their `name`.
        weight: the name of the statistic that is the weight of each row (run of an instance) in the score. It is needed
            if instances have equal weights, but their rows have unequal weights. The weights are the same for all
            systems. Degrees of freedom use them.
    """

    name: str
    score: Score
    stat_names: tuple[str, ...]
    extract: Callable[..., np.ndarray]
    inputs: tuple[str, ...]
    higher_is_better: bool = True
    shared_inputs: tuple[str, ...] = ()
    optional_inputs: tuple[str, ...] = ()
    portable: bool = False
    bounds: tuple[float, float] = (-math.inf, math.inf)
    title: str = ""
    weight: str = ""

    def __post_init__(self) -> None:
        """Refuse a `weight` that is not the name of a statistic."""
        if self.weight not in ("", *self.stat_names):
            raise InputError(
                f"metric {self.name!r}: weight {self.weight!r} is no statistic; expected one of "
                f"{', '.join(self.stat_names)}, or '' for none"
            )


def stack_inputs(*columns: np.ndarray) -> np.ndarray:
    """Put columns `[instance]` side by side as `[instance, stat]`, unchanged."""
    return np.stack(columns, axis=-1)


Standard = Literal["none", "center", "zscore", "rank"]
"""How the values of an input are changed before they are swapped between systems: not at all, minus their mean, to
z-scores, or to ranks."""


@dataclass(frozen=True)
class SampleMetric:
    """A number computed from all instances at once, if sums do not suffice: a median, a correlation, an area.

    `function(*columns)` takes one float64 array `[instance]` for each input and returns a number. It may use NumPy,
    `jax.numpy` or the operators of the arrays. It must not depend on the order of the instances. If `weighted` is true,
    it is `function(*columns, weights)`, where `weights` `[instance]` (float64) are the numbers of times that each
    instance is drawn (0 or more). The result must be the score of the instances, each repeated as often as it is drawn.
    If the function sorts, weights are faster, because all resamples then have the same columns. If `jax.vmap` accepts
    the function, it is compiled.

    Attributes:
        name: the name in reports.
        function: a function from columns, or from columns and weights, to the score, as above.
        inputs: names of the columns, in order.
        weighted: whether the function takes weights.
        vectorized: whether the function takes weights `[..., instance]` of many resamples and returns their scores
            `[...]`. Each call is then for many resamples, and calls run in threads. So work that does not depend on the
            weights, such as sorting, is done once per call.
        higher_is_better: whether the larger of two scores is the better.
        shared_inputs: inputs that are the same for all systems (such as a gold label).
        extract: `extract(*columns [instance]) -> [instance, input]`, which may check or change the columns.
        standardize: one of "none", "center" (minus the mean), "zscore" and "rank" for each input, or () for none: how
            the column of each system is put on a common scale before instances are exchanged or drawn. The score must
            not depend on this change. Without it, the permutation p-value of a score that ignores the scale of a
            system's values would still depend on that scale.
        rounding: `rounding(*columns) -> float`: a bound on the rounding error of the score, for any selection of
            instances from the (standardized) columns. Deltas are ties if they differ by less than four such bounds. If
            None, the bound is measured on some resamples of the data. It is then 64 times the largest difference
            between scores of the same instances in two orders, plus 64 machine epsilons of the largest score.
        title: as for a `Metric`.

    Example:
        >>> spread = SampleMetric("spread", lambda x: x.max() - x.min(), ("value",))
        >>> from sigjax import Evaluation
        >>> Evaluation.from_arrays({"A": [3, 7, 5], "B": [4, 4, 5]}, metric=spread).metric.name
        'spread'
    """

    score: ClassVar[None] = None
    """Always None, because a `SampleMetric` is not a function of sums. So this field distinguishes it from a
    `Metric`."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    _: KW_ONLY
    weighted: bool = False
    vectorized: bool = False
    higher_is_better: bool = True
    shared_inputs: tuple[str, ...] = ()
    extract: Callable[..., np.ndarray] = stack_inputs
    standardize: tuple[Standard, ...] = ()
    rounding: Callable[..., float] | None = None
    title: str = ""

    optional_inputs: ClassVar[tuple[str, ...]] = ()

    @property
    def stat_names(self) -> tuple[str, ...]:
        """The names of the numbers that an evaluation has for each instance: the names of the inputs."""
        return self.inputs


AnyMetric = str | Metric | SampleMetric | Score
"""A metric as users may give it: a name, a record, or a function of sums `[..., stat] -> [...]`."""


class Note(str):
    """A sentence that readers of a report should know, with a code and numbers for programs.

    Attributes:
        about: the name of the note's metric or task, which precedes the text with a colon; "" if there is none.
        text: the sentence without this prefix.
        code: the kind of note, for programs: "best", "discoveries", "dropped", "exchangeable", "filled", "fixed",
            "labels", "noise", "pairwise", "sacrebleu", "trained", "trec_eval", "wins"; "" if programs do not need it.
        values: the numbers in the sentence, by name.

    >>> note = Note("dropped 2 of 9 instances", code="dropped", values={"instances": 9, "dropped": 2})
    >>> Note.after("bleu", note), note.values["dropped"]
    ('bleu: dropped 2 of 9 instances', 2)
    """

    about: str
    text: str
    code: str
    values: Mapping[str, float]

    def __new__(cls, text: str, *, about: str = "", code: str = "", values: Mapping[str, float] | None = None) -> Note:
        """Make a note from its text, its metric or task (`about`), its code and its values."""
        note = super().__new__(cls, f"{about}: {text}" if about else text)
        note.about, note.text, note.code, note.values = about, text, code, values or {}
        return note

    @classmethod
    def after(cls, name: str, note: str) -> Note:
        """Return a note with the name of a metric or task in front."""
        code, values = (note.code, note.values) if isinstance(note, Note) else ("", None)
        return cls(note, about=name, code=code, values=values)

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """Return the arguments that make the note, for pickle."""
        return (self.text,), {"about": self.about, "code": self.code, "values": self.values}


@dataclass(frozen=True)
class NoteData:
    """The code and the values of one note, for programs; a JSON report has them in addition to the notes.

    `note` is the index of the note in the report, from 0.
    """

    note: Count
    about: str
    code: str
    values: dict[str, float]


def facts_of(notes: Iterable[str]) -> list[NoteData]:
    """Return the code and the values of each note that has a code."""
    coded = ((index, note) for index, note in enumerate(notes) if isinstance(note, Note) and note.code)
    return [NoteData(index, note.about, note.code, _as_written(note.values)) for index, note in coded]


def _as_written(values: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers as they are written in JSON: whole numbers without a decimal point."""
    return {name: int(value) if float(value).is_integer() else value for name, value in values.items()}


def with_facts(notes: Iterable[str], facts: Iterable[NoteData]) -> tuple[str, ...]:
    """Return the notes with their codes and values, which were saved as `facts`.

    Raise `ValueError` if a fact belongs to a note that does not exist, or that is about another metric or task.
    """
    found = list(notes)
    for fact in facts:
        before = f"{fact.about}: " * bool(fact.about)
        if not 0 <= fact.note < len(found) or not found[fact.note].startswith(before):
            raise ValueError(f"fact of note {fact.note}")
        text = found[fact.note].removeprefix(before)
        found[fact.note] = Note(text, about=fact.about, code=fact.code, values=_as_written(fact.values))
    return tuple(found)


class SampleSize(NamedTuple):
    """The number of different instances, and the fewest and the most runs of an instance; None if there are no runs."""

    instances: int
    runs: tuple[int, int] | None = None

    def __str__(self) -> str:
        """Return the number of runs of an instance for a signature: `5`, or `1-5` if it varies; empty without runs."""
        return "-".join(map(str, dict.fromkeys(self.runs or ())))


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationRecord(ShortRepr):
    """The statistics of several systems on the same instances, for one metric.

    See `sigjax.Evaluation` for the fields.
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
    title: str | None = None
    weights: np.ndarray | None = None
    present: np.ndarray | None = None

    def __eq__(self, other: object) -> bool:
        """Whether the other evaluation has the same numbers, names, labels and metric."""
        if not isinstance(other, EvaluationRecord):
            return NotImplemented
        pairs = ((getattr(self, one.name), getattr(other, one.name)) for one in fields(EvaluationRecord) if one.compare)
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        """Hash the names and the shape, so that equal evaluations have equal hashes."""
        return hash((self.systems, self.metric.name, self.stats.shape))

    @property
    def num_instances(self) -> int:
        """The number of results of each system, where each run of an instance counts.

        In `size`, each instance counts once.
        """
        return self.stats.shape[1]

    @property
    def unit_labels(self) -> tuple[str, ...] | None:
        """The unit of each result: its cluster, or its instance if there are runs; None if each result is a unit."""
        return self.clusters or (None if self.runs is None else self.ids)

    @property
    def num_units(self) -> int:
        """The number of units, which are swapped or drawn as a whole: clusters, or instances with all their runs."""
        return self.num_instances if self.unit_labels is None else len(set(self.unit_labels))

    @property
    def size(self) -> SampleSize:
        """The number of different instances, and the fewest and the most runs of an instance (None without runs)."""
        if self.runs is None:
            return SampleSize(self.num_instances)
        runs = Counter(self.ids or ()).values()
        return SampleSize(len(runs), (min(runs), max(runs)))

    def check_complete(self) -> None:
        """Raise `InputError` if results of some system are missing."""
        if self.present is not None:
            raise InputError(
                "missing pairwise is for the tests of `compare` alone, and here every system needs every instance; use "
                f"{Hint('missing', 'drop')} or {Hint('missing', 'zero')}"
            )

    def brief(self) -> dict[str, Any]:
        """Return a dict with the systems, the metric, and the numbers of instances, clusters, strata and runs."""
        counts = {name: getattr(self, name) for name in ("clusters", "strata", "runs")}
        counts = {name: len(set(labels)) for name, labels in counts.items() if labels is not None}
        named = {"systems": self.systems, "metric": self.metric.name, "instances": self.size.instances}
        return named | counts | ({"unit": self.unit} if self.unit != "instance" else {})


def data_hash(evaluations: Sequence[EvaluationRecord]) -> str:
    """Return the first 16 hexadecimal digits of a SHA-256 hash of the evaluations, without notes and functions.

    >>> from sigjax import Evaluation
    >>> data_hash([Evaluation.from_arrays({"A": [1, 0, 1], "B": [0, 0, 1]})])
    '7707a855038354e9'
    """
    digest = hashlib.sha256()
    for each in evaluations:
        labels = (each.metric.name, each.metric.stat_names, each.systems, each.ids, each.clusters, each.strata)
        labels += () if each.runs is None else (each.runs,)
        labels += () if each.unit == "instance" else (each.unit,)
        labels += () if each.present is None else (np.packbits(each.present).tobytes().hex(),)
        stats = np.ascontiguousarray(each.stats, each.stats.dtype.newbyteorder("<"))
        digest.update(json.dumps((*labels, stats.dtype.str, stats.shape)).encode())
        digest.update(stats.data)
    return digest.hexdigest()[:16]


def in_suite(metric: str, title: str | None) -> bool:
    """Whether a metric with this name and this title belongs to a suite: it is a task of the suite, or the suite."""
    return title == metric or is_pooled(metric, title)


def is_pooled(metric: str, title: str | None) -> bool:
    """Whether a metric with this name and this title is a suite, scored by the mean of the task means.

    >>> is_pooled("suite: acc", "suite: acc, mean of 3 tasks"), in_suite("arc: acc", "arc: acc"), in_suite("acc", None)
    (True, True, False)
    """
    return (title or "").startswith(f"{metric}, mean of ")
