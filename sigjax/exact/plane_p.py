"""Exact p-values of pairs with two axes: one by one in NumPy, many at a time on a GPU."""

import math
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from sigjax.exact.lattice import Lattice
from sigjax.exact.masses import Mass
from sigjax.exact.null import Criterion, Delta, ExactP, sets_of, settling
from sigjax.exact.planes import make_plane, plane_mass
from sigjax.exact.tails import Plane, Tail, add_up
from sigjax.exact.tilt import log_moment, plane_tilt

_SPARE = 30.0
"""The mass outside the box is below exp(-30) = 1e-13 of the p-value."""
_FAR = 40.0
"""The first box serves p-values above exp(-50)."""
_BLOCK = 2**15
"""Points of a plane that are scored at a time, to stay in cache."""


def plane_ps(
    lattices: Sequence[Lattice], deltas: Sequence[Delta], criteria: Sequence[Criterion], platform: str | None = None
) -> list[ExactP]:
    """Exact p-values of pairs with two axes; what they add up is added up together."""
    each = zip(lattices, deltas, criteria, strict=True)
    asking = {pair: _plane_p(*one, platform) for pair, one in enumerate(each)}
    found: dict[int, ExactP] = {}
    replies: dict[int, Mass] = {}
    while asking:
        tails: dict[int, Tail] = {}
        for pair, one in asking.items():
            try:
                tails[pair] = one.send(replies[pair]) if pair in replies else next(one)
            except StopIteration as stop:
                found[pair] = stop.value
        replies = dict(zip(tails, add_up(list(tails.values()), platform), strict=True))
        asking = {pair: asking[pair] for pair in tails}
    return [found[pair] for pair in range(len(lattices))]


def _plane_p(
    lattice: Lattice, delta: Delta, criterion: Criterion, platform: str | None
) -> Generator[Tail, Mass, ExactP]:
    theta = plane_tilt(lattice.rows, lattice.multiplicity, lattice.observed.astype(np.float64))
    rate = float(theta @ lattice.observed - log_moment(lattice.rows @ theta, lattice.multiplicity))
    exponent = _SPARE + min(rate, _FAR) + 10.0
    while True:
        plane = make_plane(lattice, exponent, platform)
        answer = yield from _on_plane(plane, delta, criterion)
        needed = math.inf if answer is None else _SPARE - answer.log10_p * math.log(10.0)
        if answer is not None and plane.log_outside < -needed:
            return answer
        exponent = min(2.0 * exponent, needed + 2.0)


def _on_plane(plane: Plane, delta: Delta, criterion: Criterion) -> Generator[Tail, Mass, ExactP | None]:
    """The p-value from the points of a box; None where no point of it is extreme."""
    height, width = len(plane.first), len(plane.second)
    both, at_all, sets = criterion._replace(alternative="two-sided"), False, []
    rows = max(1, _BLOCK // width)
    for start in range(0, height, rows):
        part = slice(start, start + rows)
        first, inside = plane.first[part, None], plane.inside[part]
        if inside.all():
            deltas = delta(first[None], plane.second[None, None])[0]
        else:  # a score need not be a number where S cannot be
            deltas, at = np.full(inside.shape, np.nan), np.nonzero(inside)
            deltas[at] = delta(first[None, at[0], 0], plane.second[None, at[1]])[0]
        sets.append(sets_of(deltas, criterion, valid=inside, mirrored=inside & (first > 0)))
        at_all |= bool(both.met(deltas).any())
    if not at_all:
        return None
    asking = settling([np.concatenate(parts) for parts in zip(*sets, strict=True)], [plane.lattice.coins])
    reply: Any = None  # begins
    while True:
        try:
            hit, image = asking.send(reply)
        except StopIteration as stop:
            return stop.value[0]
        found = yield from plane_mass(plane, hit.view(np.int8) + image.view(np.int8))
        reply = Mass(np.array([found.log_p]), np.array([found.log_error]))
