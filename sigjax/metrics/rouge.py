"""ROUGE of texts: the mean over segments of the F1 that the library rouge-score gives.

Reference: Lin (2004), "ROUGE: a package for automatic evaluation of summaries". Words are runs of a-z and 0-9 in lower
case, as in the original; "(stem=true)" after the name takes their stems (Porter 1980), as most published figures do.
With several references a segment takes the one of the largest F1.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from types import SimpleNamespace

import numpy as np

from sigjax.metrics.ratios import MEAN
from sigjax.metrics.textmetric import Count, Recipe, TextMetric, Texts
from sigjax.records import InputError
from sigjax.version import installed_version

_WORD = re.compile("[a-z0-9]+")
_STEMMED = "(stem=true)"
_SENTENCES = "rougeLsum"
_MOST_STEMS = 2**18
_BREAK = re.compile("<n>|<q>")
"""What stands between sentences where a summary has to be one line: as of PEGASUS, and of BertSum."""


def _num_words(text: str) -> int:
    return len(_WORD.findall(text.lower()))


def _scorer(recipe: Recipe) -> Callable[[Sequence[str], str], float]:
    """The function (references, output) -> F1."""
    try:
        from nltk.stem.porter import PorterStemmer
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenize import tokenize
    except ImportError:
        raise InputError(f"the metric {recipe.metric} of texts needs rouge-score; install sigjax[rouge]") from None
    kind, stemmed, _ = recipe.metric.partition(_STEMMED)
    # Stems are kept: finding them takes ten times as long as all else.
    stemmer = SimpleNamespace(stem=lru_cache(_MOST_STEMS)(PorterStemmer().stem)) if stemmed else None
    scorer = RougeScorer([kind], tokenizer=SimpleNamespace(tokenize=partial(tokenize, stemmer=stemmer)))

    def score(references: Sequence[str], output: str) -> float:
        if kind == _SENTENCES:
            references, output = [_BREAK.sub("\n", text) for text in references], _BREAK.sub("\n", output)
        return scorer.score_multi(references, output)[kind].fmeasure

    return score


def _start(recipe: Recipe) -> Count:
    score = _scorer(recipe)

    def count(references: Texts, systems: Texts) -> np.ndarray:
        gold = list(zip(*references, strict=True))
        scores = [[score(own, text) for own, text in zip(gold, texts, strict=True)] for texts in systems]
        return np.array(scores, float)[..., None]

    return count


def _signature(recipe: Recipe, num_references: int) -> str:
    _scorer(recipe)
    kind, stemmed, _ = recipe.metric.partition(_STEMMED)
    stems = f"stem:{'porter' if stemmed else 'no'}"
    sentences = "|sents:newline,<n>,<q>" if kind == _SENTENCES else ""
    version = installed_version("rouge-score")
    return f"nrefs:{num_references}|case:lc|tok:a-z0-9|{stems}{sentences}|mean:f1|rouge-score:{version}"


def _doubts(recipe: Recipe, references: Texts, systems: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Notes on references in which ROUGE sees no word, and on the ends of sentences."""
    count = sum(not any(_WORD.search(text.lower()) for text in own) for own in zip(*references, strict=True))
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


_TABLES = {"tokens": _num_words, "most": 5e7, "quadratic": True}
_of_segments = partial(TextMetric, start=_start, signature=_signature, whole=False, extra="rouge", doubts=_doubts)
ROUGE = tuple(
    _of_segments(replace(MEAN, name=kind + stems), seconds=seconds, **limits)
    for stems in ("", _STEMMED)
    for kind, seconds, limits in (
        ("rouge1", 0.2e-6, {}),
        ("rouge2", 0.2e-6, {}),
        ("rougeL", 1.6e-6, _TABLES),
        (_SENTENCES, 1.6e-6, _TABLES),
    )
)
