"""The criterion of all tests: whether a value is at least as extreme as observed."""

from typing import Any, NamedTuple, Self

import numpy as np

from sigjax.records import Alternative, Array


class Extreme(NamedTuple):
    """The criterion for values at least as extreme as observed; their null distribution is centred at 0.

    Ties within the tolerance count as 1, or as 1/2 with `mid_p`. The axes of `observed` and `tolerance` are the first
    axes of the values. (Centre bootstrap deltas before you use the criterion.)

    >>> Extreme(np.array([0.2]), np.array([1e-12]), "two-sided").met(np.array([[-0.2, 0.1, 0.2]]))
    array([[ True, False,  True]])
    """

    observed: Any
    """[...] the observed values."""
    tolerance: Any
    """[...]: values closer than this are ties."""
    alternative: Alternative
    mid_p: bool = False
    """Count ties half."""

    def met(self, values: Array) -> Any:
        """Whether values `[..., value]` are extreme."""
        observed, tolerance = _along(self.observed, values), _along(self.tolerance, values)
        if self.alternative == "greater":
            return values >= observed - tolerance
        if self.alternative == "less":
            return values <= observed + tolerance
        return abs(values) >= abs(observed) - tolerance

    def tied(self, values: Array) -> Any:
        """Whether extreme values `[..., value]` are no more extreme than observed."""
        observed, tolerance = _along(self.observed, values), _along(self.tolerance, values)
        if self.alternative == "greater":
            return values <= observed + tolerance
        if self.alternative == "less":
            return values >= observed - tolerance
        return abs(values) <= abs(observed) + tolerance

    def checked(self) -> Self:
        """Return this criterion, after a check (for an exact test) that the observed outcome counts as extreme.

        If it did not count as extreme, p could be 0.

        Raises:
            RuntimeError: the observed outcome is not extreme.
        """
        if not np.all(self.met(np.asarray(self.observed)[..., None])):
            raise RuntimeError("internal error of sigjax: the observed outcome is not at least as extreme as itself")
        return self

    def weight(self, values: np.ndarray) -> np.ndarray:
        """The weight of values `[..., value]` in the p-value: 0, 1, or 1/2."""
        return self.met(values) * np.where(self.mid_p & self.tied(values), 0.5, 1.0)

    @property
    def least(self) -> Any:
        """[...]: the size (see `size`) at which values begin to be extreme."""
        return size(self.observed, self.alternative) - self.tolerance

    @property
    def beyond(self) -> Any:
        """[...]: values of a larger size than this are more extreme than observed."""
        return size(self.observed, self.alternative) + self.tolerance


def size(values: Any, alternative: Alternative) -> Any:
    """The size of values: the larger it is, the more extreme they are.

    >>> size(np.array([-0.2, 0.1]), "two-sided"), size(np.array([-0.2, 0.1]), "less")
    (array([0.2, 0.1]), array([ 0.2, -0.1]))
    """
    return abs(values) if alternative == "two-sided" else values if alternative == "greater" else -values


def _along(of_pairs: Any, values: Any) -> Any:
    """Numbers of pairs with further axes of length 1, so that they broadcast against values."""
    return of_pairs.reshape(of_pairs.shape + (1,) * (values.ndim - of_pairs.ndim))
