"""The site of the documentation: its contents, what it makes of the code, and what it refuses."""

import importlib.util
import inspect
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

import sigjax
from sigjax.cli import COMMANDS
from sigjax.guide import TOPICS
from sigjax.studies import STUDIES

pytest.importorskip("sphinx", reason="the extra docs is not installed")
DOCS = Path(__file__).parents[1] / ".docs"


@pytest.fixture(scope="module")
def conf():
    """Its configuration, as Sphinx reads it."""
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.copy_pages()
    return module


def test_the_contents_name_every_page_once(conf):
    contents = "\n".join([*conf.manual(), *conf.reference(), *conf.group_pages().values()])
    listed = re.findall(r"^/?([a-z][\w/.-]*)$", contents, re.MULTILINE | re.IGNORECASE)
    files = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
    pages = {file.relative_to(DOCS).with_suffix("").as_posix() for file in files}
    assert sorted(listed) == sorted(pages - {"index"})
    assert {f"guide/{topic}" for topic in TOPICS} < pages


def test_a_section_has_few_entries_and_groups_hold_the_rest(conf):
    assert list(conf.CONTENTS) == ["Start", "How-to", "Understand", "Reference"]
    for groups in conf.CONTENTS.values():
        assert len(groups.get("", ())) + len([name for name in groups if name]) <= 6


def test_pages_have_the_words_of_users_and_pictures_of_concepts(conf):
    page = conf.guide_page("corrections")
    assert '\n    keywords: "holm, bonferroni, multiple comparisons,' in page.partition("\n---\n")[0]
    assert "!holm" in page.partition("\n# ")[2].splitlines()[2]
    assert page.count("](../pictures/") == 2
    names = [each.name for some in conf.PICTURES.values() for each in some]
    assert sorted(names) == ["clusters", "exchangeable", "holm", "joint", "null", "ranks", "swapped"]
    assert all(len(each.alt) > 40 and each.caption for some in conf.PICTURES.values() for each in some)
    assert "](<https://doi.org/10.3115/992730.992783>)" in conf.guide_page("bibliography")


@pytest.mark.parametrize("name", ["swapped", "null", "clusters", "joint", "holm", "ranks", "exchangeable"])
def test_pictures_are_drawn_from_results(conf, name):
    (draw,) = [each.draw for some in conf.PICTURES.values() for each in some if each.name == name]
    assert all(axes.has_data() or axes.texts for axes in draw().axes)


def test_pages_are_also_markdown_without_directives(conf):
    for path in ("index", "chart", "gallery", "guide/size", "api/compare", "changes", "notebooks/01_who_beats_whom"):
        text = conf.plain(path)
        assert text.startswith("# ")
        assert "```{" not in text
    assert "Best: transformer (0.9121)." in conf.plain("index")
    assert "sigjax.compare(" in conf.plain("api/compare")


@pytest.mark.parametrize(
    ("name", "p_value"),
    [("darwin", 2 * 863 / 2**15), ("sleep", 4 / 2**10), ("semmelweis", 2 / 2**6)],
)
def test_examples_on_published_data_agree_with_what_was_counted(conf, name, p_value):
    text = conf.plain(name)
    assert "```{" not in text
    names = {}
    for code in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(code, names)  # noqa: S102
    assert names["report"][0].p_value == pytest.approx(p_value, rel=1e-12)


def test_what_searches_would_find_for_every_word_is_left_out_of_them(conf):
    for page in ("api/benchmarks.md", "changes.md"):
        assert (DOCS / page).read_text(encoding="utf-8").startswith("---\nnosearch: true\n---\n")


def test_every_public_name_and_command_has_a_place(conf):
    public = {name for found in conf.public().values() for name in found}
    names = {name for name in sigjax.__all__ if not inspect.ismodule(getattr(sigjax, name))}
    assert {f"sigjax.{name}" for name in names} < public
    assert {f"sigjax.studies.{name}" for name in dir(sigjax.studies) if name not in names} < public
    assert {"sigjax.records.results.SystemScore", "sigjax.studies.significant_gains.Gains"} < public
    commands = set(re.findall(r"^## `sigjax ([^`]+)`", "\n".join(conf.command_line()), re.MULTILINE))
    research = {f"research {name}" for name, study in STUDIES.items() if study.research}
    assert commands == {*COMMANDS, "--install-completion"} | research


