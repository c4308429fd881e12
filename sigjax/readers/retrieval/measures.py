"""Measures of retrieval: names as people write them, and values for each topic by the code of trec_eval."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sigjax.records import InputError

EXAMPLES = ("ap", "ndcg@10", "p@10", "rr", "recall@100", "ap(rel=2)")
Judgments = Mapping[str, Mapping[str, float]]
"""topic -> document -> relevance or score."""
_LEVEL = r"(?:\(rel=([1-9][0-9]{0,2})\))?"
_NAME = re.compile(rf"([a-z]+(?:_[a-z]+)?){_LEVEL}(?:[@_]([1-9][0-9]{{0,5}}))?{_LEVEL}")
_WHOLE = {
    "ap": "map",
    "map": "map",
    "ndcg": "ndcg",
    "rr": "recip_rank",
    "mrr": "recip_rank",
    "recip_rank": "recip_rank",
    "rprec": "Rprec",
    "bpref": "bpref",
}
_CUT = {
    "ap": "map_cut",
    "map": "map_cut",
    "map_cut": "map_cut",
    "ndcg": "ndcg_cut",
    "ndcg_cut": "ndcg_cut",
    "p": "P",
    "precision": "P",
    "r": "recall",
    "recall": "recall",
    "success": "success",
    "rr": "recip_rank",
    "mrr": "recip_rank",
}


@dataclass(frozen=True)
class Measure:
    """A measure of a ranking."""

    name: str
    """The name in trec_eval, without the cutoff: "map", "ndcg_cut"."""
    cutoff: int | None = None
    """The number of documents that count; None for all."""
    relevance: int = 1
    """The lowest judgment of a relevant document."""


@lru_cache
def parse_measure(name: str) -> Measure | None:
    """The measure that a name means, in upper or lower case; None where it means none.

    Example:
        >>> parse_measure("nDCG@10") == parse_measure("ndcg_cut_10")
        True
        >>> parse_measure("AP(rel=2)")
        Measure(name='map', cutoff=None, relevance=2)
        >>> parse_measure("recall@1000(rel=2)") == parse_measure("R(rel=2)@1000")
        True
    """
    match = _NAME.fullmatch(name.lower())
    if match is None:
        return None
    written, level, cutoff, later = match.groups()
    base = (_CUT if cutoff else _WHOLE).get(written)
    if base is None or (level and later) or ((level or later) and base.startswith("ndcg")):
        return None
    return Measure(base, int(cutoff) if cutoff else None, int(level or later or 1))


def topic_scorer(measure: Measure, judged: Judgments) -> Callable[[Judgments], dict[str, float]]:
    """A function run -> topic -> value of a measure, for each topic that both the run and the judgments have.

    Documents are ranked by score, then by name, both from the highest; scores are in single precision, as in trec_eval.
    Documents judged below 0 count as not judged.

    Raises:
        InputError: pytrec-eval-terrier is not installed.
    """
    try:
        import pytrec_eval
    except ImportError:
        raise InputError(
            'measures of runs need pytrec-eval-terrier; install it with pip install "sigjax[ir]"'
        ) from None
    # Judgments below 0 crash the library; they count as not judged in every measure here.
    known = {
        topic: {document: int(value) for document, value in documents.items() if value >= 0}
        for topic, documents in judged.items()
    }
    reciprocal = measure.name == "recip_rank"
    cutoff = None if reciprocal else measure.cutoff
    name = measure.name if cutoff is None else f"{measure.name}.{cutoff}"
    evaluator = pytrec_eval.RelevanceEvaluator(known, {name}, relevance_level=measure.relevance)
    # The library has no cutoff for the reciprocal rank: 1 / rank below 1 / cutoff is beyond it.
    lowest = 1 / measure.cutoff if reciprocal and measure.cutoff else 0.0

    def score(run: Judgments) -> dict[str, float]:
        values = {topic: float(next(iter(found.values()))) for topic, found in evaluator.evaluate(run).items()}
        return {topic: value if value >= lowest else 0.0 for topic, value in values.items()}

    return score
