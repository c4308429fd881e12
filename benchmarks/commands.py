"""Whole commands: those timed by `resampling.py`, and what it takes to start.

    python benchmarks/commands.py [--quick] [--output FILE.json] [--before FOLDER]

Seconds of processor time of fresh processes, in turn, with byte code in the cache. `--before` names an older checkout,
which is timed beside this one.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from timing import Row, machine, markdown_table, options, print_verdicts, save, time_in_turn, verdict
from workloads import tables

import sigjax
from sigjax.cli import COMMANDS

RESAMPLES = 10_000
REPEATS = 9
SCIPY, DECIMALS = 'python -c "import scipy.stats"', "compare TABLE (six decimals)"
PAGES = ("--version", "--help", "help", "help metrics", *(f"{command} --help" for command in COMMANDS))


def command_line(repeats: int) -> list[Row]:
    """Time whole commands: a comparison of two systems, and the import of scipy.stats."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tables().items():
            table = Path(folder) / "table.tsv"
            table.write_text(text)
            command = [sys.executable, "-m", "sigjax", "compare", str(table), "--resamples", str(RESAMPLES)]
            _require_same_report(command, table)
            calls = {
                f"sigjax compare TABLE --resamples {RESAMPLES}": partial(_run, command),
                'python -c "import scipy.stats"': partial(_run, [sys.executable, "-c", "import scipy.stats"]),
            }
            seconds = time_in_turn(calls, repeats=repeats)
            rows += [Row("command line", name, method, None, each) for method, each in seconds.items()]
    return rows


def _run(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _require_same_report(command: list[str], table: Path) -> None:
    """The command line and the Python interface give the same numbers."""
    printed = json.loads(_run([*command, "--format", "json"]))["pairs"]
    expected = json.loads(sigjax.compare(sigjax.read(table), resamples=RESAMPLES).to_json())["pairs"]
    if printed != expected:
        raise AssertionError(f"the command line and the Python interface differ: {printed} and {expected}")


Key = tuple[str, str]
"""A call, and the folder of sigjax."""


def processor_seconds(commands: Mapping[Key, tuple[list[str], str]], *, repeats: int) -> dict[Key, float]:
    """Median processor seconds of commands (arguments of Python, folder of sigjax), in turn, after one run."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    seconds: dict[Key, list[float]] = {name: [] for name in commands}
    for _ in range(repeats + 1):
        for name, (arguments, folder) in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            with_folder = environment | {"PYTHONPATH": folder}
            subprocess.run([sys.executable, *arguments], env=with_folder, cwd="/", check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {name: statistics.median(each[1:]) for name, each in seconds.items()}


def main() -> None:
    """Print a table, and what the project aims at."""
    chosen = options(__doc__, before={"help": "an older checkout", "default": None})
    print(json.dumps(on := machine(chosen.device), indent=2))
    folders = ([chosen.before] if chosen.before else []) + [str(Path(sigjax.__file__).parents[1])]
    with tempfile.TemporaryDirectory() as folder:
        calls = {SCIPY: ["-c", "import scipy.stats"]}
        for name, text in tables().items():
            table = Path(folder) / f"{len(calls)}.tsv"
            table.write_text(text)
            shown = DECIMALS if name == "six-digit decimals" else f"compare TABLE ({name})"
            calls[shown] = ["-m", "sigjax", "compare", str(table)]
        calls |= {page: ["-m", "sigjax", *page.split()] for page in PAGES}
        calls["import sigjax"] = ["-c", "import sigjax"]
        commands = {(name, each): (call, each) for name, call in calls.items() for each in folders}
        seconds = processor_seconds(commands, repeats=1 if chosen.quick else REPEATS)
    lines = [[name, *(f"{seconds[name, each]:.3f}" for each in folders)] for name in calls]
    print(f"\n{markdown_table(['CPU seconds', *['before', 'after'][-len(folders) :]], lines)}")
    here = {name: seconds[name, folders[-1]] for name in calls}
    found = [verdict(f"part of the time of {SCIPY}: {DECIMALS}", here[DECIMALS] / here[SCIPY], at_most=0.5)]
    found += [verdict(f"seconds of {page}", here[page], at_most=0.35) for page in PAGES]
    print_verdicts(found)
    save(
        chosen.output, on, [], before={name: seconds[name, folders[0]] for name in calls}, seconds=here, verdicts=found
    )


if __name__ == "__main__":
    main()
