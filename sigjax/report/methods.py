"""Text for a paper: the methods paragraph in LaTeX, and the BibTeX entries that it may cite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import numpy as np

from sigjax.multiple.decisions import ERROR
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
_BY_FORMULA = ("one statistic", "two statistics", "dynamic program", "tree")
"""If the reason of an exact test begins with one of these texts, the methods paragraph cites Zmigrod et al."""
_WORDED = frozenset(
    ("test", "method", "resamples", "seed", "alternative", "baseline", "correction", "interval", "variant")
    + ("confidence_level", "statistic", "mid_p", "family", "design")  # these have their own sentences below
    + ("budget", "memory", "leaderboard")  # these change no number in the paragraph
)
"""Settings that have their own sentences, or that change no number in the paragraph. If another setting differs from
its default, a sentence names its value."""


def to_methods(report: ReportRecord) -> str:
    r"""Return the methods paragraph. `to_bibtex` returns the entries that the paragraph cites by `\cite`."""
    paragraph = " ".join(_sentences(report))
    return "\n".join([*declared(paragraph, named_in(report)), paragraph]) + "\n"


def to_bibtex() -> str:
    """Return all BibTeX entries that sigjax can cite, so that one file is enough for a paper with several reports."""
    return (files("sigjax") / "data" / "references.bib").read_text(encoding="utf-8")


def _sentences(report: ReportRecord) -> Iterator[str]:
    settings, names = report.settings, list(dict.fromkeys(one.name for one in report.systems))
    metrics = list(dict.fromkeys(escape_latex(metric_title(one.metric)) for one in report.systems))
    whom = f"all pairs of {len(names):,} systems" if len(names) > 2 else count(len(names), "system")
    if settings.baseline is not None:
        whom = f"{count(len(names) - 1, 'system')} with {escape_latex(settings.baseline)}"
    yield f"We compared {whom} by {joined(metrics)} on {size_text(report.num_instances, report.runs)}."
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
        yield from _strata(int(strata[1]), report)
    if DESIGNS[settings.design].words:
        yield DESIGNS[settings.design].words
    groups = report.comparisons.groups()
    for test in dict.fromkeys(test for _, test in groups):
        yield _test(test, Comparisons.joined([each for (_, other), each in groups.items() if other == test]), settings)
    everything = len(report.comparisons) // max(1, len(settings.tests))
    yield from _correction([len(each) for each in groups.values()], everything, report.comparisons, settings)
    yield from _intervals(report)
    for name, field in options_of(Settings).items():
        if name not in _WORDED and (value := getattr(settings, name)) != field.default:
            yield rf"We set \texttt{{{escape_latex(name)}}} to {escape_latex(str(value))}."
    versions = dict.fromkeys(re.findall(r"\|sigjax:([^|;]+)", report.signature))
    yield rf"We used sigjax{f' {escape_latex(joined(list(versions)))}' if versions else ''}~\cite{{sigjax}}."


def _seeds(pairs: Comparisons, settings: Settings) -> str:
    """Return the seed as a text; if reports were combined, the seeds of all these reports."""
    seeds = dict.fromkeys(str(own.seed) for own in pairs.column("settings").distinct() or (settings,))
    return f"seed{'s' * (len(seeds) > 1)} {joined(list(seeds))}"


def _resamples(pairs: Comparisons, settings: Settings) -> str:
    """Return the chosen number of resamples as a text; for combined reports, the smallest and the largest number."""
    numbers = sorted({own.fixed_resamples for own in pairs.column("settings").distinct() or (settings,)})
    return " to ".join(f"{number:,}" for number in dict.fromkeys((numbers[0], numbers[-1])))


def _strata(number: int, report: ReportRecord) -> Iterator[str]:
    """Yield sentences on strata. The permutation test never uses strata, because it exchanges results within units."""
    fixed = any(isinstance(note, Note) and note.code == "fixed" for note in report.notes)
    if fixed:
        yield rf"These are runs on {number:,} fixed tasks (strata), whose runs are the sample~\cite{{agarwal2021}}."
    else:
        drawn = ", and bootstrap resamples were drawn within them" * ("bootstrap" in report.settings.tests)
        yield f"Standard errors and intervals are stratified by {number:,} strata{drawn}."
    if "permutation" in report.settings.tests:
        yield "The permutation test exchanges outputs within units, so it needs no strata."


def _of_notes(report: ReportRecord) -> Iterator[str]:
    """Yield sentences from notes: instances that are left out or count as 0, number of labels, sacrebleu signatures."""
    notes = [note for note in report.notes if isinstance(note, Note)]
    for note in notes:
        if note.code == "dropped":
            named = {"instances": "instances", "runs": "runs of instances"}
            of_what = next(f"{note.values[name]:,} {what}" for name, what in named.items() if name in note.values)
            yield f"Of {of_what}, {note.values['dropped']:,} that some system lacks were left out."
        elif note.code == "filled":
            yield f"We counted {count(int(note.values['results']), 'missing result')} as 0."
        elif note.code == "labels":
            labels = f"{int(note.values['labels']):,} human labels of all systems"
            yield (
                f"{escape_latex(metric_title(note.about))} is the mean that people would give on all instances, "
                rf"estimated from {labels} and a judge's scores of all outputs~\cite{{angelopoulos2023}}."
            )
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
    parts, sampled_ps = [], ""
    if len(sampled) < len(pairs):
        some = f" for {len(pairs) - len(sampled):,} of {count(len(pairs), 'comparison')}" if len(sampled) else ""
        by_formula = pairs.column("reason").mapped(lambda reason: str(reason).startswith(_BY_FORMULA))
        by_formula &= ~pairs.column("interval_kind").mapped(lambda kind: kind == "tango")  # McNemar's test
        cited = test == "permutation" and design.exchanges == "units" and by_formula.any()
        parts.append(rf"exactly~\cite{{zmigrod2022}}{some}" if cited else f"exactly, without sampling{some}")
    if len(sampled):
        numbers = np.unique(sampled)
        number = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
        sampled_ps = r"A sampled p-value is $(x+1)/(n+1)$, where $x$ of $n$ are at least as extreme~\cite{phipson2010}."
        until = ""
        if settings.resamples == "auto" and test == "permutation":
            until = rf", until the decision was wrong with probability at most {ERROR:g}~\cite{{gandy2014}}"
            sampled_ps = ""
        if num_tilted := int(pairs.column("method").mapped("tilted".__eq__).sum()):
            tilted = count(num_tilted, "comparison")
            sampled_ps += rf" For {tilted} with $x=0$, p is from importance sampling~\cite{{harrison2012}}."
        of_others = " for the others" * bool(parts)
        parts.append(f"from {number} random {drawn} ({_seeds(pairs, settings)}){of_others}{until}")
    mid = r", as mid-p-values~\cite{lancaster1961}" if settings.mid_p and test == "permutation" else ""
    if test == "bootstrap":
        mid = rf", with the null distribution of ${NULLS[settings.variant]}$"
    of_z = settings.statistic == "studentized" and test == "permutation"
    statistic = r" of the studentized difference~\cite{janssen1997,chung2013,konietschke2014}" if of_z else ""
    if settings.alternative != "two-sided":
        one = pairs[0]
        which = f"{escape_latex(one.a)} minus {escape_latex(one.b)}" if len(pairs) == 1 else "first minus second system"
        statistic += f" ({which})"
    text = rf"The p-values of {alternative}{paired} {test} tests~\cite{{{source}}}{statistic} were computed "
    text += f"{joined(parts)}{mid}. {sampled_ps}".rstrip()
    if test == "permutation":
        text += " Their null hypothesis is that the outputs of two systems are exchangeable."
    exact = ~pairs.column("resamples").where_present
    if bounded := int(np.count_nonzero(pairs.column("p_interval").where_present & exact)):
        text += f" For {count(bounded, 'comparison')} p is the upper of two bounds that are at most 1\\% apart."
    of_mcnemar = dict.fromkeys(
        escape_latex(metric_title(one.metric))
        for one in pairs
        if one.interval_kind == "tango" and one.method not in ("montecarlo", "tilted")
    )
    if of_mcnemar and test == "permutation" and settings.has_valid_p:
        text += rf" For {joined(list(of_mcnemar))} this is McNemar's exact test~\cite{{mcnemar1947}}."
    return text


def _correction(sizes: list[int], everything: int, pairs: Comparisons, settings: Settings) -> Iterator[str]:
    """Yield the sentences about the correction, and about the threshold for significance.

    `sizes` are the numbers of comparisons per metric, and `everything` is the number of comparisons of all metrics.
    """
    over = everything if settings.family == "report" else max(sizes, default=0)
    alpha, adjusted = f"{settings.alpha:g}", ""
    if over > 1 and settings.correction == "none":
        yield f"The p-values were not adjusted for the {over:,} comparisons."
    elif over > 1:
        adjusted = "adjusted "
        per = " of each metric" if settings.family == "metric" and everything > over else ""
        by = CORRECTIONS[settings.correction]
        method = rf"{escape_latex(by.title)}~\cite{{{by.cites}}}"
        method += f", from {_resamples(pairs, settings)} random swaps ({_seeds(pairs, settings)})" * by.is_resampled
        yield f"The p-values were adjusted for the {over:,} comparisons{per} by the method of {method}."
    yield f"We call differences with {adjusted}$p < {alpha}$ significant."


def _intervals(report: ReportRecord) -> Iterator[str]:
    of_scores = dict.fromkeys(one.interval_kind for one in report.systems if one.interval_kind)
    of_deltas = report.comparisons.column("interval_kind").distinct()
    said = [
        f"{joined([INTERVALS[kind].words for kind in kinds])} for {what}"
        for what, kinds in (("scores", of_scores), ("differences", of_deltas))
        if kinds
    ]
    if said:
        of = report.comparisons, report.settings
        drawn = f" (up to {_resamples(*of).split()[-1]} resamples, {_seeds(*of)})"
        drawn = drawn if any(INTERVALS[kind].needs == "replicates" for kind in (*of_scores, *of_deltas)) else ""
        together = r", which are simultaneous~\cite{hothorn2008}"
        together = together if report.settings.interval == "simultaneous" else ""
        level = escape_latex(percent(report.settings.confidence_level))
        yield f"We give {level} confidence intervals: {joined(said)}{drawn}{together}."
    joint = int(report.comparisons.column("joint_pairs").values.max(initial=1))
    if joint > 1 and report.settings.interval != "simultaneous":
        each = escape_latex(f"{100.0 - 100.0 * report.settings.alpha / joint:.6g}%")
        how = (
            r"~\cite{hothorn2008}"
            if "simultaneous" in of_deltas
            else rf" (Bonferroni~\cite{{dunn1961}}: each at {each})"
        )
        yield f"The intervals of differences of {joint:,} comparisons are simultaneous{how}."
    elif of_deltas and len(report.comparisons) > 1 and joint == 1:
        yield "The intervals of differences are not simultaneous."
