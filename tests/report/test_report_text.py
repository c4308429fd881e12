"""Text: nothing is wider than the terminal, and the numbers and sentences are the right ones."""

import re
from dataclasses import replace

import pytest
from reports import NOTE, SIGNATURE, make_report, with_pair
from rich.cells import cell_len

import sigjax
from sigjax.records import Interval, Settings
from sigjax.report import to_html, to_latex, to_markdown, to_text
from sigjax.report.words import middle_cut, short_names


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
@pytest.mark.parametrize(
    ("needed", "wording"),
    [(300_000, "about 300,000 would settle it"), (None, "even 1,000,000,000 would hardly settle it")],
)
def test_every_format_says_when_more_resamples_would_decide(format_, needed, wording):
    changes = {"p_interval": Interval(0.0482, 0.0499), "method": "montecarlo", "resamples": 100_000, "exceed": 4949}
    report = with_pair(make_report(2, p_of=lambda i, j: 0.0495), **changes, settled=False, resamples_needed=needed)
    text = in_words(format_(report))
    assert f"The decision at 0.05 is not settled: more resamples could change it; {wording}." in text
    assert "settle" not in in_words(format_(with_pair(report, settled=True, resamples_needed=None)))
    assert "Monte Carlo, 100,000 resamples" in text
    if format_ in (to_text, to_html):
        assert "95% interval of p [0.0482, 0.0499]" in text


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


def test_text_says_how_far_systems_are_behind_the_best():
    """The best is the last in the data, so that its pairs are turned round: as a comparison with it alone has them."""
    numbers = {"low": [0, 1, 2, 0, 3, 1], "mid": [4, 1, 0, 3, 3, 2], "top": [6, 5, 7, 5, 4, 8]}
    evaluation = sigjax.Evaluation.from_arrays(numbers)
    report = sigjax.compare(evaluation, device="numpy")
    of_best = {one.a: one for one in sigjax.compare(evaluation, baseline="top", device="numpy")}
    adjusted = {frozenset((one.a, one.b)): one.p_adjusted for one in report}
    lines = [line.split() for line in to_text(report).splitlines()]
    start = lines.index("# system delta to the best 95% interval adjusted p".split()) + 2
    assert lines[start] == ["1", "top", "best"]
    for rank, name in ((2, "mid"), (3, "low")):
        assert (interval := of_best[name].interval) is not None
        low, high = interval
        p = f"{adjusted[frozenset((name, 'top'))]:#.3g}"
        assert lines[start + rank - 1] == [
            str(rank),
            name,
            f"{of_best[name].delta:+.3f}",
            f"[{low:+.3f},",
            f"{high:+.3f}]",
            p,
        ]


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


def test_no_word_is_broken_and_no_two_names_look_alike():
    names = ["a" * 90 + "1" + "z" * 90, "a" * 90 + "2" + "z" * 90]
    text = to_text(make_report(names), width=80)
    assert f"\n{names[0]} and\n" in text or f" {names[0]}\n" in text or f"\n{names[0]}\n" in text
    assert "delta (1 - 2) " in text
    for width in (3, 8, 12, 40):
        assert len(set(short_names(names, width))) == 2
    assert short_names(["a-b", "a-c"], 40) == ["a-b", "a-c"]


def test_middle_cut_counts_wide_characters():
    assert cell_len(middle_cut("数学" * 10, 11)) <= 11
    assert middle_cut("abcdef", 1) == "…"
