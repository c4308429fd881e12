"""Texts for numbers, options, tests and names, as people see them.

All numbers of a table have the same number of decimals. The text of a p-value lies on the same side of the threshold as
the p-value itself. Different names stay different when they are cut.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np

from sigjax.metrics import CLASS_METRICS, known_metric
from sigjax.multiple.decisions import ERROR
from sigjax.multiple.discoveries import RealDifferences
from sigjax.records import CORRECTIONS, DESIGNS, Comparison, Interval, Settings
from sigjax.records.display import shared_length

METHODS = {
    **{"exact": "exact", "dp": "exact by dp", "tree": "exact by tree"},
    **{"montecarlo": "Monte Carlo", "tilted": "importance sampling"},
}
ALTERNATIVES = {"two-sided": "two-sided", "greater": "one-sided (greater)", "less": "one-sided (less)"}
DASH = "–"
SMALLEST_SHOWN = 1e-300
"""P-values below this number are shown from their log10, because the smallest doubles (below 2.3e-308) lose digits."""
SMALLEST_ON_SCREEN = 1e-4
"""Smaller p-values are shown as "<0.0001" on a screen: the assumptions of tests are never exact enough for such p."""
_TITLES = {"exact_match": "EM", "mqm": "MQM", **CLASS_METRICS}
"""Dict from names to titles, for scores whose names come from files, and for metrics that are made from classes."""


def metric_title(name: str) -> str:
    """Return the name of a metric as in papers. The name of a task may stand before it. Unknown names stay the same.

    >>> [metric_title(name) for name in ("bleu", "f0.5", "ndcg@10", "gsm8k: exact_match", "my score")]
    ['BLEU', 'F0.5', 'nDCG@10', 'gsm8k: EM', 'my score']
    """
    from sigjax.formats.trec import parse_measure  # import a format only if it is needed

    task, colon, score = name.rpartition(": ")
    known = known_metric(score) or parse_measure(score)
    return f"{task}{colon}{_TITLES.get(score) or (known and known.title) or score}"


def is_warning(note: str) -> bool:
    """Whether the note is a warning, which people must read before any number."""
    return note.startswith("warning: ")


def count(number: int, noun: str) -> str:
    """Return a number and its noun as text: 1 pair, 12,000 pairs."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


IDENTICAL = "identical on every instance"
"""The beginning of the note about systems with identical results."""
COMMAND = re.compile(r"`(sigjax [^`\n]*)`")
"""A command of sigjax in a sentence, which the outputs show as code. Names with backticks are not commands."""
LOWER, HIGHER = "; lower is better", "; higher is better"
"""The caption of a metric may end with one of these texts, to say whether lower or higher scores are better."""


def joined(items: Sequence[str]) -> str:
    """Return the items as one text, with commas, and "and" before the last item."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def first_of(names: Sequence[str], most: int) -> str:
    """Return a text with the first `most` names, and the number of further names."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


BEST = "Best: "


def best_sentence(best: str, near: str, worse: Sequence[str], *, beaten: int | None, unsure: int = 0) -> str:
    """Return sentences on the best systems, the systems that are not significantly worse, and the worse systems.

    A single worse system is named; several are counted. `best` and `near` are lists of systems, as texts. `beaten` is
    the number of worse systems that the best system beats (None if unknown). `unsure` is how many of these results may
    change with more resamples.

    >>> print(best_sentence("a (0.9)", "b (0.8)", ["c (0.2)"], beaten=1))
    Best: a (0.9). Not significantly worse: b (0.8). c (0.2) is significantly worse.
    >>> print(best_sentence("a (0.9)", "", ["b (0.2)", "c (0.1)"], beaten=2, unsure=2))
    Best: a (0.9). The other 2 are significantly worse, all of them by a p-value that is not certain yet (*?).
    """
    number, is_one = len(worse), len(worse) == 1
    than = "" if beaten == number else " than another"
    if than and beaten is not None:
        than += ", but not than the best" if is_one else f", {beaten:,} of them than the best"
    if unsure:
        which = "" if is_one else "all of them " if unsure == number else f"{unsure:,} of them "
        than += f", {which}by a p-value that is not certain yet (*?)"
    others = f"{worse[0]} is" if is_one else f"The other {number:,} are"
    return f"{BEST}{best}. {f'Not significantly worse: {near}. ' if near else ''}{others} significantly worse{than}."


