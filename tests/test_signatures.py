"""Signatures that type checkers, editors and `help` show: the same calls are refused, with the same defaults.

Pyright reads this file, and finds no needless ignore in it.
"""

# pyright: reportCallIssue=error, reportUnnecessaryTypeIgnoreComment=error

import ast
import inspect
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from stubs import COMMAND, MODULES, path_of, same_code, stub_of

import sigjax
from sigjax.comparison.options import CompareOptions
from sigjax.records.options import takes_options

DATA = {"A": [1, 0, 1], "B": [0, 0, 1]}
REFUSED: dict[str, Callable[[], object]] = {
    "no data": lambda: sigjax.compare(),  # pyright: ignore[reportCallIssue]
    "one of two samples": lambda: sigjax.permutation_test([1, 2]),  # pyright: ignore[reportCallIssue]
    "options by position": lambda: sigjax.compare(DATA, "bootstrap"),  # pyright: ignore[reportCallIssue]
    "SciPy's seed": lambda: sigjax.compare(DATA, random_state=0),  # pyright: ignore[reportCallIssue]
    "SciPy's resamples": lambda: sigjax.bootstrap_test([1], [2], n_resamples=9),  # pyright: ignore[reportCallIssue]
    "a level": lambda: sigjax.studies.gains(DATA, alpha=0.05),  # pyright: ignore[reportCallIssue]
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_type_checkers_and_python_refuse_the_same_calls(call):
    with pytest.raises(TypeError, match=r"missing a required|positional|unexpected keyword"):
        call()


@pytest.mark.parametrize("function", [sigjax.compare, sigjax.bootstrap_test, sigjax.equivalence, sigjax.one_sample])
@pytest.mark.parametrize(
    ("theirs", "value", "ours"),
    [
        ("random_state", 0, "seed"),
        ("n_resamples", 99, "resamples"),
        ("alpha", 0.05, "confidence_level=0.95"),
        ("level", 0.9, "confidence_level"),
    ],
)
def test_names_of_other_programs_lead_to_ours(function, theirs, value, ours):
    data = ([1, 2], [2, 4]) if function is sigjax.bootstrap_test else (DATA,)
    more = {"margin": 1} if function is sigjax.equivalence else {"against": 1} if function is sigjax.one_sample else {}
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{theirs}'; use {ours}$"):
        function(*data, **more, **{theirs: value})


FUNCTIONS = [getattr(sigjax, name) for name in sigjax.__all__ if takes_options(getattr(sigjax, name))]
FUNCTIONS += [getattr(sigjax.studies, name) for name in dir(sigjax.studies) if name not in sigjax.__all__]


@pytest.mark.parametrize("module", MODULES)
def test_stubs_have_the_options_of_today(module):
    written = path_of(module).read_text(encoding="utf-8")
    assert same_code(written, stub_of(module)), f"{path_of(module).name} of {module} is old; run: {COMMAND}"


def test_every_function_that_takes_options_is_written_out():
    written = path_of("sigjax").read_text(encoding="utf-8") + path_of("sigjax.studies").read_text(encoding="utf-8")
    assert len(FUNCTIONS) > 20
    assert [each.__name__ for each in FUNCTIONS if written.count(f"\ndef {each.__name__}(") != 1] == []
    assert "option(" not in written
    assert "same(" not in written


def test_the_text_of_an_option_is_written_once():
    """Other records refer to it by `same`, or inherit the option."""
    texts = Counter[str]()
    for path in Path(sigjax.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("option", "required", "same"):
                given = [*node.args, *(each.value for each in node.keywords if each.arg in ("doc", "more"))]
                constants = [each.value for each in given if isinstance(each, ast.Constant)]
                texts.update(each for each in constants if isinstance(each, str) and " " in each)
    assert len(texts) > 100
    assert [text for text, number in texts.items() if number > 1] == []


def test_defaults_at_run_time_are_values():
    for function in [*FUNCTIONS, sigjax.Evaluation.from_dataframe]:
        for parameter in inspect.signature(function).parameters.values():
            default = parameter.default
            assert default is parameter.empty or isinstance(default, str | int | float | tuple | None)
    shown = inspect.signature(sigjax.compare).parameters
    assert (shown["seed"].default, shown["test"].default) == (12345, "permutation")
    given = {name: each.default for name, each in shown.items() if name != "data"}
    assert CompareOptions(**given) == CompareOptions()


SHOWN = """import sigjax
reveal_type(sigjax.compare)
reveal_type(sigjax.Evaluation.from_dataframe)
reveal_type(sigjax.studies.gains)
reveal_type(sigjax.compare({"A": [1], "B": [0]}))
sigjax.compare()
sigjax.permutation_test([1, 2])
sigjax.compare({}, seed="a")
sigjax.read("a.tsv", "b.tsv", "c.tsv", "d.tsv", metric="bleu")
"""


@pytest.mark.skipif(shutil.which("pyright", path=sys.prefix + "/bin") is None, reason="needs pyright")
def test_what_pyright_shows_and_refuses(tmp_path):
    (tmp_path / "shown.py").write_text(SHOWN, encoding="utf-8")
    command = [sys.prefix + "/bin/pyright", "--outputjson", "--pythonpath", sys.executable, str(tmp_path / "shown.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=path_of("sigjax").parents[1])
    found = json.loads(done.stdout)["generalDiagnostics"]
    revealed = [each["message"] for each in found if each["severity"] == "information"]
    assert "seed: int = 12345, baseline: str | None = None," in revealed[0]
    assert "resamples: int | Literal['auto'] = 100000" in revealed[0]
    assert "transpose: bool = False" in revealed[1]
    assert "quantile: float = 0.95" in revealed[2]
    assert all("option(" not in each and "same(" not in each for each in revealed)
    assert revealed[3].endswith('is "Report"')
    refused = {each["range"]["start"]["line"]: each["rule"] for each in found if each["severity"] == "error"}
    assert refused == {5: "reportCallIssue", 6: "reportCallIssue", 7: "reportArgumentType"}
