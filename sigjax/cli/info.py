"""Commands for a start: `info` (what is installed), `help`, `doctor` (how files are read), `demo`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sigjax.cli.compare import run
from sigjax.cli.flags import SHORT, flags
from sigjax.cli.output import Files, Inputs, Output, Results, entry, text_options, text_width, write_text
from sigjax.comparison.options import CompareOptions
from sigjax.formats import read
from sigjax.readers.options import FileOptions, Options
from sigjax.records import InputError
from sigjax.records.display import meant, visible, visible_json
from sigjax.records.options import option, options_of, values
from sigjax.run.files import replacing

if TYPE_CHECKING:
    from sigjax.formats.doctor import Diagnosis

_INDENT = 24


def info(topic: Annotated[str | None, Parameter(show=False)] = None, /) -> None:
    """Show versions and devices, and why no GPU is used."""
    if topic is not None:
        raise InputError("info takes nothing; see `sigjax help metrics` and `sigjax help formats`")
    from sigjax.run.host import installed

    rows = (entry(f"{name}:", value, width=text_width(), indent=_INDENT) for name, value in installed().items())
    write_text("\n".join(rows), "text", None)


def explain(topic: str | None = None, /) -> None:
    """Explain a topic, such as exact, intervals or formats; without one, list the topics.

    Args:
        topic: One of the topics, or a command.
    """
    from sigjax.guide import TOPICS, contents, page

    if topic is None:
        write_text(contents(), "text", None)
    elif topic in TOPICS:
        write_text(page(topic, color=bool(text_options(to_file=False)["color"])), "text", None)
    else:
        close = meant(topic, TOPICS)
        known = f"did you mean {close[0]!r}?" if close else f"topics: {', '.join(TOPICS)}"
        raise InputError(f"no help on {topic!r}; {known}")


_DOCTOR_INDENT = 11
_MOST_NAMED = 8
_ORDER = {"input": 0, "metric": 2}


@flags(Inputs, Results)
def doctor(paths: Files, inputs: Inputs, results: Results) -> int:
    """How are files understood, and which command compares them? Nothing is computed.

    Says which format was recognized and why, what the systems, instances and ids are, which metrics are possible, what
    could be clusters, and what is missing. The exit code is 0 if the files can be compared, else 2.
    """
    inputs.check(paths, results)
    from sigjax.formats.doctor import diagnose

    diagnosis = diagnose(
        *paths,
        input=inputs.input,
        metric=next(iter(inputs.metric), None),
        reader=inputs.reader,
        options=Options(**values(inputs, FileOptions)),
    )
    command = _command(paths, inputs, diagnosis)
    to_file = bool(results.output)
    results.write(lambda: _text(diagnosis, command, to_file=to_file), lambda: _json(diagnosis, command))
    return 2 if command is None else 0


def _command(paths: Files, inputs: Inputs, diagnosis: Diagnosis) -> str | None:
    """The command that compares the files; None where nothing can be compared yet."""
    if diagnosis.refusal is not None:
        return None
    more = dict(diagnosis.options)
    given = {name: value for name, value in _given(inputs).items() if name != "metric" or not more.get("metric")}
    files = more.pop("files", paths)
    words = ["sigjax", "compare", *map(str, files)]
    for name, value in sorted((given | more).items(), key=lambda item: _ORDER.get(item[0], 1)):
        words.append(SHORT.get(name, f"--{name.replace('_', '-')}"))
        if value is not True:
            words += _words(value)
    return shlex.join(words)


def _given(inputs: Inputs) -> dict[str, Any]:
    """The options of input that were given."""
    return {
        name: value
        for name, field in options_of(Inputs).items()
        if (value := getattr(inputs, name)) != field.default and value not in ((), [], {}) and name != "progress"
    }


def _words(value: Any) -> list[str]:
    """The value of an option as it is typed."""
    if isinstance(value, Mapping):
        return [f"{name}={column}" for name, column in value.items()]
    return list(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else [str(value)]


def _json(diagnosis: Diagnosis, command: str | None) -> str:
    content = asdict(diagnosis) | {"command": command}
    del content["options"]
    return visible_json(content, indent=2)


def _text(diagnosis: Diagnosis, command: str | None, *, to_file: bool) -> str:
    """The diagnosis for people: what there is, what is missing, and the command, which is on one line."""
    width = text_width(to_file=to_file)
    lines = [entry(word, said, width=width, indent=_DOCTOR_INDENT) for word, said in _rows(diagnosis)]
    return "\n".join(lines if command is None else [*lines, "", "Next:", visible(command)])


def _rows(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """What is said, each with the word before it."""
    if diagnosis.format is not None:
        yield "format", f"{diagnosis.format}: {diagnosis.title} ({diagnosis.why})"
    if diagnosis.gold:
        yield "gold", ", ".join(diagnosis.gold)
    if diagnosis.systems:
        yield "systems", f"{len(diagnosis.systems)}: {_named(diagnosis.systems)}"
    if diagnosis.instances is not None:
        yield "instances", f"{diagnosis.instances:,}"
    if diagnosis.ids:
        yield "ids", diagnosis.ids
    if diagnosis.metrics:
        yield "metrics", _named(diagnosis.metrics, most=len(diagnosis.metrics))
    if diagnosis.fields:
        yield "fields", _named([f"{name} ({number:,} labels)" for name, number in diagnosis.fields.items()])
    yield from (("note", note) for note in diagnosis.notes)
    yield from (("alike", f"{_named(group)}: the same on all instances") for group in diagnosis.alike)
    yield from (("missing", said) for said in _missing(diagnosis))
    if diagnosis.refusal is not None:
        yield "refused", diagnosis.refusal
    yield from (("tried", f"{name}: {why}") for name, why in diagnosis.tried.items())


def _missing(diagnosis: Diagnosis) -> Iterator[str]:
    """What is not there, and what that means."""
    if diagnosis.missing is not None:
        yield f"results: {diagnosis.missing}"
    if diagnosis.instances is None:
        return
    if diagnosis.ids.startswith("none"):
        yield "ids: were a line lost in one file or column, all after it would be compared with the wrong one"
    if not diagnosis.fields:
        yield (
            "clusters: if instances belong together (sentences of a document), give --cluster FILE with one label per "
            "line, else p and intervals are too small"
        )
    else:
        # Clusters are small, but hold several instances: of a field that is nearly an id nothing would change.
        small = [name for name, labels in diagnosis.fields.items() if 2 * labels <= (diagnosis.instances or 0)]
        field = max(small or diagnosis.fields, key=diagnosis.fields.__getitem__)
        yield f"clusters: if instances with one label depend on each other, add --cluster, such as --cluster {field}"


def _named(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Where the example files go."""

    write: Path | None = option(
        None,
        "Write example files and a README of commands to this folder, and compare nothing.",
        group="Main options",
    )


@flags(CompareOptions, Output, Examples)
def demo(options: CompareOptions, output: Output, examples: Examples) -> None:
    """Compare five named-entity taggers on a bundled example, or write files to try sigjax on (--write FOLDER)."""
    if examples.write is not None:
        if (options, output) != (CompareOptions(), Output()):
            raise InputError("--write FOLDER writes files and compares nothing; leave the other options out")
        _write_examples(examples.write)
    else:
        Inputs().check([], output, options)
        with as_file(files("sigjax") / "data" / "demo.tsv") as path:
            evaluation = read(path, metric="fscore")
        run([evaluation], options, output)


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
