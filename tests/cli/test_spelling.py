"""Options in messages: flags on the command line and keywords in Python, over every message in the source."""

import ast
import functools
import pathlib
import pickle
import re
import subprocess
import sys
from typing import Literal, get_args, get_origin

import pytest
from hints import leaks

import sigjax
from sigjax import Evaluation, InputError, compare, read
from sigjax.cli import _run
from sigjax.cli.compare import ShardOptions
from sigjax.cli.options import Output
from sigjax.comparison.options import CompareOptions
from sigjax.formats.declarations import named_format
from sigjax.metrics import CLASS_METRICS, METRICS, canonical, known_metric, unknown_metric
from sigjax.metrics.registry import ALIASES, PARAMETERS
from sigjax.readers.options import ReadOptions
from sigjax.records import Note, Settings
from sigjax.records.display import OTHER_NAMES, escape_html, meant, visible, visible_json
from sigjax.records.options import COMMAND, LISTS, Hint, check, options_of, types_of
from sigjax.report.markup import escape_markdown, escape_rst
from sigjax.report.tex import escape_latex
from sigjax.studies.bradley_terry import BattlesOptions
from sigjax.studies.classical import ClassicalOptions
from sigjax.studies.independent_samples import UnpairedOptions
from sigjax.studies.item_analysis import ItemsOptions
from sigjax.studies.power_analysis import PlannedPowerOptions
from sigjax.studies.sequential import MonitorOptions
from sigjax.studies.significant_gains import GainsOptions
from sigjax.studies.single_samples import OneSampleOptions
from sigjax.studies.subsets import FlipsOptions, SlicesOptions

ROOT = pathlib.Path(sigjax.__file__).parent
RECORDS = (
    MonitorOptions,
    ClassicalOptions,
    PlannedPowerOptions,
    FlipsOptions,
    ItemsOptions,
    Output,
    ShardOptions,
    BattlesOptions,
    GainsOptions,
    OneSampleOptions,
    UnpairedOptions,
    SlicesOptions,
)
RECORDS += (ReadOptions, CompareOptions)
TYPES = {name: kind for record in RECORDS for name, kind in types_of(record).items()}
FLAG = re.compile(r"(?<![\w'\"|:.])--[a-z][a-z-]+(?![\w(\[])|(?<![\w$ ] )(?<!\w)-[im](?![\w$])")
PYTHON = re.compile(r"\b([a-z_]+)=(\"[^\"]*\"|'[^']*'|\[[^\]]*\]|\{[^}]*\})")


