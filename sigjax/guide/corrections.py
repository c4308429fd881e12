"""Many pairs: adjusted p, ranks, the top group, leaderboards.

With 25 systems there are 300 pairs. If no two systems differed, 15 of them
would still fall below 0.05 by luck. So p is adjusted for the number of pairs of
each metric (with --family report: of all metrics together), and decisions are
made on adjusted p. With --baseline NAME there are fewer pairs, and so smaller
adjusted p.

CORRECTIONS (--correction)

They bound the probability of any false finding:

{familywise}

They bound the expected share of false findings among the findings:

{false discovery}

{None}

RANKS, LETTERS AND THE TOP GROUP

From three systems on, tables show for each system

ranks     the positions that all significant differences allow;
letters   systems that share one do not differ significantly. Tables leave them
          out where a system has more than 8, and beyond 100 systems there are
          none: the figure `groups` shows who belongs together;

and below them the top group: the systems than which no system is significantly
better. Each of them may be the best (`in_top_group` in JSON and CSV). Ranks,
letters and the top group need all pairs in both directions: there are none with
--baseline or a one-sided test.

By the permutation test and a correction of the first list, all ranks hold
together, and the top group holds every truly best system, with 95% confidence:
they go wrong only by a false finding. That is so for any number of units, but
as far as equally good systems could be exchanged, which is what the test tests.
Where they have equal means alone, and differ by strongly skewed numbers, a best
one was left out in 18, 15 and 10% with 10, 30 and 100 units. By the bootstrap
test (few units: up to 22%), mid-p or other corrections nothing is promised, and
the report names no confidence.

That two systems share a letter does not say that they are equal: this test set
cannot tell them apart. `sigjax equivalence` tests whether they are alike.

LEADERBOARDS (--leaderboard)

adds, from bootstrap resamples, an interval of each system's rank: how stable
its place is. As an interval of the true rank it is too narrow.

ENOUGH RESAMPLES

A sampled p is at least 1 / (resamples + 1). With thousands of pairs, that times
the number of pairs may exceed 0.05: a warning on top of the report then says
which --resamples to give. --resamples auto goes on until decisions are settled
(sigjax help reproducibility).
"""

from textwrap import fill

from sigjax.records import CORRECTIONS


def _listed(rate: str | None) -> str:
    """The corrections that bound an error rate, and when to take each."""
    return "\n".join(
        fill(each.about, 80, initial_indent=f"{each.name:<13}", subsequent_indent=13 * " ")
        for each in CORRECTIONS.values()
        if each.bounds == rate
    )


__doc__ = (__doc__ or "").format_map({str(rate): _listed(rate) for rate in ("familywise", "false discovery", None)})
