"""The metrics by name, how a user's function becomes one, and the check that a score works."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sigjax.metrics.classes import restore_class_metric
from sigjax.metrics.columns import COLUMNS
from sigjax.metrics.edits import ERROR_RATES
from sigjax.metrics.matches import MATCHES, fbeta
from sigjax.metrics.ratios import MEAN, RATIOS
from sigjax.metrics.rouge import ROUGE
from sigjax.metrics.sacrebleu import SACREBLEU
from sigjax.metrics.sari import SARI
from sigjax.records import Array, InputError, Metric, SampleMetric
from sigjax.records.names import meant

_OF_TEXTS = (*SACREBLEU, *ERROR_RATES, *ROUGE, *SARI)
_OF_SUMS = (*RATIOS, *MATCHES, *(each.metric for each in _OF_TEXTS))
METRICS: dict[str, Metric | SampleMetric] = {each.name: each for each in (*_OF_SUMS, *COLUMNS)}
TEXT_METRICS = {each.metric.name: each for each in _OF_TEXTS}


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
            close = " or ".join(map(repr, meant(metric, METRICS)))
            known = f"did you mean {close}?" if close else f"known: {', '.join(sorted(METRICS))};"
            raise InputError(f"unknown metric {metric!r}; {known} `sigjax info` lists all")
        metric = found
    elif not isinstance(metric, Metric | SampleMetric):
        if not callable(metric):
            raise InputError(
                f"metric must be a name, a Metric, a SampleMetric or a function of sums, got {type(metric).__name__}"
            )
        names = tuple(f"s{i}" for i in range(num_inputs))
        name = getattr(metric, "__name__", type(metric).__name__)
        # Compiled programs are kept by the function: a partial is hashable, whatever it holds.
        score = metric if isinstance(metric, Hashable) else partial(metric)
        return Metric(name, score, names, stack_inputs, names)
    if len(metric.inputs) != num_inputs:
        raise InputError(
            f"metric {metric.name!r} takes {len(metric.inputs)} number(s) per instance ({', '.join(metric.inputs)}), "
            f"got {num_inputs}"
        )
    return metric


def check_score(metric: Metric, sums: np.ndarray) -> None:
    """Refuse a score that does not work on the last axis alone, `[..., stat] -> [...]`; those of sigjax itself do.

    The sums `[system, stat]` are scored one system at a time, and all together with one axis more: both must agree.
    They cannot be written to, so that a function fails that would change them, and with them the totals.

    Raises:
        InputError: the function fails, gives a wrong shape, or values that depend on the other axes.

    Example:
        >>> check_score(resolve_metric(lambda sums: sums[0] / sums[1], num_inputs=2), np.ones((3, 2)))
        Traceback (most recent call last):
            ...
        sigjax.InputError: metric '<lambda>' must turn sums [..., stat] into real numbers [...]: write
        sums[..., 0] for the first statistic
    """
    if METRICS.get(metric.name) is metric:
        return
    together = np.repeat(sums[:, None], len(sums) + 1, axis=1)
    together.flags.writeable = False
    try:
        with np.errstate(all="ignore"):
            scores = np.asarray(metric.score(together))
            alone = [np.asarray(metric.score(one)) for one in together[:, 0]]
    except Exception as error:  # a user's function may fail in any way
        raise InputError(
            f"metric {metric.name!r} failed on an array of sums [..., {', '.join(metric.stat_names)}] "
            f"({type(error).__name__}: {' '.join(str(error).split())}); write it with array operators, sums[..., 0] "
            "for the first statistic"
        ) from error
    is_right = scores.dtype.kind in "iuf" and scores.shape == together.shape[:2]
    if not is_right or not all(
        np.array_equal(row, np.full(len(row), score), equal_nan=True) for row, score in zip(scores, alone, strict=True)
    ):
        raise InputError(
            f"metric {metric.name!r} must turn sums [..., stat] into real numbers [...]: write sums[..., 0] for the "
            "first statistic"
        )
