"""The command line: the contract, the exit codes, and one line for each error."""

import inspect
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from importlib import import_module
from typing import get_args

import cyclopts
import pytest

import sigjax
from sigjax.cli import COMMANDS, _run
from sigjax.cli.failures import OTHER_OPTIONS
from sigjax.cli.options import HIDDEN, OUTPUTS, REPORTS, STUDIES, WRITTEN_BY, text_options
from sigjax.metrics import known_metric

LONG = "system\tid\tok\tsys\tref\n" + "".join(
    f"{name}\tq{i}\t{min(i % shift, 2)}\t{2 + i % 2}\t{2 + i % 3}\n"
    for name, shift in (("A", 3), ("B", 4))
    for i in range(40)
)


@pytest.fixture
def wide(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("id\tA\tB\tC\n" + "".join(f"q{i}\t{i % 2}\t{i % 3 % 2}\t{i % 2}\n" for i in range(40)))
    return path


@pytest.fixture
def long(tmp_path):
    path = tmp_path / "long.tsv"
    path.write_text(LONG)
    return path


def run(capsys, *arguments):
    code = _run([str(a) for a in arguments], debug=False)
    out, err = capsys.readouterr()
    return code, out, err


def test_json_by_the_contract(capsys, wide):
    code, out, err = run(capsys, "compare", wide, "-m", "accuracy", "--format", "json", "--resamples", "500")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert (
        " ".join(report)
        == "schema settings signature versions notes lower_is_better headlines systems pairs statistics checksum"
    )
    assert report["schema"] == "sigjax/1"
    assert [(p["a"], p["b"]) for p in report["pairs"]] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert report["pairs"][1]["p_value"] == 1.0
    assert report == json.loads(sigjax.compare(sigjax.read(wide, metric="accuracy"), resamples=500).to_json())


def test_statistics_have_one_ending(capsys, wide, tmp_path):
    """Another name would hide what the file is from every command that reads it."""
    for name in ("eval.csv", "eval.md", "eval"):
        code, out, err = run(capsys, "extract", wide, "-o", tmp_path / name)
        assert (code, out) == (2, "")
        assert "extract writes statistics as .npz; name the file so" in err
        assert not (tmp_path / name).exists()


@pytest.mark.slow
def test_the_ending_of_each_output_is_its_format(capsys, wide, tmp_path):
    files = {f"results{end}": name for name in REPORTS for end in OUTPUTS[name].endings} | {"R.HTML": "html"}
    outputs = [word for name in files for word in ("-o", tmp_path / name)]
    code, out, err = run(capsys, "compare", wide, *outputs, "--leaderboard")
    written = f"Written: {', '.join(str(tmp_path / name) for name in [*files, 'results.methods.bib'])}\n"
    assert (code, out, err[:22], err[-len(written) :]) == (0, "", "mean on 40 instances, ", written)
    assert run(capsys, "compare", wide, *outputs, "--leaderboard", "-q") == (0, "", "")
    for name, format in files.items():
        assert (
            run(capsys, "compare", wide, "--format", format, "--leaderboard", "--verbose")[1]
            == (tmp_path / name).read_text()
        )
    for short, format in (("md", "markdown"), ("tex", "latex")):
        assert run(capsys, "compare", wide, "--format", short)[1] == run(capsys, "compare", wide, "--format", format)[1]
    plain = tmp_path / "report"
    assert run(capsys, "compare", wide, "-o", plain, "--format", "json")[0] == 0
    assert json.loads(plain.read_text())["schema"] == "sigjax/1"


_FIRSTS = [OUTPUTS[name].endings[0] for name in REPORTS if OUTPUTS[name].broader is None]
ENDINGS = {
    "compare -o a.json --format tex": "a.json: its ending says json, but --format says latex; leave --format out",
    "compare -o a.json -o a.xyz": f"a.xyz: its ending names no format; expected one of {', '.join(_FIRSTS)}",
    "compare -o a.json -o ./a.json": "a.json: is given twice for --output; give another --output",
    "compare -o a.json -o {folder}/a.json": "a.json: is given twice for --output; give another --output",
    "classical -o a.bib": f"a.bib: this command does not write bibtex; expected one of {', '.join(STUDIES)} (",
    "classical -o a.json --format text": "a.json: its ending says json, but --format says text",
    "flips --format methods": f"(methods is {WRITTEN_BY})",
}


@pytest.mark.parametrize(("words", "message"), ENDINGS.items(), ids=ENDINGS)
def test_endings_that_say_nothing_or_something_else_are_refused(capsys, wide, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    command, *options = words.format(folder=tmp_path).split()
    code, out, err = run(capsys, command, wide, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["table.tsv"]


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_terminals_have_colours_but_for_no_color_and_dumb_ones(monkeypatch, environment, colored):
    """As https://no-color.org says: not where NO_COLOR is there and not empty."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sigjax.cli.options.is_terminal", lambda _: True)
    assert text_options(to_file=False)["color"] is colored
    assert not text_options(to_file=True)["color"]


def test_each_format_is_written_by_every_command():
    """Of studies all; what is of pairs and papers by the commands that make reports, as refusals say."""
    commands = dict(zip(COMMANDS, map(import_command, COMMANDS), strict=True))
    of_reports = {name for name, choices in commands.items() if "bibtex" in choices}
    assert of_reports == {"compare", "demo", "merge", "show"}
    assert all(name in of_reports for name in WRITTEN_BY.removeprefix("written by ").replace(" and ", ", ").split(", "))
    known = {name for format, each in OUTPUTS.items() for name in (format, each.short) if name}
    others = {name: choices for name, choices in commands.items() if choices and name not in {*of_reports, "doctor"}}
    assert {*others} >= {"diff", "flips", "monitor", "power", "rank", "unpaired"}
    for name, choices in others.items():
        assert choices == known - {name for name in known if OUTPUTS.get(name, OUTPUTS["bibtex"]).of_reports} | {
            "md",
            "tex",
        }, name
    for name in of_reports:
        assert commands[name] == known


def import_command(name):
    """The formats that a command takes."""
    module, _, function = COMMANDS[name][1].partition(":")
    parameters = getattr(import_module(f"sigjax.cli.{module}"), function)
    found = [] if isinstance(parameters, cyclopts.App) else inspect.signature(parameters).parameters.values()
    chosen = [
        get_args(part) for each in found if each.name == "format" for part in get_args(each.annotation.__origin__)
    ]
    return {value for values in chosen for value in values}


def test_a_folder_in_place_of_outputs_is_named_with_its_files(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    for name in ("ref.txt", "out/a.txt", "out/b.txt"):
        (tmp_path / name).write_text("a b c d e\n" * 4)
    _, _, err = run(capsys, "compare", "ref.txt", "-i", "out", "-m", "bleu")
    assert err == "sigjax: error: out: is a folder; give its files: -i out/*.txt\n"
    (tmp_path / "out" / "c.hyp").write_text("a\n")
    assert run(capsys, "compare", "ref.txt", "-i", "out", "-m", "ter")[2].endswith("give its files: -i out/*\n")
    assert "logs named as their programs do; give its files: out/*\n" in run(capsys, "compare", "out")[2]


@pytest.mark.parametrize(("written", "number"), [("1e3", 1000), ("2.5E+2", 250), ("1_000", 1000), ("300", 300)])
def test_whole_numbers_may_be_written_as_powers_of_ten(capsys, wide, written, number):
    _, out, _ = run(capsys, "compare", wide, "--resamples", written, "--format", "json")
    assert json.loads(out)["settings"]["resamples"] == number


@pytest.mark.parametrize("written", ["1e-3", "1.25e1", "1e999999999", "inf", "nan", "1e", "e5", "1.0"])
def test_other_numbers_are_refused(capsys, wide, written):
    code, _, err = run(capsys, "compare", wide, "--resamples", written)
    assert (code, err) == (
        2,
        f"sigjax: error: Invalid value for --resamples: expected a whole number or auto, got {written!r}\n",
    )


def test_help_has_the_options_of_compare_in_groups_and_the_ten_that_matter_first(capsys):
    """What is an option of the function is an option of the command, but for those of Python alone."""
    code, out, _ = run(capsys, "compare", "--help-all")
    flags = re.findall(r"^│ (--[a-z-]+)", out, re.MULTILINE)
    panels = re.findall(r"^╭─ ([A-Z][a-z ]+) ─", out, re.MULTILINE)
    options = [p.name for p in inspect.signature(sigjax.compare).parameters.values() if p.kind is p.KEYWORD_ONLY]
    expected = {f"--{name.replace('_', '-')}" for name in options if name not in HIDDEN}
    assert (code, expected - set(flags)) == (0, set())
    groups = ["Main options", "Input", "Test", "Many pairs", "Intervals", "Output", "Running"]
    assert panels == ["Arguments", *groups]
    main = ["input", "metric", "test", "resamples", "seed", "baseline", "correction", "interval", "format", "output"]
    assert flags[:10] == [f"--{name}" for name in main]


BAD = {
    "no file": (["compare", "nothing.tsv"], "nothing.tsv"),
    "no argument": (["compare"], "no file is given"),
    "unknown command": (["compere"], "compare"),
    "unknown option": (["compare", "{wide}", "--tset", "bootstrap"], "--tset"),
    "unknown metric": (["compare", "{wide}", "-m", "bleau"], "unknown metric 'bleau'; did you mean 'bleu'?"),
    "short metric": (["compare", "{wide}", "-m", "acc"], "unknown metric 'acc'; did you mean 'accuracy'?"),
    "metric in capitals": (["compare", "{wide}", "-m", "BLEU"], "metric 'bleu' is of texts, and this is a table"),
    "metric of sacrebleu": (["compare", "{wide}", "-m", "chrF2"], "metric 'chrf' is of texts, and this is a table"),
    "metrics between commas": (
        ["compare", "{wide}", "-m", "mean,Accuracy"],
        "'mean,Accuracy'; write -m mean accuracy;",
    ),
    "two words of a metric": (["compare", "{wide}", "-m", "macro-f1"], "'macro-f1'; did you mean 'macro-fscore'?"),
    "a negated metric": (["compare", "{wide}", "-m", "neg_mean_squared_error"], "it is -1 times 'mse': give that"),
    "misspelt metric": (["compare", "{wide}", "-m", "acuracy"], "unknown metric 'acuracy'; did you mean 'accuracy'?"),
    "alpha": (
        ["compare", "{wide}", "--alpha", "0.01"],
        "Unknown option: --alpha. Did you mean --confidence-level?",
    ),
    "alpha =": (["compare", "{wide}", "--alpha=.1"], "Unknown option: --alpha. Did you mean --confidence-level?"),
    "tokenize": (["compare", "{wide}", "--tokenize=zh"], "Did you mean --metric 'bleu(tokenize=zh)'?"),
    "ci": (["compare", "{wide}", "--ci", "95%"], "Unknown option: --ci. Did you mean --confidence-level?"),
    "alpah": (["compare", "{wide}", "--alpah", "0.01"], "--alpah. Did you mean --confidence-level?"),
    "corection": (["compare", "{wide}", "--corection", "bh"], "Did you mean --correction?"),
    "nothing near": (["compare", "{wide}", "--xyzzy"], "Unknown option: --xyzzy; see --help-all"),
    "required": (["equivalence", "{wide}"], "--margin is required; see `sigjax equivalence --help`"),
    "one of two": (["power", "{wide}"], "give --instances, numbers of instances such as 100 400, or --detect"),
    "without value": (["compare", "{wide}", "--confidence-level"], "parameter --confidence-level requires an argument"),
    "option of sacrebleu": (["compare", "{wide}", "--paired-bs"], "Did you mean --test bootstrap?"),
    "unknown choice": (["compare", "{wide}", "--test", "anova"], "anova"),
    "not a number": (
        ["compare", "{wide}", "--resamples", "1.5e0"],
        "--resamples: expected a whole number or auto, got '1.5e0'",
    ),
    "not whole": (["compare", "{wide}", "--seed", "1.9"], "--seed: expected a whole number, got '1.9'"),
    "not all whole": (
        ["research", "gains", "{wide}", "--sizes", "2", "2.5"],
        "--sizes: expected a whole number, got '2.5'",
    ),
    "not all named": (["compare", "{wide}", "--counts", "tp=a", "b"], "--counts: expected NAME=COLUMN, such as"),
    "p of 0": (
        ["research", "gains", "{wide}", "--p-range", "0", "0.05"],
        "--p-range must be one or more numbers between 0",
    ),
    "slices by two fields": (
        ["slices", "{wide}", "--by", "x", "--strata", "y"],
        "slices are strata: give --by or --strata, not both",
    ),
    "a file twice": (["compare", "-i", "{wide}", "{wide}"], "is given twice; give each file once"),
    "few resamples": (["compare", "{wide}", "--resamples", "1"], "--resamples must be"),
    "counts": (["compare", "{long}", "-m", "fscore", "--counts", "tp"], "--counts: expected NAME=COLUMN"),
    "counts twice": (["compare", "{long}", "-m", "fscore", "--counts", "tp=a", "tp=b"], "names 'tp' twice"),
    "unknown column": (["compare", "{long}", "-m", "fscore", "--counts", "tp=no"], "'no'"),
    "unknown cluster": (["compare", "{wide}", "--cluster", "document"], "'document'"),
    "baseline": (["compare", "{wide}", "--baseline", "Z"], "--baseline: no system 'Z'; systems: "),
    "output": (["compare", "{wide}", "-o", "no/such/folder/out.txt", "--resamples", "50"], "cannot be written"),
    "gpu": (["compare", "{wide}", "--device", "gpu"], "device 'gpu' cannot be used"),
}


@pytest.mark.parametrize("proposed", sorted(set(OTHER_OPTIONS.values())))
def test_options_that_are_proposed_are_taken(capsys, wide, proposed):
    name, *value = shlex.split(proposed)
    if name == "--metric":
        assert known_metric(value[0])
        return
    code, _, err = run(capsys, "compare", wide, "--resamples", "99", name, *value)
    assert code == 0 if value or name == "--input" else f"parameter {name} requires an argument" in err


def test_what_is_interrupted_says_what_was_kept_and_goes_on(capsys, wide, tmp_path, monkeypatch):
    state = str(tmp_path / "run.ckpt")
    command = ["compare", wide, "--method", "montecarlo", "--resamples", "2048", "--device", "numpy"]

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr("sigjax.comparison.compare.compare", interrupt)
        assert run(capsys, *command)[::2] == (
            130,
            "\nsigjax: interrupted; nothing is kept (with --checkpoint FILE the same command would go on from where it "
            "stopped)\n",
        )
    with monkeypatch.context() as changed:
        changed.setattr("sigjax.comparison.compare.Report", interrupt)
        code, _, err = run(capsys, *command, "--checkpoint", state)
    kept = "mean permutation 2,048 resamples"
    assert (code, err) == (130, f"\nsigjax: interrupted; {state} keeps {kept}; the same command goes on from there\n")
    code, _, err = run(capsys, *command, "--checkpoint", state)
    assert (code, err) == (0, f"sigjax: goes on from {state}: {kept}\n")
    code, _, err = run(capsys, *command, "--checkpoint", state, "--seed", "1")
    refused = f"sigjax: error: {state}: the checkpoint is of another run: seed is 12345 there and 1 here;"
    assert (code, err.count("\n"), err.startswith(refused)) == (2, 1, True)


def test_a_forgotten_input_option_is_asked_about(capsys, tmp_path):
    files = [str(tmp_path / name) for name in ("gold.txt", "a.txt", "b.txt")]
    for file in files:
        pathlib.Path(file).write_text("the cat sat\na dog ran\n", encoding="utf-8")
    code, _, err = run(capsys, "compare", *files)
    assert code == 2
    command = re.search(r"write sigjax (compare .* -m bleu) \(", err)[1]
    assert command.split() == ["compare", files[0], "-i", *files[1:], "-m", "bleu"]
    assert run(capsys, *command.split())[::2] == (0, "")


@pytest.mark.parametrize(
    "command",
    [
        ["classical", "{0}", "-o", "{0}"],
        ["equivalence", "{0}", "--margin", "1", "-o", "{0}"],
        ["one-sample", "{0}", "--against", "1", "-o", "{0}"],
        ["unpaired", "{0}", "--overlap", "-o", "{0}"],
        ["research", "audit", "{0}", "--repetitions", "2", "-o", "{0}"],
        ["research", "audit", "{0}", "--repetitions", "2", "--figure", "{0}"],
        ["power", "{0}", "--instances", "3", "--repetitions", "2", "-o", "{0}"],
        ["compare", "{0}", "--cluster", "{1}", "-o", "{1}"],
    ],
    ids=" ".join,
)
def test_no_command_writes_over_what_it_reads(capsys, tmp_path, command):
    table, labels = tmp_path / "t.tsv", tmp_path / "labels.txt"
    table.write_text("id\tA\tB\n" + "".join(f"q{i}\t{i % 2}\t{i % 3}\n" for i in range(6)))
    labels.write_text("x\ny\nz\nx\ny\nz\n")
    before = table.read_bytes(), labels.read_bytes()
    code, out, err = run(capsys, *(each.format(table, labels) for each in command))
    assert (code, out) == (2, "")
    assert "is read and would be written over" in err
    assert (table.read_bytes(), labels.read_bytes()) == before


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_code_two(capsys, wide, long, arguments, message):
    code, out, err = run(capsys, *(a.format(wide=wide, long=long) for a in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("sigjax: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_failure_is_one_line_and_code_one(capsys, wide, monkeypatch):
    def fail(*args, **options):
        raise ZeroDivisionError("of course")

    monkeypatch.setattr("sigjax.comparison.compare.compare", fail)
    code, _, err = run(capsys, "compare", wide)
    assert code == 1
    assert err == "sigjax: error: ZeroDivisionError: of course (--debug shows where)\n"
    with pytest.raises(ZeroDivisionError):
        _run(["compare", str(wide)], debug=True)


def test_as_a_module_and_into_a_closed_pipe(wide):
    command = f"{sys.executable} -m sigjax compare {wide} --resamples 200 --format json | head -c 10"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert done.stdout == '{\n  "schem'
    assert done.stderr == ""
    assert done.returncode == 0
    version = subprocess.run([sys.executable, "-m", "sigjax", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() == sigjax.__version__


def into_nothing(*words, also_stderr=False):
    """The exit code of a command whose reader has left before it writes."""
    reader, writer = os.pipe()
    os.close(reader)
    errors = writer if also_stderr else subprocess.PIPE
    command = [sys.executable, "-m", "sigjax", *map(str, words)]
    done = subprocess.run(command, stdout=writer, stderr=errors, check=False)
    os.close(writer)
    assert also_stderr or done.stderr == b""
    return done.returncode


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """Commands whose exit code is a verdict, with a code that is not 0."""
    folder = tmp_path_factory.mktemp("verdicts")
    table, other, nothing = folder / "t.tsv", folder / "other.tsv", folder / "n.tsv"
    table.write_text("id\tA\tB\n" + "".join(f"q{i}\t{int(i % 5 > 0)}\t{i % 2}\n" for i in range(40)))
    other.write_text("id\tA\tB\n" + "".join(f"q{i}\t{int(i % 5 == 0)}\t{i % 2}\n" for i in range(40)))
    nothing.write_text("just\nwords\n")
    reports = [folder / "old.json", folder / "new.json"]
    for data, report in zip((table, other), reports, strict=True):
        sigjax.compare(data, read={"metric": "accuracy"}, progress=False).to_json(report)
    return {
        "monitor": (3, ["monitor", table, "-m", "accuracy", "--correction", "holm", "--only", "B", "A"]),
        "diff": (3, ["diff", *reports, "--margin", "0.01"]),
        "verify": (3, ["verify", reports[0], other]),
        "doctor": (2, ["doctor", nothing]),
        "compare": (0, ["compare", table]),
        "help": (0, ["help", "stopping"]),
    }


@pytest.mark.parametrize("name", ["monitor", "diff", "verify", "doctor", "compare", "help"])
@pytest.mark.slow
def test_a_reader_that_leaves_changes_no_exit_code(verdicts, name, tmp_path):
    code, words = verdicts[name]
    assert into_nothing(*words) == code
    with_stderr = into_nothing(*words, also_stderr=True)
    assert with_stderr == code or (code and with_stderr == 141)
    if name in ("monitor", "diff"):
        assert into_nothing(*words, "-o", "/dev/stdout") in (code, 141)
        assert into_nothing(*words, "--format", "json", "-o", tmp_path / "out.json", "-o", "/dev/stdout") in (code, 141)


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["compare", "--help"], ["monitor", "--help-all"]])
def test_a_reader_of_options_that_leaves_is_no_failure(words):
    assert into_nothing(*words) in (0, 141)


def test_names_that_begin_with_a_hyphen(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("t.csv").write_text("id,-a,B,-c\nx,1,0,1\ny,0,1,1\nz,1,0,0\n")
    for given in ("--only -a B", "--only B -a"):
        assert run(capsys, *f"compare t.csv {given}".split()) == (
            2,
            "",
            "sigjax: error: Unknown option: -a; see --help-all; if it is a name, write --only=-a\n",
        )
    code, out, err = run(capsys, *"compare t.csv --baseline -a".split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith(" requires an argument; if it is a name, write --baseline=-a\n")
    for given, systems in (("--only=-a --only=-c", {"-a", "-c"}), ("--only=-a B", {"-a", "B"})):
        code, out, _ = run(capsys, *f"compare t.csv {given} --format json".split())
        assert (code, {system["name"] for system in json.loads(out)["systems"]}) == (0, systems)
    assert run(capsys, *"compare t.csv -x".split())[2] == "sigjax: error: Unknown option: -x; see --help-all\n"


LONG_INPUT = {
    "a name": ("id,A," + "x" * 200_000 + "\nx,1,oops\n", ""),
    "names in words": ("id,A," + "x y " * 50_000 + "\nx,1,oops\n", ""),
    "control characters": ("id,A," + "\x1b" * 800 + "\nx,1,oops\n", ""),
    "a number": ("id,A,B\nx,1," + "9" * 5000 + "\n", ""),
    "a condition": ("id,A,B\nx,1,2\n", "--where " + "A==5|or|" * 20_000 + "A==6"),
    "an option": ("id,A,B\nx,1,2\n", "--resamples " + "9" * 5_000 + "x"),
    "a file": ("id,A,B\nx,1,2\n", "-i " + "y" * 3_000),
    "a metric": ("id,A,B\nx,1,2\n", "-m " + "y" * 3_000),
}


@pytest.mark.parametrize("name", LONG_INPUT)
@pytest.mark.slow
def test_messages_repeat_no_long_input(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    content, options = LONG_INPUT[name]
    pathlib.Path("t.csv").write_text(content)
    given = [each.replace("|", " ") for each in options.split(" ") if each]
    code, out, err = run(capsys, "compare", "t.csv", *given)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert len(err) <= len("sigjax: error: \n") + 900
