"""What commands read: the files, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigjax.cli.output import check_outputs
from sigjax.metrics import CLASS_METRICS, METRICS
from sigjax.readers import FORMATS, Evaluation, check_one_task, read_metrics
from sigjax.readers.options import FileOptions, ReadOptions
from sigjax.records.options import same, values

Files = Sequence[Path]


@dataclass(frozen=True, kw_only=True)
class Inputs(FileOptions):
    """The options of `read`, with several metrics."""

    input: Sequence[Path] = same(ReadOptions, "input")
    metric: Sequence[str] = same(ReadOptions, "metric", (), suggests=(*METRICS, *CLASS_METRICS))
    reader: str | None = same(ReadOptions, "reader", suggests=tuple(FORMATS))

    def evaluations(
        self, paths: Files, *, progress: bool = True, tasks: bool = False, single: bool = False
    ) -> list[Evaluation]:
        """Read the files, once for each metric; several `tasks`, or a `single` system, only if a command takes it."""
        found = read_metrics(
            *paths,
            input=self.input,
            metrics=self.metric,
            reader=self.reader,
            **values(self, FileOptions, progress=progress, single=single),
        )
        if not tasks:
            check_one_task(found)
        return found

    def check(self, paths: Files, *written: Any, here: bool = True) -> None:
        """Refuse files that cannot be written, or would be written over what is read (labels and reports, too)."""
        named = (getattr(record, name, None) for record in written for name in ("extend", "groups"))
        more = [self.cluster, self.strata, self.source, *named]
        check_outputs([*paths, *self.input, *(each for each in more if each is not None)], *written, here=here)
