"""Columns of numbers whose values show that they are no systems: functions of other columns, constants, other scales.

A column may be the mean, the sum or a difference of other columns, their ranks, 1 minus a column, or a column in
another unit. As a system, it would be compared with the columns that it is made from. Columns whose ranges do not
overlap may belong to different metrics.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sigjax.readers.options import listing, quote

_ACCIDENT = 0.05
"""A column is derived if its numbers would agree by chance with at most this probability, times the number of columns.

A needless question costs a person a minute; without a question, a mean would be a system."""
_SURE_ACCIDENT = 0.6
"""This probability for two columns with the same sum in all rows. It may be larger: systems agree on easy instances, so
two systems are hardly ever each other's complement."""
_FEWEST = 3
"""Fewest rows that show a relation: a constant can be fitted to a single row."""
_FEWEST_ALIKE = 5
"""Fewest rows from which equal numbers in all rows, or a separate range, are no accident."""
_MOST, _ROWS = 24, 1000
"""Columns that are compared with each other in threes, and about how many of their rows."""
_DECIMALS = range(1, 7)


class DerivedColumn(NamedTuple):
    """How a column is derived from others."""

    said: str
    """The words after the name of the column."""
    sure: bool
    """Whether this column is the derived one: in a sum or a difference, it may be any of the columns."""
    ranks: bool = False
    """Whether it holds its own rank among several columns of ranks, row by row."""


