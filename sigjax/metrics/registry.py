"""The metrics by name; and the checks of a user's input: a function becomes a metric, arrays become an `Evaluation`.

Functions and arrays are checked only here; other modules rely on these checks. A failed check raises an `InputError`.
"""

import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from sigjax.metrics.columns import COLUMNS
from sigjax.metrics.edits import ERROR_RATES
from sigjax.metrics.judges import PPI, with_near_judges
from sigjax.metrics.predictions import CLASS_METRICS, PREDICTIONS, restore_class_metric
from sigjax.metrics.ratios import LARGEST_WHOLE, MATCHES, MEAN, RATIOS, TrialShares, fbeta, trial_metric
from sigjax.metrics.rouge import ROUGE
from sigjax.metrics.textmetric import SACREBLEU
from sigjax.records import EvaluationRecord, Hint, InputError, Match, Metric, Note, SampleMetric
from sigjax.records.display import meant
from sigjax.records.metric import AnyMetric, stack_inputs
from sigjax.records.options import Parameters, check_parameters, split_parameters

_OF_TEXTS = (*SACREBLEU, *ERROR_RATES, *ROUGE)
_OF_SUMS = (*RATIOS, *MATCHES, PPI, *PREDICTIONS, *(each.metric for each in _OF_TEXTS))
METRICS: dict[str, Metric | SampleMetric] = {each.name: each for each in (*_OF_SUMS, *COLUMNS)}
TEXT_METRICS = {each.metric.name: each for each in _OF_TEXTS}
ANSWERS = ("exact_match", "f1")
"""Names of the scores of text answers. For data with classes, the name f1 means the metric fscore."""

ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("accuracy_score", "precision_micro", "recall_micro", "recall_weighted"), "accuracy"),
    **{"f1_score": "fscore", "precision_score": "precision", "recall_score": "recall"},
    **{"f1_macro": "macro-fscore", "precision_macro": "macro-precision", "recall_macro": "macro-recall"},
    **{"f1_micro": "micro-fscore", "f1_weighted": "weighted-fscore"},
    **dict.fromkeys(("balanced_accuracy", "balanced_accuracy_score"), "balanced-accuracy"),
    **{"matthews_corrcoef": "mcc", "cohen_kappa_score": "kappa"},
    **dict.fromkeys(("roc_auc", "roc_auc_score"), "auc"),
    **dict.fromkeys(("average_precision", "average_precision_score"), "average-precision"),
    **{"brier_score_loss": "brier", "log_loss": "log-loss", "r2_score": "r2"},
    **{"mean_absolute_error": "mae", "mean_squared_error": "mse", "root_mean_squared_error": "rmse"},
    **dict.fromkeys(("pearsonr", "pearson"), "correlation"),
    **{"spearmanr": "spearman", "kendalltau": "kendall"},
    **{"chrf2": "chrf", "chrf2++": "chrf++"},
}
"""Dict from a metric's name in scikit-learn, SciPy or sacrebleu (in lower case) to its name in sigjax."""
_NEGATED = {
    **{"neg_mean_absolute_error": "mae", "neg_mean_squared_error": "mse", "neg_root_mean_squared_error": "rmse"},
    **{"neg_log_loss": "log-loss", "neg_brier_score": "brier"},
}
"""Dict from scikit-learn's name of a negated metric (prefix `neg_`) to the name of the metric in sigjax, whose lower
values are better."""
_BY_LOWER = {each.lower(): each for each in (*METRICS, *CLASS_METRICS, *ANSWERS)} | ALIASES


def canonical(name: str) -> str:
    """Translate a metric's name in scikit-learn, SciPy or sacrebleu to its name in sigjax.

    Upper or lower case does not matter. Other names stay unchanged.

    >>> [canonical(name) for name in ("f1_macro", "BLEU(tokenize=zh)", "chrF2", "F0.5", "my_score")]
    ['macro-fscore', 'bleu(tokenize=zh)', 'chrf', 'f0.5', 'my_score']
    """
    base, bracket, inside = name.partition("(")
    lower = base.strip().lower()
    if name in METRICS or base in METRICS or base in CLASS_METRICS:
        return name
    found = lower if fbeta(lower) or trial_metric(lower) else _BY_LOWER.get(lower)
    return name if found is None else f"{found}{bracket}{inside}"


