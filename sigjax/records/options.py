"""Options: their names in messages, their declarations, and functions that take them by keyword.

An error message (`Message`) contains a `Hint` for each option that it mentions. The command line shows a hint as a flag
(`--seed`), and Python shows it as a keyword (`seed`).

An option is declared once, as a field of a record, with its type, default, domain and documentation. From this
declaration follow the check of the user's value (`check`), the signature and documentation of functions (`takes`), and
the flags of the command line (`cli.options`).
"""

import contextlib
import difflib
import functools
import inspect
import os
import re
import shlex
import sys
import textwrap
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, InitVar, dataclass, field, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import numpy as np

StrPath = str | os.PathLike[str]
"""The path of a file."""
COMMAND = "sigjax compare"
LISTS = frozenset(("ignore", "input", "only", "systems"))
"""The options whose value in Python is a list of names."""
_SHORT = {"i": "input", "m": "metric", "o": "output"}
_READ = "read."
_OPEN, _NEXT, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
"""Characters that mark a `Hint` (an option) in an f-string until a `Message` is made from it. Unicode reserves them for
programs, so texts do not contain them."""
_UNSAFE = re.compile(r"""[\s()&;|<>$`"'*?]""")
"""Characters that have a special meaning in a shell."""
_HINT = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")


class Hint:
    """An option in a message, with or without values: shown as a flag on the command line, and as a keyword in Python.

    Write it into an f-string. If the option is `COMMAND` and the values are the words of a command, the message for
    Python users contains the equivalent call of `sigjax.read`. The option "read.NAME" is an option of `sigjax.read`
    that a function takes as `read={...}`.

    >>> error = InputError(f"give {Hint('missing', 'drop')} or {Hint('id_column', 'N')}")
    >>> print(error, "|", error.flags)
    give missing="drop" or id_column="N" | give --missing drop or --id-column N
    >>> print(InputError(f"see {Hint('one_based')}; write {Hint(COMMAND, 'gold', '-i', 'a', 'b', '-m', 'bleu')}"))
    see one_based; write sigjax.read("gold", input=["a", "b"], metric="bleu")
    >>> print(InputError(f"give {Hint('only', 'A', 'B')}, {Hint('counts', 'tp=NAME', 'gold=NAME')}"))
    give only=["A", "B"], counts={"tp": "NAME", "gold": "NAME"}
    >>> print(InputError(f"give {Hint('read.only', 'A', 'B')}"))
    give read={"only": ["A", "B"]}
    """

    def __init__(self, option: str, *values: str) -> None:
        """Take the option's name in Python (or its short flag), and its values as texts."""
        self.option, self.values = option, values

    def __eq__(self, other: object) -> bool:
        """Whether the other hint names the same option with the same values."""
        return isinstance(other, Hint) and (self.option, self.values) == (other.option, other.values)

    def __hash__(self) -> int:
        """Equal hints have equal hashes."""
        return hash((self.option, self.values))

    def __repr__(self) -> str:
        """Return the call that makes this hint."""
        return f"Hint({', '.join(map(repr, (self.option, *self.values)))})"

    def __str__(self) -> str:
        """Return the mark that an f-string holds until a `Message` is made from it."""
        clean = str.maketrans("", "", _OPEN + _NEXT + _CLOSE)
        return f"{_OPEN}{_NEXT.join(part.translate(clean) for part in (self.option, *self.values))}{_CLOSE}"

    @property
    def flag(self) -> str:
        """The option and its values as the command line shows them: `--seed 1`."""
        name = self.option.removeprefix(_READ)
        flag = (name if name == COMMAND else f"{'-' * (1 + (len(name) > 1))}{name}").replace("_", "-")
        is_quoted = (value[:1] in ("'", '"') or not _UNSAFE.search(value) for value in self.values)
        words = [value if done else shlex.quote(value) for value, done in zip(self.values, is_quoted, strict=True)]
        if name != COMMAND and any(value.startswith("-") for value in self.values):
            return " ".join(f"{flag}={word}" for word in words)  # so that no value is mistaken for an option
        return " ".join([flag, *words])

    @property
    def keyword(self) -> str:
        """The option and its values as Python shows them: `seed=1`."""
        if self.option == COMMAND:
            return self._call()
        plain = self.option.removeprefix(_READ)
        name = _SHORT.get(plain, plain)
        if plain != self.option:
            return f'read={{"{name}": {_value(name, self.values)}}}'
        return f"{name}={_value(name, self.values)}" if self.values else name

    def _call(self) -> str:
        """Return the call of `sigjax.read` with the same effect as the command whose words are the hint's values."""
        groups: dict[str, list[str]] = {(name := ""): []}
        for word in self.values:
            if word.startswith("-"):
                groups[name := _SHORT.get(word.strip("-"), word.strip("-"))] = []
            else:
                groups[name].append(word)
        files = map(_quoted, groups.pop(""))
        return f"sigjax.read({', '.join([*files, *(f'{name}={_value(name, own)}' for name, own in groups.items())])})"


