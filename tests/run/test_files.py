"""Opening files: what is packed, what is no regular file, what is far too large."""

import gzip
import json
import os
import subprocess
import sys
import threading

import pytest

from sigjax.formats import read, read_data
from sigjax.records import InputError

WIDE = b"id,A,B\nx,1,0\ny,1,1\nz,0,1\n"


def test_a_gzip_bomb_is_refused(write, monkeypatch):
    monkeypatch.setattr("sigjax.run.files._LARGEST_PACKED", 2**20)
    with pytest.raises(InputError, match="t.csv.gz: .* bytes unpack to more than 1048576: this is no data"):
        read(write("t.csv.gz", gzip.compress(WIDE + bytes(2**21))))


def test_a_file_may_grow_by_a_factor_of_200(write, monkeypatch):
    monkeypatch.setattr("sigjax.run.files._LARGEST_PACKED", 2**10)
    packed = gzip.compress(WIDE + bytes(2**21))
    with pytest.raises(InputError, match=f" bytes unpack to more than {200 * len(packed)}: this is no data"):
        read(write("t.csv.gz", packed))


@pytest.mark.parametrize("name", ["/dev/null", "/dev/zero", "fifo.csv", "fifo"])
def test_devices_and_named_pipes_are_refused_at_once(here, name):
    os.mkfifo("fifo.csv")
    os.mkfifo("fifo")
    for reader in (None, "csv"):
        with pytest.raises(InputError, match=f"{name}: is a device or a named pipe; expected a file"):
            read(name, reader=reader)


@pytest.fixture
def pipe():
    """A function that writes bytes into a pipe and gives its path."""
    opened = []

    def write(data):
        reading, writing = os.pipe()
        opened.append(reading)

        def feed():
            try:
                os.write(writing, data) if len(data) < 2**16 else [os.write(writing, data) for _ in range(64)]
            except BrokenPipeError:
                pass
            finally:
                os.close(writing)

        threading.Thread(target=feed, daemon=True).start()
        return f"/dev/fd/{reading}"

    yield write
    for reading in opened:
        os.close(reading)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd")
@pytest.mark.parametrize("content", [WIDE, gzip.compress(WIDE, mtime=0)])
def test_pipes_are_read_once_and_serve_all_who_read_them(pipe, content):
    first, second = read_data(pipe(content), metrics=["mean", "accuracy"])
    assert (first.metric.name, second.metric.name) == ("mean", "accuracy")
    assert second.stats[:, :, 0].tolist() == [[1, 1, 0], [0, 1, 1]]
    path = pipe(content)
    assert read(path).ids == ("x", "y", "z")
    with pytest.raises(InputError, match="is empty"):  # what was kept is gone with the call that kept it
        read(path, reader="csv")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd")
def test_pipes_do_not_go_on_for_ever(pipe, monkeypatch):
    monkeypatch.setattr("sigjax.run.files._LARGEST_PIPE", 2**20)
    with pytest.raises(InputError, match="more than 1048576 bytes come out of this pipe"):
        read(pipe(bytes(2**16)))


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="no /dev/stdin")
@pytest.mark.parametrize(
    ("arguments", "content", "systems"),
    [
        (["-"], WIDE, ["A", "B"]),
        (["-", "--seed", "7", "-m", "accuracy"], gzip.compress(WIDE, mtime=0), ["A", "B"]),
        (["n.txt", "-"], b"1\n0\n1\n", ["n", "stdin"]),
        (["t.txt", "-i", "-", "u.txt", "-m", "wer"], b"a b\nc d\n", ["stdin", "u"]),
        (["t.txt", "-m", "wer", "--input", "u.txt", "-"], b"a b\nc d\n", ["stdin", "u"]),
    ],
)
@pytest.mark.parametrize("kind", ["pipe", pytest.param("file", marks=pytest.mark.slow)])
def test_a_dash_is_standard_input(tmp_path, kind, arguments, content, systems):
    for name, lines in {"n.txt": "0\n0\n1\n", "t.txt": "a b\nc c\n", "u.txt": "a\nd\n"}.items():
        (tmp_path / name).write_text(lines)
    (tmp_path / "given").write_bytes(content)
    command = [sys.executable, "-m", "sigjax", "compare", *arguments, "--format", "json"]
    with open(tmp_path / "given", "rb") as file:
        given = {"input": content} if kind == "pipe" else {"stdin": file}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, **given)
    assert done.returncode == 0, done.stderr
    assert sorted(each["name"] for each in json.loads(done.stdout)["systems"]) == systems
