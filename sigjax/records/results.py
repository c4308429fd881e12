"""Results: the comparison of one pair by one test, the score of one system, the table of pairs, and the report.

`Comparisons` carries the columns of all pairs from the test to the report: one `Column` per field of `Comparison`. It
makes records on demand. Each field declares its type, and the bounds (`Bounds`) that its values must satisfy when they
are written or read. `sigjax.report.Report` adds the output formats to the fields of a report. A report can also compute
how the delta of two systems varies over swaps or resamples (`Distribution`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from types import NoneType
from typing import Any, Literal, Self, get_args, overload

import numpy as np

from sigjax.records.display import OtherNames, SciPyNames, ShortRepr, html_table, shortened
from sigjax.records.metric import EvaluationRecord, in_suite
from sigjax.records.options import InputError, types_of
from sigjax.records.settings import (
    Count,
    Interval,
    IntervalName,
    Letters,
    Log10,
    Number,
    Probabilities,
    Probability,
    Settings,
    Size,
    Test,
)
from sigjax.version import versions


@dataclass(frozen=True, repr=False)
class Comparison(SciPyNames, OtherNames, ShortRepr):
    """One pair of systems, one metric, one test.

    Attributes:
        a: name of the first system.
        b: name of the second system. If there is a baseline, b is the baseline.
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        score_a: score of a.
        score_b: score of b.
        delta: score_a - score_b; 0 if the scores are equal up to rounding.
        better: the system with the better score (lower, if lower is better); None if the scores are equal.
        p_value: p-value of this pair alone.
        log10_p: log10 of the p-value; accurate even if `p_value` is below the smallest double.
        p_interval: Clopper-Pearson interval, at the report's level, for the p-value of infinitely many resamples. For
            resamples="auto": the bounds at which the test stopped; with probability 0.999 they hold for all pairs
            simultaneously. For an exact test that computes bounds on p: these bounds; the upper bound is `p_value`. For
            the method "tilted": an approximate interval, from the standard error of log p. Otherwise None.
        p_adjusted: p-value adjusted over all pairs of the `family` (of the metric, or of the report); for the
            correction "maxt" at least 1 / (resamples + 1), even if `p_value` is exact.
        log10_p_adjusted: log10 of the adjusted p-value; accurate even if `p_adjusted` is below the smallest double.
        error_bound: bound on the relative error of an exact p-value. None for Monte Carlo.
        method: "exact", "dp" or "tree" (exact too), "montecarlo", or "tilted" (importance sampling: no Monte Carlo
            resample was as extreme as observed, and weighted resamples estimate p, see `testing.tilted`).
        reason: why this method was used.
        resamples: number of resamples behind the p-value (for "auto", the number at which the pair stopped). None if
            the p-value is exact.
        exceed: number of resamples at least as extreme as the observed delta; None if the p-value is exact.
        settings: the settings of the report.
        decided: whether infinitely many resamples would give the same decision (significant or not, after the
            correction). The probability that this is wrong for any decided pair in the family is at most 0.001. None if
            the decision does not depend on resamples (all p-values are exact, and the correction is not "maxt").
        resamples_needed: the smallest of 1, 2, 3 and 5 times a power of ten that should suffice to decide the pair, if
            the rate of extreme resamples stays the same; None if the pair is decided, or if 1,000,000,000 would not
            suffice.
        standard_error: standard error of delta. For the intervals "auto" and "simultaneous" it is computed with the
            jackknife. (For a mean, this is the standard deviation with ddof = 1, divided by the root of the number of
            units.) For "two-way" it is the standard error of the interval. For other intervals, for a `SampleMetric`
            and for design "nested", it is computed with the bootstrap (ddof = 1; without sampling, the limit for
            infinitely many resamples). None if there is one unit, or for interval="none".
        standard_error_unclustered: standard error of delta as if instances (with all their runs) were independent,
            computed with the delta method, for the same design. The comparison with `standard_error` shows the effect
            of clusters. None without clusters, for a `SampleMetric`, and without a standard error.
        interval: confidence interval for delta, of the kind in the settings, at the report's level: for this pair
            alone, or simultaneous with other intervals (`joint_pairs`). None without a standard error. For "auto" and
            "simultaneous", None if no stratum has two units. For "bca", None if all replicates (deltas on resamples)
            lie on one side of delta. For "studentized", None if many replicates have a standard error of 0.
        interval_kind: the kind of the interval: the requested kind; for "auto" and "simultaneous" it is "tango"
            (right-or-wrong answers), "conservative-t" or "percentile"; see `compare`. For "auto" and simultaneous
            intervals it is "simultaneous" in place of "percentile". None without an interval.
        joint_pairs: the number of deltas, including this delta, whose intervals are simultaneous at the report's level;
            1 if the interval is for this pair alone. For "auto" and "two-way" it counts the pairs whose p-values are
            adjusted together, if the correction bounds the family-wise error: each interval in closed form is then at
            the level 1 - (1 - level) / joint_pairs. None without an interval.
    """

    _elsewhere = {
        **dict.fromkeys(("confidence_interval", "ci", "conf_int"), "interval"),
        **dict.fromkeys(("significant", "is_significant", "reject"), "p_adjusted < 0.05"),
        **{"effect_size": "delta", "winner": "better", "summary": "print(report)", "p": "p_value"},
    }

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
    method: Literal["exact", "dp", "tree", "montecarlo", "tilted"]
    reason: str
    resamples: Number | None
    exceed: Count | None
    settings: Settings
    decided: bool | None = None
    resamples_needed: Number | None = None
    standard_error: Size | None = None
    standard_error_unclustered: Size | None = None
    interval: Interval | None = None
    interval_kind: IntervalName | None = None
    joint_pairs: Number | None = None

    @property
    def statistic(self) -> float:
        """`delta`, under the name of SciPy's results."""
        return self.delta

    def turned(self) -> Comparison:
        """The comparison with a and b exchanged: delta is score_b - score_a, and the interval changes likewise.

        Raises:
            InputError: the test is one-sided, so its p-values do not apply to the other direction.
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
        """Return a dict with the pair, the metric, the test and the main results."""
        names = ["a", "b", "metric", "test", "delta", "interval", "p_value", "p_adjusted", "method"]
        if self.log10_p < -300:
            names[6:8] = ["log10_p", "log10_p_adjusted"]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, repr=False)
class SystemScore(ShortRepr):
    """The score of one system by one metric.

    Attributes:
        name: name of the system.
        metric: name of the metric.
        score: the score on all instances.
        standard_error: standard error of the score, as in `Comparison`.
        standard_error_unclustered: standard error of the score if instances were independent, as in `Comparison`.
        interval: confidence interval for the score, as in `Comparison`; for "simultaneous", the intervals of all
            systems are simultaneous.
        interval_kind: as in `Comparison`: "wilson" (answers right or wrong), "hall-t" or "percentile".
        rank_interval: first and last rank compatible with the decisions on all pairs: 1 + the number of systems that
            are significantly better, and the number of systems that are not significantly worse. With permutation tests
            and a correction that bounds the familywise error, the intervals of all systems are right simultaneously,
            with the report's level. `rank_interval`, `letters`, `rank_cluster` and `in_top_group` come from the first
            test; they are None if there is a baseline, or if tests are one-sided.
        letters: two systems share a letter if and only if they do not differ significantly. None for more than 100
            systems, if 52 letters do not suffice, and if `rank_interval` is None.
        rank_cluster: the number of the system's cluster, from 1. Every system of a cluster is significantly better than
            all systems of later clusters.
        in_top_group: whether no system is significantly better, so that this system may be the best. With permutation
            tests and a correction that bounds the familywise error, the group contains every truly best system with a
            probability of at least the level.
        bootstrap_ranks: percentile interval, at the report's level, of the system's rank among all systems on a
            bootstrap resample (in ties, the best rank for the low end and the worst rank for the high end). It shows
            how stable a rank is. For the true rank of nearly equal systems this interval is too narrow: use
            `rank_interval`. None without leaderboard=True, if there is one unit, and if memory is too small for
            replicates.
    """

    name: str
    metric: str
    score: float
    standard_error: Size | None = None
    standard_error_unclustered: Size | None = None
    interval: Interval | None = None
    interval_kind: IntervalName | None = None
    rank_interval: tuple[Number, Number] | None = None
    letters: Letters | None = None
    rank_cluster: Number | None = None
    in_top_group: bool | None = None
    bootstrap_ranks: tuple[Number, Number] | None = None

    def brief(self) -> dict[str, Any]:
        """Return a dict with the score, its standard error and interval, and the ranks if there are any."""
        names = ("name", "metric", "score", "standard_error", "interval")
        ranks = ("rank_interval", "letters", "rank_cluster", "in_top_group")
        values = {name: getattr(self, name) for name in (*names, *ranks)}
        return {name: value for name, value in values.items() if name in names or value is not None}


_BLOCK = 2**12
"""Iterating over `Comparisons` makes blocks of at most this many records."""
_SHOWN = 20
"""A notebook shows at most this many pairs."""


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """The values of one field in all rows: numbers, both ends of intervals, or names and other values that repeat.

    Attributes:
        values: numbers `[row]` (float64 or int64), intervals `[row, 2]` (float64), or, if there are labels, indices of
            labels `[row]`. In rows without a value, they are NaN or 0.
        present: mask `[row]`, true for rows that have a value; None if all rows have a value.
        labels: the different values, to which the indices in `values` refer; None for numbers and intervals.
    """

    values: np.ndarray
    present: np.ndarray | None = None
    labels: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, values: Iterable[Any], held_as: type = object) -> Column:
        """Make a column from `values`: each has the type `held_as` (object: any hashable type), or is None."""
        values = list(values)
        present = _unless_all(np.array([value is not None for value in values], bool))
        if held_as is not object:
            filler = {float: math.nan, int: 0, Interval: (math.nan, math.nan)}[held_as]
            numbers = [filler if value is None else value for value in values]
            array = np.array(numbers, np.int64 if held_as is int else np.float64)
            return cls(array.reshape(-1, 2) if held_as is Interval else array, present)
        indices: dict[Any, int] = {}
        codes = [0 if value is None else indices.setdefault(value, len(indices)) for value in values]
        return cls(np.array(codes, np.int32), present, tuple(indices))

    @classmethod
    def constant(cls, value: Any, count: int) -> Column:
        """Make a column with the same value in every row."""
        return cls(np.zeros(count, np.int8), None, (value,))

    @classmethod
    def unless_nan(cls, values: np.ndarray) -> Column:
        """Make a column of numbers `[row]`, or of intervals `[row, 2]`, in which NaN means that a row has no value."""
        return cls(values, _unless_all(~np.isnan(values if values.ndim == 1 else values[:, 0])))

    @classmethod
    def joined(cls, columns: Sequence[Column]) -> Column:
        """Join columns: the rows of the first column, then the rows of the second column, and so on."""
        present, values, labels = None, [column.values for column in columns], columns[0].labels
        if any(column.present is not None for column in columns):
            present = np.concatenate([column.where_present for column in columns])
        if labels is not None and any(column.labels != labels for column in columns):
            codes: dict[Any, int] = {}
            for number, column in enumerate(columns):
                of_labels = [codes.setdefault(label, len(codes)) for label in column.labels or (None,)]
                values[number] = np.array(of_labels, np.int32)[column.values]
            labels = tuple(codes)
        return cls(np.concatenate(values), present, labels)

    def at(self, rows: Any) -> Column:
        """Return the column for some rows, given as indices, a mask or a slice."""
        present = None if self.present is None else _unless_all(self.present[rows])
        return Column(self.values[rows], present, self.labels)

    @property
    def where_present(self) -> np.ndarray:
        """Return a mask `[row]`, true for rows that have a value."""
        return np.ones(len(self.values), bool) if self.present is None else self.present

    def known_values(self) -> np.ndarray:
        """Return the numbers of the rows that have a value."""
        return self.values if self.present is None else self.values[self.present]

    def distinct(self) -> tuple[Any, ...]:
        """Return the labels that occur, in the order of `labels`."""
        labels = self.labels or ()
        counts = np.bincount(self.known_values(), minlength=len(labels))
        return tuple(label for label, count in zip(labels, counts, strict=True) if count)

    def mapped(self, function: Callable[[Any], Any]) -> np.ndarray:
        """Return the results `[row]` of the function for the label of each row, or for None if the row has no value."""
        labels = self.labels or ()
        if self.present is None:
            return np.array([function(label) for label in labels])[self.values]
        codes = np.where(self.present, self.values, len(labels))
        return np.array([function(label) for label in (*labels, None)])[codes]

    def value(self, row: int) -> Any:
        """Return the value of a row, converted to the type of the record's field."""
        if self.present is not None and not self.present[row]:
            return None
        value = self.values[row].tolist()
        if self.labels is not None:
            return self.labels[value] if self.labels else None
        return Interval(*value) if isinstance(value, list) else value

    def tolist(self) -> list[Any]:
        """Return the value of each row, converted to the type of the record's field."""
        if self.labels is not None:
            values = [self.labels[code] for code in self.values.tolist()] if self.labels else [None] * len(self.values)
        elif self.values.ndim == 2:
            values = [Interval(low, high) for low, high in self.values.tolist()]
        else:
            values = self.values.tolist()
        if self.present is None:
            return values
        return [value if there else None for value, there in zip(values, self.present.tolist(), strict=True)]


