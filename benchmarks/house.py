"""How large is the code, and how long is the way of one comparison through it?

    python benchmarks/house.py

Nothing is timed. The way is that of `sigjax compare TABLE -m accuracy` for two systems, which is exact: the files and
functions of sigjax that are called, and how often a call goes from one room (a folder of sigjax) to another. Circles
are those of all imports, also within functions and for type checkers.
"""

from __future__ import annotations

import ast
import contextlib
import io
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import FrameType

import sigjax

ROOT = Path(sigjax.__file__).parent
sys.path.append(str(ROOT.parent / "tests"))
from test_layers import graph_of_imports  # noqa: E402  # pyright: ignore[reportMissingImports]


def main() -> None:
    """Print the table."""
    files = sorted(ROOT.rglob("*.py"))
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for path in files]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    functions_of_one = [node for node in nodes if isinstance(node, ast.FunctionDef) and len(_body(node)) == 1]
    graph = graph_of_imports()
    visited, functions, changes = _way()
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
        "first circle of imports": _circle(graph_of_imports(everything=True)),
        "files on the way of one comparison": visited,
        "functions on it": functions,
        "changes of room on it": changes,
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


def _way() -> tuple[int, int, int]:
    """Files, functions and changes of room of one comparison; the modules are loaded first."""
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
    changes = sum(room != other for room, other in zip(rooms, rooms[1:], strict=False))
    return len({file for file, _ in calls}), len(set(calls)), changes


if __name__ == "__main__":
    main()
