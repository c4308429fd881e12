"""Figures: what is drawn is what the report says, no text lies on another, and what cannot be drawn is refused."""

import io
import struct
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from reports import SIGNATURE, make_report

from sigjax import Evaluation, InputError, compare
from sigjax.cli import _run
from sigjax.records import Settings
from sigjax.report.panels import BLUE, TWO_COLUMNS, UNDECIDED, VERMILION, draw_panels
from sigjax.report.plots import EQUAL, FIGURES, NOT_SIGNIFICANT, _label_cells, default_figure
from sigjax.report.sections import mark

CHANCES = np.linspace(0.85, 0.35, 30)


def right(count):
    """Answers of systems that differ more and more, the same in whatever order tests run."""
    rng = np.random.default_rng([5, count])
    return {f"team-{i + 1}-of-2026": (rng.random(300) < CHANCES[i]).astype(int) for i in range(count)}


REPORTS = {count: compare(right(count), read={"metric": "accuracy"}) for count in (2, 9, 30)} | {143: make_report(143)}
NAMES = [one.name for one in REPORTS[9].systems]


def texts(figure):
    """All texts that are drawn, with their corners."""
    figure.draw_without_rendering()
    panels = [each for axes in figure.axes for each in (axes, *axes.child_axes)]
    beyond = set()  # ticks that are not drawn, but still there
    for axes in panels:
        for place, labels, ends in (
            (0, axes.get_xticklabels(), axes.get_xlim()),
            (1, axes.get_yticklabels(), axes.get_ylim()),
        ):
            beyond |= {each for each in labels if not min(ends) <= each.get_position()[place] <= max(ends)}
    shown = (each for each in figure.findobj(Text) if each.get_visible() and each.get_text().strip())
    return {each: each.get_window_extent() for each in shown if each not in beyond}


@pytest.mark.parametrize("kind", ["heatmap", "forest"])
def test_panels_of_two_tests_stand_beside_each_other_or_below(kind):
    report = compare(right(9), read={"metric": "accuracy"}, test=["permutation", "bootstrap"], resamples=200)
    figure = report.plot(kind)
    one, other = (each.get_position() for each in figure.axes[:2])
    assert figure.get_size_inches()[0] <= TWO_COLUMNS
    beside = kind == "forest"  # a heat map of nine systems takes both columns of a paper
    assert (other.y1 < one.y0, one.x1 < other.x0) == (not beside, beside)


@pytest.mark.parametrize("kind", ["scores", "forest", "null"])
def test_two_metrics_stand_beside_each_other_with_one_legend_and_each_is_named_once(kind):
    first = Evaluation.from_arrays(right(4))
    figure = compare([first, replace(first, metric=replace(first.metric, name="second"))]).plot(kind)
    left, other = figure.axes
    assert left.get_position().x1 < other.get_position().x0
    assert len(figure.legends) == 1
    assert left.get_legend() is other.get_legend() is None
    words = [text.get_text() for text in texts(figure)]
    for metric in ("mean", "second"):
        assert sum(metric in text for text in words) == 1


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *((kind, count) for kind in FIGURES for count in (2, 9, 30)),
        *((kind, 143) for kind in ("heatmap", "scores", "forest")),
    ],
)
@pytest.mark.slow
def test_texts_lie_within_the_figure_and_not_on_each_other(kind, count):
    figure = REPORTS[count].plot(kind)
    assert figure.get_size_inches()[0] <= TWO_COLUMNS
    boxes = list(texts(figure).items())
    for one, box in boxes:
        assert figure.bbox.padded(2.0).contains(*box.min), one
        assert figure.bbox.padded(2.0).contains(*box.max), one
    low, high = (np.array([getattr(box, end) for _, box in boxes]) for end in ("min", "max"))
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    share = np.prod(np.maximum(shared, 0.0), axis=2) / np.prod(high - low, axis=1)
    np.fill_diagonal(share, 0.0)
    worst = np.unravel_index(share.argmax(), share.shape)
    assert share.max() < 0.2, [boxes[index][0] for index in worst]


def points(axes):
    """(x, row, filled) of each marker, from the top."""
    drawn = [
        (x, row, line.get_markerfacecolor() not in ("white", UNDECIDED))
        for line in axes.lines
        if line.get_marker() in ("o", "D")
        for x, row in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]
    return sorted(drawn, key=lambda each: each[1])


