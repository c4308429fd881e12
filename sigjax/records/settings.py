"""Everything that determines a report: corrections of p-values, tests, designs for repeated runs, and all settings.

Each of these is declared here, once. Everything else follows from these records: the adjusted p-values, the flags, the
error messages, the words of every output, the citations of the methods paragraph, the JSON Schema, the help pages, and
the lists in tests.

To add a correction that takes only p-values, add its name to `PValueCorrection`, its record, and the BibTeX entry that
the record cites in `data/references.bib`. If a p-value rises, the record's function `adjust` must not lower any
adjusted p-value, because decisions on sampled p-values adjust both ends of the interval for p. Far below 1, adjusted
p-values must be proportional to p-values, and must keep their digits (use log1p and expm1 for 1 - p). Then the function
also works for p-values that are too small for a double. To add a design, add its name to `Design`, and its record. If
it exchanges or draws something new, extend `Units`, `testing.permutation` and `testing.bootstrap`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from sigjax.records.options import Hint, option

PValueCorrection = Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"]
"""The corrections that need only the p-values."""
Correction = Literal[PValueCorrection, "maxt"]
Adjust = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""A function that adjusts p-values. Its arguments are the different p-values `[p]`, ascending, and the first and the
last rank `[p]` of the pairs that have each p-value. It returns adjusted p-values `[p]`; results above 1 are cut later.
The largest last rank is the number of pairs."""
_SMALLEST = 1e-300
"""Doubles below about this number lose digits."""
_SCALED_LARGEST, _GROUP_SPAN = -20.0, 250.0
"""Tiny p-values are multiplied by a power of ten, in groups, so that they can be adjusted. Both numbers are in log10.
`_SCALED_LARGEST`: the largest p-value of a group is scaled to this value. `_GROUP_SPAN`: the largest ratio of two
p-values in a group."""


@dataclass(frozen=True)
class CorrectionMethod:
    """A correction for multiple comparisons.

    `title` is the name in sentences ("adjusted by ..."), `cites` the key in `data/references.bib`, and `about` the text
    on when to use it. `bounds` is what the correction bounds: the probability of any false finding ("familywise"), the
    expected share of false findings among all findings ("false discovery"), or neither (None). `adjust` adjusts
    p-values; it is None if adjusted p-values are counted on resamples of all pairs together (maxT).
    """

    name: Correction
    title: str
    cites: str
    bounds: Literal["familywise", "false discovery", None]
    about: str
    adjust: Adjust | None

    @cached_property
    def is_resampled(self) -> bool:
        """Whether adjusted p-values need resamples of all pairs together."""
        return self.adjust is None


def _least_from_here(values: np.ndarray) -> np.ndarray:
    """Return for each value the smallest of this value and all later values."""
    return np.minimum.accumulate(values[::-1])[::-1]


def _by_rank(p: np.ndarray, last: np.ndarray, factor: float = 1.0) -> np.ndarray:
    """Multiply each p-value by `factor` and the number of pairs, and divide it by its rank `last`; return `[p]`.

    As in every step-up procedure, each result is then replaced by the smallest of this result and all later results.
    """
    return _least_from_here(p * last[-1] * factor / last)


def _harmonic(count: int) -> float:
    """Return the harmonic number 1 + 1/2 + ... + 1/count."""
    few = min(count, 2**16)
    more = (math.log(n) + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n) for n in (count, few))
    return float(np.sum(1.0 / np.arange(1, few + 1))) + next(more) - next(more)


