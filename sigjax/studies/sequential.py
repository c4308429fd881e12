r"""Sequential comparison: users may look after every instance, and stop as soon as the results decide.

`eprocess` defines the evidence E and says what the intervals assume. `monitored_pairs` describes the pairs, and `best`
searches for the best systems.
"""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections import Counter, namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.checks import baseline_of
from sigjax.comparison.options import CompareOptions
from sigjax.metrics.ratios import ACCURACY
from sigjax.metrics.registry import LARGEST
from sigjax.multiple.discoveries import closed_ebh
from sigjax.readers.options import listing, reading
from sigjax.records import Hint, InputError, Interval, Settings
from sigjax.records.options import check, option, same, takes
from sigjax.report.document import Document
from sigjax.report.report import Result
from sigjax.run.files import read_text
from sigjax.run.shards import CHECKSUM, checksum_of
from sigjax.studies.best import Goal, SystemStanding, best_words, evidence_against, standings_of
from sigjax.studies.eprocess import bernstein, log_e_values, one_sided_log_e, running, sides
from sigjax.studies.monitored_pairs import MonitorCorrection, MonitoredPair, adjusted_p_values, more_units, pairs_words
from sigjax.studies.study import signature_line
from sigjax.studies.trials import mean_scores, refuse_zero

_STEEP, _MANY = 4.0, 10**4
"""The smallest effect $c_k$ of the grid in `eprocess` is `_STEEP` / sqrt(N). N is the largest number of instances, by
default `_MANY`."""
_ROUNDING, _IN_MEMORY = 2.0**-50, 2**21
"""`_ROUNDING`: relative rounding error. Two sums whose relative difference is not larger than this count as equal.
`_IN_MEMORY`: about this many numbers are in memory at a time."""
_LOOK = 32
"""For the goal "best", at most this many units are computed in one step. A step ends as soon as a system is dropped, so
all units after that were computed in vain."""
_MADE = (
    "systems",
    "alpha",
    "correction",
    "baseline",
    "largest",
    "binary",
    "bounds",
    "higher_is_better",
    "goal",
    "keep",
)
"""The names of the arguments of `Monitor`. A monitor has attributes with the same names."""
_State = namedtuple("_State", "units instances total size log_e peak settled_at sign")
"""The state of the pairs, without the sums from which E is computed; each field is an array `[pair]`. `total` is the
sum of the differences, and `size` the sum of the absolute scores of both systems. `log_e` is the logarithm of E (it no
longer changes after the pair is settled), and `peak` its maximum so far. `settled_at` is 0 while the pair is open.
`sign` is the direction in which the pair was settled: 1, -1, or 0 if it is unclear."""
_DIGEST = re.compile("[0-9a-f]+:[0-9a-f]{1,8}")


