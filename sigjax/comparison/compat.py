r"""What other programs would say: their formulas on the resamples of our Monte Carlo tests, beside our p-values.

With $\delta$ the observed delta, $\delta^*_k$ that of resample k of K, and c a count over resamples:

- sacrebleu 2.x, `--paired-ar`: $(c + 1) / (K + 1)$ with $|\delta^*| > |\delta|$, so that ties do not count.
- sacrebleu 2.x, `--paired-bs`: $(c + 1) / (K + 1)$ with $|\delta^*| - \overline{|\delta^*|} > |\delta|$.
- `scipy.stats.permutation_test(permutation_type="samples")`: $2 \min(p_{greater}, p_{less})$, at most 1, each
  $(c + 1) / (K + 1)$ with ties closer than $100 \varepsilon |\delta|$; $c / 2^N$ over all swaps of N units, where
  $2^N \le K$.
- ranx, `stat_test="fisher"`: $c / K$ with $|\delta^*| \ge |\delta|$; `stat_test="student"`: `scipy.stats.ttest_rel` of
  the instances.

None adjusts p-values for the number of pairs, and all but SciPy are two-sided. The resamples are drawn again for this,
also where our own p-value is exact; they are those that `method="montecarlo"` draws, of whole clusters where there are
some, which these programs do not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.comparison.analysis import OfSums, make_case
from sigjax.comparison.checks import named_errors
from sigjax.metrics.suites import instance_scores
from sigjax.multiple.westfall_young import num_columns
from sigjax.records import Alternative, Evaluation, Hint, InputError, Settings, Test
from sigjax.records.comparison import Peer, PeerName, PeerTest
from sigjax.resample.engine import deltas_of, swapped_sums
from sigjax.run.context import Context
from sigjax.run.host import fits, gib, memory_for
from sigjax.testing.bootstrap import SharedDraws, all_replicates
from sigjax.testing.permutation import swap_problem
from sigjax.testing.problem import Case, check_finite, swap_seconds

ABOUT: dict[PeerName, str] = {
    "sacrebleu --paired-ar": "it leaves out ties with the observed delta, so identical systems get 1 / (resamples + 1)",
    "sacrebleu --paired-bs": (
        "it takes absolute values before it centres them, so that one tail counts: about half of the two-sided p, and "
        "at most about 0.42 however alike systems are"
    ),
    "scipy permutation_test": "it takes twice the smaller tail, which differs from both tails by sampling error",
    "ranx fisher": "it has no + 1 for the data themselves, so that p may be 0",
    "ranx student": "it takes Student's t of the instances, without resamples",
    "scipy bootstrap": "it has no p; --interval bca is its default interval",
    "ranx bootstrap": "it has no bootstrap test",
}
"""How the p-value of each test is made."""
NO_CLUSTERS = (
    "; it knows no clusters, so that this is its formula on ours, and what it says itself is shown without --cluster"
)
"""What is said beside where clusters are resampled."""
COUNTERPARTS: dict[tuple[Peer, Test], tuple[PeerName, ...]] = {
    ("sacrebleu", "permutation"): ("sacrebleu --paired-ar",),
    ("sacrebleu", "bootstrap"): ("sacrebleu --paired-bs",),
    ("scipy", "permutation"): ("scipy permutation_test",),
    ("scipy", "bootstrap"): ("scipy bootstrap",),
    ("ranx", "permutation"): ("ranx fisher", "ranx student"),
    ("ranx", "bootstrap"): ("ranx bootstrap",),
}
"""The tests of each program that stand beside ours."""
_GAMMA = 100.0 * float(np.finfo(np.float64).eps)


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


def scipy_p(null: np.ndarray, delta: float, alternative: Alternative, *, every: bool) -> float:
    """SciPy's p-value from deltas `[resample]` on swaps, or on `every` swap."""
    gamma, more = abs(_GAMMA * delta), 0 if every else 1
    tails = {
        "less": int(np.count_nonzero(null <= delta + gamma)),
        "greater": int(np.count_nonzero(null >= delta - gamma)),
    }
    least = min(tails.values()) if alternative == "two-sided" else tails[alternative]
    p_value = (least + more) / (len(null) + more)
    return min(1.0, 2.0 * p_value) if alternative == "two-sided" else p_value


def fisher(null: np.ndarray, delta: float) -> float:
    """Ranx's p-value from deltas `[resample]` on swaps."""
    return float(np.mean(np.abs(null) >= abs(delta)))


class _Asked(NamedTuple):
    """One metric, and the tests of others that are asked for beside one of ours."""

    evaluation: Evaluation
    case: Case
    names: Sequence[PeerName]
    context: Context


