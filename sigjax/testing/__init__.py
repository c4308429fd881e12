"""The tests, what each is given and what it gives back.

Read `hypotheses` and `problem` first, then `permutation` and `bootstrap` with its `replicates`. Intervals are
declared in `intervals`, which says what each score and delta gets: from `replicates`, or in closed form from the
`jackknife`; `uncertainty` is what all build on.
"""
