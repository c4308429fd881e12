"""Without sampling: lattice -> plan -> charfun -> masses -> null.

`lattice` reduces a pair of systems to distinct difference rows with multiplicities (`counted` does so for many pairs),
`plan` chooses an algorithm and estimates its cost, `charfun` and `tilt` give the probabilities of the random-sign sum,
`masses` adds up sets of them on one axis, `planes` and `tails` on two, and `null` turns those at least as extreme as
observed into p-values, for any score (`plane_p` on two axes; on a GPU, of many pairs at a time).

Other algorithms for the same sum: `signs` enumerates few units, `bracket` encloses p for real numbers, `convolution`
holds Algorithms 3 and 4 of Zmigrod et al. (2022). `choices` exchanges runs within units; `draws` and `bootstrap` do for
resampled sums what `lattice` and `null` do for swaps. Nothing here draws random numbers or sees names.
"""