CORRECTIONS: dict[Correction, CorrectionMethod] = {
    each.name: each
    for each in (
        CorrectionMethod(
            "holm",
            "Holm",
            "holm1979",
            "familywise",
            "The default. Holds however the tests depend on each other.",
            lambda p, first, last: np.maximum.accumulate(p * (last[-1] - first + 1)),
        ),
        CorrectionMethod(
            "hochberg",
            "Hochberg",
            "hochberg1988",
            "familywise",
            "Smaller p than Holm's, proven where tests depend positively on each other. All pairs share systems: "
            "there it is not proven, so prefer Holm.",
            lambda p, first, last: _least_from_here(p * (last[-1] - last + 1)),
        ),
        CorrectionMethod(
            "bonferroni",
            "Bonferroni",
            "dunn1961",
            "familywise",
            "Holds as Holm's does, with larger p.",
            lambda p, first, last: p * last[-1],
        ),
        CorrectionMethod(
            "bh",
            "Benjamini-Hochberg",
            "benjamini1995",
            "false discovery",
            "Proven if tests depend positively on each other, or not at all. Tests of all pairs "
            "also depend negatively, so that there is no proof: prefer by.",
            lambda p, first, last: _by_rank(p, last),
        ),
        CorrectionMethod(
            "by",
            "Benjamini-Yekutieli",
            "benjamini2001",
            "false discovery",
            "However the tests depend on each other.",
            lambda p, first, last: _by_rank(p, last, _harmonic(int(last[-1]))),
        ),
        CorrectionMethod(
            "none", "none", "", None, "p as it is: for one pair chosen before looking.", lambda p, first, last: p
        ),
        CorrectionMethod(
            "maxt",
            "Westfall-Young maxT",
            "westfall1993",
            "familywise",
            "Westfall and Young: by the largest standardised delta on each permutation, for all pairs. Uses how the "
            "pairs depend on each other. Exact where swapping the outputs of all equal pairs at once leaves the joint "
            "distribution of their differences as it is, else for many units (Romano and Wolf 2005). For metrics of "
            "sums.",
            None,
        ),
    )
}


def adjust(p_values: np.ndarray, correction: Correction, counts: np.ndarray | None = None) -> np.ndarray:
    r"""Adjusted p-values `[pair]`, in the order of `p_values` `[pair]`.

    $p_{(i)}$ is the i-th smallest of m p-values. `holm`: family-wise error, $\max_{j \le i} \min(1, (m - j + 1)
    p_{(j)})$ (Holm 1979), valid under any dependence. `hochberg`: the same error, $\min_{j \ge i} \min(1, (m - j + 1)
    p_{(j)})$ (Hochberg 1988), never above Holm's. It is valid under independence or positive dependence, which
    two-sided tests of all pairs need not have. `bonferroni`: $\min(1, m p)$, under any dependence. `bh`: false
    discovery rate (Benjamini and Hochberg 1995), under independence or positive dependence. `by`: the same under any
    dependence (Benjamini and Yekutieli 2001). `none`: unchanged p-values.

    If `counts` are given, each entry of `p_values` is the p-value of this number of pairs, and m is the number of all
    pairs. `maxt` is not a function of p-values; see `sigjax.multiple.decisions`.

    >>> adjust(np.array([0.04, 0.01, 0.03]), "holm")
    array([0.06, 0.03, 0.06])
    >>> adjust(np.array([0.04, 0.01, 0.03]), "hochberg")
    array([0.04, 0.03, 0.04])
    """
    if len(p_values) == 1 and counts is None and CORRECTIONS[correction].adjust is not None:
        return np.minimum(1.0, p_values)
    order, found = np.argsort(p_values), np.empty(len(p_values))
    found[order] = _adjusted(p_values[order], correction, None if counts is None else counts[order])
    return found


def _adjusted(ascending: np.ndarray, correction: Correction, counts: np.ndarray | None = None) -> np.ndarray:
    """Adjust p-values `[pair]` that are in ascending order, as `adjust` does for p-values in any order."""
    adjusted = CORRECTIONS[correction].adjust
    if adjusted is None:
        raise ValueError(f"{correction} needs resamples of all pairs together")
    with np.errstate(divide="ignore"):  # if p is 1, 1 - p has no logarithm
        last = np.arange(1, len(ascending) + 1) if counts is None else np.cumsum(counts)
        first = last if counts is None else last - counts + 1
        return np.minimum(1.0, adjusted(ascending, first, last))


