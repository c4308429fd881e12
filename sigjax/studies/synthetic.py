"""Synthetic systems: families of correlated ones from a few real ones, and the generators of the papers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sigjax.comparison.options import ReadingOptions, evaluations_of
from sigjax.metrics import METRICS
from sigjax.readers import Evaluation
from sigjax.records import EvaluationRecord, Hint, InputError, Metric, Settings
from sigjax.records.options import check, option, same, takes

Generator = Literal["mixtures", "words", "runs"]
_ROUNDS = 8
"""Rounds of solving for a share; the first is exact for means, and each round after it gains a digit or more."""


@dataclass(frozen=True, kw_only=True)
class SyntheticOptions(ReadingOptions):
    """The options of `synthetic`."""

    generator: Generator = option(
        "mixtures",
        "Mixtures of systems; words that taggers have right; or runs of a classifier.",
        'The last two need no data. "words": lengths of sentences are normal(12.08, 10.60), rounded and at least 1; '
        'the share of right words is normal(0.9543, 0.1116) for each sentence, clipped to [0, 1]. "runs": of 1,000 '
        "items, of which 500 are gold, each run finds normal(400, 80) gold items and normal(60, 15) others, rounded "
        "and clipped to [0, 500]; a run is an instance.",
        group="Main options",
    )
    count: int = option(
        10, "Number of systems; for mixtures, per system of the data.", group="Main options", least=2, most=10_000
    )
    correlation: float = option(
        0.9,
        "Correlation of two mixtures of the same systems.",
        "That of what their instances add to the score, which decides how surely two systems are told apart.",
        group="Main options",
        above=0,
        below=1,
    )
    instances: int = option(
        1000, "Number of sentences or runs.", "The papers have up to 10,000 and 30,000.", least=1, most=10_000_000
    )
    step: float = option(
        0.0,
        "What the mean share of right words, or recall, loses from one system to the next.",
        "Systems are equally good with 0.",
        above=-0.1,
        below=0.1,
    )
    seed: int = same(Settings, "seed", doc="The same seed gives the same systems with one version of NumPy.")


@takes(SyntheticOptions)
def synthetic(data: Any, options: SyntheticOptions) -> Evaluation:
    r"""Make systems whose outputs are as correlated as asked, or systems by the generators of the papers.

    *Mixtures* stand in for the variants of a system that resampled training sets give. A mixture of a system with
    another one has the output of the first on a random set of instances, each with probability s, and else that of the
    second; partners take turns. If instance i adds $x_i$ to the score of the mixture with the output of the first, and
    $y_i$ with that of the second, two such mixtures have the correlation $v / (v + s (1 - s) m)$, where v is the
    variance of $s x_i + (1 - s) y_i$ and m the mean of $(x_i - y_i)^2$; s is solved from that, with s >= 1/2. A system
    that adds the same on every instance, such as one that is always right, is copied.

    Args:
        data: the systems to mix, as `compare` takes them; None for the other generators.
        options: see `SyntheticOptions`.

    Returns:
        An `Evaluation` that can be saved; mixtures are named SYSTEM~1, SYSTEM~2, ...

    Raises:
        InputError: an option or the data cannot be used, or mixtures of two systems cannot have so low a correlation.

    Reference: Berg-Kirkpatrick et al. (2012), section 3.2; Zmigrod et al. (2022), section 5; Van Asch (2013),
    "Approximate randomization tests", on precision and F, which are not normal even where recall is.

    Example:
        >>> made = synthetic(None, generator="runs", instances=3, count=2)
        >>> made.systems, made.metric.name, made.stats.shape
        (('A', 'B'), 'fscore', (2, 3, 3))
        >>> from sigjax import Evaluation
        >>> mixed = synthetic(Evaluation.from_arrays({"A": [1, 0, 1, 1], "B": [0, 1, 1, 0]}), count=2)
        >>> mixed.systems
        ('A~1', 'A~2', 'B~1', 'B~2')
    """
    check(options)
    if options.generator == "mixtures":
        if data is None:
            raise InputError("mixtures need systems to mix; give their evaluation, or take the generator words or runs")
        evaluation, *others = evaluations_of(data, options)
        if others:
            raise InputError(f"mixtures are by one metric, got {1 + len(others)}; name one ({Hint('metric')})")
        return _mixtures(evaluation, options)
    if data is not None:
        raise InputError(f"the generator {options.generator} takes no data; leave the data out, or take mixtures")
    make, name = _GENERATORS[options.generator]
    counts = make(options.instances, options.count, options.step, options.seed)
    return Evaluation.from_arrays(dict(zip(_names(options.count), counts, strict=True)), metric=METRICS[name])


def tagged_words(instances: int, systems: int, step: float, seed: int) -> np.ndarray:
    """Right words and words of taggers on each sentence, `[system, sentence, 2]`, by Table 1 of Zmigrod et al. (2022).

    >>> tagged_words(4, 2, 0.0, 22)[0].tolist()
    [[1, 1], [1, 1], [1, 1], [5, 5]]
    """
    rng = np.random.default_rng(seed)
    words = np.maximum(1, np.rint(rng.normal(12.08, 10.60, instances))).astype(np.int64)
    mean = 0.9543 - step * np.arange(systems)
    accuracy = np.clip(rng.normal(mean[:, None], 0.1116, (systems, instances)), 0.0, 1.0)
    right = np.rint(words * accuracy).astype(np.int64)
    return np.stack([right, np.broadcast_to(words, right.shape)], axis=-1)


def classifier_runs(instances: int, systems: int, step: float, seed: int) -> np.ndarray:
    """True positives, predictions and gold items of runs `[system, run, 3]`, as in the slides of Van Asch (2013).

    A run cannot find more than the 500 gold items, so that a tenth of the runs find all. The slides leave that out.
    """
    rng, shape = np.random.default_rng(seed), (systems, instances)
    means = 400.0 - 500.0 * step * np.arange(systems)
    tp, false = (
        np.clip(np.rint(rng.normal(mean, spread, shape)), 0, 500).astype(np.int64)
        for mean, spread in ((means[:, None], 80.0), (60.0, 15.0))
    )
    return np.stack([tp, tp + false, np.full(shape, 500)], axis=-1)


_GENERATORS: dict[Generator, tuple[Callable[[int, int, float, int], np.ndarray], str]] = {
    "words": (tagged_words, "ratio"),
    "runs": (classifier_runs, "fscore"),
}
"""Name -> counts and metric."""


def _names(count: int) -> list[str]:
    """A, B, ..., Z, or numbers of equal length."""
    width = len(str(count))
    return [chr(ord("A") + i) if count <= 26 else f"system {i + 1:0{width}}" for i in range(count)]


def _mixtures(evaluation: EvaluationRecord, options: SyntheticOptions) -> Evaluation:
    """Families of mixtures, one per system."""
    evaluation.check_complete()
    systems, stats, metric = evaluation.systems, evaluation.stats, evaluation.metric
    if not isinstance(metric, Metric):
        raise InputError(f"mixtures need a metric of sums, but {metric.name!r} is computed from all instances at once")
    counts, rng = stats.astype(np.float64), np.random.default_rng(options.seed)
    shares: dict[tuple[int, int], float] = {}
    names, mixed = [], []
    for base in range(len(systems)):
        partners = [each for each in range(len(systems)) if each != base]
        for number in range(options.count):
            partner = partners[number % len(partners)]
            if (base, partner) not in shares:
                names_of = (systems[base], systems[partner])
                shares[base, partner] = _proportion(
                    counts[base], counts[partner], metric, options.correlation, names_of
                )
            first = rng.random(stats.shape[1]) < shares[base, partner]
            names.append(f"{systems[base]}~{number + 1}")
            mixed.append(np.where(first[:, None], stats[base], stats[partner]))
    note = f"{len(names)} mixtures of {len(systems)} systems, correlation {options.correlation:g}, seed {options.seed}"
    return Evaluation(
        systems=tuple(names),
        stats=np.stack(mixed),
        ids=evaluation.ids,
        metric=metric,
        clusters=evaluation.clusters,
        strata=evaluation.strata,
        runs=evaluation.runs,
        notes=(*evaluation.notes, note),
        unit=evaluation.unit,
    )


def added_scores(stats: np.ndarray, totals: np.ndarray, metric: Metric) -> np.ndarray:
    """What each instance adds to the score of a system with these totals, `[instance]`."""
    with np.errstate(all="ignore"):
        added = np.asarray(metric.score(totals + stats) - metric.score(totals[None]))
    if not np.isfinite(added).all():
        raise InputError(f"metric {metric.name!r} is not finite on these instances; take more instances")
    return added


def _proportion(
    first: np.ndarray, second: np.ndarray, metric: Metric, correlation: float, names: tuple[str, str]
) -> float:
    """The share of the first system: instances add to the score of the mixture, whose totals depend on the share."""
    sums, share = (first.sum(axis=0), second.sum(axis=0)), 1.0
    for _ in range(_ROUNDS):
        totals = share * sums[0] + (1.0 - share) * sums[1]
        x, y = (added_scores(each, totals, metric) for each in (first, second))
        share = mixing_proportion(x, y, correlation, names)
    return share


def mixing_proportion(x: np.ndarray, y: np.ndarray, correlation: float, names: tuple[str, str]) -> float:
    r"""The share s of instances on which mixtures have the first system's output, for a correlation r of mixtures.

    It solves $v (1 - r) = r s (1 - s) m$ (see `synthetic`), which is quadratic in $t = (1 - s) / s$, and is the largest
    share that does; 1 where the first system adds the same on every instance. `x` and `y` `[instance]` are what
    instances add to the score of a mixture with the output of the first system, and of the second; `names` are for
    errors.

    >>> x, y = np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0])
    >>> round(mixing_proportion(x, y, 0.8, ("A", "B")), 4)
    0.8873
    """
    (var_x, cov), (_, var_y) = np.cov(x, y, ddof=0)
    apart = float(((x - y) ** 2).mean())
    if apart == 0.0 or var_x == 0.0:
        return 1.0
    lowest = np.sqrt(var_x / var_y) if var_y > var_x else 1.0  # where the correlation is lowest
    v = var_x + 2.0 * lowest * cov + lowest**2 * var_y
    least = v / (v + lowest * apart)
    if correlation < least:
        raise InputError(
            f"mixtures of {names[0]!r} and {names[1]!r} have a correlation of {least:.3g} or more, got "
            f"{correlation:g}; ask for a higher one"
        )
    free = 1.0 - correlation
    linear = correlation * apart - 2.0 * free * cov
    root = np.sqrt(max(linear**2 - 4.0 * free**2 * var_x * var_y, 0.0))
    return float(1.0 / (1.0 + 2.0 * free * var_x / (linear + root)))
