"""Time exact tests against Monte Carlo and the tree of Zmigrod et al. (2022) in SciPy, after checking equal answers.

    python benchmarks/exact.py [--quick] [--output FILE.json] [--figure FILE.png]

Exits with 1 when answers differ; never because of a time.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import jax  # noqa: F401  # loaded here, so that first calls do not time it
import numpy as np
from scipy import signal, stats
from timing import Row, machine, markdown_table, row_record, time_in_turn, timed
from workloads import matched_words, tagged_words

import sigjax
from sigjax.exact.board_tests import pair_p
from sigjax.exact.digits import reference_p
from sigjax.exact.distributions import EPSILON
from sigjax.exact.lattice import Lattice, pair_lattice
from sigjax.exact.null import UncertainP
from sigjax.records import Comparison, InputError
from sigjax.resample.extreme import Extreme

_TARGET, _F1_TARGET = 150.0, 1.0
_COLORS = {
    "charfun": "#c1272d",
    "dp": "#e08e45",
    "tree": "#7a4fa3",
    "tree in SciPy": "#222222",
    "Monte Carlo, 5,000": "#7ab6da",
    "Monte Carlo, 10,000": "#4f9bcb",
    "Monte Carlo, 20,000": "#2a75b3",
    "Monte Carlo, 40,000": "#08519c",
}
_LARGEST = 10_000
_LEAST_GAP = 1.27
"""Factor of time between neighbouring labels, so that they do not overlap."""


def times_table(rows: Sequence[Row]) -> str:
    """Median seconds, a line a method and a column a size; first calls at the end."""
    columns = list(dict.fromkeys(row.data for row in rows))
    methods = sorted(dict.fromkeys(row.method for row in rows), key=lambda method: method.endswith("first call"))
    medians = {(row.method, row.data): f"{row.median:.3g}" for row in rows}
    lines = [[method, *(medians.get((method, data), "") for data in columns)] for method in methods]
    return markdown_table(["method", *columns], lines)


def verdicts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What the project aims at, with yes or no."""
    one = {row.method: row.median for row in rows if (row.task, row.data) == ("one statistic", "N = 10,000")}
    (seconds,) = (row.median for row in rows if (row.task, row.data, row.method) == ("F1", "N = 2,000", "charfun"))
    found = []
    for tree in ("tree in SciPy", "tree in SciPy, short products direct"):
        for ours in ("charfun", "charfun, without the rest of a call"):
            what = f"one statistic, N = 10,000, {ours}: times faster than {tree}; at least {_TARGET:g}"
            found.append({"what": what, "value": one[tree] / one[ours], "met": one[tree] / one[ours] >= _TARGET})
    what = f"F1, N = 2,000, charfun: seconds; less than {_F1_TARGET:g}"
    return [*found, {"what": what, "value": seconds, "met": seconds < _F1_TARGET}]


