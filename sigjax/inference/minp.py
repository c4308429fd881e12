r"""Westfall-Young step-down minP: p-values of all pairs adjusted together, each pair judged by its own law under swaps.

The statistic of a pair on a resample is its p-value there: of the K + 1 deltas of the pair, those of K resamples and
the observed one, the share that is at least as extreme, ties included. So pairs count alike whatever the laws of their
deltas are: no standard deviation is needed, and a pair with a skewed or coarse law is not over- or underrated, as by
`maxt` it may be. The price is that K must be large: where every pair is continuous, no adjusted p-value is much below
m / (K + 1) for m pairs.

With the pairs in ascending order of p, $e_j$ is the number of K resamples on which $\min_{k \ge j} p^*_k \le p_j$, and
the adjusted p-value is $\max_{i \le j} (e_i + 1) / (K + 1)$.

What it bounds, and under which conditions, is as for `maxt`: the K + 1 values of every pair, and so the rows of their
ranks, are exchangeable under the null hypotheses.

The counts are no sum of independent hits: whether a resample counts depends, through the ranks, on all others, and the
order of the pairs is one of ranks too. So no binomial interval says what endless resamples would decide.

Ranks and scores are NumPy's, from the sums of all resamples, so that they are alike on every device.

References: Westfall and Young (1993), "Resampling-based multiple testing", algorithm 2.8; Ge, Dudoit and Speed (2003),
"Resampling-based multiple testing for microarray data analysis", section 3.
"""

from collections.abc import Sequence

import numpy as np

from sigjax.inference.joint import Swapped, num_columns, swapped
from sigjax.inference.maxt import StepDown, step_down
from sigjax.inference.memory import fits, gib, memory_for
from sigjax.inference.outcome import Case
from sigjax.records import InputError
from sigjax.resample.engine import Run
from sigjax.resample.maxima import statistic
from sigjax.resample.swapped import pieces_of


def minp(cases: Sequence[Case], run: Run) -> StepDown:
    """What step-down minP counts over the pairs of one or several metrics.

    Raises:
        NotFinite: a metric gave NaN or infinity.
        InputError: the memory is too small for the sums of all resamples.
    """
    _check_memory(cases, run)
    together = swapped(cases, run)
    if state := run.stage.state():
        return step_down(state.arrays["exceed"], state.arrays["order"])
    sums = _all_sums(together, run)
    observed = np.array([_tail(together, sums, hypothesis)[0] for hypothesis in range(len(together.places))])
    order = np.argsort(-observed, kind="stable")
    smallest, exceed = np.full(run.resamples, run.resamples + 1), np.zeros(len(order), np.int64)
    for rank, hypothesis in enumerate(order.tolist()):
        np.minimum(smallest, _tail(together, sums, hypothesis)[1:], out=smallest)
        exceed[rank] = np.count_nonzero(smallest <= observed[hypothesis])
    run.stage.finish(run.resamples, exceed=exceed, order=order)
    return step_down(exceed, order)


def at_least(values: np.ndarray, rounding: float) -> np.ndarray:
    """How many of the values `[value]` are at least as large as each, itself and ties up to `rounding` included.

    Example:
        >>> at_least(np.array([0.5, 0.1, 0.9, 0.5]), 1e-12)
        array([3, 4, 1, 3])
    """
    order = np.argsort(values)
    ascending, found = values[order], np.empty(len(values), np.int64)
    found[order] = len(values) - np.searchsorted(ascending, ascending - rounding, side="left")
    return found


def _tail(together: Swapped, sums: Sequence[np.ndarray], hypothesis: int) -> np.ndarray:
    """K + 1 times the p-values `[1 + resample]` of one hypothesis, the observed one first."""
    metric, place = together.places[hypothesis]
    pairs, alternative = together.pairs[metric], together.cases[metric].settings.alternative
    observed = statistic(pairs.delta[place], alternative)
    drawn = together.statistics(sums, hypothesis)
    return at_least(np.concatenate([[observed], drawn]), float(pairs.tolerance[place]))


def _all_sums(together: Swapped, run: Run) -> list[np.ndarray]:
    """Sums `[column, resample]` of each metric on all resamples, of which each process makes a part."""
    found = [
        np.empty((1 + max(int(pairs.left.max()), int(pairs.right.max())), run.resamples)) for pairs in together.pairs
    ]
    for piece in pieces_of(run.part(range(run.resamples)), num_columns(together.cases)):
        for values, sums in zip(found, together.sums(piece), strict=True):
            values[:, piece.start : piece.resamples] = sums[: len(values)]
    for values in found:
        run.share.complete(values)
    return found


def _check_memory(cases: Sequence[Case], run: Run) -> None:
    """Refuse what cannot be held: ranks need all resamples of a pair at once."""
    needed = gib((num_columns(cases), run.resamples))
    if not fits(needed, cases[0].settings):
        raise InputError(
            f"correction minp ranks all {run.resamples:,} resamples of each pair; give --memory "
            f"{memory_for(needed):g} (GiB) or more, fewer resamples, or --correction maxt"
        )
