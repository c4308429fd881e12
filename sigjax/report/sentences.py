"""What a test says, in sentences: of one pair, and of all systems of a metric."""

from collections.abc import Sequence

import numpy as np

from sigjax.ranking.significance_ranks import significance_clusters
from sigjax.records import Comparison, Comparisons, Settings, SystemScore
from sigjax.report.pairs import MAX_NAMED, has_equal_scores
from sigjax.report.words import ALTERNATIVES, METHODS, count, format_adjusted_p, format_raw_p, is_significant, joined

AT_LEAST = {"two-sided": "large", "greater": "high", "less": "low"}


def pair_sentence(comparison: Comparison) -> str:
    """What the test says of one pair.

    For delta = 0 every resample is at least as extreme, so p = 1 does not show that the systems are identical; a
    standard error of 0 does.
    """
    a, b, settings = comparison.a, comparison.b, comparison.settings
    if has_equal_scores(comparison):
        if comparison.standard_error == 0:
            return f"{a} and {b} have the same score on every resample (p = 1)."
        return f"{a} and {b} have the same score: there is no difference to test (p = 1)."
    test = f"{ALTERNATIVES[settings.alternative]} {comparison.test} test, {METHODS[comparison.method]}"
    p, limit = format_raw_p(comparison), f"{settings.alpha:g}"
    by = "p" if comparison.p_adjusted == comparison.p_value else "adjusted p"
    decides = p if by == "p" else format_adjusted_p(comparison).rstrip("*")
    if is_significant(comparison):
        better, worse = (a, b) if comparison.better == a else (b, a)
        chance = f"the difference is unlikely to be chance ({by} = {decides} < {limit}, {test})"
        return f"{better} is better than {worse}: {chance}."
    not_below = "not below" if by == "p" else f"{by} = {decides}, not below"
    return (
        f"No significant difference between {a} and {b}: if they were equally good, a difference at least this "
        f"{AT_LEAST[settings.alternative]} would arise by chance with probability {p} ({not_below} {limit}, {test})."
    )


def decided(comparisons: Comparisons, settings: Settings) -> list[tuple[str, str]]:
    """The better and the worse system of each pair that differs significantly."""
    significant = comparisons.at(comparisons.column("p_adjusted") < settings.alpha)
    columns = map(significant.values, ("a", "b", "better"))
    return [(a, b) if better == a else (b, a) for a, b, better in zip(*columns, strict=True) if better is not None]


def lone_sentence(num_units: int, num_instances: int, settings: Settings) -> str | None:
    """What there is to say of a single unit; None where there are more, or where its runs are exchanged.

    Swapped, it gives minus the difference: two-sided p is 1 (mid-p 1/2) whatever the difference.
    """
    if num_units > 1 or settings.design in ("crossed", "models"):
        return None
    unit = "instance" if num_instances == 1 else "unit (all instances are one cluster)"
    return f"One {unit} can show nothing: swapped or not, it has a difference of the same size, and p says nothing."


def board_sentence(
    comparisons: Comparisons, systems: Sequence[SystemScore], settings: Settings, *, lower_is_better: bool
) -> str:
    """What the test says of several systems.

    Args:
        comparisons: all their pairs, or each with the baseline.
        systems: from best to worst.
        settings: of the report.
        lower_is_better: whether lower scores are better.
    """
    names = [system.name for system in systems]
    pairs = decided(comparisons, settings)
    if settings.baseline is not None:
        tested = "better" if (settings.alternative == "greater") != lower_is_better else "worse"
        return _against(settings.baseline, names, pairs, None if settings.alternative == "two-sided" else tested)
    position = {name: i for i, name in enumerate(names)}
    beats = np.zeros((len(names), len(names)), bool)
    for better, worse in pairs:
        beats[position[better], position[worse]] = True
    if settings.alternative != "two-sided":
        return _winners(names, beats, len(comparisons), "shows a significant difference in the tested direction")
    clusters = np.array(significance_clusters(beats))
    if clusters[-1] == 1 and beats.any():
        return _winners(names, beats, len(comparisons), "can be told apart")
    if clusters[-1] == len(names):
        if len(names) <= MAX_NAMED:
            return f"All can be told apart: {', then '.join(names)}."
        return f"All {len(names):,} systems can be told apart, from {names[0]}, the best, to {names[-1]}, the worst."
    groups = [np.flatnonzero(clusters == cluster) for cluster in range(1, clusters[-1] + 1)]
    tested = np.zeros_like(beats)
    for a, b in zip(*map(comparisons.values, ("a", "b")), strict=True):
        tested[position[a], position[b]] = True
    return "; ".join(_group(names, beats, tested, group) for group in groups) + "."


