"""Tagged tokens of several files: aligned with the gold ones, and counted for each sentence or span (entity, chunk).

One rule reads IOB1, IOB2, IOE1, IOE2, BIOES, BILOU and BMES, as conlleval does: a token is outside, or in a span of its
type. A span starts where the token before is outside, of another type or in another sentence; at B, S or U; and after
E, L, S or U. So an I after O starts a span, whatever the scheme demands. A span is right when its type, first and last
token are those of a gold span. Reference: Tjong Kim Sang and Buchholz (2000),
"Introduction to the CoNLL-2000 shared task: chunking".
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.metrics import TOKEN_ACCURACY
from sigjax.readers.columns import count_responses
from sigjax.readers.formats import Reading, Sheet, Sources
from sigjax.readers.join import join_sheets
from sigjax.readers.options import Options, chosen_metric, show
from sigjax.records import Evaluation, InputError

TAG_METRICS = ("fscore", "precision", "recall", "accuracy")
OUTSIDE = frozenset(("O", "_", "-"))
_SPANS, _TOKENS = ("tp", "predicted", "gold"), ("correct", "tokens")
_TAG = re.compile(r"([BIESLUM])(?:-(.*))?", re.DOTALL)


class TagTable(NamedTuple):
    """What the tags of a comparison mean."""

    types: np.ndarray
    """[tag] the number of its type; -1 outside."""
    opens: np.ndarray
    """[tag] whether a span starts at it, whatever precedes."""
    closes: np.ndarray
    """[tag] whether a span ends at it, whatever follows."""


class Spans(NamedTuple):
    """The spans of one sequence of tokens, in order."""

    starts: np.ndarray
    """[span] the first token."""
    ends: np.ndarray
    """[span] the token after the last."""
    types: np.ndarray
    """[span] the number of the type."""


def is_span_tag(tag: str) -> bool:
    """Whether a tag is O (or "_" or "-"), or B, I, E, S, L, U or M, alone or with "-" and a type.

    Example:
        >>> [is_span_tag(tag) for tag in ("B-PER", "I", "O", "NN")]
        [True, True, True, False]
    """
    return tag in OUTSIDE or _TAG.fullmatch(tag) is not None


def tag_table(tags: Sequence[str]) -> TagTable:
    """What tags `[tag]` mean, for which `is_span_tag` holds; types are compared as they are written.

    Example:
        >>> tag_table(["O", "B-PER", "I-PER", "S-LOC"]).types
        array([-1,  0,  0,  1])
    """
    parts = [("O", None) if tag in OUTSIDE else (tag[0], tag[2:]) for tag in tags]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(name for _, name in parts if name is not None))}
    return TagTable(
        np.array([-1 if name is None else numbers[name] for _, name in parts], np.int64),
        np.array([prefix in "BSU" for prefix, _ in parts], bool),
        np.array([prefix in "ELSU" for prefix, _ in parts], bool),
    )


def find_spans(codes: np.ndarray, table: TagTable, breaks: np.ndarray) -> Spans:
    """The spans of tokens with the tags `codes` `[token]`; a new sequence starts at each token of `breaks`.

    Example:
        >>> tags = ["O", "B-PER", "I-PER", "I-LOC"]
        >>> spans = find_spans(np.array([3, 1, 2, 2, 0]), tag_table(tags), np.array([0, 3]))
        >>> spans.starts, spans.ends
        (array([0, 1, 3]), array([1, 3, 4]))
    """
    types, opens, closes = (column[codes] for column in table)
    fresh = opens.copy()
    fresh[1:] |= closes[:-1] | (types[1:] != types[:-1])
    fresh[breaks] = True
    inside = types >= 0
    (starts,) = np.nonzero(inside & fresh)
    stops = np.append(np.flatnonzero(~inside | fresh), len(codes))
    return Spans(starts, stops[np.searchsorted(stops, starts, side="right")], types[starts])


def count_spans(gold: Spans, predicted: Spans, sentences: np.ndarray) -> dict[str, np.ndarray]:
    """The counts tp, predicted and gold `[sentence]`; a span belongs to the sentence of its first token.

    `sentences` `[sentence]` are their first tokens, from 0; none is empty.

    Example:
        >>> table, start = tag_table(["O", "B-PER", "I-PER"]), np.array([0])
        >>> gold, guess = (find_spans(np.array(codes), table, start) for codes in ([1, 2, 0, 1], [1, 0, 0, 1]))
        >>> count_spans(gold, guess, start)
        {'tp': array([1]), 'predicted': array([2]), 'gold': array([2])}
    """
    length = max((spans.starts[-1] + 1 for spans in (gold, predicted) if len(spans.starts)), default=0)
    end_of, type_of = np.zeros((2, length), np.int64)
    end_of[gold.starts], type_of[gold.starts] = gold.ends, gold.types
    right = (end_of[predicted.starts] == predicted.ends) & (type_of[predicted.starts] == predicted.types)
    found = {"tp": predicted.starts[right], "predicted": predicted.starts, "gold": gold.starts}
    return {
        name: np.bincount(np.searchsorted(sentences, starts, side="right") - 1, minlength=len(sentences))
        for name, starts in found.items()
    }


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of one file."""

    file: str
    words: Sequence[str]
    """[token], as the tags and lines."""
    tags: Sequence[str]
    lines: Sequence[int]
    sentences: np.ndarray
    """[sentence] its first token; none is empty."""
    breaks: np.ndarray
    """First tokens of the parts that spans stay within: sentences, or longer parts."""
    documents: Sequence[str] | None = None
    """[sentence]; None where the file marks no documents."""

    def line_of(self, i: int) -> str:
        """Where a token is, for messages."""
        return f"{self.file}, line {self.lines[i]}"


