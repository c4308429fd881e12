"""Progress: who sees it, that it takes one line and nothing else, and that stdout is the same with and without it."""

import io
import os
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from sigjax import Evaluation
from sigjax.cli import app
from sigjax.metrics import texts
from sigjax.run import context
from sigjax.run.context import progress_bar, with_progress
from sigjax.studies import STUDIES

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COMMAND = "import sigjax.run.context as c; c._DELAY = c._REDRAWN = 0.01; from sigjax.cli import main; main()"
"""The command line, which draws without delay."""


def terminal(monkeypatch):
    """A terminal as stderr, on which progress is drawn at once. (What a fixture made of stderr, pytest would undo.)"""
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(context, "_DELAY", 0.0)
    monkeypatch.setattr(context, "_REDRAWN", 0.005)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return stream


def wait_for(shown, stream, seconds=20.0):
    """Work until a stream has these words."""
    end = time.monotonic() + seconds
    while shown not in stream.getvalue():
        assert time.monotonic() < end, f"{shown} is not in {stream.getvalue()!r}"
        time.sleep(0.005)


def notebook(monkeypatch, *, kernel):
    """Have IPython run this, in a kernel of Jupyter or in a terminal; what a cell shows."""
    cell = io.StringIO()
    shell = SimpleNamespace(kernel=None) if kernel else SimpleNamespace()
    handle = SimpleNamespace(update=lambda shown: cell.write(f"{shown}\n"))
    display = SimpleNamespace(HTML=str, display=lambda shown, display_id: handle)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return cell


def test_bars_take_turns_on_one_line_which_goes(monkeypatch):
    stream = terminal(monkeypatch)
    with progress_bar("compare", visible=True):
        wait_for("compare", stream)
        with progress_bar("[b] exact tests", 10_000, visible=True) as advance:
            wait_for("[b] exact tests", stream)
            advance(1_234)
            wait_for("1,234 of 10,000", stream)
            print("a warning", file=sys.stderr)
        with progress_bar("bootstrap", 5, visible=True, compiles=True):
            wait_for("compiling", stream)
        with progress_bar("secret", 10, visible=False) as advance:
            advance(10)
    shown = stream.getvalue()
    drawn = [line.strip() for line in re.split("[\r\n]+", ESCAPES.sub("", shown)) if line.strip()]
    labels = "compare", "[b] exact tests", "bootstrap", "a warning"
    assert {tuple(label for label in labels if label in line) for line in drawn} == {(label,) for label in labels}
    assert drawn.count("a warning") == 1
    assert "secret" not in shown
    assert shown.endswith("\x1b[2K")
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1  # the cursor is back


def test_an_error_ends_the_line(monkeypatch):
    stream = terminal(monkeypatch)
    with pytest.raises(AssertionError, match="nothing"), progress_bar("compare", visible=True):
        wait_for("nothing", stream, seconds=0.5)
    assert stream.getvalue().endswith("\x1b[2K")
    assert not context._STEPS


