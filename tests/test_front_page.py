"""README.md, the examples and the pages of `sigjax help`: what people see first runs as written."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import sigjax
from sigjax.cli import COMMANDS, _run
from sigjax.cli.options import OUTPUTS
from sigjax.formats import FORMATS
from sigjax.guide import TOPICS, markdown, page, title, words_of
from sigjax.metrics import CLASS_METRICS, METRICS
from sigjax.report.text import to_text

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
SOURCES = {topic: (ROOT / "sigjax" / "guide" / f"{topic}.md").read_text(encoding="utf-8") for topic in TOPICS}


def run(*words, debug=False):
    return _run(list(map(str, words)), debug=debug)


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_short_and_fits_the_terminal(topic, capsys):
    assert run("help", topic, debug=True) == 0
    lines = capsys.readouterr().out.splitlines()
    written = [line for line in SOURCES[topic].splitlines() if not line.startswith(("|", "{"))]
    assert 15 < len(lines)
    grows = topic in ("bibliography", "metrics", "questions") or "\n{" in SOURCES[topic]  # with what there is
    assert len(lines) <= 100 or (grows and len(written) <= 100)
    assert max(map(len, lines)) <= 80
    assert "\n".join(lines) == page(topic)
    assert lines[0] == title(topic)
    assert len(lines[0]) <= 59, "its line in the list of topics is longer than 80 columns"


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_markdown_that_shows_the_same_everywhere(topic):
    text = markdown(topic)
    assert SOURCES[topic].startswith("# ")
    assert set(re.findall(r"\]\(([^)]*)\.md\)", text)) <= set(TOPICS)
    assert "sigjax help " not in text.replace("sigjax help TOPIC", ""), "a link to a page is [words](topic.md)"
    for kind, code in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        assert kind in ("bash", "latex", "pycon", "python", "text", "toml", "yaml")
        assert max(map(len, code.splitlines())) <= 76
        assert (">>>" in code) == (kind == "pycon") == code.endswith("\n\n"), "a doctest ends with an empty line"
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    assert not re.findall(r"(?<!\\)<\w+>|^    \S", prose, re.MULTILINE), "HTML, or code that is not fenced"


def test_help_in_colour_has_bold_headings_and_no_other_difference():
    colored = page("gpu", color=True)
    assert "\x1b[1mInstall for a GPU\x1b[0m" in colored
    plain = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in plain.splitlines()] == page("gpu").splitlines()


def test_help_lists_topics_shows_commands_and_suggests(capsys):
    run("help", debug=True)
    shown = capsys.readouterr().out
    assert re.findall(r"^  ([a-z-]+)  ", shown, re.MULTILINE) == list(TOPICS)
    assert re.findall(r"^[A-Z][a-z-]+$", shown, re.MULTILINE) == ["Tutorial", "How-to", "Explanation", "Reference"]
    assert max(map(len, shown.splitlines())) <= 80
    assert {path.stem for path in (ROOT / "sigjax" / "guide").glob("*.md")} == set(TOPICS)
    assert not set(TOPICS) & set(COMMANDS)
    run("help", "extract", debug=True)
    assert "Usage: sigjax extract" in capsys.readouterr().out
    assert run("help", "intervls") == 2
    asked = "`sigjax help questions` answers twenty questions, and `sigjax help` lists the pages"
    said = f"sigjax: error: no page speaks of 'intervls'; did you mean 'intervals'? {asked}\n"
    assert capsys.readouterr().err == said
    assert run("help", "bootsrap") == 2
    assert "no page speaks of 'bootsrap'; did you mean 'bootstrap' or" in capsys.readouterr().err
    assert run("help", "zzz") == 2
    assert capsys.readouterr().err == f"sigjax: error: no page speaks of 'zzz'; {asked}\n"
    assert run("help", "zzz", "size") == 0
    assert "\n\n  size  " in capsys.readouterr().out


SEARCHES = {
    **{"segment": "segment", "interval": "interval", "test set": "test set", "flip-rate": "flip-rate"},
    **{"pass^k": "pass^k", "clusters": "cluster", "The tasks, fixed?": "task fixed", "rank 2-4": "rank 2-4"},
    **{"large test set": "large test set", "systems of equal scores": "system equal score"},
}
"""Words to look for, and how they begin in whatever form, without the words that every sentence has."""


@pytest.mark.parametrize("asked", SEARCHES)
def test_help_finds_words_in_all_pages_those_that_answer_and_titles_first(asked, capsys):
    """The pages that have the words, anywhere and in any order, by a plain search of their texts."""
    assert run("help", *asked.split(), debug=True) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.endswith("sigjax help questions has short answers to twenty questions\n")
    found = re.findall(r"^  ([a-z-]+)  +\S", shown, re.MULTILINE)
    words = SEARCHES[asked].split()
    texts = {topic: f"{topic} {SOURCES[topic]} {markdown(topic)}".lower().replace("–", "-") for topic in TOPICS}
    assert found
    assert set(found) <= {topic for topic, text in texts.items() if all(word in text for word in words)}
    for topic in found:
        ((text,),) = [re.findall(rf"^  {topic}  +(.*?)(?=\n\n)", shown, re.MULTILINE | re.DOTALL)]
        if len(words) == 1:
            assert words[0] in text.lower() or text.endswith("[...]") or words[0] in " ".join(words_of(topic))
    questions = {topic: re.findall(r"^\*\*(.*?)\*\*", SOURCES[topic], re.M | re.S) for topic in TOPICS}
    heads = {topic: [", ".join(words_of(topic)), *map(str.lower, questions[topic])] for topic in TOPICS}
    answers = [max(sum(word in head.replace("–", "-") for word in words) for head in heads[topic]) for topic in found]
    named = [sum(word in f"{topic} {title(topic)}".lower() for word in words) for topic in found]
    assert list(zip(answers, named, strict=True)) == sorted(zip(answers, named, strict=True), reverse=True)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("large test set", "A small p does not mean a large effect size."),
        ("multiple tasks", "the suite score, which is the mean of the tasks"),
        ("interval contains zero", "Decide by p. With several pairs, Holm"),
        ("gpt judge", "people also label some outputs of each system"),
        ("without pilot", "sigjax power --disagree 0.1 --detect 0.01"),
        ("rank 2-4", "The true rank can be 2, 3 or 4"),
        ("rank 2–4", "The true rank can be 2, 3 or 4"),
        ("two seeds different p?", "Report the p of the first --seed that you ran"),
        ("two seeds", "Report the p of the first --seed that you ran"),
        ("p is 0.06", "p is 0.06. May I add instances? No."),
        ("3 seeds per model", "Give --runs seed --design models."),
        ("8 samples per question temperature 0.7", "Then give --runs sample."),
        ("enough seeds", "I have 3 seeds per model. How many are enough?"),
        ("how many seeds", "I have 3 seeds per model. How many are enough?"),
        ("p = 0.08 more data", "p is 0.06. May I add instances? No."),
        ("p = 3e-40", "Can p = 2e-91 be true?"),
        ("rank 3-5", "The true rank can be 2, 3 or 4"),
        ("rank range", "The true rank can be 2, 3 or 4"),
        ("interval includes 0", "Decide by p. With several pairs, Holm"),
        ("model crashed", "count them as 0 (--missing zero)."),
        ("crashed", "fill in the worst score yourself"),
        ("why not t test", "A t test assumes that the mean is nearly normally"),
        ("F1 sentences documents", "-m fscore --cluster document --statistic studentized"),
        ("significant but small", "A small p does not mean a large effect size."),
        ("five tasks", "p is then adjusted over all tasks together."),
        ("zebra baseline adjust", "there is nothing to adjust. If you compare several systems with it"),
    ],
)
def test_a_question_in_the_words_of_users_is_answered_where_it_is_searched(asked, answer, capsys):
    assert run("help", *asked.split(), debug=True) == 0
    first = capsys.readouterr().out.split("\n\n")[1]
    assert first.startswith("  questions ")
    assert answer in " ".join(first.split())


@pytest.mark.parametrize("asked", ["star", "asterisk", "the stars"])
def test_a_star_is_a_mark_and_no_start(asked, capsys):
    assert run("help", *asked.split(), debug=True) == 0
    first = capsys.readouterr().out.split("\n\n")[1]
    assert first.startswith("  fields ")
    assert "A star (*): below 0.05" in " ".join(first.split())


@pytest.mark.parametrize("asked", ["but", "0", "because", "not enough"])
def test_words_that_say_little_are_no_error(asked, capsys):
    assert run("help", *asked.split(), debug=True) == 0
    assert capsys.readouterr().out.startswith("pages that speak of ")


@pytest.mark.parametrize(("command", "pages"), [("rank", {"corrections", "leaderboard"}), ("power", {"size"})])
def test_help_of_a_command_shows_its_options_and_the_pages_about_it(command, pages, capsys):
    assert run("help", command, debug=True) == 0
    shown = capsys.readouterr().out
    assert f"Usage: sigjax {command}" in shown
    below = shown.partition("\nIn the manual (sigjax help TOPIC):\n")[2]
    assert pages <= set(re.findall(r"^  ([a-z-]+)  ", below, re.MULTILINE)) <= set(TOPICS)
    assert max(map(len, shown.splitlines())) <= 80
    assert run(command, "--help", debug=True) == 0
    assert "In the manual" not in capsys.readouterr().out


@pytest.mark.parametrize(("topic", "begins"), [("margin", "A large p does not"), ("designs", "A unit is an ")])
def test_a_page_begins_with_what_its_words_name(topic, begins):
    assert page(topic).split("\n\n")[1].startswith(begins)


def test_words_that_name_a_page_show_it(capsys):
    run("help", "data", "sets", debug=True)
    assert capsys.readouterr().out.rstrip("\n") == page("data-sets")


USERS_WORDS = {
    **{"is it noise?": "p-values", "unit": "designs", "F1": "choosing", "t test": "choosing"},
    **{"overlap": "intervals", "error bars": "intervals", "add instances": "size", "sample size": "size"},
    **{
        "effect size": "margin",
        "stop evaluating": "best",
        "broken questions": "instances",
        "equal": "margin",
        "baseline": "corrections",
        "ranks": "corrections",
    },
    **{"seeds": "runs", "temperature": "runs", "failed": "conventions", "several tasks": "logs"},
    **{
        "published score": "one-system",
        "LLM judge": "judges",
        "tiny p": "p-values",
        "tiny p value?": "p-values",
        "reviewer": "reporting",
    },
    **{"holm": "corrections", "multiple comparisons": "corrections", "cluster": "designs", "seed": "runs"},
    **{
        "p": "p-values",
        "comet": "translation",
        "significance": "p-values",
        "mcnemar": "choosing",
    },
}
"""The words of the twenty questions, and others that people type, and the page that answers."""


@pytest.mark.parametrize("words", USERS_WORDS)
def test_words_of_users_show_the_page_that_answers_in_one_step(words, capsys):
    assert run("help", *words.split(), debug=True) == 0
    assert capsys.readouterr().out.rstrip("\n") == page(USERS_WORDS[words])


def test_a_word_names_one_page_alone():
    named = [word for topic in TOPICS for word in words_of(topic)]
    assert sorted(set(named)) == sorted(named)
    assert [word for word in named if word != word.lower() or word in TOPICS or word in COMMANDS] == []


def test_pages_name_every_format_metric_command_and_output():
    assert {name for name in FORMATS if f"`{name}`" not in markdown("formats")} == set()
    assert {name for name in (*METRICS, *CLASS_METRICS) if f"`{name}`" not in markdown("metrics")} == set()
    assert {name for name in COMMANDS if not re.search(rf"^\| `{name}[ `]", markdown("commands"), re.M)} == set()
    assert {f"`{each.endings[0]}`" for each in OUTPUTS.values()} <= set(re.findall("`[^`]*`", markdown("output")))


def test_the_bibliography_has_whom_pages_cite():
    entries = re.findall(r"^- (.*) \((\d{4})\)", markdown("bibliography"), re.MULTILINE)
    listed = {(name, year) for names, year in entries for name in re.findall(r"[A-Z][\w-]+", names)}
    listed |= {("HIPE", "2020"), ("CoNLL", "2018"), ("SIGMORPHON", "2022")}  # names of data
    for topic in TOPICS:
        cited = re.findall(r"([A-Z][\w-]+)(?:\s+et\s+al\.)?\s+\(?((?:19|20)\d\d)\b(?!-)", SOURCES[topic])
        assert set(cited) <= listed, topic


def test_examples_are_written_and_nothing_is_written_over(tmp_path, capsys):
    folder = tmp_path / "new" / "examples"
    assert run("demo", "--write", folder, debug=True) == 0
    assert files(folder) == files(ROOT / "sigjax" / "data" / "examples")
    assert str(folder / "README.md") in capsys.readouterr().out
    (folder / "README.md").unlink()
    (folder / "board.tsv").write_text("mine")
    before = files(folder)
    assert run("demo", "--write", folder) == 2
    assert re.search(r"board\.toml: exists, and is not written over", capsys.readouterr().err)
    assert files(folder) == before
    (tmp_path / "file").write_text("")
    assert run("demo", "--write", tmp_path / "file") == 2
    assert "cannot be written (File exists)" in capsys.readouterr().err
    assert run("demo", "--write", tmp_path / "more", "--seed", "3") == 2
    capsys.readouterr()
    assert run("demo", "--write", tmp_path / "quiet", "-q") == 0
    assert capsys.readouterr() == ("", "")
    assert files(tmp_path / "quiet") == files(ROOT / "sigjax" / "data" / "examples")
    assert not (tmp_path / "more").exists()


def test_readme_is_short_and_its_links_lead_somewhere():
    assert len(README.splitlines()) < 180
    links = [link or image for link, image in re.findall(r"\]\(([^)]+)\)|<img src=\"([^\"]+)", README)]
    assert len(links) > 2
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []
    assert set(re.findall(r"sigjax help ([a-z-]+)", README)) <= set(TOPICS)


def test_on_an_index_links_and_pictures_of_readme_lead_to_files_of_the_repository():
    """There nothing is relative; the file itself keeps links that work in a checkout."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shown = README
    for each in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        shown = re.sub(each["pattern"], each["replacement"], shown)
    repository = project["project"]["urls"]["Repository"]
    pages, pictures = (
        f"{repository}/blob/main/",
        f"{repository.replace('github.com', 'raw.githubusercontent.com')}/main/",
    )
    links, images = re.findall(r"\]\(([^)]+)\)", shown), re.findall(r'src="([^"]+)', shown)
    assert len(links) + len(images) == len(re.findall(r"\]\(|<img", README))
    for found, base in ((links, pages), (images, pictures)):
        assert len(found) > 1
        assert [link for link in found if not (ROOT / link.removeprefix(base).partition("#")[0]).is_file()] == []
        assert all(link.startswith(base) for link in found)


