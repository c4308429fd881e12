"""Tables of strings, rounded for people and escaped for no format: the formats only draw them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sigjax.records import Comparison, Comparisons, Interval, Settings, SystemScore
from sigjax.report.grid import first_column, pair_grid, shown_pairs
from sigjax.report.numbers import (
    format_adjusted_p,
    format_bootstrap_ranks,
    format_interval,
    format_mcs_p,
    format_number,
    format_p_interval,
    format_ranks,
    format_raw_p,
    number_spec,
    percent,
)
from sigjax.report.sections import (
    Family,
    Section,
    ToBaseline,
    has_letters,
    has_positions,
    has_ranks,
    has_unclustered,
    to_baseline,
)
from sigjax.report.words import METHODS
from sigjax.testing.stopping import ERROR


class Table(NamedTuple):
    """Cells as text; columns of names align left and hold what people typed, the others hold numbers."""

    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    names: tuple[int, ...] = ()


def systems_table(section: Section, settings: Settings) -> Table:
    """Systems from best to worst: rank, name, score, standard error (of clusters also without), interval, and standing.

    Ranks and letters are left out for two systems, where the pair says all, and letters where they are too many.
    """
    systems = section.systems
    more = [("ranks", format_ranks)] if has_ranks(section) else []
    more += [("letters", _letters)] if has_letters(section) else []
    more += [("boot. ranks", format_bootstrap_ranks), ("MCS p", format_mcs_p)] if has_positions(section) else []
    errors = [one.standard_error_unclustered for one in systems]
    values = [v for one in systems for v in (one.score, one.standard_error, *(one.interval or ()))]
    spec = number_spec([*values, *errors])
    shown = has_unclustered(systems)
    rows = [
        (
            str(rank),
            one.name,
            format_number(one.score, spec),
            format_number(one.standard_error, spec),
            *([format_number(error, spec)] if shown else []),
            format_interval(one.interval, spec),
            *(standing(one) for _, standing in more),
        )
        for rank, (one, error) in enumerate(zip(systems, errors, strict=True), 1)
    ]
    level = percent(settings.level)
    unclustered = ["unclustered"] if shown else []
    header = ("#", "system", "score", "std. error", *unclustered, f"{level} interval", *(name for name, _ in more))
    return Table(header, rows, names=(1,))


def _letters(system: SystemScore) -> str:
    return system.letters or ""


def delta_spec(comparisons: Comparisons) -> str:
    """The format for the deltas of a table: as `number_spec`, with a sign."""
    columns = (np.abs(comparisons.column(name)) for name in ("delta", "standard_error", "interval"))
    return f"+{number_spec(float(np.fmax.reduce(column, axis=None, initial=0.0)) for column in columns)}"


def pair_table(comparison: Comparison) -> Table:
    """One pair, one fact a row."""
    spec, level = delta_spec(Comparisons.of([comparison])), percent(comparison.settings.level)
    error_spec, unclustered = spec.removeprefix("+"), comparison.standard_error_unclustered
    rows = [
        (f"delta ({comparison.a} - {comparison.b})", format_number(comparison.delta, spec)),
        (f"{level} interval of delta", format_interval(comparison.interval, spec)),
        ("standard error of delta", format_number(comparison.standard_error, error_spec)),
        *([("unclustered", format_number(unclustered, error_spec))] if has_unclustered([comparison]) else []),
        ("p", format_raw_p(comparison)),
    ]
    if comparison.p_interval is not None:
        rows.append((_p_interval_label(comparison), format_p_interval(comparison.p_interval)))
    if comparison.p_adjusted != comparison.p_value:
        rows.append(("adjusted p", format_adjusted_p(comparison)))
    return Table(("", ""), rows, names=(0,))


def _p_interval_label(comparison: Comparison) -> str:
    if comparison.method != "montecarlo":
        return "p lies in"
    stops = comparison.settings.resamples == "auto" and comparison.test == "permutation"
    level = 1.0 - ERROR if stops else comparison.settings.level
    return f"{percent(level)} interval of p"


def pairs_table(section: Section, settings: Settings) -> Table:
    """The pairs of one metric, one pair and test a row; of very many systems those of the best."""
    comparisons = Comparisons.joined([shown_pairs(section, family) for family in section.families])
    spec = delta_spec(comparisons)
    header = ("a", "b", "test", "delta (a - b)", f"{percent(settings.level)} interval", "p", "adjusted p", "method")
    rows = [
        (one.a, one.b, one.test, *_delta(one.delta, one.interval, one, spec), METHODS[one.method])
        for one in comparisons
    ]
    return Table(header, rows, names=(0, 1, 2))


def baseline_table(section: Section, family: Family, *, baseline: str) -> Table:
    """One row a system, in score order: its delta to the baseline. The baseline's own row says so."""
    spec = delta_spec(family.comparisons)
    seen: dict[str, ToBaseline] = {one.system: one for one in (to_baseline(c, baseline) for c in family.comparisons)}
    level = percent(family.comparisons[0].settings.level)
    rows = []
    for rank, system in enumerate(section.systems, 1):
        one = seen.get(system.name)
        cells = ("baseline", "", "", "") if one is None else _delta(one.delta, one.interval, one.comparison, spec)
        rows.append((str(rank), system.name, *cells))
    header = ("#", "system", "delta to the baseline", f"{level} interval", "p", "adjusted p")
    return Table(header, rows, names=(1,))


def _delta(delta: float, interval: Interval | None, comparison: Comparison, spec: str) -> tuple[str, ...]:
    return (
        format_number(delta, spec),
        format_interval(interval, spec),
        format_raw_p(comparison),
        format_adjusted_p(comparison, digits=3),
    )


def grid_table(section: Section, family: Family, *, cell: Callable[[Comparison], str] = format_adjusted_p) -> Table:
    """Adjusted p-values of all pairs; rows are named, columns are numbered as the rows are."""
    first = first_column(family.comparisons[0].settings)
    header = ("#", "system", *(str(number + 1) for number in range(first, len(section.systems))))
    grid = pair_grid(section, family, len(section.systems))
    rows = [
        (str(i + 1), system.name, *("" if one is None else cell(one) for one in line[first:]))
        for i, (system, line) in enumerate(zip(section.systems, grid, strict=True))
    ]
    return Table(header, rows, names=(1,))
