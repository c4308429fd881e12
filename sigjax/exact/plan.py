"""Which exact algorithm a pair takes, and its cost, known before anything is computed.

Costs are nominal seconds: terms times constants measured once on a slow core. They do not depend on the machine, so
the same data take the same algorithm everywhere.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from sigjax.exact.bracket import Step, choose_step
from sigjax.exact.charfun import grid_lengths
from sigjax.exact.convolution import dp_cost, tree_cost
from sigjax.exact.lattice import Lattice, NotEligible
from sigjax.exact.signs import MOST_COINS, count_extreme
from sigjax.exact.tilt import windows

Way = Literal["identical", "line", "plane", "halves", "signs", "extreme", "bracket", "dp", "tree"]

_PATIENCE = 1.0
"""Nominal seconds that an exact value may take where a bracket would be narrow enough."""
_BOX = 80.0
"""Exponent of the two-axis box whose cost is counted: that of a p-value near 1e-20."""
_MANY = 200
"""From this many coins on, the characteristic function is near exp(-coins / 4) at a random frequency."""
_LARGEST_STEP = 2**40
"""Differences beyond this are not exact in the arithmetic of a grid."""


class Plan(NamedTuple):
    """How to test a pair exactly."""

    way: Way
    lattice: Lattice
    seconds: float
    """Nominal."""
    num_bytes: float
    step: Step | None = None
    """For a bracket."""
    length: int = 0
    """Values of the grid on one axis."""


def plan_pair(lattice: Lattice, method: str, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
    """The algorithm for a lattice, if one fits into memory.

    Args:
        lattice: the pair.
        method: "dp", "tree", or anything else for the fastest.
        rounded: the statistics are rounded reals, so their lattice means nothing.
        num_bytes: memory that may be used.
    """
    if lattice.axes == 0:
        return Plan("identical", lattice, 0.0, 0.0)
    if method in ("dp", "tree"):
        plan = _named(lattice, "dp" if method == "dp" else "tree")
        if rounded:
            return NotEligible(f"the statistics are reals, held rounded; {method} takes whole numbers or decimals")
        return plan if plan.num_bytes <= num_bytes else _too_large(plan, num_bytes)
    if lattice.axes == 1:
        return _on_one_axis(lattice, rounded=rounded, num_bytes=num_bytes)
    if rounded:
        return NotEligible("two statistics differ and are reals, held rounded; exact tests of two take whole numbers")
    plan = _plane(lattice)
    return plan if plan.num_bytes <= num_bytes else _too_large(plan, num_bytes)


def _on_one_axis(lattice: Lattice, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
    """The fastest exact algorithm; a bracket where all take too long or too much memory."""
    plans = [*_halves(lattice)] if rounded else [*_halves(lattice), _line(lattice)]
    quick = [plan for plan in plans if plan.seconds <= _PATIENCE and plan.num_bytes <= num_bytes]
    if quick:
        return min(quick, key=lambda plan: plan.seconds)
    plans += [*_extreme(lattice), _bracket(lattice)]
    fitting = [plan for plan in plans if plan.num_bytes <= num_bytes]
    if not fitting:
        return _too_large(min(plans, key=lambda plan: plan.num_bytes), num_bytes)
    return min(fitting, key=lambda plan: plan.seconds)


def _too_large(plan: Plan, num_bytes: float) -> NotEligible:
    """The reason, with the memory needed."""
    reason = f"an exact test takes about {_gib(plan.num_bytes)} GiB, more than {_gib(num_bytes)}"
    return NotEligible(reason, plan.seconds, plan.num_bytes / 2**30)


def _gib(num_bytes: float) -> str:
    return f"{num_bytes / 2**30:,.3g}"


def _terms(lattice: Lattice, length: float) -> float:
    """Seconds for the characteristic function; of many units it is negligible at most frequencies."""
    return (1e-9 if lattice.coins < _MANY else 4e-11) * length * len(lattice.rows)


def _line(lattice: Lattice) -> Plan:
    (length,) = grid_lengths(lattice)
    values = length + float(np.abs(lattice.observed[0])) / 2.0
    usable = float(lattice.rows.max()) < _LARGEST_STEP
    seconds = 4e-5 + 2e-7 * values + 0.25 * _terms(lattice, length)
    return Plan("line", lattice, seconds, 150.0 * values if usable else math.inf, length=length)


def _halves(lattice: Lattice) -> list[Plan]:
    if lattice.coins > MOST_COINS:
        return []
    sums = 2 ** (lattice.coins // 2 + 1)  # to sort and to look up
    return [Plan("halves", lattice, 3e-4 + 1.5e-8 * sums, 40.0 * sums)]


def _extreme(lattice: Lattice) -> list[Plan]:
    count = count_extreme(lattice, abs(int(lattice.observed[0])))
    return [] if count is None else [Plan("extreme", lattice, 2e-4 + 1e-6 * (count + lattice.coins), 40.0 * count)]


def _bracket(lattice: Lattice) -> Plan:
    step = choose_step(lattice, abs(float(lattice.observed[0])))
    seconds = 3e-3 + 4e-7 * step.length + _terms(lattice, step.length)
    return Plan("bracket", lattice, seconds, 250.0 * step.length, step)


def plan_signs(lattice: Lattice) -> Plan:
    """All signs of few units, see `few_units`."""
    cost = lattice.axes * math.ldexp(0.5, lattice.coins)  # outcomes times statistics
    return Plan("signs", lattice, 5e-4 + 1e-7 * cost, 100.0 * cost)


def _plane(lattice: Lattice) -> Plan:
    box = windows(lattice.rows, lattice.multiplicity, np.zeros(2), _BOX).max(axis=1)
    points = float(np.prod(np.minimum(box, lattice.reach) + 1.0))
    return Plan("plane", lattice, 2.5e-3 + 6e-8 * points + _terms(lattice, points), 40.0 * points)


def _named(lattice: Lattice, way: Literal["dp", "tree"]) -> Plan:
    """The algorithms of Zmigrod et al. hold every value that the sum can reach."""
    points = float(np.prod(lattice.reach.astype(np.float64) + 1.0))
    if way == "dp":
        return Plan("dp", lattice, 0.2 + 1.5e-9 * dp_cost(lattice), 60.0 * points)
    return Plan("tree", lattice, 1.0 + 1e-8 * tree_cost(lattice), 320.0 * points)
