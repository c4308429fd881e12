"""One declaration per option: a field of a record, with its type, default, domain and documentation.

From the record are made the signature and the documentation of a function (`takes`), the check of what a person gives
(`check`), and the flags of the command line (`sigjax.cli.flags`).
"""

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, InitVar, dataclass, field, replace
from types import NoneType, UnionType
from typing import (
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import numpy as np

A = TypeVar("A")
B = TypeVar("B")
Default = TypeVar("Default")
Record = TypeVar("Record", contravariant=True)
Made = TypeVar("Made", covariant=True)
Result = TypeVar("Result", covariant=True)
Keywords = ParamSpec("Keywords")
Group = Literal["Main options", "Input", "Test", "Many pairs", "Intervals", "Output", "Running"]
"""The panels of `--help`, in order."""


class InputError(ValueError):
    """What a person gave cannot be used: the message names the file or option, what was expected and what to do."""

    __module__ = "sigjax"  # tracebacks name it as people import it


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
    """

    doc: str
    more: str = ""
    group: Group = "Test"
    least: int = 0
    most: int = 2**64 - 1
    above: float = float("-inf")
    below: float = float("inf")


def option(default: Default, doc: str, more: str = "", **rest: Any) -> Default:
    """A field that is an option; the arguments but the first are those of `Option`."""
    return field(default=default, metadata=required(doc, more, **rest))


def required(doc: str, more: str = "", **rest: Any) -> dict[str, Option]:
    """The metadata of an option without a default: `margin: float = field(metadata=required("..."))`."""
    return {"option": Option(doc, more, **rest)}


def same(record: type, name: str, default: Any = MISSING, **changes: Any) -> Any:
    """A field that is the option of another record, with some changes; for more than a line, `help` names `compare`."""
    known = options_of(record)[name]
    about: Option = known.metadata["option"]
    about = replace(about, **({"more": about.more and "See `compare`."} | changes))
    return field(default=known.default if default is MISSING else default, metadata={"option": about})


def options_of(record: type) -> dict[str, Field[Any]]:
    """The options of a record by name, group by group."""
    options = {name: each for name, each in record.__dataclass_fields__.items() if "option" in each.metadata}
    groups = get_args(Group)
    return dict(sorted(options.items(), key=lambda item: groups.index(item[1].metadata["option"].group)))


def values(record: object, of: type | None = None, /, **changes: Any) -> dict[str, Any]:
    """The values of the options of a record, or of those alone that another record has, too; with some changes."""
    shared = options_of(type(record)).keys() & options_of(of or type(record)).keys()
    return {name: getattr(record, name) for name in shared} | changes


@functools.cache
def types_of(record: type) -> dict[str, Any]:
    """The types of the fields of a record."""
    hints = get_type_hints(record)
    return {name: kind.type if isinstance(kind, InitVar) else kind for name, kind in hints.items()}


def check(record: object) -> None:
    """Refuse options outside their domain.

    Raises:
        InputError: naming the option, its domain and what was given.
    """
    kinds = types_of(type(record))
    for name, each in options_of(type(record)).items():
        words, holds = _domain(kinds[name], each.metadata["option"])
        value = getattr(record, name)
        if not holds(value):
            raise InputError(f"{name} must be {words}, got {value!r}")


def _domain(kind: Any, about: Option) -> tuple[str, Callable[[Any], bool]]:
    """The domain of a type in words, and whether a value is in it; text and other types are not checked here."""
    origin, members = get_origin(kind), get_args(kind)
    if kind is bool:
        return "true or false", lambda value: isinstance(value, bool)
    if kind is int:
        words = f"a whole number from {about.least:,} to {about.most:,}"
        return words, lambda value: _is_number(value, int) and about.least <= value <= about.most
    if kind is float:
        words = f"a number above {about.above:g}"
        if about.below < np.inf:
            words = f"a number between {about.above:g} and {about.below:g}"
        return words, lambda value: _is_number(value, int | float) and about.above < value < about.below
    if origin is Literal:
        return ", ".join(members) if len(members) == 1 else f"one of {', '.join(members)}", members.__contains__
    if origin is Mapping:
        return "a mapping such as {'name': 'column'}", lambda value: isinstance(value, Mapping)
    if origin is Sequence and members[0] is str:
        return "a list of names", _is_list
    if origin is Sequence:
        words, holds = _domain(members[0], about)
        words = words.replace("one of", "of").replace("a whole number", "whole numbers")
        return (
            f"one or more {words}, each once",
            lambda values: _is_list(values) and 0 < len(values) == len(set(values)) and all(map(holds, values)),
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
    return isinstance(value, Sequence) and not isinstance(value, str)


class Takes(Protocol[Made, Keywords]):
    """Turns a function of a record of options, its last argument, into one that takes the options by keyword."""

    @overload
    def __call__(self, function: Callable[[A, Made], B], /) -> Callable[Concatenate[A, Keywords], B]: ...
    @overload
    def __call__(self, function: Callable[[A, Any, Made], B], /) -> Callable[Concatenate[A, Any, Keywords], B]: ...
    @overload
    def __call__(self, function: "OfMany[Made, B]", /) -> "Many[Keywords, B]": ...


class OfMany(Protocol[Record, Result]):
    """A function of any number of things and a record of options."""

    def __call__(self, *things: Any, options: Record) -> Result:
        """Take them."""
        ...


class Many(Protocol[Keywords, Result]):
    """The same with options by keyword. Type checkers know them for up to two things, the usual numbers."""

    @overload
    def __call__(self, *args: Keywords.args, **options: Keywords.kwargs) -> Result: ...
    @overload
    def __call__(self, one: Any, /, *args: Keywords.args, **options: Keywords.kwargs) -> Result: ...
    @overload
    def __call__(self, one: Any, two: Any, /, *args: Keywords.args, **options: Keywords.kwargs) -> Result: ...
    @overload
    def __call__(self, one: Any, two: Any, three: Any, /, *more: Any, **options: Any) -> Result: ...


def takes(record: Callable[Keywords, A]) -> Takes[A, Keywords]:
    """Have a function take the options of a record by keyword; its own last parameter is the record.

    The signature has all options with their defaults; in the docstring they stand for the line `options: ...`. Numbers
    of NumPy come as numbers of Python.

    Example:
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Options:
        ...     level: float = option(0.95, "Confidence level.", above=0, below=1)
        >>> @takes(Options)
        ... def alpha(what: str, options: Options) -> str:
        ...     check(options)
        ...     return f"{what} {1 - options.level:.2f}"
        >>> alpha("alpha", level=0.9), inspect.signature(alpha)
        ('alpha 0.10', <Signature (what: str, *, level: float = 0.95) -> str>)
    """

    def decorate(function: Any) -> Any:
        signature = inspect.signature(function)
        *own, last = signature.parameters.values()
        known = options_of(record)  # pyright: ignore[reportArgumentType]

        @functools.wraps(function)
        def taking(*args: Any, **keywords: Any) -> Any:
            given = {name: _plain(keywords.pop(name)) for name in known if name in keywords}
            return function(*args, **keywords, **{last.name: record(**given)})  # pyright: ignore[reportCallIssue]

        taking.__signature__ = signature.replace(parameters=[*own, *_parameters(record, known)])  # pyright: ignore
        taking.__doc__ = _documented(function.__doc__ or "", known)
        del taking.__wrapped__  # its signature is another
        return taking

    return decorate


def _plain(value: Any) -> Any:
    """Numbers of NumPy as numbers of Python; anything else as it is."""
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _parameters(record: Any, known: Mapping[str, Field[Any]]) -> list[inspect.Parameter]:
    """The options as keyword-only parameters."""
    kinds = types_of(record)
    empty = inspect.Parameter.empty
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=empty if each.default is MISSING else each.default,
            annotation=kinds[name],
        )
        for name, each in known.items()
    ]


def _documented(doc: str, known: Mapping[str, Field[Any]]) -> str:
    """The docstring with all options in place of the line `options: ...`."""

    def described(line: re.Match[str]) -> str:
        indent = line[1]
        abouts = {name: each.metadata["option"] for name, each in known.items()}
        return "\n".join(
            textwrap.fill(
                f"{name}: {_spelled(about.doc)} {about.more}".rstrip(),
                120,
                initial_indent=indent,
                subsequent_indent=indent + "    ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            for name, about in abouts.items()
        )

    return re.sub(r"^( *)options: .*$", described, doc, count=1, flags=re.MULTILINE)


def _spelled(doc: str) -> str:
    """Flags in a line as Python spells options: --mid-p as `mid_p`."""
    return re.sub(r"--([a-z-]+)", lambda flag: f"`{flag[1].replace('-', '_')}`", doc)
