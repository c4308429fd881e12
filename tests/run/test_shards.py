"""A run in shards, made anywhere and in any order, gives the report of one process, byte by byte."""

import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from oracles import random_counts
from runs import FSCORE, OTHERS, RUNS, report

from sigjax import Evaluation, InputError, compare
from sigjax.cli import _run
from sigjax.comparison.compare import make_shard
from sigjax.guide import markdown
from sigjax.records import Settings
from sigjax.run import shards
from sigjax.run.shards import Shard, merge_shards, read_shard

FIXED = [name for name in RUNS if name != "until decided"]
BOTH = ("-m", "fscore", "--test", "permutation", "bootstrap", "--method", "montecarlo", "--resamples", "3001")
ROOT = Path(__file__).parents[2]


class Here(Executor):
    """Does at once, in this process, what it is given, the last one first."""

    def __init__(self):
        self.waiting = []

    def submit(self, function, /, *args, **named):
        future = Future()
        self.waiting.append((future, function, args, named))
        future.result = lambda: self.work() or Future.result(future)
        return future

    def work(self):
        while self.waiting:
            future, function, args, named = self.waiting.pop()
            future.set_result(function(*args, **named))


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Five systems."""
    path = tmp_path_factory.mktemp("shards") / "parsers.tsv"
    rows = [
        f"{name}\t{i}\t{tp}\t{predicted}\t{gold}"
        for name, counts in random_counts(np.random.default_rng(1), 5, 70).items()
        for i, (tp, predicted, gold) in enumerate(np.asarray(counts).tolist())
    ]
    path.write_text("system\tid\ttp\tpredicted\tgold\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def sigjax_command(*arguments):
    """Run a command as the shell would, so that it knows its own words."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "sigjax", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def run_here(*arguments):
    assert _run(list(map(str, arguments)), debug=True) == 0


def make(table, *shards, count, options=BOTH):
    for index in shards:
        run_here("compare", table, *options, "--shard", f"{index}/{count}", "-o", f"shard-{index}.npz", "-q")
    return [f"shard-{index}.npz" for index in shards]


@pytest.mark.parametrize("count", [*(pytest.param(each, marks=pytest.mark.slow) for each in (1, 2)), 7])
@pytest.mark.parametrize("name", FIXED)
def test_shards_give_the_report_of_one_process(name, count):
    assert report(name, executor=Here(), shards=count) == report(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXED)
def test_processes_and_devices_give_the_report_of_one(name, processes):
    assert report(name, executor=processes, shards=5, device="cpu") == report(name)


def test_threads_give_the_report_of_one():
    with ThreadPoolExecutor(2) as executor:
        assert report("both tests of two metrics", executor=executor) == report("both tests of two metrics")


def test_an_extended_report_is_made_in_shards():
    old = compare(FSCORE, resamples=500, method="montecarlo", interval="none")
    more = {"resamples": 2001, "method": "montecarlo", "interval": "none"}
    assert compare(FSCORE, **more, extend=old, executor=Here(), shards=3) == compare(FSCORE, **more)


def test_pairs_on_their_own_instances_are_sampled_in_shards():
    numbers = {name: {f"i{i}": float(i * (k + 3) % 7) for i in range(12 + k)} for k, name in enumerate(("A", "B", "C"))}
    data = Evaluation.from_arrays(numbers, missing="pairwise")
    options = {"method": "montecarlo", "resamples": 1000, "test": ["permutation", "bootstrap"]}
    assert compare(data, **options, executor=Here(), shards=3).to_json() == compare(data, **options).to_json()


KILLED = """
import os, sys
from sigjax.cli import main
from sigjax.run import shards
shards._SECONDS, shards._FRACTION = 0.0, 1e9
write, left = shards.ShardFile._write, [int(sys.argv[1])]
def count(self):
    write(self)
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)
shards.ShardFile._write = count
main(sys.argv[2:])
"""