def log10_adjusted(p_adjusted: np.ndarray, log10_p: np.ndarray, correction: Correction) -> np.ndarray:
    """Base-10 logarithms `[pair]` of adjusted p-values `[pair]`, also for p-values that are too small for a double.

    `log10_p` `[pair]` are the logarithms of the p-values before the correction. Tiny p-values are multiplied by a power
    of ten, in groups that doubles can hold. The correction multiplies the scaled and the unscaled p-values by the same
    factor.

    >>> log10_adjusted(np.array([0.0, 0.02]), np.array([-400.0, np.log10(0.02)]), "holm").round(3)
    array([-399.699,   -1.699])
    """
    order, found = np.argsort(log10_p), np.empty(len(log10_p))
    # Work on distinct p-values, because many pairs of a large leaderboard have the same p-value.
    in_order = p_adjusted[order]
    begins = np.ones(len(order), bool)
    begins[1:] = in_order[1:] != in_order[:-1]
    logs = np.array([math.log10(p) if p > _SMALLEST else -math.inf for p in in_order[begins].tolist()], np.float64)
    found[order] = logs[np.cumsum(begins) - 1]
    ascending, tiny = log10_p[order], (found == -math.inf)[order] & (log10_p[order] > -math.inf)
    while tiny.any():
        largest = ascending[tiny].max()
        here = tiny & (ascending > largest - _GROUP_SPAN)
        scaled = 10.0 ** np.minimum(ascending + (_SCALED_LARGEST - largest), 0.0)
        found[order[here]] = ascending[here] + np.log10(_adjusted(scaled, correction)[here] / scaled[here])
        tiny &= ~here
    return found


Test = Literal["permutation", "bootstrap"]
Design = Literal["together", "crossed", "nested", "models"]


@dataclass(frozen=True)
class TestMethod:
    """How reports describe a test of pairs: its keys in `data/references.bib`, and the words for its random draws."""

    __test__ = False  # pytest must not collect it
    name: Test
    cites: str
    draws: str


TESTS: dict[str, TestMethod] = {
    each.name: each
    for each in (
        TestMethod("permutation", "noreen1989,yeh2000", "permutations"),
        TestMethod("bootstrap", "davison1997,efron1993,bergkirkpatrick2012", "bootstrap resamples"),
    )
}


@dataclass(frozen=True)
class DesignMethod:
    """How a design treats repeated runs of an instance.

    The permutation test `exchanges` units with all their runs ("units"), the outputs of single runs within units
    ("outputs"), or whole runs ("runs"). The bootstrap `draws` units with all their runs ("units"), or units and then
    outputs of runs within each unit ("outputs"); it does not exist (None) if runs are trained models. `words` is a
    sentence of the methods paragraph. `cites` has the citation keys of its permutation test, in place of the keys of
    the paired test. `beside` is a dict from a test to the text after the test's name in tables. `refused` is the
    message if no part of the analysis uses the design.
    """

    name: Design
    exchanges: Literal["units", "outputs", "runs"]
    draws: Literal["units", "outputs", None]
    words: str = ""
    cites: str = ""
    beside: dict[str, str] = field(default_factory=dict)
    refused: str = ""

    def reason_against(self, tests: Sequence[Test], *, intervals: bool) -> str | None:
        """Return the reason why these tests, with or without intervals, do not fit the design; None if they fit."""
        used = set(tests) & set(self.beside) or (intervals and self.draws == "outputs")
        allowed = set(tests) == {"permutation"} if self.draws is None else self.exchanges == self.draws or used
        return None if allowed else self.refused


DESIGNS: dict[Design, DesignMethod] = {
    each.name: each
    for each in (
        DesignMethod("together", "units", "units"),
        DesignMethod(
            "crossed",
            "outputs",
            "units",
            "Permutation tests exchanged the outputs of runs within units.",
            "",
            {"permutation": ", outputs exchanged within units"},
            "design crossed belongs to the permutation test; ask for it, or use design nested",
        ),
        DesignMethod(
            "nested",
            "units",
            "outputs",
            "The bootstrap drew units, and then runs within each.",
            "",
            {"bootstrap": ", runs drawn within units"},
            "design nested belongs to the bootstrap; ask for its test or intervals, or use crossed",
        ),
        DesignMethod(
            "models",
            "runs",
            None,
            "Permutation tests exchanged whole runs (trained models).",
            "pitman1937,noreen1989",
            {"permutation": ", whole runs exchanged"},
            "design models has no bootstrap test; leave it out (its intervals are two-way intervals)",
        ),
    )
}


