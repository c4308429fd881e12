"""Exact tests, without sampling.

**A single pair.** A swap exchanges the outputs of two systems on a unit, so it changes the sign of their difference.
`lattice` computes these differences (rows of one or two numbers, one number for each axis) and counts equal rows.
`distributions` computes the probabilities of the sum of all differences with random signs. It uses characteristic
functions, tilts (which make a rare sum likely), and Algorithms 3 and 4 of Zmigrod et al. (2022). `null` adds up the
probabilities of all outcomes at least as extreme as observed: on one axis for any score, with bounds, or by listing
sign vectors. `planes` does the same on two axes. `plans` chooses the algorithm of each pair by its cost, and carries it
out.

**All pairs of a board.** A board is a set of pairs that are tested together. `board` holds the differences that the
pairs share. `characteristic` computes the characteristic functions of all pairs, `tails` (with `edges`) and `grids` the
tail probabilities, and `board_tests` the p-values, on NumPy or a device.

**Other exact distributions**: `choices` computes the distributions of sums after random exchanges: of runs within
units, and of units between two samples. `bootstrap` computes the exact distribution of bootstrap sums.

`digits` rounds all p-values correctly. No module of this package draws random numbers or knows the names of systems.
"""