_WITH_EQUALS = ("gold", "cluster", "strata")
"""Options whose values are texts, even if they contain an equals sign. Values of other options with an equals sign are
shown as a mapping."""


def _value(name: str, given: Sequence[str]) -> str:
    if "=" in given[0] and "==" not in given[0] and not given[0].endswith(")") and name not in _WITH_EQUALS:
        return f"{{{', '.join(': '.join(map(_quoted, each.split('='))) for each in given)}}}"
    values = ", ".join(map(_quoted, given))
    return f"[{values}]" if name in LISTS or len(given) > 1 else values


def _quoted(word: str) -> str:
    return word if word[:1].isdigit() or word[:1] in ("'", '"', ".") else f'"{word}"'


class Message(tuple[str | Hint, ...]):
    """A text about data and options, as a tuple of strings and hints (options). Hints become text when it is shown.

    >>> message = Message(("give ", Hint("missing", "drop")))
    >>> message.shown(lambda hint: hint.flag), Message.of("scores.tsv: ", message).shown(lambda hint: hint.keyword)
    ('give --missing drop', 'scores.tsv: give missing="drop"')
    """

    @classmethod
    def of(cls, *parts: "str | Message") -> "Message":
        """Make a message from texts (f-strings, perhaps with hints) and from other messages."""
        known = list[str | Hint]()
        for part in parts:
            if isinstance(part, Message):
                known += part
                continue
            for index, piece in enumerate(_HINT.split(part)):
                known += [Hint(*piece.split(_NEXT))] if index % 2 else [piece] * (piece != "")
        return cls(known)

    @property
    def hints(self) -> list[Hint]:
        """The hints (options) in the message."""
        return [part for part in self if isinstance(part, Hint)]

    def shown(self, spelling: Callable[[Hint], str]) -> str:
        """Return the message as text; `spelling` turns each hint into a text."""
        return "".join(spelling(part) if isinstance(part, Hint) else part for part in self)

    def with_hints(self, change: Callable[[Hint], Hint]) -> "Message":
        """Return the message with `change` applied to each hint."""
        return type(self)(change(part) if isinstance(part, Hint) else part for part in self)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, for messages; `word` is the noun for it ("line", "row", "entry").

    >>> print(InputError(f"{Line('scores.tsv', 3)}: expected a number"))
    scores.tsv, line 3: expected a number
    """

    file: str
    number: int
    word: str = "line"

    @property
    def short(self) -> str:
        """The word and the number, without the file: "line 3"."""
        return f"{self.word} {self.number}"

    def __str__(self) -> str:
        """Return the file and the line: "scores.tsv, line 3"."""
        return f"{self.file}, {self.short}"


LONGEST_MESSAGE = 900
_LONG_WORD = re.compile(r"\S{100,}")


def short_message(text: str) -> str:
    """Cut a message to at most 900 characters: first the middle of long words, then the middle of the message.

    >>> text = short_message(f"a.csv: no column {'x' * 2000}; expected 'A'")
    >>> text == f"a.csv: no column {'x' * 60}...{'x' * 29}; expected 'A'"
    True
    """
    if len(text) <= LONGEST_MESSAGE:
        return text
    text = _LONG_WORD.sub(lambda word: f"{word[0][:60]}...{word[0][-30:]}", text)
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:595]} ... {text[-300:]}"


class InputError(ValueError):
    """The user's input cannot be used. The message names the file or option, the expected input, and what to do.

    Options in the `message` are `Hint`s. `str(error)` shows them as keywords of Python (`seed`); the attribute `flags`
    shows them as flags of the command line (`--seed`). Both texts have at most 900 characters.
    """

    __module__ = "sigjax"  # tracebacks show the name under which people import it

    def __init__(self, *parts: str | Message) -> None:
        """Take the parts of the message: texts or other messages, which are joined."""
        self.message = Message.of(*parts)
        super().__init__(self.message.shown(lambda hint: hint.keyword))

    @property
    def hints(self) -> list[Hint]:
        """The hints (options) in the message."""
        return self.message.hints

    @property
    def flags(self) -> str:
        """The message, with the names of options written as command-line flags (`--seed`)."""
        return short_message(self.message.shown(lambda hint: hint.flag))

    def __str__(self) -> str:
        """Return the message, with the names of options written as keywords of Python (`seed`)."""
        return short_message(self.message.shown(lambda hint: hint.keyword))

    def _render_traceback_(self) -> list[str]:
        """Return the traceback that IPython shows: the user's lines and the message, without sigjax and IPython."""
        passed = (str(Path(__file__).parents[1]), contextlib.__file__)
        shown = traceback.TracebackException.from_exception(self)
        frames = [each for each in shown.stack if not each.filename.startswith(passed)]
        shown.stack = traceback.StackSummary.from_list(
            each for each in frames if "IPython" not in Path(each.filename).parts
        )
        return "".join(shown.format(chain=False)).splitlines()


