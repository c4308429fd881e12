"""LaTeX: tables fit a two-column class, say which scores are the best, and mark what is significant."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from reports import make_comparison, make_report

from sigjax import Report
from sigjax.records import Settings, SystemScore
from sigjax.report import to_latex

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


def test_superscripts_name_the_systems_that_are_worse():
    rows = body(to_latex(make_report(4, p_of=lambda i, j: 0.001 if j - i > 1 else 0.9)))
    assert rows == [
        r"a & system-1 & \textbf{0.9000} & $^{\mathrm{cd}}$ \\",
        r"b & system-2 & 0.8900 & $^{\mathrm{d}}$ \\",
        r"c & system-3 & 0.8800 &  \\",
        r"d & system-4 & 0.8700 &  \\",
    ]


def test_many_systems_share_letters_or_are_compared_with_the_best():
    report = make_report(9, p_of=lambda i, j: 1e-9)
    assert [r"\dagger" in row for row in body(to_latex(report))] == [False] + [True] * 8
    lettered = replace(report, systems=tuple(replace(one, letters="ab"[i > 4]) for i, one in enumerate(report.systems)))
    rows = body(to_latex(lettered))
    assert [re.search(r"mathrm{(.)}", row)[1] for row in rows] == list("aaaaabbbb")


def test_metrics_stand_side_by_side_in_the_order_of_the_first():
    def system(name, metric, score):
        return SystemScore(name, metric, score, None, None)

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
