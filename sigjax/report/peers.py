"""What other programs would say, beside our p-values: rows and columns of tables, and one line for each of their tests.

Nothing here replaces a p-value of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sigjax.records import CORRECTIONS, Comparison, Comparisons, Settings
from sigjax.records.peers import PeerTest
from sigjax.report.words import count, format_p, is_significant

_KEYS = ("name", "metric", "test", "about")
_NAMED = 5
"""Pairs with another decision that a line names."""


def peer_lines(family: Any) -> list[str]:
    """What the tests of other programs say of the pairs of one metric and test."""
    return [_line(peer, family.comparisons, family.settings) for peer in family.peers]


def _line(peer: PeerTest, comparisons: Comparisons, settings: Settings) -> str:
    """What a test of another program says of the pairs of one metric, and why it differs."""
    if not peer.p_values:
        return f"{peer.name}: {peer.about}."
    others = [
        (one, p)
        for one, p in zip(comparisons, peer.p_values, strict=True)
        if _decides(p, settings) != is_significant(one)
    ]
    resamples = "" if peer.name == "ranx student" else f" on {settings.fixed_resamples:,} resamples"
    if len(comparisons) == 1:
        verdict = "another decision" if others else "the same decision"
        text = f"p = {_shown(peer.p_values[0], settings)}{resamples}, {verdict} at {settings.alpha:g}"
    elif not others:
        text = f"the same decision at {settings.alpha:g} for all {count(len(comparisons), 'pair')}{resamples}"
    else:
        of_all = f"{len(others):,} of {count(len(comparisons), 'pair')}"
        text = f"another decision at {settings.alpha:g} for {of_all}{resamples}: "
        text += "; ".join([_other(one, p, settings) for one, p in others[:_NAMED]])
        text += f"; and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
    return f"{peer.name}: {text}. {_why(peer, others, settings)}"


def _other(one: Comparison, p_value: float | None, settings: Settings) -> str:
    ours = format_p(one.p_value, threshold=settings.alpha)
    if one.p_adjusted is not None and one.p_adjusted != one.p_value:
        ours += f", adjusted {format_p(one.p_adjusted, threshold=settings.alpha)}"
    return f"{one.a} - {one.b} (p {_shown(p_value, settings)}, here {ours})"


def _why(peer: PeerTest, others: Sequence[tuple[Comparison, float | None]], settings: Settings) -> str:
    """How its p-value is made, and whether the correction is what makes another decision."""
    about = f"{peer.about[:1].upper()}{peer.about[1:]}."
    adjusted = sum(_decides(p, settings) == (one.p_value < settings.alpha) for one, p in others)
    if not adjusted:
        return about
    which = "" if adjusted == len(others) else f" (which alone explains {adjusted:,})"
    ours = CORRECTIONS[settings.correction].title
    return f"It does not adjust p for the number of pairs{which}, and we do by {ours}. {about}"


def _decides(p_value: float | None, settings: Settings) -> bool:
    return p_value is not None and p_value < settings.alpha


def _shown(p_value: float | None, settings: Settings) -> str:
    if p_value is None:
        return "undefined"
    return format_p(p_value, digits=3, threshold=settings.alpha) if p_value else "0"


def peer_columns(peers: Sequence[PeerTest], settings: Settings) -> dict[str, list[str]]:
    """The p-values of each test that has some, `[pair]`, as cells."""
    return {f"p ({peer.name})": [_shown(p, settings) for p in peer.p_values] for peer in peers if peer.p_values}


def peers_of(report: Any, metric: str, test: str) -> tuple[PeerTest, ...]:
    """The tests of other programs beside one of ours."""
    return tuple([peer for peer in report.compat if (peer.metric, peer.test) == (metric, test)])


def peer_rows(report: Any) -> list[dict[str, Any]]:
    """What JSON says: each test, with its pairs in the order of the comparisons."""
    groups, rows = report.comparisons.groups(), []
    for peer in report.compat:
        pairs = zip(groups[peer.metric, peer.test], peer.p_values, strict=False)
        rows.append({key: getattr(peer, key) for key in _KEYS})
        rows[-1]["pairs"] = [
            {
                "a": one.a,
                "b": one.b,
                "p_value": p_value,
                "significant": (decided := _decides(p_value, report.settings)),
                "same_decision": decided == is_significant(one),
            }
            for one, p_value in pairs
        ]
    return rows
