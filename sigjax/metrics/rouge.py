"""ROUGE of texts: the mean over segments of the F1 that the library rouge-score gives.

Reference: Lin (2004), "ROUGE: a package for automatic evaluation of summaries". No stemming; words are runs of a-z and
0-9 in lower case, as in the original. With several references a segment takes the one of the largest F1.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigjax.metrics.ratios import MEAN
from sigjax.metrics.textmetric import Count, Recipe, TextMetric, Texts
from sigjax.records import InputError
from sigjax.version import installed_version

_WORD = re.compile("[a-z0-9]+")


def _num_words(text: str) -> int:
    return len(_WORD.findall(text.lower()))


def _scorer(recipe: Recipe) -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise InputError(f"the metric {recipe.metric} of texts needs rouge-score; install sigjax[rouge]") from None
    return RougeScorer([recipe.metric], use_stemmer=False)


def _start(recipe: Recipe) -> Count:
    scorer = _scorer(recipe)

    def count(references: Texts, systems: Texts) -> np.ndarray:
        gold = list(zip(*references, strict=True))
        scores = [
            [
                scorer.score_multi(targets, text)[recipe.metric].fmeasure
                for targets, text in zip(gold, texts, strict=True)
            ]
            for texts in systems
        ]
        return np.array(scores, float)[..., None]

    return count


def _signature(recipe: Recipe, num_references: int) -> str:
    _scorer(recipe)
    return f"nrefs:{num_references}|case:lc|tok:a-z0-9|stem:no|mean:f1|rouge-score:{installed_version('rouge-score')}"


def _doubts(recipe: Recipe, references: Texts, systems: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A note on references in which ROUGE sees no word."""
    count = sum(not any(_WORD.search(text.lower()) for text in own) for own in zip(*references, strict=True))
    which = f"{count} of {len(references[0])} segments have no such word in a reference, and score 0"
    return (f"ROUGE sees only words of a-z and 0-9: {which}",) if count else ()


def _text_metric(name: str, seconds: float, **limits: Any) -> TextMetric:
    mean = replace(MEAN, name=name)
    return TextMetric(mean, _start, _signature, seconds=seconds, whole=False, extra="rouge", doubts=_doubts, **limits)


ROUGE = (
    _text_metric("rouge1", 0.2e-6),
    _text_metric("rouge2", 0.2e-6),
    _text_metric("rougeL", 1.6e-6, tokens=_num_words, most=5e7, quadratic=True),
)
