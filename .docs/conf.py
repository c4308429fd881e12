"""The site of the documentation: the manual, notebooks, a gallery of figures, and references made from the code.

`sphinx-build -W -b html .docs build/docs` makes it, and fails where a public name has no documentation, a link leads
nowhere, or a page loads anything from a network. Sphinx reads one folder: the pages of `sigjax help`, the notebooks and
the pages of public names are put into folders of this one, which git ignores. A line in braces of a page of this folder
stands for what `GENERATED` makes of the code.

Notebooks are run, and their outputs kept in `build/notebooks` until cells change; `-D nb_execution_mode=off` takes the
outputs that they have.
"""

import ast
import inspect
import itertools
import json
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from cyclopts.docs.markdown import generate_markdown_docs
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.errors import ExtensionError
from sphinx.util.nodes import make_refnode
from sphinx.writers.html5 import HTML5Translator

import sigjax
from sigjax.cli import EXAMPLES, app
from sigjax.formats import Format
from sigjax.guide import TOPICS, markdown, words_of
from sigjax.records.options import options_of, takes_options
from sigjax.report.text import to_text
from sigjax.studies import STUDIES

sys.path.insert(0, str(Path(__file__).parent))
from pictures import PICTURES  # beside this file

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "sigjax"
author = "The sigjax authors"
project_copyright = author
release = version = sigjax.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
nitpicky = True
# Other packages; bases and options of public classes.
nitpick_ignore_regex = [("py:.*", r"(?!sigjax).*|.*(Record|Options)")]
default_role = "literal"
smartquotes = False  # two dashes begin an option

myst_heading_anchors = 3
myst_enable_extensions = []
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "separated"
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"sigjax {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False


def toctree(pages: Sequence[str], caption: str | None = None) -> str:
    """The directive that puts pages into the contents, under a caption; without one they are not listed where it is."""
    shown = f":caption: {caption}" if caption else ":hidden:"
    return "\n".join(["```{toctree}", ":maxdepth: 1", shown, "", *pages, "```"])


CONTENTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "Start": {
        "": ("guide/first", "guide/paper", "guide/questions", "guide/coming-from"),
        "Examples": ("darwin", "sleep", "semmelweis", "gallery"),
        "Notebooks": ("notebooks/README",),
    },
    "How-to": {
        "": ("chart",),
        "Your files": (
            "choosing",
            "tables",
            "reading",
            "predictions",
            "translation",
            "logs",
            "own-format",
            "own-metric",
        ),
        "Runs, agents, judges": ("runs", "trials", "judges", "arena", "data-sets"),
        "Plan, stop, compute": ("size", "stopping", "best", "long-runs", "gpu", "distributed"),
        "Other questions": ("margin", "discoveries", "one-system", "other-instances", "deciding", "instances"),
        "Publish, continuous integration": ("reporting", "leaderboard", "boards", "regressions", "integrations"),
    },
    "Understand": {
        "": ("guide/p-values", "guide/exact", "guide/intervals", "guide/corrections", "guide/designs"),
        "What was measured": ("calibrated", "studentized", "studies", "api/benchmarks"),
    },
    "Reference": {
        "Command line": ("commands", "command-line"),
        "Python": ("python", "api"),
        "Files and metrics": ("formats", "metrics", "output", "fields"),
        "Conventions": ("conventions", "numbers", "reproducibility"),
        "Terms and sources": ("glossary", "bibliography"),
        "The project": ("development", "changes"),
    },
}
"""Sections of the site, at most six entries each: pages (of ""), and groups of pages, which fold."""


def manual() -> Iterator[str]:
    """The contents: the sections, whose groups of pages have a page each."""
    for section, groups in CONTENTS.items():
        entries = [*groups.get("", ()), *map(group_path, filter(None, groups))]
        assert len(entries) <= 6, section
        yield toctree(entries, section)


def group_path(name: str) -> str:
    """The page of a group of pages.

    >>> group_path("Runs, agents, judges")
    'groups/runs-agents-judges'
    """
    return f"groups/{'-'.join(re.findall('[a-z]+', name.lower()))}"


