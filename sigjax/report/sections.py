"""A report in parts for people: a section for each metric, with a family of pairs for each test, and sentences.

Every format for people draws these parts and adds no words or numbers. Cells are rounded, but not escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import is_
from typing import Any, Literal, NamedTuple

import numpy as np

from sigjax.metrics import MEAN
from sigjax.multiple.decisions import MOST_RESAMPLES
from sigjax.records import (
    CORRECTIONS,
    DESIGNS,
    Comparison,
    Comparisons,
    Interval,
    Note,
    ReportRecord,
    Settings,
    SystemScore,
    Test,
)
from sigjax.records.display import visible
from sigjax.records.results import Headline
from sigjax.report.words import (
    ALTERNATIVES,
    BEST,
    HIGHER,
    LOWER,
    METHODS,
    best_sentence,
    count,
    first_of,
    format_adjusted_p,
    format_interval,
    format_number,
    format_p_interval,
    format_ranks,
    format_raw_p,
    heading_of_test,
    interval_heading,
    is_significant,
    lone_sentence,
    method_line,
    metric_title,
    number_spec,
    p_interval_label,
    p_is,
    percent,
    size_text,
)

_NAMED = 5
"""A sentence names at most this many systems or pairs."""
MAX_GRID = 60
"""A printed grid has at most this many systems, because nobody reads a larger grid."""
MAX_NUMBERS = 12
"""The cells of a drawn grid contain p-values if there are at most this many systems. Else the cells are only shaded."""
MAX_NAMED = 8
"""With at most this many systems, a page lists all pairs. With more systems, it shows letters, groups or a heat map
instead."""


class ScoreCell(NamedTuple):
    """A cell of the table for a paper: a score, its marks, and whether it is the best of its metric."""

    text: str
    marks: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people. Each output format decides how to write a cell, a row and a rule.

    A row has a printable text or a `ScoreCell` for each column. In a table without a header, the headers are empty
    texts. The other fields list indices of columns. Columns in `names` contain text from the data. This text is aligned
    left and escaped, and its control characters are made visible here (by the function `visible`). Columns in `scores`
    contain scores; their headers come from the data. If lines are too short, columns in `optional` are dropped, in this
    order. Columns in `details` appear only in files and verbose output.
    """

    header: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    names: tuple[int, ...] = ()
    optional: tuple[int, ...] = ()
    details: tuple[int, ...] = ()
    scores: tuple[int, ...] = ()
    title: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        """Make the control characters of names visible."""
        if any(visible(row[column]) != row[column] for row in self.rows for column in self.names):
            rows = [tuple([visible(own) if i in self.names else own for i, own in enumerate(row)]) for row in self.rows]
            object.__setattr__(self, "rows", rows)

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[str]], *, optional: Sequence[str] = (), **more: Any) -> Table:
        """Make a table from a dict that maps the header of each column to its cells.

        `optional` lists the headers of optional columns. `more` are other fields of the table.
        """
        left_out = tuple(map(list(columns).index, optional))
        return cls(tuple(columns), list(zip(*columns.values(), strict=True)), optional=left_out, **more)

    def without(self, columns: Collection[int]) -> Table:
        """Return the table without these columns, which are given by index."""
        kept = [column for column in range(len(self.header)) if column not in columns]
        header, *rows = [tuple([row[column] for column in kept]) for row in (self.header, *self.rows)]
        numbered = {column: number for number, column in enumerate(kept)}
        groups = (self.names, self.optional, self.details, self.scores)
        moved = [tuple([numbered[column] for column in group if column in numbered]) for group in groups]
        return Table(header, rows, *moved, title=self.title, note=self.note)


