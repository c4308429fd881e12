"""Text, sentences, Markdown, LaTeX and HTML: the right numbers and sentences, widths, marks, and names as they are."""

import itertools
import math
import re
import shutil
import subprocess
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from itertools import combinations, takewhile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from reports import NOTE, SIGNATURE, STRANGE, make_comparison, make_report, with_pair
from rich.cells import cell_len

from sigjax import Evaluation, InputError, Report, compare
from sigjax.cli import main
from sigjax.metrics import MEAN
from sigjax.records import Interval, Settings, SystemScore
from sigjax.report import tex
from sigjax.report.html import to_html
from sigjax.report.latex import to_latex
from sigjax.report.markup import to_markdown
from sigjax.report.sections import blocks
from sigjax.report.text import to_text
from sigjax.report.words import format_p


def unwrapped(text):
    return " ".join(text.split())


def listed(text, column="system"):
    """The names in the first table of systems as a whole: with what it says they share, lines put together again."""
    common = re.search("names without their common '([^']*)'(?: and '([^']*)')?", unwrapped(text))
    before, after = [end or "" for end in common.groups()] if common else ("", "")
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if column in line.split() and "score" in line.split())
    names, at = [], lines[start].index(column)
    for line in takewhile(bool, lines[start + 2 :]):
        if re.search(r"\d\.\d{4}", line):  # further lines of a name have no score
            names.append(re.match(r"\S*", line[at:])[0])
        else:
            names[-1] += line.strip()
    return [before + name + after for name in names]


@pytest.mark.parametrize("width", [58, 80, 100, 160])
@pytest.mark.parametrize("count", [2, 5, 8, 9, 25, 80])
@pytest.mark.parametrize(
    "prefix", ["", "s", "transformer-with-a-very-long-name-that-goes-on-and-on-", "数学数学数学数学数学数学"]
)
def test_text_stays_within_the_width_and_names_every_system(count, prefix, width):
    names = [f"{prefix}{i:02}" for i in range(count)]
    report = make_report(names)
    lines = to_text(report, width=width, verbose=True).splitlines()
    assert lines[-1] == SIGNATURE  # copied as a whole, so never broken
    assert max(cell_len(line) for line in lines[:-1]) <= width
    assert f"note: {NOTE}" in lines
    brief = to_text(report, width=width)
    assert max(map(cell_len, brief.splitlines())) <= width
    assert "note:" not in brief
    assert SIGNATURE not in brief
    assert listed(brief) == listed("\n".join(lines)) == names


FORMATS = [to_text, to_html, to_markdown, to_latex]


def in_words(text):
    """The words of any format: no scripts, tags, escapes or line breaks."""
    text = re.sub("<(script|style).*?</\\1>", "", text, flags=re.DOTALL)
    return unwrapped(re.sub(r"<[^>]+>|\\(?=[#*])", " ", text)).replace("\\", "")


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_counts_the_pairs_that_more_resamples_would_decide(format_):
    first, second, third = make_report(3, p_of=lambda i, j: 0.02).comparisons
    first = replace(first, decided=False, resamples_needed=20_000_000)
    report = replace(make_report(3), comparisons=(first, replace(second, decided=True), third))
    said = "1 pair is undecided at 0.05 (system-1 - system-2): more resamples could change the decision. --resamples"
    said += " 20000000 would probably"
    assert f"{said} decide it." in in_words(format_(report))
    report = replace(report, comparisons=(first, replace(second, decided=False), third))
    wording = "--resamples 20000000 would probably decide 1 of them; 1 is too close for any number."
    named = "(system-1 - system-2, system-1 - system-3)"
    assert f"2 pairs are undecided at 0.05 {named}: more resamples could change the decision. {wording}" in (
        in_words(format_(report))
    )


def test_resamples_are_proposed_that_decide_most_pairs_and_not_the_farthest():
    """A board whose 39 undecided pairs need a million to a billion: three million decide 34 of them."""
    needed = [10**6] * 27 + [3 * 10**6] * 7 + [5 * 10**6, 10**8, 10**9] + [None] * 2
    report = make_report(40, p_of=lambda i, j: 0.02)
    pairs = [replace(one, decided=None) for one in report.comparisons]
    pairs[: len(needed)] = [
        replace(one, decided=False, resamples_needed=count) for one, count in zip(pairs, needed, strict=False)
    ]
    words = in_words(to_text(replace(report, comparisons=tuple(pairs))))
    assert "39 pairs are undecided at 0.05" in words
    decides = "--resamples 3000000 would probably decide 34 of them; 3 need up to 1,000,000,000; 2 are too close"
    assert f"{decides} for any number." in words


@pytest.mark.parametrize("format_", [Report.to_text, to_html])
def test_bounds_of_an_exact_p_are_no_confidence_interval(format_):
    bounded = with_pair(make_report(2, p_of=lambda i, j: 0.00742), p_interval=Interval(0.00738, 0.00742))
    text = unwrapped(re.sub("<[^>]+>", " ", format_(bounded)))
    assert "p lies in [0.00738, 0.00742]" in text
    assert "interval of p" not in text


def ranked(report):
    """With everything that `--leaderboard` adds, and standard errors of clusters."""
    systems = [
        replace(one, rank_interval=(k, k + 9), letters="abcdefg", in_top_group=k < 20, bootstrap_ranks=(k, k + 9),
                standard_error_unclustered=0.01)
        for k, one in enumerate(report.systems, 1)
    ]  # fmt: skip
    return replace(report, systems=tuple(systems))