@pytest.mark.slow
def test_a_hundred_shards_of_which_some_are_killed_and_some_are_made_twice(table, processes, tmp_path):
    """In random order, two at a time."""
    chance, count = random.Random(3), 100
    options = [*BOTH[:-1], "40001"]
    run_here("compare", table, *options, "-o", "one.json", "-q")
    twice = [(index, "again") for index in chance.sample(range(1, count + 1), 8)]
    todo = [*((index, "shard") for index in range(1, count + 1)), *twice]
    chance.shuffle(todo)
    words = [
        ["compare", str(table), *options, "--shard", f"{index}/{count}", "-o", str(tmp_path / f"{name}-{index}.npz")]
        for index, name in todo
    ]
    assert set(processes.map(_run_quietly, words[10:])) == {0}
    killed = words[:10]
    for command in killed:
        code = subprocess.run(
            [sys.executable, "-c", KILLED, str(chance.randrange(1, 4)), *command, "-q"],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            check=False,
        ).returncode
        assert code == 9
    files = sorted(map(str, tmp_path.glob("*.npz")), key=lambda _: chance.random())
    done = sigjax_command("merge", *files, "-o", "merged.json")
    assert done.returncode == 2
    assert re.search(r"shard \d+ is not finished; make shard \d+: sigjax |is no shard", done.stderr)
    assert set(processes.map(_run_quietly, killed)) == {0}
    run_here("merge", *files, "-o", "merged.json", "-q")
    assert Path("merged.json").read_bytes() == Path("one.json").read_bytes()


def _run_quietly(words):
    return _run([*words, "-q"], debug=True)


def test_merge_adds_shards_in_any_order_and_counts_doubles_once(table, capsys):
    run_here("compare", table, *BOTH, "-o", "one.json", "-q")
    files = make(table, 1, 2, 3, count=3)
    shutil.copy("shard-2.npz", "copy.npz")
    for number, order in enumerate(itertools.permutations([*files, "copy.npz"])):
        if number % 7 == 0:
            run_here("merge", *order, "-o", "merged.json", "-q")
            assert Path("merged.json").read_bytes() == Path("one.json").read_bytes()
    assert "is shard 2 once more, as" in capsys.readouterr().err


def test_what_is_missing_is_named_with_the_command_that_makes_it(table):
    command = ["compare", table, *BOTH, "--shard", "02/3", "--output=my shard-02.npz", "-q"]
    assert sigjax_command(*command).stderr == ""
    done = sigjax_command("merge", "my shard-02.npz", "-o", "merged.json")
    assert done.returncode == 2
    assert done.stderr.endswith(
        f"of 3 shards are missing: 1, 3; make shard 1: sigjax compare {table} {' '.join(BOTH)} -q --shard 1/3 "
        "-o 'my shard-01.npz'\n"
    )


