"""The share of one process in a run of several processes, on one or many machines (`jax.distributed`).

All processes run the same comparison and divide the resamples among them. They exchange only sums of whole numbers,
which are the same for every division, so the report is that of a single process.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass

import numpy as np

from sigjax.records import Array, InputError
from sigjax.run.backend import compiled, jax_scope, sharding

_EXCHANGED = 2**22
"""Numbers exchanged at a time."""


class ProcessLost(RuntimeError):
    """Another process of the run ended too early, or cannot be reached."""


@dataclass(frozen=True)
class Share:
    """The part of the work that belongs to this process."""

    index: int = 0
    count: int = 1

    def part(self, resamples: range) -> range:
        """The resamples of this process; the numbers of any two processes differ by at most one.

        Example:
            >>> [Share(index, 3).part(range(10, 20)) for index in range(3)]
            [range(10, 13), range(13, 16), range(16, 20)]
        """
        size = len(resamples)
        return resamples[size * self.index // self.count : size * (self.index + 1) // self.count]

    def total(self, numbers: np.ndarray) -> np.ndarray:
        """The sum over all processes of int64 arrays of the same shape.

        Raises:
            ProcessLost: another process has ended.
        """
        return numbers if self.count == 1 else _total(numbers, self)

    def complete(self, values: np.ndarray) -> None:
        """Fill in the other processes' parts of `values` `[row, resample]` (float64).

        Raises:
            ProcessLost: another process has ended.
        """
        if self.count == 1:
            return
        mine = self.part(range(values.shape[1]))
        width = max(1, _EXCHANGED // len(values))
        for start in range(0, values.shape[1], width):
            piece = values[:, start : start + width].copy()
            piece[:, : max(0, mine.start - start)] = 0.0
            piece[:, max(0, mine.stop - start) :] = 0.0
            # All bits of a number come from one process and are 0 in the others.
            values[:, start : start + width] = self.total(piece.view(np.int64)).view(np.float64)

    def first(self, data: bytes) -> bytes:
        """The bytes of process 0, in every process.

        Raises:
            ProcessLost: another process has ended.
        """
        if self.count == 1:
            return data
        (length,) = self.total(np.array([len(data) if self.index == 0 else 0])).tolist()
        words = np.zeros((1, -(-length // 8)), np.int64)
        if self.index == 0:
            words[0].view(np.uint8)[:length] = np.frombuffer(data, np.uint8)
        for start in range(0, words.shape[1], _EXCHANGED):
            words[:, start : start + _EXCHANGED] = self.total(words[:, start : start + _EXCHANGED])
        return words[0].view(np.uint8)[:length].tobytes()

    def check_alike(self, parts: dict[str, bytes]) -> None:
        """Refuse to go on if another process does something else: name -> description of what is done.

        Raises:
            InputError: this process, or another, differs from process 0.
            ProcessLost: another process has ended.
        """
        if self.count == 1:
            return
        hashes = [hashlib.blake2b(part, digest_size=8).digest() for part in parts.values()]
        known = np.zeros((self.count, len(parts)), np.int64)
        known[self.index] = np.frombuffer(b"".join(hashes), np.int64)
        known = self.total(known)
        for name, of_each in zip(parts, known.T, strict=True):
            others = np.flatnonzero(of_each != of_each[0])
            if others.size:
                raise InputError(
                    f"process {others[0]} of {self.count} has {name} than process 0; "
                    "give all of them the same files and options"
                )


ALONE = Share()


def current_share() -> Share:
    """The share of this process if `jax.distributed.initialize` was called; else all of the work."""
    jax = sys.modules.get("jax")
    if jax is None or not jax.distributed.is_initialized():
        return ALONE
    return Share(jax.process_index(), jax.process_count())


def lost_message(share: Share) -> str:
    """The message for a lost process."""
    other = f"process {1 - share.index}" if share.count == 2 else "another process"
    return (
        f"{other} of {share.count} was lost: it ended before the report was done, or it cannot be reached "
        f"(this is process {share.index}); see what it said, and start all of them again"
    )


def _total(numbers: np.ndarray, share: Share) -> np.ndarray:
    """The sum over all processes.

    One CPU device of each process takes part, whatever the resamples run on: processes may have different devices, and
    GPUs would wait without end for a process that is lost.
    """
    import jax

    first = {device.process_index: device for device in reversed(jax.devices("cpu"))}
    devices = tuple(first[index] for index in range(share.count))
    try:
        with jax_scope():
            mine = jax.device_put(numbers[None], devices[share.index])
            shape = (share.count, *numbers.shape)
            parts = jax.make_array_from_single_device_arrays(shape, sharding(devices, split=True), [mine])
        return np.asarray(compiled(_itself, devices=devices, summed=True)(parts).addressable_data(0))[0]
    except RuntimeError as error:
        raise ProcessLost(lost_message(share)) from error


def _itself(part: Array) -> Array:
    return part