@pytest.mark.parametrize("settings", [Settings(leaderboard=True), Settings(baseline="a-long-name-07-of-a-checkpoint")])
@pytest.mark.parametrize("count", [2, 12, 25, 143])
def test_every_option_fits_a_terminal_and_a_file_has_all(count, settings):
    names = [f"a-long-name-{k:02}-of-a-checkpoint" for k in range(count)]
    if settings.baseline not in (None, *names):
        settings = replace(settings, baseline=names[0])
    report = ranked(make_report(names, settings=settings))
    for width in (60, 80, 120):
        lines = to_text(report, width=width, verbose=True).splitlines()
        assert max(cell_len(line) for line in lines[:-1]) <= width
        assert listed("\n".join(lines)) == names
        if count > 2:
            assert "Left out on this terminal: boot. ranks" in " ".join(lines) or settings.baseline or width == 120
    brief = to_text(report, width=120).splitlines()
    assert len(brief) <= count + 19
    file = to_text(report, verbose=True)
    assert "…" not in file
    assert "Left out" not in file
    assert all(f"{name} " in file for name in names)
    assert re.search("std. error +unclustered", file)
    if count > 60 and settings.baseline is None:
        assert "The 10,153 pairs are left out here; --format csv or json gives them all." in unwrapped("\n".join(lines))
    elif 8 < count <= 60 and settings.baseline is None:
        assert "pairs are left out here" in unwrapped("\n".join(lines))
        assert f" {count - 1} " in file  # a column of the grid
        assert "left out here" not in file


NAMES = list("abcde")


def test_screens_have_no_tiny_p_and_files_have_all_digits():
    for names in (["a", "b"], NAMES):
        report = make_report(names, p_of=lambda i, j: 2.12e-24)
        for screen in (str(report), to_text(report, width=80)):
            assert "e-24" not in screen
            assert re.search(r"<0\.0001\*|p < 0\.0001", screen)
        for file in (report.to_text(), report.to_markdown(), report.to_csv(), report.to_json(), to_html(report)):
            assert re.search(r"2\.12\d*e-24", file)


def test_a_star_that_more_resamples_could_take_away_has_a_question_mark():
    report = make_report(3, p_of=lambda i, j: 0.0101)
    pairs = [replace(one, decided=at > 0) for at, one in enumerate(report.comparisons)]
    text = to_text(replace(report, comparisons=tuple(pairs)), width=80)
    assert re.findall(r"0\.0303\*\??", text) == ["0.0303*?", "0.0303*"]
    assert "* p < 0.05; ? undecided" in unwrapped(text)
    assert "?" not in to_text(report, width=80)


def test_an_undecided_p_that_is_not_significant_has_a_question_mark_which_the_legend_explains_where_it_is():
    """One system against the best, or two others: the table of systems has only the first p-value."""
    report = make_report(3, p_of=lambda i, j: 0.06)
    for a, b in (("system-1", "system-2"), ("system-2", "system-3")):
        pairs = [replace(one, decided=(one.a, one.b) != (a, b)) for one in report.comparisons]
        shown = replace(report, comparisons=tuple(pairs))
        in_table = a == "system-1"
        assert re.findall(r" 0\.180\?", to_text(shown, width=80)) == [" 0.180?"] * in_table
        assert ("; ? undecided" in unwrapped(to_text(shown, width=80))) is in_table
        assert "; ? undecided" in unwrapped(to_text(shown, width=80, verbose=True))
        assert f"1 pair is undecided at 0.05 ({a} - {b}): more" in unwrapped(to_text(shown, width=80))


def test_what_is_said_of_joint_intervals_is_said_where_they_are_shown():
    """Holm decides the pairs of two systems whose joint intervals, by Bonferroni's level, have 0."""
    report = make_report(["a" * 30, "b" * 30, "c" * 30], p_of=lambda i, j: 0.015)
    report = replace(report, comparisons=tuple(replace(one, joint_pairs=3) for one in report.comparisons))
    wide, narrow = (unwrapped(to_text(report, width=width)) for width in (130, 60))
    for said in ("interval: of the delta, simultaneous for 3 pairs", "with * have 0 in the joint interval: Holm"):
        assert said in wide
        assert said not in narrow
    assert "95% interval of deltas" in narrow


def test_the_headline_says_which_of_it_is_not_certain_yet():
    report = make_report(3, p_of=lambda i, j: 0.01)
    for open_pairs, said in (
        ({(0, 2)}, "The other 2 are significantly worse."),  # the second one beats the third, certainly
        ({(0, 1)}, "The other 2 are significantly worse, 1 of them by a p-value that is not certain yet (*?)."),
        ({(0, 1), (0, 2), (1, 2)}, "significantly worse, all of them by a p-value that is not certain yet (*?)."),
    ):
        named = {(f"system-{i + 1}", f"system-{j + 1}") for i, j in open_pairs}
        pairs = [replace(one, decided=(one.a, one.b) not in named) for one in report.comparisons]
        assert said in in_words(str(replace(report, comparisons=tuple(pairs))))


def test_a_long_board_is_one_screen_and_names_its_best_group():
    report = ranked(make_report(60))
    shown = to_text(report, width=100).splitlines()
    assert len(shown) < 50
    systems = [one.name for one in report.systems]
    assert listed("\n".join(shown)) == [*systems[:29], systems[-1]]  # 19 in the best group and ten more
    assert "30 systems between the last two rows are left out; --verbose has them." in shown
    for whole in (to_text(report, width=100, verbose=True), to_text(report)):  # a pipe is no screen
        assert listed(whole) == systems


