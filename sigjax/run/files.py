"""Files as bytes and text: read within size limits, and written completely or not at all.

Gzip data is unpacked on reading, whatever the name of the file. If the disk is full or the process is killed during
writing, the old file is not changed. To refuse a file means to raise `InputError`, with a one-line message.
"""

import errno
import gzip
import io
import os
import re
import shutil
import stat
import struct
import sys
import time
import zlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from glob import escape
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

import numpy as np

from sigjax.records import InputError, Line

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK"
_OFFICE = (b"[Content_Types]", b"_rels/", b"docProps/", b"xl/", b"mimetypeapplication/vnd.oasis")
"""Beginnings of the name of the first member, in archives of Excel and LibreOffice."""
OLD_OFFICE_MAGIC = b"\xd0\xcf\x11\xe0"
_HEAD = 2**16
"""Number of first bytes from which the format is recognized."""
_LARGEST_RATIO, _LARGEST_PACKED = 200, 2**28
"""Limits for packed files. A packed file is refused if its unpacked content has more than `_LARGEST_PACKED` bytes, and
more than `_LARGEST_RATIO` times the bytes of the packed file."""
_LARGEST_PIPE = 2**30
_DESCRIPTOR = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
"""Paths of pipes that can be read: standard input, and the pipes that a shell makes for `<(command)`."""
_PIPES: ContextVar[dict[str, bytes] | None] = ContextVar("pipes", default=None)


@contextmanager
def naming(file: str) -> Generator[None, None, None]:
    """A context manager that puts the name `file` before error messages, for code that does not know the name."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{file}: ", error.message) from None


@contextmanager
def keeping_pipes() -> Generator[None, None, None]:
    """A context manager that keeps the content of pipes, because a pipe can be read only once."""
    known = _PIPES.get()
    token = _PIPES.set({} if known is None else known)
    try:
        yield
    finally:
        _PIPES.reset(token)


def discard_output() -> None:
    """Drop unwritten and later output of stdout, after its reader has ended (such as `| head`)."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file; gzip data is unpacked."""
    file = os.fsdecode(path)
    data = _content(file)
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return _unpacked(file, data)
    except EOFError:
        raise InputError(f"{file}: the gzip data ends too early; the file is cut off, copy it again") from None
    except (OSError, zlib.error) as error:
        raise InputError(f"{file}: damaged gzip data ({error}); copy the file again") from None


def read_head(path: str | os.PathLike[str]) -> tuple[str, bytes]:
    """Return the name of a file, in lower case without .gz, and its first bytes, unpacked; a folder has no bytes.

    Errors in packed data are ignored here: `read_bytes` reports them, since it reads the whole file.
    """
    file = os.fsdecode(path)
    name = file.lower().removesuffix(".gz")
    if os.path.isdir(file):
        return name, b""
    head = _content(file, _HEAD)
    if head.startswith(GZIP_MAGIC):
        try:
            head = _unpacked_head(head)
        except zlib.error:
            head = read_bytes(path)[:_HEAD]
    if _is_wide(head):
        head = head.decode("utf-16", "ignore").encode("utf-8", "ignore")
    return name, head.removeprefix(b"\xef\xbb\xbf")


