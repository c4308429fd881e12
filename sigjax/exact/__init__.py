"""Without sampling: lattice -> charfun -> null.

`lattice` reduces a pair of systems to distinct difference rows with multiplicities and says whether an exact test is
possible, `charfun` gives the probabilities of their random-sign sum from its characteristic function, and `null` adds
up those that are at least as extreme as observed, for any score. Nothing here draws random numbers or knows names.
"""