def sentence(names=NAMES, significant=(), **options):
    """The sentence on systems whose pairs have p = 1e-9 if they are in `significant`, by their positions."""
    report = make_report(names, p_of=lambda i, j: 1e-9 if (i, j) in significant else 0.9, **options)
    return next(blocks(report)).families[0].conclusion


def beyond(*gaps):
    """The pairs of positions with a gap between them."""
    return {(i, j) for i in range(30) for j in range(30) if any(i < gap <= j for gap in gaps)}


TWENTY = [f"s{k:02}" for k in range(20)]
BASE = {"settings": Settings(baseline="c")}


@pytest.mark.parametrize(
    ("significant", "options", "expected"),
    [
        (beyond(1, 4), {}, "Best: a (0.9000). The other 4 are significantly worse."),
        (
            beyond(4),
            {"names": NAMES[:2] + ["c"]},
            "No system is significantly better than another; the best score is that of a (0.9000).",
        ),
        (
            {(0, 2)},
            {"names": ["a", "b", "c"]},
            "Best: a (0.9000). Not significantly worse: b (0.8900). c (0.8800) is significantly worse.",
        ),
        (
            beyond(2, 3),
            {},
            "Best: a (0.9000). Not significantly worse: b (0.8900). The other 3 are significantly worse.",
        ),
        ((), {}, "No system is significantly better than another; the best score is that of a (0.9000)."),
        ((), {"step": 0.0}, "All 5 systems have the same score (0.9000)."),
        (
            beyond(9),
            {"names": TWENTY},
            "Best: s00 (0.9000). Not significantly worse: s01 (0.8900), s02 (0.8800), s03 (0.8700), s04 (0.8600), "
            "s05 (0.8500) and 3 more. The other 11 are significantly worse.",
        ),
        (
            {(0, 2), (2, 4)},
            BASE,
            "Better than c: a (0.9000); worse: e (0.8600); no significant difference: b (0.8900), d (0.8700).",
        ),
        (
            {(2, 3), (2, 4)},
            BASE,
            "Worse than c: d (0.8700), e (0.8600); no significant difference: a (0.9000), b (0.8900).",
        ),
        ((), BASE, "No system differs significantly from c."),
        (
            {(0, 1)},
            {"settings": Settings(alternative="greater")},
            "1 of 10 pairs differ significantly in the tested direction: a is better than b.",
        ),
    ],
)
def test_the_headline_says_who_is_best_and_who_is_tied(significant, options, expected):
    """One rule, by the pairs alone, in every output."""
    assert sentence(significant=significant, **options) == expected
    report = make_report(
        options.get("names", NAMES),
        p_of=lambda i, j: 1e-9 if (i, j) in significant else 0.9,
        **{name: value for name, value in options.items() if name != "names"},
    )
    said = unwrapped(expected)
    for text in (to_text(report), str(report), to_markdown(report), to_html(report), report._repr_html_()):
        assert said in in_words(text)


def test_two_systems_take_two_sentences_with_p_delta_and_interval():
    report = make_report(["new", "old"], p_of=lambda i, j: 0.001)
    expected = (
        "new (0.9000) is significantly better than old (0.8900), p = 0.00100. The difference is +0.0100, "
        "95% interval [-0.0060, +0.0263] (two-sided permutation test, exact)."
    )
    for text in (to_text(report), to_markdown(report), to_html(report)):
        assert expected in in_words(text)


def test_of_several_best_systems_each_beats_others():
    """b is right wherever c is, and a on other instances: of the two, whose scores are equal, b alone beats c."""
    at = np.arange(40)
    right = {"a": at < 30, "b": (at < 5) | (at >= 15), "c": at >= 20}
    data = {name: own.astype(int) for name, own in right.items()}
    report = compare(Evaluation.from_arrays(data, metric="accuracy"), correction="none")
    assert [report[pair].p_adjusted < 0.05 for pair in (("a", "b"), ("a", "c"), ("b", "c"))] == [False, False, True]
    assert "Best: a (0.7500), b (0.7500). c (0.5000) is significantly worse." in unwrapped(str(report))


@pytest.mark.parametrize("exact", range(4))
def test_the_method_line_counts_every_pair_once(exact):
    report = make_report(["x", "y", "z"], p_of=lambda i, j: 0.25)
    kinds = [("exact", None, None)] * exact + [("montecarlo", 999, 249)] * (3 - exact)
    pairs = [
        replace(one, method=method, resamples=resamples, exceed=exceed)
        for one, (method, resamples, exceed) in zip(report, kinds, strict=True)
    ]
    (section,) = blocks(replace(report, comparisons=tuple(pairs)))
    counts = dict(re.findall(r"(exact|Monte Carlo) \((\d+) pair", section.families[0].method))
    expected = {"exact": str(exact), "Monte Carlo": str(3 - exact)}
    assert counts == {name: number for name, number in expected.items() if number != "0"}


def test_two_metrics_of_few_systems_stand_in_one_table():
    report = of_metrics(["x", "y", "z"], ["bleu", "chrf"], p_of=lambda i, j: 0.001)
    lines = to_text(report, width=100).splitlines()
    (head,) = [line for line in lines if line.startswith("system")]
    interval = ["95%", "interval", "adjusted", "p"]
    assert head.split() == ["system", "BLEU", *interval, "chrF2", *interval]
    assert "Best by BLEU: x (0.9000). The other 2 are significantly worse." in lines
    assert len(lines) < 16


