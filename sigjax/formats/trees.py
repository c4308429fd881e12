"""Syntax: dependency trees (CoNLL-U) and phrase structure trees, each with a gold file; and the output of evalb.

**CoNLL-U.** Each line has ten columns separated by tabs: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC. An empty
line follows each sentence; comments begin with #. An ID such as 3-4 is a multiword token, whose words follow. An ID
such as 8.1 is an empty node, which is not part of the tree and is left out. As in the CoNLL 2018 shared task, every
tree must have one root and no cycle. Systems may split words and sentences differently from the gold file.

An instance is a gold sentence. A word of a system belongs to the sentence of the gold word that it matches; without a
match, to the sentence that contains its first character. As in the shared task, two words match if they cover the same
characters of the text without blanks. Overlapping multiword tokens of both sides are joined to a stretch of text. Words
within a stretch match by a longest common subsequence of their forms in lower case; words that reach beyond the stretch
do not match.

**Phrase structure trees** are in brackets, one per line. An instance is a line. A bracket is the label, the first word
and the last word of a constituent. Both sides are compared as multisets: if a label occurs twice over the same words,
it counts twice; with `unit` "response" it is one response that counts twice. As in evalb, part-of-speech tags do not
count as brackets, function tags (`NP-SBJ`) are cut off, and empty elements (`-NONE-`) do not count as words. Roots
(`TOP`, `ROOT`, `S1`, no label) do not count as brackets. Unlike with evalb's COLLINS.prm, punctuation is kept.
Reference: Black et al. (1991), "A procedure for quantitatively comparing the syntactic coverage of English grammars".

**evalb** writes a table of sentences with the numbers of matched, gold and system ("test") brackets. As in its summary,
sentences with a Stat. other than 0 (errors, empty parses) are left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np

from sigjax.formats.conll import common_subsequence
from sigjax.formats.logs import InstanceLog, Log, SystemLog
from sigjax.readers.join import Reading, Sheet, Sources, count_responses, join_sheets, matching_lines, read_lines
from sigjax.readers.options import Options, chosen_metric, listing, quote
from sigjax.records import EvaluationRecord, InputError, Line
from sigjax.records.display import shared_length
from sigjax.run.files import decode_text, naming, read_bytes, read_text

ROOT = -1
"""Stands for the head of a root, which has no head."""
_BLANKS = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_WHOLE_NUMBERS = re.compile(r"(?:[0-9]{1,9}\t)*")
_COLUMNS = 10
_UNIVERSAL = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect "
    "Voice Evident Polarity Person Polite".split()
)
"""The universal features. The shared task compares only these; all other features belong to single languages."""
_CONTENT = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod acl amod "
    "conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
_FUNCTIONAL = frozenset("aux cop mark det clf case cc".split())


@dataclass(frozen=True, eq=False)
class Treebank:
    """The words and trees of a file; all attributes but `file` and `text` are `[word]`.

    `text` has the characters of all tokens, without blanks. `starts` and `ends` are the positions of a word's token in
    `text`; the words of a multiword token have the same positions. `features` are the universal features of FEATS,
    sorted. `relations` are DEPREL up to the colon. `content` and `functional` are masks of words with content
    relations, and with functional relations (except roots). `heads` are word indices or `ROOT`. `sentences` count from
    0, `lines` from 1.
    """

    file: str
    text: str
    starts: np.ndarray
    ends: np.ndarray
    multiword: np.ndarray
    forms: Sequence[str]
    lemmas: np.ndarray
    upos: np.ndarray
    xpos: np.ndarray
    features: np.ndarray
    relations: np.ndarray
    content: np.ndarray
    functional: np.ndarray
    heads: np.ndarray
    sentences: np.ndarray
    lines: np.ndarray


@dataclass(frozen=True, eq=False)
class _Rows:
    """The columns of all lines that are neither comments nor empty."""

    file: str
    lines: np.ndarray
    sentences: np.ndarray
    ids: list[str]
    forms: list[str]
    cells: list[str]

    def refuse(self, row: SupportsIndex, reason: str) -> InputError:
        return InputError(f"{Line(self.file, self.lines[row])}: {reason}")

    def check(self, words: np.ndarray, wrong: np.ndarray, reason: Callable[[int], str]) -> None:
        """Raise an error for the first word that is marked in `wrong` `[word]`, if any.

        `words` `[word]` are the rows of the words. `reason` returns the reason for a word.
        """
        if wrong.any():
            i = int(wrong.argmax())
            raise self.refuse(words[i], reason(i))


def parse_conllu(file: str, data: bytes) -> Treebank:
    """Parse data in CoNLL-U to words and trees."""
    rows = _split_rows(file, decode_text(file, data).split("\n"))
    ranges, empty = (np.array([mark in id for id in rows.ids], dtype=bool) for mark in "-.")
    words = np.flatnonzero(~(ranges | empty))
    if not words.size:
        raise InputError(f"{file}: has no words; expected CoNLL-U")
    first = _first_words(rows, words)
    covered = _covered_words(rows, words, first, np.flatnonzero(ranges))
    is_token = ranges.copy()
    is_token[words[~covered]] = True
    tokens = np.flatnonzero(is_token)
    forms = _clean_forms(rows, tokens)
    ends = np.cumsum([len(form) for form in forms])
    token_of = (np.cumsum(is_token) - 1)[words]  # the words of a range follow directly
    sentences, heads = rows.sentences[words], _heads(rows, words, first)
    relations = [cell.partition(":")[0] for cell in _column(rows, 7, words)]
    return Treebank(
        file=file,
        text="".join(forms),
        starts=np.append(0, ends)[token_of],
        ends=ends[token_of],
        multiword=covered,
        forms=[rows.forms[row] for row in words],
        lemmas=_column(rows, 2, words),
        upos=_column(rows, 3, words),
        xpos=_column(rows, 4, words),
        features=_universal(_column(rows, 5, words)),
        relations=np.array(relations, dtype=object),
        content=np.array([each in _CONTENT for each in relations]),
        functional=np.array([each in _FUNCTIONAL for each in relations]) & (heads != ROOT),
        heads=heads,
        sentences=sentences,
        lines=rows.lines[words],
    )


def _split_rows(file: str, lines: list[str]) -> _Rows:
    """Split lines into rows with ten columns, and number the sentences."""
    places = [i for i, line in enumerate(lines) if line and line[0] != "#"]
    for i in places:
        if lines[i].count("\t") != _COLUMNS - 1:
            found = lines[i].count("\t") + 1
            raise InputError(f"{Line(file, i + 1)}: expected {_COLUMNS} columns between tabs, got {found}")
    empty = [i for i, line in enumerate(lines) if not line]
    cells = "\t".join([lines[i] for i in places]).split("\t") if places else []
    _, sentences = np.unique(np.searchsorted(np.array(empty, int), places), return_inverse=True)
    return _Rows(file, np.array(places, int) + 1, sentences, cells[0::_COLUMNS], cells[1::_COLUMNS], cells)


def _column(rows: _Rows, number: int, words: np.ndarray) -> np.ndarray:
    """Return the cells `[word]` of the column with this number, from 0. `words` `[word]` are the rows of the words."""
    return np.array(rows.cells[number::_COLUMNS], dtype=object)[words]


def _universal(cells: np.ndarray) -> np.ndarray:
    """Return the universal features `[word]` in cells such as Number=Sing|Typo=Yes."""
    kept = {
        cell: "|".join(sorted(each for each in cell.split("|") if each.partition("=")[0] in _UNIVERSAL))
        for cell in set(cells)
    }
    return np.array([kept[cell] for cell in cells], dtype=object)


def _whole_numbers(rows: _Rows, words: np.ndarray, cells: Sequence[str], name: str) -> np.ndarray:
    """Convert cells `[word]` to integers; raise an error for anything else, with the column's `name`.

    `words` `[word]` are the rows of the words.
    """
    if not _WHOLE_NUMBERS.fullmatch("\t".join([*cells, ""])):
        wrong = next(i for i, cell in enumerate(cells) if not _WHOLE_NUMBERS.fullmatch(cell + "\t"))
        raise rows.refuse(words[wrong], f"expected a whole number as {name}, got {quote(cells[wrong])}")
    return np.fromiter(map(int, cells), np.int64, len(cells))


def _first_words(rows: _Rows, words: np.ndarray) -> np.ndarray:
    """Return the index of the first word of each word's sentence, `[word]`.

    Raise an error if the IDs do not count from 1 in each sentence. `words` `[word]` are the rows of the words.
    """
    numbers = _whole_numbers(rows, words, [rows.ids[row] for row in words], "ID")
    sentences = rows.sentences[words]
    first = np.searchsorted(sentences, sentences)
    expected = np.arange(len(words)) - first + 1
    reason = "expected the ID {}, got {}; an empty line ends a sentence"
    rows.check(words, numbers != expected, lambda i: reason.format(expected[i], numbers[i]))
    return first


def _covered_words(rows: _Rows, words: np.ndarray, first: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Return a mask `[word]` of the words that are part of a multiword token.

    `words` and `ranges` are the rows of words and of multiword tokens. `first` `[word]` is the index of the first word
    of the word's sentence.
    """
    covered = np.zeros(len(words), bool)
    sentences = rows.sentences[words]
    for row in ranges:
        match = _RANGE.fullmatch(rows.ids[row])
        low, high = map(int, match.groups()) if match else (1, 0)
        following = int(np.searchsorted(words, row))
        beyond = following + high - low
        within = low <= high and beyond < len(words) and sentences[beyond] == rows.sentences[row]
        if not within or covered[following] or following - first[following] + 1 != low:
            expected = "a range of the words that follow, such as 3-4, in no other range"
            raise rows.refuse(row, f"expected {expected}, got {quote(rows.ids[row])}")
        covered[following : beyond + 1] = True
    return covered


