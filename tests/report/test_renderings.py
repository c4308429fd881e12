"""Text, sentences, Markdown, LaTeX and HTML: the right numbers and sentences, widths, marks, and names as they are."""

import math
import re
import shutil
import subprocess
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from itertools import combinations

import pytest
from markdown_it import MarkdownIt
from reports import NOTE, SIGNATURE, STRANGE, make_comparison, make_report, with_pair
from rich.cells import cell_len

from sigjax import Evaluation, Report, compare
from sigjax.metrics import MEAN
from sigjax.records import Interval, Settings, SystemScore
from sigjax.report import to_html, to_latex, to_markdown, to_text
from sigjax.report.sections import blocks
from sigjax.report.words import format_p


def unwrapped(text):
    return " ".join(text.split())


@pytest.mark.parametrize("width", [58, 80, 100, 160])
@pytest.mark.parametrize("count", [2, 5, 8, 9, 25, 80])
@pytest.mark.parametrize(
    "prefix", ["", "s", "transformer-with-a-very-long-name-that-goes-on-and-on-", "数学数学数学数学数学数学"]
)
def test_text_stays_within_the_width_and_names_every_system(count, prefix, width):
    names = [f"{prefix}{i:02}" for i in range(count)]
    lines = to_text(make_report(names), width=width).splitlines()
    assert lines[-1] == SIGNATURE  # copied as a whole, so never broken
    assert max(cell_len(line) for line in lines[:-1]) <= width
    assert f"note: {NOTE}" in lines
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["#", "system"])
    shown = [line.split()[1] for line in lines[start + 2 : start + 2 + count]]
    assert len(set(shown)) == count
    for name, short in zip(names, shown, strict=True):
        assert short == name or ("…" in short and short[-2:] == name[-2:])


FORMATS = [to_text, to_html, to_markdown, to_latex]


def in_words(text):
    """The words of any format: no scripts, tags, escapes or line breaks."""
    text = re.sub("<(script|style).*?</\\1>", "", text, flags=re.DOTALL)
    return unwrapped(re.sub(r"<[^>]+>|\\(?=[#*])", " ", text)).replace("\\", "")


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_counts_the_pairs_that_more_resamples_would_decide(format_):
    first, second, third = make_report(3, p_of=lambda i, j: 0.02).comparisons
    first = replace(first, settled=False, resamples_needed=20_000_000)
    report = replace(make_report(3), comparisons=(first, replace(second, settled=True), third))
    assert "1 pair is not settled at 0.05: more resamples could change the decision; about 20,000,000 would" in (
        in_words(format_(report))
    )
    report = replace(report, comparisons=(first, replace(second, settled=False), third))
    wording = "about 20,000,000 would settle 1 of them, and even 1,000,000,000 hardly the other."
    assert f"2 pairs are not settled at 0.05: more resamples could change the decision; {wording}" in (
        in_words(format_(report))
    )


@pytest.mark.parametrize("format_", [to_text, to_html])
def test_a_bracket_of_an_exact_p_is_no_confidence_interval(format_):
    bracketed = with_pair(make_report(2, p_of=lambda i, j: 0.00742), p_interval=Interval(0.00738, 0.00742))
    text = unwrapped(re.sub("<[^>]+>", " ", format_(bracketed)))
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
    lines = to_text(report, width=80).splitlines()
    assert max(cell_len(line) for line in lines[:-1]) <= 80
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["#", "system"])
    short = [line.split()[1] for line in lines[start + 2 : start + 2 + count]]
    assert len(set(short)) == count
    dropped = re.search("Left out on this terminal: (.*); --output FILE has all columns", unwrapped("\n".join(lines)))
    if count == 2:  # a pair has no ranks and letters, so that all columns fit
        assert dropped is None
    else:
        assert dropped[1].startswith("unclustered")
    file = to_text(report)
    assert "…" not in file
    assert "Left out" not in file
    assert all(f" {name} " in file for name in names)
    assert re.search("score +std. error +unclustered +95% interval", file)
    if count > 60 and settings.baseline is None:
        assert "first 60 of 143 systems; --output FILE has every pair" in unwrapped("\n".join(lines))
        assert "first 60" not in file


