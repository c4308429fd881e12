"""Term lists: gold terms, and the terms that each system found, one a line, as sets.

What `art.py -r -c GOLD` of CLiPS takes. An instance is a term of any list, and what a system says of it is whether it
is one: 0 or 1. So terms are swapped one by one whatever the `unit`; "response" also says that they are no sample.
"""

import numpy as np

from sigjax.readers.formats import Format, Reading, Sources, read_lines
from sigjax.readers.options import Options
from sigjax.readers.sheets import Sheet, join_sheets


def read_terms(sources: Sources, options: Options) -> Reading:
    """The evaluation of term lists by a list of the right terms."""
    files = sources.chosen(options)
    gold, *found = lists = [_term_list(file) for file in (sources.gold(), *files.values())]
    notes = [
        note for name, each in zip(("the gold list", *files), lists, strict=True) if (note := _repeats(name, each))
    ]
    terms = list(dict.fromkeys(term for each in lists for term in each))
    right = _membership(terms, gold)
    sheets = []
    for (name, file), own in zip(files.items(), found, strict=True):
        returned = _membership(terms, own)
        sheets.append(Sheet(name, file, {"tp": returned * right, "predicted": returned, "gold": right}, ids=terms))
    return join_sheets(sheets, options, notes=tuple(notes))


def _term_list(file: str) -> list[str]:
    """The terms of a file, without blanks around them."""
    return [term for line in read_lines(file) if (term := line.strip())]


def _repeats(name: str, terms: list[str]) -> str:
    """A note where terms are repeated."""
    count = len(terms) - len(set(terms))
    return f"{name}: {count} of {len(terms)} lines repeat a term, which counts once" if count else ""


def _membership(terms: list[str], own: list[str]) -> np.ndarray:
    """1 for each term `[term]` that is in a list, else 0."""
    members = frozenset(own)
    return np.array([term in members for term in terms], dtype=np.float64)


TERMS = Format(
    "terms",
    "term lists",
    "gold",
    read_terms,
    lambda name, head: name.endswith(".terms"),
    ("fscore", "precision", "recall"),
    frozenset({"unit"}),
)
