"""Tagged tokens in columns: conlleval's files (gold and guess in one), gold and tagged files, and those of MBT."""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import PurePath

from sigjax.metrics.spans import OUTSIDE
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, show
from sigjax.readers.tagging.columns import head_columns, read_columns
from sigjax.readers.tagging.tokens import TAG_METRICS, Tokens, check_sentences, check_tags, check_words, evaluate_tags
from sigjax.records import InputError

ENDINGS = (".conll", ".iob", ".tags")
_CHUNK_TAG = re.compile(r"[OBIESLUM]|[BIESLUM]-\S+")


def _read_pairs(sources: Sources, options: Options) -> Reading:
    """Gold and guess are the last two columns of each file."""
    gold, systems = None, {}
    for name, file in sources.systems.items():
        columns = read_columns(file)
        truth = columns.tokens(columns.gold, words=columns.width > 2)
        gold = gold or truth
        check_words(gold, truth)
        check_sentences(gold, truth)
        check_tags(gold, truth)
        systems[name] = columns.tokens(columns.tags)
    if gold is None:
        raise InputError("no file is given; expected a file a system")
    _check_guesses(gold, systems.values())
    return partial(evaluate_tags, gold, systems)


def _read_gold(sources: Sources, options: Options) -> Reading:
    """The last column of each file holds its tags."""
    gold, systems = _tagged(sources.gold()), {name: _tagged(file) for name, file in sources.systems.items()}
    for tokens in systems.values():
        check_words(gold, tokens)
        check_sentences(gold, tokens)
    return partial(evaluate_tags, gold, systems)


def _tagged(file: str) -> Tokens:
    columns = read_columns(file)
    return columns.tokens(columns.tags)


def _check_guesses(gold: Tokens, systems: Iterable[Tokens]) -> None:
    """Refuse last columns that are other annotation, such as entities after chunks: nobody guesses no type right."""
    truth, *guessed = (_types(tokens) for tokens in (gold, *systems))
    found = set().union(*guessed)
    if truth and found and not truth & found:
        raise InputError(
            f"{gold.file}: the last column has types such as {show(min(found))}, the one before it {show(min(truth))}; "
            "expected the gold tag and the guess as the last two columns; a file of gold tags alone goes before -i"
        )


def _types(tokens: Tokens) -> set[str]:
    """The types of the tags, or the tags themselves where they have none."""
    return {tag.partition("-")[2] or tag for tag in set(tokens.tags) - OUTSIDE}


def _looks_pairs(name: str, head: bytes) -> bool:
    columns = head_columns(head)
    return columns is not None and _mark_spans({*columns.gold, *columns.tags})


def _looks_gold(name: str, head: bytes) -> bool:
    columns = head_columns(head)
    if columns is None:
        return False
    divided = len(columns.sentences) > 1 or columns.documents is not None
    return divided or PurePath(name).suffix in ENDINGS or _mark_spans({*columns.tags})


def _mark_spans(tags: set[str]) -> bool:
    """Whether these are tags of spans, some with a type."""
    return all(map(_CHUNK_TAG.fullmatch, tags)) and any("-" in tag for tag in tags)


def _looks_mbt(name: str, head: bytes) -> bool:
    return re.search(rb"^<utt>\s*$", head, re.MULTILINE) is not None


CONLL = Format(
    "conll",
    "tagged tokens, gold and guess as the last columns",
    "systems",
    _read_pairs,
    _looks_pairs,
    TAG_METRICS,
    frozenset({"unit"}),
)
CONLL_GOLD = Format(
    "conll-gold",
    "tagged tokens, the tag as the last column",
    "gold",
    _read_gold,
    _looks_gold,
    TAG_METRICS,
    frozenset({"unit"}),
    certain=False,
)
MBT = Format(
    "mbt",
    "tagged tokens, <utt> after a sentence",
    "gold",
    _read_gold,
    _looks_mbt,
    ("accuracy", *TAG_METRICS[:-1]),
    frozenset({"unit"}),
    certain=False,
)