def group_pages() -> dict[str, str]:
    """The page of each group: the titles of its pages, and their entries in the contents."""
    pages = {}
    for name, members in ((name, own) for groups in CONTENTS.values() for name, own in groups.items() if name):
        paths = [f"guide/{each}" if each in TOPICS else each for each in members]
        if name == "Notebooks":
            paths += sorted(f"notebooks/{file.stem}" for file in (ROOT / "notebooks").glob("*.ipynb"))
        shown = toctree([f"/{path}" for path in paths]).replace(":hidden:\n", "")
        pages[f"{group_path(name)}.md"] = f"# {name}\n\n{shown}\n"
    return pages


def demo() -> Iterator[str]:
    """What `sigjax demo` prints in 80 columns."""
    report = sigjax.compare(sigjax.read(ROOT / "sigjax" / "data" / "demo.tsv", metric="fscore"), progress=False)
    yield from ("```text", to_text(report, width=80).rstrip("\n"), "```")


def command_line() -> Iterator[str]:
    """Every command with all of its options, and examples of it."""
    text = generate_markdown_docs(app(("--install-completion",)), generate_toc=False)
    pieces = re.split(r"(```[^`]*```|`[^`]*`|^#[^\n]*)", text, flags=re.M)
    pieces[::2] = [re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"`\g<0>`", piece) for piece in pieces[::2]]
    text = "".join(pieces)
    _, *commands = re.split(r"^(?=###? sigjax )", text, flags=re.M)
    completion, *others = commands
    for command in (*others, completion):
        title, _, rest = command.partition("\n")
        name = title.partition("sigjax ")[2]
        usage, options, lists = rest.partition("\n**")
        examples = [line for pair in EXAMPLES.get(name, {}).items() for line in (f"# {pair[0]}", pair[1])]
        yield "\n".join(["", f"## `sigjax {name}`", usage, *(["```bash", *examples, "```", ""] if examples else ())])
        yield options + lists


@cache
def public() -> dict[str, dict[str, object]]:
    """What is public, and the records that results hold, by full names; a page of the reference for each module."""
    names = [name for name in sigjax.__all__ if not inspect.ismodule(getattr(sigjax, name))]
    found: dict[str, object] = {f"sigjax.{name}": getattr(sigjax, name) for name in names}
    more = [name for name in dir(sigjax.studies) if name not in names]
    found |= {f"sigjax.studies.{name}": getattr(sigjax.studies, name) for name in more}
    found["sigjax.formats.Format"] = Format
    results = {study.load(study.result) for study in STUDIES.values()}
    results |= {thing for thing in found.values() if isinstance(thing, type)}
    results |= set(parts(typing.get_type_hints(sigjax.doctor)["return"]))
    found |= {path(record): record for record in sorted(held(results) - set(found.values()), key=path)}
    pages: dict[str, dict[str, object]] = {}
    for name, thing in found.items():
        pages.setdefault(thing.__module__.rpartition(".")[2], {})[name] = thing
    return {
        page: dict(sorted(found.items(), key=lambda item: isinstance(item[1], type))) for page, found in pages.items()
    }


TASKS: Mapping[str, Sequence[str]] = {
    "Read": ("reading", "doctor", "evaluation", "metric", "declarations", "evidence", "options", "sigjax"),
    "Compare": (
        "compare",
        "discoveries",
        "tost",
        "single_samples",
        "independent_samples",
        "classical",
        "tests",
        "association",
        "results",
        "settings",
    ),
    "Plan": ("power_analysis", "error_rates", "item_analysis"),
    "Watch": ("sequential",),
    "Report": ("report", "changes"),
    "Research": ("ranking", "bradley_terry", "subsets", "significant_gains", "agents", "replays", "boards"),
}
"""The pages of the reference, by what people want to do."""


def reference() -> Iterator[str]:
    """The contents of the reference by task: what people call, a line each, and the records that they get."""
    for task, pages in TASKS.items():
        found = [(page, name, thing) for page in pages for name, thing in public()[page].items()]
        yield from (f"## {task}", "")
        for page, name, thing in sorted(found, key=lambda each: isinstance(each[2], type)):
            if name.count(".") == 1 or inspect.isfunction(thing) or thing is Format:
                about = (inspect.getdoc(thing) or "").partition("\n")[0]
                yield f"- [`{name.removeprefix('sigjax.')}`](api/{page}.md): {about}"
        records = [
            f"[`{name.rpartition('.')[2]}`](api/{page}.md)"
            for page, name, thing in found
            if name.count(".") > 1 and isinstance(thing, type) and thing is not Format
        ]
        yield from (["", f"Records of results: {', '.join(records)}.", ""] if records else [""])
    yield toctree([f"api/{page}" for pages in TASKS.values() for page in pages])


