"""Statistics kept between runs in the user's cache folder, one .npz file (no pickle) for each key.

A key is the hash of everything that the statistics depend on, so an entry is never out of date. Files appear whole or
not at all, whoever else writes. A folder that cannot be used, or a file that is not what it should be, means that the
statistics are computed again; it is never an error.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from sigjax.files.writing import replacing


def cache_folder() -> Path | None:
    """`$SIGJAX_CACHE_DIR`, or `sigjax` in the place where this system keeps caches; None where there is none."""
    chosen = os.environ.get("SIGJAX_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base, "sigjax")
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / {"darwin": "Library/Caches", "win32": "AppData/Local"}.get(sys.platform, ".cache") / "sigjax"


def load_stats(key: str, shape: tuple[int, int], dtype: type = np.int64) -> np.ndarray | None:
    """The numbers `[segment, stat]` from 0 kept under a key, or None where there are none of this shape and type."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        with open(folder / f"{key}.npz", "rb") as file, np.load(file, allow_pickle=False) as archive:
            kept, stats = str(archive["key"]), archive["stats"]
    except Exception:  # NumPy and zipfile raise a dozen kinds for damaged files
        return None
    if kept != key or stats.shape != shape or stats.dtype != dtype:
        return None
    return stats if bool(np.isfinite(stats).all() and (stats >= 0).all()) else None


def store_stats(key: str, stats: np.ndarray) -> None:
    """Keep numbers `[segment, stat]` under a key, if the folder can be written."""
    folder = cache_folder()
    if folder is None:
        return
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(folder / f"{key}.npz") as file:  # the last writer wins
            np.savez_compressed(file, key=np.array(key), stats=stats)
