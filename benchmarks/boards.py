"""Boards of many systems that are right or wrong on 200 instances: time and peak memory of each stage.

    python benchmarks/boards.py [--quick] [--output FILE.json] [--systems K ...]

Each board has a process of its own, which tells its peak memory: all pairs with percentile intervals, then its JSON,
streamed to a file, its text and its HTML. Then boards with more instances, beside what bounds them: the product of all
answers, and SciPy's binomial tail of each different pair of counts; and a board whose instances are in clusters of
four, all exact, beside what a budget of 10 seconds leaves to sampling. Exits with 1 when p-values differ from SciPy's,
or from those of whole numbers; never because of a time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from timing import Row, machine, markdown_table, options, print_verdicts, save, time_in_turn, timed, verdict

import sigjax
from sigjax.comparison.checks import work
from sigjax.records import Settings
from sigjax.report.data import json_pieces
from sigjax.report.html import to_html
from sigjax.report.text import to_text
from sigjax.run.context import Context
from sigjax.testing.permutation import exact_permutation
from sigjax.testing.problem import SumsProblem, pairs_of

INSTANCES = 200
OPTIONS: dict[str, Any] = {"interval": "percentile", "memory": 4.0, "progress": False}
"""The columns of 5,000 systems take 2.9 GiB."""
MOST_MICROSECONDS = 20.0
"""Of a pair, for the comparison and its JSON."""
_CHECKED = 50
PRODUCTS = ((1000, 2000), (2000, 5000))
"""Systems and instances of boards beside the plain product."""
MOST_OF_P, MOST_OF_ALL, MOST_OFF = 3.0, 6.0, 2.0
"""Times the plain product and tails: exact p, and the whole comparison; and times the announced seconds."""


class Stage(NamedTuple):
    """What one stage took."""

    name: str
    seconds: float
    cpu: float
    """Seconds of processors, which depend less on what else the machine does."""
    peak: float
    """GiB of the process until its end."""
    output: int
    """Bytes or characters written."""


def board(systems: int, instances: int = INSTANCES) -> sigjax.Evaluation:
    """Results of systems from 40 to 80 % right, some instances harder than others."""
    rng = np.random.default_rng(0)
    harder, right = rng.normal(0.0, 0.2, instances), np.linspace(0.4, 0.8, systems)
    return sigjax.Evaluation.from_arrays(
        {f"system {i + 1}": (rng.random(instances) < right[i] + harder).astype(int) for i in range(systems)},
        metric="accuracy",
    )


def stages(systems: int) -> list[Stage]:
    """Compare all pairs of a board, and write the report."""
    evaluation = board(systems)
    comparing, report = _stage("compare", lambda: sigjax.compare(evaluation, **OPTIONS))
    check(evaluation, report)
    with tempfile.TemporaryFile("w", encoding="utf-8") as file:
        writing, _ = _stage("JSON", lambda: file.writelines(json_pieces(report)))
        found = [comparing, writing._replace(output=os.fstat(file.fileno()).st_size)]
    for name, write in (("text", lambda: to_text(report, width=100)), ("HTML", lambda: to_html(report))):
        stage, text = _stage(name, write)
        found.append(stage._replace(output=len(text)))
    return found


def _stage(name: str, work: Callable[[], Any]) -> tuple[Stage, Any]:
    """What a stage took, and its result."""
    before = time.process_time()
    seconds, result = timed(work)
    return Stage(name, seconds, time.process_time() - before, _peak(), 0), result


def check(evaluation: sigjax.Evaluation, report: sigjax.Report) -> None:
    """p-values of some pairs are those of SciPy's sign test.

    Raises:
        AssertionError: they are not.
    """
    from scipy.stats import binomtest

    place = {name: place for place, name in enumerate(evaluation.systems)}
    values = evaluation.stats[:, :, 0]
    for chosen in np.random.default_rng(1).integers(len(report), size=_CHECKED).tolist():
        one = report.comparisons[chosen]
        a, b = values[place[one.a]], values[place[one.b]]
        ahead, behind = int((a > b).sum()), int((b > a).sum())
        expected = float(binomtest(ahead, ahead + behind).pvalue) if ahead + behind else 1.0
        if abs(one.p_value - expected) > 1e-9 * expected:
            raise AssertionError(f"p of {one.a} and {one.b}: {one.p_value}, and by SciPy {expected}")


def plain(answers: np.ndarray) -> np.ndarray:
    """Exact p of all pairs `[pair]`, by NumPy and SciPy by hand, from answers `[system, instance]`."""
    from scipy.special import betainc

    ones = answers.astype(np.float32)
    both, right = ones @ ones.T, ones.sum(axis=1)
    first, second = np.triu_indices(len(ones), 1)
    counts = (right[first] + right[second] - 2 * both[first, second]).astype(np.int64)
    more = np.abs(right[first] - right[second]).astype(np.int64)
    cells, which = np.unique(counts * (answers.shape[1] + 1) + more, return_inverse=True)
    m, k = np.divmod(cells, answers.shape[1] + 1)
    tails = np.where(k > 0, 2.0 * betainc((m + k) / 2.0, np.maximum((m - k) / 2.0 + 1.0, 1.0), 0.5), 1.0)
    return np.minimum(tails, 1.0)[which]


def beside_the_product(systems: int, instances: int, repeats: int) -> tuple[list[Row], list[dict[str, Any]]]:
    """Exact p, and the whole comparison, beside `plain`; the p-values are equal, or it stops."""
    evaluation, settings = board(systems, instances), Settings()
    answers = evaluation.stats[:, :, 0].astype(np.int8)

    def exact() -> np.ndarray:
        problem = SumsProblem.of_evaluation(evaluation, settings, pairs_of(evaluation, settings))
        return exact_permutation(problem, Context("numpy")).column("p_value").values

    def whole() -> sigjax.Report:
        return sigjax.compare(evaluation, memory=4.0, progress=False)

    expected = plain(answers)
    for found in (exact(), whole().comparisons.column("p_value").values):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-290)
    calls = {"product and tails": lambda: plain(answers), "exact p": exact, "compare": whole}
    data = f"{systems:,} systems, {instances:,} instances"
    seconds = time_in_turn(calls, repeats=repeats)
    rows = [Row("product", data, name, None, each) for name, each in seconds.items()]
    bound, of_p, of_all = (row.median for row in rows)
    announced = work(evaluation, systems * (systems - 1) // 2, settings)[0].seconds
    off = max(announced / of_all, of_all / announced)
    return rows, [
        verdict(f"exact p of {data}, times the plain product and tails", of_p / bound, at_most=MOST_OF_P),
        verdict(f"compare {data}, times the plain product and tails", of_all / bound, at_most=MOST_OF_ALL),
        verdict(f"announced time of {data}, times too long or too short", off, at_most=MOST_OFF),
    ]


def clustered(systems: int, clusters: int = 500) -> tuple[list[Row], list[dict[str, Any]]]:
    """All pairs with clusters as units; some p-values are those of sums of whole numbers, or it stops."""
    right = board(systems, 4 * clusters).stats[:, :, 0].astype(int)
    names = [f"system {i + 1}" for i in range(systems)]
    units = np.repeat(np.arange(clusters), 4).tolist()
    evaluation = sigjax.Evaluation.from_arrays(
        dict(zip(names, right.tolist(), strict=True)), metric="accuracy", clusters=units
    )
    seconds, report = timed(lambda: sigjax.compare(evaluation, memory=4.0, progress=False))
    sums, place = right.reshape(systems, clusters, 4).sum(axis=2), {name: i for i, name in enumerate(names)}
    for chosen in np.random.default_rng(1).integers(len(report), size=_CHECKED).tolist():
        one = report.comparisons[chosen]
        differences, ways, reach = sums[place[one.a]] - sums[place[one.b]], 1, 0
        for each in np.abs(differences).tolist():  # a polynomial in 2^1024: coefficients are numbers of swaps
            ways, reach = ways + (ways << 2048 * each), reach + each
        counts = [(ways >> 1024 * k) & (2**1024 - 1) for k in range(2 * reach + 1)]
        tail = sum(count for k, count in enumerate(counts) if abs(k - reach) >= abs(int(differences.sum())))
        expected = tail / 2**clusters
        if one.method != "exact" or abs(one.p_value - expected) > 1e-9 * expected:
            raise AssertionError(f"p of {one.a} and {one.b}: {one.p_value}, and by whole numbers {expected}")
    limited, _ = timed(lambda: sigjax.compare(evaluation, memory=4.0, progress=False, budget=10.0))
    data = f"{systems:,} systems, {4 * clusters:,} instances in {clusters:,} clusters"
    rows = [Row("clusters", data, name, None, (each,)) for name, each in (("exact", seconds), ("budget 10", limited))]
    announced = work(evaluation, len(report), Settings())[0].seconds
    off = max(announced / seconds, seconds / announced)
    return rows, [verdict(f"announced time of {data}, times too long or too short", off, at_most=MOST_OFF)]


def in_a_process(systems: int) -> list[Stage]:
    """`stages`, measured in a process of their own."""
    command = [sys.executable, __file__, "--stages", str(systems)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()).stdout
    return [Stage(*each) for each in json.loads(out)]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Measure the boards, one after the other."""
    sizes: dict[str, Any] = {"type": int, "nargs": "+", "default": None}
    given = options(__doc__, systems=sizes, stages={"type": int, "help": "what a process of its own does"})
    if given.stages:
        print(json.dumps(stages(given.stages)))
        return
    on, rows, lines, verdicts = machine(given.device), [], [], []
    for systems in given.systems or ([50, 100] if given.quick else [1000, 5000]):
        pairs, found = systems * (systems - 1) // 2, in_a_process(systems)
        for each in found:
            rows.append(Row("board", f"{systems:,} systems", each.name, None, (each.seconds,)))
            figures = (f"{each.seconds:.3g}", f"{each.cpu:.3g}", f"{each.cpu / pairs * 1e6:.3g}", f"{each.peak:.2f}")
            lines.append((f"{systems:,}", f"{pairs:,}", each.name, *figures, f"{each.output / 1e6:,.1f}"))
        spent = (found[0].cpu + found[1].cpu) / pairs * 1e6
        verdicts.append(
            verdict(f"us of processors for a pair of {systems:,} systems, with JSON", spent, at_most=MOST_MICROSECONDS)
        )
    products: list[Row] = []
    for systems, instances in () if given.systems else PRODUCTS[:1] if given.quick else PRODUCTS:
        some, more = beside_the_product(systems, instances, 3 if given.quick else 7)
        products, verdicts = products + some, verdicts + more
    if not given.systems:
        some, more = clustered(100 if given.quick else 600)
        products, verdicts = products + some, verdicts + more
    header = ("systems", "pairs", "stage", "seconds", "CPU seconds", "CPU us a pair", "peak GiB", "MB written")
    print(markdown_table(header, lines))
    for row in products:
        print(f"{row.data}: {row.method} {row.median:.3g} s")
    print_verdicts(verdicts)
    save(
        given.output,
        on,
        [*rows, *products],
        table=[dict(zip(header, line, strict=True)) for line in lines],
        aims=verdicts,
    )


if __name__ == "__main__":
    main()
