"""Monte Carlo: units -> draws -> projection -> tally -> engine.

`units` makes the units that are resampled, in fixed point. `draws` makes random words from (seed, block), and masks or
counts from these. `projection` multiplies them with the statistics of all systems. `tally` scores the sums of one tile
(a block of resamples), and counts the resamples whose delta is extreme. `engine` runs tiles in bounded memory on NumPy,
CPU or GPU. `gathered` resamples instances for functions of whole arrays. Kernels are written once, for the array
namespace of their arguments. Modules here take no paths, no names of systems, and only checked seeds.
"""