def percent(level: float) -> str:
    """Return a level as people write it, such as 99.9%."""
    return f"{100 * level:g}%"


def real_sentence(found: RealDifferences, level: float) -> str:
    """Return lower bounds on the number of real differences as text: how many pairs of systems truly differ.

    `level` is the confidence level of the bounds. All outputs use this wording.

    >>> said = real_sentence(RealDifferences("F1", significant=5, real=4, pairs=10, real_of_all=6), 0.95)
    >>> said.partition(", with ")[0]
    'at least 4 of the 5 significant differences are real, and at least 6 of all 10 pairs differ'
    """
    number, real = found.significant, found.real
    if not number:
        said = "no pair differs significantly"
    elif number == 1:
        said = "the significant difference is real" if real else "the significant difference may be chance"
    else:
        which = f"at least {real:,} of the {number:,}" if real < number else "both" if real == 2 else f"all {number:,}"
        said = f"{which} significant differences are real"
    if (more := found.real_of_all) > real:
        pairs = "pairs of all metrics" if found.metric is None else "pairs"
        joined = "and" if real else "but"
        said += f", {joined} at least {more:,} of all {found.pairs:,} {pairs} {'differs' if more == 1 else 'differ'}"
    elif not real and number < 2:
        return said
    return f"{said}, with {percent(level)} confidence (closed testing; see `sigjax help discoveries`)"


def heading_of_test(test: str, num_pairs: int, adjusted_over: int, settings: Settings, *, is_sampled: bool) -> str:
    """Return a text with the test, its alternative, and the number of pairs over which p was adjusted.

    `num_pairs` is the number of pairs of the metric. `is_sampled`: whether all p-values were sampled.
    """
    text = f"{test} test, {ALTERNATIVES[settings.alternative]}{', mid-p' if settings.mid_p else ''}"
    if settings.statistic == "studentized" and test == "permutation":
        text += ", studentized"
    text += DESIGNS[settings.design].beside.get(test, "")
    if settings.alternative != "two-sided" and settings.baseline is None:
        text += ": first system minus second, in the order of the data"
    if adjusted_over == 1:
        return text
    pairs = count(adjusted_over, "pair") + (" of all metrics" if adjusted_over > num_pairs else "")
    if settings.correction == "none":
        return f"{text}; p not adjusted for {pairs}"
    text += f"; p adjusted by {CORRECTIONS[settings.correction].title} over {pairs}"
    if CORRECTIONS[settings.correction].is_resampled and not is_sampled:
        text += f" on {count(settings.fixed_resamples, 'resample')}"  # the method line names no resamples if p is exact
    return text


def method_line(only: Comparison | None, num_pairs: int, drawn: np.ndarray, methods: Sequence[str]) -> str:
    """Return a sentence on how the p-values of a family were computed.

    `drawn` contains the number of resamples of each pair whose p was sampled. `methods` are the methods of all pairs,
    and `only` is the pair if there is only one pair, else None.
    """
    numbers = [count(drawn.max(), "resample")] if drawn.size else []
    if numbers and drawn.min() < drawn.max():
        numbers = [f"{drawn.min():,} to {numbers[0]}"]
    if only is not None:
        joint = " after " if only.method == "tilted" else ", "
        return f"method: {joint.join([METHODS[only.method], *numbers])} ({only.reason})"
    exact, parts = [method for method in methods if method not in ("montecarlo", "tilted")], []
    if exact:
        parts.append(f"{METHODS[exact[0]]} ({count(num_pairs - len(drawn), 'pair')})")
    if len(drawn):
        tilted = ", importance sampling where none is extreme" if "tilted" in methods else ""
        parts.append(f"Monte Carlo ({', '.join([count(len(drawn), 'pair'), *numbers])}{tilted})")
    return "method: " + ", ".join(parts)


def lone_sentence(num_units: int, num_instances: int, settings: Settings) -> str | None:
    """Return a sentence about data with a single unit; None if there are more units, or if runs are exchanged.

    A swap only changes the sign of the difference, so two-sided p is 1 (mid-p 1/2) for every difference.
    """
    if num_units > 1 or DESIGNS[settings.design].exchanges != "units":
        return None
    unit = "instance" if num_instances == 1 else "unit (all instances are one cluster)"
    return f"One {unit} is not enough for a test: swapped or not, it has a difference of the same size."


