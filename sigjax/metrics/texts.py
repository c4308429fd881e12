"""Texts become an `Evaluation`: outputs of systems and references are checked, and their counts extracted.

Segments are counted on all cores, in blocks, so that memory does not grow with the test set. Workers are subprocesses
of this interpreter that read JSON and write numbers: forks are not safe beside the threads of JAX, and the spawned
processes of `multiprocessing` would run the user's script again.

Counts are kept in the user's cache folder, one .npz file (no pickle) per system. The name of a file is a hash of
everything that the counts depend on, so that an entry is never out of date. Files appear whole or not at all, even when
several processes write. If the folder cannot be used, or if a file is damaged, the texts are counted again.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from tempfile import TemporaryFile
from typing import IO, Any, cast

import numpy as np

from sigjax.metrics.registry import TEXT_METRICS, check_mapping, evaluation_from_arrays, parameterized, unknown_metric
from sigjax.metrics.textmetric import Recipe, Texts, sacrebleu_signature
from sigjax.records import EvaluationRecord, InputError, Note
from sigjax.run.context import num_cores, progress_bar
from sigjax.run.files import cache_folder, growth_limit, read_arrays, replacing

_SCHEMA = "sigjax-texts/3"
"""The version of the counts, which is a part of every cache key. Change it if the counts of the same texts change."""
_SECONDS_PER_WORKER = 0.5
"""A worker process is started only for at least this much work, in seconds. The start takes about half of this time
(measured)."""
_MOST_CHARACTERS = 2**22
"""Largest number of characters that are counted at a time; their n-grams take about 300 bytes per character."""
_SERVE = "from sigjax.metrics.texts import serve; serve()"


def inputs_of_texts(
    recipe: Recipe,
    signature: str,
    references: list[list[str]],
    systems: list[list[str]],
    *,
    cache: bool,
    progress: bool,
) -> list[np.ndarray]:
    """Return the inputs of the metric `[segment, input]` for each system, from the cache or newly counted.

    `references` are `[reference][segment]`, and `systems` are `[system][segment]`. `signature` describes the options
    and versions on which the counts depend.
    """
    counted = TEXT_METRICS[recipe.metric]
    common = _hash([_SCHEMA, recipe.metric, recipe.tokenize or "", recipe.case, signature, *references])
    keys = [_hash([common, *texts]) for texts in systems]  # everything that the counts of a system depend on
    shape = len(references[0]), len(counted.metric.inputs)
    kept = {key: load_stats(key, shape, counted.dtype) if cache else None for key in keys}
    left = {key: texts for key, texts in zip(keys, systems, strict=True) if kept[key] is None}
    if left:
        todo = list(left.values())
        workers = num_workers(recipe.metric, references, todo)
        label, keep = f"{recipe.metric} of texts", "`sigjax extract` counts once for all commands"
        with progress_bar(label, len(todo) * shape[0], visible=progress, advice=keep) as advance:
            found = extract_stats(recipe, references, todo, workers=workers, advance=advance)
        for key, inputs in zip(left, found, strict=True):
            kept[key] = inputs
            if cache:
                store_stats(key, inputs)
    return [inputs for key in keys if (inputs := kept[key]) is not None]


def _hash(texts: list[Any]) -> str:
    """Hash a list of texts and of lists of texts, by its JSON, which differs for different lists."""
    return hashlib.sha256(json.dumps(texts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def load_stats(key: str, shape: tuple[int, int], dtype: type = np.int64) -> np.ndarray | None:
    """Return the numbers `[segment, stat]` that are cached under `key`; None if there is no valid file.

    A valid file has the given shape and type, and its numbers are finite and not negative.
    """
    folder = cache_folder()
    if folder is None:
        return None
    try:
        with open(folder / f"{key}.npz", "rb") as file:
            arrays = read_arrays(file, growth_limit(os.fstat(file.fileno()).st_size))
        kept, stats = str(arrays["key"]), arrays["stats"]
    except Exception:  # for damaged files, NumPy and zipfile raise about twelve kinds of exceptions
        return None
    fits = kept == key and stats.shape == shape and stats.dtype == dtype
    return stats if fits and np.isfinite(stats).all() and (stats >= 0).all() else None


def store_stats(key: str, stats: np.ndarray) -> None:
    """Cache numbers `[segment, stat]` under `key`; do nothing if the cache folder cannot be written."""
    folder = cache_folder()
    if folder is None:
        return
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(folder / f"{key}.npz") as file:  # if several processes write the same file, the last one wins
            np.savez_compressed(file, key=np.array(key), stats=stats)


def num_workers(metric: str, references: Texts, systems: Texts) -> int:
    """Return how many worker processes save time; 1 if the work is small."""
    characters = sum(len(text) for texts in (*references, *systems) for text in texts)
    return max(1, min(num_cores(), int(characters * TEXT_METRICS[metric].cost.seconds / _SECONDS_PER_WORKER)))


def extract_stats(
    recipe: Recipe, references: Texts, systems: Texts, *, workers: int, advance: Callable[[int], object]
) -> np.ndarray:
    """Count texts: return the inputs of the metric, `[system, segment, input]`.

    Texts are `[reference][segment]` and `[system][segment]`. With one worker, this process does the work. `advance` is
    called after each block, with the number of texts counted so far.
    """
    counted = TEXT_METRICS[recipe.metric]
    num_segments, step = len(references[0]), counted.block
    stats = np.empty((len(systems), num_segments, len(counted.metric.inputs)), np.dtype(counted.dtype))
    missing = np.ones(num_segments, bool)

    def store(segments: np.ndarray, block: np.ndarray) -> None:
        stats[:, segments] = block
        missing[segments] = False
        advance((num_segments - int(missing.sum())) * len(systems))

    if workers > 1:
        shards = [np.arange(num_segments)[worker::workers] for worker in range(workers)]
        for segments, block in _from_workers(recipe, references, systems, shards):
            store(segments, block)
    # Compute the segments that no worker has finished (all, if there are no workers). Errors are raised here.
    left = np.flatnonzero(missing)
    here = _blocks(recipe, _take(references, left), _take(systems, left))
    for first, block in zip(range(0, len(left), step), here, strict=True):
        store(left[first : first + step], block)
    return stats


def serve() -> None:
    """Run a worker: read a request from stdin and write its counts to stdout, block after block."""
    request = json.load(sys.stdin.buffer)
    answer, sys.stdout = sys.stdout.buffer, sys.stderr
    for block in _blocks(Recipe(**request["recipe"]), request["references"], request["systems"]):
        answer.write(block.tobytes())
        answer.flush()


def _blocks(recipe: Recipe, references: Texts, systems: Texts) -> Iterator[np.ndarray]:
    """Yield the inputs `[system, segment, input]` of each block of segments."""
    counted = TEXT_METRICS[recipe.metric]
    count = counted.start(recipe)
    for first in range(0, len(references[0]), counted.block):
        blocks = _slices((*references, *systems), range(first, min(first + counted.block, len(references[0]))))
        counts = [count([texts[part] for texts in references], [texts[part] for texts in systems]) for part in blocks]
        yield np.concatenate(counts, axis=1)


def _slices(texts: Texts, segments: range) -> list[slice]:
    """Divide segments into slices; a slice has at most `_MOST_CHARACTERS` characters, or is a single segment."""
    parts, size = [slice(segments.start, segments.start)], 0
    for i in segments:
        size += sum(len(each[i]) for each in texts)
        if size > _MOST_CHARACTERS and parts[-1].stop > parts[-1].start:
            parts.append(slice(i, i))
            size = sum(len(each[i]) for each in texts)
        parts[-1] = slice(parts[-1].start, i + 1)
    return parts


def _from_workers(
    recipe: Recipe, references: Texts, systems: Texts, shards: list[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (segments, counts) from several processes, each of which counts the segments of one entry of `shards`.

    If a process fails, its remaining segments are missing.
    """
    counted = TEXT_METRICS[recipe.metric]
    with ExitStack() as stack:
        try:
            answers = [
                stack.enter_context(_worker(recipe, _take(references, shard), _take(systems, shard)))
                for shard in shards
            ]
        except OSError:
            return
        for first in range(0, len(shards[0]), counted.block):
            for shard, answer in zip(shards, answers, strict=True):
                segments = shard[first : first + counted.block]
                shape = len(systems), len(segments), len(counted.metric.inputs)
                block = np.frombuffer(answer.read(8 * int(np.prod(shape))), np.uint8)
                if block.size == 8 * np.prod(shape) > 0:
                    yield segments, block.view(counted.dtype).reshape(shape)


