"""Metrics: one family a file, each an `extract` (host: what a file holds -> statistics) and a `score` (sums -> number).

A `score` is written with array operators for the namespace of its argument and works on the last axis, so that the same
function scores one system, a million resamples, NumPy and traced JAX arrays. What is no function of sums is a
`SampleMetric`, a function of whole columns. Nothing here resamples, reads files or knows about tests. A new metric is a
record in one of these files plus its name in `METRICS`; the laws in `tests/test_laws.py` then run over it.
"""

from sigjax.metrics.alignment import AER, ALIGNMENT_PRECISION, ALIGNMENT_RECALL
from sigjax.metrics.arrays import evaluation_from_arrays as evaluation_from_arrays
from sigjax.metrics.bleu import BLEU
from sigjax.metrics.check import check_score as check_score
from sigjax.metrics.chrf import CHRF, CHRF_PLUS_PLUS
from sigjax.metrics.confusion import CLASS_METRICS, class_metric
from sigjax.metrics.edits import CER, TER, WER
from sigjax.metrics.fscore import FSCORE, PRECISION, RECALL
from sigjax.metrics.mean import ACCURACY, MEAN, TOKEN_ACCURACY
from sigjax.metrics.moments import CORRELATION, VARIANCE
from sigjax.metrics.rankcorrelation import KENDALL, SPEARMAN
from sigjax.metrics.ranks import AUC, MEDIAN
from sigjax.metrics.registry import METRICS as METRICS
from sigjax.metrics.registry import known_metric as known_metric
from sigjax.metrics.registry import resolve_metric as resolve_metric
from sigjax.metrics.registry import stack_inputs as stack_inputs
from sigjax.metrics.rouge import ROUGE_1, ROUGE_2, ROUGE_L
from sigjax.metrics.sample import check_standards as check_standards
from sigjax.metrics.sample import check_weights as check_weights
from sigjax.metrics.sample import pair_rounding as pair_rounding
from sigjax.metrics.sample import sample_scores as sample_scores
from sigjax.metrics.sample import system_roundings as system_roundings
from sigjax.metrics.standard import standardized as standardized
from sigjax.metrics.standard import what_is_exchanged as what_is_exchanged
from sigjax.metrics.texts import TEXT_METRICS as TEXT_METRICS
from sigjax.metrics.texts import evaluation_from_texts as evaluation_from_texts

__all__ = [
    "ACCURACY",
    "AER",
    "ALIGNMENT_PRECISION",
    "ALIGNMENT_RECALL",
    "AUC",
    "BLEU",
    "CER",
    "CHRF",
    "CHRF_PLUS_PLUS",
    "CLASS_METRICS",
    "CORRELATION",
    "FSCORE",
    "KENDALL",
    "MEAN",
    "MEDIAN",
    "METRICS",
    "PRECISION",
    "RECALL",
    "ROUGE_1",
    "ROUGE_2",
    "ROUGE_L",
    "SPEARMAN",
    "TER",
    "TEXT_METRICS",
    "TOKEN_ACCURACY",
    "VARIANCE",
    "WER",
    "check_score",
    "check_standards",
    "check_weights",
    "class_metric",
    "evaluation_from_arrays",
    "evaluation_from_texts",
    "known_metric",
    "pair_rounding",
    "resolve_metric",
    "sample_scores",
    "stack_inputs",
    "standardized",
    "system_roundings",
    "what_is_exchanged",
]
