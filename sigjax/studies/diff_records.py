"""The results of `diff`: frozen records, as in `sigjax.records`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sigjax.files.writing import text_or_file
from sigjax.records import Interval
from sigjax.studies.study import Result

Path = str | os.PathLike[str]
Verdict = Literal["no worse", "worse", "cannot tell"]


@dataclass(frozen=True)
class Change:
    """The score of one system by one metric, before and after.

    Attributes:
        name: name of the system.
        metric: name of the metric.
        old: the old score.
        new: the new score.
        change: new - old.
        limits: confidence limits of the change, see `diff`; [0, 0] where all results are the same; None without a
            margin, and where there are none.
        verdict: "no worse" if the limits exclude a loss of the margin or more, "worse" if they exclude any smaller one,
            else "cannot tell"; None without a margin.
    """

    name: str
    metric: str
    old: float
    new: float
    change: float
    limits: Interval | None
    verdict: Verdict | None


@dataclass(frozen=True)
class ChangedDecision:
    """A pair of systems on which the reports decide differently.

    Attributes:
        a: name of the first system.
        b: name of the second.
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        old: the system that was significantly better; None where neither was.
        new: the system that is significantly better now; None where neither is.
        old_delta: score of a minus that of b in the old report.
        new_delta: the same in the new one.
        old_p: the adjusted p-value in the old report.
        new_p: the same in the new one.
    """

    a: str
    b: str
    metric: str
    test: str
    old: str | None
    new: str | None
    old_delta: float
    new_delta: float
    old_p: float
    new_p: float


@dataclass(frozen=True, repr=False)
class Diff(Result):
    """What changed between two reports, or two evaluations.

    Attributes:
        verdict: "worse" if any change is, "no worse" if all are and none is removed, else "cannot tell"; None without a
            margin.
        margin: the largest loss that does not matter; None if none was given.
        level: of the limits.
        paired: whether the limits are of the paired test, which needs the evaluations.
        same_data: whether all results of all systems are the same.
        changes: of every system and metric on both sides, in the old order.
        decisions: the pairs that are decided differently, by test, at the level of each report.
        num_decisions: number of pairs and tests on both sides; 0 for evaluations.
        added: system and metric of the scores that only the new side has.
        removed: those that only the old side has.
        settings: the settings that changed, with both values; also the numbers of instances and units.
        versions: the packages whose versions changed, with both.
        lower_is_better: the metrics whose lower scores are better.
    """

    verdict: Verdict | None
    margin: float | None
    level: float
    paired: bool
    same_data: bool
    changes: tuple[Change, ...]
    decisions: tuple[ChangedDecision, ...]
    num_decisions: int
    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    settings: Mapping[str, tuple[Any, Any]]
    versions: Mapping[str, tuple[Any, Any]]
    lower_is_better: tuple[str, ...]

    def __str__(self) -> str:
        """Return the changes as text for a terminal."""
        from sigjax.studies.diff_show import diff_text  # rich takes long to import

        return diff_text(self)

    def brief(self) -> dict[str, Any]:
        """The verdict, and how much changed."""
        counts = {"changes": len(self.changes), "decisions": len(self.decisions)}
        return {"verdict": self.verdict, "margin": self.margin, "same_data": self.same_data} | counts

    def to_markdown(self, path: Path | None = None) -> str:
        """The changes as Markdown tables."""
        from sigjax.studies.diff_show import diff_markdown

        return text_or_file(diff_markdown(self), path)

    def to_github(self, path: Path | None = None) -> str:
        """A comment for a pull request: the verdict, the scores that changed most, and the details folded."""
        from sigjax.studies.diff_show import diff_github

        return text_or_file(diff_github(self), path)
