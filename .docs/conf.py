"""The site of the documentation: the manual, notebooks, a gallery of figures, and references made from the code.

`sphinx-build -W -b html .docs build/docs` makes it, and fails where a public name has no documentation, a link leads
nowhere, or a page loads anything from a network. Sphinx reads one folder: the pages of `sigjax help` and the notebooks
are copied to `.docs/guide` and `.docs/notebooks`, which git ignores. A line in braces of a page of this folder stands
for what `GENERATED` makes of the code.

Notebooks are run, and their outputs kept in `build/notebooks` until cells change; `-D nb_execution_mode=off` takes the
outputs that they have.
"""

import inspect
import re
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path

from cyclopts.docs.markdown import generate_markdown_docs
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.nodes import make_refnode

import sigjax
from sigjax.cli.app import EXAMPLES, app
from sigjax.guide import SECTIONS, TOPICS, markdown
from sigjax.studies import STUDIES

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "sigjax"
author = "The sigjax authors"
project_copyright = author
release = version = sigjax.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!sigjax).*|.*Record")]  # other packages; bases of public classes
default_role = "literal"

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
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"sigjax {version}"
html_static_path = []
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False


def toctree(pages: Sequence[str], caption: str) -> str:
    """The directive that puts pages into the contents."""
    return "\n".join(["```{toctree}", ":maxdepth: 1", f":caption: {caption}", "", *pages, "```"])


def manual() -> Iterator[str]:
    """The contents: the sections of the manual, and what this folder adds to some."""
    for section, topics in SECTIONS.items():
        added = ["command-line", "api", "changes"] if section == "Reference" else []
        yield toctree([*(f"guide/{topic}" for topic in topics), *added], section)
    notebooks = sorted(file.stem for file in (HERE / "notebooks").glob("*.ipynb"))
    yield toctree(["gallery", "notebooks/README", *(f"notebooks/{name}" for name in notebooks)], "Examples")


def command_line() -> Iterator[str]:
    """Every command with all of its options, and examples of it."""
    everything = app(("--install-completion",))
    text = generate_markdown_docs(everything, generate_toc=False)
    _, *commands = re.split(r"^(?=###? sigjax )", text, flags=re.M)
    for command in commands:
        title, _, rest = command.partition("\n")
        name = title.partition("sigjax ")[2]
        examples = [line for pair in EXAMPLES.get(name, {}).items() for line in (f"# {pair[0]}", pair[1])]
        yield f"## `sigjax {name}`"
        yield "\n".join(["", *(["```bash", *examples, "```"] if examples else []), rest])


def public() -> Iterator[str]:
    """Every public name, with the records that results hold."""
    names = [name for name in sorted(sigjax.__all__) if not inspect.ismodule(getattr(sigjax, name))]
    functions = [name for name in names if inspect.isfunction(getattr(sigjax, name))]
    studies = [f"studies.{name}" for name in dir(sigjax.studies) if name not in names]
    classes = [name for name in names if name not in functions]
    yield from section("Functions", "autofunction", functions)
    yield from section("Studies", "autofunction", studies)
    yield from section("Classes", "autoclass", classes)
    results = {getattr(sigjax, name) for name in classes}
    results |= {study.load(study.result) for study in STUDIES.values() if study.result}
    records = sorted(held(results) - {getattr(sigjax, name) for name in classes}, key=lambda record: record.__name__)
    yield from section("Records that results hold", "autoclass", [path(record) for record in records])


def section(title: str, directive: str, names: Sequence[str]) -> Iterator[str]:
    """A heading, and the documentation of names."""
    yield f"## {title}"
    yield "```{eval-rst}"
    for name in names:
        module, _, _ = name.rpartition(".")
        yield f".. {directive}:: {name if module.startswith('sigjax') else f'sigjax.{name}'}"
        if directive == "autoclass":
            yield from ("   :members:", "   :inherited-members:")
        yield ""
    yield "```"


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


GENERATED = {"manual": manual, "command line": command_line, "public": public}
"""What makes the text that a line in braces stands for."""


def copy_pages() -> None:
    """The pages of the manual and the notebooks, where Sphinx reads them; those that are as before stay untouched."""
    pages = {HERE / "guide" / f"{topic}.md": markdown(topic) + "\n" for topic in TOPICS}
    notebooks = [*(ROOT / "notebooks").glob("*.ipynb"), ROOT / "notebooks" / "README.md"]
    pages |= {HERE / "notebooks" / file.name: file.read_text(encoding="utf-8") for file in notebooks}
    for file in {*HERE.glob("guide/*"), *HERE.glob("notebooks/*")} - set(pages):
        file.unlink()
    for file, text in pages.items():
        file.parent.mkdir(exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def fill_page(_: Sphinx, name: str, source: list[str]) -> None:
    """Put what is made of the code into a page of this folder."""
    if "/" not in name:
        source[0] = re.sub(r"^\{(.*)\}$", lambda line: "\n".join(GENERATED[line[1]]()), source[0], flags=re.M)


def escape(lines: list[str]) -> None:
    """Docstrings are plain text with code in backticks: no other sign is markup."""
    example = False
    for index, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            texts = re.split(r"(`[^`]*`)", line)
            lines[index] = "".join(t if t.startswith("`") else re.sub(r"([*|\\]|_\b)", r"\\\1", t) for t in texts)


def link_names(app: Sphinx, page: nodes.document, name: str) -> None:
    """Code that names a page of help or something public leads there."""
    objects = app.env.domains.python_domain.objects
    for node in list(page.findall(nodes.literal)):
        text = node.astext()
        topic = text.removeprefix("sigjax help ")
        full = text.removesuffix("()")
        full = full if full.startswith("sigjax.") else f"sigjax.{full}" if full[:1].isupper() else ""
        if text.startswith("sigjax help ") and topic in TOPICS:
            target, anchor = f"guide/{topic}", ""
        elif full in objects:
            target, anchor = objects[full].docname, objects[full].node_id
        else:
            continue
        if not isinstance(node.parent, nodes.reference | nodes.title):
            node.replace_self(make_refnode(app.builder, name, target, anchor, [node.deepcopy()]))


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
    names = {name for name in sigjax.__all__ if not inspect.ismodule(getattr(sigjax, name))}
    names |= {f"studies.{name}" for name in set(dir(sigjax.studies)) - names}
    problems = [f"sigjax.{name} has no documentation" for name in sorted(names) if f"sigjax.{name}" not in documented]
    problems += [f"there is no page {topic}" for topic in TOPICS if f"guide/{topic}" not in app.env.found_docs]
    for file in sorted(Path(app.outdir).rglob("*.*")):
        if file.suffix in (".html", ".css", ".svg"):
            problems += [f"{file.name} loads {each}" for each in LOADS.findall(file.read_text(encoding="utf-8"))]
    if problems:
        raise ExtensionError("\n".join(problems))


def setup(app: Sphinx) -> None:
    """Have Sphinx call these."""
    copy_pages()
    app.connect("source-read", fill_page)
    app.connect("autodoc-process-docstring", lambda *given: escape(given[-1]), priority=100)  # before napoleon
    app.connect("doctree-resolved", link_names)
    app.connect("build-finished", check)