def meant_among(name: str, names: Collection[str]) -> str:
    """Return the metric in `names` that `name` means, perhaps as an alias. If there is no such metric, return `name`.

    >>> [meant_among(name, ["fscore", "macro-fscore"]) for name in ("f1_macro", "F1", "my_score")]
    ['macro-fscore', 'fscore', 'my_score']
    """
    ours = canonical(name)
    return next((each for each in (name, ours, "fscore" if ours == "f1" else name) if each in names), name)


def _between_commas(name: str) -> list[str]:
    """Split a text at its commas, except at commas in brackets."""
    parts, depth = [""], 0
    for piece in name.split(","):
        parts[-1:] = [parts[-1], piece] if depth == 0 else [f"{parts[-1]},{piece}"]
        depth += piece.count("(") - piece.count(")")
    return parts[1:]


def unknown_metric(name: str, known: Collection[str] = ()) -> str:
    """Return suggestions for an unknown metric name, as part of a message; empty if no known name is similar.

    >>> unknown_metric("macro-f1"), unknown_metric("neg_log_loss")
    ("did you mean 'macro-fscore'?", "it is -1 times 'log-loss': give that, of which lower is better")
    """
    allowed, parts = [*(known or (*METRICS, *CLASS_METRICS))], _between_commas(name)
    if (negated := _NEGATED.get(name.lower())) in allowed:
        return f"it is -1 times {negated!r}: give that, of which lower is better"
    if len(parts) > 1 and all(canonical(part.strip()).partition("(")[0] in allowed for part in parts):
        return f"write {Hint('m', *(canonical(part.strip()) for part in parts))}"
    others = {alias: ours for alias, ours in ALIASES.items() if ours in allowed}
    close = dict.fromkeys(others.get(each, each) for each in meant(name, [*allowed, *others]))
    return f"did you mean {' or '.join(map(repr, close))}?" if close else ""


def known_metric(name: str, stat_names: Sequence[str] | None = None) -> Metric | SampleMetric | None:
    """Return the metric with this name; None if there is none.

    With `stat_names` (the names of its statistics), also find a metric that a reader of files made for its data.

    >>> known_metric("f2").name, known_metric("exact_match", ("value", "count")).score is MEAN.score
    ('f2', True)
    """
    found = None
    with suppress(InputError):
        found = parameterized(name)[0]
    is_mean = stat_names is not None and tuple(stat_names) == MEAN.stat_names
    if is_mean and (found is None or found.stat_names != MEAN.stat_names or canonical(name) != name):
        return replace(MEAN, name=name)
    return found or (None if stat_names is None else restore_class_metric(name, stat_names))


def score_named(name: str, known: Collection[str]) -> str | None:
    """Find the score in `known` that has this name in upper or lower case.

    None if there is no such score, or if `name` is a metric of one number per instance, such as the mean.

    >>> score_named("BLEU", ["bleu", "ter"]), score_named("accuracy", ["accuracy"]), score_named("x", ["y"])
    ('bleu', None, None)
    """
    ours = canonical(name)
    found = known_metric(name) if ours == name else None
    if found is not None and found.inputs == MEAN.inputs and found.name not in TEXT_METRICS:
        return None
    same = [name, ours, *(each for each in known if each.lower() == name.lower())]
    return next((each for each in same if each in known), None)


_SAME = {"chrf(word_order=0)": "chrf", "chrf(word_order=2)": "chrf++"}
_DEFAULTS = {"punctuation": "true", "match": "strict"}
"""Dict from a parameter to its default value. For parameters that are not in this dict, the default is "false"."""
_CASE: Parameters = {"lowercase": ("true", "false")}
PARAMETERS: Mapping[str, Parameters] = {
    "bleu": {"tokenize": (), **_CASE},
    "chrf": {"word_order": ("0", "2"), **_CASE},
    "chrf++": _CASE,
    **dict.fromkeys(("wer", "cer"), {**_CASE, "punctuation": ("true", "false")}),
    **dict.fromkeys(("rouge1", "rouge2", "rougeL", "rougeLsum"), {"stem": ("true", "false")}),
    **dict.fromkeys(("fscore", "precision", "recall"), {"match": get_args(Match)}),
}
"""For each metric, the parameters that may follow its name, as in bleu(tokenize=zh), and their values. F-beta has the
parameters of F1."""


