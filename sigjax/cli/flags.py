"""Records of options -> flags with their help; and messages of commands that fail or are interrupted."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, replace
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from cyclopts import CoercionError, CycloptsError, Group, MissingArgumentError, Parameter, UnknownOptionError

from sigjax.cli.app import RARE
from sigjax.records import CORRECTIONS, InputError, options
from sigjax.records.display import visible
from sigjax.records.options import options_of, short_message, types_of
from sigjax.run.backend import keep_programs
from sigjax.run.shards import kept_in

OTHER_OPTIONS = {
    **{f"--{name}".replace("_", "-"): f"--{ours}".replace("_", "-") for name, ours in options.OTHER_OPTIONS.items()},
    **{"--paired-bs": "--test bootstrap", "--paired-ar": "--test permutation", "--hypothesis": "--input"},
    **dict.fromkeys(("--coordinator", "--num-processes", "--process-id"), "--shard"),
    **{"--tokenize": "--metric 'bleu(tokenize=zh)'", "--lowercase": "--metric 'bleu(lowercase=true)'"},
    **{f"--{name}": f"--correction {name}" for name in CORRECTIONS if name != "none"},
    **{f"--{name}": f"--format {name}" for name in ("json", "csv", "html", "latex", "markdown")},
}
"""Names of options in other programs -> what to write."""


def failure(error: Exception, tokens: Sequence[str]) -> tuple[str, int]:
    """A failed command, as typed -> one line with the reason, and the exit code."""
    if isinstance(error, UnknownOptionError):
        text = _unknown_option(error, tokens)
    elif isinstance(error, MissingArgumentError) and error.argument and not error.argument.tokens and not error.keyword:
        text = f"{error.argument.name} is required; see `sigjax {' '.join(error.command_chain or tokens[:1])} --help`"
    elif isinstance(error, CoercionError) and error.argument and error.argument.name == "--format":
        text = _unwritten(error)
    elif isinstance(error, MissingArgumentError) and error.keyword in tokens:
        text = str(error).rstrip(".") + _as_name("".join(tokens[tokens.index(error.keyword) + 1 :][:1]), tokens)
    else:
        text = " ".join((error.flags if isinstance(error, InputError) else str(error)).split())
    if not isinstance(error, InputError | CycloptsError):
        text = f"{type(error).__name__}: {text} (--debug shows where)"
    return short_message(visible(text)), 2 if isinstance(error, InputError | CycloptsError) else 1


def _unwritten(error: CoercionError) -> str:
    """The message for a format that the command does not write: which commands do."""
    from sigjax.cli.output import OUTPUTS, WRITTEN_BY

    name = error.token.value if error.token else ""
    return f"{error} ({name} is {WRITTEN_BY})" if name in OUTPUTS else str(error)


def _unknown_option(error: UnknownOptionError, tokens: Sequence[str]) -> str:
    given = error.token.keyword or error.token.value
    name = given.partition("=")[0]
    known = {known for each in error.argument_collection if each.parse for known in each.names}
    options = dict(zip(known, known, strict=True))
    options |= {other: ours for other, ours in OTHER_OPTIONS.items() if ours.split()[0] in known}
    plain = name.replace("_", "-").lower()
    close = [plain] if plain in options else get_close_matches(plain, sorted(options), n=1)
    return f"Unknown option: {name}" + (
        f". Did you mean {options[close[0]]}?" if close else f"; see --help-all{_as_name(given, tokens)}"
    )


def _as_name(name: str, tokens: Sequence[str]) -> str:
    """How to give a text that looks like an option as the value of the option before it, if possible."""
    before = [token for token in tokens[: tokens.index(name) if name in tokens else 0] if token.startswith("-")]
    if not name.startswith("-") or not before:
        return ""
    option = before[-1].partition("=")[0]
    return f"; if it is a name, write {option}={name}"


def interrupted(tokens: Sequence[str]) -> str:
    """For an interrupted command, as typed: what was kept, and how to continue."""
    text = "interrupted"
    if not tokens or tokens[0] not in ("compare", "demo"):
        return text
    kept_by = ("-o", "--output") if any(token.startswith("--shard") for token in tokens) else ("--checkpoint",)
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        name, _, value = token.partition("=")
        if name in kept_by:
            path = value or following
            kept = kept_in(path) or "no resamples yet"
            return visible(f"{text}; {path} keeps {kept}; the same command goes on from there")
    return f"{text}; nothing is kept (with --checkpoint FILE the same command would go on from where it stopped)"


SHORT = {"input": "-i", "metric": "-m", "output": "-o", "quiet": "-q"}
ONE_EACH = {"output"}
"""Options that take one file, so that files of systems may follow it."""
HIDDEN = {"read", "progress", "executor", "shards"}
"""Options only for Python. The command line draws progress unless --quiet, reads files with the same flags in all
commands (`Inputs`), and has its own commands for shards."""
Command = Callable[..., int | None]
"""A command returns its exit code; None means 0."""
_PANELS = {name: Group(name, sort_key=index) for index, name in enumerate(get_args(options.Group))}
_POWER = re.compile(r"\d{1,20}(\.\d{1,20})?[eE]\+?\d{1,2}", re.ASCII)
"""A number such as 2.5e6."""
_BROKEN = re.compile(r"(?<=\S)\n *(?=\S)")
"""A line break within a paragraph of a docstring: help wraps lines at another width."""
_FILES = "A table; one file per system; or the gold files, with the files of the systems after -i; - is stdin."


def flags(*records: type, files: str = _FILES) -> Callable[[Command], Command]:
    """Let a command take the options of records as flags; it gets the files, if it takes any, and then the records.

    If several records have an option, the first record counts. `files` is the help text for the files.
    """
    owners = {name: record for record in reversed(records) for name in options_of(record) if name not in HIDDEN}

    def decorate(command: Command) -> Command:
        def run(*files: Path, **given: Any) -> int | None:
            made = [record(**{name: given[name] for name in given if owners[name] is record}) for record in records]
            if given.get("quiet"):
                made = [replace(one, progress=False) if "progress" in options_of(type(one)) else one for one in made]
            if "device" in owners:
                keep_programs()
            return command(*([files] if takes_files else []), *made)

        takes_files = len(inspect.signature(command).parameters) > len(records)
        parameters = [_flag(own, name) for own in records for name in options_of(own) if owners.get(name) is own]
        about = Annotated[Path, Parameter(help=files)]
        positional = [inspect.Parameter("files", inspect.Parameter.VAR_POSITIONAL, annotation=about)]
        run.__signature__ = inspect.Signature([*positional[: int(takes_files)], *parameters])  # pyright: ignore
        run.__name__, run.__doc__, run.__annotations__ = command.__name__, _BROKEN.sub(" ", command.__doc__ or ""), {}
        return run

    return decorate


def _flag(record: type, name: str) -> inspect.Parameter:
    field = options_of(record)[name]
    about: options.Option = field.metadata["option"]
    annotation, more = _written(name, types_of(record)[name], about.suggests)
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    if isinstance(default, tuple) and default:
        more["show_default"] = lambda values: ", ".join(map(str, values))
    elif default is False or default == () or bool in get_args(types_of(record)[name]):
        more |= {"show_default": False, "negative": ""}
    long = f"--{name.replace('_', '-')}"
    if about.rare:
        RARE.add(long)
    names = [long, SHORT[name]] if name in SHORT else [long]
    about_flag = about.shown(lambda hint: hint.flag)
    flag = Annotated[annotation, Parameter(name=names, help=about_flag, group=_PANELS[about.group], **more)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=flag)


def _written(name: str, annotation: Any, suggests: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """The type of an option as written on a command line, and how to read it."""
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    if suggests and str in members:
        return Literal[suggests] | str | None, {"show_choices": False}
    for member in members:
        if name in ONE_EACH and get_origin(member) is Sequence:
            return list[Path], {"negative": ""}
        if get_origin(member) is Sequence:
            item = get_args(member)[0]
            more: dict[str, Any] = {"show_choices": False} if suggests else {}
            if item is int:
                more["converter"] = lambda _, tokens: [_whole(int, [token]) for token in tokens]
            item = Literal[suggests] | str if suggests else item
            return list[item], {"consume_multiple": True, "negative": "", "json_list": False, **more}
        if get_origin(member) is Mapping:
            return list[str], {"consume_multiple": True, "negative": "", "converter": _named_columns}
        if get_origin(member) is os.PathLike:
            return Path | None, {}
    if int in members:
        return annotation, {"converter": _whole}
    return annotation, {}


def _whole(annotation: Any, tokens: Sequence[Any]) -> Any:
    """A whole number as written, also 1e5 for 100000; 1.9 is refused, not rounded."""
    text, words = tokens[0].value, [word for each in get_args(annotation) for word in get_args(each)]
    if text in words:
        return text
    try:
        return int(text)
    except ValueError:
        if _POWER.fullmatch(text) and (number := Decimal(text)) == (whole := int(number)):
            return whole
        words = " or ".join(["a whole number", *words])
        raise CoercionError(msg=f"expected {words}, got {text!r}", token=tokens[0]) from None


def _named_columns(_: Any, tokens: Sequence[Any]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for token in tokens:
        name, _, column = token.value.partition("=")
        if not (name and column):
            raise CoercionError(msg=f"expected NAME=COLUMN, such as tp=correct, got {token.value!r}", token=token)
        if name in columns:
            raise CoercionError(msg=f"names {name!r} twice; give it once", token=token)
        columns[name] = column
    return columns