def _is_wide(data: bytes) -> bool:
    """Whether the text begins with the byte order mark of UTF-16, but not of UTF-32."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff")) and not data.startswith(b"\xff\xfe\0\0")


def is_spreadsheet(_: str, head: bytes) -> bool:
    """Whether a file with the first bytes `head` is a spreadsheet of Excel or LibreOffice."""
    return head.startswith(OLD_OFFICE_MAGIC) or (head.startswith(ZIP_MAGIC) and head.startswith(_OFFICE, 30))


def files_inside(folder: str, pattern: str) -> list[str]:
    """The files in a folder whose names match a pattern (such as `*.csv`), with or without .gz at the end."""
    paths = {path for name in (pattern, f"{pattern}.gz") for path in Path(folder).glob(name)}
    return sorted(map(os.fsdecode, paths))


def folder_refusal(folder: str, option: str = "") -> InputError:
    """The error if the user gives a folder instead of files; `option` is the option that takes the files, if any."""
    endings = set[str]()
    with suppress(OSError):
        endings = {os.path.splitext(entry.name)[1] for entry in os.scandir(folder) if entry.is_file()}
    (ending,) = endings if len(endings) == 1 else ("",)
    expected = "" if option else "expected a file, or logs named as their programs do; "
    return InputError(f"{folder}: is a folder; {expected}give its files: {option}{os.path.join(folder, '*')}{ending}")


def growth_limit(packed: int) -> int:
    """The largest allowed number of unpacked bytes, from the number of packed bytes."""
    return max(_LARGEST_RATIO * packed, _LARGEST_PACKED)


_LONGEST_GAP = 24
"""There are at most this many bytes between two entries of an archive: the sizes and the checksum of the earlier
entry."""
_ENTRY_HEAD = 30
"""The number of bytes in the header of an archive's entry, without the entry's name and the extra fields."""


def read_arrays(file: IO[bytes], largest: int) -> dict[str, np.ndarray]:
    """Return all arrays of an .npz archive by name; refuse more than `largest` bytes, and pickled arrays.

    NumPy stops reading at the end of an array and trusts the directory of the archive. This function reads every entry
    to its end, which checks the checksum, and notices entries that are missing from the directory.

    Raises:
        InputError: the archive is too large, has two arrays of the same name, or contains anything that is not an
            array.
        Exception: for damaged files, NumPy and zipfile raise about twelve kinds of exceptions.
    """
    arrays: dict[str, np.ndarray] = {}
    with ZipFile(file) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > largest:
            raise InputError(f"the arrays unpack to more than {largest} bytes: this is no data")
        end = 0
        for entry in sorted(entries, key=lambda entry: entry.header_offset):
            _check_gap(end, entry.header_offset)
            file.seek(entry.header_offset + _ENTRY_HEAD - 4)
            end = entry.header_offset + _ENTRY_HEAD + sum(struct.unpack("<2H", file.read(4))) + entry.compress_size
        _check_gap(end, archive.start_dir)
        for entry in entries:
            name, content = entry.filename.removesuffix(".npy"), archive.read(entry)
            if name in arrays:
                raise InputError(f"two arrays are named {name!r}; rename one")
            if not content.startswith(np.lib.format.MAGIC_PREFIX):
                raise InputError(f"{name!r} is not an array; expected arrays of NumPy alone")
            arrays[name] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    return arrays


def _check_gap(end: int, start: int) -> None:
    """Refuse an archive with unexpected bytes between the end of an entry and the start of the next part."""
    if start - end > _LONGEST_GAP:
        raise BadZipFile("the directory of the archive lacks an entry")


def _content(file: str, most: int = -1) -> bytes:
    """The content of a file, not unpacked: the first `most` bytes, or all bytes if `most` is negative."""
    try:
        mode = os.stat(file).st_mode
        if stat.S_ISFIFO(mode) and _DESCRIPTOR.fullmatch(file):
            content = _pipe(file)
            return content if most < 0 else content[:most]
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise InputError(f"{file}: is a device or a named pipe; expected a file")
        with Path(file).open("rb") as opened:
            return opened.read(most)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except IsADirectoryError:
        raise folder_refusal(file) from None
    except MemoryError:
        raise InputError(f"{file}: is larger than the memory") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{file!r}: cannot be opened: {reason}") from None


def _pipe(file: str) -> bytes:
    """The whole content of a pipe, read now or kept from the first read."""
    known = _PIPES.get()
    if known is not None and file in known:
        return known[file]
    with Path(file).open("rb") as opened:
        content = opened.read(_LARGEST_PIPE + 1)
    if len(content) > _LARGEST_PIPE:
        raise InputError(f"{file}: more than {_LARGEST_PIPE} bytes come out of this pipe; write them to a file first")
    if known is not None:
        known[file] = content
    return content


def _unpacked_head(packed: bytes) -> bytes:
    """The first unpacked bytes of gzip data, which may be truncated, and may consist of several parts (members)."""
    head = b""
    while packed.startswith(GZIP_MAGIC) and len(head) < _HEAD:
        member = zlib.decompressobj(wbits=31)
        head += member.decompress(packed, _HEAD - len(head))
        packed = member.unused_data
    return head


def _unpacked(file: str, data: bytes) -> bytes:
    """Unpack gzip data; refuse a zip bomb (few bytes that unpack to very many)."""
    limit = growth_limit(len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        content = packed.read(limit + 1)
    if len(content) > limit:
        raise InputError(
            f"{file}: {len(data)} bytes unpack to more than {limit}: this is no data; unpack the file yourself if it is"
        )
    return content


def read_text(path: str) -> str:
    """The content of a text file, as `decode_text` reads it."""
    return decode_text(path, read_bytes(path))


def decode_text(file: str, data: bytes) -> str:
    r"""Decode UTF-8 or UTF-16; line ends become `\n`, and a byte order mark at the start is dropped."""
    text = _decode(file, data).removeprefix("\ufeff")
    if not text.strip():
        raise InputError(f"{file}: is empty; expected results")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_segments(path: str) -> list[str]:
    r"""The segments of a text file, one per line.

    An empty line is an empty segment; the last line may end without a line break.

    Only `\n` and `\r\n` end a line: other separators of Unicode, a lone `\r`, and a byte order mark at the start stay
    part of a segment, as in sacrebleu.
    """
    text = _decode(path, read_bytes(path))
    if not text:
        raise InputError(f"{path}: is empty; expected one segment per line")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _decode(file: str, data: bytes) -> str:
    """Decode UTF-8, or UTF-16 if the data begin with its byte order mark; the name `file` is for messages."""
    if is_spreadsheet(file, data):
        raise InputError(f"{file}: is a spreadsheet (Excel, LibreOffice), where text is expected; save it as CSV")
    try:
        text = data.decode("utf-16" if _is_wide(data) else "utf-8")
    except UnicodeDecodeError as error:
        if _is_wide(data):
            raise InputError(f"{file}: is damaged UTF-16 text ({error.reason}); save it as UTF-8") from None
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{Line(file, line)}: expected UTF-8 text, got byte 0x{data[error.start]:02x}; save the file as UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{Line(file, line)}: expected text, got a NUL byte; is this a text file?")
    return text


_DESCRIPTOR_PATH = re.compile(r"/(?:dev|proc/self)/(?:stdout|stderr|fd/(\d+))")
"""Paths of standard output and standard error, and of the pipes that a shell makes for `>(command)`."""
_FIXED = (errno.EBUSY, errno.EPERM, errno.EACCES)
"""Errors that the operating system raises if a file can be written but not replaced. This happens if the file is
mounted separately (in a container), or belongs to another user in /tmp."""
_NAME = 50
"""The name of a temporary file contains the start of the final file's name: at most this many characters."""
_ABANDONED = 3600.0
"""A temporary file older than this many seconds counts as left over by a killed process."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[IO[bytes], None, None]:
    """A context manager that yields a temporary file to write.

    At the end, the temporary file replaces `path`; if anything fails, it is removed.

    Links are followed, and the new file gets the permissions of the file that it replaces. Standard output, devices,
    and files in a folder that cannot be written are written directly. If several processes write the same file, the
    last to finish wins.

    Raises:
        OSError: the file cannot be written.
    """
    target = _target(path)
    if target is None:
        descriptor = _descriptor(path)
        # Write to the descriptor: opening the file by name would overwrite its beginning, if standard output goes to a
        # file.
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
def refusing_unwritable(path: str | os.PathLike[str]) -> Generator[None, None, None]:
    """A context manager that turns errors of writing the file `path` into an `InputError`, except for a closed pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be written ({error.strerror}); give another file") from None


