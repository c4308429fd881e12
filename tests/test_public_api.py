"""What users rely on: names, docstrings with examples, and an import that changes nothing."""

import ast
import copy
import dataclasses
import inspect
import json
import operator
import os
import pathlib
import pickle
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

import sigjax
from sigjax import Evaluation, InputError, Report
from sigjax.guide import TOPICS, markdown
from sigjax.records import Comparison, Metric, SampleMetric, SystemScore
from sigjax.studies import STUDIES
from sigjax.studies.changes import Change, ChangedDecision, Diff
from sigjax.studies.classical import ClassicalTests
from sigjax.studies.error_rates import Audit, AuditedTest, ErrorRate
from sigjax.studies.item_analysis import Items, ItemStatistics, Neighbours
from sigjax.studies.power_analysis import PilotDelta, Power, PowerAt
from sigjax.studies.significant_gains import Gains, GainsAt, PairGain
from sigjax.studies.subsets import Flip, Flips, Interaction, SliceDelta, Slices, SliceWins, WithoutTop
from sigjax.studies.tost import Equivalence

PUBLIC = [name for name in dir(sigjax) if not name.startswith("_") and not inspect.ismodule(getattr(sigjax, name))]
STUDY_CALLS = {name for study in STUDIES.values() for name in study.functions}


def test_the_public_names():
    expected = (
        "Comparison Evaluation InputError Metric Monitor Report SampleMetric association_test audit bootstrap_test "
        "classical_tests compare diff doctor equivalence equivalence_test monitor one_sample permutation_test "
        "planned_power power read true_discoveries unpaired verify"
    )
    assert PUBLIC == expected.split()


def test_dir_has_the_public_names_only():
    assert dir(sigjax) == sorted([*PUBLIC, "__version__", "studies"])


def test_names_load_on_first_use_from_where_type_checkers_see_them():
    tree = ast.parse(pathlib.Path(sigjax.__file__).read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {(node.module, each.name) for node in checked.body for each in node.names}
    assert seen == {*((module, name) for name, module in sigjax._HOMES.items()), ("sigjax", "studies")}
    assert "numpy" not in json.loads(run_python(f"import sigjax; {LOADED}"))
    run_python("from sigjax import *; compare, studies.gains, Report")


def modules():
    """The modules of sigjax by the last part of their names."""
    found = {"sigjax": ["sigjax"]}
    for each in pkgutil.walk_packages(sigjax.__path__, "sigjax."):
        if not each.name.endswith("__main__"):
            found.setdefault(each.name.rpartition(".")[2], []).append(each.name)
    return found


def has(thing, names):
    for name in names:
        if hasattr(thing, "__path__") and find_spec(f"{thing.__name__}.{name}"):
            # Not by the attribute: pkgutil.get_data loads a package without making it an attribute of its parent.
            thing = import_module(f"{thing.__name__}.{name}")
        elif hasattr(thing, name):
            thing = getattr(thing, name)
        else:
            return False
    return True


ROOT = pathlib.Path(sigjax.__file__).parents[1]
FOLDERS = [ROOT / name for name in ("sigjax", "tests", "benchmarks")]
TEXTS = [path for folder in FOLDERS for path in folder.rglob("*.[pm][yd]") if path.name != "CHANGELOG.md"]


FILES = {"py", "md", "json", "npz", "tsv", "toml", "html", "png", "csv", "tex"}


def test_dotted_names_and_files_in_texts_exist():
    """What docstrings, comments, options, pages and notebooks name in backticks, as `room.module.name`, is there."""
    known, missing = modules(), []
    texts = [*TEXTS, ROOT / "README.md", *(ROOT / "notebooks").glob("*.*[bd]")]
    assert len(texts) > 200
    for path in texts:
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"`((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?:\([^`\n]*)?`", text):
            first, *others = name.split(".")
            is_variable = re.search(rf"\b{first}: [A-Z]", text) or name == "sigjax.studies.NAME"
            if first not in known or is_variable or others[-1] in FILES:
                continue
            things = [import_module(module) for module in known[first]]
            things += [sigjax.compare({"A": [1, 0], "B": [0, 0]})] * (first == "report")
            if not any(has(thing, others) for thing in things):
                missing.append((path.name, name))
        for name in re.findall(
            r"`((?:benchmarks|notebooks|tests|sigjax|\.ci|\.docs|\.github)/[\w./-]+\.[a-z]+)`", text
        ):
            if not (ROOT / name).exists():
                missing.append((path.name, name))
    assert missing == []


