"""The tests: the problem that each test takes, and the result columns that it returns.

Read `problem` first, then `tests`, which has the steps of a test. Then read `permutation`, and `bootstrap` with
`summaries`. `columns` has the tests for metrics that are not sums. `special` has tail probabilities and quantiles of
known distributions.

`intervals` declares the kinds of intervals, and chooses a kind for each score and delta. Some kinds use bootstrap
replicates: see `uncertainty` and `replicates`. Other kinds have a closed form: `jackknife` and `delta_method` compute
standard errors, and `skewed_t` and `two_way` compute intervals. `intervals.joint_level` is the level for simultaneous
intervals, and `winner` corrects the interval of the best score.
"""
