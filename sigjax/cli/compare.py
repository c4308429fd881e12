"""The commands that compare (also in shards), merge shards, and save statistics for later comparisons."""

from __future__ import annotations

import json
import logging
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from sigjax.cli.options import Files, Inputs, Output, WriteOptions, caption, check_outputs, flags, say_written
from sigjax.comparison.options import CompareOptions
from sigjax.records import EvaluationRecord, InputError, Settings
from sigjax.records.display import visible
from sigjax.records.options import check, option, required, same, types_of, values
from sigjax.run.shards import DEFAULTS, Shard, merge_shards, read_shard

_NUMBER = re.compile(r"(\d{1,9})/(\d{1,9})", re.ASCII)
_OF_SHARD = re.compile(r" ('--(shard|output)=[^']*'|(--shard|--output|-o)[ =]('[^']*'|[^\s'])+)")
"""Pattern of the arguments on a command line that choose a shard (a part of the work) and its output file."""


@dataclass(frozen=True, kw_only=True)
class ShardOptions:
    """The option `--shard`, which chooses the part of the work to do."""

    shard: str | None = option(
        None,
        "K/N: sample the K-th of N parts only, -o shard-K.npz; `sigjax merge` adds them up.",
        "See `sigjax help distributed`.",
        group="Running",
        rare=True,
    )

    def number(self) -> tuple[int, int] | None:
        """Return (K, N) of `--shard K/N`: part K of N parts. Return None without `--shard`."""
        if self.shard is None:
            return None
        match = _NUMBER.fullmatch(self.shard)
        number = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 0 < number[0] <= number[1]:
            raise InputError(f"--shard must be K/N with K from 1 to N, such as 2/5, got {self.shard!r}")
        return number


@dataclass(frozen=True, kw_only=True)
class SaveOptions:
    """The options of `extract` for the file to write."""

    output: Path = required("The file to write.", group="Main options")
    quiet: bool = same(WriteOptions, "quiet")


@flags(Inputs, CompareOptions, Output, ShardOptions)
def compare(paths: Files, inputs: Inputs, options: CompareOptions, output: Output, division: ShardOptions) -> None:
    """Compare systems on a test set: which differ significantly, and by how much.

    The files are one table (wide: one row per instance, one column per system; long: columns `system`, an instance id,
    and one or more numbers); or one file per system; or gold files, and after -i one file per system. All may be packed
    (.gz). Folders of logs may hold several tasks: then the report has a section for each, and a suite score, the mean
    of the task means. `sigjax help formats` lists the formats, which are recognized automatically.
    """
    if number := division.number():
        _shard(paths, inputs, options, output, number)
        return
    inputs.check(paths, output, options)
    run(inputs.evaluations(paths, tasks=True), options, output)


def run(evaluations: Sequence[EvaluationRecord], options: CompareOptions, output: Output) -> None:
    """Compare the systems and write the report; show the progress and the log messages."""
    from sigjax.comparison import compare  # `--help` does not need this import

    with _log_to_stderr():
        report = compare.compare(evaluations, **values(options))
    output.write(report)


def _shard(paths: Files, inputs: Inputs, options: CompareOptions, output: Output, number: tuple[int, int]) -> None:
    if len(output.output) != 1 or output.output[0].suffix != ".npz" or output.format or output.figure:
        raise InputError(f"--shard writes one file of numbers and no report; give -o shard-{number[0]}.npz alone")
    if options.checkpoint is not None:
        raise InputError("--shard keeps its progress in its own file; leave --checkpoint out")
    if any(str(path).startswith("/dev/") for path in (*paths, *inputs.input)):
        raise InputError(
            "--shard needs files, which `sigjax merge` reads again; standard input and pipes are gone then"
        )
    (path,) = output.output
    inputs.check(paths, SaveOptions(output=path), options)
    from sigjax.comparison.compare import write_shard

    read = inputs.evaluations(paths, tasks=True)
    command = _OF_SHARD.sub("", shlex.join(["sigjax", *sys.argv[1:]]))
    origin = json.loads(json.dumps({"command": command, "files": paths, "inputs": values(inputs)}, default=str))
    with _log_to_stderr():
        write_shard(read, options, path, index=number[0], count=number[1], origin=origin)
    say_written(lambda: [f"Shard {number[0]} of {number[1]}"], [path], quiet=output.quiet)


