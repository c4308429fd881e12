"""Texts -> statistics of each segment, on all cores.

Segments are taken in blocks, so that memory does not grow with the test set. Worker processes are plain subprocesses of
this interpreter that read JSON and write numbers: forks are not safe beside the threads of JAX, and the spawned
processes of `multiprocessing` would run the user's script again.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from tempfile import TemporaryFile
from typing import IO

import numpy as np

from sigjax.metrics.edits import EDITS
from sigjax.metrics.recipe import Extraction, Recipe, Texts
from sigjax.metrics.registry import METRICS
from sigjax.metrics.rouge import ROUGE
from sigjax.metrics.sacre import SACREBLEU
from sigjax.run.host import num_cores

EXTRACTIONS: dict[str, Extraction] = {**SACREBLEU, **ROUGE, **EDITS}
_SECONDS_PER_WORKER = 0.5
"""Work that is worth a process of its own, which takes about half of this to start (measured)."""
_MOST_CHARACTERS = 2**22
"""Characters that are counted at a time: n-grams take about 300 bytes for each."""
_SERVE = "from sigjax.metrics.extract import serve; serve()"


def num_workers(metric: str, references: Texts, systems: Texts) -> int:
    """The number of processes that pays: 1 where the work is small."""
    characters = sum(len(text) for texts in (*references, *systems) for text in texts)
    return max(1, min(num_cores(), int(characters * EXTRACTIONS[metric].seconds / _SECONDS_PER_WORKER)))


def extract_stats(
    recipe: Recipe, references: Texts, systems: Texts, *, workers: int, advance: Callable[[int], object]
) -> np.ndarray:
    """Inputs of the metric `[system, segment, input]` of texts; int64 where they are counts.

    Args:
        recipe: the metric, one of `EXTRACTIONS`, and its options.
        references: `[reference][segment]`.
        systems: `[system][segment]`.
        workers: the number of processes; 1 computes here.
        advance: told how many texts are done so far.
    """
    num_segments, step = len(references[0]), EXTRACTIONS[recipe.metric].block
    stats = np.empty((len(systems), num_segments, *_shape(recipe)), EXTRACTIONS[recipe.metric].dtype)
    missing = np.ones(num_segments, bool)

    def place(segments: np.ndarray, block: np.ndarray) -> None:
        stats[:, segments] = block
        missing[segments] = False
        advance((num_segments - int(missing.sum())) * len(systems))

    if workers > 1:
        shares = [np.arange(num_segments)[worker::workers] for worker in range(workers)]
        for segments, block in _from_workers(recipe, references, systems, shares):
            place(segments, block)
    # All of it, or what a worker that failed has left; here an error is one to be seen.
    left = np.flatnonzero(missing)
    here = _blocks(recipe, _take(references, left), _take(systems, left))
    for first, block in zip(range(0, len(left), step), here, strict=True):
        place(left[first : first + step], block)
    return stats


def serve() -> None:
    """Read a request from stdin and write the statistics, block after block, to stdout: the life of a worker."""
    request = json.load(sys.stdin.buffer)
    answer, sys.stdout = sys.stdout.buffer, sys.stderr
    for block in _blocks(Recipe(**request["recipe"]), request["references"], request["systems"]):
        answer.write(block.tobytes())
        answer.flush()


def _shape(recipe: Recipe) -> tuple[int]:
    return (len(METRICS[recipe.metric].inputs),)


def _blocks(recipe: Recipe, references: Texts, systems: Texts) -> Iterator[np.ndarray]:
    """Inputs `[system, segment, input]` of one block of segments after another."""
    extraction = EXTRACTIONS[recipe.metric]
    count = extraction.start(recipe)
    for first in range(0, len(references[0]), extraction.block):
        blocks = _parts((*references, *systems), range(first, min(first + extraction.block, len(references[0]))))
        counts = [count([texts[part] for texts in references], [texts[part] for texts in systems]) for part in blocks]
        yield np.concatenate(counts, axis=1)


def _parts(texts: Texts, segments: range) -> list[slice]:
    """Segments in parts of no more characters than memory has room for, but of one segment at least."""
    parts, size = [slice(segments.start, segments.start)], 0
    for i in segments:
        size += sum(len(own[i]) for own in texts)
        if size > _MOST_CHARACTERS and parts[-1].stop > parts[-1].start:
            parts.append(slice(i, i))
            size = sum(len(own[i]) for own in texts)
        parts[-1] = slice(parts[-1].start, i + 1)
    return parts


def _from_workers(
    recipe: Recipe, references: Texts, systems: Texts, shares: list[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (segments, statistics) from one process a share; one that fails, or cannot start, yields less."""
    step, dtype = EXTRACTIONS[recipe.metric].block, EXTRACTIONS[recipe.metric].dtype
    with ExitStack() as stack:
        try:
            answers = [
                stack.enter_context(_worker(recipe, _take(references, share), _take(systems, share)))
                for share in shares
            ]
        except OSError:
            return
        for first in range(0, len(shares[0]), step):
            for share, answer in zip(shares, answers, strict=True):
                segments = share[first : first + step]
                shape = len(systems), len(segments), *_shape(recipe)
                block = np.frombuffer(answer.read(8 * int(np.prod(shape))), np.uint8)
                if block.size == 8 * np.prod(shape) > 0:
                    yield segments, block.view(dtype).reshape(shape)


@contextmanager
def _worker(recipe: Recipe, references: Texts, systems: Texts) -> Iterator[IO[bytes]]:
    """A process at work on a request; gives its stdout. It does not outlive this context."""
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