NAMES = list("abcde")


def sentence(names=NAMES, significant=(), **options):
    """The sentence on systems whose pairs have p = 1e-9 if they are in `significant`, by their positions."""
    report = make_report(names, p_of=lambda i, j: 1e-9 if (i, j) in significant else 0.9, **options)
    return next(blocks(report)).families[0].conclusion


def beyond(*gaps):
    """The pairs of positions with a gap between them."""
    return {(i, j) for i in range(30) for j in range(30) if any(i < gap <= j for gap in gaps)}


@pytest.mark.parametrize(
    ("significant", "expected"),
    [
        (beyond(1, 4), "a beats all others; b, c and d cannot be told apart; e is worst."),
        (
            beyond(2, 3),
            "a and b beat all others and cannot be told apart; c beats all that follow; d and e cannot be told apart.",
        ),
        (beyond(1) | {(1, 4)}, "a beats all others; b, c, d and e overlap (1 of 6 pairs differ)."),
        (beyond(1, 2, 3, 4), "All can be told apart: a, then b, then c, then d, then e."),
        ((), "a, b, c, d and e cannot be told apart."),
        ({(0, 3), (0, 4), (1, 4)}, "a beats d and e; b beats e; no other pair can be told apart."),
    ],
)
def test_groups_of_systems(significant, expected):
    assert sentence(significant=significant) == expected


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
    assert page.cells[4:24:3] == page.cells[30:65:5] == list(STRANGE)
    assert "script" not in page.tags
    pairs = [(page.cells[i], page.cells[i + 1]) for i in range(72, len(page.cells), 8)]
    assert pairs == list(combinations(STRANGE, 2))


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a_b & c%", r"a\_b \& c\%"),
        ("<script>", r"\textless{}script\textgreater{}"),
        ("x--y", "x-{}-y"),
        (r"$z$ #~^\{}", r"\$z\$ \#\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}"),
        ("[bold]", "{}[bold]"),
        ("naïve 数学", "naïve 数学"),
    ],
)
def test_latex_escapes_names(name, escaped):
    assert f"1 & {escaped} & 0.9000" in to_latex(make_report([name, "other"]))


NOTEBOOK, WHOLE = Report._repr_html_, to_html


@pytest.mark.parametrize(("format_", "scripts"), [(NOTEBOOK, 0), (WHOLE, 2)])
def test_html_is_well_formed_and_escapes(format_, scripts):
    page = Page(format_(make_report([*STRANGE, 'quote" onclick="x'])))
    assert page.tags.count("script") == scripts
    assert page.cells[6:46:5] == [*STRANGE, 'quote" onclick="x']
    assert len(page.titles) == 28
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
        r"""% needs \usepackage{booktabs}, and \usepackage{longtable} for more than 45 lines
\begin{table}[t]
\centering\small\setlength{\tabcolsep}{4pt}
\caption{2 systems on 1,000 instances.}\label{tab:systems}\par\smallskip
\begin{tabular}{@{}lr@{}l@{}}
\toprule
system & \multicolumn{2}{c}{accuracy} \\
\midrule
rnn & \textbf{0.9000} & $^{\dagger}$ \\
crf & 0.8900 &  \\
\bottomrule
\end{tabular}
\par\smallskip{\footnotesize\raggedright Best in bold; \dag{} significantly better than the other system (p """
        r"""\textless{} 0.05, permutation test, two-sided).\par}
\end{table}
"""
    )


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


@pytest.mark.skipif(shutil.which("latex") is None, reason="no TeX")
@pytest.mark.parametrize("name", BOARDS)
def test_tables_compile_without_overfull_boxes(name, tmp_path):
    (tmp_path / "a.tex").write_text(f"{PREAMBLE}{to_latex(BOARDS[name])}After.\n\\end{{document}}\n", encoding="utf-8")
    for _ in range(3):  # a longtable finds its widths in a few runs
        command = ["latex", "-interaction=nonstopmode", "a.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    log = (tmp_path / "a.log").read_text(encoding="latin-1")
    assert not re.search(r"Overfull|Float too large", log), log
