"""Monte Carlo: units -> draws -> projection -> tally -> engine.

`units` are what is resampled, in fixed point. `draws` makes random words from (seed, block), and of them masks or
counts; `projection` multiplies these with the statistics of all systems, `tally` scores and counts the sums of one
tile, and `engine` runs tiles in bounded memory on NumPy, CPU or GPU. `gathered` resamples instances for functions of
whole arrays. Kernels are written once for the array namespace of their arguments. Nothing here sees a path, a
system's name, or an unchecked seed.
"""
