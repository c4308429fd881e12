"""Logs of programs that evaluate models and agents: each file here holds all that sigjax knows about one program.

A file has `FORMAT`, which recognizes logs; `LOG`, which reads logs (see `formats.logs`); and `SAMPLE`, from which the
tests of all formats make small logs. The file has the name of the format, with _ instead of -. Its first line says
which text occurs in all logs (or in their names). `formats.declarations` imports the file only if the data contain this
text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sigjax.formats.declarations import Format, Looks


def harness(module: str, title: str, looks: Looks, *begins: bytes, **more: Any) -> Format:
    """Declare the format of the logs of a module in this folder; a log holds one or several systems."""
    more = {"takes": "systems", "reader": f"{module}:LOG.read", "begins": begins or (b"{",), **more}
    name = module.rpartition(".")[2].replace("_", "-")
    return Format(name=name, title=title, looks=looks, **more)


@dataclass(frozen=True, kw_only=True)
class ExampleLogs:
    """How to make small logs, as a program writes them, for the tests of all formats."""

    file: str
    """File name of a log."""
    make: Callable[..., str | bytes]
    """Function: (one value per instance, more arguments) -> a log of one system."""
    records: tuple[str, ...] | None = None
    """The path of field names to the records of instances (a list or an object); None if each record is a line."""
    header: int = 0
    """Number of lines before the records, if each record is a line."""
    cluster: str = ""
    """A field of the instances for `--cluster`."""
    other: Mapping[str, Any] = field(default_factory=dict)
    """More arguments of `make` for the log of a second system."""
    lacking: str = "named"
    """What sigjax does if a result is missing: "named" (it names the instance) or "refused" (it refuses the log)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that `read` needs for these logs."""
    more: Sequence[Callable[..., str | bytes]] = ()
    """Functions that make the same logs in other shapes."""
    alone: bool = False
    """Whether one log holds all systems."""
