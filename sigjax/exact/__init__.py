"""Without sampling: lattice -> distributions -> digits -> null -> plans; and boards of pairs: board -> waves -> tails.

`lattice` reduces pairs of systems to distinct difference rows with multiplicities, `distributions` gives the
probabilities of their random-sign sum (characteristic functions and tilts; also Algorithms 3 and 4 of Zmigrod et al.,
2022), and `null` turns those at least as extreme as observed into p-values: of any score on one axis, and by bounds
and sign vectors. `planes` does so on two axes. `plans` chooses the algorithm of each pair by its cost, and carries it
out. `board` holds the rows that all pairs share, and `waves` and `tails` test these pairs together, on NumPy or a
device; `boards` makes p-values of their tails. `digits` rounds all of these correctly, and has the reference path with
more digits. `choices` exchanges runs within units, and units between two samples; `bootstrap` does for resampled sums
what `lattice` and `null` do for swaps. Nothing here draws random numbers or sees names.
"""