@pytest.mark.parametrize("titles", [("arc: accuracy", None), ("arc: accuracy", "piqa: own")])
def test_metrics_of_different_tasks_are_named_with_their_own(titles):
    one = Evaluation.from_arrays({"A": [1, 0, 1, 1] * 9, "B": [0, 0, 1, 1] * 9}, metric="accuracy")
    other = replace(one, metric=replace(one.metric, name="own"))
    report = compare([replace(each, title=title) for each, title in zip((one, other), titles, strict=True)])
    lines = to_text(report, width=100).splitlines()
    for title in (titles[0], titles[1] or "own"):
        assert any(line.startswith(f"{title} on 36 instances") for line in lines)


def test_names_are_broken_into_lines_before_they_are_cut():
    names = [f"{first}-with-words-that-go-on-and-on-{k}" for k, first in enumerate(("alpha", "beta", "gamma"))]
    text = to_text(make_report(names), width=40)
    assert max(map(cell_len, text.splitlines())) <= 40
    assert "…" not in text
    assert listed(text) == names


@pytest.mark.parametrize(
    ("alpha", "p", "shown"),
    [
        (0.05, 0.05, "0.050"),
        (0.05, 0.04996, "0.04996"),
        (0.05, 0.0500004, "0.050"),
        (0.05, 0.0499999999, "0.0499999999"),
        (0.05, math.nextafter(0.05, 0.0), "0.049999999999999996"),
        (0.0625, 0.0625, "0.0625"),
        (1e-4, 1e-4, "1e-4"),
        (1e-4, 9.99996e-5, "9.99996e-5"),
        (1e-4, 1.00004e-4, "1e-4"),
    ],
)
def test_p_near_alpha_is_shown_with_the_digits_that_tell_its_side(alpha, p, shown):
    text = format_p(p, threshold=alpha)
    assert (text, Decimal(text) < Decimal(repr(alpha))) == (shown, p < alpha)


@settings(max_examples=200, deadline=None)
@given(st.floats(0.0, 1.0, exclude_min=True), st.integers(2, 4))
@example(0.99, 2)
@example(math.nextafter(0.99, 1.0), 2)
@example(1e-300, 2)
def test_what_is_shown_of_p_is_true(p, digits):
    """A bound is one, and other numbers are those of so many digits."""
    text = format_p(p, digits=digits)
    if text[0] in "<>":
        assert p < Decimal(text[1:]) if text[0] == "<" else p > Decimal(repr(float(text[1:])))
    else:
        assert abs(Decimal(text) - Decimal(p)) <= Decimal(p) * Decimal("0.5001") * Decimal(10) ** (1 - digits)


VOID = ("meta", "link")


class Page(HTMLParser):
    """Collects the text of cells and titles, and fails on tags that do not match."""

    def __init__(self, source):
        super().__init__()
        self.cells, self.titles, self.tags, self._open = [], [], [], []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self._open.append(tag)
        self.tags.append(tag)
        self.titles += [value for key, value in attrs if key == "title"]
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_markdown_shows_strange_names_as_they_are():
    source = to_markdown(make_report(STRANGE))
    page = Page(MarkdownIt("commonmark").enable("table").render(source))
    names = page.cells.index("system")
    columns = page.cells.index("std. error") + 1
    assert page.cells[columns + names :: columns][: len(STRANGE)] == list(STRANGE)
    assert "script" not in page.tags
    pairs = [(page.cells[i], page.cells[i + 1]) for i in range(page.cells.index("a") + 8, len(page.cells), 8)]
    assert pairs == list(combinations(STRANGE, 2))


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a_b & c%", r"a\_b \& c\%"),
        ("<script>", r"\textless{}script\textgreater{}"),
        ("x--y", "x-{}-y"),
        (r"$z$ #~^\{}", r"\$z\$ \#\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}"),
        ("[bold]", "{}[bold]"),
        ("*starred", "{}*starred"),
        ("naïve 数学", "naïve 数学"),
    ],
)
def test_latex_escapes_names(name, escaped):
    report = make_report([name, "other"])
    assert f"{escaped} & 0.9000" in report.to_latex(appendix=True)
    assert f"\\midrule\n{escaped} & " in to_latex(report)


NOTEBOOK, WHOLE = Report._repr_html_, to_html


@pytest.mark.parametrize(("format_", "scripts"), [(NOTEBOOK, 0), (WHOLE, 2)])
def test_html_is_well_formed_and_escapes(format_, scripts):
    page = Page(format_(make_report([*STRANGE, 'quote" onclick="x'])))
    assert page.tags.count("script") == scripts
    columns = page.cells.index("adjusted p") + 1
    assert page.cells[columns + 1 :: columns][: len(STRANGE) + 1] == [*STRANGE, 'quote" onclick="x']
    assert len(page.titles) == 28
    assert "<h2>accuracy" not in format_(make_report(3))  # the only metric has its title on top
    assert page.titles[0].startswith(
        "[bold]red[/bold] - a_b & c%: delta +0.0100, 95% interval [-0.0060, +0.0263], p = "
    )


@pytest.mark.parametrize("format_", [NOTEBOOK, WHOLE])
def test_names_of_metrics_are_escaped_in_the_table_of_all(format_):
    metrics = [replace(MEAN, name=name) for name in ("<b>&amp;", "x<sub>2</sub>")]
    data = [Evaluation.from_arrays({"A": [1, 0, 1], "B": [0, 0, 1]}, metric=metric) for metric in metrics]
    cells = Page(format_(compare(data, interval="none"))).cells
    assert cells[:3] == ["system", "<b>&amp;", "x<sub>2</sub>"]


