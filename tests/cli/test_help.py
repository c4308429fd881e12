"""`--help`, `--help-all`, `info` and TAB: every option, metric and format is found there, and every example works."""

import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from sigjax.cli import _run
from sigjax.cli.app import COMMANDS, EXAMPLES, RARE, app

STUDIES = [("study", name) for name in app(["study"])["study"] if name[0] != "-"]
EVERY = [(command,) for command in sorted({*COMMANDS} - {"study"})] + STUDIES


def page(capsys, *arguments):
    assert _run(list(arguments), debug=False) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    return out


def flags(out):
    return re.findall(r"^│ (?:[* ]  )?(--[a-z-]+)", out, re.MULTILINE)


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_help_leaves_out_rare_options_and_says_where_they_are(capsys, command):
    few, every = (page(capsys, *command, flag) for flag in ("--help", "--help-all"))
    rare = [flag for flag in flags(every) if flag in RARE]
    assert flags(few) == [flag for flag in flags(every) if flag not in RARE]
    told = re.search(r"^(\d+) more options?: sigjax (.*) --help-all$", few, re.MULTILINE)
    assert told is None if not rare else (int(told[1]), told[2]) == (len(rare), " ".join(command))
    assert "--help-all" not in every


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    rows = "".join(f"q{i}\t{int(i % 4 > 0)}\t{int(i % 3 > 0)}\t{i % 2}\n" for i in range(40))
    (folder / "scores.tsv").write_text("id\tA\tB\tC\n" + rows)
    for name, verb in (("ref", "sat on"), ("a", "sat by"), ("b", "sits at")):
        (folder / f"{name}.txt").write_text("".join(f"The cat {verb} mat number {i} .\n" for i in range(8)))
    for name, step in (("gold", 2), ("a", 3)):
        (folder / f"{name}.labels").write_text("".join(f"{'yes' if i % step else 'no'}\n" for i in range(30)))
    for name, count in (("old", 30), ("new", 20)):
        (folder / f"{name}.scores").write_text("".join(f"{i % 5}\n" for i in range(count)))
    return folder


@pytest.mark.parametrize("example", sorted(itertools.chain(*map(dict.values, EXAMPLES.values()))))
def test_examples_work_as_they_stand_and_without_utf8(capsys, folder, monkeypatch, example):
    monkeypatch.chdir(folder)
    for name in re.findall(r"(?:report|old|new)\.(?:json|npz)", example):
        if not (folder / name).exists():
            command = "compare" if name.endswith(".json") else "extract"
            assert _run([command, "scores.tsv", "-o", name], debug=False) == 0
    program, *arguments = shlex.split(example)
    with monkeypatch.context() as patch:  # a terminal that shows nothing but ASCII
        patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace"))
        code = _run(arguments, debug=False)
        sys.stdout.flush()
        shown = sys.stdout.buffer.getvalue().decode("ascii")
    assert (program, code, capsys.readouterr().err) == ("sigjax", 0, "")
    assert not re.search(r"\\x[89a-f]|\\u[0-9a-f]{4}", shown)
    command = "" if example in EXAMPLES[""].values() else arguments[0]
    assert f"\n  {example}\n" in page(capsys, *filter(None, [command]), "--help")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_tab_completes_commands_options_and_values(folder, tmp_path):
    """The script for bash answers what a person types; it runs nothing of ours."""
    code = (
        "from sigjax.cli import _run; raise SystemExit(_run(['--install-completion', '--shell', 'bash'], debug=True))"
    )
    environment = os.environ | {"HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    script = tmp_path / ".local/share/bash-completion/completions/sigjax"
    assert str(script) in (tmp_path / ".bashrc").read_text()
    typed = {
        "sigjax comp": ["compare"],
        "sigjax study ga": ["gains"],
        "sigjax compare --corr": ["--correction"],
        "sigjax compare --correction b": ["bh", "bonferroni", "by"],
        "sigjax compare scores.tsv -m chr": ["chrf", "chrf++"],
        "sigjax compare scores.tsv -m rougeLs": ["rougeLsum", "rougeLsum(stem=true)"],
        "sigjax compare --reader con": ["conll", "conll-gold", "conllu"],
        "sigjax compare ref.txt -i a.": ["a.labels", "a.txt"],
        "sigjax compare ref.txt -i a.txt b.": ["b.txt"],
        "sigjax info f": ["formats"],
    }
    asked = "".join(
        f"COMP_WORDS=({line}); COMP_CWORD={len(line.split()) - 1}; COMPREPLY=(); _sigjax; echo ${{COMPREPLY[@]}}\n"
        for line in typed
    )
    bash = [str(shutil.which("bash")), "--norc", "-c", f". {shlex.quote(str(script))}\n{asked}"]
    done = subprocess.run(bash, cwd=folder, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=True)
    answers = [sorted(line.replace("\\", "").split()) for line in done.stdout.splitlines()]
    assert dict(zip(typed, answers, strict=True)) == typed