def made_of_others(columns: Mapping[str, np.ndarray]) -> dict[str, DerivedColumn]:
    """The derived columns among `columns` `[row]` (NaN if a number is missing), and how they are derived.

    >>> import numpy as np
    >>> a, b = np.array([0.4, 0.5, 0.9, 0.3]), np.array([0.2, 0.6, 0.7, 0.9])
    >>> {name: made.said for name, made in made_of_others({"A": a, "B": b, "C": (a + b) / 2, "D": 1 - a}).items()}
    {'D': "and 'A' have the same sum in all rows", 'C': "is the mean of 'A' and 'B'"}
    """
    found: dict[str, DerivedColumn] = {}
    columns = {name: own[:: len(own) // _ROWS + 1] for name, own in columns.items()}
    full = {name: own for name, own in columns.items() if len(own) >= _FEWEST and not np.isnan(own).any()}
    if ranks := _ranks({name: own for name, own in columns.items() if len(own) >= _FEWEST}):
        return {
            name: DerivedColumn(f"holds ranks, as {_named(ranks, name)} do", sure=True, ranks=True) for name in ranks
        }
    names = list(full)[:_MOST]
    for name, said, sure in _relations({name: columns[name] for name in names}):
        found.setdefault(name, DerivedColumn(said, sure))
    return found


def _ranks(columns: Mapping[str, np.ndarray]) -> list[str]:
    """The columns that hold the ranks of each other in every row, whatever ties have; of two columns, without ties.

    >>> import numpy as np
    >>> _ranks({"A": np.array([1, 2, 1.5, 1, 1]), "B": np.array([3, 1, 3, 2, 3]), "C": np.array([2, 3, 1.5, 3, 2])})
    ['A', 'B', 'C']
    """
    whole = {name: own for name, own in columns.items() if np.all(np.isnan(own) | ((own >= 1) & (2 * own % 1 == 0)))}
    whole = {name: own for name, own in whole.items() if np.isfinite(own).sum() >= _FEWEST}
    if len(whole) < 2 or not 2 <= max(float(np.nanmax(own)) for own in whole.values()) <= len(whole):
        return []
    every = np.stack(list(whole.values()))
    less = (every[None] < every[:, None]).sum(axis=1)  # comparisons with NaN are False
    alike = (every[None] == every[:, None]).sum(axis=1)
    kinds = [np.where(alike == 1, less + 1, 0)]
    if len(whole) > 2 and every.shape[1] >= _FEWEST_ALIKE:
        kinds += [less + (alike + 1) / 2, less + 1, less + alike]
    return list(whole) if any(np.all(np.isnan(every) | (every == kind)) for kind in kinds) else []


def _relations(columns: Mapping[str, np.ndarray]) -> Iterator[tuple[str, str, bool]]:
    names = list(columns)
    if len(names) < 2:
        return
    every = np.stack([columns[name] for name in names])
    rows, size = every.shape[1], np.maximum(1.0, np.abs(every).max(axis=1))
    units = np.array([_unit(own) for own in every])
    few = np.array([min(len(np.unique(own)), 4) for own in every])
    chance = np.array([len(names) * _agreement(own) ** (rows - 1) for own in every])
    tells = (chance <= _ACCIDENT) & (few > 1)
    opposite = tells | ((chance <= _SURE_ACCIDENT) & (few > 1) & (rows >= _FEWEST_ALIKE))

    def equal(expected: np.ndarray, those: Sequence[int]) -> np.ndarray:
        """Which columns hold these numbers `[row]` up to rounding, except those that the numbers are derived from."""
        room = 1e-9 * size + 1.01 * units
        found = np.all(np.abs(every - expected) <= room[:, None], axis=1) & (np.ptp(every, axis=1) > 4 * room) & tells
        found[list(those)] = False
        return np.flatnonzero(found) if np.ptp(expected) > 0 else np.array([], int)

    made: dict[frozenset[int], tuple[int, str, bool]] = {}
    for i, j in combinations(range(len(names)), 2):
        x, y = every[i], every[j]
        a, b = quote(names[i]), quote(names[j])
        if (
            opposite[i]
            and opposite[j]
            and np.ptp(x + y) <= 2.02 * max(units[i], units[j]) + 1e-9 * max(size[i], size[j])
        ):
            yield names[j], f"and {a} have the same sum in all rows", False
        elif tells[i] and tells[j] and few[i] > 2 and np.all(x != 0):
            ratio = y / x
            if np.ptp(ratio) <= 1e-9 * abs(ratio[0]) and ratio[0] != 1:
                yield names[j], f"is {ratio[0]:.6g} times {a}", False
        of_two = {"mean": ((x + y) / 2,), "sum": (x + y,), "difference": (x - y, y - x, np.abs(x - y))}
        for what, numbers in of_two.items() if len(names) > 2 else ():
            for k in {int(k) for own in numbers for k in equal(own, (i, j))}:
                known = made.get(frozenset((i, j, k)))
                if known is None or known[0] < k:  # if there are three, the last is derived from the others
                    made[frozenset((i, j, k))] = k, f"is the {what} of {a} and {b}", what == "mean"
    yield from ((names[k], said, sure) for k, said, sure in made.values())
    for name, of in _SUMMARIES.items():
        for k in range(len(names)) if len(names) > (3 if name in ("mean", "sum") else 2) else ():
            others = [each for each in range(len(names)) if each != k]
            if k in equal(of(every[others]), others):
                yield (
                    names[k],
                    f"is the {name} of {listing([names[each] for each in others], 4)}",
                    name != "sum" and few[k] > 3,
                )


_SUMMARIES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda own: np.mean(own, axis=0),
    "sum": lambda own: np.sum(own, axis=0),
    "median": lambda own: np.median(own, axis=0),
    "largest": lambda own: np.max(own, axis=0),
    "smallest": lambda own: np.min(own, axis=0),
    "standard deviation": lambda own: np.std(own, axis=0),
    "sample standard deviation": lambda own: np.std(own, axis=0, ddof=1),
}


def _agreement(numbers: np.ndarray) -> float:
    """The probability that two numbers of a column are equal by chance: how often they are, and its step by its range.

    >>> import numpy as np
    >>> _agreement(np.array([0.0, 1.0] * 50)), _agreement(np.array([1.0, 2.0, 4.0, 3.0]))
    (0.5, 0.25)
    """
    _, counts = np.unique(numbers, return_counts=True)
    alike = float(np.sum(counts * (counts - 1.0)) / (len(numbers) * (len(numbers) - 1.0)))
    step = 1.0 if np.all(numbers == np.rint(numbers)) else 2 * _unit(numbers)
    return max(alike, step / (step + float(np.ptp(numbers))))


def _named(names: Sequence[str], but: str) -> str:
    return listing([name for name in names if name != but], 4)


def _unit(numbers: np.ndarray) -> float:
    """Half a unit of the last decimal of rounded numbers; 0 if they are whole or have many decimals."""
    if np.all(numbers == np.rint(numbers)):
        return 0.0
    return next(
        (0.5 * 10.0**-d for d in _DECIMALS if np.allclose(numbers, np.round(numbers, d), rtol=0, atol=1e-12)), 0
    )


def other_scales(columns: Mapping[str, np.ndarray]) -> str | None:
    """Why columns `[row]` have no common scale, in words; None if they may have one.

    >>> import numpy as np
    >>> other_scales({"r": np.array([80.0, 120, 60, 70, 80]), "l": np.array([1351.0, 1500, 1200, 1300, 1400])})
    "no number of 'r' (60 to 120) is in the range of another column ('l', 1200 to 1500)"
    """
    given = {name: own[~np.isnan(own)] for name, own in columns.items()}
    given = {name: own for name, own in given.items() if len(own) >= _FEWEST_ALIKE}
    binary = {name: own for name, own in given.items() if np.isin(own, (0.0, 1.0)).all()}
    if len(given) < 2 or len(binary) == len(given):
        return None
    constant = {name: own[0] for name, own in given.items() if not np.ptp(own)}
    for name, value in constant.items():
        if any((own == value).any() for other, own in given.items() if other not in constant):
            continue  # a system that is always wrong, while others are wrong at times
        return f"{quote(name)} is {value:.6g} in all rows"
    some = binary if any(name not in constant for name in binary) else {}  # one that is always right alone may be so
    if mixed := _zeros_and_ones(some, {name: own for name, own in given.items() if name not in binary}):
        return mixed
    ranges = sorted((float(own.min()), float(own.max()), name) for name, own in given.items())
    top, groups = -np.inf, list[list[tuple[float, float, str]]]()
    for low, high, name in ranges:
        if low > top:
            groups.append([])
        groups[-1].append((low, high, name))
        top = max(top, high)
    if len(groups) == 1:
        return None
    few = min(groups, key=len)
    low, high, name = few[0]
    other = next(each for group in groups if group is not few for each in group)
    return (
        f"no number of {quote(name)} ({low:.6g} to {high:.6g}) is in the range of another column "
        f"({quote(other[2])}, {other[0]:.6g} to {other[1]:.6g})"
    )


def _zeros_and_ones(binary: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> str | None:
    """Why some columns hold 0 and 1 alone, and others by no accident more than that, in words.

    Only numbers that are not 0 tell: a system that is always wrong has no others.

    >>> import numpy as np
    >>> _zeros_and_ones({"A": np.array([0.0, 1, 1, 0, 1])}, {"B": np.array([0.4, 0.7, 0.3, 0.9, 0.2])})
    "'A' has 0 and 1 alone, and 'B' has others (0.4)"
    """
    ones = sum(int(np.count_nonzero(own)) for own in binary.values())
    for name, own in others.items():
        more = own[(own != 0) & (own != 1)]
        rarely = 1 - len(more) / (np.count_nonzero(own) + 1)
        if rarely**ones <= _ACCIDENT:
            alone = f"{listing(list(binary), 3)} {'has' if len(binary) == 1 else 'have'} 0 and 1 alone"
            return f"{alone}, and {quote(name)} has others ({more[0]:.6g})"
    return None