@flags(Output, files="The shards of one run (.npz), in any order; or files of `sigjax extract`.")
def merge(paths: Files, output: Output) -> None:
    """Merge the shards of `sigjax compare --shard K/N` into a report with the same bytes as from a single process.

    The data are read again from the files from which the shards were made; nothing is sampled. Files of `sigjax
    extract` on different instances of the same systems are joined into one such file, -o ALL.npz.
    """
    if not paths:
        raise InputError("expected the shards of a run, such as shard-*.npz, or files of `sigjax extract`")
    if len(output.output) == 1 and output.output[0].suffix == ".npz":
        _merge_statistics(paths, output)
        return
    with _log_to_stderr():
        shard = merge_shards([(str(path), read_shard(path)) for path in paths])
        files, given, settings = _shard_inputs(str(paths[0]), shard)
        inputs = replace(given, progress=not output.quiet)
        inputs.check([*paths, *files], output)
        read = inputs.evaluations(files, tasks=True)
        from sigjax.comparison.compare import merged_report

        options = CompareOptions(**settings, progress=not output.quiet)
        report = merged_report(read, options, shard, str(paths[0]))
    output.write(report)


def _shard_inputs(name: str, shard: Shard) -> tuple[Files, Inputs, dict[str, Any]]:
    """Return the data files from which a shard was made, the options to read them, and the comparison's settings.

    Raise an error if the shard's file does not contain them.
    """
    kept: dict[str, Any] = {**DEFAULTS, **shard.identity}
    kept["test"] = kept["tests"]
    settings = {name: kept[name] for name in values(Settings())}
    try:
        files, given = shard.origin["files"], dict(shard.origin["inputs"])
        if not (_is_names(files) and all(_may_be(given[name], types_of(Inputs)[name]) for name in values(Inputs()))):
            raise TypeError
        inputs = Inputs(**given)
        check(CompareOptions(**settings))
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"{name}: does not say, as this version of sigjax does, how the shard was made; make the shards again"
        ) from None
    return tuple(map(Path, files)), inputs, settings


def _may_be(value: Any, annotation: Any) -> bool:
    """Whether a value from a JSON file has a type that the option with this `annotation` allows."""
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kinds = {get_origin(member) or member for member in members}
    if isinstance(value, dict):
        return Mapping in kinds and _is_names([*value, *value.values()])
    if isinstance(value, list):
        return Sequence in kinds and _is_names(value)
    return type(value) in {str if kind is Literal else kind for kind in kinds}


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _merge_statistics(paths: Files, output: Output) -> None:
    (path,) = output.output
    check_outputs(paths, SaveOptions(output=path))
    from sigjax.readers.saved import join_evaluations, save_evaluations, saved_names

    for file in paths:
        if not saved_names(str(file)):
            raise InputError(f"{file}: is no file of `sigjax extract`; shards give a report, such as -o report.json")
    every = [Inputs(progress=not output.quiet).evaluations([file], single=True) for file in paths]
    joined = join_evaluations(list(map(str, paths)), every)
    save_evaluations(str(path), joined)
    say_written(lambda: map(caption, joined), [path], quiet=output.quiet)


@contextmanager
def _log_to_stderr() -> Iterator[None]:
    """Show the log messages of a run on stderr, for example which checkpoint it continues from."""
    log, handler = logging.getLogger("sigjax"), logging.Handler()
    handler.emit = lambda record: print(visible(record.getMessage()), file=sys.stderr)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)


@flags(Inputs, SaveOptions)
def extract(paths: Files, inputs: Inputs, saved: SaveOptions) -> None:
    """Save the statistics of files once (.npz), for every later command.

    `sigjax compare EVAL.npz` then takes all metrics that are in the file.
    """
    inputs.check(paths, saved)
    if saved.output.suffix.lower() != ".npz":
        raise InputError(f"{saved.output}: extract writes statistics as .npz; name the file so, such as eval.npz")
    from sigjax.readers.saved import save_evaluations

    evaluations = inputs.evaluations(paths, single=True)
    save_evaluations(str(saved.output), evaluations)
    say_written(lambda: map(caption, evaluations), [saved.output], quiet=saved.quiet)