@functools.cache
def trees():
    """{file: syntax tree} of the package."""
    paths = sorted(ROOT.rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


@functools.cache
def calls():
    """(place, syntax tree) of all calls in the package."""
    nodes = ((file, node) for file, tree in trees().items() for node in ast.walk(tree))
    return [(f"{file}:{node.lineno}", node) for file, node in nodes if isinstance(node, ast.Call)]


def hints():
    """(place, arguments) of every Hint."""
    return [(where, node.args) for where, node in calls() if getattr(node.func, "id", "") == "Hint"]


def refusals():
    """{place: text} given to InputError beside hints, without commands, which speak in flags alone."""
    in_hints = {part for _, arguments in hints() for each in arguments for part in ast.walk(each)}
    return {
        f"{where} {part.col_offset}": part.value
        for where, node in calls()
        if getattr(node.func, "id", "") == "InputError" and not where.startswith("cli/")
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part not in in_hints
    }


def test_the_registry_has_the_messages():
    assert len(hints()) > 100
    assert len(refusals()) > 600


def test_every_hint_names_an_option_and_one_of_its_values():
    for where, (name, *given) in hints():
        if not isinstance(name, ast.Constant) or name.value == COMMAND:
            continue
        option = Hint(name.value).keyword
        for value in (each.value for each in given if isinstance(each, ast.Constant)):
            if not re.search("^[A-Z]", value):
                assert value in words(TYPES[option]) or known_metric(value) or named_format(value), where
        assert option in TYPES, where


def words(kind):
    """The words that a type has."""
    return set(get_args(kind)) if get_origin(kind) is Literal else {w for each in get_args(kind) for w in words(each)}


def test_no_refusal_is_written_as_a_flag_or_a_keyword():
    assert [where for where, text in refusals().items() if PYTHON.search(text) or FLAG.search(text)] == []


def test_lists_are_the_options_that_take_lists():
    assert all("Sequence[" in str(TYPES[name]) for name in LISTS)


@pytest.mark.parametrize("text", ["\ufdd0", "\ufdd0--metric\ufdd2 x", "a\ufdd1b"])
def test_a_value_that_has_the_marks_of_a_hint_spoils_no_message(text):
    plain = re.sub("[\ufdd0-\ufdd2]", "", text)
    error = InputError(f"use {Hint('filter', text)} now")
    flag = "--filter='--metric x'" if plain.startswith("-") else f"--filter {plain}"  # as a shell takes it
    assert (error.flags, str(error)) == (f"use {flag} now", f'use filter="{plain}" now')


def marks(text):
    """What an f-string holds of a hint."""
    return re.findall("[\ufdd0-\ufdd2]", text)


def test_errors_hold_typed_hints_and_no_marks(tmp_path):
    """Whatever shows the arguments, or pickles the error, meets the spelling of Python; so does an f-string."""
    (path := tmp_path / "t.csv").write_text(TABLE)
    with pytest.raises(InputError) as refused:
        read(path)
    error = refused.value
    assert [hint.keyword for hint in error.hints] == ['missing="drop"', 'missing="zero"']
    assert [marks(shown) for shown in (repr(error), f"{error}", *error.args, *map(repr, error.message))] == [[]] * (
        3 + len(error.message)
    )
    around = InputError("all: ", error.message, "; twice")
    assert (str(around), around.hints) == (f"all: {error}; twice", error.hints)
    assert pickle.loads(pickle.dumps(around)).flags == around.flags == f"all: {error.flags}; twice"


def test_what_is_said_of_options_has_no_marks():
    for record in RECORDS:
        for name, field in options_of(record).items():
            said = field.metadata["option"].doc
            assert not any(marks(part) for part in said if isinstance(part, str)), name


def test_messages_around_others_keep_what_was_written():
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and getattr(node.type, "id", "") == "InputError":
                assert not re.search(r"\{error\}|str\(error\)", ast.unparse(node)), f"{file}:{node.lineno}"


LEAKS = {
    "error": "raise ValueError(f'give {Hint(1)}')",
    "error of ours": "raise NotExact(pair, reason=f'give {Hint(1)}')",
    "variable": "def f():\n how = f'give {Hint(1)}'\n if how:\n  raise TypeError('x; ' + how.strip())",
    "warning": "import warnings\nwarnings.warn(f'give {Hint(1)}')",
    "note": "def f():\n def how() -> str:\n  return f'give {Hint(1)}'\n return Note(how(), code='x')",
    "constant of another file": "from sigjax.other import HOW\ndef f():\n print(' '.join(['x', HOW]))",
    "function of another file": "from sigjax.other import how\ndef f():\n return Document('x', verdict=how(1))",
    "argument": "def refuse(text):\n raise OSError(text)\ndef f():\n refuse(text=f'{Hint(1)}')",
    "text of arguments": "def both(x) -> str:\n return x\ndef f():\n raise KeyError(both(f'{Hint(1)}'))",
    "partial": "def refuse(x, text):\n raise OSError(text)\nf = partial(refuse, text=f'{Hint(1)}')",
    "function within": "def f():\n how = f'{Hint(1)}'\n def g():\n  raise OSError(how)\n return g",
    "loop": "def f():\n for how in [f'{Hint(1)}']:\n  print(how)",
    "list": "def f():\n found = []\n found.append(f'{Hint(1)}')\n return Note('; '.join(found))",
    "long text of an option": "x: int = option(1, 'x', f'see {Hint(1)}')",
}
SAFE = {
    "refusal": "raise InputError(f'give {Hint(1)}')",
    "variable": "def f():\n how = f'give {Hint(1)}'\n raise InputError(f'no; {how}')",
    "refusal of ours": "class Mine(InputError): ...\nraise Mine(f'give {Hint(1)}')",
    "function that returns a refusal": "def f(x) -> InputError:\n return InputError(x)\nraise f(f'{Hint(1)}')",
    "another function": "def f():\n how = f'give {Hint(1)}'\n raise InputError(how)\ndef g(how):\n raise OSError(how)",
    "spelled": "print(Hint(1).flag)",
    "option": "x: int = option(1, f'see {Hint(1)}')",
}
OTHER = "HOW = f'give {Hint(1)}'\ndef how(x):\n return HOW"


def test_hints_reach_people_in_messages_alone():
    """No other exception, warning, note or document is made of an f-string that holds one."""
    assert leaks(trees()) == set()


@pytest.mark.parametrize("source", LEAKS.values(), ids=LEAKS)
def test_a_hint_on_another_way_is_found(source):
    (place,) = leaks({"one.py": ast.parse(source), "other.py": ast.parse(OTHER)})
    assert place.startswith("one.py:")


@pytest.mark.parametrize("source", SAFE.values(), ids=SAFE)
def test_hints_in_messages_are_no_leak(source):
    assert leaks({"one.py": ast.parse(source), "other.py": ast.parse(OTHER)}) == set()


@pytest.mark.parametrize("show", [visible, visible_json, escape_html, escape_markdown, escape_latex, escape_rst, Note])
def test_marks_of_a_hint_in_any_output_fail_a_test(show):
    """By the fixture of all tests that looks at messages, notes and outputs."""
    marked = f"give {Hint('missing', 'drop')}"
    with pytest.raises(AssertionError, match="marks of a hint"):
        show(marked)
    with pytest.raises(AssertionError, match="marks of a hint"):
        InputError(f"give {marked!a}")


TABLE = "id,A,B\nx,1,\ny,1,0\nz,0,1\n"
BOTH = {
    "missing": ({}, [], "use {}", "missing='drop' or missing='zero'", "--missing drop or --missing zero"),
    "column": ({"cluster": "doc"}, ["--cluster", "doc"], "{}: no column", "cluster", "--cluster"),
    "list": ({"ignore": ["C"]}, ["--ignore", "C"], "{}: no column 'C'", "ignore", "--ignore"),
    "two words": ({"id_column": "doc"}, ["--id-column", "doc"], "{}: no column", "id_column", "--id-column"),
    "reader": ({"unit": "response"}, ["--unit", "response"], "{} needs spans", "unit='response'", "--unit response"),
}


@pytest.mark.parametrize(("options", "flags", "message", "python", "cli"), BOTH.values(), ids=BOTH)
def test_a_refusal_speaks_as_it_was_asked(tmp_path, capsys, options, flags, message, python, cli):
    (path := tmp_path / "t.csv").write_text(TABLE)
    with pytest.raises(InputError) as refused:
        read(path, **options)
    assert message.format(python.replace("'", '"')) in str(refused.value)
    with pytest.raises(InputError) as through:
        compare(path, read=options)
    within = re.sub(r"(\w+)='(\w+)'", r'read={"\1": "\2"}', python)
    assert message.format(within) in str(through.value)
    assert through.value.flags == refused.value.flags
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    assert _run(["compare", str(path), *flags], debug=False) == 2
    assert message.format(cli) in capsys.readouterr().err


def test_names_of_people_are_shown_as_they_are(tmp_path):
    (path := tmp_path / "t.csv").write_text("id,--metric,B\nx,1,0\ny,1,1\n")
    with pytest.raises(InputError, match=r"no system '--metrik'; did you mean '--metric'\?"):
        read(path, only=["--metrik", "B"])


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_names_of_other_tools_mean_metrics(name):
    assert meant(name, METRICS) == [each for each in OTHER_NAMES[name] if each in METRICS][:1]


@pytest.mark.parametrize("name", ["confidence_level", "budget", "memory"])
@pytest.mark.parametrize("value", [0, 0.0, 1, float("inf"), float("nan"), True])
def test_ends_of_the_domain_of_a_number_are_outside(name, value):
    if name != "confidence_level" and value == 1 and value is not True:
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
        sigjax.studies.gains(Evaluation.from_arrays(pair), sizes=[1e1, 2.5])


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


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("macro-f1", "did you mean 'macro-fscore'?"),
        ("weighted f1", "did you mean 'weighted-fscore'?"),
        ("balanced accuracy", "did you mean 'balanced-accuracy'?"),
        ("matthews_corcoef", "did you mean 'mcc'?"),
        ("ROUGE-1", "did you mean 'rouge1'?"),
        ("bleu,chrf", 'write metric=["bleu", "chrf"]'),
        ("BLEU, chrF2", 'write metric=["bleu", "chrf"]'),
        ("bleu(tokenize=zh),ter", 'write metric=["bleu(tokenize=zh)", "ter"]'),
        ("neg_mean_absolute_error", "it is -1 times 'mae': give that, of which lower is better"),
    ],
)
def test_all_names_of_metrics_are_suggested(name, said):
    assert str(InputError(unknown_metric(name))) == said


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_that_says_what_goes_without_saying_changes_no_name(name):
    usual = {"punctuation": "true", "match": "strict", "word_order": "0" if name == "chrf" else "2"}
    for parameter in PARAMETERS[name].keys() - {"tokenize"}:
        assert known_metric(f"{name}({parameter}={usual.get(parameter, 'false')})") is METRICS[name]


def test_every_alias_is_a_metric_of_ours():
    for alias, ours in ALIASES.items():
        assert ours in (*METRICS, *CLASS_METRICS)
        assert alias == alias.lower()
        assert alias not in (*METRICS, *CLASS_METRICS)
        assert canonical(alias) == canonical(alias.upper()) == ours
    for name in (*METRICS, *CLASS_METRICS):
        assert canonical(name) == name
        assert "(" in name or canonical(name.upper()) == name
    for name in ("pass@2", "pass^3", "flip-rate", "f2", "f0.5"):
        assert canonical(name) == canonical(name.upper()) == known_metric(name.upper()).name == name