def draw(rows: Sequence[Row], path: Path) -> None:
    """Seconds against sentences for one statistic, as Figure 1 of Zmigrod et al. (2022)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), dpi=150, layout="constrained")
    axes = figure.subplots()
    ends = {}
    for method, color in _COLORS.items():
        points = [(_sentences(row), row.median) for row in rows if (row.task, row.method) == ("one statistic", method)]
        points = [point for point in points if point[0] <= _LARGEST]
        axes.plot(*zip(*points, strict=True), "o-", color=color, markersize=3, linewidth=1.4, clip_on=False)
        ends[method] = points[-1]
    places = _spread({method: seconds for method, (_, seconds) in ends.items()})
    for method, place in places.items():
        axes.annotate(
            method,
            ends[method],
            (1.02, place),
            textcoords=axes.get_yaxis_transform(),
            color=_COLORS[method],
            fontsize=8,
            va="center",
        )
    axes.set_yscale("log")
    axes.set_xlim(0, _LARGEST)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("sentences N")
    axes.set_ylabel("seconds a test, median")
    axes.grid(visible=True, axis="y", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def _sentences(row: Row) -> int:
    return int(row.data.removeprefix("N = ").replace(",", ""))


def _spread(seconds: Mapping[str, float]) -> dict[str, float]:
    """Heights of labels, each at its line or as far above as the one below needs."""
    places: dict[str, float] = {}
    lowest = 0.0
    for method in sorted(seconds, key=lambda method: seconds[method]):
        places[method] = max(seconds[method], lowest)
        lowest = places[method] * _LEAST_GAP
    return places


FULL = {
    "one_statistic": (500, 1000, 2000, 4000, 6000, 8000, 10_000, 10**6),
    "f1": (500, 1000, 2000, 5000),
    "all_pairs": (25,),
    "all_pairs_f1": (25,),
}
"""Part -> numbers of sentences or of systems."""
QUICK = {"one_statistic": (500, 10_000), "f1": (2000,), "all_pairs": (5,), "all_pairs_f1": (5,)}
REPEATS, QUICK_REPEATS = 5, 2
RESAMPLES = (5_000, 10_000, 20_000, 40_000)
LARGE, FEW_RESAMPLES = 10**5, (1_000,)
"""From so many sentences on, Monte Carlo takes few resamples."""
_ALLOWED = {"error bounds": 1.0, "standard errors": 5.0}
_ONCE = 10.0
"""Calls that take longer than this many seconds are not repeated."""

Calls = dict[str, partial[Any]]


class Case(NamedTuple):
    """Several ways to the same p-values: method -> call. All answers are compared with those of the first, charfun."""

    task: str
    data: str
    calls: Calls


def one_statistic(size: int) -> Case:
    """Right words of two taggers: whole numbers, metric "mean"."""
    a, b = tagged_words(size)[1]
    test, most = partial(sigjax.permutation_test, a, b), RESAMPLES[-1]
    calls = _exact(test, "exact", "dp", "tree") | _sampled(test, RESAMPLES if size < LARGE else FEW_RESAMPLES)
    if size < LARGE:
        calls[f"Monte Carlo, {most:,}, JAX"] = partial(test, method="montecarlo", resamples=most, device="cpu")
    calls["charfun, without the rest of a call"] = partial(charfun_alone, a, b)
    calls["tree in SciPy"] = partial(scipy_tree, a, b, signal.fftconvolve)
    calls["tree in SciPy, short products direct"] = partial(scipy_tree, a, b, direct_if_short)
    return Case("one statistic", f"N = {size:,}", calls)


def f1(size: int) -> Case:
    """F1 of two taggers: tp, predicted, gold."""
    test = partial(sigjax.permutation_test, *matched_words(size), metric="fscore")
    methods = ("exact", "dp", "tree") if size == FULL["f1"][0] else ("exact",)
    return Case("F1", f"N = {size:,}", _exact(test, *methods) | _sampled(test, (10_000,)))


def all_pairs(systems: int) -> Case:
    """All pairs of systems with 500 answers, right (1) or wrong (0)."""
    right = (np.random.default_rng(25).random((systems, 500)) < 0.8 - 0.01 * np.arange(systems)[:, None]).astype(int)
    calls = _leaderboard(right, "accuracy") | {"binomial test in SciPy": partial(sign_tests, right)}
    return Case("all pairs, 0/1, N = 500", f"{systems} systems", calls)


def all_pairs_f1(systems: int) -> Case:
    """All pairs of taggers, each next one a little worse, with 2,000 sentences by F1."""
    calls = _leaderboard(matched_words(2000, systems, step=0.002), "fscore")
    return Case("all pairs, F1, N = 2,000", f"{systems} systems", calls)


CASES: dict[str, Callable[[int], Case]] = {each.__name__: each for each in (one_statistic, f1, all_pairs, all_pairs_f1)}


def _leaderboard(values: np.ndarray, metric: str) -> Calls:
    arrays = {f"system {i}": each for i, each in enumerate(values)}
    evaluation = sigjax.Evaluation.from_arrays(arrays, metric=metric)
    test = partial(sigjax.compare, evaluation, interval="none", progress=False)
    return _exact(test, "exact") | _sampled(test, (10_000,))


def _exact(test: partial[Any], *methods: str) -> Calls:
    return {"charfun" if method == "exact" else method: partial(test, method=method) for method in methods}


def _sampled(test: partial[Any], resamples: tuple[int, ...]) -> Calls:
    return {f"Monte Carlo, {count:,}": partial(test, method="montecarlo", resamples=count) for count in resamples}


class ExactP(NamedTuple):
    """A p-value of a test outside of reports, to be compared with those of reports."""

    p_value: float
    log10_p: float
    error_bound: float


def scipy_tree(a: np.ndarray, b: np.ndarray, multiply: Callable[..., np.ndarray]) -> ExactP:
    """Algorithms 2 and 4 of Zmigrod et al. (2022), two-sided; S has the parity of its reach, so half of the range do.

    The 2^l products of a level have at most 2 (m + n) padded values together, for n units and m values in the end. So
    the bound of `exact.distributions.tree_error` is at most 12 eps log2(2m) sqrt(2^l 2 (m + n)), added up over l.
    """
    sizes = np.abs(a - b).tolist()
    coins = {size: np.bincount([0, size]) / 2 for size in set(sizes)}
    law = _convolved([coins[size] for size in sizes], multiply)
    values = 2 * np.arange(len(law)) - (len(law) - 1)
    p_value = float(law[np.abs(values) >= abs(int((a - b).sum()))].sum())
    products = 2.0 ** np.arange((len(a) - 1).bit_length())
    norms = float(np.sqrt(products * 2 * (len(law) + len(a))).sum())
    return ExactP(p_value, math.log10(p_value), 12.0 * EPSILON * math.log2(2 * len(law)) * norms / p_value)


def _convolved(laws: list[np.ndarray], multiply: Callable[..., np.ndarray]) -> np.ndarray:
    half = len(laws) // 2
    return multiply(_convolved(laws[:half], multiply), _convolved(laws[half:], multiply)) if half else laws[0]


def direct_if_short(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Convolve without FFT where one factor is so short that this is quicker (measured)."""
    return (np.convolve if min(len(left), len(right)) < 300 else signal.fftconvolve)(left, right)


