"""Tagged tokens of several files: aligned with the gold ones, and counted for each sentence or span (`spans`)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sigjax.metrics import TOKEN_ACCURACY
from sigjax.readers.columns import count_responses
from sigjax.readers.formats import Reading, Sheet, Sources
from sigjax.readers.join import join_sheets
from sigjax.readers.options import Options, chosen_metric, show
from sigjax.readers.tagging.spans import Spans, TagTable, count_spans, find_spans, is_span_tag, tag_table
from sigjax.records import Evaluation, InputError, Match

TAG_METRICS = ("fscore", "precision", "recall", "accuracy")
TAG_OPTIONS = frozenset({"unit", "match"})
_MOST_SPELLINGS = 20
"""Pairs of words that may stand for each other, as in the scorer of HIPE; more are other texts."""
_MANY = 0.1
"""The share of tokens that a file lacks which is worth a warning."""
_MATCHES: dict[Match, str] = {
    "exact": "the same tokens, whatever the type",
    "partial": "the same tokens, and a half for a common token, whatever the type",
    "type": "the same type and a common token, by nervaluate's rule",
    "fuzzy": "the same type and a common token, by the rule of HIPE's scorer",
}
_SPANS, _TOKENS = ("tp", "predicted", "gold"), ("correct", "tokens")


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
    """Read a gold file and one file per system, whose tokens are those of `gold` and pass `checks` (gold, other)."""
    gold = parse(sources.gold(), options)
    systems, notes = {}, []
    for name, file in sources.chosen(options).items():
        tokens = parse(file, options)
        if options.tolerant:
            tokens, note = _with_tokens_of(gold, tokens, name)
            notes += [note] if note else []
        else:
            check_words(gold, tokens, "; --tolerant puts back tokens that a file lacks")
        for check in checks:
            check(gold, tokens)
        systems[name] = tokens
    return partial(evaluate_tags, gold, systems, notes=tuple(notes))


def _with_tokens_of(gold: Tokens, own: Tokens, system: str) -> tuple[Tokens, str]:
    """The tags of a system for all gold tokens, and a note on what was done for it; "" where nothing was."""
    lacking = len(gold.words) - len(own.words)
    different = [pair for pair in zip(own.words, gold.words, strict=False) if pair[0] != pair[1]]
    if lacking < 0 or (not lacking and len(set(different)) > _MOST_SPELLINGS):
        check_words(gold, own)
    if not lacking:
        note = f"{system}: tokens written otherwise than in the gold file: {len(different)}" if different else ""
        return replace(gold, file=own.file, tags=own.tags, lines=own.lines), note
    places = find_places(gold.words, own)
    tags = np.full(len(gold.words), "O", object)
    tags[places] = own.tags
    before = np.searchsorted(places, np.arange(len(tags)), side="right") - 1
    lines = np.asarray(own.lines)[np.maximum(before, 0)]
    many = "warning: " if lacking > len(tags) * _MANY else ""
    note = f"{many}{system}: put back {lacking} of {len(tags)} tokens, which its file lacks, as O"
    return replace(gold, file=own.file, tags=tags.tolist(), lines=lines.tolist()), note


def find_places(gold: Sequence[str], own: Tokens) -> np.ndarray:
    """The places `[token]` of the tokens of a file among more gold ones, with few gaps.

    Each token takes the next free place of its word. Then stretches between two gaps move to the stretch after them
    where the gold words there are the same, too: they were put into what the file lacks.

    Example:
        >>> own = Tokens("f", ["a", "of", "d"], ["O"] * 3, [1, 2, 3], np.array([0]), np.array([0]))
        >>> find_places(["a", "b", "of", "c", "of", "d"], own)
        array([0, 4, 5])
    """
    words, spare = list(gold), len(gold) - len(own.words)
    places, place = [], -1
    for i, word in enumerate(own.words):
        try:
            place = words.index(word, place + 1, i + spare + 1)
        except ValueError:
            raise InputError(
                f"{own.line_of(i)}: token {show(word)} is not among the next gold tokens; --tolerant puts back tokens "
                "that a file lacks, but all others must be the gold ones, in their order"
            ) from None
        places.append(place)
    starts = [i for i, place in enumerate(places) if not i or place > places[i - 1] + 1]
    after = len(places)
    for start in reversed(starts):
        if after < len(places) and places[start]:
            stop = places[after]
            if words[stop - (after - start) : stop] == list(own.words[start:after]):
                places[start:after] = range(stop - (after - start), stop)
        after = start
    return np.array(places)


def evaluate_tags(
    gold: Tokens, systems: Mapping[str, Tokens], options: Options, *, notes: tuple[str, ...] = ()
) -> Evaluation:
    """The evaluation of systems with the tokens of `gold`, counted by its sentences, or by span (`responses`)."""
    codes: dict[str, int] = {}
    encoded = {tokens: encode(tokens.tags, codes) for tokens in (gold, *systems.values())}
    _check_metric(options)
    if options.unit == "response":
        return join_sheets(_span_sheets(gold, systems, encoded, codes), options, notes=notes)(options)
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
            numbers[name] |= count_spans(spans[gold], spans[tokens], gold.sentences, options.match)
    if _TOKENS in kinds:
        sizes = np.diff(gold.sentences, append=len(gold.tags))
        for name, tokens in systems.items():
            right = encoded[tokens] == encoded[gold]
            numbers[name] |= {"correct": np.add.reduceat(right, gold.sentences, dtype=int), "tokens": sizes}
    labels = {} if gold.documents is None else {"document": gold.documents}
    sheets = [Sheet(name, tokens.file, numbers[name], labels) for name, tokens in systems.items()]
    if options.match != "strict":
        notes = (*notes, f"spans match as {_MATCHES[options.match]} (--match {options.match})")
    return join_sheets(sheets, options, notes=notes)(options)


def _check_metric(options: Options) -> None:
    for name, default in (("unit", "instance"), ("match", "strict")):
        chosen = getattr(options, name)
        if options.metric == "accuracy" and chosen != default:
            raise InputError(f"--{name} {chosen}: accuracy is of tokens; use --metric fscore, precision or recall")
    if options.unit == "response" and options.match != "strict":
        raise InputError(
            f"--unit response: with --match {options.match} a span may take the gold span of another; leave one of "
            "them out"
        )


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


def check_words(gold: Tokens, other: Tokens, advice: str = "") -> None:
    """Refuse other tokens than those of `gold`, with advice at the end of the message."""
    first = first_difference(other.words, gold.words)
    if first is not None:
        raise InputError(
            f"{other.line_of(first)}: token {show(other.words[first])}, but {show(gold.words[first])} on line "
            f"{gold.lines[first]} of {gold.file}; expected the same tokens in the same order{advice}"
        )
    if len(other.words) != len(gold.words):
        raise InputError(
            f"{other.file}: has {len(other.words)} tokens, but {gold.file} has {len(gold.words)}; expected the same "
            f"tokens in the same order{advice}"
        )


def first_difference(one: Sequence[str], other: Sequence[str]) -> int | None:
    """Index of the first difference within the shorter sequence."""
    if one == other:
        return None
    return next((i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), None)