def segments(axes):
    return [segment.tolist() for lines in axes.collections for segment in lines.get_segments()]


def test_scores_are_points_with_intervals_open_where_the_best_is_not_beaten():
    report = REPORTS[9]
    (axes,) = report.plot("scores").axes
    best = {one.b if one.a == NAMES[0] else one.a: one for one in report if NAMES[0] in (one.a, one.b)}
    assert points(axes) == [
        (one.score, row, one.name == NAMES[0] or best[one.name].p_adjusted < 0.05)
        for row, one in enumerate(report.systems)
    ]
    assert 1 < sum(filled for *_, filled in points(axes)) < 9
    ends = [[[one.interval.low, row], [one.interval.high, row]] for row, one in enumerate(report.systems)]
    assert segments(axes) == ends
    low, high = axes.get_ylim()
    assert low > high  # the best system on top
    assert [label.get_text() for label in axes.get_yticklabels()] == NAMES
    assert "higher is better" in axes.get_xlabel().replace("\n", " ")
    lower = replace(report, lower_is_better=("accuracy",)).plot("scores")
    title = lower.axes[0].get_title("left")
    assert title.split() == "accuracy on 300 instances, 9 systems; lower is better".split()
    assert "better" not in lower.axes[0].get_xlabel()


@pytest.mark.parametrize("baseline", [None, "team-3-of-2026"])
def test_a_forest_has_the_deltas_to_the_best_or_the_baseline(baseline):
    report = compare(right(9), read={"metric": "accuracy"}, baseline=baseline)
    (axes,) = report.plot("forest").axes
    names = [one.name for one in report.systems]
    reference = baseline or names[0]
    expected = [report[name, reference] for name in names if name != reference]
    assert points(axes) == [(one.delta, row, one.p_adjusted < 0.05) for row, one in enumerate(expected)]
    assert segments(axes) == [[[one.interval.low, row], [one.interval.high, row]] for row, one in enumerate(expected)]


def test_gains_are_those_of_all_pairs():
    axes = REPORTS[9].plot("gain").axes[0]
    drawn = {(x, y) for line in axes.lines[:2] for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert drawn == {(abs(one.delta), 1.0 - one.p_value) for one in REPORTS[9]}


def test_a_heat_map_has_a_shade_and_a_number_for_every_pair():
    (axes,) = REPORTS[9].plot("heatmap").axes
    image = np.asarray(axes.images[0].get_array())
    assert (image[..., 3] > 0).sum() == len(axes.texts) == 36
    colors = {0: BLUE, "·": NOT_SIGNIFICANT, "=": EQUAL}
    for i, j in combinations(range(9), 2):
        shade = mark(REPORTS[9][NAMES[i], NAMES[j]])
        if shade in colors:
            assert image[i, j].tolist() == list(to_rgba(colors[shade]))
    white = [np.array(each) for lines in axes.collections for each in lines.get_segments()]
    across = [segment[:, 0].tolist() for segment in white if segment[0, 1] == segment[1, 1]]
    assert across == [list(axes.get_xlim())] * 10


def test_bars_of_groups_join_those_that_share_a_letter_and_lines_lead_from_scores_to_names():
    report = REPORTS[30]
    (axes,) = report.plot("groups").axes
    scores = [one.score for one in report.systems]
    groups = [
        [row for row, one in enumerate(report.systems) if letter in one.letters]
        for letter in sorted(set("".join(one.letters for one in report.systems)))
    ]
    joined = [members for members in groups if len(members) > 1]
    thin = [segment for lines in axes.collections if lines.get_linewidths()[0] < 1 for segment in lines.get_segments()]
    assert {(high, low) for (high, _), (low, _) in thin} == {(scores[one[0]], scores[one[-1]]) for one in joined}
    leaders = {tuple(line.get_ydata()[1:]): line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3}
    assert len(leaders) == 15  # a row has the names of two systems, one on either side
    ends = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3]
    assert sorted(ends, reverse=True) == scores
    low, high = axes.get_xlim()
    names = [label.get_text() for label in axes.child_axes[0].get_yticklabels()]
    assert [name.split("  ")[1] for name in names] == [one.name for one in report.systems[:15]]
    assert names[0].startswith(f"{scores[0]:.4f}")
    assert axes.get_ylim()[0] == 14.5  # half a row below the last of 15
    with pytest.raises(InputError, match="at most 60 systems can be read, and these are 143; use scores, or heatmap"):
        REPORTS[143].plot("groups")


