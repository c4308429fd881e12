"""The sentences that go with the numbers, the same in every format for people."""

from __future__ import annotations

import numpy as np

from sigjax.multiple.decision import MOST_RESAMPLES
from sigjax.records import Comparison, Comparisons, Settings
from sigjax.report.numbers import format_adjusted_p, format_raw_p, is_significant

METHODS = {"exact": "exact", "dp": "exact by dp", "tree": "exact by tree", "montecarlo": "Monte Carlo"}
ALTERNATIVES = {"two-sided": "two-sided", "greater": "one-sided (greater)", "less": "one-sided (less)"}
CORRECTIONS = {
    "holm": "Holm",
    "hochberg": "Hochberg",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
    "maxt": "Westfall-Young maxT",
    "minp": "Westfall-Young minP",
}
DESIGNS = {
    ("permutation", "crossed"): ", outputs exchanged within units",
    ("bootstrap", "nested"): ", runs drawn within units",
    ("permutation", "models"): ", whole runs exchanged",
}
AT_LEAST = {"two-sided": "large", "greater": "high", "less": "low"}


def count(number: int, noun: str) -> str:
    """A number and its noun.

    Example:
        >>> count(1, "pair"), count(12000, "pair")
        ('1 pair', '12,000 pairs')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def caption(metric: str, num_instances: int, num_units: int, *, lower_is_better: bool) -> str:
    """The metric, and what it was computed on."""
    text = f"{metric}: {count(num_instances, 'instance')}"
    if num_units != num_instances:
        text += f", resampled as {count(num_units, 'cluster')}"
    return f"{text}; lower is better" if lower_is_better else text


def heading(comparisons: Comparisons, adjusted_over: int, settings: Settings) -> str:
    """The test, its alternative, and over how many pairs p was adjusted."""
    test = comparisons[0].test
    text = f"{test} test, {ALTERNATIVES[settings.alternative]}{', mid-p' if settings.mid_p else ''}"
    text += DESIGNS.get((test, settings.design), "")
    if settings.alternative != "two-sided" and settings.baseline is None:
        text += ": first system minus second, in the order of the data"
    if adjusted_over == 1:
        return text
    pairs = count(adjusted_over, "pair")
    if adjusted_over > len(comparisons):
        pairs += " of all metrics"
    if settings.correction == "none":
        return f"{text}; p not adjusted for {pairs}"
    text += f"; p adjusted by {CORRECTIONS[settings.correction]} over {pairs}"
    if settings.correction in ("maxt", "minp") and (comparisons.column("resamples") < 0).any():
        text += f" on {count(settings.fixed_resamples, 'resample')}"  # the method line names none for exact p-values
    return text


def method_line(comparisons: Comparisons) -> str:
    """How the p-values of a family were computed."""
    if len(comparisons) == 1:
        one = comparisons[0]
        return f"method: {', '.join([METHODS[one.method], *_resamples(comparisons)])} ({one.reason})"
    methods, sampled = comparisons.column("method"), comparisons.where("method", "montecarlo")
    exact, parts = [method for method in methods.present() if method != "montecarlo"], []
    if exact:
        parts.append(f"{METHODS[exact[0]]} ({count(len(comparisons) - len(sampled), 'pair')})")
    if len(sampled):
        parts.append(f"Monte Carlo ({', '.join([count(len(sampled), 'pair'), *_resamples(sampled)])})")
    return "method: " + ", ".join(parts)


def _resamples(comparisons: Comparisons) -> list[str]:
    """The number of resamples, as a range where pairs differ; nothing for exact p-values."""
    numbers = [number for number in np.unique(comparisons.column("resamples")).tolist() if number >= 0]
    if len(numbers) > 1:
        return [f"{numbers[0]:,} to {count(numbers[-1], 'resample')}"]
    return [count(number, "resample") for number in numbers]


def has_equal_scores(comparison: Comparison) -> bool:
    """Whether there is no difference to test."""
    return comparison.delta == 0 and comparison.p_value == 1


def conclusion(comparison: Comparison) -> str:
    """What the test says of one pair, in one sentence.

    For delta = 0 every resample is at least as extreme, so p = 1 does not show that the systems are identical; a
    standard error of 0 does.
    """
    a, b, settings = comparison.a, comparison.b, comparison.settings
    if has_equal_scores(comparison):
        if comparison.standard_error == 0:
            return f"{a} and {b} have the same score on every resample (p = 1)."
        return f"{a} and {b} have the same score: there is no difference to test (p = 1)."
    test = f"{ALTERNATIVES[settings.alternative]} {comparison.test} test, {METHODS[comparison.method]}"
    p, limit = format_raw_p(comparison), f"{settings.alpha:g}"
    by = "p" if comparison.p_adjusted == comparison.p_value else "adjusted p"
    decides = p if by == "p" else format_adjusted_p(comparison).rstrip("*")
    if is_significant(comparison):
        better, worse = (a, b) if comparison.better == a else (b, a)
        chance = f"the difference is unlikely to be chance ({by} = {decides} < {limit}, {test})"
        return f"{better} is better than {worse}: {chance}."
    not_below = "not below" if by == "p" else f"{by} = {decides}, not below"
    return (
        f"No significant difference between {a} and {b}: if they were equally good, a difference at least this "
        f"{AT_LEAST[settings.alternative]} would arise by chance with probability {p} ({not_below} {limit}, {test})."
    )


def unsettled(comparisons: Comparisons) -> str | None:
    """A warning where infinitely many resamples could decide otherwise, and how many would do; else None."""
    pairs = comparisons.where("settled", value=False)
    if not len(pairs):
        return None
    limit = f"{pairs[0].settings.alpha:g}"
    if len(comparisons) == 1:
        text = f"The decision at {limit} is not settled: more resamples could change it"
    else:
        text = f"{count(len(pairs), 'pair')} {'is' if len(pairs) == 1 else 'are'} not settled at {limit}"
        text += ": more resamples could change the decision"
    return f"{text}; {_enough(pairs.values('resamples_needed'))}."


def _enough(needed: list[int | None]) -> str:
    """How many resamples would settle these decisions; None is more than `MOST_RESAMPLES`."""
    numbers = [number for number in needed if number is not None]
    them = "it" if len(needed) == 1 else "them"
    if not numbers:
        return f"even {MOST_RESAMPLES:,} would hardly settle {them}"
    text = f"about {max(numbers):,} would settle "
    if len(numbers) == len(needed):
        return text + them
    others = len(needed) - len(numbers)
    return f"{text}{len(numbers):,} of them, and even {MOST_RESAMPLES:,} hardly the other{'s' if others > 1 else ''}"


def left_out(noun: str, shown: int, systems: int, *, every_pair: str) -> str:
    """What a grid or a figure leaves out, and where to find it."""
    return f"The {noun} shows the first {shown} of {systems} systems; {every_pair} every pair."
