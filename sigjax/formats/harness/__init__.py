"""Logs of harnesses, that is, of programs that evaluate models and agents.

Each file in this folder describes the logs of one program. It has `FORMAT`, which recognizes logs; `LOG`, which reads
logs (see `formats.logs`); and `SAMPLE`, from which the tests of all formats make small logs. The file has the name of
the format, with _ instead of -. Its first line gives texts, and every log (or its file name) contains one of these
texts. `formats.declarations` imports the file only if the data contain such a text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sigjax.formats.declarations import Format, Looks


def harness(module: str, title: str, looks: Looks, *begins: bytes, **more: Any) -> Format:
    """Declare the format of the logs that `module` in this folder reads; a log has one or several systems.

    `title` describes the format, and `looks` recognizes its files. `begins` are the possible first bytes of a file (an
    opening brace if not given). `more` are further fields of `Format`.
    """
    more = {"takes": "systems", "reader": f"{module}:LOG.read", "begins": begins or (b"{",), **more}
    name = module.rpartition(".")[2].replace("_", "-")
    return Format(name=name, title=title, looks=looks, **more)


@dataclass(frozen=True, kw_only=True)
class ExampleLogs:
    """How to make small logs, as a harness writes them, for the tests of all formats."""

    file: str
    """The file name to give to a log."""
    make: Callable[..., str | bytes]
    """Function: (values, one per instance; more arguments) -> the content of a log of one system."""
    records: tuple[str, ...] | None = None
    """The names of the fields that lead to the records of instances in a log (a list or an object). None if each record
    is a line."""
    header: int = 0
    """Number of lines before the records, if each record is a line."""
    cluster: str = ""
    """The name of a field of the instances that `--cluster` may name."""
    other: Mapping[str, Any] = field(default_factory=dict)
    """More arguments of `make`, to make the log of a second system."""
    lacking: str = "named"
    """What sigjax does if a log lacks a result. "named": a message names the instance. "refused": reading raises an
    error."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options that `read` needs for these logs."""
    more: Sequence[Callable[..., str | bytes]] = ()
    """Further functions like `make`, which make the same logs in other shapes."""
    alone: bool = False
    """Whether a single log holds the results of all systems."""
