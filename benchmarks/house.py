"""How large is the code, and how long is the way of one comparison through it?

    python benchmarks/house.py

Nothing is timed. The way is that of `sigjax compare TABLE -m accuracy` for two systems, which is exact: the files and
functions of sigjax that are called, and how often a call goes from one room (a folder of sigjax) to another. Circles
are those of all imports, also within functions and for type checkers.

Carriers are what results pass through between a test and the page: types of sigjax that functions of the rooms from
exact to comparison return while three reports are made (an exact one, one with a sampled test and bootstrap intervals,
and one with results missing), and that hold a number of `RESULTS`, by themselves or in what they hold. `Comparisons`
counts once with names of systems and once without. `Comparison` and `SystemScore` are rows for people and do not count.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import sigjax
from sigjax.comparison.options import CompareOptions
from sigjax.records import Column, Comparison, Comparisons, SystemScore
from sigjax.report.report import Result

ROOT = Path(sigjax.__file__).parent
sys.path.append(str(ROOT.parent / "tests"))
from test_layers import graph_of_imports  # noqa: E402  # pyright: ignore[reportMissingImports]

RESULTS = {"p_value", "log10_p", "standard_error", "errors", "ends", "exceed", "p_adjusted", "bootstrap_ranks"}
"""Names of columns and fields of which one says that a type holds results."""
_TEST_ROOMS = ("exact", "testing", "multiple", "comparison")
_CONSTANT = re.compile(r"^(?!return\b)[^\S\n]*_?[A-Z][A-Z0-9_]*(?:, _?[A-Z][A-Z0-9_]*)* = .*(?:\n(?!\n).*)*", re.M)
"""A constant, or several, with the text that follows."""
_COST = re.compile(r"Cost\(\d")
"""What work costs: a measured number."""
_LIMIT = re.compile(r"SECONDS|[Nn]ominal|[Ss]econds")
"""A decision, such as how many seconds an exact test may take."""


def main() -> None:
    """Print the table."""
    files = sorted(ROOT.rglob("*.py"))
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for path in files]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    functions_of_one = [node for node in nodes if isinstance(node, ast.FunctionDef) and len(_body(node)) == 1]
    graph = graph_of_imports()
    visited, functions, changes, but_for_records = _way()
    root = sorted(path.name for path in ROOT.glob("*.py"))
    for what, value in {
        "lines": sum(lengths),
        "files": f"{len(files)} (median {statistics.median(lengths):.0f} lines, longest {max(lengths)})",
        "modules at the root": f"{len(root)} ({', '.join(root)})",
        "files that only one other file imports": sum(
            sum(module in others for others in graph.values()) == 1 for module in graph
        ),
        "modules that `sigjax demo` loads": _loaded(),
        "types": names.total(),
        "names of types used more than once": ", ".join(sorted(name for name in names if names[name] > 1)) or "none",
        "isinstance": sum(isinstance(node, ast.Name) and node.id == "isinstance" for node in nodes),
        "functions of one statement": len(functions_of_one),
        "types defined twice under one name": ", ".join(_defined_twice(files)) or "none",
        "kinds of results (classes that others with a document are made from)": ", ".join(_kinds_of_results()),
        "files with constants of cost": ", ".join(_with(_COST, files)),
        "files with limits in seconds": ", ".join(_with(_LIMIT, files)),
        "options of compare": len(fields(CompareOptions)),
        "first circle of imports": _circle(graph_of_imports(everything=True)),
        "files on the way of one comparison": visited,
        "functions on it": functions,
        "changes of room on it": f"{changes} ({but_for_records} if calls of records are left out)",
        "carriers of results": ", ".join(carriers := _carriers()),
        "number of carriers": len(carriers),
    }.items():
        print(f"{what}: {value}")


def _body(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function without its docstring."""
    return function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body


