"""ROUGE: metrics that compare summaries with references.

The score is the mean over segments of the F1 from the library rouge-score. Words are sequences of a-z and 0-9 in lower
case, as in the original ROUGE. With "(stem=true)" after the name, words are replaced by their stems (Porter 1980), as
for most published scores. If a segment has several references, the reference with the largest F1 counts. Reference: Lin
(2004), "ROUGE: a package for automatic evaluation of summaries".
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from types import SimpleNamespace

import numpy as np

from sigjax.metrics.ratios import MEAN
from sigjax.metrics.textmetric import CountTexts, Recipe, TextMetric, Texts
from sigjax.records import InputError
from sigjax.run import costs
from sigjax.version import install_command, installed_version

_WORD = re.compile("[a-z0-9]+")
_STEMMED = "(stem=true)"
_SENTENCES = "rougeLsum"
_MOST_STEMS = 2**18
_BREAK = re.compile("<n>|<q>")
"""Separators of sentences in summaries on one line: `<n>` from PEGASUS, and `<q>` from BertSum."""


def _scorer(recipe: Recipe) -> Callable[[Sequence[str], str], float]:
    """Return the function that computes F1 from the references and the output of a segment."""
    try:
        porter, rouge_scorer, tokenizers = map(
            import_module, ("nltk.stem.porter", "rouge_score.rouge_scorer", "rouge_score.tokenize")
        )
    except ImportError:
        command = install_command("rouge-score")
        raise InputError(f"the metric {recipe.metric} of texts needs rouge-score; run: {command}") from None
    variant, stemmed, _ = recipe.metric.partition(_STEMMED)
    # Stems are cached, because stemming takes several times as long as the rest.
    stemmer = SimpleNamespace(stem=lru_cache(_MOST_STEMS)(porter.PorterStemmer().stem)) if stemmed else None
    tokenizer = SimpleNamespace(tokenize=partial(tokenizers.tokenize, stemmer=stemmer))
    scorer = rouge_scorer.RougeScorer([variant], tokenizer=tokenizer)

    def score(references: Sequence[str], output: str) -> float:
        if variant == _SENTENCES:
            references, output = [_BREAK.sub("\n", text) for text in references], _BREAK.sub("\n", output)
        return scorer.score_multi(references, output)[variant].fmeasure

    return score


def _start_counting(recipe: Recipe) -> CountTexts:
    score = _scorer(recipe)

    def count(references: Texts, systems: Texts) -> np.ndarray:
        gold = list(zip(*references, strict=True))
        scores = [[score(*segment) for segment in zip(gold, texts, strict=True)] for texts in systems]
        return np.array(scores, float)[..., None]

    return count


def _signature(recipe: Recipe, num_references: int) -> str:
    _scorer(recipe)
    variant, stemmed, _ = recipe.metric.partition(_STEMMED)
    stems = f"stem:{'porter' if stemmed else 'no'}"
    sentences = "|sents:newline,<n>,<q>" if variant == _SENTENCES else ""
    version = installed_version("rouge-score")
    return f"nrefs:{num_references}|case:lc|tok:a-z0-9|{stems}{sentences}|mean:f1|rouge-score:{version}"


def _notes(recipe: Recipe, references: Texts, systems: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return notes: on references that have no word that ROUGE counts, and on how the ends of sentences are marked."""
    count = sum(not any(_WORD.search(text.lower()) for text in texts) for texts in zip(*references, strict=True))
    which = f"{count} of {len(references[0])} segments have no such word in a reference, and score 0"
    notes = [f"ROUGE sees only words of a-z and 0-9: {which}"] if count else []
    marked = any(_BREAK.search(text) for texts in (*references, *systems.values()) for text in texts)
    if not recipe.metric.startswith(_SENTENCES):
        if marked:
            notes.append(f"<n> and <q> count as words n and q; {_SENTENCES} takes them as ends of sentences")
    elif not marked and not any("\n" in text for texts in (*references, *systems.values()) for text in texts):
        same = recipe.metric.replace(_SENTENCES, "rougeL")
        notes.append(f"{recipe.metric} is {same} here: no text has <n>, <q> or a line break between sentences")
    return tuple(notes)


_of_segments = partial(
    TextMetric, start=_start_counting, signature=_signature, whole=False, extra="rouge", notes=_notes
)
_by_table = partial(_of_segments, cost=costs.ROUGE_L, longest=40_000)
ROUGE = tuple(
    counted(
        replace(MEAN, name=variant + stems, title=f"ROUGE-{variant.removeprefix('rouge')}{' (stemmed)' * bool(stems)}")
    )
    for stems in ("", _STEMMED)
    for variant, counted in (
        ("rouge1", partial(_of_segments, cost=costs.ROUGE_N)),
        ("rouge2", partial(_of_segments, cost=costs.ROUGE_N)),
        ("rougeL", _by_table),
        (_SENTENCES, _by_table),
    )
)
