"""Phrase structure trees in brackets, one per line: a gold file and one file per system.

An instance is a line. A bracket is the label and the first and last word of a constituent. Both sides are compared as
multisets: a label twice over the same words counts twice; with `unit` "response" it is one response that counts twice.
As in evalb, part-of-speech tags are no brackets, function tags (`NP-SBJ`) are cut off and empty elements (`-NONE-`) are
no words. Roots (`TOP`, `ROOT`, `S1`, no label) are no brackets. Punctuation stays, while evalb's COLLINS.prm leaves it
out. Reference: Black et al. (1991), "A procedure for quantitatively comparing the syntactic coverage of English
grammars".
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigjax.readers.formats import Format, Reading, Sources, looks_like
from sigjax.readers.options import Options, show
from sigjax.readers.responses import all_responses, matches, times_given
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.readers.sources import matching_lines, read_lines
from sigjax.records import InputError

Brackets = Counter[tuple[str, int, int]]
"""(label, first word, word after the last) -> how often."""

ROOT_LABELS = frozenset(("TOP", "ROOT", "S1", ""))
EMPTY_ELEMENT = "-NONE-"
NOTE = "brackets without roots (TOP, ROOT, S1), function tags and empty elements (-NONE-), but with punctuation"
_TOKEN = re.compile(r"[()]|[^\s()]+")
_FUNCTION_TAG = re.compile(r"(?<=.)[-=].*")
_FIRST_TREE = rb"^\s*\(\s*[^\s()]*\s*\([^\n]*\)[ \t\r]*(?:\n|\Z)"


def parse_tree(line: str) -> tuple[list[str], Brackets]:
    """The words and the brackets of a tree; none where the parser failed and wrote `(())` or nothing.

    Raises:
        InputError: the brackets do not match, or a word is in none.

    Example:
        >>> words, brackets = parse_tree("(TOP (S (NP-SBJ (PRP She)) (VP (VBD left))))")
        >>> words, sorted(brackets.elements())
        (['She', 'left'], [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)])
    """
    words: list[str] = []
    closed: list[tuple[str, int, int]] = []
    open_nodes: list[_Node] = []
    labelled = True  # what follows an opening bracket is a label, anything else a word
    for token in _TOKEN.findall(line):
        if token == "(":
            if open_nodes:
                open_nodes[-1].is_tag = False
            open_nodes.append(_Node(len(words)))
            labelled = False
            continue
        if not open_nodes:
            raise InputError(f"expected a tree in brackets, got {show(token)} outside of all brackets")
        if token == ")":
            _close(open_nodes.pop(), words, closed)
        elif labelled:
            words.append(token)
        else:
            open_nodes[-1].label = token
        labelled = True
    if open_nodes:
        raise InputError(f"expected one tree per line, got {len(open_nodes)} opening bracket(s) without a closing one")
    return words, Counter(closed)


class _Node:
    """A constituent that is not closed yet; a part-of-speech tag if it holds one word and no other constituent."""

    __slots__ = ("is_tag", "label", "start")

    def __init__(self, start: int) -> None:
        self.label, self.start, self.is_tag = "", start, True


def _close(node: _Node, words: list[str], closed: list[tuple[str, int, int]]) -> None:
    """Add a constituent to `closed` if it is a bracket; drop the word of an empty element."""
    if node.is_tag and len(words) == node.start + 1:
        if node.label == EMPTY_ELEMENT:
            words.pop()
        return
    if node.start < len(words) and node.label not in ROOT_LABELS:
        closed.append((_FUNCTION_TAG.sub("", node.label), node.start, len(words)))


class _Trees(NamedTuple):
    """The trees of one file."""

    words: list[list[str]]
    """[line]; none where there is no tree."""
    brackets: Counter[tuple[int, int, int, str]]
    """(line, first word, word after the last, label) -> how often."""


def _read_file(file: str, lines: Sequence[str], gold: _Trees | None = None) -> _Trees:
    """The trees of a file, over the words of the gold trees."""
    trees = _Trees([], Counter())
    for i, line in enumerate(lines):
        try:
            words, brackets = parse_tree(line)
            if words and gold is not None:
                _check_words(words, gold.words[i])
        except InputError as error:
            raise InputError(f"{file}, line {i + 1}: {error}") from None
        trees.words.append(words)
        trees.brackets.update({(i, start, end, label): count for (label, start, end), count in brackets.items()})
    return trees


def _check_words(words: list[str], gold: list[str]) -> None:
    if words != gold:
        pairs = zip([*gold, "the end"], [*words, "the end"], strict=False)
        expected, found = next((one, other) for one, other in pairs if one != other)
        raise InputError(f"expected the words of the gold tree, {show(expected)} here, got {show(found)}")


def _read(sources: Sources, options: Options) -> Reading:
    file = sources.gold()
    gold = _read_file(file, read_lines(file))
    if not all(gold.words):
        raise InputError(f"{file}, line {gold.words.index([]) + 1}: expected a tree, got no words")
    files, num_lines = sources.chosen(options), len(gold.words)
    trees = {
        name: _read_file(path, matching_lines(path, gold=file, count=num_lines), gold) for name, path in files.items()
    }
    ids, lines = None, np.arange(num_lines)
    if options.unit == "response":
        responses = all_responses(each.brackets for each in (gold, *trees.values()))
        ids = [f"{line + 1}: {label} {start + 1}-{end}" for line, start, end, label in responses]
        lines = np.array([line for line, *_ in responses], int)
        right = times_given(responses, gold.brackets)
        numbers = {name: matches(times_given(responses, own.brackets), right) for name, own in trees.items()}
    else:
        numbers = {name: _count_lines(own, gold) for name, own in trees.items()}
    sheets = []
    for name, path in files.items():
        absent = np.array([not words for words in trees[name].words])[lines]
        columns = {key: np.where(absent, np.nan, column) for key, column in numbers[name].items()}
        sheets.append(Sheet(name, path, columns, ids=ids))
    return join_sheets(sheets, options, notes=(NOTE,))


def _count_lines(own: _Trees, gold: _Trees) -> dict[str, np.ndarray]:
    """The counts tp, predicted and gold `[line]`."""
    counted = {"tp": own.brackets & gold.brackets, "predicted": own.brackets, "gold": gold.brackets}
    counts = {name: np.zeros(len(gold.words)) for name in counted}
    for name, brackets in counted.items():
        for (line, *_), count in brackets.items():
            counts[name][line] += count
    return counts


TREES = Format(
    "trees",
    "phrase structure trees, one per line",
    "gold",
    _read,
    looks_like(_FIRST_TREE),
    ("fscore", "precision", "recall"),
    frozenset({"unit"}),
)
