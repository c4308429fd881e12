"""Time whole commands against sacrebleu's, and calls against libraries that do the same job, after equal answers.

    python benchmarks/peers.py [--quick] [--output FILE.json] [--zmigrod FOLDER]

Texts are those of wmt23_ende where the environment variable SIGJAX_DATA names the folder that holds it, else synthetic
sentences. Libraries are evaluatio and evalstats, where they are installed, and the code of Zmigrod et al. (2022) with
numba, where FOLDER is a copy of rycolab/paired-perm-test. Each is left out, with a line, where it is not there. Exits
with 1 when answers differ; never because of a time.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from checks import Check, check_records, p_check, p_error, require
from timing import Row, machine, options, rows_table, save, time_in_turn
from workloads import matched_words, tagged_words, texts

import sigjax
from sigjax.records import Device, IntervalKind, Test

KINDS: dict[Test, tuple[str, int]] = {"permutation": ("ar", 10_000), "bootstrap": ("bs", 1000)}
"""Test -> sacrebleu's name of it, and its default number of resamples."""
METRICS = ("bleu", "chrf")
COMPILED = "sigjax on JAX, compiled before"
RESAMPLES = 10_000
_P = re.compile(r"p = (\d\.\d+)")
_ROUNDED = 5e-5
"""p-values of sacrebleu have four decimals."""


class Sizes(NamedTuple):
    """What is timed."""

    systems: tuple[int, ...]
    segments: int
    sentences: tuple[int, ...]
    repeats: int


FULL = Sizes(systems=(2, 12), segments=557, sentences=(100, 1000, 10_000), repeats=5)
QUICK = Sizes(systems=(2,), segments=60, sentences=(100,), repeats=1)


class Job(NamedTuple):
    """One job, done by sigjax and by others."""

    task: str
    data: str
    ours: Callable[[], sigjax.Comparison]
    theirs: Mapping[str, Callable[[], float]]
    """Who -> a p-value."""
    left_out: Mapping[str, float] = {}
    """Who -> the probability that is missing from their distribution, by which their exact p may be too small."""


def commands(test: Test, num_systems: int, sizes: Sizes) -> tuple[list[Row], list[Check]]:
    """From texts to a table, by both programs: the first system against each other one, with BLEU and chrF."""
    kind, resamples = KINDS[test]
    with tempfile.TemporaryDirectory() as folder:
        name, files = _written(Path(folder), num_systems, sizes.segments)
        reference, *outputs = files
        theirs = [sys.executable, "-m", "sacrebleu", *map(str, (reference, "-i", *outputs)), "-m", *METRICS]
        theirs += [f"--paired-{kind}", f"--paired-{kind}-n", str(resamples), "-w", "6", "--format", "text"]
        ours = [sys.executable, "-m", "sigjax", "compare", *map(str, (reference, "-i", *outputs)), "-m", *METRICS]
        ours += ["--test", test, "--resamples", str(resamples), "--baseline", outputs[0].stem]
        warm = {**os.environ, "SIGJAX_CACHE_DIR": str(Path(folder, "cache"))}
        checks = _same_answers(test, files, theirs, resamples, _run([*ours, "--format", "json"], warm))
        calls = {
            "sigjax compare, texts seen before": partial(_run, ours, warm),
            "sigjax compare, new texts": partial(_run, ours, {**os.environ, "SIGJAX_CACHE_DIR": os.devnull}),
            f"sacrebleu --paired-{kind}": partial(_run, theirs, warm),
        }
        seconds = time_in_turn(calls, repeats=sizes.repeats)
    data = f"{name}, {num_systems} systems, {resamples:,} resamples"
    return [Row(f"{test}, whole commands", data, method, None, each) for method, each in seconds.items()], checks


def _written(folder: Path, num_systems: int, num_segments: int) -> tuple[str, list[Path]]:
    """The name of the texts, and files: the reference, then one per system."""
    name, lines = texts(num_systems, num_segments)
    files = [folder / f"{each}.txt" for each in lines]
    for path, text in zip(files, lines.values(), strict=True):
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return name, files


def _run(command: list[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**environment})
    return done.stdout