def reference_page(found: Mapping[str, object]) -> str:
    """A page of the reference, called after its public names, or else all names on it."""
    public = [name for name, thing in found.items() if name.count(".") == 1 or inspect.isfunction(thing)]
    names = [name.rpartition(".")[2] for name in public or found]
    lines = [f"# {', '.join(names)}", "", "```{eval-rst}"]
    for name, thing in found.items():
        kind = ["autoclass", "   :members:", "   :inherited-members:"] if isinstance(thing, type) else ["autofunction"]
        lines += [f".. {kind[0]}:: {name}", *kind[1:], ""]
    return "\n".join([*lines, "```", ""])


SEE_ALSO: Mapping[str, str] = {
    "read": "doctor Evaluation | reading tables formats",
    "doctor": "read | reading formats",
    "Evaluation": "read compare Metric | python own-metric",
    "Metric": "SampleMetric Evaluation | own-metric metrics",
    "SampleMetric": "Metric | own-metric",
    "compare": "permutation_test bootstrap_test Report equivalence power | first p-values corrections intervals",
    "permutation_test": "compare bootstrap_test equivalence_test | p-values exact",
    "bootstrap_test": "compare permutation_test | intervals p-values",
    "true_discoveries": "compare Report.true_discoveries | discoveries corrections",
    "board": "compare items power Report | boards discoveries",
    "equivalence": "equivalence_test compare diff | margin",
    "equivalence_test": "equivalence permutation_test | margin",
    "one_sample": "compare unpaired | one-system best",
    "unpaired": "compare one_sample | other-instances",
    "classical_tests": "compare permutation_test | choosing data-sets",
    "association_test": "compare | studies",
    "power": "planned_power compare equivalence | size",
    "planned_power": "power | size",
    "audit": "compare power | calibrated studentized",
    "items": "power flips compare | instances",
    "monitor": "Monitor stopping power | stopping",
    "Monitor": "monitor stopping | stopping",
    "Report": "compare Comparison diff | output fields reporting",
    "Comparison": "compare Report | fields",
    "diff": "verify Report equivalence | regressions integrations",
    "verify": "diff Report | reproducibility",
    "rank": "compare battles | leaderboard",
    "battles": "rank compare | arena",
    "rl": "compare | trials runs",
    "flips": "slices items compare | deciding",
    "slices": "flips compare | deciding",
    "gains": "power compare | studies size",
    "stopping": "monitor Monitor | stopping",
    "InputError": "read doctor | python",
    "Format": "read doctor | own-format formats",
}
"""Public name -> what people also look for: public names, and pages of the manual after the bar."""