def test_long_work_says_on_a_pipe_what_it_does_and_what_to_do(monkeypatch):
    """TER of seven systems took eight silent minutes in a log."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("sigjax.run.context._LONG", 0.05)
    for visible, long, advice in ((True, False, "wait"), (False, True, "wait"), (True, True, ""), (True, True, "wait")):
        assert stream.getvalue() == ""
        with progress_bar("ter of texts", 3_899, visible=visible, advice=advice) as advance:
            advance(1)
            time.sleep(0.3 * long)
    assert stream.getvalue() == "sigjax: still at ter of texts (3,899) after 0 s; wait\n"


def test_texts_that_take_long_to_count_point_to_extract(monkeypatch, capsys):
    slow = texts.extract_stats

    def slower(*args, **options):
        time.sleep(0.3)
        return slow(*args, **options)

    monkeypatch.setattr(texts, "extract_stats", slower)
    monkeypatch.setattr("sigjax.run.context._LONG", 0.05)
    options = {"metric": "wer", "cache": False}
    Evaluation.from_texts({"A": ["a b"], "B": ["a c"]}, ["a b"], **options)
    assert "still at wer of texts (2) after 0 s; `sigjax extract` counts once" in capsys.readouterr().err
    Evaluation.from_texts({"A": ["a b"], "B": ["a c"]}, ["a b"], progress=False, **options)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("delay", "is_terminal"), [(1.0, True), (0.0, False)])
def test_short_work_and_other_streams_show_nothing(monkeypatch, delay, is_terminal):
    stream = terminal(monkeypatch)
    monkeypatch.setattr(context, "_DELAY", delay)
    stream.isatty = lambda: is_terminal
    with progress_bar("compare", visible=True):
        time.sleep(0.05)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("kernel", [True, False])
def test_a_notebook_shows_it_in_the_cell_and_ipython_in_the_terminal(monkeypatch, kernel):
    stream = terminal(monkeypatch)
    cell = notebook(monkeypatch, kernel=kernel)
    with progress_bar("a <b>", 10, visible=True) as advance:
        advance(3)
        wait_for("3 of 10", cell if kernel else stream)
    bar = 'a &lt;b&gt; <progress value="3" max="10" aria-label="a &lt;b&gt;"></progress> 3 of 10'
    assert cell.getvalue().endswith(f"{bar}\n\n") is kernel
    assert (stream.getvalue() == "") is kernel


def test_every_front_door_with_progress_can_be_quiet():
    """Its options take `progress`, and its command --quiet."""
    for name, study in STUDIES.items():
        command = app(["research", name] if study.research else [name])
        page = command["research"][name] if study.research else command[name]
        flags = {flag for argument in page.assemble_argument_collection() for flag in argument.names}
        assert "--quiet" in flags, name
        if name == "diff" or (code := study.load(study.functions[0]).__wrapped__.__code__) is None:
            continue
        if code.co_filename == with_progress.__code__.co_filename:
            assert hasattr(study.load(study.options), "progress"), name
    for name in ("compare", "extract", "doctor", "verify", "demo", "show"):
        assert "--quiet" in {flag for each in app([name])[name].assemble_argument_collection() for flag in each.names}


def in_pty(*arguments, cwd):
    """A command with a terminal as stderr: what it shows there, and its stdout."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    command, shown = [sys.executable, "-c", COMMAND, *map(str, arguments)], b""
    with (
        open(cwd / "stdout", "w+b") as out,
        subprocess.Popen(command, stdout=out, stderr=theirs, cwd=cwd, env=environment) as process,
    ):
        os.close(theirs)
        while True:
            try:
                shown += os.read(ours, 2**16)
            except OSError:  # nobody has the other end any more
                break
    os.close(ours)
    assert process.returncode == 0, shown
    return ESCAPES.sub("", shown.decode()), (cwd / "stdout").read_bytes()


@pytest.mark.slow
def test_commands_show_progress_and_write_the_same_bytes(tmp_path):
    rows = (f"{i}\t{i % 7 / 3}\t{i % 5 / 7}\t{i % 3 / 11}\n" for i in range(200))
    (tmp_path / "t.tsv").write_text("id\tA\tB\tC\n" + "".join(rows))
    many = "compare t.tsv --method montecarlo --resamples 400000 --device numpy --format json".split()
    shown, out = in_pty(*many, cwd=tmp_path)
    assert "mean permutation" in shown
    assert "of 400,000" in shown
    assert in_pty(*many, "--quiet", cwd=tmp_path) == ("", out)
    written = in_pty("extract", "t.tsv", "-o", "t.npz", cwd=tmp_path)
    assert (written[0].endswith("mean on 200 instances, 3 systems\r\nWritten: t.npz\r\n"), written[1]) == (True, b"")
    assert in_pty("extract", "t.tsv", "-o", "t.npz", "-q", cwd=tmp_path) == ("", b"")
