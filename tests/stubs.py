"""Stubs for type checkers and editors: modules without bodies, with the signatures that `takes` makes written out.

Type checkers do not run `takes`: they would show `option(...)` as the default of each keyword. The signatures in a stub
come from the same declarations of options; `tests/test_signatures.py` fails if they are no longer equal.

    python tests/stubs.py --write
"""

import argparse
import ast
import inspect
import re
import subprocess
import sys
import textwrap
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from sigjax.records.options import takes_options

MODULES = ("sigjax", "sigjax.readers.evaluation", "sigjax.studies")
"""The modules from which people import functions that take options."""
STUDIES = MODULES[-1]
COMMAND = "python tests/stubs.py --write"
Imports = dict[str, str]
"""The names that a stub imports -> their modules."""


def path_of(module: str) -> Path:
    """The file of the stub of a module."""
    return Path(str(import_module(module).__file__)).with_suffix(".pyi")


def stub_of(module: str) -> str:
    """The stub of a module; `ruff format` gives it its lines."""
    made = import_module(module)
    tree = ast.parse(Path(str(made.__file__)).read_text(encoding="utf-8"))
    imports: Imports = {}
    parts = [*_parts(tree.body, {name: getattr(made, name) for name in (*vars(made), *dir(made))}, imports)]
    passed_on = [part for part in parts if part.startswith("from ")]
    for part in passed_on:
        imports.pop(part.split()[-1], None)
    text = "\n".join([*passed_on, *(part for part in parts if part not in passed_on)])
    used = {name: home for name, home in imports.items() if re.search(rf"\b{name}\b", text) and home != module}
    lines = [f"from {home} import {name}" if home else f"import {name}" for name, home in used.items()]
    return "\n".join([f'"""Signatures for type checkers, written by `{COMMAND}`."""', *lines, text, ""])


def _parts(body: Iterable[ast.stmt], things: Mapping[str, Any], imports: Imports) -> Iterator[str]:
    """The public statements of a module or a class, as its stub has them."""
    for node in body:
        thing = things.get(name := getattr(node, "name", ""))
        match node:
            case ast.Import(names=names):
                imports |= {each.name: "" for each in names}
            case ast.ImportFrom(module=str(home), names=names):
                yield from (
                    f"from {home} import {each.name} as {each.name}" for each in names if each.asname == each.name
                )
                imports |= {each.asname or each.name: home for each in names}
            case ast.If(test=ast.Name("TYPE_CHECKING"), body=lazy):
                for home, each in ((str(found.module), each) for found in lazy for each in found.names):  # pyright: ignore
                    yield _passed_on(home, each.name, things, imports)
            case ast.ClassDef() if not name.startswith("_"):
                head = ast.unparse(ast.ClassDef(**vars(node) | {"body": [ast.Pass()]})).removesuffix("pass").rstrip()
                inside = [*_parts(node.body, vars(thing), imports)] or ["..."]
                yield textwrap.indent("\n".join(inside), "    ").join([f"{head}\n", ""])
            case ast.FunctionDef() if takes_options(getattr(thing, "__func__", thing)):
                yield f"@classmethod\n{signature_of(name, cast('Any', thing).__func__, imports)}"
            case ast.FunctionDef() if not name.startswith("_"):
                yield ast.unparse(ast.FunctionDef(**vars(node) | {"body": [ast.Expr(ast.Constant(...))]}))
            case ast.AnnAssign(target=ast.Name(target)) if not target.startswith("_"):
                yield ast.unparse(ast.AnnAssign(**vars(node) | {"value": node.value and ast.Constant(...)}))
            case _:
                pass


def _passed_on(home: str, name: str, things: Mapping[str, Any], imports: Imports) -> str:
    """The public name of another module: its signature if the source does not show it, else the import.

    A study that is a name of sigjax, too, is written out in the stub of studies.
    """
    if takes_options(things[name]) and not (home.startswith(f"{STUDIES}.") and STUDIES != things["__name__"]):
        return signature_of(name, things[name], imports)
    home = STUDIES if takes_options(things[name]) else home
    return f"from {home} import {name} as {name}"


def signature_of(name: str, function: Any, imports: Imports) -> str:
    """The signature of a function that takes options."""
    hints = typing.get_type_hints(inspect.unwrap(function))
    empty = inspect.Parameter.empty
    shown, star = [], False
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not star:
            shown.append("*")
        star |= each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        text = "*" * (each.kind is each.VAR_POSITIONAL) + each.name
        text += f": {shown_type(hints.get(each.name, each.annotation), imports)}" * (each.annotation is not empty)
        shown.append(text + (f" = {each.default!r}" if each.default is not empty else ""))
    return f"def {name}({', '.join(shown)}) -> {shown_type(hints['return'], imports)}: ..."


def shown_type(kind: Any, imports: Imports) -> str:
    """A type as it is written in a stub; it notes what has to be imported."""
    if kind is types.NoneType:
        return "None"
    if isinstance(kind, list):
        return f"[{', '.join(shown_type(each, imports) for each in kind)}]"
    outer, arguments = typing.get_origin(kind) or kind, typing.get_args(kind)
    if outer in (typing.Union, types.UnionType):
        return " | ".join(shown_type(each, imports) for each in arguments)
    name = getattr(outer, "__name__", "") or str(outer).removeprefix("typing.")
    if outer.__module__ != "builtins":
        imports[name] = outer.__module__
    inside = [repr(each) if outer is typing.Literal else shown_type(each, imports) for each in arguments]
    return f"{name}[{', '.join(inside)}]" if inside else name


def same_code(first: str, second: str) -> bool:
    """Whether two stubs differ only in their format and in how they sort and join imports."""
    return sorted(_statements(first)) == sorted(_statements(second))


def _statements(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        names = node.names if isinstance(node, ast.ImportFrom) else []
        yield from (ast.unparse(ast.ImportFrom(**vars(node) | {"names": [each]})) for each in names)
        yield from () if names else (ast.unparse(node),)


def main() -> None:
    """Write the stubs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    for module in MODULES:
        path = path_of(module)
        path.write_text(stub_of(module), encoding="utf-8")
        for command in (["check", "-q", "--fix", "--select", "I"], ["format", "-q"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, str(path)], check=True)


if __name__ == "__main__":
    main()