@dataclass(frozen=True)
class PairFamily:
    """The pairs of one metric and one test. Their p-values are adjusted together.

    With the setting family="report", they are adjusted together with the p-values of the other metrics, too.

    `systems` are sorted from best to worst. `heading` names the test, its alternative and the correction. `promise` is
    a sentence on the confidence of ranks and the top group. `contradiction` explains a star beside an interval that
    contains 0 ("" if there is no such interval). `method` says how the p-values were computed. `warning` names
    undecided pairs; None if there are none. `only` is the pair if there is only one pair, else None. `conclusion` is
    the result of the test in one or two sentences.
    """

    test: Test
    comparisons: Comparisons
    systems: tuple[SystemScore, ...]
    settings: Settings
    heading: str
    promise: str
    contradiction: str
    method: str
    warning: str | None
    only: Comparison | None
    conclusion: str

    @property
    def layout(self) -> Literal["pair", "baseline", "grid"]:
        """The kind of table that shows the pairs: a single pair, pairs with the baseline, or a grid of all systems."""
        if self.only is not None:
            return "pair"
        return "grid" if self.settings.baseline is None else "baseline"

    @property
    def star(self) -> str:
        """The meaning of a star at a p-value."""
        return f"* p < {self.settings.alpha:g}"

    @property
    def basis(self) -> str:
        """One line with the basis of the conclusion: the heading, the meaning of a star, and remarks on confidence."""
        return "; ".join(filter(None, (self.heading, self.star, self.promise, self.contradiction)))

    @cached_property
    def delta_spec(self) -> str:
        """The format of all deltas."""
        return _delta_spec(self.comparisons)

    @cached_property
    def table(self) -> Table:
        """The table of the pairs: facts about the only pair, a grid of all systems, or the pairs with the baseline."""
        if self.only is not None:
            return _pair_table(self.only)
        if self.layout == "baseline":
            return pairs_table([self], self.settings)
        size, rows = len(self.systems), []  # row headers are names; column headers are row numbers
        for rank, (system, line) in enumerate(zip(self.systems, self.grid(size), strict=True), 1):
            rows.append((str(rank), system.name, *("" if one is None else format_adjusted_p(one) for one in line)))
        return Table(("#", "system", *map(str, range(self.first_column + 1, size + 1))), rows, names=(1,))

    @property
    def p_title(self) -> str:
        """The header of the column of p-values that decide about significance."""
        return "p" if self.settings.correction == "none" else "adjusted p"

    def ranked(self) -> Comparisons:
        """The pairs in the order of their systems' ranks.

        If p is the same for both directions (a two-sided test), the better system of a pair comes first.
        """
        rank = {system.name: i for i, system in enumerate(self.systems)}
        free = self.settings.alternative == "two-sided" and self.settings.baseline is None
        pairs = [one.turned() if free and rank[one.a] > rank[one.b] else one for one in self.comparisons]
        return Comparisons.of(sorted(pairs, key=lambda one: (rank[one.a], rank[one.b])))

    def against(self) -> tuple[str, dict[str, Comparison]]:
        """Return the name of the reference system, and a dict from each other system to the comparison with it.

        The reference system is the baseline, or the best system if there is no baseline.
        """
        reference = self.settings.baseline or self.systems[0].name
        a, b = (self.comparisons.column(name).mapped(reference.__eq__) for name in "ab")
        pairs = self.comparisons.at(np.flatnonzero(a | b))
        return reference, {one.b if one.a == reference else one.a: one for one in pairs}

    @property
    def first_column(self) -> int:
        """The index of the first column of the grid that is not empty.

        It is 1 for a two-sided test, because there are then no cells below the diagonal.
        """
        return 1 if self.settings.alternative == "two-sided" else 0

    def grid(self, size: int) -> list[list[Comparison | None]]:
        """Return the grid `[row][column]` of the pairs of the best `size` systems, without empty columns.

        Rows and columns are systems from best to worst. For a two-sided test, a pair stands above the diagonal. For a
        one-sided test, p is for row minus column, so the row is the first system of the pair, and a pair may stand
        below the diagonal. All other cells are None.
        """
        names = [system.name for system in self.systems[:size]]
        # In a one-sided test, all ranks are 0, so that pairs keep the order of their two systems.
        rank = {name: self.first_column * i for i, name in enumerate(names)}
        pairs = {(one.b, one.a) if rank[one.a] > rank[one.b] else (one.a, one.b): one for one in self.among(size)}
        return [[pairs.get((row, column)) for column in names[self.first_column :]] for row in names]

    def not_listed(self) -> str | None:
        """Return words that say where to find the pairs if they are too many for a list; None if they are listed."""
        return self.pairs_elsewhere if self.layout == "grid" and len(self.systems) > MAX_NAMED else None

    @property
    def pairs_elsewhere(self) -> str:
        """Words that say where to find the pairs."""
        return f"The {count(len(self.comparisons), 'pair')} are left out here; --format csv or json gives them all."

    def among(self, size: int) -> Comparisons:
        """Return the pairs among the best `size` systems."""
        names = {system.name for system in self.systems[:size]}
        first, second = (self.comparisons.column(name).mapped(names.__contains__) for name in "ab")
        return self.comparisons.at(np.flatnonzero(first & second))


def oriented(pair: Comparison, name: str) -> tuple[float, Interval | None]:
    """Return the score of `name` minus the score of the other system of a pair, and the interval of this delta."""
    if pair.a == name:
        return pair.delta, pair.interval
    return -pair.delta, None if pair.interval is None else Interval(-pair.interval.high, -pair.interval.low)


def _delta_spec(comparisons: Comparisons) -> str:
    """Return the format of the deltas of a table: like `number_spec`, with a sign."""
    columns = comparisons.arrays("delta", "standard_error", "interval")
    return f"+{number_spec([float(np.fmax.reduce(np.abs(each), axis=None, initial=0.0)) for each in columns])}"