def interval_heading(settings: Settings, joint_pairs: Sequence[int | None]) -> str:
    """Return words for the kind of the intervals of some deltas: for each pair alone, or simultaneous ("joint").

    `joint_pairs` has for each delta the number of pairs whose intervals are simultaneous.

    >>> interval_heading(Settings(), [3, 3, 3]), interval_heading(Settings(), [1, 1])
    ('95% interval, joint (3 pairs)', '95% interval, each pair alone')
    >>> interval_heading(Settings(confidence_level=0.9), [1])
    '90% interval'
    """
    words, most = f"{percent(settings.confidence_level)} interval", max(filter(None, joint_pairs), default=1)
    if most > 1:
        return f"{words}, joint ({count(most, 'pair')})"
    return f"{words}, each pair alone" if len(joint_pairs) > 1 else words


def is_significant(comparison: Comparison) -> bool:
    """Whether the adjusted p-value is below alpha, the significance level of the comparison."""
    return comparison.p_adjusted < comparison.settings.alpha


def number_spec(values: Iterable[float | None]) -> str:
    """Return a format specification (as of Python's `format`) that suits all numbers of a table.

    >>> number_spec([0.8123, 0.01]), number_spec([31.2, None]), number_spec([0.00031])
    ('z.4f', 'z.2f', 'z.6f')
    """
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if largest == 0:
        return "z.4f"
    if not 1e-6 <= largest < 1e7:
        return ".3e"
    if largest > 1:
        return "z.3f" if largest < 10 else "z.2f" if largest < 1000 else "z.1f"
    return f"z.{max(4, 2 - math.floor(math.log10(largest)))}f"


def format_number(value: float | None, spec: str) -> str:
    """Return the number as text in the format `spec`, or a dash if there is no number."""
    return DASH if value is None else format(value, spec)


def format_interval(interval: Interval | None, spec: str) -> str:
    """Return an interval as the text `[low, high]` in the format `spec`, or a dash if there is no interval."""
    return DASH if interval is None else f"[{format(interval.low, spec)}, {format(interval.high, spec)}]"


def format_ranks(ranks: tuple[int, int] | None) -> str:
    """Return an interval of ranks as text, such as 1–3; a single number if the interval contains only one rank."""
    return DASH if ranks is None else DASH.join(map(str, dict.fromkeys(ranks)))


class PText(str):
    """The text of a p-value with its stars, in the form for files."""

    __slots__ = ()

    @property
    def short(self) -> str:
        """The form for screens: without powers of ten. A p-value below 0.0001 has no digits.

        >>> [PText(text).short for text in ("0.043*", "5.21e-4*", "2.1e-24*", "<1e-300", "3e-412*?", "2e-9 (raw)", "1")]
        ['0.043*', '0.000521*', '<0.0001*', '<0.0001', '<0.0001*?', '<0.0001 (raw)', '1']
        """
        number = re.match(r"[<>]?[\d.e-]*", self)[0]  # pyright: ignore[reportOptionalSubscript]
        stars = self[len(number) :]
        if number.startswith("<") or ("e-" in number and float(number) < SMALLEST_ON_SCREEN):
            return f"<{SMALLEST_ON_SCREEN:.4f}{stars}"
        return f"{Decimal(number):f}{stars}" if "e-" in number else str(self)


def without_digits(sentence: str) -> str:
    """Return a sentence with its p-values in the form for screens (`PText.short`).

    >>> without_digits("A is better (p = 2.1e-24, adjusted p = 6.3e-4); p < 1e-300; p = 0.043.")
    'A is better (p < 0.0001, adjusted p = 0.00063); p < 0.0001; p = 0.043.'
    """
    return re.sub(
        r"\bp (?:= (\d(?:\.\d+)?e-\d+)|(<) 1e-300)", lambda found: p_is(PText(found[1] or "<1e-300").short), sentence
    )