def halves(axes):
    """The edges of each half violin, and (x, y) of each black point and line."""
    black = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_color() == "black"]
    lines = [each for each in axes.collections if to_rgba("black") in [tuple(color) for color in each.get_edgecolors()]]
    return axes.patches, black, [segment for each in lines for segment in each.get_segments()]


@pytest.mark.parametrize("baseline", [None, "team-3-of-2026"])
def test_estimation_shows_scores_beside_the_distributions_of_differences(baseline):
    report = compare(right(9), read={"metric": "accuracy"}, baseline=baseline)
    left, others = report.plot("estimation").axes[0].child_axes
    reference = baseline or report.systems[0].name
    rest = [one for one in report.systems if one.name != reference]
    (first,) = (one for one in report.systems if one.name == reference)
    assert [x for x, *_ in points(left)] == [one.score for one in (first, *rest)]
    assert [label.get_text() for label in left.get_yticklabels()] == [one.name for one in (first, *rest)]
    violins, black, lines = halves(others)
    assert black == [(report[one.name, reference].delta, row) for row, one in enumerate(rest, 1)]
    pairs = [report[one.name, reference].interval for one in rest]
    assert [(line[0][0], line[1][0]) for line in lines] == [tuple(each) for each in pairs]
    for row, (violin, one) in enumerate(zip(violins, rest, strict=True), 1):
        law = report.distribution(one.name, reference, test="bootstrap")
        values, edges, base = violin.get_data()
        assert base == row
        assert edges == pytest.approx(law.edges)
        assert (row - values) / 0.8 * max(law.shares) == pytest.approx(law.shares, abs=1e-12)


@pytest.mark.parametrize("pair", [None, ("team-5-of-2026", "team-2-of-2026")])
def test_estimation_of_two_systems_is_of_the_first_minus_the_second(pair):
    report = REPORTS[2 if pair is None else 9]
    a, b = pair or (report[0].a, report[0].b)
    left, right_side = report.plot("estimation", pair=pair).axes[0].child_axes
    (violin,), black, lines = halves(right_side)
    law, delta, interval = report.distribution(a, b, test="bootstrap"), report[a, b].delta, report[a, b].interval
    assert [label.get_text() for label in left.get_yticklabels()] == [b, a]
    assert black == [(pytest.approx(delta), 1)]
    assert [(line[0][0], line[1][0]) for line in lines] == [pytest.approx(tuple(interval))]
    assert violin.get_data().edges.tolist() == pytest.approx(law.edges)
    assert f"delta to {b}" in " ".join(right_side.get_xlabel().split())
    one_sided = compare(right(4), read={"metric": "accuracy"}, alternative="greater").plot("estimation")
    assert len(halves(one_sided.axes[0].child_axes[1])[0]) == 3


@pytest.mark.parametrize(("columns", "heights"), [(1, [1.0, 4.0, 2.0]), (2, [4.0, 4.0, 2.0])])
def test_each_row_of_panels_is_as_high_as_its_highest(columns, heights):
    panels = [(3.0, height, lambda axes: None) for height in (1.0, 4.0, 2.0)]
    figure = draw_panels(panels, None, "three panels", columns)
    drawn = [axes.get_window_extent().height / figure.dpi for axes in figure.axes[:3]]
    assert np.array(drawn) / drawn[1] == pytest.approx(np.array(heights) / 4.0, rel=1e-6)


@pytest.mark.slow
def test_many_rows_stand_in_two_columns_on_one_scale():
    left, other = REPORTS[143].plot("scores").axes
    assert [len(points(left)), len(points(other))] == [72, 71]
    assert left.get_xlim() == other.get_xlim()
    assert min(label.get_fontsize() for label in left.get_yticklabels()) > 6
    assert len(left.figure.legends) == 1


@pytest.mark.slow
def test_names_are_drawn_whole():
    names = [f"mini-v1.{i}.0_claude-opus-4-5-2025{i:04}-preview" for i in range(20)]
    report = make_report(names)
    for kind in ("scores", "heatmap", "groups"):
        drawn = "\n".join(text.get_text() for text in texts(report.plot(kind)))
        assert all(name in drawn for name in names), kind


