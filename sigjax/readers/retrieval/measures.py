"""Measures of retrieval: their names as people write them, and their values for each topic by trec_eval's code."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sigjax.records import InputError

EXAMPLES = ("ap", "ndcg@10", "p@10", "rr", "recall@100")
Judgments = Mapping[str, Mapping[str, float]]
"""topic -> document -> relevance or score."""
_NAME = re.compile(
    r"(?P<base>[a-z]+(?:_[a-z]+)?)(?:\(rel=(?P<rel>[1-9][0-9]{0,2})\))?(?:[@_](?P<cut>[1-9][0-9]{0,5}))?"
)
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
    """As trec_eval calls it, without the cutoff: "map", "ndcg_cut"."""
    cutoff: int | None = None
    """How many documents count; None for all."""
    relevance: int = 1
    """From which judgment on a document is relevant."""


@lru_cache
def parse_measure(name: str) -> Measure | None:
    """The measure that a name means, whatever its case; None where it means none.

    Example:
        >>> parse_measure("nDCG@10") == parse_measure("ndcg_cut_10")
        True
        >>> parse_measure("AP(rel=2)")
        Measure(name='map', cutoff=None, relevance=2)
    """
    match = _NAME.fullmatch(name.lower())
    if match is None:
        return None
    found = (_CUT if match["cut"] else _WHOLE).get(match["base"])
    if found is None or (match["rel"] and found.startswith("ndcg")):
        return None
    return Measure(found, int(match["cut"]) if match["cut"] else None, int(match["rel"] or 1))


def topic_scorer(measure: Measure, judged: Judgments) -> Callable[[Judgments], dict[str, float]]:
    """What gives the value of a measure for each topic that a run and the judgments have: run -> topic -> value.

    Documents are ranked by score, then by name, both from the highest, with scores in single precision as in trec_eval.
    Documents judged below 0 count as not judged.

    Raises:
        InputError: the library is missing.
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
    least = 1 / measure.cutoff if reciprocal and measure.cutoff else 0.0

    def score(run: Judgments) -> dict[str, float]:
        values = {topic: float(next(iter(found.values()))) for topic, found in evaluator.evaluate(run).items()}
        return {topic: value if value >= least else 0.0 for topic, value in values.items()}

    return score