def test_the_reference_has_each_page_once_and_each_public_name_in_a_line_below_its_task(conf):
    assert list(conf.TASKS) == ["Read", "Compare", "Plan", "Watch", "Report", "Research"]
    pages = [page for some in conf.TASKS.values() for page in some]
    assert sorted(pages) == sorted(conf.public())
    lines = list(conf.reference())
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == list(conf.TASKS)
    listed = [line.split("`")[1].removeprefix("studies.") for line in lines if line.startswith("- [`")]
    names = {name for name in sigjax.__all__ if not inspect.ismodule(getattr(sigjax, name))}
    assert names <= set(listed)
    assert len(listed) == len(set(listed))
    text = "\n".join(lines)
    below = {task: text.partition(f"## {task}\n")[2].partition("\n## ")[0] for task in conf.TASKS}
    for task, name in (("Read", "read"), ("Compare", "compare"), ("Plan", "power"), ("Watch", "monitor")):
        assert f"- [`{name}`]" in below[task]
    assert "`verify`" in below["Report"]
    assert "`studies.gains`" in below["Research"]


def test_every_public_name_leads_to_others_that_exist(conf):
    public = {name.rpartition(".")[2] for found in conf.public().values() for name in found if name.count(".") < 3}
    called = {name for name in public if inspect.isfunction(getattr(sigjax.studies, name, getattr(sigjax, name, None)))}
    assert len(called) > 20
    assert called <= set(conf.SEE_ALSO)
    assert set(conf.SEE_ALSO) <= public
    for name, also in conf.SEE_ALSO.items():
        names, _, topics = also.partition(" | ")
        assert topics.split(), name
        assert set(topics.split()) <= set(TOPICS), name
        assert {each.partition(".")[0] for each in names.split()} <= public - {name}, name


def test_what_tuples_and_errors_of_python_have_is_left_out(conf):
    from sigjax.records import Interval

    of_python = [(Interval, name) for name in ("count", "index", "low", "__new__")]
    of_python += [(sigjax.InputError, "add_note"), (sigjax.InputError, "with_traceback")]
    for owner, name in of_python:
        assert conf.leave_out(None, "class", name, getattr(owner, name), False, None), name
    for owner, name in ((sigjax.Report, "to_json"), (sigjax.InputError, "flags"), (sigjax.Evaluation, "save")):
        assert conf.leave_out(None, "class", name, getattr(owner, name), False, None) is None


@pytest.mark.parametrize("function", [sigjax.compare, sigjax.studies.gains, sigjax.Evaluation.from_dataframe])
def test_the_reference_has_each_option_in_a_line_with_type_and_default(conf, function):
    lines = list(conf.options_listed(getattr(function, "__func__", function)))
    options = inspect.signature(function).parameters.values()
    names = [each.name for each in options if each.kind is each.KEYWORD_ONLY]
    listed = [line for line in lines if line.startswith("* **")]
    assert [line.split("**")[1].replace("\\", "") for line in listed] == names
    assert all(re.fullmatch(r"\* \*\*\S+\*\*: ``[^`]+( = [^`]+)``: \S.*", line) for line in listed)
    if function is sigjax.compare:
        assert "* **seed**: ``int = 12345``: The same seed gives the same report on every device." in listed
        assert any("``'auto' | 'exact' | 'montecarlo' | 'dp' | 'tree' = 'auto'``" in line for line in listed)
    described = ["Build it.", "", "Args:", *(f"    {name}: it." for name in names)]
    conf.without_options(function, described)
    assert not any("options:" in line for line in described)
    assert conf.short_signature(function, "", "")[0].endswith(", **options)")
    assert conf.short_signature(sigjax.true_discoveries, "", "") is None


def prose(*pieces):
    """A paragraph of texts and nodes."""
    return nodes.paragraph("", "", *(nodes.Text(each) if isinstance(each, str) else each for each in pieces))


def linked(conf, name, *parts):
    """What a page of these parts links to the glossary: words, and the places that they lead to."""
    page = nodes.section("", *parts)
    app = SimpleNamespace(builder=SimpleNamespace(get_relative_uri=lambda _, target: f"{target}.html"))
    before = page.astext()
    conf.link_terms(app, page, name)
    assert page.astext() == before
    return [(each.astext(), each["refuri"].partition("#")[2]) for each in page.findall(nodes.reference)], page


