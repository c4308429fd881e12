"""Measure the costs that plans and budgets count on: each constant of `sigjax.run.costs` beside what the work takes.

    python benchmarks/costs.py [--quick] [--output FILE.json]

A line for each kind of work: which constants it is made of, what they add up to, what it takes and holds on this
machine. A machine twice as fast has 0.5 everywhere; what matters is that no line is far from the others. Whole
comparisons are compiled, all else is NumPy.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from tilted import VECTORS, answers, p_values, problem_of_all
from timing import machine, markdown_table, options, save, timed
from workloads import f1_workload

from sigjax import Evaluation, Metric, SampleMetric, compare
from sigjax.comparison.checks import work
from sigjax.exact.board import make_board, pair_cost
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice
from sigjax.exact.null import listing_cost
from sigjax.exact.plans import Plan
from sigjax.metrics.ratios import is_monotone
from sigjax.metrics.texts import TEXT_METRICS
from sigjax.records import Design, Settings
from sigjax.run import costs
from sigjax.run.context import Context
from sigjax.run.costs import Cost
from sigjax.studies import rank, unpaired
from sigjax.studies.association import agreement_cost, agreements_p, association_test
from sigjax.testing.bootstrap import BootstrapPlan, draws_cost, plan_bootstrap
from sigjax.testing.columns import ColumnsProblem
from sigjax.testing.deltas import null_deltas
from sigjax.testing.permutation import exact_table, exchanged_tests, plan_exact, plan_exchange
from sigjax.testing.problem import SumsProblem, draw_cost, swap_cost
from sigjax.testing.tests import problem_of
from sigjax.testing.tilted import least_cost

CONTEXT = Context("numpy")
_OFF = 4.0
"""Times that a line may be off the middle of all before it is named."""


class Work(NamedTuple):
    """Some work, with its cost."""

    name: str
    constants: str
    """Names of those that it is made of."""
    cost: Cost
    call: Callable[[], object]


def numbers(systems: int, instances: int, values: int, *, seed: int = 1, shift: float = 0.0) -> Evaluation:
    """Whole numbers from 0, whose systems differ on about half of the instances."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, values, instances)
    own = np.where(rng.random((systems, instances)) < 0.5, first, rng.integers(0, values, (systems, instances)))
    own[1:] += rng.random((systems - 1, instances)) < shift
    return Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(own)})


def scaled(systems: int, instances: int, largest: int, *, ahead: bool = False) -> Evaluation:
    """Whole numbers up to a large one; of two systems the first may be ahead everywhere."""
    own = np.random.default_rng(2).integers(0, largest, (systems, instances))
    return Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(-np.sort(-own, axis=0) if ahead else own)})


def pair(name: str, constants: str, evaluation: Evaluation, words: str, **settings: Any) -> Work:
    """The exact test of a pair, which must be planned in these words."""
    problem = problem_of(evaluation, Settings(memory=8.0, **settings))
    assert isinstance(problem, SumsProblem)
    plan = plan_exact(problem, [(0, 1)])[0, 1]
    assert isinstance(plan, Plan)
    assert words in plan.reason, (name, plan.reason)
    return Work(name, constants, plan.cost, lambda: exact_table(problem, np.array([[0, 1]]), CONTEXT))