def _unless_all(present: np.ndarray) -> np.ndarray | None:
    return None if present.all() else present


def _held_as(annotation: Any) -> type:
    """Return the type with which a column stores values of this annotation: float, int or `Interval`, else object.

    The values may also be None, which does not change the type.
    """
    members = {annotation, *get_args(annotation)} - {NoneType}
    return next((kept for kept in (float, int, Interval) if members in ({kept}, {annotation, kept})), object)


FIELDS = {field.name: _held_as(types_of(Comparison)[field.name]) for field in fields(Comparison)}
"""A dict from each field of `Comparison` to the type with which a column stores it: float, int, `Interval`, or object
(for any other type, such as text)."""


class Columns:
    """A table that is stored as named columns. Its rows are pairs of systems (`Comparisons`), or systems.

    Columns are added in stages, with `with_columns`: first by the tests, then by corrections and ranks.

    Args:
        columns: a dict from name to column. All columns have equally many rows.

    Example:
        >>> tested = Columns({"score": Column(np.array([0.5, 0.7])), "name": Column.of(["A", "B"])})
        >>> ranked = tested.at([1, 0]).with_columns({"rank": Column.of([1, 2], int)})
        >>> ranked.values("name"), ranked.values("rank"), Columns.joined([tested, tested]).distinct("name")
        (['B', 'A'], [1, 2], [('A',), ('B',)])
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)

    @classmethod
    def joined(cls, tables: Sequence[Self]) -> Self:
        """Join tables: the rows of the first table, then the rows of the second table, and so on."""
        if len(tables) == 1:
            return tables[0]
        return cls({name: Column.joined([table.column(name) for table in tables]) for name in tables[0]._columns})

    def with_columns(self, columns: Mapping[str, Column] | Columns) -> Self:
        """Return the same rows, with these columns added or replaced."""
        return type(self)({**self._columns, **(columns._columns if isinstance(columns, Columns) else columns)})

    def with_rows(self, rows: np.ndarray, columns: Columns) -> Self:
        """Replace values in the rows with the indices `rows`; `columns` has the new values of some columns."""
        rest = np.delete(np.arange(len(self)), rows)
        order = np.argsort(np.concatenate([rest, rows]))
        others = self.at(rest)
        return self.with_columns(
            {name: Column.joined([others.column(name), each]).at(order) for name, each in columns._columns.items()}
        )

    def only(self, names: Iterable[str]) -> Self:
        """Return the same rows, with only these columns."""
        return type(self)({name: self._columns[name] for name in names})

    def column(self, name: str) -> Column:
        """Return the column of a field."""
        return self._columns[name]

    def columns(self, *names: str) -> list[Column]:
        """Return the columns of several fields."""
        return [self._columns[name] for name in names]

    def values(self, name: str) -> list[Any]:
        """Return the values of a field, converted to the type of the record's field."""
        return self._columns[name].tolist()

    def arrays(self, *names: str) -> list[np.ndarray]:
        """Return the numbers of several fields; they are NaN or 0 in rows without a value."""
        return [self._columns[name].values for name in names]

    def distinct(self, *names: str) -> list[tuple[Any, ...]]:
        """Return the different rows of these columns, as tuples of labels; every row must have a value."""
        labels = [column.labels or () for column in self.columns(*names)]
        codes = np.unique(np.ravel_multi_index(self.arrays(*names), [len(each) for each in labels]))
        places = zip(*(each.tolist() for each in np.unravel_index(codes, [len(each) for each in labels])), strict=True)
        return [tuple(of[place] for of, place in zip(labels, row, strict=True)) for row in places]

    def at(self, rows: Any) -> Self:
        """Return some of the rows, given as indices, a mask or a slice."""
        return type(self)({name: column.at(rows) for name, column in self._columns.items()})

    def has_method(self, name: str) -> np.ndarray:
        """Return a mask `[pair]` of the pairs that were tested by this method."""
        return self._columns["method"].mapped(lambda method: method == name)

    def records(self, kind: type[Any]) -> Iterator[Any]:
        """Yield the rows as records of the type `kind`, whose fields are the columns."""
        return map(kind, *(self.values(field.name) for field in fields(kind)))

    def __len__(self) -> int:
        """Count the rows."""
        return len(next(iter(self._columns.values())).values)


