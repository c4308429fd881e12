"""The corrections for many pairs: each is declared here, once.

From the records are made the adjusted p-values, the flag and its refusals, the words of every output, the citation of
the methods paragraph, the JSON Schema, the pages of help, and the lists in tests.

To add one that takes p-values alone: its name in `PValueCorrection`, its record, and the BibTeX entry that the record
cites in `data/references.bib`. Its function must never lower an adjusted p-value when a p-value rises: decisions of
sampled p-values are decided by adjusting the ends of their intervals. Far below 1 it must be a multiple of them, as
every bound of an error rate is, and keep their digits (use log1p and expm1 for 1 - p): so it serves p-values that are
too small for a double, too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

PValueCorrection = Literal["holm", "hochberg", "bonferroni", "bh", "by", "none"]
"""The corrections that take p-values alone."""
Correction = Literal[PValueCorrection, "maxt"]
Adjust = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Ascending p-values `[p]`, and the first and last rank `[p]` of the pairs that have each -> adjusted ones, in this
order; what is above 1 is cut. The last rank of all is the number of pairs."""
_SMALLEST = 1e-300
"""Below this doubles lose digits."""
_MOVED, _SPAN = -20.0, 250.0
"""log10 of what the largest of some tiny p-values becomes, and by how much others may be below it."""


@dataclass(frozen=True)
class CorrectionMethod:
    """One correction.

    Attributes:
        name: as it is asked for.
        title: as people read it, after "adjusted by".
        cites: key of its entry in `data/references.bib`.
        bounds: which error rate: that of any false finding ("familywise"), or the expected share of false findings
            among all ("false discovery"); None for neither.
        about: when to take it, for the page of help.
        adjust: adjusted p-values; None where they are counts of the resamples of all pairs together.
    """

    name: Correction
    title: str
    cites: str
    bounds: Literal["familywise", "false discovery", None]
    about: str
    adjust: Adjust | None

    @cached_property
    def is_resampled(self) -> bool:
        """Whether adjusted p-values are made from the resamples of all pairs together."""
        return self.adjust is None


def _least_from_here(values: np.ndarray) -> np.ndarray:
    """[pair] the least of each value and all after it."""
    return np.minimum.accumulate(values[::-1])[::-1]


def _by_rank(p: np.ndarray, last: np.ndarray, factor: float = 1.0) -> np.ndarray:
    """[p] steps up from the largest p-value: multiples by the number of pairs over the rank."""
    return _least_from_here(p * last[-1] * factor / last)


def _harmonic(count: int) -> float:
    """1 + 1/2 + ... + 1/count."""
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
            "Proven where tests depend positively on each other, or not at all. For all pairs "
            "this is proven in some cases only (Yekutieli 2008): prefer by.",
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
    r"""Adjusted p-values `[pair]`, in the order of `p_values` `[pair]`, each of which `counts` pairs have (or one).

    `holm`: family-wise error, $\max_{j \le i} \min(1, (m - j + 1) p_{(j)})$ (Holm 1979), valid under any dependence.
    `hochberg`: the same error, $\min_{j \ge i} \min(1, (m - j + 1) p_{(j)})$ (Hochberg 1988), never above Holm's, under
    independence or positive dependence, which two-sided tests of all pairs need not have. `bonferroni`: $\min(1, m p)$,
    under any dependence. `bh`: false discovery rate (Benjamini and Hochberg 1995), under independence or positive
    dependence. `by`: the same under any dependence (Benjamini and Yekutieli 2001). `none`: as they are.

    `maxt` is not a function of p-values; see `sigjax.multiple.westfall_young`.

    >>> adjust(np.array([0.04, 0.01, 0.03]), "holm")
    array([0.06, 0.03, 0.06])
    >>> adjust(np.array([0.04, 0.01, 0.03]), "hochberg")
    array([0.04, 0.03, 0.04])
    """
    order, found = np.argsort(p_values), np.empty(len(p_values))
    found[order] = _adjusted(p_values[order], correction, None if counts is None else counts[order])
    return found


def _adjusted(ascending: np.ndarray, correction: Correction, counts: np.ndarray | None = None) -> np.ndarray:
    """`adjust` for ascending p-values `[pair]`."""
    adjusted = CORRECTIONS[correction].adjust
    if adjusted is None:
        raise ValueError(f"{correction} needs resamples of all pairs together")
    with np.errstate(divide="ignore"):  # logarithms of 1 - p, where p is 1
        last = np.arange(1, len(ascending) + 1) if counts is None else np.cumsum(counts)
        first = last if counts is None else last - counts + 1
        return np.minimum(1.0, adjusted(ascending, first, last))


def log10_adjusted(p_adjusted: np.ndarray, log10_p: np.ndarray, correction: Correction) -> np.ndarray:
    """Base-10 logarithms `[pair]` of adjusted p-values `[pair]`, right also where these are too small for a double.

    There p-values are multiplied by a power of ten, as many at a time as doubles hold, and the factor that the
    correction then gives is that of the logarithms `[pair]`.

    >>> log10_adjusted(np.array([0.0, 0.02]), np.array([-400.0, np.log10(0.02)]), "holm").round(3)
    array([-399.699,   -1.699])
    """
    order, found = np.argsort(log10_p), np.empty(len(log10_p))
    # Many pairs of a large board have the same p.
    runs = np.flatnonzero(np.diff(p_adjusted[order], prepend=math.nan))
    logs = [math.log10(p) if p > _SMALLEST else -math.inf for p in p_adjusted[order][runs].tolist()]
    found[order] = np.repeat(logs, np.diff(runs, append=len(order)))
    ascending, tiny = log10_p[order], (found == -math.inf)[order] & (log10_p[order] > -math.inf)
    while tiny.any():
        largest = ascending[tiny].max()
        here = tiny & (ascending > largest - _SPAN)
        moved = 10.0 ** np.minimum(ascending + (_MOVED - largest), 0.0)
        found[order[here]] = ascending[here] + np.log10(_adjusted(moved, correction)[here] / moved[here])
        tiny &= ~here
    return found
