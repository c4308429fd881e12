"""Counts of texts, extracted once and kept in the user's cache folder, one .npz file (no pickle) per system.

Its name is a hash of everything that the counts depend on, so that an entry is never out of date. Files appear whole or
not at all, even when several processes write. A folder that cannot be used, or a damaged file, only means that the
texts are counted again.
"""

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from sigjax.files.writing import replacing
from sigjax.metrics.extract import extract_stats, num_workers
from sigjax.metrics.registry import TEXT_METRICS
from sigjax.metrics.textmetric import Recipe
from sigjax.run.host import progress_bar

_SCHEMA = "sigjax-texts/2"
"""Part of every key; to be changed when the counts of the same texts change."""


def inputs_of_texts(
    recipe: Recipe,
    signature: str,
    references: list[list[str]],
    systems: list[list[str]],
    *,
    cache: bool,
    progress: bool,
) -> list[np.ndarray]:
    """Inputs of the metric `[segment, input]` for each system: from the cache, or extracted."""
    counted = TEXT_METRICS[recipe.metric]
    keys = _keys(recipe, signature, references, systems)
    shape = len(references[0]), len(counted.metric.inputs)
    kept = {key: load_stats(key, shape, counted.dtype) if cache else None for key in keys}
    left = {key: texts for key, texts in zip(keys, systems, strict=True) if kept[key] is None}
    if left:
        todo = list(left.values())
        workers = num_workers(recipe.metric, references, todo)
        with progress_bar(f"{recipe.metric} of texts", len(todo) * shape[0], shown=progress) as advance:
            found = extract_stats(recipe, references, todo, workers=workers, advance=advance)
        for key, inputs in zip(left, found, strict=True):
            kept[key] = inputs
            if cache:
                store_stats(key, inputs)
    return [inputs for key in keys if (inputs := kept[key]) is not None]


def _keys(recipe: Recipe, signature: str, references: list[list[str]], systems: list[list[str]]) -> list[str]:
    """The key of each system: a hash of everything that its counts depend on."""
    made = [_SCHEMA, recipe.metric, recipe.tokenize or "", recipe.case, signature]
    common = hashlib.sha256(b"".join(_framed(texts) for texts in (made, *references)))
    keys = []
    for texts in systems:
        whole = common.copy()
        whole.update(_framed(texts))
        keys.append(whole.hexdigest())
    return keys


def _framed(texts: list[str]) -> bytes:
    """Texts with their number and lengths, so that no two lists look alike."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"%d;" % len(texts) + b"".join(b"%d:%b" % (len(each), each) for each in encoded)


def cache_folder() -> Path | None:
    """`$SIGJAX_CACHE_DIR`, or `sigjax` where this operating system keeps caches; None if there is no home folder."""
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
    """The numbers `[segment, stat]` kept under a key; None without a file of this shape and type, all from 0."""
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