def test_the_source_distribution_has_all_that_tests_read():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    if listed.returncode or not listed.stdout:
        pytest.skip("no checkout of git")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = {name.strip("/") for name in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    always = {"pyproject.toml", ".gitignore"}
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} - always == included


def test_the_recipe_of_conda_has_the_requirements_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    recipe = (ROOT / ".github" / "conda-forge" / "recipe.yaml").read_text(encoding="utf-8")
    run = re.findall(r"^    - (.*)$", recipe.partition("\n  run:\n")[2].partition("\n\n")[0], re.M)
    assert run[1:] == [re.sub(r"(?=>=)", " ", each) for each in project["project"]["dependencies"]]
    assert f'python_min: "{project["project"]["requires-python"].removeprefix(">=")}"' in recipe
    assert f'version: "{sigjax.__version__}"' in recipe
    (command,) = project["project"]["scripts"].items()
    assert f"- {' = '.join(command)}\n" in recipe
    host = recipe.partition("\n  host:\n")[2].partition("\n  run:\n")[0]
    assert all(f"- {name}\n" in f"{host}\n" for name in project["build-system"]["requires"])


def test_figures_name_scripts_that_exist():
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert all((ROOT / name).exists() for name in re.findall(r"benchmarks/[a-z0-9_/]+\.py", text))


