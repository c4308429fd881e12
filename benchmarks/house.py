"""How large is the code, what ties it together, and how long is the way of one comparison through it?

    python benchmarks/house.py

Nothing is timed. The way is that of `sigjax compare TABLE -m accuracy` for two systems, which is exact: the files and
functions of sigjax that are called, and how often a call goes from one room (a folder of sigjax) to another.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import sigjax

ROOT = Path(sigjax.__file__).parent


def main() -> None:
    """Print the table."""
    files = sorted(ROOT.rglob("*.py"))
    graph = {_module(path): set(_imports(path)) & {_module(each) for each in files} for path in files}
    circles = [circle for circle in _circles(graph) if len(circle) > 1]
    visited, functions, changes = _way()
    root = sorted(path.name for path in ROOT.glob("*.py"))
    for what, value in {
        "lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files),
        "files": len(files),
        "modules at the root": f"{len(root)} ({', '.join(root)})",
        "circles of imports, lazy ones included": f"{len(circles)} (files: {sorted(map(len, circles), reverse=True)})",
        "files that only one other file imports": sum(
            sum(module in others for others in graph.values()) == 1 for module in graph
        ),
        "files on the way of one comparison": visited,
        "functions on it": functions,
        "changes of room on it": changes,
    }.items():
        print(f"{what}: {value}")


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path) -> Iterator[str]:
    """Modules that a file imports, wherever in it, but for those that only type checkers see."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unseen = {
        id(child)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for child in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components: modules that each reach all others (two passes, Kosaraju)."""
    order: list[str] = []
    reached: set[str] = set()
    for module in graph:
        _visit(graph, module, reached, order)
    turned = {module: {other for other in graph if module in graph[other]} for module in graph}
    found, reached = [], set()
    for module in reversed(order):
        component: list[str] = []
        _visit(turned, module, reached, component)
        found.append(component)
    return [component for component in found if component]


def _visit(graph: dict[str, set[str]], module: str, reached: set[str], order: list[str]) -> None:
    if module not in reached:
        reached.add(module)
        for other in sorted(graph[module]):
            _visit(graph, other, reached, order)
        order.append(module)


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
