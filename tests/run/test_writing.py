"""Files are written whole or not at all, in places that were checked before the work."""

import errno
import json
import os
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from sigjax import Evaluation, InputError, compare
from sigjax.cli import _run
from sigjax.run.files import check_writable, remove_leftovers, replacing

EVERY_WRITER = """
import json, os, resource, signal, sys, warnings
from pathlib import Path
import numpy as np
from sigjax import Evaluation, InputError
from sigjax.run.shards import Shard, ShardFile, Tally
from sigjax.cli.options import write_figure, write_text
from sigjax.metrics.texts import store_stats

class Figure:
    def savefig(self, file, **options):
        file.write(bytes(9000))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
warnings.simplefilter("ignore")
arrays = {name: np.random.default_rng(1).random(9000) for name in "AB"}
kept, large = ShardFile(Shard({}), "run.ckpt"), np.arange(9000)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))  # the disk is full
said = {}
for name, write in {
    "report.txt": lambda: write_text("new" * 9000, "text", Path("report.txt")),
    "figure.png": lambda: write_figure(Figure(), Path("figure.png")),
    "eval.npz": lambda: Evaluation.from_arrays(arrays).save("eval.npz"),
    "run.ckpt": lambda: kept.save(("a",), Tally(0, 1, {"x": large}), finished=True),
    "k.npz": lambda: store_stats("k", np.random.default_rng(1).integers(9000, size=(90, 90))),
}.items():
    try:
        said[name] = write()
    except InputError as error:
        said[name] = str(error)
print(json.dumps(said))
"""


def test_a_full_disk_leaves_old_files_and_nothing_else(tmp_path):
    for name in ("report.txt", "figure.png", "eval.npz", "k.npz"):
        (tmp_path / name).write_text("old")
    environment = os.environ | {"SIGJAX_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", EVERY_WRITER], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "report.txt": "report.txt: cannot be written (File too large); give another file",
        "figure.png": "figure.png: cannot be written (File too large); give another --figure",
        "eval.npz": "eval.npz: cannot be written (File too large); give another file",
        "run.ckpt": None,  # the run goes on, with a warning
        "k.npz": None,
    }
    assert sorted(os.listdir(tmp_path)) == ["eval.npz", "figure.png", "k.npz", "report.txt", "run.ckpt"]
    assert {path.read_text() for path in tmp_path.iterdir() if path.name != "run.ckpt"} == {"old"}
    with np.load(tmp_path / "run.ckpt", allow_pickle=False) as archive:
        assert archive.files == ["header"]


def test_what_stops_a_writer_leaves_the_old_file(tmp_path):
    def stopped():
        with replacing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert (os.listdir(tmp_path), path.read_text()) == (["x"], "old")


def test_what_a_kill_has_left_is_removed_when_it_is_old(tmp_path):
    old, new, other = (tmp_path / name for name in (".[x].0123abcd.tmp", ".[x].4567abcd.tmp", ".[x]y.0123abcd.tmp"))
    for path in (old, new, other):
        path.write_text("half")
    for path in (old, other):
        os.utime(path, (time.time() - 7200,) * 2)
    remove_leftovers(tmp_path / "[x]")
    assert sorted(tmp_path.iterdir()) == sorted([new, other])  # the first may still be written


def test_modes_are_kept_and_links_are_followed(tmp_path):
    real, link, missing, new = (tmp_path / name for name in ("real", "link", "missing", "new"))
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to("real")
    missing.symlink_to("made")
    os.umask(before := os.umask(0o022))
    for path in (link, missing, new):
        with replacing(path) as file:
            file.write(b"content")
    assert (link.is_symlink(), real.read_text(), stat.S_IMODE(real.stat().st_mode)) == (True, "content", 0o640)
    assert (missing.is_symlink(), (tmp_path / "made").read_text()) == (True, "content")
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~before
    assert len(os.listdir(tmp_path)) == 5


def test_a_file_that_must_not_be_written_stays(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda file, mode: file != path)  # the tests may be run by root
    with pytest.raises(InputError, match=r"x: cannot be written \(Permission denied\)"):
        check_writable(path)
    with pytest.raises(PermissionError), replacing(path):
        pass
    assert path.read_text() == "old"


@pytest.mark.parametrize("cause", ["the folder is read-only", "mounted by itself"])
def test_files_that_cannot_be_replaced_are_written(tmp_path, monkeypatch, cause):
    def busy(*_):
        raise OSError(errno.EBUSY, "Device or resource busy")

    path = tmp_path / "x"
    path.write_text("old and longer")
    if cause == "mounted by itself":
        monkeypatch.setattr(os, "replace", busy)
    else:
        monkeypatch.setattr(os, "access", lambda file, mode: file != tmp_path)
        monkeypatch.setattr(os, "open", busy)
    check_writable(path)
    with replacing(path) as file:
        file.write(b"new")
    assert (os.listdir(tmp_path), path.read_text()) == (["x"], "new")


DESCRIPTORS = """
import sys
from sigjax.run.files import check_writable, replacing
for name in sys.argv[1:]:
    check_writable(name)
    with replacing(name) as file:
        file.write(b"report\\n")
"""


