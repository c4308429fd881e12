"""Make text safe to show in terminals, notebooks and files; suggest known names; show records in short form.

Control characters (ESC, BEL, NUL, C1), line and paragraph separators, format characters such as U+202E, lone
surrogates, and characters for private use become escapes. Joiners are kept, since Persian, Indic scripts and emoji are
written with them, and spaces of all kinds are kept. Source: Unicode Technical Report 36, on bidirectional text.

The module also suggests known names for an unknown name. It shows records at a prompt and in a notebook as one short
line or a small table, never with all their values.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, ClassVar
from unicodedata import category

from sigjax.records.settings import Interval

_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""Return the text on one line, with Python escapes in place of unsafe characters.

    >>> print(visible("a\tb\x1b[31m\u202e"), visible("é [bold] 数"))
    a\tb\x1b[31m\u202e é [bold] 数
    """
    return _escaped(text, lambda character: character.encode("unicode_escape").decode())


def visible_json(value: Any, *, indent: int | None = None) -> str:
    r"""Return the value as JSON, with JSON escapes for unsafe characters, so that every reader gets them exactly.

    >>> print(visible_json(["é", "\u202e\x9b"]))
    ["é", "\u202e\u009b"]
    """
    dumped = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return "\n".join(_escaped(line, lambda character: json.dumps(character)[1:-1]) for line in dumped.split("\n"))


def escape_html(text: str) -> str:
    r"""Return the text escaped for HTML, also for use in an attribute.

    >>> print(escape_html('<b> "\u202e"'))
    &lt;b&gt; &quot;\u202e&quot;
    """
    return html.escape(visible(text))


def shared_length(texts: Sequence[str]) -> int:
    """Return the number of characters that all texts share at the start.

    >>> shared_length(["seed-1", "seed-22", "seed-2"]), shared_length([])
    (5, 0)
    """
    first, last = min(texts, default=""), max(texts, default="")
    pairs = zip(first, last, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), len(first))


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    if text.isprintable():  # true for nearly all texts
        return text
    harmless = {each for each in set(text) if each.isprintable() or each in _JOINERS or category(each) == "Zs"}
    return "".join(character if character in harmless else escape(character) for character in text)


def entry(name: str, said: str, *, width: int, indent: int) -> str:
    """Return a name and the text `said` about it as lines of at most `width` characters, without breaking words.

    The text begins at the column `indent`.
    """
    margin = " " * indent
    wrapper = TextWrapper(width, name.ljust(indent), margin, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.wrap(visible(said)) or [name])


MOST_MEANT = 10_000
"""Suggestions are searched among at most this many known names."""
OTHER_NAMES = {
    "acc": ("accuracy", "exact_match"),
    "accnorm": ("acc_norm", "accuracy"),
    "em": ("exact_match", "accuracy"),
    "exactmatch": ("exact_match", "accuracy"),
    "passat1": ("accuracy",),
    "average": ("mean",),
    "avg": ("mean",),
    "f": ("fscore",),
    "f1": ("fscore",),
    "f1score": ("fscore",),
    "microf1": ("micro-fscore",),
    "p": ("precision",),
    "r": ("recall",),
    "chrfpp": ("chrf++",),
    "pearson": ("correlation",),
    "pearsonr": ("correlation",),
    "spearmanr": ("spearman",),
    "kendalltau": ("kendall",),
    "rocauc": ("auc",),
}
"""A dict from names of metrics in other tools to the names in sigjax. Keys are in lower case and have only letters and
digits."""


