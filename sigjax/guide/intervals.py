"""Intervals: which kinds there are, and which is the default.

Standard errors and intervals say how a score, or a difference, would vary on
other test sets of this size. Intervals are [low, high], at --level (0.95), and
not forced to be symmetric. The interval of a difference takes into account that
both systems saw the same instances: that the intervals of two scores overlap
says nothing about the pair.

KINDS (--interval)

auto           The default, see below. Needs no resamples, and holds for few
               units and for clusters of unequal size.
simultaneous   The same, at a level at which all deltas of a metric, and all its
               scores, hold together: by draws, or Bonferroni's for few units.
percentile     Quantiles of the bootstrap replicates: narrow for few units and
               for unequal clusters, and [1, 1] where all answers are right.
basic          The same, reflected at the observed value: poor for proportions
               near 0 or 1.
bca            Quantiles at levels corrected for bias and skewness: narrow for
               few units with heavy tails.
studentized    By the delta-method standard error of every resample: nearest to
               its level for means of skewed numbers; smooth metrics of sums.
inversion      The deltas that the permutation test rejects on neither side:
               right for symmetric differences, however few the units. For
               deltas; scores keep percentile intervals.
two-way        delta +/- t s, s from the variance of runs and of instances: for
               trained models (--design models), and no other design.
none           No intervals.

WHAT auto TAKES

data                                             scores       deltas
-------------------------------------------------------------------------
right or wrong, one answer per unit, no strata   wilson       tango
other metrics of sums: means, F1, BLEU; any      skew-t       wide-t
  of these with clusters, strata or runs
metrics of whole columns (median), nested runs   percentile   percentile
trained models (--design models)                 two-way      two-way

`interval_kind` of every score and pair says which, and so does a note of the
report. For 20 of 20 right answers, wilson is [0.84, 1].

Both are Student's t with the standard error of the jackknife, corrected for
skewness; for symmetric numbers they are the interval of a textbook. Its degrees
of freedom are units minus strata, or far fewer where a few clusters hold most
of the instances (Satterthwaite's rule, for units of equal variance; the note
names them). Where strata vary very unequally, t is too bold.

skew-t is Hall's correction for skewness. Its ends are at most twice, and at
least half, as far from the score as those of t: with few units the skewness is
hardly known, and one outlier would stretch the interval without limit.
wide-t moves the end on the side of the long tail in the same way, and leaves
the other one: differences are often symmetric with heavy tails, where an end
that came nearer would miss too often. It is never shorter than t. Tests of
equivalence go by it.
Intervals by t end where the scale of the metric ends (F1 at 0 and 1, BLEU at 0
and 100, error rates at 0, means of 0 and 1 at 0 and 1; other means nowhere).

MIND

- All kinds respect clusters, and all but inversion respect strata.
- Where an interval does not exist it is left out, and a note says so.
- An interval of no length (by t, where all units are alike) says nothing of
  other units; a note says so, too.
- With 10 to 30 strongly skewed numbers, or differences, even the best intervals
  miss in 7 to 10% instead of 5%, and a note says so; by t it would be 12 to
  16%. Where fewer than about five units differ at all (but for answers right or
  wrong), no interval says much. How often each kind holds the truth was
  measured: benchmarks/README.md, Calibration.
"""
