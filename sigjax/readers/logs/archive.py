"""Zip archives of other programs: only the members that are asked for are unpacked, into memory and within bounds."""

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from sigjax.readers.options import show
from sigjax.records import InputError

_MOST_MEMBERS = 1_000_000
_LARGEST_RATIO, _LARGEST_ARCHIVE = 200, 2**28
"""As for gzip: what grows more than this when unpacked, to more than this, is no data."""
_ENCRYPTED = 0x1


def read_members(file: str, data: bytes, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of each member that is wanted; of several with one name the last, which replaced the others.

    Raises:
        InputError: it is damaged, or a member is encrypted, a link, named outside the archive, or unpacks to too much.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {each.filename: each for each in archive.infolist()}
            if len(members) > _MOST_MEMBERS:
                raise InputError(f"{file}: holds more than {_MOST_MEMBERS} members: this is no log")
            for member in members.values():
                _check(file, member)
            found = [member for name, member in members.items() if wanted(name)]
            limit = max(_LARGEST_RATIO * len(data), _LARGEST_ARCHIVE)
            if sum(member.file_size for member in found) > limit:
                raise InputError(f"{file}: {len(data)} bytes unpack to more than {limit}: this is no log")
            # No member gives more than the size it declares: zipfile stops there, and its checksum is then wrong.
            for member in found:
                yield member.filename, archive.read(member)
    except NotImplementedError as error:
        raise InputError(
            f"{file}: packed in a way that this Python cannot unpack ({error}); write the log as .json"
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: damaged zip archive ({error}); copy the file again") from None


def _check(file: str, member: zipfile.ZipInfo) -> None:
    where = f"{file}, member {show(member.filename)}"
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"{where}: its name leads outside the archive; expected a log")
    if member.flag_bits & _ENCRYPTED:
        raise InputError(f"{where}: is encrypted; unpack it and give the log as it is")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise InputError(f"{where}: is a link; expected a file")