def whole(name: str, constants: str, evaluation: Evaluation, **settings: Any) -> Work:
    """A comparison of all pairs, as the warning of long work has it."""
    count = len(evaluation.systems)
    cost, _ = work(evaluation, count * (count - 1) // 2, Settings(**settings))
    return Work(name, constants, cost, lambda: compare(evaluation, device="cpu", **settings))


def sampled(name: str, constants: str, evaluation: Evaluation, *, draws: bool, **settings: Any) -> Work:
    """Swaps of all pairs, or draws of all systems."""
    asked: dict[str, Any] = {
        "method": "montecarlo",
        "interval": "none",
        "test": "bootstrap" if draws else "permutation",
        **settings,
    }
    problem = problem_of(evaluation, Settings(**asked))
    assert isinstance(problem, SumsProblem)
    cost = draw_cost(problem) if draws else swap_cost(problem, len(problem.hypotheses.pairs))
    return Work(name, constants, cost, lambda: compare(evaluation, device="numpy", **asked))


def exact_pairs() -> list[Work]:
    """Exact tests of one pair by itself."""
    f1, few = f1_workload().evaluation, scaled(2, 40, 10**9)
    ahead = scaled(2, 100, 10**9, ahead=True)
    signs = f1_workload(instances=16, gold_items=50_000.0).evaluation
    return [
        pair("one axis", "LINE LINE_VALUE TERM_OF_MANY", numbers(2, 2_000, 1_000), "one statistic differs"),
        pair("one axis, few units", "LINE LINE_VALUE TERM", numbers(2, 60, 10_000), "one statistic differs"),
        pair("halves of 40 units", "LISTED LISTED_SUM", few, "few units differ"),
        pair("few swaps as extreme", "EXTREME EXTREME_SWAP EXTREME_HELD", ahead, "few swaps are as extreme"),
        pair("bounds", "BOUNDS BOUNDS_VALUE", scaled(2, 2_000, 10**9), "bounds of p"),
        pair("signs of 16 units", "SIGNS SIGNS_STATISTIC", signs, "few units differ"),
        pair("two axes", "PLANE PLANE_POINT OWN_GRID OWN_POINT OWN_TERM_OF_MANY", f1, "two statistics differ"),
        pair(
            "two axes, few units",
            "PLANE PLANE_POINT OWN_GRID OWN_POINT OWN_TERM",
            f1_workload(instances=60).evaluation,
            "two statistics differ",
        ),
        pair("dp", "DYNAMIC_PROGRAM DYNAMIC_STEP DYNAMIC_POINT", f1_of(200), "dynamic program", method="dp"),
        pair("tree", "TREE TREE_STEP TREE_POINT", numbers(2, 2_000, 20), "tree of products", method="tree"),
    ]


def f1_of(instances: int) -> Evaluation:
    """Two systems by F1."""
    return f1_workload(instances=instances).evaluation


def board(name: str, constants: str, evaluation: Evaluation) -> Work:
    """The exact tests of all pairs together."""
    problem = problem_of(evaluation, Settings())
    assert isinstance(problem, SumsProblem)
    pairs = problem.hypotheses.members
    found = make_board(problem.units.values, pairs)
    assert found is not None
    cost = pair_cost(found, problem.units.values.shape[1], monotone=is_monotone(problem.metric.score)) * len(pairs)
    return Work(name, constants, cost, lambda: exact_table(problem, pairs, CONTEXT))


def boards() -> list[Work]:
    """Exact tests of all pairs together, and whole comparisons."""
    square = Metric("square", _square, ("x", "y"), lambda *columns: np.stack(columns, axis=-1), ("x", "y"))
    rows = np.random.default_rng(3).integers(0, 3, (10, 300, 2))
    grid = Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(rows)}, metric=square)
    right = np.random.default_rng(4).random((400, 1_000)) < 0.7
    answers = Evaluation.from_arrays({f"s{i}": each.astype(int) for i, each in enumerate(right)}, metric="accuracy")
    return [
        board("board of one axis", "BOARD_LINE BOARD_UNIT OWN_LINE SHARED_WAVE", numbers(40, 2_000, 20)),
        board(
            "board of two axes",
            "BOARD_PLANE BOARD_ROW BOARD_UNIT SHARED_GRID SHARED_GRID_PAIR SHARED_WAVE",
            f1_workload(25).evaluation,
        ),
        board("board of two axes, tiny p", "BOARD_PLANE BOARD_ROW LONG_GRID_PAIR LONG_WAVE", far_apart()),
        board("board of a score that is not monotone", "BOARD_PLANE BOARD_POINT BOARD_UNIT", grid),
        whole("all pairs, right or wrong", "RIGHT_OR_WRONG_PAIR RIGHT_OR_WRONG_PRODUCT SIGN_TEST PAIR_HELD", answers),
        whole("all pairs, whole numbers", "SIMPLE_PROBLEM COMPARED_PAIR OTHER_TEST_HELD", numbers(150, 500, 20)),
        whole(
            "all pairs, jackknifed",
            "PLANNED_PROBLEM COMPARED_PAIR JACKKNIFED_INSTANCE DRAWN_HELD SAMPLED_HELD",
            f1_workload(12).evaluation,
        ),
    ]