def _loaded() -> int:
    """Modules of sigjax that the command has loaded at its end."""
    code = "import contextlib, io, sys; from sigjax.cli import _run\n"
    code += "with contextlib.redirect_stdout(io.StringIO()): _run(['demo'], debug=True)\n"
    code += "print(sum(name.split('.')[0] == 'sigjax' for name in sys.modules))"
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def _circle(graph: dict[str, set[str]]) -> str:
    """The modules of a circle, or none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " -> ".join(error.args[1])
    return "none"


def _way() -> tuple[int, int, int, int]:
    """Files, functions and changes of room of one comparison, and these without records, which all rooms hold.

    The modules are loaded first.
    """
    from sigjax.cli import main as command

    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        del argument
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)) and frame.f_code.co_name != "<module>":
            calls.append((frame.f_code.co_filename, frame.f_code.co_qualname))

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "answers.tsv"
        table.write_text("id\tA\tB\n" + "".join(f"q{i}\t{i % 3 > 0:d}\t{i % 2}\n" for i in range(20)))
        sys.argv = ["sigjax", "compare", str(table), "-m", "accuracy"]
        for profile in (None, note):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                sys.setprofile(profile)
                try:
                    command()
                finally:
                    sys.setprofile(None)
    rooms = [Path(file).relative_to(ROOT).parts[0] for file, _ in calls]
    own = [room for room in rooms if room != "records"]
    changes, but_for_records = (sum(room != other for room, other in pairwise(some)) for some in (rooms, own))
    return len({file for file, _ in calls}), len(set(calls)), changes, but_for_records


def _defined_twice(files: list[Path]) -> list[str]:
    """Names of classes, and of types in capitals that stand for others, that several modules define."""
    found: dict[str, set[Path]] = {}
    for path in files:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, set()).add(path)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, is_type = node.targets[0].id, isinstance(node.value, ast.Subscript | ast.BinOp)
                if is_type and re.fullmatch(r"_?[A-Z][a-z]\w*", name):
                    found.setdefault(name, set()).add(path)
    return sorted(name for name, paths in found.items() if len(paths) > 1)


def _kinds_of_results() -> list[str]:
    """The classes with a document from which others are made: of one kind of results, `Result` alone."""
    for module in graph_of_imports():
        if module.startswith("sigjax.studies."):
            import_module(module)

    def below(kind: type) -> Iterator[type]:
        """The class and all that are made from it."""
        yield kind
        for each in kind.__subclasses__():
            yield from below(each)

    return sorted({each.__name__ for each in below(Result) if each.__subclasses__()})


def _with(words: re.Pattern[str], files: list[Path]) -> list[str]:
    """Files with a constant of a number for which `words` match its line or the text below it."""
    found = []
    for path in files:
        constants = (match[0] for match in _CONSTANT.finditer(path.read_text(encoding="utf-8")))
        if any(re.search(r"\d", each) and words.search(each) for each in constants):
            found.append(path.relative_to(ROOT).as_posix())
    return found


def _carriers() -> list[str]:
    """The types that carry results from the tests to the page, see the top of this file."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event != "return" or ROOT not in file.parents or file.relative_to(ROOT).parts[0] not in _TEST_ROOMS:
            return
        for value in _parts(argument, 2):
            if isinstance(value, Comparisons):
                found.add(f"Comparisons with{'' if 'a' in value._columns else 'out'} names")
            elif not isinstance(value, Comparison | SystemScore | Column) and _holds(value):
                found.add(type(value).__name__)

    numbers = np.arange(120.0).reshape(2, 60) % [[7.0], [5.0]]
    whole = sigjax.Evaluation.from_arrays(dict(zip("AB", numbers, strict=True)))
    lacking = {"A": {str(i): i % 7 for i in range(30)}, "B": {str(i): i % 5 for i in range(3, 30)}}
    apart = sigjax.Evaluation.from_arrays(lacking | {"C": {str(i): i % 3 for i in range(20)}}, missing="pairwise")
    sampled: dict[str, Any] = {"method": "montecarlo", "test": ["permutation", "bootstrap"], "interval": "percentile"}
    for evaluation, options in ((whole, {}), (whole, sampled), (apart, {})):
        sys.setprofile(note)
        try:
            sigjax.compare(replace(evaluation), resamples=999, progress=False, device="numpy", **options)
        finally:
            sys.setprofile(None)
    return sorted(found)


def _parts(value: object, depth: int) -> Iterator[object]:
    """A value of sigjax, or those in a tuple, a list or a dict."""
    if type(value).__module__.startswith("sigjax."):
        yield value
    elif depth and isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _parts(part, depth - 1)


def _holds(value: object, depth: int = 3) -> bool:
    """Whether a value holds results, in fields of its own or in values of sigjax there."""
    if isinstance(value, Comparisons):
        return True
    own = _fields(value)
    return bool(RESULTS & set(own)) or (
        depth > 0 and any(_holds(part, depth - 1) for field in own.values() for part in _parts(field, 2))
    )


def _fields(value: object) -> dict[str, Any]:
    """Fields by their names; of a table its columns."""
    if is_dataclass(value):
        return {each.name: getattr(value, each.name, None) for each in fields(value)}
    if isinstance(value, tuple):
        return dict(zip(getattr(value, "_fields", ()), value, strict=False))
    own = getattr(value, "__dict__", {})
    return {**own, **own.get("_columns", {})}


if __name__ == "__main__":
    main()
