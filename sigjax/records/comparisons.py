"""Comparisons in columns: one array per field; records are made when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from types import NoneType
from typing import Any, NamedTuple, get_args, overload

import numpy as np

from sigjax.records.brief import html_table, shortened
from sigjax.records.comparison import Comparison
from sigjax.records.options import InputError, types_of
from sigjax.records.settings import Interval, Test

_BLOCK = 2**12
"""Records made at a time when iterating."""
_SHOWN = 20
"""Pairs that a notebook shows."""
_KINDS = {float: "number", float | None: "number", int | None: "count", Interval | None: "interval"}
"""How fields of these types are held; those of other types repeat few values."""
FIELDS = {field.name: _KINDS.get(types_of(Comparison)[field.name], "repeated") for field in fields(Comparison)}

_OPTIONAL = {name for name in FIELDS if NoneType in get_args(types_of(Comparison)[name])}


class Repeated(NamedTuple):
    """A column of few different values, such as names."""

    values: tuple[Any, ...]
    codes: np.ndarray
    """[row] indices into the values."""

    @classmethod
    def of(cls, values: Iterable[Any]) -> Repeated:
        """The column of these values, which are hashable."""
        indices: dict[Any, int] = {}
        codes = [indices.setdefault(value, len(indices)) for value in values]
        return cls(tuple(indices), np.array(codes, np.int32))

    @classmethod
    def joined(cls, parts: Sequence[Repeated]) -> Repeated:
        """One column after the other."""
        values = tuple(dict.fromkeys(value for part in parts for value in part.values))
        code = {value: index for index, value in enumerate(values)}
        codes = [np.array([code[value] for value in part.values], np.int32)[part.codes] for part in parts]
        return cls(values, np.concatenate(codes))

    @classmethod
    def constant(cls, value: Any, count: int) -> Repeated:
        """The column with one value in every row."""
        return cls((value,), np.zeros(count, np.int8))

    def mapped(self, function: Callable[[Any], Any]) -> np.ndarray:
        """The function of the value of each row, `[row]`."""
        return np.array([function(value) for value in self.values])[self.codes]

    def present(self) -> tuple[Any, ...]:
        """The values that occur."""
        counts = np.bincount(self.codes, minlength=len(self.values))
        return tuple(value for value, count in zip(self.values, counts, strict=True) if count)

    def at(self, rows: Any) -> Repeated:
        """The column of some rows."""
        return Repeated(self.values, self.codes[rows])

    def tolist(self) -> list[Any]:
        """The value of each row."""
        return [self.values[code] for code in self.codes.tolist()]


Column = np.ndarray | Repeated


class Comparisons(Sequence[Comparison]):
    """A sequence of `Comparison` records that holds its fields as columns.

    Indexing and iterating give records, slices give `Comparisons`; two are equal that hold equal records. Two names of
    systems, and where there are several the metric and the test, give the comparison of the pair. A board of
    thousands of systems has millions of pairs: in columns a pair takes some 100 bytes, and as a record ten times that.
    `column` gives the array of a field for code that wants them all.

    Args:
        columns: for each field of `Comparison`, in any order: `[row]` float64 for numbers (NaN is None, where the field
            may be None), `[row]` int64 for whole numbers (-1 is None), `[row, 2]` float64 for intervals (NaN is None),
            `Repeated` for all others. All have equally many rows.

    Example:
        >>> from sigjax import Evaluation, compare
        >>> comparisons = compare(Evaluation.from_arrays({"A": [3, 4, 5], "B": [1, 1, 2], "C": [3, 4, 4]})).comparisons
        >>> len(comparisons), comparisons[0].b, [one.a for one in comparisons[1:]], comparisons.column("p_value").min()
        (3, 'B', ['A', 'B'], np.float64(0.25))
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = {name: columns[name] for name in FIELDS}

    @classmethod
    def of(cls, records: Iterable[Comparison]) -> Comparisons:
        """The sequence of these records."""
        records = list(records)
        return cls({name: column_of([getattr(one, name) for one in records], kind) for name, kind in FIELDS.items()})

    @classmethod
    def joined(cls, parts: Sequence[Comparisons]) -> Comparisons:
        """One sequence after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls({name: _joined([part.column(name) for part in parts]) for name in FIELDS})

    def column(self, name: str) -> Any:
        """The column of a field, in the form of the arguments."""
        return self._columns[name]

    def values(self, name: str) -> list[Any]:
        """The values of a field as records hold them."""
        column, kind = self._columns[name], FIELDS[name]
        if kind == "interval":
            return [None if low != low else Interval(low, high) for low, high in column.tolist()]
        if kind == "count":
            return [None if value < 0 else value for value in column.tolist()]
        if kind == "number" and name in _OPTIONAL:
            return [None if value != value else value for value in column.tolist()]
        return column.tolist()

    def columns(self, *names: str) -> list[Any]:
        """The columns of several fields."""
        return [self._columns[name] for name in names]

    def groups(self) -> dict[tuple[str, Test], Comparisons]:
        """The comparisons of each metric and test; those that follow each other are views of the columns."""
        metrics, tests = self.columns("metric", "test")
        num_tests, groups = len(tests.values), {}
        codes = num_tests * metrics.codes.astype(np.int32) + tests.codes
        for code in np.flatnonzero(np.bincount(codes)).tolist():
            rows = np.flatnonzero(codes == code)
            together = rows[-1] - rows[0] == len(rows) - 1
            key = metrics.values[code // num_tests], tests.values[code % num_tests]
            groups[key] = self.at(slice(rows[0], rows[-1] + 1) if together else rows)
        return groups

    def blocks(self, size: int) -> Iterator[Comparisons]:
        """The comparisons in parts of this size."""
        return (self[start : start + size] for start in range(0, len(self), size))

    def at(self, rows: Any) -> Comparisons:
        """The comparisons of some rows: indices, or a slice."""
        return Comparisons(
            {name: each.at(rows) if isinstance(each, Repeated) else each[rows] for name, each in self._columns.items()}
        )

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> Comparisons: ...
    @overload
    def __getitem__(self, index: tuple[str, ...]) -> Comparison: ...
    def __getitem__(self, index: int | tuple[str, ...] | slice) -> Comparison | Comparisons:
        """The record at an index, or of two systems (in this order), or the comparisons of a slice.

        Raises:
            InputError: a name that is not here, or several comparisons of the two systems.
        """
        if isinstance(index, slice):
            return self.at(index)
        if isinstance(index, tuple | str):
            return self._of_pair(index)
        row = range(len(self))[index]  # raises the IndexError of a sequence
        return next(iter(self if len(self) == 1 else self.at(slice(row, row + 1))))

    def __len__(self) -> int:
        """Count the comparisons."""
        return len(self._columns["delta"])

    def __iter__(self) -> Iterator[Comparison]:
        """Go through the records."""
        for block in self.blocks(_BLOCK) if len(self) > _BLOCK else (self,):
            yield from map(Comparison, *(block.values(name) for name in FIELDS))

    def __eq__(self, other: object) -> bool:
        """Whether the other one holds equal records."""
        if not isinstance(other, Comparisons):
            return NotImplemented
        return len(self) == len(other) and all(self.values(name) == other.values(name) for name in FIELDS)

    def __hash__(self) -> int:
        """Equal sequences have equal hashes."""
        return hash(tuple(self.values("p_value")))

    def __repr__(self) -> str:
        """Name the number of pairs and the first record."""
        first = f", the first {self[0]!r}" if len(self) else ""
        return f"<Comparisons: {len(self):,}{first}>"

    def _repr_html_(self) -> str:
        """The first pairs as a table, for notebooks."""
        rows = [one.brief() for one in self[:_SHOWN]]
        names = list(dict.fromkeys(name for row in rows for name in row))
        table = html_table(names, [[shortened(row.get(name)) for name in names] for row in rows])
        return f"{table}<p>{min(_SHOWN, len(self))} of {len(self):,} comparisons</p>\n"

    def _of_pair(self, key: str | tuple[str, ...]) -> Comparison:
        """The comparison of two systems, turned so that it is of the first minus the second."""
        if not isinstance(key, tuple) or not 2 <= len(key) <= 4:
            raise InputError(f'expected a number or two systems, as in report[0] or report["A", "B"], got {key!r}')
        (a, b, *narrower), (metrics, tests) = key, [self.column(name).present() for name in ("metric", "test")]
        for name in (a, b):
            _check_known(name, [*self.column("a").present(), *self.column("b").present()], "system")
        rows = self._rows(a=a, b=b) | (turned := self._rows(a=b, b=a))
        for name in narrower:
            _check_known(name, [*metrics, *tests], "metric or test")
            rows &= self._rows(test=name) if name in tests else self._rows(metric=name)
        found = np.flatnonzero(rows).tolist()
        if len(found) > 1:
            left = [self.at(found).column(name).present() for name in ("metric", "test")]
            several = [each for each in left if len(each) > 1]
            words = " and ".join(f"one of {', '.join(map(repr, each))}" for each in several)
            example = [*key, *(each[0] for each in several)]
            raise InputError(f"{a!r} and {b!r} have {len(found)} comparisons: add {words}, as in report{example}")
        if not found:
            raise InputError(f"{a!r} and {b!r} are not compared in this report")
        return self[found[0]].turned() if turned[found[0]] else self[found[0]]

    def _rows(self, **names: str) -> np.ndarray:
        """[row] whether the columns have these names."""
        parts = [self.column(name).mapped(lambda own, value=value: own == value) for name, value in names.items()]
        return np.logical_and.reduce(parts)


def _check_known(name: str, known: Iterable[str], what: str) -> None:
    """Refuse a name that is not here."""
    known = list(dict.fromkeys(known))
    if name not in known:
        close = get_close_matches(name, known) or known[:12]
        raise InputError(f"no {what} {name!r}; did you mean {' or '.join(map(repr, close))}?")


def column_of(values: list[Any], kind: str) -> Column:
    """The column of values as records have them."""
    if kind == "interval":
        return np.array([value or (np.nan, np.nan) for value in values], np.float64).reshape(-1, 2)
    if kind == "count":
        return np.array([-1 if value is None else value for value in values], np.int64)
    return np.array(values, np.float64) if kind == "number" else Repeated.of(values)


def _joined(parts: list[Any]) -> Column:
    """One column after the other."""
    return Repeated.joined(parts) if isinstance(parts[0], Repeated) else np.concatenate(parts)
