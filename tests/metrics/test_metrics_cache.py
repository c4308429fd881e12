"""What is kept between runs: used where it is right, ignored where it is not, and never in the way."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from corpora import GOLD, OUTPUTS, stats_of
from mutations import arrays as npz

from sigjax import Evaluation
from sigjax.metrics import texts as counts


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SIGJAX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def count_calls(monkeypatch):
    """The texts that sacrebleu is asked for from now on."""
    asked, original = [], counts.extract_stats

    def counting(recipe, references, systems, **options):
        asked.extend(systems)
        return original(recipe, references, systems, **options)

    monkeypatch.setattr(counts, "extract_stats", counting)
    return asked


def test_what_is_kept_is_not_computed_again(folder, monkeypatch):
    asked = count_calls(monkeypatch)
    first = stats_of()
    assert asked == list(OUTPUTS.values())
    assert len(list(folder.iterdir())) == 2
    np.testing.assert_array_equal(stats_of(), first)
    assert len(asked) == 2
    changed = OUTPUTS | {"B": [*OUTPUTS["B"][:-1], ""]}
    Evaluation.from_texts(changed, GOLD, metric="chrf")
    assert asked[2:] == [changed["B"]]


def test_keys_depend_on_everything(folder, monkeypatch):
    asked = count_calls(monkeypatch)
    frames = [
        (OUTPUTS, GOLD, "chrf"),
        (OUTPUTS, GOLD, "chrf++"),
        (OUTPUTS, GOLD, "bleu"),
        (OUTPUTS, [*GOLD[:-1], ""], "bleu"),
        (OUTPUTS, [GOLD, GOLD], "bleu"),
        ({"A": ["ab", "c"], "B": ["a", "bc"]}, ["abc", "abc"], "bleu"),
        ({"A": ["1:a", ""], "B": ["", "1:a"]}, ["abc", "abc"], "bleu"),
    ]
    for systems, references, metric in frames:
        Evaluation.from_texts(systems, references, metric=metric)
    assert len(asked) == len(list(folder.iterdir())) == 2 * len(frames)
    monkeypatch.setattr(sacrebleu.metrics.base, "__version__", "2.99.0")
    stats_of()
    assert len(asked) == 2 * len(frames) + 2


def damages(key, whole):
    """What may stand where statistics were kept."""
    right = np.zeros((4, 18), np.int64)
    return {
        "nothing": b"",
        "half": whole[: len(whole) // 2],
        "a byte": whole[:200] + bytes([whole[200] ^ 255]) + whole[201:],
        "text": b"something else",
        "a pickle": pickle.dumps(right),
        "an array": npz(stats=right),
        "objects": npz(key=np.array(key), stats=np.array([None, 1], object)),
        "another key": npz(key=np.array("f" * 64), stats=right),
        "another shape": npz(key=np.array(key), stats=right[:3]),
        "another type": npz(key=np.array(key), stats=right * 1.0),
        "below zero": npz(key=np.array(key), stats=right - 1),
    }


@pytest.mark.parametrize("kind", damages("", bytes(300)))
def test_damaged_files_are_ignored_and_written_again(folder, monkeypatch, kind):
    expected = stats_of()
    for path in folder.iterdir():
        path.write_bytes(damages(path.stem, path.read_bytes())[kind])
    asked = count_calls(monkeypatch)
    np.testing.assert_array_equal(stats_of(), expected)
    assert len(asked) == 2
    np.testing.assert_array_equal(stats_of(), expected)
    assert len(asked) == 2


def test_a_disk_that_is_full_leaves_nothing_behind(folder, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    for module, name in ((np, "savez_compressed"), (os, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, full)
            stats_of()
        assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_many_writers_and_readers(folder):
    """Whoever reads finds nothing or everything: threads here, and processes beside them."""
    stats = np.arange(40_000).reshape(-1, 10)
    code = "import numpy as np; from sigjax.metrics import texts as counts\n" + (
        "for _ in range(5): counts.store_stats('k', np.arange(40_000).reshape(-1, 10))"
    )
    others = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]

    def write_and_read(_):
        counts.store_stats("k", stats)
        found = counts.load_stats("k", stats.shape)
        return found is not None and np.array_equal(found, stats)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(write_and_read, range(20)))
    assert [other.wait() for other in others] == [0, 0]
    assert [path.name for path in folder.iterdir()] == ["k.npz"]


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/sigjax"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/somebody/.cache/sigjax"),
        ("linux", {}, "/home/somebody/.cache/sigjax"),
        ("darwin", {}, "/home/somebody/Library/Caches/sigjax"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/sigjax"),
        ("win32", {}, "/home/somebody/AppData/Local/sigjax"),
        ("linux", {"SIGJAX_CACHE_DIR": "/chosen", "XDG_CACHE_HOME": "/caches"}, "/chosen"),
    ],
)
def test_where_the_cache_is(platform, environment, expected, monkeypatch):
    for name in ("SIGJAX_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/somebody"))
    assert counts.cache_folder() == Path(expected)


def test_nobody_at_home(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("SIGJAX_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert counts.cache_folder() is None
    assert stats_of().shape == (2, 4, 18)
