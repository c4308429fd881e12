"""Metrics of predictions: of classes, of numbers (errors), and of the probability of class 1.

The metrics of classes are macro and weighted averages, balanced accuracy, Matthews correlation and Cohen's kappa. Their
statistics are counts of a confusion matrix: how often each class is predicted, is the gold label, and is both. A metric
is made for the classes of the data. Its score function finds the number of classes from the number of statistics.

Errors are computed from the decimals as written. So if two errors are equal on paper, their doubles are equal, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sigjax.metrics.ratios import ACCURACY, RATES, SHARES, divide, mean_score, refuse_where, stack_counts
from sigjax.records import Array, InputError, Metric


def macro_fscore(sums: Array) -> Array:
    r"""Macro F1, the mean of $2\,correct_k / (predicted_k + gold_k)$ over classes, all of equal weight.

    As in scikit-learn, the mean is over the classes that are gold or predicted in the scored sums. A class that only
    other systems predict does not count.

    Sums `[..., stat]` with stat = (correct of each class, predicted of each class, gold of each class) give scores
    `[...]` in [0, 1]; 0 if there is nothing to score.

    >>> sums = np.array([3.0, 1.0, 3.0, 3.0, 4.0, 2.0])
    >>> [round(float(score(sums)), 4) for score in (macro_fscore, macro_precision, macro_recall)]
    [0.6286, 0.6667, 0.625]
    """
    correct, predicted, gold = _thirds(sums)
    return _mean_of_classes(divide(2.0 * correct, predicted + gold), predicted + gold)


def macro_precision(sums: Array) -> Array:
    """Macro precision, the mean of $correct_k / predicted_k$ over classes, with 0/0 = 0.

    Sums `[..., stat]` are the correct, predicted and gold counts of each class (in this order, as for `macro_fscore`),
    and give scores `[...]` in [0, 1].
    """
    correct, predicted, gold = _thirds(sums)
    return _mean_of_classes(divide(correct, predicted), predicted + gold)


def macro_recall(sums: Array) -> Array:
    """Macro recall, the mean of $correct_k / gold_k$ over classes, with 0/0 = 0.

    Sums `[..., stat]` are the correct, predicted and gold counts of each class (in this order, as for `macro_fscore`),
    and give scores `[...]` in [0, 1].
    """
    correct, predicted, gold = _thirds(sums)
    return _mean_of_classes(divide(correct, gold), predicted + gold)


def matthews(sums: Array) -> Array:
    r"""Matthews correlation for any number of classes, the $R_K$ of Gorodkin (2004).

    $(c n - \sum_k p_k g_k) / \sqrt{(n^2 - \sum_k p_k^2)(n^2 - \sum_k g_k^2)}$. Of n instances, c are right, $p_k$ are
    predicted as class k, and $g_k$ have the gold label k.

    Sums `[..., stat]` with stat = (correct, predicted of each class, gold of each class) give scores `[...]` in
    [-1, 1]; 0 if the predictions, or the gold labels, are all of one class.

    >>> round(float(matthews(np.array([4.0, 4.0, 2.0, 4.0, 2.0]))), 6)
    0.25
    """
    above, total, predicted, gold = _agreement(sums)
    square = total * total
    spread = (square - (predicted * predicted).sum(-1)) * (square - (gold * gold).sum(-1))
    return divide(above, spread.__array_namespace__().sqrt(spread))


def cohen_kappa(sums: Array) -> Array:
    r"""Cohen's kappa, agreement above chance: $(c n - \sum_k p_k g_k) / (n^2 - \sum_k p_k g_k)$.

    Of n instances, c are right, $p_k$ are predicted as class k, and $g_k$ have the gold label k. Sums `[..., stat]`
    with stat = (correct, predicted of each class, gold of each class) give scores `[...]` up to 1; 0 if predictions and
    gold labels are all of the same class. Reference: Cohen (1960).

    >>> round(float(cohen_kappa(np.array([4.0, 4.0, 2.0, 4.0, 2.0]))), 6)
    0.25
    """
    above, total, predicted, gold = _agreement(sums)
    return divide(above, total * total - (predicted * gold).sum(-1))


def weighted_fscore(sums: Array) -> Array:
    """Weighted F1: the mean of F1 over classes, weighted by their numbers of gold instances.

    Sums `[..., stat]` are the correct, predicted and gold counts of each class (in this order, as for `macro_fscore`),
    and give scores `[...]` in [0, 1].
    """
    correct, predicted, gold = _thirds(sums)
    return divide((gold * divide(2.0 * correct, predicted + gold)).sum(-1), gold.sum(-1))


def balanced_accuracy(sums: Array) -> Array:
    r"""Balanced accuracy, the mean of $correct_k / gold_k$ over the classes that occur as gold labels.

    A class that is only predicted does not count; in `macro_recall`, it counts as 0. Sums `[..., stat]` with stat =
    (correct of each class, gold of each class) give scores `[...]` in [0, 1]. Reference: Brodersen et al. (2010), "The
    balanced accuracy and its posterior distribution".

    >>> float(balanced_accuracy(np.array([3.0, 1.0, 4.0, 2.0])))
    0.625
    """
    size = sums.shape[-1] // 2
    return _mean_of_classes(divide(sums[..., :size], sums[..., size:]), sums[..., size:])


_THIRDS = {
    **{"macro-fscore": macro_fscore, "macro-precision": macro_precision, "macro-recall": macro_recall},
    **{"weighted-fscore": weighted_fscore},
}
_CHANCE = {"mcc": matthews, "kappa": cohen_kappa}
CLASS_METRICS = {
    **{"macro-fscore": "macro F1", "macro-precision": "macro precision", "macro-recall": "macro recall"},
    **{"weighted-fscore": "weighted F1", "balanced-accuracy": "balanced accuracy"},
    **{"mcc": "MCC", "kappa": "Cohen's kappa"},
}
"""Dict from the name of each metric of classes to its title."""


def class_metric(name: str, classes: Sequence[str]) -> Metric:
    """Return the metric with this name in `CLASS_METRICS`, for the given classes.

    Its statistics are named after the classes.

    >>> class_metric("kappa", ["no", "yes"]).stat_names
    ('correct', 'predicted:no', 'predicted:yes', 'gold:no', 'gold:yes')
    """
    correct, predicted, gold = ([f"{kind}:{label}" for label in classes] for kind in ("correct", "predicted", "gold"))
    size, title, shared = len(classes), CLASS_METRICS[name], tuple(gold)
    if name in _CHANCE:
        names = ("correct", *predicted, *gold)
        extract = partial(stack_counts, names, [])
        return Metric(name, _CHANCE[name], names, extract, names, shared_inputs=shared, bounds=(-1.0, 1.0), title=title)
    names = (*correct, *(predicted if name in _THIRDS else []), *gold)
    limits = [(k, k + shift) for k in range(size) for shift in range(size, len(names), size)]
    score, extract = _THIRDS.get(name, balanced_accuracy), partial(stack_counts, names, limits)
    return Metric(name, score, names, extract, names, shared_inputs=shared, bounds=SHARES, title=title)


def class_numbers(name: str, truth: np.ndarray, predicted: np.ndarray, classes: Mapping[str, int]) -> np.ndarray | None:
    """Return the value of the statistic `name` for each instance, `[instance]`; None for an unknown name.

    `truth` and `predicted` are class numbers `[instance]`, and `classes` maps each label to its number. For the names
    "value", "tp" and "correct", the value is 1 if the predicted label is right, else 0.
    """
    kind, _, label = name.partition(":")
    if not label:
        right = {"value", "tp", "correct"}
        return predicted == truth if name in right else np.ones(len(truth)) if name in ("predicted", "gold") else None
    if label not in classes or kind not in ("correct", "predicted", "gold"):
        return None
    code = classes[label]
    return {"correct": (predicted == code) & (truth == code), "predicted": predicted == code, "gold": truth == code}[
        kind
    ]


def restore_class_metric(name: str, stat_names: Sequence[str]) -> Metric | None:
    """Return the metric that `class_metric` makes with these names; None if there is no such metric."""
    if name not in CLASS_METRICS:
        return None
    classes = [stat.removeprefix("gold:") for stat in stat_names if stat.startswith("gold:")]
    made = class_metric(name, classes)
    return made if classes and made.stat_names == tuple(stat_names) else None


def _thirds(sums: Array) -> tuple[Array, Array, Array]:
    """Split sums `[..., stat]` into three counts, `[..., class]` each: correct, predicted and gold."""
    num_classes = sums.shape[-1] // 3
    return sums[..., :num_classes], sums[..., num_classes : 2 * num_classes], sums[..., 2 * num_classes :]


def _mean_of_classes(values: Array, occurrences: Array) -> Array:
    """The mean `[...]` of `values` `[..., class]` over the classes that occur; values of other classes must be 0.

    `occurrences` `[..., class]` is 0 for a class that does not occur.
    """
    occurs = divide(occurrences, occurrences)  # 1 or 0, of the type of the sums
    return divide(values.sum(-1), occurs.sum(-1))


def _agreement(sums: Array) -> tuple[Array, Array, Array, Array]:
    r"""Return the parts of `matthews` and `cohen_kappa`, from their sums.

    They are $c n - \sum_k p_k g_k$ `[...]`, n `[...]`, and the counts p (predicted) and g (gold), `[..., class]` each.
    Of n instances, c are right, $p_k$ are predicted as class k, and $g_k$ have the gold label k.
    """
    num_classes = sums.shape[-1] // 2
    predicted, gold = sums[..., 1 : num_classes + 1], sums[..., num_classes + 1 :]
    total = gold.sum(-1)
    return sums[..., 0] * total - (predicted * gold).sum(-1), total, predicted, gold


_MOST_DECIMALS = 15
"""A double keeps this many decimal digits of any number."""
_FLATTEST = 1e-5
"""Limit for the range of the gold numbers, divided by their largest absolute value. Below it, r2 raises an error,
because the variance of the gold numbers would have too few digits."""


def errors_of(prediction: np.ndarray, gold: np.ndarray, *, power: int = 1) -> np.ndarray:
    """|prediction - gold| raised to `power`, `[instance]`, computed from the decimals as they are written.

    >>> errors_of(np.array([0.5, 0.1]), np.array([0.3, 0.3])).tolist()  # 0.3 - 0.1 is 0.19999999999999998
    [0.2, 0.2]
    """
    size = max(float(np.abs(prediction).max(initial=1.0)), float(np.abs(gold).max(initial=1.0)))
    most = _MOST_DECIMALS - int(np.ceil(power * np.log10(2.0 * size)))
    errors = np.abs(prediction - gold) ** power
    for decimals in range(most // power + 1):
        if all(np.array_equal(np.round(each, decimals), each) for each in (prediction, gold)):
            return np.round(np.round(np.abs(prediction - gold), decimals) ** power, decimals * power)
    return errors


def _with_count(of_each: Callable[[np.ndarray, np.ndarray], np.ndarray], *columns: np.ndarray) -> np.ndarray:
    values = of_each(*columns)
    return np.stack([values, np.ones_like(values)], axis=-1)


def root_mean(sums: Array) -> Array:
    r"""Root of a mean, $\sqrt{\sum_i x_i / n}$: sums `[..., stat]` with stat = (value, count) give scores `[...]`.

    >>> float(root_mean(np.array([8.0, 2.0])))
    2.0
    """
    return sums.__array_namespace__().sqrt(mean_score(sums))


def r2_score(sums: Array) -> Array:
    r"""Coefficient of determination, $1 - \sum_i (p_i - g_i)^2 / \sum_i (g_i - \bar g)^2$.

    Sums `[..., stat]` with stat = (squared error, squared gold number, gold number, count) give scores `[...]` up to 1.
    If all gold numbers are equal, the score is 1 if all errors are 0, else 0, as in scikit-learn.

    >>> float(r2_score(np.array([1.0, 14.0, 6.0, 3.0])))
    0.5
    """
    errors, squares, total, count = (sums[..., k] for k in range(4))
    apart = squares - divide(total * total, count)
    xp = sums.__array_namespace__()
    equal = apart <= 1e-14 * squares
    return xp.where(equal, xp.where(errors == 0, 1.0, 0.0), 1.0 - errors / xp.where(equal, 1.0, apart))


def _extract_r2(prediction: np.ndarray, gold: np.ndarray) -> np.ndarray:
    if 0.0 < np.ptp(gold) < _FLATTEST * np.abs(gold).max():
        raise InputError(
            f"gold numbers from {gold.min():g} to {gold.max():g} vary little for their size, and r2 would lose digits; "
            "subtract one number from gold and predictions"
        )
    squares = errors_of(gold, np.zeros_like(gold), power=2)
    return np.stack([errors_of(prediction, gold, power=2), squares, gold, np.ones_like(gold)], axis=-1)


def _probabilities(name: str, probability: np.ndarray, label: np.ndarray) -> None:
    refuse_where((label != 0) & (label != 1), "label must be 0 or 1", label)
    refuse_where((probability < 0) | (probability > 1), f"{name} takes probabilities from 0 to 1", probability)


def _squared(probability: np.ndarray, label: np.ndarray) -> np.ndarray:
    _probabilities("brier", probability, label)
    return errors_of(probability, label, power=2)


def _logarithms(probability: np.ndarray, label: np.ndarray) -> np.ndarray:
    _probabilities("log-loss", probability, label)
    right = np.where(label == 1, probability, 1.0 - probability)
    return -np.log(np.clip(right, np.finfo(float).eps, None)) + 0.0


def _of_errors(name: str, of_each: Callable[..., np.ndarray], stat: str, title: str, inputs: tuple[str, str]) -> Metric:
    stats, extract = (stat, "count"), partial(_with_count, of_each)
    made = Metric(name, mean_score, stats, extract, inputs, shared_inputs=inputs[1:], higher_is_better=False)
    return replace(made, bounds=RATES, title=title)


_NUMBERS, _CLASS_1 = ("prediction", "gold"), ("probability", "label")
MAE = _of_errors("mae", errors_of, "error", "MAE", _NUMBERS)
MSE = _of_errors("mse", partial(errors_of, power=2), "squared", "MSE", _NUMBERS)
RMSE = replace(MSE, name="rmse", score=root_mean, title="RMSE")
R2 = Metric(
    "r2",
    r2_score,
    ("squared", "gold_squared", "gold", "count"),
    _extract_r2,
    _NUMBERS,
    shared_inputs=("gold",),
    bounds=(-np.inf, 1.0),
    title="R2",
)
BRIER = replace(_of_errors("brier", _squared, "squared", "Brier score", _CLASS_1), bounds=SHARES)
"""The mean of $(p_i - y_i)^2$, where $p_i$ is the predicted probability of label 1, and $y_i$ the label (0 or 1).
Reference: Brier (1950)."""
LOG_LOSS = _of_errors("log-loss", _logarithms, "loss", "log loss", _CLASS_1)
r"""The mean of $-\log p_i$, where $p_i$ is the predicted probability of the right label; probabilities below 2.2e-16
count as 2.2e-16, as in scikit-learn."""
MICRO_FSCORE = replace(ACCURACY, name="micro-fscore", title="micro F1")
"""Micro F1. If each instance has one label, micro F1 is the accuracy."""
PREDICTIONS = (MAE, MSE, RMSE, R2, BRIER, LOG_LOSS, MICRO_FSCORE)