def format_p(p: float, *, log10_p: float | None = None, digits: int = 2, threshold: float | None = None) -> PText:
    """Return a p-value as text, with a few significant digits.

    `log10_p` is used if `p` is too small for a double. If `log10_p` is then None or minus infinity, the text is
    "<1e-300". Digits are added until the text lies on the same side of the `threshold` as `p`.

    >>> [format_p(p) for p in (1.0, 0.9997, 0.0431, 0.00121, 1e-12)]
    ['1', '>0.99', '0.043', '0.0012', '1e-12']
    >>> format_p(0.0, log10_p=-411.5), format_p(0.0), format_p(0.0498, threshold=0.05)
    ('3.2e-412', '<1e-300', '0.0498')
    """
    if p == 1:
        return PText("1")
    if p > 0.99:
        return PText(">0.99")
    if p < SMALLEST_SHOWN:
        return PText("<1e-300" if log10_p in (None, -math.inf) else _scientific(log10_p, digits))
    text = _scientific(math.log10(p), digits) if p < 0.001 else f"{p:.{digits - 1 - math.floor(math.log10(p))}f}"
    if threshold is not None and digits < 17 and (float(text) < threshold) != (p < threshold):
        return format_p(p, digits=digits + 1, threshold=threshold)
    return PText(text)


def p_is(shown: str) -> str:
    """Return a p-value for a sentence: "p = " or another sign, and its text `shown`.

    >>> p_is("0.043"), p_is(">0.99"), p_is("<1e-300")
    ('p = 0.043', 'p > 0.99', 'p < 1e-300')
    """
    return f"p {shown[0]} {shown[1:]}" if shown[0] in "<>" else f"p = {shown}"


def _scientific(log10: float, digits: int) -> str:
    """Return the number 10^`log10` in scientific notation, with at most this many significant `digits`."""
    exponent = math.floor(log10)
    mantissa = f"{10 ** (log10 - exponent):.{digits - 1}f}".rstrip("0").rstrip(".")
    return f"1e{exponent + 1}" if mantissa == "10" else f"{mantissa}e{exponent}"


def size_text(instances: int, runs: tuple[int, int] | None) -> str:
    """Return the number of instances in words. `runs` are the smallest and the largest number of runs of an instance.

    >>> size_text(90, None), size_text(90, (5, 5)), size_text(90, (1, 5))
    ('90 instances', '90 instances with 5 runs', '90 instances with up to 5 runs')
    """
    if runs is None:
        return count(instances, "instance")
    fewest, most = runs
    return f"{count(instances, 'instance')} with {'up to ' * (fewest != most)}{count(most, 'run')}"


def format_raw_p(comparison: Comparison) -> PText:
    """Return the p-value of the pair before adjustment, as text."""
    alpha = comparison.settings.alpha
    return format_p(comparison.p_value, log10_p=comparison.log10_p, digits=3, threshold=alpha)


def format_adjusted_p(comparison: Comparison, *, digits: int = 2) -> PText:
    """Return the adjusted p-value as text, with a star if it is significant.

    A question mark follows if more resamples could change this decision.
    """
    log10_p, alpha = comparison.log10_p_adjusted, comparison.settings.alpha
    text = format_p(comparison.p_adjusted, log10_p=log10_p, digits=digits, threshold=alpha)
    return PText(f"{text}{'*' * is_significant(comparison)}{'?' * (comparison.decided is False)}")


def format_p_interval(interval: Interval) -> str:
    """Return as text the Monte Carlo interval of a p-value, or the bounds of an exact p-value. The low end may be 0."""
    low, high = (format_p(end, digits=3) if end else "0" for end in interval)
    return f"[{low}, {high}]"


def p_interval_label(comparison: Comparison) -> str:
    """Return words for the kind of the interval of a p-value."""
    if comparison.method == "tilted":
        return f"{percent(comparison.settings.confidence_level)} interval of p (approximate)"
    if comparison.method != "montecarlo":
        return "p lies in"
    stops = comparison.settings.resamples == "auto" and comparison.test == "permutation"
    return f"{percent(1.0 - ERROR if stops else comparison.settings.confidence_level)} interval of p"


def left_out(noun: str, drawn: int, systems: int, *, every_pair: str) -> str:
    """Return a sentence that says that the `noun` (grid or figure) shows only the first `drawn` of the `systems`.

    The sentence ends with the place where all pairs are found. `every_pair` is the beginning of this part, such as
    "to_json() gives".
    """
    return f"The {noun} shows the first {drawn} of {systems} systems; {every_pair} every pair."


