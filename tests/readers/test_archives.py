"""Damaged .npz archives: whoever reads them gets the arrays that were written, or a refusal, and nothing in between."""

import io
from zipfile import ZipFile

import numpy as np
import pytest

from sigjax import Evaluation, InputError, read
from sigjax.metrics import texts
from sigjax.readers.saved import load_npz

CHANCE = np.random.default_rng(4)
SAVED = {"A": CHANCE.integers(0, 2, 6), "B": CHANCE.random(6), "ids": np.array(list("uvwxyz")), "clusters": [1, 2] * 3}


def written(save, **arrays):
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()


def flipped(content):
    """The content with one bit changed, for every bit."""
    for index in range(len(content)):
        for bit in range(8):
            yield content[:index] + bytes([content[index] ^ 1 << bit]) + content[index + 1 :]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.slow
def test_no_changed_bit_changes_or_loses_an_array(save):
    ends = set()
    for content in flipped(written(save, **SAVED)):
        try:
            arrays = load_npz("t.npz", content)
        except InputError:
            ends.add("refused")
            continue
        assert arrays.keys() == SAVED.keys()
        assert all(np.array_equal(arrays[name], SAVED[name]) for name in SAVED)
        ends.add("read")
    assert ends == {"read", "refused"}  # dates, for example, do not matter


def test_a_directory_without_its_last_entry_is_refused(tmp_path):
    """The entry before it says that its comment is as long as the last entry: zipfile and NumPy see no clusters."""
    content = bytearray(written(np.savez, **SAVED))
    entries = [i for i in range(len(content)) if content.startswith(b"PK\x01\x02", i)]
    last = content.index(b"PK\x05\x06") - entries[-1]
    content[entries[-2] + 32 : entries[-2] + 34] = last.to_bytes(2, "little")
    with np.load(io.BytesIO(bytes(content))) as archive:
        assert archive.files == ["A", "B", "ids"]
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"t\.npz: .* the directory of the archive lacks an entry"):
        read(tmp_path / "t.npz")


@pytest.mark.slow
def test_no_changed_bit_changes_what_the_cache_holds(tmp_path, monkeypatch):
    monkeypatch.setenv("SIGJAX_CACHE_DIR", str(tmp_path))
    key, stats = "ab" * 32, CHANCE.integers(0, 30, (3, 18))
    texts.store_stats(key, stats)
    path = tmp_path / f"{key}.npz"
    assert np.array_equal(texts.load_stats(key, stats.shape), stats)
    found = 0
    for content in flipped(path.read_bytes()):
        path.write_bytes(content)
        kept = texts.load_stats(key, stats.shape)
        assert kept is None or np.array_equal(kept, stats)
        found += kept is not None
    assert found > 0


def test_the_cache_looks_at_checksums(tmp_path, monkeypatch):
    """A shorter header moves all numbers; NumPy stops before the end of the entry, where the checksum is compared."""
    monkeypatch.setenv("SIGJAX_CACHE_DIR", str(tmp_path))
    key, stats = "ab" * 32, CHANCE.integers(0, 2**62, (4000, 18))
    texts.store_stats(key, stats)
    assert np.array_equal(texts.load_stats(key, stats.shape), stats)
    path = tmp_path / f"{key}.npz"
    with ZipFile(path) as archive:
        right, kept, content = archive.getinfo("stats.npy"), archive.read("key.npy"), archive.read("stats.npy")
    length = int.from_bytes(content[8:10], "little")
    assert content[length - 6 : length + 9] == b" " * 15
    with ZipFile(path, "w") as archive:
        archive.writestr("key.npy", kept)
        archive.writestr("stats.npy", content[:8] + (length - 16).to_bytes(2, "little") + content[10:])
        wrong = archive.getinfo("stats.npy")
    path.write_bytes(path.read_bytes().replace(wrong.CRC.to_bytes(4, "little"), right.CRC.to_bytes(4, "little")))
    with np.load(path) as archive:
        assert archive["stats"].shape == stats.shape
        assert archive["stats"][0, 0] == int.from_bytes(b" " * 8, "little")
    assert texts.load_stats(key, stats.shape) is None


def test_archives_of_other_programs_are_read(tmp_path):
    """A stream that cannot be rewound has the size of an entry behind it."""

    class Stream(io.RawIOBase):
        def __init__(self):
            self.written = b""

        def writable(self):
            return True

        def write(self, content):
            self.written += bytes(content)
            return len(content)

    stream = Stream()
    np.savez(stream, **SAVED)
    (tmp_path / "t.npz").write_bytes(stream.written)
    evaluation = read(tmp_path / "t.npz")
    assert isinstance(evaluation, Evaluation)
    assert evaluation.clusters == ("1", "2") * 3
