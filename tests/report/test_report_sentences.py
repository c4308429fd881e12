"""Sentences: what a test says of all systems of a metric."""

import math
from decimal import Decimal

import pytest
from reports import make_report

from sigjax.report.sections import blocks
from sigjax.report.words import format_p

NAMES = list("abcde")


def sentence(names=NAMES, significant=(), **options):
    """The sentence on systems whose pairs have p = 1e-9 if they are in `significant`, by their positions."""
    report = make_report(names, p_of=lambda i, j: 1e-9 if (i, j) in significant else 0.9, **options)
    return next(blocks(report)).families[0].conclusion


def beyond(*gaps):
    """The pairs of positions with a gap between them."""
    return {(i, j) for i in range(30) for j in range(30) if any(i < gap <= j for gap in gaps)}


@pytest.mark.parametrize(
    ("significant", "expected"),
    [
        (beyond(1, 4), "a beats all others; b, c and d cannot be told apart; e is worst."),
        (
            beyond(2, 3),
            "a and b beat all others and cannot be told apart; c beats all that follow; d and e cannot be told apart.",
        ),
        (beyond(1) | {(1, 4)}, "a beats all others; b, c, d and e overlap (1 of 6 pairs differ)."),
        (beyond(1, 2, 3, 4), "All can be told apart: a, then b, then c, then d, then e."),
        ((), "a, b, c, d and e cannot be told apart."),
        ({(0, 3), (0, 4), (1, 4)}, "a beats d and e; b beats e; no other pair can be told apart."),
    ],
)
def test_groups_of_systems(significant, expected):
    assert sentence(significant=significant) == expected


def test_many_systems_are_counted():
    assert sentence(12, beyond(11)) == (
        "system-1, system-2, system-3, system-4, system-5 and 6 more cannot be told apart; system-12 is worst."
    )
    assert sentence(12, {(0, 10), (0, 11), (1, 11)}) == (
        "3 of 66 pairs differ significantly: system-1, the best, beats 2 of 11 others, and 2 beat system-12, the worst."
    )
    assert sentence(12, beyond(*range(1, 12))) == (
        "All 12 systems can be told apart, from system-1, the best, to system-12, the worst."
    )


@pytest.mark.parametrize(
    ("alpha", "p", "shown"),
    [
        (0.05, 0.05, "0.050"),
        (0.05, 0.04996, "0.04996"),
        (0.05, 0.0500004, "0.050"),
        (0.05, 0.0499999999, "0.0499999999"),
        (0.05, math.nextafter(0.05, 0.0), "0.049999999999999996"),
        (0.0625, 0.0625, "0.0625"),
        (1e-4, 1e-4, "1e-4"),
        (1e-4, 9.99996e-5, "9.99996e-5"),
        (1e-4, 1.00004e-4, "1e-4"),
    ],
)
def test_p_near_alpha_is_shown_with_the_digits_that_tell_its_side(alpha, p, shown):
    text = format_p(p, threshold=alpha)
    assert (text, Decimal(text) < Decimal(repr(alpha))) == (shown, p < alpha)
