"""The door for texts: outputs of systems and references -> an `Evaluation`, through a cache on disk."""

import hashlib
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sigjax.metrics.arrays import check_enough, evaluation_from_arrays
from sigjax.metrics.cache import load_stats, store_stats
from sigjax.metrics.extract import EXTRACTIONS, extract_stats, num_workers
from sigjax.metrics.recipe import Recipe
from sigjax.metrics.registry import METRICS
from sigjax.records import Evaluation, InputError
from sigjax.run.host import progress_bar

TEXT_METRICS = tuple(EXTRACTIONS)
TOKENIZED_METRICS = ("bleu",)
"""Metrics whose tokenizer one may choose."""
_SCHEMA = "sigjax-texts/2"
"""Part of every key: to be changed when statistics of the same texts change."""
_ROUGE_WORD = re.compile("[A-Za-z0-9]")
_TOKENIZED = 100
"""Segments ending in " ." from which texts look tokenized; sacrebleu warns from here too."""


def evaluation_from_texts(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metric: str,
    tokenize: str | None = None,
    lowercase: bool = False,
    ids: Sequence[object] | None = None,
    clusters: Sequence[object] | None = None,
    strata: Sequence[object] | None = None,
    cache: bool,
    progress: bool,
) -> Evaluation:
    """Check, extract and assemble; see `Evaluation.from_texts`."""
    recipe = _recipe(metric, tokenize, lowercase=lowercase)
    if not isinstance(systems, Mapping):
        raise InputError(f"expected texts by system, such as {{'A': ['Hello.']}}, got {type(systems).__name__}")
    check_enough(len(systems))  # before the work
    gold = _references(references)
    texts = {name: _texts(f"system {name!r}", given) for name, given in systems.items()}
    for name, given in texts.items():
        if len(given) != len(gold[0]):
            raise InputError(
                f"system {name!r} has {len(given)} segment(s), the references have {len(gold[0])}; expected one text a "
                "segment in the same order (references are [segment] or [reference][segment])"
            )
    named = {f"reference {number}": own for number, own in enumerate(gold, start=1)}
    check_lengths(metric, named, {f"system {name!r}": own for name, own in texts.items()}, place="segment")
    signature = EXTRACTIONS[metric].signature(recipe, len(gold))
    inputs = _inputs(recipe, signature, gold, list(texts.values()), cache=cache, progress=progress)
    return evaluation_from_arrays(
        dict(zip(texts, inputs, strict=True)),
        metric=metric,
        ids=ids,
        clusters=clusters,
        strata=strata,
        notes=(f"{metric}: {signature}", *_tokenized(recipe, texts), *_unseen(recipe, gold)),
    )


def check_lengths(
    metric: str, references: Mapping[str, Sequence[str]], systems: Mapping[str, Sequence[str]], *, place: str
) -> None:
    """Refuse segments that would take gigabytes or hours; texts are by the names that messages use.

    Raises:
        InputError: an output and a reference of it are too long for the metric.
    """
    extraction = EXTRACTIONS[metric]
    joined = operator.mul if extraction.quadratic else operator.add
    sizes = {name: np.fromiter(map(len, texts), np.float64, len(texts)) for name, texts in references.items()}
    for system, texts in systems.items():
        own = np.fromiter(map(len, texts), np.float64, len(texts))
        for reference, others in references.items():
            for i in np.flatnonzero(joined(own, sizes[reference]) > extraction.most).tolist():
                counts = extraction.tokens(texts[i]), extraction.tokens(others[i])
                if joined(*counts) > extraction.most:
                    most = int(extraction.most**0.5 if extraction.quadratic else extraction.most / 2)
                    raise InputError(
                        f"{system}, {place} {i + 1}: {counts[0]} tokens, and {counts[1]} in {reference}, are too long "
                        f"for {metric} (about {most} each); split them into segments, or leave them out of all files"
                    )


def _recipe(metric: str, tokenize: str | None, *, lowercase: bool) -> Recipe:
    if metric not in TEXT_METRICS:
        raise InputError(f"metric {metric!r} does not take texts; {', '.join(TEXT_METRICS)} do")
    if tokenize is not None and metric not in TOKENIZED_METRICS:
        raise InputError(f"tokenize: {metric} has its own tokens; leave it out, or use {', '.join(TOKENIZED_METRICS)}")
    return Recipe(metric, tokenize, bool(lowercase))