def far_apart() -> Evaluation:
    """Systems of which each is much better by F1 than the next, which needs long doubles."""
    rng = np.random.default_rng(9)
    gold = rng.integers(3, 12, 200)
    found = {f"s{i}": rng.binomial(gold, 0.9 - 0.15 * i) for i in range(5)}
    rows = {name: np.stack([right, right + rng.poisson(1.0, 200), gold], axis=1) for name, right in found.items()}
    return Evaluation.from_arrays(rows, metric="fscore")


def _square(sums: Any) -> Any:
    """A score that is monotone in no statistic."""
    x, y = sums[..., 0] - 300.0, sums[..., 1] - 300.0
    return x * x + x * y - y


def samples() -> list[Work]:
    """Sampling by NumPy, exact tests of runs, bootstrap distributions and texts."""
    f1, ratings, rng = f1_workload(6).evaluation, numbers(2, 1_000, 100), np.random.default_rng(5)
    spread = Evaluation.from_arrays(
        {name: rng.random((300, 1)) for name in "ab"}, metric=SampleMetric("spread", np.ptp, ("x",))
    )
    called = problem_of(spread, Settings(resamples=20_000, test="permutation", interval="none"))
    assert isinstance(called, ColumnsProblem)
    right = (rng.random((2_000, 1_000)) < 0.5).astype(int)
    systems = Evaluation.from_arrays({f"s{i}": each for i, each in enumerate(right)}, metric="accuracy")
    far = problem_of_all(answers("fscore", 2_000, 0.35))
    return [
        sampled("swaps, many columns", "RESAMPLE MASKED_UNIT WEIGHTED_NUMBER SCORED_STATISTIC", f1, draws=False),
        sampled("swaps, two systems", "RESAMPLE MASKED_UNIT_OF_FEW_COLUMNS", ratings, draws=False),
        sampled("draws", "RESAMPLE COUNTED_UNIT WEIGHTED_NUMBER SCORED_STATISTIC", f1, draws=True),
        whole("all swaps", "SAMPLED_PAIR", f1, method="montecarlo", interval="none"),
        whole("maxT", "MAXT_PAIR SAMPLED_PAIR", f1, method="montecarlo", interval="none", correction="maxt"),
        Work(
            "calls of a function",
            "CALL CALLED_NUMBER CALLED_NUMBER_TOGETHER",
            called.plan.cost,
            lambda: compare(spread, resamples=20_000, test="permutation", interval="none", device="numpy"),
        ),
        Work(
            "tilted swaps",
            "TILTED_VECTOR TILTED_NUMBER",
            least_cost(1, 2_000, 3) * (VECTORS / 64),
            lambda: p_values(far, (0, 1), 1),
        ),
        exchange(
            "exchanges of outputs",
            "GRID_TERM GRID_STEP SORTED_SUM SORTED_SUM_HELD SORTED_STATISTIC_HELD COUNTED_OUTPUT",
            "crossed",
        ),
        exchange("exchanges of whole runs", "CHOICE CHOICE_HELD CHOICE_STATISTIC_HELD", "models"),
        distributions(ratings),
        chosen(),
        listed(),
        Work(
            "rank of 2,000 systems",
            "RIGHT_OR_WRONG_PRODUCT",
            costs.RIGHT_OR_WRONG_PRODUCT * 2_000**2 * 1_000,
            lambda: rank(systems, device="numpy"),
        ),
    ]


