"""The bootstrap test, standard errors and intervals of all kinds, each kind in one file.

Read `registry` first: it lists the kinds and says which one each score and delta gets. `shared_draws` draws replicates,
`replicates` (or `summary`, where memory is short) makes intervals from them, and `sampled` runs both; `exact` needs no
replicates. Kinds from replicates are in `intervals`, `bca`, `studentized` and `simultaneous`, that from swaps in
`inversion`, and those without resamples in `closed` (by the `jackknife`) and `two_way` (by the `delta_method`).
"""
