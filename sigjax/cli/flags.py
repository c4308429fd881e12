"""Records of options -> flags: names, types, defaults, help and panels of `--help`."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from decimal import Decimal
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from cyclopts import CoercionError, Group, Parameter

from sigjax.cli.help import RARE
from sigjax.records import options
from sigjax.records.options import options_of, types_of

SHORT = {"input": "-i", "metric": "-m", "output": "-o"}
ONE_EACH = {"output"}
"""The files of the systems may follow its file."""
HIDDEN = {"progress"}
"""On the command line it is always drawn."""
Command = Callable[..., int | None]
"""What it returns is the exit code; none is 0."""
_PANELS = {name: Group(name, sort_key=index) for index, name in enumerate(get_args(options.Group))}
_POWER = re.compile(r"\d{1,20}(\.\d{1,20})?[eE]\+?\d{1,2}", re.ASCII)
"""A number such as 2.5e6."""
_BROKEN = re.compile(r"(?<=\S)\n *(?=\S)")
"""Where a paragraph of a docstring goes on: help has lines of another width."""
_FILES = "A table; one file per system; or the gold files, with the files of the systems after -i; - is stdin."


def flags(*records: type, files: str = _FILES) -> Callable[[Command], Command]:
    """Have a command take the options of records as flags; it gets the files, if it takes any, and then the records.

    An option of several records is that of the first one. `files` is the help of the files.
    """
    owners = {name: record for record in reversed(records) for name in options_of(record) if name not in HIDDEN}

    def decorate(command: Command) -> Command:
        def run(*files: Path, **given: Any) -> int | None:
            own = [{name: given[name] for name in given if owners[name] is record} for record in records]
            before = [files] if takes_files else []
            return command(*before, *(record(**named) for record, named in zip(records, own, strict=True)))

        takes_files = len(inspect.signature(command).parameters) > len(records)
        parameters = [
            _flag(record, name) for record in records for name in options_of(record) if owners.get(name) is record
        ]
        about = Annotated[Path, Parameter(help=files)]
        positional = [inspect.Parameter("files", inspect.Parameter.VAR_POSITIONAL, annotation=about)]
        run.__signature__ = inspect.Signature([*positional[: int(takes_files)], *parameters])  # pyright: ignore
        run.__name__, run.__doc__, run.__annotations__ = command.__name__, _BROKEN.sub(" ", command.__doc__ or ""), {}
        return run

    return decorate


def _flag(record: type, name: str) -> inspect.Parameter:
    """The parameter that cyclopts makes a flag of."""
    field = options_of(record)[name]
    about: options.Option = field.metadata["option"]
    kind, more = _written(name, types_of(record)[name], about.suggests)
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    if isinstance(default, tuple) and default:
        more["show_default"] = lambda values: ", ".join(map(str, values))
    elif default is False or default == ():
        more |= {"show_default": False, "negative": ""}
    long = f"--{name.replace('_', '-')}"
    if about.rare:
        RARE.add(long)
    names = [long, SHORT[name]] if name in SHORT else [long]
    parameter = Parameter(name=names, help=about.doc, group=_PANELS[about.group], **more)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, parameter]
    )


def _written(name: str, kind: Any, suggests: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """The type of an option as it is written on a command line, and how it is read."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if suggests and str in members:
        return Literal[suggests] | str | None, {"show_choices": False}
    for member in members:
        if name in ONE_EACH and get_origin(member) is Sequence:
            return list[Path], {"negative": ""}
        if get_origin(member) is Sequence:
            each = get_args(member)[0]
            more = {"converter": _wholes} if each is int else {"show_choices": False} if suggests else {}
            each = Literal[suggests] | str if suggests else each
            return list[each], {"consume_multiple": True, "negative": "", "json_list": False, **more}
        if get_origin(member) is Mapping:
            return list[str], {"consume_multiple": True, "negative": "", "converter": _named_columns}
        if get_origin(member) is os.PathLike:
            return Path | None, {}
    if int in members:
        return kind, {"converter": _whole}
    return kind, {}


def _whole(kind: Any, tokens: Sequence[Any]) -> Any:
    """A whole number as it is written, also 1e5 for 100000: 1.9 is refused, not rounded."""
    text, words = tokens[0].value, [word for each in get_args(kind) for word in get_args(each)]
    if text in words:
        return text
    try:
        return int(text)
    except ValueError:
        if _POWER.fullmatch(text) and (number := Decimal(text)) == (whole := int(number)):
            return whole
        words = " or ".join(["a whole number", *words])
        raise CoercionError(msg=f"expected {words}, got {text!r}", token=tokens[0]) from None


def _wholes(_: Any, tokens: Sequence[Any]) -> list[int]:
    return [_whole(int, [token]) for token in tokens]


def _named_columns(_: Any, tokens: Sequence[Any]) -> dict[str, str]:
    """tp=las_correct ... -> {"tp": "las_correct", ...}."""
    columns: dict[str, str] = {}
    for token in tokens:
        name, _, column = token.value.partition("=")
        if not (name and column):
            raise CoercionError(msg=f"expected NAME=COLUMN, such as tp=correct, got {token.value!r}", token=token)
        if name in columns:
            raise CoercionError(msg=f"names {name!r} twice; give it once", token=token)
        columns[name] = column
    return columns