def _references(references: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
    """`[reference][segment]`, at least one of each, all of one length."""
    if isinstance(references, str | bytes | Mapping):
        raise InputError(f"references: expected a list of texts or of such lists, got {type(references).__name__}")
    given: list[Any] = list(references)
    if not given:
        raise InputError("references: there are none; expected one text a segment")
    if isinstance(given[0], str):
        given = [given]
    gold = [_texts(f"reference {number}", each) for number, each in enumerate(given, start=1)]
    if not gold[0]:
        raise InputError("there are no segments to compare on")
    for number, each in enumerate(gold, start=1):
        if len(each) != len(gold[0]):
            raise InputError(
                f"reference {number} has {len(each)} segment(s), reference 1 has {len(gold[0])}; expected one text a "
                "segment in each"
            )
    return gold


def _texts(what: str, given: Sequence[str]) -> list[str]:
    """Texts `[segment]`; anything else is refused."""
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise InputError(f"{what}: expected a list of texts, one a segment, got {type(given).__name__}")
    texts = list(given)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{what}: expected a text at segment {i + 1}, got {text!r}; an empty output is ''")
    return texts


def _inputs(
    recipe: Recipe,
    signature: str,
    references: list[list[str]],
    systems: list[list[str]],
    *,
    cache: bool,
    progress: bool,
) -> list[np.ndarray]:
    """Inputs of the metric `[segment, input]` for each system: those of the cache, and the others extracted."""
    metric = recipe.metric
    keys = _keys(recipe, signature, references, systems)
    shape = len(references[0]), len(METRICS[metric].inputs)
    kept = {key: load_stats(key, shape, EXTRACTIONS[metric].dtype) if cache else None for key in keys}
    left = {key: texts for key, texts in zip(keys, systems, strict=True) if kept[key] is None}
    if left:
        todo = list(left.values())
        workers = num_workers(metric, references, todo)
        with progress_bar(f"{metric} of texts", len(todo) * shape[0], shown=progress) as advance:
            found = extract_stats(recipe, references, todo, workers=workers, advance=advance)
        for key, inputs in zip(left, found, strict=True):
            kept[key] = inputs
            if cache:
                store_stats(key, inputs)
    return [inputs for key in keys if (inputs := kept[key]) is not None]


def _keys(recipe: Recipe, signature: str, references: list[list[str]], systems: list[list[str]]) -> list[str]:
    """The key of each system: a hash of everything that its statistics depend on."""
    made = [_SCHEMA, recipe.metric, recipe.tokenize or "", recipe.case, signature]
    common = hashlib.sha256(b"".join(_framed(texts) for texts in (made, *references)))
    keys = []
    for texts in systems:
        whole = common.copy()
        whole.update(_framed(texts))
        keys.append(whole.hexdigest())
    return keys


def _framed(texts: list[str]) -> bytes:
    """Texts with their number and lengths, so that no two lists look alike."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"%d;" % len(texts) + b"".join(b"%d:%b" % (len(each), each) for each in encoded)


def _tokenized(recipe: Recipe, systems: dict[str, list[str]]) -> tuple[str, ...]:
    """Notes on systems whose texts look tokenized, which changes BLEU unless it is asked to split at blanks only."""
    if recipe.metric != "bleu" or recipe.tokenize == "none":
        return ()
    counts = {name: sum(text.endswith(" .") for text in texts) for name, texts in systems.items()}
    return tuple(
        f"system {name!r} looks tokenized: {count} segments end in ' .'; BLEU is of detokenized texts"
        for name, count in counts.items()
        if count >= _TOKENIZED
    )


def _unseen(recipe: Recipe, references: list[list[str]]) -> tuple[str, ...]:
    """A note on references in which ROUGE sees no word."""
    if not recipe.metric.startswith("rouge"):
        return ()
    count = sum(not any(map(_ROUGE_WORD.search, own)) for own in zip(*references, strict=True))
    which = f"{count} of {len(references[0])} segments have no such word in a reference, and score 0"
    return (f"ROUGE sees only words of a-z and 0-9: {which}",) if count else ()
