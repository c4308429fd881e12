"""The tests: what each is given, and the columns that it gives back.

Read `problem` first, then `tests`, which says step by step how a problem is tested, and `permutation` and `bootstrap`
with its `replicates`; `columns` has those of metrics that are not sums. Intervals are declared in `intervals`, which
says what each score and delta gets: from `replicates`, or in closed form from the `jackknife`; `uncertainty` is what
all build on. `budget` says what tests cost.
"""