def test_no_class_looks_like_one_of_tests():
    """Else `pytest FILE`, which runs examples, fails: it takes the class for tests that it cannot make."""
    named = [each for names in modules().values() for name in names for each in vars(import_module(name)).items()]
    classes = {value for name, value in named if name.startswith("Test") and inspect.isclass(value)}
    assert [each for each in classes if getattr(each, "__test__", True)] == []


def test_studies_are_a_namespace():
    assert set(dir(sigjax.studies)) == STUDY_CALLS
    assert sigjax.studies.power is sigjax.power
    assert {"audit", "diff", "gains", "one_sample"} < STUDY_CALLS


def test_no_file_of_studies_takes_the_place_of_a_function():
    """A package binds a file that is imported to its name, over a function of this name."""
    assert type(sigjax.studies) is type(sigjax)
    names = dir(sigjax.studies)
    files = {path.stem for path in pathlib.Path(sigjax.studies.__file__).parent.glob("*.py")}
    assert files.isdisjoint(names)
    run_python(
        "import importlib, inspect, sigjax.studies as room\n"
        f"for name in {sorted(files - {'__init__'})}: importlib.import_module('sigjax.studies.' + name)\n"
        f"assert all(inspect.isfunction(getattr(room, name)) for name in {names})"
    )


def test_naming_a_study_imports_none():
    named = "import sys, sigjax; from sigjax.studies import STUDIES; from sigjax.cli import COMMANDS; dir(sigjax)"
    assert "sigjax.studies." not in run_python(f"{named}; print(*sys.modules)")
    run_python("import sigjax.studies.agents; from sigjax.studies import power, rl; power.__doc__, rl.__doc__")


@pytest.mark.parametrize(("name", "study"), STUDIES.items(), ids=STUDIES)
def test_the_record_of_a_study_names_what_there_is(name, study):
    assert dataclasses.is_dataclass(study.load(study.options)), study
    assert study.load(study.result).__doc__
    assert all(callable(study.load(function)) for function in study.functions)
    pages = "".join(map(markdown, TOPICS))
    assert any(f"{before}{name} " in pages for before in ("sigjax ", "sigjax research "))


@pytest.mark.parametrize("name", [*PUBLIC, *(f"studies.{name}" for name in sorted(STUDY_CALLS))])
def test_public_names_are_documented(name):
    thing = operator.attrgetter(name)(sigjax)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        for part in ("Args:", "Raises:", "Example:"):
            assert part in thing.__doc__, f"{name} lacks {part}"
        for option in list(inspect.signature(thing).parameters.values()):
            assert option.kind is option.KEYWORD_ONLY or option.default is option.empty
            assert option.name.startswith("_") or f"    {option.name}: " in thing.__doc__, f"{option.name} of {name}"


CALLS = {
    "compare": lambda **options: sigjax.compare(TWO, **options),
    "permutation_test": lambda **options: sigjax.permutation_test([1, 2], [2, 4], **options),
    "classical_tests": lambda **options: sigjax.classical_tests([1, 2], [2, 4], **options),
    "read": lambda **options: sigjax.read("table.csv", **options),
    "from_dataframe": lambda **options: Evaluation.from_dataframe(None, **options),
}
TWO = Evaluation.from_arrays({"A": [1, 2], "B": [2, 4]})


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_option_is_a_type_error_that_names_the_function(name):
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'levle'"):
        CALLS[name](levle=0.9)


def test_a_missing_option_and_one_outside_its_domain_are_named():
    with pytest.raises(TypeError, match="margin"):
        sigjax.equivalence(TWO)
    with pytest.raises(InputError, match=r"level must be a number between 0 and 1, such as 0.95, got 95"):
        sigjax.compare(TWO, confidence_level=95)
    assert sigjax.compare(TWO, seed=np.int64(3), test=np.array(["permutation"])).settings.seed == 3


RECORDS = [Comparison, Evaluation, Metric, Report, SampleMetric, SystemScore]
RESULTS = [Audit, AuditedTest, ClassicalTests, ErrorRate, Equivalence, PilotDelta, Power, PowerAt]
RESULTS += [Gains, GainsAt, PairGain]
RESULTS += [Diff, Change, ChangedDecision, Flips, Flip, WithoutTop, Slices, SliceDelta, SliceWins, Interaction]
RESULTS += [Items, ItemStatistics, Neighbours]


