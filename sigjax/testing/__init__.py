"""The tests, what each is given and what it gives back.

Read `problem` and `p_values` first, then `exact` and `permutation`, and `bootstrap` with its `replicates`. Intervals
are listed in `intervals`, which says what each score and delta gets: from `replicates`, or the `jackknife` (closed
forms); `uncertainty` is what all build on.
"""
