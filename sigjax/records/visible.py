r"""Text that is harmless wherever it is shown.

Control characters (ESC, BEL, NUL, C1), line and paragraph separators, format characters such as U+202E, lone
surrogates, and characters for private use become escapes. Joiners stay, since Persian, Indic scripts and emoji are
written with them, and so do spaces of all kinds. Source: Unicode Technical Report 36, on bidirectional text.
"""

import html
import json
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""Text of one line, with all other characters that are not shown as themselves in Python's escapes.

    Example:
        >>> print(visible("a\tb\x1b[31m\u202e"), visible("é [bold] 数"))
        a\tb\x1b[31m\u202e é [bold] 数
    """
    return _escaped(text, lambda character: character.encode("unicode_escape").decode())


def visible_json(value: Any, *, indent: int | None = None) -> str:
    r"""JSON, with these characters in JSON's own escapes, so that whoever reads it has them exactly.

    Example:
        >>> print(visible_json(["é", "\u202e\x9b"]))
        ["é", "\u202e\u009b"]
    """
    dumped = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return "\n".join(_escaped(line, lambda character: json.dumps(character)[1:-1]) for line in dumped.split("\n"))


def escape_html(text: str) -> str:
    r"""Text that HTML shows as it is, in an attribute too.

    Example:
        >>> print(escape_html('<b> "\u202e"'))
        &lt;b&gt; &quot;\u202e&quot;
    """
    return html.escape(visible(text))


def shared_length(texts: Sequence[str]) -> int:
    """Number of characters with which all texts begin.

    Example:
        >>> shared_length(["seed-1", "seed-22", "seed-2"]), shared_length([])
        (5, 0)
    """
    first, last = min(texts, default=""), max(texts, default="")
    pairs = zip(first, last, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(first))


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    if text.isprintable():  # nearly all texts are
        return text
    return "".join(character if _is_shown(character) else escape(character) for character in text)


def _is_shown(character: str) -> bool:
    return character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs"
