"""Commands for first steps: `info` (what is installed), `help`, `doctor` (how files are read), and `demo`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from operator import attrgetter
from pathlib import Path
from typing import Literal

from sigjax.cli.compare import run
from sigjax.cli.options import Files, Inputs, Output, WriteOptions, flags, text_options, text_width, write_text
from sigjax.comparison.options import CompareOptions
from sigjax.formats import read
from sigjax.readers.options import ReadOptions
from sigjax.records import InputError
from sigjax.records.display import entry, meant, visible
from sigjax.records.options import option, same, values
from sigjax.run.files import replacing


def info() -> None:
    """Show versions and devices, and why no GPU is used."""
    from sigjax.run.context import installed

    rows = (entry(f"{name}:", value, width=text_width(), indent=24) for name, value in installed().items())
    write_text("\n".join(rows), "text", None)


def explain(*words: str) -> None:
    """Explain a topic, such as exact or formats, or find words in the manual; without any, list the topics.

    Args:
        words: One of the topics, a command, or words to look for, such as effect size.
    """
    from sigjax.guide import TOPICS, contents, near, page, search, topic_of

    if (topic := topic_of(words)) is not None:
        shown = page(topic, color=bool(text_options(to_file=False)["color"]))
    else:
        shown = search(words) if words else contents()
    if not shown:
        close = meant("-".join(words), TOPICS)[:1] or near(words)
        known = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
        raise InputError(
            f"no page speaks of {' '.join(words)!r}; {known}`sigjax help questions` answers twenty questions, and "
            "`sigjax help` lists the pages"
        )
    write_text(shown, "text", None)


@dataclass(frozen=True, kw_only=True)
class PrintOptions(WriteOptions):
    """The options of `doctor` for its output files."""

    format: Literal["text", "json"] | None = same(WriteOptions, "format")  # pyright: ignore[reportIncompatibleVariableOverride]
    formats = ("text", "json")


@flags(Inputs, PrintOptions)
def doctor(paths: Files, inputs: Inputs, results: PrintOptions) -> int:
    """How are files understood, and which command compares them? Nothing is computed.

    Says which format was recognized and why, what the systems, instances and ids are, which metrics are possible, what
    could be clusters, and what is missing. The exit code is 0 if the files can be compared, else 2.
    """
    inputs.check(paths, results)
    from sigjax.formats.doctor import diagnose

    asked = values(inputs, ReadOptions, metric=next(iter(inputs.metric), None))
    diagnosis = diagnose(*paths, options=ReadOptions(**asked)).spelled(_flag)
    width = text_width(to_file=bool(results.output))
    for format, path in results.files():
        write_text(diagnosis.to_json() if format == "json" else diagnosis.text(width, _flag), format, path)
    results.close(lambda: diagnosis.text(width, _flag).splitlines()[:1])
    return 2 if diagnosis.command is None else 0


_flag = attrgetter("flag")


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The option of `demo` for the folder of the example files."""

    write: Path | None = option(
        None, "Write example files and a README of commands to this folder, and compare nothing.", group="Main options"
    )


@flags(CompareOptions, Output, Examples)
def demo(options: CompareOptions, output: Output, examples: Examples) -> None:
    """Compare five named-entity taggers on a bundled example, or write files to try sigjax on (--write FOLDER)."""
    if examples.write is not None:
        if (replace(options, progress=True), replace(output, quiet=False)) != (CompareOptions(), Output()):
            raise InputError("--write FOLDER writes files and compares nothing; leave the other options out")
        _write_examples(examples.write, quiet=output.quiet)
    else:
        Inputs().check([], output, options)
        with as_file(files("sigjax") / "data" / "demo.tsv") as path:
            evaluation = read(path, metric="fscore")
        run([evaluation], options, output)


def _write_examples(folder: Path, *, quiet: bool) -> None:
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
    if not quiet:
        print(visible(f"{len(names)} files are in {folder}; {folder / 'README.md'} has commands to try"))
