"""The bootstrap test, standard errors and intervals of all kinds.

Read `registry` first: it lists the kinds and says which one each score and delta gets. `sampled` draws replicates, and
`replicates` (or `summary`, where memory is short) makes intervals from them; `exact` needs no replicates. Kinds from
replicates are in `intervals`, `bca` and `studentized`, that from swaps in `inversion`, and those without resamples in
`closed` (by the `jackknife`) and `delta_method` (two-way).
"""