def charfun_alone(a: np.ndarray, b: np.ndarray) -> ExactP:
    """What `scipy_tree` does, by sigjax: from whole numbers to a p-value, without checking data and making records."""
    lattice = pair_lattice(a[:, None], b[:, None], ("right",))
    if not isinstance(lattice, Lattice):
        raise TypeError(lattice.reason)
    asked = Extreme(np.array([float((a - b).sum())]), np.array([0.5]), "two-sided")

    def delta(values: np.ndarray) -> np.ndarray:
        return values * float(lattice.basis[0, 0])

    found = pair_p(lattice, delta, asked, monotone=True)
    return ExactP(*(reference_p(lattice, delta, asked, found.log_p) if isinstance(found, UncertainP) else found))


def sign_tests(right: np.ndarray) -> list[ExactP]:
    """For 0/1 data, the binomial test of the instances where two systems differ; an error of 1e-9 is allowed."""
    tests = (stats.binomtest(int((a > b).sum()), int((a != b).sum())) for a, b in combinations(right, 2))
    return [ExactP(float(test.pvalue), math.log10(test.pvalue), 1e-9) for test in tests]


def measure(kind: str, size: int, repeats: int) -> tuple[list[Row], list[dict[str, Any]]]:
    """Rows and checks of a case: its methods agree, and their times, those of sigjax also in a new process."""
    case, first, answers = CASES[kind](size), {}, {}
    for method, call in case.calls.items():
        try:
            first[method], answers[method] = timed(call)
        except InputError as error:
            print(f"\n{case.task}, {case.data}, {method}: {error}", flush=True)
    checks = _checks(case, answers)
    quick = {method: case.calls[method] for method in first if first[method] <= _ONCE}
    seconds = {method: (once,) for method, once in first.items()} | time_in_turn(quick, repeats=repeats)
    for method in first:
        if case.calls[method].func in (sigjax.permutation_test, sigjax.compare):
            command = [sys.executable, __file__, "--first-call", kind, str(size), method]
            printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            seconds[f"{method}, first call"] = (float(printed),)
    return [Row(case.task, case.data, method, None, each) for method, each in seconds.items()], checks


