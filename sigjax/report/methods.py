"""Words for a paper: the methods paragraph in LaTeX, and the entries of what it may cite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import numpy as np

from sigjax.records import CORRECTIONS, DESIGNS, TESTS, Comparisons, Note, ReportRecord, Settings
from sigjax.records.options import options_of
from sigjax.report.latex import named_in
from sigjax.report.tex import declared, escape_latex
from sigjax.report.words import ALTERNATIVES, count, joined, metric_title, percent, size_text
from sigjax.testing.intervals import INTERVALS

_PROGRAMS = {
    "sacrebleu": r"Sacrebleu~\cite{{post2018}} has the signature{}",
    "trec_eval": r"Measures are those of trec\_eval, as computed by pytrec\_eval~\cite{{vangysel2018}}:",
}
NULLS = {"shift": r"\delta^*-\delta", "flip": r"\delta-\delta^*"}
_WORDED = frozenset(
    ("test", "method", "resamples", "seed", "alternative", "baseline", "correction", "interval", "variant")
    + ("confidence_level", "statistic", "mid_p", "family", "design")  # these have sentences below
    + ("budget", "memory", "leaderboard")  # these change no number that the paragraph is about
)
"""Settings that need no sentence of their own; any other that is not its default is named with its value."""


def to_methods(report: ReportRecord) -> str:
    r"""The paragraph; what it cites by `\cite` is in `to_bibtex`."""
    paragraph = " ".join(_sentences(report))
    return "\n".join([*declared(paragraph, named_in(report)), paragraph]) + "\n"


def to_bibtex() -> str:
    """The BibTeX entries of all that sigjax cites, so that a paper with several reports needs one file of them."""
    return (files("sigjax") / "data" / "references.bib").read_text(encoding="utf-8")


def _sentences(report: ReportRecord) -> Iterator[str]:
    settings, names = report.settings, list(dict.fromkeys(one.name for one in report.systems))
    metrics = list(dict.fromkeys(escape_latex(metric_title(one.metric)) for one in report.systems))
    pairs = "" if len(names) == 2 else ", all pairs of them"
    if settings.baseline is not None:
        pairs = f", each with {escape_latex(settings.baseline)}"
    size = size_text(report.num_instances, report.runs)
    yield f"We compared {count(len(names), 'system')} on {size}{pairs}, by {joined(metrics)}."
    suites = (one.title.rpartition(", ")[2] for one in report.measured if one.title.startswith(f"{one.metric}, "))
    if suite := next(suites, ""):
        yield f"The suite score is the {escape_latex(suite.replace(' tasks', ' task scores'))}; tasks are strata."
    yield from _of_notes(report)
    how = joined(["exchanged"] * ("permutation" in settings.tests) + ["drawn"] * ("bootstrap" in settings.tests))
    if report.runs is not None and settings.design == "together":
        yield f"All runs of an instance were {how} together."
    if report.num_units != report.num_instances:
        yield f"Instances form {count(report.num_units, 'cluster')}, which were {how} whole."
    strata = re.search(r"\|strata:(\d+)\|", report.signature)
    if strata and not suite:
        yield f"They form {int(strata[1]):,} strata, within which they were drawn."
    if DESIGNS[settings.design].words:
        yield DESIGNS[settings.design].words
    groups = report.comparisons.groups()
    for test in dict.fromkeys(test for _, test in groups):
        yield _test(test, Comparisons.joined([each for (_, other), each in groups.items() if other == test]), settings)
    everything = len(report.comparisons) // max(1, len(settings.tests))
    yield from _correction([len(each) for each in groups.values()], everything, settings)
    yield from _intervals(report)
    for name, field in options_of(Settings).items():
        if name not in _WORDED and (value := getattr(settings, name)) != field.default:
            yield rf"We set \texttt{{{escape_latex(name)}}} to {escape_latex(str(value))}."
    version = re.search(r"sigjax:([^|]+)", report.signature)
    yield rf"We used sigjax{f' {escape_latex(version[1])}' if version else ''}~\cite{{sigjax}}."


def _of_notes(report: ReportRecord) -> Iterator[str]:
    """Instances that were left out or counted as 0, and what sacrebleu prints of its metrics."""
    notes = [note for note in report.notes if isinstance(note, Note)]
    for note in notes:
        if note.code == "dropped":
            named = {"instances": "instances", "runs": "runs of instances"}
            of_what = next(f"{note.values[name]:,} {what}" for name, what in named.items() if name in note.values)
            yield f"Of {of_what}, {note.values['dropped']:,} that some system lacks were left out."
        elif note.code == "filled":
            yield f"We counted {count(int(note.values['results']), 'missing result')} as 0."
        elif note.code == "pairwise":
            yield "Each pair was compared on the instances that both systems have."
    for code, words in _PROGRAMS.items():
        texts = [escape_latex(note.text) for note in notes if note.code == code]
        if texts:
            breakable = [each.replace(r"\textbar{}", r"\textbar\hfil\allowbreak\hfilneg{}") for each in texts]
            shown = joined([rf"\texttt{{{each}}}" for each in dict.fromkeys(breakable)])
            yield f"{words.format('s' * (len(texts) > 1))} {shown}."


def _test(test: str, pairs: Comparisons, settings: Settings) -> str:
    alternative = ALTERNATIVES[settings.alternative]
    design, drawn = DESIGNS[settings.design], TESTS[test].draws
    source, paired = (design.cites, "") if design.cites else (TESTS[test].cites, " paired")
    sampled = pairs.column("resamples").known_values()
    parts = []
    if len(sampled) < len(pairs):
        some = f" for {len(pairs) - len(sampled):,} of {count(len(pairs), 'comparison')}" if len(sampled) else ""
        parts.append(
            rf"exactly~\cite{{zmigrod2022}}{some}"
            if test == "permutation" and design.exchanges == "units"
            else f"exactly, without sampling{some}"
        )
    if len(sampled):
        numbers = np.unique(sampled)
        number = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
        how = r" as $(x+1)/(n+1)$ where $x$ of $n$ are at least as extreme~\cite{phipson2010}"
        if settings.resamples == "auto" and test == "permutation":
            how = r", stopping when the decision was certain~\cite{gandy2014}"
        if num_tilted := int(pairs.column("method").mapped("tilted".__eq__).sum()):
            tilted = count(num_tilted, "comparison")
            how += rf", and of {tilted} with $x=0$ by importance sampling~\cite{{harrison2012}}"
        parts.append(f"from {number} random {drawn} (seed {settings.seed}){how}")
    mid = r", as mid-p-values~\cite{lancaster1961}" if settings.mid_p and test == "permutation" else ""
    if test == "bootstrap":
        mid = rf", with the null distribution of ${NULLS[settings.variant]}$"
    of_z = settings.statistic == "studentized" and test == "permutation"
    statistic = r" of the studentized difference~\cite{janssen1997,chung2013}" if of_z else ""
    text = rf"The p-values of {alternative}{paired} {test} tests~\cite{{{source}}}{statistic} were computed "
    text += f"{joined(parts)}{mid}."
    of_mcnemar = dict.fromkeys(
        escape_latex(metric_title(one.metric))
        for one in pairs
        if one.interval_kind == "tango" and one.method not in ("montecarlo", "tilted")
    )
    if of_mcnemar and test == "permutation" and not settings.mid_p:
        text += rf" For {joined(list(of_mcnemar))} this is McNemar's exact test~\cite{{mcnemar1947}}."
    return text


def _correction(sizes: list[int], everything: int, settings: Settings) -> Iterator[str]:
    """The correction, and what is called significant."""
    over = everything if settings.family == "report" else max(sizes, default=0)
    alpha, adjusted = f"{settings.alpha:g}", ""
    if over > 1 and settings.correction == "none":
        yield f"They were not adjusted for the {over:,} comparisons."
    elif over > 1:
        adjusted = "adjusted "
        per = " of each metric" if settings.family == "metric" and everything > over else ""
        by = CORRECTIONS[settings.correction]
        method = rf"{escape_latex(by.title)}~\cite{{{by.cites}}}"
        method += f", from {settings.fixed_resamples:,} random swaps (seed {settings.seed})" * by.is_resampled
        yield f"They were adjusted for the {over:,} comparisons{per} by the method of {method}."
    yield f"We call differences with {adjusted}$p < {alpha}$ significant."


def _intervals(report: ReportRecord) -> Iterator[str]:
    of_scores = dict.fromkeys(one.interval_kind for one in report.systems if one.interval_kind)
    of_deltas = report.comparisons.column("interval_kind").distinct()
    said = [
        f"of {what} are {joined([INTERVALS[kind].words for kind in kinds])}"
        for what, kinds in (("scores", of_scores), ("differences", of_deltas))
        if kinds
    ]
    if said:
        drawn = f" (up to {count(report.settings.fixed_resamples, 'resample')}, seed {report.settings.seed})"
        drawn = drawn if any(INTERVALS[kind].needs == "replicates" for kind in (*of_scores, *of_deltas)) else ""
        together = r", at a level at which they hold together~\cite{hothorn2008}"
        together = together if report.settings.interval == "simultaneous" else ""
        yield f"The {escape_latex(percent(report.settings.level))} intervals {joined(said)}{drawn}{together}."
    joint = int(report.comparisons.column("joint_pairs").values.max(initial=1))
    if joint > 1 and report.settings.interval != "simultaneous":
        cites = "hothorn2008" if "simultaneous" in of_deltas else "dunn1961"
        yield rf"Those of the differences of {joint:,} comparisons hold together~\cite{{{cites}}}."
    elif of_deltas and len(report.comparisons) > 1 and joint == 1:
        yield "Those of differences are for each comparison alone."