@contextlib.contextmanager
def given_as(option: str, given: str) -> Iterator[None]:
    """A context manager: in it, error messages name `given`, the option that the user gave, in place of `option`."""
    try:
        yield
    except InputError as error:
        plain = Hint(option)
        raise InputError(error.message.with_hints(lambda hint: Hint(given) if hint == plain else hint)) from None


Parameters = Mapping[str, tuple[str, ...]]
"""A dict from the parameters of a metric or format to their possible values; an empty tuple if any value is
possible."""


def split_parameters(text: str) -> tuple[str, dict[str, list[str]]]:
    """Split `name(key=value, ...)` into the name and the values of each parameter. A plain name has no parameters.

    >>> split_parameters("alignment(swap=a, swap=b, one_based=true)"), split_parameters("f1 (macro)")
    (('alignment', {'swap': ['a', 'b'], 'one_based': ['true']}), ('f1 (macro)', {}))
    """
    name, _, inside = text.strip().partition("(")
    given = dict[str, list[str]]()
    if "=" not in inside or not inside.endswith(")"):
        return text, given
    for part in inside[:-1].split(","):
        parameter, _, value = part.partition("=")
        given.setdefault(parameter.strip(), []).append(value.strip())
    return name.strip(), given


def check_parameters(what: str, given: Mapping[str, Sequence[str]], known: Parameters) -> None:
    """Raise `InputError` for unknown parameters of a metric or format, and for values that are not possible.

    `what` is the name of the metric or format. `given` are the parameters and values that the user gave, and `known`
    has the possible ones.
    """
    for name, values in given.items():
        wrong = [value for value in values if not value or (known.get(name) and value not in known[name])]
        if name not in known or wrong:
            takes = ", ".join(f"{each}={'|'.join(allowed) or each.upper()}" for each, allowed in known.items())
            got = f"{name}={wrong[0]}" if wrong else name
            raise InputError(f"{what} takes {f'({takes})' if takes else 'no parameters'}, got {got[:40]!r}")


Default = TypeVar("Default")
Group = Literal["Main options", "Input", "Test", "Many pairs", "Intervals", "Output", "Running"]
"""The groups of options, in the order in which `--help` shows them."""