class Monitor(Result):
    r"""Compare systems while their results come in: which pairs are settled, and which systems may stop?

    For each pair, E is the evidence against the null hypothesis of `permutation_test`: on each instance, the outputs of
    both systems could as well be swapped. Under this hypothesis, E has mean 1 at any stopping time. A pair is settled
    as soon as E is large enough, and stays settled. The order of the instances must be independent of the results. The
    module `eprocess` has the formulas and the assumptions of the intervals.

    With the goal "best", systems are dropped as soon as there is enough evidence that other systems are better; see
    `best`.

    Args:
        systems: names of the systems.
        alpha: the error rate that is controlled, however pairs depend on each other and whenever you stop.
        correction: what alpha controls. "ebh": the false discovery rate; "holm": the probability of any false finding;
            "none": the probability of a false finding for each pair.
        baseline: compare each system only with this system.
        largest: the largest possible number of units (instances, or clusters). The evaluation also stops at this
            number. The grid of effects is made for this number.
        binary: scores are 0 or 1; then half of E is Jeffreys' (beta) mixture.
        bounds: the lowest and the highest possible score, for intervals; 0 and 1 if `binary`.
        higher_is_better: whether higher scores are better.
        goal: "pairs": which pairs are settled? "best": which systems may still be among the best? This goal needs no
            correction: a given best system is ever dropped with probability at most alpha.
        keep: how many systems count as best, for the goal "best".

    Attributes:
        unit: "instance" (with all its runs) or "cluster".
        waiting: names of units that `monitor` has not counted yet, because a needed system has no results on them.

    Raises:
        InputError: there are fewer than two systems, two systems have the same name, or an option is outside its
            domain.

    Reference: Howard et al. (2020), "Time-uniform Chernoff bounds via nonnegative supermartingales"; Wang and Ramdas
    (2022), "False discovery rate control with e-values"; Xu, Fischer and Ramdas (2025), "Bringing closure to false
    discovery rate control"; Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting".

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
        goal: Goal = "pairs",
        keep: int = 1,
    ) -> None:
        check(MonitorOptions(correction=correction, largest=largest, bounds=bounds, goal=goal, keep=keep))
        if not 0.0 < alpha < 1.0:
            raise InputError(f"alpha must be a number between 0 and 1, such as 0.05, got {alpha!r}")
        self.systems, self.alpha, self.largest = tuple(map(str, systems)), alpha, largest
        self.goal: Goal = goal
        self.keep = keep
        self.correction: MonitorCorrection = "none" if goal == "best" else correction
        self.binary, self.higher_is_better = binary, higher_is_better
        if len(self.systems) < 2 or len(set(self.systems)) < len(self.systems):
            raise InputError(f"expected two systems or more of different names, got {listing(self.systems)}")
        if goal == "best" and (correction == "holm" or baseline is not None):
            given = "baseline" if baseline is not None else "correction"
            raise InputError(
                f"{Hint('goal', 'best')} compares all systems and needs no correction; leave {Hint(given)} out"
            )
        if not keep < len(self.systems) or (goal == "pairs" and keep != 1):
            expected = f"1 to {len(self.systems) - 1}, fewer than there are systems" if goal == "best" else "goal best"
            raise InputError(f"{Hint('keep')} is for {expected}, got {keep}")
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
        self._columns = np.zeros((16 + len(self._effects), len(self._members)))  # the next line makes views of it
        self._state, self._bounded, self._evidence = _State(*self._columns[:8]), self._columns[8:13], self._columns[13:]
        self._dropped_at, self._against = self._of_systems = np.zeros((2, len(self.systems)))
        self._ids, self._clusters, self.unit = dict[str, str](), dict[str, None](), "instance"
        self.waiting = tuple[str, ...]()  # units that wait for results of a needed system
        # With Holm's correction, no finding at all may be false, so the intervals are simultaneous.
        self._log_level = math.log(2.0 / alpha * (len(self._members) if correction == "holm" else 1))

    def brief(self) -> dict[str, Any]:
        """Return what `repr` shows."""
        return {name: getattr(self, name) for name in ("systems", "needed", "stop", "alpha", "correction")}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle a monitor as JSON, because its arrays are views of one array."""
        return Monitor.from_json, (self.to_json(),)

    @property
    def needed(self) -> tuple[str, ...]:
        """The systems of the pairs that are open and have fewer units than `largest`. All other systems may stop."""
        is_open = self._open
        if self.largest is not None:
            is_open &= self._state.units < self.largest
        return tuple(self.systems[i] for i in np.unique(self._members[is_open]).tolist())

    @property
    def _open(self) -> np.ndarray:
        """Mask `[pair]` of the open pairs. For the goal "pairs", these are the pairs that are not settled.

        For the goal "best", a pair is open while neither of its systems is dropped, and more than `keep` systems are
        left.
        """
        left = self._dropped_at == 0
        return (self._state.settled_at == 0) & left[self._members].all(axis=1) & (left.sum() > self.keep)

    @property
    def stop(self) -> bool:
        """Whether no system needs more instances."""
        return not self.needed

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 means stop, 3 means go on."""
        return 0 if self.stop else 3

    @property
    def pairs(self) -> tuple[MonitoredPair, ...]:
        """The present state of each pair."""
        state, is_open = self._state, self._state.settled_at == 0
        sums = state.units, self._evidence, self._effects
        more = more_units(is_open, *sums, self.correction, self.alpha, binary=self.binary).T.tolist()
        adjusted = adjusted_p_values(state.log_e if self.correction == "ebh" else state.peak, self.correction).tolist()
        deltas = np.where(self._balanced(), 0.0, state.total) / np.maximum(state.instances, 1.0)
        finding, signs = self._findings()
        made = list[MonitoredPair]()
        for k, (members, interval) in enumerate(zip(self._members.tolist(), self._intervals(), strict=True)):
            names, sign = [self.systems[i] for i in members], float(signs[k])
            usual, fewest, most = (int(number) if math.isfinite(number) else None for number in more[k])
            made.append(
                MonitoredPair(
                    *names,
                    instances=int(state.instances[k]),
                    units=int(state.units[k]),
                    delta=float(deltas[k]),
                    interval=interval,
                    log10_e=float(state.log_e[k]) / math.log(10.0),
                    p_value=math.exp(-max(float(state.peak[k]), 0.0)),
                    p_adjusted=adjusted[k],
                    settled_at=int(state.settled_at[k]) or None,
                    better=names[int((sign > 0) != self.higher_is_better)] if sign else None,
                    more_units=usual,
                    more_units_range=None if fewest is None and most is None else (fewest, most),
                    finding=bool(finding[k]),
                )
            )
        return tuple(made)

    def _findings(self) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays `[pair]`: a mask of the findings if the evaluation ends now, and the signs of their deltas.

        A sign is 0 if the direction is unclear, or if the pair is not a finding. The evidence E of a settled pair no
        longer changes: it is stopped when the pair is settled, which is a stopping time. So E of every pair still has a
        mean of at most 1 at any stopping time.
        """
        finding, signs = self._state.settled_at > 0, self._state.sign.copy()
        if self.correction == "ebh" and self.goal == "pairs":
            more = closed_ebh(self._state.log_e, self.alpha) & ~finding
            scaled, total = np.sign(self._evidence[2]), np.where(self._balanced(), 0.0, self._state.total)
            signs[more] = np.where(scaled == np.sign(total), scaled, 0.0)[more]
            finding |= more
        return finding, signs

    @property
    def standings(self) -> tuple[SystemStanding, ...]:
        """The state of each system: first the systems that may be among the best, then the dropped systems.

        The most recently dropped system comes first among the dropped systems.
        """
        means = np.where(self._balanced(), 0.0, self._state.total) / np.maximum(self._state.instances, 1.0)
        evidence = self._against_systems(self._sides())
        return standings_of(self.systems, self._members, means, evidence, self._against, self._dropped_at)

    def _records(self) -> Sequence[Any]:
        return self.standings if self.goal == "best" else self.pairs

    def _sides(self) -> np.ndarray:
        differ, _, scaled, *spread = self._evidence
        return sides(differ, scaled, np.array(spread), self._effects, binary=self.binary)

    def _against_systems(self, log_e: np.ndarray) -> np.ndarray:
        """Return the logarithms of $E_k$ `[..., system]`; $E_k$ is the evidence that system k is not among the best.

        `log_e` `[side, ..., pair]` are the logarithms of the one-sided evidence of all pairs (see `one_sided_log_e`).
        """
        better = log_e if self.higher_is_better else log_e[::-1]
        return evidence_against(better, self._members, len(self.systems), self.keep)

    def _balanced(self) -> np.ndarray:
        """Return a mask `[pair]` of the pairs whose differences add up to 0, up to the rounding errors of the sums."""
        return np.abs(self._state.total) <= _ROUNDING * self._state.units * self._state.size

    def update(
        self, scores: Any, *, ids: Sequence[object] | None = None, clusters: Sequence[object] | None = None
    ) -> list[tuple[str, str]]:
        """Add the scores of new instances, one after another; return the pairs that they settle.

        Args:
            scores: a dict from each system to its score, or to one score per instance; or an array `[system,
                instance]`. Systems that are not `needed` may be left out.
            ids: `[instance]` names. An instance that was added before is an error.
            clusters: `[instance]` labels. All instances of a cluster must come in one call; together they are one unit.

        Raises:
            InputError: a score is NaN, infinite or outside the bounds; a system is unknown; a needed system has no
                scores; lengths are unequal; an instance or a cluster was added before. Then nothing is added.
        """
        return self._update(scores, ids, clusters)[0]

    def _update(
        self, scores: Any, ids: Sequence[object] | None, clusters: Sequence[object] | None, *, stops: bool = False
    ) -> tuple[list[tuple[str, str]], int]:
        """Like `update`, but return two things: the pairs that were settled, and the number of units that were taken.

        With `stops`, units are taken only up to the first unit after which the set of needed systems changes. Then the
        instances of a cluster must be adjacent.
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
        names = _new_labels("ids", ids, rows.shape[1], self._ids)
        digests = _digests(index, values) if names else []
        labels = _new_labels("clusters", clusters, rows.shape[1], self._clusters)
        if labels and self.binary:
            raise InputError("clusters have sums that are not 0 or 1; leave binary out")
        if labels:
            self.unit = "cluster"
        sums, sizes, counts = _units(values, labels)
        settled, taken = self._take(index, sums, sizes, counts, stops=stops)
        number = int(counts[:taken].sum())
        self._ids.update(zip(names[:number], digests[:number], strict=True))
        self._clusters.update(dict.fromkeys(labels[:number]))
        return [(self.systems[i], self.systems[j]) for i, j in self._members[settled].tolist()], taken

    def _take(
        self, index: Sequence[int], values: np.ndarray, sizes: np.ndarray, counts: np.ndarray, *, stops: bool = False
    ) -> tuple[list[int], int]:
        """Take units of some systems; return the pairs that they settle, and how many units were taken.

        `index` are the positions of the systems. `values`, `sizes` and `counts` are the results of `_units`. Without
        `stops`, all units are taken. With `stops`, units are taken up to the first unit after which the set of needed
        systems changes.
        """
        there, needed, settled, taken = np.isin(self._members, index).all(axis=1), self.needed, list[int](), 0
        while taken < len(counts) and not (stops and self.needed != needed):
            chosen = np.flatnonzero(there & self._open if self.goal == "best" else there)
            if not len(chosen):
                return settled, len(counts)
            step = max(1, _IN_MEMORY // (len(chosen) * len(self._effects)))
            step = min(step, _LOOK) if self.goal == "best" else step  # a dropped system ends the step
            end = taken + step
            if stops and self.largest is not None:  # pairs also end at `largest`
                left = self.largest - self._state.units[chosen]
                end = taken + min([step, *map(int, left[left > 0].tolist())])
            of_a, of_b = values[:, taken:end][self._members[chosen].T]
            size = np.add(*sizes[:, taken:end][self._members[chosen].T])
            differences = np.where(np.abs(of_a - of_b) > _ROUNDING * size, of_a - of_b, 0.0)
            if self.goal == "best":
                new, number = list[int](), self._eliminate(chosen, differences.T, size.T)
            else:
                new, number = self._advance(chosen, differences.T, size.T, needed if stops else None)
            self._state.instances[chosen] += counts[taken : taken + number].sum()
            settled, taken = settled + new, taken + number
        return settled, taken

    def _advance(
        self, chosen: np.ndarray, differences: np.ndarray, size: np.ndarray, until: tuple[str, ...] | None
    ) -> tuple[list[int], int]:
        """Take new units for the pairs `chosen`; return the pairs that they settle, and how many units were taken.

        `differences` and `size` (sums of absolute scores) are `[unit, pair]`. `until` are the systems that are needed
        now: if given, no units are taken after the first unit that changes the needed systems.
        """
        state, settled, floor = self._state, list[int](), -math.log(self.alpha)
        path, after = log_e_values(differences, self._effects, self._evidence[:, chosen], binary=self.binary)
        totals, sizes = running(state.total[chosen], differences), running(state.size[chosen], size)
        peaks = np.maximum(np.maximum.accumulate(path, axis=0), state.peak[chosen])
        evidence, used = (state.log_e, path) if self.correction == "ebh" else (state.peak, peaks)
        is_open, number = state.settled_at[chosen] == 0, len(path)
        for t in np.flatnonzero((path[:, is_open] >= floor).any(axis=1)).tolist():
            if (path[t, is_open] >= floor).any():
                evidence[chosen[is_open]] = used[t, is_open]
                new = is_open & (adjusted_p_values(evidence, self.correction)[chosen] <= self.alpha)
                now, is_open = chosen[new], is_open & ~new
                units = state.units[now] + t + 1
                state.log_e[now], state.peak[now] = path[t, new], peaks[t, new]
                scaled = log_e_values(differences[: t + 1, new], self._effects, self._evidence[:, now])[1][2]
                # E is evidence for the sign of the sum of scaled differences. The plain sum may have the other sign.
                agree = np.abs(totals[t, new]) > _ROUNDING * units * sizes[t, new]
                agree &= np.sign(scaled) == np.sign(totals[t, new])
                state.settled_at[now], state.sign[now] = units, np.where(agree, np.sign(scaled), 0.0)
                settled += now.tolist()
                if until is not None and new.any() and self.needed != until:
                    number = t + 1
                    after = log_e_values(differences[:number], self._effects, self._evidence[:, chosen])[1]
                    break
        last = number - 1
        state.log_e[chosen[is_open]], state.peak[chosen[is_open]] = path[last, is_open], peaks[last, is_open]
        self._add(chosen, differences[:number], totals[last], sizes[last], after)
        return settled, number

    def _eliminate(self, chosen: np.ndarray, differences: np.ndarray, size: np.ndarray) -> int:
        """Take new units for the pairs `chosen`, up to the first unit that drops a system; return how many were taken.

        `differences` and `size` (sums of absolute scores) are `[unit, pair]`.
        """
        state, before = self._state, self._evidence[:, chosen]
        path, after = one_sided_log_e(differences, self._effects, before, binary=self.binary)
        whole = np.repeat(self._sides()[:, None], len(differences), axis=1)
        whole[..., chosen] = path
        against = self._against_systems(whole)
        left = self._dropped_at == 0
        over = np.flatnonzero((against[:, left] >= -math.log(self.alpha)).any(axis=1))
        number = int(over[0]) + 1 if len(over) else len(differences)
        if number < len(differences):
            after = one_sided_log_e(differences[:number], self._effects, before, binary=self.binary)[1]
        totals = running(state.total[chosen], differences[:number])[-1]
        self._add(chosen, differences[:number], totals, running(state.size[chosen], size[:number])[-1], after)
        both = np.logaddexp.reduce(path[:, :number], axis=0) - math.log(2.0)
        state.log_e[chosen] = both[-1]
        state.peak[chosen] = np.maximum(both.max(axis=0), state.peak[chosen])
        self._against[left] = np.maximum(self._against, against[:number].max(axis=0))[left]
        most = int(left.sum()) - self.keep  # never drop so many that fewer than `keep` are left
        worst = np.argsort(np.where(left, -against[number - 1], np.inf), kind="stable")[:most]
        dropped = worst[against[number - 1, worst] >= -math.log(self.alpha)]
        self._dropped_at[dropped] = state.units[chosen].max()
        return number

    def _add(
        self, chosen: np.ndarray, differences: np.ndarray, totals: np.ndarray, sizes: np.ndarray, after: np.ndarray
    ) -> None:
        """Store the state of the pairs `chosen` after new units: sums, evidence, and confidence sequences.

        `differences` `[unit, pair]` belong to the new units. `totals` and `sizes` `[pair]` are the new values of the
        fields `total` and `size` of `_State`. `after` is the new state from which E is computed (see `log_e_values`).
        """
        state = self._state
        if self.bounds is not None:
            moved = differences / (2.0 * (self.bounds[1] - self.bounds[0])) + 0.5
            before = self._bounded[:, chosen]
            self._bounded[:, chosen] = bernstein(before, state.units[chosen], moved, self._log_level)
        state.units[chosen] += len(differences)
        state.total[chosen], state.size[chosen] = totals, sizes
        self._evidence[:, chosen] = after

    def _take_complete(
        self, of_units: Mapping[str, Sequence[int]], names: Sequence[str], scores: np.ndarray, *, clustered: bool
    ) -> tuple[str, ...]:
        """Take the units on which all needed systems have results, in order; return the units that must wait.

        As soon as fewer systems are needed, units that waited for the other systems are checked again, before later
        units. So the result depends only on the units and their order, however they are split into calls.

        Args:
            of_units: a dict from each unit to the positions of its instances.
            names: `[instance]` names.
            scores: `[system, instance]`, NaN for a missing score.
            clustered: whether units are sums over several instances or runs.
        """
        present, units, waiting, at = ~np.isnan(scores), list(of_units), list[str](), 0
        have = [present[:, index].min(axis=1).tolist() for index in of_units.values()]
        while at < len(units):
            needed, whole, end = set(self.needed), have[at], at + 1
            while end < len(units) and have[end] == whole:
                end += 1
            given = {name: k for k, name in enumerate(self.systems) if whole[k]}
            if len(given) < 2 or not needed <= given.keys():
                waiting, at = waiting + units[at:end], end
                continue
            index = [i for unit in units[at:end] for i in of_units[unit]]
            labels = [unit for unit in units[at:end] for _ in of_units[unit]] if clustered else None
            new = {name: scores[k, index] for name, k in given.items()}
            at += self._update(new, [names[i] for i in index], labels, stops=bool(waiting))[1]
            if waiting and set(self.needed) != needed:
                units, waiting, at = waiting + units[at:], [], 0
                have = [present[:, of_units[unit]].min(axis=1).tolist() for unit in units]
        return tuple(waiting)

    def _intervals(self) -> list[Interval | None]:
        units, (*_, weight, weighted, penalty) = self._state.units, self._bounded
        if self.bounds is None or self._clusters or not units.any():
            return [None] * len(units)
        width, weight = self.bounds[1] - self.bounds[0], np.maximum(weight, 1e-300)
        centre, radius = width * (2.0 * weighted / weight - 1.0), 2.0 * width * (self._log_level + penalty) / weight
        ends = np.clip([centre - radius, centre + radius], -width, width).T.tolist()
        return [Interval(low, high) for low, high in ends]

    def document(self) -> Document:
        """The document has the verdict, the systems that may stop, and the table of pairs (or of systems)."""
        most = "" if self.largest is None else f" of at most {self.largest:,}"
        counted = f"{words.count(int(self._state.units.max()), self.unit)}{most}"
        if self.goal == "best":
            made = {"goal": "best", "keep": self.keep, "alpha": self.alpha, "largest": self.largest}
            of = (self.keep, self.alpha, self.unit)
            said, lines, table = best_words(self.standings, *of, going_on=not self.stop, binary=self.binary)
        else:
            made = {name: getattr(self, name) for name in _MADE[1:5]} | {"binary": self.binary or None}
            how = (self.alpha, self.correction, self.unit, self.largest)
            lacks_intervals = self.bounds is not None and bool(self._clusters)
            said, lines, table = pairs_words(
                self.pairs, self.systems, self.needed, *how, lacks_intervals=lacks_intervals
            )
        verdict = f"{'Stop' if self.stop else 'Go on'} after {counted}: {said}."
        lines += [*self._waiting_units(), *table, "", signature_line(study="monitor", **made)]
        return Document("Monitor", counted, verdict, lines)

    def _waiting_units(self) -> list[str]:
        """Return sentences on units that wait for results, and a warning if there are more units than `largest`."""
        size, number, lines = int(self._state.units.max()), len(self.waiting), list[str]()
        if self.largest is not None and size + number > self.largest:
            given = words.count(size + number, self.unit)
            lines.append(f"warning: {given} of at most {self.largest:,}; the largest number is that of all")
        if self.needed and number:
            waits = f"{words.count(number, self.unit)} {'waits' if number == 1 else 'wait'} for results of some system"
            ends = self.largest is not None and size + number >= self.largest
            must = f": complete {'it' if number == 1 else 'them'}, no other {self.unit}s are left" if ends else ""
            lines.append(f"{waits}, such as {self.waiting[0]!r}{must}")
        return lines

    def _fields(self) -> dict[str, Any]:
        """Return the content of the JSON: results, the state that `from_json` restores, and a checksum of both."""
        held = {"ids": self._ids, "clusters": list(self._clusters), "columns": self._columns.tolist()}
        held["systems"] = self._of_systems.tolist()
        known = {name: getattr(self, name) for name in ("needed", "stop", "unit", "waiting")}
        known["standings" if self.goal == "best" else "pairs"] = self._rows()
        fields = {"made": {name: getattr(self, name) for name in _MADE}, **known, "state": held}
        return fields | {CHECKSUM: checksum_of(fields)}

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Monitor:
        """Restore a monitor that `to_json` wrote, from the path of its file or from the JSON text.

        Raises:
            InputError: the source is not the JSON of a monitor, or is damaged.
        """
        text = os.fspath(source)
        is_json = text.lstrip().startswith("{")
        content, name = (text, "this JSON") if is_json else (read_text(text), text)
        try:
            held = json.loads(content, object_pairs_hook=_each_once)
            if held.pop("schema") != "sigjax-monitor/1" or held[CHECKSUM] != checksum_of(held):
                raise ValueError
            monitor, state = cls(**held["made"]), held["state"]
            columns, of_systems = (np.array(state[name], np.float64) for name in ("columns", "systems"))
            digests = state["ids"].values()
            labels = [held["unit"], *held["waiting"], *state["ids"], *state["clusters"]]
            shapes = (monitor._columns.shape, monitor._of_systems.shape)
            if not all(isinstance(label, str) for label in labels) or not all(map(_DIGEST.fullmatch, digests)):
                raise ValueError
            if (columns.shape, of_systems.shape) != shapes:  # the checksum is only right for finite numbers
                raise ValueError
            monitor._columns[:], monitor._of_systems[:] = columns, of_systems
            monitor.unit, monitor.waiting = held["unit"], tuple(held["waiting"])
            monitor._ids, monitor._clusters = dict(state["ids"]), dict.fromkeys(state["clusters"])
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):  # and InputError
            expected = "expected what `Monitor.to_json` or --checkpoint has written; restore it, or give another file"
            raise InputError(f"{name}: is no monitor, or damaged; {expected}") from None
        return monitor


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of the keys and values of a JSON object; raise ValueError if a key occurs twice."""
    if len(fields := dict(pairs)) < len(pairs):
        raise ValueError
    return fields


