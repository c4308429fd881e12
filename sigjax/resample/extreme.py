"""The criterion of all tests, which decides whether a value is at least as extreme as the observed value."""

from typing import Any, NamedTuple, Self

import numpy as np

from sigjax.records import Alternative, Array


class Extreme(NamedTuple):
    """The criterion for values that are at least as extreme as observed, if their null distribution is centred at 0.

    A value within `tolerance` of the observed value is a tie. Ties are extreme, but with `mid_p` they count only 1/2.
    The axes of `observed` and `tolerance` are the first axes of the values. (Before you use the criterion for bootstrap
    deltas, subtract their centre.)

    >>> Extreme(np.array([0.2]), np.array([1e-12]), "two-sided").met(np.array([[-0.2, 0.1, 0.2]]))
    array([[ True, False,  True]])
    """

    observed: Any
    """[...]: the observed values."""
    tolerance: Any
    """[...]: values that differ from the observed value by at most this are ties."""
    alternative: Alternative
    mid_p: bool = False
    """Whether ties count 1/2 instead of 1."""

    def met(self, values: Array) -> Any:
        """Whether values `[..., value]` are at least as extreme as observed."""
        observed, tolerance = _along(self.observed, values), _along(self.tolerance, values)
        if self.alternative == "greater":
            return values >= observed - tolerance
        if self.alternative == "less":
            return values <= observed + tolerance
        return abs(values) >= abs(observed) - tolerance

    def tied(self, values: Array) -> Any:
        """Whether values `[..., value]` are at most as extreme as observed; a value is a tie if it is also `met`."""
        observed, tolerance = _along(self.observed, values), _along(self.tolerance, values)
        if self.alternative == "greater":
            return values <= observed + tolerance
        if self.alternative == "less":
            return values >= observed - tolerance
        return abs(values) <= abs(observed) + tolerance

    def checked(self) -> Self:
        """Check (for an exact test) that the observed values are extreme by this criterion, and return the criterion.

        If an observed value were not extreme, p could be 0.

        Raises:
            RuntimeError: the observed outcome is not extreme.
        """
        if not np.all(self.met(np.asarray(self.observed)[..., None])):
            raise RuntimeError("internal error of sigjax: the observed outcome is not at least as extreme as itself")
        return self

    def weight(self, values: np.ndarray) -> np.ndarray:
        """Return the weight of values `[..., value]` in the p-value: 1 if extreme, 1/2 if a tie in mid-p, else 0."""
        return self.met(values) * np.where(self.mid_p & self.tied(values), 0.5, 1.0)

    @property
    def least(self) -> Any:
        """[...]: values whose size (see `size`) is at least this are extreme."""
        return size(self.observed, self.alternative) - self.tolerance

    @property
    def beyond(self) -> Any:
        """[...]: values whose size (see `size`) is larger than this are more extreme than observed."""
        return size(self.observed, self.alternative) + self.tolerance


def size(values: Any, alternative: Alternative) -> Any:
    """Return the sizes of values: a value is more extreme if its size is larger.

    >>> size(np.array([-0.2, 0.1]), "two-sided"), size(np.array([-0.2, 0.1]), "less")
    (array([0.2, 0.1]), array([ 0.2, -0.1]))
    """
    return abs(values) if alternative == "two-sided" else values if alternative == "greater" else -values


def _along(of_pairs: Any, values: Any) -> Any:
    """Append axes of length 1 to `of_pairs` `[...]`, so that it broadcasts against `values` `[..., value]`."""
    return of_pairs.reshape(of_pairs.shape + (1,) * (values.ndim - of_pairs.ndim))