LONG = [f"organisation-name/model_{i}-70b-instruct-v1.{i}-finetuned-on-everything" for i in range(25)]
BOARDS = {
    "2": make_report(2),
    "2 with long names": make_report(LONG[:2]),
    "8": make_report(8, p_of=lambda i, j: 1e-12),
    "8 with long names": make_report(LONG[:8]),
    "8 against one": make_report(LONG[:8], settings=Settings(baseline=LONG[3])),
    "12": make_report(12),
    "25 with long names": make_report(LONG),
    "one word of 200 letters": make_report(["w" * 200, "b"]),
    "two lines each": make_report([f"{team} {run}" for team in LONG for run in ("first run", "second run")][:44]),
    "143": make_report(143, step=0.001, p_of=lambda i, j: 0.2),
}
COLUMN, PAGE = 219, 455


def of_metrics(names, metrics, **options):
    """A report with the same scores by several metrics."""
    one = make_report(names, **options)
    return replace(
        one,
        systems=tuple(replace(system, metric=metric) for metric in metrics for system in one.systems),
        comparisons=tuple(replace(pair, metric=metric) for metric in metrics for pair in one.comparisons),
    )


BOARDS["3 metrics"] = of_metrics(5, ["bleu", "chrf++", "comet_22"])
BOARDS["20 metrics"] = of_metrics(LONG[:5], [f"metric-{i}" for i in range(20)])


def body(source):
    """The rows of the first table."""
    return re.findall(r"(?:\\midrule|\\endfoot)\n([^\\].*?)(?:\\bottomrule|\\end{longtable})", source, flags=re.DOTALL)[
        0
    ].splitlines()


def test_the_table_of_the_paper_as_a_whole():
    report = make_report(["rnn", "crf"], p_of=lambda i, j: 0.01)
    assert to_latex(report).startswith(
        r"""% needs \usepackage{booktabs}
\begin{table}[t]
\centering\small\setlength{\tabcolsep}{4pt}
\caption{2 systems on 1,000 instances. Best in bold; \dag{} significantly better than the other system """
        r"""($p<0.05$, permutation test, two-sided).}\label{tab:results}\par\smallskip
\begin{tabular}{@{}lr@{}l@{}}
\toprule
system & \multicolumn{2}{c}{accuracy} \\
\midrule
rnn & \textbf{0.9000} & $^{\dagger}$ \\
crf & 0.8900 &  \\
\bottomrule
\end{tabular}
\end{table}
% rnn (0.9000) is significantly better than crf (0.8900), p = 0.0100. The difference is +0.0100, """
        "95% interval [-0.0060, +0.0263] (two-sided permutation test, exact).\n"
    )


def test_a_caption_says_what_test_and_marks_in_three_lines_and_no_more_for_more_metrics():
    for report in (of_metrics(7, ["bleu", "chrf"]), BOARDS["20 metrics"]):
        source = to_latex(report)
        (caption,) = re.findall(r"\\caption{(.*)}\\label", source)
        assert re.fullmatch(
            rf"{len({one.name for one in report.systems})} systems on 1,000 instances\. Best in bold; "
            r"\\dag{} significantly worse than the best \(\$p<0.05\$, permutation test, two-sided, "
            r"Holm over \d+ pairs\)\.",
            caption,
        )
        assert len(caption.replace(r"\dag{}", "+").replace("$", "")) <= 3 * 50  # letters of a line of 219 points
        metrics = len({one.metric for one in report.systems})
        assert len(re.findall("(?m)^% Best by .*: ", source)) == metrics  # for the text of the paper


def test_captions_and_labels_can_be_given(tmp_path, monkeypatch, capsys):
    report = of_metrics(3, ["bleu", "chrf"])
    given = {"caption": r"Systems of \citet{x}.", "label": "tab:mine"}
    assert r"\caption{Systems of \citet{x}.}\label{tab:mine}" in report.to_latex(**given)
    labels = re.findall(r"\\label{(.*?)}", report.to_latex(appendix=True, label="tab:mine"))
    assert labels == ["tab:mine-bleu", "tab:mine-bleu-pairs", "tab:mine-chrf", "tab:mine-chrf-pairs"]
    with pytest.raises(InputError, match="caption: is for one table, and the appendix has many"):
        report.to_latex(appendix=True, caption="x")
    monkeypatch.chdir(tmp_path)
    report.to_json("a.json")
    for words, code in (
        (["-o", "a.tex", "-o", "a.appendix.tex", "--caption", given["caption"], "--label", "tab:mine"], 0),
        (["-o", "b.txt", "--label", "tab:mine"], 2),
        (["-o", "b.appendix.tex", "--caption", "mine"], 2),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["show", "a.json", *words])
        assert ended.value.code == code, words
    assert Path("a.tex").read_text() == report.to_latex(**given)
    assert Path("a.appendix.tex").read_text() == report.to_latex(appendix=True, label="tab:mine")
    assert not Path("b.txt").exists()
    assert "--label: is for the table in LaTeX; give -o FILE.tex" in capsys.readouterr().err


WMT = ["GPT4-5shot", "ONLINE-W", "ONLINE-A", "ZengHuiMT", "Lan-BridgeMT", "NLLB_Greedy", "AIRC"]


