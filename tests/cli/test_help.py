"""`--help`, `--help-all`, and TAB: every option is found there, and every example works."""

import io
import itertools
import re
import shlex
import sys

import pytest

from sigjax.cli import COMMANDS, EXAMPLES, FLAGS, _run, app
from sigjax.cli.options import RARE
from sigjax.guide import TOPICS

STUDIES = [("research", name) for name in app(["research"])["research"] if name[0] != "-"]
EVERY = [(command,) for command in sorted({*COMMANDS} - {"research"})] + STUDIES


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


@pytest.mark.parametrize("command", ["compare", "rank", "show"])
def test_help_may_come_before_the_command(capsys, command):
    after = flags(page(capsys, command, "--help"))
    assert len(after) > 2
    assert {*after} <= {*flags(page(capsys, "--help", command))}


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
@pytest.mark.parametrize("flag", FLAGS)
def test_the_page_of_a_command_is_the_same_with_the_flag_before_or_after_it(capsys, command, flag):
    """Before the command, the page had neither examples nor the number of options that it leaves out."""
    assert page(capsys, flag, *command) == page(capsys, *command, flag)


@pytest.mark.parametrize("command", [each for each in EVERY if each != ("help",)], ids=" ".join)
def test_help_of_a_command_also_has_sentences_of_the_manual(capsys, command):
    """A word that is a command and a subject, such as rank: the help of the command, then what the pages say."""
    shown = page(capsys, "help", *command)
    assert shown.startswith(page(capsys, *command, "--help"))
    pages = shown.partition("In the manual (sigjax help TOPIC):\n")[2]
    titles = re.findall(r"^  ([a-z-]+) {2,}\S", pages, re.MULTILINE)
    assert 1 <= len(titles) <= 3
    assert {*titles} <= {*TOPICS}
    assert len(re.findall(r"^    \S", pages, re.MULTILINE)) >= len(titles)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    rows = "".join(f"q{i}\t{int(i % 4 > 0)}\t{int(i % 3 > 0)}\t{i % 2}\n" for i in range(40))
    (folder / "scores.tsv").write_text("id\tA\tB\tC\n" + rows)
    (folder / "kinds.txt").write_text("short\n" * 20 + "long\n" * 20)
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
    for kind, number in re.findall(r"(shard|part)-(\d)\.npz", example):
        if kind == "shard":
            command = ["compare", "scores.tsv", "--shard", f"{number}/2"]
        else:
            rows = (folder / "scores.tsv").read_text().splitlines(keepends=True)
            (folder / f"{number}.tsv").write_text("".join([rows[0], *rows[int(number) :: 2][:10]]))
            command = ["extract", f"{number}.tsv"]
        assert _run([*command, "-o", f"{kind}-{number}.npz"], debug=False) == 0
    capsys.readouterr()
    program, *arguments = shlex.split(example)
    with monkeypatch.context() as patch:  # a terminal that shows nothing but ASCII
        patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace"))
        code = _run(arguments, debug=False)
        sys.stdout.flush()
        shown = sys.stdout.buffer.getvalue().decode("ascii")
    said = "Written: " if "-o" in arguments or "--figure" in arguments else ""
    *_, last = ["", *capsys.readouterr().err.splitlines()]
    assert (program, code, last[: len("Written: ")]) == ("sigjax", 0, said)
    assert not re.search(r"\\x[89a-f]|\\u[0-9a-f]{4}", shown)
    command = "" if example in EXAMPLES[""].values() else arguments[0]
    command = " ".join(arguments[:2]) if command == "research" else command
    assert f"\n  {example}\n" in page(capsys, *command.split(), "--help")


def test_info_has_no_topics(capsys):
    assert _run(["info", "metrics"], debug=False) == 2
    assert "metrics" in capsys.readouterr().err
    assert "metrics" not in page(capsys, "info")
