"""Does a score do what every later part relies on? Asked once of each evaluation, on its own sums."""

import numpy as np

from sigjax.records import InputError, Metric


def check_score(metric: Metric, sums: np.ndarray) -> None:
    """Refuse a score that does not work on the last axis alone, `[..., stat] -> [...]`.

    The sums `[system, stat]` are scored one system at a time and all together with an axis more: both must agree.

    Raises:
        InputError: the function fails, gives a wrong shape, or values that depend on the other axes.

    Example:
        >>> from sigjax.metrics.registry import resolve_metric
        >>> check_score(resolve_metric(lambda sums: sums[0] / sums[1], num_inputs=2), np.ones((3, 2)))
        Traceback (most recent call last):
            ...
        sigjax.InputError: metric '<lambda>' must turn sums [..., stat] into real numbers [...]: write
        sums[..., 0] for the first statistic
    """
    together = np.broadcast_to(sums[:, None], (len(sums), len(sums) + 1, sums.shape[1]))
    try:
        with np.errstate(all="ignore"):
            scores = np.asarray(metric.score(together.copy()))
            alone = [np.asarray(metric.score(one)) for one in sums]
    except Exception as error:  # a user's function may fail in any way
        raise InputError(
            f"metric {metric.name!r} failed on an array of sums [..., {', '.join(metric.stat_names)}] "
            f"({type(error).__name__}: {' '.join(str(error).split())}); write it with array operators, sums[..., 0] "
            "for the first statistic"
        ) from error
    right = (
        scores.dtype.kind in "iuf"
        and scores.shape == together.shape[:2]
        and all(
            np.array_equal(row, np.full(len(row), score), equal_nan=True)
            for row, score in zip(scores, alone, strict=True)
        )
    )
    if not right:
        raise InputError(
            f"metric {metric.name!r} must turn sums [..., stat] into real numbers [...]: write sums[..., 0] for the "
            "first statistic"
        )
