"""Exact tests, without sampling.

**A single pair**: `lattice` reduces two systems to distinct difference rows with multiplicities. `distributions` gives
the probabilities of their random-sign sum: characteristic functions, tilts, and Algorithms 3 and 4 of Zmigrod et al.
(2022). `null` adds up the probabilities of all outcomes at least as extreme as observed: on one axis for any score, by
bounds, or by listing sign vectors. `planes` does the same on two axes. `plans` chooses the algorithm of each pair by
its cost, and carries it out.

**All pairs of a board**: `board` holds the difference rows that the pairs share. `characteristic` computes their
characteristic functions, `tails` (with `edges`) the tail probabilities, and `board_tests` the p-values, on NumPy or a
device.

**Other exact distributions**: `choices` exchanges runs within units, and units between two samples. `bootstrap` has the
exact distribution of bootstrap sums.

`digits` rounds all p-values correctly. No module here draws random numbers or knows the names of systems.
"""