def test_axes_of_others_have_the_legend_below_and_nothing_else_changes():
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4))
    left, other = figure.subplots(1, 2)
    other.set_xlabel("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen")
    label = other.get_xlabel()
    assert (
        REPORTS[9].plot("scores", ax=left, title="Mine, $5") is left
    )  # a notebook shows the figure of the axes already
    assert left.get_title("left") == r"Mine, \$5"
    assert other.get_xlabel() == label
    assert left.get_legend() is not None
    assert not figure.legends


def test_sizes_and_titles_can_be_given():
    figure = REPORTS[9].plot("scores", figsize=(9.0, 3.5), title="Mine")
    assert figure.get_size_inches().tolist() == [9.0, 3.5]
    assert figure.axes[0].get_title("left") == "Mine"
    first = Evaluation.from_arrays(right(4))
    two = compare([first, replace(first, metric=replace(first.metric, name="second"))])
    assert len(two.plot("scores", metric="MEAN").axes) == 1
    both = two.plot("scores", title="Both")
    assert both.get_suptitle() == "Both"
    assert [axes.get_title("left").split()[0] for axes in both.axes] == ["mean", "second"]
    with pytest.raises(InputError, match="figsize: is for a new figure, and ax has one"):
        REPORTS[9].plot("scores", ax=figure.axes[0], figsize=(1, 1))
    for wrong in (7, (7, 0), (7, float("nan")), (7, 4, 2)):
        with pytest.raises(InputError, match="figsize: expected width and height in inches"):
            REPORTS[9].plot("scores", figsize=wrong)


def test_notebooks_show_letters_that_can_be_read():
    figure = REPORTS[9].plot("scores")
    width, height = struct.unpack(">II", figure._repr_png_()[16:24])
    assert width == round(figure.get_size_inches()[0] * figure.dpi) >= 640  # notebooks with pyplot take figure.dpi
    assert min(text.get_fontsize() for text in texts(figure)) * figure.dpi / 72 >= 16


HUB = [f"meta-llama-organisation/Llama-3.{i}-70B-Instruct-finetuned-GPTQ-{i:02}" for i in range(80)]


