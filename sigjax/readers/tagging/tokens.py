"""Tagged tokens of several files: aligned with the gold ones, and counted for each sentence or span."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigjax.metrics import TOKEN_ACCURACY
from sigjax.metrics.spans import Spans, TagTable, count_spans, find_spans, is_span_tag, tag_table
from sigjax.readers.options import Options, chosen_metric, select_systems, show
from sigjax.readers.responses import all_responses, matches, times_given
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

TAG_METRICS = ("fscore", "precision", "recall", "accuracy")
_SPANS, _TOKENS = ("tp", "predicted", "gold"), ("correct", "tokens")


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of one file."""

    file: str
    words: Sequence[str]
    """[token]."""
    tags: Sequence[str]
    """[token]."""
    lines: Sequence[int]
    """[token]."""
    sentences: np.ndarray
    """[sentence] its first token; none is empty."""
    breaks: np.ndarray
    """The tokens over which no span goes: the first ones of sentences, or of longer parts."""
    documents: Sequence[str] | None = None
    """[sentence]; None where the file tells no documents."""


def evaluate_tags(gold: Tokens, systems: Mapping[str, Tokens], options: Options) -> Evaluation:
    """The evaluation of systems whose tokens are those of `gold` (see `check_words`), counted by sentence of `gold`.

    With `unit` "response" it is counted by span, see `responses`.
    """
    if options.unit == "response":
        return _evaluate_spans(gold, systems, options)
    metric = TOKEN_ACCURACY if options.metric == "accuracy" else chosen_metric(options)
    options = replace(options, metric=metric)
    codes: dict[str, int] = {}
    encoded = {name: encode(tokens.tags, codes) for name, tokens in systems.items()}
    truth = encode(gold.tags, codes)
    wanted = {*metric.inputs, *(options.counts or {}).values()}
    # Numbers that nobody asks for are not computed: words that are no spans still have an accuracy.
    kinds = [kind for kind in (_SPANS, _TOKENS) if wanted & {*kind}] or [_SPANS, _TOKENS]
    numbers: dict[str, dict[str, np.ndarray]] = {name: {} for name in systems}
    if _SPANS in kinds:
        table = _table(codes, {gold: truth} | {systems[name]: found for name, found in encoded.items()})
        entities = find_spans(truth, table, gold.breaks)
        for name, found in encoded.items():
            numbers[name] |= count_spans(entities, find_spans(found, table, gold.breaks), gold.sentences)
    if _TOKENS in kinds:
        sizes = np.diff(gold.sentences, append=len(truth))
        for name, found in encoded.items():
            numbers[name] |= {"correct": np.add.reduceat(found == truth, gold.sentences, dtype=int), "tokens": sizes}
    labels = {} if gold.documents is None else {"document": gold.documents}
    sheets = [Sheet(name, tokens.file, numbers[name], labels) for name, tokens in systems.items()]
    return join_sheets(sheets, options)(options)


def _evaluate_spans(gold: Tokens, systems: Mapping[str, Tokens], options: Options) -> Evaluation:
    """The evaluation whose instances are the spans of the systems asked for and of `gold`."""
    if options.metric == "accuracy":
        raise InputError(
            "--unit response: accuracy is of tokens, which are no responses; use --metric fscore, precision or recall"
        )
    names = select_systems(gold.file, list(systems), options.systems)
    codes: dict[str, int] = {}
    sides = [gold, *(systems[name] for name in names)]
    encoded = {side: encode(side.tags, codes) for side in sides}
    table = _table(codes, encoded)
    types = dict(zip(table.types.tolist(), (tag[2:] for tag in codes), strict=True))
    truth, *found = (_span_counter(find_spans(encoded[side], table, gold.breaks), types) for side in sides)
    responses = all_responses((truth, *found))
    right = times_given(responses, truth)
    ids = [f"{gold.lines[start]}-{gold.lines[end - 1]} {name}".rstrip() for start, end, name in responses]
    sheets = [
        Sheet(name, systems[name].file, matches(times_given(responses, own), right), ids=ids)
        for name, own in zip(names, found, strict=True)
    ]
    return join_sheets(sheets, options)(options)


