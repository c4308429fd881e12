"""Precision, recall and F1 from counts: tp (correct), predicted (by the system) and gold (in the reference).

Counts are added over instances first (micro average); an empty denominator gives 0. Gold sizes are the same for all
systems, so that two systems differ in one count for recall, and in two for precision and F1: all can be tested without
sampling. Their tests: Yeh (2000), "More accurate tests for the statistical significance of result differences".
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from sigjax.metrics.ratios import divide, ratio_score, stack_nonnegative
from sigjax.records import Array, InputError, Metric

FBETA = re.compile(r"f\d+(\.\d+)?")
"""Names of F-beta."""


def f1_score(sums: Array) -> Array:
    r"""F1, the harmonic mean of precision and recall, $2\,tp / (predicted + gold)$.

    Sums `[..., stat]` with stat = (tp, predicted, gold) give scores `[...]` in [0, 1]; 0 where nothing is predicted and
    there is nothing to find.

    Example:
        >>> float(f1_score(np.array([30.0, 40.0, 80.0])))
        0.5
    """
    return divide(2.0 * sums[..., 0], sums[..., 1] + sums[..., 2])


@lru_cache
def fbeta(name: str) -> Metric | None:
    r"""The metric F-beta for a name such as f2 or f0.5: $(1 + b^2)\,tp / (predicted + b^2 gold)$; None for other names.

    Recall counts b times as much as precision (van Rijsbergen 1979).

    Example:
        >>> float(fbeta("f2").score(np.array([30.0, 40.0, 80.0])))
        0.4166666666666667
    """
    if not FBETA.fullmatch(name):
        return None
    square = float(name[1:]) ** 2

    def score(sums: Array) -> Array:
        return divide((1.0 + square) * sums[..., 0], sums[..., 1] + square * sums[..., 2])

    return replace(FSCORE, name=name, score=score, portable=False)


def fscore_ratios_score(sums: Array) -> Array:
    r"""F1 of a recall and a precision that count different things (coreference): $2 p r / (p + r)$.

    Sums `[..., stat]` with stat = (recall numerator and denominator, precision numerator and denominator) give scores
    `[...]` in [0, 1]; 0 where either is 0 or its denominator is.

    Example:
        >>> float(fscore_ratios_score(np.array([1.0, 2.0, 1.0, 4.0]))) == 2 * 0.5 * 0.25 / 0.75
        True
    """
    recall, precision = divide(sums[..., 0], sums[..., 1]), divide(sums[..., 2], sums[..., 3])
    return divide(2.0 * recall * precision, recall + precision)


def fscore_errors_score(sums: Array) -> Array:
    r"""F1 from correct items and errors, $2\,tp / (2\,tp + incorrect)$: section 2 of Zmigrod et al. (2022).

    Sums `[..., stat]` with stat = (tp, incorrect), the latter false positives and false negatives, give scores `[...]`
    in [0, 1]; 0 where there is nothing.

    Example:
        >>> float(fscore_errors_score(np.array([3.0, 2.0])))
        0.75
    """
    return divide(2.0 * sums[..., 0], 2.0 * sums[..., 0] + sums[..., 1])


def stack_matches(kept: slice, tp: np.ndarray, predicted: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """`[instance]` tp, predicted and gold -> those `kept`, `[instance, stat]`; impossible counts are refused."""
    for name, limit in (("predicted", predicted), ("gold", gold)):
        wrong = np.flatnonzero((tp < 0) | (tp > limit))
        if wrong.size:
            i = wrong[0]
            raise InputError(
                f"tp must lie between 0 and {name}, got tp = {tp[i]:g} and {name} = {limit[i]:g} at instance {i + 1}; "
                "check which columns are tp, predicted and gold"
            )
    return np.stack([tp, predicted, gold], axis=-1)[:, kept]


def _of_matches(name: str, score: Callable[[Array], Array], kept: slice) -> Metric:
    inputs = ("tp", "predicted", "gold")
    extract = partial(stack_matches, kept)
    return Metric(name, score, inputs[kept], extract, inputs, shared_inputs=("gold",), portable=True)


FSCORE = _of_matches("fscore", f1_score, slice(3))
PRECISION = _of_matches("precision", ratio_score, slice(2))
RECALL = _of_matches("recall", ratio_score, slice(0, 3, 2))

LAS, UAS, UPOS = (replace(FSCORE, name=name) for name in ("las", "uas", "upos"))
"""F1 of the words of dependency trees, whose tp stand for a gold word and have the right head and relation without its
subtype (las), the right head (uas), or the right universal part of speech (upos). With the same words on both sides all
are accuracies. Zeman et al. (2018), "CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal
Dependencies"."""

_RATIOS = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
_ERRORS = ("tp", "incorrect")
FSCORE_RATIOS = Metric(
    "fscore-ratios", fscore_ratios_score, _RATIOS, partial(stack_nonnegative, _RATIOS, (1, 3)), _RATIOS
)
FSCORE_ERRORS = Metric(
    "fscore-errors", fscore_errors_score, _ERRORS, partial(stack_nonnegative, _ERRORS, (0, 1)), _ERRORS
)
FSCORES = (PRECISION, RECALL, FSCORE, FSCORE_RATIOS, FSCORE_ERRORS, LAS, UAS, UPOS)