def test_a_table_that_fits_one_column_takes_one():
    report = of_metrics(WMT, ["bleu", "chrf", "COMET"], p_of=lambda i, j: 1e-9)
    scale = {"bleu": 50.0, "chrf": 75.0, "COMET": 1.0}
    scaled = tuple(replace(one, score=scale[one.metric] * one.score) for one in report.systems)
    report = replace(report, systems=scaled)
    assert r"\begin{table}[t]" in to_latex(report)
    assert r"\begin{tabular}{@{}lr@{}lr@{}lr@{}l@{}}" in to_latex(report)  # no name is broken, either
    more = of_metrics(LONG[:7], ["bleu", "chrf", "COMET", "TER", "BLEURT"], p_of=lambda i, j: 1e-9)
    assert r"\begin{table*}[t]" in to_latex(more)


def test_pairs_of_an_appendix_stand_once_by_rank_with_adjusted_p_and_the_star_is_explained_once():
    names = ["delta", "alpha", "charlie", "bravo"]  # the best first, in the data by the alphabet
    report = make_report(names, p_of=lambda i, j: 0.01)
    by_name = tuple(one if one.a < one.b else one.turned() for one in report.comparisons)
    source = replace(report, comparisons=by_name).to_latex(appendix=True)
    rows = re.findall(r"(?m)^([a-z]+) & (\w+) & (\S+) & (.*?) & (\S+) & (\S+) \\\\$", source)
    assert [row[:2] for row in rows] == list(combinations(names, 2))
    assert [row[2] for row in rows] == [f"$+{0.01 * (j - i):.4f}$" for i, j in combinations(range(4), 2)]
    assert {row[4:] for row in rows} == {("0.0100", "0.0600")}
    assert source.count(r"\begin{tabular}") == 2  # systems, pairs
    assert source.count(r"$^{*}$ $p<0.05$") == 1
    one_sided = make_report(names, p_of=lambda i, j: 0.01, settings=Settings(alternative="greater"))
    turned = [("bravo", "delta")]
    one_sided = replace(
        one_sided,
        comparisons=tuple(
            replace(one, a=one.b, b=one.a, delta=-one.delta) if (one.b, one.a) in turned else one
            for one in one_sided.comparisons
        ),
    )
    assert "bravo & delta & $-0.0300$" in one_sided.to_latex(appendix=True)  # its p is of this direction


def test_many_systems_share_letters_or_are_compared_with_the_best():
    report = make_report(9, p_of=lambda i, j: 1e-9)
    assert [r"\dagger" in row for row in body(to_latex(report))] == [False] + [True] * 8
    lettered = replace(report, systems=tuple(replace(one, letters="ab"[i > 4]) for i, one in enumerate(report.systems)))
    rows = body(to_latex(lettered))
    assert [re.search(r"mathrm{(.)}", row)[1] for row in rows] == list("aaaaabbbb")


def test_metrics_stand_side_by_side_in_the_order_of_the_first():
    def system(name, metric, score):
        return SystemScore(name, metric, score)

    systems = (system("x", "bleu", 30.0), system("y", "bleu", 20.0), system("y", "chrf", 60.0), system("x", "chrf", 50))
    pairs = [
        make_comparison("x", "y", score_a=a, score_b=b, p=p, pairs=1, settings=Settings())
        for a, b, p in [(30, 20, 0.5), (50, 60, 0.01)]
    ]
    pairs = tuple(replace(one, metric=metric) for one, metric in zip(pairs, ("bleu", "chrf"), strict=True))
    report = Report(systems, pairs, Settings(), 10, 10, (), (), "", "")
    assert body(to_latex(report)) == [
        r"x & \textbf{30.00} &  & 50.00 &  \\",
        r"y & 20.00 &  & \textbf{60.00} & $^{\dagger}$ \\",
    ]


PREAMBLE = rf"""\documentclass[11pt,twocolumn]{{article}}
\usepackage[T1]{{fontenc}}\usepackage{{booktabs,longtable}}
\setlength{{\textwidth}}{{{PAGE}pt}}\setlength{{\columnsep}}{{{PAGE - 2 * COLUMN}pt}}\setlength{{\textheight}}{{702pt}}
\begin{{document}}
Before.
"""


def in_one_paper(folder, *reports):
    """A paper of two columns with the tables, appendices and methods of several reports."""
    source = PREAMBLE
    for number, report in enumerate(reports):
        for write, end in ((report.to_methods, "methods"), (report.to_latex, ""), (report.to_latex, "appendix")):
            name = f"report_{number}{'.' * bool(end)}{end}"
            write(folder / f"{name}.tex", **({"appendix": True} if end == "appendix" else {}))
            source += f"\\input{{{name}}}\n\n"
        source += f"Table~\\ref{{tab:report-{number}}}.\n\n"
    reports[0].to_bibtex(folder / "report_0.methods.bib")
    source += "\\bibliographystyle{plain}\\bibliography{report_0.methods}\n\\end{document}\n"
    (folder / "paper.tex").write_text(source, encoding="utf-8")
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.tex")))


PAPERS = {name: (report, BOARDS["3 metrics"]) for name, report in BOARDS.items()}


