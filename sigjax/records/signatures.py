"""Functions that take the options of a record by keyword: their signature, their documentation, and their types."""

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, get_args, overload

import numpy as np

from sigjax.records.options import options_of, types_of

A = TypeVar("A")
B = TypeVar("B")
Record = TypeVar("Record", contravariant=True)
Made = TypeVar("Made", covariant=True)
Result = TypeVar("Result", covariant=True)
Keywords = ParamSpec("Keywords")


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
        >>> from dataclasses import dataclass
        >>> from sigjax.records.options import check, option
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

        parameters = [*own, *(_parameter(record, name, each) for name, each in known.items())]
        public = signature.replace(parameters=parameters)
        required = {name for name, each in known.items() if each.default is MISSING}

        @functools.wraps(function)
        def taking(*args: Any, **keywords: Any) -> Any:
            if len(args) != len(own) or not keywords.keys() <= known.keys() or required - keywords.keys():
                try:
                    public.bind(*args, **keywords)
                except TypeError as error:
                    raise TypeError(f"{function.__name__}() {error}") from None
            kinds = types_of(record)  # pyright: ignore[reportArgumentType]
            given = {name: _plain(keywords.pop(name), kinds[name]) for name in known if name in keywords}
            return function(*args, **keywords, **{last.name: record(**given)})  # pyright: ignore[reportCallIssue]

        taking.__signature__ = public  # pyright: ignore[reportAttributeAccessIssue]
        taking.__doc__ = _documented(function.__doc__ or "", known)
        kept = {name: kind for name, kind in function.__annotations__.items() if name != last.name}
        taking.__annotations__ = kept | {name: types_of(record)[name] for name in known}  # pyright: ignore
        return taking

    return decorate


def _plain(value: Any, kind: Any) -> Any:
    """Numbers of NumPy as numbers of Python, and 1e5 as 100000 where whole numbers are taken; else as it is."""
    if type(value) in (list, tuple):
        return type(value)(_plain(each, kind) for each in value)
    value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    is_whole = isinstance(value, float) and value.is_integer() and int in (parts := _parts(kind)) and float not in parts
    return int(value) if is_whole else value


@functools.cache
def _parts(kind: Any) -> set[Any]:
    """The types in a type: of a union, and of what a sequence holds."""
    return {kind, *(part for each in get_args(kind) for part in _parts(each))}


def _parameter(record: Any, name: str, field: Field[Any]) -> inspect.Parameter:
    """An option as a keyword-only parameter."""
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types_of(record)[name])


def _documented(doc: str, known: Mapping[str, Field[Any]]) -> str:
    """The docstring with all options in place of the line `options: ...`."""

    def described(line: re.Match[str]) -> str:
        wrapper = textwrap.TextWrapper(
            120,
            initial_indent=line[1],
            subsequent_indent=line[1] + "    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        abouts = {name: each.metadata["option"] for name, each in known.items()}
        return "\n".join(
            wrapper.fill(f"{name}: {_spelled(about.doc)} {about.more}".rstrip()) for name, about in abouts.items()
        )

    return re.sub(r"^( *)options: .*$", described, doc, count=1, flags=re.MULTILINE)


def _spelled(doc: str) -> str:
    """Flags in a line as Python spells options: --mid-p as `mid_p`."""
    return re.sub(r"--([a-z-]+)", lambda flag: f"`{flag[1].replace('-', '_')}`", doc)
