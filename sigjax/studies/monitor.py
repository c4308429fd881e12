r"""Monitor: a comparison that may be looked at after every instance, and stops as soon as it is decided.

And `stopping`: how much of an evaluation would a monitor have saved? It replays saved results in random orders.

**The test.** Under the null hypothesis of swaps, the sign of a difference $d_i$ of two systems on a unit (an instance,
or the sum over a cluster) is a fair coin, given its size and all that came before. So for any $\theta_i$ made of sizes
and earlier signs alone, $\prod_i \exp(\theta_i d_i) / \cosh(\theta_i d_i)$ is a martingale with mean 1 (de la Pena
1999, Howard et al. 2020), and so is E, the mean of several. E ever reaches $1 / \alpha$ with probability at most
$\alpha$ (Ville 1939), whenever one looks and stops.

**The grid.** $\theta_i = \pm c_k / r_i$, where $r_i$ is the root mean square of the nonzero differences up to unit i:
of sizes alone, so units of measurement do not matter. The best $c$, about the mean difference in these units, is hardly
above 4 (one system always wins), and $3 / \sqrt N$ is what N units can detect: $c_k = 2^k \cdot 4 / \sqrt N$, for the
largest number N of instances, up to the first of at least 4, weighted as $c_k^{-1/2}$. One is within a factor of
$\sqrt 2$ of the best, which costs a sixth of $\log E$. For answers right or wrong, half of E is Jeffreys' mixture of
all coins, $2^m B(w + 1/2, l + 1/2) / B(1/2, 1/2)$, w wins and l losses in m units that differ: better where few do.

**The interval** assumes something else than the test: differences have one mean, given all that came before (as
independent draws of instances have), and scores have bounds that are known beforehand. It is the empirical Bernstein
confidence sequence of Waudby-Smith and Ramdas (2024, theorem 2), which holds at all times at once.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections import Counter, namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, groupby, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import sigjax.report.words as words
import sigjax.resample.draws as draws
from sigjax.comparison.checks import baseline_of
from sigjax.comparison.compare import compare
from sigjax.comparison.options import ReadingOptions
from sigjax.metrics.ratios import ACCURACY, mean_score
from sigjax.metrics.registry import LARGEST
from sigjax.readers.options import listing
from sigjax.records import EvaluationRecord, Hint, InputError, Interval, Missing, Settings
from sigjax.records.options import check, option, same, takes
from sigjax.records.settings import PValueCorrection, adjust
from sigjax.report.plots import BLUE, GREY, set_words
from sigjax.report.sections import Table
from sigjax.run.context import progress_bar
from sigjax.run.files import read_text
from sigjax.studies.formulas import PROPORTION_LEVEL, proportion_interval
from sigjax.studies.study import (
    PANEL,
    Block,
    Study,
    StudyResult,
    more_in_json,
    signature_line,
    study_signature,
    wrapped,
)
from sigjax.studies.trials import StudyOptions, by_one_metric, select
from sigjax.testing.p_values import special

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MonitorCorrection = Literal["ebh", "holm", "none"]
OF_INVERSE: dict[MonitorCorrection, tuple[PValueCorrection, str]] = {
    "ebh": ("bh", "false discovery rate (e-BH)"),
    "holm": ("holm", "probability of any false finding (Holm)"),
    "none": ("none", "probability of a false finding, of each pair (not adjusted)"),
}
"""The correction that each is of 1 / E, of which Benjamini-Hochberg is e-BH (Wang and Ramdas 2022); and its rate."""
_STEEP, _MANY = 4.0, 10**4
"""The smallest effect of the grid, times the root of the largest number of instances; and that, where none is given."""
_ROUNDING, _IN_MEMORY, _SHOWN = 2.0**-50, 2**21, 50
"""Relative difference of equal scores; numbers in memory at a time; pairs in the text."""
_MADE = ("systems", "alpha", "correction", "baseline", "largest", "binary", "bounds", "higher_is_better")
"""The arguments of a monitor, which are its attributes."""
_State = namedtuple("_State", "units instances total log_e peak settled_at sign")
"""What else is known of each pair `[pair]`; `settled_at` is 0 while it is open, E is that of then."""


def _log_cosh(x: np.ndarray) -> np.ndarray:
    size = np.abs(x)
    return size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)


def _running(before: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Sums `[unit, ...]` after each unit, added one by one: the same bits however units are dealt out."""
    return np.cumsum(np.concatenate([before[None], more]), axis=0)[1:]