@pytest.mark.parametrize("kind", ["scores", "forest", "heatmap", "groups"])
@pytest.mark.parametrize("count", [2, 40, 80])
@pytest.mark.slow
def test_names_leave_half_of_the_width_and_matplotlib_does_not_complain(kind, count):
    if kind == "groups" and count > 60:
        pytest.skip("the diagram is of at most 60 systems")
    figure = make_report(HUB[:count]).plot(kind)
    figure.savefig(io.BytesIO(), format="png")  # warnings are errors here
    assert figure.get_size_inches()[0] <= TWO_COLUMNS
    inside = sum(axes.get_position().width for axes in figure.axes)
    assert inside >= 0.48  # letters are estimated
    for axes in figure.axes:
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("names", [pytest.param(NAMES, marks=pytest.mark.slow), HUB[:9]])
@pytest.mark.parametrize("kind", ["scores", "forest", "null"])
def test_three_metrics_are_a_row_of_panels_whose_names_stand_once(kind, names):
    scores = dict(zip(names, right(9).values(), strict=True))
    first = Evaluation.from_arrays(scores)
    others = [replace(first, metric=replace(first.metric, name=name)) for name in ("second", "third")]
    figure = compare([first, *others]).plot(kind)
    assert figure.get_size_inches()[0] <= TWO_COLUMNS
    assert len(figure.axes) == 3
    assert len({round(axes.get_position().y0, 6) for axes in figure.axes}) == 1
    lefts = [axes.get_position().x0 for axes in figure.axes]
    assert lefts == sorted(lefts)
    drawn = texts(figure)
    assert min(text.get_fontsize() for text in drawn) >= 6
    boxes = list(drawn.items())
    for number, (one, box) in enumerate(boxes):
        assert figure.bbox.padded(2.0).contains(*box.min), one
        assert figure.bbox.padded(2.0).contains(*box.max), one
        assert not any(box.padded(-2.0).overlaps(other.padded(-2.0)) for _, other in boxes[:number]), one
    if kind != "null":
        labels = [[label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes]
        assert [any(each) for each in labels] == [True, False, False]
        assert sum(axes.get_position().width for axes in figure.axes) >= 0.43


def test_rows_of_several_metrics_have_the_order_of_the_first():
    """The best by one metric is at 0, below others where the first metric says so."""
    scores = right(4)
    first = Evaluation.from_arrays(scores)
    turned = Evaluation.from_arrays(dict(zip(scores, reversed(scores.values()), strict=True)))
    report = compare([first, replace(turned, metric=replace(turned.metric, name="second"))])
    left, other = report.plot("scores").axes
    by_metric = [
        {one.name: one.score for one in report.systems if one.metric == metric} for metric in ("mean", "second")
    ]
    order = sorted(by_metric[0], key=by_metric[0].get, reverse=True)
    for axes, scores_of in zip((left, other), by_metric, strict=True):
        assert [x for x, *_ in points(axes)] == [scores_of[name] for name in order]
    left, other = report.plot("forest").axes
    assert [row for x, row, _ in points(left) if x == 0.0] == [0]
    best = max(by_metric[1], key=by_metric[1].get)
    assert best != order[0]
    assert [row for x, row, _ in points(other) if x == 0.0] == [order.index(best)]
    np.testing.assert_allclose(
        [x for x, *_ in points(other)], [by_metric[1][name] - by_metric[1][best] for name in order]
    )


def test_numbers_in_cells_are_large_enough_or_left_out():
    for names in (NAMES, HUB[:12]):
        drawn = [text for text in texts(make_report(names).plot("heatmap")) if text.get_position()[0] >= 1]
        assert min(text.get_fontsize() for text in drawn) >= 6


def test_a_figure_too_small_for_its_layout_is_drawn_without_a_word_of_matplotlib():
    figure = make_report(HUB[:9]).plot("scores", figsize=(1.0, 0.6))
    figure.savefig(io.BytesIO(), format="png")


def test_characters_that_no_font_has_are_named():
    with pytest.warns(
        UserWarning, match=r"figure: the font cannot draw 数 \(U\+6570\), 学 \(U\+5B66\); name a font"
    ) as said:
        figure = make_report(["数学", "b", "c"]).plot("scores")
    assert len(said) == 1
    figure.savefig(io.BytesIO(), format="png")


def test_a_distribution_is_shaded_where_it_is_as_extreme():
    report = compare(right(2), read={"metric": "accuracy"}, test=["permutation", "bootstrap"])
    for kind, test in (("null", "permutation"), ("bootstrap", "bootstrap")):
        axes = report.plot(kind).axes[0]
        every, extreme = axes.patches
        law = report.distribution(*(one.name for one in report.systems), test=test)
        assert every.get_data().values.tolist() == list(law.shares)
        assert extreme.get_data().values.tolist() == list(law.extreme)
        assert extreme.get_facecolor() == to_rgba(VERMILION)
        assert axes.lines[0].get_xdata()[0] == law.observed
    turned = report.plot("null", pair=(law.b, law.a)).axes[0]
    assert turned.lines[0].get_xdata()[0] == -law.observed
    one_sided = compare(right(2), read={"metric": "accuracy"}, alternative="greater").plot()
    assert "as far on the other side" not in [text.get_text() for text in one_sided.findobj(Text)]


def test_the_kind_suits_the_report():
    kinds = [default_figure(report) for report in (REPORTS[2], make_report(2), REPORTS[9], REPORTS[30])]
    assert kinds == ["null", "forest", "scores", "heatmap"]
    assert default_figure(make_report(25, settings=Settings(baseline="system-3"))) == "forest"


@pytest.mark.slow
def test_of_very_many_systems_the_best_are_drawn():
    panels = make_report(320, settings=Settings(baseline="system-3")).plot("scores").axes
    assert [len(points(axes)) for axes in panels] == [150, 150]
    assert "The figure shows the first 300 of 320 systems" in panels[0].get_title("left").replace("\n", " ")


@pytest.mark.slow
def test_files_say_what_they_are_and_nothing_global_is_touched(tmp_path):
    assert make_report(3).plot()._repr_png_().startswith(b"\x89PNG")
    for ending in ("pdf", "svg"):
        files = [tmp_path / f"{name}.{ending}" for name in "ab"]
        for file in files:
            make_report(3).plot().savefig(file)
        first, second = (file.read_bytes() for file in files)
        assert first == second
    assert SIGNATURE in first.decode()
    assert "matplotlib.pyplot" not in sys.modules


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "hetmap"}, "no kind of figure 'hetmap'; did you mean 'heatmap'?"),
        ({"kind": "pie"}, "no kind of figure 'pie'; expected one of scores, estimation, forest, heatmap, groups, null"),
        ({"metric": "bleu"}, "no metric 'bleu'; expected one of accuracy"),
        ({"test": "bootstrap"}, "no bootstrap test of accuracy; it has permutation"),
        ({"kind": "null", "pair": ("team-1-of-2026", "team")}, "no system 'team'"),
        (
            {"kind": "forest", "pair": ("team-1-of-2026", "team-2-of-2026")},
            "pair is for estimation, null and bootstrap",
        ),
    ],
)
def test_what_is_not_there_is_refused(options, message):
    with pytest.raises(InputError) as error:
        REPORTS[9].plot(**options)
    assert message in str(error.value)


