"""Options in messages: written as flags, once, and shown as Python spells them, or as the command line does.

A message names an option `--missing`, and one with a value `--missing=drop`, or without `=` where the value is a
number, quoted, in capitals, or ends its part of the sentence. What stands in backquotes is shown as it is.
"""

import re
from collections.abc import Iterable

LISTS = frozenset(("ignore", "input", "swap", "systems"))
"""Options that take a list of names in Python."""
_SHORT = {"i": "input", "m": "metric", "o": "output"}
_EXACT = r"[A-Z][A-Z:]*(?![\w-])|\d[\w.+-]*|[\w.-]+=[A-Z]+|'[^']*'"
_WORD = r"(?!out|instead)[a-z][\w@.+-]*(?=$|[,;:)]|\.(?: |$)| (?:or|and) -)"
_FLAG = rf"(?<![\w'\"./-])(?:--([a-z][a-z-]*)(?![\w-])|-([imo])(?!\w))(?:=([\w@+-]+)|((?: (?:{_EXACT}))+)| ({_WORD}))?"
_COMMAND = r"sigjax compare ([^`;() ]+(?: [^`;() ]+)*)"
_MESSAGE = re.compile(rf"(`[^`]*`)|{_COMMAND}|{_FLAG}")


def in_flags(message: str) -> str:
    """A message as the command line shows it.

    Example:
        >>> in_flags("give --missing=drop or --id NAME")
        'give --missing drop or --id NAME'
    """
    return re.sub(r"(?<![\w'\"./-])(--[a-z][a-z-]*)=(?=\w)", r"\1 ", message)


def in_python(message: str) -> str:
    """A message as Python shows it.

    Example:
        >>> in_python("give --missing=drop or --lower-is-better; see --id; name them with --counts tp=NAME gold=NAME")
        'give missing="drop" or lower_is_better; see id; name them with counts={"tp": "NAME", "gold": "NAME"}'
        >>> in_python("write sigjax compare gold.txt -i a.txt b.txt -m METRIC; or --memory 2.5 and --systems A B")
        'write sigjax.read("gold.txt", input=["a.txt", "b.txt"], metric="METRIC"); or memory=2.5 and systems=["A", "B"]'
    """
    return _MESSAGE.sub(_spelled, message)


def _spelled(part: re.Match[str]) -> str:
    quoted, command, long, short, *values = part.groups()
    if quoted:
        return quoted
    if command:
        return _call(command.split())
    name = (long or _SHORT[short]).replace("-", "_")
    given = " ".join(filter(None, values)).split()
    return f"{name}={_value(name, given)}" if given else name


def _call(words: Iterable[str]) -> str:
    """The call of Python that does what a command does."""
    groups: dict[str, list[str]] = {(name := ""): []}
    for word in words:
        if word.startswith("-"):
            groups[name := _SHORT.get(word.strip("-"), word.strip("-"))] = []
        else:
            groups[name].append(word)
    files = map(_quoted, groups.pop(""))
    return f"sigjax.read({', '.join([*files, *(f'{name}={_value(name, given)}' for name, given in groups.items())])})"


def _value(name: str, given: list[str]) -> str:
    if "=" in given[0]:
        return f"{{{', '.join(': '.join(map(_quoted, each.split('='))) for each in given)}}}"
    values = ", ".join(map(_quoted, given))
    return f"[{values}]" if name in LISTS or len(given) > 1 else values


def _quoted(word: str) -> str:
    return word if word[0].isdigit() or word[0] in "'." else f'"{word}"'