def test_the_first_use_of_a_term_in_prose_leads_to_the_glossary(conf):
    found, page = linked(
        conf,
        "guide/exact",
        nodes.title("", "An instance of a cluster"),
        nodes.literal_block("", "delta"),
        prose(
            "By ", nodes.literal("", "cluster"), " or not, Instances count. An instance has one adjusted p, and p too."
        ),
        prose("Run it. The share of all swaps; so swap ", nodes.strong("", "strata"), ", clusters and strata."),
    )
    places = [("Instances", "instance"), ("adjusted p", "adjusted-p"), ("p", "p"), ("swaps", "swap")]
    places += [("clusters", "cluster"), ("strata", "stratum")]
    assert found == [(word, f"term-{place}") for word, place in places]
    first = next(page.findall(nodes.reference))
    assert first["reftitle"].startswith("instance: what a metric is computed on: a sentence")
    assert first["classes"] == ["term"]


@pytest.mark.parametrize(
    "text",
    [
        "the probability that any of k runs passes",
        "tests of ranks, and a rank-sum test",
        "Create new instance of it",
        "Holm bounds p; both run; in the units of the metric; the luck of the draw",
    ],
)
def test_words_of_another_meaning_lead_nowhere(conf, text):
    found, _ = linked(conf, "guide/exact", prose(text))
    assert {place for _, place in found} <= {"term-p", "term-metric"}


def test_every_term_has_a_place_in_the_glossary_and_each_form_is_of_a_term(conf):
    items = [nodes.list_item("", prose(nodes.strong("", term), about)) for term, about in conf.TERMS.items()]
    found, page = linked(conf, "guide/glossary", nodes.bullet_list("", *items))
    assert not found
    assert page.astext().count("\n") > 30
    assert [item["ids"] for item in page.findall(nodes.list_item)] == [[conf.term_id(term)] for term in conf.TERMS]
    assert set(conf.FORMS) <= set(conf.TERMS)


def test_a_notebook_of_the_site_leads_to_its_file(conf):
    files = sorted((DOCS.parent / "notebooks").glob("*.ipynb"))
    assert len(files) >= 13
    for file in files:
        page, own = (json.loads(text)["cells"] for text in (conf.notebook_page(file), file.read_text("utf-8")))
        title, _, link, *rest = page[0]["source"].split("\n")
        assert link == f"{{download}}`Download this notebook <../../notebooks/{file.name}>`"
        assert [title, *rest] == "".join(own[0]["source"]).split("\n")
        assert page[1:] == own[1:]


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://example.org/a.js"></script>',
        "<link rel='stylesheet' href='//example.org/a.css'>",
        '<img alt="x" src="http://example.org/a.png">',
        "@font-face { src: url(https://example.org/a.woff2) }",
        '@import "https://example.org/a.css";',
    ],
)
def test_what_loads_from_a_network_is_seen(conf, text):
    assert conf.LOADS.findall(text)
    assert not conf.LOADS.findall(text.replace("https:", "").replace("http:", "").replace("//", "/"))


def test_a_site_that_lacks_or_loads_something_fails(conf, tmp_path):
    documented = {name: None for found in conf.public().values() for name in found if name != "sigjax.compare"}
    domains = SimpleNamespace(python_domain=SimpleNamespace(objects=documented))
    env = SimpleNamespace(domains=domains, found_docs={f"guide/{topic}" for topic in TOPICS if topic != "gpu"})
    (tmp_path / "index.html").write_text('<script src="https://example.org/a.js"></script>', encoding="utf-8")
    app = SimpleNamespace(env=env, outdir=tmp_path, builder=SimpleNamespace(name="html"))
    with pytest.raises(Exception, match="sigjax.compare has no documentation\nthere is no page gpu\nindex.html loads"):
        conf.check(app, None)


def test_links_of_readers_load_nothing(conf):
    assert not conf.LOADS.findall('<a class="reference external" href="https://example.org"><img src="a.png"></a>')


def test_signs_of_docstrings_are_no_markup(conf):
    lines = ["max |delta*| of `a*b`s and x_", "", ">>> 2 * 3 | 1", "7", "", "a * b:", "", "    a * b", "", "a * b"]
    conf.mark_up(lines)
    assert lines[0] == r"max \|delta\*\| of `a*b`\ s and x\_"
    assert lines[1:5] == ["", ">>> 2 * 3 | 1", "7", ""]
    assert lines[5:] == [r"a \* b::", "", "    a * b", "", r"a \* b"]


def test_formulas_of_docstrings_are_math(conf):
    lines = ["    p: of $|x_i| \\ge", "        2$ and $p$s."]
    conf.mark_up(lines)
    assert lines == [r"    p: of :math:`|x_i| \ge 2` and :math:`p`\ s."]
