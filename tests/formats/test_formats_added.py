"""Formats of other packages, added by a wheel: read like ours; what is wrong with one is said in one line."""

import subprocess
import sys
import zipfile

import pytest

import sigjax
from sigjax.formats import declarations
from sigjax.records import InputError

RECORD = """
from sigjax.formats import Format, looks_like

VOTES = Format(
    "votes", "votes of a jury", "systems", "jury_files.reader:read_votes", looks_like(rb"^VOTES\\n"), ("accuracy",)
)
LOST = Format("lost", "a reader that is not there", "systems", "nowhere:read", looks_like(rb"^LOST"))
FOLDED = Format(
    "folded", "votes of a jury, by town", "systems", "jury_files.reader:read_towns", looks_like(rb"^VOTES\\n"),
    ("accuracy",), folder="*.votes", tasks=True,
)
TSV = Format("tsv", "tables of a jury", "file", "jury_files.reader:read_votes", looks_like())
"""
READER = """
import os

import numpy as np

from sigjax.readers import Sheet, join_sheets, read_lines
from sigjax.formats import declarations
from sigjax.records import InputError


def read_votes(sources, options):
    sheets = []
    for name, file in sources.chosen(options).items():
        _, *votes = read_lines(file)
        if not {*votes} <= {"yes", "no"}:
            raise InputError(f"{file}: expected votes, yes or no")
        sheets.append(Sheet(name, file, {"value": np.array([vote == "yes" for vote in votes], float)}))
    return join_sheets(sheets, options)


def read_towns(sources, options):
    tasks = {}
    for name, files in sources.parts.items():
        for file in files:
            values = np.array([vote == "yes" for vote in read_lines(file)[1:]], float)
            tasks.setdefault(os.path.basename(file), []).append(Sheet(name, file, {"value": values}))
    readings = {task: join_sheets(sheets, options) for task, sheets in tasks.items()}
    return lambda options: {task: reading(options) for task, reading in readings.items()}


"""
POINTS = {
    "votes": "jury_files:VOTES",
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
            lines = [f"[{declarations.GROUP}]", *(f"{name} = {value}" for name, value in points.items())]
            about = {
                "METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
                "entry_points.txt": "\n".join(lines),
            }
            for name, content in about.items():
                archive.writestr(f"{package}-1.0.dist-info/{name}", content)
        monkeypatch.syspath_prepend(path)

    declarations.added_formats.cache_clear()
    yield wheel
    declarations.added_formats.cache_clear()
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


def test_a_format_has_several_tasks_in_folders(install, tmp_path):
    towns = {"a": ("yes\nno", "no\nno\nyes"), "b": ("no\nno", "yes\nno\nyes")}
    files = [tmp_path / system / f"{town}.votes" for system in towns for town in ("graz", "linz")]
    for file, votes in zip(files, [each for own in towns.values() for each in own], strict=True):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"VOTES\n{votes}\n")
    install("jury", {"folded": "jury_files:FOLDED"})
    report = sigjax.compare([tmp_path / "a", tmp_path / "b"], device="numpy")
    assert {each.name for each in report.systems} == {"a", "b"}
    assert {"graz.votes: accuracy", "linz.votes: accuracy"} <= {pair.metric for pair in report}
    assert [note for note in report.notes if "package" in note] == [
        "graz.votes: accuracy, linz.votes: accuracy: read as folded by the package jury 1.0"
    ]


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
    assert sigjax.read(files["t.tsv"]).systems == ("A", "B")
    assert evaluation.num_instances == 3
    messages = [str(each.message) for each in said]
    assert all("\n" not in message for message in messages)
    expected = (
        "format tsv of jury 1.0 is left out: sigjax has a format of that name; rename it",
        "format absent of jury 1.0 is left out: ModuleNotFoundError: No module named 'jury_files.nothing'",
        "format number of jury 1.0 is left out: math:pi is float; expected a sigjax.formats.Format",
        "format renamed of jury 1.0 is left out: its Format is named 'votes'; name both alike",
    )
    assert {*expected} <= {*messages}
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        sigjax.read(files["a.lost"], files["b.lost"], reader="lost")


def test_formats_of_one_name_are_refused(install, files):
    install("jury", {"votes": POINTS["votes"]})
    install("other", {"votes": POINTS["votes"]})
    with pytest.warns(RuntimeWarning, match="another package adds one of that name"):
        assert "votes" not in declarations.all_formats()


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
    assert families == {"sigjax.formats.declarations", "sigjax.formats.reading"}
    assert not {"sigjax.readers.frames", "sigjax.readers.saved", "sigjax.readers.json_files"}.intersection(loaded)