def _same_answers(test: Test, files: list[Path], theirs: list[str], resamples: int, ours: str) -> list[Check]:
    """Their scores to six decimals, and p by sacrebleu's formula within Monte Carlo error of sacrebleu's own.

    Raises:
        AssertionError: a score differs.
    """
    scores = {(each["name"], each["metric"]): each["score"] for each in json.loads(ours)["systems"]}
    reference, *outputs = files
    checks = []
    for system, cells in _tabulated(_run(theirs, os.environ)).items():
        evaluations = [sigjax.read(reference, input=outputs, metric=metric) for metric in METRICS]
        p_values = [_by_their_formula(each, system, test, resamples) for each in evaluations]
        for metric, (score, p_value), expected in zip(METRICS, cells, p_values, strict=True):
            if abs(score - scores[system, metric]) > 1e-6:
                raise AssertionError(f"{system}, {metric}: {scores[system, metric]}, and by sacrebleu {score}")
            if p_value is not None:
                error, what = p_error(p_value, resamples, resamples), f"{theirs[-7]}, {system}, {metric}"
                checks.append(Check(what, expected, p_value, error, step=_ROUNDED))
    require(checks)
    return checks


def _by_their_formula(evaluation: sigjax.Evaluation, system: str, test: Test, resamples: int) -> float:
    """Sacrebleu's p-value of a system and the first one, on random swaps or draws of NumPy.

    (c + 1) / (K + 1), where c counts |delta*| > |delta| on swaps, |delta*| - mean |delta*| > |delta| on draws.
    """
    rng, score = np.random.default_rng(0), cast(Callable[[Any], Any], evaluation.metric.score)
    a, b = (evaluation.stats[index].astype(np.float64) for index in (0, evaluation.systems.index(system)))
    if test == "permutation":
        swaps = rng.integers(0, 2, (resamples, len(a)))
        sums = a.sum(axis=0) + swaps @ (b - a), b.sum(axis=0) + swaps @ (a - b)
    else:
        counts = rng.multinomial(len(a), np.full(len(a), 1.0 / len(a)), resamples)
        sums = counts @ a, counts @ b
    sizes = np.abs(np.asarray(score(sums[0])) - np.asarray(score(sums[1])))
    delta = abs(float(score(a.sum(axis=0)) - score(b.sum(axis=0))))
    middle = 0.0 if test == "permutation" else float(sizes.mean())
    return (int(np.count_nonzero(sizes - middle > delta)) + 1) / (resamples + 1)


def _tabulated(printed: str) -> dict[str, list[tuple[float, float | None]]]:
    """System -> a score and a p-value (None for the baseline) for each metric, of sacrebleu's table."""
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in printed.splitlines() if line[0:1] == "│"]
    table: dict[str, list[tuple[float, float | None]]] = {}
    for (first, *cells), (_, *below) in zip(lines, [*lines[1:], ["", *lines[-1][1:]]], strict=True):
        if first.endswith(".txt"):
            p_values = [match and float(match[1]) for match in map(_P.search, below)]
            system = Path(first.removeprefix("Baseline: ")).stem
            table[system] = [(float(cell.split()[0]), p) for cell, p in zip(cells, p_values, strict=True)]
    return table


def jobs(sizes: Sizes, zmigrod: Path | None) -> Iterator[Job]:
    """Jobs that somebody else is here to do, too."""
    rng = np.random.default_rng(3)
    a, b = rng.beta(4.0, 2.0, 2000), rng.beta(4.0, 2.1, 2000)
    data = f"one pair, real scores, N = 2,000, {RESAMPLES:,} resamples"
    if evaluatio := _installed("evaluatio.inference.hypothesis"):
        for test in KINDS:
            of_lists = partial(getattr(evaluatio, f"paired_{test}_test"), a.tolist(), b.tolist(), RESAMPLES)
            theirs = {COMPILED: _compiled(test, a, b), "evaluatio": of_lists}
            yield Job(f"{test} test", data, _sampled(test, a, b), theirs)
    if evalstats := _installed("evalstats.core.paired"):
        scores = np.stack([a, b])

        def by_evalstats() -> float:
            rng = np.random.default_rng(1)
            return evalstats.pairwise_differences(
                scores, 0, 1, method="permutation", n_bootstrap=RESAMPLES, rng=rng
            ).p_value

        theirs = {COMPILED: _compiled("permutation", a, b, "percentile"), "evalstats": by_evalstats}
        ours = _sampled("permutation", a, b, "percentile")
        yield Job("permutation test with percentile interval", data, ours, theirs)
    if zmigrod:
        sys.path.insert(0, str(zmigrod))
        yield from _exact_jobs(sizes)


