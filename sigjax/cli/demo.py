"""For a start: a bundled example, and files to try sigjax on."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from sigjax.cli.compare import run
from sigjax.cli.flags import flags
from sigjax.cli.inputs import Inputs
from sigjax.cli.output import Output
from sigjax.comparison.options import CompareOptions
from sigjax.files.writing import replacing
from sigjax.readers import read
from sigjax.records import InputError
from sigjax.records.options import option
from sigjax.records.visible import visible


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Where the example files go."""

    write: Path | None = option(
        None,
        "Write example files and a README of commands to this folder, and compare nothing.",
        group="Main options",
    )


@flags(CompareOptions, Output, Examples)
def demo(asked: CompareOptions, output: Output, examples: Examples) -> None:
    """Compare five named-entity taggers on a bundled example, or write files to try sigjax on (--write FOLDER)."""
    if examples.write is not None:
        if (asked, output) != (CompareOptions(), Output()):
            raise InputError("--write FOLDER writes files and compares nothing; leave the other options out")
        _write_examples(examples.write)
    else:
        Inputs().check([], output, asked)
        with as_file(files("sigjax") / "data" / "demo.tsv") as path:
            evaluation = read(path, metric="fscore")
        run([evaluation], asked, output)


def _write_examples(folder: Path) -> None:
    """Write the example files into a folder, which need not exist.

    Raises:
        InputError: a file is there already, or cannot be written.
    """
    with as_file(files("sigjax") / "data" / "examples") as source:
        names = sorted(path.relative_to(source) for path in source.rglob("*.*") if path.is_file())
        for name in names:
            if (folder / name).exists():
                raise InputError(f"{folder / name}: exists, and is not written over; give another folder")
        try:
            for name in names:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with replacing(folder / name) as file:
                    file.write((source / name).read_bytes())
        except OSError as error:
            raise InputError(f"{folder}: cannot be written ({error.strerror}); give another folder") from None
    print(visible(f"{len(names)} files are in {folder}; {folder / 'README.md'} has commands to try"))