def test_readme_shows_the_output_of_the_demo():
    with_notes = to_text(sigjax.compare(sigjax.read(ROOT / "sigjax" / "data" / "demo.tsv", metric="fscore")), width=80)
    (shown,) = [text for kind, text in BLOCKS if kind == "text"]
    parts = shown.split("\n\n")
    assert all(part.strip("\n") in with_notes for part in parts)


def test_the_demo_is_one_answer_and_one_table_and_verbose_has_the_rest(capsys):
    assert run("demo") == 0
    brief = capsys.readouterr().out
    assert len(brief.splitlines()) <= 20
    assert [brief.count(word) for word in ("note:", "metric:", "letters", "method:", "\x1b")] == [0] * 5
    assert run("demo", "--verbose") == 0
    verbose = capsys.readouterr().out
    assert verbose.startswith(brief[: brief.index("rank")])
    assert all(word in verbose for word in ("note:", "|test:permutation|", "letters", "method: exact", "of all pairs"))


@pytest.mark.parametrize("readme", [ROOT / "README.md", ROOT / "sigjax" / "data" / "examples" / "README.md"])
def test_recipes_of_the_examples_are_those_of_the_readme(readme):
    for line in re.findall(r"sigjax compare (?:mt|llm|board)\S* .*", readme.read_text(encoding="utf-8")):
        assert line.partition(" -o ")[0] in README


