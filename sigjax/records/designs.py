"""The tests, and the designs for repeated runs: each is declared here, once.

From the records are made refusals, the words of outputs and of the methods paragraph, and what tests exchange and draw.

To add a design: its name in `Design` and its record; and where it exchanges or draws something new, that in `Units`,
`testing.permutation` and `testing.bootstrap`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Test = Literal["permutation", "bootstrap"]
Design = Literal["together", "crossed", "nested", "models"]


@dataclass(frozen=True)
class TestMethod:
    """A test of pairs.

    Attributes:
        name: as it is asked for.
        cites: keys of its entries in `data/references.bib`.
        draws: what it draws where it samples.
    """

    __test__ = False  # not for pytest
    name: Test
    cites: str
    draws: str


TESTS: dict[str, TestMethod] = {
    each.name: each
    for each in (
        TestMethod("permutation", "noreen1989,yeh2000", "permutations"),
        TestMethod("bootstrap", "davison1997,efron1993,bergkirkpatrick2012", "bootstrap resamples"),
    )
}


@dataclass(frozen=True)
class DesignMethod:
    """What happens to repeated runs of an instance.

    Attributes:
        name: as it is asked for.
        exchanges: what the permutation test exchanges: units with all their runs, outputs within units, or whole runs.
        draws: what the bootstrap draws: units with all their runs, or units and then outputs within each; None where
            there is no bootstrap, since runs are trained models.
        words: a sentence of the methods paragraph.
        cites: keys of what its permutation test cites in place of that of pairs.
        beside: what tables say beside the name of a test.
        refused: why the design is refused where nothing uses it.
    """

    name: Design
    exchanges: Literal["units", "outputs", "runs"]
    draws: Literal["units", "outputs", None]
    words: str = ""
    cites: str = ""
    beside: dict[str, str] = field(default_factory=dict)
    refused: str = ""

    def reason_against(self, tests: Sequence[Test], *, intervals: bool) -> str | None:
        """Why these tests, with or without intervals, do not go with the design; None if they do."""
        used = set(tests) & set(self.beside) or (intervals and self.draws == "outputs")
        allowed = set(tests) == {"permutation"} if self.draws is None else self.exchanges == self.draws or used
        return None if allowed else self.refused


DESIGNS: dict[Design, DesignMethod] = {
    each.name: each
    for each in (
        DesignMethod("together", "units", "units"),
        DesignMethod(
            "crossed",
            "outputs",
            "units",
            "Permutation tests exchanged the outputs of runs within units.",
            "",
            {"permutation": ", outputs exchanged within units"},
            "design crossed belongs to the permutation test; ask for it, or use design nested",
        ),
        DesignMethod(
            "nested",
            "units",
            "outputs",
            "The bootstrap drew units, and then runs within each.",
            "",
            {"bootstrap": ", runs drawn within units"},
            "design nested belongs to the bootstrap; ask for its test or intervals, or use crossed",
        ),
        DesignMethod(
            "models",
            "runs",
            None,
            "Permutation tests exchanged whole runs (trained models).",
            "pitman1937,noreen1989",
            {"permutation": ", whole runs exchanged"},
            "design models has no bootstrap test; leave it out (its intervals are two-way intervals)",
        ),
    )
}
