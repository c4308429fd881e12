"""The metrics by name, and how a user's function becomes one."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sigjax.metrics.alignment import AER, ALIGNMENT_PRECISION, ALIGNMENT_RECALL
from sigjax.metrics.bleu import BLEU
from sigjax.metrics.chrf import CHRF, CHRF_PLUS_PLUS
from sigjax.metrics.confusion import restore_class_metric
from sigjax.metrics.edits import CER, TER, WER
from sigjax.metrics.fscore import FSCORE, PRECISION, RECALL, fbeta
from sigjax.metrics.mean import ACCURACY, MEAN
from sigjax.metrics.moments import CORRELATION, VARIANCE
from sigjax.metrics.parsing import LAS, UAS, UPOS
from sigjax.metrics.rankcorrelation import KENDALL, SPEARMAN
from sigjax.metrics.ranks import AUC, MEDIAN
from sigjax.metrics.ratios import FSCORE_ERRORS, FSCORE_RATIOS, RATIO
from sigjax.metrics.rouge import ROUGE_1, ROUGE_2, ROUGE_L
from sigjax.records import Array, InputError, Metric, SampleMetric

_OF_NUMBERS = (MEAN, ACCURACY, RATIO, PRECISION, RECALL, FSCORE, FSCORE_RATIOS, FSCORE_ERRORS)
_OF_TEXTS = (BLEU, CHRF, CHRF_PLUS_PLUS, TER, ROUGE_1, ROUGE_2, ROUGE_L, WER, CER)
_OF_PARSES = (LAS, UAS, UPOS)
_OF_ALIGNMENTS = (AER, ALIGNMENT_PRECISION, ALIGNMENT_RECALL)
_SUMMED = (*_OF_NUMBERS, *_OF_PARSES, *_OF_ALIGNMENTS, *_OF_TEXTS)
_SAMPLED = (MEDIAN, VARIANCE, CORRELATION, SPEARMAN, KENDALL, AUC)
METRICS: dict[str, Metric | SampleMetric] = {metric.name: metric for metric in (*_SUMMED, *_SAMPLED)}


def known_metric(name: str, stat_names: Sequence[str] | None = None) -> Metric | SampleMetric | None:
    """The metric of a name; with `stat_names` also one that a reader made for its data, by what it keeps.

    Example:
        >>> known_metric("f2").name, known_metric("exact_match", ("value", "count")).score is MEAN.score
        ('f2', True)
    """
    found = METRICS.get(name) or fbeta(name)
    is_mean = stat_names is not None and tuple(stat_names) == MEAN.stat_names
    if is_mean and (found is None or found.stat_names != MEAN.stat_names):
        return replace(MEAN, name=name)
    return found or (None if stat_names is None else restore_class_metric(name, stat_names))


def stack_inputs(*columns: np.ndarray) -> np.ndarray:
    """Columns `[instance]` -> `[instance, stat]` as they are."""
    return np.stack(columns, axis=-1)


def resolve_metric(
    metric: str | Metric | SampleMetric | Callable[[Array], Array], *, num_inputs: int
) -> Metric | SampleMetric:
    """The record for a name, a record or a user's function of sums over `num_inputs` columns.

    Raises:
        InputError: the name is unknown, or the metric takes another number of columns.

    Example:
        >>> def odds(sums):
        ...     return sums[..., 0] / sums[..., 1]
        >>> resolve_metric(odds, num_inputs=2).stat_names
        ('s0', 's1')
    """
    if isinstance(metric, str):
        found = known_metric(metric)
        if found is None:
            raise InputError(f"unknown metric {metric!r}; known: {', '.join(sorted(METRICS))}")
        metric = found
    elif not isinstance(metric, Metric | SampleMetric):
        if not callable(metric):
            raise InputError(
                f"metric must be a name, a Metric, a SampleMetric or a function of sums, got {type(metric).__name__}"
            )
        names = tuple(f"s{i}" for i in range(num_inputs))
        name = getattr(metric, "__name__", type(metric).__name__)
        # Bound to nothing, but hashable whatever the callable is: compiled programs are kept by it.
        score = metric if isinstance(metric, Hashable) else partial(metric)
        return Metric(name, score, names, stack_inputs, names)
    if len(metric.inputs) != num_inputs:
        raise InputError(
            f"metric {metric.name!r} takes {len(metric.inputs)} number(s) an instance ({', '.join(metric.inputs)}), "
            f"got {num_inputs}"
        )
    return metric
