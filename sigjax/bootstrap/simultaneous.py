r"""Simultaneous intervals: $\hat\theta_j \pm c\,s_j$ for all pairs j of a metric, which hold together at the level.

s are the bootstrap standard errors, and c is the quantile at the level, over resamples, of the largest
$|\theta^*_j - \hat\theta_j| / s_j$ of all pairs. Resamples are the same for all pairs, so c accounts for how they
depend on each other and is smaller than Bonferroni's. The scores of all systems have a c of their own. What does not
vary (s is 0, or rounding) is left out of the maximum.

Replicates that do not fit into memory are drawn twice: a summary of the first time gives standard errors (accurate to
1e-5 of themselves), the second time gives the maxima, all of which are kept.

References: Romano and Wolf (2005), "Exact and approximate stepdown methods for multiple hypothesis testing"; Westfall
and Young (1993), "Resampling-based multiple testing"; Davison and Hinkley (1997), section 5.2, for one interval.
"""

from __future__ import annotations

import numpy as np

from sigjax.bootstrap.intervals import Percentile, Spread, standard_errors
from sigjax.records import InputError, Interval, Settings
from sigjax.run.host import fits, gib, in_threads, memory_for

_COLUMNS = 2**11
"""Resamples whose maxima are taken together, as many as stay in the cache."""


class Simultaneous(Percentile):
    """Simultaneous intervals."""

    def keeps(self, resamples: int, settings: Settings) -> bool:
        """As for other kinds, but the maxima must fit.

        Raises:
            InputError: they do not.
        """
        kept, needed = super().keeps(resamples, settings), gib((2, resamples))
        if not (kept or fits(needed, settings)):
            raise InputError(
                f"simultaneous intervals keep two numbers a resample; give --memory {memory_for(needed):g} (GiB) or "
                "more, or fewer resamples"
            )
        return kept

    def spreads(self, rows: np.ndarray, places: slice) -> list[Spread]:
        """Standard errors alone."""
        del places
        return [Spread(error) for error in standard_errors(rows).tolist()]

    def with_all(self, spreads: list[Spread], values: np.ndarray) -> list[Spread]:
        """Intervals, from the standard errors and all replicates."""
        return self.joined(spreads, self.largest_deviations(values, spreads))

    def largest_deviations(self, values: np.ndarray, spreads: list[Spread]) -> np.ndarray:
        r"""$\max_j |\theta^*_j - \hat\theta_j| / s_j$ `[group, resample]` over the systems, then over the pairs.

        Args:
            values: `[system, resample]` replicates of the scores.
            spreads: with standard errors s of all targets.
        """
        errors = np.array([spread.standard_error for spread in spreads])

        def of_piece(start: int) -> np.ndarray:
            return self._of_piece(values[:, start : start + _COLUMNS], errors)

        return np.concatenate(in_threads(of_piece, range(0, values.shape[1], _COLUMNS)), axis=1)

    def joined(self, spreads: list[Spread], maxima: np.ndarray) -> list[Spread]:
        """The same standard errors with simultaneous intervals, from `maxima` `[group, resample]`."""
        errors, observed = np.array([spread.standard_error for spread in spreads]), self.targets.observed
        factors = np.zeros(len(errors))
        for of_group, group in zip(maxima, self._groups(), strict=True):
            factors[group] = np.quantile(of_group, self.level)
        low, high = (observed + sign * factors * errors for sign in (-1.0, 1.0))
        found = zip(errors.tolist(), low.tolist(), high.tolist(), strict=True)
        return [Spread(error, Interval(*ends)) for error, *ends in found]

    def _of_piece(self, values: np.ndarray, errors: np.ndarray) -> np.ndarray:
        members, observed, tolerance, _ = self.targets
        found = np.zeros((2, values.shape[1]))
        for largest, group in zip(found, self._groups(), strict=True):
            for place in np.flatnonzero((errors > tolerance)[group]) + group.start:
                a, b = members[place]
                apart = (values[a] - values[b] if b < len(values) else values[a]) - observed[place]
                np.maximum(largest, np.abs(apart) / errors[place], out=largest)
        return found

    def _groups(self) -> tuple[slice, slice]:
        """Places of the targets whose intervals hold together: systems, pairs."""
        num_systems = self.targets.num_systems
        return slice(0, num_systems), slice(num_systems, len(self.targets.members))
