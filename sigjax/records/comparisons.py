"""Comparisons in columns: one array per field; records are made when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, overload

import numpy as np

from sigjax.records.comparison import Comparison
from sigjax.records.settings import Interval, Test

_BLOCK = 2**12
"""Records made at a time when iterating."""
_KINDS = {"float": "number", "float | None": "number", "int | None": "count", "Interval | None": "interval"}
"""How fields of these types are held; those of other types repeat few values."""
FIELDS = {field.name: _KINDS.get(str(field.type), "repeated") for field in fields(Comparison)}

_OPTIONAL = {field.name for field in fields(Comparison) if "None" in str(field.type)}


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

    Indexing and iterating give records, slices give `Comparisons`; two are equal that hold equal records. A board of
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
    def __getitem__(self, index: int | slice) -> Comparison | Comparisons:
        """The record at an index, or the comparisons of a slice."""
        if isinstance(index, slice):
            return self.at(index)
        row = range(len(self))[index]  # raises the IndexError of a sequence
        return next(iter(self.at(slice(row, row + 1))))

    def __len__(self) -> int:
        """Count the comparisons."""
        return len(self._columns["delta"])

    def __iter__(self) -> Iterator[Comparison]:
        """Go through the records."""
        for block in self.blocks(_BLOCK):
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
