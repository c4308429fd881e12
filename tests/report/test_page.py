"""The web page in a browser: it sorts, searches and draws what the report holds, and loads nothing."""

import json
import re
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from browser import CHROMIUM, Browser
from reports import make_report
from test_renderings import Page

from sigjax import Evaluation, compare
from sigjax.records import Settings
from sigjax.records.display import visible
from sigjax.report.html import to_html
from sigjax.report.sections import mark
from sigjax.report.words import format_adjusted_p

RNG = np.random.default_rng(15)
RIGHT = {f"model {i}": RNG.random(40) < 0.9 - i / 12 for i in range(6)}
COUNTS = {"A": [[3, 4, 5], [1, 2, 2]] * 9, "B": [[2, 4, 5], [1, 3, 2]] * 9, "C": [[0, 4, 5], [1, 1, 2]] * 9}
ATTACK = "</script><img src=http://example.org/x onerror=hit=1><script>hit=1</script>"
NAMES = (ATTACK, "<!--<script>", "&lt;b&gt;", '" onmouseover="hit=1', "a\u2028b\u202e", "${hit=1}", "</noscript><b>")


def compared(data, **options):
    return compare(data, device="numpy", progress=False, resamples=200, **options)


def strange(name):
    def metric(sums):
        return sums[..., 0]

    metric.__name__ = name
    return metric


MADE = {
    "2": lambda: make_report(2, p_of=lambda i, j: 0.01),
    "25": lambda: make_report(25, p_of=lambda i, j: 10.0 ** (2 * (i - j))),
    "143": lambda: make_report(143, p_of=lambda i, j: 10.0 ** ((i - j) / 4), step=0.004),
    "strange names": lambda: make_report(NAMES, notes=NAMES),
    "strange metrics": lambda: compared(
        [Evaluation.from_arrays(RIGHT, metric=strange(name)) for name in ("<!--</script>", ATTACK)]
    ),
    "long names": lambda: make_report([f"{'x' * 90}-{i}" for i in range(12)]),
    "metrics and tests": lambda: compared(
        Evaluation.from_arrays(COUNTS, metric="fscore"), test=["permutation", "bootstrap"], leaderboard=True
    ),
    "baseline": lambda: compared(RIGHT, read={"metric": "accuracy"}, baseline="model 2"),
    "one-sided": lambda: compared(RIGHT, read={"metric": "accuracy"}, alternative="less", method="montecarlo"),
    "one unit": lambda: compared({"A": [1], "B": [0], "C": [1]}),
}
REPORTS = {name: cache(make) for name, make in MADE.items()}


def test_the_page_holds_the_columns_that_its_script_reads():
    """Also without a browser: names, numbers and marks of each pair, by the names in page.js."""
    report = REPORTS["baseline"]()
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', to_html(report), re.DOTALL)
    (family,) = [each for each in _dictionaries(json.loads(found)) if "delta" in each]
    script = (files("sigjax.report") / "page.js").read_text(encoding="utf-8")
    names = json.loads(re.search(r"const names = (\[.*\]);", script)[1])
    columns = [family[name].split(" ") for name in names]
    for one, (a, b, delta, low, high, p, *_) in zip(report, zip(*columns, strict=True), strict=True):
        assert (family["systems"][int(a)], family["systems"][int(b)]) == (one.a, one.b)
        shown = [float(each) for each in (delta, low, high)]
        assert shown == pytest.approx([one.delta, one.interval.low, one.interval.high], abs=1e-3)
        assert float(p.strip("<>")) == pytest.approx(one.p_value, rel=0.01)


