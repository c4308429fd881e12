"""What the tests of other programs give on the same resamples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sigjax.records.brief import Brief
from sigjax.records.domains import Probability
from sigjax.records.settings import Test

Peer = Literal["sacrebleu", "scipy", "ranx"]
PeerName = Literal[
    "sacrebleu --paired-ar",
    "sacrebleu --paired-bs",
    "scipy permutation_test",
    "scipy bootstrap",
    "ranx fisher",
    "ranx student",
    "ranx bootstrap",
]
"""A test, as its program names it."""


@dataclass(frozen=True, repr=False)
class PeerTest(Brief):
    """The p-values of another program's test, by its formula on the resamples that ours draws.

    Attributes:
        name: the test, as its program names it.
        metric: name of the metric.
        test: our test, beside which this one stands.
        about: how its p-value is made, in one line; or why it has none.
        p_values: of all pairs of the metric, in the order of the comparisons, not adjusted; None where its formula
            gives no number. Empty where the program has no such test.
    """

    name: PeerName
    metric: str
    test: Test
    about: str
    p_values: tuple[Probability | None, ...]