def _pair_table(pair: Comparison) -> Table:
    spec = number_spec([pair.delta, pair.standard_error, *(pair.interval or ())])
    rows = [
        (f"delta ({pair.a} - {pair.b})", format_number(pair.delta, f"+{spec}")),
        (f"{interval_heading(pair.settings, [pair.joint_pairs])} of delta", format_interval(pair.interval, f"+{spec}")),
        ("standard error of delta", format_number(pair.standard_error, spec)),
    ]
    if pair.standard_error_unclustered is not None:
        rows.append(("unclustered", format_number(pair.standard_error_unclustered, spec)))
    rows.append(("p", format_raw_p(pair)))
    if pair.p_interval is not None:
        rows.append((p_interval_label(pair), format_p_interval(pair.p_interval)))
    if pair.p_adjusted != pair.p_value:
        rows.append(("adjusted p", format_adjusted_p(pair)))
    return Table(("", ""), rows, names=(0,))


def pairs_table(families: Sequence[PairFamily], settings: Settings) -> Table:
    """Return a table of the pairs of one metric, by rank, with a row for each pair and test.

    If all p-values equal their adjusted p-values, only the adjusted p-values are shown.
    """
    comparisons = Comparisons.joined([family.ranked() for family in families])
    spec, is_adjusted = _delta_spec(comparisons), comparisons.values("p_value") != comparisons.values("p_adjusted")
    heading = interval_heading(settings, comparisons.values("joint_pairs"))
    columns = {
        "a": comparisons.values("a"),
        "b": comparisons.values("b"),
        "test": comparisons.values("test"),
        "delta (a - b)": [format_number(delta, spec) for delta in comparisons.values("delta")],
        heading: [format_interval(interval, spec) for interval in comparisons.values("interval")],
        "p": list(map(format_raw_p, comparisons)),
        "adjusted p" if is_adjusted else "p": [format_adjusted_p(one, digits=3) for one in comparisons],
        "method": [METHODS[method] for method in comparisons.values("method")],
    }
    return Table.of(columns, names=(0, 1, 2))


def thresholds(settings: Settings) -> tuple[float, ...]:
    """Return the upper limits of p for the shades of a grid: .001 and .01 (if they are below alpha), then alpha."""
    return *(limit for limit in (0.001, 0.01) if limit < settings.alpha), settings.alpha


def has_equal_scores(comparison: Comparison) -> bool:
    """Whether the two scores are equal and p is 1, so that there is no difference to test."""
    return comparison.delta == 0 and comparison.p_value == 1


def mark(comparison: Comparison) -> int | str:
    """Return the shade of a pair in a grid without numbers: the index of the smallest threshold above the adjusted p.

    If p is not below any threshold, return a sign (see `SIGNS`) instead.
    """
    if has_equal_scores(comparison):
        return "="
    below = (shade for shade, limit in enumerate(thresholds(comparison.settings)) if comparison.p_adjusted < limit)
    return next(below, "?" if comparison.decided is False else "·")


SIGNS = ("· not significant", "? undecided", "= equal scores")
"""The meaning of the signs of `mark`."""


def pair_sentence(comparison: Comparison) -> str:
    """Return a sentence with the result of the test for one pair.

    The better system comes first. Only if a one-sided test is not significant, the first system of the pair comes
    first. In a two-sided test with delta = 0, every resample is at least as extreme. So p = 1 does not show that the
    systems are identical. A standard error of 0 shows it.
    """
    a, b, settings = comparison.a, comparison.b, comparison.settings
    if has_equal_scores(comparison):
        if comparison.standard_error == 0:
            return f"{a} and {b} have the same score on every resample (p = 1)."
        return f"{a} and {b} have the same score: there is no difference to test (p = 1)."
    spec, delta, interval = _delta_spec(Comparisons.of([comparison])), comparison.delta, comparison.interval
    scores = {a: comparison.score_a, b: comparison.score_b}
    if comparison.better == b and (settings.alternative == "two-sided" or is_significant(comparison)):
        (a, b), (delta, interval) = (b, a), oriented(comparison, b)
    first, second = (f"{name} ({format_number(scores[name], number_spec(scores.values()))})" for name in (a, b))
    p = [p_is(format_raw_p(comparison))]
    if comparison.p_adjusted != comparison.p_value:
        p.append(f"adjusted {p_is(format_adjusted_p(comparison, digits=3).rstrip('*?'))}")
    facts = [f"The difference is {format_number(delta, spec)}"]
    if interval is not None:
        facts.append(f"{interval_heading(settings, [comparison.joint_pairs])} {format_interval(interval, spec)}")
    test = f"({ALTERNATIVES[settings.alternative]} {comparison.test} test, {METHODS[comparison.method]})"
    tested = "" if settings.alternative == "two-sided" else " in the tested direction"
    said = f"No significant difference{tested} between {first} and {second}"
    if is_significant(comparison):
        said = f"{first} is significantly better than {second}"
    return f"{said}, {', '.join(p)}. {', '.join(facts)} {test}."