def _checks(case: Case, answers: dict[str, Any]) -> list[dict[str, Any]]:
    """How far the answers of each method are from those of charfun; of several pairs, the farthest.

    Raises:
        AssertionError: they are too far apart.
    """
    reference, *others = (list(each) if isinstance(each, list | sigjax.Report) else [each] for each in answers.values())
    checks = []
    for method, found in zip(list(answers)[1:], others, strict=True):
        sampled = isinstance(found[0], Comparison) and found[0].exceed is not None
        distance, unit = (_in_standard_errors, "standard errors") if sampled else (_in_bounds, "error bounds")
        farthest = max(distance(*pair) for pair in zip(found, reference, strict=True))
        what = f"{case.task}, {case.data}, {method}"
        checks.append({"what": what, "pairs": len(found), "distance": farthest, "unit": unit})
        if not farthest <= _ALLOWED[unit]:
            raise AssertionError(f"{what}: p is {farthest:.3g} {unit} apart; expected at most {_ALLOWED[unit]:g}")
    return checks


def _in_bounds(found: Any, reference: Any) -> float:
    """The distance of two exact p-values, in sums of their error bounds."""
    apart = abs(found.p_value - reference.p_value)
    return apart and apart / (found.p_value * found.error_bound + reference.p_value * reference.error_bound)


def _in_standard_errors(found: Any, reference: Any) -> float:
    """How unlikely the number of extreme resamples is, as a distance from the mean of a normal distribution."""
    count = stats.binom(found.resamples, reference.p_value)
    return max(0.0, float(stats.norm.isf(min(count.cdf(found.exceed), count.sf(found.exceed - 1)))))


def main() -> None:
    """Run all parts, print their tables, write the JSON and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run?")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    parser.add_argument("--figure", type=Path, help="draw time against the number of sentences into this file")
    parser.add_argument("--first-call", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first_call:
        kind, size, method = options.first_call
        print(timed(CASES[kind](int(size)).calls[method])[0])
        return
    sizes, repeats = (QUICK, QUICK_REPEATS) if options.quick else (FULL, REPEATS)
    run(sizes, repeats, options.output, options.figure)


def run(sizes: dict[str, tuple[int, ...]], repeats: int, output: Path | None, figure: Path | None) -> None:
    """Measure and show."""
    print(json.dumps(on := machine("cpu"), indent=2))
    rows: list[Row] = []
    checks: list[dict[str, Any]] = []
    for kind, each in sizes.items():
        measured = [measure(kind, size, repeats) for size in each]
        part = [row for found, _ in measured for row in found]
        print(f"\n{part[0].task}, seconds\n\n{times_table(part)}", flush=True)
        rows += part
        checks += [check for _, found in measured for check in found]
    for unit in _ALLOWED:
        of_unit = [check for check in checks if check["unit"] == unit]
        pairs, farthest = sum(each["pairs"] for each in of_unit), max(each["distance"] for each in of_unit)
        print(f"\n{pairs} p-values agree with those of charfun, the farthest {farthest:.2g} {unit} apart")
    targets = verdicts(rows)
    if output:
        record = {"schema": "sigjax-benchmark/1", "machine": on, "sizes": sizes, "rows": [*map(row_record, rows)]}
        record |= {"checks": checks, "targets": targets}
        output.write_text(json.dumps(record, indent=2) + "\n")
    if figure:
        draw(rows, figure)
    for target in targets:
        print(f"{target['what']}: {target['value']:.3g}, {'yes' if target['met'] else 'no'}")


if __name__ == "__main__":
    main()
