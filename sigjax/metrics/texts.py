"""Where texts come in: outputs of systems and references -> an `Evaluation`."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigjax.metrics.arrays import evaluation_from_arrays
from sigjax.metrics.counts import inputs_of_texts
from sigjax.metrics.registry import TEXT_METRICS
from sigjax.metrics.textmetric import Recipe
from sigjax.records import Evaluation, InputError, Transcripts


def evaluation_from_texts(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metric: str,
    source: Sequence[str] | None = None,
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
    gold = _references(references)
    texts = {name: _texts(f"system {name!r}", given) for name, given in systems.items()}
    for name, given in texts.items():
        if len(given) != len(gold[0]):
            raise InputError(
                f"system {name!r} has {len(given)} segment(s), the references have {len(gold[0])}; expected one text "
                "per segment in the same order (references are [segment] or [reference][segment])"
            )
    named = {f"reference {number}": own for number, own in enumerate(gold, start=1)} | _source(metric, source, gold)
    check_lengths(metric, named, {f"system {name!r}": own for name, own in texts.items()}, place="segment")
    counted = TEXT_METRICS[metric]
    signature = counted.signature(recipe, len(gold))
    given = [named.pop("source"), *gold] if counted.source else gold
    inputs = inputs_of_texts(recipe, signature, given, list(texts.values()), cache=cache, progress=progress)
    evaluation = evaluation_from_arrays(
        dict(zip(texts, inputs, strict=True)),
        metric=metric,
        ids=ids,
        clusters=clusters,
        strata=strata,
        notes=(f"{metric}: {signature}", *counted.doubts(recipe, gold, texts)),
    )
    if not counted.aligned or len(gold) > 1:
        return evaluation
    outputs = {name: tuple(own) for name, own in texts.items()}
    return replace(evaluation, transcripts=Transcripts(tuple(gold[0]), outputs))


def check_lengths(
    metric: str, references: Mapping[str, Sequence[str]], systems: Mapping[str, Sequence[str]], *, place: str
) -> None:
    """Refuse segments that would take gigabytes or hours; texts are given by the names that messages use.

    Raises:
        InputError: an output and its reference are too long for the metric.
    """
    counted = TEXT_METRICS[metric]
    joined = operator.mul if counted.quadratic else operator.add
    sizes = {name: np.fromiter(map(len, texts), np.float64, len(texts)) for name, texts in references.items()}
    for system, texts in systems.items():
        own = np.fromiter(map(len, texts), np.float64, len(texts))
        for reference, others in references.items():
            for i in np.flatnonzero(joined(own, sizes[reference]) > counted.most).tolist():
                counts = counted.tokens(texts[i]), counted.tokens(others[i])
                if joined(*counts) > counted.most:
                    most = int(counted.most**0.5 if counted.quadratic else counted.most / 2)
                    raise InputError(
                        f"{system}, {place} {i + 1}: {counts[0]} tokens, and {counts[1]} in {reference}, are too long "
                        f"for {metric} (about {most} each); split them into segments, or leave them out of all files"
                    )


def _recipe(metric: str, tokenize: str | None, *, lowercase: bool) -> Recipe:
    if metric not in TEXT_METRICS:
        raise InputError(f"metric {metric!r} does not take texts; {', '.join(TEXT_METRICS)} do")
    if tokenize is not None and not TEXT_METRICS[metric].tokenized:
        others = ", ".join(name for name, each in TEXT_METRICS.items() if each.tokenized)
        raise InputError(f"tokenize: {metric} has its own tokens; leave it out, or use {others}")
    return Recipe(metric, tokenize, bool(lowercase))


def _source(metric: str, source: Sequence[str] | None, gold: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """The source by the name that messages use, where the metric takes it."""
    if not TEXT_METRICS[metric].source:
        return {}
    if source is None:
        raise InputError(f"{metric} compares outputs with their source, too; give it with --source FILE")
    texts = _texts("source", source)
    if len(texts) != len(gold[0]):
        raise InputError(
            f"source: has {len(texts)} segment(s), the references have {len(gold[0])}; expected one text per segment"
        )
    return {"source": texts}


def _references(references: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
    """`[reference][segment]`, at least one of each, all of one length."""
    if isinstance(references, str | bytes | Mapping):
        raise InputError(f"references: expected a list of texts or of such lists, got {type(references).__name__}")
    given: list[Any] = list(references)
    if not given:
        raise InputError("references: there are none; expected one text per segment")
    if isinstance(given[0], str):
        given = [given]
    gold = [_texts(f"reference {number}", each) for number, each in enumerate(given, start=1)]
    if not gold[0]:
        raise InputError("there are no segments to compare on")
    for number, each in enumerate(gold, start=1):
        if len(each) != len(gold[0]):
            raise InputError(
                f"reference {number} has {len(each)} segment(s), reference 1 has {len(gold[0])}; expected one text per "
                "segment in each"
            )
    return gold


def _texts(what: str, given: Sequence[str]) -> list[str]:
    """Texts `[segment]`; anything else is refused."""
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise InputError(f"{what}: expected a list of texts, one per segment, got {type(given).__name__}")
    texts = list(given)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{what}: expected a text at segment {i + 1}, got {text!r}; an empty output is ''")
    return texts