@dataclass(frozen=True)
class Option:
    """The properties of an option, besides its name, type and default.

    `doc` is one line for `--help` and `help`. `--help` shows it in the panel of its `group`; a `rare` option appears
    only with `--help-all`. `more` appears only in `help`. Numbers must be at least `least`, at most `most`, above
    `above` and below `below`, if these bounds are given. A shell suggests the values in `suggests` when the user
    presses Tab; other values are allowed, too. `arrays` is the message if the user gives an array. If the value is a
    mapping of options for `sigjax.read`, `of` is the record of these options.
    """

    doc: str | Message
    more: str = ""
    group: Group = "Test"
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    rare: bool = False
    suggests: tuple[str, ...] = ()
    arrays: str = ""
    of: type | None = None

    def shown(self, spelling: Callable[[Hint], str]) -> str:
        """Return the line of documentation; `spelling` turns each hint into a text."""
        return Message.of(self.doc).shown(spelling)

    def bounds(self, kind: type) -> dict[str, Any]:
        """Return the bounds of the option's numbers: a dict from `least`, `most`, `above` and `below` to numbers.

        By default, whole numbers (if `kind` is int) are from 0 to 2^64 - 1.
        """
        given = {name: getattr(self, name) for name in ("least", "most", "above", "below")}
        given = {name: bound for name, bound in given.items() if bound is not None}
        return {"least": 0, "most": 2**64 - 1} | given if kind is int else given


def option(default: Default, doc: str, more: str = "", **rest: Any) -> Default:
    """Make a field of a record that is an option. All arguments except the default are passed on to `Option`."""
    return field(default=default, metadata={"option": Option(Message.of(doc), more, **rest)})


def required(doc: str, **rest: Any) -> Any:
    """Make a field of a record that is an option without a default."""
    return field(metadata={"option": Option(doc, **rest)})


def same(record: type, name: str, default: Any = MISSING, **changes: Any) -> Any:
    """Make a field that repeats the option `name` of another record, with some changes.

    If the other option has a longer text (`more`), it is replaced by "See `compare`.".
    """
    known = options_of(record)[name]
    about: Option = known.metadata["option"]
    about = replace(about, **({"more": about.more and "See `compare`."} | changes))
    return field(default=known.default if default is MISSING else default, metadata={"option": about})


@functools.cache
def options_of(record: type) -> Mapping[str, Field[Any]]:
    """Return a dict from the name of each option of a record to its field, in the order of the groups of `--help`."""
    options = {name: each for name, each in record.__dataclass_fields__.items() if "option" in each.metadata}
    groups = get_args(Group)
    return dict(sorted(options.items(), key=lambda item: groups.index(item[1].metadata["option"].group)))


def values(record: object, of: type | None = None, /, **changes: Any) -> dict[str, Any]:
    """Return the values of a record's options, with some changes.

    If the record type `of` is given, only the options that both records have are returned.
    """
    return {name: getattr(record, name) for name in _shared(type(record), of or type(record))} | changes


@functools.cache
def _shared(record: type, other: type) -> list[str]:
    """Return the names of the options that both records have."""
    return [name for name in options_of(record) if name in options_of(other)]


@functools.cache
def types_of(record: type) -> dict[str, Any]:
    """Return the types of the fields of a record."""
    hints = get_type_hints(record)
    return {name: hint.type if isinstance(hint, InitVar) else hint for name, hint in hints.items()}


def check(record: object) -> None:
    """Raise `InputError` if an option of the record has a value that is not allowed.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Options:
    ...     resamples: int | Literal["auto"] = option(1000, "Number of resamples.", least=2, most=10_000)
    >>> check(Options(resamples=1))
    Traceback (most recent call last):
        ...
    sigjax.InputError: resamples must be a whole number from 2 to 10,000 or auto, got 1
    """
    for name, allowed in _allowed_of(type(record)).items():
        if (value := getattr(record, name)) is not allowed.default and not allowed.holds(value):
            advice = f"; write [{value!r}]" if allowed.is_names and isinstance(value, str) else ""
            got, about = repr(value), options_of(type(record))[name].metadata["option"]
            if about.arrays and hasattr(value, "__len__") and not isinstance(value, str):
                got, advice = f"a {type(value).__name__}", f"; {about.arrays}"
            raise InputError(f"{Hint(name)} must be {allowed.phrase}, got {got}{advice}")


@dataclass(frozen=True, slots=True)
class Allowed:
    """The values that an option may have: a check (`holds`), and descriptions for messages."""

    holds: Callable[[Any], bool]
    phrase: str = ""
    """The description of an allowed value, to follow "must be" in a message."""
    plural: str = ""
    """The description of several allowed values, to follow "one or more" in a message."""
    is_names: bool = False
    """Whether the value is a list of names. Messages show such a list with brackets, even if it has one name."""
    default: Any = ...
    """The default of the option if it is allowed, else `...`. A value that is this default is not checked again."""


