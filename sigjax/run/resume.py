"""Where a run stands: what an earlier report and a checkpoint know of its stages, in all processes that share it."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence

from sigjax.records import InputError
from sigjax.run.checkpoint import NO_STAGE, Checkpoint, Name, Stage, State, pack, unpack
from sigjax.run.extend import Earlier, earlier_states
from sigjax.run.fingerprint import Identity
from sigjax.run.share import Share, current_share
from sigjax.version import __version__

_REFUSED = b"refused: "


def stages_of(
    checkpoint: str | os.PathLike[str] | None,
    extend: Earlier | None,
    identity: Identity,
    pairs: Sequence[tuple[str, str]],
) -> Stage:
    """All stages of a run, with what is known of them; `pairs` are the names of the systems of each pair.

    Where several processes share the work, process 0 reads and writes the checkpoint for all of them.

    Raises:
        InputError: the checkpoint or the report cannot be used, or another process does something else.
    """
    share = current_share()
    known = {} if extend is None else earlier_states(extend, identity, pairs)
    if share.count > 1:
        _check_alike(share, identity, known, kept=checkpoint is not None)
    if checkpoint is None:
        return Stage(Checkpoint(None, identity, known)) if known else NO_STAGE
    return Stage(
        Checkpoint(checkpoint, identity, known) if share.count == 1 else _shared(share, checkpoint, identity, known)
    )


def _shared(share: Share, path: str | os.PathLike[str], identity: Identity, known: Mapping[Name, State]) -> Checkpoint:
    """The checkpoint of process 0, and what it has found, without the file, in the others."""
    mine, data = Checkpoint(None, identity, known, kept=True), b""
    if share.index == 0:
        try:
            mine = Checkpoint(path, identity, known)
            pack(file := io.BytesIO(), identity, mine.states)
            data = file.getvalue()
        except InputError as error:
            data = _REFUSED + str(error).encode()
    data = share.first(data)
    if data.startswith(_REFUSED):
        raise InputError(data.removeprefix(_REFUSED).decode())
    if share.index > 0:
        mine.states |= unpack(io.BytesIO(data))[1]
    return mine


def _check_alike(share: Share, identity: Identity, known: Mapping[Name, State], *, kept: bool) -> None:
    """Refuse what differs between the processes that share the work.

    Raises:
        InputError: another process has other data or options.
    """
    options = {name: value for name, value in identity.items() if name not in ("sigjax", "data")}
    states = [(name, state.done, [array.tolist() for array in state.arrays.values()]) for name, state in known.items()]
    share.check_alike(
        {
            "another version of sigjax": __version__.encode(),
            "other data": identity["data"].encode(),
            "other options": repr((options, kept)).encode(),
            "another report to extend": repr(sorted(states)).encode(),
        }
    )