def decided(comparisons: Comparisons, settings: Settings) -> list[tuple[str, str]]:
    """Return the better and the worse system of each pair that differs significantly."""
    significant = comparisons.at(comparisons.column("p_adjusted").values < settings.alpha)
    columns = (significant.column(name).tolist() for name in ("a", "b", "better"))
    return [(a, b) if better == a else (b, a) for a, b, better in zip(*columns, strict=True) if better is not None]


def systems_sentence(
    comparisons: Comparisons, systems: Sequence[SystemScore], settings: Settings, *, lower_is_better: bool
) -> str:
    """Return the headline for several systems: which are best or not significantly worse, and how many are worse.

    The best system and the systems that are not significantly worse form the top group: no system is significantly
    better than they are (`SystemScore.in_top_group`). `comparisons` are all pairs, or each system with the baseline.
    `systems` are sorted from best to worst.
    """
    pairs, scores = decided(comparisons, settings), _texts(systems)
    scored = {name: f"{name} ({score})" for name, score in scores.items()}
    if settings.baseline is not None:
        tested = "better" if (settings.alternative == "greater") != lower_is_better else "worse"
        return _against(pairs, scored, settings.baseline, None if settings.alternative == "two-sided" else tested)
    if settings.alternative != "two-sided":
        differ = f"{len(pairs):,} of {count(len(comparisons), 'pair')} differ significantly in the tested direction"
        named = first_of([f"{better} is better than {worse}" for better, worse in pairs], _NAMED)
        return f"{differ}: {named}." if pairs else f"{differ}."
    worse = {name for _, name in pairs}
    top = [system for system in systems if system.name not in worse]
    if not top:  # possible if pairs have different instances
        return "Every system is significantly worse than another."
    if not worse:
        if systems[0].score == systems[-1].score:
            return f"All {len(systems):,} systems have the same score ({scores[systems[0].name]})."
        first = scored[systems[0].name]
        return f"No system is significantly better than another; the best score is that of {first}."
    best = [system.name for system in top if system.score == top[0].score]
    open_ = comparisons.column("decided").mapped(partial(is_, False))  # noqa: FBT003
    return best_sentence(
        first_of([scored[name] for name in best], _NAMED),
        first_of([scored[system.name] for system in top[len(best) :]], _NAMED),
        [scored[name] for name in scored if name in worse],
        beaten=len({loser for winner, loser in pairs if winner in best}),
        unsure=len(worse - {name for _, name in decided(comparisons.at(np.flatnonzero(~open_)), settings)}),
    )


def _against(pairs: Sequence[tuple[str, str]], scored: Mapping[str, str], baseline: str, tested: str | None) -> str:
    better = {one for one, other in pairs if other == baseline}
    worse = {other for one, other in pairs if one == baseline}
    others = {*scored} - better - worse - {baseline}
    if not better and not worse:
        shown = "differs significantly from" if tested is None else f"is shown to be {tested} than"
        return f"No system {shown} {baseline}."
    than = f" than {baseline}"
    open_ones = "no significant difference" if tested is None else f"not shown to be {tested}"
    parts = []
    for title, names in (("better", better), ("worse", worse), (open_ones, others)):
        if names:
            parts.append(f"{title}{than}: {first_of([scored[name] for name in scored if name in names], _NAMED)}")
            than = ""
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


MAX_LETTERS = 8
"""The table has a column of letters: two systems share a letter if and only if they do not differ significantly. If a
system has more letters than this, no letters are shown, because nobody can read so many."""
DETAILS = ("boot. ranks", "letters", "raw p", "unclustered", "std. error")
OPTIONAL = (*DETAILS, "interval", "group", "delta interval", "delta", "rank")
"""Columns of the table of systems, in the order in which they are dropped if a line is too short. Names, scores and p
are never dropped."""


class Section(NamedTuple):
    """The part of a report about one metric.

    `caption` names the metric and its data. `headlines` has a sentence for each test; tests with the same result share
    a sentence. `systems` are sorted from best to worst, and `families` are the pairs, one family per test. `key`
    explains the columns that only files and verbose output have; None if there are no such columns.
    """

    metric: str
    caption: str
    headlines: list[str]
    systems: tuple[SystemScore, ...]
    table: Table
    key: str | None
    families: tuple[PairFamily, ...]

    @property
    def title(self) -> str:
        """The name of the metric, as in papers."""
        return metric_title(self.metric)


