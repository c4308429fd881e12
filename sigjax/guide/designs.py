"""Designs: clusters, strata, repeated runs, trained models.

Tests and intervals take units for independent. By default each instance is one.

--cluster FIELD|FILE   Documents, topics or repositories are the units: where
                       instances of one document are not independent. Fewer
                       units, wider intervals, honest ones. The report also
                       shows the standard error as if instances were independent
                       (`unclustered`): use the other one.
--strata FIELD|FILE    The bootstrap keeps the share of each stratum: where the
                       test set was drawn by quota. Changes the permutation test
                       only by Monte Carlo error.
--unit response        Swap single spans, links, brackets or terms, as Yeh
                       (2000) and art.py do. They are rarely independent within
                       a sentence: on HIPE 2020 French F1 (neurbsl and team4), p
                       is 3e-16 by response, 2e-4 by sentence and 1e-4 by
                       document. No bootstrap, intervals or --leaderboard.

A FIELD is one of the format (a column, a document id); a FILE has one label per
line.

BATTLES (tables with model_a, model_b, winner) are units of their two systems. A
winner is model_a, model_b, a, b, 1, 2, a system's name or a tie, which counts
half; or winner_model_a, winner_model_b, winner_tie are 0 or 1. Delta of a pair
is its difference in win rates, 0 where each wins half, and the permutation test
the sign test of battles that are not tied (binomial, 1/2), or of clusters, such
as --cluster user. A system's score is its win rate over all its battles,
whoever the others are: where these differ, compare pairs. Pairs that never met
are left out and named. `sigjax one-sample --against 0.5` tests all battles of a
system.

REPEATED RUNS (--runs COLUMN, or epochs of a log)

Are the runs samples, which vary anew on each instance (a decoder with a
temperature, trials of an agent), or trained models (seeds, fine-tunings), each
good or bad on all instances at once? Is the question about these runs, or about
any runs of the same procedures?

runs              --design    p is for                    intervals are for
--------------------------------------------------------------------------------
samples, or       together    instances swapped with      the same on new
these models      (default)   all their runs              instances
samples           crossed     outputs exchanged within    as together
                              an instance
samples, on the   nested      as together; its bootstrap  new samples of new
safe side                     draws runs, too             instances
trained models    models      whole runs exchanged: do    new runs on new
                              the procedures differ?      instances

For trained models use --design models, unless just these models are meant. The
other designs take instances for all there is to chance, and a thousand
instances make the luck of five seeds look like a certain difference. Of 2,000
pairs of equal procedures, tested at 5% (5 runs on 1,000 instances; standard
deviation 1 within an instance, 0.15 between models; benchmarks/README.md):

5 runs of each system               together   crossed   nested   models
------------------------------------------------------------------------
trained models: called different       69%       69%      60%     4.7%
trained models: interval misses        70%       70%      60%     4.9%
samples: called different             5.2%      5.2%     0.7%     4.3%
samples: interval misses              5.9%      5.9%     0.7%     1.7%

models    Every instance needs every run; runs of the two systems are not
          paired. Exact for up to 11 runs of each system, sampled beyond.
          Two-sided p is at least 2 / C(2R, R) for R runs: 0.1 for 3 and 0.029
          for 4, so fewer than 4 runs cannot reject at 5%, and a note says so.
          The intervals, by t, can exclude 0 with fewer, on the assumption that
          models are normally distributed. p is small too often (5% become 6
          to 8%) where models of one system vary much more, or where systems
          have strengths of their own on few instances (up to 22% of 60): it is
          for these instances. The interval holds in both. Bootstrap tests,
          maxt, minp and --leaderboard are refused.
crossed   Exact where there are few possible sums.
nested    Draws instances, then their runs (the same for all systems): the
          variance between instances plus that within, divided by R.
"""