@cache
def types_written() -> dict[str, dict[str, str]]:
    """The options of each function, with types and defaults as the stubs have them: function -> option -> text."""
    found: dict[str, dict[str, str]] = {}
    for file in ("__init__.pyi", "studies/__init__.pyi", "readers/evaluation.pyi"):
        for node in ast.walk(ast.parse((ROOT / "sigjax" / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                options = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                found[node.name] = {
                    each.arg: ast.unparse(cast("ast.expr", each.annotation))
                    + (f" = {ast.unparse(value)}" if value else "")
                    for each, value in options
                }
    return found


def options_listed(function: types.FunctionType) -> Iterator[str]:
    """The options of a function by group, one a line, with their types and defaults; details are folded."""
    record = list(typing.get_type_hints(inspect.unwrap(function)).items())[-2][1]
    written = types_written()[function.__name__]
    for group, some in itertools.groupby(options_of(record).items(), lambda item: item[1].metadata["option"].group):
        yield from (f".. rubric:: {group}", "")
        for name, each in some:
            about = each.metadata["option"]
            doc = prose(about.shown(lambda hint: f"`{hint.option}`"))
            kind = re.sub(r"Literal\[(.*?)\]", lambda found: found[1].replace("', '", "' | '"), written[name])
            yield from (f"* **{prose(name)}**: ``{kind}``: {doc}", "")
            if about.more:
                opened, closed = (("  .. raw:: html", "", f"     {tag}", "") for tag in DETAILS)
                yield from (*opened, f"  {prose(about.more)}", "", *closed)


DETAILS = ('<details class="more"><summary>More</summary>', "</details>")


def with_options(name: str, thing: object, lines: list[str]) -> None:
    """After napoleon: the options of a function, and what people also look for, below its docstring."""
    if takes_options(thing):
        lines += ["", *options_listed(cast("types.FunctionType", getattr(thing, "__func__", thing)))]
    if also := SEE_ALSO.get(name.rpartition(".")[2] if name.count(".") < 3 else ""):
        names, _, topics = also.partition(" | ")
        shown = [*(f"`{each}`" for each in names.split()), *(f"`sigjax help {each}`" for each in topics.split())]
        lines += ["", ".. seealso::", "", f"   {', '.join(shown)}", ""]


def without_options(thing: object, lines: list[str]) -> None:
    """Before napoleon: the docstring of a function as it is written, without the line for its options."""
    if takes_options(thing):
        text = inspect.cleandoc(inspect.unwrap(cast("types.FunctionType", thing)).__doc__ or "")
        lines[:] = re.sub(
            r"^Args:\n(?=\n)", "", re.sub(r"^ *options: .*\n", "", text, flags=re.M), flags=re.M
        ).splitlines()


def short_signature(thing: object, signature: str, returned: str) -> tuple[str, str] | None:
    """The signature without the options, which stand below it."""
    if not takes_options(thing):
        return None
    kept = [
        each.name if each.kind is each.POSITIONAL_OR_KEYWORD else f"*{each.name}"
        for each in inspect.signature(cast("types.FunctionType", thing)).parameters.values()
        if each.kind is not each.KEYWORD_ONLY and each.name != "cls"
    ]
    return f"({', '.join([*kept, '**options'])})", returned


def path(record: type) -> str:
    """The full name of a class."""
    return f"{record.__module__}.{record.__qualname__}"


def held(records: set[type]) -> set[type]:
    """These records of sigjax, and all that their fields hold."""
    seen: set[type] = set()
    while records:
        seen |= records
        records = {
            each
            for record in records
            for field in typing.get_type_hints(record).values()
            for each in parts(field)
            if each.__module__.startswith("sigjax.") and not each.__name__.endswith(("Record", "Options"))
        } - seen
    return seen


def parts(annotation: object) -> Iterator[type]:
    """The classes that an annotation names."""
    if isinstance(annotation, type):
        yield annotation
    for each in typing.get_args(annotation):
        yield from parts(each)


GENERATED = {"manual": manual, "command line": command_line, "reference": reference, "demo": demo}
"""What makes the text that a line in braces stands for."""
_GENERATED = re.compile(r"^\{([a-z ]+)\}$", re.M)


UNSEARCHED = "---\nnosearch: true\n---\n\n"
"""The head of a page that a search would find for most words."""


def guide_page(topic: str) -> str:
    """A page of the manual; searches put it first for the words by which people look for it.

    The index has these as they are, and the head of the page has each alone.
    """
    title, _, text = re.sub(r"\n\n```\n", "\n```\n", markdown(topic) + "\n").partition("\n")
    text = re.sub(r"\bdoi:(10\.\S*[\w)])", r"[doi:\1](<https://doi.org/\1>)", text)
    for each in PICTURES.get(topic, ()):
        shown = f"![{each.alt}](../pictures/{each.name}.svg)\n\n*{each.caption}*"
        above, found, below = text.lstrip("\n").partition(f"## {each.below}\n" if each.below else "\n\n")
        assert found, each.name
        text = f"{above}{found}\n{shown}\n\n{below}"
    words = words_of(topic)
    head = ["---", "myst:", "  html_meta:", f"    keywords: {json.dumps(', '.join(words))}", "---"] if words else []
    entries = [f"```{{index}} {', '.join(f'!{word}' for word in words)}", "```"] if words else []
    return "\n".join([*head, title, "", *entries, text])


def notebook_page(file: Path) -> str:
    """A notebook with a link, below its title, to the file as it is."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    title, *others = "".join(notebook["cells"][0]["source"]).partition("\n")
    assert title.startswith("# "), file.name
    link = f"{{download}}`Download this notebook <../../notebooks/{file.name}>`"
    notebook["cells"][0]["source"] = f"{title}\n\n{link}{''.join(others)}"
    return json.dumps(notebook)


def draw_pictures() -> None:
    """The pictures of concepts."""
    folder = HERE / "pictures"
    folder.mkdir(exist_ok=True)
    for each in (each for some in PICTURES.values() for each in some):
        each.draw().savefig(folder / f"{each.name}.svg")


def copy_pages() -> None:
    """Pages that are not of this folder, where Sphinx reads them; those that are as before stay untouched."""
    pages = {f"guide/{topic}.md": guide_page(topic) for topic in TOPICS}
    pages |= {f"api/{page}.md": reference_page(found) for page, found in public().items()}
    measured = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    pages["api/benchmarks.md"] = UNSEARCHED + measured.replace("](results/", "](../../benchmarks/results/")
    pages |= {f"notebooks/{file.name}": notebook_page(file) for file in (ROOT / "notebooks").glob("*.ipynb")}
    pages["notebooks/README.md"] = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    pages |= group_pages()
    for file in (file for folder in ("guide", "api", "notebooks", "groups") for file in (HERE / folder).glob("*.*")):
        if file.relative_to(HERE).as_posix() not in pages:
            file.unlink()
    for name, text in pages.items():
        file = HERE / name
        file.parent.mkdir(exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def outdated(*_: object) -> list[str]:
    """The pages that hold what is made of the code: they are read again, whatever Sphinx has kept."""
    return [file.stem for file in HERE.glob("*.md") if _GENERATED.search(file.read_text(encoding="utf-8"))]


def fill_page(_: Sphinx, name: str, source: list[str]) -> None:
    """Put what is made of the code into a page of this folder."""
    if "/" not in name:
        source[0] = _GENERATED.sub(lambda line: "\n".join(GENERATED[line[1]]()), source[0])


def mark_up(lines: list[str]) -> None:
    """Make reStructuredText of a docstring: plain text, code in backticks, $formulas$, examples, and indented code.

    Indented code stands after a colon and an empty line.
    """
    text: list[str] = []
    done: list[str] = []
    example, code = False, -1
    for index, line in enumerate([*lines, ""]):
        indent = len(line) - len(line.lstrip())
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        code = -1 if line.strip() and indent <= code else code
        if example or code >= 0 or not line.strip():
            done += [*prose("\n".join(text)).splitlines(), line]
            text = []
            continue
        below = lines[index + 1 : index + 3]
        if line.endswith(":") and below[:1] == [""] and below[1:] and below[1].startswith(" " * (indent + 4)):
            line, code = f"{line}:", indent
        text.append(line)
    lines[:] = done[:-1]


def prose(text: str) -> str:
    """Text without signs that would be markup, but for code and formulas, which letters may follow."""
    pieces = re.split(r"(`[^`]*`|\$[^$]+\$)", text)
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            pieces[index] = re.sub(r"([*|\\]|_\b)", r"\\\1", piece)
        else:
            end = "\\ " if pieces[index + 1][:1].isalnum() else ""
            pieces[index] = (piece if piece[0] == "`" else f":math:`{' '.join(piece[1:-1].split())}`") + end
    return "".join(pieces)


def write_formula(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula as MathML, which browsers show without a script."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def leave_out(_: Sphinx, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:  # noqa: FBT001
    """Leave out how results are made, what they have for their display, and what tuples and errors of Python have."""
    owner = getattr(thing, "__qualname__", "").partition(".")[0]
    of_python = getattr(thing, "__objclass__", None) in (tuple, BaseException) or name == "__new__"
    is_field = str(getattr(thing, "__doc__", "")).startswith("Alias for field number")
    is_made = name == "__init__" and owner not in MADE
    return True if of_python or is_field or is_made or owner == "ShortRepr" else None


MADE = ("Metric", "SampleMetric", "Format", "Evaluation")
"""Classes whose instances people make themselves."""


def link_names(app: Sphinx, page: nodes.document, name: str) -> None:
    """Code that names a page of help, a notebook or something public leads there."""
    objects = app.env.domains.python_domain.objects
    for node in list(page.findall(nodes.literal)):
        text = node.astext()
        topic = text.removeprefix("sigjax help ")
        short = text.removesuffix("()").removeprefix("sigjax.")
        names = [f"sigjax.{short}", f"sigjax.studies.{short}"]
        is_name = text.startswith("sigjax.") or text[:1].isupper() or name.startswith("api/")
        full = next((each for each in names if is_name and each in objects), "")
        if text.startswith("sigjax help ") and topic in TOPICS:
            target, anchor = f"guide/{topic}", ""
        elif text == "benchmarks/README.md":
            target, anchor = "api/benchmarks", ""
        elif f"notebooks/{text}" in app.env.found_docs:
            target, anchor = f"notebooks/{text}", ""
        elif full:
            target, anchor = objects[full].docname, objects[full].node_id
        else:
            continue
        if not isinstance(node.parent, nodes.reference | nodes.title):
            node.replace_self(make_refnode(app.builder, name, target, anchor, [node.deepcopy()]))


TERMS: Mapping[str, str] = dict(re.findall(r"^- \*\*(.+?)\*\*(.*(?:\n  .*)*)", markdown("glossary"), re.MULTILINE))
"""The terms of the glossary, and what it says of them."""
_OF = r"\b(?:an?|the|each|every|one|per|of|all|two|three|both|possible|different) "
FORMS = {
    "p": r"\b(p|p-values?)\b(?![-(])",
    "stratum": r"\b(stratum|strata)\b",
    "level": r"\b(confidence levels?)\b",
    "null": r"\b(null hypothes[ie]s|null distributions?)\b",
    "metric": r"\b(metrics?)\b",
    'group "best"': r"(group \"best\"|\bbest group\b)",
    "joint": r"\b(joint (?:intervals?|ranks?)|simultaneous)\b",
    "letters": r"\b(?:same|share) (letters?)\b",
    "interval": r"\b((?:confidence )?intervals?)\b",
    "significant": r"\b(significant(?:ly)?)\b",
    "instance": r"(?<!\bnew )\b(instances?)\b",
    "bounds": r"\b((?<=two )bounds|bounds(?= of p\b| are known))",
    **{word: rf"{_OF}({word}s?)\b" for word in ("pair", "score", "swap", "resample")},
    "unit": rf"{_OF}(units?)\b(?! of the metric)",
    "run": r"\b((?<=several )runs|runs?(?= of (?:an? |each |every |one |both |agents|instances|systems)))\b",
    "rank": rf"{_OF}(?<!tests of )(?<!instead of )(?<!adds the )(ranks?)\b(?![- ](?:sum|corr))",
    "draw": rf"{_OF}(?<!luck of the )(draws?)\b",
    **dict.fromkeys(("response", "leaderboard", "signature", "exceed", "exact"), r"(?!)"),
}
"""How pages write terms, if not as the glossary, perhaps with an s; never where the word may mean something else."""
UNLINKED = ("guide/glossary", "guide/bibliography", "changes")


def link_terms(app: Sphinx, page: nodes.document, name: str) -> None:
    """The first use of each term in the prose of a page leads to the glossary, which has a place for each term."""
    if name == "guide/glossary":
        for item in page.findall(nodes.list_item):
            item["ids"] += [term_id(term) for term in TERMS if next(item.findall(nodes.strong)).astext() == term]
    if name in UNLINKED:
        return
    longest_first = sorted(TERMS, key=len, reverse=True)
    sought = {term: re.compile(FORMS.get(term, rf"\b({re.escape(term)}s?)\b"), re.IGNORECASE) for term in longest_first}
    sought["p"] = re.compile(FORMS["p"])
    for text in list(page.findall(lambda node: isinstance(node, nodes.Text) and is_prose(node))):
        found: list[tuple[int, int, str]] = []
        for term, form in sought.items():
            spans = [match.span(1) for match in form.finditer(text)]
            free = [span for span in spans if not any(at < span[1] and span[0] < end for at, end, _ in found)]
            found += [(*span, term) for span in free[:1]]
        pieces: list[nodes.Node] = []
        at = 0
        for start, end, term in sorted(found):
            del sought[term]
            about = " ".join(f"{term}{TERMS[term]}".split())
            about = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", about)
            shown = nodes.Text(text[start:end])
            link = make_refnode(app.builder, name, "guide/glossary", term_id(term), [shown], about)
            link["classes"].append("term")
            pieces += [nodes.Text(text[at:start]), link]
            at = end
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text[at:])])


def term_id(term: str) -> str:
    """The place of a term in the glossary.

    >>> term_id('group "best"')
    'term-group-best'
    """
    return nodes.make_id(f"term {term}")


def is_prose(text: nodes.Text) -> bool:
    """Whether text stands in a sentence: not in code, a heading, a link, a formula or a button."""
    above: nodes.Element | None = text.parent
    if not isinstance(above, nodes.paragraph):
        return False
    while above is not None:
        if isinstance(above, nodes.thead | nodes.field_name | nodes.literal_block | nodes.topic):
            return False
        above = above.parent
    return True


LOADS = re.compile(
    r"<(?:script|img|iframe|link|source|video|audio|embed|object)\b[^>]*?\b(?:src|srcset|href|data)=[\"'](?:https?:)?//[^\"']*"
    r"|url\([\"']?(?:https?:)?//[^)]*|@import\s[\"'](?:https?:)?//[^\"']*"
)
"""What a browser fetches from a network to show a page."""


def check(app: Sphinx, error: Exception | None) -> None:
    """The finished site has every page and every public name, and loads nothing from a network."""
    if error or app.builder.name != "html":
        return
    documented = app.env.domains.python_domain.objects
    names = [name for found in public().values() for name in found]
    problems = [f"{name} has no documentation" for name in names if name not in documented]
    problems += [f"there is no page {topic}" for topic in TOPICS if f"guide/{topic}" not in app.env.found_docs]
    for file in sorted(Path(app.outdir).rglob("*.*")):
        if file.suffix in (".html", ".css", ".svg"):
            problems += [f"{file.name} loads {each}" for each in LOADS.findall(file.read_text(encoding="utf-8"))]
    if problems:
        raise ExtensionError("\n".join(problems))


def write_plain(app: Sphinx, error: Exception | None) -> None:
    """Every page as Markdown beside it, and `llms.txt`, which lists them."""
    if error or app.builder.name != "html":
        return
    lines = ["# sigjax", "", "> Significance tests for comparing systems on a test set: library and command line.", ""]
    for section, groups in {"": {"": ("index",)}, **CONTENTS}.items():
        lines += [f"## {section}", ""] if section else []
        for members in groups.values():
            paths = [f"guide/{each}" if each in TOPICS else each for each in members]
            paths += sorted(f"api/{page}" for page in public()) if "api" in paths else []
            paths += sorted(each for each in app.env.found_docs if re.match(r"notebooks/\d", each)) * (
                paths == ["notebooks/README"]
            )
            for path in paths:
                file = Path(app.outdir, f"{path}.md")
                file.write_text(plain(path), encoding="utf-8")
                lines.append(f"- [{app.env.titles[path].astext()}]({path}.md)")
        lines.append("")
    Path(app.outdir, "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def plain(path: str) -> str:
    """A page as Markdown without directives."""
    folder, _, name = path.rpartition("/")
    if folder == "guide":
        return f"{markdown(name)}\n"
    if path == "changes":
        return (ROOT / "sigjax" / "CHANGELOG.md").read_text(encoding="utf-8")
    if folder == "api" and name != "benchmarks":
        shown = []
        for full, thing in public()[name].items():
            try:
                signature = str(inspect.signature(thing))  # pyright: ignore[reportArgumentType]
            except (TypeError, ValueError):
                signature = ""
            shown.append(f"# {full}{signature}\n\n{inspect.getdoc(thing) or ''}\n")
        return "\n".join(shown)
    if (ROOT / f"{path}.ipynb").exists():
        cells = json.loads((ROOT / f"{path}.ipynb").read_text(encoding="utf-8"))["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
        return "\n\n".join(f"```python\n{text}\n```" if kind == "code" else text for kind, text in texts) + "\n"
    text = (HERE / f"{path}.md").read_text(encoding="utf-8")
    text = _GENERATED.sub(lambda line: "\n".join(GENERATED[line[1]]()), text.removeprefix(UNSEARCHED))
    text = re.sub(r"^```\{(?:toctree|index)\}[^`]*```\n*|^---\n.*?\n---\n*", "", text, flags=re.M | re.S)
    text = re.sub(r"^```\{container\} \w+\n(.*?)^```$", r"\1", text, flags=re.M | re.S)
    return text.replace("```{code-cell} python", "```python")


def setup(app: Sphinx) -> None:
    """Have Sphinx call these."""
    copy_pages()
    draw_pictures()
    next(field for field in PyObject.doc_field_types if field.name == "variable").label = "Attributes"
    app.connect("env-get-outdated", outdated)
    app.connect("source-read", fill_page)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.connect("autodoc-process-signature", lambda *given: short_signature(given[3], *given[5:]))
    app.connect("autodoc-process-docstring", lambda *given: without_options(given[3], given[-1]), priority=90)
    app.connect("autodoc-process-docstring", lambda *given: mark_up(given[-1]), priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", lambda *given: with_options(given[2], given[3], given[-1]), priority=900)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("doctree-resolved", link_names)
    app.connect("doctree-resolved", link_terms)
    app.connect("build-finished", write_plain)
    app.connect("build-finished", check)