@lru_cache
def parameterized(name: str) -> tuple[Metric | SampleMetric | None, str, dict[str, str]]:
    """For a name such as bleu(tokenize=zh), return the metric, the name without parameters, and the parameters.

    If a parameter only selects another metric of the registry, the name of that metric is returned: chrf(word_order=2)
    gives chrf++, and rouge1(stem=true) is a metric with this name. A parameter with its default value is left out. The
    metric is None if the name without parameters is unknown.

    >>> parameterized("bleu( tokenize=zh )")[1:], parameterized("chrf(word_order=2)")[1]
    (('bleu', {'tokenize': 'zh'}), 'chrf++')
    """
    base, given = split_parameters(canonical(name))
    found = METRICS.get(base) or fbeta(base) or trial_metric(base)
    base = "fscore" if found is METRICS["fscore"] else base  # f1 and f1.0, too
    if found is None or not given:
        return found, base, {}
    check_parameters(f"the metric {base}", given, PARAMETERS.get("fscore" if fbeta(base) else base, {}))
    if twice := next((each for each, values in given.items() if len(values) > 1), None):
        raise InputError(f"metric {name!r} has {twice!r} twice; write it once")
    left = dict[str, str]()
    for parameter, (value,) in given.items():
        other = f"{base}({parameter}={value})"
        if (other := _SAME.get(other, other)) in METRICS:
            base, found = other, METRICS[other]
        elif value != _DEFAULTS.get(parameter, "false"):
            left[parameter] = value
    if not left:
        return found, base, {}
    written = ", ".join(f"{parameter}={value}" for parameter, value in left.items())
    joined = f"{base[:-1]}, {written})" if base.endswith(")") else f"{base}({written})"
    return replace(found, name=joined, title=f"{found.title or base} ({written})"), base, left


def resolve_metric(metric: AnyMetric, *, num_inputs: int) -> Metric | SampleMetric:
    """Return the metric record for a name, for a record, or for a user's function of sums over `num_inputs` columns.

    >>> def odds(sums):
    ...     return sums[..., 0] / sums[..., 1]
    >>> resolve_metric(odds, num_inputs=2).stat_names
    ('s0', 's1')
    """
    if isinstance(metric, str):
        found = known_metric(metric) or parameterized(metric)[0]
        if found is None:
            known = unknown_metric(metric) or f"known: {', '.join((*METRICS, *CLASS_METRICS))}"
            known += "" if known.endswith("?") else ";"
            raise InputError(f"unknown metric {metric!r}; {known} `sigjax help metrics` lists all")
        metric = found
    elif not isinstance(metric, Metric | SampleMetric):
        if not callable(metric):
            several = "; several are for sigjax.compare and sigjax.read" if isinstance(metric, list | tuple) else ""
            raise InputError(
                "metric must be a name, a Metric, a SampleMetric or a function of sums, got "
                f"{type(metric).__name__}{several}"
            )
        names = tuple(f"s{i}" for i in range(num_inputs))
        name = getattr(metric, "__name__", type(metric).__name__)
        # Compiled programs are cached by function, so it must be hashable. A `partial` is hashable, even if its
        # function is not.
        score = metric if getattr(metric, "__hash__", None) else partial(metric)
        return Metric(name, score, names, stack_inputs, names)
    if len(metric.inputs) != num_inputs:
        raise InputError(
            f"metric {metric.name!r} takes {len(metric.inputs)} number(s) per instance ({', '.join(metric.inputs)}), "
            f"got {num_inputs}"
        )
    return metric


_OWN_SCORES = frozenset(each.score for each in METRICS.values())
_AGREE = 1e-9
"""Tolerance for two computations of the same scores, as a fraction of the largest score."""


