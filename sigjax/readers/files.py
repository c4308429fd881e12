"""Opening a file: bytes (unpacked when they are gzip, whatever the name says) and text."""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sigjax.records import InputError

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK"


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Put the name of the file before the refusals of code that does not know it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, unpacked."""
    file = os.fsdecode(path)
    try:
        data = Path(file).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{file}: is a folder; expected a file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{file!r}: cannot be opened: {reason}") from None
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except EOFError:
        raise InputError(f"{file}: the gzip data ends too early; the file is cut off, copy it again") from None
    except (OSError, zlib.error) as error:
        raise InputError(f"{file}: damaged gzip data ({error}); copy the file again") from None


def decode_text(file: str, data: bytes) -> str:
    r"""UTF-8 text with line ends as `\n`; a byte order mark at the start is dropped."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file}: is UTF-16 text; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{file}, line {line}: expected UTF-8 text, got byte 0x{data[error.start]:02x}; save the file as UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{file}, line {line}: expected text, got a NUL byte; is this a text file?")
    if not text.strip():
        raise InputError(f"{file}: is empty; expected a table")
    return text.replace("\r\n", "\n").replace("\r", "\n")
