"""One declaration per option: a field of a record, with its type, default, domain and documentation.

From the record are made the check of what a person gives (`check`), the signature and documentation of a function
(`records.signatures`), and the flags of the command line (`cli.flags`).
"""

import contextlib
import functools
import os
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, InitVar, dataclass, field, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sigjax.records.spelling import in_flags, in_python

Default = TypeVar("Default")
Group = Literal["Main options", "Input", "Test", "Many pairs", "Intervals", "Output", "Running"]
"""The panels of `--help`, in order."""


class InputError(ValueError):
    """What a person gave cannot be used: the message names the file or option, what was expected and what to do.

    Options are written as in `records.spelling`, and shown as in Python.

    Example:
        >>> print(error := InputError("results are missing; give --missing drop"), "|", error.flags)
        results are missing; give missing="drop" | results are missing; give --missing drop
    """

    __module__ = "sigjax"  # tracebacks name it as people import it

    @property
    def neutral(self) -> str:
        """The message as it was written, for a message around it."""
        return str(self.args[0]) if self.args else ""

    @property
    def flags(self) -> str:
        """The message with options as the command line spells them."""
        return in_flags(self.neutral)

    def __str__(self) -> str:
        """Return the message with options as Python spells them."""
        return in_python(self.neutral)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the caller's lines and the message, without those of sigjax and of what runs a cell."""
        passed = (str(Path(__file__).parents[1]), contextlib.__file__)
        shown = traceback.TracebackException.from_exception(self)
        frames = [each for each in shown.stack if not each.filename.startswith(passed)]
        shown.stack = traceback.StackSummary.from_list(
            each for each in frames if "IPython" not in Path(each.filename).parts
        )
        return "".join(shown.format(chain=False)).splitlines()


@dataclass(frozen=True)
class Option:
    """What is said of an option beside its name, type and default.

    Attributes:
        doc: one line, for `--help` and `help`.
        more: what only `help` says.
        group: the panel of `--help`.
        least: the smallest whole number allowed.
        most: the largest whole number allowed.
        above: numbers must be larger than this.
        below: numbers must be smaller than this.
        rare: only `--help-all` shows it.
        suggests: values that shells complete to; others are taken, too.
    """

    doc: str
    more: str = ""
    group: Group = "Test"
    least: int = 0
    most: int = 2**64 - 1
    above: float = float("-inf")
    below: float = float("inf")
    rare: bool = False
    suggests: tuple[str, ...] = ()


def option(default: Default, doc: str, more: str = "", **rest: Any) -> Default:
    """A field that is an option; the arguments but the first are those of `Option`."""
    return field(default=default, metadata={"option": Option(doc, more, **rest)})


def required(doc: str, **rest: Any) -> Any:
    """A field that is an option without a default."""
    return field(metadata={"option": Option(doc, **rest)})


def same(record: type, name: str, default: Any = MISSING, **changes: Any) -> Any:
    """A field that is the option of another record, with some changes; for more than a line, `help` names `compare`."""
    known = options_of(record)[name]
    about: Option = known.metadata["option"]
    about = replace(about, **({"more": about.more and "See `compare`."} | changes))
    return field(default=known.default if default is MISSING else default, metadata={"option": about})


@functools.cache
def options_of(record: type) -> Mapping[str, Field[Any]]:
    """The options of a record by name, group by group."""
    options = {name: each for name, each in record.__dataclass_fields__.items() if "option" in each.metadata}
    groups = get_args(Group)
    return dict(sorted(options.items(), key=lambda item: groups.index(item[1].metadata["option"].group)))


def values(record: object, of: type | None = None, /, **changes: Any) -> dict[str, Any]:
    """The values of the options of a record, or of those alone that another record has, too; with some changes."""
    return {name: getattr(record, name) for name in _shared(type(record), of or type(record))} | changes


@functools.cache
def _shared(record: type, other: type) -> list[str]:
    """The names of the options that both records have."""
    return [name for name in options_of(record) if name in options_of(other)]


@functools.cache
def types_of(record: type) -> dict[str, Any]:
    """The types of the fields of a record."""
    hints = get_type_hints(record)
    return {name: kind.type if isinstance(kind, InitVar) else kind for name, kind in hints.items()}


def check(record: object) -> None:
    """Refuse options outside their domain.

    Raises:
        InputError: naming the option, its domain and what was given.

    Example:
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Options:
        ...     resamples: int | Literal["auto"] = option(1000, "Number of resamples.", least=2, most=10_000)
        >>> check(Options(resamples=1))
        Traceback (most recent call last):
            ...
        sigjax.InputError: resamples must be a whole number from 2 to 10,000 or auto, got 1
    """
    for name, (words, holds) in _domains(type(record)).items():
        value = getattr(record, name)
        if not holds(value):
            default = options_of(type(record))[name].default
            words += f", such as {default:g}" if words.startswith("a number between") else ""
            hint = f"; write [{value!r}]" if words == "a list of names" and isinstance(value, str) else ""
            raise InputError(f"--{name.replace('_', '-')} must be {words}, got {value!r}{hint}")


@functools.cache
def _domains(record: type) -> dict[str, tuple[str, Callable[[Any], bool]]]:
    """The domain of each option of a record, as in `_domain`."""
    kinds = types_of(record)
    return {name: _domain(kinds[name], each.metadata["option"]) for name, each in options_of(record).items()}


def _domain(kind: Any, about: Option) -> tuple[str, Callable[[Any], bool]]:
    """The domain of a type in words, and whether a value is in it; text and other types are not checked here."""
    origin, members = get_origin(kind), get_args(kind)
    if kind is bool:
        return "true or false", lambda value: isinstance(value, bool)
    if kind is int:
        words = f"a whole number from {about.least:,} to {about.most:,}"
        return words, lambda value: _is_number(value, int) and about.least <= value <= about.most
    if kind is float:
        words = "a finite number" if about.above == float("-inf") else f"a number above {about.above:g}"
        if about.below < float("inf"):
            words = f"a number between {about.above:g} and {about.below:g}"
        return words, lambda value: _is_number(value, int | float) and about.above < value < about.below
    if kind is str:
        return "a name", lambda value: isinstance(value, str | os.PathLike)
    if origin is Literal:
        return ", ".join(members) if len(members) == 1 else f"one of {', '.join(members)}", members.__contains__
    if origin is Mapping:
        return "a mapping such as {'name': 'column'}", lambda value: isinstance(value, Mapping)
    if origin is Sequence and members[0] is str:
        return "a list of names", _is_list
    if origin is Sequence:
        words, holds = _domain(members[0], about)
        words = words.replace("one of", "of").replace("a whole number", "whole numbers").replace("a number", "numbers")
        return (
            f"one or more {words}, each once",
            lambda values: _is_list(values) and all(map(holds, values)) and 0 < len(values) == len(set(values)),
        )
    if origin in (Union, UnionType):
        parts = [_domain(member, about) for member in members if member is not NoneType]
        lists = [words for words, _ in parts if words.startswith("one or more")]
        words = " or ".join(lists or [words for words, _ in parts])
        return words, lambda value: any(holds(value) for _, holds in parts) or (value is None and NoneType in members)
    return "", lambda value: True


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes)
