"""Logs of programs that evaluate models and agents: a file for each program, with all that sigjax knows of its logs.

A file has `FORMAT`, by which logs are recognized; `LOG`, by which they are read (see `formats.logs`); and `SAMPLE`, of
which the tests of all formats make small logs. The file is named as the format is, with _ for -. Its first line says
what all logs hold, or what they are named, so that `formats.table` imports it only where a file may be such a log.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sigjax.formats.table import Format, Looks


def harness(module: str, title: str, looks: Looks, *begins: bytes, **more: Any) -> Format:
    """The format of the logs of a module of this folder, each of which has one system, or several."""
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
    """The fields below which the records of instances stand, in a list or an object; None where each has a line."""
    header: int = 0
    """How many lines stand before the records, where each has a line."""
    cluster: str = ""
    """A field of instances that `--cluster` may name."""
    other: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `make` for the log of another system."""
    lacking: str = "named"
    """What becomes of a result that a system lacks: it is named; or the log is refused."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of `read` that the logs need."""
    more: Sequence[Callable[..., str | bytes]] = ()
    """What makes logs of other shapes."""
    alone: bool = False
    """Whether a log has all systems."""
