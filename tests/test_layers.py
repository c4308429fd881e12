"""Data goes down the list once, and imports go only upward in it. This test reads the imports."""

import ast
import functools
import pathlib
from graphlib import TopologicalSorter

from mutants import MUTANTS

import sigjax

ROOT = pathlib.Path(sigjax.__file__).parent
ORDER = (
    "version",
    "records",
    "run",
    "metrics",
    "readers",
    "formats",
    "resample",
    "exact",
    "testing",
    "multiple",
    "report",
    "comparison",
    "studies",
    "guide",
    "cli",
    "integrations",
    "__main__",
)
HEAVY = {"jax", "jaxlib", "chex", "scipy", "matplotlib", "pandas", "polars", "pyarrow", "narwhals"}
NEVER_JAX = {"readers", "formats", "report", "cli", "metrics", "records"}


@functools.cache
def modules():
    """(room, tree, path) of every file."""
    paths = sorted(ROOT.rglob("*.py"))
    rooms = [path.relative_to(ROOT).with_suffix("").parts[0] for path in paths]
    return [(room, ast.parse(path.read_text(encoding="utf-8")), path) for room, path in zip(rooms, paths, strict=True)]


def imports(tree, *, everything=False):
    """(module, within a function) of every import that runs; of `everything`, also those for type checkers."""
    return [(module, inside) for module, inside, checking in _imports(tree) if everything or not checking]


@functools.cache
def _imports(tree):
    """(module, within a function, for type checkers) of every import."""
    found = []

    def visit(node, *, inside, checking):
        if isinstance(node, ast.ImportFrom):
            modules = (node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names))
            found.extend((module, inside, checking) for module in modules)
        elif isinstance(node, ast.Import):
            found.extend((alias.name, inside, checking) for alias in node.names)
        inside = inside or isinstance(node, ast.FunctionDef)
        checking = checking or (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING")
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):  # no expression holds an import
                visit(child, inside=inside, checking=checking)

    visit(tree, inside=False, checking=False)
    return found


def graph_of_imports(*, everything=False):
    """The modules that each module imports, wherever in it."""
    trees = {".".join(path.relative_to(ROOT.parent).with_suffix("").parts): tree for _, tree, path in modules()}
    trees = {name.removesuffix(".__init__"): tree for name, tree in trees.items()}
    # A package that imports a module of its own names itself.
    return {
        name: {module for module, _ in imports(tree, everything=everything)} & set(trees) - {name}
        for name, tree in trees.items()
    }


def test_no_imports_go_in_a_circle():
    """Also within functions, and for type checkers."""
    TopologicalSorter(graph_of_imports(everything=True)).prepare()  # raises CycleError, which names the circle


def test_imports_go_upward():
    for room, tree, path in modules():
        if room == "__init__":
            continue
        for module, _ in imports(tree):
            if module.split(".")[0] != "sigjax":
                continue
            other = module.split(".")[1]
            allowed = ORDER.index(other) <= ORDER.index(room)
            assert allowed, f"{path.relative_to(ROOT)} imports {module}"


def test_heavy_packages_wait_until_they_are_needed():
    for room, tree, path in modules():
        for module, within in imports(tree):
            package = module.split(".")[0]
            assert within or package not in HEAVY, f"{path.relative_to(ROOT)} imports {module} when it is loaded"
            assert not (room in NEVER_JAX and package == "jax"), f"{path.relative_to(ROOT)} imports JAX"


def test_every_folder_says_what_belongs_there():
    for folder in {path.parent for path in ROOT.rglob("*.py")}:
        docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        assert docstring, folder
        assert folder == ROOT or len(docstring) > 80, folder


def test_a_name_of_a_type_has_one_meaning():
    """Classes, and names in capitals for types made of others."""
    places = {}
    for _, tree, path in modules():
        for node in tree.body:
            name = node.name if isinstance(node, ast.ClassDef) else ""
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
                name = ast.unparse(node.targets[0])
            if name[:1].isupper() and name[1:2].islower():
                places.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_every_line_that_a_mutant_changes_stands_once():
    texts = [path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")]
    assert {name: n for name, each in MUTANTS.items() if (n := sum(text.count(each.line) for text in texts)) != 1} == {}