@pytest.mark.parametrize("name", PAPERS)
def test_two_reports_in_one_paper_have_what_latex_asks_for(name, tmp_path):
    source = re.sub(r"(?m)^% .*", "", in_one_paper(tmp_path, *PAPERS[name]))
    labels = re.findall(r"\\label{(.*?)}", source)
    assert len(labels) == len(set(labels)) == len(re.findall(r"\\caption{", source))
    assert set(re.findall(r"\\ref{(.*?)}", source)) <= set(labels)
    cited = {key for keys in re.findall(r"\\cite{(.*?)}", source) for key in keys.split(",")}
    assert cited <= set(
        re.findall(r"(?m)^@\w+{(\w+),", (tmp_path / "report_0.methods.bib").read_text(encoding="utf-8"))
    )
    opened = []
    for kind, environment in re.findall(r"\\(begin|end){(.*?)}", source):
        if kind == "begin":
            opened.append(environment)
        else:
            assert opened.pop() == environment
    assert opened == []
    bare = re.sub(r"\\[\\{}$%&#_]", "", source)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert "%" not in bare
    assert "#" not in bare
    for table in re.findall(r"\\begin{(?:tabular|longtable)}{(.*?)}\n(.*?)\\end{", source, flags=re.DOTALL):
        columns = len(
            re.findall("[rlp]", re.sub(r"@{}|p{.*?}", lambda found: found[0].startswith("p") * "p", table[0]))
        )
        for row in re.findall(r"(?m)^(?!\\caption)(.*) \\\\$", table[1]):
            spans = sum(int(number) - 1 for number in re.findall(r"\\multicolumn{(\d+)}", row))
            assert len(re.findall(r"(?<!\\)&", row)) + 1 + spans == columns, row
    assert set(re.findall(r"\\usepackage.*?{(.*?)}", source)) <= {"fontenc", "booktabs,longtable", "booktabs"}


def test_a_methods_file_has_its_citations_beside_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["demo", "-o", "a.tex", "-o", "a.appendix.tex", "-o", "a.methods.tex"])
    assert (
        sorted(path.name for path in tmp_path.iterdir()) == "a.appendix.tex a.methods.bib a.methods.tex a.tex".split()
    )
    assert r"\label{tab:a}" in Path("a.tex").read_text()
    assert r"\label{tab:a-fscore-pairs}" in Path("a.appendix.tex").read_text()
    assert "@" not in Path("a.methods.tex").read_text()
    assert "& \\multicolumn{2}{c}{F1} " in Path("a.tex").read_text()
    assert Path("a.tex").read_text().count(r"\begin{table}") == 1
    written = Path("a.methods.bib").read_text()
    Path("a.methods.bib").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["demo", "-o", "a.methods.tex", "-o", "a.methods.bib"])
    assert (ended.value.code or 0, Path("a.methods.bib").read_text()) == (0, written)


LATIN = "".join(map(chr, [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]))
NAMED = {
    **{LATIN[i : i + 24]: None for i in range(0, len(LATIN), 24)},
    "a\u2212b": "a$-$b",
    "a\u2013b\u2014c": r"a\textendash{}b\textemdash{}c",
    "it\u2019s \u201cx\u201d \u2026": r"it\textquoteright{}s \textquotedblleft{}x\textquotedblright{} \textellipsis{}",
    "\u03b1\u03b2-\u0394\u0391 \u03ac": r"$\alpha$$\beta$-$\Delta$A $\acute{\alpha}$",
    "český łąka ế ī ḱ": r"český łąka \'{\^{e}} \={\i} \'{k}",
    "e\u0301 x\u0306": r"é \u{x}",
    "i\u0323 j\u0323 i\u0331 i\u030c": r"\d{i} \d{j} \b{i} \v{\i}",
    "x\u2192y \u2264 z\u2082 10\u207b\u00b3": "x$\\rightarrow$y $\\leq$ z$_{2}$ 10$^{-}$\u00b3",
    ",,a,, ''b'' --c": r",{},a,{}, '{}'b'{}' -{}-c",
}
FOREIGN = ["\u6570\u5b66", "\U0001f916 v2", "\u041c\u043e\u0434\u0435\u043b\u044c", "\uc218\ud559"]


def test_what_pdflatex_does_not_know_becomes_macros_or_is_named(tmp_path, capsys):
    for name, escaped in NAMED.items():
        if escaped is not None:
            assert f"\n{escaped} & 0.9000" in make_report([name, "other"]).to_latex(appendix=True).replace("1 & ", "")
    known = make_report([*NAMED])
    for source in (known.to_latex(), known.to_latex(appendix=True), known.to_methods()):
        assert "warning" not in source
    assert r"% needs \usepackage{booktabs} \usepackage[T1]{fontenc}" in known.to_latex()
    assert "fontenc" not in make_report(3).to_latex()
    baseline = make_report(FOREIGN, settings=Settings(baseline=FOREIGN[0]))
    for write in (Report.to_latex, Report.to_methods):
        warning = write(baseline).split("\n")[1 if write is Report.to_latex else 0]
        assert warning.startswith("% warning: pdflatex cannot print \u6570 (U+6570), \u5b66 (U+5B66)")
        assert "as in '\u6570\u5b66', and prints the codes (U+6570); compile with lualatex or xelatex" in warning
    baseline.to_json(tmp_path / "a.json")
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.tex")])
    assert f"{tmp_path / 'a.tex'}: warning: pdflatex cannot print \u6570 (U+6570)" in capsys.readouterr().err