def read_tagged(
    parse: Callable[[str, Options], Tokens],
    checks: Sequence[Callable[[Tokens, Tokens], None]],
    sources: Sources,
    options: Options,
) -> Reading:
    """Read a gold file and one file per system, whose tokens must pass `checks` (gold, other)."""
    gold = parse(sources.gold(), options)
    systems = {name: parse(file, options) for name, file in sources.chosen(options).items()}
    for tokens in systems.values():
        for check in checks:
            check(gold, tokens)
    return partial(evaluate_tags, gold, systems)


def evaluate_tags(gold: Tokens, systems: Mapping[str, Tokens], options: Options) -> Evaluation:
    """The evaluation of systems with the tokens of `gold`, counted by its sentences, or by span (`responses`)."""
    codes: dict[str, int] = {}
    encoded = {tokens: encode(tokens.tags, codes) for tokens in (gold, *systems.values())}
    if options.unit == "response":
        if options.metric == "accuracy":
            raise InputError("--unit response: accuracy is of tokens; use --metric fscore, precision or recall")
        return join_sheets(_span_sheets(gold, systems, encoded, codes), options)(options)
    metric = TOKEN_ACCURACY if options.metric == "accuracy" else chosen_metric(options)
    options = replace(options, metric=metric)
    wanted = {*metric.inputs, *(options.counts or {}).values()}
    # Only the numbers asked for are computed: tags that mark no spans still have an accuracy.
    kinds = [kind for kind in (_SPANS, _TOKENS) if wanted & {*kind}] or [_SPANS, _TOKENS]
    numbers: dict[str, dict[str, np.ndarray]] = {name: {} for name in systems}
    if _SPANS in kinds:
        table = _table(codes, encoded)
        spans = {tokens: find_spans(found, table, gold.breaks) for tokens, found in encoded.items()}
        for name, tokens in systems.items():
            numbers[name] |= count_spans(spans[gold], spans[tokens], gold.sentences)
    if _TOKENS in kinds:
        sizes = np.diff(gold.sentences, append=len(gold.tags))
        for name, tokens in systems.items():
            right = encoded[tokens] == encoded[gold]
            numbers[name] |= {"correct": np.add.reduceat(right, gold.sentences, dtype=int), "tokens": sizes}
    labels = {} if gold.documents is None else {"document": gold.documents}
    sheets = [Sheet(name, tokens.file, numbers[name], labels) for name, tokens in systems.items()]
    return join_sheets(sheets, options)(options)


def _span_sheets(
    gold: Tokens, systems: Mapping[str, Tokens], encoded: Mapping[Tokens, np.ndarray], codes: Mapping[str, int]
) -> list[Sheet]:
    """One sheet per system, whose rows are the spans of any system and of `gold`."""
    table = _table(codes, encoded)
    types = dict(zip(table.types.tolist(), (tag[2:] for tag in codes), strict=True))
    spans = {tokens: _counter(find_spans(found, table, gold.breaks), types) for tokens, found in encoded.items()}
    responses, numbers = count_responses(spans[gold], {name: spans[tokens] for name, tokens in systems.items()})
    ids = [f"{gold.lines[start]}-{gold.lines[end - 1]} {name}".rstrip() for start, end, name in responses]
    return [Sheet(name, tokens.file, numbers[name], ids=ids) for name, tokens in systems.items()]


def _counter(spans: Spans, types: Mapping[int, str]) -> Counter[tuple[int, int, str]]:
    """Spans as (first token, token after the last, type)."""
    names = map(types.__getitem__, spans.types.tolist())
    return Counter(zip(spans.starts.tolist(), spans.ends.tolist(), names, strict=True))


def encode(labels: Sequence[str], codes: dict[str, int]) -> np.ndarray:
    """The code of each label `[label]`; labels that are new to `codes` get the next ones.

    Example:
        >>> codes = {"B": 0}
        >>> encode(["O", "B"], codes), codes
        (array([1, 0]), {'B': 0, 'O': 1})
    """
    for label in dict.fromkeys(labels):
        codes.setdefault(label, len(codes))
    return np.fromiter(map(codes.__getitem__, labels), np.int64, len(labels))


def _table(codes: Mapping[str, int], encoded: Mapping[Tokens, np.ndarray]) -> TagTable:
    """What the tags mean; a tag that marks no span is refused with its line."""
    wrong = [code for tag, code in codes.items() if not is_span_tag(tag)]
    for tokens, found in encoded.items() if wrong else ():
        places = np.flatnonzero(np.isin(found, wrong))
        if places.size:
            i = int(places[0])
            raise InputError(
                f"{tokens.line_of(i)}: expected a tag such as B-PER, I-PER or O, got {show(tokens.tags[i])}; "
                "the metric accuracy takes any tags"
            )
    return tag_table(list(codes))


def check_words(gold: Tokens, other: Tokens) -> None:
    """Refuse other tokens than those of `gold`."""
    first = first_difference(other.words, gold.words)
    if first is not None:
        raise InputError(
            f"{other.line_of(first)}: token {show(other.words[first])}, but {show(gold.words[first])} on line "
            f"{gold.lines[first]} of {gold.file}; expected the same tokens in the same order"
        )
    if len(other.words) != len(gold.words):
        raise InputError(
            f"{other.file}: has {len(other.words)} tokens, but {gold.file} has {len(gold.words)}; expected the same "
            "tokens in the same order"
        )


def first_difference(one: Sequence[str], other: Sequence[str]) -> int | None:
    """Index of the first difference within the shorter sequence."""
    if one == other:
        return None
    return next((i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), None)
