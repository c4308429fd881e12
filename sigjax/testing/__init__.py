"""The tests: the problem that each test takes, and the columns that it returns.

Read `problem` first, then `tests`, which has the steps of a test, then `permutation` and `bootstrap` with its
`replicates`. `columns` has the tests for metrics that are not sums. `special` has tails and quantiles of known
distributions.

`intervals` declares the kinds of intervals and chooses a kind for each score and delta: from `replicates`, or in closed
form. For closed forms, `jackknife` and `delta_method` compute standard errors, `skewed_t` and `two_way`
compute intervals, and `joint_level` is the level for simultaneous intervals. All of them build on `uncertainty`.
"""