@functools.cache
def _allowed_of(record: type) -> dict[str, Allowed]:
    """Return a dict from each option of a record to its allowed values."""
    annotations, options = types_of(record), options_of(record)
    found = {name: _allowed(annotations[name], declared) for name, declared in options.items()}
    return {
        name: replace(each, default=options[name].default) if each.holds(options[name].default) else each
        for name, each in found.items()
    }


def _allowed(annotation: Any, option: Field[Any]) -> Allowed:
    """Return the values that an option's type `annotation` allows; an unknown type allows every value."""
    about: Option = option.metadata["option"]
    origin, members = get_origin(annotation), get_args(annotation)
    if annotation is bool:
        return Allowed(lambda value: isinstance(value, bool), "true or false")
    if annotation in (int, float):
        return _allowed_numbers(annotation, about.bounds(annotation), option.default)
    if annotation is str:
        return Allowed(lambda value: isinstance(value, str | os.PathLike), "a name")
    if origin is Literal:
        names = ", ".join(members)
        phrase, plural = (names, names) if len(members) == 1 else (f"one of {names}", f"of {names}")
        return Allowed(members.__contains__, phrase, plural)
    if origin is Mapping:
        example = "{'id_column': 'N'}" if about.of else "{'name': 'column'}"
        return Allowed(lambda value: isinstance(value, Mapping), f"a mapping such as {example}")
    if origin is Sequence and members[0] is str:
        return Allowed(_is_list, "a list of names", is_names=True)
    if origin is Sequence:
        item = _allowed(members[0], option)
        return Allowed(
            lambda values: _is_list(values) and all(map(item.holds, values)) and 0 < len(values) == len(set(values)),
            f"one or more {item.plural}, each once",
        )
    if origin in (Union, UnionType):
        parts = {member: _allowed(member, option) for member in members if member is not NoneType}
        lists = [part for member, part in parts.items() if get_origin(member) is Sequence and not part.is_names]
        shown = lists or list(parts.values())  # if single values and lists are allowed, describe lists
        return Allowed(
            lambda value: any(part.holds(value) for part in parts.values()) or (value is None and NoneType in members),
            " or ".join(part.phrase for part in shown),
            is_names=len(shown) == 1 and shown[0].is_names,
        )
    return Allowed(lambda value: True)


def _allowed_numbers(kind: type, bounds: Mapping[str, float], default: Any) -> Allowed:
    """Return the allowed values for whole or real numbers within bounds; infinity and NaN are not allowed."""
    least, most, above, below = (bounds.get(name) for name in ("least", "most", "above", "below"))
    low, high = (f"{end:,}" if kind is int else f"{end:g}" for end in (least or above or 0, most or below or 0))
    words = {"least": f"at least {low}", "above": f"above {low}", "most": f"at most {high}", "below": f"below {high}"}
    phrase = " and ".join(words[name] for name in words if name in bounds)
    if {"least", "most"} <= bounds.keys():
        phrase = f"from {low} to {high}"
    elif {"above", "below"} <= bounds.keys():
        phrase = f"between {low} and {high}"
    kinds = ("a whole number", "whole numbers") if kind is int else ("a number", "numbers")
    one, several = (f"{what} {phrase}" if phrase else what.replace("number", "finite number") for what in kinds)
    one += f", such as {default:g}" if phrase.startswith("between") and isinstance(default, float) else ""

    def holds(value: Any) -> bool:
        return (
            isinstance(value, int if kind is int else int | float)
            and not isinstance(value, bool)
            and abs(value) <= _LARGEST
            and (least is None or least <= value)
            and (above is None or above < value)
            and (most is None or value <= most)
            and (below is None or value < below)
        )

    return Allowed(holds, one, several)


_LARGEST = sys.float_info.max


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes)


A = TypeVar("A")
B = TypeVar("B")
Result = TypeVar("Result", covariant=True)
Keywords = ParamSpec("Keywords")
Record = TypeVar("Record", covariant=True)