def text_or_file(text: str | Iterable[str], path: str | os.PathLike[str] | None) -> str:
    """Return the text; if a path is given, write the text to this file (UTF-8) and return the path."""
    if path is None:
        return text if isinstance(text, str) else "".join(text)
    pieces = [text.rstrip("\n") + "\n"] if isinstance(text, str) else text
    with refusing_unwritable(path), replacing(path) as file:
        file.writelines(piece.encode() for piece in pieces)
    return os.fspath(path)


def is_file(path: str) -> bool:
    """Whether the path is an existing file or pipe, and not a folder."""
    try:
        return os.path.exists(path) and not os.path.isdir(path)  # pipes count as files
    except ValueError:  # a path cannot have such characters
        return False


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `InputError`, before any work is done, if `replacing` cannot write this path."""
    with refusing_unwritable(path):
        target = _target(path)
        if target is not None:
            temporary = _beside(target)
            _created(temporary, target).close()
            temporary.unlink()


def same_file(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    """Whether two paths name the same regular file; the file need not exist yet.

    >>> same_file("out/../a.txt", "a.txt"), same_file("/dev/null", "/dev/null")
    (True, False)
    """
    if os.path.exists(first) and os.path.exists(second):
        return os.path.isfile(first) and os.path.samefile(first, second)
    return os.path.realpath(first) == os.path.realpath(second)


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """The number of the file descriptor in a path such as /dev/fd/3 or /dev/stdout; None for other paths."""
    named = os.path.abspath(path)
    match = _DESCRIPTOR_PATH.fullmatch(named)
    return match and int(match[1] or named.endswith("stderr") + 1)


def _target(path: str | os.PathLike[str]) -> Path | None:
    """The path to replace, with links followed; None if the file must be written directly."""
    _check_name(path)
    target, direct = Path(os.path.realpath(path)), _descriptor(path) is not None
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode) or direct):
        raise OSError(errno.EINVAL, "is a named pipe or a device, not a file")  # writing would wait for a reader
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    replaceable = stat.S_ISREG(mode) and not direct and os.access(target.parent, os.W_OK | os.X_OK)
    return target if replaceable else None


def _check_name(path: str | os.PathLike[str]) -> None:
    """Raise an `OSError` if the path contains characters that cannot occur in file names."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        raise OSError(errno.EINVAL, "the name holds half a character") from None
    if b"\0" in name:
        raise OSError(errno.EINVAL, "the name holds a NUL character")


def cache_folder() -> Path | None:
    """`$SIGJAX_CACHE_DIR`, or `sigjax` in this operating system's folder for caches.

    Return None if there is no home folder.
    """
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


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove temporary files that killed processes left in the folder of this file."""
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{escape(target.name[:_NAME])}.{'?' * 8}.tmp"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED:
                left.unlink()


def _beside(target: Path) -> Path:
    """A new unique path in the folder of `target`; its name fits file systems with names of up to 255 bytes."""
    return target.with_name(f".{target.name[:_NAME]}.{os.urandom(4).hex()}.tmp")


def _created(temporary: Path, target: Path) -> IO[bytes]:
    """Create the file `temporary` with the permissions of `target`, or default permissions without a target."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(temporary, flags, 0o666), "wb")
    with suppress(OSError):  # there is no mode to keep, or the file system has no modes
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
    return file


def _move(temporary: Path, target: Path) -> None:
    try:
        os.replace(temporary, target)
    except OSError as error:
        if error.errno not in _FIXED or not target.exists():
            raise
        shutil.copyfile(temporary, target)
