"""The tests: what each is given, and the columns that it gives back.

Read `problem` first, then `tests`, which says step by step how a problem is tested, and `permutation` and `bootstrap`
with its `replicates`; `columns` has those of metrics that are not sums. `p_values` writes the columns of p-values;
`special` has tails and quantiles of known distributions.

Intervals are declared in `intervals`, which says what each score and delta gets: from `replicates`, or in closed form
(`closed`). Then `jackknife` and `delta_method` give standard errors, `skewed_t`, `two_way` and `proportions` give
intervals, and `joint_level` the level at which all intervals hold together. `uncertainty` is what all build on;
`budget` says what tests cost.
"""