def check_score(metric: Metric, sums: np.ndarray) -> None:
    """Raise an error if a user's score function does not work on the last axis alone, `[..., stat] -> [...]`.

    The sums `[system, stat]` are scored one system at a time, and all together with one more axis. Both results must
    agree up to rounding: powers of a single number and of an array differ in the last bit. The sums are read-only, so
    that a function that would change them fails.

    >>> check_score(resolve_metric(lambda sums: sums[0] / sums[1], num_inputs=2), np.ones((3, 2)))
    Traceback (most recent call last):
        ...
    sigjax.InputError: metric '<lambda>' must turn sums [..., stat] into real numbers [...]: write
    sums[..., 0] for the first statistic
    """
    if metric.score in _OWN_SCORES:
        return
    count = next(count for count in (2, 3, 4) if count not in sums.shape)  # no two axes have the same size
    together = np.repeat(sums[:, None], count, axis=1)
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
    slack = _AGREE * float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0)) if is_right else 0.0
    if not is_right or not all(
        score.shape == () and np.isclose(row, score, rtol=0.0, atol=slack, equal_nan=True).all()
        for row, score in zip(scores, alone, strict=True)
    ):
        raise InputError(
            f"metric {metric.name!r} must turn sums [..., stat] into real numbers [...]: write sums[..., 0] for the "
            "first statistic"
        )


_FIXED = (
    "runs are the units, within each of the {} strata, which are fixed: p and intervals are for new runs of the same "
    "tasks; a pair swaps and draws the runs of one label together"
)


def evaluation_from_arrays(
    arrays: Mapping[str, Any],
    *,
    metric: AnyMetric,
    ids: Sequence[object] | None = None,
    clusters: Sequence[object] | None = None,
    strata: Sequence[object] | None = None,
    runs: Sequence[object] | None = None,
    notes: tuple[str, ...] = (),
) -> EvaluationRecord:
    """Check the arguments of `Evaluation.from_arrays`, which explains them, and make the evaluation."""
    check_mapping(arrays, "numbers by system, such as {'A': [1, 0], 'B': [1, 1]}")
    record = known_metric(metric) if isinstance(metric, str) else metric
    optional = [
        k for k, name in enumerate(getattr(record, "inputs", ())) if name in getattr(record, "optional_inputs", ())
    ]
    tables = dict[str, np.ndarray]()
    for name, values in arrays.items():
        try:
            tables[str(name)] = as_numbers(str(name), values, optional)
        except InputError as error:
            is_text = str(error.message[-1]).endswith("got text")
            labels = "; predicted labels are scored by Evaluation.from_predictions" * is_text
            raise InputError(error.message, labels) from None
    if len(tables) < len(arrays):
        raise InputError("two systems have the same name; rename one")
    (first, table), *others = tables.items()
    for name, other in others:
        if other.shape != table.shape:
            (count, width), (others_count, others_width) = table.shape, other.shape
            what = f"{first!r} has {count} instances, {name!r} has {others_count}; give both"
            if count == others_count:
                what = f"{first!r} has {width} numbers for each, {name!r} has {others_width}; give as many"
            raise InputError(f"systems have different instances: {what} in the same order on the same test set")
    refuse_other_indexes(arrays)
    num_instances, num_inputs = table.shape
    if num_instances == 0:
        raise InputError("there are no instances to compare on")
    resolved = resolve_metric(metric, num_inputs=num_inputs)
    _refuse_out_of_range(resolved, tables)
    if resolved is PPI:
        tables = dict(zip(tables, with_near_judges(list(tables.values())), strict=True))
    labels, trials = _labels("ids", ids, num_instances), _labels("runs", runs, num_instances)
    _refuse_repeats(labels, trials)
    blocks = _labels("strata", strata, num_instances)
    stats = np.stack([_extract(resolved, name, values) for name, values in tables.items()])
    if isinstance(resolved.extract, TrialShares):
        stats = resolved.extract.of_runs(stats[..., 0], labels or [*map(str, range(1, num_instances + 1))])
    elif trials and labels and blocks and len({*labels}) == len({*blocks}) == len({*zip(labels, blocks, strict=True)}):
        # Make each instance a stratum. Then instances are fixed, and only their runs are drawn.
        labels, trials = tuple(f"{name} / {run}" for name, run in zip(labels, trials, strict=True)), None
        notes = (
            *(note for note in notes if getattr(note, "code", "") != "models"),
            Note(_FIXED.format(len({*blocks})), code="fixed"),
        )
    return EvaluationRecord(
        systems=tuple(tables),
        stats=_whole(stats),
        ids=labels,
        metric=resolved,
        clusters=_labels("clusters", clusters, num_instances),
        strata=blocks,
        runs=trials,
        notes=notes,
    )