def test_standard_output_devices_and_pipes_are_written_directly(tmp_path):
    """A file that standard output goes to is neither replaced nor written from its start."""
    script, out = tmp_path / "script.py", tmp_path / "out"
    script.write_text(DESCRIPTORS)
    run = f"{sys.executable} {script}"
    command = f"""
    out={out}
    (echo first; {run} /dev/stdout /dev/null /proc/self/fd/1 >(sed s/^/piped-/ > {out}.pipe); echo last) > $out
    {run} /dev/stdout | sed s/^/one-/ >> $out
    {run} /dev/fd/1 >> $out
    """
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "")
    assert out.read_text().split() == ["first", "report", "report", "last", "one-report", "report"]
    assert (tmp_path / "out.pipe").read_text() == "piped-report\n"
    assert sorted(os.listdir(tmp_path)) == ["out", "out.pipe", "script.py"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table, its evaluation, a report and a named pipe that nobody uses; no comparison may begin."""

    def begun(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.tsv").write_text("id\tA\tB\n" + "".join(f"q{i}\t{i % 2}\t{i % 3}\n" for i in range(9)))
    (tmp_path / "old.json").write_text("{}")
    (tmp_path / "labels").write_text("x\n" * 9)
    (tmp_path / "link").symlink_to("old.json")
    (tmp_path / "later").symlink_to("new")
    os.mkfifo(tmp_path / "fifo")
    for place in ("comparison.compare.compare", "cli.options.read_data", "cli.info.read"):
        monkeypatch.setattr(f"sigjax.{place}", begun)
    return tmp_path


PIPE = "cannot be written (is a named pipe or a device, not a file); give another file"
MISSING = "cannot be written (No such file or directory); give another file"
REFUSED = {
    "compare t.tsv -o none/x": f"none/x: {MISSING}",
    "compare t.tsv --checkpoint none/x": f"none/x: {MISSING}",
    "demo -o none/x": f"none/x: {MISSING}",
    "extract t.tsv -o none/x": f"none/x: {MISSING}",
    "classical t.tsv -o none/x": f"none/x: {MISSING}",
    "research audit t.tsv --figure none/x.png": f"none/x.png: {MISSING}",
    "power t.tsv --instances 9 --figure none/x.png": f"none/x.png: {MISSING}",
    "equivalence t.tsv --margin 1 -o none/x": f"none/x: {MISSING}",
    "compare t.tsv -o t.tsv/x": "t.tsv/x: cannot be written (Not a directory); give another file",
    **{
        f"compare t.tsv {option} a\0b.png": r"a\x00b.png: cannot be written (the name holds a NUL character)"
        for option in ("-o", "--figure", "--checkpoint")
    },
    "compare t.tsv -o .": ".: cannot be written (Is a directory); give another file",
    "compare t.tsv -o fifo": f"fifo: {PIPE}",
    "compare t.tsv --checkpoint fifo": f"fifo: {PIPE}",
    "compare t.tsv -o new --checkpoint new": "new: is given for --output and for --checkpoint; give another",
    "compare t.tsv -o later --checkpoint ./new": "new: is given for --output and for --checkpoint",
    "research audit t.tsv -o new --figure new": "new: is given for --output and for --figure; give another --figure",
    "compare t.tsv --checkpoint t.tsv": "t.tsv: is read and would be written over; give another --checkpoint",
    "compare t.tsv --cluster labels --checkpoint labels": "labels: is read and would be written over",
    "compare t.tsv --extend old.json --checkpoint link": "link: is read and would be written over",
    "compare t.tsv --extend link -o old.json": "old.json: is read and would be written over; give another --output",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_be_written_is_refused_before_the_work(folder, capsys, command):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert _run(command.split(), debug=False) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"sigjax: error: {REFUSED[command]}")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("file", ["/dev/zero", "fifo"])
@pytest.mark.parametrize("option", ["extend", "checkpoint"])
def test_devices_and_named_pipes_are_not_read(tmp_path, monkeypatch, file, option):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    evaluation = Evaluation.from_arrays({"A": [1, 0], "B": [0, 1]})
    with pytest.raises(InputError, match=f"^{file}: is a device or a named pipe; expected a file"):
        compare(evaluation, **{option: file})


def test_streams_that_the_shell_has_closed_do_not_end_in_files(tmp_path):
    """The first file that is opened would be descriptor 1 or 2, to which libraries write."""
    table, output = tmp_path / "t.tsv", tmp_path / "out.json"
    table.write_text("id\tA\tB\n" + "".join(f"q{i}\t{i % 2}\t{i % 3 % 2}\n" for i in range(9)))
    code = "import os; from sigjax.cli import main; import sigjax.cli.options as o; r = o._room; "
    code += "o._room = lambda *a: (os.write(1, b'noise'), os.write(2, b'noise'), r(*a))[2]; main()"
    command = f'{sys.executable} -c "{code}" compare {table} --device numpy --format json -o {output}'
    subprocess.run(["bash", "-c", f"{command} <&- >&- 2>&-"], check=True, env=os.environ)
    assert output.read_text() == compare(table, device="numpy").to_json()
