"""Where each system stands, by the decisions on all pairs of one metric: the records' side of `ranking.groups`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigjax.ranking.groups import compact_letters, rank_intervals, significance_clusters
from sigjax.records import Comparisons, Settings

_LETTERED = 100
"""Systems that get letters at most: nobody reads more, and cliques of very many systems take long to find."""


class Standing(NamedTuple):
    """What the decisions say of one system, as in `SystemScore`; None where not all pairs are tested in both ways."""

    rank_interval: tuple[int, int] | None = None
    letters: str | None = None
    cluster: int | None = None


def standings(names: Sequence[str], comparisons: Comparisons, settings: Settings) -> list[Standing]:
    """The standing of each system, by the first test of the settings; `names` are those of the systems, best first."""
    if settings.baseline is not None or settings.alternative != "two-sided":
        return [Standing()] * len(names)
    beats = _beats(names, comparisons.where("test", settings.tests[0]), settings)
    letters = compact_letters(beats | beats.T) if len(names) <= _LETTERED else None
    each = zip(rank_intervals(beats), letters or [None] * len(names), significance_clusters(beats), strict=True)
    return [Standing(*of_system) for of_system in each]


def _beats(names: Sequence[str], comparisons: Comparisons, settings: Settings) -> np.ndarray:
    """`[system, system]` bool: whether the first system is significantly better than the second."""
    place: dict[str | None, int] = {name: position for position, name in enumerate(names)}
    a, b, better = (
        comparisons.column(field).mapped(lambda name: place.get(name, -1)) for field in ("a", "b", "better")
    )
    decided = (comparisons.column("p_adjusted") < settings.alpha) & (better >= 0)
    beats = np.zeros((len(names), len(names)), bool)
    beats[better[decided], (a + b - better)[decided]] = True
    return beats