def shared_ends(names: Sequence[str]) -> tuple[str, str]:
    """Return the beginning and the end that all names have in common; both are empty for a single name.

    They are cut at a sign between words, such as a hyphen.

    >>> shared_ends(["mini-v1.0_glm@x", "mini-v1.1_gpt@x"]), shared_ends(["crf", "crf-big"])
    (('mini-v1.', '@x'), ('', ''))
    """
    if len(set(names)) < 2:
        return "", ""
    prefix = _to_sign(min(names)[: shared_length(names)])
    rest = [name[len(prefix) :] for name in names]
    backward = [name[::-1] for name in rest]
    return prefix, _to_sign(min(backward)[: shared_length(backward)])[::-1]


def _to_sign(text: str) -> str:
    """Return the text up to its last sign (a character that is not a letter or digit)."""
    return text[: max((i for i, character in enumerate(text, 1) if not character.isalnum()), default=0)]


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Shorten names to `width` characters so that they stay different.

    The first way that works is taken: whole names, names without their common parts, cut names, names that are cut and
    numbered. The numbers are row numbers, from 1. Control characters of the names must be visible already.

    >>> short_names(["crf", "transformer-big-seed-3"], 12)
    ['crf', 'transf…eed-3']
    >>> short_names(["transformer-1-best", "transformer-2-best"], 10)
    ['…1…', '…2…']
    >>> short_names(["my-model1-large-s", "my-model2-large-s", "other"], 9)
    ['my-…e-s#1', 'my-…e-s#2', 'other#3']
    """
    cut = [middle_cut(name, width) for name in names]
    if cut != list(names) and any(ends := shared_ends(names)):
        signs = ["…" if end else "" for end in ends]
        bare = [f"{signs[0]}{name[len(ends[0]) : len(name) - len(ends[1])]}{signs[1]}" for name in names]
        cut = [middle_cut(name, width) for name in bare]
    if len(set(cut)) < len(cut) and (shared := shared_length(names)) > 1:
        cut = [middle_cut(f"…{name[shared:]}", width) for name in names]
    if len(set(cut)) == len(cut):
        return cut
    numbers = [f"#{number}" for number in range(1, len(names) + 1)]
    return [f"{middle_cut(name, max(1, width - len(end)))}{end}" for name, end in zip(names, numbers, strict=True)]


_BREAKS = (r"\s", r"[^\w./]|_", r"[^\w.]|_", r"[\W_]")
"""Patterns of the characters after which a name may be broken. The next pattern is tried if a part of the name is still
too long."""


def wrapped_name(name: str, width: int) -> list[str]:
    """Break a name into lines of `width` characters.

    If a name is too long, it is broken after spaces; if a part is still too long, after punctuation, then after
    slashes, and at last after full stops.

    >>> wrapped_name("claude-opus-4-5-20251101", 12)
    ['claude-opus-', '4-5-20251101']
    >>> wrapped_name("Qwen/Qwen2.5-7B-Instruct", 20)
    ['Qwen/Qwen2.5-7B-', 'Instruct']
    """
    from rich.cells import cell_len, chop_cells  # importing rich takes long

    pieces = [name]
    for sign in _BREAKS:
        parts = re.compile(f"(?s:(?!{sign}).)+(?:{sign})*|(?:{sign})+")
        pieces = [part for each in pieces for part in ([each] if cell_len(each) <= width else parts.findall(each))]
    lines = filled([part for each in pieces for part in chop_cells(each, width)], width, gap="")
    return [line.rstrip() or line for line in lines]


def middle_cut(text: str, width: int) -> str:
    """Cut a text to `width` characters in the middle, so that names with a common beginning stay different."""
    from rich.cells import cell_len, set_cell_size  # importing rich takes long

    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    end = text[-tail:] if tail else ""
    while cell_len(end) > tail:
        end = end[1:]
    return f"{set_cell_size(text, width - 1 - cell_len(end)).rstrip()}…{end}"


def filled(words: Iterable[str], width: int, *, gap: str) -> list[str]:
    """Join parts (`words`) into lines of this width; no part is broken. A blank at the end of a line is not counted.

    `gap` stands between the parts.
    """
    from rich.cells import cell_len  # importing rich takes long

    lines: list[str] = []
    for word in words:
        if lines and cell_len((lines[-1] + gap + word).rstrip()) <= width:
            lines[-1] += gap + word
        else:
            lines.append(word)
    return lines
