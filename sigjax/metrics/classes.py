"""Metrics of classification that weigh classes: macro averages, Matthews correlation and Cohen's kappa.

The statistics are counts of a confusion matrix: how often each class is right, predicted and gold. A metric is made for
the classes of the data; scores take the number of classes from the number of statistics.
"""

from collections.abc import Sequence
from functools import partial

from sigjax.metrics.ratios import SHARES, divide, stack_counts
from sigjax.records import Array, Metric


def macro_fscore(sums: Array) -> Array:
    r"""Macro F1, the mean of $2\,correct_k / (predicted_k + gold_k)$ over classes, all of equal weight.

    The mean is over the classes that are gold or predicted in what is scored, as in scikit-learn; a class that only
    other systems predict does not count.

    Sums `[..., stat]` with stat = (correct of each class, predicted of each class, gold of each class) give scores
    `[...]` in [0, 1]; 0 where there is nothing to score.

    Example:
        >>> import numpy as np
        >>> sums = np.array([3.0, 1.0, 3.0, 3.0, 4.0, 2.0])
        >>> [round(float(score(sums)), 4) for score in (macro_fscore, macro_precision, macro_recall)]
        [0.6286, 0.6667, 0.625]
    """
    correct, predicted, gold = _thirds(sums)
    return _mean_of_classes(divide(2.0 * correct, predicted + gold), predicted + gold)


def macro_precision(sums: Array) -> Array:
    """Macro precision, the mean of $correct_k / predicted_k$ over classes, with 0/0 = 0; see `macro_fscore`."""
    correct, predicted, gold = _thirds(sums)
    return _mean_of_classes(divide(correct, predicted), predicted + gold)


def macro_recall(sums: Array) -> Array:
    """Macro recall, the mean of $correct_k / gold_k$ over classes, with 0/0 = 0; see `macro_fscore`."""
    correct, predicted, gold = _thirds(sums)
    return _mean_of_classes(divide(correct, gold), predicted + gold)


def matthews(sums: Array) -> Array:
    r"""Matthews correlation for any number of classes, the $R_K$ of Gorodkin (2004).

    $(c n - \sum_k p_k g_k) / \sqrt{(n^2 - \sum_k p_k^2)(n^2 - \sum_k g_k^2)}$ for n instances, of which c are right,
    $p_k$ are predicted as class k and $g_k$ are of that class.

    Sums `[..., stat]` with stat = (correct, predicted of each class, gold of each class) give scores `[...]` in
    [-1, 1]; 0 where the predictions, or the gold labels, are all of one class.

    Example:
        >>> import numpy as np
        >>> round(float(matthews(np.array([4.0, 4.0, 2.0, 4.0, 2.0]))), 6)
        0.25
    """
    above, total, predicted, gold = _agreement(sums)
    square = total * total
    spread = (square - (predicted * predicted).sum(-1)) * (square - (gold * gold).sum(-1))
    return divide(above, spread.__array_namespace__().sqrt(spread))


def cohen_kappa(sums: Array) -> Array:
    r"""Cohen's kappa, the agreement above chance: $(c n - \sum_k p_k g_k) / (n^2 - \sum_k p_k g_k)$, as in `matthews`.

    Scores `[...]` are up to 1; 0 where predictions and gold labels are all of the same class. Reference: Cohen (1960).

    Example:
        >>> import numpy as np
        >>> round(float(cohen_kappa(np.array([4.0, 4.0, 2.0, 4.0, 2.0]))), 6)
        0.25
    """
    above, total, predicted, gold = _agreement(sums)
    return divide(above, total * total - (predicted * gold).sum(-1))


_MACRO = {"macro-fscore": macro_fscore, "macro-precision": macro_precision, "macro-recall": macro_recall}
_CHANCE = {"mcc": matthews, "kappa": cohen_kappa}
CLASS_METRICS = (*_MACRO, *_CHANCE)


def class_metric(name: str, classes: Sequence[str]) -> Metric:
    """The metric of `CLASS_METRICS` for some classes; its statistics are named after them.

    Example:
        >>> class_metric("kappa", ["no", "yes"]).stat_names
        ('correct', 'predicted:no', 'predicted:yes', 'gold:no', 'gold:yes')
    """
    correct, predicted, gold = ([f"{kind}:{label}" for label in classes] for kind in ("correct", "predicted", "gold"))
    macro, size = name in _MACRO, len(classes)
    names = (*(correct if macro else ["correct"]), *predicted, *gold)
    limits = [(k, k + shift * size) for k in range(size) for shift in (1, 2)] if macro else []
    score, extract = (_MACRO | _CHANCE)[name], partial(stack_counts, names, limits)
    bounds = SHARES if macro else (-1.0, 1.0)
    return Metric(name, score, names, extract, names, shared_inputs=tuple(gold), bounds=bounds)


def restore_class_metric(name: str, stat_names: Sequence[str]) -> Metric | None:
    """The metric that `class_metric` made, from its name and the names of its statistics; None for others."""
    if name not in CLASS_METRICS:
        return None
    classes = [stat.removeprefix("gold:") for stat in stat_names if stat.startswith("gold:")]
    made = class_metric(name, classes)
    return made if classes and made.stat_names == tuple(stat_names) else None


def _thirds(sums: Array) -> tuple[Array, Array, Array]:
    """Correct, predicted and gold `[..., class]`."""
    num_classes = sums.shape[-1] // 3
    return sums[..., :num_classes], sums[..., num_classes : 2 * num_classes], sums[..., 2 * num_classes :]


def _mean_of_classes(values: Array, occurrences: Array) -> Array:
    """The mean `[...]` of `values` `[..., class]` over the classes that occur."""
    occurs = divide(occurrences, occurrences)  # 1 or 0, of the type of the sums
    return divide(values.sum(-1), occurs.sum(-1))


def _agreement(sums: Array) -> tuple[Array, Array, Array, Array]:
    """Agreement above chance and number of instances `[...]`; predicted and gold `[..., class]`."""
    num_classes = sums.shape[-1] // 2
    predicted, gold = sums[..., 1 : num_classes + 1], sums[..., num_classes + 1 :]
    total = gold.sum(-1)
    return sums[..., 0] * total - (predicted * gold).sum(-1), total, predicted, gold