def _span_counter(spans: Spans, types: Mapping[int, str]) -> Counter[tuple[int, int, str]]:
    """Spans as (first token, token after the last, type)."""
    names = map(types.__getitem__, spans.types.tolist())
    return Counter(zip(spans.starts.tolist(), spans.ends.tolist(), names, strict=True))


def encode(labels: Sequence[str], codes: dict[str, int]) -> np.ndarray:
    """The number of each label `[label]`; labels that are new to `codes` get the next ones.

    Example:
        >>> codes = {"B": 0}
        >>> encode(["O", "B"], codes), codes
        (array([1, 0]), {'B': 0, 'O': 1})
    """
    for label in dict.fromkeys(labels):
        codes.setdefault(label, len(codes))
    return np.fromiter(map(codes.__getitem__, labels), np.int64, len(labels))


def check_words(gold: Tokens, other: Tokens) -> None:
    """Refuse tokens that are not those of `gold`."""
    if list(other.words) == list(gold.words):
        return
    pairs = zip(other.words, gold.words, strict=False)
    first = next((i for i, (word, expected) in enumerate(pairs) if word != expected), None)
    if first is None:
        raise InputError(
            f"{other.file}: has {len(other.words)} tokens, but {gold.file} has {len(gold.words)}; expected the same "
            "tokens in the same order"
        )
    raise InputError(
        f"{_place(other, first)}: token {show(other.words[first])}, but {show(gold.words[first])} on line "
        f"{gold.lines[first]} of {gold.file}; expected the same tokens in the same order"
    )


def check_sentences(gold: Tokens, other: Tokens) -> None:
    """Refuse sentences that are not those of `gold`, of files with the same tokens."""
    (different,) = np.nonzero(_marked(other) != _marked(gold))
    if different.size:
        first = int(different[0])
        does, expected = ("starts", "does not") if first in other.sentences else ("does not start", "does")
        raise InputError(
            f"{_place(other, first)}: a sentence {does} here, but in {gold.file} it {expected} (line "
            f"{gold.lines[first]}); expected empty lines at the same places"
        )


def check_tags(gold: Tokens, other: Tokens) -> None:
    """Refuse gold tags that are not those of the first file, of files with the same tokens."""
    if list(other.tags) == list(gold.tags):
        return
    first = next(i for i, (tag, expected) in enumerate(zip(other.tags, gold.tags, strict=True)) if tag != expected)
    raise InputError(
        f"{_place(other, first)}: gold tag {show(other.tags[first])}, but {show(gold.tags[first])} on line "
        f"{gold.lines[first]} of {gold.file}; expected the gold tags in the last but one column of every file"
    )


def _marked(tokens: Tokens) -> np.ndarray:
    """Whether a sentence starts at each token."""
    marked = np.zeros(len(tokens.words), bool)
    marked[tokens.sentences] = True
    return marked


def _table(codes: Mapping[str, int], encoded: Mapping[Tokens, np.ndarray]) -> TagTable:
    """What the tags mean; the first that marks no span is refused with its place."""
    wrong = [code for tag, code in codes.items() if not is_span_tag(tag)]
    for tokens, found in encoded.items() if wrong else ():
        places = np.flatnonzero(np.isin(found, wrong))
        if places.size:
            i = int(places[0])
            raise InputError(
                f"{_place(tokens, i)}: expected a tag such as B-PER, I-PER or O, got {show(tokens.tags[i])}; "
                "the metric accuracy takes any tags"
            )
    return tag_table(list(codes))


def _place(tokens: Tokens, i: int) -> str:
    return f"{tokens.file}, line {tokens.lines[i]}"


def document_labels(numbers: Iterable[int]) -> list[str] | None:
    """Numbers of documents `[sentence]` as labels; None where there is but the one before any mark."""
    labels = [str(number) for number in numbers]
    return labels if any(label != "0" for label in labels) else None