def named_headlines(sections: Sequence[Section]) -> list[str]:
    """Return the headlines of all metrics. If there are several metrics, each headline begins with its metric."""
    if len(sections) == 1:
        return sections[0].headlines
    return [
        f"Best by {section.title}: {line.removeprefix(BEST)}" if line.startswith(BEST) else f"{section.title}: {line}"
        for section in sections
        for line in section.headlines
    ]


def blocks(report: ReportRecord) -> Iterator[Section]:
    """Yield the sections of a report, one per metric, in the order in which the metrics occur in `report.systems`.

    Tables of pairs are not made here, but only when they are needed, because no format draws the grid of thousands of
    systems.
    """
    for metric, systems, families, headlines in _by_metric(report):
        table, key = systems_table(systems, families, report.settings), _key(systems, report.settings)
        caption = _caption(metric, len(systems), report)
        yield Section(metric, caption, headlines, systems, table, key, tuple(families))


def headlines(report: ReportRecord) -> list[Headline]:
    """Return the headlines, with the result of the tests for each metric or task, in the order of the report."""
    return [Headline(metric, said) for metric, _, _, sentences in _by_metric(report) for said in sentences]


def _by_metric(
    report: ReportRecord,
) -> Iterator[tuple[str, tuple[SystemScore, ...], list[PairFamily], list[str]]]:
    """Yield for each metric: its name, its systems, its pairs by test, and its headlines, each headline once."""
    settings, groups, together = report.settings, report.comparisons.groups(), Counter[str]()
    if settings.family == "report":
        for (_, test), pairs in groups.items():
            together[test] += len(pairs)
    for metric in dict.fromkeys([system.metric for system in report.systems]):
        systems = tuple([system for system in report.systems if system.metric == metric])
        families = [
            _family(metric, test, pairs, together[test], systems, report)
            for (name, test), pairs in groups.items()
            if name == metric
        ]
        by_test = {family.test: family.conclusion for family in families}
        alike = len({*by_test.values()}) < 2 or families[0].only is not None
        said = [said if alike else f"{test} test: {said}" for test, said in by_test.items()]
        yield metric, systems, families, list(dict.fromkeys(said))


def _caption(metric: str, num_systems: int, report: ReportRecord) -> str:
    """Return a text with the name of the metric, and the data on which it was computed."""
    measured = next((one for one in report.measured if one.metric == metric), None)
    if measured is None:
        title, instances, units, runs = metric_title(metric), report.num_instances, report.num_units, report.runs
    else:
        title, instances, units, runs = measured.title, measured.instances, measured.units, measured.runs
    text = f"{title} on {size_text(instances, runs)}"
    if units != instances:
        text += f" in {count(units, 'cluster')}"
    text += f", {count(num_systems, 'system')}"
    if metric in report.lower_is_better:
        return f"{text}{LOWER}"
    return f"{text}{HIGHER}" if metric == MEAN.name else text


def _family(
    metric: str, test: Test, pairs: Comparisons, together: int, systems: tuple[SystemScore, ...], report: ReportRecord
) -> PairFamily:
    """Return the pairs of one metric and test as a `PairFamily`.

    `together` is the number of pairs of all metrics if p is adjusted over all of them, else 0.
    """
    settings, lower_is_better, size = report.settings, metric in report.lower_is_better, len(pairs)
    only = pairs[0] if size == 1 else None
    resamples, known, needed = pairs.columns("resamples", "decided", "resamples_needed")
    drawn, open_ = resamples.known_values(), known.mapped(partial(is_, False))  # noqa: FBT003
    undecided = pairs.at(np.flatnonzero(open_))
    heading = heading_of_test(test, size, max(together, size), settings, is_sampled=len(drawn) == size)
    is_promised = test == settings.tests[0] and systems[0].in_top_group is not None
    promise = _promise(metric, report, is_settled=not len(undecided)) if is_promised else ""
    method = method_line(only, size, drawn, pairs.column("method").distinct())
    warning = _unsettled(undecided, size, needed.at(open_).known_values(), settings)
    conclusion = lone_sentence(report.num_units, report.num_instances, settings)
    if only is not None:
        conclusion = conclusion or pair_sentence(only)
    conclusion = conclusion or systems_sentence(pairs, systems, settings, lower_is_better=lower_is_better)
    said = (heading, promise, _contradiction(pairs, settings), method, warning)
    return PairFamily(test, pairs, systems, settings, *said, only, conclusion)