@contextmanager
def _worker(recipe: Recipe, references: Texts, systems: Texts) -> Generator[IO[bytes], None, None]:
    """A context manager that starts a worker process, which counts these texts, and yields the stdout of the process.

    The process ends when the context ends.
    """
    import subprocess

    with TemporaryFile() as request:
        content = {"recipe": asdict(recipe), "references": references, "systems": systems}
        request.write(json.dumps(content).encode())
        request.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE],
            stdin=request,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
    assert process.stdout is not None
    with process:
        try:
            yield process.stdout
        finally:
            process.kill()


def _take(texts: Texts, segments: np.ndarray) -> list[list[str]]:
    return [[each[int(i)] for i in segments] for each in texts]


def evaluation_from_texts(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metric: str,
    cache: bool = True,
    progress: bool,
    **labels: Any,
) -> EvaluationRecord:
    """Check the arguments of `Evaluation.from_texts`, which explains them; count the texts, and make the evaluation."""
    found, base, given = parameterized(metric)
    if found is None or base not in TEXT_METRICS:
        close = unknown_metric(str(metric), TEXT_METRICS)
        raise InputError(f"metric {metric!r} does not take texts; {', '.join(TEXT_METRICS)} do{close and f'; {close}'}")
    recipe = Recipe(base, given.get("tokenize"), given.get("lowercase") == "true", "punctuation" not in given)
    metric = found.name
    check_mapping(systems, "texts by system, such as {'A': ['Hello.']}")
    gold = _references(references)
    texts = {name: _texts(f"system {name!r}", given) for name, given in systems.items()}
    named = {f"reference {number}": own for number, own in enumerate(gold, start=1)}
    named |= {f"system {name!r}": own for name, own in texts.items()}
    for name, own in named.items():
        if len(own) != len(gold[0]):
            raise InputError(
                f"{name} has {len(own)} segment(s), the references have {len(gold[0])}; expected one text per segment "
                "in the same order (references are [segment] or [reference][segment])"
            )
    check_lengths(metric, named, unit_name="segment")
    counted = TEXT_METRICS[recipe.metric]
    signature = counted.signature(recipe, len(gold))
    code = "sacrebleu" if counted.signature is sacrebleu_signature else ""
    inputs = inputs_of_texts(recipe, signature, gold, list(texts.values()), cache=cache, progress=progress)
    return evaluation_from_arrays(
        dict(zip(texts, inputs, strict=True)),
        metric=metric,
        notes=(Note(signature, about=metric, code=code), *counted.notes(recipe, gold, texts)),
        **labels,
    )


