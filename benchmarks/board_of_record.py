"""`sigjax research board` on 5,041 systems x 249 questions: processor time and memory, from the files to page and JSON.

    python benchmarks/board_of_record.py [--quick] [--output FILE.json]

Right or wrong answers by a two-parameter logistic model: abilities of systems, difficulties and slopes of questions. So
systems agree as those of public leaderboards do. First, the board of 120 systems that keeps no pairs has the decisions
of the board that keeps them. Exits with 1 where decisions differ; never because of a time.
"""

from __future__ import annotations

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import numpy as np
from timing import machine, markdown_table, options, save

from sigjax import studies

SIZES, QUICK = [(1_500, 249), (5_041, 249)], [(1_500, 249)]
HEADER = ("board", "pairs", "processor seconds", "seconds", "peak GiB")
FILE = """title = "Simulated board"
source = "benchmarks/board_of_record.py"
licence = "MIT"
files = ["board.csv"]
metric = "accuracy"
"""


def write(folder: Path, systems: int, questions: int) -> Path:
    """The table of a board and its TOML file, whose path it gives."""
    rng = np.random.default_rng(1)
    ability, difficulty = rng.normal(0.0, 1.0, (systems, 1)), rng.normal(0.0, 1.5, questions)
    chance = 1.0 / (1.0 + np.exp(-np.exp(rng.normal(0.0, 0.4, questions)) * (ability - difficulty)))
    answers = (rng.random(chance.shape) < chance).astype(int)
    names = [f"org{_letters(k)}/model" for k in range(systems)]
    with (folder / "board.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", *names], *([f"q{i}", *own] for i, own in enumerate(answers.T.tolist()))])
    (folder / "board.toml").write_text(FILE)
    return folder / "board.toml"


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + number // 26**place % 26) for place in (2, 1, 0))


def check(folder: Path) -> None:
    """The board that keeps no pairs decides as the one that keeps them.

    Raises:
        AssertionError: it does not.
    """
    path, module = write(folder, 120, 249), import_module("sigjax.studies.boards")
    kept = studies.board(path, progress=False)
    setattr(module, "_MOST_PAIRS", 1)  # noqa: B010
    ranked = studies.board(path, progress=False)
    assert kept.report is not None
    assert ranked.ranking is not None
    ranks = {each.name: each.rank_interval for each in kept.report.systems}
    if kept.real != ranked.real or any(ranks[each.system] != each.rank_interval for each in ranked.ranking.systems):
        raise AssertionError(f"{ranked.real}, and with all pairs {kept.real}")


def measure(folder: Path, systems: int, questions: int) -> list[float]:
    """Seconds of the processor, seconds, and GiB of one run of the command."""
    path, start = write(folder, systems, questions), time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = [folder / f"out.{ending}" for ending in ("html", "json", "csv")]
    words = [sys.executable, "-m", "sigjax", "research", "board", str(path), "-q", *(f"-o={file}" for file in out)]
    subprocess.run(words, check=True, env=os.environ | {"NO_COLOR": "1"})
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [used, seconds, after.ru_maxrss / 2**20]


def main() -> None:
    """Check, measure, print and save."""
    chosen = options(__doc__)
    on, lines = machine("cpu"), list[list[str]]()
    with tempfile.TemporaryDirectory() as name:
        check(Path(name))
        for systems, questions in QUICK if chosen.quick else SIZES:
            used, seconds, peak = measure(Path(name), systems, questions)
            pairs = systems * (systems - 1) // 2
            shown = (f"{used:.1f}", f"{seconds:.0f}", f"{peak:.2f}")
            lines.append([f"{systems:,} x {questions}", f"{pairs:,}", *shown])
    print(markdown_table(HEADER, lines))
    save(chosen.output, on, (), table=[dict(zip(HEADER, line, strict=True)) for line in lines])


if __name__ == "__main__":
    main()
