"""Reports made by hand, for the tests of the formats."""

import ast
import math
import re
from dataclasses import replace
from itertools import combinations

from sigjax import Report
from sigjax.records import Comparison, Interval, Settings, SystemScore

SIGNATURE = "accuracy|test:permutation|n:100000|seed:12345|alt:two-sided|ties:ge|sigjax:0.1"
DATA = "0123456789abcdef"
NOTE = "3 instances were dropped"
STRANGE = (
    "[bold]red[/bold]",
    "a_b & c%",
    "<script>alert(1)</script>",
    "数学 | naïve",
    "=1+1",
    "x--y $z$ #~^\\{}",
    "`*t*`",
)


def make_comparison(a, b, *, score_a, score_b, p, pairs, settings):
    delta = score_a - score_b
    p_adjusted = p if settings.correction == "none" else min(1.0, p * pairs)
    return Comparison(
        a=a,
        b=b,
        metric="accuracy",
        test="permutation",
        score_a=score_a,
        score_b=score_b,
        delta=delta,
        better=None if delta == 0 else a if delta > 0 else b,
        p_value=p,
        log10_p=math.log10(p) if p else -411.5,
        p_interval=None,
        p_adjusted=p_adjusted,
        log10_p_adjusted=math.log10(p_adjusted) if p else -410.5,
        method="exact",
        reason="whole numbers",
        exceed=None,
        error_bound=None,
        resamples=None,
        standard_error=0.0081,
        interval=Interval(delta - 0.016, delta + 0.0163),
        settings=settings,
    )


def make_report(names, *, p_of=lambda i, j: 10.0 ** (i - j), settings=None, step=0.01, **changes):
    """Systems `step` apart, best first; `p_of(i, j)` is the p-value of systems i and j, counted from 0."""
    settings = settings or Settings()
    names = [f"system-{i}" for i in range(1, names + 1)] if isinstance(names, int) else names
    scores = [0.9 - step * i for i in range(len(names))]
    systems = tuple(
        SystemScore(name, "accuracy", score, 0.0092, interval=Interval(score - 0.018, score + 0.0175))
        for name, score in zip(names, scores, strict=True)
    )
    pairs = list(combinations(range(len(names)), 2))
    if settings.baseline is not None:
        base = names.index(settings.baseline)
        pairs = [(i, base) for i in range(len(names)) if i != base]
    comparisons = tuple(
        make_comparison(
            names[i],
            names[j],
            score_a=scores[i],
            score_b=scores[j],
            p=p_of(*sorted((i, j))),
            pairs=len(pairs),
            settings=settings,
        )
        for i, j in pairs
    )
    return replace(Report(systems, comparisons, settings, 1000, 1000, (), (NOTE,), SIGNATURE, DATA), **changes)


def with_pair(report, **changes):
    """The report with its first comparison changed."""
    first, *others = report.comparisons
    return replace(report, comparisons=(replace(first, **changes), *others))


def without_intervals(report):
    missing = {"standard_error": None, "interval": None}
    return replace(
        report,
        systems=tuple(replace(one, **missing) for one in report.systems),
        comparisons=tuple(replace(one, **missing) for one in report.comparisons),
    )


def read_back(cell):
    """A name from a cell of CSV, by what the docstring of `sigjax.report.data.escape_csv` says."""
    return re.sub(r"\\(x..|u.{4}|U.{8}|.)", lambda found: ast.literal_eval(f'"{found[0]}"'), cell.removeprefix("'"))
