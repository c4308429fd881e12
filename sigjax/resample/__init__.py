"""Monte Carlo tests: units -> draws -> projection -> tally -> engine.

`units` makes the units that are resampled, with statistics in fixed point. `draws` makes random words (32 random bits
each) from the seed and the index of a resample; from these words it makes the weights of a resample: masks (swaps) or
counts (bootstrap). `projection` multiplies the weights by the statistics of all systems. `tally` computes scores from
the sums of one tile (some consecutive resamples), and counts the resamples whose delta is extreme. `extreme` defines
which deltas are extreme. `engine` runs tiles in bounded memory on NumPy, CPU or GPU. `gathered` resamples instances for
metrics that are functions of whole columns. `summaries` computes sums and quantiles of replicates on a device. Kernels
are functions of arrays. They are written once, with the array namespace of their arguments (NumPy or JAX). No module of
this package knows paths or names of systems. Seeds are checked before they are passed to this package.
"""
