"""How large is the code, and how long is the way of one comparison through it?

    python benchmarks/house.py

Nothing is timed. The way is that of `sigjax compare TABLE -m accuracy` for two systems, which is exact: the files and
functions of sigjax that are called, and how often a call goes from one room (a folder of sigjax) to another.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from types import FrameType

import sigjax

ROOT = Path(sigjax.__file__).parent
sys.path.append(str(ROOT.parent / "tests"))
from test_layers import graph_of_imports  # noqa: E402  # pyright: ignore[reportMissingImports]


def main() -> None:
    """Print the table."""
    files = sorted(ROOT.rglob("*.py"))
    graph = graph_of_imports()
    visited, functions, changes = _way()
    root = sorted(path.name for path in ROOT.glob("*.py"))
    for what, value in {
        "lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files),
        "files": len(files),
        "modules at the root": f"{len(root)} ({', '.join(root)})",
        "files that only one other file imports": sum(
            sum(module in others for others in graph.values()) == 1 for module in graph
        ),
        "files on the way of one comparison": visited,
        "functions on it": functions,
        "changes of room on it": changes,
    }.items():
        print(f"{what}: {value}")


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