def beta_mixture(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """The logarithm of Jeffreys' mixture of coins over a fair one.

    >>> round(math.exp(beta_mixture(2, 1)), 12)
    0.5
    """
    betaln = special().betaln
    return (wins + losses) * math.log(2.0) + betaln(wins + 0.5, losses + 0.5) - betaln(0.5, 0.5)


def log_e_values(
    differences: np.ndarray, effects: np.ndarray, before: np.ndarray | None = None, *, binary: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of E after each unit `[unit, pair]`, of differences `[unit, pair]`; and what later units go on from.

    That is `[3 + effect, pair]`: numbers of nonzero differences, sums of squares, of the scaled ones, of log cosh.

    >>> log_e_values(np.array([[1.0], [1.0], [-1.0]]), np.array([4.0]))[0].round(4).ravel()
    array([ 0.    ,  0.6925, -6.6144])
    """
    before = np.zeros((3 + len(effects), differences.shape[1])) if before is None else before
    differ, square = _running(before[0], differences != 0), _running(before[1], differences**2)
    each = differences / np.sqrt(np.where(square > 0, square / np.maximum(differ, 1.0), 1.0))
    scaled, of_effects = _running(before[2], each), effects[:, None]
    spread = _running(before[3:], _log_cosh(each[:, None] * of_effects))
    terms = _log_cosh(scaled[:, None] * of_effects) - spread - np.log(of_effects) / 2.0
    log_e = np.logaddexp.reduce(terms, axis=1) - math.log(np.sum(effects**-0.5))
    if binary:
        log_e = np.logaddexp(log_e, beta_mixture((differ + scaled) / 2.0, (differ - scaled) / 2.0)) - math.log(2.0)
    return log_e, np.concatenate([[differ[-1], square[-1], scaled[-1]], spread[-1]])


def bernstein(before: np.ndarray, units: np.ndarray, values: np.ndarray, log_level: float) -> np.ndarray:
    """What confidence sequences go on from `[5, pair]`, of `values` `[unit, pair]` in [0, 1] after `units` `[pair]`.

    Sums of values and squared residuals; and of the theorem's lambda, lambda times values, and penalties.
    """
    number = units + np.arange(1, len(values) + 1)[:, None]
    total = _running(before[0], values)
    mean = (0.5 + total) / (number + 1)
    square = _running(before[1], (values - mean) ** 2)
    earlier = np.concatenate([((0.5 + before[0]) / (units + 1))[None], mean[:-1]])
    variance = (0.25 + np.concatenate([before[1:2], square[:-1]])) / number
    bet = np.minimum(np.sqrt(2.0 * log_level / (variance * number * np.log1p(number))), 0.5)
    penalty = (values - earlier) ** 2 * (-np.log1p(-bet) - bet)
    sums = (_running(start, more)[-1] for start, more in zip(before[2:], (bet, bet * values, penalty), strict=True))
    return np.stack([total[-1], square[-1], *sums])


@dataclass(frozen=True, slots=True)
class MonitoredPair:
    """Two systems, as far as they have been compared.

    Attributes:
        instances: number of instances that both have, in which each run counts.
        units: number of units (instances with all their runs, or clusters) that both have.
        delta: mean score of a minus that of b on them.
        interval: where the confidence sequence of delta is now; None without bounds, or of clusters.
        log10_e: base-10 logarithm of E, which stays as it is when the pair is settled.
        p_value: 1 over the largest E, at most 1: valid whenever one looks, for one pair.
        p_adjusted: adjusted for all pairs; for e-BH, from E itself.
        settled_at: number of units (instances or clusters) that settled the pair; None while it is open.
        better: the better system; None while the pair is open, or where the direction is unclear: when it was settled,
            the difference of means had not the sign of the sum that E is of.
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


class Monitor(StudyResult):
    r"""Compare systems while their results come in: which pairs are settled, and which systems may stop?

    For each pair, E is the evidence against the null hypothesis of `permutation_test`: that on each instance the
    outputs of both could as well be swapped. Then its mean is 1 at every time that one stops. A pair is settled as soon
    as E is large enough, and stays settled. Instances must come in an order that has nothing to do with the results.
    The formulas, and what intervals assume, are at the head of the module.

    Args:
        systems: their names.
        alpha: the error rate, however pairs depend on each other and whenever one stops.
        correction: "ebh", the false discovery rate; "holm", the probability of any false finding; "none", of each pair.
        baseline: compare each system with this one only.
        largest: how many units (instances, or clusters) there can be: the evaluation stops there, too, and the grid of
            effects is for it.
        binary: scores are 0 or 1, and half of E is the Beta mixture.
        bounds: the lowest and the highest score there can be, for intervals; those of `binary` are 0 and 1.
        higher_is_better: whether the larger of two scores is the better.

    Attributes:
        unit: "instance" (with all its runs) or "cluster".
        waiting: names of units that `monitor` has not counted, as some system that is needed lacks results.

    Raises:
        InputError: fewer than two systems, two of one name, or an option outside its domain.

    Reference: Howard et al. (2020), "Time-uniform Chernoff bounds via nonnegative supermartingales"; Wang and Ramdas
    (2022), "False discovery rate control with e-values"; Waudby-Smith and Ramdas (2024), "Estimating means of bounded
    random variables by betting".

    Example:
        >>> monitor = Monitor(["A", "B"], binary=True, largest=500)
        >>> monitor.update({"A": [1, 1, 1, 1, 1, 1], "B": [0, 1, 0, 0, 0, 0]}), monitor.needed
        ([], ('A', 'B'))
        >>> monitor.update({"A": [1, 1, 1], "B": [0, 0, 0]}), monitor.needed
        ([('A', 'B')], ())
        >>> monitor.pairs[0].better, monitor.pairs[0].settled_at, monitor.stop
        ('A', 8, True)
    """

    rows = "pairs"

    def __init__(
        self,
        systems: Sequence[str],
        *,
        alpha: float = 0.05,
        correction: MonitorCorrection = "ebh",
        baseline: str | None = None,
        largest: int | None = None,
        binary: bool = False,
        bounds: Sequence[float] | None = None,
        higher_is_better: bool = True,
    ) -> None:
        check(MonitorOptions(correction=correction, largest=largest, bounds=bounds))
        if not 0.0 < alpha < 1.0:
            raise InputError(f"alpha must be a number between 0 and 1, such as 0.05, got {alpha!r}")
        self.systems, self.alpha, self.largest = tuple(map(str, systems)), alpha, largest
        self.correction: MonitorCorrection = correction
        self.binary, self.higher_is_better = binary, higher_is_better
        if len(self.systems) < 2 or len(set(self.systems)) < len(self.systems):
            raise InputError(f"expected two systems or more of different names, got {listing(self.systems)}")
        bounds = (0.0, 1.0) if binary else bounds
        if bounds is not None and not (len(bounds) == 2 and bounds[0] < bounds[1]):
            raise InputError(f"bounds must be two numbers, the lowest and the highest score, got {bounds!r}")
        self.bounds = None if bounds is None else (float(bounds[0]), float(bounds[1]))
        self.baseline = baseline_of(self.systems, Settings(baseline=baseline))
        rest = [name for name in self.systems if name != self.baseline]
        pairs = combinations(rest, 2) if self.baseline is None else product(rest, [self.baseline])
        self._members = np.array([[*map(self.systems.index, pair)] for pair in pairs])
        halvings = math.log2(largest or _MANY) / 2.0
        self._effects = _STEEP * 2.0 ** (np.arange(math.ceil(halvings) + 1) - halvings)
        self._columns = np.zeros((15 + len(self._effects), len(self._members)))  # parts of it:
        self._state, self._bounded, self._evidence = _State(*self._columns[:7]), self._columns[7:12], self._columns[12:]
        self._ids, self._clusters, self.unit = dict[str, str](), dict[str, None](), "instance"
        self.waiting = tuple[str, ...]()  # units, which some system lacks
        # of intervals, which hold together where no finding at all may be false
        self._log_level = math.log(2.0 / alpha * (len(self._members) if correction == "holm" else 1))

    def brief(self) -> dict[str, Any]:
        """What `repr` shows."""
        return {name: getattr(self, name) for name in ("systems", "needed", "stop", "alpha", "correction")}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what `to_json` writes: columns are parts of one array."""
        return Monitor.from_json, (self.to_json(),)

    @property
    def needed(self) -> tuple[str, ...]:
        """The systems that need more: those of open pairs, up to the largest number of units; others may stop."""
        is_open = self._state.settled_at == 0
        if self.largest is not None:
            is_open &= self._state.units < self.largest
        return tuple(self.systems[i] for i in np.unique(self._members[is_open]).tolist())

    @property
    def stop(self) -> bool:
        """Whether no system needs more instances."""
        return not self.needed

    @property
    def exit_code(self) -> int:
        """That of the command: 0 to stop, 3 to go on."""
        return 0 if self.stop else 3

    @property
    def pairs(self) -> tuple[MonitoredPair, ...]:
        """What is known of each pair now."""
        adjusted = self._adjusted(self._state.log_e if self.correction == "ebh" else self._state.peak)
        columns = np.transpose([*self._state, adjusted]).tolist()
        return tuple(
            MonitoredPair(
                *(names := [self.systems[i] for i in members]),
                instances=int(instances),
                units=int(units),
                delta=total / max(instances, 1.0),
                interval=interval,
                log10_e=log_e / math.log(10.0),
                p_value=math.exp(-max(peak, 0.0)),
                p_adjusted=p_adjusted,
                settled_at=int(at) or None,
                better=names[int((sign > 0) != self.higher_is_better)] if sign else None,
            )
            for members, interval, (units, instances, total, log_e, peak, at, sign, p_adjusted) in zip(
                self._members.tolist(), self._intervals(), columns, strict=True
            )
        )

    def update(
        self, scores: Any, *, ids: Sequence[object] | None = None, clusters: Sequence[object] | None = None
    ) -> list[tuple[str, str]]:
        """Take the scores of new instances, one after another; gives the pairs that they settle.

        Args:
            scores: name of a system -> its score, or one score per instance; or an array `[system, instance]`. Systems
                that are not `needed` may be left out.
            ids: `[instance]` names; an instance that comes twice is refused.
            clusters: `[instance]` labels; the instances of a cluster, which come together, are one unit.

        Raises:
            InputError: NaN or infinity, an unknown system, a needed one without scores, unequal lengths, scores outside
                the bounds, an instance or a cluster that was there before. Nothing is then taken.
        """
        given, columns = (scores, scores.values()) if isinstance(scores, Mapping) else (self.systems, scores)
        if unknown := [str(name) for name in given if name not in self.systems]:
            raise InputError(f"{unknown[0]!r} is not a system; expected {listing(self.systems)}")
        if lacking := [name for name in self.needed if name not in given]:
            raise InputError(f"no scores of {listing(lacking)}; expected those of all systems that are needed")
        try:
            rows: np.ndarray = np.array([np.atleast_1d(np.asarray(column, np.float64)) for column in columns])
        except (TypeError, ValueError):
            rows = np.empty(0)
        if rows.ndim != 2 or len(rows) != len(given):
            shape = f"[{len(given)} systems, instance]"
            raise InputError(f"scores must be {shape}: one score per instance, a number, of every system as many")
        low, high = self.bounds or (-LARGEST, LARGEST)
        wrong = ~np.isfinite(rows) | (rows < low) | (rows > high) | (self.binary & (rows != low) & (rows != high))
        if wrong.any():
            i, at = np.argwhere(wrong)[0].tolist()
            kind = (
                "0 or 1"
                if self.binary
                else f"a number up to {LARGEST:g}"
                if self.bounds is None
                else f"from {low:g} to {high:g}"
            )
            got = f"{list(given)[i]!r} has the score {rows[i, at]:g} on instance {at + 1} of these"
            raise InputError(f"{got}; expected {kind}")
        index, values = list(map(self.systems.index, given)), np.zeros((len(self.systems), rows.shape[1]))
        values[index] = rows
        sizes, settled = np.ones(rows.shape[1]), list[int]()
        names = _new_labels("ids", ids, len(sizes), self._ids)
        digests = _digests(index, values) if names else []
        labels = _new_labels("clusters", clusters, len(sizes), self._clusters)
        if labels and self.binary:
            raise InputError("clusters have sums that are not 0 or 1; leave binary out")
        if labels:
            self.unit = "cluster"
            known = dict[str, int]()
            codes = np.array([known.setdefault(label, len(known)) for label in labels])
            sizes = np.bincount(codes).astype(np.float64)
            values = np.stack([np.bincount(codes, of_system) for of_system in values])
        chosen = np.flatnonzero(np.isin(self._members, index).all(axis=1))
        step = max(1, _IN_MEMORY // (max(len(chosen), 1) * len(self._effects)))
        for start in range(0, len(sizes), step):
            of_a, of_b = values[:, start : start + step][self._members[chosen].T]
            differs = np.abs(of_a - of_b) > _ROUNDING * (np.abs(of_a) + np.abs(of_b))
            settled += self._advance(chosen, np.where(differs, of_a - of_b, 0.0).T)
            self._state.instances[chosen] += sizes[start : start + step].sum()
        self._ids.update(zip(names, digests, strict=True))
        self._clusters.update(dict.fromkeys(labels))
        return [(self.systems[i], self.systems[j]) for i, j in self._members[settled].tolist()]

    def _advance(self, chosen: np.ndarray, differences: np.ndarray) -> list[int]:
        """Take units `[unit, pair]` of some pairs; gives the pairs that are settled."""
        state, settled, floor = self._state, list[int](), -math.log(self.alpha)
        path, after = log_e_values(differences, self._effects, self._evidence[:, chosen], binary=self.binary)
        totals = _running(state.total[chosen], differences)
        peaks = np.maximum(np.maximum.accumulate(path, axis=0), state.peak[chosen])
        evidence, used = (state.log_e, path) if self.correction == "ebh" else (state.peak, peaks)
        is_open = state.settled_at[chosen] == 0
        for t in np.flatnonzero((path[:, is_open] >= floor).any(axis=1)).tolist():
            if (path[t, is_open] >= floor).any():
                evidence[chosen[is_open]] = used[t, is_open]
                new = is_open & (self._adjusted(evidence)[chosen] <= self.alpha)
                now, is_open = chosen[new], is_open & ~new
                state.log_e[now], state.peak[now] = path[t, new], peaks[t, new]
                scaled = log_e_values(differences[: t + 1, new], self._effects, self._evidence[:, now])[1][2]
                agree = np.sign(scaled) == np.sign(totals[t, new])  # E is the evidence for the sign of the scaled sum
                state.settled_at[now], state.sign[now] = state.units[now] + t + 1, np.where(agree, np.sign(scaled), 0.0)
                settled += now.tolist()
        state.log_e[chosen[is_open]], state.peak[chosen[is_open]] = path[-1, is_open], peaks[-1, is_open]
        if self.bounds is not None:
            moved, before = differences / (2.0 * (self.bounds[1] - self.bounds[0])) + 0.5, self._bounded[:, chosen]
            self._bounded[:, chosen] = bernstein(before, state.units[chosen], moved, self._log_level)
        state.units[chosen] += len(path)
        state.total[chosen] = totals[-1]
        self._evidence[:, chosen] = after
        return settled

    def _adjusted(self, log_e: np.ndarray) -> np.ndarray:
        return adjust(np.exp(-np.maximum(log_e, 0.0)), OF_INVERSE[self.correction][0])

    def _intervals(self) -> list[Interval | None]:
        units, (*_, weight, weighted, penalty) = self._state.units, self._bounded
        if self.bounds is None or self._clusters or not units.any():
            return [None] * len(units)
        width, weight = self.bounds[1] - self.bounds[0], np.maximum(weight, 1e-300)
        centre, radius = width * (2.0 * weighted / weight - 1.0), 2.0 * width * (self._log_level + penalty) / weight
        ends = np.clip([centre - radius, centre + radius], -width, width).T.tolist()
        return [Interval(low, high) for low, high in ends]

    def _lines(self) -> list[Block]:
        pairs, needed = self.pairs, self.needed
        settled, size = sum(each.settled_at is not None for each in pairs), max(each.units for each in pairs)
        verb, most = "is" if settled == 1 else "are", "" if self.largest is None else f" of at most {self.largest:,}"
        said = f"{settled:,} of {words.count(len(pairs), 'pair')} {verb} settled"
        rate = f"{OF_INVERSE[self.correction][1]} at most {self.alpha:.3g}, whenever one looks"
        lines: list[Block] = [
            f"{'go on' if needed else 'stop'}: {said} after {words.count(size, self.unit)}{most}",
            rate,
        ]
        if needed and (free := [name for name in self.systems if name not in needed]):
            lines.append(f"{words.count(len(free), 'system')} may stop: {words.first_of(free, 4)}")
        number = len(self.waiting)
        if self.largest is not None and size + number > self.largest:
            given = words.count(size + number, self.unit)
            lines.append(f"warning: {given} of at most {self.largest:,}; the largest number is that of all")
        if needed and number:
            waits = f"{words.count(number, self.unit)} {'waits' if number == 1 else 'wait'} for results of some system"
            ends = self.largest is not None and size + number >= self.largest
            must = f": complete {'it' if number == 1 else 'them'}, no other {self.unit}s are left" if ends else ""
            lines += wrapped(f"{waits}, such as {self.waiting[0]!r}{must}")
        shown = sorted(pairs, key=lambda each: each.settled_at or math.inf)[:_SHOWN]
        spec, level = words.number_spec([each.delta for each in shown]), words.percent(1.0 - self.alpha)
        columns = {
            "pair": [f"{each.a} - {each.b}" for each in shown],
            "delta": [f"{each.delta:+{spec}}" for each in shown],
        }
        if pairs[0].interval is not None:
            heading = f"{level} interval{' (joint)' * (self.correction == 'holm')}, any time"
            columns[heading] = [words.format_interval(each.interval, f"+{spec}") for each in shown]
        at, unclear = f"settled at{' cluster' * (self.unit == 'cluster')}", {True: "unclear", False: ""}
        columns |= {
            "adj. p": [words.format_p(each.p_adjusted, threshold=self.alpha) for each in shown],
            at: ["open" if each.settled_at is None else f"{each.settled_at:,}" for each in shown],
            "better": [each.better or unclear[each.settled_at is not None] for each in shown],
        }
        lines += ["", Table.of(columns, names=(0, len(columns) - 1))]
        if self.bounds is not None and self._clusters:
            what = "clusters" if self.unit == "cluster" else "runs of instances"
            lines += ["", f"no intervals: there are none for sums over {what}"]
        if any(each.settled_at and each.better is None for each in shown):
            lines += ["", "unclear: they differ; the direction is unclear, as delta rests on few units"]
        lines += more_in_json(len(pairs) - len(shown), "pair")
        made = {name: getattr(self, name) for name in _MADE[1:5]} | {"binary": self.binary or None}
        return [*lines, "", signature_line(study="monitor", **made)]

    def _fields(self) -> dict[str, Any]:
        """What the JSON has: what is known, and all that `from_json` needs to go on."""
        held = {"ids": self._ids, "clusters": list(self._clusters), "columns": self._columns.tolist()}
        known = {name: getattr(self, name) for name in ("needed", "stop", "unit", "waiting")}
        known["pairs"] = self._rows()
        return {"made": {name: getattr(self, name) for name in _MADE}, **known, "state": held}

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Monitor:
        """The monitor that `to_json` wrote, from the path of its file or from the JSON itself; it goes on as before.

        Raises:
            InputError: it is something else, or damaged.
        """
        text = os.fspath(source)
        name = "this JSON" if text.startswith("{") else text
        try:
            held = json.loads(text if text.startswith("{") else read_text(text))
            monitor, state = cls(**held["made"]), held["state"]
            columns = np.array(state["columns"], np.float64)
            if held["schema"] != "sigjax-monitor/1" or not np.isfinite(columns).all():
                raise ValueError
            monitor._columns[:] = columns.reshape(monitor._columns.shape)
            monitor.unit, monitor.waiting = held["unit"], tuple(held["waiting"])
            monitor._ids, monitor._clusters = dict(state["ids"]), dict.fromkeys(state["clusters"])
        except InputError:
            raise
        except (KeyError, TypeError, ValueError):
            expected = "expected what `Monitor.to_json` or --checkpoint has written"
            raise InputError(f"{name}: is no monitor; {expected}") from None
        return monitor


def _digests(systems: Sequence[int], scores: np.ndarray) -> list[str]:
    """Of each instance of `[system, instance]`: these systems, as bits, and a checksum of their scores."""
    bits = f"{sum(1 << k for k in systems):x}:"
    return [f"{bits}{zlib.crc32(row.tobytes()):x}" for row in (scores[sorted(systems)] + 0.0).T]


def _new_labels(what: str, labels: Sequence[object] | None, number: int, before: Mapping[str, object]) -> list[str]:
    """Labels `[instance]` of which none was there before, nor any id twice."""
    names = [] if labels is None else list(map(str, labels))
    if labels is not None and len(names) != number:
        raise InputError(f"{what} must be one per instance, {number}, got {len(names)}")
    twice = Counter(names) if what == "ids" else {}
    for name in names:
        if name in before or twice.get(name, 1) > 1:
            raise InputError(f"{name!r} of {what} was there before; give each instance once, and clusters whole")
    return names


@dataclass(frozen=True, kw_only=True)
class MonitorOptions(ReadingOptions):
    """The options of `monitor`."""

    confidence_level: float = same(
        Settings, "confidence_level", doc="Decisions have an error rate of 1 - level.", more="", group="Main options"
    )
    correction: MonitorCorrection = option(
        "ebh", "The error rate: of false discoveries (ebh), of any (holm), of each pair (none).", group="Main options"
    )
    baseline: str | None = same(Settings, "baseline")
    largest: int | None = option(
        None, "The largest number of instances or clusters: stop there, too.", least=1, most=10**9, group="Main options"
    )
    bounds: Sequence[float] | None = option(
        None, "The lowest and the highest score there can be; gives intervals.", group="Main options"
    )
    checkpoint: str | os.PathLike[str] | None = option(
        None,
        "Keep what was seen in this file: the next call takes new instances only.",
        "Without it, instances count in the order of the files, which may then only grow at the end.",
        group="Main options",
    )


@takes(MonitorOptions)
def monitor(data: Any, options: MonitorOptions) -> Monitor:
    """Look at results that are still coming in: which pairs are settled, and may the evaluation stop?

    Call it on all results so far, as often as you like. An instance counts as soon as all systems that are needed have
    it. See `Monitor`, which takes instances one by one.

    Args:
        data: what `compare` takes, of a metric that is a mean over instances. Clusters come whole; one of which a
            needed system has only a part waits.
        options: see `MonitorOptions`.

    Raises:
        InputError: a metric that is no mean, several metrics, or a checkpoint of other systems, options or scores.

    Example:
        >>> seen = monitor({"A": [1, 1, 1, 1, 1, 1, 1, 1], "B": [0] * 8}, metric="accuracy", largest=100)
        >>> seen.stop, seen.pairs[0].better, seen.pairs[0].settled_at
        (True, 'A', 7)
    """
    check(options)
    refuse_zero(options.missing)
    evaluation, values, units = mean_scores(data, options, "monitor")
    bounds = getattr(evaluation.metric, "bounds", ()) if options.bounds is None else tuple(map(float, options.bounds))
    chosen = Monitor(
        evaluation.systems,
        alpha=Settings(confidence_level=options.confidence_level).alpha,
        correction=options.correction,
        baseline=options.baseline,
        largest=options.largest,
        binary=evaluation.metric.name == ACCURACY.name and units is None,
        bounds=bounds if all(map(math.isfinite, bounds)) else None,
        higher_is_better=evaluation.metric.higher_is_better,
    )
    seen, kept = chosen, options.checkpoint
    if kept is not None and os.path.exists(kept):
        seen = Monitor.from_json(kept)
        if other := [name for name in _MADE if getattr(seen, name) != getattr(chosen, name)]:
            raise InputError(f"{os.fspath(kept)}: has other {other[0]} than these files; give another file")
    names = evaluation.ids or tuple(map(str, range(1, evaluation.num_instances + 1)))
    names = [*map("\t".join, zip(names, evaluation.runs, strict=True))] if evaluation.runs else names
    present = np.ones(values.shape, bool) if evaluation.present is None else evaluation.present
    shown, now = np.where(present, values, np.nan), dict[str, dict[str, str]]()
    for name, digest in seen._ids.items():
        if (bits := digest.partition(":")[0]) not in now:  # the digests of all names, of the systems that were counted
            given = [k for k in range(len(values)) if int(bits, 16) >> k & 1]
            now[bits] = dict(zip(names, _digests(given, shown), strict=True))
        if now[bits].get(name) != digest:
            what = "with other scores than these files have" if name in now[bits] else "which these files lack"
            what = f"{name!r} was counted, {what}; what was counted must stay: restore it, or give another file"
            raise InputError(f"{os.fspath(kept or '')}: {what}")
    of_units = dict[str, list[int]]()
    for i, name in enumerate(names):
        if name not in seen._ids:
            of_units.setdefault(name if units is None else units[i], []).append(i)
    waiting = list[str]()
    for whole, some in groupby(of_units, key=lambda unit: present[:, of_units[unit]].min(axis=1).tolist()):
        index = list(chain(*map(of_units.__getitem__, some := list(some))))
        scores = {name: values[k, index] for k, name in enumerate(evaluation.systems) if whole[k]}
        if len(scores) > 1 and set(seen.needed) <= scores.keys():
            labels = None if units is None else [units[i] for i in index]
            seen.update(scores, ids=[names[i] for i in index], clusters=labels)
        else:
            waiting += some
    seen.unit, seen.waiting = "cluster" if evaluation.clusters else "instance", tuple(waiting)
    if kept is not None:
        seen.to_json(kept)
    return seen


def refuse_zero(missing: Missing) -> None:
    """Refuse to count missing results as 0."""
    if missing == "zero":
        raise InputError(f"{Hint('missing')}: results still to come are not 0; write failures into the files as 0")


def mean_scores(
    data: Any, options: ReadingOptions, what: str, missing: Missing = "pairwise"
) -> tuple[EvaluationRecord, np.ndarray, Sequence[str] | None]:
    """One evaluation by a mean over instances, the scores `[system, instance]`, and labels of units, if there are."""
    evaluation = by_one_metric(data, options, selects=True, missing=missing)
    if options.only is not None:
        evaluation = select(evaluation, options.only)
    stats, present = evaluation.stats, slice(None) if evaluation.present is None else evaluation.present
    is_mean = getattr(evaluation.metric, "score", None) is mean_score and (stats[..., 1][present] == 1).all()
    if not is_mean or evaluation.weights is not None:
        raise InputError(f"{what} takes a mean of one score per instance, and {evaluation.metric.name} is none")
    units = evaluation.clusters or (evaluation.ids if evaluation.runs else None)
    return evaluation, stats[..., 0].astype(np.float64), units


_FIRST_ROW = 2**41 + 2**38
"""Order r has the random words of resample 2^41 + 2^38 + 2 r, its swaps those of the next one: no test reaches them."""
_STEPS = 50


@dataclass(frozen=True, kw_only=True)
class StoppingOptions(ReadingOptions):
    """The options of `stopping`."""

    only: Sequence[str] | None = option(None, "Names of the systems; all when left out.", group="Main options")
    confidence_level: float = same(MonitorOptions, "confidence_level")
    correction: MonitorCorrection = same(MonitorOptions, "correction")
    baseline: str | None = same(Settings, "baseline")
    orders: int = option(100, "Random orders.", least=1, most=100_000, group="Main options")
    cost: float | None = option(
        None, "Cost of one system on one instance, in any currency.", above=0, group="Main options"
    )
    seed: int = same(StudyOptions, "seed")
    progress: bool = same(StudyOptions, "progress")


@dataclass(frozen=True, repr=False)
class Stopping(Study):
    """What a monitor would have saved and found, over random orders.

    Attributes:
        num_units: number of units: clusters, where there are some.
        needed: mean share of the results (of a system on an instance) until the monitor stops each system.
        at_settling: mean share of the units after which pairs are settled; None where none ever is.
        found: number of pairs in which the permutation test on all instances finds a difference.
        kept: mean share of these that the monitor settles; None where there are none.
        false_stops: number of orders, with the outputs of all systems swapped at random, in which any pair is settled;
            where nothing is adjusted for, the first pair.
        false_interval: Clopper-Pearson interval (95%) of their share, which is meant to be alpha at most.
        cost: of all results; None where that of one is not given.
        saved: the mean part of it that is saved.
        curve: mean share of the differences found that are settled after 1/50, 2/50, ... of the units.
    """

    systems: tuple[str, ...]
    metric: str
    num_instances: int
    num_units: int
    orders: int
    needed: float
    at_settling: float | None
    found: int
    kept: float | None
    false_stops: int
    false_interval: Interval
    cost: float | None
    saved: float | None
    curve: tuple[float, ...]
    alpha: float
    correction: MonitorCorrection
    signature: str

    def _lines(self) -> list[str]:
        found = f"it finds {self.kept or 0.0:.0%} of the {words.count(self.found, 'difference')} of the full test"
        which, share = "the first" if self.correction == "none" else "any", self.false_stops / self.orders
        lines = [
            f"the monitor needs {self.needed:.0%} of the results",
            found if self.found else "the full test finds no difference",
            f"{words.metric_title(self.metric)} on {words.count(self.num_instances, 'instance')}, "
            f"{words.count(len(self.systems), 'system')}; means over {words.count(self.orders, 'random order')}",
            f"{OF_INVERSE[self.correction][1]} at most {self.alpha:.3g}",
            "",
        ]
        if self.saved is not None:
            lines.append(f"saved: {self.saved:,.2f} of {self.cost:,.2f}")
        if self.at_settling is not None:
            lines.append(f"a pair that is settled is settled after {self.at_settling:.0%} of the instances (mean)")
        ends = words.format_interval(self.false_interval, ".3f")
        lines.append(f"false stops: with swapped outputs, {which} pair is settled in {share:.3f}")
        return [*lines, f"of the orders, 95% interval {ends}; meant: at most {self.alpha:.3g}", "", self.signature]

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        yield PANEL, self._draw

    def _draw(self, axes: Axes) -> None:
        at = np.arange(_STEPS + 1) / _STEPS
        axes.step(at, [0.0, *self.curve], where="post", color=BLUE, linewidth=1.2, label="differences settled")
        axes.axvline(self.needed, color=GREY, linewidth=0.8, linestyle="--", label="share of results needed")
        axes.set_ylim(0.0, 1.02)
        title = f"{words.metric_title(self.metric)}: differences of the full test that the monitor has settled"
        set_words(axes, title, "share of the instances", "share of differences")


@takes(StoppingOptions)
def stopping(data: Any, options: StoppingOptions) -> Stopping:
    """Replay an evaluation in random orders: what would `monitor` have found, and how many results would it need?

    Each order is replayed twice: as it is, where a system stops when all its pairs are settled; and with the outputs of
    all systems swapped at random on each unit, so that all are equal, and each stop is a false one.

    Args:
        data: what `compare` takes, of a metric that is a mean over instances.
        options: see `StoppingOptions`.

    Raises:
        InputError: a metric that is no mean, or several metrics.

    Example:
        >>> answers = {"A": [1] * 90 + [0] * 10, "B": [1] * 10 + [0] * 90, "C": [1] * 12 + [0] * 88}
        >>> study = stopping(answers, metric="accuracy", orders=20, progress=False)
        >>> study.found, study.kept, study.at_settling < 0.2
        (2, 1.0, True)
    """
    check(options)
    evaluation, values, labels = mean_scores(data, options, "stopping", missing="error")
    evaluation.check_complete()
    codes = np.arange(values.shape[1]) if labels is None else np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(codes)
    units, number = np.stack([np.bincount(codes, scores) for scores in values]), len(sizes)
    rates = {"baseline": options.baseline, "confidence_level": options.confidence_level, "seed": options.seed}
    alpha = Settings(confidence_level=options.confidence_level).alpha
    made = {"alpha": alpha, "correction": options.correction, "baseline": options.baseline, "largest": number}
    made |= {"binary": evaluation.metric.name == ACCURACY.name and labels is None}
    new: Callable[[], Monitor] = partial(Monitor, evaluation.systems, **made)
    full = compare(evaluation, correction=OF_INVERSE[options.correction][0], interval="none", progress=False, **rates)
    finds = {frozenset((each.a, each.b)) for each in full if words.is_significant(each)}
    names = [(each.a, each.b) for each in new().pairs]
    times, used, false_stops = np.empty((options.orders, len(names))), 0, 0
    with progress_bar("orders", options.orders, visible=options.progress) as advance:
        for r in range(options.orders):
            keys = draws.row_keys(options.seed, _FIRST_ROW + 2 * r + np.arange(2))
            order = np.argsort(draws.words(keys[:1], number + number % 2)[0, :number])
            replay = new()
            replay.update(units[:, order])
            times[r] = [each.settled_at or np.inf for each in replay.pairs]
            for name in evaluation.systems:  # until its last pair is settled
                until = max(time for time, pair in zip(times[r], names, strict=True) if name in pair)
                used += int(sizes[order[: int(min(until, number))]].sum())
            chance = draws.words(keys[1:], units.size + units.size % 2)[0, : units.size].reshape(units.shape)
            swapped = np.take_along_axis(units, np.argsort(chance, axis=0), axis=0)
            stops = new().update(swapped[:, order])
            false_stops += names[0] in stops if options.correction == "none" else bool(stops)
            advance(r + 1)
    settled, significant = np.isfinite(times), np.array([frozenset(pair) in finds for pair in names])
    needed, found = used / (options.orders * values.size), int(significant.sum())
    steps = np.arange(1, _STEPS + 1) / _STEPS * number
    cost = None if options.cost is None else options.cost * values.size
    return Stopping(
        systems=evaluation.systems,
        metric=evaluation.metric.name,
        num_instances=values.shape[1],
        num_units=number,
        orders=options.orders,
        needed=needed,
        at_settling=float(times[settled].mean() / number) if settled.any() else None,
        found=found,
        kept=float(settled[:, significant].mean()) if found else None,
        false_stops=false_stops,
        false_interval=proportion_interval(false_stops, options.orders, PROPORTION_LEVEL),
        cost=cost,
        saved=None if cost is None else (1.0 - needed) * cost,
        curve=tuple(float((times[:, significant] <= step).mean()) if found else 0.0 for step in steps),
        alpha=alpha,
        correction=options.correction,
        signature=study_signature("stopping", options, metric=evaluation.metric.name, units=number),
    )
