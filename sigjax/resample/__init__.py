"""Monte Carlo: units -> draws -> projection -> tally -> engine.

`units` makes the units that are resampled, in fixed point. `draws` makes random words from (seed, block), and masks or
counts from these. `projection` multiplies them with the statistics of all systems. `tally` scores the sums of one tile
and counts the extreme ones. `engine` runs tiles in bounded memory on NumPy, CPU or GPU. `gathered` resamples instances
for functions of whole arrays. Kernels are written once, for the array namespace of their arguments. Nothing here knows
a path, a system's name, or an unchecked seed.
"""