LARGEST = 1e140
"""The largest absolute number that is accepted. Up to it, squares and their sums stay within the range of a double."""
_SQUARED = frozenset({"variance", "mse", "rmse", "r2", "ppi"})
"""Names of metrics that square numbers, or multiply two numbers. They refuse data whose squares are too small for a
double."""


def _refuse_out_of_range(metric: AnyMetric, tables: Mapping[str, np.ndarray]) -> None:
    """Raise an error for numbers whose squares leave the range of a double.

    With such numbers, results would be infinite, NaN or 0. `tables` maps each system to its numbers
    `[instance, input]`.
    """
    largest = 0.0
    for name, table in tables.items():
        sizes = np.nan_to_num(np.abs(table))
        largest = max(largest, float(sizes.max()))
        if largest > LARGEST:
            row, column = np.argwhere(sizes > LARGEST)[0].tolist()
            raise InputError(
                f"system {name!r}: {table[row, column]:g} at instance {row + 1}; numbers up to {LARGEST:g} are taken; "
                "rescale them"
            )
    if 0.0 < largest < 1.0 / LARGEST and getattr(metric, "name", "") in _SQUARED:
        raise InputError(
            f"the largest number is {largest:g}, whose square is too small for a double; numbers from "
            f"{1.0 / LARGEST:g} are taken; rescale them"
        )


def refuse_other_indexes(arrays: Mapping[str, Any]) -> None:
    """Raise an error if pandas series have different labels.

    Series are compared by position. So with different labels, different instances would be compared.
    """
    labelled = [(name, values.index) for name, values in arrays.items() if hasattr(values, "iloc")]
    for (first, index), (name, other) in pairwise(labelled):
        if not index.equals(other):
            raise InputError(
                f"the series of {str(first)!r} and {str(name)!r} have different indexes: join them in one data frame, "
                "or give `.to_numpy()` of each if they are in the same order"
            )


def check_mapping(given: object, expected: str) -> None:
    """Raise an error if an argument is not a mapping from systems to values; the message says what was `expected`."""
    if not isinstance(given, Mapping):
        frame = "; use Evaluation.from_dataframe, or sigjax.read" if hasattr(type(given), "columns") else ""
        raise InputError(f"expected {expected}, got {type(given).__name__}{frame}")


def is_number_text(text: str) -> bool:
    """Whether a text is a finite number."""
    with suppress(ValueError):
        return np.isfinite(float(text)).item()
    return False


def refuse_mean(name: object, values: object) -> None:
    """Raise an error if `values` is a single number, because one number per instance is expected."""
    is_number = is_number_text(values) if isinstance(values, str) else isinstance(values, int | float)
    if is_number or (getattr(values, "shape", None) == () and np.asarray(values).dtype.kind in "biuf"):
        raise InputError(
            f"system {str(name)!r}: one number, {str(values)[:40]}, is a mean; give the result on each instance (1 "
            "right, 0 wrong)"
        )


def check_enough(systems: Any) -> None:
    """Raise an error if there are fewer than two systems. Data that are not a mapping raise an error elsewhere."""
    if issubclass(type(systems), Mapping) and len(systems) < 2:
        raise InputError(f"a comparison needs at least two systems, got {len(systems)}")


def _refuse_repeats(ids: tuple[str, ...] | None, runs: tuple[str, ...] | None) -> None:
    """Raise an error if two instances have the same id, or two runs of an instance have the same label."""
    if ids is None:
        if runs is not None:
            raise InputError("runs: without ids nothing tells which runs are of the same instance; give ids")
        return
    keys = ids if runs is None else tuple(zip(ids, runs, strict=True))
    if len(set(keys)) < len(keys):
        repeated = next(key for key, count in Counter(keys).items() if count > 1)
        what = f"instance id {repeated!r}" if runs is None else f"run {repeated[1]!r} of instance {repeated[0]!r}"
        raise InputError(f"{what} occurs more than once; ids must be unique")


