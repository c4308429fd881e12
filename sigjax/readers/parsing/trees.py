"""Phrase structure trees in brackets, one a line: a gold file and a file a system.

An instance is a line. A bracket is the label and the first and last word of a constituent; both sides are compared as
multisets, so that a label twice over the same words counts twice; with `unit` "response" it is one response that does.
As evalb does, part-of-speech tags are no brackets, function tags (`NP-SBJ`) are cut off and empty elements (`-NONE-`)
are no words. Roots (`TOP`, `ROOT`, `S1`, no label) are no brackets. Punctuation stays, while evalb's COLLINS.prm leaves
it out. Reference: Black et al. (1991), "A procedure for quantitatively comparing the syntactic coverage of English
grammars".
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sigjax.readers.formats import Format, Reading, Sources, matching_lines, read_lines
from sigjax.readers.options import Options, show
from sigjax.readers.responses import all_responses, matches, times_given
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import InputError

Brackets = Counter[tuple[str, int, int]]
"""(label, first word, word after the last) -> how often."""

ROOT_LABELS = frozenset(("TOP", "ROOT", "S1", ""))
EMPTY_ELEMENT = "-NONE-"
NOTE = "brackets without roots (TOP, ROOT, S1), function tags and empty elements (-NONE-), but with punctuation"
_TOKEN = re.compile(r"[()]|[^\s()]+")
_FUNCTION_TAG = re.compile(r"(?<=.)[-=].*")
_FIRST_TREE = re.compile(rb"\s*\(\s*[^\s()]*\s*\([^\n]*\)[ \t\r]*(?:\n|\Z)")


def parse_tree(line: str) -> tuple[list[str], Brackets]:
    """The words and the brackets of a tree; none where the parser found no tree: `(())` or nothing.

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
        raise InputError(f"expected one tree a line, got {len(open_nodes)} opening bracket(s) without a closing one")
    return words, Counter(closed)


class _Node:
    """A constituent that is not closed yet; a part-of-speech tag where it holds one word and no other constituent."""

    __slots__ = ("is_tag", "label", "start")

    def __init__(self, start: int) -> None:
        self.label, self.start, self.is_tag = "", start, True


def _close(node: _Node, words: list[str], closed: list[tuple[str, int, int]]) -> None:
    """Keep a constituent that is a bracket."""
    if node.is_tag and len(words) == node.start + 1:
        if node.label == EMPTY_ELEMENT:
            words.pop()
        return
    if node.start < len(words) and node.label not in ROOT_LABELS:
        closed.append((_FUNCTION_TAG.sub("", node.label), node.start, len(words)))


def read_trees(sources: Sources, options: Options) -> Reading:
    """The evaluation of parsers by gold trees."""
    file = sources.gold()
    trees = [_read_tree(file, i, line) for i, line in enumerate(read_lines(file))]
    lacking = next((i for i, (words, _) in enumerate(trees) if not words), None)
    if lacking is not None:
        raise InputError(f"{file}, line {lacking + 1}: expected a tree, got no words")
    files, gold = sources.chosen(options), [brackets for _, brackets in trees]
    found = {}
    for name, path in files.items():
        lines = matching_lines(path, gold=file, count=len(trees))
        found[name] = [_read_brackets(path, i, line, trees[i][0]) for i, line in enumerate(lines)]
    if options.unit == "response":
        return join_sheets(_response_sheets(files, gold, found), options, notes=(NOTE,))
    sheets = []
    for name, path in files.items():
        counts = [_count_brackets(own, right) for own, right in zip(found[name], gold, strict=True)]
        columns = np.array(counts, dtype=np.float64).T
        sheets.append(Sheet(name, path, dict(zip(("tp", "predicted", "gold"), columns, strict=True))))
    return join_sheets(sheets, options, notes=(NOTE,))


def _response_sheets(
    files: Mapping[str, str], gold: list[Brackets], found: Mapping[str, list[Brackets | None]]
) -> list[Sheet]:
    """A sheet a system whose rows are distinct brackets; NaN where the system has no tree."""
    truth, sides = _of_lines(gold), {name: _of_lines(own) for name, own in found.items()}
    responses = all_responses((truth, *sides.values()))
    right, lines = times_given(responses, truth), np.array([line for line, *_ in responses], int)
    ids = [f"{line + 1}: {label} {start + 1}-{end}" for line, start, end, label in responses]
    sheets = []
    for name, path in files.items():
        absent = np.array([own is None for own in found[name]])[lines]
        numbers = matches(times_given(responses, sides[name]), right)
        columns = {key: np.where(absent, np.nan, column) for key, column in numbers.items()}
        sheets.append(Sheet(name, path, columns, ids=ids))
    return sheets


def _of_lines(trees: Sequence[Brackets | None]) -> Counter[tuple[int, int, int, str]]:
    """(line, first word, word after the last, label) -> how often."""
    found: Counter[tuple[int, int, int, str]] = Counter()
    for line, brackets in enumerate(trees):
        found.update({(line, start, end, label): count for (label, start, end), count in (brackets or {}).items()})
    return found


def _read_tree(file: str, i: int, line: str) -> tuple[list[str], Brackets]:
    try:
        return parse_tree(line)
    except InputError as error:
        raise InputError(f"{file}, line {i + 1}: {error}") from None


def _read_brackets(file: str, i: int, line: str, gold_words: list[str]) -> Brackets | None:
    """The brackets of a line, whose words are those of the gold tree; None where the system has no tree."""
    words, brackets = _read_tree(file, i, line)
    if not words:
        return None
    if words != gold_words:
        pairs = zip([*gold_words, "the end"], [*words, "the end"], strict=False)
        expected, found = next((one, other) for one, other in pairs if one != other)
        raise InputError(
            f"{file}, line {i + 1}: expected the words of the gold tree, {show(expected)} here, got {show(found)}"
        )
    return brackets


def _count_brackets(own: Brackets | None, gold: Brackets) -> tuple[float, float, float]:
    """(tp, predicted, gold) of a line; NaN where the system has no tree."""
    if own is None:
        return (np.nan, np.nan, np.nan)
    return ((own & gold).total(), own.total(), gold.total())


def _looks_like_trees(name: str, head: bytes) -> bool:
    del name
    return _FIRST_TREE.match(head) is not None


TREES = Format(
    "trees",
    "phrase structure trees, one a line",
    "gold",
    read_trees,
    _looks_like_trees,
    ("fscore", "precision", "recall"),
    frozenset({"unit"}),
)
