"""ROUGE of texts: the mean over segments of the F1 that the library rouge-score gives.

Reference: Lin (2004), "ROUGE: a package for automatic evaluation of summaries". No stemming; words are runs of a-z and
0-9 in lower case, as in the original. With several references a segment takes the one of the largest F1.
"""

import re
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from sigjax.metrics.mean import MEAN
from sigjax.metrics.recipe import Count, Extraction, Recipe, Texts
from sigjax.records import InputError

ROUGE_1, ROUGE_2, ROUGE_L = (replace(MEAN, name=name) for name in ("rouge1", "rouge2", "rougeL"))


def _num_words(text: str) -> int:
    return len(re.findall("[a-z0-9]+", text.lower()))


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
    return f"nrefs:{num_references}|case:lc|tok:a-z0-9|stem:no|mean:f1|rouge-score:{version('rouge-score')}"


ROUGE = {
    "rouge1": Extraction(_start, _signature, 0.2e-6, whole=False),
    "rouge2": Extraction(_start, _signature, 0.2e-6, whole=False),
    "rougeL": Extraction(_start, _signature, 1.6e-6, whole=False, tokens=_num_words, most=5e7, quadratic=True),
}