def compiled(folder, *, engine="pdflatex", runs=1):
    """The log of a paper."""
    for _ in range(runs):
        done = subprocess.run(
            [engine, "-interaction=nonstopmode", "paper.tex"], cwd=folder, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout.decode("latin-1")
    return (folder / "paper.log").read_text(encoding="latin-1")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX")
@pytest.mark.parametrize("foreign", [False, True])
def test_names_of_all_kinds_compile(foreign, tmp_path):
    names = [*NAMED, *(FOREIGN if foreign else [])]
    reports = [make_report(names), make_report(names, settings=Settings(baseline=names[-1]))]
    in_one_paper(tmp_path, *reports)
    bad = re.findall(r"Missing character.*|Overfull.*", compiled(tmp_path, runs=2))
    assert not bad


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX")
def test_widths_are_those_of_computer_modern(tmp_path):
    texts = [chr(code) for code in range(0x21, 0x7F)] + [
        *WMT,
        *LONG[:2],
        "0.9000",
        "[-0.0263, +0.0060]",
        "na\u00efve",
        "α→č",
    ]
    lines = [rf"\setbox0\hbox{{{tex.escape_latex(text)}}}\typeout{{width \the\wd0}}" for text in texts]
    start = r"\documentclass{article}\usepackage[T1]{fontenc}\begin{document}"
    (tmp_path / "paper.tex").write_text("\n".join([start, *lines, r"\end{document}"]), encoding="utf-8")
    measured = [float(points) for points in re.findall(r"(?m)^width (.*)pt", compiled(tmp_path))]
    assert len(measured) == len(texts)
    for text, points in zip(texts, measured, strict=True):
        assert points - 0.02 * len(text) <= tex.width(text)
        assert tex.width(text) <= 1.15 * points + 0.3 or not text.isascii(), text


def test_each_block_of_a_wide_table_begins_with_the_rank_and_the_name():
    rng = np.random.default_rng(1)
    names = [f"meta-llama-organisation/Llama-3.{i}-70B-Instruct" for i in range(5)]
    report = compare({name: rng.integers(0, 9, 40) for name in names}, test=("permutation", "bootstrap"))
    source = report.to_latex(appendix=True).replace(r"\allowbreak{}", "")
    blocks = [
        block for block in re.findall(r"\\begin{longtable}.*?\\end{longtable}", source, re.DOTALL) if "system" in block
    ]
    assert len(blocks) > 1
    order = [one.name for one in report.systems]
    for block in blocks:
        rows = block.partition(r"\endfoot")[2].splitlines()[1:-1]
        ranks, shown = zip(
            *([cell.split("relax ")[-1].strip() for cell in row.split("&")[:2]] for row in rows), strict=True
        )
        assert [*shown] == order
        assert all(re.fullmatch(r"\d(--\d)?", rank) for rank in ranks)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX")
@pytest.mark.parametrize(
    "name", [*[*PAPERS][:3], *(pytest.param(each, marks=pytest.mark.slow) for each in [*PAPERS][3:])]
)
def test_two_reports_compile_in_one_paper_without_a_warning(name, tmp_path):
    in_one_paper(tmp_path, *PAPERS[name])
    latex = ["pdflatex", "-interaction=nonstopmode", "paper.tex"]
    for command in (latex, ["bibtex", "paper"], latex, latex, latex):  # a longtable finds its widths in a few runs
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert not re.search(r"Warning|Overfull|Float too large", log), log


@pytest.mark.parametrize(
    ("name", "width"), [("t", 80), ("t", 60), ("of a longer name than others", 80), ("t" * 45, 20)]
)
def test_scores_of_tasks_have_as_many_systems_as_fit(name, width):
    """A score takes 6 cells and the gap before it 2; names of tasks are cut at 30; two systems are shown anyway."""
    rng = np.random.default_rng(0)
    systems = {f"a system of a long name {k}": rng.integers(0, 2, 9) for k in range(25)}
    suite = {f"{name}{k}": Evaluation.from_arrays(systems, metric="accuracy") for k in range(2)}
    report = compare(suite, interval="none", device="numpy", test="permutation", baseline="1", resamples=99)
    lines = [line.split() for line in to_text(report, width=width).splitlines()]
    longest = max(len(f"{name}0: accuracy"), len("suite: accuracy"))
    most = max((width - min(longest, 30)) // 8, 2)
    assert ["task", *map(str, range(1, most + 1))] in lines
    said = f"Scores of the first {most} of 25 systems"
    assert said in " ".join(itertools.chain.from_iterable(lines))


@pytest.mark.parametrize(("width", "fits"), [(71, True), (70, False)])
def test_scores_of_tasks_are_below_names_if_all_names_fit(width, fits):
    """The longest title has 15 cells, and each of seven systems 6 and a gap of 2."""
    rng = np.random.default_rng(0)
    systems = {f"sys{k}ab": rng.integers(0, 2, 9) for k in range(7)}
    suite = {f"t{k}": Evaluation.from_arrays(systems, metric="accuracy") for k in range(2)}
    report = compare(suite, interval="none", device="numpy", test="permutation", resamples=99)
    lines = [line.split() for line in to_text(report, width=width).splitlines()]
    assert (["task", *(one.name for one in report.systems[:7])] in lines) == fits
    assert (["Scores", "of", "all", "tasks"] in lines) == fits


@pytest.mark.parametrize(("low", "high", "holds"), [(-0.1, 0.0, True), (0.0, 0.1, True), (-0.1, -1e-9, False)])
def test_ends_belong_to_a_joint_interval(low, high, holds):
    report = with_pair(make_report(3, p_of=lambda i, j: 1e-6), interval=Interval(low, high), joint_pairs=3)
    assert ("1 pair with * has 0 in the joint interval" in unwrapped(to_text(report))) == holds
