r"""What sacrebleu would say: its formulas on the resamples of our Monte Carlo tests, beside our p-values.

With $\delta$ the observed delta, $\delta^*_k$ that of resample k of K, and c a count over resamples:

- sacrebleu 2.x, `--paired-ar`: $(c + 1) / (K + 1)$ with $|\delta^*| > |\delta|$, so that ties do not count.
- sacrebleu 2.x, `--paired-bs`: $(c + 1) / (K + 1)$ with $|\delta^*| - \overline{|\delta^*|} > |\delta|$.

It does not adjust p-values for the number of pairs, and is two-sided. The resamples are drawn again for this, also
where our own p-value is exact; they are those that `method="montecarlo"` draws, of whole clusters where there are some,
which sacrebleu does not know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigjax.comparison.checks import named_errors
from sigjax.multiple.westfall_young import num_columns
from sigjax.records import EvaluationRecord, Hint, InputError, Settings
from sigjax.records.comparison import PeerName, PeerTest
from sigjax.resample.engine import deltas_of, swapped_sums
from sigjax.run.context import Context
from sigjax.run.host import fits, gib, memory_for
from sigjax.testing.hypotheses import check_finite
from sigjax.testing.permutation import swap_problem
from sigjax.testing.problem import SumsProblem, problem_of
from sigjax.testing.replicates import kept_replicates

ABOUT: dict[PeerName, str] = {
    "sacrebleu --paired-ar": "it leaves out ties with the observed delta, so identical systems get 1 / (resamples + 1)",
    "sacrebleu --paired-bs": (
        "it takes absolute values before it centres them, so that one tail counts: about half of the two-sided p, and "
        "at most about 0.42 however alike systems are"
    ),
}
"""How the p-value of each test is made."""
NO_CLUSTERS = (
    "; it knows no clusters, so that this is its formula on ours, and what it says itself is shown without --cluster"
)
"""What is said beside where clusters are resampled."""


def paired_ar(null: np.ndarray, delta: float) -> float:
    """Sacrebleu's p-value from deltas `[resample]` on swaps."""
    return (int(np.count_nonzero(np.abs(null) > abs(delta))) + 1) / (len(null) + 1)


def paired_bs(replicates: np.ndarray, delta: float) -> float:
    """Sacrebleu's p-value from deltas `[resample]` on bootstrap resamples.

    Example:
        >>> paired_bs(np.array([0.1, 0.2, -0.3, 0.9]), 0.2)
        0.4
    """
    sizes = np.abs(replicates)
    return (int(np.count_nonzero(sizes - sizes.mean() > abs(delta))) + 1) / (len(sizes) + 1)


def peer_tests(evaluations: Sequence[EvaluationRecord], settings: Settings, context: Context) -> tuple[PeerTest, ...]:
    """Sacrebleu's test beside each of ours, metric by metric.

    Raises:
        InputError: the metric is not one of sums, outputs are exchanged or drawn within units, or too little memory.
    """
    tests = []
    for evaluation in evaluations:
        metric = evaluation.metric.name
        with named_errors([evaluation], settings):
            case = problem_of(evaluation, settings)
            if not isinstance(case, SumsProblem) or settings.design != "together":
                raise InputError("compat needs a metric of sums and design together; leave it out")
            clusters = "" if len(case.units.strata) == evaluation.num_instances else NO_CLUSTERS
            for test in settings.tests:
                name: PeerName = "sacrebleu --paired-ar" if test == "permutation" else "sacrebleu --paired-bs"
                p_values = (_of_swaps if test == "permutation" else _of_draws)(case, context.at(metric))
                tests.append(PeerTest(name, metric, test, ABOUT[name] + clusters, tuple(p_values)))
    return tuple(tests)


def _of_swaps(case: SumsProblem, context: Context) -> list[float]:
    """The p-value of each pair on the swaps that our own test draws."""
    hypotheses, settings, p_values = case.hypotheses, case.settings, []
    _check_memory(num_columns([case]), settings)
    context = context.sized(case.swap_seconds(len(hypotheses.members)))
    with context.run("compat", settings.fixed_resamples, settings.seed) as run:
        problem, pairs = swap_problem(case, slice(None), run)
        sums = swapped_sums(problem, run)
        for index, (pair, delta) in enumerate(zip(hypotheses.pairs, hypotheses.deltas.tolist(), strict=True)):
            null = deltas_of(sums, pairs, index, problem.divisors, case.metric.score)
            check_finite(null[None], [pair])
            p_values.append(paired_ar(null, delta))
    return p_values


def _of_draws(case: SumsProblem, context: Context) -> list[float]:
    """The p-value of each pair on the draws of our own test."""
    shape = len(case.hypotheses.scores), case.settings.fixed_resamples
    _check_memory(shape[0], case.settings)
    with case.sized(context, 0, draws=True).run("compat", shape[1], case.settings.seed) as run:
        scores = kept_replicates(case.replicates, shape[0], run)
    pairs = zip(case.hypotheses.pairs, case.hypotheses.deltas.tolist(), strict=True)
    return [paired_bs(scores[a] - scores[b], delta) for (a, b), delta in pairs]


def _check_memory(count: int, settings: Settings) -> None:
    if not fits(needed := gib((count, settings.fixed_resamples)), settings):
        raise InputError(
            f"compat keeps {count:,} numbers per resample; give {Hint('memory', f'{memory_for(needed):g}')} (GiB) or "
            "more, or fewer resamples"
        )