def commands():
    """What README.md has its readers type after the install line."""
    return [text for kind, text in BLOCKS if kind == "bash" and "pip install" not in text]


def in_shell(script, folder, *, python=sys.executable, **environment):
    """Run a script where `sigjax` is that of a Python."""
    (folder / "bin").mkdir()
    command = folder / "bin" / "sigjax"
    command.write_text(f'#!/bin/sh\nexec "{python}" -m sigjax "$@"\n')
    command.chmod(0o755)
    environment = os.environ | {"PATH": f"{command.parent}:{os.environ['PATH']}"} | environment
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_every_command_of_the_readme_runs_as_written(tmp_path):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = in_shell("\n".join(commands()), tmp_path, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    assert "Written: " in done.stderr
    assert len(commands()) >= 4
    assert "chrF2: Better than base: big" in done.stdout
    made = {path.name for path in (tmp_path / "examples").iterdir()}
    assert {"mt.tex", "mt.methods.tex", "board.html", "board.json", "board.systems.csv", "board.heatmap.png"} <= made
    table = re.search(r"^\| system \| BLEU .*?^Best in bold[^\n]*$", README, re.DOTALL | re.MULTILINE)
    assert table[0] in (tmp_path / "examples" / "mt.md").read_text(encoding="utf-8")
    assert "board.json: the same data, and the same numbers to the last bit" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("topic", [topic for topic in TOPICS if "```bash" in SOURCES[topic]])
def test_every_command_of_a_page_runs_on_the_examples(topic, tmp_path):
    """What a page shows is in the output."""
    if topic in ("arena", "distributed", "gpu", "integrations", "judges", "other-instances", "trials"):
        pytest.skip("of files that are not among the examples; distributed: run/test_shards.py; integrations/")
    blocks = re.findall(r"^```(bash|text)\n(.*?)^```$", SOURCES[topic], re.DOTALL | re.MULTILINE)
    script = "\n".join(text for kind, text in blocks if kind == "bash")
    folder = tmp_path / "examples"
    shutil.copytree(ROOT / "sigjax" / "data" / "examples", folder)
    for name, mt in (("ref", "ref"), ("a", "base"), ("b", "big")):
        shutil.copy(folder / "mt" / f"{mt}.txt", folder / f"{name}.txt")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = in_shell(script, folder, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    shown = " ".join(re.sub("─+", "", done.stdout).split())
    for kind, text in blocks:
        assert kind == "bash" or " ".join(text.split()) in shown, text


@pytest.mark.slow
def test_the_wheel_alone_runs_the_demo_and_writes_the_examples(tmp_path):
    """Installed beside its dependencies, outside of the checkout: nothing of the package is left out of the wheel."""
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    source = tmp_path / "source"
    shutil.copytree(ROOT / "sigjax", source / "sigjax", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    subprocess.run([*pip, "wheel", source, "--no-deps", "-w", tmp_path], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    assert {"sigjax/py.typed", "sigjax/__init__.pyi"} <= set(zipfile.ZipFile(wheel).namelist())
    subprocess.run([*pip, "install", wheel, "--no-deps", "--target", site], check=True, capture_output=True)
    script = 'python -c "import sigjax; print(sigjax.__file__)"; sigjax demo; sigjax demo --write e; sigjax help gpu'
    done = in_shell(script.replace("python", f'"{sys.executable}"', 1), tmp_path, PYTHONPATH=str(site))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(str(site))
    assert "Best: transformer (0.9121)." in done.stdout
    assert files(tmp_path / "e") == files(ROOT / "sigjax" / "data" / "examples")
    installed = set(files(site / "sigjax"))
    assert {path for path in files(ROOT / "sigjax") if "__pycache__" not in path.parts} <= installed
    (metadata,) = site.glob("sigjax-*.dist-info/METADATA")
    assert re.findall(r"\]\((?!https:)|src=\"(?!https:)", metadata.read_text(encoding="utf-8")) == []


def test_a_step_of_the_checks_that_does_not_exist_is_refused_before_any_runs():
    done = subprocess.run([ROOT / ".ci" / "run", "checks", "lint"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r".ci/run: no step lint; expected some of: demo test slow checks .*\n", done.stderr)


def test_what_a_public_checkout_needs_says_the_same_as_the_package():
    """The workflows check its oldest and newest Python; the citation is the entry of the methods paragraph."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [text.rpartition(" ")[2] for text in project["classifiers"] if "Python :: 3." in text]
    folder = ROOT / ".github"
    checks = (folder / "workflows" / "checks.yml").read_text(encoding="utf-8")
    assert f'python: ["{versions[0]}", "{versions[-1]}"]' in checks
    assert "run: .ci/run" in checks
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    citation = (folder / "CITATION.cff").read_text(encoding="utf-8")
    assert f"license: {project['license']}" in citation
    entry = (ROOT / "sigjax" / "data" / "references.bib").read_text(encoding="utf-8").split("\n\n")[0]
    for name, field in {"title": "title", "author": "  - name"}.items():
        (value,) = re.findall(rf"\b{name} = {{+(.*?)}}+,", entry)
        assert re.search(rf'^{field}: "?{re.escape(value)}"?$', citation, re.MULTILINE), name
    for name in re.findall(r"\]\((\.github/[^)]*)\)", README):
        assert (ROOT / name).exists(), name