def _against(baseline: str, names: list[str], pairs: list[tuple[str, str]], tested: str | None) -> str:
    """The systems that are better than the baseline, those that are worse, and the others."""
    better = {one for one, other in pairs if other == baseline}
    worse = {other for one, other in pairs if one == baseline}
    others = {*names} - better - worse - {baseline}
    are = ((better, f"better than {baseline}"), (worse, f"worse than {baseline}"))
    said = [f"{_named(names, them)} {_is(them)} {what}" for them, what in are if them]
    if others and tested is None:
        said.append(f"{_named(names, others)} cannot be told apart from {baseline}")
    elif others:
        said.append(f"{_named(names, others)} {_is(others)} not shown to be {tested} than {baseline}")
    return "; ".join(said) + "."


def _winners(names: list[str], beats: np.ndarray, pairs: int, otherwise: str) -> str:
    """Who beats whom, where the systems fall into no groups; of many systems how many differ."""
    if len(names) > MAX_NAMED:
        best, worst = int(beats[0].sum()), int(beats[:, -1].sum())
        return (
            f"{int(beats.sum()):,} of {count(pairs, 'pair')} differ significantly: {names[0]}, the best, beats "
            f"{best:,} of {len(names) - 1:,} others, and {worst:,} beat {names[-1]}, the worst."
        )
    beaten = ([names[j] for j in np.flatnonzero(row)] for row in beats)
    said = [f"{name} beats {listed(them)}" for name, them in zip(names, beaten, strict=True) if them]
    if not said:
        return f"No pair {otherwise}."
    return "; ".join([*said, f"no other pair {otherwise}"] if beats.sum() < pairs else said) + "."


def _group(names: list[str], beats: np.ndarray, tested: np.ndarray, group: np.ndarray) -> str:
    """What holds of the systems between two gaps: each beats all of later groups; `tested` is which are a pair."""
    first, last, members = group[0] == 0, group[-1] == len(names) - 1, [names[i] for i in group]
    if len(members) == 1:
        return f"{members[0]} {'beats all others' if first else 'is worst' if last else 'beats all that follow'}"
    inside = beats[np.ix_(group, group)]
    before_worst = group[-1] == len(names) - 2  # and "is worst" says that these are better
    above = "" if last or before_worst else f" beat all {'others' if first else 'that follow'} and"
    if not inside.any():
        return f"{listed(members)}{above} cannot be told apart"
    differ = f"{int(inside.sum()):,} of {count(int(tested[np.ix_(group, group)].sum()), 'pair')} differ"
    return f"{listed(members)}{above} overlap ({differ})"


def _named(names: list[str], them: set[str]) -> str:
    return listed([name for name in names if name in them])


def _is(them: set[str]) -> str:
    return "is" if len(them) == 1 else "are"


def listed(names: Sequence[str]) -> str:
    """Names with "and" before the last; of more than ten the first five and how many more.

    Example:
        >>> listed(["a"]), listed(["a", "b", "c"]), listed([*"abcdefghijkl"])
        ('a', 'a, b and c', 'a, b, c, d, e and 7 more')
    """
    if len(names) > 10:
        names = [*names[:5], f"{len(names) - 5:,} more"]
    return joined(names)