def peer_tests(
    evaluations: Sequence[Evaluation], settings: Settings, context: Context, peers: Sequence[Peer]
) -> tuple[PeerTest, ...]:
    """The tests of other programs beside each of ours, metric by metric.

    Raises:
        InputError: the metric is not one of sums, outputs are exchanged or drawn within units, or too little memory.
    """
    found = []
    for evaluation in evaluations if peers else ():
        with named_errors([evaluation], settings):
            case = make_case(evaluation, settings)
            if not isinstance(case, Case) or settings.design != "together":
                raise InputError("compat needs a metric of sums and design together; leave it out")
            for test in settings.tests:
                names: list[PeerName] = [name for peer in peers for name in COUNTERPARTS[peer, test]]
                asked = _Asked(evaluation, case, names, context.at(evaluation.metric.name))
                p_values = _of_swaps(asked) if test == "permutation" else _of_draws(asked)
                found += [PeerTest(name, case.metric.name, test, *_said(asked, name, p_values)) for name in names]
    return tuple(found)


def _said(asked: _Asked, name: PeerName, p_values: dict[str, list[float]]) -> tuple[str, tuple[float | None, ...]]:
    """What a test is, and its p-values."""
    if name.startswith("ranx") and name not in p_values and name != "ranx bootstrap":
        return f"it compares means over instances, and {asked.case.metric.name} is none", ()
    p_shown = tuple(None if p != p else p for p in p_values.get(name, ()))
    clustered = len(asked.case.units.strata) != asked.evaluation.num_instances
    return ABOUT[name] + (NO_CLUSTERS if clustered and p_shown and name != "ranx student" else ""), p_shown


def _of_swaps(asked: _Asked) -> dict[str, list[float]]:
    """The p-values of each test that swaps, by name."""
    case, question = asked.case, asked.case.question
    values = instance_scores(asked.evaluation)
    names = [name for name in asked.names if not name.startswith("ranx") or values is not None]
    found: dict[str, list[float]] = {name: [] for name in names}
    for (a, b), delta, null in zip(question.pairs, question.deltas.tolist(), _nulls(asked), strict=True):
        for name in names:
            if name == "ranx student":
                assert values is not None
                p_value = _student(values[a], values[b])
            elif name == "scipy permutation_test":
                every = _every_swap(case, (a, b))
                known = null if every is None else every
                p_value = scipy_p(known, delta, case.settings.alternative, every=every is not None)
            else:
                p_value = (paired_ar if name == "sacrebleu --paired-ar" else fisher)(null, delta)
            found[name].append(p_value)
    return found


def _nulls(asked: _Asked) -> Iterator[np.ndarray]:
    """For each pair, delta `[resample]` on the swaps that our own test draws."""
    case, question = asked.case, asked.case.question
    _check_memory(num_columns([case]), case.settings)
    context = asked.context.sized(swap_seconds(case, len(question.members)))
    with context.run("compat", case.settings.fixed_resamples, case.settings.seed) as run:
        problem, pairs = swap_problem(case, slice(None), run)
        sums = swapped_sums(problem, run)
        for place, pair in enumerate(question.pairs):
            null = deltas_of(sums, pairs, place, problem.divisors, case.metric.score)
            check_finite(null[None], [pair])
            yield null


def _every_swap(case: Case, pair: tuple[int, int]) -> np.ndarray | None:
    """Delta on every swap `[swap]`, where SciPy tries them all; else None."""
    units = case.units
    number = len(units.strata)
    if 2**number > case.settings.fixed_resamples:
        return None
    masks = np.arange(2**number)[:, None] >> np.arange(number) & 1
    a, b = pair
    shift = masks @ (units.values[a] - units.values[b])
    return case.scores(units.totals[a] - shift) - case.scores(units.totals[b] + shift)


def _of_draws(asked: _Asked) -> dict[str, list[float]]:
    """The p-values of each bootstrap test, by name."""
    name, case = "sacrebleu --paired-bs", asked.case
    if name not in asked.names:
        return {}
    shape = len(case.question.scores), case.settings.fixed_resamples
    _check_memory(shape[0], case.settings)
    kind = OfSums(case)
    with kind.sized(asked.context, 0, draws=True).run("compat", shape[1], case.settings.seed) as run:
        scores = all_replicates(lambda part: kind.replicates(part, SharedDraws([])), shape, run)
    pairs = zip(case.question.pairs, case.question.deltas.tolist(), strict=True)
    return {name: [paired_bs(scores[a] - scores[b], delta) for (a, b), delta in pairs]}


def _check_memory(count: int, settings: Settings) -> None:
    if not fits(needed := gib((count, settings.fixed_resamples)), settings):
        raise InputError(
            f"compat keeps {count:,} numbers per resample; give {Hint('memory', f'{memory_for(needed):g}')} (GiB) or "
            "more, or fewer resamples"
        )


def _student(a: np.ndarray, b: np.ndarray) -> float:
    """The p-value of `scipy.stats.ttest_rel`; NaN where all differences are 0."""
    from scipy.stats import ttest_rel

    with np.errstate(all="ignore"):
        return float(ttest_rel(a, b).pvalue)  # pyright: ignore