def _contradiction(pairs: Comparisons, settings: Settings) -> str:
    """Return a sentence on significant pairs whose simultaneous interval contains 0; "" if there are no such pairs."""
    if settings.alternative != "two-sided":
        return ""
    ends, joint, p_adjusted = pairs.arrays("interval", "joint_pairs", "p_adjusted")
    holds = (ends[:, 0] <= 0.0) & (ends[:, 1] >= 0.0) & (joint > 1)
    if not (number := int(np.count_nonzero(holds & (p_adjusted < settings.alpha)))):
        return ""
    held = f"{count(number, 'pair')} with * {'has' if number == 1 else 'have'} 0 in the joint interval"
    return f"{held}: {CORRECTIONS[settings.correction].title} decides more pairs than joint intervals do, so go by p"


def _promise(metric: str, report: ReportRecord, *, is_settled: bool) -> str:
    """Return a sentence on the confidence of ranks and the top group; "" if there is no such confidence.

    The test and the correction must bound the family-wise error. The bootstrap and mid-p do not bound it. There is no
    sentence either if pairs are undecided (not `is_settled`), or if runs are trained models.
    """
    settings = report.settings
    familywise = CORRECTIONS[settings.correction].bounds == "familywise" and settings.has_valid_p
    exchanges, codes = DESIGNS[settings.design].exchanges, {"trained": False, "exchangeable": False}
    for note in report.notes:
        if isinstance(note, Note) and note.code in codes:
            codes[note.code] |= not note.about or metric in note.about.split(", ")
    is_bound = familywise and settings.tests[0] == "permutation" and exchanges != "runs"
    if not is_bound or not is_settled or codes["trained"]:
        return ""
    condition = "if systems of equal score could exchange outputs (sigjax help studentized), " * codes["exchangeable"]
    right = 'all ranks are right, and the group "best" has every truly best system'
    return f"{condition}in about {percent(settings.confidence_level)} of test sets {right}"


def systems_table(systems: Sequence[SystemScore], families: Sequence[PairFamily], settings: Settings) -> Table:
    """Return the table of a metric: systems from best to worst, with deltas to the best system or to the baseline.

    For two systems, the sentence above the table has the result of the test, so the table has only the scores. If a
    line is too short, columns are dropped in the order of `OPTIONAL`.
    """
    errors = [one.standard_error_unclustered for one in systems]
    spec = number_spec([v for one in systems for v in (one.score, one.standard_error, *(one.interval or ()))] + errors)
    level = f"{percent(settings.confidence_level)} interval"
    columns: dict[str, tuple[str, Sequence[str]]] = {}
    is_ranked = len(systems) > 2 and all(one.rank_interval is not None for one in systems)
    if is_ranked:
        columns["rank"] = "rank", [format_ranks(one.rank_interval) for one in systems]
    elif len(systems) > 2:
        columns["rank"] = "#", [str(rank) for rank in range(1, len(systems) + 1)]
    columns["system"] = "system", [one.name for one in systems]
    columns["score"] = "score", [format_number(one.score, spec) for one in systems]
    columns["interval"] = level, [format_interval(one.interval, spec) for one in systems]
    if families and families[0].only is None:
        columns |= _deltas(families, settings)
    if is_ranked:
        columns["group"] = "group", ["best" if one.in_top_group else "" for one in systems]
    columns["std. error"] = "std. error", [format_number(one.standard_error, spec) for one in systems]
    if any(error is not None for error in errors):
        columns["unclustered"] = "unclustered", [format_number(error, spec) for error in errors]
    if has_letters(systems):
        columns["letters"] = "letters", [one.letters or "" for one in systems]
    if all(one.bootstrap_ranks is not None for one in systems):
        columns["boot. ranks"] = "boot. ranks", [format_ranks(one.bootstrap_ranks) for one in systems]
    at = list(columns)
    optional = [i for name in OPTIONAL for i, column in enumerate(at) if column.partition(":")[0] == name]
    details = tuple([i for i in optional if at[i].partition(":")[0] in DETAILS])
    header, cells = zip(*columns.values(), strict=True)
    return Table(header, list(zip(*cells, strict=True)), (at.index("system"),), tuple(optional), details)


def _deltas(families: Sequence[PairFamily], settings: Settings) -> dict[str, tuple[str, Sequence[str]]]:
    """Return columns of deltas to the best system or to the baseline: a dict from a key to the title and the cells."""
    (reference, pairs), spec = families[0].against(), families[0].delta_spec
    to, names = "best" if settings.baseline is None else "baseline", [one.name for one in families[0].systems]
    deltas = {name: oriented(one, name) for name, one in pairs.items()}
    texts = dict.fromkeys(names, "not compared") | {reference: "" if to == "best" else to}
    texts |= {name: format_number(delta, spec) for name, (delta, _) in deltas.items()}
    intervals = {name: format_interval(interval, spec) for name, (_, interval) in deltas.items()}
    heading = interval_heading(settings, families[0].comparisons.values("joint_pairs"))
    columns: dict[str, tuple[str, Mapping[str, str]]] = {"delta": (f"delta to {to}", texts)}
    columns["delta interval"] = heading, intervals
    for family in families:
        if to == "best" and settings.alternative != "two-sided":  # a one-sided p may be for the opposite direction
            continue
        of_test, pairs = "" if len(families) == 1 else f" ({family.test})", family.against()[1]
        adjusted = {name: format_adjusted_p(one, digits=3) for name, one in pairs.items()}
        columns[f"p:{family.test}"] = f"{family.p_title}{of_test}", adjusted
        if family.p_title != "p":
            raw = {name: format_raw_p(one) for name, one in pairs.items()}
            columns[f"raw p:{family.test}"] = f"p{of_test}", raw
    return {key: (title, [cells.get(name, "") for name in names]) for key, (title, cells) in columns.items()}