def _exact_jobs(sizes: Sizes) -> Iterator[Job]:
    """Exact tests by the code of Zmigrod et al.: of right words by FFT and by dynamic programming, and of F1."""
    polymul, dp, f1 = (
        importlib.import_module(f"pairedpermtest.{each}") for each in ("accuracy_polymul", "accuracy", "f1")
    )
    by_dp, by_fft = "Zmigrod et al., dynamic programming", "Zmigrod et al., FFT"
    for size in sizes.sentences:
        x, y = tagged_words(size)[1]
        theirs = {by_fft: partial(polymul.perm_test_polymul, x, y)}
        masses = {by_fft: polymul.pmf_polymul(x, y).x.sum()}
        if size <= 1000:
            theirs = {by_dp: partial(dp.perm_test, x, y)} | theirs
            masses[by_dp] = dp.pmf(x, y, np.abs(x - y).max()).sum()
        ours = partial(sigjax.permutation_test, x, y, method="exact")
        yield Job("exact test of right words", f"N = {size:,}", ours, theirs, _left_out(masses))
    x, y = matched_words(20)
    states = [[f1.f1state(int(tp), int(predicted + gold - 2 * tp)) for tp, predicted, gold in each] for each in (x, y)]
    ours = partial(sigjax.permutation_test, x, y, metric="fscore", method="exact")
    left_out = _left_out({by_fft: sum(f1.pmf(*states).pmf().values())})
    yield Job("exact test of F1", "N = 20", ours, {by_fft: partial(f1.perm_test, *states)}, left_out)


def _left_out(masses: Mapping[str, float]) -> dict[str, float]:
    """What is missing from 1: at each step they leave out probabilities below 1e-8, for F1 below 1e-6."""
    return {who: max(0.0, 1.0 - float(mass)) for who, mass in masses.items()}


def _sampled(
    test: Test, a: np.ndarray, b: np.ndarray, interval: IntervalKind = "none", device: Device = "auto"
) -> Callable[[], sigjax.Comparison]:
    evaluation = sigjax.Evaluation.from_arrays({"a": a, "b": b}, metric="mean")
    how: dict[str, Any] = {"method": "montecarlo", "resamples": RESAMPLES, "progress": False}
    compare = partial(sigjax.compare, evaluation, test=test, interval=interval, device=device, **how)
    return lambda: next(iter(compare()))


def _compiled(test: Test, a: np.ndarray, b: np.ndarray, interval: IntervalKind = "none") -> Callable[[], float]:
    ours = _sampled(test, a, b, interval, "cpu")
    return lambda: ours().p_value


def _installed(module: str) -> Any:
    """The module, or None and a line."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        print(f"left out: {module.partition('.')[0]} ({error})")
        return None


def measure(job: Job, repeats: int) -> tuple[list[Row], list[Check]]:
    """Check that p-values agree, then time the calls in turn; all calls were made once before.

    Exact ones agree to 1e-9 and what the others leave out.
    """
    ours, checks = job.ours(), []
    for who, call in job.theirs.items():
        p_value, what = float(call()), f"{job.task}, {job.data}, {who}"
        if ours.exceed is not None:
            checks.append(p_check(what, p_value, ours, RESAMPLES))
        elif not -1e-9 * p_value <= ours.p_value - p_value <= 1e-9 * p_value + job.left_out[who]:
            raise AssertionError(
                f"{what}: p {p_value!r}, less {job.left_out[who]:.2g} left out; by sigjax {ours.p_value!r}"
            )
    require(checks)
    seconds = time_in_turn({"sigjax": job.ours, **job.theirs}, repeats=repeats)
    return [Row(job.task, job.data, method, None, each) for method, each in seconds.items()], checks


def main() -> None:
    """Check, time, show."""
    chosen = options(__doc__, zmigrod={"type": Path, "help": "folder that holds pairedpermtest/ of Zmigrod et al."})
    sizes = QUICK if chosen.quick else FULL
    print(json.dumps(on := machine(chosen.device), indent=2))
    parts = [commands(test, number, sizes) for test in KINDS for number in sizes.systems]
    parts += [measure(job, sizes.repeats) for job in jobs(sizes, chosen.zmigrod)]
    for task in dict.fromkeys(row.task for rows, _ in parts for row in rows):
        print(f"\n{task}\n\n{rows_table([row for rows, _ in parts for row in rows if row.task == task])}")
    checks = [check for _, each in parts for check in each]
    farthest = max(check.distance for check in checks)
    print(f"\n{len(checks)} sampled p-values agree, the farthest {farthest:.1f} standard errors apart")
    save(chosen.output, on, [row for rows, _ in parts for row in rows], checks=check_records(checks))


if __name__ == "__main__":
    main()
