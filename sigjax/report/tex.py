r"""Text for LaTeX: characters that pdflatex (with 8-bit fonts) can print, and their approximate widths.

Letters of the encoding T1 stay as they are. Other letters become accents (`\'{k}`), and common signs become macros or
math. All other characters, such as Chinese, stay as they are for lualatex and xelatex. For pdflatex, `declared` prints
such a character as its code, U+6570, instead of an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from unicodedata import category, combining, normalize

from sigjax.records.display import visible
from sigjax.report.words import count


def _named(signs: str, names: str) -> dict[str, str]:
    """Return a dict from each of the signs to its LaTeX name."""
    return dict(zip(signs, names.split(), strict=True))


_MACROS = {
    **_named(r"\~^<>|`", "textbackslash textasciitilde textasciicircum textless textgreater textbar textasciigrave"),
    **_named("†‡–—―‒•€", "dag ddag textendash textemdash textemdash textendash textbullet texteuro"),
    **_named("‘’“”", "textquoteleft textquoteright textquotedblleft textquotedblright"),
    **_named("‚„‹›…™", "quotesinglbase quotedblbase guilsinglleft guilsinglright textellipsis texttrademark"),
}
_MATHEMATICS = {
    **_named("αβγδεζηθικλμ", "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu"),
    **_named("νξπρςστυφχψω", "nu xi pi rho varsigma sigma tau upsilon varphi chi psi omega"),
    **_named("ΓΔΘΛΞΠΣΥΦΨΩ", "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"),
    **_named("ϵϑϕϱϖ", "epsilon vartheta phi varrho varpi"),
    **_named("←→↑↓↔⇐⇒⇔", "leftarrow rightarrow uparrow downarrow leftrightarrow Leftarrow Rightarrow Leftrightarrow"),
    **_named("↦⟵⟶∗∘∙⋅√∞", "mapsto longleftarrow longrightarrow ast circ cdot cdot surd infty"),
    **_named("∈∉∅∀∃∂∇∑∏∆∫", "in notin emptyset forall exists partial nabla sum prod Delta int"),
    **_named("∼≈≠≡≤≥≪≫⊥⋆ℓ", "sim approx neq equiv leq geq ll gg perp star ell"),
    **_named("⊂⊃⊆⊇∪∩∧∨⊕⊗", "subset supset subseteq supseteq cup cap wedge vee oplus otimes"),
}
SYMBOLS = {
    **{sign: f"\\{name}{{}}" for sign, name in _MACROS.items()},
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: rf"$\{name}$" for sign, name in _MATHEMATICS.items()},
    **_named("−′″", "$-$ $'$ $''$"),
    **_named("ΑΒΕΖΗΙΚΜΝΟΡΤΧοſ", "A B E Z H I K M N O P T X o s"),
    **_named("‐‑\ufe0e\ufe0f\u200c", "-{} -{} {} {} {}"),
    **{sign: f"$^{{{plain}}}$" for sign, plain in zip("⁰⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0456789+-n", strict=True)},
    **{sign: f"$_{{{plain}}}$" for sign, plain in zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True)},
}
"""Dict from characters that LaTeX would interpret, or that pdflatex does not know, to LaTeX that prints them."""
_LETTERS = frozenset("ĂăĄąĆćČčĎďĐđĘęĚěĞğİıĲĳĹĺĽľŁłŃńŇňŊŋŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž")
"""Letters of the encoding T1 that are not in Latin-1."""
_ACCENTS = {
    **_named("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308", "` ' ^ ~ = u . \""),
    **_named("\u030a\u030b\u030c\u0323\u0327\u0328\u0331", "r H v d c k b"),
}
_BELOW = "dckb"
_OVER_MATHEMATICS = _named("`'^~=u.\"v", "grave acute hat tilde bar breve dot ddot check")
_ONLY_T1 = re.compile(r"[«»ÐÞðþĄąĐđĘęŊŋ]|\\(?:k\{|quotesinglbase|quotedblbase|guilsingl)")
"""A pattern of characters and LaTeX source that the usual fonts of pdflatex can print only in the encoding T1."""
_WIDTHS = {
    character: points
    for points, characters in (
        (2.78, "!',.:;[]il|"),
        (3.06, "fj"),
        (3.34, "- "),
        (3.62, "I"),
        (3.95, "()trs"),
        (4.45, "cez"),
        (5.0, '"$*/0123456789\\`ago{}?–†‡'),
        (5.28, "kqvxyJ"),
        (5.56, "Sbdhnpu"),
        (6.25, "LZ^~"),
        (6.53, "F"),
        (6.81, "EP"),
        (7.09, "B"),
        (7.36, "CTwR"),
        (7.64, "AHNUVXYD"),
        (7.85, "&+<=>@KOQ_G"),
        (8.34, "#%m"),
        (9.17, "M"),
        (10.28, "W"),
        (13.4, "…"),
    )
    for character in characters
}
"""Dict from a character to its width in points, in Computer Modern at 10 pt."""
_WIDEST, _LETTER = 11.2, 5.3
"""In points: `_WIDEST` is an upper bound on the width of a character that is not in `_WIDTHS`. `_LETTER` is the width
of a letter in a code such as U+6570, which replaces a character that pdflatex cannot print."""
BOLD = 1.16
"""Bold text is at most this many times as wide as normal text."""


def escape_latex(text: str) -> str:
    r"""Escape the text so that LaTeX prints it literally.

    >>> print(escape_latex("50% naïve, α−β ḱ"), escape_latex("x--y 数"))
    50\% naïve, $\alpha$$-$$\beta$ \'{k} x-{}-y 数
    """
    clusters = re.findall("[^\u0300-\u036f][\u0300-\u036f]*|.", normalize("NFC", visible(text)), re.DOTALL)
    escaped = "".join(map(_printed, clusters))
    escaped = re.sub("-(?=-)|,(?=,)|'(?=')", r"\g<0>{}", escaped)  # LaTeX joins two of them
    return re.sub(r"^(?=[\[*])", "{}", escaped)  # after the end of a row, LaTeX would read these as an option


@lru_cache(maxsize=4096)
def _printed(cluster: str) -> str:
    """Return LaTeX that prints `cluster`, a character with its accents; unchanged if pdflatex does not know it."""
    if cluster in SYMBOLS or (len(cluster) == 1 and is_latin(cluster)):
        return SYMBOLS.get(cluster, cluster)
    if len(cluster) == 1 and category(cluster) == "Zs":
        return "~"
    base, *marks = normalize("NFD", cluster)
    accents, printed = [_ACCENTS.get(mark, "") for mark in marks], SYMBOLS.get(base, base)
    if not accents or not all(accents) or not is_latin(printed):
        return cluster
    for accent in accents:
        if printed.startswith("$"):
            if accent not in _OVER_MATHEMATICS:
                return cluster
            printed = rf"$\{_OVER_MATHEMATICS[accent]}{{{printed[1:-1]}}}$"
        else:
            dotless = "\\" if printed in ("i", "j") and accent not in _BELOW else ""
            printed = rf"\{accent}{{{dotless}{printed}}}"
    return printed


def is_latin(source: str) -> bool:
    """Whether pdflatex knows all characters of a LaTeX source."""
    return source.isascii() or not any(map(_is_foreign, source))


def _is_foreign(character: str) -> bool:
    return ord(character) >= 0x100 and character not in _LETTERS


def fonts(source: str) -> str:
    """Return a line that loads the font encoding T1 if the characters of a LaTeX source need it; else an empty text."""
    return r" \usepackage[T1]{fontenc}" if _ONLY_T1.search(source) else ""


_NAMED = 5


def declared(source: str, names: Iterable[str]) -> list[str]:
    """Return lines to put before a LaTeX source with characters that pdflatex does not know; they include a warning.

    With these lines, pdflatex prints the code of such a character, unless a package declares the character. lualatex
    and xelatex print the character if their font has it. `names` are the names of systems and metrics, in which the
    characters may occur.
    """
    if is_latin(source):
        return []
    unknown = list(dict.fromkeys(filter(_is_foreign, source)))
    first = next((name for name in names if any(character in name for character in unknown)), None)
    shown = ", ".join(f"{character} (U+{ord(character):04X})" for character in unknown[:_NAMED])
    more = f" and {count(len(unknown) - _NAMED, 'more character')}" if len(unknown) > _NAMED else ""
    where = "" if first is None else f", as in {visible(first)[:80]!r}"
    warning = (
        f"pdflatex cannot print {shown}{more}{where}, and prints the codes (U+{ord(unknown[0]):04X}); compile with "
        "lualatex or xelatex and a font that has them, or rename the system"
    )
    codes = [rf"\detokenize{{{each}}}\endcsname{{\texttt{{U+{ord(each):04X}}}}}" for each in unknown]
    declare = r"\expandafter\providecommand\csname u8:"
    return [f"% warning: {warning}", *(f"{declare}{code}" for code in codes)]


def width(text: str) -> float:
    """Return an upper estimate of the width of a text in points, in Computer Modern at 10 pt."""
    return sum(map(_width, normalize("NFC", text)))


@lru_cache(maxsize=4096)
def _width(character: str) -> float:
    if combining(character):
        return 0.0
    if character in _WIDTHS:
        return _WIDTHS[character]
    if (letter := normalize("NFD", character)[0]) in _WIDTHS:
        return _WIDTHS[letter] + 0.6  # accents are wider than some letters
    return _WIDEST if is_latin(_printed(character)) else _LETTER * len(f"U+{ord(character):04X}")