def as_numbers(name: str, values: object, optional: Sequence[int] = ()) -> np.ndarray:
    """Convert the values of one system to float64 or int64 `[instance, input]`.

    NaN raises an error, except in the `optional` columns.
    """
    refuse_mean(name, values)
    if "numpy.ma" in sys.modules and np.ma.is_masked(values):
        raise InputError(f"system {name!r}: some numbers are masked; remove those instances from every system")
    try:
        array = np.asarray(values)
        array = np.asarray(array.tolist()) if array.dtype.kind == "O" else array
    except ValueError:
        raise InputError(f"system {name!r}: rows have different lengths; expected a rectangular array") from None
    except TypeError as error:  # JAX raises it for traced arrays, which have no values
        raise InputError(
            f"system {name!r}: cannot be read as numbers ({str(error).splitlines()[0]}); give their values, outside of "
            "functions that JAX traces (jax.jit, jax.vmap, jax.grad)"
        ) from None
    if array.dtype.kind == "V" and np.can_cast(array.dtype, np.float64):  # such as bfloat16, a type unknown to NumPy
        array = array.astype(np.float64)
    if array.dtype.kind in "biu":
        if array.size and (array.max() > LARGEST_WHOLE or array.min() < -LARGEST_WHOLE):
            raise InputError(f"system {name!r}: whole numbers must stay within 2**53; divide them by a common unit")
        array = array.astype(np.int64)
    elif array.dtype.kind == "f":
        check_kept(f"system {name!r}", values, array)
        array = array.astype(np.float64)
    else:
        got = {"U": "text", "S": "bytes"}.get(array.dtype.kind, str(array.dtype))
        if array.dtype.kind == "O":
            kinds = (type(each).__name__ for each in array.flat if not isinstance(each, int | float))
            got = next(kinds, "whole numbers beyond 2**53")
        raise InputError(f"system {name!r}: expected numbers, got {got}")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"system {name!r}: expected [instance] or [instance, input], got {array.ndim} axes")
    finite = np.isfinite(array)
    for column in optional:
        finite[:, column : column + 1] |= np.isnan(array[:, column : column + 1])
    if not finite.all():
        wrong = np.argwhere(~finite)[0]
        raise InputError(f"system {name!r}: {array[tuple(wrong)]} at instance {wrong[0] + 1}; remove or repair it")
    return array


def check_kept(what: str, values: Any, array: np.ndarray) -> None:
    """Raise an error if float64 cannot hold some of the `values`; `array` is what NumPy made from the values."""
    kept = array.astype(np.float64)
    if not isinstance(values, np.ndarray) and np.any(np.abs(kept) >= LARGEST_WHOLE):
        given = np.asarray(values, object).ravel()
        if any(isinstance(each, int) and abs(each) > LARGEST_WHOLE for each in given):
            raise InputError(f"{what}: whole numbers must stay within 2**53; divide them by a common unit")
    if array.dtype.itemsize > 8 and np.any((array != 0) & (kept == 0)):
        raise InputError(f"{what}: a number is too small for a double; write 0, or rescale the numbers")


def _extract(metric: Metric | SampleMetric, name: str, values: np.ndarray) -> np.ndarray:
    """Return the statistics `[instance, stat]` of one system from `values` `[instance, input]`.

    Error messages name the system.
    """
    try:
        return metric.extract(*values.T)
    except InputError as error:
        raise InputError(f"system {name!r}: ", error.message) from None


def _whole(stats: np.ndarray) -> np.ndarray:
    """Convert statistics to int64 if every number is whole and exact as a double; else return them unchanged."""
    if stats.dtype.kind == "i":
        return stats
    if np.all(stats == np.rint(stats)) and np.abs(stats).max(initial=0.0) <= LARGEST_WHOLE:
        return stats.astype(np.int64)
    return stats


def _labels(what: str, labels: Sequence[object] | None, num_instances: int) -> tuple[str, ...] | None:
    if labels is None:
        return None
    if len(labels) != num_instances:
        raise InputError(f"{what}: expected one label for each of the {num_instances} instances, got {len(labels)}")
    for i, label in enumerate(labels):
        if label is None or str(label) == "" or label != label:  # NaN differs from itself
            raise InputError(f"{what}: expected a label for every instance, got {label!r} at instance {i + 1}")
    return tuple(str(label) for label in labels)