class Many(Protocol[Keywords, Result]):
    """For type checkers: a function with any number of arguments (up to three are typed), and options by keyword."""

    @overload
    def __call__(self, *args: Keywords.args, **options: Keywords.kwargs) -> Result: ...
    @overload
    def __call__(self, first: Any, /, *args: Keywords.args, **options: Keywords.kwargs) -> Result: ...
    @overload
    def __call__(self, first: Any, second: Any, /, *args: Keywords.args, **options: Keywords.kwargs) -> Result: ...
    @overload
    def __call__(
        self, first: Any, second: Any, third: Any, /, *args: Keywords.args, **options: Keywords.kwargs
    ) -> Result: ...


class Taking(Protocol[Keywords, Record]):
    """For type checkers: a decorator that turns a function of a record into a function of options by keyword."""

    @overload
    def __call__(self, function: Callable[[Any, Record], B], /) -> Callable[Concatenate[Any, Keywords], B]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, Any, Record], B], /
    ) -> Callable[Concatenate[Any, Any, Keywords], B]: ...
    @overload
    def __call__(self, function: Callable[..., B], /) -> Many[Keywords, B]: ...


def takes_options(function: object) -> bool:
    """Whether a function was decorated by `takes`, so that its keywords are the options of a record."""
    return inspect.isroutine(function) and hasattr(function, "__signature__")


def takes(record: Callable[Keywords, A], *, several: str = "") -> Taking[Keywords, A]:
    """A decorator: let a function take the options of a record by keyword.

    The last parameter of the decorated function must be the record.

    `several` is the message if too many data arguments are given.

    The signature lists all options with their defaults; in the docstring they replace the line `options: ...`. NumPy
    numbers become Python numbers. If an option of the function is a mapping of options for `sigjax.read`, messages show
    the options in it as `read={...}`.

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
        *positional, last = signature.parameters.values()
        known = options_of(record)  # pyright: ignore[reportArgumentType]

        parameters = [*positional, *(_parameter(record, name, each) for name, each in known.items())]
        public = signature.replace(parameters=parameters)
        required = {name for name, each in known.items() if each.default is MISSING}
        through = _given_through(known)

        @functools.wraps(function)
        def taking(*args: Any, **keywords: Any) -> Any:
            if len(args) != len(positional) or not keywords.keys() <= known.keys() or required - keywords.keys():
                try:
                    public.bind(*args, **keywords)
                except TypeError as error:
                    more = _meant(keywords, public, through) or (several if len(args) > len(positional) else "")
                    raise TypeError(f"{function.__name__.strip('_')}() {error}{more}") from None
            annotations = types_of(record)  # pyright: ignore[reportArgumentType]
            given = {name: _plain(keywords.pop(name), annotations[name]) for name in known if name in keywords}
            try:
                return function(*args, **keywords, **{last.name: record(**given)})  # pyright: ignore[reportCallIssue]
            except InputError as error:
                if through:
                    error.message = error.message.with_hints(lambda hint: _through(hint, through))
                raise

        taking.__signature__ = public  # pyright: ignore[reportAttributeAccessIssue]
        taking.__doc__ = _documented(function.__doc__ or "", known)
        kept = {name: annotation for name, annotation in function.__annotations__.items() if name != last.name}
        taking.__annotations__ = kept | {name: types_of(record)[name] for name in known}  # pyright: ignore
        return taking

    return decorate


def _given_through(known: Mapping[str, Field[Any]]) -> frozenset[str]:
    """Return the options of `sigjax.read` that a function takes only within a mapping, such as `read={...}`."""
    records = [each.metadata["option"].of for each in known.values()]
    return frozenset(name for record in records if record for name in options_of(record) if name not in known)


def _through(hint: Hint, through: Collection[str]) -> Hint:
    """Return a hint that is shown as `read={...}` if the option has a value and belongs to `through`.

    `through` are the options that are passed on to `sigjax.read`. Other hints are returned unchanged.
    """
    is_one = bool(hint.values) and _SHORT.get(hint.option, hint.option) in through
    return Hint(_READ + hint.option, *hint.values) if is_one else hint


Function = TypeVar("Function", bound=Callable[..., Any])


def explained(function: Function) -> Function:
    """A decorator: errors for an unknown keyword suggest a known name, as in functions decorated by `takes`.

    >>> @explained
    ... def draw(*, seed: int = 0) -> int:
    ...     return seed
    >>> draw(random_state=1)
    Traceback (most recent call last):
        ...
    TypeError: draw() got an unexpected keyword argument 'random_state'; use seed
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        if more := _meant(keywords, signature):
            try:
                signature.bind(*args, **keywords)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}{more}") from None
        return function(*args, **keywords)

    return cast("Function", called)