if TYPE_CHECKING:
    import jax
    import numpy as np

    Array = np.ndarray | jax.Array
else:
    Array = Any  # Any, because importing JAX takes long
"""An array of NumPy or of JAX (possibly traced)."""
Score = Callable[[Any], Any]
"""A function from sums `[..., stat]` to scores `[...]`. Both are arrays of NumPy or of JAX (possibly traced)."""

Method = Literal["auto", "exact", "montecarlo", "dp", "tree"]
Alternative = Literal["two-sided", "greater", "less"]
Statistic = Literal["delta", "studentized"]
Family = Literal["metric", "report"]
NamedInterval = Literal["percentile", "basic", "bca", "studentized", "simultaneous", "two-way"]
IntervalKind = Literal["auto", NamedInterval, "none"]
IntervalName = Literal[NamedInterval, "wilson", "tango", "hall-t", "conservative-t"]
"""The kind of an interval, as reports name it; `auto` chooses among these kinds."""
Variant = Literal["shift", "flip"]
Missing = Literal["error", "drop", "zero", "pairwise"]
Unit = Literal["instance", "response"]
Match = Literal["strict", "exact", "partial", "type", "fuzzy"]
Device = Literal["auto", "numpy", "cpu", "gpu"]
KeepScores = Literal["auto", "always", "never"]
Library = Literal["pandas", "polars", "pyarrow"]
Resamples = int | Literal["auto"]
DEFAULT_RESAMPLES = 100_000


def bonferroni_level(level: float, count: float) -> float:
    """Return the level of each single interval that makes `count` intervals simultaneous, whatever their dependence.

    >>> round(bonferroni_level(0.95, 10), 6), bonferroni_level(0.95, 1)
    (0.995, 0.95)
    """
    return level if count <= 1 else 1.0 - (1.0 - level) / count


def _bounding(rate: str) -> str:
    """Return a text with the names of the corrections that need only p-values and bound this error rate."""
    names = [f'"{each.name}"' for each in CORRECTIONS.values() if each.bounds == rate and not each.is_resampled]
    return f"{', '.join(names[:-1])} and {names[-1]}"


class Interval(NamedTuple):
    """A confidence interval `[low, high]`, on the scale of its number (a score, a delta or a p-value)."""

    low: float
    high: float


