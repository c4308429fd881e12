"""Size: how does the gain that is needed fall with the size of the test set?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, get_args

import numpy as np

from sigjax.comparison.options import list_evaluations
from sigjax.records import Evaluation, InputError, Settings, Test
from sigjax.records.options import check, option, takes
from sigjax.resample.draws import row_keys, words
from sigjax.resample.units import units_of_instances
from sigjax.run.host import progress_bar
from sigjax.studies.records import Study
from sigjax.studies.thresholds import (
    Drawn,
    Gained,
    PairColumns,
    PairsOptions,
    SizeLaw,
    ThresholdAt,
    check_pairs,
    compared_pairs,
    few_pairs,
    fit_law,
    make_threshold,
    scores_of,
    system_draws,
)
from sigjax.studies.trials import on_instances

_FIRST_ROW = 2**41 + 2**39
"""Order r has the random words of resample 2^41 + 2^39 + r, which neither tests nor draws of systems reach."""
Subsets = Literal["initial", "random"]
_SIZES, _LEAST = 5, 20
"""By default so many sizes, each half of the next, of at least so many units."""


@dataclass(frozen=True, kw_only=True)
class SizeOptions(PairsOptions):
    """The options of `size`."""

    sizes: Sequence[int] | None = option(
        None,
        "Numbers of instances (or clusters); by default all, half of them, ... (5 sizes).",
        group="Main options",
        least=2,
    )
    subsets: Subsets = option("initial", "The first instances, or random ones.", group="Main options")
    orders: int = option(5, "Number of random orders; each size takes the first instances of each.", least=1, most=1000)
    gain: float | None = option(
        None, "The gain that is to be significant [default: of the best system over the next].", above=0
    )


@dataclass(frozen=True, repr=False)
class Size(Study):
    """Thresholds of gains at several sizes of the test set, and the laws that they follow.

    Attributes:
        systems: all systems, in the order of the data.
        points: metric by metric, test by test, by the range and by the normal law, order by order, by size.
        laws: metric by metric, test by test, by the range and by the normal law; none where no pair is in the range.
        subsets: "initial" or "random".
        p_range: lowest and highest p of the pairs that a threshold is made of.
        quantile: the threshold is this quantile of their gains.
        draws: number of draws of systems behind the intervals.
        num_instances: number of instances.
        num_units: number of units (instances, or clusters where there are some).
        alternative: "one-sided" (in favour of the winner) or "two-sided".
        notes: what a reader of the numbers should know.
        settings: of the tests.
        signature: one line that reproduces the numbers.
    """

    rows = "points"

    systems: tuple[str, ...]
    points: tuple[ThresholdAt, ...]
    laws: tuple[SizeLaw, ...]
    subsets: Subsets
    p_range: tuple[float, float]
    quantile: float
    draws: int
    num_instances: int
    num_units: int
    alternative: str
    notes: tuple[str, ...]
    settings: Settings
    signature: str


@takes(SizeOptions)
def size(evaluation: Evaluation | Sequence[Evaluation], options: SizeOptions) -> Size:
    r"""Relate the threshold of gains (see `gains`) to the size of the test set.

    The systems are compared on growing initial segments of the instances, or on growing random subsets. If instances
    are alike, a threshold is proportional to $n^{-1/2}$: four times the instances halve it. The constant and, beside
    it, a free exponent are fitted to the thresholds on the log scale. From the constant follows the size at which
    today's gain would be as large as the threshold, and so significant for nearly all pairs with such a gain, if it
    stays what it is.

    Args:
        evaluation: the statistics of the systems, or several evaluations of the same systems, one per metric.
        options: see `SizeOptions`.

    Raises:
        InputError: an option or the data cannot be used, or a size above that of the data.

    Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 4.1.

    Example:
        >>> import numpy as np
        >>> from sigjax import Evaluation
        >>> scores = np.random.default_rng(0).normal(np.linspace(0.0, 1.0, 12), 1.0, (400, 12)).T
        >>> study = size(Evaluation.from_arrays({f"s{k}": each for k, each in enumerate(scores)}), sizes=[100, 400])
        >>> [round(at.threshold, 2) for at in study.points if at.by == "normal"], study.laws[-1].exponent.value < -0.4
        ([0.25, 0.12], True)
    """
    evaluations = list_evaluations(evaluation)
    check(options)
    settings = check_pairs(evaluations, options)
    if evaluations[0].unit == "response":
        raise InputError("size takes parts of the instances, but these are responses; read without unit response")
    orders = _orders(evaluations[0], options)
    num_units, systems = len(orders[0]), evaluations[0].systems
    sizes = _sizes(options.sizes, num_units)
    series, signature = _series(evaluations, orders, sizes, settings, options)
    points = tuple(each.point for some in series.values() for each in some)
    gains = {one.metric.name: _gain(one, settings, options) for one in evaluations}
    laws = (fit_law(some, gains[metric], options.level) for (metric, _, _), some in series.items())
    kind = options.subsets if options.subsets == "initial" else f"random|orders:{options.orders}"
    return Size(
        systems=systems,
        points=points,
        laws=tuple(law for law in laws if law is not None),
        subsets=options.subsets,
        p_range=(options.p_range[0], options.p_range[1]),
        quantile=options.quantile,
        draws=options.draws,
        num_instances=evaluations[0].num_instances,
        num_units=num_units,
        alternative=options.alternative,
        notes=tuple(few_pairs([at.effective_pairs for at in points], options.law)),
        settings=settings,
        signature=f"study:size|subsets:{kind}|sizes:{','.join(map(str, sizes))}|{options.signature}|{signature}",
    )


Series = dict[tuple[str, Test, Gained], list[Drawn]]
"""The thresholds of each metric, test and way to make them."""


def _orders(evaluation: Evaluation, options: SizeOptions) -> list[list[np.ndarray]]:
    """The instances of each unit, unit by unit in each order."""
    unit, _ = units_of_instances(evaluation)
    first = np.unique(unit, return_index=True)[1]
    instances = [np.flatnonzero(unit == each) for each in np.argsort(first)]
    if options.subsets == "initial":
        return [instances]
    random = words(row_keys(options.seed, _FIRST_ROW + np.arange(options.orders)), len(instances) + len(instances) % 2)
    order = np.argsort(random[:, : len(instances)], axis=1, kind="stable")
    return [[instances[each] for each in one] for one in order.tolist()]


def _sizes(asked: Sequence[int] | None, num_units: int) -> list[int]:
    """The sizes, ascending.

    Raises:
        InputError: a size above that of the data.
    """
    if asked is None:
        halves = (num_units >> k for k in range(_SIZES))
        return sorted({num_units, *(each for each in halves if each >= _LEAST)})
    if max(asked) > num_units:
        raise InputError(f"sizes must be at most the {num_units:,} units of the data, got {max(asked):,}")
    return sorted(asked)


def _series(
    evaluations: Sequence[Evaluation],
    orders: Sequence[Sequence[np.ndarray]],
    sizes: Sequence[int],
    settings: Settings,
    options: SizeOptions,
) -> tuple[Series, str]:
    """The thresholds of all orders and sizes, and the signature of the largest."""
    draws = system_draws(settings.seed, len(evaluations[0].systems), options.draws)
    series, signature = Series(), ""
    # All orders have the same instances at the full size.
    subsets = [
        (order, size) for order, size in product(range(len(orders)), sizes) if not order or size < len(orders[0])
    ]
    with progress_bar("subsets", len(subsets), shown=options.progress) as advance:
        for done, (order, size) in enumerate(subsets, start=1):
            instances = np.sort(np.concatenate(orders[order][:size]))  # in the order of the data
            parts = [on_instances(each, instances) for each in evaluations]
            tested = compared_pairs(parts, settings, replace(options, progress=False))
            for one, by in product(tested.parts, get_args(Gained)):
                found = _threshold_at(one, by, draws, options, order=order, size=size)
                series.setdefault((one.metric, one.test, by), []).append(found)
            if size == sizes[-1]:
                signature = tested.signature
            advance(done)
    return series, signature


def _threshold_at(
    one: PairColumns, by: Gained, draws: np.ndarray, options: SizeOptions, *, order: int, size: int
) -> Drawn:
    points = one.points(by, options.p_range, options.alternative, np.ones(len(one.gains), bool))
    found, drawn = make_threshold("all", points, draws, len(one.gains), options.law)
    ends = found.low, found.high
    at = ThresholdAt(one.metric, one.test, by, order, size, found.gain, *ends, found.num_pairs, found.effective_pairs)
    return Drawn(at, drawn)


def _gain(evaluation: Evaluation, settings: Settings, options: SizeOptions) -> float | None:
    """The gain that is to be significant; None where no system is better than another."""
    if options.gain is not None:
        return options.gain
    scores = np.unique(scores_of(evaluation, settings, options.device))
    if len(scores) < 2:
        return None
    best, second = scores[[-1, -2]] if evaluation.metric.higher_is_better else scores[[0, 1]]
    return abs(float(best - second))
