"""Formats of other packages, added by a wheel: read like ours; what is wrong with one is said in one line."""

import subprocess
import sys
import zipfile

import pytest

import sigjax
from sigjax.formats import read_metrics, table
from sigjax.records import InputError

RECORD = """
from sigjax.formats import Format, looks_like

VOTES = Format(
    "votes", "votes of a jury", "systems", "jury_files.reader:read_votes", looks_like(rb"^VOTES\\n"), ("accuracy",)
)
BROKEN = Format("crash", "a look that fails", "systems", "nowhere:read", lambda name, head: 1 / 0)
LOST = Format("lost", "a reader that is not there", "systems", "nowhere:read", looks_like(rb"^LOST"))
FAULTS = {
    "fails": Format("fails", "", "systems", "jury_files.reader:read_numbers", looks_like()),
    "three": Format("three", "", "systems", "jury_files.reader:three", looks_like()),
    "later": Format("later", "", "systems", "jury_files.reader:later", looks_like()),
    "empty": Format("empty", "", "systems", "jury_files.reader:empty", looks_like()),
    "metric": Format("metric", "", "systems", "nowhere:read", looks_like(), ("acuracy",)),
    "comma": Format("comma", "", "systems", "nowhere:read", looks_like(), ("accuracy")),
    "option": Format("option", "", "systems", "nowhere:read", looks_like(), options=frozenset({"lowcase"})),
    "offered": Format(
        "offered", "", "systems", "nowhere:read", looks_like(), ("verdict",), offers="jury_files.reader:is_verdict"
    ),
}
globals().update(FAULTS)
FOLDED = Format(
    "folded", "votes of a jury, by town", "systems", "jury_files.reader:read_towns", looks_like(rb"^VOTES\\n"),
    ("accuracy",), folder="*.votes", tasks=True, gathers=(r".*\\.votes", "jury_files.reader:gather"),
)
PICKY = Format("picky", "", "systems", "nowhere:read", looks_like(), ("accuracy",), offers="jury_files.reader:fail")
UNFOLDED = Format(
    "unfolded", "", "systems", "nowhere:read", looks_like(), gathers=(r".*\\.votes", "jury_files.reader:gather_none")
)
TSV = Format("tsv", "tables of a jury", "file", "jury_files.reader:read_votes", looks_like())
"""
READER = """
import os

import numpy as np

from sigjax.readers import Sheet, join_sheets, read_lines
from sigjax.records import InputError


def read_votes(sources, options):
    sheets = []
    for name, file in sources.chosen(options).items():
        _, *votes = read_lines(file)
        if not {*votes} <= {"yes", "no"}:
            raise InputError(f"{file}: expected votes, yes or no")
        sheets.append(Sheet(name, file, {"value": np.array([vote == "yes" for vote in votes], float)}))
    return join_sheets(sheets, options)


def read_numbers(sources, options):
    return [int(line) for file in sources.chosen(options).values() for line in read_lines(file)]


def three(sources, options):
    return 3


def later(sources, options):
    return lambda options: {}["votes"]


def empty(sources, options):
    return lambda options: None


def gather(files):
    return list(dict.fromkeys(os.path.dirname(file) for file in files))


def gather_none(files):
    return [1 for file in files]


def read_towns(sources, options):
    tasks = {}
    for name, files in sources.parts.items():
        for file in files:
            values = np.array([vote == "yes" for vote in read_lines(file)[1:]], float)
            tasks.setdefault(os.path.basename(file), []).append(Sheet(name, file, {"value": values}))
    readings = {task: join_sheets(sheets, options) for task, sheets in tasks.items()}
    return lambda options: {task: reading(options) for task, reading in readings.items()}


def fail(name):
    return {}[name]


def is_verdict(name):
    return name == "verdict"
"""
POINTS = {
    "votes": "jury_files:VOTES",
    "crash": "jury_files:BROKEN",
    "lost": "jury_files:LOST",
    "tsv": "jury_files:TSV",
    "absent": "jury_files.nothing:FORMAT",
    "number": "math:pi",
    "renamed": "jury_files:VOTES",
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that puts a wheel with entry points on the path, as `pip install` would put its files there."""

    def wheel(package, points):
        path = tmp_path / f"{package}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("jury_files/__init__.py", RECORD)
            archive.writestr("jury_files/reader.py", READER)
            lines = [f"[{table.GROUP}]", *(f"{name} = {value}" for name, value in points.items())]
            about = {
                "METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
                "entry_points.txt": "\n".join(lines),
            }
            for name, content in about.items():
                archive.writestr(f"{package}-1.0.dist-info/{name}", content)
        monkeypatch.syspath_prepend(path)

    table.added_formats.cache_clear()
    yield wheel
    table.added_formats.cache_clear()
    for name in [name for name in sys.modules if name.startswith("jury_files")]:
        del sys.modules[name]


@pytest.fixture
def files(tmp_path):
    contents = {"a.votes": "VOTES\nyes\nyes\nno\n", "b.votes": "VOTES\nno\nyes\nno\n", "c.votes": "VOTES\nmaybe\n"}
    contents |= {"a.lost": "LOST\n1\n", "b.lost": "LOST\n0\n", "t.tsv": "id\tA\tB\nx\t1\t0\ny\t0\t0\n"}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return {name: tmp_path / name for name in contents}


def test_a_format_is_recognized_and_its_reader_imported_then(install, files):
    install("jury", {"votes": POINTS["votes"]})
    assert sigjax.read(files["t.tsv"]).systems == ("A", "B")
    assert "jury_files.reader" not in sys.modules
    evaluation = sigjax.read(files["a.votes"], files["b.votes"])
    assert evaluation.systems == ("a.votes", "b.votes")
    assert evaluation.stats[:, :, 0].tolist() == [[1, 1, 0], [0, 1, 0]]
    assert sigjax.read(files["a.votes"], files["b.votes"], reader="votes").metric.name == "accuracy"


def test_a_report_says_which_package_read_the_files(install, files):
    install("jury", {"votes": POINTS["votes"]})
    note = "read as votes by the package jury 1.0"
    assert note in sigjax.compare(sigjax.read(files["a.votes"], files["b.votes"]), device="numpy").notes
    assert not any("package" in each for each in sigjax.read(files["t.tsv"]).notes)


def test_a_format_gathers_files_into_folders(install, tmp_path):
    towns = {"a": ("yes\nno", "no\nno\nyes"), "b": ("no\nno", "yes\nno\nyes")}
    files = [tmp_path / system / f"{town}.votes" for system in towns for town in ("graz", "linz")]
    for file, votes in zip(files, [each for own in towns.values() for each in own], strict=True):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"VOTES\n{votes}\n")
    install("jury", {"folded": "jury_files:FOLDED"})
    report = sigjax.compare(read_metrics(*files), device="numpy")
    assert {each.name for each in report.systems} == {"a", "b"}
    assert {"graz.votes: accuracy", "linz.votes: accuracy"} <= {pair.metric for pair in report}
    assert [note for note in report.notes if "package" in note] == [
        "graz.votes: accuracy, linz.votes: accuracy: read as folded by the package jury 1.0"
    ]


def test_gathering_that_fails_is_named_and_leaves_the_files(install, files):
    install("jury", {"votes": POINTS["votes"], "unfolded": "jury_files:UNFOLDED"})
    with pytest.warns(RuntimeWarning, match="format unfolded of jury 1.0 is left out: TypeError: jury_files") as said:
        assert sigjax.read(files["a.votes"], files["b.votes"]).systems == ("a.votes", "b.votes")
    assert "gather_none gives [1, 1]; expected a list of files" in str(said[0].message)


def test_an_offer_that_fails_is_no_offer(install, files):
    install("jury", {"picky": "jury_files:PICKY"})
    with pytest.warns(RuntimeWarning, match="format picky of jury 1.0 is left out: KeyError: 'verdict'"):
        with pytest.raises(InputError, match="the format picky has no metric 'verdict'; it gives accuracy"):
            sigjax.read(files["a.votes"], files["b.votes"], metric="verdict", reader="picky")


def test_refusals_are_those_of_our_formats(install, files):
    install("jury", {"votes": POINTS["votes"]})
    with pytest.raises(InputError, match="c.votes: expected votes, yes or no"):
        sigjax.read(files["a.votes"], files["c.votes"])
    with pytest.raises(InputError, match="no format 'vote'; did you mean 'votes'"):
        sigjax.read(files["a.votes"], files["b.votes"], reader="vote")
    with pytest.raises(InputError, match="votes has no metric 'bleu'; it gives accuracy"):
        sigjax.read(files["a.votes"], files["b.votes"], metric="bleu", reader="votes")


def test_a_broken_format_is_named_in_one_line_and_breaks_no_other(install, files):
    install("jury", POINTS)
    with pytest.warns(RuntimeWarning) as said:
        evaluation = sigjax.read(files["a.votes"], files["b.votes"])
    with pytest.warns(RuntimeWarning) as more:
        assert sigjax.read(files["t.tsv"]).systems == ("A", "B")
    assert evaluation.num_instances == 3
    messages = [str(each.message) for each in (*said, *more)]
    assert all("\n" not in message for message in messages)
    expected = (
        "format tsv of jury 1.0 is left out: sigjax has a format of that name; rename it",
        "format absent of jury 1.0 is left out: ModuleNotFoundError: No module named 'jury_files.nothing'",
        "format number of jury 1.0 is left out: math:pi is float; expected a sigjax.formats.Format",
        "format renamed of jury 1.0 is left out: its Format is named 'votes'; name both alike",
        "format crash of jury 1.0 is left out: ZeroDivisionError: division by zero",
    )
    assert {*expected} <= {*messages}
    with pytest.raises(InputError, match="a.lost, .*b.lost: format lost of the package jury 1.0 failed: ModuleN"):
        sigjax.read(files["a.lost"], files["b.lost"], reader="lost")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fails", "ValueError: invalid literal for int() with base 10: 'VOTES'"),
        ("three", "TypeError: jury_files.reader:three returned int; expected what join_sheets returns"),
        ("later", "KeyError: 'votes'"),
        ("empty", "TypeError: jury_files.reader:empty gives NoneType; expected Evaluation"),
    ],
)
def test_a_reader_that_fails_is_named_with_its_package_and_files(install, files, capsys, name, reason):
    from sigjax.cli import _run

    install("jury", {name: f"jury_files:{name}"})
    a, b = str(files["a.votes"]), str(files["b.votes"])
    assert _run(["compare", a, b, "--reader", name], debug=False) == 2
    expected = f"sigjax: error: {a}, {b}: format {name} of the package jury 1.0 failed: {reason}\n"
    assert capsys.readouterr().err == expected
    with pytest.raises(InputError) as error:
        _run(["compare", a, b, "--reader", name], debug=True)
    assert type(error.value.__cause__).__name__ == reason.partition(":")[0]


def test_names_of_metrics_and_options_are_checked_when_a_format_is_loaded(install):
    names = ("metric", "comma", "option", "offered")
    install("jury", {name: f"jury_files:{name}" for name in names})
    with pytest.warns(RuntimeWarning) as said:
        assert {*names} & {*table.all_formats()} == {"offered"}
    assert {str(each.message) for each in said} == {
        "format metric of jury 1.0 is left out: no metric 'acuracy'; did you mean 'accuracy'?",
        "format comma of jury 1.0 is left out: metrics is 'accuracy'; expected names, such as ('accuracy',)",
        "format option of jury 1.0 is left out: read has no option 'lowcase'; did you mean 'lowercase'?",
    }


def test_formats_of_one_name_are_refused(install, files):
    install("jury", {"votes": POINTS["votes"]})
    install("other", {"votes": POINTS["votes"]})
    with pytest.warns(RuntimeWarning, match="another package adds one of that name"):
        assert "votes" not in table.all_formats()


def test_the_page_of_formats_names_the_package(install, capsys):
    from sigjax.cli import _run

    install("jury", {"votes": POINTS["votes"]})
    _run(["help", "formats"], debug=True)
    assert "votes of a jury (of jury 1.0)" in capsys.readouterr().out


def test_no_other_format_is_imported(files):
    code = "import sys, sigjax; sigjax.read(sys.argv[1]); print(*(name for name in sys.modules if 'sigjax.' in name))"
    run = [sys.executable, "-c", code, str(files["t.tsv"])]
    loaded = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    families = {name for name in loaded if name.startswith("sigjax.formats.")}
    assert families == {"sigjax.formats.table", "sigjax.formats.reading"}
    assert not {"sigjax.readers.frames", "sigjax.readers.saved", "sigjax.readers.json_files"}.intersection(loaded)
