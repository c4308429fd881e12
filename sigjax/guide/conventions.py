"""Conventions: ties, sides, rounding, standard errors.

P-VALUES

- delta is the score of the first system of a pair, in the order of the data,
  minus that of the second. Metrics such as TER, where lower is better, keep
  their sign; `better` names the better system.
- Ties count as extreme. Two-sided means |delta*| >= |delta|. The bootstrap
  centres first: |delta* - delta| >= |delta|. One-sided it takes delta* - delta
  >= delta, or with --variant flip delta - delta* >= delta, that is delta* <= 0.
- Monte Carlo p = (exceed + 1) / (resamples + 1), never 0; with --resamples auto
  a little more. Exact p has no such addition. Where no bootstrap resample can
  be as extreme, and p would be 0, auto samples and --method exact stops.
- Where no unit differs, p = 1, also one-sided and with --mid-p: identical
  systems, and systems whose clusters, or runs of an instance, have equal sums.
  --design crossed exchanges outputs within instances: there p = 1 where all
  outputs of an instance are the same. Otherwise identical systems have p = 1 in
  two-sided tests only: for one instance with the runs 1, 0, 0 in both systems,
  the one-sided p is 0.8, as delta* >= 0 on 16 of 20 exchanges.
- A permutation test asks whether the outputs of two systems could be exchanged;
  a large p says that this test set cannot tell, not that the systems are equal.

DATA

- Instances are joined by id where the format has ids, else by position, and
  then all systems must have as many.
- NaN, infinity and missing results are refused unless --missing says what to do
  with them: drop leaves out instances that a system lacks, zero counts 0, and
  pairwise tests each pair on the instances that both have (the numbers that the
  two would have alone, with drop) and scores each system on those that it has.
  The report says how many. With pairwise, two systems may be scored on other
  instances: look at deltas and p, not at the order of the scores.
- One-sided tests (--alternative greater) are for a direction chosen before
  looking at the data.

NUMBERS

- Statistics are held as whole numbers (decimals in steps of their last digit),
  so sums are exact in any order. Other reals are rounded to a fine common grid,
  and refused where it would be too coarse. Their exact p is counted where few
  units differ or few swaps are as extreme. Otherwise `p_value` is the upper end
  of a bracket (`p_interval`) that holds p, at most 1% wide; where it would be
  wider, p is sampled.
- Numbers that are large beside their differences (time stamps) lose nothing:
  means and ratios of sums with the same denominators are measured from what the
  systems share on each instance, scores from a number of each system. A metric
  for which that is not known, and whose differences rounding would blur, is
  refused.
- Deltas closer to each other than rounding are ties: for a mean within about
  1e-13 of the average size of the numbers, or of their differences where these
  are small beside them; for n reals on the common grid within about n times
  3e-14 of it. This is for p alone.
- Ranks, areas, Spearman's and Kendall's correlations come from sums of whole
  numbers. `correlation` and `variance` come from z-scores and deviations that
  are exact up to one rounding, whatever the offset. Their ties are those of
  rational arithmetic for decimals of up to 14 digits.
- p, its bracket and `error_bound` are those of the numbers as they are held.
- Standard errors are those of the jackknife (of a mean: standard deviation with
  ddof = 1, divided by the root of the number of units), or with a bootstrap
  --interval those of the bootstrap (ddof = 1; without sampling, those of
  infinitely many resamples).
- Classical tests, `sigjax audit` and the rest: sigjax help studies.
- The methods are those of Yeh (2000), Berg-Kirkpatrick et al. (2012) and
  Zmigrod et al. (2022); `--format methods` cites what a report used.
"""
