"""Options in messages: flags on the command line and keywords in Python, over every message in the source."""

import ast
import pathlib
import pickle
import re
import subprocess
import sys
from typing import Literal, get_args, get_origin

import pytest

import sigjax
from sigjax import Evaluation, InputError, compare, read
from sigjax.cli import _run
from sigjax.cli.compare import Processes
from sigjax.cli.output import Output
from sigjax.comparison.options import DataOptions
from sigjax.formats import READERS
from sigjax.metrics import METRICS, known_metric
from sigjax.readers.options import ReadOptions
from sigjax.records import Settings
from sigjax.records.display import OTHER_NAMES, meant
from sigjax.records.options import LISTS, check, in_flags, in_python, types_of
from sigjax.studies.domain import DomainOptions
from sigjax.studies.gains import GainsOptions

ROOT = pathlib.Path(sigjax.__file__).parent
RECORDS = (Output, Processes, GainsOptions, DomainOptions, ReadOptions, DataOptions)
TYPES = {name: kind for record in RECORDS for name, kind in types_of(record).items()}
FLAG = re.compile(r"(?<![\w'\"|:.])--[a-z][a-z-]+(?![\w(\[])|(?<![\w$ ] )(?<!\w)-[im](?![\w$])")
PYTHON = re.compile(r"\b([a-z_]+)=(\"[^\"]*\"|'[^']*'|\[[^\]]*\]|\{[^}]*\})")


TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}


def text_of(node):
    """The text of a string, with something for each value that is filled in."""
    if isinstance(node, ast.Constant):
        return node.value
    return "".join(
        part.value if isinstance(part, ast.Constant) else "3" if part.format_spec else "X" for part in node.values
    )


def strings(inside):
    """(file and line, text) of every string in the nodes that `inside` gives for a file."""
    for path, tree in TREES.items():
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        parts |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for top in inside(tree):
            for node in ast.walk(top):
                is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
                if id(node) not in parts and (is_text or isinstance(node, ast.JoinedStr)):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text_of(node)


def raised(tree):
    """What is given to InputError."""
    return (
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "InputError"
    )


NAMING = {
    where: text
    for where, text in strings(lambda tree: [tree])
    if FLAG.search(text) and where[:4] != "cli/" and "<style>" not in text
}
"""All texts that name a flag, also those that are put together before they are raised; those of commands aside."""
REFUSALS = dict(strings(raised))


def test_the_registry_has_the_messages():
    assert len(NAMING) > 60
    assert len(REFUSALS) > 300


def test_no_flag_is_left_in_python():
    """Every option that a message names is one, and a value that it gives is one of its values."""
    for where, text in NAMING.items():
        shown = in_python(text)
        assert not re.search(r"(?<![\w'\"])--[a-z]{2}", shown.replace("comet-score --to_json", "")), where
        for name, value in PYTHON.findall(shown):
            kind, value = TYPES[name], ast.literal_eval(value)
            assert (name in LISTS) == isinstance(value, list), where
            if isinstance(value, str) and not value.isupper():
                assert value in words(kind) or known_metric(value) or value in READERS, where


def words(kind):
    """The words that a type has."""
    return set(get_args(kind)) if get_origin(kind) is Literal else {w for each in get_args(kind) for w in words(each)}


def test_no_refusal_is_written_as_in_python():
    assert [where for where, text in REFUSALS.items() if PYTHON.search(in_flags(text))] == []


def test_lists_are_the_options_that_take_lists():
    assert all("Sequence[" in str(TYPES[name]) for name in LISTS)


def test_messages_around_others_keep_what_was_written():
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and getattr(node.type, "id", "") == "InputError":
                assert not re.search(r"\{error\}|str\(error\)", ast.unparse(node)), f"{path}:{node.lineno}"


TABLE = "id,A,B\nx,1,\ny,1,0\nz,0,1\n"
BOTH = {
    "missing": ({}, [], "use {}", "missing='drop' or missing='zero'", "--missing drop or --missing zero"),
    "column": ({"cluster": "doc"}, ["--cluster", "doc"], "{}: no column", "cluster", "--cluster"),
    "list": ({"ignore": ["C"]}, ["--ignore", "C"], "{}: no column 'C'", "ignore", "--ignore"),
    "two words": ({"one_based": True}, ["--one-based"], "{} means nothing", "one_based", "--one-based"),
    "reader": ({"unit": "response"}, ["--unit", "response"], "{} needs spans", "unit='response'", "--unit response"),
}


@pytest.mark.parametrize(("options", "flags", "message", "python", "cli"), BOTH.values(), ids=BOTH)
def test_a_refusal_speaks_as_it_was_asked(tmp_path, capsys, options, flags, message, python, cli):
    (path := tmp_path / "t.csv").write_text(TABLE)
    with pytest.raises(InputError) as refused:
        read(path, **options)
    assert message.format(python.replace("'", '"')) in str(refused.value)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    assert _run(["compare", str(path), *flags], debug=False) == 2
    assert message.format(cli) in capsys.readouterr().err


def test_names_of_people_are_shown_as_they_are(tmp_path):
    (path := tmp_path / "t.csv").write_text("id,--metric,B\nx,1,0\ny,1,1\n")
    with pytest.raises(InputError, match=r"no system '--metrik'; did you mean '--metric'\?"):
        read(path, systems=["--metrik", "B"])


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_names_of_other_tools_mean_metrics(name):
    assert meant(name, METRICS) == [each for each in OTHER_NAMES[name] if each in METRICS][:1]


@pytest.mark.parametrize("name", ["level", "budget", "memory"])
@pytest.mark.parametrize("value", [0, 0.0, 1, float("inf"), float("nan"), True])
def test_ends_of_the_domain_of_a_number_are_outside(name, value):
    if name != "level" and value == 1 and value is not True:
        check(Settings(**{name: value}))
    else:
        with pytest.raises(InputError, match=f"{name} must be a number "):
            check(Settings(**{name: value}))


def test_an_option_outside_its_domain():
    pair = {"A": [1, 0], "B": [1, 1]}
    with pytest.raises(InputError, match=r"^mid_p must be true or false, got 3$"):
        compare(pair, mid_p=3)
    with pytest.raises(InputError, match=r"^resamples must be a whole number from 2 to .* or auto, got 1\.5$"):
        compare(pair, resamples=1.5e0)
    report = compare(pair, resamples=1e3, seed=7.0)
    assert repr((report.settings.resamples, report.settings.seed)) == "(1000, 7)"
    assert type(compare(pair, budget=2.0).settings.budget) is float
    with pytest.raises(InputError, match=r"sizes must be one or more whole numbers .*, got \[10, 2\.5\]"):
        sigjax.studies.size(Evaluation.from_arrays(pair), sizes=[1e1, 2.5])


def test_notebooks_show_the_callers_lines_and_the_message():
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='NoColor')\n"
        "shell.run_cell('import sigjax\\ndef mine(path):\\n    return sigjax.read(path)')\n"
        "shell.run_cell('mine(\"nothing.csv\")')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in lines if line.endswith(")")] == ['mine("nothing.csv")', "return sigjax.read(path)"]
    assert lines[-1] == "sigjax.InputError: nothing.csv: no such file"
