"""The tests: the problem that each test takes, and the columns that it returns.

Read `problem` first, then `tests`, which has the steps of a test. Then read `permutation`, and `bootstrap` with its
`replicates`. `columns` has the tests for metrics that are not sums. `special` has tail probabilities and quantiles of
known distributions.

`intervals` declares the kinds of intervals, and chooses a kind for each score and delta. Some kinds use bootstrap
`replicates`, and other kinds have a closed form. For closed forms, `jackknife` and `delta_method` compute standard
errors, `skewed_t` and `two_way` compute intervals, and `joint_level` is the level for simultaneous intervals. All of
them build on `uncertainty`.
"""
