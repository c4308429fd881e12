"""Data goes down the list once, and imports go only upward in it. This test reads the imports."""

import ast
import pathlib

import sigjax

ROOT = pathlib.Path(sigjax.__file__).parent
ORDER = (
    "version",
    "records",
    "files",
    "run",
    "metrics",
    "units",
    "readers",
    "resample",
    "exact",
    "testing",
    "permutation",
    "bootstrap",
    "multiple",
    "ranking",
    "report",
    "comparison",
    "association",
    "classical",
    "studies",
    "cli",
    "__main__",
)
HEAVY = {"jax", "jaxlib", "chex", "scipy", "matplotlib", "pandas", "polars", "pyarrow", "narwhals"}
NEVER_JAX = {"readers", "report", "cli", "metrics", "records"}


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield parts[0], ast.parse(path.read_text(encoding="utf-8")), path


def imports(tree):
    """(module, within a function) of every import that runs."""
    inside = {
        id(child)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for child in ast.walk(function)
    }
    checking = {
        id(child)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for child in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if id(node) in checking:
            continue
        if isinstance(node, ast.ImportFrom):
            yield node.module or "", id(node) in inside
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in inside


def test_every_room_has_its_place():
    assert {room for room, _, _ in modules()} - {"__init__"} == set(ORDER)


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


def test_one_place_compiles():
    compiling = {path.name for _, tree, path in modules() for node in ast.walk(tree) if is_jit(node)}
    assert compiling == {"backend.py"}


def is_jit(node):
    return isinstance(node, ast.Attribute) and node.attr in {"jit", "pjit", "pmap"}


def test_every_folder_says_what_belongs_there():
    for folder in {path.parent for path in ROOT.rglob("*.py")}:
        docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        assert docstring, folder
        assert folder == ROOT or len(docstring) > 80, folder
