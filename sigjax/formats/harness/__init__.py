"""Logs of programs that evaluate models and agents: one file per program, with all that sigjax knows about its logs.

A file has `FORMAT`, which recognizes logs; `LOG`, which reads them (see `formats.logs`); and `SAMPLE`, from which the
tests of all formats make small logs. The file has the name of the format, with _ for -. Its first line says which text
all logs contain, or their names: `formats.declarations` imports the file only if a file may be such a log.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sigjax.formats.declarations import Format, Looks


def harness(module: str, title: str, looks: Looks, *begins: bytes, **more: Any) -> Format:
    """The format of the logs of a module in this folder; a log has one system, or several."""
    more = {"takes": "systems", "reader": f"{module}:LOG.read", "begins": begins or (b"{",), **more}
    name = module.rpartition(".")[2].replace("_", "-")
    return Format(name=name, title=title, looks=looks, **more)


@dataclass(frozen=True, kw_only=True)
class ExampleLogs:
    """Small logs as a program writes them."""

    file: str
    """The name of a log."""
    make: Callable[..., str | bytes]
    """(a value for each instance, ...) -> a log of one system."""
    records: tuple[str, ...] | None = None
    """The fields that lead to the records of instances, in a list or an object; None if each record has a line."""
    header: int = 0
    """The number of lines before the records, if each has a line."""
    cluster: str = ""
    """A field of instances that `--cluster` may name."""
    other: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `make` for the log of another system."""
    lacking: str = "named"
    """What happens if a result is missing: it is named; or the log is refused."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of `read` that the logs need."""
    more: Sequence[Callable[..., str | bytes]] = ()
    """Functions that make logs of other shapes."""
    alone: bool = False
    """Whether a log has all systems."""