def _clean_forms(rows: _Rows, tokens: np.ndarray) -> list[str]:
    """Return the FORM of each token without blanks, because the blanks of the gold file and of a system may differ."""
    forms = [rows.forms[row] for row in tokens]
    if _BLANKS.search("".join(forms)):
        forms = [_BLANKS.sub("", form) for form in forms]
    if not all(forms):
        raise rows.refuse(tokens[forms.index("")], "expected a FORM, got nothing")
    return forms


def _heads(rows: _Rows, words: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the index of each word's head (or `ROOT`), `[word]`; raise an error for sentences that are not trees.

    `words` `[word]` are the rows of the words, and `first` `[word]` is the index of the first word of the sentence.
    """
    heads = _whole_numbers(rows, words, _column(rows, 6, words).tolist(), "HEAD")
    sentences = rows.sentences[words]
    sizes = np.bincount(sentences)[sentences]
    beyond = "HEAD {} is beyond the sentence, which has {} words"
    rows.check(words, heads > sizes, lambda i: beyond.format(heads[i], sizes[i]))
    found = np.where(heads == 0, ROOT, first + heads - 1)
    roots = np.bincount(sentences, weights=found == ROOT)[sentences]
    rows.check(words, roots != 1, lambda i: f"the sentence has {roots[i]:.0f} roots; expected one word with HEAD 0")
    above = np.append(found, ROOT)  # the head of the root is again the root
    for _ in range(int(sizes.max()).bit_length()):
        above = above[above]
    rows.check(words, above[:-1] != ROOT, lambda _: "the heads lead around in a circle; expected a tree")
    return found


_OF_CONTENT = frozenset(("clas", "mlas", "blex"))
_COMMENT = re.compile(r"#\s*(?:(sent_id)\s*=|(newdoc)\b(?:\s+id\s*=)?)\s*(.*)")
_EXCERPT = 20
"""A message shows this many characters of a text that differs."""
UNMATCHED = -2
"""Stands for the match of a word without a match. It differs from `ROOT`, so that an unmatched head is never right."""


def count_words(gold: Treebank, system: Treebank) -> dict[str, np.ndarray]:
    """Return counts `[gold sentence]`: right words for each metric, all words, and all words with content relations."""
    if system.text != gold.text:
        raise _different_text(gold, system)
    found = match_words(gold, system)
    own = np.flatnonzero(found != UNMATCHED)
    of_character = np.searchsorted(gold.starts, system.starts, side="right") - 1
    sentences = gold.sentences[np.where(found == UNMATCHED, of_character, found)]
    counted = {name: sentences[own[right]] for name, right in _right_words(gold, system, found, own).items()}
    counted |= {"predicted": sentences, "gold": gold.sentences}
    counted |= {"content_predicted": sentences[system.content], "content_gold": gold.sentences[gold.content]}
    size = int(gold.sentences[-1]) + 1
    return {name: np.bincount(each, minlength=size).astype(np.float64) for name, each in counted.items()}


def _right_words(gold: Treebank, system: Treebank, matches: np.ndarray, matched: np.ndarray) -> dict[str, np.ndarray]:
    """Return for each metric a mask of the right words among the `matched` words of the system.

    `matches` `[system word]` has the gold word of each word of the system.
    """
    other = matches[matched]

    def same(name: str) -> np.ndarray:
        return (getattr(system, name)[matched] == getattr(gold, name)[other]).astype(bool)

    head = np.append(matches, ROOT)[system.heads[matched]] == gold.heads[other]
    labelled = head & same("relations")
    upos, xpos, features = map(same, ("upos", "xpos", "features"))
    lemma = same("lemmas") | (gold.lemmas[other] == "_")  # if the gold lemma is _, any lemma is right
    content, tagged = labelled & gold.content[other], labelled & upos & features
    # All function words of a word are right if the number of right function words equals the number of its function
    # words in the system and in the gold file.
    right = _children(system, matched[tagged & gold.functional[other]])[matched]
    complete = right == _children(system, np.flatnonzero(system.functional))[matched]
    complete &= right == _children(gold, np.flatnonzero(gold.functional))[other]
    return {
        "las": labelled,
        "uas": head,
        "upos": upos,
        "xpos": xpos,
        "ufeats": features,
        "alltags": upos & xpos & features,
        "lemmas": lemma,
        "clas": content,
        "mlas": content & tagged & complete,
        "blex": content & lemma,
    }


def _children(side: Treebank, words: np.ndarray) -> np.ndarray:
    """Return for each word how many of `words` have it as their head, `[word]`."""
    return np.bincount(side.heads[words], minlength=len(side.heads))


def match_words(gold: Treebank, system: Treebank) -> np.ndarray:
    """Return for each system word, `[system word]`, the index of its gold word, or `UNMATCHED`.

    `gold` and `system` must have the same text.
    """
    matched = np.full(len(system.starts), UNMATCHED)
    stretches = _stretches(gold, system)
    plain_gold, plain_system = (np.flatnonzero(~_overlapping_words(side, stretches)) for side in (gold, system))
    length = len(gold.text) + 1
    keys = [side.starts[i] * length + side.ends[i] for side, i in ((gold, plain_gold), (system, plain_system))]
    _, at_gold, at_system = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    matched[plain_system[at_system]] = plain_gold[at_gold]
    for start, end in stretches.tolist():
        own, other = _words_inside(gold, start, end), _words_inside(system, start, end)
        if not (own and other):
            continue
        with naming(f"{Line(system.file, system.lines[other[0]])}"):
            left, right = ([side.forms[i].lower() for i in words] for side, words in ((gold, own), (system, other)))
            pairs = common_subsequence(left, right)
        for i, j in pairs:
            matched[other[j]] = own[i]
    return matched


def _stretches(gold: Treebank, system: Treebank) -> np.ndarray:
    """Return the stretches of text that the multiword tokens of both sides cover: start and end, `[stretch, 2]`.

    Overlapping tokens are joined to one stretch.
    """
    sides = [np.stack([side.starts, side.ends], axis=-1)[side.multiword] for side in (gold, system)]
    spans = np.unique(np.concatenate(sides), axis=0)
    if not len(spans):
        return spans
    reach = np.maximum.accumulate(spans[:, 1])
    fresh = np.append(True, spans[1:, 0] >= reach[:-1])
    last = np.append(np.flatnonzero(fresh)[1:] - 1, len(spans) - 1)
    return np.stack([spans[fresh, 0], reach[last]], axis=-1)


def _overlapping_words(side: Treebank, stretches: np.ndarray) -> np.ndarray:
    """Return a mask `[word]` of the words that share a character with a stretch of text.

    `stretches` `[stretch, 2]` are the starts and ends.
    """
    before = np.searchsorted(stretches[:, 0], side.ends)
    return np.append(0, stretches[:, 1])[before] > side.starts


def _words_inside(side: Treebank, start: int, end: int) -> range:
    """Return the words that lie completely between two positions of the text."""
    return range(int(np.searchsorted(side.starts, start)), int(np.searchsorted(side.ends, end, side="right")))


def _different_text(gold: Treebank, system: Treebank) -> InputError:
    place = shared_length([gold.text, system.text])
    lines = [side.lines[max(int(np.searchsorted(side.starts, place, side="right")) - 1, 0)] for side in (gold, system)]
    texts = [quote(side.text[place : place + _EXCERPT]) for side in (gold, system)]
    got = f"got {texts[1]}" if place < len(system.text) else "and here the file ends"
    return InputError(
        f"{Line(system.file, lines[1])}: the text is not that of {gold.file}, line {lines[0]}: expected {texts[0]}, "
        f"{got} (blanks left out); both must be of the same raw text"
    )


def _sentence_names(text: str, num_sentences: int) -> tuple[list[str] | None, list[str] | None]:
    """Return two lists `[sentence]`: ids from `# sent_id`, and documents from `# newdoc id`.

    The ids are None if two ids are equal or an id is missing. The documents are None if there are none.
    """
    ids, documents = [""] * num_sentences, [""] * num_sentences
    document, number, rows, num_documents = "", 0, 0, 0
    for line in text.split("\n"):
        if line.startswith("#"):
            match = _COMMENT.match(line)
            if match and match[1]:
                ids[min(number, num_sentences - 1)] = match[3].strip()
            elif match:
                num_documents += 1
                document = match[3].strip() or str(num_documents)
        elif line:
            rows += 1
            documents[number] = document
        elif rows:
            number, rows = number + 1, 0
    unique = all(ids) and len(set(ids)) == num_sentences
    return ids if unique else None, documents if num_documents else None


def read_dependencies(sources: Sources, options: Options) -> Reading:
    """Read CoNLL-U files, and count the right words of each sentence for each metric."""
    file = sources.gold()
    data = read_bytes(file)
    gold = parse_conllu(file, data)
    ids, documents = _sentence_names(decode_text(file, data), int(gold.sentences[-1]) + 1)
    files = sources.chosen(options)
    counts = {name: count_words(gold, parse_conllu(path, read_bytes(path))) for name, path in files.items()}
    labels = {} if documents is None else {"document": documents}

    def evaluate(options: Options) -> EvaluationRecord:
        name = chosen_metric(options).name
        right = name if name in next(iter(counts.values())) else "las"
        sheets = [
            Sheet(system, files[system], _columns(own, right), labels=labels, ids=ids) for system, own in counts.items()
        ]
        return join_sheets(sheets, options)(options)

    return evaluate


def _columns(counts: dict[str, np.ndarray], metric: str) -> dict[str, np.ndarray]:
    """Return all counts, and the counts of one metric also under the names tp, predicted and gold."""
    total = "content_" if metric in _OF_CONTENT else ""
    own = {"tp": metric, "predicted": f"{total}predicted", "gold": f"{total}gold"}
    return counts | {name: counts[key] for name, key in own.items()}


Brackets = Counter[tuple[str, int, int]]
"""How often each bracket of a tree occurs: (label, first word, word after the last word) -> number."""

ROOT_LABELS = frozenset(("TOP", "ROOT", "S1", ""))
EMPTY_ELEMENT = "-NONE-"
NOTE = "brackets without roots (TOP, ROOT, S1), function tags and empty elements (-NONE-), but with punctuation"
_TOKEN = re.compile(r"[()]|[^\s()]+")
_FUNCTION_TAG = re.compile(r"(?<=.)[-=].*")


def parse_tree(line: str) -> tuple[list[str], Brackets]:
    """Return the words and brackets of a tree; both are empty if the parser failed and wrote `(())` or nothing.

    >>> words, brackets = parse_tree("(TOP (S (NP-SBJ (PRP She)) (VP (VBD left))))")
    >>> words, sorted(brackets.elements())
    (['She', 'left'], [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)])
    """
    words: list[str] = []
    closed: list[tuple[str, int, int]] = []
    labels, starts = list[str](), list[int]()  # of the open brackets
    # `named`: the label of the last open bracket was read. `innermost`: no bracket was closed since the last opening
    # bracket.
    named, innermost = True, False
    for token in _TOKEN.findall(line):
        if token == "(":
            labels.append("")
            starts.append(len(words))
            named, innermost = False, True
            continue
        if not starts:
            raise InputError(f"expected a tree in brackets, got {quote(token)} outside of all brackets")
        if token == ")":
            label, start = labels.pop(), starts.pop()
            if innermost and len(words) == start + 1:  # a part-of-speech tag
                if label == EMPTY_ELEMENT:
                    words.pop()
            elif start < len(words) and label not in ROOT_LABELS:
                closed.append((_FUNCTION_TAG.sub("", label), start, len(words)))
            innermost = False
        elif named:
            words.append(token)
        else:
            labels[-1] = token
        named = True
    if starts:
        raise InputError(f"expected one tree per line, got {len(starts)} opening bracket(s) without a closing one")
    return words, Counter(closed)


LineBrackets = Counter[tuple[int, int, int, str]]
"""How often each bracket of a file occurs: (line, first word, word after the last word, label) -> number."""


def _read_file(file: str, lines: Sequence[str], gold: Sequence[list[str]] = ()) -> tuple[list[list[str]], LineBrackets]:
    """Return the words `[line]` and the brackets of a file's trees; a line may have no tree.

    If `gold` is given (the words of each line), the words must be equal to it.
    """
    words_of, found = list[list[str]](), LineBrackets()
    for i, line in enumerate(lines):
        with naming(f"{Line(file, i + 1)}"):
            words, brackets = parse_tree(line)
            if words and gold:
                _check_words(words, gold[i])
        words_of.append(words)
        found.update({(i, start, end, label): count for (label, start, end), count in brackets.items()})
    return words_of, found


def _check_words(words: list[str], gold: list[str]) -> None:
    if words != gold:
        pairs = zip([*gold, "the end"], [*words, "the end"], strict=False)
        expected, found = next((one, other) for one, other in pairs if one != other)
        raise InputError(f"expected the words of the gold tree, {quote(expected)} here, got {quote(found)}")


def read_trees(sources: Sources, options: Options) -> Reading:
    """Read trees, and count right, predicted and gold brackets of each system."""
    file = sources.gold()
    gold_words, gold = _read_file(file, read_lines(file))
    if not all(gold_words):
        raise InputError(f"{Line(file, gold_words.index([]) + 1)}: expected a tree, got no words")
    files, num_lines = sources.chosen(options), len(gold_words)
    words, brackets = dict[str, list[list[str]]](), dict[str, LineBrackets]()
    for name, path in files.items():
        lines = matching_lines(path, gold=file, count=num_lines)
        words[name], brackets[name] = _read_file(path, lines, gold_words)
    ids, rows = None, np.arange(num_lines)
    if options.unit == "response":
        responses, numbers = count_responses(gold, brackets)
        ids = [f"{line + 1}: {label} {start + 1}-{end}" for line, start, end, label in responses]
        rows = np.array([line for line, *_ in responses], int)
    else:
        numbers = {name: _count_lines(own, gold, num_lines) for name, own in brackets.items()}
    sheets = []
    for name, path in files.items():
        absent = np.array([not own for own in words[name]])[rows]
        columns = {key: np.where(absent, np.nan, column) for key, column in numbers[name].items()}
        sheets.append(Sheet(name, path, columns, ids=ids))
    return join_sheets(sheets, options, notes=(NOTE,))


def _count_lines(system: LineBrackets, gold: LineBrackets, num_lines: int) -> dict[str, np.ndarray]:
    counted = {"tp": system & gold, "predicted": system, "gold": gold}
    rows = {name: np.array([line for line, *_ in brackets.elements()], int) for name, brackets in counted.items()}
    return {name: np.bincount(own, minlength=num_lines).astype(float) for name, own in rows.items()}


_HEADER = re.compile(r"\s*ID\s+Len\.\s+Stat\.\s+Recal\s+Prec\.")
_ROW = re.compile(
    r"\s*(?P<id>\d{1,9})\s+\d+\s+(?P<stat>\d)\s+[\d.]+\s+[\d.]+"
    r"\s+(?P<tp>\d{1,9})\s+(?P<gold>\d{1,9})\s+(?P<predicted>\d{1,9})(?:\s+[\d.]+){4}\s*",
    re.ASCII,
)
_MESSAGE = re.compile(r"\s*\d+\s*:\s")
"""Pattern of the error messages of evalb, such as `12 : Length unmatch (4|5)`, which may stand between the rows of its
table."""


def _evalb(file: str, _: Options) -> list[SystemLog]:
    """Read the counts of brackets that evalb printed for each sentence."""
    rows, left_out = list[InstanceLog](), list[str]()
    for line, row in _table(file):
        if row["stat"] != "0":
            left_out.append(row["id"])
            continue
        counts = {name: float(row[name]) for name in ("tp", "predicted", "gold")}
        if counts["tp"] > min(counts["predicted"], counts["gold"]):
            raise InputError(f"{Line(file, line)}: {row['tp']} matched brackets are more than there are")
        rows.append(InstanceLog(counts, row["id"], content=row["gold"]))
    sentences = f"left out {len(left_out)} sentence{'s' * (len(left_out) > 1)} with a Stat. other than 0"
    notes = (f"{file}: {sentences}, as evalb does: {listing(left_out)}",) if left_out else ()
    return [SystemLog(file, rows, notes=notes)]


def _table(file: str) -> list[tuple[int, re.Match[str]]]:
    """Return (line number, match) for each row between the two lines of ====."""
    lines = read_text(file).split("\n")
    header = next((i for i, line in enumerate(lines) if _HEADER.match(line)), None)
    if header is None:
        raise InputError(f"{file}: has no line 'ID Len. Stat. Recal Prec. ...'; expected the output of evalb")
    rows = []
    for i in range(header + 1, len(lines)):
        match = _ROW.fullmatch(lines[i])
        if match:
            rows.append((i + 1, match))
        elif lines[i].startswith("===") and i > header + 1:
            return rows
        elif lines[i].strip() and not lines[i].startswith("===") and not _MESSAGE.match(lines[i]):
            raise InputError(
                f"{Line(file, i + 1)}: expected a row of evalb's table (12 numbers), got {quote(lines[i])}"
            )
    raise InputError(f"{file}: the table has no end (a line of ====); evalb was stopped, or the file is cut off")


EVALB = Log(results=_evalb, content="number of gold brackets")