def check_lengths(metric: str, texts: Mapping[str, Sequence[str]], *, unit_name: str) -> None:
    """Raise an error for segments that would take gigabytes or hours; the keys of `texts` are names for messages."""
    most = TEXT_METRICS[parameterized(metric)[1]].longest
    for name, segments in texts.items():
        for i, text in enumerate(segments, start=1):
            if len(text) > most:
                raise InputError(
                    f"{name}, {unit_name} {i}: {len(text):,} characters are too long for {metric} (at most {most:,}); "
                    "split it into segments, or leave it out of all files"
                )


def _references(references: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the references `[reference][segment]`; raise an error if there is no reference or no segment."""
    if isinstance(references, str | bytes | Mapping):
        raise InputError(f"references: expected a list of texts or of such lists, got {type(references).__name__}")
    given: list[Any] = list(references)
    if not given:
        raise InputError("references: there are none; expected one text per segment")
    if isinstance(given[0], str):
        given = [given]
    gold = [_texts(f"reference {number}", each) for number, each in enumerate(given, start=1)]
    if not gold[0]:
        raise InputError("there are no segments to compare on")
    return gold


def _texts(what: str, given: Any) -> list[str]:
    """Return the texts `[segment]` of `given` as a list; raise an error if it is not a list of texts."""
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        got = type(cast("object", given)).__name__
        raise InputError(f"{what}: expected a list of texts, one per segment, got {got}")
    texts: list[Any] = list(given)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{what}: expected a text at segment {i + 1}, got {text!r}; an empty output is ''")
    return texts