def test_a_shard_that_was_stopped_goes_on(table, monkeypatch):
    monkeypatch.setattr(shards, "_SECONDS", 0.0)
    monkeypatch.setattr(shards, "_FRACTION", 1e9)
    run_here("compare", table, *BOTH, "-o", "one.json", "-q")
    (file,) = make(table, 1, count=2)
    code = subprocess.run(
        [sys.executable, "-c", KILLED, "3", "compare", table, *BOTH, "--shard", "2/2", "-o", "shard-2.npz", "-q"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    ).returncode
    assert code == 9
    assert not read_shard("shard-2.npz").is_finished
    with pytest.raises(InputError, match=r"shard-2\.npz: shard 2 is not finished"):
        run_here("merge", file, "shard-2.npz")
    reached = sum(tally.done - tally.start for tally in read_shard("shard-2.npz").tallies.values())
    assert reached > 0
    make(table, 2, count=2)
    run_here("merge", file, "shard-2.npz", "-o", "merged.json", "-q")
    assert Path("merged.json").read_bytes() == Path("one.json").read_bytes()


@pytest.mark.parametrize("message", OTHERS)
def test_shards_of_other_data_and_settings_are_refused(message):
    evaluation, options = OTHERS[message]
    settings = Settings(**{"resamples": 500, "method": "montecarlo", "interval": "none"})
    first = make_shard([FSCORE], settings, 1, 2)
    data = evaluation if isinstance(evaluation, list) else [evaluation]
    other = make_shard(data, replace(settings, **options), 2, 2)
    words = message.replace(" there", " in a.npz").replace(" here", " in b.npz")
    with pytest.raises(InputError, match="b.npz: is of another run than a.npz") as caught:
        merge_shards([("a.npz", first), ("b.npz", other)])
    assert words in str(caught.value)


def test_shards_that_do_not_fit_are_refused(monkeypatch):
    settings = Settings(resamples=500, method="montecarlo", interval="none")
    first, second, third = (make_shard([FSCORE], settings, index, 3) for index in (1, 2, 3))
    other = make_shard([FSCORE], settings, 1, 2)
    key = next(key for key, tally in second.tallies.items() if tally.done > tally.start)
    tally = second.tallies[key]
    counts = {"counts": tally.arrays["counts"] + 1}
    changed = replace(second, tallies=second.tallies | {key: replace(tally, arrays=counts)})
    later, earlier = (
        replace(second, tallies=second.tallies | {key: replace(tally, start=tally.start + by)}) for by in (1, -1)
    )
    monkeypatch.setattr(shards, "__version__", "0.0.7")
    newer = make_shard([FSCORE], settings, 2, 3)
    for wrong, message in [
        ((other,), "the number of shards is 3 in a and 2 in b"),
        ((newer,), r"sigjax is .* in a and 0\.0\.7 in b"),
        ((second, changed), "c: is shard 2, as b is, with other numbers"),
        ((replace(second, is_finished=False),), "b: shard 2 is not finished"),
        ((later, third), "do not follow each other"),
        ((earlier, third), "do not follow each other"),
        ((third,), "of 3 shards are missing: 2; make shard 2"),
    ]:
        with pytest.raises(InputError, match=message):
            merge_shards(list(zip("abc", (first, *wrong), strict=False)))


def test_merge_refuses_data_that_have_changed(table):
    path = Path("changed.tsv")
    path.write_text(table.read_text(encoding="utf-8"), encoding="utf-8")
    files = make(path, 1, 2, count=2)
    path.write_text(re.sub(r"(s0\t3\t.*)", r"\g<1>0", path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(InputError, match=r"shard-1\.npz: the shard is of another run: the data"):
        run_here("merge", *files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--shard 3/2 -o s.npz", "--shard must be K/N with K from 1 to N, such as 2/5, got '3/2'"),
        ("--shard 0/2 -o s.npz", "--shard must be K/N"),
        ("--shard two -o s.npz", "--shard must be K/N"),
        ("--shard 1/2", "give -o shard-1.npz alone"),
        ("--shard 1/2 -o s.json", "give -o shard-1.npz alone"),
        ("--shard 1/2 -o s.npz --checkpoint c", "leave --checkpoint out"),
        ("--shard 1/2 -o s.npz --resamples auto", "which shards cannot; give a number"),
        ("--shard 1/2000 -o s.npz --resamples 1999", "expected 1 to 1,999 shards of 1,999 resamples, got 2,000"),
        ("--coordinator a:1", "Did you mean --shard?"),
        ("--num-processes 2", "Did you mean --shard?"),
        ("--process-id 0", "Did you mean --shard?"),
    ],
)
def test_options_that_cannot_be_used(table, arguments, message, capsys):
    assert _run(["compare", str(table), "-m", "fscore", *arguments.split()], debug=False) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("files", [["-"], ["scores.tsv", "-"], ["gold.txt", "-i", "a.txt", "/dev/fd/9"]])
def test_standard_input_is_no_file_of_a_shard(files, capsys):
    assert _run(["compare", *files, "--shard", "1/2", "-o", "s.npz"], debug=False) == 2
    assert "--shard needs files" in capsys.readouterr().err


def test_an_interrupted_shard_says_how_to_go_on(table):
    arguments = [table, *BOTH[:-1], str(10**9), "--device", "numpy", "--shard", "1/2", "-o", "s.npz"]
    command = [sys.executable, "-m", "sigjax", "compare", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not os.path.exists("s.npz") and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        error = process.communicate()[1]
    assert "s.npz keeps" in error
    assert "the same command goes on from there" in error


def test_executors_that_cannot_be_used():
    for options, message in (
        ({"executor": 3}, "executor must have submit"),
        ({"executor": Here(), "checkpoint": "c"}, "leave it out, or the executor"),
        ({"executor": Here(), "shards": 0}, "shards must be a whole number from 1"),
        ({"executor": Here(), "shards": 501}, "expected 1 to 500 shards"),
        ({"executor": Here(), "shards": 2, "resamples": "auto"}, "which shards cannot"),
    ):
        with pytest.raises(InputError, match=message):
            compare(FSCORE, **{"resamples": 500} | options)


def test_an_error_of_a_shard_is_that_of_the_report():
    """A score that is not finite on one resample only."""
    values = {"A": np.r_[1.0, np.zeros(9)], "B": np.ones(10)}
    few = Evaluation.from_arrays(values, metric=lambda sums: sums[..., 0] / (sums[..., 0] - 4.0))
    with pytest.raises(InputError, match="not a finite number for 'A'"):
        compare(few, test="bootstrap", method="montecarlo", resamples=300, executor=Here(), shards=2)


def test_shards_are_all_of_the_work_once():
    for count in (1, 2, 3, 7):
        parts = [Shard({}, index, count).of(range(5, 105)) for index in range(1, count + 1)]
        assert [each for part in parts for each in part] == list(range(5, 105))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_statistics_of_different_instances_become_those_of_one_file(tmp_path):
    lines = ["id\tgroup\tA\tB", *(f"q{i}\tg{i // 3}\t{i % 2}\t{i % 3 == 0:d}" for i in range(30))]
    for name, rows in {"all": lines[1:], "one": lines[1:13], "two": lines[13:]}.items():
        Path(f"{name}.tsv").write_text("\n".join([lines[0], *rows]) + "\n", encoding="utf-8")
        run_here("extract", f"{name}.tsv", "-m", "accuracy", "--cluster", "group", "-o", f"{name}.npz")
    run_here("merge", "one.npz", "two.npz", "-o", "joined.npz")
    assert Path("joined.npz").read_bytes() == Path("all.npz").read_bytes()
    run_here("extract", "two.tsv", "-m", "accuracy", "--cluster", "group", "--only", "B", "-o", "less.npz")
    run_here("extract", "two.tsv", "-m", "accuracy", "--ignore", "group", "-o", "plain.npz")
    for other, message in {
        "all.npz": r"all\.npz: instance 'q0' is in one\.npz, too",
        "less.npz": r"less\.npz: has other systems",
        "plain.npz": r"plain\.npz: has other kinds of labels",
    }.items():
        with pytest.raises(InputError, match=message):
            run_here("merge", "one.npz", other, "-o", "wrong.npz")
    make("all.tsv", 1, count=2, options=("--ignore", "group"))
    with pytest.raises(InputError, match="is no file of `sigjax extract`"):
        run_here("merge", "shard-1.npz", "-o", "wrong.npz")
    with pytest.raises(InputError, match="is no shard"):
        run_here("merge", "one.npz", "-o", "wrong.json")


RECIPES = {
    re.search(r"SBATCH|for k|dask|mpi4py|ProcessPool|1/2|part-1", text)[0]: text
    for text in re.findall(r"^```\w+\n(.*?)^```$", markdown("distributed"), re.M | re.S)
}
"""The examples of the page, by words in them."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the file and the command of the recipes, and the report of one process."""
    numbers = np.random.default_rng(2).normal(size=(40, 3))
    rows = [f"q{i}\t{a}\t{b}\t{c}\n" for i, (a, b, c) in enumerate(numbers.tolist())]
    Path("runs.tsv").write_text("id\tA\tB\tC\n" + "".join(rows), encoding="utf-8")
    command = tmp_path / "bin" / "sigjax"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m sigjax "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    run_here("compare", "runs.tsv", "--test", "bootstrap", "-o", "one.json", "-q")
    assert json.loads(Path("one.json").read_text(encoding="utf-8"))["pairs"][0]["method"] == "montecarlo"
    return tmp_path


def in_shell(text, **environment):
    subprocess.run(["bash", "-ec", text], env=os.environ | environment, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("recipe", ["1/2", "SBATCH", "for k"])
def test_recipes_of_the_shell(recipe):
    """An array of SLURM runs its script once per task, each with its number."""
    for task in range(1, 5 if recipe == "SBATCH" else 2):
        in_shell(RECIPES[recipe], SLURM_ARRAY_TASK_ID=str(task))
    in_shell(RECIPES["1/2"].splitlines()[-1])
    assert Path("report.json").read_bytes() == Path("one.json").read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("recipe", ["ProcessPool", "dask", "mpi4py"])
def test_recipes_of_python(recipe):
    start = [sys.executable]
    if recipe == "dask":
        pytest.importorskip("distributed")
    if recipe == "mpi4py":
        pytest.importorskip("mpi4py")
        start = ["mpiexec", "-n", "2", "--oversubscribe", "--allow-run-as-root", *start, "-m", "mpi4py.futures"]
    script = Path("script.py")
    text = RECIPES[recipe].replace('"runs.tsv", ', '"runs.tsv", test="bootstrap", ')
    script.write_text(f'{text}\n    open("report.json", "w").write(report.to_json() + "\\n")\n', encoding="utf-8")
    subprocess.run([*start, script], check=True, timeout=200)
    assert json.loads(script.with_name("report.json").read_text()) == json.loads(Path("one.json").read_text())