def exchange(name: str, constants: str, design: Design) -> Work:
    """The exact test of two systems with runs."""
    rng, num_runs = np.random.default_rng(6), 8
    labels = {"ids": [f"i{i % 20}" for i in range(20 * num_runs)], "runs": [i // 20 for i in range(20 * num_runs)]}
    evaluation = Evaluation.from_arrays({system: rng.integers(0, 9, 20 * num_runs) for system in "ab"}, **labels)
    asked = problem_of(evaluation, Settings(design=design, test="permutation", interval="none"))
    assert isinstance(asked, SumsProblem)
    plan = plan_exchange(asked, (0, 1))
    assert not isinstance(plan, NotEligible), plan
    return Work(name, constants, plan.cost, lambda: exchanged_tests(asked, CONTEXT))


def chosen() -> Work:
    """Two systems with instances of their own, sampled."""
    rng = np.random.default_rng(7)
    own = {system: rng.normal(size=500) for system in "ab"}
    cost = costs.CHOSEN_UNIT * (1_000 * 10_000)
    return Work("units chosen", "CHOSEN_UNIT", cost, lambda: unpaired(own, method="montecarlo", device="numpy"))


def listed() -> Work:
    """All deltas that swaps give."""
    some = numbers(2, 18, 1_000)
    asked = problem_of(some, Settings())
    assert isinstance(asked, SumsProblem)
    a, b = asked.units.values
    lattice = pair_lattice(a, b, asked.metric.stat_names)
    assert isinstance(lattice, Lattice)
    return Work("all deltas", "LISTED_DELTA", listing_cost(lattice), lambda: null_deltas(asked))


def distributions(evaluation: Evaluation) -> Work:
    """The bootstrap without sampling: of two systems, and three of their difference."""
    asked: dict[str, Any] = {"method": "exact", "test": "bootstrap", "interval": "percentile"}
    problem = problem_of(evaluation, Settings(**asked))
    assert isinstance(problem, SumsProblem)
    plan = plan_bootstrap(problem, problem.equivalent_pairs, 1e3)
    assert isinstance(plan, BootstrapPlan)
    cost = sum((draws_cost(each) for each in (*plan.systems, *plan.pairs.values())), start=Cost())
    return Work("bootstrap without sampling", "DRAWS DRAWS_VALUE", cost, lambda: compare(evaluation, **asked))


def compiled() -> list[Work]:
    """JAX: its import, and what compiling adds to a small comparison."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    small, sampled = f1_workload(6, instances=100).evaluation, {"method": "montecarlo", "interval": "none"}
    spread = Evaluation.from_arrays(
        {name: np.random.default_rng(seed).random((50, 1)) for seed, name in enumerate("ab")},
        metric=SampleMetric("spread", lambda x: x.max() - x.min(), ("x",)),
    )
    called = {"test": "permutation", "interval": "none", "resamples": 200_000}

    def anew(evaluation: Evaluation, folder: str | None, settings: dict[str, Any]) -> None:
        jax.clear_caches()
        compilation_cache.reset_cache()
        jax.config.update("jax_compilation_cache_dir", folder)
        compare(evaluation, device="cpu", **{"resamples": 64, **settings})

    folder = tempfile.TemporaryDirectory()
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return [
        Work(
            "import of JAX",
            "LOADING_JAX",
            costs.LOADING_JAX,
            lambda: subprocess.run([sys.executable, "-c", "import jax"], check=True),
        ),
        Work("compiled comparison", "COMPILING", costs.COMPILING, lambda: anew(small, None, sampled)),
        Work("compiled before", "COMPILING_KEPT", costs.COMPILING_KEPT, lambda: anew(small, folder.name, sampled)),
        Work("compiled metric", "COMPILING_METRIC", costs.COMPILING_METRIC, lambda: anew(spread, None, called)),
    ]


def agreements() -> list[Work]:
    """The exact test of association with few labels on many instances, and with many labels."""
    few, many = ([400, 300, 300], [300, 300, 400], 420), ([6] * 100, [6] * 100, 20)

    def counted(name: str, gold: list[int], labels: list[int], observed: int) -> Work:
        cost = agreement_cost(gold, labels, observed)
        call = partial(agreements_p, gold, labels, observed, "two-sided")
        return Work(name, "DIGIT_PRODUCT ROOK_COEFFICIENT", cost, call)

    rng = np.random.default_rng(4)
    labels = rng.integers(0, 5, (2, 2_000)).tolist()
    drawn = Work(
        "agreements, sampled",
        "SHUFFLED_LABEL",
        costs.SHUFFLED_LABEL * (2_000 * 5_000),
        lambda: association_test(*labels, method="montecarlo", resamples=5_000),
    )
    return [counted("agreements of 3 labels", *few), counted("agreements of 100 labels", *many), drawn]


def texts() -> list[Work]:
    """What a metric reads."""
    rng = np.random.default_rng(8)
    words = [f"w{rank}" for rank in rng.zipf(1.3, 20_000) if rank < 5_000]
    lines = [" ".join(words[start : start + 20]) for start in range(0, len(words), 20)]

    def counted(name: str, constant: str) -> Work:
        some = lines[:20] if name == "ter" else lines
        texts = {"a": [*some[1:], some[0]], "b": some}
        cost = TEXT_METRICS[name].cost * (2 * sum(map(len, some)))
        return Work(
            f"texts by {name}", constant, cost, lambda: Evaluation.from_texts(texts, some, metric=name, cache=False)
        )

    return [
        counted("bleu", "BLEU"),
        counted("chrf", "CHRF"),
        counted("chrf++", "CHRF_PLUS_PLUS"),
        counted("ter", "TER"),
        counted("wer", "WER"),
        counted("cer", "CER"),
        counted("wer-sclite", "WER_SCLITE"),
        counted("rouge2", "ROUGE_N"),
        counted("rougeL", "ROUGE_L"),
    ]


def table(found: Sequence[tuple[Work, float, float]]) -> str:
    """A line for each kind of work."""
    lines = [
        (
            each.name,
            f"{1e3 * each.cost.seconds:.3g}",
            f"{1e3 * seconds:.3g}",
            f"{seconds / each.cost.seconds:.2f}",
            f"{each.cost.num_bytes / 2**20:.3g}",
            f"{held / 2**20:.3g}",
            each.constants.lower().replace(" ", ", "),
        )
        for each, seconds, held in found
    ]
    return markdown_table(("work", "ms", "measured", "ratio", "MiB", "at most", "constants"), lines)


def main() -> None:
    """Measure, print and save; exit with 1 where a constant is measured by nothing."""
    given, found = options(__doc__), list[tuple[Work, float, float]]()
    for each in (*exact_pairs(), *boards(), *samples(), *compiled(), *agreements(), *texts()):
        each.call()
        seconds = median(timed(each.call)[0] for _ in range(1 if given.quick else 5))
        tracemalloc.start()
        each.call()
        found.append((each, seconds, tracemalloc.get_traced_memory()[1]))
        tracemalloc.stop()
    print(table(found))
    ratios = [seconds / each.cost.seconds for each, seconds, _ in found]
    middle = median(ratios)
    off = [each.name for (each, *_), ratio in zip(found, ratios, strict=True) if not 1 / _OFF < ratio / middle < _OFF]
    print(f"\nmedian ratio {middle:.2f}; more than {_OFF:g} times off it: {', '.join(off) or 'none'}")
    rows = [
        {"work": each.name, "nominal": each.cost.seconds, "seconds": seconds, "bytes": held}
        for each, seconds, held in found
    ]
    save(given.output, machine("cpu"), [], costs=rows)
    measured = {name for each, *_ in found for name in each.constants.split()}
    unknown = {name for name, value in vars(costs).items() if isinstance(value, Cost)} ^ measured
    if unknown:
        sys.exit(f"constants that nothing measures, or that are none: {', '.join(sorted(unknown))}")


if __name__ == "__main__":
    main()