PLAIN = {"a", "b", "metric", "test", "score_a", "score_b", "delta", "num_instances", "lower_is_better", "signature"}
"""Fields of many results whose names say all: two systems and their scores, score_a - score_b, ..."""


@pytest.mark.parametrize("record", [*RECORDS, *RESULTS])
def test_help_explains_every_field(record):
    explained = inspect.cleandoc(record.__doc__).partition("Attributes:\n")[2]
    for field in dataclasses.fields(record):
        assert field.name in PLAIN or f"    {field.name}: " in explained, (
            f"{record.__name__} does not explain {field.name}"
        )


def run_python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOADED = "import sys, json; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"


def test_importing_loads_nothing_heavy():
    loaded = json.loads(run_python(f"import sigjax.cli; {LOADED}"))
    assert not {"jax", "scipy", "matplotlib", "pandas", "polars", "pyarrow", "narwhals", "chex"} & set(loaded)


def test_help_loads_no_command_but_its_own():
    code = "import sys; from sigjax.cli import _run; _run({}, debug=True); print(*sys.modules)"
    for flag in ("--version", "--help"):
        assert not {"numpy", "rich.markdown"} & set(run_python(code.format([flag])).split())
    loaded = set(run_python(code.format(["compare", "--help"])).split())
    rooms = ("association", "classical", "comparison.compare", "exact", "report", "resample", "studies.study")
    assert not {"rich.markdown", "importlib.metadata", *(f"sigjax.{room}" for room in rooms)} & loaded


@pytest.mark.parametrize(
    ("digits", "options"),
    [(0, ["--method", "montecarlo", "--resamples", "1000", "--test", "permutation", "bootstrap"]), (6, [])],
)
def test_a_small_comparison_loads_neither_jax_nor_scipy(tmp_path, digits, options):
    table = tmp_path / "table.tsv"
    rows = (f"q{i}\t{i**0.5 % 1:.{digits}f}\t{i**0.4 % 1:.{digits}f}\n" for i in range(2000))
    table.write_text("".join(["id\tA\tB\n", *rows]))
    command = ["compare", str(table), "--format", "json", "-o", "out.json", *options]
    code = f"from sigjax.cli import _run\nassert _run({command}, debug=True) == 0\n{LOADED}"
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        loaded = json.loads(run_python(code))
    finally:
        os.chdir(here)
    assert not {"jax", "scipy"} & set(loaded)


def test_importing_changes_no_setting():
    code = (
        "import os, logging, warnings, random, numpy\n"
        "before = dict(os.environ), logging.root.handlers[:], warnings.filters[:], random.getstate()\n"
        "import sigjax\n"
        "assert before == (dict(os.environ), logging.root.handlers[:], warnings.filters[:], random.getstate())\n"
    )
    run_python(code)


FRAME = {"A": [1, 0, 1, 1, 1, 0], "B": [0, 0, 1, 0, 1, 0]}
THREE = Evaluation.from_arrays(FRAME, metric="accuracy", clusters=list("aabbcc"))
VALUES = {
    "report": lambda: sigjax.compare(THREE, device="numpy", progress=False),
    "comparison": lambda: sigjax.compare(THREE, device="numpy", progress=False)[0],
    "evaluation": lambda: Evaluation.from_arrays(FRAME, metric="accuracy", clusters=list("aabbcc")),
    "power": lambda: sigjax.power(THREE, instances=[3], repetitions=5, device="numpy"),
    "equivalence": lambda: sigjax.equivalence(THREE, margin=1.0),
    "classical": lambda: sigjax.classical_tests(THREE, device="numpy"),
    "one sample": lambda: sigjax.one_sample(THREE, against=0.5),
    "unpaired": lambda: sigjax.unpaired(FRAME, read={"metric": "accuracy"}),
    "association": lambda: sigjax.association_test(list("abab"), list("abba")),
    "diff": lambda: sigjax.diff(THREE, THREE, margin=0.1),
    "refusal": lambda: InputError("give --missing drop").args,
}


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
def test_results_are_values(make):
    """Made twice, pickled or copied they are equal; they are equal to nothing else."""
    value = make()
    for other in (make(), pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert (other == value, other != value, type(other)) == (True, False, type(value))
    assert value != 3


def test_evaluations_with_other_numbers_or_labels_differ():
    assert hash(VALUES["evaluation"]()) == hash(THREE)
    changed = {"stats": THREE.stats + 1, "clusters": None, "systems": ("A", "C"), "metric": TWO.metric}
    for name, value in changed.items():
        assert dataclasses.replace(THREE, **{name: value}) != THREE
