"""Alignment error rate, precision and recall of word alignments, from counts of links.

A: the links of a system. S: the sure links of the gold alignment. P: its possible links, sure ones among them. The
inputs are |A∩S| (sure_matched), |A∩P| (possible_matched), |A| (predicted) and |S| (sure), added over sentences first.
The error rate needs only the sum of both matches: two systems differ in two counts, and in one for recall, so that all
can be tested without sampling. Reference: Och and Ney (2003), "A systematic comparison of various statistical
alignment models".
"""

from functools import partial

import numpy as np

from sigjax.metrics.ratios import divide, ratio_score, stack_counts
from sigjax.records import Array, Metric

_LINKS = ("sure_matched", "possible_matched", "predicted", "sure")


def aer_score(sums: Array) -> Array:
    r"""Alignment error rate, $1 - (|A \cap S| + |A \cap P|) / (|A| + |S|)$; lower is better.

    Sums `[..., stat]` with stat = (matched, predicted, sure), where matched counts sure matches twice, give scores
    `[...]` in [0, 1]; 1 where nothing is predicted and there is nothing to find.

    Example:
        >>> float(aer_score(np.array([30.0, 20.0, 20.0])))
        0.25
    """
    return 1.0 - divide(sums[..., 0], sums[..., 1] + sums[..., 2])


def aer_extract(*columns: np.ndarray) -> np.ndarray:
    """The four counts `[instance]` -> `[instance, stat]` with stat = (matched, predicted, sure)."""
    sure_matched, possible_matched, predicted, sure = stack_counts(_LINKS, [(0, 1), (1, 2), (0, 3)], *columns).T
    return np.stack([sure_matched + possible_matched, predicted, sure], axis=-1)


AER = Metric(
    "aer",
    aer_score,
    ("matched", "predicted", "sure"),
    aer_extract,
    _LINKS,
    higher_is_better=False,
    shared_inputs=("sure",),
    portable=True,
)
_POSSIBLE, _SURE = _LINKS[1:3], _LINKS[::3]
ALIGNMENT_PRECISION = Metric(
    "alignment-precision", ratio_score, _POSSIBLE, partial(stack_counts, _POSSIBLE, [(0, 1)]), _POSSIBLE, portable=True
)
"""$|A \\cap P| / |A|$."""
ALIGNMENT_RECALL = Metric(
    "alignment-recall",
    ratio_score,
    _SURE,
    partial(stack_counts, _SURE, [(0, 1)]),
    _SURE,
    shared_inputs=("sure",),
    portable=True,
)
"""$|A \\cap S| / |S|$."""
ALIGNMENT = (AER, ALIGNMENT_PRECISION, ALIGNMENT_RECALL)
