"""Letters, clusters and ranks from the decisions on pairs: by their definitions, enumeration and simulation."""

import math
from itertools import combinations, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sigjax.multiple.ranks import LETTERS, compact_letters, rank_intervals, significance_clusters, top_group

SIZES = st.integers(1, 11)


@st.composite
def decisions(draw):
    """Any symmetric matrix of decisions."""
    size = draw(SIZES)
    differs = np.zeros((size, size), bool)
    for i, j in combinations(range(size), 2):
        differs[i, j] = differs[j, i] = draw(st.booleans())
    return differs


def threshold_decisions(scores, apart):
    return abs(scores[:, None] - scores) >= apart


@settings(max_examples=300, deadline=None)
@given(decisions())
def test_systems_share_a_letter_if_and_only_if_they_do_not_differ(differs):
    letters = compact_letters(differs)
    for i, j in combinations(range(len(differs)), 2):
        assert bool(set(letters[i]) & set(letters[j])) != differs[i, j]
    assert all(letters)
    used = list(dict.fromkeys("".join(letters)))
    assert used == list(LETTERS[: len(used)])  # the best system has an a, and each letter begins after those before it


@settings(max_examples=300, deadline=None)
@given(decisions())
def test_no_letter_can_be_left_out(differs):
    letters = compact_letters(differs)
    assert letters is not None
    for letter in set("".join(letters)):
        rest = [set(each) - {letter} for each in letters]
        pairs = combinations(range(len(differs)), 2)
        covered = all(differs[i, j] or rest[i] & rest[j] for i, j in pairs)
        assert not (covered and all(rest))


def fewest_cliques(differs):
    """By trying all sets of maximal cliques."""
    size = len(differs)
    subsets = [
        set(each)
        for count in range(1, size + 1)
        for each in combinations(range(size), count)
        if not any(differs[i, j] for i, j in combinations(each, 2))
    ]
    maximal = [each for each in subsets if not any(each < other for other in subsets)]
    pairs = [{i, j} for i in range(size) for j in range(i, size) if not differs[i, j]]
    for count in range(1, len(maximal) + 1):
        for some in combinations(maximal, count):
            if all(any(pair <= each for each in some) for pair in pairs):
                return count
    raise AssertionError


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=7), st.integers(1, 10))
def test_letters_are_the_fewest_where_distance_decides(scores, apart):
    differs = threshold_decisions(np.sort(scores)[::-1], apart)
    assert len(set("".join(compact_letters(differs)))) == fewest_cliques(differs)


def test_letters_of_overlapping_groups_and_of_a_system_apart():
    differs = threshold_decisions(np.array([9.0, 7.5, 7.0, 5.5, 1.0]), 2.0)
    assert compact_letters(differs) == ("a", "ab", "bc", "c", "d")


@settings(max_examples=200, deadline=None)
@given(decisions())
def test_clusters_are_the_most_that_beat_all_later_ones(differs):
    """Boundaries by their definition, pair by pair."""
    clusters = significance_clusters(np.triu(differs))
    for place in range(1, len(differs)):
        apart = all(differs[i, j] for i in range(place) for j in range(place, len(differs)))
        assert clusters[place] - clusters[place - 1] == apart
    assert clusters[0] == 1


@settings(max_examples=100, deadline=None)
@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=15, max_size=15))
def test_rank_intervals_hold_all_orders_that_decisions_allow(order, decided):
    """Decisions that agree with a true order; the ranks of all orders that agree with them are within."""
    rank = np.argsort(order)
    beats = np.zeros((6, 6), bool)
    for (i, j), known in zip(combinations(range(6), 2), decided, strict=True):
        if known:
            beats[(i, j) if rank[i] < rank[j] else (j, i)] = True
    allowed = [
        each
        for each in permutations(range(6))
        if all(each.index(i) < each.index(j) for i, j in np.argwhere(beats).tolist())
    ]
    for system, ((low, high), in_group) in enumerate(zip(rank_intervals(beats), top_group(beats), strict=True)):
        places = [each.index(system) + 1 for each in allowed]
        assert low <= min(places)
        assert max(places) <= high
        assert in_group == (min(places) == 1)


def test_rank_intervals_hold_together_with_the_probability_of_the_level():
    """Normal scores of known means, Bonferroni at 0.9: the share of misses is below 0.1 but for binomial error."""
    from scipy.stats import norm

    generator, means, trials = np.random.default_rng(3), np.array([2.0, 2.0, 1.9, 1.0, 0.0, 0.0]), 2000
    size = len(means)
    limit = norm.isf(0.1 / (size * (size - 1) / 2) / 2) * math.sqrt(2.0)
    best, worst = 1 + (means > means[:, None]).sum(axis=1), size - (means < means[:, None]).sum(axis=1)
    missed = decided = 0
    for _ in range(trials):
        drawn = means + generator.normal(size=size) * 0.5
        beats = drawn[:, None] - drawn > limit * 0.5
        low, high = np.array(rank_intervals(beats)).T
        missed += bool(np.any((low > best) | (high < worst)))
        decided += int(beats.sum())
    assert missed / trials <= 0.1 + 4 * math.sqrt(0.1 * 0.9 / trials)
    assert decided > trials  # the intervals say something