def meant(name: str, known: Iterable[str]) -> list[str]:
    """Return the `known` names that an unknown `name` probably means, most likely first.

    Other names for the same metric are tried first, then similar spellings.

    >>> [meant(name, ["accuracy", "bleu", "chrf", "chrf++"]) for name in ("acc", "BLEU", "chrF2", "acuracy", "x")]
    [['accuracy'], ['bleu'], ['chrf'], ['accuracy'], []]
    """
    known = list(known)[:MOST_MEANT]
    plain = _plain(name)
    others = [other for other in OTHER_NAMES.get(plain, ()) if other in known]
    same = [other for other in known if _plain(other) == plain]
    same += [other for other in known if sorted(_words(other)) == sorted(_words(name)) and other not in same]
    if others or same:
        return others or same
    by_lower = {other.lower(): other for other in known}
    close, closer = (get_close_matches(name.lower(), by_lower, cutoff=cutoff) for cutoff in (0.6, 0.8))
    return [by_lower[match] for match in closer or close]


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case, split at blanks, underscores, points and hyphens."""
    return re.split(r"[\s_.-]+", name.lower())


def _plain(name: str) -> str:
    """Return the usual short form of a name, in lower case, words joined (chrF2: chrf, BLEU-4: bleu)."""
    plain = "".join(_words(name))
    return {"chrf2": "chrf", "chrf2++": "chrf++", "bleu4": "bleu", "sacrebleu": "bleu"}.get(plain, plain)


_MOST_ITEMS = 3
_MOST_LETTERS = 60
_CELL = ' style="text-align: left; white-space: nowrap"'


class ShortRepr:
    """The base class of frozen records (with `repr=False`) that show only the few fields that people check first."""

    _first = tuple[str, ...]()
    """The fields to show; if empty, all fields except the settings, the signature and the notes."""

    def brief(self) -> dict[str, Any]:
        """Return a dict from the names of the fields to show to their values."""
        names = (each.name for each in fields(self))  # pyright: ignore[reportArgumentType]
        shown = self._first or (name for name in names if name not in ("settings", "signature", "notes"))
        return {name: getattr(self, name) for name in shown}

    def __repr__(self) -> str:
        """Return one line, however large the record is."""
        values = (f"{name}={shortened(value)}" for name, value in self.brief().items())
        return f"{type(self).__name__}({', '.join(values)})"

    def _repr_html_(self) -> str:
        """Return the fields of `brief` as a table, for notebooks."""
        rows = ((name, value if isinstance(value, str) else shortened(value)) for name, value in self.brief().items())
        return html_table((type(self).__name__, ""), rows)


class OtherNames:
    """The base class of records whose attributes have other names in other libraries; errors suggest our names."""

    _elsewhere: ClassVar[Mapping[str, str]] = {}
    """A dict from the name of an attribute in other libraries to the expression to write instead."""

    if not TYPE_CHECKING:  # otherwise type checkers would accept every attribute

        def __getattr__(self, name: str) -> object:
            """Raise `AttributeError` for an unknown attribute, with a suggestion if another library has this name."""
            hint = f"; write {self._elsewhere[name]}" if name in self._elsewhere else ""
            said = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
            raise AttributeError(said, name=name, obj=self)


class SciPyNames:
    """The base class of records with a p-value, which SciPy names `pvalue`."""

    p_value: Any

    @property
    def pvalue(self) -> Any:
        """`p_value`, under the name of SciPy's results."""
        return self.p_value


def shortened(value: Any) -> str:
    """Return a value as a short text.

    >>> print(shortened(1 / 3), shortened(Interval(0.25, 1.0)), shortened(("A", "B", "C", "D")), shortened("a"))
    0.333333 [0.25, 1] ('A', 'B', 'C', ... 4 in all) 'a'
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Interval):
        return f"[{value.low:.6g}, {value.high:.6g}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {shortened(each)}' for key, each in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if value and not isinstance(value[0], str | int | float):
            return f"<{len(value):,} {type(value[0]).__name__}>"
        shown = ", ".join(map(shortened, value[:_MOST_ITEMS]))
        more = f", ... {len(value):,} in all" if len(value) > _MOST_ITEMS else "," * (len(value) == 1)
        return f"({shown}{more})"
    text = repr(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 4]}...{text[-1]}"


def html_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of plain text as HTML."""
    head = "".join(f"<th{_CELL}>{escape_html(cell)}</th>" for cell in header)
    lines = ("".join(f"<td{_CELL}>{escape_html(cell)}</td>" for cell in row) for row in rows)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"


def html_text(text: str) -> str:
    """Return text for a terminal as HTML that scrolls sideways instead of wrapping its lines."""
    lines = "\n".join(map(escape_html, text.splitlines()))
    return f'<pre style="font-family: monospace; overflow-x: auto; white-space: pre; line-height: 1.25">{lines}</pre>\n'
