"""Monte Carlo: bits -> plans -> project -> tally -> engine -> sampling.

`bits` makes random words from (seed, block), `plans` and `outputs` turn them into masks or counts, `project` (or
`fused`, for few columns) multiplies these with the statistics of all systems, and `tally` scores and counts the sums of
one tile. `engine` runs tiles in bounded memory on NumPy, CPU or GPU; `sampling` streams counts, replicates and sums
through it. `gathered` resamples instances for functions of whole arrays. Kernels are written once for the array
namespace of their arguments. Nothing here sees a path, a system's name, or an unchecked seed.
"""
