r"""The pairs of a monitor: the state of each pair, how many more units it needs, sentences and a table about them.

This is the goal "pairs" of `monitor`. A pair is settled as soon as its evidence E (see `eprocess`) is large enough
after the correction for all pairs. The module `best` does the same for the goal "best", which is about systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import sigjax.report.words as words
from sigjax.records import Interval
from sigjax.records.settings import PValueCorrection, adjust
from sigjax.report.document import Block
from sigjax.report.sections import Table
from sigjax.studies.eprocess import mixture
from sigjax.studies.study import more_in_json

MonitorCorrection = Literal["ebh", "holm", "none"]
OF_INVERSE: dict[MonitorCorrection, tuple[PValueCorrection, str]] = {
    "ebh": ("bh", "false discovery rate (e-BH)"),
    "holm": ("holm", "probability of any false finding (Holm)"),
    "none": ("none", "probability of a false finding, of each pair (not adjusted)"),
}
"""Dict from a correction of `monitor` to two values: the p-value correction that is applied to 1 / E, and the error
rate that is controlled, in words. E is the evidence, and 1 / E is a p-value.

The correction of Benjamini and Hochberg, applied to 1 / E, is e-BH (Wang and Ramdas 2022)."""
_ADJUSTED_BY: dict[MonitorCorrection, str] = {
    "ebh": "by plain e-BH (Benjamini-Hochberg of 1 / E)",
    "holm": "by Holm, of 1 / the largest E",
    "none": "not adjusted, 1 / the largest E",
}
"""Dict from a correction of `monitor` to words that say what the adjusted p of a pair is."""
_LONGEST, _HALVINGS = 20.0, 30
"""`more_units` looks ahead to 2^`_LONGEST` times the number of units so far, with a bisection of `_HALVINGS` steps."""
_SHOWN = 50
"""The text shows at most this many pairs."""


@dataclass(frozen=True, slots=True)
class MonitoredPair:
    """The state of the comparison of two systems.

    Attributes:
        instances: number of instances on which both systems have results; each run counts.
        units: number of units on which both systems have results. A unit is an instance with all its runs, or a
            cluster.
        delta: mean score of a - mean score of b on these instances; 0 if they are equal up to rounding.
        interval: the confidence sequence of delta at this time; None without bounds, and for clusters.
        log10_e: base-10 logarithm of the evidence E; it no longer changes after the pair is settled.
        p_value: 1 / the largest E so far, at most 1. For this pair alone, it is valid however often you look.
        p_adjusted: p_value adjusted for all pairs; for e-BH, computed from the present E.
        settled_at: number of units after which the pair was settled; None while the pair is open.
        better: the better system. None if the pair is not a finding. Also None if the direction is unclear, because the
            difference of the means and the sum from which E is computed had opposite signs.
        more_units: estimated number of further units that settle the pair, if the differences go on as before. None for
            a settled pair, and if more than 2^20 times the present units would be needed.
        more_units_range: (fewest, most) further units: the estimates if the sum from which E is computed is one
            standard deviation larger, and one smaller. None (or None at one end) as for `more_units`.
        finding: whether the pair counts as a difference if the evaluation ends now: it is settled, or (for e-BH) closed
            e-BH finds it. With more results, a finding that is not settled may disappear.
    """

    a: str
    b: str
    instances: int
    units: int
    delta: float
    interval: Interval | None
    log10_e: float
    p_value: float
    p_adjusted: float
    settled_at: int | None
    better: str | None
    more_units: int | None
    more_units_range: tuple[int | None, int | None] | None
    finding: bool


def adjusted_p_values(log_e: np.ndarray, correction: MonitorCorrection) -> np.ndarray:
    """Return the adjusted p-values `[pair]`, from the p-values 1 / E, at most 1.

    `log_e` `[pair]` are the logarithms of the evidence E: of the present E for e-BH, else of the largest E so far.
    """
    return adjust(np.exp(-np.maximum(log_e, 0.0)), OF_INVERSE[correction][0])


def more_units(
    is_open: np.ndarray,
    units: np.ndarray,
    evidence: np.ndarray,
    effects: np.ndarray,
    correction: MonitorCorrection,
    alpha: float,
    *,
    binary: bool,
) -> np.ndarray:
    """Return `MonitoredPair.more_units` and both ends of its range, `[3, pair]`; infinite if there is no estimate.

    The estimate supposes that the sums from which E is computed go on as straight lines. Then log E is convex and
    crosses the threshold only once.

    Args:
        is_open: mask `[pair]` of the pairs that are not settled.
        units: `[pair]` numbers of units so far.
        evidence: `[sum, pair]`, the sums from which E is computed, see `log_e_values`.
        effects: the grid of effects.
        correction: the correction.
        alpha: the error rate.
        binary: whether scores are 0 or 1.
    """
    found, settled = np.full((3, len(is_open)), math.inf), len(is_open) - int(is_open.sum())
    hardest = {"none": 1.0, "holm": len(is_open) - settled, "ebh": len(is_open) / (settled + 1)}[correction]
    at, needed = np.flatnonzero(is_open & (evidence[0] > 0)), math.log(max(hardest, 1.0) / alpha)
    differ, _, scaled, *spread = evidence[:, at]
    for row, moved in zip(found, (0.0, 1.0, -1.0), strict=True):
        sums = np.maximum(np.abs(scaled) + moved * np.sqrt(differ), 0.0)
        more = np.maximum(sums / differ, 1.0)  # a scaled sum is at most the number of differing units
        low, high = np.zeros(len(at)), np.full(len(at), _LONGEST)
        for _ in range(_HALVINGS):
            times = (factor := np.exp2(middle := (low + high) / 2.0)) * more
            log_e = mixture(times * differ, factor * sums, times * spread, effects, binary=binary)
            low, high = np.where(log_e < needed, middle, low), np.where(log_e < needed, high, middle)
        number = np.maximum(np.ceil((np.exp2(high) - 1.0) * units[at]), 1.0)
        row[at] = np.where(high < _LONGEST, number, math.inf)
    return found


def pairs_words(
    pairs: Sequence[MonitoredPair],
    systems: Sequence[str],
    needed: Sequence[str],
    alpha: float,
    correction: MonitorCorrection,
    unit: str,
    largest: int | None,
    *,
    lacks_intervals: bool,
) -> tuple[str, list[Block], list[Block]]:
    """Return three things for the text: the verdict, the lines that explain the verdict, and the table of pairs.

    `needed` are the systems that need more results. `alpha` is the error rate that `correction` controls. `unit` is the
    word for a unit, and `largest` the largest number of units. `lacks_intervals`: whether the bounds of the scores are
    known, but there are no intervals, because a unit is a sum over a cluster or over runs.
    """
    settled = sum(each.settled_at is not None for each in pairs)
    verb = "is" if 1 in (settled, len(pairs)) else "are"
    said = f"{settled:,} of {words.count(len(pairs), 'pair')} {verb} settled"
    if more := sum(each.finding for each in pairs) - settled:
        said += f", and {more:,} more {'differs' if more == 1 else 'differ'}{' if you stop now' if needed else ''}"
    rate = f"{OF_INVERSE[correction][1]} at most {alpha:.3g}, whenever one looks"
    lines: list[Block] = [rate]
    lines.append(f"The order of the {unit}s must be random: shuffle what is sorted.")
    lines += [_estimate(pairs, needed, unit, largest)] if needed else []
    if needed and (free := [name for name in systems if name not in needed]):
        lines.append(f"{words.count(len(free), 'system')} may stop: {words.first_of(free, 4)}")
    table = list[Block]()
    if more:
        table.append(
            "if you stop: found by closed e-BH, at the same rate; if you go on, the pair stays open"
            if needed
            else "at the end: found by closed e-BH, at the same rate"
        )
    shown = sorted(pairs, key=lambda each: (each.settled_at or math.inf, not each.finding))[:_SHOWN]
    spec, level = words.number_spec([each.delta for each in shown]), words.percent(1.0 - alpha)
    columns = {
        "pair": [f"{each.a} - {each.b}" for each in shown],
        "delta": [f"{each.delta:+{spec}}" for each in shown],
    }
    if pairs[0].interval is not None:
        heading = f"{level} interval{' (joint)' * (correction == 'holm')}, any time"
        columns[heading] = [words.format_interval(each.interval, f"+{spec}") for each in shown]
    at, unclear = f"settled at{' cluster' * (unit == 'cluster')}", {True: "unclear", False: ""}
    columns |= {
        "adj. p": [words.format_p(each.p_adjusted, threshold=alpha) for each in shown],
        at: [_when(each, going_on=bool(needed)) for each in shown],
        "better": [each.better or unclear[each.finding] for each in shown],
    }
    found = f'; for pairs found "{_found(going_on=bool(needed))}" it may be above {alpha:.3g}' if more else ""
    adjusted_by = f"adj. p: {_ADJUSTED_BY[correction]}{found}"
    table += ["", Table.of(columns, names=(0, len(columns) - 1)), "", adjusted_by]
    if lacks_intervals:
        what = "clusters" if unit == "cluster" else "runs of instances"
        table += ["", f"no intervals: there are none for sums over {what}"]
    if any(each.finding and each.better is None for each in shown):
        table += ["", "unclear: they differ; the direction is unclear, as delta rests on few units"]
    table += more_in_json(len(pairs) - len(shown), "pair")
    return said, lines, table


def _estimate(pairs: Sequence[MonitoredPair], needed: Sequence[str], unit: str, largest: int | None) -> str:
    """Return a sentence that estimates how many more units are needed to settle a pair."""
    opened = [each for each in pairs if each.settled_at is None and {each.a, each.b} <= {*needed}]
    known = sorted((each for each in opened if each.more_units), key=lambda each: each.more_units or 0)
    left = math.inf if largest is None else largest - max(each.units for each in pairs)
    going_on = "if the differences go on as so far"
    if not known or (known[0].more_units or 0) > left:
        may = "they may end without a decision" if math.isfinite(left) else "no number in sight settles a pair"
        there = f"At most {words.count(int(left), f'more {unit}')}: " if math.isfinite(left) else ""
        return f"{there}{going_on.capitalize() if not there else going_on}, {may}."
    first = known[0]
    few, many = first.more_units_range or (None, None)
    number = words.count(_two_digits(first.more_units), f"more {unit}")
    ends = f"{_two_digits(few):,} to {'any number' if many is None else f'{_two_digits(many):,}'}"
    what = f"{first.a} - {first.b}" if len(opened) > 1 else "the pair"
    return f"About {number} ({ends}) would settle {what}, {going_on}."


def _when(pair: MonitoredPair, *, going_on: bool) -> str:
    """Return the cell of a table that says when a pair was settled. `going_on`: whether more results are needed."""
    return f"{pair.settled_at:,}" if pair.settled_at else _found(going_on=going_on) if pair.finding else "open"


def _found(*, going_on: bool) -> str:
    """Return the words for a pair that only closed e-BH finds. `going_on`: whether more results are needed."""
    return "if you stop" if going_on else "at the end"


def _two_digits(number: int | None) -> int:
    """Round an estimate to two significant digits; None becomes 0.

    >>> _two_digits(1234), _two_digits(7)
    (1200, 7)
    """
    return int(float(f"{number or 0:.2g}"))
