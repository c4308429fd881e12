"""The sentences that go with the numbers, the same in every format for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sigjax.multiple.decision import MOST_RESAMPLES
from sigjax.records import Comparison, Comparisons, Settings
from sigjax.report.grid import MAX_LISTED, shown_pairs
from sigjax.report.numbers import alpha, format_adjusted_p, format_raw_p, is_significant, percent
from sigjax.report.sections import Family, Section, has_letters, has_positions, has_ranks, has_unclustered

if TYPE_CHECKING:
    from sigjax.report.report import Report

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
FAMILYWISE = ("holm", "hochberg", "bonferroni", "maxt", "minp")
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


def caption(section: Section, report: Report) -> str:
    """The metric, and what it was computed on."""
    text = f"{section.metric}: {count(report.num_instances, 'instance')}"
    if report.num_units != report.num_instances:
        text += f", resampled as {count(report.num_units, 'cluster')}"
    return f"{text}; lower is better" if section.lower_is_better else text


def key(section: Section, settings: Settings) -> str | None:
    """What the columns of a table of systems mean that not all tables have; None where there are none."""
    parts = [_standing_key(section, settings)] if has_ranks(section) else []
    if has_unclustered(section.systems):
        of_clusters = "for new clusters and runs" if settings.design == "models" else "of clusters"
        parts.append(f"Std. error: {of_clusters}; unclustered: if instances were independent.")
    parts += [_position_key(settings)] if has_positions(section) else []
    return " ".join(parts) or None


def _position_key(settings: Settings) -> str:
    level, limit = percent(settings.level), f"{alpha(settings):g}"
    return (
        f"On bootstrap resamples: boot. ranks are the ranks of a system on the middle {level} of them; systems with "
        f"MCS p not below {limit} are the model confidence set, which holds the best with {level}."
    )


def _standing_key(section: Section, settings: Settings) -> str:
    adjusted = "" if settings.correction == "none" else "adjusted "
    by = f"By the {settings.tests[0]} test at {adjusted}p < {alpha(settings):g}"
    together = f", all together at {percent(settings.level)}" if settings.correction in FAMILYWISE else ""
    ranks = f"ranks are those that no significant difference excludes{together}"
    letters = "; systems that share a letter do not differ significantly" if has_letters(section) else ""
    return f"{by}: {ranks}{letters}."


def heading(family: Family, settings: Settings) -> str:
    """The test, its alternative and what p was adjusted over."""
    text = f"{family.test} test, {ALTERNATIVES[settings.alternative]}{', mid-p' if settings.mid_p else ''}"
    text += DESIGNS.get((family.test, settings.design), "")
    if settings.alternative != "two-sided" and settings.baseline is None:
        text += ": first system minus second, in the order of the data"
    if family.adjusted_over == 1:
        return text
    pairs = count(family.adjusted_over, "pair")
    if family.adjusted_over > len(family.comparisons):
        pairs += " of all metrics"
    if settings.correction == "none":
        return f"{text}; p not adjusted for {pairs}"
    text += f"; p adjusted by {CORRECTIONS[settings.correction]} over {pairs}"
    if settings.correction in ("maxt", "minp") and (family.comparisons.column("resamples") < 0).any():
        text += f" on {count(settings.fixed_resamples, 'resample')}"  # the method names none for exact p-values
    return text


def method_line(family: Family) -> str:
    """How the p-values of a family were computed."""
    comparisons = family.comparisons
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
    """How many resamples were drawn, as a range where pairs differ; empty when none were."""
    numbers = [number for number in np.unique(comparisons.column("resamples")).tolist() if number >= 0]
    if len(numbers) > 1:
        return [f"{numbers[0]:,} to {count(numbers[-1], 'resample')}"]
    return [count(number, "resample") for number in numbers]


def conclusion(comparison: Comparison) -> str:
    """What one pair tells, in one sentence.

    For delta = 0 every resample is at least as extreme, so p = 1 does not show that the systems are identical; a
    standard error of 0 does.
    """
    a, b, settings = comparison.a, comparison.b, comparison.settings
    if comparison.delta == 0 and comparison.p_value == 1:
        if comparison.standard_error == 0:
            return f"{a} and {b} have the same score on every resample (p = 1)."
        return f"{a} and {b} have the same score: there is no difference to test (p = 1)."
    test = f"{ALTERNATIVES[settings.alternative]} {comparison.test} test, {METHODS[comparison.method]}"
    p, limit = format_raw_p(comparison), f"{alpha(settings):g}"
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


def unsettled(family: Family) -> str | None:
    """A warning where endless resamples could decide otherwise, and how many would do; None where all is settled."""
    pairs = family.comparisons.where("settled", value=False)
    if not len(pairs):
        return None
    limit = f"{alpha(pairs[0].settings):g}"
    if len(family.comparisons) == 1:
        text = f"The decision at {limit} is not settled: more resamples could change it"
    else:
        text = f"{count(len(pairs), 'pair')} {'is' if len(pairs) == 1 else 'are'} not settled at {limit}"
        text += ": more resamples could change the decision"
    return f"{text}; {_enough(pairs.values('resamples_needed'))}."


def _enough(needed: list[int | None]) -> str:
    """How many resamples would settle as many decisions."""
    numbers = [number for number in needed if number is not None]
    them = "it" if len(needed) == 1 else "them"
    if not numbers:
        return f"even {MOST_RESAMPLES:,} would hardly settle {them}"
    text = f"about {max(numbers):,} would settle "
    if len(numbers) == len(needed):
        return text + them
    others = len(needed) - len(numbers)
    return f"{text}{len(numbers):,} of them, and even {MOST_RESAMPLES:,} hardly the other{'s' if others > 1 else ''}"


def too_many(section: Section, shown: int, *, every_pair: str) -> str:
    """What a grid leaves out, and where to find it."""
    return f"The grid shows the first {shown} of {len(section.systems)} systems; {every_pair} every pair."


def too_many_listed(section: Section, family: Family) -> str | None:
    """What a list of pairs leaves out, and where to find it; None where it has all."""
    shown = len(shown_pairs(section, family))
    if shown == len(family.comparisons):
        return None
    return (
        f"The list shows the {shown:,} pairs of the first {MAX_LISTED} of {len(section.systems):,} systems; --format "
        f"csv or json gives all {len(family.comparisons):,}."
    )