class Comparisons(Columns, Sequence[Comparison]):
    """A sequence of `Comparison` records that holds its fields as columns.

    Indexing and iterating give records; slices give `Comparisons`. Two sequences are equal if they hold equal records.
    The names of two systems as an index give the comparison of the pair; add the metric and the test if there are
    several. A leaderboard of thousands of systems has millions of pairs. A pair takes about 180 bytes in columns, and
    three to five times as much as a record. `column` returns all values of a field, `arrays` the numbers of several
    fields.

    Records can be made only when all fields have columns.

    Args:
        columns: a dict from the fields of `Comparison` to columns. All columns have equally many rows.

    Example:
        >>> from sigjax import Evaluation, compare
        >>> comparisons = compare(Evaluation.from_arrays({"A": [3, 4, 5], "B": [1, 1, 2], "C": [3, 4, 4]})).comparisons
        >>> len(comparisons), comparisons[0].b, [one.a for one in comparisons[1:]]
        (3, 'B', ['A', 'B'])
        >>> comparisons.column("p_value").values.min()
        np.float64(0.25)
    """

    @classmethod
    def of(cls, records: Iterable[Comparison]) -> Comparisons:
        """Make the sequence of these records."""
        records = list(records)
        return cls.of_values({name: [getattr(one, name) for one in records] for name in FIELDS})

    @classmethod
    def of_values(cls, values: Mapping[str, Sequence[Any]]) -> Comparisons:
        """Make a sequence of comparisons from `values`, a dict from each field of `Comparison` to its values."""
        return cls({name: Column.of(values[name], FIELDS[name]) for name in FIELDS if name in values})

    def groups(self) -> dict[tuple[str, Test], Comparisons]:
        """Return a dict from (metric, test) to the comparisons by this metric and test.

        If the comparisons are consecutive rows, their arrays are views, not copies.
        """
        metrics, tests = self.column("metric"), self.column("test")
        metric_names, test_names, groups = metrics.labels or (), tests.labels or (), {}
        codes = len(test_names) * metrics.values.astype(np.int32) + tests.values
        for code in np.flatnonzero(np.bincount(codes)).tolist():
            rows = np.flatnonzero(codes == code)
            together = rows[-1] - rows[0] == len(rows) - 1
            key = metric_names[code // len(test_names)], test_names[code % len(test_names)]
            groups[key] = self.at(slice(rows[0], rows[-1] + 1) if together else rows)
        return groups

    def blocks(self, size: int) -> Iterator[Comparisons]:
        """Yield the comparisons in blocks of this size."""
        return (self[start : start + size] for start in range(0, len(self), size))

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> Comparisons: ...
    @overload
    def __getitem__(self, index: tuple[str, ...]) -> Comparison: ...
    def __getitem__(self, index: int | tuple[str, ...] | slice) -> Comparison | Comparisons:
        """Return the record at an index, or the record of two systems (in this order), or the comparisons of a slice.

        Raises:
            InputError: a name is unknown, or there are several comparisons of the two systems.
        """
        if isinstance(index, slice):
            return self.at(index)
        if isinstance(index, tuple | str):
            return self._of_pair(index)
        row = range(len(self))[index]  # raises IndexError like other sequences
        return Comparison(*(self._columns[name].value(row) for name in FIELDS))

    def __iter__(self) -> Iterator[Comparison]:
        """Go through the records."""
        for block in self.blocks(_BLOCK) if len(self) > _BLOCK else (self,):
            yield from block.records(Comparison)

    def __eq__(self, other: object) -> bool:
        """Whether the other sequence holds equal records."""
        if not isinstance(other, Comparisons):
            return NotImplemented
        return len(self) == len(other) and all(self.values(name) == other.values(name) for name in FIELDS)

    def __hash__(self) -> int:
        """Hash the p-values, so that equal sequences have equal hashes."""
        return hash(tuple(self.values("p_value")))

    def __repr__(self) -> str:
        """Return a line with the number of comparisons and the first record."""
        first = f", the first {self[0]!r}" if len(self) else ""
        return f"<Comparisons: {len(self):,}{first}>"

    def _repr_html_(self) -> str:
        """Return the first pairs as a table, for notebooks."""
        rows = [one.brief() for one in self[:_SHOWN]]
        names = list(dict.fromkeys(name for row in rows for name in row))
        table = html_table(names, [[shortened(row.get(name)) for name in names] for row in rows])
        return f"{table}<p>{min(_SHOWN, len(self))} of {len(self):,} comparisons</p>\n"

    def _of_pair(self, key: str | tuple[str, ...]) -> Comparison:
        """Return the comparison of two systems, turned so that delta is the first system's score minus the second's."""
        one = self[self.row(key)]
        return one if one.a == key[0] else one.turned()

    def row(self, key: str | tuple[str, ...]) -> int:
        """The row number of the comparison of two systems.

        `key` has the names of the systems, in any order. The names of a metric and a test may follow.

        Raises:
            InputError: as for `comparisons[key]`.
        """
        if not isinstance(key, tuple) or not 2 <= len(key) <= 4:
            raise InputError(f'expected a number or two systems, as in report[0] or report["A", "B"], got {key!r}')
        (a, b, *narrower), (metrics, tests) = key, [self.column(name).distinct() for name in ("metric", "test")]
        for name in (a, b):
            _check_known(name, [*self.column("a").distinct(), *self.column("b").distinct()], "system")
        rows = self._rows(a=a, b=b) | self._rows(a=b, b=a)
        for name in narrower:
            _check_known(name, [*metrics, *tests], "metric or test")
            rows &= self._rows(test=name) if name in tests else self._rows(metric=name)
        indices = np.flatnonzero(rows).tolist()
        if len(indices) > 1:
            names = [self.at(indices).column(name).distinct() for name in ("metric", "test")]
            several = [values for values in names if len(values) > 1]
            words = " and ".join(f"one of {', '.join(map(repr, values))}" for values in several)
            example = [*key, *(values[0] for values in several)]
            raise InputError(f"{a!r} and {b!r} have {len(indices)} comparisons: add {words}, as in report{example}")
        if not indices:
            raise InputError(f"{a!r} and {b!r} are not compared in this report")
        return indices[0]

    def _rows(self, **names: str) -> np.ndarray:
        """Return a mask `[row]` of the rows that have the given value in every column (`column=value`)."""
        return np.logical_and.reduce([self.column(name).mapped(value.__eq__) for name, value in names.items()])


def _check_known(name: str, known: Iterable[str], what: str) -> None:
    """Raise `InputError` if the name is not among the known names; `what` is the noun for it."""
    known = list(dict.fromkeys(known))
    if name not in known:
        close = get_close_matches(name, known) or known[:12]
        raise InputError(f"no {what} {name!r}; did you mean {' or '.join(map(repr, close))}?")


@dataclass(frozen=True)
class Measured:
    """The task and the sizes of the data of one metric in a report, if the data name a task.

    Attributes:
        metric: name of the metric in the report.
        title: what was measured, in the words of the program's log: "TASK: SCORE"; for a suite, how its score is
            computed.
        instances: number of instances.
        units: number of units (instances or clusters) that are swapped or drawn as a whole.
        runs: the fewest and the most runs of an instance; None without runs.
    """

    metric: str
    title: str
    instances: Number
    units: Number
    runs: tuple[Number, Number] | None = None

    @property
    def in_suite(self) -> bool:
        """Whether the metric is a suite, or a task of a suite."""
        return in_suite(self.metric, self.title)


@dataclass(frozen=True)
class Headline:
    """The result of the tests for a metric or task, as a sentence that follows from a report's other fields.

    Attributes:
        metric: name of the metric or task in the report.
        text: which system is best, which systems are not significantly worse, and how many are significantly worse. For
            two systems: whether they differ significantly, and by how much. If the tests differ in their result, a
            metric has one headline per test.
    """

    metric: str
    text: str


@dataclass(frozen=True, repr=False)
class Distribution(ShortRepr):
    """The delta of two systems under the null hypothesis of the permutation test, or on bootstrap resamples.

    Attributes:
        a: name of the first system.
        b: name of the second system.
        metric: name of the metric.
        test: "permutation": score_a - score_b after swaps of units, so centred at 0; "bootstrap": on bootstrap
            resamples, so centred near `observed`.
        observed: score_a - score_b on the data.
        edges: the edges of the bins of a histogram, one more than there are bins. All bins have the same width. A value
            on an edge belongs to the bin above.
        shares: probability of each bin. The sum is 1; an exact distribution may leave out 1e-9 at each end.
        extreme: the probability, in each bin, of deltas at least as extreme as the observed delta (for the test and its
            alternative): the shaded part of a histogram. The sum over all bins is the p-value if the distribution is
            exact, and exceed / resamples if it is sampled.
        resamples: number of resamples drawn, the first resamples of the report's seed; None for an exact distribution.
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
        """Return the distribution of the score of b minus the score of a."""
        edges, shares, extreme = (tuple(reversed(values)) for values in (self.edges, self.shares, self.extreme))
        turned = {"edges": tuple(0.0 - edge for edge in edges), "shares": shares, "extreme": extreme}
        return replace(self, a=self.b, b=self.a, observed=0.0 - self.observed, **turned)


_OF_PAIR = 'report["A", "B"].{} for the pair of systems A and B'
"""The advice if a user asks a report for an attribute that only comparisons have."""


@dataclass(frozen=True, repr=False)
class ReportRecord(OtherNames):
    """Scores, comparisons, and the settings that reproduce them; `sigjax.Report` explains the fields."""

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
        """Return all fields except the data, so that pickles are small and need no functions of the user."""
        return self.__dict__ | {"again": None, "compute_distribution": None, "evaluations": ()}

    def settings_dict(self) -> dict[str, Any]:
        """A dict of the settings, the sizes of the data, and their hash; `runs` is left out if there are no runs."""
        more = {"instances": self.num_instances, "units": self.num_units, "data": self.data}
        return asdict(self.settings) | more | ({"runs": self.runs} if self.runs else {})

    def distribution(self, a: str, b: str, *, metric: str | None = None, test: Test = "permutation") -> Distribution:
        """The distribution of a pair's delta under the null hypothesis, or (`test="bootstrap"`) on bootstrap resamples.

        It is computed from the data: exactly if that is quick, else from the first resamples of the seed (at most
        8,192, which take about a second).

        Args:
            a: the first system.
            b: the second system.
            metric: the metric; needed if the report has several metrics.
            test: "permutation" or "bootstrap", whether the report has this test or not.

        Raises:
            InputError: the report does not have the pair; or it has no data, because it was pickled or read from JSON;
                or there is no such distribution. (There is no bootstrap of one unit, of trained models and of
                responses, and there are no swaps of a studentized delta.)

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