def test_kinds_that_need_all_pairs_say_so():
    report = make_report(5, settings=Settings(baseline="system-3"))
    for kind in ("heatmap", "groups"):
        with pytest.raises(InputError, match=f"figure {kind}: needs .*use forest or scores"):
            report.plot(kind)


def run(capsys, *arguments):
    code = _run(list(map(str, arguments)), debug=False)
    return code, capsys.readouterr().err


def test_a_pair_without_a_figure_is_refused(capsys):
    code, err = run(capsys, "demo", "--pair", "crf", "rules")
    assert (code, err) == (
        2,
        "sigjax: error: --pair: names the pair of a figure; add --figure null.pdf, or use --only A B\n",
    )


@pytest.mark.slow
def test_commands_draw_the_kind_that_a_name_says(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figures = ["forest.pdf", "a.groups.svg", "b.scores.png", "null.svg"]
    given = [part for name in figures for part in ("--figure", name)]
    pair = ["--pair", "crf", "rules"]
    assert run(capsys, "demo", *given, *pair, "-o", "out.json", "-q") == (0, "")
    again = ["forest.pdf", "a.groups.svg"]
    shown = [part for name in again for part in ("--figure", f"again/{name}")]
    (tmp_path / "again").mkdir()
    assert run(capsys, "show", "out.json", *shown, *pair, "-o", "out.txt", "-q") == (0, "")
    for name in again:
        assert (tmp_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    for name, message in (
        ("a.hetmap.pdf", "a.hetmap.pdf: the name says no kind of figure; write the kind before the ending, such as "),
        ("est.png", "est.png: the name says no kind of figure; write the kind before the ending, such as "),
        ("forest_all.pdf", "such as forest.pdf; kinds: scores, estimation, forest, "),
        ("figure1.svg", "such as figure1.scores.svg; kinds: "),
        ("a.gif", "a.gif: no format of figures; expected a name that ends in .png, .pdf, .svg"),
        ("nowhere/forest.pdf", "nowhere"),
    ):
        code, err = run(capsys, "show", "out.json", "--figure", name, "-o", "new.txt")
        assert code == 2
        assert message in err
        assert not (tmp_path / "new.txt").exists()
    code, err = run(capsys, "show", "out.json", "--figure", "null.pdf", "-q")
    assert (code, "no data to compute a permutation distribution from; compare the files" in err) == (2, True)
    code, err = run(capsys, "demo", "--figure", "null.pdf", "--pair", "crf", "-o", "new.txt")
    assert (code, "--pair: expected the names of two systems, got 1" in err) == (2, True)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, err = run(capsys, "demo", "--figure", "forest.pdf", "-o", "new.txt")
    assert code == 2
    assert "-m pip install matplotlib" in err
    assert not (tmp_path / "new.txt").exists()


def test_cells_have_names_and_no_ticks():
    axes = Figure().subplots()
    _label_cells(axes, ["A", "B", "C"], 0)
    axes.figure.draw_without_rendering()
    for axis in (axes.xaxis, axes.yaxis):
        for tick in axis.get_major_ticks():
            assert tick.tick1line.get_markersize() == tick.tick2line.get_markersize() == 0
            assert tick.get_pad() == 2
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A  1", "B  2", "C  3"]
