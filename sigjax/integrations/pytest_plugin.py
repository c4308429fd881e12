"""A plugin for pytest: the fixture `no_regression` fails a test if scores are worse than the stored scores.

pytest finds it through the entry point `pytest11` of sigjax. Stored scores are JSON files in the folder `sigjax_scores`
beside the test; `pytest --sigjax-update` writes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

_SCHEMA = "sigjax-scores/1"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that stores scores."""
    about = "store the scores of no_regression() as the ones to compare with"
    parser.getgroup("sigjax").addoption("--sigjax-update", action="store_true", help=about)


class NoRegression:
    """The object that the fixture `no_regression` gives to a test."""

    def __init__(self, folder: Path, name: str, *, update: bool) -> None:
        """Take the folder of stored scores, the name of the test, and whether to store the scores."""
        self.folder, self.name, self.update = folder, name, update

    def __call__(
        self,
        scores: Mapping[str, float] | Sequence[float],
        *,
        margin: float,
        name: str | None = None,
        lower_is_better: bool = False,
        strict: bool = False,
        confidence_level: float = 0.95,
    ) -> Any:
        """Fail if the mean score is significantly lower than the stored mean by more than the margin.

        Args:
            scores: a dict from instance id to score; or a sequence of scores in the same order in every call.
            margin: the largest loss that you accept.
            name: the name of the file with stored scores; if left out, the name of the test.
            lower_is_better: whether lower scores are better, so that an increase is a loss.
            strict: whether to fail also if the scores do not show that the loss is within the margin.
            confidence_level: the confidence level of each of the two one-sided limits of the change.

        Returns:
            The `Equivalence` of new and old scores; None if the call stored the scores.
        """
        named = scores.items() if isinstance(scores, Mapping) else enumerate(scores, start=1)
        new = {str(id): float(score) for id, score in named}
        file = self.folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name or self.name)}.json"
        if self.update:
            self.folder.mkdir(exist_ok=True)
            file.write_text(json.dumps({"schema": _SCHEMA, "scores": new}, indent=0) + "\n", encoding="utf-8")
            return None
        if not file.exists():
            pytest.fail(f"{file}: no stored scores; run pytest --sigjax-update, and commit the file", pytrace=False)
        old = json.loads(file.read_text(encoding="utf-8"))["scores"]
        if old.keys() != new.keys():
            apart = sorted(old.keys() ^ new.keys())
            text = f"{file}: other instances than the new scores ({len(apart)}, such as {apart[0]!r})"
            pytest.fail(f"{text}; run pytest --sigjax-update if that is meant", pytrace=False)
        from sigjax.studies import equivalence_test

        sign = -1.0 if lower_is_better else 1.0
        sides = ([sign * side[id] for id in old] for side in (new, old))
        how = {"margin": margin, "claim": "non-inferiority", "confidence_level": confidence_level, "progress": False}
        found = equivalence_test(*sides, **how)
        low, high = found.interval or (found.delta, found.delta)
        change = f"{sign * found.score_b:.4g} -> {sign * found.score_a:.4g} on {len(new):,} instances"
        limits = f"gain {found.delta:+.4g}, limits [{low:+.4g}, {high:+.4g}], margin {margin:g}"
        if high < -margin:
            pytest.fail(f"{file.stem}: worse than the stored scores: {change}; {limits}", pytrace=False)
        if strict and not low > -margin:
            pytest.fail(f"{file.stem}: not shown to be within the margin: {change}; {limits}", pytrace=False)
        return found


@pytest.fixture
def no_regression(request: pytest.FixtureRequest) -> NoRegression:
    """Give a function to call with scores and a margin; it fails if the scores are worse by more than the margin."""
    folder = request.path.parent / "sigjax_scores"
    return NoRegression(folder, request.node.name, update=bool(request.config.getoption("--sigjax-update")))