def _dictionaries(value):
    """All dictionaries in a JSON value."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dictionaries(each)


needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def shown(browser, tmp_path):
    """Open the page of a report; at the end it has made no error and no request."""

    def show(report, *size, **media):
        path = tmp_path / "page.html"
        path.write_text(report if isinstance(report, str) else to_html(report), encoding="utf-8")
        browser.open(path, *size, **media)
        return browser

    yield show
    assert browser.complaints() == []


def texts(browser, selector):
    """The text of all elements that are shown."""
    script = f"""[...document.querySelectorAll({json.dumps(selector)})]
      .filter((node) => node.checkVisibility()).map((node) => node.textContent)"""
    return browser.evaluate(script)


@needs_chromium
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.slow
def test_pages_fit_the_window_and_load_nothing(name, shown, tmp_path):
    report, colors = REPORTS[name](), set()
    for width, scheme in ((500, "dark"), (1280, "light")):
        page = shown(report, width, prefers_color_scheme=scheme)
        assert page.evaluate("[document.documentElement.scrollWidth, typeof hit]") == [width, "undefined"]
        assert set(texts(page, "table.systems tbody th")) == {visible(system.name) for system in report.systems}
        colors.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.screenshot(tmp_path / f"{width}.png")
        assert (tmp_path / f"{width}.png").stat().st_size > 20_000
        assert page.complaints() == []
    assert len(colors) == 2


@needs_chromium
def test_a_pair_is_chosen_by_mouse_keys_and_names(shown):
    report = make_report(5)
    page, cell = shown(report), "table.heat tbody tr:nth-child({}) td:nth-child({})"

    def card():
        keys, values = texts(page, ".card dt"), texts(page, ".card dd")
        return texts(page, ".card h4")[0], dict(zip(keys, values, strict=True))

    page.click(cell.format(2, 5))  # the first cell of a row is its header
    one, (title, facts) = report["system-2", "system-4"], card()
    assert title == "system-2 \u2212 system-4"
    assert (facts["Delta"], facts["95% interval, each pair alone"]) == ("+0.0200", "[+0.0040, +0.0363]")
    assert facts["Adjusted p"] == format_adjusted_p(one)
    assert texts(page, ".verdict") == ["No significant difference"]
    page.press("ArrowDown")
    assert card()[0] == "system-3 \u2212 system-4"
    page.press("ArrowDown")
    assert card()[0] == "system-3 \u2212 system-4"  # there is no pair on the diagonal
    page.press("ArrowLeft")
    assert card()[0] == "system-4 \u2212 system-3"
    page.click(cell.format(4, 3))
    title, facts = card()
    assert (title, facts["Delta"], facts["95% interval, each pair alone"]) == (
        "system-4 \u2212 system-2", "-0.0200", "[-0.0363, -0.0040]"
    )  # fmt: skip
    page.evaluate(
        "for (const [i, value] of [0, 4].entries()) { const list = document.querySelectorAll('.card select')[i];"
        " list.value = value; list.dispatchEvent(new Event('change')); }"
    )
    assert card()[0] == "system-1 \u2212 system-5"
    assert texts(page, ".verdict") == ["system-1 is significantly better"]
    page.click("table.forest tbody tr:nth-child(2) button")
    assert card()[0] == "system-3 \u2212 system-1"
    assert texts(page, "table.forest tbody td:nth-child(3)") == []  # the table of systems has the deltas to the best
    page.evaluate(
        "const list = document.querySelector('.deltas select'); list.value = 1;"
        " list.dispatchEvent(new Event('change'));"
    )
    assert texts(page, "table.forest tbody td:nth-child(3)") == ["+0.0100", "-0.0100", "-0.0200", "-0.0300"]


@needs_chromium
@pytest.mark.parametrize("name", ["25", "143", "one-sided"])
@pytest.mark.slow
def test_cells_of_the_heat_map_have_the_shade_of_their_pair(name, shown):
    report = REPORTS[name]()
    page = shown(report, 500, 300)
    cells = page.evaluate(
        "[...document.querySelector('.heat tbody').rows]"
        ".map((row) => [...row.cells].slice(1).map((cell) => cell.classList[0] ?? ''))"
    )
    rank = {system.name: i for i, system in enumerate(report.systems)}
    expected = [[""] * len(rank) for _ in rank]
    for one in report:
        shade = mark(one)
        ends = [(rank[one.a], rank[one.b])]
        ends += [ends[0][::-1]] if report.settings.alternative == "two-sided" else []
        for i, j in ends:
            expected[i][j] = "n" if isinstance(shade, str) else f"p{shade}"
    cells[0][1] = cells[0][1].removeprefix("chosen")
    assert cells == expected
    scrolled = """(() => { const box = document.querySelector(".map .scroll"); box.scrollTo(9999, 9999);
      const [head, name] = ["thead .name", "tbody tr:last-child th"].map((each) => box.querySelector(each));
      const [outer, top, left] = [box, head, name].map((each) => each.getBoundingClientRect());
      return [box.scrollTop > 100, top.top - outer.top < 2, left.left - outer.left < 2]; })()"""
    if name == "143":  # names stay in sight
        assert page.evaluate(scrolled) == [True, True, True]
    page.click("input[value=delta]")
    assert page.evaluate("document.querySelectorAll('.heat .better5').length") > 0


def test_the_page_is_whole_and_names_are_data():
    source = to_html(REPORTS["strange names"]())
    assert source.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert "<title>accuracy: 7 systems on 1,000 instances</title>" in source
    assert re.findall(r'(?:src|href)="([^"]*)', source) == ["data:,"]
    assert [Page(source).tags.count(tag) for tag in ("script", "img")] == [2, 0]
    data = json.loads(re.search(r'id="data">(.*?)</script>', source)[1])
    assert data[0]["systems"][0] == ATTACK
    assert data[0]["systems"][4] == r"a\u2028b\u202e"


def test_a_page_of_143_systems_is_small():
    assert len(to_html(REPORTS["143"]())) < 1_000_000  # 10,153 pairs


def test_a_page_of_more_systems_says_what_it_leaves_out(monkeypatch):
    monkeypatch.setattr("sigjax.report.html.MAX_DRAWN", 20)
    source = to_html(REPORTS["25"]())
    assert "The page shows the first 20 of 25 systems; to_json() gives every pair." in source
    assert len(json.loads(re.search(r'id="data">(.*?)</script>', source)[1])[0]["a"].split()) == 190


def test_only_the_settings_and_names_of_a_report_change_what_the_policy_allows():
    policy = re.compile("Content-Security-Policy[^>]*")
    first, second = (policy.search(to_html(make_report(n, settings=Settings(confidence_level=0.9))))[0] for n in (2, 3))
    assert first == second
    assert "'unsafe-inline'" not in first
