"""Domain: do the winners of tests on one test set win on others, by p?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sigjax.records import Evaluation, InputError, Interval, Settings, Test
from sigjax.records.options import check, option, same, takes
from sigjax.studies.formulas import paired_share
from sigjax.studies.records import Study
from sigjax.studies.thresholds import (
    PairColumns,
    Side,
    Tested,
    TestedOptions,
    check_pairs,
    compared_pairs,
    table_ranges,
)
from sigjax.studies.trials import on_instances, select


@dataclass(frozen=True, kw_only=True)
class DomainOptions(TestedOptions):
    """The options of `domain`."""

    level: float = same(Settings, "level", doc="Level of the intervals of shares.", group="Intervals")
    source: str | None = option(
        None, "The test set whose p-values count; the first when left out.", group="Main options"
    )
    first: int | None = option(
        None, "Take so many instances of each test set, the first ones; all when left out.", least=2, most=2**53
    )


@dataclass(frozen=True)
class DomainRange:
    """Pairs with p in one range on the source.

    Attributes:
        test: "permutation" or "bootstrap".
        other: name of the other test set.
        low: lower end of the range, which belongs to the range asked for, not to those of Table 1.
        high: upper end, which belongs to it.
        pairs: number of pairs with p in the range on the source; pairs with equal scores there are left out.
        right: how many winners on the source have the better score on the other test set.
        share: right / pairs; None without pairs.
        interval: of the share, for other systems like these; see `formulas.paired_share`.
    """

    test: Test
    other: str
    low: float
    high: float
    pairs: int
    right: int
    share: float | None
    interval: Interval | None


@dataclass(frozen=True)
class DomainPair:
    """One pair of systems on one test set.

    Attributes:
        test_set: name of the test set.
        test: "permutation" or "bootstrap".
        winner: the better system on this test set; of equal systems the first in the data.
        loser: the other one.
        gain: |score of the winner - score of the loser|, on the scale of the metric.
        p_value: the p-value on this test set.
    """

    test_set: str
    test: Test
    winner: str
    loser: str
    gain: float
    p_value: float


@dataclass(frozen=True, repr=False)
class Domain(Study):
    """How often the winners on one test set win on others, by their p-value.

    Attributes:
        systems: names of the systems.
        metric: name of the metric.
        source: name of the test set whose p-values count.
        test_sets: number of instances of each test set, the source first.
        ranges: test by test and test set by test set: first the range asked for, then those of Table 1 of the paper.
        pairs: test by test, test set by test set, and pair by pair.
        level: of the intervals.
        alternative: "one-sided" (for the winner) or "two-sided".
        settings: of the tests.
        signature: one line that reproduces the numbers.
    """

    rows = "ranges"

    systems: tuple[str, ...]
    metric: str
    source: str
    test_sets: dict[str, int]
    ranges: tuple[DomainRange, ...]
    pairs: tuple[DomainPair, ...]
    level: float
    alternative: Side
    settings: Settings
    signature: str


@takes(DomainOptions)
def domain(test_sets: Evaluation | Mapping[str, Evaluation], options: DomainOptions) -> Domain:
    """Test all pairs on one test set, and ask how often their winners win on other test sets.

    A test says what to expect of other samples of the same population. Other domains are other populations: there
    winners may lose more often than p says, or all alike. The share of winners that win elsewhere, by their p, shows
    it. Systems are compared on the other test sets by their scores alone; p-values there are for the figure.

    Intervals are for other systems like these, since pairs share systems. They say nothing of other domains.

    Args:
        test_sets: name -> statistics of the same systems; or one evaluation with strata, each of which is a test set.
        options: see `DomainOptions`.

    Raises:
        InputError: an option or the data cannot be used, fewer than two test sets, or other systems or another metric
            on one of them.

    Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 4.2, Table 1 and Figure 11.

    Example:
        >>> from sigjax import Evaluation
        >>> news = Evaluation.from_arrays({"A": [1, 1, 1, 1, 0, 1], "B": [0, 1, 0, 0, 0, 0], "C": [0, 1, 0, 1, 0, 0]})
        >>> mail = Evaluation.from_arrays({"A": [1, 1, 0, 1], "B": [0, 0, 1, 0], "C": [0, 1, 1, 1]})
        >>> study = domain({"news": news, "mail": mail}, test="permutation", p_range=[0.05, 0.3])
        >>> [(one.low, one.high, one.pairs, one.right) for one in study.ranges[:1]]
        [(0.05, 0.3, 2, 1)]
    """
    check(options)
    named = _named_sets(test_sets, options)
    (source, evaluation), *_ = named.items()
    settings = check_pairs([evaluation], options)
    tested = {name: _tested(name, each, settings, options) for name, each in named.items()}
    ranges: list[DomainRange] = []
    for index, first in enumerate(tested[source].parts):
        for other in list(named)[1:]:
            ranges += _ranges(other, first, tested[other].parts[index], options)
    systems, (low, high) = evaluation.systems, options.p_range
    sizes = {name: each.num_instances for name, each in named.items()}
    return Domain(
        systems=systems,
        metric=evaluation.metric.name,
        source=source,
        test_sets=sizes,
        ranges=tuple(ranges),
        pairs=tuple(pair for name, each in tested.items() for one in each.parts for pair in _pairs(name, one, systems)),
        level=options.level,
        alternative=options.alternative,
        settings=settings,
        signature=f"study:domain|sets:{','.join(f'{name} {size}' for name, size in sizes.items())}|p:{low:g}-{high:g}|"
        + tested[source].signature,
    )


def _named_sets(given: Evaluation | Mapping[str, Evaluation], options: DomainOptions) -> dict[str, Evaluation]:
    """The test sets by name, the source first, with the same systems in the same order.

    Raises:
        InputError: fewer than two, not the same systems or metric, or an unknown source.
    """
    if not isinstance(given, Evaluation | Mapping) or not all(
        isinstance(each, Evaluation) for each in (given.values() if isinstance(given, Mapping) else ())
    ):
        raise InputError('expected an Evaluation with strata, or one per test set, such as {"news": ..., "web": ...}')
    named = _by_strata(given) if isinstance(given, Evaluation) else dict(given)
    if len(named) < 2:
        raise InputError(
            f"domain needs two test sets or more, got {len(named)}: give one file per test set, or --strata with the "
            "label of the test set of each instance"
        )
    source = next(iter(named)) if options.source is None else options.source
    if source not in named:
        raise InputError(f"source {source!r} is not a test set; expected one of {', '.join(list(named)[:12])}")
    named = {source: named[source]} | named
    first = named[source]
    for name, each in named.items():
        if each.metric.name != first.metric.name:
            raise InputError(f"{name}: has the metric {each.metric.name!r}, but {source} has {first.metric.name!r}")
        if set(each.systems) != set(first.systems):
            apart = sorted(set(each.systems) ^ set(first.systems))
            raise InputError(
                f"{name} and {source}: only one of them has the system {apart[0]!r}; name the systems that both have "
                "(--systems)"
            )
    chosen = slice(options.first)
    return {name: on_instances(select(each, first.systems), chosen) for name, each in named.items()}


def _by_strata(evaluation: Evaluation) -> dict[str, Evaluation]:
    """The instances of each stratum, in the order of the data."""
    strata = np.array(evaluation.strata or ())
    return {
        label: on_instances(evaluation, np.flatnonzero(strata == label), strata=None)
        for label in dict.fromkeys(evaluation.strata or ())
    }


def _tested(name: str, evaluation: Evaluation, settings: Settings, options: DomainOptions) -> Tested:
    """All pairs on one test set, which errors name."""
    try:
        check_pairs([evaluation], options)
        return compared_pairs([evaluation], settings, options)
    except InputError as error:
        raise InputError(f"{name}: {error.neutral}") from None


def _ranges(other: str, first: PairColumns, second: PairColumns, options: DomainOptions) -> Iterator[DomainRange]:
    """The shares on one other test set by one test."""
    ahead = {(a, b): gain > 0.0 for (a, b), gain in zip(second.members.tolist(), second.gains.tolist(), strict=True)}
    right = np.array([ahead.get((a, b), False) for a, b in first.members.tolist()])
    for each in table_ranges(options.p_range):
        inside = (first.gains > 0.0) & each.holds(first.p_values)
        pairs, hits = int(inside.sum()), int((inside & right).sum())
        share = hits / pairs if pairs else None
        interval = paired_share(right[inside], first.members[inside], options.level) if pairs else None
        yield DomainRange(first.test, other, each.low, each.high, pairs, hits, share, interval)


def _pairs(name: str, one: PairColumns, systems: tuple[str, ...]) -> Iterator[DomainPair]:
    columns = zip(one.members.tolist(), one.gains.tolist(), one.p_values.tolist(), strict=True)
    for (winner, loser), gain, p_value in columns:
        yield DomainPair(name, one.test, systems[winner], systems[loser], gain, p_value)
