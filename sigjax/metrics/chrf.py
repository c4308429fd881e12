"""chrF and chrF++ of a corpus, from the counts that sacrebleu makes of each segment.

References: Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"; Popović (2017), "chrF++: words
helping character n-grams"; Post (2018), "A call for clarity in reporting BLEU scores", for the details.
"""

from functools import partial

import numpy as np

from sigjax.metrics.counts import stack_counts
from sigjax.records import Array, Metric


def _stat_names(word_order: int) -> tuple[str, ...]:
    orders = [f"char{n}" for n in range(1, 7)] + [f"word{n}" for n in range(1, word_order + 1)]
    return tuple(f"{kind}_{order}" for order in orders for kind in ("hyp", "ref", "match"))


CHRF_STATS = _stat_names(0)
CHRF_PLUS_PLUS_STATS = _stat_names(2)


def chrf_score(sums: Array) -> Array:
    r"""chrF2 or chrF2++, $100 \cdot 5 P R / (4 P + R)$, the F-score that weighs recall twice.

    P is the mean of $match_n / hyp_n$ over the orders n, and R that of $match_n / ref_n$; orders of which the output or
    the references have no n-gram do not count (sacrebleu's effective order). The quotients stay one an order: sums over
    a common denominator divide once but round and multiply more, and take as long.

    Args:
        sums: `[..., stat]` whole numbers, stat as in `CHRF_STATS` or `CHRF_PLUS_PLUS_STATS`: (hyp, ref, match) of each
            order.

    Returns:
        `[...]` in [0, 100]; 0 where nothing matches.

    Example:
        >>> counts = [[10 - n, 12 - n, 8 - n] for n in range(6)]
        >>> round(float(chrf_score(np.array(counts, float).ravel())), 6)
        58.975413
    """
    xp = sums.__array_namespace__()
    precision = recall = orders = 0.0
    for first in range(0, sums.shape[-1], 3):
        hyp, ref, match = (sums[..., first + i] for i in range(3))
        # Counts are whole: from 1, or 0 and then without a match.
        precision = precision + match / xp.maximum(hyp, 1.0)
        recall = recall + match / xp.maximum(ref, 1.0)
        orders = orders + xp.minimum(xp.minimum(hyp, ref), 1.0)
    weighted = (4.0 * precision + recall) * orders
    return 500.0 * precision * recall / xp.where(weighted > 0, weighted, 1.0)


def chrf_extract(names: tuple[str, ...], *columns: np.ndarray) -> np.ndarray:
    """The columns `names` -> `[instance, stat]`; impossible counts are refused."""
    firsts = range(0, len(names), 3)
    return stack_counts(names, columns, [(first + 2, first + i) for first in firsts for i in (0, 1)])


def _metric(name: str, stat_names: tuple[str, ...]) -> Metric:
    shared = tuple(stat for stat in stat_names if stat.startswith("ref_"))
    extract = partial(chrf_extract, stat_names)
    return Metric(name, chrf_score, stat_names, extract, stat_names, shared_inputs=shared, portable=True)


CHRF = _metric("chrf", CHRF_STATS)
CHRF_PLUS_PLUS = _metric("chrf++", CHRF_PLUS_PLUS_STATS)