_RESAMPLES = "n_resamples n_permutations permutations num_permutations n_bootstrap n_bootstraps n_boot iterations n"
OTHER_OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(("alpha", "ci", "level", "confidence"), "confidence_level"),
    **dict.fromkeys(_RESAMPLES.split(), "resamples"),
    **dict.fromkeys(("random_state", "rng", "random_seed"), "seed"),
    **dict.fromkeys(("clusters", "groups"), "cluster"),
    **dict.fromkeys(("y_true", "truth"), "gold"),
    **dict.fromkeys(("p_adjust", "adjust"), "correction"),
    **{"control": "baseline", "tail": "alternative"},
}
"""A dict from names of options in other programs to the names in sigjax."""


def _meant(keywords: Mapping[str, Any], signature: inspect.Signature, through: Collection[str] = ()) -> str:
    """Return a text with a suggestion for the first unknown keyword; empty if all keywords are known.

    `keywords` are the arguments of a call. `signature` has the known keywords, and `through` are the options that are
    passed on to `sigjax.read`.
    """
    known = [name for name, each in signature.parameters.items() if each.kind is each.KEYWORD_ONLY]
    wrong = next((name for name in keywords if name not in signature.parameters), None)
    if wrong is None:
        return ""
    value = keywords[wrong]
    if (ours := OTHER_OPTIONS.get(wrong)) in known:
        is_level = wrong == "alpha" and isinstance(value, float) and 0.0 < value < 1.0
        return f"; use {ours}={1.0 - value:.12g}" if is_level else f"; use {ours}"
    close = difflib.get_close_matches(wrong.lower(), [*known, *through], n=1)
    name = wrong if wrong in through else ours if ours in through else close[0] if close else ""
    if name in through:
        shown = repr(value) if isinstance(value, str | bool | list | tuple) and len(repr(value)) <= _LONGEST else "..."
        return f"; data are read with it: write sigjax.read(..., {name}={shown}) or read={{{name!r}: {shown}}}"
    return f"; did you mean {name!r}?" if name else f"; it takes {', '.join(known)}"


_LONGEST = 40
"""Largest number of characters of a value that a message repeats."""


def _plain(value: Any, annotation: Any) -> Any:
    """Convert NumPy numbers to Python numbers, and 1e5 to 100000 for an option of whole numbers; keep other values."""
    if type(value) in (list, tuple):
        return type(value)(_plain(item, annotation) for item in value)
    value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(value, float) and value.is_integer() and {int, float} & _members(annotation) == {int}:
        return int(value)
    return value


@functools.cache
def _members(annotation: Any) -> set[Any]:
    """Return the types inside a type: the members of a union, and the types of a sequence's items."""
    return {annotation, *(member for argument in get_args(annotation) for member in _members(argument))}


def _parameter(record: Any, name: str, field: Field[Any]) -> inspect.Parameter:
    """Return the option `name` of a record as a keyword-only parameter of a signature."""
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types_of(record)[name])


def _documented(doc: str, known: Mapping[str, Field[Any]]) -> str:
    """Return the docstring `doc`, with all options in place of the line `options: ...`."""

    def described(line: re.Match[str]) -> str:
        margins = line[1], line[1] + "    "
        wrapper = textwrap.TextWrapper(120, *margins, break_long_words=False, break_on_hyphens=False)
        abouts = {name: each.metadata["option"] for name, each in known.items()}
        return "\n".join(
            wrapper.fill(f"{name}: {about.shown(lambda hint: f'`{hint.option}`')} {about.more}".rstrip())
            for name, about in abouts.items()
        )

    return re.sub(r"^( *)options: .*$", described, doc, count=1, flags=re.MULTILINE)