class Bounds(NamedTuple):
    """Bounds of a number, or of both ends of an interval; for text, a regular expression for the whole text."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    pattern: str | None = None


Probability = Annotated[float, Bounds(least=0, most=1)]
Probabilities = Annotated[Interval, Bounds(least=0, most=1)]
Log10 = Annotated[float, Bounds(most=0)]
"""The base-10 logarithm of a probability."""
Size = Annotated[float, Bounds(least=0)]
"""A number that is not negative."""
Count = Annotated[int, Bounds(least=0)]
Number = Annotated[int, Bounds(least=1)]
"""A count or a position, at least 1."""
Letters = Annotated[str, Bounds(pattern="[a-zA-Z]+")]
Hash = Annotated[str, Bounds(pattern="[0-9a-f]{16}")]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that determines a report, besides the data: all options of `compare` except how and where it runs."""

    test: InitVar[Test | Sequence[Test]] = option(
        "permutation", "Permutation test, bootstrap test, or both.", group="Main options"
    )
    tests: tuple[Test, ...] = field(init=False)
    """The tests, as a tuple; users give one test or several tests as `test`."""
    method: Method = option(
        "auto",
        f"Exact (no sampling), Monte Carlo, or auto: exact within {Hint('budget')} and {Hint('memory')}.",
        '"dp" and "tree" are exact too, by Algorithms 3 and 4 of Zmigrod et al. (2022): slower, for comparison. The '
        "bootstrap is exact where the score is linear in one statistic, as means are, and p is not 0.",
    )
    resamples: Resamples = option(
        DEFAULT_RESAMPLES,
        "Number of Monte Carlo resamples, or auto: stop each pair when decided.",
        '"auto": permutation tests look after 8,192 resamples, then after twice as many each time up to 1,048,576, and '
        "stop for the pairs that are decided: the decision at the level, after the correction, is that of infinitely "
        "many resamples; the probability that any in a family is not is at most 0.001. p stays valid, but is no longer "
        "(exceed + 1) / (resamples + 1): at the cap it is 0.5% larger, and before the cap an upper bound of what it "
        "would be there. The bootstrap takes 100,000. `decided` says the same of a number of resamples, and "
        "`resamples_needed` how many would do.",
        group="Main options",
        least=2,
        most=2**32 * 1024,
    )
    seed: int = option(12345, "The same seed gives the same report on every device.", group="Main options")
    alternative: Alternative = option(
        "two-sided",
        "Which differences (first system minus second) count as extreme.",
        '"two-sided": |delta*| >= |delta|; "greater": delta* >= delta; "less": delta* <= delta, where delta is the '
        "score of the first system of a pair (in the order of the data) minus that of the second.",
    )
    baseline: str | None = option(
        None, "Compare each system with this one (1: the first) instead of all pairs.", group="Main options"
    )
    correction: Correction = option(
        "holm",
        "How p-values are adjusted for the number of pairs.",
        f"They are adjusted within the `family` and test. {_bounding('familywise')} bound the probability of any false "
        f"positive, {_bounding('false discovery')} the false discovery rate (see `sigjax help corrections`). "
        '"maxt" (Westfall and Young) bounds the former too, with more power where pairs depend on each other: '
        "all pairs of a Monte Carlo permutation test are judged by the largest standardised delta on each resample, "
        "also those whose own p-value is exact. It needs the permutation test alone, and a number of resamples.",
        group="Main options",
    )
    confidence_level: float = option(
        0.95, "Level of all intervals; decisions are made at 1 - level.", group="Intervals", above=0, below=1
    )
    interval: IntervalKind = option(
        "auto",
        "Kind of intervals; auto needs no resamples for metrics of sums.",
        '"auto" needs no resamples for metrics of sums. For answers right or wrong, one per unit, it takes Wilson\'s '
        "score interval of a score and Tango's of a delta. For other metrics of sums it takes Student's t by the "
        'jackknife, corrected for skewness. For a `SampleMetric` and design "nested" it takes bootstrap percentiles. '
        "`interval_kind` names the kind. If the correction bounds the family-wise error, intervals of deltas are "
        "simultaneous: each has the level 1 - (1 - level) / pairs (Bonferroni, see `joint_pairs`). An interval then "
        "excludes 0 only if adjusted p is below 1 - level, as far as both methods agree. "
        '"simultaneous": all deltas at a joint level, and all scores, from as many normal draws as `resamples`; with '
        "few units by Bonferroni. "
        'By the bootstrap: "percentile", the quantiles q of the replicates; "basic", 2 delta - q; "bca", quantiles '
        "corrected for bias and skewness (too narrow for few units with heavy tails; needs one more score per unit); "
        '"studentized", delta - t s with the quantiles t of (delta* - delta) / s* (for metrics of sums with a smooth '
        'score; all replicates are in memory). "two-way": t with the variances of instances and of runs, the default '
        'of design "models" and for no other. "none": no intervals, as always if instances are responses. See '
        "`sigjax help intervals`.",
        group="Main options",
    )
    statistic: Statistic = option(
        "delta",
        "What permutation tests compare: delta, or delta divided by its standard error.",
        'With "studentized" the test keeps its level, for many units, also where systems are equally good but not '
        "exchangeable (F1 of a precise system and of one with high recall, see `sigjax help studentized`); with either "
        "it is exact where they are exchangeable. For means of units of one size p is the same; other metrics of sums "
        "are sampled.",
        rare=True,
    )
    variant: Variant = option(
        "shift",
        "Null of the bootstrap test: delta* - delta (shift) or delta - delta* (flip).",
        'With "flip", a one-sided p is the share of resamples on which delta has the other sign, or is 0.',
        rare=True,
    )
    mid_p: bool = option(
        False,
        f"Count ties half in permutation tests by {Hint('method')} exact, dp or tree.",
        "Less conservative where many differences are equal, but no longer certain to keep the level. Where no unit "
        "differs p stays 1, whatever differs inside units.",
        rare=True,
    )
    budget: float | None = option(
        None,
        "Seconds that exact tests may take, estimated [default: 10, or 600 for exact].",
        "For all pairs of a metric together, by an estimate that does not depend on the machine. Beyond it, method "
        '"auto" samples the other pairs, and exact methods (whose default is 600) refuse. If no resample of a pair is '
        "as extreme as observed, importance sampling may take as long again.",
        above=0,
        rare=True,
    )
    memory: float = option(
        1.0,
        "GiB for the exact test of one pair; bootstrap replicates take half.",
        'Beyond it, method "auto" samples and exact methods refuse. Bootstrap replicates that would take more than '
        "half are drawn twice, piece by piece; simultaneous and studentized intervals of so many are refused, and so "
        "are pairs whose results would take more than all of it (some 250 to 800 bytes each), before anything is "
        "computed.",
        above=0,
        rare=True,
    )
    family: Family = option(
        "metric",
        "Adjust over the pairs of each metric, or of all metrics of the report.",
        'With "report", the guarantee of the correction is for every statement of the report (of each test).',
        group="Many pairs",
        rare=True,
    )
    leaderboard: bool = option(
        False,
        "Add bootstrap intervals of ranks.",
        "They show how stable ranks are. Draws the replicates of all systems, which must fit into half the `memory`.",
        group="Many pairs",
    )
    design: Design = option(
        "together",
        f"What happens to repeated runs of an instance (see {Hint('runs')}); models: trained models.",
        '"together": a unit (an instance, or a cluster) is swapped and drawn with all its runs; of trained models this '
        'says what holds for just these models. "crossed": the permutation test exchanges outputs within units, see '
        "`projection.crossed`: of the 2 R outputs that two systems have, any R are as likely to be the first's. It is "
        'for runs that vary anew on each unit (samples of a decoder), not for trained models. "nested": the bootstrap '
        "draws units, and then runs within each, the same for all systems; permutation tests swap whole units, "
        'whatever runs have in common. "models": runs are trained models, good or bad on all instances at once. The '
        "permutation test exchanges whole runs: of the 2 R runs that two systems have, any R are as likely to be the "
        "first's, whatever the instances. It asks whether the two training procedures differ as judged on these "
        "instances, exactly for up to 11 runs of each system, and cannot reject at 0.05 (two-sided) below 4. Intervals "
        'are "two-way": for new runs on new instances. Every instance needs every run. No bootstrap test, "maxt" or '
        "leaderboard.",
    )

    def __post_init__(self, test: Test | Sequence[Test]) -> None:
        """Store one test, or a sequence of tests, as a tuple."""
        tests = (test,) if isinstance(test, str) or not isinstance(test, Sequence) else tuple(test)
        object.__setattr__(self, "tests", tests)
        object.__setattr__(self, "test", tests)  # needed by `dataclasses.replace`, which passes all fields

    @cached_property
    def alpha(self) -> float:
        """The significance threshold for p-values: 1 - `confidence_level`."""
        return round(1 - self.confidence_level, 12)  # 1 - 0.95 is slightly above 0.05, so p = 0.05 would be significant

    @property
    def has_valid_p(self) -> bool:
        """Whether P(p <= x) <= x for every x under the null hypothesis; false for mid-p-values.

        Only if this is true, sentences, bounds and ranks promise a level.
        """
        return not self.mid_p

    @cached_property
    def fixed_resamples(self) -> int:
        """The number of resamples for methods that need a fixed number, such as the bootstrap.

        If the setting is "auto", this is the default number.
        """
        return DEFAULT_RESAMPLES if self.resamples == "auto" else self.resamples
