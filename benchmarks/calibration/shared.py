"""Shared by the calibrations: options, the record of a run, shares with their intervals, tables, what is too often."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from sigjax.testing.special import clopper_pearson

sys.path.append(str(Path(__file__).parents[1]))
from timing import cores, machine, markdown_table, options  # noqa: E402

__all__ = [
    "Share",
    "begin",
    "cells_table",
    "cores",
    "finish",
    "markdown_table",
    "require_at_most",
    "share_of",
    "shares",
    "summed",
]
FALSE_ALARMS = 0.001
"""Probability that a script fails though what it checks is right, at most."""
SEPARATOR = " / "
"""Between the numbers of a cell."""


class Share(NamedTuple):
    """How often something happens in a world."""

    world: str
    units: int
    what: str
    by: str
    trials: int
    number: int
    share: float
    interval: tuple[float, float] | None
    """Clopper-Pearson, 95%; None where trials depend on each other."""


def begin(description: str | None, **others: dict[str, Any]) -> argparse.Namespace:
    """The options of a script (as `timing.options`), and `machine`, which is printed."""
    chosen = options(description, "cpu", **others)
    chosen.machine = machine("cpu")
    print(json.dumps(chosen.machine, indent=2))
    return chosen


def finish(chosen: argparse.Namespace, **parts: object) -> None:
    """Write the JSON of a run, one line per entry of its lists, if there is a path."""
    if chosen.output:
        record = {"schema": "sigjax-benchmark/1", "machine": chosen.machine} | parts
        texts = []
        for key, value in record.items():
            lines = ",\n  ".join(map(json.dumps, value)) if isinstance(value, list) else ""
            texts.append(f"{json.dumps(key)}: " + (f"[\n  {lines}\n]" if lines else json.dumps(value)))
        chosen.output.write_text("{\n" + ",\n".join(texts) + "\n}\n")


def shares(number: int, trials: int) -> tuple[float, tuple[float, float]]:
    """A share and its Clopper-Pearson interval, 95%."""
    low, high = clopper_pearson(np.array([number]), trials, 0.95)
    return number / trials, (float(low[0]), float(high[0]))


def share_of(world: str, units: int, what: str, by: str, number: int, trials: int) -> Share:
    """The record of independent trials."""
    return Share(world, units, what, by, trials, number, *shares(number, trials))


def cells_table(cells: Mapping[tuple[str, str, object], str]) -> str:
    """A table of (row, column, number) -> text: a cell holds the texts of its numbers in turn."""
    rows, columns = list(dict.fromkeys(row for row, _, _ in cells)), list(dict.fromkeys(each for _, each, _ in cells))
    together: dict[tuple[str, str], list[str]] = {}
    for (row, column, _), text in cells.items():
        together.setdefault((row, column), []).append(text)
    lines = [[row, *(SEPARATOR.join(together.get((row, column), [])) for column in columns)] for row in rows]
    return markdown_table(["", *columns], lines)


def summed(counts: Iterable[tuple[tuple[str, str], int]]) -> dict[tuple[str, str], int]:
    """The sum of the numbers of each (what, by), in the order in which these come first."""
    found: dict[tuple[str, str], int] = {}
    for key, number in counts:
        found[key] = found.get(key, 0) + number
    return found


def require_at_most(share: float, found: Iterable[Share]) -> None:
    """Check that each happens in at most this share of its trials, within binomial error.

    Raises:
        AssertionError: one happens too often.
    """
    every = list(found)
    for each in every:
        if (tail := binom.sf(each.number - 1, each.trials, share)) < FALSE_ALARMS / len(every):
            raise AssertionError(f"{each}: the chance of that is {tail:.2g}")
    print(f"\n{len(every)} shares are at most {share:.0%}, within binomial error")