def metrics_table(sections: Sequence[Section]) -> Table:
    """Return a table with the scores of several metrics side by side; p is for the delta to the best system.

    Systems are sorted by the first metric.
    """
    names = [system.name for system in sections[0].systems]
    columns: list[tuple[str, Sequence[str]]] = [("system", names)]
    intervals: list[int] = []
    for section in sections:
        header, rows = section.table.header, {row[section.table.names[0]]: row for row in section.table.rows}
        score = header.index("score")
        family = section.families[0]
        reference, pairs = family.against()
        mark = "baseline" if family.settings.baseline else "best" if family.only is None else ""
        p = {name: format_adjusted_p(one, digits=3) for name, one in pairs.items()} | {reference: mark}
        columns.append((section.title, [rows[name][score] for name in map(visible, names)]))
        intervals.append(len(columns))
        columns.append((header[score + 1], [rows[name][score + 1] for name in map(visible, names)]))
        columns.append((family.p_title if family.only is None else "p", [p.get(name, "") for name in names]))
    header, cells = zip(*columns, strict=True)
    return Table(header, list(zip(*cells, strict=True)), (0,), tuple(reversed(intervals)))


def has_letters(systems: Sequence[SystemScore]) -> bool:
    """Whether the table has the column of letters: two systems that share a letter do not differ significantly.

    It has the column if there are more than two systems, all with letters, and none with more than `MAX_LETTERS`.
    """
    return len(systems) > 2 and all(one.letters is not None and len(one.letters) <= MAX_LETTERS for one in systems)


def _key(systems: Sequence[SystemScore], settings: Settings) -> str | None:
    """Return a text that explains the columns of files and verbose output; None if there are no such columns.

    It also says why these columns may disagree with the ranks and the top group.
    """
    lines, level = [], percent(settings.confidence_level)
    if any(one.standard_error_unclustered is not None for one in systems):
        of_clusters = "for new clusters and runs" if settings.design == "models" else "of clusters"
        lines.append(f"Std. error: {of_clusters}; unclustered: if instances were independent.")
    if has_letters(systems):
        lines.append("Letters: systems that share one do not differ significantly; they compare all pairs.")
    if all(one.bootstrap_ranks is not None for one in systems):
        middle = f"the middle {level} of a system's ranks on bootstrap resamples"
        lines.append(f"Boot. ranks: {middle}; narrower than ranks, which hold for the true order.")
    return " ".join(lines) or None


_MOST_NAMED, _MOST_OPEN = 3, 0.2
"""`_MOST_NAMED`: a warning names at most this many undecided pairs. `_MOST_OPEN`: with the number of resamples that a
warning proposes, this share of the undecided pairs may stay undecided."""


def _unsettled(pairs: Comparisons, num_pairs: int, needed: np.ndarray, settings: Settings) -> str | None:
    """Return a warning if infinitely many resamples could give other decisions; else None.

    The warning proposes a number of resamples that decides most pairs. `pairs` are the undecided pairs of `num_pairs`
    pairs. `needed` has, for each undecided pair, the number of resamples that should decide it; pairs that need more
    than `MOST_RESAMPLES` are not in it.
    """
    if (num_open := len(pairs)) == 0:
        return None
    if num_pairs == 1:
        text, them = f"The decision at {settings.alpha:g} is uncertain: more resamples could change it.", "it"
    else:
        verb, them = ("is", "it") if num_open == 1 else ("are", "them")
        named = f" ({', '.join(f'{one.a} - {one.b}' for one in pairs)})" if num_open <= _MOST_NAMED else ""
        text = f"{count(num_open, 'pair')} {verb} undecided at {settings.alpha:g}{named}: more resamples"
        text += " could change the decision."
    if not len(needed):
        return f"{text} Even {MOST_RESAMPLES:,} resamples would hardly decide {them}."
    numbers, decided = np.unique(needed, return_counts=True)
    decided = np.cumsum(decided)
    chosen = int(np.argmax(decided >= (1.0 - _MOST_OPEN) * len(needed)))
    enough, later, never = int(decided[chosen]), len(needed) - int(decided[chosen]), num_open - len(needed)
    text += (
        f" --resamples {numbers[chosen]} would probably decide {them if enough == num_open else f'{enough:,} of them'}"
    )
    if later:
        text += f"; {later:,} {'needs' if later == 1 else 'need'} up to {numbers[-1]:,}"
    if never:
        text += f"; {never:,} {'is' if never == 1 else 'are'} too close for any number"
    return f"{text}."