def _units(values: np.ndarray, labels: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum `values` within units: return exact sums, sums of absolute values, and numbers of instances.

    The values are `[system, instance]`, both sums `[system, unit]`, and the numbers of instances `[unit]`. `labels`
    `[instance]` are the units; without labels, each instance is a unit.
    """
    if not labels:
        return values, np.abs(values), np.ones(values.shape[1])
    places = dict[str, list[int]]()
    for i, label in enumerate(labels):
        places.setdefault(label, []).append(i)
    counts = np.array([*map(len, places.values())], np.float64)
    order, ends = [*chain(*places.values())], np.cumsum(counts).astype(int).tolist()
    parts = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    sums = [[math.fsum(row[part]) for part in parts] for row in values[:, order].tolist()]
    sizes = np.add.reduceat(np.abs(values[:, order]), [part.start for part in parts], axis=1)
    return np.array(sums), sizes, counts


def _digests(systems: Sequence[int], scores: np.ndarray) -> list[str]:
    """Return a text for each instance: the set of `systems` as bits, and a checksum of the scores of these systems.

    `systems` are numbers of systems. `scores` `[system, instance]` are the scores of all systems, in the order of their
    numbers.
    """
    bits = f"{sum(1 << k for k in systems):x}:"
    return [f"{bits}{zlib.crc32(row.tobytes()):x}" for row in (scores[sorted(systems)] + 0.0).T]


def _new_labels(what: str, labels: Sequence[object] | None, number: int, before: Mapping[str, object]) -> list[str]:
    """Return the labels `[instance]` as texts; raise an error for labels of earlier calls, and ids that occur twice.

    There must be `number` labels. `before` contains the labels of earlier calls. `what` names the labels in messages.
    """
    names = [] if labels is None else list(map(str, labels))
    if labels is not None and len(names) != number:
        raise InputError(f"{what} must be one per instance, {number}, got {len(names)}")
    twice = Counter(names) if what == "ids" else {}
    for name in names:
        if name in before or twice.get(name, 1) > 1:
            raise InputError(f"{name!r} of {what} was there before; give each instance once, and clusters whole")
    return names


@dataclass(frozen=True, kw_only=True)
class MonitorOptions:
    """The options of `monitor`."""

    read: Mapping[str, Any] | None = same(CompareOptions, "read")
    confidence_level: float = same(
        Settings, "confidence_level", doc="Decisions have an error rate of 1 - level.", more="", group="Main options"
    )
    correction: MonitorCorrection = option(
        "ebh", "ebh: false discovery rate; holm: any false finding; none: each pair.", group="Main options"
    )
    goal: Goal = option(
        "pairs",
        "pairs: settle pairs; best: find the best systems, and drop the others.",
        "The goal best needs fewer results, and no correction.",
        group="Main options",
    )
    keep: int = option(
        1, "How many best systems are looked for (goal best).", least=1, most=10**6, group="Main options"
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
    progress: bool = same(CompareOptions, "progress")


@takes(MonitorOptions)
def monitor(data: Any, options: MonitorOptions) -> Monitor:
    """Look at results that are still coming in: which pairs are settled, and may the evaluation stop?

    Call it on all results so far, as often as you like. An instance counts as soon as all needed systems have results
    on it. To add instances one by one, see `Monitor`.

    Args:
        data: what `compare` takes, with a metric that is a mean over instances. If a needed system has results on only
            a part of a cluster, the cluster waits.
        options: the fields of `MonitorOptions`, as keyword arguments.

    Raises:
        InputError: the metric is not a mean over instances, there are several metrics, or the checkpoint has other
            systems, options or scores.

    Example:
        >>> results = {"A": [1, 1, 1, 1, 1, 1, 1, 1], "B": [0] * 8}
        >>> seen = monitor(results, read={"metric": "accuracy"}, largest=100)
        >>> seen.stop, seen.pairs[0].better, seen.pairs[0].settled_at
        (True, 'A', 7)
    """
    check(options)
    refuse_zero(reading(options.read).missing)
    evaluation, values, units = mean_scores(data, options, "monitor")
    bounds = getattr(evaluation.metric, "bounds", ()) if options.bounds is None else tuple(map(float, options.bounds))
    seen, kept, there = None, options.checkpoint, evaluation.systems
    if kept is not None and os.path.exists(kept):
        seen = Monitor.from_json(kept)
        # The files may list the same systems in another order; other names give an error below.
        there = seen.systems if set(seen.systems) == set(there) else there
    chosen = Monitor(
        there,
        alpha=Settings(confidence_level=options.confidence_level).alpha,
        correction=options.correction,
        baseline=options.baseline,
        largest=options.largest,
        binary=evaluation.metric.name == ACCURACY.name and units is None,
        bounds=bounds if all(map(math.isfinite, bounds)) else None,
        higher_is_better=evaluation.metric.higher_is_better,
        goal=options.goal,
        keep=options.keep,
    )
    if seen is not None and (other := [name for name in _MADE[::-1] if getattr(seen, name) != getattr(chosen, name)]):
        what = f"{other[0]} than is asked for; give another file"
        if other[-1] == "systems":
            what = "systems than these files; a system that stopped keeps its column, with empty cells"
        raise InputError(f"{os.fspath(kept or '')}: has other {what}")
    seen, rows = seen or chosen, list(map(evaluation.systems.index, there))
    values = values[rows]
    present = np.ones(values.shape, bool) if evaluation.present is None else evaluation.present[rows]
    names = evaluation.ids or tuple(map(str, range(1, evaluation.num_instances + 1)))
    names = [*map("\t".join, zip(names, evaluation.runs, strict=True))] if evaluation.runs else names
    shown = np.where(present, values, np.nan)
    _check_counted(seen, names, shown, kept)
    of_units = dict[str, list[int]]()
    for i, name in enumerate(names):
        if name not in seen._ids:
            of_units.setdefault(name if units is None else units[i], []).append(i)
    seen.waiting = seen._take_complete(of_units, names, shown, clustered=units is not None)
    seen.unit = "cluster" if evaluation.clusters else "instance"
    if kept is not None:
        seen.to_json(kept)
    return seen


def _check_counted(
    seen: Monitor, names: Sequence[str], scores: np.ndarray, kept: str | os.PathLike[str] | None
) -> None:
    """Raise an error if `scores` `[system, instance]` (NaN if missing) differ from the scores that were counted before.

    `kept` is the path of the checkpoint, for the message.
    """
    now = dict[str, dict[str, str]]()
    for name, digest in seen._ids.items():
        if (bits := digest.partition(":")[0]) not in now:  # digests of all instances, for this set of systems
            given = [k for k in range(len(scores)) if int(bits, 16) >> k & 1]
            now[bits] = dict(zip(names, _digests(given, scores), strict=True))
        if now[bits].get(name) != digest:
            what = "with other scores than these files have" if name in now[bits] else "which these files lack"
            what = f"{name!r} was counted, {what}; what was counted must stay: restore it, or give another file"
            raise InputError(f"{os.fspath(kept or '')}: {what}")
