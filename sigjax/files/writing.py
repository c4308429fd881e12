"""Writing files: whole or not at all, so that a full disk or a kill leaves the old file as it was."""

import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO

from sigjax.records import InputError

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/(?:stdout|stderr|fd/(\d+))")
"""Standard output, and `>(command)` of a shell."""
_FIXED = (errno.EBUSY, errno.EPERM, errno.EACCES)
"""A file that can be written but not replaced: mounted by itself (into a container), or another user's in /tmp."""
_NAME = 50
"""Characters of the name of a file that the name of its temporary file has."""
_ABANDONED = 3600.0
"""Seconds after its last change from which a temporary file is taken for one that a kill has left."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `path` once all is written, and is removed if anything goes wrong.

    Links are followed, and an existing file keeps its mode. Standard output, devices, and files in a folder that cannot
    be written are written directly. Of several processes that write the same file, the last one to end it wins.

    Raises:
        OSError: it cannot be written.
    """
    target = _target(path)
    if target is None:
        descriptor = _descriptor(path)
        # Opened by its name, a file that standard output goes to would be written from its start.
        with open(path if descriptor is None else os.dup(descriptor), "wb") as file:
            yield file
        return
    temporary = _beside(target)
    try:
        with _created(temporary, target) as file:
            yield file
        _move(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def refusing_unwritable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Refuse a file that cannot be written in one line; nobody has to hear of a pipe that was closed."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be written ({error.strerror}); give another file") from None


def text_or_file(text: str | Iterable[str], path: str | os.PathLike[str] | None) -> str:
    """The text, or, where a path is given, the path of the file that has it now (UTF-8).

    Args:
        text: the text, or its pieces.
        path: the file to write; None for none.

    Raises:
        InputError: it cannot be written.
    """
    if path is None:
        return text if isinstance(text, str) else "".join(text)
    pieces = [text.rstrip("\n") + "\n"] if isinstance(text, str) else text
    with refusing_unwritable(path), replacing(path) as file:
        file.writelines(piece.encode() for piece in pieces)
    return os.fspath(path)


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse, before the work, a place where `replacing` could not write.

    Raises:
        InputError: there is no such folder, or the file or the folder cannot be written.
    """
    with refusing_unwritable(path):
        target = _target(path)
        if target is not None:
            temporary = _beside(target)
            _created(temporary, target).close()
            temporary.unlink()


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are one regular file, which need not exist yet.

    Example:
        >>> same_file("out/../a.txt", "a.txt"), same_file("/dev/null", "/dev/null")
        (True, False)
    """
    if os.path.exists(one) and os.path.exists(other):
        return os.path.isfile(one) and os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """The number of an open file that is named by its descriptor."""
    named = os.path.abspath(path)
    found = _DESCRIPTOR.fullmatch(named)
    return found and int(found[1] or named.endswith("stderr") + 1)


def _target(path: str | os.PathLike[str]) -> Path | None:
    """The file itself, where the path is a link; None for what is written directly."""
    target, direct = Path(os.path.realpath(path)), _descriptor(path) is not None
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode) or direct):
        raise OSError(errno.EINVAL, "is a named pipe or a device, not a file")  # it would wait for a reader
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    replaceable = stat.S_ISREG(mode) and not direct and os.access(target.parent, os.W_OK | os.X_OK)
    return target if replaceable else None


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove what writers of a file that were killed have left beside it."""
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{escape(target.name[:_NAME])}.{'?' * 8}.tmp"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED:
                left.unlink()


def _beside(target: Path) -> Path:
    """A name of its own in the same folder, which a file system with names of 255 bytes takes."""
    return target.with_name(f".{target.name[:_NAME]}.{os.urandom(4).hex()}.tmp")


def _created(temporary: Path, target: Path) -> IO[bytes]:
    """A new file, with the mode of the one that it will replace, or else that of any new file."""
    temporary.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(temporary, flags, 0o666), "wb")
    with suppress(OSError):  # there is nothing to keep, or the file system has no modes
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
    return file


def _move(temporary: Path, target: Path) -> None:
    try:
        os.replace(temporary, target)
    except OSError as error:
        if error.errno not in _FIXED or not target.exists():
            raise
        shutil.copyfile(temporary, target)