DAGGER, DOUBLE_DAGGER = "†", "‡"
Marking = Literal["none", "baseline", "pair", "letters", "best"]
MEANINGS: dict[Marking, str] = {
    "baseline": f"{DAGGER} significantly better, {DOUBLE_DAGGER} worse than {{baseline}}",
    "pair": f"{DAGGER} significantly better than the other system",
    "letters": "a shared letter: no significant difference",
    "best": f"{DAGGER} significantly worse than the best",
}


def paper_table(report: ReportRecord, sections: Sequence[Section]) -> Table:
    """Return the table for a paper: systems as rows, metrics as columns, and marks for significance at the scores.

    The best score of each metric is bold. Systems are sorted by the first metric. Marks come from the first test. If
    the marks are letters, two scores of a metric share a letter if and only if they do not differ significantly.
    """
    settings, marking = report.settings, _marking(sections, report.settings)
    names, columns = [system.name for system in sections[0].systems], list[dict[str, ScoreCell]]()
    for section in sections:
        marks = _marks(section, marking) if section.families else {}
        texts, best = _texts(section.systems), section.systems[0].score
        scores = {one.name: (texts[one.name], marks.get(one.name, ""), one.score == best) for one in section.systems}
        columns.append({name: ScoreCell(*score) for name, score in scores.items()})
    note = "Best in bold."
    if marking != "none":
        tests = list(dict.fromkeys(section.families[0].heading for section in sections))
        by = tests[0] if len(tests) == 1 else f"{settings.tests[0]} test"
        by = by.replace("; p adjusted by", ",").replace("; p not", ", not")  # a caption should be short
        meaning = MEANINGS[marking]
        note = f"Best in bold; {meaning.format(baseline=settings.baseline)} (p < {settings.alpha:g}, {by})."
    return Table(
        ("system", *(f"{each.title} ↓" if each.metric in report.lower_is_better else each.title for each in sections)),
        [(name, *(column.get(name, ScoreCell("")) for column in columns)) for name in names],
        names=(0,),
        scores=tuple(range(1, len(sections) + 1)),
        title=f"{count(len(names), 'system')} on {size_text(report.num_instances, report.runs)}",
        note=note,
    )


def tasks_table(sections: Sequence[Section], most: int) -> Table:
    """Return a table of the scores of all sections: a row for each task, a column for each system.

    The systems are the best `most` systems of the first section. The name of the score (such as exact_match) is left
    out if all tasks have the same kind of score.
    """
    names = [system.name for system in sections[0].systems[:most]]
    tasks = [section.title for section in sections]
    if len({task.rpartition(": ")[2] for task in tasks}) == 1:
        tasks = [task.rpartition(": ")[0] for task in tasks]
    rows = []
    for section, task in zip(sections, tasks, strict=True):
        scores = _texts(section.systems)
        rows.append((task, *(scores.get(name, "") for name in names)))
    return Table(("task", *[str(number) for number in range(1, len(names) + 1)]), rows, names=(0,))


def _texts(systems: Sequence[SystemScore]) -> dict[str, str]:
    spec = number_spec([system.score for system in systems])
    return {one.name: format_number(one.score, spec) for one in systems}


def _marking(sections: Sequence[Section], settings: Settings) -> Marking:
    if not all(section.families for section in sections):
        return "none"
    systems = [system for section in sections for system in section.systems]
    if settings.baseline is not None:
        return "baseline"
    if len(sections[0].systems) == 2:
        return "pair"
    return "letters" if all(0 < len(one.letters or "") <= MAX_LETTERS for one in systems) else "best"


def _marks(section: Section, marking: Marking) -> dict[str, str]:
    """Return a dict from the name of a system to the marks of its score; systems without marks may be left out.

    `marking` says what the marks mean (see `MEANINGS`).
    """
    family = section.families[0]
    if marking == "letters":
        return {one.name: one.letters or "" for one in section.systems}
    marks: dict[str, str] = {}
    for better, worse in decided(family.comparisons, family.settings):
        if marking == "pair" or worse == family.settings.baseline:
            marks[better] = DAGGER
        elif marking == "baseline":
            marks[worse] = DOUBLE_DAGGER
        elif better == section.systems[0].name:
            marks[worse] = DAGGER
    return marks
